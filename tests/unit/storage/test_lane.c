/* Lanes of ids (D3, E4): which ids jobs give out, and what becomes of those that they pass over. The jobs are made
 * by hand. */
#include "storage/cow_pages.h"
#include "storage/entity_index.h"
#include "storage/id_lanes.h"
#include "storage/invalidate.h"
#include "storage/world_data.h"
#include "system/event.h"
#include "support.h"
#include "storage/table.h"

enum { LANES_MOST = 64, IDS_MOST = 40000 };

typedef struct lane_stage {
    reef_world *w;
    uint32_t lanes, made[LANES_MOST];
    reef_entity out[IDS_MOST]; /* in the order in which they were given out */
    uint32_t count;
    reef_entity expected[IDS_MOST]; /* the sequence before: free ids, oldest first, then fresh indices */
    bool is_out[IDS_MOST];
} lane_stage;

static uint64_t position_of(uint64_t k, uint32_t lane, uint32_t lanes) { return (k / 64 * lanes + lane) * 64 + k % 64; }

/* What somebody who only reserves ids would get: asked of a fork, which goes. */
static void sequence(lane_stage *s)
{
    reef_world *fork = reef_fork(s->w);
    assert_non_null(fork);
    for (uint32_t i = 0; i < IDS_MOST; i++) {
        s->expected[i] = reef_reserve_id(fork);
        s->is_out[i] = false;
    }
    reef_world_free(fork);
}

static reef_status take(lane_stage *s, uint32_t lane, uint32_t n)
{
    id_lane j = {.world = s->w, .lane = lane, .lanes = s->lanes, .made = s->made[lane]};
    reef_status status = REEF_OK;
    for (uint32_t i = 0; i < n && status == REEF_OK; i++) {
        reef_entity e = {0, 0};
        const uint64_t at = position_of(j.made, lane, s->lanes);
        status = reef__lane_next(&j, &e);
        if (status != REEF_OK) break;
        if (at < IDS_MOST) {
            assert_entity(s->expected[at], e);
            s->is_out[at] = true;
        }
        s->out[s->count++ % IDS_MOST] = e;
    }
    s->made[lane] = j.made;
    return status;
}

/* After the lanes: those that are out are pending, and what comes next is what was passed over, in the sequence's
 * order. */
static void check_end(lane_stage *s)
{
    static uint32_t passed[IDS_MOST];
    uint32_t n = 0;
    assert_valid(s->w);
    for (uint32_t i = 0; i < s->count && i < IDS_MOST; i++) assert_true(reef__id_pending(s->w, s->out[i]));
    for (uint32_t i = 0; i < IDS_MOST && s->expected[i].generation; i++)
        if (!s->is_out[i]) passed[n++] = i;
    reef_world *fork = reef_fork(s->w);
    for (uint32_t i = 0; i < n; i++) assert_entity(s->expected[passed[i]], reef_reserve_id(fork));
    assert_valid(fork);
    reef_world_free(fork);
}

static lane_stage *lane_stage_make(reef_world *w, uint32_t lanes)
{
    lane_stage *s = calloc(1, sizeof *s);
    assert_non_null(s);
    s->w = w;
    s->lanes = lanes;
    sequence(s);
    assert_true(reef__lanes_begin(w, lanes));
    return s;
}

/* `recycled` free ids, of different generations, in no order; none where ids aren't reused. */
static void free_some(reef_world *w, uint32_t recycled, uint64_t *seed)
{
    reef_entity e[6000];
    for (uint32_t i = 0; i < recycled; i++) e[i] = reef_create(w);
    for (uint32_t i = recycled; i > 1; i--) {
        const uint32_t k = random_below(seed, i);
        const reef_entity x = e[i - 1];
        e[i - 1] = e[k];
        e[k] = x;
    }
    for (uint32_t i = 0; i < recycled; i++) assert_ok(reef_destroy(w, e[i]));
}

