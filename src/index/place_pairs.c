/* All pairs within a distance.
 *
 *   rows ─► parts by the index of the entity: 0 ... 2047 | 2048 ... 4095 | ...        a thread takes the next part
 *   part ─► its rows in the order of their indices ─► of each, the rows around it with a higher index, sorted ─► pairs
 *
 * Each pair is looked at from both sides and found from the lower one, so the pairs come in their order and the parts
 * need nothing of each other. (Visiting half of the cells around each cell finds each pair once, but in the order of
 * the cells: sorting the pairs took longer than looking twice.) */
#include "base/thread_pool.h"
#include "index/cell_walk.h"
#include "index/picture.h"
#include "index/place_search.h"
#include "index/row_distance.h"
#include "reef/place.h"

enum {
    PARTNERS = 256,     /* of one row, for which no memory is taken */
    PAIRS_AT_ONCE = 64, /* handed out by one call */
    PARTNERS_GROUP = 64,
    /* in rows_pair: by how many rows what comes before a row's partners is ahead of them */
    SEARCHES = 8,
    ROWS_AHEAD = 16,
    CELLS_AHEAD = 5,
    SLICES_AHEAD = 10
};

typedef struct pairing {
    const reef_place *p;
    const reef_place_pairs *ask;
    asked_rows test; /* of the higher one, but for its index */
    uint32_t *rows, *begin;
    bool plain;               /* points in two dimensions, f32, no edges that wrap around */
    uint32_t short_of_memory; /* atomic */
} pairing;

/* One part. */
typedef struct pairing_part {
    pairing *of;
    uint32_t number;
    /* What was found, and hits that are the index of each entity and the number of what was found. They lie here, or in
     * memory for `room` of them. */
    uint64_t few[PARTNERS], *hit;
    row_found found_few[PARTNERS], *found;
    uint32_t count, room;
    double at[AXES], distance; /* of the row whose partners are looked for; with its radius */
    uint32_t lower;            /* its index */
    uint32_t pair_count;
    reef_pair pair[PAIRS_AT_ONCE];
} pairing_part;

/* ---- the partners of one row ---- */

static void partners_free(pairing_part *x)
{
    memory *m = &x->of->p->world->family->memory;
    if (x->hit == x->few) return;
    reef__memory_free(m, MEMORY_OTHER, x->hit, (size_t)x->room * sizeof *x->hit);
    reef__memory_free(m, MEMORY_OTHER, x->found, (size_t)x->room * sizeof *x->found);
}

static COLD bool partners_room(pairing_part *x)
{
    memory *m = &x->of->p->world->family->memory;
    const size_t room = (size_t)x->room * 2;
    uint64_t *hit = reef__memory_resize(m, MEMORY_OTHER, NULL, 0, room * sizeof *hit, PLAIN_ALIGN);
    row_found *found = reef__memory_resize(m, MEMORY_OTHER, NULL, 0, room * sizeof *found, PLAIN_ALIGN);
    if (hit == NULL || found == NULL) {
        reef__memory_free(m, MEMORY_OTHER, hit, hit ? room * sizeof *hit : 0);
        reef__memory_free(m, MEMORY_OTHER, found, found ? room * sizeof *found : 0);
        COUNT_UP(&x->of->short_of_memory);
        return false;
    }
    memcpy(hit, x->hit, (size_t)x->count * sizeof *hit);
    memcpy(found, x->found, (size_t)x->count * sizeof *found);
    partners_free(x);
    x->hit = hit;
    x->found = found;
    x->room = (uint32_t)room;
    return true;
}

