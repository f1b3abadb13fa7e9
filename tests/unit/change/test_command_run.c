/* Runs of commands (D4, D5): what is recorded in runs and done by ranges, against the same commands made one by one
 * on a fork. Both worlds must agree in everything: rows and their order, free ids, names, switches, errors. */
#include "change/spawn.h"
#include "storage/command_buffer.h"
#include "storage/entity_index.h"
#include "storage/id_lanes.h"
#include "storage/invalidate.h"
#include "storage/removal_log.h"
#include "system/schedule.h"
#include "system/phase.h"
#include "support.h"
#include "storage/table.h"

enum { PEOPLE = 3000, ORDERS = 6000, JOBS = 5 };

typedef enum order_kind {
    ORDER_ADD,
    ORDER_REMOVE,
    ORDER_DESTROY,
    ORDER_ENABLE,
    ORDER_DISABLE,
    ORDER_SPAWN,
    ORDER_SET,
    ORDER_CLONE,
    ORDER_CREATE,
    ORDER_KINDS
} order_kind;

typedef struct order { /* of one command */
    order_kind kind;
    reef_component c;
    reef_entity e; /* the one that is made, for those that make one */
    reef_entity source;
    int value;
} order;

typedef struct paper {
    reef_world *w, *fork;
    uint64_t seed;
    bool hooks; /* values with hooks are among them: each keeps books of its own, so hashes differ */
    order orders[ORDERS];
    uint32_t count;
    reef_entity known[PEOPLE + ORDERS]; /* living, dead and to be made */
    uint32_t known_count;
    struct system *system;
    job jobs[JOBS];
} paper;

/* A system that may do everything. */
static struct system *free_system(void)
{
    static reef_touch all[] = {
        {REEF_SPAWNS, {0}}, {REEF_ADDS, {0}}, {REEF_REMOVES, {0}}, {REEF_ENABLES, {0}}, {REEF_DESTROYS, {0}}};
    static struct system s = {
        .name = "mixed", .touches = all, .touch_count = sizeof all / sizeof *all, .commands = true};
    return &s;
}

static reef_component some_type(paper *p)
{
    const reef_component all[] = {reef_id(Mass),  reef_id(Velocity), reef_id(Frozen),
                                  reef_id(Awake), reef_id(Cargo),    reef_id(Loose)};
    return all[random_below(&p->seed, p->hooks ? 6 : 5)];
}

/* Tables of some sizes: 0, one row, a few, more than a chunk; free ids. */
static void populate(paper *p)
{
    for (uint32_t i = 0; i < PEOPLE; i++) {
        const uint32_t kind = random_below(&p->seed, 8);
        reef_entity e = kind == 0 ? reef_create(p->w) : reef_spawn(p->w, reef_with(Position, (float)i, 0));
        if (kind == 1) assert_status(REEF_ADDED, reef_set(p->w, e, Mass, (double)i));
        if (kind == 2 && i % 5 == 0) assert_ok(reef_add(p->w, e, Awake));
        p->known[p->known_count++] = e;
    }
    for (uint32_t i = 0; i < 200; i++) (void)reef_destroy(p->w, p->known[random_below(&p->seed, p->known_count)]);
}

static void give(paper *p, reef_block *b, order o)
{
    reef_status s = REEF_OK;
    switch (o.kind) {
    case ORDER_ADD: s = reef_cmd_add_id(b, o.e, o.c); break;
    case ORDER_REMOVE: s = reef_cmd_remove_id(b, o.e, o.c); break;
    case ORDER_DESTROY: s = reef_cmd_destroy(b, o.e); break;
    case ORDER_ENABLE: s = reef_cmd_enable_id(b, o.e, o.c, true); break;
    case ORDER_DISABLE: s = reef_cmd_enable_id(b, o.e, o.c, false); break;
    case ORDER_SPAWN:
        if (o.value % 3 == 0)
            o.e = reef_cmd_spawn(b, reef_with(Position, (float)o.value, 1), reef_with(Mass, (double)o.value));
        else if (o.value % 3 == 1)
            o.e = reef_cmd_spawn(b, reef_with(Cargo, {(uint8_t)o.value}), reef_tag(Frozen), reef_default(Velocity));
        else if (p->hooks) o.e = reef_cmd_spawn(b, reef_with(Loose, .value = o.value), reef_tag(Awake));
        else o.e = reef_cmd_spawn(b, reef_with(Health, o.value, 2), reef_tag(Awake));
        break;
    case ORDER_SET: s = reef_cmd_set(b, o.e, Health, o.value, 1); break;
    case ORDER_CLONE: o.e = reef_cmd_clone(b, o.source); break;
    case ORDER_CREATE: o.e = reef_cmd_create(b); break;
    case ORDER_KINDS: break;
    }
    assert_ok(s);
    assert_some(o.e);
    if (o.kind == ORDER_SPAWN || o.kind == ORDER_CLONE || o.kind == ORDER_CREATE) p->known[p->known_count++] = o.e;
    p->orders[p->count++] = o;
}

