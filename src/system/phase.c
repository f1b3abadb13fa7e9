/* Runs one phase: its systems begin, run and end, on one thread or on several; then their results are joined.
 *
 *   prepare   on the thread that ticks, may fail: queries get to know all tables, the world gets its own copy of the
 *             chunks' pages, stamps get room, jobs are laid out
 *   begin     under the lock, when all systems that it waits for have ended: the system sees their events and changes
 *   claim     in jobs, only where something is shared with a fork: the blocks that the system writes are made the
 *             world's own; and where the system asks places: their pictures are made. Without memory for that it
 *             doesn't run
 *   jobs      without any lock: each job walks its blocks, marks them, calls the function
 *   end       under the lock: adds up sums, stamps what was written in others' rows; later systems that waited for
 *             this one may begin
 *   join      on the thread that ticks, in the order of (system, job): ids, commands, events, failures
 *
 * System i of a phase writes with version base + 1 + i, on any number of threads. So "changed since" has the same
 * answer for each number of threads, and a change by a later system of the same tick is never missed. */
#include "system/phase.h"
#include "base/thread_pool.h"
#include "storage/command_buffer.h"
#include "storage/id_lanes.h"
#include "storage/invalidate.h"
#include "storage/place.h"
#include "storage/place_calls.h"
#include "storage/table.h"
#include "change/command.h"
#include "query/chunk_cursor.h"
#include "query/iterate.h"
#include "query/iterate_sparse.h"
#include "query/match_cache.h"
#include "query/partition.h"
#include "query/query.h"
#include "query/row_filter.h"
#include "query/sorted_query.h"
#include "system/unknown_system.h"
#include "system/access_check.h"
#include "system/event.h"
#include "system/job.h"
#include "system/other_rows.h"
#include "system/schedule.h"
#include "system/system.h"
#include "reef/single.h"
#include "reef/system.h"

/* ---- preparing ---- */

bool reef__planned_rows_prepare(reef_world *w, planned_system *ps)
{
    query *q = ps->query;
    for (uint32_t i = 0; writes_rows(ps) && i < q->match_count; i++) {
        const table *t = match_at(q, i)->table;
        if (table_rows(t) == 0) continue;
        if (w->hot.chunks.shared && !reef__table_pages_own(w, t)) return false;
        if (q->tracked && !reef__tracks_prepare(q, match_at(q, i))) return false;
    }
    return true;
}

static COLD bool planned_prepare_stored(planned_system *ps)
{
    query *q = ps->query;
    reef__joins_prepare(q, q->world->hot.version); /* the systems of the phase will write with newer versions */
    if (q->cut->freezes) {
        frozen_versions *f = reef__frozen_make(q, ps->frozen);
        if (f == NULL) return false;
        ps->frozen = f;
    }
    for (uint32_t i = 0; i < q->cut->stored_count; i++)
        if (q->cut->term[i].writes && !reef__stored_track_prepare(q->world, q->cut->term[i].component)) return false;
    return true;
}

/* Pages may move in this function. Nothing that moves pages may be called later. */
static bool planned_prepare(reef_world *w, planned_system *ps)
{
    query *q = ps->query;
    if (q && !query_update(q)) return false;
    if (q && q->since && !reef__run_make(q)) return false;
    if (!reef__planned_rows_prepare(w, ps)) return false;
    if (q && q->cut && !planned_prepare_stored(ps)) return false;
    for (uint32_t i = 0; ps->places && i < ps->system->touch_count; i++) {
        const reef_touch *t = &ps->system->touches[i];
        if (t->kind == REEF_PLACED && reef__places_by->prepare(w, t->type.id) != REEF_OK) return false;
    }
    if (ps->reads_others && reef__indexes_declared && !reef__indexes_declared(w)) return false;
    if (ps->reads_others && w->indexes && !w->indexes->prepare(w)) return false;
    return !ps->writes_others || reef__others_prepare(w, ps->system);
}

/* ---- laying out jobs ---- */

