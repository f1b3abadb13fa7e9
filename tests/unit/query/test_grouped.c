/* Grouped relations: the sources of one target lie side by side in storage. */
#include "support.h"

typedef struct {
    uint32_t number;
} Ship;
REEF_COMPONENT(Ship);
REEF_FIELDS(Ship, number);
REEF_TAG(Red);
REEF_TAG(Blue);
REEF_SWITCH(Lit);
REEF_RELATION(DockedTo, REEF_EXCLUSIVE | REEF_GROUPED);
REEF_RELATION(Chartered, REEF_EXCLUSIVE | REEF_GROUPED); /* its name comes before the other's */
REEF_RELATION(Follows, REEF_EXCLUSIVE);
REEF_RELATION(Likes);

enum { SHIPS = 3000, PORTS = 20 };
static reef_entity ship[SHIPS], port[PORTS];

static void ships_make(reef_world *w)
{
    for (uint32_t i = 0; i < PORTS; i++) port[i] = reef_create(w);
    for (uint32_t i = 0; i < SHIPS; i++) {
        ship[i] = reef_spawn(w, reef_with(Ship, i));
        assert_status(REEF_ADDED, reef_relate(w, ship[i], DockedTo, port[i * 7 % PORTS]));
    }
}

static reef_query ships_at(reef_world *w, reef_entity target)
{
    return reef_query_make(
        w, &(reef_query_desc){.terms = {{.component = reef_id(Ship), .access = REEF_IN},
                                        {.component = reef_id(DockedTo), .access = REEF_WITH, .target = target}}});
}

/* Checks the ships at a port, and counts the runs of rows in which they lie. */
static uint32_t runs_at(reef_world *w, reef_entity target)
{
    const reef_query q = ships_at(w, target);
    uint32_t runs = 0, n = 0;
    assert_query(q);
    for (reef_block b = reef_begin(w, q); reef_next(&b);) {
        const Ship *s = reef_in(&b, Ship);
        for (uint32_t first = 0, rows; (rows = reef_block_run(&b, &first)) != 0; first += rows, runs++, n += rows)
            for (uint32_t i = first; i < first + rows; i++) {
                assert_entity(target, reef_target(w, b.entities[i], DockedTo));
                assert_entity(ship[s[i].number], b.entities[i]);
            }
    }
    assert_int_equal(n, reef_source_count(w, target, DockedTo));
    assert_ok(reef_query_free(w, q));
    return runs;
}

static void sources_of_a_target_lie_side_by_side(void **state)
{
    reef_world *w = world_of(state);
    ships_make(w);
    assert_true(runs_at(w, port[3]) > 100);
    assert_ok(reef_tick(w, 0));
    assert_valid(w);
    for (uint32_t i = 0; i < PORTS; i++) assert_true(runs_at(w, port[i]) <= 2); /* a chunk may end between them */
    const uint64_t hash = reef_hash(w);
    assert_ok(reef_sort_storage(w, &(reef_sort){.grouped = true}));
    assert_true(hash == reef_hash(w));
}

/* How many rows aren't where they were? */
static uint32_t rows_compare(reef_world *w, reef_entity *was)
{
    uint32_t moved = 0, n = 0;
    const reef_query q = reef_query_new(w, "Ship");
    for (reef_block b = reef_begin(w, q); reef_next(&b);)
        for (uint32_t i = 0; i < b.count; i++, n++) {
            moved += !reef_entity_equal(was[n], b.entities[i]);
            was[n] = b.entities[i];
        }
    assert_ok(reef_query_free(w, q));
    return moved;
}

