#include "neighbours.h"

#include <stdlib.h>
#include <string.h>

bool neighbours_new(neighbours *n, const sea *s, reef_world *world)
{
    memset(n, 0, sizeof *n);
    n->cells = s->cells;
    n->first = malloc(((size_t)s->cells + 1) * sizeof *n->first);
    n->hunters = malloc(s->cells * sizeof *n->hunters);
    n->world = world;
    n->placing = reef_query_new(world, "in Position, out Place");
    n->all = reef_query_new(world, "in Position, in Velocity, in Species, in Energy, Place");
    n->hunting = reef_query_new(world, "in Position, in Species, with Hunter");
    bool asked = !reef_query_is_null(n->placing) && !reef_query_is_null(n->all) && !reef_query_is_null(n->hunting);
    return asked && n->first != NULL && n->hunters != NULL;
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
static void count_cells(neighbours *n, const sea *s)
{
    memset(n->first, 0, ((size_t)n->cells + 1) * sizeof *n->first);
    for (reef_block b = reef_begin(n->world, n->placing); reef_next(&b);) {
        const Position *p = reef_in(&b, Position);
        Place          *place = reef_out(&b, Place);
        for (uint32_t first = 0, run; (run = reef_block_run(&b, &first)) != 0; first += run)
            for (uint32_t i = first; i < first + run; i++) {
                place[i].index = sea_cell(s, p[i].x, p[i].y);
                n->first[place[i].index + 1]++;
            }
    }
}

/* Puts each fish at its cell's next place, which leaves first[cell] at the start of the following cell. */
static void place_fish(neighbours *n, const species_table *table, reef_block *b, uint32_t first, uint32_t end)
{
    const Position *p = reef_in(b, Position);
    const Velocity *v = reef_in(b, Velocity);
    const Species  *s = reef_in(b, Species);
    const Energy   *energy = reef_in(b, Energy);
    Place          *place = reef_inout(b, Place);
    for (uint32_t i = first; i < end; i++) {
        const species *of = &table->of[s[i].index];
        uint32_t       at = n->first[place[i].index]++;
        place[i].index = at;
        n->fish[at] = (seen){p[i].x, p[i].y, v[i].x, v[i].y, (uint16_t)s[i].index, energy[i].units < of->full / 4 * 3};
        n->entity[at] = b->entities[i];
    }
}

static void note_hunters(neighbours *n, const sea *s)
{
    memset(n->hunters, 0, n->cells * sizeof *n->hunters);
    reef_each(n->world, n->hunting, hunter) {
        const Position *at = reef_at_in(hunter, Position);
        n->hunters[sea_cell(s, at->x, at->y)] |= (uint64_t)1 << reef_at_in(hunter, Species)->index;
    }
}

bool neighbours_sort(neighbours *n, const sea *s, const species_table *table)
{
    if (!make_room(n, reef_query_count(n->world, n->all))) return false;
    count_cells(n, s);
    for (uint32_t c = 0; c < n->cells; c++) n->first[c + 1] += n->first[c];
    for (reef_block b = reef_begin(n->world, n->all); reef_next(&b);)
        for (uint32_t first = 0, run; (run = reef_block_run(&b, &first)) != 0; first += run)
            place_fish(n, table, &b, first, first + run);
    if (reef_last_error(n->world).status == REEF_NO_MEMORY) return false;
    memmove(n->first + 1, n->first, n->cells * sizeof *n->first);
    n->first[0] = 0;
    note_hunters(n, s);
    return true;
}
