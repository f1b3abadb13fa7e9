/* The fast path of a row from one table to another. All conditions are tested first, without writing anything;
 * then the row moves, and nothing can fail.
 *
 *   handle -> row_place_find: record, place, chunk -> edge_cached: the edge -> edge_open: conditions -> edge_go: move
 *
 * Only src/change/component.c and row_change.c include this. Everything is inlined there, because these instructions
 * are the whole cost of add, set and remove. */
#ifndef REEF_CHANGE_ROW_MOVE_H
#define REEF_CHANGE_ROW_MOVE_H

#include "type/value.h"
#include "storage/entity_index.h"
#include "storage/place.h"
#include "reef/detail/access.h"

INLINE uint32_t edge_index(uint64_t key) { return (uint32_t)((key << 1 >> 34) * 31 + key) & (EDGE_CACHE - 1); }

/* An entity's record, its content, and the entity's chunk. Records are read and written by halves: an entity that
 * moves keeps its generation. */
typedef struct row_place {
    char *record;
    reef_slot *slots;
    handle h;
    uint32_t place;
} row_place;

/* For a handle whose entity is alive. */
INLINE row_place row_place_of(const reef_world *w, reef_entity e)
{
    row_place x;
    x.h = handle_of(e);
    x.record = (char *)(uintptr_t)reef_record_at(&w->hot, HANDLE_INDEX(x.h));
    memcpy(&x.place, x.record + 4 * REEF_RECORD_PLACE, 4);
    x.slots = reef_slots_at(&w->hot, x.place);
    return x;
}
/* False: the handle is stale. */
INLINE bool row_place_find(const reef_world *w, row_place *x, reef_entity e)
{
    uint32_t generation;
    if (UNLIKELY(HANDLE_INDEX(handle_of(e)) >= w->hot.index_count)) return false;
    *x = row_place_of(w, e);
    memcpy(&generation, x->record + 4 * REEF_RECORD_GENERATION, 4);
    return LIKELY(generation == HANDLE_GENERATION(x->h));
}

INLINE uint64_t row_place_key(const row_place *x, reef_component c, bool remove)
{
    return edge_key(x->slots[0].head.table, c.id, remove);
}

/* Is the edge of this key cached? If so, it is in the entry of the edge that was used last. Where the gate is closed
 * nothing is written there: systems run, and two threads that copied different edges would leave a mixture of both. */
INLINE bool edge_cached(reef_world *w, uint64_t key, bool remove, uint64_t gate)
{
    struct edge_entry *cached = &w->edge_cache[EDGE_CACHE + remove];
    if (LIKELY(cached->key == key)) return true;
    if (gate == UINT64_MAX) return false;
    *cached = w->edge_cache[edge_index(key)];
    return cached->key == key;
}

/* The component that the edge used last adds or removes. It is one of tables. */
INLINE uint32_t edge_component(const reef_world *w, bool remove)
{
    return (uint32_t)(w->edge_cache[EDGE_CACHE + remove].key >> 1);
}

/* Do all conditions of the fast path along this edge hold? The chunk was written at the gate's version
 * (dead entities and those without a row are in no such chunk), both tables are leased, and the new table has room. */
INLINE bool edge_open(const struct edge_entry *k, const row_place *x, uint64_t gate)
{
    if (UNLIKELY(x->slots[SLOT_ENTITIES].version != gate)) return false;
    const table *from = k->from, *to = k->to;
    return LIKELY(from->lease == gate && to->lease == gate && to->next != to->end && place_row(from->next - 1) != 0);
}

/* Finds the entity, and the edge used last. False: the fast path isn't open along it. */
INLINE bool edge_at(reef_world *w, row_place *x, reef_entity e, reef_component c, bool remove, uint64_t gate)
{
    return LIKELY(row_place_find(w, x, e)) && LIKELY(edge_cached(w, row_place_key(x, c, remove), remove, gate)) &&
           LIKELY(edge_open(&w->edge_cache[EDGE_CACHE + remove], x, gate));
}

/* The row's old place, its new place, and the last row of the old table, which fills the hole: their slots, and the
 * rows as offsets in a column of 8 bytes. */
typedef struct moving_row {
    const reef_slot *to, *here, *tail;
    size_t to_at, at, last_at;
} moving_row;

