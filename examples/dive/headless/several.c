#include "several.h"

#include <inttypes.h>
#include <stdio.h>

#ifdef DIVE_TOGETHER
#include "measure.h"
#include "past.h"
#include "stopwatch.h"
#include "together.h"
#include <time.h>

#define MS UINT64_C(1000000)

static bool complain(const char *what)
{
    fprintf(stderr, "dive_headless: %s\n", what);
    return false;
}

/* ---- in one process ---- */

static void print_player(const together *t)
{
    const reef_net_stats s = reef_net_statistics(t->net);
    const Stage *stage = reef_single_get(t->now.world, Stage);
    fprintf(stderr,
            "player %d: tick %" PRIu64 ", wave %u, %" PRIu64 " rollbacks (deepest %u), %" PRIu64 " of %" PRIu64
            " ticks played again, %" PRIu64 " stalls (%.1f ms), delay %u, %.1f kB/s sent\n",
            reef_net_player(t->net), reef_net_tick_next(t->net), (unsigned)stage->wave, s.rollbacks, s.deepest,
            s.replayed, s.ticks, s.stalls, (double)s.stalled_ns / 1e6, s.delay,
            (double)s.sent_bytes / (double)(s.ticks + 1) * 60 / 1000);
}

/* The last tick whose hash all know. 0: their states differ, or nobody knows one. */
static uint64_t equal_tick(const together *all, uint32_t count)
{
    uint64_t t = reef_net_confirmed(all[0].net) / 8 * 8;
    for (; t > 0; t -= 8) {
        uint32_t known = 0, equal = 0;
        for (uint32_t i = 0; i < count; i++) {
            const uint64_t hash = reef_net_hash(all[i].net, t);
            known += hash != 0;
            equal += hash == reef_net_hash(all[0].net, t);
        }
        if (known == count) return equal == count ? t : 0;
    }
    return 0;
}

/* The sea is as full as it was asked for; nobody dies of it. */
static bool fill(const several *s, together *host)
{
    if (s->creatures == 0) return true;
    const bool good = measure_fill(&host->now, s->creatures);
    reef_single_mut(host->now.world, Stage)->now = STAGE_READY;
    return good;
}

static bool begin_on(const several *s, together *t, reef_pool *pool, reef_net_sim *sim, uint64_t address, FILE *record)
{
    if (!together_new(t, s->seed, pool)) return complain(t->why);
    t->bot = true;
    t->desync = address == 1 ? s->desync : NULL;
    t->record = address == 1 ? record : NULL;
    return ((address > 1 || fill(s, t)) && together_on(t, sim, address)) || complain(t->why);
}

static bool play_line(const several *s, reef_pool *pool, FILE *record)
{
    static together all[PLAYERS_MAX];
    const reef_net_line line = {.latency_ns = (s->round_ms / 2) * MS, .jitter_ns = s->jitter_ms * MS, .loss = s->loss};
    reef_net_sim *sim = reef_net_sim_new(s->seed, &line, NULL);
    stopwatch watch;
    bool good = sim != NULL && stopwatch_new(&watch, s->ticks * 2 + 2000);
    uint32_t count = 0;
    for (; good && count < s->players; count++) good = begin_on(s, &all[count], pool, sim, count + 1, record);
    uint64_t now = 0, until = 0; /* until: the tick at which it ends; 0: not all play yet */
    for (const uint64_t limit = (s->ticks + 3600) * TOGETHER_STEP_NS; good && now < limit;
         now += TOGETHER_STEP_NS / 2) {
        uint32_t playing = 0;
        reef_net_sim_time(sim, now);
        for (uint32_t i = 0; good && i < count; i++) {
            const uint64_t tick = reef_net_tick_next(all[i].net);
            stopwatch_begin(&watch);
            good = together_update(&all[i], now) || complain(all[i].why);
            if (i == 1 && until > 0 && reef_net_tick_next(all[i].net) > tick) stopwatch_end(&watch);
            if (good && together_is_over(&all[i])) good = complain(all[i].why);
            playing += reef_net_state(all[i].net) == REEF_NET_PLAYING;
        }
        if (until == 0 && playing == count) until = reef_net_tick_next(all[0].net) + s->ticks;
        if (until > 0 && reef_net_confirmed(all[0].net) >= until) break;
    }
    const uint64_t tick = good && until > 0 ? equal_tick(all, count) : 0;
    for (uint32_t i = 0; good && i < count; i++) print_player(&all[i]);
    if (good)
        printf("%u players, %" PRIu64 " ticks: %s\n", (unsigned)count, s->ticks,
               tick + 64 > until && tick > 0 ? "equal" : "not equal");
    if (good && s->times && watch.count > 0) {
        stopwatch_print(&watch);
        printf("\n");
    }
    stopwatch_free(&watch);
    if (good && record != NULL)
        printf("hash before tick %" PRIu64 ": %016" PRIx64 "\n", tick, reef_net_hash(all[0].net, tick));
    for (uint32_t i = 0; i < count; i++) together_end(&all[i]);
    reef_net_sim_free(sim);
    return tick > 0;
}

/* ---- over UDP ---- */

