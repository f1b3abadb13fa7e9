/* reef's rows of commands: systems that change the structure. */
#include "mem.h"
#include "reef_rows.h"

static void queue_add(reef_block *b)
{
    for (uint32_t i = 0; i < b->count; i++) reef_cmd_add(b, b->entities[i], Velocity);
}
static void queue_remove(reef_block *b)
{
    for (uint32_t i = 0; i < b->count; i++) reef_cmd_remove(b, b->entities[i], Velocity);
}

/* n entities with Position alone; a phase that adds, a phase that removes. */
static void *deferred_setup(const bench_row *r)
{
    state *s = state_new(r, true);
    s->bundle = bundle_new(s, 1);
    for (uint32_t i = 0; i < r->n; i++) {
        values v = {.p = pos_of(i)};
        s->handle[i] = reef_spawn_bundle(s->w, s->bundle, &v);
    }
    const reef_system_desc add = {.name = "add", .function = queue_add, .text = "with Position; adds Velocity"};
    const reef_system_desc remove = {
        .name = "remove", .function = queue_remove, .text = "with Position; removes Velocity", .phase = "end"};
    if (reef_system_is_null(reef_system_new(s->w, &add)) || reef_system_is_null(reef_system_new(s->w, &remove)))
        bench_fail(s->w, "reef_system_new");
    return s;
}

static void tick_run(void *p)
{
    state *s = p;
    if (reef_tick(s->w, 0) != REEF_OK) bench_fail(s->w, "reef_tick");
}

static uint64_t deferred_sum(void *p)
{
    state *s = p;
    return sum_by_handle(s) + reef_count(s->w, Position) + reef_count(s->w, Velocity) + reef_count(s->w, Tag1) +
           reef_count(s->w, Bit1);
}

/* ---- spawning on two threads ---- */

enum { SPAWNERS = N_1M / 16 };

typedef struct par_state {
    state *s;
    reef_pool *pool;
} par_state;

static void spawn_some(reef_block *b)
{
    const Data *d = reef_in(b, Data);
    for (uint32_t i = 0; i < b->count; i++) {
        for (uint32_t k = (uint32_t)d[i].a * 16, end = k + 16; k < end; k++) {
            const Position p = pos_of(k);
            const Velocity v = vel_of(k);
            reef_cmd_spawn(b, reef_with(Position, p.x, p.y), reef_with(Velocity, v.x, v.y));
        }
    }
}

static void *spawn_setup(const bench_row *r)
{
    par_state *x = mem_calloc(1, sizeof *x);
    x->s = state_new(r, false);
    reef_world_free(x->s->w);
    x->s->w = world_new_parallel();
    x->pool = reef_pool_new(&(reef_pool_config){.threads = 2});
    if (x->pool == NULL) bench_fail(NULL, "reef_pool_new");
    reef_set_pool(x->s->w, x->pool);
    for (uint32_t i = 0; i < SPAWNERS; i++) reef_spawn(x->s->w, reef_with(Data, i, 0, 0, 0));
    const reef_system_desc spawn = {
        .name = "spawn", .function = spawn_some, .text = "in Data; spawns Position Velocity"};
    if (reef_system_is_null(reef_system_new(x->s->w, &spawn))) bench_fail(x->s->w, "reef_system_new");
    return x;
}
static void spawn_run(void *p) { tick_run(((par_state *)p)->s); }
static uint64_t spawn_sum(void *p)
{
    par_state *x = p;
    uint64_t sum = 0;
    for (reef_block b = reef_begin_text(x->s->w, "in Position, in Velocity"); reef_next(&b);) {
        const Position *at = reef_in(&b, Position);
        const Velocity *v = reef_in(&b, Velocity);
        for (uint32_t i = 0; i < b.count; i++)
            sum += bits_of(at[i].x) + bits_of(at[i].y) + bits_of(v[i].x) + bits_of(v[i].y);
    }
    return sum;
}
static uint64_t spawn_expected(const bench_row *r)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < r->n; i++) {
        const Position p = pos_of(i);
        const Velocity v = vel_of(i);
        sum += bits_of(p.x) + bits_of(p.y) + bits_of(v.x) + bits_of(v.y);
    }
    return sum;
}
static void spawn_teardown(void *p)
{
    par_state *x = p;
    reef_set_pool(x->s->w, NULL);
    reef_pool_free(x->pool);
    state_free(x->s);
    mem_free_unsized(x);
}

