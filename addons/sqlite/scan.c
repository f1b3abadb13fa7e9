/* Cursors.
 *
 *     scan    a loop over a query: block ─► run of matching rows ─► row. No row is copied.
 *     list    entities that were collected before the first row is read: when the statement changes the world, which no
 *             loop may be open for; the sources of a target; small tables
 *     one     a lookup by id
 *     index   entities by their index
 *
 * A join by id is a scan and a lookup for each of its rows. The scan's query names the other tables as optional terms,
 * so a lookup that meets the scan's own row takes the value from its block: both tables are read by one loop. */
#include "live.h"
#include <reef/value_index.h>
#include <stdlib.h>
#include <string.h>

static reef_sql_session *session_of(const live_cursor *c) { return c->table->session; }
static const sql_table *part_of(const live_cursor *c) { return &c->table->parts[0]; }

int reef__sql_open(sqlite3_vtab *v, sqlite3_vtab_cursor **cursor)
{
    live_table *t = ((live_vtab *)v)->table;
    size_t room = 0;
    for (uint32_t i = 0; i < t->part_count; i++)
        if (t->parts[i].info.size > room) room = t->parts[i].info.size;
    live_cursor *c = reef__sql_zeroed(sizeof *c);
    if (c == NULL) return SQLITE_NOMEM;
    c->room = reef__sql_zeroed(room);
    if (c->room == NULL) {
        sqlite3_free(c);
        return SQLITE_NOMEM;
    }
    c->room_bytes = room;
    c->table = t;
    c->next_open = t->session->cursors;
    t->session->cursors = c;
    *cursor = &c->base;
    return SQLITE_OK;
}

/* Ends what a cursor is doing. */
static void cursor_stop(live_cursor *c)
{
    reef_sql_session *s = session_of(c);
    if (c->scans && !c->over) reef_end(&c->block);
    for (uint32_t i = 0; i < s->scan_count; i++)
        if (s->scans[i] == c) s->scans[i--] = s->scans[--s->scan_count];
    for (uint32_t i = 0; i < c->match_count; i++) {
        (void)reef_query_free(c->world, c->matches[i].query);
        sqlite3_free(c->matches[i].text);
    }
    c->match_count = 0;
    c->past = false;
    c->scans = false;
    c->over = true;
    c->row_count = c->at = 0;
    c->value = NULL;
    c->looks_up = false;
    c->filter_count = 0;
}

int reef__sql_close(sqlite3_vtab_cursor *cursor)
{
    live_cursor *c = (live_cursor *)cursor, **p = &session_of(c)->cursors;
    cursor_stop(c);
    if (c->query.generation) (void)reef_query_free(c->query_world, c->query);
    while (*p != c) p = &(*p)->next_open;
    *p = c->next_open;
    sqlite3_free(c->joined);
    sqlite3_free(c->matches);
    sqlite3_free(c->rows);
    sqlite3_free(c->found);
    sqlite3_free(c->room);
    sqlite3_free(c);
    return SQLITE_OK;
}

/* ---- the query of a scan ---- */

/* Can a lookup of this table take its value from a block of another table's scan? */
static bool joinable(const live_cursor *scan, const live_cursor *other)
{
    if (other->table->kind != LIVE_COMPONENT || other == scan) return false;
    const sql_table *t = part_of(other);
    if (t->info.home != REEF_TABLE || t->info.size == 0 || t->base || t->type.id == part_of(scan)->type.id)
        return false;
    for (uint32_t i = 0; i < scan->joined_count; i++)
        if (scan->joined[i].id == t->type.id) return false;
    return scan->joined_count < LIVE_SCANS;
}

static bool join_find(live_cursor *c)
{
    if (c->joined || c->table->kind != LIVE_COMPONENT) return true;
    c->joined = reef__sql_zeroed(LIVE_SCANS * sizeof *c->joined);
    if (c->joined == NULL) return false;
    for (const live_cursor *o = session_of(c)->cursors; o; o = o->next_open)
        if (joinable(c, o)) c->joined[c->joined_count++] = part_of(o)->type;
    return true;
}

static int query_make(live_cursor *c)
{
    if (c->query.generation && c->query_world == c->world) return SQLITE_OK;
    if (c->query.generation) (void)reef_query_free(c->query_world, c->query);
    c->query = (reef_query){0, 0, 0};
    if (!join_find(c)) return SQLITE_NOMEM;
    if (c->table->kind == LIVE_QUERY) {
        c->query = reef_query_make(c->world, &(reef_query_desc){.text = c->table->text, .own = true});
    } else {
        const sql_table *t = part_of(c);
        reef_query_desc d = {.entities = REEF_EITHER};
        d.terms[0] = (reef_term){.component = t->type,
                                 .access = t->info.size ? REEF_IN : REEF_WITH,
                                 .enabled = REEF_EITHER,
                                 .each = t->many};
        for (uint32_t i = 0; i < c->joined_count; i++)
            d.terms[i + 1] =
                (reef_term){.component = c->joined[i], .access = REEF_IN, .op = REEF_OPTIONAL, .enabled = REEF_EITHER};
        const reef_component template = reef_type_find("ReefPrefab"); /* they are entities like others here */
        if (template.id != t->type.id && reef_count_id(c->world, template))
            d.terms[c->joined_count + 1] =
                (reef_term){.component = template, .access = REEF_WITH, .op = REEF_OPTIONAL, .enabled = REEF_EITHER};
        d.own = true;
        c->query = reef_query_make(c->world, &d);
    }
    c->query_world = c->world;
    if (!reef_query_is_null(c->query)) return SQLITE_OK;
    return reef__sql_live_world_failed(session_of(c), c->base.pVtab, c->world);
}

