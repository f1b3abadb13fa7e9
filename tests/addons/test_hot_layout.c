/* Types whose layout changes while worlds live, by reef_hot: what is converted, in all worlds, forks, snapshots and
 * histories, and what is refused. */
#include "hot_build.h"
#include <unistd.h>

/* ---- other layouts ---- */

static void a_layout_changes(void **state)
{
    reef_world *w = world_of(state);
    reef_hot_code *h = hot_of(w, "", NULL);
    reef_entity e[2000];
    for (uint32_t i = 0; i < 2000; i++) e[i] = hunter(w, (float)i, i % 2 ? 0 : 7);
    for (uint32_t i = 0; i < 2000; i += 3) assert_ok(reef_destroy(w, e[i]));
    assert_ok(reef_disable(w, e[1], Place));
    assert_ok(reef_set_name(w, e[2], "nemo"));
    tick(w);
    const reef_query q = reef_query_new(w, "in Hunter, in Place");
    const reef_component was = reef_type_find("Hunter");
    assert_int_equal(reef_query_count(w, q), 1332);
    build("-DHUNTER_LESS");
    assert_hot_refused(w, h, "would be lost: Hunter.rage: 666 values");
    assert_non_null(strstr(reef_hot_text(h), "REEF_FIELD_WAS"));
    assert_int_equal(reef_type_find("Hunter").id, was.id);
    assert_true(field_of(w, e[2], "Hunter", "rage") == 7);
    assert_int_equal(reef_query_count(w, q), 1332);
    build("-DHUNTER_LESS -DREFUSES");
    assert_event(h, REEF_HOT_REFUSED);
    assert_int_equal(reef_type_find("Hunter").id, was.id);
    for (uint32_t i = 0; i < 2000; i += 2) {
        if (i % 3 == 0) continue;
        first_hunter *value = reef_mut_id(w, e[i], was);
        value->rage = 0;
    }
    tick(w);
    build("-DHUNTER_LESS -DSPEED=10"); /* now nothing is lost */
    assert_event(h, REEF_HOT_LOADED);
    assert_text(h, "1 type has another layout now");
    assert_int_not_equal(reef_type_find("Hunter").id, was.id);
    assert_libraries(h, 1);
    assert_valid(w);
    for (uint32_t i = 0; i < 2000; i++) {
        assert_int_equal(reef_is_alive(w, e[i]), i % 3 != 0);
        if (i % 3) assert_true(field_of(w, e[i], "Hunter", "power") == (double)i);
    }
    assert_entity(e[2], reef_find(w, "nemo"));
    assert_int_equal(reef_query_count(w, q), 1332); /* the handle leads to the new type */
    assert_false(reef_is_enabled_id(w, e[1], reef_id(Place)));
    const float x = reef_get(w, e[2], Place)->x;
    tick(w);
    assert_true(reef_get(w, e[2], Place)->x == x + 10);
    build("-DHUNTER_MORE");
    assert_event(h, REEF_HOT_LOADED);
    assert_true(field_of(w, e[4], "Hunter", "power") == 4 && field_of(w, e[4], "Hunter", "fear") == 0);
    build("-DHUNTER_LESS -DSPEED=10"); /* a layout that was there before: no type more */
    const uint32_t types = reef_type_count();
    assert_event(h, REEF_HOT_LOADED);
    build("-DHUNTER_MORE");
    assert_event(h, REEF_HOT_LOADED);
    assert_int_equal(reef_type_count(), types);
    assert_true(field_of(w, e[4], "Hunter", "power") == 4);
    assert_int_equal(reef_query_count(w, q), 1332);
    build("-DHUNTER_BYTES");
    assert_hot_refused(w, h, "Hunter");
    reef_hot_close(h);
}

static void what_has_no_fields_is_told(void **state)
{
    reef_world *w = world_of(state);
    reef_hot_code *h = hot_of(w, "-DBARE", NULL);
    build("-DBARE -DSPEED=10");
    assert_event(h, REEF_HOT_LOADED);
    assert_text(h, "whether the layout of Bare has changed can't be seen: it has no fields");
    reef_hot_close(h);
    char reason[REEF_HOT_TEXT_MAX];
    assert_null(reef_hot_open(w, hot_path, &(reef_hot_desc){.refuse_undescribed = true}, reason));
    assert_non_null(strstr(reason, "Bare has no fields, so another layout can't be seen"));
}

static void nothing(reef_block *b) { (void)b; }
static bool looks_at_others(reef_world *w)
{
    return !reef_system_is_null(reef_system(w, nothing, "in Place; reads Hunter"));
}

/* An index is of a type. When another type takes over the name, the old index finds nothing, and a new one is made. */
static void indexes_of_a_layout(void **state)
{
    reef_world *w = world_of(state);
    reef_hot_code *h = hot_of(w, "", NULL);
    for (uint32_t i = 0; i < 300; i++) hunter(w, (float)(i % 3), 0);
    const reef_component was = reef_type_find("Hunter");
    const reef_index *x = reef_index_of_id(w, was, "power");
    assert_int_equal(reef_index_range(x, 0, UINT64_MAX, 0, NULL, 0), 300);
    build("-DHUNTER_LESS");
    assert_event(h, REEF_HOT_LOADED);
    const reef_component is = reef_type_find("Hunter");
    assert_int_not_equal(is.id, was.id);
    assert_true(looks_at_others(w)); /* then a tick prepares all indexes */
    tick(w);
    assert_int_equal(reef_index_range(reef_index_of_id(w, is, "power"), 0, UINT64_MAX, 0, NULL, 0), 300);
    x = reef_index_of_id(w, was, "power");
    assert_int_equal(reef_index_range(x, 0, UINT64_MAX, 0, NULL, 0), 0);
    tick(w);
    reef_hot_close(h);
}

/* The same for the picture of a place. */
static void pictures_of_a_layout(void **state)
{
    reef_world *w = world_of(state);
    reef_hot_code *h = hot_of(w, "", NULL);
    const reef_place_desc place = {.fields = {"power", "power"}, .cell = 1};
    const reef_place_ask all = {.radius = 1000};
    for (uint32_t i = 0; i < 300; i++) hunter(w, (float)(i % 3), 0);
    const reef_component was = reef_type_find("Hunter");
    assert_ok(reef_place_declare(was, &place));
    assert_int_equal(reef_place_within(reef_place_of_id(w, was), &all, NULL, 0), 300);
    build("-DHUNTER_LESS");
    assert_event(h, REEF_HOT_LOADED);
    const reef_component is = reef_type_find("Hunter");
    assert_int_not_equal(is.id, was.id);
    assert_true(looks_at_others(w));
    tick(w);
    assert_no_pointer(w, REEF_ABSENT, reef_place_of_id(w, is)); /* it was declared for the type that was */
    assert_ok(reef_place_declare(is, &place));
    assert_int_equal(reef_place_within(reef_place_of_id(w, is), &all, NULL, 0), 300);
    assert_int_equal(reef_place_within(reef_place_of_id(w, was), &all, NULL, 0), 0);
    tick(w);
    reef_hot_close(h);
}

