/* The inspector's life: what the simulation's thread does at each update, beginning and end. */
#include "inspector.h"
#include <stdlib.h>
#include <string.h>

enum { RECORD_TICKS = 600, WAIT_MS = 2000 };
static const uint64_t open_ns = 3ull * SECOND, record_bytes = 1ull << 30;

/* Drops the newest moment when nobody holds or wants it, so that no block stays shared for nothing. */
static void newest_drop(reef_inspector *i)
{
    pthread_mutex_lock(&i->lock);
    moment *m = i->waiting ? NULL : i->newest;
    if (m) i->newest = NULL;
    pthread_mutex_unlock(&i->lock);
    inspector_moment_release(i, m);
}

/* Is the page open? Then systems are measured. False: nobody looks. */
static bool looked_at(reef_inspector *i, uint64_t now)
{
    const bool open = now - atomic_load(&i->looked_ns) < open_ns || atomic_load(&i->streams);
    if (open != i->measures) reef_measure_systems(i->world, i->measures = open);
    return open;
}

/* Holds the simulation while the page has paused it or slowed it down. */
static void hold(reef_inspector *i)
{
    const uint64_t begin = inspector_now_ns(), frame = i->ended_ns ? begin - i->ended_ns : 0;
    const uint64_t rest = i->speed < 1 ? (uint64_t)((double)frame * (1 / i->speed - 1)) : 0;
    while (!atomic_load(&i->ending)) {
        const uint64_t now = inspector_now_ns();
        if (!i->paused && now - begin >= rest) break;
        if (i->paused && i->free_ticks) {
            i->free_ticks--;
            break;
        }
        pthread_mutex_lock(&i->lock);
        if (!i->orders && !i->wants_moment)
            (void)inspector_wait_until(&i->asked, &i->lock, i->paused ? now + SECOND / 4 : begin + rest);
        pthread_mutex_unlock(&i->lock);
        (void)inspector_orders_run(i);
        inspector_events_read(i, inspector_now_ns());
        inspector_hand_over(i, false);
        (void)looked_at(i, inspector_now_ns());
    }
}

/* The same for a program that must go on: its world is paused. */
static void pause_keep(reef_inspector *i)
{
    bool pause = i->paused;
    if (pause && i->free_ticks) pause = false;
    if (!i->paused && i->speed < 1) {
        i->speed_left += i->speed;
        pause = i->speed_left < 1;
        if (!pause) i->speed_left -= 1;
    }
    if (pause == i->paused_by_us) return;
    i->paused_by_us = pause;
    reef_pause(i->world, pause);
}

/* Plays more ticks than the program does. */
static void hasten(reef_inspector *i, bool new_tick)
{
    if (i->speed <= 1 || i->paused || !new_tick) return;
    i->speed_left += i->speed - 1;
    for (; i->speed_left >= 1; i->speed_left -= 1) {
        if (inspector_play(i, i->world, inspector_dt(i->dt_ns)) < 0) break;
        inspector_note(i, inspector_now_ns(), reef_tick_count(i->world));
        inspector_events_read(i, inspector_now_ns());
        inspector_hand_over(i, true);
    }
}

void reef_inspector_update(reef_inspector *i)
{
    if (i == NULL || i->world == NULL) return;
    const uint64_t now = inspector_now_ns(), tick = reef_tick_count(i->world);
    const bool new_tick = tick != i->last_tick;
    if (new_tick) inspector_note(i, now, tick);
    if (new_tick && i->trial) inspector_trial_end(i);
    if (atomic_load(&i->busy)) {
        pthread_mutex_lock(&i->lock);
        const bool ordered = i->orders != NULL;
        /* Before an order asks for more ticks: this one isn't among those. */
        if (new_tick && i->paused && i->free_ticks && !i->config.waits) i->free_ticks--;
        pthread_mutex_unlock(&i->lock);
        if (ordered) inspector_hand_over(i, new_tick); /* whoever is answered finds this tick recorded */
        (void)inspector_orders_run(i);
        inspector_events_read(i, now);
        inspector_hand_over(i, new_tick);
        hasten(i, new_tick);
        inspector_trial_begin(i);
        if (i->config.waits) hold(i);
        else if (!i->alone) pause_keep(i);
        const bool open = looked_at(i, now);
        pthread_mutex_lock(&i->lock);
        const bool idle = !open && !i->orders && !i->wants_moment && !i->records && !i->paused && !i->paused_by_us &&
                          !i->traces && !atomic_load(&i->events_ns) && i->speed == 1;
        if (idle) atomic_store(&i->busy, false);
        pthread_mutex_unlock(&i->lock);
        if (idle || (open && !i->paused && new_tick)) newest_drop(i);
    }
    i->ended_ns = inspector_now_ns();
}

void reef_inspector_rest(reef_inspector *i, uint32_t ms)
{
    if (i == NULL) return;
    pthread_mutex_lock(&i->lock);
    if (!i->orders && !i->wants_moment)
        (void)inspector_wait_until(&i->asked, &i->lock, inspector_now_ns() + (uint64_t)ms * 1000000);
    pthread_mutex_unlock(&i->lock);
}