static bool jobs_room(reef_world *w, ticking *k, uint32_t more)
{
    return reef__array_room(&w->family->memory, MEMORY_OTHER, &k->jobs, &k->job_room, k->job_count + more,
                            sizeof *k->jobs);
}

/* The job keeps its command buffer, so that the buffer's memory is used again. */
static void job_put(reef_world *w, ticking *k, planned_system *ps, split_place begin, split_place end)
{
    job *j = &k->jobs[k->job_count++];
    const commands kept = j->commands;
    memset(j, 0, sizeof *j);
    j->world = w;
    j->by.ids.world = w;
    j->by.calls = &reef__job_recorder_calls;
    j->system = ps->system;
    j->number = ps->job_count++;
    j->by.ids.lane = LANE_NONE;
    j->begin = begin;
    j->end = end;
    j->commands = kept;
}

/* Makes at most REEF_JOBS_MAX jobs of about equally many rows, each of at least one block. */
static void planned_split(reef_world *w, ticking *k, planned_system *ps)
{
    const query *q = ps->query;
    uint64_t rows = 0, share = (query_rows(q) + REEF_JOBS_MAX - 1) / REEF_JOBS_MAX;
    if (share < REEF_BLOCK_ROWS) share = REEF_BLOCK_ROWS;
    split_place begin = {NULL, 0};
    for (chunk_cursor c = {.q = q}; chunk_next(&c); rows += c.rows) {
        const split_place here = {c.match, c.unit};
        if (begin.match == NULL) begin = here;
        if (rows < share || ps->job_count == REEF_JOBS_MAX - 1) continue;
        job_put(w, k, ps, begin, here);
        begin = here;
        rows = 0;
    }
    if (rows) job_put(w, k, ps, begin, query_end(q));
}

/* Makes jobs of a list by depth. Those of one wave are chunks of one large depth; a wave of several depths is one
 * job. */
static void planned_split_depths(reef_world *w, ticking *k, planned_system *ps)
{
    const uint32_t all = reef__ranking_rows(ps->query);
    uint32_t share = all / (REEF_JOBS_MAX / 4), wave = 0;
    if (share < REEF_BLOCK_ROWS) share = REEF_BLOCK_ROWS;
    if (!ps->system->split || ps->query->cut) share = all;
    for (uint32_t first = 0, end; first < all; first = end) {
        bool within = false;
        end = all;
        if (ps->job_count < REEF_JOBS_MAX - 1 && share < all)
            end = reef__ranking_piece(ps->query, first, share, &within);
        job_put(w, k, ps, (split_place){NULL, first}, (split_place){NULL, end});
        /* the last job for all that is left goes on to further depths: it is a wave of its own */
        if (ps->job_count == REEF_JOBS_MAX && wave + 1 < ps->job_count) {
            for (uint32_t i = wave; i + 1 < ps->job_count; i++) k->jobs[ps->job_first + i].wave_end = ps->job_count - 1;
            wave = ps->job_count - 1;
        }
        if (within) continue;
        for (uint32_t i = wave; i < ps->job_count; i++) k->jobs[ps->job_first + i].wave_end = ps->job_count;
        wave = ps->job_count;
    }
}

static bool planned_lay_out(reef_world *w, ticking *k, planned_system *ps)
{
    const query *q = ps->query;
    ps->job_first = k->job_count;
    ps->job_count = 0;
    if (!jobs_room(w, k, ps->system->split ? REEF_JOBS_MAX : 1)) return false;
    if (q == NULL) job_put(w, k, ps, (split_place){NULL, 0}, (split_place){NULL, 0});
    else if (q->ranking) planned_split_depths(w, k, ps);
    else if (ps->system->split && !(q->cut && q->cut->shared)) planned_split(w, k, ps);
    else if (query_rows(q)) job_put(w, k, ps, query_begin(q), query_end(q));
    return true;
}

