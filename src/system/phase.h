/* The plan that a world makes of its schedule (src/time/tick.c), and the running of one phase (src/system/phase.c).
 *
 *   schedule.order ─► the plan, phase by phase:  [begin: a b] [update: c d e f] [end: g]
 *   planned system d: waits for the earlier systems of its phase that it collides with, and holds back later ones
 *                     (`after`)
 *
 * The plan is made anew when the schedule has changed. No entity moves while a phase runs, so the jobs are laid out
 * before it begins: their number and their borders depend on the tables alone. */
#ifndef REEF_SYSTEM_PHASE_H
#define REEF_SYSTEM_PHASE_H

#include "storage/invalidate.h"
#include "storage/running.h"
#include "query/query.h"
#include "system/access_check.h"
#include "system/job.h"
#include "reef/system.h"
#include "reef/schedule.h"

typedef enum system_stage {
    STAGE_WAITS,  /* it waits for systems that it collides with */
    STAGE_CLAIMS, /* its jobs make what it writes the world's own */
    STAGE_RUNS,   /* its jobs call its function */
    STAGE_ENDED
} system_stage;

/* A system in the plan of one world. */
typedef struct planned_system {
    struct system *system;             /* may be freed when the schedule has changed; then only `number` is valid */
    uint64_t number;                   /* the system's number */
    query *query;                      /* its query; NULL: it has no rows */
    reef_query handle;                 /* the handle of that query */
    uint32_t after_first, after_count; /* the later systems that collide with it, in ticking.after */
    bool on;
    /* It reads and writes only its own rows, and asks for nothing else: its function can't tell one job from
     * another. */
    bool simple;
    bool reads_others, writes_others, receives, spawns, places;
    /* While these are the world's numbers, the world alone holds everything that the system may write. */
    uint64_t claimed_fork, claimed_epoch;
    /* These are valid while a phase runs. */
    bool going, failed;
    system_stage stage;
    uint32_t waiting; /* number of systems that it still waits for */
    uint32_t job_first, job_count, begun, done;
    uint32_t wave, wave_end; /* the jobs that may run now: usually all; in an order by depth those of one depth */
    uint64_t version, since;
    frozen_versions *frozen; /* not NULL: its query asks for changes of stored values that it writes itself */
    reef_system_stats stats;
} planned_system;

/* A component that systems of the phase write in others' rows. The inlined reef_mut writes without a call where a
 * column has the world's version. So a column gets that version when it is first asked for, and the system's own
 * version when the system ends. */
typedef struct written {
    uint32_t component;
    bool touched;
    uint64_t version; /* the version of the system that runs and writes it */
} written;

/* A phase of the plan: everything that a tick reads of it, in one cache line. While its numbers are those of the world,
 * all its queries know all tables, and nothing is shared with a fork. */
typedef struct phase_plan {
    uint32_t first, end; /* its systems */
    uint32_t quick_end;  /* the end of the phase's quick systems, which begin at `first` */
    bool simple;         /* all its systems are simple */
    bool reads;          /* some of its systems read others' rows */
    bool known;
    uint64_t tables_epoch, told, state_epoch, fork_version;
    uint64_t step_ns; /* as in the schedule */
    uint64_t mark;    /* of the entities that are events and were made by this phase: reef__brief_mark */
} phase_plan;

/* A simple system of a known phase: everything that running it takes, in one cache line. */
typedef struct quick {
    void (*function)(reef_block *block);
    void *context;
    const struct system *system;
    query *query;
    const match *first, *end;
    uint32_t match_bytes;
    uint16_t number, write_count; /* its place in the phase; the number of columns that it writes */
} quick;

