/* reef's rows of files: 1,000,000 entities with Position, Velocity and Data, which are 56 bytes. */
#include "reef_rows.h"
#include "mem.h"
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct saves {
    state *s;
    reef_world *loaded;
    bool synced;
    char path[64];
} saves;

typedef struct save_values {
    Position p;
    Velocity v;
    Data d;
} save_values;

/* Files describe their types, so these have fields here. */
static void fields_give(const reef_world *w)
{
    const reef_field position[] = {REEF_FIELDS_OF(Position, (x, "m"), (y, "m"))};
    const reef_field velocity[] = {REEF_FIELDS_OF(Velocity, (x, "m/s"), (y, "m/s"))};
    const reef_field data[] = {REEF_FIELDS_OF(Data, a, b, c, d)};
    if (reef_type_describe(reef_id(Position), position, 2) != REEF_OK ||
        reef_type_describe(reef_id(Velocity), velocity, 2) != REEF_OK ||
        reef_type_describe(reef_id(Data), data, 4) != REEF_OK)
        bench_fail(w, "reef_type_describe");
}

static void save_run(void *p)
{
    saves *x = p;
    if (reef_save(x->s->w, x->path, &(reef_save_desc){.unsynced = !x->synced}) != REEF_OK)
        bench_fail(x->s->w, "reef_save");
}

/* The file is there already: saving replaces it. */
static void *save_setup(const bench_row *r)
{
    struct stat folder;
    saves *x = mem_calloc(1, sizeof *x);
    x->synced = r->id == ROW_save_synced;
    const bool memory = !x->synced && stat("/dev/shm", &folder) == 0;
    (void)snprintf(x->path, sizeof x->path, "%sreef-bench-%ld.reef", memory ? "/dev/shm/" : "", (long)getpid());
    x->s = state_new(r, true);
    const reef_bundle_part parts[] = {{reef_id(Position), offsetof(save_values, p)},
                                      {reef_id(Velocity), offsetof(save_values, v)},
                                      {reef_id(Data), offsetof(save_values, d)}};
    fields_give(x->s->w);
    x->s->bundle = reef_bundle_new(x->s->w, parts, 3);
    if (!x->s->bundle) bench_fail(x->s->w, "reef_bundle_new");
    for (uint32_t i = 0; i < r->n; i++) {
        save_values v = {pos_of(i), vel_of(i), {i, 1, 2, 3}};
        x->s->handle[i] = reef_spawn_bundle(x->s->w, x->s->bundle, &v);
    }
    save_run(x);
    return x;
}

static void load_run(void *p)
{
    saves *x = p;
    if (reef_load(x->loaded, x->path, NULL) != REEF_OK) bench_fail(x->loaded, "reef_load");
}
static void *load_setup(const bench_row *r)
{
    saves *x = save_setup(r);
    x->loaded = world_new();
    return x;
}

/* What was written is read into another world: the same state. */
static uint64_t save_sum(void *p)
{
    saves *x = p;
    if (!x->loaded) {
        x->loaded = world_new();
        load_run(x);
    }
    const bool same = reef_hash(x->loaded) == reef_hash(x->s->w) && reef_equal(x->loaded, x->s->w, NULL);
    return same ? sum_by_handle(x->s) : UINT64_MAX;
}
static uint64_t save_expected(const bench_row *r)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < r->n; i++) sum += pos_sum(pos_of(i), i);
    return sum;
}

static void save_free(void *p)
{
    saves *x = p;
    (void)remove(x->path);
    reef_world_free(x->loaded);
    state_free(x->s);
    mem_free_unsized(x);
}

const row_impl reef_save_rows[] = {
    {ROW_save, save_setup, save_run, save_sum, save_free, save_expected},
    {ROW_save_synced, save_setup, save_run, save_sum, save_free, save_expected},
    {ROW_load, load_setup, load_run, save_sum, save_free, save_expected},
    {0},
};