static bool bytes_room_for(reef_world *w, char **p, size_t *room, size_t bytes)
{
    if (bytes > *room) {
        char *fresh = reef__memory_resize(&w->family->memory, MEMORY_OTHER, NULL, 0, bytes, PLAIN_ALIGN);
        if (fresh == NULL) return false;
        reef__memory_free(&w->family->memory, MEMORY_OTHER, *p, *room);
        *p = fresh;
        *room = bytes;
    }
    if (bytes) memset(*p, 0, bytes);
    return true;
}

/* Returns the singleton that a system sums into; it has at most one. {0}: it has none. */
static reef_component sum_of(const struct system *s)
{
    const reef_touch *t = reef__touch_find(s, REEF_SUMS, NULL);
    return t ? t->type : (reef_component){0};
}

static size_t part_bytes(const struct system *s)
{
    const type *t = reef__type_of(sum_of(s).id);
    return t ? (t->size + PLAIN_ALIGN - 1) / PLAIN_ALIGN * PLAIN_ALIGN : 0;
}

/* Gives the jobs their queues of events, their parts of sums and their lanes of ids. */
static bool jobs_equip(reef_world *w, ticking *k)
{
    size_t queues = 0, parts = 0;
    uint32_t lanes = 0;
    for (uint32_t i = k->phase_first; i < k->phase_end; i++) {
        const planned_system *ps = &k->plan[i];
        if (!ps->going) continue;
        queues += ps->job_count * reef__event_queues(ps->system) * reef__event_queue_bytes();
        parts += ps->job_count * part_bytes(ps->system);
        lanes += ps->spawns ? ps->job_count : 0;
    }
    if (!bytes_room_for(w, &k->queues, &k->queue_room, queues) || !bytes_room_for(w, &k->parts, &k->part_room, parts))
        return false;
    if (!reef__array_room(&w->family->memory, MEMORY_OTHER, &k->made, &k->made_room, lanes, sizeof *k->made))
        return false;
    char *queue = k->queues, *part = k->parts;
    uint32_t lane = 0;
    for (uint32_t i = k->phase_first; i < k->phase_end; i++) {
        const planned_system *ps = &k->plan[i];
        for (uint32_t n = 0; ps->going && n < ps->job_count; n++) {
            job *j = &k->jobs[ps->job_first + n];
            j->version = ps->version;
            j->commands.by = &j->by;
            if (reef__event_queues(ps->system)) {
                j->queues = (struct event_queue *)(void *)queue;
                queue += reef__event_queues(ps->system) * reef__event_queue_bytes();
            }
            if (part_bytes(ps->system)) {
                j->part = part;
                part += part_bytes(ps->system);
            }
            if (ps->spawns) j->by.ids.lane = lane++;
            j->by.ids.lanes = lanes;
        }
    }
    return lanes == 0 || reef__lanes_begin(w, lanes);
}

/* Adds the singleton that a system sums into, with the value zero, if it isn't there yet. */
static bool sum_prepare(reef_world *w, const planned_system *ps)
{
    const reef_component c = ps->going ? sum_of(ps->system) : (reef_component){0};
    if (c.id == 0 || reef_single_has_id(w, c)) return true;
    if (!reef_entity_is_null(reef_single_entity(w))) return reef_add_id(w, w->state.single, c, NULL, NULL) == REEF_OK;
    const reef_value zero = reef_value_make(c, REEF_VALUE_DEFAULT, 0, NULL);
    const reef_entity e = reef_spawn_values(w, &zero, 1);
    if (!reef_entity_is_null(e)) w->state.single = e;
    return !reef_entity_is_null(e);
}

