/* Ids that jobs give out while they run. The id with number k in lane l of L lanes has position ((k / 64) * L + l) * 64
 * + k % 64 in the sequence "free ids, the oldest first, then fresh indices":
 *
 *   lane     0        1        2        0        1        2
 *   ids   |■■■■■■■■|■■■□□□□□|■■■■■■■■|■■□□□□□□|□□□□□□□□|■□□         ■ given out   □ passed over   (in runs of 64)
 *
 * So an id depends on the state of the world, on L and on what its own job did, and a job that gives one out writes
 * nothing but its count. Nothing behind the last ■ is touched. Afterwards the ids that were given out are pending. Free
 * ids that were passed over stay free, before those that are left. Fresh indices that were passed over become free ids,
 * behind all others. */
#include "storage/id_lanes.h"
#include "base/thread_pool.h"
#include "storage/entity_index.h"
#include "storage/invalidate.h"

enum {
    LANE_RUN = 64,
    /* from this many pages of records on, other threads help to write them: one page takes some 20 us */
    LANE_SHARED = 4
};

static uint64_t lane_position(uint64_t k, uint32_t lane, uint32_t lanes)
{
    return (k / LANE_RUN * lanes + lane) * LANE_RUN + k % LANE_RUN;
}

/* Finds the next ids of the lane, up to the end of their run or of their page of the ring. */
static reef_status lane_look(id_lane *j)
{
    ASSERT(j->lane < j->lanes);
    const uint64_t at = lane_position(j->made, j->lane, j->lanes);
    const reef_world *w = j->world;
    const uint64_t left = reef__ids_left(w), recycled = w->state.ring_tail - w->state.ring_head;
    if (at >= left) return REEF_LIMIT;
    uint64_t rest = LANE_RUN - at % LANE_RUN;
    if (at >= recycled) {
        j->fresh = w->hot.index_count + (uint32_t)(at - recycled);
        j->fresh_count = (uint32_t)(rest < left - at ? rest : left - at);
        return REEF_OK;
    }
    const uint64_t place = w->state.ring_head + at, page_rest = RING_PER_PAGE - place % RING_PER_PAGE;
    if (rest > page_rest) rest = page_rest;
    j->recycled = ring_at(w, place);
    j->recycled_count = (uint32_t)(rest < recycled - at ? rest : recycled - at);
    return REEF_OK;
}

reef_status reef__lane_next(id_lane *j, reef_entity *e)
{
    if (UNLIKELY((j->fresh_count | j->recycled_count) == 0)) {
        const reef_status s = lane_look(j);
        if (s != REEF_OK) return s;
    }
    if (j->fresh_count) {
        *e = lane_again(j);
        return REEF_OK;
    }
    const uint32_t index = *j->recycled++;
    j->recycled_count--;
    j->made++;
    *e = (reef_entity){index, (uint32_t)(record_read(j->world, index) >> 32)};
    return REEF_OK;
}

lane_ids reef__lane_ids_of(const id_lane *j)
{
    const reef_world *w = j->world;
    return (lane_ids){j->made - 1, j->lane, j->lanes,
                      w->hot.index_count - (uint32_t)(w->state.ring_tail - w->state.ring_head)};
}

uint32_t reef__lane_ids_run(const lane_ids *x, uint32_t at, uint32_t n, uint32_t *index)
{
    const uint64_t k = (uint64_t)x->first + at;
    const uint32_t rest = LANE_RUN - (uint32_t)(k % LANE_RUN);
    *index = x->base + (uint32_t)lane_position(k, x->lane, x->lanes);
    return rest < n ? rest : n;
}

void reef__lane_ids_name(const lane_ids *x, uint32_t at, uint32_t n, reef_entity *to)
{
    for (uint32_t i = 0, end, index; i < n; i = end) {
        end = i + reef__lane_ids_run(x, at + i, n - i, &index);
        index -= i;
        for (uint32_t k = i; k < end; k++) to[k] = (reef_entity){index + k, 1};
    }
}

