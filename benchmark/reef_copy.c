/* reef's rows of copies of the whole world: snapshot, restore, fork, a history of 60 ticks, the hash, the
 * difference. Their world has
 * 1,000,000 entities with Position, Velocity and Data, unless the row says otherwise. */
#include "reef_rows.h"
#include "kernels.h"
#include "mem.h"

enum { HISTORY = 60, WARM_TICKS = 120, SOME = 10000 };

typedef struct copies {
    state *s;
    reef_query write;             /* "Position" */
    reef_snapshot *kept[HISTORY]; /* a ring: the state before tick t is at t % HISTORY */
    uint32_t ticks;
    reef_snapshot *origin; /* of the state that setup made, which is never hashed */
    reef_snapshot *held;   /* so that no state is freed while time is measured */
    reef_world *fork;
    uint64_t hash, changes;
} copies;

/* ---- worlds ---- */

typedef struct row_values {
    Position p;
    Velocity v;
    Data d;
} row_values;

static copies *copies_new(const bench_row *r, state *s)
{
    copies *c = mem_calloc(1, sizeof *c);
    c->s = s ? s : state_new(r, true);
    return c;
}

static copies *copies_pvd(const bench_row *r)
{
    const reef_bundle_part parts[] = {{reef_id(Position), offsetof(row_values, p)},
                                      {reef_id(Velocity), offsetof(row_values, v)},
                                      {reef_id(Data), offsetof(row_values, d)}};
    copies *c = copies_new(r, NULL);
    state *s = c->s;
    s->bundle = reef_bundle_new(s->w, parts, 3);
    if (!s->bundle) bench_fail(s->w, "reef_bundle_new");
    for (uint32_t i = 0; i < r->n; i++) {
        row_values v = {pos_of(i), vel_of(i), {i, 1, 2, 3}};
        s->handle[i] = reef_spawn_bundle(s->w, s->bundle, &v);
    }
    s->query = query_new(s, "Position, in Velocity");
    c->write = query_new(s, "Position");
    return c;
}

static void copies_free(void *p)
{
    copies *c = p;
    for (uint32_t i = 0; i < HISTORY; i++) reef_snapshot_free(c->kept[i]);
    reef_snapshot_free(c->origin);
    reef_snapshot_free(c->held);
    reef_world_free(c->fork);
    reef_query_free(c->s->w, c->write);
    state_free(c->s);
    mem_free_unsized(c);
}

static reef_snapshot *take(const copies *c)
{
    reef_snapshot *taken = reef_snapshot_take(c->s->w);
    if (!taken) bench_fail(c->s->w, "reef_snapshot_take");
    return taken;
}
static void restore(const copies *c, const reef_snapshot *snapshot)
{
    if (reef_restore(c->s->w, snapshot) != REEF_OK) bench_fail(c->s->w, "reef_restore");
}
static reef_world *fork_of(const copies *c)
{
    reef_world *fork = reef_fork(c->s->w);
    if (!fork) bench_fail(c->s->w, "reef_fork");
    return fork;
}

/* ---- writing ---- */

static void write_pass(copies *c)
{
    for (reef_block b = reef_begin(c->s->w, c->write); reef_next(&b);) k_iter1(reef_inout(&b, Position), b.count);
}

/* p += v*dt for the first `rows` of the table. */
static void move_rows(copies *c, uint32_t rows)
{
    for (reef_block b = reef_begin(c->s->w, c->s->query); rows && reef_next(&b);) {
        uint32_t n = b.count < rows ? b.count : rows;
        k_iter2(reef_inout(&b, Position), reef_in(&b, Velocity), n, bench_dt);
        rows -= n;
        if (rows == 0) reef_end(&b);
    }
}

/* p += v*dt for every hundredth entity. */
static void move_scattered(copies *c)
{
    const float dt = bench_dt;
    for (uint32_t i = 0; i < c->s->r->n; i += 100) {
        Position *p = reef_mut(c->s->w, c->s->handle[i], Position);
        const Velocity *v = reef_get(c->s->w, c->s->handle[i], Velocity);
        p->x += v->x * dt;
        p->y += v->y * dt;
    }
}

/* ---- what must be there ---- */

/* sum_rows of n Positions of which those with i < moved, i % every == 0 took `ticks` steps. (Exact: dt is 1/64.) */
static uint64_t sum_moved(uint32_t n, uint32_t moved, uint32_t every, uint32_t ticks)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        Position p = pos_of(i);
        float t = i < moved && i % every == 0 ? (float)ticks / 64 : 0;
        sum += pos_sum((Position){p.x + vel_of(i).x * t, p.y + vel_of(i).y * t}, 0);
    }
    return sum;
}

