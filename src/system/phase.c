/* One phase: its systems begin, run and end, on one thread or on several; then what they left is joined.
 *
 *   prepare   on this thread, may fail: queries know all tables, pages of chunks are ours, stamps have room, jobs
 *             are laid out
 *   begin     under the lock, when all runs that it waits for have ended: it sees their events and changes
 *   claim     in jobs, where something is shared with a fork: blocks that the system writes become ours; without
 *             memory it doesn't run
 *   jobs      without any lock: each job walks its blocks, marks them, calls the function
 *   end       under the lock: sums, marks of what was written in others' rows; later runs that waited may begin
 *   join      on this thread, in the order of (system, job): ids, commands, events, failures
 *
 * Run i of a phase writes with version base + 1 + i, on however many threads: so "changed since" answers the same
 * for each number of threads, and a change by a later system of the same tick is never lost. */
#include "system/phase.h"
#include "base/memory.h"
#include "base/platform.h"
#include "base/thread_pool.h"
#include "type/type.h"
#include "storage/archetype.h"
#include "storage/command_buffer.h"
#include "storage/entity_index.h"
#include "storage/error.h"
#include "storage/id_lanes.h"
#include "storage/invalidate.h"
#include "storage/layout.h"
#include "storage/place.h"
#include "storage/row_stamps.h"
#include "storage/running.h"
#include "storage/sparse_store.h"
#include "storage/table.h"
#include "storage/world_data.h"
#include "change/command.h"
#include "query/iterate.h"
#include "query/iterate_sparse.h"
#include "query/match_cache.h"
#include "query/partition.h"
#include "query/query.h"
#include "query/row_filter.h"
#include "system/absent_system.h"
#include "system/access_check.h"
#include "system/event.h"
#include "system/job.h"
#include "system/schedule.h"
#include "system/side_query.h"
#include "reef/single.h"
#include "reef/system.h"

/* ---- preparing ---- */

static bool writes_rows(const run *r)
{
    const query *q = r->query;
    return q && (q->head.write_count || q->optional_writes || (q->cut && q->cut->writes));
}

/* The pages of all chunks of a table. */
static bool table_pages_own(reef_world *w, const table *t)
{
    for (uint32_t unit = t->first; unit; unit = unit_slots(w, unit)[0].head.next)
        if (!reef__chunk_page_own(w, unit)) return false;
    return true;
}

static bool others_prepare(reef_world *w, uint32_t component)
{
    const bool tracked = reef__type_of(component)->tracked;
    if (reef__type_of(component)->stored) return reef__stored_track_prepare(w, component);
    for (uint32_t id = TABLE_EMPTY; id < w->state.tables.count * TABLES_PER_PAGE; id++) {
        const table *t = table_read(w, id);
        if (t == NULL || table_rows(t) == 0 || reef__slot_seek(w, component, id) == 0) continue;
        if (w->hot.chunks.shared && !table_pages_own(w, t)) return false;
        if (tracked && !reef__track_prepare_table(w, component, t)) return false;
    }
    return true;
}

static bool rows_prepare(reef_world *w, run *r)
{
    query *q = r->query;
    for (uint32_t i = 0; writes_rows(r) && i < q->match_count; i++) {
        const table *t = match_at(q, i)->table;
        if (table_rows(t) == 0) continue;
        if (w->hot.chunks.shared && !table_pages_own(w, t)) return false;
        if (q->tracked && !reef__tracks_prepare(q, match_at(q, i))) return false;
    }
    return true;
}

static bool others_add(reef_world *w, ticking *k, uint32_t component)
{
    const type *t = reef__type_of(component);
    for (uint32_t i = 0; i < t->part_count; i++)
        if (!others_add(w, k, t->parts[i])) return false;
    for (uint32_t i = 0; i < k->other_count; i++)
        if (k->others[i].component == component) return true;
    if (k->other_count == k->other_room) {
        const uint32_t room = k->other_room ? k->other_room * 2 : 8;
        written *p = reef__memory_resize(&w->family->memory, MEMORY_OTHER, k->others, k->other_room * sizeof *p,
                                         room * sizeof *p, PLAIN_ALIGN);
        if (p == NULL) return false;
        k->others = p;
        k->other_room = room;
    }
    k->others[k->other_count++] = (written){.component = component};
    return others_prepare(w, component);
}

/* The n-th component that a system writes in others' rows; 0: no more. */
static uint32_t other_written(const struct system *s, uint32_t *at)
{
    for (; *at < s->touch_count; ++*at) {
        const reef_touch *t = &s->touches[*at];
        if (t->kind == REEF_WRITES || t->kind == REEF_SUMS) return s->touches[(*at)++].type.id;
    }
    for (uint32_t i; (i = *at - s->touch_count) < REEF_TERMS_MAX; ++*at) {
        const reef_term *t = &s->query.terms[i];
        if (t->op < REEF_ANY_OF && t->component.id == 0) break;
        if (t->source.generation && t->op != REEF_NOT && (t->access == REEF_INOUT || t->access == REEF_OUT))
            return ++*at, t->component.id;
    }
    return 0;
}

