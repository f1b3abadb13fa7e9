/* reef's rows of changes that aren't plain: components with hooks or tracked rows, a snapshot that is held, observers,
 * entities that a recording loop makes. Beside them stands reef itself with a plain component, or where the caller does
 * by hand what an observer would do. */
#include "mem.h"
#include "reef_rows.h"

typedef struct Hooked {
    float x, y;
} Hooked;
typedef struct Tracked {
    float x, y;
} Tracked;

/* A copy hook and a destroy hook that do as little as they can. */
static reef_status hooked_copy(void *context, void *to, const void *from)
{
    (void)context;
    memcpy(to, from, sizeof(Hooked));
    return REEF_OK;
}
static void hooked_destroy(void *context, void *value)
{
    (void)context;
    (void)value;
}
static const reef_hooks hooked_hooks = {.copy = hooked_copy, .destroy = hooked_destroy, .bytes_move = true};
static const reef_hooks tracked_hooks = {.track_rows = true};
REEF_COMPONENT_HOOKS(Hooked, &hooked_hooks);
REEF_COMPONENT_HOOKS(Tracked, &tracked_hooks);
typedef Hooked Far;
REEF_COMPONENT_IN(Far, REEF_SPARSE);
REEF_TAG(Unused);
REEF_SWITCH(Lit);
REEF_TAG(Idle);
REEF_TAG(Busy);
REEF_RELATION(Follows, REEF_EXCLUSIVE);

typedef struct general {
    state *s;
    reef_snapshot *held;
} general;

static void general_free(void *p)
{
    general *g = p;
    state *s = g->s;
    reef_snapshot_free(g->held);
    mem_free_unsized(g);
    state_free(s);
}

/* ---- a component comes and goes ---- */

static void plain_run(void *p)
{
    state *s = ((general *)p)->s;
    for (uint32_t i = 0, n = s->r->n; i < n; i++) reef_set(s->w, s->handle[i], Velocity, 1, 1);
    for (uint32_t i = 0, n = s->r->n; i < n; i++) reef_remove(s->w, s->handle[i], Velocity);
}
static void hooks_run(void *p)
{
    state *s = ((general *)p)->s;
    for (uint32_t i = 0, n = s->r->n; i < n; i++) reef_set(s->w, s->handle[i], Hooked, 1, 1);
    for (uint32_t i = 0, n = s->r->n; i < n; i++) reef_remove(s->w, s->handle[i], Hooked);
}
static void tracked_run(void *p)
{
    state *s = ((general *)p)->s;
    for (uint32_t i = 0, n = s->r->n; i < n; i++) reef_set(s->w, s->handle[i], Tracked, 1, 1);
    for (uint32_t i = 0, n = s->r->n; i < n; i++) reef_remove(s->w, s->handle[i], Tracked);
}

/* The world of the add_remove_ rows after a first pass of the same. */
static void *general_setup(const bench_row *r)
{
    general *g = mem_calloc(1, sizeof *g);
    g->s = ar_setup(r);
    return g;
}
static void *plain_setup(const bench_row *r)
{
    general *g = general_setup(r);
    plain_run(g);
    return g;
}
static void *hooks_setup(const bench_row *r)
{
    general *g = general_setup(r);
    hooks_run(g);
    return g;
}
static void *tracked_setup(const bench_row *r)
{
    general *g = general_setup(r);
    tracked_run(g);
    return g;
}
static void *snapshot_setup(const bench_row *r)
{
    general *g = plain_setup(r);
    g->held = reef_snapshot_take(g->s->w);
    if (g->held == NULL) bench_fail(g->s->w, "reef_snapshot_take");
    return g;
}
static uint64_t general_sum(void *p)
{
    state *s = ((general *)p)->s;
    const reef_entity e = s->handle[s->r->n / 2];
    if (reef_set(s->w, e, Hooked, 1, 1) != REEF_ADDED || reef_set(s->w, e, Tracked, 1, 1) != REEF_ADDED)
        bench_fail(s->w, "reef_set");
    return ar_sum(s);
}

