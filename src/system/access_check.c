/* The checked build's watch over systems. Each system runs alone, on the thread that ticks, and is held against its
 * declaration:
 *
 * values    Before it runs, all columns are copied, with entity handles, switches, marks, and the rows behind the last
 *           one for which a chunk has room. Afterwards each byte that differs must lie in a row that the system was
 *           handed for writing, or in a component that it declares to write in others' rows.
 * calls     reef_get and its like require `reads`, `writes` or a term with a fixed source; reef_mut and reef_set
 *           require `writes`.
 * order     A system runs a second time if it touches only its own rows and nothing that the world doesn't know (a
 *           context, commands, events). Its columns get the values from before, and it is handed one row after the
 *           other, the last one first. Both results must be the same. No fork is needed for this, since the copy is
 *           there already; and a fork made now would share the blocks that the world alone must hold. Values with
 *           hooks can't be put back as bytes, so systems that write such values aren't run twice.
 * threads   Every thread but the one that ticks is refused and reported.
 *
 * The watch doesn't change the world's state. Findings are reported by reef__failure_record: each becomes the last
 * error of the tick, and the misuse hook gets it at once. */
#include "system/access_check.h"
#include "type/type_walk.h"
#include "type/value.h"
#include "storage/archetype.h"
#include "storage/command_buffer.h"
#include "storage/entity_index.h"
#include "storage/error.h"
#include "storage/multi_store.h"
#include "storage/place.h"
#include "storage/quarantine.h"
#include "storage/row_bits.h"
#include "storage/sparse_store.h"
#include "storage/state_kind.h"
#include "query/block.h"
#include "query/query.h"
#include "system/job.h"
#include "system/other_rows.h"
#include "system/phase.h"
#include "system/schedule.h"
#include "system/system.h"
#include "reef/system.h"
#include "reef/schedule.h"
#include <stdio.h>

COLD void reef_watch_systems(reef_world *w, bool on)
{
#if defined(REEF_CHECKED)
    if (!WORLD_GIVEN(w)) return;
    if (w->running) reef__refuse(w, REEF_LOCKED, "reef_watch_systems");
    else w->unwatched = !on;
#else
    (void)w, (void)on;
#endif
}

COLD void reef_watch_reads(reef_world *w, reef_read_refusal refusal, void *context)
{
#if defined(REEF_CHECKED)
    if (!WORLD_GIVEN(w)) return;
    if (w->running) {
        reef__refuse(w, REEF_LOCKED, "reef_watch_reads");
        return;
    }
    w->read_refusal = refusal;
    w->read_context = context;
#else
    (void)w, (void)refusal, (void)context;
#endif
}

#if defined(REEF_CHECKED)

/* A copy of one chunk. Its values are the handles and then the columns by slot, each for as many rows as the chunk has
 * room for; then the words of each store of bits that has words for this chunk. */
typedef struct old_chunk {
    const table *table;
    uint32_t unit, table_id, rows, capacity;
    size_t at;   /* where its values begin */
    bool handed; /* some of its rows were handed to the system: */
    bool masked; /* true: only the rows in `mask`; false: all rows */
    uint64_t mask[BIT_WORDS];
} old_chunk;

/* ---- what is declared ---- */

/* Does the query give the component for writing in the rows that the system is handed? */
static bool writes_handed(const query *q, uint32_t component)
{
    for (uint32_t i = 0; q && i < q->term_count; i++) {
        if (term_has_data(q, i) && q->terms[i].component.id == component && q->terms[i].access != REEF_IN) return true;
    }
    return false;
}

COLD const char *reef__watch_once(const struct system *s, uint32_t *component)
{
    bool writes = false;
    *component = 0;
    if (!s->split) return "it isn't split";
    if (s->context) return "it has a context";
    if (s->commands) return "it has commands";
    if (reef__touch_find(s, REEF_SENDS, NULL)) return "it sends events";
    if (reef__touch_find(s, REEF_RECEIVES, NULL)) return "it receives events";
    if (reef__touch_find(s, REEF_SUMS, NULL)) return "it sums";
    for (uint32_t i = 0; i < s->access_count; i++) {
        const type *t = reef__type_of(s->access[i].component);
        if (!(s->access[i].use & ACCESS_WRITE)) continue;
        writes = true;
        if (!t->hooks.copy && !t->hooks.move && !t->hooks.destroy) continue;
        if (*component == 0 || reef__type_compare(t, reef__type_of(*component)) < 0) *component = t->id;
    }
    if (*component) return "it writes a type with hooks";
    return writes ? NULL : "it writes nothing";
}