/* Adds hits, if they count, and are in the cells that the slice is about. */
INLINE void partners_add(pairing_part *x, const cell_grid *g, const cell_slice *s, const uint32_t *row, uint32_t n,
                         uint32_t axes, bool wide, bool wraps, bool bodies)
{
    const reef_place *p = x->of->p;
    while (UNLIKELY(x->count + n >= x->room))
        if (!partners_room(x)) return;
    uint32_t count = x->count;
    for (uint32_t i = 0; i < n; i++) {
        row_found *f = &x->found[count];
        const bool near = row_is_near(p, x->at, row[i], x->distance, axes, wide, wraps, bodies, f);
        x->hit[count] = (uint64_t)p->rows.index[row[i]] << 32 | count;
        if (UNLIKELY(!s->sure) && near && !cell_slice_has(g, &p->rows, s, row[i])) continue;
        if (UNLIKELY(x->of->test.only != NULL) && near && !row_counts(&x->of->test, p->rows.index[row[i]])) continue;
        count += near;
    }
    x->count = count;
}

INLINE void partner_rows(pairing_part *x, const cell_grid *g, const cell_slices *all, uint32_t axes, bool wide,
                         bool wraps, bool bodies)
{
    const reef_place *p = x->of->p;
    uint32_t row[2 * PARTNERS_GROUP + 1], n = 0;
    for (const cell_slice *s = all->slice, *last = s + all->count; s < last; s++) {
        for (uint32_t first = s->first, end; first < s->end; first = end) {
            end = s->end - first > PARTNERS_GROUP ? first + PARTNERS_GROUP : s->end;
            rows_maybe_near(p, first, end, row, &n, x->at, x->lower, x->distance, axes, wide, wraps, bodies, true);
            if (n < PARTNERS_GROUP && LIKELY(s->sure)) continue;
            partners_add(x, g, s, row, n, axes, wide, wraps, bodies);
            n = 0;
        }
    }
    if (n) partners_add(x, g, &all->slice[all->count - 1], row, n, axes, wide, wraps, bodies);
}

static void partner_visit_plain(void *context, const cell_grid *g, const cell_slices *s)
{
    partner_rows(context, g, s, 2, false, false, false);
}
static void partner_visit(void *context, const cell_grid *g, const cell_slices *s)
{
    pairing_part *x = context;
    const reef_place *p = x->of->p;
    if (p->rows.wide) partner_rows(x, g, s, p->rows.axes, true, p->wraps, p->rows.bodies);
    else if (p->rows.axes == 2) partner_rows(x, g, s, 2, false, p->wraps, p->rows.bodies);
    else partner_rows(x, g, s, 3, false, p->wraps, p->rows.bodies);
}

static void pairs_hand_out(pairing_part *x)
{
    if (x->pair_count) x->of->ask->found(x->pair, x->pair_count, x->number, x->of->ask->context);
    x->pair_count = 0;
}

/* A row whose partners will be looked for: where the cells around it are, which are asked for from memory ahead. */
typedef struct partner_search {
    uint32_t row;
    uint32_t batches; /* how often slices were handed out; they are kept if that was once, in the end, of one grid */
    const cell_grid *grid; /* of the slices */
    double at[AXES], distance;
    cell_slices found;
} partner_search;

static void batch_keep(void *context, const cell_grid *g, const cell_slices *s)
{
    partner_search *x = context;
    (void)s;
    x->batches++;
    x->grid = g;
}

/* Walks over the cells around a row. What follows `s` is constant where that matters. */
INLINE void partners_walk(const reef_place *p, partner_search *s, uint32_t axes, bool wide, bool wraps,
                          cell_visit visit, void *context)
{
    for (const cell_grid *g = p->grids.grid, *last = g + p->grids.count; g < last; g++) {
        const double r = s->distance + (double)g->reach, reach = r + radius_slack(p, r);
        double low[AXES], high[AXES];
        for (uint32_t a = 0; a < axes; a++) {
            low[a] = s->at[a] - reach;
            high[a] = s->at[a] + reach;
        }
        (void)cells_walk(p, g, axes, wide, wraps, low, high, &s->found, visit, context);
    }
}

