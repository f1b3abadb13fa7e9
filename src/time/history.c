/* The last ticks of a world: their states and inputs, going back, and playing again.
 *
 *      tick     first                   newest            end
 *      moment   [s i] [- i] [- i] [s i] [s i] [- i] [- i]         s: the state before the tick is kept, -: it isn't
 *                └──── newer ─────┘ └───┘└─► the world            i: the tick's input
 *
 * Moments lie in a ring by tick. The oldest moment always has its state, so every later state can be made: go to the
 * nearest older state that is kept, and play the inputs from there. A state costs what it holds and the next kept
 * state doesn't.
 *
 * Playing can fail at any tick. So the world's state is first put aside, in a fork that nobody else knows, and what is
 * played is recorded in moments of its own. Afterwards either these moments are taken over, or the two states are
 * exchanged; neither needs memory.
 *
 * A replay (reef/replay.h) does the same on a fork, while the world goes on:
 *
 *      the world      [ from ] ── recorded ticks ── [ reload ] ── ticks that come ── [ tick ]
 *      the replay     [ from ] ── played again, a few at a time ──► ..................... the world takes its state */
#include "type/code.h"
#include "storage/error.h"
#include "storage/removal_log.h"
#include "query/inherited_queries.h"
#include "system/event.h"
#include "world/fork_policy.h"
#include "world/snapshot.h"
#include "time/history.h"
#include "reef/history.h"
#include "reef/many.h"
#include "reef/replay.h"
#include <inttypes.h>
#include <stdio.h>

enum { MOMENTS_FIRST = 16 };
#define NO_TICK UINT64_MAX

typedef struct recorded_input {
    size_t bytes;
    _Alignas(PLAIN_ALIGN) unsigned char data[];
} recorded_input;

typedef struct moment {
    reef_snapshot *snapshot; /* NULL: not kept */
    recorded_input *input;
    uint64_t hash;
    uint64_t bytes;        /* what the snapshot costs */
    uint64_t older, newer; /* the neighbouring ticks with a snapshot, or NO_TICK */
} moment;

struct reef_history {
    reef_world *world;
    family *family;
    reef_history_config config;
    moment *moments; /* tick t is at t % capacity; the capacity is a power of two */
    uint64_t capacity;
    uint64_t first, tick, end; /* the moments first ... end - 1 exist */
    uint64_t newest, kept;     /* newest: the last tick with a snapshot; kept: their number */
    uint64_t bytes, log_bytes; /* cost of the snapshots; of moments and inputs */
    uint64_t conversions;      /* of snapshots that the moments know of: conversions_notice */
    uint64_t pasts;            /* how often what was recorded changed, other than by another tick */
    bool running;              /* a step function is being called */
    reef_replay *replay;       /* NULL: none */
    /* Inputs that have a type: all such histories of the process are in a list, since the type may get another layout.
     * `fresh`: the last inputs in the new one, until it is known that everything is converted. */
    reef_history *next_described;
    recorded_input **fresh;
    uint64_t fresh_count; /* those of end - fresh_count ... end - 1 */
};

static moment *moment_at(const reef_history *h, uint64_t tick) { return &h->moments[tick & (h->capacity - 1)]; }

static moment *moment_recorded(const reef_history *h, uint64_t tick)
{
    return h && tick >= h->first && tick < h->end ? moment_at(h, tick) : NULL;
}

/* ---- what a state costs ---- */

static void moment_weigh(reef_history *h, moment *m)
{
    const moment *next = m->newer == NO_TICK ? NULL : moment_at(h, m->newer);
    h->bytes -= m->bytes;
    m->bytes = next ? reef__snapshot_beyond(m->snapshot, &next->snapshot->hot, &next->snapshot->state)
                    : reef__snapshot_beyond(m->snapshot, &h->world->hot, &h->world->state);
    h->bytes += m->bytes;
}

/* Types may have become others in all snapshots (reef_code_use). Then the states have other hashes, which nobody knows,
 * and other costs. The newest state knows all types that older ones know. */
static void conversions_notice(reef_history *h)
{
    if (h == NULL || h->kept == 0) return;
    const uint64_t now = moment_at(h, h->newest)->snapshot->converted;
    if (LIKELY(now <= h->conversions)) return;
    h->conversions = now;
    h->pasts++;
    for (uint64_t t = h->first; t < h->end; t++) moment_at(h, t)->hash = 0;
    for (uint64_t t = h->newest; t != NO_TICK; t = moment_at(h, t)->older) moment_weigh(h, moment_at(h, t));
}

/* ---- inputs and states are added and dropped ---- */

