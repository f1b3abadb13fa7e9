/* Values that several entities have in common, and holders outside of the world. */
#include "support.h"

#include "base/platform.h"
#include <stdatomic.h>

typedef Tracked Shape;
typedef struct {
    int32_t a, b;
} Paint;
typedef Unique Sole;
typedef struct {
    int32_t n;
} Counted;
REEF_COMPONENT_IN_HOOKS(Shape, REEF_SHARED, &tracked_hooks);
REEF_COMPONENT_IN(Paint, REEF_SHARED);
REEF_COMPONENT_IN_HOOKS(Sole, REEF_SHARED, &unique_hooks);

static reef_entity shaped(reef_world *w, int32_t value)
{
    reef_entity e = reef_spawn(w, reef_with(Position, (float)value, 0));
    Shape *s = NULL;
    assert_ok(reef_add_id(w, e, reef_id(Shape), NULL, (void **)&s));
    s->value = value;
    return e;
}

static void several_have_one_value(void **state)
{
    reef_world *w = world_of(state);
    reef_entity a = shaped(w, 1), b = reef_create(w), c = reef_spawn(w, reef_with(Mass, 1));
    assert_refused(w, REEF_EXISTS, reef_add(w, a, Shape));
    assert_status(REEF_ADDED, reef_share(w, a, b, Shape));
    assert_status(REEF_ADDED, reef_share(w, b, c, Shape));
    assert_status(REEF_OK, reef_share(w, b, c, Shape));
    assert_int_equal(book.live, 1);
    assert_ptr_equal(reef_get(w, a, Shape), reef_get(w, c, Shape));
    reef_mut(w, b, Shape)->value = 7;
    assert_int_equal(reef_get(w, a, Shape)->value, 7);
    assert_int_equal(reef_count_id(w, reef_id(Shape)), 3);
    assert_valid(w);
    /* set gives one of its own */
    Tracked mine;
    tracked_make(&mine, 9);
    assert_status(REEF_OK, reef_set_id(w, c, reef_id(Shape), &mine, sizeof mine));
    tracked_drop(&mine);
    assert_int_equal(reef_get(w, c, Shape)->value, 9);
    assert_int_equal(reef_get(w, a, Shape)->value, 7);
    assert_int_equal(book.live, 2);
    assert_status(REEF_OK, reef_share(w, a, c, Shape));
    assert_int_equal(book.live, 1);
    /* rows move, values don't */
    const void *at = reef_get(w, a, Shape);
    assert_true(reef_set(w, a, Velocity, 1, 2) == REEF_ADDED);
    assert_ptr_equal(at, reef_get(w, a, Shape));
    assert_ok(reef_destroy(w, a));
    assert_ok(reef_remove(w, b, Shape));
    assert_int_equal(book.live, 1);
    assert_int_equal(reef_get(w, c, Shape)->value, 7);
    assert_ok(reef_remove(w, c, Shape));
    assert_int_equal(book.live, 0);
}

