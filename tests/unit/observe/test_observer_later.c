/* Observers over time (F3): collected ones, flushes, systems on several threads, forks and snapshots, what is there
 * already, limits. */
#include "support.h"

typedef struct heard {
    const char *who;
    reef_observed kind;
    reef_entity entity;
    int32_t now, old;
    bool existing;
} heard;

static struct {
    heard at[40000];
    uint32_t count, calls;
    uint64_t sum;
} tape;

static int32_t first_bytes(const void *p)
{
    int32_t x = -1;
    if (p) memcpy(&x, p, sizeof x);
    return x;
}

static void hear(const reef_notice *n)
{
    tape.calls++;
    for (uint32_t i = 0; i < n->count; i++) {
        assert_true(tape.count < sizeof tape.at / sizeof tape.at[0]);
        const heard h = {n->context,
                         n->kind,
                         n->entities[i],
                         first_bytes(reef_notice_value(n, i)),
                         first_bytes(reef_notice_old(n, i)),
                         n->existing};
        tape.at[tape.count++] = h;
        tape.sum = (tape.sum ^ reef_entity_bits(h.entity)) * 0x100000001B3u + (uint64_t)h.kind * 31 +
                   (uint32_t)h.now * 7u + (uint32_t)h.old;
    }
}

static void assert_heard_at(uint32_t i, const char *who, reef_observed kind, reef_entity e, int32_t now, int32_t old,
                            int line)
{
    if (i >= tape.count) fail_msg("line %d: number %u wasn't heard, %u were", line, (unsigned)i, (unsigned)tape.count);
    const heard *h = &tape.at[i];
    if (strcmp(h->who, who) != 0 || h->kind != kind || !reef_entity_equal(h->entity, e) || h->now != now ||
        h->old != old)
        fail_msg("line %d: number %u: %s kind %d entity %uv%u now %d old %d", line, (unsigned)i, h->who, (int)h->kind,
                 (unsigned)h->entity.index, (unsigned)h->entity.generation, (int)h->now, (int)h->old);
}
#define assert_heard(i, who, kind, e, now, old) assert_heard_at(i, who, kind, e, now, old, __LINE__)

static void begin(void) { memset(&tape, 0, sizeof tape); }

enum { ALL = REEF_ON_ADD | REEF_ON_SET | REEF_ON_REMOVE | REEF_ON_DESTROY };

static reef_observer_id listen(reef_world *w, const char *name, uint32_t events, reef_component c, bool collected)
{
    return reef_observer_new(w, &(reef_observer_desc){.name = name,
                                                      .function = hear,
                                                      .events = events,
                                                      .component = c,
                                                      .collected = collected,
                                                      .context = (void *)(uintptr_t)name});
}

static reef_observer_id listen_match(reef_world *w, const char *name, const char *text, bool collected)
{
    return reef_observer_new(w, &(reef_observer_desc){.name = name,
                                                      .function = hear,
                                                      .text = text,
                                                      .collected = collected,
                                                      .events = REEF_ON_MATCH | REEF_ON_UNMATCH,
                                                      .context = (void *)(uintptr_t)name});
}

/* ---- a base and its subtype on one entity ---- */

typedef struct {
    int32_t speed;
} Swims;
typedef struct {
    Swims base;
    int32_t fins;
} SwimsFast, SwimsCold;
REEF_COMPONENT(Swims);
REEF_SUBTYPE(SwimsFast, Swims);
REEF_SUBTYPE_IN(SwimsCold, Swims, REEF_SPARSE);

/* The subtype is there all the time; both kinds of observers hear of what happens to the base alone. */
static void base_beside(reef_world *w, bool collected, bool stored)
{
    const SwimsFast fast = {{1}, 2};
    const reef_component sub = stored ? reef_id(SwimsCold) : reef_id(SwimsFast);
    const reef_entity e = reef_spawn(w, reef_with(Mass, 1));
    assert_status(REEF_ADDED, reef_set_id(w, e, sub, &fast, sizeof fast));
    const char *who = collected ? "later" : "now";
    const reef_observer_id o = listen(w, who, REEF_ON_ADD | REEF_ON_SET | REEF_ON_REMOVE, reef_id(Swims), collected);
    begin();
    assert_status(REEF_ADDED, reef_set(w, e, Swims, 7));
    assert_ok(reef_set(w, e, Swims, 8));
    assert_ok(reef_remove(w, e, Swims));
    assert_ok(reef_add(w, e, Swims));
    assert_ok(reef_change(w, e, reef_without(Swims), reef_with(Mass, 2)));
    assert_heard(0, who, REEF_ON_ADD, e, 7, -1);
    assert_heard(1, who, REEF_ON_SET, e, 8, 7);
    assert_heard(2, who, REEF_ON_REMOVE, e, -1, 8);
    assert_heard(3, who, REEF_ON_ADD, e, 0, -1);
    assert_heard(4, who, REEF_ON_REMOVE, e, -1, 0);
    assert_int_equal(tape.count, 5);
    begin();
    const reef_query q = reef_query_new(w, "Mass");
    reef_block b = reef_begin_loop(w, q, &(reef_loop){.deferred = true});
    (void)reef_set(w, e, Swims, 9); /* comes and goes in one loop */
    assert_ok(reef_remove(w, e, Swims));
    reef_end(&b);
    if (!collected) {
        assert_heard(0, who, REEF_ON_ADD, e, 9, -1);
        assert_heard(1, who, REEF_ON_REMOVE, e, -1, 9);
    }
    assert_int_equal(tape.count, collected ? 0 : 2);
    begin();
    assert_ok(reef_remove(w, e, Swims)); /* the only subtype, which is another type */
    assert_false(reef_has(w, e, Swims));
    assert_ok(reef_destroy(w, e));
    assert_int_equal(tape.count, 0);
    assert_ok(reef_observer_remove(w, o));
    assert_ok(reef_query_free(w, q));
}

static void observers_of_a_base_hear_of_the_base_alone(void **state)
{
    for (int i = 0; i < 4; i++) base_beside(world_of(state), i & 1, i & 2);
}

/* ---- collected ---- */

