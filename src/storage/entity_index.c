/* The entity index: records, and the ring of free ids.
 *
 *   record = generation << 32 | place
 *            alive     the entity's own generation; place >= PLACE_EMPTY
 *            dead      the generation that the next owner of the index gets; place < PLACE_EMPTY
 *            pending   the generation of the entity that a command will make; place < PLACE_EMPTY
 *
 *   ring:  head ─► oldest free id ... youngest ◄─ tail      positions only count up; a page holds 1,024 of them,
 *                                                           and the number of pages is a power of two
 *
 * The ring has random access (reef__id_peek), because parallel lanes draw from the middle of "free ids, the oldest
 * first, then fresh indices". An id that is taken out of turn (reef_create_as) leaves a hole. Holes are squeezed out
 * before the next id is drawn. */
#include "storage/entity_index.h"
#include "base/threads.h"
#include "storage/archetype.h"
#include "storage/cow_pages.h"
#include "storage/error.h"
#include "storage/id_lanes.h"
#include "storage/invalidate.h"
#include "storage/place.h"
#include "storage/table.h"
#include "reef/reserve.h"
#include "reef/stats.h"

enum { PLACE_FREE = PLACE_DEAD, PLACE_RETIRED = 2 };

static uint32_t index_limit(const reef_world *w) { return w->config.entities_max ? w->config.entities_max : INDEX_MAX; }

/* ---- records ---- */

/* It is filled when the first world needs it: as a constant it would lie in every program. */
uint64_t reef__records_blank[RECORDS_PER_PAGE];

static COLD void records_blank_ready(void)
{
    static mutex lock = MUTEX_INIT;
    mutex_lock(&lock);
    for (uint32_t i = 0; reef__records_blank[RECORDS_PER_PAGE - 1] == 0 && i < RECORDS_PER_PAGE; i++)
        reef__records_blank[i] = RECORD_RESERVED;
    mutex_unlock(&lock);
}

static uint64_t *records_own(reef_world *w, uint32_t page)
{
    return reef__page_own(w, &w->hot.records, &reef__pages_records, page);
}

uint64_t *reef__record_own(reef_world *w, uint32_t index)
{
    const bool shared = w->hot.records.shared != 0;
    uint64_t *page = records_own(w, index >> REEF_RECORD_BITS);
    if (shared && w->hot.records.shared == 0) reef__invalidate(w, INVALIDATE_CONDITION_CHANGED);
    return page ? page + (index & (RECORDS_PER_PAGE - 1)) : NULL;
}

/* Makes units 0 and 1 and the table of the empty set, which exist from the first record on. */
static bool unit_page_make(reef_world *w)
{
    reef_status s;
    if (w->hot.chunks.count && w->hot.chunks.page[0]) return true;
    if (reef__graph_table(w, NULL, 0, &s) == 0) return false;
    chunk_page *page = reef__page_own(w, &w->hot.chunks, &reef__pages_chunks, 0);
    if (page == NULL) return false;
    page->slots[REEF_UNIT_SLOTS].head.table = TABLE_EMPTY;
    page->used = 2;
    return true;
}

COLD bool reef__records_reserve(reef_world *w, uint32_t from, uint32_t end)
{
    if (from >= end) return true;
    uint32_t pages = ((end - 1) >> REEF_RECORD_BITS) + 1;
    if (!unit_page_make(w) || !reef__pages_grow(w, &w->hot.records, &reef__pages_records, pages)) return false;
    for (uint32_t p = from >> REEF_RECORD_BITS; p < pages; p++)
        if (records_own(w, p) == NULL) return false;
    return true;
}

bool reef__records_reserved(const reef_world *w, uint32_t index)
{
    const uint32_t page = index >> REEF_RECORD_BITS;
    const size_t bytes = (records_end(w, index) - index) * sizeof(uint64_t);
    records_blank_ready();
    return records_are_blank(w, page) || memcmp(w->hot.records.page[page], reef__records_blank, bytes) == 0;
}

