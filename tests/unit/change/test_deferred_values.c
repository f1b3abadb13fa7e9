/* Loops that record structural changes, the inside (D4, D5): the state is that of the same calls after the loop,
 * values are held and given on, failures are told, nothing is lost when memory runs out. */
#include "deferred_stage.h"

typedef struct {
    _Alignas(64) double v[8];
} Wide;
REEF_COMPONENT(Wide);

/* ---- the same as one by one, after the loop ---- */

/* Calls chosen by a seed. Only what isn't there is set. made: entities that were made. */
static uint32_t storm(reef_world *w, const reef_entity *e, uint32_t n, uint64_t seed, bool destroys, reef_entity *made)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < 400; i++) {
        const uint32_t what = random_below(&seed, 12);
        const reef_entity x =
            count && random_below(&seed, 3) == 0 ? made[random_below(&seed, count)] : e[random_below(&seed, n)];
        switch (what) {
        case 0:
            made[count++] = reef_spawn(w, reef_with(Position, (float)i, 1), reef_tag(Frozen), reef_tag(Seen));
            break;
        case 1: made[count++] = reef_create(w); break;
        case 2: made[count++] = reef_spawn(w, reef_with(Tracked, .value = (int)i), reef_with(Mass, 3)); break;
        case 3:
            reef_spawn_many(w, 5, made + count, reef_with(Cargo, {(uint8_t)i}), reef_with(Loose, .value = 1));
            count += 5;
            break;
        case 4:
            if (destroys) reef_destroy(w, x);
            break;
        case 5: reef_add(w, x, Velocity); break;
        case 6: reef_add(w, x, Awake); break;
        case 7: reef_remove(w, x, Position); break;
        case 8: reef_change(w, x, reef_with(Cargo, {1}), reef_without(Velocity), reef_with(Wide, {(double)i})); break;
        case 9: reef_disable(w, x, Mass); break;
        case 10: reef_remove_all(w, x); break;
        default: /* a clone of one that is destroyed takes an id here, and none when it is called later */
            if (!destroys) made[count++] = reef_clone(w, x);
            break;
        }
    }
    return count;
}

static void same_as_later(void **state, bool destroys, uint32_t free_ids)
{
    static reef_entity e[200], made[2500], again[2500], gone[2500];
    reef_world *w = world_of(state);
    if (free_ids) assert_ok(reef_spawn_many_values(w, free_ids, gone, NULL, 0));
    for (uint32_t i = 0; i < 200; i++)
        e[i] = i % 2 ? reef_spawn(w, reef_with(Position, (float)i, 0), reef_with(Mass, 1))
                     : reef_spawn(w, reef_with(Loose, .value = 1), reef_with(Position, 1, 1));
    for (uint32_t i = 0; i < free_ids; i++) assert_ok(reef_destroy(w, gone[(uint64_t)i * 7 % free_ids]));
    reef_query q = reef_query_new(w, "in Position");
    for (uint64_t seed = 1; seed < 6; seed++) {
        reef_world *fork = reef_fork(w);
        assert_non_null(fork);
        reef_block b = begin_at(w, q);
        const uint32_t n = storm(w, e, 200, seed, destroys, made);
        reef_end(&b);
        /* an add of what is there: EXISTS. The fork: the same calls, now */
        assert_int_equal(storm(fork, e, 200, seed, destroys, again), n);
        for (uint32_t i = 0; i < n; i++) assert_int_equal(reef_is_alive(w, made[i]), reef_is_alive(fork, again[i]));
        for (uint32_t i = 0; i < n; i++)
            if (reef_is_alive(fork, again[i])) assert_entity(again[i], made[i]);
        assert_valid(w);
        assert_int_equal(reef_hash(w), reef_hash(fork));
        reef_world_free(fork);
    }
}

static void without_destroys_the_hash_is_that_of_calls_after_the_loop(void **state) { same_as_later(state, false, 0); }

static void with_free_ids_enough_the_hash_is_that_of_calls_after_the_loop(void **state)
{
    same_as_later(state, true, 2500);
}

