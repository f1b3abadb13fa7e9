/* The list of systems below is everything that happens in a tick. */
#include "game.h"

#include "crew.h"
#include "diver.h"
#include "fight.h"
#include "near.h"
#include "swim.h"
#include "wave.h"
#include <reef/relation.h>
#include <reef/observer.h>
#include <reef/random.h>
#include <reef/pool.h>

#include <stdio.h>

#define SYSTEM(f) .name = #f, .function = f

/* clang-format off */
/* The text of a system says which rows it is for and what it does with them, and behind the semicolon what else it
 * touches. From these texts reef finds out which systems may run at the same time. */
static const reef_system_desc tick[] = {
    {SYSTEM(steer), .phase = "begin", .text = "Position, Velocity, Diver, in Tether; reads Input Upgrades Stage "
     "Position, writes Lamp, sends Cue Blast"},
    {SYSTEM(accompany), .phase = "begin", .text = "Position, Velocity, Mate; reads Lamp Upgrades Stage, "
     "sends Cue Blast"},
    {SYSTEM(assemble), .phase = "begin", .text = "in Position, in Mate; writes Crew"},
    {SYSTEM(near_clear), .phase = "begin", .text = "; writes Near"},
    {SYSTEM(near_count), .phase = "begin", .text = "in Position, out Place; writes Near, reads Enemy Hunter Boss"},
    {SYSTEM(near_add_up), .phase = "begin", .text = "; writes Near"},
    {SYSTEM(near_arrange), .phase = "begin", .text = "Place; writes Near"},
    {SYSTEM(near_show), .phase = "begin", .text = "in Position, in Velocity, in Body, Place; reads Near Enemy "
     "Hunter Boss"},

    {SYSTEM(crowd), .text = "out Wish, in Place, in Swim, ?in School; reads Near"},
    {SYSTEM(seek), .text = "Wish, in Position, in Seek; reads Lamp Crew"},
    {SYSTEM(orbit), .text = "Wish, in Position, in Orbit; reads Lamp Crew"},
    {SYSTEM(drift), .text = "Wish, Drift"},
    {SYSTEM(reach), .text = "Wish, in Position, with Gnaw; reads Lamp"},
    {SYSTEM(fear), .text = "Wish, in Position, in Timid; reads Near Place Lamp"},
    {SYSTEM(choose), .text = "in Position, with Hunter, !Hunts; reads Near Place, adds Hunts",
     .interval_ns = 300000000},
    {SYSTEM(hunt), .text = "Wish, in Position, in Hunts, in Body; reads Position, sends Cue Hit, removes Hunts"},
    {SYSTEM(shun), .text = "Wish, in Position, in Shun; reads Lamp"},
    {SYSTEM(follow), .text = "out Wish, in Position, in Follows, in Swim; reads Position"},
    {SYSTEM(charge), .text = "Wish, Charge, in Position, in Swim, in Body; reads Lamp Crew, sends Cue"},
    {SYSTEM(swim), .text = "Position, Velocity, Swim, in Wish, ?in Charge"},
    {SYSTEM(fly), .text = "Position, in Velocity, Bolt | Shot | Pickup"},

    {SYSTEM(shoot), .text = "Diver; reads Near Place Lamp Upgrades Stage, sends Cue, spawns Position Velocity Bolt"},
    {SYSTEM(mates_shoot), .text = "Mate, in Position; reads Near Place Lamp Upgrades Stage, sends Cue, spawns Position "
     "Velocity Bolt"},
    {SYSTEM(strike), .text = "in Position, in Velocity, Bolt; reads Near Place, sends Hit, destroys"},
    {SYSTEM(wound), .text = "; receives Hit, reads Position Body, writes Health Shell Velocity, sends Cue Blast"},
    {SYSTEM(burn), .text = "Health, in Position, with Enemy; reads Lamp Upgrades"},
    {SYSTEM(shock), .text = "Health, in Position, in Body, with Enemy; reads Lamp Upgrades"},
    {SYSTEM(shake), .text = "Health, Velocity, Swim, in Position, in Body, ?in Shell; receives Blast, reads "
     "Bystander"},
    {SYSTEM(mend), .text = "Shell"},
    {SYSTEM(sting), .text = "in Position, in Body, in Sting; reads Lamp Crew, sends Bite"},
    {SYSTEM(gnaw), .text = "in Position, in Gnaw; reads Lamp, sums Leak", .combine = add_leaks},
    {SYSTEM(spit), .text = "Spit, in Position, in Swim, in Body; reads Lamp Crew, sends Cue, spawns Position "
     "Velocity Shot"},
    {SYSTEM(arrive), .text = "Shot, in Position; reads Lamp Crew, sends Bite, destroys"},
    {SYSTEM(fuse), .text = "Burst, Health, in Position; reads Lamp Crew"},
    {SYSTEM(lay), .text = "Lay, in Position, in Body, in Swim; reads Census, sends Cue, spawns"},
    {SYSTEM(hatch), .text = "Hatch, in Position, in Health; sends Cue, spawns, destroys"},
    {SYSTEM(heal), .text = "Heal, in Position; reads Near Place Health, sends Cure Cue"},
    {SYSTEM(recover), .text = "; receives Cure, writes Health"},
    {SYSTEM(attract), .text = "Pickup, Velocity, in Position; reads Lamp Crew Upgrades Stage, sends Find, destroys"},

    {SYSTEM(forget), .phase = "end", .text = "; writes Census"},
    {SYSTEM(count_creatures), .phase = "end", .text = "with Body; reads Enemy Bystander Boss, sums Census",
     .combine = add_counts},
    {SYSTEM(split), .phase = "end", .text = "in Split, in Health, in Position; spawns"},
    {SYSTEM(burst), .phase = "end", .text = "in Burst, in Health, in Position; sends Blast Cue"},
    {SYSTEM(reward), .phase = "end", .text = "in Bounty, in Health, in Position; reads Boss, sends Loss"},
    {SYSTEM(die), .phase = "end", .text = "in Health, in Position, in Body; sends Cue, destroys"},
    {SYSTEM(breathe), .phase = "end", .text = "Diver; receives Bite Blast, reads Lamp Stage Input Upgrades, "
     "writes Leak, sends Cue"},
    {SYSTEM(suffer), .phase = "end", .text = "Mate, in Position; receives Bite, reads Stage"},
    {SYSTEM(help), .phase = "end", .text = "Mate, in Position; reads Lamp Crew"},
    {SYSTEM(collect), .phase = "end", .text = "; receives Find Loss, reads Lamp, writes Purse Diver, sends Cue, "
     "spawns Position Velocity Pickup"},
    {SYSTEM(conduct), .phase = "end", .text = "; reads Input Lamp Diver Census Creatures, writes Stage Purse "
     "Upgrades, sends Cue, spawns"},
    {SYSTEM(surge), .phase = "end", .text = "; reads Stage Lamp Census Creatures, spawns, adds Follows"},
    {SYSTEM(ebb), .phase = "end", .text = "in Position, in Body, in Health, with Enemy; reads Stage, sends Cue, "
     "destroys"},
};
/* clang-format on */

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
    for (size_t i = 0; i < sizeof tick / sizeof tick[0]; i++)
        if (reef_system_is_null(reef_system_new(g->world, &tick[i]))) return false;
    return !reef_observer_is_null(reef_observe(g->world, cut_loose, REEF_ON_REMOVE, Follows));
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

static const reef_system_desc first_fish = {SYSTEM(stock), .text = "; reads Creatures, spawns"};

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

reef_status game_step(void *context, reef_world *w, uint64_t number, const void *input, size_t input_bytes)
{
    (void)context, (void)number;
    if (input_bytes != sizeof(Input)) return REEF_BAD_ARGUMENT;
    if (!near_reserve(w)) return REEF_NO_MEMORY;
    reef_status s = reef_single_set_id(w, reef_id(Input), input, sizeof(Input));
    return s < 0 ? s : reef_tick(w, 1.0f / (float)TICKS_PER_SECOND);
}

reef_status game_tick(game *g, const Input *in) { return game_step(NULL, g->world, 0, in, sizeof *in); }
