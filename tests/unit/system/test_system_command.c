/* Commands that concern systems (E11): systems add, replace, remove and switch others and themselves, from the next
 * phase on. */
#include "support.h"

/* What the systems of a test did, in order, and how many contexts they were freed of. Each of them says that it writes
 * Pen, so that the schedule runs them one after the other: they all write the diary. */
typedef struct {
    int ink;
} Pen;
REEF_COMPONENT(Pen);

typedef struct diary {
    char text[256];
    uint32_t at; /* the tick in which the conductor acts */
    uint32_t tick, freed;
    reef_status answer;
    void (*act)(reef_block *b);
} diary;

static void note(reef_block *b, const char *what)
{
    diary *d = b->context;
    if (d->text[0]) strcat(d->text, " ");
    strcat(d->text, what);
}

static void note_a(reef_block *b) { note(b, "a"); }
static void note_b(reef_block *b) { note(b, "b"); }
static void note_rows(reef_block *b) { note(b, b->count == 3 ? "three" : "other"); }
static void context_gone(void *context) { ((diary *)context)->freed++; }

static void conduct(reef_block *b)
{
    diary *d = b->context;
    note(b, "|");
    if (++d->tick == d->at) d->act(b);
}

static reef_system_desc noting(diary *d, const char *name, void (*f)(reef_block *), const char *phase)
{
    return (reef_system_desc){.name = name,
                              .function = f,
                              .phase = phase,
                              .touches = {{REEF_WRITES, reef_id(Pen)}},
                              .context = d,
                              .context_free = context_gone};
}

/* The conductor is in the phase "begin", a, b and c in "update". */
static void band(reef_world *w, diary *d, void (*act)(reef_block *b), uint32_t at)
{
    static const struct {
        const char *name;
        void (*f)(reef_block *);
    } all[] = {{"a", note_a}, {"b", note_b}, {"c", note_a}};
    *d = (diary){.act = act, .at = at};
    for (int i = 0; i < 3; i++) {
        const reef_system_desc desc = noting(d, all[i].name, all[i].f, NULL);
        assert_false(reef_system_is_null(reef_system_new(w, &desc)));
    }
    assert_false(reef_system_is_null(reef_system_new(
        w, &(reef_system_desc){.name = "conduct", .function = conduct, .phase = "begin", .context = d})));
    for (int i = 0; i < 3; i++) reef_spawn(w, reef_with(Position, 0, 0));
}

static void plays(reef_world *w, diary *d, const char *text)
{
    d->text[0] = 0;
    assert_ok(reef_tick(w, 0));
    assert_string_equal(d->text, text);
    assert_valid(w);
}

/* ---- what they do ---- */

static void rearrange(reef_block *b)
{
    diary *d = b->context;
    char name[] = "new", text[] = "in Position", phase[] = "update", before[] = "a";
    reef_system_desc desc = noting(d, name, note_rows, phase);
    desc.text = text;
    desc.before = before;
    assert_ok(reef_cmd_system_new(b, &desc));
    memset(name, '-', 3), memset(text, '-', 5), memset(phase, '-', 5), before[0] = '-'; /* it was copied */
    desc = noting(d, "b", note_a, "end");
    assert_ok(reef_cmd_system_replace(b, "b", &desc));
    assert_ok(reef_cmd_system_enable(b, "a", false));
    assert_ok(reef_cmd_system_remove(b, "c"));
    reef_query_desc query = {.terms = {{.component = reef_id(Position), .access = REEF_IN}}};
    desc = noting(d, "mine", note_rows, "begin");
    desc.query = &query;
    assert_ok(reef_cmd_system_new(b, &desc));
    query = (reef_query_desc){.text = "none"};
    note(b, "done");
    assert_true(reef_system_is_null(reef_system_find(b->world, "new")));
    assert_true(reef_system_is_enabled(b->world, reef_system_find(b->world, "a")));
}

static void rearranges_in(void **state, uint32_t at, uint32_t threads)
{
    diary d;
    reef_world *w = another_world(state, NULL);
    reef_pool *pool = threads ? reef_pool_new(&(reef_pool_config){.threads = threads}) : NULL;
    reef_set_pool(w, pool);
    reef_watch_systems(w, false); /* threads are tested */
    band(w, &d, rearrange, at);
    for (uint32_t i = 1; i < at; i++) plays(w, &d, "| a b a");
    plays(w, &d, "| done three a"); /* the phases behind it have the new ones, its own the old ones */
    assert_int_equal(d.freed, 2);
    plays(w, &d, "| three three a");
    assert_ok(reef_system_enable(w, reef_system_find(w, "a"), true));
    plays(w, &d, "| three three a a");
    end_world(state, w);
    assert_int_equal(d.freed, 6);
    reef_pool_free(pool);
}

static void systems_come_and_go_from_the_next_phase_on(void **state)
{
    for (uint32_t at = 1; at < 4; at++)
        for (uint32_t threads = 0; threads < 3; threads++) rearranges_in(state, at, threads);
}

