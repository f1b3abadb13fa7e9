/* Worlds: limits, memory, statistics, errors; nothing that one world does shows in another. */
#if !defined(_WIN32)
#define _POSIX_C_SOURCE 200809L
#endif
#include "support.h"

#if !defined(_WIN32)
#include <unistd.h>
#endif
#ifndef REEF_NO_THREADS
#include <pthread.h>
#endif

/* ---- making and ending ---- */

static void a_world_by_default_works(void **state)
{
    (void)state;
    reef_world *w = reef_world_new(NULL);
    assert_non_null(w);
    static reef_entity e[3000];
    for (uint32_t i = 0; i < 20; i++) { /* lists that grow */
        char name[16];
        snprintf(name, sizeof name, "own%u", (unsigned)i);
        reef_component c = reef_type_new(&(reef_type_desc){.name = name, .home = REEF_BIT}, NULL);
        assert_some(reef_spawn_values(w, (reef_value[]){{c, REEF_VALUE_DEFAULT, 0, NULL}}, 1));
    }
    assert_ok(
        reef_spawn_many(w, 200000, NULL, reef_with(Mass, 1), reef_with(Cargo, {1}))); /* pieces of several megabytes */
    assert_ok(reef_spawn_many(w, 3000, e, reef_with(Position, 1, 2), reef_with(Tracked, .value = 3), reef_tag(Awake)));
    assert_ok(reef_set_name(w, e[7], "seven"));
    assert_query(reef_query_new(w, "Position"));
    for (int i = 0; i < 3000; i += 2) assert_ok(reef_destroy(w, e[i]));
    assert_valid(w);
    reef_world_free(w);
    reef_world_free(NULL);
    assert_int_equal(book.live, 0);
}

static void a_new_world_is_empty(void **state)
{
    reef_world *w = world_of(state);
    reef_stats s = reef_world_stats(w);
    assert_int_equal(s.entities + s.entities_empty + s.indices + s.free_ids + s.tables + s.blocks + s.names, 0);
    assert_int_equal(s.spawned + s.destroyed + s.moved, 0);
    assert_int_equal(reef_count_alive(w), 0);
    reef_error e = reef_last_error(w);
    assert_int_equal(e.status, REEF_OK);
    assert_string_equal(e.operation, "");
    assert_valid(w);
}

static void a_config_out_of_range_makes_no_world(void **state)
{
    reef_allocator a = heap_allocator(heap_of(state));
    assert_null(reef_world_new(&(reef_world_config){.allocator = a, .entities_max = UINT32_MAX}));
    reef_world *w = reef_world_new(&(reef_world_config){.allocator = a, .entities_max = UINT32_MAX - 1});
    assert_non_null(w);
    reef_world_free(w);
    w = reef_world_new(&(reef_world_config){.allocator = a, .entities_max = 1});
    assert_some(reef_create(w));
    assert_none(reef_create(w));
    reef_world_free(w);
}

/* ---- E3: open and strict ---- */

static void a_strict_world_knows_what_it_was_told(void **state)
{
    reef_world *w = another_world(state, &(reef_world_config){.strict = true});
    reef_entity e = reef_create(w);
    Position p = {1, 2};
    char text[200];
    assert_refused(w, REEF_UNKNOWN_TYPE, reef_set_id(w, e, reef_id(Position), &p, sizeof p));
    reef_error_text(w, text, sizeof text);
    assert_non_null(strstr(text, "Position"));
    assert_int_equal(reef_last_error(w).component.id, reef_id(Position).id);
    assert_refused(w, REEF_UNKNOWN_TYPE, reef_add(w, e, Frozen));
    assert_refused(w, REEF_UNKNOWN_TYPE, reef_add(w, e, Awake));
    assert_refused(w, REEF_UNKNOWN_TYPE, reef_change(w, e, reef_with(Position, 1, 2)));
    assert_no_entity(w, REEF_UNKNOWN_TYPE, reef_spawn(w, reef_with(Position, 1, 2)));
    assert_no_pointer(w, REEF_UNKNOWN_TYPE, reef_ensure(w, e, Position));
    assert_no_query(w, REEF_UNKNOWN_TYPE, reef_query_new(w, "Position"));
    assert_false(reef_has(w, e, Position));
    assert_int_equal(reef_count(w, Position), 0);
    assert_ok(reef_use(w, Position));
    assert_ok(reef_use(w, Position));
    assert_ok(reef_use(w, Awake));
    assert_status(REEF_ADDED, reef_set(w, e, Position, 1, 2));
    assert_ok(reef_add(w, e, Awake));
    assert_refused(w, REEF_UNKNOWN_TYPE, reef_add(w, e, Frozen));
    assert_refused(w, REEF_UNKNOWN_TYPE, reef_world_use(w, (reef_component){0}));
    assert_refused(w, REEF_UNKNOWN_TYPE, reef_world_use(w, (reef_component){UINT32_MAX}));
    assert_ok(reef_world_clear(w));
    assert_some(reef_spawn(w, reef_with(Position, 1, 2))); /* what it was told stays */
    reef_world *open = world_of(state);
    assert_ok(reef_use(open, Frozen));
    assert_some(reef_spawn(open, reef_tag(Hungry)));
}

