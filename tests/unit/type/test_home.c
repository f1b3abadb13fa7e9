/* Calls on values outside of the rows: the same answers in each home, ends, hooks, pages, room. Each test goes
 * through all homes, the table among them: what it shows may not depend on where the values are. (Homes as state:
 * tests/state/test_home_state.c.) */
#include "homes.h"

/* ---- the same answers ---- */

static void each_home_gives_the_same_answers(void **state)
{
    for (uint32_t h = 0; h < HOMES; h++) {
        reef_world *w = another_world(state, NULL);
        const reef_component c = plain_in(h);
        const int32_t value[2] = {5, 6};
        void *p = NULL;
        reef_entity e = reef_create(w), other = reef_spawn(w, reef_with(Position, 1, 2));
        assert_false(reef_has_id(w, e, c));
        assert_null(reef_get_id(w, e, c));
        assert_no_pointer(w, REEF_ABSENT, reef_mut_id(w, e, c));
        assert_refused(w, REEF_ABSENT, reef_remove_id(w, e, c));
        assert_status(REEF_OK, reef_add_id(w, e, c, NULL, &p));
        assert_ptr_equal(p, reef_get_id(w, e, c));
        assert_int_equal(number_of(w, e, c), 0);
        assert_refused(w, REEF_EXISTS, reef_add_id(w, e, c, NULL, NULL));
        assert_status(REEF_OK, reef_set_id(w, e, c, value, sizeof value));
        assert_status(REEF_ADDED, reef_set_id(w, other, c, value, sizeof value));
        assert_refused(w, REEF_WRONG_SIZE, reef_set_id(w, e, c, value, 7));
        assert_int_equal(number_of(w, e, c), 5);
        assert_int_equal(reef_count_id(w, c), 2);
        assert_non_null(reef_ensure_id(w, e, c, NULL));
        assert_ok(reef_add(w, e, Velocity)); /* the row moves */
        assert_ok(reef_remove(w, other, Position));
        assert_int_equal(number_of(w, e, c), 5);
        assert_int_equal(number_of(w, other, c), 5);
        assert_true(reef_has_id(w, other, c));
        reef_entity twin = reef_clone(w, e);
        number_set(w, e, c, 9);
        assert_int_equal(number_of(w, twin, c), 5);
        assert_ok(reef_remove_id(w, e, c));
        assert_false(reef_has_id(w, e, c));
        assert_true(reef_has(w, e, Velocity));
        assert_int_equal(reef_count_id(w, c), 2);
        assert_valid(w);
        end_world(state, w);
    }
}

static void what_a_world_shows_doesnt_depend_on_the_home(void **state)
{
    uint64_t first = 0;
    for (uint32_t h = 0; h < HOMES; h++) {
        enum { N = 700 };
        reef_world *w = another_world(state, NULL);
        const reef_component c = plain_in(h);
        reef_entity e[N], found[N];
        uint64_t seed = 5, sum = 0;
        people_make(w, e, N, c);
        for (uint32_t i = 0; i < 3000; i++) {
            reef_entity x = e[random_below(&seed, N)];
            const int32_t value[2] = {(int32_t)i, 1};
            switch (random_below(&seed, 5)) {
            case 0: reef_set_id(w, x, c, value, sizeof value); break;
            case 1: reef_remove_id(w, x, c); break;
            case 2: reef_set(w, x, Velocity, (float)i, 0); break;
            case 3: reef_remove(w, x, Velocity); break;
            default:
                if (i % 4 == 0) reef_destroy(w, x);
            }
        }
        assert_valid(w);
        for (uint32_t i = 0; i < N; i++) { /* not in an order of tables, which differ */
            const int32_t *p = reef_get_id(w, e[i], c);
            sum = digest_bytes(sum, p ? p : (const void *)&e[i], 8);
        }
        sum = digest_bytes(sum, &(uint64_t){reef_count_id(w, c)}, 8);
        reef_query q = reef_query_make(w, &(reef_query_desc){.terms = {{.component = c, .access = REEF_WITH}}});
        uint32_t n = 0;
        for (reef_block b = reef_begin(w, q); reef_next(&b);)
            for (uint32_t i = 0; i < b.count; i++)
                if (reef_block_mask(&b) == NULL || reef_block_mask(&b)[i / 64] >> i % 64 & 1)
                    found[n++] = b.entities[i];
        assert_int_equal(n, reef_count_id(w, c));
        for (uint32_t i = 0; i < n; i++) assert_true(reef_has_id(w, found[i], c));
        if (h == 0) first = sum;
        assert_true(sum == first);
        reef_query_free(w, q);
        end_world(state, w);
    }
}

