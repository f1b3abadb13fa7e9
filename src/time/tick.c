/* Ticks: the plan of a world's systems, the phases in their order, and time.
 *
 *   reef_tick ──► commands that are left ──► rows are grouped ──► phase "begin" ──► ... ──► phase "end"
 *
 * A phase runs once a tick; or, if it has a step of its own, as many times as its steps fit into the time that has
 * passed. */
#include "base/thread_pool.h"
#include "storage/error.h"
#include "storage/invalidate.h"
#include "storage/serial_list.h"
#include "change/command.h"
#include "query/grouped_rows.h"
#include "query/query.h"
#include "query/sort_tables.h"
#include "system/event.h"
#include "system/event_entity.h"
#include "system/phase.h"
#include "system/schedule.h"
#include "system/simple_phase.h"
#include "system/system.h"
#include "world/fork_policy.h"
#include "world/snapshot.h"
#include "reef/system.h"
#include "reef/schedule.h"
#include "reef/control.h"

enum { STEPS_USUAL = 8 };

/* ---- the plan ---- */

static COLD ticking *ticking_ready(reef_world *w)
{
    if (w->ticking) return w->ticking;
    ticking *k = reef__memory_zeroed(&w->family->memory, MEMORY_OTHER, sizeof *k);
    if (k == NULL) return NULL;
    const bool lock = mutex_make(&k->lock), wake = lock && condvar_make(&k->wake);
    if (wake) return w->ticking = k;
    if (lock) mutex_drop(&k->lock);
    reef__memory_free(&w->family->memory, MEMORY_OTHER, k, sizeof *k);
    return NULL;
}

static bool touches_kind(const struct system *s, reef_touch_kind kind)
{
    for (uint32_t i = 0; i < s->touch_count; i++)
        if (s->touches[i].kind == kind) return true;
    return false;
}

/* Makes a planned system. False: no memory for its query. */
static bool planned_make(reef_world *w, planned_system *ps, struct system *s)
{
    memset(ps, 0, sizeof *ps);
    ps->system = s;
    ps->number = s->number;
    ps->writes_others = s->unsplit == SPLIT_WRITES_OTHERS || s->unsplit == SPLIT_WRITES_FIXED ||
                        touches_kind(s, REEF_WRITES) || touches_kind(s, REEF_SUMS);
    for (uint32_t i = 0; s->has_query && i < REEF_TERMS_MAX; i++)
        ps->writes_others |= s->query.terms[i].source.generation != 0;
    ps->places = touches_kind(s, REEF_PLACED);
    ps->reads_others = ps->places || touches_kind(s, REEF_READS) || touches_kind(s, REEF_WRITES);
    ps->receives = touches_kind(s, REEF_RECEIVES);
    ps->spawns = touches_kind(s, REEF_SPAWNS);
    ps->simple = !ps->writes_others && !ps->receives && !ps->places && !touches_kind(s, REEF_SENDS) && !s->commands &&
                 s->condition == NULL && s->interval_ns == 0;
    if (!s->has_query) return true;
    ps->query = reef__query_make(w, &s->query);
    ps->handle = reef__query_handle(ps->query);
    if (ps->query) ps->query->serial = s->serial;
    if (s->query.cascade.id) ps->simple = false;
    return ps->query != NULL;
}

static bool after_add(reef_world *w, ticking *k, uint32_t later)
{
    if (!reef__array_room(&w->family->memory, MEMORY_OTHER, &k->after, &k->after_room, k->after_count + 1,
                          sizeof *k->after))
        return false;
    k->after[k->after_count++] = later;
    return true;
}

/* Finds out which system waits for which. */
static bool plan_order(reef_world *w, ticking *k)
{
    k->after_count = 0;
    for (uint32_t p = 0; p < k->phase_count; p++) {
        const phase_plan *x = &k->phases[p];
        for (uint32_t i = x->first; i < x->end; i++) {
            planned_system *ps = &k->plan[i];
            ps->after_first = k->after_count;
            for (uint32_t j = i + 1; j < x->end; j++)
                if (reef__systems_collide(ps->system, k->plan[j].system) && !after_add(w, k, j)) return false;
            ps->after_count = k->after_count - ps->after_first;
        }
    }
    return true;
}

