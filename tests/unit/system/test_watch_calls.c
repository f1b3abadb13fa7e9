/* The checked build's watch over systems (G6): calls for which a system has no right, at a wrong time, or from another
 * thread. The suite is built in the checked build alone. */
#include "watch_stage.h"
#ifndef REEF_NO_THREADS
#include <pthread.h>
#endif

typedef struct Banner {
    uint32_t n;
} Banner;
REEF_COMPONENT_IN(Banner, REEF_SHARED);
static void nothing(reef_block *b) { (void)b; }
static void get_other(reef_block *b) { assert_true(reef_get(b->world, target, Velocity)->x == 1); }
static void get_by_id(reef_block *b)
{
    assert_non_null(reef_get_fast(b->world, target, reef_id(Velocity), sizeof(Velocity)));
}
static void get_many(reef_block *b)
{
    Velocity v;
    assert_int_equal(reef_get_many(b->world, Velocity, &target, 1, &v), 1);
}
static void get_single(reef_block *b) { assert_true(reef_single_get(b->world, Wind)->x == 3); }
static void read_other(reef_block *b)
{
    Velocity v;
    assert_true(reef_read(b->world, target, Velocity, &v) && v.x == 1);
}
static void span_other(reef_block *b)
{
    uint32_t n;
    assert_non_null(reef_get_all(b->world, target, Velocity, &n));
}
static void ref_other(reef_block *b)
{
    reef_ref r = reef_ref_make(b->world, target, Velocity);
    assert_non_null(reef_ref_get(b->world, &r, Velocity));
}
static void pin_other(reef_block *b)
{
    const reef_pinned pin = reef_pin(b->world, target, Banner);
    assert_non_null(pin.value);
    reef_unpin(pin);
}
static bool see_one(void *context, reef_entity e, reef_component c, const void *data, size_t size)
{
    (void)context, (void)e, (void)data, (void)size;
    assert_int_equal(c.id, reef_id(Banner).id); /* the first by name */
    return false;
}
static void visit_other(reef_block *b) { assert_false(reef_visit_entity(b->world, target, see_one, NULL)); }
static void set_single(reef_block *b) { assert_int_equal(reef_single_set(b->world, Wind, 1, 1), REEF_UNDECLARED); }
static void ref_mut_other(reef_block *b)
{
    const reef_ref r = reef_ref_make(b->world, target, Velocity);
    assert_null(reef_ref_mut(b->world, &r, Velocity));
}
static void mut_other(reef_block *b)
{
    for (int i = 0; i < 3; i++) assert_null(reef_mut(b->world, target, Velocity));
}
static void mut_tracked(reef_block *b) { assert_null(reef_mut(b->world, target, Marked)); }
static void set_other(reef_block *b) { assert_int_equal(reef_set(b->world, target, Velocity, 4, 4), REEF_UNDECLARED); }
static void mut_single(reef_block *b) { assert_null(reef_single_mut(b->world, Wind)); }
static void block_other(reef_block *b) { assert_null(reef_inout(b, Velocity)); }
static void has_other(reef_block *b) { assert_true(reef_has(b->world, target, Velocity)); }

static void undeclared_calls_on_others(void **state)
{
    heard h;
    reef_entity fish[FISH];
    reef_world *w = world_of_fish(state, &h, fish);
    const struct {
        void (*f)(reef_block *);
        const char *op, *allowed;
        reef_component c;
    } cheats[] = {
        {get_other, "reef_get", "Position; reads Velocity", reef_id(Velocity)},
        {get_by_id, "reef_get", "Position; writes Velocity", reef_id(Velocity)},
        {get_many, "reef_get_many", "Position; reads Velocity", reef_id(Velocity)},
        {get_single, "reef_single_get", "Position; reads Wind", reef_id(Wind)},
        {read_other, "reef_get", "Position; reads Velocity", reef_id(Velocity)},
        {span_other, "reef_get", "Position; reads Velocity", reef_id(Velocity)},
        {ref_other, "reef_get", "Position; reads Velocity", reef_id(Velocity)},
        {pin_other, "reef_pin", "Position; reads Banner", reef_id(Banner)},
        {visit_other, "reef_visit", "Position; reads Banner", reef_id(Banner)},
        {set_single, "reef_set", NULL, reef_id(Wind)},
        {ref_mut_other, "reef_mut", NULL, reef_id(Velocity)},
        {mut_other, "reef_mut", NULL, reef_id(Velocity)},
        {mut_tracked, "reef_mut", NULL, reef_id(Marked)},
        {set_other, "reef_set", NULL, reef_id(Velocity)},
        {mut_single, "reef_mut", NULL, reef_id(Wind)},
    };
    target = fish[1];
    assert_true(reef_set(w, target, Marked, 1) >= 0 && reef_set(w, target, Banner, 1) >= 0);
    assert_true(reef_single_set(w, Wind, 3, 4) >= 0);
    /* Another system of the phase declares it all: that helps nobody else. */
    system_new(w, "other", nothing, "; writes Velocity Wind Marked", NULL);
    for (size_t i = 0; i < sizeof cheats / sizeof *cheats; i++) {
        system_new(w, "cheat", cheats[i].f, "Position, !Marked, in Velocity", NULL);
        const reef_entity e = cheats[i].c.id == reef_id(Wind).id ? reef_single_entity(w) : target;
        assert_tells(w, &h, REEF_UNDECLARED, cheats[i].op, cheats[i].c, e, "the access was not declared");
        assert_ok(reef_system_remove(w, reef_system_find(w, "cheat")));
        if (cheats[i].allowed == NULL) continue;
        h.count = 0;
        system_new(w, "right", cheats[i].f, cheats[i].allowed, NULL);
        assert_ok(reef_tick(w, 1));
        assert_int_equal(h.count, 0);
        assert_ok(reef_system_remove(w, reef_system_find(w, "right")));
    }
    system_new(w, "cheat", block_other, "Position, !Marked", NULL);
    assert_tells(w, &h, REEF_UNDECLARED, "reef_inout", reef_id(Velocity), (reef_entity){0, 0}, NULL);
    assert_ok(reef_system_remove(w, reef_system_find(w, "cheat")));
    system_new(w, "right", has_other, "Position", NULL); /* whether it is there doesn't change */
    h.count = 0;
    assert_ok(reef_tick(w, 1));
    assert_int_equal(h.count, 0);
}

