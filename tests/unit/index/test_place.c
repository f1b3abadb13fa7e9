/* Places: declarations, pictures and when they are made anew, questions, crowds, ghosts, and what is refused. Systems
 * that ask them are in test_place_system.c. */
#include "support.h"
#include <math.h>

typedef struct Spot {
    float x, y;
} Spot;
typedef struct Ball {
    float r;
} Ball;
REEF_COMPONENT(Spot);
REEF_COMPONENT(Ball);
REEF_FIELDS(Spot, x, y);
REEF_FIELDS(Ball, r);
REEF_PLACE(Spot, x, y, .cell = 2, .radius = "Ball.r");

typedef struct Box3 {
    double x, y, z;
} Box3;
REEF_COMPONENT(Box3);
REEF_FIELDS(Box3, x, y, z);
REEF_PLACE_3D(Box3, x, y, z, .cell = 1, .edges = {{0, 10}});

typedef struct Tile {
    double x, y;
} Tile;
REEF_COMPONENT(Tile);
REEF_FIELDS(Tile, x, y);
REEF_PLACE(Tile, x, y, .cell = 2, .edges = {{0, 8}, {0, 6}}, .walls = true, .whole = true, .carries = "Ball");

typedef struct Wrong {
    float x;
    int64_t y;
} Wrong;
REEF_COMPONENT(Wrong);
REEF_FIELDS(Wrong, x, y);
REEF_PLACE(Wrong, x, y, .cell = 1);

static reef_entity spot(reef_world *w, float x, float y) { return reef_spawn(w, reef_with(Spot, x, y)); }

/* The indices of those within a radius, as a text: "3 5 9". */
static const char *around(const reef_place *p, double x, double y, double radius)
{
    static char text[256];
    reef_near found[16];
    const uint32_t n = reef_place_within(p, &(reef_place_ask){.at = {x, y}, .radius = radius}, found, 16);
    text[0] = 0;
    for (uint32_t i = 0; i < n && i < 16; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%u", i ? " " : "",
                 (unsigned)found[i].entity.index);
    return text;
}

/* ---- declarations ---- */

