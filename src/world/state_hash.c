/* The state hash.
 *
 *      block ──► 64 bits, kept beside its version ──┐
 *      free ids, entities without row, names ───────┴──► parts ──► the hash
 *
 * The input is canonical: tables in the order of their type names, rows in order, fields little-endian. The hash of a
 * block or page is kept together with the version of its last write. Hashing advances the world's version, so any later
 * write has a newer one; that is why an equal version proves equal content. Kept hashes are part of the state, in
 * containers of their own, so a fork or a restored snapshot has the right ones. Where memory for keeping a hash is
 * missing, it is computed again the next time.
 *
 * The hash of a page of a store is a sum over the entities that have values on it: where a value lies on its page
 * follows from history and must not count.
 *
 * The function over bytes is the accumulation of XXH3's long inputs (Yann Collet, xxHash): eight lanes of 64 bits;
 * each takes 8 bytes of a 64-byte stripe, mixes them with a secret, multiplies the two halves and adds; every 16
 * stripes the lanes are scrambled. Here the halves are added swapped in their own lane (there in the neighbour's),
 * and splitmix64's finaliser joins the lanes, so that it is all 64-bit arithmetic on any machine. Measured: 8 bytes
 * a ns with gcc -O2, 21 with AVX2. */
#include "world/state_hash.h"
#include "base/byte_hash.h"
#include "type/portable_bytes.h"
#include "storage/archetype.h"
#include "storage/entity_index.h"
#include "storage/error.h"
#include "storage/event_log.h"
#include "storage/invalidate.h"
#include "storage/name_index.h"
#include "storage/place.h"
#include "storage/row_bits.h"
#include "storage/serial_list.h"
#include "storage/shared_store.h"
#include "storage/sparse_store.h"
#include "storage/table.h"
#include "system/schedule.h"
#include "system/script.h"
#include "world/world_pair.h"
#include "reef/event.h"
#include "reef/snapshot.h"
#include "reef/hash.h"
#include "reef/type_info.h"

/* ---- values ---- */

/* Adds the portable bytes of elements of a kind. */
static COLD void elements_add(hasher *h, reef_kind kind, const unsigned char *p, size_t bytes)
{
    unsigned char piece[STRIPE];
    if (HOST_IS_LITTLE) reef__hash_add(h, p, bytes);
    for (size_t n; !HOST_IS_LITTLE && bytes; p += n, bytes -= n) {
        n = bytes < sizeof piece ? bytes : sizeof piece;
        reef__portable_copy(kind, piece, p, n);
        reef__hash_add(h, piece, n);
    }
}

/* Adds n values that lie side by side, of a type, or with NULL handles. */
static void values_add(hasher *h, const type *t, const void *values, size_t n)
{
    const unsigned char *p = values;
    if (t == NULL) elements_add(h, REEF_ENTITY, p, n * sizeof(reef_entity));
    else if (reef__type_is_flat(t)) reef__hash_add(h, p, n * t->size);
    else
        for (; n; n--, p += t->size)
            for (uint32_t i = 0; i < t->field_count; i++)
                elements_add(h, t->fields[i].kind, p + t->fields[i].offset, t->fields[i].bytes);
}

static uint64_t column_hash(const type *t, const void *block, size_t rows)
{
    hasher h;
    reef__hash_begin(&h);
    values_add(&h, t, block, rows);
    return reef__hash_end(&h);
}

/* ---- hashes that are kept ---- */

typedef struct kept_hash {
    uint64_t version, hash;
} kept_hash;
/* The entry of everything that was never hashed: versions begin with 1. It is never written. It isn't const, because
 * zeroed data that isn't const takes no room in the program's file. */
static kept_hash never_kept[HASHES_PER_PAGE];

static const kept_hash *kept_read(const reef_paged *p, uint64_t i)
{
    uint64_t page = i / HASHES_PER_PAGE;
    return page < p->count && p->page[page] ? (const kept_hash *)p->page[page] + i % HASHES_PER_PAGE
                                            : &never_kept[i % HASHES_PER_PAGE];
}

/* The entry, for writing. NULL: this hash can't be kept now. */
static kept_hash *kept_own(reef_world *w, reef_paged *p, uint64_t i)
{
    /* While a loop is open it may write without a new version, so nothing may be kept. */
    kept_hash *k = w->locks ? NULL : reef__page_own(w, p, &reef__pages_hashes, (uint32_t)(i / HASHES_PER_PAGE));
    return k ? k + i % HASHES_PER_PAGE : NULL;
}