static const char *cells_of(reef_world *w, reef_component nest)
{
    static char text[1024];
    text[0] = 0;
    const reef_place *p = reef_place_of_id(w, nest);
    if (p) reef_place_explain(p, text, sizeof text);
    else snprintf(text, sizeof text, "%s", reef_last_error(w).detail);
    return p ? strstr(text, "cells of ") : text;
}

/* The newest code says what the place of its type is like. */
static void places_of_code_that_comes_and_goes(void **state)
{
    reef_world *w = world_of(state);
    reef_hot_code *h = hot_of(w, "-DNEST=2", NULL);
    const reef_component nest = reef_type_find("Nest");
    const float at[] = {1, 1};
    for (uint32_t i = 0; i < 9; i++) assert_int_equal(reef_set_id(w, reef_create(w), nest, at, sizeof at), REEF_ADDED);
    assert_int_equal(strncmp(cells_of(w, nest), "cells of 2: 9", 13), 0);
    build("-DNEST=4");
    assert_event(h, REEF_HOT_LOADED);
    assert_int_equal(strncmp(cells_of(w, nest), "cells of 4: 9", 13), 0);
    assert_int_equal(reef_place_within(reef_place_of_id(w, nest), &(reef_place_ask){.at = {1, 1}}, NULL, 0), 9);
    build("-DNEST=0");
    assert_event(h, REEF_HOT_LOADED);
    assert_string_equal(cells_of(w, nest), "the cell's side isn't above 0");
    build("-DNEST=8 -DNEST_CARRIES"); /* systems that were declared before don't read what it carries */
    assert_event(h, REEF_HOT_LOADED);
    assert_string_equal(cells_of(w, nest), "code that is loaded again can't change which types its place reads");
    build("-DNEST=2 -DSPEED=10");
    assert_event(h, REEF_HOT_LOADED);
    assert_int_equal(strncmp(cells_of(w, nest), "cells of 2: 9", 13), 0);
    reef_hot_close(h);
}

static void the_past_gets_the_new_layout(void **state)
{
    reef_world *w = world_of(state);
    reef_history *past = reef_history_new(w, &(reef_history_config){.ticks = 60, .step = step, .hashes = true});
    reef_hot_code *h = hot_of(w, "", &(reef_hot_desc){.history = past, .replay = 5});
    const float input = 1000;
    const reef_entity e = hunter(w, 1, 3);
    for (int i = 0; i < 8; i++) assert_ok(reef_history_step(past, i == 4 ? &input : NULL, i == 4 ? sizeof input : 0));
    build("-DHUNTER_LESS -DSPEED=10");
    assert_hot_refused(w, h, "would be lost: Hunter.rage: 1 values");
    assert_int_equal(reef_history_reach(past).tick, 8);
    assert_int_equal(reef_history_reach(past).first, 0);
    build("-DHUNTER_MORE -DSPEED=10 -DREFUSES");
    assert_hot_refused(w, h, "");
    assert_ok(reef_history_rewind(past, 2));
    assert_ok(reef_history_rewind(past, 8));
    assert_true(reef_get(w, e, Place)->x == 9);
    build("-DHUNTER_LESS -DSPEED=10");
    assert_event(h, REEF_HOT_REFUSED);
    reef_hot_close(h);
    reef_history_free(past);
}

static void the_past_is_played_with_the_new_layout(void **state)
{
    reef_world *w = world_of(state);
    reef_history *past =
        reef_history_new(w, &(reef_history_config){.ticks = 60, .step = step, .hashes = true, .input = reef_id(Push)});
    reef_hot_code *h = hot_of(w, "", &(reef_hot_desc){.lose_values = true, .history = past, .replay = 5});
    const Push input = {1000};
    const reef_entity e = hunter(w, 1, 3);
    for (int i = 0; i < 8; i++) assert_ok(reef_history_step(past, i == 4 ? &input : NULL, i == 4 ? sizeof input : 0));
    build("-DHUNTER_LESS -DSPEED=10");
    assert_event(h, REEF_HOT_LOADED);
    assert_libraries(h, 1);
    reef_history_range r = reef_history_reach(past);
    assert_true(r.first == 3 && r.tick == 8 && r.end == 8 && r.kept == 1); /* one of its states was converted */
    assert_true(reef_get(w, e, Place)->x == 9);
    assert_ok(reef_history_step(past, NULL, 0)); /* the present goes on with the new layout, too */
    assert_true(reef_get(w, e, Place)->x == 19);
    assert_replayed(h);
    r = reef_history_reach(past);
    assert_true(r.first == 3 && r.tick == 9 && r.end == 9 && r.kept == 6);
    assert_true(reef_get(w, e, Place)->x == 64); /* three ticks of 1, six of 10 */
    assert_true(field_of(w, e, "Hunter", "power") == 1);
    reef_block b = reef_begin_text(w, "in Place, !Hunter");
    assert_true(reef_next(&b));
    assert_true(reef_in(&b, Place)[0].x == 1050);
    reef_end(&b);
    assert_ok(reef_history_rewind(past, 3));
    assert_true(reef_get(w, e, Place)->x == 4);
    assert_ok(reef_history_replay(past, 8));
    assert_true(reef_get(w, e, Place)->x == 54);
    reef_hot_history(h, past, 0); /* with 0 it begins anew */
    build("-DHUNTER_MORE -DSPEED=10");
    assert_event(h, REEF_HOT_LOADED);
    r = reef_history_reach(past);
    assert_true(r.first == 8 && r.tick == 8 && r.end == 8 && r.kept == 0);
    assert_event(h, REEF_HOT_SAME);
    assert_ok(reef_history_step(past, NULL, 0));
    assert_ok(reef_history_rewind(past, 8));
    assert_true(reef_get(w, e, Place)->x == 54);
    reef_history_free(past);
    reef_hot_close(h);
}

/* ---- inputs ---- */

/* A field of a value as a number: in inputs there is no entity to ask. */
static double thrust_of(const void *value, const char *name)
{
    reef_type_info info;
    assert_true(reef_type_get(reef_type_find("Thrust"), &info));
    for (uint32_t i = 0; i < info.field_count; i++) {
        const char *at = (const char *)value + info.fields[i].offset;
        if (strcmp(info.fields[i].name, name) != 0) continue;
        return info.fields[i].kind == REEF_F32 ? (double)*(const float *)(const void *)at
                                               : *(const double *)(const void *)at;
    }
    return -1;
}

static reef_status thrust_step(void *context, reef_world *w, uint64_t number, const void *input, size_t bytes)
{
    (void)context, (void)number;
    if (bytes) (void)reef_spawn(w, reef_with(Place, (float)thrust_of(input, "x"), (float)thrust_of(input, "y")));
    return reef_tick(w, 1);
}

static double sum_of_x(reef_world *w)
{
    double sum = 0;
    for (reef_block b = reef_begin_text(w, "in Place"); reef_next(&b);)
        for (uint32_t i = 0; i < b.count; i++) sum += (double)reef_in(&b, Place)[i].x;
    return sum;
}

