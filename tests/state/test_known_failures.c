/* Failures that are known from other systems of this kind, with a test for each, in every home where it can happen.
 * Each test finds a seeded bug (tests/seeded/bugs.h): 110 ... 117, 7, 9 and 60. (Row H7.) */
#include "base/platform.h"
#include "support.h"

static const struct where {
    const char *name;
    reef_home home;
    uint32_t page_rows;
} places[] = {{"table", REEF_TABLE, 0}, {"sparse", REEF_SPARSE, 0}, {"paged", REEF_PAGED, 4},
              {"cold", REEF_COLD, 0},   {"multi", REEF_MULTI, 0},   {"shared", REEF_SHARED, 0}};
enum { PLACES = sizeof places / sizeof *places };

static reef_component type_in(uint32_t h, const char *what, uint32_t size, const reef_hooks *hooks)
{
    char name[48];
    reef_status s;
    (void)snprintf(name, sizeof name, "%s_%s", what, places[h].name);
    const reef_component c = reef_type_new(&(reef_type_desc){.name = name,
                                                             .size = size,
                                                             .align = 4,
                                                             .home = places[h].home,
                                                             .hooks = hooks,
                                                             .page_rows = places[h].page_rows},
                                           &s);
    assert_status(REEF_OK, s);
    return c;
}
static reef_component plain_type(uint32_t h) { return type_in(h, "Number", 8, NULL); }
static reef_component kept_type(uint32_t h) { return type_in(h, "Kept", sizeof(Tracked), &tracked_hooks); }

static void number_give(reef_world *w, reef_entity e, reef_component c, int32_t n)
{
    const int32_t value[2] = {n, n};
    assert_true(reef_set_id(w, e, c, value, sizeof value) >= 0);
}
static int32_t number_there(const reef_world *w, reef_entity e, reef_component c)
{
    const int32_t *p = reef_get_id(w, e, c);
    return p && p[0] == p[1] ? p[0] : -1;
}

/* ---- entities ---- */

/* Where storage is found by the entity's id alone, an add to a dead entity makes a value that is never destroyed. */
static void an_add_doesnt_bring_back_a_dead_entity(void **state)
{
    for (uint32_t h = 0; h < PLACES; h++) {
        reef_world *w = another_world(state, NULL);
        const reef_component c = plain_type(h);
        const reef_entity dead = reef_create(w), never = {77, 1};
        const int32_t value[2] = {1, 1};
        assert_ok(reef_destroy(w, dead));
        for (uint32_t again = 0; again < 2; again++) { /* then with somebody else at its index */
            const reef_entity gone[] = {dead, never, {0, 0}};
            for (uint32_t i = 0; i < 3; i++) {
                assert_refused(w, REEF_NOT_ALIVE, reef_add_id(w, gone[i], c, NULL, NULL));
                assert_refused(w, REEF_NOT_ALIVE, reef_set_id(w, gone[i], c, value, sizeof value));
                assert_no_pointer(w, REEF_NOT_ALIVE, reef_ensure_id(w, gone[i], c, NULL));
                assert_no_pointer(w, REEF_NOT_ALIVE, reef_append_id(w, gone[i], c, value, sizeof value));
                assert_refused(w, REEF_NOT_ALIVE,
                               reef_change(w, gone[i], reef_value_make(c, REEF_VALUE_DEFAULT, 0, NULL)));
                assert_refused(w, REEF_NOT_ALIVE, reef_add(w, gone[i], Awake));
                assert_false(reef_is_alive(w, gone[i]));
            }
            assert_int_equal(reef_count_alive(w), again);
            assert_int_equal(reef_count_id(w, c), 0);
            if (again == 0) assert_int_equal(reef_create(w).index, dead.index);
        }
        end_world(state, w);
    }
}

/* A destroy that forgets one kind of storage leaves its values to the next owner of the id. */
static void a_reused_id_begins_without_components(void **state)
{
    for (uint32_t h = 0; h < PLACES; h++) {
        reef_world *w = another_world(state, NULL);
        const reef_component c = kept_type(h);
        const reef_entity first = reef_spawn(w, reef_with(Position, 1, 2), reef_tag(Awake)),
                          other = reef_spawn(w, reef_with(Position, 3, 4));
        assert_ok(reef_add_id(w, first, c, NULL, NULL));
        assert_ok(reef_add_id(w, other, c, NULL, NULL));
        assert_ok(reef_disable(w, first, Position));
        assert_ok(reef_set_name(w, first, "first"));
        const uint64_t live = book.live;
        assert_ok(reef_destroy(w, first));
        assert_int_equal(book.live, live - 1); /* its end was told */
        const reef_entity next = reef_spawn(w, reef_with(Position, 5, 6));
        assert_int_equal(next.index, first.index);
        assert_false(reef_has_id(w, next, c));
        assert_null(reef_get_id(w, next, c));
        assert_false(reef_has(w, next, Awake));
        assert_true(reef_is_enabled(w, next, Position));
        assert_null(reef_name(w, next));
        assert_none(reef_find(w, "first"));
        assert_int_equal(reef_count_id(w, c), 1);
        assert_valid(w);
        assert_ok(reef_add_id(w, next, c, NULL, NULL)); /* there was nothing in its place */
        assert_false(reef_has_id(w, first, c));
        assert_valid(w);
        end_world(state, w);
    }
}

