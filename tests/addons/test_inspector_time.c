/* An inspector and time: it holds a program, steps, goes back, plays other futures, finds when a condition became true,
 * which system changed what, and lists events. */
#include "inspector_program.h"

typedef struct {
    uint32_t value;
} Mark;
REEF_COMPONENT(Mark);
REEF_FIELDS(Mark, value);

/* ---- time ---- */

static void a_program_is_paused_stepped_and_hastened(void **state)
{
    reef_world *w = world_of(state);
    (void)reef_system(w, move, "Place, in Speed");
    (void)reef_system(w, burn, "Vigor");
    const reef_entity e = reef_spawn(w, reef_with(Place, 0, 0), reef_with(Speed, 2, 0), reef_with(Vigor, 500000));
    for (int waits = 0; waits < 2; waits++) {
        begin_with(w, (reef_inspector_config){.writes = true, .waits = waits});
        post_ok("/api/control", "{\"pause\":true}");
        const long long tick = tick_now();
        rest(20000);
        assert_int_equal(tick_now(), tick);
        post_ok("/api/control", "{\"step\":1}");
        wait_for_tick(tick + 1);
        post_ok("/api/control", "{\"step\":5}");
        wait_for_tick(tick + 6);
        /* a system: the world itself stays where it is */
        json_t *j = post("/api/control", "{\"step\":\"system\"}", 200);
        assert_string_equal(text_of(j, "system"), "move");
        assert_int_equal(number(j, "count"), 2);
        json_decref(j);
        j = get("/api/diff?from=before-step&to=step", 200);
        assert_int_equal(number(j, "total"), 1);
        assert_string_equal(text_of(json_array_get(json_object_get(j, "changes"), 0), "component"), "Place");
        json_decref(j);
        j = post("/api/control", "{\"step\":\"system\"}", 200);
        assert_string_equal(text_of(j, "system"), "burn");
        json_decref(j);
        assert_int_equal(tick_now(), tick + 6);
        j = post("/api/control", "{\"step\":\"system\"}", 200); /* behind the last one, the tick itself */
        assert_true(json_is_true(json_object_get(j, "done")));
        json_decref(j);
        wait_for_tick(tick + 7);
        post_ok("/api/control", "{\"speed\":0.25,\"pause\":false}");
        while (tick_now() == tick + 7) rest(4000);
        post_ok("/api/control", "{\"speed\":10}");
        const long long before = tick_now();
        const unsigned own = atomic_load(&played.ticks);
        wait_for_ticks(own + 50);
        const long long of_program = atomic_load(&played.ticks) - own, all = tick_now() - before;
        if (all < 4 * of_program) fail_msg("%lld ticks, %lld of the program", all, of_program);
        end();
    }
    assert_true(reef_get(w, e, Vigor)->points < 500000 - 20);
}

