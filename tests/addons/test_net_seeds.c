/* The add-on reef_net over a simulated network: all players in one process and virtual time, and what goes wrong is
 * drawn from a seed: latency, jitter, loss, doubled and reordered datagrams, partitions, clocks that drift, processes
 * that stop for a while, die, leave, and return as new ones; spectators.
 *
 *     test_net_seeds --seeds 200 --seed 1 [--loud]
 *
 * What must hold in every run:
 *   - confirmed states are equal everywhere: by the hash of every eighth tick, also of those who were dropped;
 *   - a world that plays the confirmed inputs from the beginning, without any prediction, has the same hashes;
 *   - a confirmed tick is never played again, and nothing is undone or told twice that was told as final;
 *   - nobody is further ahead of the confirmed tick than a history reaches, and no session takes more than 8 MB;
 *   - in the end, when the network is sound again, everybody goes on or has ended with a reason.
 * And something must have happened: rollbacks at least 8 ticks deep, births and deaths within them, wrong predictions,
 * and hashes that were compared. */
#include "net_game.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PROGRAMS_MAX = 12, TICKS_MAX = 4096, AHEAD = 12, REACH = 64, DELAY = 2 };
#define MS UINT64_C(1000000)
#define PATIENCE (1500 * MS)
#define STEP_NS (1000 * MS / 60)

typedef struct inputs {
    uint32_t players;
    Keys keys[REEF_NET_PLAYERS_MAX];
} inputs;

typedef struct program {
    reef_net *net;
    reef_world *world;
    net_game game;
    uint64_t address;
    bool host, spectator, leaves;
    double rate;           /* of its clock */
    uint64_t offset, next; /* of its clock; when it updates next */
    uint64_t stopped_until;
    uint64_t final; /* the last tick of a final notice */
    uint64_t progress, progress_at;
    uint64_t first_hash;
    uint64_t hash[TICKS_MAX / 8];
    inputs played[TICKS_MAX];
    uint64_t told[64]; /* ids of the last final notices */
    uint64_t told_ticks, told_wrong;
    uint32_t told_at;
    size_t bytes; /* that its session has */
} program;

typedef struct run {
    uint64_t seed, random, now;
    reef_net_sim *sim;
    program *programs[PROGRAMS_MAX];
    uint32_t count;
    bool loud;
    uint64_t rollbacks, deepest, changed, births, deaths, compared, views, ended, joined, checked, stalls, events,
        nobody;
} run;

static uint64_t draw(run *r, uint64_t below)
{
    uint64_t z = r->random += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (z ^ z >> 31) % below;
}

#define CHECK(r, condition, ...) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "seed %llu at %.3f s, %s: ", (unsigned long long)(r)->seed, (double)(r)->now / 1e9, \
                    #condition); \
            fprintf(stderr, __VA_ARGS__); \
            fputc('\n', stderr); \
            exit(1); \
        } \
    } while (0)

/* ---- programs ---- */

static void record(void *context, const reef_net_tick *t)
{
    program *p = context;
    if (t->net == NULL || t->tick >= TICKS_MAX) return;
    inputs *i = &p->played[t->tick];
    memset(i, 0, sizeof *i);
    i->players = t->players;
    for (uint32_t k = 0; k < REEF_NET_PLAYERS_MAX; k++)
        if (t->input[k]) i->keys[k] = *(const Keys *)t->input[k];
}

/* What is told as confirmed is what was played last, and each tick is told once. */
static void confirmed(void *context, const reef_net_tick *t)
{
    net_game *g = context;
    program *p = g->record_context;
    if (t->tick >= TICKS_MAX) return;
    const inputs *i = &p->played[t->tick];
    bool same = t->players == i->players && t->net == NULL && (p->told_ticks == 0 || t->tick == p->told_ticks);
    for (uint32_t k = 0; k < REEF_NET_PLAYERS_MAX; k++)
        if (t->input[k] && memcmp(t->input[k], &i->keys[k], sizeof i->keys[k]) != 0) same = false;
    if (!same) p->told_wrong++;
    p->told_ticks = t->tick + 1;
}

