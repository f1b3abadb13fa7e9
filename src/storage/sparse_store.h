/* Values outside of the rows: the homes sparse, paged, cold, multi and shared.
 *
 *   who has it     a bit of the row, as for REEF_BIT (src/storage/row_bits.c), which moves with the row. REEF_COLD has
 *                  no such bit.
 *   its value      in the type's store, by entity index:
 *
 *     REEF_PAGED   values[index >> bits] ─► page: generations, values           the slot is the index itself
 *     the others   index[index >> 9]     ─► {generation, slot}
 *                  values[slot >> bits]  ─► page: entities, values
 *                     sparse, cold, shared: slots 0 ... count - 1, without holes
 *                     multi:                a run of slots for an entity (src/storage/multi_store.c); pages: entities,
 *                                           runs, values
 *
 * A generation that matches proves that the entity is alive and has the value: a store forgets an entity when its
 * component goes. All pages are copy-on-write (src/storage/cow_pages.h), and each has a version. A shared page of a
 * type with hooks is copied by these hooks.
 *
 * A function ..._prepare or ..._own may fail and changes nothing visible; what follows it can't fail. */
#ifndef REEF_STORAGE_SPARSE_STORE_H
#define REEF_STORAGE_SPARSE_STORE_H

#include "storage/archetype.h"
#include "storage/cow_pages.h"
#include "storage/invalidate.h"
#include "storage/relation_calls.h"
#include "storage/row_bits.h"
#include "reef/detail/access.h"
#include "reef/relation.h"

typedef reef_store value_store; /* reef/detail/layout.h has its members */

/* The owner of a store's pages of values. `pages` must last as long as the owner is used. The pages of the index have
 * the owner of reef__pages_index. */
typedef struct store_pages {
    paged_type type;
    const value_store *store;
    /* a world that copies pages as default values, which are constructed anew (src/world/fork_policy.c) */
    reef_world *world;
    bool refused; /* a hook has refused */
    family *family;
} store_pages;
extern const paged_type reef__pages_index;
paged_owner reef__store_owner(family *f, const value_store *s, store_pages *pages);
/* Points the inlined calls to the stores of the state. To be called after another state came. */
void reef__stores_view(reef_world *w);
bool reef__stores_shrink(reef_world *w); /* frees the pages without values. False: there is no memory */
/* Makes room for the values of `count` new entities, whose ids are prepared. False: there is no memory. */
bool reef__stores_reserve(reef_world *w, const reef_component *types, uint32_t type_count, uint32_t count);
reef_status reef__stores_validate(const reef_world *w, char *message, size_t size);
/* Only this: each value belongs to an entity that is alive and has a row. What follows relations relies on it. */
reef_status reef__stores_validate_owners(const reef_world *w, char *message, size_t size);

/* The store of a type; an empty one if this state has none. */
INLINE const value_store *store_of(const reef_world *w, uint32_t component)
{
    const reef_hot *h = &w->hot;
    return &h->stores[LIKELY(component < h->store_room) ? h->store_number[component] : 0];
}

/* Walks the stores of REEF_COLD, whose entities have no bit, in order of first use. */
#define EACH_COLD_STORE(w, s) \
    for (const value_store *s = &(w)->hot.stores[(w)->hot.stores->cold]; s->component; s = &(w)->hot.stores[s->cold])

/* Walks the stores of relations that group rows (REEF_GROUPED), in order of first use. */
#define EACH_GROUPED_STORE(w, s) \
    for (const value_store *s = &(w)->hot.stores[(w)->hot.stores->grouped]; s->component; \
         s = &(w)->hot.stores[s->grouped])

/* The value of an entity, in REEF_MULTI its first one. NULL: the entity is dead or hasn't got it. (For a tag in
 * REEF_COLD the pointer only says that the entity has it.) */
INLINE const void *store_find(const reef_world *w, uint32_t component, reef_entity e)
{
    return reef_store_find(store_of(w, component), e);
}
INLINE bool store_has(const reef_world *w, uint32_t component, reef_entity e)
{
    return store_find(w, component, e) != NULL;
}
/* Does an entity have a value in this store of REEF_COLD? */
INLINE bool cold_has(const value_store *s, reef_entity e)
{
    const uint32_t page = e.index >> REEF_INDEX_BITS;
    const uint64_t *entry = page < s->index.count ? (const uint64_t *)s->index.page[page] : NULL;
    return entry && entry[e.index & ((1u << REEF_INDEX_BITS) - 1)] >> 32 == e.generation;
}
/* The number of values, at least 1, that lie side by side for the entities e[0 ... n-1], which all have one. */
uint32_t reef__store_run(const value_store *s, const reef_entity *e, uint32_t n);
/* The version of the last write to the page of an entity's value; 0: it has none. */
uint64_t reef__store_version(const value_store *s, reef_entity e);

