/* Histories. An operation makes one and plays some steps, each a call that is derived from the operation, as in a loop
 * that records. Then it goes back to one of them, and stays there, plays the same steps again, or goes on with others;
 * or a replay plays them on a fork, while the world perhaps goes on by one step, and then the world becomes the
 * fork. */
#include "apply.h"
#include "fork.h"
#include "observe.h"
#include "reef/history.h"
#include "reef/replay.h"

enum { STEPS_LEAST = 2, STEPS_MOST = DEFER_STEPS - 1 };
enum { PAST_STAYS, PAST_AGAIN, PAST_OTHERWISE, PAST_BESIDE, PAST_COUNT };

typedef struct course {
    uint32_t steps, back; /* how many are played; to which the history goes back */
    uint32_t then;
    bool goes_on; /* the world, while a replay plays */
} course;

static course course_of(const op *o, uint32_t played)
{
    const uint64_t v = value_mix(o->value, 4000) >> 1;
    return (course){STEPS_LEAST + (uint32_t)(v % (STEPS_MOST - STEPS_LEAST)), played ? (uint32_t)(v >> 8) % played : 0,
                    (uint32_t)(v >> 20) % PAST_COUNT, v >> 24 & 1};
}

static bool step_makes(const op *step)
{
    return step->kind == OP_CREATE || step->kind == OP_SPAWN || step->kind == OP_CLONE || step->kind == OP_INSTANTIATE;
}
static bool step_posts(const op *step) { return step->value % 4 == 0; }

static void past_begin(model *m, const op *o, outcome *out)
{
    model_made(m, o->made + DEFER_STEPS, NULL, 0);
    for (uint32_t i = 0; i < DEFER_STEPS; i++) m->handle[o->made + i] = out->made[i] = (reef_entity){0, 0};
    out->made_count = DEFER_STEPS;
    out->status = REEF_OK;
}

static void step_made(model *m, const op *o, const op *step, outcome *out, const outcome *got)
{
    out->digest = value_mix(out->digest, (uint64_t)(int64_t)got->status);
    if (!step_makes(step)) return;
    m->handle[step->made] = out->made[step->made - o->made] = got->made_count ? got->made[0] : (reef_entity){0, 0};
}

/* ---- reef ---- */

static struct {
    model *m;
    const op *o;
    outcome *out;
} now;

static reef_status play(void *context, reef_world *w, uint64_t tick, const void *input, size_t bytes)
{
    reef_entity one[1];
    outcome got = {.made = one};
    op step;
    reef_world *world = now.m->world;
    (void)context, (void)tick;
    memcpy(&step, input, bytes);
    now.m->world = w; /* of a replay it is a fork */
    const bool posts = step_posts(&step) && now.m->reference.event_count + DEFER_STEPS < EVENTS_MOST;
    if (posts && reef_post_id(w, event_type, &step.value, sizeof step.value) != REEF_OK)
        model_fail(now.m, "a step of a history can't post");
    model_core(now.m, &step, &got);
    step_made(now.m, now.o, &step, now.out, &got);
    now.m->world = world;
    return REEF_OK;
}

static reef_status play_one(reef_history *h, const op *o, uint32_t i)
{
    op step;
    defer_step(o, i, &step);
    return reef_history_step(h, &step, sizeof step);
}

static reef_status play_beside(reef_history *h, const op *o, const course *c, uint32_t played)
{
    reef_replay *r = reef_replay_new(h, c->back);
    if (r == NULL) return reef_last_error(reef_history_world(h)).status;
    if (c->goes_on) (void)play_one(h, o, played);
    reef_status s = reef_replay_play(r, UINT64_MAX);
    if (s == REEF_OK) s = reef_replay_take(r);
    reef_replay_free(r);
    return s;
}