/* Moves a column of 8 bytes that both tables have. `hole`, here and below, is a constant: the last row fills the hole,
 * so it isn't the row that goes. */
INLINE void word_move(const moving_row *x, const edge_move *m, bool hole)
{
    char *here = slot_by(x->here, m->from) + x->at;
    uint64_t p, q = 0;
    memcpy(&p, here, 8);
    if (hole) memcpy(&q, slot_by(x->tail, m->from) + x->last_at, 8);
    memcpy(slot_by(x->to, m->to) + x->to_at, &p, 8);
    if (hole) memcpy(here, &q, 8);
}

INLINE void words_move(const moving_row *x, const edge_move *m, uint32_t count, bool hole)
{
    for (; count > 0; count -= 4, m += 4) {
        word_move(x, m, hole);
        if (LIKELY(count == 1)) return;
        word_move(x, m + 1, hole);
        if (count == 2) return;
        word_move(x, m + 2, hole);
        if (count == 3) return;
        word_move(x, m + 3, hole);
    }
}

INLINE const reef_slot *slots_by(const reef_slot *slots, size_t offset)
{
    return (const reef_slot *)(const void *)((const char *)slots + offset);
}

/* A value of 16 bytes. pair_move moves column k, counted from these slots. */
typedef struct word_pair {
    uint64_t a, b;
} word_pair;

INLINE void pair_move(const moving_row *x, const reef_slot *to, const reef_slot *slots, const reef_slot *tail, size_t k,
                      bool hole)
{
    char *here = (char *)slots[k].block + 2 * x->at;
    word_pair p, q = {0, 0};
    memcpy(&p, here, 16);
    if (hole) memcpy(&q, (char *)tail[k].block + 2 * x->last_at, 16);
    memcpy((char *)to[k].block + 2 * x->to_at, &p, 16);
    if (hole) memcpy(here, &q, 16);
}

/* Moves columns of 16 bytes that lie side by side in both tables. Each has instructions of its own, so that the
 * processor learns the stride of each. (Seven columns in a loop took 1.35 times as long.) */
INLINE void pairs_move(const moving_row *x, size_t from, size_t to_slot, uint32_t count, bool hole)
{
    const reef_slot *to = slots_by(x->to, to_slot), *slots = slots_by(x->here, from), *tail = slots_by(x->tail, from);
    for (;; count -= 8, to += 8, slots += 8, tail += 8) {
        switch (count) {
        default: pair_move(x, to, slots, tail, 7, hole); /* fall through */
        case 7: pair_move(x, to, slots, tail, 6, hole);  /* fall through */
        case 6: pair_move(x, to, slots, tail, 5, hole);  /* fall through */
        case 5: pair_move(x, to, slots, tail, 4, hole);  /* fall through */
        case 4: pair_move(x, to, slots, tail, 3, hole);  /* fall through */
        case 3: pair_move(x, to, slots, tail, 2, hole);  /* fall through */
        case 2: pair_move(x, to, slots, tail, 1, hole);  /* fall through */
        case 1: pair_move(x, to, slots, tail, 0, hole);  /* fall through */
        case 0: break;
        }
        if (LIKELY(count <= 8)) return;
    }
}

/* Moves columns of any other size. This is the caller's last step; it gives back `answer` for the caller to return. */
static NOINLINE uintptr_t cells_go(const struct edge_entry *c, const reef_slot *slots, uint32_t place, uintptr_t answer)
{
    const edge *e = c->edge;
    const size_t row = place_row(place), to_row = place_row(c->to->next - 1), last_row = place_row(c->from->next);
    for (const edge_move *m = e->move + e->end_16, *end = e->move + e->count; m < end; m++) {
        char *here = slot_by(slots, m->from) + row * m->size;
        bytes_copy(slot_by(c->to->tail, m->to) + to_row * m->size, here, m->size);
        memmove(here, slot_by(c->from->tail, m->from) + last_row * m->size, m->size);
    }
    return answer;
}

/* Moves the row along an edge. The new column gets `value`, or zeros if `value` is NULL; with `made` the value is there
 * already. It gives back `answer`, or if that is 0 the address of the new cell, NULL if there is none. `word`,
 * `remove`, `hole` and `made` are constants; `word` says that the component is 8 bytes wide or a tag. */
