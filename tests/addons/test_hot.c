/* Modules that are compiled while worlds live: a real compiler writes libraries into a scratch folder. `test_hot
 * --deep` reloads more often. */
#include "hot_build.h"
#include <dirent.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static bool deep;

/* ---- reloading ---- */

static void another_constant_takes_effect(void **state)
{
    reef_world *w = world_of(state);
    reef_hot_code *h = hot_of(w, "", NULL);
    const reef_entity e = reef_spawn(w, reef_with(Place, 0, 0));
    const reef_system_id move = reef_system_find(w, "move"), fall = reef_system_find(w, "fall");
    const reef_query q = reef_query_new(w, "Place");
    assert_text(h, "rules 1 is in use");
    assert_ok(reef_system_enable(w, fall, false));
    tick(w);
    assert_true(reef_get(w, e, Place)->x == 1 && reef_get(w, e, Place)->y == 1);
    assert_event(h, REEF_HOT_SAME);
    build("-DSPEED=10");
    assert_event(h, REEF_HOT_LOADED);
    assert_event(h, REEF_HOT_SAME);
    tick(w);
    assert_true(reef_get(w, e, Place)->x == 11 && reef_get(w, e, Place)->y == 12);
    assert_true(reef_system_find(w, "move").index == move.index && reef_system_find(w, "fall").index == fall.index);
    assert_false(reef_system_is_enabled(w, fall)); /* handles and switches stay */
    assert_int_equal(reef_query_count(w, q), 1);
    assert_true(reef_single_get(w, Report)->kept >= 1); /* what close gave to open; a watched system runs twice */
    assert_libraries(h, 1);
    put(built("-DSPEED=10")); /* the same bytes */
    assert_event(h, REEF_HOT_SAME);
    reef_hot_close(h);
    assert_true(reef_system_is_null(reef_system_find(w, "move")));
    assert_int_equal(mappings(), 0);
}

static void a_comment_changes_nothing(void **state)
{
    reef_world *w = world_of(state), *twin = another_world(state, NULL);
    reef_hot_code *h = hot_of(w, "", NULL);
    for (int i = 0; i < 50; i++) reef_spawn(w, reef_with(Place, (float)i, 1));
    for (int i = 0; i < 3; i++) tick(w);
    reef_world *fork = reef_fork(w);
    const uint64_t hash = reef_hash(w);
    build("-DCOMMENT='\"another comment\"'");
    assert_event(h, REEF_HOT_LOADED);
    assert_text(h, "an old library stays open"); /* the fork has its systems */
    assert_libraries(h, 2);
    assert_int_equal(reef_hash(w), hash);
    for (int i = 0; i < 3; i++) tick(w), tick(fork);
    assert_true(reef_equal(w, fork, NULL));
    reef_world_free(fork);
    build("");
    assert_event(h, REEF_HOT_LOADED);
    assert_libraries(h, 1);
    (void)twin;
    reef_hot_close(h);
}

static void systems_come_go_and_move(void **state)
{
    reef_world *w = world_of(state);
    reef_hot_code *h = hot_of(w, "-DNO_FALL", NULL);
    const reef_entity e = reef_spawn(w, reef_with(Place, 0, 0));
    char text[2000];
    tick(w);
    assert_true(reef_get(w, e, Place)->y == 1);
    build("-DFALL_FIRST");
    assert_event(h, REEF_HOT_LOADED);
    (void)reef_schedule_explain(w, REEF_EXPLAIN_TEXT, text, sizeof text);
    const char *fall = strstr(text, "fall, of module rules"), *climb = strstr(text, "climb, of module rules");
    assert_true(fall && climb && fall < climb);
    tick(w);
    assert_true(reef_get(w, e, Place)->y == 1); /* (1 - 1) * 2 + 1 */
    build("-DNO_MOVE -DNO_FALL -DPHASE");
    assert_event(h, REEF_HOT_LOADED);
    assert_true(reef_system_is_null(reef_system_find(w, "move")));
    const float x = reef_get(w, e, Place)->x;
    tick(w);
    assert_true(reef_get(w, e, Place)->x == x && reef_get(w, e, Place)->y == 3);
    (void)reef_schedule_explain(w, REEF_EXPLAIN_TEXT, text, sizeof text);
    assert_non_null(strstr(text, "late"));
    reef_hot_close(h);
}

