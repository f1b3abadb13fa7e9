/* What forks and snapshots cost, and what they do with hooks, configs and extreme worlds. (What shows where:
 * test_snapshot.c; threads: test_fork_threads.c; types that forks reset: test_on_fork.c.) */
#include "support.h"

enum { ROWS = 3000 };

/* ---- types that can't be copied ---- */

typedef struct {
    int32_t value;
    uint32_t ticket;
} Anchor; /* as Unique, but before it by name */
REEF_COMPONENT_HOOKS(Anchor, &unique_hooks);

static void refused(reef_world *w, reef_component c)
{
    char text[200];
    assert_no_pointer(w, REEF_NOT_COPYABLE, reef_fork(w));
    assert_int_equal(reef_last_error(w).component.id, c.id);
    assert_no_pointer(w, REEF_NOT_COPYABLE, reef_snapshot_take(w));
    assert_int_equal(reef_last_error(w).component.id, c.id);
    reef_error_text(w, text, sizeof text);
    assert_non_null(strstr(text, reef_type_name(c)));
}

static void allowed(reef_world *w)
{
    reef_world *fork = reef_fork(w);
    reef_snapshot *snapshot = reef_snapshot_take(w);
    assert_non_null(fork);
    assert_non_null(snapshot);
    assert_ok(reef_restore(w, snapshot));
    reef_snapshot_free(snapshot);
    reef_world_free(fork);
}

static void a_type_that_can_t_be_copied_is_named(void **state)
{
    reef_world *w = world_of(state);
    allowed(w);
    reef_entity a = reef_spawn(w, reef_with(Mass, 1), reef_default(Unique));
    refused(w, reef_id(Unique));
    reef_entity b = reef_spawn(w, reef_default(Anchor)), c = reef_spawn(w, reef_default(Anchor), reef_default(Unique));
    refused(w, reef_id(Anchor)); /* the first by name, whoever came first */
    assert_ok(reef_destroy(w, b));
    refused(w, reef_id(Anchor));
    assert_ok(reef_remove(w, c, Anchor));
    refused(w, reef_id(Unique));
    assert_ok(remove_everywhere(w, reef_id(Unique), NULL));
    allowed(w); /* only while an entity has it */
    assert_ok(reef_add(w, a, Unique));
    refused(w, reef_id(Unique));
    assert_ok(reef_world_clear(w));
    allowed(w);
    reef_snapshot *before = reef_snapshot_take(w);
    assert_some(reef_spawn(w, reef_default(Unique)));
    assert_ok(reef_restore(w, before)); /* going back needs no copies */
    assert_int_equal(book.live, 0);
    allowed(w);
    reef_snapshot_free(before);
}

/* ---- copy hooks ---- */

static void only_what_is_written_is_copied(void **state)
{
    static reef_entity e[ROWS];
    reef_world *w = world_of(state);
    assert_ok(
        reef_spawn_many(w, ROWS, e, reef_with(Tracked, .value = 5), reef_with(Loose, .value = 6), reef_with(Mass, 7)));
    ledger_count_anew();
    reef_world *fork = reef_fork(w);
    reef_snapshot *snapshot = reef_snapshot_take(fork);
    assert_int_equal(book.copied, 0);
    reef_mut(w, e[3], Mass)->kg = 1; /* a column of plain data: nothing else is copied */
    (void)digest(fork);
    (void)reef_hash(w);
    assert_int_equal(book.copied + book.constructed + book.moved, 0);
    reef_mut(w, e[3], Tracked)->value = 1; /* one block of one column */
    assert_int_equal(book.copied, 1024);
    reef_mut(w, e[900], Tracked)->value = 1;
    assert_int_equal(book.copied, 1024);
    reef_mut(w, e[ROWS - 1], Loose)->value = 1; /* the last block has fewer rows */
    assert_int_equal(book.copied, 1024 + ROWS - 2048);
    reef_mut(fork, e[1100], Tracked)->value = 9;
    assert_int_equal(book.copied, 2048 + ROWS - 2048);
    assert_int_equal(reef_get(w, e[1100], Tracked)->value, 5);
    assert_int_equal(reef_get(fork, e[3], Tracked)->value, 5);
    assert_int_equal(book.destroyed, 0);
    reef_world_free(fork);
    assert_int_equal(book.destroyed, 1024); /* what it alone had */
    reef_snapshot_free(snapshot);
    assert_int_equal(book.live, 2 * ROWS);
    ledger_count_anew();
    reef_mut(w, e[2500], Tracked)->value = 4; /* the others are gone: nothing is copied */
    assert_int_equal(book.copied, 0);
    end_world(state, w);
    assert_int_equal(book.live, 0);
}

static void a_snapshot_keeps_values_that_die(void **state)
{
    reef_entity e[100];
    reef_world *w = world_of(state);
    assert_ok(reef_spawn_many(w, 100, e, reef_with(Tracked, .value = 5)));
    reef_snapshot *snapshot = reef_snapshot_take(w);
    assert_ok(reef_world_clear(w));
    assert_ok(reef_shrink(w));
    assert_int_equal(book.live, 100);
    reef_world *fork = reef_snapshot_fork(snapshot);
    reef_snapshot_free(snapshot);
    assert_int_equal(reef_destroy_many(fork, e, 60), 60);
    for (int i = 0; i < 100; i++) {
        const Tracked *t = reef_get(fork, e[i], Tracked);
        assert_int_equal(t ? t->value : 0, i < 60 ? 0 : 5);
    }
    assert_valid(fork);
    reef_world_free(fork);
    assert_int_equal(book.live, 0);
}

