/* The rules: the list of systems below is everything that happens in a tick. They are a module, so that `./play --hot`
 * can replace them while the game goes on. */
#include "rules.h"

#include "crew.h"
#include "diver.h"
#include "fight.h"
#include "game.h"
#include "near.h"
#include "swim.h"
#include "wave.h"
#include <reef/relation.h>
#include <reef/observer.h>

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
    {SYSTEM(near_open), .phase = "begin", .text = "; reads Position as placed, writes Near"},
    {SYSTEM(near_show), .phase = "begin", .text = "in Position, in Velocity, in Body, out Place; reads Position as "
     "placed, reads Near Enemy Hunter Boss"},
    {SYSTEM(near_sides), .phase = "begin", .text = "in Place; writes Near, reads Enemy Hunter Boss"},

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

static reef_status load(reef_world *w, void *context)
{
    (void)context;
    for (size_t i = 0; i < sizeof tick / sizeof tick[0]; i++)
        if (reef_system_is_null(reef_system_new(w, &tick[i]))) return REEF_BAD_ARGUMENT;
    return reef_observer_is_null(reef_observe(w, cut_loose, REEF_ON_REMOVE, Follows)) ? REEF_BAD_ARGUMENT : REEF_OK;
}

const reef_module dive_rules = {.name = "dive", .version = 2, .load = load};
