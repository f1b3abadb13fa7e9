#include "several.h"

#include <inttypes.h>
#include <string.h>
#include <stdio.h>

#ifdef DIVE_TOGETHER
#include "measure.h"
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

static bool play_line(const several *s, reef_pool *pool, FILE *record)
{
    static together all[PLAYERS_MAX];
    const reef_net_line line = {.latency_ns = (s->round_ms / 2) * MS, .jitter_ns = s->jitter_ms * MS, .loss = s->loss};
    reef_net_sim *sim = reef_net_sim_new(s->seed, &line, NULL);
    stopwatch watch;
    bool good = sim != NULL && stopwatch_new(&watch, s->ticks * 2 + 2000);
    uint32_t count = 0;
    for (; good && count < s->players; count++) {
        good = together_on(&all[count], s->seed, pool, sim, count + 1) || complain(all[count].why);
        all[count].bot = true;
        if (count == 0) all[0].record = record;
        if (good && count == 0 && s->creatures > 0) {
            good = measure_fill(&all[0].now, s->creatures);
            reef_single_mut(all[0].now.world, Stage)->now = STAGE_READY; /* nobody dies of it */
        }
    }
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

/* Waits for about a millisecond. A program with a window waits for the next picture instead. */
static void rest(void) { (void)nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL); }

/* The host stays as long as somebody plays with it, and both leave when they have confirmed all ticks. */
static bool play_udp(const several *s, reef_pool *pool, FILE *record)
{
    static together t;
    char invitation[200];
    bool good = s->invitation != NULL
                    ? together_join(&t, pool, s->invitation)
                    : together_host(&t, s->seed, pool, s->address, s->port, invitation, sizeof invitation);
    if (!good) complain(t.why);
    t.bot = true;
    t.record = record;
    if (good && s->invitation == NULL) printf("%s\n", invitation);
    (void)fflush(stdout);
    uint64_t hash = 0;
    for (bool left = false; good && !together_is_over(&t);) {
        good = together_update(&t, wall_ns()) || complain(t.why);
        if (hash == 0) hash = reef_net_hash(t.net, s->ticks / 8 * 8);
        if (!left && hash != 0 && reef_net_confirmed(t.net) > s->ticks + 120) {
            left = true;
            reef_net_leave(t.net);
        }
        rest();
    }
    if (good) print_player(&t);
    if (good && hash == 0) complain(t.why);
    if (hash != 0) printf("hash before tick %" PRIu64 ": %016" PRIx64 "\n", s->ticks / 8 * 8, hash);
    together_end(&t);
    return good && hash != 0;
}

bool several_play(const several *s, reef_pool *pool)
{
    FILE *record = s->record != NULL ? fopen(s->record, "w") : NULL;
    if (s->record != NULL && record == NULL) return complain("can't write the recording");
    bool good = s->players > 0 ? play_line(s, pool, record) : play_udp(s, pool, record);
    if (record != NULL && fclose(record) != 0) good = complain("can't write the recording");
    return good;
}

bool several_replay(const char *path, uint64_t until, reef_pool *pool)
{
    game g = {0};
    uint64_t line = 0;
    FILE *file = fopen(path, "r");
    if (file == NULL) return complain("can't read the recording");
    const bool good = together_replay(&g, pool, file, until, &line);
    (void)fclose(file);
    if (!good) fprintf(stderr, "dive_headless: the recording can't be played at line %" PRIu64 "\n", line);
    if (good) printf("hash before tick %" PRIu64 ": %016" PRIx64 "\n", reef_tick_count(g.world), reef_hash(g.world));
    game_free(&g);
    return good;
}
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
#endif

bool several_recorded(const char *path)
{
    char text[16] = "";
    FILE *file = fopen(path, "r");
    const bool is = file != NULL && fgets(text, sizeof text, file) != NULL && strncmp(text, "together ", 9) == 0;
    if (file != NULL) (void)fclose(file);
    return is;
}
