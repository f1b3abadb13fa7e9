/* The allocation sweep over relations. The index of who is related to whom is made anew or dropped where memory is
 * short: that is never a failure by itself, and shows in nothing but time. */
#include "oom_sweep.h"
#include "storage/relation_index.h"
#include "storage/state.h"
#include "storage/world_data.h"

typedef struct {
    int32_t coins;
} Coins;
REEF_COMPONENT(Coins);
REEF_RELATION(Likes);
REEF_RELATION(DockedTo, REEF_EXCLUSIVE);
REEF_RELATION(Under, REEF_EXCLUSIVE | REEF_ACYCLIC | REEF_CASCADE | REEF_TRANSITIVE);
REEF_RELATION(Needs, REEF_ACYCLIC | REEF_CASCADE);
REEF_RELATION(Holds, REEF_KEEPS_TARGET);
REEF_RELATION(Married, REEF_EXCLUSIVE | REEF_SYMMETRIC);
REEF_RELATION(Knows, REEF_SYMMETRIC);
REEF_RELATION_OF(Owes, Coins);

enum { FOLK = 60, LONELY = 20 }; /* who have some relations; who come behind them and have none */

static void with_relations(sweep *s)
{
    for (int i = 0; i < FOLK + LONELY; i++) s->e[i] = i % 3 ? reef_create(s->w) : reef_spawn(s->w, reef_with(Mass, i));
    for (int i = 1; i < FOLK; i++) {
        assert_true(reef_relate(s->w, s->e[i], Under, s->e[(i - 1) / 2]) >= 0);
        assert_true(reef_relate(s->w, s->e[i], DockedTo, s->e[i % 3]) >= 0);
        for (int k = 0; k < i % 5; k++) assert_true(reef_relate_data(s->w, s->e[i], Owes, s->e[k * 7], k) >= 0);
        if (i % 2) assert_true(reef_relate(s->w, s->e[i], Married, s->e[i - 1]) >= 0);
        if (i % 4 == 0) assert_true(reef_relate(s->w, s->e[i], Knows, s->e[i - 2]) >= 0);
        if (i % 6 == 0) assert_true(reef_relate(s->w, s->e[i], Needs, s->e[i / 6 + 30]) >= 0 || i / 6 + 30 >= i);
    }
    assert_true(reef_relate(s->w, s->e[FOLK], Holds, s->e[FOLK + 1]) >= 0);
}

/* Places before e[1] among the sources of e[LONELY] are used up. */
static void with_narrow_places(sweep *s)
{
    with_relations(s);
    const reef_entity target = s->e[FOLK + 5];
    assert_true(reef_relate(s->w, s->e[0], Likes, target) >= 0 && reef_relate(s->w, s->e[1], Likes, target) >= 0);
    for (int i = 0; i < 24; i++) assert_true(reef_relate_before(s->w, s->e[2 + i], Likes, target, s->e[1]) >= 0);
}

static uint64_t heard;
static void hear(const reef_notice *n)
{
    for (uint32_t i = 0; i < n->count; i++) {
        heard = heard * 7 + reef_entity_bits(n->entities[i]) + (uint64_t)n->kind;
        if (n->targets) heard = heard * 7 + reef_entity_bits(n->targets[i]);
        if (n->kind == REEF_ON_REMOVE) assert_non_null(reef_notice_old(n, i));
        if (n->kind == REEF_ON_ADD && n->component.id == reef_id(Owes).id) assert_non_null(reef_notice_value(n, i));
    }
}

