/* Prefabs: templates and their copies; clones of trees. */
#include "support.h"

#include <stdlib.h>

typedef struct {
    int32_t now, most;
} Armour;
typedef struct {
    float metres;
} Length;
typedef struct {
    reef_entity at;
    reef_entity path[2];
} Aim;
typedef struct {
    int32_t mesh;
} Model;
typedef struct {
    int32_t rounds;
} Ammo;
typedef struct {
    float heat;
} Warmth;
typedef struct {
    int32_t a, b;
} Halves;
REEF_COMPONENT(Armour);
REEF_FIELDS(Armour, now, most);
REEF_COMPONENT(Length);
REEF_FIELDS(Length, (metres, "m"));
REEF_COMPONENT(Aim);
REEF_FIELDS(Aim, at, path);
REEF_COMPONENT_IN(Model, REEF_SHARED);
REEF_FIELDS(Model, mesh);
REEF_COMPONENT_IN(Ammo, REEF_SPARSE);
typedef struct {
    int reward;
} Bounty;
REEF_COMPONENT_IN(Bounty, REEF_COLD);
REEF_FIELDS(Ammo, rounds);
REEF_COMPONENT_IN(Warmth, REEF_MULTI);
REEF_FIELDS(Warmth, heat);
REEF_COMPONENT_IN(Halves, REEF_SPLIT);
REEF_FIELDS(Halves, a, b);
REEF_FIELDS(Mass, (kg, "kg"));
typedef struct {
    int64_t left;
} Fuel;
REEF_COMPONENT_IN(Fuel, REEF_PAGED);
REEF_SWITCH(Loaded);
REEF_TAG(Steel);
REEF_RELATION(FedBy, REEF_EXCLUSIVE);
REEF_RELATION(Wired);
REEF_RELATION(Twin, REEF_SYMMETRIC | REEF_EXCLUSIVE);

typedef struct turret {
    reef_entity root, barrel, left, right, crew, outside;
} turret;

/* A turret with a barrel and a crew; the barrel has two sights. */
static turret turret_make(reef_world *w, bool prefab)
{
    turret t;
    t.outside = reef_spawn(w, reef_with(Mass, 1));
    t.root = reef_spawn(w, reef_with(Armour, 50, 60), reef_with(Model, 7), reef_tag(Steel));
    t.barrel = reef_spawn(w, reef_with(Length, 3), reef_with(Ammo, 12), reef_tag(Loaded));
    t.left = reef_spawn(w, reef_with(Length, 1), reef_with(Halves, 1, 2));
    t.right = reef_spawn(w, reef_with(Length, 2), reef_with(Halves, 3, 4));
    t.crew = reef_create(w);
    assert_status(REEF_ADDED, reef_relate(w, t.barrel, ChildOf, t.root));
    assert_status(REEF_ADDED, reef_relate(w, t.crew, ChildOf, t.root));
    assert_status(REEF_ADDED, reef_relate(w, t.right, ChildOf, t.barrel));
    assert_status(REEF_ADDED, reef_relate_before(w, t.left, ChildOf, t.barrel, t.right));
    assert_status(REEF_ADDED, reef_relate(w, t.barrel, FedBy, t.crew));
    assert_status(REEF_ADDED, reef_relate(w, t.root, Wired, t.left));
    assert_status(REEF_ADDED, reef_relate(w, t.root, Wired, t.outside));
    assert_status(REEF_ADDED, reef_relate(w, t.left, Twin, t.right));
    assert_status(REEF_ADDED, reef_set(w, t.right, Aim, t.root, {t.outside, t.left}));
    assert_non_null(reef_append(w, t.crew, Warmth, 36));
    assert_non_null(reef_append(w, t.crew, Warmth, 37));
    if (prefab) assert_ok(reef_make_prefab(w, t.root));
    return t;
}

static void empty_entities_become_templates(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[6];
    for (int i = 0; i < 6; i++) assert_some(e[i] = reef_create(w));
    assert_ok(reef_make_prefab(w, e[0])); /* alone, and without a row */
    for (int i = 2; i < 6; i++) assert_status(REEF_ADDED, reef_relate(w, e[i], ChildOf, e[i - 1]));
    assert_ok(reef_add(w, e[3], Awake));
    assert_ok(reef_make_prefab(w, e[1])); /* the first without a row, and others with one */
    assert_valid(w);
    for (int i = 0; i < 6; i++) assert_true(reef_has(w, e[i], ReefPrefab));
    assert_ok(reef_make_prefab(w, e[1])); /* again: nothing changes */
    assert_ok(reef_instantiate(w, e[1], 3, e));
    assert_int_equal(reef_query_count(w, reef_query_new(w, "Awake")), 3);
}

static reef_entity child_of(const reef_world *w, reef_entity e, uint32_t n)
{
    for (reef_sources s = reef_sources_of(w, e, ChildOf); reef_sources_next(&s); n -= s.count)
        if (n < s.count) return s.sources[n];
    return (reef_entity){0, 0};
}

