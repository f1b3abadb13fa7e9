/* The add-on reef_page, elsewhere than in a page: ticks in a loop, shapes, going back, forks, looking inside. */
#include "reef_page.h"
#include "support.h"
#include <stdlib.h>

typedef struct {
    int32_t ticks;
} Counted;
REEF_COMPONENT(Counted);
REEF_FIELDS(Counted, ticks);

static struct {
    reef_entity counted;
    uint32_t steps;
} test;

static bool count_to_ten(reef_world *w)
{
    test.steps++;
    return ++reef_mut(w, test.counted, Counted)->ticks < 10;
}

static void a_loop_until_the_step_says_so(void **state)
{
    reef_world *w = world_of(state);
    test.counted = reef_spawn(w, reef_with(Counted, 0));
    test.steps = 0;
    reef_page_run(w, count_to_ten);
    assert_int_equal(test.steps, 10);
    assert_int_equal(reef_get(w, test.counted, Counted)->ticks, 10);
    reef_page_run(NULL, count_to_ten);
    reef_page_run(w, NULL);
    assert_int_equal(test.steps, 10);
    assert_false(reef_page_play(REEF_PAGE_WORLD)); /* there is no world any more */
    assert_false(reef_page_fork());
    assert_int_equal(reef_page_hash(REEF_PAGE_WORLD), 0);
    assert_int_equal(reef_page_alive(REEF_PAGE_WORLD), 0);
}

/* What a page does between ticks is done in the last tick here, since elsewhere the loop doesn't return before. A tick
 * that is played there is one of the fork, or of the world after it went back, which doesn't come here again. */
static bool inside;

static bool draws(reef_world *w)
{
    Counted *c = reef_mut(w, test.counted, Counted);
    c->ticks++;
    reef_page_circle(1, 2, 3, 0x102030);
    reef_page_line(1, 2, 3, 4, 0.5f, 0xffffff);
    reef_page_line(1, 2, 3, 4, 0, 0xffffff); /* no width: nothing */
    if (inside || c->ticks < 5) return true;
    inside = true;

    uint32_t count, first, now;
    const reef_page_shape *shapes = reef_page_shapes(&count);
    assert_int_equal(count, 2);
    assert_true(shapes[0].x1 == 3 && shapes[0].width == 0 && shapes[0].colour == 0x102030);
    assert_true(shapes[1].y1 == 4 && shapes[1].width == 0.5f);
    reef_page_ticks(&first, &now);
    assert_int_equal(first, 0);
    assert_int_equal(now, 5);

    /* A fork is the same, and plays by itself. */
    assert_int_equal(reef_page_differences(), 0);
    assert_true(reef_page_fork());
    assert_int_equal(reef_page_differences(), 0);
    assert_true(reef_page_hash(REEF_PAGE_FORK) == reef_page_hash(REEF_PAGE_WORLD));
    assert_true(reef_page_play(REEF_PAGE_FORK));
    assert_int_equal(reef_page_differences(), 1);
    assert_true(reef_page_hash(REEF_PAGE_FORK) != reef_page_hash(REEF_PAGE_WORLD));
    assert_int_equal(reef_page_alive(REEF_PAGE_FORK), reef_page_alive(REEF_PAGE_WORLD));
    reef_page_ticks(&first, &now);
    assert_int_equal(now, 5);
    reef_page_join();
    assert_false(reef_page_play(REEF_PAGE_FORK));

    /* Going back, and no further than there are states. */
    const uint64_t hash = reef_page_hash(REEF_PAGE_WORLD);
    assert_false(reef_page_back(5));
    assert_true(reef_page_back(2));
    assert_int_equal(reef_get(w, test.counted, Counted)->ticks, 2);
    reef_page_ticks(&first, &now);
    assert_int_equal(now, 2);
    assert_false(reef_page_back(3)); /* it is no more */
    for (int i = 0; i < 3; i++) assert_true(reef_page_play(REEF_PAGE_WORLD));
    assert_true(reef_page_hash(REEF_PAGE_WORLD) == hash);

    /* The oldest states are dropped. */
    for (uint32_t i = 0; i < REEF_PAGE_TICKS_MAX; i++) assert_true(reef_page_play(REEF_PAGE_WORLD));
    reef_page_ticks(&first, &now);
    assert_int_equal(now, 5 + REEF_PAGE_TICKS_MAX);
    assert_int_equal(first, 5);
    assert_false(reef_page_back(4));
    assert_true(reef_page_back(5));
    assert_int_equal(reef_get(w, test.counted, Counted)->ticks, 5);
    return false;
}

static void a_page_draws_goes_back_and_forks(void **state)
{
    reef_world *w = world_of(state);
    test.counted = reef_spawn(w, reef_with(Counted, 0));
    inside = false;
    reef_page_run(w, draws);
    assert_true(inside);
}

/* Somebody else, such as the inspector, sets the world back: the page's ticks follow. */
static reef_snapshot *early;
static bool is_set_back(reef_world *w)
{
    (void)reef_tick(w, 1);
    if (inside) return true;
    if (reef_tick_count(w) == 2) early = reef_snapshot_take(w);
    if (reef_tick_count(w) < 6) return true;
    inside = true;
    uint32_t first, now;
    reef_page_follow();
    reef_page_ticks(&first, &now);
    assert_int_equal(now, 6); /* nobody did */
    assert_ptr_equal(reef_page_world(REEF_PAGE_WORLD), w);
    assert_null(reef_page_world(REEF_PAGE_FORK));
    assert_true(reef_page_step_of_run() == is_set_back);
    assert_true(reef_page_play(REEF_PAGE_WORLD));
    assert_int_equal(reef_restore(w, early), REEF_OK);
    reef_page_follow();
    reef_page_ticks(&first, &now);
    assert_int_equal(now, 2);
    assert_true(reef_page_play(REEF_PAGE_WORLD));
    assert_int_equal(reef_tick_count(w), 3);
    assert_true(reef_page_back(1));
    assert_int_equal(reef_tick_count(w), 1);
    return false;
}

static void a_page_follows_a_world_that_is_set_back(void **state)
{
    inside = false;
    reef_page_run(world_of(state), is_set_back);
    assert_true(inside);
    reef_snapshot_free(early);
    assert_null(reef_page_step_of_run());
    reef_page_follow(); /* there is no world any more */
}

static bool draws_too_much(reef_world *w)
{
    (void)w;
    for (int i = 0; i < REEF_PAGE_SHAPES_MAX + 5; i++) reef_page_circle(0, 0, 1, 0);
    uint32_t count;
    reef_page_shapes(&count);
    assert_int_equal(count, REEF_PAGE_SHAPES_MAX);
    return false;
}

static void limits_and_sliders(void **state)
{
    reef_page_run(world_of(state), draws_too_much);
    assert_true(reef_page_slider("height", 0, 10, 4) == 4);
    reef_page_view(-1, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_loop_until_the_step_says_so),
        TEST(a_page_draws_goes_back_and_forks),
        TEST(a_page_follows_a_world_that_is_set_back),
        TEST(limits_and_sliders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
