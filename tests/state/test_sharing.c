/* Copy on write: what a snapshot shares with its world never changes, whatever the world does, and the world goes on as
 * if there were no snapshot. */
#include "support.h"

enum { PEOPLE = 400, SNAPSHOTS = 4 };

typedef struct life {
    reef_world *w;
    reef_entity e[PEOPLE];
    uint64_t seed;
} life;

static void live_components(life *l, uint32_t what, reef_entity e, int32_t value)
{
    reef_world *w = l->w;
    switch (what) {
    case 0: assert_true(reef_set(w, e, Position, (float)value, 1) >= 0); break;
    case 1: assert_true(reef_set(w, e, Tracked, .value = value) >= 0); break;
    case 2: assert_true(reef_set(w, e, Loose, .value = value) >= 0); break;
    case 3: (void)(reef_has(w, e, Awake) ? reef_remove(w, e, Awake) : reef_add(w, e, Awake)); break;
    case 4: (void)(reef_has(w, e, Frozen) ? reef_remove(w, e, Frozen) : reef_add(w, e, Frozen)); break;
    case 5: (void)(reef_has(w, e, Loose) ? reef_remove(w, e, Loose) : reef_add(w, e, Loose)); break;
    case 6:
        if (reef_has(w, e, Mass)) reef_mut(w, e, Mass)->kg = value;
        break;
    case 7: assert_ok(reef_change(w, e, reef_with(Mass, value), reef_without(Loose), reef_tag(Seen))); break;
    default: assert_ok(reef_remove_all(w, e)); break;
    }
}

static void live_rarely(life *l, uint32_t what)
{
    reef_world *w = l->w;
    reef_query q;
    switch (what) {
    case 0: assert_ok(remove_everywhere(w, reef_id(Loose), NULL)); break;
    case 1: assert_ok(reef_shrink(w)); break;
    case 2: assert_ok(DESTROY_EVERYWHERE(w, reef_id(Frozen), reef_id(Mass))); break;
    case 3: assert_ok(reef_spawn_many(w, 300, l->e, reef_with(Mass, 5), reef_with(Tracked, .value = 4))); break;
    case 4: (void)reef_destroy_many(w, l->e + 50, 150); break;
    case 5: assert_true(reef_write_many(w, Mass, l->e, 2, ((Mass[]){{1}, {2}})) <= 2); break;
    default:
        q = reef_query_new(w, "Mass, with Tracked");
        for (reef_block b = reef_begin(w, q); reef_next(&b);)
            for (uint32_t i = 0; i < b.count; i++) reef_inout(&b, Mass)[i].kg += 1;
        reef_query_free(w, q);
        break;
    }
}

static void live(life *l)
{
    uint32_t i = random_below(&l->seed, PEOPLE), what = random_below(&l->seed, 100);
    int32_t value = (int32_t)random_below(&l->seed, 1000);
    if (what < 2) live_rarely(l, random_below(&l->seed, 7));
    else if (!reef_is_alive(l->w, l->e[i])) {
        if (what % 3 == 0) l->e[i] = reef_create(l->w);
        else if (what % 3 == 1) l->e[i] = reef_spawn(l->w, reef_with(Mass, value), reef_with(Tracked, .value = value));
        else l->e[i] = reef_clone(l->w, l->e[(i + 1) % PEOPLE]);
    } else if (what < 90) live_components(l, what % 9, l->e[i], value);
    else assert_ok(reef_destroy(l->w, l->e[i]));
}

static void snapshots_keep_what_the_world_changes(void **state)
{
    life *l = calloc(1, sizeof *l), *control = calloc(1, sizeof *control);
    reef_world *frozen[SNAPSHOTS] = {NULL};
    uint64_t hash[SNAPSHOTS] = {0}, seed = 99;
    l->w = world_of(state);
    control->w = another_world(state, NULL);
    l->seed = control->seed = 12;
    for (int step = 0; step < 12000; step++) {
        uint32_t s = random_below(&seed, SNAPSHOTS);
        if (step % 37 == 0 && frozen[s]) {
            reef_world_free(frozen[s]);
            frozen[s] = NULL;
        } else if (step % 37 == 5 && !frozen[s]) {
            frozen[s] = reef_fork(l->w);
            hash[s] = digest(frozen[s]);
        }
        live(l);
        live(control);
        if (step % 100 != 99) continue;
        assert_valid(l->w);
        assert_true(digest(l->w) == digest(control->w)); /* a history never changes what can be seen */
        for (int i = 0; i < SNAPSHOTS; i++)
            if (frozen[i]) assert_true(digest(frozen[i]) == hash[i]);
        assert_null(book.mistake);
    }
    for (int i = 0; i < SNAPSHOTS; i++)
        if (frozen[i]) reef_world_free(frozen[i]);
    assert_valid(l->w);
    assert_true(digest(l->w) == digest(control->w));
    free(l);
    free(control);
}

