/* Two worlds side by side: the merge of their tables, their queues of free ids, and the names that differ. */
#include "world/world_pair.h"
#include "base/memory.h"
#include "storage/archetype.h"
#include "storage/entity_index.h"
#include "storage/family.h"
#include "storage/name_index.h"
#include "reef/ref.h"

COLD bool reef__table_merge_begin(table_merge *m, const reef_world *a, const reef_world *b)
{
    *m = (table_merge){.world = {a, b}};
    for (int side = 0; side < 2; side++) m->ids[side] = reef__tables_sorted(m->world[side], &m->count[side]);
    return (m->ids[0] || m->count[0] == 0) && (m->ids[1] || m->count[1] == 0);
}

COLD bool reef__table_merge_next(table_merge *m, table_pair *next)
{
    *next = (table_pair){{NULL, NULL}, {0, 0}};
    for (int side = 0; side < 2; side++) {
        if (m->at[side] == m->count[side]) continue;
        next->id[side] = m->ids[side][m->at[side]];
        next->t[side] = table_read(m->world[side], next->id[side]);
    }
    const table *a = next->t[0], *b = next->t[1];
    const int order = a == NULL              ? 1
                      : b == NULL            ? -1
                      : a->shape == b->shape ? 0
                                             : reef__shape_compare(a->shape, b->shape);
    if (order) next->t[order < 0] = NULL; /* the other world doesn't have the lesser one */
    for (int side = 0; side < 2; side++) m->at[side] += next->t[side] != NULL;
    return a || b;
}

COLD void reef__table_merge_end(table_merge *m)
{
    for (int side = 0; side < 2; side++)
        reef__memory_free(&m->world[side]->family->memory, MEMORY_OTHER, m->ids[side],
                          m->count[side] * sizeof *m->ids[side]);
}

reef_entity reef__free_next(free_queue *q)
{
    while (q->at < q->end) {
        const uint32_t index = *ring_at(q->w, q->at++);
        if (index != RING_HOLE) return (reef_entity){index, (uint32_t)(record_read(q->w, index) >> 32)};
    }
    return (reef_entity){0, 0};
}

/* Goes to the end of a page that both worlds hold, and answers how many ids these are. An id that is taken from a queue
 * comes back at its end, on a page that is written then. */
static uint64_t free_shared(free_queue *a, free_queue *b)
{
    uint64_t n = RING_PER_PAGE - a->at % RING_PER_PAGE;
    if (a->at == a->end || b->at == b->end || a->w->state.ring_holes + b->w->state.ring_holes) return 0;
    if (ring_at(a->w, a->at) != ring_at(b->w, b->at)) return 0;
    if (n > a->end - a->at) n = a->end - a->at;
    if (n > b->end - b->at) n = b->end - b->at;
    a->at += n, b->at += n;
    return n;
}

uint64_t reef__free_same(free_queue *a, free_queue *b)
{
    for (uint64_t n = 0;; n++) {
        n += free_shared(a, b);
        free_queue x = *a, y = *b;
        const reef_entity e = reef__free_next(&x);
        if (e.generation == 0 || !reef_entity_equal(e, reef__free_next(&y))) return n;
        *a = x, *b = y;
    }
}

bool reef__name_walk_next(const reef_world *w, const reef_world *other, name_walk *n)
{
    while (n->number < w->state.name_count) {
        const uint32_t number = n->number++;
        if (other && name_shared(w, other, number)) continue;
        n->text = reef__name_at_number(w, number, &n->entity);
        n->other = other ? reef_name(other, n->entity) : NULL;
        if (n->other == NULL || strcmp(n->other, n->text) != 0) return true;
    }
    return false;
}
