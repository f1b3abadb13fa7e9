/* An inspector without a server: every answer on the thread that ticks. And its JSON, beside libjansson's. */
#include "../../addons/inspector/json.h"
#include "reef/all.h"
#include "reef_inspector.h"
#include "support.h"
#include <jansson.h>
#include <stdlib.h>

typedef struct {
    float x, y;
} Place;
REEF_COMPONENT(Place);
REEF_FIELDS(Place, x, y);

/* ---- asking ---- */

static struct {
    char bytes[1 << 20];
    size_t size;
} answer;

static reef_status keep(void *context, const void *bytes, size_t size)
{
    (void)context;
    assert_true(answer.size + size < sizeof answer.bytes);
    memcpy(answer.bytes + answer.size, bytes, size);
    answer.size += size;
    answer.bytes[answer.size] = 0;
    return REEF_OK;
}

static int ask(reef_inspector *i, const char *address, const char *body)
{
    answer.size = 0;
    return reef_inspector_ask(i, address, body, (reef_writer){keep, NULL});
}

/* Is this part of the answer? */
static bool says(const char *part) { return strstr(answer.bytes, part) != NULL; }

static void move(reef_block *b)
{
    Place *p = reef_inout(b, Place);
    for (uint32_t r = 0; r < b->count; r++) p[r].x += 1;
}

typedef struct scene {
    reef_world *world;
    reef_inspector *inspector;
    reef_entity first;
} scene;

static scene scene_begin(void **state)
{
    scene s = {.world = world_of(state)};
    s.first = reef_spawn(s.world, reef_with(Place, 1, 2));
    (void)reef_spawn(s.world, reef_with(Place, 3, 4));
    (void)reef_system(s.world, move, "Place");
    s.inspector = reef_inspector_new(s.world, &(reef_inspector_config){.writes = true, .record = true});
    assert_non_null(s.inspector);
    return s;
}

static void play(const scene *s, int ticks)
{
    while (ticks-- > 0) {
        assert_int_equal(reef_tick(s->world, 1.0f / 60), REEF_OK);
        reef_inspector_update(s->inspector);
    }
}

static void every_answer_without_a_server(void **state)
{
    static const char *const gets[] = {"overview",
                                       "news",
                                       "ticks?after=0",
                                       "types",
                                       "tables",
                                       "systems",
                                       "spans",
                                       "events",
                                       "entities",
                                       "entity?id=0v1",
                                       "tree",
                                       "whatif",
                                       "diff?from=1&to=now",
                                       "who?tick=3",
                                       "explain?q=Place",
                                       "recording",
                                       "hash",
                                       "when?q=Place",
                                       "curve?q=Place"};
    scene s = scene_begin(state);
    play(&s, 5);
    for (size_t k = 0; k < sizeof gets / sizeof gets[0]; k++) {
        char address[64];
        (void)snprintf(address, sizeof address, "/api/%s", gets[k]);
        if (ask(s.inspector, address, NULL) != 200) fail_msg("%s: %s", address, answer.bytes);
        json_error error;
        json *j = inspector_json_read(answer.bytes, answer.size, 32, &error);
        assert_non_null(j);
        inspector_json_free(j);
    }
    assert_int_equal(ask(s.inspector, "/api/who?tick=3", NULL), 200);
    assert_true(says("\"move\"")); /* which system changed what */
    assert_int_equal(ask(s.inspector, "/api/nothing", NULL), 404);
    assert_int_equal(ask(s.inspector, "/api/stream", NULL), 404); /* the server's */
    assert_int_equal(ask(s.inspector, "/api/edit", NULL), 405);
    assert_int_equal(ask(s.inspector, "/api/overview", "{}"), 405);
    assert_int_equal(ask(s.inspector, "/api/edit", "[1,"), 400);
    assert_int_equal(ask(s.inspector, "/api/sql", "{\"sql\":\"select 1\"}"), 404);
    reef_inspector_free(s.inspector);
    assert_valid(s.world);
}

/* What is typed into the search may ask for values and join by them. It looks at a snapshot, which has no indexes, so
 * those of the world change nothing. */