/* A system with another text stays the same system; an observer goes, and comes back. */
static void texts_and_observers_change(void **state)
{
    reef_world *w = world_of(state);
    reef_hot_code *h = hot_of(w, "", NULL);
    const reef_entity plain = reef_spawn(w, reef_with(Place, 0, 0)),
                      marked = reef_spawn(w, reef_with(Place, 0, 0), reef_tag(Marked));
    const reef_system_id move = reef_system_find(w, "move");
    assert_int_equal(reef_single_get(w, Report)->told, 1);
    tick(w);
    build("-DNOT_MARKED -DNO_TOLD");
    assert_event(h, REEF_HOT_LOADED);
    assert_libraries(h, 1);
    assert_true(reef_system_find(w, "move").index == move.index);
    tick(w);
    assert_true(reef_get(w, plain, Place)->x == 2 && reef_get(w, marked, Place)->x == 1);
    reef_add(w, plain, Marked);
    assert_int_equal(reef_single_get(w, Report)->told, 1);
    build("");
    assert_event(h, REEF_HOT_LOADED);
    tick(w);
    assert_true(reef_get(w, plain, Place)->x == 3 && reef_get(w, marked, Place)->x == 2);
    const uint32_t told = reef_single_get(w, Report)->told;
    (void)reef_spawn(w, reef_tag(Marked));
    assert_int_equal(reef_single_get(w, Report)->told, told + 1);
    reef_hot_close(h);
}

static void observers_scripts_and_orders_follow(void **state)
{
    reef_world *w = world_of(state);
    reef_hot_code *h = hot_of(w, "-DORDERED", NULL);
    const reef_entity e = reef_spawn(w, reef_with(Place, 0, 0), reef_tag(Marked)), s = reef_create(w);
    assert_int_equal(reef_single_get(w, Report)->told, 1);
    assert_ok(reef_add(w, s, Employed) < 0);
    tick(w);
    const uint32_t *pilot = reef_script_data(w, s);
    assert_true(pilot && pilot[0] == 101 && pilot[1] == 1);
    reef_snapshot *snapshot = reef_snapshot_take(w);
    build("-DSPEED=10 -DORDERED");
    assert_event(h, REEF_HOT_LOADED);
    assert_libraries(h, 2); /* the snapshot has systems of the old one */
    reef_add(w, s, Marked);
    assert_int_equal(reef_single_get(w, Report)->told, 11);
    tick(w);
    pilot = reef_script_data(w, s);
    assert_true(pilot && pilot[0] == 102 && pilot[1] == 10);
    assert_string_equal(reef_script_of(w, s)->name, "pilot");
    assert_ok(reef_restore(w, snapshot)); /* the state of then, with the code of now */
    tick(w);
    pilot = reef_script_data(w, s);
    assert_true(pilot && pilot[0] == 102 && pilot[1] == 10);
    reef_snapshot_free(snapshot);
    build("-DORDERED");
    assert_event(h, REEF_HOT_LOADED);
    assert_libraries(h, 1);
    build("-DPILOT_GROWS");
    assert_hot_refused(w, h, "the data of the class pilot has another size: 8 bytes before, now 12");
    tick(w);
    pilot = reef_script_data(w, s);
    assert_true(pilot && pilot[0] == 103 && pilot[1] == 1);
    assert_true(reef_is_alive(w, e));
    reef_hot_close(h);
}

static void hooks_follow(void **state)
{
    reef_world *w = world_of(state);
    reef_hot_code *h = hot_of(w, "-DOWNED", NULL);
    const reef_component owned = reef_type_find("Owned");
    reef_entity e[3];
    assert_int_not_equal(owned.id, 0);
    for (int i = 0; i < 3; i++) {
        e[i] = reef_create(w);
        assert_true(reef_add_id(w, e[i], owned, NULL, NULL) >= 0);
    }
    reef_snapshot *snapshot = reef_snapshot_take(w);
    build("-DOWNED -DSPEED=10");
    assert_event(h, REEF_HOT_LOADED);
    assert_true(reef_add_id(w, reef_create(w), owned, NULL, NULL) >= 0);
    const int *const *value = reef_mut_id(w, e[0], owned); /* copied by the new hook */
    assert_int_equal(**value, 1);
    assert_ok(reef_destroy(w, e[1]));
    reef_snapshot_free(snapshot); /* which is now dropped by the new hook */
    build("-DOWNED");
    assert_event(h, REEF_HOT_LOADED);
    assert_libraries(h, 1);
    assert_ok(reef_destroy(w, e[2]));
    reef_hot_close(h); /* values with its hooks are there still, so it stays */
    assert_int_not_equal(mappings(), 0);
}

