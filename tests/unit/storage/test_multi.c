/* Several components of one type on one entity. */
#include "support.h"

typedef struct {
    int32_t kind, left;
} Buff;
typedef Tracked TrackedMany;
typedef Unique UniqueMany;
typedef struct {
    uint8_t byte[5000];
} Wide;
typedef struct {
    int32_t n;
} Noted;
static const reef_hooks noted_hooks = {.track_rows = true};
REEF_COMPONENT_IN(Buff, REEF_MULTI);
REEF_COMPONENT_IN_HOOKS(TrackedMany, REEF_MULTI, &tracked_hooks);
REEF_COMPONENT_IN_HOOKS(UniqueMany, REEF_MULTI, &unique_hooks);
REEF_COMPONENT_IN(Wide, REEF_MULTI);
REEF_COMPONENT_IN_HOOKS(Noted, REEF_MULTI, &noted_hooks);

/* The kinds of an entity's buffs are those of the array. */
static void assert_kinds_at(const reef_world *w, reef_entity e, const int32_t *kinds, uint32_t count, int line)
{
    uint32_t n = 99;
    const Buff *b = reef_get_all(w, e, Buff, &n);
    if (n != count) fail_msg("line %d: %u buffs instead of %u", line, (unsigned)n, (unsigned)count);
    assert_int_equal(reef_count_on(w, e, Buff), count);
    assert_ptr_equal(b, reef_get(w, e, Buff));
    assert_int_equal(reef_has(w, e, Buff), count != 0);
    for (uint32_t i = 0; i < n; i++)
        if (b[i].kind != kinds[i])
            fail_msg("line %d: buff %u is %d instead of %d", line, (unsigned)i, b[i].kind, kinds[i]);
}
#define assert_kinds(w, e, ...) \
    assert_kinds_at(w, e, (const int32_t[]){__VA_ARGS__}, (uint32_t)(sizeof((const int32_t[]){__VA_ARGS__}) / 4), \
                    __LINE__)

static void add_adds_one_more(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e = reef_spawn(w, reef_with(Position, 1, 2)), none = reef_create(w);
    Buff *made = NULL;
    assert_null(reef_get_all(w, e, Buff, NULL));
    assert_ok(reef_add_id(w, e, reef_id(Buff), NULL, (void **)&made));
    assert_int_equal(made->kind, 0);
    made->kind = 1;
    assert_ok(reef_add_id(w, e, reef_id(Buff), NULL, (void **)&made));
    assert_int_equal(made->kind, 0);
    made->kind = 2;
    assert_int_equal(reef_append(w, e, Buff, 3, 30)->left, 30);
    assert_kinds(w, e, 1, 2, 3);
    assert_valid(w);
    assert_status(REEF_OK, reef_set(w, e, Buff, 7, 7));
    reef_mut(w, e, Buff)->left = 8;
    assert_kinds(w, e, 7, 2, 3);
    assert_ptr_equal(reef_ensure(w, e, Buff), reef_get(w, e, Buff));
    assert_int_equal(reef_append(w, none, Buff, 5, 5)->kind, 5);
    assert_int_equal(reef_count_id(w, reef_id(Buff)), 2);
    assert_int_equal(reef_world_stats(w).values, 4);
    assert_true(reef_set(w, e, Velocity, 1, 2) == REEF_ADDED);
    assert_kinds(w, e, 7, 2, 3);
    assert_ok(reef_remove(w, e, Buff));
    assert_refused(w, REEF_ABSENT, reef_remove(w, e, Buff));
    assert_kinds_at(w, e, NULL, 0, __LINE__);
    assert_status(REEF_ADDED, reef_set(w, e, Buff, 9, 9));
    assert_kinds(w, e, 9);
    assert_ok(reef_destroy(w, none));
    assert_int_equal(reef_world_stats(w).values, 1);
    assert_null(reef_get_all(w, none, Buff, NULL));
}

