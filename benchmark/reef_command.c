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

const row_impl reef_command_rows[] = {
    {ROW_deferred_ar, deferred_setup, tick_run, deferred_sum, state_free, NULL},
    {ROW_spawn_par, spawn_setup, spawn_run, spawn_sum, spawn_teardown, spawn_expected},
    {0},
};
