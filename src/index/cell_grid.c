/* Sorting rows into grids. The source is walked several times, so that nothing but a number for each row has to be kept
 * beside what is made:
 *
 *   look     which grid each row belongs to, and the outermost rows of each grid: its origin and its buckets
 *   count    the bucket of each row (`key`); how many rows each bucket has
 *   crowds   rows of buckets with very many go to a finer grid: look and count again for these
 *   place    each row goes to where the rows of its bucket begin, plus 1
 *
 * So that the sum is one pass and nothing is moved afterwards, numbers are counted two further in the array, and summed
 * up to begin one further: counting them up while rows are placed makes each the begin of the next bucket.
 *
 *     counted    0  0  n0  n1  n2        summed    0  0  n0  n0+n1  ...        placed    0  n0  n0+n1  ... */
#include "index/cell_grid.h"
#include <math.h>
#include <string.h>

enum {
    SIZES = 16, /* classes of bodies: each has cells four times as large as the one before */
    NO_GRID = 255,
    /* rows ahead for which memory is asked for, in sort_place: the start of a bucket, and then where the row goes */
    STARTS_AHEAD = 32,
    PLACES_AHEAD = 12,
    COUNTED = 2,       /* how much further in cell_grids.start a bucket is while it is counted */
    ROWS_FAR = 1 << 16 /* fewer rows are in the caches, and nothing is asked for ahead */
};
#define CROWDED 0x80000000u /* in the count of a bucket: its rows go to a finer grid */

typedef struct cell_sort {
    memory *m;
    const place_type *p;
    const cell_source *s;
    cell_rows *rows;
    cell_grids *grids;
    uint32_t *key; /* by row, in the order of the source: its bucket; 0 behind the last one, STARTS_AHEAD times */
    uint64_t key_room;
    uint8_t of_size[SIZES]; /* the grid of bodies of this class */
} cell_sort;

/* ---- grids ---- */

/* The class of a body: cells of its grid are no smaller than the body. */
static uint32_t size_of(const place_type *p, float radius)
{
    uint32_t size = 0;
    if (p->whole) return 0;
    for (double cell = p->cell; size < SIZES - 1 && 2 * (double)radius > cell; cell *= 4) size++;
    return size;
}

static cell_grid *grid_add(cell_grids *g, double cell, uint32_t depth)
{
    cell_grid *x = &g->grid[g->count++];
    memset(x, 0, sizeof *x);
    x->cell = cell;
    x->depth = depth;
    for (uint32_t a = 0; a < AXES; a++) x->lowest[a] = INFINITY, x->highest[a] = -INFINITY;
    return x;
}

/* A row belongs to the grid. */
INLINE void grid_look(cell_grid *x, const cell_rows *r, const gathered *g, uint32_t i)
{
    x->rows++;
    for (uint32_t a = 0; a < r->axes; a++) {
        const double at = r->wide ? g->at[a].wide[i] : (double)g->at[a].narrow[i];
        if (at < x->lowest[a]) x->lowest[a] = at;
        if (at > x->highest[a]) x->highest[a] = at;
    }
    if (r->bodies && g->radius[i] > x->reach) x->reach = g->radius[i];
}

/* Widens the bounds of an axis to those of n coordinates. They are found in groups of eight, since the lowest of all
 * would be looked for one after the other: compilers may not change the order of comparisons of floats. */
#define BOUNDS_WIDEN(name, T) \
    static void name(const T *at, uint32_t n, double *lowest, double *highest) \
    { \
        T low[ROWS_AT_ONCE], high[ROWS_AT_ONCE]; \
        uint32_t i = 0; \
        for (uint32_t k = 0; k < ROWS_AT_ONCE; k++) low[k] = high[k] = at[k < n ? k : 0]; \
        for (; i + ROWS_AT_ONCE <= n; i += ROWS_AT_ONCE) { \
            NO_UNROLL \
            for (uint32_t k = 0; k < ROWS_AT_ONCE; k++) { \
                low[k] = at[i + k] < low[k] ? at[i + k] : low[k]; \
                high[k] = at[i + k] > high[k] ? at[i + k] : high[k]; \
            } \
        } \
        for (; i < n; i++) { \
            low[0] = at[i] < low[0] ? at[i] : low[0]; \
            high[0] = at[i] > high[0] ? at[i] : high[0]; \
        } \
        for (uint32_t k = 0; k < ROWS_AT_ONCE; k++) { \
            if ((double)low[k] < *lowest) *lowest = (double)low[k]; \
            if ((double)high[k] > *highest) *highest = (double)high[k]; \
        } \
    }
