/* Loops over a query's blocks: beginning, stepping, ending.
 *
 * A straight loop goes table after table and chunk after chunk, and every row of a block matches. It is inlined
 * (detail/loop.h). Every other loop has b->walks: to its inlined half it looks as if it were at its end (b->next is
 * NULL and b->next_unit REEF_GO_CALL), so that reef_next calls reef_block_more_, which steps by the kind of the loop:
 *
 *   kind of loop                          stepper                           why it has its own
 *   straight, a table with one block      reef_next (detail/loop.h)           no call at all for a small table
 *   straight, within a larger table       reef_chunk_next (detail/loop.h)     no call for each chunk
 *   straight, another first block; end    block_find -> table_next          columns are made this world's own once
 *   rows are looked at: switches,         walk_next                         a mask is computed for each chunk; the
 *     disabled rows, changes, optional                                      words of one switch are the mask
 *     columns, an offset or a limit
 *   sorted or grouped (q->ranking)        reef__ranking_next                its order isn't that of the tables
 *                                         (sorted_query.c)
 *   stored values (q->cut)                reef__cut_next                    a block ends where values lie elsewhere
 *     the chunk's rows are remembered     reef__run_next                    the blocks of the chunk are known
 *     one visit for each value of a type  reef__each_next around either     several blocks for one row
 *                                         (all: iterate_sparse.c)
 *   row by row (reef_rows)                reef_row_step within a run of     no block for each row
 *                                         rows, reef_rows_more_ between
 *     with stored values, remembered      reef__gather_next                 whole chunks instead of cut blocks
 *
 * What the kinds share: reef__walk_step goes to the next chunk of a loop with b->walks (sorted loops apart),
 * walk_look says which of its rows match, and reef__walk_own or reef_block_mark makes what the loop writes this
 * world's own and marks it before the caller sees the block. The parts of a split are loops that begin late and stop
 * early (partition.c); whoever runs them marks their blocks. A block that begins within its chunk has an empty head, so
 * that the accessors don't take their short way. */
#include "query/iterate.h"
#include "storage/archetype.h"
#include "storage/copy_on_write.h"
#include "storage/error.h"
#include "storage/invalidate.h"
#include "storage/observed.h"
#include "storage/place.h"
#include "storage/row_bits.h"
#include "storage/row_stamps.h"
#include "storage/serial_list.h"
#include "storage/sparse_store.h"
#include "storage/table.h"
#include "change/command.h"
#include "query/variables.h"
#include "query/block.h"
#include "query/inherited_queries.h"
#include "query/iterate_sparse.h"
#include "query/match_cache.h"
#include "query/query.h"
#include "query/row_filter.h"
#include "query/sorted_query.h"
#include "query/subtype_terms.h"
#include "query/value_term.h"
#include "reef/plain.h"

/* ---- the last run ---- */

uint64_t reef__query_last_run(const query *q)
{
    return q->since ? reef__serial_read(&q->world->state.runs, q->serial) : 0;
}

/* Does anybody still ask for this run? A fork has those of its origin's queries, and a restored state those of queries
 * that existed then. */
static COLD bool run_counts(const reef_world *w, uint64_t serial)
{
    for (uint32_t i = 0; i < w->query_room; i++) {
        const struct query_slot *x = &w->queries[i];
        if (x->query ? x->query->serial == serial : x->kept && x->kept->serial == serial) return true;
    }
    return reef__serial_counts(w, serial);
}

COLD bool reef__run_make(query *q)
{
    return reef__serial_own(q->world, &q->world->state.runs, q->serial, run_counts) != NULL;
}

void reef__run_put(const query *q, uint64_t version) { *reef__serial_find(&q->world->state.runs, q->serial) = version; }

void reef__run_forget(const query *q)
{
    if (q->since) reef__serial_hand_over(&q->world->state.runs, q->serial, 0);
}

/* ---- beginning and ending ---- */

static COLD reef_block begin_refuse(reef_world *w, const char *op, const query *q, reef_status s)
{
    if (WORLD_GIVEN(w)) reef__query_refuse(w, op, q, s);
    return reef__block_none(w);
}

