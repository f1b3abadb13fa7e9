/* reef's rows about places, and the same by hand instead of raw: a uniform grid with counted cells. */
#include "mem.h"
#include "reef_rows.h"

typedef struct Point {
    float x, y;
} Point;
REEF_COMPONENT(Point);
REEF_FIELDS(Point, x, y);
REEF_PLACE(Point, x, y, .cell = 1);
REEF_TAG(Ghost); /* of a neighbouring rank */

/* Points at random on a square where a circle of radius 1 has ten of them; `moved`: each a tenth of a cell further. */
static float side_of(uint32_t n)
{
    float side = 1;
    while (side * side * 3.1830989f < (float)n) side += 0.25f;
    return side;
}
static Point point_of(uint32_t i, float side, bool moved)
{
    const uint64_t z = bench_mix(i);
    const float x = (float)(z & 0xFFFFFF) / 0x1000000 * side, y = (float)(z >> 40) / 0x1000000 * side;
    return moved ? (Point){x + (i & 1 ? 0.1f : -0.1f), y + (i & 2 ? 0.1f : -0.1f)} : (Point){x, y};
}

/* What a program does with a neighbour: it is pushed away, the harder the nearer it is. */
typedef struct push {
    float x, y;
    uint64_t seen;
} push;
static inline void push_add(push *p, float dx, float dy, float squared, uint32_t number)
{
    const float weight = 1 - squared;
    p->x += dx * weight;
    p->y += dy * weight;
    p->seen += number;
}
static volatile float pushed; /* somebody needs the pushes */

/* ---- reef ---- */

typedef struct points {
    const bench_row *r;
    reef_world *w;
    reef_pool *pool;
    reef_entity *handle;
    float side;
    uint64_t sum;
} points;

static points *points_new(const bench_row *r, uint32_t threads)
{
    points *s = mem_calloc(1, sizeof *s);
    s->r = r;
    s->w = threads > 1 ? world_new_parallel() : world_new();
    s->side = side_of(r->n);
    s->handle = mem_alloc(r->n * sizeof *s->handle);
    for (uint32_t i = 0; i < r->n; i++) {
        const Point at = point_of(i, s->side, false);
        s->handle[i] = reef_spawn(s->w, reef_with(Point, at.x, at.y));
    }
    if (threads > 1) {
        s->pool = reef_pool_new(&(reef_pool_config){.threads = threads});
        if (s->pool == NULL) bench_fail(NULL, "reef_pool_new");
        reef_set_pool(s->w, s->pool);
    }
    return s;
}
static void points_free(void *p)
{
    points *s = p;
    reef_world_free(s->w);
    reef_pool_free(s->pool);
    mem_free(s->handle, s->r->n * sizeof *s->handle);
    mem_free_unsized(s);
}
static uint64_t points_sum(void *p) { return ((points *)p)->sum; }

static const reef_place *picture(points *s)
{
    const reef_place *place = reef_place_of(s->w, Point);
    if (place == NULL) bench_fail(s->w, "reef_place_of");
    return place;
}

static void *near_setup(const bench_row *r)
{
    points *s = points_new(r, 1);
    (void)picture(s);
    return s;
}

static bool is_ghost(uint32_t i) { return i % 10 == 0; }

/* All of the first `count` points ask, with `ghosts` those that are none. */
static uint64_t near_all(const points *s, const reef_place *place, uint32_t count, bool ghosts)
{
    reef_near found[64];
    push all = {0};
    for (uint32_t i = 0; i < count; i++) {
        if (ghosts && is_ghost(i)) continue;
        const Point *at = reef_get(s->w, s->handle[i], Point);
        push own = {0};
        const uint32_t n = reef_place_within(
            place, &(reef_place_ask){.at = {(double)at->x, (double)at->y}, .radius = 1, .except = s->handle[i]}, found,
            64);
        for (uint32_t k = 0; k < n; k++)
            push_add(&own, found[k].offset[0], found[k].offset[1], (float)found[k].squared,
                     found[k].entity.index - s->handle[0].index);
        all.x += own.x;
        all.y += own.y;
        all.seen += own.seen;
    }
    pushed = all.x + all.y;
    return all.seen;
}
static void near_run(void *p)
{
    points *s = p;
    const reef_place *place = picture(s);
    for (uint32_t k = 0; k < s->r->passes; k++) s->sum += near_all(s, place, s->r->n, false);
}

enum { PARTS_MAX = 64 };
typedef struct part_sums {
    push of[PARTS_MAX];
    uint32_t first;
} part_sums;

