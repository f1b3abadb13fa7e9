/* Systems and phases: what they declare, in which order they run, who has them. (Rows D1, D6, E11.) */
#include "system/phase.h"
#include "support.h"
#include "system/schedule.h"
#include "storage/state.h"

static void nothing_done(reef_block *b) { (void)b; }
static void nothing_else(reef_block *b) { (void)b->count; }
#define assert_system(s) assert_false(reef_system_is_null(s))
/* A system that is refused: with this status, and the world is what it was. */
#define assert_no_system(w, wanted, call) \
    do { \
        const uint64_t digest_ = digest(w); \
        assert_true(reef_system_is_null(call)); \
        assert_int_equal(reef_last_error(w).status, wanted); \
        assert_true(digest(w) == digest_); \
    } while (0)

static const struct system *inside(const reef_world *w, reef_system_id id)
{
    reef_status s;
    const schedule_entry *e = reef__schedule_find(w, id, &s);
    assert_non_null(e);
    return e->system;
}

static reef_system_id add(reef_world *w, const char *name, const char *text)
{
    return reef_system_add(w, name, nothing_done, text);
}

static reef_system_id ordered(reef_world *w, const char *name, const char *before, const char *after)
{
    return reef_system_new(
        w, &(reef_system_desc){.name = name, .function = nothing_done, .before = before, .after = after});
}

/* The systems of a phase as they run: "a b c". */
static const char *order_in(const reef_world *w, const char *phase_name)
{
    static char text[REEF_SYSTEMS_MAX * 8];
    const schedule *s = w->schedule;
    const uint32_t p = reef__phase_find(s, phase_name);
    assert_int_not_equal(p, UINT32_MAX);
    const uint32_t end = p + 1 < s->phase_count ? s->phases[p + 1].first : s->count;
    size_t used = 0;
    text[0] = 0;
    for (uint32_t i = s->phases[p].first; i < end; i++) {
        assert_int_equal(s->entries[s->order[i]].phase, p);
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", used ? " " : "",
                                 s->entries[s->order[i]].system->name);
    }
    return text;
}
#define assert_order(w, text) assert_string_equal(order_in(w, "update"), text)

