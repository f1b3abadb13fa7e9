/* The REEF_SHARED home: one value that many entities have in common. A value lies in memory of its own behind a head
 * with the number of its holders; a slot of the type's store holds a pointer to it. */
#ifndef REEF_STORAGE_SHARED_STORE_H
#define REEF_STORAGE_SHARED_STORE_H

#include "type/value.h"
#include "storage/sparse_store.h"
#include "reef/type.h"

void reef__shared_release(void *value); /* gives up one hold; the last holder destroys the value */
INLINE void held_end(const type *t, void *value)
{
    if (t->home == REEF_SHARED) reef__shared_release(value);
    else value_destroy(t, value);
}

typedef struct shared_head {
    uint32_t holders; /* number of holders, which any thread may change */
    uint32_t component;
    uint32_t world; /* number of the only world that may write it in place; 0: none may */
    family *family;
    uint64_t version; /* version of that world when the value became its own */
    uint64_t written; /* version of that world's last write */
    void *copy;       /* while systems claim the world's slots, under the lock: the value that will take its place */
} shared_head;

INLINE shared_head *head_of(const void *value)
{
    return (shared_head *)(uintptr_t)((const char *)value - sizeof(shared_head));
}
bool reef__is_own(const reef_world *w, const shared_head *h);

void *reef__shared_make(reef_world *w, const type *t); /* raw memory with one holder. NULL: there is no memory */
void reef__shared_discard(void *value);                /* frees raw memory that only the caller holds */
void reef__shared_hold(const void *value);
void reef__shared_mark(const void *value, uint64_t version); /* says when it was written last */

/* Makes the value in a slot writable, for all entities of this world that have it in common. This world owns the slot's
 * page. NULL: there is no memory, or a hook refused. */
void *reef__shared_own(reef_world *w, value_store *s, uint32_t slot);
bool reef__shared_own_all(reef_world *w, uint32_t component); /* does so for all values, and owns their pages */

/* reef__shared_first: the entity with the lowest index among those that share the value of e. reef__shared_firsts: the
 * index of that entity for each slot, as many as there are values; NULL: there is no memory. shared_first_index: the
 * index by that list, or without one (NULL). */
reef_entity reef__shared_first(const value_store *s, reef_entity e);
uint32_t *reef__shared_firsts(const reef_world *w, const value_store *s);
INLINE uint32_t shared_first_index(const value_store *s, const uint32_t *firsts, reef_entity e)
{
    return firsts ? firsts[slot_of(s, e)] : reef__shared_first(s, e).index;
}
void reef__shared_firsts_free(const reef_world *w, const value_store *s, uint32_t *firsts);
/* what is wrong; NULL: nothing */
const char *reef__shared_wrong(const reef_world *w, const value_store *s, uint64_t *number);

#endif
