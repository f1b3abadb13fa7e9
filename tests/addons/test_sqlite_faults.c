/* The add-on reef_sqlite when things fail: the program is killed at any moment, the disk refuses any write, any
 * allocation fails. The file is always the last commit, whole, and the world is as it was.
 *
 *     test_sqlite_faults              60 kills, some places of failure
 *     test_sqlite_faults --deep       500 kills, every place; or only of the tests that match another word */
#define _POSIX_C_SOURCE 200809L
#include "reef_sqlite.h"
#include "sqlite_scene.h"
#include "support.h"
#include <signal.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char path[64];
static char reason[REEF_SQLITE_REASON_MAX];
static bool deep;
#if defined(FAULTS_SHORT) /* ./test with sanitizers */
enum { KILLS = 24, DISK_STEP = 5, MEMORY_STEP = 3 };
#else
enum { KILLS = 60, DISK_STEP = 12, MEMORY_STEP = 6 };
#endif

static void files_remove(void)
{
    char with[80];
    static const char *const ends[] = {"", "-wal", "-shm", "-journal"};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        (void)snprintf(with, sizeof with, "%s%s", path, ends[i]);
        (void)unlink(with);
    }
}

static reef_sqlite *open_at(reef_world *w, const reef_sqlite_desc *desc)
{
    reef_sqlite *f = NULL;
    const reef_status s = reef_sqlite_open(w, path, desc, &f, reason);
    if (s != REEF_OK) fail_msg("open: %s: %s", reef_status_name(s), reason);
    return f;
}

static void must(reef_sqlite *f, reef_status s, const char *call)
{
    if (s != REEF_OK) fail_msg("%s: %s: %s", call, reef_status_name(s), reef_sqlite_reason(f));
}
#define MUST(f, call) must(f, call, #call)

/* ---- SQLite's own allocator, whose n-th call fails ---- */

static sqlite3_mem_methods memory;
static uint64_t memory_calls, memory_fails_at;

static bool memory_fails(void) { return ++memory_calls == memory_fails_at; }
static void *failing_malloc(int bytes) { return memory_fails() ? NULL : memory.xMalloc(bytes); }
static void *failing_realloc(void *p, int bytes) { return memory_fails() ? NULL : memory.xRealloc(p, bytes); }

/* ---- a disk whose n-th change fails: every file of SQLite is wrapped ---- */

typedef struct disk_file {
    sqlite3_file base;
    sqlite3_file *real;
} disk_file;

static sqlite3_vfs disk, *disk_real;
static uint64_t disk_calls, disk_fails_at;
static int disk_error = SQLITE_FULL;
static bool disk_stays; /* all later changes fail too */

static bool disk_fails(void)
{
    ++disk_calls;
    return disk_fails_at && (disk_stays ? disk_calls >= disk_fails_at : disk_calls == disk_fails_at);
}

#define REAL(f) ((disk_file *)(f))->real
static int disk_close(sqlite3_file *f) { return REAL(f)->pMethods ? REAL(f)->pMethods->xClose(REAL(f)) : SQLITE_OK; }
static int disk_read(sqlite3_file *f, void *p, int n, sqlite3_int64 at)
{
    return REAL(f)->pMethods->xRead(REAL(f), p, n, at);
}
static int disk_write(sqlite3_file *f, const void *p, int n, sqlite3_int64 at)
{
    return disk_fails() ? disk_error : REAL(f)->pMethods->xWrite(REAL(f), p, n, at);
}
static int disk_truncate(sqlite3_file *f, sqlite3_int64 n)
{
    return disk_fails() ? SQLITE_IOERR_TRUNCATE : REAL(f)->pMethods->xTruncate(REAL(f), n);
}
static int disk_sync(sqlite3_file *f, int flags)
{
    return disk_fails() ? SQLITE_IOERR_FSYNC : REAL(f)->pMethods->xSync(REAL(f), flags);
}
static int disk_size(sqlite3_file *f, sqlite3_int64 *n) { return REAL(f)->pMethods->xFileSize(REAL(f), n); }
static int disk_lock(sqlite3_file *f, int l) { return REAL(f)->pMethods->xLock(REAL(f), l); }
static int disk_unlock(sqlite3_file *f, int l) { return REAL(f)->pMethods->xUnlock(REAL(f), l); }
static int disk_reserved(sqlite3_file *f, int *r) { return REAL(f)->pMethods->xCheckReservedLock(REAL(f), r); }
static int disk_control(sqlite3_file *f, int op, void *p) { return REAL(f)->pMethods->xFileControl(REAL(f), op, p); }
static int disk_sector(sqlite3_file *f) { return REAL(f)->pMethods->xSectorSize(REAL(f)); }
static int disk_device(sqlite3_file *f) { return REAL(f)->pMethods->xDeviceCharacteristics(REAL(f)); }
static int disk_map(sqlite3_file *f, int page, int n, int write, void volatile **p)
{
    return REAL(f)->pMethods->xShmMap(REAL(f), page, n, write, p);
}
static int disk_shm_lock(sqlite3_file *f, int at, int n, int flags)
{
    return REAL(f)->pMethods->xShmLock(REAL(f), at, n, flags);
}
static void disk_barrier(sqlite3_file *f) { REAL(f)->pMethods->xShmBarrier(REAL(f)); }
static int disk_unmap(sqlite3_file *f, int gone) { return REAL(f)->pMethods->xShmUnmap(REAL(f), gone); }

