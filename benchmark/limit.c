/* What is physically possible on this machine. This is the smallest structure that still has what reef needs for these
 * rows: handles with generations, which are checked in each call; records in pages and columns in blocks of 1,024 rows,
 * so that both can be shared copy on write; a write stamp for each block and column; an array for each component from
 * chunk to block; recycled ids. It has one table, no edges and no errors, so a figure here is a bound for a full ECS,
 * not a prediction. `reef-bench --limit` measures it instead of reef.
 *
 *   handle {index, generation} -> page[index >> 12][index & 4095] = record {place, generation}           8 bytes
 *   place {chunk number, row in chunk} -> block[component][chunk number], stamp[component][chunk number]
 *   chunk {column pointers}: for what goes over rows, and for rows that end
 *   columns, ids and records each in an arena of their own (2 MiB pieces), so blocks of a column lie side by side */
#include "kernels.h"
#include "mem.h"
#include "rows.h"

typedef uint64_t ent;
typedef struct record {
    uint32_t place, gen;
} record;
typedef struct chunk {
    char *col[3];
} chunk; /* col[0]: handles */
typedef struct arena {
    char *piece[512];
    uint32_t n;
    size_t left;
} arena;
enum { ROWS_LOG = 10, ROWS = 1 << ROWS_LOG, PAGE = 4096, PIECE = 2 << 20, PAGES_MAX = 4096, CHUNKS_MAX = 16384 };

typedef struct world {
    const bench_row *r;
    record *page[PAGES_MAX];
    chunk *chunks;
    char **block[3];    /* by column, then by chunk: the column's block, NULL: the chunk's table hasn't got it */
    uint32_t *stamp[3]; /* of its last write */
    uint32_t n_ids, room_ids, count, nchunk, now;
    uint32_t *free_id, n_free;
    arena records, cols[3];
    ent *handle;
    uint64_t sum;
} world;

#define INL static inline __attribute__((always_inline))
#define unlikely(x) __builtin_expect(!!(x), 0)

static char *arena_take(arena *a, size_t bytes)
{
    if (a->left < bytes) {
        a->piece[a->n++] = mem_alloc(PIECE);
        a->left = PIECE;
    }
    char *p = a->piece[a->n - 1] + (PIECE - a->left);
    a->left -= bytes;
    return p;
}
static void arena_free(arena *a)
{
    for (uint32_t i = 0; i < a->n; i++) mem_free(a->piece[i], PIECE);
}

