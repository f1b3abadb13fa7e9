/* The scenarios of the allocation sweep: each prepares a world and then makes one call. A new call that needs memory
 * is added here. */
#include "oom_scenarios.h"

typedef struct {
    int32_t at;
} Stamped;
static const reef_hooks stamped_rows = {.track_rows = true};
REEF_COMPONENT_HOOKS(Stamped, &stamped_rows);

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

static bool some(reef_entity e) { return !reef_entity_is_null(e); }

/* ---- worlds to start from ---- */

static void rows(sweep *s, uint32_t n)
{
    assert_ok(reef_spawn_many(s->w, n, s->e, reef_with(Position, 1, 2), reef_with(Mass, 3)));
}

static void one_row(sweep *s) { rows(s, 1); }
static void eight_rows(sweep *s) { rows(s, 8); }
static void full_chunk(sweep *s) { rows(s, 1024); }
static void two_chunks(sweep *s) { rows(s, 2048); }
void some_rows(sweep *s) { rows(s, 300); }

static void hooked_rows(sweep *s)
{
    for (int i = 0; i < 8; i++)
        s->e[i] = reef_spawn(s->w, reef_with(Tracked, .value = i), reef_with(Loose, .value = i));
}

static void full_hooked_chunk(sweep *s)
{
    assert_ok(reef_spawn_many(s->w, 1024, s->e, reef_with(Tracked, .value = 7), reef_with(Mass, 3)));
}

static void empties(sweep *s, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) s->e[i] = reef_create(s->w);
}

static void one_empty(sweep *s) { empties(s, 1); }
static void full_record_page(sweep *s) { assert_ok(reef_spawn_many_values(s->w, 4096, NULL, NULL, 0)); }

static void with_bits(sweep *s)
{
    rows(s, 100);
    for (int i = 0; i < 100; i += 3) assert_ok(reef_add(s->w, s->e[i], Awake));
}

void with_marks(sweep *s)
{
    rows(s, 100);
    for (int i = 0; i < 100; i += 2) assert_ok(reef_disable(s->w, s->e[i], Mass));
    for (int i = 0; i < 100; i += 3) {
        assert_ok(reef_add(s->w, s->e[i], Awake));
        assert_ok(reef_disable(s->w, s->e[i], Awake));
        assert_ok(reef_disable(s->w, s->e[i]));
    }
}

static void one_empty_disabled(sweep *s)
{
    s->e[0] = reef_create(s->w);
    assert_ok(reef_disable(s->w, s->e[0]));
}

static void with_names(sweep *s)
{
    char name[20];
    rows(s, 200);
    for (int i = 0; i < 200; i++) {
        snprintf(name, sizeof name, "name%d", i);
        assert_ok(reef_set_name(s->w, s->e[i], name));
    }
}

/* Close to where the buckets of names grow: the call goes on from there. */
static void names_near_growth(sweep *s)
{
    char name[20];
    rows(s, 2000);
    for (int i = 0; i < 767; i++) {
        snprintf(name, sizeof name, "name%d", i);
        assert_ok(reef_set_name(s->w, s->e[i], name));
    }
    for (int i = 0; i < 100; i++) assert_ok(reef_set_name(s->w, s->e[i], NULL));
}

static void with_free_ids(sweep *s)
{
    rows(s, 3000);
    assert_int_equal(reef_destroy_many(s->w, s->e, 2000), 2000);
}

static void ring_page_full(sweep *s)
{
    assert_ok(reef_spawn_many(s->w, 4000, s->e, reef_with(Mass, 1)));
    assert_int_equal(reef_destroy_many(s->w, s->e, 4000), 4000);
    assert_ok(reef_spawn_many(s->w, 200, s->e, reef_with(Mass, 1)));
    assert_int_equal(reef_destroy_many(s->w, s->e, 96), 96);
}

static void with_bundle(sweep *s)
{
    s->bundle = reef_bundle_new(s->w, (reef_bundle_part[]){{reef_id(Tracked), 0}, {reef_id(Frozen), 0}}, 2);
    assert_non_null(s->bundle);
}

static const reef_script_class sweeper = {.name = "sweeper"};
static void with_script(sweep *s)
{
    some_rows(s);
    assert_false(reef_system_is_null(reef_scripts(s->w, NULL, NULL)));
    assert_int_equal(reef_script_add(s->w, s->e[0], &sweeper, NULL), REEF_OK);
    assert_int_equal(reef_tick(s->w, 0), REEF_OK);
}

static void with_single(sweep *s)
{
    some_rows(s);
    assert_int_equal(reef_single_set(s->w, Mass, 7), REEF_ADDED);
}

static uint64_t mass_key(const void *value) { return reef_key_f64(((const Mass *)value)->kg); }
static bool query_walk(sweep *s);

static void with_query(sweep *s)
{
    rows(s, 20);
    s->query = reef_query_new(s->w, "Position, in Mass");
    assert_query(s->query);
}

static void with_query_of(sweep *s, reef_access access, reef_since since, reef_op mass)
{
    rows(s, 1500);
    for (int i = 0; i < 1500; i += 2) assert_ok(reef_add(s->w, s->e[i], Awake));
    s->query = reef_query_make(
        s->w, &(reef_query_desc){.terms = {{.component = reef_id(Position), .access = access, .since = since},
                                           {.component = reef_id(Mass), .access = access, .op = mass}}});
    assert_query(s->query);
}

static void with_query_out(sweep *s) { with_query_of(s, REEF_OUT, REEF_ALWAYS, REEF_HAS); }
static void with_query_out_optional(sweep *s) { with_query_of(s, REEF_OUT, REEF_ALWAYS, REEF_OPTIONAL); }
static void with_query_inout(sweep *s) { with_query_of(s, REEF_INOUT, REEF_ALWAYS, REEF_HAS); }
static void with_query_changed(sweep *s) { with_query_of(s, REEF_INOUT, REEF_IF_CHANGED, REEF_HAS); }

/* An ordered one, and rows that are new to its list. */
static void with_ordered_query(sweep *s)
{
    with_query(s);
    assert_ok(reef_query_order(s->w, s->query, &(reef_order){.component = reef_id(Mass), .key = mass_key}));
    query_walk(s);
    for (int i = 0; i < 100; i++) reef_spawn(s->w, reef_with(Position, 1, 2), reef_with(Mass, 1 - i), reef_tag(Frozen));
}

