/* The allocation sweep over the components, marks, scripts and names of one entity, and over singletons. */
#include "oom_topics.h"

static void one_empty_disabled(sweep *s)
{
    s->e[0] = reef_create(s->w);
    assert_ok(reef_disable(s->w, s->e[0]));
}

/* Close to where the buckets of names grow: the call goes on from there. */
static void names_near_growth(sweep *s)
{
    char name[20];
    rows(s, 2000);
    for (int i = 0; i < 767; i++) {
        snprintf(name, sizeof name, "name%d", i);
        assert_ok(reef_set_name(s->w, s->e[i], name));
    }
    for (int i = 0; i < 100; i++) assert_ok(reef_set_name(s->w, s->e[i], NULL));
}

static const reef_script_class sweeper = {.name = "sweeper"};
static void with_script(sweep *s)
{
    some_rows(s);
    assert_false(reef_system_is_null(reef_scripts(s->w, NULL, NULL)));
    assert_int_equal(reef_script_add(s->w, s->e[0], &sweeper, NULL), REEF_OK);
    assert_int_equal(reef_tick(s->w, 0), REEF_OK);
}

static void with_single(sweep *s)
{
    some_rows(s);
    assert_int_equal(reef_single_set(s->w, Mass, 7), REEF_ADDED);
}

void with_unique(sweep *s)
{
    one_row(s);
    unique_make(&s->own, 5);
}
static bool add(sweep *s) { return done(reef_add(s->w, s->e[0], Velocity)); }
static bool add_tag(sweep *s) { return done(reef_add(s->w, s->e[0], Frozen)); }
static bool add_bit(sweep *s) { return done(reef_add(s->w, s->e[0], Awake)); }
static bool add_hooked(sweep *s) { return done(reef_add(s->w, s->e[0], Unique)); }
static bool set(sweep *s) { return done(reef_set(s->w, s->e[0], Cargo, {1})); }
static bool set_there(sweep *s) { return done(reef_set(s->w, s->e[0], Mass, 8)); }
static bool script_add(sweep *s) { return done(reef_script_add(s->w, s->e[0], &sweeper, NULL)); }
static bool script_remove(sweep *s) { return done(reef_script_remove(s->w, s->e[0])); }
static bool single_set(sweep *s) { return done(reef_single_set(s->w, Mass, 8)); }
static bool single_set_hooked(sweep *s) { return done(reef_single_set(s->w, Tracked, .value = 9)); }
static bool single_mut(sweep *s) { return reef_single_mut(s->w, Mass) != NULL; }
static bool single_remove(sweep *s) { return done(reef_single_remove(s->w, Mass)); }
static bool set_hooked(sweep *s) { return done(reef_set(s->w, s->e[0], Tracked, .value = 9)); }
static bool set_unique(sweep *s) { return done(reef_set_id(s->w, s->e[0], reef_id(Unique), &s->own, sizeof s->own)); }
static bool ensure(sweep *s) { return reef_ensure(s->w, s->e[0], Health) != NULL; }
static bool remove_one(sweep *s) { return done(reef_remove(s->w, s->e[0], Position)); }
static bool remove_to_empty(sweep *s)
{
    return done(reef_change(s->w, s->e[0], reef_without(Position), reef_without(Mass)));
}
static bool remove_hooked(sweep *s) { return done(reef_remove(s->w, s->e[0], Tracked)); }
static bool remove_all(sweep *s) { return done(reef_remove_all(s->w, s->e[3])); }
static bool change(sweep *s)
{
    return done(reef_change(s->w, s->e[0], reef_with(Cargo, {2}), reef_tag(Seen), reef_without(Mass), reef_tag(Frozen),
                            reef_with(Tracked, .value = 7)));
}
static bool change_hooked(sweep *s)
{
    return done(reef_change(s->w, s->e[0], reef_with(Tracked, .value = 7), reef_without(Loose), reef_default(Unique)));
}
static bool disable(sweep *s) { return done(reef_disable(s->w, s->e[1], Mass)); }
static bool disable_entity(sweep *s) { return done(reef_disable(s->w, s->e[0])); }
static bool enable(sweep *s) { return done(reef_enable(s->w, s->e[0], Mass)); }
static bool enable_entity(sweep *s) { return done(reef_enable(s->w, s->e[0])); }
static bool remove_mass(sweep *s) { return done(reef_remove(s->w, s->e[0], Mass)); }
static bool remove_switch(sweep *s) { return done(reef_remove(s->w, s->e[0], Awake)); }
static bool remove_everything(sweep *s) { return done(reef_remove_all(s->w, s->e[0])); }
static bool mut(sweep *s) { return reef_mut(s->w, s->e[0], Position) != NULL; }
static bool ref_mut(sweep *s)
{
    reef_ref ref = reef_ref_make(s->w, s->e[0], Position);
    return reef_ref_get(s->w, &ref, Position) && reef_ref_mut(s->w, &ref, Position) != NULL;
}
static bool name(sweep *s) { return done(reef_set_name(s->w, s->e[0], "alice.and.bob")); }
static bool rename_one(sweep *s) { return done(reef_set_name(s->w, s->e[150], "another")); }
bool name_more(sweep *s)
{
    bool all = true;
    char text[20];
    for (int i = 767; i < 1000 && all; i++) { /* goes on where it stopped */
        snprintf(text, sizeof text, "name%d", i);
        if (reef_name(s->w, s->e[i]) == NULL) all = done(reef_set_name(s->w, s->e[i], text));
    }
    return all;
}
static bool add_to_known(sweep *s)
{
    reef_component c = numbered_type("tag", 5, 0, 1);
    return done(reef_add_id(s->w, s->e[80], c, NULL, NULL));
}

