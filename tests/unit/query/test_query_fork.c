/* A fork has the queries that its origin had, under the same handles: in loops, in systems, in replays. */
#include "support.h"
#include "reef/condition.h"
#include "reef/history.h"
#include "reef/ordered.h"
#include "reef/place.h"
#include "reef/replay.h"
#include "reef/term.h"

typedef struct {
    float x, y;
} Spot;
typedef struct {
    int32_t left;
} Vigour;
typedef struct {
    char text[8];
} Label;
typedef struct {
    uint64_t n;
} Total;
REEF_COMPONENT(Spot);
REEF_COMPONENT(Vigour);
REEF_COMPONENT(Label);
REEF_COMPONENT(Total);
REEF_FIELDS(Vigour, left);
REEF_FIELDS(Label, text);
REEF_FIELDS(Spot, x, y);
REEF_PLACE(Spot, x, y, .cell = 2);
REEF_RELATION(PartOf, REEF_EXCLUSIVE | REEF_ACYCLIC);

static reef_entity spot(reef_world *w, float x, int32_t health)
{
    const reef_entity e = reef_spawn(w, reef_with(Spot, x, 0), reef_with(Vigour, health));
    assert_some(e);
    return e;
}

static void the_origins_queries(void **state)
{
    reef_world *w = world_of(state);
    for (int32_t i = 0; i < 10; i++) (void)spot(w, (float)i, i);
    const reef_query all = reef_query_new(w, "in Spot"), freed = reef_query_new(w, "in Vigour"),
                     other = reef_query_new(w, "with Frozen");
    assert_ok(reef_query_free(w, freed));
    reef_world *fork = reef_fork(w);
    const reef_query late = reef_query_new(w, "in Vigour"); /* in the place of the freed one */
    assert_int_equal(late.index, freed.index);
    assert_int_equal(reef_query_count(fork, all), 10);
    (void)spot(fork, 10, 10);
    (void)spot(fork, 11, 11);
    assert_int_equal(reef_query_count(fork, all), 12);
    assert_int_equal(reef_query_count(w, all), 10);
    /* what came or went later, on either side, is the affair of one */
    assert_zero(fork, REEF_OTHER_WORLD, reef_query_count(fork, late));
    assert_zero(fork, REEF_OTHER_WORLD, reef_query_count(fork, freed));
    const reef_query own = reef_query_new(fork, "in Spot, in Vigour");
    assert_int_equal(own.index, late.index);
    assert_int_equal(reef_query_count(fork, own), 12);
    assert_zero(w, REEF_OTHER_WORLD, reef_query_count(w, own));
    assert_int_equal(reef_query_count(w, late), 10);
    reef_world *second = reef_fork(fork);
    assert_int_equal(reef_query_count(second, all), 12);
    assert_int_equal(reef_query_count(second, own), 12);
    assert_ok(reef_query_free(second, other)); /* it wasn't used there */
    assert_refused(second, REEF_NOT_ALIVE, reef_query_free(second, other));
    assert_zero(second, REEF_NOT_ALIVE, reef_query_count(second, other));
    assert_ok(reef_query_free(second, all)); /* it was */
    assert_zero(second, REEF_NOT_ALIVE, reef_query_count(second, all));
    assert_int_equal(reef_query_count(fork, all), 12);
    assert_ok(reef_query_free(w, all));
    assert_zero(w, REEF_NOT_ALIVE, reef_query_count(w, all));
    assert_int_equal(reef_query_count(fork, all), 12);
    assert_int_equal(reef_query_count(fork, other), 0);
    reef_world *third = reef_fork(second);
    const reef_query heir = reef_query_new(third, "in Vigour"); /* in the place of `all`, where it was freed */
    assert_int_equal(heir.index, all.index);
    assert_zero(third, REEF_OTHER_WORLD, reef_query_count(third, all));
    assert_int_equal(reef_query_count(third, heir), 12);
    assert_int_equal(reef_query_count(third, own), 12);
    reef_world_free(second);
    reef_world_free(fork);
    assert_int_equal(reef_query_count(third, own), 12); /* whose maker is gone */
    reef_world_free(third);
}