/* The system with this number in a plan; NULL: it isn't in it. */
static planned_system *planned_of(planned_system *plan, uint32_t count, uint64_t number)
{
    for (uint32_t i = 0; i < count; i++)
        if (plan[i].number == number) return &plan[i];
    return NULL;
}

/* Drops planned systems that don't come into the plan after all; those that the old plan has too are kept. */
static void planned_forget(reef_world *w, const ticking *k, planned_system *plan, uint32_t count)
{
    while (count-- > 0) {
        if (planned_of(k->plan, k->plan_count, plan[count].number)) continue;
        /* the system lives on, and what it has seen stays in the state */
        if (plan[count].query) plan[count].query->serial = 0;
        reef__planned_drop(w, &plan[count]);
    }
}

/* Plans the systems of the schedule as it is now. What is planned already is taken over as it is. NULL: no memory. */
static COLD planned_system *schedule_plan(reef_world *w, ticking *k, const schedule *c)
{
    planned_system *plan = reef__memory_zeroed(&w->family->memory, MEMORY_OTHER, (c->count + 1) * sizeof *plan);
    for (uint32_t i = 0; plan && i < c->count; i++) {
        const schedule_entry *e = &c->entries[c->order[i]];
        planned_system *was = planned_of(k->plan, k->plan_count, e->system->number);
        bool ok = true;
        if (was) plan[i] = *was;
        else ok = planned_make(w, &plan[i], e->system);
        if (!ok) {
            planned_forget(w, k, plan, i);
            reef__memory_free(&w->family->memory, MEMORY_OTHER, plan, (c->count + 1) * sizeof *plan);
            return NULL;
        }
        plan[i].on = e->on;
    }
    return plan;
}

/* Makes a plan that fits the schedule. It has room for one more system than the schedule, for reef_system_once. False:
 * no memory. */
static COLD bool plan_renew(reef_world *w, ticking *k)
{
    const schedule *c = reef__schedule_ready(w);
    if (c == NULL) return false;
    planned_system *plan = schedule_plan(w, k, c);
    quick *quicks =
        plan ? reef__memory_zeroed(&w->family->memory, MEMORY_OTHER, (c->count + 1) * sizeof *quicks) : NULL;
    if (quicks == NULL) {
        if (plan) planned_forget(w, k, plan, c->count);
        reef__memory_free(&w->family->memory, MEMORY_OTHER, plan, (c->count + 1) * sizeof *plan);
        return false;
    }
    k->epoch = 0;
    for (uint32_t i = 0; i < k->plan_count; i++) {
        query *q = k->plan[i].query;
        if (planned_of(plan, c->count, k->plan[i].number)) continue;
        if (q && reef__schedule_knows(w, q->serial)) q->serial = 0; /* another one goes on with what it has seen */
        reef__planned_drop(w, &k->plan[i]);
    }
    reef__memory_free(&w->family->memory, MEMORY_OTHER, k->plan, k->plan_room * sizeof *k->plan);
    reef__memory_free(&w->family->memory, MEMORY_OTHER, k->quicks, k->plan_room * sizeof *k->quicks);
    k->plan = plan;
    k->quicks = quicks;
    k->plan_count = c->count;
    k->plan_room = c->count + 1;
    k->phase_count = c->phase_count;
    for (uint32_t p = 0; p < c->phase_count; p++) {
        phase_plan *x = &k->phases[p];
        memset(x, 0, sizeof *x);
        x->first = c->phases[p].first;
        x->step_ns = c->phases[p].step_ns;
        x->mark = reef__brief_mark(c->phases[p].name);
        x->end = p + 1 < c->phase_count ? c->phases[p + 1].first : c->count;
        x->simple = true;
        for (uint32_t i = x->first; i < x->end; i++) {
            x->simple &= plan[i].simple;
            x->reads |= plan[i].reads_others;
        }
    }
    if (!plan_order(w, k)) return false;
    k->epoch = c->epoch;
    return true;
}

/* Does the plan fit the schedule now? False: no memory. */
INLINE bool plan_update(reef_world *w, ticking *k)
{
    return LIKELY(w->schedule != NULL && k->epoch == w->schedule->epoch) || plan_renew(w, k);
}