/* In general: ids are those of reef_reserve_id at the time of the call. */
static void ids_are_taken_in_the_order_of_the_calls(void **state)
{
    stage s = stage_make(state);
    stage_end(&s);
    reef_world *fork = reef_fork(s.w);
    reef_block b = begin_at(s.w, s.all);
    assert_ok(reef_destroy(s.w, s.e));
    reef_entity first = reef_spawn(s.w, reef_with(Mass, 1));
    assert_ok(reef_destroy(s.w, first));
    reef_entity second = reef_spawn(s.w, reef_with(Mass, 2), reef_with(Position, 2, 2));
    reef_end(&b);
    reef_entity same_first = reef_reserve_id(fork), same_second = reef_reserve_id(fork);
    assert_entity(same_first, first);
    assert_entity(same_second, second);
    assert_ok(reef_destroy(fork, s.e));
    assert_ok(reef_create_as(fork, same_first));
    assert_status(REEF_ADDED, reef_set(fork, same_first, Mass, 1));
    assert_ok(reef_destroy(fork, same_first));
    assert_ok(reef_create_as(fork, same_second));
    assert_ok(reef_change(fork, same_second, reef_with(Mass, 2), reef_with(Position, 2, 2)));
    assert_int_equal(reef_hash(s.w), reef_hash(fork));
    reef_world_free(fork);
}

/* ---- values ---- */

static void values_are_held_and_given_on(void **state)
{
    stage s = stage_make(state);
    Tracked own;
    Unique only;
    tracked_make(&own, 41);
    unique_make(&only, 42);
    ledger_count_anew();
    assert_ok(reef_set_id(s.w, s.e, reef_id(Tracked), &own, sizeof own));
    assert_int_equal(book.copied, 1);
    assert_ok(reef_set_id(s.w, s.e, reef_id(Unique), &only, sizeof only)); /* moved out: only is ours no more */
    tracked_drop(&own);
    assert_null(reef_get(s.w, s.e, Tracked));
    stage_end(&s);
    assert_int_equal(book.copied, 1); /* moved on, not copied again */
    assert_int_equal(reef_get(s.w, s.e, Tracked)->value, 41);
    assert_int_equal(reef_get(s.w, s.e, Unique)->value, 42);
    s.loop = begin_at(s.w, s.all); /* over what is there, in a change that does more */
    assert_ok(reef_change(s.w, s.e, reef_with(Tracked, .value = 43), reef_with(Health, 1, 1)));
    reef_entity many[3];
    assert_ok(reef_spawn_many(s.w, 3, many, reef_with(Tracked, .value = 7), reef_default(Unique), reef_default(Loose)));
    stage_end(&s);
    assert_int_equal(reef_get(s.w, s.e, Tracked)->value, 43);
    for (int i = 0; i < 3; i++) assert_int_equal(reef_get(s.w, many[i], Tracked)->value, 7);
}

static void arrays_go_to_their_entities(void **state)
{
    stage s = stage_make(state);
    Mass mass[40];
    Unique only[40];
    Tracked tracked[40];
    reef_entity made[40];
    for (int i = 0; i < 40; i++) mass[i].kg = i, unique_make(&only[i], 100 + i), tracked_make(&tracked[i], 200 + i);
    assert_ok(reef_spawn_many(s.w, 40, made, reef_array(Mass, mass), reef_array(Unique, only),
                              reef_array(Tracked, tracked), reef_tag(Awake)));
    for (int i = 0; i < 40; i++) tracked_drop(&tracked[i]);
    memset(mass, 0, sizeof mass);
    assert_ok(reef_spawn_many(s.w, 2, NULL, reef_with(Mass, 1)));
    stage_end(&s);
    for (int i = 0; i < 40; i++) {
        assert_true(mass_of(s.w, made[i]) == i && reef_has(s.w, made[i], Awake));
        assert_int_equal(reef_get(s.w, made[i], Unique)->value, 100 + i);
        assert_int_equal(reef_get(s.w, made[i], Tracked)->value, 200 + i);
    }
    assert_int_equal(reef_count(s.w, Mass), 43);
}

static void constructors_run_when_it_is_done_but_with_args_at_once(void **state)
{
    stage s = stage_make(state);
    int args = 77;
    ledger_count_anew();
    assert_ok(reef_add(s.w, s.e, Tracked));
    assert_int_equal(book.constructed, 0);
    assert_ok(reef_add_args(s.w, s.f, Tracked, &args));
    assert_int_equal(book.constructed, 1);
    assert_ptr_equal(book.args, &args);
    assert_entity(s.f, book.entity);
    reef_entity made = reef_spawn_values(s.w, &(reef_value){reef_id(Unique), REEF_VALUE_DEFAULT, 0, &args}, 1);
    assert_int_equal(book.constructed, 2);
    assert_entity(made, book.entity);
    assert_status(REEF_OK, after_loop(&s));
    assert_int_equal(book.constructed, 3);
    assert_true(reef_has(s.w, s.e, Tracked) && reef_has(s.w, s.f, Tracked) && reef_has(s.w, made, Unique));
}

