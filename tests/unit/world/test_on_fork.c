/* Types of which snapshots and forks get default values (REEF_FORK_RESET), and those whose values a rewind leaves alone
 * besides (REEF_FORK_SKIP). Each value is destroyed once: the ledger of support.h sees to it. */
#include "support.h"

/* Move-only values that are made with 100, and plain ones that are made with 0. */
static reef_component sound, texture, plain_reset, plain_skip, copied_reset;

typedef struct kind {
    reef_component *type;
    int32_t standard; /* the default value */
    bool skips, hooked;
} kind;
static const kind kinds[] = {{&sound, 100, true, true},
                             {&texture, 100, false, true},
                             {&plain_reset, 0, false, false},
                             {&plain_skip, 0, true, false},
                             {&copied_reset, 100, false, true}};
enum { KINDS = sizeof kinds / sizeof *kinds, MANY = 2500 };

static int32_t value_of(const reef_world *w, reef_entity e, reef_component c)
{
    const int32_t *p = reef_get_id(w, e, c);
    assert_non_null(p);
    return *p;
}

static void value_set(reef_world *w, reef_entity e, reef_component c, int32_t value)
{
    int32_t *p = reef_mut_id(w, e, c);
    assert_non_null(p);
    *p = value;
}

/* n entities with all of them, with values of their own. */
static void people_make(reef_world *w, reef_entity *e, uint32_t n)
{
    reef_value v[KINDS + 1] = {reef_with(Mass, 1)};
    for (int k = 0; k < KINDS; k++) v[k + 1] = reef_value_make(*kinds[k].type, REEF_VALUE_DEFAULT, 0, NULL);
    assert_ok(reef_spawn_many_values(w, n, e, v, KINDS + 1));
    for (uint32_t i = 0; i < n; i++)
        for (int k = 0; k < KINDS; k++) value_set(w, e[i], *kinds[k].type, (int32_t)(1000 + i) * (k + 1));
}

static void people_are(const reef_world *w, const reef_entity *e, uint32_t n, bool standard)
{
    assert_valid(w);
    for (uint32_t i = 0; i < n; i++)
        for (int k = 0; k < KINDS; k++) {
            int32_t wanted = standard ? kinds[k].standard : (int32_t)(1000 + i) * (k + 1);
            assert_int_equal(value_of(w, e[i], *kinds[k].type), wanted);
        }
}

static void copies_get_default_values_and_the_world_keeps_its_own(void **state)
{
    static reef_entity e[MANY];
    static const uint32_t counts[] = {1, 7, 8, 9, 1023, 1024, 1025, MANY};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        uint32_t n = counts[i];
        reef_world *w = another_world(state, NULL);
        people_make(w, e, n);
        uint64_t before = digest(w), live = book.live;
        reef_world *fork = reef_fork(w);
        reef_snapshot *snapshot = reef_snapshot_take(w);
        assert_non_null(fork);
        assert_non_null(snapshot);
        assert_true(digest(w) == before);
        people_are(w, e, n, false);
        people_are(fork, e, n, true);
        reef_world *second = reef_snapshot_fork(snapshot), *third = reef_fork(fork), *fourth = reef_fork(w);
        people_are(second, e, n, true);
        people_are(third, e, n, true);
        people_are(fourth, e, n, true);
        /* each is its own */
        value_set(fork, e[0], sound, 5);
        value_set(fork, e[n - 1], plain_reset, 6);
        value_set(w, e[n / 2], texture, 7);
        assert_int_equal(value_of(fork, e[0], sound), 5);
        assert_int_equal(value_of(w, e[0], sound), 1000);
        assert_int_equal(value_of(w, e[n / 2], texture), 7);
        people_are(third, e, n, true);
        people_are(second, e, n, true);
        value_set(w, e[n / 2], texture, (int32_t)(1000 + n / 2) * 2);
        people_are(w, e, n, false);
        reef_world_free(fork);
        reef_world_free(fourth);
        reef_snapshot_free(snapshot);
        reef_world_free(second);
        people_are(third, e, n, true);
        reef_world_free(third);
        people_are(w, e, n, false);
        assert_int_equal(book.live, live); /* what the copies had is gone */
        assert_true(digest(w) == before);
        end_world(state, w);
        assert_int_equal(book.live, 0);
    }
}

/* What is shared among copies isn't made again and again: values of one snapshot serve all forks of it until they
 * write. */
static void default_values_are_shared(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[50];
    people_make(w, e, 50);
    reef_snapshot *snapshot = reef_snapshot_take(w);
    uint64_t live = book.live;
    reef_world *forks[20];
    for (int i = 0; i < 20; i++) forks[i] = reef_snapshot_fork(snapshot);
    assert_int_equal(book.live, live);
    value_set(forks[3], e[1], sound, 4);
    assert_int_equal(book.live, live + 50);
    people_are(forks[4], e, 50, true);
    reef_snapshot_free(snapshot);
    for (int i = 0; i < 20; i++) reef_world_free(forks[i]);
    people_are(w, e, 50, false);
}