/* The rows of a table in their order, or with two exchanged, or some of them. */
static void order_table(paper *p, reef_block *b, order o)
{
    const char *texts[] = {"with Position, !Mass, !Velocity, !Cargo, !Health", "with Mass", "with Velocity",
                           "with Cargo", "with Position"};
    reef_query q = reef_query_new(p->fork, texts[random_below(&p->seed, 5)]);
    reef_entity es[1500];
    uint32_t n = 0, most = 200 + random_below(&p->seed, 1300);
    reef_each(p->fork, q, row)
    {
        if (n == most) {
            reef_end(&row.block);
            break;
        }
        es[n++] = row.entity;
    }
    assert_ok(reef_query_free(p->fork, q));
    if (n > 2 && random_below(&p->seed, 3) == 0) {
        const uint32_t i = random_below(&p->seed, n), k = random_below(&p->seed, n);
        const reef_entity e = es[i];
        es[i] = es[k];
        es[k] = e;
    }
    for (uint32_t i = 0; i < n && p->count + 1 < ORDERS; i++) {
        o.e = es[i];
        give(p, b, o);
    }
}

static void order_some(paper *p, reef_block *b)
{
    order o = {.kind = (order_kind)random_below(&p->seed, ORDER_KINDS), .c = some_type(p)};
    if (o.kind < ORDER_ENABLE && random_below(&p->seed, 4) == 0) {
        order_table(p, b, o);
        return;
    }
    const uint32_t many = random_below(&p->seed, 2) ? 1 : random_below(&p->seed, 40);
    for (uint32_t i = 0; i < many && p->count + 1 < ORDERS; i++) {
        o.e = o.source = p->known[random_below(&p->seed, p->known_count)];
        o.value = (int)(o.kind == ORDER_SPAWN && many > 1 ? 3 * i + many % 3 : random_below(&p->seed, 100));
        give(p, b, o);
    }
}

/* One command, on the fork: its ids are pending there too. */
static reef_status obey(paper *p, const order *o)
{
    reef_world *f = p->fork;
    const Position at = {(float)o->value, 1};
    const Mass mass = {(double)o->value};
    const Cargo cargo = {{(uint8_t)o->value}};
    const Loose loose = {.value = o->value};
    reef_value first[] = {{reef_id(Position), REEF_VALUE_ONE, sizeof at, &at},
                          {reef_id(Mass), REEF_VALUE_ONE, sizeof mass, &mass}};
    reef_value second[] = {
        {reef_id(Cargo), REEF_VALUE_ONE, sizeof cargo, &cargo}, reef_tag(Frozen), reef_default(Velocity)};
    const Health health = {o->value, 2};
    reef_value third[] = {{reef_id(Loose), REEF_VALUE_ONE, sizeof loose, &loose}, reef_tag(Awake)};
    if (!p->hooks) third[0] = reef_value_make(reef_id(Health), REEF_VALUE_ONE, sizeof health, &health);
    reef_status s = REEF_OK;
    switch (o->kind) {
    case ORDER_ADD: return reef_add_id(f, o->e, o->c, NULL, NULL);
    case ORDER_REMOVE: return reef_remove_id(f, o->e, o->c);
    case ORDER_DESTROY: return reef_destroy(f, o->e);
    case ORDER_ENABLE: return reef_enable_id(f, o->e, o->c, true);
    case ORDER_DISABLE: return reef_enable_id(f, o->e, o->c, false);
    case ORDER_SPAWN:
        if (o->value % 3 == 0) return reef__spawn_pending(f, &o->e, 1, first, 2);
        return o->value % 3 == 1 ? reef__spawn_pending(f, &o->e, 1, second, 3)
                                 : reef__spawn_pending(f, &o->e, 1, third, 2);
    case ORDER_SET: return reef_set(f, o->e, Health, o->value, 1);
    case ORDER_CLONE:
        s = reef__clone_into(f, o->source, 1, NULL, &o->e);
        if (s < 0) assert_true(reef__id_unpend(f, o->e));
        return s;
    case ORDER_CREATE: return reef__spawn_pending(f, &o->e, 1, NULL, 0);
    case ORDER_KINDS: break;
    }
    return s;
}