/* ---- one phase ---- */

static COLD reef_status no_memory_for(reef_world *w, const struct system *s)
{
    reef__refuse(w, REEF_NO_MEMORY, "reef_tick");
    if (s) memcpy(w->error.system, s->name, sizeof w->error.system);
    return REEF_NO_MEMORY;
}

/* Asks the condition of a system. What it does wrong counts as the system's mistake. */
static COLD bool condition_holds(reef_world *w, const struct system *x)
{
    const reef_error before = w->error;
    w->error.status = REEF_OK;
    const bool holds = x->condition(w, x->context);
    if (w->error.status < REEF_OK && w->ticking->first.status == REEF_OK) {
        w->ticking->first = w->error;
        memcpy(w->ticking->first.system, x->name, sizeof w->ticking->first.system);
    }
    w->error = before;
    return holds;
}

/* Is the system on, has its interval passed, and does its condition hold? *s: no memory for its clock. */
static bool planned_is_due(reef_world *w, const planned_system *ps, reef_status *s)
{
    const struct system *x = ps->system;
    if (!ps->on) return false;
    if (x->interval_ns) {
        uint64_t *last = reef__clock_own(w, x->serial);
        if (last == NULL) *s = no_memory_for(w, x);
        if (last == NULL || w->state.time_ns - *last < x->interval_ns) return false;
    }
    if (x->condition && !condition_holds(w, x)) return false;
    if (x->interval_ns) {
        *reef__clock_own(w, x->serial) = w->state.time_ns; /* it is there */
        reef__invalidate(w, INVALIDATE_WRITTEN);
    }
    return true;
}

static reef_status phase_tick(reef_world *w, uint32_t number, float dt)
{
    ticking *k = w->ticking;
    /* an earlier step may have changed the schedule */
    reef_status s = plan_update(w, k) ? REEF_OK : no_memory_for(w, NULL);
    if (s != REEF_OK) return s;
    phase_plan *p = &k->phases[number];
    if (reef__phase_run_simple(w, p, dt, &s)) return s;
    bool any = false;
    for (uint32_t i = p->first; i < p->end && s == REEF_OK; i++) {
        k->plan[i].going = planned_is_due(w, &k->plan[i], &s);
        any |= k->plan[i].going;
    }
    if (s == REEF_OK && any) s = reef__phase_run(w, p->first, p->end, dt);
    if (s == REEF_OK && k->epoch == w->schedule->epoch) reef__phase_know(w, p);
    return s;
}

static float seconds(uint64_t ns) { return (float)((double)ns * 1e-9); }

/* Runs a phase that has a step of its own as many times as its steps fit into the time that waits. */
static reef_status phase_steps(reef_world *w, uint32_t number, uint64_t ns)
{
    const phase *p = &w->schedule->phases[number]; /* it may be gone after the first step */
    const uint64_t step = p->step_ns, serial = p->serial;
    const uint32_t most = p->steps_max ? p->steps_max : STEPS_USUAL;
    uint64_t *waits = reef__clock_own(w, serial);
    if (waits == NULL) return no_memory_for(w, NULL);
    *waits += ns;
    reef_status s = REEF_OK;
    for (uint32_t i = 0; i < most && s == REEF_OK && *reef__clock_own(w, serial) >= step; i++) {
        *reef__clock_own(w, serial) -= step;
        reef__invalidate(w, INVALIDATE_WRITTEN);
        w->step = i;
        s = phase_tick(w, number, seconds(step));
    }
    w->step = 0;
    waits = reef__clock_own(w, serial);
    if (s == REEF_OK && *waits >= step) *waits %= step;
    return s;
}

/* ---- a tick ---- */

static bool time_is_good(float dt) { return dt >= 0 && dt <= 1e6f; }