/* ---- rows of a scan ---- */

static double number_at(reef_kind kind, const char *at, int64_t *i)
{
    union {
        int8_t i8;
        int16_t i16;
        uint16_t u16;
        int32_t i32;
        uint32_t u32;
        int64_t i64;
        float f32;
        double f64;
    } v;
    switch (kind) {
    case REEF_BOOL: return (double)(*i = *at != 0);
    case REEF_U8: return (double)(*i = (uint8_t)*at);
    case REEF_I8: memcpy(&v, at, 1); return (double)(*i = v.i8);
    case REEF_I16: memcpy(&v, at, 2); return (double)(*i = v.i16);
    case REEF_U16: memcpy(&v, at, 2); return (double)(*i = v.u16);
    case REEF_I32: memcpy(&v, at, 4); return (double)(*i = v.i32);
    case REEF_U32: memcpy(&v, at, 4); return (double)(*i = v.u32);
    case REEF_I64: memcpy(&v, at, 8); return (double)(*i = v.i64);
    case REEF_F32: memcpy(&v, at, 4); return (double)v.f32;
    default: memcpy(&v, at, 8); return v.f64;
    }
}

static bool filter_holds(const live_filter *f, reef_kind kind, const char *at)
{
    int64_t i = 0;
    double r = number_at(kind, at, &i);
    int order; /* of the row's number to the constant; a value that isn't a number is NULL */
    if (kind == REEF_I64 && f->whole) order = (i > f->i) - (i < f->i);
    else if (r != r) return false;
    else order = (r > f->r) - (r < f->r);
    switch (f->op) {
    case SQLITE_INDEX_CONSTRAINT_EQ: return order == 0;
    case SQLITE_INDEX_CONSTRAINT_GT: return order > 0;
    case SQLITE_INDEX_CONSTRAINT_LE: return order <= 0;
    case SQLITE_INDEX_CONSTRAINT_LT: return order < 0;
    default: return order >= 0;
    }
}

/* Does this value of the table pass what the cursor decides? */
static bool value_passes(const live_cursor *c, const char *value)
{
    for (uint32_t k = 0; k < c->filter_count; k++) {
        const reef_field *f = c->table->columns[c->filters[k].column].field;
        if (value == NULL || !filter_holds(&c->filters[k], f->kind, value + f->offset)) return false;
    }
    return true;
}

/* The first of the queries that the entity matches; NULL: none. */
static const live_match *match_of(const live_cursor *c, reef_entity e)
{
    for (uint32_t i = 0; i < c->match_count; i++)
        if (reef_query_matches(c->world, c->matches[i].query, e)) return &c->matches[i];
    return NULL;
}

static bool entity_passes(const live_cursor *c, reef_entity e) { return c->match_count == 0 || match_of(c, e); }

static bool scan_row_passes(const live_cursor *c)
{
    const sql_table *t = part_of(c);
    if (c->filter_count && !value_passes(c, c->base_at[0] ? c->base_at[0] + (size_t)c->i * t->info.size : NULL))
        return false;
    return entity_passes(c, c->block.entities[c->i]);
}

/* Opens the next block, and finds where the values of the parts lie in it. */
static bool block_next(live_cursor *c)
{
    if (!reef_next(&c->block)) return false;
    c->block_number = ++session_of(c)->blocks;
    c->end = 0;
    for (uint32_t p = 0; p < c->table->part_count && p < LIVE_PARTS; p++) {
        const sql_table *t = &c->table->parts[p];
        const bool pieces = t->info.home == REEF_SPLIT || t->info.size == 0;
        c->base_at[p] = pieces ? NULL : reef_block_in(&c->block, t->type);
    }
    return true;
}

/* Goes to the next row that passes, at or after row `i`. */
static int scan_settle(live_cursor *c)
{
    for (;; c->i++) {
        while (c->i >= c->end) {
            uint32_t first = c->end, n = c->end < c->block.count ? reef_block_run(&c->block, &first) : 0;
            if (n == 0 && !block_next(c)) {
                c->over = true;
                if (reef_last_error(c->world).status == REEF_NO_MEMORY)
                    return reef__sql_live_failed(session_of(c), c->base.pVtab, REEF_NO_MEMORY, "no memory");
                return SQLITE_OK;
            }
            if (n == 0) continue;
            c->i = first;
            c->end = first + n;
        }
        if ((c->filter_count == 0 && c->match_count == 0) || scan_row_passes(c)) return SQLITE_OK;
    }
}