/* ---- refusing ---- */

static void patch(const char *file, size_t behind_mark, uint32_t value)
{
    static const unsigned char mark[] = REEF_HOT_MARK_;
    static unsigned char bytes[1 << 22];
    char aside[700];
    FILE *in = fopen(file, "rb");
    assert_non_null(in);
    const size_t n = fread(bytes, 1, sizeof bytes, in);
    size_t at = 0;
    (void)fclose(in);
    while (at + sizeof mark < n && memcmp(bytes + at, mark, sizeof mark) != 0) at++;
    assert_true(at + sizeof mark + behind_mark + 4 < n);
    memcpy(bytes + at + sizeof mark + behind_mark, &value, sizeof value);
    (void)snprintf(aside, sizeof aside, "%s.aside", hot_path);
    FILE *out = fopen(aside, "wb");
    assert_true(out && fwrite(bytes, 1, n, out) == n && fclose(out) == 0);
    assert_int_equal(rename(aside, hot_path), 0);
}

static void what_is_refused_leaves_the_old_code(void **state)
{
    reef_world *w = world_of(state);
    reef_hot_code *h = hot_of(w, "", NULL);
    const reef_entity e = reef_spawn(w, reef_with(Place, 0, 0));
    const char *good = built("-DSPEED=10");
    struct stat whole;
    assert_int_equal(stat(good, &whole), 0);
    tick(w);
    /* half written, at many places */
    for (long i = 0; i < 16; i++) {
        copy_file(good, hot_path, (long)whole.st_size * i / 16);
        assert_hot_refused(w, h, i ? "it isn't a whole library" : "");
    }
    patch(good, 0, 77);
    assert_hot_refused(w, h, "it was compiled for reef 0.0.77, and this is 0.1.0");
    patch(good, 4, !REEF_HOT_CHECKED_);
    assert_hot_refused(w, h, "build, and this is the");
    patch(good, 12, 1);
    assert_hot_refused(w, h, "with other headers of reef");
    build("-DNO_LIBRARY");
    assert_hot_refused(w, h, "it has no REEF_HOT_LIBRARY");
    build("-DMISSING");
    assert_hot_refused(w, h, "nobody_has_this");
    build("-DNAME='\"others\"'");
    assert_hot_refused(w, h, "its module is named others, and was rules");
    build("-DPLACE_DIFFERS");
    assert_hot_refused(w, h, "Nowhere");
    build("-DPLACE_MORE");
    assert_hot_refused(w, h, "type Place: two declarations differ; sizes 8 and 12");
    assert_text(h, "the program has it, too");
    build("-DREFUSES -DFRESH");
    assert_hot_refused(w, h, "its `load` refused");
    assert_int_equal(reef_type_find("Fresh").id, 0);
    assert_null(reef_declare_error());
    assert_int_equal(remove(hot_path), 0);
    assert_event(h, REEF_HOT_SAME);
    tick(w);
    assert_true(reef_get(w, e, Place)->x == 2);
    put(good);
    assert_event(h, REEF_HOT_LOADED);
    tick(w);
    assert_true(reef_get(w, e, Place)->x == 12);
    build("-DFRESH");
    assert_event(h, REEF_HOT_LOADED);
    assert_int_not_equal(reef_type_find("Fresh").id, 0);
    assert_int_equal(reef_count_id(w, reef_type_find("Fresh")), 1);
    reef_block b = reef_begin_text(w, "Place");
    assert_true(reef_next(&b));
    put(good);
    assert_event(h, REEF_HOT_REFUSED);
    assert_text(h, "reef_code_use");
    reef_end(&b);
    put(good);
    assert_event(h, REEF_HOT_LOADED);
    reef_hot_close(h);
    char reason[REEF_HOT_TEXT_MAX];
    assert_null(reef_hot_open(w, "/nowhere/rules.so", NULL, reason));
    assert_non_null(strstr(reason, "can't be read"));
    assert_null(reef_hot_open(NULL, hot_path, NULL, reason));
    assert_int_equal(reef_hot_poll(NULL), REEF_HOT_SAME);
    reef_hot_close(NULL);
}