typedef struct copying {
    const char *name;
    bool (*call)(reef_world *w, const reef_entity *e);
} copying;
static bool copy_mut(reef_world *w, const reef_entity *e) { return reef_mut(w, e[2], Tracked) != NULL; }
static bool copy_set(reef_world *w, const reef_entity *e) { return reef_set(w, e[2], Tracked, .value = 3) >= 0; }
static bool copy_add(reef_world *w, const reef_entity *e) { return reef_add(w, e[2], Velocity) >= 0; }
static bool copy_remove(reef_world *w, const reef_entity *e) { return reef_remove(w, e[2], Loose) >= 0; }
static bool copy_change(reef_world *w, const reef_entity *e)
{
    return reef_change(w, e[2], reef_without(Mass), reef_with(Tracked, .value = 4)) >= 0;
}
static bool copy_destroy(reef_world *w, const reef_entity *e) { return reef_destroy(w, e[2]) >= 0; }
static bool copy_destroy_with(reef_world *w, const reef_entity *e)
{
    (void)e;
    return DESTROY_EVERYWHERE(w, reef_id(Loose)) >= 0;
}
static bool copy_clear(reef_world *w, const reef_entity *e)
{
    (void)e;
    return remove_everywhere(w, reef_id(Tracked), NULL) >= 0;
}
static bool copy_spawn(reef_world *w, const reef_entity *e)
{
    (void)e;
    return !reef_entity_is_null(reef_spawn(w, reef_default(Tracked), reef_with(Loose, .value = 1), reef_with(Mass, 1)));
}
static bool copy_clone(reef_world *w, const reef_entity *e) { return !reef_entity_is_null(reef_clone(w, e[2])); }
static bool copy_loop(reef_world *w, const reef_entity *e)
{
    reef_query q = reef_query_new(w, "Tracked");
    uint32_t rows = 0;
    (void)e;
    for (reef_block b = reef_begin(w, q); reef_next(&b);) rows += b.count;
    reef_query_free(w, q);
    return rows == 40;
}

static void a_copy_hook_that_fails(void **state)
{
    static const copying calls[] = {
        {"mut", copy_mut},
        {"set", copy_set},
        {"add", copy_add},
        {"remove", copy_remove},
        {"change", copy_change},
        {"destroy", copy_destroy},
        {"destroy_with", copy_destroy_with},
        {"clear", copy_clear},
        {"spawn", copy_spawn},
        {"clone", copy_clone},
        {"loop", copy_loop},
    };
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        uint32_t failures = 0;
        for (uint64_t n = 1;; n++) {
            reef_world *w = another_world(state, NULL);
            reef_entity e[40];
            assert_ok(reef_spawn_many(w, 40, e, reef_with(Tracked, .value = 5), reef_with(Loose, .value = 6),
                                      reef_with(Mass, 7)));
            reef_world *fork = reef_fork(w);
            uint64_t before = digest(w);
            book.fail_copy = n;
            bool done = calls[i].call(w, e), failed = book.fail_copy == 0;
            book.fail_copy = 0;
            if (done == failed)
                fail_msg("%s: copy %u %s", calls[i].name, (unsigned)n, failed ? "failed unseen" : "was none");
            assert_true(digest(fork) == before);
            if (!done) {
                failures++;
                reef_component named = reef_last_error(w).component;
                if (named.id && named.id != reef_id(Tracked).id && named.id != reef_id(Loose).id)
                    fail_msg("%s names another type", calls[i].name);
                if (reef_last_error(w).status >= 0 || digest(w) != before)
                    fail_msg("%s: failed with an effect", calls[i].name);
            }
            assert_valid(w);
            assert_valid(fork);
            if (!done && !calls[i].call(w, e)) fail_msg("%s doesn't work afterwards", calls[i].name);
            assert_true(digest(fork) == before);
            reef_world_free(fork);
            end_world(state, w);
            assert_int_equal(book.live, 0);
            if (!failed) break;
        }
        if (failures == 0) fail_msg("%s copied nothing", calls[i].name);
    }
}

/* ---- configs ---- */

static void a_strict_world_s_fork_knows_its_types(void **state)
{
    reef_world *w = another_world(state, &(reef_world_config){.strict = true});
    assert_ok(reef_use(w, Mass));
    reef_entity e = reef_spawn(w, reef_with(Mass, 1));
    reef_snapshot *snapshot = reef_snapshot_take(w);
    assert_ok(reef_use(w, Health));
    reef_bundle *bundle = reef_bundle_new(w, &(reef_bundle_part){reef_id(Health), 0}, 1);
    reef_world *fork = reef_fork(w), *earlier = reef_snapshot_fork(snapshot);
    assert_status(REEF_ADDED, reef_set(fork, e, Health, 1, 2));
    assert_refused(fork, REEF_UNKNOWN_TYPE, reef_set(fork, e, Velocity, 1, 2));
    assert_refused(earlier, REEF_UNKNOWN_TYPE, reef_set(earlier, e, Health, 1, 2));
    assert_ok(reef_use(fork, Velocity));
    assert_refused(w, REEF_UNKNOWN_TYPE, reef_set(w, e, Velocity, 1, 2)); /* the fork's affair */
    assert_status(REEF_OK, reef_set(earlier, e, Mass, 3));
    assert_status(REEF_ADDED, reef_set(w, e, Health, 1, 2));
    assert_ok(reef_restore(w, snapshot));
    assert_refused(w, REEF_UNKNOWN_TYPE, reef_set(w, e, Health, 1, 2)); /* as in a world that was never told of it */
    assert_no_entity(w, REEF_UNKNOWN_TYPE, reef_spawn_bundle(w, bundle, &(Health){3, 4}));
    assert_ok(reef_use(w, Health));
    assert_status(REEF_ADDED, reef_set(w, e, Health, 1, 2));
    assert_some(reef_spawn_bundle(w, bundle, &(Health){3, 4}));
    reef_world_free(fork);
    reef_world_free(earlier);
    reef_snapshot_free(snapshot);
}

