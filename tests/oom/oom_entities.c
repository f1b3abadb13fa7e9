/* The allocation sweep over making, copying and destroying entities, and over their ids. */
#include "oom_topics.h"

static void full_record_page(sweep *s) { assert_ok(reef_spawn_many_values(s->w, 4096, NULL, NULL, 0)); }

static void ring_page_full(sweep *s)
{
    assert_ok(reef_spawn_many(s->w, 4000, s->e, reef_with(Mass, 1)));
    assert_int_equal(reef_destroy_many(s->w, s->e, 4000), 4000);
    assert_ok(reef_spawn_many(s->w, 200, s->e, reef_with(Mass, 1)));
    assert_int_equal(reef_destroy_many(s->w, s->e, 96), 96);
}

static void with_bundle(sweep *s)
{
    s->bundle = reef_bundle_new(s->w, (reef_bundle_part[]){{reef_id(Tracked), 0}, {reef_id(Frozen), 0}}, 2);
    assert_non_null(s->bundle);
}

static void reserved_id(sweep *s)
{
    with_free_ids(s);
    for (int i = 0; i < 10; i++) assert_some(s->e[i] = reef_reserve_id(s->w));
}

static void reserved_range(sweep *s) { assert_some(s->e[0] = reef_reserve_range(s->w, 9000)); }
static void reserved_range_shared(sweep *s)
{
    reserved_range(s);
    assert_non_null(s->snapshot = reef_snapshot_take(s->w));
}

static bool create(sweep *s) { return some(reef_create(s->w)); }
static bool create_id(sweep *s) { return some(reef_create_entity(s->w)); }
static bool spawn(sweep *s) { return some(reef_spawn(s->w, reef_with(Position, 1, 2), reef_with(Mass, 3))); }
static bool spawn_tags(sweep *s) { return some(reef_spawn(s->w, reef_tag(Frozen), reef_tag(Hungry))); }
static bool spawn_bit(sweep *s)
{
    return some(reef_spawn(s->w, reef_with(Position, 1, 2), reef_with(Mass, 1), reef_tag(Seen)));
}
static bool spawn_bare_bit(sweep *s) { return some(reef_spawn(s->w, reef_tag(Seen))); }
static bool spawn_hooked(sweep *s)
{
    return some(reef_spawn(s->w, reef_with(Tracked, .value = 4), reef_default(Unique), reef_with(Loose, .value = 2)));
}
static bool spawn_big(sweep *s)
{
    reef_component c = numbered_type("big", 1, 100000, 16);
    return some(reef_spawn_values(s->w, (reef_value[]){reef_with(Mass, 1), {c, REEF_VALUE_DEFAULT, 0, NULL}}, 2));
}
static bool spawn_own_value(sweep *s)
{
    reef_value v = reef_value_make(reef_id(Tracked), REEF_VALUE_ONE, sizeof(Tracked), reef_get(s->w, s->e[0], Tracked));
    return some(reef_spawn_values(s->w, (reef_value[]){v, reef_with(Loose, .value = 3)}, 2));
}
static bool spawn_unique(sweep *s)
{
    reef_value v[] = {{reef_id(Unique), REEF_VALUE_ONE, sizeof s->own, &s->own}, reef_with(Mass, 1), reef_tag(Seen)};
    return some(reef_spawn_values(s->w, v, 3));
}
static bool spawn_wide(sweep *s)
{
    reef_value v[40];
    for (uint32_t i = 0; i < 40; i++)
        v[i] = reef_value_make(numbered_type("wide", i, 1u << i % 7, 1), REEF_VALUE_DEFAULT, 0, NULL);
    return some(reef_spawn_values(s->w, v, 40));
}
static bool spawn_many(sweep *s)
{
    return done(reef_spawn_many(s->w, 3000, NULL, reef_with(Position, 1, 2), reef_with(Mass, 3), reef_tag(Awake)));
}
static bool spawn_many_hooked(sweep *s)
{
    return done(
        reef_spawn_many(s->w, 1500, NULL, reef_with(Tracked, .value = 1), reef_default(Unique), reef_tag(Awake)));
}
static bool spawn_many_empty(sweep *s) { return done(reef_spawn_many_values(s->w, 9000, NULL, NULL, 0)); }
static bool clone(sweep *s) { return some(reef_clone(s->w, s->e[0])); }
static bool clone_many(sweep *s) { return done(reef_clone_many(s->w, s->e[0], 2500, NULL)); }
static bool clone_bits(sweep *s) { return done(reef_clone_many(s->w, s->e[3], 2500, NULL)); }
static bool reserve_id(sweep *s) { return some(reef_reserve_id(s->w)); }
static bool reserve_range(sweep *s) { return some(reef_reserve_range(s->w, 9000)); }
static bool create_in_range(sweep *s) { return done(reef_create_as(s->w, (reef_entity){s->e[0].index + 5000, 7})); }
static bool spawn_behind_range(sweep *s) { return some(reef_create(s->w)); }
static bool release_id(sweep *s) { return done(reef_release_id(s->w, s->e[3])); }
static bool create_as(sweep *s) { return done(reef_create_as(s->w, (reef_entity){20000, 5})); }
static bool create_as_free(sweep *s) { return done(reef_create_as(s->w, (reef_entity){700, 9})); }
static bool create_as_reserved(sweep *s) { return done(reef_create_as(s->w, s->e[4])); }
static bool create_as_next(sweep *s) { return done(reef_create_as(s->w, (reef_entity){0, 3})); }
static bool bundle_new(sweep *s)
{
    reef_bundle_part parts[] = {{reef_id(Mass), 0}, {reef_id(Position), 8}, {reef_id(Awake), 0}};
    s->found = reef_bundle_new(s->w, parts, 3);
    return s->found != NULL;
}
static bool bundle_spawn(sweep *s) { return some(reef_spawn_bundle(s->w, s->bundle, &(Tracked){.value = 6})); }
static bool destroy(sweep *s) { return done(reef_destroy(s->w, s->e[1])); }
static bool destroy_150(sweep *s) { return done(reef_destroy(s->w, s->e[150])); }
static bool destroy_with(sweep *s) { return done(DESTROY_EVERYWHERE(s->w, reef_id(Mass))); }
static bool destroy_with_bit(sweep *s) { return done(DESTROY_EVERYWHERE(s->w, reef_id(Awake), reef_id(Mass))); }
static bool destroy_all(sweep *s) { return done(reef_world_clear(s->w)); }
static bool clear_type(sweep *s) { return done(remove_everywhere(s->w, reef_id(Mass), NULL)); }
static bool clear_bit(sweep *s) { return done(remove_everywhere(s->w, reef_id(Awake), NULL)); }
static bool clear_hooked(sweep *s) { return done(remove_everywhere(s->w, reef_id(Tracked), NULL)); }