static void inputs_get_the_new_layout(void **state)
{
    typedef struct {
        float x, y;
    } first_thrust;
    enum { MANY = 200 };
    size_t bytes;
    first_thrust many[MANY];
    reef_world *w = world_of(state), *other = another_world(state, NULL);
    reef_hot_code *h = hot_of(w, "", NULL);
    const reef_component was = reef_type_find("Thrust");
    const reef_history_config config = {.ticks = 60, .step = thrust_step, .input = was};
    reef_history *past = reef_history_new(w, &config), *others = reef_history_new(other, &config);
    reef_hot_history(h, past, 5);
    for (uint32_t i = 0; i < MANY; i++) many[i] = (first_thrust){(float)i, 2};
    for (uint32_t i = 0; i < 8; i++)
        assert_ok(reef_history_step(past, i % 2 ? &many[100 + i] : NULL, i % 2 ? sizeof *many : 0));
    assert_ok(reef_history_step(others, many, sizeof many));
    assert_true(sum_of_x(w) == 101 + 103 + 105 + 107 + 7 + 5 + 3 + 1);
    build("-DTHRUST_LESS");
    assert_hot_refused(w, h, "would be lost: Thrust.y: ");
    assert_text(h, "values, in the inputs of a history");
    build("-DTHRUST_PAGED");
    assert_hot_refused(w, h, "Thrust is the input of a history");
    build("-DTHRUST_MORE -DREFUSES");
    assert_hot_refused(w, h, "its `load` refused");
    assert_int_equal(reef_history_input_type(past).id, was.id);
    assert_memory_equal(reef_history_input(past, 5, &bytes), &many[105], sizeof *many);
    assert_int_equal(bytes, sizeof *many);
    build("-DTHRUST_MORE -DSPEED=10");
    assert_event(h, REEF_HOT_LOADED);
    assert_int_equal(reef_history_input_type(past).id, reef_type_find("Thrust").id);
    assert_int_not_equal(reef_history_input_type(past).id, was.id);
    assert_replayed(h);
    assert_true(sum_of_x(w) == 101 + 103 + 105 + 107 + 52 + 50 + 30 + 10); /* ticks 3 ... 7 with the new speed */
    assert_null(reef_history_input(past, 4, &bytes));
    assert_true(thrust_of(reef_history_input(past, 5, &bytes), "x") == 105);
    assert_true(thrust_of(reef_history_input(past, 5, &bytes), "y") == 2);
    assert_int_equal(bytes, 24);
    const char *all = reef_history_input(others, 0, &bytes); /* several values in one input */
    assert_int_equal(bytes, 24 * MANY);
    for (uint32_t i = 0; i < MANY; i++) assert_true(thrust_of(all + 24 * i, "x") == (double)i);
    assert_refused(w, REEF_BAD_ARGUMENT, reef_history_step(past, many, sizeof *many)); /* of the old layout */
    reef_history_free(others);
    reef_history_free(past);
    reef_hot_close(h);
}

/* Those before the state that is converted are dropped, so nothing of them can be lost. */
static void inputs_that_are_dropped_refuse_nothing(void **state)
{
    const float with_y[2] = {5, 6}, without[2] = {7, 0};
    reef_world *w = world_of(state);
    reef_hot_code *h = hot_of(w, "", NULL);
    reef_history *past = reef_history_new(
        w, &(reef_history_config){.ticks = 60, .step = thrust_step, .input = reef_type_find("Thrust")});
    for (int i = 0; i < 8; i++) assert_ok(reef_history_step(past, i < 5 ? with_y : without, sizeof with_y));
    (void)hunter(w, 1, 0);
    reef_hot_history(h, past, 4);
    build("-DTHRUST_LESS -DSPEED=10");
    assert_hot_refused(w, h, "would be lost: Thrust.y: 1 values, in the inputs of a history");
    reef_hot_history(h, past, 3);
    build("-DTHRUST_LESS -DSPEED=20");
    assert_event(h, REEF_HOT_LOADED);
    assert_replayed(h);
    const reef_history_range r = reef_history_reach(past);
    assert_true(r.first == 5 && r.tick == 8 && r.end == 8);
    for (uint64_t t = 5; t < 8; t++) assert_true(thrust_of(reef_history_input(past, t, NULL), "x") == 7);
    build("-DSPEED=10"); /* with 0 none of them stays */
    reef_hot_history(h, past, 0);
    assert_event(h, REEF_HOT_LOADED);
    assert_true(reef_history_reach(past).first == 8 && reef_history_reach(past).end == 8);
    assert_ok(reef_history_step(past, with_y, sizeof with_y));
    reef_history_free(past);
    reef_hot_close(h);
}

/* Its future is there still, and can be played with the new code. */
static void a_history_at_its_first_tick_keeps_its_future(void **state)
{
    const float input[2] = {5, 0};
    reef_world *w = world_of(state);
    reef_hot_code *h = hot_of(w, "", NULL);
    reef_history *past =
        reef_history_new(w, &(reef_history_config){.ticks = 6, .step = thrust_step, .input = reef_type_find("Thrust")});
    const reef_entity e = hunter(w, 1, 0);
    for (int i = 0; i < 8; i++) assert_ok(reef_history_step(past, input, sizeof input));
    assert_ok(reef_history_rewind(past, 2));
    assert_true(reef_get(w, e, Place)->x == 3);
    reef_hot_history(h, past, 5);
    build("-DHUNTER_LESS -DTHRUST_LESS -DSPEED=10");
    assert_event(h, REEF_HOT_LOADED);
    const reef_history_range r = reef_history_reach(past);
    assert_true(r.first == 2 && r.tick == 2 && r.end == 8 && r.kept == 1);
    assert_true(thrust_of(reef_history_input(past, 7, NULL), "x") == 5);
    assert_event(h, REEF_HOT_SAME); /* nothing was played since */
    assert_ok(reef_history_replay(past, 8));
    assert_true(reef_get(w, e, Place)->x == 63);
    assert_ok(reef_history_rewind(past, 2));
    assert_true(reef_get(w, e, Place)->x == 3);
    reef_history_free(past);
    reef_hot_close(h);
}

typedef struct poll_within {
    reef_hot_code *hot;
    reef_hot_event event;
    float x;
} poll_within;

static reef_status polling_step(void *context, reef_world *w, uint64_t number, const void *input, size_t bytes)
{
    poll_within *p = context;
    (void)w, (void)number, (void)bytes;
    p->event = reef_hot_poll(p->hot);
    p->x = *(const float *)input;
    return REEF_OK;
}

/* Another world's step reads an input whose type is about to change. That world has no values of the type. */
static void an_input_that_is_read_waits(void **state)
{
    const float input[2] = {5, 0};
    reef_world *w = world_of(state), *other = another_world(state, NULL);
    poll_within p = {.hot = hot_of(w, "", NULL)};
    reef_history *past = reef_history_new(
        other,
        &(reef_history_config){.ticks = 6, .step = polling_step, .context = &p, .input = reef_type_find("Thrust")});
    assert_ok(reef_history_step(past, input, sizeof input));
    build("-DTHRUST_LESS");
    const uint64_t hash = reef_hash(w);
    assert_ok(reef_history_step(past, input, sizeof input));
    assert_int_equal(p.event, REEF_HOT_REFUSED);
    assert_text(p.hot, "Thrust has another layout, but a history plays a tick with inputs of it");
    assert_true(p.x == 5 && reef_hash(w) == hash);
    assert_event(p.hot, REEF_HOT_LOADED); /* the next poll tries again */
    assert_true(thrust_of(reef_history_input(past, 1, NULL), "x") == 5);
    reef_history_free(past);
    reef_hot_close(p.hot);
}