static void collected_observers_hear_the_net_effect_of_a_loop(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[6];
    begin();
    for (int i = 0; i < 6; i++) e[i] = reef_spawn(w, reef_with(Position, 1, 2));
    for (int i = 0; i < 3; i++) assert_status(REEF_ADDED, reef_set(w, e[i], Health, 10 + i, 0));
    listen(w, "later", ALL, reef_id(Health), true);
    listen(w, "dead", REEF_ON_DESTROY, (reef_component){0}, true);
    listen_match(w, "match", "Health, Position", true);
    const reef_query q = reef_query_new(w, "Position");
    reef_entity born = {0, 0};
    bool once = false;
    for (reef_block b = reef_begin_loop(w, q, &(reef_loop){.deferred = true}); reef_next(&b);) {
        if (once) continue;
        once = true;
        assert_ok(reef_remove(w, e[0], Health)); /* gone */
        assert_ok(reef_remove(w, e[1], Health)); /* replaced in the end */
        assert_ok(reef_add(w, e[1], Health));
        assert_ok(reef_set(w, e[2], Health, 22, 0)); /* done at once: it is there */
        assert_ok(reef_add(w, e[3], Health));        /* nothing in the end */
        assert_ok(reef_remove(w, e[3], Health));
        assert_ok(reef_set(w, e[4], Health, 24, 0)); /* new */
        assert_ok(reef_set(w, e[4], Health, 25, 0));
        born = reef_spawn(w, reef_with(Health, 1, 1)); /* never was */
        assert_ok(reef_destroy(w, born));
        assert_ok(reef_destroy(w, e[5]));
        assert_int_equal(tape.count, 0);
    }
    assert_heard(0, "later", REEF_ON_REMOVE, e[0], -1, 10);
    assert_heard(1, "later", REEF_ON_ADD, e[4], 25, -1);
    assert_heard(2, "later", REEF_ON_SET, e[2], 22, 12);
    assert_heard(3, "later", REEF_ON_SET, e[1], 0, 11);
    assert_heard(4, "dead", REEF_ON_DESTROY, e[5], -1, -1);
    assert_heard(5, "match", REEF_ON_UNMATCH, e[0], -1, -1);
    assert_heard(6, "match", REEF_ON_MATCH, e[4], -1, -1);
    assert_int_equal(tape.count, 7);
    assert_int_equal(tape.calls, 6);
}

static void outside_of_flushes_each_call_is_its_own(void **state)
{
    reef_world *w = world_of(state);
    begin();
    listen(w, "later", ALL, reef_id(Health), true);
    listen(w, "now", ALL, reef_id(Health), false);
    const reef_entity e = reef_create(w);
    assert_ok(reef_add(w, e, Health));
    assert_ok(reef_set(w, e, Health, 1, 1));
    const reef_query q = reef_query_new(w, "Health");
    for (reef_block b = reef_begin(w, q); reef_next(&b);) { /* a loop that records nothing */
        assert_ok(reef_set(w, e, Health, 2, 1));
        assert_int_equal(tape.count, 6);
    }
    assert_ok(reef_destroy(w, e));
    assert_heard(0, "now", REEF_ON_ADD, e, 0, -1);
    assert_heard(1, "later", REEF_ON_ADD, e, 0, -1);
    assert_heard(2, "now", REEF_ON_SET, e, 1, 0);
    assert_heard(3, "later", REEF_ON_SET, e, 1, 0);
    assert_heard(4, "now", REEF_ON_SET, e, 2, 1);
    assert_heard(5, "later", REEF_ON_SET, e, 2, 1);
    assert_heard(6, "now", REEF_ON_REMOVE, e, -1, 2);
    assert_heard(7, "now", REEF_ON_DESTROY, e, -1, 2);
    assert_heard(8, "later", REEF_ON_REMOVE, e, -1, 2);
    assert_heard(9, "later", REEF_ON_DESTROY, e, -1, 2);
}

static void values_of_hooks_later(const reef_notice *n)
{
    hear(n);
    for (uint32_t i = 0; i < n->count; i++)
        if (n->kind == REEF_ON_REMOVE)
            assert_some(reef_spawn(n->world, reef_with(Tracked, .value = reef_was(n, Tracked, i)->value + 100)));
}

static void collected_values_with_hooks_end_with_the_flush(void **state)
{
    reef_world *w = world_of(state);
    begin();
    assert_false(reef_observer_is_null(
        reef_observer_new(w, &(reef_observer_desc){.name = "later",
                                                   .function = values_of_hooks_later,
                                                   .context = "later",
                                                   .events = REEF_ON_ADD | REEF_ON_SET | REEF_ON_REMOVE,
                                                   .component = reef_id(Tracked),
                                                   .collected = true})));
    reef_entity e[40];
    for (int i = 0; i < 40; i++) e[i] = reef_spawn(w, reef_with(Tracked, .value = i), reef_tag(Frozen));
    begin();
    const reef_query q = reef_query_new(w, "Frozen");
    assert_ok(reef_destroy_where(w, q, NULL));
    assert_int_equal(tape.count, 80);
    for (int i = 0; i < 40; i++) assert_heard((uint32_t)i, "later", REEF_ON_REMOVE, e[i], -1, i);
    for (int i = 0; i < 40; i++) assert_int_equal(tape.at[40 + i].now, 100 + i);
    assert_int_equal(reef_count(w, Tracked), 40);
}

/* ---- systems ---- */

static void hurt(reef_block *b)
{
    Health *h = reef_inout(b, Health);
    for (uint32_t i = 0; i < b->count; i++) {
        const reef_entity e = b->entities[i];
        h[i].now--;
        if (h[i].now % 3 == 0) reef_cmd_add(b, e, Frozen);
        if (h[i].now % 3 == 1) reef_cmd_remove(b, e, Frozen);
        if (h[i].now < 0 && e.index % 5 == 0) reef_cmd_destroy(b, e);
        if (h[i].now == 2) reef_cmd_spawn(b, reef_with(Health, (int32_t)(e.index % 7), 7), reef_tag(Hungry));
        if (h[i].now == 1) reef_cmd_set(b, e, Mass, (double)e.index);
        if (h[i].now == 0) reef_cmd_disable(b, e);
    }
}