static void grouping_moves_few_rows(void **state)
{
    reef_world *w = world_of(state);
    static reef_entity was[SHIPS];
    ships_make(w);
    assert_ok(reef_tick(w, 0));
    (void)rows_compare(w, was);
    assert_ok(reef_tick(w, 0));
    assert_int_equal(rows_compare(w, was), 0);
    assert_status(REEF_ADDED, reef_relate(w, ship[0], DockedTo, port[PORTS - 1]));
    assert_ok(reef_tick(w, 0)); /* one row of each port between them makes room */
    const uint32_t moved = rows_compare(w, was);
    assert_true(moved > 1 && moved <= PORTS);
    assert_true(runs_at(w, port[0]) <= 2 && runs_at(w, port[PORTS - 1]) <= 2);
    assert_ok(reef_remove(w, ship[7], DockedTo)); /* goes behind all others */
    assert_ok(reef_tick(w, 0));
    assert_true(rows_compare(w, was) <= PORTS);
    assert_entity(ship[7], was[SHIPS - 1]);
}

static uint32_t group(const reef_world *w, reef_entity e, reef_component relation)
{
    const reef_entity target = reef_target_id(w, e, relation);
    return reef_entity_is_null(target) ? UINT32_MAX : target.index;
}

/* Are all rows of each table in the order of (Chartered, DockedTo)? */
static bool is_grouped(reef_world *w)
{
    static const char *const tables[] = {"Ship, !Red, !Blue", "Ship, Red, !Blue", "Ship, !Red, Blue",
                                         "Ship, Red, Blue"};
    bool grouped = true;
    for (uint32_t i = 0; i < 4; i++) {
        const reef_query q = reef_query_new(w, tables[i]);
        uint64_t last = 0;
        for (reef_block b = reef_begin(w, q); reef_next(&b);)
            for (uint32_t k = 0; k < b.count; k++) {
                const uint64_t key = (uint64_t)group(w, b.entities[k], reef_id(Chartered)) << 32 |
                                     group(w, b.entities[k], reef_id(DockedTo));
                grouped &= key >= last;
                last = key;
            }
        assert_ok(reef_query_free(w, q));
    }
    return grouped;
}

static void ships_check(reef_world *w)
{
    for (uint32_t i = 0; i < SHIPS; i++)
        if (reef_is_alive(w, ship[i])) assert_int_equal(reef_get(w, ship[i], Ship)->number, i);
    for (uint32_t i = 0; i < PORTS; i++)
        if (reef_is_alive(w, port[i])) (void)runs_at(w, port[i]);
}

static void sail(reef_world *w, uint64_t *seed)
{
    const uint32_t i = random_below(seed, SHIPS), k = random_below(seed, PORTS), what = random_below(seed, 16);
    if (!reef_is_alive(w, port[k])) port[k] = reef_create(w);
    if (!reef_is_alive(w, ship[i])) ship[i] = reef_spawn(w, reef_with(Ship, i));
    else if (what < 6) (void)reef_relate(w, ship[i], DockedTo, port[k]);
    else if (what < 8) (void)reef_relate(w, ship[i], Chartered, port[k]);
    else if (what == 8) (void)reef_remove(w, ship[i], DockedTo);
    else if (what == 9) (void)reef_remove(w, ship[i], Chartered);
    else if (what == 10) assert_ok(reef_destroy(w, ship[i]));
    else if (what == 11)
        assert_true(reef_has(w, ship[i], Red) ? reef_remove(w, ship[i], Red) == REEF_OK
                                              : reef_add(w, ship[i], Red) >= 0);
    else if (what == 12)
        assert_true(reef_has(w, ship[i], Blue) ? reef_remove(w, ship[i], Blue) == REEF_OK
                                               : reef_add(w, ship[i], Blue) >= 0);
    else if (what == 13) (void)reef_add(w, ship[i], Lit);
    else if (what == 14) (void)reef_relate(w, ship[i], Follows, ship[(i + 1) % SHIPS]);
    else if (i % 50 == 0) assert_ok(reef_destroy(w, port[k]));
}