static reef_status phases_tick(reef_world *w, float dt)
{
    const uint64_t ns = (uint64_t)((double)dt * 1e9 + 0.5);
    if (reef__grouped_any(w) && reef__storage_group(w) != REEF_OK) return w->error.status;
    ticking *k = w->ticking;
    if (!plan_update(w, k)) return no_memory_for(w, NULL);
    w->state.ticks++;
    w->state.time_ns += ns;
    reef__invalidate(w, INVALIDATE_WRITTEN);
    reef_status s = reef__events_expire_begin(w, k->phases[k->phase_count - 1].mark);
    for (uint32_t i = 0; i < w->schedule->phase_count && s == REEF_OK; i++) {
        if (!plan_update(w, k)) return no_memory_for(w, NULL); /* an earlier phase may have changed the schedule */
        const phase_plan *p = &k->phases[i];
        const uint64_t mark = p->mark; /* the plan may be another one after the phase */
        s = p->step_ns ? phase_steps(w, i, ns) : phase_tick(w, i, dt);
        if (s == REEF_OK) s = reef__events_expire(w, mark);
    }
    return s;
}

/* Every tick begins with this: the plan is brought up to date, and commands that are left are done. */
static reef_status tick_begin(reef_world *w, const char *op, float dt)
{
    if (w->locks || w->flushing || w->time_owner) return reef__refuse(w, REEF_LOCKED, op);
    if (!time_is_good(dt)) return misuse_refuse(w, op, "a tick takes 0 to 1,000,000 seconds");
    ticking *k = ticking_ready(w);
    if (k == NULL || !plan_update(w, k)) return reef__refuse(w, REEF_NO_MEMORY, op);
    if (w->slow & SLOW_DEFERRED && reef__world_flush(w) == REEF_NO_MEMORY) return REEF_NO_MEMORY;
    k->first.status = REEF_OK;
    k->shuffle = reef__pool_shuffle(w->pool);
    if (k->shuffle) k->shuffle += w->state.ticks * 0x9E3779B97F4A7C15u | 1;
    return REEF_OK;
}

/* The first mistake of a system becomes the world's last error. */
static reef_status tick_end(reef_world *w, reef_status s)
{
    if (s != REEF_OK) return s;
    if (w->ticking->first.status == REEF_OK) reef__error_pass(w);
    else w->error = w->ticking->first;
    return s;
}

/* A tick that fails leaves no trace: the state is set back to the copy that was set aside. */
static COLD reef_status tick_atomic(reef_world *w, float dt)
{
    skips_room room = {0};
    reef_world *backup = reef__world_restorable(w);
    if (backup == NULL) return w->error.status;
    if (!reef__skips_prepare(backup, &room)) {
        reef_world_free(backup);
        return no_memory_for(w, NULL);
    }
    reef_status s = phases_tick(w, dt);
    if (s != REEF_OK) {
        const reef_error why = w->error;
        reef__skips_commit(w, backup, &room);
        reef__state_exchange(w, backup);
        w->error = why;
    }
    reef__skips_free(w->family, &room);
    reef_world_free(backup);
    return s;
}

static COLD reef_status tick_measured(reef_world *w, float dt)
{
    const uint64_t began = clock_now();
    const reef_status s = w->config.atomic_tick ? tick_atomic(w, dt) : phases_tick(w, dt);
    const uint64_t ended = clock_now();
    reef_tick_stats *x = &w->ticking->stats;
    if (s != REEF_OK) return s;
    x->ticks++;
    x->last_ns = ended > began ? ended - began : 0; /* somebody may have set the clock back */
    x->time_ns += x->last_ns;
    if (x->last_ns > x->longest_ns) x->longest_ns = x->last_ns;
    return s;
}

reef_status reef_tick_once(reef_world *w, float dt)
{
    if (!WORLD_GIVEN(w)) return REEF_BAD_ARGUMENT;
    reef_status s = tick_begin(w, "reef_tick", dt);
    if (s != REEF_OK) return s;
    world_hold(w);
    if (UNLIKELY(w->ticking->measures)) s = tick_measured(w, dt);
    else s = w->config.atomic_tick ? tick_atomic(w, dt) : phases_tick(w, dt);
    world_let_go(w);
    return tick_end(w, s);
}

reef_status reef_tick(reef_world *w, float dt)
{
    if (WORLD_GIVEN(w) && w->paused) return w->locks ? reef__refuse(w, REEF_LOCKED, "reef_tick") : REEF_OK;
    return reef_tick_once(w, dt);
}

