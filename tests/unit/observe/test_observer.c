/* Observers (F3, H1): who is told of what, in which order, with which values; what they may ask for; when collected
 * ones hear. */
#include "support.h"

/* ---- what was heard ---- */

typedef struct heard {
    const char *who; /* context of the observer */
    reef_observed kind;
    reef_component component;
    reef_entity entity;
    int32_t now, old; /* the first four bytes, -1: none */
    uint32_t count;   /* of the block */
    bool existing;
} heard;

static struct {
    heard at[20000];
    uint32_t count, calls;
} tape;

static void rewind_tape(void) { tape.count = tape.calls = 0; }

static int32_t first_bytes(const void *p)
{
    int32_t x = -1;
    if (p) memcpy(&x, p, sizeof x);
    return x;
}

static void hear(const reef_notice *n)
{
    tape.calls++;
    assert_in_range(n->count, 1, REEF_BLOCK_ROWS);
    for (uint32_t i = 0; i < n->count; i++) {
        assert_true(tape.count < sizeof tape.at / sizeof tape.at[0]);
        tape.at[tape.count++] = (heard){n->context,
                                        n->kind,
                                        n->component,
                                        n->entities[i],
                                        first_bytes(reef_notice_value(n, i)),
                                        first_bytes(reef_notice_old(n, i)),
                                        n->count,
                                        n->existing};
    }
    if (n->values && n->count > 1) assert_ptr_equal((const char *)n->values + n->size, reef_notice_value(n, 1));
    if (n->olds && n->count > 1) assert_ptr_equal((const char *)n->olds + n->size, reef_notice_old(n, 1));
}

static void assert_heard_at(uint32_t i, const char *who, reef_observed kind, reef_entity e, int32_t now, int32_t old,
                            int line)
{
    if (i >= tape.count) fail_msg("line %d: number %u wasn't heard, %u were", line, (unsigned)i, (unsigned)tape.count);
    const heard *h = &tape.at[i];
    if (strcmp(h->who, who) != 0 || h->kind != kind || !reef_entity_equal(h->entity, e) || h->now != now ||
        h->old != old)
        fail_msg(
            "line %d: number %u: %s kind %d entity %uv%u now %d old %d, wanted %s kind %d entity %uv%u now %d old %d",
            line, (unsigned)i, h->who, (int)h->kind, (unsigned)h->entity.index, (unsigned)h->entity.generation,
            (int)h->now, (int)h->old, who, (int)kind, (unsigned)e.index, (unsigned)e.generation, (int)now, (int)old);
}
#define assert_heard(i, who, kind, e, now, old) assert_heard_at(i, who, kind, e, now, old, __LINE__)

static reef_observer_id listen(reef_world *w, const char *name, uint32_t events, reef_component c)
{
    const reef_observer_id id = reef_observer_new(
        w, &(reef_observer_desc){
               .name = name, .function = hear, .events = events, .component = c, .context = (void *)(uintptr_t)name});
    assert_false(reef_observer_is_null(id));
    return id;
}

static reef_observer_id listen_later(reef_world *w, const char *name, uint32_t events, reef_component c)
{
    const reef_observer_id id = reef_observer_new(w, &(reef_observer_desc){.name = name,
                                                                           .function = hear,
                                                                           .events = events,
                                                                           .component = c,
                                                                           .collected = true,
                                                                           .context = (void *)(uintptr_t)name});
    assert_false(reef_observer_is_null(id));
    return id;
}

static reef_observer_id listen_match(reef_world *w, const char *name, const char *text, bool collected)
{
    const reef_observer_id id = reef_observer_new(w, &(reef_observer_desc){.name = name,
                                                                           .function = hear,
                                                                           .text = text,
                                                                           .collected = collected,
                                                                           .events = REEF_ON_MATCH | REEF_ON_UNMATCH,
                                                                           .context = (void *)(uintptr_t)name});
    assert_false(reef_observer_is_null(id));
    return id;
}

enum { ALL = REEF_ON_ADD | REEF_ON_SET | REEF_ON_REMOVE | REEF_ON_DESTROY };

static void begin(void **state)
{
    (void)state;
    rewind_tape();
}

/* ---- single calls ---- */

static void single_calls_tell_what_they_do(void **state)
{
    reef_world *w = world_of(state);
    begin(state);
    listen(w, "health", ALL, reef_id(Health));
    const reef_entity e = reef_create(w), f = reef_spawn(w, reef_with(Health, 7, 9), reef_with(Position, 1, 2));
    assert_ok(reef_add(w, e, Health));
    assert_status(REEF_OK, reef_set(w, e, Health, 5, 6));
    reef_mut(w, e, Health)->now = 8; /* nobody hears of it */
    assert_ok(reef_set(w, e, Health, 9, 6));
    assert_ok(reef_remove(w, e, Health));
    assert_status(REEF_ADDED, reef_set(w, e, Health, 3, 4));
    assert_ok(reef_change(w, e, reef_with(Health, 2, 2), reef_with(Mass, 1)));
    assert_ok(reef_change(w, e, reef_without(Health), reef_tag(Frozen)));
    assert_ok(reef_destroy(w, f));
    assert_ok(reef_destroy(w, e));
    assert_heard(0, "health", REEF_ON_ADD, f, 7, -1);
    assert_heard(1, "health", REEF_ON_ADD, e, 0, -1);
    assert_heard(2, "health", REEF_ON_SET, e, 5, 0);
    assert_heard(3, "health", REEF_ON_SET, e, 9, 8);
    assert_heard(4, "health", REEF_ON_REMOVE, e, -1, 9);
    assert_heard(5, "health", REEF_ON_ADD, e, 3, -1);
    assert_heard(6, "health", REEF_ON_SET, e, 2, 3);
    assert_heard(7, "health", REEF_ON_REMOVE, e, -1, 2);
    assert_heard(8, "health", REEF_ON_REMOVE, f, -1, 7);
    assert_heard(9, "health", REEF_ON_DESTROY, f, -1, 7);
    assert_int_equal(tape.count, 10);
}

