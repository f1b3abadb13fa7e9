/* Worlds as values: what is written to one never shows in another, whichever is freed first; handles after a rewind;
 * and a world that was rewound and plays another future is a fresh one that only played that. (Hooks, memory,
 * limits: test_fork.c.) */
#include "support.h"

enum { CROWD = 1500, FISH = 200, HOOKED = 60, BARE = 50, ALL = CROWD + FISH + HOOKED + BARE };

/* ---- a world with a little of everything ---- */

typedef struct scene {
    reef_entity e[ALL], reserved[2];
} scene;

static reef_entity *fish(scene *s) { return s->e + CROWD; }
static reef_entity *hooked(scene *s) { return s->e + CROWD + FISH; }
static reef_entity *bare(scene *s) { return s->e + CROWD + FISH + HOOKED; }

static void scene_make(reef_world *w, scene *s)
{
    char name[32];
    assert_ok(reef_spawn_many(w, CROWD, s->e, reef_with(Position, 1, 2), reef_with(Mass, 3)));
    for (int i = 0; i < FISH; i++)
        fish(s)[i] =
            reef_spawn(w, reef_with(Position, (float)i, 0), reef_with(Velocity, 1, (float)i), reef_tag(Frozen));
    for (int i = 0; i < HOOKED; i++)
        hooked(s)[i] = reef_spawn(w, reef_with(Tracked, .value = i), reef_with(Loose, .value = -i), reef_with(Mass, i));
    for (int i = 0; i < BARE; i++) bare(s)[i] = reef_create(w);
    for (int i = 0; i < ALL; i += 7) assert_ok(reef_add(w, s->e[i], Awake));
    for (int i = 0; i < ALL; i += 11) {
        snprintf(name, sizeof name, "school.fish%d", i);
        assert_ok(reef_set_name(w, s->e[i], name));
    }
    for (int i = 0; i < 2; i++) assert_some(s->reserved[i] = reef_reserve_id(w));
    for (int i = 1000; i < 1100; i++) assert_ok(reef_destroy(w, s->e[i]));
    for (int i = 0; i < CROWD; i += 5)
        if (reef_is_alive(w, s->e[i])) reef_mut(w, s->e[i], Mass)->kg = i;
}

/* ---- each kind of change ---- */

typedef struct change {
    const char *name;
    void (*make)(reef_world *w, scene *s);
} change;

