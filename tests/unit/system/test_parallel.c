/* Systems at the same time (A10, D3, D6): those whose declarations don't collide meet inside one tick, those that
 * collide never overlap and keep their order; jobs of one system meet; the main thread; job systems of the user's. */
#include "base/platform.h"
#include "support.h"

#ifdef REEF_NO_THREADS

int main(void) { return 77; }

#else

#include <stdatomic.h>
#include <time.h>

typedef struct Hit {
    uint32_t n;
} Hit;
typedef struct Total {
    int64_t n;
} Total;
typedef struct Trail {
    uint64_t n;
} Trail;
typedef struct Heat {
    int64_t n;
} Heat;
typedef struct Charge {
    int64_t n;
} Charge;
typedef struct Load {
    int64_t n;
} Load;
REEF_COMPONENT(Hit);
REEF_COMPONENT(Total);
REEF_COMPONENT(Trail);
REEF_COMPONENT(Load);
REEF_COMPONENT_IN(Heat, REEF_SPARSE);
REEF_COMPONENT_PAGED(Charge, 64);
typedef struct Stamped {
    int32_t n;
} Stamped;
static const reef_hooks stamped_rows = {.track_rows = true};
REEF_COMPONENT_HOOKS(Stamped, &stamped_rows);
typedef struct Item {
    int32_t kind, count;
} Item;
typedef struct Sail {
    int32_t colour;
} Sail;
typedef struct Flow {
    float u;
    int16_t v;
} Flow;
typedef struct Body {
    int32_t weight;
} Body;
typedef struct Whale {
    Body base;
    int32_t songs;
} Whale;
REEF_COMPONENT_IN(Item, REEF_MULTI);
REEF_COMPONENT_IN(Sail, REEF_SHARED);
REEF_COMPONENT_IN(Flow, REEF_SPLIT);
REEF_FIELDS(Flow, u, v);
REEF_COMPONENT(Body);
REEF_SUBTYPE(Whale, Body);

enum { BLOCKS = 3, SEEDS = 20, MEETING_SECONDS = 200 };

static reef_pool *pool_of(uint32_t threads, uint64_t shuffle)
{
    reef_pool *p = reef_pool_new(&(reef_pool_config){.threads = threads, .shuffle = shuffle});
    assert_non_null(p);
    return p;
}

/* ---- two systems, watched ---- */

/* What the calls of both see of one another; asserts are for the thread that ticks. */
typedef struct pair {
    bool must_meet;
    atomic_uint inside[2], calls[2], ended[2];
    atomic_uint overlaps, early, missed;
    unsigned expected[2]; /* calls a tick */
} pair;

typedef struct side {
    pair *pair;
    unsigned number; /* 0: runs first by declaration */
} side;

static void wait_for(atomic_uint *counter, unsigned wanted, atomic_uint *missed)
{
    const time_t end = time(NULL) + MEETING_SECONDS;
    while (atomic_load(counter) < wanted) {
        if (time(NULL) > end) {
            atomic_fetch_add(missed, 1);
            return;
        }
        thread_yield();
    }
}

static void watched(reef_block *b)
{
    const side *s = b->context;
    pair *p = s->pair;
    const unsigned me = s->number, other = !me;
    atomic_fetch_add(&p->calls[me], 1);
    if (p->must_meet) {
        wait_for(&p->calls[other], 1, &p->missed);
        return;
    }
    atomic_fetch_add(&p->inside[me], 1);
    if (atomic_load(&p->inside[other])) atomic_fetch_add(&p->overlaps, 1);
    if (me == 1 && atomic_load(&p->ended[0]) != p->expected[0]) atomic_fetch_add(&p->early, 1);
    for (int i = 0; i < 3; i++) thread_yield();
    if (atomic_load(&p->inside[other])) atomic_fetch_add(&p->overlaps, 1);
    atomic_fetch_sub(&p->inside[me], 1);
    atomic_fetch_add(&p->ended[me], 1);
}

static void pair_clear(pair *p)
{
    for (int i = 0; i < 2; i++) {
        atomic_store(&p->inside[i], 0);
        atomic_store(&p->calls[i], 0);
        atomic_store(&p->ended[i], 0);
    }
    atomic_store(&p->overlaps, 0);
    atomic_store(&p->early, 0);
    atomic_store(&p->missed, 0);
}

/* ---- kinds of access ---- */

typedef enum use { USE_NONE = 0, USE_READ = 1, USE_WRITE = 2, USE_SEND = 4, USE_RECEIVE = 8 } use;

/* What a system says it touches, and what that does with Position and Velocity, with Hits, with the singleton Total. */
typedef struct access_kind {
    const char *text;
    use position, velocity, hit, total;
    bool fixed; /* of the text "%s" is the entity's name */
} access_kind;