/* Each of them could be told alone in a shorter way. */
static void an_end_is_told_to_the_observers_of_all_components(void **state)
{
    reef_world *w = world_of(state);
    begin(state);
    listen(w, "health", REEF_ON_REMOVE, reef_id(Health));
    listen(w, "place", REEF_ON_REMOVE, reef_id(Position));
    const reef_entity e = reef_spawn(w, reef_with(Mass, 1), reef_with(Position, 7, 2), reef_with(Health, 5, 9));
    assert_ok(reef_destroy(w, e));
    assert_heard(0, "health", REEF_ON_REMOVE, e, -1, 5);
    assert_heard(1, "place", REEF_ON_REMOVE, e, -1, (int32_t)0x40e00000);
    assert_int_equal(tape.count, 2);
}

/* The second entity of a set and the ones behind it come by a shorter way than the first, which nobody can hear. */
static void lives_of_one_set_sound_alike(void **state)
{
    reef_world *w = world_of(state);
    begin(state);
    listen(w, "health", REEF_ON_ADD | REEF_ON_REMOVE, reef_id(Health));
    for (int32_t i = 0; i < 4; i++) {
        if (i == 2) listen(w, "place", ALL, reef_id(Position));
        rewind_tape();
        const reef_entity e = reef_spawn(w, reef_with(Mass, 1), reef_with(Position, 7, 2), reef_with(Health, i, 9));
        assert_heard(0, "health", REEF_ON_ADD, e, i, -1);
        if (i >= 2) assert_heard(1, "place", REEF_ON_ADD, e, (int32_t)0x40e00000, -1);
        assert_ok(reef_destroy(w, e));
        const uint32_t at = i >= 2 ? 2 : 1;
        assert_heard(at, "health", REEF_ON_REMOVE, e, -1, i);
        if (i >= 2) assert_heard(3, "place", REEF_ON_REMOVE, e, -1, (int32_t)0x40e00000);
        if (i >= 2) assert_heard(4, "place", REEF_ON_DESTROY, e, -1, (int32_t)0x40e00000);
        assert_int_equal(tape.count, i >= 2 ? 5 : 2);
    }
    rewind_tape();
    for (int32_t i = 0; i < 3; i++) { /* a tag has no value to tell */
        if (i == 0) listen(w, "frozen", REEF_ON_REMOVE, reef_id(Frozen));
        const reef_entity e = reef_spawn(w, reef_with(Mass, 1), reef_tag(Frozen));
        assert_ok(reef_destroy(w, e));
        assert_heard((uint32_t)i, "frozen", REEF_ON_REMOVE, e, -1, -1);
    }
    assert_int_equal(tape.count, 3);
    assert_valid(w);
}

static void failed_calls_tell_nothing(void **state)
{
    reef_world *w = world_of(state);
    begin(state);
    const reef_entity e = reef_spawn(w, reef_with(Health, 1, 1)), dead = reef_create(w);
    assert_ok(reef_destroy(w, dead));
    listen(w, "health", ALL, reef_id(Health));
    listen_match(w, "match", "Health", false);
    assert_refused(w, REEF_EXISTS, reef_add(w, e, Health));
    assert_refused(w, REEF_NOT_ALIVE, reef_add(w, dead, Health));
    assert_refused(w, REEF_ABSENT, reef_remove(w, e, Mass));
    assert_refused(w, REEF_WRONG_SIZE, reef_set_id(w, e, reef_id(Health), &e, 3));
    assert_refused(w, REEF_NOT_ALIVE, reef_destroy(w, dead));
    assert_int_equal(tape.count, 0);
}

/* The same with a tag, which goes the fast path, and with a switch. */
static void tags_and_switches_are_observed(void **state)
{
    reef_world *w = world_of(state);
    begin(state);
    listen(w, "tag", ALL, reef_id(Frozen));
    listen(w, "switch", ALL, reef_id(Awake));
    reef_entity e[8];
    assert_ok(reef_spawn_many(w, 8, e, reef_with(Position, 1, 2)));
    for (int round = 0; round < 3; round++) {
        rewind_tape();
        for (int i = 0; i < 8; i++) assert_ok(reef_add(w, e[i], Frozen));
        for (int i = 0; i < 8; i++) assert_ok(reef_add(w, e[i], Awake));
        for (int i = 0; i < 8; i++) assert_ok(reef_remove(w, e[i], Frozen));
        for (int i = 0; i < 8; i++) assert_ok(reef_remove(w, e[i], Awake));
        assert_int_equal(tape.count, 32);
        for (uint32_t i = 0; i < 8; i++) {
            assert_heard(i, "tag", REEF_ON_ADD, e[i], -1, -1);
            assert_heard(8 + i, "switch", REEF_ON_ADD, e[i], -1, -1);
            assert_heard(16 + i, "tag", REEF_ON_REMOVE, e[i], -1, -1);
            assert_heard(24 + i, "switch", REEF_ON_REMOVE, e[i], -1, -1);
        }
    }
}