static void going_back_shows_and_restores_old_values(void **state)
{
    reef_world *w = world_of(state);
    char path[200], body[100];
    (void)reef_system(w, burn, "Vigor");
    const reef_entity e = reef_spawn(w, reef_with(Vigor, 100000));
    begin_with(w, (reef_inspector_config){.writes = true, .waits = true, .record = true, .record_ticks = 300});
    wait_for_ticks(200);
    post_ok("/api/control", "{\"pause\":true}");
    const long long tick = tick_now(), old = tick - 100;
    snprintf(path, sizeof path, "/api/entity?id=%uv%u&at=%lld", (unsigned)e.index, (unsigned)e.generation, old);
    json_t *j = get(path, 200);
    const json_t *value =
        json_array_get(json_object_get(json_array_get(json_object_get(j, "components"), 0), "values"), 0);
    assert_int_equal(number(value, "points"), 100000 - old);
    json_decref(j);
    snprintf(path, sizeof path, "/api/curve?id=%uv%u&component=Vigor&field=points&from=%lld&to=%lld", (unsigned)e.index,
             (unsigned)e.generation, old, old + 9);
    j = get(path, 200);
    assert_int_equal(json_array_size(json_object_get(j, "points")), 10);
    for (size_t i = 0; i < 10; i++) {
        const json_t *point = json_array_get(json_object_get(j, "points"), i);
        assert_int_equal(json_integer_value(json_array_get(point, 0)), old + (long long)i);
        assert_true(json_number_value(json_array_get(point, 1)) == (double)(100000 - old - (long long)i));
    }
    json_decref(j);
    snprintf(path, sizeof path, "/api/diff?from=%lld&to=%lld", old, tick);
    j = get(path, 200);
    value = json_array_get(json_object_get(j, "changes"), 0);
    assert_int_equal(number(json_object_get(value, "was"), "points"), 100000 - old);
    assert_int_equal(number(json_object_get(value, "is"), "points"), 100000 - tick);
    json_decref(j);
    snprintf(path, sizeof path, "/api/when?id=%uv%u&component=Vigor&field=points&before=%lld", (unsigned)e.index,
             (unsigned)e.generation, old);
    j = get(path, 200);
    assert_int_equal(number(j, "tick"), old);
    json_decref(j);
    snprintf(body, sizeof body, "{\"restore\":%lld}", old);
    post_ok("/api/control", body);
    assert_int_equal(tick_now(), old);
    snprintf(path, sizeof path, "/api/entity?id=0v1&at=%lld", tick); /* the abandoned future isn't kept */
    json_decref(get(path, 404));
    json_decref(post("/api/control", "{\"restore\":999999999}", 409));
    end();
    assert_int_equal(reef_get(w, e, Vigor)->points, 100000 - (int)reef_tick_count(w));
}

static void an_inspector_turns_to_another_world(void **state)
{
    reef_world *w = world_of(state), *other = reef_world_new(NULL);
    (void)reef_spawn(w, reef_with(Vigor, 1));
    for (int i = 0; i < 5; i++) (void)reef_spawn(other, reef_with(Vigor, 2));
    (void)reef_system(other, burn, "Vigor");
    begin_with(w, (reef_inspector_config){.writes = true, .record = true});
    wait_for_ticks(300);
    post_ok("/api/control", "{\"pause\":true}");
    post_ok("/api/record", "{\"trace\":true}");
    assert_true(reef_is_paused(w));
    turn_to(other);
    json_t *j = get("/api/overview", 200);
    assert_int_equal(number(j, "entities"), 5);
    json_decref(j);
    assert_false(reef_is_paused(w));           /* the old one is as it was */
    json_decref(get("/api/hash?at=200", 404)); /* and so are its recorded states gone */
    j = get("/api/ticks", 200);
    for (size_t k = 0; k < json_array_size(json_object_get(j, "rows")); k++)
        assert_int_equal(json_integer_value(json_array_get(json_array_get(json_object_get(j, "rows"), k), 2)), 5);
    json_decref(j);
    post_ok("/api/control", "{\"pause\":false}");
    while (tick_now() < 3) rest(4000);
    j = get("/api/who?tick=2", 200);
    assert_true(json_is_true(json_object_get(j, "exact")));
    assert_int_equal(number(j, "total"), 5);
    json_decref(j);
    end();
    reef_world_free(other);
}

/* A condition that becomes true, later false, and true again: the last time is found. */
static void pulse(reef_block *b)
{
    const uint64_t t = reef_tick_count(b->world);
    const reef_entity e = b->entities[0];
    if (t == 10 || t == 40) (void)reef_cmd_add(b, e, Wounded);
    if (t == 20 || t == 50) (void)reef_cmd_remove(b, e, Wounded);
}

static void breed_slowly(reef_block *b)
{
    if (reef_tick_count(b->world) % 10 == 0) (void)reef_cmd_spawn(b, reef_with(Place, 0, 0));
}