/* ---- observers ---- */

static uint64_t observed;
static void count_changed(const reef_notice *n) { observed += n->count; }

static void *observer_setup(const bench_row *r)
{
    general *g = plain_setup(r);
    const bool sets = r->id == ROW_obs_set;
    const reef_observer_desc desc = {.name = "count",
                                     .function = count_changed,
                                     .events = sets ? REEF_ON_SET : REEF_ON_ADD,
                                     .component = reef_id(Velocity),
                                     .collected = r->id == ROW_obs_add_collected};
    for (uint32_t i = 0; sets && i < r->n; i++) reef_set(g->s->w, g->s->handle[i], Velocity, 1, 1);
    if (reef_observer_is_null(reef_observer_new(g->s->w, &desc))) bench_fail(g->s->w, "reef_observer_new");
    observed = 0;
    return g;
}
static void observer_run(void *p)
{
    state *s = ((general *)p)->s;
    for (uint32_t i = 0, n = s->r->n; i < n; i++) reef_set(s->w, s->handle[i], Velocity, (float)(i & 7), 2);
}
/* The same by hand: the caller knows that it sets a Velocity, and calls the function itself. */
static void (*volatile count_fn)(const reef_notice *n) = count_changed;
static void *by_hand_setup(const bench_row *r)
{
    general *g = plain_setup(r);
    for (uint32_t i = 0; r->id == ROW_obs_set && i < r->n; i++) reef_set(g->s->w, g->s->handle[i], Velocity, 1, 1);
    observed = 0;
    return g;
}
static void by_hand_run(void *p)
{
    state *s = ((general *)p)->s;
    for (uint32_t i = 0, n = s->r->n; i < n; i++) {
        reef_set(s->w, s->handle[i], Velocity, (float)(i & 7), 2);
        count_fn(&(reef_notice){.world = s->w, .count = 1, .entities = &s->handle[i]});
    }
}
static uint64_t observer_sum(void *p)
{
    state *s = ((general *)p)->s;
    uint64_t sum = observed + sum_by_handle(s);
    for (uint32_t i = 0; i < s->r->n; i++) sum += bits_of(reef_get(s->w, s->handle[i], Velocity)->x) * (i + 1);
    return sum;
}

/* What every program does all the time; nothing of it concerns an observer of Unused. */
static void *daily_setup(const bench_row *r)
{
    general *g = mem_calloc(1, sizeof *g);
    g->s = state_new(r, true);
    observed = 0;
    return g;
}
static void *unrelated_setup(const bench_row *r)
{
    general *g = daily_setup(r);
    if (reef_observer_is_null(reef_observe(g->s->w, count_changed, REEF_ON_ADD, Unused)))
        bench_fail(g->s->w, "reef_observe");
    return g;
}
static void daily_run(void *p)
{
    state *s = ((general *)p)->s;
    const uint32_t n = s->r->n;
    for (uint32_t i = 0; i < n; i++) {
        const Position at = pos_of(i);
        s->handle[i] = reef_spawn(s->w, reef_with(Position, at.x, at.y), reef_with(Velocity, 1, 1));
    }
    for (uint32_t i = 0; i < n; i++) reef_set(s->w, s->handle[i], Velocity, (float)(i & 7), 2);
    for (uint32_t i = 0; i < n; i++) reef_relate(s->w, s->handle[i], Follows, s->handle[i / 100]);
    for (uint32_t i = n / 2; i < n; i++) reef_destroy(s->w, s->handle[i]);
}
static uint64_t daily_sum(void *p)
{
    state *s = ((general *)p)->s;
    uint64_t sum = observed;
    for (uint32_t i = 0; i < s->r->n / 2; i++)
        sum += (bits_of(reef_get(s->w, s->handle[i], Velocity)->x) + reef_target(s->w, s->handle[i], Follows).index) *
               (i + 1ull);
    return sum + reef_count_alive(s->w);
}

/* ---- entities come and go ---- */