/* Adds of rows that have neighbours, of a tag and of a component, over and over: who is told follows the observers
 * that there are. */
static void adds_are_told(reef_world *w, const reef_entity *e, uint32_t n, const char *const *who, uint32_t told)
{
    const reef_component both[] = {reef_id(Frozen), reef_id(Health)};
    for (uint32_t k = 0; k < 2; k++) {
        rewind_tape();
        for (uint32_t i = 0; i < n; i++) {
            int32_t *made = NULL;
            const uint32_t before = tape.count;
            assert_ok(reef_add_id(w, e[i], both[k], NULL, i % 2 ? (void **)&made : NULL));
            assert_int_equal(tape.count, before + told);
            for (uint32_t j = 0; j < told; j++) assert_heard(before + j, who[j], REEF_ON_ADD, e[i], k ? 0 : -1, -1);
            assert_true(k == 0 ? made == NULL : i % 2 == 0 || made == reef_get_id(w, e[i], both[k]));
            if (made) *made = (int32_t)i;
        }
        assert_int_equal(tape.count, n * told);
        for (uint32_t i = 0; i < n; i++) {
            if (k) assert_int_equal(reef_get(w, e[i], Health)->now, i % 2 ? (int32_t)i : 0);
            assert_position(w, e[i], (float)i, 2);
            assert_ok(reef_remove_id(w, e[i], both[k]));
        }
    }
    assert_valid(w);
}

static void adds_are_told_to_whoever_listens_now(void **state)
{
    enum { N = 60 };
    reef_world *w = world_of(state);
    const reef_component frozen = reef_id(Frozen), health = reef_id(Health);
    const char *one[] = {"one"}, *two[] = {"one", "two"}, *last[] = {"two"};
    reef_entity e[N];
    begin(state);
    for (int i = 0; i < N; i++) e[i] = reef_spawn(w, reef_with(Position, (float)i, 2), reef_with(Mass, 1));
    const reef_observer_id ids[] = {listen(w, "one", REEF_ON_ADD, frozen), listen(w, "other", REEF_ON_ADD, health)};
    for (uint32_t i = 0; i < 2; i++) assert_ok(reef_observer_remove(w, ids[i]));
    adds_are_told(w, e, N, NULL, 0);
    const reef_observer_id f = reef_observer_new(
        w, &(reef_observer_desc){
               .name = "f", .function = hear, .events = REEF_ON_ADD, .component = frozen, .context = "one"});
    const reef_observer_id h = reef_observer_new(
        w, &(reef_observer_desc){
               .name = "h", .function = hear, .events = REEF_ON_ADD, .component = health, .context = "one"});
    adds_are_told(w, e, N, one, 1);
    assert_ok(reef_observer_remove(w, h)); /* who was told last; the other one listens on */
    rewind_tape();
    for (int i = 0; i < N; i++) assert_ok(reef_add(w, e[i], Health));
    for (int i = 0; i < N; i++) assert_ok(reef_remove(w, e[i], Health));
    assert_int_equal(tape.count, 0);
    const reef_observer_id again = reef_observer_new(
        w, &(reef_observer_desc){
               .name = "h", .function = hear, .events = REEF_ON_ADD, .component = health, .context = "one"});
    adds_are_told(w, e, N, one, 1);
    for (uint32_t i = 0; i < 2; i++)
        (void)reef_observer_new(w, &(reef_observer_desc){.name = i ? "f2" : "h2",
                                                         .function = hear,
                                                         .events = REEF_ON_ADD,
                                                         .component = i ? frozen : health,
                                                         .context = "two"});
    adds_are_told(w, e, N, two, 2);
    assert_ok(reef_observer_remove(w, f));
    assert_ok(reef_observer_remove(w, again));
    adds_are_told(w, e, N, last, 1);
    reef_world *fork = reef_fork(w); /* has them too */
    adds_are_told(fork, e, N, last, 1);
    adds_are_told(w, e, N, last, 1);
    reef_world_free(fork);
    for (uint32_t i = 0; i < 2; i++)
        (void)reef_observer_new(w, &(reef_observer_desc){.name = i ? "f3" : "h3",
                                                         .function = hear,
                                                         .events = REEF_ON_ADD,
                                                         .component = i ? frozen : health,
                                                         .context = "one",
                                                         .collected = true});
    const char *mixed[] = {"two", "one"};
    adds_are_told(w, e, N, mixed, 2); /* each call is its own flush */
    listen_match(w, "match", "in Position, in Mass, !Hungry", false);
    adds_are_told(w, e, N, mixed, 2);
    rewind_tape();
    for (int i = 0; i < N; i++) assert_ok(reef_add(w, e[i], Hungry));
    for (uint32_t i = 0; i < N; i++) assert_heard(i, "match", REEF_ON_UNMATCH, e[i], -1, -1);
}

