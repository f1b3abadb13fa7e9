/* The allocation sweep inside of ticks (G5): each allocation of a tick of each scene (scenes.h) fails in turn, alone
 * and with all that follow it, on the thread that ticks alone and with a second one. The tick says OK or NO_MEMORY.
 * OK: the state is the one without a failure. NO_MEMORY: the world is valid and goes on; with atomic_tick it is what
 * it was before the tick, and the next tick comes to what the first one would have come to. Nothing leaks.
 *
 *     test_oom_tick           a sample of the allocations
 *     test_oom_tick --deep    all of them */
#include "scenes.h"

#if defined(SWEEP_SHORT)
enum { SOME = 8 }; /* of so many scenes one */
#else
enum { SOME = 3 };
#endif
static bool deep;

typedef struct Extra {
    int32_t n;
} Extra;
REEF_COMPONENT(Extra);

/* What is tried. */
typedef struct trial {
    const scene *scene;
    reef_status (*call)(const scene *s, reef_world *w);
    uint32_t threads;   /* 0: no pool */
    bool atomic, fresh; /* a world that was just made; else a fork of one that ticked */
} trial;

enum { TICK = 3 };
static reef_status call_tick(const scene *s, reef_world *w) { return (void)s, reef_tick(w, 0.0166f); }
static reef_status call_phase(const scene *s, reef_world *w)
{
    return reef_tick_phase(w, s->phases ? s->phases[0].name : "update", 0.02f);
}

static void make_more(reef_block *b)
{
    Position *p = reef_inout(b, Position);
    for (uint32_t i = 0; i < b->count; i++) {
        p[i].x += 1;
        if (i % 32 == 0) reef_cmd_spawn(b, reef_with(Extra, 1), reef_with(Position, 1, 1));
        if (i % 32 == 1) reef_cmd_set(b, b->entities[i], Extra, (int32_t)i);
        if (i % 32 == 2) reef_cmd_destroy(b, b->entities[i]);
    }
}

static reef_status call_once(const scene *s, reef_world *w)
{
    (void)s;
    const char *text = "Position; spawns Extra Position, adds Extra, destroys";
    return reef_system_once(w, &(reef_system_desc){.function = make_more, .text = text}, 0);
}

static reef_world *base_of(void **state, const trial *t, reef_pool *p)
{
    reef_world *w = another_world(state, &(reef_world_config){.seed = 5, .atomic_tick = t->atomic});
    assert_true(scene_begin(t->scene, w));
    assert_ok(reef_set_pool(w, p));
    reef_watch_systems(w, false); /* else its memory would be tried as well */
    for (uint64_t tick = 0; !t->fresh && tick < TICK; tick++) assert_ok(scene_tick(t->scene, w, tick));
    return w;
}

/* The part before the tick is done first, since it isn't tested here. */
static reef_world *begin(void **state, const trial *t, reef_pool *p, reef_world *base)
{
    reef_world *w = t->fresh ? base_of(state, t, p) : reef_fork(base);
    assert_non_null(w);
    if (t->scene->before) t->scene->before(w, TICK);
    return w;
}

static void end(void **state, const trial *t, reef_world *w)
{
    assert_valid(w);
    if (t->fresh) end_world(state, w);
    else reef_world_free(w);
}

static void failed_in(const trial *t, uint64_t n, bool rest, const char *what)
{
    fail_msg("%s%s%s on %u threads, allocation %u%s: %s", t->scene->name, t->atomic ? ", atomic" : "",
             t->fresh ? ", fresh" : "", t->threads, (unsigned)n, rest ? " and later ones" : "", what);
}

/* One call with the n-th allocation failing. False: it had fewer. */
static bool try_one(void **state, const trial *t, reef_pool *p, reef_world *base, uint64_t wanted, uint64_t n,
                    bool rest)
{
    heap *h = heap_of(state);
    reef_world *w = begin(state, t, p, base);
    reef_world *before = t->atomic ? reef_fork(w) : NULL;
    heap_fail_nth(h, n, rest);
    const reef_status s = t->call(t->scene, w);
    const bool refused = h->refused != 0;
    heap_fail_never(h);
    if (s != REEF_OK && s != REEF_NO_MEMORY) failed_in(t, n, rest, reef_status_name(s));
    if (s == REEF_NO_MEMORY && !refused) failed_in(t, n, rest, "it failed without a reason");
    if (s == REEF_NO_MEMORY && reef_last_error(w).status != REEF_NO_MEMORY)
        failed_in(t, n, rest, "the error record isn't NO_MEMORY");
    assert_valid(w);
    if (s == REEF_OK && reef_hash(w) != wanted)
        failed_in(t, n, rest, "it says that it worked, but the state is another one");
    if (before && s != REEF_OK && !reef_equal(w, before, NULL)) failed_in(t, n, rest, "the world isn't what it was");
    if (before) reef_world_free(before);
    if (s != REEF_OK && t->call(t->scene, w) != REEF_OK) failed_in(t, n, rest, "it fails also with memory");
    if (t->atomic && reef_hash(w) != wanted) failed_in(t, n, rest, "after the failure the tick comes to another state");
    assert_ok(scene_tick(t->scene, w, TICK + 1));
    end(state, t, w);
    return refused;
}