/* Does everything that can fail before the systems run. False: no memory, and *at is the system that needed it. */
static bool phase_prepare(reef_world *w, ticking *k, planned_system **at)
{
    k->other_count = 0;
    k->job_count = 0;
    if (UNLIKELY(w->state.absent_count)) reef__unknown_systems_end(w);
    if (!reef__events_ready(w)) return false;
    for (uint32_t i = k->phase_first; i < k->phase_end; i++)
        if (!sum_prepare(w, *at = &k->plan[i])) return false;
    for (uint32_t i = k->phase_first; i < k->phase_end; i++) {
        planned_system *ps = *at = &k->plan[i];
        if (ps->going && ps->query && ps->query->ranking && !reef__ranking_ready(ps->query)) return false;
    }
    uint64_t version = w->hot.version;
    for (uint32_t i = k->phase_first; i < k->phase_end; i++) {
        planned_system *ps = *at = &k->plan[i];
        ps->version = version += VERSION_STEP;
        ps->job_count = 0;
        if (ps->going && !planned_prepare(w, ps)) return false;
    }
    k->end_version = version + VERSION_STEP;
    reef__chunks_know_ours(w);
    for (uint32_t i = k->phase_first; i < k->phase_end; i++) {
        if (!k->plan[i].going || !k->plan[i].reads_others) continue;
        if (!reef__queries_ready(w)) return *at = &k->plan[i], false;
        break;
    }
    for (uint32_t i = k->phase_first; i < k->phase_end; i++) {
        planned_system *ps = *at = &k->plan[i];
        if (!ps->going) continue;
        if ((ps->query && !query_update(ps->query)) || !planned_lay_out(w, k, ps))
            return false; /* pages may have moved */
    }
    return jobs_equip(w, k);
}

/* ---- one system ---- */

/* Makes a block that stands before the first block of the job. */
static void job_block(reef_block *b, reef_world *w, planned_system *ps, job *j, float dt)
{
    query *q = ps->query;
    if (q && q->ranking) {
        const split_place begin = query_begin(q), end = query_end(q);
        reef__part_begin(b, w, q, &begin, &end);
        reef__ranking_part(b, j->begin.unit, j->end.unit);
    } else {
        reef__part_begin(b, w, q, &j->begin, &j->end);
    }
    b->loop.since = ps->since;
    b->loop.frozen = q && q->cut && q->cut->freezes ? ps->frozen : NULL;
    b->dt = dt;
    b->context = ps->system->context;
    b->loop.job = j;
}

static bool rows_claim(reef_world *w, planned_system *ps, job *j)
{
    reef_block b;
    job_block(&b, w, ps, j, 0);
    const bool stores = ps->query->cut && ps->query->cut->writes;
    while (reef_next(&b)) {
        if (!reef__part_claim(&b, ps->version)) return false;
        if (stores && !reef__stored_claim(&b, ps->version)) return false;
    }
    return true;
}

/* Makes the pictures of the places that the system asks. What was written by the systems before it, at their versions,
 * is a part of them. */
static bool places_refresh(reef_world *w, const planned_system *ps)
{
    for (uint32_t i = 0; i < ps->system->touch_count; i++) {
        const reef_touch *t = &ps->system->touches[i];
        if (t->kind == REEF_PLACED && !reef__places_by->refresh(w, t->type.id, ps->version - VERSION_STEP))
            return false;
    }
    return true;
}

/* Jobs share pages of stores, and a page that is made the world's own is a new page; jobs of several depths share
 * chunks; and pictures are made of blocks, which mustn't become others meanwhile. So the first job claims for all. */
static bool job_claim(reef_world *w, planned_system *ps, job *j)
{
    const query *q = ps->query;
    if (ps->places && j->number == 0 && !places_refresh(w, ps)) return false;
    if (!planned_must_claim(w, ps)) return true;
    if (!ps->places && q->ranking == NULL && (q->cut == NULL || !q->cut->writes)) return rows_claim(w, ps, j);
    for (uint32_t i = 0; j->number == 0 && i < ps->job_count; i++)
        if (!rows_claim(w, ps, &w->ticking->jobs[ps->job_first + i])) return false;
    return true;
}