/* What the observer asks for is done before the next add, which finds another table; what it is refused has its
 * name. */
static void moves_it_on(const reef_notice *n)
{
    const reef_entity dead = {0, 0};
    assert_int_equal(n->count, 1);
    assert_ok(reef_add(n->world, n->entities[0], Hungry));
    assert_false(reef_has(n->world, n->entities[0], Hungry));
    if (++tape.calls % 3 == 0)
        assert_int_equal(reef_add_id(n->world, dead, reef_id(Hungry), NULL, NULL), REEF_NOT_ALIVE);
}

static void the_only_observer_of_many_adds_may_ask_for_more(void **state)
{
    enum { N = 40 };
    reef_world *w = world_of(state);
    reef_entity e[N];
    begin(state);
    assert_false(reef_observer_is_null(reef_observe(w, moves_it_on, REEF_ON_ADD, Frozen)));
    for (int i = 0; i < N; i++) e[i] = reef_spawn(w, reef_with(Position, (float)i, 2));
    for (int i = 0; i < N; i++) {
        assert_ok(reef_add(w, e[i], Frozen));
        assert_true(reef_has(w, e[i], Frozen) && reef_has(w, e[i], Hungry));
        assert_int_equal(tape.calls, i + 1);
        if (i % 3 == 2) {
            assert_int_equal(reef_last_error(w).status, REEF_NOT_ALIVE);
            assert_string_equal(reef_last_error(w).system, "moves_it_on");
        }
    }
    for (int i = 0; i < N; i++) assert_position(w, e[i], (float)i, 2);
}

static void values_with_hooks_are_told_of_and_end_once(void **state)
{
    reef_world *w = world_of(state);
    begin(state);
    listen(w, "tracked", ALL, reef_id(Tracked));
    listen_later(w, "unique_later", ALL, reef_id(Unique));
    listen(w, "unique", ALL, reef_id(Unique));
    const reef_entity e = reef_spawn(w, reef_with(Tracked, .value = 1)), f = reef_create(w);
    assert_ok(reef_set(w, e, Tracked, .value = 2));
    Unique own;
    unique_make(&own, 30);
    assert_status(REEF_ADDED, reef_set_id(w, e, reef_id(Unique), &own, sizeof own));
    unique_make(&own, 31);
    assert_ok(reef_set_id(w, e, reef_id(Unique), &own, sizeof own));
    assert_ok(reef_remove(w, e, Tracked));
    assert_ok(reef_add(w, f, Unique));
    assert_ok(reef_destroy(w, e));
    assert_heard(0, "tracked", REEF_ON_ADD, e, 1, -1);
    assert_heard(1, "tracked", REEF_ON_SET, e, 2, 1);
    assert_heard(2, "unique", REEF_ON_ADD, e, 30, -1);
    assert_heard(3, "unique_later", REEF_ON_ADD, e, 30, -1);
    assert_heard(4, "unique", REEF_ON_SET, e, 31, 30);
    assert_heard(5, "unique_later", REEF_ON_SET, e, 31, 30);
    assert_heard(6, "tracked", REEF_ON_REMOVE, e, -1, 2);
    assert_int_equal(tape.at[7].entity.index, f.index);
    assert_heard(9, "unique", REEF_ON_REMOVE, e, -1, 31);
    assert_heard(10, "unique", REEF_ON_DESTROY, e, -1, 31);
    assert_heard(11, "unique_later", REEF_ON_REMOVE, e, -1, 31);
    assert_heard(12, "unique_later", REEF_ON_DESTROY, e, -1, 31);
    assert_int_equal(tape.count, 13);
}

static void any_death_is_told_of_after_what_it_took(void **state)
{
    reef_world *w = world_of(state);
    begin(state);
    listen(w, "any", REEF_ON_DESTROY, (reef_component){0});
    listen(w, "velocity", REEF_ON_REMOVE, reef_id(Velocity));
    const reef_entity e = reef_spawn(w, reef_with(Velocity, 1, 1)), bare = reef_create(w);
    assert_ok(reef_destroy(w, e));
    assert_ok(reef_destroy(w, bare));
    assert_heard(0, "any", REEF_ON_DESTROY, e, -1, -1); /* observers in their order, each what it asked for */
    assert_int_equal(tape.at[1].kind, REEF_ON_REMOVE);
    assert_heard(2, "any", REEF_ON_DESTROY, bare, -1, -1);
    assert_int_equal(tape.count, 3);
}

/* ---- order ---- */

static void observers_are_called_in_the_order_of_their_making(void **state)
{
    reef_world *w = world_of(state);
    begin(state);
    const reef_observer_id first = listen(w, "z", REEF_ON_ADD, reef_id(Frozen));
    listen(w, "b", REEF_ON_ADD, reef_id(Frozen));
    listen(w, "a", REEF_ON_ADD, reef_id(Frozen));
    const reef_entity e = reef_create(w), f = reef_create(w);
    assert_ok(reef_add(w, e, Frozen));
    assert_heard(0, "z", REEF_ON_ADD, e, -1, -1);
    assert_heard(1, "b", REEF_ON_ADD, e, -1, -1);
    assert_heard(2, "a", REEF_ON_ADD, e, -1, -1);
    assert_ok(reef_observer_remove(w, first));
    listen(w, "z", REEF_ON_ADD, reef_id(Frozen));
    assert_ok(reef_add(w, f, Frozen));
    assert_heard(3, "b", REEF_ON_ADD, f, -1, -1);
    assert_heard(4, "a", REEF_ON_ADD, f, -1, -1);
    assert_heard(5, "z", REEF_ON_ADD, f, -1, -1);
    assert_int_equal(tape.count, 6);
}