static COLD bool run_prepare_stored(run *r)
{
    query *q = r->query;
    reef__joins_prepare(q, q->world->hot.version); /* the phase has newer ones */
    if (q->cut->freezes) {
        frozen_versions *f = reef__frozen_make(q, r->frozen);
        if (f == NULL) return false;
        r->frozen = f;
    }
    for (uint32_t i = 0; i < q->cut->stored_count; i++)
        if (q->cut->term[i].writes && !reef__stored_track_prepare(q->world, q->cut->term[i].component)) return false;
    return true;
}

/* Pages may move here, and nothing else may later. */
static bool run_prepare(reef_world *w, ticking *k, run *r)
{
    query *q = r->query;
    if (q && !query_update(q)) return false;
    if (q && q->since && !reef__run_make(q)) return false;
    if (!rows_prepare(w, r)) return false;
    if (q && q->cut && !run_prepare_stored(r)) return false;
    for (uint32_t at = 0, c; r->writes_others && (c = other_written(r->system, &at)) != 0;)
        if (!others_add(w, k, c)) return false;
    return true;
}

/* ---- laying out jobs ---- */

static bool jobs_room(reef_world *w, ticking *k, uint32_t more)
{
    if (k->job_count + more <= k->job_room) return true;
    const uint32_t room = k->job_room * 2 > k->job_count + more ? k->job_room * 2 : k->job_count + more;
    job *p = reef__memory_resize(&w->family->memory, MEMORY_OTHER, k->jobs, k->job_room * sizeof *p, room * sizeof *p,
                                 PLAIN_ALIGN);
    if (p == NULL) return false;
    memset(p + k->job_room, 0, (room - k->job_room) * sizeof *p);
    k->jobs = p;
    k->job_room = room;
    return true;
}

/* The buffer of commands stays with the job: its memory is used again. */
static void job_put(reef_world *w, ticking *k, run *r, split_place begin, split_place end)
{
    job *j = &k->jobs[k->job_count++];
    const commands kept = j->commands;
    memset(j, 0, sizeof *j);
    j->world = w;
    j->by.ids.world = w;
    j->by.calls = &reef__job_recorder_calls;
    j->system = r->system;
    j->number = r->job_count++;
    j->by.ids.lane = LANE_NONE;
    j->begin = begin;
    j->end = end;
    j->commands = kept;
}

/* Jobs of about equal rows, at least a block each, at most REEF_JOBS_MAX. */
static void run_split(reef_world *w, ticking *k, run *r)
{
    const query *q = r->query;
    uint64_t all = 0, rows = 0;
    for (uint32_t i = 0; i < q->match_count; i++) all += table_rows(match_at(q, i)->table);
    const split_place end = {match_end(q), 0};
    uint64_t share = (all + REEF_JOBS_MAX - 1) / REEF_JOBS_MAX;
    if (share < REEF_BLOCK_ROWS) share = REEF_BLOCK_ROWS;
    split_place begin = {NULL, 0};
    for (uint32_t i = 0; i < q->match_count; i++) {
        const table *t = match_at(q, i)->table;
        if (table_rows(t) == 0) continue;
        for (uint32_t unit = t->first; unit; unit = unit_slots(w, unit)[0].head.next) {
            const split_place here = {match_at(q, i), unit};
            if (begin.match == NULL) begin = here;
            if (rows >= share && r->job_count < REEF_JOBS_MAX - 1) {
                job_put(w, k, r, begin, here);
                begin = here;
                rows = 0;
            }
            rows += chunk_rows(t, unit);
        }
    }
    if (rows) job_put(w, k, r, begin, end);
}

static bool has_rows(const query *q)
{
    for (uint32_t i = 0; i < q->match_count; i++)
        if (table_rows(match_at(q, i)->table)) return true;
    return false;
}