void core_HISTORY(model *m, const op *o, outcome *out)
{
    const reef_history_config config = {.ticks = DEFER_STEPS, .step = play, .hashes = o->option & 1};
    uint32_t played = 0;
    reef_status s = REEF_OK;
    past_begin(m, o, out);
    now.m = m;
    now.o = o;
    now.out = out;
    reef_history *h = reef_history_new(m->world, &config);
    while (s == REEF_OK && played < course_of(o, 0).steps) played += (s = play_one(h, o, played)) == REEF_OK;
    const course c = course_of(o, played);
    if (played && c.then == PAST_BESIDE) s = play_beside(h, o, &c, played);
    else if (played) {
        s = reef_history_rewind(h, c.back);
        out->number = value_mix((uint64_t)(int64_t)s, reef_count_alive(m->world));
        if (s == REEF_OK && config.hashes && reef_history_hash(h, c.back) != reef_hash(m->world))
            model_fail(m, "the hash that a history keeps isn't that of its state");
        if (s == REEF_OK && c.then == PAST_AGAIN) s = reef_history_replay(h, played);
        if (s == REEF_OK && c.then == PAST_OTHERWISE) s = play_one(h, o, played);
    }
    out->number = value_mix(out->number, (uint64_t)(int64_t)s);
    reef_history_free(h);
    for (uint32_t i = 0; i < DEFER_STEPS; i++)
        if (!reef_is_alive(m->world, out->made[i])) out->made[i] = (reef_entity){0, 0};
    observers_unsure(); /* observers are called each time that a step is played */
    m->check_rows = true;
}

/* ---- the reference ---- */

static reef_status want_step(model *m, const op *o, outcome *want, uint32_t i, uint32_t room, ref_world *before)
{
    reef_entity one[1];
    outcome got = {.made = one};
    op step;
    if (fork_is_refused(&m->reference)) return REEF_NOT_COPYABLE;
    if (before) fork_reference(before, &m->reference);
    defer_step(o, i, &step);
    if (step_posts(&step) && room) ref_post(&m->reference, step.value);
    model_want(m, &step, &got);
    step_made(m, o, &step, want, &got);
    return REEF_OK;
}

/* `then`: the reference before the first of these steps. */
static reef_status want_beside(model *m, const op *o, outcome *want, const course *c, uint32_t played, uint32_t room,
                               const ref_world *then)
{
    ref_world world, fork, reached;
    reef_status s = REEF_OK;
    if (fork_is_refused(&m->reference)) return REEF_NOT_COPYABLE;
    if (c->goes_on) played += want_step(m, o, want, played, room, NULL) == REEF_OK;
    world = m->reference;
    fork_reference(&m->reference, then);
    for (uint32_t i = c->back; s == REEF_OK && i < played; i++) s = want_step(m, o, want, i, room, NULL);
    fork = m->reference;
    m->reference = world;
    if (s == REEF_OK && fork_is_refused(&fork)) s = REEF_NOT_COPYABLE;
    if (s == REEF_OK) {
        fork_reference(&reached, &fork); /* a snapshot of it */
        reference_restore(&m->reference, &reached);
        ref_drop(&reached);
    }
    ref_drop(&fork);
    return s;
}

void want_HISTORY(model *m, const op *o, outcome *want)
{
    ref_world past[DEFER_STEPS];
    const uint32_t room = m->reference.event_count + DEFER_STEPS < EVENTS_MOST;
    uint32_t played = 0;
    reef_status s = REEF_OK;
    past_begin(m, o, want);
    while (s == REEF_OK && played < course_of(o, 0).steps)
        played += (s = want_step(m, o, want, played, room, &past[played])) == REEF_OK;
    const course c = course_of(o, played);
    if (played && c.then == PAST_BESIDE) s = want_beside(m, o, want, &c, played, room, &past[c.back]);
    else if (played) {
        s = REEF_OK; /* also where what is there now can't be copied: all states are kept, and none has to be made */
        reference_restore(&m->reference, &past[c.back]);
        want->number = value_mix((uint64_t)(int64_t)s, m->reference.living_count);
        for (uint32_t i = c.back; s == REEF_OK && c.then == PAST_AGAIN && i < played; i++)
            s = want_step(m, o, want, i, room, NULL);
        if (s == REEF_OK && c.then == PAST_OTHERWISE) s = want_step(m, o, want, played, room, NULL);
    }
    want->number = value_mix(want->number, (uint64_t)(int64_t)s);
    for (uint32_t i = 0; i < played; i++) ref_drop(&past[i]);
    for (uint32_t i = 0; i < DEFER_STEPS; i++)
        if (!ref_alive(&m->reference, want->made[i])) want->made[i] = (reef_entity){0, 0};
}