static __attribute__((noinline)) void grow_ids(world *w)
{
    w->page[w->room_ids / PAGE] = (record *)(void *)arena_take(&w->records, PAGE * sizeof(record));
    w->room_ids += PAGE;
}
static __attribute__((noinline)) void grow_rows(world *w)
{
    chunk *c = &w->chunks[w->nchunk++];
    for (int k = 0; k < 3; k++) {
        w->block[k][c - w->chunks] = c->col[k] = arena_take(&w->cols[k], 8 * ROWS);
        w->stamp[k][c - w->chunks] = w->now;
    }
}
INL record *find(world *w, ent e)
{
    uint32_t i = (uint32_t)e;
    if (unlikely(i >= w->n_ids)) return NULL;
    record *r = &w->page[i >> 12][i & (PAGE - 1)];
    return unlikely(r->gen != e >> 32) ? NULL : r;
}
static __attribute__((noinline)) ent create_0(world *w)
{
    uint32_t i = w->n_ids;
    if (unlikely(i == w->room_ids)) grow_ids(w);
    w->n_ids++;
    w->page[i >> 12][i & (PAGE - 1)] = (record){~0u, 1};
    return 1ull << 32 | i;
}
static __attribute__((noinline)) ent create_2(world *w, Position p, Velocity v)
{
    uint32_t i = w->n_ids, at = w->count;
    if (unlikely(i == w->room_ids)) grow_ids(w);
    if (unlikely(at == w->nchunk << ROWS_LOG)) grow_rows(w);
    w->n_ids++, w->count++;
    w->page[i >> 12][i & (PAGE - 1)] = (record){at, 1};
    chunk *c = &w->chunks[at >> ROWS_LOG];
    uint32_t k = at & (ROWS - 1);
    ((Position *)(void *)c->col[1])[k] = p;
    ((Velocity *)(void *)c->col[2])[k] = v;
    return ((ent *)(void *)c->col[0])[k] = 1ull << 32 | i;
}
INL char *get(world *w, ent e, uint32_t component, int write)
{
    if (unlikely((uint32_t)e >= w->n_ids)) return NULL;
    uint64_t r = ((uint64_t *)w->page[(uint32_t)e >> 12])[e & (PAGE - 1)]; /* {generation, place}: one load */
    if (unlikely((r ^ e) >> 32)) return NULL;
    uint32_t place = (uint32_t)r, at = place >> ROWS_LOG, k = component + 1;
    char *block = w->block[k][at];
    if (unlikely(!block)) return NULL;
    if (write && unlikely(w->stamp[k][at] != w->now)) w->stamp[k][at] = w->now;
    return block + (size_t)(place & (ROWS - 1)) * 8;
}
static __attribute__((noinline)) int destroy(world *w, ent e)
{
    record *r = find(w, e);
    if (unlikely(!r)) return 0;
    uint32_t at = r->place, last = w->count - 1;
    chunk *c = &w->chunks[at >> ROWS_LOG], *l = &w->chunks[last >> ROWS_LOG];
    if (unlikely(w->stamp[0][at >> ROWS_LOG] != w->now)) return 0; /* the cold path would unshare */
    w->count = last;
    uint32_t k = at & (ROWS - 1), j = last & (ROWS - 1);
    for (int x = 1; x < 3; x++) memcpy(c->col[x] + 8 * k, l->col[x] + 8 * j, 8);
    ent moved = ((ent *)(void *)l->col[0])[j];
    ((ent *)(void *)c->col[0])[k] = moved;
    w->page[(uint32_t)moved >> 12][moved & (PAGE - 1)].place = at;
    r->gen++, r->place = ~0u;
    w->free_id[w->n_free++ & ((1u << 20) - 1)] = (uint32_t)e;
    return 1;
}

static void *setup_empty(const bench_row *r)
{
    world *w = mem_calloc(1, sizeof *w);
    w->r = r;
    w->now = 1;
    w->chunks = mem_alloc(sizeof(chunk) * CHUNKS_MAX);
    for (int k = 0; k < 3; k++) {
        w->block[k] = mem_alloc(sizeof(char *) * CHUNKS_MAX);
        w->stamp[k] = mem_alloc(sizeof(uint32_t) * CHUNKS_MAX);
    }
    if (r->id != ROW_iter_2_10m) {
        w->handle = mem_alloc(8ul * r->n);
        memset(w->handle, 1, 8ul * r->n);
    }
    if (r->id == ROW_destroy_2 || r->id == ROW_destroy_2_rand) w->free_id = mem_alloc(4ul << 20);
    return w;
}
static void *setup(const bench_row *r)
{
    world *w = setup_empty(r);
    for (uint32_t i = 0; i < r->n; i++) {
        ent e = create_2(w, pos_of(i), vel_of(i));
        if (w->handle) w->handle[i] = e;
    }
    if (w->handle && r->id != ROW_destroy_2) bench_shuffle(w->handle, r->n, 8);
    return w;
}
static void teardown(void *p)
{
    world *w = p;
    arena_free(&w->records);
    for (int k = 0; k < 3; k++) {
        arena_free(&w->cols[k]);
        mem_free(w->block[k], sizeof(char *) * CHUNKS_MAX);
        mem_free(w->stamp[k], sizeof(uint32_t) * CHUNKS_MAX);
    }
    mem_free(w->chunks, sizeof(chunk) * CHUNKS_MAX);
    if (w->handle) mem_free(w->handle, 8ul * w->r->n);
    if (w->free_id) mem_free(w->free_id, 4ul << 20);
    mem_free_unsized(w);
}
static uint64_t sum_run(void *p) { return ((world *)p)->sum; }
static uint64_t sum_handles(void *p)
{
    world *w = p;
    uint64_t s = w->count;
    for (uint32_t i = 0; i < w->r->n; i++) s += pos_sum(*(Position *)(void *)get(w, w->handle[i], 0, 0), i);
    return s;
}
static uint64_t create_2_sum(void *p)
{
    world *w = p;
    uint64_t s = sum_handles(p);
    for (uint32_t i = 0; i < w->r->n; i++) s += bits_of(((Velocity *)(void *)get(w, w->handle[i], 1, 0))->y);
    return s;
}
static uint64_t create_0_sum(void *p)
{
    world *w = p;
    uint64_t s = w->n_ids;
    for (uint32_t i = 0; i < w->r->n; i++) s += find(w, w->handle[i]) != NULL;
    return s;
}
static uint64_t destroy_sum(void *p)
{
    world *w = p;
    uint64_t s = w->count;
    for (uint32_t i = 0; i < w->r->n; i++) s += find(w, w->handle[i]) == NULL;
    return s;
}
static uint64_t sum_rows(void *p)
{
    world *w = p;
    uint64_t s = 0;
    for (uint32_t c = 0; c < w->nchunk; c++) {
        uint32_t n = w->count - (c << ROWS_LOG);
        s += k_sum((Position *)(void *)w->chunks[c].col[1], n < ROWS ? n : ROWS);
    }
    return s;
}

