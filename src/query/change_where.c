/* Operations on whole queries: add, set, remove, enable, disable and destroy for everything that matches. First all
 * that matches is collected, table by table in visiting order; then everything that the change needs is made ready;
 * then it happens, and can't fail. The matching rows of one table are a portion. A portion changes in one of these
 * ways:
 *
 *   RELABEL        all rows of a table go to a table without rows: its chunks get the other table, their blocks stay
 *                  (src/storage/table.c)
 *   APPEND         all rows of a table go behind those of another one, in runs
 *   FILL           a value is replaced in place, in whole chunks
 *   EACH           listed rows change one by one; they go to another table, or stay where they are
 *
 * Invariant: each table is the source of at most one portion and the destination of at most one. No table is both,
 * except that rows may join a table where values are replaced. So portions don't disturb each other, and the rows have
 * the order that single calls would give them. Switches and marks change by words of 64 rows.
 *
 * Where the component requires others that aren't there, each entity changes by a list of its own (reef__spread_fill).
 * Then all portions are EACH, those of one table by where its rows go, and several may go to one table. */
#include "type/value.h"
#include "storage/archetype.h"
#include "storage/entity_index.h"
#include "storage/error.h"
#include "storage/known_types.h"
#include "storage/observed.h"
#include "storage/place.h"
#include "storage/quarantine.h"
#include "storage/read.h"
#include "storage/relabel.h"
#include "storage/removal_log.h"
#include "storage/required.h"
#include "storage/row_bits.h"
#include "storage/row_stamps.h"
#include "storage/shared_store.h"
#include "storage/sparse_store.h"
#include "storage/split_columns.h"
#include "storage/table.h"
#include "change/apply.h"
#include "change/destroy.h"
#include "change/relation.h"
#include "change/value_stage.h"
#include "query/iterate.h"
#include "query/query.h"
#include "query/row_filter.h"
#include "query/value_term.h"
#include "reef/bulk.h"
#include "reef/enable.h"

/* When entities are destroyed, FILL means all rows of a table, and EACH listed rows. */
typedef enum portion_kind { RELABEL, APPEND, FILL, EACH } portion_kind;

typedef struct portion {
    portion_kind kind;
    uint32_t from, to;     /* to: of EACH */
    const edge *edge;      /* of RELABEL and APPEND */
    uint64_t first, count; /* of EACH in the list; otherwise the number of rows */
    relabel relabel;
} portion;

typedef struct bit_rows { /* the rows of a chunk whose bits change */
    uint32_t table_id, unit;
    uint64_t rows[BIT_WORDS];
} bit_rows;

/* Values of one type that are made before anything changes, because hooks may refuse them or they take memory. */
typedef struct made_values {
    char *aside;   /* by entity of the list; NULL: each is made in the place that is ready for it */
    uint64_t done; /* how many entities were looked at */
} made_values;

typedef struct bulk {
    reef_world *w;
    const query *q;
    const char *op;
    const type *t;
    reef_value value; /* kind: DEFAULT to add, ONE to set, REMOVE */
    uint64_t since;
    portion *portions;
    bit_rows *bits;
    reef_entity *list; /* in visiting order */
    uint64_t portion_count, portion_room, bit_count, bit_room, count, room;
    uint64_t changed, prepared;
    uint64_t leaving;    /* how many of the list, from the first on, may lose their row with their last bit */
    uint32_t type_count; /* the type of the call, and behind it those that may come along */
    made_values *made;   /* by type */
    spread *gets;        /* what the present entity gets */
} bulk;

/* ---- collecting ---- */

/* The k-th type whose values may come. */
static const type *bulk_type(const bulk *b, uint32_t k) { return k ? reef__type_of(b->t->needs[k - 1]) : b->t; }
static bool comes_along(const bulk *b) { return b->type_count > 1; }

static bool list_room(bulk *b, uint64_t more)
{
    return reef__list_room(b->w, &b->list, b->count, &b->room, more, sizeof *b->list);
}

/* Adds a portion, whose rows will be the next of the list. NULL: there is no memory. */
static portion *portion_add(bulk *b, portion_kind kind, uint32_t from)
{
    if (!reef__list_room(b->w, &b->portions, b->portion_count, &b->portion_room, 1, sizeof *b->portions)) return NULL;
    portion *x = &b->portions[b->portion_count++];
    memset(x, 0, sizeof *x);
    x->kind = kind;
    x->from = from;
    x->first = b->count;
    return x;
}

static void bulk_free(bulk *b)
{
    memory *m = &b->w->family->memory;
    reef__memory_free(m, MEMORY_OTHER, b->portions, (size_t)b->portion_room * sizeof *b->portions);
    reef__memory_free(m, MEMORY_OTHER, b->bits, (size_t)b->bit_room * sizeof *b->bits);
    reef__memory_free(m, MEMORY_OTHER, b->list, (size_t)b->room * sizeof *b->list);
}

