/* Hierarchies: the relation ChildOf, which is always there. */
#include "support.h"

#include "load_checks.h"

typedef struct {
    float x, y;
} Place;
REEF_COMPONENT(Place);
REEF_FIELDS(Place, x, y);

static void child_of_is_exclusive_acyclic_cascading_and_ordered(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[5];
    for (uint32_t i = 0; i < 5; i++) assert_some(e[i] = i % 2 ? reef_create(w) : reef_spawn(w, reef_with(Place, 1, 2)));
    assert_none(reef_parent(w, e[0]));
    for (uint32_t i = 1; i < 4; i++) assert_status(REEF_ADDED, reef_relate(w, e[i], ChildOf, e[0]));
    assert_ok(reef_relate_before(w, e[3], ChildOf, e[0], e[1]));
    reef_sources s = reef_sources_of(w, e[0], ChildOf);
    assert_true(reef_sources_next(&s));
    assert_int_equal(s.count, 3);
    assert_entity(e[3], s.sources[0]);
    assert_entity(e[1], s.sources[1]);
    assert_entity(e[2], s.sources[2]);
    assert_refused(w, REEF_CYCLE, reef_relate(w, e[0], ChildOf, e[0]));
    assert_status(REEF_ADDED, reef_relate(w, e[2], ChildOf, e[1])); /* instead of e[0] */
    assert_entity(e[1], reef_parent(w, e[2]));
    assert_refused(w, REEF_CYCLE, reef_relate(w, e[0], ChildOf, e[2]));
    assert_status(REEF_ADDED, reef_set(w, e[4], ChildOf, .target = e[2])); /* it is a component like any other */
    assert_entity(e[2], reef_parent(w, e[4]));
    assert_ok(reef_destroy(w, e[1]));
    assert_true(reef_is_alive(w, e[0]) && reef_is_alive(w, e[3]));
    for (int i = 1; i < 5; i++) assert_int_equal(reef_is_alive(w, e[i]), i == 3);
    assert_none(reef_parent(w, e[4]));
    assert_none(reef_parent(NULL, e[3]));
    assert_valid(w);
}

/* ---- children that are spawned one by one ----
 *
 * reef_spawn with a relation has a straight path, which reef_spawn_many hasn't: the same calls by both give the same
 * world. */

REEF_RELATION(Mends, REEF_EXCLUSIVE);
typedef struct {
    int32_t metres;
} Rope;
REEF_COMPONENT(Rope);
REEF_RELATION_OF(TiedTo, Rope, REEF_EXCLUSIVE | REEF_ACYCLIC);

static reef_entity spawn_by(reef_world *w, bool many, const reef_value *values, uint32_t count)
{
    reef_entity e = {0, 0};
    if (many) (void)reef_spawn_many_values(w, 1, &e, values, count);
    else e = reef_spawn_values(w, values, count);
    return e;
}

static uint64_t notices;
static void hear_children(const reef_notice *n)
{
    for (uint32_t i = 0; i < n->count; i++)
        notices = notices * 31 + reef_entity_bits(n->entities[i]) + (n->targets ? n->targets[i].index : 0);
}

/* Step i makes one entity, or changes something beside. */
static void spawn_step(reef_world *w, bool many, reef_entity *e, uint32_t *n, uint32_t i, reef_world **beside)
{
    const uint32_t some = i * 7919u % *n;
    const Place at = {(float)i, 1};
    const ChildOf parent = {.target = e[some]};
    const Mends mended = {.target = e[i % *n]};
    const TiedTo said = {.target = e[(some + i) % *n], .data = {(int32_t)i}};
    TiedTo tied;
    memset((void *)&tied, 0, sizeof tied); /* the digest sees the padding behind the data */
    memcpy((void *)&tied, &said, offsetof(TiedTo, data) + sizeof said.data);
    const reef_value values[] = {
        reef_value_make(reef_id(Place), REEF_VALUE_ONE, sizeof at, &at),
        reef_value_make(reef_id(ChildOf), REEF_VALUE_ONE, sizeof parent, &parent),
        reef_value_make(reef_id(TiedTo), REEF_VALUE_ONE, sizeof tied, &tied),
        reef_value_make(reef_id(Mends), REEF_VALUE_ONE, sizeof mended, &mended),
        reef_value_make(reef_id(Place), REEF_VALUE_ONE, sizeof at, &at),
    };
    reef_entity made = {0, 0};
    switch (i % 16) {
    case 3: made = spawn_by(w, many, values, 3); break;
    case 5: made = spawn_by(w, many, values + 1, 2); break;
    case 6: made = spawn_by(w, many, values, 4); break;
    case 7: made = spawn_by(w, many, values + 1, 1); break;
    case 8: assert_none(spawn_by(w, many, values, 5)); break; /* one type twice */
    case 9: (void)reef_destroy(w, e[*n - 1]); break;
    case 11:
        if (reef_is_alive(w, e[some])) (void)reef_disable(w, e[some], Place);
        break;
    default: made = spawn_by(w, many, values, 2); break;
    }
    if (made.generation) e[(*n)++] = made;
    if (i % 150 == 149) reef_world_free(*beside), *beside = reef_fork(w);
}