static void signatures_see_every_home(void **state)
{
    for (uint32_t h = 0; h < HOMES; h++) {
        reef_world *w = another_world(state, NULL);
        const reef_component c = plain_in(h);
        reef_signature s = reef_signature_new(w), all = reef_signature_new(w);
        reef_entity e = reef_spawn(w, reef_with(Position, 1, 2)), bare = reef_spawn(w, reef_with(Position, 1, 2));
        assert_ok(reef_add_id(w, e, c, NULL, NULL));
        assert_ok(reef_signature_of(w, e, &s));
        assert_int_equal(reef_signature_count(&s), 2);
        assert_true(reef_signature_has(&s, c));
        assert_ok(reef_signature_set(&all, &c, 1));
        assert_true(reef_has_all(w, e, &all));
        assert_true(reef_has_any(w, e, &all));
        assert_false(reef_has_all(w, bare, &all));
        assert_false(reef_has_any(w, bare, &all));
        assert_true(reef_has_all(w, e, &s));
        assert_false(reef_has_all(w, bare, &s));
        assert_ok(reef_remove_id(w, e, c));
        assert_false(reef_has_any(w, e, &all));
        reef_signature_free(&s);
        reef_signature_free(&all);
        end_world(state, w);
    }
}

/* ---- ends ---- */

static void destroy_takes_components_out_of_every_home(void **state)
{
    for (uint32_t h = 0; h < HOMES; h++) {
        reef_world *w = another_world(state, NULL);
        const reef_component c = plain_in(h);
        reef_entity e = reef_create(w);
        assert_ok(reef_add_id(w, e, c, NULL, NULL));
        assert_ok(reef_destroy(w, e));
        assert_false(reef_has_id(w, e, c));
        assert_null(reef_get_id(w, e, c));
        assert_int_equal(reef_count_id(w, c), 0);
        assert_int_equal(reef_world_stats(w).values, 0);
        reef_entity again = reef_create(w);
        assert_int_equal(again.index, e.index);
        assert_false(reef_has_id(w, again, c));
        assert_null(reef_get_id(w, again, c));
        assert_null(reef_get_id(w, e, c));
        assert_status(REEF_OK, reef_add_id(w, again, c, NULL, NULL));
        assert_null(reef_get_id(w, e, c)); /* the old handle doesn't find the new value */
        assert_no_pointer(w, REEF_NOT_ALIVE, reef_mut_id(w, e, c));
        assert_valid(w);
        assert_ok(reef_world_clear(w));
        assert_int_equal(reef_count_id(w, c), 0);
        assert_int_equal(reef_world_stats(w).values, 0);
        end_world(state, w);
    }
}

static void hooks_run_exactly_right_in_every_home(void **state)
{
    for (uint32_t h = 0; h < HOMES; h++) {
        enum { N = 300 };
        reef_world *w = another_world(state, NULL);
        const reef_component c = type_sized(h, "Tracked", sizeof(Tracked), 4, &tracked_hooks);
        const reef_component u = type_sized(h, "Unique", sizeof(Unique), 4, &unique_hooks),
                             l = type_sized(h, "Loose", sizeof(Loose), 4, &loose_hooks);
        const reef_component all[] = {c, u, l};
        reef_entity e[N];
        for (uint32_t i = 0; i < N; i++) {
            e[i] = i % 3 ? reef_create(w) : reef_spawn(w, reef_with(Position, 1, 2));
            for (uint32_t k = 0; k < 3; k++) assert_ok(reef_add_id(w, e[i], all[k], NULL, NULL));
        }
        assert_int_equal(book.live, 2 * N); /* Loose is zero by default: outside of the ledger */
        Tracked mine;
        tracked_make(&mine, 77);
        assert_status(REEF_OK, reef_set_id(w, e[4], c, &mine, sizeof mine));
        assert_int_equal(number_of(w, e[4], c), 77);
        tracked_drop(&mine);
        for (uint32_t i = 0; i < N; i += 4) assert_ok(reef_remove_id(w, e[i], all[i % 3]));
        for (uint32_t i = 1; i < N; i += 5) assert_ok(reef_add(w, e[i], Velocity));
        for (uint32_t i = 2; i < N; i += 7) assert_ok(reef_destroy(w, e[i]));
        assert_valid(w);
        assert_refused(w, REEF_NOT_COPYABLE, (reef_clone(w, e[1]), reef_last_error(w).status));
        assert_int_equal(reef_last_error(w).component.id, u.id);
        assert_ok(remove_everywhere(w, u, NULL));
        assert_some(reef_clone(w, e[1]));
        assert_valid(w);
        assert_ok(reef_shrink(w));
        assert_valid(w);
        end_world(state, w);
        assert_null(book.mistake);
        assert_int_equal(book.live, 0);
        ledger_reset();
    }
}

