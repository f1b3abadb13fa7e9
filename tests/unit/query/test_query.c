/* Queries: what matches, in which order, in which arrays, and what may happen while a loop is open. */
#include "support.h"

/* Visits all blocks, checks what holds for each, and writes the entities to `out`; returns their number. */
static uint32_t collect(reef_world *w, reef_query q, reef_entity *out)
{
    uint32_t n = 0;
    for (reef_block b = reef_begin(w, q); reef_next(&b);) {
        assert_true(b.count >= 1 && b.count <= REEF_BLOCK_ROWS);
        assert_ptr_equal(b.world, w);
        assert_true(b.dt == 0);
        const uint64_t *mask = reef_block_mask(&b);
        for (uint32_t i = 0; i < b.count; i++) {
            if (mask && (mask[i / 64] >> i % 64 & 1) == 0) continue;
            assert_true(reef_query_matches(w, q, b.entities[i]));
            out[n++] = b.entities[i];
        }
    }
    assert_int_equal(reef_last_error(w).status, REEF_OK);
    assert_int_equal(reef_query_count(w, q), n);
    return n;
}

static void a_type_is_walked_in_lockstep_with_its_entities(void **state)
{
    reef_world *w = world_of(state);
    for (int i = 0; i < 2600; i++) {
        reef_entity e = reef_spawn(w, reef_with(Mass, i), reef_with(Flag, (uint8_t)i));
        if (i % 3 == 0) assert_ok(reef_add(w, e, Hungry));
        if (i % 3 == 1) assert_status(REEF_ADDED, reef_set(w, e, Position, (float)i, 0));
    }
    reef_query q = reef_query_new(w, "in Mass, Flag");
    uint64_t rows = 0, blocks = 0;
    for (reef_block b = reef_begin(w, q); reef_next(&b); blocks++) {
        const Mass *m = reef_in(&b, Mass);
        Flag *f = reef_inout(&b, Flag);
        for (uint32_t i = 0; i < b.count; i++, rows++) {
            assert_ptr_equal(&m[i], reef_get(w, b.entities[i], Mass));
            assert_ptr_equal(&f[i], reef_get(w, b.entities[i], Flag));
            assert_int_equal((uint64_t)m[i].kg % 256, f[i].on);
            f[i].on++;
        }
    }
    assert_int_equal(rows, 2600);
    assert_int_equal(blocks, 3); /* tables of 866 or 867 rows */
    for (reef_block b = reef_begin(w, q); reef_next(&b);)
        for (uint32_t i = 0; i < b.count; i++)
            assert_int_equal((uint8_t)(reef_in(&b, Mass)[i].kg + 1), reef_inout(&b, Flag)[i].on);
    reef_query_free(w, q);
    assert_ok(reef_query_free(w, (reef_query){0, 0, 0}));
}

static void blocks_have_at_most_1024_rows(void **state)
{
    static const uint32_t sizes[] = {1, 1023, 1024, 1025, 2048, 2049};
    for (int s = 0; s < 6; s++) {
        reef_world *w = another_world(state, NULL);
        reef_query q = reef_query_new(w, "Position");
        assert_ok(reef_spawn_many(w, sizes[s], NULL, reef_with(Position, 1, 2)));
        uint32_t rows = 0;
        for (reef_block b = reef_begin(w, q); reef_next(&b);) {
            assert_int_equal(b.count, sizes[s] - rows < 1024 ? sizes[s] - rows : 1024);
            for (uint32_t i = 0; i < b.count; i++) assert_int_equal(b.entities[i].index, rows + i);
            rows += b.count;
        }
        assert_int_equal(rows, sizes[s]);
        end_world(state, w);
    }
}

/* ---- the order of visiting ---- */

/* Seven tables over Flag, Mass, Position, made in an order of their own; the order of visiting is that of the sorted
 * names of their types, whatever was made first. */
static void tables_are_visited_in_the_order_of_their_type_names(void **state)
{
    static const int sets[] = {1, 3, 7, 5, 2, 6, 4}; /* Flag; Flag Mass; Flag Mass Position; Flag Position; Mass ... */
    static const uint32_t orders[3][7] = {{6, 5, 4, 3, 2, 1, 0}, {0, 1, 2, 3, 4, 5, 6}, {3, 0, 6, 1, 5, 2, 4}};
    for (int o = 0; o < 3; o++) {
        reef_world *w = another_world(state, NULL);
        reef_query early = reef_query_new(w, "with Hungry");
        reef_entity e[7], seen[8];
        for (int i = 0; i < 7; i++) {
            uint32_t k = orders[o][i];
            e[k] = reef_spawn(w, reef_tag(Hungry));
            if (sets[k] & 4) assert_ok(reef_add(w, e[k], Position));
            if (sets[k] & 1) assert_ok(reef_add(w, e[k], Flag));
            if (sets[k] & 2) assert_ok(reef_add(w, e[k], Mass));
        }
        reef_query late = reef_query_new(w, "with Hungry");
        /* Hungry stands between Flag and Mass in every list. */
        assert_int_equal(collect(w, early, seen), 7);
        for (int i = 0; i < 7; i++) assert_entity(e[i], seen[i]);
        assert_int_equal(collect(w, late, seen), 7);
        for (int i = 0; i < 7; i++) assert_entity(e[i], seen[i]);
        end_world(state, w);
    }
}