typedef struct reader {
    const reef_world *w;
    reef_entity e;
    reef_component unused;
    uint64_t wrong;
} reader;

static void *read_unused(void *context)
{
    reader *r = context;
    for (int i = 0; i < 2000; i++) {
        if (reef_has_id(r->w, r->e, r->unused) || reef_get_id(r->w, r->e, r->unused)) r->wrong++;
        if (reef_count_id(r->w, r->unused) || reef_has(r->w, r->e, Velocity)) r->wrong++;
        if (reef_get(r->w, r->e, Velocity) || reef_get(r->w, r->e, Position)->x != 1) r->wrong++;
        Velocity v = {7, 7};
        if (reef_get_many(r->w, Velocity, &r->e, 1, &v) || v.x != 7) r->wrong++;
    }
    return NULL;
}

static void reading_unused_types_creates_nothing_on_any_thread(void **state)
{
    reef_world *w = world_of(state);
    reader r[4];
    reef_entity e = reef_spawn(w, reef_with(Position, 1, 2));
    /* a type that is there gets an index of its blocks by reading */
    for (int i = 0; i < 100; i++) assert_position(w, e, 1, 2);
    uint64_t calls = heap_of(state)->calls;
    reef_stats before = reef_world_stats(w);
    for (uint32_t i = 0; i < 4; i++) r[i] = (reader){w, e, numbered_type("unused", i, 8, 4), 0};
#ifndef REEF_NO_THREADS
    pthread_t thread[4];
    for (int i = 0; i < 4; i++) assert_int_equal(pthread_create(&thread[i], NULL, read_unused, &r[i]), 0);
    for (int i = 0; i < 4; i++) pthread_join(thread[i], NULL);
#else
    for (int i = 0; i < 4; i++) read_unused(&r[i]);
#endif
    for (int i = 0; i < 4; i++) assert_int_equal(r[i].wrong, 0);
    reef_stats after = reef_world_stats(w);
    assert_int_equal(heap_of(state)->calls, calls);
    assert_memory_equal(&before, &after, sizeof before);
}

/* ---- A11: two worlds ---- */

static void two_worlds_never_disturb_each_other(void **state)
{
    reef_world *w = world_of(state), *v = another_world(state, NULL);
    reef_entity e[300], f[300];
    reef_query q = reef_query_new(v, "Position");
    for (int i = 0; i < 300; i++) {
        f[i] = reef_spawn(v, reef_with(Position, (float)i, 1), reef_tag(Hungry));
        if (i % 2) assert_ok(reef_add(v, f[i], Awake));
    }
    assert_ok(reef_set_name(v, f[1], "mine"));
    uint64_t before = digest(v), matches = reef_query_count(w, q);
    for (int i = 0; i < 300; i++) {
        e[i] = reef_spawn(w, reef_with(Mass, i), reef_with(Position, 0, 0), reef_tag(Frozen));
        if (i % 3) assert_ok(reef_add(w, e[i], Awake));
        if (i % 5 == 0) assert_ok(reef_destroy(w, e[i]));
    }
    assert_ok(reef_set_name(w, e[1], "mine"));
    assert_ok(remove_everywhere(w, reef_id(Position), NULL));
    assert_ok(reef_shrink(w));
    reef_block b = reef_begin(w, reef_query_new(w, "Mass")); /* an open loop locks its own world only */
    assert_status(REEF_OK, reef_set(v, f[0], Position, 0, 1));
    assert_some(reef_create(another_world(state, NULL)));
    reef_end(&b);
    assert_ok(reef_world_clear(w));
    assert_int_equal(reef_query_count(w, q), matches);
    assert_int_equal(reef_last_error(v).status, REEF_OK);
    assert_status(REEF_NOT_ALIVE, reef_destroy(w, (reef_entity){0}));
    assert_int_equal(reef_last_error(v).status, REEF_OK);
    end_world(state, w);
    for (int i = 0; i < 300; i++) assert_position(v, f[i], (float)i, 1);
    assert_entity(f[1], reef_find(v, "mine"));
    assert_true(digest(v) == before);
}

