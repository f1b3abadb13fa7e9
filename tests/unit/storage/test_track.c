/* Types with track_rows (F2): exactly the rows that were written, and exactly those that got the component. */
#include "support.h"
#include "storage/row_stamps.h"

typedef struct {
    float x, y;
} Spot;
typedef struct {
    uint64_t word[3];
} Wide;
typedef struct {
    int32_t value;
} Note; /* a fork gets zeroes */
typedef struct {
    int32_t value;
} Sound; /* a rewind leaves it alone */

static const reef_hooks rows = {.track_rows = true};
static const reef_hooks reset_rows = {.track_rows = true, .on_fork = REEF_FORK_RESET};
static const reef_hooks skip_rows = {.track_rows = true, .on_fork = REEF_FORK_SKIP};
static reef_hooks ledger_rows; /* those of Tracked, with track_rows: filled by main */
REEF_COMPONENT_HOOKS(Spot, &rows);
REEF_COMPONENT_HOOKS(Wide, &rows);
REEF_COMPONENT_HOOKS(Note, &reset_rows);
REEF_COMPONENT_HOOKS(Sound, &skip_rows);
REEF_TAG_HOOKS(Marked, &rows);

enum { MANY = 2600 };

#define QUERY(...) reef_query_make(w, &(reef_query_desc){.terms = {__VA_ARGS__}})

/* Who changed since: for each of n entities a letter, '-' not, 'c' changed, 'a' added and so changed. */
static void seen_since(const reef_world *w, const reef_entity *e, uint32_t n, reef_component c, uint64_t since,
                       char *text)
{
    for (uint32_t i = 0; i < n; i++) {
        bool changed = reef_changed_since_id(w, e[i], c, since), added = reef_added_since_id(w, e[i], c, since);
        text[i] = added ? (changed ? 'a' : '?') : changed ? 'c' : '-';
    }
    text[n] = 0;
}

static void assert_since_at(const reef_world *w, const reef_entity *e, reef_component c, uint64_t since,
                            const char *wanted, int line)
{
    char got[200];
    seen_since(w, e, (uint32_t)strlen(wanted), c, since, got);
    if (strcmp(got, wanted) != 0) fail_msg("line %d: %s, must be %s", line, got, wanted);
}
#define assert_since(w, e, T, since, wanted) assert_since_at(w, e, reef_id(T), since, wanted, __LINE__)

static void five(reef_world *w, reef_entity *e)
{
    assert_ok(reef_spawn_many(w, 5, e, reef_with(Spot, 1, 2), reef_with(Mass, 3)));
}

static void each_way_to_write_marks_its_row_alone(void **given)
{
    reef_world *w = world_of(given);
    reef_entity e[5], some[2];
    five(w, e);
    uint64_t v = reef_version(w);
    assert_since(w, e, Spot, v, "-----");
    assert_since(w, e, Spot, 0, "aaaaa");
    assert_ok(reef_set(w, e[1], Spot, 5, 6));
    assert_since(w, e, Spot, v, "-c---");
    reef_mut(w, e[3], Spot)->x = 7;
    assert_since(w, e, Spot, v, "-c-c-");
    v = reef_version(w);
    assert_non_null(reef_mut_id(w, e[0], reef_id(Spot)));
    assert_since(w, e, Spot, v, "c----");
    assert_non_null(reef_ensure(w, e[4], Spot));
    assert_since(w, e, Spot, v, "c---c");
    v = reef_version(w);
    assert_ok(reef_change(w, e[2], reef_with(Spot, 1, 1), reef_with(Mass, 1)));
    assert_since(w, e, Spot, v, "--c--");
    assert_ok(reef_change(w, e[1], reef_with(Spot, 1, 1), reef_with(Health, 1, 1)));
    assert_since(w, e, Spot, v, "-cc--");
    v = reef_version(w);
    some[0] = e[4], some[1] = e[0];
    Spot values[2] = {{1, 2}, {3, 4}};
    assert_int_equal(reef_write_many(w, Spot, some, 2, values), 2);
    assert_since(w, e, Spot, v, "c---c");
    assert_true(reef_get(w, e[0], Spot)->x == 3);
    const Spot *p = reef_get(w, e[2], Spot); /* reading isn't writing */
    assert_non_null(p);
    assert_since(w, e, Spot, v, "c---c");
}