static void rows_are_visited_in_the_order_of_the_table(void **state)
{
    reef_world *w = world_of(state);
    reef_query q = reef_query_new(w, "Mass");
    reef_entity e[6], seen[6];
    for (int i = 0; i < 6; i++) e[i] = reef_spawn(w, reef_with(Mass, i));
    assert_ok(reef_destroy(w, e[1])); /* the last comes into the hole */
    assert_int_equal(collect(w, q, seen), 5);
    assert_entity(e[0], seen[0]);
    assert_entity(e[5], seen[1]);
    assert_entity(e[2], seen[2]);
    assert_entity(e[4], seen[4]);
}

static void a_query_sees_tables_made_before_and_after_it(void **state)
{
    reef_world *w = world_of(state);
    static reef_entity seen[300];
    reef_query never = reef_query_new(w, "Cargo");
    reef_spawn(w, reef_with(Position, 1, 2));
    reef_query q = reef_query_new(w, "Position, with Frozen");
    assert_int_equal(collect(w, q, seen), 0);
    reef_spawn(w, reef_with(Position, 1, 2), reef_tag(Frozen));
    assert_int_equal(collect(w, q, seen), 1);
    for (uint32_t i = 0; i < 200; i++) {
        reef_component c = numbered_type("fragment", i, 4, 4);
        reef_value v[] = {reef_with(Position, 1, 2), reef_tag(Frozen), reef_value_make(c, REEF_VALUE_DEFAULT, 0, NULL)};
        reef_spawn_values(w, v, 3);
        if (i % 20 == 0) assert_int_equal(collect(w, q, seen), i + 2);
    }
    assert_int_equal(collect(w, q, seen), 201);
    assert_int_equal(reef_destroy_many(w, seen, 150), 150);
    assert_ok(reef_shrink(w));
    assert_int_equal(collect(w, q, seen), 51);
    reef_spawn(w, reef_with(Position, 1, 2), reef_tag(Frozen), reef_with(Cargo, {1}));
    assert_int_equal(collect(w, q, seen), 52);
    assert_int_equal(collect(w, never, seen), 1);
    assert_ok(reef_world_clear(w));
    assert_int_equal(collect(w, q, seen), 0);
}

static void matches_and_count(void **state)
{
    reef_world *w = world_of(state);
    reef_query q = reef_query_new(w, "Position, with Hungry");
    reef_entity yes = reef_spawn(w, reef_with(Position, 1, 2), reef_tag(Hungry), reef_with(Mass, 2));
    reef_entity no = reef_spawn(w, reef_with(Position, 1, 2)), empty = reef_create(w), dead = reef_clone(w, yes);
    assert_ok(reef_destroy(w, dead));
    assert_true(reef_query_matches(w, q, yes));
    assert_false(reef_query_matches(w, q, no));
    assert_false(reef_query_matches(w, q, empty));
    assert_false(reef_query_matches(w, q, dead));
    assert_false(reef_query_matches(w, q, (reef_entity){0}));
    assert_false(reef_query_matches(w, q, (reef_entity){12345678, 1}));
    assert_int_equal(reef_query_count(w, q), 1);
}

/* ---- arrays and access ---- */

static void arrays_are_handed_out_as_declared(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e =
        reef_spawn(w, reef_with(Position, 1, 2), reef_with(Velocity, 3, 4), reef_with(Mass, 5), reef_with(Flag, 6));
    reef_query q =
        reef_query_make(w, &(reef_query_desc){.terms = {{.component = reef_id(Flag), .access = REEF_WITH},
                                                        {.component = reef_id(Velocity), .access = REEF_IN},
                                                        {.component = reef_id(Position), .access = REEF_INOUT},
                                                        {.component = reef_id(Mass), .access = REEF_OUT}}});
    int blocks = 0;
    for (reef_block b = reef_begin(w, q); reef_next(&b); blocks++) {
        assert_ptr_equal(reef_in(&b, Velocity), reef_get(w, e, Velocity));
        assert_ptr_equal(reef_in(&b, Position), reef_get(w, e, Position));
        assert_ptr_equal(reef_inout(&b, Position), reef_get(w, e, Position));
        assert_ptr_equal(reef_out(&b, Mass), reef_get(w, e, Mass));
        assert_ptr_equal(reef_block_in(&b, reef_id(Velocity)), reef_get(w, e, Velocity));
        assert_ptr_equal(reef_block_inout(&b, reef_id(Position)), reef_get(w, e, Position));
        assert_null(reef_inout(&b, Velocity));
        assert_null(reef_out(&b, Velocity));
        assert_null(reef_in(&b, Flag));
        assert_null(reef_in(&b, Cargo));
        assert_null(reef_inout(&b, Cargo));
        assert_null(reef_block_in(&b, (reef_component){0}));
        assert_null(reef_block_inout(&b, (reef_component){UINT32_MAX}));
    }
    assert_int_equal(blocks, 1);
}