static void create_0_run(void *p)
{
    world *w = p;
    for (uint32_t i = 0, n = w->r->n; i < n; i++) w->handle[i] = create_0(w);
}
static void create_2_run(void *p)
{
    world *w = p;
    for (uint32_t i = 0, n = w->r->n; i < n; i++) w->handle[i] = create_2(w, (Position){1, 1}, (Velocity){1, 1});
}
static void mem_run(void *p)
{
    world *w = p;
    for (uint32_t i = 0, n = w->r->n; i < n; i++) create_2(w, pos_of(i), vel_of(i));
}
static void destroy_run(void *p)
{
    world *w = p;
    for (uint32_t i = 0, n = w->r->n; i < n; i++) destroy(w, w->handle[i]);
}
static void get_run(void *p)
{
    world *w = p;
    const ent *h = w->handle;
    uint64_t s = 0;
    for (uint32_t k = 0; k < w->r->passes; k++) {
        for (uint32_t i = 0, n = w->r->n; i < n; i++) {
            const Position *at = (const Position *)(void *)get(w, h[i], 0, 0);
            s += bits_of(at->x) + bits_of(at->y);
        }
        BENCH_BARRIER();
    }
    w->sum = s;
}
static void set_run(void *p)
{
    world *w = p;
    const ent *h = w->handle;
    w->now++;
    for (uint32_t i = 0, n = w->r->n; i < n; i++) *(Position *)(void *)get(w, h[i], 0, 1) = (Position){(float)i, 2};
}
static void iter_2_run(void *p)
{
    world *w = p;
    for (uint32_t k = 0; k < w->r->passes; k++) {
        w->now++;
        for (uint32_t c = 0; c < w->nchunk; c++) {
            chunk *x = &w->chunks[c];
            uint32_t n = w->count - (c << ROWS_LOG);
            w->stamp[1][c] = w->now;
            k_iter2((Position *)(void *)x->col[1], (const Velocity *)(void *)x->col[2], n < ROWS ? n : ROWS, bench_dt);
        }
    }
}

static const row_impl rows[] = {
    {ROW_create_0, setup_empty, create_0_run, create_0_sum, teardown, NULL},
    {ROW_create_2, setup_empty, create_2_run, create_2_sum, teardown, NULL},
    {ROW_destroy_2, setup, destroy_run, destroy_sum, teardown, NULL},
    {ROW_destroy_2_rand, setup, destroy_run, destroy_sum, teardown, NULL},
    {ROW_get_rand, setup, get_run, sum_run, teardown, NULL},
    {ROW_get_rand_small, setup, get_run, sum_run, teardown, NULL},
    {ROW_set_rand, setup, set_run, sum_handles, teardown, NULL},
    {ROW_iter_2_1k, setup, iter_2_run, sum_rows, teardown, NULL},
    {ROW_iter_2_10k, setup, iter_2_run, sum_rows, teardown, NULL},
    {ROW_iter_2_1m, setup, iter_2_run, sum_rows, teardown, NULL},
    {ROW_iter_2_10m, setup, iter_2_run, sum_rows, teardown, NULL},
    {ROW_mem_2, setup_empty, mem_run, sum_rows, teardown, NULL},
    {0},
};

const contestant contestant_limit = {"limit", {rows}};