COLD reef_status reef_tick_phase(reef_world *w, const char *name, float dt)
{
    static const char op[] = "reef_tick_phase";
    uint32_t number;
    if (!WORLD_GIVEN(w)) return REEF_BAD_ARGUMENT;
    reef_status s = tick_begin(w, op, dt);
    if (s != REEF_OK) return s;
    if (!reef__phase_named(w, op, name, &number)) return w->error.status;
    world_hold(w);
    s = phase_tick(w, number, dt);
    world_let_go(w);
    return tick_end(w, s);
}

COLD reef_status reef_system_once(reef_world *w, const reef_system_desc *desc, float dt)
{
    static const char op[] = "reef_system_once";
    if (!WORLD_GIVEN(w)) return REEF_BAD_ARGUMENT;
    reef_status s = tick_begin(w, op, dt);
    if (s != REEF_OK) return s;
    struct system *x = reef__system_make(w, op, desc, NULL);
    if (x == NULL) return w->error.status;
    ticking *k = w->ticking;
    planned_system *ps = &k->plan[k->plan_count];
    if (planned_make(w, ps, x) && (!ps->receives || reef__events_follow(w, x))) {
        ps->going = ps->on = true;
        world_hold(w);
        s = reef__phase_run(w, k->plan_count, k->plan_count + 1, dt);
        world_let_go(w);
        if (ps->receives) reef__events_leave(w, x->serial);
    } else {
        s = no_memory_for(w, x);
    }
    reef__planned_drop(w, ps);
    reef__system_leave(w->family, x);
    return tick_end(w, s);
}

/* ---- asking ---- */

void reef_pause(reef_world *w, bool paused)
{
    if (WORLD_GIVEN(w)) w->paused = paused;
}

COLD reef_status reef_own_time(reef_world *w, const char *owner)
{
    if (!WORLD_GIVEN(w)) return REEF_BAD_ARGUMENT;
    if (owner && w->time_owner && strcmp(owner, w->time_owner) != 0)
        return reef__refuse(w, REEF_EXISTS, "reef_own_time");
    w->time_owner = owner;
    return REEF_OK;
}

void reef_hold_readers(reef_world *w, bool held)
{
    if (WORLD_GIVEN(w)) w->readers_held = held;
}

const char *reef_time_owner(const reef_world *w) { return WORLD_GIVEN(w) ? w->time_owner : NULL; }

bool reef_is_paused(const reef_world *w) { return WORLD_GIVEN(w) && w->paused; }
uint64_t reef_tick_count(const reef_world *w) { return WORLD_GIVEN(w) ? w->state.ticks : 0; }
uint64_t reef_time_ns(const reef_world *w) { return WORLD_GIVEN(w) ? w->state.time_ns : 0; }

COLD void reef_measure_systems(reef_world *w, bool on)
{
    ticking *k = WORLD_GIVEN(w) && !w->locks ? ticking_ready(w) : NULL;
    if (k == NULL) return;
    if (on && !k->measures) {
        for (uint32_t i = 0; i < k->plan_count; i++) memset(&k->plan[i].stats, 0, sizeof k->plan[i].stats);
        memset(&k->stats, 0, sizeof k->stats);
    }
    k->measures = on;
}

COLD reef_system_stats reef_system_measured(const reef_world *w, reef_system_id which)
{
    const reef_system_stats never_ran = {0, 0, 0, 0, 0};
    reef_status s;
    const schedule_entry *e = WORLD_GIVEN(w) && w->schedule && w->ticking ? reef__schedule_find(w, which, &s) : NULL;
    const planned_system *ps = e ? planned_of(w->ticking->plan, w->ticking->plan_count, e->system->number) : NULL;
    return ps ? ps->stats : never_ran;
}

COLD reef_tick_stats reef_tick_measured(const reef_world *w)
{
    const reef_tick_stats never_ran = {0, 0, 0, 0};
    return WORLD_GIVEN(w) && w->ticking ? w->ticking->stats : never_ran;
}

COLD void reef_set_profiler(reef_world *w, const reef_profiler *trace)
{
    static const reef_profiler none;
    ticking *k = WORLD_GIVEN(w) && !w->locks ? ticking_ready(w) : NULL;
    if (k) k->trace = trace ? *trace : none;
}