static void each_way_to_add_marks_its_row_alone(void **given)
{
    reef_world *w = world_of(given);
    reef_entity e[8];
    for (int i = 0; i < 8; i++) e[i] = reef_spawn(w, reef_with(Mass, 1));
    uint64_t v = reef_version(w);
    assert_ok(reef_add(w, e[0], Spot));
    assert_status(REEF_ADDED, reef_set(w, e[1], Spot, 1, 2));
    assert_non_null(reef_ensure(w, e[2], Spot));
    assert_ok(reef_change(w, e[3], reef_with(Spot, 3, 4), reef_without(Mass)));
    assert_since(w, e, Spot, v, "aaaa----");
    v = reef_version(w);
    e[4] = reef_spawn(w, reef_with(Spot, 1, 2));
    e[5] = reef_clone(w, e[0]);
    assert_ok(reef_spawn_many(w, 1, &e[6], reef_with(Spot, 1, 2), reef_tag(Awake)));
    reef_bundle *b = reef_bundle_new(w, &(reef_bundle_part){reef_id(Spot), 0}, 1);
    for (int i = 0; i < 3; i++) e[7] = reef_spawn_bundle(w, b, &(Spot){4, 5}); /* the third would go straight */
    assert_since(w, e, Spot, v, "----aaaa");
    v = reef_version(w);
    for (int i = 0; i < 3; i++) e[7] = reef_spawn(w, reef_with(Spot, 1, 2));
    assert_since(w, e, Spot, v, "-------a");
    assert_ok(reef_remove(w, e[0], Spot));
    assert_false(reef_changed_since(w, e[0], Spot, 0));
    assert_ok(reef_add(w, e[0], Spot)); /* again */
    assert_ok(reef_destroy(w, e[1]));
    assert_false(reef_changed_since(w, e[1], Spot, 0));
    e[1] = reef_spawn(w, reef_with(Mass, 1)); /* the same index */
    assert_false(reef_changed_since(w, e[1], Spot, 0));
    assert_since(w, e, Spot, v, "a------a");
}

static void what_moves_or_touches_others_is_no_change(void **given)
{
    reef_world *w = world_of(given);
    reef_entity e[5];
    five(w, e);
    uint64_t v = reef_version(w);
    assert_ok(reef_add(w, e[0], Velocity));
    assert_ok(reef_add(w, e[1], Frozen));
    assert_ok(reef_add(w, e[2], Awake));
    assert_ok(reef_add(w, e[2], Wide));
    assert_ok(reef_remove(w, e[3], Mass));
    assert_ok(reef_destroy(w, reef_spawn(w, reef_with(Spot, 1, 2), reef_with(Mass, 1))));
    assert_ok(reef_set_name(w, e[4], "four"));
    reef_mut(w, e[4], Mass)->kg = 8;
    assert_status(REEF_EXISTS, reef_add(w, e[4], Spot));
    assert_ok(reef_destroy(w, reef_spawn(w, reef_with(Spot, 1, 2))));
    assert_ok(reef_sort_storage(w, &(reef_sort){0})); /* e[3] left its table, and the last row took its place */
    assert_ok(reef_shrink(w));
    assert_true(reef_hash(w) != 0);
    assert_since(w, e, Spot, v, "-----");
    assert_since(w, e, Wide, v, "--a--");
    assert_ok(reef_remove(w, e[2], Wide));
    assert_since(w, e, Spot, v, "-----");
}