static void random_lanes(reef_world *w, uint64_t *seed)
{
    for (int round = 0; round < 4; round++) {
        lane_stage *s = lane_stage_make(w, 1 + random_below(seed, random_below(seed, 2) ? LANES_MOST : 4));
        const uint32_t takes = random_below(seed, 30);
        for (uint32_t i = 0; i < takes; i++)
            (void)take(s, random_below(seed, s->lanes), random_below(seed, random_below(seed, 2) ? 200 : 5));
        const reef_status status = reef__lanes_end(w, s->made, s->lanes);
        assert_ok(status);
        check_end(s);
        for (uint32_t i = 0; i < s->count; i++)
            if (random_below(seed, 2)) assert_true(reef__id_unpend(w, s->out[i]));
        assert_valid(w);
        free(s);
    }
}

static void ids_of_lanes_are_places_in_the_sequence(void **setup)
{
    uint64_t seed = 7;
    for (int i = 0; i < 12; i++) {
        reef_world *w = another_world(setup, NULL);
        free_some(w, random_below(&seed, i % 2 ? 6000 : 100), &seed);
        random_lanes(w, &seed);
        end_world(setup, w);
    }
}

static void lanes_of_a_world_that_reuses_no_id(void **setup)
{
    uint64_t seed = 8;
    for (int i = 0; i < 6; i++) {
        reef_world *w = another_world(setup, &(reef_world_config){.never_reuse = true});
        free_some(w, random_below(&seed, 300), &seed);
        random_lanes(w, &seed);
        end_world(setup, w);
    }
}

static void holes_in_the_ring_are_no_places(void **setup)
{
    uint64_t seed = 9;
    reef_world *w = world_of(setup);
    free_some(w, 500, &seed);
    for (uint32_t i = 10; i < 400; i += 7) assert_ok(reef_create_as(w, (reef_entity){i, 5}));
    random_lanes(w, &seed);
}

/* Whether a lane can give out one more depends on its own place alone. */
static void entities_max_ends_each_lane_at_its_place(void **setup)
{
    reef_world *w = another_world(setup, &(reef_world_config){.entities_max = 200});
    for (int i = 0; i < 10; i++) assert_some(reef_create(w));
    lane_stage *s = lane_stage_make(w, 2);
    assert_status(REEF_LIMIT, take(s, 1, 1000));
    /* run 1; run 3 begins at position 192, behind the last of the 190 that are left */
    assert_int_equal(s->made[1], 64);
    assert_status(REEF_LIMIT, take(s, 0, 1000));
    assert_int_equal(s->made[0], 64 + 190 - 128); /* runs 0 and 2 */
    assert_status(REEF_LIMIT, take(s, 1, 1));
    assert_ok(reef__lanes_end(w, s->made, 2));
    check_end(s);
    assert_no_entity(w, REEF_LIMIT, reef_create(w));
    free(s);
}

/* One lane of 64 makes 100,000, again and again: each time what the others didn't use is used first. */
static void a_lane_that_makes_all_keeps_memory_bounded(void **setup)
{
    enum { MANY = 100000 };
    reef_world *w = world_of(setup);
    reef_entity *e = malloc(MANY * sizeof *e);
    uint64_t bytes = 0, indices = 0;
    for (int round = 0; round < 6; round++) {
        id_lane j = {.world = w, .lane = 17, .lanes = 64};
        uint32_t made[64] = {0};
        assert_true(reef__lanes_begin(w, 64));
        for (int i = 0; i < MANY; i++) assert_ok(reef__lane_next(&j, &e[i]));
        made[17] = j.made;
        assert_ok(reef__lanes_end(w, made, 64));
        assert_valid(w);
        for (int i = 0; i < MANY; i++) assert_true(reef__id_unpend(w, e[i]));
        assert_valid(w);
        if (round == 1) bytes = heap_of(setup)->bytes, indices = reef_world_stats(w).indices;
    }
    assert_true(indices <= 64ull * (MANY + 64));
    assert_int_equal(reef_world_stats(w).indices, indices);
    assert_int_equal(heap_of(setup)->bytes, bytes);
    free(e);
}