static void children_one_by_one(void **state)
{
    static reef_entity e[2][3000];
    for (int watched = 0; watched < 3; watched++) {
        uint64_t heard[2] = {0, 0}, digests[2], hashes[2];
        for (int many = 0; many < 2; many++) {
            reef_world *w = another_world(state, NULL), *beside = NULL;
            uint32_t n = 1;
            notices = 0;
            e[many][0] = reef_spawn(w, reef_with(Place, 0, 0));
            if (watched == 1) assert_false(reef_observer_is_null(reef_observe(w, hear_children, REEF_ON_ADD, Mends)));
            if (watched == 2) assert_ok(reef_set_name(w, e[many][0], "root"));
            for (uint32_t i = 1; i < 2500; i++) spawn_step(w, many, e[many], &n, i, &beside);
            heard[many] = notices;
            digests[many] = digest(w);
            hashes[many] = reef_hash(w);
            assert_true(n > 1500);
            assert_valid(w);
            assert_valid(beside);
            reef_world_free(beside);
        }
        assert_int_equal(digests[0], digests[1]);
        assert_int_equal(hashes[0], hashes[1]);
        assert_int_equal(heard[0], heard[1]);
        assert_true((heard[0] != 0) == (watched == 1));
    }
}

/* ---- up and down ---- */

REEF_RELATION(Above, REEF_EXCLUSIVE | REEF_ACYCLIC); /* any such type is a tree */
REEF_RELATION(Near);

static void up_from_an_entity(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[8];
    for (int i = 0; i < 8; i++) assert_some(e[i] = reef_create(w));
    static const int parent[8] = {-1, 0, 0, 1, 1, 4, 2, -1};
    for (int i = 0; i < 8; i++)
        if (parent[i] >= 0) assert_status(REEF_ADDED, reef_relate(w, e[i], Above, e[parent[i]]));
    static const uint32_t depth[8] = {0, 1, 1, 2, 2, 3, 2, 0};
    for (int i = 0; i < 8; i++) {
        assert_int_equal(reef_depth(w, e[i], Above), depth[i]);
        assert_entity(i < 7 ? e[0] : e[7], reef_root(w, e[i], Above));
        for (int k = 0; k < 8; k++) {
            int a = i, b = k, above = parent[k];
            while (above >= 0 && above != i) above = parent[above];
            assert_int_equal(reef_is_above(w, e[i], e[k], Above), above == i);
            while (a != b && a >= 0 && b >= 0) {
                if (depth[a] >= depth[b]) a = parent[a];
                else b = parent[b];
            }
            const reef_entity both = a == b ? e[a] : (reef_entity){0, 0};
            assert_true(reef_entity_equal(both, reef_common_ancestor(w, e[i], e[k], Above)));
        }
    }
    assert_ok(reef_destroy(w, e[5]));
    assert_int_equal(reef_depth(w, e[5], Above), 0);
    assert_none(reef_root(w, e[5], Above));
    assert_none(reef_common_ancestor(w, e[5], e[1], Above));
    assert_none(reef_common_ancestor(w, e[1], e[5], Above));
    const reef_entity none = {0, 0};
    assert_false(reef_is_above(w, e[0], e[5], Above) || reef_is_above(w, none, e[1], Above));
    assert_int_equal(reef_depth(w, e[3], Near) + reef_depth(w, e[3], Place) + reef_depth(NULL, e[3], Above), 0);
    assert_none(reef_root(w, e[3], Near));
}