static void mut_is_seen_also_where_the_block_was_just_written(void **given)
{
    reef_world *w = world_of(given);
    reef_entity e[5];
    five(w, e);
    uint64_t v = reef_version(w);
    for (int i = 0; i < 5; i += 2) reef_mut(w, e[i], Spot)->x = (float)i;
    assert_since(w, e, Spot, v, "c-c-c");
    /* each of these marks the column as a whole; the mut after it must be seen all the same */
    assert_ok(reef_set(w, e[0], Spot, 1, 2));
    reef_mut(w, e[1], Spot)->x = 1;
    assert_since(w, e, Spot, v, "ccc-c");
    v = reef_version(w);
    assert_ok(reef_destroy(w, reef_spawn(w, reef_with(Spot, 1, 2), reef_with(Mass, 1))));
    reef_mut(w, e[2], Spot)->x = 1;
    (void)reef_spawn(w, reef_with(Spot, 1, 2), reef_with(Mass, 1));
    reef_mut(w, e[3], Spot)->x = 1;
    assert_ok(reef_destroy(w, reef_spawn(w, reef_with(Spot, 1, 2), reef_with(Mass, 1))));
    assert_ok(reef_sort_storage(w, &(reef_sort){0}));
    assert_ok(reef_reserve_for(w, 3000, (reef_component[]){reef_id(Spot), reef_id(Mass)}, 2));
    reef_mut(w, e[4], Spot)->x = 1;
    assert_since(w, e, Spot, v, "--ccc");
    v = reef_version(w);
    reef_query q = reef_query_new(w, "Mass");
    for (reef_block b = reef_begin(w, q); reef_next(&b);) reef_mut(w, e[0], Spot)->x = 2;
    assert_since(w, e, Spot, v, "c----");
    reef_mut(w, e[1], Spot)->x = 2;
    assert_since(w, e, Spot, v, "cc---");
    assert_ok(reef_query_free(w, q));
    assert_null(reef_mut(w, reef_spawn(w, reef_with(Mass, 1)), Spot));
}

static void tags_and_types_with_hooks_are_tracked_too(void **given)
{
    reef_world *w = world_of(given);
    reef_entity e[4];
    reef_type_desc d = {.name = "TrackedLedger", .size = sizeof(Tracked), .align = 4, .hooks = &ledger_rows};
    reef_component owner = reef_type_new(&d, NULL);
    for (int i = 0; i < 4; i++) e[i] = reef_spawn(w, reef_with(Mass, 1));
    uint64_t v = reef_version(w);
    assert_ok(reef_add(w, e[1], Marked));
    assert_ok(reef_change(w, e[2], reef_tag(Marked), reef_tag(Frozen)));
    assert_since(w, e, Marked, v, "-aa-");
    e[0] = reef_clone(w, e[1]);
    assert_since(w, e, Marked, v, "aaa-");
    v = reef_version(w);
    assert_ok(reef_set_id(w, e[1], reef_id(Marked), NULL, 0)); /* there already, and nothing to write */
    assert_since(w, e, Marked, v, "----");
    assert_ok(reef_add_id(w, e[0], owner, NULL, NULL));
    assert_ok(reef_add_id(w, e[1], owner, NULL, NULL));
    assert_since_at(w, e, owner, v, "aa--", __LINE__);
    v = reef_version(w);
    assert_ok(reef_set_id(w, e[1], owner, &(Tracked){.value = 4}, sizeof(Tracked)));
    assert_since_at(w, e, owner, v, "-c--", __LINE__);
    assert_int_equal(reef_write_many_id(w, owner, e, 1, &(Tracked){.value = 5}, sizeof(Tracked)), 1);
    assert_since_at(w, e, owner, v, "cc--", __LINE__);
}

static void a_setting_that_fails_is_no_change(void **given)
{
    reef_world *w = world_of(given);
    reef_type_desc d = {.name = "TrackedLedger", .size = sizeof(Tracked), .align = 4, .hooks = &ledger_rows};
    reef_component owner = reef_type_new(&d, NULL);
    reef_entity e[2] = {reef_create(w), reef_create(w)};
    assert_ok(reef_add_id(w, e[0], owner, NULL, NULL));
    uint64_t v = reef_version(w);
    Tracked value = {.value = 3};
    book.fail_copy = 1;
    assert_true(reef_set_id(w, e[0], owner, &value, sizeof value) < 0);
    book.fail_copy = 1;
    assert_true(reef_set_id(w, e[1], owner, &value, sizeof value) < 0);
    assert_since_at(w, e, owner, v, "--", __LINE__);
}

