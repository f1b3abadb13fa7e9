/* The checked build's watch over systems (G6): a seeded violation of every kind is told with system, component and
 * entity; right systems of many shapes are told nothing, and come out as they do without the watch. test_watch_calls.c
 * is about what systems call. */
#include "scenes.h"
#include "watch_stage.h"

typedef struct Rich {
    uint32_t n;
} Rich;
static reef_status rich_copy(void *context, void *to, const void *from)
{
    return (void)context, memcpy(to, from, sizeof(Rich)), REEF_OK;
}
static void rich_destroy(void *context, void *slot) { (void)context, memset(slot, 0xEE, sizeof(Rich)); }
static const reef_hooks rich_hooks = {.copy = rich_copy, .destroy = rich_destroy, .bytes_move = true};
REEF_COMPONENT_HOOKS(Rich, &rich_hooks);

static void move(reef_block *b)
{
    Position *p = reef_inout(b, Position);
    const Velocity *v = reef_in(b, Velocity);
    for (uint32_t i = 0; i < b->count; i++) p[i].x += v[i].x * b->dt, p[i].y += v[i].y * b->dt;
}

#ifdef REEF_CHECKED

/* ---- values ---- */

static void write_in(reef_block *b)
{
    Position *p = (Position *)(uintptr_t)reef_in(b, Position);
    p[3].x = 9;
    p[4].x = 9;
}

static void an_in_array_is_written(void **state)
{
    heard h;
    reef_entity fish[FISH];
    reef_world *w = world_of_fish(state, &h, fish);
    system_new(w, "cheat", write_in, "in Position, Velocity", NULL);
    assert_tells(w, &h, REEF_UNDECLARED, "reef_system", reef_id(Position), fish[3],
                 "which doesn't declare that it writes it");
    assert_string_equal(
        h.first,
        "system cheat: reef_system: component Position, entity 3v1: the access was not declared: changed by the "
        "system, which doesn't declare that it writes it");
}

static void write_last(reef_block *b) { ((Position *)(uintptr_t)reef_in(b, Position))[b->count - 1].x = 9; }

static void the_last_row_of_a_full_block(void **state)
{
    heard h;
    reef_world *w = world_heard(state, &h);
    reef_entity e = {0, 0};
    for (uint32_t i = 0; i < REEF_BLOCK_ROWS; i++) e = reef_spawn(w, reef_with(Position, 1, 1));
    system_new(w, "cheat", write_last, "in Position", NULL);
    assert_tells(w, &h, REEF_UNDECLARED, "reef_system", reef_id(Position), e, NULL);
}

static void write_behind(reef_block *b) { reef_inout(b, Position)[b->count].x = 9; }

static void a_row_behind_the_last_is_written(void **state)
{
    heard h;
    reef_entity fish[FISH];
    reef_world *w = world_of_fish(state, &h, fish);
    system_new(w, "cheat", write_behind, "Position", NULL);
    assert_tells(w, &h, REEF_UNDECLARED, "reef_system", reef_id(Position), (reef_entity){0, 0}, "after the last row");
}

static void *kept;
static float kept_value = 77;

static void write_kept(reef_block *b)
{
    (void)b;
    ((float *)kept)[0] = kept_value;
}

static void a_pointer_from_before_is_written(void **state)
{
    heard h;
    reef_entity fish[FISH];
    reef_world *w = world_of_fish(state, &h, fish);
    reef_entity stone = reef_spawn(w, reef_with(Position, 1, 1), reef_tag(Frozen));
    system_new(w, "cheat", write_kept, "Position, !Frozen, in Velocity", NULL);
    kept = reef_mut(w, stone, Position); /* of a table that it isn't handed */
    assert_tells(w, &h, REEF_UNDECLARED, "reef_system", reef_id(Position), stone, "in a block that it wasn't given");
    kept = reef_mut(w, fish[2], Velocity); /* of a column that it only reads */
    assert_tells(w, &h, REEF_UNDECLARED, "reef_system", reef_id(Velocity), fish[2], NULL);
    ((Velocity *)kept)->x = 0;
    system_new(w, "right", write_kept, "; writes Velocity", NULL);
    assert_ok(reef_system_enable(w, reef_system_find(w, "cheat"), false));
    h.count = 0;
    assert_ok(reef_tick(w, 1));
    assert_int_equal(h.count, 0);
}

