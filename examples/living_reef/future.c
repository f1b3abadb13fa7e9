#define _POSIX_C_SOURCE 200809L
#include "report.h"

#if !defined(REEF_NO_THREADS)
#include <pthread.h>
#endif

/* ---- one future ---- */

/* Takes the samples and maps that are due. */
static bool record_tick(future *f, const options *o, uint32_t until)
{
    ecosystem *e = &f->e;
    bool       due = e->tick % SAMPLE_TICKS == 0 || e->tick == until;
    if (due && !record_sample(&f->taken, e)) return false;
    if (e->tick == o->ticks / 2 && !record_map(&f->taken, HALF_WAY, e)) return false;
    return e->tick != o->ticks || record_map(&f->taken, AT_END, e);
}

bool future_new(future *f, const species_table *table, const options *o)
{
    if (!ecosystem_new(&f->e, table, o->size, o->seed)) return false;
    bool good = record_tick(f, o, 0) && record_map(&f->taken, AT_START, &f->e);
    return good || ecosystem_refused(&f->e, "recording");
}

void future_free(future *f)
{
    record_free(&f->taken);
    ecosystem_free(&f->e);
}

bool future_play(future *f, const options *o, uint32_t until, report *screen)
{
    while (f->e.tick < until) {
        if (f->e.tick + 1 == o->leak_tick) sea_leak(&f->e.water);
        if (!ecosystem_tick(&f->e)) return false;
        if (!record_tick(f, o, until)) return ecosystem_refused(&f->e, "recording");
        if (screen != NULL) report_tick(screen, &f->e);
    }
    return true;
}

/* ---- two ---- */

bool future_fork(future *without, future *with, uint32_t removed, report *screen)
{
    report_fork_begin(screen, &with->e);
    reef_world *fork = reef_fork(with->e.world);
    report_fork_end(screen, &with->e, removed);
    if (fork == NULL) return ecosystem_refused(&with->e, "forking the world");
    if (!ecosystem_fork(&without->e, &with->e, fork) || !ecosystem_remove(&without->e, removed)) return false;
    without->taken.removed = removed;
    return record_sample(&without->taken, &without->e) || ecosystem_refused(&without->e, "recording");
}

/* A future that another thread plays. */
typedef struct task {
    future        *of;
    const options *o;
    bool           good;
} task;

#if defined(REEF_NO_THREADS)

typedef struct thread {
    int unused;
} thread;

static bool thread_start(thread *t, task *work)
{
    (void)t, (void)work;
    return false;
}

static void thread_join(thread *t) { (void)t; }

#else

typedef struct thread {
    pthread_t id;
} thread;

static void *play_task(void *work)
{
    task *t = work;
    t->good = future_play(t->of, t->o, t->o->ticks, NULL);
    return NULL;
}

static bool thread_start(thread *t, task *work) { return pthread_create(&t->id, NULL, play_task, work) == 0; }

static void thread_join(thread *t) { pthread_join(t->id, NULL); }

#endif

bool future_play_both(future *with, future *without, const options *o, report *screen)
{
    task   work = {without, o, false};
    thread other;
    bool   aside = !o->one_thread && thread_start(&other, &work);
    bool   good = future_play(with, o, o->ticks, screen);
    if (aside) {
        thread_join(&other);
    } else {
        report_other(screen, &without->e);
        work.good = future_play(without, o, o->ticks, screen);
    }
    return good && work.good;
}