/* ---- reports ---- */

static bool reported(const watch *x, uint32_t component)
{
    for (uint32_t i = 0; i < x->reported_count; i++)
        if (x->reported[i] == component) return true;
    return x->reported_count == WATCH_REPORTS;
}

static COLD void report_once(reef_world *w, const char *op, reef_component c, reef_entity e, const char *detail)
{
    watch *x = w->watch;
    if (reported(x, c.id)) return;
    x->reported[x->reported_count++] = c.id;
    reef_error error = {.status = REEF_UNDECLARED, .operation = op, .component = c, .entity = e};
    if (detail) snprintf(error.detail, sizeof error.detail, "%s", detail);
    reef__failure_record(w, &error);
}

COLD void reef__watch_failure(reef_world *w, reef_error *e)
{
    watch *x = w->watch;
    if (!reef__watch_thread(w)) {
        e->number = 0;
        snprintf(e->detail, sizeof e->detail, "another thread uses the world while it ticks%s%.63s",
                 x->system ? ", in system " : "", x->system ? x->system->name : "");
        return;
    }
    x->mistakes++;
    if (x->system) memcpy(e->system, x->system->name, sizeof e->system);
}

bool reef__watch_thread(const reef_world *w) { return w->watch == NULL || thread_is(w->watch->thread); }

/* ---- calls ---- */

COLD void reef__watch_read(const reef_world *w, const char *op, reef_entity e, reef_component c)
{
    const watch *x = w->watch;
    if (x == NULL || x->system == NULL || reef__type_of(c.id) == NULL || !reef__watch_thread(w)) return;
    const bool declared = reef__touches_others(x->system, c.id, false);
    const char *why = declared && w->read_refusal ? w->read_refusal(w, e, c, w->read_context) : NULL;
    if (!declared || why) report_once((reef_world *)(uintptr_t)w, op, c, e, why);
}

bool reef__watch_may_write(const reef_world *w, uint32_t component)
{
    const watch *x = w->watch;
    return x == NULL || x->system == NULL || reef__touches_others(x->system, component, true);
}

COLD bool reef__watch_write(reef_world *w, const char *op, reef_entity e, reef_component c)
{
    if (!reef__watch_thread(w)) return reef__failure(w, REEF_LOCKED, op, c, e, 0), false;
    if (reef__watch_may_write(w, c.id)) return true;
    report_once(w, op, c, e, NULL);
    return false;
}

/* ---- phases ---- */

void reef__watch_open(reef_world *w)
{
    watch *x = &w->ticking->watch;
    if (w->unwatched) return;
    memset(x, 0, sizeof *x);
    x->thread = thread_own_name();
    w->watch = x;
    w->hot.held = 1;
}

void reef__watch_close(reef_world *w)
{
    w->watch = NULL;
    w->hot.held = 0;
}

/* ---- the copy ---- */

static size_t whole_units(size_t bytes) { return (bytes + PLAIN_ALIGN - 1) / PLAIN_ALIGN * PLAIN_ALIGN; }

/* Copies a chunk to `to` and returns the number of bytes; with NULL it only counts. All chunks are in memory at the
 * same time, so the sum of their bytes can't overflow. */
static size_t chunk_copy(const reef_world *w, const shape *s, uint32_t unit, char *to)
{
    const reef_slot *slots = unit_slots(w, unit);
    const size_t capacity = slots[0].head_more.capacity;
    size_t n = 0;
    for (uint32_t k = SLOT_ENTITIES; k < s->end_slot; k++) {
        const size_t bytes = capacity * (k == SLOT_ENTITIES ? sizeof(reef_entity) : s->columns[k].size);
        if (to) memcpy(to + n, slots[k].block, bytes);
        n += bytes;
    }
    n = whole_units(n);
    for (uint32_t i = 0; i < w->state.bit_count; i++) {
        const uint64_t *words = bit_words(&w->state.bits[i], unit);
        if (words && to) memcpy(to + n, words, BIT_WORDS * sizeof *words);
        if (words) n += BIT_WORDS * sizeof *words;
    }
    return n;
}