static uint64_t wall_ns(void)
{
    struct timespec now = {0};
    (void)timespec_get(&now, TIME_UTC);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* A program with a window waits for the next picture instead. */
static void rest_until(uint64_t at)
{
    const uint64_t now = wall_ns();
    if (at > now) (void)nanosleep(&(struct timespec){.tv_nsec = (long)(at - now)}, NULL);
}

/* What is measured of a player over UDP: how long the session's part of a frame takes, frames that weren't ready when
 * the next one was due, and how long after a tick was played it is known that it differs. */
typedef struct measured {
    stopwatch watch;
    uint64_t late, played_at[1024], due, ticks; /* played_at: by tick */
    bool differs;
} measured;

static void frame_measure(measured *m, const together *t, uint64_t now)
{
    reef_net_desync d;
    for (; m->ticks < reef_net_tick_next(t->net); m->ticks++) m->played_at[m->ticks % 1024] = now;
    if (m->differs || !reef_net_desync_get(t->net, &d)) return;
    m->differs = true;
    printf("differs: named %.0f ms after tick %" PRIu64 " was played: system %s, component %s, field %s, here %s, "
           "there %s\n",
           (double)(now - m->played_at[d.tick % 1024]) / 1e6, d.tick, d.system, d.component, d.field, d.here, d.there);
    (void)fflush(stdout);
}

/* A frame. False: the session is over, or has no memory. */
static bool frame_play(measured *m, together *t)
{
    const bool plays = reef_net_state(t->net) == REEF_NET_PLAYING;
    rest_until(m->due);
    const uint64_t began = wall_ns();
    if (plays) stopwatch_begin(&m->watch);
    if (!together_update(t, began)) return complain(t->why);
    if (plays) stopwatch_end(&m->watch);
    const uint64_t now = wall_ns();
    m->due += TOGETHER_STEP_NS;
    if (plays) m->late += now > m->due;
    if (now > m->due) m->due = now; /* what was missed isn't played at once */
    frame_measure(m, t, now);
    return !together_is_over(t);
}

static bool begin_udp(const several *s, together *t, reef_pool *pool, FILE *record)
{
    char invitation[200];
    if (!together_new(t, s->seed, pool)) return complain(t->why);
    t->bot = true;
    t->record = record;
    t->desync = s->desync;
    t->silence_ns = s->silence_ms * MS;
    if (s->invitation != NULL) return together_join(t, s->invitation, s->port) || complain(t->why);
    if (!fill(s, t) || !together_host(t, s->address, s->port, invitation, sizeof invitation)) return complain(t->why);
    printf("%s\n", invitation);
    (void)fflush(stdout);
    return true;
}

/* Each leaves when it has confirmed all ticks. The host does so two seconds later: two shouldn't leave each other at
 * once. */
static bool play_udp(const several *s, reef_pool *pool, FILE *record)
{
    static together t;
    static measured m;
    bool good = stopwatch_new(&m.watch, s->ticks * 2 + 2000) && begin_udp(s, &t, pool, record);
    enum { FAREWELL = 300 }; /* frames in which the others may learn it */
    const uint64_t enough = s->ticks + (s->invitation != NULL ? 120 : 240);
    uint64_t hash = 0;
    reef_net_stats n = {0};
    m.due = wall_ns();
    for (uint32_t left = 0; good && left < FAREWELL && frame_play(&m, &t); left += left > 0) {
        if (hash == 0) hash = reef_net_hash(t.net, s->ticks / 8 * 8);
        if (reef_net_confirmed(t.net) <= s->ticks + 100) n = reef_net_statistics(t.net);
        if (left > 0 || reef_net_confirmed(t.net) <= enough) continue;
        reef_net_leave(t.net);
        left = 1;
    }
    if (good) print_player(&t);
    if (good && hash == 0) complain(t.why);
    if (hash != 0) printf("hash before tick %" PRIu64 ": %016" PRIx64 "\n", s->ticks / 8 * 8, hash);
    if (good && s->times && m.watch.count > 0) {
        printf("frames %" PRIu64 "  late %" PRIu64 "  stalls %" PRIu64 " (%.1f ms)  compared %" PRIu64 "  ",
               m.watch.count, m.late, n.stalls, (double)n.stalled_ns / 1e6, n.hashes_compared);
        stopwatch_print(&m.watch);
        printf("\n");
    }
    stopwatch_free(&m.watch);
    together_end(&t);
    return good && hash != 0;
}

bool several_play(const several *s, reef_pool *pool)
{
    FILE *record = s->record != NULL ? fopen(s->record, "wb") : NULL;
    if (s->record != NULL && record == NULL) return complain("can't write the recording");
    bool good = s->players > 0 ? play_line(s, pool, record) : play_udp(s, pool, record);
    if (record != NULL && fclose(record) != 0) good = complain("can't write the recording");
    return good;
}

bool several_replay(const char *path, uint64_t until, reef_pool *pool)
{
    past p;
    char why[REEF_NET_REASON_MAX] = "";
    bool good = past_begin(&p, path, pool, why);
    if (!good) fprintf(stderr, "dive_headless: %s: %s\n", path, why);
    const reef_net_desync *d = &p.about.what;
    uint64_t end = p.about.first + p.about.ticks;
    if (until > 0 && until < end) end = until;
    while (good && p.tick < end) {
        if (p.about.differs && p.tick == d->tick)
            printf("tick %" PRIu64 ", which differs: system %s, component %s, field %s, here %s, there %s\n", d->tick,
                   d->system, d->component, d->field, d->here, d->there);
        if (!past_tick(&p)) good = complain("a tick can't be played");
    }
    if (good) printf("hash before tick %" PRIu64 ": %016" PRIx64 "\n", p.tick, reef_hash(p.now.world));
    past_end(&p);
    return good;
}

bool several_recorded(const char *path) { return past_is(path); }
#else
bool several_play(const several *s, reef_pool *pool)
{
    (void)s, (void)pool;
    fprintf(stderr, "dive_headless: this program was built without the add-on reef_net\n");
    return false;
}

bool several_replay(const char *path, uint64_t until, reef_pool *pool)
{
    (void)path, (void)until;
    return several_play(NULL, pool);
}

bool several_recorded(const char *path)
{
    (void)path;
    return false;
}
#endif
