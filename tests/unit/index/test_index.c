/* Value indexes: random worlds with rewinds and forks beside a search through all entities; what is refused; memory. */
#include "support.h"
#include <math.h>

enum { ENTITIES = 120, KINDS = 8, ROUNDS = 200 };

typedef struct {
    int32_t id;
} Team;
REEF_COMPONENT(Team);
REEF_FIELDS(Team, id);

typedef struct value_kind {
    const char *name;
    reef_kind kind;
    reef_home home;
    reef_component type;
} value_kind;

static value_kind kinds[KINDS] = {
    {.name = "i32", .kind = REEF_I32},
    {.name = "f32", .kind = REEF_F32},
    {.name = "u64", .kind = REEF_U64},
    {.name = "f64_sparse", .kind = REEF_F64, .home = REEF_SPARSE},
    {.name = "i8_paged", .kind = REEF_I8, .home = REEF_PAGED},
    {.name = "u16_cold", .kind = REEF_U16, .home = REEF_COLD},
    {.name = "i64_split", .kind = REEF_I64, .home = REEF_SPLIT},
    {.name = "f32_split", .kind = REEF_F32, .home = REEF_SPLIT},
};

static uint32_t bytes_of(reef_kind kind)
{
    return kind == REEF_I8 ? 1 : kind == REEF_U16 ? 2 : kind == REEF_I32 || kind == REEF_F32 ? 4 : 8;
}

static void kinds_make(void)
{
    static char names[KINDS][32];
    for (uint32_t i = 0; i < KINDS; i++) {
        value_kind *k = &kinds[i];
        const uint32_t bytes = bytes_of(k->kind);
        const reef_field f[] = {{.name = "other", .kind = k->kind, .bytes = bytes},
                                {.name = "id", .kind = k->kind, .offset = bytes, .bytes = bytes}};
        reef_status s;
        snprintf(names[i], sizeof names[i], "indexed_%s", k->name);
        k->type = reef_type_new(
            &(reef_type_desc){.name = names[i], .size = 2 * bytes, .home = k->home, .fields = f, .field_count = 2}, &s);
        assert_int_equal(s, REEF_OK);
    }
}

/* A value as the number that the model keeps, its bytes, and its key. */
static double drawn(const value_kind *k, uint64_t *seed)
{
    static const double odd[] = {-0.0, NAN, INFINITY, -INFINITY};
    if ((k->kind == REEF_F32 || k->kind == REEF_F64) && random_below(seed, 12) == 0) return odd[random_below(seed, 4)];
    const double x = (double)random_below(seed, random_below(seed, 2) ? 6 : 100);
    return k->kind == REEF_U16 || k->kind == REEF_U64 ? x : x - 20;
}

static void put(const value_kind *k, double x, char *to)
{
    const uint32_t bytes = bytes_of(k->kind);
    memset(to, 0, 16);
    for (uint32_t i = 0; i < 2; i++) {
        char *at = to + i * bytes;
        const float f = (float)x;
        const int64_t n = isfinite(x) ? (int64_t)x : 0;
        const int32_t n32 = (int32_t)n;
        const uint16_t n16 = (uint16_t)n;
        const int8_t n8 = (int8_t)n;
        if (k->kind == REEF_F32) memcpy(at, &f, 4);
        else if (k->kind == REEF_F64) memcpy(at, &x, 8);
        else if (k->kind == REEF_I32) memcpy(at, &n32, 4);
        else if (k->kind == REEF_U16) memcpy(at, &n16, 2);
        else if (k->kind == REEF_I8) memcpy(at, &n8, 1);
        else memcpy(at, &n, 8);
    }
}

static uint64_t key_of(const value_kind *k, double x)
{
    switch (k->kind) {
    case REEF_F32: return reef_key_f32((float)x);
    case REEF_F64: return reef_key_f64(x);
    case REEF_I64: return reef_key_i64((int64_t)x);
    case REEF_I32:
    case REEF_I8: return reef_key_i32((int32_t)x);
    default: return (uint64_t)x;
    }
}

typedef struct model {
    struct {
        reef_entity e;
        bool alive, has, disabled, off;
        double x;
    } of[ENTITIES];
} model;

