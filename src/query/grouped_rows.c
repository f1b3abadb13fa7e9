/* Rows in groups (src/query/grouped_rows.h). */
#include "query/grouped_rows.h"
#include "storage/invalidate.h"
#include "storage/place.h"
#include "storage/relation_index.h"
#include "storage/row_bits.h"
#include "storage/sparse_store.h"

/* ---- which relations ---- */

bool reef__grouped_any(const reef_world *w)
{
    EACH_GROUPED_STORE(w, s)
    if (s->count) return true;
    return false;
}

static const char *store_name(const value_store *s) { return reef__type_of(s->component)->name; }

COLD bool reef__grouped_list(grouped *g)
{
    const reef_world *w = g->w;
    EACH_GROUPED_STORE(w, s)
    {
        if (s->count == 0) continue;
        if (!reef__array_room(&w->family->memory, MEMORY_OTHER, &g->store, &g->room, g->count + 1, sizeof *g->store))
            return false;
        uint32_t at = g->count++;
        for (; at > 0 && strcmp(store_name(g->store[at - 1]), store_name(s)) > 0; at--) g->store[at] = g->store[at - 1];
        g->store[at] = s;
    }
    return true;
}

void reef__grouped_free(grouped *g)
{
    reef__memory_free(&g->w->family->memory, MEMORY_OTHER, g->store, g->room * sizeof *g->store);
}

/* ---- what is new ---- */

/* How many relations there are that group rows, and how many came or went. (One whose target dies with it is only
 * missing.) */
static void links_count(const reef_world *w, uint64_t *links, uint64_t *changes)
{
    *links = *changes = 0;
    EACH_GROUPED_STORE(w, s)
    {
        *links += s->count;
        *changes += s->relation_changes;
    }
}

bool reef__grouped_links_are_new(const grouped *g)
{
    const reef_world *w = g->w;
    uint64_t links, changes;
    links_count(w, &links, &changes);
    return w->grouped_epoch != w->state_epoch || w->grouped_links != links || (w->grouped_link_changes != changes);
}

bool reef__grouped_rows_are_new(const grouped *g, const table *t)
{
    const reef_world *w = g->w;
    for (uint32_t unit = t->first; unit; unit = unit_slots(w, unit)[0].head.next)
        if (unit_slots(w, unit)[SLOT_ENTITIES].version > w->grouped_version) return true;
    return false;
}

void reef__grouped_note(const grouped *g)
{
    reef_world *w = g->w;
    w->grouped_epoch = w->state_epoch;
    links_count(w, &w->grouped_links, &w->grouped_link_changes);
    w->grouped_version = w->hot.version;
    reef__invalidate(w, INVALIDATE_LOOKED_AT);
}

/* ---- rows ---- */

bool reef__grouped_takes(const grouped *g, const table *t)
{
    for (uint32_t i = 0; i < g->count; i++) {
        const bit_store *b = bit_store_of(g->w, g->store[i]->component);
        if (b && reef__bit_known(g->w, b, t->shape->table)) return true;
    }
    return false;
}

/* The group of an entity, by one relation. */
static uint32_t target_index_of(const value_store *s, reef_entity e)
{
    const relation_value *v = reef_store_find(s, e);
    return v ? v->target.index : UINT32_MAX;
}

/* Does the group of `a` come before that of `b`? */
static bool group_precedes(const grouped *g, reef_entity a, reef_entity b)
{
    for (uint32_t i = 0; i < g->count; i++) {
        const uint32_t x = target_index_of(g->store[i], a), y = target_index_of(g->store[i], b);
        if (x != y) return x < y;
    }
    return false;
}

bool reef__grouped_lies(const grouped *g, const table *t)
{
    reef_entity last = {0, 0};
    for (uint32_t unit = t->first; unit; unit = unit_slots(g->w, unit)[0].head.next) {
        const reef_entity *e = slot_entities(unit_slots(g->w, unit));
        for (uint32_t i = 0; i < chunk_rows(t, unit); i++) {
            if (last.generation && group_precedes(g, e[i], last)) return false;
            last = e[i];
        }
    }
    return true;
}

static const reef_entity *entities_of(const grouped *g, size_t row)
{
    return slot_entities(unit_slots(g->w, g->units[row / REEF_BLOCK_ROWS])) + row % REEF_BLOCK_ROWS;
}

/* Puts the group by a relation in front of the key of each row. */
static void keys_put(const grouped *g, const value_store *s, order_row *rows, size_t count)
{
    for (size_t first = 0; first < count; first += REEF_BLOCK_ROWS) {
        const reef_entity *e = entities_of(g, first);
        for (size_t k = first; k < count && k < first + REEF_BLOCK_ROWS; k++)
            rows[k].key |= (uint64_t)target_index_of(s, e[k - first]) << 32;
    }
}

/* Rows with equal keys that lie side by side, as {key, first row, number of rows}. Returns how many runs there are. */
static size_t runs_find(const order_row *rows, size_t count, order_row *runs)
{
    size_t n = 0;
    for (size_t k = 0; k < count; k++)
        if (n && runs[n - 1].key == rows[k].key) runs[n - 1].row++;
        else runs[n++] = (order_row){rows[k].key, (uint32_t)k, 1};
    return n;
}

/* Numbers the keys of sorted runs, and gives these numbers to their rows as keys. */
static void keys_number(order_row *runs, size_t n, order_row *rows)
{
    uint64_t number = 0, last = n ? runs[0].key : 0;
    for (size_t i = 0; i < n; i++) {
        number += runs[i].key != last;
        last = runs[i].key;
        runs[i].key = number;
        for (uint32_t k = 0; k < runs[i].row; k++) rows[runs[i].index + k].key = number;
    }
}

/* Brings the rows of one group, which are these runs, to rows[first] to rows[end - 1]. Those that lie there stay, and
 * the others fill the other places. */
static void group_place(const grouped *g, const order_row *runs, size_t n, order_row *rows, size_t first, size_t end)
{
    size_t to = first;
    for (size_t i = 0; i < n; i++)
        for (uint32_t from = runs[i].index; from < runs[i].index + runs[i].row; from++) {
            if (from >= first && from < end) continue;
            for (; rows[to].key == runs->key; to++) rows[to].row = (uint32_t)to;
            rows[to].index = entities_of(g, from)->index;
            rows[to++].row = from;
        }
    for (; to < end; to++) rows[to].row = (uint32_t)to;
}

void reef__grouped_rows(const grouped *g, order_row *rows, order_row *scratch, size_t count)
{
    order_row *runs = scratch;
    size_t n = 0, end = 0;
    for (size_t k = 0; k < count; k++) rows[k].key = 0;
    for (uint32_t i = g->count; i-- > 0;) { /* the last relation first: its groups become parts of those before it */
        keys_put(g, g->store[i], rows, count);
        n = runs_find(rows, count, scratch);
        runs = reef__order_rows(scratch, scratch + count, n);
        keys_number(runs, n, rows);
    }
    for (size_t i = 0, next; i < n; i = next) {
        const size_t first = end;
        for (next = i; next < n && runs[next].key == runs[i].key; next++) end += runs[next].row;
        group_place(g, runs + i, next - i, rows, first, end);
    }
    ASSERT(end == count);
}