/* Forks of forks of forks, each with a query of its own. */
static void queries_of_one_world(void **state)
{
    reef_world *w = world_of(state), *first = w;
    (void)spot(w, 1, 1);
    for (uint32_t i = 0; i < 50; i++) {
        const reef_query own = reef_query_make(w, &(reef_query_desc){.text = "in Spot", .own = true});
        assert_query(own);
        assert_int_equal(own.index, 0);
        assert_int_equal(reef_query_count(w, own), 1);
        reef_world *fork = reef_fork(w);
        assert_zero(fork, REEF_OTHER_WORLD, reef_query_count(fork, own));
        if (w != first) reef_world_free(w);
        w = fork;
    }
    reef_world_free(w);
}

/* Calls that only read a world write its queries as texts and copy them, whether they were used or not. */
static void texts_and_copies(void **state)
{
    static const char *const texts[] = {"in Spot, !Frozen", "in Spot, cascade(PartOf)",
                                        "Vigour(left < $most), Label(text == \"ab\\\"c\")",
                                        "with PartOf($whole), in Spot($whole)"};
    reef_world *w = world_of(state), *strange = another_world(state, NULL);
    char text[128];
    reef_query q[4];
    for (uint32_t i = 0; i < 4; i++) assert_query(q[i] = reef_query_new(w, texts[i]));
    reef_world *fork = reef_fork(w);
    for (uint32_t used = 0; used < 2; used++)
        for (uint32_t i = 0; i < 4; i++) {
            const size_t length = reef_query_text(fork, q[i], text, 64);
            assert_int_equal(strlen(text), length);
            (void)reef_query_text(w, q[i], text + 64, 64);
            assert_string_equal(text, text + 64);
            const reef_query copy = reef_query_copy(strange, fork, q[i]);
            assert_query(copy);
            (void)reef_query_text(strange, copy, text + 64, 64);
            assert_string_equal(text, text + 64);
            if (i != 2) assert_int_equal(reef_query_count(fork, q[i]), 0);
        }
    assert_int_equal(reef_query_text(fork, (reef_query){7, 1, q[0].world}, text, sizeof text), 0);
    reef_world_free(fork);
}

/* In the order of the query. */
static reef_entity first_of(reef_world *w, reef_query q)
{
    reef_block b = reef_begin(w, q);
    const reef_entity e = reef_next(&b) ? b.entities[0] : (reef_entity){0, 0};
    if (b.count) reef_end(&b);
    return e;
}

static void parameters_centres_and_orders(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[20];
    for (int32_t i = 0; i < 20; i++) e[i] = spot(w, (float)i, 20 - i);
    for (int32_t i = 0; i < 20; i++) reef_set(w, e[i], Label, "crab");
    reef_set(w, e[3], Label, "eel");
    const reef_query weak = reef_query_new(w, "in Spot, Vigour(left < $most), Label(text == $name)"),
                     near = reef_query_new(w, "near Spot"), sorted = reef_query_new(w, "in Vigour, in Spot");
    reef_world *before = reef_fork(w);
    assert_zero(before, REEF_BAD_ARGUMENT, reef_query_count(before, weak)); /* never set */
    assert_zero(before, REEF_BAD_ARGUMENT, reef_query_count(before, near));
    assert_ok(reef_query_set(w, weak, "most", 5));
    assert_ok(reef_query_set(w, weak, "name", "crab"));
    assert_ok(reef_query_near(w, near, &(reef_place_ask){.at = {4, 0}, .radius = 1.5}));
    assert_ok(reef_query_order(w, sorted, &(reef_order){.component = reef_id(Vigour), .field = "left"}));
    reef_world *fork = reef_fork(w);
    assert_ok(reef_query_set(w, weak, "most", 18)); /* these come too late for it */
    assert_ok(reef_query_set(w, weak, "name", "eel"));
    assert_ok(reef_query_near(w, near, &(reef_place_ask){.at = {4, 0}, .radius = 0.5}));
    assert_ok(reef_query_order(w, sorted, NULL));
    reef_world *after = reef_fork(w);
    assert_int_equal(reef_query_count(fork, weak), 4);
    assert_int_equal(reef_query_count(fork, near), 3);
    assert_entity(e[19], first_of(fork, sorted));
    for (uint32_t i = 0; i < 2; i++) {
        reef_world *now = i ? after : w;
        assert_int_equal(reef_query_count(now, weak), 1);
        assert_int_equal(reef_query_count(now, near), 1);
        assert_entity(e[0], first_of(now, sorted));
    }
    assert_zero(before, REEF_BAD_ARGUMENT, reef_query_count(before, weak));
    assert_ok(reef_query_set(before, weak, "most", 100));
    assert_ok(reef_query_set(before, weak, "name", "eel"));
    assert_int_equal(reef_query_count(before, weak), 1);
    assert_int_equal(reef_query_count(fork, weak), 4);
    reef_world_free(before);
    reef_world_free(fork);
    reef_world_free(after);
}