static void thaw(const reef_notice *n)
{
    hear(n);
    for (uint32_t i = 0; i < n->count; i++) {
        const reef_entity e = n->entities[i];
        if (e.index % 2) (void)reef_set(n->world, e, Mass, 5);
        if (e.index % 11 == 0 && reef_has(n->world, e, Health)) assert_ok(reef_set(n->world, e, Health, 9, 9));
        if (e.index % 13 == 0) assert_some(reef_spawn(n->world, reef_with(Health, 4, 4)));
    }
}

static void observers_of_ticks(reef_world *w)
{
    reef_system(w, hurt, "Health; adds Frozen, removes Frozen, destroys, spawns, adds Mass, enables");
    const reef_observer_desc thaws = {.name = "thaw",
                                      .function = thaw,
                                      .events = REEF_ON_ADD | REEF_ON_REMOVE,
                                      .component = reef_id(Frozen),
                                      .context = "thaw"};
    assert_false(reef_observer_is_null(reef_observer_new(w, &thaws)));
    listen(w, "mass", ALL, reef_id(Mass), false);
    listen(w, "health", ALL, reef_id(Health), true);
    listen_match(w, "match", "Health, !Frozen, Mass", true);
    listen_match(w, "now", "Health, Frozen", false);
}

static void run_ticks(void **state, uint32_t threads, uint64_t *hash, uint64_t *sum, uint32_t *count)
{
    reef_world *w = another_world(state, NULL);
    reef_pool *pool = threads > 1 ? reef_pool_new(&(reef_pool_config){.threads = threads}) : NULL;
    if (pool) assert_ok(reef_set_pool(w, pool));
    begin();
    for (int i = 0; i < 2500; i++) assert_some(reef_spawn(w, reef_with(Health, i % 6, 6)));
    observers_of_ticks(w);
    for (int i = 0; i < 6; i++) {
        assert_ok(reef_tick(w, 0.1f));
        assert_valid(w);
    }
    *hash = reef_hash(w);
    *sum = tape.sum;
    *count = tape.count;
    end_world(state, w);
    if (pool) reef_pool_free(pool);
}

static void ticks_tell_the_same_on_any_number_of_threads(void **state)
{
    uint64_t hash[3], sum[3];
    uint32_t count[3];
    for (uint32_t i = 0; i < 3; i++) run_ticks(state, 1 + i, &hash[i], &sum[i], &count[i]);
    assert_true(count[0] > 1000);
    for (uint32_t i = 1; i < 3; i++) {
        assert_true(hash[i] == hash[0]);
        assert_true(sum[i] == sum[0]);
        assert_int_equal(count[i], count[0]);
    }
}

/* ---- forks, snapshots ---- */

static uint32_t freed;
static void free_context(void *context)
{
    assert_string_equal(context, "mine");
    freed++;
}

static void forks_and_snapshots_have_observers(void **state)
{
    reef_world *w = world_of(state);
    begin();
    freed = 0;
    const reef_observer_desc desc = {.name = "o",
                                     .function = hear,
                                     .events = ALL,
                                     .component = reef_id(Health),
                                     .context = (void *)(uintptr_t) "mine",
                                     .context_free = free_context};
    const reef_observer_id o = reef_observer_new(w, &desc);
    listen_match(w, "m", "Health, Position", false);
    const reef_entity e = reef_spawn(w, reef_with(Position, 1, 2));
    reef_snapshot *s = reef_snapshot_take(w);
    reef_world *fork = reef_fork(w);
    assert_ok(reef_observer_remove(w, o));
    assert_int_equal(freed, 0);
    assert_ok(reef_add(w, e, Health));
    assert_heard(0, "m", REEF_ON_MATCH, e, -1, -1);
    assert_int_equal(tape.count, 1);
    assert_ok(reef_add(fork, e, Health));
    assert_heard(1, "mine", REEF_ON_ADD, e, 0, -1);
    assert_heard(2, "m", REEF_ON_MATCH, e, -1, -1);
    const reef_observer_id there = reef_observer_find(fork, "o");
    assert_string_equal(reef_observer_name(fork, there), "o");
    assert_true(there.index == o.index && there.generation == o.generation && there.world == o.world);
    const reef_observer_id late = listen_match(w, "late", "Health, Position", false);
    assert_status(REEF_OTHER_WORLD, reef_observer_remove(fork, late));
    assert_ok(reef_observer_remove(w, late));
    assert_ok(reef_observer_remove(fork, o));
    assert_status(REEF_NOT_ALIVE, reef_observer_remove(fork, there));
    assert_null(reef_observer_name(fork, there));
    assert_valid(fork);
    reef_world_free(fork);
    assert_int_equal(freed, 0);
    begin();
    assert_ok(reef_restore(w, s)); /* nobody is told; the schedule stays */
    assert_int_equal(tape.count, 0);
    assert_false(reef_has(w, e, Health));
    reef_world *other = reef_snapshot_fork(s);
    reef_snapshot_free(s);
    assert_ok(reef_add(other, e, Health));
    assert_int_equal(tape.count, 2);
    assert_heard(0, "mine", REEF_ON_ADD, e, 0, -1);
    assert_int_equal(freed, 0);
    reef_world_free(other);
    assert_int_equal(freed, 1);
}

/* A fork shares everything: values that go are told of from blocks that aren't its own yet. */
static void observers_of_shared_values(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[50];
    begin();
    for (int i = 0; i < 50; i++) e[i] = reef_spawn(w, reef_with(Tracked, .value = i), reef_with(Health, i, i));
    listen(w, "t", ALL, reef_id(Tracked), false);
    listen(w, "h", ALL, reef_id(Health), true);
    reef_world *fork = reef_fork(w);
    const uint64_t hash = reef_hash(w);
    for (int i = 0; i < 50; i++) {
        assert_ok(reef_set(fork, e[i], Health, i + 1, 0));
        assert_ok(reef_remove(fork, e[i], Tracked));
        assert_heard(2 * (uint32_t)i, "h", REEF_ON_SET, e[i], i + 1, i);
        assert_heard(2 * (uint32_t)i + 1, "t", REEF_ON_REMOVE, e[i], -1, i);
    }
    assert_true(reef_hash(w) == hash);
    assert_valid(fork);
    reef_world_free(fork);
}

