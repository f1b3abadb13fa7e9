/* dive_headless: plays a dive without a window. `dive_headless --help` explains. */
#include "bot.h"
#include "look.h"
#include "measure.h"
#include "replay.h"
#include "session.h"
#include "several.h"
#include "stopwatch.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { DONE = 0, FAILED = 1, REFUSED = 2 };

static const char help[] =
    "dive_headless --replay FILE    plays recorded inputs; prints the state's hash every ten seconds, and the score\n"
    "dive_headless --bot TICKS      a bot plays for so many ticks\n"
    "dive_headless --measure N      how long a tick takes with N creatures\n"
    "\n"
    "dive_headless --two TICKS      two bots share a dive in this process, over a simulated line; prints whether "
    "their\n"
    "                               states are equal. --players N: more of them, up to 8\n"
    "dive_headless --host TICKS     a bot hosts a dive for others, and prints an invitation; --address: where they "
    "reach it\n"
    "dive_headless --join TICKS     another bot joins it; with --invitation\n"
    "\n"
    "  --ticks N         so many ticks are measured (default: 600)\n"
    "  --back N          measures N ticks back and again beside the same ticks alone; with --measure\n"
    "  --round MS, --jitter MS, --loss N      of the simulated line: there and back, how much longer at most, and how\n"
    "                    many of 1,000 datagrams are lost (default: 150, 15, 50); --creatures N: so many from the "
    "start\n"
    "  --address IPV4, --port N, --invitation TEXT\n"
    "  --record FILE     writes the inputs that were played; of several players, a recording of the session (of "
    "--two:\n"
    "                    the host's). --replay plays these, too, with --stop-at up to a tick\n"
    "  --desync FILE     if worlds differ, a recording of that is written there\n"
    "  --silence MS      who isn't heard for so long is dropped, over UDP (default: 2000)\n"
    "  --seed N          the sea, for --bot (default: 1)\n"
    "  --threads N       default: as many as the machine has processors\n"
    "  --every TICKS     prints a hash that often (default: 600); 0: only at the end\n"
    "  --save FILE       writes the world as it is at the end\n"
    "  --load FILE       begins with that world instead of a new one; with --bot\n"
    "  --folder DIR      goes on with the dive in the folder, and keeps a journal there; with --bot\n"
    "  --stop-at TICK    ends the program at once, as if it were killed; with --folder\n"
    "  --times           also prints how long the ticks took\n"
    "  --inspect         plays in real time, and shows it in the browser: the address is printed; with --bot and "
    "--replay\n"
    "                    (docs/manual/inspector.md). --inspect-port N: another port than 7272, 0 for any\n"
    "  --rewind          after every hash, goes back some ticks, plays them again, and compares\n";

typedef struct options {
    const char *replay, *record, *save, *load, *folder;
    uint64_t stop_at, bot, measure, ticks, seed, every;
    uint32_t threads, back;
    uint16_t inspect_port;
    several several;
    uint64_t two, host, join;
    bool rewind, times, inspect;
} options;

static int complain(const char *message, const char *detail)
{
    fprintf(stderr, "dive_headless: %s%s\n", message, detail);
    return REFUSED;
}