static void job_rows(reef_world *w, ticking *k, planned_system *ps, job *j)
{
    reef_block b;
    job_block(&b, w, ps, j, k->dt);
    if (ps->query == NULL) {
        ps->system->function(&b);
        return;
    }
    const bool writes = writes_rows(ps);
    uint64_t blocks = 0, rows = 0;
    while (reef_next(&b)) {
        if (writes) reef__part_mark(&b, ps->version);
        reef__watch_block(w, &b);
        blocks++;
        rows += b.count;
        ps->system->function(&b);
    }
    j->blocks = blocks;
    j->rows = rows;
}

static void job_run(reef_world *w, ticking *k, planned_system *ps, job *j)
{
    const uint64_t began = k->measures ? clock_now() : 0;
    if (k->trace.begin) k->trace.begin(k->trace.context, ps->system->name, j->worker);
    job_rows(w, k, ps, j);
    if (k->trace.end) k->trace.end(k->trace.context, ps->system->name, j->worker);
    const uint64_t ended = k->measures ? clock_now() : began;
    j->time_ns = ended > began ? ended - began : 0; /* somebody may have set the clock back */
}

static void planned_end(reef_world *w, ticking *k, planned_system *ps);

/* Where the wave of jobs ends that begins with this one. */
static uint32_t wave_of(const ticking *k, const planned_system *ps, uint32_t first)
{
    const uint32_t end = first < ps->job_count ? k->jobs[ps->job_first + first].wave_end : 0;
    return end ? end : ps->job_count;
}

/* The system begins: it sees what the systems that it waited for left. */
static void planned_begin(reef_world *w, ticking *k, planned_system *ps)
{
    const query *q = ps->query;
    ps->begun = ps->done = 0;
    ps->stage = ps->places || planned_must_claim(w, ps) ? STAGE_CLAIMS : STAGE_RUNS;
    ps->wave = 0;
    ps->wave_end = ps->stage == STAGE_RUNS ? wave_of(k, ps, 0) : ps->job_count;
    if (k->failed) {
        ps->job_count = 0;
    } else {
        for (uint32_t i = 0; ps->receives && i < ps->system->touch_count; i++) {
            const reef_touch *t = &ps->system->touches[i];
            if (t->kind != REEF_RECEIVES) continue;
            for (const planned_system *sender = &k->plan[k->phase_first]; sender < ps; sender++)
                if (sender->going) reef__events_gather(w, &k->jobs[sender->job_first], sender->job_count, t->type.id);
        }
        if (ps->receives) reef__events_begin(w, ps->system);
        ps->since = q ? reef__query_last_run(q) : 0;
        if (q && q->cut && q->cut->freezes) reef__frozen_fill(q, ps->frozen);
        if (q && q->since) reef__run_put(q, ps->version);
        if (ps->writes_others) reef__others_begin(k, ps);
        if (q && q->fixed && !reef__fixed_hold(q, ps->since)) ps->job_count = 0;
    }
    if (ps->job_count == 0) planned_end(w, k, ps);
}

/* Call this when there are jobs for threads that wait, or when there won't be any more. */
static void phase_wake(ticking *k)
{
    RELEASE_STORE(&k->turns, k->turns + 1);
    condvar_wake(&k->wake);
}

/* Systems that waited for this one begin if they wait for no other one. */
static void planned_release(reef_world *w, ticking *k, planned_system *ps)
{
    for (uint32_t i = 0; i < ps->after_count; i++) {
        planned_system *later = &k->plan[k->after[ps->after_first + i]];
        if (later->going && --later->waiting == 0) planned_begin(w, k, later);
    }
    phase_wake(k);
}

/* Adds the parts of the system's jobs to the singleton, in the order of the jobs. */
static void sum_add(reef_world *w, ticking *k, const planned_system *ps)
{
    const struct system *s = ps->system;
    void *total = NULL;
    if (sum_of(s).id) reef__phase_running.mut(w, "reef_part", w->state.single, sum_of(s), &total);
    for (uint32_t n = 0; total && n < ps->job_count; n++) s->combine(total, k->jobs[ps->job_first + n].part);
}

