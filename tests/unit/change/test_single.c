/* Singletons: components of the one entity that a world keeps for them. */
#include "storage/world_data.h"
#include "storage/table.h" /* before cmocka, which has a macro of the name fail */
#include "support.h"

typedef struct {
    float x, y;
} Gravity;
REEF_COMPONENT(Gravity);
REEF_TAG(Night);
REEF_SWITCH(Raining);

static void a_world_begins_without_singletons(void **test)
{
    reef_world *w = world_of(test);
    assert_none(reef_single_entity(w));
    assert_null(reef_single_get(w, Gravity));
    assert_false(reef_single_has(w, Gravity));
    assert_no_pointer(w, REEF_ABSENT, reef_single_mut(w, Gravity));
    assert_refused(w, REEF_ABSENT, reef_single_remove(w, Gravity));
    assert_int_equal(reef_count_alive(w), 0);
}

static void set_get_mut_remove(void **test)
{
    reef_world *w = world_of(test);
    assert_status(REEF_ADDED, reef_single_set(w, Gravity, 0, -10));
    assert_float_equal(reef_single_get(w, Gravity)->y, -10, 0);
    assert_status(REEF_OK, reef_single_set(w, Gravity, .y = -9));
    reef_single_mut(w, Gravity)->x = 3;
    assert_float_equal(reef_single_get(w, Gravity)->x, 3, 0);
    assert_float_equal(reef_single_get(w, Gravity)->y, -9, 0);
    assert_status(REEF_ADDED, reef_single_set(w, Mass, 70));
    assert_int_equal(reef_count_alive(w), 1);
    const reef_entity e = reef_single_entity(w);
    assert_entity(e, reef_entity_at(w, 0));
    assert_ptr_equal(reef_get(w, e, Mass), reef_single_get(w, Mass));
    assert_ok(reef_single_remove(w, Gravity));
    assert_null(reef_single_get(w, Gravity));
    assert_no_pointer(w, REEF_ABSENT, reef_single_mut(w, Gravity));
    assert_refused(w, REEF_ABSENT, reef_single_remove(w, Gravity));
    assert_ok(reef_single_remove(w, Mass));
    assert_entity(e, reef_single_entity(w)); /* it stays without any */
    assert_status(REEF_ADDED, reef_single_set(w, Gravity, 1, 2));
    assert_entity(e, reef_single_entity(w));
}

static void tags_and_switches_are_singletons_too(void **test)
{
    reef_world *w = world_of(test);
    assert_status(REEF_ADDED, reef_single_set_id(w, reef_id(Night), NULL, 0));
    assert_true(reef_single_has(w, Night));
    assert_null(reef_single_get_id(w, reef_id(Night)));
    assert_status(REEF_ADDED, reef_single_set_id(w, reef_id(Raining), NULL, 0));
    assert_true(reef_single_has(w, Raining));
    assert_ok(reef_single_remove(w, Night));
    assert_false(reef_single_has(w, Night));
    assert_true(reef_single_has(w, Raining));
    end_world(test, w);
    w = another_world(test, NULL); /* with a switch as the first */
    assert_status(REEF_ADDED, reef_single_set_id(w, reef_id(Raining), NULL, 0));
    assert_true(reef_single_has(w, Raining));
}

static void what_is_wrong_is_refused(void **test)
{
    reef_world *w = world_of(test);
    const Gravity g = {0, 0};
    for (int round = 0; round < 2; round++) { /* without the entity and with it */
        assert_refused(w, REEF_WRONG_SIZE, reef_single_set_id(w, reef_id(Gravity), &g, sizeof g - 1));
        assert_refused(w, REEF_WRONG_SIZE, reef_single_set_id(w, reef_id(Gravity), &g, SIZE_MAX));
        assert_refused(w, REEF_UNKNOWN_TYPE, reef_single_set_id(w, (reef_component){0}, &g, sizeof g));
        assert_refused(w, REEF_UNKNOWN_TYPE, reef_single_set_id(w, (reef_component){UINT32_MAX}, &g, sizeof g));
        if (round == 0) assert_status(REEF_ADDED, reef_single_set(w, Mass, 1));
    }
    assert_int_equal(reef_single_set_id(NULL, reef_id(Gravity), &g, sizeof g), REEF_BAD_ARGUMENT);
    assert_int_equal(reef_single_remove_id(NULL, reef_id(Gravity)), REEF_BAD_ARGUMENT);
    assert_null(reef_single_get_id(NULL, reef_id(Gravity)));
    assert_null(reef_single_mut_id(NULL, reef_id(Gravity)));
    assert_false(reef_single_has_id(NULL, reef_id(Gravity)));
    assert_none(reef_single_entity(NULL));
    reef_world *full = another_world(test, &(reef_world_config){.entities_max = 1});
    assert_some(reef_create_entity(full));
    assert_refused(full, REEF_LIMIT, reef_single_set(full, Mass, 1));
    reef_world *strict = another_world(test, &(reef_world_config){.strict = true});
    assert_refused(strict, REEF_UNKNOWN_TYPE, reef_single_set(strict, Mass, 1));
    assert_ok(reef_use(strict, Mass));
    assert_status(REEF_ADDED, reef_single_set(strict, Mass, 1));
}

