/* Homes outside of the rows: sparse, paged, cold, multi, shared.
 *
 *   who has it     a bit of the row, as for REEF_BIT (src/storage/row_bits.c): rows that move take it along. Not for
 *                  REEF_COLD
 *   its value      in the type's store, by entity index:
 *
 *     REEF_PAGED   values[index >> bits] ─► page: generations, values           the slot is the index itself
 *     the others   index[index >> 9]     ─► {generation, slot}
 *                  values[slot >> bits]  ─► page: entities, values
 *                     sparse, cold, shared: slots 0 ... count - 1, without holes
 *                     multi:                a run of slots an entity (src/storage/multi_store.c); pages: entities,
 *                                           runs, values
 *
 * A generation that matches proves that the entity is alive and has it: the store forgets an entity with its
 * component. All pages are copy-on-write (paged.h), with a version each; a shared page with hooks is copied by its
 * hooks.
 *
 * As everywhere: ..._prepare and ..._own may fail and change nothing visible; what follows can't fail. */
#ifndef REEF_STORAGE_SPARSE_STORE_H
#define REEF_STORAGE_SPARSE_STORE_H

#include "base/platform.h"
#include "type/type.h"
#include "storage/archetype.h"
#include "storage/cow_pages.h"
#include "storage/family.h"
#include "storage/invalidate.h"
#include "storage/row_bits.h"
#include "storage/world_data.h"
#include "reef/detail/access.h"

typedef reef_store value_store; /* reef/detail/layout.h */

/* The owner of a store's pages of values; `pages` lasts as long as it. Those of its index: reef__pages_index. */
typedef struct store_pages {
    paged_type type;
    const value_store *store;
    reef_world *world; /* that copies pages of default values: they are made anew (src/world/fork_policy.c) */
    bool refused;      /* a hook did */
    family *family;
} store_pages;
extern const paged_type reef__pages_index;
paged_owner reef__store_owner(family *f, const value_store *s, store_pages *pages);
/* The inlined calls see the stores of the state: after another state came. */
void reef__stores_view(reef_world *w);
bool reef__stores_shrink(reef_world *w); /* pages without values go. False: no memory */

/* The store of a type; an empty one if this state has none. */
INLINE const value_store *store_of(const reef_world *w, uint32_t component)
{
    const reef_hot *h = &w->hot;
    return &h->stores[LIKELY(component < h->store_room) ? h->store_number[component] : 0];
}

/* The stores of REEF_COLD, whose entities have no bit that says so: in order of first use. */
#define EACH_COLD_STORE(w, s) \
    for (const value_store *s = &(w)->hot.stores[(w)->hot.stores->cold]; s->component; s = &(w)->hot.stores[s->cold])

/* The value of an entity, of a multi the first; NULL: it hasn't got it, or is dead. (A tag in REEF_COLD: somewhere.) */
INLINE const void *store_find(const reef_world *w, uint32_t component, reef_entity e)
{
    return reef_store_find(store_of(w, component), e);
}
INLINE bool store_has(const reef_world *w, uint32_t component, reef_entity e)
{
    return store_find(w, component, e) != NULL;
}
/* The same of a store of REEF_COLD. */
INLINE bool cold_has(const value_store *s, reef_entity e)
{
    const uint32_t page = e.index >> REEF_INDEX_BITS;
    const uint64_t *entry = page < s->index.count ? (const uint64_t *)s->index.page[page] : NULL;
    return entry && entry[e.index & ((1u << REEF_INDEX_BITS) - 1)] >> 32 == e.generation;
}
/* How many values follow side by side for the entities e[0 ... n-1], which all have it: at least 1. */
uint32_t reef__store_run(const value_store *s, const reef_entity *e, uint32_t n);
/* The version of the last write to the page where the value lies (0: none). */
uint64_t reef__store_version(const value_store *s, reef_entity e);

/* For writing: the page of the entity's value ours and marked as written at the world's version. NULL: no memory (it
 * has it). */
void *reef__store_own(reef_world *w, uint32_t component, reef_entity e);
/* All pages ours, marked or not: before systems that write run. */
bool reef__store_own_all(reef_world *w, uint32_t component, bool mark);
/* While systems run: the page of the entity's value ours, and if it wasn't, written at `version`; one thread at a
 * time for a type. (Other pages aren't touched: what isn't written stays as old as it is.) */
bool reef__store_claim(reef_world *w, uint32_t component, reef_entity e, uint64_t version);
/* Page of an owned value marked as written at `version`: several threads may do this. */
void reef__store_mark_at(const value_store *s, reef_entity e, uint64_t version);

/* Adding: room for n more values (of entities e[0 ... n-1], which don't have it), all pages ours. Then for each, in
 * this order: the raw slot of number i, filled by the caller; when all are filled, commit makes them visible. */
bool reef__store_prepare_add(reef_world *w, uint32_t component, const reef_entity *e, uint32_t n);
/* The same of any n entities, some of which have it. */
bool reef__store_prepare_add_some(reef_world *w, uint32_t component, const reef_entity *e, uint64_t n);
void *reef__store_raw(const reef_world *w, uint32_t component, reef_entity e, uint32_t i);
void reef__store_commit_add(reef_world *w, uint32_t component, reef_entity e);
/* The entity that came last has none again; its value was taken from its slot. */
void reef__store_undo_add(reef_world *w, uint32_t component, reef_entity e);

