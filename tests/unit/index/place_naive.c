#include "place_naive.h"
#include <math.h>

/* ---- types ---- */

static size_t kind_bytes(reef_kind kind) { return kind == REEF_F64 ? 8 : 4; }

void naive_declare(naive_place *p)
{
    static const char *const names[] = {"x", "y", "z"};
    static char type_names[64][2][32], radius[64][32], carried[64][32];
    static uint32_t number;
    const uint32_t n = number++;
    const size_t bytes = kind_bytes(p->kind);
    reef_field fields[3] = {{0}};
    /* the first member is no coordinate, so that offsets matter */
    for (uint32_t a = 0; a < p->axes; a++)
        fields[a] = (reef_field){
            .name = names[a], .kind = p->kind, .offset = (uint32_t)(bytes * (a + 1)), .bytes = (uint32_t)bytes};
    snprintf(type_names[n][0], sizeof type_names[n][0], "placed_%s", p->name);
    const reef_type_desc d = {.name = type_names[n][0],
                              .size = (uint32_t)(bytes * (p->axes + 1)),
                              .home = p->home,
                              .fields = fields,
                              .field_count = p->axes};
    reef_field whole[4] = {
        {.name = "first", .kind = p->kind, .bytes = (uint32_t)bytes}, fields[0], fields[1], fields[2]};
    reef_type_desc split = d;
    split.fields = whole;
    split.field_count = p->axes + 1;
    reef_status s;
    p->type = reef_type_new(p->home == REEF_SPLIT ? &split : &d, &s);
    assert_int_equal(s, REEF_OK);
    reef_place_desc place = {.cell = p->cell};
    for (uint32_t a = 0; a < p->axes; a++) place.fields[a] = names[a];
    place.whole = p->whole;
    place.walls = p->walls[0][1] != 0;
    memcpy(place.edges, place.walls ? p->walls : p->edges, sizeof place.edges);
    if (p->carries) {
        snprintf(carried[n], sizeof carried[n], "carried_%s", p->name);
        p->carried = reef_type_new(&(reef_type_desc){.name = carried[n], .size = 12, .home = p->body_home}, &s);
        assert_int_equal(s, REEF_OK);
        place.carries = carried[n];
    }
    if (p->bodies) {
        const reef_field r = {
            .name = "r", .kind = p->wide_radius ? REEF_F64 : REEF_F32, .offset = 8, .bytes = p->wide_radius ? 8 : 4};
        snprintf(type_names[n][1], sizeof type_names[n][1], "body_%s", p->name);
        snprintf(radius[n], sizeof radius[n], "%s.r", type_names[n][1]);
        p->body = reef_type_new(
            &(reef_type_desc){
                .name = type_names[n][1], .size = 16, .home = p->body_home, .fields = &r, .field_count = 1},
            &s);
        assert_int_equal(s, REEF_OK);
        place.radius = radius[n];
    }
    assert_int_equal(reef_place_declare(p->type, &place), REEF_OK);
}

void naive_set(reef_world *w, const naive_place *p, naive_entity *x)
{
    char value[64] = {0};
    const size_t bytes = kind_bytes(p->kind);
    for (uint32_t a = 0; a < p->axes; a++) {
        const float narrow = (float)x->at[a];
        const int32_t whole = p->kind == REEF_I32 ? (int32_t)x->at[a] : 0;
        char *to = value + bytes * (a + 1);
        if (p->kind == REEF_F32) memcpy(to, &narrow, bytes), x->at[a] = (double)narrow;
        else if (p->kind == REEF_F64) memcpy(to, &x->at[a], bytes);
        else memcpy(to, &whole, bytes), x->at[a] = (double)whole;
    }
    assert_true(reef_set_id(w, x->e, p->type, value, bytes * (p->axes + 1)) >= 0);
    x->has = true;
}

void naive_set_carried(reef_world *w, const naive_place *p, naive_entity *x, uint32_t value)
{
    const uint32_t values[3] = {value, ~value, x->e.index};
    assert_true(reef_set_id(w, x->e, p->carried, values, sizeof values) >= 0);
    x->carries = true;
    x->carried = value;
}

void naive_set_radius(reef_world *w, const naive_place *p, naive_entity *x)
{
    char value[16] = {0};
    const float narrow = (float)x->radius;
    if (p->wide_radius) memcpy(value + 8, &x->radius, 8);
    else memcpy(value + 8, &narrow, 4);
    assert_true(reef_set_id(w, x->e, p->body, value, sizeof value) >= 0);
    x->body = true;
}

