/* Sorted queries.
 *
 * The query keeps a list of all rows of its tables, sorted by {key, index of the entity}, each with its place:
 *
 *     listed:  unit 7: 1024 rows    unit 9: 300 rows    ...        how many rows of a chunk are in the list
 *     rows:    {key, index, place} {key, index, place} ...
 *
 * Before a loop the list is repaired. A chunk is unchanged if it has as many rows as are listed, and neither its key
 * column nor its handles were written since: a row that comes or moves marks them all. The rows of all other chunks
 * are taken out; those that these chunks have now are sorted and merged in. That is one pass over the list, and a sort
 * of what changed. Invariant: after a repair the list is what sorting everything would give, so its history can't be
 * seen.
 *
 * The list has the rows that the tables' types let through. Rows that fail for another reason (switches, disabled
 * components, changes) are skipped when the loop comes to them, because what makes them fail doesn't mark the column
 * of their key. */
#include "query/sorted_query.h"
#include "type/code.h"
#include "storage/error.h"
#include "storage/invalidate.h"
#include "storage/place.h"
#include "storage/sparse_store.h"
#include "query/block.h"
#include "query/chunk_cursor.h"
#include "query/iterate.h"
#include "query/iterate_sparse.h"
#include "query/query.h"
#include "query/relation_plan.h"
#include "query/row_filter.h"
#include "query/sort_key.h"
#include "query/relation_order.h"
#include "query/value_term.h"
#include "reef/column.h"
#include "reef/order.h"
#include "reef/ordered.h"

enum {
    /* in ranking.listed, during a repair: nothing changed in this chunk, or its rows were just added to the list */
    LISTED_KEPT = 0x8000
};

/* The rows that a loop will visit, found when it began, for a loop that changes what decides about them. */
typedef struct frozen {
    struct frozen *next;
    size_t room, count;
    order_row rows[];
} frozen;

struct ranking {
    ordering by;
    order_row *rows;
    size_t count;
    uint64_t room, up_room;
    uint16_t *listed; /* by unit */
    uint32_t units;
    uint64_t version; /* of the newest write that the list has seen */
    uint64_t epoch;   /* of the world's state */
    bool look;        /* some table has rows that may not match */
    frozen *frozen;   /* those of open loops */
    /* These are for an order by a relation (src/query/relation_order.h), whose rows are {depth or target, place of the
     * parent, place}: for each row its parent's row, and the length of the block that begins here. */
    uint32_t *up, *run;
    uint32_t *parents; /* chunks outside of the query's tables in which parents lie */
    uint32_t parent_count, parent_room;
    uint64_t rows_epoch;
    bool named;                   /* the query asks for the relation itself: the list has no rows without it */
    size_t all;                   /* rows of the query's tables, with those that aren't listed */
    uint64_t links, link_changes; /* how many relations there were, and how many had come or gone */
    /* Where all columns fit into a block's cells: the head of its blocks, the sizes of the columns, and by unit the
     * number of the match. */
    bool cells;
    reef_query_head head;
    uint32_t size[REEF_CELLS];
    uint32_t *match;
    uint32_t match_room;
};
_Static_assert(offsetof(struct ranking, by) == 0, "src/world/debug_layout.h says where the order of a query lies");

/* ---- the list ---- */

static void ranking_forget(ranking *r)
{
    r->count = 0;
    r->version = 0;
    if (r->units) memset(r->listed, 0, r->units * sizeof *r->listed);
}

/* Counts where the order leads into code that comes and goes. */
static COLD void order_hold(const ordering *by, bool hold)
{
    const uintptr_t key = (uintptr_t)by->key;
    reef__code_hold(&key, 1, hold);
}