INLINE void partners_begin(const pairing *of, partner_search *s, uint32_t row, uint32_t axes, bool wide, bool wraps,
                           bool bodies)
{
    const cell_rows *r = &of->p->rows;
    s->row = row;
    s->batches = 0;
    s->distance = of->ask->distance + (bodies ? (double)r->radius[row] : 0);
    for (uint32_t a = 0; a < axes; a++)
        s->at[a] = wide ? ((const double *)r->at[a])[row] : (double)((const float *)r->at[a])[row];
    partners_walk(of->p, s, axes, wide, wraps, batch_keep, s);
}

INLINE void partners_find(pairing_part *x, partner_search *s, uint32_t axes, bool wide, bool wraps, bool bodies,
                          cell_visit visit)
{
    const reef_place *p = x->of->p;
    const float own = bodies ? p->rows.radius[s->row] : 0;
    for (uint32_t a = 0; a < axes; a++) x->at[a] = s->at[a];
    x->count = 0;
    x->lower = p->rows.index[s->row];
    x->distance = s->distance;
    if (LIKELY(s->batches == 1 && s->found.count && p->grids.count == 1)) visit(x, s->grid, &s->found);
    else partners_walk(p, s, axes, wide, wraps, visit, x);
    if (x->count > HITS_FEW) reef__hits_sort(x->hit, x->count);
    else reef__hits_sort_few(x->hit, x->count);
    const reef_entity lower = entity_of(p, s->row);
    for (uint32_t i = 0; i < x->count; i++) {
        const row_found *f = &x->found[(uint32_t)x->hit[i]];
        reef_pair *to = &x->pair[x->pair_count++];
        to->lower = lower;
        to->higher = entity_of(p, f->row);
        memcpy(to->offset, f->way, sizeof to->offset);
        to->squared = f->squared;
        to->touch = bodies ? own + p->rows.radius[f->row] : 0;
        if (x->pair_count == PAIRS_AT_ONCE) pairs_hand_out(x);
    }
}

/* ---- the parts ---- */

/* Asks for the coordinates of a row from memory. */
INLINE void row_fetch(const reef_place *p, uint32_t row, uint32_t axes, bool wide)
{
    for (uint32_t a = 0; a < axes; a++)
        PREFETCH((const char *)p->rows.at[a] + row * (wide ? sizeof(double) : sizeof(float)));
    PREFETCH(p->rows.index + row);
}

/* Asks for where the rows of the cells around a row begin. In a world with several grids that is a guess. */
INLINE void cells_fetch(const reef_place *p, uint32_t row, uint32_t axes, bool wide)
{
    const cell_grid *g = p->grids.grid;
    uint64_t cell[AXES] = {0};
    for (uint32_t a = 0; a < axes; a++)
        cell[a] = cell_of(
            g, a, wide ? ((const double *)p->rows.at[a])[row] : (double)((const float *)p->rows.at[a])[row], wide);
    const uint32_t *start = p->grids.start + cell_bucket(g, cell[0], cell[1], cell[2]);
    PREFETCH(start);
    PREFETCH(start + g->stride[1]);
    PREFETCH((const char *)((uintptr_t)start - g->stride[1] * sizeof *start));
}

/* Finds the partners of rows in a list. While it looks for those of one, the memory for later ones is on its way: rows
 * that follow by their index may lie anywhere. (Without that the row pairs took 1.6 times as long.) */
INLINE void rows_pair(pairing_part *x, const uint32_t *row, uint32_t count, uint32_t axes, bool wide, bool wraps,
                      bool bodies, cell_visit visit)
{
    const pairing *of = x->of;
    partner_search ring[SEARCHES];
    for (uint32_t i = 0; i < count + ROWS_AHEAD; i++) {
        if (i < count) row_fetch(of->p, row[i], axes, wide);
        if (i >= CELLS_AHEAD && i - CELLS_AHEAD < count) cells_fetch(of->p, row[i - CELLS_AHEAD], axes, wide);
        if (i >= SLICES_AHEAD && i - SLICES_AHEAD < count)
            partners_begin(of, &ring[(i - SLICES_AHEAD) % SEARCHES], row[i - SLICES_AHEAD], axes, wide, wraps, bodies);
        if (i >= ROWS_AHEAD) partners_find(x, &ring[(i - ROWS_AHEAD) % SEARCHES], axes, wide, wraps, bodies, visit);
    }
}

