/* A job: one share of one run of a system. What it is told beside its rows lies here, so that nothing is shared between threads while
 * systems run: its commands, its events, its parts of sums, its ids, its failures. Everything is joined in the order of (system, job).
 * The block that a system's function gets carries its job. */
#ifndef REEF_JOB_H
#define REEF_JOB_H

#include "change/command.h"
#include "reef/event.h"
#include "system/schedule.h"

#define LANE_NONE 0xFFFFFFFFu

struct event_queue;

typedef struct reef_job {
    reef_job_head head;
    reef_world   *world;
    const struct system *system;
    uint32_t      number;  /* in its system */
    uint32_t      worker;  /* the thread that runs it, 0: the one that ticks */
    uint64_t      version; /* of what the system writes */
    split_place   begin, end; /* of its rows */
    /* Ids: the k-th new one of lane l of L is position ((k / 64) * L + l) * 64 + k % 64 in the sequence "free ids, oldest first, then
     * fresh indices". LANE_NONE: the system makes no entities. */
    uint32_t      lane, lanes, made;
    uint32_t      fresh, fresh_count; /* the lane's next ids, so many, are the indices from here on, never used before */
    const uint32_t *recycled; /* or of these, so many, which are free */
    uint32_t      recycled_count;
    commands      commands;
    uint64_t      declared; /* what was held against the declaration last, and passed: touch kind << 32 | component */
    struct event_queue *queues; /* of what the system sends, in the order of its touches (src/system/event.c) */
    void         *part;    /* of its sum */
    reef_error    error;   /* the first failure */
    bool          failed;  /* no memory: its system doesn't run */
    bool          short_of_memory; /* some call of its function had none */
    uint64_t      blocks, rows, time_ns;
} job;

/* Records a failure of the job's: the first is kept. In the checked build a mistake of the caller calls the misuse hook. (src/storage/error.c) */
COLD reef_status job_failure(job *j, reef_status status, const char *operation, reef_component c, reef_entity e, uint64_t number);

#endif