static void calls_are_checked(void **state)
{
    reef_world *w = world_of(state), *other = another_world(state, NULL);
    reef_entity a = shaped(w, 1), b = reef_create(w), x = reef_create(other), dead = reef_create(w);
    assert_ok(reef_destroy(w, dead));
    assert_refused(w, REEF_ABSENT, reef_share(w, b, a, Shape));
    assert_refused(w, REEF_NOT_ALIVE, reef_share(w, a, dead, Shape));
    assert_refused(w, REEF_NOT_ALIVE, reef_share(w, dead, a, Shape));
    assert_refused(w, REEF_BAD_ARGUMENT, reef_share(w, a, b, Position));
    assert_refused(w, REEF_UNKNOWN_TYPE, reef_share_id(w, a, b, (reef_component){0}));
    assert_status(REEF_BAD_ARGUMENT, reef_share(NULL, a, b, Shape));
    assert_true(reef_pin_is_null(reef_pin(w, b, Shape)));
    assert_true(reef_pin_is_null(reef_pin(w, a, Position)));
    assert_true(reef_pin_is_null(reef_pin(NULL, a, Shape)));
    reef_pinned pin = reef_pin(w, a, Shape), none = {NULL};
    assert_int_equal(reef_pin_type(pin).id, reef_id(Shape).id);
    assert_int_equal(reef_pin_type(none).id, 0);
    assert_refused(w, REEF_BAD_ARGUMENT, reef_attach(w, a, none));
    assert_refused(w, REEF_NOT_ALIVE, reef_attach(w, dead, pin));
    assert_refused(other, REEF_OTHER_WORLD, reef_attach(other, x, pin));
    assert_ok(reef_attach(w, a, pin));
    for (reef_block block = reef_begin_text(w, "in Position"); reef_next(&block);) {
        assert_refused(w, REEF_LOCKED, reef_share(w, a, b, Shape));
        assert_refused(w, REEF_LOCKED, reef_attach(w, b, pin));
    }
    reef_unpin(pin);
    reef_unpin(none);
    const reef_hooks tracking = {.track_rows = true}, resetting = {.on_fork = REEF_FORK_RESET};
    reef_status s = REEF_OK;
    reef_type_desc d = {.name = "shared and more", .size = 4, .home = REEF_SHARED, .hooks = &tracking};
    assert_int_equal(reef_type_new(&d, &s).id, 0);
    assert_status(REEF_BAD_ARGUMENT, s);
    d.hooks = &resetting;
    assert_int_equal(reef_type_new(&d, &s).id, 0);
    assert_status(REEF_BAD_ARGUMENT, s);
}

/* A collision manager keeps 10,000 colliders while their entities move and die. */
static void a_manager_keeps_10000_colliders(void **state)
{
    enum { N = 10000 };
    static reef_entity e[N];
    static reef_pinned pin[N];
    reef_world *w = world_of(state);
    for (int32_t i = 0; i < N; i++) {
        e[i] = shaped(w, i);
        pin[i] = reef_pin(w, e[i], Shape);
    }
    assert_int_equal(book.live, N);
    for (int i = 0; i < N; i += 2) assert_true(reef_set(w, e[i], Velocity, 1, 1) == REEF_ADDED);
    for (int i = 0; i < N; i += 3) assert_ok(reef_destroy(w, e[i]));
    for (int i = 1; i < N; i += 3) assert_ok(reef_remove(w, e[i], Shape));
    assert_int_equal(book.live, N);
    for (int32_t i = 0; i < N; i++) assert_int_equal(reef_pin_get(pin[i], Shape)->value, i);
    for (int i = 0; i < N; i += 2) reef_unpin(pin[i]);
    /* odd ones by their pins, even ones that nothing happened to by their entities */
    assert_int_equal(book.live, N / 2 + 1667);
    for (int i = 1; i < N; i += 2) assert_true(reef_is_alive(w, e[i]) ? reef_attach(w, e[i], pin[i]) >= 0 : true);
    for (int i = 1; i < N; i += 2) reef_unpin(pin[i]);
    assert_ok(reef_world_clear(w));
    assert_int_equal(book.live, 0);
}

static void what_is_in_common_stays_so_in_a_fork(void **state)
{
    reef_world *w = world_of(state);
    reef_entity a = shaped(w, 1), b = reef_create(w), c = shaped(w, 2);
    assert_status(REEF_ADDED, reef_share(w, a, b, Shape));
    reef_pinned pin = reef_pin(w, a, Shape);
    reef_world *f = reef_fork(w);
    assert_non_null(f);
    assert_int_equal(reef_hash(w), reef_hash(f));
    assert_true(reef_equal(w, f, NULL));
    reef_mut(w, a, Shape)->value = 10;
    assert_int_equal(reef_get(w, b, Shape)->value, 10);
    assert_ptr_equal(reef_get(w, b, Shape), reef_get(w, a, Shape));
    assert_int_equal(reef_get(f, a, Shape)->value, 1);
    assert_int_equal(reef_get(f, b, Shape)->value, 1);
    assert_int_equal(reef_pin_get(pin, Shape)->value, 1);
    assert_true(reef_hash(w) != reef_hash(f));
    reef_mut(f, b, Shape)->value = 20;
    assert_int_equal(reef_get(f, a, Shape)->value, 20);
    assert_int_equal(reef_get(w, a, Shape)->value, 10);
    assert_int_equal(reef_pin_get(pin, Shape)->value, 1);
    assert_int_equal(reef_get(f, c, Shape)->value, 2);
    assert_valid(f);
    /* the pin's value goes to both; nobody writes it in place */
    assert_status(REEF_OK, reef_attach(w, c, pin));
    assert_status(REEF_OK, reef_attach(f, c, pin));
    reef_mut(w, c, Shape)->value = 30;
    assert_int_equal(reef_get(f, c, Shape)->value, 1);
    assert_int_equal(reef_pin_get(pin, Shape)->value, 1);
    reef_world_free(f);
    reef_unpin(pin);
    assert_int_equal(book.live, 2);
}

