/* What ticks remember of a world's systems (src/time/tick.c), and the running of one phase (src/system/phase.c).
 *
 *   schedule.order ─► runs, phase by phase:  [begin: a b] [update: c d e f] [end: g]
 *   run d: waits for the earlier runs of its phase that it collides with; holds back later ones (`after`)
 *
 * A plan is made anew when the schedule isn't what it was. Structure stays as it is while a phase runs, so the jobs
 * are laid out when it begins: their number and borders depend on the tables alone. */
#ifndef REEF_SYSTEM_PHASE_H
#define REEF_SYSTEM_PHASE_H

#include "storage/running.h"
#include "query/query.h"
#include "system/access_check.h"
#include "system/job.h"
#include "reef/system.h"

typedef enum run_stage {
    RUN_WAITS,  /* for systems that it collides with */
    RUN_CLAIMS, /* its jobs make what it writes the world's own */
    RUN_JOBS,   /* its jobs run */
    RUN_ENDED
} run_stage;

/* A system in the plan of one world. */
typedef struct run {
    struct system *system;             /* gone, maybe, when the schedule changed; then only `serial` counts */
    uint64_t serial;                   /* of the system */
    query *query;                      /* NULL: it has no rows */
    reef_query handle;                 /* of that query */
    uint32_t after_first, after_count; /* later ones that collide with it: in ticking.after */
    bool on;
    /* it reads and writes its own rows only, and asks for nothing else: no job can be told from another */
    bool simple;
    bool reads_others, writes_others, receives, spawns;
    /* all that it may write is the world's own while these are those of the world */
    uint64_t claimed_fork, claimed_epoch;
    /* in the phase that runs */
    bool going, failed;
    run_stage stage;
    uint32_t waiting; /* runs that it still waits for */
    uint32_t job_first, job_count, begun, done;
    uint64_t version, since;
    frozen_versions *frozen; /* where its query asks for changes of stored values that it writes; else NULL */
    reef_system_stats stats;
} run;

/* A component that systems of the phase write in others' rows. The inlined mut writes without a call where a column
 * carries the world's version, so a column is given that when it is first asked for, and the system's own when the
 * system ends. */
typedef struct written {
    uint32_t component;
    bool touched;
    uint64_t version; /* of the system that runs and writes it */
} written;

/* A phase of the plan. While the numbers are those of the world, all its queries know all tables, and nothing is
 * shared with a fork. */
typedef struct phase_plan {
    uint32_t first, end; /* its runs */
    bool simple;         /* all of them are */
    bool reads;          /* some of them read others' rows */
    bool known;
    uint64_t tables_epoch, state_epoch, fork_version;
    uint32_t quick_end; /* the quick runs of the phase: from `first` on */
} phase_plan;

/* A simple run of a phase that is known: all that it takes, in one cache line. */
typedef struct quick {
    void (*function)(reef_block *block);
    void *context;
    const struct system *system;
    query *query;
    const match *first, *end;
    uint32_t match_bytes;
    uint16_t number, write_count; /* its place in the phase; columns that it writes */
} quick;

typedef struct ticking {
    uint64_t epoch; /* of the schedule that the plan is of; 0: none */
    run *runs;
    uint32_t run_count, run_room;
    quick *quicks; /* as many as runs */
    job quick_job;
    uint32_t *after;
    uint32_t after_count, after_room;
    phase_plan phases[REEF_PHASES_MAX];
    uint32_t phase_count;
    job *jobs;
    uint32_t job_count, job_room;
    char *queues, *parts; /* of jobs that send or sum */
    size_t queue_room, part_room;
    uint32_t *made; /* by lane */
    uint32_t made_room;
    written *others;
    uint32_t other_count, other_room;
    bool measures;
    reef_trace trace;
    /* of the tick */
    reef_error first; /* failure of the caller's */
    /* of the phase that runs */
    float dt;
    uint32_t run_first, run_end, ended_before; /* all before that run have ended */
    uint32_t unfinished;
    uint64_t end_version; /* the world's while systems run */
    uint64_t shuffle;     /* 0: jobs begin in their order; else the state of a random sequence */
    bool backwards;       /* the jobs of a run begin with its last */
    run *failed;          /* the first in order that had no memory */
    mutex lock;
    condvar wake;
    uint32_t turns; /* how often there was something to wake for */
#if defined(REEF_CHECKED)
    watch watch;
#endif
} ticking;

extern const struct running_calls reef__phase_running; /* reef_world.running while systems run */
/* Runs the systems of runs[first ... end) that are `going`; then what they left is joined. NO_MEMORY: some of it, or
 * some of them, could not; world->error.system says which was the first. */
reef_status reef__phase_run(reef_world *w, uint32_t first, uint32_t end, float dt);
/* The same for a phase of simple runs in a world without pool. False: something is unusual, reef__phase_run must.
 * NO_MEMORY in *s: as reef__phase_run. */
bool reef__phase_run_simple(reef_world *w, const phase_plan *p, float dt, reef_status *s);
void reef__phase_know(reef_world *w, phase_plan *p); /* after reef__phase_run */
void reef__run_drop(reef_world *w, run *r);
void reef__ticking_drop(reef_world *w); /* src/time/tick.c */

#endif