/* ---- what the picture should have ---- */

typedef struct naive_row {
    reef_entity e;
    double at[3];
    float radius;
    bool tagged;
    uint32_t carried;
} naive_row;

static double wrapped(const naive_place *p, uint32_t a, double x)
{
    const bool narrow = p->kind == REEF_F32;
    const double low = narrow ? (double)(float)p->edges[a][0] : p->edges[a][0];
    const double length = narrow ? (double)((float)p->edges[a][1] - (float)p->edges[a][0]) : p->edges[a][1] - low;
    if (length == 0 || (x - low >= 0 && x - low < length)) return x;
    const double turns = floor((x - low) / length);
    double in = low + ((x - low) - turns * length);
    if (narrow) in = (double)(float)in;
    return in >= low && in - low < length ? in : low;
}

static int by_index(const void *a, const void *b)
{
    const naive_row *x = a, *y = b;
    return x->e.index < y->e.index ? -1 : 1;
}

static uint32_t rows_of(const naive_place *p, const naive_model *m, naive_row *row)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < m->count; i++) {
        const naive_entity *x = &m->entity[i];
        bool somewhere = x->alive && x->has && !x->disabled && !x->type_disabled && (x->carries || !p->carries);
        for (uint32_t a = 0; a < p->axes; a++) {
            somewhere &= isfinite(x->at[a]) != 0;
            if (somewhere) row[n].at[a] = wrapped(p, a, x->at[a]) + 0.0;
        }
        if (!somewhere) continue;
        row[n].e = x->e;
        row[n].carried = x->carried;
        row[n].radius = x->body && (float)x->radius > 0 ? (float)x->radius : 0;
        row[n++].tagged = x->tagged;
    }
    qsort(row, n, sizeof *row, by_index);
    return n;
}

/* ---- questions ---- */

static float way(const naive_place *p, uint32_t a, double from, double to)
{
    const double length = p->edges[a][1] - p->edges[a][0];
    if (p->kind == REEF_F32) {
        float d = (float)to - (float)from;
        const float l = (float)p->edges[a][1] - (float)p->edges[a][0];
        if (l != 0 && d > l / 2) d -= l;
        if (l != 0 && d < -(l / 2)) d += l;
        return d;
    }
    double d = to - from;
    if (length != 0 && d > length / 2) d -= length;
    if (length != 0 && d < -(length / 2)) d += length;
    return (float)d;
}

static double distance(const naive_place *p, const double *from, const double *to, float *offset)
{
    double squared = 0;
    offset[2] = 0;
    for (uint32_t a = 0; a < p->axes; a++) {
        offset[a] = way(p, a, from[a], to[a]);
        squared += (double)offset[a] * (double)offset[a];
    }
    return squared;
}

static bool counts(const naive_row *r, const reef_place_ask *ask)
{
    if (ask->only.generation && !r->tagged) return false;
    if (ask->except.generation == 0) return true;
    return ask->above ? r->e.index > ask->except.index : r->e.index != ask->except.index;
}

static double drawn(uint64_t *seed) { return (double)random_below(seed, 1u << 24) / (double)(1u << 24); }

static double drawn_at(const naive_place *p, uint64_t *seed)
{
    double x = drawn(seed) * p->spread;
    if (random_below(seed, 3) == 0) x = floor(x); /* so that distances are equal */
    if (random_below(seed, 12) == 0) x = (x - p->spread / 2) * 4;
    return p->kind == REEF_I32 ? floor(x) : p->kind == REEF_F32 ? (double)(float)x : x;
}

static void answers_match(const naive_place *p, const char *what, const double *at, const naive_row *row,
                          const uint32_t *wanted, uint32_t count, const reef_near *got, uint32_t found, uint32_t room)
{
    if (found != count) fail_msg("%s %s: found %u, not %u", p->name, what, (unsigned)found, (unsigned)count);
    for (uint32_t i = 0; i < count && i < room; i++) {
        float offset[3];
        const naive_row *r = &row[wanted[i]];
        const double squared = distance(p, at, r->at, offset);
        if (!reef_entity_equal(got[i].entity, r->e))
            fail_msg("%s %s: answer %u is %u, not %u", p->name, what, (unsigned)i, (unsigned)got[i].entity.index,
                     (unsigned)r->e.index);
        assert_true(got[i].squared == squared && got[i].radius == r->radius);
        assert_memory_equal(got[i].offset, offset, sizeof offset);
    }
}