static void the_tick_in_which_a_condition_became_true_is_found(void **state)
{
    reef_world *w = world_of(state);
    (void)reef_system(w, pulse, "in Place; adds Wounded, removes Wounded");
    (void)reef_spawn(w, reef_with(Place, 0, 0));
    begin_with(w, (reef_inspector_config){.writes = true, .waits = true, .record = true});
    wait_for_ticks(70);
    post_ok("/api/control", "{\"pause\":true}");
    json_t *j = get("/api/when?q=Wounded", 200);
    assert_int_equal(number(j, "tick"), 40);
    json_decref(j);
    j = get("/api/when?q=Wounded&before=39", 200);
    assert_int_equal(number(j, "tick"), 10);
    json_decref(j);
    j = get("/api/when?q=Wounded&before=9", 200);
    assert_true(json_is_null(json_object_get(j, "tick")));
    json_decref(j);
    json_decref(get("/api/when?q=Nonsense", 400));
    json_decref(get("/api/when?q=Place&above=x", 400));
    json_decref(get("/api/when?q=Place&above=3,5", 400));
    end();
}

/* Conditions with a bound, of a field and of the number of matches, and the curve of that number. */
static void conditions_have_bounds(void **state)
{
    reef_world *w = world_of(state);
    (void)reef_system(w, burn, "Vigor");
    (void)reef_system(w, breed_slowly, "; spawns Place");
    const reef_entity e = reef_spawn(w, reef_with(Vigor, 100000));
    begin_with(w, (reef_inspector_config){.writes = true, .waits = true, .record = true});
    wait_for_ticks(70);
    post_ok("/api/control", "{\"pause\":true}");
    char path[200];
    const struct {
        const char *query;
        long long tick; /* -1: never */
    } cases[] = {{"component=Vigor&field=points&below=99970", 31},
                 {"component=Vigor&field=points&above=5", -1},
                 {"component=Vigor&field=points&below=99969.5", 31},
                 {"q=Place&above=3", 40},
                 {"q=Place&above=3.5", 40},
                 {"q=Place&above=3&before=39", -1},
                 {"q=Place", 10},
                 {"q=Place&below=2", -1}};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        snprintf(path, sizeof path, "/api/when?id=%uv%u&%s", (unsigned)e.index, (unsigned)e.generation, cases[k].query);
        json_t *j = get(path, 200);
        const json_t *tick = json_object_get(j, "tick");
        if ((json_is_null(tick) ? -1 : json_integer_value(tick)) != cases[k].tick)
            fail_msg("%s: %lld", path, (long long)json_integer_value(tick));
        json_decref(j);
    }
    json_t *j = get("/api/curve?q=Place&from=5&to=44", 200);
    assert_int_equal(json_array_size(json_object_get(j, "points")), 40);
    for (size_t k = 0; k < 40; k++) {
        const json_t *point = json_array_get(json_object_get(j, "points"), k);
        const long long tick = json_integer_value(json_array_get(point, 0));
        assert_int_equal(json_integer_value(json_array_get(point, 1)), tick / 10);
    }
    json_decref(j);
    json_decref(get("/api/curve?q=Nonsense", 400));
    end();
}

static void *pause_and_step(void *unused)
{
    post_ok("/api/control", "{\"pause\":true,\"step\":3}");
    return unused;
}

/* The tick that the program had just played when the order came isn't one of those that were asked for. */
static void steps_are_counted_from_the_order(void **state)
{
    reef_world *w = world_of(state);
    pthread_t page;
    memset(&played, 0, sizeof played);
    played.inspector =
        reef_inspect_why(w, &(reef_inspector_config){.writes = true, .token = TOKEN, .wait_ms = 600000}, NULL);
    assert_non_null(played.inspector);
    assert_int_equal(pthread_create(&page, NULL, pause_and_step, NULL), 0);
    reef_inspector_rest(played.inspector, 600000); /* until there is the order */
    assert_ok(reef_tick(w, 1));
    const uint64_t ordered = reef_tick_count(w);
    reef_inspector_update(played.inspector);
    assert_int_equal(pthread_join(page, NULL), 0);
    for (uint32_t k = 0; k < 10; k++) {
        assert_ok(reef_tick(w, 1));
        reef_inspector_update(played.inspector);
    }
    assert_int_equal(reef_tick_count(w), ordered + 3);
    reef_inspector_free(played.inspector);
    assert_false(reef_is_paused(w));
}