/* The rows of a chunk that match. False: there are none. */
static bool rows_of(const bulk *b, const match *m, const table *t, uint32_t unit, uint64_t *words)
{
    const uint32_t rows = chunk_rows(t, unit);
    if (m->look) {
        const look l = {b->q, m->id, unit, rows, b->since, slot_entities(unit_slots(b->w, unit)), NULL, NULL};
        return reef__look_rows(&l, words, 0, BIT_WORDS);
    }
    rows_all(words, rows);
    return rows != 0;
}

/* How many rows of a match change. */
static uint64_t bulk_rows(const bulk *b, const match *m, const table *t)
{
    uint64_t words[BIT_WORDS], n = 0;
    if (!m->look) return table_rows(t);
    for (uint32_t unit = t->first; unit; unit = unit_slots(b->w, unit)[0].head.next)
        if (rows_of(b, m, t, unit, words)) n += rows_in(words);
    return n;
}

/* Adds the entities of these rows to the list, which has room for them. */
static void list_rows(bulk *b, uint32_t unit, const uint64_t *words)
{
    const reef_entity *e = slot_entities(unit_slots(b->w, unit));
    for (uint32_t k = 0; k < BIT_WORDS; k++)
        for (uint64_t x = words[k]; x; x &= x - 1) b->list[b->count++] = e[k * 64 + bits_first(x)];
}

/* Adds them to the list. False: there is no memory. */
static bool bulk_list(bulk *b, const match *m, const table *t, uint64_t rows)
{
    uint64_t words[BIT_WORDS];
    if (!list_room(b, rows)) return false;
    for (uint32_t unit = t->first; unit; unit = unit_slots(b->w, unit)[0].head.next)
        if (rows_of(b, m, t, unit, words)) list_rows(b, unit, words);
    return true;
}

/* May all rows of a table go at once along an edge? They may not where hooks or observers see values come and go,
 * where rows are stamped, or where marks go with the component. */
static bool may_go_whole(const bulk *b, const table *t, const edge *e)
{
    const shape *from = t->shape, *to = shape_of(b->w->family, e->to);
    const bit_store *marks = bit_store_of(b->w, b->t->id | BIT_DISABLED);
    if (b->t->split || e->to == TABLE_EMPTY || from->hooked || to->hooked || from->tracked || to->tracked ||
        observed(b->w))
        return false;
    return b->value.kind != REEF_VALUE_REMOVE || marks == NULL || !reef__bit_known(b->w, marks, from->table);
}

/* Collects a table where values are replaced. */
static reef_status collect_replace(bulk *b, const match *m, const table *t, uint64_t rows)
{
    const bool fill = rows == table_rows(t) && !b->t->split && !b->t->hooked && !b->t->tracked && !observed(b->w);
    b->changed += rows;
    if (b->t->size == 0) return REEF_OK;
    portion *p = portion_add(b, fill ? FILL : EACH, m->id);
    if (p == NULL || (!fill && !bulk_list(b, m, t, rows))) return REEF_NO_MEMORY;
    p->count = rows;
    p->to = m->id;
    return REEF_OK;
}

/* Collects a table whose rows get or lose a column. */
static reef_status collect_rows(bulk *b, const match *m, const table *t, uint64_t rows)
{
    const bool remove = b->value.kind == REEF_VALUE_REMOVE, has = reef__slot_seek(b->w, b->t->id, m->id) != 0;
    reef_status s = REEF_NO_MEMORY;
    if (has != remove && b->value.kind != REEF_VALUE_ONE) return REEF_OK;
    if (has != remove) return collect_replace(b, m, t, rows);
    const edge *e = reef__graph_edge(b->w, m->id, b->t->id, remove, &s);
    if (e == NULL) return s;
    const bool whole = rows == table_rows(t) && may_go_whole(b, t, e);
    const table *there = table_read(b->w, e->to);
    portion *p = portion_add(b, !whole ? EACH : there && table_rows(there) ? APPEND : RELABEL, m->id);
    if (p == NULL || (!whole && !bulk_list(b, m, t, rows))) return REEF_NO_MEMORY;
    p->edge = e;
    p->to = e->to;
    p->count = rows;
    b->changed += rows;
    return REEF_OK;
}

/* The table of entity i after the change; 0: no memory or a limit, as *s says. */
static uint32_t table_after(bulk *b, uint64_t i, uint32_t from, reef_status *s)
{
    uint32_t ids[2 * REEF_COMPONENTS_MAX];
    spread *x = b->gets;
    if (!comes_along(b)) return from; /* the value lies in a store */
    *s = reef__spread_fill(b->w, x, b->list[i], &b->value, 1);
    if (*s != REEF_OK) return 0;
    return reef__graph_table(b->w, ids, reef__set_after(b->w, from, x->values, x->count, ids), s);
}