static void a_fork_has_the_limits_of_its_world(void **state)
{
    reef_world *w = another_world(state, &(reef_world_config){.entities_max = 50});
    assert_ok(reef_spawn_many(w, 30, NULL, reef_with(Mass, 1)));
    reef_world *fork = reef_fork(w);
    assert_ok(reef_spawn_many(fork, 20, NULL, reef_with(Mass, 1)));
    assert_no_entity(fork, REEF_LIMIT, reef_create_entity(fork));
    assert_ok(reef_spawn_many(w, 20, NULL, reef_with(Mass, 1)));
    assert_no_entity(w, REEF_LIMIT, reef_create_entity(w));
    reef_snapshot *full = reef_snapshot_take(w);
    assert_int_equal(reef_count_alive(fork), 50);
    assert_ok(reef_world_clear(w));
    assert_some(reef_create(w));
    assert_ok(reef_restore(w, full));
    assert_no_entity(w, REEF_LIMIT, reef_create_entity(w));
    reef_snapshot_free(full);
    reef_world_free(fork);
}

static void a_fork_never_reuses_what_its_world_never_reuses(void **state)
{
    reef_world *w = another_world(state, &(reef_world_config){.never_reuse = true});
    reef_entity e[10];
    assert_ok(reef_spawn_many(w, 10, e, reef_with(Mass, 1)));
    assert_ok(reef_destroy(w, e[4]));
    reef_snapshot *snapshot = reef_snapshot_take(w);
    reef_world *fork = reef_fork(w);
    assert_ok(reef_destroy(fork, e[5]));
    for (uint32_t i = 10; i < 20; i++) assert_int_equal(reef_create(fork).index, i);
    assert_ok(reef_destroy(w, e[9]));
    for (uint32_t i = 10; i < 20; i++) assert_int_equal(reef_create(w).index, i);
    assert_ok(reef_restore(w, snapshot));
    for (uint32_t i = 10; i < 20; i++) assert_int_equal(reef_create(w).index, i);
    assert_true(reef_is_alive(w, e[9]) && !reef_is_alive(w, e[4]));
    assert_valid(fork);
    reef_world_free(fork);
    reef_snapshot_free(snapshot);
}

static void hear(void *context, reef_status status, const char *message)
{
    (void)status, (void)message;
    ++*(int *)context;
}

static void each_world_has_its_own_context(void **state)
{
    int a = 0, b = 0;
    reef_world *w = another_world(state, &(reef_world_config){.misuse = hear, .context = &a});
    assert_ptr_equal(reef_context(w), &a);
    reef_snapshot *snapshot = reef_snapshot_take(w);
    reef_world *fork = reef_fork(w);
    assert_ptr_equal(reef_context(fork), &a); /* begins with that of the world */
    reef_set_context(fork, &b);
    assert_ptr_equal(reef_context(fork), &b);
    assert_ptr_equal(reef_context(w), &a);
    assert_ok(reef_restore(fork, snapshot));
    assert_ptr_equal(reef_context(fork), &b); /* is not part of the state */
    reef_world *later = reef_snapshot_fork(snapshot);
    assert_ptr_equal(reef_context(later), &a);
    assert_status(REEF_NOT_ALIVE, reef_destroy(fork, (reef_entity){7, 1}));
#ifdef REEF_CHECKED
    assert_int_equal(b, 1);
    assert_int_equal(a, 0);
#endif
    assert_status(REEF_NOT_ALIVE, reef_destroy(w, (reef_entity){7, 1}));
    assert_int_equal(a, b);
    reef_set_context(NULL, &a);
    assert_null(reef_context(NULL));
    /* Who hears of mistakes can be changed too, for each world alone. */
    reef_set_log(fork, NULL, NULL);
    const int before = b;
    assert_status(REEF_NOT_ALIVE, reef_destroy(fork, (reef_entity){7, 1}));
    assert_int_equal(b, before);
    reef_set_log(fork, NULL, hear);
    assert_status(REEF_NOT_ALIVE, reef_destroy(fork, (reef_entity){7, 1}));
    assert_int_equal(b - before, a);
    reef_set_log(NULL, NULL, hear);
    reef_world_free(later);
    reef_world_free(fork);
    reef_snapshot_free(snapshot);
}

/* ---- what it costs ---- */

static uint64_t calls_of(heap *h, reef_world *w, int what)
{
    reef_snapshot *snapshot = what == 2 ? reef_snapshot_take(w) : NULL;
    uint64_t before = h->calls;
    if (what == 0) reef_world_free(reef_fork(w));
    if (what == 1) reef_snapshot_free(reef_snapshot_take(w));
    if (what == 2) reef_world_free(reef_snapshot_fork(snapshot));
    uint64_t after = h->calls;
    reef_snapshot_free(snapshot);
    return after - before;
}

