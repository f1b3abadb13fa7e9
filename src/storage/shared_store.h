/* storage/shared_store: TODO */
#ifndef REEF_STORAGE_SHARED_STORE_H
#define REEF_STORAGE_SHARED_STORE_H

#include "base/platform.h"
#include "type/type.h"
#include "type/value.h"
#include "storage/family.h"
#include "storage/sparse_store.h"
#include "reef/type.h"

void reef__shared_release(void *value); /* the last holder ends it */
INLINE void held_end(const type *t, void *value)
{
    if (t->home == REEF_SHARED) reef__shared_release(value);
    else value_destroy(t, value);
}

typedef struct shared_head {
    uint32_t holders; /* by any thread */
    uint32_t component;
    uint32_t world; /* number of the only one that may write it in place; 0: none */
    family *family;
    uint64_t version; /* of the world, when it became its own */
    uint64_t written; /* by the world: the version of the last write */
    void *copy;       /* while the world's slots are claimed, under the lock: what will take its place */
} shared_head;

INLINE shared_head *head_of(const void *value)
{
    return (shared_head *)(uintptr_t)((const char *)value - sizeof(shared_head));
}
bool reef__is_own(const reef_world *w, const shared_head *h);

void *reef__shared_make(reef_world *w, const type *t); /* raw, with one holder. NULL: no memory */
void reef__shared_discard(void *value);                /* raw again, and held by nobody but the caller */
void reef__shared_hold(const void *value);
uint64_t reef__shared_written(const void *value); /* the version of the last write */
void reef__shared_mark(const void *value, uint64_t version);

/* The value in the slot for writing, for all of the world's entities that have it; its page is ours. NULL: no
 * memory, or a hook refused. */
void *reef__shared_own(reef_world *w, value_store *s, uint32_t slot);
bool reef__shared_own_all(reef_world *w, uint32_t component); /* all of them, and their pages */

/* The entity of the lowest index that has the same value as e; of each slot, its index (as many as there are
 * values). NULL: no memory. */
reef_entity reef__shared_first(const value_store *s, reef_entity e);
uint32_t *reef__shared_firsts(const reef_world *w, const value_store *s);
void reef__shared_firsts_free(const reef_world *w, const value_store *s, uint32_t *firsts);
const char *reef__shared_wrong(const reef_world *w, const value_store *s, uint64_t *number); /* NULL: they are sound */

#endif