/* A value that one world attaches while it is another's own. */
static void a_foreign_value_is_nobodys_to_write(void **state)
{
    reef_world *w = world_of(state);
    reef_entity a = reef_create(w), b = reef_create(w);
    reef_world *f = reef_fork(w);
    assert_status(REEF_ADDED, reef_set(w, a, Paint, 1, 2));
    reef_pinned pin = reef_pin(w, a, Paint);
    assert_status(REEF_ADDED, reef_attach(f, b, pin));
    reef_mut(w, a, Paint)->a = 9;
    assert_int_equal(reef_get(f, b, Paint)->a, 1);
    assert_int_equal(reef_pin_get(pin, Paint)->a, 1);
    reef_mut(f, b, Paint)->a = 8;
    assert_int_equal(reef_pin_get(pin, Paint)->a, 1);
    assert_int_equal(reef_get(w, a, Paint)->a, 9);
    reef_world_free(f);
    reef_unpin(pin);
}

static void snapshots_and_restores(void **state)
{
    reef_world *w = world_of(state);
    reef_entity a = shaped(w, 1), b = reef_create(w);
    assert_status(REEF_ADDED, reef_share(w, a, b, Shape));
    const uint64_t before = reef_hash(w);
    reef_snapshot *s = reef_snapshot_take(w);
    reef_mut(w, a, Shape)->value = 5;
    reef_pinned pin = reef_pin(w, a, Shape);
    reef_mut(w, b, Shape)->value = 6; /* in place: the pin sees it */
    assert_int_equal(reef_pin_get(pin, Shape)->value, 6);
    assert_ok(reef_remove(w, b, Shape));
    assert_ok(reef_restore(w, s));
    assert_int_equal(reef_hash(w), before);
    assert_int_equal(reef_get(w, b, Shape)->value, 1);
    assert_ptr_equal(reef_get(w, b, Shape), reef_get(w, a, Shape));
    assert_int_equal(reef_pin_get(pin, Shape)->value, 6);
    reef_mut(w, b, Shape)->value = 2;
    assert_ok(reef_restore(w, s));
    assert_int_equal(reef_get(w, a, Shape)->value, 1);
    assert_ok(reef_attach(w, a, pin));
    assert_int_equal(reef_get(w, a, Shape)->value, 6);
    assert_int_equal(reef_get(w, b, Shape)->value, 1);
    reef_snapshot_free(s);
    assert_int_equal(book.live, 2);
    end_world(state, w);
    assert_int_equal(book.live, 1);
    reef_unpin(pin);
    assert_int_equal(book.live, 0);
}

/* A copy hook that refuses: nothing happens. */
static void a_refused_copy(void **state)
{
    reef_world *w = world_of(state);
    reef_entity a = shaped(w, 1), b = reef_create(w);
    assert_status(REEF_ADDED, reef_share(w, a, b, Shape));
    reef_snapshot *s = reef_snapshot_take(w);
    book.fail_copy = 1, book.fail_status = REEF_BAD_ARGUMENT;
    assert_no_pointer(w, REEF_NO_MEMORY, reef_mut(w, a, Shape));
    assert_int_equal(reef_get(w, b, Shape)->value, 1);
    book.fail_construct = 1, book.fail_status = REEF_BAD_ARGUMENT;
    assert_refused(w, REEF_BAD_ARGUMENT, reef_change(w, b, reef_default(Shape)));
    reef_snapshot_free(s);
}

