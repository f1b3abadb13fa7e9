/* What a run leaves behind: a sample of all counts every few ticks, and maps of where the fish were. During the run
 * these are entities of its world, so they are saved with it, and the fork has them too. At the end they are collected
 * for the files. */
#ifndef LIVING_REEF_RECORD_H
#define LIVING_REEF_RECORD_H

#include "ecosystem.h"

#include <stdio.h>

enum {
    SAMPLE_TICKS = 10, /* ticks from one sample to the next; one more is taken at the end */
    MAP_PIXELS = 480,  /* pixels along each side */
    MAP_SHADES = 16,   /* colours of the sea: 4 of plankton for each of 4 of rock */
    FISH_SHADES = 3    /* colours of a species, by the number of fish in a pixel */
};

/* The moments at which a map is drawn. */
typedef enum moment { AT_START = 0, HALF_WAY, AT_END, MAPS } moment;

typedef struct Sample {
    uint32_t tick;
    uint32_t population[SPECIES_MAX];
    int64_t layer[LAYERS], fish; /* energy of the layers, and of all fish */
    uint64_t born, died;
} Sample;

typedef struct Map {
    uint32_t moment, tick, total; /* `total` is the number of fish */
    uint32_t giant;               /* the largest species, drawn fish by fish */
    /* index of the colour; the sea's colours come first, then those of each species */
    uint8_t pixel[MAP_PIXELS * MAP_PIXELS];
} Map;

/* One of the largest species, on a map. */
typedef struct Giant {
    uint32_t moment;
    Position at;
} Giant;

REEF_COMPONENT(Sample);
REEF_COMPONENT_IN(Map, REEF_SPARSE); /* there are three large values, so each gets a page of memory */
REEF_COMPONENT(Giant);
REEF_FIELDS(Sample, tick, population, layer, fish, born, died);
REEF_FIELDS(Map, moment, tick, total, giant, pixel);
REEF_FIELDS(Giant, moment, (at.x, "m"), (at.y, "m"));

/* The record of one future. The record of the future without a species begins at the fork, when the species has just
 * been taken out, and has only the last map. */
typedef struct map {
    const Map *drawn; /* the value in the world */
    Position *giants;
    uint32_t giant_count;
} map;

typedef struct record {
    Sample *samples;
    uint32_t count;
    map maps[MAPS];   /* {0}: there is no such map */
    uint32_t removed; /* the species that was taken out, if there is one */
} record;

/* Adds a sample of the ecosystem's present state. If there is one of this tick already, it is replaced. False, here
 * and below: no memory. */
bool record_sample(ecosystem *e);
/* Draws the map of a moment. */
bool record_map(ecosystem *e, moment when);
/* Collects all samples from tick `from` on, and the maps of later ticks (for 0: all). They are valid as long as the
 * world isn't changed. A fork has what its origin recorded as well, since nothing is taken out of it: so a fork from
 * which no species is taken stays equal to its origin. */
bool record_take(record *r, ecosystem *e, uint32_t from);
void record_free(record *r);

/* Writes the samples as comma separated values, one line for each: first those of both futures, then those of each.
 * `without` is NULL if the world wasn't forked. */
void record_write(const record *with, const record *without, const species_table *table, FILE *file);

#endif