/* A query that was used before, and tables that are new to it. */
static void with_used_query(sweep *s)
{
    with_query(s);
    assert_int_equal(reef_query_count(s->w, s->query), 20);
    for (uint32_t i = 0; i < 40; i++) {
        reef_component c = numbered_type("tag", i, 0, 1);
        reef_spawn_values(
            s->w, (reef_value[]){reef_with(Position, 1, 2), reef_with(Mass, 1), {c, REEF_VALUE_DEFAULT, 0, 0}}, 3);
    }
}

static void with_unique(sweep *s)
{
    one_row(s);
    unique_make(&s->own, 5);
}

static void reserved_id(sweep *s)
{
    with_free_ids(s);
    for (int i = 0; i < 10; i++) assert_some(s->e[i] = reef_reserve_id(s->w));
}

static void reserved_range(sweep *s) { assert_some(s->e[0] = reef_reserve_range(s->w, 9000)); }
static void reserved_range_shared(sweep *s)
{
    reserved_range(s);
    assert_non_null(s->snapshot = reef_snapshot_take(s->w));
}

static void many_tables(sweep *s)
{
    for (uint32_t i = 0; i < 90; i++) {
        reef_component c = numbered_type("tag", i, 0, 1);
        s->e[i] = reef_spawn_values(s->w, (reef_value[]){reef_with(Mass, 1), {c, REEF_VALUE_DEFAULT, 0, NULL}}, 2);
    }
}

static void strict_like(sweep *s)
{
    one_row(s);
    reef_component far = {reef_type_count()};
    (void)numbered_type("far", far.id, 4, 4);
}

static void with_everything(sweep *s)
{
    with_names(s);
    for (int i = 0; i < 100; i += 3) assert_ok(reef_add(s->w, s->e[i], Awake));
    for (int i = 0; i < 50; i++) (void)reef_spawn(s->w, reef_with(Tracked, .value = i), reef_with(Loose, .value = i));
    for (int i = 20; i < 60; i++) assert_ok(reef_destroy(s->w, s->e[i]));
    empties(s, 10);
    many_tables(s);
}

void with_snapshot(sweep *s)
{
    with_everything(s);
    assert_non_null(s->snapshot = reef_snapshot_take(s->w));
    assert_ok(reef_spawn_many(s->w, 1500, s->e, reef_with(Tracked, .value = 8), reef_with(Cargo, {3}), reef_tag(Seen)));
    assert_ok(DESTROY_EVERYWHERE(s->w, reef_id(Loose)));
    s->query = reef_query_new(s->w, "in Mass");
    assert_true(reef_query_count(s->w, s->query) > 0);
}

static void with_hashes(sweep *s)
{
    with_everything(s);
    assert_true(reef_hash(s->w) != 0);
    assert_ok(reef_destroy(s->w, s->e[5]));
    reef_mut(s->w, s->e[70], Mass)->kg = 7;
    assert_ok(reef_spawn_many(s->w, 1500, NULL, reef_with(Mass, 8), reef_tag(Awake)));
}

/* ---- calls ---- */

