/* What a run leaves behind: a sample of all counts every few ticks, and maps of where the fish were. */
#ifndef LIVING_REEF_RECORD_H
#define LIVING_REEF_RECORD_H

#include "ecosystem.h"

#include <stdio.h>

enum {
    SAMPLE_TICKS = 10, /* a sample is taken every so many ticks, and at the end */
    MAP_PIXELS = 480,  /* along each side */
    MAP_SHADES = 16,   /* colours of the sea: 4 of plankton for each of 4 of rock */
    FISH_SHADES = 3    /* colours of a species, by the number of fish in a pixel */
};

/* The moments of which a map is drawn. */
typedef enum moment { AT_START = 0, HALF_WAY, AT_END, MAPS } moment;

typedef struct sample {
    uint32_t tick;
    uint32_t population[SPECIES_MAX];
    int64_t  layer[LAYERS], fish; /* energy */
    uint64_t born, died;
} sample;

typedef struct map {
    uint32_t  tick, total;
    uint8_t  *pixel;  /* MAP_PIXELS squared: an index of a colour, the sea's first, then each species' */
    Position *giants; /* where those of the largest species are */
    uint32_t  giant_count, giant;
} map;

/* Of one future. That of the future without a species begins at the fork, when the species has just been taken out, and
 * has no map but the last. */
typedef struct record {
    sample  *samples;
    uint32_t count, capacity;
    map      maps[MAPS];
    uint32_t removed; /* the species that was taken out, if any was */
} record;

void record_free(record *r);
/* Adds a sample of the ecosystem as it is. False: no memory. */
bool record_sample(record *r, const ecosystem *e);
/* Draws the map of a moment. False: no memory. */
bool record_map(record *r, moment when, ecosystem *e);

/* The samples as comma separated values, one line a sample: first those of both futures, then those of each. `without`
 * is NULL when the world wasn't forked. */
void record_write(const record *with, const record *without, const species_table *table, FILE *file);

#endif
