/* The fast path for phases of simple systems, in a world without a thread pool: there is nothing to lay out, each block
 * is stamped and handed to the system, and hardly anything has to be joined. Rows: small_world_tick, tick_100.
 *
 * What the last look found stays in phase_plan and its quick systems, one cache line each. While the world's numbers
 * are those of that look, all queries know all tables and nothing that the systems write is shared. */
#include "system/simple_phase.h"
#include "storage/command_buffer.h"
#include "storage/id_lanes.h"
#include "storage/place.h"
#include "storage/table.h"
#include "change/command.h"
#include "query/iterate.h"
#include "query/query.h"
#include "system/event.h"
#include "system/job.h"
#include "system/phase.h"
#include "system/system.h"

/* Is everything as it was when reef__phase_know looked? */
INLINE bool phase_is_same(const reef_world *w, const phase_plan *p)
{
    return p->tables_epoch == w->tables_epoch && p->told == w->told && p->state_epoch == w->state_epoch &&
           p->fork_version == w->hot.fork_version;
}

/* Called when the queries know all tables, so that the matches stay where they are. */
static void quick_put(const planned_system *ps, uint32_t number, quick *x)
{
    const query *q = ps->query;
    x->function = ps->system->function;
    x->context = ps->system->context;
    x->system = ps->system;
    x->query = ps->query;
    x->first = q ? match_at(q, 0) : NULL;
    x->end = q ? match_end(q) : NULL;
    x->match_bytes = q ? q->head.match_bytes : 0;
    x->number = (uint16_t)number;
    x->write_count = q ? (uint16_t)q->head.write_count : 0;
}

COLD void reef__phase_know(reef_world *w, phase_plan *p)
{
    const ticking *k = w->ticking;
    p->known = p->simple && w->hot.chunks.shared == 0;
    for (uint32_t i = p->first; p->known && i < p->end; i++) {
        const planned_system *ps = &k->plan[i];
        p->known = !ps->on || ps->query == NULL || !(ps->query->looks || ps->query->fixed || planned_must_claim(w, ps));
    }
    p->quick_end = p->first;
    for (uint32_t i = p->first; p->known && i < p->end; i++)
        if (k->plan[i].on) quick_put(&k->plan[i], i - p->first, &k->quicks[p->quick_end++]);
    p->tables_epoch = w->tables_epoch;
    p->told = w->told;
    p->state_epoch = w->state_epoch;
    p->fork_version = w->hot.fork_version;
}

/* Makes this world the only holder of what a planned system writes. False: no memory. */
static bool planned_settle(reef_world *w, planned_system *ps)
{
    const query *q = ps->query;
    for (uint32_t i = 0; i < q->match_count; i++) {
        const match *m = match_at(q, i);
        const table *t = m->table;
        if (table_rows(t) == 0) continue;
        for (uint32_t unit = t->first; unit; unit = unit_slots(w, unit)[0].head.next)
            for (uint32_t k = 0; k < q->head.write_count; k++) {
                const reef_slot *slots = unit_slots(w, unit);
                const uint32_t slot = (uint32_t)(reef_slot_of(slots, m, k) - slots);
                if (!reef__block_own_at(w, t, unit, slot)) return false;
            }
    }
    planned_claimed(w, ps);
    return true;
}

/* After a fork or a restore, or when a table was made, this does for simple systems what reef__phase_run prepares, but
 * without jobs: the queries get to know all tables, and this world becomes the only holder of what the systems write.
 * So a small world that goes back again and again stays on the fast path. (small_world_tick: 2.7 us without, 1.1 with.)
 * False: no memory, or the phase isn't quick, or it reads others' rows, whose indexes reef__phase_run prepares. It does
 * all of it then, and what was done here is right for it, too. */
static COLD bool phase_settle(reef_world *w, phase_plan *p)
{
    const ticking *k = w->ticking;
    if (!p->simple || p->reads || phase_is_same(w, p) || w->state.absent_count || !reef__events_ready(w)) return false;
    for (uint32_t i = p->first; i < p->end; i++) {
        planned_system *ps = &k->plan[i];
        if (!ps->on || ps->query == NULL) continue;
        if (!query_update(ps->query) || ps->query->looks || ps->query->fixed || !reef__planned_rows_prepare(w, ps))
            return false;
    }
    for (uint32_t i = p->first; i < p->end; i++) { /* pages may have moved */
        planned_system *ps = &k->plan[i];
        if (!ps->on || ps->query == NULL) continue;
        if (!query_update(ps->query) || (planned_must_claim(w, ps) && !planned_settle(w, ps))) return false;
    }
    reef__phase_know(w, p);
    return p->known;
}