static void tables_make(reef_world *w, uint32_t tables, reef_entity *e)
{
    for (uint32_t i = 0; i < tables; i++) {
        reef_component c = numbered_type("fork", i, i % 3 ? 8 : 0, 0);
        e[i] = reef_spawn_values(w, (reef_value[]){{c, REEF_VALUE_DEFAULT, 0, NULL}, reef_with(Mass, (double)i)}, 2);
        assert_some(e[i]);
    }
}

static void a_fork_allocates_a_few_blocks_whatever_the_size(void **state)
{
    static reef_entity e[1024];
    heap *h = heap_of(state);
    reef_world *small = another_world(state, NULL), *large = another_world(state, NULL),
               *wide = another_world(state, NULL);
    assert_ok(reef_spawn_many(small, 10, NULL, reef_with(Mass, 1), reef_tag(Awake)));
    assert_ok(reef_spawn_many(large, 100000, NULL, reef_with(Mass, 1), reef_tag(Awake)));
    tables_make(wide, 1024, e);
    assert_ok(reef_add(wide, e[7], Awake));
    for (int what = 0; what < 3; what++) {
        uint64_t calls = calls_of(h, small, what);
        assert_int_equal(calls_of(h, large, what), calls);
        assert_int_equal(calls_of(h, wide, what), calls);
        assert_true(calls >= 1 && calls <= 4);
    }
    /* Restoring: the same. */
    reef_snapshot *snapshot = reef_snapshot_take(large);
    reef_mut(large, reef_entity_at(large, 7), Mass)->kg = 5;
    uint64_t before = h->calls;
    assert_ok(reef_restore(large, snapshot));
    assert_true(h->calls - before <= 4);
    reef_snapshot_free(snapshot);
}

static void the_first_write_copies_one_block(void **state)
{
    static reef_entity e[100000];
    reef_world *w = world_of(state);
    assert_ok(reef_spawn_many(w, 100000, e, reef_with(Mass, 1), reef_with(Position, 1, 2), reef_with(Cargo, {1})));
    reef_world *fork = reef_fork(w);
    reef_stats before = reef_world_stats(w);
    reef_mut(w, e[70000], Mass)->kg = 5;
    reef_stats after = reef_world_stats(w);
    assert_int_equal(after.bytes_rows - before.bytes_rows, 1024 * sizeof(Mass));
    assert_int_equal(after.bytes_index, before.bytes_index);
    assert_true(after.bytes_tables - before.bytes_tables < 64 << 10); /* a page of the directory */
    assert_ok(reef_destroy(w, e[50000])); /* two chunks, pages of records, of the free ids */
    reef_stats last = reef_world_stats(w);
    assert_true(last.bytes_rows - after.bytes_rows <=
                2 * 1024 * (sizeof(reef_entity) + sizeof(Mass) + sizeof(Position) + sizeof(Cargo)));
    assert_true(last.bytes_index - before.bytes_index < 128 << 10);
    reef_world_free(fork);
}

static void kg_is(reef_world *w, const reef_entity *e, uint32_t n, float kg)
{
    for (uint32_t i = 0; i < n; i++) assert_true(reef_get(w, e[i], Mass)->kg == kg);
    assert_valid(w);
}

static void kg_put(reef_world *w, const reef_entity *e, uint32_t n, float kg)
{
    for (uint32_t i = 0; i < n; i++) reef_mut(w, e[i], Mass)->kg = kg;
}

/* What is written stays where it is as long as snapshots alone hold what it was; a world's blocks stay where they
 * are in any case. */
static void snapshots_get_the_copy_and_worlds_keep_their_blocks(void **state)
{
    enum { FULL = 2048, ALL = FULL + 100 };
    static reef_entity e[ALL];
    reef_world *w = world_of(state);
    assert_ok(reef_spawn_many(w, ALL, e, reef_with(Mass, 1), reef_with(Position, 1, 2)));
    const Mass *place = reef_get(w, e[0], Mass);
    reef_snapshot *one = reef_snapshot_take(w), *same = reef_snapshot_take(w);
    kg_put(w, e, ALL, 2);
    assert_ptr_equal(reef_get(w, e[0], Mass), place);
    reef_snapshot *two = reef_snapshot_take(w);
    kg_put(w, e, FULL, 3);
    assert_ptr_equal(reef_get(w, e[0], Mass), place);
    reef_world *fork = reef_snapshot_fork(two); /* beside the world, which comes from there too */
    kg_put(fork, e, ALL, 4);
    reef_world *third = reef_fork(w);
    const Mass *seen = reef_get(third, e[0], Mass);
    kg_put(w, e, ALL, 5);
    assert_ptr_equal(reef_get(third, e[0], Mass), seen);
    assert_ptr_not_equal(reef_get(w, e[0], Mass), seen);
    kg_is(third, e, FULL, 3);
    kg_is(w, e, ALL, 5);
    kg_is(fork, e, ALL, 4);
    reef_snapshot_free(same);
    assert_ok(reef_restore(third, two));
    kg_is(third, e, ALL, 2);
    kg_put(third, e, ALL, 6); /* three come from that state now */
    assert_ok(reef_restore(w, one));
    kg_is(w, e, ALL, 1);
    reef_world_free(fork);
    kg_put(w, e, ALL, 7); /* the only one that comes from there, and what it was is another snapshot's past */
    assert_ok(reef_restore(w, two));
    kg_is(w, e, ALL, 2);
    reef_snapshot_free(two);
    kg_is(third, e, ALL, 6);
    assert_ok(reef_restore(third, one));
    kg_is(third, e, ALL, 1);
    reef_world_free(third);
    reef_snapshot_free(one);
    kg_is(w, e, ALL, 2);
}