COLD bool reef__records_add(reef_world *w, uint32_t from, uint32_t end)
{
    reef_paged *records = &w->hot.records;
    const uint32_t first = from >> REEF_RECORD_BITS, pages = ((end - 1) >> REEF_RECORD_BITS) + 1;
    const paged_owner o = reef__owner_of(w->family, &reef__pages_records);
    records_blank_ready();
    if (!unit_page_make(w) || !reef__pages_grow(w, records, &reef__pages_records, pages)) return false;
    for (uint32_t p = first; p < pages; p++) {
        const bool empty = records->page[p] == NULL || records_are_blank(w, p);
        if (empty ? !reef__paged_blank(records, &o, p, w->hot.version, w->hot.fork_version) : !records_own(w, p))
            return false;
    }
    for (uint64_t i = from; i < end; i++) {
        if (records_are_blank(w, (uint32_t)i >> REEF_RECORD_BITS)) i |= RECORDS_PER_PAGE - 1;
        else record_put_rowless(w, (reef_entity){(uint32_t)i, 1}, PLACE_RESERVED);
    }
    w->hot.index_count = end;
    w->state.reserved_count += end - from;
    reef__invalidate(w, INVALIDATE_INDICES_CHANGED | INVALIDATE_WRITTEN);
    return true;
}

/* ---- the ring ---- */

static uint64_t ring_count(const reef_world *w) { return w->state.ring_tail - w->state.ring_head; }

static uint32_t ring_read(const reef_world *w, uint64_t position) { return *ring_at(w, position); }

static uint32_t *ring_page(reef_world *w, uint64_t position)
{
    reef_paged *ring = &w->state.ring;
    const uint32_t slot = ring_slot(w, position);
    uint32_t *page = reef__page_own(w, ring, &reef__pages_ring, slot);
    if (page) ring->version[slot] = w->hot.version; /* the hash sees by the version that the page was written */
    reef__invalidate(w, INVALIDATE_WRITTEN);
    return page;
}

/* Makes room for n more ids, at whatever position they begin: a ring that has room for a load never grows again under
 * the same load. */
bool reef__ring_room(reef_world *w, uint64_t n)
{
    state *s = &w->state;
    const uint64_t pages = (ring_count(w) + n + RING_PER_PAGE - 2) / RING_PER_PAGE + 1;
    if (pages <= s->ring.count) return true;
    const uint64_t bytes = sizeof(uint32_t);
    if (!reef__ring_enlarge(w, &reef__pages_ring, &s->ring, s->ring_head * bytes, s->ring_tail * bytes, pages))
        return false;
    reef__invalidate(w, INVALIDATE_RING_MOVED);
    return true;
}

bool reef__ring_own(reef_world *w, uint64_t from, uint64_t to)
{
    for (uint64_t page = from / RING_PER_PAGE; from < to && page <= (to - 1) / RING_PER_PAGE; page++)
        if (!ring_page(w, page * RING_PER_PAGE)) return false;
    return true;
}

COLD bool reef__ring_squeezed(reef_world *w)
{
    state *s = &w->state;
    if (s->ring_holes == 0) return true;
    if (!reef__ring_own(w, s->ring_head, s->ring_tail)) return false;
    uint64_t to = s->ring_head;
    for (uint64_t at = to; at < s->ring_tail; at++)
        if (ring_read(w, at) != RING_HOLE) *ring_at(w, to++) = ring_read(w, at);
    s->ring_tail = to;
    s->ring_holes = 0;
    reef__invalidate(w, INVALIDATE_RING_MOVED);
    return true;
}

bool reef__id_free_prepare(reef_world *w)
{
    if (w->config.never_reuse) return true;
    if (!lanes_finish(w) || !reef__ring_room(w, 1)) return false;
    if (w->ring_next != w->ring_end) return true;
    uint32_t *page = ring_page(w, w->state.ring_tail);
    if (page == NULL) return false;
    w->ring_next = page + w->state.ring_tail % RING_PER_PAGE;
    w->ring_end = page + RING_PER_PAGE;
    return true;
}

