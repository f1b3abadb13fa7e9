/* A wrong argument is named: the text of the error says which one it is, and what would be right. */
#include "support.h"
#include "reef/all.h"

typedef struct {
    float x, y;
} Spot;
typedef struct {
    int32_t a, b;
} Pair;
typedef struct {
    int32_t a, b;
} Cut;
REEF_COMPONENT(Spot);
REEF_COMPONENT(Pair);
REEF_FIELDS(Pair, a, b);
REEF_COMPONENT_IN(Cut, REEF_SPLIT);
REEF_FIELDS(Cut, a, b);
typedef struct {
    int32_t a;
} Bare;
REEF_COMPONENT_IN(Bare, REEF_SPLIT);
REEF_TAG(Sign);
REEF_RELATION(Likes);
REEF_RELATION(Beside, REEF_SYMMETRIC);

static reef_query pairs(reef_world *w) { return reef_query_new(w, "Pair"); }
static reef_entity one(reef_world *w) { return reef_spawn(w, reef_with(Pair, 1, 2), reef_with(Cut, 1, 2)); }
static void nothing(reef_block *b) { (void)b; }
static reef_status step(void *context, reef_world *w, uint64_t tick, const void *input, size_t bytes)
{
    (void)tick, (void)input, (void)bytes, (void)context;
    return reef_tick(w, 0.1f);
}

#define CALL(name, ...) \
    static void name(reef_world *w) { (void)(__VA_ARGS__); }
CALL(tick_back, reef_tick(w, -1))
CALL(save_nowhere, reef_save(w, "", NULL))
CALL(save_by_nothing, reef_save_to(w, (reef_writer){NULL, NULL}, NULL))
CALL(save_bytes_nowhere, reef_save_bytes(w, NULL, NULL))
CALL(diff_from_nothing, reef_diff_save(NULL, w, (reef_writer){NULL, NULL}, NULL))
CALL(load_nothing, reef_load(w, NULL, NULL))
CALL(restore_nothing, reef_restore(w, NULL))
CALL(merge_itself, reef_merge(w, w, NULL, NULL))
CALL(merge_nothing, reef_merge(w, NULL, NULL, NULL))
CALL(reserve_for_nothing, reef_reserve_for(w, 1, NULL, 2))
CALL(observe_nothing, reef_observer_new(w, NULL))
CALL(module_nothing, reef_module_use(w, NULL))
CALL(query_nothing, reef_query_new(w, NULL))
CALL(query_no_desc, reef_query_make(w, NULL))
CALL(query_bad_access,
     reef_query_make(w, &(reef_query_desc){.terms = {{.component = reef_id(Pair), .access = (reef_access)99}}}))
CALL(query_tag_changed,
     reef_query_make(w, &(reef_query_desc){.terms = {{.component = reef_id(Pair)},
                                                     {.component = reef_id(Sign), .since = REEF_IF_CHANGED}}}))
CALL(query_empty_group, reef_query_make(w, &(reef_query_desc){.terms = {{.op = REEF_ANY_OF}}}))
CALL(order_tag, reef_query_order(w, reef_query_new(w, "with Sign"), &(reef_order){.component = reef_id(Sign)}))
CALL(order_no_field, reef_query_order(w, pairs(w), &(reef_order){.component = reef_id(Pair), .field = "c"}))
CALL(order_no_fields, reef_query_order(w, pairs(w), &(reef_order){.component = reef_id(Mass), .field = "a"}))
CALL(order_which_field, reef_query_order(w, pairs(w), &(reef_order){.component = reef_id(Pair)}))
CALL(order_absent,
     reef_query_order(w, reef_query_new(w, "Spot"), &(reef_order){.component = reef_id(Pair), .field = "a"}))
