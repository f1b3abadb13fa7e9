/* Systems that send and receive, run job by job by the test itself: what lies between their beginning and their end can be looked
 * at, and their jobs can be filled in any order. Each system may touch up to four types. */
#ifndef REEF_TESTS_EVENT_STAGE_H
#define REEF_TESTS_EVENT_STAGE_H

#include "event.h"
#include "support.h"

enum { STAGE_SYSTEMS = 8, STAGE_TOUCHES = 4 };

typedef struct stage {
    schedule       schedule;
    schedule_entry entries[STAGE_SYSTEMS];
    struct system  systems[STAGE_SYSTEMS];
    reef_touch     touches[STAGE_SYSTEMS][STAGE_TOUCHES];
    uint64_t       serial;
} stage;

static inline void stage_show(stage *s, reef_world *w)
{
    s->schedule.entries = s->entries;
    s->schedule.holders = 1u << 20; /* it is the test's: no world is the last that has it */
    w->schedule = &s->schedule;
}

/* The world's systems are those of the stage: none yet. */
static inline void stage_open(stage *s, reef_world *w)
{
    memset(s, 0, sizeof *s);
    stage_show(s, w);
}

/* A fork has the same systems. */
static inline void stage_fork(stage *s, const stage *from, reef_world *fork)
{
    *s = *from;
    for (uint32_t i = 0; i < s->schedule.count; i++) {
        s->systems[i].touches = s->touches[i];
        s->entries[i].system = &s->systems[i];
    }
    stage_show(s, fork);
}

static inline bool stage_add(stage *s, reef_world *w, const char *name, const reef_touch *touches)
{
    struct system *x = &s->systems[s->schedule.count];
    memset(x, 0, sizeof *x);
    snprintf(x->name, sizeof x->name, "%s", name);
    for (const char *p = name; *p; p++) x->name_hash = x->name_hash * 31 + (uint64_t)*p;
    x->serial = ++s->serial;
    x->touches = s->touches[s->schedule.count];
    while (touches[x->touch_count].kind) {
        x->touches[x->touch_count] = touches[x->touch_count];
        x->touch_count++;
    }
    if (!events_follow(w, x)) return false;
    s->entries[s->schedule.count++].system = x;
    s->schedule.epoch++;
    return true;
}

static inline struct system *stage_system(stage *s, const char *name)
{
    for (uint32_t i = 0; i < s->schedule.count; i++)
        if (strcmp(s->systems[i].name, name) == 0) return &s->systems[i];
    return NULL;
}

/* Only the last one can go. */
static inline void stage_remove_last(stage *s, reef_world *w)
{
    events_leave(w, s->systems[--s->schedule.count].serial);
    s->schedule.epoch++;
}

/* A job of a system, and the block that its function would get. */
typedef struct stage_job {
    job        job;
    reef_block block;
} stage_job;

static inline void job_open(stage_job *x, reef_world *w, const struct system *s)
{
    memset(x, 0, sizeof *x);
    x->job.world = w;
    x->job.system = s;
    if (event_queues(s)) x->job.queues = calloc(event_queues(s), event_queue_bytes());
    x->block.world = w;
    x->block.job = &x->job;
}

static inline void job_close(stage_job *x)
{
    free(x->job.queues);
    x->job.queues = NULL;
}

#endif
