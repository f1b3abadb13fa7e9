/* Ticks: systems in their phases and in their order, time, commands between phases, what changed since, failures
 * (D1, D4, D10, D12, E4, E11, F8). Threads have suites of their own. */
#include "support.h"

typedef struct Count {
    uint32_t n;
} Count;
typedef struct Wind {
    float x, y;
} Wind;
typedef struct Page {
    uint32_t number, rest[511];
} Page; /* its blocks are larger than what arenas share out */
REEF_COMPONENT(Count);
REEF_COMPONENT(Wind);
REEF_COMPONENT(Page);

/* What the systems of a test did, in order. */
typedef struct diary {
    char text[256];
    uint32_t calls, rows;
    float dt;
} diary;

static void note(reef_block *b, const char *what)
{
    diary *d = b->context;
    if (d == NULL) return;
    if (d->text[0]) strcat(d->text, " ");
    strcat(d->text, what);
    d->calls++;
    d->rows += b->count;
    d->dt = b->dt;
}

static void note_a(reef_block *b) { note(b, "a"); }
static void note_b(reef_block *b) { note(b, "b"); }
static void note_c(reef_block *b) { note(b, "c"); }

static void move(reef_block *b)
{
    Position *p = reef_inout(b, Position);
    const Velocity *v = reef_in(b, Velocity);
    for (uint32_t i = 0; i < b->count; i++) p[i].x += v[i].x * b->dt, p[i].y += v[i].y * b->dt;
}

static reef_system_id system_with(reef_world *w, diary *d, const char *name, void (*f)(reef_block *), const char *text,
                                  const char *phase)
{
    reef_system_id s = reef_system_new(
        w, &(reef_system_desc){.name = name, .function = f, .text = text, .phase = phase, .context = d});
    assert_false(reef_system_is_null(s));
    return s;
}

/* ---- the first program ---- */

static void a_system_moves_what_matches(void **state)
{
    reef_world *w = world_of(state);
    reef_entity fish = reef_spawn(w, reef_with(Position, 0, 0), reef_with(Velocity, 1, 2));
    reef_entity stone = reef_spawn(w, reef_with(Position, 5, 5));
    assert_false(reef_system_is_null(reef_system(w, move, "Position, in Velocity")));
    for (int i = 0; i < 64; i++) assert_ok(reef_tick(w, 1.0f / 64.0f));
    assert_true(reef_get(w, fish, Position)->x == 1 && reef_get(w, fish, Position)->y == 2);
    assert_true(reef_get(w, stone, Position)->x == 5);
    assert_int_equal(reef_tick_count(w), 64);
    assert_int_equal(reef_time_ns(w), 1000000000);
    assert_string_equal(reef_last_error(w).operation, "");
}

static void each_block_once_never_empty(void **state)
{
    reef_world *w = world_of(state);
    diary d = {{0}, 0, 0, 0};
    for (int i = 0; i < 2500; i++) reef_spawn(w, reef_with(Position, 0, 0));
    for (int i = 0; i < 10; i++) reef_spawn(w, reef_with(Position, 0, 0), reef_tag(Frozen));
    reef_entity gone = reef_spawn(w, reef_with(Position, 0, 0), reef_with(Count, 0));
    assert_ok(reef_destroy(w, gone));
    system_with(w, &d, "a", note_a, "Position", NULL);
    assert_ok(reef_tick(w, 0.5f));
    assert_int_equal(d.calls, 4);
    assert_int_equal(d.rows, 2510);
    assert_true(d.dt == 0.5f);
    d = (diary){{0}, 0, 0, 0};
    remove_everywhere(w, reef_id(Position), NULL);
    assert_ok(reef_tick(w, 0.5f));
    assert_int_equal(d.calls, 0);
}

static void phases_in_order_systems_as_added(void **state)
{
    reef_world *w = world_of(state);
    diary d = {{0}, 0, 0, 0};
    system_with(w, &d, "c", note_c, NULL, "end");
    system_with(w, &d, "a", note_a, NULL, "begin");
    system_with(w, &d, "b1", note_b, NULL, NULL);
    system_with(w, &d, "a2", note_a, NULL, "update");
    assert_ok(reef_phase_new(w, &(reef_phase_desc){.name = "late", .after = "update"}));
    system_with(w, &d, "c2", note_c, NULL, "late");
    assert_ok(reef_tick(w, 0));
    assert_string_equal(d.text, "a b a c c");
    d.text[0] = 0;
    assert_ok(reef_tick_phase(w, "update", 2));
    assert_string_equal(d.text, "b a");
    assert_true(d.dt == 2);
    assert_int_equal(reef_tick_count(w), 1);
    assert_refused(w, REEF_BAD_ARGUMENT, reef_tick_phase(w, "never", 0));
}