/* Lists the rows of a match that change, and divides them by the table that they go to. */
static reef_status collect_each(bulk *b, const match *m, const table *t, uint64_t rows)
{
    const uint64_t first = b->count;
    uint64_t end = first;
    reef_status s = REEF_OK;
    portion *p = NULL;
    if (!bulk_list(b, m, t, rows)) return REEF_NO_MEMORY;
    for (uint64_t i = first; i < b->count; i++)
        if (b->value.kind == REEF_VALUE_ONE ||
            has_itself(b->w, b->list[i], b->t) == (b->value.kind == REEF_VALUE_REMOVE))
            b->list[end++] = b->list[i];
    b->changed += end - first;
    for (b->count = first; b->count < end; b->count++) {
        const uint32_t to = table_after(b, b->count, m->id, &s);
        if (to == 0) return s;
        if ((p == NULL || p->to != to) && (p = portion_add(b, EACH, m->id)) == NULL) return REEF_NO_MEMORY;
        p->to = to;
        p->count++;
    }
    return s;
}

/* Does something that the type requires come along for some entity? */
static bool something_comes_along(const bulk *b)
{
    if (b->t->need_count == 0 || b->value.kind == REEF_VALUE_REMOVE) return false;
    for (uint32_t i = 0; i < b->q->match_count; i++) {
        const table *t = table_read(b->w, match_at(b->q, i)->id);
        if (t && table_rows(t) && !reef__table_meets(b->w, t->shape->table, b->t)) return true;
    }
    return false;
}

/* ---- what a change needs ---- */

/* Owns the columns where values of a portion are replaced. */
static bool columns_own(reef_world *w, const portion *p, uint32_t component, const reef_entity *e)
{
    const table *t = table_read(w, p->from);
    const uint32_t k = reef__slot_seek(w, component, p->from);
    if (p->kind == FILL) {
        for (uint32_t unit = t->first; unit; unit = unit_slots(w, unit)[0].head.next)
            if (!reef__column_own(w, t, unit, k)) return false;
        return true;
    }
    for (uint64_t i = 0; i < p->count; i++) {
        const uint32_t place = place_of(w, e[i]);
        if (k == REEF_SLOT_TAG ? !reef__parts_own(w, place, reef__type_of(component))
                               : !reef__column_own(w, t, place_unit(place), k))
            return false;
    }
    return true;
}

/* Prepares what EACH needs. */
static bool each_prepare(bulk *b, const portion *p)
{
    const reef_entity *e = b->list + p->first;
    const bool first = p == b->portions || !comes_along(b) || p[-1].from != p->from;
    uint64_t leave = p->count, arrive = p->count;
    if (p->to == p->from && in_table(b->t))
        return reef__slot_seek(b->w, b->t->id, p->from) == 0 || columns_own(b->w, p, b->t->id, e);
    if (p->to == p->from) /* an entity of the empty set may lose its row with the value */
        return b->value.kind != REEF_VALUE_REMOVE || p->from != TABLE_EMPTY ||
               reef__leave_prepare(b->w, TABLE_EMPTY, e, p->count);
    for (uint64_t i = 0; comes_along(b) && i < b->portion_count; i++) {
        const portion *other = &b->portions[i];
        if (other != p && other->from == p->from) leave += other->count;
        if (other != p && other->to == p->to) arrive += other->count;
    }
    return (!first || reef__leave_prepare(b->w, p->from, e, leave)) &&
           reef__arrive_prepare(b->w, p->from, p->to, arrive);
}

static bool portion_prepare(bulk *b, portion *p)
{
    const void *value = b->value.kind == REEF_VALUE_ONE ? b->value.data : NULL;
    switch (p->kind) {
    case RELABEL:
        return reef__relabel_prepare(b->w, &p->relabel, p->from, p->edge, b->value.kind == REEF_VALUE_REMOVE, value);
    case APPEND: return reef__table_own_all(b->w, p->from) && reef__arrive_prepare(b->w, p->from, p->to, p->count);
    case FILL: return columns_own(b->w, p, b->t->id, NULL);
    case EACH: return each_prepare(b, p);
    }
    return false;
}

/* Prepares the bits and stored values of one type for all entities of the list. */
static bool stored_ready(bulk *b, const type *t)
{
    reef_world *w = b->w;
    const bool on = b->value.kind != REEF_VALUE_REMOVE, shared = t->home == REEF_SHARED;
    for (uint64_t i = 0; (t->bit || t->stored) && i < b->count; i++) {
        const reef_entity e = b->list[i];
        const uint32_t place = place_of(w, e), id = reef_slots_at(&w->hot, place)[0].head.table;
        /* for entities that have the value, too: reef__change_apply asks for it */
        if (t->bit && !reef__bit_prepare(w, t->id, id, place, on)) return false;
        if (!on && !reef__bit_prepare(w, t->id | BIT_DISABLED, id, place, false)) return false;
        if (on && t->stored && t == b->t && store_has(w, t->id, e) &&
            (shared ? reef__store_slot_own(w, t->id, e) : reef__store_own(w, t->id, e)) == NULL)
            return false;
    }
    if (!t->stored || (on && b->count == 0)) return true;
    return on ? reef__store_prepare_add_some(w, t->id, b->list, b->count) : reef__store_prepare_drop_all(w, t->id);
}