static void operate(reef_world *w, const value_kind *k, model *m, uint64_t *seed)
{
    const uint32_t i = random_below(seed, ENTITIES), what = random_below(seed, 10);
    char value[16];
    if (!m->of[i].alive) {
        memset(&m->of[i], 0, sizeof m->of[i]);
        m->of[i].e = reef_create(w);
        m->of[i].alive = true;
    }
    if (what < 6) {
        m->of[i].x = drawn(k, seed);
        put(k, m->of[i].x, value);
        assert_true(reef_set_id(w, m->of[i].e, k->type, value, 2 * bytes_of(k->kind)) >= 0);
        m->of[i].has = true;
    } else if (what < 7) {
        assert_ok(reef_destroy(w, m->of[i].e));
        m->of[i].alive = false;
    } else if (what < 8 && m->of[i].has) {
        assert_ok(reef_remove_id(w, m->of[i].e, k->type));
        m->of[i].has = m->of[i].off = false;
    } else if (what < 9) {
        m->of[i].disabled = !m->of[i].disabled;
        assert_true(reef_enable_id(w, m->of[i].e, (reef_component){0}, !m->of[i].disabled) >= 0);
    } else if (m->of[i].has) {
        m->of[i].off = !m->of[i].off;
        assert_true(reef_enable_id(w, m->of[i].e, k->type, !m->of[i].off) >= 0);
    }
}

static const model *compared;
static int by_value(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    const double p = compared->of[x].x, q = compared->of[y].x;
    if (p != q) return p < q ? -1 : 1;
    return compared->of[x].e.index < compared->of[y].e.index ? -1 : 1;
}

static void compare(reef_world *w, const value_kind *k, const model *m, uint64_t *seed)
{
    const reef_index *x = reef_index_of_id(w, k->type, "id");
    const double from = drawn(k, seed), other = random_below(seed, 2) ? from : drawn(k, seed);
    const double to = isnan(other) ? from : other; /* a range up to a NaN is one without an end */
    const bool all = random_below(seed, 8) == 0;
    uint32_t wanted[ENTITIES], n = 0;
    reef_entity got[ENTITIES];
    assert_non_null(x);
    for (uint32_t i = 0; i < ENTITIES; i++) {
        if (!m->of[i].alive || !m->of[i].has || m->of[i].disabled || m->of[i].off) continue;
        if (all ? !isnan(m->of[i].x) : m->of[i].x >= from && m->of[i].x <= to) wanted[n++] = i;
    }
    compared = m;
    qsort(wanted, n, sizeof *wanted, by_value);
    const uint64_t low = all ? 0 : isnan(from) ? UINT64_MAX : key_of(k, from);
    const uint64_t high = all ? UINT64_MAX : key_of(k, to);
    const uint32_t skip = random_below(seed, 3) ? 0 : random_below(seed, 5);
    const uint32_t room = random_below(seed, 3) ? ENTITIES : random_below(seed, 5);
    assert_int_equal(reef_index_range(x, low, high, skip, got, room), n);
    for (uint32_t i = 0; i < room && i + skip < n; i++) assert_entity(m->of[wanted[i + skip]].e, got[i]);
    assert_int_equal(reef_index_range(x, low, high, 0, NULL, 0), n);
    const reef_entity none = {0, 0};
    assert_entity(n ? m->of[wanted[0]].e : none, reef_index_first(x, low, high));
    assert_entity(n ? m->of[wanted[n - 1]].e : none, reef_index_last(x, low, high));
    if (low == high) assert_int_equal(reef_index_get(x, low, got, ENTITIES), n);
    const uint64_t keys[] = {low, high, low};
    uint32_t counts[3], some = 0;
    reef_entity first[3];
    const uint32_t answered = reef_index_get_many(x, keys, 3, first, counts);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(counts[i], reef_index_get(x, keys[i], NULL, 0));
        assert_entity(reef_index_first(x, keys[i], keys[i]), first[i]);
        some += counts[i] != 0;
    }
    assert_int_equal(answered, some);
}

static void round_of(void **state, const value_kind *k, uint64_t seed)
{
    static model m, kept;
    reef_world *w = another_world(state, NULL), *left = NULL;
    reef_snapshot *s = NULL;
    memset(&m, 0, sizeof m);
    for (uint32_t step = 0; step < 60; step++) {
        for (uint32_t i = random_below(&seed, 12); i-- > 0;) operate(w, k, &m, &seed);
        if (random_below(&seed, 8) == 0) {
            reef_snapshot_free(s);
            s = reef_snapshot_take(w);
            kept = m;
        } else if (s && random_below(&seed, 8) == 0) {
            assert_ok(reef_restore(w, s));
            m = kept;
        } else if (left == NULL && random_below(&seed, 20) == 0) {
            left = w;
            w = reef_fork(w);
        }
        if (random_below(&seed, 3)) compare(w, k, &m, &seed);
    }
    reef_snapshot_free(s);
    if (left) reef_world_free(w);
    end_world(state, left ? left : w);
}

