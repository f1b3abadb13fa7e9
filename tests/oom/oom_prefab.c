/* The allocation sweep over templates and their copies. */
#include "oom_topics.h"

typedef struct {
    int32_t rounds;
} Shells; /* outside of tables */
typedef Tracked Crest;
typedef Tracked Hull;
REEF_COMPONENT_IN(Shells, REEF_SPARSE);
REEF_FIELDS(Shells, rounds);
REEF_COMPONENT_HOOKS(Crest, &tracked_hooks);
REEF_FIELDS(Crest, value);
REEF_COMPONENT_IN_HOOKS(Hull, REEF_SHARED, &tracked_hooks);
REEF_FIELDS(Hull, value);
REEF_SWITCH(Ready);
REEF_RELATION(Cabled);

static void tree_of(sweep *s)
{
    for (int i = 1; i < 6; i++) assert_true(reef_relate(s->w, s->e[i], ChildOf, s->e[(i - 1) / 2]) == REEF_ADDED);
    assert_ok(reef_add(s->w, s->e[0], Crest));
    assert_ok(reef_add(s->w, s->e[1], Hull));
    assert_ok(reef_add(s->w, s->e[2], Ready));
    assert_true(reef_set(s->w, s->e[3], Shells, 3) == REEF_ADDED);
    for (int i = 1; i < 5; i++) assert_true(reef_relate(s->w, s->e[0], Cabled, s->e[i]) == REEF_ADDED);
    assert_true(reef_relate(s->w, s->e[0], Cabled, s->e[20]) == REEF_ADDED);
}

static void with_tree(sweep *s)
{
    some_rows(s);
    tree_of(s);
}

static void with_prefab(sweep *s)
{
    with_tree(s);
    assert_ok(reef_set_name(s->w, s->e[1], "left"));
    assert_ok(reef_set_name(s->w, s->e[2], "right"));
    assert_ok(reef_make_prefab(s->w, s->e[0]));
}

static void with_prefab_observed(sweep *s)
{
    with_observers(s);
    for (int i = 0; i < 30; i++)
        if (reef_entity_is_null(s->e[i]) || !reef_is_alive(s->w, s->e[i])) assert_some(s->e[i] = reef_create(s->w));
    tree_of(s);
}

static bool prefab_made(sweep *s) { return reef_make_prefab(s->w, s->e[0]) == REEF_OK; }
static bool prefab_copied(sweep *s) { return reef_instantiate(s->w, s->e[0], 1, NULL) == REEF_OK; }
static bool prefab_copied_often(sweep *s)
{
    reef_entity made[40];
    return reef_instantiate_with(s->w, s->e[0], 40, made, reef_with(Mass, 3), reef_default(Crest)) == REEF_OK;
}
static bool tree_cloned(sweep *s) { return reef_clone_tree(s->w, s->e[0], 30, NULL) == REEF_OK; }

const scenario prefab_scenarios[] = {
    {"make_prefab", with_tree, prefab_made},
    {"make_prefab, observed", with_prefab_observed, prefab_made},
    {"instantiate", with_prefab, prefab_copied},
    {"instantiate, many with values", with_prefab, prefab_copied_often},
    {"instantiate, observed", with_prefab_observed, prefab_copied_often},
    {"clone_tree", with_tree, tree_cloned},
    {0},
};