/* Prepares stamps for entities that get a component, or room in the log for entities that lose it. */
static bool track_ready(bulk *b, const type *t)
{
    if (!t->tracked) return true;
    if (b->value.kind == REEF_VALUE_REMOVE) return reef__removals_prepare(b->w, t->id, b->count);
    return b->count == 0 || reef__track_prepare(b->w, t->id, b->list, (uint32_t)b->count);
}

/* ---- values that are made before ---- */

static bool is_made_before(const bulk *b, const type *t)
{
    return b->value.kind != REEF_VALUE_REMOVE && t->size && (t->hooked || t->home == REEF_SHARED);
}

/* Where a value is made. (One that can't move is made in the place that is ready for it.) */
static void *made_slot(const bulk *b, uint32_t k, uint64_t i)
{
    const type *t = bulk_type(b, k);
    return t->fixed ? reef__store_raw(b->w, t->id, b->list[i]) : b->made[k].aside + (size_t)i * staged_bytes(t);
}

/* Lists what entity i gets. The answer is its value of type k, if that is made before; NULL: it has none. */
static reef_value *made_value(const bulk *b, uint32_t k)
{
    const spread *x = b->gets;
    for (uint32_t i = 0; is_made_before(b, bulk_type(b, k)) && i < x->count; i++)
        if (x->values[i].component.id == bulk_type(b, k)->id) return &x->values[i];
    return NULL;
}

static reef_status values_make(bulk *b)
{
    for (uint32_t k = 0; k < b->type_count; k++) {
        const type *t = bulk_type(b, k);
        made_values *made = &b->made[k];
        if (!is_made_before(b, t) || b->count == 0) continue;
        if (!t->fixed && b->count <= SIZE_MAX / staged_bytes(t))
            made->aside = reef__memory_resize(&b->w->family->memory, MEMORY_OTHER, NULL, 0,
                                              (size_t)b->count * staged_bytes(t), staged_align(t));
        if (!t->fixed && made->aside == NULL) return REEF_NO_MEMORY;
        for (; made->done < b->count; made->done++) {
            const reef_entity e = b->list[made->done];
            reef_status s = reef__spread_fill(b->w, b->gets, e, &b->value, 1);
            const reef_value *v = s == REEF_OK ? made_value(b, k) : NULL;
            if (v) s = reef__staged_put(b->w, e, t, made_slot(b, k, made->done), v, 0);
            if (s != REEF_OK) return s;
        }
    }
    return REEF_OK;
}

static void bulk_undo(bulk *b)
{
    for (uint64_t i = b->count; i-- > 0;) {
        const reef_status s = reef__spread_fill(b->w, b->gets, b->list[i], &b->value, 1);
        for (uint32_t k = 0; s == REEF_OK && k < b->type_count; k++) {
            const reef_value *v = i < b->made[k].done ? made_value(b, k) : NULL;
            if (v) reef__staged_take_back(bulk_type(b, k), made_slot(b, k, i), v, 0);
        }
    }
    for (uint64_t i = 0; i < b->prepared; i++)
        if (b->portions[i].kind == RELABEL) reef__relabel_cancel(b->w, &b->portions[i].relabel);
}

/* ---- doing it ---- */

/* Changes one entity by the general path, with the values that were made for it. */
static reef_status apply_one(bulk *b, uint64_t i, uint32_t to)
{
    const spread *x = b->gets;
    reef_status s = reef__spread_fill(b->w, b->gets, b->list[i], &b->value, 1);
    for (uint32_t k = 0; k < b->type_count; k++) {
        reef_value *v = made_value(b, k);
        if (v == NULL) continue;
        *v = reef_value_make(v->component, VALUE_MOVED, bulk_type(b, k)->size, made_slot(b, k, i));
        if (bulk_type(b, k)->home == REEF_SHARED) v->kind = VALUE_HELD, memcpy(&v->data, v->data, sizeof v->data);
    }
    s = reef__change_apply(b->w, b->op, b->list[i], place_of(b->w, b->list[i]), to, x->values, x->count);
    for (uint32_t k = 0; k < x->count; k++) /* the entity holds it now */
        if (x->values[k].kind == VALUE_HELD) reef__shared_release((void *)(uintptr_t)x->values[k].data);
    return s;
}

/* Changes one entity. (Where a single call is enough, that has faster paths.) */
static reef_status change_one(bulk *b, uint64_t i, uint32_t to)
{
    const reef_entity e = b->list[i];
    const reef_component c = {b->t->id};
    if (comes_along(b) || b->t->stored || is_made_before(b, b->t)) return apply_one(b, i, to);
    switch (b->value.kind) {
    case REEF_VALUE_REMOVE: return reef_remove_id(b->w, e, c);
    case REEF_VALUE_ONE: return reef_set_id(b->w, e, c, b->value.data, b->value.size);
    default: return reef_add_id(b->w, e, c, NULL, NULL);
    }
}