/* `bytes` of data; without them so much room. */
static recorded_input *input_new(family *f, const void *data, size_t bytes)
{
    size_t all;
    if (!reef__size_multiply(1, bytes, sizeof(recorded_input), &all)) return NULL;
    recorded_input *in = reef__memory_resize(&f->memory, MEMORY_OTHER, NULL, 0, all, PLAIN_ALIGN);
    if (in == NULL) return NULL;
    in->bytes = bytes;
    if (bytes && data) memcpy(in->data, data, bytes);
    return in;
}

static void input_free(family *f, recorded_input *in)
{
    if (in) reef__memory_free(&f->memory, MEMORY_OTHER, in, sizeof *in + in->bytes);
}

/* Stores an input, which belongs to the history from now on. */
static void input_put(reef_history *h, moment *m, recorded_input *in)
{
    if (m->input) h->log_bytes -= sizeof *in + m->input->bytes;
    input_free(h->family, m->input);
    m->input = in;
    if (in) h->log_bytes += sizeof *in + in->bytes;
}

static void snapshot_put(reef_history *h, uint64_t tick, reef_snapshot *s)
{
    moment *m = moment_at(h, tick);
    m->snapshot = s;
    m->bytes = 0;
    m->older = h->kept ? h->newest : NO_TICK;
    m->newer = NO_TICK;
    if (h->kept++) moment_at(h, h->newest)->newer = tick;
    h->newest = tick;
}

static void snapshot_forget(reef_history *h, moment *m)
{
    if (m->older != NO_TICK) moment_at(h, m->older)->newer = m->newer;
    if (m->newer != NO_TICK) moment_at(h, m->newer)->older = m->older;
    else h->newest = m->older;
    h->kept--;
    h->bytes -= m->bytes;
    reef_snapshot_free(m->snapshot);
    m->snapshot = NULL;
}

/* Returns the nearest tick with a state, this one or an older one. */
static uint64_t kept_before(const reef_history *h, uint64_t tick)
{
    if (tick >= h->newest) return h->newest;
    while (moment_at(h, tick)->snapshot == NULL) tick--;
    return tick;
}

/* Drops all states from this tick on, which don't follow any more, and their hashes. */
static COLD void snapshots_forget_from(reef_history *h, uint64_t tick)
{
    while (h->kept && h->newest >= tick) snapshot_forget(h, moment_at(h, h->newest));
    for (uint64_t t = tick < h->first ? h->first : tick; t < h->end; t++) moment_at(h, t)->hash = 0;
}

static uint64_t replay_from(const reef_replay *r);

/* The oldest state may go only if the world's tick can still be reached without it, and no replay needs its inputs. */
static bool oldest_can_go(const reef_history *h)
{
    if (h->kept <= 1) return false;
    const uint64_t next = moment_at(h, h->first)->newer;
    return next <= h->tick && (h->replay == NULL || next <= replay_from(h->replay));
}

static COLD void oldest_forget(reef_history *h)
{
    uint64_t next = moment_at(h, h->first)->newer;
    snapshot_forget(h, moment_at(h, h->first));
    for (; h->first != next; h->first++, h->log_bytes -= sizeof(moment)) input_put(h, moment_at(h, h->first), NULL);
}

/* ---- bounds ---- */

/* Returns the state that will be missed least: neither the first nor the last one, and the one that leaves the
 * smallest gap for its age; of equal ones the oldest. So the states that stay lie farther apart the older they are.
 * NO_TICK: there are only two. */
static uint64_t least_missed(const reef_history *h)
{
    uint64_t least = NO_TICK;
    double smallest = 0;
    for (uint64_t t = moment_at(h, h->first)->newer; t != NO_TICK; t = moment_at(h, t)->newer) {
        const moment *m = moment_at(h, t);
        if (m->newer == NO_TICK) break;
        double gap = (double)(m->newer - m->older) / (double)(h->end - t);
        if (least != NO_TICK && gap >= smallest) continue;
        least = t;
        smallest = gap;
    }
    return least;
}

static COLD void history_thin(reef_history *h)
{
    const uint64_t ticks = h->config.ticks, bytes = h->config.bytes;
    while (ticks && oldest_can_go(h) && h->end - h->first > ticks) oldest_forget(h);
    if (bytes == 0) return;
    while (oldest_can_go(h) && h->log_bytes > bytes / 2) oldest_forget(h); /* the log is long, and has few states */
    while (h->bytes + h->log_bytes > bytes) {
        uint64_t tick = least_missed(h);
        if (tick != NO_TICK) {
            uint64_t older = moment_at(h, tick)->older;
            snapshot_forget(h, moment_at(h, tick));
            moment_weigh(h, moment_at(h, older));
        } else if (oldest_can_go(h)) {
            oldest_forget(h);
        } else {
            break;
        }
    }
}