static void with_relations_observed(sweep *s)
{
    const uint32_t all = REEF_ON_ADD | REEF_ON_SET | REEF_ON_REMOVE | REEF_ON_DESTROY;
    with_relations(s);
    heard = 0;
    assert_false(reef_observer_is_null(reef_observer_add(s->w, "docked", hear, all, reef_id(DockedTo))));
    assert_false(reef_observer_is_null(reef_observer_add(s->w, "married", hear, all, reef_id(Married))));
    assert_false(reef_observer_is_null(reef_observer_add(s->w, "knows", hear, all, reef_id(Knows))));
    assert_false(reef_observer_is_null(reef_observer_add(s->w, "owes", hear, all, reef_id(Owes))));
    assert_false(reef_observer_is_null(reef_observer_add(s->w, "likes", hear, all, reef_id(Likes))));
    const reef_observer_desc needs = {
        .name = "needs", .function = hear, .events = all, .component = reef_id(Needs), .collected = true};
    const reef_observer_desc one = {.name = "one",
                                    .function = hear,
                                    .events = REEF_ON_ADD | REEF_ON_REMOVE | REEF_ON_SET,
                                    .component = reef_id(Under),
                                    .target = s->e[0]};
    assert_false(reef_observer_is_null(reef_observer_new(s->w, &needs)));
    assert_false(reef_observer_is_null(reef_observer_new(s->w, &one)));
    assert_false(reef_observer_is_null(reef_observer_add(s->w, "died", hear, REEF_ON_DESTROY, (reef_component){0})));
}

/* Nobody observes a relation; the observer of a query makes the world tell of every change all the same. */
static void with_relations_matched(sweep *s)
{
    const reef_query_desc query = {.text = "Mass"};
    const reef_observer_desc massive = {
        .name = "massive", .function = hear, .events = REEF_ON_MATCH | REEF_ON_UNMATCH, .query = &query};
    with_relations(s);
    heard = 0;
    assert_false(reef_observer_is_null(reef_observer_new(s->w, &massive)));
}

/* A call that failed has told nobody anything. */
static bool said(sweep *s, bool works)
{
    if (works) s->seen = heard;
    else assert_true(heard == 0);
    heard = 0;
    return works;
}
#define SAID(name, call) \
    static bool name(sweep *s) \
    { \
        heard = 0; \
        return said(s, done(call)); \
    }

SAID(related_first, reef_relate(s->w, s->e[FOLK + 2], DockedTo, s->e[FOLK + 3]))
SAID(related_more, reef_relate(s->w, s->e[9], Owes, s->e[FOLK + 3]))
SAID(related_again, reef_relate_data(s->w, s->e[9], Owes, s->e[7], 77))
SAID(related_elsewhere, reef_relate(s->w, s->e[9], DockedTo, s->e[FOLK + 3]))
SAID(related_acyclic, reef_relate(s->w, s->e[58], Needs, s->e[3]))
SAID(related_below, reef_relate(s->w, s->e[2], Under, s->e[15]))
SAID(related_before, reef_relate_before(s->w, s->e[FOLK + 2], DockedTo, s->e[1], s->e[4]))
SAID(related_before_again, reef_relate_before(s->w, s->e[31], DockedTo, s->e[1], s->e[4]))
SAID(related_before_narrow, reef_relate_before(s->w, s->e[50], Likes, s->e[FOLK + 5], s->e[1]))
SAID(related_both, reef_relate(s->w, s->e[2], Married, s->e[5]))
SAID(related_both_new, reef_relate(s->w, s->e[FOLK + 2], Married, s->e[FOLK + 3]))
SAID(related_both_half, reef_relate(s->w, s->e[FOLK + 2], Married, s->e[4]))
SAID(related_both_self, reef_relate(s->w, s->e[4], Married, s->e[4]))
SAID(related_both_many, reef_relate(s->w, s->e[FOLK + 2], Knows, s->e[4]))
SAID(unrelated, reef_unrelate(s->w, s->e[9], DockedTo, s->e[0]))
SAID(unrelated_one, reef_unrelate(s->w, s->e[9], Owes, s->e[7]))
SAID(unrelated_both, reef_unrelate(s->w, s->e[4], Married, s->e[5]))
SAID(unrelated_both_many, reef_unrelate(s->w, s->e[4], Knows, s->e[2]))
SAID(unrelated_all, reef_unrelate_all(s->w, s->e[9], Owes) == 4 ? REEF_OK : reef_last_error(s->w).status)
SAID(retargeted, reef_retarget(s->w, s->e[9], DockedTo, s->e[0], s->e[FOLK + 3]))
SAID(retargeted_one, reef_retarget(s->w, s->e[9], Owes, s->e[7], s->e[FOLK + 3]))
SAID(relation_set, reef_set(s->w, s->e[9], DockedTo, .target = s->e[FOLK + 3]))
SAID(relation_removed, reef_remove(s->w, s->e[9], Owes))
SAID(target_destroyed, reef_destroy(s->w, s->e[1]))
SAID(root_destroyed, reef_destroy(s->w, s->e[0]))
SAID(targets_destroyed, DESTROY_EVERYWHERE(s->w, reef_id(Mass)))