BOUNDS_WIDEN(bounds_widen_narrow, float)
BOUNDS_WIDEN(bounds_widen_wide, double)

/* The same as grid_look for all rows that were gathered. */
static void grid_look_all(cell_grid *x, const cell_rows *r, const gathered *g)
{
    x->rows += g->count;
    for (uint32_t a = 0; a < r->axes && g->count; a++) {
        if (r->wide) bounds_widen_wide(g->at[a].wide, g->count, &x->lowest[a], &x->highest[a]);
        else bounds_widen_narrow(g->at[a].narrow, g->count, &x->lowest[a], &x->highest[a]);
    }
}

/* Decides on the grid's cells and buckets, now that its rows are known. False: no memory. */
static bool grid_lay_out(cell_sort *c, cell_grid *x)
{
    cell_grids *g = c->grids;
    double cells = 1;
    uint32_t buckets = 1;
    for (uint32_t a = 0; a < c->rows->axes; a++) {
        const double length = c->p->whole ? c->p->extent[a] : c->p->length[a];
        double n = length > 0 ? (double)cell_cut_wide(length / x->cell) : 0;
        if (length > 0 && n < 1) n = 1;
        x->origin[a] = length > 0 ? c->p->low[a] : x->lowest[a];
        x->scale[a] = length > 0 ? n / length : 1 / x->cell;
        x->last[a] = UINT64_MAX;
        x->last[a] = length > 0 ? (uint64_t)n - 1 : cell_of(x, a, x->highest[a], c->rows->wide);
        cells *= (double)x->last[a] + 1;
    }
    x->dense = cells <= (double)x->rows + 64 || c->p->whole;
    if (x->dense) buckets = (uint32_t)cells;
    while (!x->dense && buckets < x->rows / 2) buckets *= 2;
    x->stride[1] = x->dense ? (uint32_t)x->last[0] + 1 : 0x9E3779B1u;
    x->stride[2] = x->dense ? ((uint32_t)x->last[0] + 1) * ((uint32_t)x->last[1] + 1) : 0x85EBCA6Bu;
    x->mask = x->dense ? UINT32_MAX : buckets - 1;
    x->first = g->buckets;
    g->buckets += buckets;
    if (!reef__array_room(c->m, MEMORY_OTHER, &g->start, &g->bucket_room, g->buckets + COUNTED, sizeof *g->start))
        return false;
    const uint32_t known = x->first ? x->first + COUNTED : 0; /* of earlier grids */
    memset(g->start + known, 0, (g->buckets + COUNTED - known) * sizeof *g->start);
    return true;
}

/* ---- the steps ---- */

static bool sort_look(cell_sort *c, uint64_t *rows)
{
    gathered g;
    *rows = 0;
    if (c->p->whole && !c->rows->bodies) { /* where its cells are is known, so the rows needn't be looked at */
        cell_grid *x = grid_add(c->grids, c->p->cell, 0);
        for (uint32_t a = 0; a < AXES; a++) x->lowest[a] = -INFINITY, x->highest[a] = INFINITY;
        *rows = c->s->most;
        return *rows <= UINT32_MAX / 2;
    }
    memset(c->of_size, NO_GRID, sizeof c->of_size);
    c->s->begin(c->s->context, false);
    while (c->s->next(c->s->context, &g)) {
        *rows += g.count;
        if (!c->rows->bodies) {
            if (c->grids->count == 0) grid_add(c->grids, c->p->cell, 0);
            grid_look_all(&c->grids->grid[0], c->rows, &g);
            continue;
        }
        for (uint32_t i = 0; i < g.count; i++) {
            const uint32_t size = size_of(c->p, g.radius[i]);
            if (c->of_size[size] == NO_GRID) {
                double cell = c->p->cell;
                for (uint32_t k = 0; k < size; k++) cell *= 4;
                c->of_size[size] = (uint8_t)c->grids->count;
                grid_add(c->grids, cell, 0);
            }
            grid_look(&c->grids->grid[c->of_size[size]], c->rows, &g, i);
        }
    }
    return *rows <= UINT32_MAX / 2;
}

