/* The ecosystem: a world of cells and fish, and the systems of a tick. ecosystem.c lists them.
 *
 * Half way a second ecosystem may fork off (ecosystem_fork), which has lost a species (ecosystem_remove). The two share
 * only what reef shares between a world and its fork.
 *
 * A rule is a system over fish, or cells, that stand side by side in a block. Its query says for which ones it is. It
 * writes to its own rows; what it wants of others it sends as events, or leaves in arrays of which each row has a part
 * (sight.h). Where fish compete for something (food in a cell, a prey), all state their wish first, and then the wishes
 * are settled by a rule that doesn't depend on who came first, or in the order of events. So it doesn't matter how many
 * threads there are. */
#ifndef LIVING_REEF_ECOSYSTEM_H
#define LIVING_REEF_ECOSYSTEM_H

#include "census.h"
#include "fish.h"
#include "life.h"
#include "sea.h"
#include "sight.h"

void decide(reef_block *b); /* each cell: its fish decide on their courses */
void swim(reef_block *b);   /* and follow them */

typedef struct ecosystem {
    const species_table *table; /* numbers scaled to this sea; must outlive the ecosystem */
    reef_world *world;
    int64_t energy;  /* what there was at the start */
    char error[512]; /* why a call failed */
} ecosystem;

/* Makes the sea and fills it. A pool of NULL: ticks run on the calling thread alone. False, here and below: see error.
 * Must be freed in any case. */
bool ecosystem_new(ecosystem *e, const species_table *table, uint32_t metres, uint64_t seed, reef_pool *pool);
/* The same for an ecosystem that was saved: a world with the systems, and nothing in it. When its state was loaded,
 * ecosystem_wake gives it what isn't saved: the rules and the arrays. */
bool ecosystem_empty(ecosystem *e, const species_table *table, uint64_t seed, reef_pool *pool);
bool ecosystem_wake(ecosystem *e, int64_t energy);
/* Makes a second ecosystem that begins as `from` is between two ticks. Each of the two may then be used by a thread of
 * its own. */
bool ecosystem_fork(ecosystem *e, ecosystem *from);
void ecosystem_free(ecosystem *e);

/* Plays one tick: a second of swimming. False: memory ran out or energy was not conserved. */
bool ecosystem_tick(ecosystem *e);
/* Ticks played. */
uint32_t ecosystem_ticks(const ecosystem *e);

/* Takes all fish of a species out, between two ticks: they die, and become detritus where they are. False: as above. */
bool ecosystem_remove(ecosystem *e, uint32_t kind);
/* Loses one unit of energy, to prove that the next tick notices. */
bool ecosystem_leak(ecosystem *e);

/* Records why reef refused something; returns false. */
bool ecosystem_refused(ecosystem *e, const char *what);

#endif