static void a_failing_constructor_leaves_the_world_as_it_was(void **state)
{
    for (uint32_t h = 0; h < HOMES; h++) {
        reef_world *w = another_world(state, NULL);
        const reef_component c = type_sized(h, "Tracked", sizeof(Tracked), 4, &tracked_hooks);
        reef_entity e = reef_spawn(w, reef_with(Position, 1, 2)), source = reef_create(w);
        assert_ok(reef_add_id(w, source, c, NULL, NULL));
        book.fail_construct = 1;
        book.fail_status = REEF_IO;
        assert_refused(w, REEF_IO, reef_add_id(w, e, c, NULL, NULL));
        book.fail_copy = 1;
        book.fail_status = REEF_NO_MEMORY;
        assert_no_entity(w, REEF_NO_MEMORY, reef_clone(w, source));
        assert_int_equal(reef_count_id(w, c), 1);
        assert_ok(reef_add_id(w, e, c, NULL, NULL));
        end_world(state, w);
        assert_int_equal(book.live, 0);
        ledger_reset();
    }
}

static void large_and_strictly_aligned_values_live_in_every_home(void **state)
{
    for (uint32_t h = 0; h < HOMES; h++) {
        if (homes[h].page_rows == REEF_PAGE_ROWS_MAX) continue; /* 64 GiB a page */
        reef_world *w = another_world(state, NULL);
        const reef_component strict = type_sized(h, "Strict", 4096, REEF_ALIGN_MAX, NULL);
        reef_entity e[70];
        for (uint32_t i = 0; i < 70; i++) {
            e[i] = reef_create(w);
            void *p = NULL;
            assert_ok(reef_add_id(w, e[i], strict, NULL, &p));
            assert_int_equal((uintptr_t)p % REEF_ALIGN_MAX, 0);
            memset(p, (int)i, 4096);
        }
        for (uint32_t i = 0; i < 70; i += 3) assert_ok(reef_destroy(w, e[i]));
        for (uint32_t i = 0; i < 70; i++) {
            const unsigned char *p = reef_get_id(w, e[i], strict);
            if (i % 3) assert_int_equal(p[0] + p[4095], 2 * i);
        }
        assert_valid(w);
        if (homes[h].home != REEF_PAGED || homes[h].page_rows == 1) {
            const reef_component large = type_sized(h, "Large", 1 << 20, 16, NULL);
            unsigned char *p = NULL;
            assert_ok(reef_add_id(w, e[1], large, NULL, (void **)&p));
            p[0] = 1, p[(1 << 20) - 1] = 2;
            assert_ok(reef_add_id(w, e[2], large, NULL, NULL));
            assert_ok(reef_remove_id(w, e[2], large));
            p = (unsigned char *)(uintptr_t)reef_get_id(w, e[1], large);
            assert_int_equal(p[0] + p[(1 << 20) - 1], 3);
        }
        end_world(state, w);
    }
}

/* ---- pages ---- */

static void pages_are_made_where_needed_and_freed_when_empty(void **state)
{
    reef_world *w = world_of(state);
    const reef_component c = plain_in(FOUR_HOME);
    reef_entity e[4000];
    reef_page_use use;
    for (uint32_t i = 0; i < 4000; i++) e[i] = reef_create(w);
    assert_ok(reef_pages_used(w, c, &use));
    assert_int_equal(use.pages, 0);
    assert_int_equal(use.page_rows, 4);
    for (uint32_t i = 0; i < 4000; i += 1000) assert_ok(reef_add_id(w, e[i], c, NULL, NULL));
    assert_ok(reef_pages_used(w, c, &use));
    assert_int_equal(use.pages, 4);
    assert_int_equal(use.values, 4);
    assert_int_equal(use.best_rows, 32); /* nobody has a neighbour, but the list of pages costs as well */
    assert_true(use.best_bytes < use.bytes);
    uint64_t few = reef_world_stats(w).bytes_stores;
    for (uint32_t i = 0; i < 4000; i++)
        if (i % 1000) assert_ok(reef_add_id(w, e[i], c, NULL, NULL));
    assert_ok(reef_pages_used(w, c, &use));
    assert_int_equal(use.pages, 1000);
    assert_true(use.best_rows >= 64);
    assert_true(reef_world_stats(w).bytes_stores > few + 4000 * 8);
    for (uint32_t i = 0; i < 4000; i++)
        if (i % 1000) assert_ok(reef_remove_id(w, e[i], c));
    assert_ok(reef_pages_used(w, c, &use));
    assert_int_equal(use.pages, 4);
    assert_true(reef_world_stats(w).bytes_stores < few + 2048); /* a spare page is kept */
    assert_valid(w);
    for (uint32_t i = 0; i < 4000; i += 1000) assert_ok(reef_remove_id(w, e[i], c));
    assert_ok(reef_shrink(w));
    assert_ok(reef_pages_used(w, c, &use));
    assert_int_equal(use.values + use.pages + use.bytes, 0);
    assert_valid(w);
    assert_status(REEF_UNKNOWN_TYPE, reef_pages_used(w, (reef_component){0}, &use));
    assert_status(REEF_BAD_ARGUMENT, reef_pages_used(w, plain_in(SPARSE_HOME), &use));
    assert_status(REEF_BAD_ARGUMENT, reef_pages_used(w, c, NULL));
    assert_status(REEF_BAD_ARGUMENT, reef_pages_used(NULL, c, &use));
}