static void a_search_by_values(void **state)
{
    static const char by_value[] = "/api/entities?q=Place(x%20%3D%3D%20301)",
                      join[] = "/api/explain?q=Place(x%20as%20%24x),%20Place(%24o,%20y%20%3D%3D%20%24x)";
    scene s = scene_begin(state);
    for (int i = 0; i < 3000; i++) (void)reef_spawn(s.world, reef_with(Place, (float)i, (float)(i / 2)));
    for (int indexed = 0; indexed < 2; indexed++) {
        char id[40];
        if (indexed) assert_non_null(reef_index_of(s.world, Place, x));
        play(&s, 1); /* all x are larger by one now */
        const reef_entity e = reef_query_first(s.world, reef_query_new(s.world, "Place(x == 301)"));
        (void)snprintf(id, sizeof id, "\"%uv%u\"", (unsigned)e.index, (unsigned)e.generation);
        assert_int_equal(ask(s.inspector, by_value, NULL), 200);
        assert_true(says(id));
        assert_int_equal(ask(s.inspector, join, NULL), 200);
        assert_true(says("by a list of 3002 values of y") && says("\"good\":true"));
    }
    reef_inspector_free(s.inspector);
}

static void pause_step_and_back(void **state)
{
    scene s = scene_begin(state);
    play(&s, 5);
    assert_true(reef_inspector_may_tick(s.inspector));
    assert_int_equal(ask(s.inspector, "/api/control", "{\"pause\":true}"), 200);
    assert_false(reef_inspector_may_tick(s.inspector));
    assert_false(reef_is_paused(s.world)); /* the program asks, and isn't told by its world */
    assert_int_equal(ask(s.inspector, "/api/control", "{\"step\":2}"), 200);
    assert_true(reef_inspector_may_tick(s.inspector));
    assert_true(reef_inspector_may_tick(s.inspector));
    assert_false(reef_inspector_may_tick(s.inspector));
    assert_int_equal(ask(s.inspector, "/api/control", "{\"restore\":2}"), 200);
    assert_int_equal(reef_tick_count(s.world), 2);
    assert_true(reef_get(s.world, s.first, Place)->x == 3);
    assert_int_equal(ask(s.inspector, "/api/news", NULL), 200);
    assert_true(says("\"last\":2,"));
    assert_int_equal(ask(s.inspector, "/api/control", "{\"pause\":false}"), 200);
    assert_true(reef_inspector_may_tick(s.inspector));
    reef_inspector_free(s.inspector);
    assert_valid(s.world);
}

static void two_worlds_and_two_futures(void **state)
{
    scene s = scene_begin(state);
    play(&s, 3);
    assert_int_equal(ask(s.inspector, "/api/entities?at=beside", NULL), 404);
    reef_world *fork = reef_fork(s.world);
    reef_inspector *of_fork = reef_inspector_new(fork, &(reef_inspector_config){.writes = true});
    reef_inspector_beside(s.inspector, fork);
    assert_int_equal(ask(s.inspector, "/api/diff?from=now&to=beside", NULL), 200);
    assert_true(says("\"total\":0"));
    static const char edit[] =
        "[{\"do\":\"set\",\"entity\":\"0v1\",\"component\":\"Place\",\"field\":\"y\",\"value\":9}]";
    assert_int_equal(ask(of_fork, "/api/edit", edit), 200);
    assert_int_equal(ask(s.inspector, "/api/diff?from=now&to=beside", NULL), 200);
    assert_true(says("\"total\":1"));
    assert_true(says("9.0"));
    reef_inspector_beside(s.inspector, NULL);
    assert_int_equal(ask(s.inspector, "/api/entities?at=beside", NULL), 404);
    reef_inspector_free(of_fork);
    reef_world_free(fork);

    const uint64_t before = reef_hash(s.world);
    char what[300];
    (void)snprintf(what, sizeof what, "{\"ticks\":4,\"watches\":[\"Place\"],\"edits\":%s}", edit);
    assert_int_equal(ask(s.inspector, "/api/whatif/play", what), 200);
    assert_true(says("\"played\":4"));
    assert_int_equal(ask(s.inspector, "/api/diff?from=without&to=with", NULL), 200);
    assert_true(says("\"total\":1"));
    assert_int_equal(reef_hash(s.world), before);
    reef_inspector_free(s.inspector);
    assert_valid(s.world);
}

