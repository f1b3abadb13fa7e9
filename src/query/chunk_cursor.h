/* The chunks of the tables that a query found, one by one, for whoever looks at them outside of loops. */
#ifndef REEF_QUERY_CHUNK_CURSOR_H
#define REEF_QUERY_CHUNK_CURSOR_H

#include "storage/place.h"
#include "query/query.h"

/* A cursor over the chunks with rows of all matches, in visiting order. It begins as {.q = q}. */
typedef struct chunk_cursor {
    const query *q;
    const match *match;
    const reef_slot *slots;
    uint32_t number, unit, next, rows; /* number of the next match; the chunk, the one behind it, and its rows */
} chunk_cursor;

INLINE bool chunk_next(chunk_cursor *c)
{
    while (c->next == 0) {
        if (c->number == c->q->match_count) return false;
        c->match = match_at(c->q, c->number++);
        c->next = table_rows(c->match->table) ? c->match->table->first : 0;
    }
    c->unit = c->next;
    c->slots = unit_slots(c->q->world, c->unit);
    c->next = c->slots[0].head.next;
    c->rows = chunk_rows(c->match->table, c->unit);
    return true;
}

/* The number of rows of all matches, whether they match or not. */
INLINE uint64_t query_rows(const query *q)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < q->match_count; i++) n += table_rows(match_at(q, i)->table);
    return n;
}

#endif