void *reef_part_id(const reef_block *b, reef_component c)
{
    if (b == NULL || b->loop.job == NULL) return NULL;
    if (c.id && sum_of(b->loop.job->system).id == c.id) return b->loop.job->part;
    return reef__job_failure(b->loop.job, REEF_UNDECLARED, "reef_part", c, (reef_entity){0, 0}, 0), NULL;
}

static void planned_measure(ticking *k, planned_system *ps)
{
    uint64_t time = 0;
    ps->stats.runs++;
    for (uint32_t i = 0; i < ps->job_count; i++) {
        const job *j = &k->jobs[ps->job_first + i];
        ps->stats.blocks += j->blocks;
        ps->stats.rows += j->rows;
        time += j->time_ns;
    }
    ps->stats.time_ns += time;
    if (time > ps->stats.longest_ns) ps->stats.longest_ns = time;
}

static void planned_end(reef_world *w, ticking *k, planned_system *ps)
{
    ps->stage = STAGE_ENDED;
    k->unfinished--;
    if (ps->failed || k->failed) {
        /* It counts as not run: changes are still new to its query. */
        if (ps->failed && ps->query && ps->query->since) reef__run_put(ps->query, ps->since);
        if (ps->failed && (k->failed == NULL || ps < k->failed)) k->failed = ps;
    }
    if (!ps->failed && !(k->failed && ps->job_count == 0)) {
        planned_claimed(w, ps);
        sum_add(w, k, ps);
        if (ps->writes_others) reef__others_end(w, ps->system);
        if (ps->receives) reef__events_end(w, ps->system);
        if (k->measures) planned_measure(k, ps);
    }
    planned_release(w, k, ps);
}

/* ---- all of them ---- */

static void job_do(reef_world *w, ticking *k, planned_system *ps, job *j, system_stage stage)
{
    if (stage != STAGE_RUNS) {
        j->failed = !job_claim(w, ps, j);
        return;
    }
    reef__watch_before(w, ps);
    job_run(w, k, ps, j);
    reef__watch_after(w);
}

/* A job is done. Called under the lock. */
static void job_done(reef_world *w, ticking *k, planned_system *ps, const job *j)
{
    ps->failed |= j->failed;
    if (++ps->done < ps->wave_end) return;
    if (ps->stage == STAGE_RUNS && ps->done < ps->job_count && !ps->failed) {
        ps->wave = ps->done;
        ps->wave_end = wave_of(k, ps, ps->done);
        phase_wake(k);
        return;
    }
    if (ps->stage == STAGE_CLAIMS && !ps->failed) {
        ps->stage = STAGE_RUNS;
        ps->begun = ps->done = 0;
        ps->wave_end = wave_of(k, ps, 0);
        phase_wake(k);
        return;
    }
    if (ps->failed) ps->job_count = 0;
    planned_end(w, k, ps);
}

static uint64_t random_next(uint64_t *x)
{
    *x ^= *x << 13;
    *x ^= *x >> 7;
    return *x ^= *x << 17;
}

static bool planned_has_job(const planned_system *ps, uint32_t worker)
{
    if (!ps->going || (ps->stage != STAGE_CLAIMS && ps->stage != STAGE_RUNS) || ps->begun == ps->wave_end) return false;
    return worker == 0 || !ps->system->main_thread;
}

/* Returns the system whose next job this thread takes: the first in the order of the plan, or with a seed any one.
 * NULL: there is none now. */
static planned_system *planned_pick(ticking *k, uint32_t worker)
{
    planned_system *found = NULL;
    uint32_t n = 0;
    while (k->ended_before < k->phase_end &&
           (!k->plan[k->ended_before].going || k->plan[k->ended_before].stage == STAGE_ENDED))
        k->ended_before++;
    for (uint32_t i = k->ended_before; i < k->phase_end; i++) {
        planned_system *ps = &k->plan[i];
        if (!planned_has_job(ps, worker)) continue;
        if (k->shuffle == 0) return ps;
        if (random_next(&k->shuffle) % ++n == 0) found = ps;
    }
    return found;
}

/* Has every system that hasn't ended begun all its jobs, and has it nothing left to claim? Then a helper thread
 * doesn't have to wait for the ends. */
