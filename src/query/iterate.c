/* Loops over a query's blocks.
 *
 * The straight loop is inlined (detail/loop.h): table after table, chunk after chunk, columns that it writes unshared
 * and marked before the block is seen. Every other loop looks, from its inlined half, as if it were at its end, and
 * goes on here: loops that look at rows (switches, disabled components, changes), that write optional columns, that
 * begin late or stop early, that go in another order, and the parts of a split. A block that begins within its chunk
 * has an empty head, so that the accessors come here as well. */
#include "query/iterate.h"
#include "base/memory.h"
#include "base/platform.h"
#include "type/type.h"
#include "storage/archetype.h"
#include "storage/clock.h"
#include "storage/copy_on_write.h"
#include "storage/error.h"
#include "storage/invalidate.h"
#include "storage/layout.h"
#include "storage/observed.h"
#include "storage/place.h"
#include "storage/row_bits.h"
#include "storage/row_stamps.h"
#include "storage/sparse_store.h"
#include "storage/state.h"
#include "storage/table.h"
#include "storage/world_data.h"
#include "change/command.h"
#include "query/block.h"
#include "query/iterate_sparse.h"
#include "query/match_cache.h"
#include "query/query.h"
#include "query/row_filter.h"
#include "query/sorted_query.h"
#include "query/subtype_terms.h"

/* ---- the last run ---- */

static struct query_run *run_find(const query *q)
{
    const state *s = &q->world->state;
    for (uint32_t i = 0; i < s->run_count; i++)
        if (s->runs[i].serial == q->serial) return &s->runs[i];
    return NULL;
}

uint64_t reef__query_last_run(const query *q)
{
    const struct query_run *r = q->since ? run_find(q) : NULL;
    return r ? r->version : 0;
}

static bool run_counts(const reef_world *w, uint64_t serial)
{
    for (uint32_t i = 0; i < w->query_room; i++)
        if (w->queries[i].query && w->queries[i].query->serial == serial) return true;
    return reef__serial_counts(w, serial);
}

/* A fork has the runs of its origin's queries, and a state that is restored those of queries that were there then:
 * nobody asks for them any more. */
static COLD void runs_settle(const reef_world *w, state *s)
{
    for (uint32_t i = s->run_count; i-- > 0;)
        if (!run_counts(w, s->runs[i].serial)) s->runs[i] = s->runs[--s->run_count];
}

/* A place for it. The place of a query that is no more is taken. False: no memory. */
COLD bool reef__run_make(query *q)
{
    state *s = &q->world->state;
    if (run_find(q)) return true;
    if (s->run_count == s->run_room && !BUG(165)) runs_settle(q->world, s);
    if (s->run_count == s->run_room) {
        uint32_t room = s->run_room ? s->run_room * 2 : 4;
        struct query_run *p = reef__memory_resize(&q->world->family->memory, MEMORY_OTHER, s->runs,
                                                  s->run_room * sizeof *p, room * sizeof *p, PLAIN_ALIGN);
        if (p == NULL) return false;
        s->runs = p;
        s->run_room = room;
    }
    s->runs[s->run_count++] = (struct query_run){q->serial, 0};
    return true;
}

void reef__run_put(const query *q, uint64_t version) { run_find(q)->version = version; }

void reef__run_forget(const query *q)
{
    struct query_run *r = q->since ? run_find(q) : NULL;
    state *s = &q->world->state;
    if (r) *r = s->runs[--s->run_count];
}

/* ---- beginning and ending ---- */

static COLD reef_block begin_refuse(reef_world *w, const char *op, reef_status s)
{
    reef_block b;
    memset(&b, 0, sizeof b);
    b.world = w;
    b.head = &reef__no_keys;
    if (w) reef__failure(w, s, op, (reef_component){0}, (reef_entity){0, 0}, 0);
    return b;
}

/* What every loop needs: the world is locked, its straight paths are closed. Nothing is stored that is so already:
 * the rows of small loops mostly wait to be stored themselves, and what a loop stores to begin and end comes on top. */