static const access_kind kinds[] = {
    {"Position", USE_WRITE, 0, 0, 0, false},
    {"in Position", USE_READ, 0, 0, 0, false},
    {"out Position", USE_WRITE, 0, 0, 0, false},
    {"in Health, ?Position", USE_WRITE, 0, 0, 0, false},
    {"in Health, ?in Position", USE_READ, 0, 0, 0, false},
    {"Position | Velocity", USE_WRITE, USE_WRITE, 0, 0, false},
    {"in Position | in Velocity", USE_READ, USE_READ, 0, 0, false},
    {"in changed Position", USE_READ, 0, 0, 0, false},
    {"in Health, with changed Position", USE_READ, 0, 0, 0, false},
    {"with Position, in Health", 0, 0, 0, 0, false},
    {"!Position, in Mass", 0, 0, 0, 0, false},
    {"in Health, in Position of rock", USE_READ, 0, 0, 0, false},
    {"in Health, Position of rock", USE_WRITE, 0, 0, 0, false},
    {"in Health; reads Position", USE_READ, 0, 0, 0, false},
    {"in Health; writes Position", USE_WRITE, 0, 0, 0, false},
    {"in Position; writes Velocity", USE_READ, USE_WRITE, 0, 0, false},
    {"in Velocity; reads Position", USE_READ, USE_READ, 0, 0, false},
    {"in Health; reads Total", 0, 0, 0, USE_READ, false},
    {"; writes Total", 0, 0, 0, USE_WRITE, false},
    {"in Health; sums Total", 0, 0, 0, USE_WRITE, false},
    {"in Health; sends Hit", 0, 0, USE_SEND, 0, false},
    {"in Health; receives Hit", 0, 0, USE_RECEIVE, 0, false},
    {"; receives Hit, sends Hit", 0, 0, USE_SEND | USE_RECEIVE, 0, false},
    {"in Health; sends Position", 0, 0, 0, 0, false}, /* as an event: another thing than the component */
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static bool uses_collide(use a, use b)
{
    const unsigned both = a | b;
    if (a == 0 || b == 0) return false;
    if (both & (USE_READ | USE_WRITE)) return both & USE_WRITE;
    return ((a & USE_SEND) && (b & USE_RECEIVE)) || ((a & USE_RECEIVE) && (b & USE_SEND));
}

static bool kinds_collide(const access_kind *a, const access_kind *b)
{
    return uses_collide(a->position, b->position) || uses_collide(a->velocity, b->velocity) ||
           uses_collide(a->hit, b->hit) || uses_collide(a->total, b->total);
}

static void add_totals(void *total, const void *part) { ((Total *)total)->n += ((const Total *)part)->n; }

static reef_world *meeting_place(void **state)
{
    reef_world *w = world_of(state);
    assert_ok(reef_spawn_many(w, 1024 * BLOCKS, NULL, reef_with(Position, 1, 1), reef_with(Velocity, 1, 1),
                              reef_with(Health, 1, 1)));
    assert_ok(reef_spawn_many(w, 10, NULL, reef_with(Mass, 1)));
    assert_ok(reef_set_name(w, reef_spawn(w, reef_with(Position, 0, 0)), "rock"));
    assert_int_equal(reef_single_set(w, Total, 0), REEF_ADDED);
    return w;
}

static reef_system_id side_add(reef_world *w, const char *name, side *s, const char *text, const char *after)
{
    reef_system_id x = reef_system_new(w, &(reef_system_desc){.name = name,
                                                              .function = watched,
                                                              .text = text,
                                                              .context = s,
                                                              .after = after,
                                                              .combine = strstr(text, "sums") ? add_totals : NULL});
    if (reef_system_is_null(x)) fail_msg("%s: %s", text, reef_status_name(reef_last_error(w).status));
    return x;
}

/* Both in one tick; for odd seeds the second one was added first and waits by its own wish. */
static void try_pair(reef_world *w, const access_kind *a, const access_kind *b, uint64_t seed)
{
    static pair p;
    side sides[2] = {{&p, 0}, {&p, 1}};
    reef_system_id second = {0, 0, 0};
    reef_pool *pool = reef_world_pool(w);
    if (seed & 1) second = side_add(w, "second", &sides[1], b->text, "first");
    reef_system_id first = side_add(w, "first", &sides[0], a->text, NULL);
    if (!(seed & 1)) second = side_add(w, "second", &sides[1], b->text, NULL);
    pair_clear(&p);
    p.must_meet = false;
    p.expected[0] = 0;
    /* how many calls there are; and `changed` sees all in a new system's first run only */
    assert_ok(reef_set_pool(w, NULL));
    reef_world *aside = reef_fork(w);
    assert_ok(reef_tick(aside, 0));
    p.expected[0] = atomic_load(&p.calls[0]);
    p.expected[1] = atomic_load(&p.calls[1]);
    reef_world_free(aside);
    assert_ok(reef_set_pool(w, pool));
    reef_watch_systems(w, false); /* threads are tested */
    if (p.expected[0] == 0 || p.expected[1] == 0) fail_msg("%s or %s isn't called", a->text, b->text);
    pair_clear(&p);
    p.must_meet = !kinds_collide(a, b);
    assert_ok(reef_tick(w, 0));
    for (int i = 0; i < 2; i++)
        if (atomic_load(&p.calls[i]) != p.expected[i])
            fail_msg("%s, %s: %u calls", a->text, b->text, atomic_load(&p.calls[i]));
    if (atomic_load(&p.missed)) fail_msg("%s and %s don't meet", a->text, b->text);
    if (atomic_load(&p.overlaps)) fail_msg("%s and %s overlap, seed %u", a->text, b->text, (unsigned)seed);
    if (atomic_load(&p.early)) fail_msg("%s begins before %s has ended, seed %u", b->text, a->text, (unsigned)seed);
    assert_ok(reef_system_remove(w, first));
    assert_ok(reef_system_remove(w, second));
}

static void all_pairs_of_access_meet_or_exclude_one_another(void **state)
{
    reef_world *w = meeting_place(state);
    unsigned collide = 0, meet = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        /* more threads than a system has jobs: all of them wait */
        reef_pool *p = pool_of(BLOCKS + 2 + (uint32_t)seed % 2, seed);
        assert_ok(reef_set_pool(w, p));
        reef_watch_systems(w, false);
        /* Each seed tries some of the pairs, all seeds together each of them several times. */
        for (unsigned i = 0; i < KINDS; i++) {
            for (unsigned k = 0; k < KINDS; k++) {
                if ((i * KINDS + k + seed) % 5 != 0) continue;
                try_pair(w, &kinds[i], &kinds[k], seed);
                if (kinds_collide(&kinds[i], &kinds[k])) collide++;
                else meet++;
            }
        }
        assert_ok(reef_set_pool(w, NULL));
        reef_pool_free(p);
    }
    assert_in_range(collide, 500, KINDS * KINDS * SEEDS);
    assert_in_range(meet, 500, KINDS * KINDS * SEEDS);
}