static void send_bump(reef_block *b) { assert_int_equal(reef_send(b, Bump, 1), REEF_UNDECLARED); }
static void receive_bump(reef_block *b) { assert_int_equal(reef_receive(b, Bump).count, 0); }
static void cmd_spawn(reef_block *b) { assert_none(reef_cmd_spawn(b, reef_with(Count, 1))); }
static void cmd_add(reef_block *b) { assert_int_equal(reef_cmd_add(b, target, Count), REEF_UNDECLARED); }
static void cmd_set(reef_block *b) { assert_int_equal(reef_cmd_set(b, target, Count, 1), REEF_UNDECLARED); }
static void cmd_remove(reef_block *b) { assert_int_equal(reef_cmd_remove(b, target, Velocity), REEF_UNDECLARED); }
static void cmd_enable(reef_block *b) { assert_int_equal(reef_cmd_disable(b, target, Velocity), REEF_UNDECLARED); }
static void cmd_destroy(reef_block *b) { assert_int_equal(reef_cmd_destroy(b, target), REEF_UNDECLARED); }
static void cmd_name(reef_block *b) { assert_int_equal(reef_cmd_name(b, target, "nemo"), REEF_UNDECLARED); }
static void part_of_sum(reef_block *b) { assert_null(reef_part(b, Count)); }

static const char *only_asked(const reef_world *w, reef_entity e, reef_component c, void *context)
{
    (void)w;
    return reef_entity_equal(e, *(const reef_entity *)context) && c.id == reef_id(Velocity).id ? "it is far away"
                                                                                               : NULL;
}

static void G6_G9_the_program_refuses_reads(void **state)
{
    heard h;
    reef_entity fish[FISH];
    reef_world *w = world_of_fish(state, &h, fish);
    target = fish[1];
    system_new(w, "cheat", get_other, "Position; reads Velocity", NULL);
    reef_watch_reads(w, only_asked, &fish[2]);
    h.count = 0;
    assert_ok(reef_tick(w, 1));
    assert_int_equal(h.count, 0); /* another entity is read */
    reef_watch_reads(w, only_asked, &fish[1]);
    reef_world *fork = reef_fork(w);
    assert_tells(w, &h, REEF_UNDECLARED, "reef_get", reef_id(Velocity), target, "it is far away");
    h.count = 0;
    assert_ok(reef_tick(fork, 1));
    reef_watch_reads(w, NULL, NULL);
    assert_ok(reef_tick(w, 1));
    assert_int_equal(h.count, 0);
    reef_watch_reads(NULL, only_asked, NULL);
    reef_world_free(fork);
}