static void values_are_found_as_by_a_search(void **state)
{
    kinds_make();
    for (uint32_t round = 0; round < ROUNDS; round++) round_of(state, &kinds[round % KINDS], round);
}

static reef_entity member(reef_world *w, int32_t id) { return reef_spawn(w, reef_with(Team, id)); }

static void by_the_names_of_c(void **state)
{
    reef_world *w = world_of(state);
    reef_entity to[4];
    member(w, 7);
    const reef_entity b = member(w, 5), c = member(w, 5);
    const reef_index *teams = reef_index_of(w, Team, id);
    assert_int_equal(reef_index_get(teams, reef_key_i32(5), to, 4), 2);
    assert_entity(b, to[0]);
    assert_entity(c, to[1]);
    assert_int_equal(reef_index_get(teams, reef_key_i32(6), to, 4), 0);
    assert_int_equal(reef_index_get(reef_index_of_id(w, reef_id(Team), NULL), reef_key_i32(7), to, 4), 1);
    const uint64_t calls = heap_of(state)->calls;
    assert_ptr_equal(reef_index_of(w, Team, id), teams);
    assert_int_equal(heap_of(state)->calls, calls); /* nothing changed */
    assert_ok(reef_destroy(w, b));
    assert_int_equal(reef_index_get(teams, reef_key_i32(5), to, 4), 2); /* as of when it was taken */
    teams = reef_index_of(w, Team, id);
    assert_int_equal(reef_index_get(teams, reef_key_i32(5), to, 4), 1);
    reef_set(w, c, Team, 9);
    assert_int_equal(reef_index_get(reef_index_of(w, Team, id), reef_key_i32(9), to, 4), 1);
    assert_int_equal(reef_index_range(NULL, 0, UINT64_MAX, 0, to, 4), 0);
    assert_int_equal(reef_index_get_many(NULL, &(const uint64_t){5}, 1, to, NULL), 0);
    assert_none(reef_index_first(NULL, 0, UINT64_MAX));
    assert_none(reef_index_last(NULL, 0, UINT64_MAX));
}

static void many_values(void **state)
{
    reef_world *w = world_of(state);
    reef_entity to[2], e[5000];
    uint64_t seed = 9;
    for (uint32_t i = 0; i < 5000; i++) e[i] = member(w, (int32_t)i * 100000 - 20000000);
    for (uint32_t round = 0; round < 3; round++) {
        const reef_index *teams = reef_index_of(w, Team, id);
        for (uint32_t i = 0; i < 5000; i++) {
            assert_int_equal(reef_index_get(teams, reef_key_i32(reef_get(w, e[i], Team)->id), to, 2), 1);
            assert_entity(e[i], to[0]);
            assert_int_equal(reef_index_get(teams, reef_key_i32(reef_get(w, e[i], Team)->id + 1), to, 2), 0);
        }
        assert_int_equal(reef_index_range(teams, 0, UINT64_MAX, 0, NULL, 0), 5000);
        for (uint32_t i = 0; i < 100; i++) { /* and one that is far away */
            const uint32_t k = random_below(&seed, 5000);
            reef_set(w, e[k], Team, i ? reef_get(w, e[k], Team)->id + 3 : INT32_MAX - 1 - (int32_t)round * 10);
        }
    }
}

/* ---- many rows that come and go, in lists of many leaves ---- */

enum { CROWD = 3000, CROWD_ROUNDS = 60 };
typedef struct crowd {
    struct {
        int32_t id;
        reef_entity e;
    } of[CROWD];
    uint32_t count;
} crowd;

static int by_id(const void *a, const void *b)
{
    const int32_t *x = a, *y = b;
    const reef_entity *e = (const reef_entity *)(const void *)(x + 1), *f = (const reef_entity *)(const void *)(y + 1);
    if (*x != *y) return *x < *y ? -1 : 1;
    return e->index < f->index ? -1 : 1;
}