static void old_chunk_make(reef_world *w, watch *x, const table *t, uint32_t id, uint32_t unit, size_t *at)
{
    old_chunk *d = &x->old_chunks[x->old_chunk_count];
    memset(d, 0, sizeof *d);
    d->table = t;
    d->unit = unit;
    d->table_id = id;
    d->rows = chunk_rows(t, unit);
    d->capacity = unit_slots(w, unit)[0].head_more.capacity;
    d->at = *at;
    reef__quarantine_open(w, t, unit);
    *at += chunk_copy(w, t->shape, unit, x->values + *at);
    x->by_unit[unit] = x->old_chunk_count++;
}

/* Walks over the values of all stores, in the order of their types' names. No value comes or goes while systems run,
 * so each walk meets the same values in the same order; `copy` moves along in step. */
typedef struct stored_walk {
    state_key of;
    const value_store *s; /* NULL: before the first store */
    store_place at;
    char *copy;   /* the copy of the value; its entity's handle stands before it */
    size_t bytes; /* size of all copies up to the end of this one */
} stored_walk;

static bool stored_next(const reef_world *w, stored_walk *k, char *copies)
{
    while (k->s == NULL || !reef__store_next(k->s, &k->at)) {
        if (!reef__state_next(STATE_STORES, w, NULL, &k->of)) return false;
        k->s = store_of(w, k->of.key);
        k->at = (store_place){.page = 0};
    }
    k->copy = copies ? copies + k->bytes + sizeof k->at.entity : NULL;
    k->bytes += sizeof k->at.entity + reef__type_of(k->s->component)->size;
    return true;
}

/* Copies all values to `to` and returns the number of bytes; with NULL it only counts. */
static size_t stored_copy(const reef_world *w, char *to)
{
    stored_walk k = {.s = NULL};
    while (stored_next(w, &k, to)) {
        if (to == NULL) continue;
        memcpy(k.copy - sizeof k.at.entity, &k.at.entity, sizeof k.at.entity);
        memcpy(k.copy, k.at.value, reef__type_of(k.s->component)->size);
    }
    return whole_units(k.bytes);
}

/* Copies all tables in the visible order, so that what is reported first depends on the state alone. False: no
 * memory. */
static bool copy_make(reef_world *w, watch *x)
{
    uint32_t count, chunks = 0;
    size_t values = 0, at = 0;
    uint32_t *ids = reef__tables_sorted(w, &count);
    if (ids == NULL) return count == 0;
    for (uint32_t i = 0; i < count; i++) {
        const table *t = table_read(w, ids[i]);
        chunks += t->chunks;
        for (uint32_t unit = t->first; unit; unit = unit_slots(w, unit)[0].head.next)
            values += chunk_copy(w, t->shape, unit, NULL);
    }
    const size_t stored = stored_copy(w, NULL);
    const size_t old_chunks = whole_units(chunks * sizeof(old_chunk)),
                 units = whole_units(w->state.next_unit * sizeof(uint32_t));
    x->bytes = old_chunks + units + whole_units(chunks * sizeof(uint32_t)) + values + stored;
    char *p = reef__memory_resize(&w->family->memory, MEMORY_OTHER, NULL, 0, x->bytes, PLAIN_ALIGN);
    if (p) {
        x->old_chunks = (old_chunk *)(void *)p;
        x->by_unit = (uint32_t *)(void *)(p + old_chunks);
        x->handed = (uint32_t *)(void *)(p + old_chunks + units);
        x->values = p + x->bytes - values - stored;
        x->stored = p + x->bytes - stored;
        stored_copy(w, x->stored);
    }
    for (uint32_t i = 0; p && i < count; i++) {
        const table *t = table_read(w, ids[i]);
        for (uint32_t unit = t->first; unit; unit = unit_slots(w, unit)[0].head.next)
            old_chunk_make(w, x, t, ids[i], unit, &at);
    }
    reef__memory_free(&w->family->memory, MEMORY_OTHER, ids, count * sizeof *ids);
    return p != NULL;
}