/* ---- errors ---- */

static void the_error_record_says_everything(void **state)
{
    reef_world *w = world_of(state);
    char text[300], part[8];
    reef_entity e = reef_spawn(w, reef_with(Position, 1, 2));
    assert_ok(reef_set_name(w, e, "nemo"));
    assert_status(REEF_ABSENT, reef_remove(w, e, Mass));
    reef_error r = reef_last_error(w);
    assert_int_equal(r.status, REEF_ABSENT);
    assert_int_equal(r.component.id, reef_id(Mass).id);
    assert_entity(e, r.entity);
    size_t length = reef_error_text(w, text, sizeof text);
    assert_int_equal(length, strlen(text));
    assert_non_null(strstr(text, "remove"));
    assert_non_null(strstr(text, "Mass"));
    assert_non_null(strstr(text, "nemo"));
    assert_non_null(strstr(text, reef_status_text(REEF_ABSENT)));
    memset(part, 'x', sizeof part);
    assert_int_equal(reef_error_text(w, part, sizeof part), length);
    assert_int_equal(strlen(part), sizeof part - 1);
    assert_memory_equal(part, text, sizeof part - 1);
    assert_int_equal(reef_error_text(w, NULL, 0), length);
    Position p = {1, 2};
    assert_status(REEF_WRONG_SIZE, reef_set_id(w, e, reef_id(Position), &p, 5));
    assert_int_equal(reef_last_error(w).number, 5);
    reef_error_text(w, text, sizeof text);
    assert_non_null(strstr(text, "5"));
    assert_non_null(strstr(text, "8 wanted"));
    assert_true(reef_query_is_null(reef_query_new(w, "Position,,")));
    reef_error_text(w, text, sizeof text);
    assert_non_null(strstr(text, "column 10"));
    assert_status(REEF_WRONG_SIZE, reef_set_id(w, e, reef_id(Position), &p, 5));
    (void)reef_has(w, e, Mass);
    (void)reef_get(w, e, Mass);
    assert_int_equal(reef_last_error(w).status, REEF_WRONG_SIZE); /* reading records nothing */
}

static void move_on(reef_block *b) { (void)b; }

static void fail_once(reef_block *b)
{
    static bool failed;
    if (!failed) (void)reef_remove(b->world, b->entities[0], Mass);
    failed = true;
}

static void what_succeeds_leaves_the_text_of_the_last_failure(void **state)
{
    reef_world *w = world_of(state);
    char first[300], text[300];
    reef_error_text(w, text, sizeof text);
    assert_string_equal(text, "ok");
    const reef_entity e = reef_spawn(w, reef_with(Position, 1, 2));
    assert_status(REEF_ABSENT, reef_remove(w, e, Mass));
    reef_error_text(w, first, sizeof first);
    assert_non_null(strstr(first, "Mass"));
    assert_status(REEF_ADDED, reef_set(w, e, Mass, 3));
    const reef_query q = reef_query_new(w, "Position");
    reef_each(w, q, row) assert_entity(e, row.entity);
    assert_int_equal(reef_last_error(w).status, REEF_OK);
    assert_string_equal(reef_last_error(w).operation, "");
    assert_int_equal(reef_last_error(w).component.id, 0);
    assert_false(reef_system_is_null(reef_system_add(w, "move_on", move_on, "Position")));
    for (int i = 0; i < 3; i++) {
        reef_error_text(w, text, sizeof text);
        assert_string_equal(text, first);
        assert_ok(reef_tick(w, 0.1f));
        assert_int_equal(reef_last_error(w).status, REEF_OK);
        assert_int_equal(reef_query_count(w, q), 1);
    }
    assert_ok(reef_remove(w, e, Mass));
    assert_status(REEF_ABSENT, reef_remove(w, e, Mass));
    assert_ok(reef_destroy(w, e)); /* whose name would be in the text */
    assert_status(REEF_NOT_ALIVE, reef_destroy(w, e));
    reef_error_text(w, first, sizeof first);
    assert_non_null(strstr(first, "destroy"));
    (void)reef_spawn(w, reef_with(Position, 1, 2));
    assert_false(reef_system_is_null(reef_system_add(w, "fail_once", fail_once, "Position")));
    assert_ok(reef_tick(w, 0.1f)); /* a failure of a system is one of the world */
    assert_int_equal(reef_last_error(w).status, REEF_LOCKED);
    reef_error_text(w, first, sizeof first);
    assert_non_null(strstr(first, reef_status_text(REEF_LOCKED)));
    assert_ok(reef_tick(w, 0.1f));
    assert_int_equal(reef_last_error(w).status, REEF_OK);
    reef_error_text(w, text, sizeof text);
    assert_string_equal(text, first);
}

