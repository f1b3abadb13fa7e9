/* Rows of cheap branches and small worlds: a fork that writes little, a small world that goes back and ticks, many
 * small worlds. By hand, a branch is a copy of all arrays. */
#include "kernels.h"
#include "mem.h"
#include "reef_rows.h"

enum { WRITES = 100, WORLDS = 1000, SMALL = 100 };

/* ---- fork_100_scattered ---- */

typedef struct branch_arrays { /* by hand: the row of an entity is its number */
    const bench_row *r;
    Position *p[2]; /* of the world, and of its copy; and so on */
    Velocity *v[2];
    Data *d[2];
    uint32_t *id[2];
} branch_arrays;

static uint32_t branch_place(const bench_row *r, uint32_t pass, uint32_t i)
{
    return (uint32_t)(bench_mix((uint64_t)pass * WRITES + i) % r->n);
}

static Data data_of(uint32_t i) { return (Data){i, 1, 2, 3}; }

static void *arrays_setup(const bench_row *r)
{
    branch_arrays *a = mem_calloc(1, sizeof *a);
    a->r = r;
    for (uint32_t k = 0; k < 2; k++) {
        a->p[k] = mem_alloc(sizeof(Position) * r->n);
        a->v[k] = mem_alloc(sizeof(Velocity) * r->n);
        a->d[k] = mem_alloc(sizeof(Data) * r->n);
        a->id[k] = mem_alloc(sizeof(uint32_t) * r->n);
        for (uint32_t i = 0; i < r->n; i++)
            a->p[k][i] = pos_of(i), a->v[k][i] = vel_of(i), a->d[k][i] = data_of(i), a->id[k][i] = i;
    }
    return a;
}
static void arrays_free(void *p)
{
    branch_arrays *a = p;
    for (uint32_t k = 0; k < 2; k++) {
        mem_free(a->p[k], sizeof(Position) * a->r->n);
        mem_free(a->v[k], sizeof(Velocity) * a->r->n);
        mem_free(a->d[k], sizeof(Data) * a->r->n);
        mem_free(a->id[k], sizeof(uint32_t) * a->r->n);
    }
    mem_free_unsized(a);
}
static void arrays_branch(branch_arrays *a, uint32_t pass)
{
    const size_t n = a->r->n;
    memcpy(a->p[1], a->p[0], n * sizeof(Position));
    memcpy(a->v[1], a->v[0], n * sizeof(Velocity));
    memcpy(a->d[1], a->d[0], n * sizeof(Data));
    memcpy(a->id[1], a->id[0], n * sizeof(uint32_t));
    for (uint32_t i = 0; i < WRITES; i++) a->p[1][branch_place(a->r, pass, i)] = (Position){(float)pass, (float)i};
    BENCH_BARRIER();
}
static void arrays_run(void *p)
{
    branch_arrays *a = p;
    for (uint32_t k = 0; k < a->r->passes; k++) arrays_branch(a, k);
}
static uint64_t arrays_sum(void *p)
{
    branch_arrays *a = p;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < a->r->n; i++) sum += pos_sum(a->p[0][i], i) + 3 * pos_sum(a->p[1][i], i);
    return sum;
}

static reef_world *branch(state *s, uint32_t pass)
{
    reef_world *w = reef_fork(s->w);
    if (w == NULL) bench_fail(s->w, "reef_fork");
    for (uint32_t i = 0; i < WRITES; i++)
        *reef_mut(w, s->handle[branch_place(s->r, pass, i)], Position) = (Position){(float)pass, (float)i};
    return w;
}
static void branch_run(void *p)
{
    state *s = p;
    for (uint32_t k = 0; k < s->r->passes; k++) reef_world_free(branch(s, k));
}
static void *branch_setup(const bench_row *r)
{
    state *s = state_new(r, true);
    Data d[SETUP_BATCH];
    for (uint32_t i = 0; i < r->n; i += SETUP_BATCH) {
        for (uint32_t k = 0; k < SETUP_BATCH; k++) d[k] = data_of(i + k);
        const reef_value data = reef_array(Data, d);
        batch_spawn(s, i, s->handle + i, &data, 1);
    }
    branch_run(s); /* so that the blocks to copy to are touched, as those of raw */
    return s;
}
/* The last branch again, since it is gone. */
static uint64_t branch_sum(void *p)
{
    state *s = p, other = *s;
    other.w = branch(s, s->r->passes - 1);
    const uint64_t sum = sum_by_handle(s) + 3 * sum_by_handle(&other);
    reef_world_free(other.w);
    return sum;
}