/* ---- jobs of one system ---- */

typedef struct gathering {
    atomic_uint here, missed;
    unsigned wanted;
} gathering;

static void gather(reef_block *b)
{
    gathering *g = b->context;
    atomic_fetch_add(&g->here, 1);
    wait_for(&g->here, g->wanted, &g->missed);
}

static void jobs_of_a_split_system_meet(void **state)
{
    static const char *const texts[] = {"Position", "in Position; sends Hit, spawns Mass, destroys",
                                        "in Position; sums Total", "in changed Position; reads Velocity"};
    reef_world *w = meeting_place(state);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        reef_pool *p = pool_of(BLOCKS + 1, 0);
        gathering g = {.wanted = BLOCKS};
        assert_ok(reef_set_pool(w, p));
        reef_watch_systems(w, false);
        const reef_system_desc d = {.function = gather,
                                    .text = texts[i],
                                    .context = &g,
                                    .combine = strstr(texts[i], "sums") ? add_totals : NULL};
        assert_ok(reef_system_once(w, &d, 0));
        assert_int_equal(atomic_load(&g.missed), 0);
        assert_in_range(atomic_load(&g.here), BLOCKS, BLOCKS + 1); /* the rock's table is small */
        assert_ok(reef_set_pool(w, NULL));
        reef_pool_free(p);
    }
}

/* ---- the thread that ticks ---- */

typedef struct place {
    thread_name caller;
    atomic_uint before, elsewhere, bound, after, wrong;
    unsigned wanted;
} place;

static void goes_before(reef_block *b)
{
    place *p = b->context;
    reef_inout(b, Position)[0].x += 1;
    thread_yield();
    if (!thread_is(p->caller)) atomic_fetch_add(&p->elsewhere, 1);
    atomic_fetch_add(&p->before, 1);
}

static void is_bound(reef_block *b)
{
    place *p = b->context;
    if (!thread_is(p->caller) || atomic_load(&p->before) != p->wanted || atomic_load(&p->after))
        atomic_fetch_add(&p->wrong, 1);
    atomic_fetch_add(&p->bound, 1);
}

static void goes_after(reef_block *b)
{
    place *p = b->context;
    (void)b;
    if (atomic_load(&p->bound) != p->wanted) atomic_fetch_add(&p->wrong, 1);
    atomic_fetch_add(&p->after, 1);
}

static void systems_of_the_main_thread_keep_their_place(void **state)
{
    reef_world *w = meeting_place(state);
    static place p;
    memset(&p, 0, sizeof p);
    p.caller = thread_own_name();
    p.wanted = BLOCKS + 1;
    assert_some(reef_find(w, "rock"));
    assert_false(reef_system_is_null(reef_system_new(
        w, &(reef_system_desc){.name = "before", .function = goes_before, .text = "Position", .context = &p})));
    assert_false(reef_system_is_null(reef_system_new(
        w, &(reef_system_desc){
               .name = "bound", .function = is_bound, .text = "Position", .context = &p, .main_thread = true})));
    assert_false(reef_system_is_null(reef_system_new(
        w, &(reef_system_desc){.name = "after", .function = goes_after, .text = "in Position", .context = &p})));
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        reef_pool *pool = pool_of(4, seed);
        assert_ok(reef_set_pool(w, pool));
        reef_watch_systems(w, false);
        for (int i = 0; i < 5; i++) {
            atomic_store(&p.before, 0);
            atomic_store(&p.bound, 0);
            atomic_store(&p.after, 0);
            assert_ok(reef_tick(w, 0));
            assert_int_equal(atomic_load(&p.after), p.wanted);
            assert_int_equal(atomic_load(&p.wrong), 0);
        }
        assert_ok(reef_set_pool(w, NULL));
        reef_pool_free(pool);
    }
    assert_true(atomic_load(&p.elsewhere) > 0); /* or the pool helps nobody */
}

/* ---- the user's own job system ---- */