static bool run_lay_out(reef_world *w, ticking *k, run *r)
{
    const query *q = r->query;
    r->job_first = k->job_count;
    r->job_count = 0;
    if (!jobs_room(w, k, r->system->split ? REEF_JOBS_MAX : 1)) return false;
    if (q == NULL) job_put(w, k, r, (split_place){NULL, 0}, (split_place){NULL, 0});
    else if (r->system->split && !(q->cut && q->cut->shared)) run_split(w, k, r);
    else if (has_rows(q)) job_put(w, k, r, (split_place){q->matches, 0}, (split_place){match_end(q), 0});
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

/* The singleton that a system sums into: at most one. {0}: none. */
static reef_component sum_of(const struct system *s)
{
    for (uint32_t i = 0; i < s->touch_count; i++)
        if (s->touches[i].kind == REEF_SUMS) return s->touches[i].type;
    return (reef_component){0};
}

static size_t part_bytes(const struct system *s)
{
    const type *t = reef__type_of(sum_of(s).id);
    return t ? (t->size + PLAIN_ALIGN - 1) / PLAIN_ALIGN * PLAIN_ALIGN : 0;
}

/* Queues of events, parts of sums, lanes of ids. */
static bool jobs_equip(reef_world *w, ticking *k)
{
    size_t queues = 0, parts = 0;
    uint32_t lanes = 0;
    for (uint32_t i = k->run_first; i < k->run_end; i++) {
        const run *r = &k->runs[i];
        if (!r->going) continue;
        queues += r->job_count * reef__event_queues(r->system) * reef__event_queue_bytes();
        parts += r->job_count * part_bytes(r->system);
        lanes += r->spawns ? r->job_count : 0;
    }
    if (!bytes_room_for(w, &k->queues, &k->queue_room, queues) || !bytes_room_for(w, &k->parts, &k->part_room, parts))
        return false;
    if (lanes > k->made_room) {
        uint32_t *p = reef__memory_resize(&w->family->memory, MEMORY_OTHER, k->made, k->made_room * sizeof *p,
                                          lanes * sizeof *p, PLAIN_ALIGN);
        if (p == NULL) return false;
        k->made = p;
        k->made_room = lanes;
    }
    char *queue = k->queues, *part = k->parts;
    uint32_t lane = 0;
    for (uint32_t i = k->run_first; i < k->run_end; i++) {
        const run *r = &k->runs[i];
        for (uint32_t n = 0; r->going && n < r->job_count; n++) {
            job *j = &k->jobs[r->job_first + n];
            j->version = r->version;
            j->commands.by = &j->by;
            if (reef__event_queues(r->system)) {
                j->queues = (struct event_queue *)(void *)queue;
                queue += reef__event_queues(r->system) * reef__event_queue_bytes();
            }
            if (part_bytes(r->system)) {
                j->part = part;
                part += part_bytes(r->system);
            }
            if (r->spawns) j->by.ids.lane = lane++;
            j->by.ids.lanes = lanes;
        }
    }
    return lanes == 0 || reef__lanes_begin(w, lanes);
}

/* The singleton that a system sums into is there, zero at first. */
static bool sum_prepare(reef_world *w, const run *r)
{
    const reef_component c = r->going ? sum_of(r->system) : (reef_component){0};
    if (c.id == 0 || reef_single_has_id(w, c)) return true;
    if (!reef_entity_is_null(reef_single_entity(w))) return reef_add_id(w, w->state.single, c, NULL, NULL) == REEF_OK;
    const reef_value zero = reef_value_make(c, REEF_VALUE_DEFAULT, 0, NULL);
    const reef_entity e = reef_spawn_values(w, &zero, 1);
    if (!reef_entity_is_null(e)) w->state.single = e;
    return !reef_entity_is_null(e);
}

/* Everything that can fail before a system runs. False: no memory; *at is the run that it was for. */
static bool phase_prepare(reef_world *w, ticking *k, run **at)
{
    k->other_count = 0;
    k->job_count = 0;
    if (UNLIKELY(w->state.absent_count)) reef__absents_end(w);
    if (!reef__events_ready(w)) return false;
    for (uint32_t i = k->run_first; i < k->run_end; i++)
        if (!sum_prepare(w, *at = &k->runs[i])) return false;
    uint64_t version = w->hot.version;
    for (uint32_t i = k->run_first; i < k->run_end; i++) {
        run *r = *at = &k->runs[i];
        r->version = ++version;
        r->job_count = 0;
        if (r->going && !run_prepare(w, k, r)) return false;
    }
    k->end_version = version + 1;
    reef__chunks_know_ours(w);
    for (uint32_t i = k->run_first; i < k->run_end; i++) {
        if (!k->runs[i].going || !k->runs[i].reads_others) continue;
        if (!reef__queries_ready(w)) return *at = &k->runs[i], false;
        break;
    }
    for (uint32_t i = k->run_first; i < k->run_end; i++) {
        run *r = *at = &k->runs[i];
        if (!r->going) continue;
        if ((r->query && !query_update(r->query)) || !run_lay_out(w, k, r)) return false; /* pages may have moved */
    }
    return jobs_equip(w, k);
}

/* ---- opening and closing ---- */

static bool running_marked(const reef_world *w, uint32_t component, uint64_t version);
static reef_status running_mut(reef_world *w, const char *op, reef_entity e, reef_component c, void **at);

const running_calls reef__phase_running = {
    .marked = running_marked,
    .mut = running_mut,
#if defined(REEF_CHECKED)
    .read = reef__watch_read,
    .on_thread = reef__watch_thread,
    .failed = reef__watch_failure,
#endif
};

static void phase_open(reef_world *w, uint64_t version)
{
    w->hot.version = version;
    w->locks++;
    reef__invalidate(w, INVALIDATE_LOOP_OPENED | INVALIDATE_WRITTEN);
    w->running = &reef__phase_running;
}

static void phase_close(reef_world *w)
{
    w->running = NULL;
    w->locks--;
    reef__invalidate(w, INVALIDATE_CONDITION_CHANGED | INVALIDATE_WRITTEN);
}

/* ---- a run ---- */

static written *other_find(ticking *k, uint32_t component)
{
    for (uint32_t i = 0; i < k->other_count; i++)
        if (k->others[i].component == component) return &k->others[i];
    return NULL;
}

static bool running_marked(const reef_world *w, uint32_t component, uint64_t version)
{
    const written *x = other_find(w->ticking, component);
    return x && x->version == version && reef__watch_may_write(w, component);
}

static reef_status running_mut_stored(reef_world *w, const char *op, reef_entity e, const type *t, const written *x,
                                      void **at)
{
    const reef_component c = {t->id};
    if (store_find(w, c.id, e) == NULL || t->size == 0) return reef__failure(w, REEF_ABSENT, op, c, e, 0);
    if (!reef__watch_write(w, op, e, c)) return REEF_UNDECLARED;
    if (x == NULL) return reef__failure(w, REEF_UNDECLARED, op, c, e, 0);
    if (!reef__store_claim(w, c.id, e, x->version)) return reef__failure(w, REEF_NO_MEMORY, op, c, e, 0);
    *at = (void *)(uintptr_t)store_find(w, c.id, e);
    reef__store_mark_at(store_of(w, c.id), e, x->version);
    if (t->tracked) reef__track_stamp_at(w, c.id, e.index, x->version);
    return REEF_OK;
}

static reef_status running_mut(reef_world *w, const char *op, reef_entity e, reef_component c, void **at)
{
    const uint32_t place = place_of(w, e);
    reef_slot *slots = reef_slots_at(&w->hot, place);
    const uint32_t id = slots[0].head.table, k = reef__slot_seek(w, c.id, id);
    written *x = other_find(w->ticking, c.id);
    const type *t = reef__type_of(c.id);
    if (place == PLACE_DEAD) return reef__failure(w, REEF_NOT_ALIVE, op, c, e, 0);
    if (t->stored) return running_mut_stored(w, op, e, t, x, at);
    if (k == 0 || k == REEF_SLOT_TAG) return reef__failure(w, REEF_ABSENT, op, c, e, 0);
    if (!reef__watch_write(w, op, e, c)) return REEF_UNDECLARED;
    if (x == NULL) return reef__failure(w, REEF_UNDECLARED, op, c, e, 0);
    if (!reef__column_claim(w, table_read(w, id), place_unit(place), k, x->version))
        return reef__failure(w, REEF_NO_MEMORY, op, c, e, 0);
    slots[k].version = t->tracked ? x->version : w->hot.version;
    x->touched = true;
    if (t->tracked) reef__track_stamp_at(w, c.id, e.index, x->version);
    *at = cell(slots, k, place_row(place), t->size);
    return REEF_OK;
}

/* Columns that the inlined mut marked get the version of the system that wrote them. */
static void other_settle(reef_world *w, written *x)
{
    if (!x->touched) return;
    x->touched = false;
    for (uint32_t id = TABLE_EMPTY; id < w->state.tables.count * TABLES_PER_PAGE; id++) {
        const table *t = table_read(w, id);
        const uint32_t k = t && table_rows(t) ? reef__slot_seek(w, x->component, id) : 0;
        if (k == 0 || k == REEF_SLOT_TAG) continue;
        for (uint32_t unit = t->first; unit; unit = unit_slots(w, unit)[0].head.next) {
            reef_slot *slots = unit_slots(w, unit);
            if (slots[k].version == w->hot.version) slots[k].version = x->version;
        }
    }
}

/* Of a component that is written in others' rows, and of its parts. */
static void others_begin(ticking *k, uint32_t component, uint64_t version)
{
    const type *t = reef__type_of(component);
    other_find(k, component)->version = version;
    for (uint32_t i = 0; i < t->part_count; i++) other_find(k, t->parts[i])->version = version;
}

static void others_settle(reef_world *w, ticking *k, uint32_t component)
{
    const type *t = reef__type_of(component);
    other_settle(w, other_find(k, component));
    for (uint32_t i = 0; i < t->part_count; i++) other_settle(w, other_find(k, t->parts[i]));
}

/* A block before the first of the job's. */
static void job_block(reef_block *b, reef_world *w, run *r, job *j, float dt)
{
    query *q = r->query;
    memset(b, 0, sizeof *b);
    b->world = w;
    b->dt = dt;
    b->context = r->system->context;
    b->job = j;
    b->part = true;
    if (q == NULL) return;
    b->query = q;
    b->head = &q->head;
    b->open = true;
    reef__walk_open(b, q);
    b->since = r->since;
    b->frozen = q->cut && q->cut->freezes ? r->frozen : NULL;
    reef__part_open(b, &j->begin, &j->end);
}

static bool rows_claim(reef_world *w, run *r, job *j)
{
    reef_block b;
    job_block(&b, w, r, j, 0);
    const bool stores = r->query->cut && r->query->cut->writes;
    while (reef_next(&b)) {
        if (!reef__part_claim(&b, r->version)) return false;
        if (stores && !reef__stored_claim(&b, r->version)) return false;
    }
    return true;
}

/* Jobs share pages of stores, and a page that becomes ours is another one: so the first job claims for all. */
static bool job_claim(reef_world *w, run *r, job *j)
{
    if (r->query->cut == NULL || !r->query->cut->writes) return rows_claim(w, r, j);
    for (uint32_t i = 0; j->number == 0 && i < r->job_count; i++)
        if (!rows_claim(w, r, &w->ticking->jobs[r->job_first + i])) return false;
    return true;
}

static void job_rows(reef_world *w, ticking *k, run *r, job *j)
{
    reef_block b;
    job_block(&b, w, r, j, k->dt);
    if (r->query == NULL) {
        r->system->function(&b);
        return;
    }
    const bool writes = writes_rows(r);
    uint64_t blocks = 0, rows = 0;
    while (reef_next(&b)) {
        if (writes) reef__part_mark(&b, r->version);
        reef__watch_block(w, &b);
        blocks++;
        rows += b.count;
        r->system->function(&b);
    }
    j->blocks = blocks;
    j->rows = rows;
}

static void job_run(reef_world *w, ticking *k, run *r, job *j)
{
    const uint64_t began = k->measures ? clock_now() : 0;
    if (k->trace.begin) k->trace.begin(k->trace.context, r->system->name, j->worker);
    job_rows(w, k, r, j);
    if (k->trace.end) k->trace.end(k->trace.context, r->system->name, j->worker);
    const uint64_t ended = k->measures ? clock_now() : began;
    j->time_ns = ended > began ? ended - began : 0; /* somebody may have set it back */
}

/* Maybe something that the run writes has to be made ours first. */
static bool run_must_claim(const reef_world *w, const run *r)
{
    if (!writes_rows(r) || w->hot.fork_version == 0) return false;
    return r->claimed_fork != w->hot.fork_version || r->claimed_epoch != w->state_epoch;
}

/* Its jobs claimed the blocks that they came to. Where it depends on rows which ones that are, others may come in
 * the next run. */
static void run_claimed(const reef_world *w, run *r)
{
    if (r->query == NULL || r->query->looks || r->query->fixed) return;
    r->claimed_fork = w->hot.fork_version;
    r->claimed_epoch = w->state_epoch;
}

static void run_end(reef_world *w, ticking *k, run *r);

/* It runs: it sees what the runs before it left. */
static void run_begin(reef_world *w, ticking *k, run *r)
{
    const query *q = r->query;
    r->begun = r->done = 0;
    r->stage = run_must_claim(w, r) ? RUN_CLAIMS : RUN_JOBS;
    if (k->failed) {
        r->job_count = 0;
    } else {
        for (uint32_t i = 0; r->receives && i < r->system->touch_count; i++) {
            const reef_touch *t = &r->system->touches[i];
            if (t->kind != REEF_RECEIVES) continue;
            for (const run *sender = &k->runs[k->run_first]; sender < r; sender++)
                if (sender->going) reef__events_gather(w, &k->jobs[sender->job_first], sender->job_count, t->type.id);
        }
        if (r->receives) reef__events_begin(w, r->system);
        r->since = q ? reef__query_last_run(q) : 0;
        if (q && q->cut && q->cut->freezes) reef__frozen_fill(q, r->frozen);
        if (q && q->since) reef__run_put(q, BUG(63) ? k->end_version : r->version);
        for (uint32_t at = 0, c; r->writes_others && (c = other_written(r->system, &at)) != 0;)
            others_begin(k, c, r->version);
        if (q && q->fixed && !reef__fixed_hold(q, r->since)) r->job_count = 0;
    }
    if (r->job_count == 0) run_end(w, k, r);
}

/* There are jobs for threads that wait, or none will come any more. */
static void phase_wake(ticking *k)
{
    RELEASE_STORE(&k->turns, k->turns + 1);
    condvar_wake(&k->wake);
}

/* Waiting runs that have nothing to wait for any more begin. */
static void run_release(reef_world *w, ticking *k, run *r)
{
    for (uint32_t i = 0; i < r->after_count; i++) {
        run *later = &k->runs[k->after[r->after_first + i]];
        if (later->going && --later->waiting == 0) run_begin(w, k, later);
    }
    phase_wake(k);
}

/* The parts of its jobs go into the singleton, in their order. */
static void sum_add(reef_world *w, ticking *k, const run *r)
{
    const struct system *s = r->system;
    void *total = NULL;
    if (sum_of(s).id) running_mut(w, "reef_part", w->state.single, sum_of(s), &total);
    for (uint32_t n = 0; total && n < r->job_count; n++) s->combine(total, k->jobs[r->job_first + n].part);
}

void *reef_part_id(const reef_block *b, reef_component c)
{
    if (b == NULL || b->job == NULL) return NULL;
    if (c.id && sum_of(b->job->system).id == c.id) return b->job->part;
    return reef__job_failure(b->job, REEF_UNDECLARED, "reef_part", c, (reef_entity){0, 0}, 0), NULL;
}

static void run_measure(ticking *k, run *r)
{
    uint64_t time = 0;
    r->stats.runs++;
    for (uint32_t i = 0; i < r->job_count; i++) {
        const job *j = &k->jobs[r->job_first + i];
        r->stats.blocks += j->blocks;
        r->stats.rows += j->rows;
        time += j->time_ns;
    }
    r->stats.time_ns += time;
    if (time > r->stats.longest_ns) r->stats.longest_ns = time;
}

static void run_end(reef_world *w, ticking *k, run *r)
{
    r->stage = RUN_ENDED;
    k->unfinished--;
    if (r->failed || k->failed) {
        /* it was no run: changes are still new to it */
        if (r->failed && r->query && r->query->since) reef__run_put(r->query, r->since);
        if (r->failed && (k->failed == NULL || r < k->failed)) k->failed = r;
    }
    if (!r->failed && !(k->failed && r->job_count == 0)) {
        run_claimed(w, r);
        sum_add(w, k, r);
        for (uint32_t at = 0, c; r->writes_others && (c = other_written(r->system, &at)) != 0;) others_settle(w, k, c);
        if (r->receives) reef__events_end(w, r->system);
        if (k->measures) run_measure(k, r);
    }
    run_release(w, k, r);
}

/* ---- all of them ---- */

static void job_do(reef_world *w, ticking *k, run *r, job *j, run_stage stage)
{
    if (stage != RUN_JOBS) {
        j->failed = !job_claim(w, r, j);
        return;
    }
    reef__watch_before(w, r);
    job_run(w, k, r, j);
    reef__watch_after(w);
}

/* A job is done. Under the lock. */
static void job_done(reef_world *w, ticking *k, run *r, const job *j)
{
    r->failed |= j->failed;
    if (BUG(61)) reef__commands_append(&w->deferred, &k->jobs[j - k->jobs].commands);
    if (++r->done < r->job_count) return;
    if (r->stage == RUN_CLAIMS && !r->failed) {
        r->stage = RUN_JOBS;
        r->begun = r->done = 0;
        phase_wake(k);
        return;
    }
    if (r->failed) r->job_count = 0;
    run_end(w, k, r);
}

static uint64_t random_next(uint64_t *x)
{
    *x ^= *x << 13;
    *x ^= *x >> 7;
    return *x ^= *x << 17;
}

static bool run_has_job(const run *r, uint32_t worker)
{
    if (!r->going || (r->stage != RUN_CLAIMS && r->stage != RUN_JOBS) || r->begun == r->job_count) return false;
    return worker == 0 || !r->system->main_thread || BUG(64);
}

/* The run whose next job this thread takes: the first in order; with a seed any. NULL: there is none now. */
static run *run_pick(ticking *k, uint32_t worker)
{
    run *found = NULL;
    uint32_t n = 0;
    while (k->ended_before < k->run_end &&
           (!k->runs[k->ended_before].going || k->runs[k->ended_before].stage == RUN_ENDED))
        k->ended_before++;
    for (uint32_t i = k->ended_before; i < k->run_end; i++) {
        run *r = &k->runs[i];
        if (!run_has_job(r, worker)) continue;
        if (k->shuffle == 0) return r;
        if (random_next(&k->shuffle) % ++n == 0) found = r;
    }
    return found;
}

/* Has every run that didn't end begun all of its jobs, which are its last? Then a helper need not wait for their
 * end. */
static bool phase_begun(const ticking *k)
{
    for (uint32_t i = k->ended_before; i < k->run_end; i++) {
        const run *r = &k->runs[i];
        if (r->going && r->stage != RUN_ENDED && (r->stage != RUN_JOBS || r->begun < r->job_count)) return false;
    }
    return true;
}

static void phase_work(void *data, uint32_t worker)
{
    reef_world *w = data;
    ticking *k = w->ticking;
    mutex_lock(&k->lock);
    while (k->unfinished) {
        run *r = run_pick(k, worker);
        if (r == NULL) {
            if (worker && phase_begun(k)) break;
            reef__pool_wait(w->pool, &k->lock, &k->wake, &k->turns);
            continue;
        }
        const uint32_t n = r->begun++;
        job *j = &k->jobs[r->job_first + (k->backwards ? r->job_count - 1 - n : n)];
        const run_stage stage = r->stage;
        uint64_t yields = k->shuffle ? random_next(&k->shuffle) % 4 : 0;
        j->worker = worker;
        if (BUG(62) && j->by.ids.lane != LANE_NONE) j->by.ids.lane = worker % j->by.ids.lanes;
        mutex_unlock(&k->lock);
        for (; yields; yields--) thread_yield();
        job_do(w, k, r, j, stage);
        mutex_lock(&k->lock);
        job_done(w, k, r, j);
    }
    mutex_unlock(&k->lock);
}

/* ---- joining ---- */

/* Failures of the caller's, in the order of the plan; those of calls on the world come behind them. */
static void failures_join(reef_world *w, ticking *k)
{
    for (uint32_t i = 0; i < k->job_count && k->first.status == REEF_OK; i++)
        if (k->jobs[i].error.status != REEF_OK) k->first = k->jobs[i].error;
    if (k->first.status == REEF_OK) k->first = w->world_failure;
}

/* A failure that is nobody's fault: of memory, in a run or in what comes behind all of them. */
static reef_error phase_error(const reef_world *w, const run *r)
{
    reef_error e = {.status = REEF_NO_MEMORY, .operation = "reef_tick", .component = w->hook_failed};
    if (r) memcpy(e.system, r->system->name, sizeof e.system);
    return e;
}

static COLD reef_status phase_failed(reef_world *w)
{
    w->error = phase_error(w, NULL);
    return REEF_NO_MEMORY;
}

/* What was requested is done; a system may be gone after it. */
static reef_status deferred_do(reef_world *w, ticking *k)
{
    const reef_status s = reef__world_flush(w);
    if (s == REEF_NO_MEMORY) return s;
    if (s < 0 && k->first.status == REEF_OK) k->first = w->error;
    return REEF_OK;
}

/* NO_MEMORY: what couldn't be done is kept, and done before anything else is. */
static reef_status phase_join(reef_world *w, ticking *k)
{
    uint32_t lanes = 0;
    reef__events_gather(w, k->jobs, k->job_count, 0);
    for (uint32_t i = 0; i < k->job_count; i++)
        if (k->jobs[i].by.ids.lane != LANE_NONE) k->made[lanes++] = k->jobs[i].by.ids.made;
    reef_status s = lanes && reef__lanes_end(w, k->made, lanes) != REEF_OK ? phase_failed(w) : REEF_OK;
    for (uint32_t i = 0; i < k->job_count; i++) reef__commands_append(&w->deferred, &k->jobs[i].commands);
    if (w->deferred.count) w->slow |= SLOW_DEFERRED;
    if (s == REEF_OK && w->deferred.count) s = deferred_do(w, k);
    if (s == REEF_OK && reef__events_settle(w) != REEF_OK) s = phase_failed(w);
    return s;
}

/* The first system, in the order of the plan, that had no memory while it ran. */
static const job *job_short_of_memory(const ticking *k)
{
    for (uint32_t i = 0; i < k->job_count; i++)
        if (k->jobs[i].short_of_memory) return &k->jobs[i];
    return NULL;
}

reef_status reef__phase_run(reef_world *w, uint32_t first, uint32_t end, float dt)
{
    ticking *k = w->ticking;
    run *at = NULL;
    k->run_first = k->ended_before = first;
    k->run_end = end;
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
        run *r = &k->runs[i];
        r->stage = RUN_WAITS;
        r->failed = false;
        r->waiting = 0;
        k->unfinished += r->going;
        if (k->shuffle) k->backwards = random_next(&k->shuffle) & 1;
    }
    for (uint32_t i = first; i < end; i++)
        for (uint32_t n = 0; k->runs[i].going && n < k->runs[i].after_count; n++)
            k->runs[k->after[k->runs[i].after_first + n]].waiting++;
    phase_open(w, k->end_version);
    reef__watch_open(w);
    for (uint32_t i = first; i < end; i++)
        if (k->runs[i].going && k->runs[i].waiting == 0 && k->runs[i].stage == RUN_WAITS) run_begin(w, k, &k->runs[i]);
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

/* ---- phases of simple runs ---- */

INLINE bool phase_is_known(const reef_world *w, const phase_plan *p)
{
    return p->known && p->tables_epoch == w->tables_epoch && p->state_epoch == w->state_epoch &&
           p->fork_version == w->hot.fork_version;
}

/* Queries know all tables, whose chunks stay where they are. */
static void quick_put(const run *r, uint32_t number, quick *x)
{
    const query *q = r->query;
    x->function = r->system->function;
    x->context = r->system->context;
    x->system = r->system;
    x->query = r->query;
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
        const run *r = &k->runs[i];
        p->known = !r->on || r->query == NULL || !(r->query->looks || r->query->fixed || run_must_claim(w, r));
    }
    p->quick_end = p->first;
    for (uint32_t i = p->first; p->known && i < p->end; i++)
        if (k->runs[i].on) quick_put(&k->runs[i], i - p->first, &k->quicks[p->quick_end++]);
    p->tables_epoch = w->tables_epoch;
    p->state_epoch = w->state_epoch;
    p->fork_version = w->hot.fork_version;
}