static void another_chunk_is_written(void **state)
{
    heard h;
    reef_world *w = world_heard(state, &h);
    reef_entity e[1500];
    for (uint32_t i = 0; i < 1500; i++) e[i] = reef_spawn(w, reef_with(Position, 1, 1), reef_with(Velocity, 1, 1));
    system_new(w, "cheat", write_kept, "Position, in changed Velocity", NULL);
    kept = reef_mut(w, e[1200], Position);
    assert_ok(reef_tick(w, 1));
    assert_int_equal(h.count, 0);
    kept = reef_mut(w, e[1200], Position); /* not handed out: only Velocity of the first chunk changed */
    reef_mut(w, e[7], Velocity)->x = 5;
    kept_value = 78;
    assert_tells(w, &h, REEF_UNDECLARED, "reef_system", reef_id(Position), e[1200], "in a block that it wasn't given");
}

static void write_all(reef_block *b)
{
    Position *p = reef_inout(b, Position);
    for (uint32_t i = 0; i < b->count; i++) p[i].x += 1;
}

static void a_row_that_does_not_match_is_written(void **state)
{
    heard h;
    reef_entity fish[FISH];
    reef_world *w = world_of_fish(state, &h, fish);
    for (uint32_t i = 0; i < FISH; i++)
        if (i != 1 && i != 4) assert_true(reef_add(w, fish[i], Awake) >= 0);
    system_new(w, "cheat", write_all, "Position, Awake", NULL);
    assert_tells(w, &h, REEF_UNDECLARED, "reef_system", reef_id(Position), fish[1],
                 "the row doesn't match its query: take the rows from reef_block_run");
}

static void turn_switch(reef_block *b) { ((uint64_t *)(uintptr_t)reef_block_mask(b))[0] ^= 4; }
static void write_handle(reef_block *b) { ((reef_entity *)(uintptr_t)b->entities)[2].index = 9; }

static void switches_and_handles_are_written(void **state)
{
    heard h;
    reef_entity fish[FISH];
    reef_world *w = world_of_fish(state, &h, fish);
    assert_true(reef_add(w, fish[0], Awake) >= 0);
    system_new(w, "cheat", turn_switch, "in Position, Awake", NULL);
    h.count = 0;
    assert_ok(reef_tick(w, 1));
    assert_int_equal(h.count, 1);
    assert_int_equal(reef_last_error(w).component.id, reef_id(Awake).id);
    assert_entity(fish[2], reef_last_error(w).entity);
    assert_string_equal(reef_last_error(w).system, "cheat");
    assert_ok(reef_tick(w, 1)); /* and back */
    assert_ok(reef_system_remove(w, reef_system_find(w, "cheat")));
    system_new(w, "cheat", write_handle, "in Position", NULL);
    h.count = 0;
    const reef_entity *handles = NULL;
    reef_query q = reef_query_new(w, "in Position");
    for (reef_block b = reef_begin(w, q); reef_next(&b);) handles = b.entities;
    assert_ok(reef_tick(w, 1));
    ((reef_entity *)(uintptr_t)handles)[2] = fish[2];
    assert_int_equal(h.count, 1);
    assert_int_equal(reef_last_error(w).component.id, 0);
    assert_entity(fish[2], reef_last_error(w).entity);
    assert_string_equal(reef_last_error(w).system, "cheat");
}

static void write_hooked(reef_block *b) { ((Tracked *)(uintptr_t)reef_in(b, Tracked))[0].value++; }

static void values_with_hooks_are_bytes(void **state)
{
    heard h;
    reef_world *w = world_heard(state, &h);
    reef_entity e = reef_spawn(w, reef_with(Tracked, .value = 1));
    system_new(w, "cheat", write_hooked, "in Tracked", NULL);
    assert_tells(w, &h, REEF_UNDECLARED, "reef_system", reef_id(Tracked), e, NULL);
}