static void pairs_add(const reef_pair *pair, uint32_t count, uint32_t part, void *context)
{
    part_sums *sums = context;
    push own = sums->of[part];
    for (uint32_t i = 0; i < count; i++)
        push_add(&own, pair[i].offset[0], pair[i].offset[1], (float)pair[i].squared,
                 pair[i].lower.index * 3 + pair[i].higher.index - 4 * sums->first);
    sums->of[part] = own;
}
static void pairs_run(void *p)
{
    points *s = p;
    const reef_place *place = picture(s);
    for (uint32_t k = 0; k < s->r->passes; k++) {
        part_sums sums = {.first = s->handle[0].index};
        if (reef_place_parts(place) > PARTS_MAX ||
            reef_place_pairs_each(place, &(reef_place_pairs){.distance = 1, .found = pairs_add, .context = &sums}))
            bench_fail(s->w, "reef_place_pairs_each");
        float x = 0;
        for (uint32_t i = 0; i < PARTS_MAX; i++) {
            x += sums.of[i].x + sums.of[i].y;
            s->sum += sums.of[i].seen;
        }
        pushed = x;
    }
}
static void *pairs_1_setup(const bench_row *r) { return near_setup(r); }
static void *pairs_2_setup(const bench_row *r)
{
    points *s = points_new(r, 2);
    (void)picture(s);
    pairs_run(s);
    s->sum = 0;
    return s;
}

static void *refresh_setup(const bench_row *r)
{
    points *s = near_setup(r);
    uint32_t i = 0;
    for (reef_block b = reef_begin_text(s->w, "Point"); reef_next(&b);) {
        Point *at = reef_inout(&b, Point);
        for (uint32_t k = 0; k < b.count; k++) at[k] = point_of(i++, s->side, true);
    }
    return s;
}
static void refresh_run(void *p)
{
    points *s = p;
    const reef_place *place = picture(s);
    s->sum = near_all(s, place, 1, false);
}
/* Ghosts are what the add-on reef_ranks makes of entities of other ranks: disabled as a whole, with a tag. */
static void *ghosts_setup(const bench_row *r)
{
    points *s = points_new(r, 1);
    if (reef_place_ghosts(s->w, reef_id(Ghost), 1) != REEF_OK) bench_fail(s->w, "reef_place_ghosts");
    for (uint32_t i = 0; i < r->n; i++)
        if (is_ghost(i) && (reef_add(s->w, s->handle[i], Ghost) < 0 || reef_disable(s->w, s->handle[i]) < 0))
            bench_fail(s->w, "a ghost");
    (void)picture(s);
    for (reef_block b = reef_begin_text(s->w, "Point"); reef_next(&b);) {
        Point *at = reef_inout(&b, Point);
        for (uint32_t k = 0; k < b.count; k++)
            at[k] = point_of(b.entities[k].index - s->handle[0].index, s->side, true);
    }
    return s;
}
static void ghosts_run(void *p)
{
    points *s = p;
    s->sum = near_all(s, picture(s), s->r->n, true);
}

static void *bytes_setup(const bench_row *r) { return points_new(r, 1); }
static void bytes_run(void *p) { (void)picture(p); }
static uint64_t bytes_expected(const bench_row *r) { return r->n; }
static uint64_t bytes_sum(void *p) { return reef_place_stats_of(picture(p)).rows; }

const row_impl reef_place_rows[] = {
    {ROW_near_10, near_setup, near_run, points_sum, points_free, NULL},
    {ROW_near_ghosts, ghosts_setup, ghosts_run, points_sum, points_free, NULL},
    {ROW_pairs, pairs_1_setup, pairs_run, points_sum, points_free, NULL},
    {ROW_pairs_2, pairs_2_setup, pairs_run, points_sum, points_free, NULL},
    {ROW_place_refresh, refresh_setup, refresh_run, points_sum, points_free, NULL},
    {ROW_place_bytes, bytes_setup, bytes_run, bytes_sum, points_free, bytes_expected},
    {0},
};
const row_impl reef_alone_place_rows[] = {
    {ROW_pairs_2, pairs_1_setup, pairs_run, points_sum, points_free, NULL},
    {0},
};

/* ---- by hand ---- */

/* Points sorted by cells of side 1, with a border of empty cells around, so that no question looks beyond. */
typedef struct hand {
    const bench_row *r;
    float side;
    uint32_t wide; /* cells in a line */
    Point *at;     /* by number */
    float *x, *y;  /* by cell */
    uint32_t *number, *start, *cell;
    uint64_t sum;
} hand;

static inline uint32_t hand_line(float x) { return (uint32_t)(x + 2); }
static inline uint32_t hand_cell(const hand *h, Point p) { return hand_line(p.y) * h->wide + hand_line(p.x); }

static size_t hand_cells(const hand *h) { return (size_t)h->wide * h->wide; }

static void hand_sort(hand *h)
{
    const uint32_t n = h->r->n;
    memset(h->start, 0, (hand_cells(h) + 1) * sizeof *h->start);
    for (uint32_t i = 0; i < n; i++) h->start[h->cell[i] = hand_cell(h, h->at[i])]++;
    for (uint32_t c = 0, sum = 0; c <= hand_cells(h); c++) {
        const uint32_t count = h->start[c];
        h->start[c] = sum;
        sum += count;
    }
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t to = h->start[h->cell[i]]++;
        h->x[to] = h->at[i].x;
        h->y[to] = h->at[i].y;
        h->number[to] = i;
    }
    memmove(h->start + 1, h->start, hand_cells(h) * sizeof *h->start);
    h->start[0] = 0;
}