/* All components of all entities, as raw computes it (raw_frame.c). */
static uint64_t sum_values(const state *s)
{
    uint64_t sum = sum_by_handle(s);
    for (uint32_t i = 0; i < s->r->n; i++) {
        const Velocity *v = reef_get(s->w, s->handle[i], Velocity);
        const Data *d = reef_get(s->w, s->handle[i], Data);
        if (!v || !d) return UINT64_MAX;
        sum += bits_of(v->x) + d->a * (i + 1);
    }
    return sum + reef_count(s->w, Position);
}
/* The same of a world after `steps` write passes. */
static uint64_t sum_written(const bench_row *r, uint32_t steps)
{
    uint64_t sum = r->n;
    for (uint32_t i = 0; i < r->n; i++) {
        Position p = pos_of(i);
        sum += pos_sum((Position){p.x + (float)steps, p.y + (float)steps}, i) + bits_of(vel_of(i).x) +
               (uint64_t)i * (i + 1);
    }
    return sum;
}

/* ---- snapshot, restore, fork ---- */

static void *copy_setup(const bench_row *r)
{
    copies *c = copies_pvd(r);
    if (r->id == ROW_restore) c->origin = take(c);
    if (r->id == ROW_fork) reef_world_free(fork_of(c)); /* its memory can be used by the next one */
    write_pass(c);
    if (r->id == ROW_restore) c->held = take(c);
    return c;
}
static void snapshot_run(void *p)
{
    copies *c = p;
    c->held = take(c);
}
static void restore_run(void *p)
{
    copies *c = p;
    restore(c, c->origin);
}
static void fork_run(void *p)
{
    copies *c = p;
    c->fork = fork_of(c);
}

/* snapshot: the state that is held is unchanged, though the world was written since. */
static uint64_t snapshot_sum(void *p)
{
    copies *c = p;
    write_pass(c);
    restore(c, c->held);
    return sum_values(c->s);
}
static uint64_t restore_sum(void *p) { return sum_values(((copies *)p)->s); }

static uint64_t fork_sum(void *p)
{
    copies *c = p;
    state other = *c->s;
    write_pass(c);
    other.w = c->fork;
    return sum_values(c->s) == sum_written(c->s->r, 2) ? sum_values(&other) : UINT64_MAX;
}
static uint64_t fork_expected(const bench_row *r) { return sum_written(r, 1); }

/* Entity i has the tags that are the bits of i % tables. */
static void *tables_setup(const bench_row *r)
{
    state *s = frag_tables(r);
    copies *c = copies_new(r, s);
    c->write = query_new(s, "Position");
    reef_world_free(fork_of(c));
    write_pass(c);
    return c;
}
static uint64_t tables_sum(void *p)
{
    copies *c = p;
    state other = *c->s;
    uint64_t before = sum_rows(c->s);
    write_pass(c);
    other.w = c->fork;
    uint64_t sum = sum_rows(&other);
    return sum == before && sum_rows(c->s) != before ? sum : UINT64_MAX;
}
static uint64_t rows_written(const bench_row *r) /* sum_rows after a write pass */
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < r->n; i++) {
        Position p = pos_of(i);
        sum += pos_sum((Position){p.x + 1, p.y + 1}, 0);
    }
    return sum;
}

/* ---- the first write after a fork ---- */

/* Both do a first pass. Recycled: the first pass copies blocks for a fork that is then freed, so that the second pass
 * finds free blocks. */
static void *first_write_setup(const bench_row *r)
{
    copies *c = copies_pvd(r);
    if (r->id == ROW_fork_first_write) c->fork = fork_of(c);
    move_rows(c, r->n);
    reef_world_free(c->fork);
    c->fork = fork_of(c);
    return c;
}
static void *alone_first_write_setup(const bench_row *r)
{
    copies *c = copies_pvd(r);
    move_rows(c, r->n);
    return c;
}
static void move_run(void *p)
{
    copies *c = p;
    for (uint32_t k = 0; k < c->s->r->passes; k++) move_rows(c, c->s->r->n);
}
static uint64_t first_write_sum(void *p)
{
    copies *c = p;
    state other = *c->s;
    uint32_t n = c->s->r->n;
    if (c->fork) {
        other.w = c->fork;
        if (sum_rows(&other) != sum_moved(n, n, 1, 1)) return UINT64_MAX;
    }
    return sum_rows(c->s);
}
static uint64_t first_write_expected(const bench_row *r) { return sum_moved(r->n, r->n, 1, 2); }

/* ---- a history of 60 ticks ---- */

static uint32_t moved_rows(const bench_row *r) { return r->id == ROW_rollback_60_sparse ? SOME : r->n; }