/* The value of an entity that has one, for writing: its page is owned and marked as written at the world's version.
 * NULL: there is no memory. */
void *reef__store_own(reef_world *w, uint32_t component, reef_entity e);
/* Owns all pages, before systems run that write; with `mark` they also count as written. */
bool reef__store_own_all(reef_world *w, uint32_t component, bool mark);
/* Owns the page of the entity's value while systems run. If it was shared, it counts as written at `version`. Only one
 * thread at a time may do this for a type. Other pages aren't touched, so that what isn't written stays as old as it
 * is. */
bool reef__store_claim(reef_world *w, uint32_t component, reef_entity e, uint64_t version);
/* Marks the page of an owned value as written at `version`. Several threads may do this. */
void reef__store_mark_at(const value_store *s, reef_entity e, uint64_t version);

/* Adding. reef__store_prepare_add makes room for the values of e[0 ... n-1], which have none, on owned pages. Then, for
 * each value: reef__store_raw is its raw slot, which the caller fills, and reef__store_commit_add makes it visible. */
bool reef__store_prepare_add(reef_world *w, uint32_t component, const reef_entity *e, uint32_t n);
/* The same for any n entities, some of which may have a value. */
bool reef__store_prepare_add_some(reef_world *w, uint32_t component, const reef_entity *e, uint64_t n);
void *reef__store_raw(const reef_world *w, uint32_t component, reef_entity e);
void reef__store_commit_add(reef_world *w, uint32_t component, reef_entity e);
/* Takes the value away from the entity that got one last; the caller has emptied its slot. */
void reef__store_undo_add(reef_world *w, uint32_t component, reef_entity e);

/* Removing. reef__store_prepare_drop owns the pages that dropping touches; reef__store_drop destroys the value and
 * forgets the entity. */
bool reef__store_prepare_drop(reef_world *w, uint32_t component, reef_entity e);
void reef__store_drop(reef_world *w, uint32_t component, reef_entity e);
/* The same for those of many entities that have a value in a store of REEF_PAGED without hooks, the last one first;
 * their names are forgotten already. */
void reef__store_drop_many(reef_world *w, value_store *s, const reef_entity *e, uint32_t n);
/* Prepares the last n values of a store without holes to move into others' slots. */
bool reef__store_prepare_last(reef_world *w, value_store *s, uint32_t n);
/* The same for n entities in any order, whether they have a value or not. */
bool reef__store_prepare_drop_all(reef_world *w, uint32_t component);

/* Walks the values on a page: finds the next one from at->slot on, and says where it is and whose. */
typedef struct store_place {
    reef_entity entity;
    void *value;
    uint32_t slot, number; /* number: among the values of one entity in REEF_MULTI, in the order of adding */
    uint32_t page;         /* of reef__store_next */
} store_place;
/* at->slot is where the search begins; it becomes the slot behind the one that was found. False: there is none left. */
bool reef__store_each(const value_store *s, uint32_t page, store_place *at);
/* The same over all pages. `at` begins as {.page = 0}. */
bool reef__store_next(const value_store *s, store_place *at);

/* the number of entities with a value */
INLINE uint64_t store_entities(const value_store *s) { return s->multi ? s->run_count : s->count; }

/* offset of the values in a page with this many slots */
size_t reef__store_offset(const value_store *s, uint32_t rows);

/* A page of values for writing, and the page of the index with an entity's entry. NULL: there is no memory. */
char *reef__store_page_own(reef_world *w, value_store *s, uint32_t page);
uint64_t *reef__store_index_own(reef_world *w, value_store *s, uint32_t index);

/* ---- values that entities have in common (src/storage/shared_store.c) ---- */
/* The slot of an entity's value itself, on an owned and marked page. */
void *reef__store_slot_own(reef_world *w, uint32_t component, reef_entity e);

/* ---- slots, and the fast paths ---- */

