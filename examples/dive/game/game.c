/* Worlds of the game. What happens in their ticks is in rules.c. */
#include "game.h"

#include "near.h"
#include "wave.h"
#include <reef/relation.h>
#include <reef/random.h>
#include <reef/pool.h>

#include <stdio.h>

/* ---- making ---- */

/* Prints what reef reports. If it reports anything, this program has a bug. */
static void say(void *context, reef_log_level level, const char *message)
{
    (void)context;
    if (level >= REEF_LOG_WARNING) fprintf(stderr, "reef: %s\n", message);
}

bool game_blank(game *g, reef_pool *pool)
{
    g->world = reef_world_new(&(reef_world_config){.log = say});
    if (g->world == NULL) return false;
    reef_set_pool(g->world, pool);
    return reef_module_use(g->world, &dive_rules) >= 0;
}

bool game_wake(game *g) { return reef_single_has(g->world, Lamp) && near_new(g->world); }

static bool fill(reef_world *w)
{
    if (!creatures_read(w, NULL)) return false;
    reef_entity bell = reef_spawn(w, reef_tag(Bell), reef_with(Position, 0, 0));
    reef_entity diver = reef_spawn(w, reef_with(Diver, .air = 100), reef_with(Position, 0, 2), reef_default(Velocity));
    return reef_relate(w, diver, Tether, bell) >= 0 &&
           reef_single_set(w, Lamp, .diver = diver, .x = 0, .y = 2, .dx = 0, .dy = 1, .cosine = 0.82f, .range = 15) >=
               0 &&
           reef_single_set(w, Stage, .now = STAGE_READY, .wave = 1, .clock = 3) >= 0 &&
           reef_single_set(w, Purse, .pearls = 0) >= 0 && reef_single_set(w, Upgrades, {0}) >= 0 &&
           reef_single_set(w, Leak, 0) >= 0 && reef_single_set(w, Census, .enemies = 0) >= 0 &&
           reef_single_set(w, Input, .keys = 0) >= 0;
}

/* The first peaceful fish, around the bell. */
static void stock(reef_block *b)
{
    for (uint32_t k = 0; k < 84; k++) {
        reef_random r = reef_random_for(b, (reef_entity){k, 1});
        vec at = {reef_random_float(&r) * 32.0f - 16.0f, reef_random_float(&r) * 32.0f - 16.0f};
        creature_spawn(b, k % 7 < 5 ? CREATURE_WRASSE : CREATURE_TANG, at, (vec){0, 0});
    }
}

static const reef_system_desc first_fish = {.name = "stock", .function = stock, .text = "; reads Creatures, spawns"};

bool game_new(game *g, uint64_t seed, reef_pool *pool)
{
    return game_blank(g, pool) && reef_set_seed(g->world, seed) >= 0 && fill(g->world) && near_new(g->world) &&
           reef_system_once(g->world, &first_fish, 0) >= 0;
}

bool game_fork(game *g, game *from)
{
    g->world = reef_fork(from->world);
    return g->world != NULL && near_new(g->world);
}

bool game_fork_snapshot(game *g, const reef_snapshot *from)
{
    g->world = reef_snapshot_fork(from);
    return g->world != NULL && near_new(g->world);
}

void game_free(game *g)
{
    near_free(g->world);
    reef_world_free(g->world);
    g->world = NULL;
}

/* ---- playing ---- */

static reef_status step(reef_world *w, const void *input)
{
    if (!near_reserve(w)) return REEF_NO_MEMORY;
    reef_status s = reef_single_set_id(w, reef_id(Input), input, sizeof(Input));
    return s < 0 ? s : reef_tick(w, 1.0f / (float)TICKS_PER_SECOND);
}

/* A fork that nobody has given lists of neighbours (near.h), such as a replay's, gets some for this tick. */
reef_status game_step(void *context, reef_world *w, uint64_t number, const void *input, size_t input_bytes)
{
    (void)context, (void)number;
    if (input_bytes != sizeof(Input)) return REEF_BAD_ARGUMENT;
    const Near *near = reef_single_get(w, Near), none = near != NULL ? *near : (Near){0};
    if (none.sides != NULL) return step(w, input);
    if (!near_new(w)) return REEF_NO_MEMORY;
    const reef_status s = step(w, input);
    near_free(w);
    const reef_status set = reef_single_set_id(w, reef_id(Near), &none, sizeof none);
    return s < 0 ? s : set;
}

reef_status game_tick(game *g, const Input *in) { return game_step(NULL, g->world, 0, in, sizeof *in); }