static void copy_drop(reef_world *w, watch *x)
{
    reef__memory_free(&w->family->memory, MEMORY_OTHER, x->old_chunks, x->bytes);
    x->old_chunks = NULL;
    x->old_chunk_count = x->handed_count = 0;
}

/* Returns where the copy of a column is. */
static char *old_chunk_column(const watch *x, const old_chunk *d, uint32_t slot)
{
    size_t at = d->at;
    for (uint32_t k = SLOT_ENTITIES; k < slot; k++)
        at += d->capacity * (k == SLOT_ENTITIES ? sizeof(reef_entity) : (size_t)d->table->shape->columns[k].size);
    return x->values + at;
}

/* Returns the handle that a row had; a null handle for a row behind the last one. */
static reef_entity old_chunk_entity(const watch *x, const old_chunk *d, uint32_t row)
{
    reef_entity e = {0, 0};
    if (row < d->rows) memcpy(&e, old_chunk_column(x, d, SLOT_ENTITIES) + row * sizeof e, sizeof e);
    return e;
}

static bool old_chunk_handed(const old_chunk *d, uint32_t row)
{
    if (!d->handed || row >= d->rows) return d->handed && row < d->rows;
    return !d->masked || (d->mask[row / 64] >> (row % 64) & 1);
}

void reef__watch_block(reef_world *w, const reef_block *b)
{
    watch *x = w->watch;
    if (x == NULL || x->old_chunk_count == 0) return;
    const uint32_t number = x->by_unit[b->loop.unit];
    old_chunk *d = &x->old_chunks[number];
    if (!d->handed) x->handed[x->handed_count++] = number;
    d->handed = true;
    if (b->loop.query->cut) { /* this block is one of several of its chunk */
        d->masked = true;
        for (uint32_t row = b->loop.first; row < b->loop.first + b->count; row++)
            d->mask[row / 64] |= 1ull << (row % 64);
        return;
    }
    d->masked = b->loop.mask != NULL;
    if (b->loop.mask) memcpy(d->mask, b->loop.mask, sizeof d->mask);
}

/* ---- comparing ---- */

/* Returns the first row that changed although the system may not write it; `capacity`: there is none. */
static uint32_t row_changed(const watch *x, const old_chunk *d, uint32_t slot, const char *now, size_t size,
                            bool writes)
{
    const char *was = old_chunk_column(x, d, slot);
    const uint32_t end = d->capacity;
    if (memcmp(was, now, d->capacity * size) == 0) return d->capacity;
    for (uint32_t row = 0; row < end; row++) {
        if (writes && old_chunk_handed(d, row)) continue;
        if (memcmp(was + row * size, now + row * size, size) != 0) return row;
    }
    return d->capacity;
}

static void column_compare(reef_world *w, const watch *x, const old_chunk *d, reef_component c, uint32_t slot)
{
    const size_t size = slot == SLOT_ENTITIES ? sizeof(reef_entity) : d->table->shape->columns[slot].size;
    const bool writes = slot != SLOT_ENTITIES && writes_handed(x->planned->query, c.id);
    const uint32_t row = row_changed(x, d, slot, unit_slots(w, d->unit)[slot].block, size, writes);
    if (row == d->capacity) return;
    report_once(w, "reef_system", c, old_chunk_entity(x, d, row),
                slot == SLOT_ENTITIES ? "the entity's handle was changed by the system"
                : row >= d->rows      ? "memory after the last row was written by the system"
                : writes && d->handed ? "changed by the system, though the row doesn't match its query: take the rows "
                                        "from reef_block_run"
                : writes              ? "changed by the system, in a block that it wasn't given"
                                      : "changed by the system, which doesn't declare that it writes it");
}

static void bits_compare(reef_world *w, const watch *x, const old_chunk *d)
{
    const char *begin = x->values + d->at,
               *was = begin + whole_units((size_t)(old_chunk_column(x, d, d->table->shape->end_slot) - begin));
    for (uint32_t i = 0; i < w->state.bit_count; i++) {
        const bit_store *b = &w->state.bits[i];
        const uint64_t *now = bit_words(b, d->unit);
        uint64_t words[BIT_WORDS];
        if (now == NULL) continue;
        memcpy(words, was, sizeof words);
        was += sizeof words;
        for (uint32_t k = 0; k < BIT_WORDS; k++) {
            if (words[k] == now[k]) continue;
            const reef_entity e = old_chunk_entity(x, d, k * 64 + bits_first(words[k] ^ now[k]));
            report_once(w, "reef_system", (reef_component){b->key & ~BIT_DISABLED}, e,
                        "a switch, or what is disabled, was changed by the system");
            break;
        }
    }
}