enum { JOBS = 256, OWN_THREADS = 3 };
typedef struct own_jobs {
    mutex lock;
    condvar wake;
    struct {
        void (*task)(void *);
        void *data;
    } queue[JOBS];
    uint32_t first, end, unfinished, ran;
    bool ending;
    thread threads[OWN_THREADS];
} own_jobs;

static bool own_take(own_jobs *o, void (**task)(void *), void **data)
{
    if (o->first == o->end) return false;
    *task = o->queue[o->first % JOBS].task;
    *data = o->queue[o->first++ % JOBS].data;
    return true;
}

static void own_work(void *data)
{
    own_jobs *o = data;
    mutex_lock(&o->lock);
    for (;;) {
        void (*task)(void *);
        void *its;
        if (own_take(o, &task, &its)) {
            mutex_unlock(&o->lock);
            task(its);
            mutex_lock(&o->lock);
            o->unfinished--;
            o->ran++;
            condvar_wake(&o->wake);
        } else if (o->ending) {
            break;
        } else {
            condvar_wait(&o->wake, &o->lock);
        }
    }
    mutex_unlock(&o->lock);
}

static void own_submit(void *context, void (*task)(void *), void *data)
{
    own_jobs *o = context;
    mutex_lock(&o->lock);
    o->queue[o->end % JOBS].task = task;
    o->queue[o->end++ % JOBS].data = data;
    o->unfinished++;
    condvar_wake(&o->wake);
    mutex_unlock(&o->lock);
}

static void own_wait(void *context)
{
    own_jobs *o = context;
    mutex_lock(&o->lock);
    while (o->unfinished) condvar_wait(&o->wake, &o->lock);
    mutex_unlock(&o->lock);
}

/* One that does nothing before it is waited for. */
static void late_wait(void *context)
{
    own_jobs *o = context;
    void (*task)(void *);
    void *its;
    while (own_take(o, &task, &its)) {
        task(its);
        o->ran++;
    }
    o->unfinished = 0;
}

static void jostle(reef_block *b)
{
    Position *p = reef_inout(b, Position);
    for (uint32_t i = 0; i < b->count; i++) {
        p[i].x = p[i].x * 1.25f + (float)b->entities[i].index;
        if (b->entities[i].index % 700 == 3)
            reef_cmd_spawn(b, reef_with(Health, (int32_t)p[i].x, 1), reef_with(Position, p[i].x, 2));
        if (b->entities[i].index % 701 == 4) reef_send(b, Hit, b->entities[i].index);
    }
}

static void follow_trail(reef_block *b)
{
    reef_events r = reef_receive(b, Hit);
    Trail *t = reef_single_mut(b->world, Trail);
    for (const Hit *h; (h = reef_next_event(&r)) != NULL;) t->n = t->n * 31 + h->n;
}

static uint64_t hash_on(void **state, const reef_pool_config *config)
{
    reef_pool *p = config ? reef_pool_new(config) : NULL;
    assert_true(!config == !p);
    reef_world *w = another_world(state, NULL);
    assert_ok(reef_spawn_many(w, 1024 * 5, NULL, reef_with(Position, 1, 1)));
    assert_int_equal(reef_single_set(w, Trail, 0), REEF_ADDED);
    assert_false(reef_system_is_null(reef_system(w, jostle, "Position; spawns Health Position, sends Hit")));
    assert_false(reef_system_is_null(reef_system(w, follow_trail, "; receives Hit, writes Trail")));
    assert_ok(reef_set_pool(w, p));
    reef_watch_systems(w, p == NULL);
    for (int i = 0; i < 8; i++) assert_ok(reef_tick(w, 0.1f));
    const uint64_t hash = reef_hash(w);
    assert_true(reef_single_get(w, Trail)->n != 0);
    end_world(state, w);
    reef_pool_free(p);
    return hash;
}

static void job_systems_of_the_users(void **state)
{
    static own_jobs o;
    const reef_job_system own = {own_submit, own_wait, &o}, late = {own_submit, late_wait, &o};
    const uint64_t wanted = hash_on(state, NULL);
    memset(&o, 0, sizeof o);
    assert_true(mutex_make(&o.lock) && condvar_make(&o.wake));
    assert_true(hash_on(state, &(reef_pool_config){.threads = 5, .jobs = late}) == wanted);
    assert_true(o.ran > 0);
    o.first = o.end = o.unfinished = o.ran = 0;
    for (int i = 0; i < OWN_THREADS; i++) assert_true(thread_make(&o.threads[i], own_work, &o));
    for (uint64_t seed = 0; seed < 4; seed++)
        assert_true(hash_on(state, &(reef_pool_config){.threads = 2 + (uint32_t)seed, .jobs = own, .shuffle = seed}) ==
                    wanted);
    /* Its threads and the caller meet. */
    reef_world *w = meeting_place(state);
    gathering g = {.wanted = BLOCKS};
    reef_pool *p = reef_pool_new(&(reef_pool_config){.threads = OWN_THREADS + 1, .jobs = own});
    assert_non_null(p);
    assert_ok(reef_set_pool(w, p));
    reef_watch_systems(w, false);
    assert_ok(reef_system_once(
        w, &(reef_system_desc){.function = gather, .text = "Position, in Velocity", .context = &g}, 0));
    assert_int_equal(atomic_load(&g.missed), 0);
    assert_int_equal(atomic_load(&g.here), BLOCKS);
    assert_ok(reef_set_pool(w, NULL));
    reef_pool_free(p);
    mutex_lock(&o.lock);
    o.ending = true;
    condvar_wake(&o.wake);
    mutex_unlock(&o.lock);
    for (int i = 0; i < OWN_THREADS; i++) thread_join(&o.threads[i]);
    condvar_drop(&o.wake);
    mutex_drop(&o.lock);
}