/* Whatever happens, after a tick all rows are in their groups: reef knows by itself what may have got out of order. */
static void each_tick_groups_what_changed(void **state)
{
    reef_world *w = world_of(state);
    reef_snapshot *s = NULL;
    static reef_entity ship_then[SHIPS], port_then[PORTS];
    uint64_t seed = 11;
    uint32_t out_of_order = 0;
    ships_make(w);
    for (uint32_t round = 0; round < 150; round++) {
        const uint32_t steps = round % 3 == 0 ? 1 : round % 3 == 1 ? 20 : 400;
        for (uint32_t i = 0; i < steps; i++) sail(w, &seed);
        if (round % 16 == 5) {
            if (s) reef_snapshot_free(s);
            s = reef_snapshot_take(w); /* some of it isn't grouped yet */
            memcpy(ship_then, ship, sizeof ship);
            memcpy(port_then, port, sizeof port);
        }
        if (round % 16 == 12) {
            assert_ok(reef_restore(w, s));
            memcpy(ship, ship_then, sizeof ship);
            memcpy(port, port_then, sizeof port);
        }
        out_of_order += !is_grouped(w);
        reef_world *fork = reef_fork(w);
        assert_ok(reef_sort_storage(fork, &(reef_sort){.grouped = true}));
        assert_ok(reef_tick(w, 0));
        assert_true(is_grouped(w) && is_grouped(fork));
        assert_ok(reef_tick(fork, 0));
        assert_true(reef_hash(w) == reef_hash(fork));
        if (round % 10 == 0) {
            assert_valid(w);
            ships_check(w);
        }
        reef_world_free(fork);
    }
    assert_true(out_of_order > 100);
    reef_snapshot_free(s);
}

static void some_tables_can_be_grouped(void **state)
{
    reef_world *w = world_of(state);
    uint64_t seed = 12;
    ships_make(w);
    for (uint32_t i = 0; i < 5000; i++) sail(w, &seed);
    const reef_component types[] = {reef_id(Red)};
    const reef_sort red = {.types = types, .type_count = 1, .grouped = true};
    assert_ok(reef_sort_storage(w, &red));
    assert_false(is_grouped(w));
    const uint64_t hash = reef_hash(w);
    assert_ok(reef_sort_storage(w, &red));
    assert_true(hash == reef_hash(w));
    assert_ok(reef_sort_storage(w, &(reef_sort){.grouped = true}));
    assert_true(is_grouped(w));
}

/* A tick that finds no memory for grouping changes nothing; the next one groups. */
static void without_memory_a_tick_groups_nothing(void **state)
{
    reef_world *w = world_of(state);
    uint64_t seed = 13;
    uint32_t failed = 0;
    ships_make(w);
    assert_ok(reef_tick(w, 0));
    for (uint32_t i = 0; i < 2000; i++) sail(w, &seed);
    const uint64_t before = digest(w);
    for (uint64_t n = 1;; n++) {
        reef_world *fork = reef_fork(w); /* so that rows have to be copied before they move */
        assert_non_null(fork);
        heap_fail_nth(heap_of(state), n, n % 2 == 0);
        const reef_status status = reef_tick(w, 0);
        heap_fail_never(heap_of(state));
        reef_world_free(fork);
        if (status == REEF_OK) break;
        assert_int_equal(status, REEF_NO_MEMORY);
        assert_true(before == digest(w));
        assert_valid(w);
        failed++;
    }
    assert_true(failed > 5);
    assert_true(is_grouped(w));
    ships_check(w);
}

/* ---- queries in the order of targets ---- */

static reef_query by_target(reef_world *w, const char *text, reef_component relation)
{
    const reef_query q = reef_query_new(w, text);
    assert_query(q);
    assert_ok(reef_query_order(w, q, &(reef_order){.relation = relation}));
    return q;
}