static void one_is_removed_and_the_others_keep_their_order(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e = reef_create(w);
    for (int32_t i = 0; i < 6; i++) assert_non_null(reef_append(w, e, Buff, i, 0));
    assert_ok(reef_remove_one(w, e, Buff, 0));
    assert_kinds(w, e, 1, 2, 3, 4, 5);
    assert_ok(reef_remove_one(w, e, Buff, 2));
    assert_kinds(w, e, 1, 2, 4, 5);
    assert_ok(reef_remove_one(w, e, Buff, 3));
    assert_kinds(w, e, 1, 2, 4);
    assert_refused(w, REEF_ABSENT, reef_remove_one(w, e, Buff, 3));
    assert_refused(w, REEF_ABSENT, reef_remove_one(w, e, Mass, 0));
    assert_refused(w, REEF_UNKNOWN_TYPE, reef_remove_one_id(w, e, (reef_component){0}, 0));
    for (int i = 0; i < 3; i++) assert_ok(reef_remove_one(w, e, Buff, 0));
    assert_false(reef_has(w, e, Buff));
    assert_ok(reef_destroy(w, e));
    assert_refused(w, REEF_NOT_ALIVE, reef_remove_one(w, e, Buff, 0));
    assert_status(REEF_BAD_ARGUMENT, reef_remove_one_id(NULL, e, reef_id(Buff), 0));
}

/* In every home the same calls say one or none. */
static void other_homes_have_one(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e = reef_spawn(w, reef_with(Position, 1, 2), reef_tag(Frozen));
    uint32_t n = 9;
    assert_ptr_equal(reef_get_all(w, e, Position, &n), reef_get(w, e, Position));
    assert_int_equal(n, 1);
    assert_int_equal(reef_count_on(w, e, Frozen), 1);
    assert_int_equal(reef_count_on(w, e, Velocity), 0);
    assert_no_pointer(w, REEF_EXISTS, reef_append(w, e, Position, 1, 1));
    assert_non_null(reef_append(w, e, Velocity, 1, 1));
    assert_ok(reef_remove_one(w, e, Velocity, 0));
    assert_false(reef_has(w, e, Velocity));
    reef_mut_all(w, e, Position, NULL)->x = 5;
    assert_position(w, e, 5, 2);
    assert_no_pointer(w, REEF_ABSENT, reef_mut_all(w, e, Velocity, &n));
    assert_int_equal(n, 0);
}

static void there_is_a_limit(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e = reef_create(w), wide = reef_create(w);
    for (int32_t i = 0; i < REEF_MULTI_MAX; i++) assert_non_null(reef_append(w, e, Buff, i, 0));
    assert_no_pointer(w, REEF_LIMIT, reef_append(w, e, Buff, 1, 1));
    assert_refused(w, REEF_LIMIT, reef_add(w, e, Buff));
    for (int32_t i = 0; i < REEF_MULTI_MAX; i++) assert_int_equal(reef_get_all(w, e, Buff, NULL)[i].kind, i);
    assert_ok(reef_remove_one(w, e, Buff, 0));
    assert_non_null(reef_append(w, e, Buff, 256, 0));
    assert_int_equal(reef_count_on(w, e, Buff), 256);
    /* 128 of 5,000 bytes fit 1 MiB */
    for (int i = 0; i < 128; i++) assert_ok(reef_add(w, wide, Wide));
    assert_refused(w, REEF_LIMIT, reef_add(w, wide, Wide));
    assert_ok(reef_remove(w, wide, Wide));
    assert_ok(reef_shrink(w));
}

static void hooks_run_once_for_each(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e = reef_create(w), copy[3];
    for (int i = 0; i < 5; i++) {
        Tracked *t = NULL;
        assert_ok(reef_add_id(w, e, reef_id(TrackedMany), NULL, (void **)&t));
        t->value = i;
        assert_ok(reef_add_id(w, e, reef_id(UniqueMany), NULL, NULL));
    }
    assert_int_equal(book.live, 10);
    assert_refused(w, REEF_NOT_COPYABLE, reef_clone_many(w, e, 1, copy));
    assert_ok(reef_remove_one(w, e, UniqueMany, 4));
    assert_ok(reef_remove_one(w, e, UniqueMany, 1));
    assert_int_equal(book.live, 8);
    assert_ok(reef_remove(w, e, UniqueMany));
    assert_int_equal(book.live, 5);
    assert_ok(reef_clone_many(w, e, 3, copy));
    assert_int_equal(book.live, 20);
    uint32_t n = 0;
    const TrackedMany *t = reef_get_all(w, copy[2], TrackedMany, &n);
    assert_int_equal(n, 5);
    for (int i = 0; i < 5; i++) assert_int_equal(t[i].value, i);
    book.fail_construct = 1, book.fail_status = REEF_BAD_ARGUMENT;
    assert_refused(w, REEF_BAD_ARGUMENT, reef_add(w, copy[0], TrackedMany));
    for (uint32_t nth = 1; nth <= 10; nth++) {
        book.fail_copy = nth, book.fail_status = REEF_BAD_ARGUMENT;
        assert_refused(w, REEF_BAD_ARGUMENT, reef_clone_many(w, e, 2, (reef_entity[2]){{0, 0}}));
    }
    assert_ok(reef_destroy(w, copy[1]));
    assert_int_equal(book.live, 15);
    assert_ok(remove_everywhere(w, reef_id(TrackedMany), NULL));
    assert_int_equal(book.live, 0);
}

