/* The allocation sweep over types that are split by field, unique values, value indexes and places. */
#include "oom_topics.h"

typedef struct {
    float x, y;
    int32_t n;
} Split;
REEF_COMPONENT_IN(Split, REEF_SPLIT);
REEF_FIELDS(Split, x, y, n);

typedef struct {
    uint32_t number;
} Seat;
static const reef_hooks one_seat = {.unique = "number"};
REEF_COMPONENT_HOOKS(Seat, &one_seat);
REEF_FIELDS(Seat, number);

typedef struct SweptSpot {
    float x, y;
} SweptSpot;
REEF_COMPONENT(SweptSpot);
REEF_FIELDS(SweptSpot, x, y);
REEF_PLACE(SweptSpot, x, y, .cell = 1);

/* Entities with places, many of them in one cell. */
static void with_spots(sweep *s)
{
    for (uint32_t i = 0; i < 1500; i++) assert_some(reef_spawn(s->w, reef_with(SweptSpot, (float)(i % 3) * 0.1f, 0)));
}
static bool place_of(sweep *s)
{
    const reef_place *p = reef_place_of(s->w, SweptSpot);
    reef_near to[4];
    if (p) s->seen = reef_place_within(p, &(reef_place_ask){.radius = 0.15}, to, 4);
    return p != NULL;
}

/* A picture that has to be made anew. */
static void with_picture(sweep *s)
{
    with_spots(s);
    assert_true(place_of(s));
    for (uint32_t i = 0; i < 1500; i++) assert_some(reef_spawn(s->w, reef_with(SweptSpot, (float)i, (float)i)));
}

/* The same of a place with whole cells that carries values. */
typedef struct SweptTile {
    double x, y;
} SweptTile;
REEF_COMPONENT(SweptTile);
REEF_FIELDS(SweptTile, x, y);
REEF_PLACE(SweptTile, x, y, .cell = 1, .edges = {{0, 40}, {0, 30}}, .whole = true, .carries = "Position SweptSpot");

static void with_tiles(sweep *s)
{
    for (uint32_t i = 0; i < 1500; i++)
        assert_some(reef_spawn(s->w, reef_with(SweptTile, i % 40, i % 30), reef_with(SweptSpot, (float)i, 0),
                               reef_with(Position, 1, (float)i)));
}
static bool tiles_of(sweep *s)
{
    const reef_place *p = reef_place_of(s->w, SweptTile);
    if (p) s->seen = reef_place_cells_of(p).first[1200];
    return p != NULL;
}

/* A query for those near a centre. */
static void with_near_query(sweep *s)
{
    with_spots(s);
    s->query = reef_query_new(s->w, "SweptSpot, near SweptSpot");
    assert_ok(reef_query_near(s->w, s->query, &(reef_place_ask){.at = {0.1}, .radius = 0.05}));
}
static bool near_query_walk(sweep *s)
{
    uint32_t rows_seen = 0;
    for (reef_row row = reef_rows(s->w, s->query); reef_plain_row_next(&row);) rows_seen++;
    return rows_seen == 500;
}
static bool near_query_new(sweep *s) { return !reef_query_is_null(reef_query_new(s->w, "SweptSpot, near SweptSpot")); }

/* A table from values to entities that is full with the next one, and one that has to be made anew. */
static void seats(sweep *s)
{
    for (uint32_t i = 0; i < 47; i++) s->e[i] = reef_spawn(s->w, reef_with(Seat, i));
}
static void seats_elsewhere(sweep *s)
{
    seats(s);
    reef_snapshot *past = reef_snapshot_take(s->w);
    assert_ok(reef_restore(s->w, past));
    reef_snapshot_free(past);
}
static bool seat_spawn(sweep *s) { return some(reef_spawn(s->w, reef_with(Seat, 1000))); }
static bool seat_set(sweep *s) { return done(reef_set(s->w, s->e[0], Seat, 1000)); }
static bool seat_spawn_many(sweep *s)
{
    uint32_t number[200];
    for (uint32_t i = 0; i < 200; i++) number[i] = 500 + i;
    const reef_value v = reef_value_make(reef_id(Seat), REEF_VALUE_ARRAY, sizeof *number, number);
    return done(reef_spawn_many_values(s->w, 200, NULL, &v, 1));
}

static void split_crowd(sweep *s)
{
    for (int32_t i = 0; i < 2100; i++) assert_some(reef_spawn(s->w, reef_with(Split, 1, 2, i)));
}
static bool index_make(sweep *s) { return reef_index_of(s->w, Split, n) != NULL; }
static void indexed_crowd(sweep *s)
{
    split_crowd(s);
    assert_true(index_make(s));
    for (int32_t i = 0; i < 40; i++) assert_some(reef_spawn(s->w, reef_with(Split, 1, 2, i)));
    s->query = reef_query_new(s->w, "in Split(n < 10)");
    assert_query(s->query);
}
static bool index_ask(sweep *s) { return reef_query_count(s->w, s->query) == 20; }

static void split_rows(sweep *s)
{
    assert_ok(reef_spawn_many(s->w, 8, s->e, reef_with(Split, 1, 2, 3), reef_with(Mass, 3)));
}
static bool split_spawn(sweep *s) { return some(reef_spawn(s->w, reef_with(Split, 1, 2, 3), reef_with(Mass, 3))); }
static bool split_set(sweep *s) { return done(reef_set(s->w, s->e[0], Split, 4, 5, 6)); }
static bool split_remove(sweep *s) { return done(reef_remove(s->w, s->e[0], Split)); }
static bool split_change(sweep *s)
{
    return done(reef_change(s->w, s->e[0], reef_with(Split, 4, 5, 6), reef_without(Mass)));
}
static bool split_clone(sweep *s) { return some(reef_clone(s->w, s->e[0])); }
static reef_status split_where(sweep *s, reef_query q) { return reef_set_where(s->w, q, Split, 4, 5, 6); }
static bool split_set_where(sweep *s) { return where(s, "with Mass", split_where); }

const scenario index_scenarios[] = {
    {"split: spawn", NULL, split_spawn},
    {"split: spawn, growth", split_rows, split_spawn},
    {"split: set, new", one_row, split_set},
    {"split: set, there", split_rows, split_set},
    {"split: remove", split_rows, split_remove},
    {"split: change", one_row, split_change},
    {"split: clone", split_rows, split_clone},
    {"split: set_where, new", eight_rows, split_set_where},
    {"split: set_where, there", split_rows, split_set_where},
    {"unique: spawn, first", NULL, seat_spawn},
    {"unique: spawn, growth", seats, seat_spawn},
    {"unique: set", seats, seat_set},
    {"unique: set, after a restore", seats_elsewhere, seat_set},
    {"unique: spawn_many", seats, seat_spawn_many},
    {"index: make", split_crowd, index_make},
    {"index: follow", indexed_crowd, index_make},
    {"index: condition", indexed_crowd, index_ask},
    {"place_of", with_spots, place_of},
    {"place_of, again", with_picture, place_of},
    {"place_of, whole cells", with_tiles, tiles_of},
    {"query_new, near", with_spots, near_query_new},
    {"query, near", with_near_query, near_query_walk},
    {"query_copy, near", with_near_query, query_copy},
    {0},
};
