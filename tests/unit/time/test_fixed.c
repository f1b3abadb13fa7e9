/* Values that know their own address and that nobody can move: each is made where it stays, by every call there is. */
#include "support.h"

typedef struct Buoy {
    const struct Buoy *self;
    int32_t depth;
} Buoy;

static int64_t refuse_in = -1; /* hooks refuse when this has counted down to 0 */

static reef_status anchored(Buoy *b, int32_t depth)
{
    if (refuse_in == 0) return REEF_NO_MEMORY;
    refuse_in -= refuse_in > 0;
    *b = (Buoy){b, depth};
    return REEF_OK;
}
static reef_status buoy_construct(void *context, reef_world *w, reef_entity e, void *slot, const void *args)
{
    (void)context, (void)w, (void)e, (void)args;
    return anchored(slot, 1);
}
static reef_status buoy_copy(void *context, void *to, const void *from)
{
    (void)context;
    return anchored(to, ((const Buoy *)from)->depth);
}
static const reef_hooks bound = {.construct = buoy_construct, .address_bound = true};
static const reef_hooks bound_copied = {.construct = buoy_construct, .copy = buoy_copy, .address_bound = true};
typedef Buoy BuoyCopied;
REEF_COMPONENT_IN_HOOKS(Buoy, REEF_PAGED, &bound);
REEF_COMPONENT_IN_HOOKS(BuoyCopied, REEF_PAGED, &bound_copied);

/* All of them have one that is where it says that it is. */
static void assert_bound(const reef_world *w, reef_component c, const reef_entity *e, uint32_t n, int32_t depth)
{
    for (uint32_t i = 0; i < n; i++) {
        const Buoy *b = reef_get_id(w, e[i], c);
        assert_non_null(b);
        assert_ptr_equal(b->self, b);
        assert_int_equal(b->depth, depth);
    }
}

enum { N = 300 };

static void spawn_all(reef_world *w, reef_entity *e)
{
    for (uint32_t i = 0; i < N; i++) e[i] = reef_spawn(w, reef_with(Mass, (int32_t)i));
}

static void what_cannot_move_is_made_where_it_stays(void **state)
{
    (void)state;
    const reef_component c[] = {reef_id(Buoy), reef_id(BuoyCopied)};
    for (uint32_t k = 0; k < 2; k++) {
        reef_world *w = reef_world_new(NULL);
        assert_non_null(w);
        reef_entity e[N], more[N];
        spawn_all(w, e);
        for (uint32_t i = 0; i < N; i++) assert_ok(reef_add_id(w, e[i], c[k], NULL, NULL));
        assert_bound(w, c[k], e, N, 1);
        const reef_value again = reef_value_make(c[k], REEF_VALUE_DEFAULT, 0, NULL);
        for (uint32_t i = 0; i < N; i++) assert_ok(reef_change_values(w, e[i], &again, 1));
        assert_bound(w, c[k], e, N, 1);
        for (uint32_t i = 0; i < N; i += 2) assert_ok(reef_remove_id(w, e[i], c[k]));
        const reef_query q = reef_query_new(w, "Mass");
        uint64_t changed = 0;
        assert_ok(reef_add_where_id(w, q, c[k], &changed));
        assert_int_equal(changed, N / 2);
        assert_bound(w, c[k], e, N, 1);
        assert_ok(reef_spawn_many_values(w, N, more, &again, 1));
        assert_bound(w, c[k], more, N, 1);
        assert_valid(w);
        reef_world_free(w);
    }
}

static void adds(reef_block *b)
{
    for (uint32_t i = 0; i < b->count; i++) reef_cmd_add(b, b->entities[i], Buoy);
}
static void sets(reef_block *b)
{
    const Buoy here = {&here, 9};
    for (uint32_t i = 0; i < b->count; i++) reef_cmd_set_id(b, b->entities[i], reef_id(BuoyCopied), &here, sizeof here);
}

static void commands_make_it_where_it_stays(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[N];
    spawn_all(w, e);
    assert_false(reef_system_is_null(reef_system(w, adds, "Mass; adds Buoy")));
    assert_false(reef_system_is_null(reef_system(w, sets, "Mass; adds BuoyCopied")));
    for (uint32_t tick = 0; tick < 2; tick++) {
        assert_ok(reef_tick(w, 1));
        assert_bound(w, reef_id(Buoy), e, N, 1);
        assert_bound(w, reef_id(BuoyCopied), e, N, 9);
    }
}