/* ---- the past ---- */

/* What came of the input of tick 4, which nothing else is. */
static float pushed_to(reef_world *w)
{
    reef_block b = reef_begin_text(w, "in Place");
    assert_true(reef_next(&b));
    const float x = reef_in(&b, Place)[0].x;
    assert_false(reef_next(&b));
    return x;
}

typedef struct seen {
    uint32_t times;
    float was, is; /* the ends of both futures */
} seen;

static void look(void *context, reef_replay *r)
{
    seen *x = context;
    x->times++;
    x->was = pushed_to(reef_history_world(reef_replay_history(r)));
    x->is = pushed_to(reef_replay_world(r));
    assert_non_null(reef_replay_at(r, 8));
    assert_non_null(reef_history_at(reef_replay_history(r), 8));
}

/* On a fork, some in each poll; the world goes on, and its ticks are played again, too. */
static void the_last_ticks_are_played_again(void **state)
{
    seen x = {0};
    reef_world *w = world_of(state);
    reef_history *past = reef_history_new(w, &(reef_history_config){.ticks = 60, .step = step, .input = reef_id(Push)});
    reef_hot_code *h = hot_of(
        w, "", &(reef_hot_desc){.history = past, .replay = 5, .replay_ticks = 2, .replayed = look, .context = &x});
    const Push input = {1000};
    for (int i = 0; i < 8; i++) assert_ok(reef_history_step(past, i == 4 ? &input : NULL, i == 4 ? sizeof input : 0));
    build("-DSPEED=10");
    assert_event(h, REEF_HOT_LOADED);
    assert_int_equal(reef_hot_replay_left(h), 5);
    assert_libraries(h, 2); /* the history's states have systems of the old one */
    assert_event(h, REEF_HOT_SAME);
    assert_int_equal(reef_hot_replay_left(h), 3);
    assert_true(pushed_to(w) == 1004); /* the present is as it was */
    for (int i = 0; i < 3; i++) assert_ok(reef_history_step(past, NULL, 0));
    assert_true(pushed_to(w) == 1034); /* and goes on with the new code */
    assert_event(h, REEF_HOT_SAME);
    assert_int_equal(reef_hot_replay_left(h), 2); /* four, which is more than the three that came */
    assert_int_equal(x.times, 0);
    assert_event(h, REEF_HOT_REPLAYED);
    assert_text(h, "8 ticks were played again");
    assert_true(pushed_to(w) == 1070); /* ticks 4 ... 10 with the new speed */
    assert_true(x.times == 1 && x.was == 1034 && x.is == 1070);
    assert_int_equal(reef_history_reach(past).tick, 11);
    assert_event(h, REEF_HOT_SAME);
    build(""); /* another one takes over while ticks are played again */
    assert_event(h, REEF_HOT_LOADED);
    assert_event(h, REEF_HOT_SAME);
    build("-DSPEED=10");
    assert_event(h, REEF_HOT_LOADED);
    assert_replayed(h);
    assert_true(pushed_to(w) == 1070);
    reef_hot_history(h, past, 60);
    build("");
    assert_event(h, REEF_HOT_LOADED);
    assert_replayed(h); /* all of it, so no state has old systems */
    assert_true(pushed_to(w) == 1007);
    assert_libraries(h, 1);
    reef_history_free(past);
    reef_hot_close(h);
}

/* A library that can't be used changes nothing: the replay begins anew, with the code that stays. */
static void a_refused_library_leaves_a_replay(void **state)
{
    reef_world *w = world_of(state);
    reef_history *past = reef_history_new(w, &(reef_history_config){.ticks = 60, .step = step, .input = reef_id(Push)});
    reef_hot_code *h = hot_of(w, "", &(reef_hot_desc){.history = past, .replay = 5, .replay_ticks = 2});
    for (int i = 0; i < 8; i++) assert_ok(reef_history_step(past, NULL, 0));
    build("-DSPEED=10");
    assert_event(h, REEF_HOT_LOADED);
    assert_event(h, REEF_HOT_SAME);
    copy_file(built("-DSPEED=20"), hot_path, 1000);
    assert_event(h, REEF_HOT_REFUSED);
    assert_int_equal(reef_hot_replay_left(h), 5);
    assert_replayed(h);
    reef_history_free(past);
    reef_hot_close(h);
}