static void values_of_calls_that_fail_are_destroyed(void **state)
{
    stage s = stage_make(state);
    int args = 1;
    Unique only;
    unique_make(&only, 5);
    const uint64_t live = book.live;
    assert_ok(reef_destroy(s.w, s.e));
    assert_ok(reef_set(s.w, s.e, Tracked, .value = 3));
    assert_ok(reef_set_id(s.w, s.e, reef_id(Unique), &only, sizeof only));
    assert_ok(reef_add_args(s.w, s.e, Tracked, &args));
    assert_ok(reef_change(s.w, s.e, reef_with(Loose, .value = 1), reef_with(Mass, 1)));
    assert_status(REEF_NOT_ALIVE, after_loop(&s));
    assert_int_equal(book.live, live - 1);
}

static void a_world_that_ends_destroys_what_was_not_done(void **state)
{
    reef_world *w = another_world(state, NULL);
    reef_entity e = reef_spawn(w, reef_with(Position, 0, 0)), many[2];
    reef_block b = begin_at(w, reef_query_new(w, "in Position"));
    ledger_count_anew();
    assert_ok(reef_set(w, e, Tracked, .value = 3));
    assert_ok(reef_spawn_many(w, 2, many, reef_with(Tracked, .value = 3)));
    assert_int_equal(book.copied, 2);
    assert_true(b.loop.open);
    heap_fail_nth(heap_of(state), 1, true);
    reef_end(&b); /* what was recorded is kept, since there is no memory for it */
    heap_fail_never(heap_of(state));
    assert_status(REEF_NO_MEMORY, reef_last_error(w).status);
    assert_false(reef_is_alive(w, many[0]));
    end_world(state, w);
    assert_int_equal(book.destroyed, 2);
}

static void a_hook_that_refuses_at_the_call_leaves_nothing(void **state)
{
    stage s = stage_make(state);
    Unique only[2];
    unique_make(&only[0], 1);
    unique_make(&only[1], 2);
    const reef_value list[] = {{reef_id(Unique), REEF_VALUE_ARRAY, sizeof only[0], only},
                               reef_with(Tracked, .value = 1)};
    book.fail_copy = 1;
    book.fail_status = REEF_BAD_ARGUMENT;
    assert_refused(s.w, REEF_BAD_ARGUMENT, reef_spawn_many_values(s.w, 2, NULL, list, 2));
    book.fail_copy = 1;
    assert_refused(s.w, REEF_BAD_ARGUMENT, reef_change_values(s.w, s.e, list, 2));
    assert_int_equal(only[0].value, 1); /* back with us */
    unique_drop(&only[0]);
    unique_drop(&only[1]);
    assert_status(REEF_BAD_ARGUMENT, after_loop(&s));
    assert_int_equal(reef_count_alive(s.w), 2);
}

static void a_hook_that_refuses_at_the_end_fails_that_call_alone(void **state)
{
    stage s = stage_make(state);
    reef_entity made = reef_spawn(s.w, reef_default(Tracked), reef_with(Mass, 1)), other = reef_create(s.w);
    book.fail_construct = 1;
    book.fail_status = REEF_BAD_ARGUMENT;
    assert_status(REEF_BAD_ARGUMENT, after_loop(&s));
    assert_int_equal(reef_last_error(s.w).component.id, reef_id(Tracked).id);
    assert_false(reef_is_alive(s.w, made));
    assert_true(reef_is_alive(s.w, other));
    reef_entity next = reef_create(s.w);
    assert_int_equal(next.index, made.index);
    assert_int_equal(next.generation, made.generation + 1);
}

static void wide_values_stay_aligned(void **state)
{
    stage s = stage_make(state);
    reef_entity made[20];
    for (int i = 0; i < 20; i++)
        made[i] = reef_spawn(s.w, reef_with(Flag, (uint8_t)i), reef_with(Wide, {i}), reef_with(Mass, i));
    stage_end(&s);
    for (int i = 0; i < 20; i++) {
        assert_true(reef_get(s.w, made[i], Wide)->v[0] == i && mass_of(s.w, made[i]) == i);
        assert_int_equal(reef_get(s.w, made[i], Flag)->on, i);
    }
}