void reef__ranking_drop(query *q)
{
    ranking *r = q->ranking;
    memory *m = &q->world->family->memory;
    if (r == NULL) return;
    order_hold(&r->by, false);
    for (frozen *f = r->frozen, *next; f; f = next) {
        next = f->next;
        reef__memory_free(m, MEMORY_OTHER, f, sizeof *f + f->room * sizeof *f->rows);
    }
    reef__memory_free(m, MEMORY_OTHER, r->rows, (size_t)r->room * sizeof *r->rows);
    reef__memory_free(m, MEMORY_OTHER, r->up, (size_t)r->up_room * sizeof *r->up);
    reef__memory_free(m, MEMORY_OTHER, r->match, r->match_room * sizeof *r->match);
    reef__memory_free(m, MEMORY_OTHER, r->parents, r->parent_room * sizeof *r->parents);
    reef__memory_free(m, MEMORY_OTHER, r->listed, r->units * sizeof *r->listed);
    reef__memory_free(m, MEMORY_OTHER, r, sizeof *r);
    q->ranking = NULL;
    q->types.epoch = q->rows_epoch = UINT64_MAX; /* whether loops look at rows has to be found out again */
}

COLD bool reef__ranking_put(query *q, const ordering *by)
{
    ranking *r = reef__memory_zeroed(&q->world->family->memory, MEMORY_OTHER, sizeof *r);
    if (r == NULL) return false;
    reef__ranking_drop(q);
    r->by = *by;
    order_hold(by, true);
    q->ranking = r;
    q->looks = true;
    q->rows_epoch = UINT64_MAX; /* it has no straight loops any more */
    return true;
}

const ordering *reef__ranking_order(const ranking *r) { return &r->by; }

COLD bool reef__ranking_cascade(query *q, reef_component relation)
{
    const reef_order order = {.relation = relation};
    ordering by;
    return reef__order_resolve(q->world, &order, &by) == REEF_OK && reef__ranking_put(q, &by);
}

COLD reef_component reef__order_cascade(const ordering *by)
{
    return (reef_component){by->relation && relation_is_tree(by->relation) ? by->relation->id : 0};
}

COLD reef_component reef__query_cascade(const query *q)
{
    return q->ranking ? reef__order_cascade(&q->ranking->by) : (reef_component){0};
}

static bool ranking_units(ranking *r, reef_world *w)
{
    return w->state.next_unit <= r->units || reef__array_room(&w->family->memory, MEMORY_OTHER, &r->listed, &r->units,
                                                              w->state.next_unit, sizeof *r->listed);
}

static bool ranking_room(ranking *r, reef_world *w, size_t count)
{
    return reef__list_room(w, &r->rows, 0, &r->room, count, sizeof *r->rows);
}

/* ---- repairing it ---- */

/* Is any page of the stored component newer than the list? */
static bool pages_are_new(const reef_world *w, const ranking *r)
{
    const reef_paged *p = &store_of(w, r->by.type->id)->values;
    for (uint32_t i = 0; i < p->count; i++)
        if (p->page[i] && p->version[i] > r->version) return true;
    return false;
}

/* How many rows of a chunk have the stored component that the list is sorted by. `news`: some page is new; then *same
 * becomes false if a value of these rows lies in a new page. (An entity that got the component since has its value in
 * one; where one lost it, there are fewer rows.) */
static uint32_t rows_stored(const reef_world *w, const ranking *r, const reef_entity *e, uint32_t rows, bool news,
                            bool *same)
{
    const value_store *s = store_of(w, r->by.type->id);
    uint32_t n = 0;
    for (uint32_t i = 0; i < rows; i++) {
        if (reef_store_find(s, e[i]) == NULL) continue;
        n++;
        if (news && reef__store_version(s, e[i]) > r->version) *same = false;
    }
    return n;
}

/* Marks the chunks that are unchanged. The answer is how many rows there are in all, and *changed how many lie in
 * chunks that changed. */
