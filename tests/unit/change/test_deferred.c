/* Loops that record structural changes (D4, D5): what is answered between a request and the loop's end, what
 * requests become that meet, and that nothing is lost. docs/rules/deferred.md has the two tables; each of their cells
 * is a check here. */
#include "deferred_stage.h"

static bool visited(reef_world *w, const char *text, reef_entity e)
{
    bool found = false;
    reef_query q = reef_query_new(w, text);
    assert_query(q);
    reef_each(w, q, row) found |= reef_entity_equal(row.entity, e);
    assert_ok(reef_query_free(w, q));
    return found;
}

/* ---- between the request and the loop's end ---- */

static void made_entity_is_not_alive_yet(void **state)
{
    stage s = stage_make(state);
    reef_entity made = reef_spawn(s.w, reef_with(Position, 9, 9), reef_with(Mass, 7)), bare = reef_create(s.w);
    reef_entity copy = reef_clone(s.w, s.e), many[3];
    assert_ok(reef_spawn_many(s.w, 3, many, reef_with(Mass, 1)));
    const reef_entity all[] = {made, bare, copy, many[0], many[1], many[2]};
    for (int i = 0; i < 6; i++) {
        assert_some(all[i]);
        for (int k = 0; k < i; k++) assert_false(reef_entity_equal(all[i], all[k]));
        assert_false(reef_is_alive(s.w, all[i]));
        assert_false(reef_has(s.w, all[i], Mass));
        assert_null(reef_get(s.w, all[i], Mass));
        assert_no_pointer(s.w, REEF_NOT_ALIVE, reef_mut(s.w, all[i], Mass));
        assert_no_pointer(s.w, REEF_NOT_ALIVE, reef_ensure(s.w, all[i], Mass));
        assert_false(visited(s.w, "in Mass", all[i]));
        assert_false(reef_query_matches(s.w, s.mass, all[i]));
        assert_refused(s.w, REEF_NOT_ALIVE, reef_set_name(s.w, all[i], "early"));
        assert_null(reef_name(s.w, all[i]));
        assert_none(reef_entity_at(s.w, all[i].index));
    }
    assert_int_equal(reef_count_alive(s.w), 2);
    assert_int_equal(reef_query_count(s.w, s.mass), 1);
    stage_end(&s);
    for (int i = 0; i < 6; i++) assert_true(reef_is_alive(s.w, all[i]));
    assert_position(s.w, made, 9, 9);
    assert_true(mass_of(s.w, made) == 7 && mass_of(s.w, copy) == 5 && mass_of(s.w, bare) == -1 &&
                mass_of(s.w, many[2]) == 1);
    assert_position(s.w, copy, 1, 2);
    assert_int_equal(reef_count_alive(s.w), 8);
    assert_true(visited(s.w, "in Mass", made));
}

static void destroyed_entity_lives_until_the_end(void **state)
{
    stage s = stage_make(state);
    assert_ok(reef_set_name(s.w, s.e, "e"));
    assert_ok(reef_destroy(s.w, s.e));
    assert_true(reef_is_alive(s.w, s.e));
    assert_true(reef_has(s.w, s.e, Mass));
    assert_true(mass_of(s.w, s.e) == 5);
    reef_mut(s.w, s.e, Mass)->kg = 6;
    assert_true(mass_of(s.w, s.e) == 6);
    assert_true(visited(s.w, "in Mass", s.e));
    assert_string_equal(reef_name(s.w, s.e), "e");
    assert_entity(s.e, reef_find(s.w, "e"));
    assert_int_equal(reef_count_alive(s.w), 2);
    stage_end(&s);
    assert_false(reef_is_alive(s.w, s.e));
    assert_false(visited(s.w, "in Mass", s.e));
    assert_none(reef_find(s.w, "e"));
    assert_int_equal(reef_count_alive(s.w), 1);
}