static void texts_say_the_access(void **state)
{
    reef_world *w = world_of(state);
    reef_spawn(w, reef_with(Position, 1, 2), reef_with(Velocity, 3, 4), reef_with(Mass, 5), reef_tag(Frozen),
               reef_tag(Awake));
    static const char *const same[] = {
        "Position, in Velocity, out Mass, with Frozen",
        " inout  Position ,in Velocity,out Mass ,with Frozen ",
        "with Awake, Position, in Velocity, out Mass",
        "Awake, Frozen, Position, in Velocity, out Mass",
    };
    for (int i = 0; i < 4; i++) {
        reef_query q = reef_query_new(w, same[i]);
        assert_query(q);
        assert_int_equal(reef_query_count(w, q), 1);
        for (reef_block b = reef_begin(w, q); reef_next(&b);) {
            assert_non_null(reef_inout(&b, Position));
            assert_non_null(reef_in(&b, Velocity));
            assert_null(reef_inout(&b, Velocity));
            assert_non_null(reef_out(&b, Mass));
        }
        reef_query_free(w, q);
    }
}

static void bad_text(reef_world *w, const char *text, reef_status status, uint64_t column)
{
    assert_no_query(w, status, reef_query_new(w, text));
    if (status == REEF_BAD_TEXT) assert_int_equal(reef_last_error(w).number, column);
}

static void bad_texts_name_the_column(void **state)
{
    reef_world *w = world_of(state);
    bad_text(w, "Position,, Velocity", REEF_BAD_TEXT, 10);
    bad_text(w, "Position, in", REEF_UNKNOWN_TYPE, 0); /* alone, it would be a type of that name */
    bad_text(w, "Position Velocity", REEF_BAD_TEXT, 10);
    bad_text(w, ", Position", REEF_BAD_TEXT, 1);
    bad_text(w, "Position, ?", REEF_BAD_TEXT, 12);
    bad_text(w, "Position,", REEF_BAD_TEXT, 10);
    bad_text(w, "Position, Nobody", REEF_UNKNOWN_TYPE, 0);
    bad_text(w, "Position, in Mass, Position", REEF_DUPLICATE_TERM, 0);
    bad_text(w, "Awake, with Awake", REEF_DUPLICATE_TERM, 0);
    reef_error e = reef_last_error(w);
    assert_int_equal(e.component.id, reef_id(Awake).id);
    assert_no_query(w, REEF_BAD_ARGUMENT, reef_query_make(w, NULL));
    assert_no_query(w, REEF_BAD_ARGUMENT, reef_query_new(w, NULL));
    assert_no_query(w, REEF_BAD_TEXT, reef_query_make(w, &(reef_query_desc){.text = "Mass,,"}));
    assert_query(reef_query_make(
        w, &(reef_query_desc){.text = "in Mass", .terms = {{.component = reef_id(Position), .access = REEF_IN}}}));
    assert_no_query(
        w, REEF_BAD_ARGUMENT,
        reef_query_make(w, &(reef_query_desc){.terms = {{.component = reef_id(Mass), .access = (reef_access)9}}}));
    reef_term twice[] = {{.component = reef_id(Mass), .access = REEF_IN},
                         {.component = reef_id(Mass), .access = REEF_WITH}};
    reef_query_desc d = {.terms = {twice[0], twice[1]}};
    assert_no_query(w, REEF_DUPLICATE_TERM, reef_query_make(w, &d));
    d.terms[1].component.id = UINT32_MAX;
    assert_no_query(w, REEF_UNKNOWN_TYPE, reef_query_make(w, &d));
}

static void the_number_of_terms_has_a_limit(void **state)
{
    reef_world *w = world_of(state);
    reef_query_desc d = {.text = NULL};
    static char text[REEF_TERMS_MAX * 20 + 40];
    reef_value v[REEF_TERMS_MAX + 1];
    for (uint32_t i = 0; i <= REEF_TERMS_MAX; i++) {
        reef_component c = numbered_type("term", i, 4, 4);
        if (i < REEF_TERMS_MAX) d.terms[i].component = c;
        v[i] = reef_value_make(c, REEF_VALUE_DEFAULT, 0, NULL);
        size_t length = strlen(text);
        snprintf(text + length, sizeof text - length, "%sterm%05u", i ? ", " : "", (unsigned)i);
    }
    reef_entity e = reef_spawn_values(w, v, REEF_TERMS_MAX + 1);
    reef_query q = reef_query_make(w, &d);
    assert_query(q);
    assert_no_query(w, REEF_LIMIT, reef_query_new(w, text));
    *strrchr(text, ',') = 0;
    reef_query same = reef_query_new(w, text);
    reef_entity seen[2];
    assert_int_equal(collect(w, same, seen), 1);
    assert_int_equal(collect(w, q, seen), 1);
    assert_entity(e, seen[0]);
    for (reef_block b = reef_begin(w, q); reef_next(&b);)
        for (uint32_t i = 0; i < REEF_TERMS_MAX; i++)
            assert_ptr_equal(reef_block_inout(&b, d.terms[i].component), reef_get_id(w, e, d.terms[i].component));
}