static const sqlite3_io_methods disk_methods = {.iVersion = 2,
                                                .xClose = disk_close,
                                                .xRead = disk_read,
                                                .xWrite = disk_write,
                                                .xTruncate = disk_truncate,
                                                .xSync = disk_sync,
                                                .xFileSize = disk_size,
                                                .xLock = disk_lock,
                                                .xUnlock = disk_unlock,
                                                .xCheckReservedLock = disk_reserved,
                                                .xFileControl = disk_control,
                                                .xSectorSize = disk_sector,
                                                .xDeviceCharacteristics = disk_device,
                                                .xShmMap = disk_map,
                                                .xShmLock = disk_shm_lock,
                                                .xShmBarrier = disk_barrier,
                                                .xShmUnmap = disk_unmap};

static int disk_open(sqlite3_vfs *v, const char *name, sqlite3_file *f, int flags, int *out)
{
    disk_file *d = (disk_file *)f;
    (void)v;
    d->real = (sqlite3_file *)(d + 1);
    const int code = disk_real->xOpen(disk_real, name, d->real, flags, out);
    d->base.pMethods = code == SQLITE_OK ? &disk_methods : NULL;
    return code;
}

/* Before anything else: SQLite takes both only then. */
static void faults_begin(void)
{
    (void)snprintf(path, sizeof path, "%stest_sqlite_faults-%ld.db", access("/dev/shm", W_OK) == 0 ? "/dev/shm/" : "",
                   (long)getpid());
    (void)sqlite3_config(SQLITE_CONFIG_GETMALLOC, &memory);
    sqlite3_mem_methods failing = memory;
    failing.xMalloc = failing_malloc;
    failing.xRealloc = failing_realloc;
    (void)sqlite3_config(SQLITE_CONFIG_MALLOC, &failing);
    (void)sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0); /* every allocation is one of the above */
    (void)sqlite3_initialize();
    disk_real = sqlite3_vfs_find(NULL);
    disk = *disk_real;
    disk.pNext = NULL;
    disk.zName = "failing";
    disk.szOsFile = (int)sizeof(disk_file) + disk_real->szOsFile;
    disk.xOpen = disk_open;
    (void)sqlite3_vfs_register(&disk, 1);
}

/* ---- the shell of SQLite, as another program that reads the file ---- */

static void shell_reads(const reef_world *w)
{
    char command[200], line[64] = "", wanted[64];
    static bool missing;
    if (missing) return;
    /* The scene's systems move what they move out of the range of Place, which C programs may do. */
    (void)snprintf(command, sizeof command,
                   "sqlite3 '%s' 'pragma ignore_check_constraints = on' 'pragma integrity_check' "
                   "'select count(*) from entities' 2>&1",
                   path);
    FILE *said = popen(command, "r");
    assert_non_null(said);
    line[fread(line, 1, sizeof line - 1, said)] = 0;
    const int status = pclose(said);
    missing = WIFEXITED(status) && WEXITSTATUS(status) == 127;
    if (missing) print_message("there is no sqlite3: its shell isn't tested\n");
    if (missing) return;
    (void)snprintf(wanted, sizeof wanted, "ok\n%u\n", (unsigned)reef_count_alive(w));
    assert_string_equal(line, wanted);
}

/* ---- killed ---- */

typedef struct message {
    uint64_t number, hash;
    bool done;
} message;