/* ---- events ---- */

static void complain(reef_block *b)
{
    const Vigor *v = reef_in(b, Vigor);
    for (uint32_t i = 0; i < b->count; i++)
        if (v[i].points % 10 == 0) (void)reef_send(b, Vigor, v[i].points);
}

static void events_are_listed_while_somebody_listens(void **state)
{
    reef_world *w = world_of(state), *other = reef_world_new(NULL);
    (void)reef_system(w, burn, "Vigor");
    (void)reef_system(w, complain, "in Vigor; sends Vigor");
    (void)reef_spawn(w, reef_with(Vigor, 100000));
    begin_with(w, (reef_inspector_config){.writes = true});
    json_t *j = get("/api/events?limit=3&type=Vigor", 200);
    while (number(json_object_get(j, "totals"), "Vigor") < 5) {
        json_decref(j);
        rest(4000);
        j = get("/api/events?limit=3&type=Vigor", 200);
    }
    const json_t *rows = json_object_get(j, "rows");
    assert_int_equal(json_array_size(rows), 3);
    for (size_t k = 0; k < 3; k++) { /* points of which one burns in each tick */
        const json_t *row = json_array_get(rows, k);
        assert_string_equal(json_string_value(json_array_get(row, 2)), "Vigor");
        const long long points = number(json_array_get(row, 3), "points");
        assert_int_equal(points % 10, 0);
        assert_int_equal(json_integer_value(json_array_get(row, 1)), 100000 - points);
    }
    const long long total = number(json_object_get(j, "totals"), "Vigor");
    assert_true(total >= 5 && total < 1000000);
    char path[100];
    json_decref(j);
    post_ok("/api/control", "{\"pause\":true}");
    const long long tick = tick_now();
    j = get("/api/events", 200);
    snprintf(path, sizeof path, "/api/events?after=%lld", number(j, "next"));
    json_decref(j);
    post_ok("/api/control", "{\"step\":20}");
    wait_for_tick(tick + 20);
    j = get(path, 200); /* no more than what came since */
    assert_true(json_array_size(json_object_get(j, "rows")) <= 2);
    json_decref(j);
    post_ok("/api/control", "{\"pause\":false}");
    j = get("/api/events?limit=4", 200);
    assert_int_equal(json_array_size(json_object_get(j, "rows")), 4);
    json_decref(j);
    json_decref(get("/api/events?type=Nonsense", 404));
    turn_to(other); /* the readers are given back */
    j = get("/api/events", 200);
    assert_int_equal(json_object_size(json_object_get(j, "totals")), 0);
    json_decref(j);
    end();
    assert_int_equal(reef_world_stats(w).events, 0); /* none is kept for a reader that is gone */
    reef_world_free(other);
}

/* ---- who ---- */

/* Which of the five systems writes this entity in this tick; it isn't among what they are told. */
static uint32_t writer_of(uint64_t tick, uint32_t index)
{
    uint64_t x = (tick * 1000003 + index) * 0x9E3779B97F4A7C15u;
    return (uint32_t)((x ^ x >> 31) % 7); /* 5 and 6: none */
}
static void mark(reef_block *b)
{
    Mark *m = reef_inout(b, Mark);
    const uint32_t own = *(const uint32_t *)b->context;
    for (uint32_t i = 0; i < b->count; i++)
        if (writer_of(reef_tick_count(b->world), b->entities[i].index) == own) m[i].value += 1 + own;
}