/* ---- while a loop is open ---- */

static void refuses_structure(reef_world *w, reef_entity e)
{
    assert_no_entity(w, REEF_LOCKED, reef_create(w));
    assert_no_entity(w, REEF_LOCKED, reef_create_entity(w));
    assert_no_entity(w, REEF_LOCKED, reef_spawn(w, reef_with(Position, 1, 2)));
    assert_refused(w, REEF_LOCKED, reef_spawn_many(w, 2, NULL, reef_with(Position, 1, 2)));
    assert_no_entity(w, REEF_LOCKED, reef_clone(w, e));
    assert_refused(w, REEF_LOCKED, reef_clone_many(w, e, 3, NULL));
    assert_no_entity(w, REEF_LOCKED, reef_reserve_id(w));
    assert_refused(w, REEF_LOCKED, reef_create_as(w, (reef_entity){90, 1}));
    assert_refused(w, REEF_LOCKED, reef_destroy(w, e));
    assert_zero(w, REEF_LOCKED, reef_destroy_many(w, &e, 1));
    assert_status(REEF_LOCKED, DESTROY_EVERYWHERE(w, reef_id(Position)));
    assert_status(REEF_LOCKED, remove_everywhere(w, reef_id(Position), NULL));
    assert_refused(w, REEF_LOCKED, reef_add(w, e, Mass));
    assert_refused(w, REEF_LOCKED, reef_set(w, e, Mass, 3));
    assert_no_pointer(w, REEF_LOCKED, reef_ensure(w, e, Mass));
    assert_refused(w, REEF_LOCKED, reef_remove(w, e, Position));
    assert_refused(w, REEF_LOCKED, reef_remove_all(w, e));
    assert_refused(w, REEF_LOCKED, reef_change(w, e, reef_tag(Frozen)));
    assert_refused(w, REEF_LOCKED, reef_world_clear(w));
    assert_refused(w, REEF_LOCKED, reef_shrink(w));
}

static void an_open_loop_locks_the_structure(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e = reef_spawn(w, reef_with(Position, 1, 2), reef_tag(Awake));
    reef_query q = reef_query_new(w, "Position");
    reef_block b = reef_begin(w, q);
    refuses_structure(w, e); /* from reef_begin on */
    assert_true(reef_next(&b));
    refuses_structure(w, e);
    assert_ok(reef_set(w, e, Position, 8, 9)); /* what is there may be written */
    reef_mut(w, e, Position)->y = 10;
    assert_ok(reef_change(w, e, reef_with(Position, 8, 10)));
    assert_int_equal(reef_write_many(w, Position, &e, 1, &((Position){8, 10})), 1);
    assert_non_null(reef_ensure(w, e, Position));
    assert_position(w, e, 8, 10);
    assert_true(reef_in(&b, Position)[0].y == 10);
    assert_false(reef_next(&b));
    assert_some(reef_create(w));
    assert_ok(reef_add(w, e, Mass));
}

static void loops_nest_and_may_be_left(void **state)
{
    reef_world *w = world_of(state);
    reef_query q = reef_query_new(w, "Position"), all = reef_query_new(w, "with Hungry");
    uint32_t pairs = 0;
    for (int i = 0; i < 3000; i++) reef_spawn(w, reef_with(Position, (float)i, 2), reef_tag(Hungry));
    for (reef_block b = reef_begin(w, q); reef_next(&b);) {
        for (reef_block c = reef_begin(w, all); reef_next(&c);) pairs++;
        assert_no_entity(w, REEF_LOCKED, reef_create(w)); /* the outer loop is still open */
        reef_block again = reef_begin(w, q);
        assert_true(reef_next(&again));
        reef_end(&again);
        assert_no_entity(w, REEF_LOCKED, reef_create(w));
    }
    assert_int_equal(pairs, 9);
    assert_some(reef_create(w));
    reef_block b = reef_begin(w, q);
    reef_end(&b); /* before the first block */
    reef_end(&b); /* a second end is harmless */
    assert_some(reef_create(w));
    b = reef_begin(w, q);
    assert_true(reef_next(&b));
    reef_end(&b);
    assert_false(reef_next(&b));
    assert_some(reef_create(w));
}