/* Removing: pages ours that dropping touches. Then the value ends (its destroy hook runs) and the entity is
 * forgotten. */
bool reef__store_prepare_drop(reef_world *w, uint32_t component, reef_entity e);
void reef__store_drop(reef_world *w, uint32_t component, reef_entity e);
/* Of n entities in any order, of whom any may have it. */
bool reef__store_prepare_drop_all(reef_world *w, uint32_t component);

/* Values of page `page` that are there, for whoever looks at all of them: the next slot from *slot on; its value and
 * entity. */
typedef struct store_place {
    reef_entity entity;
    void *value;
    uint32_t slot, number; /* number: of an entity's values in REEF_MULTI, in the order of adding */
} store_place;
/* at->slot: to begin with, then of the next */
bool reef__store_each(const value_store *s, uint32_t page, store_place *at);

INLINE uint64_t store_entities(const value_store *s) { return s->multi ? s->run_count : s->count; } /* that have it */
uint32_t reef__store_page_live(const value_store *s, uint32_t page); /* of REEF_PAGED: values on a page that is there */

size_t reef__store_offset(const value_store *s, uint32_t rows); /* of the values in a page of so many slots */

/* A page of values, and that of the index where an entity's entry is, for writing. NULL: no memory. */
char *reef__store_page_own(reef_world *w, value_store *s, uint32_t page);
uint64_t *reef__store_index_own(reef_world *w, value_store *s, uint32_t index);

/* ---- values that entities have in common (src/storage/shared_store.c) ---- */
/* The slot of an entity's value itself, its page ours and marked. */
void *reef__store_slot_own(reef_world *w, uint32_t component, reef_entity e);

/* ---- slots, and the straight paths ---- */

INLINE uint32_t slot_mask(const value_store *s) { return (1u << s->bits) - 1; }
INLINE size_t mark_bytes(const value_store *s)
{
    if (s->paged) return sizeof(uint32_t);
    return s->multi ? sizeof(reef_entity) + sizeof(uint32_t) : sizeof(reef_entity);
}
INLINE char *slot_value(const value_store *s, uint32_t slot)
{
    return (char *)s->values.page[slot >> s->bits] + s->offset + (size_t)(slot & slot_mask(s)) * s->size;
}

/* Who has slot i of a page; generation 0: nobody. `page` is its number. */
INLINE reef_entity slot_entity(const value_store *s, const void *block, uint32_t page, uint32_t i)
{
    reef_entity e;
    if (s->paged) return (reef_entity){(page << s->bits) + i, ((const uint32_t *)block)[i]};
    memcpy(&e, (const char *)block + i * sizeof e, sizeof e);
    return e;
}
/* The same by the slot's number. */
INLINE reef_entity slot_owner(const value_store *s, uint32_t slot)
{
    return slot_entity(s, s->values.page[slot >> s->bits], slot >> s->bits, slot & slot_mask(s));
}
/* How many values a page of REEF_PAGED has: behind its marks. */
INLINE uint32_t *page_live(const value_store *s, void *block) { return (uint32_t *)block + ((size_t)1 << s->bits); }
INLINE uint64_t *index_entry(const value_store *s, uint32_t index)
{
    return (uint64_t *)s->index.page[index >> REEF_INDEX_BITS] + (index & ((1u << REEF_INDEX_BITS) - 1));
}
/* Where the value of an entity that has it lies. */
INLINE uint32_t slot_of(const value_store *s, reef_entity e)
{
    return s->paged ? e.index : (uint32_t)*index_entry(s, e.index);
}

/* What carries the world's version is what the inlined mut writes without a call; so a page of a tracked type gets a
 * version that is past. */
INLINE void values_mark(reef_world *w, value_store *s, uint32_t page)
{
    s->values.version[page] = w->hot.version;
    world_touch(w);
    if (UNLIKELY(s->tracked)) version_advance(w);
}

/* The value is in its raw slot: it is seen now. All pages are ours. */
INLINE void store_put(reef_world *w, value_store *s, reef_entity e)
{
    const uint32_t slot = s->paged ? e.index : (uint32_t)s->count, page = slot >> s->bits, i = slot & slot_mask(s);
    char *block = s->values.page[page];
    if (s->paged) {
        ((uint32_t *)(void *)block)[i] = e.generation;
        ++*page_live(s, block);
    } else {
        memcpy(block + i * sizeof e, &e, sizeof e);
        *index_entry(s, e.index) = (uint64_t)e.generation << 32 | slot;
    }
    s->count++;
    values_mark(w, s, page);
}

/* Remembers the page of values of a slot, where a value comes or goes; the page of the index of an entity. False: it
 * isn't this world's own, or the values weren't written at this version. Both hold while `lately_gate` stays. */
bool reef__page_lately(const reef_hot *hot, const value_store *store, reef_page_near *page, uint32_t slot);
bool reef__index_lately(const reef_hot *hot, value_store *store, uint32_t index);

/* Did any type ever have a store in this world? */
INLINE bool stored_any(const reef_world *w) { return UNLIKELY(w->state.store_count != 0); }
/* Has the entity at this place of this table the component? */
INLINE bool component_there(const reef_world *w, const type *t, reef_entity e, uint32_t place, uint32_t table_id)
{
    if (t->bit) return reef__bit_has(w, t->id, place);
    return t->stored ? store_has(w, t->id, e) : slot_find(w, t->id, table_id) != 0;
}

#endif