static void walks(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[9], list[9];
    static const int parent[9] = {-1, 0, 0, 1, 1, 2, 4, 4, -1};
    static const int pre[] = {0, 1, 3, 4, 6, 7, 2, 5}, level[] = {1, 2, 3, 4, 5, 6, 7};
    static const int both[] = {0, 1, 3, 3, 4, 6, 6, 7, 7, 4, 1, 2, 5, 5, 2, 0};
    static const uint32_t depths[] = {0, 1, 2, 2, 3, 3, 1, 2};
    for (int i = 0; i < 9; i++) assert_some(e[i] = reef_create(w));
    for (int i = 0; i < 9; i++)
        if (parent[i] >= 0) assert_status(REEF_ADDED, reef_relate(w, e[i], ChildOf, e[parent[i]]));
    uint32_t n = 0;
    for (reef_walk x = reef_walk_from(w, e[0], ChildOf); reef_walk_next(&x); n++) {
        assert_entity(e[pre[n]], x.entity);
        assert_int_equal(x.depth, depths[n]);
        assert_false(x.leaving);
    }
    assert_int_equal(n, 8);
    reef_walk y = reef_walk_from(w, e[0], ChildOf);
    y.leaves = true;
    for (n = 0; reef_walk_next(&y); n++) {
        assert_entity(e[both[n]], y.entity);
        int before = 0;
        for (uint32_t i = 0; i < n; i++) before += both[i] == both[n];
        assert_int_equal(y.leaving, before);
    }
    assert_int_equal(n, 16);
    assert_false(reef_walk_next(&y));
    n = 0; /* below an entity in the middle, and nothing below e[4] */
    for (reef_walk x = reef_walk_from(w, e[1], ChildOf); reef_walk_next(&x); n++) {
        assert_entity(n == 0 ? e[1] : n == 1 ? e[3] : e[4], x.entity);
        x.skip = n == 2;
    }
    assert_int_equal(n, 3);
    for (uint64_t room = 0; room < 9; room++) {
        memset(list, 0, sizeof list);
        assert_int_equal(reef_descendants(w, e[0], ChildOf, list, room), 7);
        for (uint64_t i = 0; i < 9; i++) assert_int_equal(list[i].index, i < room && i < 7 ? e[level[i]].index : 0);
    }
    assert_int_equal(reef_descendants(w, e[0], ChildOf, NULL, 9), 7);
    assert_int_equal(reef_descendants(w, e[8], ChildOf, list, 9), 0);
    assert_int_equal(reef_descendants(w, e[0], Near, list, 9), 0);
    /* the world changes on the way: what the walk left is destroyed, what comes is found */
    n = 0;
    for (reef_walk x = reef_walk_from(w, e[0], ChildOf); reef_walk_next(&x); n++) {
        if (reef_entity_equal(x.entity, e[2])) assert_ok(reef_destroy(w, e[1]));
        if (reef_entity_equal(x.entity, e[5])) assert_status(REEF_ADDED, reef_relate(w, e[8], ChildOf, e[5]));
    }
    assert_int_equal(n, 9);
    reef_walk x = reef_walk_from(w, e[0], ChildOf);
    assert_true(reef_walk_next(&x) && reef_walk_next(&x));
    assert_ok(reef_destroy(w, x.entity));
    assert_false(reef_walk_next(&x)); /* where the walk is, nobody is */
    x = reef_walk_from(w, e[1], ChildOf);
    assert_false(reef_walk_next(&x) || reef_walk_next(NULL));
}