bool reef__ids_free_prepare(reef_world *w, uint64_t n)
{
    if (w->config.never_reuse || n == 0) return true;
    return lanes_finish(w) && reef__ring_room(w, n) && reef__ring_own(w, w->state.ring_tail, w->state.ring_tail + n);
}

INLINE void id_free(reef_world *w, reef_entity e)
{
    bool last = e.generation == UINT32_MAX;
    if (last || w->config.never_reuse) {
        record_put_rowless(w, e, PLACE_RETIRED);
        w->state.retired_count++;
        return;
    }
    e.generation += 1;
    record_put_rowless(w, e, PLACE_FREE); /* the hash must see it: the entity may have had no row */
    *w->ring_next++ = e.index;
    w->state.ring_tail++;
}

void reef__ids_free(reef_world *w, const reef_entity *e, uint32_t n)
{
    reef__invalidate(w, INVALIDATE_INDICES_CHANGED);
    for (uint32_t i = n; i-- > 0;) {
        const bool ready = w->ring_next != w->ring_end || reef__id_free_prepare(w);
        ASSERT(ready);
        (void)ready;
        id_free(w, e[i]);
    }
}

/* ---- new ids ---- */

uint64_t reef__ids_left(const reef_world *w) { return ring_count(w) + (index_limit(w) - w->hot.index_count); }

reef_status reef__ids_prepare(reef_world *w, uint32_t n)
{
    state *s = &w->state;
    if (w->running) return REEF_LOCKED;
    if (!lanes_finish(w) || (s->ring_holes && !reef__ring_squeezed(w))) return REEF_NO_MEMORY;
    uint64_t recycled = ring_count(w) < n ? ring_count(w) : n, fresh = n - recycled;
    if (fresh > index_limit(w) - w->hot.index_count) return REEF_LIMIT;
    for (uint64_t k = 0; k < recycled; k++) {
        uint32_t index = ring_read(w, s->ring_head + k);
        if (!record_owned(w, index) && reef__record_own(w, index) == NULL) return REEF_NO_MEMORY;
    }
    const uint32_t from = w->hot.index_count, page = from >> REEF_RECORD_BITS, used = from & (RECORDS_PER_PAGE - 1);
    if (LIKELY(used && used + fresh <= RECORDS_PER_PAGE) && !records_are_blank(w, page) && record_owned(w, from))
        return REEF_OK;
    return reef__records_reserve(w, from, from + (uint32_t)fresh) ? REEF_OK : REEF_NO_MEMORY;
}

reef_entity reef__id_peek(const reef_world *w, uint32_t k)
{
    uint64_t recycled = ring_count(w);
    if (k >= recycled) return (reef_entity){w->hot.index_count + (uint32_t)(k - recycled), 1};
    uint32_t index = ring_read(w, w->state.ring_head + k);
    return (reef_entity){index, (uint32_t)(record_read(w, index) >> 32)};
}

uint32_t reef__ids_peek(const reef_world *w, uint32_t first, uint32_t n, reef_entity *e)
{
    uint64_t recycled = ring_count(w);
    uint32_t used = recycled <= first ? 0 : recycled - first < n ? (uint32_t)(recycled - first) : n;
    for (uint32_t i = 0; i < used; i++) e[i] = reef__id_peek(w, first + i);
    const uint32_t next = w->hot.index_count + first + used - (uint32_t)recycled, left = n - used;
    e += used;
    for (uint32_t i = 0; i < left; i++) e[i] = (reef_entity){next + i, 1};
    return used;
}

/* Finds indices that the fast paths may give out: those of the last page, if this world owns it and no id waits in the
 * ring. */