static void portion_fill(const bulk *b, const portion *p)
{
    const table *t = table_read(b->w, p->from);
    const uint32_t k = reef__slot_seek(b->w, b->t->id, p->from);
    for (uint32_t unit = t->first; unit; unit = unit_slots(b->w, unit)[0].head.next)
        reef__values_fill(unit_slots(b->w, unit)[k].block, b->value.data, b->t->size, chunk_rows(t, unit));
}

/* Moves n rows, from row `row` of a chunk on, behind the last one of `to`, which has room for them. */
static void append_run(const bulk *b, const edge *e, uint64_t mask, uint32_t unit, uint32_t row, table *to, uint32_t n)
{
    reef_slot *from = unit_slots(b->w, unit), *slots = unit_slots(b->w, to->last);
    const size_t at = place_row(to->next), size = b->t->size;
    for (const edge_move *m = e->move, *end = m + e->count; m < end; m++)
        memcpy(slot_by(slots, m->to) + at * m->size, slot_by(from, m->from) + (size_t)row * m->size,
               (size_t)n * m->size);
    memcpy((char *)slots[SLOT_ENTITIES].block + at * sizeof(reef_entity),
           (char *)from[SLOT_ENTITIES].block + row * sizeof(reef_entity), n * sizeof(reef_entity));
    if (e->slot && b->value.kind == REEF_VALUE_ONE)
        reef__values_fill((char *)slots[e->slot].block + at * size, b->value.data, size, n);
    if (e->slot && b->value.kind == REEF_VALUE_DEFAULT) memset((char *)slots[e->slot].block + at * size, 0, n * size);
    for (uint32_t i = 0; i < n; i++) handle_record_put(b->w, handle_at(slots, at + i), to->next + i);
    for (uint32_t i = 0; mask && i < n; i++) reef__bits_move(b->w, mask, unit_place(unit) + row + i, to->next + i);
    to->next += n;
}

static void portion_append(const bulk *b, const portion *p)
{
    table *from = reef__table_own(b->w, p->from), *to = reef__table_own(b->w, p->to);
    lease_end(from);
    reef__quarantine_table(b->w, from);
    for (uint32_t unit = from->first; unit; unit = unit_slots(b->w, unit)[0].head.next) {
        const uint32_t rows = chunk_rows(from, unit);
        for (uint32_t row = 0, n; row < rows; row += n) {
            const bool room = reef__table_room(b->w, to);
            ASSERT(room);
            (void)room;
            n = rows - row < to->end - to->next ? rows - row : to->end - to->next;
            append_run(b, p->edge, from->bits, unit, row, to, n);
        }
    }
    b->w->hot.moves += p->count;
    reef__table_empty(b->w, from);
    reef__table_lease(b->w, from);
}

static void portion_commit(bulk *b, portion *p)
{
    switch (p->kind) {
    case APPEND: portion_append(b, p); return;
    case RELABEL: reef__relabel_commit(b->w, &p->relabel); return;
    case FILL: portion_fill(b, p); return;
    case EACH:
        for (uint64_t i = p->first; i < p->first + p->count; i++) {
            const reef_status s = change_one(b, i, p->to);
            ASSERT(s >= 0); /* everything was prepared */
            (void)s;
        }
        return;
    }
}

/* May all that match get this relation? One of them can't lead another one into a circle: their paths end in the same
 * target. */
static COLD reef_status relations_check(bulk *b)
{
    reef_status s = REEF_OK;
    for (uint64_t i = 0; s == REEF_OK && i < b->count; i++)
        s = reef__relation_check(b->w, b->list[i], b->t, &b->value, 0, store_has(b->w, b->t->id, b->list[i]));
    return s;
}

static reef_status bulk_collect(bulk *b)
{
    reef_status s = REEF_OK;
    for (uint32_t k = 1; s == REEF_OK && k < b->type_count; k++) s = reef__type_ready(b->w, bulk_type(b, k)->id);
    for (uint32_t i = 0; s == REEF_OK && i < b->q->match_count; i++) {
        const match *m = match_at(b->q, i);
        const table *t = table_read(b->w, m->id);
        const uint64_t rows = t ? bulk_rows(b, m, t) : 0;
        if (rows) s = b->t->stored || comes_along(b) ? collect_each(b, m, t, rows) : collect_rows(b, m, t, rows);
    }
    if (s == REEF_OK && b->value.kind == REEF_VALUE_ONE && !b->t->copyable && b->count > 1) s = REEF_NOT_COPYABLE;
    if (s == REEF_OK && b->value.kind == REEF_VALUE_ONE && b->t->fixed) s = REEF_NOT_MOVABLE;
    if (s == REEF_OK && b->t->relation && b->value.kind != REEF_VALUE_REMOVE) s = relations_check(b);
    return s;
}