CALL(group_without_order, reef_query_group_count(w, pairs(w), 0))
CALL(sort_nothing, reef_sort_storage(w, NULL))
CALL(slices_none, reef_slices_begin(w, pairs(w), NULL, 0))
CALL(loop_nothing, reef_begin_loop(w, pairs(w), NULL))
CALL(loop_since, reef_begin_loop(w, pairs(w), &(reef_loop){.since = 1}))
CALL(run_nothing, reef_run(w, pairs(w), NULL, NULL))
CALL(parameter_nothing, reef_query_set_parameter(w, pairs(w), NULL, (reef_literal){0}))
CALL(removals_untracked, reef_removals_new(w, reef_id(Pair), false))
CALL(range_of_none, reef_reserve_range(w, 0))
CALL(create_null, reef_create_as(w, (reef_entity){0, 0}))
CALL(release_alive, reef_release_id(w, one(w)))
CALL(history_stepless, reef_history_new(w, &(reef_history_config){.ticks = 10}))
CALL(history_unbounded, reef_history_new(w, &(reef_history_config){.step = step}))
CALL(synctest_far, reef_synctest(w, &(reef_synctest_config){.step = step, .distance = 100000}, NULL))
CALL(write_nothing, reef_write_many_id(w, reef_id(Pair), NULL, 3, NULL, sizeof(Pair)))
CALL(set_nothing, reef_set_id(w, one(w), reef_id(Pair), NULL, sizeof(Pair)))
CALL(set_missing, reef_set_id(w, reef_create(w), reef_id(Pair), NULL, sizeof(Pair)))
CALL(mut_split, reef_mut_id(w, one(w), reef_id(Cut)))
CALL(append_tag, reef_append_id(w, one(w), reef_id(Sign), NULL, 0))
CALL(change_nothing, reef_change_values(w, one(w), NULL, 2))
CALL(share_pair, reef_share_id(w, one(w), one(w), reef_id(Pair)))
CALL(bundle_nothing, reef_bundle_new(w, NULL, 2))
CALL(spawn_no_bundle, reef_spawn_bundle(w, NULL, NULL))
CALL(ref_null, reef_ref_mut_as(w, NULL, reef_id(Pair)))
CALL(relate_by_pair, reef_relate_id(w, one(w), reef_id(Pair), one(w), NULL, 0))
static void retarget_symmetric(reef_world *w)
{
    const reef_entity a = one(w), b = one(w), c = one(w);
    reef_relate(w, a, Beside, b);
    reef_retarget(w, a, Beside, b, c);
}
CALL(events_none, reef_events_bound(w, reef_id(Pair), 0))
CALL(phase_nothing, reef_phase_new(w, NULL))
CALL(system_nothing, reef_system_new(w, NULL))
CALL(system_functionless, reef_system_new(w, &(reef_system_desc){.name = "some"}))
CALL(system_writes_nothing,
     reef_system_new(w, &(reef_system_desc){.name = "s", .function = nothing, .touches = {{.kind = REEF_WRITES}}}))
CALL(system_touches_oddly,
     reef_system_new(w,
                     &(reef_system_desc){.name = "s", .function = nothing, .touches = {{.kind = (reef_touch_kind)99}}}))
CALL(post_nothing, reef_post_id(w, reef_id(Pair), NULL, sizeof(Pair)))
CALL(script_nothing, reef_script_add(w, one(w), NULL, NULL))
CALL(set_where_nothing, reef_set_where_id(w, pairs(w), reef_id(Pair), NULL, sizeof(Pair), NULL))

static const struct {
    void (*call)(reef_world *w);
    const char *says;
} calls[] = {
    {tick_back, "reef_tick: an argument is wrong: a tick takes 0 to 1,000,000 seconds"},
    {save_nowhere, "reef_save: an argument is wrong: the path is empty"},
    {save_by_nothing, "the writer has no function `write`"},
    {save_bytes_nowhere, "`bytes`, where the bytes go, is NULL"},
    {diff_from_nothing, "the writer has no function `write`"},
    {load_nothing, "what is to be read, a path, a reader or bytes, is missing"},
    {restore_nothing, "the snapshot is NULL"},
    {merge_itself, "a world can't be merged with itself"},
    {merge_nothing, "there is no world to merge"},
    {reserve_for_nothing, "the list of types is NULL"},
    {observe_nothing, "the description is NULL"},
    {module_nothing, "the module is NULL"},
    {query_nothing, "the text is NULL"},
    {query_no_desc, "the description is NULL"},
    {query_bad_access, "component Pair: an argument is wrong: term 1: a member isn't of its enumeration"},
    {query_tag_changed, "term 2: 'changed' needs a type with data, a switch, or one with track_rows"},
    {query_empty_group, "term 1: a group has no component, and `count` terms follow it"},
    {order_tag, "a tag has no values to order by"},
    {order_no_field, "it has no field of this name"},
    {order_no_fields, "it has no fields: REEF_FIELDS describes them, in C++ reef::options"},
    {order_which_field, "it needs a `field` or a `key` to be ordered by"},
    {order_absent, "the query doesn't ask for this component in a term that every match has"},
    {group_without_order, "the query has no order (reef_query_order)"},
    {sort_nothing, "the description is NULL"},
    {slices_none, "1 to REEF_SLICES_MAX slices, of a loop without order, limits, groups, .deferred and variables"},
    {loop_nothing, "the settings of the loop are NULL"},
    {loop_since, "`since` is for queries that ask what changed"},
    {run_nothing, "the function is NULL"},
    {parameter_nothing, "the name of the parameter is NULL"},
    {removals_untracked, "component Pair: an argument is wrong: its rows aren't tracked (track_rows)"},
    {range_of_none, "a range has at least one id"},
    {create_null, "the null entity can't be made"},
    {release_alive, "it isn't the id that reef_reserve_id gave, or it was used"},
    {history_stepless, "a history needs the function `step`, which plays a tick"},
    {history_unbounded, "a history is bounded by `ticks` or by `bytes`"},
    {synctest_far, "`distance` is 1 to "},
    {write_nothing, "the list of entities is NULL"},
    {set_nothing, "component Pair, entity 0v1: an argument is wrong: the value is NULL"},
    {set_missing, "the value is NULL"},
    {mut_split, "REEF_SPLIT has no address: use reef_read"},
    {append_tag, "a tag has no values"},
    {change_nothing, "the list of values is NULL"},
    {share_pair, "its home isn't REEF_SHARED"},
    {bundle_nothing, "the list of parts is NULL"},
    {spawn_no_bundle, "the bundle is NULL"},
    {ref_null, "the reference is null, or of another component"},
    {relate_by_pair, "it is no type of relations"},
    {retarget_symmetric, "a symmetric relation keeps its target: end it, and relate anew"},
    {events_none, "at least one event must be kept"},
    {phase_nothing, "the description is NULL"},
    {system_nothing, "the description is NULL"},
    {system_functionless, "a system needs a function"},
    {system_writes_nothing, "this names a component, which is missing"},
    {system_touches_oddly, "a member isn't of its enumeration"},
    {post_nothing, "the value is NULL"},
    {script_nothing, "the class is NULL, or has no name, or too much data"},
    {set_where_nothing, "the value is NULL"},
};