static bool parse(options *o, int count, char **arguments)
{
    *o = (options){.seed = 1, .every = 600, .ticks = 600, .inspect_port = 7272};
    o->several = (several){.players = 2, .round_ms = 150, .jitter_ms = 15, .loss = 50, .address = "127.0.0.1"};
    for (int i = 1; i < count; i++) {
        const char *name = arguments[i], *value = i + 1 < count ? arguments[i + 1] : NULL;
        if (strcmp(name, "--rewind") == 0 || strcmp(name, "--times") == 0) {
            *(name[2] == 'r' ? &o->rewind : &o->times) = true;
            continue;
        }
        if (strcmp(name, "--inspect") == 0) {
            o->inspect = true;
            continue;
        }
        if (value == NULL) return false;
        i++;
        if (strcmp(name, "--replay") == 0) o->replay = value;
        else if (strcmp(name, "--record") == 0) o->record = value;
        else if (strcmp(name, "--desync") == 0) o->several.desync = value;
        else if (strcmp(name, "--silence") == 0) o->several.silence_ms = strtoull(value, NULL, 10);
        else if (strcmp(name, "--save") == 0) o->save = value;
        else if (strcmp(name, "--load") == 0) o->load = value;
        else if (strcmp(name, "--folder") == 0) o->folder = value;
        else if (strcmp(name, "--stop-at") == 0) o->stop_at = strtoull(value, NULL, 10);
        else if (strcmp(name, "--bot") == 0) o->bot = strtoull(value, NULL, 10);
        else if (strcmp(name, "--seed") == 0) o->seed = strtoull(value, NULL, 10);
        else if (strcmp(name, "--every") == 0) o->every = strtoull(value, NULL, 10);
        else if (strcmp(name, "--measure") == 0) o->measure = strtoull(value, NULL, 10);
        else if (strcmp(name, "--ticks") == 0) o->ticks = strtoull(value, NULL, 10);
        else if (strcmp(name, "--inspect-port") == 0) o->inspect_port = (uint16_t)strtoul(value, NULL, 10);
        else if (strcmp(name, "--threads") == 0) o->threads = (uint32_t)strtoul(value, NULL, 10);
        else if (strcmp(name, "--back") == 0) o->back = (uint32_t)strtoul(value, NULL, 10);
        else if (strcmp(name, "--two") == 0) o->two = strtoull(value, NULL, 10);
        else if (strcmp(name, "--host") == 0) o->host = strtoull(value, NULL, 10);
        else if (strcmp(name, "--join") == 0) o->join = strtoull(value, NULL, 10);
        else if (strcmp(name, "--players") == 0) o->several.players = (uint32_t)strtoul(value, NULL, 10);
        else if (strcmp(name, "--round") == 0) o->several.round_ms = (uint32_t)strtoul(value, NULL, 10);
        else if (strcmp(name, "--jitter") == 0) o->several.jitter_ms = (uint32_t)strtoul(value, NULL, 10);
        else if (strcmp(name, "--loss") == 0) o->several.loss = (uint32_t)strtoul(value, NULL, 10);
        else if (strcmp(name, "--creatures") == 0) o->several.creatures = strtoull(value, NULL, 10);
        else if (strcmp(name, "--address") == 0) o->several.address = value;
        else if (strcmp(name, "--port") == 0) o->several.port = (uint16_t)strtoul(value, NULL, 10);
        else if (strcmp(name, "--invitation") == 0) o->several.invitation = value;
        else return false;
    }
    if (o->inspect && (o->rewind || o->record != NULL || o->folder != NULL || o->measure > 0)) return false;
    if (o->several.players < 2 || o->several.players > 8 || (o->join > 0) != (o->several.invitation != NULL))
        return false;
    if (o->host > 0 || o->join > 0) o->several.players = 0;
    o->several.seed = o->seed;
    o->several.times = o->times;
    o->several.record = o->record;
    o->several.ticks = o->two + o->host + o->join;
    return (o->replay != NULL) + (o->bot > 0) + (o->measure > 0) + (o->two > 0) + (o->host > 0) + (o->join > 0) == 1;
}

static void print_state(reef_world *w)
{
    static const char *const stages[] = {"ready", "wave", "shop", "won", "lost"};
    const Stage *s = reef_single_get(w, Stage);
    const Purse *p = reef_single_get(w, Purse);
    const Diver *d = reef_get(w, reef_single_get(w, Lamp)->diver, Diver);
    float boss = 0.0f;
    for (reef_block b = reef_begin_text(w, "in Health, with Boss"); reef_next(&b);)
        for (uint32_t i = 0; i < b.count; i++) boss += reef_in(&b, Health)[i].now;
    printf("tick %5" PRIu64 "  hash %016" PRIx64
           "  score %6u  %s %u  enemies %u  kills %u  pearls %u  air %.1f  boss %.0f\n",
           reef_tick_count(w), reef_hash(w), (unsigned)p->score, stages[s->now], (unsigned)s->wave,
           (unsigned)reef_single_get(w, Census)->enemies, (unsigned)p->kills, (unsigned)p->pearls, (double)d->air,
           (double)boss);
}

