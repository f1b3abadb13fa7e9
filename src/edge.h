/* The straight path of a row from one table to another: everything it needs is tested read-only, then the row moves.
 *
 *   handle -> spot: record, place, chunk -> edge_lately: the edge that was used lately -> edge_open: all holds -> edge_go: the row moves
 *
 * For src/component.c alone: inlined there, since add, set and remove are what their instructions are. */
#ifndef REEF_EDGE_H
#define REEF_EDGE_H

#include "change.h"

INLINE uint32_t edge_index(uint64_t key) { return (uint32_t)((key >> 33) * 31 + key) & (EDGE_CACHE - 1); }

/* An entity's record, where it lies, and its chunk. */
typedef struct spot {
    uint64_t  *record, value;
    reef_slot *slots;
    handle     h;
} spot;

/* False: the handle is stale. */
INLINE bool spot_find(const reef_world *w, spot *x, reef_entity e)
{
    x->h = handle_of(e);
    if (UNLIKELY(HANDLE_INDEX(x->h) >= w->hot.index_count)) return false;
    x->record = (uint64_t *)(uintptr_t)reef_record_at(&w->hot, HANDLE_INDEX(x->h));
    x->value = *x->record;
    x->slots = reef_slots_at(&w->hot, (uint32_t)x->value);
    return LIKELY((uint32_t)(x->value >> 32) == HANDLE_GENERATION(x->h));
}

INLINE uint64_t spot_key(const spot *x, reef_component c, bool remove)
{
    return edge_key(x->slots[0].head.table, c.id, remove && !BUG(2));
}

/* The edge of this key, if it is cached, in the entry for what was used lately. */
INLINE uint32_t edge_lately(reef_world *w, uint64_t key, bool remove)
{
    const uint32_t i = EDGE_CACHE + remove;
    if (UNLIKELY(w->edge_cache[i].key != key)) w->edge_cache[i] = w->edge_cache[edge_index(key)];
    return i;
}

/* Does all hold that the straight path along the cached edge `i` needs? The chunk is ours (dead entities and those without a
 * row are in no such chunk), both ends are leased, there is room. */
INLINE bool edge_open(const reef_world *w, const spot *x, uint64_t key, uint32_t i, uint64_t gate)
{
    if (UNLIKELY(x->slots[SLOT_ENTITIES].version != gate || w->edge_cache[i].key != key)) return false;
    const table *from = w->edge_cache[i].from, *to = w->edge_cache[i].to;
    return LIKELY(from->lease == gate && to->lease == gate && to->next != to->end && place_row(from->next - 1) != 0);
}

INLINE void word_copy(const reef_slot *to, size_t to_row, const reef_slot *from, size_t from_row)
{
    memcpy((char *)to->block + to_row * 8, (const char *)from->block + from_row * 8, 8);
}

/* Kept columns of 8 bytes move on, and the last row's come into the hole. */
INLINE void words_move(const edge *e, const reef_slot *to, size_t to_row, const reef_slot *slots, size_t row, const reef_slot *tail,
                       size_t last_row)
{
    for (const edge_move *m = e->move, *end = m + e->end_8; m < end; m++) {
        char *here = slot_by(slots, m->from) + row * 8;
        uint64_t x, y;
        memcpy(&x, here, 8);
        memcpy(&y, slot_by(tail, m->from) + last_row * 8, 8);
        memcpy(slot_by(to, m->to) + to_row * 8, &x, 8);
        memcpy(here, &y, 8);
    }
}

/* The same for columns of 16 bytes and of any size. */
typedef struct pair { uint64_t a, b; } pair;

INLINE void pairs_move(const edge *e, const reef_slot *to, size_t to_row, const reef_slot *slots, size_t row, const reef_slot *tail,
                       size_t last_row)
{
    const edge_move *first = e->move + (BUG(10) ? e->end_16 : e->end_8), *end = e->move + e->end_16;
    for (const edge_move *m = first; m < end; m++) {
        char *here = slot_by(slots, m->from) + row * 16;
        pair x, y;
        memcpy(&x, here, 16);
        memcpy(&y, slot_by(tail, m->from) + last_row * 16, 16);
        memcpy(slot_by(to, m->to) + to_row * 16, &x, 16);
        memcpy(here, &y, 16);
    }
}

