/* Indexes of blocks: get, mut and has by handle answer what the chunks say, after everything that gives a block another
 * address, a chunk another table, or the world another state; and an index that can't be made changes no answer. */
#include "base/threads.h"
#include "storage/archetype.h"
#include "storage/block_index.h"
#include "storage/entity_index.h"
#include "storage/layout.h"
#include "storage/place.h"
#include "support.h"

typedef struct Body {
    int32_t weight;
} Body;
typedef struct Whale {
    Body base;
    int32_t songs;
} Whale;
REEF_COMPONENT(Body);
REEF_SUBTYPE(Whale, Body);

/* ---- what is so ---- */

/* The value by the chunk's slots; for a tag some address. NULL: the entity hasn't got it. */
static const void *slow(const reef_world *w, reef_entity e, reef_component c, size_t size)
{
    const uint32_t place = place_of(w, e);
    if (place == PLACE_DEAD) return NULL;
    const reef_slot *slots = reef_slots_at(&w->hot, place);
    const uint32_t k = slot_find(w, c.id, slots[0].head.table);
    if (k == 0) return NULL;
    return k == REEF_SLOT_TAG ? (const void *)slots : cell(slots, k, place_row(place), size);
}

static bool indexed(const reef_world *w, reef_component c) { return block_index_of(w, c.id)->room != 0; }

#define agrees_on(w, e, T) \
    do { \
        const void *is_ = slow(w, e, reef_id(T), sizeof(T)); \
        assert_ptr_equal(reef_get(w, e, T), is_); \
        assert_ptr_equal(reef_get_fast(w, e, reef_id(T), sizeof(T)), is_); \
        assert_ptr_equal(reef_get_id(w, e, reef_id(T)), is_); \
        assert_int_equal(reef_has(w, e, T), is_ != NULL); \
        assert_int_equal(reef_has_fast(w, e, reef_id(T)), is_ != NULL); \
        assert_int_equal(reef_has_id(w, e, reef_id(T)), is_ != NULL); \
    } while (0)

/* All calls that read agree with the chunks, for every index that was ever given out and the one before its
 * generation. */
static void agrees(const reef_world *w)
{
    assert_valid(w);
    for (uint32_t i = 0; i < w->hot.index_count; i++) {
        const reef_entity now = {i, (uint32_t)(record_read(w, i) >> 32)}, before = {i, now.generation - 1};
        agrees_on(w, now, Position);
        agrees_on(w, now, Mass);
        agrees_on(w, before, Position);
        const bool frozen = slow(w, now, reef_id(Frozen), 0) != NULL;
        assert_int_equal(reef_has(w, now, Frozen), frozen);
        assert_int_equal(reef_has_fast(w, now, reef_id(Frozen)), frozen);
        assert_null(reef_get_fast(w, now, reef_id(Frozen), 1));
    }
    assert_valid(w);
}

/* Calls that go by the chunk, until an index would have been made. */
static void reads_often(const reef_world *w, reef_entity e)
{
    for (uint32_t i = 0; i < w->state.next_unit + BLOCK_ASKS; i += BLOCK_ASKS) {
        (void)reef_has(w, e, Mass);
        (void)reef_has(w, e, Frozen);
        (void)reef_get(w, e, Position);
    }
}

/* Asks until the three have an index. */
static void asks(const reef_world *w)
{
    reads_often(w, (reef_entity){0, 1});
    assert_true(indexed(w, reef_id(Position)) && indexed(w, reef_id(Mass)) && indexed(w, reef_id(Frozen)));
    agrees(w);
}

/* Writes one Position by its handle: the write is marked, and only this world has it. */
static void writes(reef_world *w, reef_entity e, float x)
{
    for (int i = 0; i < 3; i++) {
        Position *p = reef_mut(w, e, Position);
        assert_ptr_equal(p, slow(w, e, reef_id(Position), sizeof *p));
        const reef_slot *slots = reef_slots_at(&w->hot, place_of(w, e));
        assert_int_equal(slots[slot_find(w, reef_id(Position).id, slots[0].head.table)].version, w->hot.version);
        p->x = x;
        assert_ptr_equal(reef_mut_fast(w, e, reef_id(Position), sizeof(Position)), p);
    }
    agrees(w);
}

enum { MANY = 3000 };

/* Three tables with Position, of which one has Mass and one Mass and Frozen, and one without. */
static void fills(reef_world *w, reef_entity *e)
{
    for (uint32_t i = 0; i < MANY; i++) {
        const float x = (float)i;
        if (i % 4 == 0) e[i] = reef_spawn(w, reef_with(Position, x, 2));
        else if (i % 4 == 1) e[i] = reef_spawn(w, reef_with(Position, x, 2), reef_with(Mass, i));
        else if (i % 4 == 2) e[i] = reef_spawn(w, reef_with(Position, x, 2), reef_with(Mass, i), reef_tag(Frozen));
        else e[i] = reef_spawn(w, reef_with(Velocity, x, 2));
    }
}