static size_t chunks_compare(const query *q, size_t *changed)
{
    const reef_world *w = q->world;
    ranking *r = q->ranking;
    const bool stored = order_is_stored(&r->by), news = stored && pages_are_new(w, r);
    size_t all = 0;
    *changed = 0;
    r->look = false;
    for (chunk_cursor c = {.q = q}; chunk_next(&c);) {
        const uint32_t slot = order_slot(w, &r->by, c.match->id);
        uint32_t rows = c.rows;
        bool same = (c.slots[slot].version <= r->version) && c.slots[SLOT_ENTITIES].version <= r->version;
        if (stored) rows = rows_stored(w, r, slot_entities(c.slots), rows, news, &same);
        same &= r->listed[c.unit] == rows;
        r->look |= c.match->look;
        all += rows;
        if (same) r->listed[c.unit] |= LISTED_KEPT;
        else *changed += rows;
    }
    return all;
}

/* Takes out the rows of chunks that changed or are gone. */
static void ranking_thin(ranking *r)
{
    order_row *rows = r->rows;
    size_t to = 0;
    for (size_t i = 0; i < r->count; i++) {
        const uint32_t unit = place_unit(rows[i].row);
        rows[to] = rows[i];
        to += (r->listed[unit] & LISTED_KEPT) != 0;
    }
    r->count = to;
}

/* Adds the rows of all other chunks of the query's tables behind those that are listed. */
static size_t rows_gather(const query *q)
{
    const reef_world *w = q->world;
    ranking *r = q->ranking;
    uint64_t keys[REEF_BLOCK_ROWS];
    order_row *to = r->rows + r->count;
    for (chunk_cursor c = {.q = q}; chunk_next(&c);) {
        const reef_entity *e = slot_entities(c.slots);
        if (r->listed[c.unit] & LISTED_KEPT) continue;
        const uint32_t slot = order_slot(w, &r->by, c.match->id);
        const uint32_t keyed = reef__order_chunk(w, &r->by, c.slots, slot, c.rows, keys);
        for (uint32_t k = 0; k < c.rows; k++)
            if (keyed == c.rows || store_has(w, r->by.type->id, e[k]))
                *to++ = (order_row){keys[k], e[k].index, unit_place(c.unit) + k};
        r->listed[c.unit] = (uint16_t)(keyed | LISTED_KEPT);
    }
    return (size_t)(to - r->rows) - r->count;
}

/* How many of the first `count` rows aren't behind x. The search starts from the end, in steps that double: so merging
 * is linear in the list, however many rows come in. */
static size_t rows_upto(const order_row *rows, size_t count, const order_row *x)
{
    size_t step = 1, high = count;
    while (step <= count && row_is_before(x, &rows[count - step])) {
        high = count - step;
        step *= 2;
    }
    size_t low = step <= count ? count - step : 0;
    while (low < high) {
        const size_t mid = low + (high - low) / 2;
        if (row_is_before(x, &rows[mid])) high = mid;
        else low = mid + 1;
    }
    return low;
}

/* Merges sorted rows, which lie elsewhere, into the list, from its end. */
static void rows_merge(ranking *r, const order_row *fresh, size_t count)
{
    size_t end = r->count, to = r->count + count;
    r->count = to;
    while (count-- > 0) {
        const size_t at = rows_upto(r->rows, end, &fresh[count]);
        to -= end - at;
        memmove(r->rows + to, r->rows + at, (end - at) * sizeof *r->rows);
        end = at;
        r->rows[--to] = fresh[count];
    }
    ASSERT(to == end);
}

static void listed_finish(ranking *r)
{
    for (uint32_t u = 0; u < r->units; u++)
        r->listed[u] = r->listed[u] & LISTED_KEPT ? (uint16_t)(r->listed[u] & ~LISTED_KEPT) : 0;
}

/* Makes the list that of the world as it is. While other loops are open, their blocks may be written without a new
 * mark, so what is new now stays new for the next repair. False: no memory; then the next repair sorts everything. */