static void restoring_resets_or_leaves_alone(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[40];
    people_make(w, e, 40);
    reef_snapshot *snapshot = reef_snapshot_take(w);
    people_are(w, e, 40, false);
    value_set(w, e[1], sound, 11);
    value_set(w, e[1], plain_skip, 12);
    value_set(w, e[1], texture, 13);
    assert_ok(reef_destroy(w, e[2]));          /* has it then, not now: default */
    assert_ok(reef_remove_id(w, e[3], sound)); /* the same */
    assert_ok(reef_add(w, e[4], Velocity));    /* elsewhere now: has it then and now */
    assert_ok(reef_add(w, e[39], Frozen));
    assert_ok(reef_destroy(w, e[5]));                      /* its row is another's now */
    reef_entity fresh = reef_spawn(w, reef_with(Mass, 1)); /* of the index of e[2], another generation */
    assert_int_equal(fresh.index, e[2].index);
    assert_ok(reef_add_id(w, fresh, sound, NULL, NULL));
    value_set(w, fresh, sound, 99);
    assert_ok(reef_restore(w, snapshot));
    assert_valid(w);
    for (int i = 0; i < 40; i++) {
        bool kept = i != 2 && i != 5;
        assert_int_equal(value_of(w, e[i], texture), 100);
        assert_int_equal(value_of(w, e[i], plain_reset), 0);
        assert_int_equal(value_of(w, e[i], copied_reset), 100);
        assert_int_equal(value_of(w, e[i], sound), !kept || i == 3 ? 100 : i == 1 ? 11 : 1000 + i);
        assert_int_equal(value_of(w, e[i], plain_skip), !kept ? 0 : i == 1 ? 12 : (1000 + i) * 4);
    }
    /* again: what was left alone is still so, and the snapshot's own are default values as before */
    assert_ok(reef_restore(w, snapshot));
    assert_int_equal(value_of(w, e[1], sound), 11);
    assert_int_equal(value_of(w, e[4], sound), 1004);
    assert_int_equal(value_of(w, e[3], sound), 100);
    reef_world *fork = reef_snapshot_fork(snapshot);
    people_are(fork, e, 40, true);
    value_set(fork, e[1], sound, 55);
    assert_ok(reef_restore(fork, snapshot));
    assert_int_equal(value_of(fork, e[1], sound), 55); /* each world leaves its own alone */
    assert_int_equal(value_of(w, e[1], sound), 11);
    reef_world_free(fork);
    reef_snapshot_free(snapshot);
    assert_int_equal(value_of(w, e[1], sound), 11);
}

static void entities_that_only_one_state_has(void **state)
{
    reef_world *w = world_of(state);
    reef_snapshot *empty = reef_snapshot_take(w);
    reef_entity e[30];
    people_make(w, e, 30);
    reef_snapshot *full = reef_snapshot_take(w);
    assert_ok(reef_restore(w, empty)); /* nobody has it then: values end */
    assert_int_equal(reef_count_alive(w), 0);
    assert_ok(reef_restore(w, full)); /* nobody has it now: default values */
    people_are(w, e, 30, true);
    value_set(w, e[7], sound, 3);
    reef_snapshot_free(full);
    assert_int_equal(value_of(w, e[7], sound), 3);
    reef_snapshot_free(empty);
}

/* ---- hashes ---- */

static void such_values_are_never_hashed(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[1500];
    people_make(w, e, 1500);
    uint64_t hash = reef_hash(w);
    reef_world *fork = reef_fork(w);
    assert_true(reef_hash(fork) == hash);
    assert_true(reef_equal(w, fork, NULL));
    for (int k = 0; k < KINDS; k++) value_set(w, e[k * 300], *kinds[k].type, -5);
    assert_true(reef_hash(w) == hash);
    assert_true(reef_equal(w, fork, NULL));
    assert_ok(reef_remove_id(fork, e[9], sound)); /* but whether an entity has it is seen */
    assert_true(reef_hash(fork) != hash);
    assert_false(reef_equal(w, fork, NULL));
    reef_mut(w, e[3], Mass)->kg = 2;
    assert_true(reef_hash(w) != hash);
    reef_world_free(fork);
}

/* ---- failures ---- */

