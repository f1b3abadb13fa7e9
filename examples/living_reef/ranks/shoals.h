/* The living reef over ranks: what differs from the one in a single process. The sea is divided into bands of rows, the
 * cells of reef_ranks. A fish that is born, a strike and a catch may concern another band, so they are messages.
 *
 *     hunter --Strike--> prey, in the next tick --Catch--> hunter, in the tick after that
 *
 * The energy of a catch that is under way is counted in Flight. If the hunter has died meanwhile, it becomes
 * detritus. */
#ifndef LIVING_REEF_SHOALS_H
#define LIVING_REEF_SHOALS_H

#include "../ecosystem.h"

#include <reef_ranks.h>

enum { BAND_ROWS = 8 };

/* A strike that has arrived where its prey is. */
typedef struct Struck {
    reef_entity hunter, prey;
} Struck;
/* What is left of a prey, on its way to its hunter. */
typedef struct Catch {
    reef_entity prey, hunter;
    int32_t units;
} Catch;
typedef struct Caught {
    reef_entity prey, hunter;
    int32_t units;
} Caught;
/* A young fish, on its way to its band. */
typedef struct Young {
    reef_entity parent;
    fish_born fish;
} Young;
/* A singleton of each rank: energy of the catches that its fish have sent, less that of those that have arrived. */
typedef struct Flight {
    int64_t units;
} Flight;
REEF_COMPONENT(Struck);
REEF_COMPONENT(Catch);
REEF_COMPONENT(Caught);
REEF_COMPONENT(Young);
REEF_COMPONENT(Flight);

/* The band of a row of cells. The last one has the rows that are left over. */
static inline uint32_t band_of(const Sea *s, uint32_t row)
{
    const uint32_t band = row / BAND_ROWS;
    return band < s->last ? band : s->last;
}

/* Adds the systems of a tick. False: reef refused. */
bool shoals_systems(reef_world *w, reef_ranks **ranks);
/* The kinds of messages; *count is how many. */
const reef_ranks_message *shoals_messages(uint32_t *count);

#endif