/* ---- the tests ---- */

static void an_index_is_made_after_as_many_calls_as_there_are_units(void **test)
{
    reef_world *w = world_of(test);
    static reef_entity e[MANY];
    fills(w, e);
    for (uint32_t i = 0; i < 100 * REEF_BLOCK_ROWS; i++) assert_some(reef_spawn(w, reef_with(Position, 1, 1)));
    const uint32_t calls = w->state.next_unit / BLOCK_ASKS;
    assert_int_equal(calls, 1);
    for (uint32_t i = 0; i < 500; i++) assert_position(w, e[4], 4, 2); /* none that asks */
    for (uint32_t i = 0; i < calls; i++) assert_position(w, e[0], 0, 2);
    assert_false(indexed(w, reef_id(Position)));
    assert_position(w, e[0], 0, 2);
    assert_true(indexed(w, reef_id(Position)));
    assert_false(indexed(w, reef_id(Mass)));
    asks(w);
    /* beyond its room it begins anew */
    const uint32_t room = w->block_room;
    for (uint32_t i = 0; i < 70 * REEF_BLOCK_ROWS; i++) assert_some(reef_spawn(w, reef_with(Position, 1, 1)));
    assert_false(indexed(w, reef_id(Position)) || indexed(w, reef_id(Mass)));
    assert_int_equal(w->block_room, UINT32_MAX);
    reads_often(w, e[0]);
    assert_true(indexed(w, reef_id(Position)) && indexed(w, reef_id(Mass)));
    assert_true(w->block_room > room);
    agrees(w);
}

static void what_nobody_has_gets_no_index(void **test)
{
    reef_world *w = world_of(test);
    const reef_entity e = reef_spawn(w, reef_with(Position, 1, 2));
    for (uint32_t i = 0; i < 100; i++) assert_false(reef_has(w, e, Mass) || reef_has(w, e, Awake));
    assert_false(indexed(w, reef_id(Mass)) || indexed(w, reef_id(Awake)));
    assert_status(REEF_ADDED, reef_set(w, e, Mass, 3));
    for (uint32_t i = 0; i < 100; i++) assert_true(reef_has(w, e, Mass));
    assert_true(indexed(w, reef_id(Mass)));
    assert_ok(reef_remove(w, e, Mass));
    assert_false(reef_has(w, e, Mass));
    assert_valid(w);
}

static void a_world_has_64_indexes_and_others_go_by_the_chunk(void **test)
{
    reef_world *w = world_of(test);
    reef_component c[70];
    reef_entity e[70];
    for (uint32_t i = 0; i < 70; i++) {
        c[i] = numbered_type("indexed", i, 4, 4);
        const uint32_t n = i;
        const reef_value v = reef_value_make(c[i], REEF_VALUE_ONE, 4, &n);
        e[i] = reef_spawn_values(w, &v, 1);
        assert_some(e[i]);
    }
    for (uint32_t i = 0; i < 70; i++)
        for (uint32_t k = 0; k < 20; k++) reef__block_index_ask(w, c[i].id);
    uint32_t made = 0;
    for (uint32_t i = 0; i < 70; i++) {
        made += indexed(w, c[i]);
        for (uint32_t k = 0; k < 70; k++) {
            const uint32_t *n = reef_get_fast(w, e[k], c[i], 4);
            assert_true(i == k ? n && *n == i : n == NULL);
        }
    }
    assert_int_equal(made, 64);
    assert_valid(w);
}

static void an_index_follows_rows_that_grow_end_and_move(void **test)
{
    reef_world *w = world_of(test);
    static reef_entity e[MANY];
    fills(w, e);
    asks(w);
    for (uint32_t i = 0; i < 40; i++) { /* the first chunk of a table grows by doubling */
        assert_some(reef_spawn(w, reef_with(Position, 1, 1), reef_with(Mass, 1), reef_with(Health, 1, 1)));
        if (i % 8 == 0 || i == 9 || i == 17) agrees(w);
    }
    for (uint32_t i = 0; i < MANY; i += 2) assert_ok(reef_destroy(w, e[i]));
    agrees(w);
    for (uint32_t i = 1; i < MANY; i += 4) assert_ok(reef_remove(w, e[i], Mass));
    for (uint32_t i = 3; i < MANY; i += 4) assert_status(REEF_ADDED, reef_set(w, e[i], Mass, 7));
    agrees(w);
    for (uint32_t i = 1; i < MANY; i += 2) assert_ok(reef_destroy(w, e[i]));
    agrees(w);
    assert_ok(reef_shrink(w)); /* chunks and their units are free */
    agrees(w);
    for (uint32_t i = 0; i < MANY; i++) assert_some(reef_spawn(w, reef_with(Velocity, 1, 1), reef_with(Cargo, {1})));
    agrees(w);
    fills(w, e);
    agrees(w);
}