static double gap(const naive_place *p, uint32_t a, double low, double high, double x)
{
    const double length =
        p->kind == REEF_F32 ? (double)((float)p->edges[a][1] - (float)p->edges[a][0]) : p->edges[a][1] - p->edges[a][0];
    if (length == 0) return x < low ? (double)(float)(low - x) : x > high ? (double)(float)(x - high) : 0;
    double in = x - low;
    if (in < 0) in += length;
    const double behind = in - (high - low), before = length - in;
    return behind <= 0 ? 0 : (double)(float)(before < behind ? before : behind);
}

static double touched(const naive_place *p, const double *at, const double *d, const double *image, double touch)
{
    double square = 0, ahead = 0, length = 0;
    for (uint32_t a = 0; a < p->axes; a++) {
        const double point = (double)(float)(image[a] - at[a]);
        square += point * point;
        ahead += point * d[a];
        length += d[a] * d[a];
    }
    if (square <= touch * touch) return 0;
    if (length == 0 || !(ahead > 0)) return 2;
    double aside = square - ahead * ahead / length;
    if (aside < 0) aside = 0;
    if (!(aside <= touch * touch)) return 2;
    const double t = ahead / length - sqrt((touch * touch - aside) / length);
    return t < 0 ? 0 : t <= 1 ? t : 2;
}

static void compare_hit(const reef_place *pic, const naive_place *p, const naive_row *row, uint32_t n,
                        reef_place_ask *ask)
{
    double at[3], d[3], best = 2;
    uint32_t who = 0;
    for (uint32_t a = 0; a < p->axes; a++) {
        d[a] = (double)(float)(ask->end[a] - ask->at[a]);
        at[a] = wrapped(p, a, ask->at[a]);
    }
    for (uint32_t i = 0; i < n; i++) {
        if (!counts(&row[i], ask)) continue;
        const int reach[3] = {p->edges[0][1] != 0 ? 12 : 0, p->edges[1][1] != 0 ? 12 : 0,
                              p->axes == 3 && p->edges[2][1] != 0 ? 12 : 0};
        for (int x = -reach[0]; x <= reach[0]; x++)
            for (int y = -reach[1]; y <= reach[1]; y++)
                for (int z = -reach[2]; z <= reach[2]; z++) {
                    const int turn[3] = {x, y, z};
                    double image[3];
                    for (uint32_t a = 0; a < p->axes; a++)
                        image[a] =
                            row[i].at[a] + turn[a] * (p->kind == REEF_F32
                                                          ? (double)((float)p->edges[a][1] - (float)p->edges[a][0])
                                                          : p->edges[a][1] - p->edges[a][0]);
                    const double t = touched(p, at, d, image, ask->radius + (double)row[i].radius);
                    if (t < best) best = t, who = i;
                }
    }
    const reef_hit hit = reef_place_hit(pic, ask);
    if (best > 1) {
        if (hit.entity.generation) fail_msg("%s: a hit at %.17g of nothing", p->name, hit.along);
        return;
    }
    if (!reef_entity_equal(hit.entity, row[who].e) || fabs(hit.along - best) > 1e-12)
        fail_msg("%s: hit %u at %.17g, not %u at %.17g", p->name, (unsigned)hit.entity.index, hit.along,
                 (unsigned)row[who].e.index, best);
}

/* ---- pairs ---- */

typedef struct pair_list {
    reef_pair pair[NAIVE_ENTITIES * NAIVE_ENTITIES / 2];
    uint32_t count, part;
} pair_list;

static void pair_note(const reef_pair *pair, uint32_t count, uint32_t part, void *context)
{
    pair_list *l = context;
    assert_true(part >= l->part);
    l->part = part;
    for (uint32_t i = 0; i < count; i++) l->pair[l->count++] = pair[i];
}

static void compare_pairs(const reef_place *pic, const naive_place *p, const naive_row *row, uint32_t n, double within,
                          reef_query only)
{
    static pair_list l;
    uint32_t count = 0;
    l.count = l.part = 0;
    const reef_place_pairs ask = {.distance = within, .only = only, .found = pair_note, .context = &l};
    assert_int_equal(reef_place_pairs_each(pic, &ask), REEF_OK);
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t k = i + 1; k < n; k++) {
            float offset[3];
            const double squared = distance(p, row[i].at, row[k].at, offset);
            const double touch = within + (double)row[i].radius + (double)row[k].radius;
            if (!(squared <= touch * touch) || (only.generation && !(row[i].tagged && row[k].tagged))) continue;
            if (count == l.count) fail_msg("%s: no pair %u, %u", p->name, row[i].e.index, row[k].e.index);
            const reef_pair *x = &l.pair[count++];
            if (!reef_entity_equal(x->lower, row[i].e) || !reef_entity_equal(x->higher, row[k].e))
                fail_msg("%s: pair %u, %u, not %u, %u", p->name, x->lower.index, x->higher.index, row[i].e.index,
                         row[k].e.index);
            assert_true(x->squared == squared && x->touch == row[i].radius + row[k].radius);
            assert_memory_equal(x->offset, offset, sizeof offset);
        }
    }
    assert_int_equal(l.count, count);
}