INLINE uint32_t gathered_bucket(const cell_grid *x, const gathered *g, uint32_t i, uint32_t axes, bool wide)
{
    uint64_t cell[AXES] = {0};
    for (uint32_t a = 0; a < axes; a++)
        cell[a] = cell_of(x, a, wide ? g->at[a].wide[i] : (double)g->at[a].narrow[i], wide);
    return cell_bucket(x, cell[0], cell[1], cell[2]);
}

/* The same for all points of two float coordinates in a dense grid with fewer than 2^24 cells: bounding a number and
 * cutting it off then give the same in either order, numbers of cells are exact as floats, and compilers vectorise this
 * one. */
enum { CELLS_PLAIN = 1 << 24 };
static void buckets_plain(const cell_grid *x, const gathered *g, uint32_t *restrict key)
{
    const float from[2] = {(float)x->origin[0], (float)x->origin[1]}, by[2] = {(float)x->scale[0], (float)x->scale[1]};
    const float last[2] = {(float)x->last[0], (float)x->last[1]}, stride = (float)x->stride[1];
    const uint32_t n = g->count, first = x->first;
    for (uint32_t i = 0; i < n; i++) {
        float across = (g->at[0].narrow[i] - from[0]) * by[0], down = (g->at[1].narrow[i] - from[1]) * by[1];
        across = across > 0 ? across : 0;
        down = down > 0 ? down : 0;
        across = across < last[0] ? across : last[0];
        down = down < last[1] ? down : last[1];
        key[i] = first + (uint32_t)((int32_t)across + (int32_t)((float)(int32_t)down * stride));
    }
}

static void sort_count(cell_sort *c)
{
    gathered g;
    uint32_t *key = c->key, *start = c->grids->start + COUNTED;
    const uint32_t axes = c->rows->axes;
    const cell_grid *only = &c->grids->grid[0];
    const bool plain = !c->rows->bodies && !c->rows->wide && axes == 2 && only->dense && only->last[0] < CELLS_PLAIN &&
                       (only->last[0] + 1) * (only->last[1] + 1) <= CELLS_PLAIN;
    const bool far = c->grids->buckets > ROWS_FAR;
    c->s->begin(c->s->context, false);
    while (c->s->next(c->s->context, &g)) {
        const uint32_t n = g.count;
        if (plain) {
            buckets_plain(only, &g, key);
            for (uint32_t i = 0; far && i < n; i++) PREFETCH_WRITE(start + key[i]);
        }
        for (uint32_t i = 0; i < n && !plain; i++) {
            const uint32_t number = c->rows->bodies ? c->of_size[size_of(c->p, g.radius[i])] : 0;
            const cell_grid *x = &c->grids->grid[number];
            key[i] = c->rows->wide ? gathered_bucket(x, &g, i, axes, true)
                     : axes == 2   ? gathered_bucket(x, &g, i, 2, false)
                                   : gathered_bucket(x, &g, i, 3, false);
            if (far) PREFETCH_WRITE(start + key[i]);
        }
        for (uint32_t i = 0; i < n; i++) start[key[i]]++; /* apart from the loop above, which asked for them */
        key += n;
    }
    memset(key, 0, STARTS_AHEAD * sizeof *key);
}

/* Do the rows of the grid differ in place? */
static bool grid_is_wide(const cell_grid *x, uint32_t axes)
{
    bool wide = false;
    for (uint32_t a = 0; a < axes; a++) wide |= x->lowest[a] < x->highest[a];
    return wide;
}