/* ---- names, and values that fields don't describe as a whole ---- */

static void a_renamed_field_keeps_its_values(void **state)
{
    reef_world *w = world_of(state);
    reef_hot_code *h = hot_of(w, "", NULL);
    reef_entity e[50];
    for (uint32_t i = 0; i < 50; i++) e[i] = hunter(w, (float)i, (uint8_t)(i + 1));
    build("-DHUNTER_RENAMED");
    assert_event(h, REEF_HOT_LOADED);
    for (uint32_t i = 0; i < 50; i++) {
        assert_true(field_of(w, e[i], "Hunter", "strength") == (double)i);
        assert_true(field_of(w, e[i], "Hunter", "temper") == (double)(i + 1));
    }
    build(""); /* the other way there are no old names */
    assert_hot_refused(w, h, "Hunter.temper: 50 values");
    assert_text(h, "Hunter.strength: 49 values");
    reef_hot_close(h);
}

/* What an Owned owns. */
static int owned_of(const reef_world *w, reef_entity e)
{
    const reef_component c = reef_type_find("Owned");
    reef_type_info info;
    const char *value = reef_get_id(w, e, c);
    uint64_t number;
    assert_true(value && reef_type_get(c, &info));
    memcpy(&number, value + info.fields[info.field_count - 1].offset, sizeof number);
    return *(const int *)(uintptr_t)number;
}

static void owned_set(reef_world *w, reef_entity e, int number)
{
    uint64_t at;
    assert_true(reef_add_id(w, e, reef_type_find("Owned"), NULL, NULL) >= 0);
    memcpy(&at, reef_mut_id(w, e, reef_type_find("Owned")), sizeof at);
    *(int *)(uintptr_t)at = number;
}

/* The sanitizer finds what nobody frees, and what is freed twice. */
static void values_with_hooks_come_along(void **state)
{
    reef_world *w = world_of(state);
    reef_hot_code *h = hot_of(w, "-DOWNED", NULL);
    reef_entity e[40];
    for (uint32_t i = 0; i < 40; i++) owned_set(w, e[i] = hunter(w, (float)i, 0), (int)i);
    reef_snapshot *before = reef_snapshot_take(w);
    build("-DOWNED -DHUNTER_MORE"); /* Owned stays as it is */
    assert_event(h, REEF_HOT_LOADED);
    for (uint32_t i = 0; i < 40; i++) assert_int_equal(owned_of(w, e[i]), (int)i);
    assert_libraries(h, 1);
    build("-DOWNED -DOWNED_MORE -DHUNTER_MORE"); /* and now its fields move */
    assert_event(h, REEF_HOT_LOADED);
    for (uint32_t i = 0; i < 40; i++) {
        assert_int_equal(owned_of(w, e[i]), (int)i);
        assert_true(field_of(w, e[i], "Owned", "weight") == 0);
    }
    assert_libraries(h, 1);
    assert_ok(reef_destroy(w, e[0]));
    assert_ok(reef_restore(w, before));
    for (uint32_t i = 0; i < 40; i++) assert_int_equal(owned_of(w, e[i]), (int)i);
    reef_snapshot_free(before);
    for (uint32_t i = 0; i < 40; i++) assert_ok(reef_destroy(w, e[i]));
    reef_hot_close(h);
}

static void values_that_nothing_copies_are_refused(void **state)
{
    reef_world *w = world_of(state);
    reef_hot_code *h = hot_of(w, "-DOWNED -DKEPT", NULL);
    for (uint32_t i = 0; i < 3; i++)
        assert_true(reef_add_id(w, hunter(w, 1, 0), reef_type_find("Kept"), NULL, NULL) >= 0);
    build("-DOWNED -DKEPT -DHUNTER_MORE");
    assert_event(h, REEF_HOT_REFUSED); /* (such a world has no hash of a fork) */
    assert_text(h, "Kept can't be converted: 3 values have hooks and none that copies");
    assert_true(reef_get_id(w, (reef_entity){1, 1}, reef_type_find("Hunter")) != NULL);
    assert_libraries(h, 1);
    reef_block b = reef_begin_text(w, "with Kept");
    while (reef_next(&b))
        for (uint32_t i = 0; i < b.count; i++) (void)reef_destroy(w, b.entities[i]);
    reef_end(&b);
    build("-DOWNED -DKEPT -DHUNTER_MORE");
    reef_hot_close(h);
}

typedef struct {
    uint32_t seen;
    uint64_t hidden[2];
} opaque;

static void bytes_outside_of_fields(void **state)
{
    reef_world *w = world_of(state);
    reef_hot_code *h = hot_of(w, "-DOPAQUE", NULL);
    const reef_component was = reef_type_find("Opaque");
    reef_entity e[10];
    for (uint32_t i = 0; i < 10; i++) {
        opaque value;
        memset(&value, 0, sizeof value); /* nobody knows whether what is between the members is padding */
        value.seen = i;
        value.hidden[0] = i % 2;
        e[i] = hunter(w, 1, 0);
        assert_true(reef_set_id(w, e[i], was, &value, sizeof value) >= 0);
    }
    build("-DOPAQUE -DHUNTER_MORE"); /* Opaque stays as it is, and so do all of its bytes */
    assert_event(h, REEF_HOT_LOADED);
    for (uint32_t i = 0; i < 10; i++) {
        const opaque *value = reef_get_id(w, e[i], was);
        assert_true(value && value->seen == i && value->hidden[0] == i % 2);
    }
    build("-DOPAQUE -DOPAQUE_MORE -DHUNTER_MORE");
    assert_hot_refused(w, h, "would be lost: Opaque.(bytes outside of its fields): 5 values");
    for (uint32_t i = 0; i < 10; i++) ((opaque *)reef_mut_id(w, e[i], was))->hidden[0] = 0;
    build("-DOPAQUE -DOPAQUE_MORE -DHUNTER_MORE");
    assert_event(h, REEF_HOT_LOADED);
    assert_int_equal(*(const uint32_t *)reef_get_id(w, e[7], reef_type_find("Opaque")), 7);
    reef_hot_close(h);
}

/* ---- all worlds of the process ---- */