static void record(paper *p)
{
    assert_true(reef__lanes_begin(p->w, JOBS));
    p->w->locks++;
    p->w->running = &reef__phase_running;
    for (uint32_t k = 0; k < JOBS; k++) {
        job *j = &p->jobs[k];
        *j = (job){.world = p->w,
                   .system = free_system(),
                   .number = k,
                   .by = {.ids = {.world = p->w, .lane = k, .lanes = JOBS}, .calls = &reef__job_recorder_calls}};
        reef_block b = {.world = p->w, .loop.job = j};
        for (uint32_t end = p->count + random_below(&p->seed, ORDERS / JOBS); p->count < end && p->count + 1 < ORDERS;)
            order_some(p, &b);
    }
    p->w->running = NULL;
    p->w->locks--;
}

static void join(paper *p, bool fork_too)
{
    uint32_t made[JOBS];
    for (uint32_t k = 0; k < JOBS; k++) made[k] = p->jobs[k].by.ids.made;
    assert_ok(reef__lanes_end(p->w, made, JOBS));
    if (fork_too) assert_ok(reef__lanes_end(p->fork, made, JOBS));
    for (uint32_t k = 0; k < JOBS; k++) reef__commands_append(&p->w->deferred, &p->jobs[k].commands);
    p->w->slow |= SLOW_DEFERRED;
    assert_int_equal(p->w->deferred.count, p->count);
}

static paper *paper_make(reef_world *w, uint64_t seed)
{
    paper *p = calloc(1, sizeof *p);
    assert_non_null(p);
    p->w = w;
    p->seed = seed;
    p->hooks = seed % 2 == 0;
    populate(p);
    return p;
}

static void assert_same_worlds(const paper *p)
{
    assert_valid(p->w);
    assert_valid(p->fork);
    assert_true(digest(p->w) == digest(p->fork));
    if (!p->hooks) assert_true(hash_anew(p->w) == hash_anew(p->fork));
    assert_int_equal(p->w->hot.index_count, p->fork->hot.index_count);
    for (uint32_t i = 0; i < 100; i++) assert_entity(reef__id_peek(p->fork, i), reef__id_peek(p->w, i));
}

static void compare_worlds(const paper *p, reef_status got, reef_error first)
{
    const reef_error last = reef_last_error(p->w);
    assert_int_equal(got, first.status);
    if (first.status != REEF_OK) {
        assert_string_equal(last.operation, first.operation);
        assert_entity(first.entity, last.entity);
        assert_int_equal(last.component.id, first.component.id);
        assert_string_equal(last.system, "mixed");
    }
    assert_same_worlds(p);
    assert_int_equal(rows_moved(p->w), rows_moved(p->fork));
    assert_int_equal(p->w->destroyed, p->fork->destroyed);
}

static void runs_are_their_commands_one_by_one(void **setup)
{
    for (uint64_t seed = 1; seed <= 30; seed++) {
        reef_world *w = another_world(setup, NULL);
        paper *p = paper_make(w, seed);
        reef_error first = {.status = REEF_OK};
        p->fork = reef_fork(w);
        moves_put(p->fork, rows_moved(w), w->destroyed);
        record(p);
        join(p, true);
        const reef_status got = reef__world_flush(w);
        for (uint32_t i = 0; i < p->count; i++)
            if (obey(p, &p->orders[i]) < 0 && first.status == REEF_OK) first = reef_last_error(p->fork);
        compare_worlds(p, got, first);
        reef_world_free(p->fork);
        end_world(setup, w);
        free(p);
    }
}

/* Memory that runs out in the middle, again and again: each flush goes on where the last one stopped. */
static void runs_that_stop_go_on_at_the_right_place(void **setup)
{
    uint32_t stopped = 0;
    for (uint64_t seed = 101; seed <= 110; seed++) {
        reef_world *w = another_world(setup, NULL);
        paper *p = paper_make(w, seed);
        p->fork = reef_fork(w);
        moves_put(p->fork, rows_moved(w), w->destroyed);
        record(p);
        join(p, true);
        for (uint32_t i = 0; i < p->count; i++) (void)obey(p, &p->orders[i]);
        for (uint64_t n = 1; w->deferred.count; n++) {
            heap_fail_nth(heap_of(setup), 1 + n % 3, true);
            const uint64_t left = w->deferred.count;
            const reef_status s = reef__world_flush(w);
            heap_fail_never(heap_of(setup));
            stopped += s == REEF_NO_MEMORY;
            if (s == REEF_NO_MEMORY) assert_string_equal(reef_last_error(w).system, "mixed");
            /* what fails at its first step needs some */
            if (s == REEF_NO_MEMORY && w->deferred.count == left && n % 4 == 0) {
                heap_fail_nth(heap_of(setup), 4 + n, true);
                (void)reef__world_flush(w);
                heap_fail_never(heap_of(setup));
            }
            assert_valid(w);
        }
        assert_same_worlds(p);
        reef_world_free(p->fork);
        end_world(setup, w);
        free(p);
    }
    assert_true(stopped > 20);
}