/* ---- what is there already ---- */

static void mark(const reef_notice *n)
{
    hear(n);
    for (uint32_t i = 0; i < n->count; i++) assert_ok(reef_add(n->world, n->entities[i], Hungry));
}

static void what_exists_is_told_by_block_on_request(void **state)
{
    reef_world *w = world_of(state);
    static reef_entity e[1500];
    begin();
    for (int i = 0; i < 1500; i++) {
        e[i] = reef_spawn(w, reef_with(Health, i, i));
        if (i % 500 == 3) assert_ok(reef_add(w, e[i], Frozen));
        if (i % 500 == 4) assert_ok(reef_disable(w, e[i]));
    }
    reef_observer_desc desc = {.name = "o",
                               .function = mark,
                               .events = REEF_ON_ADD,
                               .component = reef_id(Health),
                               .existing = true,
                               .context = "o"};
    assert_false(reef_observer_is_null(reef_observer_new(w, &desc)));
    assert_int_equal(tape.count, 1500); /* disabled ones as well: they have it */
    assert_int_equal(tape.calls, 3);
    assert_true(tape.at[0].existing);
    assert_heard(0, "o", REEF_ON_ADD, e[3], 3, -1); /* tables in the visible order */
    assert_heard(3, "o", REEF_ON_ADD, e[0], 0, -1);
    assert_heard(1499, "o", REEF_ON_ADD, e[1499], 1499, -1);
    assert_int_equal(reef_count(w, Hungry), 1500);
    begin();
    desc = (reef_observer_desc){.name = "m",
                                .function = hear,
                                .events = REEF_ON_MATCH,
                                .text = "Health, !Frozen",
                                .existing = true,
                                .context = "m"};
    assert_false(reef_observer_is_null(reef_observer_new(w, &desc)));
    assert_int_equal(tape.count, 1494);
    desc = (reef_observer_desc){.name = "s",
                                .function = hear,
                                .events = REEF_ON_ADD,
                                .component = reef_id(Awake),
                                .existing = true,
                                .context = "s"};
    assert_ok(reef_add(w, e[7], Awake));
    begin();
    assert_false(reef_observer_is_null(reef_observer_new(w, &desc)));
    assert_heard(0, "s", REEF_ON_ADD, e[7], -1, -1);
    assert_int_equal(tape.count, 1);
}

/* ---- refusals and limits ---- */

static void refuse(reef_world *w, reef_status wanted, const reef_observer_desc *desc)
{
    assert_true(reef_observer_is_null(reef_observer_new(w, desc)));
    assert_int_equal(reef_last_error(w).status, wanted);
    assert_string_equal(reef_last_error(w).operation, "reef_observer_new");
    assert_valid(w);
}

static void wrong_observers_are_refused(void **state)
{
    reef_world *w = world_of(state);
    const reef_component none = {0}, health = reef_id(Health);
    const reef_query_desc in_struct = {.text = "Health"};
    assert_true(reef_observer_is_null(reef_observer_new(
        NULL, &(reef_observer_desc){.name = "o", .function = hear, .events = REEF_ON_ADD, .component = health})));
    refuse(w, REEF_BAD_ARGUMENT, NULL);
    refuse(w, REEF_BAD_ARGUMENT, &(reef_observer_desc){.name = "o", .events = REEF_ON_ADD, .component = health});
    refuse(w, REEF_BAD_ARGUMENT, &(reef_observer_desc){.function = hear, .events = REEF_ON_ADD, .component = health});
    refuse(w, REEF_BAD_ARGUMENT,
           &(reef_observer_desc){.name = "a b", .function = hear, .events = REEF_ON_ADD, .component = health});
    refuse(w, REEF_BAD_ARGUMENT, &(reef_observer_desc){.name = "o", .function = hear, .component = health});
    refuse(w, REEF_BAD_ARGUMENT,
           &(reef_observer_desc){.name = "o", .function = hear, .events = 64, .component = health});
    refuse(w, REEF_BAD_ARGUMENT,
           &(reef_observer_desc){.name = "o", .function = hear, .events = REEF_ON_ADD, .component = none});
    refuse(w, REEF_BAD_ARGUMENT,
           &(reef_observer_desc){
               .name = "o", .function = hear, .events = REEF_ON_ADD | REEF_ON_MATCH, .component = health});
    refuse(w, REEF_BAD_ARGUMENT, &(reef_observer_desc){.name = "o", .function = hear, .events = REEF_ON_MATCH});
    refuse(w, REEF_BAD_ARGUMENT,
           &(reef_observer_desc){
               .name = "o", .function = hear, .events = REEF_ON_ADD, .component = health, .text = "Health"});
    refuse(w, REEF_BAD_ARGUMENT,
           &(reef_observer_desc){
               .name = "o", .function = hear, .events = REEF_ON_MATCH, .component = health, .text = "Health"});
    refuse(w, REEF_BAD_ARGUMENT,
           &(reef_observer_desc){
               .name = "o", .function = hear, .events = REEF_ON_MATCH, .query = &in_struct, .text = "Health"});
    refuse(w, REEF_BAD_ARGUMENT,
           &(reef_observer_desc){
               .name = "o", .function = hear, .events = REEF_ON_SET, .component = health, .existing = true});
    refuse(w, REEF_BAD_ARGUMENT,
           &(reef_observer_desc){.name = "o", .function = hear, .events = REEF_ON_MATCH, .text = "changed Health"});
    refuse(w, REEF_BAD_TEXT,
           &(reef_observer_desc){.name = "o", .function = hear, .events = REEF_ON_MATCH, .text = "Health,"});
    refuse(w, REEF_UNKNOWN_TYPE,
           &(reef_observer_desc){.name = "o", .function = hear, .events = REEF_ON_ADD, .component = {60000}});
    assert_false(reef_observer_is_null(listen(w, "o", REEF_ON_ADD, health, false)));
    refuse(w, REEF_EXISTS,
           &(reef_observer_desc){.name = "o", .function = hear, .events = REEF_ON_ADD, .component = health});
    assert_status(REEF_NOT_ALIVE, reef_observer_remove(w, (reef_observer_id){0, 0, 0}));
    assert_status(REEF_BAD_ARGUMENT, reef_observer_remove(NULL, (reef_observer_id){0, 0, 0}));
    assert_true(reef_observer_is_null(reef_observer_find(w, "nobody")));
    assert_true(reef_observer_is_null(reef_observer_find(NULL, "o")));
    assert_true(reef_observer_is_null(reef_observer_find(w, NULL)));
    const reef_entity e = reef_spawn(w, reef_with(Position, 1, 1));
    (void)e;
    for (reef_block b = reef_begin_text(w, "Position"); reef_next(&b);) {
        refuse(w, REEF_LOCKED,
               &(reef_observer_desc){.name = "p", .function = hear, .events = REEF_ON_ADD, .component = health});
        assert_status(REEF_LOCKED, reef_observer_remove(w, reef_observer_find(w, "o")));
    }
}