static void all_worlds_are_converted(void **state)
{
    reef_world *w = world_of(state), *other = another_world(state, NULL);
    reef_hot_code *h = hot_of(w, "", NULL);
    reef_entity e[2000], f[3];
    for (uint32_t i = 0; i < 2000; i++) e[i] = hunter(w, (float)i, 0);
    for (uint32_t i = 0; i < 3; i++) f[i] = hunter(other, (float)(100 + i), 0);
    tick(w);
    const reef_query origins = reef_query_new(w, "in Hunter, in Place");
    reef_world *fork = reef_fork(w);
    reef_snapshot *snapshot = reef_snapshot_take(w), *second = reef_snapshot_take(other);
    const reef_query q = reef_query_new(fork, "in Hunter");
    const float x = reef_get(w, e[5], Place)->x;
    tick(w);
    build("-DHUNTER_MORE -DSPEED=10");
    assert_event(h, REEF_HOT_LOADED);
    assert_libraries(h, 1); /* nothing leads into the old one */
    assert_valid(w);
    assert_valid(fork);
    assert_valid(other);
    assert_int_equal(reef_query_count(fork, q), 2000);
    assert_int_equal(reef_query_count(fork, origins), 2000); /* which wasn't used there before */
    assert_int_equal(reef_query_count(w, origins), 2000);
    tick(fork); /* with the new code */
    assert_true(reef_get(fork, e[5], Place)->x == x + 10);
    for (uint32_t i = 0; i < 2000; i++) assert_true(field_of(fork, e[i], "Hunter", "power") == (double)i);
    for (uint32_t i = 0; i < 3; i++) assert_true(field_of(other, f[i], "Hunter", "power") == (double)(100 + i));
    assert_true(reef_system_is_null(reef_system_find(other, "move"))); /* it never used the module */
    assert_ok(reef_restore(w, snapshot));
    assert_true(reef_get(w, e[5], Place)->x == x && field_of(w, e[5], "Hunter", "power") == 5);
    assert_ok(reef_restore(other, second));
    assert_true(field_of(other, f[2], "Hunter", "power") == 102);
    reef_world *third = reef_snapshot_fork(snapshot);
    tick(third);
    assert_true(reef_get(third, e[5], Place)->x == x + 10);
    assert_int_equal(reef_query_count(third, origins), 2000);
    reef_world_free(third);
    assert_ok(reef_merge(w, other, NULL, NULL));
    reef_snapshot_free(snapshot);
    reef_snapshot_free(second);
    reef_world_free(fork);
    reef_hot_close(h);
}

/* The queries of a snapshot are renewed, and nothing is left of what they were before. */
static void queries_of_snapshots_dont_grow(void **state)
{
    reef_world *w = world_of(state);
    reef_hot_code *h = hot_of(w, "", NULL);
    (void)hunter(w, 1, 0);
    const reef_query q = reef_query_new(w, "in Hunter, in Place");
    reef_snapshot *s = reef_snapshot_take(w);
    for (uint32_t round = 0; round < 3; round++) {
        build(round % 2 ? "-DSPEED=3" : "-DHUNTER_MORE -DSPEED=3");
        assert_event(h, REEF_HOT_LOADED);
        reef_world *fork = reef_snapshot_fork(s);
        uint32_t others = 0;
        for (uint32_t i = 0; i <= q.index + 1; i++) others += reef_query_new(fork, "in Place").index > q.index;
        assert_int_equal(others, 2); /* only its own place was taken, and those before it were free */
        for (uint32_t i = 0; i < 2; i++) assert_int_equal(reef_query_new(fork, "in Place").index, q.index + 3 + i);
        assert_int_equal(reef_query_count(fork, q), 1);
        reef_world_free(fork);
    }
    reef_snapshot_free(s);
    reef_hot_close(h);
}

static void another_world_can_refuse(void **state)
{
    reef_world *w = world_of(state), *other = another_world(state, NULL);
    reef_hot_code *h = hot_of(w, "", NULL);
    hunter(w, 1, 0);
    hunter(other, 1, 9);
    reef_world *fork = reef_fork(w);
    reef_snapshot *snapshot = reef_snapshot_take(other);
    const uint64_t hash = reef_hash(other);
    build("-DHUNTER_LESS");
    assert_hot_refused(w, h, "would be lost: Hunter.rage: 1 values, in a");
    assert_int_equal(reef_hash(other), hash);
    reef_snapshot_free(snapshot);
    reef_block b = reef_begin_text(fork, "in Hunter");
    assert_true(reef_next(&b));
    build("-DHUNTER_MORE -DSPEED=3");
    assert_event(h, REEF_HOT_REFUSED);
    assert_text(h, "another world is in use");
    reef_end(&b);
    assert_ok(reef_own_time(fork, "a session"));
    build("-DHUNTER_MORE -DSPEED=6");
    assert_hot_refused(w, h, "the time of another world belongs to a session");
    assert_ok(reef_own_time(fork, NULL));
    (void)reef_system_new(fork, &(reef_system_desc){.name = "looks", .function = nothing, .text = "in Hunter"});
    build("-DHUNTER_MORE -DSPEED=4");
    assert_hot_refused(w, h, "looks of another world names it, too");
    reef_world_free(fork);
    reef_code_pin(w, "ranks share this world");
    build("-DHUNTER_MORE -DSPEED=5");
    assert_event(h, REEF_HOT_REFUSED);
    assert_text(h, "ranks share this world");
    reef_code_pin(w, NULL);
    assert_event(h, REEF_HOT_REFUSED); /* it is tried again, and the other world has rage still */
    reef_hot_close(h);
}

/* A history that isn't in the settings keeps its states, and a journal goes on. */
static void a_history_and_a_journal_go_on(void **state)
{
    char file[700];
    reef_world *w = world_of(state), *read = another_world(state, NULL);
    reef_history *past = reef_history_new(w, &(reef_history_config){.ticks = 60, .step = step, .hashes = true});
    reef_hot_code *h = hot_of(w, "", NULL);
    (void)snprintf(file, sizeof file, "%s.journal", hot_path);
    reef_journal *journal = reef_journal_open(w, file, &(reef_journal_desc){.unsynced = true, .fresh = true});
    assert_non_null(journal);
    const reef_entity e = hunter(w, 7, 0);
    for (int i = 0; i < 5; i++) assert_ok(reef_history_step(past, NULL, 0));
    assert_ok(reef_journal_append(journal));
    assert_int_not_equal(reef_history_hash(past, 3), 0);
    build("-DHUNTER_MORE -DSPEED=10");
    assert_event(h, REEF_HOT_LOADED);
    assert_libraries(h, 1);
    assert_int_equal(reef_history_hash(past, 3), 0); /* it is another state now */
    assert_ok(reef_history_step(past, NULL, 0));
    assert_true(reef_get(w, e, Place)->x == 7 + 5 + 10);
    assert_ok(reef_journal_append(journal));
    assert_ok(reef_history_rewind(past, 2));
    assert_true(reef_get(w, e, Place)->x == 7 + 2 && field_of(w, e, "Hunter", "power") == 7);
    assert_ok(reef_history_replay(past, 6));
    assert_true(reef_get(w, e, Place)->x == 7 + 2 + 40);
    assert_ok(reef_journal_append(journal));
    const uint64_t hash = reef_hash(w);
    reef_journal_close(journal);
    assert_ok(reef_load(read, file, NULL));
    assert_true(field_of(read, e, "Hunter", "power") == 7 && reef_get(read, e, Place)->x == 49);
    (void)hash;
    reef_history_free(past);
    reef_hot_close(h);
}