static void an_index_follows_whole_chunks_that_go_to_another_table(void **test)
{
    reef_world *w = world_of(test);
    static reef_entity e[MANY];
    fills(w, e);
    asks(w);
    reef_query q = reef_query_new(w, "Position, !Mass");
    assert_query(q);
    assert_ok(reef_add_where(w, q, Frozen));
    agrees(w);
    assert_ok(reef_add_where(w, q, Mass)); /* a new column */
    agrees(w);
    reef_query_free(w, q);
    q = reef_query_new(w, "Mass");
    assert_query(q);
    assert_ok(reef_remove_where(w, q, Frozen));
    agrees(w);
    assert_ok(reef_add_where(w, q, Health)); /* more units a chunk: rows get other places */
    assert_ok(reef_add_where(w, q, Velocity));
    agrees(w);
    assert_ok(reef_remove_where(w, q, Position));
    agrees(w);
    reef_query_free(w, q);
}

static void worlds_that_share_blocks_have_indexes_of_their_own(void **test)
{
    reef_world *w = world_of(test);
    static reef_entity e[MANY];
    fills(w, e);
    asks(w);
    reef_world *fork = reef_fork(w);
    assert_non_null(fork);
    assert_false(indexed(fork, reef_id(Position)));
    asks(fork);
    assert_ptr_equal(reef_get(fork, e[0], Position), reef_get(w, e[0], Position));
    writes(w, e[0], 100); /* copied for the first that writes */
    agrees(fork);
    writes(fork, e[0], 200);
    writes(fork, e[2000], 300);
    agrees(w);
    assert_position(w, e[0], 100, 2);
    assert_position(fork, e[0], 200, 2);
    reef_query q = reef_query_new(w, "Position"); /* a loop copies as well */
    for (reef_block b = reef_begin(w, q); reef_next(&b);)
        for (uint32_t i = 0; i < b.count; i++) reef_out(&b, Position)[i] = (Position){5, 5};
    agrees(w);
    agrees(fork);
    assert_position(fork, e[4], 4, 2);
    reef_query_free(w, q);
    reef_world_free(fork);
    agrees(w);
    writes(w, e[4], 9);
}

static void a_world_that_goes_back_forgets_its_indexes(void **test)
{
    reef_world *w = world_of(test);
    static reef_entity e[MANY];
    fills(w, e);
    asks(w);
    reef_snapshot *s = reef_snapshot_take(w);
    assert_non_null(s);
    agrees(w);
    writes(w, e[0], 100); /* the snapshot gets the copy, or the world */
    for (uint32_t i = 0; i < MANY; i += 3) assert_ok(reef_destroy(w, e[i]));
    for (uint32_t i = 0; i < 500; i++) assert_some(reef_spawn(w, reef_with(Mass, 1), reef_with(Cargo, {1})));
    agrees(w);
    assert_ok(reef_restore(w, s));
    assert_false(indexed(w, reef_id(Position)));
    agrees(w);
    asks(w);
    assert_position(w, e[0], 0, 2);
    writes(w, e[0], 50);
    reef_world *fork = reef_snapshot_fork(s);
    assert_non_null(fork);
    asks(fork);
    writes(fork, e[0], 60);
    agrees(w);
    reef_snapshot_free(s);
    writes(w, e[1], 70);
    agrees(fork);
    reef_world_free(fork);
    /* a loaded state replaces one as well */
    reef_bytes bytes;
    assert_ok(reef_save_bytes(w, &bytes, &(reef_save_desc){.raw = true}));
    reef_world *loaded = another_world(test, NULL);
    assert_some(reef_spawn(loaded, reef_with(Position, 8, 8), reef_with(Mass, 1), reef_tag(Frozen)));
    asks(loaded);
    assert_ok(reef_load_bytes(loaded, bytes.data, bytes.size, NULL));
    reef_bytes_free(&bytes);
    agrees(loaded);
    asks(loaded);
    assert_position(loaded, e[1], 70, 2);
}