/* What every loop does first: the world is locked, its fast paths are closed. Values that are right already aren't
 * stored again: in a small loop the rows' stores mostly wait for the memory, and every store that begins or ends the
 * loop waits with them. */
INLINE void loop_lock(reef_world *w, query *q)
{
    if (UNLIKELY(w->error.status != REEF_OK)) reef__error_pass(w);
    /* so that what this loop writes can be told from what was written before */
    w->hot.version += q->head.write_count != 0 ? VERSION_STEP : 0;
    w->locks++;
    reef__invalidate(w, INVALIDATE_LOOP_OPENED);
    q->open++;
}

/* Initializes a block before the first one. What isn't set here is set with the first block, or by reef__walk_open. It
 * is no function: reef_begin makes its block where the caller wants it only if nobody takes the block's address;
 * otherwise 280 bytes are copied. */
#define BLOCK_BEFORE(b, w_, q_) \
    b.count = 0; \
    b.dt = 0; \
    b.entities = NULL; \
    b.world = w_; \
    b.context = NULL; \
    b.loop.query = q_; \
    b.loop.job = NULL; \
    b.loop.head = &q_->head; \
    b.loop.next_unit = REEF_GO_TABLE; \
    b.loop.mask = NULL; \
    b.loop.part = b.loop.walks = b.loop.deferred = false; \
    b.loop.match = q_->head.before; \
    b.loop.next = q_->head.first; \
    b.loop.open = true

/* Turns the block into one of a loop that looks at rows: to the inlined half it looks as if it were at its end. */
void reef__walk_open(reef_block *b, const query *q)
{
    b->loop.walks = true;
    b->loop.next_unit = REEF_GO_CALL;
    b->loop.next = NULL;
    b->loop.end = q->head.behind;
    b->loop.walk_unit = b->loop.end_unit = b->loop.first = b->loop.unit = 0;
    b->loop.skip = 0;
    b->loop.left = UINT64_MAX;
    b->loop.since = 0;
    b->loop.frozen = NULL;
    b->loop.words = NULL;
    b->loop.rest = 0;
    b->loop.more = 0;
    b->loop.number = b->loop.numbers_left = 0;
    b->loop.cut = b->loop.cut_end = NULL;
    b->loop.bits = NULL;
    b->loop.gathers = false;
    b->loop.rows_asked = false;
    b->loop.values_asked = 0;
}

/* Begins a loop of a query that asks what changed since its last run. This loop is the next "last run"; what it writes
 * itself won't be new to the one after it. */
static COLD bool since_begin(reef_block *b, query *q, uint64_t since)
{
    reef_world *w = q->world;
    if (!reef__run_make(q)) return false;
    if (q->cut && q->cut->freezes) {
        frozen_versions *f = reef__frozen_make(q, NULL);
        if (f == NULL) return false;
        reef__frozen_fill(q, f);
        b->loop.frozen = f;
    }
    b->loop.since = since ? since : reef__query_last_run(q);
    reef__invalidate(w, INVALIDATE_LOOKED_AT);
    w->observed = w->hot.version;
    reef__run_put(q, w->observed);
    return true;
}

/* Are rows skipped or counted? */
INLINE bool walk_is_cut(const reef_block *b) { return b->loop.skip != 0 || b->loop.left != UINT64_MAX; }

static COLD void walk_begin(reef_block *b, query *q, const reef_loop *loop)
{
    reef__walk_open(b, q);
    bool ok = !(q->plan && q->plan->bindings) || (b->loop.bound = reef__bound_open(q)) != NULL;
    if (q->optional_writes || (q->cut && (q->cut->writes || join_is_young(q))))
        reef__invalidate(q->world, INVALIDATE_LOOKED_AT);
    ok = ok && (!q->ranking || reef__ranking_begin(b, q)) && (!q->since || since_begin(b, q, loop ? loop->since : 0));
    if (!ok) {
        reef_world *w = q->world;
        reef_end(b);
        reef__refuse(w, REEF_NO_MEMORY, "reef_begin");
        return;
    }
    if (loop) b->loop.skip = loop->offset;
    if (loop && loop->limit) b->loop.left = loop->limit;
    if (q->ranking) {
        b->loop.head = &reef__no_keys; /* its blocks may begin anywhere in a chunk */
        reef__ranking_open(b, loop);
    } else if (!reef__fixed_hold(q, b->loop.since)) b->loop.left = 0;
}