/* ---- terms with `near` ---- */

uint64_t naive_queries;

/* Those of a query with `near` and other terms are those that are found without it, in any order. */
static void compare_query(reef_world *w, const naive_place *p, const naive_row *row, const uint32_t *wanted,
                          uint32_t count, const reef_place_ask *ask)
{
    static bool due[1u << 16];
    char text[64];
    if (ask->except.generation) return;
    snprintf(text, sizeof text, "with Frozen, near placed_%s", p->name);
    const reef_query q = reef_query_new(w, text + (ask->only.generation ? 0 : 13));
    assert_ok(reef_query_near(w, q, ask));
    naive_queries++;
    assert_int_equal(reef_query_count(w, q), count);
    for (uint32_t i = 0; i < count; i++) due[row[wanted[i]].e.index] = true;
    for (reef_block b = reef_begin(w, q); reef_next(&b);)
        for (uint32_t first = 0, n; (n = reef_block_run(&b, &first)) != 0; first += n)
            for (uint32_t i = first; i < first + n; i++) {
                assert_true(due[b.entities[i].index]);
                due[b.entities[i].index] = false;
                count--;
            }
    assert_int_equal(count, 0);
    assert_ok(reef_query_free(w, q));
}

/* ---- slots and cells ---- */

static uint32_t cell_of_coordinate(const naive_place *p, uint32_t a, uint32_t side, double x)
{
    const double *edge = p->walls[0][1] != 0 ? p->walls[a] : p->edges[a];
    const double n = floor((x - edge[0]) / ((edge[1] - edge[0]) / side));
    return n < 0 ? 0 : n >= side ? side - 1 : (uint32_t)n;
}

static double slot_coordinate(const naive_place *p, const reef_place_cells *c, uint32_t a, uint32_t slot)
{
    return p->kind == REEF_F32 ? (double)((const float *)c->at[a])[slot] : ((const double *)c->at[a])[slot];
}

/* (The sides of these cells are powers of two, so that no coordinate is rounded into another one.) */
static void compare_cells(const reef_place *pic, const naive_place *p, uint32_t n)
{
    const reef_place_cells c = reef_place_cells_of(pic);
    assert_true((c.first != NULL) == p->whole);
    if (c.first == NULL) return;
    const uint32_t all = c.side[0] * c.side[1] * c.side[2];
    assert_int_equal(c.first[0], 0);
    assert_int_equal(c.first[all], n);
    for (uint32_t cell = 0; cell < all; cell++)
        for (uint32_t k = c.first[cell]; k < c.first[cell + 1]; k++) {
            uint32_t number = 0;
            for (uint32_t a = p->axes; a-- > 0;)
                number = number * c.side[a] + cell_of_coordinate(p, a, c.side[a], slot_coordinate(p, &c, a, k));
            assert_int_equal(number, cell);
            assert_int_equal(c.cell[k], cell);
        }
}

static void compare_slots(const reef_place *pic, const naive_place *p, const naive_model *m, const naive_row *row,
                          uint32_t n)
{
    const uint32_t *value = reef_place_carried_id(pic, p->carried);
    assert_true((value != NULL) == p->carries || n == 0);
    compare_cells(pic, p, n);
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t slot = reef_place_slot(pic, row[i].e);
        assert_true((slot < n) == (p->carries || p->whole));
        if (slot >= n) continue;
        assert_true(reef_entity_equal(reef_place_entity(pic, slot), row[i].e));
        if (value == NULL) continue;
        assert_true(value[slot * 3] == row[i].carried && value[slot * 3 + 1] == ~row[i].carried);
        assert_int_equal(value[slot * 3 + 2], row[i].e.index);
    }
    for (uint32_t i = 0; i < m->count; i++)
        if (!m->entity[i].alive) assert_int_equal(reef_place_slot(pic, m->entity[i].e), REEF_NO_SLOT);
    assert_true(reef_place_entity(pic, n).generation == 0);
}