/* Nothing recurses, and nothing takes longer than linear time: a chain of a million. */
static void a_chain_a_million_deep(void **state)
{
    enum { DEEP = 1000000 };
    reef_world *w = world_of(state), *other = another_world(state, NULL);
    reef_entity *e = malloc(DEEP * sizeof *e), *list = malloc(DEEP * sizeof *list);
    assert_int_equal(reef_spawn_many(w, DEEP, e, reef_with(Place, 1, 2)), 0);
    for (int i = 1; i < DEEP / 2; i++)
        assert_status(REEF_ADDED, reef_relate(w, e[i], ChildOf, e[i - 1])); /* downwards */
    for (int i = DEEP - 1; i > DEEP / 2; i--) assert_status(REEF_ADDED, reef_relate(w, e[i], ChildOf, e[i - 1]));
    assert_status(REEF_ADDED, reef_relate(w, e[DEEP / 2], ChildOf, e[DEEP / 2 - 1]));
    assert_refused(w, REEF_CYCLE, reef_relate(w, e[0], ChildOf, e[DEEP - 1]));
    assert_int_equal(reef_depth(w, e[DEEP - 1], ChildOf), DEEP - 1);
    assert_entity(e[0], reef_root(w, e[DEEP - 1], ChildOf));
    uint64_t n = 0;
    reef_walk x = reef_walk_from(w, e[0], ChildOf);
    for (x.leaves = true; reef_walk_next(&x); n++)
        if (!reef_entity_equal(x.entity, e[n < DEEP ? n : 2 * DEEP - 1 - n])) break;
    assert_int_equal(n, 2 * DEEP);
    assert_int_equal(reef_descendants(w, e[0], ChildOf, list, DEEP), DEEP - 1);
    assert_memory_equal(list, e + 1, (DEEP - 1) * sizeof *e);
    reef_bytes bytes = saved(w, false);
    load(other, bytes);
    reef_bytes_free(&bytes);
    assert_same(w, other);
    assert_int_equal(reef_depth(other, e[DEEP - 1], ChildOf), DEEP - 1);
    assert_ok(reef_destroy(other, e[0]));
    assert_int_equal(reef_count_alive(other), 0);
    assert_valid(other);
    assert_ok(reef_destroy(w, e[1]));
    assert_int_equal(reef_count_alive(w), 1);
    free(e);
    free(list);
}

/* Two states that are trees each, and a difference that would make a circle of them. */
static void a_difference_that_leads_round_in_a_circle(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[3];
    for (int i = 0; i < 3; i++) assert_some(e[i] = reef_spawn(w, reef_with(Place, 1, 2)));
    for (int i = 0; i < 2; i++) assert_status(REEF_ADDED, reef_relate(w, e[i], ChildOf, e[2]));
    reef_world *before = reef_fork(w), *after = reef_fork(w);
    assert_status(REEF_ADDED, reef_relate(after, e[1], ChildOf, e[0]));
    assert_status(REEF_ADDED, reef_relate(w, e[0], ChildOf, e[1]));
    const uint64_t hash = reef_hash(w);
    reef_bytes bytes;
    assert_ok(reef_diff_bytes(before, after, &bytes, NULL));
    assert_status(REEF_CORRUPT, reef_diff_apply(w, bytes.data, bytes.size));
    assert_true(reef_hash(w) == hash);
    assert_valid(w);
    assert_entity(e[2], reef_root(w, e[0], ChildOf));
    reef_bytes_free(&bytes);
    reef_world_free(before);
    reef_world_free(after);
}

/* ---- names ---- */

static reef_entity part_of(reef_world *w, reef_entity parent, const char *name)
{
    const reef_entity e = reef_create(w);
    assert_some(e);
    if (!reef_entity_is_null(parent)) assert_status(REEF_ADDED, reef_relate(w, e, ChildOf, parent));
    assert_ok(reef_set_name(w, e, name));
    return e;
}

static void assert_path_at(const reef_world *w, const char *path, reef_entity e, int line)
{
    char text[200];
    const size_t length = reef_path(w, e, text, sizeof text);
    if (length != strlen(path) || strcmp(text, path) != 0) fail_msg("line %d: %s instead of %s", line, text, path);
    if (!reef_entity_equal(reef_find(w, path), e)) fail_msg("line %d: %s isn't found", line, path);
}
#define assert_path(w, path, e) assert_path_at(w, path, e, __LINE__)

