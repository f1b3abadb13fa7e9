/* Finding the tables that match a query.
 *
 * A query keeps the tables that may match, in visiting order, each with the slots of its columns. The graph never
 * forgets a table, so finding new ones means looking at those made since the last time, when the query was told that
 * one of them has the types that it needs (src/storage/query_types.h). A query that is made when there are many tables
 * goes through all in order; later tables are inserted. */
#include "storage/archetype.h"
#include "storage/place.h"
#include "storage/row_bits.h"
#include "query/iterate_sparse.h"
#include "query/near_term.h"
#include "query/query.h"
#include "query/relation_plan.h"
#include "query/subtype_terms.h"
#include "query/value_term.h"
#include "query/variables.h"
#include "reef/prefab.h"
#include "reef/relation.h"
#include <stdio.h>

static const table nothing; /* stands for a table that this world never used */
/* The slots of a chunk that isn't remembered, which a loop may read when it fetches ahead. They are never written;
 * they aren't const, so that they take no room in the file. */
static reef_slot no_slots[REEF_COLUMNS_MAX + SLOT_COLUMNS];

/* MANY_MATCHES: their tables and slots don't fit the first-level cache */
enum { FEW_TABLES = 32, RARE_AMONG = 32, MANY_MATCHES = 128 };

static match *match_of(const query *q, uint32_t i) { return (match *)(uintptr_t)match_at(q, i); }

/* ---- does a table match? ---- */

/* Is there a store of marks that say where this component, or with {0} a whole entity, is disabled? */
static bool has_disabled(const reef_world *w, uint32_t component)
{
    return bit_store_of(w, component | BIT_DISABLED) != NULL;
}

static verdict leaf_verdict(const query *q, uint32_t i, uint32_t table_id)
{
    const reef_term *t = &q->terms[i];
    const term_facts *f = &q->facts[i];
    if (t->op == REEF_OPTIONAL || (f->fixed && f->top)) return ROWS_ALL;
    if (f->bit || f->cold || f->fixed) return ROWS_SOME;
    if (reef__slot_seek(q->world, t->component.id, table_id) == 0) return ROWS_NONE;
    if (t->since != REEF_ALWAYS || f->values || f->near || (f->some_disabled && t->enabled != REEF_EITHER))
        return ROWS_SOME;
    return t->enabled == REEF_DISABLED ? ROWS_NONE : ROWS_ALL;
}

/* Are the rows of this table templates, which the query doesn't ask for? */
static bool table_hidden(const query *q, uint32_t table_id)
{
    return q->hides && reef__slot_seek(q->world, reef_id(ReefPrefab).id, table_id) != 0;
}

/* `at` is the term's number; it moves behind the term and all that is inside it. */
static verdict term_verdict(const query *q, uint32_t *at, uint32_t table_id);

static verdict group_verdict(const query *q, const reef_term *group, uint32_t *at, uint32_t table_id)
{
    const bool all = group->op == REEF_ALL_OF;
    verdict v = all ? ROWS_ALL : ROWS_NONE;
    for (uint32_t i = 0; i < group->count; i++) {
        verdict inner = term_verdict(q, at, table_id);
        if (all ? inner < v : inner > v) v = inner;
    }
    return group->op == REEF_NONE_OF ? ROWS_ALL - v : v;
}

static verdict term_verdict(const query *q, uint32_t *at, uint32_t table_id)
{
    const uint32_t i = (*at)++;
    const reef_term *t = &q->terms[i];
    if (t->op >= REEF_ANY_OF) return group_verdict(q, t, at, table_id);
    verdict v = leaf_verdict(q, i, table_id);
    return t->op == REEF_NOT && !(q->facts[i].fixed && q->facts[i].top) ? ROWS_ALL - v : v;
}

