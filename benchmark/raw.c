/* raw: the benchmark's rows, written by hand, with which reef is compared. raw.h describes the structure. */
#include "raw.h"
#include "kernels.h"

#define IN_B 0x80000000u /* has_rand: table number in the index entry's top bit */

/* ---- worlds ---- */

void *raw_alloc_zero(size_t bytes)
{
    void *p = mem_alloc(bytes);
    return memset(p, 0, bytes);
}

void raw_layout(table *t, uint32_t ncol, const uint32_t *size)
{
    t->ncol = ncol;
    for (uint32_t c = 0; c < ncol; c++) t->size[c] = size[c];
}

static void table_free(table *t) { table_reserve(t, 0); }

static const uint32_t size_p[] = {8}, size_pv[] = {8, 8};
static const uint32_t size_pv6[] = {8, 8, 16, 16, 16, 16, 16, 16}, size_p6v[] = {8, 16, 16, 16, 16, 16, 16, 8};
static const uint32_t size_pv3[] = {8, 8, 16, 16, 16};

raw *raw_world(const bench_row *r)
{
    raw *w = memset(mem_malloc(sizeof *w), 0, sizeof *w);
    w->r = r;
    return w;
}

void raw_handles(raw *w)
{
    w->handle = mem_alloc(sizeof *w->handle * w->r->n);
    memset(w->handle, 1, sizeof *w->handle * w->r->n);
}

void raw_free(void *state)
{
    raw *w = state;
    table_free(&w->a);
    table_free(&w->b);
    for (uint32_t i = 0; i < w->nfrag; i++) table_free(&w->frag[i]);
    if (w->frag) mem_free(w->frag, sizeof *w->frag * w->nfrag);
    mem_free(w->ix.row, sizeof *w->ix.row * w->ix.cap);
    if (w->handle) mem_free(w->handle, sizeof *w->handle * w->r->n);
    if (w->bits) mem_free(w->bits, w->r->n / 64 * 8 + 8);
    if (w->copy) mem_free(w->copy, (size_t)56 * w->r->n);
    mem_free_unsized(w);
}

/* n entities with Position and Velocity */
static raw *world_pv(const bench_row *r, bool keep_handles)
{
    raw *w = raw_world(r);
    raw_layout(&w->a, 2, size_pv);
    if (keep_handles) raw_handles(w);
    for (uint32_t i = 0; i < r->n; i++) {
        uint32_t id = create_2(&w->a, &w->ix, pos_of(i), vel_of(i));
        if (keep_handles) w->handle[i] = id;
    }
    return w;
}

uint64_t raw_sum_by_handle(const table *t, const raw *w)
{
    uint64_t s = t->n;
    for (uint32_t i = 0; i < w->r->n; i++) s += pos_sum(POS(t)[w->ix.row[w->handle[i]]], i);
    return s;
}

static uint64_t sum_rows(void *state) /* iter_ rows: all Positions, in any order */
{
    raw *w = state;
    uint64_t s = k_sum(POS(&w->a), w->a.n);
    if (w->b.n) s += k_sum(POS(&w->b), w->b.n);
    for (uint32_t i = 0; i < w->nfrag; i++) s += k_sum(POS(&w->frag[i]), w->frag[i].n);
    return s;
}

static uint64_t sum_run(void *state) { return ((raw *)state)->sum; }

/* ---- create ---- */

static void *create_0_setup(const bench_row *r)
{
    raw *w = raw_world(r);
    raw_handles(w);
    return w;
}
static void create_0_run(void *state)
{
    raw *w = state;
    for (uint32_t i = 0, n = w->r->n; i < n; i++) w->handle[i] = id_new(&w->ix, 0);
}
static uint64_t create_0_sum(void *state) /* living entities by handle, and their count */
{
    raw *w = state;
    uint64_t s = w->ix.n;
    for (uint32_t i = 0; i < w->r->n; i++) s += w->ix.row[w->handle[i]] == 0;
    return s;
}

