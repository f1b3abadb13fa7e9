/* Freeing a world is refused while it is in use: in an open loop, and in every function of the user that a call on the
 * world has called. Nothing is freed then, the last error is LOCKED, and the checked build reports the misuse. */
#include "support.h"

typedef struct {
    int32_t points;
} Score;
typedef struct {
    int32_t value;
} Keyed;
REEF_COMPONENT(Score);
REEF_FIELDS(Score, points);
REEF_COMPONENT(Keyed);

static reef_world *used;
static uint32_t tries, reports;

/* Tries to free the world, as all functions below do. */
static void try_to_free(void)
{
    reef_world_free(used);
    tries++;
}

static void report(void *context, reef_status status, const char *message)
{
    (void)context;
    assert_int_equal(status, REEF_LOCKED);
    assert_non_null(strstr(message, "reef_world_free"));
    reports++;
}

static void begin(void **state)
{
    used = another_world(state, &(reef_world_config){.misuse = report});
    for (int32_t i = 0; i < 3; i++) assert_some(reef_spawn(used, reef_with(Score, i), reef_with(Keyed, i)));
    tries = reports = 0;
}

static void end(void **state)
{
    assert_int_not_equal(tries, 0);
    assert_int_equal(reef_count_alive(used), 3);
    assert_int_equal(reef_last_error(used).status, REEF_LOCKED);
    assert_string_equal(reef_last_error(used).operation, "reef_world_free");
#if defined(REEF_CHECKED)
    assert_int_equal(reports, tries);
#endif
    end_world(state, used); /* now it is freed: the fixture looks for leaks */
}

static void a_world_in_a_loop_is_not_freed(void **state)
{
    static const reef_loop loops[] = {{0}, {.deferred = true}};
    for (uint32_t k = 0; k < 2; k++) {
        begin(state);
        const reef_query q = reef_query_new(used, "Score");
        for (reef_block b = reef_begin_loop(used, q, &loops[k]); reef_next(&b);) try_to_free();
        end(state);
    }
}

static void free_told(const reef_notice *n)
{
    (void)n;
    try_to_free();
}

static void a_world_is_not_freed_by_an_observer(void **state)
{
    begin(state);
    const reef_entity e = reef_entity_at(used, 0);
    assert_false(reef_observer_is_null(reef_observe(used, free_told, REEF_ON_REMOVE | REEF_ON_ADD, Keyed)));
    const reef_observer_desc later = {
        .name = "later", .function = free_told, .events = REEF_ON_SET, .component = reef_id(Score), .collected = true};
    assert_false(reef_observer_is_null(reef_observer_new(used, &later)));
    (void)reef_remove(used, e, Keyed);
    (void)reef_add(used, e, Keyed); /* the fast path */
    (void)reef_remove(used, e, Keyed);
    (void)reef_add(used, e, Keyed);
    (void)reef_set(used, e, Score, 7);
    assert_int_equal(tries, 5);
    end(state);
}

static void free_block(reef_block *b)
{
    (void)b;
    try_to_free();
}

static bool free_condition(const reef_world *w, void *context)
{
    (void)w, (void)context;
    try_to_free();
    return false;
}

static void a_world_is_not_freed_by_a_tick(void **state)
{
    for (uint32_t k = 0; k < 4; k++) {
        begin(state);
        const reef_system_desc plain = {.name = "plain", .function = free_block, .text = "Score"};
        const reef_system_desc commands = {.name = "commands", .function = free_block, .text = "Score; removes Keyed"};
        const reef_system_desc never = {
            .name = "never", .function = free_block, .text = "Score", .condition = free_condition};
        if (k == 0) assert_false(reef_system_is_null(reef_system_new(used, &plain)));
        if (k == 1) assert_false(reef_system_is_null(reef_system_new(used, &commands)));
        if (k == 2) assert_false(reef_system_is_null(reef_system_new(used, &never)));
        if (k == 3) (void)reef_system_once(used, &plain, 0);
        else (void)reef_tick(used, 0);
        const uint32_t first = tries;
        if (k != 3) (void)reef_tick_phase(used, "update", 0);
        assert_int_equal(tries, k == 3 ? first : 2 * first);
        end(state);
    }
}

static void free_context(void *context)
{
    (void)context;
    try_to_free();
}

