/* Fish: the components they are made of, and the lists in which births, deaths and comings of age wait until no loop is
 * open: they change the world all at once, at the end of the tick. */
#ifndef LIVING_REEF_FISH_H
#define LIVING_REEF_FISH_H

#include "species.h"

#include <reef.h>

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
    int32_t units; /* what is left of a dead fish, until it is destroyed at the end of the tick, is booked elsewhere */
} Energy;

typedef struct Age {
    uint32_t ticks;
    uint32_t span; /* of this fish, in ticks */
} Age;

typedef struct Place {
    uint32_t index; /* among the sorted neighbours of this tick */
} Place;

/* Only those that eat from the sea's layers have it. */
typedef struct Grazer {
    uint32_t food; /* layer that it chose in this tick */
    int32_t  want; /* energy units that it would eat of it */
} Grazer;

/* Only those that eat other fish have it. */
typedef struct Hunter {
    uint32_t rest; /* ticks until the last catch is swallowed, of those that have the switch Resting */
} Hunter;

REEF_COMPONENT(Position);
REEF_COMPONENT(Velocity);
REEF_COMPONENT(Species);
REEF_COMPONENT(Energy);
REEF_COMPONENT(Age);
REEF_COMPONENT(Place);
REEF_COMPONENT(Grazer);
REEF_COMPONENT(Hunter);
REEF_TAG(Adult);      /* old enough to spawn */
REEF_SWITCH(Resting); /* hunters that swallow their last catch */

/* Fish of one species and stage that are to be made, as columns: one bulk spawn makes them all. */
typedef struct brood {
    Position *position;
    Velocity *velocity;
    Species  *species;
    Energy   *energy;
    Age      *age;
    uint32_t  count, capacity;
} brood;

typedef struct entity_list {
    reef_entity *of;
    uint32_t     count, capacity;
} entity_list;

typedef struct school {
    const species_table *table;
    reef_world          *world;
    brood                young[SPECIES_MAX], adult[SPECIES_MAX];
    entity_list          dying, maturing;
    uint32_t             population[SPECIES_MAX];
    uint64_t             born, died; /* since the start; the first fish are not born */
    bool                 no_memory;  /* a list could not grow: fish_apply fails */
} school;

bool school_new(school *s, const species_table *table, reef_world *world);
/* The school of a fork of from's world, counted as `from` is. The lists of `from` must be empty, as they are after
 * fish_apply. */
bool school_copy(school *s, const species_table *table, reef_world *fork, const school *from);
void school_free(school *s);

/* Puts a fish on the list of those to be made. */
void fish_spawn(school *s, bool adult, Position at, Velocity heading, Species kind, Energy energy, Age age);
/* Puts a fish on the list of those to be destroyed, once, and disables it as a whole entity, so that no later query of the
 * tick visits it. Its energy must have been booked elsewhere. */
void fish_die(school *s, reef_entity fish, uint32_t kind);
/* Brings the dying ones into the order in which reef visits fish: they leave in the order of the list, and
 * with it changes the order of those that stay. False: memory ran out. */
bool fish_line_up(school *s);
/* Puts a fish on the list of those that become adult. */
void fish_mature(school *s, reef_entity fish);

/* Applies the lists, in order, and empties them. False: memory ran out, or reef refused (see reef_error_text). */
bool fish_apply(school *s);

/* Fills the sea with the table's numbers: places, headings, ages and energies are random. `metres` is the sea's
 * side. */
bool fish_fill(school *s, float metres, uint64_t seed);

/* A random lifespan in ticks: the species' own, give or take a fifth. */
uint32_t fish_span(const species *of, uint64_t bits);

/* A random direction of length 1; `bits` gives it. */
Velocity fish_direction(uint64_t bits);

#endif