/* ---- many at once ---- */

static void operations_on_many_tell_by_block_in_their_order(void **state)
{
    reef_world *w = world_of(state);
    static reef_entity e[3000];
    begin(state);
    listen(w, "health", ALL, reef_id(Health));
    assert_ok(reef_spawn_many(w, 3000, e, reef_with(Health, 4, 4), reef_with(Position, 0, 0)));
    assert_int_equal(tape.count, 3000);
    assert_int_equal(tape.calls, 3); /* 1,024, 1,024, 952 */
    for (uint32_t i = 0; i < 3000; i++) assert_heard(i, "health", REEF_ON_ADD, e[i], 4, -1);
    const reef_query q = reef_query_new(w, "Position");
    rewind_tape();
    assert_ok(reef_set_where(w, q, Health, 5, 5));
    assert_int_equal(tape.calls, 3);
    for (uint32_t i = 0; i < 3000; i++) assert_heard(i, "health", REEF_ON_SET, e[i], 5, 4);
    rewind_tape();
    assert_ok(reef_remove_where(w, q, Health));
    assert_int_equal(tape.calls, 3);
    for (uint32_t i = 0; i < 3000; i++) assert_heard(i, "health", REEF_ON_REMOVE, e[i], -1, 5);
    rewind_tape();
    assert_ok(reef_add_where(w, q, Health));
    assert_int_equal(tape.calls, 3);
    assert_int_equal(tape.count, 3000);
    Health in[3] = {{1, 1}, {2, 2}, {3, 3}};
    rewind_tape();
    assert_int_equal(reef_write_many(w, Health, e, 3, in), 3);
    assert_int_equal(tape.calls, 1);
    for (uint32_t i = 0; i < 3; i++) assert_heard(i, "health", REEF_ON_SET, e[i], (int32_t)i + 1, 0);
    rewind_tape();
    assert_int_equal(reef_destroy_many(w, e, 2), 2);
    assert_int_equal(tape.count, 4);
    assert_heard(3, "health", REEF_ON_DESTROY, e[1], -1, 2);
    rewind_tape();
    assert_ok(remove_everywhere(w, reef_id(Health), NULL));
    assert_int_equal(tape.count, 2998);
    assert_ok(reef_add_where(w, q, Health));
    rewind_tape();
    assert_ok(reef_destroy_where(w, q, NULL));
    assert_int_equal(tape.count, 2 * 2998);
    const reef_entity last = reef_spawn(w, reef_with(Health, 1, 1));
    rewind_tape();
    assert_ok(reef_world_clear(w));
    assert_heard(1, "health", REEF_ON_DESTROY, last, -1, 1);
}

/* ---- queries ---- */

static void a_match_begins_and_ends(void **state)
{
    reef_world *w = world_of(state);
    begin(state);
    listen_match(w, "m", "Position, !Frozen, Awake", false);
    const reef_entity e = reef_spawn(w, reef_with(Position, 1, 2));
    assert_int_equal(tape.count, 0);
    assert_ok(reef_add(w, e, Awake));          /* begins */
    assert_ok(reef_add(w, e, Mass));           /* goes on */
    assert_ok(reef_add(w, e, Frozen));         /* ends */
    assert_ok(reef_remove(w, e, Frozen));      /* begins */
    assert_ok(reef_disable(w, e));             /* ends */
    assert_ok(reef_enable(w, e));              /* begins */
    assert_ok(reef_disable(w, e, Position));   /* ends */
    assert_ok(reef_enable(w, e, Position));    /* begins */
    assert_ok(reef_remove(w, e, Awake));       /* ends */
    assert_ok(reef_add(w, e, Awake));          /* begins */
    const reef_entity copy = reef_clone(w, e); /* begins for the copy */
    assert_ok(reef_destroy(w, e));             /* ends */
    assert_ok(reef_remove_all(w, copy));       /* ends */
    for (uint32_t i = 0; i < 9; i++) assert_heard(i, "m", i % 2 ? REEF_ON_UNMATCH : REEF_ON_MATCH, e, -1, -1);
    assert_heard(9, "m", REEF_ON_MATCH, copy, -1, -1);
    assert_heard(10, "m", REEF_ON_UNMATCH, e, -1, -1);
    assert_heard(11, "m", REEF_ON_UNMATCH, copy, -1, -1);
    assert_int_equal(tape.count, 12);
}