INLINE void quick_chunk(const quick *x, reef_block *b, const match *m, reef_slot *slots, uint64_t version)
{
    b->loop.column = reef_slot_of(slots, m, 0);
    b->entities = slot_entities(slots);
    if (LIKELY(x->write_count == 1)) ((reef_slot *)(uintptr_t)reef_slot_of(slots, m, 0))->version = version;
    else
        for (uint32_t i = 0; i < x->write_count; i++)
            ((reef_slot *)(uintptr_t)reef_slot_of(slots, m, i))->version = version;
    x->function(b);
}

static void quick_chunks(const quick *x, reef_block *b, const match *m, reef_slot *slots, uint64_t version)
{
    const table *t = m->table;
    for (uint32_t next; (next = slots[0].head.next) != 0; slots = unit_slots(b->world, next)) {
        b->loop.next_unit = next;
        b->count = REEF_BLOCK_ROWS;
        quick_chunk(x, b, m, slots, version);
    }
    b->loop.next_unit = REEF_GO_TABLE;
    b->count = t->next - unit_place(t->last);
    quick_chunk(x, b, m, slots, version);
}

INLINE void quick_rows(const quick *x, reef_block *b, const match *m, uint64_t version)
{
    const table *t = m->table;
    const uint32_t unit = t->first, count = t->next - unit_place(unit);
    if (count == 0) return; /* this is also the case for a table without chunks: 0 - 0 */
    reef_slot *slots =
        (reef_slot *)(uintptr_t)(LIKELY(m->unit == unit) ? match_first(m) : reef__match_slots(b, m, unit));
    b->loop.match = m;
    if (UNLIKELY(slots[0].head.next != 0)) {
        quick_chunks(x, b, m, slots, version);
        return;
    }
    b->loop.next_unit = REEF_GO_TABLE;
    b->count = count;
    quick_chunk(x, b, m, slots, version);
}

/* Every system may give commands for systems. */
static COLD reef_status simple_join(reef_world *w, ticking *k)
{
    job *j = &k->quick_job;
    const reef_error why = j->error;
    const bool short_of_memory = j->short_of_memory;
    reef_status s = REEF_OK;
    j->short_of_memory = false;
    reef__commands_append(&w->deferred, &j->commands);
    if (w->deferred.count) {
        w->slow |= SLOW_DEFERRED;
        s = reef__phase_deferred_do(w, k);
    }
    if (!short_of_memory) return s;
    w->error = why;
    return REEF_NO_MEMORY;
}

/* Does what reef__phase_run does, for simple systems: there is nothing to prepare, each block is stamped and handed
 * out, and hardly anything has to be joined. A system of one block costs some 40 instructions beside its call; with
 * jobs it would cost 900. */
bool reef__phase_run_simple(reef_world *w, phase_plan *p, float dt, reef_status *s)
{
    ticking *k = w->ticking;
    if (watching(w) || w->pool || k->measures || k->trace.begin || k->trace.end) return false;
    if (!(p->known && phase_is_same(w, p)) && !phase_settle(w, p)) return false;
    if (p->first == p->quick_end) return true;
    if (p->reads && !reef__queries_ready(w)) return false;
    job *j = &k->quick_job;
    reef_block b;
    memset(&b, 0, sizeof b);
    j->world = b.world = w;
    j->by.ids.world = w;
    j->by.calls = &reef__job_recorder_calls;
    j->by.ids.lane = LANE_NONE;
    j->error.status = REEF_OK;
    b.loop.job = j;
    b.dt = dt;
    b.loop.part = b.loop.open = true;
    const uint64_t version = w->hot.version + VERSION_STEP;
    k->other_count = 0;
    w->world_failure.status = REEF_OK;
    phase_open(w, version + VERSION_STEP * (uint64_t)(p->end - p->first));
    for (const quick *x = &k->quicks[p->first], *end = &k->quicks[p->quick_end]; x < end; x++) {
        j->system = x->system;
        b.context = x->context;
        b.loop.query = x->query;
        if (UNLIKELY(x->query == NULL)) {
            b.loop.head = NULL;
            b.count = 0;
            x->function(&b);
            continue;
        }
        b.loop.head = &x->query->head;
        for (const match *m = x->first; m != x->end;
             m = (const match *)(const void *)((const char *)m + x->match_bytes))
            quick_rows(x, &b, m, version + x->number);
    }
    phase_close(w);
    failure_keep(k, &j->error);
    failure_keep(k, &w->world_failure);
    if (UNLIKELY(j->commands.first != NULL || j->short_of_memory)) *s = simple_join(w, k);
    return true;
}
