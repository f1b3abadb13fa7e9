/* Who is related to an entity: the index from a target to its sources, one for each type of relation.
 *
 *   heads    target's index ─► {number of the root, number of sources}
 *   nodes    a B+ tree for each target; its leaves hold the sources in the order of their places
 *
 * A relation is a value of its source: {target, place, data} in the type's store (src/storage/sparse_store.h), which
 * is state like any other value. The index follows from the values, so it is no state: no hash, file or difference
 * knows it. Snapshots and forks share its pages, so that they needn't make it anew.
 *
 * Whatever puts a value into a store of relations or takes one out keeps the index true (reef__relation_index_add and
 * reef__relation_index_remove). A value without a place gets the one behind all others of
 * its target. Where there is no memory for that, the index is dropped: the store is *without an index* then, reading
 * walks all values of the store, and the next change that needs the index makes it anew. So what keeps the index true
 * can't fail. */
#ifndef REEF_STORAGE_RELATION_INDEX_H
#define REEF_STORAGE_RELATION_INDEX_H

#include "storage/cow_pages.h"
#include "storage/sparse_store.h"

/* How every value of a relation begins. */
typedef struct relation_value {
    REEF_ALIGNAS(8) reef_entity target;
    uint64_t place; /* its sources are ordered by this, and equal ones by handle; 0: not placed yet */
} relation_value;

extern const paged_type reef__pages_heads, reef__pages_nodes;

/* The value of a relation has come, or is about to go: the index of targets follows. */
void reef__relation_index_add(reef_world *w, value_store *s, reef_entity source, void *value);
void reef__relation_index_remove(reef_world *w, value_store *s, reef_entity source, const void *value);
/* A target without sources will get n of them: it gets room for them at once, if there is memory. */
void reef__relation_expect(reef_world *w, value_store *s, reef_entity target, uint32_t n);
/* Drops the index of a store, whose values were changed as a whole. */
void reef__relation_forget(reef_world *w, value_store *s);
/* Makes the index of the store if it has none. False: there is no memory. */
bool reef__relation_ready(reef_world *w, value_store *s);
/* Gives places to the values of a store without an index that have none. False: there is no memory. */
bool reef__relation_place(reef_world *w, value_store *s);
/* reef__relation_ready for all stores of relations. */
bool reef__relations_ready(reef_world *w);

/* Does the target of a relation die together with its source (world.doomed)? */
INLINE bool relation_is_doomed(const reef_world *w, const relation_value *v)
{
    return w->doomed && w->doomed[v->target.index / 8] >> (v->target.index & 7) & 1;
}
/* Ends the trees of targets that died together with all of their sources (world.doomed). */
void reef__relation_end(reef_world *w, value_store *s, const reef_entity *targets, uint32_t n);

/* What the index knows of a target. */
typedef struct tree_head {
    uint32_t root; /* number of the root's first unit + 1; 0: no sources */
    uint32_t count;
} tree_head;
enum { HEADS_PER_PAGE = 256 };
INLINE tree_head tree_head_of(const value_store *s, uint32_t index)
{
    const uint32_t page = index / HEADS_PER_PAGE;
    const tree_head *heads = LIKELY(page < s->heads.count) ? (const tree_head *)s->heads.page[page] : NULL;
    return heads ? heads[index % HEADS_PER_PAGE] : (tree_head){0, 0};
}

/* The number of sources of a target that is alive. */
uint64_t reef__relation_sources(const value_store *s, reef_entity target);
/* Has it any? */
INLINE bool relation_has_sources(const value_store *s, reef_entity target)
{
    return LIKELY(!s->unindexed) ? tree_head_of(s, target.index).count != 0 : reef__relation_sources(s, target) != 0;
}

/* All relations that a source has, side by side; *n says how many. */
const relation_value *reef__relations_of(const value_store *s, reef_entity source, uint32_t *n);
INLINE const relation_value *relation_nth(const value_store *s, const relation_value *first, uint32_t i)
{
    return (const relation_value *)(const void *)((const char *)first + (size_t)i * s->size);
}
/* The relation of a source to a target, and in *number (may be NULL) which of the source's it is. NULL: there is none.
 */
const relation_value *reef__relation_find(const value_store *s, reef_entity source, reef_entity target,
                                          uint32_t *number);

/* Some sources of one target that lie side by side: those behind `place` and `after`. */
typedef struct source_run {
    const reef_entity *sources;
    const uint64_t *places;
    uint32_t count;
} source_run;
/* The first run behind a place (0 and a null handle: the first of all). Without an index it is a single source, which
 * is kept in `one`. False: there is none. */
typedef struct source_one {
    reef_entity source;
    uint64_t place;
} source_one;
bool reef__relation_after(const value_store *s, reef_entity target, uint64_t place, reef_entity after, source_one *one,
                          source_run *run);
/* A walk over all sources of a target, a run at a time. Begins as {.run = {0}}. */
typedef struct source_walk {
    source_run run;
    source_one last, one; /* the last source of the run; a run without an index */
} source_walk;
INLINE bool source_walk_next(source_walk *x, const value_store *s, reef_entity target)
{
    if (!reef__relation_after(s, target, x->last.place, x->last.source, &x->one, &x->run)) return false;
    x->last = (source_one){x->run.sources[x->run.count - 1], x->run.places[x->run.count - 1]};
    return true;
}
/* The last source before a place. False: there is none. */
bool reef__relation_before(const value_store *s, reef_entity target, uint64_t place, reef_entity source,
                           source_one *before);

/* Does a relation of an acyclic type lead back to its source? REEF_OK: none. CYCLE: *in is in the circle. NO_MEMORY. */
reef_status reef__relation_circle(const reef_world *w, const value_store *s, reef_entity *in);
/* Is the index what the values say? NULL, or what is wrong; *number is the entity. */
const char *reef__relation_wrong(const reef_world *w, const value_store *s, uint64_t *number);

enum {
    RELATION_STEP_BITS = 24, /* log2 of the distance of two places behind each other */
    RELATION_FIRST_BITS = 62 /* log2 of the place of a target's first source */
};

#endif