static void set_there(reef_world *w, scene *s) { assert_status(REEF_OK, reef_set(w, s->e[3], Mass, 77)); }
static void set_more(reef_world *w, scene *s) { assert_status(REEF_ADDED, reef_set(w, s->e[4], Health, 1, 2)); }
static void set_hooked(reef_world *w, scene *s) { assert_ok(reef_set(w, hooked(s)[9], Tracked, .value = 99)); }
static void mut(reef_world *w, scene *s) { reef_mut(w, fish(s)[5], Velocity)->x = 9; }
static void write_many(reef_world *w, scene *s)
{
    assert_int_equal(reef_write_many(w, Mass, s->e, 2, ((Mass[]){{8}, {9}})), 2);
}
static void loop(reef_world *w, scene *s)
{
    reef_query q = reef_query_new(w, "Position, in Mass");
    (void)s;
    for (reef_block b = reef_begin(w, q); reef_next(&b);)
        for (uint32_t i = 0; i < b.count; i++) reef_inout(&b, Position)[i].x += (float)reef_in(&b, Mass)[i].kg + 1;
    reef_query_free(w, q);
}
static void loop_hooked(reef_world *w, scene *s)
{
    reef_query q = reef_query_new(w, "Tracked");
    (void)s;
    for (reef_block b = reef_begin(w, q); reef_next(&b);)
        for (uint32_t i = 0; i < b.count; i++) reef_inout(&b, Tracked)[i].value++;
    reef_query_free(w, q);
}
static void add(reef_world *w, scene *s) { assert_ok(reef_add(w, s->e[8], Velocity)); }
static void add_bare(reef_world *w, scene *s) { assert_ok(reef_add(w, bare(s)[3], Cargo)); }
static void add_tag(reef_world *w, scene *s) { assert_ok(reef_add(w, s->e[9], Hungry)); }
static void take(reef_world *w, scene *s) { assert_ok(reef_remove(w, fish(s)[2], Velocity)); }
static void take_tag(reef_world *w, scene *s) { assert_ok(reef_remove(w, fish(s)[1], Frozen)); }
static void take_hooked(reef_world *w, scene *s) { assert_ok(reef_remove(w, hooked(s)[5], Tracked)); }
static void take_all(reef_world *w, scene *s) { assert_ok(reef_remove_all(w, s->e[14])); }
static void several(reef_world *w, scene *s)
{
    assert_ok(reef_change(w, hooked(s)[8], reef_with(Loose, .value = 4), reef_without(Tracked), reef_tag(Seen),
                          reef_with(Health, 4, 5)));
}
static void ensure(reef_world *w, scene *s) { reef_ensure(w, s->e[12], Cargo)->byte[3] = 4; }
static void switch_on(reef_world *w, scene *s) { assert_ok(reef_add(w, s->e[1], Awake)); }
static void switch_off(reef_world *w, scene *s) { assert_ok(reef_remove(w, s->e[7], Awake)); }
static void switch_new(reef_world *w, scene *s) { assert_ok(reef_add(w, s->e[2], Seen)); }
static void spawn(reef_world *w, scene *s)
{
    (void)s;
    assert_some(reef_spawn(w, reef_with(Position, 5, 6), reef_with(Mass, 7)));
}
static void spawn_hooked(reef_world *w, scene *s)
{
    (void)s;
    assert_some(reef_spawn(w, reef_default(Tracked), reef_with(Loose, .value = 3), reef_with(Mass, 1)));
}
static void spawn_new(reef_world *w, scene *s)
{
    reef_component c = numbered_type("snapshot", 1, 12, 4);
    (void)s;
    assert_some(reef_spawn_values(w, (reef_value[]){{c, REEF_VALUE_DEFAULT, 0, NULL}, reef_with(Mass, 1)}, 2));
}
static void spawn_many(reef_world *w, scene *s)
{
    (void)s;
    assert_ok(reef_spawn_many(w, 3000, NULL, reef_with(Position, 3, 3), reef_with(Mass, 1), reef_tag(Awake)));
}
static void create(reef_world *w, scene *s)
{
    (void)s;
    for (int i = 0; i < 150; i++) assert_some(reef_create(w)); /* past the free ids */
}
static void clone(reef_world *w, scene *s) { assert_some(reef_clone(w, hooked(s)[0])); }
static void clone_many(reef_world *w, scene *s) { assert_ok(reef_clone_many(w, s->e[7], 600, NULL)); }
static void destroy(reef_world *w, scene *s) { assert_ok(reef_destroy(w, s->e[6])); }
static void destroy_last(reef_world *w, scene *s) { assert_ok(reef_destroy(w, s->e[CROWD - 1])); }
static void destroy_bare(reef_world *w, scene *s) { assert_ok(reef_destroy(w, bare(s)[4])); }
static void destroy_named(reef_world *w, scene *s) { assert_ok(reef_destroy(w, s->e[22])); }
static void destroy_hooked(reef_world *w, scene *s) { assert_ok(reef_destroy(w, hooked(s)[2])); }
static void destroy_many(reef_world *w, scene *s) { assert_int_equal(reef_destroy_many(w, s->e, 1500), 1400); }
static void destroy_with(reef_world *w, scene *s)
{
    (void)s;
    assert_ok(DESTROY_EVERYWHERE(w, reef_id(Mass), reef_id(Awake)));
}
static void clear_type(reef_world *w, scene *s) { assert_ok(remove_everywhere(w, reef_id(Mass), NULL)), (void)s; }
static void clear_hooked(reef_world *w, scene *s) { assert_ok(remove_everywhere(w, reef_id(Tracked), NULL)), (void)s; }
static void clear_switch(reef_world *w, scene *s) { assert_ok(remove_everywhere(w, reef_id(Awake), NULL)), (void)s; }
static void name(reef_world *w, scene *s) { assert_ok(reef_set_name(w, s->e[1], "a.new.name")); }
static void name_other(reef_world *w, scene *s) { assert_ok(reef_set_name(w, s->e[11], "another")); }
static void name_none(reef_world *w, scene *s) { assert_ok(reef_set_name(w, s->e[33], NULL)); }
static void reserve_id(reef_world *w, scene *s) { assert_some(reef_reserve_id(w)), (void)s; }
static void release_id(reef_world *w, scene *s) { assert_ok(reef_release_id(w, s->reserved[0])); }
static void create_as(reef_world *w, scene *s) { assert_ok(reef_create_as(w, s->reserved[1])); }
static void create_as_far(reef_world *w, scene *s) { assert_ok(reef_create_as(w, (reef_entity){9000, 4})), (void)s; }
static void create_as_free(reef_world *w, scene *s)
{
    assert_ok(reef_create_as(w, (reef_entity){s->e[1050].index, s->e[1050].generation + 5}));
}
static void clear_world(reef_world *w, scene *s) { assert_ok(reef_world_clear(w)), (void)s; }
static void shrink(reef_world *w, scene *s) { assert_ok(reef_shrink(w)), (void)s; }
static void empty_and_shrink(reef_world *w, scene *s)
{
    destroy_many(w, s);
    shrink(w, s);
}
static void reserve(reef_world *w, scene *s)
{
    (void)s;
    assert_ok(reef_reserve_for(w, 3000, (reef_component[]){reef_id(Mass), reef_id(Position)}, 2));
}

static const change changes[] = {
#define X(name) \
    { \
#name, name \
    }
    X(set_there),
    X(set_more),
    X(set_hooked),
    X(mut),
    X(write_many),
    X(loop),
    X(loop_hooked),
    X(add),
    X(add_bare),
    X(add_tag),
    X(take),
    X(take_tag),
    X(take_hooked),
    X(take_all),
    X(several),
    X(ensure),
    X(switch_on),
    X(switch_off),
    X(switch_new),
    X(spawn),
    X(spawn_hooked),
    X(spawn_new),
    X(spawn_many),
    X(create),
    X(clone),
    X(clone_many),
    X(destroy),
    X(destroy_last),
    X(destroy_bare),
    X(destroy_named),
    X(destroy_hooked),
    X(destroy_many),
    X(destroy_with),
    X(clear_type),
    X(clear_hooked),
    X(clear_switch),
    X(name),
    X(name_other),
    X(name_none),
    X(reserve_id),
    X(release_id),
    X(create_as),
    X(create_as_far),
    X(create_as_free),
    X(clear_world),
    X(shrink),
    X(empty_and_shrink),
    X(reserve),
#undef X
};
enum { CHANGES = sizeof changes / sizeof *changes };

