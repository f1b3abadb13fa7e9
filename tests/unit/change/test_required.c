/* Required components: what comes along with a component, in every call that adds one, and what is refused. */
#include "support.h"

typedef struct {
    float x, y;
} Place;
typedef struct {
    float x, y;
} Speed;
typedef struct {
    double newtons;
} Thrust;
typedef struct {
    int32_t fuel;
} Tank;
typedef struct {
    int32_t left;
} Fuse; /* outside of tables */
typedef struct {
    float heat;
} Flame;
typedef struct {
    float w[3];
} Bulk;
typedef struct {
    Place place;
    float z;
} Place3;
typedef struct {
    Speed speed;
    float spin;
} Twirl;
typedef struct {
    int32_t a, b;
} Parted;
typedef struct {
    int32_t n;
} Pool;
typedef struct {
    int32_t n;
} Guest;

REEF_COMPONENT(Place);
REEF_FIELDS(Place, (x, "m"), (y, "m"));
REEF_COMPONENT(Speed);
REEF_FIELDS(Speed, (x, "m/s"), (y, "m/s"));
REEF_REQUIRES(Speed, Place);
REEF_COMPONENT(Tank);
REEF_FIELDS(Tank, (fuel, "kg"));
REEF_COMPONENT(Thrust);
REEF_FIELDS(Thrust, (newtons, "N"));
REEF_SWITCH(Burning);
REEF_TAG(Driven);
REEF_REQUIRES(Thrust, Speed, Tank, Burning); /* and a Place, since a Speed requires it */
REEF_SUBTYPE(Place3, Place);
REEF_SUBTYPE(Twirl, Speed); /* requires what a Speed does */
REEF_COMPONENT_IN(Fuse, REEF_SPARSE);
REEF_COMPONENT_IN(Flame, REEF_PAGED);
REEF_REQUIRES(Flame, Fuse, Place);
REEF_SWITCH(Armed);
REEF_REQUIRES(Armed, Fuse, Tracked);
REEF_COMPONENT_IN(Parted, REEF_SPLIT);
REEF_FIELDS(Parted, a, b);
REEF_COMPONENT(Bulk);
REEF_REQUIRES(Bulk, Parted, Driven);
REEF_COMPONENT_IN(Pool, REEF_SHARED);
REEF_REQUIRES(Pool, Place);
REEF_COMPONENT(Guest);
REEF_REQUIRES(Guest, Pool, Tracked);
typedef struct {
    int32_t lumen;
} Lamp;
REEF_COMPONENT(Lamp);
REEF_REQUIRES(Lamp, Fuse, Burning); /* none of them in tables */
REEF_RELATION(Tows, REEF_EXCLUSIVE);
REEF_REQUIRES(Tows, Speed);
/* what is refused */
REEF_TAG(RingA);
REEF_TAG(RingB);
REEF_TAG(RingC);
REEF_REQUIRES(RingA, RingB);
REEF_REQUIRES(RingB, RingC);
REEF_REQUIRES(RingC, RingA);

#define has_all(w, e, A, B, C, D) (reef_has(w, e, A) && reef_has(w, e, B) && reef_has(w, e, C) && reef_has(w, e, D))

static void whoever_gets_one_gets_the_other(void **state)
{
    reef_world *w = world_of(state);
    const reef_entity e = reef_create(w), s = reef_spawn(w, reef_with(Speed, 1, 2)), a = reef_create(w);
    assert_status(REEF_ADDED, reef_set(w, e, Speed, 3, 4));
    assert_true(reef_has(w, e, Place) && reef_has(w, s, Place));
    assert_true(reef_get(w, e, Place)->x == 0 && reef_get(w, s, Speed)->y == 2);
    assert_ok(reef_add(w, a, Thrust));
    assert_true(has_all(w, a, Thrust, Speed, Tank, Place) && reef_has(w, a, Burning));
    /* what is there stays as it is, and so does what the call names */
    const reef_entity f = reef_spawn(w, reef_with(Place, 5, 6));
    assert_non_null(reef_ensure(w, f, Speed));
    assert_true(reef_get(w, f, Place)->x == 5);
    const reef_entity g = reef_spawn(w, reef_with(Speed, 1, 1), reef_with(Place, 7, 8));
    assert_true(reef_get(w, g, Place)->y == 8);
    assert_ok(reef_change(w, e, reef_with(Thrust, 9), reef_with(Tank, 3)));
    assert_int_equal(reef_get(w, e, Tank)->fuel, 3);
    assert_true(reef_has(w, e, Burning));
}