/* New tables may come while a loop is open, though no rows: the loop doesn't lose its place. */
static void sets_prepared_inside_a_loop(void **state)
{
    reef_world *w = world_of(state);
    reef_query q = reef_query_new(w, "Mass");
    reef_spawn(w, reef_with(Mass, 1), reef_tag(Frozen));
    reef_spawn(w, reef_with(Mass, 2), reef_tag(Hungry));
    reef_spawn(w, reef_with(Mass, 3));
    uint32_t rows = 0;
    for (reef_block b = reef_begin(w, q); reef_next(&b); rows += b.count) {
        for (uint32_t i = 0; i < 40; i++) {
            reef_bundle_part parts[] = {{reef_id(Mass), 0}, {numbered_type("inside", rows * 40 + i, 4, 4), 8}};
            assert_non_null(reef_bundle_new(w, parts, 2));
        }
        assert_int_equal(reef_query_count(w, q), 3);
        for (reef_block c = reef_begin(w, q); reef_next(&c);) assert_int_equal(c.count, 1);
        assert_non_null(reef_inout(&b, Mass));
    }
    assert_int_equal(rows, 3);
}

/* ---- others' and missing queries ---- */

static void a_query_of_another_world_gives_no_blocks(void **state)
{
    reef_world *w = world_of(state), *other = another_world(state, NULL);
    reef_spawn(w, reef_with(Position, 1, 2));
    reef_spawn(other, reef_with(Position, 1, 2));
    reef_query q = reef_query_new(w, "Position");
    reef_block b = reef_begin(other, q);
    assert_int_equal(reef_last_error(other).status, REEF_OTHER_WORLD);
    assert_false(reef_next(&b));
    assert_some(reef_create(other));
    b = reef_begin(other, (reef_query){0, 0, 0});
    assert_int_equal(reef_last_error(other).status, REEF_NOT_ALIVE);
    assert_false(reef_next(&b));
    reef_end(&b);
    assert_some(reef_create(other));
    assert_some(reef_create(w));
}

static void a_query_of_unused_types_creates_nothing(void **state)
{
    reef_world *w = world_of(state);
    reef_stats before = reef_world_stats(w);
    reef_query q = reef_query_new(w, "in Velocity, with Frozen, with Seen");
    reef_entity seen[2];
    assert_int_equal(collect(w, q, seen), 0);
    reef_stats after = reef_world_stats(w);
    assert_int_equal(after.tables, before.tables);
    assert_int_equal(after.tables_known, before.tables_known);
    reef_entity e = reef_spawn(w, reef_with(Velocity, 1, 2), reef_tag(Frozen), reef_tag(Seen));
    assert_int_equal(collect(w, q, seen), 1);
    assert_entity(e, seen[0]);
}

/* ---- switches ---- */

static bool awake(uint32_t i) { return i % 3 == 0 ? i < 1100 || i > 2047 : i % 64 > 61; }

static void masks_tell_the_rows_that_match(void **state)
{
    enum { N = 3100 };
    static reef_entity e[N], seen[N];
    reef_world *w = world_of(state);
    uint32_t wanted = 0, n = 0;
    for (uint32_t i = 0; i < N; i++) {
        e[i] = reef_spawn(w, reef_with(Mass, i));
        if (awake(i)) assert_ok(reef_add(w, e[i], Awake));
        if (i >= 1024 && i < 2048) assert_ok(reef_add(w, e[i], Seen));
    }
    reef_query q = reef_query_new(w, "in Mass, with Awake"), seen_only = reef_query_new(w, "in Mass, Seen");
    n = collect(w, q, seen);
    for (uint32_t i = 0; i < N; i++)
        if (awake(i)) assert_entity(e[i], seen[wanted++]);
    assert_int_equal(n, wanted);
    uint32_t blocks = 0;
    for (reef_block b = reef_begin(w, seen_only); reef_next(&b); blocks++) { /* all rows of one block, none elsewhere */
        assert_null(reef_block_mask(&b));
        assert_entity(e[1024], b.entities[0]);
        assert_int_equal(b.count, 1024);
        uint64_t words[2][16];
        const uint64_t *bits = reef_bits(&b, Awake, words[0]), *all = reef_bits(&b, Seen, words[1]);
        for (uint32_t i = 0; i < 1024; i++) {
            assert_int_equal(bits[i / 64] >> i % 64 & 1, awake(1024 + i));
            assert_int_equal(all[i / 64] >> i % 64 & 1, 1);
        }
    }
    assert_int_equal(blocks, 1);
}

/* Chunk k of the table: no row, all, some of the first word, none of the first word, all of the first word, none
 * again; the last is short. */
static bool lit(uint32_t i)
{
    const uint32_t row = i % 1024;
    switch (i / 1024) {
    case 1: return true;
    case 2: return row % 5 == 0;
    case 3: return row > 700 && row % 2;
    case 4: return row < 64 || row == 1000;
    case 6:
    case 7:
    case 9: return row % 3 != 1;
    default: return false;
    }
}

enum { LIT = 9 * 1024 + 300 };