/* ---- whatever names a type ---- */

static double single_prey(const reef_world *w)
{
    return (double)*(const uint32_t *)reef_single_get_id(w, reef_type_find("Pack"));
}

static void events_wait_over_a_change(void **state)
{
    reef_world *w = world_of(state);
    reef_hot_code *h = hot_of(w, "", NULL);
    tick(w);
    tick(w);
    assert_true(single_prey(w) == 2); /* the system reads in the next tick what is sent behind it */
    const reef_component was = reef_type_find("Hunt");
    const reef_event_reader reader = reef_event_reader_new(w, was);
    reef_removals gone = reef_removals_new(w, reef_type_find("Hunter"), true);
    tick(w); /* one event waits for the system, and one for the reader */
    assert_ok(reef_destroy(w, hunter(w, 1, 1)));
    build("-DWIDE -DHUNTER_MORE");
    assert_event(h, REEF_HOT_LOADED);
    assert_text(h, "5 types have another layout now");
    uint64_t value[8];
    reef_entity e;
    assert_false(reef_event_next(w, reader, value)); /* these readers are of the old types */
    assert_false(reef_removals_next(w, gone, &e, value));
    assert_ok(reef_event_reader_free(w, reader));
    assert_ok(reef_removals_free(w, gone));
    tick(w);
    const uint64_t *pack = reef_single_get_id(w, reef_type_find("Pack"));
    assert_int_equal(pack[0], 2 + 3 + 4);
    tick(w);
    pack = reef_single_get_id(w, reef_type_find("Pack"));
    assert_int_equal(pack[0], 2 + 3 + 4 + 5);
    assert_libraries(h, 1);
    reef_hot_close(h);
}

static void relations_prefabs_bundles_and_commands(void **state)
{
    reef_world *w = world_of(state);
    reef_hot_code *h = hot_of(w, "", NULL);
    const reef_component hunter_was = reef_type_find("Hunter"), chases = reef_type_find("Chases");
    const reef_entity a = hunter(w, 1, 0), b = hunter(w, 2, 0), prefab = hunter(w, 9, 0);
    const uint32_t prey = 77;
    assert_true(reef_relate_id(w, a, chases, b, &prey, sizeof prey) >= 0);
    assert_ok(reef_make_prefab(w, prefab));
    const reef_bundle_part parts[] = {{reef_id(Place), 0}, {hunter_was, sizeof(Place)}};
    reef_bundle *bundle = reef_bundle_new(w, parts, 2);
    assert_non_null(bundle);
    build("-DWIDE -DHUNTER_MORE");
    assert_event(h, REEF_HOT_LOADED);
    const reef_component now = reef_type_find("Chases");
    assert_entity(reef_target_id(w, a, now), b);
    const uint64_t *relation = reef_relation_get_id(w, a, now, b); /* its target and its place come first */
    assert_true(relation && relation[2] == 77 && relation[3] == 0);
    reef_entity made;
    assert_ok(reef_instantiate(w, prefab, 1, &made));
    assert_true(field_of(w, made, "Hunter", "power") == 9);
    const struct {
        Place place;
        first_hunter hunter;
    } packed = {{1, 2}, {3, 4}};
    assert_true(reef_entity_is_null(reef_spawn_bundle(w, bundle, &packed))); /* it is of the old type */
    assert_int_equal(reef_last_error(w).status, REEF_UNKNOWN_TYPE);
    assert_true(reef_set_id(w, a, hunter_was, &packed.hunter, sizeof packed.hunter) == REEF_UNKNOWN_TYPE);
    assert_null(reef_get_id(w, a, hunter_was));
    reef_bundle_free(bundle);
    assert_valid(w);
    reef_hot_close(h);
}

/* When memory ran out at the end of a loop, the calls that are left wait: they are done before the layout changes. */
static void calls_that_wait_are_converted(void **state)
{
    bool waited = false;
    for (uint64_t n = 1; !waited; n++) {
        heap *memory = heap_of(state);
        reef_world *w = another_world(state, NULL);
        reef_hot_code *h = hot_of(w, "", NULL);
        const reef_component was = reef_type_find("Hunter");
        reef_entity e[40];
        for (uint32_t i = 0; i < 40; i++) e[i] = reef_spawn(w, reef_with(Place, (float)i, 0));
        reef_block b = reef_begin_loop(w, reef_query_new(w, "in Place"), &(reef_loop){.deferred = true});
        for (uint32_t i = 0; i < 40; i++) {
            const first_hunter value = {(float)i, 0};
            assert_true(reef_set_id(w, e[i], was, &value, sizeof value) >= 0);
        }
        heap_fail_nth(memory, n, true);
        reef_end(&b);
        heap_fail_never(memory);
        waited = reef_count_id(w, was) < 40 && reef_last_error(w).status == REEF_NO_MEMORY;
        build("-DHUNTER_MORE");
        assert_event(h, REEF_HOT_LOADED);
        assert_valid(w);
        for (uint32_t i = 0; i < 40 && waited; i++) assert_true(field_of(w, e[i], "Hunter", "power") == (double)i);
        reef_hot_close(h);
        end_world(state, w);
        assert_true(n < 500);
    }
}

static reef_status account(reef_world *w, reef_entity e, uint64_t id)
{
    const reef_component c = reef_type_find("Account");
    reef_type_info info;
    _Alignas(8) char value[24] = {0};
    assert_true(reef_type_get(c, &info));
    for (uint32_t i = 0; i < info.field_count; i++)
        if (strcmp(info.fields[i].name, "id") == 0) memcpy(value + info.fields[i].offset, &id, info.fields[i].bytes);
    return reef_set_id(w, e, c, value, info.size);
}

/* What is unique stays so, whatever the layout: also where a narrower number would make two values of one. */
static void unique_values_keep_their_meaning(void **state)
{
    reef_world *w = world_of(state);
    reef_hot_code *h = hot_of(w, "-DACCOUNT=1", &(reef_hot_desc){.lose_values = true});
    const reef_entity a = reef_create(w), b = reef_create(w), c = reef_create(w);
    assert_true(account(w, a, 1) >= 0 && account(w, b, 257) >= 0);
    assert_int_equal(account(w, c, 257), REEF_EXISTS);
    build("-DACCOUNT=2");
    assert_event(h, REEF_HOT_LOADED);
    assert_libraries(h, 1);
    assert_int_equal(account(w, c, 257), REEF_EXISTS);
    assert_true(account(w, c, 7) >= 0);
    assert_int_equal(account(w, c, 1), REEF_EXISTS);
    assert_ok(reef_destroy(w, a));
    assert_true(account(w, c, 1) >= 0);
    build("-DACCOUNT=3"); /* 257 isn't in a byte */
    const reef_hot_event event = reef_hot_poll(h);
    if (event == REEF_HOT_LOADED) {
        const reef_component t = reef_type_find("Account");
        const uint8_t *one = reef_get_id(w, b, t), *other = reef_get_id(w, c, t);
        assert_true(one && other && *one != *other);
    } else {
        assert_int_equal(event, REEF_HOT_REFUSED);
    }
    assert_valid(w);
    reef_hot_close(h);
}