static void *create_2_setup(const bench_row *r)
{
    raw *w = raw_world(r);
    raw_layout(&w->a, 2, size_pv);
    raw_handles(w);
    return w;
}
static void create_2_run(void *state)
{
    raw *w = state;
    for (uint32_t i = 0, n = w->r->n; i < n; i++)
        w->handle[i] = create_2(&w->a, &w->ix, (Position){1, 1}, (Velocity){1, 1});
}
static uint64_t create_2_sum(void *state)
{
    raw *w = state;
    uint64_t s = raw_sum_by_handle(&w->a, w);
    for (uint32_t i = 0; i < w->r->n; i++) s += bits_of(VEL(&w->a)[w->ix.row[w->handle[i]]].y);
    return s;
}

static void create_2_bulk_run(void *state)
{
    raw *w = state;
    table *t = &w->a;
    uint32_t n = w->r->n;
    table_reserve(t, n);
    index_reserve(&w->ix, n);
    for (uint32_t i = 0; i < n; i++) POS(t)[i] = (Position){1, 1};
    for (uint32_t i = 0; i < n; i++) VEL(t)[i] = (Velocity){1, 1};
    for (uint32_t i = 0; i < n; i++) t->id[i] = w->ix.row[i] = w->handle[i] = i;
    t->n = w->ix.n = n;
}

static void *create_8_setup(const bench_row *r)
{
    raw *w = raw_world(r);
    raw_layout(&w->a, 8, size_pv6);
    raw_handles(w);
    return w;
}
static void create_8_run(void *state)
{
    raw *w = state;
    table *t = &w->a;
    for (uint32_t i = 0, n = w->r->n; i < n; i++) {
        uint32_t r = create(t, &w->ix);
        POS(t)[r] = (Position){1, 1};
        VEL(t)[r] = (Velocity){1, 1};
        UNROLL_8
        for (uint32_t c = 2; c < 8; c++) VEC(t, c)[r] = (Vec4){{1, 1, 1, 1}};
        w->handle[i] = t->id[r];
    }
}
static uint64_t create_8_sum(void *state)
{
    raw *w = state;
    uint64_t s = create_2_sum(w);
    for (uint32_t i = 0; i < w->r->n; i++)
        for (uint32_t c = 2; c < 8; c++) s += bits_of(VEC(&w->a, c)[w->ix.row[w->handle[i]]].v[3]) * (i + 1);
    return s;
}

/* ---- destroy ---- */

static void *destroy_setup(const bench_row *r)
{
    raw *w = world_pv(r, true);
    if (r->id == ROW_destroy_2_rand) bench_shuffle(w->handle, r->n, sizeof *w->handle);
    return w;
}
static void destroy_run(void *state)
{
    raw *w = state;
    for (uint32_t i = 0, n = w->r->n; i < n; i++) destroy_2(&w->a, &w->ix, w->handle[i]);
}
static uint64_t destroy_sum(void *state) /* entities that are left, and handles that are dead now */
{
    raw *w = state;
    uint64_t s = w->a.n;
    for (uint32_t i = 0; i < w->r->n; i++) s += w->ix.row[w->handle[i]] == NO_ROW;
    return s;
}

/* ---- add and remove: the loops work on local copies of the table heads, so that counts stay in registers ---- */

static void ar_1_run(void *state)
{
    raw *w = state;
    const uint32_t n = w->r->n, *h = w->handle;
    table a = w->a, b = w->b;
    idmap x = w->ix;
    for (uint32_t i = 0; i < n; i++) add_velocity(&a, &b, &x, h[i], 1, (Velocity){1, 1});
    for (uint32_t i = 0; i < n; i++) remove_velocity(&b, &a, &x, h[i], 1);
    w->a = a, w->b = b;
}
static void ar_8_run(void *state)
{
    raw *w = state;
    const uint32_t n = w->r->n, *h = w->handle;
    table a = w->a, b = w->b;
    idmap x = w->ix;
    for (uint32_t i = 0; i < n; i++) add_velocity(&a, &b, &x, h[i], 7, (Velocity){1, 1});
    for (uint32_t i = 0; i < n; i++) remove_velocity(&b, &a, &x, h[i], 7);
    w->a = a, w->b = b;
}
static void ar_tag_run(void *state)
{
    raw *w = state;
    const uint32_t n = w->r->n, *h = w->handle;
    table a = w->a, b = w->b;
    idmap x = w->ix;
    for (uint32_t i = 0; i < n; i++) move(&a, &b, &x, h[i], 1);
    for (uint32_t i = 0; i < n; i++) move(&b, &a, &x, h[i], 1);
    w->a = a, w->b = b;
}