/* The first call after a snapshot finds everything shared. */
static void each_first_write_after_a_snapshot(void **state)
{
    for (uint32_t what = 0; what < 16; what++) {
        life *l = calloc(1, sizeof *l), *control = calloc(1, sizeof *control);
        life *both[] = {l, control};
        l->w = another_world(state, NULL);
        control->w = another_world(state, NULL);
        for (int k = 0; k < 2; k++) {
            both[k]->seed = what;
            assert_ok(reef_spawn_many(both[k]->w, PEOPLE, both[k]->e, reef_with(Mass, 1),
                                      reef_with(Tracked, .value = 2), reef_tag(Awake)));
            for (int i = 0; i < 600; i++) live(both[k]);
        }
        reef_world *frozen = reef_fork(l->w), *second = reef_fork(l->w);
        uint64_t hash = digest(frozen);
        for (int k = 0; k < 2; k++)
            for (uint32_t i = 0; i < 3; i++) {
                if (what < 9)
                    live_components(
                        both[k], what,
                        reef_entity_at(both[k]->w, reef_is_alive(both[k]->w, both[k]->e[7]) ? both[k]->e[7].index : 0),
                        5);
                else live_rarely(both[k], what - 9);
            }
        assert_valid(l->w);
        assert_true(digest(l->w) == digest(control->w));
        assert_true(digest(frozen) == hash && digest(second) == hash);
        reef_world_free(frozen);
        assert_true(digest(second) == hash);
        end_world(state, control->w);
        reef_world_free(second);
        end_world(state, l->w);
        free(l);
        free(control);
    }
}

/* When there is no memory for a copy of a shared block, nothing changes in the world or the snapshot. */
static void unsharing_without_memory_changes_nothing(void **state)
{
    for (uint32_t call = 0; call < 5; call++) {
        uint32_t failures = 0;
        for (uint64_t n = 1;; n++) {
            reef_world *w = another_world(state, NULL);
            reef_entity e[1200];
            assert_ok(reef_spawn_many(w, 1200, e, reef_with(Position, 1, 2), reef_with(Tracked, .value = 2),
                                      reef_with(Mass, 1)));
            reef_query q = reef_query_new(w, "Mass");
            assert_int_equal(reef_query_count(w, q), 1200);
            reef_world *frozen = reef_fork(w);
            uint64_t before = digest(w), hash = digest(frozen);
            heap_fail_nth(heap_of(state), n, true);
            bool works = false;
            if (call == 0) works = reef_mut(w, e[5], Position) != NULL;
            if (call == 1) works = reef_set(w, e[5], Tracked, .value = 4) >= 0;
            if (call == 2) works = reef_destroy(w, e[5]) >= 0;
            if (call == 3) works = reef_remove(w, e[5], Mass) >= 0;
            if (call == 4) {
                for (reef_block b = reef_begin(w, q); reef_next(&b);) works = true;
                works = reef_last_error(w).status == REEF_OK;
            }
            bool failed = heap_of(state)->refused != 0;
            heap_fail_never(heap_of(state));
            assert_valid(w);
            assert_true(digest(frozen) == hash);
            if (!works) {
                assert_int_equal(reef_last_error(w).status, REEF_NO_MEMORY);
                assert_true(digest(w) == before);
                failures++;
            }
            reef_world_free(frozen);
            end_world(state, w);
            if (!failed) break;
        }
        assert_true(failures > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(snapshots_keep_what_the_world_changes),
        TEST(each_first_write_after_a_snapshot),
        TEST(unsharing_without_memory_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