static void names_are_unique_within_their_parent(void **state)
{
    reef_world *w = world_of(state);
    const reef_entity none = {0, 0}, ship = part_of(w, none, "ship"), dock = part_of(w, none, "dock");
    const reef_entity turret = part_of(w, ship, "turret"), barrel = part_of(w, turret, "barrel");
    const reef_entity spare = part_of(w, dock, "turret"), spare_barrel = part_of(w, spare, "barrel");
    assert_path(w, "ship.turret.barrel", barrel);
    assert_path(w, "dock.turret.barrel", spare_barrel);
    assert_path(w, "ship", ship);
    assert_string_equal(reef_name(w, barrel), "barrel");
    assert_entity(barrel, reef_find_below(w, ship, "turret.barrel"));
    assert_entity(barrel, reef_find_below(w, turret, "barrel"));
    assert_entity(ship, reef_find_below(w, none, "ship"));
    assert_none(reef_find_below(w, barrel, "barrel"));
    static const char *const nobody[] = {"turret", "barrel",       "ship.barrel",  "ship.turret.barrel.x",
                                         "ship.",  ".ship",        "ship..turret", "",
                                         ".",      "ship.turret.", "dock.ship"};
    for (size_t i = 0; i < sizeof nobody / sizeof *nobody; i++) {
        assert_none(reef_find(w, nobody[i]));
        assert_none(reef_find_below(w, ship, nobody[i]).generation ? reef_find(w, nobody[i]) : none);
    }
    /* renaming */
    const reef_entity second = part_of(w, ship, "second");
    assert_refused(w, REEF_NAME_TAKEN, reef_set_name(w, second, "turret"));
    assert_entity(turret, reef_last_error(w).entity);
    assert_refused(w, REEF_BAD_TEXT, reef_set_name(w, second, "a.b")); /* a child's name is one part */
    assert_path(w, "ship.second", second);
    assert_ok(reef_set_name(w, ship, "boat")); /* all paths below it change */
    assert_path(w, "boat.turret.barrel", barrel);
    assert_none(reef_find(w, "ship.turret.barrel"));
    /* another parent */
    const uint64_t hash = reef_hash(w);
    assert_refused(w, REEF_NAME_TAKEN, reef_relate(w, spare, ChildOf, ship));
    assert_refused(w, REEF_NAME_TAKEN, reef_relate_before(w, spare, ChildOf, ship, second));
    assert_refused(w, REEF_NAME_TAKEN, reef_set(w, spare, ChildOf, .target = ship));
    assert_refused(w, REEF_NAME_TAKEN, reef_retarget(w, spare, ChildOf, dock, ship));
    assert_true(hash == reef_hash(w));
    assert_path(w, "dock.turret.barrel", spare_barrel);
    assert_ok(reef_set_name(w, spare, "reserve"));
    assert_status(REEF_ADDED, reef_relate(w, spare, ChildOf, ship));
    assert_path(w, "boat.reserve.barrel", spare_barrel);
    /* none any more */
    assert_status(REEF_OK, reef_relate_before(w, spare, ChildOf, ship, second)); /* in its place among the siblings */
    assert_path(w, "boat.reserve.barrel", spare_barrel);
    assert_ok(reef_unrelate(w, spare, ChildOf, ship));
    assert_path(w, "reserve.barrel", spare_barrel);
    assert_ok(reef_set_name(w, second, "reserve"));
    assert_refused(w, REEF_NAME_TAKEN, reef_unrelate(w, second, ChildOf, ship));
    assert_path(w, "boat.reserve", second);
    assert_ok(reef_remove(w, second, ChildOf)); /* what takes the relation as a component takes the name, too */
    assert_null(reef_name(w, second));
    assert_path(w, "reserve.barrel", spare_barrel);
    assert_ok(reef_set_name(w, second, "a.b"));
    assert_refused(w, REEF_BAD_TEXT, reef_relate(w, second, ChildOf, ship));
    assert_ok(reef_set_name(w, second, NULL));
    assert_status(REEF_ADDED, reef_relate(w, second, ChildOf, ship));
    assert_int_equal(reef_path(w, second, NULL, 0), 0);
    assert_valid(w);
    assert_ok(reef_destroy(w, ship));
    assert_none(reef_find(w, "boat.turret.barrel"));
    assert_int_equal(reef_world_stats(w).names, 3);
    assert_valid(w);
}