static void added_component_is_not_there_yet(void **state)
{
    stage s = stage_make(state);
    void *out = &s;
    assert_ok(reef_add_id(s.w, s.f, reef_id(Mass), NULL, &out));
    assert_null(out);
    assert_ok(reef_add(s.w, s.f, Awake));
    assert_status(REEF_OK, reef_set(s.w, s.f, Health, 3, 4));
    assert_false(reef_has(s.w, s.f, Mass));
    assert_false(reef_has(s.w, s.f, Awake));
    assert_false(reef_has(s.w, s.f, Health));
    assert_null(reef_get(s.w, s.f, Mass));
    assert_no_pointer(s.w, REEF_ABSENT, reef_mut(s.w, s.f, Mass));
    assert_no_pointer(s.w, REEF_LOCKED, reef_ensure(s.w, s.f, Mass));
    assert_false(visited(s.w, "in Mass", s.f));
    assert_false(visited(s.w, "Awake", s.f));
    stage_end(&s);
    assert_true(mass_of(s.w, s.f) == 0);
    assert_true(reef_has(s.w, s.f, Awake));
    assert_int_equal(reef_get(s.w, s.f, Health)->most, 4);
    assert_true(visited(s.w, "in Mass, Awake", s.f));
}

static void removed_component_stays_until_the_end(void **state)
{
    stage s = stage_make(state);
    assert_ok(reef_remove(s.w, s.e, Mass));
    assert_true(reef_has(s.w, s.e, Mass));
    assert_true(mass_of(s.w, s.e) == 5);
    reef_mut(s.w, s.e, Mass)->kg = 6;
    assert_true(visited(s.w, "in Mass", s.e));
    stage_end(&s);
    assert_false(reef_has(s.w, s.e, Mass));
    assert_false(visited(s.w, "in Mass", s.e));
    assert_position(s.w, s.e, 1, 2);
}

static void remove_all_and_change_wait_as_well(void **state)
{
    stage s = stage_make(state);
    assert_ok(reef_remove_all(s.w, s.e));
    assert_ok(reef_change(s.w, s.f, reef_with(Position, 8, 8), reef_with(Mass, 2)));
    assert_true(reef_has(s.w, s.e, Mass) && reef_has(s.w, s.e, Position));
    assert_position(s.w, s.f, 3, 4); /* nothing of the change, though the position is there */
    assert_false(reef_has(s.w, s.f, Mass));
    stage_end(&s);
    assert_false(reef_has(s.w, s.e, Mass) || reef_has(s.w, s.e, Position));
    assert_true(reef_is_alive(s.w, s.e));
    assert_position(s.w, s.f, 8, 8);
    assert_true(mass_of(s.w, s.f) == 2);
}

static void what_is_there_is_written_at_once(void **state)
{
    stage s = stage_make(state);
    assert_status(REEF_OK, reef_set(s.w, s.e, Mass, 6));
    assert_true(mass_of(s.w, s.e) == 6);
    assert_ok(reef_change(s.w, s.e, reef_with(Mass, 7), reef_with(Position, 5, 5)));
    assert_true(mass_of(s.w, s.e) == 7);
    assert_position(s.w, s.e, 5, 5);
    stage_end(&s);
    assert_true(mass_of(s.w, s.e) == 7);
}

static void enabling_waits(void **state)
{
    stage s = stage_make(state);
    assert_ok(reef_disable(s.w, s.e, Mass));
    assert_ok(reef_disable(s.w, s.f));
    assert_true(reef_is_enabled(s.w, s.e, Mass) && reef_is_enabled(s.w, s.f));
    assert_true(visited(s.w, "in Mass", s.e) && visited(s.w, "in Position", s.f));
    stage_end(&s);
    assert_false(reef_is_enabled(s.w, s.e, Mass) || reef_is_enabled(s.w, s.f));
    assert_false(visited(s.w, "in Mass", s.e) || visited(s.w, "in Position", s.f));
    s.loop = begin_at(s.w, s.all);
    assert_ok(reef_enable(s.w, s.e, Mass));
    assert_ok(reef_disable(s.w, s.e, Mass)); /* as it is now, but not then */
    assert_ok(reef_enable(s.w, s.f));
    stage_end(&s);
    assert_false(reef_is_enabled(s.w, s.e, Mass));
    assert_true(reef_is_enabled(s.w, s.f));
}