static reef_status bulk_prepare(bulk *b)
{
    for (uint32_t k = 0; k < b->type_count; k++)
        if (!stored_ready(b, bulk_type(b, k)) || !track_ready(b, bulk_type(b, k))) return REEF_NO_MEMORY;
    while (b->prepared < b->portion_count) /* one that fails half way is undone, too */
        if (!portion_prepare(b, &b->portions[b->prepared++])) return REEF_NO_MEMORY;
    if (observed(b->w) && !observe_reserve_changes(b->w, b->t, b->count * b->type_count)) return REEF_NO_MEMORY;
    return values_make(b);
}

/* Adds, sets or removes a component of everything that matches. */
static reef_status bulk_components(bulk *b)
{
    reef_world *w = b->w;
    memory *m = &w->family->memory;
    call_memory made;
    spread list;
    const uint32_t most = reef__spread_most(&b->value, 1);
    b->type_count = something_comes_along(b) ? 1 + b->t->need_count : 1;
    if (most > REEF_COMPONENTS_MAX) return REEF_LIMIT;
    if (!reef__call_memory_take(m, &made, b->type_count * sizeof *b->made, PLAIN_ALIGN)) return REEF_NO_MEMORY;
    b->made = memset(made.at, 0, b->type_count * sizeof *b->made);
    b->gets = &list;
    reef_status s = reef__spread_room(w, &list, most) ? bulk_collect(b) : REEF_NO_MEMORY;
    /* if the value lies in a block that is copied or enlarged meanwhile, its address is corrected */
    w->value = &b->value;
    w->value_count = b->value.kind == REEF_VALUE_ONE;
    if (s == REEF_OK) s = bulk_prepare(b);
    w->value_count = 0;
    if (s != REEF_OK) bulk_undo(b);
    if (s == REEF_OK) {
        observe_open(w);
        if (b->t->relation && b->value.kind == REEF_VALUE_ONE) w->relating = b->value.data;
        for (uint64_t i = 0; i < b->portion_count; i++) portion_commit(b, &b->portions[i]);
        w->relating = NULL;
        observe_close(w);
    }
    for (uint32_t k = 0; k < b->type_count; k++)
        if (b->made[k].aside)
            reef__memory_resize(m, MEMORY_OTHER, b->made[k].aside, (size_t)b->count * staged_bytes(bulk_type(b, k)), 0,
                                staged_align(bulk_type(b, k)));
    reef__spread_free(w, &list);
    reef__call_memory_free(m, &made);
    return s;
}

/* ---- switches and marks ---- */

/* Leaves only the rows that have the component, since only those can be marked. {0}: the entity itself, so all. */
static void rows_with(const reef_world *w, uint32_t component, uint32_t table_id, uint32_t unit, uint64_t *rows)
{
    if (component == 0 || reef__slot_seek(w, component, table_id)) return;
    const uint64_t *words = bit_words(bit_store_of(w, component), unit);
    const reef_entity *e = slot_entities(unit_slots(w, unit));
    if (reef__type_of(component)->stored && !reef__type_of(component)->bit) {
        for (uint32_t i = 0; i < REEF_BLOCK_ROWS; i++)
            if (rows[i / 64] >> i % 64 & 1 && !store_has(w, component, e[i])) rows[i / 64] &= ~(1ull << i % 64);
        return;
    }
    for (uint32_t k = 0; k < BIT_WORDS; k++) rows[k] &= words ? words[k] : 0;
}

/* Collects the rows of a chunk whose bit changes. Those of the table of the empty set, which may lose their row with
 * the bit, are listed. */
static bool collect_bits(bulk *b, const match *m, const table *t, uint32_t key, bool on)
{
    bit_rows p = {.table_id = m->id};
    const bit_store *store = bit_store_of(b->w, key);
    for (p.unit = t->first; p.unit; p.unit = unit_slots(b->w, p.unit)[0].head.next) {
        const uint64_t *words = bit_words(store, p.unit);
        uint64_t any = 0;
        if (!rows_of(b, m, t, p.unit, p.rows)) continue;
        if (b->value.kind == REEF_VALUE_ONE) b->changed += rows_in(p.rows);
        if (key & BIT_DISABLED) rows_with(b->w, key & ~BIT_DISABLED, m->id, p.unit, p.rows);
        for (uint32_t k = 0; k < BIT_WORDS; k++) {
            const uint64_t is = words ? words[k] : 0;
            p.rows[k] &= on ? ~is : is;
            any |= p.rows[k];
        }
        if (any == 0) continue;
        if (b->value.kind != REEF_VALUE_ONE) b->changed += rows_in(p.rows);
        const bool leave = m->id == TABLE_EMPTY && !on;
        if (leave || observed(b->w)) { /* they change one by one */
            if (!list_room(b, rows_in(p.rows))) return false;
            list_rows(b, p.unit, p.rows);
        }
        if (leave) b->leaving = b->count;
        if (leave) continue;
        if (!reef__list_room(b->w, &b->bits, b->bit_count, &b->bit_room, 1, sizeof p)) return false;
        b->bits[b->bit_count++] = p;
    }
    return true;
}