/* ---- small worlds ---- */

typedef struct small {
    const bench_row *r;
    uint32_t count;
    state **world; /* `count` of them, each with its part of the row's entities */
    reef_snapshot *origin;
} small;

static void small_move(reef_block *b) { k_iter2(reef_inout(b, Position), reef_in(b, Velocity), b->count, bench_dt); }
static void small_shift(reef_block *b) { k_iter1(reef_inout(b, Position), b->count); }
static void velocities_turn(Velocity *v, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) v[i].x = -v[i].x;
}
static void small_turn(reef_block *b) { velocities_turn(reef_inout(b, Velocity), b->count); }
static void data_count(Data *d, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) d[i].a += d[i].b;
}
static void small_count(reef_block *b) { data_count(reef_inout(b, Data), b->count); }

/* Entities with Position and Velocity; every other one has Data, too. */
static state *small_world(const bench_row *r, uint32_t n)
{
    state *s = state_new(r, false);
    for (uint32_t i = 0; i < n; i++) {
        const Position p = pos_of(i);
        const Velocity v = vel_of(i);
        const Data d = data_of(i);
        const reef_entity e = reef_spawn(s->w, reef_with(Position, p.x, p.y), reef_with(Velocity, v.x, v.y));
        if (i % 2 && reef_set(s->w, e, Data, d.a, d.b, d.c, d.d) != REEF_ADDED) bench_fail(s->w, "reef_set");
    }
    if (reef_system_is_null(reef_system(s->w, small_move, "Position, in Velocity")) ||
        reef_system_is_null(reef_system(s->w, small_shift, "Position")) ||
        reef_system_is_null(reef_system(s->w, small_turn, "Velocity")) ||
        reef_system_is_null(reef_system(s->w, small_count, "Data")))
        bench_fail(s->w, "reef_system");
    return s;
}

static void small_tick(state *s)
{
    if (reef_tick(s->w, 0) != REEF_OK) bench_fail(s->w, "reef_tick");
}

static void *smalls_new(const bench_row *r, uint32_t count)
{
    small *x = mem_calloc(1, sizeof *x);
    x->r = r;
    x->count = count;
    x->world = mem_alloc(sizeof *x->world * count);
    for (uint32_t k = 0; k < count; k++) small_tick(x->world[k] = small_world(r, r->n / count));
    return x;
}
static void *small_setup(const bench_row *r)
{
    small *x = smalls_new(r, 1);
    x->origin = reef_snapshot_take(x->world[0]->w);
    if (x->origin == NULL) bench_fail(x->world[0]->w, "reef_snapshot_take");
    return x;
}
static void *worlds_setup(const bench_row *r) { return smalls_new(r, WORLDS); }
static void *one_world_setup(const bench_row *r) { return smalls_new(r, 1); }
static void smalls_free(void *p)
{
    small *x = p;
    reef_snapshot_free(x->origin);
    for (uint32_t k = 0; k < x->count; k++) state_free(x->world[k]);
    mem_free(x->world, sizeof *x->world * x->count);
    mem_free_unsized(x);
}
static void small_run(void *p)
{
    small *x = p;
    for (uint32_t k = 0; k < x->r->passes; k++) {
        if (reef_restore(x->world[0]->w, x->origin) != REEF_OK) bench_fail(x->world[0]->w, "reef_restore");
        small_tick(x->world[0]);
    }
}
static void worlds_run(void *p)
{
    small *x = p;
    for (uint32_t pass = 0; pass < x->r->passes; pass++)
        for (uint32_t k = 0; k < x->count; k++) small_tick(x->world[k]);
}
static uint64_t small_values(const Position *p, const Velocity *v, const Data *d, uint32_t n)
{
    uint64_t sum = k_sum(p, n);
    for (uint32_t i = 0; i < n; i++) sum += 5 * bits_of(v[i].x) + (d ? 7 * d[i].a : 0);
    return sum;
}
static uint64_t small_sum(void *p)
{
    small *x = p;
    uint64_t sum = 0;
    for (uint32_t k = 0; k < x->count; k++) {
        reef_query q = query_new(x->world[k], "in Position, in Velocity, ?in Data");
        for (reef_block b = reef_begin(x->world[k]->w, q); reef_next(&b);)
            sum += small_values(reef_in(&b, Position), reef_in(&b, Velocity), reef_in(&b, Data), b.count);
        reef_query_free(x->world[k]->w, q);
    }
    return sum;
}
/* The values of many worlds and of one differ, so only the number of their entities is compared. */
static uint64_t worlds_sum(void *p)
{
    small *x = p;
    uint64_t count = 0;
    for (uint32_t k = 0; k < x->count; k++) count += reef_count(x->world[k]->w, Position);
    return count * (small_sum(p) != 0);
}