static void every_status_has_a_name_and_a_text(void **state)
{
    (void)state;
#define X(status, number, words) \
    assert_int_equal(REEF_##status, number); \
    assert_string_equal(reef_status_name(REEF_##status), #status); \
    assert_string_equal(reef_status_text(REEF_##status), words);
    REEF_STATUSES(X)
#undef X
    assert_string_equal(reef_status_text((reef_status)-99), "unknown status");
    assert_string_equal(reef_status_text((reef_status)2), "unknown status");
    assert_string_equal(reef_status_name((reef_status)2), "unknown status");
}

typedef struct heard {
    int logs, misuses;
    reef_status status;
    char message[300];
} heard;

static void hear_log(void *context, reef_log_level level, const char *message)
{
    heard *h = context;
    (void)level;
    h->logs++;
    snprintf(h->message, sizeof h->message, "%s", message);
}

static void hear_misuse(void *context, reef_status status, const char *message)
{
    heard *h = context;
    h->misuses++;
    h->status = status;
    snprintf(h->message, sizeof h->message, "%s", message);
}

static void the_checked_build_reports_every_mistake_of_the_caller(void **state)
{
    heard with = {0}, without = {0};
    reef_world *w =
        another_world(state, &(reef_world_config){.log = hear_log, .misuse = hear_misuse, .context = &with});
    reef_world *v = another_world(state, &(reef_world_config){.log = hear_log, .context = &without});
    assert_status(REEF_NOT_ALIVE, reef_destroy(w, (reef_entity){3, 3}));
    assert_status(REEF_NOT_ALIVE, reef_destroy(v, (reef_entity){3, 3}));
    assert_int_equal(with.logs, 0);
    assert_int_equal(without.misuses, 0);
#ifdef REEF_CHECKED
    char text[300];
    reef_error_text(w, text, sizeof text);
    assert_int_equal(with.misuses, 1);
    assert_int_equal(with.status, REEF_NOT_ALIVE);
    assert_string_equal(with.message, text);
    assert_int_equal(without.logs, 1);
    assert_string_equal(without.message, text);
#else
    assert_int_equal(with.misuses + without.logs, 0);
#endif
}

/* ---- nothing on stdout ---- */

#if !defined(_WIN32)
static void busy_life(reef_world *w)
{
    static reef_entity e[1500];
    char message[100];
    assert_ok(reef_spawn_many(w, 1500, e, reef_with(Position, 1, 2), reef_with(Tracked, .value = 1)));
    for (int i = 0; i < 1500; i += 2) assert_ok(reef_destroy(w, e[i]));
    (void)reef_destroy(w, e[0]);
    (void)reef_query_new(w, "Nobody, ?");
    (void)reef_set_name(w, e[1], "..");
    (void)reef_type_new(&(reef_type_desc){.name = "Position", .size = 3}, NULL);
    (void)reef_validate(w, message, sizeof message);
    (void)reef_shrink(w);
    (void)reef_world_stats(w);
}

static void nothing_is_written_to_stdout(void **state)
{
    FILE *caught = tmpfile();
    fflush(stdout);
    int out = dup(STDOUT_FILENO);
    assert_true(caught != NULL && out >= 0);
    dup2(fileno(caught), STDOUT_FILENO);
    reef_world *w = reef_world_new(NULL);
    busy_life(w);
    reef_world_free(w);
    busy_life(world_of(state));
    heap_of(state)->limit = 1;
    reef_entity none = {0};
    for (int i = 0; i < 100000 && (i == 0 || !reef_entity_is_null(none)); i++) none = reef_create(world_of(state));
    heap_of(state)->limit = 0;
    fflush(stdout);
    dup2(out, STDOUT_FILENO);
    close(out);
    fseek(caught, 0, SEEK_END);
    assert_int_equal(ftell(caught), 0);
    fclose(caught);
    assert_none(none);
}
#endif

/* ---- statistics ---- */

static void statistics_count_what_is_there(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[20];
    for (int i = 0; i < 20; i++) e[i] = i < 12 ? reef_spawn(w, reef_with(Position, 1, 2)) : reef_create(w);
    for (int i = 0; i < 6; i++) assert_ok(reef_add(w, e[i], Mass));
    assert_ok(reef_add(w, e[0], Awake));
    assert_ok(reef_set_name(w, e[3], "three"));
    for (int i = 10; i < 15; i++) assert_ok(reef_destroy(w, e[i]));
    reef_stats s = reef_world_stats(w);
    assert_int_equal(s.entities, 15);
    assert_int_equal(s.entities_empty, 5);
    assert_int_equal(s.indices, 20);
    assert_int_equal(s.free_ids, 5);
    assert_int_equal(s.tables, 2);
    assert_true(s.tables_known >= 2);
    assert_int_equal(s.blocks, 2);
    assert_int_equal(s.types, 3);
    assert_int_equal(s.names, 1);
    assert_int_equal(s.spawned, 20);
    assert_int_equal(s.destroyed, 5);
    assert_int_equal(s.moved, 6);
    assert_int_equal(s.bytes_total, heap_of(state)->bytes);
    assert_true(s.bytes_rows > 0 && s.bytes_index > 0 && s.bytes_tables > 0 && s.bytes_names > 0 && s.bytes_bits > 0);
    assert_true(s.bytes_rows + s.bytes_index + s.bytes_tables + s.bytes_names + s.bytes_bits + s.bytes_spare <=
                s.bytes_total);
}

/* ---- H3: reserve, allocations in steady use, alignment ---- */

static void after_reserve_making_entities_allocates_nothing(void **state)
{
    enum { N = 5000 };
    reef_world *w = world_of(state);
    heap *h = heap_of(state);
    reef_component set[] = {reef_id(Position), reef_id(Velocity), reef_id(Hungry)};
    reef_entity e[40];
    assert_ok(reef_reserve(w, N));
    uint64_t calls = h->calls;
    for (int i = 0; i < N; i++) assert_some(reef_create(w));
    assert_int_equal(h->calls, calls);
    assert_ok(reef_world_clear(w));
    assert_ok(reef_reserve_for(w, N, set, 3));
    assert_int_equal(reef_count_alive(w), 0);
    assert_valid(w);
    calls = h->calls;
    for (int i = 0; i < N - 40; i++)
        assert_some(reef_spawn(w, reef_with(Position, 1, 2), reef_with(Velocity, 3, 4), reef_tag(Hungry)));
    assert_ok(reef_spawn_many(w, 40, e, reef_with(Position, 1, 2), reef_with(Velocity, 3, 4), reef_tag(Hungry)));
    assert_int_equal(h->calls, calls);
}

static void steady_step(reef_world *w, reef_query q)
{
    reef_entity e[64];
    for (int i = 0; i < 64; i++) {
        e[i] = reef_spawn(w, reef_with(Position, 1, 2), reef_with(Velocity, 3, 4));
        assert_ok(reef_add(w, e[i], Frozen));
        assert_status(REEF_ADDED, reef_set(w, e[i], Mass, 1));
        assert_ok(reef_add(w, e[i], Awake));
    }
    for (reef_block b = reef_begin(w, q); reef_next(&b);)
        for (uint32_t i = 0; i < b.count; i++) reef_inout(&b, Position)[i].x += reef_in(&b, Velocity)[i].x;
    for (int i = 0; i < 64; i++) {
        assert_ok(reef_remove(w, e[i], Frozen));
        if (i % 2) assert_ok(reef_remove(w, e[i], Awake));
        assert_ok(reef_destroy(w, e[i]));
    }
}

static void a_steady_loop_allocates_nothing(void **state)
{
    reef_world *w = world_of(state);
    reef_query q = reef_query_new(w, "Position, in Velocity");
    assert_ok(reef_reserve(w, 1000));
    for (int i = 0; i < 500; i++) reef_spawn(w, reef_with(Position, 1, 2), reef_with(Velocity, 3, 4));
    steady_step(w, q);
    uint64_t calls = heap_of(state)->calls;
    for (int i = 0; i < 1000; i++) steady_step(w, q);
    assert_int_equal(heap_of(state)->calls, calls);
}

static void bullets_allocate_nothing_after_the_first_round(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[100];
    uint64_t calls = 0;
    for (int round = 0; round < 10000; round++) {
        for (int i = 0; i < 100; i++)
            e[i] = reef_spawn(w, reef_with(Position, 1, 2), reef_with(Velocity, 3, 4), reef_tag(Hungry));
        for (int i = 0; i < 100; i++) assert_ok(reef_destroy(w, e[i]));
        if (round == 0) calls = heap_of(state)->calls;
    }
    assert_int_equal(heap_of(state)->calls, calls);
}

/* Their ids fill several pages of the ring of free ids, from another position on in each round. */
static void many_bullets_allocate_nothing_after_the_first_round(void **state)
{
    static reef_entity e[4000];
    for (uint32_t n = 3500; n <= 4000; n += 100) {
        reef_world *w = another_world(state, NULL);
        uint64_t calls = 0;
        for (int round = 0; round < 40; round++) {
            assert_ok(reef_spawn_many(w, n, e, reef_with(Position, 1, 2), reef_with(Velocity, 3, 4)));
            for (uint32_t i = 0; i < n; i++) assert_ok(reef_destroy(w, e[i]));
            if (round == 0) calls = heap_of(state)->calls;
        }
        assert_int_equal(heap_of(state)->calls, calls);
        end_world(state, w);
    }
}

static void bullets(reef_world *w, int made, int ended, const reef_bundle *bundle, reef_entity first)
{
    enum { BULLETS = 50 };
    struct {
        Position p;
        Velocity v;
    } packed = {{1, 2}, {3, 4}};
    reef_entity e[BULLETS];
    for (int i = 0; i < BULLETS; i++) {
        if (made == 0) e[i] = reef_spawn(w, reef_with(Position, 1, 2), reef_with(Velocity, 3, 4));
        if (made == 1) e[i] = reef_spawn_bundle(w, bundle, &packed);
        if (made == 2) e[i] = reef_clone(w, first);
    }
    if (made == 3) assert_ok(reef_clone_many(w, first, BULLETS, e));
    if (made == 4) assert_ok(reef_spawn_many(w, BULLETS, e, reef_with(Position, 1, 2), reef_with(Velocity, 3, 4)));
    for (int i = 0; i < BULLETS && ended == 0; i++) assert_ok(reef_destroy(w, e[i]));
    if (ended == 1) assert_int_equal(reef_destroy_many(w, e, BULLETS), BULLETS);
}

/* However they are made and ended. */
static void bullets_of_every_make_allocate_nothing(void **state)
{
    static const char *const makes[] = {"spawn", "bundle", "clone", "clone_many", "spawn_many"};
    for (int made = 0; made < 5; made++)
        for (int ended = 0; ended < 2; ended++) {
            reef_world *w = another_world(state, NULL);
            reef_bundle_part parts[] = {{reef_id(Position), 0}, {reef_id(Velocity), sizeof(Position)}};
            reef_bundle *bundle = reef_bundle_new(w, parts, 2);
            reef_entity first = reef_spawn(w, reef_with(Position, 1, 2), reef_with(Velocity, 3, 4));
            bullets(w, made, ended, bundle, first);
            uint64_t calls = heap_of(state)->calls;
            for (int i = 0; i < 300; i++) bullets(w, made, ended, bundle, first);
            if (heap_of(state)->calls != calls) fail_msg("made by %s: it allocates", makes[made]);
            end_world(state, w);
        }
}

static void replacing_values_with_hooks_allocates_nothing(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e = reef_spawn(w, reef_with(Tracked, .value = 1), reef_with(Mass, 1), reef_tag(Awake));
    assert_ok(reef_set(w, e, Tracked, .value = 2));
    uint64_t calls = heap_of(state)->calls;
    for (int i = 0; i < 100; i++) {
        assert_ok(reef_set(w, e, Tracked, .value = i));
        assert_ok(reef_change(w, e, reef_with(Tracked, .value = i), reef_with(Mass, i)));
    }
    assert_int_equal(heap_of(state)->calls, calls);
    assert_int_equal(reef_get(w, e, Tracked)->value, 99);
}

static void the_allocator_is_asked_for_the_alignment_of_the_types(void **state)
{
    reef_world *w = world_of(state);
    for (uint32_t align = 1; align <= REEF_ALIGN_MAX; align *= 2) {
        reef_component c = numbered_type("aligned", align, align * 3, align);
        for (int i = 0; i < 40; i++) {
            reef_entity e = reef_create(w);
            void *p = reef_ensure_id(w, e, c, NULL);
            assert_int_equal((uintptr_t)p % align, 0);
            memset(p, 7, align * 3);
            assert_ok(reef_add(w, e, Frozen));
            assert_int_equal((uintptr_t)reef_get_id(w, e, c) % align, 0);
            assert_int_equal(((const char *)reef_get_id(w, e, c))[align * 3 - 1], 7);
        }
    }
    assert_true(heap_of(state)->largest_align <= REEF_ALIGN_MAX);
}

/* ---- E8: memory comes back ---- */

static void shrink_gives_memory_back_and_changes_nothing(void **state)
{
    enum { N = 300000 };
    reef_world *w = world_of(state);
    heap *h = heap_of(state);
    reef_entity *e = malloc(N * sizeof *e);
    uint64_t empty = h->bytes;
    assert_ok(reef_spawn_many(w, N, e, reef_with(Position, 1, 2), reef_with(Cargo, {1}), reef_tag(Awake)));
    for (int i = 0; i < N; i += 3) assert_ok(reef_add(w, e[i], Frozen));
    uint64_t full = h->bytes, rows = reef_world_stats(w).bytes_rows;
    for (int i = 0; i < N; i++)
        if (i % 100) assert_ok(reef_destroy(w, e[i]));
    assert_true(reef_world_stats(w).bytes_rows < rows / 2); /* chunks of a table that shrank aren't kept */
    uint64_t before = digest(w);
    assert_ok(reef_shrink(w));
    assert_valid(w);
    assert_true(digest(w) == before);
    assert_true(h->bytes < full / 4 * 3); /* whole pieces only: few rows that live on hold some */
    assert_int_equal(h->bytes, reef_world_stats(w).bytes_total);
    for (int i = 0; i < N; i += 100) assert_position(w, e[i], 1, 2);
    assert_ok(reef_world_clear(w));
    assert_ok(reef_shrink(w));
    assert_true(h->bytes < empty + (full - empty) / 2); /* the handles' generations stay, and the free ids */
    assert_true(reef_world_stats(w).bytes_spare < 6u << 20);
    assert_ok(reef_shrink(w));
    assert_some(reef_spawn(w, reef_with(Position, 1, 2), reef_with(Cargo, {1})));
    free(e);
}

static void a_table_that_swings_around_a_chunks_edge_does_not_allocate(void **state)
{
    reef_world *w = world_of(state);
    assert_ok(reef_spawn_many(w, 1023, NULL, reef_with(Position, 1, 2)));
    uint64_t calls = 0;
    for (int i = 0; i < 1000; i++) {
        reef_entity e[3];
        for (int k = 0; k < 3; k++) e[k] = reef_spawn(w, reef_with(Position, 1, 2));
        for (int k = 0; k < 3; k++) assert_ok(reef_destroy(w, e[k]));
        if (i == 0) calls = heap_of(state)->calls;
    }
    assert_int_equal(heap_of(state)->calls, calls);
}

static void empty_tables_are_kept_and_can_be_reclaimed(void **state)
{
    reef_world *w = world_of(state);
    for (uint32_t i = 0; i < 300; i++) {
        reef_value v = reef_value_make(numbered_type("kept", i, 64, 4), REEF_VALUE_DEFAULT, 0, NULL);
        assert_ok(reef_destroy(w, reef_spawn_values(w, &v, 1)));
    }
    reef_stats before = reef_world_stats(w);
    assert_int_equal(before.tables, 0);
    assert_true(before.tables_known >= 300);
    uint64_t calls = heap_of(state)->calls;
    for (uint32_t i = 0; i < 300; i++) {
        reef_value v = reef_value_make(numbered_type("kept", i, 64, 4), REEF_VALUE_DEFAULT, 0, NULL);
        assert_ok(reef_destroy(w, reef_spawn_values(w, &v, 1)));
    }
    assert_int_equal(heap_of(state)->calls, calls);
    assert_ok(reef_shrink(w));
    assert_int_equal(reef_world_stats(w).bytes_rows, 0);
    reef_value v = reef_value_make(numbered_type("kept", 7, 64, 4), REEF_VALUE_DEFAULT, 0, NULL);
    assert_some(reef_spawn_values(w, &v, 1));
}

/* Where the next block of a column doesn't lie behind this one, what the processor fetches ahead is lost: at most at
 * `most` places. */
static void columns_of_a_growing_world_lie_in_few_runs(void **state)
{
    static const struct {
        uint32_t rows, most;
    } world[] = {{4096, 2}, {20000, 3}, {48000, 3}, {200000, 6}};
    (void)state;
    for (size_t k = 0; k < sizeof world / sizeof *world; k++) {
        uint32_t gaps[2] = {0, 0};
        const Position *p = NULL;
        const Velocity *v = NULL;
        reef_world *w = reef_world_new(NULL);
        for (uint32_t i = 0; i < world[k].rows; i++)
            assert_some(reef_spawn(w, reef_with(Position, 1, 2), reef_with(Velocity, 3, 4)));
        reef_query q = reef_query_new(w, "in Position, in Velocity");
        for (reef_block b = reef_begin(w, q); reef_next(&b); p = reef_in(&b, Position), v = reef_in(&b, Velocity)) {
            gaps[0] += p && reef_in(&b, Position) != p + REEF_BLOCK_ROWS;
            gaps[1] += v && reef_in(&b, Velocity) != v + REEF_BLOCK_ROWS;
        }
        assert_in_range(gaps[0], 0, world[k].most); /* two of them where the first blocks come from a small piece */
        assert_in_range(gaps[1], 0, world[k].most);
        reef_world_free(w);
    }
}

static void a_worlds_memory_has_a_bound_that_is_respected(void **state)
{
    reef_world *w = world_of(state);
    heap *h = heap_of(state);
    h->limit = h->bytes + (4u << 20);
    uint32_t made = 0;
    while (made < 1000000 && !reef_entity_is_null(reef_spawn(w, reef_with(Cargo, {1}), reef_with(Position, 1, 2))))
        made++;
    assert_true(made > 1000 && made < 1000000);
    assert_int_equal(reef_last_error(w).status, REEF_NO_MEMORY);
    assert_int_equal(reef_count_alive(w), made);
    assert_valid(w);
    h->limit += 4u << 20; /* free ids have to be kept somewhere */
    assert_ok(DESTROY_EVERYWHERE(w, reef_id(Cargo)));
    assert_some(reef_spawn(w, reef_with(Cargo, {1}), reef_with(Position, 1, 2)));
    h->limit = 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_world_by_default_works),
        TEST(a_new_world_is_empty),
        TEST(a_config_out_of_range_makes_no_world),
        TEST(a_strict_world_knows_what_it_was_told),
        TEST(reading_unused_types_creates_nothing_on_any_thread),
        TEST(two_worlds_never_disturb_each_other),
        TEST(the_error_record_says_everything),
        TEST(what_succeeds_leaves_the_text_of_the_last_failure),
        TEST(every_status_has_a_name_and_a_text),
        TEST(the_checked_build_reports_every_mistake_of_the_caller),
#if !defined(_WIN32)
        TEST(nothing_is_written_to_stdout),
#endif
        TEST(statistics_count_what_is_there),
        TEST(after_reserve_making_entities_allocates_nothing),
        TEST(a_steady_loop_allocates_nothing),
        TEST(bullets_allocate_nothing_after_the_first_round),
        TEST(many_bullets_allocate_nothing_after_the_first_round),
        TEST(bullets_of_every_make_allocate_nothing),
        TEST(replacing_values_with_hooks_allocates_nothing),
        TEST(the_allocator_is_asked_for_the_alignment_of_the_types),
        TEST(shrink_gives_memory_back_and_changes_nothing),
        TEST(a_table_that_swings_around_a_chunks_edge_does_not_allocate),
        TEST(empty_tables_are_kept_and_can_be_reclaimed),
        TEST(columns_of_a_growing_world_lie_in_few_runs),
        TEST(a_worlds_memory_has_a_bound_that_is_respected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