static void write_two(reef_block *b)
{
    for (uint32_t i = 0; i < b->count; i++) {
        ((Position *)(uintptr_t)reef_in(b, Position))[i].x++;
        ((Velocity *)(uintptr_t)reef_in(b, Velocity))[i].x++;
    }
}

static void once_for_each_component(void **state)
{
    heard h;
    reef_entity fish[FISH];
    reef_world *w = world_of_fish(state, &h, fish);
    for (uint32_t i = 0; i < 3000; i++) reef_spawn(w, reef_with(Position, 1, 1), reef_with(Velocity, 1, 1));
    system_new(w, "cheat", write_two, "in Position, in Velocity", NULL);
    assert_ok(reef_tick(w, 1));
    assert_int_equal(h.count, 2);
}

static void write_fixed(reef_block *b)
{
    reef_fixed_inout(b, Velocity)->x += 1;
    assert_non_null(reef_get(b->world, target, Velocity));
}
static void write_fixed_in(reef_block *b) { ((Velocity *)(uintptr_t)reef_fixed_in(b, Velocity))->x += 1; }
static void get_fixed(reef_block *b) { assert_non_null(reef_get(b->world, target, Velocity)); }

static void terms_of_one_entity(void **state)
{
    heard h;
    reef_entity fish[FISH];
    reef_world *w = world_of_fish(state, &h, fish);
    target = fish[2];
    assert_ok(reef_set_name(w, target, "sun"));
    system_new(w, "right", write_fixed, "in Position, Velocity of sun", NULL);
    system_new(w, "right_too", get_fixed, "in Position, in Velocity of sun", NULL);
    assert_ok(reef_tick(w, 1));
    assert_int_equal(h.count, 0);
    system_new(w, "cheat", write_fixed_in, "in Position, in Velocity of sun", NULL);
    assert_tells(w, &h, REEF_UNDECLARED, "reef_system", reef_id(Velocity), target, NULL);
    assert_ok(reef_system_remove(w, reef_system_find(w, "cheat")));
    /* that it is there says nothing about its value */
    system_new(w, "cheat", get_fixed, "in Position, with Velocity of sun", NULL);
    assert_tells(w, &h, REEF_UNDECLARED, "reef_get", reef_id(Velocity), target, NULL);
}

/* ---- order ---- */

static void write_next(reef_block *b)
{
    Position *p = reef_inout(b, Position);
    for (uint32_t i = 0; i + 1 < b->count; i++) p[i + 1].x = p[i].x + 1;
}

static void read_next(reef_block *b)
{
    Position *p = reef_inout(b, Position);
    for (uint32_t i = 0; i < b->count; i++)
        if (b->entities[i].index % 8 != 7) p[i].x += p[i + 1].x;
}

static void number(reef_block *b)
{
    static uint32_t last;
    Count *c = reef_inout(b, Count);
    for (uint32_t i = 0; i < b->count; i++) c[i].n = ++last;
}

static void sum_up(reef_block *b)
{
    float all = 0;
    Position *p = reef_inout(b, Position);
    for (uint32_t i = 0; i < b->count; i++) all += p[i].x;
    for (uint32_t i = 0; i < b->count; i++) p[i].y = all;
}

static void a_row_depends_on_others(void **state)
{
    heard h;
    reef_entity fish[8];
    reef_world *w = world_heard(state, &h);
    for (uint32_t i = 0; i < 8; i++)
        fish[i] = reef_spawn(w, reef_with(Position, (float)(10 + 3 * i * i), 0), reef_with(Count, 0));
    static const struct {
        void (*f)(reef_block *);
        const char *text;
        int first;
    } cheats[] = {
        {write_next, "Position", 1},
        {read_next, "Position", 0},
        {sum_up, "Position", 0},
        {number, "Count", 0},
    };
    for (size_t i = 0; i < sizeof cheats / sizeof *cheats; i++) {
        system_new(w, "cheat", cheats[i].f, cheats[i].text, NULL);
        assert_tells(w, &h, REEF_UNDECLARED, "reef_system", cheats[i].f == number ? reef_id(Count) : reef_id(Position),
                     fish[cheats[i].first], "depends on other rows");
        assert_ok(reef_system_remove(w, reef_system_find(w, "cheat")));
    }
}