/* ---- calls that are allowed ----
 * Systems beside one another write others' rows by calls, each another type: through what the world remembers of its
 * last calls, which isn't theirs. */

static reef_entity written[64];

#define WRITES(T) \
    static void write_##T(reef_block *b) \
    { \
        for (uint32_t round = 0; round < 20; round++) { \
            for (uint32_t i = 0; i < 64; i++) { \
                T x = *reef_get(b->world, written[i], T); \
                x.n++; \
                assert_ok(reef_set(b->world, written[i], T, x.n)); \
                reef_mut(b->world, written[i], T)->n += 1; \
            } \
            thread_yield(); \
        } \
    }
WRITES(Hit)
WRITES(Load)
WRITES(Total)
WRITES(Trail)
WRITES(Heat)
WRITES(Charge)

static void write_items(reef_block *b)
{
    for (uint32_t i = 0; i < 64; i++) {
        uint32_t n = 0;
        Item *item = reef_mut_all(b->world, written[i], Item, &n);
        assert_int_equal(n, 2);
        item[0].count += 1;
        item[1].count += 2;
        thread_yield();
    }
}

static void write_flows(reef_block *b)
{
    for (uint32_t i = 0; i < 64; i++) {
        Flow x;
        assert_true(reef_read(b->world, written[i], Flow, &x));
        assert_ok(reef_set(b->world, written[i], Flow, x.u + 1, 5));
        if (i % 8 == 0) thread_yield();
    }
}

static void write_stamped(reef_block *b)
{
    for (uint32_t i = 0; i < 64; i++) reef_mut(b->world, written[i], Stamped)->n++;
}

static void others_are_set_on_all_threads(void **state)
{
    reef_world *w = world_of(state);
    for (uint32_t i = 0; i < 64; i++) {
        written[i] = reef_spawn(w, reef_with(Hit, 0), reef_with(Load, 0), reef_with(Heat, 0), reef_with(Charge, 0));
        assert_status(REEF_ADDED, reef_set(w, written[i], Total, 0)); /* edges between tables: these are remembered */
        assert_status(REEF_ADDED, reef_set(w, written[i], Trail, 0));
        assert_true(reef_append(w, written[i], Item, 1, 0) && reef_append(w, written[i], Item, 2, 0));
        assert_status(REEF_ADDED, reef_set(w, written[i], Flow, 0, 5));
        assert_status(REEF_ADDED, reef_set(w, written[i], Stamped, 0));
    }
    assert_false(reef_system_is_null(reef_system(w, write_items, "; writes Item")) ||
                 reef_system_is_null(reef_system(w, write_flows, "; writes Flow")));
    assert_false(reef_system_is_null(reef_system(w, write_stamped, "; writes Stamped")));
    assert_false(reef_system_is_null(reef_system(w, write_Hit, "; writes Hit")) ||
                 reef_system_is_null(reef_system(w, write_Load, "; writes Load")));
    assert_false(reef_system_is_null(reef_system(w, write_Total, "; writes Total")) ||
                 reef_system_is_null(reef_system(w, write_Trail, "; writes Trail")));
    assert_false(reef_system_is_null(reef_system(w, write_Heat, "; writes Heat")) ||
                 reef_system_is_null(reef_system(w, write_Charge, "; writes Charge")));
    for (uint32_t tick = 1; tick <= 10; tick++) {
        reef_pool *p = pool_of(9, tick);
        assert_ok(reef_set_pool(w, p));
        reef_watch_systems(w, false);
        assert_ok(reef_tick(w, 0));
        for (uint32_t i = 0; i < 64; i++) {
            const reef_entity e = written[i];
            const int64_t n = 40 * (int64_t)tick;
            assert_true(reef_get(w, e, Hit)->n == n && reef_get(w, e, Load)->n == n && reef_get(w, e, Total)->n == n);
            const Item *item = reef_get_all(w, e, Item, NULL);
            Flow flow;
            assert_true(item[0].count == (int32_t)tick && item[1].count == 2 * (int32_t)tick &&
                        reef_read(w, e, Flow, &flow) && flow.u == (float)tick);
            assert_int_equal(reef_get(w, e, Stamped)->n, tick);
            assert_true(reef_get(w, e, Trail)->n == (uint64_t)n && reef_get(w, e, Heat)->n == n &&
                        reef_get(w, e, Charge)->n == n);
        }
        /* And outside of them what is remembered is right. */
        const reef_entity e = reef_spawn(w, reef_with(Hit, 1), reef_with(Load, 2));
        assert_status(REEF_ADDED, reef_set(w, e, Total, 3));
        assert_status(REEF_ADDED, reef_set(w, e, Trail, 4));
        assert_ok(reef_remove(w, e, Total));
        assert_true(reef_get(w, e, Hit)->n == 1 && reef_get(w, e, Load)->n == 2 && reef_get(w, e, Trail)->n == 4 &&
                    !reef_has(w, e, Total));
        assert_valid(w);
        assert_ok(reef_set_pool(w, NULL));
        reef_pool_free(p);
    }
}