static void forks_and_restores_carry_what_was_known(void **given)
{
    reef_world *w = world_of(given);
    reef_entity e[5];
    five(w, e);
    uint64_t v = reef_version(w);
    reef_mut(w, e[1], Spot)->x = 1;
    reef_world *fork = reef_fork(w);
    reef_snapshot *s = reef_snapshot_take(w);
    reef_mut(fork, e[2], Spot)->x = 1;
    reef_mut(w, e[3], Spot)->x = 1;
    assert_since(w, e, Spot, v, "-c-c-");
    assert_since(fork, e, Spot, v, "-cc--");
    assert_valid(fork);
    uint64_t later = reef_version(w);
    assert_ok(reef_restore(w, s));
    assert_since(w, e, Spot, v, "-c---");
    assert_since(w, e, Spot, later, "-----");
    reef_mut(w, e[0], Spot)->x = 1;
    assert_since(w, e, Spot, v, "cc---");
    assert_since(w, e, Spot, later, "c----");
    reef_world *second = reef_snapshot_fork(s);
    assert_since(second, e, Spot, v, "-c---");
    reef_mut(second, e[4], Spot)->x = 1;
    assert_since(second, e, Spot, v, "-c--c");
    reef_world_free(fork);
    reef_snapshot_free(s);
    assert_since(second, e, Spot, v, "-c--c");
    assert_since(w, e, Spot, v, "cc---");
    reef_world_free(second);
}

static void values_that_forks_dont_get_keep_their_times(void **given)
{
    reef_world *w = world_of(given);
    reef_entity e[4];
    assert_ok(reef_spawn_many(w, 4, e, reef_with(Note, 1), reef_with(Sound, 1)));
    uint64_t v = reef_version(w);
    reef_mut(w, e[0], Note)->value = 2;
    reef_snapshot *s = reef_snapshot_take(w);
    reef_world *fork = reef_fork(w);
    assert_int_equal(reef_get(fork, e[1], Note)->value, 0);
    assert_since(fork, e, Note, v, "c---");
    assert_since(w, e, Note, v, "c---");
    reef_mut(w, e[3], Note)->value = 2; /* right after a copy was made, the column is the world's own again */
    reef_mut(w, e[1], Sound)->value = 7;
    assert_since(w, e, Note, v, "c--c");
    assert_ok(reef_remove(w, e[2], Sound));
    assert_ok(reef_restore(w, s));
    assert_int_equal(reef_get(w, e[1], Sound)->value, 7); /* stayed, and so did its time */
    assert_since(w, e, Sound, v, "-c--");
    assert_since(w, e, Note, v, "c---");
    reef_mut(w, e[2], Sound)->value = 7;
    assert_since(w, e, Sound, v, "-cc-");
    reef_world_free(fork);
    reef_snapshot_free(s);
}

/* Indices far apart, several pages of stamps and chunks, rows that fill holes. */
static void many_rows_keep_their_own_times(void **given)
{
    static reef_entity e[MANY];
    static uint64_t when[MANY], made[MANY];
    reef_world *w = world_of(given);
    uint64_t seed = 7, marks[8] = {0};
    assert_ok(reef_create_as(w, e[0] = (reef_entity){70000, 3}));
    assert_ok(reef_add(w, e[0], Wide));
    assert_ok(reef_spawn_many(w, MANY - 1, e + 1, reef_with(Wide, {1, 2, 3})));
    const reef_query changed = QUERY({.component = reef_id(Wide), .access = REEF_IN, .since = REEF_IF_CHANGED});
    reef_each(w, changed, row) assert_true(reef_is_alive(w, row.entity)); /* what there is was looked at */
    for (int round = 1; round < 8; round++) {
        uint64_t now = marks[round] = reef_version(w), found = 0, wanted = 0;
        for (int i = 0; i < 400; i++) {
            uint32_t k = random_below(&seed, MANY), what = random_below(&seed, 5);
            if (what == 0) {
                assert_ok(reef_destroy(w, e[k]));
                e[k] = reef_spawn(w, reef_with(Wide, {4}), reef_with(Mass, 1));
                when[k] = made[k] = now;
            } else if (what == 1) {
                if (reef_has(w, e[k], Mass)) assert_ok(reef_remove(w, e[k], Mass)); /* moves */
                else assert_ok(reef_add(w, e[k], Mass));
            } else {
                reef_mut(w, e[k], Wide)->word[2] = k;
                when[k] = now;
            }
        }
        for (int k = 0; k < MANY; k++) wanted += when[k] == now;
        reef_each(w, changed, row)
        {
            assert_true(reef_changed_since(w, row.entity, Wide, now)); /* its rows aren't in the order of their ids */
            found++;
        }
        assert_int_equal(found, wanted);
        for (int m = 1; m <= round; m++) {
            for (int k = 0; k < MANY; k++) {
                assert_int_equal(reef_changed_since(w, e[k], Wide, marks[m]), when[k] >= marks[m]);
                assert_int_equal(reef_added_since(w, e[k], Wide, marks[m]), made[k] >= marks[m]);
            }
        }
    }
}