static void *counted(void *context, void *block, size_t old_bytes, size_t new_bytes, size_t align)
{
    program *p = context;
    (void)align;
    p->bytes += new_bytes - old_bytes;
    if (new_bytes) return realloc(block, new_bytes);
    free(block);
    return NULL;
}

static void begin(run *r, uint64_t server, bool spectator)
{
    char reason[REEF_NET_REASON_MAX];
    program *p = calloc(1, sizeof *p);
    CHECK(r, p && r->count < PROGRAMS_MAX, "too many programs");
    p->address = r->count + 1;
    p->host = server == 0;
    p->spectator = spectator;
    p->world = reef_world_new(&(reef_world_config){.seed = 5});
    net_game_begin(p->world, &p->game);
    p->game = (net_game){.seed = r->seed * 100 + r->count, .record = record, .record_context = p};
    p->rate = 1 + ((double)draw(r, 2001) - 1000) / 1e5; /* clocks differ by up to a hundredth */
    p->offset = draw(r, 1000000) * MS;
    p->first_hash = UINT64_MAX;
    reef_net_config c = {.world = p->world,
                         .transport = reef_net_sim_transport(r->sim, p->address),
                         .allocator = {counted, p},
                         .step = net_game_step,
                         .sample = net_game_sample,
                         .confirmed = confirmed,
                         .context = &p->game,
                         .input = net_game_input(),
                         .step_ns = STEP_NS,
                         .nonce = 1000 + p->address,
                         .spectator = spectator,
                         .ahead_max = AHEAD,
                         .silence_ns = 400 * MS,
                         .patience_ns = PATIENCE,
                         .delay_max = DELAY};
    if (r->seed % 2) c.signer = net_game_signer(p->address);
    p->net = server ? reef_net_join(&c, server, reason) : reef_net_host(&c, reason);
    CHECK(r, p->net, "%s", reason);
    r->programs[r->count++] = p;
}

static void die(program *p)
{
    reef_net_free(p->net);
    reef_world_free(p->world);
    if (p->bytes) abort(); /* all of them are given back */
    p->net = NULL;
    p->world = NULL;
}

static bool alive(const program *p) { return p->net && reef_net_state(p->net) != REEF_NET_ENDED; }
static bool plays(const program *p) { return alive(p) && reef_net_state(p->net) >= REEF_NET_WATCHING; }

static void notices_read(run *r, program *p)
{
    reef_net_notice n;
    while (reef_net_notice_next(p->net, &n)) {
        for (uint32_t i = 0; i < 64; i++)
            CHECK(r, p->told[i] != n.id || n.id == 0, "program %llu: notice %d of tick %llu after it was final",
                  (unsigned long long)p->address, (int)n.notice, (unsigned long long)n.tick);
        if (n.notice != REEF_NET_FINAL) {
            CHECK(r, n.tick >= p->final, "a notice of a tick before the last final one");
            continue;
        }
        CHECK(r, n.tick >= p->final && n.tick < reef_net_confirmed(p->net),
              "a final notice out of order, or too early");
        p->final = n.tick;
        p->told[p->told_at++ % 64] = n.id;
        r->events++;
    }
}