static void the_system_that_changed_something_is_named(void **state)
{
    static const uint32_t numbers[] = {0, 1, 2, 3, 4};
    static const char *const names[] = {"mark0", "mark1", "mark2", "mark3", "mark4"};
    enum { ENTITIES = 300 };
    reef_world *w = world_of(state);
    char path[100];
    unsigned right = 0;
    for (uint32_t k = 0; k < 5; k++) /* three in one phase, two in another */
        (void)reef_system_new(w, &(reef_system_desc){.name = names[k],
                                                     .function = mark,
                                                     .text = "Mark",
                                                     .phase = k < 3 ? "update" : "end",
                                                     .context = (void *)(uintptr_t)&numbers[k]});
    for (int i = 0; i < ENTITIES; i++) (void)reef_spawn(w, reef_with(Mark, 0));
    begin_with(w, (reef_inspector_config){.writes = true, .waits = true, .record = true});
    wait_for_ticks(30);
    post_ok("/api/control", "{\"pause\":true}");
    for (uint64_t tick = 7; tick < 27; tick += 6) {
        size_t i;
        json_t *one;
        unsigned changed = 0;
        snprintf(path, sizeof path, "/api/who?tick=%d&limit=1000", (int)tick);
        json_t *j = get(path, 200);
        assert_true(json_is_true(json_object_get(j, "exact")));
        json_array_foreach(json_object_get(j, "changes"), i, one)
        {
            const uint32_t index = (uint32_t)atoi(text_of(one, "id")), by = writer_of(tick, index);
            const json_t *systems = json_object_get(one, "by");
            assert_true(by < 5);
            assert_int_equal(json_array_size(systems), 1);
            assert_string_equal(json_string_value(json_array_get(systems, 0)), names[by]);
            right++;
        }
        for (uint32_t index = 0; index < ENTITIES; index++) changed += writer_of(tick, index) < 5;
        assert_int_equal(number(j, "total"), changed);
        json_decref(j);
    }
    assert_true(right > 4 * ENTITIES / 2);
    json_decref(get("/api/who?tick=1", 404)); /* the tick before it isn't recorded */
    json_decref(get("/api/who?tick=999999", 404));
    end();
}

static const json_t *change_of(const json_t *j, const char *kind, const char *component, const char *id)
{
    size_t i;
    json_t *one;
    json_array_foreach(json_object_get(j, "changes"), i, one)
    {
        if (strcmp(text_of(one, "kind"), kind) == 0 && strcmp(text_of(one, "component"), component) == 0 &&
            (id == NULL || strcmp(text_of(one, "id"), id) == 0))
            return one;
    }
    return NULL;
}

static const char *by_of(const json_t *change, size_t k)
{
    const char *name = json_string_value(json_array_get(json_object_get(change, "by"), k));
    return name ? name : "";
}