/* In a batch the rows are runs: as many rows as pass side by side. */
static void batch_measure(live_cursor *c)
{
    const uint32_t from = c->i;
    uint32_t to = c->end;
    if (c->filter_count || c->match_count) {
        for (to = from + 1; to < c->end; to++) {
            c->i = to;
            if (!scan_row_passes(c)) break;
        }
        c->i = from;
    }
    c->run_end = to;
    session_of(c)->batch_rows = to - from;
}

static int scan_begin(live_cursor *c)
{
    reef_sql_session *s = session_of(c);
    const int code = query_make(c);
    if (code != SQLITE_OK) return code;
    c->block = reef_begin(c->world, c->query);
    c->scans = true;
    c->over = false;
    c->i = c->end = 0;
    if (s->scan_count < LIVE_SCANS) s->scans[s->scan_count++] = c;
    return scan_settle(c);
}

/* ---- lists ---- */

static bool row_add(live_cursor *c, reef_entity e, reef_component type, uint32_t number)
{
    if (!reef__sql_more(&c->rows, c->row_count, &c->row_room, sizeof *c->rows)) return false;
    c->rows[c->row_count++] = (live_row){e, type, number};
    return true;
}

static const char *row_value(const live_cursor *c, reef_entity e, uint32_t number)
{
    return reef__sql_value(c->world, part_of(c), e, number, c->room);
}

/* Adds the values of an entity that pass. */
static bool entity_rows_add(live_cursor *c, reef_entity e)
{
    const sql_table *t = part_of(c);
    const uint32_t n = reef__sql_count(c->world, t, e);
    for (uint32_t k = 0; k < n; k++)
        if (value_passes(c, c->filter_count ? row_value(c, e, k) : NULL) && entity_passes(c, e) &&
            !row_add(c, e, t->type, k))
            return false;
    return true;
}

/* The number of the row's value, where an entity may have several. */
static uint32_t number_of(const live_cursor *c)
{
    if (!c->scans) return c->rows[c->at].number;
    return c->table->kind == LIVE_COMPONENT && part_of(c)->many ? c->block.loop.number : 0;
}

static int list_by_scan(live_cursor *c)
{
    int code = scan_begin(c);
    while (code == SQLITE_OK && !c->over) {
        if (!row_add(c, c->block.entities[c->i], (reef_component){0}, number_of(c))) code = SQLITE_NOMEM;
        c->i++;
        if (code == SQLITE_OK) code = scan_settle(c);
    }
    const uint32_t count = c->row_count;
    cursor_stop(c);
    c->row_count = count;
    c->over = count == 0;
    return code;
}

static int list_sources(live_cursor *c, reef_entity target)
{
    const bool entities = c->table->kind == LIVE_ENTITIES;
    const reef_component relation = entities ? reef_type_find("ChildOf") : part_of(c)->type;
    for (reef_sources x = reef_sources_of_id(c->world, target, relation); reef_sources_next(&x);)
        for (uint32_t i = 0; i < x.count; i++) {
            uint32_t n = 0, k = 0;
            const char *all = entities ? NULL : reef_get_all_id(c->world, x.sources[i], relation, &n);
            const reef_field *f = entities ? NULL : c->table->columns[0].field;
            for (; k < n && memcmp(all + (size_t)k * part_of(c)->info.size + f->offset, &target, sizeof target) != 0;
                 k++)
                continue;
            if (!value_passes(c, all ? all + (size_t)k * part_of(c)->info.size : NULL)) continue;
            if (entity_passes(c, x.sources[i]) && !row_add(c, x.sources[i], relation, k)) return SQLITE_NOMEM;
        }
    c->over = c->row_count == 0;
    return SQLITE_OK;
}

typedef struct listing {
    live_cursor *c;
    bool failed;
} listing;

static bool disabled_list(void *context, reef_entity e, reef_component type, const void *data, size_t size)
{
    listing *l = context;
    (void)data, (void)size;
    const live_row *last = l->c->row_count ? &l->c->rows[l->c->row_count - 1] : NULL;
    if (last && reef_entity_equal(last->e, e) && last->type.id == type.id) return true; /* one of several values */
    if (reef_is_enabled_id(l->c->world, e, type) || !entity_passes(l->c, e)) return true;
    if (!row_add(l->c, e, type, 0)) l->failed = true;
    return !l->failed;
}

static bool single_list(void *context, reef_entity e, reef_component type, const void *data, size_t size)
{
    listing *l = context;
    (void)data, (void)size;
    const live_row *last = l->c->row_count ? &l->c->rows[l->c->row_count - 1] : NULL;
    if ((last == NULL || last->type.id != type.id) && entity_passes(l->c, e) && !row_add(l->c, e, type, 0))
        l->failed = true;
    return !l->failed;
}