/* ---- what can be seen ---- */

static uint64_t visits(reef_world *w, const char *text)
{
    uint64_t hash = 7;
    reef_query q = reef_query_new(w, text);
    for (reef_block b = reef_begin(w, q); reef_next(&b);) {
        hash = digest_bytes(hash, &b.count, sizeof b.count);
        hash = digest_bytes(hash, b.entities, b.count * sizeof *b.entities);
    }
    reef_query_free(w, q);
    return hash;
}

static void same(reef_world *a, reef_world *b, const char *when)
{
    static const char *const queries[] = {"in Mass",     "in Position", "in Mass, with Awake",
                                          "with Frozen", "in Tracked",  "with Seen"};
    const char *wrong = NULL;
    assert_valid(a);
    assert_valid(b);
    if (digest(a) != digest(b)) wrong = "digests";
    else if (reef_hash(a) != reef_hash(b)) wrong = "hashes";
    for (size_t i = 0; i < sizeof queries / sizeof *queries && !wrong; i++)
        if (visits(a, queries[i]) != visits(b, queries[i])) wrong = queries[i];
    if (wrong) fail_msg("%s: %s differ", when, wrong);
}

/* Counts that don't speak of memory. */
static void same_stats(reef_world *a, reef_world *b, const char *when)
{
    reef_stats x = reef_world_stats(a), y = reef_world_stats(b);
    if (memcmp(&x, &y, offsetof(reef_stats, bytes_total)) != 0 || x.spawned != y.spawned ||
        x.destroyed != y.destroyed || x.moved != y.moved)
        fail_msg("%s: stats differ: tables %u %u, known %u %u, blocks %u %u, types %u %u", when, (unsigned)x.tables,
                 (unsigned)y.tables, (unsigned)x.tables_known, (unsigned)y.tables_known, (unsigned)x.blocks,
                 (unsigned)y.blocks, (unsigned)x.types, (unsigned)y.types);
}

/* The ids that come next are the same; the worlds are used up by it. */
static void same_ids(reef_world *a, reef_world *b, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        reef_entity e = reef_create(a);
        assert_entity(e, reef_create(b));
    }
}

/* ---- a write to one never shows in another ---- */

static void a_write_to_the_world_shows_nowhere_else(void **state)
{
    for (int i = 0; i < CHANGES; i++) {
        scene s, t;
        reef_world *w = another_world(state, NULL), *control = another_world(state, NULL);
        scene_make(w, &s);
        scene_make(control, &t);
        reef_snapshot *snapshot = reef_snapshot_take(w);
        reef_world *fork = reef_fork(w);
        uint64_t before = digest(w), hash = reef_hash(fork);
        changes[i].make(w, &s);
        if (digest(fork) != before || reef_hash(fork) != hash) fail_msg("%s shows in the fork", changes[i].name);
        changes[i].make(control, &t);
        same(w, control, changes[i].name); /* and the world doesn't feel that it has a fork */
        reef_world *of_snapshot = reef_snapshot_fork(snapshot);
        same(of_snapshot, fork, changes[i].name);
        assert_true(digest(of_snapshot) == before);
        assert_ok(reef_restore(w, snapshot));
        same(w, fork, changes[i].name);
        changes[i].make(w, &s);
        same(w, control, changes[i].name);
        same_stats(w, control, changes[i].name);
        reef_world_free(fork);
        reef_snapshot_free(snapshot);
        same(w, control, changes[i].name);
        reef_world_free(of_snapshot);
        end_world(state, w);
        end_world(state, control);
    }
}

static void a_write_to_a_fork_shows_nowhere_else(void **state)
{
    for (int i = 0; i < CHANGES; i++) {
        scene s, t;
        reef_world *w = another_world(state, NULL), *control = another_world(state, NULL);
        scene_make(w, &s);
        scene_make(control, &t);
        reef_world *fork = reef_fork(w), *second = reef_fork(fork);
        reef_snapshot *snapshot = reef_snapshot_take(fork);
        uint64_t before = digest(w), hash = reef_hash(w);
        changes[i].make(fork, &s);
        changes[i].make(control, &t);
        same(fork, control, changes[i].name);
        if (digest(w) != before || reef_hash(w) != hash) fail_msg("%s shows in the world", changes[i].name);
        same(w, second, changes[i].name);
        assert_ok(reef_restore(second, snapshot)); /* taken from another fork */
        same(w, second, changes[i].name);
        changes[i].make(second, &s);
        same(fork, second, changes[i].name);
        same_stats(second, control, changes[i].name);
        end_world(state, w);
        same(fork, control, changes[i].name);
        reef_world_free(fork);
        same(second, control, changes[i].name);
        reef_world_free(second);
        reef_world *last = reef_snapshot_fork(snapshot);
        reef_snapshot_free(snapshot);
        assert_true(digest(last) == before && reef_hash(last) == hash);
        reef_world_free(last);
        end_world(state, control);
    }
}