static void what_lies_outside_comes_each_time(void **state)
{
    reef_world *w = world_of(state);
    for (int i = 0; i < 20; i++) { /* the world remembers sets that are spawned again and again */
        const reef_entity e = reef_spawn(w, reef_with(Lamp, i), reef_with(Mass, 1));
        assert_true(reef_has(w, e, Fuse) && reef_has(w, e, Burning));
    }
}

static void each_goes_alone(void **state)
{
    reef_world *w = world_of(state);
    const reef_entity e = reef_spawn(w, reef_with(Speed, 1, 2));
    assert_ok(reef_remove(w, e, Place));
    assert_true(reef_has(w, e, Speed) && !reef_has(w, e, Place));
    assert_ok(reef_set(w, e, Speed, 3, 4)); /* it was there, so nothing comes along */
    assert_false(reef_has(w, e, Place));
    assert_ok(reef_remove(w, e, Speed));
    assert_status(REEF_ADDED, reef_set(w, e, Speed, 3, 4));
    assert_true(reef_has(w, e, Place));
    assert_ok(reef_remove(w, e, Speed));
    assert_true(reef_has(w, e, Place));
    /* the list of a call decides about what it names */
    const reef_entity f = reef_spawn(w, reef_with(Place, 1, 1));
    assert_ok(reef_change(w, f, reef_with(Speed, 1, 1), reef_without(Place)));
    assert_false(reef_has(w, f, Place));
}

static void one_move(void **state)
{
    reef_world *w = world_of(state);
    const reef_entity e = reef_spawn(w, reef_with(Mass, 1)), f = reef_spawn(w, reef_with(Mass, 1), reef_with(Place, 0));
    uint64_t before = reef_world_stats(w).moved;
    assert_ok(reef_add(w, e, Thrust));
    assert_int_equal(reef_world_stats(w).moved - before, 1);
    before = reef_world_stats(w).moved;
    assert_ok(reef_add(w, f, Speed));
    assert_int_equal(reef_world_stats(w).moved - before, 1);
}

static void required_by_subtypes(void **state)
{
    reef_world *w = world_of(state);
    const reef_entity e = reef_spawn(w, reef_with(Place3, {1, 2}, 3)), f = reef_spawn(w, reef_with(Twirl, {1, 2}, 3));
    assert_ok(reef_add(w, e, Speed)); /* a Place3 is a Place */
    assert_false(reef_has_id(w, e, reef_id(Place)) && reef_count(w, Place) == 2);
    assert_int_equal(reef_count(w, Place), 1);
    assert_true(reef_has(w, f, Place));
    const reef_entity g = reef_spawn(w, reef_with(Speed, 1, 2), reef_with(Place3, {1, 2}, 3));
    assert_some(g);
    assert_int_equal(reef_count(w, Place), 1);
}

static void every_home(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[4];
    for (int i = 0; i < 4; i++) assert_some(e[i] = i & 1 ? reef_create(w) : reef_spawn(w, reef_with(Mass, i)));
    for (int i = 0; i < 4; i++) {
        assert_status(REEF_ADDED, reef_set(w, e[i], Flame, 3));
        assert_true(reef_has(w, e[i], Fuse) && reef_has(w, e[i], Place));
        assert_int_equal(reef_get(w, e[i], Fuse)->left, 0);
        assert_ok(reef_remove(w, e[i], Flame));
        assert_ok(reef_remove(w, e[i], Fuse));
        assert_ok(reef_add(w, e[i], Flame));
        assert_true(reef_has(w, e[i], Fuse));
    }
    for (int i = 0; i < 4; i++) {
        assert_ok(reef_add(w, e[i], Armed));
        assert_true(reef_has(w, e[i], Tracked));
        assert_ok(reef_remove(w, e[i], Armed));
        assert_ok(reef_remove(w, e[i], Tracked));
        assert_ok(reef_add(w, e[i], Armed)); /* the fast path of switches must not take this */
        assert_true(reef_has(w, e[i], Tracked) && reef_has(w, e[i], Fuse));
    }
    assert_ok(reef_add(w, e[0], Bulk));
    assert_true(has_all(w, e[0], Bulk, Parted, Driven, Mass));
    assert_ok(reef_add(w, e[1], Guest));
    assert_true(reef_has(w, e[1], Pool) && reef_has(w, e[1], Tracked));
    assert_ok(reef_remove(w, e[1], Place));
    assert_ok(reef_remove(w, e[2], Place));
    assert_status(REEF_ADDED, reef_share(w, e[1], e[2], Pool));
    assert_true(reef_has(w, e[2], Place));
    assert_status(REEF_ADDED, reef_relate(w, e[1], Tows, e[2]));
    assert_true(reef_has(w, e[1], Speed) && reef_has(w, e[1], Place) && reef_related(w, e[1], Tows, e[2]));
    assert_status(REEF_ADDED, reef_single_set(w, Speed, 1, 1));
    assert_true(reef_single_has(w, Place));
}