static void undeclared_events_and_commands(void **state)
{
    heard h;
    reef_entity fish[FISH];
    reef_world *w = world_of_fish(state, &h, fish);
    target = fish[1];
    const reef_entity no = {0, 0};
    const reef_component none = {0};
    const struct {
        void (*f)(reef_block *);
        reef_component c;
        reef_entity e;
    } cheats[] = {
        {send_bump, reef_id(Bump), no},    {receive_bump, reef_id(Bump), no},
        {cmd_spawn, reef_id(Count), no},   {cmd_add, reef_id(Count), target},
        {cmd_set, reef_id(Count), target}, {cmd_remove, reef_id(Velocity), target},
        {cmd_destroy, none, target},       {cmd_enable, reef_id(Velocity), target},
        {cmd_name, none, target},          {part_of_sum, reef_id(Count), no},
    };
    const uint64_t before = reef_count_alive(w);
    for (size_t i = 0; i < sizeof cheats / sizeof *cheats; i++) {
        system_new(w, "cheat", cheats[i].f, "in Position", NULL);
        h.count = 0;
        assert_ok(reef_tick(w, 1));
        assert_int_equal(h.count, 1);
        assert_int_equal(reef_last_error(w).status, REEF_UNDECLARED);
        assert_string_equal(reef_last_error(w).system, "cheat");
        if (reef_last_error(w).component.id != cheats[i].c.id) fail_msg("%zu: %s", i, h.first);
        if (!reef_entity_equal(reef_last_error(w).entity, cheats[i].e)) fail_msg("%zu: %s", i, h.first);
        assert_ok(reef_system_remove(w, reef_system_find(w, "cheat")));
    }
    assert_int_equal(reef_count_alive(w), before);
}

static void stale_mut(reef_block *b) { assert_null(reef_mut(b->world, target, Velocity)); }
static void stale_set(reef_block *b) { assert_int_equal(reef_set(b->world, target, Velocity, 1, 1), REEF_NOT_ALIVE); }
static void tick_again(reef_block *b) { assert_int_equal(reef_tick(b->world, 0), REEF_LOCKED); }
static void watch_off(reef_block *b) { reef_watch_systems(b->world, false); }

static void stale_entities_and_calls_at_the_wrong_time(void **state)
{
    heard h;
    reef_entity fish[FISH];
    reef_world *w = world_of_fish(state, &h, fish);
    const reef_component none = {0}, velocity = reef_id(Velocity);
    const reef_entity no = {0, 0};
    target = fish[4];
    assert_ok(reef_destroy(w, target));
    const struct {
        void (*f)(reef_block *);
        const char *text, *op;
        reef_status status;
        reef_component c;
        reef_entity e;
    } cheats[] = {
        {stale_mut, "; writes Velocity", "reef_mut", REEF_NOT_ALIVE, velocity, target},
        {stale_set, "; writes Velocity", "reef_set", REEF_NOT_ALIVE, velocity, target},
        {tick_again, "Position", "reef_tick", REEF_LOCKED, none, no},
        {watch_off, "Position", "reef_watch_systems", REEF_LOCKED, none, no},
    };
    for (size_t i = 0; i < sizeof cheats / sizeof *cheats; i++) {
        system_new(w, "cheat", cheats[i].f, cheats[i].text, NULL);
        assert_tells(w, &h, cheats[i].status, cheats[i].op, cheats[i].c, cheats[i].e, NULL);
        assert_ok(reef_system_remove(w, reef_system_find(w, "cheat")));
    }
}

#ifndef REEF_NO_THREADS

static void *intrude(void *data)
{
    assert_none(reef_spawn((reef_world *)data, reef_with(Count, 1)));
    return NULL;
}

static void *intrude_set(void *data)
{
    assert_int_equal(reef_set((reef_world *)data, target, Velocity, 5, 5), REEF_LOCKED);
    assert_null(reef_mut((reef_world *)data, target, Velocity));
    return NULL;
}

static void on_a_thread(reef_block *b, void *(*f)(void *))
{
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, f, b->world), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

static void let_in(reef_block *b) { on_a_thread(b, intrude); }
static void let_set(reef_block *b) { on_a_thread(b, intrude_set); }

static void A10_G6_another_thread_uses_the_world(void **state)
{
    heard h;
    reef_entity fish[FISH];
    reef_world *w = world_of_fish(state, &h, fish);
    target = fish[0];
    system_new(w, "cheat", let_in, "in Position", NULL);
    assert_ok(reef_tick(w, 1));
    assert_int_equal(h.count, 1);
    assert_int_equal(h.status, REEF_LOCKED);
    assert_non_null(strstr(h.first, "another thread uses the world while it ticks, in system cheat"));
    assert_ok(reef_system_remove(w, reef_system_find(w, "cheat")));
    system_new(w, "cheat", let_set, "; writes Velocity", NULL); /* declared, but not for others */
    h.count = 0;
    assert_ok(reef_tick(w, 1));
    assert_int_equal(h.count, 2);
    assert_non_null(strstr(h.first, "another thread uses the world while it ticks, in system cheat"));
    assert_true(reef_get(w, fish[0], Velocity)->x == 1);
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(undeclared_calls_on_others),           TEST(G6_G9_the_program_refuses_reads),
        TEST(undeclared_events_and_commands),       TEST(stale_entities_and_calls_at_the_wrong_time),
#ifndef REEF_NO_THREADS
        TEST(A10_G6_another_thread_uses_the_world),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