/* A loop copies the shared blocks of the next chunk ahead. Whatever happens to them before the loop comes there, each
 * holder sees its own values, only what was handed out is marked, and no memory is left over. */
enum { AHEAD_ALL = 5 * 1024 + 100 };
enum {
    AHEAD_NOTHING,
    AHEAD_LEAVE,
    AHEAD_MUT,
    AHEAD_FREE,
    AHEAD_FORK,
    AHEAD_INNER,
    AHEAD_OUT,
    AHEAD_FREE_LEAVE,
    AHEAD_FORK_LEAVE,
    AHEAD_EVENTS
};

typedef struct ahead_case {
    reef_world *w, *fork, *late;
    reef_snapshot *snapshot;
    reef_entity *e;
    uint32_t event, at; /* happens in this block */
} ahead_case;

static bool ahead_leaves(const ahead_case *c)
{
    return c->event == AHEAD_LEAVE || c->event == AHEAD_FREE_LEAVE || c->event == AHEAD_FORK_LEAVE;
}

static void ahead_happens(ahead_case *c)
{
    if (c->event == AHEAD_MUT) reef_mut(c->w, c->e[(c->at + 1) * 1024 + 5], Mass)->kg = 9;
    if (c->event == AHEAD_FREE || c->event == AHEAD_FREE_LEAVE) {
        reef_world_free(c->fork);
        reef_snapshot_free(c->snapshot);
        c->fork = NULL;
        c->snapshot = NULL;
        if (c->event == AHEAD_FREE) reef_mut(c->w, c->e[(c->at + 1) * 1024 + 5], Mass)->kg = 9;
    }
    if (c->event == AHEAD_FORK || c->event == AHEAD_FORK_LEAVE)
        c->late = c->snapshot ? reef_snapshot_fork(c->snapshot) : NULL;
    if (c->event == AHEAD_INNER)
        for (reef_block b = reef_begin_text(c->w, "Position, Mass"); reef_next(&b);)
            for (uint32_t i = 0; i < b.count; i++) reef_inout(&b, Position)[i].x += 1;
    if (c->event == AHEAD_OUT)
        for (reef_block b = reef_begin_text(c->w, "out Mass"); reef_next(&b);)
            for (uint32_t i = 0; i < b.count; i++) reef_inout(&b, Mass)[i].kg = 5;
}

static void ahead_loop(ahead_case *c, const char *text)
{
    uint32_t number = 0;
    for (reef_block b = reef_begin_text(c->w, text); reef_next(&b); number++) {
        Mass *m = reef_inout(&b, Mass);
        for (uint32_t i = 0; i < b.count; i++) m[i].kg += 1;
        if (number != c->at) continue;
        ahead_happens(c);
        if (ahead_leaves(c)) reef_end(&b);
    }
}

static void ahead_check(const ahead_case *c, reef_query changed)
{
    const uint32_t left = (c->at + 1) * 1024, last = ahead_leaves(c) && left < AHEAD_ALL ? left : AHEAD_ALL,
                   next = left + 5;
    const bool early = (c->event == AHEAD_MUT || c->event == AHEAD_FREE) && next < AHEAD_ALL;
    for (uint32_t i = 0; i < AHEAD_ALL; i++) {
        const float was = c->event == AHEAD_OUT ? i < left ? 4 : 5 : 1, kg = i >= last            ? 1
                                                                             : early && i == next ? 10
                                                                                                  : was + 1;
        assert_true(reef_get(c->w, c->e[i], Mass)->kg == kg);
        assert_true(reef_get(c->w, c->e[i], Position)->x == (c->event == AHEAD_INNER ? 2 : 1));
        if (c->fork)
            assert_true(reef_get(c->fork, c->e[i], Mass)->kg == 1 && reef_get(c->fork, c->e[i], Position)->x == 1);
        if (c->late)
            assert_true(reef_get(c->late, c->e[i], Mass)->kg == 1 && reef_get(c->late, c->e[i], Position)->x == 1);
    }
    uint32_t rows = 0;
    for (reef_block b = reef_begin(c->w, changed); reef_next(&b);) rows += b.count;
    assert_int_equal(rows, c->event == AHEAD_INNER ? AHEAD_ALL : last);
    assert_valid(c->w);
}

static void a_loop_copies_blocks_ahead(void **state)
{
    static const char *const texts[] = {"Mass", "Mass, Position", "Position, Mass"};
    static reef_entity e[AHEAD_ALL];
    for (uint32_t k = 0; k < 3 * AHEAD_EVENTS * 5; k++) {
        reef_world *w = another_world(state, NULL);
        const uint32_t who = k % 3;
        const reef_query changed = reef_query_make(w, &(reef_query_desc){.text = "changed in Mass"});
        ahead_case c = {.w = w, .e = e, .event = k / 3 % AHEAD_EVENTS, .at = k / 3 / AHEAD_EVENTS};
        assert_ok(reef_spawn_many(w, AHEAD_ALL, e, reef_with(Mass, 1), reef_with(Position, 1, 2)));
        for (reef_block b = reef_begin(w, changed); reef_next(&b);) {}
        const uint64_t rows = reef_world_stats(w).bytes_rows;
        c.fork = who != 0 ? reef_fork(w) : NULL;
        c.snapshot = who != 1 ? reef_snapshot_take(w) : NULL;
        ahead_loop(&c, texts[k / 7 % 3]);
        ahead_check(&c, changed);
        if (c.late) assert_valid(c.late);
        reef_world_free(c.late);
        reef_world_free(c.fork);
        if (c.snapshot) {
            c.fork = reef_snapshot_fork(c.snapshot);
            for (uint32_t i = 0; i < AHEAD_ALL; i++) assert_true(reef_get(c.fork, e[i], Mass)->kg == 1);
            assert_valid(c.fork);
            reef_world_free(c.fork);
        }
        reef_snapshot_free(c.snapshot);
        assert_int_equal(reef_world_stats(w).bytes_rows, rows);
        end_world(state, w);
    }
}