static void crowd_compare(reef_world *w, crowd *c, uint64_t *seed)
{
    static reef_entity got[CROWD];
    const reef_index *teams = reef_index_of(w, Team, id);
    qsort(c->of, c->count, sizeof *c->of, by_id);
    assert_non_null(teams);
    assert_int_equal(reef_index_range(teams, 0, UINT64_MAX, 0, got, CROWD), c->count);
    for (uint32_t i = 0; i < c->count; i++) assert_entity(c->of[i].e, got[i]);
    for (uint32_t k = 0; k < 20 && c->count; k++) {
        uint32_t a = random_below(seed, c->count), b = random_below(seed, c->count);
        const uint64_t low = reef_key_i32(c->of[a < b ? a : b].id), high = reef_key_i32(c->of[a < b ? b : a].id);
        for (a = a < b ? a : b; a > 0 && reef_key_i32(c->of[a - 1].id) == low;) a--;
        for (b = a; b < c->count && reef_key_i32(c->of[b].id) <= high;) b++;
        const uint32_t skip = random_below(seed, 100), room = random_below(seed, 100);
        assert_int_equal(reef_index_range(teams, low, high, skip, got, room), b - a);
        for (uint32_t i = 0; i < room && a + skip + i < b; i++) assert_entity(c->of[a + skip + i].e, got[i]);
        assert_entity(c->of[a].e, reef_index_first(teams, low, high));
        assert_entity(c->of[b - 1].e, reef_index_last(teams, low, high));
    }
}

/* Values of a round: all over, in their order, the same for all, few, in a heap with some far away. */
static int32_t crowd_value(uint64_t *seed, uint32_t kind, int32_t *next)
{
    switch (kind) {
    case 0: return (int32_t)(random_below(seed, 1u << 31) - (1u << 30)) * 2;
    case 1: return *next += (int32_t)random_below(seed, 3);
    case 2: return 7;
    case 3: return (int32_t)random_below(seed, 5);
    default: return random_below(seed, 100) ? (int32_t)random_below(seed, 3000) : INT32_MAX - (int32_t)*seed % 100;
    }
}

static void crowd_change(reef_world *w, crowd *c, uint64_t *seed, uint32_t kind, int32_t *next)
{
    const uint32_t what = random_below(seed, 4), count = random_below(seed, 900);
    const uint32_t from = c->count ? random_below(seed, c->count) : 0; /* of rows that follow one another */
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t k = c->count == 0 ? 0 : what == 1 ? random_below(seed, c->count) : (from + i) % c->count;
        const int32_t value = crowd_value(seed, kind, next);
        if (what == 0 && c->count < CROWD) {
            c->of[c->count].id = value;
            c->of[c->count++].e = member(w, value);
        } else if (what < 3 && c->count) {
            reef_set(w, c->of[k].e, Team, value);
            c->of[k].id = value;
        } else if (c->count) {
            assert_ok(reef_destroy(w, c->of[k].e));
            c->of[k] = c->of[--c->count];
        }
    }
}

static void crowds(void **state)
{
    static crowd c, other;
    for (uint32_t kind = 0; kind < 5; kind++) {
        reef_world *w = another_world(state, NULL), *fork = NULL;
        uint64_t seed = kind;
        int32_t next = 0;
        c.count = 0;
        for (uint32_t round = 0; round < CROWD_ROUNDS; round++) {
            crowd_change(w, &c, &seed, kind, &next);
            if (round < 5) crowd_change(w, &c, &seed, kind, &next);
            crowd_compare(w, &c, &seed);
            if (fork) crowd_compare(fork, &other, &seed);
            if (fork && random_below(&seed, 2)) crowd_change(fork, &other, &seed, kind, &next);
            if (random_below(&seed, 10)) continue;
            if (fork) reef_world_free(fork);
            fork = reef_fork(w);
            other = c;
        }
        while (c.count > 20) { /* nearly all of them go, from one end, so that leaves become empty */
            for (uint32_t k = 0; k < 400 && c.count > 20; k++) assert_ok(reef_destroy(w, c.of[--c.count].e));
            crowd_compare(w, &c, &seed);
        }
        for (uint32_t round = 0; round < 5; round++) {
            crowd_change(w, &c, &seed, kind, &next);
            crowd_compare(w, &c, &seed);
        }
        if (fork) reef_world_free(fork);
        end_world(state, w);
    }
}