/* Makes room for one more moment. */
static COLD bool moments_reserve(reef_history *h)
{
    if (h->end - h->first < h->capacity) return true;
    size_t capacity = h->capacity ? (size_t)h->capacity * 2 : MOMENTS_FIRST;
    moment *more = capacity > SIZE_MAX / sizeof *more
                       ? NULL
                       : reef__memory_zeroed(&h->family->memory, MEMORY_OTHER, capacity * sizeof *more);
    if (more == NULL) return false;
    for (uint64_t t = h->first; t < h->end; t++) more[t & (capacity - 1)] = *moment_at(h, t);
    reef__memory_free(&h->family->memory, MEMORY_OTHER, h->moments, (size_t)h->capacity * sizeof *more);
    h->moments = more;
    h->capacity = capacity;
    return true;
}

/* ---- playing ---- */

/* What is played, until it is known that all of it can be played: the moments of the ticks from ... from + count - 1.
 * An input here replaces the recorded one. */
typedef struct playing {
    reef_history *h;
    const char *op;
    uint64_t from;
    moment *moments; /* NULL: nothing is to be kept */
    size_t count;
    reef_world *backup; /* the state to return to */
    skips_room room;    /* for values that a restored state doesn't change */
} playing;

/* Records a failure under the name of the call that the user made. */
static reef_status history_refuse(const reef_history *h, reef_status status, const char *op, uint64_t number)
{
    return reef__failure(h->world, status, op, (reef_component){0}, (reef_entity){0, 0}, number);
}

static COLD reef_status tick_refuse(const reef_history *h, const char *op, uint64_t tick, uint64_t first, uint64_t last)
{
    char why[REEF_DETAIL_MAX];
    snprintf(why, sizeof why, "it has %" PRIu64 ", and may have the ticks %" PRIu64 " to %" PRIu64, tick, first, last);
    return misuse_refuse(h->world, op, why);
}

/* A call inside of it failed, and has reported that to the misuse hook if it had to. */
static reef_status history_refused(const playing *p)
{
    p->h->world->error.operation = p->op;
    return p->h->world->error.status;
}

static bool playing_begin(playing *p, size_t count)
{
    p->count = count;
    p->moments = count > SIZE_MAX / sizeof(moment)
                     ? NULL
                     : reef__memory_zeroed(&p->h->family->memory, MEMORY_OTHER, count * sizeof(moment));
    return p->moments != NULL;
}

static COLD void playing_end(playing *p)
{
    for (size_t i = 0; p->moments && i < p->count; i++) {
        reef_snapshot_free(p->moments[i].snapshot);
        input_free(p->h->family, p->moments[i].input);
    }
    reef__memory_free(&p->h->family->memory, MEMORY_OTHER, p->moments, p->count * sizeof(moment));
    reef_world_free(p->backup);
    reef__skips_free(p->h->family, &p->room);
}

/* Puts the world's state aside. */
static COLD reef_status backup_make(playing *p)
{
    p->backup = reef__world_restorable(p->h->world);
    if (p->backup == NULL) return history_refused(p);
    return reef__skips_prepare(p->backup, &p->room) ? REEF_OK : history_refuse(p->h, REEF_NO_MEMORY, p->op, 0);
}

/* Puts the world's state aside and goes to a kept one. */
static COLD reef_status go_back(playing *p, uint64_t tick)
{
    reef_world *w = p->h->world;
    skips_room room = {0};
    p->backup = reef__snapshot_restorable(moment_at(p->h, tick)->snapshot);
    bool ok = p->backup && reef__events_keep(w) == REEF_OK && reef__readers_note(w) && reef__skips_prepare(w, &room) &&
              reef__skips_prepare(p->backup, &p->room);
    reef__skips_free(p->h->family, &room);
    if (!ok) return history_refuse(p->h, REEF_NO_MEMORY, p->op, tick);
    reef__skips_commit(w, p->backup, &p->room);
    reef__state_exchange(w, p->backup);
    return REEF_OK;
}

/* Plays a tick in the history's world, or in a fork of it. */
static reef_status play_tick(playing *p, reef_world *w, uint64_t tick)
{
    reef_history *h = p->h;
    moment *m = p->moments ? &p->moments[tick - p->from] : NULL;
    const recorded_input *in = m && m->input ? m->input : moment_at(h, tick)->input;
    const bool hashed = m == NULL || !h->config.hashes || (m->hash = reef_hash(w)) != 0;
    if (!hashed || (m && (m->snapshot = reef_snapshot_take(w)) == NULL)) {
        h->world->error = w->error;
        return history_refused(p);
    }
    h->running = true;
    world_hold(w);
    reef_status s = h->config.step(h->config.context, w, tick, in->bytes ? in->data : NULL, in->bytes);
    world_let_go(w);
    h->running = false;
    if (s < 0 && w != h->world && w->error.status < 0) h->world->error = w->error; /* nobody looks at the fork's */
    if (s >= 0 && world_engaged(w)) s = history_refuse(h, REEF_LOCKED, p->op, tick);
    return s;
}