/* What commands did at the end of the phase, two systems that write the same, and what nobody in the tick did. */
static void commands_and_changes_from_outside_are_told_apart(void **state)
{
    reef_world *w = world_of(state);
    (void)reef_system(w, move, "Place, in Speed");
    (void)reef_system(w, burn, "Vigor");
    (void)reef_system_new(w, &(reef_system_desc){.name = "burn_more", .function = burn, .text = "Vigor, with Wounded"});
    (void)reef_system(w, bury, "in Vigor; destroys");
    (void)reef_system(w, breed, "; spawns Place Speed");
    (void)reef_spawn(w, reef_with(Vigor, 100000));                     /* 0v1 */
    (void)reef_spawn(w, reef_with(Vigor, 1000000), reef_tag(Wounded)); /* 1v1 */
    (void)reef_spawn(w, reef_with(Place, 0, 0), reef_with(Speed, 2, 0),
                     reef_with(Vigor, 25)); /* 2v1: dies in tick 25 */
    begin_with(w, (reef_inspector_config){.writes = true, .waits = true, .record = true});
    wait_for_ticks(35);
    post_ok("/api/control", "{\"pause\":true}");
    json_t *j = get("/api/who?tick=24", 200);
    assert_true(json_is_true(json_object_get(j, "exact")));
    assert_string_equal(by_of(change_of(j, "value", "Place", "2v1"), 0), "move");
    assert_string_equal(by_of(change_of(j, "value", "Vigor", "0v1"), 0), "burn");
    const json_t *both = change_of(j, "value", "Vigor", "1v1");
    assert_string_equal(by_of(both, 0), "burn");
    assert_string_equal(by_of(both, 1), "burn_more");
    json_decref(j);
    j = get("/api/who?tick=25", 200);
    assert_string_equal(by_of(change_of(j, "gone", "", "2v1"), 0), "bury");
    json_decref(j);
    j = get("/api/who?tick=30", 200);
    assert_string_equal(by_of(change_of(j, "born", "", NULL), 0), "breed");
    assert_string_equal(by_of(change_of(j, "added", "Speed", NULL), 0), "breed");
    json_decref(j);
    /* An edit is no system's. The state with it takes the place of the recorded one; the next tick begins with it. */
    const long long tick = tick_now();
    post_ok("/api/edit",
            "[{\"do\":\"set\",\"entity\":\"0v1\",\"component\":\"Vigor\",\"field\":\"points\",\"value\":77}]");
    char path[100];
    snprintf(path, sizeof path, "/api/who?tick=%lld&id=0v1", tick);
    j = get(path, 200);
    assert_true(json_is_false(json_object_get(j, "exact")));
    const json_t *by = json_object_get(change_of(j, "value", "Vigor", "0v1"), "by");
    assert_true(json_is_null(json_array_get(by, json_array_size(by) - 1)));
    json_decref(j);
    post_ok("/api/control", "{\"step\":1}");
    wait_for_tick(tick + 1);
    snprintf(path, sizeof path, "/api/who?tick=%lld&id=0v1", tick + 1);
    j = get(path, 200);
    assert_true(json_is_true(json_object_get(j, "exact")));
    assert_int_equal(number(json_object_get(change_of(j, "value", "Vigor", "0v1"), "is"), "points"), 76);
    json_decref(j);
    end();
}

static void what_if_plays_both_futures(void **state)
{
    reef_world *w = world_of(state);
    (void)reef_system(w, burn, "Vigor");
    (void)reef_system(w, bury, "in Vigor; destroys");
    (void)reef_spawn(w, reef_with(Vigor, 1000000)); /* 0v1 */
    (void)reef_spawn(w, reef_with(Vigor, 1000000)); /* 1v1 */
    begin_with(w, (reef_inspector_config){.writes = true, .waits = true, .record = true});
    wait_for_ticks(20);
    post_ok("/api/control", "{\"pause\":true}");
    const long long tick = tick_now();
    json_t *j =
        post("/api/whatif/play",
             "{\"at\":10,\"ticks\":8,\"watches\":[\"Vigor\",\"Wounded\"],\"edits\":[{\"do\":\"set\",\"entity\":\"1v1\","
             "\"component\":\"Vigor\",\"field\":\"points\",\"value\":3}]}",
             200);
    const json_t *series = json_object_get(j, "series");
    assert_int_equal(json_array_size(series), 9);
    for (size_t i = 0; i < 9; i++) {
        const json_t *row = json_array_get(series, i);
        assert_int_equal(json_integer_value(json_array_get(row, 0)), 10 + (long long)i);
        assert_int_equal(json_integer_value(json_array_get(json_array_get(row, 1), 1)), 2);
        assert_int_equal(json_integer_value(json_array_get(json_array_get(row, 2), 1)), i < 3 ? 2 : 1);
    }
    json_decref(j);
    j = get("/api/diff?from=without&to=with", 200);
    assert_non_null(change_of(j, "gone", "", "1v1"));
    assert_null(change_of(j, "value", "Vigor", "0v1"));
    json_decref(j);
    j = get("/api/whatif", 200);
    assert_true(json_is_false(json_object_get(j, "running")));
    json_decref(j);
    assert_int_equal(tick_now(), tick); /* the world itself knows nothing of it */
    json_decref(post("/api/whatif/play", "{\"ticks\":1,\"edits\":[{\"do\":\"destroy\",\"entity\":\"9v9\"}]}", 409));
    json_decref(post("/api/whatif/play", "{\"ticks\":1,\"at\":123456}", 404));
    /* whose time belongs to somebody isn't edited, and futures of it are played as before */
    assert_ok(reef_own_time(w, "a session"));
    j = post("/api/edit", "[{\"do\":\"destroy\",\"entity\":\"0v1\"}]", 400);
    char *text = json_dumps(j, 0);
    if (strstr(text, "the time of this world belongs to a session") == NULL) fail_msg("%s", text);
    free(text);
    json_decref(j);
    json_decref(post("/api/whatif/play", "{\"ticks\":1,\"edits\":[{\"do\":\"destroy\",\"entity\":\"1v1\"}]}", 200));
    assert_ok(reef_own_time(w, NULL));
    end();
    assert_int_equal(reef_count_alive(w), 2);
}