/* Both sides change the same things, differently. */
static void two_futures_don_t_meet(void **state)
{
    for (int i = 0; i < CHANGES; i++) {
        int k = (i * 17 + 5) % CHANGES;
        scene s;
        reef_world *w = another_world(state, NULL), *a = another_world(state, NULL), *b = another_world(state, NULL);
        scene_make(w, &s);
        scene_make(a, &s);
        scene_make(b, &s);
        reef_world *fork = reef_fork(w);
        changes[i].make(w, &s);
        changes[k].make(fork, &s);
        changes[i].make(a, &s);
        changes[k].make(b, &s);
        same(w, a, changes[i].name);
        same(fork, b, changes[k].name);
        reef_world_free(fork);
        end_world(state, w);
        end_world(state, a);
        end_world(state, b);
    }
}

/* ---- orders of leaving ---- */

/* World, snapshot of it, fork of the snapshot, snapshot of that fork, fork of the fork: freed in every order. */
static void all_are_freed_in_any_order(void **state)
{
    enum { HOLDERS = 5, ORDERS = 120 };
    for (int order = 0; order < ORDERS; order++) {
        int left[HOLDERS] = {0, 1, 2, 3, 4}, n = order;
        scene s;
        reef_world *w = another_world(state, NULL);
        scene_make(w, &s);
        reef_snapshot *snapshot = reef_snapshot_take(w);
        loop_hooked(w, &s);
        reef_world *fork = reef_snapshot_fork(snapshot);
        destroy_hooked(fork, &s);
        reef_snapshot *second = reef_snapshot_take(fork);
        several(fork, &s);
        reef_world *grandchild = reef_fork(fork);
        loop(grandchild, &s);
        reef_world *worlds[HOLDERS] = {w, NULL, fork, NULL, grandchild};
        uint64_t digests[HOLDERS] = {digest(w), 0, digest(fork), 0, digest(grandchild)};
        for (int k = HOLDERS; k > 0; k--) {
            int who = left[n % k];
            n /= k;
            for (int i = 0; i < k - 1; i++)
                if (left[i] == who) left[i] = left[k - 1], left[k - 1] = who;
            if (who == 0) end_world(state, w);
            else if (who == 1) reef_snapshot_free(snapshot);
            else if (who == 3) reef_snapshot_free(second);
            else reef_world_free(worlds[who]);
            worlds[who] = NULL;
            for (int i = 0; i < HOLDERS; i++)
                if (worlds[i]) assert_valid(worlds[i]), assert_true(digest(worlds[i]) == digests[i]);
        }
        assert_int_equal(book.live, 0);
        assert_null(book.mistake);
    }
}

static void a_snapshot_outlives_all_worlds(void **state)
{
    scene s, t;
    reef_world *w = another_world(state, NULL), *control = world_of(state);
    scene_make(w, &s);
    scene_make(control, &t);
    reef_snapshot *snapshot = reef_snapshot_take(w);
    clear_world(w, &s);
    end_world(state, w);
    for (int i = 0; i < 3; i++) {
        reef_world *fork = reef_snapshot_fork(snapshot);
        same(fork, control, "forked again");
        assert_null(reef_last_error(fork).operation[0] ? "an error" : NULL);
        changes[i * 5].make(fork, &s);
        if (i == 1) reef_snapshot_free(reef_snapshot_take(fork));
        reef_world_free(fork);
    }
    reef_world *last = reef_snapshot_fork(snapshot);
    reef_snapshot_free(snapshot);
    same(last, control, "the last one");
    same_ids(last, control, 300);
    reef_world_free(last);
}

/* ---- handles after a rewind ---- */

static void handles_of_an_abandoned_future(void **state)
{
    reef_world *w = world_of(state);
    reef_entity a = reef_spawn(w, reef_with(Position, 1, 2)), b = reef_spawn(w, reef_with(Position, 3, 4));
    assert_ok(reef_set_name(w, a, "a"));
    reef_snapshot *snapshot = reef_snapshot_take(w);
    assert_ok(reef_destroy(w, a));
    reef_entity reused = reef_spawn(w, reef_with(Mass, 5)), fresh = reef_spawn(w, reef_with(Mass, 6));
    assert_int_equal(reused.index, a.index);
    assert_ok(reef_set_name(w, fresh, "fresh"));
    assert_ok(reef_restore(w, snapshot));
    assert_true(reef_is_alive(w, a)); /* alive again under its old handle */
    assert_position(w, a, 1, 2);
    assert_position(w, b, 3, 4);
    assert_string_equal(reef_name(w, a), "a");
    assert_entity(a, reef_find(w, "a"));
    assert_false(reef_is_alive(w, reused));
    assert_false(reef_is_alive(w, fresh));
    assert_null(reef_get(w, reused, Mass));
    assert_null(reef_get(w, fresh, Mass));
    assert_none(reef_find(w, "fresh"));
    assert_refused(w, REEF_NOT_ALIVE, reef_destroy(w, fresh));
    assert_refused(w, REEF_NOT_ALIVE, reef_set(w, reused, Mass, 1));
    /* The same index and generation made again is that entity; the same things done again give the same handles. */
    assert_ok(reef_destroy(w, a));
    assert_entity(reused, reef_spawn(w, reef_with(Health, 7, 8)));
    assert_entity(fresh, reef_spawn(w, reef_with(Health, 9, 9)));
    assert_true(reef_is_alive(w, reused) && reef_is_alive(w, fresh));
    assert_int_equal(reef_get(w, fresh, Health)->now, 9);
    assert_null(reef_get(w, fresh, Mass));
    reef_snapshot_free(snapshot);
}