/* A buffer that is forgotten half done. */
static void runs_that_are_dropped_leave_nothing(void **setup)
{
    reef_world *w = another_world(setup, NULL);
    paper *p = paper_make(w, 77);
    reef_snapshot *before = reef_snapshot_take(w);
    p->fork = reef_fork(w);
    const uint64_t hash = hash_anew(w);
    record(p);
    join(p, false);
    heap_fail_nth(heap_of(setup), 3, true);
    assert_status(REEF_NO_MEMORY, reef__world_flush(w));
    heap_fail_never(heap_of(setup));
    assert_ok(reef_restore(w, before));
    assert_int_equal(w->deferred.count, 0);
    assert_true(hash_anew(w) == hash);
    assert_ok(reef_shrink(w));
    reef_snapshot_free(before);
    reef_world_free(p->fork);
    end_world(setup, w);
    free(p);
}

/* ---- whole tables ---- */

static void add_velocity(reef_block *b)
{
    for (uint32_t i = 0; i < b->count; i++) assert_ok(reef_cmd_add(b, b->entities[i], Velocity));
}
static void remove_velocity(reef_block *b)
{
    for (uint32_t i = 0; i < b->count; i++) assert_ok(reef_cmd_remove(b, b->entities[i], Velocity));
}
static void destroy_them(reef_block *b)
{
    for (uint32_t i = 0; i < b->count; i++) assert_ok(reef_cmd_destroy(b, b->entities[i]));
}

/* Blocks stay where they are: the table is done as a whole. */
static void a_run_over_a_whole_table_moves_no_row(void **setup)
{
    reef_world *w = world_of(setup);
    reef_entity first = {0, 0};
    for (int i = 0; i < 5000; i++) {
        reef_entity e = reef_spawn(w, reef_with(Position, (float)i, 0));
        if (i == 0) first = e;
        if (i % 7 == 0) assert_ok(reef_add(w, e, Awake));
    }
    const void *at = reef_get(w, first, Position);
    reef_world *fork = NULL;
    assert_ok(reef_system_once(
        w, &(reef_system_desc){.name = "a", .function = add_velocity, .text = "with Position; adds Velocity"}, 0));
    assert_valid(w);
    assert_ptr_equal(reef_get(w, first, Position), at);
    assert_int_equal(reef_count(w, Velocity), 5000);
    assert_int_equal(reef_count(w, Awake), 715);
    assert_ok(reef_system_once(
        w, &(reef_system_desc){.name = "r", .function = remove_velocity, .text = "with Position; removes Velocity"},
        0));
    assert_valid(w);
    assert_ptr_equal(reef_get(w, first, Position), at);
    assert_int_equal(reef_count(w, Velocity), 0);
    fork = reef_fork(w);
    assert_ok(reef_system_once(
        w, &(reef_system_desc){.name = "d", .function = destroy_them, .text = "with Position; destroys"}, 0));
    assert_valid(w);
    assert_int_equal(reef_count_alive(w), 0);
    assert_int_equal(reef_count_alive(fork), 5000);
    assert_int_equal(reef_create(w).index, 0); /* the first that died is the first that is used again */
    assert_valid(fork);
    reef_world_free(fork);
}

/* In loops that record it is the same. */
static void a_loop_that_records_does_whole_tables(void **setup)
{
    reef_world *w = world_of(setup);
    for (int i = 0; i < 3000; i++) reef_spawn(w, reef_with(Position, (float)i, 0));
    reef_query q = reef_query_new(w, "in Position");
    const reef_entity first = reef_query_first(w, q);
    const void *at = reef_get(w, first, Position);
    for (reef_block b = reef_begin_loop(w, q, &(reef_loop){.deferred = true}); reef_next(&b);)
        for (uint32_t i = 0; i < b.count; i++) {
            assert_ok(reef_add(w, b.entities[i], Mass));
            assert_some(reef_spawn(w, reef_with(Health, (int32_t)i, 2)));
        }
    assert_int_equal(reef_count(w, Mass), 3000);
    assert_int_equal(reef_count(w, Health), 3000);
    assert_true(reef_get(w, first, Position) != at); /* the runs were one long */
    for (reef_block b = reef_begin_loop(w, q, &(reef_loop){.deferred = true}); reef_next(&b);)
        for (uint32_t i = 0; i < b.count; i++) assert_ok(reef_remove(w, b.entities[i], Mass));
    assert_int_equal(reef_count(w, Mass), 0);
    assert_valid(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(runs_are_their_commands_one_by_one),    TEST(runs_that_stop_go_on_at_the_right_place),
        TEST(runs_that_are_dropped_leave_nothing),   TEST(a_run_over_a_whole_table_moves_no_row),
        TEST(a_loop_that_records_does_whole_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