/* Of a value with more fields than a change has bits, only those that differ are told. */
static void values_of_many_fields(void **state)
{
    enum { FIELDS = 80 };
    static char names[FIELDS][8];
    static reef_field fields[FIELDS];
    int32_t numbers[FIELDS] = {0};
    scene s = scene_begin(state);
    for (uint32_t i = 0; i < FIELDS; i++) {
        (void)snprintf(names[i], sizeof names[i], "n%u", (unsigned)i);
        fields[i] = (reef_field){.name = names[i], .kind = REEF_I32, .offset = 4 * i, .bytes = 4};
    }
    const reef_component wide = reef_type_new(
        &(reef_type_desc){.name = "Wide", .size = sizeof numbers, .fields = fields, .field_count = FIELDS}, NULL);
    assert_status(REEF_ADDED, reef_set_id(s.world, s.first, wide, numbers, sizeof numbers));
    reef_inspector_update(s.inspector);
    reef_world *fork = reef_fork(s.world);
    reef_inspector_beside(s.inspector, fork);
    numbers[3] = numbers[70] = 7;
    assert_ok(reef_set_id(fork, s.first, wide, numbers, sizeof numbers));
    assert_int_equal(ask(s.inspector, "/api/diff?from=now&to=beside", NULL), 200);
    assert_true(says("\"was\":{\"n3\":0,\"n70\":0},\"is\":{\"n3\":7,\"n70\":7}"));
    reef_inspector_free(s.inspector);
    reef_world_free(fork);
}

static bool newer; /* the rules */

static reef_status rules(void *context, reef_world *w, uint64_t tick, const void *input, size_t bytes)
{
    (void)context, (void)tick, (void)input, (void)bytes;
    if (newer) (void)reef_spawn(w, reef_with(Place, 0, 0));
    return reef_tick(w, 1.0f / 60);
}

/* What a replay has played again stands beside what was recorded. */
static void futures_of_a_replay(void **state)
{
    scene s = scene_begin(state);
    reef_history *h = reef_history_new(s.world, &(reef_history_config){.ticks = 1000, .step = rules});
    assert_int_equal(ask(s.inspector, "/api/futures", NULL), 404);
    assert_int_equal(ask(s.inspector, "/api/news", NULL), 200);
    assert_false(says("\"futures\""));
    for (int i = 0; i < 6; i++) assert_int_equal(reef_history_step(h, NULL, 0), REEF_OK);
    reef_replay *r = reef_replay_new(h, 2);
    newer = true;
    assert_int_equal(reef_replay_play(r, 100), REEF_OK);
    reef_inspector_replayed(NULL, r, NULL, NULL);
    reef_inspector_replayed(s.inspector, NULL, NULL, NULL);
    reef_inspector_replayed(s.inspector, r, "the old rules", NULL);
    assert_int_equal(reef_replay_take(r), REEF_OK);
    reef_replay_free(r);
    assert_int_equal(ask(s.inspector, "/api/futures?q=Place;%20no%20query;in%20Place,%20!Nobody", NULL), 200);
    assert_true(says("\"names\":[\"the old rules\",\"played again\"]"));
    assert_true(says("\"from\":2,\"tick\":6,\"watches\":[\"Place\",\"no query\",\"in Place, !Nobody\"]"));
    assert_true(says("[2,[2,2,null,null],[2,2,null,null]],[3,[2,2,null,null],[3,3,null,null]]"));
    assert_true(says("[6,[2,2,null,null],[6,6,null,null]]"));
    assert_false(says("\"error\":null"));
    assert_int_equal(ask(s.inspector, "/api/futures", NULL), 200);
    assert_true(says("[5,[2],[5]],[6,[2],[6]]]"));
    assert_true(says("\"error\":null"));
    assert_int_equal(ask(s.inspector, "/api/diff?from=recorded&to=replayed", NULL), 200);
    assert_true(says("\"born Place\":4") || says("\"born\":4"));
    assert_int_equal(ask(s.inspector, "/api/diff?from=replayed&to=now", NULL), 200);
    assert_true(says("\"total\":0"));
    assert_int_equal(ask(s.inspector, "/api/news", NULL), 200);
    assert_true(says("\"futures\":1"));
    for (int i = 0; i < 700; i++) assert_int_equal(reef_history_step(h, NULL, 0), REEF_OK);
    r = reef_replay_new(h, 6);
    assert_int_equal(reef_replay_play(r, 1000), REEF_OK);
    reef_inspector_replayed(s.inspector, r, NULL, NULL);
    reef_replay_free(r);
    assert_int_equal(ask(s.inspector, "/api/futures", NULL), 200); /* every fourth of them, and the end */
    assert_true(says("\"series\":[[6,[6],[6]],[10,[10],[10]],"));
    assert_true(says("[706,[706],[706]]]"));
    newer = false;
    reef_world *other = another_world(state, NULL);
    reef_inspector_turn_to(s.inspector, other);
    assert_int_equal(ask(s.inspector, "/api/futures", NULL), 404);
    reef_history_free(h);
    reef_inspector_free(s.inspector);
    assert_valid(s.world);
}

