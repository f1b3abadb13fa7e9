/* What tools see of a schedule: systems, what they touch and whom they wait for; observers; spans. */
#include "support.h"

typedef struct {
    float x;
} Place;
typedef struct {
    float x;
} Speed;
typedef struct {
    int32_t n;
} Hit;
typedef struct {
    int64_t n;
} Total;
REEF_COMPONENT(Speed);
REEF_COMPONENT(Place);
REEF_COMPONENT(Hit);
REEF_COMPONENT(Total);
REEF_TAG(Gone);

static void nothing(reef_block *b) { (void)b; }
static void add_up(void *total, const void *part) { ((Total *)total)->n += ((const Total *)part)->n; }
static void no_notice(const reef_notice *n) { (void)n; }

static reef_system_id add(reef_world *w, const char *name, const char *text, const char *phase)
{
    const reef_system_desc desc = {.name = name, .function = nothing, .text = text, .phase = phase, .combine = add_up};
    return reef_system_new(w, &desc);
}

/* ---- systems ---- */

typedef struct listing {
    char text[4096];
    uint32_t count, most;
} listing;

static void put(listing *l, const char *word, const char *name)
{
    const size_t at = strlen(l->text);
    snprintf(l->text + at, sizeof l->text - at, "%s%s", word, name);
}

static bool list_system(void *context, const reef_system_info *s)
{
    static const char *const words[] = {
        [REEF_READS] = " reads ",       [REEF_WRITES] = " writes ",   [REEF_SENDS] = " sends ",
        [REEF_RECEIVES] = " receives ", [REEF_SUMS] = " sums ",       [REEF_SPAWNS] = " spawns ",
        [REEF_ADDS] = " adds ",         [REEF_REMOVES] = " removes ", [REEF_DESTROYS] = " destroys "};
    listing *l = context;
    char number[32];
    put(l, s->phase, ".");
    put(l, s->name, s->on ? "" : " off");
    put(l, s->split ? " split" : "", s->main_thread ? " main" : "");
    for (uint32_t i = 0; i < s->touch_count; i++) {
        put(l, words[s->touches[i].kind], s->touches[i].type.id ? reef_type_name(s->touches[i].type) : "");
    }
    for (uint32_t i = 0; i < s->waits_for_count; i++) {
        snprintf(number, sizeof number, " waits %u", (unsigned)s->waits_for[i]);
        put(l, number, "");
    }
    put(l, "\n", "");
    return ++l->count != l->most;
}

static void systems_are_visited_with_what_they_touch(void **state)
{
    reef_world *w = world_of(state);
    listing l = {.count = 0};
    assert_true(reef_visit_systems(w, list_system, &l)); /* there is no schedule yet */
    assert_int_equal(l.count, 0);
    (void)add(w, "count", "in Place; sums Total", "end");
    const reef_system_id move = add(w, "move", "Place, in Speed", NULL);
    (void)add(w, "hit", "in Place, Gone; sends Hit, destroys, spawns Speed Place", NULL);
    (void)add(w, "fall", "Speed; receives Hit, reads Place", NULL);
    (void)add(w, "other", "; adds Gone, removes Gone", NULL);
    assert_ok(reef_system_enable(w, move, false));
    assert_true(reef_visit_systems(w, list_system, &l));
    assert_string_equal(l.text, "update.move off split reads Speed writes Place\n"
                                "update.hit split reads Place sends Hit spawns Place spawns Speed destroys  waits 0\n"
                                "update.fall split reads Place writes Speed receives Hit waits 0 waits 1\n"
                                "update.other adds Gone removes Gone\n"
                                "end.count split reads Place sums Total\n");
    l = (listing){.most = 2};
    assert_false(reef_visit_systems(w, list_system, &l));
    assert_int_equal(l.count, 2);
    assert_false(reef_visit_systems(NULL, list_system, &l));
    assert_false(reef_visit_systems(w, NULL, &l));
    /* a fork has them too, under its own handles */
    reef_world *fork = reef_fork(w);
    listing again = {.count = 0};
    assert_true(reef_visit_systems(fork, list_system, &again));
    assert_int_equal(again.count, 5);
    reef_world_free(fork);
}

static bool list_observer(void *context, const reef_observer_info *o)
{
    listing *l = context;
    char events[64];
    snprintf(events, sizeof events, " %u%s ", (unsigned)o->events, o->collected ? " collected" : "");
    put(l, o->name, events);
    put(l, o->component.id ? reef_type_name(o->component) : "no type", "\n");
    return ++l->count != l->most;
}