/* ---- all of it ---- */

static double *squares;
static const naive_row *compared;

static int by_distance(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (squares[x] != squares[y]) return squares[x] < squares[y] ? -1 : 1;
    return compared[x].e.index < compared[y].e.index ? -1 : 1;
}

void naive_compare(reef_world *w, const naive_place *p, const naive_model *m, uint64_t *seed)
{
    static naive_row row[NAIVE_ENTITIES];
    uint32_t wanted[NAIVE_ENTITIES], count = 0;
    reef_near got[NAIVE_ENTITIES];
    double at[3] = {0}, end[3] = {0}, square[NAIVE_ENTITIES];
    const uint32_t n = rows_of(p, m, row);
    const reef_query only = reef_query_new(w, "with Frozen");
    const reef_place *pic = reef_place_of_id(w, p->type);
    assert_non_null(pic);
    assert_int_equal(reef_place_stats_of(pic).rows, n);
    compare_slots(pic, p, m, row, n);
    reef_place_ask ask = {.radius = random_below(seed, 8) == 0 ? 0 : drawn(seed) * drawn(seed) * p->spread};
    if (random_below(seed, 40) == 0) ask.radius = INFINITY;
    if (random_below(seed, 2)) ask.only = only;
    if (n && random_below(seed, 3)) ask.except = row[random_below(seed, n)].e;
    ask.above = random_below(seed, 4) == 0;
    for (uint32_t a = 0; a < p->axes; a++) ask.at[a] = drawn_at(p, seed);
    if (n && random_below(seed, 4) == 0) memcpy(ask.at, row[random_below(seed, n)].at, p->axes * sizeof(double));
    for (uint32_t a = 0; a < p->axes; a++) at[a] = wrapped(p, a, ask.at[a]);
    const uint32_t room = random_below(seed, 3) ? NAIVE_ENTITIES : random_below(seed, 6);

    for (uint32_t i = 0; i < n; i++) {
        float offset[3];
        const double touch = ask.radius + (double)row[i].radius;
        square[i] = distance(p, at, row[i].at, offset);
        if (square[i] <= touch * touch && counts(&row[i], &ask)) wanted[count++] = i;
    }
    answers_match(p, "within", at, row, wanted, count, got, reef_place_within(pic, &ask, got, room), room);
    compare_query(w, p, row, wanted, count, &ask);

    count = 0;
    for (uint32_t i = 0; i < n; i++)
        if (counts(&row[i], &ask) && (ask.radius == 0 || square[i] <= ask.radius * ask.radius)) wanted[count++] = i;
    squares = square;
    compared = row;
    qsort(wanted, count, sizeof *wanted, by_distance);
    count = count < room ? count : room;
    answers_match(p, "nearest", at, row, wanted, count, got, reef_place_nearest(pic, &ask, got, room), room);

    count = 0;
    for (uint32_t a = 0; a < p->axes; a++) {
        ask.end[a] = ask.at[a] + floor(drawn(seed) * p->spread * 1.3);
        end[a] = at[a] + ((p->kind == REEF_F32 ? (double)(float)ask.end[a] : ask.end[a]) - ask.at[a]);
    }
    for (uint32_t i = 0; i < n; i++) {
        double sum = 0;
        for (uint32_t a = 0; a < p->axes; a++) {
            const double g = gap(p, a, at[a], end[a], row[i].at[a]);
            sum += g * g;
        }
        if (sum <= (double)row[i].radius * (double)row[i].radius && counts(&row[i], &ask)) wanted[count++] = i;
    }
    answers_match(p, "box", at, row, wanted, count, got, reef_place_box(pic, &ask, got, room), room);

    for (uint32_t a = 0; a < p->axes; a++) {
        ask.end[a] = ask.at[a] + (drawn(seed) - 0.5) * p->spread * (random_below(seed, 3) ? 1 : 6);
        if (p->kind == REEF_F32) ask.end[a] = (double)(float)ask.end[a];
    }
    if (isinf(ask.radius)) ask.radius = 1;
    ask.radius /= 16;
    compare_hit(pic, p, row, n, &ask);
    if (random_below(seed, 4) == 0)
        compare_pairs(pic, p, row, n, drawn(seed) * drawn(seed) * p->spread * 0.5,
                      random_below(seed, 3) ? (reef_query){0} : only);
    assert_ok(reef_query_free(w, only));
}
