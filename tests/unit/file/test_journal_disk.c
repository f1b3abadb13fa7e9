/* Saves and journals on a disk that fails: the state of the last append that was answered with REEF_OK is there, or
 * a later one. */
#include "faults.h"
#include "reef/journal.h"
#include "reef/save.h"

typedef struct {
    int32_t units;
    uint32_t turns;
} Gold;
REEF_COMPONENT(Gold);
REEF_FIELDS(Gold, units, turns);

enum { STEPS = 3 };

typedef struct playing {
    char path[300];
    bool unsynced, compact;
    size_t begin_bytes; /* the journal that each run finds */
    char begin[4096];
    uint64_t hash[STEPS + 1]; /* of the state that it holds, and behind each step */
    uint32_t settled;         /* appends that were answered with REEF_OK */
    uint32_t seen[STEPS + 1]; /* how often each state was found */
} playing;

/* A step changes a value, adds an entity, and from the second on takes one away. */
static void step(reef_world *w, uint32_t n)
{
    reef_entity e = reef_entity_at(w, n);
    reef_mut(w, e, Gold)->units += (int32_t)n * 1000;
    (void)reef_spawn(w, reef_with(Gold, (int32_t)n, 7));
    if (n > 1) assert_ok(reef_destroy(w, reef_entity_at(w, 0)));
}

static reef_journal *journal_open(reef_world *w, const playing *p)
{
    return reef_journal_open(w, p->path, &(reef_journal_desc){.unsynced = p->unsynced});
}

static void playing_prepare(void *context)
{
    playing *p = context;
    faults_put(p->path, p->begin, p->begin_bytes);
    p->settled = 0;
}

static bool play_steps(playing *p, reef_world *w, reef_journal *j)
{
    for (uint32_t n = 1; n <= STEPS; n++) {
        step(w, n);
        p->hash[n] = reef_hash(w);
        if (reef_journal_append(j) != REEF_OK) return false;
        p->settled = n;
        crash_mark(n);
        if (n == 2 && p->compact && reef_journal_compact(j) != REEF_OK) return false;
    }
    return true;
}

static bool playing_run(void *context)
{
    playing *p = context;
    reef_world *w = reef_world_new(NULL);
    reef_journal *j = journal_open(w, p);
    bool good = j && play_steps(p, w, j);
    if (!good) assert_int_equal(reef_last_error(w).status, REEF_IO);
    if (!good && !strstr(reef_last_error(w).detail, " of "))
        fail_msg("no reason: %s, %s", reef_last_error(w).operation, reef_last_error(w).detail);
    reef_journal_close(j);
    reef_world_free(w);
    return good;
}

/* Which state the file holds. It loads as a file, and as a journal. */
static uint32_t state_in(playing *p, const char *when)
{
    reef_world *w = reef_world_new(NULL), *second = reef_world_new(NULL);
    if (reef_load(w, p->path, NULL) != REEF_OK) fail_msg("%s: %s", when, reef_last_error(w).detail);
    uint64_t hash = reef_hash(w);
    reef_journal *j = journal_open(second, p);
    if (j == NULL) fail_msg("%s: %s", when, reef_last_error(second).detail);
    assert_true(reef_hash(second) == hash);
    reef_journal_close(j);
    reef_world_free(second);
    reef_world_free(w);
    uint32_t n = 0;
    while (n <= STEPS && p->hash[n] != hash) n++;
    if (n > STEPS) fail_msg("%s: a state that never was", when);
    p->seen[n]++;
    return n;
}

static void playing_check(void *context, const fault *f, fault_end end)
{
    playing *p = context;
    uint32_t n = state_in(p, fault_text(f));
    if (n < p->settled || n > p->settled + 1) fail_msg("%s: state %u, %u were settled", fault_text(f), n, p->settled);
    if (end == FAULT_SUCCEEDED) assert_int_equal(n, STEPS);
}

static void playing_crash_run(void *context) { assert_true(playing_run(context)); }

static void playing_crash_check(void *context, uint32_t marked)
{
    playing *p = context;
    uint32_t n = state_in(p, "after a crash");
    if (n < marked && !p->unsynced) fail_msg("state %u, %u were promised", n, marked);
}

static const fault_scenario playing_scenario = {playing_prepare, playing_run, playing_check, false};
static const crash_scenario playing_crashes = {playing_prepare, playing_crash_run, playing_crash_check};

static playing *playing_make(const char *name)
{
    playing *p = faults_shared(sizeof *p);
    snprintf(p->path, sizeof p->path, "%s", faults_path(name));
    reef_world *w = reef_world_new(NULL);
    for (int32_t i = 0; i < 5; i++) assert_some(reef_spawn(w, reef_with(Gold, i, 1)));
    p->hash[0] = reef_hash(w);
    reef_journal *j = reef_journal_open(w, p->path, &(reef_journal_desc){.fresh = true});
    assert_non_null(j);
    reef_journal_close(j);
    reef_world_free(w);
    const void *bytes = faults_get(p->path, &p->begin_bytes);
    assert_true(bytes && p->begin_bytes <= sizeof p->begin);
    memcpy(p->begin, bytes, p->begin_bytes);
    return p;
}