/* A counter of ids that wraps around returns an id that is alive. */
static void no_id_is_given_out_that_is_alive(void **state)
{
    enum { N = 12 };
    reef_world *w = another_world(state, &(reef_world_config){.entities_max = N});
    reef_entity all[N];
    uint32_t n = 0;
    /* Some entities are made by reef_create_as: ahead of the counter, in the middle of the free ids, and with the last
     * generation. */
    static const reef_entity given[] = {{9, 1}, {2, 5}, {4, UINT32_MAX}, {N - 1, UINT32_MAX - 1}};
    for (uint32_t i = 0; i < 4; i++) assert_ok(reef_create_as(w, all[n++] = given[i]));
    while (n < N) {
        assert_some(all[n] = reef_create(w));
        for (uint32_t i = 0; i < n; i++) assert_true(all[i].index != all[n].index);
        n++;
    }
    assert_no_entity(w, REEF_LIMIT, reef_create(w));
    for (uint32_t i = 0; i < N; i++) assert_true(reef_is_alive(w, all[i]));
    /* Generations don't wrap around either: an index whose last generation is used up is never alive again. */
    for (uint32_t round = 0; round < 4; round++) {
        for (uint32_t i = 0; i < N; i++) (void)reef_destroy(w, all[i]);
        assert_int_equal(reef_count_alive(w), 0);
        uint32_t made = 0;
        for (reef_entity e; !reef_entity_is_null(e = reef_create(w)); made++) {
            assert_true(made < N && e.generation != 0 && e.index != 4);
            for (uint32_t i = 0; i < N; i++) assert_false(reef_entity_equal(all[i], e));
        }
        assert_int_equal(made, round == 0 ? N - 1 : N - 2); /* the second index ends a round later */
        for (uint32_t i = 0; i < N; i++) {
            assert_false(reef_is_alive(w, all[i]));
            all[i] = reef_entity_at(w, i);
        }
        assert_valid(w);
    }
    end_world(state, w);
}

/* ---- values ---- */

/* If a remove updates only the size or only the capacity of a block, later adds write beyond its end. */
static void adds_after_removes_stay_inside_of_their_blocks(void **state)
{
    for (uint32_t h = 0; h < PLACES; h++) {
        enum { N = 300 };
        reef_world *w = another_world(state, NULL);
        const reef_component c = plain_type(h);
        reef_entity e[N];
        for (uint32_t i = 0; i < N; i++) e[i] = reef_spawn(w, reef_with(Mass, i));
        /* up to n, down to a few, and a little more than before */
        for (uint32_t round = 0, n = 3; n <= N; round++, n += n / 2) {
            for (uint32_t i = 0; i < n; i++) number_give(w, e[i], c, (int32_t)(i + round));
            for (uint32_t i = 0; i < n; i += 2) assert_ok(reef_remove_id(w, e[i], c));
            if (round % 2) assert_ok(reef_shrink(w));
            for (uint32_t i = 0; i < n; i += 2) number_give(w, e[i], c, (int32_t)(i + round));
            for (uint32_t i = 0; i < N; i++) {
                assert_int_equal(number_there(w, e[i], c), i < n ? (int32_t)(i + round) : -1);
                assert_true(reef_get(w, e[i], Mass)->kg == i);
            }
            assert_valid(w);
            for (uint32_t i = 1; i < n; i++) assert_ok(reef_remove_id(w, e[n - i], c));
        }
        end_world(state, w);
        assert_null(heap_of(state)->mistake); /* nothing was written behind a block's end */
    }
}

/* A move into a slot that was constructed before leaks a value; a slot that is destroyed after it was moved from is
 * destroyed twice. */