/* ---- time ---- */

static void steps_of_a_fixed_rate(void **state)
{
    reef_world *w = world_of(state);
    diary d = {{0}, 0, 0, 0};
    assert_ok(reef_phase_new(
        w, &(reef_phase_desc){.name = "physics", .before = "update", .step_ns = 10000000, .steps_max = 5}));
    system_with(w, &d, "a", note_a, NULL, "physics");
    assert_ok(reef_tick(w, 0.009f));
    assert_int_equal(d.calls, 0);
    assert_ok(reef_tick(w, 0.009f));
    assert_int_equal(d.calls, 1);
    assert_true(d.dt == 0.01f);
    assert_ok(reef_tick(w, 0.022f)); /* 8 ms waited */
    assert_int_equal(d.calls, 4);
    assert_ok(reef_tick(w, 1.0f)); /* at most 5: the rest is dropped */
    assert_int_equal(d.calls, 9);
    assert_ok(reef_tick(w, 0.0095f));
    assert_in_range(d.calls, 9, 10);
}

static void what_waits_is_state(void **state)
{
    reef_world *w = world_of(state);
    diary d = {{0}, 0, 0, 0};
    assert_ok(reef_phase_new(w, &(reef_phase_desc){.name = "physics", .step_ns = 10000000}));
    system_with(w, &d, "a", note_a, NULL, "physics");
    assert_ok(reef_tick(w, 0.006f));
    reef_snapshot *s = reef_snapshot_take(w);
    const uint64_t hash = reef_hash(w);
    assert_ok(reef_tick(w, 0.006f));
    assert_int_equal(d.calls, 1);
    assert_true(reef_hash(w) != hash);
    assert_ok(reef_restore(w, s));
    assert_true(reef_hash(w) == hash);
    assert_int_equal(reef_tick_count(w), 1);
    assert_ok(reef_tick(w, 0.006f));
    assert_int_equal(d.calls, 2);
    reef_snapshot_free(s);
}

static bool is_even(const reef_world *w, void *context)
{
    (void)context;
    return reef_tick_count(w) % 2 == 0;
}

static uint32_t runs_counted;
static void count_run(reef_block *b) { (void)b, runs_counted++; }

static bool holds_now(const reef_world *w, void *context)
{
    (void)w;
    return *(const bool *)context;
}

/* A run that its condition put off is no run: the interval goes on. */
static void an_interval_ends_when_the_condition_holds(void **state)
{
    reef_world *w = world_of(state);
    bool now = false;
    reef_system_desc d = {
        .name = "slow", .function = count_run, .context = &now, .condition = holds_now, .interval_ns = 20000000};
    assert_false(reef_system_is_null(reef_system_new(w, &d)));
    runs_counted = 0;
    for (int i = 0; i < 4; i++) assert_ok(reef_tick(w, 0.01f));
    assert_int_equal(runs_counted, 0);
    now = true;
    assert_ok(reef_tick(w, 0.01f));
    assert_int_equal(runs_counted, 1);
    assert_ok(reef_tick(w, 0.01f));
    assert_int_equal(runs_counted, 1);
}

static void conditions_intervals_pause(void **state)
{
    reef_world *w = world_of(state);
    diary d = {{0}, 0, 0, 0}, e = {{0}, 0, 0, 0};
    assert_false(reef_system_is_null(reef_system_new(
        w, &(reef_system_desc){.name = "even", .function = note_a, .context = &d, .condition = is_even})));
    assert_false(reef_system_is_null(reef_system_new(
        w, &(reef_system_desc){.name = "slow", .function = note_b, .context = &e, .interval_ns = 30000000})));
    for (int i = 0; i < 10; i++) assert_ok(reef_tick(w, 0.01f));
    assert_int_equal(d.calls, 5);
    assert_int_equal(e.calls, 3);
    reef_pause(w, true);
    assert_true(reef_is_paused(w));
    assert_ok(reef_tick(w, 0.01f));
    assert_int_equal(reef_tick_count(w), 10);
    assert_ok(reef_tick_once(w, 0.01f));
    assert_int_equal(reef_tick_count(w), 11);
    reef_pause(w, false);
    assert_ok(reef_tick(w, 0.01f));
    assert_int_equal(d.calls, 6);
}