static bool create(sweep *s) { return some(reef_create(s->w)); }
static bool create_id(sweep *s) { return some(reef_create_entity(s->w)); }
static bool spawn(sweep *s) { return some(reef_spawn(s->w, reef_with(Position, 1, 2), reef_with(Mass, 3))); }
static bool spawn_tags(sweep *s) { return some(reef_spawn(s->w, reef_tag(Frozen), reef_tag(Hungry))); }
static bool spawn_bit(sweep *s)
{
    return some(reef_spawn(s->w, reef_with(Position, 1, 2), reef_with(Mass, 1), reef_tag(Seen)));
}
static bool spawn_bare_bit(sweep *s) { return some(reef_spawn(s->w, reef_tag(Seen))); }
static bool spawn_hooked(sweep *s)
{
    return some(reef_spawn(s->w, reef_with(Tracked, .value = 4), reef_default(Unique), reef_with(Loose, .value = 2)));
}
static bool spawn_big(sweep *s)
{
    reef_component c = numbered_type("big", 1, 100000, 16);
    return some(reef_spawn_values(s->w, (reef_value[]){reef_with(Mass, 1), {c, REEF_VALUE_DEFAULT, 0, NULL}}, 2));
}
static bool spawn_own_value(sweep *s)
{
    reef_value v = reef_value_make(reef_id(Tracked), REEF_VALUE_ONE, sizeof(Tracked), reef_get(s->w, s->e[0], Tracked));
    return some(reef_spawn_values(s->w, (reef_value[]){v, reef_with(Loose, .value = 3)}, 2));
}
static bool spawn_unique(sweep *s)
{
    reef_value v[] = {{reef_id(Unique), REEF_VALUE_ONE, sizeof s->own, &s->own}, reef_with(Mass, 1), reef_tag(Seen)};
    return some(reef_spawn_values(s->w, v, 3));
}
static bool spawn_wide(sweep *s)
{
    reef_value v[40];
    for (uint32_t i = 0; i < 40; i++)
        v[i] = reef_value_make(numbered_type("wide", i, 1u << i % 7, 1), REEF_VALUE_DEFAULT, 0, NULL);
    return some(reef_spawn_values(s->w, v, 40));
}
static bool spawn_many(sweep *s)
{
    return done(reef_spawn_many(s->w, 3000, NULL, reef_with(Position, 1, 2), reef_with(Mass, 3), reef_tag(Awake)));
}
static bool spawn_many_hooked(sweep *s)
{
    return done(
        reef_spawn_many(s->w, 1500, NULL, reef_with(Tracked, .value = 1), reef_default(Unique), reef_tag(Awake)));
}
static bool spawn_many_empty(sweep *s) { return done(reef_spawn_many_values(s->w, 9000, NULL, NULL, 0)); }
static bool clone(sweep *s) { return some(reef_clone(s->w, s->e[0])); }
static bool clone_many(sweep *s) { return done(reef_clone_many(s->w, s->e[0], 2500, NULL)); }
static bool clone_bits(sweep *s) { return done(reef_clone_many(s->w, s->e[3], 2500, NULL)); }
static bool reserve_id(sweep *s) { return some(reef_reserve_id(s->w)); }
static bool reserve_range(sweep *s) { return some(reef_reserve_range(s->w, 9000)); }
static bool create_in_range(sweep *s) { return done(reef_create_as(s->w, (reef_entity){s->e[0].index + 5000, 7})); }
static bool spawn_behind_range(sweep *s) { return some(reef_create(s->w)); }
static bool release_id(sweep *s) { return done(reef_release_id(s->w, s->e[3])); }
static bool create_as(sweep *s) { return done(reef_create_as(s->w, (reef_entity){20000, 5})); }
static bool create_as_free(sweep *s) { return done(reef_create_as(s->w, (reef_entity){700, 9})); }
static bool create_as_reserved(sweep *s) { return done(reef_create_as(s->w, s->e[4])); }
static bool create_as_next(sweep *s) { return done(reef_create_as(s->w, (reef_entity){0, 3})); }
static bool bundle_new(sweep *s)
{
    reef_bundle_part parts[] = {{reef_id(Mass), 0}, {reef_id(Position), 8}, {reef_id(Awake), 0}};
    s->found = reef_bundle_new(s->w, parts, 3);
    return s->found != NULL;
}
static bool bundle_spawn(sweep *s) { return some(reef_spawn_bundle(s->w, s->bundle, &(Tracked){.value = 6})); }
static bool destroy(sweep *s) { return done(reef_destroy(s->w, s->e[1])); }
static bool destroy_150(sweep *s) { return done(reef_destroy(s->w, s->e[150])); }
static bool destroy_with(sweep *s) { return done(DESTROY_EVERYWHERE(s->w, reef_id(Mass))); }
static bool destroy_with_bit(sweep *s) { return done(DESTROY_EVERYWHERE(s->w, reef_id(Awake), reef_id(Mass))); }
static bool destroy_all(sweep *s) { return done(reef_world_clear(s->w)); }
static bool clear_type(sweep *s) { return done(remove_everywhere(s->w, reef_id(Mass), NULL)); }
static bool clear_bit(sweep *s) { return done(remove_everywhere(s->w, reef_id(Awake), NULL)); }
static bool clear_hooked(sweep *s) { return done(remove_everywhere(s->w, reef_id(Tracked), NULL)); }
static bool add(sweep *s) { return done(reef_add(s->w, s->e[0], Velocity)); }
static bool add_tag(sweep *s) { return done(reef_add(s->w, s->e[0], Frozen)); }
static bool add_bit(sweep *s) { return done(reef_add(s->w, s->e[0], Awake)); }
static bool add_hooked(sweep *s) { return done(reef_add(s->w, s->e[0], Unique)); }
static bool set(sweep *s) { return done(reef_set(s->w, s->e[0], Cargo, {1})); }
static bool set_there(sweep *s) { return done(reef_set(s->w, s->e[0], Mass, 8)); }
static bool script_add(sweep *s) { return done(reef_script_add(s->w, s->e[0], &sweeper, NULL)); }
static bool script_remove(sweep *s) { return done(reef_script_remove(s->w, s->e[0])); }
static bool single_set(sweep *s) { return done(reef_single_set(s->w, Mass, 8)); }
static bool single_set_hooked(sweep *s) { return done(reef_single_set(s->w, Tracked, .value = 9)); }
static bool single_mut(sweep *s) { return reef_single_mut(s->w, Mass) != NULL; }
static bool single_remove(sweep *s) { return done(reef_single_remove(s->w, Mass)); }
static bool set_hooked(sweep *s) { return done(reef_set(s->w, s->e[0], Tracked, .value = 9)); }
static bool set_unique(sweep *s) { return done(reef_set_id(s->w, s->e[0], reef_id(Unique), &s->own, sizeof s->own)); }
static bool ensure(sweep *s) { return reef_ensure(s->w, s->e[0], Health) != NULL; }
static bool remove_one(sweep *s) { return done(reef_remove(s->w, s->e[0], Position)); }
static bool remove_to_empty(sweep *s)
{
    return done(reef_change(s->w, s->e[0], reef_without(Position), reef_without(Mass)));
}
static bool remove_hooked(sweep *s) { return done(reef_remove(s->w, s->e[0], Tracked)); }
static bool remove_all(sweep *s) { return done(reef_remove_all(s->w, s->e[3])); }
static bool change(sweep *s)
{
    return done(reef_change(s->w, s->e[0], reef_with(Cargo, {2}), reef_tag(Seen), reef_without(Mass), reef_tag(Frozen),
                            reef_with(Tracked, .value = 7)));
}
static bool change_hooked(sweep *s)
{
    return done(reef_change(s->w, s->e[0], reef_with(Tracked, .value = 7), reef_without(Loose), reef_default(Unique)));
}
static bool disable(sweep *s) { return done(reef_disable(s->w, s->e[1], Mass)); }
static bool disable_entity(sweep *s) { return done(reef_disable(s->w, s->e[0])); }
static bool enable(sweep *s) { return done(reef_enable(s->w, s->e[0], Mass)); }
static bool enable_entity(sweep *s) { return done(reef_enable(s->w, s->e[0])); }
static bool remove_mass(sweep *s) { return done(reef_remove(s->w, s->e[0], Mass)); }
static bool remove_switch(sweep *s) { return done(reef_remove(s->w, s->e[0], Awake)); }
static bool remove_everything(sweep *s) { return done(reef_remove_all(s->w, s->e[0])); }
static bool mut(sweep *s) { return reef_mut(s->w, s->e[0], Position) != NULL; }
static bool ref_mut(sweep *s)
{
    reef_ref ref = reef_ref_make(s->w, s->e[0], Position);
    return reef_ref_get(s->w, &ref, Position) && reef_ref_mut(s->w, &ref, Position) != NULL;
}
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

/* A query that was used, and then a subtype of its term is declared. */
static void with_sub_query(sweep *s)
{
    static uint32_t number;
    char name[32];
    some_rows(s);
    s->query = reef_query_new(s->w, "Position+");
    query_walk(s);
    snprintf(name, sizeof name, "SweptPosition%u", number++);
    const reef_component c = reef_type_new(&(reef_type_desc){.name = name,
                                                             .size = 16,
                                                             .align = 4,
                                                             .home = number % 2 ? REEF_SPARSE : REEF_TABLE,
                                                             .base = reef_id(Position)},
                                           NULL);
    assert_true(c.id != 0);
}
static bool sub_query_new(sweep *s)
{
    s->made = reef_query_new(s->w, "Position+, in Mass+");
    return !reef_query_is_null(s->made);
}