static int list_small(live_cursor *c)
{
    const reef_sql_session *s = session_of(c);
    const reef_component none = {0};
    listing l = {c, false};
    switch (c->table->kind) {
    case LIVE_DISABLED:
        (void)reef_visit_entities(c->world, disabled_list, &l);
        if (!reef_visit_world(c->world, disabled_list, &l)) l.failed = true; /* no memory */
        break;
    case LIVE_SINGLETONS: (void)reef_visit_entity(c->world, reef_single_entity(c->world), single_list, &l); break;
    default:
        for (uint32_t i = 0; i < s->table_count && !l.failed; i++) {
            const live_table *t = s->tables[i];
            const uint32_t n = c->table->kind == LIVE_TYPES ? 1 : t->column_count;
            for (uint32_t k = 0; t->kind == LIVE_COMPONENT && k < n && !l.failed; k++)
                l.failed = !row_add(c, (reef_entity){i, 1}, none, k);
        }
    }
    c->over = c->row_count == 0;
    return l.failed ? SQLITE_NOMEM : SQLITE_OK;
}

/* ---- lookups ---- */

/* Takes the value from the block of a scan that is at this entity. False: there is none. */
static bool scan_meets(live_cursor *c, reef_entity e)
{
    const reef_sql_session *s = session_of(c);
    const sql_table *t = part_of(c);
    for (uint32_t i = 0; i < s->scan_count; i++) {
        const live_cursor *o = s->scans[i];
        if (o == c || o->over || o->world != c->world || !reef_entity_equal(o->block.entities[o->i], e)) continue;
        uint32_t k = 0;
        while (k < o->joined_count && o->joined[k].id != t->type.id) k++;
        if (k == o->joined_count) continue;
        if (c->from_block != o->block_number) {
            c->from_base = reef_block_in(&o->block, t->type);
            c->from_block = o->block_number;
        }
        c->value = c->from_base ? c->from_base + (size_t)o->i * t->info.size : NULL;
        return true;
    }
    return false;
}

static int one_find(live_cursor *c, reef_entity e)
{
    c->over = true;
    if (!reef_is_alive(c->world, e) || !entity_passes(c, e)) return SQLITE_OK;
    c->row_count = 1;
    if (!reef__sql_more(&c->rows, 0, &c->row_room, sizeof *c->rows)) return SQLITE_NOMEM;
    c->rows[0] = (live_row){e, {0}, 0};
    if (c->table->kind == LIVE_ENTITIES) {
        c->over = false;
    } else if (c->table->kind == LIVE_QUERY) {
        const int code = query_make(c);
        if (code != SQLITE_OK) return code;
        c->over = !reef_query_matches(c->world, c->query, e);
    } else if (scan_meets(c, e)) {
        c->over = c->value == NULL || !value_passes(c, c->value);
    } else {
        c->row_count = 0;
        if (!entity_rows_add(c, e)) return SQLITE_NOMEM;
        c->over = c->row_count == 0;
    }
    return SQLITE_OK;
}

/* ---- the plan ---- */

static int past_choose(live_cursor *c, sqlite3_value *value)
{
    reef_sql_session *s = session_of(c);
    const int64_t wanted = sqlite3_value_int64(value);
    const int type = sqlite3_value_type(value);
    const bool whole =
        type == SQLITE_INTEGER || (type == SQLITE_FLOAT && sqlite3_value_double(value) == (double)wanted);
    if (!whole || wanted < 0)
        return reef__sql_live_failed(s, c->base.pVtab, REEF_BAD_TEXT, "at = needs a tick: a whole number from 0");
    if (s->past == NULL)
        return reef__sql_live_failed(s, c->base.pVtab, REEF_BAD_ARGUMENT, "at: the session has no file with a past");
    const uint64_t tick = (uint64_t)wanted;
    c->past = true;
    c->tick = wanted;
    for (uint32_t i = 0; i < LIVE_PASTS; i++)
        if (s->past_world[i] && s->past_tick[i] == tick) return c->world = s->past_world[i], SQLITE_OK;
    uint32_t at = 0; /* a place that no cursor uses */
    for (bool used = true; at < LIVE_PASTS && used; at += used) {
        used = false;
        for (const live_cursor *o = s->cursors; o; o = o->next_open)
            used |= s->past_world[at] && (o->world == s->past_world[at] || o->query_world == s->past_world[at]);
    }
    if (at == LIVE_PASTS)
        return reef__sql_live_failed(s, c->base.pVtab, REEF_LIMIT, "at: at most four ticks at a time");
    reef_world_free(s->past_world[at]);
    s->past_world[at] = NULL;
    const reef_status status = reef_sqlite_at(s->past, tick, &s->past_world[at]);
    if (status != REEF_OK) return reef__sql_live_failed(s, c->base.pVtab, status, reef_sqlite_reason(s->past));
    s->past_tick[at] = tick;
    c->world = s->past_world[at];
    return SQLITE_OK;
}