static void check_copy(const reef_world *w, reef_entity root, const turret *t, int32_t armour)
{
    uint32_t n;
    const reef_entity barrel = child_of(w, root, 0), crew = child_of(w, root, 1), left = child_of(w, barrel, 0),
                      right = child_of(w, barrel, 1);
    assert_int_equal(reef_source_count(w, root, ChildOf), 2);
    assert_int_equal(reef_source_count(w, barrel, ChildOf), 2);
    assert_int_equal(reef_get(w, root, Armour)->now, armour);
    assert_int_equal(reef_get(w, root, Model)->mesh, 7);
    assert_true(reef_has(w, root, Steel) && reef_has(w, barrel, Loaded) && !reef_has(w, left, Loaded));
    assert_int_equal(reef_get(w, barrel, Ammo)->rounds, 12);
    assert_true(reef_get(w, left, Length)->metres == 1 && reef_get(w, right, Length)->metres == 2);
    Halves h;
    assert_true(reef_read(w, right, Halves, &h) && h.a == 3 && h.b == 4);
    assert_entity(crew, reef_target(w, barrel, FedBy));
    const Wired *wired = reef_get_all(w, root, Wired, &n);
    assert_int_equal(n, 2);
    assert_entity(left, wired[0].target);
    assert_entity(t->outside, wired[1].target);
    assert_true(reef_related(w, left, Twin, right) && reef_related(w, right, Twin, left));
    const Aim *aim = reef_get(w, right, Aim);
    assert_entity(root, aim->at);
    assert_entity(t->outside, aim->path[0]);
    assert_entity(left, aim->path[1]);
    const Warmth *warm = reef_get_all(w, crew, Warmth, &n);
    assert_true(n == 2 && warm[1].heat == 37);
    assert_entity(t->root, reef_target(w, root, InstanceOf));
    assert_false(reef_has(w, root, ReefPrefab) || reef_has(w, crew, ReefPrefab) || reef_has(w, left, InstanceOf));
}

static void instances_are_whole_copies(void **state)
{
    reef_world *w = world_of(state);
    const turret t = turret_make(w, true);
    reef_entity made[3000];
    assert_ok(reef_instantiate(w, t.root, 3000, made));
    assert_valid(w);
    for (int i = 0; i < 3000; i++) check_copy(w, made[i], &t, 50);
    assert_int_equal(reef_count_alive(w), 6 + 3000 * 5);
    assert_int_equal(reef_source_count(w, t.root, InstanceOf), 3000);
    assert_int_equal(reef_source_count(w, t.outside, Wired), 3001);
    for (int i = 1; i < 3000; i++) assert_int_equal(made[i].index, made[i - 1].index + 1);
    assert_ok(reef_destroy(w, made[7]));
    assert_int_equal(reef_count_alive(w), 6 + 2999 * 5);
    assert_ok(reef_destroy(w, t.root)); /* the copies stay */
    assert_false(reef_has(w, made[0], InstanceOf));
    assert_int_equal(reef_count_alive(w), 1 + 2999 * 5);
}

static void values_replace_those_of_the_root(void **state)
{
    reef_world *w = world_of(state);
    const turret t = turret_make(w, true);
    reef_entity made[4];
    const Mass masses[4] = {{1}, {2}, {3}, {4}};
    assert_ok(reef_instantiate_with(w, t.root, 4, made, reef_with(Armour, 80, 90), reef_array(Mass, masses),
                                    reef_with(ChildOf, .target = t.outside)));
    for (int i = 0; i < 4; i++) {
        check_copy(w, made[i], &t, 80);
        assert_true(reef_get(w, made[i], Mass)->kg == i + 1);
        assert_entity(made[i], child_of(w, t.outside, (uint32_t)i));
    }
    assert_ok(
        reef_instantiate_with(w, t.root, 1, made, reef_without(Steel), reef_without(Model), reef_with(Halves, 5, 6)));
    assert_false(reef_has(w, made[0], Steel) || reef_has(w, made[0], Model));
    Halves h;
    assert_true(reef_read(w, made[0], Halves, &h) && h.b == 6);
    assert_none(reef_parent(w, made[0]));
}

/* The first value of REEF_COLD in the world comes with a copy, and goes with it. */
static void cold_values_die_with_their_copy(void **state)
{
    reef_world *w = world_of(state);
    const reef_entity prefab = reef_create(w);
    reef_entity copy[3];
    const Bounty bounty = {5};
    const reef_value v = {.component = reef_id(Bounty), .kind = REEF_VALUE_ONE, .size = sizeof bounty, .data = &bounty};
    assert_ok(reef_instantiate_values(w, prefab, 3, copy, &v, 1));
    for (int i = 0; i < 3; i++) assert_int_equal(reef_get(w, copy[i], Bounty)->reward, 5);
    assert_ok(reef_destroy(w, copy[1]));
    assert_valid(w);
    assert_int_equal(reef_count(w, Bounty), 2);
}

/* A tag of REEF_COLD has a store, but no value to copy into it. */
static void cold_tags_are_given_to_copies(void **state)
{
    reef_world *w = world_of(state);
    const reef_component rich = reef_type_new(&(reef_type_desc){.name = "Rich", .home = REEF_COLD}, NULL);
    const reef_entity prefab = reef_spawn(w, reef_with(Mass, 1));
    const reef_value v = {.component = rich, .kind = REEF_VALUE_ONE};
    reef_entity copy[3];
    assert_ok(reef_make_prefab(w, prefab));
    assert_ok(reef_instantiate_values(w, prefab, 3, copy, &v, 1));
    assert_valid(w);
    for (int i = 0; i < 3; i++) assert_true(reef_has_id(w, copy[i], rich));
    assert_int_equal(reef_count_id(w, rich), 3);
}