/* What a set of lanes did to the sequence. */
typedef struct lane_sum {
    const uint32_t *made;
    uint32_t lanes;
    uint64_t recycled;    /* number of free ids in the sequence; fresh indices follow */
    uint64_t end;         /* the position behind the last id that was given out */
    uint64_t out, passed; /* number of ids that were given out; number of fresh indices that were passed over */
    uint32_t fresh;       /* number of fresh indices that were given out */
} lane_sum;

/* How many ids of run q were given out: the first ones. */
static uint32_t run_out(const lane_sum *x, uint64_t q)
{
    const uint64_t first = q / x->lanes * LANE_RUN, made = x->made[q % x->lanes];
    return made <= first ? 0 : made - first < LANE_RUN ? (uint32_t)(made - first) : LANE_RUN;
}

static lane_sum lanes_sum(const reef_world *w, const uint32_t *made, uint32_t lanes)
{
    lane_sum x = {made, lanes, w->state.ring_tail - w->state.ring_head, 0, 0, 0, 0};
    for (uint32_t l = 0; l < lanes; l++) {
        const uint64_t end = made[l] ? lane_position(made[l] - 1u, l, lanes) + 1 : 0;
        if (end > x.end) x.end = end;
        x.out += made[l];
    }
    for (uint64_t q = x.recycled / LANE_RUN; q * LANE_RUN < x.end; q++) {
        uint64_t from = q * LANE_RUN + run_out(&x, q), to = (q + 1) * LANE_RUN;
        if (from < x.recycled) from = x.recycled;
        if (to > x.end) to = x.end;
        if (from < to) x.passed += to - from;
    }
    if (x.end > x.recycled) x.fresh = (uint32_t)(x.end - x.recycled - x.passed);
    return x;
}

/* The free ids that are touched are those at positions before this one. */
static uint64_t lane_near(const lane_sum *x) { return x->end < x->recycled ? x->end : x->recycled; }

static bool lanes_prepare(reef_world *w, const lane_sum *x)
{
    const state *s = &w->state;
    const uint64_t near = lane_near(x);
    const uint32_t index = w->hot.index_count;
    if (!reef__records_reserve(w, index, index + (uint32_t)(x->end - near))) return false;
    for (uint64_t q = 0; q * LANE_RUN < near; q++) {
        for (uint64_t at = q * LANE_RUN, end = at + run_out(x, q); at < end && at < near; at++) {
            const uint32_t i = *ring_at(w, s->ring_head + at);
            if (!record_owned(w, i) && reef__record_own(w, i) == NULL) return false;
        }
    }
    if (x->passed && (!reef__ring_room(w, x->passed) || !reef__ring_own(w, s->ring_tail, s->ring_tail + x->passed)))
        return false;
    return reef__ring_own(w, s->ring_head, s->ring_head + near);
}

/* Moves the free ids that were passed over up to those that are left, the last one first. */
static void lanes_recycled(reef_world *w, const lane_sum *x)
{
    state *s = &w->state;
    const uint64_t near = lane_near(x);
    uint64_t to = s->ring_head + near;
    for (uint64_t q = (near + LANE_RUN - 1) / LANE_RUN; q-- > 0;) {
        const uint64_t first = q * LANE_RUN, free = first + run_out(x, q);
        uint64_t at = first + LANE_RUN < near ? first + LANE_RUN : near;
        while (at > free) *ring_at(w, --to) = *ring_at(w, s->ring_head + --at);
        s->reserved_count += (uint32_t)(at - first);
        for (; at > first; at--) {
            const uint32_t index = *ring_at(w, s->ring_head + at - 1);
            record_put_rowless(w, (reef_entity){index, (uint32_t)(record_read(w, index) >> 32)}, PLACE_PENDING);
        }
    }
    s->ring_head = to;
}

typedef struct lane_records {
    reef_world *w;
    const lane_sum *x;
    uint32_t from, end; /* the fresh indices */
} lane_records;