/* The last block's rows come and go without a look at it: the snapshot has those that went. */
static void a_snapshot_has_the_rows_that_went(void **state)
{
    enum { ALL = 1024 + 1024 };
    static reef_entity e[ALL];
    reef_world *w = world_of(state);
    assert_ok(reef_spawn_many(w, ALL, e, reef_with(Mass, 1)));
    reef_snapshot *full = reef_snapshot_take(w);
    for (uint32_t i = ALL; i-- > ALL - 50;) assert_ok(reef_destroy(w, e[i]));
    kg_put(w, e, ALL - 50, 2);
    reef_snapshot *fewer = reef_snapshot_take(w);
    for (uint32_t i = ALL - 50; i-- > 1024;) assert_ok(reef_destroy(w, e[i]));
    assert_ok(reef_spawn_many(w, 1024, NULL, reef_with(Mass, 3)));
    kg_put(w, e, 1024, 3);
    assert_ok(reef_restore(w, fewer));
    kg_is(w, e, ALL - 50, 2);
    assert_ok(reef_restore(w, full));
    kg_is(w, e, ALL, 1);
    reef_snapshot_free(full);
    reef_snapshot_free(fewer);
}

static uint64_t bytes_used(const reef_world *w)
{
    reef_stats s = reef_world_stats(w);
    return s.bytes_rows + s.bytes_index + s.bytes_tables + s.bytes_names + s.bytes_bits + s.bytes_hashes +
           s.bytes_tracks;
}

static void busy(reef_world *w, const reef_entity *e, uint32_t n, uint64_t seed)
{
    char text[32];
    for (int i = 0; i < 200; i++) {
        reef_entity one = e[random_below(&seed, n)];
        if (!reef_is_alive(w, one)) continue;
        switch (random_below(&seed, 6)) {
        case 0: assert_true(reef_set(w, one, Mass, i) >= 0); break;
        case 1: assert_true(reef_set(w, one, Tracked, .value = i) >= 0); break;
        case 2: (void)(reef_has(w, one, Awake) ? reef_remove(w, one, Awake) : reef_add(w, one, Awake)); break;
        case 3: assert_ok(reef_destroy(w, one)); break;
        case 4:
            snprintf(text, sizeof text, "busy%u", (unsigned)one.index);
            assert_ok(reef_set_name(w, one, text));
            break;
        default: assert_some(reef_clone(w, one)); break;
        }
    }
    (void)reef_hash(w);
}

/* All tables that busy leads to are known, and hashes are kept, before anything is counted. */
static void busy_world(reef_world *w, reef_entity *e, uint32_t n)
{
    char text[32];
    assert_ok(reef_spawn_many(w, n, e, reef_with(Mass, 1), reef_with(Position, 1, 2)));
    for (uint32_t i = 0; i < n; i += 3) assert_ok(reef_add(w, e[i], Tracked));
    for (uint32_t i = 0; i < n; i += 5) assert_ok(reef_add(w, e[i], Awake));
    for (uint32_t i = 0; i < n; i += 50) {
        snprintf(text, sizeof text, "busy%u", (unsigned)i);
        assert_ok(reef_set_name(w, e[i], text));
    }
    assert_ok(reef_destroy(w, e[1]));
    assert_some(reef_create(w));
    (void)reef_hash(w);
    assert_ok(reef_shrink(w));
}

static void memory_comes_back(void **state)
{
    enum { FORKS = 30 };
    static reef_entity e[4000];
    heap *h = heap_of(state);
    reef_world *w = world_of(state), *forks[FORKS];
    reef_snapshot *snapshots[FORKS];
    busy_world(w, e, 4000);
    for (int order = 0; order < 3; order++) {
        uint64_t bytes = h->bytes, blocks = h->blocks, used = bytes_used(w), values = book.live, before = digest(w);
        for (uint64_t i = 0; i < FORKS; i++) {
            snapshots[i] = reef_snapshot_take(i ? forks[i - 1] : w);
            forks[i] = i % 3 == 0   ? reef_fork(w)
                       : i % 3 == 1 ? reef_fork(forks[i - 1])
                                    : reef_snapshot_fork(snapshots[i]);
            busy(forks[i], e, 4000, i + 1);
        }
        assert_true(bytes_used(w) > used);
        for (int i = 0; i < FORKS; i++) {
            int k = order == 0 ? i : order == 1 ? FORKS - 1 - i : (i * 7 + 3) % FORKS;
            if (order != 1) reef_world_free(forks[k]), reef_snapshot_free(snapshots[k]);
            else reef_snapshot_free(snapshots[k]), reef_world_free(forks[k]);
        }
        assert_ok(reef_shrink(w));
        assert_true(digest(w) == before);
        assert_int_equal(book.live, values);
        assert_int_equal(bytes_used(w), used);
        assert_int_equal(h->bytes, bytes);
        assert_int_equal(h->blocks, blocks);
    }
}