static void the_number_of_observers_is_limited(void **state)
{
    reef_world *w = world_of(state);
    char name[16];
    begin();
    for (int i = 0; i < REEF_OBSERVERS_MAX; i++) {
        snprintf(name, sizeof name, "o%d", i);
        assert_false(reef_observer_is_null(reef_observer_new(
            w,
            &(reef_observer_desc){
                .name = name, .function = hear, .events = REEF_ON_ADD, .component = reef_id(Health), .context = "o"})));
    }
    refuse(w, REEF_LIMIT,
           &(reef_observer_desc){
               .name = "one_more", .function = hear, .events = REEF_ON_ADD, .component = reef_id(Health)});
    const reef_entity e = reef_create(w);
    assert_ok(reef_add(w, e, Health));
    assert_int_equal(tape.count, REEF_OBSERVERS_MAX);
    const reef_observer_id third = reef_observer_find(w, "o3");
    assert_ok(reef_observer_remove(w, third));
    const reef_observer_id fresh = listen(w, "again", REEF_ON_ADD, reef_id(Health), false);
    assert_int_equal(fresh.index, third.index);
    assert_true(fresh.generation != third.generation);
    assert_status(REEF_NOT_ALIVE, reef_observer_remove(w, third));
}

/* ---- flushes ---- */

static void runs_of_commands_over_whole_tables_are_told(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[300];
    begin();
    assert_ok(reef_spawn_many(w, 300, e, reef_with(Position, 1, 2)));
    listen(w, "frozen", ALL, reef_id(Frozen), false);
    const reef_query q = reef_query_new(w, "Position");
    for (int what = 0; what < 3; what++) {
        reef_block b = reef_begin_loop(w, q, &(reef_loop){.deferred = true});
        for (int i = 0; i < 300; i++) {
            if (what == 0) assert_ok(reef_add(w, e[i], Frozen));
            else if (what == 1) assert_ok(reef_remove(w, e[i], Frozen));
            else assert_ok(reef_add(w, e[i], Frozen)), assert_ok(reef_destroy(w, e[i]));
        }
        reef_end(&b);
    }
    assert_int_equal(tape.count, 300 * 5);
    for (uint32_t i = 0; i < 300; i++) {
        assert_heard(i, "frozen", REEF_ON_ADD, e[i], -1, -1);
        assert_heard(300 + i, "frozen", REEF_ON_REMOVE, e[i], -1, -1);
    }
}

/* A command's own cascade comes before the next command. */
static void adds_hungry(const reef_notice *n)
{
    hear(n);
    for (uint32_t i = 0; i < n->count; i++) (void)reef_add(n->world, n->entities[i], Hungry);
}

static void a_cascade_follows_its_command(void **state)
{
    reef_world *w = world_of(state);
    begin();
    const reef_observer_desc d = {
        .name = "f", .function = adds_hungry, .events = REEF_ON_ADD, .component = reef_id(Frozen), .context = "f"};
    assert_false(reef_observer_is_null(reef_observer_new(w, &d)));
    listen(w, "h", REEF_ON_ADD, reef_id(Hungry), false);
    listen(w, "later", REEF_ON_ADD, reef_id(Hungry), true);
    const reef_entity a = reef_spawn(w, reef_with(Position, 1, 1)), b = reef_spawn(w, reef_with(Position, 1, 1));
    const reef_query q = reef_query_new(w, "Position");
    reef_block k = reef_begin_loop(w, q, &(reef_loop){.deferred = true});
    assert_ok(reef_add(w, a, Frozen));
    assert_ok(reef_add(w, a, Hungry)); /* EXISTS when it is done */
    assert_ok(reef_add(w, b, Frozen));
    reef_end(&k);
    assert_heard(0, "f", REEF_ON_ADD, a, -1, -1);
    assert_heard(1, "h", REEF_ON_ADD, a, -1, -1);
    assert_heard(2, "f", REEF_ON_ADD, b, -1, -1);
    assert_heard(3, "h", REEF_ON_ADD, b, -1, -1);
    assert_heard(4, "later", REEF_ON_ADD, a, -1, -1);
    assert_heard(5, "later", REEF_ON_ADD, b, -1, -1);
    assert_int_equal(tape.count, 6);
    assert_int_equal(reef_last_error(w).status, REEF_EXISTS);
}

/* A call that does its work by another one, such as reef_single_set, lends it its name. Observers run in its midst, and
 * what they call has names of its own. */
static reef_error failed_in_observer[2];
static void fails_twice(const reef_notice *n)
{
    assert_int_equal(reef_destroy(n->world, (reef_entity){999, 1}), REEF_NOT_ALIVE);
    failed_in_observer[0] = reef_last_error(n->world);
    assert_int_equal(reef_world_clear(n->world), REEF_LOCKED);
    failed_in_observer[1] = reef_last_error(n->world);
}

static void calls_of_observers_have_their_own_names(void **state)
{
    reef_world *w = world_of(state);
    begin();
    reef_observe(w, fails_twice, REEF_ON_ADD, Position);
    assert_int_equal(reef_single_set(w, Position, 1, 2), REEF_ADDED);
    assert_string_equal(failed_in_observer[0].operation, "reef_destroy");
    assert_string_equal(failed_in_observer[1].operation, "reef_world_clear");
    assert_string_equal(failed_in_observer[1].system, "fails_twice");
    assert_string_equal(reef_last_error(w).operation, "reef_destroy"); /* the first one */
}