static hand *hand_new(const bench_row *r, bool moved)
{
    hand *h = mem_calloc(1, sizeof *h);
    h->r = r;
    h->side = side_of(r->n);
    h->wide = (uint32_t)h->side + 5;
    h->at = mem_alloc(r->n * sizeof *h->at);
    h->x = mem_alloc(r->n * sizeof *h->x);
    h->y = mem_alloc(r->n * sizeof *h->y);
    h->number = mem_alloc(r->n * sizeof *h->number);
    h->cell = mem_alloc(r->n * sizeof *h->cell);
    h->start = mem_alloc((hand_cells(h) + 1) * sizeof *h->start);
    for (uint32_t i = 0; i < r->n; i++) h->at[i] = point_of(i, h->side, false);
    hand_sort(h);
    for (uint32_t i = 0; moved && i < r->n; i++) h->at[i] = point_of(i, h->side, true);
    return h;
}
static void hand_free(void *p)
{
    hand *h = p;
    mem_free(h->at, h->r->n * sizeof *h->at);
    mem_free(h->x, h->r->n * sizeof *h->x);
    mem_free(h->y, h->r->n * sizeof *h->y);
    mem_free(h->number, h->r->n * sizeof *h->number);
    mem_free(h->cell, h->r->n * sizeof *h->cell);
    mem_free(h->start, (hand_cells(h) + 1) * sizeof *h->start);
    mem_free_unsized(h);
}
static uint64_t hand_sum(void *p) { return ((hand *)p)->sum; }
static void *hand_setup(const bench_row *r) { return hand_new(r, false); }
static void *hand_moved_setup(const bench_row *r) { return hand_new(r, true); }

static push hand_near(const hand *h, uint32_t i)
{
    const Point at = h->at[i];
    push own = {0};
    const uint32_t *start = &h->start[hand_cell(h, at) - h->wide - 1];
    for (uint32_t line = 0; line < 3; line++, start += h->wide) {
        for (uint32_t k = start[0]; k < start[3]; k++) {
            const float dx = h->x[k] - at.x, dy = h->y[k] - at.y, squared = dx * dx + dy * dy;
            if (squared <= 1 && h->number[k] != i) push_add(&own, dx, dy, squared, h->number[k]);
        }
    }
    return own;
}
static uint64_t hand_near_all(const hand *h, uint32_t count, bool ghosts)
{
    push all = {0};
    for (uint32_t i = 0; i < count; i++) {
        if (ghosts && is_ghost(i)) continue;
        const push own = hand_near(h, i);
        all.x += own.x;
        all.y += own.y;
        all.seen += own.seen;
    }
    pushed = all.x + all.y;
    return all.seen;
}
static void hand_near_run(void *p)
{
    hand *h = p;
    for (uint32_t k = 0; k < h->r->passes; k++) h->sum += hand_near_all(h, h->r->n, false);
}

/* Each pair once: the rest of a point's own cell, the one on the right, and the three in the next line. */
static void hand_pairs_slice(const hand *h, push *own, uint32_t i, uint32_t first, uint32_t end)
{
    for (uint32_t k = first; k < end; k++) {
        const float dx = h->x[k] - h->x[i], dy = h->y[k] - h->y[i], squared = dx * dx + dy * dy;
        const uint32_t a = h->number[i], b = h->number[k];
        if (squared <= 1) push_add(own, a < b ? dx : -dx, a < b ? dy : -dy, squared, a < b ? a * 3 + b : b * 3 + a);
    }
}
static void hand_pairs_run(void *p)
{
    hand *h = p;
    for (uint32_t pass = 0; pass < h->r->passes; pass++) {
        push own = {0};
        for (uint32_t c = h->wide + 1; c < hand_cells(h) - h->wide - 1; c++) {
            for (uint32_t i = h->start[c], end = h->start[c + 1]; i < end; i++) {
                hand_pairs_slice(h, &own, i, i + 1, h->start[c + 2]);
                hand_pairs_slice(h, &own, i, h->start[c + h->wide - 1], h->start[c + h->wide + 2]);
            }
        }
        h->sum += own.seen;
        pushed = own.x + own.y;
    }
}

static void hand_refresh_run(void *p)
{
    hand *h = p;
    hand_sort(h);
    h->sum = hand_near_all(h, 1, false);
}

static void *hand_ghosts_setup(const bench_row *r)
{
    hand *h = hand_new(r, false);
    for (uint32_t i = 0; i < r->n; i++)
        if (!is_ghost(i)) h->at[i] = point_of(i, h->side, true);
    return h;
}
static void hand_ghosts_run(void *p)
{
    hand *h = p;
    hand_sort(h);
    h->sum = hand_near_all(h, h->r->n, true);
}

const row_impl raw_place_rows[] = {
    {ROW_near_10, hand_setup, hand_near_run, hand_sum, hand_free, NULL},
    {ROW_near_ghosts, hand_ghosts_setup, hand_ghosts_run, hand_sum, hand_free, NULL},
    {ROW_pairs, hand_setup, hand_pairs_run, hand_sum, hand_free, NULL},
    {ROW_place_refresh, hand_moved_setup, hand_refresh_run, hand_sum, hand_free, NULL},
    {0},
};