static void restoring_changes_pointers_not_values(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e = reef_spawn(w, reef_with(Health, 1, 10));
    reef_snapshot *one = reef_snapshot_take(w);
    reef_mut(w, e, Health)->now = 2;
    reef_snapshot *two = reef_snapshot_take(w);
    reef_mut(w, e, Health)->now = 3;
    for (int i = 0; i < 10; i++) {
        assert_ok(reef_restore(w, i % 2 ? two : one)); /* back and forth; a snapshot stays and may be used again */
        assert_int_equal(reef_get(w, e, Health)->now, i % 2 ? 2 : 1);
        reef_mut(w, e, Health)->now = 100 + i;
        assert_int_equal(reef_get(w, e, Health)->now, 100 + i);
    }
    reef_snapshot_free(one);
    assert_ok(reef_restore(w, two));
    assert_ok(reef_restore(w, two));
    assert_int_equal(reef_get(w, e, Health)->now, 2);
    reef_snapshot_free(two);
}

/* ---- a rewound world is a fresh one ---- */

/* Some changes of whoever has the index that comes up. */
static void stir(reef_world *w, uint64_t *seed)
{
    char text[32];
    for (int i = 0; i < 20; i++) {
        uint32_t what = random_below(seed, 11);
        reef_entity e = reef_entity_at(w, random_below(seed, 2400));
        if (what == 0 || reef_entity_is_null(e)) assert_some(reef_spawn(w, reef_with(Mass, i), reef_tag(Frozen)));
        else if (what < 3) assert_ok(reef_destroy(w, e));
        else if (what == 3) assert_true(reef_set(w, e, Position, (float)i, 1) >= 0);
        else if (what == 4) assert_true(reef_set(w, e, Tracked, .value = i) >= 0);
        else if (what == 5) (void)(reef_has(w, e, Awake) ? reef_remove(w, e, Awake) : reef_add(w, e, Awake));
        else if (what == 6) (void)(reef_has(w, e, Mass) ? reef_remove(w, e, Mass) : reef_add(w, e, Mass));
        else if (what == 7) assert_some(reef_clone(w, e));
        else if (what == 8) assert_ok(reef_remove_all(w, e));
        else if (what == 9) assert_ok(reef_set_name(w, e, NULL));
        else if (snprintf(text, sizeof text, "stirred%u", (unsigned)e.index)) assert_ok(reef_set_name(w, e, text));
    }
}

static void play(reef_world *w, scene *s, uint64_t seed, int count)
{
    static void (*const again[])(reef_world * w, scene * s) = {
        loop,   loop_hooked, spawn,        spawn_hooked, spawn_new,    create,      reserve_id,
        shrink, reserve,     destroy_with, loop,         clear_switch, clear_hooked};
    for (int i = 0; i < count; i++) {
        if (i % 2 == 0) stir(w, &seed);
        else again[random_below(&seed, sizeof again / sizeof *again)](w, s);
    }
}

static void a_rewound_world_is_a_fresh_one(void **state)
{
    for (int i = 0; i < CHANGES; i++) {
        int k = (i * 7 + 3) % CHANGES;
        scene s, t;
        reef_world *w = another_world(state, NULL), *control = another_world(state, NULL);
        scene_make(w, &s);
        scene_make(control, &t);
        reef_snapshot *snapshot = reef_snapshot_take(w);
        changes[i].make(w, &s);
        play(w, &s, (uint64_t)i, 5);
        if (i % 3 == 0) (void)reef_hash(w);
        assert_ok(reef_restore(w, snapshot));
        same_stats(w, control, "after the restore");
        if (i % 2) reef_snapshot_free(snapshot);
        changes[k].make(w, &s);
        changes[k].make(control, &t);
        same_stats(w, control, changes[k].name);
        play(w, &s, 99, 8);
        play(control, &t, 99, 8);
        same(w, control, changes[k].name);
        same_stats(w, control, changes[k].name);
        same_ids(w, control, 400);
        same(w, control, changes[k].name);
        if (i % 2 == 0) reef_snapshot_free(snapshot);
        end_world(state, w);
        end_world(state, control);
    }
}

/* Many rewinds, from any snapshot to any, with hashes kept in between: each state is what its path of changes makes. */
static void back_and_forth_between_many_states(void **state)
{
    enum { STATES = 12, STEPS = 150 };
    scene s;
    reef_world *w = another_world(state, NULL);
    reef_snapshot *kept[STATES] = {NULL};
    uint64_t digests[STATES] = {0}, hashes[STATES] = {0}, seed = 5;
    scene_make(w, &s);
    for (int step = 0; step < STEPS; step++) {
        uint32_t i = random_below(&seed, STATES);
        if (kept[i] == NULL) {
            kept[i] = reef_snapshot_take(w);
            digests[i] = digest(w);
            hashes[i] = reef_hash(w);
        } else if (step % 3 == 0) {
            assert_ok(reef_restore(w, kept[i]));
            assert_valid(w);
            assert_true(digest(w) == digests[i]);
            assert_true(reef_hash(w) == hashes[i]);
        } else if (step % 11 == 0) {
            reef_snapshot_free(kept[i]);
            kept[i] = NULL;
        }
        play(w, &s, (uint64_t)step, 1 + step % 4);
    }
    for (int i = 0; i < STATES; i++) {
        reef_world *fork = reef_snapshot_fork(kept[i]);
        if (kept[i]) {
            assert_true(digest(fork) == digests[i] && reef_hash(fork) == hashes[i]);
            reef_world_free(fork);
        }
        reef_snapshot_free(kept[i]);
    }
    end_world(state, w);
}

