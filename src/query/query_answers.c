/* Questions to a query without a loop: how many entities match, whether any does, the first, the only one, one at
 * random, and whether a certain one does. All but the last walk over the chunks with rows that match, until
 * they have their answer. */
#include "query/query_answers.h"
#include "base/byte_hash.h"
#include "storage/entity_index.h"
#include "storage/error.h"
#include "storage/place.h"
#include "query/chunk_cursor.h"
#include "query/iterate.h"
#include "query/query.h"
#include "query/row_filter.h"
#include "query/value_term.h"

static const reef_entity nobody;

query *reef__query_ask(reef_world *w, const char *op, reef_query which)
{
    reef_status s = REEF_NO_MEMORY;
    if (!WORLD_GIVEN_TO(w, op)) return NULL;
    query *q = query_of(w, which, &s);
    if (LIKELY(q && query_update(q))) return conditions_mark(q), q;
    reef__query_refuse(w, op, q, s);
    return NULL;
}

/* ---- walking over chunks ---- */

typedef struct asking { /* the chunk that is looked at, and its rows */
    chunk_cursor c;
    look at;
    bool all; /* all rows of the whole table match, and this is its first chunk; otherwise `words` says which */
    uint64_t words[BIT_WORDS];
    uint64_t rows; /* number of rows that match */
} asking;

static asking ask_begin(const query *q)
{
    asking a;
    a.c = (chunk_cursor){.q = q};
    a.at = (look){.q = q, .since = reef__query_last_run(q)};
    if (!reef__fixed_hold(q, a.at.since)) a.c.number = q->match_count;
    return a;
}

/* Goes to the next chunk with rows that match. A table whose rows all match is one step. False: the end. */
static bool ask_next(asking *a)
{
    while (chunk_next(&a->c)) {
        const reef_slot *slots = a->c.slots;
        a->all = !a->c.match->look;
        a->rows = table_rows(a->c.match->table);
        if (a->all) return a->c.next = 0, true;
        a->at.table_id = a->c.match->id;
        a->at.unit = a->c.unit;
        a->at.count = a->c.rows;
        a->at.entities = slot_entities(slots);
        if (!reef__look_rows(&a->at, a->words, 0, BIT_WORDS)) continue;
        a->rows = rows_in(a->words);
        return true;
    }
    return false;
}

/* Row number n of those that match in the chunk, or in the table if all do. */
static reef_entity row_at(const asking *a, uint64_t n)
{
    const reef_world *w = a->at.q->world;
    uint32_t unit = a->c.unit;
    if (a->all) {
        for (; n >= chunk_rows(a->c.match->table, unit); n -= REEF_BLOCK_ROWS) unit = unit_slots(w, unit)[0].head.next;
        return slot_entities(unit_slots(w, unit))[n];
    }
    uint32_t k = 0;
    for (; n >= bits_count(a->words[k]); k++) n -= bits_count(a->words[k]);
    uint64_t word = a->words[k];
    while (n--) word &= word - 1;
    return a->at.entities[k * 64 + bits_first(word)];
}

static NOINLINE uint64_t rows_count(const query *q)
{
    uint64_t n = 0;
    for (asking a = ask_begin(q); ask_next(&a);) n += a.rows;
    return n;
}

uint64_t reef__query_count(const query *q)
{
    return LIKELY(!q->looks) ? query_rows(q) : rows_count(q); /* then all rows match */
}

/* Row number n of all that match. Null: there are no more than n. */
static reef_entity query_nth(const query *q, uint64_t n)
{
    for (asking a = ask_begin(q); ask_next(&a); n -= a.rows)
        if (n < a.rows) return row_at(&a, n);
    return nobody;
}

/* ---- the questions ---- */

/* Counts what isn't up to date or looks at rows, or refuses. */
static NOINLINE uint64_t count_look(reef_world *w, reef_query which)
{
    const query *q = reef__query_ask(w, "reef_query_count", which);
    return q ? reef__query_count(q) : 0;
}

uint64_t reef_query_count(reef_world *w, reef_query which)
{
    /* It decides what is done and does it last, so that it needs no frame. */
    if (UNLIKELY(w == NULL || w->hot.library != &reef__library || w->running)) return count_look(w, which);
    const struct query_slot *x = query_slot_of(w, which);
    const query *q = x ? x->query : NULL;
    if (UNLIKELY(q == NULL || q->types.epoch != w->tables_epoch || q->looks)) return count_look(w, which);
    return query_rows(q);
}

reef_entity reef_query_first(reef_world *w, reef_query which)
{
    query *q = reef__query_ask(w, "reef_query_first", which);
    return q ? query_nth(q, 0) : nobody;
}

bool reef_query_any(reef_world *w, reef_query which)
{
    query *q = reef__query_ask(w, "reef_query_any", which);
    return q && !reef_entity_is_null(query_nth(q, 0));
}

reef_entity reef_query_single(reef_world *w, reef_query which)
{
    static const char op[] = "reef_query_single";
    query *q = reef__query_ask(w, op, which);
    if (q == NULL) return nobody;
    const reef_entity e = query_nth(q, 0);
    if (reef_entity_is_null(e)) return reef__refuse(w, REEF_ABSENT, op), nobody;
    if (!reef_entity_is_null(query_nth(q, 1))) return reef__refuse(w, REEF_AMBIGUOUS, op), nobody;
    return e;
}

reef_entity reef_query_pick(reef_world *w, reef_query which, uint64_t seed)
{
    query *q = reef__query_ask(w, "reef_query_pick", which);
    const uint64_t n = q ? reef__query_count(q) : 0;
    uint64_t x = 0;
    if (n == 0) return nobody;
    /* The numbers are the seed's sequence by splitmix64 (Steele, Lea, Flood 2014). Those from its last, incomplete run
     * of n are drawn again, so that each row has the same chance. */
    const uint64_t least = (0 - n) % n;
    for (uint64_t i = 0; (x = hash_blend(seed + (i + 1) * 0x9E3779B97F4A7C15u)) < least;) i++;
    return query_nth(q, x % n);
}

/* ---- a certain entity ---- */

bool reef__query_place_matches(const query *q, uint32_t place)
{
    const uint64_t since = reef__query_last_run(q);
    const verdict v = reef__table_verdict(q, reef_slots_at(&q->world->hot, place)[0].head.table);
    if (v == ROWS_NONE || !reef__fixed_hold(q, since)) return false;
    return v == ROWS_ALL || reef__look_row(q, place, since);
}

bool reef_query_matches(reef_world *w, reef_query which, reef_entity e)
{
    reef_status s = REEF_NO_MEMORY;
    if (!WORLD_GIVEN(w)) return false;
    query *q = query_of(w, which, &s);
    if (q && q->plan) q->plan->one = true; /* only this entity is asked about */
    const bool settled = q && reef__query_prepare_one(q);
    const uint32_t place = settled ? place_of(w, e) : PLACE_DEAD;
    /* it is dead or has no row, so no query visits it */
    const bool matches = place >= 2 * PLACE_EMPTY && reef__query_place_matches(q, place);
    if (q && q->plan) q->plan->one = false;
    if (!settled) reef__query_refuse(w, "reef_query_matches", q, s);
    return matches;
}
