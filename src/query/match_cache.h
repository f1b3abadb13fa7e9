/* Lists of the rows of a chunk that have a value in a store, and of where that value lies. They are remembered for
 * loops that ask for columns and for one stored component (src/query/match_cache.c). */
#ifndef REEF_QUERY_MATCH_CACHE_H
#define REEF_QUERY_MATCH_CACHE_H

#include "storage/sparse_store.h"
#include "query/query.h"
#include "reef/detail/layout.h"

typedef struct reef_cut join_row; /* reef/detail/layout.h */

/* The list of one chunk: which of its rows have the value, and where. */
typedef struct join_list {
    /* the versions of the chunk's handles and of its bits when the list was made; JOIN_NEVER: it has to be made again
     */
    uint64_t rows_at, bits_at;
    /* the store's count of moves when the list was made: while it stays the same, no value lies elsewhere */
    uint64_t moves;
    uint32_t first; /* slot of the first value */
    uint16_t rows, room;
    bool straight; /* the values follow one another, in one page */
    join_row row[];
} join_list;
#define JOIN_NEVER UINT64_MAX

enum { JOIN_BYTES = 1 << 20 }; /* larger values are too far apart for reef_cut */
enum { JOIN_PAGE_SIZE = 16 };  /* if values are larger, a page of memory has few rows that match */
/* Most rows of a list. In a chunk with more matching rows nothing is remembered: its blocks are long anyway, and the
 * list would be too. */
enum { JOIN_ROWS = 256 };

/* The rows of a chunk that was searched ahead. */
typedef struct join_found {
    uint32_t unit; /* 0: none */
    uint32_t rows; /* more than JOIN_ROWS: too many */
    uint16_t row[JOIN_ROWS + 2];
} join_found;

/* What a query remembers. */
typedef struct joining {
    uint64_t epoch; /* the epoch of the state that the lists belong to */
    uint32_t units; /* how many lists there is room for */
    uint32_t turn;  /* which element of `found` is written next */
    uint32_t next;  /* the slot behind that of the row that was found last */
    /* some list couldn't be kept, because its chunk was written at the version that the world had */
    bool young;
    join_list **list;    /* by unit; NULL: none */
    join_list *scratch;  /* has room for JOIN_ROWS rows */
    join_found found[2]; /* the next two chunks */
} joining;

/* Can the query's chunks be remembered? They can if its rows are those that have the one stored component that it asks
 * for, and nothing else decides by row or has to know the rows. */
INLINE bool query_joins(const query *q)
{
    const cutting *c = q->cut;
    if (!c->quick || c->term[0].size > JOIN_BYTES || q->since || q->tracked || q->optional_writes) return false;
    return q->only_switch == c->term[0].component;
}

/* Would some chunk be remembered if the world had a new version? If so, the loop makes one, unless another loop is
 * open: that one marks only once what it writes. */
INLINE bool join_is_young(const query *q)
{
    joining *j = q->cut->join;
    if (LIKELY(j == NULL || !j->young) || q->world->locks != 1) return false;
    j->young = false;
    return true;
}

/* The end of the run from r on: the rows are side by side, and so are their values. Such a run is a block of the loop.
 */
INLINE const join_row *join_run_end(const join_row *r, const join_row *end)
{
    const join_row *next = r + 1;
    while (next < end && next->row == next[-1].row + 1 && next->at == r->at && next->page == r->page) next++;
    return next;
}

/* Does slot `at` belong to the entity? */
INLINE bool slot_follows(const value_store *s, uint32_t at, const reef_entity *e)
{
    return at < s->count &&
           memcmp((const char *)s->values.page[at >> s->bits] + (at & slot_mask(s)) * sizeof *e, e, sizeof *e) == 0;
}

/* Fetches the list of a chunk, which is about to be read. */
INLINE void join_fetch(const join_list *list)
{
    const char *l = (const char *)list;
    PREFETCH(l), PREFETCH(l + 64), PREFETCH(l + 128), PREFETCH(l + 192);
}

/* The list of a chunk, if its rows and their bits weren't written since. NULL: there is none that is still right. */
INLINE join_list *join_of_rows(const joining *j, const reef_world *w, const reef_slot *slots, const bit_store *bits,
                               uint32_t unit)
{
    if (UNLIKELY(j == NULL || unit >= j->units || unit >= bits->words.count || j->epoch != w->state_epoch)) return NULL;
    join_list *l = j->list[unit];
    return LIKELY(l && l->rows_at == slots[SLOT_ENTITIES].version && l->bits_at == bits->words.version[unit]) ? l
                                                                                                              : NULL;
}
/* The list of a chunk with such bits, if it is still right; NULL otherwise. `shared`: several threads call this. */
const join_list *reef__join_find(const query *q, const reef_slot *slots, const bit_store *bits, uint32_t unit,
                                 bool shared);
/* Searches a chunk for the rows of which a list will be made, best two chunks early, and fetches their handles and
 * columns, which are a cache line for each. (One chunk early, making the list waited for them.) */
void reef__join_ahead(joining *j, const query *q, const match *m, const reef_slot *slots, const bit_store *bits,
                      uint32_t unit);
INLINE bool join_is_found(const joining *j, uint32_t unit)
{
    return j->found[0].unit == unit || j->found[1].unit == unit;
}
/* Forgets what was searched ahead, for a loop that ended early. */
INLINE void join_forget_ahead(const query *q)
{
    joining *j = q->cut->join;
    if (j) j->found[0].unit = j->found[1].unit = 0;
}
/* Makes the list. It is kept if the chunk wasn't written since the version `settled`; otherwise it lasts until the
 * next list is made. NULL: the chunk has too many rows, the store has too many pages, or memory is short. It isn't
 * called while systems run or other loops of the query are open. */
const join_list *reef__join_make(query *q, const match *m, const reef_slot *slots, const bit_store *bits, uint32_t unit,
                                 uint64_t settled);
/* Makes anew all lists that aren't right any more, as far as memory allows. It is called before several threads walk.
 */
void reef__joins_prepare(query *q, uint64_t settled);
void reef__joins_drop(query *q);

#endif