/* One of an entity's own values may be what is added. */
static void a_value_of_its_own_is_added(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e = reef_create(w);
    assert_non_null(reef_append(w, e, Buff, 1, 10));
    for (int32_t i = 1; i < 20; i++) {
        uint32_t n;
        const Buff *b = reef_get_all(w, e, Buff, &n);
        Buff *made = reef_append_id(w, e, reef_id(Buff), &b[n - 1], sizeof *b);
        assert_int_equal(made->kind, i);
        made->kind = i + 1;
    }
    Tracked *t = NULL;
    assert_ok(reef_add_id(w, e, reef_id(TrackedMany), NULL, (void **)&t));
    t->value = 77;
    for (int i = 0; i < 9; i++) {
        const TrackedMany *own = reef_get(w, e, TrackedMany);
        assert_int_equal(((TrackedMany *)reef_append_id(w, e, reef_id(TrackedMany), own, sizeof *own))->value, 77);
    }
}

/* Many entities with buffs that come and go, beside arrays that say what should be there; forks on the way. */
static void values_follow_their_entities(void **state)
{
    enum { N = 60, MOST = 20 };
    reef_world *w = world_of(state);
    static int32_t kinds[N][MOST];
    static uint32_t count[N];
    memset(count, 0, sizeof count);
    reef_entity e[N];
    uint64_t seed = 5;
    assert_ok(reef_spawn_many(w, N, e, reef_with(Mass, 1)));
    reef_snapshot *s = NULL;
    for (int step = 0; step < 4000; step++) {
        const uint32_t i = random_below(&seed, N), what = random_below(&seed, 12);
        if (what < 7 && count[i] < MOST) {
            kinds[i][count[i]++] = step;
            assert_non_null(reef_append(w, e[i], Buff, step, 0));
        } else if (what < 10 && count[i]) {
            const uint32_t k = random_below(&seed, count[i]);
            memmove(&kinds[i][k], &kinds[i][k + 1], (--count[i] - k) * sizeof kinds[i][k]);
            assert_ok(reef_remove_one(w, e[i], Buff, k));
        } else if (what == 10 && count[i]) {
            count[i] = 0;
            assert_ok(reef_remove(w, e[i], Buff));
        } else if (what == 11 && random_below(&seed, 4) == 0) {
            count[i] = 0;
            assert_ok(reef_destroy(w, e[i]));
            e[i] = reef_spawn(w, reef_with(Position, 1, 2));
        }
        if (step % 500 == 250) s = reef_snapshot_take(w);
        if (step % 500 == 400) reef_snapshot_free(s), s = NULL;
        assert_kinds_at(w, e[i], kinds[i], count[i], __LINE__);
        if (step % 400 == 0) assert_valid(w);
    }
    for (uint32_t i = 0; i < N; i++) assert_kinds_at(w, e[i], kinds[i], count[i], __LINE__);
    reef_snapshot_free(s);
}

static void a_fork_has_its_own(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[300];
    for (int i = 0; i < 300; i++) {
        e[i] = reef_create(w);
        for (int32_t k = 0; k < i % 4; k++) assert_non_null(reef_append(w, e[i], Buff, k, i));
    }
    reef_world *f = reef_fork(w);
    assert_non_null(f);
    assert_int_equal(reef_hash(w), reef_hash(f));
    assert_non_null(reef_append(f, e[2], Buff, 9, 9));
    assert_true(reef_hash(w) != reef_hash(f));
    reef_difference d;
    assert_false(reef_equal(w, f, &d));
    assert_entity(e[2], d.entity);
    assert_int_equal(reef_count_on(w, e[2], Buff), 2);
    assert_int_equal(reef_count_on(f, e[2], Buff), 3);
    assert_ok(reef_remove_one(f, e[2], Buff, 2));
    assert_int_equal(reef_hash(w), reef_hash(f));
    assert_true(reef_equal(w, f, &d));
    /* the order counts */
    Buff *b = reef_mut_all(f, e[3], Buff, NULL);
    const Buff first = b[0];
    b[0] = b[2], b[2] = first;
    assert_true(reef_hash(w) != reef_hash(f));
    assert_false(reef_equal(w, f, &d));
    assert_entity(e[3], d.entity);
    assert_int_equal(reef_get(w, e[3], Buff)->kind, 0);
    assert_valid(f);
    reef_snapshot *s = reef_snapshot_take(w);
    for (int i = 0; i < 300; i++) (void)reef_remove(w, e[i], Buff);
    assert_int_equal(reef_count_id(w, reef_id(Buff)), 0);
    assert_valid(w);
    assert_ok(reef_restore(w, s));
    assert_kinds(w, e[3], 0, 1, 2);
    assert_int_equal(reef_count_id(w, reef_id(Buff)), 225);
    reef_snapshot_free(s);
    reef_world_free(f);
}