static void bundles_and_many(void **state)
{
    reef_world *w = world_of(state);
    const reef_bundle_part parts[] = {{reef_id(Speed), 0}, {reef_id(Mass), 8}};
    struct {
        Speed speed;
        Mass mass;
    } packed = {{1, 2}, {3}};
    reef_entity e[3000];
    reef_bundle *b = reef_bundle_new(w, parts, 2);
    assert_non_null(b);
    for (int i = 0; i < 20; i++) {
        e[0] = reef_spawn_bundle(w, b, &packed);
        assert_true(reef_has(w, e[0], Place) && reef_get(w, e[0], Place)->x == 0 && reef_get(w, e[0], Mass)->kg == 3);
    }
    reef_bundle_free(b);
    assert_ok(reef_spawn_many(w, 3000, e, reef_with(Thrust, 4)));
    for (int i = 0; i < 3000; i++) assert_true(has_all(w, e[i], Thrust, Speed, Tank, Burning));
    assert_ok(reef_reserve_for(w, 10, (const reef_component[]){reef_id(Thrust)}, 1));
    const reef_entity copy = reef_clone(w, e[0]);
    assert_true(has_all(w, copy, Thrust, Speed, Tank, Burning));
    assert_ok(reef_remove(w, e[1], Place));
    assert_false(reef_has(w, reef_clone(w, e[1]), Place)); /* a clone has what its origin has */
}

static void everything_that_matches(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[40];
    for (int i = 0; i < 40; i++) {
        e[i] = reef_spawn(w, reef_with(Mass, i));
        if (i % 3 == 1) assert_true(reef_set(w, e[i], Place, (float)i, 0) >= 0);
        if (i % 4 == 1) assert_ok(reef_add(w, e[i], Fuse));
        if (i % 5 == 1) assert_ok(reef_add(w, e[i], Tracked));
        if (i % 7 == 1) assert_ok(reef_add(w, e[i], Awake));
    }
    const reef_query all = reef_query_new(w, "in Mass"), some = reef_query_new(w, "in Mass, !Place");
    uint64_t n = 0;
    assert_ok(reef_add_where_id(w, some, reef_id(Speed), &n));
    assert_int_equal(n, 27);
    for (int i = 0; i < 40; i++) assert_true(reef_has(w, e[i], Speed) == (i % 3 != 1) && reef_has(w, e[i], Place));
    assert_ok(reef_add_where_id(w, all, reef_id(Armed), &n));
    assert_int_equal(n, 40);
    const Flame flame = {2};
    assert_ok(reef_set_where_id(w, all, reef_id(Flame), &flame, sizeof flame, &n));
    const Bulk bulk = {{1, 2, 3}};
    assert_ok(reef_set_where_id(w, all, reef_id(Bulk), &bulk, sizeof bulk, &n));
    assert_ok(reef_add_where_id(w, all, reef_id(Guest), &n));
    assert_int_equal(n, 40);
    for (int i = 0; i < 40; i++) {
        assert_true(has_all(w, e[i], Armed, Tracked, Fuse, Flame) && has_all(w, e[i], Bulk, Parted, Driven, Guest));
        assert_true(reef_get(w, e[i], Flame)->heat == 2 && reef_get(w, e[i], Bulk)->w[2] == 3);
        assert_true(reef_get(w, e[i], Place)->x == (i % 3 == 1 ? (float)i : 0) && reef_has(w, e[i], Pool));
        assert_true(reef_has(w, e[i], Awake) == (i % 7 == 1));
    }
    book.fail_construct = 3; /* a hook that refuses changes nothing */
    book.fail_status = REEF_NO_MEMORY;
    assert_ok(reef_remove_where_id(w, all, reef_id(Tracked), NULL));
    assert_ok(reef_remove_where_id(w, all, reef_id(Guest), NULL));
    assert_refused(w, REEF_NO_MEMORY, reef_add_where_id(w, all, reef_id(Guest), NULL));
    assert_ok(reef_add_where_id(w, all, reef_id(Guest), &n));
    assert_int_equal(n, 40);
}