static void templates_are_hidden(void **state)
{
    reef_world *w = world_of(state);
    const reef_query lengths = reef_query_new(w, "in Length"), old = reef_query_new(w, "Armour, ?Mass");
    assert_int_equal(reef_query_count(w, lengths), 0);
    const turret t = turret_make(w, false);
    assert_int_equal(reef_query_count(w, lengths), 3);
    assert_ok(reef_make_prefab(w, t.root));
    assert_int_equal(reef_query_count(w, lengths), 0);
    assert_int_equal(reef_query_count(w, old), 0);
    assert_int_equal(reef_query_count(w, reef_query_new(w, "in Length, ?ReefPrefab")), 3);
    assert_int_equal(reef_query_count(w, reef_query_new(w, "ReefPrefab")), 5);
    assert_int_equal(reef_query_count(w, reef_query_new(w, "in Ammo")), 0);
    assert_int_equal(reef_query_count(w, reef_query_new(w, "Loaded")), 0);
    assert_int_equal(reef_query_count(w, reef_query_new(w, "in Model | in Warmth")), 0);
    assert_false(reef_query_matches(w, lengths, t.barrel));
    assert_ok(reef_instantiate(w, t.root, 2, NULL));
    assert_int_equal(reef_query_count(w, lengths), 6);
    assert_int_equal(reef_query_count(w, reef_query_new(w, "in Model | in Warmth")), 4);
    uint64_t n;
    assert_ok(reef_destroy_where(w, lengths, &n));
    assert_int_equal(n, 6);
    assert_true(reef_is_alive(w, t.barrel));
    /* many tables: a query finds them in one pass */
    for (int i = 0; i < 200; i++) {
        char name[16];
        snprintf(name, sizeof name, "prefab_t%d", i);
        const reef_component c = reef_type_new(&(reef_type_desc){.name = name}, NULL);
        const reef_entity e = reef_spawn(w, reef_with(Length, 1));
        assert_ok(reef_add_id(w, e, c, NULL, NULL));
        if (i % 2) assert_ok(reef_make_prefab(w, e));
    }
    assert_int_equal(reef_query_count(w, reef_query_new(w, "Length, ?Frozen")), 100);
    assert_int_equal(reef_query_count(w, reef_query_new(w, "Length")), 100);
}

static void shared_values_follow_the_template(void **state)
{
    reef_world *w = world_of(state);
    const turret t = turret_make(w, true);
    reef_entity made[3];
    assert_ok(reef_instantiate(w, t.root, 3, made));
    assert_ok(reef_set(w, made[1], Model, 9)); /* its own from now on */
    reef_mut(w, t.root, Model)->mesh = 8;
    assert_int_equal(reef_get(w, made[0], Model)->mesh, 8);
    assert_int_equal(reef_get(w, made[1], Model)->mesh, 9);
    assert_int_equal(reef_get(w, made[2], Model)->mesh, 8);
    reef_world *fork = reef_fork(w);
    assert_non_null(fork);
    reef_mut(fork, t.root, Model)->mesh = 5;
    assert_int_equal(reef_get(fork, made[2], Model)->mesh, 5);
    assert_int_equal(reef_get(w, made[2], Model)->mesh, 8);
    reef_world_free(fork);
}

static void variants_and_nested_prefabs(void **state)
{
    reef_world *w = world_of(state);
    const turret t = turret_make(w, true);
    reef_entity variant, second, tank, made[2];
    assert_ok(reef_instantiate_with(w, t.root, 1, &variant, reef_with(Armour, 200, 200)));
    assert_ok(reef_make_prefab(w, variant));
    assert_ok(reef_instantiate_with(w, variant, 1, &second, reef_with(Mass, 9)));
    assert_ok(reef_make_prefab(w, second));
    assert_ok(reef_instantiate(w, second, 2, made));
    assert_entity(second, reef_target(w, made[0], InstanceOf));
    assert_entity(variant, reef_target(w, second, InstanceOf));
    assert_entity(t.root, reef_target(w, variant, InstanceOf));
    assert_int_equal(reef_get(w, made[1], Armour)->now, 200);
    assert_int_equal(reef_source_count(w, made[1], ChildOf), 2);
    /* a tank with a turret */
    tank = reef_spawn(w, reef_with(Mass, 40));
    reef_entity inner;
    assert_ok(reef_instantiate_with(w, variant, 1, &inner, reef_with(ChildOf, .target = tank)));
    assert_ok(reef_make_prefab(w, tank));
    assert_ok(reef_instantiate(w, tank, 2, made));
    inner = child_of(w, made[1], 0);
    assert_entity(variant, reef_target(w, inner, InstanceOf));
    assert_int_equal(reef_get(w, child_of(w, inner, 0), Ammo)->rounds, 12);
    assert_int_equal(reef_query_count(w, reef_query_new(w, "in Ammo")), 2 + 2);
}

static void clones_of_trees(void **state)
{
    reef_world *w = world_of(state);
    const turret t = turret_make(w, false);
    reef_entity made[2];
    const reef_entity dock = reef_create(w);
    assert_status(REEF_ADDED, reef_relate(w, t.root, ChildOf, dock));
    assert_ok(reef_clone_tree(w, t.root, 2, made));
    assert_entity(dock, reef_parent(w, made[1]));
    assert_false(reef_has(w, made[0], InstanceOf));
    const reef_entity barrel = child_of(w, made[1], 0);
    assert_entity(child_of(w, made[1], 1), reef_target(w, barrel, FedBy));
    /* into the table that is copied from, which grows */
    assert_ok(reef_clone_tree(w, t.root, 2, NULL));
    reef_entity many[2000];
    assert_ok(reef_clone_tree(w, t.left, 2000, many));
    assert_true(reef_get(w, many[1999], Length)->metres == 1);
    /* an empty one; a chain of any depth */
    const reef_entity empty = reef_create(w);
    assert_ok(reef_clone_tree(w, empty, 2, made));
    assert_true(reef_is_alive(w, made[0]) && reef_is_alive(w, made[1]));
    reef_entity last = empty;
    for (int i = 0; i < 20000; i++) {
        const reef_entity next = i % 2 ? reef_create(w) : reef_spawn(w, reef_with(Mass, i));
        assert_status(REEF_ADDED, reef_relate(w, next, ChildOf, last));
        last = next;
    }
    const uint64_t before = reef_count_alive(w);
    assert_ok(reef_clone_tree(w, empty, 1, made));
    assert_int_equal(reef_count_alive(w), before + 20001);
    assert_ok(reef_destroy(w, made[0]));
    assert_int_equal(reef_count_alive(w), before);
}