/* Values with fields, and a query that asks for them, whose parameter is set. */
typedef struct {
    int32_t left;
    char name[8];
} Asked;
REEF_COMPONENT(Asked);
REEF_FIELDS(Asked, left, name);
static void with_asked(sweep *s)
{
    rows(s, 1500);
    for (int i = 0; i < 1500; i += 3) assert_int_equal(reef_set(s->w, s->e[i], Asked, i, "a"), REEF_ADDED);
}
static void with_asking_query(sweep *s)
{
    with_asked(s);
    s->query = reef_query_new(s->w, "Position, Asked(left < $most, name == $name)");
    assert_ok(reef_query_set(s->w, s->query, "most", 100));
    assert_ok(reef_query_set(s->w, s->query, "name", "a"));
}
static bool asking_query_new(sweep *s)
{
    s->made = reef_query_new(s->w, "in Mass, Asked(left in 3..$most) | Asked(name != \"a\", left == 7)");
    return !reef_query_is_null(s->made) && reef_query_set(s->w, s->made, "most", 9) == REEF_OK &&
           reef_query_count(s->w, s->made) == 3;
}
static bool asking_query_walk(sweep *s)
{
    uint32_t rows_seen = 0;
    for (reef_row row = reef_rows(s->w, s->query); reef_plain_row_next(&row);) rows_seen++;
    return rows_seen == 34; /* 0, 3 ... 99 */
}
/* A query that joins by values, from a list that its loop makes, or from an index. */
static void with_join(sweep *s)
{
    with_asked(s);
    s->query = reef_query_new(s->w, "Position, Asked(left as $l), Asked($o, left == $l, name == \"a\")");
}
static void with_indexed_join(sweep *s)
{
    with_join(s);
    assert_non_null(reef_index_of(s->w, Asked, left));
    reef_mut(s->w, s->e[3], Asked)->left = 0; /* two have this one now */
}
static bool join_new(sweep *s)
{
    s->made = reef_query_new(s->w, "in Position, Asked(left as $l), Asked($o, left == $l)");
    return !reef_query_is_null(s->made) && reef_query_count(s->w, s->made) == 500;
}
static bool join_rows(sweep *s, uint32_t wanted)
{
    uint32_t rows_seen = 0;
    for (reef_row row = reef_rows(s->w, s->query); reef_plain_row_next(&row);) rows_seen++;
    return rows_seen == wanted;
}
static bool join_walk(sweep *s) { return join_rows(s, 500); }
static bool indexed_join_walk(sweep *s) { return join_rows(s, 502); }
static bool asking_query_bulk(sweep *s) { return done(reef_add_where_id(s->w, s->query, reef_id(Frozen), NULL)); }
static void asking_update(reef_block *b) { (void)b; }
static bool asking_system(sweep *s)
{
    return !reef_system_is_null(reef_system(s->w, asking_update, "in Position, Asked(name == \"a\")"));
}
static void asked_heard(const reef_notice *n) { (void)n; }
static bool asking_observer(sweep *s)
{
    return !reef_observer_is_null(reef_observer_new(s->w, &(reef_observer_desc){.name = "asking",
                                                                                .function = asked_heard,
                                                                                .text = "Asked(left < 100)",
                                                                                .events = REEF_ON_MATCH,
                                                                                .existing = true}));
}
static bool query_new(sweep *s)
{
    s->made = reef_query_new(s->w, "Position, in Mass, with Awake, with Frozen");
    return !reef_query_is_null(s->made);
}
static bool query_use(sweep *s)
{
    s->made = reef_query_new(s->w, "in Mass");
    return !reef_query_is_null(s->made) && reef_query_count(s->w, s->made) > 0;
}
static bool query_walk(sweep *s)
{
    uint32_t rows_seen = 0;
    for (reef_block b = reef_begin(s->w, s->query); reef_next(&b);) rows_seen += b.count;
    return rows_seen == reef_count(s->w, Mass);
}
static bool query_rows(sweep *s)
{
    uint32_t rows_seen = 0;
    for (reef_row row = reef_rows(s->w, s->query); reef_plain_row_next(&row);) rows_seen++;
    return rows_seen == reef_count(s->w, Mass);
}
static bool query_make(sweep *s)
{
    s->made = reef_query_make(s->w, &(reef_query_desc){.terms = {{.op = REEF_ANY_OF, .count = 3},
                                                                 {.component = reef_id(Position)},
                                                                 {.op = REEF_NONE_OF, .count = 1},
                                                                 {.component = reef_id(Mass)},
                                                                 {.component = reef_id(Awake)}}});
    return !reef_query_is_null(s->made);
}
static bool query_copy(sweep *s) { return !reef_query_is_null(s->made = reef_query_copy(s->w, s->w, s->query)); }
static bool query_once(sweep *s)
{
    uint32_t rows_seen = 0;
    for (reef_block b = reef_begin_text(s->w, "in Mass, ?Position"); reef_next(&b);) rows_seen += b.count;
    return rows_seen == reef_count(s->w, Mass);
}
/* Writes the values that are there already: so the world is the same after a loop that ended in its middle. */
static uint64_t values_again(reef_block *b)
{
    uint64_t n, all = 0;
    Position *p = reef_out(b, Position);
    Mass *m = reef_out(b, Mass);
    for (uint32_t first = 0; (n = reef_block_run(b, &first)) != 0; first += (uint32_t)n, all += n)
        for (uint32_t i = first; p && m && i < first + n; i++) p[i] = (Position){1, 2}, m[i] = (Mass){3};
    return all;
}
static bool query_out(sweep *s)
{
    uint64_t rows_seen = 0;
    for (reef_block b = reef_begin(s->w, s->query); reef_next(&b);) rows_seen += values_again(&b);
    return rows_seen == reef_count(s->w, Mass);
}
static bool query_split(sweep *s)
{
    uint64_t rows_seen = 0;
    reef_slices *split = reef_slices_begin(s->w, s->query, NULL, 3);
    for (uint32_t k = 0; split && k < 3; k++)
        for (reef_block b = reef_slice(split, k); reef_next(&b);) rows_seen += values_again(&b);
    reef_slices_end(split);
    return rows_seen == reef_count(s->w, Mass);
}
static bool query_order(sweep *s)
{
    return done(reef_query_order(s->w, s->query, &(reef_order){.component = reef_id(Mass), .key = mass_key}));
}
static bool query_groups(sweep *s)
{
    uint32_t groups = 0;
    for (reef_group g = {0}; reef_query_next_group(s->w, s->query, &g);) groups++;
    return groups == 101;
}
static bool name(sweep *s) { return done(reef_set_name(s->w, s->e[0], "alice.and.bob")); }
static bool rename_one(sweep *s) { return done(reef_set_name(s->w, s->e[150], "another")); }
bool name_more(sweep *s)
{
    bool all = true;
    char text[20];
    for (int i = 767; i < 1000 && all; i++) { /* goes on where it stopped */
        snprintf(text, sizeof text, "name%d", i);
        if (reef_name(s->w, s->e[i]) == NULL) all = done(reef_set_name(s->w, s->e[i], text));
    }
    return all;
}
static bool reserve(sweep *s) { return done(reef_reserve(s->w, 10000)); }
static bool reserve_for(sweep *s)
{
    return done(reef_reserve_for(s->w, 3000, (reef_component[]){reef_id(Position), reef_id(Cargo), reef_id(Awake)}, 3));
}
/* ---- unique values and indexes ---- */

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