/* Prepares the bits. A switch that goes takes the mark that it is disabled along. */
static bool bits_ready(bulk *b, uint32_t key, bool on)
{
    for (uint64_t i = 0; i < b->bit_count; i++) {
        const bit_rows *p = &b->bits[i];
        if (!reef__bits_prepare_rows(b->w, key, p->table_id, p->unit, p->rows, on)) return false;
        if (!on && !reef__bits_prepare_rows(b->w, key | BIT_DISABLED, p->table_id, p->unit, p->rows, false))
            return false;
    }
    return b->leaving == 0 || reef__leave_prepare(b->w, TABLE_EMPTY, b->list, b->leaving);
}

/* Sets or clears one bit of everything that matches: a switch or a mark. */
static reef_status bulk_bits(bulk *b, uint32_t key)
{
    const bool on = b->value.kind != REEF_VALUE_REMOVE;
    const reef_component c = {key & ~BIT_DISABLED};
    for (uint32_t i = 0; i < b->q->match_count; i++) {
        const table *t = table_read(b->w, match_at(b->q, i)->id);
        if (t && !collect_bits(b, match_at(b->q, i), t, key, on)) return REEF_NO_MEMORY;
    }
    if (!bits_ready(b, key, on)) return REEF_NO_MEMORY;
    if (observed(b->w) && !observe_reserve_changes(b->w, NULL, b->count)) return REEF_NO_MEMORY;
    observe_open(b->w);
    for (uint64_t i = 0; i < b->bit_count && !observed(b->w); i++) {
        reef__bits_commit_rows(b->w, key, b->bits[i].unit, b->bits[i].rows, on);
        if (!on) reef__bits_commit_rows(b->w, key | BIT_DISABLED, b->bits[i].unit, b->bits[i].rows, false);
    }
    for (uint64_t i = 0; i < b->count; i++) {
        const reef_status s = key & BIT_DISABLED ? reef_enable_id(b->w, b->list[i], c, !on)
                              : on               ? reef_add_id(b->w, b->list[i], c, NULL, NULL)
                                                 : reef_remove_id(b->w, b->list[i], c);
        ASSERT(s == REEF_OK);
        (void)s;
    }
    observe_close(b->w);
    return REEF_OK;
}

/* ---- the calls ---- */

/* Begins an operation: the query has to be alive and is brought up to date, and no loop may be open. bulk_end follows.
 */
static reef_status bulk_begin(bulk *b, reef_world *w, const char *op, reef_query which, reef_value value)
{
    reef_status s = REEF_OK;
    memset(b, 0, sizeof *b);
    b->w = w;
    b->op = op;
    b->value = value;
    values_begin(w);
    query *q = query_of(w, which, &s);
    b->q = q;
    if (q == NULL) return s;
    if (w->locks) return REEF_LOCKED;
    if (parameters_missing(q)) return REEF_BAD_ARGUMENT;
    if (!query_update(q)) return REEF_NO_MEMORY;
    b->since = reef__query_last_run(q);
    return REEF_OK;
}

static reef_status bulk_end(bulk *b, reef_status s, uint64_t *changed)
{
    if (s == REEF_OK && changed) *changed = b->changed;
    bulk_free(b);
    if (s == REEF_REFUSED) return s; /* which is recorded already */
    if (s == REEF_BAD_ARGUMENT && b->q && parameters_missing(b->q)) return reef__query_refuse(b->w, b->op, b->q, s);
    return s == REEF_OK ? s
                        : reef__failure(b->w, s, b->op, b->w->hook_failed.id ? b->w->hook_failed : b->value.component,
                                        (reef_entity){0, 0}, s == REEF_WRONG_SIZE ? b->value.size : 0);
}

static reef_status bulk_value(bulk *b)
{
    const reef_status s = reef__type_ready(b->w, b->value.component.id);
    b->t = reef__type_of(b->value.component.id);
    return s == REEF_OK ? reef__value_check(b->w, &b->value, true) : s;
}

static reef_status bulk_change(reef_world *w, const char *op, reef_query which, reef_value value, uint64_t *changed)
{
    bulk b;
    call_memory copy;
    if (!WORLD_GIVEN_TO(w, op)) return REEF_BAD_ARGUMENT;
    reef_status s = bulk_begin(&b, w, op, which, value);
    if (s == REEF_OK) s = bulk_value(&b);
    if (s != REEF_OK) return bulk_end(&b, s, NULL);
    quarantine_because(w, op, value.component.id, (reef_entity){0, 0});
    /* the value may lie in a row that moves */
    const size_t bytes = value.kind == REEF_VALUE_ONE && !b.t->hooked ? value.size : 0;
    if (!reef__call_memory_take(&w->family->memory, &copy, bytes, PLAIN_ALIGN)) s = REEF_NO_MEMORY;
    else if (bytes) b.value.data = memcpy(copy.at, value.data, bytes);
    if (s == REEF_OK && b.t->relation && bytes) ((relation_value *)copy.at)->place = 0;
    if (s == REEF_OK && reef__fixed_hold(b.q, b.since))
        s = b.t->bit && !b.t->stored && !something_comes_along(&b) ? bulk_bits(&b, b.t->id) : bulk_components(&b);
    reef__call_memory_free(&w->family->memory, &copy);
    return bulk_end(&b, s, changed);
}