static void wrong_copies(void **state)
{
    reef_world *w = world_of(state);
    const turret t = turret_make(w, true);
    reef_entity made = {0, 0};
    const reef_entity dead = reef_create(w), null = {0, 0};
    assert_ok(reef_destroy(w, dead));
    assert_refused(w, REEF_NOT_ALIVE, reef_instantiate(w, dead, 1, &made));
    assert_refused(w, REEF_NOT_ALIVE, reef_make_prefab(w, null));
    assert_refused(w, REEF_DUPLICATE_TERM,
                   reef_instantiate_with(w, t.root, 1, &made, reef_with(Mass, 1), reef_with(Mass, 2)));
    assert_refused(w, REEF_NOT_ALIVE, reef_instantiate_with(w, t.root, 1, &made, reef_with(ChildOf, .target = dead)));
    const reef_entity unique = reef_create(w);
    assert_ok(reef_add(w, unique, Unique));
    assert_status(REEF_ADDED, reef_relate(w, unique, ChildOf, t.crew));
    assert_refused(w, REEF_NOT_COPYABLE, reef_instantiate(w, t.root, 1, &made));
    assert_ok(reef_destroy(w, unique));
    const reef_entity tracked = reef_create(w);
    assert_ok(reef_add(w, tracked, Tracked));
    assert_status(REEF_ADDED, reef_relate(w, tracked, ChildOf, t.crew));
    book.fail_copy = 5;
    book.fail_status = REEF_NO_MEMORY;
    assert_refused(w, REEF_NO_MEMORY, reef_instantiate(w, t.root, 10, NULL));
    assert_ok(reef_instantiate(w, t.root, 10, NULL));
    assert_ok(reef_instantiate(w, t.root, 0, NULL));
    assert_none(made);
    const reef_query q = reef_query_new(w, "in Mass");
    reef_block b = reef_begin(w, q);
    assert_refused(w, REEF_LOCKED, reef_make_prefab(w, t.root));
    while (reef_next_block(&b)) {}
}

static void children_keep_their_names(void **state)
{
    reef_world *w = world_of(state);
    const turret t = turret_make(w, true);
    reef_entity made[700];
    assert_ok(reef_set_name(w, t.root, "turret"));
    assert_ok(reef_set_name(w, t.barrel, "barrel"));
    assert_ok(reef_set_name(w, t.left, "left sight"));
    assert_ok(reef_instantiate(w, t.root, 700, made));
    assert_valid(w);
    for (int i = 0; i < 700; i++) {
        assert_entity(child_of(w, made[i], 0), reef_find_below(w, made[i], "barrel"));
        assert_entity(child_of(w, child_of(w, made[i], 0), 0), reef_find_below(w, made[i], "barrel.left sight"));
        assert_null(reef_name(w, made[i]));
    }
    assert_entity(t.left, reef_find(w, "turret.barrel.left sight"));
    assert_ok(reef_clone_tree(w, t.root, 1, made));
    assert_some(reef_find_below(w, made[0], "barrel.left sight"));
}

static reef_entity fleet;
static void launch(reef_block *b)
{
    for (uint32_t i = 0; i < b->count; i++) {
        const reef_entity e = reef_cmd_instantiate_with(b, fleet, reef_with(Mass, (double)i));
        assert_some(e);
        assert_ok(reef_cmd_set(b, e, Length, 9));
        assert_some(reef_cmd_instantiate(b, fleet));
    }
}

static void commands_make_copies(void **state)
{
    reef_world *w = world_of(state);
    const turret t = turret_make(w, true);
    reef_entity e[100];
    assert_ok(reef_spawn_many(w, 100, e, reef_tag(Frozen)));
    fleet = t.root;
    assert_false(reef_system_is_null(reef_system(w, launch, "Frozen; spawns, adds Length")));
    reef_world *fork = reef_fork(w);
    assert_non_null(fork);
    assert_ok(reef_tick(w, 0.1f));
    assert_int_equal(reef_count_alive(w), 106 + 200 * 5);
    assert_int_equal(reef_source_count(w, t.root, InstanceOf), 200);
    reef_pool *pool = reef_pool_new(&(reef_pool_config){.threads = 3});
    assert_ok(reef_set_pool(fork, pool));
    assert_ok(reef_tick(fork, 0.1f));
    assert_int_equal(reef_hash(w), reef_hash(fork));
    reef_world_free(fork);
    reef_pool_free(pool);
    /* in a loop that records, and in one that doesn't */
    reef_block b = reef_begin_loop(w, reef_query_new(w, "Frozen"), &(reef_loop){.deferred = true});
    reef_entity made[2] = {{0, 0}, {0, 0}};
    assert_ok(reef_instantiate_with(w, t.root, 2, made, reef_with(Mass, 3)));
    assert_false(reef_is_alive(w, made[0]));
    while (reef_next_block(&b)) {}
    assert_true(reef_get(w, made[1], Mass)->kg == 3);
    check_copy(w, made[1], &t, 50);
    b = reef_begin(w, reef_query_new(w, "Frozen"));
    assert_refused(w, REEF_LOCKED, reef_instantiate(w, t.root, 1, NULL));
    while (reef_next_block(&b)) {}
}

