/* reef's rows that make and destroy entities and worlds, and those that count memory. */
#include "reef_rows.h"
#include "mem.h"

static const values ones = {
    {1, 1}, {1, 1}, {{{1, 1, 1, 1}}, {{1, 1, 1, 1}}, {{1, 1, 1, 1}}, {{1, 1, 1, 1}}, {{1, 1, 1, 1}}, {{1, 1, 1, 1}}}};

/* ---- create ---- */

static void *create_setup(const bench_row *r)
{
    state *s = state_new(r, true);
    s->bundle = bundle_new(s, r->id == ROW_create_8 ? 8 : 2);
    return s;
}
static void create_0_run(void *p)
{
    state *s = p;
    for (uint32_t i = 0, n = s->r->n; i < n; i++) s->handle[i] = reef_create(s->w);
}
static uint64_t create_0_sum(void *p)
{
    state *s = p;
    uint64_t sum = reef_count_alive(s->w);
    for (uint32_t i = 0; i < s->r->n; i++) sum += reef_is_alive(s->w, s->handle[i]);
    return sum;
}
static void create_run(void *p)
{
    state *s = p;
    for (uint32_t i = 0, n = s->r->n; i < n; i++) s->handle[i] = reef_spawn_bundle(s->w, s->bundle, &ones);
}
static void create_bulk_run(void *p)
{
    state *s = p;
    reef_spawn_many(s->w, s->r->n, s->handle, reef_with(Position, 1, 1), reef_with(Velocity, 1, 1));
}
static uint64_t create_2_sum(void *p)
{
    state *s = p;
    uint64_t sum = sum_by_handle(s) + reef_count(s->w, Position);
    for (uint32_t i = 0; i < s->r->n; i++) sum += bits_of(reef_get(s->w, s->handle[i], Velocity)->y);
    return sum;
}
static uint64_t create_8_sum(void *p)
{
    state *s = p;
    const reef_component c[] = {reef_id(C3), reef_id(C4), reef_id(C5), reef_id(C6), reef_id(C7), reef_id(C8)};
    uint64_t sum = create_2_sum(s);
    for (uint32_t i = 0; i < s->r->n; i++)
        for (int k = 0; k < 6; k++)
            sum += bits_of(((const Vec4 *)reef_get_id(s->w, s->handle[i], c[k]))->v[3]) * (i + 1);
    return sum;
}

/* ---- copies of a template ---- */

static void *prefab_setup(const bench_row *r)
{
    state *s = state_new(r, true);
    s->handle[0] = reef_spawn(s->w, reef_with(Position, 1, 1), reef_with(Velocity, 1, 1), reef_with(C3, {1, 1, 1, 1}),
                              reef_with(C4, {1, 1, 1, 1}));
    for (int i = 0; i < 5; i++) reef_relate(s->w, reef_clone(s->w, s->handle[0]), ChildOf, s->handle[0]);
    reef_make_prefab(s->w, s->handle[0]);
    return s;
}
static void prefab_run(void *p)
{
    state *s = p;
    reef_instantiate(s->w, s->handle[0], s->r->n / 6, s->handle);
}
static void prefab_one_run(void *p)
{
    state *s = p;
    const reef_entity prefab = s->handle[0];
    for (uint32_t i = 0, n = s->r->n / 6; i < n; i++) reef_instantiate(s->w, prefab, 1, &s->handle[i]);
}
/* Lists all copies, each behind its root. Its sum is wrong if they aren't whole. */
static uint64_t prefab_sum(void *p)
{
    state *s = p;
    const uint32_t n = s->r->n / 6;
    for (uint32_t i = n; i-- > 0;) {
        const reef_entity root = s->handle[i];
        uint32_t k = 1;
        if (reef_source_count(s->w, root, ChildOf) != 5 || !reef_has(s->w, root, InstanceOf)) return 0;
        for (reef_sources x = reef_sources_of(s->w, root, ChildOf); reef_sources_next(&x);)
            for (uint32_t j = 0; j < x.count; j++) {
                if (reef_get(s->w, x.sources[j], C4)->v[3] != 1) return 0;
                s->handle[i * 6 + k++] = x.sources[j];
            }
        s->handle[i * 6] = root;
    }
    return create_2_sum(s) - 6; /* the template has Positions, too */
}

/* ---- destroy ---- */

static void *destroy_setup(const bench_row *r)
{
    state *s = state_pv(r, true);
    if (r->id == ROW_destroy_2_rand) shuffle_handles(s);
    return s;
}
static void destroy_run(void *p)
{
    state *s = p;
    for (uint32_t i = 0, n = s->r->n; i < n; i++) reef_destroy(s->w, s->handle[i]);
}
static uint64_t destroy_sum(void *p)
{
    state *s = p;
    uint64_t sum = reef_count(s->w, Position) + reef_count_alive(s->w);
    for (uint32_t i = 0; i < s->r->n; i++) sum += !reef_is_alive(s->w, s->handle[i]);
    return sum;
}