static uint64_t falling(const void *value) { return ~reef_key_i32(((const Tracked *)value)->value); }
static bool sort_by_entity(sweep *s) { return done(reef_sort_storage(s->w, &(reef_sort){.order.descending = true})); }
static bool sort_by_value(sweep *s)
{
    return done(reef_sort_storage(s->w, &(reef_sort){.order = {.component = reef_id(Tracked), .key = falling}}));
}
static bool use(sweep *s) { return done(reef_use(s->w, Frozen)); }
static bool use_far(sweep *s) { return done(reef_world_use(s->w, (reef_component){reef_type_count()})); }
static bool clear_world(sweep *s) { return done(reef_world_clear(s->w)); }
static bool shrink(sweep *s) { return done(reef_shrink(s->w)); }
static bool add_to_known(sweep *s)
{
    reef_component c = numbered_type("tag", 5, 0, 1);
    return done(reef_add_id(s->w, s->e[80], c, NULL, NULL));
}

/* Whole queries: the query is made in the call, and freed. */
typedef reef_status (*where_call)(sweep *s, reef_query q);
static bool where(sweep *s, const char *text, where_call call)
{
    reef_query q = reef_query_new(s->w, text);
    if (reef_query_is_null(q)) return false;
    const bool works = done(call(s, q));
    const reef_status freed = works ? reef_query_free(s->w, q) : REEF_OK; /* else its error record is asked for */
    return works && freed == REEF_OK;
}
static reef_status where_add(sweep *s, reef_query q) { return reef_add_where(s->w, q, Velocity); }
static reef_status where_add_tag(sweep *s, reef_query q) { return reef_add_where(s->w, q, Frozen); }
static reef_status where_add_bit(sweep *s, reef_query q) { return reef_add_where(s->w, q, Seen); }
static reef_status where_add_hooked(sweep *s, reef_query q) { return reef_add_where(s->w, q, Tracked); }
static reef_status where_set(sweep *s, reef_query q) { return reef_set_where(s->w, q, Cargo, {1}); }
static reef_status where_set_there(sweep *s, reef_query q) { return reef_set_where(s->w, q, Mass, 8); }
static reef_status where_set_hooked(sweep *s, reef_query q) { return reef_set_where(s->w, q, Tracked, .value = 5); }
static reef_status where_remove(sweep *s, reef_query q) { return reef_remove_where(s->w, q, Mass); }
static reef_status where_remove_hooked(sweep *s, reef_query q) { return reef_remove_where(s->w, q, Tracked); }
static reef_status where_remove_bit(sweep *s, reef_query q) { return reef_remove_where(s->w, q, Awake); }
static reef_status where_destroy(sweep *s, reef_query q) { return reef_destroy_where(s->w, q, NULL); }
static reef_status where_enable(sweep *s, reef_query q) { return reef_enable_where(s->w, q, Awake); }
static reef_status where_disable(sweep *s, reef_query q) { return reef_disable_where(s->w, q, Awake); }
static reef_status where_disable_all(sweep *s, reef_query q) { return reef_disable_where(s->w, q); }
static bool enable_where(sweep *s) { return where(s, "either *", where_enable); }
static bool disable_where(sweep *s) { return where(s, "", where_disable); }
static bool disable_where_all(sweep *s) { return where(s, "", where_disable_all); }
static bool add_where(sweep *s) { return where(s, "with Mass", where_add); }
static bool add_where_some(sweep *s) { return where(s, "with Mass, with Awake", where_add); }
static bool add_where_tag(sweep *s) { return where(s, "with Mass", where_add_tag); }
static bool add_where_bit(sweep *s) { return where(s, "with Mass", where_add_bit); }
static bool add_where_hooked(sweep *s) { return where(s, "with Mass", where_add_hooked); }
static bool set_where(sweep *s) { return where(s, "with Mass", where_set); }
static bool set_where_there(sweep *s) { return where(s, "with Mass", where_set_there); }
static bool set_where_some(sweep *s) { return where(s, "with Mass, with Awake", where_set_there); }
static bool set_where_hooked(sweep *s) { return where(s, "", where_set_hooked); }
static bool remove_where(sweep *s) { return where(s, "", where_remove); }
static bool remove_where_some(sweep *s) { return where(s, "with Awake", where_remove); }
static bool remove_where_hooked(sweep *s) { return where(s, "", where_remove_hooked); }
static bool remove_where_bit(sweep *s) { return where(s, "", where_remove_bit); }
static bool destroy_where(sweep *s) { return where(s, "", where_destroy); }
static bool destroy_where_some(sweep *s) { return where(s, "with Awake", where_destroy); }

static bool take_snapshot(sweep *s) { return (s->further = reef_snapshot_take(s->w)) != NULL; }
static bool make_fork(sweep *s) { return (s->child = reef_fork(s->w)) != NULL; }
static bool restore(sweep *s) { return done(reef_restore(s->w, s->snapshot)); }
static bool hash(sweep *s) { return (s->seen = reef_hash(s->w)) != 0; }
static bool hash_part(void *context, const reef_hash_part *part)
{
    uint64_t *all = context;
    *all = digest_bytes(*all, &part->hash, sizeof part->hash);
    return true;
}
static bool hash_parts(sweep *s)
{
    uint64_t all = 0, whole = reef_hash_parts(s->w, hash_part, &all);
    if (whole) s->seen = digest_bytes(all, &whole, sizeof whole);
    return whole != 0;
}