/* An index that was shared with a fork, when either of them ends, and takes memory only once they differ. */
static void a_fork_has_the_same_index(void **state)
{
    reef_world *w = world_of(state);
    const heap *h = heap_of(state);
    reef_entity to[4], e[2000];
    for (uint32_t i = 0; i < 2000; i++) e[i] = member(w, (int32_t)i);
    const uint64_t before = h->bytes;
    assert_int_equal(reef_index_get(reef_index_of(w, Team, id), reef_key_i32(70), to, 4), 1);
    const uint64_t index = h->bytes - before;
    reef_world *fork = reef_fork(w);
    const uint64_t forked = h->bytes;
    const reef_index *teams = reef_index_of(fork, Team, id);
    assert_int_equal(reef_index_get(teams, reef_key_i32(70), to, 4), 1);
    assert_entity(e[70], to[0]);
    assert_true(h->bytes - forked < index / 4); /* its query, but no rows */
    reef_set(fork, e[5], Team, 70);
    assert_int_equal(reef_index_get(reef_index_of(fork, Team, id), reef_key_i32(70), to, 4), 2);
    assert_int_equal(reef_index_get(reef_index_of(w, Team, id), reef_key_i32(70), to, 4), 1);
    reef_set(w, e[6], Team, 70);
    reef_world *third = reef_fork(w);
    assert_int_equal(reef_index_get(reef_index_of(w, Team, id), reef_key_i32(70), to, 4), 2);
    assert_entity(e[6], to[0]);
    assert_int_equal(reef_index_get(reef_index_of(fork, Team, id), reef_key_i32(70), to, 4), 2);
    assert_entity(e[5], to[0]);
    reef_world_free(fork);
    assert_int_equal(reef_index_get(reef_index_of(third, Team, id), reef_key_i32(70), to, 4), 2);
    assert_int_equal(reef_index_get(reef_index_of(w, Team, id), reef_key_i32(70), to, 4), 2);
    reef_world_free(third);
    assert_int_equal(reef_index_get(reef_index_of(w, Team, id), reef_key_i32(71), to, 4), 1);
}

/* What a history keeps are states, and no state has indexes: its bytes are the same with and without them. */
static reef_status step_once(void *context, reef_world *w, uint64_t number, const void *input, size_t bytes)
{
    (void)input, (void)bytes;
    for (reef_block b = reef_begin_text(w, "Team"); reef_next(&b);) reef_inout(&b, Team)[0].id = (int32_t)number;
    if (context) assert_non_null(reef_index_of(w, Team, id));
    return reef_tick(w, 1);
}
static void a_history_has_no_indexes(void **state)
{
    uint64_t bytes[2], hash[2];
    for (uint32_t with = 0; with < 2; with++) {
        reef_world *w = another_world(state, NULL);
        const reef_entity first = reef_spawn(w, reef_with(Team, 0));
        for (int32_t i = 1; i < 5000; i++) (void)reef_spawn(w, reef_with(Team, 100 + i));
        reef_history *h = reef_history_new(
            w, &(reef_history_config){.ticks = 20, .bytes = 1 << 30, .step = step_once, .context = with ? w : NULL});
        for (uint32_t i = 0; i < 30; i++) assert_ok(reef_history_step(h, NULL, 0));
        const int32_t last = reef_get(w, first, Team)->id;
        assert_ok(reef_history_rewind(h, 25));
        const int32_t now = reef_get(w, first, Team)->id;
        assert_true(now < last);
        bytes[with] = reef_history_reach(h).bytes;
        hash[with] = reef_hash(w);
        if (with) {
            const reef_index *teams = reef_index_of(w, Team, id);
            assert_int_equal(reef_index_get(teams, reef_key_i32(last), NULL, 0), 0);
            assert_true(reef_entity_equal(reef_index_first(teams, reef_key_i32(now), reef_key_i32(now)), first));
        }
        reef_history_free(h);
        end_world(state, w);
    }
    assert_int_equal(bytes[0], bytes[1]);
    assert_true(hash[0] == hash[1]);
}

/* What a loop writes in its blocks is found as soon as the index is taken again, in the loop and behind it. */
static void indexes_in_loops(void **state)
{
    reef_world *w = world_of(state);
    for (uint32_t i = 0; i < 3000; i++) member(w, 1);
    for (uint32_t round = 0; round < 2; round++) {
        uint32_t seen = 0;
        for (reef_block b = reef_begin_text(w, "Team"); reef_next(&b); seen += b.count) {
            Team *t = reef_inout(&b, Team);
            for (uint32_t i = 0; i < b.count; i++) {
                t[i].id = 2 + (int32_t)round;
                if (i % 300) continue;
                assert_int_equal(reef_index_get(reef_index_of(w, Team, id), reef_key_i32(t[i].id), NULL, 0),
                                 seen + i + 1);
            }
        }
        assert_int_equal(reef_index_get(reef_index_of(w, Team, id), reef_key_i32(2 + (int32_t)round), NULL, 0), 3000);
    }
}

static void takes_an_index(reef_block *b) { assert_null(reef_index_of(b->world, Team, id)); }