/* The same where the world itself has changed meanwhile: nothing that it uses is left over from its relatives. */
static void memory_comes_back_to_a_world_that_went_on(void **state)
{
    static reef_entity e[4000];
    reef_world *w = world_of(state), *control = another_world(state, NULL);
    busy_world(w, e, 4000);
    busy_world(control, e, 4000);
    for (uint64_t i = 0; i < 20; i++) {
        reef_snapshot *snapshot = reef_snapshot_take(w);
        reef_world *fork = reef_fork(w);
        busy(w, e, 4000, i);
        busy(fork, e, 4000, i + 50);
        busy(control, e, 4000, i);
        if (i % 2) reef_snapshot_free(snapshot);
        reef_world_free(fork);
        if (i % 2 == 0) reef_snapshot_free(snapshot);
    }
    assert_ok(reef_shrink(w));
    assert_ok(reef_shrink(control));
    assert_true(digest(w) == digest(control));
    reef_stats a = reef_world_stats(w), b = reef_world_stats(control);
    assert_int_equal(a.bytes_rows, b.bytes_rows);
    assert_int_equal(a.bytes_index, b.bytes_index);
    assert_int_equal(a.bytes_names, b.bytes_names);
    assert_int_equal(a.bytes_bits, b.bytes_bits);
}

/* ---- extremes ---- */

static void an_empty_world_and_one_of_a_single_entity(void **state)
{
    for (int one = 0; one < 2; one++) {
        reef_world *w = another_world(state, NULL), *control = another_world(state, NULL);
        reef_entity e = {0, 0};
        if (one) e = reef_spawn(w, reef_with(Health, 1, 2)), (void)reef_spawn(control, reef_with(Health, 1, 2));
        reef_snapshot *snapshot = reef_snapshot_take(w);
        reef_world *fork = reef_fork(w), *second = reef_snapshot_fork(snapshot);
        assert_true(digest(fork) == digest(control) && digest(second) == digest(control));
        assert_true(reef_hash(fork) == reef_hash(control));
        assert_ok(reef_world_clear(fork));
        assert_ok(reef_spawn_many(fork, 2000, NULL, reef_with(Mass, 1)));
        assert_true(digest(w) == digest(control) && digest(second) == digest(control));
        assert_ok(reef_restore(fork, snapshot));
        assert_true(digest(fork) == digest(control));
        if (one) reef_mut(fork, e, Health)->now = 9, assert_int_equal(reef_get(w, e, Health)->now, 1);
        assert_ok(reef_spawn_many(w, 2000, NULL, reef_with(Mass, 1)));
        assert_ok(reef_restore(w, snapshot));
        assert_true(digest(w) == digest(control));
        assert_valid(fork);
        reef_snapshot_free(snapshot);
        reef_world_free(fork);
        reef_world_free(second);
        end_world(state, w);
        end_world(state, control);
    }
}

static void a_thousand_tables(void **state)
{
    static reef_entity e[1024], here[1024];
    reef_world *w = world_of(state), *control = another_world(state, NULL);
    tables_make(w, 1024, e);
    tables_make(control, 1024, here);
    reef_world *fork = reef_fork(w);
    reef_snapshot *snapshot = reef_snapshot_take(w);
    for (uint32_t i = 0; i < 1024; i++) {
        if (i % 2) reef_mut(w, e[i], Mass)->kg += 1;
        else assert_ok(reef_add(fork, e[i], Frozen)); /* 512 further tables */
    }
    assert_valid(w);
    assert_valid(fork);
    assert_int_equal(reef_count(w, Frozen), 0);
    assert_int_equal(reef_count(fork, Frozen), 512);
    for (uint32_t i = 0; i < 1024; i++) {
        assert_int_equal(reef_get(w, e[i], Mass)->kg, i + i % 2);
        assert_int_equal(reef_get(fork, e[i], Mass)->kg, i);
    }
    assert_ok(reef_restore(w, snapshot));
    assert_ok(reef_restore(fork, snapshot));
    assert_true(digest(w) == digest(control) && digest(fork) == digest(control));
    assert_true(reef_hash(w) == reef_hash(control) && reef_hash(fork) == reef_hash(control));
    reef_world_free(fork);
    reef_snapshot_free(snapshot);
}

static void components_of_a_mebibyte(void **state)
{
    reef_world *w = world_of(state);
    reef_component c = numbered_type("mebibyte", 1, 1 << 20, 16);
    reef_entity e[3];
    for (int i = 0; i < 3; i++) {
        e[i] = reef_spawn_values(w, (reef_value[]){{c, REEF_VALUE_DEFAULT, 0, NULL}}, 1);
        memset(reef_mut_id(w, e[i], c), 'a' + i, 1 << 20);
    }
    reef_world *fork = reef_fork(w);
    reef_snapshot *snapshot = reef_snapshot_take(w);
    memset(reef_mut_id(fork, e[1], c), 'x', 1 << 20);
    assert_ok(reef_destroy(w, e[0]));
    for (int i = 0; i < 3; i++) {
        const char *there = reef_get_id(fork, e[i], c), *here = reef_get_id(w, e[i], c);
        assert_int_equal(there[(1 << 20) - 1], i == 1 ? 'x' : 'a' + i);
        if (i) assert_int_equal(here[(1 << 20) - 1], 'a' + i);
        else assert_null(here);
    }
    assert_ok(reef_restore(fork, snapshot));
    for (int i = 0; i < 3; i++) assert_int_equal(((const char *)reef_get_id(fork, e[i], c))[77777], 'a' + i);
    reef_world_free(fork);
    reef_snapshot_free(snapshot);
}