/* Who a query visits, as letters of the entities: a is e[0]. */
static void visited(reef_world *w, reef_query q, const reef_entity *e, uint32_t n, char *text)
{
    memset(text, '-', n);
    text[n] = 0;
    reef_each(w, q, row) for (uint32_t i = 0; i < n; i++) if (reef_entity_equal(e[i], row.entity)) text[i] =
        (char)('a' + i);
}

static void assert_visits_at(reef_world *w, reef_query q, const reef_entity *e, const char *wanted, int line)
{
    char got[200];
    visited(w, q, e, (uint32_t)strlen(wanted), got);
    if (strcmp(got, wanted) != 0) fail_msg("line %d: %s is visited, must be %s", line, got, wanted);
}
#define assert_visits(w, q, e, wanted) assert_visits_at(w, q, e, wanted, __LINE__)

static void loops_mark_the_rows_that_they_write(void **given)
{
    reef_world *w = world_of(given);
    reef_entity e[6];
    five(w, e);
    e[5] = reef_spawn(w, reef_with(Spot, 1, 2), reef_tag(Frozen));
    assert_ok(reef_add(w, e[1], Awake));
    assert_ok(reef_add(w, e[3], Awake));
    uint64_t v = reef_version(w);
    reef_query reads = reef_query_new(w, "in Spot"), some = reef_query_new(w, "Spot, Awake"),
               all = reef_query_new(w, "out Spot");
    reef_query perhaps = QUERY({.component = reef_id(Spot), .op = REEF_OPTIONAL}, {.component = reef_id(Frozen)});
    for (reef_block b = reef_begin(w, reads); reef_next(&b);) assert_non_null(reef_in(&b, Spot));
    assert_since(w, e, Spot, v, "------");
    for (reef_block b = reef_begin(w, some); reef_next(&b);) {
        assert_non_null(reef_inout(&b, Spot));
        reef_mut(w, e[0], Spot)->x = 4; /* in the same block, which the loop has just marked */
    }
    assert_since(w, e, Spot, v, "cc-c--");
    reef_mut(w, e[2], Spot)->x = 4;
    assert_since(w, e, Spot, v, "cccc--");
    for (reef_block b = reef_begin(w, perhaps); reef_next(&b);) assert_non_null(reef_inout(&b, Spot));
    assert_since(w, e, Spot, v, "cccc-c");
    v = reef_version(w);
    for (int shared = 0; shared < 2; shared++) {
        reef_world *fork = shared ? reef_fork(w) : NULL;
        for (reef_block b = reef_begin_loop(w, all, &(reef_loop){.offset = 1, .limit = 3}); reef_next(&b);)
            for (uint32_t i = 0; i < b.count; i++) reef_inout(&b, Spot)[i] = (Spot){1, 2};
        assert_since(w, e, Spot, v, "ccc---"); /* e[5] comes first: {Frozen, Spot} before {Mass, Spot} */
        for (reef_block b = reef_begin(w, all); reef_next(&b);)
            for (uint32_t i = 0; i < b.count; i++) reef_inout(&b, Spot)[i] = (Spot){1, 2};
        assert_since(w, e, Spot, v, "cccccc");
        v = reef_version(w);
        reef_mut(w, e[4], Spot)->x = 4;
        assert_since(w, e, Spot, v, "----c-");
        v = reef_version(w);
        reef_world_free(fork);
    }
    reef_slices *s = reef_slices_begin(w, some, NULL, 2);
    for (uint32_t i = 0; i < 2; i++)
        for (reef_block b = reef_slice(s, i); reef_next(&b);) assert_non_null(reef_inout(&b, Spot));
    reef_slices_end(s);
    assert_since(w, e, Spot, v, "-c-c--");
    assert_true(reef_reserve_for(w, 1, (reef_component[]){reef_id(Spot), reef_id(Hungry)}, 2) == REEF_OK);
    /* also where a table only has room */
    for (reef_block b = reef_begin(w, all); reef_next(&b);) assert_true(b.count > 0);
}