static void singletons_go_with_their_entity(void **test)
{
    reef_world *w = world_of(test);
    assert_status(REEF_ADDED, reef_single_set(w, Tracked, .value = 5));
    const reef_entity first = reef_single_entity(w);
    assert_ok(reef_destroy(w, first));
    assert_int_equal(book.live, 0);
    assert_none(reef_single_entity(w));
    assert_null(reef_single_get(w, Tracked));
    const reef_entity other = reef_spawn(w, reef_with(Mass, 1)); /* of the same index */
    assert_int_equal(other.index, first.index);
    assert_none(reef_single_entity(w));
    assert_null(reef_single_get(w, Mass));
    assert_status(REEF_ADDED, reef_single_set(w, Mass, 2));
    assert_false(reef_entity_equal(reef_single_entity(w), other));
    assert_ok(reef_world_clear(w));
    assert_none(reef_single_entity(w));
    assert_status(REEF_ADDED, reef_single_set(w, Mass, 3));
    assert_int_equal(reef_count_alive(w), 1);
}

static void queries_find_singletons(void **test)
{
    reef_world *w = world_of(test);
    assert_some(reef_spawn(w, reef_with(Mass, 1)));
    assert_status(REEF_ADDED, reef_single_set(w, Gravity, 1, 2));
    reef_query q = reef_query_new(w, "in Gravity");
    assert_query(q);
    assert_entity(reef_single_entity(w), reef_query_single(w, q));
}

static void singletons_are_state(void **test)
{
    reef_world *w = world_of(test);
    reef_snapshot *none = reef_snapshot_take(w);
    assert_status(REEF_ADDED, reef_single_set(w, Gravity, 0, 1));
    reef_snapshot *one = reef_snapshot_take(w);
    reef_world *fork = reef_fork(w);
    assert_entity(reef_single_entity(w), reef_single_entity(fork));
    assert_int_equal(reef_hash(w), reef_hash(fork));
    reef_single_mut(fork, Gravity)->y = 2;
    assert_float_equal(reef_single_get(w, Gravity)->y, 1, 0);
    assert_int_not_equal(reef_hash(w), reef_hash(fork));
    assert_ok(reef_restore(w, none));
    assert_none(reef_single_entity(w));
    assert_null(reef_single_get(w, Gravity));
    assert_ok(reef_restore(w, one));
    assert_float_equal(reef_single_get(w, Gravity)->y, 1, 0);
    assert_ok(reef_destroy(w, reef_single_entity(w)));
    assert_ok(reef_restore(w, one));
    assert_float_equal(reef_single_get(w, Gravity)->y, 1, 0);
    reef_world *late = reef_snapshot_fork(one);
    assert_float_equal(reef_single_get(late, Gravity)->y, 1, 0);
    reef_world_free(late);
    reef_world_free(fork);
    reef_snapshot_free(none);
    reef_snapshot_free(one);
}

static bool find_single(void *context, const reef_hash_part *part)
{
    if (part->kind == REEF_HASH_SINGLE) ++*(uint32_t *)context;
    return true;
}

static void the_hash_covers_which_entity_it_is(void **test)
{
    reef_world *w = world_of(test), *other = another_world(test, NULL);
    uint32_t parts = 0;
    assert_status(REEF_ADDED, reef_single_set(w, Mass, 1));
    assert_some(reef_spawn(w, reef_with(Mass, 1)));
    assert_some(reef_spawn(other, reef_with(Mass, 1)));
    assert_true(reef_hash_parts(other, find_single, &parts) != 0);
    assert_int_equal(parts, 0);
    assert_status(REEF_ADDED, reef_single_set(other, Mass, 1));
    assert_true(reef_hash_parts(other, find_single, &parts) != 0);
    assert_int_equal(parts, 1);
    assert_int_not_equal(reef_hash(w), reef_hash(other));
    assert_int_equal(reef_hash(w), hash_anew(w));
    reef_difference d;
    char text[200];
    assert_false(reef_equal(w, other, &d));
    assert_int_equal(d.kind, REEF_HASH_SINGLE);
    (void)reef_difference_text(&d, text, sizeof text);
    assert_string_equal(text, "The entities with the singletons differ: 0v1 and 1v1");
    /* A dead one is none. */
    reef_world *x = another_world(test, NULL), *y = another_world(test, NULL);
    assert_status(REEF_ADDED, reef_single_set(x, Mass, 1));
    assert_ok(reef_destroy(x, reef_single_entity(x)));
    assert_ok(reef_destroy(y, reef_spawn(y, reef_with(Mass, 1))));
    assert_int_equal(reef_hash(x), reef_hash(y));
    assert_true(reef_equal(x, y, NULL));
}