/* ---- queries and bundles stay the world's own ---- */

static void queries_and_bundles_outlive_a_restore(void **state)
{
    scene s;
    reef_world *w = world_of(state);
    reef_query before = reef_query_new(w, "in Mass"), new_type = reef_query_new(w, "in Cargo");
    reef_snapshot *empty = reef_snapshot_take(w);
    scene_make(w, &s);
    reef_snapshot *full = reef_snapshot_take(w);
    assert_int_equal(reef_query_count(w, before), 1400 + HOOKED);
    /* tables that the empty state never had, and that the full one never had */
    reef_bundle *known = reef_bundle_new(w, (reef_bundle_part[]){{reef_id(Position), 0}, {reef_id(Mass), 8}}, 2);
    reef_bundle *other = reef_bundle_new(w, (reef_bundle_part[]){{reef_id(Position), 0}, {reef_id(Cargo), 16}}, 2);
    struct {
        Position p;
        Mass m;
        Cargo c;
    } packed = {{1, 2}, {3}, {{4}}};
    reef_entity first = reef_spawn_bundle(w, other, &packed),
                set = reef_spawn(w, reef_with(Cargo, {5}), reef_tag(Hungry));
    reef_query during = reef_query_new(w, "Position, with Cargo");
    assert_int_equal(reef_query_count(w, during), 1);
    assert_int_equal(reef_query_count(w, new_type), 2);
    for (int round = 0; round < 3; round++) {
        bool is_full = round != 1;
        assert_ok(reef_restore(w, is_full ? full : empty));
        assert_int_equal(reef_query_count(w, before), is_full ? 1400 + HOOKED : 0);
        assert_int_equal(reef_query_count(w, new_type), 0);
        assert_int_equal(reef_query_count(w, during), 0);
        for (reef_block b = reef_begin(w, during); reef_next(&b);) fail_msg("a block of an abandoned future");
        uint64_t seen = 0;
        for (reef_block b = reef_begin(w, before); reef_next(&b); seen += b.count)
            for (uint32_t i = 0; i < b.count; i++)
                assert_ptr_equal(&reef_in(&b, Mass)[i], reef_get(w, b.entities[i], Mass));
        assert_int_equal(seen, is_full ? 1400 + HOOKED : 0);
        assert_false(reef_query_matches(w, before, first));
        for (int i = 0; i < 3; i++) {
            reef_entity a = reef_spawn_bundle(w, other, &packed), b = reef_spawn_bundle(w, known, &packed);
            reef_entity c = reef_spawn(w, reef_with(Cargo, {5}), reef_tag(Hungry));
            if (is_full && i == 0) assert_entity(first, a);
            if (is_full && i == 0) assert_int_equal(reef_query_matches(w, new_type, set), false);
            assert_position(w, a, 1, 2);
            assert_int_equal(reef_get(w, a, Cargo)->byte[0], 4);
            assert_int_equal(reef_get(w, b, Mass)->kg, 3);
            if (!is_full) assert_int_equal(reef_world_stats(w).types, 4); /* what was used now, or by a query before */
            assert_true(reef_has(w, c, Hungry) && reef_get(w, c, Cargo)->byte[0] == 5);
            assert_int_equal(reef_query_count(w, during), i + 1);
            assert_int_equal(reef_query_count(w, new_type), 2 * i + 2);
            assert_int_equal(reef_query_count(w, before), (is_full ? 1400 + HOOKED : 0) + i + 1);
        }
        uint32_t rows = 0;
        for (reef_block b = reef_begin(w, during); reef_next(&b); rows += b.count) reef_inout(&b, Position)[0].x = 8;
        assert_int_equal(rows, 3);
        assert_valid(w);
    }
    reef_snapshot_free(empty);
    reef_snapshot_free(full);
}

/* A query lives through forks, writes to what is shared, restores, and the relatives' leaving, and always sees what
 * is there. */