static const char *phases(const reef_world *w)
{
    static char text[REEF_PHASES_MAX * 70];
    size_t used = 0;
    for (uint32_t i = 0; i < w->schedule->phase_count; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", i ? " " : "", w->schedule->phases[i].name);
    return text;
}

/* ---- adding, finding, removing ---- */

static void systems_come_and_go(void **stage)
{
    reef_world *w = world_of(stage);
    assert_true(reef_system_is_null(reef_system_find(w, "move")));
    reef_system_id move = reef_system(w, nothing_done, "Position, in Velocity");
    assert_system(move);
    assert_string_equal(reef_system_name(w, move), "nothing_done");
    reef_system_id a = add(w, "a", "Position"), b = add(w, "b", NULL), c = add(w, "c", "in Mass");
    assert_order(w, "nothing_done a b c");
    assert_true(reef_system_is_enabled(w, b));
    reef_system_id found = reef_system_find(w, "b");
    assert_memory_equal(&found, &b, sizeof b);
    assert_ok(reef_system_remove(w, a));
    assert_order(w, "nothing_done b c");
    assert_string_equal(reef_system_name(w, c), "c");
    assert_string_equal(reef_system_name(w, b), "b");
    assert_null(reef_system_name(w, a));
    assert_refused(w, REEF_NOT_ALIVE, reef_system_remove(w, a));
    reef_system_id again = add(w, "a", NULL);
    assert_int_equal(again.index, a.index);
    assert_int_not_equal(again.generation, a.generation);
    assert_null(reef_system_name(w, a));
    assert_false(reef_system_is_enabled(w, a));
    assert_order(w, "nothing_done b c a");
    assert_ok(reef_system_remove(w, b));
    assert_ok(reef_system_remove(w, move));
    assert_ok(reef_system_remove(w, again));
    assert_ok(reef_system_remove(w, c));
    assert_order(w, "");
    assert_true(reef_system_is_null(reef_system_find(w, "c")));
}

static void switched_off_and_on(void **stage)
{
    reef_world *w = world_of(stage);
    reef_system_id a = add(w, "a", NULL);
    reef_system_id b = reef_system_new(w, &(reef_system_desc){.name = "b", .function = nothing_done, .off = true});
    assert_true(reef_system_is_enabled(w, a));
    assert_false(reef_system_is_enabled(w, b));
    uint64_t epoch = w->schedule->epoch;
    assert_ok(reef_system_enable(w, a, true));
    assert_true(w->schedule->epoch == epoch);
    assert_ok(reef_system_enable(w, a, false));
    assert_true(w->schedule->epoch != epoch);
    assert_ok(reef_system_enable(w, b, true));
    assert_false(reef_system_is_enabled(w, a));
    assert_true(reef_system_is_enabled(w, b));
    assert_order(w, "a b");
}

static void replaced_in_its_place(void **stage)
{
    reef_world *w = world_of(stage);
    add(w, "a", NULL);
    reef_system_id b = add(w, "b", "Position");
    add(w, "c", NULL);
    const uint64_t serial = inside(w, b)->serial;
    assert_ok(reef_system_replace(
        w, b, &(reef_system_desc){.name = "d", .function = nothing_else, .text = "in Mass", .off = true}));
    assert_string_equal(reef_system_name(w, b), "d");
    assert_true(inside(w, b)->function == nothing_else);
    assert_int_equal(inside(w, b)->access_count, 1);
    assert_true(inside(w, b)->serial != serial);
    assert_false(reef_system_is_enabled(w, b));
    assert_order(w, "a d c");
    assert_ok(reef_system_replace(w, b, &(reef_system_desc){.name = "d", .function = nothing_done, .phase = "begin"}));
    assert_string_equal(order_in(w, "begin"), "d");
    assert_order(w, "a c");
    assert_refused(w, REEF_EXISTS,
                   reef_system_replace(w, b, &(reef_system_desc){.name = "a", .function = nothing_done}));
    assert_refused(w, REEF_BAD_ARGUMENT, reef_system_replace(w, b, &(reef_system_desc){.name = "e"}));
    assert_refused(w, REEF_BAD_ARGUMENT, reef_system_replace(w, b, NULL));
    assert_string_equal(order_in(w, "begin"), "d");
    assert_ok(reef_system_remove(w, b));
    assert_refused(w, REEF_NOT_ALIVE,
                   reef_system_replace(w, b, &(reef_system_desc){.name = "e", .function = nothing_done}));
}

static void what_is_refused(void **stage)
{
    reef_world *w = world_of(stage), *other = another_world(stage, NULL);
    const reef_system_id null = {0};
    const reef_system_desc good = {.name = "a", .function = nothing_done};
    reef_system_id a = reef_system_new(w, &good);
    assert_no_system(w, REEF_BAD_ARGUMENT, reef_system_new(w, NULL));
    assert_no_system(w, REEF_EXISTS, reef_system_new(w, &good));
    assert_no_system(w, REEF_BAD_ARGUMENT, reef_system_new(w, &(reef_system_desc){.name = "b"}));
    assert_no_system(w, REEF_BAD_ARGUMENT, reef_system_new(w, &(reef_system_desc){.function = nothing_done}));
    assert_no_system(w, REEF_BAD_ARGUMENT,
                     reef_system_new(w, &(reef_system_desc){.name = "b", .function = nothing_done, .phase = "updte"}));
    assert_string_equal(reef_last_error(w).detail, "no phase is named updte; did you mean update?");
    assert_no_system(w, REEF_BAD_ARGUMENT,
                     reef_system_new(w, &(reef_system_desc){.name = "b",
                                                            .function = nothing_done,
                                                            .text = "Position",
                                                            .query = &(reef_query_desc){0}}));
    assert_refused(w, REEF_NOT_ALIVE, reef_system_remove(w, null));
    assert_refused(w, REEF_NOT_ALIVE, reef_system_enable(w, null, true));
    assert_refused(other, REEF_OTHER_WORLD, reef_system_remove(other, a));
    assert_refused(other, REEF_OTHER_WORLD, reef_system_enable(other, a, false));
    assert_refused(other, REEF_OTHER_WORLD, reef_system_replace(other, a, &good));
    assert_false(reef_system_is_enabled(other, a));
    assert_null(reef_system_name(other, a));
    assert_true(reef_system_is_null(reef_system_find(other, "a")));
    assert_true(reef_system_is_null(reef_system_new(NULL, &good)));
    assert_true(reef_system_is_null(reef_system_add(NULL, "a", nothing_done, NULL)));
    assert_status(REEF_BAD_ARGUMENT, reef_system_remove(NULL, a));
    assert_status(REEF_BAD_ARGUMENT, reef_system_replace(NULL, a, &good));
    assert_status(REEF_BAD_ARGUMENT, reef_system_enable(NULL, a, true));
    assert_status(REEF_BAD_ARGUMENT, reef_phase_new(NULL, &(reef_phase_desc){.name = "p"}));
    assert_false(reef_system_is_enabled(NULL, a));
    assert_null(reef_system_name(NULL, a));
    assert_true(reef_system_is_null(reef_system_find(NULL, "a")));
    assert_true(reef_system_is_null(reef_system_find(w, NULL)));
}

static void locked_while_a_loop_is_open(void **stage)
{
    reef_world *w = world_of(stage);
    reef_system_id a = add(w, "a", NULL);
    reef_query q = reef_query_new(w, "Position");
    reef_spawn(w, reef_with(Position, 1, 2));
    reef_block b = reef_begin(w, q);
    assert_true(reef_next(&b));
    for (int running = 0; running < 2; running++) {
        assert_true(reef_system_is_null(add(w, "b", NULL)));
        assert_status(REEF_LOCKED, reef_system_remove(w, a));
        assert_status(REEF_LOCKED, reef_system_enable(w, a, false));
        assert_status(REEF_LOCKED,
                      reef_system_replace(w, a, &(reef_system_desc){.name = "a", .function = nothing_done}));
        assert_status(REEF_LOCKED, reef_phase_new(w, &(reef_phase_desc){.name = "p"}));
        if (!running) {
            assert_int_equal(reef_last_error(w).status, REEF_LOCKED);
            reef_end(&b);
            w->running = &reef__phase_running;
        }
        assert_true(reef_system_is_enabled(w, a));
    }
    w->running = NULL;
    w->world_failure = (reef_error){0};
    assert_string_equal(phases(w), "begin update end");
    assert_order(w, "a");
}

static void names_of_systems(void **stage)
{
    reef_world *w = world_of(stage);
    char name[REEF_SYSTEM_NAME_MAX + 2];
    memset(name, 'x', sizeof name);
    name[REEF_SYSTEM_NAME_MAX + 1] = 0;
    static const char *const bad[] = {"", " ", "a b", "a,b", "a;b", "a\"b", "'a'", "a\tb", "a\nb", "\x7f"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_no_system(w, REEF_BAD_ARGUMENT, add(w, bad[i], NULL));
        assert_refused(w, REEF_BAD_ARGUMENT, reef_phase_new(w, &(reef_phase_desc){.name = bad[i]}));
    }
    assert_no_system(w, REEF_BAD_ARGUMENT, add(w, name, NULL));
    assert_refused(w, REEF_BAD_ARGUMENT, reef_phase_new(w, &(reef_phase_desc){.name = name}));
    name[REEF_SYSTEM_NAME_MAX] = 0;
    assert_system(add(w, name, NULL));
    assert_ok(reef_phase_new(w, &(reef_phase_desc){.name = name}));
    assert_string_equal(reef_system_name(w, reef_system_find(w, name)), name);
    assert_system(add(w, "x", NULL));
    assert_system(add(w, "\xC3\xA4ndern.zwei->drei", NULL));
}

/* ---- order ---- */

static void order_by_hints(void **stage)
{
    reef_world *w = world_of(stage);
    ordered(w, "c", NULL, "a b");
    assert_order(w, "c");
    ordered(w, "b", NULL, NULL);
    assert_order(w, "b c");
    ordered(w, "a", NULL, NULL);
    assert_order(w, "b a c");
    ordered(w, "first", "  nobody b  a", "");
    assert_order(w, "first b a c");
    reef_system_id d = ordered(w, "d", "b", "first");
    assert_order(w, "first a d b c");
    assert_ok(reef_system_remove(w, reef_system_find(w, "first")));
    assert_order(w, "a d b c");
    assert_ok(reef_system_replace(w, d, &(reef_system_desc){.name = "d", .function = nothing_done}));
    assert_order(w, "b a c d");
    /* Systems of another phase don't count. */
    reef_system_new(w, &(reef_system_desc){.name = "early", .function = nothing_done, .phase = "end", .before = "b"});
    assert_order(w, "b a c d");
    assert_string_equal(order_in(w, "end"), "early");
}

static void circles_are_told(void **stage)
{
    reef_world *w = world_of(stage);
    ordered(w, "z", NULL, NULL);
    ordered(w, "a", "b", NULL);
    ordered(w, "b", "c", NULL);
    assert_no_system(w, REEF_BAD_ARGUMENT, ordered(w, "c", "a", "z"));
    assert_string_equal(reef_last_error(w).detail, "a -> b -> c -> a");
    assert_no_system(w, REEF_BAD_ARGUMENT, ordered(w, "self", "self", NULL));
    assert_string_equal(reef_last_error(w).detail, "self -> self");
    assert_order(w, "z a b");
    reef_system_id c = ordered(w, "c", NULL, NULL);
    assert_refused(
        w, REEF_BAD_ARGUMENT,
        reef_system_replace(w, c, &(reef_system_desc){.name = "c", .function = nothing_done, .before = "z a"}));
    assert_string_equal(reef_last_error(w).detail, "a -> b -> c -> a");
    assert_order(w, "z a b c");
    /* One that doesn't fit is cut. */
    char names[3][REEF_SYSTEM_NAME_MAX + 1];
    for (int i = 0; i < 3; i++) {
        memset(names[i], "klm"[i], REEF_SYSTEM_NAME_MAX);
        names[i][REEF_SYSTEM_NAME_MAX] = 0;
    }
    ordered(w, names[0], names[1], NULL);
    ordered(w, names[1], names[2], NULL);
    assert_no_system(w, REEF_BAD_ARGUMENT, ordered(w, names[2], names[0], NULL));
    const reef_error e = reef_last_error(w);
    assert_memory_equal(e.detail, names[0], REEF_SYSTEM_NAME_MAX);
    assert_non_null(strstr(e.detail, " ..."));
}

/* Against a plain search: of those that may come next, the one that was added first. */
static void order_is_the_earliest(void **stage)
{
    enum { N = 40 };
    uint64_t seed = 7;
    for (int round = 0; round < 30; round++) {
        reef_world *w = another_world(stage, NULL);
        char names[N][4], wanted[N * 4] = "";
        bool comes[N][N] = {{false}}, placed[N] = {false};
        for (uint32_t i = 0; i < N; i++) snprintf(names[i], sizeof names[i], "s%u", i);
        for (uint32_t i = 0; i < N; i++) {
            char before[N * 4] = "", after[N * 4] = "";
            for (uint32_t j = 0; j < N; j++) {
                seed = seed * 6364136223846793005u + 1442695040888963407u;
                if (i == j || seed >> 33 & 15) continue;
                /* no circles */
                const uint32_t low = (i * 7 + (uint32_t)round) % N, other = (j * 7 + (uint32_t)round) % N;
                if (low < other) comes[i][j] = true, strcat(strcat(before, names[j]), " ");
                else comes[j][i] = true, strcat(strcat(after, " "), names[j]);
            }
            assert_system(ordered(w, names[i], before, after));
        }
        for (uint32_t n = 0; n < N; n++) {
            uint32_t next = N;
            for (uint32_t i = N; i-- > 0;) {
                bool waits = placed[i];
                for (uint32_t j = 0; j < N; j++) waits |= comes[j][i] && !placed[j];
                if (!waits) next = i;
            }
            placed[next] = true;
            if (n) strcat(wanted, " ");
            strcat(wanted, names[next]);
        }
        assert_order(w, wanted);
        end_world(stage, w);
    }
}

/* ---- phases ---- */

static void phases_in_their_order(void **stage)
{
    reef_world *w = world_of(stage);
    assert_ok(reef_phase_new(w, &(reef_phase_desc){.name = "physics", .step_ns = 1000, .steps_max = 3}));
    assert_string_equal(phases(w), "begin update physics end");
    assert_int_equal(w->schedule->phases[2].step_ns, 1000);
    assert_int_equal(w->schedule->phases[2].steps_max, 3);
    assert_int_equal(w->schedule->phases[1].steps_max, 8);
    reef_system_id u = add(w, "u", NULL);
    reef_system_id e = reef_system_new(w, &(reef_system_desc){.name = "e", .function = nothing_done, .phase = "end"});
    assert_ok(reef_phase_new(w, &(reef_phase_desc){.name = "input", .before = "begin"}));
    assert_ok(reef_phase_new(w, &(reef_phase_desc){.name = "late", .after = "end"}));
    assert_ok(reef_phase_new(w, &(reef_phase_desc){.name = "mid", .after = "update"}));
    assert_string_equal(phases(w), "input begin update mid physics end late");
    assert_order(w, "u");
    assert_string_equal(order_in(w, "end"), "e");
    assert_string_equal(order_in(w, "mid"), "");
    for (uint32_t i = 0; i < w->schedule->phase_count; i++)
        for (uint32_t j = 0; j < i; j++) assert_true(w->schedule->phases[i].serial != w->schedule->phases[j].serial);
    assert_string_equal(reef_system_name(w, u), "u");
    assert_string_equal(reef_system_name(w, e), "e");
    reef_system_new(w, &(reef_system_desc){.name = "m", .function = nothing_done, .phase = "mid"});
    assert_string_equal(order_in(w, "mid"), "m");
    assert_refused(w, REEF_EXISTS, reef_phase_new(w, &(reef_phase_desc){.name = "mid"}));
    assert_refused(w, REEF_BAD_ARGUMENT,
                   reef_phase_new(w, &(reef_phase_desc){.name = "x", .before = "mid", .after = "begin"}));
    assert_refused(w, REEF_BAD_ARGUMENT, reef_phase_new(w, &(reef_phase_desc){.name = "x", .before = "mld"}));
    assert_string_equal(reef_last_error(w).detail, "no phase is named mld; did you mean mid?");
    assert_refused(w, REEF_BAD_ARGUMENT, reef_phase_new(w, NULL));
    assert_refused(w, REEF_BAD_ARGUMENT, reef_phase_new(w, &(reef_phase_desc){0}));
}

/* ---- limits ---- */

static void G_limits_of_systems(void **stage)
{
    reef_world *w = world_of(stage);
    char name[32];
    for (int i = 0; i < REEF_SYSTEMS_MAX; i++) {
        snprintf(name, sizeof name, "s%d", i);
        assert_system(add(w, name, NULL));
    }
    assert_no_system(w, REEF_LIMIT, add(w, "more", NULL));
    reef_system_id last = reef_system_find(w, "s4095");
    assert_string_equal(reef_system_name(w, last), "s4095");
    assert_ok(
        reef_system_replace(w, last, &(reef_system_desc){.name = "first", .function = nothing_done, .before = "s0"}));
    const char *order = order_in(w, "update");
    assert_memory_equal(order, "s1 s2 ", 6);
    assert_string_equal(order + strlen(order) - 9, " first s0");
    assert_ok(reef_system_remove(w, reef_system_find(w, "s17")));
    assert_system(add(w, "more", NULL));
    assert_no_system(w, REEF_LIMIT, add(w, "s17", NULL));
}

static void G_limits_of_phases(void **stage)
{
    reef_world *w = world_of(stage);
    char name[32];
    for (int i = 3; i < REEF_PHASES_MAX; i++) {
        snprintf(name, sizeof name, "p%d", i);
        assert_ok(reef_phase_new(w, &(reef_phase_desc){.name = name}));
    }
    assert_refused(w, REEF_LIMIT, reef_phase_new(w, &(reef_phase_desc){.name = "more"}));
    assert_system(reef_system_new(w, &(reef_system_desc){.name = "a", .function = nothing_done, .phase = "p63"}));
    assert_string_equal(order_in(w, "p63"), "a");
    assert_int_equal(w->schedule->phase_count, REEF_PHASES_MAX);
}

static void G_limits_of_touches(void **stage)
{
    reef_world *w = world_of(stage);
    char text[1200] = "; reads", name[32];
    reef_system_desc d = {.name = "a", .function = nothing_done, .text = text};
    for (int i = 0; i < REEF_TOUCHES_MAX + 1; i++) {
        snprintf(name, sizeof name, "touched%d", i);
        reef_component c = reef_type_new(&(reef_type_desc){.name = name, .size = 4}, NULL);
        assert_int_not_equal(c.id, 0);
        if (i < REEF_TOUCHES_MAX) d.touches[i] = (reef_touch){REEF_WRITES, c};
        if (i < REEF_TOUCHES_MAX - 1) strcat(strcat(text, " "), name);
    }
    assert_no_system(w, REEF_LIMIT, reef_system_new(w, &d));
    assert_int_equal(reef_last_error(w).number, 2);
    d.touches[1].kind = 0;
    assert_system(reef_system_new(w, &d));
    assert_int_equal(inside(w, reef_system_find(w, "a"))->touch_count, REEF_TOUCHES_MAX);
    assert_int_equal(inside(w, reef_system_find(w, "a"))->access_count, REEF_TOUCHES_MAX - 1);
    d.text = NULL;
    d.name = "b";
    d.touches[1].kind = REEF_WRITES;
    assert_system(reef_system_new(w, &d));
    assert_int_equal(inside(w, reef_system_find(w, "b"))->touch_count, REEF_TOUCHES_MAX);
    strcat(text, " touched63");
    d = (reef_system_desc){.name = "c", .function = nothing_done, .text = text};
    assert_system(reef_system_new(w, &d));
    strcat(text, " touched64");
    d.name = "d";
    assert_no_system(w, REEF_LIMIT, reef_system_new(w, &d));
}

/* ---- who has them ---- */

static int freed;
static void count_freed(void *context) { freed += *(int *)context; }

static reef_system_id with_context(reef_world *w, const char *name, int *context)
{
    return reef_system_new(
        w,
        &(reef_system_desc){.name = name, .function = nothing_done, .context = context, .context_free = count_freed});
}

static void the_context_goes_with_the_last_world(void **stage)
{
    reef_world *w = world_of(stage);
    int one = 1, ten = 10, hundred = 100;
    freed = 0;
    reef_system_id a = with_context(w, "a", &one), b = with_context(w, "b", &ten);
    assert_true(reef_system_is_null(with_context(w, "a", &hundred)));
    assert_true(reef_system_is_null(with_context(w, "a b", &hundred)));
    assert_int_equal(freed, 0);
    reef_world *fork = reef_fork(w);
    assert_ok(reef_system_remove(w, a));
    assert_int_equal(freed, 0);
    assert_ok(reef_system_remove(fork, reef_system_find(fork, "a")));
    assert_int_equal(freed, 1);
    reef_world *child = reef_fork(fork);
    reef_world_free(fork);
    assert_int_equal(freed, 1);
    assert_ok(reef_system_replace(
        w, b,
        &(reef_system_desc){.name = "b", .function = nothing_done, .context = &hundred, .context_free = count_freed}));
    assert_int_equal(freed, 1);
    assert_string_equal(order_in(child, "update"), "b");
    reef_world_free(child);
    assert_int_equal(freed, 11);
    assert_refused(
        w, REEF_BAD_ARGUMENT,
        reef_system_replace(w, b, &(reef_system_desc){.name = "b", .context = &one, .context_free = count_freed}));
    assert_ok(reef_system_replace(w, b, &(reef_system_desc){.name = "b", .function = nothing_done}));
    assert_int_equal(freed, 111);
    with_context(w, "last", &one);
    end_world(stage, w);
    assert_int_equal(freed, 112);
}

static void forks_share_and_separate(void **stage)
{
    reef_world *w = world_of(stage);
    reef_system_id a = add(w, "a", "Position");
    add(w, "b", "in Position");
    reef_world *fork = reef_fork(w);
    assert_ptr_equal(fork->schedule, w->schedule);
    const reef_system_id fa = reef_system_find(fork, "a"); /* the same handle */
    assert_true(fa.index == a.index && fa.generation == a.generation && fa.world == a.world);
    assert_string_equal(reef_system_name(fork, a), "a");
    assert_ptr_equal(inside(fork, a), inside(w, a));

    const uint64_t epoch = w->schedule->epoch;
    assert_ok(reef_system_enable(fork, a, false));
    assert_true(reef_system_is_enabled(w, a));
    assert_false(reef_system_is_enabled(fork, a));
    assert_true(w->schedule->epoch == epoch && fork->schedule->epoch > epoch);
    const reef_system_id c = add(fork, "c", NULL), d = add(w, "d", NULL); /* in the same place, in two worlds */
    assert_true(c.index == d.index && c.generation == d.generation);
    assert_status(REEF_OTHER_WORLD, reef_system_remove(w, c));
    assert_status(REEF_OTHER_WORLD, reef_system_remove(fork, d));
    assert_null(reef_system_name(fork, d));
    assert_true(w->schedule->epoch > fork->schedule->epoch);
    assert_ok(reef_phase_new(fork, &(reef_phase_desc){.name = "p"}));
    assert_order(w, "a b d");
    assert_order(fork, "a b c");
    assert_string_equal(phases(w), "begin update end");
    assert_string_equal(phases(fork), "begin update p end");
    assert_ok(reef_system_remove(w, a));
    assert_status(REEF_NOT_ALIVE, reef_system_remove(w, a));
    assert_order(w, "b d");
    assert_string_equal(reef_system_name(fork, a), "a");
    assert_true(w->schedule->holders == 1 && fork->schedule->holders == 1);
    reef_world *child = reef_fork(fork);
    reef_world_free(fork);
    assert_order(child, "a b c");
    assert_string_equal(reef_system_name(child, c), "c");
    assert_ok(reef_system_remove(child, a));
    assert_status(REEF_NOT_ALIVE, reef_system_remove(child, a));
    assert_int_equal(child->schedule->holders, 1);
    reef_world_free(child);
}

static void a_fork_of_a_world_without_systems(void **stage)
{
    reef_world *w = world_of(stage), *fork = reef_fork(w);
    assert_null(fork->schedule);
    add(fork, "a", NULL);
    assert_null(w->schedule);
    add(w, "b", NULL);
    assert_true(w->schedule->epoch != fork->schedule->epoch);
    reef_world_free(fork);
    assert_order(w, "b");
}

/* ---- explaining ---- */

static bool always(const reef_world *w, void *context) { return w != context; }

static void living(reef_world *w)
{
    assert_ok(reef_set_name(w, reef_spawn(w, reef_with(Mass, 3)), "sun"));
    assert_ok(
        reef_phase_new(w, &(reef_phase_desc){.name = "physics", .after = "begin", .step_ns = 5000000, .steps_max = 2}));
    reef_system_new(
        w, &(reef_system_desc){
               .name = "gravity", .function = nothing_done, .phase = "physics", .text = "Velocity, in Mass of sun"});
    reef_system_new(
        w, &(reef_system_desc){
               .name = "move", .function = nothing_done, .phase = "physics", .text = "Position, in Velocity, !Frozen"});
    reef_system_new(w, &(reef_system_desc){
                           .name = "hurt",
                           .function = nothing_done,
                           .phase = "physics",
                           .text = "in Position, out Health; receives Cargo, adds Hungry Frozen, spawns, destroys"});
    reef_system_new(w, &(reef_system_desc){.name = "throw",
                                           .function = nothing_done,
                                           .phase = "physics",
                                           .main_thread = true,
                                           .interval_ns = 7,
                                           .text = "in Position; sends Cargo, writes Mass"});
    reef_system_new(w, &(reef_system_desc){.name = "draw",
                                           .function = nothing_done,
                                           .phase = "end",
                                           .main_thread = true,
                                           .off = true,
                                           .condition = always,
                                           .before = "erase"});
    reef_system_new(w, &(reef_system_desc){.name = "er\\ase",
                                           .function = nothing_done,
                                           .phase = "end",
                                           .whole = true,
                                           .query = &(reef_query_desc){0}});
    reef_system_new(w, &(reef_system_desc){.name = "spread",
                                           .function = nothing_done,
                                           .phase = "end",
                                           .text = "Position; reads Position Velocity"});
    reef_system_new(w, &(reef_system_desc){.name = "both",
                                           .function = nothing_done,
                                           .phase = "end",
                                           .text = "Position, Mass of sun; sends Cargo, receives Cargo"});
}

static void explained_as_text(void **stage)
{
    reef_world *w = world_of(stage);
    static const char wanted[] = "phase begin: once a tick\n"
                                 "phase physics: every 5000000 ns, at most 2 times a tick\n"
                                 "  gravity\n"
                                 "    query: Velocity, in Mass of sun\n"
                                 "    reads Mass, writes Velocity\n"
                                 "    split into jobs\n"
                                 "  move\n"
                                 "    query: Position, in Velocity, !Frozen\n"
                                 "    reads Velocity, writes Position\n"
                                 "    split into jobs\n"
                                 "    waits for gravity: both use Velocity, gravity writes it\n"
                                 "  hurt\n"
                                 "    query: in Position, out Health\n"
                                 "    reads Position, writes Health, receives Cargo\n"
                                 "    commands: spawns, adds Frozen Hungry, destroys\n"
                                 "    split into jobs\n"
                                 "    waits for move: both use Position, move writes it\n"
                                 "  throw, on the main thread, every 7 ns\n"
                                 "    query: in Position\n"
                                 "    reads Position, writes Mass, sends Cargo\n"
                                 "    not split: it runs on the main thread\n"
                                 "    waits for gravity: both use Mass, gravity only reads it\n"
                                 "    waits for move: both use Position, move writes it\n"
                                 "    waits for hurt: hurt receives Cargo, which is sent here\n"
                                 "phase update: once a tick\n"
                                 "phase end: once a tick\n"
                                 "  draw, off, on the main thread, on a condition\n"
                                 "    not split: it has no query\n"
                                 "    beside: er\\ase, spread, both\n"
                                 "  er\\ase\n"
                                 "    query: everything\n"
                                 "    not split: it is declared whole\n"
                                 "    beside: draw, spread, both\n"
                                 "  spread\n"
                                 "    query: Position\n"
                                 "    reads Velocity, writes Position\n"
                                 "    not split: writes Position, and reads it of other entities\n"
                                 "    beside: draw, er\\ase\n"
                                 "  both\n"
                                 "    query: Position, Mass of sun\n"
                                 "    writes Mass Position, sends Cargo, receives Cargo\n"
                                 "    not split: writes Mass of one entity\n"
                                 "    beside: draw, er\\ase\n"
                                 "    waits for spread: both write Position\n";
    char text[4096], small[100];
    living(w);
    reef_watch_systems(w, false); /* the checked build would say more */
    const size_t length = reef_schedule_explain(w, REEF_EXPLAIN_TEXT, text, sizeof text);
    assert_string_equal(text, wanted);
    assert_int_equal(length, sizeof wanted - 1);
    for (size_t size = 0; size < sizeof small; size++) {
        memset(small, 'x', sizeof small);
        assert_int_equal(reef_schedule_explain(w, REEF_EXPLAIN_TEXT, small, size), sizeof wanted - 1);
        if (size) assert_memory_equal(small, wanted, size - 1);
        if (size) assert_int_equal(small[size - 1], 0);
        assert_int_equal(small[size], 'x');
    }
    assert_int_equal(reef_schedule_explain(w, REEF_EXPLAIN_TEXT, NULL, 0), sizeof wanted - 1);
    reef_world *fork = reef_fork(w);
    assert_int_equal(reef_schedule_explain(fork, REEF_EXPLAIN_TEXT, text, sizeof text), sizeof wanted - 1);
    assert_string_equal(text, wanted);
    reef_world_free(fork);
}

static void explained_as_a_graph(void **stage)
{
    reef_world *w = world_of(stage);
    static const char wanted[] = "digraph schedule {\n  rankdir=LR;\n  node [shape=box];\n"
                                 "  subgraph \"cluster_1\" {\n    label=\"1. begin\";\n  }\n"
                                 "  subgraph \"cluster_2\" {\n    label=\"2. physics\";\n"
                                 "    \"gravity\";\n    \"move\";\n    \"hurt\";\n    \"throw\";\n"
                                 "    \"gravity\" -> \"move\" [label=\"Velocity\"];\n"
                                 "    \"move\" -> \"hurt\" [label=\"Position\"];\n"
                                 "    \"hurt\" -> \"throw\" [label=\"Cargo\"];\n  }\n"
                                 "  subgraph \"cluster_3\" {\n    label=\"3. update\";\n  }\n"
                                 "  subgraph \"cluster_4\" {\n    label=\"4. end\";\n"
                                 "    \"draw\" [style=dashed];\n    \"er\\\\ase\";\n    \"spread\";\n    \"both\";\n"
                                 "    \"spread\" -> \"both\" [label=\"Position\"];\n  }\n}\n";
    char text[4096];
    living(w);
    const size_t length = reef_schedule_explain(w, REEF_EXPLAIN_DOT, text, sizeof text);
    assert_string_equal(text, wanted);
    assert_int_equal(length, sizeof wanted - 1);
}

static void nothing_to_explain(void **stage)
{
    reef_world *w = world_of(stage);
    char text[256];
    assert_int_equal(reef_schedule_explain(NULL, REEF_EXPLAIN_TEXT, text, sizeof text), 0);
    assert_string_equal(text, "");
    assert_int_equal(reef_schedule_explain(w, (reef_explain)2, text, sizeof text), 0);
    reef_schedule_explain(w, REEF_EXPLAIN_TEXT, text, sizeof text);
    assert_string_equal(text, "phase begin: once a tick\nphase update: once a tick\nphase end: once a tick\n");
    assert_null(w->schedule);
    add(w, "a", NULL);
    assert_ok(reef_system_remove(w, reef_system_find(w, "a")));
    reef_schedule_explain(w, REEF_EXPLAIN_TEXT, text, sizeof text);
    assert_string_equal(text, "phase begin: once a tick\nphase update: once a tick\nphase end: once a tick\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(systems_come_and_go),
        TEST(switched_off_and_on),
        TEST(replaced_in_its_place),
        TEST(what_is_refused),
        TEST(locked_while_a_loop_is_open),
        TEST(names_of_systems),
        TEST(order_by_hints),
        TEST(circles_are_told),
        TEST(order_is_the_earliest),
        TEST(phases_in_their_order),
        TEST(G_limits_of_systems),
        TEST(G_limits_of_phases),
        TEST(G_limits_of_touches),
        TEST(the_context_goes_with_the_last_world),
        TEST(forks_share_and_separate),
        TEST(a_fork_of_a_world_without_systems),
        TEST(explained_as_text),
        TEST(explained_as_a_graph),
        TEST(nothing_to_explain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