static uint64_t sweep(void **state, const trial *t)
{
    uint64_t runs = 0;
    reef_pool *p = t->threads ? reef_pool_new(&(reef_pool_config){.threads = t->threads}) : NULL;
    reef_world *base = t->fresh ? NULL : base_of(state, t, p);
    reef_world *w = begin(state, t, p, base);
    assert_ok(t->call(t->scene, w));
    const uint64_t wanted = reef_hash(w);
    end(state, t, w);
    for (int rest = 0; rest < 2; rest++) {
        uint64_t n = 1, step = 0, misses = 0;
        while (misses < 4) { /* not the first: a call takes fewer when failed ones have left spare pieces */
            if (try_one(state, t, p, base, wanted, n, rest == 1)) runs++;
            else misses++;
            n += deep ? 1 : 1 + step++ / 2; /* the first ones, then fewer and fewer */
        }
    }
    if (base) end_world(state, base);
    reef_pool_free(p);
    return runs;
}

static void sweep_all(void **state, reef_status (*call)(const scene *s, reef_world *w), uint32_t threads, bool atomic)
{
    uint64_t runs = 0;
    for (uint32_t i = 0; i < scene_count; i++) {
        runs += sweep(state, &(trial){&scenes[i], call, threads, atomic, false});
        if (deep || i % SOME == 0) runs += sweep(state, &(trial){&scenes[i], call, threads, atomic, true});
    }
    assert_true(runs > 50); /* or the sweep sweeps nothing */
}

static void ticks_alone(void **state) { sweep_all(state, call_tick, 0, false); }
static void ticks_alone_atomic(void **state) { sweep_all(state, call_tick, 0, true); }
static void ticks_on_threads(void **state) { sweep_all(state, call_tick, 2, false); }
static void ticks_on_threads_atomic(void **state) { sweep_all(state, call_tick, 2, true); }
static void one_phase(void **state) { sweep_all(state, call_phase, 0, false); }
static void one_system(void **state) { sweep_all(state, call_once, 0, false); }
static void one_system_on_threads(void **state) { sweep_all(state, call_once, 2, false); }

/* ---- others' rows ---- */

typedef struct Stamp {
    int32_t n, more[1023];
} Stamp; /* a block of them is an allocation of its own */
static const reef_hooks stamp_rows = {.track_rows = true};
REEF_COMPONENT_HOOKS(Stamp, &stamp_rows);

static reef_entity stamped;
static void stamp(reef_block *b)
{
    Stamp *s = reef_mut(b->world, stamped, Stamp);
    if (s) s->n++;
}

/* A block that is shared with a fork isn't written when there is no memory for a copy. */
static void without_memory_nothing_shared_is_written(void **state)
{
    reef_world *w = world_of(state);
    heap *h = heap_of(state);
    assert_ok(reef_spawn_many(w, 1024, NULL, reef_with(Stamp, 5, {0})));
    stamped = reef_entity_at(w, 0);
    assert_false(reef_system_is_null(reef_system(w, stamp, "; writes Stamp")));
    assert_ok(reef_tick(w, 0));
    reef_world *fork = reef_fork(w);
    h->limit = h->bytes + (3 << 20); /* all but such a block */
    assert_int_equal(reef_tick(fork, 0), REEF_NO_MEMORY);
    h->limit = 0;
    assert_string_equal(reef_last_error(fork).operation, "reef_mut");
    assert_int_equal(reef_get(w, stamped, Stamp)->n, 6);
    assert_int_equal(reef_get(fork, stamped, Stamp)->n, 6);
    assert_ok(reef_tick(fork, 0));
    assert_int_equal(reef_get(w, stamped, Stamp)->n, 6);
    assert_int_equal(reef_get(fork, stamped, Stamp)->n, 7);
    reef_world_free(fork);
}

int main(int argc, char **argv)
{
    deep = argc > 1 && strcmp(argv[1], "--deep") == 0;
    const struct CMUnitTest tests[] = {
        TEST(ticks_alone),
        TEST(ticks_alone_atomic),
        TEST(ticks_on_threads),
        TEST(ticks_on_threads_atomic),
        TEST(one_phase),
        TEST(one_system),
        TEST(one_system_on_threads),
        TEST(without_memory_nothing_shared_is_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
