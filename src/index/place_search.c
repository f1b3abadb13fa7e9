/* Questions to a picture.
 *
 *   the cells around `at` ─► rows that are near enough ─► hits {index, row} ─► sorted ─► answers
 *
 * A few hits are collected on the stack, more of them in the caller's own array, which has room for more bytes than
 * they need: there they become answers from the last one on. Where more are found than there is room for, the array is
 * a heap with the largest index on top, which the next smaller one replaces. So no question needs memory, and many
 * threads may ask one picture. */
#include "index/place_search.h"
#include "storage/entity_index.h"
#include "storage/error.h"
#include "storage/place.h"
#include "query/query.h"
#include "query/query_answers.h"
#include "query/value_term.h"
#include "index/cell_walk.h"
#include "index/picture.h"
#include "reef/place.h"
#include <math.h>

enum { WAITING_GROUP = 64 };
_Static_assert(sizeof(reef_near) >= 2 * sizeof(uint64_t), "hits are kept where the answers go");

/* ---- which rows count ---- */

/* Tells of a query that doesn't fit. Only in a system this is a failure that is kept: elsewhere several threads may ask
 * one picture. */
static COLD const query *filter_refuse(reef_world *w, reef_status s, const char *why)
{
    reef_error e = {.status = s, .operation = "reef_place_ask.only"};
    strcpy(e.detail, why);
    if (w->running) reef__failure_record(w, &e);
    else reef__failure_report(w, &e);
    return NULL;
}

const query *reef__place_filter(const reef_place *p, reef_query only, bool *fits)
{
    reef_world *w = p->world;
    *fits = only.generation == 0;
    if (*fits) return NULL;
    reef_status s;
    query *q = query_shared(w, only, &s);
    if (q == NULL)
        return filter_refuse(w, s,
                             s == REEF_NOT_ALIVE     ? "the query was freed"
                             : s == REEF_OTHER_WORLD ? OTHER_WORLDS_QUERY
                                                     : "");
    if (q->since || q->ranking || q->plan || q->near || q->fixed || parameters_missing(q))
        return filter_refuse(w, REEF_BAD_ARGUMENT,
                             "the query has 'changed', an order, 'near', relations, components of another entity, or a "
                             "parameter without a value");
    if (w->running && q->values) /* somebody may write the values */
        return filter_refuse(w, REEF_BAD_ARGUMENT, "in a system the query can't ask for values");
    *fits = w->running || reef__query_prepare_one(q);
    return *fits ? q : NULL;
}

bool reef__row_matches(const asked_rows *t, uint32_t index)
{
    const uint32_t place = (uint32_t)record_read(t->world, index);
    return place >= 2 * PLACE_EMPTY && reef__query_place_matches(t->only, place);
}

/* ---- hits ---- */

/* Puts element `at` of a heap, with the largest on top, where it belongs. */
static void hits_down(void *hits, uint32_t count, uint32_t at)
{
    const uint64_t x = hit_get(hits, at);
    for (uint32_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && hit_get(hits, child + 1) > hit_get(hits, child)) child++;
        if (hit_get(hits, child) <= x) break;
        hit_put(hits, at, hit_get(hits, child));
    }
    hit_put(hits, at, x);
}

/* Sorts hits by counting, for each, those with a smaller index. There are no branches that depend on the hits, which a
 * processor couldn't predict. */
INLINE void hits_rank(uint64_t *hit, uint32_t count, uint32_t most)
{
    int32_t key[HITS_FEW], rank[HITS_FEW] = {0};
    uint64_t was[HITS_FEW];
    for (uint32_t i = 0; i < most; i++) {
        key[i] = i < count ? (int32_t)((uint32_t)(hit[i] >> 32) ^ 0x80000000u) : INT32_MAX;
        was[i] = hit[i];
    }
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < most; k++) rank[k] += key[i] < key[k];
    for (uint32_t i = 0; i < count; i++) hit[rank[i]] = was[i];
}

void reef__hits_sort_few(uint64_t *hit, uint32_t count)
{
    if (count <= HITS_FEW / 4) hits_rank(hit, count, HITS_FEW / 4);
    else if (count <= HITS_FEW / 2) hits_rank(hit, count, HITS_FEW / 2);
    else hits_rank(hit, count, HITS_FEW);
}