typedef struct ticking {
    /* what a tick of simple systems reads, with the first mistake and the first phases */
    uint64_t epoch; /* epoch of the schedule from which the plan was made; 0: none */
    planned_system *plan;
    uint32_t plan_count, plan_room;
    quick *quicks;    /* room for as many as there are planned systems */
    uint64_t shuffle; /* 0: jobs begin in their order; else: the state of a random sequence */
    reef_profiler trace;
    uint32_t phase_count, other_count;
    bool measures;
    job quick_job;
    reef_error first; /* valid during a tick: the first mistake of the caller */
    uint32_t *after;
    uint32_t after_count, after_room;
    job *jobs;
    uint32_t job_count, job_room;
    char *queues, *parts; /* for jobs that send events, and for jobs that sum */
    size_t queue_room, part_room;
    uint32_t *made; /* number of ids that each lane made */
    uint32_t made_room, other_room;
    written *others;
    reef_tick_stats stats;
    /* These are valid while a phase runs. */
    float dt;
    uint32_t phase_first, phase_end, ended_before; /* all systems before it have ended */
    uint32_t unfinished;
    uint64_t end_version;   /* the world's version while the systems run */
    bool backwards;         /* the jobs of a system begin with the last one */
    planned_system *failed; /* the first system, in the order of the plan, that had no memory */
    mutex lock;
    condvar wake;
    uint32_t turns; /* how many times there was a reason to wake the other threads */
    phase_plan phases[REEF_PHASES_MAX];
#if defined(REEF_CHECKED)
    watch watch;
#endif
} ticking;

extern const struct running_calls reef__phase_running; /* becomes reef_world.running while systems run */
/* Runs those systems of the plan between `first` and `end` that are `going`, and joins what their jobs produced.
 * NO_MEMORY: some systems didn't run, or some results couldn't be joined yet; world->error.system names the first. */
reef_status reef__phase_run(reef_world *w, uint32_t first, uint32_t end, float dt);
void reef__planned_drop(reef_world *w, planned_system *ps);
void reef__ticking_drop(reef_world *w);

/* ---- for src/system/simple_phase.c ---- */

/* Makes the pages of what the system writes the world's own. False: no memory. */
bool reef__planned_rows_prepare(reef_world *w, planned_system *ps);
/* Does the recorded commands. A system may be gone afterwards. */
reef_status reef__phase_deferred_do(reef_world *w, ticking *k);

/* Keeps a mistake of the caller, if it is the first one of the tick. Where all went well, only the two numbers are
 * looked at: an error is four lines of the cache. */
INLINE void failure_keep(ticking *k, const reef_error *e)
{
    if (UNLIKELY(e->status != REEF_OK) && k->first.status == REEF_OK) k->first = *e;
}

INLINE bool writes_rows(const planned_system *ps)
{
    const query *q = ps->query;
    return q && (q->head.write_count || q->optional_writes || (q->cut && q->cut->writes));
}

/* May something that the system writes be shared, so that it has to be made the world's own first? */
INLINE bool planned_must_claim(const reef_world *w, const planned_system *ps)
{
    if (!writes_rows(ps) || w->hot.fork_version == 0) return false;
    return ps->claimed_fork != w->hot.fork_version || ps->claimed_epoch != w->state_epoch;
}

/* The system's jobs claimed the blocks that they came to. Where the rows decide which blocks those are, there may be
 * others the next time; so this isn't remembered then. */
INLINE void planned_claimed(const reef_world *w, planned_system *ps)
{
    if (ps->query == NULL || ps->query->looks || ps->query->fixed) return;
    ps->claimed_fork = w->hot.fork_version;
    ps->claimed_epoch = w->state_epoch;
}

INLINE void phase_open(reef_world *w, uint64_t version)
{
    w->hot.version = version;
    w->locks++;
    reef__invalidate(w, INVALIDATE_LOOP_OPENED | INVALIDATE_WRITTEN);
    w->running = &reef__phase_running;
}

INLINE void phase_close(reef_world *w)
{
    w->running = NULL;
    w->locks--;
    reef__invalidate(w, INVALIDATE_CONDITION_CHANGED | INVALIDATE_WRITTEN);
}

#endif