/* Begins a loop that isn't straight, or refuses. */
static NOINLINE reef_block begin_walk(reef_world *w, query *q, reef_status s)
{
    reef_block b;
    if (q == NULL || !query_update(q)) return begin_refuse(w, "reef_begin", q, s);
    conditions_mark(q);
    loop_lock(w, q);
    BLOCK_BEFORE(b, w, q);
    walk_begin(&b, q, NULL);
    return b;
}

/* Begins a loop of a query whose rows came or went since its last loop, or that has no straight loops. */
static NOINLINE reef_block begin_look(reef_world *w, query *q, reef_status s)
{
    if (q == NULL || !reef__rows_look(q)) return begin_walk(w, q, s);
    reef_block b;
    loop_lock(w, q);
    BLOCK_BEFORE(b, w, q);
    return b;
}

reef_block reef_begin(reef_world *w, reef_query which)
{
    reef_status s = REEF_NO_MEMORY;
    query *q = WORLD_GIVEN(w) ? query_of(w, which, &s) : NULL;
    if (UNLIKELY(q == NULL || q->rows_epoch != w->rows_epoch)) return begin_look(w, q, s);
    reef_block b;
    loop_lock(w, q);
    BLOCK_BEFORE(b, w, q);
    return b;
}

COLD reef_block reef_begin_loop(reef_world *w, reef_query which, const reef_loop *loop)
{
    static const char op[] = "reef_begin_loop";
    reef_status s = REEF_NO_MEMORY;
    reef_block b;
    query *q = WORLD_GIVEN(w) ? query_of(w, which, &s) : NULL;
    const char *wrong = q == NULL                      ? NULL
                        : loop == NULL                 ? "the settings of the loop are NULL"
                        : loop->since && !q->since     ? "`since` is for queries that ask what changed"
                        : loop->since > w->hot.version ? "`since` is a version that is still to come"
                        : loop->grouped && !q->ranking ? "`grouped` is for queries with an order (reef_query_order)"
                                                       : NULL;
    if (wrong) return misuse_refuse(w, op, wrong), reef__block_none(w);
    if (q == NULL || !query_update(q)) return begin_refuse(w, op, q, s);
    conditions_mark(q);
    loop_lock(w, q);
    BLOCK_BEFORE(b, w, q);
    if (loop->deferred) {
        b.loop.deferred = true;
        w->deferring++;
        w->commands = &w->deferred;
        w->slow |= SLOW_DEFERRED;
    }
    walk_begin(&b, q, loop);
    return b;
}

COLD reef_block reef_begin_text(reef_world *w, const char *text)
{
    query *q = WORLD_GIVEN(w) ? reef__query_make_text(w, "reef_begin_text", text) : NULL;
    if (q == NULL) return reef__block_none(w); /* the reason was recorded when the query couldn't be made */
    q->once = true;
    return reef_begin(w, (reef_query){q->index, q->generation, w->hot.number});
}

/* The rare rest of a loop's end. Blocks that were copied ahead for a loop that ended early are dropped; and when the
 * last open loop ends, the recorded commands are done. */
static COLD void end_rest(reef_block *b)
{
    reef_world *w = b->world;
    reef__ahead_drop(w);
    if (!(w->slow & SLOW_DEFERRED)) return;
    if (b->loop.deferred && --w->deferring == 0) w->commands = NULL;
    b->loop.deferred = false;
    if (w->locks == 0) reef__world_flush(w);
}

/* What the end of a loop that looks at rows has to do in addition. A straight loop needs it only if its query goes
 * with it. */
static NOINLINE void walk_end(reef_block *b)
{
    reef_world *w = b->world;
    query *q = b->loop.query;
    if (q->since) reef__invalidate(w, INVALIDATE_LOOKED_AT); /* what is written from now on is new to its next run */
    if (q->ranking) reef__ranking_end(b);
    if (q->cut) reef__frozen_drop(w, (frozen_versions *)(uintptr_t)b->loop.frozen);
    if (q->plan && q->plan->bindings) reef__bound_close(q, b->loop.bound);
    if (q->once) reef__query_drop(q);
}