static void queries_visit_exactly_what_changed(void **given)
{
    reef_world *w = world_of(given);
    reef_entity e[5];
    five(w, e);
    reef_query changed = QUERY({.component = reef_id(Spot), .since = REEF_IF_CHANGED});
    reef_query added =
        QUERY({.component = reef_id(Spot), .access = REEF_IN, .since = REEF_IF_ADDED}, {.component = reef_id(Mass)});
    reef_query tag = QUERY({.component = reef_id(Marked), .since = REEF_IF_ADDED},
                           {.component = reef_id(Mass), .access = REEF_WITH});
    reef_query other = QUERY({.component = reef_id(Spot), .access = REEF_IN, .since = REEF_IF_CHANGED});
    reef_query still = QUERY({.component = reef_id(Spot), .op = REEF_NOT, .since = REEF_IF_CHANGED},
                             {.component = reef_id(Mass), .access = REEF_WITH});
    assert_visits(w, changed, e, "abcde");
    assert_visits(w, added, e, "abcde");
    assert_visits(w, other, e, "abcde"); /* written by the first one */
    assert_visits(w, still, e, "-----");
    assert_visits(w, changed, e, "-----"); /* what it wrote itself isn't new to it */
    assert_visits(w, other, e, "-----");
    reef_mut(w, e[1], Spot)->x = 5;
    assert_ok(reef_set(w, e[4], Spot, 1, 2));
    reef_mut(w, e[0], Mass)->kg = 5;
    assert_visits(w, added, e, "-----");
    assert_visits(w, still, e, "a-cd-");
    assert_visits(w, other, e, "-b--e");
    assert_visits(w, other, e, "-----");
    assert_visits(w, changed, e, "-b--e");
    assert_visits(w, changed, e, "-----");
    assert_visits(w, other, e, "-b--e"); /* the other one wrote them */
    assert_ok(reef_remove(w, e[2], Spot));
    assert_ok(reef_add(w, e[2], Spot));
    assert_ok(reef_add(w, e[3], Marked));
    assert_ok(reef_add(w, e[3], Velocity)); /* moves */
    assert_visits(w, added, e, "--c--");
    assert_visits(w, changed, e, "--c--");
    assert_visits(w, tag, e, "---d-");
    assert_visits(w, tag, e, "-----");
    uint64_t v = reef_version(w);
    reef_mut(w, e[0], Spot)->x = 5;
    for (int i = 0; i < 2; i++) { /* since a version, as often as one likes */
        uint32_t seen = 0;
        for (reef_block b = reef_begin_loop(w, other, &(reef_loop){.since = v}); reef_next(&b);)
            for (uint32_t k = 0; k < b.count; k++)
                seen += !reef_block_mask(&b) || reef_block_mask(&b)[k / 64] >> k % 64 & 1;
        assert_int_equal(seen, 1);
    }
    reef_query bad = QUERY({.component = reef_id(Mass), .since = REEF_IF_ADDED});
    assert_int_equal(reef_last_error(w).status, REEF_BAD_ARGUMENT);
    assert_true(reef_query_is_null(bad));
}