INLINE uint32_t slot_mask(const value_store *s) { return (1u << s->bits) - 1; }
INLINE size_t owner_bytes(const value_store *s)
{
    if (s->paged) return sizeof(uint32_t);
    return s->multi ? sizeof(reef_entity) + sizeof(uint32_t) : sizeof(reef_entity);
}
INLINE char *slot_value(const value_store *s, uint32_t slot)
{
    return (char *)s->values.page[slot >> s->bits] + s->offset + (size_t)(slot & slot_mask(s)) * s->size;
}

/* The entity of slot i of a page; generation 0: nobody's. `page` is the number of the page. */
INLINE reef_entity slot_entity(const value_store *s, const void *block, uint32_t page, uint32_t i)
{
    reef_entity e;
    if (s->paged) return (reef_entity){(page << s->bits) + i, ((const uint32_t *)block)[i]};
    memcpy(&e, (const char *)block + i * sizeof e, sizeof e);
    return e;
}
/* The same by the number of the slot. */
INLINE reef_entity slot_owner(const value_store *s, uint32_t slot)
{
    return slot_entity(s, s->values.page[slot >> s->bits], slot >> s->bits, slot & slot_mask(s));
}
/* The number of values on a page of REEF_PAGED, which is kept behind its generations. */
INLINE uint32_t *page_live(const value_store *s, void *block) { return (uint32_t *)block + ((size_t)1 << s->bits); }
INLINE uint64_t *index_entry(const value_store *s, uint32_t index)
{
    return (uint64_t *)s->index.page[index >> REEF_INDEX_BITS] + (index & ((1u << REEF_INDEX_BITS) - 1));
}
/* The slot of the value of an entity that has one. */
INLINE uint32_t slot_of(const value_store *s, reef_entity e)
{
    return s->paged ? e.index : (uint32_t)*index_entry(s, e.index);
}

/* Marks a page as written now; of a tracked type as column_mark (src/storage/place.h) says. */
INLINE void values_mark(reef_world *w, value_store *s, uint32_t page)
{
    s->values.version[page] = w->hot.version - s->tracked;
    reef__invalidate(w, INVALIDATE_WRITTEN);
}

/* Do names depend on the values of this store, which are the entities' parents? */
INLINE bool scopes_names(const reef_world *w, const value_store *s)
{
    return UNLIKELY(w->state.name_count != 0) && s->parents;
}

/* Was this page written at this version, so that store_put may put a value there? */
INLINE bool page_is_ready(const reef_world *w, const value_store *s, uint32_t page)
{
    return page < s->values.count && s->values.version[page] == w->hot.version && s->values.page[page] != NULL;
}
/* The part of store_put for REEF_PAGED, without the index of relations. */
INLINE void paged_put(reef_world *w, value_store *s, reef_entity e)
{
    const uint32_t page = e.index >> s->bits;
    char *block = s->values.page[page];
    ((uint32_t *)(void *)block)[e.index & slot_mask(s)] = e.generation;
    ++*page_live(s, block);
    s->count++;
    values_mark(w, s, page);
}
/* Makes the value in its raw slot visible. This world owns all pages that it needs. */
INLINE void store_put(reef_world *w, value_store *s, reef_entity e)
{
    const uint32_t slot = s->paged ? e.index : (uint32_t)s->count, page = slot >> s->bits;
    if (s->paged) {
        paged_put(w, s, e);
    } else {
        memcpy((char *)s->values.page[page] + (slot & slot_mask(s)) * sizeof e, &e, sizeof e);
        *index_entry(s, e.index) = (uint64_t)e.generation << 32 | slot;
        s->count++;
        values_mark(w, s, page);
    }
    if (UNLIKELY(s->relation)) reef__relations_by->index_add(w, s, e, slot_value(s, slot));
}

/* Remembers the page of values of a slot, where a value comes or goes; the page of the index of an entity. False: it
 * isn't this world's own, or the values weren't written at this version. Both hold while `cached_gate` stays. */
bool reef__page_cached(const reef_hot *hot, const value_store *store, reef_page_near *page, uint32_t slot);
bool reef__index_cached(const reef_hot *hot, value_store *store, uint32_t index);

/* Did any type ever have a store in this world? */
INLINE bool stored_any(const reef_world *w) { return UNLIKELY(w->state.store_count != 0); }
/* Does the entity at this place of this table have the component? */
INLINE bool component_there(const reef_world *w, const type *t, reef_entity e, uint32_t place, uint32_t table_id)
{
    if (t->bit) return reef__bit_has(w, t->id, place);
    return t->stored ? store_has(w, t->id, e) : slot_find(w, t->id, table_id) != 0;
}

#endif