static int match_add(live_cursor *c, sqlite3_value *value)
{
    reef_sql_session *s = session_of(c);
    const bool is_text = sqlite3_value_type(value) == SQLITE_TEXT;
    const char *text = is_text ? (const char *)sqlite3_value_text(value) : NULL;
    if (!is_text) return reef__sql_live_failed(s, c->base.pVtab, REEF_BAD_TEXT, "query = needs the text of a query");
    if (text == NULL || !reef__sql_more(&c->matches, c->match_count, &c->match_room, sizeof *c->matches))
        return SQLITE_NOMEM;
    if (s->confined && sqlite3_value_bytes(value) > LIVE_QUERY_BYTES)
        return reef__sql_live_failed(s, c->base.pVtab, REEF_LIMIT, "query = has a text that is too long");
    live_match m = {.text = reef__sql_copy(text)};
    if (m.text == NULL) return SQLITE_NOMEM;
    m.query = reef_query_make(c->world, &(reef_query_desc){.text = text, .own = true});
    if (reef_query_is_null(m.query)) {
        sqlite3_free(m.text);
        return reef__sql_live_world_failed(s, c->base.pVtab, c->world);
    }
    c->matches[c->match_count++] = m;
    return SQLITE_OK;
}

/* `query in (...)`: all its values at once. */
static int matches_make(live_cursor *c, sqlite3_value *list, bool several)
{
    sqlite3_value *value = NULL;
    if (c->table->kind == LIVE_TYPES || c->table->kind == LIVE_FIELDS)
        return reef__sql_live_failed(session_of(c), c->base.pVtab, REEF_BAD_TEXT, "query: this table has no entities");
    if (!several) return match_add(c, list);
    int code = SQLITE_OK, next = sqlite3_vtab_in_first(list, &value);
    while (next == SQLITE_OK && value && code == SQLITE_OK) {
        code = match_add(c, value);
        if (code == SQLITE_OK) next = sqlite3_vtab_in_next(list, &value);
    }
    return next == SQLITE_OK || next == SQLITE_DONE ? code : next;
}

typedef struct plan {
    bool one, related, keyed, none;
    reef_entity entity, target;
    uint32_t column; /* of a value that is looked up */
    sqlite3_value *value;
    sqlite3_value *match; /* of query, or of queries (several) */
    bool several;
} plan;

/* The entity whose id is equal to a value, as SQL compares: 1.0 and '1' are equal to 1. */
static bool id_take(sqlite3_value *value, reef_entity *e)
{
    const int type = sqlite3_value_numeric_type(value);
    const sqlite3_int64 id = sqlite3_value_int64(value);
    if (type != SQLITE_INTEGER && (type != SQLITE_FLOAT || sqlite3_value_double(value) != (double)id)) return false;
    *e = sql_entity(id);
    return true;
}

static int op_named(const char *op)
{
    if (op[0] == '=') return SQLITE_INDEX_CONSTRAINT_EQ;
    if (op[0] == '>') return op[1] == '=' ? SQLITE_INDEX_CONSTRAINT_GE : SQLITE_INDEX_CONSTRAINT_GT;
    return op[1] == '=' ? SQLITE_INDEX_CONSTRAINT_LE : SQLITE_INDEX_CONSTRAINT_LT;
}

/* ---- rows by a value ---- */

/* The key of a whole number that is equal to a value, as SQL compares. False: the field has no such number. */
static bool field_key(const reef_field *f, sqlite3_value *value, uint64_t *key)
{
    static const int64_t least[REEF_U32 + 1] = {[REEF_I8] = INT8_MIN, [REEF_I16] = INT16_MIN, [REEF_I32] = INT32_MIN};
    static const int64_t most[REEF_U32 + 1] = {
        [REEF_I8] = INT8_MAX,    [REEF_U8] = UINT8_MAX,  [REEF_I16] = INT16_MAX,
        [REEF_U16] = UINT16_MAX, [REEF_I32] = INT32_MAX, [REEF_U32] = UINT32_MAX};
    const int type = sqlite3_value_numeric_type(value);
    const sqlite3_int64 i = sqlite3_value_int64(value);
    if (type != SQLITE_INTEGER && (type != SQLITE_FLOAT || sqlite3_value_double(value) != (double)i)) return false;
    *key = f->kind == REEF_I64 ? reef_key_i64(i) : (uint64_t)i;
    if (f->kind == REEF_I64) return true;
    if (i < least[f->kind] || i > most[f->kind]) return false;
    if (least[f->kind]) *key = reef_key_i32((int32_t)i);
    return true;
}