static void only_count(reef_block *b) { ++*(uint32_t *)b->context; }
static void nothing(reef_block *b) { (void)b; }
static void add_counts(void *total, const void *part) { ((Count *)total)->n += ((const Count *)part)->n; }

static void who_is_not_run_twice_is_listed(void **state)
{
    heard h;
    uint32_t calls = 0;
    char text[4096];
    reef_world *w = world_heard(state, &h);
    for (uint32_t i = 0; i < 10; i++) reef_spawn(w, reef_with(Position, 1, 1), reef_with(Velocity, 1, 1));
    system_new(w, "context", only_count, "Position", &calls);
    system_new(w, "commands", nothing, "Position; destroys", NULL);
    system_new(w, "sends", nothing, "Position; sends Bump", NULL);
    system_new(w, "receives", nothing, "Position; receives Bump", NULL);
    system_new(w, "others", nothing, "Position; writes Velocity", NULL);
    system_new(w, "hooks", nothing, "Position, Tracked", NULL);
    system_new(w, "reads", nothing, "in Position", NULL);
    system_new(w, "twice", move, "Position, in Velocity", NULL);
    assert_false(reef_system_is_null(reef_system_new(
        w, &(reef_system_desc){
               .name = "sums", .function = nothing, .text = "Position; sums Count", .combine = add_counts})));
    assert_true(reef_schedule_explain(w, REEF_EXPLAIN_TEXT, text, sizeof text) < sizeof text);
    static const char *const wanted[] = {
        "not run twice: it has a context\n",  "not run twice: it has commands\n",
        "not run twice: it sends events\n",   "not run twice: it receives events\n",
        "not run twice: it isn't split\n",    "not run twice: it writes Tracked, which has hooks\n",
        "not run twice: it writes nothing\n", "not run twice: it sums\n",
    };
    uint32_t lines = 0;
    for (const char *p = text; (p = strstr(p, "not run twice")) != NULL; p++) lines++;
    assert_int_equal(lines, 8);
    for (size_t i = 0; i < 8; i++)
        if (strstr(text, wanted[i]) == NULL) fail_msg("\"%s\" isn't in:\n%s", wanted[i], text);
    assert_ok(reef_tick(w, 1));
    assert_int_equal(calls, 1);
    reef_watch_systems(w, false);
    reef_schedule_explain(w, REEF_EXPLAIN_TEXT, text, sizeof text);
    assert_null(strstr(text, "not run twice"));
}

/* ---- without memory, and off ---- */

static void without_memory_a_system_runs_unwatched(void **state)
{
    heard h;
    reef_entity fish[FISH];
    reef_world *w = world_of_fish(state, &h, fish);
    system_new(w, "cheat", write_in, "in Position, Velocity", NULL);
    assert_ok(reef_tick(w, 1));
    assert_int_equal(h.count, 1);
    for (uint64_t n = 1; n <= 2; n++) { /* the list of tables; the copy */
        heap_fail_nth(heap_of(state), n, true);
        h.count = h.logs = 0;
        reef_mut(w, fish[3], Position)->x = (float)n;
        assert_ok(reef_tick(w, 1));
        heap_fail_never(heap_of(state));
        assert_true(reef_get(w, fish[3], Position)->x == 9);
        assert_int_equal(h.count, 0);
        assert_int_equal(h.logs, 1);
        assert_string_equal(h.log, "system cheat: no memory to watch what it writes");
    }
}

static void the_watch_can_be_turned_off(void **state)
{
    heard h;
    reef_entity fish[FISH];
    reef_world *w = world_of_fish(state, &h, fish);
    system_new(w, "cheat", write_in, "in Position, Velocity", NULL);
    reef_watch_systems(w, false);
    for (int i = 0; i < 3; i++) assert_ok(reef_tick(w, 1));
    reef_world *fork = reef_fork(w);
    assert_ok(reef_tick(fork, 1));
    assert_int_equal(h.count, 0);
    reef_mut(fork, fish[3], Position)->x = 4;
    reef_watch_systems(fork, true);
    assert_ok(reef_tick(fork, 1));
    assert_int_equal(h.count, 1);
    reef_world_free(fork);
    reef_watch_systems(NULL, true);
}

