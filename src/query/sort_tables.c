/* Sorting and grouping storage: the rows of tables change their places.
 *
 *   for every table:    keys of all rows ──► in order? ──no──► sort ──► own what moves ──► the permutation as cycles
 *   then every column:  spare ◄─ p0 ◄─ p1 ◄─ ... ◄─ pn ◄─ spare        nothing can fail any more
 *
 * A cycle moves each value once and needs room for a single one. A copy of the column would need room for the column
 * and would move each value twice. A cycle also never moves a value to where it is, which move hooks need not support.
 */
#include "query/sort_tables.h"
#include "type/value.h"
#include "storage/archetype.h"
#include "storage/entity_index.h"
#include "storage/error.h"
#include "storage/invalidate.h"
#include "storage/known_types.h"
#include "storage/place.h"
#include "storage/quarantine.h"
#include "storage/row_bits.h"
#include "storage/table.h"
#include "query/grouped_rows.h"
#include "query/relation_order.h"
#include "query/sort_key.h"
#include "reef/sort.h"
#include "reef/order.h"

enum {
    CYCLE_AHEAD = 12, /* how many places are fetched ahead */
    ROWS_FOR_MOVE = 4 /* if less than one row in this many moves, the others aren't looked at */
};

typedef struct sort_plan { /* one table that isn't in order */
    uint32_t table;
    uint32_t *places; /* in the form that reef__bits_cycle describes */
    size_t count;
    uint64_t room;
} sort_plan;

typedef struct sorting {
    reef_world *w;
    const char *op;
    ordering order;
    grouped *grouped;          /* NULL: rows are sorted by `order` */
    order_row *rows, *scratch; /* of the table that is being planned */
    uint64_t row_room;
    sort_plan *plans;
    uint32_t plan_count, plan_room;
    uint32_t *units; /* the chunks of that table */
    uint32_t unit_room;
    size_t value_bytes, value_align; /* of the largest value that moves */
    void *spare;
} sorting;

/* ---- which tables ---- */

static bool order_is_none(const reef_order *o)
{
    return !(o->component.id || o->key || o->field || o->descending || o->pool || o->relation.id);
}

static COLD reef_status sort_check(reef_world *w, const reef_sort *sort, ordering *o, reef_component *named)
{
    if (w->locks) return REEF_LOCKED;
    if (sort == NULL) return refuse_because(w, "the description is NULL");
    if (sort->types == NULL && sort->type_count) return refuse_because(w, "the list of types is NULL");
    if (sort->grouped && !order_is_none(&sort->order))
        return refuse_because(w, "`grouped` has an order of its own: leave `order` out");
    if (sort->type_count > REEF_COMPONENTS_MAX) return REEF_LIMIT;
    const type *by = reef__type_of(sort->order.component.id);
    bool found = by == NULL || by->stored;
    for (uint32_t i = 0; i < sort->type_count; i++) {
        *named = sort->types[i];
        if (!reef__world_knows(w, named->id)) return REEF_UNKNOWN_TYPE;
        if (reef__type_of(named->id)->bit || reef__type_of(named->id)->stored)
            return refuse_because(w, "`types` says which tables are sorted, and this type isn't in tables");
        for (uint32_t k = 0; k < i; k++)
            if (sort->types[k].id == named->id) return REEF_DUPLICATE_TERM;
        found |= named->id == sort->order.component.id || (by && by->owner == named->id);
    }
    *named = sort->order.component;
    if (sort->exactly && !found) return refuse_because(w, "exactly these `types` don't have what the order is by");
    return reef__order_resolve(w, &sort->order, o);
}

static bool sort_takes(const sorting *s, const reef_sort *sort, const table *t)
{
    const reef_world *w = s->w;
    if (table_rows(t) < 2 || order_slot(w, &s->order, t->shape->table) == 0) return false;
    if (s->grouped && !reef__grouped_takes(s->grouped, t)) return false;
    uint32_t types = 0;
    for (uint32_t i = 0; sort->exactly && i < t->shape->component_count; i++)
        types += type_known(t->shape->component[i])->owner == 0;
    if (sort->exactly && types != sort->type_count) return false;
    for (uint32_t i = 0; i < sort->type_count; i++)
        if (reef__slot_seek(w, sort->types[i].id, t->shape->table) == 0) return false;
    return true;
}

/* ---- planning ---- */