enum { SHOTS = 9, SHOTS_MADE = 1800 };

/* Templates without children, of which some have more than plain columns. */
static void shots_make(reef_world *w, reef_entity *shot)
{
    const reef_entity outside = reef_spawn(w, reef_with(Mass, 1)), gone = reef_spawn(w, reef_with(Mass, 5));
    for (int i = 0; i < SHOTS; i++) shot[i] = reef_spawn(w, reef_with(Mass, (double)i), reef_with(Length, 9));
    assert_status(REEF_ADDED, reef_set(w, shot[2], Armour, 3, 4));
    assert_ok(reef_remove(w, shot[2], Mass));
    assert_ok(reef_make_prefab(w, shot[0]));
    assert_status(REEF_ADDED, reef_relate(w, shot[0], ChildOf, outside));
    assert_ok(reef_instantiate(w, shot[0], 1, &shot[2]));
    assert_ok(reef_add(w, shot[3], Loaded));
    assert_status(REEF_ADDED, reef_set(w, shot[4], Ammo, 12));
    assert_status(REEF_ADDED, reef_relate(w, shot[5], FedBy, outside));
    assert_ok(reef_disable(w, shot[6], Mass));
    assert_status(REEF_ADDED, reef_set(w, shot[7], Halves, 5, 6));
    assert_status(REEF_ADDED, reef_set(w, shot[6], Model, 8));
    assert_ok(reef_remove_all(w, shot[8]));
    for (int i = 2; i < SHOTS; i++) assert_ok(reef_make_prefab(w, shot[i])); /* number 1 is none */
    assert_ok(reef_destroy(w, gone));
}

/* What has to have the same result, recorded or not: runs of copies of one template, templates in turn, and changes of
 * copies and templates in between. */
static void shots_fire(reef_world *w, const reef_entity *shot, reef_entity *made)
{
    for (uint32_t i = 0; i < SHOTS_MADE; i++) {
        const reef_entity from = shot[i < SHOTS_MADE / 2 ? i / 40 % SHOTS : i * 7 % SHOTS];
        if (i / 7 % 5 == 0) assert_ok(reef_instantiate(w, from, 1, &made[i]));
        if (i / 7 % 5 == 1) assert_ok(reef_instantiate_with(w, from, 1, &made[i], reef_with(Mass, (double)i)));
        if (i / 7 % 5 == 2)
            assert_ok(reef_instantiate_with(w, from, 1, &made[i], reef_default(Length), reef_with(Mass, (double)i)));
        if (i / 7 % 5 == 3)
            assert_ok(reef_instantiate_with(w, from, 1, &made[i], reef_with(Armour, (int)i, 1), reef_tag(Steel)));
        if (i / 7 % 5 == 4)
            assert_ok(reef_instantiate_with(w, from, 1, &made[i], reef_tag(ReefPrefab), reef_with(Length, (float)i)));
        if (i % 90 == 89) assert_true(reef_set(w, made[i - 60], Length, (float)i) >= REEF_OK);
        if (i % 200 == 199) assert_ok(reef_add(w, shot[i / 200], Frozen));
        if (i % 400 == 399) assert_true(reef_relate(w, from, Wired, made[i - 1]) >= REEF_OK);
    }
}

static void recorded_copies_are_those_of_calls(void **state)
{
    reef_world *w = world_of(state);
    reef_entity shot[SHOTS], made[SHOTS_MADE], direct[SHOTS_MADE];
    shots_make(w, shot);
    reef_world *fork = reef_fork(w);
    assert_non_null(fork);
    shots_fire(fork, shot, direct);
    reef_block b = reef_begin_loop(w, reef_query_new(w, "Steel"), &(reef_loop){.deferred = true});
    shots_fire(w, shot, made);
    reef_end(&b);
    assert_valid(w);
    assert_valid(fork);
    for (int i = 0; i < SHOTS_MADE; i++) assert_entity(direct[i], made[i]);
    assert_int_equal(reef_hash(fork), reef_hash(w));
    for (int i = 0; i < SHOTS; i++)
        assert_int_equal(reef_source_count(fork, shot[i], InstanceOf), reef_source_count(w, shot[i], InstanceOf));
    reef_world_free(fork);
}

static reef_entity lost, kept;
static void launch_both(reef_block *b)
{
    const reef_entity none = {0, 0};
    const reef_value wrong = {reef_id(Mass), REEF_VALUE_ONE, 3, "abc"};
    reef_cmd_destroy(b, lost);
    for (uint32_t i = 0; i < b->count; i++) {
        assert_some(reef_cmd_instantiate_with(b, i % 3 == 1 ? lost : kept, reef_with(Mass, (double)i)));
        assert_true(reef_entity_is_null(reef_cmd_instantiate(b, none)));
        assert_true(reef_entity_is_null(reef_cmd_instantiate_values(b, kept, &wrong, 1)));
    }
}