/* Moves the rows of crowded buckets of a grid to a finer one, which becomes the last. False: no memory. */
static bool crowd_move(cell_sort *c, uint32_t from)
{
    cell_grids *g = c->grids;
    const cell_grid *coarse = &g->grid[from];
    const uint32_t end = from + 1 < g->count ? g->grid[from + 1].first : g->buckets;
    bool crowded = false;
    if (c->p->whole || coarse->depth == CROWD_DEPTH || g->count == GRIDS_MAX || !grid_is_wide(coarse, c->rows->axes))
        return true;
    uint32_t *start = g->start + COUNTED;
    for (uint32_t k = coarse->first; k < end; k++) {
        if (start[k] <= CROWD) continue;
        start[k] |= CROWDED;
        crowded = true;
    }
    if (!crowded) return true;
    cell_grid *fine = grid_add(g, coarse->cell / CROWD_FINER, coarse->depth + 1);
    const uint32_t *key = c->key;
    gathered r;
    c->s->begin(c->s->context, false);
    while (c->s->next(c->s->context, &r))
        for (uint32_t i = 0; i < r.count; i++)
            if (start[*key++] & CROWDED) grid_look(fine, c->rows, &r, i);
    g->grid[from].rows -= fine->rows;
    if (!grid_lay_out(c, fine)) return false;
    start = g->start + COUNTED;
    uint32_t *to = c->key;
    c->s->begin(c->s->context, false);
    while (c->s->next(c->s->context, &r)) {
        for (uint32_t i = 0; i < r.count; i++, to++) {
            if (!(start[*to] & CROWDED)) continue;
            *to = gathered_bucket(fine, &r, i, c->rows->axes, c->rows->wide);
            start[*to]++;
        }
    }
    for (uint32_t k = g->grid[from].first; k < end; k++)
        if (start[k] & CROWDED) start[k] = 0;
    return true;
}

static size_t at_bytes(const cell_rows *r, uint32_t room)
{
    return (size_t)room * (r->wide ? sizeof(double) : sizeof(float));
}

/* Asks for the memory that a later row goes to. (Without that and the starts ahead of it the row place_refresh took 1.3
 * times as long.) */
INLINE void place_fetch(const cell_rows *r, uint32_t to, uint32_t axes, bool wide, bool old)
{
    for (uint32_t a = 0; a < axes; a++)
        PREFETCH_WRITE((char *)r->at[a] + (size_t)to * (wide ? sizeof(double) : sizeof(float)));
    PREFETCH_WRITE(r->index + to);
    PREFETCH_WRITE((char *)r->generation + (size_t)to * (old ? sizeof(uint32_t) : sizeof(uint16_t)));
}

/* Writes rows that were gathered to their places, and these to placed[]. What follows `placed` is constant. Answers all
 * bits of their generations. */
INLINE uint32_t cell_rows_put(cell_rows *r, uint32_t *start, const uint32_t *key, const gathered *g, uint32_t *placed,
                              uint32_t axes, bool wide, bool bodies, bool old, bool far)
{
    const reef_entity *e = g->entities;
    uint32_t oldest = 0, *const index = r->index, *const slot = r->slot, *const cell = r->cell;
    const uint32_t n = g->count;
    void *const generation = r->generation, *const x[AXES] = {r->at[0], r->at[1], r->at[2]};
    for (uint32_t i = 0; i < n; i++) {
        if (far) PREFETCH_WRITE(start + key[i + STARTS_AHEAD]);
        if (far) place_fetch(r, start[key[i + PLACES_AHEAD]], axes, wide, old);
        const uint32_t to = start[key[i]]++;
        for (uint32_t a = 0; a < axes; a++) {
            if (wide) ((double *)x[a])[to] = g->at[a].wide[i];
            else ((float *)x[a])[to] = g->at[a].narrow[i];
        }
        index[to] = e[i].index;
        if (old) ((uint32_t *)generation)[to] = e[i].generation;
        else ((uint16_t *)generation)[to] = (uint16_t)e[i].generation;
        oldest |= e[i].generation;
        if (bodies) r->radius[to] = g->radius[i];
        if (slot) slot[e[i].index] = to;
        if (cell) cell[to] = key[i];
        placed[i] = to;
    }
    return oldest;
}

/* Copies one type's values of rows that were gathered to the rows `to`. `size` is a constant where that matters. */
INLINE void carried_put_size(char *values, const uint32_t *to, const char *from, const gathered *g, size_t size)
{
    const uint32_t n = g->count;
    const uint16_t *left = g->left_out ? g->from : NULL;
    for (uint32_t i = 0; i < n; i++) memcpy(values + to[i] * size, from + (left ? left[i] : i) * size, size);
}
static void carried_put(const cell_rows *r, const uint32_t *to, const gathered *g)
{
    for (uint32_t k = 0; k < REEF_PLACE_CARRIES_MAX && r->carried_size[k]; k++) {
        const size_t size = r->carried_size[k];
        char *values = r->carried[k];
        const char *from = g->carried[k];
        if (size == 4) carried_put_size(values, to, from, g, 4);
        else if (size == 8) carried_put_size(values, to, from, g, 8);
        else carried_put_size(values, to, from, g, size);
    }
}