/* The rows of one loop, or of one part, from number `n` on; each gets one more kilogramme. */
static uint32_t lit_rows(reef_block b, const reef_entity *wanted, uint32_t n)
{
    while (reef_next(&b)) {
        const uint64_t *mask = reef_block_mask(&b);
        Mass *m = reef_inout(&b, Mass);
        uint32_t rows = 0;
        for (uint32_t i = 0; i < b.count; i++) {
            if (mask && (mask[i / 64] >> i % 64 & 1) == 0) continue;
            assert_entity(wanted[n], b.entities[i]);
            m[i].kg++;
            n++;
            rows++;
        }
        assert_true(rows > 0 && (mask == NULL) == (rows == b.count));
        for (uint32_t i = b.count; mask && i < 1024; i++) assert_int_equal(mask[i / 64] >> i % 64 & 1, 0);
    }
    return n;
}

static void one_switch_decides_in_many_chunks(void **state)
{
    static reef_entity e[LIT], wanted[LIT];
    reef_world *w = world_of(state);
    uint32_t n = 0;
    for (uint32_t i = 0; i < LIT; i++) {
        e[i] = reef_spawn(w, reef_with(Mass, 0), reef_with(Flag, 1));
        /* chunks of another table in between */
        if (i % 2000 == 0) reef_spawn(w, reef_with(Mass, 0), reef_with(Position, 1, 2));
        if (lit(i)) assert_ok(reef_add(w, e[i], Awake)), wanted[n++] = e[i];
    }
    reef_query q = reef_query_new(w, "Mass, in Flag, with Awake");
    reef_world *fork = NULL;
    for (int round = 0; round < 3; round++) { /* alone, shared with a fork, and after that */
        if (round == 1) fork = reef_fork(w);
        assert_int_equal(lit_rows(reef_begin(w, q), wanted, 0), n);
        assert_int_equal(lit_rows(reef_begin_loop(w, q, &(reef_loop){.offset = 1500, .limit = 700}), wanted, 1500),
                         2200);
        reef_slices *split = reef_slices_begin(w, q, NULL, 5);
        uint32_t at = 0;
        for (uint32_t part = 0; part < 5; part++) at = lit_rows(reef_slice(split, part), wanted, at);
        assert_int_equal(at, n);
        reef_slices_end(split);
        if (round == 1) end_world(state, fork);
    }
    for (uint32_t i = 0, k = 0; i < LIT; i++) {
        assert_int_equal(reef_get(w, e[i], Mass)->kg, lit(i) ? 6 + 3 * (k >= 1500 && k < 2200) : 0);
        k += lit(i);
    }
    for (uint32_t i = 2048; i < 3072; i++) assert_ok(lit(i) ? reef_remove(w, e[i], Awake) : reef_add(w, e[i], Awake));
    n = 0;
    for (uint32_t i = 0; i < LIT; i++)
        if (lit(i) != (i / 1024 == 2)) wanted[n++] = e[i];
    assert_int_equal(lit_rows(reef_begin(w, q), wanted, 0), n);
    assert_ok(reef_query_free(w, q));
}

static void two_switches_and_the_bits_behind_the_last_row(void **state)
{
    reef_world *w = world_of(state);
    reef_query both = reef_query_new(w, "Mass, Awake, Seen"), plain = reef_query_new(w, "Mass");
    reef_entity e[70], seen[70];
    for (uint32_t i = 0; i < 70; i++) {
        e[i] = reef_spawn(w, reef_with(Mass, i), reef_tag(Awake));
        if (i % 2) assert_ok(reef_add(w, e[i], Seen));
    }
    assert_int_equal(collect(w, both, seen), 35);
    for (int i = 0; i < 35; i++) assert_entity(e[2 * i + 1], seen[i]);
    for (reef_block b = reef_begin(w, plain); reef_next(&b);) {
        uint64_t words[2][16];
        const uint64_t *bits = reef_bits(&b, Awake, words[0]), *second = reef_bits(&b, Seen, words[1]);
        assert_null(reef_block_mask(&b));
        assert_true(bits[0] == UINT64_MAX && bits[1] == 63);
        assert_true(second[0] == 0xAAAAAAAAAAAAAAAAu && second[1] == 42);
        for (int k = 2; k < 16; k++) assert_true(bits[k] == 0 && second[k] == 0);
    }
    for (int i = 69; i >= 10; i--) assert_ok(reef_destroy(w, e[i]));
    for (reef_block b = reef_begin(w, plain); reef_next(&b);) {
        uint64_t words[16];
        assert_int_equal(reef_bits(&b, Awake, words)[0], 1023);
        assert_int_equal(reef_bits(&b, Awake, words)[1], 0);
    }
    assert_ok(remove_everywhere(w, reef_id(Seen), NULL));
    assert_int_equal(collect(w, both, seen), 0);
    reef_query unused = reef_query_new(w, "Mass, with Awake");
    assert_true(reef_query_matches(w, unused, e[0]));
    assert_ok(reef_remove(w, e[0], Awake));
    assert_false(reef_query_matches(w, unused, e[0]));
    for (reef_block b = reef_begin(w, plain); reef_next(&b);) {
        uint64_t words[16];
        assert_int_equal(reef_bits(&b, Seen, words)[0], 0);
    }
}

