/* Queries: making them, and finding the tables that match.
 *
 * A query keeps the tables that may match, in visiting order, each with the slots of its columns. The graph never
 * forgets a table, so finding new ones means looking at those made since the last time, when the query was told that
 * one of them has the types that it needs (src/storage/query_types.h). A query that is made when there are many tables
 * goes through all in order; later tables are inserted. */
#include "query/near_term.h"
#include "query/query.h"
#include "query/query_renewal.h"
#include "base/memory.h"
#include "base/platform.h"
#include "type/type.h"
#include "storage/archetype.h"
#include "storage/error.h"
#include "storage/known_types.h"
#include "storage/layout.h"
#include "storage/place.h"
#include "storage/row_bits.h"
#include "storage/split_columns.h"
#include "storage/world_data.h"
#include "query/iterate.h"
#include "query/iterate_sparse.h"
#include "query/query_text.h"
#include "query/relation_order.h"
#include "query/relation_plan.h"
#include "query/sort_key.h"
#include "query/sorted_query.h"
#include "query/subtype_terms.h"
#include "query/value_term.h"
#include "reef/prefab.h"
#include "reef/relation.h"
#include "reef/order.h"
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

/* Finds out whether a few switches alone decide by row. */
static void switches_find(query *q, bool some_disabled)
{
    uint32_t n = 0;
    bool only = !some_disabled && !q->since && q->entities != REEF_DISABLED;
    for (uint32_t i = 0; only && i < q->term_count; i++) {
        const reef_term *t = &q->terms[i];
        const term_facts *f = &q->facts[i];
        if (t->op >= REEF_ANY_OF || t->op == REEF_OPTIONAL) continue;
        only = t->enabled != REEF_DISABLED && !f->target && !f->values && !f->near && (!f->cold || f->fixed) &&
               (f->top || !(f->fixed || f->bit)) && (!f->bit || f->fixed || n < SWITCHES_FEW);
        if (only && f->bit && !f->fixed) q->switches[n++] = t->component.id << 1 | (t->op == REEF_NOT);
    }
    q->switch_count = only ? n : UINT32_MAX;
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
    switches_find(q, some || entities);
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

static void query_resolve(query *q);

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
    query_resolve(q);
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

COLD bool reef__queries_ready(reef_world *w)
{
    for (uint32_t i = 0; i < w->query_room; i++) {
        query *q = w->queries[i].query;
        if (q == NULL || parameters_missing(q)) continue;
        if (q->near ? !q->open && !tables_look(q) : !query_update(q)) return false; /* systems don't ask by `near` */
    }
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

/* ---- reading terms ---- */

static reef_status terms_refuse(reef_world *w, const char *op, reef_status s, reef_component c, uint64_t number)
{
    return reef__failure(w, s, op, c, (reef_entity){0, 0}, number);
}

/* Refuses a term that makes no sense. If it comes from a text, the error says where it stands and why. */
static COLD reef_status term_refuse(reef_world *w, const char *op, const query_text *l, reef_status s, uint32_t i,
                                    const char *why)
{
    if (w->calling && !w->running) op = w->calling;
    reef_error e = {.status = s, .operation = op, .component = l->term[i].component, .number = l->column[i]};
    if (l->said && why) snprintf(e.detail, sizeof e.detail, "%s", why);
    return reef__failure_record(w, &e);
}

/* Refuses a term because of its conditions, also of a struct with the reason. */
static COLD reef_status condition_refuse(reef_world *w, const char *op, const query_text *l, reef_status s, uint32_t i,
                                         const char *why)
{
    if (w->calling && !w->running) op = w->calling;
    reef_error e = {.status = s, .operation = op, .component = l->term[i].component, .number = l->column[i]};
    snprintf(e.detail, sizeof e.detail, "%s", why);
    return reef__failure_record(w, &e);
}

/* ---- making ---- */

void reef__facts_find(const reef_term *t, term_facts *f, bool top, bool filter)
{
    const type *x = reef__type_of(t->component.id);
    f->top = top;
    f->bit = x && x->bit;
    f->cold = x && x->home == REEF_COLD;
    f->up = t->up.id != 0;
    f->bound = t->variable || t->target_variable;
    f->target = f->up || f->bound || !reef_entity_is_null(t->target);
    f->fixed = !reef_entity_is_null(t->source);
    f->values = term_conditions(t) != 0;
    f->near = t->near && t->op < REEF_ANY_OF;
    f->filter = filter || t->op == REEF_NOT || t->access == REEF_WITH || x == NULL || x->size == 0;
    f->reads = (f->up || f->bound) && !f->filter;
    f->filter |= f->reads; /* no data of the visited entity */
    /* who has the component itself isn't what decides */
    if (f->up || f->bound || (f->target && (x == NULL || (x->relation & REEF_REFLEXIVE && f->filter))))
        f->bit = false, f->cold = true;
    f->stored = x && x->stored && !f->filter && !f->fixed && t->op < REEF_ANY_OF;
    f->each = t->each && f->stored && x->home == REEF_MULTI;
}

static reef_status leaf_check(reef_world *w, const reef_term *t, const char **why)
{
    /* any relation, or an ancestor as a whole */
    const bool any = t->component.id == 0 && (t->up.id != 0 || !reef_entity_is_null(t->target));
    reef_status s = any ? REEF_OK : reef__type_ready(w, t->component.id);
    if (s != REEF_OK) return s;
    if ((uint32_t)t->access > REEF_WITH || (uint32_t)t->enabled > REEF_EITHER || (uint32_t)t->since > REEF_IF_ADDED)
        return REEF_BAD_ARGUMENT;
    const type *x = reef__type_of(t->component.id);
    *why = "'added' can't be used with '+'";
    if (t->subtypes && (t->subtypes > 1 || t->since == REEF_IF_ADDED || !reef_entity_is_null(t->source)))
        return REEF_BAD_ARGUMENT;
    const bool targeted = !reef_entity_is_null(t->target) || t->target_variable;
    *why = "only a relation has a target, and then it can't have 'of' or 'each'";
    if (targeted && ((x && x->relation == 0) || t->each || !reef_entity_is_null(t->source))) return REEF_BAD_ARGUMENT;
    s = reef__reach_check(w, t, why);
    if (s != REEF_OK || any || x->tracked) return s;
    *why = "'added' needs a type with track_rows";
    if (t->since == REEF_IF_ADDED) return REEF_BAD_ARGUMENT;
    *why = "'changed' needs a type with data, a switch, or one with track_rows";
    return t->since == REEF_IF_CHANGED && x->size == 0 && x->home != REEF_BIT ? REEF_BAD_ARGUMENT : REEF_OK;
}

/* Is term i a filter that asks for values, so that it says more than term j? What a loop writes is marked as changed
 * while the loop looks, so a filter beside written data can't ask what changed; the term with the data can. */
static bool filter_adds(const query_text *l, const term_facts *facts, uint32_t i, uint32_t j)
{
    return facts[i].filter && (facts[i].values || facts[i].near) &&
           (facts[j].filter || l->term[i].since == REEF_ALWAYS);
}

/* Is a component of one source named twice, where once is enough? */
static bool twice(const query_text *l, const term_facts *facts, uint32_t i)
{
    for (uint32_t j = 0; j < i; j++) {
        if (l->term[j].op >= REEF_ANY_OF || l->term[j].component.id != l->term[i].component.id) continue;
        if (term_reaches(&l->term[i], &facts[i]) && term_reaches(&l->term[j], &facts[j]) &&
            reach_variable(&l->term[i]) == reach_variable(&l->term[j]))
            return true; /* nobody could say whose value is meant */
        if (!reef_entity_equal(l->term[j].source, l->term[i].source) || l->term[j].subtypes != l->term[i].subtypes)
            continue;
        if (filter_adds(l, facts, i, j) || filter_adds(l, facts, j, i)) continue;
        /* who is related to one entity may be related to another one, too */
        if (!reef_entity_equal(l->term[j].target, l->term[i].target) && (facts[i].filter || facts[j].filter)) continue;
        if (l->term[j].variable != l->term[i].variable || l->term[j].target_variable != l->term[i].target_variable)
            continue;
        if (l->term[j].up.id != l->term[i].up.id) continue;
        if (facts[i].reads || facts[j].reads) continue;
        if (!facts[i].filter || !facts[j].filter || (facts[i].top && facts[j].top)) return true;
    }
    return false;
}

/* Is a term with `each` the only one, and one that may have it? */
static bool each_sound(const query_text *l, const term_facts *facts, uint32_t i)
{
    const reef_term *t = &l->term[i];
    if (!t->each) return true;
    for (uint32_t j = 0; j < i; j++)
        if (l->term[j].each) return false;
    return t->op == REEF_HAS && facts[i].top && !facts[i].filter && !facts[i].fixed;
}

/* Checks term *at and all that is inside it. */
static reef_status terms_check(reef_world *w, const char *op, const query_text *l, term_facts *facts, uint32_t *at,
                               bool top, bool filter)
{
    const uint32_t i = (*at)++;
    const reef_term *t = &l->term[i];
    const reef_component none = {0};
    if ((uint32_t)t->op > REEF_NONE_OF) return terms_refuse(w, op, REEF_BAD_ARGUMENT, t->component, l->column[i]);
    reef__facts_find(t, &facts[i], top, filter);
    if (t->op < REEF_ANY_OF) {
        const char *why = NULL;
        char detail[REEF_DETAIL_MAX];
        reef_status s = leaf_check(w, t, &why);
        if (s == REEF_OK && twice(l, facts, i))
            s = REEF_DUPLICATE_TERM,
            why = "it is named before: only filters may be named twice, and one of them in a group";
        if (s == REEF_OK && !each_sound(l, facts, i))
            s = REEF_BAD_ARGUMENT, why = "'each' may be used once, before a term with data that is in no group";
        if (s == REEF_OK && facts[i].near && (why = reef__near_check(l, i)) != NULL) s = REEF_BAD_ARGUMENT;
        if (s == REEF_OK && facts[i].values) {
            s = reef__conditions_check(l, i, detail, sizeof detail);
            if (s != REEF_OK) return condition_refuse(w, op, l, s, i, detail);
        }
        return s == REEF_OK ? s : term_refuse(w, op, l, s, i, why);
    }
    if (t->component.id || t->count == 0) return terms_refuse(w, op, REEF_BAD_ARGUMENT, t->component, l->column[i]);
    for (uint32_t k = 0; k < t->count; k++) {
        if (*at >= l->count) return terms_refuse(w, op, REEF_BAD_ARGUMENT, none, l->column[i]);
        reef_status s = terms_check(w, op, l, facts, at, false, filter || t->op == REEF_NONE_OF);
        if (s != REEF_OK) return s;
    }
    return REEF_OK;
}

/* Can the rows be visited parents first? */
static COLD bool cascade_check(reef_world *w, const char *op, const query_text *l, const term_facts *facts)
{
    const reef_order order = {.relation = l->cascade};
    ordering by;
    bool since = false, bound = false;
    reef_status s = reef__order_resolve(w, &order, &by);
    for (uint32_t i = 0; i < l->count; i++) {
        since |= l->term[i].since != REEF_ALWAYS;
        bound |= facts[i].bound;
    }
    const char *why = "'cascade' needs a relation that is exclusive and acyclic";
    if (s == REEF_OK && !relation_is_tree(by.relation)) s = REEF_BAD_ARGUMENT;
    if (s == REEF_OK && (since || bound)) {
        s = REEF_BAD_ARGUMENT;
        why = "a query with 'cascade' can't have variables, and can't ask what changed";
    }
    if (s == REEF_OK) return true;
    reef_error e = {.status = s, .operation = op, .component = l->cascade, .number = l->said ? l->cascade_column : 0};
    if (w->calling && !w->running) e.operation = w->calling;
    snprintf(e.detail, sizeof e.detail, "%s", why);
    return reef__failure_record(w, &e), false;
}

COLD bool reef__query_check(reef_world *w, const char *op, const query_text *l, term_facts *facts)
{
    memset(facts, 0, l->count * sizeof *facts);
    if ((uint32_t)l->entities > REEF_EITHER) return reef__refuse(w, REEF_BAD_ARGUMENT, op), false;
    for (uint32_t at = 0; at < l->count;)
        if (terms_check(w, op, l, facts, &at, true, false) != REEF_OK) return false;
    const char *why;
    const uint32_t bad = reef__variables_check(l, facts, &why);
    if (bad != REEF_TERMS_MAX) return term_refuse(w, op, l, REEF_BAD_ARGUMENT, bad, why), false;
    return l->cascade.id == 0 || cascade_check(w, op, l, facts);
}

/* Lists the columns that every match has; those that are written come first. */
static void columns_sort(query *q)
{
    for (uint32_t write = 2; write-- > 0;) {
        for (uint32_t i = 0; i < q->term_count; i++) {
            const reef_term *t = &q->terms[i];
            const term_facts *f = &q->facts[i];
            bool writes = t->access == REEF_INOUT || t->access == REEF_OUT;
            if (!term_has_data(q, i) || writes != (write != 0)) continue;
            q->tracked |= writes && reef__type_of(t->component.id)->tracked;
            if (f->stored) continue;
            if (t->op == REEF_OPTIONAL || !f->top) {
                q->optional_writes += writes;
                continue;
            }
            q->out |= t->access == REEF_OUT;
            q->block_bytes[q->head.column_count] = (size_t)reef__type_of(t->component.id)->size * REEF_BLOCK_ROWS;
            q->head.key[q->head.column_count++] = t->component.id << 1 | !writes;
        }
        if (write) q->head.write_count = q->head.column_count;
    }
    for (uint32_t i = q->head.column_count; i < REEF_TERMS_MAX; i++) q->head.key[i] = REEF_NO_KEY;
    if (q->head.column_count == 1) q->block_bytes[1] = q->block_bytes[0];
    uint32_t more = q->head.column_count > 2 ? q->head.column_count - 2 : 0;
    q->head.match_bytes = (uint32_t)(sizeof(match) + more * sizeof(uint16_t) + 7) & ~7u;
}

static size_t query_bytes(uint32_t count) { return sizeof(query) + count * sizeof(reef_term); }

/* Derives what the terms say together. */
static void query_resolve(query *q)
{
    q->since = q->fixed = q->tracked = q->out = false;
    q->head.column_count = q->head.write_count = q->optional_writes = 0;
    q->straight = q->entities != REEF_DISABLED;
    q->hides = true;
    for (uint32_t i = 0; i < q->term_count; i++) {
        q->hides &= q->terms[i].component.id != reef_id(ReefPrefab).id || q->facts[i].fixed;
        q->since |= q->terms[i].since != REEF_ALWAYS;
        q->fixed |= q->facts[i].fixed || q->facts[i].target || q->facts[i].near;
        q->straight &= q->terms[i].enabled != REEF_DISABLED;
    }
    columns_sort(q);
    q->straight &= q->head.column_count == q->term_count && !q->since && q->values == NULL && q->near == NULL;
}

/* False: no memory. */
static bool terms_take(query *q, const query_text *l, const term_facts *facts)
{
    bool subs = false;
    q->term_count = q->asked_count = l->count;
    q->entities = l->entities;
    memcpy(q->asked, l->term, l->count * sizeof *l->term);
    memcpy(q->asked_facts, facts, l->count * sizeof *facts);
    q->terms = q->asked;
    q->facts = q->asked_facts;
    for (uint32_t i = 0; i < l->count; i++) subs |= l->term[i].subtypes != 0;
    if (!reef__values_make(q) || !reef__near_make(q)) return false;
    if (subs && !reef__subs_expand(q)) return false;
    query_resolve(q);
    q->types.epoch = q->types.looked = q->rows_epoch = q->disabled_epoch = UINT64_MAX;
    return true;
}

/* Finds a free place in the world's list of queries. UINT32_MAX: no memory. */
static uint32_t place_take(reef_world *w)
{
    for (uint32_t i = 0; w->query_count < w->query_room && i < w->query_room; i++)
        if (w->queries[i].query == NULL) return i;
    const uint32_t first = w->query_room;
    memory *m = &w->family->memory;
    return reef__array_room(m, MEMORY_OTHER, &w->queries, &w->query_room, first + 1, sizeof *w->queries) ? first
                                                                                                         : UINT32_MAX;
}

/* A query that was freed and asked the same; tables made since then are found as for any query. NULL: there is
 * none. */
static query *query_again(reef_world *w, const query_text *l)
{
    for (uint32_t i = 0; i < FREED_QUERIES && w->freed_queries[i]; i++) {
        query *q = w->freed_queries[i];
        if (q->asked_count != l->count || q->entities != l->entities || q->values || q->near ||
            memcmp(q->asked, l->term, l->count * sizeof *l->term) != 0 || (q->plan && !reef__plan_names(q->plan, l)))
            continue;
        memmove(w->freed_queries + i, w->freed_queries + i + 1, (FREED_QUERIES - 1 - i) * sizeof *w->freed_queries);
        w->freed_queries[FREED_QUERIES - 1] = NULL;
        q->once = false;
        return q;
    }
    return NULL;
}

bool reef__asked_of_all(const query *q, uint32_t i)
{
    const reef_term *t = &q->asked[i];
    const term_facts *f = &q->asked_facts[i];
    return t->op == REEF_HAS && !t->subtypes && f->top && !f->bit && !f->cold && !f->fixed;
}

/* Notes types that each table of the query has. */
static void types_note(query *q)
{
    query_types *x = &q->types;
    for (uint32_t i = 0; i < q->asked_count && x->count < QUERY_TYPES; i++)
        if (reef__asked_of_all(q, i)) x->id[x->count++] = q->asked[i].component.id;
}

static query *query_fresh(reef_world *w, const query_text *l, const term_facts *facts)
{
    query *q = reef__memory_zeroed(&w->family->memory, MEMORY_OTHER, query_bytes(l->count));
    if (q == NULL) return NULL;
    q->world = w;
    if (terms_take(q, l, facts) && (types_note(q), true) && reef__cutting_make(q) && reef__plan_make(q, l)) return q;
    reef__cutting_drop(q);
    reef__subs_drop(q);
    reef__values_drop(q);
    reef__near_drop(q);
    reef__memory_free(&w->family->memory, MEMORY_OTHER, q, query_bytes(q->asked_count));
    return NULL;
}

static query *query_make(reef_world *w, const char *op, const query_text *l)
{
    term_facts facts[REEF_TERMS_MAX];
    if (w->running) return reef__refuse(w, REEF_LOCKED, op), NULL;
    if (!reef__query_check(w, op, l, facts)) return NULL;
    uint32_t place = place_take(w);
    query *q = place == UINT32_MAX ? NULL : query_again(w, l);
    if (q == NULL && place != UINT32_MAX) q = query_fresh(w, l, facts);
    if (q == NULL) return reef__refuse(w, REEF_NO_MEMORY, op), NULL;
    q->index = place;
    q->generation = ++w->queries[place].generation;
    mutex_lock(&w->family->lock);
    q->serial = ++w->family->query_serial;
    reef__query_types_file(w, &q->types);
    mutex_unlock(&w->family->lock);
    w->queries[place].query = q;
    w->query_count++;
    const bool waits = parameters_missing(q); /* it is used only once its parameters are set */
    if ((l->cascade.id == 0 || reef__ranking_cascade(q, l->cascade)) && (waits || query_update(q))) return q;
    reef__query_drop(q);
    return reef__refuse(w, REEF_NO_MEMORY, op), NULL;
}

static reef_query handle_to(const query *q)
{
    if (q == NULL) return (reef_query){0, 0, 0};
    return (reef_query){q->index, q->generation, q->world->hot.number};
}

static void desc_read(query_text *to, const reef_query_desc *desc)
{
    to->count = to->at = 0;
    to->said = false;
    for (uint32_t i = 0; i < REEF_TERMS_MAX; i++) {
        const reef_term *t = &desc->terms[i];
        if (!term_is_there(t)) break;
        to->term[i] = *t;
        to->column[i] = ++to->count;
    }
    to->entities = desc->entities;
    to->cascade = desc->cascade;
    to->variable_count = REEF_VARIABLES_MAX;
    memcpy(to->variables, desc->variables, sizeof to->variables);
    for (uint32_t i = 0; i < REEF_VARIABLES_MAX; i++) { /* zeroes behind each name */
        char *name = to->variables[i];
        size_t n = 0;
        while (n < REEF_VARIABLE_NAME_MAX && name[n]) n++;
        memset(name + n, 0, sizeof to->variables[i] - n);
    }
}

/* A term of a type that is split by field becomes terms of its parts. */
static COLD bool query_read(reef_world *w, const char *op, const char *text, const reef_query_desc *desc,
                            query_text *to)
{
    char detail[REEF_DETAIL_MAX];
    reef_status s = REEF_OK;
    if (text) s = reef__query_text_parse(w, text, to, detail, sizeof detail);
    else desc_read(to, desc);
    if (s != REEF_OK) return reef__failure_detail(w, s, op, to->at, detail), false;
    if (reef__terms_spread(to->term, to->column, &to->count)) return true;
    if (!to->said) return terms_refuse(w, op, REEF_LIMIT, (reef_component){0}, to->count), false;
    return reef__failure_detail(w, REEF_LIMIT, op, 0,
                                "a query has at most 64 terms; each field of a type that is split counts as one"),
           false;
}

COLD bool reef__query_read(reef_world *w, const char *op, const reef_query_desc *desc, query_text *to)
{
    return query_read(w, op, desc->text, desc, to);
}

COLD reef_query reef_query_make(reef_world *w, const reef_query_desc *desc)
{
    static const char op[] = "reef_query_make";
    query_text l;
    if (!WORLD_GIVEN(w)) return (reef_query){0, 0, 0};
    if (desc == NULL) return reef__refuse(w, REEF_BAD_ARGUMENT, op), (reef_query){0, 0, 0};
    return handle_to(reef__query_read(w, op, desc, &l) ? query_make(w, op, &l) : NULL);
}

COLD query *reef__query_make_text(reef_world *w, const char *op, const char *text)
{
    query_text l;
    if (text == NULL) return reef__refuse(w, REEF_BAD_ARGUMENT, op), NULL;
    return query_read(w, op, text, NULL, &l) ? query_make(w, op, &l) : NULL; /* without clearing a description */
}

COLD reef_query reef_query_new(reef_world *w, const char *text)
{
    return handle_to(WORLD_GIVEN(w) ? reef__query_make_text(w, "reef_query_new", text) : NULL);
}

COLD query *reef__query_copied(reef_world *to, const char *op, const query *q,
                               uint32_t (*now)(const void *context, uint32_t type), const void *context)
{
    query_text l;
    l.said = false;
    l.count = q->asked_count;
    l.entities = q->entities;
    l.cascade = (reef_component){0}; /* the order is copied below */
    memcpy(l.term, q->asked, q->asked_count * sizeof *q->asked);
    l.variable_count = 0;
    if (q->plan) l.variable_count = REEF_VARIABLES_MAX, memcpy(l.variables, q->plan->names, sizeof l.variables);
    for (uint32_t i = 0; i < l.count; i++) {
        l.column[i] = i + 1;
        if (now) l.term[i].component.id = now(context, l.term[i].component.id);
        if (now) l.term[i].up.id = now(context, l.term[i].up.id);
    }
    query *copy = query_make(to, op, &l);
    if (copy) reef__values_copy_set(copy, q);
    if (copy) reef__near_copy(copy, q);
    if (copy && q->ranking && !reef__ranking_copy(copy, q->ranking)) {
        reef__query_drop(copy);
        return reef__refuse(to, REEF_NO_MEMORY, op), NULL;
    }
    return copy;
}

COLD reef_query reef_query_copy(reef_world *to, const reef_world *from, reef_query which)
{
    static const char op[] = "reef_query_copy";
    reef_status s = REEF_BAD_ARGUMENT;
    const query *q = WORLD_GIVEN(from) ? query_of(from, which, &s) : NULL;
    if (!WORLD_GIVEN(to)) return (reef_query){0, 0, 0};
    if (q == NULL) return reef__refuse(to, s, op), (reef_query){0, 0, 0};
    return handle_to(reef__query_copied(to, op, q, NULL, NULL));
}

static void query_give(reef_world *w, query *q)
{
    if (q == NULL) return;
    reef__ranking_drop(q);
    reef__cutting_drop(q);
    reef__subs_drop(q);
    reef__plan_drop(q);
    reef__values_drop(q);
    reef__near_drop(q);
    reef__memory_free(&w->family->memory, MEMORY_OTHER, matches_memory(q), matches_bytes(q, q->match_capacity));
    reef__memory_free(&w->family->memory, MEMORY_OTHER, q, query_bytes(q->asked_count));
}

void reef__query_drop(query *q)
{
    reef_world *w = q->world;
    w->query_count--;
    w->queries[q->index].query = NULL;
    reef__query_types_leave(w, &q->types);
    reef__run_forget(q);
    reef__ranking_drop(q);
    query_give(w, w->freed_queries[FREED_QUERIES - 1]);
    memmove(w->freed_queries + 1, w->freed_queries, (FREED_QUERIES - 1) * sizeof *w->freed_queries);
    w->freed_queries[0] = q;
}

void reef__queries_forget(reef_world *w)
{
    for (uint32_t i = 0; i < FREED_QUERIES; i++) query_give(w, w->freed_queries[i]);
    memset(w->freed_queries, 0, sizeof w->freed_queries);
}

COLD reef_status reef_query_free(reef_world *w, reef_query which)
{
    reef_status s = REEF_OK;
    if (!WORLD_GIVEN(w)) return REEF_BAD_ARGUMENT;
    if (reef_query_is_null(which)) return REEF_OK;
    query *q = query_of(w, which, &s);
    if (q && q->open) s = REEF_LOCKED;
    if (s != REEF_OK) return reef__refuse(w, s, "reef_query_free");
    reef__query_drop(q);
    return REEF_OK;
}

void reef__queries_drop(reef_world *w)
{
    for (uint32_t i = 0; i < w->query_room; i++) query_give(w, w->queries[i].query);
    reef__queries_forget(w);
    reef__memory_free(&w->family->memory, MEMORY_OTHER, w->queries, w->query_room * sizeof *w->queries);
    w->queries = NULL;
    w->query_room = 0;
}

/* ---- the query as a text ---- */

COLD size_t reef_query_text(const reef_world *w, reef_query which, char *text, size_t size)
{
    reef_status s;
    const query *q = WORLD_GIVEN(w) ? query_of(w, which, &s) : NULL;
    text_out o = {text, text ? size : 0, 0};
    if (o.size) text[0] = 0;
    if (q)
        reef__query_text_write(&o, w, q->asked, q->asked_count, q->entities, reef__query_cascade(q),
                               reef__query_names(q));
    return o.length;
}