static void assert_mood(const reef_world *w, reef_entity e, uint32_t wanted)
{
    const reef_component c = reef_type_find("Temper");
    const char *value = reef_get_id(w, e, c);
    reef_type_info info;
    assert_true(value && reef_type_get(c, &info));
    const reef_field *f = &info.fields[info.field_count - 1];
    assert_string_equal(f->name, "mood");
    assert_int_equal(*(const uint32_t *)(const void *)(value + f->offset), wanted);
}

/* The values of an enum keep their names, and get the numbers that these have now. */
static void enums_keep_their_names(void **state)
{
    reef_world *w = world_of(state);
    reef_hot_code *h = hot_of(w, "-DTEMPER=1", NULL);
    reef_entity e[3];
    for (uint32_t i = 0; i < 3; i++) {
        e[i] = reef_create(w);
        assert_true(reef_set_id(w, e[i], reef_type_find("Temper"), &i, sizeof i) >= 0);
    }
    build("-DTEMPER=2");
    assert_event(h, REEF_HOT_LOADED);
    assert_mood(w, e[0], 40);
    assert_mood(w, e[1], 300);
    assert_mood(w, e[2], 2);
    build("-DTEMPER=3"); /* nobody is angry any more, but one is */
    assert_hot_refused(w, h, "would be lost: Temper.mood: 1 values");
    assert_null(strstr(reef_hot_text(h), ", Temper")); /* once, though two names are gone */
    assert_ok(reef_destroy(w, e[1]));
    build("-DTEMPER=3 -DSPEED=10");
    assert_event(h, REEF_HOT_LOADED);
    assert_mood(w, e[0], 0);
    assert_mood(w, e[2], 1);
    assert_libraries(h, 1);
    assert_valid(w);
    reef_hot_close(h);
}

static void every_home(void **state)
{
    static const char *const homes[] = {"REEF_TABLE", "REEF_SPARSE", "REEF_PAGED", "REEF_COLD",
                                        "REEF_MULTI", "REEF_SHARED", "REEF_SPLIT"};
    for (uint32_t from = 0; from < 7; from++) {
        char flags[100], to[100];
        reef_world *w = another_world(state, NULL);
        (void)snprintf(flags, sizeof flags, "-DHUNTER_HOME=%s", homes[from]);
        (void)snprintf(to, sizeof to, "-DHUNTER_HOME=%s -DHUNTER_RENAMED", homes[(from + 3) % 7]);
        reef_hot_code *h = hot_of(w, flags, NULL);
        reef_entity e[20];
        for (uint32_t i = 0; i < 20; i++) e[i] = hunter(w, (float)i, (uint8_t)i);
        reef_world *fork = reef_fork(w);
        build(to);
        assert_event(h, REEF_HOT_LOADED);
        assert_libraries(h, 1);
        const reef_component c = reef_type_find("Hunter");
        for (uint32_t i = 0; i < 20; i++) assert_true(reef_has_id(w, e[i], c) && reef_has_id(fork, e[i], c));
        assert_valid(w);
        assert_valid(fork);
        reef_world_free(fork);
        reef_hot_close(h);
        end_world(state, w);
    }
}

/* A query that reads the columns of a split type can't be made anew by itself; one that only asks who has it can. */
static void queries_of_a_split_type(void **state)
{
    reef_world *w = world_of(state);
    reef_hot_code *h = hot_of(w, "-DHUNTER_HOME=REEF_SPLIT", NULL);
    for (uint32_t i = 0; i < 5; i++) hunter(w, (float)i, 0);
    const reef_query all = reef_query_new(w, "Place, with Hunter");
    reef_query reads = reef_query_new(w, "in Hunter");
    const reef_query one = reef_query_new(w, "in Hunter.power, in Place");
    build("-DHUNTER_HOME=REEF_SPLIT -DHUNTER_MORE");
    assert_hot_refused(w, h, "but a query compares or sorts by its values, or names its columns");
    assert_int_equal(reef_query_count(w, reads), 5);
    reef_snapshot *s = reef_snapshot_take(w);
    reef_world *live = reef_fork(w), *unused = reef_fork(w);
    assert_int_equal(reef_query_count(live, reads), 5);
    assert_ok(reef_query_free(w, reads));
    build("-DHUNTER_HOME=REEF_SPLIT -DHUNTER_MORE -DSPEED=3");
    assert_hot_refused(w, h, "but a query compares or sorts by its values, or names its columns");
    assert_int_equal(reef_query_count(live, reads), 5);
    assert_ok(reef_query_free(w, one));
    const reef_query own = reef_query_new(live, "in Hunter.power, !Place");
    build("-DHUNTER_HOME=REEF_SPLIT -DHUNTER_MORE -DSPEED=4");
    assert_hot_refused(w, h, "but a query compares or sorts by its values, or names its columns, in another world");
    assert_int_equal(reef_query_count(live, one), 5);
    reef_world *later = reef_fork(live);
    assert_int_equal(reef_query_count(later, reads), 5);
    reef_world_free(later);
    assert_ok(reef_query_free(live, own));
    build("-DHUNTER_HOME=REEF_SPLIT -DHUNTER_MORE");
    assert_event(h, REEF_HOT_LOADED);
    assert_int_equal(reef_query_count(w, all), 5);
    reef_world *fork = reef_snapshot_fork(s); /* without those that nobody could free in a snapshot */
    assert_int_equal(reef_query_count(fork, all), 5);
    assert_zero(fork, REEF_OTHER_WORLD, reef_query_count(fork, reads));
    assert_zero(fork, REEF_OTHER_WORLD, reef_query_count(fork, one));
    reef_world_free(fork);
    reef_snapshot_free(s);
    for (uint32_t i = 0; i < 2; i++) { /* nor in a fork */
        fork = i ? unused : live;
        assert_int_equal(reef_query_count(fork, all), 5);
        assert_zero(fork, REEF_NOT_ALIVE, reef_query_count(fork, reads));
        assert_zero(fork, REEF_NOT_ALIVE, reef_query_count(fork, one));
        assert_valid(fork);
        reef_world_free(fork);
    }
    build("-DHUNTER_LESS");
    assert_event(h, REEF_HOT_LOADED);
    assert_int_equal(reef_query_count(w, all), 5);
    reads = reef_query_new(w, "in Hunter");
    build("-DHUNTER_HOME=REEF_SPLIT -DHUNTER_MORE"); /* a column gets several, which the query then names */
    assert_event(h, REEF_HOT_LOADED);
    assert_int_equal(reef_query_count(w, reads), 5);
    reef_block b = reef_begin(w, reads);
    assert_true(reef_next(&b));
    assert_non_null(reef_block_in(&b, reef_column_of(reef_type_find("Hunter"), "fear")));
    reef_end(&b);
    assert_ok(reef_query_free(w, reads));
    assert_valid(w);
    reef_hot_close(h);
}