static void a_copy_outlives_its_world(void **state)
{
    (void)state;
    reef_world *w = reef_world_new(NULL);
    (void)reef_spawn(w, reef_with(Place, 1, 2));
    (void)reef_system(w, move, "Place");
    reef_inspector *i = reef_inspector_new(w, &(reef_inspector_config){.record = true, .writes = true});
    for (int n = 0; n < 4; n++) {
        assert_int_equal(reef_tick(w, 1.0f / 60), REEF_OK);
        reef_inspector_update(i);
    }
    reef_world *after = reef_fork(w);
    reef_inspector_follow(i, after);
    reef_world_free(w);
    assert_int_equal(ask(i, "/api/who?tick=3", NULL), 200);
    assert_true(says("\"move\""));
    assert_int_equal(ask(i, "/api/control", "{\"restore\":2}"), 200);
    assert_int_equal(reef_tick_count(after), 2);
    reef_inspector_follow(i, NULL);
    reef_inspector_follow(NULL, after);
    reef_inspector_free(i);
    reef_world_free(after);
}

static void nothing_to_ask(void **state)
{
    scene s = scene_begin(state);
    assert_null(reef_inspector_new(NULL, NULL));
    assert_int_equal(ask(NULL, "/api/overview", NULL), 503);
    assert_int_equal(ask(s.inspector, NULL, NULL), 503);
    assert_true(reef_inspector_may_tick(NULL));
    assert_string_equal(reef_inspector_address(s.inspector), "");
    assert_int_equal(reef_inspector_port(s.inspector), 0);
    reef_inspector_turn_to(s.inspector, NULL); /* a game that is over */
    assert_int_equal(ask(s.inspector, "/api/overview", NULL), 503);
    reef_inspector_free(s.inspector);
}

/* ---- JSON ---- */

static bool reads(const char *text)
{
    json_error error;
    json *j = inspector_json_read(text, strlen(text), 8, &error);
    inspector_json_free(j);
    return j != NULL;
}