/* ---- what recording costs, and what it shows ---- */

static void a_recording_says_what_it_costs_and_keeps_its_bound(void **state)
{
    enum { ENTITIES = 20000 };
    reef_world *w = world_of(state);
    char body[100], path[100];
    (void)reef_system(w, burn, "Vigor");
    reef_entity e = {0, 0};
    for (int i = 0; i < ENTITIES; i++) e = reef_spawn(w, reef_with(Vigor, 500000));
    begin_with(w, (reef_inspector_config){.writes = true, .waits = true, .record_ticks = 500});
    json_t *j = get("/api/recording", 200); /* before anything is recorded */
    const long long rate = number(j, "rate"), used = number(j, "used");
    assert_in_range(rate, ENTITIES * sizeof(Vigor), 8 * ENTITIES * sizeof(Vigor));
    assert_int_equal(number(j, "bound"), 1 << 30);
    assert_int_equal(number(j, "room"), 500);
    json_decref(j);
    snprintf(body, sizeof body, "{\"record\":true,\"bytes\":%lld}", used + 30 * rate);
    post_ok("/api/record", body);
    wait_for_ticks(atomic_load(&played.ticks) + 120);
    j = get("/api/recording", 200);
    assert_in_range(number(j, "rate"), rate / 2, rate * 2);
    assert_int_equal(number(j, "bound"), used + 30 * rate);
    json_decref(j);
    post_ok("/api/control", "{\"pause\":true}");
    j = get("/api/recording", 200); /* it is known, though no tick comes */
    assert_true(number(j, "rate") > 0);
    json_decref(j);
    snprintf(path, sizeof path, "/api/curve?component=Vigor&field=points&id=%uv%u", (unsigned)e.index,
             (unsigned)e.generation);
    j = get(path, 200);
    assert_in_range(json_array_size(json_object_get(j, "points")), 5, 60); /* of 120 */
    json_decref(j);
    post_ok("/api/record", "{\"record\":false}");
    j = get("/api/recording", 200);
    assert_true(json_is_null(json_object_get(j, "rate"))); /* paused: no tick tells it */
    json_decref(j);
    json_decref(post("/api/record", "{\"bytes\":0}", 409));
    end();
}