/* Some entities are in the table already that the others move to. */
static void two_tables(sweep *s)
{
    two_chunks(s);
    for (int i = 0; i < 600; i++) assert_true(reef_set(s->w, s->e[3 * i + 7], Velocity, 1, 2) >= 0);
    for (int i = 0; i < 40; i++) assert_ok(reef_add(s->w, s->e[11 * i], Awake));
}

/* The rows of a table left it, and its chunk waits as the spare. */
static void spare_chunks(sweep *s)
{
    two_chunks(s);
    for (int i = 0; i < 2040; i++) assert_true(reef_set(s->w, s->e[i], Velocity, 1, 2) >= 0);
    for (int i = 0; i < 2040; i++) assert_ok(reef_remove(s->w, s->e[i], Velocity));
    assert_ok(reef_add(s->w, s->e[3], Velocity));
}

static void bare_bits(sweep *s)
{
    with_bits(s);
    for (int i = 0; i < 20; i++) assert_some(reef_spawn(s->w, reef_tag(Awake)));
    for (int i = 0; i < 5; i++) assert_some(reef_spawn(s->w, reef_tag(Awake), reef_tag(Seen)));
}

static void bare_marks(sweep *s)
{
    bare_bits(s);
    for (int i = 0; i < 60; i += 3) assert_ok(reef_disable(s->w, s->e[i], Awake));
    for (int i = 0; i < 60; i += 2) assert_ok(reef_disable(s->w, s->e[i]));
}

/* Rows are tracked, and there is a reader of removals. */
static void tracked_rows(sweep *s)
{
    rows(s, 1500);
    for (int i = 0; i < 700; i++) assert_true(reef_set(s->w, s->e[2 * i], Stamped, i) >= 0);
    assert_false(reef_removals_is_null(reef_removals_new(s->w, reef_id(Stamped), true)));
}
static reef_status where_add_tracked(sweep *s, reef_query q) { return reef_add_where(s->w, q, Stamped); }
static reef_status where_set_tracked(sweep *s, reef_query q) { return reef_set_where(s->w, q, Stamped, 7); }
static reef_status where_remove_tracked(sweep *s, reef_query q) { return reef_remove_where(s->w, q, Stamped); }
static bool add_where_tracked(sweep *s) { return where(s, "", where_add_tracked); }
static bool set_where_tracked(sweep *s) { return where(s, "", where_set_tracked); }
static bool remove_where_tracked(sweep *s) { return where(s, "", where_remove_tracked); }

/* ---- types that are split by field ---- */

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