INLINE uintptr_t row_move_by_edge(reef_world *w, const struct edge_entry *c, const row_place *x, const void *value,
                                  bool word, bool remove, uintptr_t answer, bool hole, bool made)
{
    const edge *e = c->edge;
    table *from = c->from, *d = c->to;
    const uint32_t place = x->place, last = from->next - 1, to_place = d->next;
    const moving_row k = {d->tail, x->slots, from->tail, place_word(to_place), place_word(place), place_word(last)};
    if (!remove && !made && e->slot) { /* first, because the value may lie in the row that moves */
        char *fresh = (char *)k.to[e->slot].block + (word ? k.to_at : place_row(to_place) * (size_t)e->size);
        if (value && word) memcpy(fresh, value, 8);
        else if (value) bytes_copy(fresh, value, e->size);
        else memset(fresh, 0, word ? 8 : e->size);
        if (answer == 0) answer = (uintptr_t)fresh;
    }
    if (remove && hole && e->slot) {
        char *gone = k.here[e->slot].block;
        const char *end = k.tail[e->slot].block;
        if (word) memcpy(gone + k.at, end + k.last_at, 8);
        else bytes_copy(gone + place_row(place) * (size_t)e->size, end + place_row(last) * (size_t)e->size, e->size);
    }
    memcpy((char *)k.to[SLOT_ENTITIES].block + k.to_at, &x->h, 8);
    if (hole) {
        handle moved;
        memcpy(&moved, (const char *)k.tail[SLOT_ENTITIES].block + k.last_at, 8);
        memcpy((char *)k.here[SLOT_ENTITIES].block + k.at, &moved, 8);
        record_replace(w, HANDLE_INDEX(moved), place);
    }
    d->next = to_place + 1;
    from->next = last;
    w->hot.moves++;
    memcpy(x->record + 4 * REEF_RECORD_PLACE, &to_place, 4);
    words_move(&k, e->move, e->end_8, hole);
    if (LIKELY(e->rest == 0)) return answer;
    const uint32_t before = e->pair_count, behind = (uint32_t)(e->end_16 - e->end_8) - before;
    pairs_move(&k, e->pair_from, e->pair_to, before, hole);
    if (!word && behind)
        pairs_move(&k, e->pair_from + (before + remove) * sizeof(reef_slot),
                   e->pair_to + (before + !remove) * sizeof(reef_slot), behind, hole);
    return UNLIKELY(e->count != e->end_16) ? cells_go(c, k.here, place, answer) : answer;
}
/* The last row of a table leaves no hole, and it is often the next one that goes: so it has a path of its own. (Rows
 * of seven columns that go in the order in which they came: 12 to 17% less.) */
INLINE uintptr_t edge_go(reef_world *w, const struct edge_entry *c, const row_place *x, const void *value, bool word,
                         bool remove, uintptr_t answer)
{
    return LIKELY(x->place != c->from->next - 1) ? row_move_by_edge(w, c, x, value, word, remove, answer, true, false)
                                                 : row_move_by_edge(w, c, x, value, word, remove, answer, false, false);
}

/* edge_go for components of other sizes; edge_open held. (If a row_place were a parameter, it would be written to the
 * stack in halves and read back whole, which makes the processor wait.) */
static NOINLINE uintptr_t wide_go(reef_world *w, const struct edge_entry *c, char *record, reef_slot *slots, handle h,
                                  const void *value)
{
    row_place x = {record, slots, h, 0};
    memcpy(&x.place, record + 4 * REEF_RECORD_PLACE, 4);
    return c->edge->key & 1 ? edge_go(w, c, &x, NULL, false, true, 1) : edge_go(w, c, &x, value, false, false, 0);
}
INLINE void *edge_go_wide(reef_world *w, const struct edge_entry *c, const row_place *x, const void *value)
{
    return (void *)wide_go(w, c, x->record, x->slots, x->h, value);
}

/* Adds along an edge, whatever the component's size; `value` NULL: zeros. */
INLINE void *edge_add(reef_world *w, const struct edge_entry *c, const row_place *x, const void *value)
{
    return LIKELY(c->edge->word) ? (void *)edge_go(w, c, x, value, true, false, 0) : edge_go_wide(w, c, x, value);
}

#endif
