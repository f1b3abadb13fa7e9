/* The recording: a ring of states, bounded by memory; what a tick of it costs; the timeline. */
#include "inspector.h"
#include <string.h>

enum { TRIALS = 3 };

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

/* Bytes of the world's family that something lies in: free blocks are used before more memory is taken. */
static uint64_t bytes_held(const reef_world *w)
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
    const uint64_t base = first ? bytes_held(i->world) : 0;
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
        const uint64_t used = bytes_held(i->world);
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
    i->trial_bytes = bytes_held(i->world);
}

void inspector_trial_end(reef_inspector *i)
{
    const uint64_t bytes = bytes_held(i->world), more = bytes > i->trial_bytes ? bytes - i->trial_bytes : 0;
    inspector_moment_release(i, i->trial);
    i->trial = NULL;
    pthread_mutex_lock(&i->lock);
    if (more > i->trial_rate) i->trial_rate = more;
    if (i->trials) i->trials--;
    pthread_cond_broadcast(&i->told);
    pthread_mutex_unlock(&i->lock);
}

static void trials_order(reef_inspector *i, void *data)
{
    (void)data;
    pthread_mutex_lock(&i->lock);
    i->trials = TRIALS;
    i->trial_rate = 0;
    pthread_mutex_unlock(&i->lock);
}

static void held_order(reef_inspector *i, void *data) { *(uint64_t *)data = bytes_held(i->world); }

/* How many bytes a recorded tick takes: measured in the next ticks, or what the recording has measured. Rate is null if
 * the program doesn't tick. */
json *inspector_answer_recording(request *r)
{
    reef_inspector *i = r->i;
    const uint64_t until = inspector_patience_end(i);
    uint64_t used = 0;
    pthread_mutex_lock(&i->lock);
    bool known = i->records && i->record_rate;
    const bool tries = !known && !i->paused && !i->alone;
    pthread_mutex_unlock(&i->lock);
    if (!inspector_order_give(i, held_order, &used) || (tries && !inspector_order_give(i, trials_order, NULL)))
        return inspector_refuse(r, 503, "the program doesn't tick");
    json *j = inspector_object();
    pthread_mutex_lock(&i->lock);
    while (tries && i->trials && !atomic_load(&i->ending) && inspector_wait_until(&i->told, &i->lock, until)) continue;
    const uint64_t rate = known ? i->record_rate : i->trial_rate;
    known |= tries && i->trials < TRIALS;
    i->trials = 0;
    inspector_put(j, "rate", known ? inspector_json_number(rate) : inspector_null());
    inspector_put(j, "used", inspector_json_number(used));
    inspector_put(j, "bound", inspector_json_number(i->config.record_bytes));
    inspector_put(j, "room", inspector_integer(i->config.record_ticks));
    pthread_mutex_unlock(&i->lock);
    return j;
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