static void paths_of_any_length(void **state)
{
    reef_world *w = world_of(state);
    const reef_entity dotted = part_of(w, (reef_entity){0, 0}, "a.b");
    const reef_entity c = part_of(w, dotted, "c"), a = part_of(w, (reef_entity){0, 0}, "a"), b = part_of(w, a, "b");
    assert_entity(dotted, reef_find(w, "a.b")); /* the longest name of an entity without a parent comes first */
    assert_entity(b, reef_find_below(w, a, "b"));
    assert_entity(c, reef_find(w, "a.b.c"));
    const reef_entity d = part_of(w, b, "d");
    assert_entity(d, reef_find(w, "a.b.d")); /* and then the others */
    reef_entity e = d;
    for (int i = 0; i < 1000; i++) e = part_of(w, e, "again");
    static char text[8000], cut[100];
    const size_t length = reef_path(w, e, text, sizeof text);
    assert_int_equal(length, strlen("a.b.d") + 1000 * strlen(".again"));
    assert_int_equal(strlen(text), length);
    assert_entity(e, reef_find(w, text));
    for (size_t size = 0; size <= sizeof cut; size++) { /* as snprintf */
        memset(cut, '?', sizeof cut);
        assert_int_equal(reef_path(w, e, cut, size), length);
        if (size) assert_true(strlen(cut) == size - 1 && memcmp(cut, text, size - 1) == 0);
        for (size_t i = size; i < sizeof cut; i++) assert_int_equal(cut[i], '?');
    }
    assert_int_equal(reef_path(NULL, e, NULL, 0), 0);
    assert_none(reef_find_below(NULL, a, "b"));
    assert_none(reef_find_below(w, a, NULL));
    assert_int_equal(reef_path(w, (reef_entity){0, 0}, text, sizeof text), 0);
    assert_string_equal(text, "");
    assert_valid(w);
}

/* Names, parents and lives at random against plain tables; the world is forked, restored, saved, changed by a
 * difference and merged on the way. */
enum { FOLK = 60, NAMES = 12 };
typedef struct tree {
    int parent[FOLK], name[FOLK]; /* -1: none */
    bool alive[FOLK];
} tree;

static bool tree_above(const tree *t, int a, int b) /* is a b or above it? */
{
    for (; b >= 0; b = t->parent[b])
        if (a == b) return true;
    return false;
}
static int tree_owner(const tree *t, int parent, int name)
{
    for (int i = 0; i < FOLK; i++)
        if (t->alive[i] && t->parent[i] == parent && t->name[i] == name) return i;
    return -1;
}
static void tree_kill(tree *t, int i)
{
    t->alive[i] = false;
    for (int k = 0; k < FOLK; k++)
        if (t->alive[k] && t->parent[k] == i) tree_kill(t, k);
    t->parent[i] = t->name[i] = -1;
}
static reef_entity one_of(const reef_entity *e, int i) { return i < 0 ? (reef_entity){0, 0} : e[i]; }
static void name_of(char *text, int name) { snprintf(text, 16, "name%d", name); }

static void tree_step(reef_world *w, tree *t, reef_entity *e, uint64_t *seed)
{
    char text[16];
    const int i = (int)random_below(seed, FOLK), k = (int)random_below(seed, FOLK), n = (int)random_below(seed, NAMES);
    const uint32_t what = random_below(seed, 20);
    if (!t->alive[i]) {
        e[i] = what % 2 ? reef_create(w) : reef_spawn(w, reef_with(Place, 1, 2));
        assert_some(e[i]);
        t->alive[i] = true;
        t->parent[i] = t->name[i] = -1;
    } else if (what < 7) {
        const int owner = tree_owner(t, t->parent[i], n);
        name_of(text, n);
        assert_status(owner < 0 || owner == i ? REEF_OK : REEF_NAME_TAKEN, reef_set_name(w, e[i], text));
        if (owner < 0) t->name[i] = n;
    } else if (what < 15 && t->alive[k]) {
        const int owner = t->name[i] < 0 ? -1 : tree_owner(t, k, t->name[i]);
        const reef_status want = owner >= 0 && owner != i ? REEF_NAME_TAKEN
                                 : t->parent[i] == k      ? REEF_OK
                                 : tree_above(t, i, k)    ? REEF_CYCLE
                                                          : REEF_ADDED;
        if (what % 2) assert_status(want, reef_relate(w, e[i], ChildOf, e[k]));
        else assert_true((want < 0) == (reef_set(w, e[i], ChildOf, .target = e[k]) < 0));
        if (want >= 0) t->parent[i] = k;
    } else if (what < 18 && t->parent[i] >= 0) {
        const bool taken = t->name[i] >= 0 && tree_owner(t, -1, t->name[i]) >= 0;
        if (what == 15) {
            assert_status(taken ? REEF_NAME_TAKEN : REEF_OK, reef_unrelate(w, e[i], ChildOf, e[t->parent[i]]));
            if (taken) return;
        } else {
            assert_ok(reef_remove(w, e[i], ChildOf));
            if (taken) t->name[i] = -1;
        }
        t->parent[i] = -1;
    } else if (what == 18) {
        assert_ok(reef_set_name(w, e[i], NULL));
        t->name[i] = -1;
    } else if (what == 19) {
        assert_ok(reef_destroy(w, e[i]));
        tree_kill(t, i);
    }
}