static bool phase_begun(const ticking *k)
{
    for (uint32_t i = k->ended_before; i < k->phase_end; i++) {
        const planned_system *ps = &k->plan[i];
        if (ps->going && ps->stage != STAGE_ENDED && (ps->stage != STAGE_RUNS || ps->begun < ps->job_count))
            return false;
    }
    return true;
}

static void phase_work(void *data, uint32_t worker)
{
    reef_world *w = data;
    ticking *k = w->ticking;
    mutex_lock(&k->lock);
    while (k->unfinished) {
        planned_system *ps = planned_pick(k, worker);
        if (ps == NULL) {
            if (worker && phase_begun(k)) break;
            reef__pool_wait(w->pool, &k->lock, &k->wake, &k->turns);
            continue;
        }
        const uint32_t n = ps->begun++;
        job *j = &k->jobs[ps->job_first + (k->backwards ? ps->wave + ps->wave_end - 1 - n : n)];
        const system_stage stage = ps->stage;
        uint64_t yields = k->shuffle ? random_next(&k->shuffle) % 4 : 0;
        j->worker = worker;
        mutex_unlock(&k->lock);
        for (; yields; yields--) thread_yield();
        job_do(w, k, ps, j, stage);
        mutex_lock(&k->lock);
        job_done(w, k, ps, j);
    }
    mutex_unlock(&k->lock);
}

/* ---- joining ---- */

/* Keeps the first mistake of the caller, in the order of the plan; mistakes in calls on the world come last. */
static void failures_join(reef_world *w, ticking *k)
{
    for (uint32_t i = 0; i < k->job_count; i++) failure_keep(k, &k->jobs[i].error);
    failure_keep(k, &w->world_failure);
}

/* Makes the error for missing memory, for one system or for what follows all of them. */
static reef_error phase_error(const reef_world *w, const planned_system *ps)
{
    reef_error e = {.status = REEF_NO_MEMORY, .operation = "reef_tick", .component = w->hook_failed};
    if (ps) memcpy(e.system, ps->system->name, sizeof e.system);
    return e;
}

static COLD reef_status phase_failed(reef_world *w)
{
    w->error = phase_error(w, NULL);
    return REEF_NO_MEMORY;
}

reef_status reef__phase_deferred_do(reef_world *w, ticking *k)
{
    const reef_status s = reef__world_flush(w);
    if (s == REEF_NO_MEMORY) return s;
    if (s < 0 && k->first.status == REEF_OK) k->first = w->error;
    return REEF_OK;
}

/* NO_MEMORY: what couldn't be done is kept, and is done before anything else. */
static reef_status phase_join(reef_world *w, ticking *k)
{
    uint32_t lanes = 0;
    reef__events_gather(w, k->jobs, k->job_count, 0);
    for (uint32_t i = 0; i < k->job_count; i++)
        if (k->jobs[i].by.ids.lane != LANE_NONE) k->made[lanes++] = k->jobs[i].by.ids.made;
    reef_status s = lanes && reef__lanes_end(w, k->made, lanes) != REEF_OK ? phase_failed(w) : REEF_OK;
    for (uint32_t i = 0; i < k->job_count; i++) reef__commands_append(&w->deferred, &k->jobs[i].commands);
    if (w->deferred.count) w->slow |= SLOW_DEFERRED;
    if (s == REEF_OK && w->deferred.count) s = reef__phase_deferred_do(w, k);
    if (s == REEF_OK && reef__events_keep(w) != REEF_OK) s = phase_failed(w);
    return s;
}

/* Returns the first job, in the order of the plan, that had no memory while it ran. */
static const job *job_short_of_memory(const ticking *k)
{
    for (uint32_t i = 0; i < k->job_count; i++)
        if (k->jobs[i].short_of_memory) return &k->jobs[i];
    return NULL;
}