static bool ranking_repair(query *q, uint32_t others)
{
    reef_world *w = q->world;
    ranking *r = q->ranking;
    size_t changed;
    if (r->epoch != w->state_epoch) ranking_forget(r);
    r->epoch = w->state_epoch;
    if (!ranking_units(r, w)) return false;
    const size_t all = chunks_compare(q, &changed);
    if (changed || all != r->count) {
        memory *m = &w->family->memory;
        const bool fits = ranking_room(r, w, all);
        const size_t bytes = changed * sizeof(order_row); /* no more than there is room for */
        order_row *scratch = fits && changed ? reef__memory_resize(m, MEMORY_OTHER, NULL, 0, bytes, PLAIN_ALIGN) : NULL;
        if (!fits || (changed && scratch == NULL)) {
            ranking_forget(r);
            return false;
        }
        ranking_thin(r);
        const size_t fresh = rows_gather(q);
        ASSERT(fresh == changed && r->count + fresh == all);
        if (fresh) {
            const order_row *sorted = reef__order_rows(r->rows + r->count, scratch, fresh);
            if (sorted != scratch && r->count) memcpy(scratch, sorted, bytes);
            if (sorted == scratch || r->count) rows_merge(r, scratch, fresh);
            else r->count = fresh;
            reef__memory_free(m, MEMORY_OTHER, scratch, bytes);
        }
        if (others == 0) {
            r->version = w->hot.version;
            reef__invalidate(w, INVALIDATE_LOOKED_AT);
        }
    }
    listed_finish(r);
    return true;
}

/* ---- parents before their children ---- */

static size_t group_bound(const ranking *r, uint64_t key, bool above)
{
    return rows_bound(r->rows, r->count, key, above);
}

static bool links_are_same(const reef_world *w, const ranking *r)
{
    const value_store *s = store_of(w, r->by.relation->id);
    return r->links == s->count && r->link_changes == s->relation_changes;
}

/* Has no row of the world come, gone or moved, and no relation, since the list was looked at? Then no lease was given
 * either (src/storage/invalidate.h), so the fast paths can't have done it. */
static bool tree_is_untouched(const query *q)
{
    const ranking *r = q->ranking;
    return r->version != 0 && r->rows_epoch == q->world->rows_epoch && links_are_same(q->world, r) && q->plan == NULL &&
           q->subs == NULL;
}

/* Does the query ask for the relation that it is ordered by? Then rows without it need no place in the list. */
static bool relation_is_named(const query *q)
{
    for (uint32_t i = 0; i < q->term_count; i++)
        if (q->terms[i].component.id == q->ranking->by.relation->id && q->terms[i].op == REEF_HAS && q->facts[i].top &&
            q->facts[i].bit && !q->facts[i].fixed)
            return true;
    return false;
}

/* Does nothing else decide by row? Then all rows of the list match. */
static bool list_decides(const query *q) { return q->ranking->named && q->only_switch == q->ranking->by.relation->id; }

/* Is the list by a relation still that of the world? */
static bool tree_is_same(const query *q, size_t *all)
{
    const reef_world *w = q->world;
    ranking *r = q->ranking;
    const bool looks = !list_decides(q);
    bool same = r->version != 0 && links_are_same(w, r);
    *all = 0;
    r->look = false;
    for (chunk_cursor c = {.q = q}; chunk_next(&c);) {
        r->look |= looks && c.match->look;
        r->match[c.unit] = c.number - 1;
        *all += c.rows;
        same &= c.slots[SLOT_ENTITIES].version <= r->version && r->listed[c.unit] == c.rows;
    }
    for (uint32_t i = 0; same && i < r->parent_count; i++)
        same = unit_slots(w, r->parents[i])[SLOT_ENTITIES].version <= r->version;
    return same && *all == r->all;
}

/* Notes how many rows each chunk has, and in which other chunks parents lie. */
static bool tree_note(query *q)
{
    reef_world *w = q->world;
    ranking *r = q->ranking;
    uint32_t last = 0;
    if (r->units) memset(r->listed, 0, r->units * sizeof *r->listed);
    for (chunk_cursor c = {.q = q}; chunk_next(&c);) r->listed[c.unit] = (uint16_t)c.rows;
    r->parent_count = 0;
    for (size_t i = 0; i < r->count; i++) {
        const uint32_t unit = place_unit(r->rows[i].index);
        if (unit == last || unit == 0 || r->listed[unit]) continue;
        if (!reef__array_room(&w->family->memory, MEMORY_OTHER, &r->parents, &r->parent_room, r->parent_count + 1,
                              sizeof *r->parents))
            return false;
        r->parents[r->parent_count++] = last = unit;
        r->listed[unit] = LISTED_KEPT;
    }
    for (uint32_t i = 0; i < r->parent_count; i++) r->listed[r->parents[i]] = 0;
    return true;
}