static void fresh_open(reef_world *w)
{
    reef_hot *h = &w->hot;
    reef__invalidate(w, INVALIDATE_INDICES_CHANGED);
    if (ring_count(w) != 0 || w->locks || w->slow & ~(SLOW_BOUND | SLOW_OBSERVED) || h->index_count == 0) return;
    uint32_t page = h->index_count >> REEF_RECORD_BITS, limit = index_limit(w);
    if (page_ours(&h->records, page, h->fork_version) == NULL || records_are_blank(w, page)) return;
    uint64_t end = ((uint64_t)page + 1) << REEF_RECORD_BITS;
    h->fresh_end = end < limit ? (uint32_t)end : limit;
    h->fresh_page = h->records.page[page];
    record_mark(w, h->index_count);
}

void reef__ids_commit(reef_world *w, uint32_t n)
{
    uint64_t recycled = ring_count(w) < n ? ring_count(w) : n;
    w->state.ring_head += recycled;
    w->hot.index_count += n - (uint32_t)recycled;
    fresh_open(w);
}

bool reef__id_recycle(reef_world *w, reef_entity *e)
{
    state *s = &w->state;
    if (w->hot.gate_move != w->hot.version || w->slow & ~(SLOW_BOUND | SLOW_OBSERVED) || w->lane_rest ||
        s->ring_head == s->ring_tail || s->ring_holes)
        return false;
    *e = reef__id_peek(w, 0);
    s->ring_head++;
    if (s->ring_head == s->ring_tail) fresh_open(w);
    return true;
}

void reef__ids_pend(reef_world *w, const reef_entity *e, uint32_t n)
{
    reef__ids_commit(w, n);
    for (uint32_t i = 0; i < n; i++) record_put_rowless(w, e[i], PLACE_PENDING);
    w->state.reserved_count += n;
}

void reef__records_fresh(reef_world *w, uint32_t index, uint32_t n, bool out)
{
    const uint64_t record = (uint64_t)1 << 32 | (out ? PLACE_PENDING : PLACE_FREE);
    if (n == 0) return; /* the index may be behind the last page */
    uint64_t *at = (uint64_t *)w->hot.records.page[index >> REEF_RECORD_BITS] + (index & (RECORDS_PER_PAGE - 1));
    for (uint32_t i = 0; i < n; i++) at[i] = record;
}

bool reef__id_pending(const reef_world *w, reef_entity e)
{
    return e.index < w->hot.index_count && record_read(w, e.index) == record_pending(e);
}

bool reef__id_unpend(reef_world *w, reef_entity e)
{
    if (!reef__record_own(w, e.index) || !reef__id_free_prepare(w)) return false;
    w->unpended++;
    w->state.reserved_count--;
    reef__ids_free(w, &e, 1);
    return true;
}

/* ---- given ids ---- */

COLD reef_entity reef_reserve_id(reef_world *w)
{
    reef_entity null = {0, 0};
    if (!WORLD_GIVEN(w)) return null;
    reef_status s = w->locks ? REEF_LOCKED : reef__ids_prepare(w, 1);
    if (s != REEF_OK) {
        reef__failure(w, s, "reef_reserve_id", (reef_component){0}, null, w->hot.index_count);
        return null;
    }
    reef_entity e = reef__id_peek(w, 0);
    reef__ids_commit(w, 1);
    record_put_rowless(w, e, PLACE_RESERVED);
    w->state.reserved_count++;
    return e;
}

COLD reef_entity reef_reserve_range(reef_world *w, uint32_t count)
{
    const reef_entity null = {0, 0};
    if (!WORLD_GIVEN(w)) return null;
    reef_status s = w->locks || w->running ? REEF_LOCKED
                    : count == 0           ? refuse_because(w, "a range has at least one id")
                                           : REEF_OK;
    if (s == REEF_OK && !lanes_finish(w)) s = REEF_NO_MEMORY;
    const uint32_t from = w->hot.index_count;
    if (s == REEF_OK && count > index_limit(w) - from) s = REEF_LIMIT;
    if (s == REEF_OK && !reef__records_add(w, from, from + count)) s = REEF_NO_MEMORY;
    if (s == REEF_OK) return (reef_entity){from, 1};
    reef__failure(w, s, "reef_reserve_range", (reef_component){0}, null, count);
    return null;
}