verdict reef__table_verdict(const query *q, uint32_t table_id)
{
    verdict v = table_hidden(q, table_id)                            ? ROWS_NONE
                : q->entities != REEF_EITHER && q->disabled_entities ? ROWS_SOME
                : q->entities == REEF_DISABLED                       ? ROWS_NONE
                                                                     : ROWS_ALL;
    for (uint32_t at = 0; v != ROWS_NONE && at < q->term_count;) {
        verdict x = term_verdict(q, &at, table_id);
        if (x < v) v = x;
    }
    return v;
}

/* ---- finding tables ---- */

static void match_forget(match *m)
{
    m->unit = UINT32_MAX;
    m->column = reef_slot_of(no_slots, m, 0);
}

/* Empties the matches from `first` on, as if they were of a table without rows. */
static void matches_clear(query *q, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end; i++) {
        match *m = match_of(q, i);
        for (uint32_t k = 0; k < q->head.match_bytes / 8; k++) ((uint64_t *)(void *)m)[k] = 0;
        m->table = &nothing;
        match_forget(m);
    }
}

/* An empty match lies in front of the first one: there a loop begins. */
static size_t matches_bytes(const query *q, uint32_t capacity)
{
    return capacity ? (size_t)(capacity + 1) * q->head.match_bytes : 0;
}
static void *matches_memory(const query *q) { return q->match_capacity ? q->matches - q->head.match_bytes : NULL; }

void reef__matches_drop(query *q)
{
    reef__memory_free(&q->world->family->memory, MEMORY_OTHER, matches_memory(q), matches_bytes(q, q->match_capacity));
}

/* Makes room for more matches, with empty ones behind the last: there a loop ends, and there it may read ahead. */
static bool match_room(query *q, uint32_t more)
{
    memory *m = &q->world->family->memory;
    uint32_t need = q->match_count + more + REEF_MATCHES_AHEAD;
    if (need <= q->match_capacity) return true;
    uint32_t capacity = q->match_capacity * 2 > need ? q->match_capacity * 2 : need + 3;
    char *p = reef__memory_resize(m, MEMORY_OTHER, matches_memory(q), matches_bytes(q, q->match_capacity),
                                  matches_bytes(q, capacity), PLAIN_ALIGN);
    if (p == NULL) return false;
    q->matches = p + q->head.match_bytes;
    if (more <= 1) matches_clear(q, q->match_count, capacity); /* a caller that asks for many fills them itself */
    q->match_capacity = capacity;
    return true;
}

/* Inserts a table that matches at place `at` of the matches. */
static bool match_put(query *q, uint32_t at, uint32_t id, const uint16_t *columns, verdict v)
{
    if (!match_room(q, 1)) return false;
    char *p = q->matches + (size_t)at * q->head.match_bytes;
    if (at < q->match_count) memmove(p + q->head.match_bytes, p, (size_t)(q->match_count - at) * q->head.match_bytes);
    match *x = match_of(q, at);
    x->id = id;
    x->look = v == ROWS_SOME;
    x->quick = 0;
    x->table = &nothing;
    x->columns[0] = x->columns[1] = columns[0];
    memcpy((char *)x + offsetof(match, columns), columns, q->head.column_count * sizeof *columns);
    match_forget(x);
    q->match_count++;
    return true;
}

/* The place where a table belongs in visiting order. */
static uint32_t match_place(const query *q, uint32_t id)
{
    const shape *s = shape_of(q->world->family, id);
    uint32_t low = 0, high = q->match_count;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (reef__shape_compare(shape_of(q->world->family, match_at(q, mid)->id), s) < 0) low = mid + 1;
        else high = mid;
    }
    return low;
}

static bool match_is_there(const query *q, uint32_t at, uint32_t id)
{
    return at < q->match_count && match_at(q, at)->id == id;
}

/* Looks at one table, which belongs at this place in visiting order. False: no memory. */
static bool table_look(query *q, uint32_t id, uint32_t at)
{
    uint16_t columns[REEF_TERMS_MAX];
    columns[0] = 0;
    for (uint32_t i = 0; i < q->head.column_count; i++) {
        uint32_t slot = slot_find(q->world, q->head.key[i] >> 1, id);
        if (slot == 0) return true;
        columns[i] = (uint16_t)(slot * sizeof(reef_slot));
    }
    verdict v = !q->plain ? reef__table_verdict(q, id) : table_hidden(q, id) ? ROWS_NONE : ROWS_ALL;
    return v == ROWS_NONE || match_put(q, at, id, columns, v);
}