typedef struct asking {
    reef_query all, some;
    reef_signature signature;
    atomic_ullong answers; /* a sum of what was answered */
} asking;

static bool see_all(void *context, reef_entity e, reef_component c, const void *data, size_t size)
{
    (void)e, (void)data;
    *(uint64_t *)context += c.id + size;
    return true;
}

/* Whatever a system may ask of any entity. */
static uint64_t ask_of(reef_block *b, const asking *a, reef_entity e)
{
    const reef_world *w = b->world;
    uint64_t n = reef_is_alive(w, e) + 2u * reef_has(w, e, Awake) + 4u * reef_has(w, e, Heat) +
                 8u * reef_is_enabled(w, e, Position) + reef_is_enabled(w, e);
    uint32_t items = 0;
    Flow flow = {0, 0};
    reef_component subs[4];
    const Item *item = reef_get_all(w, e, Item, &items);
    for (uint32_t i = 0; i < items; i++) n += (uint64_t)item[i].kind;
    const reef_pinned pin = reef_pin(w, e, Sail);
    if (pin.value) n += (uint64_t)((const Sail *)pin.value)->colour;
    reef_unpin(pin);
    reef_ref ref = reef_ref_make(w, e, Position);
    const Position *p = reef_ref_get(w, &ref, Position);
    const Charge *c = reef_get(w, e, Charge);
    const Heat *h = reef_get(w, e, Heat);
    const Body *body = reef_get(w, e, Body);
    n += p ? (uint64_t)p->x : 0;
    n += (c ? (uint64_t)c->n : 0) + (h ? (uint64_t)h->n : 0) + (body ? (uint64_t)body->weight : 0) +
         (reef_read(w, e, Flow, &flow) ? (uint64_t)flow.v : 0);
    n += reef_count_on(w, e, Item) + reef_find_subs(w, e, Body, subs, 4) + reef_has_all(w, e, &a->signature);
    n += reef_name(w, e) ? strlen(reef_name(w, e)) : 0;
    (void)reef_visit_entity(w, e, see_all, &n);
    return n;
}

static void ask_all(reef_block *b)
{
    asking *a = b->context;
    const reef_world *w = b->world;
    const Total *total = reef_single_get(w, Total);
    reef_random random = reef_random_for(b, b->entities[0]);
    reef_events told = reef_receive(b, Hit);
    uint64_t n = reef_count(w, Position) + reef_count(w, Heat) + reef_count(w, Item) + reef_count_alive(w) +
                 reef_tick_count(w) + reef_time_ns(w) + (total ? (uint64_t)total->n : 0);
    for (const Hit *h; (h = reef_next_event(&told)) != NULL;) n += h->n;
    n += reef_find(w, "rock").index + reef_entity_at(w, 77).generation + (reef_type_find("Position").id != 0) +
         reef_random_u32(&random);
    n += strlen(reef_system_name(w, reef_system_find(w, "asks"))) +
         reef_system_is_enabled(w, reef_system_find(w, "other")) + reef_world_stats(w).entities;
    for (reef_block o = reef_others(b, a->all); reef_next(&o);) n += o.count + (uint64_t)reef_in(&o, Position)[0].x;
    for (reef_block o = reef_others(b, a->some); reef_next(&o);)
        for (uint32_t first = 0, rows; (rows = reef_block_run(&o, &first)) != 0; first += rows) n += first * rows;
    for (uint32_t i = 0; i < b->count; i += 7) n += ask_of(b, a, b->entities[i]);
    atomic_fetch_add(&a->answers, n);
}

