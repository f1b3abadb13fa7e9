/* Sorting the creatures by cell: a counting sort in five systems. */
#include "near.h"

#include <stdlib.h>
#include <string.h>

/* ---- memory ---- */

bool near_new(reef_world *w)
{
    Near own = {.first = calloc(NEAR_CELLS + 2, sizeof *own.first), /* near_count and near_arrange need two more */
                .sides = calloc(NEAR_CELLS, 1)};
    if (own.first != NULL && own.sides != NULL && reef_single_set_id(w, reef_id(Near), &own, sizeof own) >= 0)
        return true;
    free(own.first);
    free(own.sides);
    return false;
}

bool near_reserve(reef_world *w)
{
    uint64_t bodies = reef_count(w, Body);
    if (bodies <= reef_single_get(w, Near)->capacity) return true;
    Near *own = reef_single_mut(w, Near);
    if (own == NULL) return false;
    bodies += bodies / 2 + 64;
    free(own->slots);
    own->slots = malloc((size_t)bodies * sizeof *own->slots);
    own->capacity = own->slots != NULL ? (uint32_t)bodies : 0;
    return own->slots != NULL;
}

void near_free(reef_world *w)
{
    const Near *own = w != NULL ? reef_single_get(w, Near) : NULL;
    if (own == NULL) return;
    free(own->slots);
    free(own->first);
    free(own->sides);
}

/* ---- sorting ---- */

void near_clear(reef_block *b)
{
    Near *own = reef_single_mut(b->world, Near);
    memset(own->first, 0, (NEAR_CELLS + 2) * sizeof *own->first);
    memset(own->sides, 0, NEAR_CELLS);
}

/* All rows of a block are in one table: they have the same tags. */
static uint8_t side_of(const reef_block *b)
{
    uint8_t side = reef_has(b->world, b->entities[0], Enemy) ? IS_ENEMY : IS_BYSTANDER;
    if (reef_has(b->world, b->entities[0], Hunter)) side |= IS_HUNTER;
    if (reef_has(b->world, b->entities[0], Boss)) side |= IS_BOSS;
    return side;
}

/* Counts into first[cell + 2]. */
void near_count(reef_block *b)
{
    Near *own = reef_single_mut(b->world, Near);
    const Position *at = reef_in(b, Position);
    Place *place = reef_out(b, Place);
    const uint8_t side = side_of(b);
    for (uint32_t i = 0; i < b->count; i++) {
        uint32_t cell = near_cell(at[i].y) * NEAR_SIDE + near_cell(at[i].x);
        place[i].cell = cell;
        own->first[cell + 2]++;
        own->sides[cell] |= side;
    }
}

void near_add_up(reef_block *b)
{
    Near *own = reef_single_mut(b->world, Near);
    for (uint32_t c = 0; c < NEAR_CELLS; c++) own->first[c + 2] += own->first[c + 1];
}

/* Before this, first[cell + 1] is the cell's first slot; afterwards it is the slot behind the cell's last one. */
void near_arrange(reef_block *b)
{
    Near *own = reef_single_mut(b->world, Near);
    Place *place = reef_inout(b, Place);
    for (uint32_t i = 0; i < b->count; i++) place[i].slot = own->first[place[i].cell + 1]++;
}

void near_show(reef_block *b)
{
    const Near *own = reef_single_get(b->world, Near);
    const Position *at = reef_in(b, Position);
    const Velocity *v = reef_in(b, Velocity);
    const Body *body = reef_in(b, Body);
    const Place *place = reef_inout(b, Place);
    const uint16_t side = side_of(b);
    for (uint32_t i = 0; i < b->count; i++)
        own->slots[place[i].slot] =
            (seen){at[i].x, at[i].y, v[i].x, v[i].y, body[i].radius, (uint16_t)body[i].kind, side, b->entities[i]};
}