const scenario entity_scenarios[] = {
    {"create, first page", NULL, create},
    {"create, plain call", NULL, create_id},
    {"create, next page of records", full_record_page, create},
    {"create, from the free ids", ring_page_full, create},
    {"spawn, first table", NULL, spawn},
    {"spawn, table known", one_row, spawn},
    {"spawn, first chunk grows", eight_rows, spawn},
    {"spawn, second chunk", full_chunk, spawn},
    {"spawn, third chunk", two_chunks, spawn},
    {"spawn, from the free ids", with_free_ids, spawn},
    {"spawn, next page of records", full_record_page, spawn},
    {"spawn, tags only", NULL, spawn_tags},
    {"spawn, first bit", some_rows, spawn_bit},
    {"spawn, bit in a new chunk", full_chunk, spawn_bit},
    {"spawn, a bit alone", NULL, spawn_bare_bit},
    {"spawn, hooks", NULL, spawn_hooked},
    {"spawn, hooks, growth, value in the world", hooked_rows, spawn_own_value},
    {"spawn, move-only value", with_unique, spawn_unique},
    {"spawn, large component", NULL, spawn_big},
    {"spawn, 40 columns", one_row, spawn_wide},
    {"spawn, after many tables", many_tables, spawn},
    {"spawn_many, first table", NULL, spawn_many},
    {"spawn_many, behind rows", full_chunk, spawn_many},
    {"spawn_many, from the free ids", with_free_ids, spawn_many},
    {"spawn_many, hooks", NULL, spawn_many_hooked},
    {"spawn_many, hooks, behind rows", full_hooked_chunk, spawn_many_hooked},
    {"spawn_many, without components", NULL, spawn_many_empty},
    {"clone, growth", eight_rows, clone},
    {"clone, new chunk", full_chunk, clone},
    {"clone, hooks", hooked_rows, clone},
    {"clone, hooks, new chunk", full_hooked_chunk, clone},
    {"clone, nothing", one_empty, clone},
    {"clone_many", some_rows, clone_many},
    {"clone_many, hooks", hooked_rows, clone_many},
    {"clone_many, bits", with_bits, clone_bits},
    {"reserve_id, first", NULL, reserve_id},
    {"reserve_id, next page of records", full_record_page, reserve_id},
    {"reserve_id, from the free ids", with_free_ids, reserve_id},
    {"reserve_range, first", NULL, reserve_range},
    {"reserve_range, next page of records", full_record_page, reserve_range},
    {"reserve_range, after another", reserved_range, reserve_range},
    {"reserve_range, shared", reserved_range_shared, reserve_range},
    {"create_as, first of a page that is reserved", reserved_range, create_in_range},
    {"create_as, first of a shared page that is reserved", reserved_range_shared, create_in_range},
    {"create, behind a reserved range", reserved_range, spawn_behind_range},
    {"release_id", reserved_id, release_id},
    {"create_as, far ahead", NULL, create_as},
    {"create_as, far ahead, behind others", with_free_ids, create_as},
    {"create_as, from among the free ids", with_free_ids, create_as_free},
    {"create_as, reserved", reserved_id, create_as_reserved},
    {"create_as, first", NULL, create_as_next},
    {"bundle_new", NULL, bundle_new},
    {"bundle_new, table known", some_rows, bundle_new},
    {"spawn_bundle", with_bundle, bundle_spawn},
    {"destroy, first free id", some_rows, destroy},
    {"destroy, next page of free ids", ring_page_full, destroy_150},
    {"destroy, with a bit", with_bits, destroy},
    {"destroy, with a name", with_names, destroy_150},
    {"destroy, hooks", full_hooked_chunk, destroy},
    {"destroy_with", some_rows, destroy_with},
    {"destroy_with, two chunks", two_chunks, destroy_with},
    {"destroy_with, hooks", full_hooked_chunk, destroy_with},
    {"destroy_with, bits", with_bits, destroy_with_bit},
    {"destroy_with, all", with_names, destroy_all},
    {"destroy_with, all, many tables", many_tables, destroy_all},
    {"clear_type", two_chunks, clear_type},
    {"clear_type, many tables", many_tables, clear_type},
    {"clear_type, bit", with_bits, clear_bit},
    {"clear_type, hooks", full_hooked_chunk, clear_hooked},
    {"clear_type, disabled", with_marks, clear_type},
    {"clear_type, a disabled switch", with_marks, clear_bit},
    {"destroy, beside the disabled", with_marks, destroy},
    {"clone_many, disabled", with_marks, clone_many},
    {0},
};
