/* What a state consists of, as a table of its kinds.
 *
 * Whoever works on whole states walks this table: sharing and dropping, history, hash, comparison, difference, merging
 * and files. The keys of one kind come in the order of the types' names, in one state or in two side by side. */
#ifndef REEF_STORAGE_STATE_KIND_H
#define REEF_STORAGE_STATE_KIND_H

#include "storage/cow_pages.h"
#include "storage/sparse_store.h"

/* ---- containers and arrays ---- */

/* A copy-on-write container of a state, with the owner that its calls need. */
typedef struct state_part {
    reef_paged *pages;
    paged_owner owner;
    store_pages values; /* of a store's values: the owner points here */
} state_part;

/* Container i of a state. False: there is none of this number. */
bool reef__part_at(family *f, reef_hot *h, state *s, uint32_t i, state_part *part);
/* The number that container i of state `from` has in state `to`. Where `to` has no such container, the number of
 * none. */
uint32_t reef__part_like(const state *from, uint32_t i, const state *to);

/* *to becomes *from with arrays of its own; its containers are those of `from`, without references to them. False: no
 * memory. */
bool reef__state_copy(family *f, state *to, const state *from);
/* The same for a state that there is already: it gives up its containers and arrays. Arrays of the right size are used
 * again, so that going back again and again asks for no memory. False: no memory, and nothing changed. */
bool reef__state_become(family *f, reef_hot *h, state *s, const state *from);
/* `to` has the plain fields and the arrays of `from`. It gets a reference to each container. This can't fail. */
void reef__state_share(family *f, reef_hot *to_hot, state *to, const reef_hot *from_hot, const state *from);
/* The memory that a copy's arrays take. */
size_t reef__state_array_bytes(const state *s);
/* Gives up this holder's references to a state, and empties the struct. */
void reef__state_drop(family *f, reef_hot *h, state *s);

/* ---- the elements that belong to a type ---- */

typedef enum state_kind { STATE_BITS, STATE_TRACKS, STATE_STORES, STATE_EVENTS } state_kind;

/* A key of one kind. Begins as {0}, or behind a type as state_key_behind says. */
typedef struct state_key {
    uint32_t key;     /* the type's id; of bits as bit_store.key */
    const type *type; /* NULL: the bits are marks of whole entities */
    bool begun;
} state_key;

INLINE state_key state_key_behind(const type *t) { return (state_key){t ? t->id : 0, t, t != NULL}; }

/* The next key that a state of the two worlds has, in the visible order: by type name, of bits the marks last. `other`
 * may be NULL. An element may be empty. False: there is none left. */
bool reef__state_next(state_kind kind, const reef_world *w, const reef_world *other, state_key *k);

#endif