/* Makes the numbers of rows by bucket those where its rows begin. */
static void starts_sum(cell_sort *c)
{
    uint32_t *start = c->grids->start + COUNTED, sum = 0;
    const uint32_t buckets = c->grids->buckets;
    for (uint32_t k = 0; k < buckets; k++) start[k] = sum += start[k];
    c->rows->count = sum;
}

/* False: some generation doesn't fit. */
static bool sort_place(cell_sort *c)
{
    gathered g;
    cell_rows *r = c->rows;
    uint32_t *start = c->grids->start + COUNTED - 1, oldest = 0, to[GATHERED];
    const uint32_t *key = c->key;
    const bool plain = r->axes == 2 && !r->wide && !r->bodies && !r->old;
    c->s->begin(c->s->context, true);
    for (; c->s->next(c->s->context, &g); key += g.count) {
        if (!plain) oldest |= cell_rows_put(r, start, key, &g, to, r->axes, r->wide, r->bodies, r->old, true);
        else if (r->count > ROWS_FAR) oldest |= cell_rows_put(r, start, key, &g, to, 2, false, false, false, true);
        else oldest |= cell_rows_put(r, start, key, &g, to, 2, false, false, false, false);
        if (r->carried_size[0]) carried_put(r, to, &g);
    }
    const uint32_t sum = r->count;
    for (uint32_t a = 0; a < r->axes; a++) memset((char *)r->at[a] + at_bytes(r, sum), 0, at_bytes(r, ROWS_AT_ONCE));
    memset(r->index + sum, 0, ROWS_AT_ONCE * sizeof *r->index);
    if (r->bodies) memset(r->radius + sum, 0, ROWS_AT_ONCE * sizeof *r->radius);
    return r->old || oldest <= UINT16_MAX;
}

/* ---- memory ---- */

static size_t generation_bytes(const cell_rows *r, uint32_t room)
{
    return (size_t)room * (r->old ? sizeof(uint32_t) : sizeof(uint16_t));
}

static void rows_free(memory *m, cell_rows *r)
{
    for (uint32_t a = 0; a < AXES; a++) {
        if (r->at[a]) reef__memory_free(m, MEMORY_OTHER, r->at[a], at_bytes(r, r->room));
        r->at[a] = NULL;
    }
    if (r->index) reef__memory_free(m, MEMORY_OTHER, r->index, r->room * sizeof *r->index);
    if (r->cell) reef__memory_free(m, MEMORY_OTHER, r->cell, r->room * sizeof *r->cell);
    if (r->generation) reef__memory_free(m, MEMORY_OTHER, r->generation, generation_bytes(r, r->room));
    if (r->radius) reef__memory_free(m, MEMORY_OTHER, r->radius, r->room * sizeof *r->radius);
    for (uint32_t k = 0; k < REEF_PLACE_CARRIES_MAX; k++) {
        if (r->carried[k]) reef__memory_free(m, MEMORY_OTHER, r->carried[k], (size_t)r->room * r->carried_size[k]);
        r->carried[k] = NULL;
    }
    reef__memory_free(m, MEMORY_OTHER, r->slot, (size_t)r->slot_room * sizeof *r->slot);
    r->slot = NULL;
    r->index = NULL;
    r->cell = NULL;
    r->generation = NULL;
    r->radius = NULL;
    r->count = r->room = r->slot_room = 0;
}