typedef struct small_arrays { /* by hand: of each table, as in reef, and the handles and the index */
    Position p[SMALL];
    Velocity v[SMALL];
    Data d[SMALL / 2]; /* of the entities of the second half */
    uint32_t id[SMALL], row[SMALL];
} small_arrays;
typedef struct small_hand {
    const bench_row *r;
    small_arrays now, origin;
} small_hand;

static void hand_tick(small_arrays *a)
{
    const uint32_t half = SMALL / 2;
    for (uint32_t k = 0; k < SMALL; k += half) k_iter2(a->p + k, a->v + k, half, bench_dt);
    for (uint32_t k = 0; k < SMALL; k += half) k_iter1(a->p + k, half);
    for (uint32_t k = 0; k < SMALL; k += half) velocities_turn(a->v + k, half);
    data_count(a->d, half);
}
static void *hand_setup(const bench_row *r)
{
    small_hand *x = mem_calloc(1, sizeof *x);
    x->r = r;
    for (uint32_t i = 0; i < r->n; i++) {
        const uint32_t row = i % 2 * (SMALL / 2) + i / 2;
        x->now.p[row] = pos_of(i);
        x->now.v[row] = vel_of(i);
        if (i % 2) x->now.d[i / 2] = data_of(i);
        x->now.id[row] = i;
        x->now.row[i] = row;
    }
    hand_tick(&x->now);
    x->origin = x->now;
    return x;
}
static void hand_run(void *p)
{
    small_hand *x = p;
    for (uint32_t k = 0; k < x->r->passes; k++) {
        memcpy(&x->now, &x->origin, sizeof x->now);
        hand_tick(&x->now);
        BENCH_BARRIER();
    }
}
static uint64_t hand_sum(void *p)
{
    const small_arrays *a = &((small_hand *)p)->now;
    return small_values(a->p, a->v, NULL, SMALL / 2) +
           small_values(a->p + SMALL / 2, a->v + SMALL / 2, a->d, SMALL / 2);
}
static void hand_free(void *p) { mem_free_unsized(p); }

const row_impl reef_branch_rows[] = {
    {ROW_fork_100_scattered, branch_setup, branch_run, branch_sum, state_free, NULL},
    {ROW_small_world_tick, small_setup, small_run, small_sum, smalls_free, NULL},
    {ROW_small_worlds_1000, worlds_setup, worlds_run, worlds_sum, smalls_free, NULL},
    {0},
};
/* Arrays by hand; of small_worlds_1000 reef itself with all entities in one world. */
const row_impl raw_branch_rows[] = {
    {ROW_fork_100_scattered, arrays_setup, arrays_run, arrays_sum, arrays_free, NULL},
    {ROW_small_world_tick, hand_setup, hand_run, hand_sum, hand_free, NULL},
    {ROW_small_worlds_1000, one_world_setup, worlds_run, worlds_sum, smalls_free, NULL},
    {0},
};
