/* The ecosystem: sea, fish, and the rules of one tick.
 *
 *     sea_step      growth, decay and spreading in the cells                     (sea.c)
 *     swim          each fish steers by its neighbours and moves                 (swim.c)
 *     life_graze    grazers share what their cell has                            (life.c)
 *     life_hunt     hungry hunters catch what is within reach
 *     life_age      metabolism, starving, old age, coming of age
 *     life_spawn    adults with enough energy give part of it to young ones
 *     fish_apply    births, deaths and comings of age change the world           (fish.c)
 *     ledger        no unit of energy was lost or made                           (ledger.c)
 *
 * Half way a second ecosystem may fork off (ecosystem_fork), which has lost a species (ecosystem_remove). The two share
 * only what reef shares between a world and its fork.
 *
 * A rule is a function over fish that stand side by side in a block. Its query says for which ones it is: those that are dead,
 * rest, or are too young never come to it; what it finds out about a fish by looking, measuring or throwing dice is its
 * own. It writes to its rows, to cells of the sea by adding whole numbers, and to the lists of fish.h. Where fish compete
 * for something (food in a cell, a prey), all state their wish first, and then the wishes are settled by a rule that
 * doesn't depend on who came first, or in the order of rows. */
#ifndef LIVING_REEF_ECOSYSTEM_H
#define LIVING_REEF_ECOSYSTEM_H

#include "fish.h"
#include "ledger.h"
#include "neighbours.h"
#include "sea.h"

/* A hunter's attempt on a fish near it. */
typedef struct strike {
    reef_entity hunter, prey;
} strike;

typedef struct ecosystem {
    species_table table; /* numbers scaled to this sea */
    uint64_t      seed;
    uint32_t      tick; /* ticks played */
    sea           water;
    neighbours    near;
    school        fish;
    ledger        books;
    reef_world   *world;
    reef_query    bodies, swimmers, hungry, grazers, hunters, resting, living, spawners;
    uint32_t      hiding[SPECIES_MAX]; /* fish of a species that the reef's holes can hide */
    uint32_t      nests[SPECIES_MAX];  /* fish of a species that find a place to spawn in */
    strike       *strikes;
    uint32_t      strike_count, strike_capacity;
    char          error[512]; /* why a call failed */
} ecosystem;

/* Makes the sea and fills it. The table's numbers must be scaled already. False: see error. */
bool ecosystem_new(ecosystem *e, const species_table *table, uint32_t metres, uint64_t seed);
/* Makes a second ecosystem that begins as `from` is between two ticks. `fork` is a fork of from's world, and belongs to
 * the new ecosystem from now on, whatever happens. Each of the two may then be used by a thread of its own. */
bool ecosystem_fork(ecosystem *e, const ecosystem *from, reef_world *fork);
void ecosystem_free(ecosystem *e);

/* Plays one tick. False: memory ran out or energy was not conserved, see error. */
bool ecosystem_tick(ecosystem *e);

/* Takes all fish of a species out, between two ticks: they die, and become detritus where they are. False: as above. */
bool ecosystem_remove(ecosystem *e, uint32_t kind);

/* Records why reef refused something; returns false. */
bool ecosystem_refused(ecosystem *e, const char *what);

/* The rules. */
bool swim(ecosystem *e);
bool life_graze(ecosystem *e);
bool life_hunt(ecosystem *e);
bool life_age(ecosystem *e);
bool life_spawn(ecosystem *e);
bool life_end(ecosystem *e, uint32_t kind);

/* Runs `rule` on each run of fish that match a query: rows first ... end - 1 of a block. The loop is a deferred one: what the
 * rule disables or switches off is so when the loop is over. False: memory ran out. */
typedef void (*block_rule)(ecosystem *e, reef_block *b, uint32_t first, uint32_t end);
bool ecosystem_each(ecosystem *e, reef_query query, block_rule rule);

#endif
