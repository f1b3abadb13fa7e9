/* Questions to a query without a loop: how many entities match, whether any does, the first, the only one, one at
 * random, and whether a certain one does. All but the last are answered by query_each, which calls a function for each
 * chunk or table with rows that match, until it has its answer. */
#include "query/query_answers.h"
#include "base/platform.h"
#include "storage/entity_index.h"
#include "storage/error.h"
#include "storage/layout.h"
#include "storage/place.h"
#include "storage/world_data.h"
#include "query/iterate.h"
#include "query/query.h"
#include "query/row_filter.h"
#include <stdio.h>

static const reef_component no_type;
static const reef_entity nobody;

/* The query, up to date. NULL: it was refused, and the reason is recorded. */
static query *query_ask(reef_world *w, const char *op, reef_query which)
{
    reef_status s = REEF_NO_MEMORY;
    if (w == NULL) return NULL;
    query *q = query_of(w, which, &s);
    if (q && query_update(q)) return q;
    reef__failure(w, s, op, no_type, nobody, 0);
    return NULL;
}

/* ---- walking over chunks ---- */

typedef struct asking { /* the chunk that is looked at, and its rows */
    look at;
    bool all; /* all rows match; otherwise `words` says which */
    uint64_t words[BIT_WORDS];
    uint64_t rows; /* number of rows that match */
} asking;

/* Called for each chunk with rows that match, or once for a whole table if all of them do (at.unit is its first chunk
 * then). False: stop. */
typedef bool (*asked)(void *context, const asking *a, const table *t);

static bool table_ask(asking *a, const match *m, asked answer, void *context)
{
    const query *q = a->at.q;
    const table *t = table_read(q->world, m->id);
    if (t == NULL || t->chunks == 0) return true;
    a->at.table_id = m->id;
    a->at.unit = t->first;
    a->all = !m->look;
    a->rows = table_rows(t);
    if (a->all) return a->rows == 0 || answer(context, a, t);
    for (uint32_t unit = t->first; unit; unit = unit_slots(q->world, unit)[0].head.next) {
        a->at.unit = unit;
        a->at.count = chunk_rows(t, unit);
        a->at.entities = slot_entities(unit_slots(q->world, unit));
        if (!reef__look_rows(&a->at, a->words, 0, BIT_WORDS)) continue;
        a->rows = 0;
        for (uint32_t k = 0; k < BIT_WORDS; k++) a->rows += bits_count(a->words[k]);
        if (!answer(context, a, t)) return false;
    }
    return true;
}

static void query_each(const query *q, asked answer, void *context)
{
    asking a;
    a.at.q = q;
    a.at.frozen = NULL;
    a.at.among = NULL;
    a.at.since = reef__query_last_run(q);
    if (!reef__fixed_hold(q, a.at.since)) return;
    for (uint32_t i = 0; i < q->match_count; i++)
        if (!table_ask(&a, match_at(q, i), answer, context)) return;
}

/* Row number n of those that match in the chunk, or in the table if all do. */
static reef_entity row_at(const asking *a, const table *t, uint64_t n)
{
    const reef_world *w = a->at.q->world;
    uint32_t unit = a->at.unit;
    if (a->all) {
        for (; n >= chunk_rows(t, unit); n -= REEF_BLOCK_ROWS) unit = unit_slots(w, unit)[0].head.next;
        return slot_entities(unit_slots(w, unit))[n];
    }
    uint32_t k = 0;
    for (; n >= bits_count(a->words[k]); k++) n -= bits_count(a->words[k]);
    uint64_t word = a->words[k];
    while (n--) word &= word - 1;
    return a->at.entities[k * 64 + bits_first(word)];
}

/* ---- counting ---- */

static bool count_add(void *context, const asking *a, const table *t)
{
    (void)t;
    *(uint64_t *)context += a->rows;
    return true;
}

uint64_t reef_query_count(reef_world *w, reef_query which)
{
    query *q = query_ask(w, "reef_query_count", which);
    uint64_t n = 0;
    if (q) query_each(q, count_add, &n);
    return n;
}

/* ---- one of them ---- */

typedef struct wanted { /* row number n of all that match; how many rows were passed */
    uint64_t n, passed;
    reef_entity entity;
} wanted;

static bool wanted_find(void *context, const asking *a, const table *t)
{
    wanted *x = context;
    if (x->n - x->passed < a->rows) {
        x->entity = row_at(a, t, x->n - x->passed);
        return false;
    }
    x->passed += a->rows;
    return true;
}

static reef_entity query_nth(const query *q, uint64_t n)
{
    wanted x = {n, 0, {0, 0}};
    query_each(q, wanted_find, &x);
    return x.entity;
}

reef_entity reef_query_first(reef_world *w, reef_query which)
{
    query *q = query_ask(w, "reef_query_first", which);
    return q ? query_nth(q, 0) : nobody;
}

bool reef_query_any(reef_world *w, reef_query which)
{
    query *q = query_ask(w, "reef_query_any", which);
    return q && !reef_entity_is_null(query_nth(q, 0));
}

reef_entity reef_query_single(reef_world *w, reef_query which)
{
    static const char op[] = "reef_query_single";
    query *q = query_ask(w, op, which);
    if (q == NULL) return nobody;
    const reef_entity e = query_nth(q, 0);
    if (reef_entity_is_null(e)) return reef__failure(w, REEF_ABSENT, op, no_type, nobody, 0), nobody;
    if (!reef_entity_is_null(query_nth(q, 1))) return reef__failure(w, REEF_AMBIGUOUS, op, no_type, nobody, 0), nobody;
    return e;
}

/* Number i of the seed's sequence: splitmix64 (Steele, Lea, Flood 2014). */
static uint64_t random_number(uint64_t seed, uint64_t i)
{
    uint64_t x = seed + (i + 1) * 0x9E3779B97F4A7C15u;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return x ^ x >> 31;
}

reef_entity reef_query_pick(reef_world *w, reef_query which, uint64_t seed)
{
    query *q = query_ask(w, "reef_query_pick", which);
    uint64_t n = 0, x = 0;
    if (q) query_each(q, count_add, &n);
    if (n == 0) return nobody;
    /* Numbers from the last, incomplete run of n are drawn again, so that each row has the same chance. */
    const uint64_t least = (0 - n) % n;
    for (uint64_t i = 0; (x = random_number(seed, i)) < least;) i++;
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
    query *q = query_ask(w, "reef_query_matches", which);
    const uint32_t place = q ? place_of(w, e) : PLACE_DEAD;
    /* it is dead or has no row, so no query visits it */
    return place >= 2 * PLACE_EMPTY && reef__query_place_matches(q, place);
}