static void wrong_times_are_refused(void **state)
{
    reef_world *w = world_of(state);
    assert_refused(w, REEF_BAD_ARGUMENT, reef_tick(w, -1));
    assert_refused(w, REEF_BAD_ARGUMENT, reef_tick(w, 2e6f));
    assert_refused(w, REEF_BAD_ARGUMENT, reef_tick(w, (float)strtod("nan", NULL)));
    assert_ok(reef_tick(w, 1e6f));
    assert_ok(reef_tick(w, 0));
}

/* ---- systems come and go ---- */

static void added_switched_replaced_removed(void **state)
{
    reef_world *w = world_of(state);
    diary d = {{0}, 0, 0, 0};
    system_with(w, &d, "a", note_a, NULL, NULL);
    assert_ok(reef_tick(w, 0));
    reef_system_id b = system_with(w, &d, "b", note_b, "Position", NULL);
    reef_spawn(w, reef_with(Position, 0, 0)); /* a table made after it */
    system_with(w, &d, "c", note_c, NULL, NULL);
    assert_ok(reef_tick(w, 0));
    assert_string_equal(d.text, "a a b c");
    d.text[0] = 0;
    assert_ok(reef_system_enable(w, b, false));
    assert_ok(reef_tick(w, 0));
    assert_ok(reef_system_enable(w, b, true));
    assert_ok(reef_system_replace(w, b, &(reef_system_desc){.name = "b", .function = note_a, .context = &d}));
    assert_ok(reef_tick(w, 0));
    assert_string_equal(d.text, "a c a a c");
    d.text[0] = 0;
    assert_ok(reef_system_remove(w, b));
    assert_ok(reef_tick(w, 0));
    assert_string_equal(d.text, "a c");
}

static void any_function_once(void **state)
{
    reef_world *w = world_of(state);
    diary d = {{0}, 0, 0, 0};
    for (int i = 0; i < 3000; i++) reef_spawn(w, reef_with(Position, 1, 1), reef_with(Velocity, 1, 1));
    assert_ok(reef_system_once(w, &(reef_system_desc){.function = note_a, .context = &d, .text = "in Position"}, 3));
    assert_int_equal(d.rows, 3000);
    assert_true(d.dt == 3);
    assert_ok(reef_system_once(w, &(reef_system_desc){.function = move, .text = "Position, in Velocity"}, 3));
    reef_query q = reef_query_new(w, "in Position");
    reef_each(w, q, row) assert_true(reef_in_at(row, Position)->x == 4);
    assert_ok(reef_tick(w, 1));
    assert_int_equal(d.rows, 3000);
}

/* ---- the structure ---- */

static void burst(reef_block *b)
{
    for (uint32_t i = 0; i < b->count; i++) {
        reef_entity e = reef_cmd_spawn(b, reef_with(Count, i));
        if (reef_entity_is_null(e)) return; /* no memory: the rest waits for the next tick */
        assert_false(reef_is_alive(b->world, e));
        reef_cmd_destroy(b, b->entities[i]);
        assert_true(reef_is_alive(b->world, b->entities[i]));
    }
}

static void count_rows(reef_block *b) { *(uint32_t *)b->context += b->count; }

static void commands_are_done_at_the_phases_end(void **state)
{
    reef_world *w = world_of(state);
    uint32_t same = 0, next = 0;
    for (int i = 0; i < 3000; i++) reef_spawn(w, reef_with(Position, 0, 0));
    assert_false(reef_system_is_null(reef_system(w, burst, "in Position; spawns Count, destroys")));
    assert_false(reef_system_is_null(reef_system_new(
        w, &(reef_system_desc){.name = "same", .function = count_rows, .text = "in Count", .context = &same})));
    assert_false(reef_system_is_null(reef_system_new(
        w, &(reef_system_desc){
               .name = "next", .function = count_rows, .text = "in Count", .context = &next, .phase = "end"})));
    assert_ok(reef_tick(w, 0));
    assert_int_equal(same, 0);
    assert_int_equal(next, 3000);
    assert_int_equal(reef_count(w, Position), 0);
    assert_int_equal(reef_count(w, Count), 3000);
    assert_valid(w);
}