/* add_remove_8: Position and C3..C8 */
void *raw_ar_setup(const bench_row *r)
{
    bool tag = r->id == ROW_add_remove_tag || r->id == ROW_add_remove_tag_bit || r->id == ROW_observer_add;
    uint32_t columns = r->id == ROW_add_remove_8 || r->id == ROW_add_remove_8_sparse ? 7 : 1;
    raw *w = raw_world(r);
    raw_layout(&w->a, columns, size_p6v);
    if (columns == 7) raw_layout(&w->b, 8, size_p6v);
    else raw_layout(&w->b, tag ? 1 : 2, size_pv);
    raw_handles(w);
    for (uint32_t i = 0; i < r->n; i++) {
        uint32_t at = create(&w->a, &w->ix);
        POS(&w->a)[at] = pos_of(i);
        for (uint32_t c = 1; c < columns; c++) VEC(&w->a, c)[at] = (Vec4){{(float)c, 1, 1, (float)(i & 63)}};
        w->handle[i] = w->a.id[at];
    }
    if (r->id == ROW_add_remove_1_warm) ar_1_run(w);
    if (columns == 7) ar_8_run(w);
    return w;
}
uint64_t raw_ar_sum(void *state)
{
    raw *w = state;
    uint64_t s = raw_sum_by_handle(&w->a, w) + w->b.n;
    for (uint32_t i = 0; i < w->r->n; i++)
        for (uint32_t c = 1; c < w->a.ncol; c++) s += bits_of(VEC(&w->a, c)[w->ix.row[w->handle[i]]].v[3]) * (i + c);
    return s;
}

/* ---- random access ---- */

static void *rand_setup(const bench_row *r)
{
    raw *w = world_pv(r, true);
    bench_shuffle(w->handle, r->n, sizeof *w->handle);
    return w;
}
static void get_rand_run(void *state)
{
    raw *w = state;
    const Position *p = POS(&w->a);
    const uint32_t *row = w->ix.row, *h = w->handle;
    uint64_t s = 0;
    for (uint32_t k = 0; k < w->r->passes; k++) {
        for (uint32_t i = 0, n = w->r->n; i < n; i++) s += bits_of(p[row[h[i]]].x) + bits_of(p[row[h[i]]].y);
        BENCH_BARRIER();
    }
    w->sum = s;
}
static void set_rand_run(void *state)
{
    raw *w = state;
    Position *p = POS(&w->a);
    const uint32_t *row = w->ix.row, *h = w->handle;
    for (uint32_t i = 0, n = w->r->n; i < n; i++) p[row[h[i]]] = (Position){(float)i, 2};
}
static uint64_t set_rand_sum(void *state)
{
    raw *w = state;
    return raw_sum_by_handle(&w->a, w);
}

/* Odd entities in b (with Velocity), even ones in a; the index entry's top bit says which. */
static void *has_setup(const bench_row *r)
{
    raw *w = raw_world(r);
    raw_layout(&w->a, 1, size_p);
    raw_layout(&w->b, 2, size_pv);
    raw_handles(w);
    for (uint32_t i = 0; i < r->n; i++) {
        if (i & 1) {
            w->handle[i] = create_2(&w->b, &w->ix, pos_of(i), vel_of(i));
            w->ix.row[w->handle[i]] |= IN_B;
        } else {
            w->handle[i] = create_1(&w->a, &w->ix, pos_of(i));
        }
    }
    bench_shuffle(w->handle, r->n, sizeof *w->handle);
    return w;
}
static void has_run(void *state)
{
    raw *w = state;
    const uint32_t *row = w->ix.row, *h = w->handle;
    uint64_t s = 0;
    for (uint32_t i = 0, n = w->r->n; i < n; i++) s += row[h[i]] >> 31;
    w->sum = s;
}