/* Commands that fail leave the others of their run as they are. */
static void commands_of_a_lost_template_fail(void **state)
{
    reef_world *w = world_of(state);
    lost = reef_spawn(w, reef_with(Mass, 1));
    kept = reef_spawn(w, reef_with(Mass, 2));
    assert_ok(reef_make_prefab(w, lost));
    assert_ok(reef_make_prefab(w, kept));
    assert_ok(reef_spawn_many(w, 90, NULL, reef_tag(Frozen)));
    assert_false(reef_system_is_null(reef_system(w, launch_both, "Frozen; spawns, destroys")));
    assert_ok(reef_tick(w, 0.1f));
    assert_int_equal(reef_last_error(w).status, REEF_NOT_ALIVE);
    assert_int_equal(reef_source_count(w, kept, InstanceOf), 60);
    assert_int_equal(reef_count_alive(w), 1 + 90 + 60);
    assert_valid(w);
}

static void launch_without_mass(reef_block *b)
{
    const reef_value mass = {reef_id(Mass), REEF_VALUE_REMOVE, 0, NULL},
                     both[] = {mass, {reef_id(Length), REEF_VALUE_ONE, sizeof(Length), &(Length){3}}};
    for (uint32_t i = 0; i < b->count; i++) {
        assert_some(reef_cmd_instantiate_values(b, kept, &mass, 1));
        assert_some(reef_cmd_instantiate_values(b, kept, both, 2));
    }
}

static void a_command_takes_a_component_away(void **state)
{
    reef_world *w = world_of(state);
    kept = reef_spawn(w, reef_with(Mass, 2), reef_with(Armour, 1, 2));
    assert_ok(reef_make_prefab(w, kept));
    assert_ok(reef_spawn_many(w, 20, NULL, reef_tag(Frozen)));
    assert_false(reef_system_is_null(reef_system(w, launch_without_mass, "Frozen; spawns")));
    assert_ok(reef_tick(w, 0.1f));
    assert_valid(w);
    assert_int_equal(reef_source_count(w, kept, InstanceOf), 40);
    assert_int_equal(reef_count(w, Armour), 41);
    assert_int_equal(reef_count(w, Length), 20);
    assert_int_equal(reef_count(w, Mass), 1);
}

static uint32_t added, matched;
static void on_added(const reef_notice *n) { added += n->count; }
static void on_matched(const reef_notice *n) { matched += n->count; }

static void observers_are_told(void **state)
{
    reef_world *w = world_of(state);
    const turret t = turret_make(w, true);
    added = matched = 0;
    assert_false(reef_observer_is_null(reef_observe(w, on_added, REEF_ON_ADD, Length)));
    assert_false(reef_observer_is_null(reef_observer_new(
        w, &(reef_observer_desc){
               .name = "m", .function = on_matched, .events = REEF_ON_MATCH, .text = "in Length, !Mass"})));
    assert_ok(reef_instantiate(w, t.root, 10, NULL));
    assert_int_equal(added, 30);
    assert_int_equal(matched, 30);
    const turret other = turret_make(w, true); /* who becomes a template is hidden from queries, and not from types */
    assert_int_equal(added, 33);
    assert_int_equal(matched, 33);
    assert_some(other.root);
}

static reef_entity heard[4];
static uint32_t heard_count;
static void hear_template(const reef_notice *n)
{
    for (uint32_t i = 0; i < n->count; i++) heard[heard_count++] = n->entities[i];
}

/* Not in the order in which the tables were made, which nobody can see. */
static void observers_hear_of_templates_in_the_order_of_the_tree(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[4];
    e[2] = reef_spawn(w, reef_with(Length, 1));
    e[0] = reef_spawn(w, reef_with(Armour, 1, 2));
    e[3] = reef_spawn(w, reef_with(Armour, 3, 4));
    e[1] = reef_spawn(w, reef_with(Length, 2));
    for (int i = 1; i < 4; i++) assert_status(REEF_ADDED, reef_relate(w, e[i], ChildOf, e[i - 1]));
    assert_false(reef_observer_is_null(reef_observe(w, hear_template, REEF_ON_ADD, ReefPrefab)));
    heard_count = 0;
    assert_ok(reef_make_prefab(w, e[0]));
    assert_int_equal(heard_count, 4);
    for (int i = 0; i < 4; i++) assert_entity(e[i], heard[i]);
    assert_valid(w);
}

static void links_are_saved(void **state)
{
    reef_world *w = world_of(state), *other = another_world(state, NULL);
    const turret t = turret_make(w, true);
    reef_entity made[2];
    assert_ok(reef_instantiate(w, t.root, 2, made));
    reef_bytes bytes;
    assert_ok(reef_save_bytes(w, &bytes, NULL));
    assert_ok(reef_load_bytes(other, bytes.data, bytes.size, NULL));
    reef_bytes_free(&bytes);
    assert_int_equal(reef_hash(w), reef_hash(other));
    check_copy(other, made[1], &t, 50);
    reef_mut(other, t.root, Model)->mesh = 3;
    assert_int_equal(reef_get(other, made[0], Model)->mesh, 3);
    assert_int_equal(reef_query_count(other, reef_query_new(other, "in Length")), 6);
    reef_entity again;
    assert_ok(reef_instantiate(other, t.root, 1, &again));
    assert_ok(reef_instantiate(w, t.root, 1, &again));
    assert_ok(reef_set(other, t.root, Model, 7));
    reef_mut(w, t.root, Model)->mesh = 7;
    assert_valid(other);
    reef_snapshot *snap = reef_snapshot_take(w);
    assert_ok(reef_instantiate(w, t.root, 50, NULL));
    const uint64_t hash = reef_hash(w);
    assert_ok(reef_restore(w, snap));
    assert_ok(reef_instantiate(w, t.root, 50, NULL));
    assert_int_equal(reef_hash(w), hash);
    reef_snapshot_free(snap);
}