/* On any number of threads all are told the same, also of tables that the queries haven't met yet, and in forks. */
static void others_are_asked_on_all_threads(void **state)
{
    static const char text[] = "in Position; reads Position Heat Charge Item Sail Flow Body Whale Load Velocity Health "
                               "Mass Total, receives Hit";
    static asking a;
    uint64_t wanted[4] = {0};
    reef_world *w = meeting_place(state), *fork = NULL;
    const reef_event_reader keeps = reef_event_reader_new(w, reef_id(Hit));
    for (uint32_t i = 0; i < 3000; i++) {
        const reef_entity e = reef_entity_at(w, i);
        if (i % 3 == 0) reef_set(w, e, Heat, i);
        if (i % 5 == 0) reef_set(w, e, Charge, i);
        if (i % 7 == 0) reef_add(w, e, Awake);
        if (i % 11 == 0) reef_disable(w, e, Position);
        if (i % 13 == 0 && reef_append(w, e, Item, 3, 4)) reef_append(w, e, Item, 5, 6);
        if (i % 17 == 0) reef_set(w, e, Sail, (int32_t)i);
        if (i % 29 == 0 && i) reef_share(w, reef_entity_at(w, 0), e, Sail);
        if (i % 101 == 0) reef_set(w, e, Flow, 1.5f, 7);
        if (i % 103 == 0) reef_set(w, e, Whale, {90}, 4);
    }
    a.signature = reef_signature_new(w);
    assert_true(reef_signature_add(&a.signature, reef_id(Position)) >= 0);
    assert_false(reef_system_is_null(
        reef_system_new(w, &(reef_system_desc){.name = "asks", .function = ask_all, .text = text, .context = &a})));
    assert_false(reef_system_is_null(
        reef_system_new(w, &(reef_system_desc){.name = "other", .function = ask_all, .text = text, .context = &a})));
    assert_query(a.all = reef_query_new(w, "in Position"));
    assert_query(a.some = reef_query_new(w, "Awake, with Heat"));
    for (uint32_t threads = 0; threads <= 5; threads += 5) {
        reef_pool *p = threads ? pool_of(threads, 7) : NULL;
        fork = reef_fork(w); /* jobs on several threads are the first ones to use its queries */
        assert_ok(reef_set_pool(fork, p));
        reef_watch_systems(fork, false);
        for (uint32_t tick = 0; tick < 4; tick++) {
            const reef_entity e = reef_spawn(fork, reef_with(Position, 1, 1), reef_with(Load, tick));
            if (tick % 2) reef_set(fork, e, Mass, 1), reef_add(fork, e, Awake), reef_set(fork, e, Heat, 1);
            assert_ok(reef_post(fork, Hit, tick));
            atomic_store(&a.answers, 0);
            assert_ok(reef_tick(fork, 0.1f));
            assert_int_equal(reef_last_error(fork).status, REEF_OK);
            if (threads == 0) wanted[tick] = atomic_load(&a.answers);
            else assert_true(atomic_load(&a.answers) == wanted[tick]);
        }
        reef_world_free(fork);
        reef_pool_free(p);
    }
    reef_signature_free(&a.signature);
    assert_ok(reef_event_reader_free(w, keeps));
}

/* ---- calls that are refused ----
 * On all threads at once: they say no and touch nothing. */

typedef struct refused {
    reef_query query;
    reef_system_id self;
    reef_snapshot *snapshot;
    reef_world *fork;
    reef_event_reader reader;
    atomic_uint done, answered, line; /* jobs that made all calls; what wasn't refused, and where */
} refused;

static reef_status write_nowhere(void *context, const void *bytes, size_t count)
{
    return (void)context, (void)bytes, (void)count, REEF_OK;
}
static void observe_nothing(const reef_notice *n) { (void)n; }

/* None of them; all are called, since each says no. */
#define NO(calls) \
    do { \
        if (calls) atomic_fetch_add(&r->answered, 1), atomic_store(&r->line, __LINE__); \
    } while (0)

static void refuse_structure(reef_block *b, refused *r)
{
    reef_world *w = b->world;
    const reef_entity e = b->entities[0];
    Velocity *v = NULL;
    NO(!reef_entity_is_null(reef_spawn(w, reef_with(Position, 1, 1))) || !reef_entity_is_null(reef_create(w)) ||
       !reef_entity_is_null(reef_clone(w, e)));
    NO(reef_destroy(w, e) >= 0 || reef_destroy_many(w, &e, 1) > 0 || reef_add(w, e, Mass) >= 0 ||
       reef_remove(w, e, Position) >= 0);
    NO(reef_set(w, e, Mass, 1) >= 0 || reef_remove_all(w, e) >= 0 || reef_change(w, e, reef_with(Mass, 1)) >= 0 ||
       reef_ensure(w, e, Mass) != NULL);
    NO(reef_add(w, e, Awake) >= 0 || reef_remove(w, e, Awake) >= 0 || reef_disable(w, e, Position) >= 0 ||
       reef_disable(w, e) >= 0);
    NO(reef_set(w, e, Heat, 1) >= 0 || reef_add(w, e, Charge) >= 0 || reef_remove(w, e, Load) >= 0 ||
       reef_add(w, e, Heat) >= 0 || reef_set(w, e, Charge, 2) >= 0);
    NO(reef_set_name(w, e, "e") >= 0 || !reef_entity_is_null(reef_reserve_id(w)) ||
       reef_create_as(w, (reef_entity){90000, 1}) >= 0);
    NO(reef_world_clear(w) >= 0 || remove_everywhere(w, reef_id(Position), NULL) > 0 || reef_shrink(w) >= 0 ||
       reef_reserve(w, 100000) >= 0 || reef_flush(w) >= 0);
    NO(reef_single_set(w, Total, 1) >= 0 || reef_single_remove(w, Total) >= 0 || reef_single_mut(w, Total) != NULL ||
       (v = reef_mut(w, e, Velocity)) != NULL);
}