/* Gives back what the world has of us. */
static void world_leave(reef_inspector *i)
{
    if (i->world && i->paused_by_us) reef_pause(i->world, false);
    if (i->world && i->measures) reef_measure_systems(i->world, false);
    inspector_events_leave(i);
    reef_trace_free(i->spans);
    i->spans = NULL;
    i->paused_by_us = i->measures = false;
    i->last_tick = UINT64_MAX; /* no tick of it was noted */
    i->last_time_ns = UINT64_MAX;
    i->ended_ns = 0;
}

static void moments_drop(reef_inspector *i)
{
    inspector_record_clear(i);
    inspector_moment_release(i, i->trial);
    i->trial = NULL;
    for (int k = 0; k < MOMENTS; k++) inspector_moment_put(i, (moment_kind)k, NULL);
    inspector_futures_drop(i);
    newest_drop(i);
}

/* Looks at another world. `same_time`: it goes on where the world before is, so what was recorded stays. */
static void world_enter(reef_inspector *i, reef_world *w, bool same_time)
{
    world_leave(i);
    inspector_step_clear(i);
    if (!same_time) moments_drop(i);
    pthread_mutex_lock(&i->lock);
    moment *was = i->newest;
    i->newest = NULL;
    i->world = w;
    i->serial++;
    i->traces = false;
    if (same_time) {
        i->last_tick = reef_tick_count(w); /* it was noted */
    } else {
        i->row_first = i->row_count;
        i->wants_moment |= i->records;
    }
    pthread_mutex_unlock(&i->lock);
    inspector_moment_release(i, was);
}

void reef_inspector_turn_to(reef_inspector *i, reef_world *w)
{
    if (i && i->world != w) world_enter(i, w, false);
}

void reef_inspector_follow(reef_inspector *i, reef_world *w)
{
    if (i && w && i->world && i->world != w) world_enter(i, w, true);
}

bool reef_inspector_is_open(const reef_inspector *i)
{
    return i && (atomic_load(&i->streams) || inspector_now_ns() - atomic_load(&i->looked_ns) < open_ns);
}

/* ---- beginning and end ---- */

static const char *settings_take(reef_inspector *i, const reef_inspector_config *c)
{
    i->config = *c;
    if (i->config.record_ticks == 0) i->config.record_ticks = RECORD_TICKS;
    if (i->config.record_bytes == 0) i->config.record_bytes = record_bytes;
    if (i->config.wait_ms == 0) i->config.wait_ms = WAIT_MS;
    if (i->config.record_ticks > 1u << 20) return "too many ticks to record";
    (void)snprintf(i->title, sizeof i->title, "%s", c->title ? c->title : "reef");
    i->config.bind = i->config.hosts = i->config.token = i->config.title = NULL;
    i->records = c->record;
    i->speed = 1;
    i->kept = calloc(i->config.record_ticks, sizeof *i->kept);
    return i->kept ? NULL : "no memory";
}

/* Makes the lock, and conditions that wait by the clock that doesn't jump. */
static bool locks_make(reef_inspector *i)
{
    pthread_condattr_t attributes;
    if (pthread_condattr_init(&attributes) != 0) return false;
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    const bool lock = pthread_mutex_init(&i->lock, NULL) == 0;
    const bool told = lock && pthread_cond_init(&i->told, &attributes) == 0;
    const bool asked = told && pthread_cond_init(&i->asked, &attributes) == 0;
    (void)pthread_condattr_destroy(&attributes);
    if (told && !asked) (void)pthread_cond_destroy(&i->told);
    if (lock && !asked) (void)pthread_mutex_destroy(&i->lock);
    return asked;
}

void inspector_drop(reef_inspector *i)
{
    (void)pthread_cond_destroy(&i->asked);
    (void)pthread_cond_destroy(&i->told);
    (void)pthread_mutex_destroy(&i->lock);
    free(i->kept);
    free(i);
}

reef_inspector *inspector_make(reef_world *w, const reef_inspector_config *config, char *reason)
{
    static const reef_inspector_config none;
    reason[0] = 0;
    reef_inspector *i = w ? calloc(1, sizeof *i) : NULL;
    if (i == NULL || !locks_make(i)) {
        (void)snprintf(reason, REEF_DETAIL_MAX, "%s", w ? "no memory" : "no world");
        free(i);
        return NULL;
    }
    i->world = w;
    i->last_tick = i->last_time_ns = UINT64_MAX;
    atomic_store(&i->busy, config && config->record);
    const char *mistake = settings_take(i, config ? config : &none);
    if (mistake == NULL) return i;
    (void)snprintf(reason, REEF_DETAIL_MAX, "%s", mistake);
    inspector_drop(i);
    return NULL;
}

void reef_inspector_free(reef_inspector *i)
{
    if (i == NULL) return;
    atomic_store(&i->ending, true);
    pthread_mutex_lock(&i->lock);
    pthread_cond_broadcast(&i->told);
    pthread_mutex_unlock(&i->lock);
    if (i->server) i->server_stop(i);
    moments_drop(i);
    inspector_moment_release(i, i->newest);
    inspector_whatif_free(i);
    world_leave(i);
    inspector_events_free(i);
    inspector_drop(i);
}