/* Plays from the world's present state. On failure the world gets the state back that was put aside. */
static reef_status play(playing *p, uint64_t from, uint64_t until)
{
    for (uint64_t t = from; t < until; t++) {
        reef_status s = play_tick(p, p->h->world, t);
        if (s >= 0) continue;
        reef__skips_commit(p->h->world, p->backup, &p->room);
        reef__state_exchange(p->h->world, p->backup);
        return s;
    }
    p->h->tick = until;
    return REEF_OK;
}

/* What was played up to `until` replaces what was recorded. */
static COLD void playing_keep(playing *p, uint64_t until)
{
    reef_history *h = p->h;
    for (size_t i = 0; i < p->count; i++) {
        uint64_t tick = p->from + i;
        moment *m = moment_at(h, tick), *fresh = &p->moments[i];
        if (tick == h->end) {
            *m = (moment){0};
            h->end++;
            h->log_bytes += sizeof *m;
        }
        if (fresh->input) input_put(h, m, fresh->input);
        fresh->input = NULL;
        if (tick >= until) continue;
        m->hash = fresh->hash;
        snapshot_put(h, tick, fresh->snapshot);
        fresh->snapshot = NULL;
    }
    if (h->config.bytes) {
        uint64_t t = kept_before(h, p->from);
        if (moment_at(h, t)->older != NO_TICK) t = moment_at(h, t)->older; /* another state follows it now */
        for (; t != NO_TICK; t = moment_at(h, t)->newer) moment_weigh(h, moment_at(h, t));
    }
    history_thin(h);
}

/* May the world play or go back now? */
static reef_status history_ready(reef_history *h, const char *op)
{
    if (h == NULL) return REEF_BAD_ARGUMENT;
    conversions_notice(h);
    return h->running || world_engaged(h->world) || h->world->time_owner ? history_refuse(h, REEF_LOCKED, op, h->tick)
                                                                         : REEF_OK;
}

/* May an input have so many bytes? */
static reef_status input_check(const reef_history *h, const void *input, size_t bytes, const char *op)
{
    if (bytes && input == NULL) return misuse_refuse(h->world, op, "the input is NULL");
    if (h->config.input_bytes && bytes > h->config.input_bytes) return history_refuse(h, REEF_LIMIT, op, bytes);
    const type *t = reef__type_of(h->config.input.id);
    if (t == NULL || bytes % t->size == 0) return REEF_OK;
    return reef__misuse(h->world, op, h->config.input, (reef_entity){0, 0}, "the input is no whole number of values");
}

/* ---- the calls ---- */

COLD reef_status reef_history_step(reef_history *h, const void *input, size_t bytes)
{
    playing p = {.h = h, .op = "reef_history_step", .from = h ? h->tick : 0};
    reef_status s = history_ready(h, p.op);
    if (s != REEF_OK) return s;
    if ((s = input_check(h, input, bytes, p.op)) != REEF_OK) return s;
    if (!moments_reserve(h) || !playing_begin(&p, 1) ||
        (p.moments[0].input = input_new(h->family, input, bytes)) == NULL)
        s = history_refuse(h, REEF_NO_MEMORY, p.op, bytes);
    if (s == REEF_OK) s = backup_make(&p);
    if (s == REEF_OK) s = play(&p, p.from, p.from + 1);
    if (s == REEF_OK) {
        snapshots_forget_from(h, p.from);
        for (; h->end > p.from; h->log_bytes -= sizeof(moment)) input_put(h, moment_at(h, --h->end), NULL);
        playing_keep(&p, h->tick);
    }
    playing_end(&p);
    return s;
}

COLD reef_status reef_history_replay(reef_history *h, uint64_t until)
{
    playing p = {.h = h, .op = "reef_history_replay", .from = h ? h->tick : 0};
    reef_status s = history_ready(h, p.op);
    if (s != REEF_OK) return s;
    if (until < h->tick || until > h->end) return tick_refuse(h, p.op, until, h->tick, h->end);
    if (until == h->tick) return REEF_OK;
    if (!playing_begin(&p, (size_t)(until - p.from))) s = history_refuse(h, REEF_NO_MEMORY, p.op, until);
    if (s == REEF_OK) s = backup_make(&p);
    if (s == REEF_OK) s = play(&p, p.from, until);
    if (s == REEF_OK) {
        snapshots_forget_from(h, p.from);
        playing_keep(&p, until);
        h->pasts++;
    }
    playing_end(&p);
    return s;
}