/* Checks the order by target, and counts the blocks. */
static uint32_t targets_check(reef_world *w, reef_query q, reef_component relation)
{
    static reef_entity place[2 * SHIPS]; /* the visible order */
    static uint32_t number[2 * SHIPS];
    uint32_t blocks = 0, n = 0;
    const reef_query plain = reef_query_new(w, "Ship");
    for (reef_block b = reef_begin(w, plain); reef_next(&b);)
        for (uint32_t i = 0; i < b.count; i++) place[n++] = b.entities[i];
    for (uint32_t i = 0; i < n; i++) number[place[i].index] = i;
    assert_ok(reef_query_free(w, plain));
    uint64_t last = 0;
    uint32_t before = 0;
    for (reef_block b = reef_begin(w, q); reef_next(&b); blocks++) {
        const Ship *s = reef_in(&b, Ship), *up = reef_parents_in(&b, Ship);
        const uint32_t *row = reef_block_parent_rows(&b);
        const reef_entity first = reef_target_id(w, b.entities[0], relation);
        for (uint32_t i = 0; i < b.count; i++) {
            const reef_entity target = reef_target_id(w, b.entities[i], relation);
            const uint64_t key = reef_entity_is_null(target) ? UINT64_MAX : reef_key_entity(target);
            assert_entity(first, target);
            assert_true(key > last || (key == last && number[b.entities[i].index] > before));
            last = key;
            before = number[b.entities[i].index];
            assert_entity(ship[s[i].number], b.entities[i]);
            const Ship *there = reef_entity_is_null(target) ? NULL : reef_get(w, target, Ship);
            if (there == NULL) assert_null(up);
            else assert_ptr_equal(up + row[i], there);
        }
    }
    for (reef_group g = {0}; reef_query_next_group(w, q, &g);) {
        const reef_entity target = {(uint32_t)(g.key >> 32), (uint32_t)g.key};
        uint64_t rows = 0;
        for (reef_block b = reef_begin_loop(w, q, &(reef_loop){.grouped = true, .group = g.key}); reef_next(&b);)
            rows += b.count;
        assert_int_equal(rows, g.count);
        if (g.key != UINT64_MAX) assert_int_equal(rows, reef_source_count_id(w, target, relation));
    }
    return blocks;
}

static void queries_visit_target_by_target(void **state)
{
    reef_world *w = world_of(state);
    uint64_t seed = 15;
    ships_make(w);
    const reef_query docked = by_target(w, "in Ship", reef_id(DockedTo)),
                     follow = by_target(w, "in Ship", reef_id(Follows));
    assert_true(targets_check(w, docked, reef_id(DockedTo)) > SHIPS / 2);
    assert_ok(reef_tick(w, 0));
    assert_true(targets_check(w, docked, reef_id(DockedTo)) <= PORTS + SHIPS / REEF_BLOCK_ROWS);
    for (uint32_t round = 0; round < 40; round++) {
        for (uint32_t i = 0; i < 50; i++) sail(w, &seed);
        if (round % 5 == 4) assert_ok(reef_tick(w, 0));
        (void)targets_check(w, docked, reef_id(DockedTo));
        (void)targets_check(w, follow, reef_id(Follows));
    }
    char text[2000];
    assert_true(reef_query_explain(w, docked, text, sizeof text) > 0);
    assert_non_null(strstr(text, "visits rows by their targets in DockedTo"));
}