/* How many tables have a type; UINT32_MAX if that isn't known. The caller holds the family's lock. */
static uint32_t tables_with(const reef_world *w, uint32_t component)
{
    const reef_map *m = REEF_DEPENDENT(&w->hot.maps[component >> 8][component & 255]);
    return REEF_DEPENDENT(&m->elsewhere) ? UINT32_MAX : REEF_DEPENDENT(&m->used);
}

/* Where this world's table is. */
static const table *table_place(const reef_world *w, uint32_t id)
{
    const uint32_t page = id / TABLES_PER_PAGE;
    const bool there = page < w->state.tables.count && w->state.tables.page[page];
    return there ? (const table *)w->state.tables.page[page] + id % TABLES_PER_PAGE : &nothing;
}

/* Finds what a loop follows: where the table is and, while that stays so, where its first chunk is. */
INLINE void match_find(query *q, match *m)
{
    const table *t = m->table = table_place(q->world, m->id);
    const uint32_t unit = t->first;
    m->unit = q->head.remembers && unit ? unit : UINT32_MAX;
    m->column = reef_slot_of(m->unit == unit ? unit_slots(q->world, unit) : no_slots, m, 0);
}

/* The slot of a column in a table, by the component's map. 0: the table doesn't have it, or the map doesn't know. */
INLINE uint32_t map_slot(const reef_map *m, uint32_t id)
{
    const uint32_t d = id - m->lowest;
    return d < m->capacity ? ((const uint16_t *)(m + 1))[1 + d] : 0;
}

/* Finds a plain query's matches among these tables, in one pass. (`columns` is a constant where it is 1 or 2: a query
 * of two columns over 1,024 tables is made in 4 us; looking at each table separately took 190.) */
INLINE void tables_look_plain(query *q, const uint32_t *ids, uint32_t n, uint32_t count, const uint32_t columns)
{
    const reef_world *w = q->world;
    const uint32_t bytes = q->head.match_bytes;
    const reef_map *maps[REEF_TERMS_MAX];
    const uint32_t prefab = reef_id(ReefPrefab).id;
    const bool hides = q->hides && tables_with(w, prefab) != 0;
    char *to = q->matches + (size_t)q->match_count * bytes;
    for (uint32_t c = 0; c < columns; c++)
        maps[c] = REEF_DEPENDENT(&w->hot.maps[q->head.key[c] >> 9][q->head.key[c] >> 1 & 255]);
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t id = ids[i];
        match *m = (match *)(void *)to;
        uint16_t *slots = (uint16_t *)(void *)(to + offsetof(match, columns));
        uint32_t c = 0;
        if (UNLIKELY(id >= count)) continue; /* another world of the family has made it meanwhile */
        for (; c < columns; c++) {
            uint32_t slot = map_slot(maps[c], id);
            if (UNLIKELY(slot == 0) &&
                (!REEF_DEPENDENT(&maps[c]->elsewhere) || (slot = reef__slot_seek(w, q->head.key[c] >> 1, id)) == 0))
                break;
            slots[c] = (uint16_t)(slot * sizeof(reef_slot));
        }
        if (c < columns || (UNLIKELY(hides) && reef__slot_seek(w, prefab, id))) continue;
        if (columns < 2) slots[1] = slots[0] = columns ? slots[0] : 0;
        m->id = id;
        m->quick = m->look = 0;
        match_find(q, m);
        to += bytes;
    }
    q->match_count = (uint32_t)((size_t)(to - q->matches) / bytes);
}