static void life_run(void *p)
{
    state *s = ((general *)p)->s;
    const uint32_t n = s->r->n;
    for (uint32_t i = 0; i < n; i++) {
        const Position at = pos_of(i);
        const reef_value second = s->r->id == ROW_spawn_hooks     ? reef_with(Hooked, 1, 1)
                                  : s->r->id == ROW_spawn_tracked ? reef_with(Tracked, 1, 1)
                                  : s->r->id == ROW_spawn_sparse  ? reef_with(Far, 1, 1)
                                  : s->r->id == ROW_spawn_switch  ? reef_tag(Lit)
                                                                  : reef_with(Velocity, 1, 1);
        s->handle[i] = reef_spawn(s->w, reef_with(Position, at.x, at.y), second);
    }
    for (uint32_t i = 0; i < n; i++) reef_destroy(s->w, s->handle[i]);
}
static void *life_setup(const bench_row *r)
{
    general *g = daily_setup(r);
    if (r->id == ROW_spawn_observed &&
        reef_observer_is_null(reef_observe(g->s->w, count_changed, REEF_ON_ADD | REEF_ON_REMOVE, Velocity)))
        bench_fail(g->s->w, "reef_observe");
    life_run(g);
    observed = 0;
    return g;
}
static void plain_life_run(void *p)
{
    state *s = ((general *)p)->s;
    const uint32_t n = s->r->n;
    for (uint32_t i = 0; i < n; i++) {
        const Position at = pos_of(i);
        s->handle[i] = reef_spawn(s->w, reef_with(Position, at.x, at.y), reef_with(Velocity, 1, 1));
    }
    for (uint32_t i = 0; i < n; i++) reef_destroy(s->w, s->handle[i]);
    if (s->r->id == ROW_spawn_observed) observed += 2ull * n;
}
static void *plain_life_setup(const bench_row *r)
{
    general *g = daily_setup(r);
    plain_life_run(g);
    observed = 0;
    return g;
}
static uint64_t life_sum(void *p)
{
    const state *s = ((general *)p)->s;
    return observed + reef_count_alive(s->w) + s->handle[s->r->n / 2].generation;
}

/* ---- several components change at once ---- */

static void list_run(void *p)
{
    state *s = ((general *)p)->s;
    const uint32_t n = s->r->n;
    for (uint32_t i = 0; i < n; i++)
        reef_change(s->w, s->handle[i], reef_with(Velocity, 1, 1), reef_tag(Busy), reef_without(Idle));
    for (uint32_t i = 0; i < n; i++)
        reef_change(s->w, s->handle[i], reef_without(Velocity), reef_without(Busy), reef_tag(Idle));
}
static void singly_run(void *p)
{
    state *s = ((general *)p)->s;
    const uint32_t n = s->r->n;
    for (uint32_t i = 0; i < n; i++) {
        reef_set(s->w, s->handle[i], Velocity, 1, 1);
        reef_add(s->w, s->handle[i], Busy);
        reef_remove(s->w, s->handle[i], Idle);
    }
    for (uint32_t i = 0; i < n; i++) {
        reef_remove(s->w, s->handle[i], Velocity);
        reef_remove(s->w, s->handle[i], Busy);
        reef_add(s->w, s->handle[i], Idle);
    }
}
static void *idle_setup(const bench_row *r)
{
    general *g = general_setup(r);
    for (uint32_t i = 0; i < r->n; i++) reef_add(g->s->w, g->s->handle[i], Idle);
    singly_run(g); /* both ways know their tables */
    list_run(g);
    return g;
}
static uint64_t idle_sum(void *p)
{
    const state *s = ((general *)p)->s;
    return reef_count(s->w, Idle) * 3 + reef_count(s->w, Busy) + reef_count(s->w, Velocity);
}

/* ---- entities that a recording loop makes ---- */