const scenario component_scenarios[] = {
    {"add, new edge and table", some_rows, add},
    {"add, to an empty entity", one_empty, add},
    {"add, tag", some_rows, add_tag},
    {"add, bit", two_chunks, add_bit},
    {"add, bit, to an empty entity", one_empty, add_bit},
    {"add, hooks", hooked_rows, add_hooked},
    {"add, after many tables", many_tables, add_to_known},
    {"set, new", some_rows, set},
    {"set, there", some_rows, set_there},
    {"set, hooks, new", some_rows, set_hooked},
    {"set, hooks, there", hooked_rows, set_hooked},
    {"set, move-only", with_unique, set_unique},
    {"ensure, new", some_rows, ensure},
    {"remove", some_rows, remove_one},
    {"remove, the last ones", some_rows, remove_to_empty},
    {"remove, hooks", hooked_rows, remove_hooked},
    {"remove, with a bit", with_bits, remove_one},
    {"remove_all, with a bit", with_bits, remove_all},
    {"remove_all, hooks", hooked_rows, remove_all},
    {"change", some_rows, change},
    {"change, from nothing", one_empty, change},
    {"change, bits", with_bits, change},
    {"change, hooks", hooked_rows, change_hooked},
    {"disable, first mark", some_rows, disable},
    {"disable, a mark in a new chunk", full_chunk, disable},
    {"disable, among marks", with_marks, disable},
    {"disable, the whole", some_rows, disable_entity},
    {"disable, the whole of an empty entity", one_empty, disable_entity},
    {"enable", with_marks, enable},
    {"enable, the whole", with_marks, enable_entity},
    {"enable, the whole of an empty entity", one_empty_disabled, enable_entity},
    {"remove, disabled", with_marks, remove_mass},
    {"remove, a disabled switch", with_marks, remove_switch},
    {"remove_all, disabled", with_marks, remove_everything},
    {"mut", some_rows, mut},
    {"ref_mut", some_rows, ref_mut},
    {"script_add", some_rows, script_add},
    {"script_remove", with_script, script_remove},
    {"single_set, empty world", NULL, single_set},
    {"single_set, first", some_rows, single_set_hooked},
    {"single_set, second", with_single, single_set_hooked},
    {"single_set, there", with_single, single_set},
    {"single_mut", with_single, single_mut},
    {"single_remove", with_single, single_remove},
    {"set_name, first", some_rows, name},
    {"set_name, rename", with_names, rename_one},
    {"set_name, growth", names_near_growth, name_more},
    {0},
};
