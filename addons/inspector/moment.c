/* Moments, which are states that requests look at; and orders, which are done by the simulation's thread. */
#include "inspector.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

uint64_t inspector_now_ns(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

bool inspector_wait_until(pthread_cond_t *condition, pthread_mutex_t *lock, uint64_t until_ns)
{
    const struct timespec t = {(time_t)(until_ns / SECOND), (long)(until_ns % SECOND)};
    return pthread_cond_timedwait(condition, lock, &t) != ETIMEDOUT;
}

uint64_t inspector_patience_end(const reef_inspector *i)
{
    return inspector_now_ns() + (uint64_t)i->config.wait_ms * 1000000;
}

/* ---- moments ---- */

static void moment_free(moment *m)
{
    reef_snapshot_free(m->snapshot);
    free(m);
}

void inspector_moment_release(reef_inspector *i, moment *m)
{
    if (m == NULL) return;
    pthread_mutex_lock(&i->lock);
    const bool last = --m->holders == 0;
    pthread_mutex_unlock(&i->lock);
    if (last) moment_free(m);
}

moment *inspector_moment_take(reef_inspector *i, reef_world *w)
{
    moment *m = calloc(1, sizeof *m);
    if (m) m->snapshot = reef_snapshot_take(w);
    pthread_mutex_lock(&i->lock);
    if (m && m->snapshot) {
        i->failed[0] = 0;
    } else {
        i->failures++;
        (void)reef_error_text(w, i->failed, sizeof i->failed);
        if (i->failed[0] == 0) (void)snprintf(i->failed, sizeof i->failed, "no memory");
    }
    pthread_mutex_unlock(&i->lock);
    if (m == NULL || m->snapshot == NULL) return free(m), NULL;
    m->tick = reef_tick_count(w);
    m->time_ns = reef_time_ns(w);
    m->holders = 1;
    return m;
}

void inspector_moment_put(reef_inspector *i, moment_kind kind, moment *m)
{
    pthread_mutex_lock(&i->lock);
    moment *was = i->special[kind];
    i->special[kind] = m;
    pthread_mutex_unlock(&i->lock);
    inspector_moment_release(i, was);
}

reef_world *inspector_moment_fork(const moment *m)
{
    reef_world *w = reef_snapshot_fork(m->snapshot);
    if (w) reef_set_log(w, reef_log_none, NULL);
    return w;
}

/* ---- orders ---- */

bool inspector_order_give(reef_inspector *i, void (*run)(reef_inspector *i, void *data), void *data)
{
    order o = {.run = run, .data = data};
    if (i->alone) {
        if (i->world) run(i, data);
        return i->world != NULL;
    }
    const uint64_t until = inspector_patience_end(i);
    pthread_mutex_lock(&i->lock);
    order **at = &i->orders;
    while (*at) at = &(*at)->next;
    *at = &o;
    atomic_store(&i->busy, true);
    pthread_cond_signal(&i->asked);
    while (!o.done && !atomic_load(&i->ending)) {
        if (o.taken) pthread_cond_wait(&i->told, &i->lock); /* it lies in the hands of the simulation now */
        else if (!inspector_wait_until(&i->told, &i->lock, until) && !o.taken) break;
    }
    while (o.taken && !o.done) pthread_cond_wait(&i->told, &i->lock);
    for (at = &i->orders; !o.taken && *at; at = &(*at)->next) {
        if (*at != &o) continue;
        *at = o.next;
        break;
    }
    pthread_mutex_unlock(&i->lock);
    return o.done;
}

bool inspector_orders_run(reef_inspector *i)
{
    bool any = false;
    const uint64_t until = inspector_now_ns() + 4000000; /* one order at least; no more after 4 ms */
    for (;; any = true) {
        if (any && !i->config.waits && inspector_now_ns() > until) return any;
        pthread_mutex_lock(&i->lock);
        order *o = i->orders;
        if (o) i->orders = o->next, o->taken = true;
        pthread_mutex_unlock(&i->lock);
        if (o == NULL) return any;
        o->run(i, o->data);
        pthread_mutex_lock(&i->lock);
        o->done = true;
        pthread_cond_broadcast(&i->told);
        pthread_mutex_unlock(&i->lock);
    }
}

/* ---- playing ---- */

/* The time step that makes a tick of `ns`: of a whole number of ticks a second, the nearest float of its fraction. */
float inspector_dt(uint64_t ns)
{
    if (ns == 0) return 0;
    const float dt = (float)((double)ns * 1e-9), part = 1.0f / (float)floor(1e9 / (double)ns + 0.5);
    return (uint64_t)((double)part * 1e9 + 0.5) == ns ? part : dt;
}

reef_status inspector_play(reef_inspector *i, reef_world *w, float dt)
{
    return i->config.step ? i->config.step(i->config.context, w, dt) : reef_tick_once(w, dt);
}