COLD reef_status reef_history_rewind(reef_history *h, uint64_t tick)
{
    playing p = {.h = h, .op = "reef_history_rewind"};
    reef_status s = history_ready(h, p.op);
    if (s != REEF_OK) return s;
    if (tick < h->first || tick > h->end) return tick_refuse(h, p.op, tick, h->first, h->end);
    if (h->kept == 0) return REEF_OK; /* nothing was played yet */
    uint64_t from = kept_before(h, tick);
    if (from == tick) {
        if (reef_restore(h->world, moment_at(h, tick)->snapshot) != REEF_OK) return history_refused(&p);
        h->tick = tick;
        h->pasts++;
        return REEF_OK;
    }
    if ((s = go_back(&p, from)) == REEF_OK) s = play(&p, from, tick);
    if (s == REEF_OK) h->pasts++;
    playing_end(&p);
    return s;
}

/* Copies the inputs into the moments that are about to be played. */
static COLD reef_status inputs_copy(playing *p, const reef_late_input *inputs, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        moment *m = &p->moments[inputs[i].tick - p->from];
        input_free(p->h->family, m->input);
        m->input = input_new(p->h->family, inputs[i].input, inputs[i].input_bytes);
        if (m->input == NULL) return history_refuse(p->h, REEF_NO_MEMORY, p->op, inputs[i].tick);
    }
    return REEF_OK;
}

/* Checks the inputs; *earliest gets their earliest tick. */
static COLD reef_status inputs_check(const playing *p, const reef_late_input *inputs, uint32_t count,
                                     uint64_t *earliest)
{
    const reef_history *h = p->h;
    *earliest = h->end;
    for (uint32_t i = 0; i < count; i++) {
        const reef_late_input *in = &inputs[i];
        if (moment_recorded(h, in->tick) == NULL) return tick_refuse(h, p->op, in->tick, h->first, h->end - 1);
        const reef_status s = input_check(h, in->input, in->input_bytes, p->op);
        if (s != REEF_OK) return s;
        if (in->tick < *earliest) *earliest = in->tick;
    }
    return REEF_OK;
}

COLD reef_status reef_history_correct(reef_history *h, const reef_late_input *inputs, uint32_t count)
{
    playing p = {.h = h, .op = "reef_history_correct"};
    uint64_t earliest;
    reef_status s = history_ready(h, p.op);
    if (s != REEF_OK || count == 0) return s;
    if (inputs == NULL) return misuse_refuse(h->world, p.op, "the list of inputs is NULL");
    if ((s = inputs_check(&p, inputs, count, &earliest)) != REEF_OK) return s;
    const bool again = earliest < h->tick; /* otherwise the world has played none of them */
    const uint64_t until = h->tick;
    p.from = again ? kept_before(h, earliest) : earliest;
    if (!playing_begin(&p, (size_t)(h->end - p.from))) s = history_refuse(h, REEF_NO_MEMORY, p.op, h->end);
    else s = inputs_copy(&p, inputs, count);
    if (s == REEF_OK && again) s = go_back(&p, p.from);
    if (s == REEF_OK && again) s = play(&p, p.from, until);
    if (s == REEF_OK) {
        snapshots_forget_from(h, again ? p.from : earliest + 1);
        playing_keep(&p, until);
        h->pasts++;
    }
    playing_end(&p);
    return s;
}

/* ---- a replay ---- */

struct reef_replay {
    family *family;
    reef_world *world; /* a fork, in the state before `tick` */
    playing playing;   /* the moments from ... tick - 1; its history is NULL once that was freed */
    uint64_t tick;
    size_t room;    /* number of moments that fit */
    uint64_t pasts; /* the history's, when it began */
    bool failed;
};

/* The first tick that it needs. */
static uint64_t replay_from(const reef_replay *r)
{
    return r->failed || r->pasts != r->playing.h->pasts ? NO_TICK : r->playing.from;
}

/* Can it go on? */
static reef_status replay_ready(reef_replay *r, const char *op)
{
    if (r == NULL || r->playing.h == NULL) return REEF_BAD_ARGUMENT;
    reef_history *h = r->playing.h;
    const reef_status s = history_ready(h, op);
    if (s != REEF_OK) return s;
    r->playing.op = op;
    if (!r->failed && r->pasts == h->pasts) return REEF_OK;
    return reef__failure_detail(h->world, REEF_BAD_ARGUMENT, op, r->tick,
                                r->failed ? "a tick of the replay has failed"
                                          : "the history was changed since it began");
}