void reef__hits_sort(void *hits, uint32_t count)
{
    for (uint32_t i = count / 2; i-- > 0;) hits_down(hits, count, i);
    for (uint32_t end = count; end-- > 1;) {
        const uint64_t top = hit_get(hits, 0);
        hit_put(hits, 0, hit_get(hits, end));
        hit_put(hits, end, top);
        hits_down(hits, end, 0);
    }
}

typedef struct hits {
    uint64_t few[HITS_FEW]; /* while there are no more */
    void *hit;              /* then all of them, in the array of the caller */
    uint32_t room, count, found;
} hits;

/* More than a few were found. */
static NOINLINE void hits_more(hits *h, uint64_t hit)
{
    if (h->found++ == HITS_FEW) {
        reef__hits_sort(h->few, HITS_FEW); /* the first ones stay, if there is no room for all */
        h->count = h->room < HITS_FEW ? h->room : HITS_FEW;
        for (uint32_t i = 0; i < h->count; i++) hit_put(h->hit, i, h->few[i]);
        if (h->count == h->room)
            for (uint32_t i = h->count / 2; i-- > 0;) hits_down(h->hit, h->count, i);
    }
    if (h->count < h->room) {
        hit_put(h->hit, h->count++, hit);
        if (h->count == h->room)
            for (uint32_t i = h->count / 2; i-- > 0;) hits_down(h->hit, h->count, i);
    } else if (h->room && hit < hit_get(h->hit, 0)) {
        hit_put(h->hit, 0, hit);
        hits_down(h->hit, h->count, 0);
    }
}

INLINE void hits_add(hits *h, uint64_t hit)
{
    if (UNLIKELY(h->found >= HITS_FEW)) hits_more(h, hit);
    else h->few[h->found++] = hit;
}

/* ---- a question ---- */

typedef struct search {
    const reef_place *p;
    asked_rows test;
    double at[AXES], end[AXES]; /* of a box: its lowest and its highest corner */
    double radius;
    uint32_t axes;
    bool wide, wraps;
    hits hits;
} search;

double reef__ask_coordinate(const place_type *t, double x)
{
    return (t->kind == REEF_F32 ? (double)(float)x : x) + 0.0;
}

bool reef__ask_take(const reef_place *p, const reef_place_ask *ask, asked_rows *test, double *at)
{
    bool fits = true;
    if (p == NULL || ask == NULL || !(ask->radius >= 0)) return false;
    test->world = p->world;
    test->except = ask->except.generation ? ask->except.index : UINT32_MAX;
    test->least = ask->above && ask->except.generation ? ask->except.index : 0;
    test->only = ask->only.generation ? reef__place_filter(p, ask->only, &fits) : NULL;
    for (uint32_t a = 0; a < p->type->axes; a++) {
        at[a] = reef__ask_coordinate(p->type, ask->at[a]);
        if (!(at[a] - at[a] == 0)) return false;
    }
    return fits && p->rows.count != 0;
}

/* False: it can't find anything. */
static bool asking_begin(search *s, const reef_place *p, const reef_place_ask *ask)
{
    if (!reef__ask_take(p, ask, &s->test, s->at)) return false;
    s->p = p;
    s->axes = p->type->axes;
    s->wide = p->rows.wide;
    s->wraps = p->wraps;
    s->radius = ask->radius;
    return true;
}

static void search_wrap(search *s)
{
    for (uint32_t a = 0; a < s->axes; a++)
        if (s->p->type->length[a] > 0) s->at[a] = reef__edge_wrap(s->p->type, a, s->at[a]);
}

/* Where the hits go. */
static void search_to(search *s, reef_near *to, uint32_t room)
{
    s->hits.hit = to;
    s->hits.room = to ? room : 0;
    s->hits.count = s->hits.found = 0;
}

/* `axes`, `wide`, `wraps` and `bodies` are constants where that matters. */
INLINE void answer_put(const search *s, uint32_t row, reef_near *to, uint32_t axes, bool wide, bool wraps, bool bodies)
{
    const reef_place *p = s->p;
    if (axes == 2) to->offset[2] = 0;
    to->squared = way_to(p, s->at, row, axes, wide, wraps, to->offset);
    to->radius = bodies ? p->rows.radius[row] : 0;
    to->entity = entity_of(p, row);
}