static void tree_check(const reef_world *w, const tree *t, const reef_entity *e)
{
    char text[16];
    for (int i = 0; i < FOLK; i++) {
        assert_int_equal(t->alive[i], reef_is_alive(w, e[i]));
        if (!t->alive[i]) continue;
        assert_entity(one_of(e, t->parent[i]), reef_parent(w, e[i]));
        const char *name = reef_name(w, e[i]);
        name_of(text, t->name[i]);
        if (t->name[i] < 0) assert_null(name);
        else assert_string_equal(text, name);
    }
    for (int i = -1; i < FOLK; i++)
        for (int n = 0; n < NAMES; n++) {
            const int owner = tree_owner(t, i, n);
            name_of(text, n);
            if (i >= 0 && !t->alive[i]) continue;
            assert_entity(one_of(e, owner), reef_find_below(w, one_of(e, i), text));
        }
    assert_valid((reef_world *)(uintptr_t)w);
}

static void a_random_life_of_names_in_a_tree(void **state)
{
    reef_world *w = world_of(state), *other = another_world(state, NULL);
    tree t, was;
    reef_entity e[FOLK] = {{0, 0}}, were[FOLK], are[FOLK];
    uint64_t seed = 77;
    for (int i = 0; i < FOLK; i++) t.parent[i] = t.name[i] = -1, t.alive[i] = false;
    for (int round = 0; round < 150; round++) {
        reef_world *before = reef_fork(w);
        reef_snapshot *s = reef_snapshot_take(w);
        was = t;
        memcpy(were, e, sizeof e);
        for (int i = 0; i < 60; i++) tree_step(w, &t, e, &seed);
        tree_check(w, &t, e);
        tree_check(before, &was, were);
        reef_bytes forth, back;
        assert_ok(reef_diff_bytes(before, w, &forth, &(reef_save_desc){.sealed = true}));
        assert_ok(reef_diff_bytes(w, before, &back, &(reef_save_desc){.sealed = true}));
        assert_ok(reef_diff_apply(before, forth.data, forth.size));
        tree_check(before, &t, e);
        assert_ok(reef_diff_apply(before, back.data, back.size));
        tree_check(before, &was, were);
        reef_bytes_free(&forth);
        reef_bytes_free(&back);
        reef_world_free(before);
        if (round % 3 == 0) {
            reef_bytes bytes = saved(w, false);
            load(other, bytes);
            reef_bytes_free(&bytes);
            assert_same(w, other);
            tree_check(other, &t, e);
            const tree now = t;
            memcpy(are, e, sizeof e);
            for (uint64_t own = seed, k = 0; k < 60; k++) tree_step(other, &t, e, &own); /* it goes on */
            tree_check(other, &t, e);
            t = now;
            memcpy(e, are, sizeof e);
            assert_ok(reef_world_clear(other));
        }
        if (round % 5 == 0) {
            reef_merged *who = NULL;
            reef_entity n[FOLK];
            assert_ok(reef_merge(other, w, NULL, &who));
            for (int i = 0; i < FOLK; i++) n[i] = t.alive[i] ? reef_merged_find(who, e[i]) : (reef_entity){0, 0};
            reef_merged_free(who);
            tree_check(other, &t, n);
            assert_ok(reef_world_clear(other));
        }
        if (round % 4 == 3) {
            assert_ok(reef_restore(w, s));
            t = was;
            memcpy(e, were, sizeof e);
            tree_check(w, &t, e);
        }
        reef_snapshot_free(s);
    }
}