/* Notes that a hash was computed, so far as it can be kept, and answers it. */
static uint64_t kept_put(reef_world *w, reef_paged *p, uint64_t i, uint64_t version, uint64_t hash)
{
    kept_hash *k = kept_own(w, p, i);
    if (k) *k = (kept_hash){version, hash};
    return hash;
}

/* The sum of the hashes of the first `count` pages of a container. A page that was written since is hashed by
 * `piece`. */
static uint64_t pages_hash(reef_world *w, reef_paged *kept, const reef_paged *pages, uint32_t count,
                           uint64_t (*piece)(const reef_world *w, const void *of, uint32_t page), const void *of)
{
    uint64_t sum = 0;
    for (uint32_t page = 0; page < count; page++) {
        const kept_hash *k = kept_read(kept, page);
        if (pages->page[page] == NULL) continue;
        const uint64_t version = pages->version[page];
        sum += k->version == version ? k->hash : kept_put(w, kept, page, version, piece(w, of, page));
    }
    return sum;
}

/* ---- ids and names ---- */

static const uint64_t ring_factor = 0xD6E8FEB86659FD93u;

static uint64_t power(uint64_t x, uint64_t n)
{
    uint64_t y = 1;
    for (; n; n >>= 1, x *= x)
        if (n & 1) y *= x;
    return y;
}

/* The hash of the free ids, oldest first: a polynomial, so that the hashes of pieces can be joined wherever the
 * pages of the ring begin. */
static COLD uint64_t ring_piece(free_queue q, uint32_t *count)
{
    uint64_t h = 0;
    reef_entity e;
    for (*count = 0; (e = reef__free_next(&q)).generation; ++*count)
        h = h * ring_factor + hash_blend(reef_entity_bits(e));
    return h;
}

static uint64_t ring_hash(reef_world *w)
{
    state *s = &w->state;
    uint64_t h = 0;
    for (uint64_t at = s->ring_head, end; at < s->ring_tail; at = end) {
        const uint32_t slot = ring_slot(w, at);
        end = at - at % RING_PER_PAGE + RING_PER_PAGE;
        if (end > s->ring_tail) end = s->ring_tail;
        const kept_hash *k = kept_read(&s->ring_hashes, slot * 2u); /* k[1]: which piece of the page k[0] is of */
        const uint64_t range = at % RING_PER_PAGE << 32 | (end - at);
        uint64_t piece = k[0].hash;
        uint32_t count = (uint32_t)k[1].hash;
        if (k[0].version != s->ring.version[slot] || k[1].version != range) {
            piece = ring_piece((free_queue){w, at, end}, &count);
            kept_hash *keep = kept_own(w, &s->ring_hashes, slot * 2u);
            if (keep) keep[0] = (kept_hash){s->ring.version[slot], piece}, keep[1] = (kept_hash){range, count};
        }
        h = h * power(ring_factor, count) + piece;
    }
    return h;
}

/* The entities without a row, reserved ids and retired indices of one page of records: a sum. */
static COLD uint64_t rowless_piece(const reef_world *w, const void *of, uint32_t page)
{
    uint64_t sum = 0;
    (void)of;
    for (uint32_t i = page << REEF_RECORD_BITS, end = records_end(w, i); i < end; i++) {
        const uint64_t r = record_read(w, i);
        /* The places 1 ... PLACE_EMPTY stand for indices that are neither free nor have a row. */
        if ((uint32_t)r - 1 < PLACE_EMPTY) sum += hash_blend(hash_blend(r) + i);
    }
    return sum;
}

static uint64_t rowless_hash(reef_world *w)
{
    const reef_paged *records = &w->hot.records;
    const uint32_t used = (uint32_t)(((uint64_t)w->hot.index_count + RECORDS_PER_PAGE - 1) >> REEF_RECORD_BITS);
    if (w->hot.empty_count == 0 && w->state.reserved_count == 0 && w->state.retired_count == 0) return 0;
    return pages_hash(w, &w->state.record_hashes, records, used < records->count ? used : records->count, rowless_piece,
                      NULL);
}