static bool entity_handed(const reef_world *w, const watch *x, reef_entity e)
{
    const uint32_t place = place_of(w, e);
    return place >= 2 * PLACE_EMPTY &&
           old_chunk_handed(&x->old_chunks[x->by_unit[place_unit(place)]], place_row(place));
}

static void stored_compare(reef_world *w, const watch *x)
{
    stored_walk k = {.s = NULL};
    while (stored_next(w, &k, x->stored)) {
        const reef_component c = {k.s->component};
        const bool writes = writes_handed(x->planned->query, c.id);
        if (memcmp(k.copy, k.at.value, reef__type_of(c.id)->size) == 0 || reef__touches_others(x->system, c.id, true))
            continue;
        /* With a shared store, other entities have the same value. */
        if (writes && (k.s->shared || entity_handed(w, x, k.at.entity))) continue;
        report_once(w, "reef_system", c, k.at.entity,
                    writes ? "changed by the system, though it wasn't given the entity"
                           : "changed by the system, which doesn't declare that it writes it");
    }
}

static void copy_compare(reef_world *w, const watch *x)
{
    if (x->old_chunk_count) stored_compare(w, x);
    for (uint32_t i = 0; i < x->old_chunk_count; i++) {
        const old_chunk *d = &x->old_chunks[i];
        const shape *s = d->table->shape;
        column_compare(w, x, d, (reef_component){0}, SLOT_ENTITIES);
        for (uint32_t n = 0; n < s->component_count; n++) {
            const uint32_t k = reef__slot_seek(w, s->component[n], d->table_id);
            if (k == 0 || k == REEF_SLOT_TAG || reef__touches_others(x->system, s->component[n], true)) continue;
            column_compare(w, x, d, (reef_component){s->component[n]}, k);
        }
        bits_compare(w, x, d);
    }
}

/* ---- the second time ---- */

/* Finds the next column, at `slot` or behind it, that the system writes in a chunk that it was handed. Returns its
 * slot; 0: no more. */
static uint32_t written_next(const watch *x, const old_chunk *d, uint32_t slot)
{
    for (; slot < d->table->shape->end_slot; slot++)
        if (writes_handed(x->planned->query, d->table->shape->columns[slot].type->id)) return slot;
    return 0;
}

static void bytes_exchange(char *a, char *b, size_t size)
{
    char some[256];
    for (size_t n; size; size -= n, a += n, b += n) {
        n = size < sizeof some ? size : sizeof some;
        memcpy(some, a, n);
        memcpy(a, b, n);
        memcpy(b, some, n);
    }
}

/* Exchanges what the system wrote with what the copy holds. */
static void written_exchange(reef_world *w, const watch *x)
{
    for (uint32_t i = 0; i < x->handed_count; i++) {
        const old_chunk *d = &x->old_chunks[x->handed[i]];
        const reef_slot *slots = unit_slots(w, d->unit);
        for (uint32_t k = SLOT_COLUMNS; (k = written_next(x, d, k)) != 0; k++)
            bytes_exchange(slots[k].block, old_chunk_column(x, d, k),
                           (size_t)d->rows * d->table->shape->columns[k].size);
    }
    for (stored_walk k = {.s = NULL}; stored_next(w, &k, x->stored);)
        if (writes_handed(x->planned->query, k.s->component))
            bytes_exchange(k.at.value, k.copy, reef__type_of(k.s->component)->size);
}