INLINE void loop_lock(reef_world *w, query *q)
{
    if (UNLIKELY(w->error.status != REEF_OK)) w->error.status = REEF_OK;
    w->hot.version += q->head.write_count != 0; /* what this loop writes can be told from what was written before */
    w->locks++;
    if (UNLIKELY((w->hot.fresh_end | w->hot.empty_end) != 0)) fresh_close(w);
    gates_close(w);
    q->open++;
}

/* A block before the first. What isn't set here is set with the first block, or by reef__walk_open. No function:
 * reef_begin makes its block where the caller wants it only as long as nobody takes the address; else 280 bytes are
 * copied. */
#define BLOCK_BEFORE(b, w_, q_) \
    b.count = 0; \
    b.dt = 0; \
    b.entities = NULL; \
    b.world = w_; \
    b.context = NULL; \
    b.query = q_; \
    b.job = NULL; \
    b.head = &q_->head; \
    b.next_unit = REEF_GO_TABLE; \
    b.mask = NULL; \
    b.part = b.walks = b.deferred = false; \
    b.match = q_->head.before; \
    b.next = q_->head.first; \
    b.open = true

/* One switch, which must be on, decides which rows match, and the loop asks for nothing but columns of every match. */
static bool switch_is_alone(const query *q)
{
    const bool more = q->since || q->tracked || q->optional_writes || q->ranking || q->cut;
    return q->switch_count == 1 && !(q->switches[0] & 1) && q->head.column_count && !more;
}

/* The loop looks at rows: for the inlined half it is at its end. */
void reef__walk_open(reef_block *b, const query *q)
{
    b->walks = true;
    b->next_unit = REEF_GO_CALL;
    b->next = NULL;
    b->end = q->head.behind;
    b->walk_unit = b->end_unit = b->first = b->unit = 0;
    b->skip = 0;
    b->left = UINT64_MAX;
    b->since = 0;
    b->next_slots = NULL;
    b->lone = switch_is_alone(q) ? bit_store_of(q->world, q->switches[0] >> 1) : NULL;
    b->frozen = NULL;
    b->words = NULL;
    b->rest = 0;
    b->more = 0;
    b->number = b->numbers_left = 0;
    b->cut = b->cut_end = NULL;
    b->bits = NULL;
    b->gathers = false;
}

/* A query that asks what changed: since its last run, which this is. What the loop writes itself isn't new to the
 * next one. */
static COLD bool since_begin(reef_block *b, query *q, uint64_t since)
{
    reef_world *w = q->world;
    if (!reef__run_make(q)) return false;
    if (q->cut && q->cut->freezes) {
        frozen_versions *f = reef__frozen_make(q, NULL);
        if (f == NULL) return false;
        reef__frozen_fill(q, f);
        b->frozen = f;
    }
    b->since = since ? since : reef__query_last_run(q);
    version_look(w);
    run_find(q)->version = w->observed = w->hot.version;
    return true;
}

/* Rows are skipped or counted. */
INLINE bool walk_is_cut(const reef_block *b) { return b->skip != 0 || b->left != UINT64_MAX; }

static COLD void walk_begin(reef_block *b, query *q, const reef_loop *loop)
{
    reef__walk_open(b, q);
    if (q->optional_writes || (q->cut && (q->cut->writes || join_is_young(q)))) version_look(q->world);
    if ((q->ranking && !reef__ranking_begin(b, q)) || (q->since && !since_begin(b, q, loop ? loop->since : 0))) {
        reef_world *w = q->world;
        reef_end(b);
        reef__failure(w, REEF_NO_MEMORY, "reef_begin", (reef_component){0}, (reef_entity){0, 0}, 0);
        return;
    }
    if (loop) b->skip = loop->offset;
    if (loop && loop->limit) b->left = loop->limit;
    if (walk_is_cut(b)) b->lone = NULL;
    if (q->ranking) {
        b->head = &reef__no_keys; /* its blocks begin anywhere in a chunk */
        reef__ranking_open(b, loop);
    } else if (!reef__fixed_hold(q, b->since)) {
        b->left = 0;
        b->lone = NULL;
    }
}