static void wrong_arguments_are_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        reef_world *w = reef_world_new(NULL);
        char text[REEF_DETAIL_MAX + 400];
        const uint64_t before = reef_hash(w);
        (void)before;
        calls[i].call(w);
        reef_error_text(w, text, sizeof text);
        if (reef_last_error(w).status != REEF_BAD_ARGUMENT || strstr(text, calls[i].says) == NULL)
            fail_msg("\"%s\" was to be said, and this was: %s", calls[i].says, text);
        reef_world_free(w);
    }
}

/* A reason belongs to one failure alone. */
static void a_reason_is_told_once(void **state)
{
    (void)state;
    reef_world *w = reef_world_new(NULL);
    assert_null(reef_mut_id(w, one(w), reef_id(Cut)));
    assert_int_equal(reef_tick(w, -1), REEF_BAD_ARGUMENT);
    assert_string_equal(reef_last_error(w).detail, "a tick takes 0 to 1,000,000 seconds");
    reef_value both[] = {reef_value_make(reef_id(Pair), REEF_VALUE_DEFAULT, 0, NULL),
                         reef_value_make(reef_id(Bare), REEF_VALUE_DEFAULT, 0, NULL)};
    assert_true(reef_entity_is_null(reef_spawn_values(w, both, 2)));
    assert_string_equal(reef_last_error(w).detail, "in REEF_SPLIT it needs REEF_FIELDS");
    const reef_entity dead = one(w);
    reef_destroy(w, dead);
    assert_int_equal(reef_set(w, dead, Pair, 1, 2), REEF_NOT_ALIVE);
    assert_string_equal(reef_last_error(w).detail, "");
    reef_world_free(w);
}

/* ---- in systems ---- */

static void (*asks)(reef_block *b);
static void asking(reef_block *b) { asks(b); }

static void cmd_set_nothing(reef_block *b) { reef_cmd_set_id(b, b->entities[0], reef_id(Pair), NULL, sizeof(Pair)); }
static void cmd_relate_by_pair(reef_block *b)
{
    reef_cmd_relate_id(b, b->entities[0], reef_id(Pair), b->entities[0], NULL, 0);
}
static void cmd_send_nothing(reef_block *b) { reef_send_id(b, reef_id(Pair), NULL, sizeof(Pair)); }
static void cmd_spawn_nothing(reef_block *b) { (void)reef_cmd_spawn_values(b, NULL, 3); }
static void cmd_system_nothing(reef_block *b) { reef_cmd_system_new(b, NULL); }
static void cmd_script_nothing(reef_block *b) { reef_cmd_script(b, b->entities[0], NULL, NULL); }

static void wrong_arguments_of_systems_are_named(void **state)
{
    (void)state;
    static const struct {
        void (*call)(reef_block *b);
        const char *says;
    } of_systems[] = {
        {cmd_set_nothing,
         "system asking: reef_cmd_set: component Pair, entity 0v1: an argument is wrong: the value is NULL"},
        {cmd_relate_by_pair, "it is no type of relations"},
        {cmd_send_nothing, "the value is NULL"},
        {cmd_spawn_nothing, "the list of values is NULL"},
        {cmd_system_nothing, "the description is NULL"},
        {cmd_script_nothing, "the class is NULL, or has no name, or too much data"},
    };
    for (size_t i = 0; i < sizeof of_systems / sizeof *of_systems; i++) {
        reef_world *w = reef_world_new(NULL);
        char text[REEF_DETAIL_MAX + 400];
        (void)one(w);
        asks = of_systems[i].call;
        assert_true(reef_system(w, asking, "Pair; adds Pair, relates, sends Pair, spawns").generation != 0);
        (void)reef_tick(w, 0.1f);
        reef_error_text(w, text, sizeof text);
        if (reef_last_error(w).status != REEF_BAD_ARGUMENT || strstr(text, of_systems[i].says) == NULL)
            fail_msg("\"%s\" was to be said, and this was: %s", of_systems[i].says, text);
        reef_world_free(w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_arguments_are_named),
        cmocka_unit_test(a_reason_is_told_once),
        cmocka_unit_test(wrong_arguments_of_systems_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