/* Lists the rows with a value by the world's index. False: there is none, so the rows are scanned. */
static bool list_by_value(live_cursor *c, const plan *p, int *code)
{
    const reef_sql_session *s = session_of(c);
    const reef_field *f = c->table->columns[p->column].field;
    uint64_t key;
    if (s->writes || c->world != s->world) return false;
    if (c->values_statement != s->statement) {
        const reef_component type = part_of(c)->type;
        c->values = reef_index_of_id(c->world, type, f->name);
        /* It leaves out what is disabled, which tables have. */
        if (reef_index_range(c->values, 0, UINT64_MAX, 0, NULL, 0) < reef_count_id(c->world, type)) c->values = NULL;
    }
    c->values_statement = s->statement;
    if (c->values == NULL) return false;
    const uint64_t n = field_key(f, p->value, &key) ? reef_index_get(c->values, key, c->found, c->found_room) : 0;
    while (n > c->found_room)
        if (!reef__sql_more(&c->found, c->found_room, &c->found_room, sizeof *c->found))
            return *code = SQLITE_NOMEM, true;
    if (n) (void)reef_index_get(c->values, key, c->found, c->found_room);
    for (uint64_t i = 0; i < n; i++)
        if (!entity_rows_add(c, c->found[i])) *code = SQLITE_NOMEM;
    c->over = c->row_count == 0;
    return true;
}

/* A word of the plan for each value: see filter_take in live.c. */
static int plan_read(live_cursor *c, plan *p, const char *text, sqlite3_value **values)
{
    int code = SQLITE_OK;
    for (int k = 0; text && *text && code == SQLITE_OK; k++, text += strcspn(text, " "), text += *text == ' ') {
        switch (*text) {
        case 'i': p->one = true, p->none |= !id_take(values[k], &p->entity); break;
        case 't': p->related = true, p->none |= !id_take(values[k], &p->target); break;
        case 'q': p->match = values[k], p->several = strncmp(text, "queries", 7) == 0; break;
        case 'a': code = past_choose(c, values[k]); break;
        case 'b':
            p->keyed = true;
            p->column = (uint32_t)strtol(text + strlen("by:"), NULL, 10);
            p->value = values[k];
            break;
        default: {
            live_filter *f = &c->filters[c->filter_count++];
            char *op;
            f->column = (uint32_t)strtol(text, &op, 10);
            f->op = op_named(op);
            f->whole = sqlite3_value_type(values[k]) == SQLITE_INTEGER;
            f->i = sqlite3_value_int64(values[k]);
            f->r = sqlite3_value_double(values[k]);
        }
        }
    }
    return code;
}

/* The inner loop of a join looks up one id after the other. This is the whole of it where the value lies in the block
 * that the outer loop is in. False: the long way. */
static bool joined_next(live_cursor *c, sqlite3_value *id)
{
    reef_entity e;
    if (!c->looks_up || !id_take(id, &e) || !scan_meets(c, e)) return false;
    c->rows[0].e = e;
    c->at = 0;
    c->over = c->value == NULL;
    return true;
}

int reef__sql_filter(sqlite3_vtab_cursor *cursor, int number, const char *text, int count, sqlite3_value **values)
{
    live_cursor *c = (live_cursor *)cursor;
    const reef_sql_session *s = session_of(c);
    plan p = {0};
    (void)count;
    if (number == LIVE_PLAN_ID && joined_next(c, values[0])) return SQLITE_OK;
    cursor_stop(c);
    c->world = s->world;
    c->index = c->index_end = 0;
    int code = plan_read(c, &p, text, values);
    if (code == SQLITE_OK && p.match) {
        code = matches_make(c, p.match, p.several);
        if (code == SQLITE_OK && c->match_count == 0) p.none = true; /* in () */
    }
    if (code != SQLITE_OK || p.none) return code;
    const live_kind kind = c->table->kind;
    if (s->batch && (kind != LIVE_COMPONENT || p.one || p.related || p.keyed)) return SQLITE_MISMATCH;
    if (p.one) {
        code = one_find(c, p.entity);
        c->looks_up = number == LIVE_PLAN_ID && c->value && c->row_count == 1;
        return code;
    }
    if (p.related) return list_sources(c, p.target);
    if (p.keyed && list_by_value(c, &p, &code)) return code;
    if (kind == LIVE_ENTITIES) {
        c->index_end = (uint32_t)reef_world_stats(c->world).indices;
        c->over = false;
        c->index = UINT32_MAX;
        return reef__sql_next(cursor);
    }
    if (kind > LIVE_ENTITIES) return list_small(c);
    if (s->writes && c->world == s->world) return list_by_scan(c);
    code = scan_begin(c);
    if (s->batch && code == SQLITE_OK && !c->over) batch_measure(c);
    return code;
}

int reef__sql_next(sqlite3_vtab_cursor *cursor)
{
    live_cursor *c = (live_cursor *)cursor;
    if (c->scans) {
        const bool batch = session_of(c)->batch;
        c->i = batch ? c->run_end : c->i + 1;
        /* the row by row case, in the middle of a run */
        if (!batch && c->i < c->end && c->filter_count == 0 && c->match_count == 0) return SQLITE_OK;
        const int code = scan_settle(c);
        if (batch && code == SQLITE_OK && !c->over) batch_measure(c);
        return code;
    }
    if (c->index_end) {
        reef_entity e = {0, 0};
        while (++c->index < c->index_end) {
            e = reef_entity_at(c->world, c->index);
            if (e.generation && entity_passes(c, e)) break;
        }
        c->one = e;
        c->over = c->index >= c->index_end;
        return SQLITE_OK;
    }
    c->over = ++c->at >= c->row_count;
    return SQLITE_OK;
}