/* A loop that isn't straight, or none at all. */
static NOINLINE reef_block begin_walk(reef_world *w, query *q, reef_status s)
{
    reef_block b;
    if (q == NULL || !query_update(q)) return begin_refuse(w, "reef_begin", s);
    loop_lock(w, q);
    BLOCK_BEFORE(b, w, q);
    walk_begin(&b, q, NULL);
    return b;
}

/* Rows came or went since the query's last loop, or it has no straight ones. */
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
    query *q = w ? query_of(w, which, &s) : NULL;
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
    query *q = w ? query_of(w, which, &s) : NULL;
    if (q &&
        (loop == NULL || (loop->since && !q->since) || loop->since > w->hot.version || (loop->grouped && !q->ranking)))
        return begin_refuse(w, op, REEF_BAD_ARGUMENT);
    if (q == NULL || !query_update(q)) return begin_refuse(w, op, s);
    loop_lock(w, q);
    BLOCK_BEFORE(b, w, q);
    if (loop->deferred) {
        b.deferred = true;
        w->deferring++;
        w->commands = &w->deferred;
        w->slow |= SLOW_DEFERRED;
    }
    walk_begin(&b, q, loop);
    return b;
}

COLD reef_block reef_begin_text(reef_world *w, const char *text)
{
    query *q = w ? reef__query_make_text(w, "reef_begin_text", text) : NULL;
    if (q == NULL) { /* why was recorded when it wasn't made */
        reef_block b;
        memset(&b, 0, sizeof b);
        b.world = w;
        b.head = &reef__no_keys;
        return b;
    }
    q->once = true;
    return reef_begin(w, (reef_query){q->index, q->generation, w->hot.number});
}

/* A loop ended while some loop records, or while commands are left: they are done when no loop is open. Or before it
 * wrote what was copied for it. */
static COLD void end_rest(reef_block *b)
{
    reef_world *w = b->world;
    if (!BUG(131)) reef__ahead_drop(w);
    if (!(w->slow & SLOW_DEFERRED)) return;
    if (b->deferred && --w->deferring == 0) w->commands = NULL;
    b->deferred = false;
    if (w->locks == 0) reef__world_flush(w);
}

/* What the end of a straight loop has not to do, unless its query goes with it. */
static NOINLINE void walk_end(reef_block *b)
{
    reef_world *w = b->world;
    query *q = b->query;
    if (q->since) version_look(w); /* what is written from now on is new to its next run */
    if (q->ranking) reef__ranking_end(b);
    if (q->cut) reef__frozen_drop(w, (frozen_versions *)(uintptr_t)b->frozen);
    if (q->once) reef__query_drop(q);
}

INLINE void loop_end(reef_block *b)
{
    reef_world *w = b->world;
    query *q = b->query;
    b->open = false;
    b->count = 0;
    b->next_unit = REEF_GO_CALL;
    b->next = NULL;
    if (b->part) return;
    q->open--;
    ASSERT(w->locks > 0);
    if (LIKELY(--w->locks == 0)) gates_set(w);
    if (UNLIKELY(b->walks || q->once)) walk_end(b);
    if (UNLIKELY(w->slow & (SLOW_DEFERRED | SLOW_AHEAD))) end_rest(b);
}

void reef_end(reef_block *b)
{
    if (LIKELY(b && b->open)) loop_end(b);
}

/* ---- stepping ---- */

/* Columns of a chunk that a loop is about to write; those of which no old value is wanted come second. */
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
    x->slot[x->count - 1] = x->slot[x->first_out]; /* those in between are all out */
    x->slot[x->first_out++] = (uint16_t)slot;
}

