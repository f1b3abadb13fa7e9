/* The allocation sweep for types with track_rows: each allocation of each call fails in turn, alone and with all that
 * follow it; in worlds that are alone, and in those that share everything with a fork. On failure the world is
 * unchanged, no row counts as changed, and readers get nothing; the call works with memory, and then everything is as
 * if it had worked at once. */
#include "support.h"

typedef struct {
    uint32_t number;
} Hold;
typedef struct {
    uint8_t byte[100];
} Wide;

static const reef_hooks rows = {.track_rows = true};
static const reef_hooks skip_rows = {.track_rows = true, .on_fork = REEF_FORK_SKIP};
typedef struct {
    uint32_t number;
} Hum;
REEF_COMPONENT_HOOKS(Hold, &rows);
REEF_COMPONENT_HOOKS(Wide, &rows);
REEF_COMPONENT_HOOKS(Hum, &skip_rows);
REEF_TAG_HOOKS(Marked, &rows);

enum { ROWS = 1500 };

typedef struct scene {
    heap memory;
    reef_world *w, *fork, *child;
    reef_entity e[ROWS];
    reef_removals held, wide, marked, further;
    reef_snapshot *snapshot, *taken;
    uint64_t mark;
} scene;

static scene now;

static void begin(bool shared)
{
    memset(&now, 0, sizeof now);
    ledger_reset();
    now.w = reef_world_new(&(reef_world_config){.allocator = heap_allocator(&now.memory)});
    assert_non_null(now.w);
    assert_ok(reef_spawn_many(now.w, 600, now.e, reef_with(Hold, 1), reef_with(Mass, 1)));
    assert_ok(reef_spawn_many(now.w, 600, now.e + 600, reef_with(Hold, 2), reef_with(Wide, {2}), reef_tag(Marked)));
    assert_ok(reef_spawn_many(now.w, 300, now.e + 1200, reef_with(Mass, 2), reef_with(Hum, 3)));
    now.held = reef_removals_new(now.w, reef_id(Hold), false);
    now.wide = reef_removals_new(now.w, reef_id(Wide), true);
    now.marked = reef_removals_new(now.w, reef_id(Marked), true);
    for (uint32_t i = 500; i < 700; i++) assert_ok(reef_destroy(now.w, now.e[i]));
    while (reef_removals_next(now.w, now.held, NULL, NULL)) {}
    while (reef_removals_next(now.w, now.marked, NULL, NULL)) {} /* the values of Wide are still there */
    assert_non_null(now.snapshot = reef_snapshot_take(now.w));
    for (uint32_t i = 400; i < 500; i++) assert_ok(reef_destroy(now.w, now.e[i]));
    reef_mut(now.w, now.e[1300], Hum)->number = 9;
    while (reef_removals_next(now.w, now.held, NULL, NULL)) {}
    if (shared) assert_non_null(now.fork = reef_fork(now.w));
    else reef_snapshot_free(now.snapshot), now.snapshot = NULL;
    now.mark = reef_version(now.w);
}

static bool some(reef_entity e) { return !reef_entity_is_null(e); }

static bool mut(void) { return reef_mut(now.w, now.e[3], Hold) != NULL; }
static bool mut_wide(void) { return reef_mut_id(now.w, now.e[900], reef_id(Wide)) != NULL; }
static bool set(void) { return reef_set(now.w, now.e[4], Hold, 7) == REEF_OK; }
static bool set_new(void) { return reef_set(now.w, now.e[4], Wide, {7}) == REEF_ADDED; }
static bool add(void) { return reef_add(now.w, now.e[1200], Hold) == REEF_OK; }
static bool add_tag(void) { return reef_add(now.w, now.e[0], Marked) == REEF_OK; }
static bool ensure(void) { return reef_ensure(now.w, now.e[1299], Wide) != NULL; }
static bool remove_one(void) { return reef_remove(now.w, now.e[900], Wide) == REEF_OK; }
static bool remove_tag(void) { return reef_remove(now.w, now.e[900], Marked) == REEF_OK; }
static bool remove_all(void) { return reef_remove_all(now.w, now.e[900]) == REEF_OK; }
static bool change(void)
{
    return reef_change(now.w, now.e[900], reef_without(Wide), reef_with(Hold, 9), reef_with(Tracked, .value = 7)) ==
           REEF_OK;
}
static bool destroy(void) { return reef_destroy(now.w, now.e[900]) == REEF_OK; }
static bool destroy_with(void) { return DESTROY_EVERYWHERE(now.w, reef_id(Hold)) == REEF_OK; }
static bool clear(void) { return remove_everywhere(now.w, reef_id(Wide), NULL) == REEF_OK; }
static bool clear_tag(void) { return remove_everywhere(now.w, reef_id(Marked), NULL) == REEF_OK; }
static bool clear_world(void) { return reef_world_clear(now.w) == REEF_OK; }
static bool spawn(void) { return some(reef_spawn(now.w, reef_with(Hold, 8), reef_with(Cargo, {1}))); }
static bool spawn_many(void)
{
    return reef_spawn_many(now.w, 1200, NULL, reef_with(Wide, {8}), reef_tag(Seen)) == REEF_OK;
}
static bool clone_many(void) { return reef_clone_many(now.w, now.e[900], 1200, NULL) == REEF_OK; }
static bool far_ahead(void)
{
    return reef_is_alive(now.w, (reef_entity){90000, 1}) || reef_create_as(now.w, (reef_entity){90000, 1}) == REEF_OK;
}
static bool far_away(void)
{
    return far_ahead() && reef_add_id(now.w, (reef_entity){90000, 1}, reef_id(Hold), NULL, NULL) == REEF_OK;
}
static bool reader(void) { return !reef_removals_is_null(now.further = reef_removals_new(now.w, reef_id(Hold), true)); }
static bool fork(void) { return (now.child = reef_fork(now.w)) != NULL; }
static bool snapshot(void) { return (now.taken = reef_snapshot_take(now.w)) != NULL; }
static bool restore(void) { return now.snapshot == NULL || reef_restore(now.w, now.snapshot) == REEF_OK; }

