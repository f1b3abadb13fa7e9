/* The best dives, kept in a text file. */
#ifndef DIVE_SCORES_H
#define DIVE_SCORES_H

#include <stdbool.h>
#include <stdint.h>

enum { SCORES_MAX = 6 };

typedef struct score {
    uint32_t points, wave, kills;
} score;

typedef struct scores {
    uint32_t count;
    uint32_t last; /* the place of the last dive that was added; SCORES_MAX: it isn't in the table */
    score of[SCORES_MAX];
} scores;

/* The folder may be NULL. A file that isn't there is an empty table. */
void scores_load(scores *s, const char *folder);
/* Adds a dive and writes the file. False: it can't be written. */
bool scores_add(scores *s, score one, const char *folder);

#endif