static void a_query_sees_what_is_there_now(void **state)
{
    enum { RELATIVES = 3, LOOPS = 2 };
    static const char *const texts[LOOPS] = {"in Mass", "Mass, with Awake"};
    scene s;
    reef_world *w[RELATIVES] = {another_world(state, NULL)};
    reef_snapshot *snapshot = NULL;
    reef_query q[RELATIVES][LOOPS];
    uint64_t seed = 8;
    scene_make(w[0], &s);
    for (int k = 0; k < LOOPS; k++) assert_query(q[0][k] = reef_query_new(w[0], texts[k]));
    for (int step = 0; step < 1500; step++) {
        uint32_t i = random_below(&seed, RELATIVES), what = random_below(&seed, 12), rows = 0;
        if (w[i] == NULL) {
            if (snapshot && what % 2) w[i] = reef_snapshot_fork(snapshot);
            else w[i] = reef_fork(w[0]);
            for (int k = 0; k < LOOPS; k++) assert_query(q[i][k] = reef_query_new(w[i], texts[k]));
        } else if (what == 0 && i != 0) {
            reef_world_free(w[i]);
            w[i] = NULL;
            continue;
        } else if (what == 1) {
            reef_snapshot_free(snapshot);
            snapshot = random_below(&seed, 2) ? reef_snapshot_take(w[i]) : NULL;
        } else if (what == 2 && snapshot) {
            assert_ok(reef_restore(w[i], snapshot));
        } else if (what == 3) {
            stir(w[i], &seed);
        } else if (what < 8) {
            reef_entity e = reef_entity_at(w[i], random_below(&seed, 2000));
            if (reef_has(w[i], e, Mass)) reef_mut(w[i], e, Mass)->kg = step;
        }
        for (int k = 0; k < LOOPS; k++, rows = 0) {
            for (reef_block b = reef_begin(w[i], q[i][k]); reef_next(&b); rows += b.count)
                for (uint32_t r = 0; r < b.count; r++)
                    assert_ptr_equal(k ? &reef_inout(&b, Mass)[r] : &reef_in(&b, Mass)[r],
                                     reef_get(w[i], b.entities[r], Mass));
            if (k == 0) assert_int_equal(rows, reef_count(w[i], Mass));
        }
    }
    for (int i = 1; i < RELATIVES; i++) reef_world_free(w[i]);
    reef_snapshot_free(snapshot);
    end_world(state, w[0]);
}

/* What a world remembers of tables that the restored state has no room for, not even empty ones. */
static void bundles_and_sets_of_tables_that_are_gone(void **state)
{
    reef_world *w = world_of(state);
    reef_snapshot *empty = reef_snapshot_take(w);
    for (uint32_t i = 0; i < 200; i++) { /* tables live 64 to a page */
        reef_component c = numbered_type("gone", i, 0, 1);
        assert_some(reef_spawn_values(w, (reef_value[]){{c, REEF_VALUE_DEFAULT, 0, NULL}, reef_with(Mass, 1)}, 2));
    }
    reef_bundle *bundle = reef_bundle_new(w, (reef_bundle_part[]){{reef_id(Position), 0}, {reef_id(Mass), 8}}, 2);
    struct {
        Position p;
        Mass m;
    } packed = {{1, 2}, {3}};
    for (int round = 0; round < 4; round++) {
        reef_entity e, f, g = {0, 0};
        if (round) assert_some(g = reef_create(w)); /* now indices can be given out straight away */
        if (round != 2) assert_some(f = reef_spawn(w, reef_with(Position, 4, 5), reef_with(Velocity, 6, 7)));
        assert_some(e = reef_spawn_bundle(w, bundle, &packed));
        assert_some(f = reef_spawn(w, reef_with(Position, 4, 5), reef_with(Velocity, 6, 7)));
        assert_position(w, e, 1, 2);
        assert_position(w, f, 4, 5);
        assert_ok(reef_add(w, f, Hungry));
        assert_ok(reef_remove(w, f, Velocity));
        if (round) assert_ok(reef_add(w, g, Position));
        assert_ok(reef_restore(w, empty));
        assert_ok(reef_shrink(w)); /* nobody may look into what was given back */
        assert_valid(w);
        assert_int_equal(reef_count_alive(w), 0);
    }
    reef_snapshot_free(empty);
}

/* A fork may know more, have more tables, and have written more often than the world that takes over its state. */
static void restoring_what_another_fork_made(void **state)
{
    reef_world *w = another_world(state, NULL), *fork = reef_fork(w);
    reef_component last = {0};
    reef_entity e = reef_spawn(fork, reef_with(Mass, 5), reef_tag(Awake)), wide = e;
    reef_snapshot *first = reef_snapshot_take(fork), *second;
    assert_ok(reef_restore(w, first)); /* which never used any type */
    assert_valid(w);
    assert_int_equal(reef_get(w, e, Mass)->kg, 5);
    assert_true(reef_has(w, e, Awake));
    assert_int_equal(reef_count(w, Mass), 1);
    for (uint32_t i = 0; i < 600; i++) last = numbered_type("learned", i, i % 2 ? 8 : 0, 0);
    for (uint32_t i = 0; i < 600; i++) {
        wide = reef_spawn_values(fork, (reef_value[]){reef_with(Mass, i), {{last.id - i}, REEF_VALUE_DEFAULT, 0, NULL}},
                                 2);
        assert_true(reef_hash(fork) != 0);
        reef_mut(fork, e, Mass)->kg = i;
    }
    second = reef_snapshot_take(fork);
    uint64_t wanted = digest(fork), hash = reef_hash(fork);
    assert_ok(reef_restore(w, second));
    same(w, fork, "what a fork made");
    assert_true(reef_has_id(w, wide, (reef_component){last.id - 599}));
    reef_query q = reef_query_new(w, "Mass");
    assert_int_equal(reef_query_count(w, q), 601);
    for (reef_block b = reef_begin(w, q); reef_next(&b);)
        reef_inout(&b, Mass)->kg = 9; /* newer writes than its own are not its own */
    assert_ok(reef_set_name(w, e, "mine"));
    assert_ok(reef_destroy(w, wide));
    assert_some(reef_spawn(w, reef_with(Mass, 3)));
    assert_true(digest(fork) == wanted && reef_hash(fork) == hash);
    assert_ok(reef_restore(w, second));
    same(w, fork, "and once more");
    reef_world_free(fork);
    reef_snapshot_free(first);
    assert_ok(reef_restore(w, second));
    assert_true(digest(w) == wanted && reef_hash(w) == hash);
    reef_snapshot_free(second);
    end_world(state, w);
}