/* An instance hasn't the tag, nor its template's parent, so the marks that these are disabled don't come either. */
static void instances_have_no_mark_without_its_component(void **state)
{
    reef_world *w = world_of(state);
    const reef_entity above = reef_create(w), root = reef_spawn(w, reef_with(Armour, 3, 9)),
                      child = reef_spawn(w, reef_with(Length, 2));
    reef_entity made;
    assert_status(REEF_ADDED, reef_relate(w, root, ChildOf, above));
    assert_status(REEF_ADDED, reef_relate(w, child, ChildOf, root));
    assert_ok(reef_make_prefab(w, root));
    assert_ok(reef_disable(w, root, ReefPrefab));
    assert_ok(reef_disable(w, root, ChildOf));
    assert_ok(reef_disable(w, root, Armour));
    assert_ok(reef_disable(w, child, ReefPrefab));
    assert_ok(reef_disable(w, child, ChildOf));
    assert_ok(reef_instantiate(w, root, 1, &made));
    assert_valid(w);
    assert_false(reef_has(w, made, ReefPrefab));
    assert_false(reef_is_enabled(w, made, Armour)); /* this one does */
    reef_sources s = reef_sources_of(w, made, ChildOf);
    assert_true(reef_sources_next(&s));
    assert_false(reef_is_enabled(w, s.sources[0], ChildOf));
    assert_ok(reef_make_prefab(w, made));
    assert_true(reef_is_enabled(w, made, ReefPrefab));
    assert_status(REEF_ADDED, reef_relate(w, made, ChildOf, above));
    assert_true(reef_is_enabled(w, made, ChildOf));
    /* an instance of an instance is one of another template */
    assert_ok(reef_disable(w, made, InstanceOf));
    assert_ok(reef_instantiate(w, made, 1, &made));
    assert_true(reef_is_enabled(w, made, InstanceOf));
    assert_valid(w);
}

/* A value of the call replaces the first of several, as reef_change does; the others are copied. */
static void values_of_a_call_keep_the_other_values(void **state)
{
    reef_world *w = world_of(state);
    const reef_entity t = reef_spawn(w, reef_with(Warmth, 1), reef_with(Length, 3)), x = reef_create(w),
                      y = reef_create(w);
    assert_non_null(reef_append(w, t, Warmth, 2));
    assert_non_null(reef_append(w, t, Warmth, 3));
    assert_status(REEF_ADDED, reef_relate(w, t, Wired, x));
    assert_status(REEF_ADDED, reef_relate(w, t, Wired, y));
    assert_ok(reef_make_prefab(w, t));
    reef_entity made[3], changed;
    assert_ok(reef_instantiate(w, t, 1, &changed));
    assert_ok(reef_change(w, changed, reef_with(Warmth, 9), reef_with(Wired, .target = t)));
    assert_ok(reef_instantiate_with(w, t, 3, made, reef_with(Warmth, 9), reef_with(Wired, .target = t)));
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t n, wired;
        const reef_entity e = i < 3 ? made[i] : changed;
        const Warmth *v = reef_get_all(w, e, Warmth, &n);
        assert_int_equal(n, 3);
        assert_true(v[0].heat == 9 && v[1].heat == 2 && v[2].heat == 3);
        const Wired *to = reef_get_all(w, e, Wired, &wired);
        assert_int_equal(wired, 2);
        assert_entity(t, to[0].target);
        assert_entity(y, to[1].target);
    }
    assert_int_equal(reef_source_count(w, y, Wired), 5);
    /* one value for each copy; the default; none at all */
    const Warmth heats[3] = {{20}, {21}, {22}};
    assert_ok(reef_instantiate_values(w, t, 3, made,
                                      (reef_value[]){{reef_id(Warmth), REEF_VALUE_ARRAY, sizeof(Warmth), heats}}, 1));
    for (uint32_t i = 0; i < 3; i++) {
        assert_true(reef_get(w, made[i], Warmth)->heat == heats[i].heat);
        assert_int_equal(reef_count_on(w, made[i], Warmth), 3);
    }
    assert_ok(
        reef_instantiate_values(w, t, 1, made, (reef_value[]){{reef_id(Warmth), REEF_VALUE_DEFAULT, 0, NULL}}, 1));
    assert_true(reef_get(w, made[0], Warmth)->heat == 0);
    assert_int_equal(reef_count_on(w, made[0], Warmth), 3);
    assert_ok(reef_instantiate_values(w, t, 1, made, (reef_value[]){{reef_id(Warmth), REEF_VALUE_REMOVE, 0, NULL}}, 1));
    assert_false(reef_has(w, made[0], Warmth));
    /* a second relation to the same target */
    assert_refused(w, REEF_EXISTS, reef_instantiate_with(w, t, 2, made, reef_with(Wired, .target = y)));
    assert_ok(reef_instantiate_with(w, t, 1, made, reef_with(Wired, .target = x)));
    assert_int_equal(reef_count_on(w, made[0], Wired), 2);
    /* the same as commands */
    reef_block b = reef_begin_loop(w, reef_query_new(w, "Length"), &(reef_loop){.deferred = true});
    assert_ok(reef_instantiate_with(w, t, 2, made, reef_with(Warmth, 8)));
    reef_end(&b);
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(reef_count_on(w, made[i], Warmth), 3);
        assert_true(reef_get(w, made[i], Warmth)->heat == 8);
    }
}

