/* Who is near: the fish sorted by the cell of the sea that they are in, made anew in every tick by counting. Within
 * a cell fish stand in the order in which reef visits them, so the order is the same on every machine. */
#ifndef LIVING_REEF_NEIGHBOURS_H
#define LIVING_REEF_NEIGHBOURS_H

#include "fish.h"
#include "sea.h"

/* What a fish sees of another: 20 bytes, since a fish looks at a dozen others when it decides on its course. */
typedef struct seen {
    float    x, y;
    float    vx, vy;
    uint16_t species;
    uint16_t hungry; /* 1: wants to eat */
} seen;

typedef struct neighbours {
    uint32_t    *first;   /* of each cell: index into fish; cells + 1 of them */
    uint64_t    *hunters; /* of each cell: bit s: a hunter of species s is there */
    seen        *fish;    /* a fish's own index is in its Place */
    reef_entity *entity;  /* in step with fish */
    Velocity    *course;  /* in step with fish: what each decides on, see swim.c */
    uint32_t     capacity, cells;
    reef_world  *world;
    reef_query   placing, all, hunting;
} neighbours;

/* False: no memory. Must be freed in any case. Its queries are freed with the world. */
bool neighbours_new(neighbours *n, const sea *s, reef_world *world);
void neighbours_free(neighbours *n);

/* Sorts all fish, and tells each its Place; positions are on the sea. False: no memory. */
bool neighbours_sort(neighbours *n, const sea *s, const species_table *table);

#endif