static reef_status failing_step(void *context, reef_world *w, uint64_t number, const void *input, size_t bytes)
{
    return *(bool *)context ? REEF_IO : step(NULL, w, number, input, bytes);
}

static void what_cant_be_played_again_is_told(void **state)
{
    bool fails = false;
    const Push input = {1000};
    reef_world *w = world_of(state);
    reef_history *past =
        reef_history_new(w, &(reef_history_config){.ticks = 60, .step = failing_step, .context = &fails});
    reef_hot_code *h = hot_of(w, "", &(reef_hot_desc){.history = past, .replay = 5});
    for (int i = 0; i < 8; i++) assert_ok(reef_history_step(past, i == 4 ? &input : NULL, i == 4 ? sizeof input : 0));
    build("-DSPEED=10"); /* nobody knows what the input is */
    assert_event(h, REEF_HOT_LOADED);
    assert_text(h, "can't be played again: their inputs have no type");
    assert_event(h, REEF_HOT_SAME);
    assert_true(pushed_to(w) == 1004);
    for (int i = 0; i < 8; i++) assert_ok(reef_history_step(past, NULL, 0));
    build(""); /* there is none among the last five */
    assert_event(h, REEF_HOT_LOADED);
    fails = true;
    assert_event(h, REEF_HOT_KEPT);
    assert_text(h, "can't be played again: ");
    assert_true(pushed_to(w) == 1084);
    fails = false;
    build("-DSPEED=10");
    assert_event(h, REEF_HOT_LOADED);
    reef_block b = reef_begin_text(w, "in Place");
    assert_true(reef_next(&b));
    for (int i = 0; i < 5; i++) assert_event(h, REEF_HOT_SAME); /* the world can't change now */
    reef_end(&b);
    assert_replayed(h);
    build("");
    assert_event(h, REEF_HOT_LOADED);
    assert_ok(reef_history_rewind(past, 14)); /* the program goes back by itself */
    assert_event(h, REEF_HOT_KEPT);
    assert_text(h, "the history was changed since it began");
    build("-DSPEED=10");
    assert_event(h, REEF_HOT_LOADED);
    reef_history_free(past);
    assert_event(h, REEF_HOT_KEPT);
    assert_text(h, "their history was freed");
    reef_hot_history(h, NULL, 0);
    build("");
    assert_event(h, REEF_HOT_LOADED);
    assert_event(h, REEF_HOT_SAME);
    reef_hot_close(h);
}

/* ---- the end of a library, and of the program ---- */

#if defined(REEF_CHECKED)
static bool load_note(void *context, const reef_module_info *m)
{
    *(reef_status(**)(reef_world *, void *))context = m->module->load;
    return true;
}
#endif