static uint64_t ids_hash(reef_world *w)
{
    const uint64_t free_ids = w->state.ring_tail - w->state.ring_head - w->state.ring_holes;
    return hash_combine(hash_combine(free_ids, ring_hash(w)), rowless_hash(w));
}

static COLD uint64_t name_piece(const reef_world *w, const void *of, uint32_t page)
{
    uint64_t sum = 0;
    (void)of;
    for (uint32_t n = page * NAMES_PER_PAGE; n < (page + 1) * NAMES_PER_PAGE && n < w->state.name_count; n++) {
        reef_entity e;
        const char *text = reef__name_at_number(w, n, &e);
        sum += hash_blend(reef__hash_bytes(text, strlen(text)) + hash_blend(reef_entity_bits(e)));
    }
    return sum;
}

/* The last page, which isn't full, is hashed anew each time. */
static COLD uint64_t names_hash(reef_world *w)
{
    state *s = &w->state;
    const uint32_t full = s->name_count / NAMES_PER_PAGE;
    return pages_hash(w, &s->name_hashes, &s->name_entries, full, name_piece, NULL) + name_piece(w, NULL, full);
}

/* ---- tables ---- */

static bool column_counts(const column *c) { return c->type == NULL || !c->type->resets; }

/* The hashes of a chunk's columns, by slot. Those of columns that were written since are computed again. They are in
 * `uncached` where they can't be kept. */
static const kept_hash *chunk_hashes(reef_world *w, const table *t, uint32_t unit, kept_hash *uncached)
{
    const shape *s = t->shape;
    const reef_slot *slots = unit_slots(w, unit);
    uint32_t rows = chunk_rows(t, unit), k = SLOT_ENTITIES;
    const kept_hash *have = kept_read(&w->state.chunk_hashes, (uint64_t)unit * REEF_UNIT_SLOTS);
    bool whole = have[0].version == rows;
    while (whole && k < s->end_slot && have[k].version == slots[k].version) k++;
    if (LIKELY(k == s->end_slot)) return have;
    kept_hash *keep = kept_own(w, &w->state.chunk_hashes, (uint64_t)unit * REEF_UNIT_SLOTS);
    if (keep == NULL) {
        memcpy(uncached, have, s->end_slot * sizeof *have);
        keep = uncached;
    }
    for (k = SLOT_ENTITIES; k < s->end_slot; k++) {
        if (whole && keep[k].version == slots[k].version) continue;
        const column *c = &s->columns[k];
        keep[k] = (kept_hash){slots[k].version, column_counts(c) ? column_hash(c->type, slots[k].block, rows) : 0};
    }
    keep[0].version = rows;
    return keep;
}

/* The hashes of all columns of a table, by slot. */
static void table_hash(reef_world *w, const table *t, uint64_t *columns)
{
    kept_hash uncached[REEF_COLUMNS_MAX + SLOT_COLUMNS];
    const uint32_t end = t->shape->end_slot;
    for (uint32_t k = SLOT_ENTITIES; k < end; k++) columns[k] = table_rows(t);
    for (uint32_t unit = t->first; unit; unit = unit_slots(w, unit)[0].head.next) {
        if (chunk_rows(t, unit) == 0) break;
        const kept_hash *h = chunk_hashes(w, t, unit, uncached);
        for (uint32_t k = SLOT_ENTITIES; k < end; k++) columns[k] = hash_combine(columns[k], h[k].hash);
    }
}

/* The hash of the bits of one key in a table: of each chunk with a set bit, and the chunk's number. *rows: number of
 * set bits. */
static uint64_t switch_hash(reef_world *w, uint32_t key, const table *t, uint64_t *rows)
{
    bit_store *b = (bit_store *)(uintptr_t)bit_store_of(w, key);
    uint64_t h = 0, chunk = 0;
    if (!reef__bit_known(w, b, t->shape->table)) return 0;
    for (uint32_t unit = t->first; unit; unit = unit_slots(w, unit)[0].head.next, chunk++) {
        const uint64_t *words = bit_words(b, unit);
        uint64_t little[BIT_WORDS], any = 0;
        for (uint32_t i = 0; words && i < BIT_WORDS; i++) any |= words[i], *rows += bits_count(words[i]);
        if (any == 0) continue;
        const kept_hash *k = kept_read(&b->hashes, unit);
        uint64_t piece = k->hash;
        if (k->version != b->words.version[unit]) {
            for (uint32_t i = 0; i < BIT_WORDS; i++) little[i] = LITTLE_64(words[i]);
            piece = kept_put(w, &b->hashes, unit, b->words.version[unit], reef__hash_bytes(little, sizeof little));
        }
        h = hash_combine(h ^ chunk, piece);
    }
    return h;
}