int reef__sql_eof(sqlite3_vtab_cursor *cursor) { return ((live_cursor *)cursor)->over; }

/* ---- columns ---- */

static reef_entity entity_of(const live_cursor *c)
{
    if (c->scans) return c->block.entities[c->i];
    return c->index_end ? c->one : c->rows[c->at].e;
}

static void id_result(sqlite3_context *context, reef_entity e)
{
    if (e.generation) sqlite3_result_int64(context, sql_id(e));
}

static const char *table_of_type(const live_cursor *c, reef_component type)
{
    const reef_sql_session *s = session_of(c);
    for (uint32_t i = 0; i < s->table_count; i++)
        if (s->tables[i]->kind == LIVE_COMPONENT && s->tables[i]->parts[0].type.id == type.id)
            return s->tables[i]->parts[0].name;
    return "";
}

static void types_column(const live_cursor *c, sqlite3_context *context, int column)
{
    static const char *const homes[] = {"table", "bit", "sparse", "paged", "cold", "multi", "shared", "split"};
    const sql_table *t = &session_of(c)->tables[c->rows[c->at].e.index]->parts[0];
    switch (column) {
    case 0: sqlite3_result_text(context, t->name, -1, SQLITE_TRANSIENT); break;
    case 1: sqlite3_result_text(context, t->relation ? "relation" : homes[t->info.home], -1, SQLITE_STATIC); break;
    case 2: sqlite3_result_int64(context, t->info.size); break;
    default: sqlite3_result_int64(context, (sqlite3_int64)reef_count_id(c->world, t->type)); break;
    }
}

/* "CALM 0, ANGRY 1" */
static void names_result(sqlite3_context *context, const reef_names *names)
{
    sqlite3_str *s = sqlite3_str_new(NULL);
    for (uint32_t i = 0; i < names->count; i++)
        sqlite3_str_appendf(s, "%s%s %lld", i ? ", " : "", names->values[i].name,
                            (sqlite3_int64)names->values[i].value);
    char *text = sqlite3_str_finish(s);
    if (text) sqlite3_result_text(context, text, -1, sqlite3_free);
    else sqlite3_result_error_nomem(context);
}

static void fields_column(const live_cursor *c, sqlite3_context *context, int column)
{
    const sql_table *t = &session_of(c)->tables[c->rows[c->at].e.index]->parts[0];
    const uint32_t i = c->rows[c->at].number;
    const reef_field *f = t->info.field_count ? &t->info.fields[i] : NULL;
    switch (column) {
    case 0: sqlite3_result_text(context, t->name, -1, SQLITE_TRANSIENT); break;
    case 1: sqlite3_result_text(context, t->columns[i], -1, SQLITE_TRANSIENT); break;
    case 2: sqlite3_result_text(context, f ? reef__sql_kind_name(f->kind) : "bytes", -1, SQLITE_STATIC); break;
    case 3: sqlite3_result_int64(context, f ? f->bytes : t->info.size); break;
    case 4: sqlite3_result_text(context, f ? f->unit : NULL, -1, SQLITE_TRANSIENT); break;
    case 7:
        if (f && f->names) names_result(context, f->names);
        break;
    default:
        if (f && f->lowest < f->highest) sqlite3_result_double(context, column == 5 ? f->lowest : f->highest);
    }
}

static void entity_column(const live_cursor *c, sqlite3_context *context, int column)
{
    const reef_entity e = entity_of(c);
    const reef_component parent = reef_type_find("ChildOf");
    switch (column) {
    case 1: sqlite3_result_int64(context, e.generation); break;
    case 2: sqlite3_result_text(context, reef_name(c->world, e), -1, SQLITE_TRANSIENT); break;
    default: id_result(context, reef_target_id(c->world, e, parent)); break;
    }
}

/* The value of a part in this row; NULL: there is none. */
static const char *part_value(live_cursor *c, uint32_t p)
{
    const sql_table *t = &c->table->parts[p];
    if (c->value) return c->value;
    if (c->scans && p < LIVE_PARTS && t->info.home != REEF_SPLIT)
        return c->base_at[p] ? c->base_at[p] + (size_t)c->i * t->info.size : NULL;
    return reef__sql_value(c->world, t, entity_of(c), c->table->kind == LIVE_COMPONENT ? number_of(c) : 0, c->room);
}

static int component_column(live_cursor *c, sqlite3_context *context, uint32_t column)
{
    const live_column *k = &c->table->columns[column];
    const char *value = part_value(c, k->part);
    if (value == NULL) return SQLITE_OK;
    if (k->field && sql_field_plain(k->field)) {
        int64_t i = 0;
        const double r = number_at(k->field->kind, value + k->field->offset, &i);
        if (k->field->kind < REEF_F32) sqlite3_result_int64(context, i);
        else if (r == r) sqlite3_result_double(context, r);
        return SQLITE_OK;
    }
    reef__sql_result(context, k->field, value, c->table->parts[k->part].info.size);
    return SQLITE_OK;
}