reef_status reef__phase_run(reef_world *w, uint32_t first, uint32_t end, float dt)
{
    ticking *k = w->ticking;
    planned_system *at = NULL;
    k->phase_first = k->ended_before = first;
    k->phase_end = end;
    k->dt = dt;
    k->failed = NULL;
    k->unfinished = 0;
    w->hook_failed.id = 0;
    w->world_failure.status = REEF_OK;
    if (watching(w)) k->shuffle = 0, k->backwards = false;
    if (!phase_prepare(w, k, &at)) {
        reef__invalidate(w, INVALIDATE_LOOKED_AT); /* what was prepared took this one for past */
        return w->error = phase_error(w, at), REEF_NO_MEMORY;
    }
    for (uint32_t i = first; i < end; i++) {
        planned_system *ps = &k->plan[i];
        ps->stage = STAGE_WAITS;
        ps->failed = false;
        ps->waiting = 0;
        k->unfinished += ps->going;
        if (k->shuffle) k->backwards = random_next(&k->shuffle) & 1;
    }
    for (uint32_t i = first; i < end; i++)
        for (uint32_t n = 0; k->plan[i].going && n < k->plan[i].after_count; n++)
            k->plan[k->after[k->plan[i].after_first + n]].waiting++;
    phase_open(w, k->end_version);
    reef__watch_open(w);
    for (uint32_t i = first; i < end; i++)
        if (k->plan[i].going && k->plan[i].waiting == 0 && k->plan[i].stage == STAGE_WAITS)
            planned_begin(w, k, &k->plan[i]);
    reef__pool_run(watching(w) ? NULL : w->pool, phase_work, w);
    reef__watch_close(w);
    phase_close(w);
    failures_join(w, k);
    const job *j = job_short_of_memory(k);
    const reef_error why = k->failed ? phase_error(w, k->failed) : j ? j->error : w->world_failure;
    const reef_status s = phase_join(w, k);
    if (why.status != REEF_NO_MEMORY) return s;
    w->error = why;
    return REEF_NO_MEMORY;
}

/* ---- the plan ---- */

COLD bool reef__query_planned(const reef_world *w, uint32_t index)
{
    for (uint32_t i = 0; w->ticking && i < w->ticking->plan_count; i++) {
        const reef_query q = w->ticking->plan[i].handle;
        if (q.index == index && w->queries[index].generation == q.generation) return true;
    }
    return false;
}

COLD void reef__ticking_drop(reef_world *w)
{
    ticking *k = w->ticking;
    memory *m = &w->family->memory;
    if (k == NULL) return;
    for (uint32_t i = 0; i < k->job_room; i++) reef__commands_drop(w, &k->jobs[i].commands);
    for (uint32_t i = 0; i < k->plan_count; i++) reef__planned_drop(w, &k->plan[i]);
    reef__memory_free(m, MEMORY_OTHER, k->plan, k->plan_room * sizeof *k->plan);
    reef__memory_free(m, MEMORY_OTHER, k->quicks, k->plan_room * sizeof *k->quicks);
    reef__memory_free(m, MEMORY_OTHER, k->after, k->after_room * sizeof *k->after);
    reef__memory_free(m, MEMORY_OTHER, k->jobs, k->job_room * sizeof *k->jobs);
    reef__memory_free(m, MEMORY_OTHER, k->queues, k->queue_room);
    reef__memory_free(m, MEMORY_OTHER, k->parts, k->part_room);
    reef__memory_free(m, MEMORY_OTHER, k->made, k->made_room * sizeof *k->made);
    reef__memory_free(m, MEMORY_OTHER, k->others, k->other_room * sizeof *k->others);
    condvar_drop(&k->wake);
    mutex_drop(&k->lock);
    reef__memory_free(m, MEMORY_OTHER, k, sizeof *k);
    w->ticking = NULL;
}

void reef__planned_drop(reef_world *w, planned_system *ps)
{
    if (ps->query) reef__query_drop(ps->query);
    ps->query = NULL;
    reef__frozen_drop(w, ps->frozen);
    ps->frozen = NULL;
}