static void indexes_that_are_refused(void **state)
{
    reef_world *w = world_of(state);
    member(w, 1);
    assert_no_pointer(w, REEF_BAD_ARGUMENT, reef_index_of_id(w, reef_id(Team), "nothing"));
    assert_no_pointer(w, REEF_BAD_ARGUMENT, reef_index_of_id(w, reef_id(Position), "x"));
    assert_no_pointer(w, REEF_UNKNOWN_TYPE, reef_index_of_id(w, (reef_component){0}, "id"));
    assert_null(reef_index_of(NULL, Team, id));
    (void)reef_system(w, takes_an_index, "in Team");
    (void)reef_tick(w, 1);
    assert_int_equal(reef_last_error(w).status, REEF_LOCKED);
}

static reef_status refused_load(reef_world *w, void *context)
{
    (void)context;
    member(w, 3);
    assert_int_equal(reef_index_get(reef_index_of(w, Team, id), reef_key_i32(3), NULL, 0), 2);
    return REEF_CANCELLED;
}

static void states_that_come_from_elsewhere(void **state)
{
    reef_world *w = world_of(state);
    reef_bytes file, change;
    member(w, 3);
    assert_int_equal(reef_index_get(reef_index_of(w, Team, id), reef_key_i32(3), NULL, 0), 1);
    assert_ok(reef_save_bytes(w, &file, NULL));
    reef_world *before = reef_fork(w);
    member(w, 3);
    assert_int_equal(reef_index_get(reef_index_of(w, Team, id), reef_key_i32(3), NULL, 0), 2);
    assert_ok(reef_diff_bytes(before, w, &change, NULL));
    assert_ok(reef_load_bytes(w, file.data, file.size, NULL));
    assert_int_equal(reef_index_get(reef_index_of(w, Team, id), reef_key_i32(3), NULL, 0), 1);
    assert_ok(reef_diff_apply(w, change.data, change.size));
    assert_int_equal(reef_index_get(reef_index_of(w, Team, id), reef_key_i32(3), NULL, 0), 2);
    assert_ok(reef_load_bytes(w, file.data, file.size, NULL));
    const reef_module refused = {.name = "refused", .version = 1, .load = refused_load};
    assert_status(REEF_CANCELLED, reef_module_use(w, &refused));
    assert_int_equal(reef_index_get(reef_index_of(w, Team, id), reef_key_i32(3), NULL, 0), 1);
    reef_bytes_free(&file);
    reef_bytes_free(&change);
    reef_world_free(before);
}

/* ---- systems ---- */

typedef struct {
    int32_t id;
    uint32_t members, sum;
} Wanted;
REEF_COMPONENT(Wanted);

/* Members of some teams go to others; one in three is written. */
static void members_move(reef_block *b)
{
    Team *t = reef_inout(b, Team);
    for (uint32_t i = 0; i < b->count; i++)
        if ((b->entities[i].index + (uint32_t)reef_tick_count(b->world)) % 3 == 0) t[i].id = (t[i].id * 7 + 1) % 200;
}
static void members_are_counted(reef_block *b)
{
    const reef_index *teams = reef_indexed(b, Team, id);
    Wanted *wanted = reef_inout(b, Wanted);
    for (uint32_t i = 0; i < b->count; i++) {
        reef_entity to[64];
        wanted[i].sum = 0;
        wanted[i].members = (uint32_t)reef_index_get(teams, reef_key_i32(wanted[i].id), to, 64);
        for (uint32_t k = 0; k < wanted[i].members && k < 64; k++) wanted[i].sum = wanted[i].sum * 3 + to[k].index;
    }
}

static void check_members(reef_world *w)
{
    uint32_t members[200] = {0};
    for (reef_block b = reef_begin_text(w, "in Team"); reef_next(&b);)
        for (uint32_t i = 0; i < b.count; i++) members[reef_in(&b, Team)[i].id]++;
    for (reef_block b = reef_begin_text(w, "in Wanted"); reef_next(&b);)
        for (uint32_t i = 0; i < b.count; i++)
            assert_int_equal(members[reef_in(&b, Wanted)[i].id], reef_in(&b, Wanted)[i].members);
}