static void bundles_defer(void **state)
{
    stage s = stage_make(state);
    struct kind {
        Mass mass;
        Health health;
    } v = {{4}, {1, 2}};
    const reef_bundle_part parts[] = {{reef_id(Mass), 0}, {reef_id(Health), offsetof(struct kind, health)}};
    reef_bundle *bundle = reef_bundle_new(s.w, parts, 2);
    reef_entity e = reef_spawn_bundle(s.w, bundle, &v);
    v.mass.kg = 9;
    assert_some(e);
    reef_bundle_free(bundle);
    assert_false(reef_is_alive(s.w, e));
    stage_end(&s);
    assert_true(mass_of(s.w, e) == 4);
    assert_int_equal(reef_get(s.w, e, Health)->most, 2);
}

static void many_commands_in_one_loop(void **state)
{
    enum { MANY = 30000 };
    reef_world *w = world_of(state);
    static reef_entity e[MANY];
    assert_ok(reef_spawn_many(w, MANY, e, reef_with(Position, 1, 1)));
    reef_query q = reef_query_new(w, "in Position");
    for (int round = 0; round < 3; round++) {
        reef_block b = begin_at(w, q);
        for (uint32_t i = 0; i < MANY; i++) assert_ok(reef_set(w, e[i], Mass, i));
        reef_end(&b);
        assert_int_equal(reef_count(w, Mass), MANY);
        for (uint32_t i = 0; i < MANY; i += 777) assert_true(mass_of(w, e[i]) == i);
        b = begin_at(w, q);
        for (uint32_t i = 0; i < MANY; i++) assert_ok(reef_remove(w, e[i], Mass));
        reef_end(&b);
        assert_int_equal(reef_count(w, Mass), 0);
    }
    reef_block b = begin_at(w, q);
    assert_ok(reef_spawn_many(w, MANY, NULL, reef_with(Position, 1, 1), reef_with(Cargo, {1})));
    assert_int_equal(reef_destroy_many(w, e, MANY), MANY);
    reef_end(&b);
    assert_int_equal(reef_count_alive(w), MANY);
}

static void the_limit_of_entities_is_told_at_the_call(void **state)
{
    reef_world *w = another_world(state, &(reef_world_config){.entities_max = 4});
    reef_entity e = reef_spawn(w, reef_with(Position, 1, 1)), made[3];
    reef_block b = begin_at(w, reef_query_new(w, "in Position"));
    assert_ok(reef_spawn_many(w, 3, made, reef_with(Mass, 1)));
    assert_ok(reef_destroy(w, e));
    assert_no_entity(w, REEF_LIMIT, reef_create(w));
    reef_end(&b);
    assert_int_equal(reef_count_alive(w), 3);
    assert_int_equal(reef_create(w).index, e.index);
}

/* ---- what failed is told ---- */

typedef struct told {
    uint32_t warnings, misuses;
    char first[400], last[400];
} told;

static void tell(void *context, reef_log_level level, const char *message)
{
    told *t = context;
    assert_int_equal(level, REEF_LOG_WARNING);
    snprintf(t->warnings++ ? t->last : t->first, sizeof t->first, "%s", message);
}

static void misuse(void *context, reef_status status, const char *message)
{
    (void)status;
    (void)message;
    ((told *)context)->misuses++;
}

static void each_failure_goes_to_the_log_and_the_first_is_the_last_error(void **state)
{
    told t = {0};
    reef_world *w = another_world(state, &(reef_world_config){.log = tell, .misuse = misuse, .context = &t});
    reef_entity e = reef_spawn(w, reef_with(Position, 1, 1)), f = reef_spawn(w, reef_with(Position, 2, 2));
    reef_block b = begin_at(w, reef_query_new(w, "in Position"));
    assert_ok(reef_add(w, e, Position));
    assert_ok(reef_remove(w, e, Mass));
    assert_ok(reef_destroy(w, f));
    assert_int_equal(t.warnings, 0);
    reef_end(&b);
    assert_int_equal(t.warnings, 2);
    assert_int_equal(t.misuses, 0);
    assert_string_equal(t.first, "deferred reef_add: component Position, entity 0v1: it is there already");
    assert_string_equal(t.last,
                        "deferred reef_remove: component Mass, entity 0v1: the entity does not have the component");
    assert_status(REEF_EXISTS, reef_last_error(w).status);
    assert_string_equal(reef_last_error(w).operation, "reef_add");
    assert_entity(e, reef_last_error(w).entity);
    assert_false(reef_is_alive(w, f));
}