/* Plays and commits until it is killed. Says before each commit what it will be, and after it that it is. */
static void child_play(int to, uint64_t seed)
{
    reef_world *w = reef_world_new(NULL);
    reef_sqlite *f = NULL;
    scene_systems(w);
    if (reef_sqlite_open(w, path, NULL, &f, reason) != REEF_OK) _exit(1);
    for (;;) {
        message m = {reef_sqlite_number(f) + 1, 0, false};
        scene_change(w, &seed, 80, false);
        if (reef_tick(w, 1) != REEF_OK) _exit(2);
        m.hash = reef_hash(w);
        if (write(to, &m, sizeof m) != sizeof m) _exit(3);
        const bool compact = scene_random(&seed) % 16 == 0;
        if ((compact ? reef_sqlite_compact(f) : reef_sqlite_commit(f)) != REEF_OK) _exit(4);
        m.done = true;
        if (write(to, &m, sizeof m) != sizeof m) _exit(5);
        if (scene_random(&seed) % 8) continue;
        reef_sqlite_close(f);
        if (reef_sqlite_open(w, path, NULL, &f, reason) != REEF_OK) _exit(6);
    }
}

static void a_program_that_is_killed_leaves_the_last_commit(void **state)
{
    const int kills = deep ? 500 : KILLS;
    uint64_t seed = 11, last = 0, last_hash = 0, commits = 0;
    (void)state;
    files_remove();
    for (int k = 0; k < kills; k++) {
        int ends[2], status;
        message m, promised = {last, last_hash, true}, done = promised;
        assert_int_equal(pipe(ends), 0);
        const pid_t child = fork();
        if (child == 0) child_play(ends[1], (uint64_t)k + 1);
        (void)close(ends[1]);
        /* It is killed a moment after it has said something, or while it opens the file. */
        for (uint32_t heard = scene_random(&seed) % 6; heard; heard--) {
            if (read(ends[0], &m, sizeof m) != sizeof m) break;
            promised = m;
            if (m.done) done = m;
        }
        const long us = (long)(scene_random(&seed) % 4000);
        (void)nanosleep(&(struct timespec){0, us * 1000}, NULL);
        (void)kill(child, SIGKILL);
        while (read(ends[0], &m, sizeof m) == sizeof m) {
            promised = m;
            if (m.done) done = m;
        }
        (void)close(ends[0]);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status)); /* it didn't end by itself */
        reef_world *w = reef_world_new(NULL);
        scene_systems(w);
        reef_sqlite *f = open_at(w, NULL);
        last = reef_sqlite_number(f);
        last_hash = last ? reef_hash(w) : 0;
        assert_true(last == done.number || last == promised.number);
        if (last) assert_true(last_hash == (last == done.number ? done.hash : promised.hash));
        if (k % 8 == 7 || deep) MUST(f, reef_sqlite_check(f));
        if (last && (k % 8 == 7 || deep)) shell_reads(w);
        reef_sqlite_close(f);
        reef_world_free(w);
        commits = last;
    }
    print_message("%d kills, %d commits\n", kills, (int)commits);
    assert_true(commits > (uint64_t)kills / 4);
    files_remove();
}

/* ---- the disk ---- */

/* With the n-th write, truncation or sync failing, the call says so with SQLite's message, and the world and the file
 * are as they were; when the disk is well again the next commit has everything. */
static void disk_sweep(void **state, int error, bool stays)
{
    reef_world *w = world_of(state);
    uint64_t seed = 3, n;
    disk_error = error;
    disk_stays = stays;
    files_remove();
    reef_sqlite *f = open_at(w, NULL);
    for (n = 1;; n += deep ? 1 : 1 + n / DISK_STEP) {
        scene_change(w, &seed, 120, false);
        const uint64_t before = digest(w), number = reef_sqlite_number(f);
        disk_calls = 0;
        disk_fails_at = n;
        const reef_status s = n % 5 == 4 ? reef_sqlite_pull(f, NULL, NULL, NULL) : reef_sqlite_commit(f);
        disk_fails_at = 0;
        const bool reached = disk_calls >= n;
        assert_true(digest(w) == before);
        if (s != REEF_OK) {
            assert_int_equal(s, REEF_IO);
            assert_true(reef_sqlite_reason(f)[0] != 0);
            assert_true(reef_sqlite_number(f) == number);
            MUST(f, reef_sqlite_check(f));
            MUST(f, reef_sqlite_commit(f));
        }
        MUST(f, reef_sqlite_check(f));
        if (!reached) break;
    }
    assert_true(n > 20);
    /* closing with a bad disk leaves the last commit as well */
    disk_calls = 0;
    disk_fails_at = 2;
    disk_stays = true;
    reef_sqlite_close(f);
    disk_fails_at = 0;
    reef_world *to = another_world(state, NULL);
    f = open_at(to, NULL);
    assert_true(reef_hash(to) == reef_hash(w));
    MUST(f, reef_sqlite_check(f));
    reef_sqlite_close(f);
    files_remove();
}