/* Two copies of one template, whose entities are visited in the same order. */
static void check_alike(const reef_world *w, reef_entity a, reef_entity b)
{
    reef_walk x = reef_walk_from(w, a, ChildOf), y = reef_walk_from(w, b, ChildOf);
    while (reef_walk_next(&x)) {
        assert_true(reef_walk_next(&y));
        const reef_entity p = x.entity, q = y.entity;
        const Armour *armour = reef_get(w, p, Armour), *armour_b = reef_get(w, q, Armour);
        const Fuel *fuel = reef_get(w, p, Fuel), *fuel_b = reef_get(w, q, Fuel);
        assert_int_equal(x.depth, y.depth);
        assert_true(reef_get(w, p, Length)->metres == reef_get(w, q, Length)->metres);
        assert_int_equal(armour ? armour->now : -1, armour_b ? armour_b->now : -1);
        assert_true((fuel ? fuel->left : -1) == (fuel_b ? fuel_b->left : -1));
        assert_int_equal(reef_has(w, p, Loaded), reef_has(w, q, Loaded));
        assert_int_equal(reef_has(w, p, Steel), reef_has(w, q, Steel));
        assert_int_equal(reef_is_enabled(w, p, Fuel), reef_is_enabled(w, q, Fuel));
        assert_false(reef_has(w, p, ReefPrefab));
        assert_entity(reef_target(w, p, InstanceOf), reef_target(w, q, InstanceOf));
        const reef_entity fed = reef_target(w, p, FedBy), fed_b = reef_target(w, q, FedBy);
        const bool within = reef_is_above(w, a, fed, ChildOf);
        assert_int_equal(within, reef_is_above(w, b, fed_b, ChildOf));
        if (within) assert_true(reef_get(w, fed, Length)->metres == reef_get(w, fed_b, Length)->metres);
        else assert_entity(fed, fed_b);
    }
    assert_false(reef_walk_next(&y));
}

/* One at a time, over the ends of chunks, beside forks, from a template that changes all the time: each copy is what
 * many at once are. */
static void copies_one_by_one(void **state)
{
    reef_world *w = world_of(state), *beside = NULL;
    reef_entity part[5], one, two[2], none = {0, 0};
    const reef_entity outside = reef_spawn(w, reef_with(Length, 100)),
                      car = reef_spawn(w, reef_with(Armour, 5, 6), reef_with(Length, 4), reef_tag(Steel));
    for (int i = 0; i < 5; i++)
        part[i] = reef_spawn(w, reef_with(Length, (float)i), reef_with(Fuel, i), reef_with(ChildOf, .target = car));
    assert_ok(reef_make_prefab(w, car));
    for (int i = 0; i < 1200; i++) {
        const reef_entity changed = part[i % 5];
        switch (i % 11) {
        case 0: reef_mut(w, car, Armour)->now = i; break;
        case 1: reef_mut(w, changed, Fuel)->left = i; break;
        case 2: assert_true(reef_relate(w, changed, FedBy, part[(i + 1) % 5]) >= 0); break;
        case 3: assert_true(reef_relate(w, changed, FedBy, outside) >= 0); break;
        case 4:
            if (!reef_has(w, changed, Loaded)) assert_ok(reef_add(w, changed, Loaded));
            break;
        case 5: assert_true(reef_relate(w, part[1], ChildOf, i & 1 ? part[0] : car) >= 0); break;
        case 6:
            if (reef_has(w, changed, Loaded)) assert_ok(reef_remove(w, changed, Loaded));
            break;
        case 7: assert_true(reef_relate_before(w, part[4], ChildOf, car, i & 1 ? part[3] : none) >= 0); break;
        case 8: assert_true(reef_set(w, changed, Length, (float)i) >= 0); break;
        case 9:
            if (reef_has(w, changed, FedBy)) assert_ok(reef_remove(w, changed, FedBy));
            break;
        default: assert_ok(reef_enable_id(w, changed, reef_id(Fuel), (i / 11) % 40 != 0)); break;
        }
        if (i % 100 == 7) reef_world_free(beside), beside = reef_fork(w);
        assert_ok(reef_instantiate(w, car, 1, &one));
        if (i % 8 && i < 1100) continue;
        assert_ok(reef_instantiate(w, car, 2, two));
        check_alike(w, one, two[0]);
        if (i % 40) continue;
        assert_ok(reef_instantiate_with(w, car, 1, &one, reef_with(Armour, i, 1)));
        assert_int_equal(reef_get(w, one, Armour)->now, i);
        reef_mut(w, one, Armour)->now = reef_get(w, car, Armour)->now;
        check_alike(w, one, two[1]);
    }
    assert_valid(w);
    assert_valid(beside);
    reef_world_free(beside);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(copies_one_by_one),
        TEST(instances_are_whole_copies),
        TEST(values_replace_those_of_the_root),
        TEST(cold_values_die_with_their_copy),
        TEST(cold_tags_are_given_to_copies),
        TEST(templates_are_hidden),
        TEST(shared_values_follow_the_template),
        TEST(variants_and_nested_prefabs),
        TEST(clones_of_trees),
        TEST(empty_entities_become_templates),
        TEST(children_keep_their_names),
        TEST(values_of_a_call_keep_the_other_values),
        TEST(commands_make_copies),
        TEST(recorded_copies_are_those_of_calls),
        TEST(commands_of_a_lost_template_fail),
        TEST(a_command_takes_a_component_away),
        TEST(wrong_copies),
        TEST(observers_are_told),
        TEST(observers_hear_of_templates_in_the_order_of_the_tree),
        TEST(links_are_saved),
        TEST(instances_have_no_mark_without_its_component),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