static void copies_are_aligned_as_the_type_is(void **state)
{
    reef_world *w = world_of(state);
    for (uint32_t align = 64; align <= 4096; align *= 8) {
        reef_component c = numbered_type("aligned", align, align, align);
        reef_entity e[20];
        assert_ok(reef_spawn_many_values(w, 20, e, (reef_value[]){{c, REEF_VALUE_DEFAULT, 0, NULL}}, 1));
        reef_world *fork = reef_fork(w), *second = reef_fork(fork);
        for (int i = 0; i < 20; i++) {
            *(int *)reef_mut_id(fork, e[i], c) = i;
            *(int *)reef_mut_id(w, e[i], c) = -i;
            assert_int_equal((uintptr_t)reef_get_id(fork, e[i], c) % align, 0);
            assert_int_equal((uintptr_t)reef_get_id(w, e[i], c) % align, 0);
            assert_int_equal((uintptr_t)reef_get_id(second, e[i], c) % align, 0);
        }
        assert_int_equal(*(const int *)reef_get_id(second, e[7], c), 0);
        assert_int_equal(*(const int *)reef_get_id(fork, e[7], c), 7);
        reef_world_free(fork);
        reef_world_free(second);
    }
}

static void a_thousand_snapshots(void **state)
{
    enum { SNAPSHOTS = 1500 };
    static reef_snapshot *s[SNAPSHOTS];
    reef_world *w = world_of(state);
    reef_entity e[20];
    assert_ok(reef_spawn_many(w, 20, e, reef_with(Health, 0, 0), reef_with(Tracked, .value = 0)));
    for (int i = 0; i < SNAPSHOTS; i++) {
        reef_mut(w, e[i % 20], Health)->now = i;
        reef_mut(w, e[0], Tracked)->value = i;
        if (i % 100 == 50) assert_some(reef_spawn(w, reef_with(Mass, i)));
        assert_non_null(s[i] = reef_snapshot_take(w));
    }
    for (int i = 7; i < SNAPSHOTS; i = i * 3 / 2 + 1) {
        assert_ok(reef_restore(w, s[i]));
        assert_int_equal(reef_get(w, e[i % 20], Health)->now, i);
        assert_int_equal(reef_get(w, e[0], Tracked)->value, i);
        assert_int_equal(reef_count(w, Mass), (i + 50) / 100);
        reef_mut(w, e[5], Health)->most = 5;
    }
    for (int k = 0; k < SNAPSHOTS; k++) {
        int i = (k * 7 + 3) % SNAPSHOTS; /* 7 and 1,500 have no common divisor */
        if (k % 100 == 0) {
            assert_ok(reef_restore(w, s[i]));
            assert_int_equal(reef_get(w, e[i % 20], Health)->now, i);
            assert_valid(w);
        }
        reef_snapshot_free(s[i]);
    }
    assert_int_equal(book.live, 20);
}

/* Each fork is a fork of the one before, which then goes: no chain of ancestors is left behind. */
static void a_long_line_of_descent(void **state)
{
    reef_world *w = another_world(state, NULL), *now = w;
    reef_entity e = reef_spawn(w, reef_with(Health, 0, 0), reef_with(Tracked, .value = 0));
    assert_some(reef_spawn(w, reef_with(Mass, 1)));
    uint64_t bytes = 0;
    for (int i = 1; i <= 3000; i++) {
        reef_world *next = reef_fork(now);
        if (now == w) end_world(state, w);
        else reef_world_free(now);
        now = next;
        reef_mut(now, e, Health)->now = i;
        reef_mut(now, e, Tracked)->value++;
        if (i == 10) bytes = heap_of(state)->bytes;
    }
    assert_int_equal(heap_of(state)->bytes, bytes);
    assert_int_equal(reef_get(now, e, Health)->now, 3000);
    assert_int_equal(reef_get(now, e, Tracked)->value, 3000);
    assert_int_equal(book.live, 1);
    assert_valid(now);
    reef_world_free(now);
}

int main(void)
{
    static const reef_field value = {.name = "value", .kind = REEF_I32, .bytes = 4};
    if (reef_type_describe(reef_id(Tracked), &value, 1) < 0 || reef_type_describe(reef_id(Loose), &value, 1) < 0)
        return 1;
    const struct CMUnitTest tests[] = {
        TEST(a_type_that_can_t_be_copied_is_named),
        TEST(only_what_is_written_is_copied),
        TEST(a_snapshot_keeps_values_that_die),
        TEST(a_copy_hook_that_fails),
        TEST(a_strict_world_s_fork_knows_its_types),
        TEST(a_fork_has_the_limits_of_its_world),
        TEST(a_fork_never_reuses_what_its_world_never_reuses),
        TEST(each_world_has_its_own_context),
        TEST(a_fork_allocates_a_few_blocks_whatever_the_size),
        TEST(the_first_write_copies_one_block),
        TEST(snapshots_get_the_copy_and_worlds_keep_their_blocks),
        TEST(a_loop_copies_blocks_ahead),
        TEST(a_snapshot_has_the_rows_that_went),
        TEST(memory_comes_back),
        TEST(memory_comes_back_to_a_world_that_went_on),
        TEST(an_empty_world_and_one_of_a_single_entity),
        TEST(a_thousand_tables),
        TEST(components_of_a_mebibyte),
        TEST(copies_are_aligned_as_the_type_is),
        TEST(a_thousand_snapshots),
        TEST(a_long_line_of_descent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