INLINE void loop_end(reef_block *b)
{
    reef_world *w = b->world;
    query *q = b->loop.query;
    b->loop.open = false;
    b->count = 0;
    b->loop.next_unit = REEF_GO_CALL;
    b->loop.next = NULL;
    if (b->loop.part) return;
    q->open--;
    ASSERT(w->locks > 0);
    if (LIKELY(--w->locks == 0)) reef__invalidate(w, INVALIDATE_CONDITION_CHANGED);
    if (UNLIKELY(b->loop.walks || q->once)) walk_end(b);
    if (UNLIKELY(w->slow & (SLOW_DEFERRED | SLOW_AHEAD))) end_rest(b);
}

void reef_end(reef_block *b)
{
    if (LIKELY(b && b->loop.open)) loop_end(b);
}

/* ---- stepping ---- */

/* The columns of a chunk that a loop is about to write. Those whose old values nobody wants come second. */
typedef struct writing {
    reef_world *w;
    const table *t;
    uint32_t unit, count, first_out;
    uint16_t slot[REEF_TERMS_MAX];
} writing;

static void writing_add(writing *x, uint32_t slot, bool out)
{
    const column *c = &x->t->shape->columns[slot];
    x->slot[x->count++] = (uint16_t)slot;
    if (out && !c->type->hooked && !reef__column_is_ours(x->w, x->unit, slot)) return;
    x->slot[x->count - 1] = x->slot[x->first_out]; /* the columns in between are all of the second kind */
    x->slot[x->first_out++] = (uint16_t)slot;
}

/* Makes all of them this world's own and marks them. False: no memory, and every value is what it was. */
static bool writing_own(const writing *x)
{
    void *fresh[REEF_TERMS_MAX];
    uint32_t i = x->first_out;
    if (!reef__slots_own(x->w, x->t, x->unit, x->slot, i, 0)) return false;
    for (; i < x->count; i++) {
        fresh[i] = reef__column_fresh(x->w, x->t, x->unit, x->slot[i]);
        if (fresh[i]) continue;
        while (i-- > x->first_out) reef__column_drop(x->w, x->t, x->unit, x->slot[i], fresh[i]);
        return false;
    }
    for (i = x->first_out; i < x->count; i++) reef__column_replace(x->w, x->t, x->unit, x->slot[i], fresh[i]);
    return true;
}

/* A loop that breaks off doesn't count as a run: changes that it didn't reach are still new to the next one. (A block
 * of reef_query_row is no loop.) */
COLD bool reef__walk_no_memory(reef_block *b)
{
    const reef_component failed = b->world->hook_failed; /* remembered here, because ending the loop may do commands */
    if (b->loop.query->since && b->loop.end) reef__run_put(b->loop.query, b->loop.since);
    reef_end(b);
    reef__failure(b->world, REEF_NO_MEMORY, "reef_next", failed, (reef_entity){0, 0}, 0);
    return false;
}

static bool writing_end(const writing *x, reef_block *b)
{
    b->world->hook_failed.id = 0;
    if (!writing_own(x)) return reef__walk_no_memory(b);
    b->loop.slots = unit_slots(b->world, x->unit); /* they may have moved */
    if (b->loop.match) block_at(b, b->loop.slots);
    return true;
}

/* Lists the columns that a query writes in every match, of which nobody says that the old values aren't wanted. */
INLINE void columns_list(writing *x, const query *q, const match *m)
{
    x->count = x->first_out = q->head.write_count;
    for (uint32_t i = 0; i < x->count; i++) x->slot[i] = (uint16_t)(reef_column_at(m, i) / sizeof(reef_slot));
}

/* Lists the columns of a chunk that the block's loop writes. `whole`: the loop writes all rows of the chunk, so that
 * nobody wants the old values of columns that it doesn't read. */
