/* A job is a share of the rows of one system in one phase. Everything that the system's function produces beside its
 * rows lies here: commands, events, its part of a sum, new ids, failures. So threads share nothing while systems run.
 * Afterwards everything is joined in the order of (system, job). The block that a system's function gets points to its
 * job. */
#ifndef REEF_SYSTEM_JOB_H
#define REEF_SYSTEM_JOB_H

#include "storage/command_buffer.h"
#include "change/command.h"
#include "query/query.h"
#include "reef/event.h"
#include "reef/system.h"

struct event_queue;

typedef struct reef_job {
    reef_job_head head;
    reef_world *world;
    const struct system *system;
    uint32_t number;        /* number of this job within its system, counted from 0 */
    uint32_t worker;        /* the thread that runs it; 0: the one that ticks */
    uint64_t version;       /* the version that the system's writes get */
    split_place begin, end; /* its rows; in an order by depth `unit` is a place in the list */
    uint32_t wave_end;      /* jobs from this number on wait until this one and those before it have ended */
    /* what its command buffer knows of the job: ids, the system's name, and where failures go */
    recorder by;
    commands commands;
    uint64_t declared; /* The declaration that was checked last and found: touch kind << 32 | component. */
    /* for the events that the system sends, in the order of its touches (src/system/event.c) */
    struct event_queue *queues;
    void *part;           /* its part of the system's sum */
    reef_error error;     /* the first failure */
    bool failed;          /* there was no memory to prepare it: its system doesn't run */
    bool short_of_memory; /* some call of the system's function had no memory */
    uint64_t blocks, rows, time_ns;
} job;

/* What the command buffer of a job asks of it. */
extern const struct recorder_calls reef__job_recorder_calls;
/* Does the job's system declare this? Asking the same again costs one comparison. */
bool reef__job_declares(job *j, reef_touch_kind kind, uint32_t component);
/* Records a failure of a job; the first one is kept. In the checked build a mistake of the caller calls the misuse
 * hook. */
COLD reef_status reef__job_failure(job *j, reef_status status, const char *operation, reef_component c, reef_entity e,
                                   uint64_t number);
/* The same for an argument that is wrong, with what is wrong about it; and for a block, which may be one of a loop. */
COLD reef_status reef__job_misuse(job *j, const char *operation, reef_component c, reef_entity e, const char *why);
COLD reef_status reef__block_misuse(const reef_block *b, const char *operation, reef_component c, reef_entity e,
                                    const char *why);

#endif