static void wrong_calls(reef_block *b)
{
    reef_world *w = b->world;
    reef_entity e = b->entities[0];
    assert_true(reef_entity_is_null(reef_spawn(w, reef_with(Position, 1, 1))));
    assert_true(reef_entity_is_null(reef_create(w)));
    assert_int_equal(reef_destroy(w, e), REEF_LOCKED);
    assert_int_equal(reef_add(w, e, Velocity), REEF_LOCKED);
    assert_int_equal(reef_remove(w, e, Position), REEF_LOCKED);
    assert_int_equal(reef_set(w, e, Velocity, 1, 1), REEF_LOCKED);
    assert_int_equal(reef_add(w, e, Awake), REEF_LOCKED);
    assert_int_equal(reef_disable(w, e, Position), REEF_LOCKED);
    assert_int_equal(reef_disable(w, e), REEF_LOCKED);
    assert_int_equal(reef_set_name(w, e, "e"), REEF_LOCKED);
    assert_int_equal(reef_tick(w, 0), REEF_LOCKED);
    assert_int_equal(reef_world_clear(w), REEF_LOCKED);
    assert_int_equal(reef_system_enable(w, reef_system_find(w, "wrong_calls"), false), REEF_LOCKED);
    assert_int_equal(reef_flush(w), REEF_LOCKED);
    assert_null(reef_fork(w));
    assert_null(reef_snapshot_take(w));
    assert_null(reef_ensure(w, e, Velocity));
    assert_null(reef_mut(w, e, Position)); /* others' rows are not declared */
    assert_int_equal(reef_hash(w), 0);
    assert_int_equal(reef_version(w), 0);
    assert_true(reef_query_is_null(reef_query_new(w, "Position")));
    reef_block loop = reef_begin_text(w, "Position");
    assert_false(reef_next(&loop));
    assert_true(reef_entity_is_null(reef_cmd_create(b)));
    assert_int_equal(reef_cmd_destroy(b, e), REEF_UNDECLARED);
}

static void calls_on_the_world_are_refused_in_systems(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e = reef_spawn(w, reef_with(Position, 0, 0));
    assert_false(reef_system_is_null(reef_system(w, wrong_calls, "Position")));
    const uint64_t rows = reef_count_alive(w);
    assert_ok(reef_tick(w, 0));
    /* of the block's calls: it is known whose they were */
    assert_int_equal(reef_last_error(w).status, REEF_UNDECLARED);
    assert_string_equal(reef_last_error(w).system, "wrong_calls");
    assert_int_equal(reef_count_alive(w), rows);
    assert_ok(reef_add(w, e, Velocity));
}

/* ---- others' rows ---- */

static void push(reef_block *b)
{
    const reef_entity *target = b->context;
    for (uint32_t i = 0; i < b->count; i++) {
        reef_mut(b->world, *target, Position)->x += 1;
        assert_ok(reef_set(b->world, *target, Velocity, 7, reef_get(b->world, *target, Velocity)->y + 1));
    }
}

static void others_rows_by_declaration(void **state)
{
    reef_world *w = world_of(state);
    reef_entity target = reef_spawn(w, reef_with(Position, 0, 0), reef_with(Velocity, 0, 0));
    for (int i = 0; i < 2100; i++) reef_spawn(w, reef_with(Count, 1));
    assert_false(reef_system_is_null(reef_system_new(
        w, &(reef_system_desc){
               .name = "push", .function = push, .text = "in Count; writes Position Velocity", .context = &target})));
    assert_ok(reef_tick(w, 0));
    assert_true(reef_get(w, target, Position)->x == 2100);
    assert_true(reef_get(w, target, Velocity)->y == 2100);
    reef_world *fork = reef_fork(w);
    assert_ok(reef_tick(fork, 0));
    assert_ok(reef_tick(fork, 0));
    assert_true(reef_get(fork, target, Position)->x == 6300);
    assert_true(reef_get(w, target, Position)->x == 2100);
    assert_valid(fork);
    reef_world_free(fork);
}

static void count_enemies(reef_block *b)
{
    Count *c = reef_inout(b, Count);
    const reef_query *enemies = b->context;
    for (uint32_t i = 0; i < b->count; i++) {
        c[i].n = 0;
        for (reef_block o = reef_others(b, *enemies); reef_next(&o);) {
            const Position *p = reef_in(&o, Position);
            const uint64_t *mask = reef_block_mask(&o);
            for (uint32_t k = 0; k < o.count; k++)
                if (p[k].x > 0 && (mask == NULL || mask[k / 64] >> (k % 64) & 1)) c[i].n++;
        }
    }
}