static void rows_again(reef_world *w, const watch *x)
{
    reef_block b;
    job *j = &w->ticking->jobs[x->planned->job_first];
    for (uint32_t n = 0; n < x->handed_count; n++) {
        const old_chunk *d = &x->old_chunks[x->handed[x->handed_count - 1 - n]];
        for (uint32_t r = 0; r < d->rows; r++) {
            const uint32_t row = d->rows - 1 - r;
            if (!old_chunk_handed(d, row)) continue;
            reef__block_of_row(&b, w, x->planned->query, d->unit, row);
            b.dt = w->ticking->dt;
            b.loop.job = j;
            b.loop.since = x->planned->since;
            const uint32_t each = x->planned->query->cut ? x->planned->query->cut->each : 0;
            for (uint32_t i = each ? reef__multi_values(store_of(w, each), b.entities[0]) : 1; i-- > 0;) {
                b.loop.number = i;
                x->system->function(&b);
            }
        }
    }
}

/* Returns the next component, by name, that a system writes. 0 stands before the first and behind the last. */
static uint32_t written_after(const struct system *s, uint32_t component)
{
    const type *last = reef__type_of(component), *next = NULL;
    for (uint32_t i = 0; i < s->access_count; i++) {
        const type *t = reef__type_of(s->access[i].component);
        if ((s->access[i].use & ACCESS_WRITE) && type_is_next(t, last, next)) next = t;
    }
    return next ? next->id : 0;
}

/* Reports the first row of a component for which the second result differs. The copy holds the first result. */
static void rows_differ(reef_world *w, const watch *x, uint32_t component)
{
    const type *t = reef__type_of(component);
    static const char differs[] =
        "its value depends on other rows, on their order, or on something that reef doesn't know";
    for (stored_walk k = {.s = NULL}; t->stored && stored_next(w, &k, x->stored);) {
        if (k.s->component != component || reef__value_equal(t, k.copy, k.at.value)) continue;
        report_once(w, "reef_system", (reef_component){component}, k.at.entity, differs);
        return;
    }
    for (uint32_t i = 0; i < x->handed_count; i++) {
        const old_chunk *d = &x->old_chunks[x->handed[i]];
        const uint32_t k = reef__slot_seek(w, component, d->table_id);
        if (k == 0 || k == REEF_SLOT_TAG) continue;
        const char *first = old_chunk_column(x, d, k), *second = unit_slots(w, d->unit)[k].block;
        for (uint32_t row = 0; row < d->rows; row++) {
            if (reef__value_equal(t, first + (size_t)row * t->size, second + (size_t)row * t->size)) continue;
            report_once(w, "reef_system", (reef_component){component}, old_chunk_entity(x, d, row), differs);
            return;
        }
    }
}

static void run_again(reef_world *w, const watch *x)
{
    const struct system *s = x->system;
    written_exchange(w, x);
    rows_again(w, x);
    for (uint32_t c = 0; (c = written_after(s, c)) != 0;) rows_differ(w, x, c);
    written_exchange(w, x); /* the first result is the one that counts */
}

/* ---- one system ---- */

/* May the system run a second time? Not if it made mistakes, since they would be reported twice; and not if it gave
 * commands, which every system may give for systems. */
static bool may_run_again(const reef_world *w, const watch *x)
{
    uint32_t component;
    if (x->mistakes || x->handed_count == 0 || reef__watch_once(x->system, &component)) return false;
    if (x->planned->query && x->planned->query->ranking) return false; /* the rows of parents come first */
    /* several rows are one value */
    if (x->planned->query && x->planned->query->cut && x->planned->query->cut->shared) return false;
    for (uint32_t i = 0; i < x->planned->job_count; i++) {
        const commands *c = &w->ticking->jobs[x->planned->job_first + i].commands;
        if (c->count || c->run) return false;
    }
    return true;
}

void reef__watch_before(reef_world *w, const planned_system *r)
{
    watch *x = w->watch;
    char message[REEF_SYSTEM_NAME_MAX + 64];
    if (x == NULL || r->begun != 1) return;
    x->planned = r;
    x->system = r->system;
    x->mistakes = x->reported_count = x->handed_count = 0;
    if (copy_make(w, x)) return;
    snprintf(message, sizeof message, "system %s: no memory to watch what it writes", r->system->name);
    reef__report(w, REEF_LOG_WARNING, reef__report_key(message), message);
}

void reef__watch_after(reef_world *w)
{
    watch *x = w->watch;
    if (x == NULL || x->planned->begun != x->planned->job_count) return;
    copy_compare(w, x);
    if (may_run_again(w, x)) run_again(w, x);
    copy_drop(w, x);
    x->planned = NULL;
    x->system = NULL;
}

#endif