/* All of them ours and marked. False: no memory, and every value is what it was. */
static bool writing_own(const writing *x)
{
    void *fresh[REEF_TERMS_MAX];
    uint32_t i = x->first_out;
    if (!reef__slots_own(x->w, x->t, x->unit, x->slot, i, 0)) return false;
    /* of a loop around this one: blocks that changed hands early are taken back */
    if (i < x->count && x->w->ahead_chunks) reef__ahead_drop(x->w);
    for (; i < x->count; i++) {
        fresh[i] = reef__column_fresh(x->w, x->t, x->unit, x->slot[i]);
        if (fresh[i]) continue;
        while (i-- > x->first_out) reef__column_drop(x->w, x->t, x->unit, x->slot[i], fresh[i]);
        return false;
    }
    for (i = x->first_out; i < x->count; i++) reef__column_replace(x->w, x->t, x->unit, x->slot[i], fresh[i]);
    return true;
}

/* A loop that breaks off was no run: changes that it didn't come to are still new. (A block of reef_query_row is no
 * loop.) */
COLD bool reef__walk_no_memory(reef_block *b)
{
    const reef_component failed = b->world->hook_failed; /* the end may do commands */
    if (b->query->since && b->end) run_find(b->query)->version = b->since;
    reef_end(b);
    reef__failure(b->world, REEF_NO_MEMORY, "reef_next", failed, (reef_entity){0, 0}, 0);
    return false;
}

static bool writing_end(const writing *x, reef_block *b)
{
    b->world->hook_failed.id = 0;
    if (writing_own(x)) {
        b->slots = unit_slots(b->world, x->unit);
        if (b->match) block_at(b, b->slots);
        return true;
    }
    return reef__walk_no_memory(b);
}

/* Which of the chunk's slots is a column's. */
INLINE uint32_t column_number(const match *m, uint32_t i) { return reef_column_at(m, i) / (uint32_t)sizeof(reef_slot); }

static NOINLINE bool block_own_out(reef_block *b, const table *t, uint32_t unit)
{
    const query *q = b->query;
    writing x;
    x.w = b->world;
    x.t = t;
    x.unit = unit;
    x.count = x.first_out = 0;
    for (uint32_t i = 0; i < q->head.write_count; i++) writing_add(&x, column_number(match_now(b), i), q->out >> i & 1);
    return writing_end(&x, b);
}

/* Some column that the loop writes is shared with a fork, or on a page that is. */
bool reef_block_own(reef_block *b)
{
    if (b->walks) return reef__walk_own(b);
    const query *q = b->query;
    const uint32_t count = q->head.write_count;
    const uint32_t next = b->next_unit != REEF_GO_TABLE ? b->next_unit : 0;
    const match *m = match_now(b);
    reef_world *w = b->world;
    const table *t = table_read(w, m->id);
    const uint32_t unit = next ? unit_slots(w, next)[0].head_more.previous : t->last;
    if (UNLIKELY(q->out)) return block_own_out(b, t, unit);
    uint16_t slot[REEF_TERMS_MAX];
    for (uint32_t i = 0; i < count; i++) slot[i] = (uint16_t)column_number(m, i);
    w->hook_failed.id = 0;
    if (!reef__slots_own(w, t, unit, slot, count, w->running ? 0 : next)) return reef__walk_no_memory(b);
    block_at(b, unit_slots(w, unit)); /* it may be another one now */
    return true;
}

const reef_slot *reef__match_slots(const reef_block *b, const match *m, uint32_t unit)
{
    const reef_slot *slots = unit_slots(b->world, unit);
    if (!b->query->head.remembers) return slots;
    ((match *)(uintptr_t)m)->column = reef_slot_of(slots, m, 0);
    ((match *)(uintptr_t)m)->unit = unit;
    return slots;
}

/* The next chunk of a loop that looks at rows: its unit, 0 at the end. */
uint32_t reef__walk_step(reef_block *b)
{
    const query *q = b->query;
    uint32_t unit = b->walk_unit;
    if (unit == 0) {
        do {
            const match *m = reef_match_after(&q->head, b->match, 1);
            if ((const void *)m == b->end) return 0;
            b->match = m;
            const table *next = m->table;
            unit = table_rows(next) ? next->first : 0; /* a table without rows keeps its first chunk */
        } while (unit == 0);
    }
    if (unit == b->end_unit) return 0;
    const table *t = match_now(b)->table;
    block_at(b, unit_slots(b->world, unit));
    b->walk_unit = b->slots[0].head.next;
    PREFETCH(unit_slots(b->world, b->walk_unit)); /* the next chunk's, a block early */
    b->count = chunk_rows(t, unit);
    b->entities = slot_entities(b->slots);
    b->unit = unit;
    b->first = 0;
    return unit;
}

