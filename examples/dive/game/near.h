/* Who is near: all creatures, by the cell of the sea floor in which they are, in the slots of reef's picture of
 * their positions. Within a cell they stand in the order in which reef visits them, so the order is the same on every
 * machine.
 *
 * The arrays lie outside of the world, since they are forgotten after each tick; a singleton points to them, which
 * snapshots, forks and files leave out. Their parts belong to rows of the world, so what a system declares for these
 * rows holds for the arrays too: a system that writes Places may write the slots of its rows; one that reads other
 * creatures' slots must read Place. */
#ifndef DIVE_NEAR_H
#define DIVE_NEAR_H

#include "components.h"
#include "vector.h"
#include "reef/hooks.h"

enum { NEAR_SIDE = 72, NEAR_CELLS = NEAR_SIDE * NEAR_SIDE }; /* cells of two metres */

enum { IS_ENEMY = 1, IS_BYSTANDER = 2, IS_HUNTER = 4, IS_BOSS = 8 }; /* sides */

/* What others see of a creature. It has 32 bytes, because everyone looks at a dozen others. */
typedef struct seen {
    float x, y, vx, vy;
    float radius;
    uint16_t kind, side;
    reef_entity who;
} seen;

typedef struct Near {
    seen *slots;
    const uint32_t *first; /* for each cell its first slot; its last slot is the one before the next cell's first */
    uint8_t *sides;        /* for each cell the sides of all who are in it: who looks for a hunter skips most cells */
    uint32_t capacity;
} Near;

static const reef_hooks near_hooks = {.on_fork = REEF_FORK_SKIP};
REEF_COMPONENT_HOOKS(Near, &near_hooks);
#define NEAR_ADDRESS (sizeof(void *) == 8 ? REEF_U64 : REEF_U32)
REEF_FIELDS(Near, (slots, NEAR_ADDRESS, NULL, 0, 0), (first, NEAR_ADDRESS, NULL, 0, 0),
            (sides, NEAR_ADDRESS, NULL, 0, 0), capacity);

/* Gives a world arrays of its own. False, here and below: no memory. */
bool near_new(reef_world *w);
/* Call it before each tick: makes room for all creatures. */
bool near_reserve(reef_world *w);
/* Call it before the world is freed. NULL is allowed. */
void near_free(reef_world *w);

/* Column or row of the cells in which a coordinate lies. */
static inline uint32_t near_cell(float at)
{
    float cell = at * 0.5f + (float)(NEAR_SIDE / 2);
    return cell < 0.0f ? 0 : cell >= (float)NEAR_SIDE ? NEAR_SIDE - 1 : (uint32_t)cell;
}

/* ---- systems ---- */

void near_open(reef_block *b);  /* finds the cells */
void near_show(reef_block *b);  /* writes each creature to its slot */
void near_sides(reef_block *b); /* notes for each cell which sides are in it */

#endif