INLINE void quick_rows(const quick *x, reef_block *b, const match *m, uint64_t version)
{
    const reef_world *w = b->world;
    const table *t = m->table;
    const uint32_t unit = t->first;
    uint32_t count = t->next - unit_place(unit);
    if (count == 0) return; /* also where nothing is: 0 - 0 */
    reef_slot *slots =
        (reef_slot *)(uintptr_t)(LIKELY(m->unit == unit) ? match_first(m) : reef__match_slots(b, m, unit));
    b->match = m;
    for (;;) {
        const uint32_t next = slots[0].head.next;
        b->column = reef_slot_of(slots, m, 0);
        b->entities = slot_entities(slots);
        b->next_unit = next ? next : REEF_GO_TABLE;
        b->count = UNLIKELY(next != 0) ? REEF_BLOCK_ROWS : count;
        for (uint32_t i = 0; i < x->write_count; i++)
            ((reef_slot *)(uintptr_t)reef_slot_of(slots, m, i))->version = version;
        x->function(b);
        if (LIKELY(next == 0)) return;
        slots = unit_slots(w, next);
        count = t->next - unit_place(t->last);
    }
}

/* Any system may have commands for systems. */
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
        s = deferred_do(w, k);
    }
    if (!short_of_memory) return s;
    w->error = why;
    return REEF_NO_MEMORY;
}