/* Goes back, plays the same inputs again, and compares the hashes of all ticks. */
static bool rewind_and_replay(reef_history *h, uint64_t dice)
{
    reef_history_range range = reef_history_reach(h);
    uint64_t back = range.tick - range.first > 0 ? 1 + dice % (range.tick - range.first) : 0, tick = range.tick;
    uint64_t hashes[REWIND_TICKS + 1];
    for (uint64_t t = tick - back; t < tick; t++) hashes[t - (tick - back)] = reef_history_hash(h, t);
    if (reef_history_rewind(h, tick - back) < 0 || reef_history_replay(h, tick) < 0) return false;
    for (uint64_t t = tick - back; t < tick; t++)
        if (hashes[t - (tick - back)] != reef_history_hash(h, t)) return false;
    return true;
}

static bool play(const options *o, game *g, const replay *from, replay *played)
{
    reef_history *h = NULL;
    if (o->rewind) {
        h = reef_history_new(g->world,
                             &(reef_history_config){.ticks = REWIND_TICKS, .step = game_step, .hashes = true});
        if (h == NULL) return false;
    }
    Input in = {0};
    uint64_t ticks = o->replay != NULL ? from->count : o->bot;
    stopwatch watch;
    bool good = stopwatch_new(&watch, o->times ? ticks : 0);
    for (uint64_t t = 0; t < ticks && good; t++) {
        in = o->replay != NULL ? from->inputs[t] : bot_input(g->world, &in);
        if (o->times) stopwatch_begin(&watch);
        good = (h != NULL ? reef_history_step(h, &in, sizeof in) : game_tick(g, &in)) >= 0;
        if (o->times) stopwatch_end(&watch);
        if (good && o->record != NULL) good = replay_add(played, in);
        if (!good || o->every == 0 || (t + 1) % o->every != 0) continue;
        print_state(g->world);
        if (h == NULL || rewind_and_replay(h, t * 7919)) continue;
        fprintf(stderr, "dive_headless: rewinding and playing again gave another state\n");
        good = false;
    }
    reef_history_free(h);
    if (good) print_state(g->world);
    if (good && watch.count > 0) {
        stopwatch_print(&watch);
        printf("\n");
    }
    stopwatch_free(&watch);
    return good;
}

/* ---- a dive that is looked at: --inspect ---- */

typedef struct watched {
    game *g;
    const replay *from; /* NULL: the bot plays */
    uint64_t ticks;
} watched;

static Input watched_input(void *context, reef_world *w)
{
    const watched *x = context;
    const uint64_t tick = reef_tick_count(w);
    if (x->from == NULL) return bot_input(w, reef_single_get(w, Input));
    return tick < x->from->count ? x->from->inputs[tick] : (Input){0};
}

static reef_status watched_next(void *context)
{
    watched *x = context;
    if (reef_tick_count(x->g->world) >= x->ticks) return REEF_LIMIT;
    const Input in = watched_input(x, x->g->world);
    return game_tick(x->g, &in);
}

/* It is over when its last tick is played and nobody looks any more: the page may send it back. */
static bool play_watched(const options *o, game *g, const replay *from)
{
    char why[200] = "";
    watched x = {g, o->replay != NULL ? from : NULL, o->replay != NULL ? from->count : o->bot};
    look *l = look_begin(
        g->world,
        &(look_config){
            .port = o->inspect_port, .waits = true, .input = watched_input, .next = watched_next, .context = &x},
        why);
    bool good = l != NULL;
    if (!good) complain("--inspect: ", why);
    while (good) {
        if (reef_tick_count(g->world) >= x.ticks) {
            if (!look_stays(l)) break;
            continue;
        }
        good = watched_next(&x) >= 0;
        look_tick(l);
    }
    if (good) print_state(g->world);
    look_end(l);
    return good;
}