/* ---- copies of a prefab ---- */

/* The first two handles are the prefabs; Data says the number of the entity and which prefab it copies. */
static void copy_some(reef_block *b)
{
    const Data *d = reef_in(b, Data);
    const reef_entity *prefabs = b->context;
    for (uint32_t i = 0; i < b->count; i++) {
        const Position p = pos_of((uint32_t)d[i].a);
        const Velocity v = vel_of((uint32_t)d[i].a);
        reef_cmd_instantiate_with(b, prefabs[d[i].b], reef_with(Position, p.x, p.y), reef_with(Velocity, v.x, v.y));
    }
}
static void spawn_four(reef_block *b)
{
    const Data *d = reef_in(b, Data);
    for (uint32_t i = 0; i < b->count; i++) {
        const Position p = pos_of((uint32_t)d[i].a);
        const Velocity v = vel_of((uint32_t)d[i].a);
        reef_cmd_spawn(b, reef_with(Position, p.x, p.y), reef_with(Velocity, v.x, v.y), reef_with(C3, {1, 1, 1, 1}),
                       reef_with(C4, {1, 1, 1, 1}));
    }
}
static void *spawners_setup(const bench_row *r, void (*function)(reef_block *))
{
    state *s = state_new(r, true);
    for (uint32_t k = 0; k < 2; k++) {
        s->handle[k] = reef_spawn(s->w, reef_with(Position, 1, 1), reef_with(Velocity, 1, 1),
                                  reef_with(C3, {1, 1, 1, 1}), reef_with(C4, {1, 1, 1, 1}));
        reef_make_prefab(s->w, s->handle[k]);
    }
    for (uint32_t i = 0; i < r->n; i++)
        reef_spawn(s->w, reef_with(Data, i, r->id == ROW_cmd_instantiate_mixed ? i % 2 : 0, 0, 0));
    const reef_system_desc desc = {
        .name = "spawn", .function = function, .text = "in Data; spawns", .context = s->handle};
    if (reef_system_is_null(reef_system_new(s->w, &desc))) bench_fail(s->w, "reef_system_new");
    return s;
}
static void *copies_setup(const bench_row *r) { return spawners_setup(r, copy_some); }
static void *spawn_four_setup(const bench_row *r) { return spawners_setup(r, spawn_four); }
static uint64_t copies_sum(void *p)
{
    state *s = p;
    uint64_t sum = 0, i = 0;
    for (reef_block b = reef_begin_text(s->w, "in Position, in Velocity, in C3, in C4"); reef_next(&b);)
        for (uint32_t k = 0; k < b.count; k++)
            sum += pos_sum(reef_in(&b, Position)[k], i++) + bits_of(reef_in(&b, Velocity)[k].x) +
                   bits_of(reef_in(&b, C3)[k].v[3]) + bits_of(reef_in(&b, C4)[k].v[0]);
    return sum;
}
static uint64_t instances_sum(void *p)
{
    const state *s = p;
    const uint64_t n =
        reef_source_count(s->w, s->handle[0], InstanceOf) + reef_source_count(s->w, s->handle[1], InstanceOf);
    return n == s->r->n ? copies_sum(p) : 0;
}

const row_impl reef_command_rows[] = {
    {ROW_deferred_ar, deferred_setup, tick_run, deferred_sum, state_free, NULL},
    {ROW_spawn_par, spawn_setup, spawn_run, spawn_sum, spawn_teardown, spawn_expected},
    {ROW_cmd_instantiate, copies_setup, tick_run, instances_sum, state_free, NULL},
    {ROW_cmd_instantiate_mixed, copies_setup, tick_run, instances_sum, state_free, NULL},
    {0},
};

/* The same entities, spawned. These rows are compared with it instead of raw. */
const row_impl reef_alone_command_rows[] = {
    {ROW_cmd_instantiate, spawn_four_setup, tick_run, copies_sum, state_free, NULL},
    {ROW_cmd_instantiate_mixed, spawn_four_setup, tick_run, copies_sum, state_free, NULL},
    {0},
};