static void writing_find(writing *x, const reef_block *b, const table *t, uint32_t unit, bool whole)
{
    const query *q = b->loop.query;
    const match *m = match_now(b);
    x->w = b->world, x->t = t, x->unit = unit;
    x->count = x->first_out = 0;
    if (m && m->id == t->shape->table && !q->optional_writes && !q->out) { /* the match knows all of them */
        columns_list(x, q, m);
        return;
    }
    for (uint32_t i = 0; i < q->term_count; i++) {
        if (!term_has_data(q, i) || q->facts[i].stored || q->terms[i].access == REEF_IN) continue;
        if (q->facts[i].sub && reef__sub_hidden(q, i, t->shape->table)) continue;
        const uint32_t k = reef__slot_seek(b->world, q->terms[i].component.id, t->shape->table);
        if (k) writing_add(x, k, whole && q->terms[i].access == REEF_OUT && !q->facts[i].sub);
    }
}

/* Called when a column that the loop writes is shared with a fork, or lies on a page that is shared. */
bool reef_block_own_(reef_block *b)
{
    if (b->loop.walks) return reef__walk_own(b);
    const uint32_t next = b->loop.next_unit != REEF_GO_TABLE ? b->loop.next_unit : 0;
    const query *q = b->loop.query;
    const match *m = match_now(b);
    reef_world *w = b->world;
    const table *t = table_read(w, m->id);
    const uint32_t unit = next ? unit_slots(w, next)[0].head_more.previous : t->last;
    writing x;
    if (UNLIKELY(q->out)) {
        writing_find(&x, b, t, unit, true);
        return writing_end(&x, b);
    }
    columns_list(&x, q, m);
    w->hook_failed.id = 0;
    if (!reef__slots_own(w, t, unit, x.slot, x.count, w->running ? 0 : next)) return reef__walk_no_memory(b);
    block_at(b, unit_slots(w, unit)); /* the chunk's slots may have moved */
    return true;
}

const reef_slot *reef__match_slots(const reef_block *b, const match *m, uint32_t unit)
{
    const reef_slot *slots = unit_slots(b->world, unit);
    if (!b->loop.query->head.remembers) return slots;
    ((match *)(uintptr_t)m)->column = reef_slot_of(slots, m, 0);
    ((match *)(uintptr_t)m)->unit = unit;
    return slots;
}

uint32_t reef__walk_step(reef_block *b)
{
    const query *q = b->loop.query;
    uint32_t unit = b->loop.walk_unit;
    if (unit == 0) {
        do {
            const match *m = reef_match_after(&q->head, b->loop.match, 1);
            if ((const void *)m == b->loop.end) return 0;
            b->loop.match = m;
            const table *next = m->table;
            unit = table_rows(next) ? next->first : 0; /* a table without rows keeps its first chunk */
        } while (unit == 0);
    }
    if (unit == b->loop.end_unit) return 0;
    const table *t = match_now(b)->table;
    block_at(b, unit_slots(b->world, unit));
    b->loop.walk_unit = b->loop.slots[0].head.next;
    PREFETCH(unit_slots(b->world, b->loop.walk_unit)); /* of the next chunk, one block early */
    b->count = chunk_rows(t, unit);
    b->entities = slot_entities(b->loop.slots);
    b->loop.unit = unit;
    b->loop.first = 0;
    return unit;
}

/* Of the matching rows, drops the first `skip` and those behind the next `keep`. */
static void mask_cut(uint64_t *words, uint64_t skip, uint64_t keep)
{
    for (uint32_t k = 0; k < BIT_WORDS; k++) {
        uint64_t kept = 0;
        for (uint64_t word = words[k]; word; word &= word - 1) {
            if (skip) skip--;
            else if (keep) kept |= word & (0 - word), keep--;
        }
        words[k] = kept;
    }
}

/* Cuts the block to the rows that reef_loop.offset and .limit leave. False: there are none. */
static NOINLINE bool walk_cut(reef_block *b)
{
    uint64_t rows = b->loop.mask ? rows_in(b->loop.mask) : b->count;
    if (b->loop.skip >= rows) {
        b->loop.skip -= rows;
        return false;
    }
    uint64_t keep = rows - b->loop.skip < b->loop.left ? rows - b->loop.skip : b->loop.left;
    if (b->loop.mask) {
        mask_cut(b->loop.mask_words, b->loop.skip, keep);
    } else {
        b->loop.first = (uint32_t)b->loop.skip;
        b->count = (uint32_t)keep;
        b->entities += b->loop.first;
    }
    b->loop.skip = 0;
    if (b->loop.left != UINT64_MAX) b->loop.left -= keep;
    return true;
}