/* Loops that only read make no new version, so the fast paths go on between them; a fork and its end are on the
 * way. */
static void loops_see_rows_that_came_and_went_between_them(void **state)
{
    enum { ROUNDS = 300 };
    reef_world *w = world_of(state), *fork = NULL;
    reef_query q = reef_query_new(w, "in Mass"), other = reef_query_new(w, "in Mass, in Position");
    reef_entity made[4 * ROUNDS], seen[4 * ROUNDS];
    uint32_t n = 0, moved = 0;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        for (uint32_t k = 0; k <= i % 4; k++) made[n++] = reef_spawn(w, reef_with(Mass, (int)i));
        assert_int_equal(collect(w, q, seen), n);
        if (i % 3 == 0) assert_status(REEF_ADDED, reef_set(w, made[moved++], Position, 1, 2));
        if (i % 3 == 0) assert_int_equal(collect(w, other, seen), moved);
        assert_int_equal(collect(w, q, seen), n);
        if (i % 5 == 4) assert_ok(reef_destroy(w, made[--n]));
        if (i == 100) fork = reef_fork(w);
        if (i == 150) reef_world_free(fork);
        assert_int_equal(collect(w, q, seen), n);
        assert_int_equal(collect(w, other, seen), moved);
        if (i % 16 == 0) assert_ok(reef_validate(w, NULL, 0));
    }
    end_world(state, w);
}

/* The explanation is that of the world as it is: of tables that are empty, or that another future or a fork made, it
 * says nothing. */
static void C4_F1_an_explanation_is_of_the_world_as_it_is(void **state)
{
    static const char wanted[] =
        "query \"Position, in Velocity\"\n"
        "walks 2 of 4 tables in the order of their type names, 3 blocks, 1503 rows\n"
        "tables are found by Velocity, the rarest type that all of them have: 2; a new table without it costs nothing\n"
        "1. [Frozen, Position, Velocity]: 3 rows in 1 block, all match\n"
        "2. [Position, Velocity]: 1500 rows in 2 blocks, all match\n"
        "1503 entities match\n";
    char text[2000], none[1] = "";
    reef_world *w = world_of(state);
    assert_ok(reef_spawn_many(w, 1500, NULL, reef_with(Position, 1, 2), reef_with(Velocity, 3, 4)));
    assert_ok(reef_spawn_many(w, 3, NULL, reef_with(Position, 1, 2), reef_with(Velocity, 3, 4), reef_tag(Frozen)));
    assert_ok(reef_spawn_many(w, 9, NULL, reef_with(Position, 1, 2)));
    assert_some(reef_spawn(w, reef_with(Position, 1, 2), reef_with(Mass, 3)));
    reef_query q = reef_query_new(w, "Position, in Velocity");
    assert_int_equal(reef_query_explain(w, q, text, sizeof text), sizeof wanted - 1);
    assert_string_equal(text, wanted);
    reef_snapshot *s = reef_snapshot_take(w);
    reef_world *fork = reef_fork(w);
    for (int side = 0; side < 2; side++) { /* in a future that is abandoned, and in a fork */
        reef_entity e =
            reef_spawn(side ? fork : w, reef_with(Position, 1, 2), reef_with(Velocity, 3, 4), reef_with(Mass, 1));
        assert_ok(reef_remove(side ? fork : w, e, Velocity));
        assert_some(reef_spawn(side ? fork : w, reef_with(Velocity, 3, 4), reef_tag(Hungry)));
    }
    (void)reef_query_explain(w, q, text, sizeof text);
    assert_non_null(strstr(text, "walks 2 of 5 tables"));
    assert_non_null(strstr(text, "all of them have: 3;"));
    assert_ok(reef_restore(w, s));
    assert_int_equal(reef_query_explain(w, q, text, sizeof text), sizeof wanted - 1);
    assert_string_equal(text, wanted);
    assert_int_equal(reef_query_explain(w, q, none, 1), sizeof wanted - 1); /* cut where the room ends */
    assert_string_equal(none, "");
    reef_snapshot_free(s);
    reef_world_free(fork);
}

static void queries_end_with_their_world(void **state)
{
    reef_world *w = another_world(state, NULL);
    for (int i = 0; i < 20; i++) assert_query(reef_query_new(w, i % 2 ? "Position, Velocity" : "Awake"));
    reef_query q = reef_query_new(w, "Mass");
    reef_spawn(w, reef_with(Mass, 1));
    assert_int_equal(reef_query_count(w, q), 1);
    reef_query_free(w, q);
    end_world(state, w);
}

#ifdef REEF_CHECKED

/* ---- loops over rows that don't match ---- */

typedef struct told {
    uint32_t count;
    char first[512];
} told;

static void tell(void *context, reef_status s, const char *message)
{
    told *t = context;
    if (t->count++ == 0) snprintf(t->first, sizeof t->first, "%s", message);
    assert_status(REEF_UNDECLARED, s);
}