/* Writes the records of the i-th page. */
static void lane_page(void *data, uint32_t i)
{
    const lane_records *r = data;
    const uint32_t page = (r->from >> REEF_RECORD_BITS) + i;
    uint64_t index = (uint64_t)page << REEF_RECORD_BITS, end = index + RECORDS_PER_PAGE;
    if (index < r->from) index = r->from;
    if (end > r->end) end = r->end;
    if (index == (uint64_t)page << REEF_RECORD_BITS && end - index > RECORDS_PER_PAGE / 2)
        reef__memory_touch(r->w->hot.records.page[page], (size_t)(end - index) * sizeof(uint64_t));
    while (index < end) {
        const uint64_t at = r->x->recycled + (index - r->from), q = at / LANE_RUN, rest = (q + 1) * LANE_RUN - at;
        const uint64_t out = q * LANE_RUN + run_out(r->x, q), n = rest < end - index ? rest : end - index;
        const uint64_t some = out <= at ? 0 : out - at < n ? out - at : n;
        reef__records_fresh(r->w, (uint32_t)index, (uint32_t)some, true);
        reef__records_fresh(r->w, (uint32_t)(index + some), (uint32_t)(n - some), false);
        index += n;
    }
    r->w->hot.records.version[page] = r->w->hot.version; /* as record_mark does */
}

/* Makes the fresh indices that were passed over free ids, behind all others. */
static void lanes_pass(reef_world *w, const lane_sum *x, uint32_t index)
{
    for (uint64_t q = x->recycled / LANE_RUN; q * LANE_RUN < x->end; q++) {
        uint64_t at = q * LANE_RUN + run_out(x, q), end = (q + 1) * LANE_RUN;
        if (at < x->recycled) at = x->recycled;
        if (end > x->end) end = x->end;
        for (; at < end; at++) *ring_at(w, w->state.ring_tail++) = index + (uint32_t)(at - x->recycled);
    }
}

/* Makes the records of fresh indices. Half of that time is the first touch of their memory, so all threads take
 * part. */
static void lanes_fresh(reef_world *w, const lane_sum *x)
{
    const uint32_t index = w->hot.index_count;
    if (x->end <= x->recycled) return;
    w->hot.index_count += (uint32_t)(x->end - x->recycled);
    w->state.reserved_count += x->fresh;
    lane_records r = {w, x, index, w->hot.index_count};
    const uint32_t pages = ((r.end - 1) >> REEF_RECORD_BITS) - (r.from >> REEF_RECORD_BITS) + 1;
    reef__pool_share(pages < LANE_SHARED ? NULL : w->pool, pages, lane_page, &r);
    reef__invalidate(w, INVALIDATE_WRITTEN);
    lanes_pass(w, x, index);
}

static bool lanes_take(reef_world *w, const uint32_t *made, uint32_t lanes)
{
    const lane_sum x = lanes_sum(w, made, lanes);
    if (x.out == 0) return true;
    if (!lanes_prepare(w, &x)) return false;
    if (w->deferred.first == NULL) w->unpended = 0; /* no command is older than these ids */
    lanes_recycled(w, &x);
    lanes_fresh(w, &x);
    reef__invalidate(w, INVALIDATE_RING_MOVED);
    reef__ids_commit(w, 0);
    return true;
}

bool reef__lanes_begin(reef_world *w, uint32_t lanes)
{
    if (!lanes_finish(w) || !reef__ring_squeezed(w)) return false;
    return reef__array_room(&w->family->memory, MEMORY_OTHER, &w->lane_made, &w->lane_room, lanes,
                            sizeof *w->lane_made);
}

reef_status reef__lanes_end(reef_world *w, const uint32_t *made, uint32_t lanes)
{
    if (lanes == 0 || lanes_take(w, made, lanes)) return REEF_OK;
    ASSERT(lanes <= w->lane_room);
    memcpy(w->lane_made, made, lanes * sizeof *made);
    w->lane_rest = lanes;
    /* closes the fast paths that give out an id or get one back */
    reef__invalidate(w, INVALIDATE_INDICES_CHANGED | INVALIDATE_RING_MOVED);
    return REEF_NO_MEMORY;
}

COLD bool reef__lanes_retry(reef_world *w)
{
    if (!lanes_take(w, w->lane_made, w->lane_rest)) return false;
    w->lane_rest = 0;
    return true;
}

void reef__lanes_drop(reef_world *w)
{
    reef__memory_free(&w->family->memory, MEMORY_OTHER, w->lane_made, w->lane_room * sizeof *w->lane_made);
    w->lane_made = NULL;
    w->lane_room = 0;
}
