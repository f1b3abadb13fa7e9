/* What fish see of each other. */
#include "sight.h"

#include <stdlib.h>

/* ---- memory ---- */

bool sight_declare(uint32_t metres)
{
    const reef_place_desc place = {
        .fields = {"x", "y"}, .cell = CELL_METRES, .edges = {{0, metres}, {0, metres}}, .whole = true};
    return reef_place_declare(reef_id(Position), &place) == REEF_OK;
}

bool sight_new(reef_world *w)
{
    const Sea *s = reef_single_get(w, Sea);
    Sight own = {.cells = s->side * s->side};
    own.hunters = malloc(own.cells * sizeof *own.hunters);
    if (own.hunters != NULL && reef_single_set_id(w, reef_id(Sight), &own, sizeof own) >= 0) return true;
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
    free(own->hunters);
}

/* ---- slots ---- */

void open_eyes(reef_block *b)
{
    reef_single_mut(b->world, Sight)->first = reef_place_cells_of(reef_placed(b, Position)).first;
}

/* The slot of a fish's leader, or why there is none. */
static uint32_t slot_of_leader(const reef_world *w, const reef_place *places, reef_entity fish)
{
    const reef_entity leader = reef_target(w, fish, Follows);
    return reef_entity_is_null(leader) ? ALONE : reef_place_slot(places, leader);
}

void show(reef_block *b)
{
    const Sight *own = reef_single_get(b->world, Sight);
    const reef_place *places = reef_placed(b, Position);
    const uint32_t *cells = reef_place_cells_of(places).cell;
    uint32_t slots[REEF_BLOCK_ROWS];
    const Position *at = reef_in(b, Position);
    const Velocity *v = reef_in(b, Velocity);
    const Species *kind = reef_in(b, Species);
    const Energy *energy = reef_in(b, Energy);
    Place *place = reef_out(b, Place);
    Leader *leader = reef_inout(b, Leader);
    const uint64_t tick = reef_tick_count(b->world);
    reef_place_slots(places, b->entities, b->count, slots);
    for (uint32_t i = 0; i < b->count; i++) {
        const reef_entity fish = b->entities[i];
        const uint32_t slot = slots[i];
        place[i] = (Place){cells[slot], slot};
        if (looks_at_leader(fish, tick)) leader[i].slot = slot_of_leader(b->world, places, fish);
        else if (leader[i].slot != ALONE) leader[i].slot = FOLLOWING;
        own->leader[slot] = leader[i].slot;
        own->fish[slot] = (seen){at[i].x, at[i].y, v[i].x, v[i].y, fish, energy[i].units, kind[i].index};
    }
}

void watch(reef_block *b)
{
    const Sight *own = reef_single_get(b->world, Sight);
    const Sea *sea = reef_single_get(b->world, Sea);
    const Rules *rules = reef_single_get(b->world, Rules);
    Crowd *crowd = reef_out(b, Crowd);
    uint64_t hunting = 0;
    for (uint32_t s = 0; s < SPECIES_MAX; s++) hunting |= (uint64_t)(rules->table.of[s].prey != 0) << s;
    for (uint32_t i = 0; i < b->count; i++) {
        const uint32_t cell = sea_number(sea, b->entities[i]);
        crowd[i] = (Crowd){own->first[cell], own->first[cell + 1]};
        uint64_t there = 0;
        for (uint32_t k = crowd[i].first; k < crowd[i].end; k++) there |= (uint64_t)1 << own->fish[k].species;
        own->hunters[cell] = there & hunting;
    }
}