/* Does the loop write values of this term that are tracked? They are a column of the table, or stored values. */
static bool term_is_tracked(const query *q, uint32_t i, uint32_t table_id)
{
    const reef_term *t = &q->terms[i];
    if (!term_has_data(q, i) || t->access == REEF_IN) return false;
    if (q->facts[i].sub && !q->facts[i].stored && reef__sub_hidden(q, i, table_id)) return false;
    return reef__type_of(t->component.id)->tracked &&
           (q->facts[i].stored || reef__slot_seek(q->world, t->component.id, table_id));
}

/* Does row `row` of the block have a value of this term, which is written? */
static bool row_is_written(const reef_block *b, const query *q, uint32_t i, uint32_t row)
{
    if (b->loop.mask && !(b->loop.mask[row / 64] >> (row % 64) & 1)) return false;
    return !q->facts[i].stored || store_has(b->world, q->terms[i].component.id, b->entities[row]);
}

/* Prepares the rows' stamps. */
static bool walk_track_prepare(const reef_block *b, const query *q, uint32_t table_id)
{
    for (uint32_t i = 0; q->tracked && i < q->term_count; i++) {
        const uint32_t c = q->terms[i].component.id;
        if (!term_is_tracked(q, i, table_id)) continue;
        if (!q->facts[i].stored && !reef__track_prepare(b->world, c, b->entities, b->count)) return false;
        for (uint32_t row = 0; q->facts[i].stored && row < b->count; row++)
            if (row_is_written(b, q, i, row) && !reef__track_prepare(b->world, c, &b->entities[row], 1)) return false;
    }
    return true;
}

uint64_t reef__own_version(const reef_block *b, const query *q)
{
    const uint64_t last = q->since && b->loop.end ? reef__query_last_run(q) : 0;
    return b->world->observed == last ? last : 0;
}

/* Stamps the rows that the block hands out as written. */
static void walk_track(const reef_block *b, const query *q, uint32_t table_id, uint64_t version)
{
    for (uint32_t i = 0; q->tracked && i < q->term_count; i++) {
        if (!term_is_tracked(q, i, table_id)) continue;
        for (uint32_t row = 0; row < b->count; row++)
            if (row_is_written(b, q, i, row))
                reef__track_stamp_at(b->world, q->terms[i].component.id, b->entities[row].index,
                                     version ? version : b->world->hot.version);
    }
}

/* All columns of this chunk that the loop writes. */
bool reef__walk_own(reef_block *b)
{
    const query *q = b->loop.query;
    const uint32_t table_id = block_slots(b)[0].head.table;
    const table *t = table_read(b->world, table_id);
    writing x;
    /* a split may still fail at a later chunk: all old values must be there then, so it copies them */
    const bool whole =
        !b->loop.part && b->loop.mask == NULL && b->loop.first == 0 && b->count == chunk_rows(t, b->loop.unit);
    writing_find(&x, b, t, b->loop.unit, whole);
    if (!walk_track_prepare(b, q, table_id)) return reef__walk_no_memory(b);
    const uint64_t version = reef__own_version(b, q);
    bool own[REEF_TERMS_MAX]; /* columns that nobody else wrote since the loop began */
    for (uint32_t i = 0; version && i < x.count; i++) own[i] = b->loop.slots[x.slot[i]].version <= version;
    if (!writing_end(&x, b)) return false;
    for (uint32_t i = 0; version && i < x.count; i++)
        if (own[i]) ((reef_slot *)(uintptr_t)b->loop.slots)[x.slot[i]].version = version;
    b->entities = slot_entities(b->loop.slots) + b->loop.first;
    walk_track(b, q, table_id, version);
    return true;
}

bool reef__block_own(reef_block *b)
{
    const query *q = b->loop.query;
    if ((q->head.write_count || q->optional_writes || q->tracked) && !reef__walk_own(b)) return false;
    return q->cut == NULL || !q->cut->writes || reef__stored_own_rows(b);
}

/* ---- parts whose blocks somebody else marks ---- */