static uint32_t rows_in(const uint64_t *words)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < BIT_WORDS; k++) n += bits_count(words[k]);
    return n;
}

/* Of the matching rows, the first `skip` go, and those behind the next `keep`. */
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

/* The block's first and last matching rows, as far as they are wanted. False: none. */
static NOINLINE bool walk_cut(reef_block *b)
{
    uint64_t rows = b->mask ? rows_in(b->mask) : b->count;
    if (b->skip >= rows) {
        b->skip -= rows;
        return false;
    }
    uint64_t keep = rows - b->skip < b->left ? rows - b->skip : b->left;
    if (b->mask) {
        mask_cut(b->mask_words, b->skip, keep);
    } else {
        b->first = (uint32_t)b->skip;
        b->count = (uint32_t)keep;
        b->entities += b->first;
    }
    b->skip = 0;
    if (b->left != UINT64_MAX) b->left -= keep;
    return true;
}

/* What the term gives is written and tracked: a column that the table has, or a stored value. */
static bool term_is_tracked(const query *q, uint32_t i, uint32_t table_id)
{
    const reef_term *t = &q->terms[i];
    if (t->op >= REEF_ANY_OF || q->facts[i].filter || q->facts[i].fixed || t->access == REEF_IN) return false;
    if (q->facts[i].sub && !q->facts[i].stored && reef__sub_hidden(q, i, table_id)) return false;
    return reef__type_of(t->component.id)->tracked &&
           (q->facts[i].stored || reef__slot_seek(q->world, t->component.id, table_id));
}

/* Row `row` of the block has a value of the term that is written. */
static bool row_is_written(const reef_block *b, const query *q, uint32_t i, uint32_t row)
{
    if (b->mask && !(b->mask[row / 64] >> (row % 64) & 1)) return false;
    return !q->facts[i].stored || store_has(b->world, q->terms[i].component.id, b->entities[row]);
}

/* What the rows' stamps need. */
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

/* What a loop writes isn't new to its own next run: the version of this one, if nobody else looked since it began;
 * otherwise 0. (A block of reef_query_row is no loop.) */
uint64_t reef__own_version(const reef_block *b, const query *q)
{
    const uint64_t last = q->since && b->end ? reef__query_last_run(q) : 0;
    return b->world->observed == last ? last : 0;
}

/* The rows that the block hands out were written. */
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

/* All columns that the loop writes and that are in this chunk. */
bool reef__walk_own(reef_block *b)
{
    const query *q = b->query;
    const uint32_t table_id = block_slots(b)[0].head.table;
    writing x;
    x.w = b->world;
    x.t = table_read(b->world, table_id);
    x.unit = b->unit;
    x.count = x.first_out = 0;
    /* A split may still fail at a later chunk: then all values must be there, so it copies them. */
    const bool whole = !b->part && b->mask == NULL && b->first == 0 && b->count == chunk_rows(x.t, b->unit);
    for (uint32_t i = 0; i < q->term_count; i++) {
        const reef_term *t = &q->terms[i];
        if (t->op >= REEF_ANY_OF || q->facts[i].filter || q->facts[i].fixed || q->facts[i].stored ||
            t->access == REEF_IN)
            continue;
        if (q->facts[i].sub && reef__sub_hidden(q, i, table_id)) continue;
        const uint32_t k = reef__slot_seek(b->world, t->component.id, table_id);
        if (k) writing_add(&x, k, t->access == REEF_OUT && !q->facts[i].sub && (whole || BUG(31)));
    }
    if (!walk_track_prepare(b, q, table_id)) return reef__walk_no_memory(b);
    const uint64_t version = reef__own_version(b, q);
    bool own[REEF_TERMS_MAX]; /* columns that nobody else wrote since the loop began */
    for (uint32_t i = 0; version && i < x.count; i++) own[i] = b->slots[x.slot[i]].version <= version;
    if (!writing_end(&x, b)) return false;
    for (uint32_t i = 0; version && i < x.count; i++) /* tracked columns make new versions as they are marked */
        if (own[i]) ((reef_slot *)(uintptr_t)b->slots)[x.slot[i]].version = version;
    b->entities = slot_entities(b->slots) + b->first;
    walk_track(b, q, table_id, version);
    return true;
}