reef_status reef_add_where_id(reef_world *w, reef_query q, reef_component c, uint64_t *changed)
{
    return bulk_change(w, "reef_add_where", q, reef_value_make(c, REEF_VALUE_DEFAULT, 0, NULL), changed);
}

reef_status reef_remove_where_id(reef_world *w, reef_query q, reef_component c, uint64_t *changed)
{
    return bulk_change(w, "reef_remove_where", q, reef_value_make(c, REEF_VALUE_REMOVE, 0, NULL), changed);
}

reef_status reef_set_where_id(reef_world *w, reef_query q, reef_component c, const void *value, size_t size,
                              uint64_t *changed)
{
    const uint32_t bytes = size > UINT32_MAX ? UINT32_MAX : (uint32_t)size;
    return bulk_change(w, "reef_set_where", q, reef_value_make(c, REEF_VALUE_ONE, bytes, value), changed);
}

reef_status reef_enable_where_id(reef_world *w, reef_query which, reef_component c, bool on, uint64_t *changed)
{
    const char *op = on ? "reef_enable_where" : "reef_disable_where";
    bulk b;
    if (!WORLD_GIVEN(w)) return REEF_BAD_ARGUMENT;
    const reef_value mark = reef_value_make(c, on ? REEF_VALUE_REMOVE : REEF_VALUE_DEFAULT, 0, NULL);
    reef_status s = bulk_begin(&b, w, op, which, mark);
    if (s == REEF_OK && c.id) s = reef__type_ready(w, c.id);
    /* parts have no marks of their own */
    if (s == REEF_OK && c.id && reef__type_of(c.id)->owner) s = refuse_because(w, reef__part_text);
    if (s == REEF_OK && reef__fixed_hold(b.q, b.since)) s = bulk_bits(&b, c.id | BIT_DISABLED);
    return bulk_end(&b, s, changed);
}

/* If all rows of a table are destroyed, they needn't be listed, except where somebody asks for their names or logs
 * their removal, or where others may die with them. */
static reef_status destroy_matches(bulk *b)
{
    const bool related = reef__related_any(b->w);
    const bool listed = related || b->w->state.name_count || reef__stores_tracked(b->w) || observed(b->w);
    reef_status s = REEF_OK;
    for (uint32_t i = 0; i < b->q->match_count; i++) {
        const match *m = match_at(b->q, i);
        const table *t = table_read(b->w, m->id);
        const uint64_t rows = t ? bulk_rows(b, m, t) : 0;
        if (rows == 0) continue;
        const bool whole = rows == table_rows(t) && !listed && !t->shape->tracked;
        portion *p = portion_add(b, whole ? FILL : EACH, m->id);
        if (p == NULL || (!whole && !bulk_list(b, m, t, rows))) return REEF_NO_MEMORY;
        p->count = rows;
        b->changed += rows;
    }
    if (related) return reef__destroy_related(b->w, b->op, b->list, b->count);
    for (uint64_t i = 0; s == REEF_OK && i < b->portion_count; i++) {
        const portion *p = &b->portions[i];
        const bool ready = p->kind == FILL ? reef__table_own_all(b->w, p->from)
                                           : reef__leave_prepare(b->w, p->from, b->list + p->first, p->count);
        if (!ready) s = REEF_NO_MEMORY;
    }
    if (s == REEF_OK && !reef__destroy_prepare(b->w, b->list, b->count, b->changed - b->count)) s = REEF_NO_MEMORY;
    if (s != REEF_OK) return s;
    observe_open(b->w);
    for (uint64_t i = 0; s == REEF_OK && i < b->portion_count; i++) {
        const portion *p = &b->portions[i];
        if (p->kind == FILL) {
            reef__destroy_rows(b->w, p->from);
            continue;
        }
        for (uint64_t k = p->first; k < p->first + p->count; k++) {
            const reef_status died = reef_destroy(b->w, b->list[k]);
            ASSERT(died == REEF_OK);
            (void)died;
        }
    }
    observe_close(b->w);
    return REEF_OK;
}

reef_status reef_destroy_where(reef_world *w, reef_query which, uint64_t *destroyed)
{
    bulk b;
    if (!WORLD_GIVEN(w)) return REEF_BAD_ARGUMENT;
    reef_status s = bulk_begin(&b, w, "reef_destroy_where", which, (reef_value){{0}, REEF_VALUE_REMOVE, 0, NULL});
    if (s == REEF_OK && reef__fixed_hold(b.q, b.since)) s = destroy_matches(&b);
    return bulk_end(&b, s, destroyed);
}
