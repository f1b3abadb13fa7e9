/* Sorting the fish by cell: a counting sort in four systems. */
#include "sight.h"

#include <stdlib.h>
#include <string.h>

/* ---- memory ---- */

bool sight_new(reef_world *w)
{
    const Sea *s = reef_single_get(w, Sea);
    Sight own = {.cells = s->side * s->side};
    own.first = malloc(((size_t)own.cells + 2) * sizeof *own.first); /* count and arrange need two more */
    own.hunters = malloc(own.cells * sizeof *own.hunters);
    if (own.first != NULL && own.hunters != NULL && reef_single_set_id(w, reef_id(Sight), &own, sizeof own) >= 0)
        return true;
    free(own.first);
    free(own.hunters);
    return false;
}

bool sight_reserve(reef_world *w, uint32_t fish)
{
    if (fish <= reef_single_get(w, Sight)->capacity) return true;
    Sight *own = reef_single_mut(w, Sight);
    size_t capacity = (size_t)fish + fish / 4;
    if (own == NULL) return false;
    free(own->fish);
    free(own->leader);
    free(own->course);
    free(own->gain);
    own->fish = malloc(capacity * sizeof *own->fish);
    own->leader = malloc(capacity * sizeof *own->leader);
    own->course = malloc(capacity * sizeof *own->course);
    own->gain = malloc(capacity * sizeof *own->gain);
    own->capacity =
        own->fish != NULL && own->leader != NULL && own->course != NULL && own->gain != NULL ? (uint32_t)capacity : 0;
    return own->capacity != 0;
}

void sight_free(reef_world *w)
{
    const Sight *own = w != NULL ? reef_single_get(w, Sight) : NULL;
    if (own == NULL) return;
    free(own->fish);
    free(own->leader);
    free(own->course);
    free(own->gain);
    free(own->first);
    free(own->hunters);
}

/* ---- sorting ---- */

void clear_sight(reef_block *b)
{
    Sight *own = reef_single_mut(b->world, Sight);
    memset(own->first, 0, ((size_t)own->cells + 2) * sizeof *own->first);
    memset(own->hunters, 0, own->cells * sizeof *own->hunters);
}

/* Counts into first[cell + 2]. */
void count(reef_block *b)
{
    Sight *own = reef_single_mut(b->world, Sight);
    const Sea *sea = reef_single_get(b->world, Sea);
    const Rules *rules = reef_single_get(b->world, Rules);
    const Position *at = reef_in(b, Position);
    const Species *kind = reef_in(b, Species);
    Place *place = reef_out(b, Place);
    for (uint32_t i = 0; i < b->count; i++) {
        uint32_t cell = sea_cell(sea, at[i].x, at[i].y);
        place[i].cell = cell;
        own->first[cell + 2]++;
        if (rules->table.of[kind[i].index].prey != 0) own->hunters[cell] |= (uint64_t)1 << kind[i].index;
    }
}

void add_up(reef_block *b)
{
    Sight *own = reef_single_mut(b->world, Sight);
    for (uint32_t c = 0; c < own->cells; c++) own->first[c + 2] += own->first[c + 1];
}

/* Before this, first[cell + 1] is the cell's first slot; afterwards it is the slot behind the cell's last one. */
void arrange(reef_block *b)
{
    Sight *own = reef_single_mut(b->world, Sight);
    Place *place = reef_inout(b, Place);
    for (uint32_t i = 0; i < b->count; i++) place[i].slot = own->first[place[i].cell + 1]++;
}

/* The slot of a fish's leader, or why there is none. */
static uint32_t slot_of_leader(const reef_world *w, reef_entity fish)
{
    const reef_entity leader = reef_target(w, fish, Follows);
    return reef_entity_is_null(leader) ? ALONE : reef_get(w, leader, Place)->slot;
}

void show(reef_block *b)
{
    const Sight *own = reef_single_get(b->world, Sight);
    const Position *at = reef_in(b, Position);
    const Velocity *v = reef_in(b, Velocity);
    const Species *kind = reef_in(b, Species);
    const Energy *energy = reef_in(b, Energy);
    const Place *place = reef_in(b, Place);
    Leader *leader = reef_inout(b, Leader);
    const uint64_t tick = reef_tick_count(b->world);
    for (uint32_t i = 0; i < b->count; i++) {
        const reef_entity fish = b->entities[i];
        if (looks_at_leader(fish, tick)) leader[i].slot = slot_of_leader(b->world, fish);
        else if (leader[i].slot != ALONE) leader[i].slot = FOLLOWING;
        own->leader[place[i].slot] = leader[i].slot;
        own->fish[place[i].slot] = (seen){at[i].x, at[i].y, v[i].x, v[i].y, fish, energy[i].units, kind[i].index};
    }
}