static void update(run *r, program *p)
{
    const reef_net_phase before = reef_net_state(p->net);
    const uint64_t now = p->offset + (uint64_t)((double)r->now * p->rate);
    const reef_status s = reef_net_update(p->net, now);
    CHECK(r, s == REEF_OK, "program %llu: %s", (unsigned long long)p->address, reef_status_name(s));
    const uint64_t confirmed = reef_net_confirmed(p->net), tick = reef_net_tick_next(p->net);
    if (before == REEF_NET_WATCHING && reef_net_state(p->net) < before) { /* it loads again from another host */
        p->game.confirmed = p->game.played_until = p->final = 0;
        p->first_hash = UINT64_MAX;
        p->told_ticks = 0;
        memset(p->hash, 0, sizeof p->hash);
        memset(p->told, 0, sizeof p->told);
        reef_net_notice n;
        while (reef_net_notice_next(p->net, &n)) {}
        return;
    }
    CHECK(r, p->told_wrong == 0, "program %llu: other inputs were confirmed than played",
          (unsigned long long)p->address);
    CHECK(r, p->told_ticks == 0 || p->told_ticks == confirmed || confirmed > TICKS_MAX, "a confirmed tick wasn't told");
    CHECK(r, p->game.late == 0, "program %llu: a confirmed tick was played again", (unsigned long long)p->address);
    CHECK(r, tick <= confirmed + REACH, "program %llu is %llu ticks ahead", (unsigned long long)p->address,
          (unsigned long long)(tick - confirmed));
    CHECK(r, p->bytes < 8 << 20, "the session of program %llu has %llu bytes", (unsigned long long)p->address,
          (unsigned long long)p->bytes);
    CHECK(r, confirmed >= p->game.confirmed, "the confirmed tick went back");
    CHECK(r, strncmp(reef_net_reason(p->net), "desync", 6) != 0, "program %llu: %s", (unsigned long long)p->address,
          reef_net_reason(p->net));
    p->game.confirmed = confirmed;
    notices_read(r, p);
    for (uint64_t t = confirmed / 8 * 8; t < TICKS_MAX && t + 160 > confirmed; t -= 8) {
        const uint64_t hash = reef_net_hash(p->net, t);
        if (hash == 0) break;
        CHECK(r, p->hash[t / 8] == 0 || p->hash[t / 8] == hash, "a confirmed state changed");
        p->hash[t / 8] = hash;
        if (t < p->first_hash) p->first_hash = t;
        if (t == 0) break;
    }
    if (confirmed > p->progress) {
        p->progress = confirmed;
        p->progress_at = r->now;
    }
    if (r->loud && before != reef_net_state(p->net))
        printf("%.3f: program %llu (player %d): %d -> %d at tick %llu, confirmed %llu %s\n", (double)r->now / 1e9,
               (unsigned long long)p->address, reef_net_player(p->net), before, reef_net_state(p->net),
               (unsigned long long)tick, (unsigned long long)confirmed, reef_net_reason(p->net));
}

static void play(run *r, uint64_t until)
{
    for (; r->now < until; r->now += 2 * MS) {
        reef_net_sim_time(r->sim, r->now);
        for (uint32_t i = 0; i < r->count; i++) {
            program *p = r->programs[i];
            if (!alive(p) || r->now < p->next || r->now < p->stopped_until) continue;
            p->next = r->now + 8 * MS + draw(r, 8) * MS;
            update(r, p);
        }
    }
}

/* ---- what is checked in the end ---- */

/* Two programs agree on everything that both have confirmed, whether they are still in the session or not. */
static void compare(run *r, const program *a, const program *b)
{
    for (uint64_t t = 0; t < TICKS_MAX; t += 8) {
        if (a->hash[t / 8] == 0 || b->hash[t / 8] == 0) continue;
        CHECK(r, a->hash[t / 8] == b->hash[t / 8], "programs %llu and %llu differ before tick %llu",
              (unsigned long long)a->address, (unsigned long long)b->address, (unsigned long long)t);
        r->compared++;
    }
}

/* A world that plays the confirmed inputs of this program, one after the other. */
static void reference(run *r, const program *p)
{
    net_game g = {0};
    reef_world *w = reef_world_new(&(reef_world_config){.seed = 5});
    net_game_begin(w, &g);
    for (uint64_t t = 0; t < reef_net_confirmed(p->net) && t < TICKS_MAX; t++) {
        reef_net_tick tick = {.tick = t, .players = p->played[t].players};
        if (t % 8 == 0 && p->hash[t / 8])
            CHECK(r, reef_hash(w) == p->hash[t / 8], "without prediction the state before tick %llu is another one",
                  (unsigned long long)t);
        for (uint32_t k = 0; k < REEF_NET_PLAYERS_MAX; k++)
            tick.input[k] = tick.players & 1u << k ? &p->played[t].keys[k] : NULL;
        CHECK(r, net_game_step(&g, w, &tick) == REEF_OK, "the step failed");
        r->checked++;
    }
    reef_world_free(w);
}