/* Without memory for an index calls answer what they would with one. */
static void without_memory_there_is_no_index_and_nothing_else_changes(void **test)
{
    reef_world *w = world_of(test);
    static reef_entity e[MANY];
    fills(w, e);
    for (uint64_t failing = 1; failing <= 2; failing++) { /* the list of indexes, the index */
        heap_fail_nth(heap_of(test), failing, true);
        for (uint32_t i = 0; i < w->state.next_unit; i++) {
            assert_position(w, e[0], 0, 2);
            Position *p = reef_mut(w, e[0], Position);
            assert_ptr_equal(p, reef_get(w, e[0], Position));
        }
        assert_false(indexed(w, reef_id(Position)));
        heap_fail_never(heap_of(test));
        agrees(w);
        reef__block_indexes_drop(w);
    }
    asks(w);
}

static void a_base_has_an_index_that_its_subtypes_arent_in(void **test)
{
    reef_world *w = world_of(test);
    reef_entity body = reef_spawn(w, reef_with(Body, 1)), whale = reef_spawn(w, reef_with(Whale, {2}, 3));
    reef__block_index_ask(w, reef_id(Body).id);
    reef__block_index_ask(w, reef_id(Whale).id);
    for (uint32_t i = 0; i < 20; i++) {
        assert_int_equal(reef_get(w, body, Body)->weight, 1);
        assert_int_equal(reef_get(w, whale, Body)->weight, 2);
        assert_true(reef_has(w, body, Body) && reef_has(w, whale, Body) && !reef_has(w, body, Whale));
        reef_mut(w, whale, Body)->weight = 2;
    }
    assert_true(indexed(w, reef_id(Body)) && indexed(w, reef_id(Whale)));
    assert_valid(w);
}

/* ---- systems ---- */

static struct {
    reef_entity e[2];
    uint32_t runs;
} written;

static void write_first(reef_block *b)
{
    for (int i = 0; i < 2; i++) reef_mut(b->world, written.e[i], Position)->x += 1;
}
static void write_second(reef_block *b)
{
    for (int i = 0; i < 2; i++) reef_mut(b->world, written.e[i], Position)->y += 1;
}
static void see_change(reef_block *b) { written.runs += b->count != 0; }

static void what_systems_write_by_handle_is_marked_for_each(void **test)
{
    reef_world *w = world_of(test);
    static reef_entity e[MANY];
    fills(w, e);
    asks(w);
    written.e[0] = e[0], written.e[1] = e[2000], written.runs = 0;
    assert_false(reef_system_is_null(reef_system(w, write_first, "; writes Position")));
    assert_false(reef_system_is_null(reef_system(w, see_change, "changed in Position")));
    assert_false(reef_system_is_null(reef_system(w, write_second, "; writes Position")));
    for (uint32_t i = 1; i <= 5; i++) {
        reef_snapshot *s = i == 3 ? reef_snapshot_take(w) : NULL;
        written.runs = 0;
        assert_ok(reef_tick(w, 1));
        assert_true(written.runs > 0);
        agrees(w);
        assert_position(w, e[2000], 2000 + (float)i, 2 + (float)i);
        reef_snapshot_free(s);
    }
}

#if !defined(REEF_NO_THREADS)
static void read_all(void *data)
{
    const reef_world *w = data;
    float sum = 0;
    for (uint32_t k = 0; k < 3; k++)
        for (uint32_t i = 0; i < w->hot.index_count; i++) {
            const reef_entity e = {i, 1};
            const Position *p = reef_get(w, e, Position);
            sum += (p ? p->x : 0) + (reef_has(w, e, Mass) ? 1 : 0) + (reef_has(w, e, Frozen) ? 1 : 0);
        }
    assert_true(sum > 0);
}

static void several_threads_ask_at_the_same_time(void **test)
{
    reef_world *w = world_of(test);
    static reef_entity e[MANY];
    fills(w, e);
    thread threads[3];
    for (int i = 0; i < 3; i++) assert_true(thread_make(&threads[i], read_all, w));
    for (int i = 0; i < 3; i++) thread_join(&threads[i]);
    assert_true(indexed(w, reef_id(Position)) && indexed(w, reef_id(Frozen)));
    agrees(w);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_index_is_made_after_as_many_calls_as_there_are_units),
        TEST(what_nobody_has_gets_no_index),
        TEST(a_world_has_64_indexes_and_others_go_by_the_chunk),
        TEST(an_index_follows_rows_that_grow_end_and_move),
        TEST(an_index_follows_whole_chunks_that_go_to_another_table),
        TEST(worlds_that_share_blocks_have_indexes_of_their_own),
        TEST(a_world_that_goes_back_forgets_its_indexes),
        TEST(without_memory_there_is_no_index_and_nothing_else_changes),
        TEST(a_base_has_an_index_that_its_subtypes_arent_in),
        TEST(what_systems_write_by_handle_is_marked_for_each),
#if !defined(REEF_NO_THREADS)
        TEST(several_threads_ask_at_the_same_time),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