static void adds_twice(const reef_notice *n)
{
    (void)reef_add(n->world, n->entities[0], Hungry);
    (void)reef_add(n->world, n->entities[0], Hungry); /* EXISTS when it is done */
}

static void requests_of_observers_have_their_own_names(void **state)
{
    reef_world *w = world_of(state);
    begin();
    reef_observe(w, adds_twice, REEF_ON_ADD, Position);
    assert_int_equal(reef_single_set(w, Position, 1, 2), REEF_ADDED);
    assert_int_equal(reef_last_error(w).status, REEF_EXISTS);
    assert_string_equal(reef_last_error(w).operation, "reef_add");
    assert_int_equal(reef_single_remove(w, Swims), REEF_ABSENT); /* and the call has its name again */
    assert_string_equal(reef_last_error(w).operation, "reef_single_remove");
}

static uint32_t asked, granted_entities, granted_sets;
static void asks_for_much(const reef_notice *n)
{
    for (uint32_t i = 0; i < n->count; i++) {
        asked++;
        for (int k = 0; k < 40; k++)
            granted_entities +=
                !reef_entity_is_null(reef_spawn(n->world, reef_with(Cargo, {1}), reef_with(Tracked, .value = k)));
        granted_sets += reef_set(n->world, n->entities[i], Health, 3, 4) == REEF_OK;
    }
}

static void without_memory(heap *h, uint64_t fail, bool loop, bool *more)
{
    const reef_world_config config = {.allocator = heap_allocator(h)};
    reef_world *w = reef_world_new(&config);
    reef_entity e[3];
    for (int i = 0; i < 3; i++) e[i] = reef_spawn(w, reef_with(Position, 1, 1));
    begin();
    asked = granted_entities = granted_sets = 0;
    assert_false(reef_observer_is_null(reef_observe(w, asks_for_much, REEF_ON_ADD, Frozen)));
    listen(w, "later", ALL, reef_id(Health), true);
    const reef_query q = reef_query_new(w, "Position");
    reef_block b = {0};
    if (loop) b = reef_begin_loop(w, q, &(reef_loop){.deferred = true});
    for (int i = 0; i < 3 && loop; i++) assert_ok(reef_add(w, e[i], Frozen));
    heap_fail_nth(h, fail, true);
    if (loop) reef_end(&b);
    for (int i = 0; i < 3 && !loop; i++) {
        reef_status s = reef_add(w, e[i], Frozen);
        if (s == REEF_OK) continue;
        assert_int_equal(s, REEF_NO_MEMORY);
        assert_valid(w);
        heap_fail_never(h);
        (void)reef_flush(w);
        assert_ok(reef_add(w, e[i], Frozen));
    }
    const bool refused = h->refused != 0;
    heap_fail_never(h);
    assert_valid(w);
    (void)reef_flush(w);
    assert_ok(reef_flush(w));
    assert_int_equal(asked, 3); /* what was granted is done, once */
    assert_int_equal(reef_count(w, Cargo), granted_entities);
    assert_int_equal(reef_count(w, Health), granted_sets);
    assert_int_equal(tape.count, granted_sets);
    reef_snapshot *s = reef_snapshot_take(w);
    assert_non_null(s);
    reef_snapshot_free(s);
    if (!refused) assert_int_equal(granted_entities, 120);
    *more = refused;
    reef_world_free(w);
}

static void what_observers_ask_for_without_memory_is_kept(void **state)
{
    (void)state;
    for (int loop = 0; loop < 2; loop++) {
        bool more = true;
        for (uint64_t n = 1; more; n++) {
            heap h;
            memset(&h, 0, sizeof h);
            ledger_reset();
            without_memory(&h, n, loop, &more);
            if (h.blocks || h.mistake || book.live)
                fail_msg("allocation %u: %u blocks are left", (unsigned)n, (unsigned)h.blocks);
            assert_true(n < 2000);
        }
    }
}

/* What waits for the flush is for those who were there when it happened; who comes in between hears nothing of it,
 * who goes neither. */
static bool sets_granted;
static void sets_health(const reef_notice *n)
{
    sets_granted |= reef_set(n->world, n->entities[0], Health, 3, 4) == REEF_OK;
}

typedef struct between {
    bool collects, matches, comes, goes, once;
} between;

static bool with_others_in_between(heap *h, uint64_t fail, const between *x)
{
    const reef_world_config config = {.allocator = heap_allocator(h)};
    reef_world *w = reef_world_new(&config);
    const reef_entity e = reef_spawn(w, reef_with(Position, 1, 1));
    begin();
    sets_granted = false;
    const reef_observer_id first = listen(w, "first", ALL, reef_id(Health), true);
    if (!x->collects) assert_ok(reef_observer_remove(w, first));
    assert_false(reef_observer_is_null(reef_observe(w, sets_health, REEF_ON_ADD, Frozen)));
    if (x->matches) listen_match(w, "before", "Frozen", true), listen_match(w, "after", "Health", false);
    if (x->collects) listen(w, "late", ALL, reef_id(Frozen), true);
    heap_fail_nth(h, fail, !x->once);
    const bool added = reef_add(w, e, Frozen) == REEF_OK, refused = h->refused != 0;
    heap_fail_never(h);
    assert_valid(w);
    if (x->comes) assert_false(reef_observer_is_null(listen(w, "new", ALL, reef_id(Frozen), x->once)));
    if (x->goes && x->collects) assert_ok(reef_observer_remove(w, first));
    assert_valid(w);
    assert_ok(reef_flush(w));
    assert_valid(w);
    assert_int_equal(reef_has(w, e, Frozen), added);
    assert_int_equal(reef_has(w, e, Health), sets_granted);
    uint32_t firsts = 0, lates = 0, news = 0, befores = 0, afters = 0;
    for (uint32_t i = 0; i < tape.count; i++) {
        firsts += strcmp(tape.at[i].who, "first") == 0;
        lates += strcmp(tape.at[i].who, "late") == 0;
        news += strcmp(tape.at[i].who, "new") == 0;
        befores += strcmp(tape.at[i].who, "before") == 0;
        afters += strcmp(tape.at[i].who, "after") == 0;
    }
    assert_int_equal(lates, added && x->collects);
    assert_int_equal(befores, added && x->matches);
    assert_int_equal(afters, sets_granted && x->matches);
    assert_int_equal(news, 0);
    if (!x->goes) assert_int_equal(firsts, sets_granted && x->collects);
    reef_world_free(w);
    return refused;
}