typedef struct Told {
    reef_entity who;
} Told;
REEF_COMPONENT(Told);

static void events_do_not_wait(void **state)
{
    reef_world *w = world_of(state);
    Told told;
    const reef_entity e = reef_spawn(w, reef_with(Position, 1, 1));
    const reef_event_reader r = reef_event_reader_new(w, reef_id(Told));
    reef_block b = begin_at(w, reef_query_new(w, "in Position"));
    const reef_entity made = reef_spawn(w, reef_with(Mass, 1));
    assert_ok(reef_destroy(w, e));
    assert_ok(reef_post(w, Told, made));
    assert_ok(reef_post(w, Told, e));
    assert_true(reef_event_next(w, r, &told));
    assert_entity(made, told.who);
    assert_false(reef_is_alive(w, told.who));
    reef_end(&b);
    assert_true(reef_is_alive(w, told.who));
    assert_true(reef_event_next(w, r, &told));
    assert_entity(e, told.who);
    assert_false(reef_is_alive(w, e));
}

/* ---- requests that meet ---- */

static void destroy_then_anything_is_not_alive(void **state)
{
    for (int what = 0; what < 8; what++) {
        stage s = stage_make(state);
        reef_entity copy = {0, 0};
        assert_ok(reef_destroy(s.w, s.f));
        switch (what) {
        case 0: assert_ok(reef_destroy(s.w, s.f)); break;
        case 1: assert_ok(reef_add(s.w, s.f, Mass)); break;
        case 2: assert_ok(reef_set(s.w, s.f, Mass, 1)); break;
        case 3: assert_ok(reef_remove(s.w, s.f, Position)); break;
        case 4: assert_ok(reef_remove_all(s.w, s.f)); break;
        case 5: assert_ok(reef_change(s.w, s.f, reef_without(Position))); break;
        case 6: assert_ok(reef_disable(s.w, s.f, Position)); break;
        default: assert_some(copy = reef_clone(s.w, s.f)); break;
        }
        assert_status(REEF_NOT_ALIVE, after_loop(&s));
        assert_entity(s.f, reef_last_error(s.w).entity);
        assert_false(reef_is_alive(s.w, s.f));
        assert_false(reef_is_alive(s.w, copy));
        assert_ok(reef_destroy(s.w, s.e));
    }
}

static void destroy_many_skips_the_dead(void **state)
{
    stage s = stage_make(state);
    const reef_entity list[] = {s.e, {0, 0}, s.f, s.e};
    assert_ok(reef_destroy(s.w, s.f));
    assert_int_equal(reef_destroy_many(s.w, list, 4), 3); /* that live now */
    assert_status(REEF_OK, after_loop(&s));
    assert_int_equal(reef_count_alive(s.w), 0);
}

static void add_twice_exists(void **state)
{
    stage s = stage_make(state);
    assert_ok(reef_add(s.w, s.f, Mass));
    assert_ok(reef_add(s.w, s.f, Mass));
    assert_status(REEF_EXISTS, after_loop(&s));
    assert_string_equal(reef_last_error(s.w).operation, "reef_add");
    assert_true(mass_of(s.w, s.f) == 0);
}

static void add_then_set_is_set(void **state)
{
    stage s = stage_make(state);
    assert_ok(reef_add(s.w, s.f, Mass));
    assert_ok(reef_set(s.w, s.f, Mass, 4));
    assert_status(REEF_OK, after_loop(&s));
    assert_true(mass_of(s.w, s.f) == 4);
}

static void set_then_add_exists_and_keeps_the_value(void **state)
{
    stage s = stage_make(state);
    assert_ok(reef_set(s.w, s.f, Mass, 4));
    assert_ok(reef_add(s.w, s.f, Mass));
    assert_status(REEF_EXISTS, after_loop(&s));
    assert_true(mass_of(s.w, s.f) == 4);
}