/* Who has one in common with whom is state; how it came about isn't. */
static void sharing_is_hashed_and_compared(void **state)
{
    reef_world *w = world_of(state), *v = another_world(state, NULL), *u = another_world(state, NULL);
    reef_world *worlds[3] = {w, v, u};
    reef_entity e[4];
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 4; k++) {
            e[k] = reef_spawn(worlds[i], reef_with(Mass, 1));
            assert_status(REEF_ADDED, reef_set(worlds[i], e[k], Paint, 1, 1));
        }
    assert_int_equal(reef_hash(w), reef_hash(v));
    assert_ok(reef_share(w, e[1], e[3], Paint));
    assert_true(reef_hash(w) != reef_hash(v));
    reef_difference d;
    assert_false(reef_equal(w, v, &d));
    assert_entity(e[3], d.entity);
    assert_ok(reef_share(v, e[3], e[1], Paint));
    assert_int_equal(reef_hash(w), reef_hash(v));
    assert_true(reef_equal(w, v, NULL));
    assert_ok(reef_share(u, e[1], e[2], Paint));
    assert_true(reef_hash(w) != reef_hash(u));
    reef_mut(w, e[3], Paint)->a = 5;
    reef_mut(v, e[1], Paint)->a = 5;
    assert_int_equal(reef_hash(w), reef_hash(v));
    FILE *file = tmpfile();
    char text[512] = "";
    assert_true(reef_print(w, e[3], file));
    rewind(file);
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    assert_non_null(strstr(text, "  shared with 1v1\n"));
}

static void clones_have_the_value_of_their_source(void **state)
{
    reef_world *w = world_of(state);
    reef_entity a = shaped(w, 4), copy[3];
    assert_ok(reef_add(w, a, Sole)); /* it can't be copied, but be shared */
    assert_ok(reef_clone_many(w, a, 3, copy));
    assert_ptr_equal(reef_get(w, a, Shape), reef_get(w, copy[2], Shape));
    assert_ptr_equal(reef_get(w, a, Sole), reef_get(w, copy[0], Sole));
    assert_int_equal(book.live, 2);
    reef_mut(w, copy[1], Sole)->value = 3;
    assert_int_equal(reef_get(w, a, Sole)->value, 3);
    assert_null(reef_fork(w));
    assert_status(REEF_NOT_COPYABLE, reef_last_error(w).status);
    assert_ok(remove_everywhere(w, reef_id(Sole), NULL));
    assert_int_equal(book.live, 1);
    reef_entity many[5];
    assert_ok(reef_spawn_many(w, 5, many, reef_with(Paint, 1, 2)));
    assert_true(reef_get(w, many[0], Paint) != reef_get(w, many[1], Paint));
}

static void loops_visit_the_value_under_each(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[30];
    for (int i = 0; i < 30; i++) {
        e[i] = reef_spawn(w, reef_with(Mass, i));
        if (i % 10) assert_status(REEF_ADDED, reef_share(w, e[i - 1], e[i], Paint));
        else assert_status(REEF_ADDED, reef_set(w, e[i], Paint, i, 0));
    }
    for (int round = 0; round < 2; round++) {
        int rows = 0;
        reef_snapshot *s = round ? reef_snapshot_take(w) : NULL;
        for (reef_block b = reef_begin_text(w, "Paint, in Mass"); reef_next(&b);) {
            assert_int_equal(b.count, 1);
            reef_inout(&b, Paint)->b++;
            assert_int_equal(reef_inout(&b, Paint)->a, (int)reef_in(&b, Mass)->kg / 10 * 10);
            rows++;
        }
        assert_int_equal(rows, 30);
        for (int i = 0; i < 30; i++) assert_int_equal(reef_get(w, e[i], Paint)->b, 10 * (round + 1));
        if (s) assert_ok(reef_restore(w, s));
        reef_snapshot_free(s);
    }
    assert_int_equal(reef_get(w, e[5], Paint)->b, 10);
    /* written under one is changed under all */
    reef_query q = reef_query_new(w, "changed in Paint");
    for (reef_block b = reef_begin(w, q); reef_next(&b);) {}
    reef_mut(w, e[12], Paint)->b = 0;
    int rows = 0;
    for (reef_block b = reef_begin(w, q); reef_next(&b);) rows += (int)b.count;
    assert_true(rows >= 10);
}