/* ---- stores ---- */

/* The hash of a value of a few words. It is quicker than the hash by lanes. */
static uint64_t short_hash(const unsigned char *p, uint32_t size)
{
    uint64_t h = size, word;
    for (; size >= 8; p += 8, size -= 8) {
        memcpy(&word, p, 8);
        h = hash_combine(h, LITTLE_64(word));
    }
    if (size == 0) return h;
    word = 0;
    for (uint32_t i = 0; i < size; i++) word |= (uint64_t)p[i] << 8 * i;
    return hash_combine(h, word);
}

/* The lowest index of the entities that share this entity's value, plus 1. 0: it is this entity. */
static uint32_t sharing(const value_store *s, const uint32_t *firsts, reef_entity e)
{
    const uint32_t first = shared_first_index(s, firsts, e);
    return first == e.index ? 0 : first + 1;
}

/* The hash of the values on a page and of their entities: a sum. `firsts` is the list of reef__shared_firsts for a
 * store of shared values, NULL for others. */
static COLD uint64_t values_hash(const value_store *s, uint32_t page, const uint32_t *firsts)
{
    const type *t = reef__type_of(s->component);
    const uint32_t bytes = reef__portable_size(t);
    const bool valued = t->size && !t->resets, small = bytes <= STRIPE, flat = reef__type_is_flat(t);
    unsigned char value[STRIPE];
    store_place at = {.slot = 0};
    uint64_t sum = 0;
    while (reef__store_each(s, page, &at)) {
        uint64_t h = 0;
        if (valued && small && flat) h = short_hash(at.value, t->size);
        else if (valued && small) {
            reef__portable_values(t, value, at.value, 1);
            h = short_hash(value, bytes);
        } else if (valued) h = column_hash(t, at.value, 1);
        sum += hash_blend(hash_combine(
            hash_blend(reef_entity_bits(at.entity)) + (s->shared ? sharing(s, firsts, at.entity) : at.number), h));
    }
    return sum;
}

/* The hash of a store of shared values. A write of a shared value doesn't mark the pages of all entities that share it,
 * so no hash is kept. */
static COLD uint64_t shared_hash(const reef_world *w, const value_store *s)
{
    uint32_t *firsts = reef__shared_firsts(w, s);
    uint64_t sum = 0;
    for (uint32_t page = 0; page < s->values.count; page++) sum += values_hash(s, page, firsts);
    reef__shared_firsts_free(w, s, firsts);
    return sum;
}

static uint64_t store_piece(const reef_world *w, const void *of, uint32_t page)
{
    return (void)w, values_hash(of, page, NULL);
}

static uint64_t store_hash(reef_world *w, uint32_t component, uint64_t *values)
{
    value_store *s = (value_store *)(uintptr_t)store_of(w, component);
    *values = s->count;
    if (s->count == 0) return 0;
    return s->shared ? shared_hash(w, s) : pages_hash(w, &s->hashes, &s->values, s->values.count, store_piece, s);
}

/* ---- events, time, singletons ---- */

/* The hash of the events of one type that wait. */
static COLD uint64_t events_hash(const reef_world *w, uint32_t component, uint64_t *count)
{
    const type *t = reef__type_of(component);
    const event_store *s = reef__events_of(w, component);
    reef_events r = reef__events_waiting(w, s);
    const char *run;
    hasher h;
    uint32_t n;
    *count = r.count;
    if (r.count == 0) return 0;
    reef__hash_begin(&h);
    while ((run = reef_event_run(&r, &n)) != NULL) values_add(&h, t, run, n);
    return hash_combine(reef__hash_end(&h), reef__events_lag_hash(w, s));
}

static uint64_t clock_piece(const state *s, uint64_t serial, const char *name, uint64_t kind)
{
    const uint64_t value = reef__serial_read(&s->clocks, serial);
    return value ? reef__number_hash(reef__number_hash(value) +
                                     reef__number_hash(reef__hash_bytes(name, strlen(name)) + kind))
                 : 0;
}