static bool rows_sorted(const reef_world *w, const ordering *o, const table *t)
{
    uint64_t keys[REEF_BLOCK_ROWS], key = 0;
    uint32_t slot = order_slot(w, o, t->shape->table), index = 0, keyed = 0;
    bool in_order = true;
    for (uint32_t unit = t->first; unit; unit = unit_slots(w, unit)[0].head.next) {
        const reef_slot *slots = unit_slots(w, unit);
        const reef_entity *e = slot_entities(slots);
        uint32_t rows = chunk_rows(t, unit);
        keyed += reef__order_chunk(w, o, slots, slot, rows, keys);
        for (uint32_t i = 0; i < rows && in_order; i++) {
            in_order = keys[i] > key || (keys[i] == key && e[i].index >= index);
            key = keys[i];
            index = e[i].index;
        }
        if (!in_order && keyed) return false;
    }
    return in_order || keyed == 0;
}

static bool rows_in_order(const sorting *s, const table *t)
{
    return s->grouped ? reef__grouped_lies(s->grouped, t) : rows_sorted(s->w, &s->order, t);
}

static bool sort_reserve(sorting *s, const table *t, size_t rows)
{
    if (!reef__list_room(s->w, &s->rows, 0, &s->row_room, (s->grouped ? 3 : 2) * (uint64_t)rows, sizeof *s->rows))
        return false;
    s->scratch = s->rows + rows;
    memory *m = &s->w->family->memory;
    return reef__array_room(m, MEMORY_OTHER, &s->units, &s->unit_room, t->chunks, sizeof *s->units) &&
           reef__array_room(m, MEMORY_OTHER, &s->plans, &s->plan_room, s->plan_count + 1, sizeof *s->plans);
}

/* Collects the chunks of a table, and if rows are sorted, the rows, numbered from 0. */
static void rows_collect(sorting *s, const table *t)
{
    uint64_t keys[REEF_BLOCK_ROWS];
    uint32_t slot = order_slot(s->w, &s->order, t->shape->table), row = 0, chunk = 0;
    for (uint32_t unit = t->first; unit; unit = unit_slots(s->w, unit)[0].head.next) {
        const reef_slot *slots = unit_slots(s->w, unit);
        uint32_t rows = chunk_rows(t, unit);
        s->units[chunk++] = unit;
        if (s->grouped) continue;
        reef__order_chunk(s->w, &s->order, slots, slot, rows, keys);
        for (uint32_t i = 0; i < rows; i++, row++)
            s->rows[row] = (order_row){keys[i], slot_entities(slots)[i].index, row};
    }
}

/* Sorts or groups the rows: number i of the answer is the row that has to come to place i. */
static const order_row *rows_arrange(sorting *s, size_t rows)
{
    if (s->grouped == NULL) return reef__order_rows(s->rows, s->scratch, rows);
    s->grouped->units = s->units;
    reef__grouped_rows(s->grouped, s->rows, s->scratch, rows);
    return s->rows;
}

/* Makes what moves this world's own: chunks, records and switches. Chunks in which nothing moves aren't touched. */
static bool rows_own(sorting *s, const table *t, const order_row *sorted, size_t rows)
{
    reef_world *w = s->w;
    for (size_t i = 0, chunk_end; i < rows; i = chunk_end) {
        uint32_t unit = s->units[i / REEF_BLOCK_ROWS];
        bool moves = false;
        chunk_end = i + chunk_rows(t, unit);
        for (size_t k = i; k < chunk_end; k++) {
            if (sorted[k].row == k) continue;
            moves = true;
            if (!record_owned(w, sorted[k].index) && reef__record_own(w, sorted[k].index) == NULL) return false;
        }
        if (moves && (!reef__chunk_own(w, t, unit) || !reef__bits_own_unit(w, t->bits, unit))) return false;
    }
    return true;
}

/* Collects the cycles of a permutation. from[i] is the row that has to come to i; the array is used up. (It is an
 * array of its own because a walk that jumps about costs less with four bytes for each row than with sixteen.) */
static void cycles_collect(const sorting *s, sort_plan *plan, uint32_t *from, size_t rows)
{
    for (uint32_t i = 0; i < rows; i++) {
        if (from[i] == i) continue;
        for (uint32_t at = i, next; from[at] != at; at = next) {
            next = from[at];
            from[at] = at; /* done */
            plan->places[plan->count++] = unit_place(s->units[at / REEF_BLOCK_ROWS]) + at % REEF_BLOCK_ROWS;
        }
        plan->places[plan->count++] = 0;
    }
}