static void set_twice_the_last_counts(void **state)
{
    stage s = stage_make(state);
    assert_ok(reef_set(s.w, s.f, Mass, 4));
    assert_ok(reef_set(s.w, s.f, Mass, 8));
    assert_status(REEF_OK, after_loop(&s));
    assert_true(mass_of(s.w, s.f) == 8);
}

static void add_then_remove_is_nothing(void **state)
{
    stage s = stage_make(state);
    assert_ok(reef_add(s.w, s.f, Mass));
    assert_ok(reef_remove(s.w, s.f, Mass));
    assert_ok(reef_add(s.w, s.f, Health));
    assert_ok(reef_change(s.w, s.f, reef_without(Health))); /* isn't there now, but then */
    assert_status(REEF_OK, after_loop(&s));
    assert_false(reef_has(s.w, s.f, Mass) || reef_has(s.w, s.f, Health));
}

static void remove_then_add_is_a_fresh_one(void **state)
{
    stage s = stage_make(state);
    assert_ok(reef_remove(s.w, s.e, Mass));
    assert_ok(reef_add(s.w, s.e, Mass));
    assert_status(REEF_OK, after_loop(&s));
    assert_true(mass_of(s.w, s.e) == 0);
}

static void remove_twice_is_absent(void **state)
{
    stage s = stage_make(state);
    assert_ok(reef_remove(s.w, s.e, Mass));
    assert_ok(reef_remove(s.w, s.e, Mass));
    assert_status(REEF_ABSENT, after_loop(&s));
    assert_false(reef_has(s.w, s.e, Mass));
}

static void remove_then_set_writes_what_goes(void **state)
{
    stage s = stage_make(state);
    assert_ok(reef_remove(s.w, s.e, Mass));
    assert_ok(reef_set(s.w, s.e, Mass, 9)); /* it is there: written at once */
    assert_true(mass_of(s.w, s.e) == 9);
    assert_status(REEF_OK, after_loop(&s));
    assert_false(reef_has(s.w, s.e, Mass));
}

static void remove_all_then_add_is_alone(void **state)
{
    stage s = stage_make(state);
    assert_ok(reef_remove_all(s.w, s.e));
    assert_ok(reef_add(s.w, s.e, Health));
    assert_status(REEF_OK, after_loop(&s));
    assert_true(reef_has(s.w, s.e, Health));
    assert_false(reef_has(s.w, s.e, Mass) || reef_has(s.w, s.e, Position));
}

static void spawn_then_changes_apply_to_it(void **state)
{
    stage s = stage_make(state);
    reef_entity made = reef_spawn(s.w, reef_with(Mass, 1), reef_with(Position, 0, 0));
    assert_ok(reef_set(s.w, made, Mass, 2));
    assert_ok(reef_add(s.w, made, Health));
    assert_ok(reef_remove(s.w, made, Position));
    assert_ok(reef_add(s.w, made, Awake));
    assert_ok(reef_disable(s.w, made, Mass));
    reef_entity twin = reef_clone(s.w, made);
    assert_ok(reef_change(s.w, made, reef_with(Velocity, 1, 1), reef_without(Awake)));
    assert_status(REEF_OK, after_loop(&s));
    assert_true(mass_of(s.w, made) == 2 && reef_has(s.w, made, Health) && reef_has(s.w, made, Velocity));
    assert_false(reef_has(s.w, made, Position) || reef_has(s.w, made, Awake) || reef_is_enabled(s.w, made, Mass));
    assert_true(mass_of(s.w, twin) == 2 && reef_has(s.w, twin, Awake) && !reef_has(s.w, twin, Velocity));
    assert_false(reef_is_enabled(s.w, twin, Mass));
}

