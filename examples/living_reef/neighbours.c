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
    free(n->cell);
    memset(n, 0, sizeof *n);
}

static bool make_room(neighbours *n, uint64_t count)
{
    if (count <= n->capacity) return true;
    size_t capacity = (size_t)count + (size_t)count / 4;
    free(n->fish);
    free(n->entity);
    free(n->cell);
    n->fish = malloc(capacity * sizeof *n->fish);
    n->entity = malloc(capacity * sizeof *n->entity);
    n->cell = malloc(capacity * sizeof *n->cell);
    n->capacity = (uint32_t)capacity;
    return n->fish != NULL && n->entity != NULL && n->cell != NULL;
}

/* Counts the fish of each cell into first[cell + 1]. */
static void count_cells(neighbours *n, const sea *s, reef_world *world, reef_query *query)
{
    uint32_t seen_so_far = 0;
    memset(n->first, 0, ((size_t)n->cells + 1) * sizeof *n->first);
    for (reef_block b = reef_begin(world, query); reef_next(&b);) {
        const Position *p = reef_in(&b, Position);
        for (uint32_t i = 0; i < b.count; i++) {
            uint32_t c = sea_cell(s, p[i].x, p[i].y);
            n->cell[seen_so_far++] = c;
            n->first[c + 1]++;
        }
    }
    n->count = seen_so_far;
}

/* Puts each fish at its cell's next place, which leaves first[cell] at the start of the following cell. */
static void place_fish(neighbours *n, const species_table *table, reef_world *world, reef_query *query)
{
    uint32_t k = 0;
    memset(n->hunters, 0, n->cells * sizeof *n->hunters);
    for (reef_block b = reef_begin(world, query); reef_next(&b);) {
        const Position *p = reef_in(&b, Position);
        const Velocity *v = reef_in(&b, Velocity);
        const Species *s = reef_in(&b, Species);
        for (uint32_t i = 0; i < b.count; i++, k++) {
            uint32_t c = n->cell[k], at = n->first[c]++, kind = s[i].index;
            n->fish[at] = (seen){p[i].x, p[i].y, v[i].x, v[i].y, kind};
            n->entity[at] = b.entities[i];
            if (table->of[kind].prey != 0) n->hunters[c] |= (uint64_t)1 << kind;
        }
    }
}

bool neighbours_sort(neighbours *n, const sea *s, const species_table *table, reef_world *world, reef_query *query)
{
    if (!make_room(n, reef_query_count(query))) return false;
    count_cells(n, s, world, query);
    for (uint32_t c = 0; c < n->cells; c++) n->first[c + 1] += n->first[c];
    place_fish(n, table, world, query);
    memmove(n->first + 1, n->first, n->cells * sizeof *n->first);
    n->first[0] = 0;
    return true;
}
