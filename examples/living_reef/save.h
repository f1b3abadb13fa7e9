/* The saves: a file for each future. It holds the future's world with everything that was recorded, and a Run, which
 * says which run it belongs to. Each file is replaced in one step, so there are complete files whenever the program is
 * killed. The two may be of different ticks: the future that is behind catches up. */
#ifndef LIVING_REEF_SAVE_H
#define LIVING_REEF_SAVE_H

#include "future.h"
#include <reef/pool.h>

/* A singleton that exists only in files. */
typedef struct Run {
    uint64_t seed, table; /* `table`: a hash of the table's content */
    uint32_t size, ticks, one_future;
    uint32_t removed; /* SPECIES_MAX: the future from which nothing was taken out */
    int64_t energy;
} Run;
REEF_COMPONENT(Run);
REEF_FIELDS(Run, seed, table, (size, "m"), ticks, one_future, removed, energy);

/* Makes the directory. False: see the message. */
bool save_begin(const options *o, char *message, size_t message_size);
/* Call it after a tick: saves a future if it is time for that. False: see e.error. */
bool save_due(future *f, const options *o);

typedef enum save_found { SAVE_NOTHING = 0, SAVE_LOADED, SAVE_FAILED } save_found;
/* Loads a future that hasn't been made yet: the one from which nothing was taken out, or the other one. SAVE_FAILED:
 * see e.error. It must be freed in any case. */
save_found save_load(future *f, bool without, const species_table *table, const options *o, reef_pool *pool);

#endif