/* Finds out whether one switch alone decides by row. */
static void only_switch_find(query *q, bool some_disabled)
{
    uint32_t found = 0;
    bool only = !some_disabled && !q->since && q->entities != REEF_DISABLED;
    for (uint32_t i = 0; only && i < q->term_count; i++) {
        const reef_term *t = &q->terms[i];
        const term_facts *f = &q->facts[i];
        const bool decides = f->bit && !f->fixed;
        if (t->op >= REEF_ANY_OF || t->op == REEF_OPTIONAL) continue;
        only = t->enabled != REEF_DISABLED && !f->target && !f->values && !f->near && (!f->cold || f->fixed) &&
               (f->top || !(f->fixed || f->bit)) && !(decides && (found || t->op == REEF_NOT));
        if (decides) found = t->component.id;
    }
    q->only_switch = only ? found : 0;
}

/* Finds out which of the query's types may be disabled somewhere. True: that changed, so all tables have to be settled
 * again. */
static bool disabled_look(query *q)
{
    bool changed = q->disabled_epoch == UINT64_MAX;
    bool some = false;
    for (uint32_t i = 0; i < q->term_count; i++) {
        const uint32_t c = q->terms[i].component.id;
        bool some_disabled = q->terms[i].op < REEF_ANY_OF && c && has_disabled(q->world, c);
        changed |= some_disabled != q->facts[i].some_disabled;
        q->facts[i].some_disabled = some_disabled;
        some |= some_disabled;
    }
    bool entities = has_disabled(q->world, 0);
    changed |= entities != q->disabled_entities;
    q->disabled_entities = entities;
    q->plain = q->straight && !some && !entities;
    q->disabled_epoch = q->world->disabled_epoch;
    only_switch_find(q, some || entities);
    return changed;
}

static void matches_forget(query *q)
{
    matches_clear(q, 0, q->match_count);
    q->match_count = 0;
    q->seen = 0;
    q->rare_used = 0;
}

/* Looks at all tables, from the first on. They come in visiting order, so that none has to be inserted. */
static bool tables_look_all(query *q, uint32_t count)
{
    uint32_t n;
    const uint32_t *order = reef__tables_order(q->world, &n);
    if (n && order == NULL) return false;
    if (q->plain) {
        if (!match_room(q, n)) return false;
        switch (q->head.column_count) {
        case 1: tables_look_plain(q, order, n, count, 1); break;
        case 2: tables_look_plain(q, order, n, count, 2); break;
        default: tables_look_plain(q, order, n, count, q->head.column_count); break;
        }
        matches_clear(q, q->match_count, q->match_capacity);
    }
    for (uint32_t i = 0; !q->plain && i < n; i++)
        if (order[i] < count && !table_look(q, order[i], q->match_count)) return false;
    q->seen = count;
    return true;
}

/* The rarest type that all matches have, 0: there is none. */
static uint32_t rarest_type(const query *q) { return q->types.count ? q->types.id[0] : 0; }

/* Looks at the tables that were made since the last time. If the map of the rarest type is complete, it says which of
 * them have it. */
static bool tables_look_new(query *q, uint32_t count)
{
    const uint32_t rare = rarest_type(q);
    const reef_map *m = rare ? map_of_id(q->world, rare) : NULL;
    uint32_t end = count;
    if (m && REEF_DEPENDENT(&m->elsewhere)) m = NULL;
    if (m && q->seen < m->lowest) q->seen = m->lowest < count ? m->lowest : count;
    if (m && m->lowest + m->capacity < end) end = m->lowest + m->capacity;
    for (uint32_t id = q->seen; id < end; id++) {
        if (id < TABLE_EMPTY || (m && map_slot(m, id) == 0)) continue;
        bool all = true;
        for (uint32_t i = 1; all && i < q->types.count; i++) all = slot_find(q->world, q->types.id[i], id) != 0;
        q->seen = id;
        const uint32_t at = all ? match_place(q, id) : 0;
        if (all && !match_is_there(q, at, id) && !table_look(q, id, at)) return false;
    }
    q->seen = count;
    return true;
}