static void even_lanes_pass_over_less_than_a_run_each(void **setup)
{
    reef_world *w = world_of(setup);
    lane_stage *s = lane_stage_make(w, 16);
    for (uint32_t l = 0; l < 16; l++) assert_ok(take(s, l, 1000 + l));
    assert_ok(reef__lanes_end(w, s->made, 16));
    check_end(s);
    assert_true(reef_world_stats(w).indices <= 16 * 1024 + 64);
    free(s);
}

/* The ring and the records are shared with a fork, which sees nothing of it. */
static void lanes_leave_a_fork_alone(void **setup)
{
    uint64_t seed = 10;
    reef_world *w = world_of(setup);
    free_some(w, 3000, &seed);
    reef_world *fork = reef_fork(w);
    const uint64_t before = hash_anew(fork);
    lane_stage *s = lane_stage_make(w, 3);
    assert_ok(take(s, 2, 1500));
    assert_ok(reef__lanes_end(w, s->made, 3));
    check_end(s);
    assert_int_equal(hash_anew(fork), before);
    assert_true(hash_anew(w) != before);
    assert_int_equal(hash_anew(w), reef_hash(w));
    assert_valid(fork);
    reef_world_free(fork);
    free(s);
}

/* Without memory the lanes' end waits, and nobody gets an id meanwhile; then all is as if memory had never been
 * short. */
static void lanes_that_end_without_memory_end_later(void **setup)
{
    uint64_t whole = 0, refused = 1;
    for (uint64_t n = 0; refused; n++) {
        uint64_t seed = 11;
        reef_world *w = another_world(setup, NULL);
        free_some(w, 2000, &seed);
        reef_entity own = reef_create(w);
        reef_world *fork = reef_fork(w); /* so that pages have to be copied */
        lane_stage *s = lane_stage_make(w, 4);
        assert_ok(take(s, 3, 3000));
        assert_ok(take(s, 0, 30));
        heap *h = heap_of(setup);
        if (n) heap_fail_nth(h, n, true);
        const reef_status status = reef__lanes_end(w, s->made, 4);
        refused = n == 0 || h->refused != 0;
        if (n && refused) {
            assert_int_equal(status, REEF_NO_MEMORY);
            assert_int_equal(w->lane_rest, 4);
            const uint32_t indices = w->hot.index_count;
            bool late = false; /* each try gets a bit further with what reef holds, and that may be enough */
            for (int k = 0; k < 8 && !late; k++) late = w->lane_rest == 0 || reef__lanes_retry(w);
            if (!late) {
                assert_none(reef_create(w));
                assert_int_equal(reef_last_error(w).status, REEF_NO_MEMORY);
                assert_none(reef_reserve_id(w));
                assert_int_equal(reef_create_as(w, (reef_entity){30000, 1}), REEF_NO_MEMORY);
                assert_int_equal(reef_destroy(w, own), REEF_NO_MEMORY);
                assert_true(reef_is_alive(w, own));
            }
            assert_int_equal(w->hot.index_count, indices);
            heap_fail_never(h);
            assert_true(lanes_finish(w));
            assert_int_equal(w->lane_rest, 0);
        } else {
            heap_fail_never(h);
            assert_ok(status);
        }
        check_end(s);
        if (n == 0) whole = hash_anew(w);
        else assert_int_equal(hash_anew(w), whole);
        reef_world_free(fork);
        end_world(setup, w);
        free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(ids_of_lanes_are_places_in_the_sequence),
        TEST(lanes_of_a_world_that_reuses_no_id),
        TEST(holes_in_the_ring_are_no_places),
        TEST(entities_max_ends_each_lane_at_its_place),
        TEST(a_lane_that_makes_all_keeps_memory_bounded),
        TEST(even_lanes_pass_over_less_than_a_run_each),
        TEST(lanes_leave_a_fork_alone),
        TEST(lanes_that_end_without_memory_end_later),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