static void tick(copies *c)
{
    reef_snapshot **oldest = &c->kept[c->ticks++ % HISTORY], *newest = take(c);
    reef_snapshot_free(*oldest);
    *oldest = newest;
    move_rows(c, moved_rows(c->s->r));
}

static void *history_setup(const bench_row *r)
{
    copies *c = copies_pvd(r);
    while (c->ticks < WARM_TICKS) tick(c);
    return c;
}
static void *alone_history_setup(const bench_row *r)
{
    copies *c = copies_pvd(r);
    for (uint32_t k = 0; k < WARM_TICKS; k++) move_rows(c, moved_rows(r));
    return c;
}
static void history_run(void *p)
{
    copies *c = p;
    for (uint32_t k = 0; k < c->s->r->passes; k++) tick(c);
}
static void alone_history_run(void *p)
{
    copies *c = p;
    for (uint32_t k = 0; k < c->s->r->passes; k++) move_rows(c, moved_rows(c->s->r));
}
/* Is every kept state unchanged? (In the oldest one all components are compared.) */
static uint64_t history_sum(void *p)
{
    copies *c = p;
    state *s = c->s;
    const bench_row *r = s->r;
    uint64_t sum = sum_rows(s);
    for (uint32_t k = 0; k < HISTORY; k++) {
        uint32_t t = c->ticks - 1 - k;
        restore(c, c->kept[t % HISTORY]);
        if (sum_rows(s) != sum_moved(r->n, moved_rows(r), 1, t)) return UINT64_MAX;
    }
    uint64_t old = sum_values(s) - sum_by_handle(s), want = sum_written(r, 0);
    for (uint32_t i = 0; i < r->n; i++) want -= pos_sum(pos_of(i), i);
    return old == want ? sum : UINT64_MAX;
}
static uint64_t alone_history_sum(void *p) { return sum_rows(((copies *)p)->s); }
static uint64_t history_expected(const bench_row *r)
{
    return sum_moved(r->n, moved_rows(r), 1, WARM_TICKS + r->passes);
}

/* 60 ticks back from the state that `held` keeps. */
static void *rewind_setup(const bench_row *r)
{
    copies *c = history_setup(r);
    c->held = take(c);
    if (r->id == ROW_drop_state) restore(c, c->kept[c->ticks % HISTORY]);
    return c;
}
static void rewind_run(void *p)
{
    copies *c = p;
    restore(c, c->kept[c->ticks % HISTORY]);
}
static void drop_run(void *p)
{
    copies *c = p;
    reef_snapshot_free(c->held);
    c->held = NULL;
}
static uint64_t rewind_sum(void *p) { return sum_rows(((copies *)p)->s); }
static uint64_t rewind_expected(const bench_row *r) { return sum_moved(r->n, r->n, 1, WARM_TICKS - HISTORY); }

/* ---- the hash ---- */

static void write_all(copies *c)
{
    reef_query q = query_new(c->s, "Position, Velocity, Data");
    for (reef_block b = reef_begin(c->s->w, q); reef_next(&b);) {
        Velocity *v = reef_inout(&b, Velocity);
        Data *d = reef_inout(&b, Data);
        k_iter1(reef_inout(&b, Position), b.count);
        for (uint32_t i = 0; i < b.count; i++) v[i].x += 1, d[i].a++;
    }
    reef_query_free(c->s->w, q);
}

/* Makes the row's changes after the first hash. */
static void hash_change(copies *c)
{
    if (c->s->r->id == ROW_state_hash_all) write_all(c);
    if (c->s->r->id == ROW_state_hash_1pct) move_rows(c, SOME);
    if (c->s->r->id == ROW_state_hash_scattered) move_scattered(c);
}
static void *hash_setup(const bench_row *r)
{
    copies *c = copies_pvd(r);
    c->origin = take(c);
    if (r->id == ROW_state_hash_first) return c;
    reef_hash(c->s->w);
    hash_change(c);
    if (r->id == ROW_state_hash_same) c->held = take(c);
    return c;
}
static void hash_run(void *p)
{
    copies *c = p;
    c->hash = reef_hash(c->s->w);
}
/* Checks that the hash is that of a world which never kept any hashes, and differs from the hash before the change. */
static uint64_t hash_sum(void *p)
{
    copies *c = p;
    uint64_t sum = sum_rows(c->s);
    restore(c, c->origin);
    hash_change(c);
    if (reef_hash(c->s->w) != c->hash || c->hash == 0) return UINT64_MAX;
    restore(c, c->origin);
    bool same = c->s->r->id == ROW_state_hash_same || c->s->r->id == ROW_state_hash_first;
    return (reef_hash(c->s->w) == c->hash) == same ? sum : UINT64_MAX;
}
static uint64_t hash_expected(const bench_row *r)
{
    if (r->id == ROW_state_hash_all) return rows_written(r);
    if (r->id == ROW_state_hash_1pct) return sum_moved(r->n, SOME, 1, 1);
    if (r->id == ROW_state_hash_scattered) return sum_moved(r->n, r->n, 100, 1);
    return sum_moved(r->n, 0, 1, 0);
}

