/* Row numbers of types of which an entity may have several values.
 *
 * SQLite collects the numbers of all rows that a statement concerns, and then changes one row after the other. The
 * values of an entity have no name of their own but their place, and places shift when a value is removed. So a row
 * number is given to a value as it is when SQLite reads it:
 *
 *     bits 63 .. 40: which reading      39 .. 8: the entity's index      7 .. 0: the place at that reading
 *
 * and for each entity that was read this file knows what has become of each place. Of a relation that is its target,
 * which is looked for again, since relations also end with other relations and with their targets. Of other types it is
 * the place now, which moves with each removal by the statement. */
#include "live.h"
#include <string.h>

enum { INDEX_SHIFT = 8, READING_SHIFT = 40, READINGS_MAX = 1 << 23, PLACE_GONE = UINT16_MAX };

/* The values of an entity at one reading. */
struct live_values {
    const live_table *table;
    live_values *next, *older; /* in the hash table; of the same entity in this table */
    reef_entity e;
    uint32_t reading;
    uint32_t count;   /* of values at the reading */
    uint32_t now;     /* how many there are now, after what the statement did */
    uint64_t written; /* rows that the statement had written before */
    union {
        reef_entity target; /* of a relation */
        uint16_t place;     /* now; PLACE_GONE: it was removed */
    } of[];
};

static uint32_t slot_of(const reef_sql_session *s, const live_table *t, uint32_t index)
{
    const uint64_t key = ((uint64_t)t->parts[0].type.id << 32 | index) * UINT64_C(0x9E3779B97F4A7C15);
    return (uint32_t)(key >> 32) & (s->values_room - 1);
}

/* The newest reading of the entity with this index. */
static live_values *values_find(const reef_sql_session *s, const live_table *t, uint32_t index)
{
    if (s->values_room == 0) return NULL;
    live_values *v = s->values[slot_of(s, t, index)];
    while (v && (v->table != t || v->e.index != index)) v = v->next;
    return v;
}

static bool values_grow(reef_sql_session *s)
{
    const uint32_t was = s->values_room, room = was ? was * 2 : 64;
    live_values **old = s->values, **more = reef__sql_zeroed(room * sizeof(live_values *));
    if (more == NULL) return false;
    s->values = more;
    s->values_room = room;
    for (uint32_t i = 0; i < was; i++)
        for (live_values *v = old[i], *next; v; v = next) {
            live_values **slot = &more[slot_of(s, v->table, v->e.index)];
            next = v->next;
            v->next = *slot;
            *slot = v;
        }
    sqlite3_free(old);
    return true;
}

static reef_entity target_of_place(const live_table *t, const char *all, uint32_t i)
{
    reef_entity target;
    memcpy(&target, all + (size_t)i * t->parts[0].info.size, sizeof target); /* a relation's struct begins with it */
    return target;
}

/* Reads the values of an entity. It takes the place of an older reading in the hash table. */
static live_values *values_read(reef_sql_session *s, const live_table *t, reef_entity e, live_values *older)
{
    const sql_table *p = &t->parts[0];
    const uint32_t count = reef__sql_count(s->world, p, e);
    live_values *v = reef__sql_zeroed(sizeof *v + count * sizeof v->of[0]);
    uint32_t n = 0;
    if (v == NULL || (older == NULL && s->values_count >= s->values_room / 2 && !values_grow(s))) {
        sqlite3_free(v);
        return NULL;
    }
    const char *all = p->relation ? reef_get_all_id(s->world, e, p->type, &n) : NULL;
    v->table = t;
    v->older = older;
    v->e = e;
    v->reading = older ? older->reading + 1 : 0;
    v->count = v->now = count;
    v->written = s->written;
    for (uint32_t i = 0; i < count; i++) {
        if (!p->relation) v->of[i].place = (uint16_t)i;
        else if (all && i < n) v->of[i].target = target_of_place(t, all, i);
    }
    live_values **slot = &s->values[slot_of(s, t, e.index)];
    if (older) {
        while (*slot != older) slot = &(*slot)->next;
        v->next = older->next;
    } else {
        v->next = *slot;
        s->values_count++;
    }
    *slot = v;
    return v;
}

