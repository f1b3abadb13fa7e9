/* The ecosystem: a world of cells and fish, and the systems of a tick. ecosystem.c lists the systems.
 *
 * Half way a second ecosystem may be forked off (ecosystem_fork) that loses a species (ecosystem_remove). The two
 * share only what reef shares between a world and its fork.
 *
 * A rule is a system over fish, or over cells, that stand side by side in a block. Its query says for which ones it is.
 * It writes only to its own rows. Effects on other rows it sends as events, or writes to arrays in which each row has a
 * part of its own (sight.h). Where fish compete for something, such as food in a cell or a prey, all of them first
 * state their wishes. Then a rule settles the wishes, either without regard to who came first or in the order of
 * events. So the number of threads doesn't matter. */
#ifndef LIVING_REEF_ECOSYSTEM_H
#define LIVING_REEF_ECOSYSTEM_H

#include "census.h"
#include "fish.h"
#include "life.h"
#include "sea.h"
#include "sight.h"
#include <reef/pool.h>

void decide(reef_block *b); /* for each cell: its fish decide on their courses */
void swim(reef_block *b);   /* fish follow their courses */

typedef struct ecosystem {
    const species_table *table; /* numbers scaled to this sea; must outlive the ecosystem */
    reef_world *world;
    int64_t energy;  /* the energy at the start */
    char error[512]; /* why a call failed */
} ecosystem;

/* Makes the sea and fills it. With a pool of NULL, ticks run on the calling thread alone. False, here and below: see
 * error. It must be freed in any case. */
bool ecosystem_new(ecosystem *e, const species_table *table, uint32_t metres, uint64_t seed, reef_pool *pool);
/* Makes an ecosystem to be loaded: a world with the systems and nothing in it. After its state was loaded,
 * ecosystem_wake adds what isn't saved: the rules and the arrays. */
bool ecosystem_empty(ecosystem *e, const species_table *table, uint32_t metres, uint64_t seed, reef_pool *pool);
bool ecosystem_wake(ecosystem *e, int64_t energy);
/* Makes a second ecosystem that begins in the present state of `from`; call it between two ticks. Afterwards each of
 * the two may be used by a thread of its own. */
bool ecosystem_fork(ecosystem *e, ecosystem *from);
void ecosystem_free(ecosystem *e);

/* Plays one tick: a second of swimming. False: memory ran out or energy was not conserved. */
bool ecosystem_tick(ecosystem *e);
/* Returns the number of ticks that were played. */
uint32_t ecosystem_ticks(const ecosystem *e);

/* Takes all fish of a species out, between two ticks: they die and become detritus where they are. False: see error. */
bool ecosystem_remove(ecosystem *e, uint32_t kind);
/* Loses one unit of energy, to prove that the next tick notices. */
bool ecosystem_leak(ecosystem *e);

/* Records why reef refused something; returns false. */
bool ecosystem_refused(ecosystem *e, const char *what);

#endif