/* ---- memory ---- */

/* Memory that ends during the flush: what is done is done, the rest is kept, nothing is lost. */
static void a_flush_without_memory_keeps_the_rest(void **state)
{
    heap *h = heap_of(state);
    uint32_t starved = 0;
    for (uint64_t n = 1;; n++) {
        reef_world *w = another_world(state, NULL), *twin = NULL;
        reef_entity e[300], made[2];
        assert_ok(reef_spawn_many(w, 300, e, reef_with(Position, 1, 1)));
        reef_snapshot *before = reef_snapshot_take(w);
        for (int run = 0; run < 2; run++) {
            reef_world *x = run ? w : (twin = reef_fork(w));
            reef_block b = begin_at(x, reef_query_new(x, "in Position"));
            for (int i = 0; i < 300; i += 2) assert_ok(reef_add(x, e[i], Awake));
            for (int i = 1; i < 300; i += 2) assert_ok(reef_set(x, e[i], Tracked, .value = i));
            made[0] = reef_spawn(x, reef_with(Cargo, {1}), reef_with(Tracked, .value = 5));
            made[1] = reef_clone(x, made[0]);
            assert_int_equal(reef_destroy_many(x, e + 100, 100), 100);
            if (run) heap_fail_nth(h, n, true);
            reef_end(&b);
        }
        const bool failed = h->refused != 0;
        heap_fail_never(h);
        h->refused = 0;
        assert_valid(w);
        if (reef_last_error(w).status == REEF_NO_MEMORY) {
            starved++;
            assert_true(failed);
            assert_no_pointer(w, REEF_LOCKED, reef_fork(w));
            assert_no_pointer(w, REEF_LOCKED, reef_snapshot_take(w));
            if (!reef_is_alive(w, made[1])) { /* still pending */
                assert_refused(w, REEF_EXISTS, reef_create_as(w, made[1]));
                assert_refused(w, REEF_BAD_ARGUMENT, reef_release_id(w, made[1]));
            }
            if (n % 3 == 0) {
                assert_ok(reef_restore(w, before));
                assert_ok(reef_flush(w));
                assert_int_equal(reef_count_alive(w), 300);
                assert_int_equal(reef_count(w, Awake) + reef_count(w, Tracked), 0);
            } else if (n % 3 == 1) {
                assert_ok(reef_flush(w));
            } else { /* the end of another loop */
                reef_block b = reef_begin(w, reef_query_new(w, "in Position"));
                reef_end(&b);
            }
        }
        if (n % 3 || !failed) assert_int_equal(reef_hash(w), reef_hash(twin));
        assert_valid(w);
        reef_snapshot_free(before);
        reef_world_free(twin);
        end_world(state, w);
        if (!failed) break;
        assert_true(n < 2000);
    }
    assert_true(starved > 3);
}

static void a_world_may_end_with_commands_left(void **state)
{
    heap *h = heap_of(state);
    reef_world *w = another_world(state, NULL);
    reef_entity e = reef_spawn(w, reef_with(Position, 1, 1));
    reef_block b = begin_at(w, reef_query_new(w, "in Position"));
    assert_ok(reef_set(w, e, Tracked, .value = 4));
    assert_some(reef_spawn(w, reef_with(Tracked, .value = 4), reef_with(Mass, 3)));
    heap_fail_nth(h, 1, true);
    reef_end(&b);
    assert_status(REEF_NO_MEMORY, reef_last_error(w).status);
    assert_status(REEF_NO_MEMORY, reef_flush(w));
    heap_fail_never(h);
    h->refused = 0;
    assert_int_equal(book.live, 2);
    end_world(state, w);
    assert_int_equal(book.live, 0);
}