#endif

/* ---- right systems ---- */

static void by_mask(reef_block *b)
{
    Position *p = reef_inout(b, Position);
    for (uint32_t first = 0, n; (n = reef_block_run(b, &first)) != 0; first += n)
        for (uint32_t i = first; i < first + n; i++) p[i].y += 2;
}

static void write_out(reef_block *b)
{
    Velocity *v = reef_out(b, Velocity);
    const Position *p = reef_in(b, Position);
    for (uint32_t i = 0; i < b->count; i++) {
        reef_random r = reef_random_for(b, b->entities[i]);
        v[i] = (Velocity){p[i].x * 0.5f, reef_random_float(&r)};
    }
}

static void optional(reef_block *b)
{
    Count *c = reef_inout(b, Count);
    Health *h = reef_inout(b, Health);
    for (uint32_t i = 0; i < b->count; i++) {
        c[i].n += b->count ? 1 : 0;
        if (h) h[i].now = (int32_t)(c[i].n + b->entities[i].index);
    }
}

static void seen_changes(reef_block *b)
{
    Count *c = reef_inout(b, Count);
    for (uint32_t first = 0, n; (n = reef_block_run(b, &first)) != 0; first += n)
        for (uint32_t i = first; i < first + n; i++) c[i].n += 1000;
}

static void mark_some(reef_block *b)
{
    Marked *m = reef_inout(b, Marked);
    for (uint32_t first = 0, n; (n = reef_block_run(b, &first)) != 0; first += n)
        for (uint32_t i = first; i < first + n; i++) m[i].n++;
}

static void pull(reef_block *b)
{
    Position *p = reef_inout(b, Position);
    const Wind *wind = reef_single_get(b->world, Wind);
    for (uint32_t i = 0; wind && i < b->count; i++) p[i].x += wind->x;
}

static void push(reef_block *b)
{
    const reef_entity *e = b->context;
    Velocity *v = reef_mut(b->world, *e, Velocity);
    if (v) v->x += (float)b->count;
    (void)reef_send(b, Bump, b->count);
}

static void hear_bumps(reef_block *b)
{
    Wind *wind = reef_single_mut(b->world, Wind);
    reef_events r = reef_receive(b, Bump);
    for (const Bump *x; wind && (x = reef_next_event(&r)) != NULL;) wind->y += (float)x->n;
}

static void renew(reef_block *b)
{
    for (uint32_t i = 0; i < b->count; i += 7) {
        reef_cmd_spawn(b, reef_with(Position, (float)i, 1), reef_with(Velocity, 1, 1), reef_with(Count, i));
        reef_cmd_destroy(b, b->entities[i]);
    }
}

static void live(reef_block *b)
{
    Rich *r = reef_inout(b, Rich);
    for (uint32_t i = 0; i < b->count; i++) r[i].n++;
}

static void count_all(reef_block *b) { reef_part(b, Count)->n += b->count; }
static void counts_add(void *total, const void *part) { ((Count *)total)->n += ((const Count *)part)->n; }

static reef_world *world_of_right(void **state, heard *h, reef_entity *target_kept)
{
    reef_world *w = world_heard(state, h);
    assert_true(reef_single_set(w, Wind, 1, 1) >= 0);
    for (uint32_t i = 0; i < 3000; i++) {
        reef_entity e = reef_spawn(w, reef_with(Position, (float)i, 0), reef_with(Velocity, 1, 2));
        if (i % 3 == 0) assert_true(reef_set(w, e, Count, i) >= 0);
        if (i % 6 == 0) assert_true(reef_set(w, e, Health, 1, 2) >= 0);
        if (i % 5 == 0) assert_true(reef_add(w, e, Awake) >= 0);
        if (i % 11 == 0) assert_true(reef_set(w, e, Marked, 0) >= 0);
        if (i % 22 == 0) assert_ok(reef_disable(w, e, Marked));
        if (i % 100 == 0) assert_true(reef_set(w, e, Rich, 1) >= 0);
        if (i == 1) *target_kept = e;
    }
    system_new(w, "move", move, "Position, in Velocity", NULL);
    system_new(w, "by_mask", by_mask, "Position, Awake", NULL);
    system_new(w, "write_out", write_out, "out Velocity, in Position, Count", NULL);
    system_new(w, "optional", optional, "Count, ?Health", NULL);
    system_new(w, "seen_changes", seen_changes, "Count, in changed Marked", NULL);
    system_new(w, "mark_some", mark_some, "Marked, Awake", NULL);
    system_new(w, "pull", pull, "Position; reads Wind", NULL);
    system_new(w, "push", push, "in Health; writes Velocity, sends Bump", target_kept);
    system_new(w, "hear_bumps", hear_bumps, "; receives Bump, writes Wind", NULL);
    system_new(w, "renew", renew, "in Count, in Position, !Rich, !Marked; spawns Position Velocity Count, destroys",
               NULL);
    system_new(w, "live", live, "Rich", NULL);
    assert_false(reef_system_is_null(reef_system_new(w, &(reef_system_desc){.name = "sum",
                                                                            .function = count_all,
                                                                            .text = "in Position; sums Count",
                                                                            .phase = "end",
                                                                            .combine = counts_add})));
    return w;
}