/* The same values by another history: the same hash. */
static void history_is_no_part_of_the_hash(void **state)
{
    reef_world *a = world_of(state), *b = another_world(state, NULL);
    reef_entity x[40], y[40];
    for (int i = 0; i < 40; i++) x[i] = reef_create(a), y[i] = reef_create(b);
    for (int32_t k = 0; k < 5; k++)
        for (int i = 0; i < 40; i++) assert_non_null(reef_append(a, x[i], Buff, k, i));
    for (int i = 0; i < 40; i++) {
        assert_non_null(reef_append(b, y[i], Buff, 50, 50));
        for (int32_t k = 0; k < 5; k++) assert_non_null(reef_append(b, y[i], Buff, k, i));
        assert_ok(reef_remove_one(b, y[i], Buff, 0));
    }
    assert_int_equal(reef_hash(a), reef_hash(b));
    assert_true(reef_equal(a, b, NULL));
}

static bool visit_buff(void *context, reef_entity e, reef_component c, const void *data, size_t size)
{
    int32_t *sum = context;
    (void)e, (void)size;
    if (c.id == reef_id(Buff).id) *sum = *sum * 10 + ((const Buff *)data)->kind;
    return true;
}

static void each_is_visited(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e = reef_create(w);
    for (int32_t k = 1; k < 6; k++) assert_non_null(reef_append(w, e, Buff, k, 0));
    int32_t sum = 0;
    assert_true(reef_visit_entity(w, e, visit_buff, &sum));
    assert_int_equal(sum, 12345);
    sum = 0;
    assert_true(reef_visit_world(w, visit_buff, &sum));
    assert_int_equal(sum, 12345);
    FILE *file = tmpfile();
    char text[512] = "";
    assert_true(reef_print(w, e, file));
    rewind(file);
    const size_t n = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    int lines = 0;
    for (size_t i = 0; i < n; i++) lines += strncmp(text + i, "  Buff  ", 8) == 0;
    assert_int_equal(lines, 5);
}

static void more_and_fewer_are_changes(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e = reef_create(w);
    assert_non_null(reef_append(w, e, Noted, 1));
    uint64_t since = reef_version(w);
    assert_non_null(reef_append(w, e, Noted, 2));
    assert_true(reef_changed_since(w, e, Noted, since));
    assert_false(reef_added_since(w, e, Noted, since));
    since = reef_version(w);
    assert_ok(reef_remove_one(w, e, Noted, 0));
    assert_true(reef_changed_since(w, e, Noted, since));
    assert_int_equal(reef_get(w, e, Noted)->n, 2);
}

/* By commands, and by loops that defer. */
static void commands_add_one_more(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e = reef_spawn(w, reef_with(Position, 1, 2), reef_with(Buff, 1, 1));
    reef_block b = reef_begin_loop(w, reef_query_new(w, "Position"), &(reef_loop){.deferred = true});
    while (reef_next(&b)) {
        assert_ok(reef_cmd_add(&b, e, Buff));
        assert_ok(reef_add(w, e, Buff));
        assert_ok(reef_add(w, e, TrackedMany));
        assert_refused(w, REEF_LOCKED, reef_remove_one(w, e, Buff, 0));
        assert_no_pointer(w, REEF_LOCKED, reef_append(w, e, Buff, 1, 1));
        assert_int_equal(reef_count_on(w, e, Buff), 1);
    }
    assert_kinds(w, e, 1, 0, 0);
    assert_int_equal(reef_count_on(w, e, TrackedMany), 1);
}

/* Entities with 1, 2 ... 4 buffs and none, told apart by Mass. */
static reef_entity crowd(reef_world *w, int n)
{
    reef_entity e = {0, 0};
    for (int i = 0; i < n; i++) {
        e = reef_spawn(w, reef_with(Mass, i));
        for (int32_t k = 0; k < i % 5; k++) assert_non_null(reef_append(w, e, Buff, k + 1, i));
    }
    return e;
}