static bool plan_make(sorting *s, const table *t)
{
    size_t rows = (size_t)table_rows(t), moved = 0;
    if (!sort_reserve(s, t, rows)) return false;
    rows_collect(s, t);
    const order_row *sorted = rows_arrange(s, rows);
    for (size_t i = 0; i < rows; i++) moved += sorted[i].row != i;
    /* a cycle has at least two places, and an end */
    sort_plan plan = {.table = t->shape->table};
    if (!rows_own(s, t, sorted, rows) ||
        !reef__list_room(s->w, &plan.places, 0, &plan.room, moved + moved / 2, sizeof *plan.places))
        return false;
    uint32_t *from = (uint32_t *)(sorted == s->rows ? s->scratch : s->rows);
    for (size_t i = 0; i < rows; i++) from[i] = sorted[i].row;
    cycles_collect(s, &plan, from, rows);
    for (uint32_t k = SLOT_COLUMNS; k < t->shape->end_slot; k++) {
        const column *c = &t->shape->columns[k];
        if (c->size > s->value_bytes) s->value_bytes = c->size;
        if (c->align > s->value_align) s->value_align = c->align;
    }
    s->plans[s->plan_count++] = plan;
    return true;
}

/* ---- moving ---- */

static void *place_cell(const reef_world *w, uint32_t place, uint32_t slot, size_t size)
{
    return cell(reef_slots_at(&w->hot, place), slot, place_row(place), size);
}

/* Moves the values of a column along the cycles. t NULL: the handles. */
static void column_cycle(const reef_world *w, const sort_plan *plan, uint32_t slot, const type *t, void *spare)
{
    const size_t size = t ? t->size : sizeof(handle);
    const type *hooked = t && !t->plain_move ? t : NULL;
    for (size_t i = 0; i < plan->count; i++) {
        char *hole = place_cell(w, plan->places[i], slot, size);
        if (hooked) reef__value_move(hooked, spare, hole);
        else bytes_copy(spare, hole, size);
        for (i++; plan->places[i]; i++) {
            char *from = place_cell(w, plan->places[i], slot, size);
            if (i + CYCLE_AHEAD < plan->count && plan->places[i + CYCLE_AHEAD])
                PREFETCH_WRITE(place_cell(w, plan->places[i + CYCLE_AHEAD], slot, size));
            if (hooked) reef__value_move(hooked, hole, from);
            else bytes_copy(hole, from, size);
            hole = from;
        }
        if (hooked) reef__value_move(hooked, hole, spare);
        else bytes_copy(hole, spare, size);
    }
}

/* Corrects the records of rows that moved. Where most of them did, in the order of rows, which is often that of the
 * records too. A row that didn't move keeps its record, whose page may be shared. */
static void records_follow(reef_world *w, const sort_plan *plan, const table *t)
{
    if (plan->count < table_rows(t) / ROWS_FOR_MOVE) {
        for (size_t i = 0; i < plan->count; i++) {
            const uint32_t place = plan->places[i];
            if (place) handle_record_put(w, handle_at(reef_slots_at(&w->hot, place), place_row(place)), place);
        }
        return;
    }
    for (uint32_t unit = t->first; unit; unit = unit_slots(w, unit)[0].head.next) {
        const reef_slot *slots = unit_slots(w, unit);
        uint32_t rows = chunk_rows(t, unit);
        for (uint32_t row = 0; row < rows; row++) {
            if (row + CYCLE_AHEAD < rows)
                PREFETCH_WRITE(reef_record_at(&w->hot, slot_entities(slots)[row + CYCLE_AHEAD].index));
            handle h = handle_at(slots, row);
            uint32_t was = (uint32_t)record_read(w, HANDLE_INDEX(h));
            if (was == unit_place(unit) + row) continue;
            handle_record_put(w, h, unit_place(unit) + row);
        }
    }
}

static void plan_commit(const sorting *s, const sort_plan *plan)
{
    reef_world *w = s->w;
    const table *t = table_read(w, plan->table);
    handle one;
    quarantine_because(w, s->op, 0, (reef_entity){0, 0});
    reef__quarantine_table(w, t);
    column_cycle(w, plan, SLOT_ENTITIES, NULL, &one);
    records_follow(w, plan, t);
    for (uint32_t k = SLOT_COLUMNS; k < t->shape->end_slot; k++)
        column_cycle(w, plan, k, t->shape->columns[k].type, s->spare);
    reef__bits_cycle(w, t->bits, plan->places, plan->count);
    reef__invalidate(w, INVALIDATE_BLOCKS_MOVED);
}