static uint32_t record_place(const reef_world *w, uint32_t index)
{
    return index < w->hot.index_count ? (uint32_t)record_read(w, index) : PLACE_RETIRED;
}

COLD reef_status reef_release_id(reef_world *w, reef_entity e)
{
    static const char op[] = "reef_release_id";
    reef_component none = {0};
    if (!WORLD_GIVEN(w)) return REEF_BAD_ARGUMENT;
    if (w->locks) return reef__failure(w, REEF_LOCKED, op, none, e, 0);
    if (record_place(w, e.index) != PLACE_RESERVED || record_read(w, e.index) >> 32 != e.generation)
        return reef__misuse(w, op, none, e, "it isn't the id that reef_reserve_id gave, or it was used");
    if (!reef__record_own(w, e.index) || !reef__id_free_prepare(w))
        return reef__failure(w, REEF_NO_MEMORY, op, none, e, 0);
    w->state.reserved_count--;
    reef__ids_free(w, &e, 1); /* the caller has seen its generation, so the next owner gets another one */
    return REEF_OK;
}

/* Takes a free id out of the ring and leaves a hole. */
static bool ring_take(reef_world *w, uint32_t index)
{
    for (uint64_t at = w->state.ring_head; at < w->state.ring_tail; at++) {
        if (ring_read(w, at) != index) continue;
        uint32_t *page = ring_page(w, at);
        if (page == NULL) return false;
        page[at % RING_PER_PAGE] = RING_HOLE;
        w->state.ring_holes++;
        return true;
    }
    ASSERT(index == RING_HOLE); /* every free id is in the ring */
    return false;
}

/* Makes all indices up to `index` exist; those before it become free ids. */
static COLD reef_status index_extend(reef_world *w, uint32_t index)
{
    const uint32_t from = w->hot.index_count;
    const bool reuse = !w->config.never_reuse;
    if (index >= index_limit(w)) return REEF_LIMIT;
    if (!reef__records_reserve(w, from, index + 1) || !reef__ids_free_prepare(w, index - from)) return REEF_NO_MEMORY;
    for (uint32_t i = from; i < index; i++) {
        record_put_rowless(w, (reef_entity){i, 1}, reuse ? PLACE_FREE : PLACE_RETIRED);
        if (reuse) *ring_at(w, w->state.ring_tail++) = i;
    }
    if (!reuse) w->state.retired_count += index - from;
    w->hot.index_count = index + 1;
    reef__invalidate(w, INVALIDATE_RING_MOVED);
    return REEF_OK;
}

COLD reef_status reef_create_as(reef_world *w, reef_entity e)
{
    static const char op[] = "reef_create_as";
    reef_component none = {0};
    if (!WORLD_GIVEN(w)) return REEF_BAD_ARGUMENT;
    if (w->locks) return reef__failure(w, REEF_LOCKED, op, none, e, 0);
    if (e.generation == 0) return reef__misuse(w, op, none, e, "the null entity can't be made");
    if (!lanes_finish(w)) return reef__failure(w, REEF_NO_MEMORY, op, none, e, 0);
    reef_status s = REEF_OK;
    if (e.index >= w->hot.index_count) {
        s = index_extend(w, e.index);
    } else {
        uint64_t record = record_read(w, e.index);
        uint32_t place = (uint32_t)record;
        if (place >= PLACE_EMPTY || place == PLACE_PENDING) s = REEF_EXISTS;
        else if (place == PLACE_RETIRED || e.generation < (uint32_t)(record >> 32))
            s = refuse_because(w, "an entity with this index and this or a later generation has lived");
        else if (!reef__record_own(w, e.index)) s = REEF_NO_MEMORY;
        else if (place == PLACE_RESERVED) w->state.reserved_count--;
        else if (!ring_take(w, e.index)) s = REEF_NO_MEMORY;
    }
    if (s != REEF_OK) return reef__failure(w, s, op, none, e, e.index);
    record_put_rowless(w, e, PLACE_EMPTY);
    w->hot.empty_count++;
    fresh_open(w);
    return REEF_OK;
}