const scenario scenarios[] = {
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
    {"sort by entity, several blocks", two_chunks, sort_by_entity},
    {"sort by entity, everything", with_everything, sort_by_entity},
    {"sort by value", with_everything, sort_by_value},
    {"create, first page", NULL, create},
    {"create, plain call", NULL, create_id},
    {"create, next page of records", full_record_page, create},
    {"create, from the free ids", ring_page_full, create},
    {"spawn, first table", NULL, spawn},
    {"spawn, table known", one_row, spawn},
    {"spawn, first chunk grows", eight_rows, spawn},
    {"spawn, second chunk", full_chunk, spawn},
    {"spawn, third chunk", two_chunks, spawn},
    {"spawn, from the free ids", with_free_ids, spawn},
    {"spawn, next page of records", full_record_page, spawn},
    {"spawn, tags only", NULL, spawn_tags},
    {"spawn, first bit", some_rows, spawn_bit},
    {"spawn, bit in a new chunk", full_chunk, spawn_bit},
    {"spawn, a bit alone", NULL, spawn_bare_bit},
    {"spawn, hooks", NULL, spawn_hooked},
    {"spawn, hooks, growth, value in the world", hooked_rows, spawn_own_value},
    {"spawn, move-only value", with_unique, spawn_unique},
    {"spawn, large component", NULL, spawn_big},
    {"spawn, 40 columns", one_row, spawn_wide},
    {"spawn, after many tables", many_tables, spawn},
    {"spawn_many, first table", NULL, spawn_many},
    {"spawn_many, behind rows", full_chunk, spawn_many},
    {"spawn_many, from the free ids", with_free_ids, spawn_many},
    {"spawn_many, hooks", NULL, spawn_many_hooked},
    {"spawn_many, hooks, behind rows", full_hooked_chunk, spawn_many_hooked},
    {"spawn_many, without components", NULL, spawn_many_empty},
    {"clone, growth", eight_rows, clone},
    {"clone, new chunk", full_chunk, clone},
    {"clone, hooks", hooked_rows, clone},
    {"clone, hooks, new chunk", full_hooked_chunk, clone},
    {"clone, nothing", one_empty, clone},
    {"clone_many", some_rows, clone_many},
    {"clone_many, hooks", hooked_rows, clone_many},
    {"clone_many, bits", with_bits, clone_bits},
    {"reserve_id, first", NULL, reserve_id},
    {"reserve_id, next page of records", full_record_page, reserve_id},
    {"reserve_id, from the free ids", with_free_ids, reserve_id},
    {"reserve_range, first", NULL, reserve_range},
    {"reserve_range, next page of records", full_record_page, reserve_range},
    {"reserve_range, after another", reserved_range, reserve_range},
    {"reserve_range, shared", reserved_range_shared, reserve_range},
    {"create_as, first of a page that is reserved", reserved_range, create_in_range},
    {"create_as, first of a shared page that is reserved", reserved_range_shared, create_in_range},
    {"create, behind a reserved range", reserved_range, spawn_behind_range},
    {"release_id", reserved_id, release_id},
    {"create_as, far ahead", NULL, create_as},
    {"create_as, far ahead, behind others", with_free_ids, create_as},
    {"create_as, from among the free ids", with_free_ids, create_as_free},
    {"create_as, reserved", reserved_id, create_as_reserved},
    {"create_as, first", NULL, create_as_next},
    {"bundle_new", NULL, bundle_new},
    {"bundle_new, table known", some_rows, bundle_new},
    {"spawn_bundle", with_bundle, bundle_spawn},
    {"destroy, first free id", some_rows, destroy},
    {"destroy, next page of free ids", ring_page_full, destroy_150},
    {"destroy, with a bit", with_bits, destroy},
    {"destroy, with a name", with_names, destroy_150},
    {"destroy, hooks", full_hooked_chunk, destroy},
    {"destroy_with", some_rows, destroy_with},
    {"destroy_with, two chunks", two_chunks, destroy_with},
    {"destroy_with, hooks", full_hooked_chunk, destroy_with},
    {"destroy_with, bits", with_bits, destroy_with_bit},
    {"destroy_with, all", with_names, destroy_all},
    {"destroy_with, all, many tables", many_tables, destroy_all},
    {"clear_type", two_chunks, clear_type},
    {"clear_type, many tables", many_tables, clear_type},
    {"clear_type, bit", with_bits, clear_bit},
    {"clear_type, hooks", full_hooked_chunk, clear_hooked},
    {"add, new edge and table", some_rows, add},
    {"add, to an empty entity", one_empty, add},
    {"add, tag", some_rows, add_tag},
    {"add, bit", two_chunks, add_bit},
    {"add, bit, to an empty entity", one_empty, add_bit},
    {"add, hooks", hooked_rows, add_hooked},
    {"add, after many tables", many_tables, add_to_known},
    {"set, new", some_rows, set},
    {"set, there", some_rows, set_there},
    {"set, hooks, new", some_rows, set_hooked},
    {"set, hooks, there", hooked_rows, set_hooked},
    {"set, move-only", with_unique, set_unique},
    {"ensure, new", some_rows, ensure},
    {"remove", some_rows, remove_one},
    {"remove, the last ones", some_rows, remove_to_empty},
    {"remove, hooks", hooked_rows, remove_hooked},
    {"remove, with a bit", with_bits, remove_one},
    {"remove_all, with a bit", with_bits, remove_all},
    {"remove_all, hooks", hooked_rows, remove_all},
    {"change", some_rows, change},
    {"change, from nothing", one_empty, change},
    {"change, bits", with_bits, change},
    {"change, hooks", hooked_rows, change_hooked},
    {"disable, first mark", some_rows, disable},
    {"disable, a mark in a new chunk", full_chunk, disable},
    {"disable, among marks", with_marks, disable},
    {"disable, the whole", some_rows, disable_entity},
    {"disable, the whole of an empty entity", one_empty, disable_entity},
    {"enable", with_marks, enable},
    {"enable, the whole", with_marks, enable_entity},
    {"enable, the whole of an empty entity", one_empty_disabled, enable_entity},
    {"remove, disabled", with_marks, remove_mass},
    {"remove, a disabled switch", with_marks, remove_switch},
    {"remove_all, disabled", with_marks, remove_everything},
    {"clear_type, disabled", with_marks, clear_type},
    {"clear_type, a disabled switch", with_marks, clear_bit},
    {"destroy, beside the disabled", with_marks, destroy},
    {"clone_many, disabled", with_marks, clone_many},
    {"snapshot_take, disabled", with_marks, take_snapshot},
    {"hash, disabled", with_marks, hash},
    {"mut", some_rows, mut},
    {"ref_mut", some_rows, ref_mut},
    {"query_new", some_rows, query_new},
    {"query_new, subtypes", some_rows, sub_query_new},
    {"query_new, values", with_asked, asking_query_new},
    {"query_copy, values", with_asking_query, query_copy},
    {"query, values", with_asking_query, asking_query_walk},
    {"query_new, join by values", with_asked, join_new},
    {"query, join by values", with_join, join_walk},
    {"query, join by an index", with_indexed_join, indexed_join_walk},
    {"add_where, values", with_asking_query, asking_query_bulk},
    {"system, values", with_asked, asking_system},
    {"observer_new, values", with_asked, asking_observer},
    {"query, new subtypes", with_sub_query, query_walk},
    {"query_new, first use", many_tables, query_use},
    {"query, first use", with_query, query_walk},
    {"query, row by row", with_query, query_rows},
    {"query, tables that are new to it", with_used_query, query_walk},
    {"query_make, groups", some_rows, query_make},
    {"query_make, many tables", many_tables, query_make},
    {"place_of", with_spots, place_of},
    {"place_of, again", with_picture, place_of},
    {"place_of, whole cells", with_tiles, tiles_of},
    {"query_new, near", with_spots, near_query_new},
    {"query, near", with_near_query, near_query_walk},
    {"query_copy, near", with_near_query, query_copy},
    {"query_copy", with_used_query, query_copy},
    {"begin_text", with_bits, query_once},
    {"query, out", with_query_out, query_out},
    {"query, out, one optional", with_query_out_optional, query_out},
    {"query, changed: first run", with_query_changed, query_walk},
    {"split_begin", with_query_inout, query_split},
    {"split_begin, out", with_query_out, query_split},
    {"split_begin, changed", with_query_changed, query_split},
    {"query_order", with_query, query_order},
    {"query, ordered", with_ordered_query, query_walk},
    {"query, ordered, groups", with_ordered_query, query_groups},
    {"query_copy, ordered", with_ordered_query, query_copy},
    {"script_add", some_rows, script_add},
    {"script_remove", with_script, script_remove},
    {"single_set, empty world", NULL, single_set},
    {"single_set, first", some_rows, single_set_hooked},
    {"single_set, second", with_single, single_set_hooked},
    {"single_set, there", with_single, single_set},
    {"single_mut", with_single, single_mut},
    {"single_remove", with_single, single_remove},
    {"set_name, first", some_rows, name},
    {"set_name, rename", with_names, rename_one},
    {"set_name, growth", names_near_growth, name_more},
    {"reserve", some_rows, reserve},
    {"reserve, empty world", NULL, reserve},
    {"reserve_for", some_rows, reserve_for},
    {"reserve_for, bits", with_bits, reserve_for},
    {"add_where, whole table, wider", two_chunks, add_where},
    {"add_where, whole table, tag", two_chunks, add_where_tag},
    {"add_where, whole tables", many_tables, add_where},
    {"add_where, bits come along", with_bits, add_where},
    {"add_where, to rows", two_tables, add_where},
    {"add_where, to rows, from spare chunks", spare_chunks, add_where},
    {"add_where, some rows", two_tables, add_where_some},
    {"add_where, bit", two_tables, add_where_bit},
    {"add_where, hooks", two_tables, add_where_hooked},
    {"add_where, hooks stay", full_hooked_chunk, add_where},
    {"set_where, new", two_chunks, set_where},
    {"set_where, there", two_tables, set_where_there},
    {"set_where, there, some rows", two_tables, set_where_some},
    {"set_where, hooks", full_hooked_chunk, set_where_hooked},
    {"set_where, everybody", with_everything, set_where_hooked},
    {"remove_where, whole tables", two_tables, remove_where},
    {"remove_where, some rows", two_tables, remove_where_some},
    {"remove_where, to nothing", many_tables, remove_where},
    {"remove_where, hooks", full_hooked_chunk, remove_where_hooked},
    {"remove_where, bit", bare_bits, remove_where_bit},
    {"remove_where, bit with marks", bare_marks, remove_where_bit},
    {"remove_where, some rows with marks", bare_marks, remove_where_some},
    {"disable_where, first", bare_bits, disable_where},
    {"disable_where, entities", bare_bits, disable_where_all},
    {"enable_where", bare_marks, enable_where},
    {"add_where, tracked", tracked_rows, add_where_tracked},
    {"set_where, tracked", tracked_rows, set_where_tracked},
    {"remove_where, tracked", tracked_rows, remove_where_tracked},
    {"add_where, beside tracked", tracked_rows, add_where},
    {"destroy_where, tracked", tracked_rows, destroy_where},
    {"destroy_where", with_everything, destroy_where},
    {"destroy_where, hooks", full_hooked_chunk, destroy_where},
    {"destroy_where, bits", bare_bits, destroy_where_some},
    {"destroy_where, some rows", two_tables, destroy_where_some},
    {"world_use", NULL, use},
    {"world_use, the newest type", strict_like, use_far},
    {"world_clear", with_names, clear_world},
    {"world_clear, hooks", full_hooked_chunk, clear_world},
    {"shrink", with_free_ids, shrink},
    {"shrink, names and bits", with_names, shrink},
    {"system_new, the first", NULL, system_first},
    {"system_new, with hints", with_systems, system_ordered},
    {"system_replace", with_systems, system_replaced},
    {"system_remove", with_systems, system_removed},
    {"module_use", with_systems, module_used},
    {"module_use, another version", with_module, module_replaced},
    {"module_remove", with_module, module_removed},
    {"system_switch", with_systems, system_switched},
    {"phase_new, before systems", NULL, phase_made},
    {"phase_new", with_systems, phase_made},
    {"fork, systems", with_systems, make_fork},
    {"post, first", one_receives, event_posted},
    {"post, growth", with_events, event_posted},
    {"event_reader_new, first", NULL, events_read},
    {"event_reader_new", with_events, events_read},
    {"events_bound, first", NULL, events_bound},
    {"events_bound", with_events, events_bound},
    {"snapshot_take, events", with_events_kept, take_snapshot},
    {"fork, events", with_events, make_fork},
    {"restore, events", with_events_kept, restore},
    {"hash, events", with_events_kept, hash},
    {"observer_new, the first", NULL, observer_made},
    {"observer_new", with_observers, observer_made},
    {"observer_new, of a query", with_observers, observer_matches},
    {"observer_new, what exists", with_observers, observer_existing},
    {"observer_remove", with_observers, observer_removed},
    {"observed spawn", with_observers, observed_spawn},
    {"observed set", with_observers, observed_set},
    {"observed change", with_observers, observed_change},
    {"observed add", with_observers, observed_add},
    {"observed destroy", with_observers, observed_destroy},
    {"observed set_where", with_observers, observed_set_where},
    {"observed add_where", with_observers, observed_add_where},
    {"observed remove_where", with_observers, observed_remove_where},
    {"observed disable_where", with_observers, observed_disable_where},
    {"observed destroy_where", with_observers, observed_destroy_where},
    {"observed world_clear", with_observers, observed_clear},
    {"observed clear_all", with_observers, observed_clear_type},
    {"fork, observers", with_observers, make_fork},
    {"several more", with_several, several_more},
    {"several first", with_several, several_first},
    {"several added", with_several, several_added},
    {"several one less", with_several, several_one_less},
    {"several removed", with_several, several_removed},
    {"several cloned", with_several, several_cloned},
    {"several written", with_several, several_written},
    {"common added", with_common, common_added},
    {"common set", with_common, common_set},
    {"common shared", with_common, common_shared},
    {"common replaced", with_common, common_replaced},
    {"common written", with_common, common_written},
    {"common removed", with_common, common_removed},
    {"common cloned", with_common, common_cloned},
    {"common spawned", with_common, common_spawned},
    {"common attached", with_common, common_attached},
    {"common set_where", with_common, common_set_where},
    {"common added_where", with_common, common_added_where},
    {"several added_where", with_several, several_added_where},
    {"required added", some_rows, required_added},
    {"required set", some_rows, required_set},
    {"required spawned", some_rows, required_spawned},
    {"required spawned, many", some_rows, required_many},
    {"required reserved", some_rows, required_reserved},
    {"required added_where", some_rows, required_where},
    {"make_prefab", with_tree, prefab_made},
    {"make_prefab, observed", with_prefab_observed, prefab_made},
    {"instantiate", with_prefab, prefab_copied},
    {"instantiate, many with values", with_prefab, prefab_copied_often},
    {"instantiate, observed", with_prefab_observed, prefab_copied_often},
    {"clone_tree", with_tree, tree_cloned},
    {"snapshot_take, several", with_several, take_snapshot},
    {"fork, in common", with_common, make_fork},
    {"hash, in common", with_common, hash},
    {"snapshot_take, empty", NULL, take_snapshot},
    {"snapshot_take", with_everything, take_snapshot},
    {"fork, empty", NULL, make_fork},
    {"fork", with_everything, make_fork},
    {"restore", with_snapshot, restore},
    {"save_bytes", with_marks, saved},
    {"save_bytes, common", with_common, saved},
    {"save_bytes, events", with_events, saved},
    {"save_bytes, a query", with_marks, saved_some},
    {"diff_bytes", with_changes, saved_difference},
    {"merge", with_marks, merged_twice},
    {"merge, common", with_common, merged_twice},
    {"hash, empty", NULL, hash},
    {"hash", with_everything, hash},
    {"hash, some kept", with_hashes, hash},
    {"hash_parts", with_everything, hash_parts},
    {"hash_parts, some kept", with_hashes, hash_parts},
};
const size_t scenario_count = sizeof scenarios / sizeof *scenarios;
