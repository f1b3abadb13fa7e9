/* Fish: their components, their species as prefabs, the rules of the reef, and the first fish. */
#ifndef LIVING_REEF_FISH_H
#define LIVING_REEF_FISH_H

#include "sea.h"
#include "species.h"

#include <reef.h>
#include <reef/relation.h>
#include <reef/random.h>

/* ---- what a fish has ---- */

typedef struct Position {
    float x, y; /* m */
} Position;

typedef struct Velocity {
    float x, y; /* m/s */
} Velocity;

typedef struct Species {
    uint32_t index; /* in the table of species */
} Species;

typedef struct Energy {
    int32_t units; /* 0: it is dead, and will be destroyed at the end of the phase */
} Energy;

typedef struct Age {
    uint32_t ticks;
    uint32_t span; /* of this fish, in ticks */
} Age;

/* Where the fish was at the start of the tick: its cell, and its slot in Sight. */
typedef struct Place {
    uint32_t cell, slot;
} Place;

/* Where the fish's leader was at the start of the tick. */
typedef struct Leader {
    uint32_t slot; /* in Sight, or one of the following */
} Leader;
enum {
    ALONE = INT32_MAX,         /* it follows nobody */
    FOLLOWING = INT32_MAX - 1, /* it follows one, but doesn't look at it in this tick */
    OUT_OF_SIGHT = INT32_MAX - 2
};

/* Only fish that eat other fish have it. */
typedef struct Hunter {
    uint32_t rest; /* ticks until the last catch is swallowed; for hunters with the switch Resting */
} Hunter;

REEF_COMPONENT(Position);
REEF_COMPONENT(Velocity);
REEF_COMPONENT(Species);
REEF_COMPONENT(Energy);
REEF_COMPONENT(Age);
REEF_COMPONENT(Place);
REEF_COMPONENT(Leader);
REEF_COMPONENT(Hunter);
REEF_FIELDS(Position, (x, "m"), (y, "m"));
REEF_FIELDS(Velocity, (x, "m/s"), (y, "m/s"));
REEF_FIELDS(Species, index);
REEF_FIELDS(Energy, units);
REEF_FIELDS(Age, ticks, (span, "ticks"));
REEF_FIELDS(Place, cell, slot);
REEF_FIELDS(Leader, slot);
REEF_FIELDS(Hunter, (rest, "ticks"));
REEF_TAG(Adult);      /* old enough to spawn */
REEF_SWITCH(Resting); /* hunters that swallow their last catch */
/* A fish follows another one of its species: only one with a lower index, so that nobody follows itself by way of
 * others. A fish that follows nobody leads a school, or is alone. */
REEF_RELATION(Follows, REEF_EXCLUSIVE);

/* ---- what holds for all fish: a singleton that never changes ---- */

typedef struct Rules {
    species_table table;            /* numbers scaled to this sea */
    uint32_t hiding[SPECIES_MAX];   /* for each species: number of fish that the reef's holes can hide */
    uint32_t nests[SPECIES_MAX];    /* for each species: number of fish that find a place to spawn */
    reef_entity young[SPECIES_MAX]; /* for each species: the prefab of a young fish */
} Rules;
REEF_COMPONENT(Rules);

/* Is the fish well fed? Then a hunter doesn't strike, and an adult may spawn. */
static inline bool fish_is_full(const species *of, int32_t energy) { return energy >= of->full / 4 * 3; }

/* Sets the rules, which follow from the table, and from the prefabs of the world if it has some. False: reef
 * refused. */
bool fish_rules(reef_world *w, const species_table *table);

/* Makes a prefab of each species, sets the rules, and fills the sea with the numbers of fish from the table. Places,
 * headings, ages and energies are random. False: reef refused. */
bool fish_fill(reef_world *w, const species_table *table);

/* One of the first fish. */
typedef struct fish_first {
    Position at;
    Velocity heading;
    Energy energy;
    Age age;
    bool adult;
} fish_first;
/* What is random in one of the first fish. */
fish_first fish_hatched(reef_world *w, const Sea *s, const species *of, Species kind, reef_entity e, reef_random *r);

/* A random lifespan in ticks: the species' own, give or take a fifth. */
uint32_t fish_span(const species *of, reef_random *r);

/* A random direction, at the species' cruising speed. */
Velocity fish_heading(const species *of, reef_random *r);

#endif