/* A dive that is kept in a folder. */
static bool play_session(const options *o, reef_pool *pool)
{
    session s;
    Input in = {0};
    bool good = session_begin(&s, o->seed, pool, o->folder);
    if (good && session_was_loaded(&s)) printf("goes on at tick %" PRIu64 "\n", reef_tick_count(s.now.world));
    while (good && reef_tick_count(s.now.world) < o->bot) {
        in = bot_input(s.now.world, &in);
        good = session_tick(&s, in);
        if (reef_tick_count(s.now.world) == o->stop_at) _Exit(DONE);
    }
    good = good && session_save(&s);
    if (good) print_state(s.now.world);
    session_end(&s);
    return good;
}

static bool begin(const options *o, const replay *from, game *g, reef_pool *pool)
{
    if (o->load == NULL) return game_new(g, o->replay != NULL ? from->seed : o->seed, pool);
    return game_blank(g, pool) && reef_load(g->world, o->load, NULL) >= 0 && game_wake(g);
}

static bool write_recording(const char *path, const replay *played)
{
    FILE *file = fopen(path, "w");
    bool good = file != NULL && replay_write(played, file);
    if (file != NULL && fclose(file) != 0) good = false;
    return good;
}

static int run(const options *o, const replay *from, reef_pool *pool)
{
    replay played = {.seed = o->seed};
    game g = {0};
    if (o->measure > 0) {
        return (o->back > 0 ? measure_back(o->measure, o->ticks, o->back, pool) : measure(o->measure, o->ticks, pool))
                   ? DONE
                   : FAILED;
    }
    if (o->several.ticks > 0) return several_play(&o->several, pool) ? DONE : FAILED;
    if (o->folder != NULL) return play_session(o, pool) ? DONE : FAILED;
    bool good = begin(o, from, &g, pool) && (o->inspect ? play_watched(o, &g, from) : play(o, &g, from, &played));
    if (good && o->save != NULL) good = reef_save(g.world, o->save, NULL) >= 0;
    if (!good) {
        char text[400] = "no memory";
        if (g.world != NULL) reef_error_text(g.world, text, sizeof text);
        complain("playing: ", text);
    }
    if (good && o->record != NULL && !write_recording(o->record, &played)) {
        complain("can't write ", o->record);
        good = false;
    }
    game_free(&g);
    replay_free(&played);
    return good ? DONE : FAILED;
}

static bool read_recording(const char *path, replay *from)
{
    uint64_t line;
    char where[32];
    FILE *file = fopen(path, "r");
    if (file == NULL) return complain("can't read ", path), false;
    bool good = replay_read(from, file, &line);
    fclose(file);
    snprintf(where, sizeof where, "%" PRIu64, line);
    if (!good) complain(line > 0 ? "the recording can't be understood in line " : "no memory in line ", where);
    return good;
}

int main(int count, char **arguments)
{
    options o;
    replay from = {0};
    if (count == 2 && strcmp(arguments[1], "--help") == 0) return fputs(help, stdout) < 0;
    if (!parse(&o, count, arguments)) return complain("wrong arguments; see --help", "");
    const bool shared = o.replay != NULL && several_recorded(o.replay);
    if (o.replay != NULL && !shared && !read_recording(o.replay, &from)) return REFUSED;
    reef_pool *pool = o.threads == 1 ? NULL : reef_pool_new(&(reef_pool_config){.threads = o.threads});
    int status = FAILED;
    if (!shared) status = run(&o, &from, pool);
    else if (several_replay(o.replay, o.stop_at, pool)) status = DONE;
    reef_pool_free(pool);
    replay_free(&from);
    return status;
}