static void add_speed(reef_block *b)
{
    for (uint32_t i = 0; i < b->count; i++) {
        assert_ok(reef_cmd_add(b, b->entities[i], Thrust));
        assert_some(reef_cmd_spawn(b, reef_with(Speed, 1, 2)));
        assert_some(reef_cmd_spawn(b, reef_with(Flame, 1)));
        assert_ok(reef_cmd_set(b, b->entities[i], Place, 4, 4)); /* declared by way of Thrust */
    }
}

static void commands_and_systems(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[300];
    assert_ok(reef_spawn_many(w, 300, e, reef_with(Mass, 4)));
    assert_false(reef_system_is_null(reef_system(w, add_speed, "in Mass; adds Thrust, spawns Speed Flame")));
    assert_ok(reef_tick(w, 0.1f));
    assert_int_equal(reef_count(w, Place), 900);
    assert_int_equal(reef_count(w, Fuse), 300);
    for (int i = 0; i < 300; i++) assert_true(has_all(w, e[i], Thrust, Speed, Tank, Burning));
}

static uint32_t told_count;
static void told(const reef_notice *n) { told_count += n->count; }

static void observers_are_told(void **state)
{
    reef_world *w = world_of(state);
    told_count = 0;
    assert_false(reef_observer_is_null(reef_observe(w, told, REEF_ON_ADD, Place)));
    const reef_entity e = reef_create(w);
    assert_ok(reef_add(w, e, Speed));
    assert_int_equal(told_count, 1);
    assert_some(reef_spawn(w, reef_with(Speed, 1, 1)));
    assert_int_equal(told_count, 2);
    const reef_query q = reef_query_new(w, "in Speed");
    assert_ok(reef_remove_where_id(w, q, reef_id(Place), NULL));
    assert_ok(reef_add_where_id(w, q, reef_id(Flame), NULL));
    assert_int_equal(told_count, 4);
}

static void a_hook_refuses(void **state)
{
    reef_world *w = world_of(state);
    const reef_entity e = reef_spawn(w, reef_with(Mass, 1));
    book.fail_status = REEF_NO_MEMORY;
    book.fail_construct = 1;
    assert_refused(w, REEF_NO_MEMORY, reef_add(w, e, Armed));
    book.fail_construct = 1;
    assert_refused(w, REEF_NO_MEMORY, reef_add(w, e, Guest));
    assert_ok(reef_add(w, e, Guest));
    assert_non_null(book.args == NULL ? &book : NULL);
}

static void made_at_run_time(void **state)
{
    reef_world *w = world_of(state);
    reef_status s;
    reef_type_info info;
    const reef_component needs[] = {reef_id(Thrust), reef_id(Fuse)};
    const reef_component c =
        reef_type_new(&(reef_type_desc){.name = "rt_ship", .required = needs, .required_count = 2}, &s);
    assert_ok(s);
    assert_true(reef_type_get(c, &info) && info.required_count == 2 && info.required[0].id == needs[1].id);
    assert_true(reef_type_get(reef_id(Speed), &info) && info.required_count == 1);
    assert_true(reef_type_get(reef_id(Place), &info) && info.required_count == 0 && info.required == NULL);
    const reef_entity e = reef_create(w);
    assert_ok(reef_add_id(w, e, c, NULL, NULL));
    assert_true(has_all(w, e, Thrust, Speed, Place, Fuse));
    /* the same again, in another order; and what differs */
    const reef_component turned[] = {needs[1], needs[0]}, fewer[] = {needs[0]};
    assert_int_equal(
        reef_type_new(&(reef_type_desc){.name = "rt_ship", .required = turned, .required_count = 2}, &s).id, c.id);
    assert_int_equal(reef_type_new(&(reef_type_desc){.name = "rt_ship"}, &s).id, c.id);
    reef_type_new(&(reef_type_desc){.name = "rt_ship", .required = fewer, .required_count = 1}, &s);
    assert_int_equal(s, REEF_EXISTS);
    /* a world has used it, so it is too late to require anything */
    const reef_component late = reef_type_new(&(reef_type_desc){.name = "rt_late"}, &s);
    assert_ok(reef_add_id(w, e, late, NULL, NULL));
    reef_type_new(&(reef_type_desc){.name = "rt_late", .required = fewer, .required_count = 1}, &s);
    assert_int_equal(s, REEF_EXISTS);
    const reef_component early = reef_type_new(&(reef_type_desc){.name = "rt_early"}, &s);
    reef_type_new(&(reef_type_desc){.name = "rt_early", .required = fewer, .required_count = 1}, &s);
    assert_ok(s);
    assert_ok(reef_add_id(w, e, early, NULL, NULL));
}