/* ---- worlds and memory ---- */

static void *world_setup(const bench_row *r) { return state_new(r, false); }
static void world_run(void *p)
{
    state *s = p;
    for (uint32_t k = 0; k < s->r->passes; k++) reef_world_free(world_new());
}
static uint64_t world_sum(void *p)
{
    (void)p;
    return 0;
}

static void *mem_2_setup(const bench_row *r)
{
    state *s = state_new(r, false);
    s->bundle = bundle_new(s, 2);
    return s;
}
static void mem_2_run(void *p)
{
    state *s = p;
    for (uint32_t i = 0, n = s->r->n; i < n; i++) {
        values v = {.p = pos_of(i), .v = vel_of(i)};
        reef_spawn_bundle(s->w, s->bundle, &v);
    }
}

/* An entity whose tags are the bits of `set`. */
static void spawn_tagged(state *s, uint32_t set, uint32_t i)
{
    Position p = pos_of(i);
    Velocity v = vel_of(i);
    reef_value parts[2 + SET_TAGS] = {reef_value_make(reef_id(Position), REEF_VALUE_ONE, sizeof p, &p),
                                      reef_value_make(reef_id(Velocity), REEF_VALUE_ONE, sizeof v, &v)};
    uint32_t n = 2;
    for (uint32_t t = 0; t < SET_TAGS; t++)
        if (set >> t & 1) parts[n++] = reef_value_make(tag_type(t), REEF_VALUE_DEFAULT, 0, NULL);
    if (reef_entity_is_null(reef_spawn_values(s->w, parts, n))) bench_fail(s->w, "reef_spawn_values");
}
/* Every type was used before the run, so the run counts only the memory of further tables. */
static void *mem_table_setup(const bench_row *r)
{
    state *s = state_new(r, false);
    for (uint32_t t = 0; t < SET_TAGS; t++) s->part[t] = tag_type(t);
    spawn_tagged(s, (1u << SET_TAGS) - 1, 0);
    return s;
}
static void mem_table_run(void *p)
{
    state *s = p;
    for (uint32_t i = 0, n = s->r->n; i < n; i++) spawn_tagged(s, i + 1, i);
}
/* The same without data. */
static void arch_run(void *p)
{
    state *s = p;
    reef_value parts[SET_TAGS];
    for (uint32_t i = 0; i < s->r->n; i++) {
        uint32_t n = 0;
        for (uint32_t t = 0; t < SET_TAGS; t++)
            if ((i + 1) >> t & 1) parts[n++] = reef_value_make(s->part[t], REEF_VALUE_DEFAULT, 0, NULL);
        if (reef_entity_is_null(reef_spawn_values(s->w, parts, n))) bench_fail(s->w, "reef_spawn_values");
    }
}

/* All Positions, and the number of tables. */
static uint64_t mem_table_sum(void *p)
{
    state *s = p;
    return sum_rows(p) + reef_world_stats(s->w).tables;
}
static uint64_t mem_table_expected(const bench_row *r)
{
    uint64_t sum = pos_sum(pos_of(0), 0) + r->n + 1;
    for (uint32_t i = 0; i < r->n; i++) sum += pos_sum(pos_of(i), 0);
    return sum;
}

static uint64_t arch_sum(void *p)
{
    state *s = p;
    return reef_world_stats(s->w).tables + reef_count_alive(s->w);
}
static uint64_t arch_expected(const bench_row *r) { return 2 * ((uint64_t)r->n + 1); }

const row_impl reef_create_rows[] = {
    {ROW_create_0, create_setup, create_0_run, create_0_sum, state_free, NULL},
    {ROW_create_2, create_setup, create_run, create_2_sum, state_free, NULL},
    {ROW_create_2_bulk, create_setup, create_bulk_run, create_2_sum, state_free, NULL},
    {ROW_create_8, create_setup, create_run, create_8_sum, state_free, NULL},
    {ROW_prefab_1k, prefab_setup, prefab_run, prefab_sum, state_free, NULL},
    {ROW_prefab_one, prefab_setup, prefab_one_run, prefab_sum, state_free, NULL},
    {ROW_destroy_2, destroy_setup, destroy_run, destroy_sum, state_free, NULL},
    {ROW_destroy_2_rand, destroy_setup, destroy_run, destroy_sum, state_free, NULL},
    {ROW_world_new, world_setup, world_run, world_sum, state_free, NULL},
    {ROW_mem_2, mem_2_setup, mem_2_run, sum_rows, state_free, NULL},
    {ROW_arch_10k, mem_table_setup, arch_run, arch_sum, state_free, arch_expected},
    {ROW_arch_10k_mem, mem_table_setup, arch_run, arch_sum, state_free, arch_expected},
    {ROW_mem_table, mem_table_setup, mem_table_run, mem_table_sum, state_free, mem_table_expected},
    {0},
};