/* A construct hook that fails, for each value in turn: no copy, the world keeps everything. */
static void a_construct_hook_that_fails(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[20];
    people_make(w, e, 20);
    uint64_t before = digest(w), live = book.live;
    for (uint64_t n = 1; n <= 60; n++) {
        book.fail_construct = n;
        void *copy = n % 2 ? (void *)reef_fork(w) : (void *)reef_snapshot_take(w);
        book.fail_construct = 0;
        assert_null(copy);
        assert_true(reef_last_error(w).status < 0);
        assert_true(reef_last_error(w).component.id != 0);
        assert_int_equal(book.live, live);
        assert_true(digest(w) == before);
        people_are(w, e, 20, false);
    }
    book.fail_construct = 61; /* 20 entities, three constructed types */
    reef_world *fork = reef_fork(w);
    assert_non_null(fork);
    book.fail_construct = 1; /* the copy's first write makes the values its own */
    assert_null(reef_mut_id(fork, e[3], sound));
    book.fail_construct = 0;
    assert_true(reef_last_error(fork).status < 0);
    people_are(fork, e, 20, true);
    value_set(fork, e[3], sound, 6);
    assert_int_equal(value_of(fork, e[3], sound), 6);
    reef_world_free(fork);
    people_are(w, e, 20, false);
}

static void no_memory_world(void **state, reef_entity *e, uint32_t n, reef_world **w, reef_snapshot **snapshot)
{
    *w = another_world(state, NULL);
    people_make(*w, e, n);
    *snapshot = reef_snapshot_take(*w);
    assert_ok(reef_destroy(*w, e[2]));
    assert_ok(reef_add(*w, e[4], Velocity));
    value_set(*w, e[5], sound, 8);
}

static void without_memory_nothing_changes(void **state)
{
    static reef_entity e[1100];
    for (int call = 0; call < 4; call++) {
        for (int rest = 0; rest < 2; rest++) {
            uint64_t n = 1;
            for (bool failed = true; failed; n++) {
                reef_world *w, *made = NULL;
                reef_snapshot *snapshot, *taken = NULL;
                no_memory_world(state, e, 1100, &w, &snapshot);
                uint64_t before = digest(w), live = book.live;
                heap_fail_nth(heap_of(state), n, rest == 1);
                if (call == 0) made = reef_fork(w);
                if (call == 1) taken = reef_snapshot_take(w);
                if (call == 2) made = reef_snapshot_fork(snapshot);
                bool done = call == 3 ? reef_restore(w, snapshot) == REEF_OK : made || taken;
                failed = heap_of(state)->refused != 0;
                heap_fail_never(heap_of(state));
                assert_valid(w);
                if (!done) {
                    assert_true(failed);
                    if (call != 2) assert_int_equal(reef_last_error(w).status, REEF_NO_MEMORY);
                    assert_true(digest(w) == before);
                    assert_int_equal(book.live, live);
                }
                if (call != 3 || !done) assert_int_equal(value_of(w, e[1], texture), 2002);
                if (call == 3 && done) assert_int_equal(value_of(w, e[1], texture), 100);
                assert_int_equal(value_of(w, e[5], sound), 8); /* also when it was restored */
                if (!done) assert_ok(reef_restore(w, snapshot));
                assert_int_equal(value_of(w, e[1], sound), 1001);
                reef_world_free(made);
                reef_snapshot_free(taken);
                reef_snapshot_free(snapshot);
                end_world(state, w);
                assert_int_equal(book.live, 0);
                assert_null(book.mistake);
            }
            assert_true(n > 3);
        }
    }
}

/* ---- random lives, compared with a naive one ---- */

enum { PEOPLE = 70, WORLDS = 5, SNAPSHOTS = 4, STEPS = 6000 };

typedef struct naive {
    reef_entity e[PEOPLE]; /* null: dead */
    bool has[PEOPLE][KINDS];
    int32_t value[PEOPLE][KINDS];
} naive;

static naive copy_of(const naive *from)
{
    naive to = *from;
    for (int i = 0; i < PEOPLE; i++)
        for (int k = 0; k < KINDS; k++) to.value[i][k] = kinds[k].standard;
    return to;
}

/* An entity is who has its handle: in another future that may have been another person. */
static naive restored(const naive *now, const naive *then)
{
    naive to = copy_of(then);
    for (int i = 0; i < PEOPLE; i++) {
        int j = 0;
        while (j < PEOPLE && !reef_entity_equal(now->e[j], then->e[i])) j++;
        if (j == PEOPLE || reef_entity_is_null(then->e[i])) continue;
        for (int k = 0; k < KINDS; k++)
            if (kinds[k].skips && now->has[j][k] && then->has[i][k]) to.value[i][k] = now->value[j][k];
    }
    return to;
}