/* Nothing was asked before in the fork. */
static void setting_is_the_first_use(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[9];
    for (int32_t i = 0; i < 9; i++) e[i] = spot(w, (float)i, 9 - i);
    const reef_query weak = reef_query_new(w, "in Spot, Vigour(left < $most)"), near = reef_query_new(w, "near Spot"),
                     sorted = reef_query_new(w, "in Vigour");
    reef_world *fork = reef_fork(w);
    assert_ok(reef_query_set(fork, weak, "most", 4));
    assert_ok(reef_query_near(fork, near, &(reef_place_ask){.at = {4, 0}, .radius = 1.5}));
    assert_ok(reef_query_order(fork, sorted, &(reef_order){.component = reef_id(Vigour), .field = "left"}));
    assert_int_equal(reef_query_count(fork, weak), 3);
    assert_int_equal(reef_query_count(fork, near), 3);
    assert_entity(e[8], first_of(fork, sorted));
    reef_world_free(fork);
}

/* What a query has seen is part of the state, so in a fork it goes on from there. */
static void changes_go_on(void **state)
{
    reef_world *w = world_of(state);
    const reef_entity a = spot(w, 1, 1), b = spot(w, 2, 2);
    const reef_query changed = reef_query_new(w, "changed in Vigour");
    reef_each(w, changed, row)(void) row;
    assert_int_equal(reef_query_count(w, changed), 0);
    reef_world *still = reef_fork(w);
    reef_set(w, a, Vigour, 5);
    assert_int_equal(reef_query_count(w, changed), 2); /* of a block */
    assert_int_equal(reef_query_count(still, changed), 0);
    reef_world *fork = reef_fork(w);
    assert_int_equal(reef_query_count(fork, changed), 2);
    reef_each(fork, changed, row)(void) row;
    assert_int_equal(reef_query_count(fork, changed), 0);
    assert_int_equal(reef_query_count(w, changed), 2);
    assert_some(b);
    /* many further queries in a fork, which didn't use this one, don't make it forget */
    reef_world *second = reef_fork(w);
    for (uint32_t i = 0; i < 50; i++) {
        const reef_query q = reef_query_new(second, "changed in Spot");
        reef_each(second, q, row)(void) row;
        assert_ok(reef_query_free(second, q));
    }
    assert_int_equal(reef_query_count(second, changed), 2);
    reef_world_free(second);
    reef_world_free(fork);
    reef_world_free(still);
}

/* ---- in systems ---- */

typedef struct asking {
    reef_query all, only;
} asking;

static void sum_others(reef_block *b)
{
    const asking *a = b->context;
    Total *sum = reef_inout(b, Total);
    const reef_place *sky = reef_placed(b, Spot);
    for (reef_block o = reef_others(b, a->all); reef_next(&o);) {
        const Vigour *h = reef_in(&o, Vigour);
        for (uint32_t k = 0; k < o.count; k++)
            for (uint32_t i = 0; i < b->count; i++) sum[i].n += (uint64_t)h[k].left;
    }
    for (uint32_t i = 0; i < b->count; i++)
        sum[i].n += 1000u * reef_place_within(sky, &(reef_place_ask){.radius = 100, .only = a->only}, NULL, 0);
}

static reef_world *summing(void **state, asking *a, reef_entity *sum)
{
    reef_world *w = world_of(state);
    for (int32_t i = 0; i < 10; i++) {
        const reef_entity e = spot(w, (float)i, i);
        if (i % 2) assert_ok(reef_add(w, e, Frozen));
    }
    *sum = reef_spawn(w, reef_with(Total, 0));
    *a = (asking){.all = reef_query_new(w, "in Vigour"), .only = reef_query_new(w, "with Frozen, with Spot")};
    assert_false(
        reef_system_is_null(reef_system_new(w, &(reef_system_desc){.name = "sums",
                                                                   .function = sum_others,
                                                                   .text = "Total; reads Vigour, reads Spot as placed",
                                                                   .context = a})));
    return w;
}

static uint64_t sum_of(reef_world *w, reef_entity sum)
{
    assert_ok(reef_tick(w, 1));
    assert_status(REEF_OK, reef_last_error(w).status);
    return reef_get(w, sum, Total)->n;
}