/* Turns the hits into answers. Answer i lies where hits 5 * i and later ones were. */
static NOINLINE uint32_t search_end_many(search *s, reef_near *to)
{
    const bool bodies = s->p->rows.bodies;
    reef__hits_sort(s->hits.hit, s->hits.count);
    for (uint32_t i = s->hits.count; i-- > 0;)
        answer_put(s, (uint32_t)hit_get(s->hits.hit, i), &to[i], s->axes, s->wide, s->wraps, bodies);
    return s->hits.found;
}

INLINE uint32_t search_end(search *s, reef_near *to, uint32_t axes, bool wide, bool wraps, bool bodies)
{
    const uint32_t found = s->hits.found, count = found < s->hits.room ? found : s->hits.room;
    if (UNLIKELY(found > HITS_FEW)) return search_end_many(s, to);
    reef__hits_sort_few(s->hits.few, found);
    for (uint32_t i = 0; i < count; i++) answer_put(s, (uint32_t)s->hits.few[i], &to[i], axes, wide, wraps, bodies);
    return found;
}

INLINE void search_found(search *s, const cell_grid *g, const cell_slice *x, uint32_t row)
{
    if (UNLIKELY(!x->sure) && !cell_slice_has(g, &s->p->rows, x, row)) return;
    const uint64_t hit = hit_of(s->p, row);
    if (row_counts(&s->test, (uint32_t)(hit >> 32))) hits_add(&s->hits, hit);
}

/* ---- within a radius ---- */

/* Rows that are near enough wait here until a few are together. */
typedef struct rows_waiting {
    uint32_t count;
    uint32_t row[2 * WAITING_GROUP + 1]; /* a row is written before it is known to count */
} rows_waiting;

INLINE void waiting_end(search *s, const cell_grid *g, const cell_slice *x, rows_waiting *w, uint32_t axes, bool wide,
                        bool wraps, bool bodies)
{
    row_found f;
    for (uint32_t i = 0; i < w->count; i++)
        if (row_is_near(s->p, s->at, w->row[i], s->radius, axes, wide, wraps, bodies, &f))
            search_found(s, g, x, w->row[i]);
    w->count = 0;
}

/* Looks at the rows of slices without a branch: whether a row is near can't be predicted. */
INLINE void circle_rows(search *s, const cell_grid *g, const cell_slices *all, uint32_t axes, bool wide, bool wraps,
                        bool bodies)
{
    rows_waiting w;
    w.count = 0;
    for (const cell_slice *x = all->slice, *last = x + all->count; x < last; x++) {
        for (uint32_t first = x->first, end; first < x->end; first = end) {
            end = x->end - first > WAITING_GROUP ? first + WAITING_GROUP : x->end;
            rows_maybe_near(s->p, first, end, w.row, &w.count, s->at, 0, s->radius, axes, wide, wraps, bodies, false);
            if (w.count >= WAITING_GROUP || UNLIKELY(!x->sure)) waiting_end(s, g, x, &w, axes, wide, wraps, bodies);
        }
    }
    if (w.count) waiting_end(s, g, &all->slice[all->count - 1], &w, axes, wide, wraps, bodies);
}

static void circle_visit_plain(void *context, const cell_grid *g, const cell_slices *x)
{
    circle_rows(context, g, x, 2, false, false, false);
}
static void circle_visit(void *context, const cell_grid *g, const cell_slices *x)
{
    search *s = context;
    if (s->wide) circle_rows(s, g, x, s->axes, true, s->wraps, s->p->rows.bodies);
    else if (s->axes == 2) circle_rows(s, g, x, 2, false, s->wraps, s->p->rows.bodies);
    else circle_rows(s, g, x, 3, false, s->wraps, s->p->rows.bodies);
}

/* Visits the cells around `at` in all grids. */
INLINE void search_around(search *s, uint32_t axes, bool wide, bool wraps, cell_visit visit)
{
    for (const cell_grid *g = s->p->grids.grid, *end = g + s->p->grids.count; g < end; g++) {
        const double r = s->radius + (double)g->reach, reach = r + radius_slack(s->p, r);
        double low[AXES], high[AXES];
        cell_slices found;
        for (uint32_t a = 0; a < axes; a++) {
            low[a] = s->at[a] - reach;
            high[a] = s->at[a] + reach;
        }
        (void)cells_walk(s->p, g, axes, wide, wraps, low, high, &found, visit, s);
    }
}