static NOINLINE void cells_move(const edge *e, const reef_slot *to, size_t to_row, const reef_slot *slots, size_t row,
                                const reef_slot *tail, size_t last_row)
{
    for (const edge_move *m = e->move + e->end_16, *end = e->move + e->count; m < end; m++) {
        char *here = slot_by(slots, m->from) + row * m->size;
        bytes_copy(slot_by(to, m->to) + to_row * m->size, here, m->size);
        memmove(here, slot_by(tail, m->from) + last_row * m->size, m->size);
    }
}

/* Moves the row along edge i. The new column gets `value`, or zero; what comes back is its cell, NULL if there is none.
 * `narrow` and `remove` are constants: all columns are 8 bytes wide, and nothing is spilled. */
INLINE void *edge_go(reef_world *w, const spot *x, uint32_t i, const void *value, bool narrow, bool remove)
{
    const edge *e = w->edge_cache[i].edge;
    table *from = w->edge_cache[i].from, *d = w->edge_cache[i].to;
    const reef_slot *tail = from->tail, *to = d->tail;
    const uint32_t place = (uint32_t)x->value, last = from->next - 1, to_place = d->next;
    const size_t row = place_row(place), to_row = place_row(to_place), last_row = place_row(last);
    char *fresh = NULL;
    if (!remove && e->slot) { /* first: the value may lie in the row that moves */
        fresh = (char *)to[e->slot].block + to_row * (narrow ? 8 : e->size);
        if (value && (narrow || e->size == 8)) memcpy(fresh, value, 8);
        else if (value) bytes_copy(fresh, value, e->size);
        else if (!BUG(15)) memset(fresh, 0, narrow ? 8 : e->size);
    }
    words_move(e, to, to_row, x->slots, row, tail, last_row);
    if (!narrow) pairs_move(e, to, to_row, x->slots, row, tail, last_row);
    if (!narrow && e->count != e->end_16) cells_move(e, to, to_row, x->slots, row, tail, last_row);
    if (remove && e->slot) {
        if (narrow || e->size == 8) word_copy(&x->slots[e->slot], row, &tail[e->slot], last_row);
        else memmove((char *)x->slots[e->slot].block + row * e->size, (const char *)tail[e->slot].block + last_row * e->size, e->size);
    }
    const handle moved = handle_at(tail, last_row);
    memcpy((char *)to[SLOT_ENTITIES].block + to_row * 8, &x->h, 8);
    memcpy((char *)x->slots[SLOT_ENTITIES].block + row * 8, &moved, 8);
    d->next = to_place + 1;
    from->next = last;
    handle_record_put(w, moved, place);
    *x->record = x->value - place + to_place;
    w->hot.moves++;
    return fresh;
}

/* For edges with columns that aren't 8 bytes wide; edge_open held. (A spot as a parameter would go over the stack, in halves,
 * and be read back whole, which makes the processor wait.) */
static NOINLINE void *wide_add(reef_world *w, uint64_t *record, reef_slot *slots, handle h, uint32_t i, const void *value)
{
    const spot x = {record, *record, slots, h};
    return edge_go(w, &x, i, value, false, false);
}
static NOINLINE void wide_remove(reef_world *w, uint64_t *record, reef_slot *slots, handle h, uint32_t i)
{
    const spot x = {record, *record, slots, h};
    edge_go(w, &x, i, NULL, false, true);
}
INLINE void *edge_go_wide(reef_world *w, const spot *x, uint32_t i, const void *value, bool remove)
{
    if (!remove) return wide_add(w, x->record, x->slots, x->h, i, value);
    wide_remove(w, x->record, x->slots, x->h, i);
    return NULL;
}

#endif