/* ---- parts whose marks are others' business ---- */

/* The slots of the columns that a part's block writes; how many. */
static uint32_t part_columns(const reef_block *b, uint16_t *slot)
{
    const query *q = b->query;
    uint32_t n = 0;
    if (!q->optional_writes && !q->cut) {
        for (; n < q->head.write_count; n++) slot[n] = (uint16_t)column_number(match_now(b), n);
        return n;
    }
    for (uint32_t i = 0; i < q->term_count; i++) {
        const reef_term *t = &q->terms[i];
        if (t->op >= REEF_ANY_OF || q->facts[i].filter || q->facts[i].fixed || q->facts[i].stored ||
            t->access == REEF_IN)
            continue;
        if (q->facts[i].sub && reef__sub_hidden(q, i, block_slots(b)[0].head.table)) continue;
        const uint32_t k = reef__slot_seek(b->world, t->component.id, block_slots(b)[0].head.table);
        if (k) slot[n++] = (uint16_t)k;
    }
    return n;
}

bool reef__part_claim(reef_block *b, uint64_t version)
{
    uint16_t slot[REEF_TERMS_MAX];
    if (b->query->cut && b->chunk_marked) return true;
    const uint32_t n = part_columns(b, slot);
    const table *t = table_read(b->world, block_slots(b)[0].head.table);
    b->chunk_marked = true;
    for (uint32_t i = 0; i < n; i++)
        if (!reef__column_claim(b->world, t, b->unit, slot[i], version)) return false;
    return true;
}

