/* Further divers, when several players share a dive. The first player swims as the diver of a dive alone; each other
 * one is a mate, an entity with a lamp and harpoons of her own. They share the air, the pearls and the upgrades. A mate
 * who is bitten too often faints, and wakes when somebody stays with her. Creatures swim to whoever is nearest. */
#ifndef DIVE_CREW_H
#define DIVE_CREW_H

#include "rules.h"
#include "vector.h"

enum { PLAYERS_MAX = 8 };
#define MATE_STRENGTH 40.0f /* what she bears, in the air that bites cost */
#define HELP_SECONDS 2.0f   /* how long somebody stays with her until she wakes */

/* What a player does in a tick; Input without what only one player alone can do. */
typedef struct CrewInput {
    int8_t move[2], aim[2];
    uint8_t keys, pick;
} CrewInput;
REEF_COMPONENT(CrewInput);
REEF_FIELDS(CrewInput, (move, NULL, -100, 100), (aim, NULL, -100, 100), (keys, NULL, 0, 7), (pick, NULL, 0, 5));

typedef struct Mate {
    uint32_t player;
    float strength;         /* 0: she has fainted */
    float helped;           /* seconds that somebody has been with her since */
    float dx, dy;           /* direction of her light */
    float safe;             /* seconds in which nothing hurts */
    float dash, dash_rests; /* as for the diver */
    float pulse_rests, harpoon_rests;
    int8_t move[2], aim[2]; /* what her player does in this tick */
    uint8_t keys, before;   /* now, and in the tick before */
} Mate;
REEF_COMPONENT(Mate);
REEF_FIELDS(Mate, player, strength, (helped, "s"), dx, dy, (safe, "s"), (dash, "s"), (dash_rests, "s"),
            (pulse_rests, "s"), (harpoon_rests, "s"), move, aim, keys, before);

/* Where the mates are that haven't fainted: a singleton for all who look for the nearest diver. There is none in a dive
 * alone. */
typedef struct Crew {
    uint32_t count;
    float x[PLAYERS_MAX], y[PLAYERS_MAX];
} Crew;
REEF_COMPONENT(Crew);
REEF_FIELDS(Crew, count, (x, "m"), (y, "m"));

/* The diver or the mate who is nearest to a place. The crew may be NULL. */
static inline vec nearest_diver(const Lamp *lamp, const Crew *crew, float x, float y)
{
    vec found = {lamp->x, lamp->y};
    for (uint32_t i = 0; crew != NULL && i < crew->count; i++) {
        const float was = (found.x - x) * (found.x - x) + (found.y - y) * (found.y - y);
        const float is = (crew->x[i] - x) * (crew->x[i] - x) + (crew->y[i] - y) * (crew->y[i] - y);
        if (is < was) found = (vec){crew->x[i], crew->y[i]};
    }
    return found;
}

/* Her light as a lamp. */
Lamp mate_lamp(const Lamp *lamp, const Mate *mate, const Position *at);
/* The mate of a player; null: she has none. */
reef_entity mate_of(reef_world *w, uint32_t player);

/* A tick of 1/60 second with the inputs of the players whose bits are set; `input` has PLAYERS_MAX pointers. */
reef_status crew_step(reef_world *w, uint32_t players, const CrewInput *const *input);

/* ---- systems ---- */

void accompany(reef_block *b);   /* mates swim, turn their lamps, dash and send pulses */
void assemble(reef_block *b);    /* writes where they are */
void mates_shoot(reef_block *b); /* as the diver does */
void suffer(reef_block *b);      /* bites weaken them */
void help(reef_block *b);        /* those who have fainted wake */

#endif
