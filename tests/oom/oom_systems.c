/* The allocation sweep's scenarios of systems, events, files and differences. */
#include "oom_topics.h"

/* ---- systems ---- */

static void nothing_done(reef_block *b) { (void)b; }

static bool systems_seen(sweep *s, bool made)
{
    char text[4096];
    s->seen = digest_bytes(0, text, reef_schedule_explain(s->w, REEF_EXPLAIN_TEXT, text, sizeof text));
    return made;
}

static void with_systems(sweep *s)
{
    reef_system_add(s->w, "first", nothing_done, "Position, in Mass; reads Health");
    reef_system_new(s->w, &(reef_system_desc){.name = "second", .function = nothing_done, .before = "first third"});
}

static bool system_first(sweep *s)
{
    return systems_seen(
        s, !reef_system_is_null(reef_system_add(s->w, "first", nothing_done, "Position; sends Mass, destroys")));
}

static bool system_ordered(sweep *s)
{
    const reef_system_id made = reef_system_new(s->w, &(reef_system_desc){.name = "third",
                                                                          .function = nothing_done,
                                                                          .text = "Mass; receives Health",
                                                                          .before = "first",
                                                                          .after = "second"});
    if (reef_system_is_null(made)) assert_true(reef_system_is_null(reef_system_find(s->w, "third")));
    return systems_seen(s, !reef_system_is_null(made));
}

static bool system_replaced(sweep *s)
{
    const reef_system_id id = reef_system_find(s->w, "first");
    const bool made = done(reef_system_replace(
        s->w, id, &(reef_system_desc){.name = "other", .function = nothing_done, .after = "second"}));
    assert_string_equal(reef_system_name(s->w, id), made ? "other" : "first");
    return systems_seen(s, made);
}

static bool system_removed(sweep *s)
{
    const bool made = done(reef_system_remove(s->w, reef_system_find(s->w, "first")));
    assert_int_equal(reef_system_is_null(reef_system_find(s->w, "first")), made);
    return systems_seen(s, made);
}

static void nobody_told(const reef_notice *n) { (void)n; }
static reef_status module_load(reef_world *w, void *context)
{
    const bool again = *(const char *)context == '2';
    reef_system_add(w, again ? "later" : "sooner", nothing_done, "Position, in Mass");
    reef_system_add(w, "kept", nothing_done, "Mass; receives Health");
    reef_phase_new(w, &(reef_phase_desc){.name = "late"});
    (void)reef_observer_add(w, "watching", nobody_told, REEF_ON_ADD, reef_id(Mass));
    return reef_entity_is_null(reef_spawn(w, reef_with(Mass, 5))) ? reef_last_error(w).status : REEF_OK;
}
static const reef_module module_1 = {.name = "rules", .version = 1, .load = module_load, .context = "1"},
                         module_2 = {.name = "rules", .version = 2, .load = module_load, .context = "2"};

static void with_module(sweep *s)
{
    with_systems(s);
    assert_ok(reef_module_use(s->w, &module_1));
}
static bool module_seen(sweep *s, bool made, uint32_t before, uint32_t after)
{
    assert_int_equal(reef_module_version(s->w, "rules"), made ? after : before);
    return systems_seen(s, made);
}
static bool module_used(sweep *s) { return module_seen(s, done(reef_module_use(s->w, &module_1)), 0, 1); }
static bool module_replaced(sweep *s) { return module_seen(s, done(reef_module_use(s->w, &module_2)), 1, 2); }
static bool module_removed(sweep *s) { return module_seen(s, done(reef_module_remove(s->w, "rules")), 1, 0); }

static bool system_switched(sweep *s)
{
    const reef_system_id id = reef_system_find(s->w, "first");
    const bool made = done(reef_system_enable(s->w, id, false));
    assert_int_equal(reef_system_is_enabled(s->w, id), !made);
    return systems_seen(s, made);
}

static bool phase_made(sweep *s)
{
    return systems_seen(
        s, done(reef_phase_new(s->w, &(reef_phase_desc){.name = "late", .after = "update", .step_ns = 5})));
}

/* ---- events ---- */