COLD reef_replay *reef_replay_new(reef_history *h, uint64_t from)
{
    static const char op[] = "reef_replay_new";
    reef_status s = history_ready(h, op);
    if (s != REEF_OK) return NULL;
    if (h->replay) return history_refuse(h, REEF_LOCKED, op, h->tick), NULL;
    if (from < h->first || from > h->tick) return tick_refuse(h, op, from, h->first, h->tick), NULL;
    if (h->kept == 0) return misuse_refuse(h->world, op, "nothing was played yet"), NULL;
    from = kept_before(h, from);
    reef_replay *r = reef__memory_zeroed(&h->family->memory, MEMORY_OTHER, sizeof *r);
    if (r == NULL) return history_refuse(h, REEF_NO_MEMORY, op, from), NULL;
    *r = (reef_replay){.family = h->family, .tick = from, .playing = {.h = h, .op = op, .from = from}};
    reef__family_add(h->family, false);
    r->pasts = h->pasts;
    h->replay = r;
    r->world = reef__world_restorable(h->world);
    if (r->world == NULL) s = history_refused(&r->playing);
    else if (!reef__queries_follow(r->world, h->world) || !reef__readers_mirror(r->world, h->world))
        s = history_refuse(h, REEF_NO_MEMORY, op, from);
    else if (reef_restore(r->world, moment_at(h, from)->snapshot) != REEF_OK)
        s = history_refuse(h, REEF_NO_MEMORY, op, from);
    if (s == REEF_OK) {
        if (h->world->indexes) h->world->indexes->share(h->world->indexes, r->world);
        return r;
    }
    reef_replay_free(r);
    return NULL;
}

static COLD void replay_moments_drop(reef_replay *r)
{
    playing *p = &r->playing;
    for (size_t i = 0; i < p->count; i++) reef_snapshot_free(p->moments[i].snapshot);
    reef__memory_free(&r->family->memory, MEMORY_OTHER, p->moments, r->room * sizeof(moment));
    p->moments = NULL;
    p->count = r->room = 0;
}

COLD void reef_replay_free(reef_replay *r)
{
    if (r == NULL) return;
    family *f = r->family;
    reef_history *h = r->playing.h;
    replay_moments_drop(r);
    if (r->world) r->world->script_reader = 0; /* its scripts are those of the world: none ends here */
    reef_world_free(r->world);
    if (h) {
        h->replay = NULL;
        history_thin(h);
    }
    reef__memory_free(&f->memory, MEMORY_OTHER, r, sizeof *r);
    reef__family_leave(f, false);
}

/* Makes room for the moment of one more tick. */
static bool replay_reserve(reef_replay *r)
{
    playing *p = &r->playing;
    if (p->count == r->room) {
        const size_t room = r->room ? 2 * r->room : MOMENTS_FIRST;
        moment *more = reef__memory_zeroed(&r->family->memory, MEMORY_OTHER, room * sizeof *more);
        if (more == NULL) return false;
        if (p->count) memcpy(more, p->moments, p->count * sizeof *more);
        reef__memory_free(&r->family->memory, MEMORY_OTHER, p->moments, r->room * sizeof *more);
        p->moments = more;
        r->room = room;
    }
    p->moments[p->count++] = (moment){0};
    return true;
}

COLD reef_status reef_replay_play(reef_replay *r, uint64_t ticks)
{
    static const char op[] = "reef_replay_play";
    reef_status s = replay_ready(r, op);
    for (; s >= 0 && ticks && r->tick < r->playing.h->tick; ticks--) {
        if (!replay_reserve(r)) return history_refuse(r->playing.h, REEF_NO_MEMORY, op, r->tick);
        s = play_tick(&r->playing, r->world, r->tick);
        if (s >= 0) {
            r->tick++;
            continue;
        }
        r->failed = true;
    }
    return s < 0 ? s : REEF_OK;
}

COLD reef_status reef_replay_take(reef_replay *r)
{
    static const char op[] = "reef_replay_take";
    reef_status s = replay_ready(r, op);
    if (s != REEF_OK) return s;
    reef_history *h = r->playing.h;
    if (r->tick != h->tick)
        return reef__failure_detail(h->world, REEF_BAD_ARGUMENT, op, r->tick, "it hasn't reached the world's tick yet");
    reef_snapshot *reached = reef_snapshot_take(r->world);
    if (reached == NULL) h->world->error = r->world->error; /* nobody looks at the fork's */
    if (reached == NULL || reef_restore(h->world, reached) != REEF_OK) s = history_refused(&r->playing);
    reef_snapshot_free(reached);
    if (s != REEF_OK) return s;
    snapshots_forget_from(h, r->playing.from);
    playing_keep(&r->playing, h->tick);
    replay_moments_drop(r);
    r->playing.from = r->tick; /* nothing is left to be played, and the history's older ticks may go */
    r->pasts = ++h->pasts;
    history_thin(h);
    return REEF_OK;
}