uint32_t reef_place_within(const reef_place *p, const reef_place_ask *ask, reef_near *to, uint32_t room)
{
    search s;
    if (!asking_begin(&s, p, ask) || !ask_reaches(p, ask->radius, 0)) return 0;
    search_to(&s, to, room);
    /* The commonest kind has code of its own: near_10 took 250 ns instead of 400. */
    if (s.axes == 2 && !s.wide && !s.wraps && !p->rows.bodies) {
        search_around(&s, 2, false, false, circle_visit_plain);
        return search_end(&s, to, 2, false, false, false);
    }
    search_wrap(&s);
    search_around(&s, s.axes, s.wide, s.wraps, circle_visit);
    return search_end(&s, to, s.axes, s.wide, s.wraps, p->rows.bodies);
}

/* ---- in a box ---- */

/* How far a coordinate is outside of the box on one axis; 0: it is inside. On an axis that wraps around, the box begins
 * between the edges and may end behind one. */
static float box_gap(const search *s, uint32_t axis, double x)
{
    const double length = s->p->type->length[axis];
    double before = s->at[axis] - x, behind = x - s->end[axis];
    if (length > 0) {
        const double size = s->end[axis] - s->at[axis];
        double in = x - s->at[axis];
        if (in < 0) in += length;
        before = length - in;
        behind = in - size;
        if (behind <= 0) return 0;
        return (float)(before < behind ? before : behind);
    }
    return before > 0 ? (float)before : behind > 0 ? (float)behind : 0;
}

static void box_rows(search *s, const cell_grid *g, const cell_slice *x)
{
    for (uint32_t i = x->first; i < x->end; i++) {
        const float radius = s->p->rows.bodies ? s->p->rows.radius[i] : 0;
        double squared = 0;
        for (uint32_t a = 0; a < s->axes; a++) {
            const float gap = box_gap(s, a, coordinate_of(&s->p->rows, a, i));
            squared += (double)gap * (double)gap;
        }
        if (squared <= (double)radius * (double)radius) search_found(s, g, x, i);
    }
}

static void box_visit(void *context, const cell_grid *g, const cell_slices *x)
{
    for (uint32_t k = 0; k < x->count; k++) box_rows(context, g, &x->slice[k]);
}

uint32_t reef_place_box(const reef_place *p, const reef_place_ask *ask, reef_near *to, uint32_t room)
{
    search s;
    double diagonal = 0;
    if (!asking_begin(&s, p, ask)) return 0;
    for (uint32_t a = 0; a < s.axes; a++) {
        s.end[a] = reef__ask_coordinate(p->type, ask->end[a]);
        if (!(s.end[a] >= s.at[a] && s.end[a] - s.end[a] == 0)) return 0;
        const double size = s.end[a] - s.at[a];
        diagonal += size * size;
        if (p->type->length[a] > 0) s.at[a] = reef__edge_wrap(p->type, a, s.at[a]), s.end[a] = s.at[a] + size;
    }
    if (!ask_reaches(p, 0, diagonal / 4)) return 0;
    search_to(&s, to, room);
    for (const cell_grid *g = p->grids.grid, *last = g + p->grids.count; g < last; g++) {
        double low[AXES], high[AXES];
        cell_slices found;
        const double slack = (double)g->reach + radius_slack(p, (double)g->reach);
        for (uint32_t a = 0; a < s.axes; a++) {
            low[a] = s.at[a] - slack;
            high[a] = s.end[a] + slack;
        }
        (void)cells_walk(p, g, s.axes, s.wide, s.wraps, low, high, &found, box_visit, &s);
    }
    return search_end(&s, to, s.axes, s.wide, s.wraps, p->rows.bodies);
}

/* ---- the nearest ---- */

/* The nearest ones so far, a heap with the farthest on top: the square, and the row where the generation will be. */
typedef struct near_search {
    search s;
    reef_near *to;
    uint32_t room, count;
    double most; /* the square of the largest distance that counts now */
} near_search;

static bool near_behind(const reef_near *a, const reef_near *b)
{
    return a->squared != b->squared ? a->squared > b->squared : a->entity.index > b->entity.index;
}