bool reef__part_claim(reef_block *b, uint64_t version)
{
    writing x;
    if (b->loop.query->cut && b->loop.chunk_marked) return true;
    const table *t = table_read(b->world, block_slots(b)[0].head.table);
    writing_find(&x, b, t, b->loop.unit, false);
    b->loop.chunk_marked = true;
    for (uint32_t i = 0; i < x.count; i++)
        if (!reef__column_claim(b->world, t, b->loop.unit, x.slot[i], version)) return false;
    return true;
}

void reef__part_mark(reef_block *b, uint64_t version)
{
    writing x;
    const query *q = b->loop.query;
    reef_slot *slots = (reef_slot *)(uintptr_t)block_slots(b);
    x.count = 0;
    if (!q->cut || !b->loop.chunk_marked)
        writing_find(&x, b, table_read(b->world, slots[0].head.table), b->loop.unit, false);
    for (uint32_t i = 0; i < x.count; i++) slots[x.slot[i]].version = version;
    b->loop.chunk_marked = true;
    if (UNLIKELY(q->cut != NULL)) reef__stored_mark(b, version);
    if (UNLIKELY(q->tracked)) walk_track(b, q, slots[0].head.table, version);
}

COLD bool reef__tracks_prepare(query *q, const match *m)
{
    reef_world *w = q->world;
    for (uint32_t i = 0; i < q->term_count; i++)
        if (!q->facts[i].stored && term_is_tracked(q, i, m->id) &&
            !reef__track_prepare_table(w, q->terms[i].component.id, m->table))
            return false;
    return true;
}

/* ---- which rows match ---- */

/* Takes words with the bits of the block's rows as its mask. False: no row matches. */
INLINE bool mask_take(reef_block *b, const uint64_t *mask)
{
    uint32_t n = 0, k = 0;
    b->loop.mask = mask;
    if (mask[0] != ~0ull && b->count >= 64) { /* this decides in most cases */
        while (k < BIT_WORDS && mask[k] == 0) k++;
        return k < BIT_WORDS;
    }
    for (; k < BIT_WORDS; k++) n += bits_count(mask[k]);
    if (n == b->count) b->loop.mask = NULL;
    return n != 0;
}

/* The rows that match where more than one switch decides, or rows are skipped or counted. */
static NOINLINE bool rows_look(reef_block *b, const query *q)
{
    if (UNLIKELY(q->plan && q->plan->bindings)) return reef__bound_look(b, q);
    const look l = block_look(b);
    if (!reef__look_rows(&l, b->loop.mask_words, 0, BIT_WORDS)) return false;
    if (rows_in(b->loop.mask_words) != b->count) b->loop.mask = b->loop.mask_words;
    return true;
}

/* Which rows of the block match? False: none. */
INLINE bool walk_look(reef_block *b, const query *q)
{
    if (q->only_switch == 0 || walk_is_cut(b)) return rows_look(b, q);
    const bit_store *s = bit_store_of(q->world, q->only_switch); /* its words are the mask */
    const uint64_t *next = bit_words(s, b->loop.walk_unit), *mask = bit_words(s, b->loop.unit);
    if (next) PREFETCH(next), PREFETCH(next + BIT_WORDS / 2);
    return mask && mask_take(b, mask);
}

/* Goes to the next chunk with rows that match and that the loop wants. `words` is a constant: b->mask is set even if
 * all rows match. False: the end. */
INLINE bool walk_rows(reef_block *b, const query *q, bool words)
{
    while (b->loop.left != 0 && reef__walk_step(b)) {
        b->loop.mask = NULL;
        if (match_now(b)->look && !walk_look(b, q)) continue;
        if (words && b->loop.mask == NULL) rows_all(b->loop.mask_words, b->count), b->loop.mask = b->loop.mask_words;
        if (LIKELY(!walk_is_cut(b)) || walk_cut(b)) return true;
    }
    return false;
}

bool reef__walk_chunk(reef_block *b) { return walk_rows(b, b->loop.query, true); }

/* In the checked build: tells, once for each query, of a loop that took the values of the block it leaves, but never
 * asked which of its rows match. Of what systems write, src/system/access_check.c tells. Threads that share a loop tell
 * nothing. */