static void observers_come_and_go_while_requests_wait(void **state)
{
    (void)state;
    for (uint32_t bits = 0; bits < 32; bits++) {
        const between x = {bits & 1, bits & 2, bits & 4, bits & 8, bits & 16};
        bool more = true;
        for (uint64_t n = 1; more; n++) {
            heap h;
            memset(&h, 0, sizeof h);
            ledger_reset();
            more = with_others_in_between(&h, n, &x);
            if (h.blocks || h.mistake || book.live)
                fail_msg("allocation %u: %u blocks are left", (unsigned)n, (unsigned)h.blocks);
            assert_true(n < 200);
        }
    }
}

/* With observers of everything, a world goes the same way as one without. */
static void observers_change_nothing_by_themselves(void **state)
{
    reef_world *a = another_world(state, NULL), *b = another_world(state, NULL);
    const reef_component types[] = {reef_id(Health), reef_id(Frozen), reef_id(Awake), reef_id(Tracked), reef_id(Mass)};
    static const char *const names[] = {"health", "frozen", "awake", "tracked", "mass"};
    begin();
    for (size_t i = 0; i < 5; i++) assert_false(reef_observer_is_null(listen(b, names[i], ALL, types[i], i % 2)));
    assert_false(reef_observer_is_null(listen(b, "deaths", REEF_ON_DESTROY, (reef_component){0}, true)));
    assert_false(reef_observer_is_null(listen_match(b, "match", "Health, !Awake", false)));
    assert_false(reef_observer_is_null(listen_match(b, "later", "Frozen | Awake", true)));
    uint64_t seed = 7;
    reef_entity e[400], x, y;
    uint32_t n = 0;
    for (int step = 0; step < 3000; step++) {
        const uint32_t what = random_below(&seed, 14), k = n ? random_below(&seed, n) : 0, t = random_below(&seed, 5);
        const reef_component c = types[t];
        if (n < 20 || (what == 0 && n < 400)) {
            x = reef_spawn(a, reef_with(Health, step, 1), reef_with(Tracked, .value = step));
            y = reef_spawn(b, reef_with(Health, step, 1), reef_with(Tracked, .value = step));
            assert_true(reef_entity_equal(x, y));
            e[n++] = x;
            continue;
        }
        int32_t got[2] = {0, 0};
        for (int i = 0; i < 2; i++) {
            reef_world *w = i ? b : a;
            switch (what) {
            case 1:
            case 2:
            case 3: got[i] = reef_add_id(w, e[k], c, NULL, NULL); break;
            case 4:
            case 5:
            case 6: got[i] = reef_remove_id(w, e[k], c); break;
            case 7: got[i] = reef_set(w, e[k], Health, step, 2); break;
            case 8: got[i] = reef_set(w, e[k], Tracked, .value = step); break;
            case 9: got[i] = reef_destroy(w, e[k]); break;
            case 10:
                got[i] = reef_change(w, e[k], reef_with(Health, step, 3), reef_without(Mass), reef_tag(Awake),
                                     reef_without(Frozen));
                break;
            case 11: got[i] = reef_enable_id(w, e[k], (reef_component){0}, step % 2); break;
            case 12: got[i] = reef_remove_all(w, e[k]); break;
            default: {
                const reef_entity copy = reef_clone(w, e[k]);
                got[i] = (int32_t)copy.index;
                if (copy.generation) got[i] += reef_destroy(w, copy);
            }
            }
        }
        assert_int_equal(got[0], got[1]);
        if (what == 9) e[k] = e[--n];
        if (step % 500 == 0) assert_valid(b);
    }
    assert_true(digest(a) == digest(b));
    assert_true(tape.count > 3000);
}

typedef struct {
    int32_t deep;
} Wound;
REEF_COMPONENT_IN(Wound, REEF_MULTI);
typedef struct {
    int32_t value;
    void *held;
} Scar; /* owns something */
static reef_status scar_copy(void *context, void *to, const void *from)
{
    (void)context;
    *(Scar *)to = *(const Scar *)from;
    ((Scar *)to)->held = malloc(1);
    return REEF_OK;
}
static void scar_destroy(void *context, void *slot)
{
    (void)context;
    free(((Scar *)slot)->held);
}
static const reef_hooks scar_hooks = {.copy = scar_copy, .destroy = scar_destroy, .bytes_move = true};
REEF_COMPONENT_IN_HOOKS(Scar, REEF_MULTI, &scar_hooks);

/* An entity matches once, also where a loop over the same text visits each of its values. */
static void an_entity_with_several_values_matches_once(void **state)
{
    reef_world *w = world_of(state);
    const reef_entity e = reef_create(w);
    for (int32_t i = 0; i < 3; i++) assert_non_null(reef_append_id(w, e, reef_id(Wound), &i, sizeof i));
    const reef_observer_desc desc = {.name = "m",
                                     .function = hear,
                                     .events = REEF_ON_MATCH,
                                     .text = "each in Wound",
                                     .existing = true,
                                     .context = "m"};
    begin();
    assert_false(reef_observer_is_null(reef_observer_new(w, &desc)));
    assert_int_equal(tape.count, 1);
    assert_heard(0, "m", REEF_ON_MATCH, e, -1, -1);
}

/* In one flush: further values come, the first one is taken away, all go. The old value is the one that the entity had
 * first before all of that. */
