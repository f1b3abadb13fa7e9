/* The inspector's life: what the simulation's thread does at each update, moments, orders. */
#include "inspector.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RECORD_TICKS = 600, TRIALS = 3, WAIT_MS = 2000, SECOND = 1000000000 };
static const uint64_t open_ns = 3ull * SECOND, record_bytes = 1ull << 30;

uint64_t inspector_now_ns(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

/* Waits until the condition is told, or this moment has come. False: it has come. The lock is held. */
static bool wait_until(pthread_cond_t *condition, pthread_mutex_t *lock, uint64_t until_ns)
{
    const struct timespec t = {(time_t)(until_ns / SECOND), (long)(until_ns % SECOND)};
    return pthread_cond_timedwait(condition, lock, &t) != ETIMEDOUT;
}

/* Until when a request that begins now waits for the simulation. */
static uint64_t patience_end(const reef_inspector *i)
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

/* The lock is held. NULL: the tick isn't recorded. */
static moment *kept_find(const reef_inspector *i, uint64_t tick)
{
    for (uint64_t n = i->kept_end; n > i->kept_first; n--) {
        moment *m = i->kept[(n - 1) % i->config.record_ticks];
        if (m->tick == tick) return m;
    }
    return i->newest && i->newest->tick == tick ? i->newest : NULL;
}

/* The lock is held. Waits for a moment of the newest update, if the simulation still comes by. */
static moment *newest_wait(reef_inspector *i)
{
    const uint64_t until = patience_end(i), serial = i->serial;
    const uint32_t failures = i->failures;
    i->waiting++;
    while (!(i->newest && i->newest->serial >= serial) && !atomic_load(&i->ending) && i->failures == failures) {
        i->wants_moment = true;
        atomic_store(&i->busy, true);
        pthread_cond_signal(&i->asked);
        if (!wait_until(&i->told, &i->lock, until)) break;
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
    const uint64_t until = patience_end(i);
    pthread_mutex_lock(&i->lock);
    order **at = &i->orders;
    while (*at) at = &(*at)->next;
    *at = &o;
    atomic_store(&i->busy, true);
    pthread_cond_signal(&i->asked);
    while (!o.done && !atomic_load(&i->ending)) {
        if (o.taken) pthread_cond_wait(&i->told, &i->lock); /* it lies in the hands of the simulation now */
        else if (!wait_until(&i->told, &i->lock, until) && !o.taken) break;
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

/* Does what was ordered. True: there was something. */
static bool orders_run(reef_inspector *i)
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

/* ---- what an update does ---- */

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

/* Takes a state if somebody wants to know, to see at the next update what a tick costs when it is recorded. */
static void trial_begin(reef_inspector *i)
{
    pthread_mutex_lock(&i->lock);
    const bool wanted = i->trials > 0;
    pthread_mutex_unlock(&i->lock);
    if (!wanted || i->trial) return;
    i->trial = inspector_moment_take(i, i->world);
    i->trial_bytes = bytes_held(i->world);
}

/* Behind a tick: what it wrote was copied, since the state before it is held. */
static void trial_end(reef_inspector *i)
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
json_t *inspector_answer_recording(request *r)
{
    reef_inspector *i = r->i;
    const uint64_t until = patience_end(i);
    uint64_t used = 0;
    pthread_mutex_lock(&i->lock);
    bool known = i->records && i->record_rate;
    const bool tries = !known && !i->paused;
    pthread_mutex_unlock(&i->lock);
    if (!inspector_order_give(i, held_order, &used) || (tries && !inspector_order_give(i, trials_order, NULL)))
        return inspector_refuse(r, 503, "the program doesn't tick");
    json_t *j = json_object();
    pthread_mutex_lock(&i->lock);
    while (tries && i->trials && !atomic_load(&i->ending) && wait_until(&i->told, &i->lock, until)) continue;
    const uint64_t rate = known ? i->record_rate : i->trial_rate;
    known |= tries && i->trials < TRIALS;
    i->trials = 0;
    json_object_set_new(j, "rate", known ? inspector_json_number(rate) : json_null());
    json_object_set_new(j, "used", inspector_json_number(used));
    json_object_set_new(j, "bound", inspector_json_number(i->config.record_bytes));
    json_object_set_new(j, "room", json_integer(i->config.record_ticks));
    pthread_mutex_unlock(&i->lock);
    return j;
}

static void record_clear(reef_inspector *i)
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

/* Hands a snapshot over, if somebody wants one or the state is to be recorded. */
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
            (void)wait_until(&i->asked, &i->lock, i->paused ? now + SECOND / 4 : begin + rest);
        pthread_mutex_unlock(&i->lock);
        (void)orders_run(i);
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
    if (new_tick && i->trial) trial_end(i);
    if (atomic_load(&i->busy)) {
        pthread_mutex_lock(&i->lock);
        const bool ordered = i->orders != NULL;
        /* Before an order asks for more ticks: this one isn't among those. */
        if (new_tick && i->paused && i->free_ticks && !i->config.waits) i->free_ticks--;
        pthread_mutex_unlock(&i->lock);
        if (ordered) inspector_hand_over(i, new_tick); /* whoever is answered finds this tick recorded */
        (void)orders_run(i);
        inspector_events_read(i, now);
        inspector_hand_over(i, new_tick);
        hasten(i, new_tick);
        trial_begin(i);
        if (i->config.waits) hold(i);
        else pause_keep(i);
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
        (void)wait_until(&i->asked, &i->lock, inspector_now_ns() + (uint64_t)ms * 1000000);
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
    record_clear(i);
    inspector_moment_release(i, i->trial);
    i->trial = NULL;
    for (int k = 0; k < MOMENTS; k++) inspector_moment_put(i, (moment_kind)k, NULL);
    newest_drop(i);
}

void reef_inspector_turn_to(reef_inspector *i, reef_world *w)
{
    if (i == NULL || i->world == w) return;
    world_leave(i);
    inspector_step_clear(i);
    moments_drop(i);
    pthread_mutex_lock(&i->lock);
    moment *was = i->newest;
    i->newest = NULL;
    i->world = w;
    i->serial++;
    i->row_first = i->row_count;
    i->wants_moment |= i->records;
    i->traces = false;
    pthread_mutex_unlock(&i->lock);
    inspector_moment_release(i, was);
}

bool reef_inspector_is_open(const reef_inspector *i)
{
    return i && (atomic_load(&i->streams) || inspector_now_ns() - atomic_load(&i->looked_ns) < open_ns);
}

/* ---- beginning and end ---- */

/* A token of 128 random bits. False: the system gives none. */
static bool token_make(char *token)
{
    unsigned char bytes[16];
    FILE *f = fopen("/dev/urandom", "rb");
    const bool read = f && fread(bytes, 1, sizeof bytes, f) == sizeof bytes;
    if (f) (void)fclose(f);
    for (size_t k = 0; read && k < sizeof bytes; k++) (void)sprintf(token + 2 * k, "%02x", bytes[k]);
    return read;
}

static bool token_take(char *token, const char *given)
{
    static const char allowed[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    const size_t size = strlen(given);
    if (size < 16 || size > TOKEN_MAX || strspn(given, allowed) != size) return false;
    memcpy(token, given, size + 1);
    return true;
}

static bool hosts_take(reef_inspector *i, const char *hosts)
{
    for (const char *at = hosts ? hosts : ""; *at;) {
        const size_t size = strcspn(at, " ");
        if (size >= sizeof i->hosts[0] || i->host_count == HOSTS_MAX) return false;
        if (size) memcpy(i->hosts[i->host_count++], at, size);
        at += size + (at[size] == ' ');
    }
    return true;
}

static const char *settings_take(reef_inspector *i, const reef_inspector_config *c)
{
    i->config = *c;
    if (i->config.record_ticks == 0) i->config.record_ticks = RECORD_TICKS;
    if (i->config.record_bytes == 0) i->config.record_bytes = record_bytes;
    if (i->config.wait_ms == 0) i->config.wait_ms = WAIT_MS;
    if (i->config.record_ticks > 1u << 20) return "too many ticks to record";
    if (c->token ? !token_take(i->token, c->token) : !token_make(i->token))
        return c->token ? "a token has 16 to 64 letters and digits" : "the system gives no random numbers";
    if (!hosts_take(i, c->hosts)) return "too many hosts, or too long ones";
    (void)snprintf(i->title, sizeof i->title, "%s", c->title ? c->title : "reef");
    const char *bind = c->bind ? c->bind : "127.0.0.1";
    if (strlen(bind) >= sizeof i->bind || strpbrk(bind, ", ")) return "one address to listen on";
    strcpy(i->bind, bind);
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

static void inspector_drop(reef_inspector *i)
{
    (void)pthread_cond_destroy(&i->asked);
    (void)pthread_cond_destroy(&i->told);
    (void)pthread_mutex_destroy(&i->lock);
    free(i->kept);
    free(i);
}

reef_inspector *reef_inspect_why(reef_world *w, const reef_inspector_config *config, char *reason)
{
    static const reef_inspector_config none;
    char nowhere[REEF_DETAIL_MAX];
    if (reason == NULL) reason = nowhere;
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
    if (mistake) (void)snprintf(reason, REEF_DETAIL_MAX, "%s", mistake);
    if (mistake == NULL && inspector_server_start(i, reason)) return i;
    inspector_drop(i);
    return NULL;
}

reef_inspector *reef_inspect(reef_world *w, const reef_inspector_config *config)
{
    return reef_inspect_why(w, config, NULL);
}

void reef_inspector_free(reef_inspector *i)
{
    if (i == NULL) return;
    atomic_store(&i->ending, true);
    pthread_mutex_lock(&i->lock);
    pthread_cond_broadcast(&i->told);
    pthread_mutex_unlock(&i->lock);
    inspector_server_stop(i);
    moments_drop(i);
    inspector_moment_release(i, i->newest);
    inspector_whatif_free(i);
    world_leave(i);
    inspector_events_free(i);
    inspector_drop(i);
}

const char *reef_inspector_address(const reef_inspector *i) { return i ? i->address : ""; }
uint16_t reef_inspector_port(const reef_inspector *i) { return i ? i->port : 0; }