void reef__part_mark(reef_block *b, uint64_t version)
{
    uint16_t slot[REEF_TERMS_MAX];
    const query *q = b->query;
    reef_slot *slots = (reef_slot *)(uintptr_t)block_slots(b);
    const uint32_t n = q->cut && b->chunk_marked ? 0 : part_columns(b, slot);
    for (uint32_t i = 0; i < n; i++) slots[slot[i]].version = version;
    b->chunk_marked = true;
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

/* ---- looks at rows ---- */

/* A few switches decide: their words are folded as they are, and those of a single one are the mask.
 * (iter_frag_1k_bit took 1.5 times as long by way of reef__look_rows.) False: no row matches. */
INLINE bool switches_look(reef_block *b, const query *q)
{
    const uint64_t *mask = NULL;
    uint32_t i = 0;
    if (LIKELY(q->switch_count == 1 && !(q->switches[0] & 1) && !walk_is_cut(b))) {
        const bit_store *s = bit_store_of(q->world, q->switches[0] >> 1);
        const uint64_t *next = bit_words(s, b->walk_unit);
        if (next) {
            PREFETCH(next);
            PREFETCH(next + BIT_WORDS / 2);
        }
        mask = bit_words(s, b->unit);
        if (mask == NULL) return false;
        i = 1;
    }
    for (; UNLIKELY(i < q->switch_count); i++) {
        const uint64_t *on = bit_words(bit_store_of(b->world, q->switches[i] >> 1), b->unit);
        const bool off = q->switches[i] & 1;
        if (on == NULL && off) continue;
        if (on == NULL) return false;
        if (mask == NULL && !off && !walk_is_cut(b)) {
            mask = on;
            continue;
        }
        if (mask == NULL) rows_all(b->mask_words, b->count), mask = b->mask_words;
        for (uint32_t k = 0; k < BIT_WORDS; k++) b->mask_words[k] = mask[k] & (off ? ~on[k] : on[k]);
        mask = b->mask_words;
    }
    if (mask == NULL) return true;
    uint32_t n = 0, k = 0;
    if (mask[0] != ~0ull && b->count >= 64) { /* mostly decided here */
        while (k < BIT_WORDS && mask[k] == 0) k++;
        b->mask = mask;
        return k < BIT_WORDS;
    }
    for (; k < BIT_WORDS; k++) n += bits_count(mask[k]);
    b->mask = n == b->count ? NULL : mask;
    return n != 0;
}

/* Which rows of the block match? False: none. */
static bool walk_look(reef_block *b, const query *q)
{
    if (LIKELY(q->switch_count != UINT32_MAX)) return switches_look(b, q);
    const look l = {q, b->slots[0].head.table, b->unit, b->count, b->since, b->entities, b->frozen, NULL};
    if (!reef__look_rows(&l, b->mask_words, 0, BIT_WORDS)) return false;
    if (rows_in(b->mask_words) != b->count) b->mask = b->mask_words;
    return true;
}

bool reef__walk_chunk(reef_block *b)
{
    const query *q = b->query;
    while (b->left != 0 && reef__walk_step(b)) {
        b->mask = NULL;
        if (match_now(b)->look && !walk_look(b, q)) continue;
        if (b->mask == NULL) rows_all(b->mask_words, b->count), b->mask = b->mask_words;
        if (LIKELY(!walk_is_cut(b)) || walk_cut(b)) return true;
    }
    return false;
}

static NOINLINE bool walk_next(reef_block *b)
{
    const query *q = b->query;
    while (b->left != 0 && reef__walk_step(b)) {
        b->mask = NULL;
        if (match_now(b)->look && !walk_look(b, q)) continue;
        if (UNLIKELY(walk_is_cut(b)) && !walk_cut(b)) continue;
        b->head = b->first == 0 ? &q->head : &reef__no_keys;
        if (b->part) return true;
        return q->optional_writes || q->tracked ? reef__walk_own(b) : reef_block_mark(b, &q->head);
    }
    reef_end(b);
    return false;
}

/* Ends a straight loop after which nothing is open or unusual. False: it isn't such a one. */
INLINE bool loop_end_straight(reef_block *b)
{
    reef_world *w = b->world;
    query *q = b->query;
    if (b->part || q->once || w->locks != 1 || w->slow != 0 || w->hot.records.shared || GUARDED(w)) return false;
    b->open = false;
    b->count = 0;
    b->next = NULL;
    q->open--;
    w->locks = 0;
    w->hot.gate_move = w->gate_destroy = w->hot.version;
    return true;
}

/* The first block of the next table with rows. False: there is none. */
static bool table_next(reef_block *b, const query *q)
{
    const match *m = match_now(b);
    do {
        m = reef_match_after(&q->head, m, 1);
        if ((const void *)m == q->head.behind) return false;
    } while (m->rows == 0);
    b->match = m;
    b->next = NULL;
    b->next_unit = m->table->first;
    b->next_slots = LIKELY(q->head.remembers) ? match_first(m) : unit_slots(b->world, b->next_unit);
    return true;
}

/* A column of the next chunk, where it doesn't lie behind that of this one: what the processor fetches ahead by
 * itself ends there. (iter_bit: 1.10 -> 1.03 times raw where somebody else knows the blocks.) */
INLINE void column_ahead(const reef_block *b, const query *q, const reef_slot *next, uint32_t i)
{
    const char *now = reef_block_slot(b, i)->block, *then = reef_slot_of(next, match_now(b), i)->block;
    if (LIKELY(then == now + q->block_bytes[i]) || q->block_bytes[i] < 2048) return;
    for (uint32_t at = 0; at < 2048; at += 256) {
        PREFETCH(then + at);
        PREFETCH(then + at + 64);
        PREFETCH(then + at + 128);
        PREFETCH(then + at + 192);
    }
}

INLINE void columns_ahead(const reef_block *b, const query *q, const reef_slot *next)
{
    column_ahead(b, q, next, 0);
    column_ahead(b, q, next, 1);
    for (uint32_t i = 2; UNLIKELY(i < q->head.column_count); i++) column_ahead(b, q, next, i);
}

/* The chunk isn't one for lone_next: a table's first one never is, and the second mostly lies elsewhere. */
static NOINLINE bool lone_leave(reef_block *b)
{
    b->next_slots = NULL;
    if (!walk_next(b)) return false;
    if (b->walk_unit != 0 && b->walk_unit != b->end_unit)
        columns_ahead(b, b->query, unit_slots(b->world, b->walk_unit));
    return true;
}

/* One switch decides, and nothing else is asked: its words are the mask as they are. The next chunk in the middle of
 * a table, or of a part (another thread may be making the columns behind it its own), of which the first word says
 * that some rows match and some don't; all others go by walk_next. That the chunk behind it is there and no other
 * part's, and where its slots are, is left in next_slots for the step to it. Few instructions: none is hidden behind
 * what the caller does (iter_frag_1k_bit: 244 -> 153 for a block; from 172 to 153 it went from 8.4 to 7.4 ns). */
static NOINLINE bool lone_next(reef_block *b)
{
    const query *q = b->query;
    const reef_paged *words = &((const bit_store *)b->lone)->words;
    const uint32_t unit = b->walk_unit;
    const reef_slot *slots = b->next_slots;
    if (UNLIKELY(slots == NULL || !q->head.remembers)) {
        if (unit == b->end_unit || unit >= words->count) return lone_leave(b);
        slots = unit_slots(b->world, unit);
    }
    const uint64_t *mask = words->page[unit];
    const uint32_t next = slots[0].head.next;
    if (UNLIKELY(next == b->end_unit || next == 0 || next >= words->count)) return lone_leave(b);
    if (UNLIKELY(mask == NULL || mask[0] == 0 || mask[0] == ~0ull)) return lone_leave(b);
    const uintptr_t then = (uintptr_t)words->page[next]; /* or NULL */
    PREFETCH((const void *)then);
    PREFETCH((const void *)(then + 64));
    block_at(b, slots);
    b->walk_unit = next;
    b->unit = unit;
    b->count = REEF_BLOCK_ROWS;
    b->entities = slot_entities(slots);
    b->mask = mask;
    const reef_slot *ahead = unit_slots(b->world, next);
    b->next_slots = ahead;
    PREFETCH((const void *)(2 * (uintptr_t)ahead - (uintptr_t)slots)); /* chunks mostly lie in their order */
    columns_ahead(b, q, ahead);
    return b->part || reef_block_mark(b, &q->head);
}

/* The first block of a table that isn't quick, the next of a loop that looks at rows, or the end. */
static NOINLINE bool block_find(reef_block *b)
{
    const query *q = b->query;
    if (UNLIKELY(b->walks)) {
        if (b->cut != b->cut_end) return reef__run_next(b);
        if (UNLIKELY(q->cut && q->cut->each))
            return reef__each_next(b, q->ranking ? reef__ranking_next : reef__cut_next);
        return q->ranking ? reef__ranking_next(b) : q->cut ? reef__cut_next(b) : walk_next(b);
    }
    if (table_next(b, q)) {
        match *m = (match *)(uintptr_t)b->match;
        if (!reef_chunk_next(b)) return false;
        m->quick = match_quick(q, m); /* what it writes is ours from now on */
        return true;
    }
    if (UNLIKELY(!loop_end_straight(b))) reef_end(b);
    return false;
}

/* What reef_next doesn't do by itself. The end behind the last table is here, and the rest is a call further, so
 * that it saves no registers: see loop_lock. */
bool reef_block_more(reef_block *b)
{
    if (UNLIKELY(!b->open)) return false;
    if (b->walks) return b->lone ? lone_next(b) : block_find(b);
    const bool last = reef_match_after(b->head, b->match, 1) == b->head->behind;
    return !(last && loop_end_straight(b)) && block_find(b);
}

bool reef_next_block(reef_block *b)
{
    if (UNLIKELY(b == NULL || !b->open)) return false;
    return reef_next(b);
}