static void refuse_others(reef_block *b, refused *r)
{
    reef_world *w = b->world;
    reef_bytes bytes;
    Hit hit;
    reef_block loop = reef_begin_text(w, "in Position");
    NO(reef_next(&loop) || !reef_query_is_null(reef_query_new(w, "Position")) || reef_query_free(w, r->query) >= 0 ||
       reef_query_count(w, r->query) > 0);
    NO(reef_tick(w, 0) >= 0 || reef_tick_once(w, 0) >= 0 || reef_tick_phase(w, "update", 0) >= 0 ||
       reef_set_pool(w, NULL) >= 0);
    NO(reef_system_once(w, &(reef_system_desc){.function = watched}, 0) >= 0 ||
       !reef_system_is_null(reef_system(w, watched, NULL)));
    NO(reef_system_remove(w, r->self) >= 0 || reef_system_enable(w, r->self, false) >= 0 ||
       reef_phase_new(w, &(reef_phase_desc){.name = "p"}) >= 0);
    NO(!reef_system_is_null(reef_update(w, Position, watched)) || !reef_system_is_null(reef_scripts(w, NULL, NULL)));
    NO(reef_snapshot_take(w) != NULL || reef_fork(w) != NULL || reef_restore(w, r->snapshot) >= 0 ||
       reef_hash(w) != 0 || reef_version(w) != 0);
    NO(reef_save_bytes(w, &bytes, NULL) >= 0 ||
       reef_save_bytes(w, &bytes, &(reef_save_desc){.query = "in Position"}) >= 0 ||
       reef_load_bytes(w, "", 0, NULL) >= 0);
    NO(reef_save_to(w, (reef_writer){write_nowhere, NULL}, &(reef_save_desc){.raw = true}) >= 0 ||
       reef_diff_bytes(r->fork, w, &bytes, NULL) >= 0);
    NO(reef_journal_open(w, "never.journal", NULL) != NULL || reef_diff_apply(w, "", 0) >= 0 ||
       reef_merge(w, r->fork, NULL, NULL) >= 0);
    NO(reef_post(w, Hit, 1) >= 0 || reef_event_next(w, r->reader, &hit) || reef_events_bound(w, reef_id(Hit), 5) >= 0 ||
       reef_set_seed(w, 5) >= 0);
    NO(!reef_observer_is_null(reef_observer_add(w, "o", observe_nothing, REEF_ON_ADD, reef_id(Mass))));
    NO(reef_send(b, Hit, 1) >= 0 || reef_cmd_destroy(b, b->entities[0]) >= 0 || reef_part(b, Total) != NULL ||
       reef_inout(b, Velocity) != NULL);
    reef_measure_systems(w, true);
    reef_set_profiler(w, NULL);
    reef_watch_systems(w, true);
}

static void refuse_all(reef_block *b)
{
    refused *r = b->context;
    refuse_structure(b, r);
    refuse_others(b, r);
    atomic_fetch_add(&r->done, 1);
}

static void quiet(void *context, reef_status status, const char *message)
{
    (void)context, (void)status, (void)message;
}

static void refused_calls_on_all_threads_touch_nothing(void **state)
{
    reef_world *w = another_world(state, &(reef_world_config){.misuse = quiet});
    reef_pool *p = pool_of(4, 3);
    refused r = {.fork = NULL};
    assert_ok(reef_spawn_many(w, 1024 * 8, NULL, reef_with(Position, 1, 1), reef_with(Velocity, 1, 1)));
    for (uint32_t i = 0; i < 8192; i += 256) /* some have values outside of the rows */
        assert_true(reef_set(w, reef_entity_at(w, i), Heat, 1) > 0 &&
                    reef_set(w, reef_entity_at(w, i + 1), Charge, 1) > 0 &&
                    reef_set(w, reef_entity_at(w, i + 2), Load, 1) > 0);
    assert_int_equal(reef_single_set(w, Total, 0), REEF_ADDED);
    r.query = reef_query_new(w, "in Position");
    r.reader = reef_event_reader_new(w, reef_id(Hit));
    assert_ok(reef_set_pool(w, p));
    reef_watch_systems(w, false);
    r.snapshot = reef_snapshot_take(w);
    r.fork = reef_fork(w);
    const reef_system_desc split = {.name = "split", .function = refuse_all, .text = "in Position", .context = &r};
    const reef_system_desc beside = {
        .name = "beside", .function = refuse_all, .text = "in Position, in Velocity", .context = &r, .whole = true};
    r.self = reef_system_new(w, &split);
    assert_false(reef_system_is_null(r.self) || reef_system_is_null(reef_system_new(w, &beside)));
    assert_ok(reef_tick(w, 0));
    reef_world *calm = reef_fork(w); /* the tick has passed */
    const uint64_t hash = reef_hash(calm);
    for (int i = 0; i < 3; i++) {
        assert_ok(reef_tick(w, 0));
        assert_string_equal(reef_last_error(w).system, "split");
        assert_int_equal(reef_last_error(w).status, REEF_UNDECLARED);
    }
    assert_true(atomic_load(&r.done) >= 4 * 2 * 8); /* a call for each block, of both */
    if (atomic_load(&r.answered)) fail_msg("a call of line %u isn't refused", atomic_load(&r.line));
    assert_ok(reef_restore(w, r.snapshot));
    assert_true(reef_equal(w, r.fork, NULL));
    assert_true(reef_hash(w) != hash); /* ticks are counted */
    assert_int_equal(reef_query_count(w, r.query), 1024 * 8);
    reef_world_free(calm);
    reef_world_free(r.fork);
    reef_snapshot_free(r.snapshot);
    assert_ok(reef_set_pool(w, NULL));
    reef_pool_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(all_pairs_of_access_meet_or_exclude_one_another),
        TEST(jobs_of_a_split_system_meet),
        TEST(systems_of_the_main_thread_keep_their_place),
        TEST(job_systems_of_the_users),
        TEST(others_are_set_on_all_threads),
        TEST(others_are_asked_on_all_threads),
        TEST(refused_calls_on_all_threads_touch_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