static void count(run *r, const program *p)
{
    const reef_net_stats s = reef_net_statistics(p->net);
    r->rollbacks += s.rollbacks;
    if (s.deepest > r->deepest) r->deepest = s.deepest;
    r->changed += s.inputs_changed;
    r->births += p->game.births;
    r->deaths += p->game.deaths;
    r->views += s.views;
    r->stalls += s.stalls;
}

static void finish(run *r)
{
    uint32_t going = 0;
    for (uint32_t i = 0; i < r->count; i++) {
        program *p = r->programs[i];
        if (p->net == NULL) continue;
        count(r, p);
        if (!alive(p)) {
            r->ended++;
            CHECK(r, reef_net_reason(p->net)[0], "program %llu ended without a reason", (unsigned long long)p->address);
            continue;
        }
        CHECK(r, plays(p) && r->now - p->progress_at < 1000 * MS,
              "program %llu hangs in state %d at tick %llu, confirmed %llu: %s", (unsigned long long)p->address,
              (int)reef_net_state(p->net), (unsigned long long)reef_net_tick_next(p->net),
              (unsigned long long)reef_net_confirmed(p->net), reef_net_reason(p->net));
        going++;
        if (p->host) reference(r, p);
        for (uint32_t k = 0; k < i; k++)
            if (alive(r->programs[k])) compare(r, p, r->programs[k]);
        for (uint32_t k = 0; k < r->count; k++) {
            const program *q = r->programs[k];
            if (q->net == NULL || alive(q) || reef_net_player(q->net) < 0) continue;
            compare(r, p, q);
        }
    }
    r->nobody = going == 0;
    if (r->loud) printf("%u of %u programs go on\n", going, r->count);
}

/* ---- a run ---- */

static program *any(run *r)
{
    program *p = r->programs[draw(r, r->count)];
    return alive(p) ? p : NULL;
}

static uint64_t someone(const run *r)
{
    for (uint32_t i = 0; i < r->count; i++)
        if (r->programs[i] && alive(r->programs[i]) && reef_net_player(r->programs[i]->net) >= 0)
            return r->programs[i]->address;
    return 0;
}

static void partition(run *r, bool cut)
{
    const uint64_t side = draw(r, 1u << PROGRAMS_MAX);
    for (uint64_t a = 0; a < PROGRAMS_MAX; a++)
        for (uint64_t b = 0; b < PROGRAMS_MAX; b++)
            reef_net_sim_cut(r->sim, a + 1, b + 1, cut && (side >> a & 1) != (side >> b & 1));
}

/* Something happens to the network or to a program. */
static void trouble(run *r)
{
    program *p = any(r);
    const uint64_t what = draw(r, 8);
    if (r->loud)
        printf("%.3f: trouble %llu with program %llu\n", (double)r->now / 1e9, (unsigned long long)what,
               (unsigned long long)(p ? p->address : 0));
    if (what == 0) partition(r, true);
    if (what == 1) partition(r, false);
    if (what == 2 && p) p->stopped_until = r->now + draw(r, 700) * MS;
    if (what == 3 && p && draw(r, 2)) {
        count(r, p);
        die(p);
        reef_net_sim_drop(r->sim, p->address);
    }
    if (what == 4 && p && draw(r, 2)) reef_net_leave(p->net);
    if (what == 5 && someone(r) && r->count < PROGRAMS_MAX) begin(r, someone(r), draw(r, 3) == 0);
    if (what == 6) { /* one link fails */
        const uint64_t a = 1 + draw(r, r->count), b = 1 + draw(r, r->count);
        reef_net_sim_cut(r->sim, a, b, true);
        if (draw(r, 2)) reef_net_sim_cut(r->sim, b, a, true);
    }
    if (what == 7) {
        const reef_net_line line = {.latency_ns = (5 + draw(r, 100)) * MS,
                                    .jitter_ns = draw(r, 60) * MS,
                                    .loss = (uint32_t)draw(r, 150),
                                    .twice = (uint32_t)draw(r, 50)};
        reef_net_sim_line(r->sim, &line);
    }
}