/* What a refused library has declared is forgotten, also where there was such a layout before. */
static void a_refused_layout_leaves_nothing(void **state)
{
    reef_world *w = world_of(state);
    reef_hot_code *h = hot_of(w, "-DHUNTER_HOME=REEF_SPLIT", NULL);
    const reef_component was = reef_type_find("Hunter"), column = reef_column_of(was, "power");
    const reef_entity e = hunter(w, 7, 0);
    build("-DHUNTER_MORE");
    assert_event(h, REEF_HOT_LOADED);
    assert_int_equal(reef_type_find("Hunter.power").id, 0);
    build("-DHUNTER_HOME=REEF_SPLIT -DREFUSES -DOWNED");
    assert_event(h, REEF_HOT_REFUSED);
    assert_libraries(h, 1); /* though Owned has hooks */
    assert_int_equal(reef_type_find("Hunter.power").id, 0);
    assert_status(REEF_UNKNOWN_TYPE, reef_add_id(w, e, was, NULL, NULL));
    assert_true(reef_query_is_null(reef_query_new(w, "in Hunter.power")));
    build("-DHUNTER_HOME=REEF_SPLIT -DHUNTER_MORE");
    assert_event(h, REEF_HOT_LOADED);
    const reef_component now = reef_type_find("Hunter.power");
    assert_int_not_equal(now.id, column.id);
    assert_true(*(const double *)reef_get_id(w, e, now) == 7);
    assert_valid(w);
    reef_hot_close(h);
}

/* A type that requires one whose layout changes stays as it is, and requires the new one. */
static void what_is_required_changes(void **state)
{
    reef_world *w = world_of(state);
    reef_hot_code *h = hot_of(w, "-DLEASH=1", NULL);
    const reef_component marked = reef_type_find("Marked");
    const float length = 2;
    const reef_entity e = reef_create(w), without = reef_create(w);
    assert_status(REEF_ADDED, reef_set_id(w, e, reef_type_find("Leash"), &length, sizeof length));
    assert_status(REEF_ADDED, reef_set_id(w, without, reef_type_find("Leash"), &length, sizeof length));
    assert_ok(reef_remove_id(w, without, reef_type_find("Hunter")));
    const reef_component was = reef_type_find("Leash");
    build("-DLEASH=1 -DHUNTER_MORE -DREFUSES");
    assert_event(h, REEF_HOT_REFUSED);
    assert_int_equal(reef_type_find("Leash").id, was.id);
    static const char *const flags[] = {"-DLEASH=1 -DHUNTER_MORE", "-DLEASH=1", "-DLEASH=2 -DHUNTER_MORE",
                                        "-DLEASH=2 -DHUNTER_MORE -DHUNTER_HOME=REEF_SPARSE"};
    for (uint32_t i = 0; i < 4; i++) {
        build(flags[i]);
        assert_event(h, REEF_HOT_LOADED);
        assert_text(h, "2 types have another layout now");
        const reef_component leash = reef_type_find("Leash"), hunter_now = reef_type_find("Hunter");
        assert_true(reef_has_id(w, e, leash) && reef_has_id(w, e, hunter_now));
        assert_true(reef_has_id(w, without, leash));
        assert_false(reef_has_id(w, without, hunter_now) || reef_has_id(w, e, marked)); /* nothing comes along */
        const reef_entity another = reef_create(w);
        assert_status(REEF_ADDED, reef_set_id(w, another, leash, &length, sizeof length));
        assert_true(reef_has_id(w, another, hunter_now));
        assert_int_equal(reef_has_id(w, another, marked), i > 1);
        assert_libraries(h, 1);
        assert_valid(w);
    }
    reef_hot_close(h);
}

static void no_memory_is_no_change_of_layout(void **state)
{
    reef_world *w = world_of(state);
    reef_hot_code *h = hot_of(w, "", NULL);
    reef_history *past = reef_history_new(
        w, &(reef_history_config){.ticks = 60, .step = thrust_step, .input = reef_type_find("Thrust")});
    reef_hot_history(h, past, 2);
    const reef_query q = reef_query_new(w, "in Hunter, in Place");
    const reef_entity e = hunter(w, 1, 0);
    bool more = false;
    const float input[2] = {5, 6};
    for (int i = 0; i < 4; i++) assert_ok(reef_history_step(past, input, sizeof input));
    heap *heaps[] = {heap_of(state), &hot_types};
    for (uint32_t k = 0; k < 2; k++) {
        bool loaded = false;
        for (uint64_t n = 1; !loaded; n++) {
            const uint64_t hash = reef_hash(w);
            const float x = reef_get(w, e, Place)->x;
            build(more ? "-DHUNTER_LESS" : "-DHUNTER_MORE -DTHRUST_MORE");
            heap_fail_nth(heaps[k], n, n % 3 == 0);
            loaded = reef_hot_poll(h) == REEF_HOT_LOADED;
            heap_fail_never(heaps[k]);
            if (!loaded) {
                assert_text(h, "memory"); /* nothing else refuses it */
                assert_int_equal(reef_hash(w), hash);
            }
            assert_true(thrust_of(reef_history_input(past, 3, NULL), "y") == 6);
            assert_true(reef_get(w, e, Place)->x == x);
            assert_int_equal(reef_history_reach(past).tick, 4);
            assert_int_equal(reef_query_count(w, q), 1);
            assert_libraries(h, 1);
            assert_valid(w);
            assert_true(n < 2000);
        }
        more = !more;
        assert_true(field_of(w, e, "Hunter", "power") == 1);
    }
    assert_ok(reef_history_step(past, NULL, 0));
    reef_history_free(past);
    reef_hot_close(h);
}

int main(void)
{
    if (!hot_suite_begin()) return 1;
    const struct CMUnitTest tests[] = {
        TEST(a_layout_changes),
        TEST(what_has_no_fields_is_told),
        TEST(indexes_of_a_layout),
        TEST(pictures_of_a_layout),
        TEST(places_of_code_that_comes_and_goes),
        TEST(the_past_gets_the_new_layout),
        TEST(the_past_is_played_with_the_new_layout),
        TEST(inputs_get_the_new_layout),
        TEST(inputs_that_are_dropped_refuse_nothing),
        TEST(a_history_at_its_first_tick_keeps_its_future),
        TEST(an_input_that_is_read_waits),
        TEST(a_renamed_field_keeps_its_values),
        TEST(values_with_hooks_come_along),
        TEST(bytes_outside_of_fields),
        TEST(all_worlds_are_converted),
        TEST(queries_of_snapshots_dont_grow),
        TEST(another_world_can_refuse),
        TEST(a_history_and_a_journal_go_on),
        TEST(events_wait_over_a_change),
        TEST(relations_prefabs_bundles_and_commands),
        TEST(calls_that_wait_are_converted),
        TEST(unique_values_keep_their_meaning),
        TEST(enums_keep_their_names),
        TEST(every_home),
        TEST(queries_of_a_split_type),
        TEST(a_refused_layout_leaves_nothing),
        TEST(what_is_required_changes),
        TEST(no_memory_is_no_change_of_layout),
        TEST(values_that_nothing_copies_are_refused), /* its library stays */
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return hot_suite_end() ? failed : 1;
}