static void an_open_loop_locks_or_records(void **test)
{
    reef_world *w = world_of(test);
    assert_some(reef_spawn(w, reef_with(Health, 1, 2)));
    reef_query q = reef_query_new(w, "in Health");
    reef_block b = reef_begin(w, q);
    assert_true(reef_next(&b));
    assert_refused(w, REEF_LOCKED, reef_single_set(w, Gravity, 0, 1));
    reef_end(&b);
    b = reef_begin_loop(w, q, &(reef_loop){.deferred = true});
    assert_true(reef_next(&b));
    assert_ok(reef_single_set(w, Gravity, 0, 1));
    assert_ok(reef_single_set(w, Mass, 5));
    assert_ok(reef_single_set(w, Gravity, 0, 2));
    assert_none(reef_single_entity(w));
    assert_null(reef_single_get(w, Gravity));
    reef_end(&b);
    assert_some(reef_single_entity(w));
    assert_float_equal(reef_single_get(w, Gravity)->y, 2, 0);
    assert_float_equal(reef_single_get(w, Mass)->kg, 5, 0);
    assert_int_equal(reef_count_alive(w), 2);
    b = reef_begin_loop(w, q, &(reef_loop){.deferred = true});
    assert_true(reef_next(&b));
    assert_ok(reef_single_set(w, Gravity, 0, 3)); /* what is there is written at once */
    assert_float_equal(reef_single_get(w, Gravity)->y, 3, 0);
    assert_ok(reef_single_remove(w, Mass));
    assert_non_null(reef_single_get(w, Mass));
    reef_end(&b);
    assert_null(reef_single_get(w, Mass));
}

/* ---- in systems ---- */

static struct {
    bool got, wrote;
    reef_status set, made;
    float y;
} in_system;

static void read_single(reef_block *b)
{
    const Gravity *g = reef_single_get(b->world, Gravity);
    in_system.got = g != NULL;
    in_system.y = g ? g->y : 0;
    in_system.made = reef_single_set(b->world, Mass, 1);
}

static void write_single(reef_block *b)
{
    Gravity *g = reef_single_mut(b->world, Gravity);
    in_system.wrote = g != NULL;
    if (g) g->y += b->dt;
    in_system.set = reef_single_set(b->world, Gravity, .x = 1, .y = g ? g->y + 1 : 0);
}

static void write_undeclared(reef_block *b)
{
    in_system.wrote = reef_single_mut(b->world, Gravity) != NULL;
    in_system.set = reef_single_set(b->world, Gravity, 5, 5);
}

static void systems_declare_singletons(void **test)
{
    for (uint32_t threads = 1; threads <= 4; threads += 3) {
        reef_world *w = another_world(test, NULL);
        reef_pool *p = reef_pool_new(&(reef_pool_config){.threads = threads});
        assert_ok(reef_set_pool(w, p));
        reef_watch_systems(w, false); /* threads are tested */
        assert_status(REEF_ADDED, reef_single_set(w, Gravity, 0, 10));
        assert_some(reef_spawn(w, reef_with(Health, 1, 1)));
        assert_false(reef_system_is_null(reef_system(w, write_single, "; writes Gravity")));
        assert_false(reef_system_is_null(reef_system(w, read_single, "in Health; reads Gravity")));
        memset(&in_system, 0, sizeof in_system);
        assert_ok(reef_tick(w, 0.5f));
        assert_true(in_system.wrote && in_system.got);
        assert_int_equal(in_system.set, REEF_OK);
        assert_float_equal(in_system.y, 11.5, 0); /* behind the one that writes */
        assert_true(in_system.made < 0);
        assert_null(reef_single_get(w, Mass));
        assert_float_equal(reef_single_get(w, Gravity)->x, 1, 0);
        assert_ok(reef_system_remove(w, reef_system_find(w, "write_single")));
        assert_false(reef_system_is_null(reef_system(w, write_undeclared, "; reads Gravity")));
        assert_ok(reef_tick(w, 0.5f));
        assert_true(in_system.got && !in_system.wrote);
        assert_int_equal(in_system.set, REEF_UNDECLARED);
        assert_int_equal(reef_last_error(w).status, REEF_UNDECLARED);
        assert_float_equal(reef_single_get(w, Gravity)->y, 11.5, 0);
        end_world(test, w);
        reef_pool_free(p);
    }
}

static void a_singletons_entity_that_never_was_is_found(void **test)
{
    reef_world *w = world_of(test);
    char message[200];
    assert_status(REEF_ADDED, reef_single_set(w, Mass, 1));
    const reef_entity e = w->state.single;
    w->state.single = (reef_entity){e.index + 1, 1};
    assert_status(REEF_CORRUPT, reef_validate(w, message, sizeof message));
    assert_string_equal(message, "singletons: entity 1v1 was never made");
    w->state.single = (reef_entity){e.index, e.generation + 1};
    assert_status(REEF_CORRUPT, reef_validate(w, message, sizeof message));
    w->state.single = e;
    assert_valid(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_world_begins_without_singletons),
        TEST(set_get_mut_remove),
        TEST(tags_and_switches_are_singletons_too),
        TEST(what_is_wrong_is_refused),
        TEST(singletons_go_with_their_entity),
        TEST(queries_find_singletons),
        TEST(singletons_are_state),
        TEST(the_hash_covers_which_entity_it_is),
        TEST(an_open_loop_locks_or_records),
        TEST(systems_declare_singletons),
        TEST(a_singletons_entity_that_never_was_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