static void spawn_then_destroy_never_outlives_the_loop(void **state)
{
    stage s = stage_make(state);
    reef_entity made = reef_spawn(s.w, reef_with(Mass, 1));
    assert_ok(reef_destroy(s.w, made));
    assert_ok(reef_add(s.w, made, Health));
    assert_status(REEF_NOT_ALIVE, after_loop(&s));
    assert_false(reef_is_alive(s.w, made));
    assert_int_equal(reef_count_alive(s.w), 2);
    reef_entity next = reef_create(s.w); /* the index is free again, and the old handle isn't good for it */
    assert_int_equal(next.index, made.index);
    assert_int_equal(next.generation, made.generation + 1);
}

static void clone_takes_what_the_source_is_then(void **state)
{
    stage s = stage_make(state);
    reef_entity copy = reef_clone(s.w, s.e);
    assert_ok(reef_destroy(s.w, s.e));
    reef_mut(s.w, s.e, Mass)->kg = 11;
    assert_status(REEF_OK, after_loop(&s));
    assert_true(mass_of(s.w, copy) == 11);
    assert_false(reef_is_alive(s.w, s.e));
}

static void marks_follow_the_order(void **state)
{
    stage s = stage_make(state);
    assert_ok(reef_add(s.w, s.f, Mass));
    assert_ok(reef_disable(s.w, s.f, Mass));
    assert_ok(reef_disable(s.w, s.e, Mass));
    assert_ok(reef_remove(s.w, s.e, Mass));
    assert_ok(reef_disable(s.w, s.e, Mass));
    assert_status(REEF_ABSENT, after_loop(&s));
    assert_true(reef_has(s.w, s.f, Mass) && !reef_is_enabled(s.w, s.f, Mass));
    assert_ok(reef_add(s.w, s.e, Mass));
    assert_true(reef_is_enabled(s.w, s.e, Mass));
}

static void a_name_given_to_one_that_goes_goes_too(void **state)
{
    stage s = stage_make(state);
    assert_ok(reef_destroy(s.w, s.e));
    assert_ok(reef_set_name(s.w, s.e, "late"));
    assert_entity(s.e, reef_find(s.w, "late"));
    assert_status(REEF_OK, after_loop(&s));
    assert_none(reef_find(s.w, "late"));
    assert_ok(reef_set_name(s.w, s.f, "late"));
}

static void disable_then_enable_is_enabled(void **state)
{
    stage s = stage_make(state);
    assert_ok(reef_disable(s.w, s.e, Mass));
    assert_ok(reef_enable(s.w, s.e, Mass));
    assert_status(REEF_OK, after_loop(&s));
    assert_true(reef_is_enabled(s.w, s.e, Mass));
}

/* ---- what is refused at once ---- */