/* Makes room for the rows. What is there is forgotten. */
static bool rows_room(memory *m, cell_rows *r, uint64_t count, bool old, bool whole)
{
    if (count + ROWS_AT_ONCE <= r->room && count + count / 4 + 64 >= r->room / 2 && r->old == old) return true;
    rows_free(m, r);
    r->old = old;
    const uint32_t room = (uint32_t)(count + count / 32 + 16);
    bool ok = true;
    for (uint32_t a = 0; a < r->axes; a++) {
        r->at[a] = reef__memory_resize(m, MEMORY_OTHER, NULL, 0, at_bytes(r, room), PLAIN_ALIGN);
        ok &= r->at[a] != NULL;
    }
    r->index = reef__memory_resize(m, MEMORY_OTHER, NULL, 0, room * sizeof *r->index, PLAIN_ALIGN);
    r->generation = reef__memory_resize(m, MEMORY_OTHER, NULL, 0, generation_bytes(r, room), PLAIN_ALIGN);
    if (whole) r->cell = reef__memory_resize(m, MEMORY_OTHER, NULL, 0, room * sizeof *r->cell, PLAIN_ALIGN);
    ok &= !whole || r->cell;
    if (r->bodies) r->radius = reef__memory_resize(m, MEMORY_OTHER, NULL, 0, room * sizeof *r->radius, PLAIN_ALIGN);
    for (uint32_t k = 0; k < REEF_PLACE_CARRIES_MAX && r->carried_size[k]; k++) {
        const size_t bytes = (size_t)room * r->carried_size[k];
        r->carried[k] = reef__memory_resize(m, MEMORY_OTHER, NULL, 0, bytes, PLAIN_ALIGN);
        ok &= r->carried[k] != NULL;
    }
    r->room = room;
    return (ok && r->index && r->generation && (!r->bodies || r->radius)) || (rows_free(m, r), false);
}

static bool slots_room(cell_sort *c)
{
    cell_rows *r = c->rows;
    return c->s->indices == 0 ||
           reef__array_room(c->m, MEMORY_OTHER, &r->slot, &r->slot_room, c->s->indices, sizeof *r->slot);
}

void reef__cells_drop(memory *m, cell_rows *r, cell_grids *g)
{
    rows_free(m, r);
    reef__memory_free(m, MEMORY_OTHER, g->start, g->bucket_room * sizeof *g->start);
    g->start = NULL;
    g->count = g->buckets = g->bucket_room = 0;
}

/* ---- all of it ---- */

static bool cells_sort(cell_sort *c)
{
    uint64_t rows;
    size_t bytes;
    if (!sort_look(c, &rows) || !rows_room(c->m, c->rows, rows, c->rows->old, c->p->whole) || !slots_room(c))
        return false;
    if (rows == 0 && !c->p->whole) return true;
    if (c->grids->count == 0) grid_add(c->grids, c->p->cell, 0);
    for (uint32_t i = 0; i < c->grids->count; i++)
        if (!grid_lay_out(c, &c->grids->grid[i])) return false;
    c->key_room = rows + STARTS_AHEAD;
    if (!reef__size_multiply((size_t)c->key_room, sizeof *c->key, 0, &bytes)) return false;
    c->key = reef__memory_resize(c->m, MEMORY_OTHER, NULL, 0, bytes, PLAIN_ALIGN);
    if (c->key == NULL) return false;
    sort_count(c);
    for (uint32_t i = 0; i < c->grids->count; i++)
        if (!crowd_move(c, i)) return false;
    starts_sum(c);
    if (c->p->whole) c->grids->grid[0].rows = c->rows->count;
    const uint32_t count = c->rows->count;
    if (sort_place(c)) return true;
    if (!rows_room(c->m, c->rows, rows, true, c->p->whole) || !slots_room(c)) return false; /* which forgets the rows */
    c->rows->count = count;
    memmove(c->grids->start + 1, c->grids->start, c->grids->buckets * sizeof *c->grids->start); /* as summed */
    return sort_place(c);
}

bool reef__cells_sort(memory *m, const place_type *p, const cell_source *s, cell_rows *rows, cell_grids *grids)
{
    cell_sort c = {.m = m, .p = p, .s = s, .rows = rows, .grids = grids};
    rows->count = grids->count = grids->buckets = 0;
    rows->axes = p->axes;
    rows->wide = p->kind != REEF_F32;
    rows->bodies = p->body != NULL;
    for (uint32_t k = 0; k < p->carried_count; k++) rows->carried_size[k] = p->carried[k]->size;
    const bool ok = cells_sort(&c);
    if (c.key) reef__memory_free(m, MEMORY_OTHER, c.key, (size_t)c.key_room * sizeof *c.key);
    if (!ok) reef__cells_drop(m, rows, grids);
    return ok;
}