/* Hands a run of values to an aggregate. What isn't a plain number can't be handed out so. */
static int batch_column(live_cursor *c, sqlite3_context *context, uint32_t column)
{
    const reef_field *f = column < c->table->column_count ? c->table->columns[column].field : NULL;
    if (f == NULL || !sql_field_plain(f) || c->base_at[0] == NULL) return SQLITE_MISMATCH;
    live_batch *b = sqlite3_malloc(sizeof *b);
    if (b == NULL) return SQLITE_NOMEM;
    const size_t stride = part_of(c)->info.size;
    *b = (live_batch){c->base_at[0] + f->offset + c->i * stride, stride, f->kind, c->run_end - c->i};
    sqlite3_result_pointer(context, b, LIVE_BATCH, sqlite3_free);
    return SQLITE_OK;
}

/* SQLite reads a hidden column where it decides a condition itself. What a plan was made with is known; else the
 * condition isn't one that chooses the table's rows. UPDATE ... FROM reads all columns of the rows that it changes. */
static void hidden_column(const live_cursor *c, sqlite3_context *context, bool query)
{
    const bool has_entity = c->table->kind != LIVE_TYPES && c->table->kind != LIVE_FIELDS;
    const live_match *m = query && c->match_count && has_entity ? match_of(c, entity_of(c)) : NULL;
    const bool named = c->table->kind == LIVE_QUERY || c->table->named[!query] == session_of(c)->statement;
    if (sqlite3_vtab_nochange(context) || !named) return;
    if (m) sqlite3_result_text(context, m->text, -1, SQLITE_TRANSIENT);
    else if (!query && c->past) sqlite3_result_int64(context, c->tick);
    else
        sqlite3_result_error(context,
                             query
                                 ? "query can only stand in query = '...' and query in ('...', '...'), joined to other "
                                   "conditions by AND"
                                 : "at can only stand in at = 120 and at in (120, 130), joined to other conditions by "
                                   "AND",
                             -1);
}

int reef__sql_column(sqlite3_vtab_cursor *cursor, sqlite3_context *context, int column)
{
    live_cursor *c = (live_cursor *)cursor;
    const live_table *t = c->table;
    if (t->session->batch)
        return column < (int)t->first ? SQLITE_MISMATCH : batch_column(c, context, (uint32_t)column - t->first);
    if (column >= (int)t->first && column < (int)t->hidden && t->column_count) {
        if (t->session->writes && sqlite3_vtab_nochange(context))
            return SQLITE_OK; /* of an UPDATE that doesn't name the column */
        return component_column(c, context, (uint32_t)column - t->first);
    }
    if (column >= (int)t->hidden) {
        hidden_column(c, context, column == (int)t->hidden);
        return SQLITE_OK;
    }
    switch (t->kind) {
    case LIVE_TYPES: types_column(c, context, column); break;
    case LIVE_FIELDS: fields_column(c, context, column); break;
    case LIVE_DISABLED:
    case LIVE_SINGLETONS:
        if ((column == 0) == (t->kind == LIVE_DISABLED)) id_result(context, c->rows[c->at].e);
        else sqlite3_result_text(context, table_of_type(c, c->rows[c->at].type), -1, SQLITE_TRANSIENT);
        break;
    case LIVE_ENTITIES:
        if (column) {
            if (!sqlite3_vtab_nochange(context)) entity_column(c, context, column);
            break;
        }
        id_result(context, entity_of(c));
        break;
    default:
        if (column == 1) sqlite3_result_int64(context, number_of(c));
        else id_result(context, entity_of(c));
    }
    return SQLITE_OK;
}

int reef__sql_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *rowid)
{
    const live_cursor *c = (const live_cursor *)cursor;
    const live_table *t = c->table;
    reef_sql_session *s = t->session;
    if (s->writes && c->world != s->world)
        return reef__sql_live_failed(s, cursor->pVtab, REEF_REFUSED, "at: rows of the past can't be changed");
    if (s->writes && t->kind == LIVE_COMPONENT && t->parts[0].many)
        return reef__sql_row_number(s, t, entity_of(c), number_of(c), rowid);
    if (t->kind == LIVE_DISABLED)
        *rowid = (sqlite3_int64)c->rows[c->at].e.index * LIVE_TYPE_IDS + c->rows[c->at].type.id;
    else if (t->kind > LIVE_ENTITIES) *rowid = c->at;
    else if (t->kind == LIVE_COMPONENT && t->parts[0].many)
        *rowid = (sqlite3_int64)entity_of(c).index * REEF_MULTI_MAX + number_of(c);
    else *rowid = sql_id(entity_of(c));
    return SQLITE_OK;
}
