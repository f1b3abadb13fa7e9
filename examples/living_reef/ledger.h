/* The ledger: energy is counted in whole units, and their sum over the whole sea never changes. */
#ifndef LIVING_REEF_LEDGER_H
#define LIVING_REEF_LEDGER_H

#include "fish.h"
#include "sea.h"

typedef struct ledger {
    int64_t total;         /* what there was at the start */
    int64_t layer[LAYERS]; /* at the last count */
    int64_t fish;
} ledger;

/* Counts everything. `bodies` names "in Energy". */
void ledger_count(ledger *books, const sea *water, reef_world *world, reef_query bodies);

/* Makes the last count the total that must be kept. */
void ledger_open(ledger *books);

/* Compares the last count with the total. False: `message` says what is missing or too much at this tick. */
bool ledger_check(const ledger *books, uint32_t tick, char *message, size_t message_size);

#endif