static void a_query_asks_for_the_span(void **state)
{
    reef_world *w = world_of(state);
    crowd(w, 200);
    int rows = 0, values = 0;
    for (reef_block b = reef_begin_text(w, "in Buff, in Mass"); reef_next(&b);) {
        const Buff *first = reef_in(&b, Buff);
        const Mass *m = reef_in(&b, Mass);
        for (uint32_t i = 0; i < b.count; i++) {
            uint32_t n;
            const Buff *all = reef_block_get_all(&b, Buff, i, &n);
            assert_int_equal(n, (int)m[i].kg % 5);
            assert_ptr_equal(all, first + i);
            for (uint32_t k = 0; k < n; k++) assert_int_equal(all[k].kind, k + 1);
            rows++, values += (int)n;
        }
        uint32_t n;
        assert_null(reef_block_get_all(&b, Buff, b.count, &n));
        assert_int_equal(n, 0);
        assert_null(reef_block_mut_all(&b, Buff, 0, &n));
        assert_null(reef_block_get_all(&b, Position, 0, &n));
    }
    assert_int_equal(rows, 160);
    assert_int_equal(values, 400);
    for (reef_block b = reef_begin_text(w, "Buff, ?in Velocity"); reef_next(&b);)
        for (uint32_t i = 0; i < b.count; i++) {
            uint32_t n;
            Buff *all = reef_block_mut_all(&b, Buff, i, &n);
            for (uint32_t k = 0; k < n; k++) all[k].left = -1;
            assert_null(reef_block_get_all(&b, Velocity, i, &n));
        }
    values = 0;
    for (reef_block b = reef_begin_text(w, "each in Buff"); reef_next(&b);) values += reef_in(&b, Buff)->left;
    assert_int_equal(values, -400);
}

static int64_t kinds_of_each(reef_world *w, const char *text, int *visits, bool by_entity)
{
    int64_t sum = 0;
    reef_query q = reef_query_new(w, text);
    assert_query(q);
    if (by_entity) assert_ok(reef_query_order(w, q, &(reef_order){.field = NULL}));
    *visits = 0;
    for (reef_block b = reef_begin(w, q); reef_next(&b);) {
        assert_int_equal(b.count, 1);
        sum = (sum * 7 + reef_in(&b, Buff)->kind) % 1000003 + (int64_t)reef_in(&b, Mass)->kg;
        ++*visits;
    }
    assert_ok(reef_query_free(w, q));
    return sum;
}

static void a_query_asks_for_each(void **state)
{
    reef_world *w = world_of(state);
    crowd(w, 200);
    int64_t sum = 0;
    int visits = 0;
    for (reef_block b = reef_begin_text(w, "in Mass, in Buff"); reef_next(&b);)
        for (uint32_t i = 0; i < b.count; i++) {
            const int kg = (int)reef_in(&b, Mass)[i].kg;
            for (int32_t k = 0; k < kg % 5; k++) sum = (sum * 7 + k + 1) % 1000003 + kg;
        }
    assert_true(kinds_of_each(w, "in Mass, each in Buff", &visits, false) == sum);
    assert_int_equal(visits, 400);
    assert_true(kinds_of_each(w, "in Mass, each in Buff", &visits, true) == sum);
    assert_int_equal(visits, 400);
    reef_snapshot *s = reef_snapshot_take(w);
    for (reef_block b = reef_begin_text(w, "each Buff, in Mass"); reef_next(&b);) reef_inout(&b, Buff)->kind += 0;
    assert_true(kinds_of_each(w, "in Mass, each in Buff", &visits, false) == sum);
    for (reef_row row = reef_rows(w, reef_query_new(w, "each Buff")); reef_row_next(&row);)
        reef_inout_at(row, Buff)->kind = 9;
    assert_ok(reef_restore(w, s));
    assert_true(kinds_of_each(w, "in Mass, each in Buff", &visits, false) == sum);
    reef_snapshot_free(s);
    assert_int_equal(reef_query_count(w, reef_query_new(w, "each Buff")), 160);
    assert_no_query(w, REEF_BAD_ARGUMENT, reef_query_new(w, "?each Buff"));
    assert_no_query(w, REEF_BAD_ARGUMENT, reef_query_new(w, "!each Buff"));
    assert_no_query(w, REEF_BAD_ARGUMENT, reef_query_new(w, "each Buff | Mass"));
    assert_no_query(w, REEF_BAD_ARGUMENT, reef_query_new(w, "each with Buff"));
    assert_no_query(w, REEF_BAD_ARGUMENT, reef_query_new(w, "each Buff, each TrackedMany"));
    char text[64];
    reef_query_text(w, reef_query_new(w, "in each Buff, each"), text, sizeof text);
}