/* ---- iteration ---- */

static void *iter_setup(const bench_row *r) { return world_pv(r, false); }
static void iter_1_run(void *state)
{
    raw *w = state;
    for (uint32_t k = 0; k < w->r->passes; k++) k_iter1(POS(&w->a), w->a.n);
}
static void iter_2_run(void *state)
{
    raw *w = state;
    for (uint32_t k = 0; k < w->r->passes; k++) k_iter2(POS(&w->a), VEL(&w->a), w->a.n, bench_dt);
}

static void *iter_half_setup(const bench_row *r)
{
    raw *w = raw_world(r);
    raw_layout(&w->a, 2, size_pv);
    raw_layout(&w->b, 1, size_p);
    for (uint32_t i = 0; i < r->n; i++)
        if (i & 1) create_1(&w->b, &w->ix, pos_of(i));
        else create_2(&w->a, &w->ix, pos_of(i), vel_of(i));
    return w;
}

static void *iter_5_setup(const bench_row *r)
{
    raw *w = raw_world(r);
    table *t = &w->a;
    raw_layout(t, 5, size_pv3);
    for (uint32_t i = 0; i < r->n; i++) {
        uint32_t at = t->n;
        create_2(t, &w->ix, pos_of(i), vel_of(i));
        for (uint32_t c = 2; c < 5; c++) VEC(t, c)[at] = (Vec4){{(float)c, 1, 1, 1}};
    }
    return w;
}
static void iter_5_run(void *state)
{
    raw *w = state;
    table *t = &w->a;
    for (uint32_t k = 0; k < w->r->passes; k++)
        k_iter5(POS(t), VEL(t), (Vec4 *)(void *)t->col[2], (Vec4 *)(void *)t->col[3], (Vec4 *)(void *)t->col[4], t->n);
}

static void *
frag_setup(const bench_row *r) /* entity i in table i % tables, made in that order; frag_26: table by table */
{
    bool few = r->id == ROW_iter_frag_26;
    raw *w = raw_world(r);
    w->nfrag = r->tables;
    w->frag = raw_alloc_zero(sizeof *w->frag * w->nfrag);
    for (uint32_t i = 0; i < w->nfrag; i++) raw_layout(&w->frag[i], few ? 1 : 2, size_pv);
    for (uint32_t i = 0; i < r->n; i++)
        if (few) create_1(&w->frag[i / (r->n / r->tables)], &w->ix, pos_of(i));
        else create_2(&w->frag[i % r->tables], &w->ix, pos_of(i), vel_of(i));
    return w;
}
static void frag_26_run(void *state)
{
    raw *w = state;
    for (uint32_t k = 0; k < w->r->passes; k++) {
        float f = k & 1 ? 0.5f : 2.0f;
        for (uint32_t i = 0, n = w->nfrag; i < n; i++) k_scale(POS(&w->frag[i]), w->frag[i].n, f);
        BENCH_BARRIER();
    }
}
static void frag_1k_run(void *state)
{
    raw *w = state;
    for (uint32_t k = 0; k < w->r->passes; k++)
        for (uint32_t i = 0, n = w->nfrag; i < n; i++)
            k_iter2(POS(&w->frag[i]), VEL(&w->frag[i]), w->frag[i].n, bench_dt);
}

static void *bits_setup(const bench_row *r)
{
    raw *w = world_pv(r, false);
    w->bits = raw_alloc_zero(r->n / 64 * 8 + 8);
    for (uint32_t i = 0; i < r->n; i++) w->bits[i >> 6] |= (uint64_t)(bench_tags(i) & 1) << (i & 63);
    return w;
}
static void bits_run(void *state)
{
    raw *w = state;
    for (uint32_t k = 0; k < w->r->passes; k++) k_iter2_bits(POS(&w->a), VEL(&w->a), w->bits, w->a.n, bench_dt);
}