static void *spawner_setup(const bench_row *r)
{
    general *g = general_setup(r);
    g->s->query = query_new(g->s, "Position");
    return g;
}
static void spawner_run(void *p)
{
    state *s = ((general *)p)->s;
    uint32_t n = 0;
    for (reef_block b = reef_begin_loop(s->w, s->query, &(reef_loop){.deferred = true}); reef_next(&b);)
        for (uint32_t i = 0; i < b.count; i++, n++) {
            const Position at = pos_of(n);
            const Velocity v = vel_of(n);
            reef_spawn(s->w, reef_with(Position, at.x, at.y), reef_with(Velocity, v.x, v.y));
        }
}
static uint64_t spawner_sum(void *p)
{
    state *s = ((general *)p)->s;
    const reef_query q = query_new(s, "in Position, in Velocity");
    uint64_t sum = 0, i = 0;
    for (reef_block b = reef_begin(s->w, q); reef_next(&b);)
        for (uint32_t k = 0; k < b.count; k++, i++)
            sum += pos_sum(reef_in(&b, Position)[k], i) + bits_of(reef_in(&b, Velocity)[k].x) * (i + 1);
    return sum;
}
static uint64_t spawner_expected(const bench_row *r)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < r->n; i++) sum += pos_sum(pos_of(i), i) + bits_of(vel_of(i).x) * (i + 1ull);
    return sum;
}

const row_impl reef_general_rows[] = {
    {ROW_add_remove_1_hooks, hooks_setup, hooks_run, general_sum, general_free, NULL},
    {ROW_add_remove_1_tracked, tracked_setup, tracked_run, general_sum, general_free, NULL},
    {ROW_add_remove_1_snapshot, snapshot_setup, plain_run, general_sum, general_free, NULL},
    {ROW_obs_set, observer_setup, observer_run, observer_sum, general_free, NULL},
    {ROW_obs_add, observer_setup, observer_run, observer_sum, general_free, NULL},
    {ROW_obs_add_collected, observer_setup, observer_run, observer_sum, general_free, NULL},
    {ROW_obs_unrelated, unrelated_setup, daily_run, daily_sum, general_free, NULL},
    {ROW_spawn_hooks, life_setup, life_run, life_sum, general_free, NULL},
    {ROW_spawn_tracked, life_setup, life_run, life_sum, general_free, NULL},
    {ROW_spawn_observed, life_setup, life_run, life_sum, general_free, NULL},
    {ROW_spawn_sparse, life_setup, life_run, life_sum, general_free, NULL},
    {ROW_spawn_switch, life_setup, life_run, life_sum, general_free, NULL},
    {ROW_change_list, idle_setup, list_run, idle_sum, general_free, NULL},
    {ROW_spawn_deferred_loop, spawner_setup, spawner_run, spawner_sum, general_free, spawner_expected},
    {0},
};
const row_impl reef_alone_general_rows[] = {
    {ROW_add_remove_1_hooks, plain_setup, plain_run, general_sum, general_free, NULL},
    {ROW_add_remove_1_tracked, plain_setup, plain_run, general_sum, general_free, NULL},
    {ROW_add_remove_1_snapshot, plain_setup, plain_run, general_sum, general_free, NULL},
    {ROW_obs_set, by_hand_setup, by_hand_run, observer_sum, general_free, NULL},
    {ROW_obs_add, by_hand_setup, by_hand_run, observer_sum, general_free, NULL},
    {ROW_obs_add_collected, by_hand_setup, by_hand_run, observer_sum, general_free, NULL},
    {ROW_obs_unrelated, daily_setup, daily_run, daily_sum, general_free, NULL},
    {ROW_spawn_hooks, plain_life_setup, plain_life_run, life_sum, general_free, NULL},
    {ROW_spawn_tracked, plain_life_setup, plain_life_run, life_sum, general_free, NULL},
    {ROW_spawn_observed, plain_life_setup, plain_life_run, life_sum, general_free, NULL},
    {ROW_spawn_sparse, plain_life_setup, plain_life_run, life_sum, general_free, NULL},
    {ROW_spawn_switch, plain_life_setup, plain_life_run, life_sum, general_free, NULL},
    {ROW_change_list, idle_setup, singly_run, idle_sum, general_free, NULL},
    {0},
};
