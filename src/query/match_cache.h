/* Where the values of rows lie that have one outside of the rows, remembered for loops that ask for both
 * (src/query/match_cache.c). */
#ifndef REEF_QUERY_MATCH_CACHE_H
#define REEF_QUERY_MATCH_CACHE_H

#include "base/byte_hash.h"
#include "base/platform.h"
#include "storage/layout.h"
#include "storage/sparse_store.h"
#include "storage/state.h"
#include "storage/world_data.h"
#include "query/query.h"
#include "reef/detail/layout.h"

typedef struct reef_cut join_row; /* reef/detail/layout.h */

/* Of a chunk: its rows that have the value, and where. */
typedef struct join_list {
    /* the versions of the chunk's handles and of its bits when it was found; JOIN_NEVER: look again */
    uint64_t rows_at, bits_at;
    uint64_t moves; /* of the store: as long as these are the same, nobody's value is elsewhere */
    uint32_t first; /* slot of the first value */
    uint16_t rows, room;
    bool straight; /* the values follow one another, in one page */
    bool alone;    /* a block of its own; else a part of a piece */
    join_row row[];
} join_list;
#define JOIN_NEVER UINT64_MAX

enum { JOIN_BYTES = 1 << 20 };  /* larger values are too far apart for reef_cut */
enum { JOIN_PIECE = 64 << 10 }; /* lists lie side by side in pieces: of as many bytes as there are, up to this */
enum { JOIN_PAGE_SIZE = 16 };   /* of larger values a page of memory has few rows that match */
/* in a chunk of more nothing is remembered: its blocks are longer, and the lists would be too */
enum { JOIN_ROWS = 256 };

typedef struct join_piece {
    struct join_piece *next;
    size_t bytes;
} join_piece;

/* A chunk whose rows were looked for. */
typedef struct join_found {
    uint32_t unit; /* 0: none */
    uint32_t rows; /* more than JOIN_ROWS: too many */
    uint16_t row[JOIN_ROWS + 2];
} join_found;

/* Of a query. */
typedef struct joining {
    uint64_t epoch;      /* of the state that the lists are of */
    uint32_t units;      /* lists there is room for */
    uint32_t turn;       /* which of `found` is written next */
    uint32_t next;       /* slot behind that of the row which was found last */
    bool young;          /* some list couldn't be kept: its chunk was written at the version that was the world's */
    join_list **list;    /* by unit; NULL: none */
    join_piece *pieces;  /* the first is the one that is carved: `left` bytes at its end */
    size_t left, taken;  /* taken: all pieces */
    join_list *scratch;  /* with room for JOIN_ROWS rows */
    join_found found[2]; /* of the next two chunks */
} joining;

/* Its rows are those that have the one stored component which it asks for, and nothing else decides by row, or wants
 * to know the rows. */
INLINE bool query_joins(const query *q)
{
    const cutting *c = q->cut;
    if (!c->quick || c->term[0].size > JOIN_BYTES || q->since || q->tracked || q->optional_writes) return false;
    return q->switch_count == 1 && q->switches[0] == c->term[0].component << 1;
}

/* Some chunk would be remembered if the world had a new version, which no other open loop forbids. (What these write
 * they mark once.) */
INLINE bool join_is_young(const query *q)
{
    joining *j = q->cut->join;
    if (LIKELY(j == NULL || !j->young) || q->world->locks != 1) return false;
    j->young = false;
    return true;
}

/* The row behind those, from r on, which are side by side as their values are: a block of the loop. */
INLINE const join_row *join_run_end(const join_row *r, const join_row *end)
{
    const join_row *next = r + 1;
    while (next < end && next->row == next[-1].row + 1 && next->at == r->at && next->page == r->page) next++;
    return next;
}

/* Is slot `at` the entity's? */
INLINE bool slot_follows(const value_store *s, uint32_t at, const reef_entity *e)
{
    return at < s->count &&
           memcmp((const char *)s->values.page[at >> s->bits] + (at & slot_mask(s)) * sizeof *e, e, sizeof *e) == 0;
}

/* The list of a chunk is about to be read. */
INLINE void join_fetch(const join_list *list)
{
    const char *l = (const char *)list;
    PREFETCH(l), PREFETCH(l + 64), PREFETCH(l + 128), PREFETCH(l + 192);
}

/* The list of a chunk, if its rows and their bits are as they were. */
INLINE join_list *join_of_rows(const joining *j, const reef_world *w, const reef_slot *slots, const bit_store *bits,
                               uint32_t unit)
{
    if (UNLIKELY(j == NULL || unit >= j->units || unit >= bits->words.count || j->epoch != w->state_epoch)) return NULL;
    join_list *l = j->list[unit];
    return LIKELY(l && l->rows_at == slots[SLOT_ENTITIES].version && l->bits_at == bits->words.version[unit]) ? l
                                                                                                              : NULL;
}
/* The list of a chunk with such bits; NULL: none is remembered that still holds. `shared`: several threads look. */
const join_list *reef__join_find(const query *q, const reef_slot *slots, const bit_store *bits, uint32_t unit,
                                 bool shared);
/* Looks for the rows of a chunk of which a list will be made, best two chunks early: their handles and columns are
 * fetched, which are a line of memory for each. (One chunk early the list waited for them.) */
void reef__join_ahead(joining *j, const query *q, const match *m, const reef_slot *slots, const bit_store *bits,
                      uint32_t unit);
INLINE bool join_is_found(const joining *j, uint32_t unit)
{
    return j->found[0].unit == unit || j->found[1].unit == unit;
}
/* What was found so was for a loop that was left. */
INLINE void join_forget_ahead(const query *q)
{
    joining *j = q->cut->join;
    if (j && !BUG(124)) j->found[0].unit = j->found[1].unit = 0;
}
/* The list, made. It is remembered if the chunk wasn't written since the version `settled`, and lasts until the next is
 * made. NULL: the chunk has too many rows, the store too many pages, or memory is short. Not while systems run, and
 * not while other loops of the query are open. */
const join_list *reef__join_make(query *q, const match *m, const reef_slot *slots, const bit_store *bits, uint32_t unit,
                                 uint64_t settled);
/* All lists that hold no more made anew, as far as memory allows: before several threads walk. */
void reef__joins_prepare(query *q, uint64_t settled);
void reef__joins_drop(query *q);

#endif