static void a_loop_over_others(void **state)
{
    reef_world *w = world_of(state);
    reef_query enemies = reef_query_new(w, "in Position, Awake"), writes = reef_query_new(w, "Position");
    reef_entity me = reef_spawn(w, reef_with(Count, 0));
    for (int i = 0; i < 2500; i++) {
        reef_entity e = reef_spawn(w, reef_with(Position, i % 2 ? 1.0f : -1.0f, 0));
        if (i % 4) reef_add(w, e, Awake);
    }
    reef_system_desc d = {
        .name = "count", .function = count_enemies, .text = "Count; reads Position", .context = &enemies};
    reef_system_id s = reef_system_new(w, &d);
    assert_false(reef_system_is_null(s));
    assert_ok(reef_tick(w, 0));
    assert_int_equal(reef_get(w, me, Count)->n, 1250);
    /* a table that the query doesn't know yet */
    reef_spawn(w, reef_with(Position, 1, 0), reef_tag(Frozen), reef_tag(Awake));
    assert_ok(reef_tick(w, 0));
    assert_int_equal(reef_get(w, me, Count)->n, 1251);
    assert_string_equal(reef_last_error(w).operation, "");
    d.context = &writes;
    assert_ok(reef_system_replace(w, s, &d));
    assert_ok(reef_tick(w, 0));
    assert_int_equal(reef_get(w, me, Count)->n, 0);
    assert_int_equal(reef_last_error(w).status, REEF_UNDECLARED);
    assert_int_equal(reef_last_error(w).component.id, reef_id(Position).id);
    assert_ok(reef_query_free(w, writes));
    assert_ok(reef_tick(w, 0));
    assert_int_equal(reef_last_error(w).status, REEF_NOT_ALIVE);
    d.context = &enemies;
    d.text = "Count";
    assert_ok(reef_system_replace(w, s, &d));
    assert_ok(reef_tick(w, 0));
    assert_int_equal(reef_last_error(w).status, REEF_UNDECLARED);
    assert_ok(reef_query_free(w, enemies));
}

/* ---- what changed ---- */

static void touch_some(reef_block *b)
{
    reef_entity *e = b->context;
    reef_mut(b->world, *e, Position)->y += 1;
}

/* A change by a later system of the tick is seen in the next tick, one by an earlier one at once; each once. */
static void changes_are_seen_once(void **state)
{
    reef_world *w = world_of(state);
    diary d = {{0}, 0, 0, 0};
    reef_entity e = reef_spawn(w, reef_with(Position, 0, 0), reef_with(Count, 1));
    reef_spawn(w, reef_with(Position, 0, 0), reef_with(Velocity, 1, 1));
    system_with(w, &d, "see", note_a, "in changed Position", NULL);
    assert_false(reef_system_is_null(reef_system_new(
        w, &(reef_system_desc){.name = "touch", .function = touch_some, .text = "; writes Position", .context = &e})));
    reef_system_id mover = reef_system(w, move, "Position, in Velocity");
    assert_ok(reef_tick(w, 1));
    assert_int_equal(d.rows, 2); /* all is new */
    assert_ok(reef_tick(w, 1));
    assert_int_equal(d.rows, 4);
    assert_ok(reef_system_enable(w, mover, false));
    assert_ok(reef_tick(w, 1));
    assert_int_equal(d.rows, 6);
    assert_ok(reef_tick(w, 1));
    assert_int_equal(d.rows, 7);
    assert_ok(reef_system_enable(w, reef_system_find(w, "touch"), false));
    assert_ok(reef_tick(w, 1));
    assert_int_equal(d.rows, 8);
    assert_ok(reef_tick(w, 1));
    assert_int_equal(d.rows, 8);
    reef_snapshot *s = reef_snapshot_take(w); /* sharing is no change */
    assert_ok(reef_tick(w, 1));
    assert_int_equal(d.rows, 8);
    reef_snapshot_free(s);
}

/* ---- forks ---- */

static void forks_tick_on_their_own(void **state)
{
    reef_world *w = world_of(state);
    for (int i = 0; i < 5000; i++) reef_spawn(w, reef_with(Position, (float)i, 0), reef_with(Velocity, 1, 0));
    assert_false(reef_system_is_null(reef_system(w, move, "Position, in Velocity")));
    assert_ok(reef_tick(w, 1));
    reef_world *fork = reef_fork(w);
    assert_ok(reef_tick(fork, 1));
    assert_true(reef_hash(fork) != reef_hash(w));
    assert_ok(reef_tick(w, 1));
    assert_true(reef_hash(fork) == reef_hash(w));
    assert_true(reef_equal(fork, w, NULL));
    assert_ok(reef_system_remove(fork, reef_system_find(fork, "move")));
    const uint64_t rest = reef_hash(fork);
    assert_ok(reef_tick(fork, 0));
    assert_ok(reef_tick(w, 1));
    assert_true(rest != reef_hash(w));
    assert_valid(fork);
    reef_world_free(fork);
}