/* A query inside of another one's loop: neither misses what the other one writes. */
static void what_others_write_during_a_loop_is_new(void **given)
{
    reef_world *w = world_of(given);
    reef_entity e[6];
    five(w, e);
    e[5] = reef_spawn(w, reef_with(Spot, 1, 2), reef_tag(Frozen));
    reef_query outer = QUERY({.component = reef_id(Spot), .since = REEF_IF_CHANGED});
    reef_query inner = QUERY({.component = reef_id(Spot), .access = REEF_IN, .since = REEF_IF_CHANGED});
    assert_visits(w, outer, e, "abcdef");
    assert_visits(w, inner, e, "abcdef");
    for (int i = 0; i < 6; i++) reef_mut(w, e[i], Spot)->x = 6;
    uint32_t blocks = 0;
    for (reef_block b = reef_begin(w, outer); reef_next(&b); blocks++) /* a table each */
        if (blocks == 0) assert_visits(w, inner, e, "abcdef");
    assert_int_equal(blocks, 2);
    char text[10];
    visited(w, inner, e, 6, text); /* the second block was written after it ran */
    assert_true(strcmp(text, "-----f") == 0 || strcmp(text, "abcde-") == 0);
}

static void words_of_rows_say_which_changed(void **given)
{
    reef_world *w = world_of(given);
    reef_entity e[64];
    reef_component c = reef_id(Spot);
    assert_null(reef__track_of(w, c.id));
    assert_ok(reef_spawn_many(w, 64, e, reef_with(Spot, 1, 2)));
    const track_store *s = reef__track_of(w, c.id);
    assert_non_null(s);
    assert_true(reef__track_word(s, e, 64, 0, true) == UINT64_MAX);
    assert_true(reef__track_word(s, e, 3, 0, true) == 7);
    uint64_t v = reef_version(w);
    assert_true(reef__track_word(s, e, 64, v, false) == 0);
    reef_mut(w, e[0], Spot)->x = 1;
    reef_mut(w, e[63], Spot)->x = 1;
    assert_true(reef__track_word(s, e, 64, v, false) == (1 | UINT64_C(1) << 63));
    assert_true(reef__track_word(s, e, 64, v, true) == 0);
    assert_true(reef__track_prepare(w, c.id, e + 4, 2));
    reef__track_stamp(w, c.id, e[4].index, false);
    reef__track_stamp(w, c.id, e[5].index, true);
    assert_true(reef__track_word(s, e, 8, v, false) == 0x31);
    assert_true(reef__track_word(s, e, 8, v, true) == 0x20);
}

/* Entities side by side, on both sides of a page of stamps, and in any order. */
static void words_of_rows_in_any_order(void **given)
{
    enum { STAMPED = 3 * STAMPS_PER_PAGE };
    static reef_entity e[STAMPED], mixed[64];
    reef_world *w = world_of(given);
    assert_ok(reef_spawn_many(w, STAMPED, e, reef_with(Spot, 1, 2)));
    const track_store *s = reef__track_of(w, reef_id(Spot).id);
    const uint64_t v = reef_version(w);
    for (uint32_t i = 0; i < STAMPED; i += 7) reef_mut(w, e[i], Spot)->x = 1;
    for (uint32_t first = 0; first + 64 <= STAMPED; first += 5)
        for (uint32_t count = 0; count <= 64; count += 1 + first % 9) {
            uint64_t word = 0, other = 0;
            for (uint32_t i = 0; i < count; i++) {
                word |= (uint64_t)((first + i) % 7 == 0) << i;
                mixed[i] = e[(first + i * 31) % STAMPED];
                other |= (uint64_t)((first + i * 31) % STAMPED % 7 == 0) << i;
            }
            assert_true(reef__track_word(s, e + first, count, v, false) == word);
            assert_true(reef__track_word(s, mixed, count, v, false) == other);
            assert_true(reef__track_word(s, e + first, count, v, true) == 0);
        }
}

static void a_version_divides_the_time(void **given)
{
    reef_world *w = world_of(given);
    reef_entity e[5];
    assert_true(reef_version(NULL) == 0);
    five(w, e);
    uint64_t hash = reef_hash(w), last = reef_version(w);
    for (int i = 0; i < 10; i++) {
        uint64_t v = reef_version(w);
        assert_true(v > last);
        last = v;
    }
    assert_true(reef_hash(w) == hash);
    reef_mut(w, e[0], Mass)->kg = 9; /* the version must not hide this from the hash */
    assert_true(reef_hash(w) != hash);
    hash = reef_hash(w);
    reef_mut(w, e[0], Spot)->x = 9;
    (void)reef_version(w);
    assert_true(reef_hash(w) != hash);
}