static void what_can_be_told_at_once_is_refused_at_once(void **state)
{
    stage s = stage_make(state);
    reef_world *strict = another_world(state, &(reef_world_config){.strict = true});
    const reef_entity far = {99, 1}, later = {s.e.index, s.e.generation + 1};
    const reef_component nobody = {REEF_TYPES_MAX + 5};
    Mass mass = {1};
    const reef_value twice[] = {reef_with(Mass, 1), reef_with(Mass, 2)},
                     wrong = {reef_id(Mass), REEF_VALUE_ONE, 3, &mass};
    const reef_value odd = {reef_id(Mass), (reef_value_kind)4, sizeof mass, &mass};
    assert_refused(s.w, REEF_NOT_ALIVE, reef_destroy(s.w, far));
    assert_refused(s.w, REEF_NOT_ALIVE, reef_destroy(s.w, later));
    assert_refused(s.w, REEF_NOT_ALIVE, reef_add(s.w, far, Mass));
    assert_refused(s.w, REEF_NOT_ALIVE, reef_set(s.w, far, Mass, 1));
    assert_refused(s.w, REEF_NOT_ALIVE, reef_remove(s.w, later, Mass));
    assert_refused(s.w, REEF_NOT_ALIVE, reef_remove_all(s.w, far));
    assert_refused(s.w, REEF_NOT_ALIVE, reef_change_values(s.w, far, twice, 1));
    assert_refused(s.w, REEF_NOT_ALIVE, reef_disable(s.w, far, Mass));
    assert_no_entity(s.w, REEF_NOT_ALIVE, reef_clone(s.w, far));
    assert_int_equal(reef_destroy_many(s.w, (reef_entity[]){far, later}, 2), 0);
    assert_refused(s.w, REEF_UNKNOWN_TYPE, reef_add_id(s.w, s.e, nobody, NULL, NULL));
    assert_refused(s.w, REEF_UNKNOWN_TYPE, reef_remove_id(s.w, s.e, nobody));
    assert_refused(s.w, REEF_UNKNOWN_TYPE, reef_set_id(s.w, s.e, nobody, &mass, 8));
    assert_status(REEF_UNKNOWN_TYPE, reef_enable_id(s.w, s.e, nobody, false));
    assert_refused(s.w, REEF_WRONG_SIZE, reef_set_id(s.w, s.f, reef_id(Mass), &mass, 4));
    assert_refused(s.w, REEF_WRONG_SIZE, reef_change_values(s.w, s.f, &wrong, 1));
    assert_refused(s.w, REEF_BAD_ARGUMENT, reef_change_values(s.w, s.f, &odd, 1));
    assert_no_entity(s.w, REEF_BAD_ARGUMENT, reef_spawn_values(s.w, &odd, 1));
    assert_no_entity(s.w, REEF_WRONG_SIZE, reef_spawn_values(s.w, &wrong, 1));
    assert_no_entity(s.w, REEF_DUPLICATE_TERM, reef_spawn_values(s.w, twice, 2));
    assert_refused(s.w, REEF_DUPLICATE_TERM, reef_change_values(s.w, s.f, twice, 2));
    assert_refused(s.w, REEF_BAD_ARGUMENT, reef_set_id(s.w, s.f, reef_id(Mass), NULL, 8));
    stage_end(&s);
    assert_int_equal(reef_count_alive(s.w), 2);
    assert_ok(reef_use(strict, Position));
    reef_entity e = reef_spawn(strict, reef_with(Position, 1, 1));
    reef_block b = begin_at(strict, reef_query_new(strict, "in Position"));
    assert_refused(strict, REEF_UNKNOWN_TYPE, reef_add(strict, e, Mass));
    assert_no_entity(strict, REEF_UNKNOWN_TYPE, reef_spawn(strict, reef_with(Mass, 1)));
    reef_end(&b);
}

static void other_structural_calls_are_locked(void **state)
{
    stage s = stage_make(state);
    assert_refused(s.w, REEF_LOCKED, reef_world_clear(s.w));
    assert_status(REEF_LOCKED, DESTROY_EVERYWHERE(s.w, reef_id(Mass)));
    assert_status(REEF_LOCKED, remove_everywhere(s.w, reef_id(Mass), NULL));
    assert_refused(s.w, REEF_LOCKED, reef_shrink(s.w));
    assert_refused(s.w, REEF_LOCKED, reef_flush(s.w));
    assert_refused(s.w, REEF_LOCKED, reef_create_as(s.w, (reef_entity){77, 1}));
    assert_no_entity(s.w, REEF_LOCKED, reef_reserve_id(s.w));
    assert_no_pointer(s.w, REEF_LOCKED, reef_fork(s.w));
    assert_no_pointer(s.w, REEF_LOCKED, reef_snapshot_take(s.w));
    assert_null(reef_slices_begin(s.w, s.all, &deferred, 2));
    assert_status(REEF_BAD_ARGUMENT, reef_last_error(s.w).status);
    assert_refused(s.w, REEF_LOCKED, reef_reserve_for(s.w, 4, (reef_component[]){reef_id(Mass)}, 1));
    stage_end(&s);
    assert_ok(reef_flush(s.w));
    assert_status(REEF_BAD_ARGUMENT, reef_flush(NULL));
}

/* ---- loops inside of one another ---- */

