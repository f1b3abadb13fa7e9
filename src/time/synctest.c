/* Is a step deterministic? Every tick is played; then the world goes back by a distance of ticks and plays these
 * again.
 *
 *      first:   0 ──► 1 ──► 2 ──► 3 ──► 4       states are kept, with their hashes
 *      again:         1 ──► 2'──► 3'──► 4'      with a distance of 3; the hashes must be those of the first time
 *
 * The world goes on from the state that was played again. So mistakes that show only there, such as something that a
 * restored world remembers although it shouldn't, are found as well. */
#include "storage/error.h"
#include "world/fork_policy.h"
#include "world/snapshot.h"
#include "reef/history.h"

enum { DISTANCE_MAX = 65536 };

typedef struct synctest {
    reef_world *world;
    const reef_synctest_config *config;
    reef_desync *report;
    struct {
        reef_snapshot *state;
        uint64_t hash;
    } * first; /* tick t is at t % (distance + 1) */
} synctest;

static const char sync_op[] = "reef_synctest";

static reef_status sync_refuse(reef_world *w, reef_status status, uint64_t number)
{
    return reef__failure(w, status, sync_op, (reef_component){0}, (reef_entity){0, 0}, number);
}

static size_t sync_bytes(const synctest *x) { return (x->config->distance + (size_t)1) * sizeof *x->first; }

static reef_status sync_failed(synctest *x)
{
    x->world->error.operation = sync_op;
    return x->world->error.status;
}

static COLD reef_status sync_play(synctest *x, uint64_t tick)
{
    const reef_synctest_config *c = x->config;
    size_t bytes = 0;
    world_hold(x->world);
    const void *input = c->input ? c->input(c->context, tick, &bytes) : NULL;
    reef_status s = c->step(c->context, x->world, tick, bytes ? input : NULL, bytes);
    world_let_go(x->world);
    if (s >= 0 && world_engaged(x->world)) return sync_refuse(x->world, REEF_LOCKED, tick);
    return s < 0 ? s : REEF_OK;
}

/* Keeps the state before `tick`, and drops the oldest one. */
static COLD reef_status sync_keep(synctest *x, uint64_t tick)
{
    uint64_t hash = reef_hash(x->world), i = tick % (x->config->distance + (uint64_t)1);
    reef_snapshot *s = hash ? reef_snapshot_take(x->world) : NULL;
    if (s == NULL) return sync_failed(x);
    reef_snapshot_free(x->first[i].state);
    x->first[i].state = s;
    x->first[i].hash = hash;
    return REEF_OK;
}

/* The world now is what `tick` led to this time. */
static COLD reef_status sync_differs(synctest *x, uint64_t tick, uint64_t i, uint64_t again)
{
    if (x->report) {
        *x->report = (reef_desync){.tick = tick, .first = x->first[i].hash, .again = again};
        reef_world *first = reef_snapshot_fork(x->first[i].state);
        if (first == NULL) return sync_refuse(x->world, REEF_NO_MEMORY, tick);
        (void)reef_equal(first, x->world, &x->report->difference);
        first->script_reader = 0; /* nobody saw this world, so no script in it ends */
        reef_world_free(first);
    }
    return sync_refuse(x->world, REEF_DESYNC, tick);
}

/* The world is at state `tick`: goes back and plays up to it again. */
static COLD reef_status sync_again(synctest *x, uint64_t tick)
{
    const uint64_t slots = x->config->distance + (uint64_t)1;
    uint64_t t = tick < slots ? 0 : tick - slots + 1;
    reef_status s = reef_restore(x->world, x->first[t % slots].state);
    if (s != REEF_OK) return sync_failed(x);
    while (t < tick) {
        if ((s = sync_play(x, t)) != REEF_OK) return s;
        uint64_t i = ++t % slots, hash = reef_hash(x->world);
        if (hash == 0) return sync_failed(x);
        if (hash != x->first[i].hash) return sync_differs(x, t - 1, i, hash);
    }
    return REEF_OK;
}

static COLD reef_status sync_run(synctest *x)
{
    reef_status s = sync_keep(x, 0);
    for (uint64_t t = 0; s == REEF_OK && t < x->config->ticks; t++) {
        s = sync_play(x, t);
        if (s == REEF_OK) s = sync_keep(x, t + 1);
        if (s == REEF_OK) s = sync_again(x, t + 1);
    }
    return s;
}

COLD reef_status reef_synctest(reef_world *w, const reef_synctest_config *config, reef_desync *report)
{
    synctest x = {w, config, report, NULL};
    if (report) *report = (reef_desync){0};
    if (!WORLD_GIVEN(w)) return REEF_BAD_ARGUMENT;
    const char *wrong = config == NULL         ? "the configuration is NULL"
                        : config->step == NULL ? "it needs the function `step`, which plays a tick"
                        : config->distance == 0 || config->distance > DISTANCE_MAX ? "`distance` is 1 to 1,000 ticks"
                                                                                   : NULL;
    if (wrong) return misuse_refuse(w, sync_op, wrong);
    skips_room room;
    const bool paused = w->paused;
    reef_world *backup = reef_fork(w);
    if (backup == NULL) return sync_failed(&x);
    reef_status s = REEF_OK;
    if (!reef__skips_prepare(backup, &room) ||
        (x.first = reef__memory_zeroed(&w->family->memory, MEMORY_OTHER, sync_bytes(&x))) == NULL)
        s = sync_refuse(w, REEF_NO_MEMORY, config->distance);
    else if ((s = sync_run(&x)) != REEF_OK) {
        reef__skips_commit(w, backup, &room);
        reef__state_exchange(w, backup);
        w->paused = paused;
    }
    for (uint32_t i = 0; x.first && i <= config->distance; i++) reef_snapshot_free(x.first[i].state);
    reef__memory_free(&w->family->memory, MEMORY_OTHER, x.first, sync_bytes(&x));
    reef__skips_free(w->family, &room);
    backup->script_reader = 0;
    reef_world_free(backup);
    return s;
}