static void what_is_no_json(void **state)
{
    (void)state;
    static const char *const bad[] = {"",
                                      "1",
                                      "{",
                                      "[",
                                      "[1,]",
                                      "{\"a\"}",
                                      "{\"a\":}",
                                      "{\"a\":1,}",
                                      "[01]",
                                      "[1.]",
                                      "[.5]",
                                      "[1e]",
                                      "[+1]",
                                      "[--1]",
                                      "[nul]",
                                      "[\"\\x\"]",
                                      "[\"\x01\"]",
                                      "[\"\xC0\x80\"]",
                                      "[\"\\ud800\"]",
                                      "[\"\\udc00\"]",
                                      "[\"\\u12\"]",
                                      "[\"abc]",
                                      "[1] 2",
                                      "{\"a\":1,\"a\":2}",
                                      "[9223372036854775808]",
                                      "[-9223372036854775809]",
                                      "[1e400]",
                                      "[[[[[[[[[1]]]]]]]]]",
                                      "{\"a\\u0000b\":1}",
                                      "[\"\\",
                                      "{1:2}"};
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++)
        if (reads(bad[k])) fail_msg("%s is no JSON", bad[k]);
    assert_true(reads("[[[[[[[[1]]]]]]]]"));
    assert_true(
        reads(" {\"a\" : [ -9223372036854775808, 9223372036854775807, 0.5e-3, \"\\ud83d\\ude00\\u0000\" ] }\n"));
}

/* Random texts: what libjansson reads, we read, and write in a way that it reads the same. */
static void the_same_as_another_library(void **state)
{
    (void)state;
    static const char *const parts[] = {"[",     "]",      "{",     "}",  ",",       ":",        "\"a\"",
                                        "\"b\"", "\"\"",   "1",     "-0", "2.5e3",   "1e-400",   "true",
                                        "null",  " ",      "\"\\n", "\"", "\\u00e9", "\xC3\xA9", "\"\\ud83d\\ude00\"",
                                        "-12",   "\"a\":", "[1,2]"};
    uint64_t seed = 88172645463325252u;
    unsigned both = 0;
    for (int n = 0; n < 200000; n++) {
        char text[200] = "";
        const bool object = n % 2;
        strcat(text, object ? "{" : "[");
        for (int k = 0; k < 12; k++) {
            seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
            if (seed % 9 == 0) break;
            strcat(text, parts[seed / 16 % (sizeof parts / sizeof parts[0])]);
        }
        strcat(text, object ? "}" : "]");
        json_error ours;
        json_error_t theirs;
        json *j = inspector_json_read(text, strlen(text), 32, &ours);
        json_t *t = json_loads(text, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &theirs);
        if ((j == NULL) != (t == NULL)) fail_msg("%s: %s; %s", text, j ? "read" : ours.text, t ? "read" : theirs.text);
        if (j == NULL) continue;
        size_t size;
        char *is = inspector_json_text_of(j, &size);
        json_t *again = json_loadb(is, size, JSON_ALLOW_NUL, &theirs);
        if (!json_equal(again, t)) fail_msg("%s became %s", text, is);
        json_decref(again);
        json *copy = inspector_json_copy(j);
        assert_true(inspector_json_equal(copy, j));
        inspector_json_free(copy);
        free(is);
        inspector_json_free(j);
        json_decref(t);
        both++;
    }
    assert_true(both > 5000);
}

static void many_members_are_found(void **state)
{
    (void)state;
    json *o = inspector_object();
    char name[16];
    for (int k = 0; k < 5000; k++) {
        (void)snprintf(name, sizeof name, "n%d", k % 2500);
        inspector_put(o, name, inspector_integer(k));
    }
    assert_int_equal(inspector_json_size(o), 2500);
    for (int k = 0; k < 2500; k++) {
        (void)snprintf(name, sizeof name, "n%d", k);
        assert_int_equal(inspector_integer_in(inspector_member(o, name)), k + 2500);
        assert_string_equal(inspector_member_name(o, (size_t)k), name);
    }
    assert_null(inspector_member(o, "m"));
    inspector_json_free(o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(every_answer_without_a_server),
                                       TEST(a_search_by_values),
                                       TEST(pause_step_and_back),
                                       TEST(two_worlds_and_two_futures),
                                       TEST(values_of_many_fields),
                                       TEST(futures_of_a_replay),
                                       cmocka_unit_test(a_copy_outlives_its_world),
                                       TEST(nothing_to_ask),
                                       cmocka_unit_test(what_is_no_json),
                                       cmocka_unit_test(the_same_as_another_library),
                                       cmocka_unit_test(many_members_are_found)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
