/* Entities of runs of commands become rows, in three steps:
 *
 *   check     the ids are pending, and their records are this     run by run, on all threads of the pool
 *             world's own
 *   reserve   rows of the table, and where those of a run begin   on this thread: if memory ends here, fewer entities
 *                                                                 are made
 *   put       new memory is touched, then handles, records and    on all threads of the pool
 *             columns are written
 *
 * Which thread handles a run makes no difference to the result. For 1,000,000 entities of 16 bytes it takes two
 * threads some 6 ms with pages of 4 KiB and 5 ms with pages of 2 MiB. Half of that is the first touch of memory, which
 * is why the threads share it. */
#include "change/spawn_batch.h"
#include "base/thread_pool.h"
#include "type/value.h"
#include "storage/archetype.h"
#include "storage/entity_index.h"
#include "storage/id_lanes.h"
#include "storage/invalidate.h"
#include "storage/known_types.h"
#include "storage/observed.h"
#include "storage/place.h"
#include "storage/required.h"
#include "storage/table.h"
#include "change/apply.h"
#include "change/spawn.h"
#include "reef/detail/layout.h"
#include "reef/pool.h"

enum {
    PACKED_SHARED = 4096, /* from so many entities on other threads help; one thread needs some 40 us for them */
    PACKED_IDS = 256
};

typedef struct packing {
    reef_world *w;
    table *t;
    const reef_value *values;
    uint32_t count;
    size_t stride;
    packed_run *runs;
    uint32_t run_count;
    memory_fresh fresh; /* the part of the reserved memory that was never used */
    uint32_t begun;     /* shares of the work that were begun: memory first, then runs */
} packing;

static void packed_ids(const packing *x, const packed_run *r, uint32_t first, uint32_t n, reef_entity *to)
{
    if (r->ids) {
        reef__lane_ids_name(r->ids, r->at + first, n, to);
        return;
    }
    const char *from = r->rows + (size_t)first * x->stride;
    for (uint32_t i = 0; i < n; i++, from += x->stride) memcpy(&to[i], from, sizeof *to);
}

/* Counts the entities, from the first on, whose ids are pending and whose records are this world's own. */
static void packed_check(void *data, uint32_t i)
{
    const packing *x = data;
    const reef_world *w = x->w;
    packed_run *r = &x->runs[i];
    reef_entity e[PACKED_IDS];
    r->good = 0;
    while (r->good < r->n) {
        const uint32_t n = r->n - r->good < PACKED_IDS ? r->n - r->good : PACKED_IDS;
        packed_ids(x, r, r->good, n, e);
        for (uint32_t k = 0; k < n; k++, r->good++)
            if (e[k].index >= w->hot.index_count || !record_owned(w, e[k].index) ||
                record_read(w, e[k].index) != record_pending(e[k]))
                return;
    }
}

static void packed_column(char *to, size_t size, const char *from, size_t stride, uint32_t n)
{
    if (size == 8)
        for (uint32_t i = 0; i < n; i++) memcpy(to + (size_t)i * 8, from + i * stride, 8);
    else
        for (uint32_t i = 0; i < n; i++) bytes_copy(to + i * size, from + i * stride, size);
}

static void packed_columns(const packing *x, const reef_slot *slots, uint32_t row, const char *from, uint32_t n)
{
    for (uint32_t k = 0; k < x->count; k++) {
        const type *c = reef__value_column(&x->values[k]);
        if (c == NULL) continue;
        char *to = cell(slots, reef__slot_seek(x->w, c->id, x->t->shape->table), row, c->size);
        if (x->values[k].kind == REEF_VALUE_DEFAULT) {
            memset(to, 0, (size_t)n * c->size);
        } else {
            packed_column(to, c->size, from, x->stride, n);
            from += c->size;
        }
    }
}

/* Writes the records. These ids are no longer without a row, and the state hash has to see it (as with record_mark).
 * Threads that come to the same page store the same version. */
static void packed_records(reef_world *w, const reef_entity *e, uint32_t place, uint32_t n)
{
    uint64_t *page = NULL;
    for (uint32_t i = 0, number = UINT32_MAX; i < n; i++) {
        if (UNLIKELY(e[i].index >> REEF_RECORD_BITS != number)) {
            number = e[i].index >> REEF_RECORD_BITS;
            page = w->hot.records.page[number];
            RELEASE_STORE(&w->hot.records.version[number], w->hot.version);
        }
        page[e[i].index & (RECORDS_PER_PAGE - 1)] = (uint64_t)e[i].generation << 32 | (place + i);
    }
}