/* Whoever comes without its parent, by a file or a merge of some, has no parent; of two with the same name then, the
 * one with the smaller index keeps it. */
static void names_of_those_who_come_without_their_parent(void **state)
{
    reef_world *w = world_of(state), *other = another_world(state, NULL);
    const reef_entity none = {0, 0}, a = part_of(w, none, "a"), b = part_of(w, none, "b"), ax = part_of(w, a, "x"),
                      bx = part_of(w, b, "x"), by = part_of(w, b, "y");
    assert_status(REEF_ADDED, reef_set(w, ax, Place, 1, 2));
    assert_status(REEF_ADDED, reef_set(w, bx, Place, 1, 2));
    assert_status(REEF_ADDED, reef_set(w, by, Place, 1, 2));
    reef_bytes bytes;
    assert_ok(reef_save_bytes(w, &bytes, &(reef_save_desc){.query = "Place"}));
    load(other, bytes);
    reef_bytes_free(&bytes);
    assert_entity(ax, reef_find(other, "x"));
    assert_entity(by, reef_find(other, "y"));
    assert_int_equal(reef_world_stats(other).names, 2);
    reef_world *third = another_world(state, NULL);
    reef_merged *who = NULL;
    assert_status(REEF_NAME_TAKEN, reef_merge(third, w, &(reef_merge_desc){.query = "Place"}, &who));
    assert_int_equal(reef_count_alive(third), 0);
    assert_ok(reef_merge(third, w, &(reef_merge_desc){.query = "Place", .drop_names = true}, &who));
    assert_entity(reef_merged_find(who, ax), reef_find(third, "x"));
    assert_null(reef_name(third, reef_merged_find(who, bx)));
    reef_merged_free(who);
    assert_valid(third);
    /* all at once: the first one in the visible order keeps its name */
    assert_ok(remove_everywhere(w, reef_id(ChildOf), NULL));
    assert_int_equal(reef_world_stats(w).names, 4);
    assert_some(reef_find(w, "x"));
    assert_valid(w);
}

/* Where there is no memory to keep the index of names, an entity that loses its parent still gives up a name that is
 * taken. */
static void names_stay_unique_after_memory_ran_out(void **state)
{
    heap *h = heap_of(state);
    bool refused = true;
    for (uint64_t n = 1; refused; n++) {
        reef_world *w = another_world(state, NULL);
        reef_entity e[5]; /* two parents, a child of each with the same name, and one that moves */
        for (int i = 0; i < 5; i++) e[i] = reef_create(w);
        for (int i = 2; i < 5; i++) assert_status(REEF_ADDED, reef_relate(w, e[i], ChildOf, e[i % 2]));
        assert_ok(reef_set_name(w, e[2], "n"));
        assert_ok(reef_set_name(w, e[3], "n"));
        assert_ok(reef_set_name(w, e[4], "moves"));
        reef_world *fork = reef_fork(w);
        assert_non_null(fork);
        heap_fail_nth(h, n, true);
        (void)reef_relate(w, e[4], ChildOf, e[1]);
        refused = h->refused != 0;
        heap_fail_never(h);
        assert_ok(reef_remove(w, e[2], ChildOf));
        assert_ok(reef_remove(w, e[3], ChildOf));
        assert_valid(w);
        assert_string_equal(reef_name(w, e[2]), "n");
        assert_null(reef_name(w, e[3]));
        assert_entity(e[2], reef_find(w, "n"));
        reef_world_free(fork);
        end_world(state, w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(child_of_is_exclusive_acyclic_cascading_and_ordered),
        TEST(children_one_by_one),
        TEST(up_from_an_entity),
        TEST(walks),
        TEST(a_chain_a_million_deep),
        TEST(a_difference_that_leads_round_in_a_circle),
        TEST(names_are_unique_within_their_parent),
        TEST(paths_of_any_length),
        TEST(a_random_life_of_names_in_a_tree),
        TEST(names_of_those_who_come_without_their_parent),
        TEST(names_stay_unique_after_memory_ran_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