COLD uint64_t reef__clocks_hash(const reef_world *w)
{
    const state *s = &w->state;
    const schedule *c = w->schedule;
    uint64_t sum = 0;
    for (uint32_t i = 0; c && s->clocks.count && i < c->phase_count; i++)
        sum += clock_piece(s, c->phases[i].serial, c->phases[i].name, 1);
    for (uint32_t i = 0; c && s->clocks.count && i < c->count; i++)
        sum += clock_piece(s, c->entries[i].system->serial, c->entries[i].system->name, 2);
    for (uint32_t i = 0; s->clocks.count && i < s->absent_count; i++)
        sum += clock_piece(s, s->absents[i].serial, s->absents[i].name, s->absents[i].phase ? 1 : 2);
    if (s->ticks == 0 && s->time_ns == 0 && s->seed == 0 && sum == 0) return 0;
    const uint64_t h = reef__number_hash(reef__number_hash(reef__number_hash(s->ticks) + s->time_ns) + s->seed) + sum;
    return h ? h : 1;
}

static uint64_t single_hash(const reef_world *w, uint64_t *count)
{
    const reef_entity e = reef_single_entity(w);
    *count = !reef_entity_is_null(e);
    return *count ? hash_blend(reef_entity_bits(e)) : 0;
}

/* ---- the whole ---- */

typedef struct type_sum {
    uint64_t rows, hash;
} type_sum; /* what reef_hash_parts tells of one type */

typedef struct hashing {
    reef_world *w;
    uint64_t hash;
    bool (*visit)(void *context, const reef_hash_part *part);
    void *context;
    type_sum *sums; /* by type id; NULL: not wanted. Behind them there is room for as many ids */
    uint32_t sum_count;
    uint64_t *columns; /* by slot: of the table whose rows were visited last */
} hashing;

/* False: the visitor stops it. */
static bool part_tell(hashing *x, const reef_hash_part *part)
{
    const uint32_t component = part->component.id;
    const reef_hash_kind kind = part->kind;
    const type *t = component ? reef__type_of(component) : NULL;
    uint64_t name = t ? t->name_hash : 0;
    if (kind != REEF_HASH_TYPE)
        x->hash = hash_combine(hash_combine(hash_combine(x->hash, (uint64_t)kind ^ part->rows << 8), name), part->hash);
    if (x->visit == NULL) return true;
    if (component && kind != REEF_HASH_TYPE && kind != REEF_HASH_EVENTS) {
        /* Entities with a value are counted once: by the bits of their rows where there are some. */
        const bool counted = kind == REEF_HASH_DISABLED || (kind == REEF_HASH_STORE && t->bit);
        x->sums[component].rows += counted ? 0 : part->rows;
        x->sums[component].hash = hash_combine(x->sums[component].hash, part->hash);
    }
    world_hold(x->w);
    const bool more = x->visit(x->context, part);
    world_let_go(x->w);
    return more;
}

/* The hash of a part. *rows: how much there is of it. */
static uint64_t part_hash(hashing *x, const part_walk *p, uint64_t *rows)
{
    reef_world *w = x->w;
    const table *t = p->table.t[0];
    const uint32_t component = p->of.component.id;
    *rows = t ? table_rows(t) : 0;
    switch (p->of.kind) {
    case REEF_HASH_IDS: *rows = w->hot.index_count; return ids_hash(w);
    case REEF_HASH_NAMES: *rows = w->state.name_count; return names_hash(w);
    case REEF_HASH_TIME: *rows = w->state.ticks; return reef__clocks_hash(w);
    case REEF_HASH_SINGLE: return single_hash(w, rows);
    case REEF_HASH_EVENTS: return events_hash(w, component, rows);
    case REEF_HASH_SCRIPTS: return reef__scripts_hash(w, rows);
    case REEF_HASH_ROWS: table_hash(w, t, x->columns); return x->columns[SLOT_ENTITIES];
    case REEF_HASH_COLUMN: {
        const uint32_t k = reef__slot_seek(w, component, t->shape->table);
        return k == REEF_SLOT_TAG || !column_counts(&t->shape->columns[k]) ? 0 : x->columns[k];
    }
    case REEF_HASH_SWITCH:
    case REEF_HASH_DISABLED: *rows = 0; return switch_hash(w, p->key.key, t, rows);
    case REEF_HASH_STORE: return store_hash(w, component, rows);
    case REEF_HASH_TYPE: break; /* it sums up others: types_add */
    }
    return 0;
}