static void declarations_that_are_refused(void **state)
{
    reef_world *w = world_of(state);
    static const reef_place_desc good = {.fields = {"x", "y"}, .cell = 2, .radius = "Ball.r"};
    reef_place_desc d = good;
    reef_status s;
    assert_status(REEF_OK, reef_place_declare(reef_id(Spot), &d));
    d.cell = 3;
    assert_status(REEF_EXISTS, reef_place_declare(reef_id(Spot), &d));
    d = good;
    d.radius = NULL;
    assert_status(REEF_EXISTS, reef_place_declare(reef_id(Spot), &d));
    assert_status(REEF_UNKNOWN_TYPE, reef_place_declare((reef_component){0}, &good));
    assert_status(REEF_BAD_ARGUMENT, reef_place_declare(reef_id(Spot), NULL));
    static const reef_place_desc bad[] = {
        {.fields = {"x", "y"}},
        {.fields = {"x", "y"}, .cell = -1},
        {.fields = {"x", "y"}, .cell = NAN},
        {.fields = {"x"}, .cell = 1},
        {.fields = {"x", "q"}, .cell = 1},
        {.fields = {"x", "y"}, .cell = 1, .edges = {{1, 1}}},
        {.fields = {"x", "y"}, .cell = 1, .edges = {{0, 0}, {5, -5}}},
        {.fields = {"x", "y"}, .cell = 1, .edges = {{0, INFINITY}}},
        {.fields = {"x", "y"}, .cell = 1, .radius = "Ball"},
        {.fields = {"x", "y"}, .cell = 1, .radius = "Ball.q"},
        {.fields = {"x", "y"}, .cell = 1, .radius = "Nobody.r"},
        {.fields = {"x", "y"}, .cell = 1, .radius = "Health.now"},
        {.fields = {"x", "y"}, .cell = 1, .whole = true},
        {.fields = {"x", "y"}, .cell = 1, .whole = true, .edges = {{0, 9}}},
        {.fields = {"x", "y"}, .cell = 1, .whole = true, .edges = {{0, 4097}, {0, 4096}}},
        {.fields = {"x", "y"}, .cell = 1, .carries = "Nobody"},
        {.fields = {"x", "y"}, .cell = 1, .carries = "Ball  Ball"},
        {.fields = {"x", "y"}, .cell = 1, .carries = "Frozen"},
        {.fields = {"x", "y"}, .cell = 1, .carries = "Ball Ball Ball Ball Ball"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_status(REEF_BAD_ARGUMENT, reef_place_declare(reef_id(Spot), &bad[i]));
    const reef_field f[] = {{.name = "x", .kind = REEF_F32, .bytes = 4},
                            {.name = "y", .kind = REEF_F32, .offset = 4, .bytes = 4}};
    const reef_component many = reef_type_new(
        &(reef_type_desc){.name = "placed_multi", .size = 8, .home = REEF_MULTI, .fields = f, .field_count = 2}, &s);
    assert_status(REEF_BAD_ARGUMENT, reef_place_declare(many, &(reef_place_desc){.fields = {"x", "y"}, .cell = 1}));
    assert_no_pointer(w, REEF_ABSENT, reef_place_of(w, Position));
    assert_no_pointer(w, REEF_BAD_ARGUMENT, reef_place_of(w, Wrong));
    assert_string_equal(reef_last_error(w).detail, "a coordinate is an f32, an f64 or an i32");
    assert_no_pointer(w, REEF_UNKNOWN_TYPE, reef_place_of_id(w, (reef_component){0}));
    assert_null(reef_place_of(NULL, Spot));
}

/* ---- pictures ---- */

static void a_picture_is_made_anew_when_something_changed(void **state)
{
    reef_world *w = world_of(state);
    const reef_entity a = spot(w, 1, 1), b = spot(w, 2, 1);
    const reef_place *p = reef_place_of(w, Spot);
    assert_string_equal(around(p, 1, 1, 1.5), "0 1");
    const uint64_t calls = heap_of(state)->calls;
    assert_ptr_equal(reef_place_of(w, Spot), p);
    assert_int_equal(heap_of(state)->calls, calls); /* nothing changed */
    reef_set(w, b, Spot, 9, 9);
    assert_string_equal(around(p, 1, 1, 1.5), "0 1"); /* the picture is what it was */
    assert_string_equal(around(reef_place_of(w, Spot), 1, 1, 1.5), "0");
    reef_set(w, b, Ball, 20);
    assert_string_equal(around(reef_place_of(w, Spot), 1, 1, 1.5), "0 1"); /* its body reaches as far */
    assert_ok(reef_disable(w, a, Spot));
    assert_string_equal(around(reef_place_of(w, Spot), 1, 1, 1.5), "1");
    assert_ok(reef_enable(w, a, Spot));
    assert_ok(reef_destroy(w, b));
    assert_string_equal(around(reef_place_of(w, Spot), 1, 1, 1.5), "0");
    for (reef_block block = reef_begin_text(w, "Spot"); reef_next(&block);) {
        reef_inout(&block, Spot)[0].x = 50;
        assert_ptr_equal(reef_place_of(w, Spot), p); /* not within a loop */
        assert_string_equal(around(p, 1, 1, 1.5), "0");
        assert_null(reef_place_of(w, Box3));
        assert_int_equal(reef_last_error(w).status, REEF_LOCKED);
    }
    assert_string_equal(around(reef_place_of(w, Spot), 1, 1, 1.5), "");
    assert_string_equal(around(reef_place_of(w, Spot), 50, 1, 0), "0");
}

/* After a rewind blocks have older versions, and then new ones that were there before: another past of the same
 * tick. */
static void a_rewind_to_another_past(void **state)
{
    reef_world *w = world_of(state);
    const reef_entity a = spot(w, 0, 0);
    reef_snapshot *s = reef_snapshot_take(w);
    for (uint32_t round = 0; round < 10; round++) {
        const float x = (float)(10 * (round + 1));
        reef_set(w, a, Spot, x, 0);
        assert_string_equal(around(reef_place_of(w, Spot), (double)x, 0, 0.5), "0");
        assert_ok(reef_restore(w, s));
        if (round % 2) assert_string_equal(around(reef_place_of(w, Spot), 0, 0, 0.5), "0");
    }
    reef_snapshot_free(s);
}

/* Forks number different content alike: a restore of the sibling's snapshot must not be taken for the own past. */
static void a_siblings_snapshot(void **state)
{
    reef_world *w = world_of(state);
    const reef_entity a = spot(w, 0, 0);
    reef_world *one = reef_fork(w), *two = reef_fork(w);
    reef_set(one, a, Spot, 10, 0);
    reef_set(two, a, Spot, 20, 0);
    assert_string_equal(around(reef_place_of(one, Spot), 10, 0, 1), "0");
    assert_string_equal(around(reef_place_of(two, Spot), 20, 0, 1), "0");
    reef_snapshot *s = reef_snapshot_take(two);
    assert_ok(reef_restore(one, s));
    assert_string_equal(around(reef_place_of(one, Spot), 20, 0, 1), "0");
    assert_string_equal(around(reef_place_of(one, Spot), 10, 0, 1), "");
    assert_string_equal(around(reef_place_of(w, Spot), 0, 0, 1), "0");
    reef_snapshot_free(s);
    reef_world_free(one);
    reef_world_free(two);
}

static void the_state_knows_nothing_of_it(void **state)
{
    reef_world *w = world_of(state), *other = another_world(state, NULL);
    for (uint32_t i = 0; i < 50; i++) {
        spot(w, (float)i, 1);
        spot(other, (float)i, 1);
        if (i % 10 == 0) assert_non_null(reef_place_of(w, Spot));
    }
    assert_true(reef_hash(w) == reef_hash(other));
    assert_true(reef_equal(w, other, NULL));
}

/* ---- questions ---- */

static void questions_that_find_nothing(void **state)
{
    reef_world *w = world_of(state);
    reef_near to[4];
    const reef_place *p = reef_place_of(w, Spot);
    assert_int_equal(reef_place_within(p, &(reef_place_ask){.radius = 100}, to, 4), 0); /* an empty world */
    assert_int_equal(reef_place_nearest(p, &(reef_place_ask){.radius = 0}, to, 4), 0);
    assert_int_equal(reef_place_parts(p), 0);
    spot(w, 1, 1);
    spot(w, NAN, 1);
    spot(w, 1, INFINITY);
    p = reef_place_of(w, Spot);
    assert_int_equal(reef_place_stats_of(p).rows, 1);
    assert_int_equal(reef_place_within(p, &(reef_place_ask){.at = {1, 1}}, to, 4), 1);
    assert_int_equal(reef_place_within(p, &(reef_place_ask){.radius = INFINITY}, to, 4), 1);
    assert_int_equal(reef_place_within(p, &(reef_place_ask){.at = {1, 1}}, NULL, 0), 1);
    assert_int_equal(reef_place_within(p, &(reef_place_ask){.at = {NAN, 1}, .radius = 9}, to, 4), 0);
    assert_int_equal(reef_place_within(p, &(reef_place_ask){.at = {1, 1}, .radius = -1}, to, 4), 0);
    assert_int_equal(reef_place_within(p, &(reef_place_ask){.at = {1, 1}, .radius = NAN}, to, 4), 0);
    assert_int_equal(reef_place_within(NULL, &(reef_place_ask){.radius = 9}, to, 4), 0);
    assert_int_equal(reef_place_within(p, NULL, to, 4), 0);
    assert_int_equal(reef_place_box(p, &(reef_place_ask){.at = {2, 2}, .end = {1, 1}}, to, 4), 0);
    assert_int_equal(reef_place_box(p, &(reef_place_ask){.at = {1, 1}, .end = {1, 1}}, to, 4), 1);
    assert_none(reef_place_hit(p, &(reef_place_ask){.at = {0, 0}, .end = {0, 9}}).entity);
    assert_none(reef_place_hit(NULL, NULL).entity);
    const reef_place_pairs none = {.distance = 1};
    assert_status(REEF_BAD_ARGUMENT, reef_place_pairs_each(p, &none));
    assert_status(REEF_BAD_ARGUMENT, reef_place_pairs_each(NULL, &none));
}

static void only_those_of_a_query(void **state)
{
    reef_world *w = world_of(state);
    const reef_entity a = spot(w, 1, 1);
    spot(w, 1, 1);
    reef_near to[4];
    const reef_query frozen = reef_query_new(w, "with Frozen"), changed = reef_query_new(w, "changed Spot");
    assert_ok(reef_add(w, a, Frozen));
    const reef_place *p = reef_place_of(w, Spot);
    assert_int_equal(reef_place_within(p, &(reef_place_ask){.at = {1, 1}}, to, 4), 2);
    assert_int_equal(reef_place_within(p, &(reef_place_ask){.at = {1, 1}, .only = frozen}, to, 4), 1);
    assert_entity(a, to[0].entity);
    assert_int_equal(reef_place_within(p, &(reef_place_ask){.at = {1, 1}, .only = changed}, to, 4), 0);
    assert_int_equal(reef_place_within(p, &(reef_place_ask){.at = {1, 1}, .only = {0, 9, 9}}, to, 4), 0);
    assert_ok(reef_query_free(w, frozen));
    assert_int_equal(reef_place_within(p, &(reef_place_ask){.at = {1, 1}, .only = frozen}, to, 4), 0);
    assert_ok(reef_query_free(w, changed));
}

/* Conditions on values are asked of the entities as they are now; the picture has only their coordinates. */
static void conditions_decide_who_counts(void **state)
{
    reef_world *w = world_of(state);
    const reef_entity small = reef_spawn(w, reef_with(Spot, 1, 1), reef_with(Ball, 1));
    reef_spawn(w, reef_with(Spot, 1, 1), reef_with(Ball, 5));
    const reef_query q = reef_query_new(w, "with Ball(r < $most)");
    const reef_place *p = reef_place_of(w, Spot);
    const reef_place_ask ask = {.at = {1, 1}, .only = q};
    reef_near to[4];
    assert_int_equal(reef_place_within(p, &ask, to, 4), 0); /* the parameter was never set */
    assert_ok(reef_query_set(w, q, "most", 2));
    assert_int_equal(reef_place_within(p, &ask, to, 4), 1);
    assert_entity(small, to[0].entity);
    assert_ok(reef_query_set(w, q, "most", 9));
    assert_int_equal(reef_place_within(p, &ask, to, 4), 2);
}

/* ---- terms with `near` ---- */

static const char *found_by(reef_world *w, reef_query q)
{
    static char text[256];
    text[0] = 0;
    for (reef_block b = reef_begin(w, q); reef_next(&b);)
        for (uint32_t first = 0, n; (n = reef_block_run(&b, &first)) != 0; first += n)
            for (uint32_t i = first; i < first + n; i++)
                snprintf(text + strlen(text), sizeof text - strlen(text), " %u", (unsigned)b.entities[i].index);
    return text;
}

static void queries_near_a_centre(void **state)
{
    reef_world *w = world_of(state);
    char text[4096];
    for (uint32_t i = 0; i < 3000; i++) spot(w, (float)i, 1);
    assert_ok(reef_add(w, reef_entity_at(w, 7), Frozen));
    const reef_query q = reef_query_new(w, "in Spot, !Frozen, near Spot");
    assert_false(reef_query_is_null(q));
    assert_int_equal(reef_query_count(w, q), 0);
    assert_int_equal(reef_last_error(w).status, REEF_BAD_ARGUMENT);
    assert_string_equal(reef_last_error(w).detail, "the centre of 'near' was never given (reef_query_near)");
    reef_block refused = reef_begin(w, q);
    assert_false(reef_next(&refused));
    assert_ok(reef_query_near(w, q, &(reef_place_ask){.at = {8, 1}, .radius = 2}));
    assert_int_equal(reef_query_count(w, q), 4);
    assert_string_equal(found_by(w, q), " 6 8 9 10");
    reef_world *fork = reef_fork(w);
    assert_string_equal(found_by(fork, reef_query_copy(fork, w, q)), " 6 8 9 10");
    reef_world_free(fork);
    assert_true(reef_query_matches(w, q, reef_entity_at(w, 9)));
    assert_false(reef_query_matches(w, q, reef_entity_at(w, 7)));
    assert_false(reef_query_matches(w, q, reef_entity_at(w, 11)));
    reef_query_text(w, q, text, sizeof text);
    assert_string_equal(text, "in Spot, !Frozen, near Spot");
    reef_query_explain(w, q, text, sizeof text);
    assert_non_null(strstr(text, "asks the picture of Spot, which finds 5 entities; their rows are marked\n"
                                 "place of Spot: 3000 entities"));
    reef_mut(w, reef_entity_at(w, 2000), Spot)->x = 8; /* the picture is made anew */
    assert_string_equal(found_by(w, q), " 6 8 9 10 2000");
    assert_ok(reef_query_near(w, q, &(reef_place_ask){.at = {2998.5, 1}, .radius = 0.5}));
    assert_string_equal(found_by(w, q), " 2999 2998"); /* which took the row of 7 when that got its tag */
    assert_ok(reef_query_near(w, q, &(reef_place_ask){.at = {NAN, 1}, .radius = 5}));
    assert_string_equal(found_by(w, q), "");
    const reef_query copy = reef_query_copy(w, w, q), others = reef_query_new(w, "inout Spot, !near Spot");
    assert_int_equal(reef_query_count(w, copy), 0);
    assert_ok(reef_query_near(w, others, &(reef_place_ask){.at = {100, 1}, .radius = 1000}));
    assert_int_equal(reef_query_count(w, others), 3000 - 1102); /* 0 to 1100, and the one that was moved */
    assert_ok(reef_destroy_where(w, others, NULL));
    assert_int_equal(reef_count(w, Spot), 1102);
    assert_int_equal(reef_query_count(w, others), 0);
}

/* ---- subtypes ---- */

typedef struct Buoy {
    float x, y;
} Buoy;
typedef struct LitBuoy {
    Buoy base;
    float bright;
} LitBuoy;
REEF_COMPONENT(Buoy);
REEF_SUBTYPE(LitBuoy, Buoy);
REEF_FIELDS(Buoy, x, y);
REEF_FIELDS(LitBuoy, (base, struct, Buoy), bright);
REEF_PLACE(Buoy, x, y, .cell = 2);

/* A picture shows its type alone. A subtype may have a place of its own. */
static void subtypes_have_places_of_their_own(void **state)
{
    reef_world *w = world_of(state);
    reef_near near[4];
    const reef_place_desc lit_desc = {.fields = {"base.x", "base.y"}, .cell = 1};
    const reef_entity plain = reef_spawn(w, reef_with(Buoy, 1, 1)), lit = reef_spawn(w, reef_with(LitBuoy, {1, 2}, 5));
    const reef_entity both = reef_spawn(w, reef_with(Buoy, 2, 1), reef_with(LitBuoy, {50, 50}, 5));
    const reef_place *buoys = reef_place_of(w, Buoy);
    const reef_place_ask here = {.at = {1, 1}, .radius = 3};
    assert_int_equal(reef_place_within(buoys, &here, near, 4), 2);
    assert_entity(plain, near[0].entity);
    assert_entity(both, near[1].entity);
    assert_null(reef_place_of(w, LitBuoy));
    assert_int_equal(reef_last_error(w).status, REEF_ABSENT);
    assert_ok(reef_place_declare(reef_id(LitBuoy), &lit_desc));
    assert_int_equal(reef_place_within(reef_place_of(w, LitBuoy), &here, near, 4), 1);
    assert_entity(lit, near[0].entity);
    assert_true(reef_query_is_null(reef_query_new(w, "near Buoy+")));
    assert_string_equal(reef_last_error(w).detail,
                        "'near' can't be used with '?', '+', 'each', 'disabled' or 'either'");
}

/* While a loop is open, the picture that there is answers; without one the query is refused. */
static void near_within_a_loop(void **state)
{
    reef_world *w = world_of(state);
    for (uint32_t i = 0; i < 10; i++) spot(w, (float)i, 1);
    const reef_query q = reef_query_new(w, "near Spot");
    assert_ok(reef_query_near(w, q, &(reef_place_ask){.at = {1, 1}, .radius = 1}));
    for (uint32_t round = 0; round < 2; round++)
        for (reef_block b = reef_begin_text(w, "Spot"); reef_next(&b);) {
            reef_inout(&b, Spot)[9].x = 1;
            if (round == 0) {
                reef_block inner = reef_begin(w, q);
                assert_false(reef_next(&inner));
                assert_int_equal(reef_last_error(w).status, REEF_LOCKED);
            } else {
                assert_string_equal(found_by(w, q), " 0 1 2 9");
                reef_block open = reef_begin(w, q);
                assert_status(REEF_LOCKED, reef_query_near(w, q, &(reef_place_ask){.radius = 1}));
                reef_end(&open);
            }
            reef_end(&b);
            if (round == 0) assert_string_equal(found_by(w, q), " 0 1 2 9");
            break;
        }
}

static void nothing(reef_block *b) { (void)b; }

static void near_that_is_refused(void **state)
{
    reef_world *w = world_of(state);
    static const char *const bad[] = {"near Position",      "?near Spot",  "near Spot, near Box3",
                                      "near disabled Spot", "near Frozen", "near Spot of #0v1",
                                      "near near Spot",     "near",        "near Wrong"};
    (void)reef_create(w);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (!reef_query_is_null(reef_query_new(w, bad[i]))) fail_msg("%s", bad[i]);
    const reef_query without = reef_query_new(w, "Spot"), q = reef_query_new(w, "Spot, near Spot");
    assert_status(REEF_BAD_ARGUMENT, reef_query_near(w, without, &(reef_place_ask){.radius = 1}));
    assert_status(REEF_BAD_ARGUMENT, reef_query_near(w, q, NULL));
    assert_status(REEF_BAD_ARGUMENT, reef_query_near(w, q, &(reef_place_ask){.radius = -1}));
    assert_status(REEF_BAD_ARGUMENT, reef_query_near(w, q, &(reef_place_ask){.radius = NAN}));
    assert_status(REEF_NOT_ALIVE, reef_query_near(w, (reef_query){0}, &(reef_place_ask){.radius = 1}));
    assert_true(reef_system_is_null(reef_system(w, nothing, "Spot, near Spot")));
    assert_non_null(strstr(reef_last_error(w).detail, "a system's query has no 'near'"));
    const reef_place *p = reef_place_of(w, Spot);
    reef_near to[4];
    assert_ok(reef_query_near(w, q, &(reef_place_ask){.radius = 1}));
    assert_int_equal(reef_place_within(p, &(reef_place_ask){.radius = 9, .only = q}, to, 4), 0); /* doesn't fit */
}

/* ---- what a place carries, and its cells ---- */

static void slots_of_places_that_have_none(void **state)
{
    reef_world *w = world_of(state);
    const reef_entity e = spot(w, 1, 1);
    const reef_place *p = reef_place_of(w, Spot);
    assert_int_equal(reef_place_slot(p, e), REEF_NO_SLOT);
    assert_int_equal(reef_place_slot(NULL, e), REEF_NO_SLOT);
    assert_null(reef_place_carried(p, Ball));
    assert_null(reef_place_carried_id(NULL, reef_id(Ball)));
    assert_null(reef_place_cells_of(p).first);
    assert_null(reef_place_cells_of(NULL).first);
    assert_entity(e, reef_place_entity(p, 0));
    assert_none(reef_place_entity(p, 1));
    assert_none(reef_place_entity(NULL, 0));
}

/* Handles of those who have died, of others with their index, and of those who are nowhere have no slot. */
static void slots_of_many(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[5];
    uint32_t slots[5];
    for (uint32_t i = 0; i < 4; i++)
        e[i] = reef_spawn(w, reef_with(Tile, 7 - 2 * (double)i, 1), reef_with(Ball, (float)i));
    reef_place_slots(reef_place_of(w, Tile), e, 4, slots);
    for (uint32_t i = 0; i < 4; i++) assert_int_equal(slots[i], 3 - i);
    const reef_place_cells c = reef_place_cells_of(reef_place_of(w, Tile));
    for (uint32_t i = 0; i < 4; i++) assert_int_equal(c.cell[i], i);
    const reef_entity dead = e[1];
    assert_ok(reef_destroy(w, dead));
    assert_int_equal(reef_set(w, e[2], Tile, (double)NAN, 1), REEF_OK);
    e[4] = reef_spawn(w, reef_with(Tile, 3, 5), reef_with(Ball, 9));
    assert_int_equal(e[4].index, dead.index);
    reef_place_slots(reef_place_of(w, Tile), e, 5, slots);
    assert_int_equal(slots[0], 1);
    assert_int_equal(slots[1], REEF_NO_SLOT);
    assert_int_equal(slots[2], REEF_NO_SLOT);
    assert_int_equal(slots[3], 0);
    assert_int_equal(slots[4], 2);
    reef_place_slots(NULL, e, 2, slots);
    assert_int_equal(slots[0], REEF_NO_SLOT);
    reef_place_slots(reef_place_of(w, Tile), NULL, 0, slots);
}

/* Nobody moves, but a value that the picture carries is another one. */
static void only_what_is_carried_changes(void **state)
{
    reef_world *w = world_of(state);
    const reef_entity e = reef_spawn(w, reef_with(Tile, 3, 1), reef_with(Ball, 2));
    const reef_place *p = reef_place_of(w, Tile);
    assert_true(reef_place_carried(p, Ball)[reef_place_slot(p, e)].r == 2);
    assert_int_equal(reef_set(w, e, Ball, 5), REEF_OK);
    p = reef_place_of(w, Tile);
    assert_true(reef_place_carried(p, Ball)[reef_place_slot(p, e)].r == 5);
}

/* Whole cells of an empty world are there, and empty. */
static void whole_cells_without_anybody(void **state)
{
    reef_world *w = world_of(state);
    const reef_place_cells c = reef_place_cells_of(reef_place_of(w, Tile));
    assert_int_equal(c.side[0] * 100 + c.side[1] * 10 + c.side[2], 431);
    for (uint32_t i = 0; i <= 12; i++) assert_int_equal(c.first[i], 0);
    for (uint32_t i = 0; i < 700; i++) reef_spawn(w, reef_with(Tile, 3, -100), reef_with(Ball, (float)i));
    reef_spawn(w, reef_with(Tile, 3, 1)); /* has no Ball, which the place carries */
    const reef_place *p = reef_place_of(w, Tile);
    assert_int_equal(reef_place_stats_of(p).fullest, 700); /* a crowd isn't taken apart */
    for (uint32_t i = 0; i < 700; i++) assert_true(reef_place_carried(p, Ball)[i].r == (float)i);
    assert_int_equal(reef_place_cells_of(p).first[1], 0);
    assert_int_equal(reef_place_cells_of(p).first[2], 700);
}

/* ---- states that come from elsewhere ---- */

static reef_status refused_load(reef_world *w, void *context)
{
    reef_mut(w, *(const reef_entity *)context, Spot)->x = 50;
    assert_string_equal(around(reef_place_of(w, Spot), 50, 0, 1), "0");
    return REEF_CANCELLED;
}

static void states_that_come_from_elsewhere(void **state)
{
    reef_world *w = world_of(state);
    reef_bytes file, change;
    reef_entity e = spot(w, 1, 0);
    assert_string_equal(around(reef_place_of(w, Spot), 1, 0, 1), "0");
    assert_ok(reef_save_bytes(w, &file, NULL));
    reef_world *before = reef_fork(w);
    reef_mut(w, e, Spot)->x = 20;
    assert_string_equal(around(reef_place_of(w, Spot), 20, 0, 1), "0");
    assert_ok(reef_diff_bytes(before, w, &change, NULL));
    assert_ok(reef_load_bytes(w, file.data, file.size, NULL));
    assert_string_equal(around(reef_place_of(w, Spot), 1, 0, 1), "0");
    assert_ok(reef_diff_apply(w, change.data, change.size));
    assert_string_equal(around(reef_place_of(w, Spot), 20, 0, 1), "0");
    assert_string_equal(around(reef_place_of(w, Spot), 1, 0, 1), "");
    const reef_module refused = {.name = "refused", .version = 1, .load = refused_load, .context = &e};
    assert_status(REEF_CANCELLED, reef_module_use(w, &refused));
    assert_string_equal(around(reef_place_of(w, Spot), 20, 0, 1), "0");
    assert_string_equal(around(reef_place_of(w, Spot), 50, 0, 1), "");
    reef_bytes_free(&file);
    reef_bytes_free(&change);
    reef_world_free(before);
}

static void what_is_said_of_an_entity(void **state)
{
    reef_world *w = world_of(state);
    const reef_entity e = reef_spawn(w, reef_with(Spot, 4, 5), reef_with(Ball, 2));
    reef_near to[4];
    const reef_place *p = reef_place_of(w, Spot);
    assert_int_equal(reef_place_within(p, &(reef_place_ask){.at = {1, 1}, .radius = 3}, to, 4), 1);
    assert_entity(e, to[0].entity);
    assert_true(to[0].squared == 25 && to[0].offset[0] == 3 && to[0].offset[1] == 4 && to[0].radius == 2);
    const reef_hit hit = reef_place_hit(p, &(reef_place_ask){.at = {-6, 5}, .end = {14, 5}, .radius = 1});
    assert_entity(e, hit.entity);
    assert_true(fabs(hit.along - 0.35) < 1e-12);
    /* over the edge of an axis, and not of the others */
    const reef_entity far = reef_spawn(w, reef_with(Box3, 9.5, 1, 1));
    const reef_place *b = reef_place_of(w, Box3);
    assert_int_equal(reef_place_within(b, &(reef_place_ask){.at = {0.5, 1, 1}, .radius = 1}, to, 4), 1);
    assert_entity(far, to[0].entity);
    assert_true(to[0].offset[0] == -1);
    assert_int_equal(reef_place_within(b, &(reef_place_ask){.at = {10.5, 11, 1}, .radius = 5}, to, 4), 0);
}

/* ---- crowds ---- */

typedef struct counted {
    uint64_t pairs, sum;
} counted;

static void pairs_count(const reef_pair *pair, uint32_t count, uint32_t part, void *context)
{
    counted *c = (counted *)context + part;
    c->pairs += count;
    for (uint32_t i = 0; i < count; i++) c->sum = c->sum * 31 + pair[i].lower.index * 7 + pair[i].higher.index;
}

/* Many entities in one cell, most of them far from each other compared with the question: cells become finer. */
static void a_crowded_cell(void **state)
{
    reef_world *w = world_of(state);
    uint64_t seed = 1;
    for (uint32_t i = 0; i < 20000; i++)
        spot(w, (float)random_below(&seed, 1 << 20) / (1 << 20), (float)random_below(&seed, 1 << 20) / (1 << 20));
    for (uint32_t i = 0; i < 600; i++) spot(w, 0.5f, 0.5f); /* and these can't be told apart */
    const reef_place *p = reef_place_of(w, Spot);
    const reef_place_stats s = reef_place_stats_of(p);
    assert_int_equal(s.rows, 20600);
    assert_true(s.grids > 2 && s.fullest < 2000);
    reef_near to[4];
    uint32_t most = 0;
    for (uint32_t i = 0; i < 1000; i++) {
        const uint32_t n = reef_place_within(
            p,
            &(reef_place_ask){.at = {random_below(&seed, 1000) / 1000.0, random_below(&seed, 1000) / 1000.0},
                              .radius = 0.001},
            to, 4);
        most = n > most ? n : most;
    }
    assert_true(most < 50 || most >= 600);
    assert_int_equal(reef_place_within(p, &(reef_place_ask){.at = {0.5, 0.5}}, to, 4), 600);
    counted c[16] = {{0, 0}};
    assert_true(reef_place_parts(p) <= 16);
    assert_ok(reef_place_pairs_each(p, &(reef_place_pairs){.found = pairs_count, .context = c}));
    uint64_t pairs = 0;
    for (uint32_t i = 0; i < 16; i++) pairs += c[i].pairs;
    assert_true(pairs >= 600 * 599 / 2 && pairs < 600 * 599 / 2 + 100);
    char text[2048];
    assert_true(reef_place_explain(p, text, sizeof text) < sizeof text);
    assert_non_null(strstr(text, "place of Spot: 20600 entities"));
}

/* A million in one cell: what doesn't find many of them looks at few. All at one point can't be told apart: whoever
 * asks there finds them all, and whoever asks beside them none. */
static void a_million_in_one_cell(void **state)
{
    enum { MANY = 1000000 };
    reef_world *w = world_of(state);
    uint64_t seed = 1;
    reef_near to[4];
    for (uint32_t i = 0; i < MANY; i++)
        spot(w, (float)random_below(&seed, 1 << 24) / (1 << 24), (float)random_below(&seed, 1 << 24) / (1 << 24));
    const reef_place *p = reef_place_of(w, Spot);
    assert_int_equal(reef_place_stats_of(p).rows, MANY);
    assert_true(reef_place_stats_of(p).fullest < 2000);
    for (uint32_t i = 0; i < 1000; i++)
        assert_true(reef_place_within(p, &(reef_place_ask){.at = {0.5, i * 0.001}, .radius = 0.001}, to, 4) < 50);
    for (reef_block b = reef_begin_text(w, "Spot"); reef_next(&b);)
        for (uint32_t i = 0; i < b.count; i++) reef_inout(&b, Spot)[i] = (Spot){0.25f, 0.25f};
    p = reef_place_of(w, Spot);
    assert_int_equal(reef_place_within(p, &(reef_place_ask){.at = {0.25, 0.25}}, to, 4), MANY);
    for (uint32_t i = 0; i < 4; i++) assert_int_equal(to[i].entity.index, i);
    assert_int_equal(reef_place_nearest(p, &(reef_place_ask){.at = {9, 9}}, to, 4), 4);
    for (uint32_t i = 0; i < 4; i++) assert_int_equal(to[i].entity.index, i);
    for (uint32_t i = 0; i < 100000; i++) /* each of these would take a millisecond, if it looked at all of them */
        assert_int_equal(reef_place_within(p, &(reef_place_ask){.at = {0.5, 0.5}, .radius = 0.2}, to, 4), 0);
    char text[1024];
    reef_place_explain(p, text, sizeof text);
    assert_non_null(strstr(text, "these cells are too large: a used one has 1000000 entities on average"));
}

/* Spots that are far apart, and cells of two metres: more cells than are kept, and the text says so. */
static void cells_that_are_too_small(void **state)
{
    reef_world *w = world_of(state);
    char text[1024];
    for (uint32_t i = 0; i < 1000; i++) spot(w, (float)i, 1);
    const reef_place *p = reef_place_of(w, Spot);
    assert_true(reef_place_explain(p, text, sizeof text) < sizeof text);
    assert_null(strstr(text, "these cells are"));
    for (uint32_t i = 0; i < 1000; i++) spot(w, (float)(i * 10000), (float)(i * 777 % 1000 * 10000));
    p = reef_place_of(w, Spot);
    assert_true(reef_place_explain(p, text, sizeof text) < sizeof text);
    assert_non_null(strstr(text, "these cells are too small for how far the entities are apart"));
    reef_near to[4];
    assert_int_equal(reef_place_within(p, &(reef_place_ask){.at = {10000, 7770000}, .radius = 1}, to, 4), 1);
}

/* What a history keeps are states, and no state has pictures: its bytes are the same with and without them. */
static reef_status step_once(void *context, reef_world *w, uint64_t number, const void *input, size_t bytes)
{
    (void)number, (void)input, (void)bytes;
    for (reef_block b = reef_begin_text(w, "Spot"); reef_next(&b);) reef_inout(&b, Spot)[0].x += 1;
    if (context) assert_non_null(reef_place_of(w, Spot));
    return reef_tick(w, 1);
}
static void a_history_has_no_pictures(void **state)
{
    uint64_t bytes[2], hash[2];
    for (uint32_t with = 0; with < 2; with++) {
        reef_world *w = another_world(state, NULL);
        for (uint32_t i = 0; i < 5000; i++) spot(w, (float)i, 1);
        reef_history *h = reef_history_new(
            w, &(reef_history_config){.ticks = 20, .bytes = 1 << 30, .step = step_once, .context = with ? w : NULL});
        for (uint32_t i = 0; i < 30; i++) assert_ok(reef_history_step(h, NULL, 0));
        assert_ok(reef_history_rewind(h, 25));
        bytes[with] = reef_history_reach(h).bytes;
        hash[with] = reef_hash(w);
        if (with) assert_string_equal(around(reef_place_of(w, Spot), 25, 1, 0.5), "0 25");
        reef_history_free(h);
        end_world(state, w);
    }
    assert_int_equal(bytes[0], bytes[1]);
    assert_true(hash[0] == hash[1]);
}

/* ---- threads; generations ---- */

static void pairs_on_threads(void **state)
{
    counted first[64] = {{0, 0}};
    for (uint32_t threads = 1; threads <= 4; threads++) {
        reef_world *w = another_world(state, NULL);
        reef_pool *pool = reef_pool_new(&(reef_pool_config){.threads = threads});
        counted c[64] = {{0, 0}};
        uint64_t seed = 3;
        reef_set_pool(w, pool);
        for (uint32_t i = 0; i < 9000; i++)
            spot(w, (float)random_below(&seed, 5000) / 50, (float)random_below(&seed, 5000) / 50);
        const reef_place *p = reef_place_of(w, Spot);
        assert_int_equal(reef_place_parts(p), 5);
        assert_ok(reef_place_pairs_each(p, &(reef_place_pairs){.distance = 1, .found = pairs_count, .context = c}));
        if (threads == 1) memcpy(first, c, sizeof c);
        assert_memory_equal(first, c, sizeof c);
        reef_set_pool(w, NULL);
        reef_pool_free(pool);
        end_world(state, w);
    }
}

/* Generations that need more than 16 bits, of one entity among others. */
static void generations_that_are_large(void **state)
{
    reef_world *w = world_of(state);
    reef_near to[4];
    for (uint32_t i = 0; i < 100; i++) spot(w, (float)i, 0);
    assert_int_equal(reef_place_within(reef_place_of(w, Spot), &(reef_place_ask){.at = {5, 0}}, to, 4), 1);
    reef_entity e = spot(w, 5, 1);
    while (e.generation < 70000) {
        assert_ok(reef_destroy(w, e));
        e = spot(w, 5, 1);
    }
    assert_int_equal(reef_place_within(reef_place_of(w, Spot), &(reef_place_ask){.at = {5, 1}}, to, 4), 1);
    assert_entity(e, to[0].entity);
    assert_ok(reef_destroy(w, e));
    assert_int_equal(reef_place_within(reef_place_of(w, Spot), &(reef_place_ask){.at = {5, 0}, .radius = 1}, to, 4), 3);
}

/* The process has no room for further places afterwards, so this test is the last one. */
static void there_is_a_limit(void **state)
{
    reef_world *w = world_of(state);
    static const reef_field f[] = {{.name = "x", .kind = REEF_F32, .bytes = 4},
                                   {.name = "y", .kind = REEF_F32, .offset = 4, .bytes = 4}};
    const reef_place_desc d = {.fields = {"x", "y"}, .cell = 1};
    char names[REEF_PLACES_MAX + 1][16];
    reef_component c = {0};
    uint32_t n = 0;
    reef_status s = REEF_OK;
    while (s == REEF_OK && n <= REEF_PLACES_MAX) {
        reef_status made;
        snprintf(names[n], sizeof names[n], "limit_%u", (unsigned)n);
        c = reef_type_new(&(reef_type_desc){.name = names[n], .size = 8, .align = 4, .fields = f, .field_count = 2},
                          &made);
        assert_ok(made);
        s = reef_place_declare(c, &d);
        n += s == REEF_OK;
    }
    assert_int_equal(s, REEF_LIMIT);
    assert_true(n + 2 <= REEF_PLACES_MAX && n + 10 > REEF_PLACES_MAX); /* the others are those of this file */
    assert_no_pointer(w, REEF_ABSENT, reef_place_of_id(w, c));
    /* one that is declared beside its type is heard of */
    static reef_type_decl late = {.name = "limit_late", .size = 8, .align = 4};
    static reef_place_decl decl = {.type = &late, .desc = NULL};
    static const reef_place_desc desc = {.fields = {"x", "y"}, .cell = 1};
    decl.desc = &desc;
    reef_declare(&late);
    reef_place_declare_(&decl);
    assert_no_pointer(w, REEF_BAD_ARGUMENT, reef_place_of_id(w, reef_resolve_with_(w, &late)));
    assert_non_null(strstr(reef_last_error(w).detail, "REEF_PLACES_MAX"));
}

/* ---- worlds with ghosts ---- */

REEF_TAG(Shade);
REEF_SWITCH(Shaded);

static void nobody_found(const reef_pair *pairs, uint32_t count, uint32_t part, void *context)
{
    (void)pairs;
    (void)count;
    (void)part;
    (void)context;
    fail();
}

static void ghosts_in_pictures(void **state)
{
    reef_world *w = world_of(state);
    const reef_entity a = spot(w, 1, 1), b = spot(w, 2, 1), c = spot(w, 3, 1), d = spot(w, 4, 1);
    reef_component of;
    assert_ok(reef_add(w, c, Shade));
    assert_ok(reef_disable(w, b));
    assert_ok(reef_disable(w, c));
    assert_string_equal(around(reef_place_of(w, Spot), 2, 1, 3), "0 3"); /* they are no ghosts yet */
    assert_refused(w, REEF_UNKNOWN_TYPE, reef_place_ghosts(w, (reef_component){UINT32_MAX}, 3));
    assert_refused(w, REEF_BAD_ARGUMENT, reef_place_ghosts(w, reef_id(Shade), -1));
    assert_refused(w, REEF_BAD_ARGUMENT, reef_place_ghosts(w, reef_id(Shaded), 3));
    assert_refused(w, REEF_BAD_ARGUMENT, reef_place_ghosts(w, reef_id(Spot), 3));
    reef_query q = reef_query_new(w, "in Spot");
    for (reef_block block = reef_begin(w, q); reef_next(&block);)
        assert_refused(w, REEF_LOCKED, reef_place_ghosts(w, reef_id(Shade), 3));
    assert_ok(reef_place_ghosts(w, reef_id(Shade), 3));
    const reef_place *p = reef_place_of(w, Spot);
    assert_string_equal(around(p, 2, 1, 3), "0 2 3"); /* the ghost, and nobody else who is disabled */
    assert_true(reef_place_beyond(w, &of) <= 0 && of.id == 0);

    /* a ghost that has no tag any more, one that is enabled, and one that comes */
    assert_ok(reef_remove(w, c, Shade));
    assert_string_equal(around(reef_place_of(w, Spot), 2, 1, 3), "0 3");
    assert_ok(reef_add(w, a, Shade));
    assert_string_equal(around(reef_place_of(w, Spot), 2, 1, 3), "0 3");
    assert_ok(reef_disable(w, a));
    assert_ok(reef_add(w, c, Shade));
    p = reef_place_of(w, Spot);
    assert_string_equal(around(p, 2, 1, 3), "0 2 3");

    /* queries that count say whether ghosts do */
    reef_near found[4];
    const reef_query all = reef_query_new(w, "in Spot, either *");
    assert_int_equal(reef_place_within(p, &(reef_place_ask){.at = {2, 1}, .radius = 3, .only = q}, found, 4), 1);
    assert_int_equal(reef_place_within(p, &(reef_place_ask){.at = {2, 1}, .radius = 3, .only = all}, found, 4), 3);

    /* what reaches further is refused, and the furthest is told */
    assert_string_equal(around(p, 2, 1, 3.5), "");
    assert_string_equal(around(p, 2, 1, 3.25), "");
    assert_true(reef_place_beyond(w, &of) == 3.5 && of.id == reef_id(Spot).id);
    assert_true(reef_place_beyond(w, NULL) == 0);
    assert_int_equal(reef_place_nearest(p, &(reef_place_ask){.at = {2, 1}}, found, 4), 0);
    assert_true(reef_place_beyond(w, NULL) == (double)INFINITY);
    assert_int_equal(reef_place_nearest(p, &(reef_place_ask){.at = {2, 1}, .radius = 3}, found, 4), 3);
    assert_int_equal(reef_place_box(p, &(reef_place_ask){.at = {0, 0}, .end = {6, 8}}, found, 4), 0);
    assert_true(reef_place_beyond(w, NULL) == 5);
    assert_int_equal(reef_place_box(p, &(reef_place_ask){.at = {1, 0}, .end = {4, 4}}, found, 4), 3);
    assert_int_equal(reef_place_hit(p, &(reef_place_ask){.at = {4, 3}, .end = {4, 1}, .radius = 1.5}).entity.index, 0);
    assert_true(reef_place_beyond(w, NULL) == 3.5);
    assert_int_equal(reef_place_hit(p, &(reef_place_ask){.at = {4, 3}, .end = {4, 1}, .radius = 1}).entity.index,
                     d.index);
    const reef_place_pairs far = {.distance = 4, .found = nobody_found};
    assert_status(REEF_BAD_ARGUMENT, reef_place_pairs_each(p, &far));
    assert_true(reef_place_beyond(w, NULL) == 4);

    assert_ok(reef_place_ghosts(w, reef_id(Shade), 0));
    assert_string_equal(around(reef_place_of(w, Spot), 2, 1, 30), "3");
}

static void templates_are_nowhere(void **state)
{
    reef_world *w = world_of(state);
    const reef_entity e = spot(w, 1, 1);
    assert_string_equal(around(reef_place_of(w, Spot), 1, 1, 1), "0");
    assert_ok(reef_make_prefab(w, e));
    assert_string_equal(around(reef_place_of(w, Spot), 1, 1, 1), "");
    assert_ok(reef_instantiate(w, e, 1, NULL));
    assert_string_equal(around(reef_place_of(w, Spot), 1, 1, 1), "1");
    assert_ok(reef_remove(w, e, ReefPrefab));
    assert_string_equal(around(reef_place_of(w, Spot), 1, 1, 1), "0 1");
}

typedef struct Mote {
    double x, y;
} Mote;
REEF_COMPONENT(Mote);
REEF_FIELDS(Mote, x, y);
REEF_PLACE(Mote, x, y, .cell = 5e-324);

/* The smallest cell that there is can't be halved, so the search for the nearest begins with it, and ends. */
static void the_nearest_in_the_smallest_cells(void **state)
{
    reef_world *w = world_of(state);
    reef_near to[2];
    for (int i = 0; i < 1000; i++) assert_some(reef_spawn(w, reef_with(Mote, i * 1e-323, 0)));
    const reef_place *p = reef_place_of(w, Mote);
    assert_int_equal(reef_place_nearest(p, &(reef_place_ask){.at = {0, 0}}, to, 2), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(declarations_that_are_refused),
        TEST(a_picture_is_made_anew_when_something_changed),
        TEST(a_rewind_to_another_past),
        TEST(a_siblings_snapshot),
        TEST(the_state_knows_nothing_of_it),
        TEST(questions_that_find_nothing),
        TEST(only_those_of_a_query),
        TEST(conditions_decide_who_counts),
        TEST(queries_near_a_centre),
        TEST(subtypes_have_places_of_their_own),
        TEST(near_within_a_loop),
        TEST(near_that_is_refused),
        TEST(slots_of_places_that_have_none),
        TEST(slots_of_many),
        TEST(only_what_is_carried_changes),
        TEST(whole_cells_without_anybody),
        TEST(states_that_come_from_elsewhere),
        TEST(what_is_said_of_an_entity),
        TEST(templates_are_nowhere),
        TEST(the_nearest_in_the_smallest_cells),
        TEST(a_crowded_cell),
        TEST(a_million_in_one_cell),
        TEST(cells_that_are_too_small),
        TEST(a_history_has_no_pictures),
        TEST(pairs_on_threads),
        TEST(generations_that_are_large),
        TEST(ghosts_in_pictures),
        TEST(there_is_a_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