static void a_world_is_not_freed_by_what_frees_a_context(void **state)
{
    begin(state);
    const reef_system_desc desc = {
        .name = "held", .function = free_block, .text = "Score", .context = &tries, .context_free = free_context};
    const reef_system_id s = reef_system_new(used, &desc);
    assert_ok(reef_system_remove(used, s));
    end(state);
}

static reef_status free_step(void *context, reef_world *w, uint64_t tick, const void *input, size_t bytes)
{
    (void)context, (void)w, (void)tick, (void)input, (void)bytes;
    try_to_free();
    return REEF_OK;
}

static void a_world_is_not_freed_by_a_step(void **state)
{
    begin(state);
    assert_ok(reef_synctest(used, &(reef_synctest_config){.ticks = 2, .distance = 1, .step = free_step}, NULL));
    end(state);
    begin(state);
    reef_history *h = reef_history_new(used, &(reef_history_config){.ticks = 2, .step = free_step});
    assert_non_null(h);
    assert_ok(reef_history_step(h, NULL, 0));
    reef_history_free(h);
    end(state);
}

static bool free_visit(void *context, reef_entity e, reef_component type, const void *data, size_t size)
{
    (void)context, (void)e, (void)type, (void)data, (void)size;
    try_to_free();
    return true;
}

static bool free_table(void *context, const reef_component *types, uint32_t count, uint64_t rows)
{
    (void)context, (void)types, (void)count, (void)rows;
    try_to_free();
    return true;
}

static bool free_part(void *context, const reef_hash_part *part)
{
    (void)context, (void)part;
    try_to_free();
    return true;
}

static bool free_system(void *context, const reef_system_info *system)
{
    (void)context, (void)system;
    try_to_free();
    return true;
}

static void a_world_is_not_freed_by_a_visitor(void **state)
{
    begin(state);
    assert_false(reef_system_is_null(reef_system(used, free_block, "Score")));
    assert_true(reef_visit_entities(used, free_visit, NULL));
    assert_int_equal(tries, 3);
    assert_true(reef_visit_entity(used, reef_entity_at(used, 0), free_visit, NULL));
    assert_int_equal(tries, 5);
    assert_true(reef_visit_tables(used, free_table, NULL));
    assert_int_equal(tries, 6);
    assert_true(reef_visit_systems(used, free_system, NULL));
    assert_int_equal(tries, 7);
    assert_int_not_equal(reef_hash_parts(used, free_part, NULL), 0);
    end(state);
}

static uint64_t free_key(const void *value)
{
    try_to_free();
    return (uint64_t)((const Keyed *)value)->value;
}

static void a_world_is_not_freed_by_the_key_of_an_order(void **state)
{
    begin(state);
    assert_ok(reef_sort_storage(used, &(reef_sort){.order = {.component = reef_id(Keyed), .key = free_key}}));
    end(state);
}

static reef_status free_write(void *context, const void *bytes, size_t count)
{
    (void)context, (void)bytes, (void)count;
    try_to_free();
    return REEF_OK;
}

static bool free_progress(void *context, uint64_t done, uint64_t all)
{
    (void)context, (void)done, (void)all;
    try_to_free();
    return true;
}

static void a_world_is_not_freed_while_it_is_written_or_read(void **state)
{
    begin(state);
    const reef_save_desc raw = {.raw = true, .progress = free_progress};
    assert_ok(reef_save_to(used, (reef_writer){.write = free_write}, &raw));
    const uint32_t saved = tries;
    reef_bytes bytes = {0};
    assert_ok(reef_save_bytes(used, &bytes, &(reef_save_desc){.raw = true}));
    assert_int_equal(tries, saved);
    assert_ok(reef_load_bytes(used, bytes.data, bytes.size, &(reef_load_desc){.progress = free_progress}));
    assert_true(tries > saved);
    reef_bytes_free(&bytes);
    end(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_world_in_a_loop_is_not_freed),
        TEST(a_world_is_not_freed_by_an_observer),
        TEST(a_world_is_not_freed_by_a_tick),
        TEST(a_world_is_not_freed_by_what_frees_a_context),
        TEST(a_world_is_not_freed_by_a_step),
        TEST(a_world_is_not_freed_by_a_visitor),
        TEST(a_world_is_not_freed_by_the_key_of_an_order),
        TEST(a_world_is_not_freed_while_it_is_written_or_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