static void storage_is_sorted_by_target(void **state)
{
    reef_world *w = world_of(state);
    static const reef_entity none;
    uint64_t seed = 16;
    ships_make(w);
    for (uint32_t i = 0; i < 500; i++) { /* all in one table; some go in front of others */
        const uint32_t a = random_below(&seed, SHIPS), b = random_below(&seed, SHIPS);
        if (i % 3 == 0) (void)reef_unrelate_all(w, ship[a], Follows);
        else if (i % 3 == 1) (void)reef_relate(w, ship[a], Follows, ship[b % 40]);
        else if (reef_has(w, ship[b], Follows))
            (void)reef_relate_before(w, ship[a], Follows, reef_target(w, ship[b], Follows), ship[b]);
    }
    const reef_sort sort = {.order = {.relation = reef_id(Follows)}};
    assert_ok(reef_sort_storage(w, &sort));
    assert_valid(w);
    const reef_query q = reef_query_new(w, "in Ship");
    reef_entity target = none;
    reef_sources s = {0};
    uint32_t at = 0, n = 0;
    for (reef_block b = reef_begin(w, q); reef_next(&b);)
        for (uint32_t i = 0; i < b.count; i++, n++) {
            const reef_entity to = reef_target(w, b.entities[i], Follows);
            if (!reef_entity_equal(to, target)) {
                assert_true(reef_entity_is_null(to) || reef_entity_is_null(target) || to.index > target.index);
                target = to;
                s = reef_sources_of(w, to, Follows);
                at = 0;
            }
            if (reef_entity_is_null(to)) continue;
            if (at == s.count) assert_true(reef_sources_next(&s)), at = 0;
            assert_entity(s.sources[at++], b.entities[i]);
        }
    assert_int_equal(n, SHIPS);
    assert_none(target); /* those without come last */
    const uint64_t hash = reef_hash(w);
    assert_ok(reef_sort_storage(w, &sort));
    assert_true(hash == reef_hash(w));
}

static void files_keep_groups(void **state)
{
    reef_world *w = world_of(state), *loaded = another_world(state, NULL);
    uint64_t seed = 14;
    ships_make(w);
    assert_ok(reef_tick(w, 0));
    for (uint32_t i = 0; i < 300; i++) sail(w, &seed);
    reef_bytes bytes = {0};
    assert_ok(reef_save_bytes(w, &bytes, NULL));
    assert_ok(reef_load_bytes(loaded, bytes.data, bytes.size, NULL));
    reef_bytes_free(&bytes);
    assert_true(reef_hash(w) == reef_hash(loaded));
    assert_ok(reef_tick(w, 0));
    assert_ok(reef_tick(loaded, 0));
    assert_true(is_grouped(loaded));
    assert_true(reef_hash(w) == reef_hash(loaded));
}

static void what_cant_be_grouped(void **state)
{
    reef_world *w = world_of(state);
    const reef_type_desc many = {.name = "test.Many", .relation = REEF_IS_RELATION | REEF_GROUPED};
    reef_status status;
    assert_int_equal(reef_type_new(&many, &status).id, 0);
    assert_int_equal(status, REEF_BAD_ARGUMENT);
    assert_some(reef_spawn(w, reef_with(Ship, 1)));
    assert_refused(w, REEF_BAD_ARGUMENT,
                   reef_sort_storage(w, &(reef_sort){.order = {.component = reef_id(Ship)}, .grouped = true}));
    assert_refused(w, REEF_BAD_ARGUMENT,
                   reef_sort_storage(w, &(reef_sort){.order = {.descending = true}, .grouped = true}));
    const reef_query q = reef_query_new(w, "Ship");
    assert_refused(w, REEF_BAD_ARGUMENT, reef_query_order(w, q, &(reef_order){.relation = reef_id(Likes)}));
    assert_true(reef_query_is_null(reef_query_new(w, "in Ship, cascade(Follows)")));
    reef_block b = reef_begin(w, q);
    assert_true(reef_next(&b));
    assert_status(REEF_LOCKED, reef_sort_storage(w, &(reef_sort){.grouped = true}));
    reef_end(&b);
    assert_ok(reef_sort_storage(w, &(reef_sort){.grouped = true})); /* there is nothing to group */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(sources_of_a_target_lie_side_by_side),
        TEST(grouping_moves_few_rows),
        TEST(each_tick_groups_what_changed),
        TEST(some_tables_can_be_grouped),
        TEST(without_memory_a_tick_groups_nothing),
        TEST(queries_visit_target_by_target),
        TEST(storage_is_sorted_by_target),
        TEST(files_keep_groups),
        TEST(what_cant_be_grouped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