static void recording_without_memory_records_nothing(void **state)
{
    heap *h = heap_of(state);
    for (int what = 0; what < 10; what++) {
        for (uint64_t n = 1;; n++) {
            reef_world *w = another_world(state, NULL);
            reef_entity e = reef_spawn(w, reef_with(Position, 1, 1)), f = reef_spawn(w, reef_with(Position, 2, 2));
            assert_ok(reef_spawn_many_values(w, 4094, NULL, NULL, 0)); /* the next id needs a page */
            reef_block b = begin_at(w, reef_query_new(w, "in Position"));
            Unique only;
            unique_make(&only, 9);
            const uint64_t before = digest(w), hash = reef_hash(w);
            bool done = false;
            heap_fail_nth(h, n, true);
            switch (what) {
            case 0: done = reef_destroy(w, e) == REEF_OK; break;
            case 1: done = reef_set(w, e, Tracked, .value = 1) == REEF_OK; break;
            case 2: done = !reef_entity_is_null(reef_spawn(w, reef_with(Tracked, .value = 1))); break;
            case 3: done = !reef_entity_is_null(reef_clone(w, e)); break;
            case 4: done = reef_destroy_many(w, &f, 1) == 1; break;
            case 5:
                done = reef_change(w, e, reef_with(Tracked, .value = 1), reef_with(Loose, .value = 2)) == REEF_OK;
                break;
            case 6:
                done = reef_spawn_many(w, 50, NULL, reef_with(Tracked, .value = 1), reef_default(Unique)) == REEF_OK;
                break;
            case 7: done = reef_add_args(w, f, Tracked, &n) == REEF_OK; break;
            case 8: done = reef_disable(w, f, Position) == REEF_OK; break;
            default: done = reef_set_id(w, e, reef_id(Unique), &only, sizeof only) == REEF_OK; break;
            }
            heap_fail_never(h);
            const bool failed = h->refused != 0;
            h->refused = 0;
            if (what != 9 || !done) unique_drop(&only);
            assert_int_equal(done, !failed);
            if (failed) {
                assert_status(REEF_NO_MEMORY, reef_last_error(w).status);
                assert_int_equal(digest(w), before);
                reef_end(&b);
                assert_int_equal(digest(w), before);
                assert_int_equal(reef_hash(w), hash);
            } else {
                reef_end(&b);
                assert_true(n > 1);
            }
            assert_valid(w);
            end_world(state, w);
            if (!failed) break;
        }
    }
}

static void a_loop_that_defers_the_same_again_takes_no_memory(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[500];
    assert_ok(reef_spawn_many(w, 500, e, reef_with(Position, 1, 1)));
    reef_query q = reef_query_new(w, "in Position");
    uint64_t calls = 0;
    for (int round = 0; round < 6; round++) {
        if (round == 3) calls = heap_of(state)->calls;
        reef_block b = begin_at(w, q);
        for (int i = 0; i < 60; i++) assert_ok(reef_add(w, e[i], Velocity));
        reef_end(&b);
        b = begin_at(w, q);
        for (int i = 0; i < 60; i++) assert_ok(reef_remove(w, e[i], Velocity));
        reef_end(&b);
    }
    assert_int_equal(heap_of(state)->calls, calls);
}

int main(void)
{
    /* of tracked values the hash takes the value */
    static const reef_field value = {.name = "value", .kind = REEF_I32, .bytes = 4};
    if (reef_type_describe(reef_id(Tracked), &value, 1) < 0 || reef_type_describe(reef_id(Loose), &value, 1) < 0 ||
        reef_type_describe(reef_id(Unique), &value, 1) < 0)
        return 1;
    const struct CMUnitTest tests[] = {
        TEST(without_destroys_the_hash_is_that_of_calls_after_the_loop),
        TEST(with_free_ids_enough_the_hash_is_that_of_calls_after_the_loop),
        TEST(ids_are_taken_in_the_order_of_the_calls),
        TEST(values_are_held_and_given_on),
        TEST(arrays_go_to_their_entities),
        TEST(constructors_run_when_it_is_done_but_with_args_at_once),
        TEST(values_of_calls_that_fail_are_destroyed),
        TEST(a_world_that_ends_destroys_what_was_not_done),
        TEST(a_hook_that_refuses_at_the_call_leaves_nothing),
        TEST(a_hook_that_refuses_at_the_end_fails_that_call_alone),
        TEST(wide_values_stay_aligned),
        TEST(bundles_defer),
        TEST(many_commands_in_one_loop),
        TEST(the_limit_of_entities_is_told_at_the_call),
        TEST(each_failure_goes_to_the_log_and_the_first_is_the_last_error),
        TEST(a_flush_without_memory_keeps_the_rest),
        TEST(a_world_may_end_with_commands_left),
        TEST(recording_without_memory_records_nothing),
        TEST(a_loop_that_defers_the_same_again_takes_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