static void matches_of_whole_queries(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[200];
    begin(state);
    listen_match(w, "m", "Position, !Frozen", false);
    assert_ok(reef_spawn_many(w, 200, e, reef_with(Position, 1, 2)));
    assert_int_equal(tape.count, 200);
    assert_int_equal(tape.calls, 1);
    const reef_query q = reef_query_new(w, "Position");
    assert_ok(reef_add_where(w, q, Frozen));
    assert_ok(reef_remove_where(w, q, Frozen));
    assert_ok(reef_disable_where(w, q));
    const reef_query off = reef_query_new(w, "Position, disabled *");
    assert_ok(reef_enable_where(w, off));
    assert_int_equal(tape.count, 1000);
    assert_int_equal(tape.calls, 5);
    for (uint32_t i = 0; i < 1000; i++)
        assert_heard(i, "m", i / 200 % 2 ? REEF_ON_UNMATCH : REEF_ON_MATCH, e[i % 200], -1, -1);
}

/* ---- cascades ---- */

static void freeze_it(const reef_notice *n)
{
    hear(n);
    for (uint32_t i = 0; i < n->count; i++) {
        assert_ok(reef_add(n->world, n->entities[i], Frozen));
        assert_false(reef_has(n->world, n->entities[i], Frozen)); /* not yet */
    }
}

static void spawn_hungry(const reef_notice *n)
{
    hear(n);
    for (uint32_t i = 0; i < n->count; i++) assert_some(reef_spawn(n->world, reef_tag(Hungry)));
}

static void what_observers_ask_for_is_done_first_in_first_out(void **state)
{
    reef_world *w = world_of(state);
    begin(state);
    assert_false(reef_observer_is_null(reef_observer_new(w, &(reef_observer_desc){.name = "freeze",
                                                                                  .function = freeze_it,
                                                                                  .events = REEF_ON_ADD,
                                                                                  .component = reef_id(Mass),
                                                                                  .context = "freeze"})));
    assert_false(reef_observer_is_null(reef_observer_new(w, &(reef_observer_desc){.name = "spawn",
                                                                                  .function = spawn_hungry,
                                                                                  .events = REEF_ON_ADD,
                                                                                  .component = reef_id(Mass),
                                                                                  .context = "spawn"})));
    assert_false(reef_observer_is_null(reef_observer_new(w, &(reef_observer_desc){.name = "more",
                                                                                  .function = spawn_hungry,
                                                                                  .events = REEF_ON_ADD,
                                                                                  .component = reef_id(Frozen),
                                                                                  .context = "more"})));
    listen(w, "hungry", REEF_ON_ADD, reef_id(Hungry));
    const reef_entity e = reef_create(w);
    assert_ok(reef_add(w, e, Mass));
    assert_heard(0, "freeze", REEF_ON_ADD, e, 0, -1);
    assert_heard(1, "spawn", REEF_ON_ADD, e, 0, -1);
    assert_heard(2, "more", REEF_ON_ADD, e, -1, -1);
    assert_string_equal(tape.at[3].who, "hungry"); /* that of "spawn", */
    assert_string_equal(tape.at[4].who, "hungry"); /* then that of "more" */
    assert_int_equal(tape.count, 5);
    assert_true(reef_has(w, e, Frozen));
    assert_int_equal(reef_count(w, Hungry), 2);
    assert_true(tape.at[3].entity.index < tape.at[4].entity.index);
}

static void take_away(const reef_notice *n)
{
    for (uint32_t i = 0; i < n->count; i++) assert_ok(reef_remove_id(n->world, n->entities[i], n->component));
}

static void what_comes_may_be_taken_away_at_once(void **state)
{
    reef_world *w = world_of(state);
    begin(state);
    assert_false(reef_observer_is_null(reef_observe(w, take_away, REEF_ON_ADD, Health)));
    assert_false(reef_observer_is_null(reef_observer_add(w, "frozen", take_away, REEF_ON_ADD, reef_id(Frozen))));
    const reef_entity e = reef_spawn(w, reef_with(Position, 1, 1));
    for (int i = 0; i < 4; i++) {
        assert_status(REEF_ADDED, reef_set(w, e, Health, 1, 1));
        assert_false(reef_has(w, e, Health));
        assert_null(reef_ensure(w, e, Health));
        assert_ok(reef_add(w, e, Frozen));
        assert_false(reef_has(w, e, Frozen));
    }
    assert_position(w, e, 1, 1);
}

static void count_up(const reef_notice *n)
{
    for (uint32_t i = 0; i < n->count; i++) {
        const Health *h = reef_get(n->world, n->entities[i], Health);
        if (h->now < 100) (void)reef_set(n->world, n->entities[i], Health, h->now + 1, h->most);
    }
}

/* A set by an observer is recorded as well: observers never run inside of one another. */
static void sets_by_observers_are_done_after_them(void **state)
{
    reef_world *w = world_of(state);
    begin(state);
    assert_false(reef_observer_is_null(reef_observe(w, count_up, REEF_ON_SET, Health)));
    const reef_entity e = reef_spawn(w, reef_with(Health, 0, 0));
    assert_ok(reef_set(w, e, Health, 1, 0));
    assert_int_equal(reef_get(w, e, Health)->now, 100);
}

/* What an observer asks for waits until it has returned, also where nobody watches what it changes and where the same
 * calls were just done at once. */
typedef struct Stored {
    int32_t n;
} Stored;
REEF_COMPONENT_IN(Stored, REEF_SPARSE);
REEF_SWITCH(Lit);
REEF_RELATION(Leads, REEF_EXCLUSIVE);

static struct {
    reef_entity other, victim, target;
    uint32_t heard;
} unwatched;

