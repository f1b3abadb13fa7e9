/* Who is near: the fish, by their cell of the sea, in the slots of reef's picture of their positions. Within a cell,
 * fish stand in the order in which reef visits them, so the order is the same on every machine.
 *
 * The arrays lie outside of the world, since they are forgotten after each tick; a singleton points to them. Their
 * parts belong to rows of the world, so what a system declares for these rows holds for the arrays too:
 *   - a system that writes a fish's Leader may write its slot in `fish` and `leader`; a system that reads other fish's
 *     slots must read their Leaders;
 *   - a system that writes a cell's Crowd may write its `hunters`, and `course` in the slots of the fish there; one
 *     that writes its Meal may write `gain`; a system that reads those must read Crowds, or Meals. */
#ifndef LIVING_REEF_SIGHT_H
#define LIVING_REEF_SIGHT_H

#include "fish.h"
#include "sea.h"
#include "reef/hooks.h"
#include <reef/place.h>

/* What other fish see of a fish. It has 32 bytes, because a fish looks at a dozen others when it decides on its
 * course. */
typedef struct seen {
    float x, y, vx, vy;
    reef_entity fish;
    int32_t energy;
    uint32_t species;
} seen;

typedef struct Sight {
    seen *fish;
    uint32_t *leader;      /* in step with `fish`: what each one's Leader says */
    Velocity *course;      /* in step with `fish`: the course that each decides on */
    int32_t *gain;         /* in step with `fish`: the energy that the tick gives to each; negative: takes */
    const uint32_t *first; /* for each cell: its first slot; its last one is before the next cell's first */
    uint64_t *hunters;     /* for each cell: bit s says that a hunter of species s is there */
    uint32_t cells, capacity;
} Sight;

/* A fork begins with arrays of its own, and going back keeps those that are there. */
static const reef_hooks sight_of_this_world = {.on_fork = REEF_FORK_SKIP};
REEF_COMPONENT_HOOKS(Sight, &sight_of_this_world);

/* Declares where fish are, for seas of this size; a process has seas of one size. False: it has another one. */
bool sight_declare(uint32_t metres);
/* Gives a world arrays of its own; until then a fork has those of its origin. False, here and below: no memory. */
bool sight_new(reef_world *w);
/* Call it between two ticks: makes room for this many fish. */
bool sight_reserve(reef_world *w, uint32_t fish);
/* Call it before the world is freed. NULL is allowed. */
void sight_free(reef_world *w);

/* ---- systems ---- */

void open_eyes(reef_block *b); /* finds the cells */
void show(reef_block *b);      /* writes each fish, and where its leader is, to its slot */
void watch(reef_block *b);     /* for each cell: who is there, and which hunters are among them */

/* Does a fish that follows another one look at it in this tick, and decide on its course? */
static inline bool looks_at_leader(reef_entity fish, uint64_t tick) { return ((fish.index + tick) & 3) == 0; }

#endif