static void right_systems_are_told_nothing(void **state)
{
    heard h, g;
    reef_entity a, b;
    reef_world *w = world_of_right(state, &h, &a), *v = world_of_right(state, &g, &b), *fork = NULL;
    reef_snapshot *s = NULL;
    reef_watch_systems(v, false);
    for (int i = 0; i < 6; i++) {
        assert_ok(reef_tick(w, 0.25f));
        assert_ok(reef_tick(v, 0.25f));
        assert_true(reef_hash(w) == reef_hash(v));
        if (i == 1) fork = reef_fork(w);
        if (i == 2) s = reef_snapshot_take(w);
        if (fork) assert_ok(reef_tick(fork, 0.25f));
        if (i == 4) assert_true(reef_hash(fork) != reef_hash(w));
        assert_valid(w);
    }
    assert_ok(reef_tick(w, 0.25f));
    assert_true(reef_hash(fork) == reef_hash(w));
    assert_ok(reef_restore(w, s));
    for (int i = 0; i < 3; i++) assert_ok(reef_tick(w, 0.25f));
    assert_true(reef_hash(w) == reef_hash(v));
    if (h.count) fail_msg("%s", h.first);
    assert_int_equal(h.logs, 0);
    assert_int_equal(reef_last_error(w).status, REEF_OK);
    reef_world_free(fork);
    reef_snapshot_free(s);
}

static void scenes_are_told_nothing(void **state)
{
    for (uint32_t n = 0; n < scene_count; n++) {
        heard h, g;
        reef_world *w = world_heard(state, &h), *v = world_heard(state, &g);
        assert_true(scene_begin(&scenes[n], w) && scene_begin(&scenes[n], v));
        reef_watch_systems(v, false);
        for (uint64_t tick = 0; tick < scenes[n].ticks; tick++) {
            assert_ok(scene_tick(&scenes[n], w, tick));
            assert_ok(scene_tick(&scenes[n], v, tick));
            if (reef_hash(w) != reef_hash(v))
                fail_msg("%s: another state after tick %u", scenes[n].name, (unsigned)tick);
        }
        if (h.count != g.count) fail_msg("%s: %s", scenes[n].name, h.first);
        end_world(state, w);
        end_world(state, v);
    }
}
int main(void)
{
    const struct CMUnitTest tests[] = {
#ifdef REEF_CHECKED
        TEST(an_in_array_is_written),
        TEST(the_last_row_of_a_full_block),
        TEST(a_row_behind_the_last_is_written),
        TEST(a_pointer_from_before_is_written),
        TEST(another_chunk_is_written),
        TEST(a_row_that_does_not_match_is_written),
        TEST(switches_and_handles_are_written),
        TEST(values_with_hooks_are_bytes),
        TEST(once_for_each_component),
        TEST(terms_of_one_entity),
        TEST(a_row_depends_on_others),
        TEST(who_is_not_run_twice_is_listed),
        TEST(without_memory_a_system_runs_unwatched),
        TEST(the_watch_can_be_turned_off),
#endif
        TEST(right_systems_are_told_nothing),
        TEST(scenes_are_told_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
