/* What creatures see of each other. */
#include "near.h"
#include <reef/place.h>

#include <stdlib.h>
#include <string.h>

/* Cells of two metres, as near_cell says. Only creatures have bodies, and all of them swim: so it carries these
 * alone. */
REEF_PLACE(Position, x, y, .cell = 2, .edges = {{-NEAR_SIDE, NEAR_SIDE}, {-NEAR_SIDE, NEAR_SIDE}}, .walls = true,
           .whole = true, .carries = "Body");

/* ---- memory ---- */

bool near_new(reef_world *w)
{
    Near own = {.sides = malloc(NEAR_CELLS)};
    if (own.sides != NULL && reef_single_set_id(w, reef_id(Near), &own, sizeof own) >= 0) return true;
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
    free(own->sides);
}

/* ---- slots ---- */

void near_open(reef_block *b)
{
    Near *own = reef_single_mut(b->world, Near);
    own->first = reef_place_cells_of(reef_placed(b, Position)).first;
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

void near_show(reef_block *b)
{
    const Near *own = reef_single_get(b->world, Near);
    const reef_place *places = reef_placed(b, Position);
    const uint32_t *cells = reef_place_cells_of(places).cell;
    uint32_t slots[REEF_BLOCK_ROWS];
    const Position *at = reef_in(b, Position);
    const Velocity *v = reef_in(b, Velocity);
    const Body *body = reef_in(b, Body);
    Place *place = reef_out(b, Place);
    const uint16_t side = side_of(b);
    reef_place_slots(places, b->entities, b->count, slots);
    for (uint32_t i = 0; i < b->count; i++) {
        const uint32_t slot = slots[i];
        place[i] = (Place){cells[slot], slot};
        own->slots[slot] =
            (seen){at[i].x, at[i].y, v[i].x, v[i].y, body[i].radius, (uint16_t)body[i].kind, side, b->entities[i]};
    }
}

void near_sides(reef_block *b)
{
    const Near *own = reef_single_mut(b->world, Near);
    const Place *place = reef_in(b, Place);
    const uint8_t side = side_of(b);
    for (uint32_t i = 0; i < b->count; i++) own->sides[place[i].cell] |= side;
}