/* Can the accessors find the columns of a block in its cells? */
static void tree_head_set(const query *q)
{
    ranking *r = q->ranking;
    r->named = relation_is_named(q);
    r->cells = q->head.column_count <= REEF_CELLS && q->cut == NULL && q->subs == NULL && !q->tracked &&
               !q->optional_writes && !q->out;
    r->head = q->head;
    r->head.ahead = false;
    for (uint32_t k = 0; r->cells && k < q->head.column_count; k++)
        r->size[k] = reef__type_of(q->head.key[k] >> 1)->size;
}

/* Gives a block its columns, and makes those that the loop writes this world's own. False: there is no memory. */
static bool tree_block(reef_block *b, const query *q)
{
    const ranking *r = q->ranking;
    const match *m = match_at(q, r->match[b->loop.unit]);
    const reef_world *w = b->world;
    bool own = !b->loop.part;
    for (uint32_t k = 0; own && k < q->head.write_count; k++)
        own = reef_slot_of(b->loop.slots, m, k)->version > w->hot.fork_version;
    for (uint32_t k = 0; own && k < q->head.write_count; k++)
        ((reef_slot *)(uintptr_t)reef_slot_of(b->loop.slots, m, k))->version = w->hot.version;
    b->loop.match = NULL;
    if (!own && !b->loop.part && query_writes(q) && !reef__block_own(b)) return false;
    for (uint32_t k = 0; k < q->head.column_count; k++) {
        const reef_slot *slot = reef_slot_of(b->loop.slots, m, k);
        b->loop.cells[k].values = slot->block ? (char *)slot->block + (size_t)b->loop.first * r->size[k] : NULL;
    }
    b->loop.head = &r->head;
    b->loop.match = reef__cells_match;
    b->loop.column = (const reef_slot *)(const void *)b->loop.cells;
    return true;
}

/* As ranking_repair. Which rows are affected by a new parent can't be told by versions, so the list is made anew. */
static bool tree_repair(query *q, uint32_t others)
{
    reef_world *w = q->world;
    ranking *r = q->ranking;
    memory *m = &w->family->memory;
    size_t all;
    if (r->epoch != w->state_epoch) ranking_forget(r);
    r->epoch = w->state_epoch;
    if (tree_is_untouched(q)) return true;
    if (!ranking_units(r, w) ||
        !reef__array_room(m, MEMORY_OTHER, &r->match, &r->match_room, r->units, sizeof *r->match))
        return false;
    tree_head_set(q);
    if (tree_is_same(q, &all)) return true;
    ranking_forget(r);
    if (!ranking_room(r, w, all) || !reef__list_room(w, &r->up, 0, &r->up_room, 2 * (uint64_t)all, sizeof *r->up))
        return false;
    r->run = all ? r->up + r->up_room / 2 : NULL; /* without rows there may be no list */
    const size_t bytes = all * sizeof *r->rows;
    size_t listed = all;
    order_row *scratch = all ? reef__memory_resize(m, MEMORY_OTHER, NULL, 0, bytes, PLAIN_ALIGN) : NULL;
    const order_row *sorted =
        scratch ? reef__relation_list(q, r->by.relation, r->named, r->rows, scratch, &listed) : NULL;
    if (sorted == scratch && sorted) memcpy(r->rows, scratch, listed * sizeof *r->rows);
    reef__memory_free(m, MEMORY_OTHER, scratch, scratch ? bytes : 0);
    if (all && sorted == NULL) return false;
    r->count = listed;
    r->all = all;
    if (!tree_note(q)) return ranking_forget(r), false;
    reef__relation_runs(r->rows, listed, r->up, r->run);
    r->links = store_of(w, r->by.relation->id)->count;
    r->link_changes = store_of(w, r->by.relation->id)->relation_changes;
    if (others == 0) {
        r->version = w->hot.version;
        reef__invalidate(w, INVALIDATE_LOOKED_AT); /* which ends all leases */
        r->rows_epoch = w->rows_epoch;
    }
    return true;
}