static void ask_for_all(const reef_notice *n)
{
    reef_world *w = n->world;
    const reef_entity e = unwatched.other;
    const uint64_t entities = reef_count(w, Position);
    unwatched.heard++;
    assert_ok(reef_add(w, e, Frozen));
    assert_false(reef_has(w, e, Frozen));
    assert_ok(reef_set(w, e, Mass, 7));
    assert_int_equal(reef_get(w, e, Mass)->kg, 1);
    assert_ok(reef_set(w, e, Stored, 7));
    assert_int_equal(reef_get(w, e, Stored)->n, 1);
    assert_ok(reef_remove(w, e, Position));
    assert_true(reef_has(w, e, Position));
    assert_ok(reef_add(w, e, Lit));
    assert_false(reef_has(w, e, Lit));
    assert_ok(reef_disable(w, e, Mass));
    assert_true(reef_is_enabled(w, e, Mass));
    assert_true(reef_relate(w, e, Leads, unwatched.target) >= 0);
    assert_false(reef_related(w, e, Leads, unwatched.target));
    (void)reef_spawn(w, reef_with(Position, 3, 3));
    assert_ok(reef_destroy(w, unwatched.victim));
    assert_true(reef_is_alive(w, unwatched.victim));
    assert_int_equal(reef_count(w, Position), entities);
}

static void what_nobody_watches_waits_as_well(void **state)
{
    reef_world *w = world_of(state);
    begin(state);
    memset(&unwatched, 0, sizeof unwatched);
    assert_false(reef_observer_is_null(reef_observe(w, ask_for_all, REEF_ON_ADD, Health)));
    unwatched.target = reef_create(w);
    for (int i = 0; i < 3; i++) {
        const reef_entity e = reef_spawn(w, reef_with(Position, 1, 2), reef_with(Mass, 1), reef_with(Stored, 1));
        const reef_entity warm = reef_spawn(w, reef_with(Position, 1, 2), reef_with(Mass, 1), reef_with(Stored, 1));
        (void)reef_spawn(w, reef_with(Position, 3, 3));
        unwatched.victim = reef_spawn(w, reef_with(Position, 1, 2), reef_with(Mass, 1), reef_with(Stored, 1));
        unwatched.other = e;
        /* the fast paths of all calls are open */
        for (int k = 0; k < 2; k++) {
            assert_ok(reef_add(w, warm, Frozen));
            assert_ok(reef_remove(w, warm, Frozen));
            assert_ok(reef_remove(w, warm, Position));
            assert_true(reef_set(w, warm, Position, 1, 2) >= 0);
            assert_ok(reef_add(w, warm, Lit));
            assert_ok(reef_remove(w, warm, Lit));
            assert_ok(reef_disable(w, warm, Mass));
            assert_ok(reef_enable(w, warm, Mass));
            assert_true(reef_set(w, warm, Mass, 1) >= 0 && reef_set(w, e, Mass, 1) >= 0);
            assert_true(reef_set(w, warm, Stored, 1) >= 0 && reef_set(w, e, Stored, 1) >= 0);
            assert_true(reef_relate(w, warm, Leads, unwatched.target) >= 0);
            assert_ok(reef_unrelate(w, warm, Leads, unwatched.target));
        }
        assert_ok(reef_destroy(w, reef_spawn(w, reef_with(Position, 1, 2), reef_with(Mass, 1), reef_with(Stored, 1))));
        assert_ok(reef_add(w, warm, Health));
        assert_int_equal(unwatched.heard, i + 1);
        assert_true(reef_has(w, e, Frozen) && !reef_has(w, e, Position) && reef_has(w, e, Lit));
        assert_false(reef_is_enabled(w, e, Mass));
        assert_int_equal(reef_get(w, e, Mass)->kg, 7);
        assert_int_equal(reef_get(w, e, Stored)->n, 7);
        assert_true(reef_related(w, e, Leads, unwatched.target));
        assert_false(reef_is_alive(w, unwatched.victim));
    }
}

static void for_ever(const reef_notice *n)
{
    tape.calls++;
    const reef_status s =
        reef_set(n->world, n->entities[0], Health, reef_get(n->world, n->entities[0], Health)->now + 1, 0);
    if (s != REEF_OK) assert_int_equal(s, REEF_LIMIT);
}

static void a_cascade_without_end_is_bounded_and_named(void **state)
{
    reef_world *w = world_of(state);
    char text[512];
    begin(state);
    assert_false(reef_observer_is_null(reef_observe(w, for_ever, REEF_ON_SET, Health)));
    const reef_entity e = reef_spawn(w, reef_with(Health, 0, 0)), f = reef_spawn(w, reef_with(Mass, 1));
    assert_ok(reef_set(w, e, Health, 1, 0));
    assert_int_equal(reef_get(w, e, Health)->now, 1 + REEF_CASCADE_ROUNDS);
    assert_int_equal(tape.calls, 1 + REEF_CASCADE_ROUNDS);
    const reef_error error = reef_last_error(w);
    assert_int_equal(error.status, REEF_LIMIT);
    assert_string_equal(error.system, "for_ever");
    reef_error_text(w, text, sizeof text);
    assert_non_null(strstr(text, "observer for_ever: reef_set"));
    assert_ok(reef_set(w, f, Mass, 2));
    assert_ok(reef_set(w, e, Health, 1, 0)); /* and again */
    assert_int_equal(reef_get(w, e, Health)->now, 1 + REEF_CASCADE_ROUNDS);
}

