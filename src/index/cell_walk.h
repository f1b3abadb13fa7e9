/* Walking over the cells of a grid that a box touches, as slices of the rows. */
#ifndef REEF_INDEX_CELL_WALK_H
#define REEF_INDEX_CELL_WALK_H

#include "index/cell_grid.h"
#include "index/picture.h"

/* Cells from `from` to `to` on one axis; where an axis wraps around there may be two such runs. */
typedef struct cell_run {
    uint64_t from, to;
} cell_run;
typedef struct cell_runs {
    uint32_t count; /* 0: none */
    cell_run run[2];
} cell_runs;

/* Rows side by side that may lie in the box. `sure`: they do lie in these cells. Otherwise they are those of some
 * bucket, and cell_slice_has says which are meant: so no row is found twice. */
typedef struct cell_slice {
    uint32_t first, end;
    bool sure;
    cell_run x;
    uint64_t y, z;
} cell_slice;

/* Several slices at a time. Their rows were asked for from memory as they were found, so that the first ones are there
 * when the last one is known. */
enum { SLICES = 16 };
typedef struct cell_slices {
    uint32_t count;
    cell_slice slice[SLICES];
} cell_slices;

INLINE double coordinate_of(const cell_rows *r, uint32_t axis, uint32_t row)
{
    return r->wide ? ((const double *)r->at[axis])[row] : (double)((const float *)r->at[axis])[row];
}

INLINE bool cell_slice_has(const cell_grid *g, const cell_rows *r, const cell_slice *s, uint32_t row)
{
    const uint64_t x = cell_of(g, 0, coordinate_of(r, 0, row), r->wide);
    return x >= s->x.from && x <= s->x.to && cell_of(g, 1, coordinate_of(r, 1, row), r->wide) == s->y &&
           (r->axes == 2 || cell_of(g, 2, coordinate_of(r, 2, row), r->wide) == s->z);
}

/* The cells from `low` to `high` on one axis. t NULL: none wraps around. What is stored of an axis that wraps around
 * lies between its edges. */
INLINE cell_runs cell_runs_of(const cell_grid *g, const place_type *t, uint32_t axis, double low, double high,
                              bool wide)
{
    const double length = t ? t->length[axis] : 0, border = t ? t->low[axis] : 0;
    cell_runs c = {0};
    if (length > 0 && !(high - low < length)) {
        c = (cell_runs){1, {{0, g->last[axis]}}};
    } else if (length > 0 && (low < border || high >= border + length)) {
        const double by = low < border ? length : -length;
        const uint64_t a = cell_of(g, axis, low < border ? low + by : low, wide);
        const uint64_t b = cell_of(g, axis, low < border ? high : high + by, wide);
        if (a <= b + 1) c = (cell_runs){1, {{0, g->last[axis]}}};
        else c = (cell_runs){2, {{0, b}, {a, g->last[axis]}}};
    } else if (!(high < g->lowest[axis] || low > g->highest[axis])) {
        c = (cell_runs){1, {{cell_of(g, axis, low, wide), cell_of(g, axis, high, wide)}}};
    }
    return c;
}

/* Are there so many cells in the box that looking at all rows is cheaper? (Or more than buckets, so that one of them
 * would be looked at twice.) */
INLINE bool cells_are_many(const cell_grid *g, const cell_runs *runs, uint32_t axes)
{
    double cells = 1;
    for (uint32_t a = 0; a < axes; a++) {
        double length = 0;
        for (uint32_t i = 0; i < runs[a].count; i++) length += (double)(runs[a].run[i].to - runs[a].run[i].from) + 1;
        cells *= length;
    }
    return cells > (g->dense ? (double)g->rows + 8 : (double)g->mask + 1);
}

typedef void (*cell_visit)(void *context, const cell_grid *g, const cell_slices *s);

INLINE void cell_rows_fetch(const cell_rows *r, uint32_t first, uint32_t end, uint32_t axes, bool wide)
{
    const size_t bytes = wide ? sizeof(double) : sizeof(float);
    for (uint32_t a = 0; a < axes; a++) {
        PREFETCH((const char *)r->at[a] + first * bytes);
        PREFETCH((const char *)r->at[a] + (end - 1) * bytes);
    }
    PREFETCH(r->index + first);
    PREFETCH(r->index + end - 1);
}

