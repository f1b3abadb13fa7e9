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

/* The edge of this key, if it is cached, in the entry for what was used lately. Where the gate is shut nothing is put there: systems
 * run, several may be here at once, and of two edges there would be one that is neither. */
INLINE uint32_t edge_lately(reef_world *w, uint64_t key, bool remove, uint64_t gate)
{
    const uint32_t i = EDGE_CACHE + remove;
    if (UNLIKELY(w->edge_cache[i].key != key) && gate != UINT64_MAX) w->edge_cache[i] = w->edge_cache[edge_index(key)];
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

INLINE void word_copy(char *to, size_t to_at, const char *from, size_t from_at) { memcpy(to + to_at, from + from_at, 8); }

/* Kept columns of 8 bytes move on, and the last row's come into the hole. */
INLINE void words_move(const edge *e, const reef_slot *to, size_t to_at, const reef_slot *slots, size_t at, const reef_slot *tail,
                       size_t last_at)
{
    for (const edge_move *m = e->move, *end = m + e->end_8; m < end; m++) {
        char *here = slot_by(slots, m->from) + at;
        uint64_t x, y;
        memcpy(&x, here, 8);
        memcpy(&y, slot_by(tail, m->from) + last_at, 8);
        memcpy(slot_by(to, m->to) + to_at, &x, 8);
        memcpy(here, &y, 8);
    }
}

/* The same of one column of 16 bytes, and of those of any size. */
typedef struct pair { uint64_t a, b; } pair;

INLINE void pair_move(const edge_move *m, const reef_slot *to, size_t to_at, const reef_slot *slots, size_t at, const reef_slot *tail,
                      size_t last_at)
{
    char *here = slot_by(slots, m->from) + at;
    pair x, y;
    memcpy(&x, here, 16);
    memcpy(&y, slot_by(tail, m->from) + last_at, 16);
    memcpy(slot_by(to, m->to) + to_at, &x, 16);
    memcpy(here, &y, 16);
}

static NOINLINE uintptr_t cells_go(const reef_world *w, uint32_t i, const reef_slot *slots, uint32_t place, uintptr_t answer)
{
    const edge *e = w->edge_cache[i].edge;
    const table *from = w->edge_cache[i].from, *d = w->edge_cache[i].to;
    const size_t row = place_row(place), to_row = place_row(d->next - 1), last_row = place_row(from->next);
    for (const edge_move *m = e->move + e->end_16, *end = e->move + e->count; m < end; m++) {
        char *here = slot_by(slots, m->from) + row * m->size;
        bytes_copy(slot_by(d->tail, m->to) + to_row * m->size, here, m->size);
        memmove(here, slot_by(from->tail, m->from) + last_row * m->size, m->size);
    }
    return answer;
}

/* The columns that aren't 8 bytes wide, after all else is done: the caller's last step, so that nothing of it is kept over a call.
 * Gives back `answer`. */
static NOINLINE uintptr_t rest_go(const reef_world *w, uint32_t i, const reef_slot *slots, uint32_t place, uintptr_t answer)
{
    const struct edge_entry *c = &w->edge_cache[i];
    const edge *e = c->edge;
    const reef_slot *tail = c->from->tail, *to = c->to->tail;
    const size_t at = place_pair(place), to_at = place_pair(c->to->next - 1), last_at = place_pair(c->from->next);
    const edge_move *m = e->move + (BUG(10) ? e->end_16 : e->end_8), *end = e->move + e->end_16;
    if ((end - m) & 1) pair_move(m++, to, to_at, slots, at, tail, last_at);
    for (; m < end; m += 2) {
        pair_move(m, to, to_at, slots, at, tail, last_at);
        pair_move(m + 1, to, to_at, slots, at, tail, last_at);
    }
    return UNLIKELY(e->count != e->end_16) ? cells_go(w, i, slots, place, answer) : answer;
}

/* Moves the row along edge i. The new column gets `value`, or zero. What comes back is `answer`, or if that is 0, the new cell, NULL
 * if there is none. `word` and `remove` are constants: the component is 8 bytes wide or a tag. */
INLINE uintptr_t edge_go(reef_world *w, const spot *x, uint32_t i, const void *value, bool word, bool remove, uintptr_t answer)
{
    const edge *e = w->edge_cache[i].edge;
    table *from = w->edge_cache[i].from, *d = w->edge_cache[i].to;
    const reef_slot *tail = from->tail, *to = d->tail;
    const uint32_t place = (uint32_t)x->value, last = from->next - 1, to_place = d->next;
    const size_t at = place_word(place), to_at = place_word(to_place), last_at = place_word(last);
    if (!remove && e->slot) { /* first: the value may lie in the row that moves */
        char *fresh = (char *)to[e->slot].block + (word ? to_at : place_row(to_place) * (size_t)e->size);
        if (value && word) memcpy(fresh, value, 8);
        else if (value) bytes_copy(fresh, value, e->size);
        else if (!BUG(15)) memset(fresh, 0, word ? 8 : e->size);
        if (answer == 0) answer = (uintptr_t)fresh;
    }
    words_move(e, to, to_at, x->slots, at, tail, last_at);
    if (remove && e->slot) {
        char *gone = x->slots[e->slot].block;
        const char *end = tail[e->slot].block;
        if (word) word_copy(gone, at, end, last_at);
        else memmove(gone + place_row(place) * (size_t)e->size, end + place_row(last) * (size_t)e->size, e->size);
    }
    handle moved;
    memcpy(&moved, (const char *)tail[SLOT_ENTITIES].block + last_at, 8);
    memcpy((char *)to[SLOT_ENTITIES].block + to_at, &x->h, 8);
    memcpy((char *)x->slots[SLOT_ENTITIES].block + at, &moved, 8);
    d->next = to_place + 1;
    from->next = last;
    handle_record_put(w, moved, place);
    *x->record = x->value - place + to_place;
    w->hot.moves++;
    return UNLIKELY(w->edge_cache[i].edge->rest) ? rest_go(w, i, x->slots, place, answer) : answer;
}

/* For components of other sizes; edge_open held. (A spot as a parameter would go over the stack, in halves, and be read back whole,
 * which makes the processor wait.) */
static NOINLINE uintptr_t wide_add(reef_world *w, uint64_t *record, reef_slot *slots, handle h, uint32_t i, const void *value)
{
    const spot x = {record, *record, slots, h};
    return edge_go(w, &x, i, value, false, false, 0);
}
static NOINLINE void wide_remove(reef_world *w, uint64_t *record, reef_slot *slots, handle h, uint32_t i)
{
    const spot x = {record, *record, slots, h};
    edge_go(w, &x, i, NULL, false, true, 1);
}
INLINE void *edge_go_wide(reef_world *w, const spot *x, uint32_t i, const void *value, bool remove)
{
    if (!remove) return (void *)wide_add(w, x->record, x->slots, x->h, i, value);
    wide_remove(w, x->record, x->slots, x->h, i);
    return NULL;
}

/* For rare callers too: of either kind. */
INLINE void *edge_add(reef_world *w, const spot *x, uint32_t i)
{
    return LIKELY(w->edge_cache[i].edge->word) ? (void *)edge_go(w, x, i, NULL, true, false, 0) : edge_go_wide(w, x, i, NULL, false);
}

#endif