static bool ranking_update(query *q, uint32_t others)
{
    return q->ranking->by.relation ? tree_repair(q, others) : ranking_repair(q, others);
}

bool reef__ranking_ready(query *q) { return query_update(q) && ranking_update(q, q->world->locks); }

uint32_t reef__ranking_rows(const query *q) { return (uint32_t)q->ranking->count; }

uint32_t reef__ranking_piece(const query *q, uint32_t first, uint32_t rows, bool *within)
{
    const ranking *r = q->ranking;
    const uint32_t count = (uint32_t)r->count, least = rows < count - first ? first + rows : count;
    const bool middle = first > 0 && r->rows[first - 1].key == r->rows[first].key; /* of a depth */
    uint32_t end = first;
    *within = false;
    for (;;) { /* whole depths, or chunks of the first one */
        const uint64_t depth = r->rows[end].key;
        uint32_t next = (uint32_t)group_bound(r, depth, true);
        if (next > least && end == first && next - first >= 2 * rows) {
            for (end = least; end < next && place_unit(r->rows[end].row) == place_unit(r->rows[end - 1].row);) end++;
            *within = end < next;
            return end;
        }
        if (next - end >= 2 * rows) return end; /* a large depth begins a piece of its own */
        end = next;
        if (end >= least || middle) return end;
    }
}

void reef__ranking_part(reef_block *b, uint32_t first, uint32_t end)
{
    b->loop.head = &reef__no_keys;
    b->loop.match = NULL;
    b->loop.end = NULL;
    b->loop.walk_unit = first;
    b->loop.end_unit = end;
}

/* The place in the list at which a block begins, and the list. NULL: the block isn't one of a loop by depth. */
static const ranking *block_tree(const reef_block *b, uint32_t *at)
{
    const ranking *r = b && b->loop.open && b->count && b->loop.query ? b->loop.query->ranking : NULL;
    if (r == NULL || r->by.relation == NULL) return NULL;
    *at = b->loop.walk_unit - b->count;
    return r;
}

const uint32_t *reef_block_parent_rows(const reef_block *b)
{
    uint32_t at;
    const ranking *r = block_tree(b, &at);
    return r ? r->up + at : NULL;
}

const void *reef_block_parents_in(const reef_block *b, reef_component c)
{
    uint32_t at;
    const ranking *r = block_tree(b, &at);
    if (r == NULL || r->rows[at].index == 0) return NULL;
    const reef_slot *slots = reef_slots_at(&b->world->hot, r->rows[at].index);
    const uint32_t unit = place_unit(r->rows[at].index);
    for (uint32_t k = 0; r->cells && unit < r->units && r->listed[unit] && k < r->head.column_count; k++)
        if (r->head.key[k] >> 1 == c.id) return reef_slot_of(slots, match_at(b->loop.query, r->match[unit]), k)->block;
    const uint32_t slot = reef__slot_seek(b->world, c.id, slots[0].head.table);
    bool named = b->loop.job == NULL; /* others may write what the system doesn't name */
    for (uint32_t i = 0; !named && i < b->loop.query->term_count; i++)
        named = b->loop.query->terms[i].component.id == c.id && term_has_data(b->loop.query, i);
    if (!named) return reef__failure(b->world, REEF_UNDECLARED, "reef_parents_in", c, (reef_entity){0, 0}, 0), NULL;
    return slot == 0 || slot == REEF_SLOT_TAG ? NULL : slots[slot].block;
}

/* ---- rows that match ---- */

static uint64_t rows_wanted(const query *q, size_t first, size_t end, uint64_t since)
{
    const ranking *r = q->ranking;
    uint64_t n = 0;
    if (!r->look) return end - first;
    for (size_t i = first; i < end; i++) n += reef__look_row(q, r->rows[i].row, since);
    return n;
}