static void *sparse_setup(const bench_row *r)
{
    raw *w = raw_world(r);
    raw_layout(&w->a, 1, size_p);
    raw_layout(&w->b, 2, size_pv);
    table_reserve(&w->b, r->ops);
    w->handle = raw_alloc_zero(sizeof *w->handle * r->n);
    for (uint32_t i = 0, n = 0; i < r->n; i++) {
        create_1(&w->a, &w->ix, pos_of(i));
        if (!bench_sparse(i)) continue;
        VEL(&w->b)[n] = vel_of(i);
        w->handle[n++] = i;
    }
    return w;
}
static void sparse_run(void *state)
{
    raw *w = state;
    for (uint32_t k = 0; k < w->r->passes; k++) {
        Position *p = POS(&w->a);
        const Velocity *v = VEL(&w->b);
        for (uint32_t i = 0, n = w->r->ops; i < n; i++) {
            p[w->handle[i]].x += v[i].x * bench_dt;
            p[w->handle[i]].y += v[i].y * bench_dt;
        }
        BENCH_BARRIER();
    }
}

/* ---- query_join ---- */

/* a: the ships, with their position and the number of their port. b: the ports that have a velocity. */
static const uint32_t size_pd[] = {8, 4};
static void *join_setup(const bench_row *r)
{
    raw *w = raw_world(r);
    raw_layout(&w->a, 2, size_pd);
    raw_layout(&w->b, 1, size_p);
    for (uint32_t i = 0; i < r->n; i++) create_1(&w->a, &w->ix, pos_of(i));
    for (uint32_t k = 0, closed = 0; k < JOIN_PORTS; k++) {
        if (!join_open(k)) {
            id_new(&w->ix, IN_B | closed++);
            continue;
        }
        const uint32_t row = create(&w->b, &w->ix);
        const Velocity v = vel_of(k);
        memcpy(&w->b.col[0][row * sizeof v], &v, sizeof v);
    }
    for (uint32_t i = 0; i < r->n; i++) ((uint32_t *)(void *)w->a.col[1])[i] = r->n + join_port(i);
    return w;
}
static void join_run(void *state)
{
    raw *w = state;
    const float dt = bench_dt;
    for (uint32_t k = 0; k < w->r->passes; k++) {
        Position *p = POS(&w->a);
        const uint32_t *port = (const uint32_t *)(const void *)w->a.col[1], *row = w->ix.row;
        const Velocity *v = (const Velocity *)(const void *)w->b.col[0];
        for (uint32_t i = 0, n = w->a.n; i < n; i++) {
            const uint32_t at = row[port[i]];
            if (at & IN_B) continue;
            p[i].x += v[at].x * dt;
            p[i].y += v[at].y * dt;
        }
        BENCH_BARRIER();
    }
}
static uint64_t join_sum(void *state)
{
    const raw *w = state;
    return k_sum(POS(&w->a), w->a.n);
}

/* ---- world_new, mem_2 ---- */

static void *world_new_setup(const bench_row *r) { return raw_world(r); }
static void world_new_run(void *state)
{
    raw *w = state;
    for (uint32_t k = 0; k < w->r->passes; k++) {
        raw *x = raw_world(w->r);
        __asm__ __volatile__("" : : "g"(x) : "memory");
        raw_free(x);
    }
}
static uint64_t world_new_sum(void *state)
{
    (void)state;
    return 0;
}

static void *mem_setup(const bench_row *r)
{
    raw *w = raw_world(r);
    raw_layout(&w->a, 2, size_pv);
    return w;
}
static void mem_run(void *state)
{
    raw *w = state;
    for (uint32_t i = 0, n = w->r->n; i < n; i++) create_2(&w->a, &w->ix, pos_of(i), vel_of(i));
}

