/* The allocation sweep over whole worlds: snapshots, forks, hashes, sorting, and reserving and shrinking memory. */
#include "oom_topics.h"

static void strict_like(sweep *s)
{
    one_row(s);
    reef_component far = {reef_type_count()};
    (void)numbered_type("far", far.id, 4, 4);
}

void with_snapshot(sweep *s)
{
    with_everything(s);
    assert_non_null(s->snapshot = reef_snapshot_take(s->w));
    assert_ok(reef_spawn_many(s->w, 1500, s->e, reef_with(Tracked, .value = 8), reef_with(Cargo, {3}), reef_tag(Seen)));
    assert_ok(DESTROY_EVERYWHERE(s->w, reef_id(Loose)));
    s->query = reef_query_new(s->w, "in Mass");
    assert_true(reef_query_count(s->w, s->query) > 0);
}

static void with_hashes(sweep *s)
{
    with_everything(s);
    assert_true(reef_hash(s->w) != 0);
    assert_ok(reef_destroy(s->w, s->e[5]));
    reef_mut(s->w, s->e[70], Mass)->kg = 7;
    assert_ok(reef_spawn_many(s->w, 1500, NULL, reef_with(Mass, 8), reef_tag(Awake)));
}
static bool reserve(sweep *s) { return done(reef_reserve(s->w, 10000)); }
static bool reserve_for(sweep *s)
{
    return done(reef_reserve_for(s->w, 3000, (reef_component[]){reef_id(Position), reef_id(Cargo), reef_id(Awake)}, 3));
}

static uint64_t falling(const void *value) { return ~reef_key_i32(((const Tracked *)value)->value); }
static bool sort_by_entity(sweep *s) { return done(reef_sort_storage(s->w, &(reef_sort){.order.descending = true})); }
static bool sort_by_value(sweep *s)
{
    return done(reef_sort_storage(s->w, &(reef_sort){.order = {.component = reef_id(Tracked), .key = falling}}));
}
static bool use(sweep *s) { return done(reef_use(s->w, Frozen)); }
static bool use_far(sweep *s) { return done(reef_world_use(s->w, (reef_component){reef_type_count()})); }
static bool clear_world(sweep *s) { return done(reef_world_clear(s->w)); }
static bool shrink(sweep *s) { return done(reef_shrink(s->w)); }

bool take_snapshot(sweep *s) { return (s->further = reef_snapshot_take(s->w)) != NULL; }
bool make_fork(sweep *s) { return (s->child = reef_fork(s->w)) != NULL; }
bool restore(sweep *s) { return done(reef_restore(s->w, s->snapshot)); }
bool hash(sweep *s) { return (s->seen = reef_hash(s->w)) != 0; }
static bool hash_part(void *context, const reef_hash_part *part)
{
    uint64_t *all = context;
    *all = digest_bytes(*all, &part->hash, sizeof part->hash);
    return true;
}
static bool hash_parts(sweep *s)
{
    uint64_t all = 0, whole = reef_hash_parts(s->w, hash_part, &all);
    if (whole) s->seen = digest_bytes(all, &whole, sizeof whole);
    return whole != 0;
}

const scenario world_scenarios[] = {
    {"sort by entity, several blocks", two_chunks, sort_by_entity},
    {"sort by entity, everything", with_everything, sort_by_entity},
    {"sort by value", with_everything, sort_by_value},
    {"snapshot_take, disabled", with_marks, take_snapshot},
    {"hash, disabled", with_marks, hash},
    {"reserve", some_rows, reserve},
    {"reserve, empty world", NULL, reserve},
    {"reserve_for", some_rows, reserve_for},
    {"reserve_for, bits", with_bits, reserve_for},
    {"world_use", NULL, use},
    {"world_use, the newest type", strict_like, use_far},
    {"world_clear", with_names, clear_world},
    {"world_clear, hooks", full_hooked_chunk, clear_world},
    {"shrink", with_free_ids, shrink},
    {"shrink, names and bits", with_names, shrink},
    {"snapshot_take, empty", NULL, take_snapshot},
    {"snapshot_take", with_everything, take_snapshot},
    {"fork, empty", NULL, make_fork},
    {"fork", with_everything, make_fork},
    {"restore", with_snapshot, restore},
    {"hash, empty", NULL, hash},
    {"hash", with_everything, hash},
    {"hash, some kept", with_hashes, hash},
    {"hash_parts", with_everything, hash_parts},
    {"hash_parts, some kept", with_hashes, hash_parts},
    {0},
};