static void sorting_free(sorting *s)
{
    memory *m = &s->w->family->memory;
    for (uint32_t i = 0; i < s->plan_count; i++)
        reef__memory_free(m, MEMORY_OTHER, s->plans[i].places, (size_t)s->plans[i].room * sizeof *s->plans[i].places);
    reef__memory_free(m, MEMORY_OTHER, s->plans, s->plan_room * sizeof *s->plans);
    reef__memory_free(m, MEMORY_OTHER, s->rows, (size_t)s->row_room * sizeof *s->rows);
    reef__memory_free(m, MEMORY_OTHER, s->units, s->unit_room * sizeof *s->units);
    if (s->spare) reef__memory_resize(m, MEMORY_OTHER, s->spare, s->value_bytes, 0, s->value_align);
}

/* Moves the rows of all tables that were planned, or, if !ok, of none. False: there is no memory. */
static bool plans_commit(sorting *s, bool ok)
{
    if (ok && s->value_bytes) {
        s->spare = reef__memory_resize(&s->w->family->memory, MEMORY_OTHER, NULL, 0, s->value_bytes, s->value_align);
        ok = s->spare != NULL;
    }
    for (uint32_t i = 0; ok && i < s->plan_count; i++) plan_commit(s, &s->plans[i]);
    sorting_free(s);
    return ok;
}

static uint32_t tables_end(const reef_world *w) { return w->state.tables.count * TABLES_PER_PAGE; }

COLD reef_status reef_sort_storage(reef_world *w, const reef_sort *sort)
{
    static const char op[] = "reef_sort_storage";
    if (!WORLD_GIVEN(w)) return REEF_BAD_ARGUMENT;
    sorting s = {.w = w, .op = op, .value_align = PLAIN_ALIGN};
    grouped g = {.w = w};
    reef_component named = {0};
    reef_status status = sort_check(w, sort, &s.order, &named);
    if (status != REEF_OK) return reef__failure(w, status, op, named, (reef_entity){0, 0}, 0);
    uint32_t *ranks = s.order.relation ? reef__relation_ranks(w, s.order.relation) : NULL;
    s.order.rank = ranks;
    bool ok = (ranks || s.order.relation == NULL) && (!sort->grouped || reef__grouped_list(&g));
    if (sort->grouped) s.grouped = &g;
    w->hook_failed.id = 0;
    for (uint32_t id = TABLE_EMPTY; ok && id < tables_end(w); id++) {
        const table *t = table_read(w, id);
        if (t && sort_takes(&s, sort, t) && !rows_in_order(&s, t)) ok = plan_make(&s, t);
    }
    ok = plans_commit(&s, ok);
    reef__grouped_free(&g);
    reef__memory_free(&w->family->memory, MEMORY_OTHER, ranks,
                      ranks ? ((size_t)w->hot.index_count + 1) * sizeof *ranks : 0);
    return ok ? REEF_OK : reef__failure(w, REEF_NO_MEMORY, op, w->hook_failed, (reef_entity){0, 0}, 0);
}

COLD reef_status reef__storage_group(reef_world *w)
{
    static const char op[] = "reef_tick";
    grouped g = {.w = w};
    sorting s = {.w = w, .op = op, .grouped = &g, .value_align = PLAIN_ALIGN};
    bool ok = reef__grouped_list(&g), any = false;
    const bool all = reef__grouped_links_are_new(&g);
    w->hook_failed.id = 0;
    for (uint32_t id = TABLE_EMPTY; ok && id < tables_end(w); id++) {
        const table *t = table_read(w, id);
        if (t == NULL || !reef__grouped_takes(&g, t) || !(all || reef__grouped_rows_are_new(&g, t))) continue;
        any = true;
        if (table_rows(t) > 1 && !rows_in_order(&s, t)) ok = plan_make(&s, t);
    }
    ok = plans_commit(&s, ok);
    if (ok && (all || any)) reef__grouped_note(&g);
    reef__grouped_free(&g);
    return ok ? REEF_OK : reef__failure(w, REEF_NO_MEMORY, op, w->hook_failed, (reef_entity){0, 0}, 0);
}
