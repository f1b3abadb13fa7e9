/* What a run leaves behind: a sample of all counts every few ticks, and maps of where the fish were. While the run
 * lasts they are entities of its world, so that they are saved with it, and the fork has them; at its end they are
 * taken together for the files. */
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

typedef struct Sample {
    uint32_t tick;
    uint32_t population[SPECIES_MAX];
    int64_t layer[LAYERS], fish; /* energy */
    uint64_t born, died;
} Sample;

typedef struct Map {
    uint32_t moment, tick, total;           /* fish */
    uint32_t giant;                         /* the largest species */
    uint8_t pixel[MAP_PIXELS * MAP_PIXELS]; /* an index of a colour, the sea's first, then each species' */
} Map;

/* One of the largest species, on a map. */
typedef struct Giant {
    uint32_t moment;
    Position at;
} Giant;

REEF_COMPONENT(Sample);
REEF_COMPONENT_IN(Map, REEF_SPARSE); /* three large ones: a page of memory for each */
REEF_COMPONENT(Giant);
REEF_FIELDS(Sample, REEF_FIELD(Sample, tick, REEF_U32, NULL, 0, 0),
            REEF_FIELD(Sample, population, REEF_U32, NULL, 0, 0), REEF_FIELD(Sample, layer, REEF_I64, NULL, 0, 0),
            REEF_FIELD(Sample, fish, REEF_I64, NULL, 0, 0), REEF_FIELD(Sample, born, REEF_U64, NULL, 0, 0),
            REEF_FIELD(Sample, died, REEF_U64, NULL, 0, 0));
REEF_FIELDS(Map, REEF_FIELD(Map, moment, REEF_U32, NULL, 0, 0), REEF_FIELD(Map, tick, REEF_U32, NULL, 0, 0),
            REEF_FIELD(Map, total, REEF_U32, NULL, 0, 0), REEF_FIELD(Map, giant, REEF_U32, NULL, 0, 0),
            REEF_FIELD(Map, pixel, REEF_U8, NULL, 0, 0));
REEF_FIELDS(Giant, REEF_FIELD(Giant, moment, REEF_U32, NULL, 0, 0), REEF_FIELD(Giant, at.x, REEF_F32, "m", 0, 0),
            REEF_FIELD(Giant, at.y, REEF_F32, "m", 0, 0));

/* Of one future. That of the future without a species begins at the fork, when the species has just been taken out, and
 * has no map but the last. */
typedef struct map {
    const Map *drawn; /* of the world */
    Position *giants;
    uint32_t giant_count;
} map;

typedef struct record {
    Sample *samples;
    uint32_t count;
    map maps[MAPS];   /* {0}: it has none */
    uint32_t removed; /* the species that was taken out, if any was */
} record;

/* Adds a sample of the ecosystem as it is, or puts it in the place of the one of the same tick. False, here and
 * below: no memory. */
bool record_sample(ecosystem *e);
/* Draws the map of a moment. */
bool record_map(ecosystem *e, moment when);
/* All that was recorded from tick `from` on; maps of later ticks, or all for 0. It lives as long as the world isn't
 * changed. A fork has what its origin recorded as well: nothing is taken out of it, so that a fork of which nothing
 * is taken away stays the same as its origin. */
bool record_take(record *r, ecosystem *e, uint32_t from);
void record_free(record *r);

/* The samples as comma separated values, one line a sample: first those of both futures, then those of each. `without`
 * is NULL when the world wasn't forked. */
void record_write(const record *with, const record *without, const species_table *table, FILE *file);

#endif