static bool targets_destroyed_where(sweep *s)
{
    const reef_query q = reef_query_new(s->w, "Mass");
    heard = 0;
    return said(s, !reef_query_is_null(q) && done(reef_destroy_where(s->w, q, NULL)) && done(reef_query_free(s->w, q)));
}
static bool relations_set_where(sweep *s)
{
    const reef_query q = reef_query_new(s->w, "Mass");
    heard = 0;
    return said(s, !reef_query_is_null(q) && done(reef_set_where(s->w, q, DockedTo, .target = s->e[FOLK + 3])) &&
                       done(reef_query_free(s->w, q)));
}
static bool source_cloned(sweep *s)
{
    heard = 0;
    return said(s, !reef_entity_is_null(reef_clone(s->w, s->e[9])));
}
static bool sources_cloned(sweep *s)
{
    reef_entity made[5];
    heard = 0;
    return said(s, done(reef_clone_many(s->w, s->e[9], 5, made)));
}
static bool source_spawned(sweep *s)
{
    heard = 0;
    return said(s, !reef_entity_is_null(reef_spawn(s->w, reef_with(Mass, 1), reef_with(DockedTo, .target = s->e[1]),
                                                   reef_with(Under, .target = s->e[FOLK + 3]))));
}
SAID(relations_cleared, remove_everywhere(s->w, reef_id(DockedTo), NULL))
SAID(many_relations_cleared, remove_everywhere(s->w, reef_id(Owes), NULL))
static bool relations_loaded(sweep *s)
{
    reef_bytes bytes;
    if (reef_save_bytes(s->w, &bytes, &(reef_save_desc){.raw = true}) < 0) return false;
    const bool ok = done(reef_load_bytes(s->w, bytes.data, bytes.size, NULL));
    reef_bytes_free(&bytes);
    return ok;
}
static bool relations_saved_some(sweep *s)
{
    const bool ok = done(reef_save_bytes(s->w, &s->made_bytes, &(reef_save_desc){.raw = true, .query = "Mass"}));
    reef_bytes_free(&s->made_bytes);
    return ok;
}
static bool relations_merged(sweep *s)
{
    reef_world *from = reef_fork(s->w);
    if (from == NULL) return false;
    const reef_status status = reef_merge(s->w, from, &(reef_merge_desc){.drop_names = true}, NULL);
    reef_world_free(from);
    return status == REEF_OK;
}
static bool relations_merged_some(sweep *s)
{
    reef_world *from = reef_fork(s->w);
    if (from == NULL) return false;
    const reef_status status = reef_merge(s->w, from, &(reef_merge_desc){.query = "Mass"}, NULL);
    reef_world_free(from);
    return status == REEF_OK;
}

/* Queries: made, walked with a loop over the same inside, and asked. */
static bool asked(sweep *s, const reef_query_desc *d)
{
    uint64_t n = 0, inner = 0;
    if (reef_query_is_null(s->made = reef_query_make(s->w, d))) return false;
    reef_block b = reef_begin(s->w, s->made);
    while (reef_next(&b)) {
        for (uint32_t first = 0, rows; (rows = reef_block_run(&b, &first)) != 0; first += rows) n += rows;
        if (inner) continue;
        reef_block i = reef_begin(s->w, s->made);
        while (reef_next(&i)) inner++;
        if (reef_last_error(s->w).status < 0) return reef_end(&b), false;
    }
    if (reef_last_error(s->w).status < 0) return false;
    s->seen = n * 1000 + inner;
    return reef_query_matches(s->w, s->made, s->e[9]) || reef_last_error(s->w).status == REEF_OK;
}
static bool targets_queried(sweep *s)
{
    return asked(s, &(reef_query_desc){.terms = {{.component = reef_id(Under), .access = REEF_WITH, .target = s->e[1]},
                                                 {.access = REEF_WITH, .target = s->e[1]}}});
}
static bool one_target_queried(sweep *s)
{
    return asked(s, &(reef_query_desc){.terms = {{.component = reef_id(Owes), .access = REEF_IN, .target = s->e[21]}}});
}
static bool variables_queried(sweep *s)
{
    return asked(s, &(reef_query_desc){.text = "Under($up), DockedTo($port), in Mass($port), Owes($x), Owes($y, $x)"});
}
static bool sources_queried(sweep *s)
{
    return asked(
        s, &(reef_query_desc){.text = "in Mass, Under($low, $this), Married($low, $other), ?Owes, Under($other, *)"});
}

