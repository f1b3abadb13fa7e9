/* The allocation sweep over several values of a kind, and over values in common. */
#include "oom_topics.h"

typedef struct {
    int32_t a, b;
} Some;
typedef Tracked SomeTracked;
typedef Tracked InCommon;
REEF_COMPONENT_IN(Some, REEF_MULTI);
REEF_COMPONENT_IN_HOOKS(SomeTracked, REEF_MULTI, &tracked_hooks);
REEF_COMPONENT_IN_HOOKS(InCommon, REEF_SHARED, &tracked_hooks);
/* The tickets of copies are no state. */
REEF_FIELDS(SomeTracked, value);
REEF_FIELDS(InCommon, value);

static void with_several(sweep *s)
{
    some_rows(s);
    for (int i = 0; i < 16; i++) {
        assert_non_null(reef_append(s->w, s->e[0], Some, i, 0));
        assert_ok(reef_add(s->w, s->e[0], SomeTracked));
    }
    for (int i = 0; i < 20; i++) assert_non_null(reef_append(s->w, s->e[1 + i % 3], Some, i, 0));
}

static bool several_more(sweep *s) { return reef_append(s->w, s->e[0], Some, 1, 2) != NULL; }
static bool several_first(sweep *s) { return reef_append(s->w, s->e[200], Some, 1, 2) != NULL; }
static bool several_added(sweep *s) { return reef_add(s->w, s->e[0], SomeTracked) == REEF_OK; }
static bool several_one_less(sweep *s) { return reef_remove_one(s->w, s->e[0], SomeTracked, 3) == REEF_OK; }
static bool several_removed(sweep *s) { return reef_remove(s->w, s->e[0], SomeTracked) == REEF_OK; }
static bool several_cloned(sweep *s) { return !reef_entity_is_null(reef_clone(s->w, s->e[0])); }
static bool several_written(sweep *s)
{
    uint32_t n;
    return reef_mut_all(s->w, s->e[0], SomeTracked, &n) != NULL;
}

void with_common(sweep *s)
{
    some_rows(s);
    for (int i = 0; i < 20; i++) {
        assert_ok(reef_add(s->w, s->e[i * 2], InCommon));
        assert_true(reef_share(s->w, s->e[i * 2], s->e[i * 2 + 1], InCommon) == REEF_ADDED);
    }
}

static bool common_added(sweep *s) { return reef_add(s->w, s->e[100], InCommon) == REEF_OK; }
static bool common_set(sweep *s) { return reef_set(s->w, s->e[0], InCommon, .value = 3) == REEF_OK; }
static bool common_shared(sweep *s) { return reef_share(s->w, s->e[0], s->e[100], InCommon) >= 0; }
static bool common_replaced(sweep *s) { return reef_share(s->w, s->e[0], s->e[5], InCommon) >= 0; }
static bool common_written(sweep *s) { return reef_mut(s->w, s->e[0], InCommon) != NULL; }
static bool common_removed(sweep *s) { return reef_remove(s->w, s->e[0], InCommon) == REEF_OK; }
static bool common_cloned(sweep *s) { return !reef_entity_is_null(reef_clone(s->w, s->e[0])); }
static bool common_spawned(sweep *s)
{
    return !reef_entity_is_null(reef_spawn(s->w, reef_with(InCommon, .value = 2), reef_with(Mass, 1)));
}
static bool common_attached(sweep *s)
{
    reef_pinned pin = reef_pin(s->w, s->e[0], InCommon);
    const bool ok = reef_attach(s->w, s->e[100], pin) >= 0;
    reef_unpin(pin);
    return ok;
}
static bool common_set_where(sweep *s)
{
    reef_query q = reef_query_new(s->w, "InCommon");
    return !reef_query_is_null(q) && reef_set_where(s->w, q, InCommon, .value = 4) == REEF_OK &&
           reef_query_free(s->w, q) == REEF_OK;
}
static bool common_added_where(sweep *s)
{
    reef_query q = reef_query_new(s->w, "!InCommon");
    return !reef_query_is_null(q) && reef_add_where(s->w, q, InCommon) == REEF_OK &&
           reef_query_free(s->w, q) == REEF_OK;
}
static bool several_added_where(sweep *s)
{
    reef_query q = reef_query_new(s->w, "");
    return !reef_query_is_null(q) && reef_add_where(s->w, q, SomeTracked) == REEF_OK &&
           reef_query_free(s->w, q) == REEF_OK;
}

/* A fork of the world into the world: all twice. */
static bool merged_twice(sweep *s)
{
    reef_world *from = reef_fork(s->w);
    if (from == NULL) return false;
    const reef_status status = reef_merge(s->w, from, &(reef_merge_desc){.drop_names = true}, NULL);
    reef_world_free(from);
    return status == REEF_OK;
}

const scenario value_scenarios[] = {
    {"several more", with_several, several_more},
    {"several first", with_several, several_first},
    {"several added", with_several, several_added},
    {"several one less", with_several, several_one_less},
    {"several removed", with_several, several_removed},
    {"several cloned", with_several, several_cloned},
    {"several written", with_several, several_written},
    {"common added", with_common, common_added},
    {"common set", with_common, common_set},
    {"common shared", with_common, common_shared},
    {"common replaced", with_common, common_replaced},
    {"common written", with_common, common_written},
    {"common removed", with_common, common_removed},
    {"common cloned", with_common, common_cloned},
    {"common spawned", with_common, common_spawned},
    {"common attached", with_common, common_attached},
    {"common set_where", with_common, common_set_where},
    {"common added_where", with_common, common_added_where},
    {"several added_where", with_several, several_added_where},
    {"snapshot_take, several", with_several, take_snapshot},
    {"fork, in common", with_common, make_fork},
    {"hash, in common", with_common, hash},
    {"merge", with_marks, merged_twice},
    {"merge, common", with_common, merged_twice},
    {0},
};