/* The same for ids of a lane, which are named here as well: they come in runs of consecutive indices. */
static void packed_lane(const packing *x, const packed_run *r, uint32_t first, uint32_t n, uint32_t place,
                        reef_entity *e)
{
    const reef_world *w = x->w;
    for (uint32_t i = 0, m, index; i < n; i += m) {
        m = reef__lane_ids_run(r->ids, r->at + first + i, n - i, &index);
        const uint32_t page = index >> REEF_RECORD_BITS, at = index & (RECORDS_PER_PAGE - 1);
        if (m > RECORDS_PER_PAGE - at) m = RECORDS_PER_PAGE - at;
        uint64_t *records = (uint64_t *)w->hot.records.page[page] + at;
        const uint64_t record = (uint64_t)1 << 32 | (place + i);
        for (uint32_t k = 0; k < m; k++) e[i + k] = (reef_entity){index + k, 1};
        for (uint32_t k = 0; k < m; k++) records[k] = record + k;
        RELEASE_STORE(&w->hot.records.version[page], w->hot.version);
    }
}

static void packed_put(const packing *x, const packed_run *r)
{
    const size_t id_bytes = r->ids ? 0 : sizeof(reef_entity);
    uint32_t place = r->place;
    for (uint32_t done = 0, n; done < r->n; done += n) {
        reef_slot *slots = unit_slots(x->w, place_unit(place));
        const uint32_t row = place_row(place), room = REEF_BLOCK_ROWS - row;
        n = r->n - done < room ? r->n - done : room;
        reef_entity *e = (reef_entity *)slots[SLOT_ENTITIES].block + row;
        if (r->ids) {
            packed_lane(x, r, done, n, place, e);
        } else {
            packed_ids(x, r, done, n, e);
            packed_records(x->w, e, place, n);
        }
        packed_columns(x, slots, row, r->rows + done * x->stride + id_bytes, n);
        place = unit_place(slots[0].head.next);
    }
}

/* Reserves rows up to the first entity that can't be made. The answer is how many. */
static uint64_t packing_reserve(packing *x)
{
    uint64_t all = 0;
    for (uint32_t i = 0; i < x->run_count; i++) {
        packed_run *r = &x->runs[i];
        bool room = r->good == r->n;
        r->n = 0;
        while (r->n < r->good) {
            if (!reef__table_room(x->w, x->t)) {
                reef__table_trim(x->w, x->t);
                room = false;
                break;
            }
            if (r->n == 0) r->place = x->t->next;
            const uint32_t rest = x->t->end - x->t->next, n = r->good - r->n < rest ? r->good - r->n : rest;
            x->t->next += n;
            r->n += n;
        }
        all += r->n;
        if (!room) x->run_count = i + 1;
    }
    return all;
}

/* Takes shares until none is left. Memory is touched from its first half and its second half in turn: if it comes in
 * pages of 2 MiB, two threads then touch two different pages. */
static void packed_work(void *data, uint32_t worker)
{
    packing *x = data;
    const uint32_t fresh = x->fresh.count, half = (fresh + 1) / 2;
    (void)worker;
    for (uint32_t i; (i = COUNT_UP(&x->begun) - 1) < fresh + x->run_count;) {
        if (i >= fresh) {
            packed_put(x, &x->runs[i - fresh]);
            continue;
        }
        const memory_part *part = &x->fresh.part[(i & 1 ? half : 0) + i / 2];
        reef__memory_touch(part->from, part->bytes);
    }
}

/* Is it known that all ids of commands are pending, and that their records are this world's own? (Looking took 2 ns
 * for each entity.) */
static bool ids_are_good(const reef_world *w) { return w->unpended == 0 && w->hot.records.shared == 0; }

uint64_t reef__spawn_packed(reef_world *w, const reef_value *values, uint32_t count, size_t stride, packed_run *runs,
                            uint32_t run_count)
{
    reef_status s = REEF_OK;
    uint64_t n = 0;
    for (uint32_t i = 0; i < count; i++)
        if (reef__type_ready(w, values[i].component.id) != REEF_OK) return 0;
    const uint32_t id = reef__listed_table(w, values, count, &s);
    for (uint32_t i = 0; id && i < count; i++)
        if (!reef__table_meets(w, id, reef__type_of(values[i].component.id))) return 0;
    table *t = id > TABLE_EMPTY ? reef__table_own(w, id) : NULL;
    if (t == NULL || t->shape->hooked || t->shape->tracked || reef__table_watched(w, id)) return 0;
    packing x = {
        .w = w, .t = t, .values = values, .count = count, .stride = stride, .runs = runs, .run_count = run_count};
    for (uint32_t i = 0; i < run_count; i++) n += runs[i].n;
    reef_pool *pool = n < PACKED_SHARED ? NULL : w->pool;
    if (!ids_are_good(w)) reef__pool_share(pool, run_count, packed_check, &x);
    else
        for (uint32_t i = 0; i < run_count; i++) runs[i].good = runs[i].n;
    reef__memory_fresh_begin(&w->family->memory, &x.fresh);
    n = packing_reserve(&x);
    reef__memory_fresh_end(&w->family->memory, &x.fresh);
    reef__pool_run(pool, packed_work, &x);
    w->state.reserved_count -= (uint32_t)n;
    reef__invalidate(w, INVALIDATE_WRITTEN);
    return n;
}