/* ---- loops ---- */

/* A loop that asks for changes also makes some: what it writes would count as a change when it comes to the same chunk
 * again. So it finds its rows when it begins. */
COLD bool reef__ranking_begin(reef_block *b, query *q)
{
    ranking *r = q->ranking;
    b->loop.end = NULL;
    if (q->open == 1 && !ranking_update(q, q->world->locks - 1)) return false;
    if (q->since) {
        size_t bytes;
        if (!reef__size_multiply(r->count, sizeof *r->rows, sizeof(frozen), &bytes)) return false;
        frozen *f = reef__memory_resize(&q->world->family->memory, MEMORY_OTHER, NULL, 0, bytes, PLAIN_ALIGN);
        if (f == NULL) return false;
        f->room = r->count;
        f->count = 0;
        f->next = r->frozen;
        r->frozen = f;
        b->loop.end = f;
    }
    return true;
}

COLD void reef__ranking_open(reef_block *b, const reef_loop *loop)
{
    const query *q = b->loop.query;
    const ranking *r = q->ranking;
    frozen *f = (frozen *)(uintptr_t)b->loop.end;
    size_t first = 0, end = r->count;
    if (loop && loop->grouped) {
        first = group_bound(r, loop->group ^ r->by.flip, false);
        end = group_bound(r, loop->group ^ r->by.flip, true);
    }
    if (!reef__fixed_hold(q, b->loop.since)) end = first;
    if (f) {
        for (size_t i = first; i < end; i++)
            if (!r->look || reef__look_row(q, r->rows[i].row, b->loop.since)) f->rows[f->count++] = r->rows[i];
        first = 0;
        end = f->count;
    }
    if (f || !r->look) {
        const size_t skip = b->loop.skip < end - first ? (size_t)b->loop.skip : end - first;
        first += skip;
        b->loop.skip = 0;
    }
    b->loop.walk_unit = (uint32_t)first;
    b->loop.end_unit = (uint32_t)end;
}

void reef__ranking_end(reef_block *b)
{
    frozen *f = (frozen *)(uintptr_t)b->loop.end;
    if (f == NULL) return;
    frozen **at = &b->loop.query->ranking->frozen;
    while (*at != f) at = &(*at)->next;
    *at = f->next;
    reef__memory_free(&b->world->family->memory, MEMORY_OTHER, f, sizeof *f + f->room * sizeof *f->rows);
    b->loop.end = NULL;
}

bool reef__ranking_next(reef_block *b)
{
    const query *q = b->loop.query;
    const ranking *r = q->ranking;
    const frozen *f = b->loop.end;
    const order_row *rows = f ? f->rows : r->rows;
    const bool looks = r->look && f == NULL;
    const uint32_t end = b->loop.end_unit;
    uint32_t i = b->loop.walk_unit;
    for (; looks && i < end; i++) {
        if (!reef__look_row(q, rows[i].row, b->loop.since)) continue;
        if (b->loop.skip == 0) break;
        b->loop.skip--;
    }
    if (i >= end || b->loop.left == 0) {
        reef_end(b);
        return false;
    }
    const uint32_t place = rows[i].row;
    uint32_t most = b->loop.left < end - i ? (uint32_t)b->loop.left : end - i, n = 1;
    if (r->by.relation && r->run[i] < most) most = r->run[i];
    if (r->by.relation && !looks) n = most;
    while (n < most && rows[i + n].row == place + n && place_row(place + n) &&
           (!looks || reef__look_row(q, place + n, b->loop.since)))
        n++;
    b->loop.mask = NULL;
    b->loop.unit = place_unit(place);
    b->loop.first = place_row(place);
    b->loop.slots = unit_slots(b->world, b->loop.unit);
    b->entities = slot_entities(b->loop.slots) + b->loop.first;
    b->count = n = q->cut ? reef__cut_rows(q, b->entities, n) : n;
    if (b->loop.left != UINT64_MAX) b->loop.left -= n;
    b->loop.walk_unit = i + n;
    if (r->by.relation && r->cells) return tree_block(b, q);
    return b->loop.part || !query_writes(q) || reef__block_own(b);
}

