/* Hierarchies: the relation ChildOf, which is always there. */
#include "support.h"

typedef struct {
    float x, y;
} Place;
REEF_COMPONENT(Place);

static void F5_child_of_is_exclusive_acyclic_cascading_and_ordered(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[5];
    for (uint32_t i = 0; i < 5; i++) assert_some(e[i] = i % 2 ? reef_create(w) : reef_spawn(w, reef_with(Place, 1, 2)));
    assert_none(reef_parent(w, e[0]));
    for (uint32_t i = 1; i < 4; i++) assert_status(REEF_ADDED, reef_relate(w, e[i], ChildOf, e[0]));
    assert_ok(reef_relate_before(w, e[3], ChildOf, e[0], e[1]));
    reef_sources s = reef_sources_of(w, e[0], ChildOf);
    assert_true(reef_sources_next(&s));
    assert_int_equal(s.count, 3);
    assert_entity(e[3], s.sources[0]);
    assert_entity(e[1], s.sources[1]);
    assert_entity(e[2], s.sources[2]);
    assert_refused(w, REEF_CYCLE, reef_relate(w, e[0], ChildOf, e[0]));
    assert_status(REEF_ADDED, reef_relate(w, e[2], ChildOf, e[1])); /* instead of e[0] */
    assert_entity(e[1], reef_parent(w, e[2]));
    assert_refused(w, REEF_CYCLE, reef_relate(w, e[0], ChildOf, e[2]));
    assert_status(REEF_ADDED, reef_set(w, e[4], ChildOf, .target = e[2])); /* it is a component like any other */
    assert_entity(e[2], reef_parent(w, e[4]));
    assert_ok(reef_destroy(w, e[1]));
    assert_true(reef_is_alive(w, e[0]) && reef_is_alive(w, e[3]));
    for (int i = 1; i < 5; i++) assert_int_equal(reef_is_alive(w, e[i]), i == 3);
    assert_none(reef_parent(w, e[4]));
    assert_none(reef_parent(NULL, e[3]));
    assert_valid(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(F5_child_of_is_exclusive_acyclic_cascading_and_ordered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