#define ALL(X) \
    X(related_first) \
    X(related_more) \
    X(related_again) \
    X(related_elsewhere) \
    X(related_acyclic) \
    X(related_below) \
    X(related_before) \
    X(related_before_again) \
    X(related_both) \
    X(related_both_new) \
    X(related_both_half) \
    X(related_both_self) \
    X(related_both_many) \
    X(unrelated) \
    X(unrelated_one) \
    X(unrelated_both) \
    X(unrelated_both_many) \
    X(unrelated_all) \
    X(source_cloned) \
    X(sources_cloned) \
    X(source_spawned) \
    X(relations_cleared) \
    X(many_relations_cleared) \
    X(retargeted) \
    X(retargeted_one) \
    X(relation_set) \
    X(relation_removed) \
    X(target_destroyed) \
    X(root_destroyed) \
    X(targets_destroyed) \
    X(targets_destroyed_where) \
    X(relations_set_where)
#define MORE(X) \
    X(relations_loaded) \
    X(relations_saved_some) \
    X(relations_merged) \
    X(relations_merged_some) \
    X(targets_queried) \
    X(one_target_queried) \
    X(variables_queried) \
    X(sources_queried)
#define PLAIN(call) {#call, with_relations, call},
#define OBSERVED(call) {#call ", observed", with_relations_observed, call},
static const scenario relation_scenarios[] = {
    ALL(PLAIN) MORE(PLAIN) ALL(OBSERVED){"related_before_narrow", with_narrow_places, related_before_narrow},
    {"related_both_many, matched", with_relations_matched, related_both_many},
    {"unrelated_both_many, matched", with_relations_matched, unrelated_both_many},
};

/* The world begins without indexes. */
static void indexes_drop(sweep *s)
{
    for (uint32_t i = 1; i < s->w->state.store_count; i++)
        if (s->w->state.stores[i].relation) reef__relation_forget(s->w, &s->w->state.stores[i]);
}

static void sweep_all(bool shared, void (*ready)(sweep *s))
{
    uint64_t runs = 0;
    failures = 0;
    for (size_t i = 0; i < sizeof relation_scenarios / sizeof *relation_scenarios; i++) {
        const trial t = {.scene = relation_scenarios[i], .ready = ready, .with = ready ? ", without indexes" : NULL};
        const wanted w = sweep_undisturbed(&t);
        for (int rest = 0; rest < 2; rest++) {
            uint64_t n = 1;
            if (!swept(shared, rest == 1)) continue;
            for (; sweep_run(&t, shared, n, rest == 1, &w); n += sweep_step(n, false)) runs++;
        }
    }
    assert_int_equal(failures, 0);
    assert_true(runs > (SWEEP_IS_HALF ? 100 : 300)); /* or the sweep sweeps nothing */
}

static void each_allocation_of_relations_fails_in_turn(void **unused)
{
    (void)unused;
    sweep_all(false, NULL);
}
static void after_a_fork(void **unused)
{
    (void)unused;
    sweep_all(true, NULL);
}
static void without_indexes(void **unused)
{
    (void)unused;
    sweep_all(false, indexes_drop);
}
static void without_indexes_after_a_fork(void **unused)
{
    (void)unused;
    sweep_all(true, indexes_drop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_allocation_of_relations_fails_in_turn),
        cmocka_unit_test(after_a_fork),
        cmocka_unit_test(without_indexes),
        cmocka_unit_test(without_indexes_after_a_fork),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