static void a_journal_is_whole_whatever_call_fails(void **state)
{
    (void)state;
    playing *p = playing_make("journal");
    p->compact = true;
    (void)faults_each(&playing_scenario, p);
    for (uint32_t n = 0; n <= STEPS; n++) assert_true(p->seen[n] > 0);
}

static void a_journal_is_whole_after_a_crash_of_the_system(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        playing *p = playing_make("journal");
        p->unsynced = i == 1;
        p->compact = i > 0;
        (void)crashes_each(&playing_crashes, p->path, p);
        for (uint32_t n = 0; n <= STEPS; n++) assert_true(p->seen[n] > 0);
    }
}

/* ---- saves ---- */

typedef struct saving {
    char path[300];
    bool unsynced, old; /* old: there is a file */
    size_t begin_bytes;
    char begin[4096];
    uint64_t hash[2]; /* of the world in that file, of the one that is saved */
    reef_status status;
    char detail[REEF_DETAIL_MAX];
    uint32_t seen[FAULT_KILLED + 1][2]; /* how often which of them was found, by the run's end */
} saving;

static void saving_prepare(void *context)
{
    saving *p = context;
    faults_put(p->path, p->old ? p->begin : NULL, p->begin_bytes);
}

static reef_world *golden(int32_t coins)
{
    reef_world *w = reef_world_new(NULL);
    for (int32_t i = 0; i < coins; i++) assert_some(reef_spawn(w, reef_with(Gold, i, 1)));
    return w;
}

static bool saving_run(void *context)
{
    saving *p = context;
    reef_world *w = golden(40000); /* several buffers long */
    p->hash[1] = reef_hash(w);
    p->status = reef_save(w, p->path, &(reef_save_desc){.unsynced = p->unsynced});
    snprintf(p->detail, sizeof p->detail, "%s", p->status == REEF_OK ? "" : reef_last_error(w).detail);
    reef_world_free(w);
    return p->status == REEF_OK;
}

/* 0: the old world, or no file where none was; 1: the new one. */
static int world_in(const saving *p, const char *when)
{
    reef_world *w = reef_world_new(NULL);
    const reef_status s = reef_load(w, p->path, NULL);
    const uint64_t hash = reef_hash(w);
    const bool none = s == REEF_IO && strstr(reef_last_error(w).detail, "No such file") != NULL;
    if (s != REEF_OK && (p->old || !none)) fail_msg("%s: %s", when, reef_last_error(w).detail);
    if (s == REEF_OK && hash != p->hash[1] && (!p->old || hash != p->hash[0]))
        fail_msg("%s: a world that never was", when);
    reef_world_free(w);
    return s == REEF_OK && hash == p->hash[1];
}

static void saving_check(void *context, const fault *f, fault_end end)
{
    saving *p = context;
    const int is = world_in(p, fault_text(f));
    p->seen[end][is]++;
    if (end == FAULT_SUCCEEDED && !is) fail_msg("%s: the old world behind a save that said OK", fault_text(f));
    if (end != FAULT_REFUSED) return;
    if (p->status != REEF_IO || !strstr(p->detail, " of ")) fail_msg("%s: %s", fault_text(f), p->detail);
    if (is != (strncmp(p->detail, "fsync of the folder of ", 23) == 0))
        fail_msg("%s: %s, and the file is the %s one", fault_text(f), p->detail, is ? "new" : "old");
}

static const fault_scenario saving_scenario = {saving_prepare, saving_run, saving_check, false};

static void a_saved_world_is_whole_whatever_call_fails(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        saving *p = faults_shared(sizeof *p);
        reef_world *w = golden(5);
        snprintf(p->path, sizeof p->path, "%s", faults_path("world"));
        p->unsynced = i == 2;
        p->old = i != 1;
        p->hash[0] = reef_hash(w);
        assert_ok(reef_save(w, p->path, NULL));
        reef_world_free(w);
        const void *bytes = faults_get(p->path, &p->begin_bytes);
        assert_true(bytes && p->begin_bytes <= sizeof p->begin);
        memcpy(p->begin, bytes, p->begin_bytes);
        (void)faults_each(&saving_scenario, p);
        assert_true(p->seen[FAULT_SUCCEEDED][1] > 5 && p->seen[FAULT_REFUSED][0] > 20);
        assert_true(p->seen[FAULT_KILLED][0] > 5 && p->seen[FAULT_KILLED][1] > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_saved_world_is_whole_whatever_call_fails),
        TEST(a_journal_is_whole_whatever_call_fails),
        TEST(a_journal_is_whole_after_a_crash_of_the_system),
    };
    return cmocka_run_group_tests_name("journal_disk", tests, NULL, NULL);
}