/* ---- the calls ---- */

/* Does every row that matches have the component itself? */
static bool ranking_allows(const query *q, reef_component c)
{
    for (uint32_t i = 0; c.id && i < q->term_count; i++) {
        const reef_term *t = &q->terms[i];
        const bool itself = !q->facts[i].fixed && !q->facts[i].up && t->variable == 0;
        if (t->component.id == c.id && t->op == REEF_HAS && q->facts[i].top && itself) return true;
    }
    return c.id == 0;
}

COLD reef_status reef_query_order(reef_world *w, reef_query which, const reef_order *order)
{
    static const char op[] = "reef_query_order";
    const reef_component c = order ? order->component : (reef_component){0};
    reef_status s = REEF_OK;
    ordering by;
    if (!WORLD_GIVEN(w)) return REEF_BAD_ARGUMENT;
    query *q = query_of(w, which, &s);
    if (q && q->open) s = REEF_LOCKED;
    if (s == REEF_OK && order) s = reef__order_resolve(w, order, &by);
    if (s == REEF_OK && order && !ranking_allows(q, c))
        s = refuse_because(w, "the query doesn't ask for this component in a term that every match has");
    if (s == REEF_OK && order && by.relation && q->since)
        s = refuse_because(w, "a query that asks what changed can't be in the order of a relation");
    if (s == REEF_OK && order && q->plan && q->plan->bindings)
        s = refuse_because(w, "a query whose rows match with several entities has no order");
    if (s == REEF_OK && order && !reef__ranking_put(q, &by)) s = REEF_NO_MEMORY;
    if (s != REEF_OK) return reef__failure(w, s, op, c, (reef_entity){0, 0}, 0);
    if (order == NULL) reef__ranking_drop(q);
    reef__query_changed(q);
    return REEF_OK;
}

/* The query with its list brought up to date. NULL: it was refused, and the reason is recorded. */
static query *ranking_ask(reef_world *w, const char *op, reef_query which)
{
    reef_status s = REEF_NO_MEMORY;
    query *q = WORLD_GIVEN_TO(w, op) ? query_of(w, which, &s) : NULL;
    if (q && q->ranking == NULL) {
        misuse_refuse(w, op, "the query has no order (reef_query_order)");
        return NULL;
    }
    if (q && query_update(q) && (q->open || ranking_update(q, w->locks))) return q;
    if (w && w->hot.library == &reef__library) reef__query_refuse(w, op, q, s);
    return NULL;
}

uint64_t reef_query_group_count(reef_world *w, reef_query which, uint64_t group)
{
    const query *q = ranking_ask(w, "reef_query_group_count", which);
    if (q == NULL) return 0;
    const uint64_t key = group ^ q->ranking->by.flip, since = reef__query_last_run(q);
    if (!reef__fixed_hold(q, since)) return 0;
    return rows_wanted(q, group_bound(q->ranking, key, false), group_bound(q->ranking, key, true), since);
}

bool reef_query_next_group(reef_world *w, reef_query which, reef_group *group)
{
    static const char op[] = "reef_query_next_group";
    if (WORLD_GIVEN(w) && group == NULL) return misuse_refuse(w, op, "the group is NULL"), false;
    const query *q = ranking_ask(w, op, which);
    if (q == NULL) return false;
    const ranking *r = q->ranking;
    const uint64_t since = reef__query_last_run(q);
    size_t first = group->begun ? group_bound(r, group->key ^ r->by.flip, true) : 0;
    while (first < r->count && reef__fixed_hold(q, since)) {
        const uint64_t key = r->rows[first].key;
        const size_t end = group_bound(r, key, true);
        const uint64_t n = rows_wanted(q, first, end, since);
        if (n) {
            *group = (reef_group){key ^ r->by.flip, n, true};
            return true;
        }
        first = end;
    }
    return false;
}
