/* The table of species: what the CSV file says, and what follows from it.
 *
 * It has one line for each species, with ten columns, which are named in the first line that isn't a comment:
 *
 *     scientific_name, common_name, trophic_level, length_m, cruising_speed_m_s, lifespan_years, metabolism_percent,
 *     clutch, eats, number
 *
 * `eats` is a list separated by semicolons: plankton, algae, detritus, or scientific names of other species in the
 * table. Empty lines and lines that begin with # are skipped. Values may stand in double quotes. */
#ifndef LIVING_REEF_SPECIES_H
#define LIVING_REEF_SPECIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SPECIES_MAX = 64,             /* number of bits in a set of species */
    SPECIES_NAME_MAX = 63,        /* the most bytes of a name */
    SPECIES_NUMBER_MAX = 4000000, /* the most fish of one species at the start */
    SPECIES_TOTAL_MAX = 16000000  /* the most fish of all species at the start */
};

/* Layers of the sea; the first one is no food. */
typedef enum layer { NUTRIENTS = 0, PLANKTON, ALGAE, DETRITUS, LAYERS } layer;

typedef struct species {
    /* these are in the table: */
    char scientific[SPECIES_NAME_MAX + 1];
    char common[SPECIES_NAME_MAX + 1];
    uint32_t trophic_hundredths; /* trophic level times 100 */
    float length;                /* m */
    float speed;                 /* m/s, cruising */
    float lifespan_years;
    uint32_t metabolism_thousandths; /* percent of the full body's energy that is burned in 100 ticks, times 1000 */
    uint32_t clutch;                 /* number of young of one spawning that settle on the reef */
    uint32_t foods;                  /* bit l: it eats layer l */
    uint64_t prey;                   /* bit s: it eats species s */
    uint32_t number;                 /* number at the start, on the default sea */
    /* these follow from it: */
    uint64_t predators; /* bit s: species s eats it */
    uint64_t feared;    /* those of them that are faster; a slower hunter lies in ambush and isn't seen */
    uint32_t span;      /* lifespan in ticks */
    uint32_t mature;    /* age in ticks from which it spawns */
    int32_t full;       /* energy of a body that needs no more food */
    int32_t newborn;    /* energy of a young fish, given by its parent */
    int32_t burn;       /* energy units burned in 1,024 ticks */
} species;

typedef struct species_table {
    species of[SPECIES_MAX];
    uint32_t count;
} species_table;

/* Reads a table. On failure the message names file, line, column (both from 1; columns in bytes) and what was
 * expected. */
bool species_load(species_table *table, const char *path, char *message, size_t message_size);

/* The same for a text in memory; `name` stands for the file in messages. */
bool species_parse(species_table *table, const char *name, const char *text, size_t length, char *message,
                   size_t message_size);

/* Scales the numbers so that about `total` fish start, at least two of each species. */
void species_scale(species_table *table, uint32_t total);

/* Returns the largest species that eats other ones, the first one of equals. SPECIES_MAX: there is none. */
uint32_t species_largest_hunter(const species_table *table);

/* Returns the sum of all numbers. */
uint32_t species_total(const species_table *table);

const char *layer_name(layer which);

#endif