typedef enum asking { ALL_ROWS, BY_RUNS, BY_MASK, BY_BITS, NO_VALUES } asking;

static uint32_t block_sum(const reef_block *b, asking how)
{
    uint64_t words[REEF_BLOCK_ROWS / 64];
    uint32_t first = 0, sum = 0;
    const Position *p = how == NO_VALUES ? NULL : reef_in(b, Position);
    if (how == BY_RUNS) (void)reef_block_run(b, &first);
    if (how == BY_MASK) (void)reef_block_mask(b);
    if (how == BY_BITS) (void)reef_bits(b, Awake, words);
    for (uint32_t i = first; p && i < b->count; i++) sum += (uint32_t)p[i].x;
    return sum;
}

static void loop_over(reef_world *w, reef_query q, asking how)
{
    for (reef_block b = reef_begin(w, q); reef_next(&b);) (void)block_sum(&b, how);
}

static void loops_over_rows_that_do_not_match_are_told(void **state)
{
    told t = {0, ""};
    reef_world *w = another_world(state, &(reef_world_config){.misuse = tell, .context = &t});
    reef_entity e[3000];
    for (uint32_t i = 0; i < 3000; i++) {
        e[i] = reef_spawn(w, reef_with(Position, 1, 1));
        reef_add(w, e[i], Awake);
    }
    const reef_query q = reef_query_new(w, "in Position, Awake");
    loop_over(w, q, ALL_ROWS); /* they all match */
    reef_remove(w, e[1500], Awake);
    for (asking how = BY_RUNS; how <= NO_VALUES; how++) loop_over(w, q, how);
    reef_each(w, q, row)(void) reef_in_at(row, Position);
    assert_int_equal(t.count, 0);

    reef_remove(w, e[10], Awake);
    uint32_t blocks = 0;
    for (reef_block b = reef_begin(w, q); reef_next(&b); blocks++) (void)block_sum(&b, blocks ? ALL_ROWS : BY_MASK);
    assert_int_equal(t.count, 1);
    loop_over(w, q, ALL_ROWS); /* each query is told of once */
    assert_int_equal(t.count, 1);
    assert_string_equal(t.first,
                        "reef_next: component Position: the access was not declared: not all rows of the block "
                        "match: reef_block_run, reef_block_mask or reef_each tell which do");
    assert_ok(reef_last_error(w).status); /* the loop itself hasn't failed */
    const reef_query writes = reef_query_new(w, "Position, !Awake");
    for (reef_block b = reef_begin(w, writes); reef_next(&b);) reef_inout(&b, Position)[0].x = 1;
    assert_int_equal(t.count, 2);
}

static void sum_rows(reef_block *b) { *(uint32_t *)b->context = block_sum(b, ALL_ROWS); }

static void systems_that_read_rows_that_do_not_match_are_told(void **state)
{
    told t = {0, ""};
    uint32_t sum = 0;
    reef_world *w = another_world(state, &(reef_world_config){.misuse = tell, .context = &t});
    for (uint32_t i = 0; i < 10; i++) {
        const reef_entity e = reef_spawn(w, reef_with(Position, 1, 1));
        if (i % 2) reef_add(w, e, Awake);
    }
    assert_false(reef_system_is_null(reef_system_new(
        w, &(reef_system_desc){.name = "sum", .function = sum_rows, .text = "in Position, Awake", .context = &sum})));
    assert_ok(reef_tick(w, 1));
    assert_int_equal(sum, 10);
    assert_int_equal(t.count, 1);
    assert_non_null(strstr(t.first, "system sum: reef_next: component Position: "));
    assert_status(REEF_UNDECLARED, reef_last_error(w).status);
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_type_is_walked_in_lockstep_with_its_entities),
        TEST(blocks_have_at_most_1024_rows),
        TEST(tables_are_visited_in_the_order_of_their_type_names),
        TEST(rows_are_visited_in_the_order_of_the_table),
        TEST(a_query_sees_tables_made_before_and_after_it),
        TEST(matches_and_count),
        TEST(arrays_are_handed_out_as_declared),
        TEST(texts_say_the_access),
        TEST(bad_texts_name_the_column),
        TEST(the_number_of_terms_has_a_limit),
        TEST(an_open_loop_locks_the_structure),
        TEST(loops_nest_and_may_be_left),
        TEST(sets_prepared_inside_a_loop),
        TEST(a_query_of_another_world_gives_no_blocks),
        TEST(a_query_of_unused_types_creates_nothing),
        TEST(masks_tell_the_rows_that_match),
        TEST(one_switch_decides_in_many_chunks),
        TEST(two_switches_and_the_bits_behind_the_last_row),
        TEST(loops_see_rows_that_came_and_went_between_them),
        TEST(C4_F1_an_explanation_is_of_the_world_as_it_is),
        TEST(queries_end_with_their_world),
#ifdef REEF_CHECKED
        TEST(loops_over_rows_that_do_not_match_are_told),
        TEST(systems_that_read_rows_that_do_not_match_are_told),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