static void systems_of_forks(void **state)
{
    asking a;
    reef_entity sum;
    reef_world *w = summing(state, &a, &sum);
    reef_snapshot *s = reef_snapshot_take(w);
    reef_world *unused = reef_fork(w);
    assert_int_equal(sum_of(w, sum), 5045);
    reef_world *fork = reef_fork(w), *of_snapshot = reef_snapshot_fork(s);
    reef_snapshot_free(s);
    (void)spot(fork, 3, 100);
    assert_int_equal(sum_of(fork, sum), 2 * 5045 + 100);
    assert_int_equal(sum_of(fork, sum), 3 * 5045 + 200);
    assert_int_equal(sum_of(of_snapshot, sum), 5045);
    end_world(state, w);
    assert_int_equal(sum_of(unused, sum), 5045);
    reef_world_free(of_snapshot);
    reef_world_free(fork);
    reef_world_free(unused);
}

static reef_status step(void *context, reef_world *w, uint64_t tick, const void *input, size_t bytes)
{
    (void)context, (void)tick, (void)input, (void)bytes;
    const reef_status s = reef_tick(w, 1);
    assert_status(REEF_OK, reef_last_error(w).status);
    return s;
}

static void replays(void **state)
{
    asking a;
    reef_entity sum;
    reef_world *w = summing(state, &a, &sum);
    reef_history *h = reef_history_new(w, &(reef_history_config){.ticks = 8, .step = step});
    assert_non_null(h);
    for (uint32_t i = 1; i <= 4; i++) {
        assert_ok(reef_history_step(h, NULL, 0));
        assert_int_equal(reef_get(w, sum, Total)->n, i * 5045);
    }
    reef_replay *r = reef_replay_new(h, 1);
    assert_non_null(r);
    assert_ok(reef_replay_play(r, 10));
    assert_int_equal(reef_get(reef_replay_world(r), sum, Total)->n, 4 * 5045);
    assert_ok(reef_replay_take(r));
    assert_int_equal(reef_get(w, sum, Total)->n, 4 * 5045);
    reef_replay_free(r);
    reef_history_free(h);
}

/* ---- memory ---- */

/* Forking and using the queries, with each allocation failing in turn: the world stays as it was, and all is done when
 * there is memory again. */
static void no_memory(void **state)
{
    asking a;
    reef_entity sum;
    reef_world *w = summing(state, &a, &sum);
    const reef_query weak = reef_query_new(w, "in Spot, Vigour(left < $most)"),
                     tree = reef_query_new(w, "with PartOf($p), in Spot($p)");
    assert_ok(reef_query_set(w, weak, "most", 3));
    heap *const h = heap_of(state);
    uint32_t failures[3] = {0};
    for (uint32_t step = 0; step < 3; step++)
        for (uint64_t n = 1;; n++) {
            reef_world *fork = NULL;
            if (step) assert_non_null(fork = reef_fork(w));
            else assert_ok(reef_query_set(w, weak, "most", 3)); /* so that what is kept has to be made again */
            heap_fail_nth(h, n, false);
            const uint64_t refused = h->refused;
            bool ok = true;
            if (step == 0) ok = (fork = reef_fork(w)) != NULL;
            if (step == 1) ok = reef_tick(fork, 1) == REEF_OK;
            if (step == 2) {
                (void)reef_query_count(fork, weak);
                ok = reef_last_error(fork).status == REEF_OK;
                (void)reef_query_count(fork, tree);
                ok &= reef_last_error(fork).status == REEF_OK;
            }
            heap_fail_never(h);
            failures[step] += !ok;
            if (!ok) assert_true(h->refused > refused);
            if (fork) {
                assert_valid(fork);
                if (step == 1 && ok) assert_int_equal(reef_get(fork, sum, Total)->n, 5045);
                reef_set(fork, sum, Total, 0);
                assert_int_equal(sum_of(fork, sum), 5045);
                assert_int_equal(reef_query_count(fork, weak), 3);
                assert_int_equal(reef_query_count(fork, a.all), 10);
            }
            reef_world_free(fork);
            if (h->refused == refused) break;
        }
    for (uint32_t step = 0; step < 3; step++) assert_true(failures[step] > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_origins_queries),
        TEST(queries_of_one_world),
        TEST(texts_and_copies),
        TEST(parameters_centres_and_orders),
        TEST(setting_is_the_first_use),
        TEST(changes_go_on),
        TEST(systems_of_forks),
        TEST(replays),
        TEST(no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