static void observers_are_visited(void **state)
{
    reef_world *w = world_of(state);
    listing l = {.count = 0};
    assert_true(reef_visit_observers(w, list_observer, &l));
    assert_false(reef_plain_observer_is_null(reef_observe(w, no_notice, REEF_ON_ADD | REEF_ON_SET, Place)));
    const reef_observer_desc desc = {
        .name = "matches", .function = no_notice, .events = REEF_ON_MATCH, .text = "Place", .collected = true};
    assert_false(reef_plain_observer_is_null(reef_observer_new(w, &desc)));
    assert_true(reef_visit_observers(w, list_observer, &l));
    assert_string_equal(l.text, "no_notice 3 Place\nmatches 16 collected no type\n");
    l = (listing){.most = 1};
    assert_false(reef_visit_observers(w, list_observer, &l));
    assert_false(reef_visit_observers(NULL, list_observer, &l));
}

/* ---- spans ---- */

typedef struct text {
    char bytes[8192];
    size_t size, limit;
} text;

static reef_status text_write(void *context, const void *bytes, size_t count)
{
    text *t = context;
    if (t->size + count > (t->limit ? t->limit : sizeof t->bytes - 1)) return REEF_IO;
    memcpy(t->bytes + t->size, bytes, count);
    t->bytes[t->size += count] = 0;
    return REEF_OK;
}

static void spans_of_jobs_are_kept_and_written(void **state)
{
    reef_world *w = world_of(state);
    reef_trace_span span[8];
    static text t;
    for (int i = 0; i < 2000; i++) (void)reef_spawn(w, reef_with(Place, 1));
    (void)add(w, "mo\\ve", "Place", NULL); /* two blocks: two jobs */
    (void)add(w, "alone", NULL, "end");
    assert_null(reef_trace_new(NULL, 4));
    assert_null(reef_trace_new(w, 0));
    reef_trace *s = reef_trace_new(w, 4);
    assert_non_null(s);
    assert_ok(reef_tick(w, 0));
    assert_int_equal(reef_trace_count(s), 3);
    assert_ok(reef_tick(w, 0));
    assert_int_equal(reef_trace_count(s), 6);
    assert_int_equal(reef_trace_read(s, 0, span, 8), 4); /* two were dropped */
    assert_string_equal(span[0].system, "alone");
    assert_int_equal(span[0].tick, 1);
    assert_string_equal(span[1].system, "mo\\ve");
    assert_int_equal(span[1].tick, 2);
    for (int i = 0; i < 4; i++) assert_true(span[i].begin_ns <= span[i].end_ns && span[i].worker == 0);
    assert_true(span[0].end_ns <= span[1].begin_ns);
    assert_int_equal(reef_trace_read(s, 5, span, 8), 1);
    assert_int_equal(reef_trace_read(s, 6, span, 8), 0);
    assert_int_equal(reef_trace_read(NULL, 0, span, 8), 0);
    t = (text){.size = 0};
    assert_ok(reef_trace_write(s, (reef_writer){text_write, &t}));
    assert_non_null(strstr(t.bytes, "{\"name\":\"mo\\\\ve\",\"ph\":\"X\",\"pid\":1,\"tid\":0,\"ts\":"));
    assert_non_null(strstr(t.bytes, "\"args\":{\"tick\":2}}\n]}\n"));
    for (size_t limit = 1; limit < t.size; limit += 40) {
        static text less;
        less = (text){.limit = limit};
        assert_status(REEF_IO, reef_trace_write(s, (reef_writer){text_write, &less}));
    }
    assert_status(REEF_BAD_ARGUMENT, reef_trace_write(s, (reef_writer){NULL, NULL}));
    assert_status(REEF_BAD_ARGUMENT, reef_trace_write(NULL, (reef_writer){text_write, &t}));
    reef_trace_free(s);
    reef_trace_free(NULL);
    assert_ok(reef_tick(w, 0));
    /* on several threads */
    reef_pool *p = reef_pool_new(&(reef_pool_config){.threads = 3});
    assert_ok(reef_set_pool(w, p));
    s = reef_trace_new(w, 1000);
    for (int i = 0; i < 100; i++) assert_ok(reef_tick(w, 0));
    assert_int_equal(reef_trace_count(s), 300);
    reef_trace_free(s);
    assert_ok(reef_set_pool(w, NULL));
    reef_pool_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(systems_are_visited_with_what_they_touch),
        TEST(observers_are_visited),
        TEST(spans_of_jobs_are_kept_and_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