/* Adds a part. Of ids and names there is always one, and of other kinds only if there is something. */
static bool part_add(hashing *x, const part_walk *p)
{
    reef_hash_part part = p->of;
    part.hash = part_hash(x, p, &part.rows);
    const bool none = part.rows == 0 && part.hash == 0;
    return (none && part.kind != REEF_HASH_IDS && part.kind != REEF_HASH_NAMES) || part_tell(x, &part);
}

/* Tells of each type what the parts said of it. */
static COLD bool types_add(hashing *x)
{
    uint32_t n = 0, *ids = (uint32_t *)(void *)(x->sums + x->sum_count);
    for (uint32_t c = 1; c < x->sum_count; c++)
        if (x->sums[c].rows) ids[n++] = c;
    if (n) reef__ids_sort(ids, n);
    bool more = true;
    for (uint32_t i = 0; more && i < n; i++) {
        const type_sum *sum = &x->sums[ids[i]];
        more = part_tell(x, &(reef_hash_part){REEF_HASH_TYPE, NULL, 0, {ids[i]}, sum->rows, sum->hash});
    }
    return more;
}

/* Drops the kept hashes of values: a type that was hashed as bytes has got fields since. */
static COLD void kept_drop(reef_world *w)
{
    reef__pages_drop(w, &w->state.chunk_hashes, &reef__pages_hashes);
    for (uint32_t i = 1; i < w->state.store_count; i++)
        reef__pages_drop(w, &w->state.stores[i].hashes, &reef__pages_hashes);
    w->state.described = reef__types_described();
    reef__invalidate(w, INVALIDATE_WRITTEN);
}

static uint64_t hash_run(reef_world *w, const char *op, bool (*visit)(void *, const reef_hash_part *), void *context)
{
    uint64_t columns[REEF_COLUMNS_MAX + SLOT_COLUMNS];
    hashing x = {.w = w, .visit = visit, .context = context, .columns = columns};
    part_walk p = {.tables = {.world = {w, NULL}}};
    memory *m = &w->family->memory;
    /* What is written from now on has a newer version than what is hashed. */
    if (!w->locks) reef__invalidate(w, INVALIDATE_LOOKED_AT);
    if (visit) x.sum_count = reef_type_count() + 1;
    const size_t bytes = x.sum_count * (sizeof *x.sums + sizeof(uint32_t));
    if (visit) x.sums = reef__memory_zeroed(m, MEMORY_OTHER, bytes);
    p.tables.ids[0] = reef__tables_order(w, &p.tables.count[0]);
    const bool ok = (visit == NULL || x.sums) && (p.tables.count[0] == 0 || p.tables.ids[0]);
    bool more = ok;
    while (more && reef__part_next(&p)) more = part_add(&x, &p);
    if (more && visit) more = types_add(&x);
    reef__memory_free(m, MEMORY_OTHER, x.sums, bytes);
    if (!ok) reef__refuse(w, REEF_NO_MEMORY, op);
    if (!more) return 0;
    return x.hash ? x.hash : 1;
}

static bool hash_ready(reef_world *w)
{
    if (!WORLD_GIVEN(w)) return false;
    if (w->running) return reef__refuse(w, REEF_LOCKED, "reef_hash"), false;
    if (UNLIKELY(w->state.described != reef__types_described())) kept_drop(w);
    return true;
}

uint64_t reef_hash_parts(reef_world *w, bool (*visit)(void *context, const reef_hash_part *part), void *context)
{
    return hash_ready(w) ? hash_run(w, "reef_hash_parts", visit, context) : 0;
}

uint64_t reef_hash(reef_world *w)
{
    if (!hash_ready(w)) return 0;
    if (w->hashed == w->hot.version && !w->locks) return w->hash;
    w->hash = hash_run(w, "reef_hash", NULL, NULL);
    w->hashed = w->locks || w->hash == 0 ? 0 : w->hot.version;
    return w->hash;
}