static void the_net_effect_on_several_values_has_the_first_one(void **state)
{
    const reef_component types[] = {reef_id(Wound), reef_id(Scar)};
    for (uint32_t k = 0; k < 2; k++) {
        reef_world *w = another_world(state, NULL);
        const reef_component c = types[k];
        union {
            Wound wound;
            Scar scar;
        } one;
        memset(&one, 0, sizeof one);
        const size_t size = k ? sizeof(Scar) : sizeof(Wound);
        const reef_entity e = reef_create(w);
        for (int32_t i = 7; i < 9; i++) {
            memcpy(&one, &i, sizeof i);
            assert_non_null(reef_append_id(w, e, c, &one, size));
        }
        (void)listen(w, "now", ALL, c, false);
        (void)listen(w, "later", ALL, c, true);
        begin();
        reef_block b =
            reef_begin_loop(w, reef_query_new(w, k ? "in Scar" : "in Wound"), &(reef_loop){.deferred = true});
        assert_true(reef_next(&b));
        assert_ok(reef_add_id(w, e, c, NULL, NULL));
        assert_ok(reef_remove_id(w, e, c));
        reef_end(&b);
        assert_int_equal(tape.count, 3);
        assert_heard(0, "now", REEF_ON_SET, e, 7, -1);
        assert_heard(1, "now", REEF_ON_REMOVE, e, -1, 7);
        assert_heard(2, "later", REEF_ON_REMOVE, e, -1, 7);
        /* outside of loops each call is a flush: the first value goes, and the next one is the first then */
        for (int32_t i = 1; i < 4; i++) {
            memcpy(&one, &i, sizeof i);
            assert_non_null(reef_append_id(w, e, c, &one, size));
        }
        begin();
        assert_ok(reef_remove_one_id(w, e, c, 0));
        assert_heard(0, "now", REEF_ON_SET, e, 2, 1);
        assert_heard(1, "later", REEF_ON_SET, e, 2, 1);
        assert_ok(reef_remove_one_id(w, e, c, 1));
        assert_heard(2, "now", REEF_ON_SET, e, 2, -1);
        assert_heard(3, "later", REEF_ON_SET, e, 2, -1);
        assert_int_equal(tape.count, 4);
        end_world(state, w);
    }
}

/* Of one change of one component each collected observer is told right after the immediate ones, if it asks for that
 * kind; from the second change on there is a log with room, so that no plan is made. */
static void ask_to_take_it(const reef_notice *n)
{
    hear(n);
    for (uint32_t i = 0; i < n->count; i++)
        if (first_bytes(reef_notice_value(n, i)) == 13) assert_ok(reef_remove(n->world, n->entities[i], Health));
}

static void one_change_is_told_to_those_who_ask(void **state)
{
    reef_world *w = world_of(state);
    begin();
    const reef_observer_desc now = {.name = "now",
                                    .function = ask_to_take_it,
                                    .events = REEF_ON_ADD | REEF_ON_SET,
                                    .component = reef_id(Health),
                                    .context = (void *)(uintptr_t) "now"};
    assert_false(reef_observer_is_null(listen(w, "comes", REEF_ON_ADD, reef_id(Health), true)));
    assert_false(reef_observer_is_null(listen(w, "goes", REEF_ON_REMOVE, reef_id(Health), true)));
    assert_false(reef_observer_is_null(listen(w, "set", REEF_ON_SET, reef_id(Health), true)));
    assert_false(reef_observer_is_null(listen(w, "mass", ALL, reef_id(Mass), true)));
    assert_false(reef_observer_is_null(reef_observer_new(w, &now)));
    const reef_entity e = reef_spawn(w, reef_with(Position, 1, 2));
    for (int32_t i = 1; i < 4; i++) {
        begin();
        assert_status(REEF_ADDED, reef_set(w, e, Health, i, 1));
        assert_ok(reef_set(w, e, Health, i + 10, 1));
        if (i == 3) break; /* 13: taken by the observer */
        assert_ok(reef_remove(w, e, Health));
        assert_heard(0, "now", REEF_ON_ADD, e, i, -1);
        assert_heard(1, "comes", REEF_ON_ADD, e, i, -1);
        assert_heard(2, "now", REEF_ON_SET, e, i + 10, i);
        assert_heard(3, "set", REEF_ON_SET, e, i + 10, i);
        assert_heard(4, "goes", REEF_ON_REMOVE, e, -1, i + 10);
        assert_int_equal(tape.count, 5);
    }
    assert_false(reef_has(w, e, Health));
    assert_heard(2, "now", REEF_ON_SET, e, 13, 3);
    assert_heard(3, "goes", REEF_ON_REMOVE, e, -1, 3); /* the net effect: the value before both */
    assert_int_equal(tape.count, 4);
    /* in a loop that records it waits for the end */
    begin();
    const reef_query q = reef_query_new(w, "Position");
    reef_block b = reef_begin_loop(w, q, &(reef_loop){.deferred = true});
    assert_true(reef_set(w, e, Health, 5, 1) >= 0);
    assert_int_equal(tape.count, 0);
    reef_end(&b);
    assert_heard(0, "now", REEF_ON_ADD, e, 5, -1);
    assert_heard(1, "comes", REEF_ON_ADD, e, 5, -1);
    assert_int_equal(tape.count, 2);
    assert_ok(reef_query_free(w, q));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(observers_of_a_base_hear_of_the_base_alone),
        TEST(collected_observers_hear_the_net_effect_of_a_loop),
        TEST(outside_of_flushes_each_call_is_its_own),
        TEST(collected_values_with_hooks_end_with_the_flush),
        TEST(ticks_tell_the_same_on_any_number_of_threads),
        TEST(forks_and_snapshots_have_observers),
        TEST(observers_of_shared_values),
        TEST(what_exists_is_told_by_block_on_request),
        TEST(wrong_observers_are_refused),
        TEST(the_number_of_observers_is_limited),
        TEST(runs_of_commands_over_whole_tables_are_told),
        TEST(a_cascade_follows_its_command),
        TEST(calls_of_observers_have_their_own_names),
        TEST(requests_of_observers_have_their_own_names),
        TEST(an_entity_with_several_values_matches_once),
        TEST(the_net_effect_on_several_values_has_the_first_one),
        TEST(what_observers_ask_for_without_memory_is_kept),
        TEST(observers_come_and_go_while_requests_wait),
        TEST(observers_change_nothing_by_themselves),
        TEST(one_change_is_told_to_those_who_ask),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