static void a_hook_that_refuses_leaves_the_old_value(void **state)
{
    reef_world *w = world_of(state);
    const Buoy deep = {&deep, 7};
    reef_entity e[2] = {reef_spawn(w, reef_default(BuoyCopied)), reef_spawn(w, reef_with(Mass, 1))};
    assert_status(REEF_OK, reef_set_id(w, e[0], reef_id(BuoyCopied), &deep, sizeof deep));
    assert_bound(w, reef_id(BuoyCopied), e, 1, 7);
    const reef_value v[] = {reef_value_make(reef_id(BuoyCopied), REEF_VALUE_DEFAULT, 0, NULL),
                            reef_value_make(reef_id(Buoy), REEF_VALUE_DEFAULT, 0, NULL)};
    for (refuse_in = 0; refuse_in < 2; refuse_in++) {
        const int64_t at = refuse_in;
        assert_status(REEF_NO_MEMORY, reef_change_values(w, e[0], v, 2));
        refuse_in = at;
        assert_bound(w, reef_id(BuoyCopied), e, 1, 7);
        assert_false(reef_has(w, e[0], Buoy));
    }
    refuse_in = -1;
    const reef_query q = reef_query_new(w, "Mass | BuoyCopied");
    refuse_in = 1; /* of two, the second */
    assert_status(REEF_NO_MEMORY, reef_add_where_id(w, q, reef_id(Buoy), NULL));
    refuse_in = -1;
    assert_int_equal(reef_count(w, Buoy), 0);
    assert_ok(reef_change_values(w, e[0], v, 2));
    assert_bound(w, reef_id(Buoy), e, 1, 1);
    assert_bound(w, reef_id(BuoyCopied), e, 1, 1);
}

static int32_t old_depth;
static void replaced(const reef_notice *n)
{
    for (uint32_t i = 0; i < n->count; i++) old_depth = reef_was(n, BuoyCopied, i)->depth;
}

static void observers_see_the_old_value(void **state)
{
    reef_world *w = world_of(state);
    const Buoy deep = {&deep, 7};
    reef_entity e = reef_spawn(w, reef_default(BuoyCopied));
    assert_status(REEF_OK, reef_set_id(w, e, reef_id(BuoyCopied), &deep, sizeof deep));
    assert_false(reef_observer_is_null(reef_observe(w, replaced, REEF_ON_SET, BuoyCopied)));
    assert_ok(reef_change(w, e, reef_default(BuoyCopied)));
    assert_int_equal(old_depth, 7);
    assert_bound(w, reef_id(BuoyCopied), &e, 1, 1);
}

static void a_copy_needs_the_copy_hook(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[N], a, b;
    a = reef_spawn(w, reef_default(Buoy));
    assert_no_entity(w, REEF_NOT_COPYABLE, reef_clone(w, a));
    assert_null(reef_fork(w));
    assert_int_equal(reef_last_error(w).status, REEF_NOT_COPYABLE);
    assert_int_equal(reef_last_error(w).component.id, reef_id(Buoy).id);
    assert_ok(reef_destroy(w, a));
    b = reef_spawn(w, reef_default(BuoyCopied));
    assert_ok(reef_clone_many(w, b, N, e));
    assert_bound(w, reef_id(BuoyCopied), e, N, 1);
    reef_world *f = reef_fork(w);
    assert_non_null(f);
    const Buoy deep = {&deep, 7};
    for (uint32_t i = 0; i < N; i++)
        assert_status(REEF_OK, reef_set_id(f, e[i], reef_id(BuoyCopied), &deep, sizeof deep));
    assert_bound(f, reef_id(BuoyCopied), e, N, 7);
    assert_bound(w, reef_id(BuoyCopied), e, N, 1);
    const reef_query q = reef_query_new(w, "BuoyCopied");
    assert_refused(w, REEF_NOT_MOVABLE, reef_set_where_id(w, q, reef_id(BuoyCopied), &deep, sizeof deep, NULL));
    assert_valid(f);
    reef_world_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_cannot_move_is_made_where_it_stays),
        TEST(commands_make_it_where_it_stays),
        TEST(a_hook_that_refuses_leaves_the_old_value),
        TEST(observers_see_the_old_value),
        TEST(a_copy_needs_the_copy_hook),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
