#include "neighbours.h"

#include <stdlib.h>
#include <string.h>

bool neighbours_new(neighbours *n, const sea *s)
{
    memset(n, 0, sizeof *n);
    n->cells = s->cells;
    n->first = malloc(((size_t)s->cells + 1) * sizeof *n->first);
    n->hunters = malloc(s->cells * sizeof *n->hunters);
    return n->first != NULL && n->hunters != NULL;
}

void neighbours_free(neighbours *n)
{
    free(n->first);
    free(n->hunters);
    free(n->fish);
    free(n->entity);
    free(n->course);
    memset(n, 0, sizeof *n);
}

static bool make_room(neighbours *n, uint64_t count)
{
    if (count <= n->capacity) return true;
    size_t capacity = (size_t)count + (size_t)count / 4;
    free(n->fish);
    free(n->entity);
    free(n->course);
    n->fish = malloc(capacity * sizeof *n->fish);
    n->entity = malloc(capacity * sizeof *n->entity);
    n->course = malloc(capacity * sizeof *n->course);
    n->capacity = (uint32_t)capacity;
    return n->fish != NULL && n->entity != NULL && n->course != NULL;
}

/* Counts the fish of each cell into first[cell + 1]. Until place_fish, a fish's Place is its cell. */
static void count_cells(neighbours *n, const sea *s, reef_world *world, reef_query placing)
{
    memset(n->first, 0, ((size_t)n->cells + 1) * sizeof *n->first);
    for (reef_block b = reef_begin(world, placing); reef_next(&b);) {
        const Position *p = reef_in(&b, Position);
        Place          *place = reef_out(&b, Place);
        for (uint32_t i = 0; i < b.count; i++) {
            place[i].index = sea_cell(s, p[i].x, p[i].y);
            n->first[place[i].index + 1]++;
        }
    }
}

/* Puts each fish at its cell's next place, which leaves first[cell] at the start of the following cell. */
static void place_block(neighbours *n, const species_table *table, reef_block *b)
{
    const Position *p = reef_in(b, Position);
    const Velocity *v = reef_in(b, Velocity);
    const Species  *s = reef_in(b, Species);
    const Energy   *energy = reef_in(b, Energy);
    Place          *place = reef_inout(b, Place);
    for (uint32_t i = 0; i < b->count; i++) {
        const species *of = &table->of[s[i].index];
        uint32_t       cell = place[i].index, at = n->first[cell]++;
        place[i].index = at;
        n->fish[at] = (seen){p[i].x, p[i].y, v[i].x, v[i].y, (uint16_t)s[i].index, energy[i].units < of->full / 4 * 3};
        n->entity[at] = b->entities[i];
        if (of->prey != 0) n->hunters[cell] |= (uint64_t)1 << s[i].index;
    }
}

bool neighbours_sort(neighbours *n, const sea *s, const species_table *table, reef_world *world, reef_query placing,
                     reef_query all)
{
    if (!make_room(n, reef_query_count(world, all))) return false;
    count_cells(n, s, world, placing);
    for (uint32_t c = 0; c < n->cells; c++) n->first[c + 1] += n->first[c];
    memset(n->hunters, 0, n->cells * sizeof *n->hunters);
    for (reef_block b = reef_begin(world, all); reef_next(&b);) place_block(n, table, &b);
    memmove(n->first + 1, n->first, n->cells * sizeof *n->first);
    n->first[0] = 0;
    return reef_last_error(world).status != REEF_NO_MEMORY;
}
