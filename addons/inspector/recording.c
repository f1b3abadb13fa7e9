/* The recording: a ring of states, bounded by memory; what a tick of it costs; the timeline; holding a state of it. */
#include "inspector.h"
#include <stdlib.h>

void inspector_record_cut(reef_inspector *i, uint64_t first)
{
    for (;;) {
        moment *m = NULL;
        pthread_mutex_lock(&i->lock);
        if (i->kept_end > i->kept_first) m = i->kept[(i->kept_end - 1) % i->config.record_ticks];
        if (m && m->tick < first) m = NULL;
        if (m) i->kept_end--;
        pthread_mutex_unlock(&i->lock);
        if (m == NULL) return;
        inspector_moment_release(i, m);
    }
}

uint64_t inspector_bytes_held(const reef_world *w)
{
    const reef_stats s = reef_world_stats(w);
    return s.bytes_total - s.bytes_spare;
}

/* Puts a moment into the ring of recorded states. One of the same tick is replaced; later ones belong to another
 * future. */
static void record_put(reef_inspector *i, moment *m)
{
    const uint32_t room = i->config.record_ticks;
    moment *dropped = NULL;
    inspector_record_cut(i, m->tick + 1);
    const bool first = i->kept_end == i->kept_first;
    const uint64_t base = first ? inspector_bytes_held(i->world) : 0;
    pthread_mutex_lock(&i->lock);
    m->holders++;
    if (first) {
        i->record_base = base;
        i->record_rate = i->record_dropped = 0;
    } else if (i->kept[(i->kept_end - 1) % room]->tick == m->tick) {
        dropped = i->kept[--i->kept_end % room];
    } else if (i->kept_end - i->kept_first == room) {
        dropped = i->kept[i->kept_first++ % room];
        i->record_dropped++;
    }
    i->kept[i->kept_end++ % room] = m;
    pthread_mutex_unlock(&i->lock);
    inspector_moment_release(i, dropped);
}

/* Measures what is recorded, and drops the oldest states while the world's family holds too much memory. */
static void record_bound(reef_inspector *i)
{
    for (int n = 0; n < 8; n++) {
        const uint64_t used = inspector_bytes_held(i->world);
        moment *m = NULL;
        pthread_mutex_lock(&i->lock);
        const uint64_t kept = i->kept_end - i->kept_first;
        i->record_used = used;
        if (n == 0 && kept > 1) i->record_rate = used > i->record_base ? (used - i->record_base) / (kept - 1) : 0;
        if (kept > 1 && used > i->config.record_bytes) {
            m = i->kept[i->kept_first++ % i->config.record_ticks];
            i->record_dropped++;
        }
        pthread_mutex_unlock(&i->lock);
        if (m == NULL) return;
        inspector_moment_release(i, m);
    }
}

/* Is it time for record_bound? It counts tables, so it runs in every eighth tick, and more often in the first ones and
 * where few states fit. */
static bool record_is_due(const reef_inspector *i, uint64_t tick)
{
    return tick % 8 == 0 || i->kept_end - i->kept_first < 8 || i->record_rate > i->config.record_bytes / 256;
}

void inspector_trial_begin(reef_inspector *i)
{
    pthread_mutex_lock(&i->lock);
    const bool wanted = i->trials > 0;
    pthread_mutex_unlock(&i->lock);
    if (!wanted || i->trial) return;
    i->trial = inspector_moment_take(i, i->world);
    i->trial_bytes = inspector_bytes_held(i->world);
}

void inspector_trial_end(reef_inspector *i)
{
    const uint64_t bytes = inspector_bytes_held(i->world), more = bytes > i->trial_bytes ? bytes - i->trial_bytes : 0;
    inspector_moment_release(i, i->trial);
    i->trial = NULL;
    pthread_mutex_lock(&i->lock);
    if (more > i->trial_rate) i->trial_rate = more;
    if (i->trials) i->trials--;
    pthread_cond_broadcast(&i->told);
    pthread_mutex_unlock(&i->lock);
}

void inspector_record_clear(reef_inspector *i)
{
    for (;;) {
        moment *m = NULL;
        pthread_mutex_lock(&i->lock);
        if (i->kept_end > i->kept_first) m = i->kept[i->kept_first++ % i->config.record_ticks];
        pthread_mutex_unlock(&i->lock);
        if (m == NULL) return;
        inspector_moment_release(i, m);
    }
}