static void a_value_stays_where_it_is_while_it_lives(void **state)
{
    for (uint32_t h = 0; h < HOMES; h++) {
        if (homes[h].home != REEF_PAGED) continue;
        enum { N = 500 };
        reef_world *w = another_world(state, NULL);
        const reef_component c = plain_in(h);
        reef_entity e[N];
        const void *where[N];
        people_make(w, e, N, c);
        for (uint32_t i = 0; i < N; i += 2) where[i] = reef_get_id(w, e[i], c);
        for (uint32_t i = 0; i < N; i += 3) assert_ok(reef_add(w, e[i], Velocity)); /* rows move */
        for (uint32_t i = 1; i < N; i += 2) assert_ok(reef_add_id(w, e[i], c, NULL, NULL));
        for (uint32_t i = 2; i < N; i += 4) assert_ok(reef_destroy(w, e[i]));
        for (uint32_t i = 0; i < N; i += 4) assert_ptr_equal(reef_get_id(w, e[i], c), where[i]);
        reef_world *fork = reef_fork(w);
        assert_ptr_equal(reef_get_id(fork, e[0], c), where[0]); /* shared, until somebody writes */
        number_set(fork, e[0], c, 55);
        assert_int_equal(number_of(w, e[0], c), 0);
        assert_ptr_equal(reef_get_id(w, e[0], c), where[0]);
        assert_ptr_not_equal(reef_get_id(fork, e[0], c), where[0]);
        where[0] = reef_get_id(fork, e[0], c);
        number_set(fork, e[0], c, 56);
        assert_ptr_equal(reef_get_id(fork, e[0], c), where[0]);
        assert_valid(fork);
        reef_world_free(fork);
        end_world(state, w);
    }
}

static void room_is_reserved_in_every_home(void **state)
{
    for (uint32_t h = 0; h < HOMES; h++) {
        enum { N = 700 };
        reef_world *w = another_world(state, NULL);
        const reef_component c[2] = {plain_in(h), reef_id(Mass)};
        heap *memory = heap_of(state);
        people_make(w, (reef_entity[10]){{0, 0}}, 10, c[0]);
        assert_ok(reef_reserve_for(w, N, c, 2));
        assert_valid(w);
        const uint64_t calls = memory->calls;
        for (uint32_t i = 0; i < N; i++) {
            const int32_t value[2] = {(int32_t)i, 7};
            const Mass mass = {1};
            const reef_value v[] = {reef_value_make(c[0], REEF_VALUE_ONE, sizeof value, value),
                                    reef_value_make(c[1], REEF_VALUE_ONE, sizeof mass, &mass)};
            assert_some(reef_spawn_values(w, v, 2));
        }
        assert_true(memory->calls <= calls + 4); /* bits of the rows' chunk, and what a first spawn remembers */
        assert_ok(reef_reserve_for(w, 5000, c, 1));
        assert_ok(reef_shrink(w));
        assert_valid(w);
        assert_int_equal(reef_count_id(w, c[0]), N + 5);
        end_world(state, w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(each_home_gives_the_same_answers),
        TEST(what_a_world_shows_doesnt_depend_on_the_home),
        TEST(signatures_see_every_home),
        TEST(destroy_takes_components_out_of_every_home),
        TEST(hooks_run_exactly_right_in_every_home),
        TEST(a_failing_constructor_leaves_the_world_as_it_was),
        TEST(large_and_strictly_aligned_values_live_in_every_home),
        TEST(pages_are_made_where_needed_and_freed_when_empty),
        TEST(a_value_stays_where_it_is_while_it_lives),
        TEST(room_is_reserved_in_every_home),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