static void leave(reef_block *b)
{
    assert_ok(reef_cmd_system_remove(b, "conduct"));
    assert_ok(reef_cmd_system_remove(b, "a"));
}

static void a_system_removes_itself(void **state)
{
    for (uint32_t at = 1; at < 4; at++) {
        diary d;
        reef_world *w = another_world(state, NULL);
        band(w, &d, leave, at);
        for (uint32_t i = 1; i < at; i++) plays(w, &d, "| a b a");
        plays(w, &d, "| b a");
        plays(w, &d, "b a");
        assert_int_equal(d.freed, 1);
        end_world(state, w);
    }
}

static void leave_at_once(reef_block *b) { (void)reef_cmd_system_remove(b, "gone"); } /* maybe without memory */

static void of_a_phase_in_which_another_has_no_memory(void **state)
{
    heap *h = heap_of(state);
    reef_world *w = world_of(state);
    uint64_t failures = 0;
    for (int i = 0; i < 3000; i++) reef_spawn(w, reef_with(Position, 0, 0));
    for (uint64_t n = 1; n < 100; n++) {
        diary d = {.freed = 0};
        const reef_system_desc gone = {
            .name = "gone", .function = note_rows, .text = "Position", .context = &d, .context_free = context_gone};
        reef_world *fork = reef_fork(w);
        assert_non_null(fork);
        assert_false(reef_system_is_null(reef_system_add(fork, "remover", leave_at_once, NULL)));
        assert_false(reef_system_is_null(reef_system_new(fork, &gone)));
        heap_fail_nth(h, n, true);
        const reef_status s = reef_tick(fork, 0);
        heap_fail_never(h);
        if (s != REEF_OK) failures++;
        if (s != REEF_OK) assert_status(REEF_NO_MEMORY, s);
        for (int i = 0; i < 3 && s != REEF_OK && d.freed == 0; i++) assert_ok(reef_tick(fork, 0));
        assert_int_equal(d.freed, 1);
        reef_world_free(fork);
        assert_int_equal(d.freed, 1);
        if (s == REEF_OK) break;
    }
    assert_in_range(failures, 2, 98);
}

/* ---- what is refused ---- */

static void ask_wrongly(reef_block *b)
{
    diary *d = b->context;
    reef_system_desc desc = noting(d, "new", NULL, NULL);
    assert_status(REEF_BAD_ARGUMENT, reef_cmd_system_new(b, NULL));
    assert_status(REEF_BAD_ARGUMENT, reef_cmd_system_new(b, &desc));
    assert_status(REEF_BAD_ARGUMENT, reef_cmd_system_replace(b, "a", &desc));
    desc = noting(d, "two words", note_a, NULL);
    assert_status(REEF_BAD_ARGUMENT, reef_cmd_system_new(b, &desc));
    desc.name = NULL;
    assert_status(REEF_BAD_ARGUMENT, reef_cmd_system_new(b, &desc));
    desc.name = "new";
    assert_status(REEF_BAD_ARGUMENT, reef_cmd_system_replace(b, NULL, &desc));
    assert_status(REEF_BAD_ARGUMENT, reef_cmd_system_remove(b, NULL));
    assert_status(REEF_BAD_ARGUMENT, reef_cmd_system_remove(b, ""));
    assert_status(REEF_BAD_ARGUMENT, reef_cmd_system_enable(b, "a b", true));
}

static void refused_at_once(void **state)
{
    diary d;
    reef_world *w = another_world(state, NULL);
    band(w, &d, ask_wrongly, 1);
    plays(w, &d, "| a b a");
    assert_status(REEF_BAD_ARGUMENT, reef_last_error(w).status);
    assert_string_equal(reef_last_error(w).system, "conduct");
    assert_string_equal(reef_last_error(w).operation, "reef_cmd_system_new");
    plays(w, &d, "| a b a");
    assert_int_equal(d.freed, 0);
    assert_status(REEF_BAD_ARGUMENT, reef_cmd_system_new(NULL, NULL));
    assert_status(REEF_BAD_ARGUMENT, reef_cmd_system_replace(NULL, "a", NULL));
    assert_status(REEF_BAD_ARGUMENT, reef_cmd_system_remove(NULL, "a"));
    assert_status(REEF_BAD_ARGUMENT, reef_cmd_system_enable(NULL, "a", true));
    end_world(state, w);
}

static void ask_in_vain(reef_block *b)
{
    diary *d = b->context;
    reef_system_desc desc = noting(d, "a", note_b, NULL);
    assert_ok(reef_cmd_system_remove(b, "nobody"));
    assert_ok(reef_cmd_system_enable(b, "nobody", true));
    assert_ok(reef_cmd_system_replace(b, "nobody", &desc));
    assert_ok(reef_cmd_system_new(b, &desc)); /* there is an a */
    desc = noting(d, "new", note_b, "nowhere");
    assert_ok(reef_cmd_system_new(b, &desc));
    desc.phase = NULL;
    desc.text = "Positionn";
    assert_ok(reef_cmd_system_new(b, &desc));
    desc.text = NULL;
    desc.before = "a", desc.after = "b";
    assert_ok(reef_cmd_system_new(b, &desc)); /* a is before b */
    desc.before = "b", desc.after = NULL;
    assert_ok(reef_cmd_system_replace(b, "b", &desc));
}

