/* A game with every kind of change for the suites about history, a world with a history of it, and everything that can
 * be observed of a world. */
#ifndef REEF_TESTS_HISTORY_GAME_H
#define REEF_TESTS_HISTORY_GAME_H

#include "support.h"

/* ---- a game ----
 * The step makes every kind of change, which follows from the number of the tick and the input. */

enum { CROWD = 200, SINGERS = 5 }; /* these live for ever */

typedef struct {
    int32_t handle;
} Sound; /* plain, left alone by a rewind */
static const reef_hooks sound_hooks = {.on_fork = REEF_FORK_SKIP};
REEF_COMPONENT_HOOKS(Sound, &sound_hooks);

typedef struct game {
    reef_query moving; /* of the world whose history it is */
    uint64_t fail_at;  /* the tick, counted from 1, that fails after it has changed much; 0: none */
    uint64_t played;   /* calls */
} game;

/* Failures other than NO_MEMORY are part of the game. */
static inline bool short_of_memory(reef_world *w, reef_status s)
{
    return s < 0 && reef_last_error(w).status == REEF_NO_MEMORY;
}
static inline bool nothing_made(reef_world *w, reef_entity e)
{
    return reef_entity_is_null(e) && reef_last_error(w).status == REEF_NO_MEMORY;
}

static inline bool game_act(reef_world *w, uint64_t *seed)
{
    char name[32];
    reef_entity e = reef_entity_at(w, SINGERS + random_below(seed, (uint32_t)reef_world_stats(w).indices - SINGERS));
    float x = (float)random_below(seed, 100);
    switch (random_below(seed, 9)) {
    case 0: return !nothing_made(w, reef_spawn(w, reef_with(Position, x, 1), reef_with(Velocity, 1, x)));
    case 1: return !nothing_made(w, reef_spawn(w, reef_with(Mass, x), reef_with(Flag, 1)));
    case 2: return reef_is_alive(w, e) ? !short_of_memory(w, reef_destroy(w, e)) : true;
    case 3: return reef_is_alive(w, e) ? !short_of_memory(w, reef_set(w, e, Health, (int)x, 9)) : true;
    case 4: return reef_has(w, e, Velocity) ? !short_of_memory(w, reef_remove(w, e, Velocity)) : true;
    case 5: return reef_is_alive(w, e) && !reef_has(w, e, Awake) ? !short_of_memory(w, reef_add(w, e, Awake)) : true;
    case 6: return reef_is_alive(w, e) && !reef_has(w, e, Frozen) ? !short_of_memory(w, reef_add(w, e, Frozen)) : true;
    case 7: return !nothing_made(w, reef_create(w));
    default:
        snprintf(name, sizeof name, "school.fish%u", (unsigned)random_below(seed, 40));
        if (!reef_is_alive(w, e) || !reef_entity_is_null(reef_find(w, name))) return true;
        return !short_of_memory(w, reef_set_name(w, e, name));
    }
}

static inline reef_status game_step(void *context, reef_world *w, uint64_t tick, const void *input, size_t bytes)
{
    game *g = context;
    uint64_t seed = tick * 977 + 3;
    uint32_t key = 0;
    g->played++;
    if (bytes) memcpy(&key, input, bytes < sizeof key ? bytes : sizeof key);
    seed += (uint64_t)key << 20;
    for (int i = 0; i < 12; i++)
        if (!game_act(w, &seed)) return REEF_NO_MEMORY;
    for (reef_block b = reef_begin_text(w, "Position, in Velocity"); reef_next(&b);)
        for (uint32_t i = 0; i < b.count; i++) reef_inout(&b, Position)[i].x += reef_in(&b, Velocity)[i].x;
    if (reef_last_error(w).status == REEF_NO_MEMORY) return REEF_NO_MEMORY;
    return g->fail_at == tick + 1 ? REEF_IO : REEF_OK;
}

/* A world with its game, as it is before tick 0, and a history of it. */
typedef struct scene {
    reef_world *w;
    game g;
    reef_history *h;
} scene;

static bool sounds; /* with values that a rewind leaves alone */

static inline void scene_begin(scene *s, void **state, reef_history_config config)
{
    uint64_t seed = 5;
    *s = (scene){.w = another_world(state, NULL)};
    assert_ok(reef_spawn_many(s->w, CROWD, NULL, reef_with(Position, 1, 2), reef_with(Velocity, 1, 0)));
    for (uint32_t i = 0; sounds && i < SINGERS; i++)
        assert_status(REEF_ADDED, reef_set(s->w, reef_entity_at(s->w, i), Sound, (int32_t)i + 1));
    for (int i = 0; i < 60; i++) assert_true(game_act(s->w, &seed));
    s->g.moving = reef_query_new(s->w, "Position, in Velocity");
    assert_query(s->g.moving);
    config.step = game_step;
    config.context = &s->g;
    s->h = reef_history_new(s->w, &config);
    assert_non_null(s->h);
}

static inline void scene_end(scene *s, void **state)
{
    reef_history_free(s->h);
    end_world(state, s->w);
}

static inline void play(scene *s, uint32_t input) { assert_ok(reef_history_step(s->h, &input, sizeof input)); }

/* Everything that can be observed of a world: hash, order of visiting, the next new entity. */
typedef struct view {
    uint64_t hash, digest;
    reef_entity next;
} view;

static inline view view_of(reef_world *w)
{
    view v = {.hash = reef_hash(w), .digest = digest(w)};
    reef_world *fork = reef_fork(w);
    v.next = reef_create(fork);
    reef_world_free(fork);
    assert_true(v.hash != 0);
    assert_valid(w);
    return v;
}

static inline void assert_view(view got, view wanted)
{
    assert_int_equal(got.hash, wanted.hash);
    assert_int_equal(got.digest, wanted.digest);
    assert_entity(wanted.next, got.next);
}

/* What can be observed of a new world after these inputs. */
static inline view fresh_view(void **state, const uint32_t *inputs, uint64_t count)
{
    scene s;
    scene_begin(&s, state, (reef_history_config){.ticks = 1});
    for (uint64_t t = 0; t < count; t++) assert_ok(game_step(&s.g, s.w, t, &inputs[t], sizeof *inputs));
    view v = view_of(s.w);
    scene_end(&s, state);
    return v;
}

/* Inputs of game_step for reef_synctest: three times the tick. */
static inline const void *game_input(void *context, uint64_t tick, size_t *bytes)
{
    static uint64_t now;
    (void)context;
    now = tick * 3;
    *bytes = sizeof now;
    return &now;
}

#endif