static void step_right(reef_block *b)
{
    Position *p = reef_inout(b, Position);
    for (uint32_t first = 0, n; (n = reef_block_run(b, &first)) != 0; first += n)
        for (uint32_t i = first; i < first + n; i++) p[i].x += 1;
}

/* The rows of later blocks match in a later tick only: what the fork holds of them stays as it was. */
static void blow(reef_block *b)
{
    Position *p = reef_inout(b, Position);
    Velocity *v = reef_inout(b, Velocity);
    for (uint32_t i = 0; i < b->count; i++) p[i].x += v[i].x, v[i].y += p[i].y;
}

/* A world that goes back and ticks takes the fast path at once; one whose systems are measured doesn't. Rows fill
 * several chunks, and a table is made between two restores. */
static void worlds_that_go_back_write_only_what_is_theirs(void **state)
{
    reef_world *w = world_of(state);
    for (int i = 0; i < 1500; i++) reef_spawn(w, reef_with(Position, (float)i, 1), reef_with(Velocity, 1, 0));
    for (int i = 0; i < 50; i++)
        reef_spawn(w, reef_with(Position, (float)i, 1), reef_with(Velocity, 1, 0), reef_tag(Frozen));
    assert_false(reef_system_is_null(reef_system(w, move, "Position, in Velocity")));
    assert_false(reef_system_is_null(reef_system(w, blow, "Position, Velocity")));
    assert_ok(reef_tick(w, 1));
    reef_snapshot *s = reef_snapshot_take(w);
    reef_world *fork = reef_fork(w), *measured = reef_fork(w);
    reef_watch_systems(w, false); /* watched systems have no fast path */
    reef_measure_systems(measured, true);
    const uint64_t before = reef_hash(w);
    for (int k = 0; k < 4; k++) {
        for (int i = 0; i <= k; i++) {
            assert_ok(reef_tick(w, 1));
            assert_ok(reef_tick(measured, 1));
        }
        assert_true(reef_hash(w) != before);
        assert_true(reef_equal(w, measured, NULL));
        assert_true(reef_hash(fork) == before);
        assert_ok(reef_restore(w, s));
        assert_ok(reef_restore(measured, s));
        assert_true(reef_hash(w) == before);
        const reef_entity later =
            reef_spawn(w, reef_with(Position, 0, 0), reef_with(Velocity, 1, 0), reef_with(Count, 1));
        assert_ok(reef_tick(w, 1));
        assert_true(reef_get(w, later, Position)->x == 2);
        assert_ok(reef_restore(w, s));
    }
    assert_ok(reef_tick(fork, 1));
    assert_ok(reef_tick(w, 1));
    assert_true(reef_equal(w, fork, NULL));
    reef_world_free(measured);
    reef_world_free(fork);
    reef_snapshot_free(s);
}

static void blocks_that_match_later_are_not_the_forks(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[3000];
    for (int i = 0; i < 3000; i++) e[i] = reef_spawn(w, reef_with(Position, 0, 0));
    reef_add(w, e[5], Awake);
    assert_false(reef_system_is_null(reef_system(w, step_right, "Position, Awake")));
    reef_world *fork = reef_fork(w);
    assert_ok(reef_tick(w, 0));
    assert_true(reef_get(w, e[5], Position)->x == 1 && reef_get(fork, e[5], Position)->x == 0);
    reef_add(w, e[2500], Awake);
    assert_ok(reef_tick(w, 0));
    assert_true(reef_get(w, e[2500], Position)->x == 1 && reef_get(fork, e[2500], Position)->x == 0);
    reef_world_free(fork);
}

static void rows_whose_fixed_term_holds_later_are_not_the_forks(void **state)
{
    reef_world *w = world_of(state);
    reef_entity sky = reef_spawn(w, reef_with(Count, 0)), e = reef_spawn(w, reef_with(Position, 0, 0));
    const reef_query_desc q = {
        .terms = {{.component = reef_id(Position)}, {.component = reef_id(Wind), .access = REEF_IN, .source = sky}}};
    assert_false(reef_system_is_null(
        reef_system_new(w, &(reef_system_desc){.name = "blow", .function = step_right, .query = &q})));
    reef_world *fork = reef_fork(w);
    assert_ok(reef_tick(w, 0));
    assert_true(reef_get(w, e, Position)->x == 0);
    reef_set(w, sky, Wind, 1, 1);
    assert_ok(reef_tick(w, 0));
    assert_true(reef_get(w, e, Position)->x == 1 && reef_get(fork, e, Position)->x == 0);
    reef_world_free(fork);
}

/* ---- memory ---- */