static void one(run *r)
{
    const reef_net_line line = {.latency_ns = (115 + draw(r, 30)) * MS,
                                .jitter_ns = (10 + draw(r, 60)) * MS,
                                .loss = (uint32_t)draw(r, 80),
                                .twice = (uint32_t)draw(r, 50)};
    const uint64_t players = 2 + draw(r, 3), troubles = draw(r, 7);
    r->sim = reef_net_sim_new(r->seed, &line, NULL);
    begin(r, 0, false);
    for (uint64_t i = 1; i < players; i++) begin(r, 1, false);
    for (uint64_t s = 3; s <= 9 && r->joined < players; s++) { /* members are added one after the other */
        play(r, s * 1000 * MS);
        r->joined = 0;
        for (uint64_t i = 0; i < players; i++)
            r->joined += r->programs[i]->net && reef_net_player(r->programs[i]->net) >= 0;
    }
    for (uint64_t i = 0; i < troubles; i++) {
        trouble(r);
        play(r, r->now + draw(r, 700) * MS);
    }
    partition(r, false);
    reef_net_sim_line(r->sim, &(reef_net_line){.latency_ns = 30 * MS, .jitter_ns = 10 * MS, .loss = 10});
    play(r, r->now + 4500 * MS);
    if (someone(r) == 0) play(r, r->now + PATIENCE + 500 * MS); /* who watched and joins anew isn't answered any more */
    finish(r);
    for (uint32_t i = 0; i < r->count; i++) {
        if (r->programs[i]->net) die(r->programs[i]);
        free(r->programs[i]);
    }
    reef_net_sim_free(r->sim);
    /* on a bad line one may give up before it is answered */
    CHECK(r, r->joined >= 2, "%llu of %llu joined", (unsigned long long)r->joined, (unsigned long long)players);
    CHECK(r, r->deepest >= 8, "the deepest rollback had %llu ticks", (unsigned long long)r->deepest);
    CHECK(r, r->births && r->deaths && r->changed, "nothing was born, died or changed in a rollback");
}

int main(int argc, char **argv)
{
    uint64_t seeds = 200, first = 1;
    run sum = {0};
    bool loud = false;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--seeds") == 0 && i + 1 < argc) seeds = strtoull(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--seed") == 0 && i + 1 < argc) first = strtoull(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--loud") == 0) loud = true;
        else return fprintf(stderr, "usage: %s [--seeds N] [--seed N] [--loud]\n", argv[0]), 2;
    }
    for (uint64_t seed = first; seed < first + seeds; seed++) {
        run r = {.seed = seed, .random = seed, .loud = loud};
        one(&r);
        sum.rollbacks += r.rollbacks;
        sum.changed += r.changed;
        sum.births += r.births;
        sum.deaths += r.deaths;
        sum.compared += r.compared;
        sum.checked += r.checked;
        sum.views += r.views;
        sum.ended += r.ended;
        sum.stalls += r.stalls;
        sum.events += r.events;
        sum.nobody += r.nobody;
        if (r.deepest > sum.deepest) sum.deepest = r.deepest;
    }
    printf("%llu seeds: %llu rollbacks, deepest %llu, %llu inputs changed, %llu births and %llu deaths in them; %llu "
           "hashes "
           "compared, %llu ticks played again from the beginning; %llu views, %llu programs ended, %llu events, %llu "
           "stalls; %llu sessions ended for all\n",
           (unsigned long long)seeds, (unsigned long long)sum.rollbacks, (unsigned long long)sum.deepest,
           (unsigned long long)sum.changed, (unsigned long long)sum.births, (unsigned long long)sum.deaths,
           (unsigned long long)sum.compared, (unsigned long long)sum.checked, (unsigned long long)sum.views,
           (unsigned long long)sum.ended, (unsigned long long)sum.events, (unsigned long long)sum.stalls,
           (unsigned long long)sum.nobody);
    return 0;
}
