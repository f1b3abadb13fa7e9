/* The census: the number of fish of each species, and energy. Energy is counted in whole units, and its sum over the
 * whole sea never changes. */
#ifndef LIVING_REEF_CENSUS_H
#define LIVING_REEF_CENSUS_H

#include "fish.h"
#include "sea.h"

/* Counts of all fish. */
typedef struct Census {
    uint32_t fish, population[SPECIES_MAX];
    int64_t energy;
} Census;

/* All energy in the cells. */
typedef struct Stock {
    int64_t layer[LAYERS];
} Stock;

REEF_COMPONENT(Census);
REEF_COMPONENT(Stock);
REEF_FIELDS(Census, fish, population, energy);
REEF_FIELDS(Stock, layer);

/* Returns the energy of sea and fish at the last count. */
int64_t census_energy(const reef_world *w);

/* ---- systems ---- */

void forget(reef_block *b); /* clears the last count */
void count_fish(reef_block *b);
void add_fish(void *total, const void *part);
void count_water(reef_block *b);
void add_water(void *total, const void *part);

#endif