reef_status reef_reserve(reef_world *w, uint32_t count)
{
    if (!WORLD_GIVEN(w)) return REEF_BAD_ARGUMENT;
    reef_status s = reef__ids_prepare(w, count);
    if (s != REEF_OK) reef__failure(w, s, "reef_reserve", (reef_component){0}, (reef_entity){0, 0}, count);
    return s;
}

/* ---- asking ---- */

bool reef_is_alive(const reef_world *w, reef_entity e) { return WORLD_GIVEN(w) && place_of(w, e) != PLACE_DEAD; }

reef_entity reef_entity_at(const reef_world *w, uint32_t index)
{
    if (!WORLD_GIVEN(w) || index >= w->hot.index_count) return (reef_entity){0, 0};
    uint64_t r = record_read(w, index);
    return (uint32_t)r >= PLACE_EMPTY ? (reef_entity){index, (uint32_t)(r >> 32)} : (reef_entity){0, 0};
}

uint64_t reef_count_alive(const reef_world *w)
{
    if (!WORLD_GIVEN(w)) return 0;
    uint64_t n = w->hot.empty_count;
    EACH_TABLE(w, t) n += table_rows(t);
    return n;
}

/* ---- validation ---- */

static reef_status wrong(char *message, size_t size, const char *what, uint32_t index)
{
    return reef__corrupt(message, size, "index: %s at %u", what, index);
}

COLD reef_status reef__index_validate(const reef_world *w, uint64_t *placed, char *message, size_t size)
{
    *placed = 0;
    uint64_t empty = 0, waiting = 0, reserved = 0, gone = 0;
    for (uint32_t i = 0; i < w->hot.index_count; i++) {
        if (i % RECORDS_PER_PAGE == 0 && records_are_blank(w, i >> REEF_RECORD_BITS)) {
            reserved += records_end(w, i) - i;
            i = records_end(w, i) - 1;
            continue;
        }
        uint32_t place = record_place(w, i);
        if (record_read(w, i) >> 32 == 0) return wrong(message, size, "generation 0", i);
        empty += place == PLACE_EMPTY;
        waiting += place == PLACE_FREE;
        reserved += place == PLACE_RESERVED || place == PLACE_PENDING;
        gone += place == PLACE_RETIRED;
        if (place > PLACE_EMPTY && place < PLACE_EMPTY + REEF_BLOCK_ROWS)
            return wrong(message, size, "a row in unit 1", i);
        if (place > PLACE_PENDING && place < PLACE_EMPTY) return wrong(message, size, "a row in unit 0", i);
        *placed += place >= 2 * PLACE_EMPTY;
    }
    if (empty != w->hot.empty_count)
        return wrong(message, size, "wrong number of entities without row", w->hot.empty_count);
    if (reserved != w->state.reserved_count)
        return wrong(message, size, "wrong number of reserved ids", w->state.reserved_count);
    if (gone != w->state.retired_count)
        return wrong(message, size, "wrong number of retired ids", w->state.retired_count);
    for (uint64_t at = w->state.ring_head; at < w->state.ring_tail; at++) {
        uint32_t index = ring_read(w, at);
        if (index == RING_HOLE) continue;
        if (index >= w->hot.index_count || record_place(w, index) != PLACE_FREE)
            return wrong(message, size, "a free id that isn't free", index);
        waiting--;
    }
    if (waiting != 0) return wrong(message, size, "free ids outside of the ring, or in it twice", (uint32_t)waiting);
    if ((w->hot.fresh_end > w->hot.index_count) && ring_count(w) != 0)
        return wrong(message, size, "fresh ids before free ones", 0);
    return REEF_OK;
}