/* Edges, sets and places that a world remembers to be quick: after a restore they are found anew. */
static void quick_paths_after_a_restore(void **state)
{
    reef_world *w = world_of(state), *control = another_world(state, NULL);
    reef_snapshot *snapshot = reef_snapshot_take(w);
    reef_world *both[] = {w, control};
    uint64_t wanted = 0;
    for (int round = 0; round < 4; round++) {
        int worlds = round == 3 ? 2 : 1;
        assert_ok(reef_restore(w, snapshot));
        for (int k = 0; k < worlds; k++) {
            reef_entity e[700];
            for (int i = 0; i < 700; i++) {
                e[i] = reef_spawn(both[k], reef_with(Position, 1, (float)i), reef_with(Velocity, 2, 3));
                if (i % 3 == 0) assert_ok(reef_add(both[k], e[i], Mass));
                if (i % 6 == 0) assert_ok(reef_remove(both[k], e[i], Velocity));
                if (i % 9 == 0) assert_ok(reef_destroy(both[k], e[i]));
                if (i % 9 == 1) (void)reef_create(both[k]);
            }
        }
        assert_valid(w);
        if (round == 0) wanted = digest(w);
        assert_true(digest(w) == wanted);
    }
    same(w, control, "the fast paths");
    same_stats(w, control, "the fast paths");
    reef_snapshot_free(snapshot);
}

/* ---- refusals ---- */

static void refusals_of_snapshots(void **state)
{
    scene s;
    reef_world *w = world_of(state), *stranger = another_world(state, NULL);
    scene_make(w, &s);
    scene_make(stranger, &s);
    reef_query q = reef_query_new(w, "Position");
    reef_snapshot *snapshot = reef_snapshot_take(w), *strange = reef_snapshot_take(stranger);
    reef_block b = reef_begin(w, q);
    assert_true(reef_next(&b));
    assert_no_pointer(w, REEF_LOCKED, reef_snapshot_take(w));
    assert_no_pointer(w, REEF_LOCKED, reef_fork(w));
    assert_refused(w, REEF_LOCKED, reef_restore(w, snapshot));
    uint64_t while_open = reef_hash(w);
    assert_true(while_open != 0);
    reef_end(&b);
    assert_true(reef_hash(w) == while_open);
    assert_refused(w, REEF_OTHER_WORLD, reef_restore(w, strange));
    assert_refused(w, REEF_BAD_ARGUMENT, reef_restore(w, NULL));
    assert_status(REEF_BAD_ARGUMENT, reef_restore(NULL, snapshot));
    assert_null(reef_snapshot_take(NULL));
    assert_null(reef_fork(NULL));
    assert_null(reef_snapshot_fork(NULL));
    reef_snapshot_free(NULL);
    reef_world *fork = reef_fork(w);
    reef_block open = reef_begin(w, q);
    assert_true(reef_next(&open));
    assert_ok(reef_restore(fork, snapshot)); /* the other world's loop is the other world's affair */
    reef_world *while_reading = reef_snapshot_fork(snapshot);
    assert_non_null(while_reading);
    reef_end(&open);
    assert_ok(reef_restore(w, snapshot));
    assert_int_equal(reef_last_error(fork).status, REEF_OK);
    /* bundles belong to a world, and queries to those that began with them */
    reef_bundle *bundle = reef_bundle_new(w, (reef_bundle_part[]){{reef_id(Mass), 0}}, 1);
    assert_no_entity(fork, REEF_OTHER_WORLD, reef_spawn_bundle(fork, bundle, &(Mass){1}));
    assert_true(reef_query_count(fork, q) > 0);
    const reef_query late = reef_query_new(w, "in Position");
    reef_block none = reef_begin(fork, late);
    assert_false(reef_next(&none));
    assert_int_equal(reef_last_error(fork).status, REEF_OTHER_WORLD);
    reef_world_free(while_reading);
    reef_world_free(fork);
    reef_snapshot_free(snapshot);
    reef_snapshot_free(strange);
}

int main(void)
{
    /* Tickets are another world's affair: of tracked values the hash takes the value alone. */
    static const reef_field value = {.name = "value", .kind = REEF_I32, .bytes = 4};
    if (reef_type_describe(reef_id(Tracked), &value, 1) < 0 || reef_type_describe(reef_id(Loose), &value, 1) < 0)
        return 1;
    const struct CMUnitTest tests[] = {
        TEST(a_write_to_the_world_shows_nowhere_else),
        TEST(a_write_to_a_fork_shows_nowhere_else),
        TEST(two_futures_don_t_meet),
        TEST(all_are_freed_in_any_order),
        TEST(a_snapshot_outlives_all_worlds),
        TEST(handles_of_an_abandoned_future),
        TEST(restoring_changes_pointers_not_values),
        TEST(a_rewound_world_is_a_fresh_one),
        TEST(back_and_forth_between_many_states),
        TEST(queries_and_bundles_outlive_a_restore),
        TEST(a_query_sees_what_is_there_now),
        TEST(bundles_and_sets_of_tables_that_are_gone),
        TEST(restoring_what_another_fork_made),
        TEST(quick_paths_after_a_restore),
        TEST(refusals_of_snapshots),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