static void one_receives(sweep *s)
{
    assert_false(reef_system_is_null(reef_system_add(s->w, "eat", nothing_done, "; receives Cargo")));
}

/* The pages of those that wait are full. */
static void with_events(sweep *s)
{
    one_receives(s);
    for (uint32_t i = 0; i < 16 * (8192 / sizeof(Cargo)); i++) assert_ok(reef_post(s->w, Cargo, {(uint8_t)i}));
}

static void with_events_kept(sweep *s)
{
    with_events(s);
    assert_false(reef_event_reader_is_null(reef_event_reader_new(s->w, reef_id(Cargo))));
    assert_non_null(s->snapshot = reef_snapshot_take(s->w));
    for (uint32_t i = 0; i < 100; i++) assert_ok(reef_post(s->w, Cargo, {1}));
}

static bool events_seen(sweep *s, bool made)
{
    s->seen = reef_world_stats(s->w).events;
    return made;
}

static bool event_posted(sweep *s) { return events_seen(s, done(reef_post(s->w, Cargo, {9}))); }
static bool events_read(sweep *s) { return !reef_event_reader_is_null(reef_event_reader_new(s->w, reef_id(Cargo))); }
static bool events_bound(sweep *s) { return events_seen(s, done(reef_events_bound(s->w, reef_id(Cargo), 1000))); }

static bool save_seen(sweep *s, reef_status status, reef_bytes *bytes)
{
    if (status == REEF_OK) s->seen = digest_bytes(1, bytes->data, bytes->size);
    reef_bytes_free(bytes);
    return done(status);
}
static bool saved(sweep *s)
{
    reef_bytes b;
    return save_seen(s, reef_save_bytes(s->w, &b, &(reef_save_desc){.raw = true, .sealed = true}), &b);
}
static bool saved_some(sweep *s)
{
    reef_bytes b;
    return save_seen(s, reef_save_bytes(s->w, &b, &(reef_save_desc){.raw = true, .query = "in Mass"}), &b);
}
static void with_changes(sweep *s)
{
    with_marks(s);
    assert_non_null(s->other = reef_fork(s->w));
    for (int i = 0; i < 50; i++) assert_ok(reef_destroy(s->w, s->e[i]));
    for (int i = 50; i < 70; i++) assert_ok(reef_enable(s->w, s->e[i], Mass));
    assert_ok(reef_set_name(s->w, s->e[80], "Anna"));
    assert_ok(reef_spawn_many(s->w, 1500, NULL, reef_with(Health, 1, 2), reef_with(Mass, 3)));
}
static bool saved_difference(sweep *s)
{
    reef_bytes b;
    const reef_status status = reef_diff_bytes(s->other, s->w, &b, &(reef_save_desc){.raw = true, .sealed = true});
    if (status == REEF_OK) s->seen = b.size; /* the versions in it go on with each hash */
    reef_bytes_free(&b);
    return done(status);
}

const scenario system_scenarios[] = {
    {"system_new, the first", NULL, system_first},
    {"system_new, with hints", with_systems, system_ordered},
    {"system_replace", with_systems, system_replaced},
    {"system_remove", with_systems, system_removed},
    {"module_use", with_systems, module_used},
    {"module_use, another version", with_module, module_replaced},
    {"module_remove", with_module, module_removed},
    {"system_switch", with_systems, system_switched},
    {"phase_new, before systems", NULL, phase_made},
    {"phase_new", with_systems, phase_made},
    {"fork, systems", with_systems, make_fork},
    {"post, first", one_receives, event_posted},
    {"post, growth", with_events, event_posted},
    {"event_reader_new, first", NULL, events_read},
    {"event_reader_new", with_events, events_read},
    {"events_bound, first", NULL, events_bound},
    {"events_bound", with_events, events_bound},
    {"snapshot_take, events", with_events_kept, take_snapshot},
    {"fork, events", with_events, make_fork},
    {"restore, events", with_events_kept, restore},
    {"hash, events", with_events_kept, hash},
    {"save_bytes", with_marks, saved},
    {"save_bytes, common", with_common, saved},
    {"save_bytes, events", with_events, saved},
    {"save_bytes, a query", with_marks, saved_some},
    {"diff_bytes", with_changes, saved_difference},
    {0},
};