static void refused_when_it_is_done(void **state)
{
    for (uint32_t at = 1; at < 3; at++) {
        diary d;
        reef_world *w = another_world(state, NULL);
        band(w, &d, ask_in_vain, at);
        assert_ok(
            reef_system_replace(w, reef_system_find(w, "b"),
                                &(reef_system_desc){.name = "b", .function = note_b, .context = &d, .after = "a"}));
        d.freed = 0;
        if (at == 2) plays(w, &d, "| a b a");
        plays(w, &d, "| a b a");
        assert_int_equal(d.freed, 5); /* the contexts of those that were refused */
        assert_status(REEF_NOT_ALIVE, reef_last_error(w).status);
        assert_string_equal(reef_last_error(w).system, "conduct");
        assert_string_equal(reef_last_error(w).operation, "reef_system_remove");
        assert_string_equal(reef_last_error(w).detail, "no system is named nobody");
        /* b, which goes before itself under its old name */
        assert_string_equal(reef_system_name(w, reef_system_find(w, "new")), "new");
        plays(w, &d, "| a b a");
        end_world(state, w);
    }
}

static void without_a_system_they_are_calls_on_the_world(void **state)
{
    diary d;
    reef_world *w = another_world(state, NULL);
    band(w, &d, leave, 99);
    reef_query q = reef_query_new(w, "in Position");
    for (reef_block b = reef_begin(w, q); reef_next(&b);) {
        const reef_system_desc desc = noting(&d, "new", note_a, NULL);
        assert_status(REEF_LOCKED, reef_cmd_system_remove(&b, "a"));
        assert_status(REEF_LOCKED, reef_cmd_system_enable(&b, "a", false));
        assert_status(REEF_LOCKED, reef_cmd_system_replace(&b, "a", &desc));
        assert_status(REEF_LOCKED, reef_cmd_system_new(&b, &desc));
        assert_status(REEF_NOT_ALIVE, reef_cmd_system_remove(&b, "nobody"));
    }
    assert_int_equal(d.freed, 0); /* it stays its maker's, as of a call on the world */
    plays(w, &d, "| a b a");
    end_world(state, w);
}

/* ---- memory ---- */

/* Eight systems with contexts; what the world has of them. */
static void add_eight(reef_block *b)
{
    diary *d = b->context;
    for (char name[] = "s0"; name[1] < '8'; name[1]++) {
        reef_system_desc desc = noting(d, name, note_b, "end");
        desc.text = "in Position; reads Mass";
        d->answer = reef_cmd_system_new(b, &desc);
        if (d->answer == REEF_NO_MEMORY) d->freed++; /* it stayed ours */
        else assert_ok(d->answer);
    }
}

static uint32_t systems_there(const reef_world *w)
{
    uint32_t n = 0;
    for (char name[] = "s0"; name[1] < '8'; name[1]++) n += !reef_system_is_null(reef_system_find(w, name));
    return n;
}

/* `later`: what is left is done; else it is forgotten. */
static void eight_without_memory(void **state, bool later)
{
    uint64_t failures = 0;
    heap *h = heap_of(state);
    for (uint64_t n = 1; n < 1000; n++) {
        diary d;
        reef_world *w = another_world(state, NULL);
        band(w, &d, add_eight, 1);
        heap_fail_nth(h, n, true);
        const reef_status s = reef_tick(w, 0);
        heap_fail_never(h);
        assert_valid(w);
        if (s != REEF_OK) assert_status(REEF_NO_MEMORY, s);
        if (d.tick == 1 && later) {
            assert_ok(reef_flush(w));
            assert_int_equal(systems_there(w) + d.freed, 8);
        }
        end_world(state, w);
        assert_int_equal(d.freed, d.tick == 1 ? 11 : 3); /* each once */
        if (s == REEF_OK) break;
        failures++;
    }
    assert_in_range(failures, 20, 990);
}

static void what_had_no_memory_is_done_later(void **state) { eight_without_memory(state, true); }
static void contexts_of_what_is_forgotten_are_freed(void **state) { eight_without_memory(state, false); }

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(systems_come_and_go_from_the_next_phase_on),
        TEST(a_system_removes_itself),
        TEST(of_a_phase_in_which_another_has_no_memory),
        TEST(refused_at_once),
        TEST(refused_when_it_is_done),
        TEST(without_a_system_they_are_calls_on_the_world),
        TEST(what_had_no_memory_is_done_later),
        TEST(contexts_of_what_is_forgotten_are_freed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