reef_replay_range reef_replay_reach(const reef_replay *r)
{
    const reef_history *h = r ? r->playing.h : NULL;
    return r ? (reef_replay_range){r->playing.from, r->tick, h ? h->tick : r->tick} : (reef_replay_range){0};
}

reef_world *reef_replay_world(reef_replay *r) { return r ? r->world : NULL; }

const reef_history *reef_replay_history(const reef_replay *r) { return r ? r->playing.h : NULL; }

const reef_snapshot *reef_replay_at(const reef_replay *r, uint64_t tick)
{
    if (r == NULL || tick < r->playing.from || tick - r->playing.from >= r->playing.count) return NULL;
    return r->playing.moments[tick - r->playing.from].snapshot;
}

/* ---- a history ---- */

/* Counts where the history leads into code that comes and goes. */
static COLD void step_hold(const reef_history *h, bool hold)
{
    const uintptr_t at[] = {(uintptr_t)h->config.step, (uintptr_t)h->config.context};
    reef__code_hold(at, sizeof at / sizeof *at, hold);
}

/* The histories whose inputs have a type. */
static struct {
    mutex lock;
    reef_history *first;
} typed_histories = {.lock = MUTEX_INIT};

static COLD void described_join(reef_history *h)
{
    mutex_lock(&typed_histories.lock);
    h->next_described = typed_histories.first;
    typed_histories.first = h;
    mutex_unlock(&typed_histories.lock);
}

static COLD void described_leave(reef_history *h)
{
    mutex_lock(&typed_histories.lock);
    reef_history **at = &typed_histories.first;
    while (*at && *at != h) at = &(*at)->next_described;
    if (*at) *at = h->next_described;
    mutex_unlock(&typed_histories.lock);
}

/* Can an input be values of this type? Their bytes are all that there is, and their fields say what these mean. */
static COLD bool describes_inputs(uint32_t id)
{
    const type *t = reef__type_of(id);
    return t && t->field_count && t->size && !t->hooked && t->relation == 0 && t->home == REEF_TABLE;
}

COLD reef_history *reef_history_new(reef_world *w, const reef_history_config *config)
{
    static const char op[] = "reef_history_new";
    if (!WORLD_GIVEN(w)) return NULL;
    const char *wrong = config == NULL         ? "the configuration is NULL"
                        : config->step == NULL ? "a history needs the function `step`, which plays a tick"
                        : config->ticks == 0 && config->bytes == 0 ? "a history is bounded by `ticks` or by `bytes`"
                                                                   : NULL;
    if (wrong) return misuse_refuse(w, op, wrong), NULL;
    if (config->input.id && !describes_inputs(config->input.id))
        return reef__misuse(w, op, config->input, (reef_entity){0, 0},
                            "`input` is a type in tables with fields (REEF_FIELDS), without hooks"),
               NULL;
    reef_history *h = reef__memory_zeroed(&w->family->memory, MEMORY_OTHER, sizeof *h);
    if (h == NULL) return reef__refuse(w, REEF_NO_MEMORY, op), NULL;
    reef__family_add(w->family, false);
    h->world = w;
    h->family = w->family;
    h->config = *config;
    h->newest = NO_TICK;
    step_hold(h, true);
    if (config->input.id) described_join(h);
    return h;
}

static COLD void moments_drop(reef_history *h)
{
    snapshots_forget_from(h, 0);
    for (uint64_t t = h->first; t < h->end; t++) input_free(h->family, moment_at(h, t)->input);
    reef__memory_free(&h->family->memory, MEMORY_OTHER, h->moments, (size_t)h->capacity * sizeof *h->moments);
}

COLD void reef_history_free(reef_history *h)
{
    if (h == NULL) return;
    family *f = h->family;
    step_hold(h, false);
    if (h->config.input.id) described_leave(h);
    if (h->replay) h->replay->playing.h = NULL;
    moments_drop(h);
    reef__memory_free(&f->memory, MEMORY_OTHER, h, sizeof *h);
    reef__family_leave(f, false);
}

/* ---- when types get another layout ---- */

COLD uint64_t reef__history_back(const reef_history *h, uint64_t ticks)
{
    const uint64_t from = h->tick - h->first > ticks ? h->tick - ticks : h->first;
    return ticks == 0 || h->kept == 0 ? HISTORY_NOTHING : kept_before(h, from);
}