/* A pointer that the program has kept, and reef doesn't know of. */
static void a_stale_call_names_its_library(void **state)
{
#if !defined(REEF_CHECKED)
    (void)state;
    skip(); /* the other builds don't look after closed libraries */
#else
    char said[700], text[400] = "";
    reef_status (*stale)(reef_world *, void *) = NULL;
    reef_world *w = world_of(state);
    reef_hot_code *h = hot_of(w, "-DVERSION=3", NULL);
    int status = 0;
    assert_true(reef_visit_modules(w, load_note, &stale));
    (void)signal(SIGSEGV, SIG_DFL);
    build("-DVERSION=4");
    assert_event(h, REEF_HOT_LOADED);
    assert_libraries(h, 1);
    (void)snprintf(said, sizeof said, "%s.said", hot_path);
    const pid_t child = fork();
    if (child == 0) {
        if (freopen(said, "w", stderr) == NULL) _exit(2);
        (void)stale(w, NULL);
        _exit(0);
    }
    while (waitpid(child, &status, 0) < 0) {}
    assert_false(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    FILE *in = fopen(said, "rb");
    assert_non_null(in);
    assert_true(fread(text, 1, sizeof text - 1, in) > 0);
    (void)fclose(in);
    if (strstr(text, " of rules 3, library number 1 was reached, which is closed") == NULL) fail_msg("%s", text);
    reef_hot_close(h);
#endif
}

/* Whenever a program is killed that takes over library after library, the next one goes on from its journal. */
static void killed_in_the_middle(void **state)
{
    char file[700];
    reef_world *w = world_of(state);
    (void)snprintf(file, sizeof file, "%s.killed", hot_path);
    (void)built("-DHUNTER_MORE"), (void)built("-DHUNTER_LESS");
    for (uint32_t round = 0; round < (deep ? 200u : 12u); round++) {
        (void)remove(file);
        const pid_t child = fork();
        if (child == 0) {
            reef_world *own = reef_world_new(NULL);
            build("-DHUNTER_LESS");
            reef_hot_code *h = reef_hot_open(own, hot_path, NULL, NULL);
            reef_journal *j = reef_journal_open(own, file, &(reef_journal_desc){.unsynced = true, .fresh = true});
            for (uint32_t i = 0; i < 300; i++)
                (void)reef_spawn(own, reef_with(Place, 1, 2),
                                 reef_value_make(reef_type_find("Hunter"), REEF_VALUE_DEFAULT, 0, NULL));
            for (uint32_t i = 0; h && j; i++) {
                build(i % 2 ? "-DHUNTER_LESS" : "-DHUNTER_MORE");
                if (reef_hot_poll(h) != REEF_HOT_LOADED || reef_tick(own, 1) < 0 || reef_journal_append(j) < 0) break;
            }
            _exit(3);
        }
        (void)usleep(1000 * (3 + round * 11 % 97));
        (void)kill(child, SIGKILL);
        int status = 0;
        while (waitpid(child, &status, 0) < 0) {}
        assert_true(WIFSIGNALED(status));
        if (access(file, R_OK) == 0) assert_ok(reef_load(w, file, NULL));
        assert_valid(w);
        reef_hot_code *h = hot_of(w, "-DHUNTER_MORE", NULL);
        tick(w);
        reef_hot_close(h);
        assert_ok(reef_world_clear(w));
    }
}

/* ---- trials ---- */

static void a_trial_refuses_what_would_end_the_program(void **state)
{
    reef_world *w = world_of(state);
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
    skip(); /* it hands on no signal in a child of a process with threads */
#endif
#endif
#if defined(__SANITIZE_THREAD__)
    skip();
#endif
    reef_pool *pool = reef_pool_new(&(reef_pool_config){.threads = 2});
    assert_ok(reef_set_pool(w, pool));
    reef_hot_code *h = hot_of(w, "", &(reef_hot_desc){.trial_ticks = 3, .trial_ms = 600000, .trial_dt = 1});
    const reef_entity e = reef_spawn(w, reef_with(Place, 0, 0));
    tick(w);
    build("-DCRASHES");
    assert_hot_refused(w, h, "Segmentation fault, in the system move, at 0x");
    reef_hot_close(h);
    for (uint32_t ms = 300, there = 0; !there; ms *= 4) { /* a busy machine may not come to the system in time */
        char wanted[60];
        h = hot_of(w, "", &(reef_hot_desc){.trial_ticks = 3, .trial_ms = ms, .trial_dt = 1});
        build("-DHANGS");
        (void)snprintf(wanted, sizeof wanted, "the trial takes longer than %u ms", (unsigned)ms);
        assert_hot_refused(w, h, wanted);
        there = strstr(reef_hot_text(h), ", in the system move, at 0x") != NULL;
        reef_hot_close(h);
    }
    h = hot_of(w, "", &(reef_hot_desc){.trial_ticks = 3, .trial_ms = 600000, .trial_dt = 1});
#if defined(REEF_CHECKED)
    build("-DMISTAKES");
    assert_hot_refused(w, h, "the trial made a mistake");
#endif
    build("-DPLACE_DIFFERS");
    assert_hot_refused(w, h, "Nowhere");
    build("-DSPEED=10");
    assert_event(h, REEF_HOT_LOADED);
    tick(w);
    assert_true(reef_get(w, e, Place)->x == 11); /* the trial's ticks are nobody's */
    reef_hot_close(h);
    assert_ok(reef_set_pool(w, NULL));
    reef_pool_free(pool);
}

/* ---- threads, memory, many times ---- */

static void threads_give_the_same(void **state)
{
    uint64_t hash[3];
    for (uint32_t k = 0; k < 3; k++) {
        reef_world *w = another_world(state, NULL);
        reef_pool *pool = reef_pool_new(&(reef_pool_config){.threads = 1u << k});
        assert_ok(reef_set_pool(w, pool));
        reef_hot_code *h = hot_of(w, "", NULL);
        for (int i = 0; i < 5000; i++) reef_spawn(w, reef_with(Place, (float)i, 1));
        for (int i = 0; i < 6; i++) {
            tick(w);
            build(i % 2 ? "" : "-DSPEED=10");
            assert_event(h, REEF_HOT_LOADED);
        }
        reef_single_mut(w, Report)->kept = 0;
        hash[k] = reef_hash(w);
        reef_hot_close(h);
        assert_ok(reef_set_pool(w, NULL));
        reef_pool_free(pool);
    }
    assert_int_equal(hash[0], hash[1]);
    assert_int_equal(hash[0], hash[2]);
}

static void no_memory_is_no_reload(void **state)
{
    reef_world *w = world_of(state);
    reef_hot_code *h = hot_of(w, "-DOWNED", NULL);
    const reef_entity s = reef_create(w);
    reef_spawn(w, reef_with(Place, 0, 0), reef_tag(Marked));
    reef_add(w, s, Employed);
    for (int i = 0; i < 40; i++) assert_true(reef_add_id(w, reef_create(w), reef_type_find("Owned"), NULL, NULL) >= 0);
    tick(w);
    heap *heaps[] = {heap_of(state), &hot_types};
    for (uint32_t k = 0; k < 2; k++) {
        bool loaded = false;
        for (uint64_t n = 1; !loaded; n++) {
            build(n % 2 ? "-DOWNED -DSPEED=10 -DFRESH" : "-DOWNED -DSPEED=3 -DFRESH");
            const uint64_t hash = reef_hash(w);
            heap_fail_nth(heaps[k], n, n % 3 == 0);
            loaded = reef_hot_poll(h) == REEF_HOT_LOADED;
            heap_fail_never(heaps[k]);
            if (!loaded) assert_int_equal(reef_hash(w), hash);
            assert_libraries(h, 1);
            assert_valid(w);
            assert_true(n < 1000);
        }
        build(k ? "-DOWNED" : "-DOWNED -DCOMMENT='\"another comment\"'");
        assert_event(h, REEF_HOT_LOADED);
    }
    tick(w);
    reef_hot_close(h);
}

/* Also what reef_hot itself and the system's loader allocate fails in turn. The C library is asked past these
 * functions; a sanitizer has its own, and so have other C libraries. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define OWN_ALLOCATIONS 0
#endif
#endif
#if !defined(OWN_ALLOCATIONS) && defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define OWN_ALLOCATIONS 1
static uint64_t fails_at, allocated; /* 0: none fails */
static bool allocation_fails(void) { return fails_at && ++allocated == fails_at; }
extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t count, size_t bytes);
extern void *__libc_realloc(void *p, size_t bytes);
void *malloc(size_t bytes) { return allocation_fails() ? NULL : __libc_malloc(bytes); }
void *calloc(size_t count, size_t bytes) { return allocation_fails() ? NULL : __libc_calloc(count, bytes); }
void *realloc(void *p, size_t bytes) { return allocation_fails() ? NULL : __libc_realloc(p, bytes); }
#endif