static void a_full_disk_is_a_status(void **state) { disk_sweep(state, SQLITE_FULL, true); }
static void a_write_that_fails_is_a_status(void **state) { disk_sweep(state, SQLITE_IOERR_WRITE, false); }

/* ---- memory ---- */

typedef struct scenario {
    reef_world *w;
    reef_sqlite *f;
    uint64_t seed;
    reef_world *made;
} scenario;

static bool row_skip(void *context, uint32_t count, const reef_sql_value *values)
{
    (void)context, (void)count, (void)values;
    return true;
}

static reef_status run_commit(scenario *x) { return reef_sqlite_commit(x->f); }
static reef_status run_compact(scenario *x) { return reef_sqlite_compact(x->f); }
static reef_status run_check(scenario *x) { return reef_sqlite_check(x->f); }
static reef_status run_pull(scenario *x) { return reef_sqlite_pull(x->f, NULL, NULL, NULL); }
static reef_status run_at(scenario *x)
{
    const reef_status s = reef_sqlite_at(x->f, UINT64_MAX, &x->made);
    reef_world_free(x->made);
    return s;
}
static reef_status run_forget(scenario *x) { return reef_sqlite_forget(x->f, UINT64_MAX); }
static reef_status run_open(scenario *x)
{
    reef_sqlite *f = NULL;
    const reef_status s = reef_sqlite_open(x->w, path, &(reef_sqlite_desc){.history = true}, &f, reason);
    assert_true((s == REEF_OK) == (f != NULL));
    reef_sqlite_close(f);
    return s;
}
static reef_status run_select(scenario *x)
{
    return reef_sql(
        x->w,
        "select * from Kinds; select sum(x), count(*) from Place; select name, x, coins from entities "
        "left join Place using (id) left join Coins using (id); select * from Place where query = 'Lit'; "
        "create virtual table temp.q using reef_query('Place, ?Coins'); select * from q; select * from types; "
        "select * from fields; select * from disabled; select * from Likes where target = 1",
        row_skip, NULL, reason);
}
static reef_status run_update(scenario *x)
{
    return reef_sql(
        x->w,
        "update Place set x = 1; insert into entities(name) values ('swept'); insert into Kinds(id, legs, word) "
        "select id, '[1,2,3]', 'w' from entities where name = 'swept'; delete from Coins; "
        "insert into Likes(id, target) select id, (select min(id) from entities) from Place limit 3",
        row_skip, NULL, reason);
}
static reef_status run_change(scenario *x)
{
    return reef_sql(x->w,
                    "delete from Wound where per_second > 20 or number = 1; delete from Likes where target > 3; "
                    "insert into entities(name) values ('swept'), (null) returning *; insert into Wound(id) select id "
                    "from Place where query in ('Lit', 'Asleep') returning id, number; create virtual table temp.q "
                    "using reef_query('Place'); update Kinds set i32 = 1 where id in (select id from q)",
                    row_skip, NULL, reason);
}
static reef_status nowhere(void *context, const void *bytes, size_t count)
{
    (void)context, (void)bytes, (void)count;
    return REEF_OK;
}
static reef_status run_confined(scenario *x)
{
    return reef_sql_json(
        x->w,
        "select instr(word, 'a'), word like 'w%', json_set('{}', '$.a', json(legs)), printf('%d', i32) "
        "from Kinds; select trim(name), json_patch('{}', '{\"a\":1}') from entities limit 3",
        true, (reef_writer){nowhere, NULL}, reason);
}
static reef_status run_import(scenario *x) { return reef_sqlite_import(x->w, path, "mine", NULL, reason); }

static const struct {
    const char *name;
    reef_status (*run)(scenario *x);
    bool other; /* the call needs another world, so that this one's state can be compared */
} scenarios[] = {{"commit", run_commit, false},
                 {"compact", run_compact, false},
                 {"check", run_check, false},
                 {"pull", run_pull, false},
                 {"at", run_at, false},
                 {"forget", run_forget, false},
                 {"open", run_open, true},
                 {"select", run_select, false},
                 {"update", run_update, true},
                 {"change", run_change, true},
                 {"confined", run_confined, false},
                 {"import", run_import, true}};

