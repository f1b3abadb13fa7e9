/* The allocation sweep over hierarchies: names within their parents, trees that are destroyed, orders by a relation.
 * The index of names by text is dropped where memory is short: that shows in nothing but time. */
#include "oom_sweep.h"

REEF_RELATION(Holds, REEF_KEEPS_TARGET);

enum { NODES = 90 };

static void with_named_tree(sweep *s)
{
    char name[16];
    for (int i = 0; i < NODES; i++) {
        assert_some(s->e[i] = i % 3 ? reef_spawn(s->w, reef_with(Mass, i)) : reef_create(s->w));
        if (i % 30) assert_true(reef_relate(s->w, s->e[i], ChildOf, s->e[i - 1 - (i % 30 > 1 && i % 2)]) >= 0);
        snprintf(name, sizeof name, "n%d", i % 30);
        if (i % 30 == 0) snprintf(name, sizeof name, "root%d", i);
        assert_ok(reef_set_name(s->w, s->e[i], name));
    }
    assert_true(reef_relate(s->w, s->e[89], Holds, s->e[60]) >= 0);
}

#define CALL(name, call) \
    static bool name(sweep *s) { return done(call); }
CALL(named, reef_set_name(s->w, s->e[5], "other"))
CALL(unnamed, reef_set_name(s->w, s->e[5], NULL))
CALL(another_parent, reef_relate(s->w, s->e[3], ChildOf, s->e[47]))
CALL(another_place, reef_relate_before(s->w, s->e[3], ChildOf, s->e[1], (reef_entity){0}))
CALL(no_parent, reef_unrelate(s->w, s->e[2], ChildOf, s->e[1]))
CALL(parent_removed, reef_remove(s->w, s->e[2], ChildOf))
CALL(parent_set, reef_set(s->w, s->e[3], ChildOf, .target = s->e[77]))
CALL(tree_destroyed, reef_destroy(s->w, s->e[0]))
CALL(branch_destroyed, reef_destroy(s->w, s->e[33]))
CALL(tree_sorted, reef_sort_storage(s->w, &(reef_sort){.order = {.relation = reef_id(ChildOf)}}))

static bool parents_cleared(sweep *s) { return done(remove_everywhere(s->w, reef_id(ChildOf), NULL)); }
static bool tree_loaded(sweep *s)
{
    reef_bytes bytes;
    if (reef_save_bytes(s->w, &bytes, &(reef_save_desc){.raw = true}) < 0) return false;
    const bool ok = done(reef_load_bytes(s->w, bytes.data, bytes.size, NULL));
    reef_bytes_free(&bytes);
    return ok;
}
static bool tree_saved_some(sweep *s)
{
    const bool ok = done(reef_save_bytes(s->w, &s->made_bytes, &(reef_save_desc){.raw = true, .query = "Mass"}));
    reef_bytes_free(&s->made_bytes);
    return ok;
}
static bool tree_merged(sweep *s)
{
    reef_world *from = reef_fork(s->w);
    if (from == NULL) return false;
    const reef_status status = reef_merge(s->w, from, &(reef_merge_desc){.drop_names = true}, NULL);
    reef_world_free(from);
    return status == REEF_OK;
}
static bool tree_walked(sweep *s)
{
    uint64_t n = 0;
    if (reef_query_is_null(s->made = reef_query_new(s->w, "in Mass"))) return false;
    if (reef_query_order(s->w, s->made, &(reef_order){.relation = reef_id(ChildOf)}) != REEF_OK) return false;
    for (reef_block b = reef_begin(s->w, s->made); reef_next(&b);)
        for (uint32_t i = 0; i < b.count; i++) n = n * 7 + b.entities[i].index;
    s->seen = n;
    return reef_last_error(s->w).status == REEF_OK;
}

#define ALL(X) \
    X(named) \
    X(unnamed) \
    X(another_parent) \
    X(another_place) \
    X(no_parent) \
    X(parent_removed) \
    X(parent_set) \
    X(tree_destroyed) \
    X(branch_destroyed) \
    X(tree_sorted) \
    X(parents_cleared) \
    X(tree_loaded) \
    X(tree_saved_some) \
    X(tree_merged) \
    X(tree_walked)
#define PLAIN(call) {#call, with_named_tree, call},
static const scenario tree_scenarios[] = {ALL(PLAIN)};

static void sweep_all(bool shared)
{
    uint64_t runs = 0;
    failures = 0;
    for (size_t i = 0; i < sizeof tree_scenarios / sizeof *tree_scenarios; i++) {
        const trial t = {.scene = tree_scenarios[i]};
        const wanted w = sweep_undisturbed(&t);
        for (int rest = 0; rest < 2; rest++)
            for (uint64_t n = 1; sweep_run(&t, shared, n, rest == 1, &w); n += n < 20 ? 1 : 3) runs++;
    }
    assert_int_equal(failures, 0);
    assert_true(runs > 100); /* or the sweep sweeps nothing */
}

static void each_allocation_of_hierarchies_fails_in_turn(void **unused)
{
    (void)unused;
    sweep_all(false);
}
static void after_a_fork(void **unused)
{
    (void)unused;
    sweep_all(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_allocation_of_hierarchies_fails_in_turn),
        cmocka_unit_test(after_a_fork),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