/* What reef__phase_run does is here: nothing to prepare, each block marked and handed out, hardly anything to join.
 * A system of one block costs some 40 instructions beside the call; by way of jobs it would be 900. */
bool reef__phase_run_simple(reef_world *w, const phase_plan *p, float dt, reef_status *s)
{
    ticking *k = w->ticking;
    if (watching(w) || !phase_is_known(w, p) || w->pool || k->measures || k->trace.begin || k->trace.end) return false;
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
    b.job = j;
    b.dt = dt;
    b.part = b.open = true;
    const uint64_t version = w->hot.version + 1;
    k->other_count = 0;
    w->world_failure.status = REEF_OK;
    phase_open(w, version + (p->end - p->first));
    for (const quick *x = &k->quicks[p->first], *end = &k->quicks[p->quick_end]; x < end; x++) {
        j->system = x->system;
        b.context = x->context;
        b.query = x->query;
        b.head = x->query ? &x->query->head : NULL;
        if (UNLIKELY(x->query == NULL)) b.count = 0, x->function(&b);
        for (const match *m = x->first; m != x->end;
             m = (const match *)(const void *)((const char *)m + x->match_bytes))
            quick_rows(x, &b, m, version + x->number);
    }
    phase_close(w);
    if (k->first.status == REEF_OK) k->first = j->error.status != REEF_OK ? j->error : w->world_failure;
    if (UNLIKELY(j->commands.first != NULL || j->short_of_memory)) *s = simple_join(w, k);
    return true;
}

COLD void reef__ticking_drop(reef_world *w)
{
    ticking *k = w->ticking;
    memory *m = &w->family->memory;
    if (k == NULL) return;
    for (uint32_t i = 0; i < k->job_room; i++) reef__commands_drop(w, &k->jobs[i].commands);
    for (uint32_t i = 0; i < k->run_count; i++) reef__run_drop(w, &k->runs[i]);
    reef__memory_free(m, MEMORY_OTHER, k->runs, k->run_room * sizeof *k->runs);
    reef__memory_free(m, MEMORY_OTHER, k->quicks, k->run_room * sizeof *k->quicks);
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

void reef__run_drop(reef_world *w, run *r)
{
    if (r->query) (void)reef_query_free(w, r->handle);
    r->query = NULL;
    reef__frozen_drop(w, r->frozen);
    r->frozen = NULL;
}