static const struct call {
    const char *name;
    bool (*run)(void), steps;
} calls[] = {
    {"mut", mut, false},
    {"mut_id", mut_wide, false},
    {"set", set, false},
    {"set, new", set_new, false},
    {"add", add, false},
    {"add a tag", add_tag, false},
    {"ensure", ensure, false},
    {"remove", remove_one, false},
    {"remove a tag", remove_tag, false},
    {"remove_all", remove_all, false},
    {"change", change, false},
    {"destroy", destroy, false},
    {"destroy_with", destroy_with, false},
    {"clear_type", clear, false},
    {"clear_type of a tag", clear_tag, false},
    {"world_clear", clear_world, false},
    {"spawn", spawn, false},
    {"spawn_many", spawn_many, false},
    {"clone_many", clone_many, false},
    {"far away", far_away, true},
    {"removals_new", reader, false},
    {"fork", fork, false},
    {"snapshot_take", snapshot, false},
    {"restore", restore, false},
};

/* A digest of the state, of what changed, and (drained) of what readers get. */
static uint64_t said(bool drain)
{
    const reef_component c[] = {reef_id(Hold), reef_id(Wide), reef_id(Marked), reef_id(Hum)};
    const reef_removals r[] = {now.held, now.wide, now.marked, now.further};
    uint64_t hash = digest(now.w);
    const uint64_t indices = reef_world_stats(now.w).indices;
    for (uint32_t i = 0; i < indices; i++) {
        reef_entity e = reef_entity_at(now.w, i);
        if (!some(e)) continue;
        for (int k = 0; k < 4; k++) {
            uint8_t b = (uint8_t)(reef_changed_since_id(now.w, e, c[k], now.mark) |
                                  reef_added_since_id(now.w, e, c[k], now.mark) << 1);
            hash = digest_bytes(hash, &b, 1);
        }
    }
    for (int k = 0; drain && k < 4; k++) {
        Wide value = {{0}};
        reef_entity e;
        while (!reef_removals_is_null(r[k]) && reef_removals_next(now.w, r[k], &e, k == 1 ? &value : NULL)) {
            hash = digest_bytes(hash, &e, sizeof e);
            hash = digest_bytes(hash, &value, sizeof value);
        }
    }
    return hash;
}

static void end(void)
{
    reef_snapshot_free(now.taken);
    reef_world_free(now.child);
    reef_world_free(now.fork);
    reef_world_free(now.w);
    reef_snapshot_free(now.snapshot);
    assert_int_equal(now.memory.blocks, 0);
    assert_int_equal(now.memory.bytes, 0);
    assert_null(now.memory.mistake);
    assert_null(book.mistake);
    assert_int_equal(book.live, 0);
}

/* The n-th allocation fails; false when there was none. */
static bool run(const struct call *c, bool shared, uint64_t n, bool rest, uint64_t wanted)
{
    begin(shared);
    uint64_t before = said(false), fork_digest = now.fork ? digest(now.fork) : 0;
    heap_fail_nth(&now.memory, n, rest);
    bool works = c->run(), failed = now.memory.refused != 0;
    heap_fail_never(&now.memory);
    if (!works) {
        if (!failed || reef_last_error(now.w).status != REEF_NO_MEMORY)
            fail_msg("%s: it failed without a reason", c->name);
        assert_valid(now.w);
        if (!c->steps && said(false) != before)
            fail_msg("%s, allocation %u: the world is another one", c->name, (unsigned)n);
        if (!c->run()) fail_msg("%s, allocation %u: fails with memory", c->name, (unsigned)n);
    }
    assert_valid(now.w);
    if (said(true) != wanted) fail_msg("%s, allocation %u: the outcome is another one", c->name, (unsigned)n);
    assert_valid(now.w);
    if (now.fork && digest(now.fork) != fork_digest) fail_msg("%s: the fork is another one", c->name);
    end();
    return failed;
}

static void sweep(bool shared)
{
    uint64_t runs = 0;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        begin(shared);
        if (!calls[i].run()) fail_msg("%s doesn't work even with memory", calls[i].name);
        uint64_t wanted = said(true);
        end();
        for (int rest = 0; rest < 2; rest++) {
            uint64_t n = 1;
            while (run(&calls[i], shared, n, rest == 1, wanted)) n++;
            runs += n - 1;
        }
    }
    assert_true(runs > (shared ? 300u : 50u)); /* or the sweep sweeps nothing */
}

static void F2_G5_each_allocation_of_tracked_types_fails_in_turn(void **state)
{
    (void)state;
    sweep(false);
}

static void F2_G5_each_allocation_of_first_writes_after_a_fork_fails_in_turn(void **state)
{
    (void)state;
    sweep(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(F2_G5_each_allocation_of_tracked_types_fails_in_turn),
        cmocka_unit_test(F2_G5_each_allocation_of_first_writes_after_a_fork_fails_in_turn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
