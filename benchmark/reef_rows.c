/* reef's worlds, entities and checksums, as its rows share them. */
#include "reef_rows.h"
#include "kernels.h"
#include "mem.h"
#include <pthread.h>
#include <stdlib.h>

const contestant contestant_reef = {"reef", {reef_create_rows,  reef_change_rows, reef_general_rows, reef_command_rows,
                                             reef_event_rows,   reef_access_rows, reef_iter_rows,    reef_query_rows,
                                             reef_copy_rows,    reef_save_rows,   reef_home_rows,    reef_relation_rows,
                                             reef_tree_rows,    reef_frame_rows,  reef_game_rows,    reef_net_rows,
                                             reef_inspect_rows, reef_index_rows,  reef_place_rows,   reef_branch_rows,
                                             reef_sql_rows}};

void bench_fail(const reef_world *w, const char *what)
{
    char text[512] = "no memory";
    if (w) reef_error_text(w, text, sizeof text);
    fprintf(stderr, "\nreef-bench: %s: %s\n", what, text);
    exit(1);
}

/* ---- memory ---- */

/* mem.h aligns to 64 bytes from 256 bytes on, and to 4,096 from 4 KiB on, so a smaller block that needs a stricter
 * alignment gets that size. The size depends only on the arguments, so freeing computes the same size again. */
static size_t padded(size_t bytes, size_t align)
{
    size_t least = align <= 16 ? 0 : align <= 64 ? 256 : 4096;
    return bytes == 0 || bytes >= least ? bytes : least;
}

static void *resize(void *context, void *block, size_t old_bytes, size_t new_bytes, size_t align)
{
    (void)context;
    size_t from = padded(old_bytes, align), to = padded(new_bytes, align);
    if (new_bytes == 0) {
        mem_free(block, from);
        return NULL;
    }
    if (old_bytes == 0) return mem_alloc(to);
    return from == to ? block : mem_realloc(block, from, to);
}

reef_world *world_new(void)
{
    reef_world *w = reef_world_new(&(reef_world_config){.allocator = {resize, NULL}});
    if (!w) bench_fail(NULL, "reef_world_new");
    return w;
}

static void *resize_locked(void *context, void *block, size_t old_bytes, size_t new_bytes, size_t align)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    block = resize(context, block, old_bytes, new_bytes, align);
    pthread_mutex_unlock(&lock);
    return block;
}

reef_world *world_new_parallel(void)
{
    reef_world *w = reef_world_new(&(reef_world_config){.allocator = {resize_locked, NULL}});
    if (!w) bench_fail(NULL, "reef_world_new");
    return w;
}

/* ---- a row's state ---- */

state *state_new(const bench_row *r, bool handles)
{
    state *s = mem_calloc(1, sizeof *s);
    s->r = r;
    s->w = world_new();
    if (handles) {
        s->handle = mem_alloc(sizeof *s->handle * r->n);
        memset(s->handle, 1, sizeof *s->handle * r->n);
    }
    return s;
}

void state_free(void *p)
{
    state *s = p;
    reef_query_free(s->w, s->query);
    reef_bundle_free(s->bundle);
    reef_world_free(s->w);
    if (s->handle) mem_free(s->handle, sizeof *s->handle * s->r->n);
    mem_free_unsized(s);
}

reef_bundle *bundle_new(state *s, uint32_t count)
{
    const reef_bundle_part parts[] = {
        {reef_id(Position), offsetof(values, p)}, {reef_id(Velocity), offsetof(values, v)},
        {reef_id(C3), offsetof(values, c[0])},    {reef_id(C4), offsetof(values, c[1])},
        {reef_id(C5), offsetof(values, c[2])},    {reef_id(C6), offsetof(values, c[3])},
        {reef_id(C7), offsetof(values, c[4])},    {reef_id(C8), offsetof(values, c[5])},
    };
    reef_bundle *b = reef_bundle_new(s->w, parts, count);
    if (!b) bench_fail(s->w, "reef_bundle_new");
    return b;
}

reef_query query_new(state *s, const char *text)
{
    reef_query q = reef_query_new(s->w, text);
    if (reef_query_is_null(q)) bench_fail(s->w, text);
    return q;
}

reef_component tag_type(uint32_t number)
{
    char name[16];
    snprintf(name, sizeof name, "Part%u", number);
    reef_component c = reef_type_new(&(reef_type_desc){.name = name}, NULL);
    if (c.id == 0) bench_fail(NULL, name);
    return c;
}

uint32_t batch_spawn(state *s, uint32_t first, reef_entity *e, const reef_value *more, uint32_t count)
{
    Position p[SETUP_BATCH];
    Velocity v[SETUP_BATCH];
    const uint32_t n = s->r->n - first < SETUP_BATCH ? s->r->n - first : SETUP_BATCH;
    reef_value all[8] = {reef_array(Position, p), reef_array(Velocity, v)};
    for (uint32_t i = 0; i < n; i++) {
        p[i] = pos_of(first + i);
        v[i] = vel_of(first + i);
    }
    for (uint32_t i = 0; i < count; i++) all[2 + i] = more[i];
    if (reef_spawn_many_values(s->w, n, e, all, 2 + count)) bench_fail(s->w, "reef_spawn_many");
    return n;
}

state *state_pv(const bench_row *r, bool handles)
{
    state *s = state_new(r, handles);
    for (uint32_t i = 0; i < r->n; i += SETUP_BATCH) batch_spawn(s, i, handles ? s->handle + i : NULL, NULL, 0);
    s->query = query_new(s, "Position, in Velocity");
    return s;
}

void shuffle_handles(state *s) { bench_shuffle(s->handle, s->r->n, sizeof *s->handle); }

/* ---- checksums ---- */

uint64_t sum_by_handle(const state *s)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < s->r->n; i++) {
        const Position *p = reef_get(s->w, s->handle[i], Position);
        if (!p) return UINT64_MAX;
        sum += pos_sum(*p, i);
    }
    return sum;
}

uint64_t sum_rows(void *p)
{
    state *s = p;
    uint64_t sum = 0;
    reef_query q = query_new(s, "in Position");
    for (reef_block b = reef_begin(s->w, q); reef_next(&b);) sum += k_sum(reef_in(&b, Position), b.count);
    reef_query_free(s->w, q);
    return sum;
}

uint64_t sum_run(void *p) { return ((state *)p)->sum; }