/* Looks at the tables that the query was told of, if these are all that is new to it. */
static bool tables_look_told(query *q)
{
    for (uint32_t i = 0; i < q->types.told_count; i++) {
        const uint32_t id = q->types.told[i], at = match_place(q, id);
        if (!match_is_there(q, at, id) && !table_look(q, id, at)) return false;
        if (!match_is_there(q, at, id)) continue;
        match_find(q, match_of(q, at));
        q->looks |= match_at(q, at)->look;
    }
    return true;
}

/* Notes that the query knows all tables and where they are. */
static void tables_are_known(query *q)
{
    const uint64_t now = q->world->tables_epoch;
    if (q->subs) q->subs->epoch = now; /* each loop of such a query, and of one with a plan, calls this */
    else if (q->plan == NULL && q->near == NULL) q->types.epoch = now;
    q->types.looked = now;
    q->types.told_count = 0;
    q->head.first = q->matches;
    q->head.before = q->matches - q->head.match_bytes;
    q->head.behind = match_end(q);
    q->head.ahead = q->match_count >= MANY_MATCHES;
}

/* If there are new subtypes, all tables are looked at again. If nothing at all is new, subs->epoch stays as it is. */
static COLD bool subs_look(query *q, uint32_t count)
{
    const reef_world *w = q->world;
    const bool same =
        q->seen == count && q->disabled_epoch == w->disabled_epoch && q->head.remembers == (w->hot.chunks.shared == 0);
    if (!same) q->subs->epoch = UINT64_MAX;
    if (!subs_are_old(q)) return true;
    cutting *const was = q->cut;
    if (!reef__subs_expand(q)) return false;
    reef__query_resolve(q);
    q->cut = NULL;
    if (!reef__cutting_make(q)) {
        q->cut = was;
        q->subs->based = UINT32_MAX; /* so the next loop tries again */
        return false;
    }
    cutting *const now = q->cut;
    q->cut = was;
    reef__cutting_drop(q);
    q->cut = now;
    matches_forget(q);
    q->disabled_epoch = q->subs->epoch = UINT64_MAX;
    return true;
}

static bool tables_look(query *q)
{
    reef_world *w = q->world;
    uint32_t count = REEF_ACQUIRE_U32(&w->family->graph.shape_count);
    bool found = false; /* it is known where all matches lie */
    if (q->subs && !subs_look(q, count)) return false;
    const bool looked = q->types.looked == w->tables_epoch; /* not in a query that comes again */
    const bool known = q->subs ? q->subs->epoch == w->tables_epoch : q->plan != NULL;
    if (known && looked && q->types.told_count == 0) return true;
    const bool same = looked && q->disabled_epoch == w->disabled_epoch && q->seen != 0;
    if (same && q->types.told_count - 1 < QUERY_TOLD) {
        const bool ok = tables_look_told(q);
        if (ok) tables_are_known(q);
        return ok;
    }
    if (q->match_capacity == 0 && !match_room(q, 1)) return false;
    q->head.remembers = w->hot.chunks.shared == 0;
    if (q->disabled_epoch != w->disabled_epoch && disabled_look(q)) matches_forget(q);
    if (q->seen != count) {
        /* other worlds of the family count tables too, and none may come between the two numbers */
        mutex_lock(&w->family->lock);
        const uint32_t rare = rarest_type(q), used = rare ? tables_with(w, rare) : UINT32_MAX;
        count = w->family->graph.shape_count;
        mutex_unlock(&w->family->lock);
        const bool few = q->seen == 0 && used < count / RARE_AMONG;
        const bool all = q->seen == 0 && count > FEW_TABLES && !few;
        if (used == UINT32_MAX || used != q->rare_used || q->seen == 0)
            if (!(all ? tables_look_all(q, count) : tables_look_new(q, count))) {
                if (q->seen == 0) matches_forget(q); /* the next look starts again */
                return false;
            }
        found = all && q->plain;
        q->seen = count;
        q->rare_used = used;
    }
    q->looks = q->fixed || q->since || q->tracked || q->optional_writes || q->ranking || q->cut || q->plan || q->near;
    for (uint32_t i = 0; !found && i < q->match_count; i++) {
        match_find(q, match_of(q, i));
        q->looks |= match_at(q, i)->look;
    }
    tables_are_known(q);
    return true;
}