/* Adds cells side by side along x. Their buckets may go on at the first one. */
INLINE void cell_line_add(const reef_place *p, const cell_grid *g, cell_slices *to, cell_run x, uint64_t y, uint64_t z,
                          uint32_t axes, bool wide)
{
    const uint32_t *start = p->grids.start;
    const uint32_t from = cell_bucket(g, x.from, y, z), count = (uint32_t)(x.to - x.from) + 1;
    const uint32_t straight = LIKELY(g->dense) ? count : g->first + g->mask + 1 - from;
    cell_slice *s = &to->slice[to->count];
    s->first = start[from];
    s->end = start[from + (count < straight ? count : straight)];
    s->sure = g->dense;
    if (!s->sure) s->x = x, s->y = y, s->z = z;
    cell_rows_fetch(&p->rows, s->first, s->end, axes, wide);
    to->count += s->first < s->end;
    if (LIKELY(count <= straight)) return;
    s = &to->slice[to->count];
    *s = (cell_slice){start[g->first], start[g->first + (count - straight)], false, x, y, z};
    to->count += s->first < s->end;
}

/* All rows of a grid. */
INLINE void cells_all(const reef_place *p, const cell_grid *g, cell_slices *s)
{
    const uint32_t end = g + 1 < p->grids.grid + p->grids.count ? g[1].first : p->grids.buckets;
    s->count = 1;
    s->slice[0] = (cell_slice){.first = p->grids.start[g->first], .end = p->grids.start[end], .sure = true};
}

/* The same as cells_walk for a dense grid in two dimensions whose axes don't wrap around: a short way for the commonest
 * case, which the row pairs needs (220 ns a point without it, 150 with it). */
INLINE bool cells_walk_plain(const reef_place *p, const cell_grid *g, const double *low, const double *high,
                             cell_slices *s, cell_visit visit, void *context)
{
    if (high[0] < g->lowest[0] || low[0] > g->highest[0] || high[1] < g->lowest[1] || low[1] > g->highest[1])
        return false;
    const uint32_t x = (uint32_t)cell_of(g, 0, low[0], false), y = (uint32_t)cell_of(g, 1, low[1], false);
    const uint32_t x_end = (uint32_t)cell_of(g, 0, high[0], false) + 1;
    const uint32_t y_end = (uint32_t)cell_of(g, 1, high[1], false) + 1;
    if (UNLIKELY((uint64_t)(x_end - x) * (y_end - y) > g->rows + 8ull)) {
        cells_all(p, g, s);
        visit(context, g, s);
        return true;
    }
    const uint32_t *line = p->grids.start + g->first + y * g->stride[1];
    uint32_t count = 0;
    for (uint32_t k = y; k < y_end; k++, line += g->stride[1]) {
        cell_slice *to = &s->slice[count];
        to->first = line[x];
        to->end = line[x_end];
        to->sure = true;
        cell_rows_fetch(&p->rows, to->first, to->end, 2, false);
        count += to->first < to->end;
        if (LIKELY(count < SLICES)) continue;
        s->count = count;
        visit(context, g, s);
        count = 0;
    }
    s->count = count;
    if (count) visit(context, g, s);
    return false;
}

/* Calls `visit` for all rows of the grid that may lie between `low` and `high`, and perhaps for others; for none of
 * them twice. The slices are put in *s. `axes`, `wide` and `visit` are constants where that matters. True: all rows of
 * the grid were looked at. */
INLINE bool cells_walk(const reef_place *p, const cell_grid *g, uint32_t axes, bool wide, bool wraps, const double *low,
                       const double *high, cell_slices *s, cell_visit visit, void *context)
{
    cell_runs runs[AXES] = {{1, {{0, 0}}}, {1, {{0, 0}}}, {1, {{0, 0}}}};
    if (g->rows == 0) return true;
    if (axes == 2 && !wide && !wraps && LIKELY(g->dense)) return cells_walk_plain(p, g, low, high, s, visit, context);
    for (uint32_t a = 0; a < axes; a++) {
        runs[a] = cell_runs_of(g, wraps ? p->type : NULL, a, low[a], high[a], wide);
        if (runs[a].count == 0) return false;
    }
    if (UNLIKELY(cells_are_many(g, runs, axes))) {
        cells_all(p, g, s);
        visit(context, g, s);
        return true;
    }
    s->count = 0;
    for (uint32_t k = 0; k < runs[2].count; k++)
        for (uint64_t z = runs[2].run[k].from; z <= runs[2].run[k].to; z++)
            for (uint32_t j = 0; j < runs[1].count; j++)
                for (uint64_t y = runs[1].run[j].from; y <= runs[1].run[j].to; y++)
                    for (uint32_t i = 0; i < runs[0].count; i++) {
                        cell_line_add(p, g, s, runs[0].run[i], y, z, axes, wide);
                        if (LIKELY(s->count < SLICES - 1)) continue;
                        visit(context, g, s);
                        s->count = 0;
                    }
    if (s->count) visit(context, g, s);
    return false;
}

#endif