INLINE void rows_check(reef_block *b)
{
#if defined(REEF_CHECKED)
    query *q = b->loop.query;
    const reef_component taken = {b->loop.rows_asked ? 0 : b->loop.values_asked};
    b->loop.values_asked = 0;
    b->loop.rows_asked = false;
    if (LIKELY(taken.id == 0) || q->told || (b->loop.part && b->world->watch == NULL) ||
        (b->loop.job && q->head.write_count))
        return;
    q->told = true;
    reef_error e = {.status = REEF_UNDECLARED, .operation = "reef_next", .component = taken};
    snprintf(e.detail, sizeof e.detail, "%s",
             "not all rows of the block match: reef_block_run, reef_block_mask or reef_each tell which do");
    if (b->loop.job) reef__failure_record(b->world, &e);
    else reef__failure_report(b->world, &e);
#else
    (void)b;
#endif
}

static NOINLINE bool walk_next(reef_block *b)
{
    const query *q = b->loop.query;
    rows_check(b);
    if (!walk_rows(b, q, false)) return reef_end(b), false;
    b->loop.head = b->loop.first == 0 ? &q->head : &reef__no_keys;
#if defined(REEF_CHECKED)
    if (b->loop.mask) b->loop.head = &reef__no_keys; /* so that rows_check knows which values are asked for */
#endif
    if (b->loop.part) return true;
    return q->optional_writes || q->tracked ? reef__walk_own(b) : reef_block_mark(b, &q->head);
}

/* Ends a straight loop after which nothing is open or unusual. False: it isn't such a loop, and nothing was done. */
INLINE bool loop_end_straight(reef_block *b)
{
    reef_world *w = b->world;
    query *q = b->loop.query;
    if (b->loop.part || q->once || w->locks != 1 || w->slow != 0 || w->hot.records.shared || GUARDED(w)) return false;
    b->loop.open = false;
    b->count = 0;
    b->loop.next = NULL;
    q->open--;
    w->locks = 0;
    w->hot.gate_move = w->gate_destroy = w->hot.version;
    return true;
}

/* Goes to the first block of the next table with rows. False: there is none. */
static bool table_next(reef_block *b, const query *q)
{
    const match *m = match_now(b);
    do {
        m = reef_match_after(&q->head, m, 1);
        if ((const void *)m == q->head.behind) return false;
    } while (m->rows == 0);
    b->loop.match = m;
    b->loop.next = NULL;
    b->loop.next_unit = m->table->first;
    b->loop.next_slots = LIKELY(q->head.remembers) ? match_first(m) : unit_slots(b->world, b->loop.next_unit);
    return true;
}

/* Steps a loop that is sorted or asks for stored values. */
static NOINLINE bool other_next(reef_block *b)
{
    const query *q = b->loop.query;
    if (b->loop.cut != b->loop.cut_end) return reef__run_next(b);
    if (UNLIKELY(q->cut && q->cut->each)) return reef__each_next(b, q->ranking ? reef__ranking_next : reef__cut_next);
    return q->ranking ? reef__ranking_next(b) : reef__cut_next(b);
}

/* Steps to the first block of a table that isn't quick, or to the end. */
static NOINLINE bool block_find(reef_block *b)
{
    const query *q = b->loop.query;
    if (table_next(b, q)) {
        match *m = (match *)(uintptr_t)b->loop.match;
        if (!reef_chunk_next(b)) return false;
        m->quick = match_quick(q, m); /* from now on, what it writes is this world's own */
        return true;
    }
    if (UNLIKELY(!loop_end_straight(b))) reef_end(b);
    return false;
}

/* Steps where reef_next can't by itself. The end behind the last table is handled here; the rest is one call further,
 * so that this function saves no registers (see loop_lock for why that counts). */
bool reef_block_more_(reef_block *b)
{
    if (UNLIKELY(!b->loop.open)) return false;
    if (b->loop.walks) return b->loop.query->ranking || b->loop.query->cut ? other_next(b) : walk_next(b);
    const bool last = reef_match_after(b->loop.head, b->loop.match, 1) == b->loop.head->behind;
    return !(last && loop_end_straight(b)) && block_find(b);
}

bool reef_next_block(reef_block *b)
{
    if (UNLIKELY(b == NULL || !b->loop.open)) return false;
    return reef_next(b);
}