static void each_slot_is_constructed_once_and_destroyed_once(void **state)
{
    for (uint32_t h = 0; h < PLACES; h++) {
        enum { N = 40 };
        reef_world *w = another_world(state, NULL);
        const reef_component c = kept_type(h);
        reef_entity e[N];
        ledger_count_anew();
        for (uint32_t i = 0; i < N; i++) {
            e[i] = reef_spawn(w, reef_with(Mass, i));
            assert_ok(reef_add_id(w, e[i], c, NULL, NULL));
        }
        assert_int_equal(book.constructed, N);
        assert_int_equal(book.destroyed + book.copied, 0);
        /* each row moves, */
        for (uint32_t i = 0; i < N; i += 2) assert_status(REEF_ADDED, reef_set(w, e[i], Position, 1, 2));
        for (uint32_t i = 0; i < N; i += 4) assert_ok(reef_remove(w, e[i], Position)); /* and back */
        assert_int_equal(book.constructed, N);
        assert_int_equal(book.destroyed + book.copied, 0);
        assert_int_equal(book.live, N);
        for (uint32_t i = 0; i < N; i += 5) assert_ok(reef_remove_id(w, e[i], c));
        for (uint32_t i = 1; i < N; i += 5) assert_ok(reef_destroy(w, e[i]));
        assert_int_equal(book.destroyed, 2 * N / 5);
        end_world(state, w);
        assert_int_equal(book.constructed, N);
        assert_int_equal(book.destroyed, N);
        assert_int_equal(book.live, 0);
        assert_null(book.mistake);
        ledger_reset();
    }
}

/* ---- signatures ---- */

static bool finds(reef_world *w, reef_component c, reef_entity e)
{
    const reef_query q = reef_query_make(w, &(reef_query_desc){.terms = {{.component = c, .access = REEF_WITH}}});
    assert_query(q);
    const bool found = reef_query_matches(w, q, e);
    uint64_t seen = 0;
    for (reef_block b = reef_begin(w, q); reef_next(&b);) {
        const uint64_t *mask = reef_block_mask(&b);
        for (uint32_t i = 0; i < b.count; i++)
            if (mask == NULL || (mask[i / 64] >> (i % 64) & 1)) seen += reef_entity_equal(b.entities[i], e);
    }
    assert_int_equal(seen, found);
    assert_ok(reef_query_free(w, q));
    return found;
}

/* If removes don't clear a bit that adds set, queries find components that were removed. */
static void bits_go_with_their_component(void **state)
{
    for (uint32_t h = 0; h <= PLACES; h++) { /* the last is a switch */
        reef_world *w = another_world(state, NULL);
        const reef_component c = h < PLACES ? plain_type(h) : reef_id(Awake);
        const reef_entity other = reef_spawn(w, reef_with(Mass, 1)), e = reef_spawn(w, reef_with(Mass, 2));
        assert_ok(reef_add_id(w, other, c, NULL, NULL));
        for (uint32_t way = 0; way < 5; way++) {
            const reef_entity x = way < 4 ? e : other;
            if (way < 4) assert_ok(reef_add_id(w, e, c, NULL, NULL));
            assert_true(finds(w, c, x) && reef_has_id(w, x, c));
            switch (way) {
            case 0: assert_ok(reef_remove_id(w, e, c)); break;
            case 1: assert_ok(reef_change(w, e, reef_value_make(c, REEF_VALUE_REMOVE, 0, NULL))); break;
            case 2: assert_ok(reef_remove_all(w, e)), assert_status(REEF_ADDED, reef_set(w, e, Mass, 3)); break;
            case 3: assert_ok(reef_destroy(w, e)); break;
            default: assert_ok(remove_everywhere(w, c, NULL)); break;
            }
            /* in the row that was left, under the same index */
            const reef_entity now = way == 3 ? reef_spawn(w, reef_with(Mass, 4)) : x;
            assert_int_equal(now.index, x.index);
            assert_false(reef_has_id(w, now, c));
            assert_false(finds(w, c, now));
            assert_int_equal(reef_count_id(w, c), way < 4);
            assert_valid(w);
        }
        end_world(state, w);
    }
}

/* ---- reading ---- */

/* A registry that makes a container at its first use also makes it for a lookup, even for a const world, on several
 * threads. */