static void live(reef_world *w, naive *n, uint64_t *seed)
{
    uint32_t i = random_below(seed, PEOPLE), k = random_below(seed, KINDS), what = random_below(seed, 10);
    reef_entity e = n->e[i];
    reef_component c = *kinds[k].type;
    if (reef_entity_is_null(e)) {
        n->e[i] = reef_spawn(w, reef_with(Mass, 1));
        for (int j = 0; j < KINDS; j++) n->has[i][j] = false;
    } else if (what == 0) {
        assert_ok(reef_destroy(w, e));
        n->e[i] = (reef_entity){0};
    } else if (what < 4) {
        assert_ok(n->has[i][k] ? reef_remove_id(w, e, c) : reef_add_id(w, e, c, NULL, NULL));
        n->has[i][k] = !n->has[i][k];
        n->value[i][k] = kinds[k].standard;
    } else if (what == 4) {
        (void)(reef_has(w, e, Velocity) ? reef_remove(w, e, Velocity) : reef_add(w, e, Velocity));
    } else if (what == 5) {
        (void)(reef_has(w, e, Awake) ? reef_remove(w, e, Awake) : reef_add(w, e, Awake));
    } else if (n->has[i][k]) {
        value_set(w, e, c, n->value[i][k] = (int32_t)random_below(seed, 10000));
    }
}

static void check(const reef_world *w, const naive *n)
{
    assert_valid(w);
    for (int i = 0; i < PEOPLE; i++) {
        if (reef_entity_is_null(n->e[i])) continue;
        for (int k = 0; k < KINDS; k++) {
            assert_int_equal(reef_has_id(w, n->e[i], *kinds[k].type), n->has[i][k]);
            if (n->has[i][k]) assert_int_equal(value_of(w, n->e[i], *kinds[k].type), n->value[i][k]);
        }
    }
}

static void random_lives(void **state)
{
    reef_world *w[WORLDS] = {another_world(state, NULL)};
    reef_snapshot *s[SNAPSHOTS] = {NULL};
    naive *of_w = calloc(WORLDS, sizeof *of_w), *of_s = calloc(SNAPSHOTS, sizeof *of_s);
    uint64_t seed = 44;
    for (int step = 0; step < STEPS; step++) {
        uint32_t a = random_below(&seed, WORLDS), b = random_below(&seed, WORLDS), i = random_below(&seed, SNAPSHOTS);
        uint32_t what = random_below(&seed, 60);
        if (w[a] == NULL) a = 0;
        if (what < 2 && a != b && b != 0) {
            reef_world_free(w[b]);
            assert_non_null(w[b] = reef_fork(w[a]));
            of_w[b] = copy_of(&of_w[a]);
        } else if (what < 4) {
            reef_snapshot_free(s[i]);
            assert_non_null(s[i] = reef_snapshot_take(w[a]));
            of_s[i] = copy_of(&of_w[a]);
        } else if (what < 6 && s[i]) {
            assert_ok(reef_restore(w[a], s[i]));
            of_w[a] = restored(&of_w[a], &of_s[i]);
        } else if (what == 6 && s[i] && b != 0) {
            reef_world_free(w[b]);
            assert_non_null(w[b] = reef_snapshot_fork(s[i]));
            of_w[b] = of_s[i];
        } else if (what == 7 && b != 0 && b != a) {
            reef_world_free(w[b]);
            w[b] = NULL;
        } else {
            for (int k = 0; k < 5; k++) live(w[a], &of_w[a], &seed);
        }
        check(w[a], &of_w[a]);
        for (int k = 0; k < WORLDS && step % 20 == 0; k++)
            if (w[k]) check(w[k], &of_w[k]);
        assert_null(book.mistake);
    }
    for (int k = 1; k < WORLDS; k++) reef_world_free(w[k]);
    check(w[0], &of_w[0]);
    for (int i = 0; i < SNAPSHOTS; i++) reef_snapshot_free(s[i]);
    end_world(state, w[0]);
    free(of_w);
    free(of_s);
}

static reef_component type_make(const char *name, const reef_hooks *from, reef_on_fork on_fork)
{
    reef_hooks hooks = from ? *from : (reef_hooks){0};
    hooks.on_fork = on_fork;
    return reef_type_new(&(reef_type_desc){.name = name, .size = from ? 8 : 4, .align = 4, .hooks = &hooks}, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(copies_get_default_values_and_the_world_keeps_its_own),
        TEST(default_values_are_shared),
        TEST(restoring_resets_or_leaves_alone),
        TEST(entities_that_only_one_state_has),
        TEST(such_values_are_never_hashed),
        TEST(a_construct_hook_that_fails),
        TEST(without_memory_nothing_changes),
        TEST(random_lives),
    };
    sound = type_make("sound", &unique_hooks, REEF_FORK_SKIP);
    texture = type_make("texture", &unique_hooks, REEF_FORK_RESET);
    plain_reset = type_make("plain_reset", NULL, REEF_FORK_RESET);
    plain_skip = type_make("plain_skip", NULL, REEF_FORK_SKIP);
    copied_reset = type_make("copied_reset", &tracked_hooks, REEF_FORK_RESET);
    if (!sound.id || !texture.id || !plain_reset.id || !plain_skip.id || !copied_reset.id) return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