/* ---- the difference ---- */

static void *diff_setup(const bench_row *r)
{
    copies *c = copies_pvd(r);
    c->held = take(c);
    if (r->id == ROW_diff) move_rows(c, SOME);
    else move_scattered(c);
    c->fork = reef_snapshot_fork(c->held);
    if (!c->fork) bench_fail(c->s->w, "reef_snapshot_fork");
    return c;
}
static void diff_run(void *p)
{
    copies *c = p;
    reef_diff *d = reef_diff_new(c->fork, c->s->w);
    if (!d) bench_fail(c->s->w, "reef_diff_new");
    while (reef_diff_next(d)) c->changes++;
    reef_diff_free(d);
}
static bool diff_right(const reef_change *x, uint32_t i)
{
    const Position *was = x->was, *is = x->is;
    return x->kind == REEF_CHANGE_VALUE && x->component.id == reef_id(Position).id && was->x == pos_of(i).x &&
           was->y == pos_of(i).y && is->x == was->x + vel_of(i).x / 64 && is->y == was->y + vel_of(i).y / 64;
}
static uint64_t diff_sum(void *p)
{
    copies *c = p;
    const uint32_t every = c->s->r->id == ROW_diff ? 1 : 100;
    reef_diff *d = reef_diff_new(c->fork, c->s->w);
    const reef_change *x = NULL;
    uint64_t seen = 0;
    while ((x = reef_diff_next(d)) != NULL && reef_entity_equal(x->entity, c->s->handle[seen * every]) &&
           diff_right(x, (uint32_t)seen * every))
        seen++;
    reef_diff_free(d);
    return x == NULL && seen == c->changes && seen == SOME ? sum_rows(c->s) : UINT64_MAX;
}
static uint64_t diff_expected(const bench_row *r)
{
    return r->id == ROW_diff ? sum_moved(r->n, SOME, 1, 1) : sum_moved(r->n, r->n, 100, 1);
}

const row_impl reef_copy_rows[] = {
    {ROW_snapshot, copy_setup, snapshot_run, snapshot_sum, copies_free, NULL},
    {ROW_restore, copy_setup, restore_run, restore_sum, copies_free, NULL},
    {ROW_fork, copy_setup, fork_run, fork_sum, copies_free, fork_expected},
    {ROW_fork_1k_tables, tables_setup, fork_run, tables_sum, copies_free, rows_written},
    {ROW_fork_first_write, first_write_setup, move_run, first_write_sum, copies_free, first_write_expected},
    {ROW_fork_first_cold, first_write_setup, move_run, first_write_sum, copies_free, first_write_expected},
    {ROW_rollback_60, history_setup, history_run, history_sum, copies_free, history_expected},
    {ROW_rollback_60_sparse, history_setup, history_run, history_sum, copies_free, history_expected},
    {ROW_rewind, rewind_setup, rewind_run, rewind_sum, copies_free, rewind_expected},
    {ROW_drop_state, rewind_setup, drop_run, rewind_sum, copies_free, rewind_expected},
    {ROW_state_hash_same, hash_setup, hash_run, hash_sum, copies_free, hash_expected},
    {ROW_state_hash_1pct, hash_setup, hash_run, hash_sum, copies_free, hash_expected},
    {ROW_state_hash_scattered, hash_setup, hash_run, hash_sum, copies_free, hash_expected},
    {ROW_state_hash_all, hash_setup, hash_run, hash_sum, copies_free, hash_expected},
    {ROW_state_hash_first, hash_setup, hash_run, hash_sum, copies_free, hash_expected},
    {ROW_diff, diff_setup, diff_run, diff_sum, copies_free, diff_expected},
    {ROW_diff_scattered, diff_setup, diff_run, diff_sum, copies_free, diff_expected},
    {0},
};

/* The same work without a fork or a history. These rows are compared with it instead of raw. */
const row_impl reef_alone_rows[] = {
    {ROW_fork_first_write, alone_first_write_setup, move_run, first_write_sum, copies_free, NULL},
    {ROW_fork_first_cold, alone_first_write_setup, move_run, first_write_sum, copies_free, NULL},
    {ROW_rollback_60, alone_history_setup, alone_history_run, alone_history_sum, copies_free, NULL},
    {ROW_rollback_60_sparse, alone_history_setup, alone_history_run, alone_history_sum, copies_free, NULL},
    {0},
};
