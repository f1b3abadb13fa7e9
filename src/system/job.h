/* A job: one share of one run of a system. What it is told beside its rows lies here, so that nothing is shared
 * between threads while systems run: its commands, its events, its parts of sums, its ids, its failures. Everything
 * is joined in the order of (system, job). The block that a system's function gets carries its job. */
#ifndef REEF_SYSTEM_JOB_H
#define REEF_SYSTEM_JOB_H

#include "base/platform.h"
#include "storage/command_buffer.h"
#include "change/command.h"
#include "query/query.h"
#include "reef/event.h"

struct event_queue;

typedef struct reef_job {
    reef_job_head head;
    reef_world *world;
    const struct system *system;
    uint32_t number;        /* in its system */
    uint32_t worker;        /* the thread that runs it, 0: the one that ticks */
    uint64_t version;       /* of what the system writes */
    split_place begin, end; /* of its rows */
    recorder by;            /* what its commands know of it: its ids, its system's name, where failures go */
    commands commands;
    uint64_t declared; /* what was held against the declaration last, and passed: touch kind << 32 | component */
    struct event_queue *queues; /* of what the system sends, in the order of its touches (src/system/event.c) */
    void *part;                 /* of its sum */
    reef_error error;           /* the first failure */
    bool failed;                /* no memory: its system doesn't run */
    bool short_of_memory;       /* some call of its function had none */
    uint64_t blocks, rows, time_ns;
} job;

/* What its buffer of commands asks of a job. */
extern const struct recorder_calls reef__job_recorder_calls;
/* Records a failure of the job's: the first is kept. In the checked build a mistake of the caller calls the misuse
 * hook. (src/storage/error.c) */
COLD reef_status reef__job_failure(job *j, reef_status status, const char *operation, reef_component c, reef_entity e,
                                   uint64_t number);

#endif