static void no_memory_of_the_system_is_no_reload(void **state)
{
#if !defined(OWN_ALLOCATIONS) || !OWN_ALLOCATIONS
    (void)state;
    skip();
#else
    reef_world *w = world_of(state);
    reef_hot_code *h = hot_of(w, "", NULL);
    const reef_entity e = hunter(w, 1, 0);
    uint32_t refused = 0;
    bool all = false, more = false;
    for (uint64_t n = 1; !all; n++) {
        build(more ? "-DHUNTER_LESS" : "-DHUNTER_MORE");
        const uint64_t hash = reef_hash(w);
        allocated = 0, fails_at = n;
        const reef_hot_event event = reef_hot_poll(h);
        all = allocated < n;
        fails_at = 0;
        if (event != REEF_HOT_LOADED) {
            assert_int_equal(event, REEF_HOT_REFUSED);
            assert_true(reef_hot_text(h)[0] != 0);
            assert_int_equal(reef_hash(w), hash);
            refused++;
        } else {
            more = !more;
        }
        assert_libraries(h, 1);
        assert_valid(w);
        assert_true(field_of(w, e, "Hunter", "power") == 1);
        assert_true(n < 5000);
    }
    assert_true(refused > 20);
    printf("%u allocations failed\n", refused);
    reef_hot_close(h);
#endif
}

