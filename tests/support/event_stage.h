/* Systems that send and receive events, and whose jobs the test runs itself. So a test can inspect states between the
 * beginning and the end of a system, and fill its jobs in any order. Each system may touch up to four types. */
#ifndef REEF_TESTS_EVENT_STAGE_H
#define REEF_TESTS_EVENT_STAGE_H

#include "storage/world_data.h"
#include "system/schedule.h"
#include "system/event.h"
#include "support.h"

enum { STAGE_SYSTEMS = 8, STAGE_TOUCHES = 4 };

typedef struct stage {
    schedule schedule;
    schedule_entry entries[STAGE_SYSTEMS];
    struct system systems[STAGE_SYSTEMS];
    reef_touch touches[STAGE_SYSTEMS][STAGE_TOUCHES];
    uint64_t serial;
} stage;

static inline void stage_show(stage *s, reef_world *w)
{
    s->schedule.entries = s->entries;
    s->schedule.holders = 1u << 20; /* it is the test's: no world is the last that has it */
    w->schedule = &s->schedule;
}

/* Gives the world the systems of this stage, of which there are none yet. */
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
    if (!reef__events_follow(w, x)) return false;
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
    reef__events_leave(w, s->systems[--s->schedule.count].serial);
    s->schedule.epoch++;
}

/* A job of a system, and the block that its function would get. */
typedef struct stage_job {
    job job;
    reef_block block;
} stage_job;

static inline void job_open(stage_job *x, reef_world *w, const struct system *s)
{
    memset(x, 0, sizeof *x);
    x->job.world = w;
    x->job.system = s;
    if (reef__event_queues(s)) x->job.queues = calloc(reef__event_queues(s), reef__event_queue_bytes());
    x->block.world = w;
    x->block.loop.job = &x->job;
}

static inline void job_close(stage_job *x)
{
    free(x->job.queues);
    x->job.queues = NULL;
}

/* ---- events, and one system's run ---- */

typedef struct {
    reef_entity who;
    uint32_t number, more;
} Hit;
typedef struct {
    uint32_t number, more[2];
} Odd; /* doesn't divide a page */
typedef struct {
    uint8_t kind;
    uint32_t number;
} Padded;
typedef struct {
    uint8_t byte[REEF_EVENT_SIZE_MAX];
} Largest;
REEF_COMPONENT(Hit);
REEF_COMPONENT(Odd);
REEF_COMPONENT(Padded);
REEF_FIELDS(Padded, kind, number);
REEF_COMPONENT(Largest);
REEF_TAG(Bell);

#define SENDS(T) \
    { \
        REEF_SENDS, reef_id(T) \
    }
#define RECEIVES(T) \
    { \
        REEF_RECEIVES, reef_id(T) \
    }
#define TOUCHES(...) \
    (const reef_touch[]) \
    { \
        __VA_ARGS__, \
        { \
            .type = { 0 } \
        } \
    }

/* Hits `from` ... `from + n - 1`, sent by one job. */
static inline void run_sender(reef_world *w, struct system *s, uint32_t from, uint32_t n)
{
    stage_job x;
    job_open(&x, w, s);
    for (uint32_t i = from; i < from + n; i++) assert_ok(reef_send(&x.block, Hit, .number = i));
    reef__events_gather(w, &x.job, 1, 0);
    job_close(&x);
}

static inline void sees_at(const reef_block *b, uint32_t from, uint32_t n, int line)
{
    reef_events r = reef_receive(b, Hit);
    const Hit *h;
    if (r.count != n) fail_msg("line %d: %u events, not %u", line, (unsigned)r.count, n);
    for (uint32_t i = from; (h = reef_next_event(&r)) != NULL; i++)
        if (h->number != i) fail_msg("line %d: event %u, not %u", line, h->number, i);
}
#define sees(b, from, n) sees_at(b, from, n, __LINE__)

/* One run of a receiving system: it sees n hits, the first of this number. */
static inline void run_receiver_at(reef_world *w, struct system *s, uint32_t from, uint32_t n, int line)
{
    stage_job x;
    job_open(&x, w, s);
    reef__events_begin(w, s);
    sees_at(&x.block, from, n, line);
    sees_at(&x.block, from, n, line); /* another block of the same run */
    reef__events_end(w, s);
    job_close(&x);
}
#define run_receiver(w, s, from, n) run_receiver_at(w, s, from, n, __LINE__)

static inline uint64_t waiting(const reef_world *w) { return reef_world_stats(w).events; }

static inline void phase_ends(reef_world *w)
{
    assert_int_equal(reef__events_keep(w), REEF_OK);
    assert_valid(w);
}

static stage the; /* systems of the test that runs */

static inline void sender_and_receiver(reef_world *w)
{
    stage_open(&the, w);
    assert_true(stage_add(&the, w, "send", TOUCHES(SENDS(Hit))));
    assert_true(stage_add(&the, w, "receive", TOUCHES(RECEIVES(Hit))));
    assert_true(reef__events_ready(w));
}

#endif