static void age(reef_block *b)
{
    Paint *p = reef_inout(b, Paint);
    for (uint32_t i = 0; i < b->count; i++) p[i].b++;
}
static void age_others(reef_block *b)
{
    for (uint32_t i = 0; i < b->count; i++) reef_mut(b->world, b->entities[i], Paint)->a++;
}

static void a_system_writes_for_all(void **state)
{
    reef_world *w = world_of(state);
    enum { N = 3000 };
    static reef_entity e[N];
    assert_ok(reef_spawn_many(w, N, e, reef_with(Mass, 1)));
    assert_status(REEF_ADDED, reef_set(w, e[0], Paint, 0, 0));
    for (int i = 1; i < N; i++) assert_status(REEF_ADDED, reef_share(w, e[0], e[i], Paint));
    reef_system(w, age, "Paint");
    reef_system(w, age_others, "in Mass; writes Paint");
    reef_pool *pool = reef_pool_new(&(reef_pool_config){.threads = 2});
    if (pool) assert_ok(reef_set_pool(w, pool));
    reef_world *f = reef_fork(w);
    assert_ok(reef_tick(f, 0.1f));
    assert_ok(reef_tick(f, 0.1f));
    assert_int_equal(reef_get(f, e[N - 1], Paint)->b, 2 * N);
    assert_int_equal(reef_get(f, e[N - 1], Paint)->a, 2 * N);
    assert_int_equal(reef_get(w, e[N - 1], Paint)->a, 0);
    assert_ptr_equal(reef_get(f, e[0], Paint), reef_get(f, e[N - 1], Paint));
    assert_valid(f);
    reef_world_free(f);
    if (pool) assert_ok(reef_set_pool(w, NULL));
    reef_pool_free(pool);
}

/* Whole queries, and many at once: each entity gets a value of its own. */
static void many_get_values_of_their_own(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[20];
    for (int i = 0; i < 20; i++) e[i] = shaped(w, i);
    for (int i = 1; i < 10; i++) assert_ok(reef_share(w, e[0], e[i], Shape));
    assert_int_equal(book.live, 11);
    reef_query q = reef_query_new(w, "Position");
    Tracked mine;
    tracked_make(&mine, 9);
    assert_ok(reef_set_where_id(w, q, reef_id(Shape), &mine, sizeof mine, NULL));
    assert_int_equal(book.live, 21);
    assert_true(reef_get(w, e[0], Shape) != reef_get(w, e[1], Shape));
    book.fail_copy = 7, book.fail_status = REEF_BAD_ARGUMENT;
    assert_refused(w, REEF_BAD_ARGUMENT, reef_set_where_id(w, q, reef_id(Shape), &mine, sizeof mine, NULL));
    assert_int_equal(book.live, 21);
    tracked_drop(&mine);
    assert_ok(reef_remove_where_id(w, q, reef_id(Shape), NULL));
    assert_int_equal(book.live, 0);
    assert_ok(reef_add_where_id(w, q, reef_id(Shape), NULL));
    assert_int_equal(book.live, 20);
    assert_ok(reef_share(w, e[0], e[1], Shape));
    assert_status(REEF_ADDED, reef_set(w, e[2], Paint, 1, 1));
    assert_status(REEF_ADDED, reef_share(w, e[2], e[3], Paint));
    const Paint paints[2] = {{5, 5}, {6, 6}};
    assert_int_equal(reef_write_many(w, Paint, e + 2, 2, paints), 2);
    assert_int_equal(reef_get(w, e[2], Paint)->a, 5);
    assert_int_equal(reef_get(w, e[3], Paint)->a, 6);
}

typedef struct letting_go {
    reef_pinned *pin;
    uint32_t first, count;
} letting_go;