/* ---- what is refused to observers ---- */

static reef_observer_id itself;
static void tries(const reef_notice *n)
{
    reef_world *w = n->world;
    assert_null(reef_fork(w));
    assert_int_equal(reef_last_error(w).status, REEF_LOCKED);
    assert_string_equal(reef_last_error(w).system, "tries");
    assert_null(reef_snapshot_take(w));
    assert_int_equal(reef_tick(w, 0), REEF_LOCKED);
    assert_int_equal(reef_flush(w), REEF_LOCKED);
    assert_int_equal(reef_observer_remove(w, itself), REEF_LOCKED);
    assert_true(reef_observer_is_null(reef_observe(w, hear, REEF_ON_ADD, Mass)));
    assert_int_equal(remove_everywhere(w, reef_id(Position), NULL), REEF_LOCKED);
    for (reef_block b = reef_begin_text(w, "Position"); reef_next(&b);) { /* loops work */
        Position *p = reef_inout(&b, Position);
        for (uint32_t i = 0; i < b.count; i++) p[i].x += 1;
    }
    const reef_query q = reef_query_new(w, "Position");
    for (reef_block b = reef_begin_loop(w, q, &(reef_loop){.deferred = true}); reef_next(&b);)
        assert_ok(reef_add(w, b.entities[0], Hungry));
    assert_ok(reef_query_free(w, q));
    assert_ok(reef_add(w, n->entities[0], Mass)); /* is still recorded */
    assert_false(reef_has(w, n->entities[0], Mass));
    tape.calls++;
}

static void observers_may_walk_and_write_but_not_fork(void **state)
{
    reef_world *w = world_of(state);
    begin(state);
    itself = reef_observe(w, tries, REEF_ON_ADD, Frozen);
    const reef_entity e = reef_spawn(w, reef_with(Position, 1, 2));
    assert_ok(reef_add(w, e, Frozen));
    assert_int_equal(tape.calls, 1);
    assert_position(w, e, 2, 2);
    assert_true(reef_has(w, e, Hungry) && reef_has(w, e, Mass));
    assert_int_equal(reef_last_error(w).status, REEF_LOCKED);
    assert_string_equal(reef_last_error(w).system, "tries");
    reef_snapshot *s = reef_snapshot_take(w);
    assert_non_null(s);
    reef_snapshot_free(s);
}

/* ---- the misuse hook ---- */

typedef struct misuses {
    int count;
    char message[400];
} misuses;

static void hear_misuse(void *context, reef_status status, const char *message)
{
    misuses *m = context;
    assert_int_equal(status, REEF_LOCKED);
    m->count++;
    snprintf(m->message, sizeof m->message, "%s", message);
}

static void clears(const reef_notice *n) { (void)reef_world_clear(n->world); }

/* Also where commands are done, whose own failures are no misuse. */
static void the_misuse_hook_names_the_observer(void **state)
{
    misuses m = {0, ""};
    reef_world *w = another_world(state, &(reef_world_config){.misuse = hear_misuse, .context = &m});
    assert_false(reef_observer_is_null(reef_observe(w, clears, REEF_ON_ADD, Frozen)));
    const reef_entity e = reef_spawn(w, reef_with(Position, 1, 2)), f = reef_spawn(w, reef_with(Position, 1, 2));
    assert_ok(reef_add(w, e, Frozen));
    const reef_query q = reef_query_new(w, "Position");
    reef_block b = reef_begin_loop(w, q, &(reef_loop){.deferred = true});
    assert_ok(reef_add(w, f, Frozen));
    reef_end(&b);
    assert_int_equal(reef_last_error(w).status, REEF_LOCKED);
    assert_string_equal(reef_last_error(w).system, "clears");
#ifdef REEF_CHECKED
    assert_int_equal(m.count, 2);
    assert_non_null(strstr(m.message, "observer clears: reef_world_clear: "));
#else
    assert_int_equal(m.count, 0);
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(single_calls_tell_what_they_do),
        TEST(an_end_is_told_to_the_observers_of_all_components),
        TEST(lives_of_one_set_sound_alike),
        TEST(failed_calls_tell_nothing),
        TEST(tags_and_switches_are_observed),
        TEST(adds_are_told_to_whoever_listens_now),
        TEST(the_only_observer_of_many_adds_may_ask_for_more),
        TEST(values_with_hooks_are_told_of_and_end_once),
        TEST(any_death_is_told_of_after_what_it_took),
        TEST(observers_are_called_in_the_order_of_their_making),
        TEST(operations_on_many_tell_by_block_in_their_order),
        TEST(a_match_begins_and_ends),
        TEST(matches_of_whole_queries),
        TEST(what_observers_ask_for_is_done_first_in_first_out),
        TEST(what_comes_may_be_taken_away_at_once),
        TEST(sets_by_observers_are_done_after_them),
        TEST(what_nobody_watches_waits_as_well),
        TEST(a_cascade_without_end_is_bounded_and_named),
        TEST(observers_may_walk_and_write_but_not_fork),
        TEST(the_misuse_hook_names_the_observer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
