/* The allocation sweep over components that come along with others. */
#include "oom_topics.h"

typedef struct {
    int32_t left;
} Wick; /* outside of tables */
typedef Tracked Jacket;
typedef Tracked Charge;
REEF_COMPONENT_IN(Wick, REEF_SPARSE);
REEF_COMPONENT_HOOKS(Jacket, &tracked_hooks);
REEF_FIELDS(Jacket, value);
REEF_COMPONENT_IN_HOOKS(Charge, REEF_SHARED, &tracked_hooks);
REEF_FIELDS(Charge, value);
REEF_SWITCH(Lit);
typedef struct {
    int32_t n;
} Rocket;
REEF_COMPONENT(Rocket);
REEF_REQUIRES(Rocket, Wick, Jacket, Charge, Lit);

static bool required_added(sweep *s) { return reef_add(s->w, s->e[0], Rocket) == REEF_OK; }
static bool required_set(sweep *s) { return reef_set(s->w, s->e[1], Rocket, 3) == REEF_ADDED; }
static bool required_spawned(sweep *s) { return !reef_entity_is_null(reef_spawn(s->w, reef_with(Rocket, 3))); }
static bool required_many(sweep *s)
{
    reef_entity made[40];
    return reef_spawn_many(s->w, 40, made, reef_with(Rocket, 2), reef_with(Mass, 1)) == REEF_OK;
}
static bool required_reserved(sweep *s)
{
    return reef_reserve_for(s->w, 2000, &(reef_component){reef_id(Rocket).id}, 1) == REEF_OK;
}
static bool required_where(sweep *s)
{
    reef_query q = reef_query_new(s->w, "");
    return !reef_query_is_null(q) && reef_add_where(s->w, q, Rocket) == REEF_OK && reef_query_free(s->w, q) == REEF_OK;
}

const scenario required_scenarios[] = {
    {"required added", some_rows, required_added},
    {"required set", some_rows, required_set},
    {"required spawned", some_rows, required_spawned},
    {"required spawned, many", some_rows, required_many},
    {"required reserved", some_rows, required_reserved},
    {"required added_where", some_rows, required_where},
    {0},
};