static const row_impl rows[] = {
    {ROW_create_0, create_0_setup, create_0_run, create_0_sum, raw_free, NULL},
    {ROW_create_2, create_2_setup, create_2_run, create_2_sum, raw_free, NULL},
    {ROW_create_2_bulk, create_2_setup, create_2_bulk_run, create_2_sum, raw_free, NULL},
    {ROW_create_8, create_8_setup, create_8_run, create_8_sum, raw_free, NULL},
    {ROW_prefab_1k, create_8_setup, create_8_run, create_2_sum, raw_free, NULL},
    {ROW_prefab_one, create_8_setup, create_8_run, create_2_sum, raw_free, NULL},
    {ROW_destroy_2, destroy_setup, destroy_run, destroy_sum, raw_free, NULL},
    {ROW_destroy_2_rand, destroy_setup, destroy_run, destroy_sum, raw_free, NULL},
    {ROW_add_remove_1, raw_ar_setup, ar_1_run, raw_ar_sum, raw_free, NULL},
    {ROW_add_remove_1_warm, raw_ar_setup, ar_1_run, raw_ar_sum, raw_free, NULL},
    {ROW_add_remove_sparse, raw_ar_setup, ar_1_run, raw_ar_sum, raw_free, NULL},
    {ROW_add_remove_paged, raw_ar_setup, ar_1_run, raw_ar_sum, raw_free, NULL},
    {ROW_add_remove_8_sparse, raw_ar_setup, ar_8_run, raw_ar_sum, raw_free, NULL},
    {ROW_get_rand_paged, rand_setup, get_rand_run, sum_run, raw_free, NULL},
    {ROW_set_rand_paged, rand_setup, set_rand_run, set_rand_sum, raw_free, NULL},
    {ROW_add_remove_8, raw_ar_setup, ar_8_run, raw_ar_sum, raw_free, NULL},
    {ROW_add_remove_tag, raw_ar_setup, ar_tag_run, raw_ar_sum, raw_free, NULL},
    {ROW_add_remove_tag_bit, raw_ar_setup, ar_tag_run, raw_ar_sum, raw_free, NULL},
    {ROW_get_rand, rand_setup, get_rand_run, sum_run, raw_free, NULL},
    {ROW_get_rand_small, rand_setup, get_rand_run, sum_run, raw_free, NULL},
    {ROW_get_rand_many, rand_setup, get_rand_run, sum_run, raw_free, NULL},
    {ROW_ref_get, rand_setup, get_rand_run, sum_run, raw_free, NULL},
    {ROW_set_rand, rand_setup, set_rand_run, set_rand_sum, raw_free, NULL},
    {ROW_has_rand, has_setup, has_run, sum_run, raw_free, NULL},
    {ROW_iter_1, iter_setup, iter_1_run, sum_rows, raw_free, NULL},
    {ROW_iter_2_1k, iter_setup, iter_2_run, sum_rows, raw_free, NULL},
    {ROW_iter_2_10k, iter_setup, iter_2_run, sum_rows, raw_free, NULL},
    {ROW_iter_2_1m, iter_setup, iter_2_run, sum_rows, raw_free, NULL},
    {ROW_iter_2_10m, iter_setup, iter_2_run, sum_rows, raw_free, NULL},
    {ROW_iter_2_half, iter_half_setup, iter_2_run, sum_rows, raw_free, NULL},
    {ROW_iter_5, iter_5_setup, iter_5_run, sum_rows, raw_free, NULL},
    {ROW_iter_frag_26, frag_setup, frag_26_run, sum_rows, raw_free, NULL},
    {ROW_iter_frag_1k, frag_setup, frag_1k_run, sum_rows, raw_free, NULL},
    {ROW_iter_frag_1k_bit, bits_setup, bits_run, sum_rows, raw_free, NULL},
    {ROW_iter_bit, bits_setup, bits_run, sum_rows, raw_free, NULL},
    {ROW_iter_sparse, sparse_setup, sparse_run, sum_rows, raw_free, NULL},
    {ROW_query_join, join_setup, join_run, join_sum, raw_free, NULL},
    {ROW_world_new, world_new_setup, world_new_run, world_new_sum, raw_free, NULL},
    {ROW_mem_2, mem_setup, mem_run, sum_rows, raw_free, NULL},
    {0},
};

const contestant contestant_raw = {
    "raw",
    {rows, raw_frame_rows, raw_relation_rows, raw_tree_rows, reef_alone_rows, reef_alone_frame_rows,
     reef_alone_general_rows, reef_alone_command_rows, reef_alone_relation_rows, reef_alone_inspect_rows,
     reef_alone_net_rows, raw_index_rows, raw_place_rows, reef_alone_place_rows, raw_branch_rows, native_sql_rows}};