static void many_times_nothing_grows(void **state)
{
    reef_world *w = world_of(state);
    reef_hot_code *h = hot_of(w, "", NULL);
    const int times = deep ? 1000 : 60;
    uint64_t blocks = 0, bytes = 0, type_bytes = 0;
    uint32_t maps = 0, types = 0;
    reef_spawn(w, reef_with(Place, 0, 0));
    for (int i = 0; i < times; i++) {
        build(i % 2 ? "" : "-DSPEED=10");
        assert_event(h, REEF_HOT_LOADED);
        tick(w);
        if (i == 9) {
            blocks = heap_of(state)->blocks;
            bytes = heap_of(state)->bytes;
            type_bytes = hot_types.bytes;
            maps = mappings();
            types = reef_type_count();
        }
    }
    assert_int_equal(heap_of(state)->blocks, blocks);
    assert_int_equal(heap_of(state)->bytes, bytes);
    assert_int_equal(hot_types.bytes, type_bytes);
    assert_int_equal(mappings(), maps);
    assert_int_equal(reef_type_count(), types);
    assert_libraries(h, 1);
    reef_hot_close(h);
    assert_int_equal(mappings(), 0);
}

/* ---- figures, in the deep form ---- */

static double now_ms(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static double fastest_reload(reef_hot_code *h, const char *one, const char *other)
{
    double best = 1e9;
    for (int i = 0; i < 10; i++) {
        build(i % 2 ? one : other);
        const double begin = now_ms();
        assert_event(h, REEF_HOT_LOADED);
        const double took = now_ms() - begin;
        if (took < best) best = took;
    }
    return best;
}

static void what_a_million_entities_cost(void **state)
{
    (void)state; /* a world on the C library's allocator */
    reef_world *w = reef_world_new(NULL);
    reef_hot_code *h = hot_of(w, "-DPLAIN", NULL);
    const double empty = fastest_reload(h, "-DPLAIN", "-DPLAIN -DSPEED=10");
    const reef_component c = reef_type_find("Hunter");
    for (uint32_t i = 0; i < 1000000; i++) {
        const first_hunter value = {(float)i, 0};
        (void)reef_spawn(w, reef_with(Place, 1, 2), reef_value_make(c, REEF_VALUE_ONE, sizeof value, &value));
    }
    tick(w);
    const double begin = now_ms();
    for (int i = 0; i < 100000; i++) assert_event(h, REEF_HOT_SAME);
    const double poll = (now_ms() - begin) / 100000 * 1e3;
    const double full = fastest_reload(h, "-DPLAIN", "-DPLAIN -DSPEED=10");
    const double layout = fastest_reload(h, "-DPLAIN -DHUNTER_LESS", "-DPLAIN -DHUNTER_MORE");
    assert_int_equal(reef_count_id(w, reef_type_find("Hunter")), 1000000);
    printf("a poll without a change: %.2f us\na reload: %.2f ms in an empty world, %.2f ms with 1,000,000 entities\n"
           "with another layout of 1,000,000 values: %.0f ms\n",
           poll, empty, full, layout);
    reef_hot_close(h);
    reef_world_free(w);
}

int main(int argc, char **argv)
{
    deep = argc > 1 && strcmp(argv[1], "--deep") == 0;
    if (!hot_suite_begin()) return 1;
    const struct CMUnitTest tests[] = {
        TEST(another_constant_takes_effect),
        TEST(many_times_nothing_grows), /* before there are scripts, whose classes keep a library */
        TEST(a_comment_changes_nothing),
        TEST(systems_come_go_and_move),
        TEST(texts_and_observers_change),
        TEST(observers_scripts_and_orders_follow),
        TEST(what_is_refused_leaves_the_old_code),
        TEST(the_last_ticks_are_played_again),
        TEST(a_refused_library_leaves_a_replay),
        TEST(what_cant_be_played_again_is_told),
        TEST(a_stale_call_names_its_library),
        TEST(killed_in_the_middle),
        TEST(a_trial_refuses_what_would_end_the_program),
        TEST(threads_give_the_same),
        TEST(no_memory_is_no_reload),
        TEST(no_memory_of_the_system_is_no_reload),
        TEST(hooks_follow), /* its library stays */
    };
    const struct CMUnitTest figures[] = {TEST(what_a_million_entities_cost)};
    int failed = deep ? cmocka_run_group_tests(figures, NULL, NULL) : 0;
    failed += cmocka_run_group_tests(tests, NULL, NULL);
    if (!hot_suite_end()) return 1;
    return failed;
}