static void equal_changes_are_a_group_and_the_destroyed_are_shown_as_they_were(void **state)
{
    reef_world *w = world_of(state);
    char path[100];
    (void)reef_system(w, burn, "Vigor");
    (void)reef_system(w, bury, "in Vigor; destroys");
    const reef_entity friend = reef_spawn(w, reef_with(Vigor, 500000)),
                      nameless = reef_spawn(w, reef_with(Speed, 1, 0));
    reef_entity victim = {0, 0};
    (void)reef_set_name(w, friend, "friend");
    for (int i = 0; i < 40; i++) victim = reef_spawn(w, reef_with(Place, 0, 0), reef_with(Vigor, 9));
    for (int i = 0; i < 10; i++) (void)reef_spawn(w, reef_with(Vigor, 9));
    (void)reef_relate(w, victim, Likes, friend);
    (void)reef_relate(w, victim, Likes, nameless);
    begin_with(w, (reef_inspector_config){.writes = true, .waits = true, .record = true});
    wait_for_ticks(30);
    post_ok("/api/control", "{\"pause\":true}");
    json_t *j = get("/api/when?q=Vigor&below=2", 200);
    const long long tick = number(j, "tick");
    json_decref(j);
    snprintf(path, sizeof path, "/api/diff?from=%lld&to=%lld&each=5&limit=1000", tick - 1, tick);
    j = get(path, 200);
    long long gone[2] = {0, 0}, values = 0, listed[8] = {0};
    size_t i;
    json_t *one;
    json_array_foreach(json_object_get(j, "groups"), i, one)
    {
        bool placed = false;
        size_t k;
        json_t *type;
        json_array_foreach(json_object_get(one, "types"), k, type) placed |=
            strcmp(json_string_value(type), "Place") == 0;
        if (strcmp(text_of(one, "kind"), "gone") == 0) gone[placed] += number(one, "count");
        else if (strcmp(text_of(one, "kind"), "value") == 0) values += number(one, "count");
    }
    json_array_foreach(json_object_get(j, "changes"), i, one)
    {
        assert_in_range(number(one, "group"), 0, json_array_size(json_object_get(j, "groups")) - 1);
        if (number(one, "group") < 8) listed[number(one, "group")]++;
    }
    assert_int_equal(gone[0], 10);
    assert_int_equal(gone[1], 40); /* in two groups, since one of them is related */
    assert_int_equal(values, 1);
    for (size_t k = 0; k < json_array_size(json_object_get(j, "groups")) && k < 8; k++)
        assert_in_range(listed[k], 1, 5);
    json_decref(j);
    /* the destroyed one, with names of what it was related to */
    snprintf(path, sizeof path, "/api/entity?id=%uv%u", (unsigned)victim.index, (unsigned)victim.generation);
    j = get(path, 200);
    assert_true(json_is_true(json_object_get(j, "gone")));
    assert_int_equal(number(j, "tick"), tick - 1);
    const json_t *targets = NULL;
    json_array_foreach(json_object_get(j, "components"), i, one)
    {
        if (strcmp(text_of(one, "type"), "Likes") == 0) targets = json_object_get(one, "targets");
    }
    assert_int_equal(json_array_size(targets), 2);
    for (size_t k = 0; k < 2; k++) {
        one = json_array_get(targets, k);
        if (json_object_get(one, "label")) assert_string_equal(text_of(one, "label"), "friend");
        else assert_string_equal(json_string_value(json_array_get(json_object_get(one, "types"), 0)), "Speed");
    }
    json_decref(j);
    snprintf(path, sizeof path, "/api/entity?id=%uv%u&at=%lld", (unsigned)victim.index, (unsigned)victim.generation,
             tick);
    json_decref(get(path, 404)); /* who asks for a tick gets that tick */
    end();
}

int main(int count, char **words)
{
    const struct CMUnitTest tests[] = {
        PROGRAM_TEST(a_program_is_paused_stepped_and_hastened),
        PROGRAM_TEST(going_back_shows_and_restores_old_values),
        PROGRAM_TEST(an_inspector_turns_to_another_world),
        PROGRAM_TEST(the_tick_in_which_a_condition_became_true_is_found),
        PROGRAM_TEST(conditions_have_bounds),
        PROGRAM_TEST(steps_are_counted_from_the_order),
        PROGRAM_TEST(events_are_listed_while_somebody_listens),
        PROGRAM_TEST(the_system_that_changed_something_is_named),
        PROGRAM_TEST(commands_and_changes_from_outside_are_told_apart),
        PROGRAM_TEST(what_if_plays_both_futures),
        PROGRAM_TEST(a_recording_says_what_it_costs_and_keeps_its_bound),
        PROGRAM_TEST(equal_changes_are_a_group_and_the_destroyed_are_shown_as_they_were),
    };
    if (count > 1) cmocka_set_test_filter(words[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
