/* Who is near: the fish sorted by the cell of the sea that they are in, made anew in every tick by counting. Within
 * a cell fish stand in the order in which reef visits them, so the order is the same on every machine.
 *
 * The arrays lie outside of the world, since they are forgotten after each tick; a singleton says where. Their parts
 * belong to rows of the world, and so what is declared for those holds for them too:
 *   - a system that writes a fish's Place may write its slot in `fish`; who reads other fish's slots reads their
 *     Places;
 *   - a system that writes a cell's Crowd may write `course` in the slots of the fish there, and one that writes its
 *     Meal
 *     `gain`; who reads those reads Crowds, or Meals. */
#ifndef LIVING_REEF_SIGHT_H
#define LIVING_REEF_SIGHT_H

#include "fish.h"
#include "sea.h"

/* What is seen of a fish: 32 bytes, since a fish looks at a dozen others when it decides on its course. */
typedef struct seen {
    float x, y, vx, vy;
    reef_entity fish;
    int32_t energy;
    uint32_t species;
} seen;

typedef struct Sight {
    seen *fish;
    Velocity *course;  /* in step with fish: what each decides on */
    int32_t *gain;     /* in step with fish: energy that the tick gives to each; less than 0: takes */
    uint32_t *first;   /* of each cell: its first slot; that of the next cell is behind its last one */
    uint64_t *hunters; /* of each cell: bit s: a hunter of species s is there */
    uint32_t cells, capacity;
} Sight;

REEF_COMPONENT(Sight);

/* Gives a world arrays of its own; a fork has those of its origin until then. False, here and below: no memory. */
bool sight_new(reef_world *w);
/* Between two ticks: room for so many fish. */
bool sight_reserve(reef_world *w, uint32_t fish);
/* Before the world is freed. NULL is allowed. */
void sight_free(reef_world *w);

/* ---- systems ---- */

void clear_sight(reef_block *b);
void count(reef_block *b);   /* the fish of each cell */
void add_up(reef_block *b);  /* counts become first slots */
void arrange(reef_block *b); /* each fish gets a slot */
void show(reef_block *b);    /* and is seen there */

#endif