static void requirements_that_are_refused(void **state)
{
    (void)state;
    reef_status s;
    const reef_component no = {0}, tows = reef_id(Tows), speed[] = {reef_id(Speed), reef_id(Speed)};
    reef_component a = reef_type_new(&(reef_type_desc){.name = "rt_a"}, &s);
    reef_component b = reef_type_new(&(reef_type_desc){.name = "rt_b", .required = &a, .required_count = 1}, &s);
    assert_ok(s);
    const struct {
        const char *name;
        const reef_component *required;
        uint32_t count;
        reef_status wanted;
    } tries[] = {{"rt_x", &no, 1, REEF_UNKNOWN_TYPE},
                 {"rt_x", &tows, 1, REEF_BAD_ARGUMENT},
                 {"rt_x", NULL, 1, REEF_BAD_ARGUMENT},
                 {"rt_x", speed, 2, REEF_DUPLICATE_TERM},
                 {"rt_a", &a, 1, REEF_CYCLE},
                 {"rt_a", &b, 1, REEF_CYCLE},
                 {"rt_x", speed, REEF_REQUIRED_MAX + 1, REEF_LIMIT}};
    for (size_t i = 0; i < sizeof tries / sizeof *tries; i++) {
        const reef_type_desc d = {
            .name = tries[i].name, .required = tries[i].required, .required_count = tries[i].count};
        assert_int_equal(reef_type_new(&d, &s).id, 0);
        assert_int_equal(s, tries[i].wanted);
    }
    assert_int_equal(reef_type_find("rt_x").id, 0);
    /* a base brings its subtypes' requirements along, so it can't be required by way of them */
    reef_component base = reef_type_new(&(reef_type_desc){.name = "rt_base"}, &s);
    reef_component sub = reef_type_new(&(reef_type_desc){.name = "rt_sub", .base = base}, &s);
    reef_type_new(&(reef_type_desc){.name = "rt_base", .required = &sub, .required_count = 1}, &s);
    assert_int_equal(s, REEF_CYCLE);
    /* of a ring of declarations one is refused, and the text says which */
    const int refused = (reef_id(RingA).id == 0) + (reef_id(RingB).id == 0) + (reef_id(RingC).id == 0);
    assert_int_equal(refused, 1);
    assert_non_null(reef_declare_error());
    assert_non_null(strstr(reef_declare_error(), "can't require Ring"));
}

static void states_files_and_merging(void **state)
{
    reef_world *w = world_of(state), *other = another_world(state, NULL);
    const reef_entity e = reef_spawn(w, reef_with(Speed, 1, 2)), f = reef_spawn(w, reef_with(Thrust, 2));
    assert_ok(reef_remove(w, e, Place)); /* as in a file from before the requirement */
    reef_bytes bytes;
    assert_ok(reef_save_bytes(w, &bytes, NULL));
    assert_ok(reef_load_bytes(other, bytes.data, bytes.size, NULL));
    reef_bytes_free(&bytes);
    assert_int_equal(reef_hash(w), reef_hash(other));
    assert_false(reef_has(other, e, Place)); /* what was saved, and nothing else */
    assert_true(reef_has(other, f, Place));
    uint64_t n = 0;
    assert_ok(reef_add_where_id(other, reef_query_new(other, "Speed, !Place"), reef_id(Place), &n));
    assert_int_equal(n, 1);
    reef_world *fork = reef_fork(w);
    assert_non_null(fork);
    const reef_entity g = reef_create(fork);
    assert_ok(reef_add(fork, g, Speed));
    assert_true(reef_has(fork, g, Place));
    reef_world_free(fork);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(whoever_gets_one_gets_the_other),
        TEST(what_lies_outside_comes_each_time),
        TEST(each_goes_alone),
        TEST(one_move),
        TEST(required_by_subtypes),
        TEST(every_home),
        TEST(bundles_and_many),
        TEST(everything_that_matches),
        TEST(commands_and_systems),
        TEST(observers_are_told),
        TEST(a_hook_refuses),
        TEST(made_at_run_time),
        TEST(requirements_that_are_refused),
        TEST(states_files_and_merging),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