static void near_down(reef_near *heap, uint32_t count, uint32_t at)
{
    const reef_near x = heap[at];
    for (uint32_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && near_behind(&heap[child + 1], &heap[child])) child++;
        if (!near_behind(&heap[child], &x)) break;
        heap[at] = heap[child];
    }
    heap[at] = x;
}

static void nearest_rows(near_search *k, const cell_grid *g, const cell_slice *x)
{
    const reef_place *p = k->s.p;
    for (uint32_t i = x->first; i < x->end; i++) {
        reef_near n = {.entity = {p->rows.index[i], i}};
        n.squared = way_to(p, k->s.at, i, k->s.axes, k->s.wide, k->s.wraps, n.offset);
        if (!(n.squared <= k->most) || (k->count == k->room && !near_behind(&k->to[0], &n))) continue;
        if ((!x->sure && !cell_slice_has(g, &p->rows, x, i)) || !row_counts(&k->s.test, n.entity.index)) continue;
        if (k->count == k->room) {
            k->to[0] = n;
            near_down(k->to, k->count, 0);
            continue;
        }
        k->to[k->count++] = n;
        if (k->count == k->room)
            for (uint32_t at = k->count / 2; at-- > 0;) near_down(k->to, k->count, at);
    }
}

static void nearest_visit(void *context, const cell_grid *g, const cell_slices *x)
{
    for (uint32_t k = 0; k < x->count; k++) nearest_rows(context, g, &x->slice[k]);
}

/* The radius to begin with: where rows lie as in the grid that has most of them, it holds some more than are wanted. */
static double nearest_first(const near_search *k)
{
    const cell_grids *all = &k->s.p->grids;
    const cell_grid *g = all->grid;
    for (uint32_t i = 1; i < all->count; i++)
        if (all->grid[i].rows > g->rows) g = &all->grid[i];
    double r = all->grid[0].cell, rows = (double)g->rows;
    for (uint32_t a = 0; a < k->s.axes; a++) rows *= 2 * r / g->cell / ((double)g->last[a] + 1);
    for (; rows > 8 * ((double)k->room + 1) && r / 2 > 0; rows /= 1u << k->s.axes) r /= 2;
    return r;
}

/* Looks within a radius that grows until enough are found in it: then no other can be nearer. */
static void nearest_grow(near_search *k)
{
    const double limit = k->s.radius > 0 ? k->s.radius : INFINITY;
    for (double r = nearest_first(k); k->count < k->room; r *= 2) {
        const bool last = !(r < limit);
        const double radius = last ? limit : r;
        k->count = 0;
        k->most = radius * radius;
        bool all = true;
        for (const cell_grid *g = k->s.p->grids.grid, *end = g + k->s.p->grids.count; g < end; g++) {
            double low[AXES], high[AXES];
            cell_slices found;
            const double reach = radius + radius_slack(k->s.p, radius);
            for (uint32_t a = 0; a < k->s.axes; a++) {
                low[a] = k->s.at[a] - reach;
                high[a] = k->s.at[a] + reach;
            }
            all &= cells_walk(k->s.p, g, k->s.axes, k->s.wide, k->s.wraps, low, high, &found, nearest_visit, k);
        }
        if (last) return;
        if (all) r = limit; /* all rows were looked at: the next time they are all that count */
    }
}

uint32_t reef_place_nearest(const reef_place *p, const reef_place_ask *ask, reef_near *to, uint32_t room)
{
    near_search k = {.to = to, .room = room};
    if (to == NULL || room == 0 || !asking_begin(&k.s, p, ask)) return 0;
    if (!ask_reaches(p, ask->radius > 0 ? ask->radius : (double)INFINITY, 0)) return 0;
    search_wrap(&k.s);
    nearest_grow(&k);
    /* a heap that isn't full isn't in order yet */
    for (uint32_t i = k.count / 2; i-- > 0;) near_down(to, k.count, i);
    for (uint32_t end = k.count; end > 1;) {
        const reef_near top = to[0];
        to[0] = to[--end];
        to[end] = top;
        near_down(to, end, 0);
    }
    for (uint32_t i = 0; i < k.count; i++)
        answer_put(&k.s, to[i].entity.generation, &to[i], k.s.axes, k.s.wide, k.s.wraps, p->rows.bodies);
    return k.count;
}
