/* Scenarios of the allocation sweep with observers: a call that fails calls no observer. */
#include "oom_topics.h"

static uint64_t heard_sum;
static void heard(const reef_notice *n)
{
    for (uint32_t i = 0; i < n->count; i++) heard_sum += (reef_entity_bits(n->entities[i]) + (uint64_t)n->kind) * 7;
}

static reef_observer_id observer_of(reef_world *w, const char *name, uint32_t events, reef_component c, bool collected)
{
    return reef_observer_new(
        w, &(reef_observer_desc){
               .name = name, .function = heard, .events = events, .component = c, .collected = collected});
}

static reef_observer_id observer_match(reef_world *w, const char *text, bool collected)
{
    return reef_observer_new(w, &(reef_observer_desc){.name = text,
                                                      .function = heard,
                                                      .text = "Position, !Frozen",
                                                      .collected = collected,
                                                      .events = REEF_ON_MATCH | REEF_ON_UNMATCH});
}

void with_observers(sweep *s)
{
    const uint32_t all = REEF_ON_ADD | REEF_ON_SET | REEF_ON_REMOVE | REEF_ON_DESTROY;
    for (int i = 0; i < 20; i++)
        s->e[i] = reef_spawn(s->w, reef_with(Position, 1, 2), reef_with(Tracked, .value = i), reef_with(Mass, 1));
    assert_false(reef_observer_is_null(observer_of(s->w, "p", all, reef_id(Position), false)));
    assert_false(reef_observer_is_null(observer_of(s->w, "t", all, reef_id(Tracked), true)));
    assert_false(reef_observer_is_null(observer_of(s->w, "f", all, reef_id(Frozen), false)));
    assert_false(reef_observer_is_null(observer_of(s->w, "any", REEF_ON_DESTROY, (reef_component){0}, true)));
    assert_false(reef_observer_is_null(observer_match(s->w, "m", false)));
    assert_false(reef_observer_is_null(observer_match(s->w, "n", true)));
    s->query = reef_query_new(s->w, "Mass");
}

/* A call that fails must have sent no notices, and a call that succeeds always the same ones. */
static bool heard_done(sweep *s, bool works)
{
    if (works) s->seen = heard_sum;
    else assert_true(heard_sum == 0);
    return works;
}
#define HEARD(name, call) \
    static bool name(sweep *s) \
    { \
        heard_sum = 0; \
        return heard_done(s, call); \
    }
HEARD(observed_spawn, done(reef_spawn_many(s->w, 30, NULL, reef_with(Position, 1, 2), reef_with(Tracked, .value = 3))))
HEARD(observed_set, done(reef_set(s->w, s->e[7], Tracked, .value = 99)))
HEARD(observed_change,
      done(reef_change(s->w, s->e[7], reef_with(Tracked, .value = 5), reef_without(Position), reef_tag(Frozen))))
HEARD(observed_add, done(reef_add(s->w, s->e[7], Frozen)))
HEARD(observed_destroy, done(reef_destroy(s->w, s->e[7])))
HEARD(observed_set_where, done(reef_set_where(s->w, s->query, Position, 7, 8)))
HEARD(observed_add_where, done(reef_add_where(s->w, s->query, Frozen)))
HEARD(observed_remove_where, done(reef_remove_where(s->w, s->query, Tracked)))
HEARD(observed_disable_where, done(reef_disable_where(s->w, s->query)))
HEARD(observed_destroy_where, done(reef_destroy_where(s->w, s->query, NULL)))
HEARD(observed_clear, done(reef_world_clear(s->w)))
HEARD(observed_clear_type, done(remove_everywhere(s->w, reef_id(Tracked), NULL)))

static bool observer_made(sweep *s)
{
    return !reef_observer_is_null(observer_of(s->w, "made", REEF_ON_ADD, reef_id(Mass), false));
}
static bool observer_matches(sweep *s) { return !reef_observer_is_null(observer_match(s->w, "matches", true)); }
static bool observer_existing(sweep *s)
{
    heard_sum = 0;
    const reef_observer_desc d = {
        .name = "existing", .function = heard, .events = REEF_ON_ADD, .component = reef_id(Mass), .existing = true};
    return heard_done(s, !reef_observer_is_null(reef_observer_new(s->w, &d)));
}
static bool observer_removed(sweep *s) { return done(reef_observer_remove(s->w, reef_observer_find(s->w, "p"))); }

const scenario observer_scenarios[] = {
    {"observer_new, the first", NULL, observer_made},
    {"observer_new", with_observers, observer_made},
    {"observer_new, of a query", with_observers, observer_matches},
    {"observer_new, what exists", with_observers, observer_existing},
    {"observer_remove", with_observers, observer_removed},
    {"observed spawn", with_observers, observed_spawn},
    {"observed set", with_observers, observed_set},
    {"observed change", with_observers, observed_change},
    {"observed add", with_observers, observed_add},
    {"observed destroy", with_observers, observed_destroy},
    {"observed set_where", with_observers, observed_set_where},
    {"observed add_where", with_observers, observed_add_where},
    {"observed remove_where", with_observers, observed_remove_where},
    {"observed disable_where", with_observers, observed_disable_where},
    {"observed destroy_where", with_observers, observed_destroy_where},
    {"observed world_clear", with_observers, observed_clear},
    {"observed clear_all", with_observers, observed_clear_type},
    {"fork, observers", with_observers, make_fork},
    {0},
};