/* Writes the rows of a part, as far as they count, in the order of their indices. Returns how many. */
static uint32_t part_rows(const pairing *of, uint32_t number, uint32_t *row)
{
    uint32_t row_of[PART_INDICES] = {0}, n = 0; /* row + 1 */
    for (uint32_t i = of->begin[number]; i < of->begin[number + 1]; i++)
        row_of[of->p->rows.index[of->rows[i]] & (PART_INDICES - 1)] = of->rows[i] + 1;
    for (uint32_t i = 0; i < PART_INDICES; i++)
        if (row_of[i] && row_counts(&of->test, (number << PART_BITS) + i)) row[n++] = row_of[i] - 1;
    return n;
}

static void part_find(void *data, uint32_t number)
{
    pairing *of = data;
    const reef_place *p = of->p;
    const cell_rows *r = &p->rows;
    uint32_t row[PART_INDICES];
    pairing_part x;
    x.of = of;
    x.number = number;
    x.hit = x.few;
    x.found = x.found_few;
    x.room = PARTNERS;
    x.pair_count = 0;
    const uint32_t count = part_rows(of, number, row);
    if (of->plain) rows_pair(&x, row, count, 2, false, false, false, partner_visit_plain);
    else rows_pair(&x, row, count, r->axes, r->wide, p->wraps, r->bodies, partner_visit);
    pairs_hand_out(&x);
    partners_free(&x);
}

uint32_t reef_place_parts(const reef_place *p) { return p ? p->parts : 0; }

/* Sorts the rows by their parts. `begin` is cleared and has room for one number more than there are parts. */
static void parts_fill(pairing *x)
{
    const cell_rows *r = &x->p->rows;
    uint32_t sum = 0;
    for (uint32_t i = 0; i < r->count; i++) x->begin[r->index[i] >> PART_BITS]++;
    for (uint32_t k = 0; k <= x->p->parts; k++) {
        const uint32_t n = x->begin[k];
        x->begin[k] = sum;
        sum += n;
    }
    for (uint32_t i = 0; i < r->count; i++) x->rows[x->begin[r->index[i] >> PART_BITS]++] = i;
    memmove(x->begin + 1, x->begin, x->p->parts * sizeof *x->begin);
    x->begin[0] = 0;
}

reef_status reef_place_pairs_each(const reef_place *p, const reef_place_pairs *ask)
{
    bool fits;
    if (p == NULL || ask == NULL || ask->found == NULL || !(ask->distance >= 0)) return REEF_BAD_ARGUMENT;
    pairing x = {.p = p, .ask = ask};
    x.test = (asked_rows){p->world, UINT32_MAX, 0, reef__place_filter(p, ask->only, &fits)};
    if (!fits || !ask_reaches(p, ask->distance, 0)) return REEF_BAD_ARGUMENT;
    if (p->rows.count == 0) return REEF_OK;
    x.plain = p->type->axes == 2 && !p->wraps && !p->rows.wide && !p->rows.bodies;
    memory *m = &p->world->family->memory;
    const size_t bytes = ((size_t)p->parts + 1 + p->rows.count) * sizeof *x.begin;
    x.begin = reef__memory_zeroed(m, MEMORY_OTHER, bytes);
    if (x.begin == NULL) return REEF_NO_MEMORY;
    x.rows = x.begin + p->parts + 1;
    parts_fill(&x);
    reef__pool_share(p->world->running ? NULL : p->world->pool, p->parts, part_find, &x);
    reef__memory_free(m, MEMORY_OTHER, x.begin, bytes);
    return x.short_of_memory ? REEF_NO_MEMORY : REEF_OK;
}