static void a_read_creates_nothing(void **state)
{
    for (uint32_t h = 0; h < PLACES; h++) {
        reef_world *w = another_world(state, NULL);
        const reef_component c = type_in(h, "Unused", 8, NULL);
        const reef_entity dead = reef_create(w), e = reef_spawn(w, reef_with(Mass, 1));
        assert_ok(reef_destroy(w, dead));
        const uint64_t before = digest(w), tables = reef_world_stats(w).tables, hash = reef_hash(w),
                       calls = heap_of(state)->calls;
        const reef_world *read = w;
        const reef_entity asked[] = {e, dead, {0, 0}, {99, 1}};
        uint32_t n = 1;
        for (uint32_t i = 0; i < 4; i++) {
            assert_false(reef_has_id(read, asked[i], c));
            assert_null(reef_get_id(read, asked[i], c));
            assert_null(reef_get_all_id(read, asked[i], c, &n));
            assert_int_equal(n, 0);
            assert_int_equal(reef_count_on_id(read, asked[i], c), 0);
            assert_false(reef_is_enabled_id(read, asked[i], c));
            assert_true(reef_pin_is_null(reef_pin_id(read, asked[i], c)));
            reef_ref r = reef_ref_make_id(read, asked[i], c);
            assert_null(reef_ref_get_id(read, &r));
        }
        assert_int_equal(reef_count_id(read, c), 0);
        assert_null(reef_single_get_id(read, c));
        assert_false(reef_single_has_id(read, c));
        assert_int_equal(heap_of(state)->calls, calls);
        assert_int_equal(reef_world_stats(w).tables, tables);
        assert_int_equal(digest(w), before);
        assert_int_equal(reef_hash(w), hash);
        assert_null(reef_mut_id(w, e, c)); /* asking for it in order to write creates nothing either */
        assert_int_equal(digest(w), before);
        assert_int_equal(reef_world_stats(w).tables, tables);
        end_world(state, w);
    }
}

/* ---- systems ---- */

typedef struct watch_over {
    reef_component component;
    int64_t seen; /* by the reader: the sum of all values */
} watch_over;

static void sums_up(reef_block *b)
{
    watch_over *x = b->context;
    for (uint32_t i = 0; i < b->count; i++) {
        const int32_t *p = reef_get_id(b->world, b->entities[i], x->component);
        thread_yield(); /* so that one who doesn't wait comes in between */
        x->seen += *p;
    }
}

static void writes_ones(reef_block *b)
{
    const watch_over *x = b->context;
    for (uint32_t i = 0; i < b->count; i++) {
        int32_t *p = reef_mut_id(b->world, b->entities[i], x->component);
        if (p) *p += 1;
    }
}

/* A scheduler that counts only writers lets the next writer begin while another system reads. */
static void a_reader_holds_back_the_writer_behind_it(void **state)
{
    enum { N = 64 };
    reef_pool *pool = reef_pool_new(&(reef_pool_config){.threads = 2});
    assert_non_null(pool);
    for (uint32_t h = 0; h < PLACES; h++) {
        for (uint32_t writer_first = 0; writer_first < 2; writer_first++) {
            reef_world *w = another_world(state, NULL);
            watch_over x = {plain_type(h), 0};
            char text[2048], reads[80], writes[80];
            for (uint32_t i = 0; i < N; i++) number_give(w, reef_spawn(w, reef_with(Mass, i)), x.component, 1);
            (void)snprintf(reads, sizeof reads, "in Mass; reads %s", reef_type_name(x.component));
            (void)snprintf(writes, sizeof writes, "in Mass; writes %s", reef_type_name(x.component));
            for (uint32_t i = 0; i < 2; i++) {
                const bool write = (i == 0) == writer_first;
                assert_false(reef_system_is_null(
                    reef_system_new(w, &(reef_system_desc){.name = write ? "writer" : "reader",
                                                           .function = write ? writes_ones : sums_up,
                                                           .text = write ? writes : reads,
                                                           .context = &x,
                                                           .whole = true})));
            }
            reef_schedule_explain(w, REEF_EXPLAIN_TEXT, text, sizeof text);
            assert_non_null(strstr(text, writer_first ? "waits for writer" : "waits for reader"));
            assert_ok(reef_set_pool(w, pool));
            for (int64_t tick = 0; tick < 3; tick++) {
                x.seen = 0;
                assert_ok(reef_tick(w, 1));
                assert_int_equal(x.seen, N * (1 + tick + writer_first));
            }
            end_world(state, w);
        }
    }
    reef_pool_free(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_add_doesnt_bring_back_a_dead_entity),
        TEST(a_reused_id_begins_without_components),
        TEST(no_id_is_given_out_that_is_alive),
        TEST(adds_after_removes_stay_inside_of_their_blocks),
        TEST(each_slot_is_constructed_once_and_destroyed_once),
        TEST(bits_go_with_their_component),
        TEST(a_read_creates_nothing),
        TEST(a_reader_holds_back_the_writer_behind_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