static void fill(reef_block *b)
{
    Page *p = reef_out(b, Page);
    for (uint32_t i = 0; i < b->count; i++) p[i].number = 7;
}

/* A system that has no memory doesn't run: values that it would have written without reading them are there. */
static void values_survive_a_system_that_had_no_memory(void **state)
{
    enum { ROWS = 2100 };
    reef_world *w = world_of(state);
    heap *h = heap_of(state);
    reef_entity e[ROWS];
    for (uint32_t i = 0; i < ROWS; i++) e[i] = reef_spawn(w, reef_with(Page, .number = i + 100));
    assert_false(reef_system_is_null(reef_system(w, fill, "out Page")));
    uint64_t failures = 0;
    for (uint64_t n = 1;; n++) {
        reef_world *fork = reef_fork(w);
        heap_fail_nth(h, n, true);
        const reef_status s = reef_tick(fork, 0);
        heap_fail_never(h);
        for (uint32_t i = 0; i < ROWS; i++)
            assert_int_equal(reef_get(fork, e[i], Page)->number, s == REEF_OK ? 7 : i + 100);
        reef_world_free(fork);
        if (s == REEF_OK) break;
        failures++;
    }
    assert_in_range(failures, 5, 1000);
}

/* A system that may write others' Page, and not their Count, while there is no memory for what it may. */
typedef struct short_of {
    heap *memory;
    reef_entity e;
    reef_status page, count;
} short_of;

static void set_both(reef_block *b)
{
    short_of *x = b->context;
    heap_fail_nth(x->memory, 1, true);
    x->page = reef_set(b->world, x->e, Page, .number = 1);
    heap_fail_never(x->memory);
    x->count = reef_set(b->world, x->e, Count, 1);
}

static void quiet(void *context, reef_status status, const char *message)
{
    (void)context, (void)status, (void)message;
}

/* What a call on the world answers is its own failure, whatever else failed in the tick. */
static void a_refused_set_says_why_it_was_refused_itself(void **state)
{
    reef_world *w = another_world(state, &(reef_world_config){.misuse = quiet});
    short_of x = {.memory = heap_of(state)};
    reef_spawn(w, reef_with(Position, 0, 0));
    x.e = reef_spawn(w, reef_with(Page, .number = 100), reef_with(Count, 5));
    reef_watch_systems(w, false); /* it runs once */
    const reef_system_desc sets = {
        .name = "sets", .function = set_both, .text = "in Position; writes Page", .context = &x};
    assert_false(reef_system_is_null(reef_system_new(w, &sets)));
    reef_world *fork = reef_fork(w); /* the block of Page is shared */
    assert_int_equal(reef_tick(w, 0), REEF_NO_MEMORY);
    assert_int_equal(x.page, REEF_NO_MEMORY);
    assert_int_equal(x.count, REEF_UNDECLARED);
    assert_int_equal(reef_get(w, x.e, Page)->number, 100);
    assert_int_equal(reef_get(w, x.e, Count)->n, 5);
    reef_world_free(fork);
}

static void an_atomic_tick_leaves_nothing(void **state)
{
    reef_world *w = another_world(state, &(reef_world_config){.atomic_tick = true});
    heap *h = heap_of(state);
    for (int i = 0; i < 3000; i++) reef_spawn(w, reef_with(Position, 0, 0), reef_with(Velocity, 1, 1));
    assert_false(reef_system_is_null(reef_system(w, move, "Position, in Velocity")));
    assert_false(reef_system_is_null(reef_system(w, burst, "in Position; spawns Count, destroys")));
    uint64_t failures = 0;
    for (uint64_t n = 1;; n++) {
        reef_world *reference = reef_fork(w);
        heap_fail_nth(h, n, true);
        reef_status s = reef_tick(w, 1);
        heap_fail_never(h);
        assert_valid(w);
        if (s == REEF_OK) {
            reef_world_free(reference);
            break;
        }
        assert_int_equal(s, REEF_NO_MEMORY);
        assert_int_equal(reef_last_error(w).status, REEF_NO_MEMORY);
        assert_true(reef_equal(w, reference, NULL));
        reef_world_free(reference);
        failures++;
    }
    assert_in_range(failures, 10, 10000);
    assert_int_equal(reef_count(w, Count), 3000);
}