static uint64_t members_hash(void **state, uint32_t threads, uint64_t shuffle)
{
    reef_world *w = another_world(state, NULL);
    reef_pool *pool = threads > 1 ? reef_pool_new(&(reef_pool_config){.threads = threads, .shuffle = shuffle}) : NULL;
    reef_set_pool(w, pool);
    for (uint32_t i = 0; i < 6000; i++) member(w, (int32_t)i % 200);
    for (uint32_t i = 0; i < 3000; i++) reef_spawn(w, reef_with(Wanted, (int32_t)i % 200, 0, 0));
    assert_non_null(reef_index_of(w, Team, id));
    assert_false(reef_system_is_null(reef_system(w, members_are_counted, "Wanted; reads Team")));
    assert_false(reef_system_is_null(reef_system(w, members_move, "Team")));
    assert_false(reef_system_is_null(reef_system_add(w, "again", members_are_counted, "Wanted; reads Team")));
    for (uint32_t i = 0; i < 4; i++) {
        assert_ok(reef_tick(w, 1));
        check_members(w);
    }
    reef_world *fork = reef_fork(w);
    member(fork, 3);
    assert_ok(reef_tick(fork, 1));
    check_members(fork);
    assert_ok(reef_tick(w, 1));
    check_members(w);
    const uint64_t hash = reef_hash(w);
    reef_world_free(fork);
    reef_set_pool(w, NULL);
    reef_pool_free(pool);
    end_world(state, w);
    return hash;
}

static void systems_ask_on_all_threads(void **state)
{
    const uint64_t hash = members_hash(state, 1, 0);
    assert_true(members_hash(state, 2, 0) == hash);
    assert_true(members_hash(state, 4, 77) == hash);
}

typedef struct {
    int32_t id, other;
} Clan;
REEF_COMPONENT(Clan);
REEF_FIELDS(Clan, id, other);
REEF_INDEX(Clan, id);

static uint64_t in_clan;
static void asks_for_a_clan(reef_block *b)
{
    in_clan = reef_index_get(reef_indexed(b, Clan, id), reef_key_i32(4), NULL, 0);
}

/* A declared index is there for systems, also without memory for a while, and also in a fork. */
static void indexes_that_are_declared(void **state)
{
    reef_world *w = world_of(state);
    heap *h = heap_of(state);
    for (int32_t i = 0; i < 100; i++) reef_spawn(w, reef_with(Clan, i % 10, 4));
    assert_false(reef_system_is_null(reef_system(w, asks_for_a_clan, "; reads Clan")));
    for (uint64_t n = 1;; n++) {
        in_clan = 0;
        heap_fail_nth(h, n, false);
        const reef_status s = reef_tick(w, 1);
        const bool failed = h->refused != 0;
        heap_fail_never(h);
        assert_true(s == REEF_OK || s == REEF_NO_MEMORY);
        if (s == REEF_OK && !failed) break;
    }
    assert_int_equal(in_clan, 10);
    reef_world *fork = reef_fork(w);
    reef_spawn(fork, reef_with(Clan, 4, 0));
    assert_ok(reef_tick(fork, 1));
    assert_int_equal(in_clan, 11);
    reef_world_free(fork);
    assert_ok(reef_tick(w, 1));
    assert_int_equal(in_clan, 10);
}

static bool indexed;
static void asks_an_index(reef_block *b)
{
    indexed = reef_indexed(b, Team, id) != NULL;
    (void)reef_in(b, Team);
}

static void systems_without_an_index(void **state)
{
    reef_world *w = world_of(state);
    member(w, 1);
    const reef_system_id undeclared = reef_system(w, asks_an_index, "in Team");
    (void)reef_tick(w, 1);
    assert_false(indexed);
    assert_int_equal(reef_last_error(w).status, REEF_UNDECLARED);
    assert_ok(reef_system_remove(w, undeclared));
    assert_false(reef_system_is_null(reef_system(w, asks_an_index, "in Team; reads Team")));
    (void)reef_tick(w, 1);
    assert_false(indexed);
    assert_int_equal(reef_last_error(w).status, REEF_ABSENT);
    assert_non_null(reef_index_of(w, Team, id));
    assert_ok(reef_tick(w, 1));
    assert_true(indexed);
    assert_null(reef_indexed_id(NULL, reef_id(Team), "id"));
    for (reef_block b = reef_begin_text(w, "in Team"); reef_next(&b);) {
        assert_null(reef_indexed(&b, Team, id));
        assert_int_equal(reef_last_error(w).status, REEF_BAD_ARGUMENT);
    }
}