static void inner_plain_loop_records_and_the_outer_end_does(void **state)
{
    stage s = stage_make(state);
    reef_block inner = reef_begin(s.w, s.mass);
    assert_ok(reef_destroy(s.w, s.f));
    while (reef_next(&inner)) assert_ok(reef_add(s.w, inner.entities[0], Health));
    assert_true(reef_is_alive(s.w, s.f)); /* a loop is open still */
    assert_false(reef_has(s.w, s.e, Health));
    while (reef_next(&s.loop)) assert_true(reef_is_alive(s.w, s.f));
    assert_false(reef_is_alive(s.w, s.f)); /* by reef_next's last answer */
    assert_true(reef_has(s.w, s.e, Health));
}

static void outer_plain_loop_locks_again_when_the_inner_ends(void **state)
{
    stage s = stage_make(state);
    reef_end(&s.loop);
    reef_block outer = reef_begin(s.w, s.all), inner, third;
    assert_refused(s.w, REEF_LOCKED, reef_destroy(s.w, s.f));
    inner = begin_at(s.w, s.mass);
    third = begin_at(s.w, s.mass);
    reef_end(&third);
    assert_ok(reef_destroy(s.w, s.f));
    reef_end(&inner);
    assert_true(reef_is_alive(s.w, s.f));
    assert_refused(s.w, REEF_LOCKED, reef_destroy(s.w, s.e));
    reef_end(&outer);
    assert_false(reef_is_alive(s.w, s.f));
    assert_true(reef_is_alive(s.w, s.e));
}

static void every_kind_of_walk_may_defer(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[300];
    for (int i = 0; i < 300; i++) e[i] = reef_spawn(w, reef_with(Position, (float)i, 0));
    for (int i = 0; i < 300; i += 3) assert_ok(reef_add(w, e[i], Awake));
    uint32_t seen = 0;
    reef_query q = reef_query_new(w, "Position, Awake");
    for (reef_block b = reef_begin_loop(w, q, &deferred); reef_next(&b);)
        for (uint32_t first = 0, n; (n = reef_block_run(&b, &first)) != 0; first += n)
            for (uint32_t i = first; i < first + n; i++, seen++) assert_ok(reef_destroy(w, b.entities[i]));
    assert_int_equal(seen, 100);
    assert_int_equal(reef_count_alive(w), 200);
    q = reef_query_new(w, "in Position");
    for (reef_block b = reef_begin_loop(w, q, &(reef_loop){.limit = 10, .deferred = true}); reef_next(&b);)
        for (uint32_t i = 0; i < b.count; i++) assert_some(reef_clone(w, b.entities[i]));
    assert_int_equal(reef_count_alive(w), 210);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(made_entity_is_not_alive_yet),
        TEST(destroyed_entity_lives_until_the_end),
        TEST(added_component_is_not_there_yet),
        TEST(removed_component_stays_until_the_end),
        TEST(remove_all_and_change_wait_as_well),
        TEST(what_is_there_is_written_at_once),
        TEST(enabling_waits),
        TEST(events_do_not_wait),
        TEST(destroy_then_anything_is_not_alive),
        TEST(destroy_many_skips_the_dead),
        TEST(add_twice_exists),
        TEST(add_then_set_is_set),
        TEST(set_then_add_exists_and_keeps_the_value),
        TEST(set_twice_the_last_counts),
        TEST(add_then_remove_is_nothing),
        TEST(remove_then_add_is_a_fresh_one),
        TEST(remove_twice_is_absent),
        TEST(remove_then_set_writes_what_goes),
        TEST(remove_all_then_add_is_alone),
        TEST(spawn_then_changes_apply_to_it),
        TEST(spawn_then_destroy_never_outlives_the_loop),
        TEST(clone_takes_what_the_source_is_then),
        TEST(marks_follow_the_order),
        TEST(disable_then_enable_is_enabled),
        TEST(a_name_given_to_one_that_goes_goes_too),
        TEST(what_can_be_told_at_once_is_refused_at_once),
        TEST(other_structural_calls_are_locked),
        TEST(inner_plain_loop_records_and_the_outer_end_does),
        TEST(outer_plain_loop_locks_again_when_the_inner_ends),
        TEST(every_kind_of_walk_may_defer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