static atomic_uint ended;
static void counted_destroy(void *context, void *slot)
{
    (void)context, (void)slot;
    atomic_fetch_add(&ended, 1);
}
static reef_status counted_copy(void *context, void *to, const void *from)
{
    (void)context;
    memcpy(to, from, sizeof(Counted));
    return REEF_OK;
}
static const reef_hooks counted_hooks = {.copy = counted_copy, .destroy = counted_destroy, .bytes_move = true};
REEF_COMPONENT_IN_HOOKS(Counted, REEF_SHARED, &counted_hooks);

static void let_go(void *data)
{
    const letting_go *x = data;
    for (uint32_t i = 0; i < x->count; i++) {
        if (reef_pin_get(x->pin[x->first + i], Counted)->n < 0) abort();
        reef_unpin(x->pin[x->first + i]);
    }
}

static void write_all(void *world)
{
    for (reef_block b = reef_begin_text(world, "Counted"); reef_next(&b);) reef_inout(&b, Counted)->n++;
    reef_world_free(world);
}

/* Pins go on two threads while a fork writes on a third, and the world's entities die. */
static void pins_end_on_any_thread(void **state)
{
    enum { N = 400 };
    static reef_pinned pin[2 * N];
    static reef_entity e[N];
    reef_world *w = reef_world_new(NULL); /* the tests' heap is for one thread */
    (void)state;
    atomic_store(&ended, 0);
    for (int32_t i = 0; i < N; i++) {
        e[i] = reef_spawn(w, reef_with(Counted, i));
        pin[i] = reef_pin(w, e[i], Counted);
        pin[N + i] = reef_pin(w, e[i], Counted);
    }
    reef_world *f = reef_fork(w);
    letting_go halves[2] = {{pin, 0, N}, {pin, N, N}};
    thread t[3];
    bool made[3] = {thread_make(&t[0], let_go, &halves[0]), thread_make(&t[1], let_go, &halves[1]),
                    thread_make(&t[2], write_all, f)};
    for (int i = 0; i < N; i += 2) assert_ok(reef_destroy(w, e[i]));
    reef_world_free(w);
    for (int i = 0; i < 3; i++) {
        if (made[i]) thread_join(&t[i]);
        else if (i < 2) let_go(&halves[i]);
        else write_all(f);
    }
    assert_in_range(atomic_load(&ended), N, 2 * N); /* a value ended, and its copy, where one was made */
}

static uint32_t told[8], last_old;
static void tell(const reef_notice *n)
{
    told[n->kind & 7]++;
    if (n->kind != REEF_ON_ADD) last_old = (uint32_t)reef_was(n, Shape, 0)->value;
}

static void observers_see_what_was_let_go(void **state)
{
    reef_world *w = world_of(state);
    memset(told, 0, sizeof told);
    reef_observe(w, tell, REEF_ON_ADD | REEF_ON_SET | REEF_ON_REMOVE, Shape);
    reef_entity a = shaped(w, 1), b = shaped(w, 2);
    assert_int_equal(told[REEF_ON_ADD], 2);
    assert_ok(reef_share(w, a, b, Shape));
    assert_int_equal(told[REEF_ON_SET], 1);
    assert_int_equal(last_old, 2);
    assert_ok(reef_remove(w, a, Shape));
    assert_int_equal(last_old, 1);
    assert_int_equal(reef_get(w, b, Shape)->value, 1);
    assert_ok(reef_destroy(w, b));
    assert_int_equal(told[REEF_ON_REMOVE], 2);
    assert_int_equal(book.live, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(several_have_one_value),
        TEST(calls_are_checked),
        TEST(a_manager_keeps_10000_colliders),
        TEST(what_is_in_common_stays_so_in_a_fork),
        TEST(a_foreign_value_is_nobodys_to_write),
        TEST(snapshots_and_restores),
        TEST(a_refused_copy),
        TEST(sharing_is_hashed_and_compared),
        TEST(clones_have_the_value_of_their_source),
        TEST(loops_visit_the_value_under_each),
        TEST(a_system_writes_for_all),
        TEST(many_get_values_of_their_own),
        TEST(pins_end_on_any_thread),
        TEST(observers_see_what_was_let_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