int reef__sql_row_number(reef_sql_session *s, const live_table *t, reef_entity e, uint32_t number, sqlite3_int64 *rowid)
{
    live_values *v = values_find(s, t, e.index);
    if (v == NULL || !reef_entity_equal(v->e, e) || v->written != s->written) v = values_read(s, t, e, v);
    if (v == NULL) return SQLITE_NOMEM;
    if (v->reading >= READINGS_MAX)
        return reef__sql_live_failed(s, NULL, REEF_LIMIT, "a trigger reads the values of an entity too often");
    *rowid = (sqlite3_int64)v->reading << READING_SHIFT | (sqlite3_int64)e.index << INDEX_SHIFT | number;
    return SQLITE_OK;
}

static row_found target_find(const reef_sql_session *s, const live_values *v, uint32_t place, uint32_t *number)
{
    uint32_t n = 0;
    const char *all = reef_get_all_id(s->world, v->e, v->table->parts[0].type, &n);
    for (uint32_t i = 0; all && i < n; i++)
        if (reef_entity_equal(target_of_place(v->table, all, i), v->of[place].target)) {
            *number = i;
            return ROW_THERE;
        }
    return ROW_GONE;
}

row_found reef__sql_row_find(const reef_sql_session *s, const live_table *t, sqlite3_int64 rowid, reef_entity *e,
                             uint32_t *number)
{
    const uint32_t place = (uint32_t)(rowid & (REEF_MULTI_MAX - 1));
    const live_values *v = values_find(s, t, (uint32_t)(rowid >> INDEX_SHIFT));
    while (v && v->reading != (uint32_t)(rowid >> READING_SHIFT)) v = v->older;
    if (v == NULL || place >= v->count) return ROW_UNKNOWN;
    *e = v->e;
    if (!reef_is_alive(s->world, v->e)) return ROW_GONE;
    if (t->parts[0].relation) return target_find(s, v, place, number);
    const uint32_t count = reef__sql_count(s->world, &t->parts[0], v->e);
    if (count == 0 || v->of[place].place == PLACE_GONE) return ROW_GONE;
    *number = v->of[place].place;
    return count == v->now ? ROW_THERE : ROW_UNKNOWN;
}

void reef__sql_row_removed(const reef_sql_session *s, const live_table *t, reef_entity e, uint32_t number)
{
    if (t->parts[0].relation) return;
    for (live_values *v = values_find(s, t, e.index); v; v = v->older) {
        if (!reef_entity_equal(v->e, e)) continue;
        v->now--;
        for (uint32_t i = 0; i < v->count; i++) {
            if (v->of[i].place == number) v->of[i].place = PLACE_GONE;
            else if (v->of[i].place != PLACE_GONE && v->of[i].place > number) v->of[i].place--;
        }
    }
}

void reef__sql_row_added(const reef_sql_session *s, const live_table *t, reef_entity e)
{
    for (live_values *v = values_find(s, t, e.index); v; v = v->older)
        if (reef_entity_equal(v->e, e)) v->now++;
}

void reef__sql_rows_forget(reef_sql_session *s)
{
    for (uint32_t i = 0; i < s->values_room; i++)
        for (live_values *v = s->values[i], *next; v; v = next) {
            next = v->next;
            for (live_values *o = v->older, *older; o; o = older) {
                older = o->older;
                sqlite3_free(o);
            }
            sqlite3_free(v);
        }
    sqlite3_free(s->values);
    s->values = NULL;
    s->values_count = s->values_room = 0;
    s->written = 0;
    sqlite3_free(s->inserted);
    s->inserted = NULL;
    s->inserted_count = s->inserted_room = 0;
}