static void stamps_cost_what_they_cost(void **given)
{
    reef_world *w = world_of(given);
    assert_ok(reef_spawn_many(w, 2000, NULL, reef_with(Mass, 1)));
    assert_int_equal(reef_world_stats(w).bytes_tracks, 0);
    (void)reef_spawn(w, reef_with(Spot, 1, 2));
    uint64_t one = reef_world_stats(w).bytes_tracks;
    assert_true(one >= 8192 && one < 16384);
    assert_ok(reef_spawn_many(w, 5120, NULL, reef_with(Spot, 1, 2)));
    uint64_t more = reef_world_stats(w).bytes_tracks;
    assert_true(more >= 10 * 8192 && more < 13 * 8192);
    assert_ok(reef_spawn_many(w, 5120, NULL, reef_with(Mass, 1)));
    assert_int_equal(reef_world_stats(w).bytes_tracks, more);
}

static void what_cant_be_tracked_is_refused(void **given)
{
    reef_world *w = world_of(given);
    reef_status s = REEF_OK;
    reef_type_desc d = {.name = "TrackedSwitch", .home = REEF_BIT, .hooks = &rows};
    assert_int_equal(reef_type_new(&d, &s).id, 0);
    assert_int_equal(s, REEF_BAD_ARGUMENT);
    d.home = REEF_TABLE;
    reef_component tag = reef_type_new(&d, &s);
    assert_true(tag.id != 0);
    d.hooks = NULL; /* the same without is another type */
    assert_int_equal(reef_type_new(&d, &s).id, 0);
    assert_int_equal(s, REEF_EXISTS);
    static const reef_hooks more = {.track_rows = true, .bytes_move = true, .on_fork = REEF_FORK_RESET};
    d = (reef_type_desc){.name = "ResettingTag", .hooks = &more}; /* on_fork still needs data */
    assert_int_equal(reef_type_new(&d, &s).id, 0);
    assert_int_equal(s, REEF_BAD_ARGUMENT);
    reef_type_info info;
    assert_true(reef_type_get(tag, &info));
    assert_true(info.hooks && info.hooks->track_rows);
    /* asked about what nobody tracks */
    reef_entity e = reef_spawn(w, reef_with(Mass, 1), reef_tag(Awake));
    assert_false(reef_changed_since(w, e, Mass, 0));
    assert_false(reef_added_since(w, e, Awake, 0));
    assert_false(reef_changed_since(w, e, Spot, 0));
    assert_false(reef_changed_since_id(w, (reef_entity){0, 0}, reef_id(Spot), 0));
    assert_false(reef_changed_since_id(w, e, (reef_component){0}, 0));
    assert_false(reef_added_since_id(w, e, (reef_component){1u << 30}, 0));
    assert_false(reef_changed_since(NULL, e, Spot, 0));
    assert_no_pointer(w, REEF_ABSENT, reef_mut(w, e, Spot));
    assert_refused(w, REEF_ABSENT, reef_remove(w, e, Spot));
}

int main(void)
{
    ledger_rows = tracked_hooks;
    ledger_rows.track_rows = true;
    const struct CMUnitTest tests[] = {
        TEST(each_way_to_write_marks_its_row_alone),
        TEST(each_way_to_add_marks_its_row_alone),
        TEST(what_moves_or_touches_others_is_no_change),
        TEST(mut_is_seen_also_where_the_block_was_just_written),
        TEST(tags_and_types_with_hooks_are_tracked_too),
        TEST(a_setting_that_fails_is_no_change),
        TEST(forks_and_restores_carry_what_was_known),
        TEST(values_that_forks_dont_get_keep_their_times),
        TEST(many_rows_keep_their_own_times),
        TEST(loops_mark_the_rows_that_they_write),
        TEST(queries_visit_exactly_what_changed),
        TEST(what_others_write_during_a_loop_is_new),
        TEST(words_of_rows_say_which_changed),
        TEST(words_of_rows_in_any_order),
        TEST(a_version_divides_the_time),
        TEST(stamps_cost_what_they_cost),
        TEST(what_cant_be_tracked_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