void inspector_hand_over(reef_inspector *i, bool new_tick)
{
    pthread_mutex_lock(&i->lock);
    const bool record = i->records && (new_tick || i->wants_moment), wanted = i->wants_moment;
    const uint64_t serial = i->serial;
    pthread_mutex_unlock(&i->lock);
    if (!record && !wanted) return;
    moment *m = inspector_moment_take(i, i->world);
    if (m) m->serial = serial;
    if (m && record) record_put(i, m);
    if (m && record && record_is_due(i, m->tick)) record_bound(i);
    pthread_mutex_lock(&i->lock);
    moment *was = m ? i->newest : NULL;
    if (m) i->newest = m;
    i->wants_moment = false;
    pthread_cond_broadcast(&i->told);
    pthread_mutex_unlock(&i->lock);
    inspector_moment_release(i, was);
}

void inspector_note(reef_inspector *i, uint64_t now, uint64_t tick)
{
    const uint64_t time = reef_time_ns(i->world), gap = i->ended_ns ? now - i->ended_ns : 0;
    const uint64_t tick_ns = i->measures ? reef_tick_measured(i->world).last_ns : 0;
    if (tick == i->last_tick + 1 && time >= i->last_time_ns) i->dt_ns = time - i->last_time_ns;
    i->last_tick = tick;
    i->last_time_ns = time;
    pthread_mutex_lock(&i->lock);
    i->rows[i->row_count++ % TICKS_SHOWN] = (tick_row){tick, reef_count_alive(i->world), tick_ns, gap};
    i->serial++;
    pthread_mutex_unlock(&i->lock);
}

/* ---- holding what is recorded ---- */

/* The lock is held. NULL: the tick isn't recorded. */
static moment *kept_find(const reef_inspector *i, uint64_t tick)
{
    for (uint64_t n = i->kept_end; n > i->kept_first; n--) {
        moment *m = i->kept[(n - 1) % i->config.record_ticks];
        if (m->tick == tick) return m;
    }
    return i->newest && i->newest->tick == tick ? i->newest : NULL;
}

/* The lock is held. On the simulation's thread, which has no update to wait for. */
static void newest_take(reef_inspector *i)
{
    i->wants_moment = true;
    pthread_mutex_unlock(&i->lock);
    if (i->world) inspector_hand_over(i, false);
    pthread_mutex_lock(&i->lock);
}

/* The lock is held. Waits for a moment of the newest update, if the simulation still comes by. */
static moment *newest_wait(reef_inspector *i)
{
    const uint64_t until = inspector_patience_end(i), serial = i->serial;
    const uint32_t failures = i->failures;
    if (i->alone && !(i->newest && i->newest->serial >= serial)) newest_take(i);
    if (i->alone) return i->newest;
    i->waiting++;
    while (!(i->newest && i->newest->serial >= serial) && !atomic_load(&i->ending) && i->failures == failures) {
        i->wants_moment = true;
        atomic_store(&i->busy, true);
        pthread_cond_signal(&i->asked);
        if (!inspector_wait_until(&i->told, &i->lock, until)) break;
    }
    i->waiting--;
    return i->newest;
}

moment *inspector_moment_hold(reef_inspector *i, moment_kind kind, uint64_t tick)
{
    pthread_mutex_lock(&i->lock);
    moment *m = kind == MOMENT_NOW ? newest_wait(i) : kind == MOMENT_TICK ? kept_find(i, tick) : i->special[kind];
    if (m) m->holders++;
    pthread_mutex_unlock(&i->lock);
    return m;
}

moment **inspector_moments_hold(reef_inspector *i, uint64_t from, uint64_t to, uint64_t *count)
{
    pthread_mutex_lock(&i->lock);
    const uint64_t room = i->kept_end - i->kept_first;
    moment **list = malloc(((size_t)room + 1) * sizeof(moment *));
    *count = 0;
    for (uint64_t n = i->kept_first; list && n < i->kept_end; n++) {
        moment *m = i->kept[n % i->config.record_ticks];
        if (m->tick < from || m->tick > to) continue;
        m->holders++;
        list[(*count)++] = m;
    }
    pthread_mutex_unlock(&i->lock);
    return list;
}

void inspector_moments_release(reef_inspector *i, moment **list, uint64_t count)
{
    for (uint64_t n = 0; n < count; n++) inspector_moment_release(i, list[n]);
    free(list);
}

moment *inspector_moment_of_living(reef_inspector *i, reef_entity e)
{
    uint64_t count;
    moment **list = inspector_moments_hold(i, 0, UINT64_MAX, &count), *found = NULL;
    for (uint64_t n = list ? count : 0; n > 0 && found == NULL; n--) {
        reef_world *w = inspector_moment_fork(list[n - 1]);
        if (w && reef_is_alive(w, e)) found = list[n - 1];
        reef_world_free(w);
    }
    if (found) found = inspector_moment_hold(i, MOMENT_TICK, found->tick);
    if (list) inspector_moments_release(i, list, count);
    return found;
}