/* The index of all of a world's values, of as many again, of one more, and of one more in a fork. */
static void no_memory_for_an_index(void **state)
{
    reef_world *w = world_of(state), *fork = NULL;
    heap *h = heap_of(state);
    reef_entity to[8];
    for (uint32_t i = 0; i < 3000; i++) member(w, (int32_t)i);
    for (uint32_t round = 0; round < 4; round++) {
        reef_world *in = fork ? fork : w;
        for (uint64_t n = 1;; n++) {
            heap_fail_nth(h, n, n % 2);
            const reef_index *x = reef_index_of(in, Team, id);
            const bool failed = h->refused != 0;
            heap_fail_never(h);
            if (x == NULL) assert_int_equal(reef_last_error(in).status, REEF_NO_MEMORY);
            if (x == NULL) continue;
            assert_int_equal(reef_index_get(x, reef_key_i32(77), to, 8), 1 + round);
            if (!failed) break;
        }
        for (uint32_t i = 0; round == 0 && i < 3000; i++) member(w, (int32_t)i);
        if (round == 1) member(w, 77);
        if (round == 2) fork = reef_fork(w);
        if (round == 2) member(fork, 77);
    }
    assert_int_equal(reef_index_get(reef_index_of(w, Team, id), reef_key_i32(77), to, 8), 3);
    reef_world_free(fork);
}

/* ---- subtypes ---- */

typedef struct Vessel {
    int32_t flag, crew;
} Vessel;
typedef struct Ferry {
    Vessel base;
    int32_t seats;
} Ferry;
REEF_COMPONENT(Vessel);
REEF_SUBTYPE(Ferry, Vessel);
REEF_FIELDS(Vessel, flag, crew);
REEF_FIELDS(Ferry, (base, struct, Vessel), seats);

/* An index has the values of its type alone; a subtype has indexes of its own, also of what it has from its base. */
static void subtypes_have_indexes_of_their_own(void **state)
{
    reef_world *w = world_of(state);
    reef_entity to[4], odd = {0, 0};
    for (int32_t i = 0; i < 3000; i++) {
        const reef_entity e = reef_create(w);
        if (i % 2) reef_set(w, e, Vessel, i % 300, i);
        else reef_set(w, e, Ferry, {i % 300, i}, 9);
        if (i == 7) reef_set(w, odd = e, Ferry, {1000, 0}, 9); /* it is both */
    }
    assert_int_equal(reef_index_get(reef_index_of(w, Vessel, flag), reef_key_i32(7), to, 4), 10);
    assert_entity(odd, to[0]);
    assert_int_equal(reef_index_get(reef_index_of(w, Vessel, flag), reef_key_i32(8), to, 4), 0);
    const reef_index *ferries = reef_index_of_id(w, reef_id(Ferry), "base.flag");
    assert_int_equal(reef_index_get(ferries, reef_key_i32(8), to, 4), 10);
    assert_int_equal(reef_index_get(ferries, reef_key_i32(1000), to, 4), 1);
    assert_entity(odd, to[0]);
    /* A term with '+' asks for both, and looks at all rows, whatever indexes there are. */
    char text[2000];
    const reef_query one = reef_query_new(w, "Vessel(flag == 7)"), all = reef_query_new(w, "Vessel(flag == 8)+");
    assert_int_equal(reef_query_count(w, one), 10);
    assert_int_equal(reef_query_count(w, all), 10);
    assert_int_equal(reef_query_count(w, reef_query_new(w, "Vessel(flag in 1..2)+")), 20);
    (void)reef_query_explain(w, all, text, sizeof text);
    assert_null(strstr(text, "by the index"));
}

static void templates_are_not_found(void **state)
{
    reef_world *w = world_of(state);
    const reef_entity e = reef_spawn(w, reef_with(Team, 5));
    assert_int_equal(reef_index_get(reef_index_of(w, Team, id), reef_key_i32(5), NULL, 0), 1);
    assert_ok(reef_make_prefab(w, e));
    assert_int_equal(reef_index_get(reef_index_of(w, Team, id), reef_key_i32(5), NULL, 0), 0);
    assert_ok(reef_instantiate(w, e, 3, NULL));
    assert_int_equal(reef_index_get(reef_index_of(w, Team, id), reef_key_i32(5), NULL, 0), 3);
    assert_ok(reef_remove(w, e, ReefPrefab));
    assert_int_equal(reef_index_get(reef_index_of(w, Team, id), reef_key_i32(5), NULL, 0), 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(values_are_found_as_by_a_search),
        TEST(by_the_names_of_c),
        TEST(many_values),
        TEST(crowds),
        TEST(a_fork_has_the_same_index),
        TEST(a_history_has_no_indexes),
        TEST(indexes_that_are_refused),
        TEST(no_memory_for_an_index),
        TEST(states_that_come_from_elsewhere),
        TEST(systems_ask_on_all_threads),
        TEST(systems_without_an_index),
        TEST(indexes_that_are_declared),
        TEST(indexes_in_loops),
        TEST(templates_are_not_found),
        TEST(subtypes_have_indexes_of_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