/* Of a type in another home each is the one. */
static void each_of_another_home_is_one(void **state)
{
    reef_world *w = world_of(state);
    crowd(w, 10);
    int rows = 0;
    for (reef_block b = reef_begin_text(w, "each Mass"); reef_next(&b);) rows += (int)b.count;
    assert_int_equal(rows, 10);
    char text[64];
    reef_query_text(w, reef_query_new(w, "each in Buff"), text, sizeof text);
    assert_string_equal(text, "in each Buff");
}

static void tire(reef_block *b)
{
    Buff *x = reef_inout(b, Buff);
    for (uint32_t i = 0; i < b->count; i++) x[i].left += 100;
}

static void more(reef_block *b)
{
    for (uint32_t i = 0; i < b->count; i++) assert_ok(reef_cmd_add(b, b->entities[i], Buff));
}

/* In systems, split over jobs. */
static void systems_visit_each(void **state)
{
    reef_world *w = world_of(state), *f;
    crowd(w, 500);
    reef_system(w, tire, "each Buff");
    reef_system(w, more, "in Buff; adds Buff");
    f = reef_fork(w);
    assert_ok(reef_tick(f, 1.0f / 60));
    assert_ok(reef_tick(f, 1.0f / 60));
    int count = 0;
    for (reef_block b = reef_begin_text(f, "in Buff, in Mass"); reef_next(&b);)
        for (uint32_t i = 0; i < b.count; i++) {
            uint32_t n, own = (uint32_t)reef_in(&b, Mass)[i].kg % 5;
            const Buff *all = reef_block_get_all(&b, Buff, i, &n);
            assert_int_equal(n, own + 2);
            for (uint32_t k = 0; k < own; k++) assert_int_equal(all[k].left, 200 + (int)reef_in(&b, Mass)[i].kg);
            assert_int_equal(all[own].left, 100);
            assert_int_equal(all[own + 1].left, 0);
            count++;
        }
    assert_int_equal(count, 400);
    assert_int_equal(reef_world_stats(w).values, 1000);
    reef_world_free(f);
}

static uint32_t told_adds, told_sets, told_removes;
static void tell(const reef_notice *n)
{
    told_adds += n->kind == REEF_ON_ADD;
    told_sets += n->kind == REEF_ON_SET;
    told_removes += n->kind == REEF_ON_REMOVE;
    if (n->kind == REEF_ON_REMOVE) assert_int_equal(reef_was(n, TrackedMany, 0)->value, 1);
}

static void observers_hear_of_more_and_fewer(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e = reef_create(w);
    told_adds = told_sets = told_removes = 0;
    reef_observe(w, tell, REEF_ON_ADD | REEF_ON_SET | REEF_ON_REMOVE, TrackedMany);
    for (int32_t i = 1; i < 4; i++) {
        Tracked *t = NULL;
        assert_ok(reef_add_id(w, e, reef_id(TrackedMany), NULL, (void **)&t));
        t->value = i;
    }
    assert_int_equal(told_adds, 1);
    assert_int_equal(told_sets, 2);
    assert_ok(reef_remove_one(w, e, TrackedMany, 1));
    assert_int_equal(told_sets, 3);
    assert_ok(reef_remove(w, e, TrackedMany));
    assert_int_equal(told_removes, 1);
    assert_int_equal(book.live, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(add_adds_one_more),
        TEST(one_is_removed_and_the_others_keep_their_order),
        TEST(other_homes_have_one),
        TEST(there_is_a_limit),
        TEST(hooks_run_once_for_each),
        TEST(a_value_of_its_own_is_added),
        TEST(values_follow_their_entities),
        TEST(a_fork_has_its_own),
        TEST(history_is_no_part_of_the_hash),
        TEST(each_is_visited),
        TEST(more_and_fewer_are_changes),
        TEST(commands_add_one_more),
        TEST(a_query_asks_for_the_span),
        TEST(a_query_asks_for_each),
        TEST(each_of_another_home_is_one),
        TEST(systems_visit_each),
        TEST(observers_hear_of_more_and_fewer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