static void a_tick_that_failed_goes_on(void **state)
{
    heap *h = heap_of(state);
    for (uint64_t n = 1, done = false; !done; n++) {
        reef_world *w = another_world(state, NULL);
        for (int i = 0; i < 3000; i++) reef_spawn(w, reef_with(Position, 0, 0), reef_with(Velocity, 1, 1));
        assert_false(reef_system_is_null(reef_system(w, burst, "in Position; spawns Count, destroys")));
        heap_fail_nth(h, n, true);
        reef_status s = reef_tick(w, 1);
        heap_fail_never(h);
        done = s == REEF_OK;
        assert_valid(w);
        assert_true(s == REEF_OK || s == REEF_NO_MEMORY);
        assert_ok(reef_tick(w, 1)); /* what was recorded is done; what wasn't begins now */
        assert_int_equal(reef_count(w, Count), 3000);
        assert_int_equal(reef_count(w, Position), 0);
        end_world(state, w);
    }
}

static void sleeps(reef_block *b) { (void)b; }
static reef_status tick_of_history(void *context, reef_world *w, uint64_t number, const void *input, size_t bytes)
{
    (void)context, (void)number, (void)input, (void)bytes;
    return reef_tick(w, 1);
}

/* What changes a world's time, as a whole, is left to its owner. */
static void who_owns_time_decides(void **state)
{
    static const char why[] = "the time of this world belongs to a session";
    reef_world *w = world_of(state), *other = another_world(state, NULL);
    const reef_entity e = reef_spawn(w, reef_with(Position, 1, 2));
    reef_snapshot *past = reef_snapshot_take(w);
    reef_history *h = reef_history_new(w, &(reef_history_config){.ticks = 8, .step = tick_of_history});
    assert_non_null(h);
    reef_bytes bytes;
    assert_ok(reef_own_time(w, "a session"));
    assert_ok(reef_own_time(w, "a session"));
    assert_refused(w, REEF_EXISTS, reef_own_time(w, "another"));
    assert_string_equal(reef_time_owner(w), "a session");
    assert_refused(w, REEF_LOCKED, reef_tick(w, 1));
    assert_string_equal(reef_last_error(w).detail, why);
    assert_refused(w, REEF_LOCKED, reef_tick_once(w, 1));
    assert_refused(w, REEF_LOCKED, reef_tick_phase(w, "update", 1));
    assert_refused(w, REEF_LOCKED, reef_restore(w, past));
    assert_string_equal(reef_last_error(w).detail, why);
    assert_refused(w, REEF_LOCKED, reef_world_clear(w));
    assert_refused(w, REEF_LOCKED, reef_merge(w, other, NULL, NULL));
    assert_refused(w, REEF_LOCKED, reef_history_step(h, NULL, 0));
    assert_true(reef_system_is_null(reef_system(w, sleeps, "in Position")));
    /* reading, copies and single changes go on, and a copy is nobody's */
    assert_ok(reef_save_bytes(w, &bytes, &(reef_save_desc){.raw = true}));
    assert_refused(w, REEF_LOCKED, reef_load_bytes(w, bytes.data, bytes.size, NULL));
    assert_true(reef_set(w, e, Position, 3, 4) >= 0);
    reef_world *fork = reef_fork(w);
    assert_null(reef_time_owner(fork));
    assert_ok(reef_tick(fork, 1));
    assert_ok(reef_own_time(w, NULL));
    assert_null(reef_time_owner(w));
    assert_ok(reef_tick(w, 1));
    assert_ok(reef_restore(w, past));
    reef_bytes_free(&bytes);
    reef_world_free(fork);
    reef_history_free(h);
    reef_snapshot_free(past);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_system_moves_what_matches),
        TEST(each_block_once_never_empty),
        TEST(phases_in_order_systems_as_added),
        TEST(steps_of_a_fixed_rate),
        TEST(what_waits_is_state),
        TEST(conditions_intervals_pause),
        TEST(an_interval_ends_when_the_condition_holds),
        TEST(wrong_times_are_refused),
        TEST(added_switched_replaced_removed),
        TEST(any_function_once),
        TEST(commands_are_done_at_the_phases_end),
        TEST(calls_on_the_world_are_refused_in_systems),
        TEST(others_rows_by_declaration),
        TEST(a_loop_over_others),
        TEST(changes_are_seen_once),
        TEST(forks_tick_on_their_own),
        TEST(worlds_that_go_back_write_only_what_is_theirs),
        TEST(blocks_that_match_later_are_not_the_forks),
        TEST(rows_whose_fixed_term_holds_later_are_not_the_forks),
        TEST(values_survive_a_system_that_had_no_memory),
        TEST(a_refused_set_says_why_it_was_refused_itself),
        TEST(an_atomic_tick_leaves_nothing),
        TEST(a_tick_that_failed_goes_on),
        TEST(who_owns_time_decides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