bool reef__query_prepare_one(query *q)
{
    if (q->open || q->types.epoch == q->world->tables_epoch) return true;
    if (parameters_missing(q)) return false;
    if (q->subs && !subs_look(q, q->seen)) return false;
    if (q->disabled_epoch != q->world->disabled_epoch && disabled_look(q)) matches_forget(q);
    return (q->plan == NULL || reef__plan_look(q)) && (q->near == NULL || reef__near_look(q));
}

NOINLINE bool reef__query_look(query *q)
{
    if (parameters_missing(q)) return false;
    return tables_look(q) && (q->plan == NULL || reef__plan_look(q)) && (q->near == NULL || reef__near_look(q));
}

COLD bool reef__query_ready(query *q)
{
    if (parameters_missing(q)) return true;
    /* Systems ask neither by `near` nor by values that bind a variable. */
    const bool finds = q->plan && q->plan->bindings && q->plan->bindings->finds;
    return q->near || finds ? q->open || tables_look(q) : query_update(q);
}

COLD bool reef__queries_ready(reef_world *w)
{
    for (uint32_t i = 0; i < w->query_room; i++)
        if (w->queries[i].query && !reef__query_ready(w->queries[i].query)) return false;
    return true;
}

/* Notes what straight loops know of tables. A table with a lease gets and loses rows without telling queries, so its
 * lease ends. (Its next change then takes the general path, as it does after each loop that writes.) */
NOINLINE bool reef__rows_look(query *q)
{
    const reef_world *w = q->world;
    if (q->fixed || !query_update(q) || q->looks) return false;
    for (uint32_t i = 0; i < q->match_count; i++) {
        match *m = match_of(q, i);
        const table *t = m->table;
        if (t->append == w->hot.version) lease_end((table *)(uintptr_t)t);
        m->rows = (uint32_t)table_rows(t);
        m->quick = 0;
        if (m->rows == 0) continue;
        if (q->head.remembers && m->unit != t->first)
            m->unit = t->first, m->column = reef_slot_of(unit_slots(w, t->first), m, 0);
        m->entities = slot_entities(unit_slots(w, t->first));
        m->quick = match_quick(q, m);
    }
    if (q->types.epoch == w->tables_epoch) q->rows_epoch = w->rows_epoch; /* otherwise each loop calls this */
    return true;
}

/* Is what a match knows of its table's rows right? */
static bool match_is_sound(const query *q, const match *m)
{
    const reef_world *w = q->world;
    const table *t = m->table, *place = table_place(w, m->id);
    if ((t != place && !(t == &nothing && place->shape == NULL)) || m->rows != table_rows(t) ||
        t->append == w->hot.version)
        return false;
    if (m->rows == 0) return m->quick == 0;
    if (m->quick && m->quick != match_quick(q, m)) return false;
    return m->entities == slot_entities(unit_slots(w, t->first)) &&
           (!q->head.remembers || match_first(m) == unit_slots(w, t->first));
}

COLD reef_status reef__queries_validate(const reef_world *w, char *message, size_t size)
{
    for (uint32_t k = 0; k < w->query_room; k++) {
        const query *q = w->queries[k].query;
        if (q == NULL || q->rows_epoch != w->rows_epoch) continue;
        bool ok = q->types.epoch == w->tables_epoch && !q->looks && !q->fixed && match_end(q)->quick == 0;
        for (uint32_t i = 0; ok && i < q->match_count; i++) ok = match_is_sound(q, match_at(q, i));
        if (ok) continue;
        snprintf(message, size, "query %u: what it knows of rows doesn't agree with the tables", k);
        return REEF_CORRUPT;
    }
    return REEF_OK;
}