static void others_write(void)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db,
                                  "update Place set x = -x where id < 9; delete from Coins where id = 2;"
                                  "insert or ignore into disabled values (3, 'Place');"
                                  "create table if not exists mine(id integer primary key, t, r references mine(id));"
                                  "insert or ignore into mine values (1, 'one', 2), (2, 'two', 1)",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

/* With the n-th allocation of SQLite's allocator, or of the world's, failing, a call answers NO_MEMORY or works; the
 * world is as before where it failed, the file is whole, and nothing leaks. */
static void memory_sweep(void **state, size_t which, bool of_world)
{
    scenario x = {.w = world_of(state), .seed = which + 9};
    files_remove();
    scene_change(x.w, &x.seed, 200, false);
    x.f = open_at(x.w, &(reef_sqlite_desc){.history = true, .unsynced = true});
    MUST(x.f, reef_sqlite_commit(x.f));
    reef_snapshot *start = reef_snapshot_take(x.w);
    uint64_t n = 1;
    for (uint64_t points = 1;; n += deep ? 1 : 1 + n / MEMORY_STEP, points++) {
        if (points % 16 == 0) { /* so that neither the world nor the file grows with the number of points */
            assert_ok(reef_restore(x.w, start));
            MUST(x.f, reef_sqlite_commit(x.f));
            MUST(x.f, reef_sqlite_forget(x.f, UINT64_MAX));
        }
        if (scenarios[which].run != run_check && scenarios[which].run != run_select &&
            scenarios[which].run != run_confined)
            others_write();
        if (!scenarios[which].other) scene_change(x.w, &x.seed, 10, false);
        if (scenarios[which].run == run_check) MUST(x.f, reef_sqlite_commit(x.f));
        const uint64_t before = reef_hash(x.w), base = memory_calls;
        reef_world *to = scenarios[which].other ? reef_fork(x.w) : NULL;
        scenario y = {to ? to : x.w, x.f, x.seed, NULL};
        if (of_world) heap_fail_nth(heap_of(state), n, false);
        else memory_fails_at = base + n;
        const uint64_t refused = heap_of(state)->refused;
        const reef_status s = scenarios[which].run(&y);
        const bool reached = of_world ? heap_of(state)->refused > refused : memory_calls >= memory_fails_at;
        memory_fails_at = 0;
        heap_fail_never(heap_of(state));
        if (s != REEF_OK && s != REEF_NO_MEMORY)
            fail_msg("%s, allocation %d: %s: %s %s", scenarios[which].name, (int)n, reef_status_name(s), reason,
                     reef_sqlite_reason(x.f));
        if (s != REEF_OK && reef_hash(y.w) != before)
            fail_msg("%s, allocation %d: changed", scenarios[which].name, (int)n);
        assert_valid(y.w);
        reef_world_free(to);
        if (n % 4 == 1 && scenarios[which].run != run_check) {
            MUST(x.f, reef_sqlite_pull(x.f, NULL, NULL, NULL));
            MUST(x.f, reef_sqlite_check(x.f));
        }
        if (!reached) break;
    }
    if (deep)
        print_message("%s: each of %d allocations of %s failed\n", scenarios[which].name, (int)n - 1,
                      of_world ? "the world" : "SQLite");
    reef_snapshot_free(start);
    reef_sqlite_close(x.f);
    files_remove();
}

static void an_allocation_that_fails_is_a_status(void **state)
{
    for (size_t i = 0; i < sizeof scenarios / sizeof scenarios[0]; i++) memory_sweep(state, i, false);
}
static void an_allocation_of_the_world_that_fails_is_a_status(void **state)
{
    for (size_t i = 0; i < sizeof scenarios / sizeof scenarios[0]; i++) memory_sweep(state, i, true);
}

int main(int count, char **words)
{
    const struct CMUnitTest tests[] = {
        TEST(a_program_that_is_killed_leaves_the_last_commit),
        TEST(a_full_disk_is_a_status),
        TEST(a_write_that_fails_is_a_status),
        TEST(an_allocation_that_fails_is_a_status),
        TEST(an_allocation_of_the_world_that_fails_is_a_status),
    };
    deep = count > 1 && strcmp(words[1], "--deep") == 0;
    if (count > 2) cmocka_set_test_filter(words[2]);
    faults_begin();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