COLD void reef__history_cut(reef_history *h, uint64_t from)
{
    snapshots_forget_from(h, from == HISTORY_NOTHING ? 0 : from + 1);
    if (from != HISTORY_NOTHING) {
        while (h->first < from) oldest_forget(h);
        moment_weigh(h, moment_at(h, h->first));
    } else {
        for (; h->first < h->end; h->first++, h->log_bytes -= sizeof(moment))
            input_put(h, moment_at(h, h->first), NULL);
        h->first = h->end = h->tick;
    }
    h->pasts++;
}

COLD reef_history *reef__history_described(const reef_history *after)
{
    return after ? after->next_described : typed_histories.first;
}

COLD bool reef__history_plays(const reef_history *h) { return h->running; }

COLD reef_status reef__inputs_spread(const reef_history *h, reef_world *w, uint64_t from)
{
    const uint32_t size = reef__type_of(h->config.input.id)->size;
    for (uint64_t t = from < h->first ? h->first : from; t < h->end; t++) {
        const recorded_input *in = moment_at(h, t)->input;
        for (size_t at = 0; at < in->bytes; at += size) {
            const reef_entity e = reef_create(w);
            if (reef_entity_is_null(e)) return reef_last_error(w).status;
            const reef_status s = reef_set_id(w, e, h->config.input, in->data + at, size);
            if (s < 0) return s;
        }
    }
    return REEF_OK;
}

/* The entities of the world are in the order in which the values were spread. */
COLD reef_status reef__inputs_gather(reef_history *h, reef_world *w, reef_component is, uint64_t from)
{
    const size_t was_size = reef__type_of(h->config.input.id)->size, size = reef__type_of(is.id)->size;
    memory *m = &h->family->memory;
    uint32_t index = 0;
    if (from < h->first) from = h->first;
    h->fresh_count = from < h->end ? h->end - from : 0;
    h->fresh = reef__memory_zeroed(m, MEMORY_OTHER, (size_t)(h->fresh_count + 1) * sizeof *h->fresh);
    if (h->fresh == NULL) return REEF_NO_MEMORY;
    for (uint64_t i = 0; i < h->fresh_count; i++) {
        const size_t count = moment_at(h, from + i)->input->bytes / was_size;
        recorded_input *in = h->fresh[i] = input_new(h->family, NULL, count * size);
        if (in == NULL) return REEF_NO_MEMORY;
        for (size_t k = 0; k < count; k++) {
            while (index < w->hot.index_count && reef_entity_at(w, index).generation == 0) index++;
            if (!reef_read_id(w, reef_entity_at(w, index++), is, in->data + k * size, size)) return REEF_NO_MEMORY;
        }
    }
    return REEF_OK;
}

COLD void reef__inputs_settle(reef_history *h, reef_component is, bool stay)
{
    for (uint64_t i = 0; h->fresh && i < h->fresh_count; i++)
        if (stay) input_put(h, moment_at(h, h->end - h->fresh_count + i), h->fresh[i]);
        else input_free(h->family, h->fresh[i]);
    reef__memory_free(&h->family->memory, MEMORY_OTHER, h->fresh, (size_t)(h->fresh_count + 1) * sizeof *h->fresh);
    h->fresh = NULL;
    if (!stay) return;
    h->config.input = is;
    h->pasts++;
}

COLD bool reef__history_has(const reef_history *h, const reef_snapshot *s)
{
    for (uint64_t t = h->kept ? h->newest : NO_TICK; t != NO_TICK; t = moment_at(h, t)->older)
        if (moment_at(h, t)->snapshot == s) return true;
    return false;
}
COLD bool reef__history_of(const reef_history *h, const reef_world *w) { return h->world == w; }

reef_history_range reef_history_reach(const reef_history *h)
{
    if (h == NULL) return (reef_history_range){0};
    conversions_notice((reef_history *)(uintptr_t)h);
    return (reef_history_range){h->first, h->tick, h->end, h->kept, h->bytes + h->log_bytes};
}

const reef_snapshot *reef_history_at(const reef_history *h, uint64_t tick)
{
    const moment *m = moment_recorded(h, tick);
    return m ? m->snapshot : NULL;
}

reef_world *reef_history_world(const reef_history *h) { return h ? h->world : NULL; }

reef_component reef_history_input_type(const reef_history *h) { return h ? h->config.input : (reef_component){0}; }

uint64_t reef_history_hash(const reef_history *h, uint64_t tick)
{
    conversions_notice((reef_history *)(uintptr_t)h);
    const moment *m = moment_recorded(h, tick);
    return m ? m->hash : 0;
}

const void *reef_history_input(const reef_history *h, uint64_t tick, size_t *bytes)
{
    const moment *m = moment_recorded(h, tick);
    if (bytes) *bytes = m ? m->input->bytes : 0;
    return m && m->input->bytes ? m->input->data : NULL;
}
