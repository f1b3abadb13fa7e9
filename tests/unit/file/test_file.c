/* Files: what is on the disk when something goes wrong, at every call of the system, and when the machine stops. */
#define _DEFAULT_SOURCE /* symlink, mkfifo */
#include "base/os_file.h"
#include "file_content.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

static bool there(const char *path)
{
    struct stat s;
    return lstat(path, &s) == 0;
}

static reef_status replace(const char *path, bool synced, uint32_t seed, size_t size, char *reason)
{
    making m = {seed, size, REEF_OK};
    return reef_file_replace(path, synced, make_content, &m, reason);
}

/* ---- replacing, with faults ---- */

typedef struct replacing {
    char path[300], temporary[310];
    bool synced, old;
    reef_status status;
    char reason[REEF_DETAIL_MAX];
    uint32_t refused, succeeded, killed, killed_new; /* ends seen, killed ones with the new content */
} replacing;

static void replacing_prepare(void *context)
{
    replacing *r = context;
    if (r->old) put(r->path, 1, OLD_BYTES);
    else faults_put(r->path, NULL, 0);
    put(r->temporary, 9, LEFT_BYTES); /* left behind by somebody, and longer */
    memset(r->reason, '?', sizeof r->reason);
}

static bool replacing_run(void *context)
{
    replacing *r = context;
    r->status = replace(r->path, r->synced, 2, NEW_BYTES, r->reason);
    return r->status == REEF_OK;
}

static bool holds_old(const replacing *r) { return r->old ? holds(r->path, 1, OLD_BYTES) : !there(r->path); }
static bool holds_new(const replacing *r) { return holds(r->path, 2, NEW_BYTES); }

static void replacing_check(void *context, const fault *f, fault_end end)
{
    replacing *r = context;
    bool new = holds_new(r), folder = strncmp(r->reason, "fsync of the folder of ", 23) == 0;
    if (!new && !holds_old(r)) fail_msg("%s: neither the old nor the new content", fault_text(f));
    switch (end) {
    case FAULT_SUCCEEDED:
        r->succeeded++;
        if (!new || there(r->temporary) || r->reason[0]) fail_msg("%s: no success: %s", fault_text(f), r->reason);
        break;
    case FAULT_REFUSED:
        r->refused++;
        if (r->status != REEF_IO || new != folder) fail_msg("%s: %s", fault_text(f), r->reason);
        if (strstr(r->reason, " of ") == NULL || strstr(r->reason, strerror(f->error)) == NULL)
            fail_msg("%s: the reason doesn't say so: %s", fault_text(f), r->reason);
        if (!strstr(r->reason, strrchr(r->path, '/') + 1)) fail_msg("%s: of which file? %s", fault_text(f), r->reason);
        /* Before it is ours we don't remove it. */
        if (there(r->temporary) && f->call != FAULT_unlink && !holds(r->temporary, 9, LEFT_BYTES))
            fail_msg("%s: the temporary file was left behind", fault_text(f));
        break;
    case FAULT_KILLED:
        r->killed++;
        r->killed_new += new;
        break;
    }
    /* Whatever was left behind, the next one is not disturbed by it. */
    assert_ok(replace(r->path, r->synced, 3, 3000, NULL));
    if (!holds(r->path, 3, 3000) || there(r->temporary)) fail_msg("%s: the next one", fault_text(f));
}

static replacing replacing_make(const char *name, bool synced, bool old)
{
    replacing r = {.synced = synced, .old = old};
    snprintf(r.path, sizeof r.path, "%s", faults_path(name));
    snprintf(r.temporary, sizeof r.temporary, "%s.new", r.path);
    return r;
}

static const fault_scenario replacing_scenario = {replacing_prepare, replacing_run, replacing_check, false};

static void a_replaced_file_is_whole_whatever_call_fails(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 3; i++) {
        replacing r = replacing_make("replaced", i < 2, i != 1);
        uint32_t runs = faults_each(&replacing_scenario, &r);
        assert_int_equal(runs, r.refused + r.succeeded + r.killed);
        assert_true(r.refused > 30 && r.succeeded > 10 && r.killed > 15);
        assert_true(r.killed_new > 0 && r.killed_new < r.killed); /* both were seen */
    }
}

static void what_is_synced_before_it_is_renamed(void **state)
{
    (void)state;
    replacing r = replacing_make("counted", true, true);
    replacing_prepare(&r);
    assert_true(faults_run(NULL, replacing_run, &r));
    assert_int_equal(faults_called(FAULT_fsync), 2); /* the file, the folder */
    assert_int_equal(faults_called(FAULT_pwrite), 5);
    assert_int_equal(faults_called(FAULT_open), 2);
    assert_int_equal(faults_called(FAULT_rename), 1);
    assert_int_equal(faults_called(FAULT_unlink), 0);
    r.synced = false;
    assert_true(faults_run(NULL, replacing_run, &r));
    assert_int_equal(faults_called(FAULT_fsync), 0);
    /* What only a close tells counts as well. */
    fault f = {faults_number(FAULT_dup, 1) + 1, FAULT_close, FAULT_ERROR, EDQUOT};
    replacing_prepare(&r);
    assert_false(faults_run(&f, replacing_run, &r));
    assert_true(holds_old(&r));
    assert_non_null(strstr(r.reason, "close of "));
}

/* A folder that can't be synced because the file system knows no such thing is no failure. */
static void folders_that_cannot_be_synced(void **state)
{
    (void)state;
    replacing r = replacing_make("folder", true, true);
    replacing_prepare(&r);
    assert_true(faults_run(NULL, replacing_run, &r));
    fault f = {faults_number(FAULT_fsync, 2), FAULT_fsync, FAULT_ERROR, EINVAL};
    replacing_prepare(&r);
    assert_true(faults_run(&f, replacing_run, &r));
    assert_true(holds_new(&r));
    f.error = EIO;
    replacing_prepare(&r);
    assert_false(faults_run(&f, replacing_run, &r));
    assert_true(holds_new(&r)); /* it is there, but may be gone after a crash */
    assert_non_null(strstr(r.reason, "fsync of the folder of "));
}

static void replacing_crash_run(void *context)
{
    if (replacing_run(context)) crash_mark(1);
}

static void replacing_crash_check(void *context, uint32_t marked)
{
    replacing *r = context;
    bool new = holds_new(r), old = holds_old(r);
    if (!r->synced) { /* counts what goes wrong without syncing: the model sees it */
        r->refused += !new && !old;
        return;
    }
    if (marked && !new) fail_msg("it was promised, and it is gone");
    if (!new && !old) fail_msg("neither the old nor the new content");
    r->succeeded += new;
}

static const crash_scenario replacing_crashes = {replacing_prepare, replacing_crash_run, replacing_crash_check};

static void a_replaced_file_is_whole_after_a_crash_of_the_system(void **state)
{
    (void)state;
    for (int old = 0; old < 2; old++) {
        replacing r = replacing_make("crashed", true, old);
        uint32_t states = crashes_each(&replacing_crashes, r.path, &r);
        assert_true(r.succeeded > 0 && r.succeeded < states);
    }
    replacing r = replacing_make("crashed", false, true);
    (void)crashes_each(&replacing_crashes, r.path, &r);
    assert_true(r.refused > 0);
}

/* ---- replacing, other things ---- */

static void content_of_every_size_around_the_buffer(void **state)
{
    (void)state;
    static const size_t sizes[] = {
        0, 1, FILE_BUFFER - 1, FILE_BUFFER, FILE_BUFFER + 1, 2 * FILE_BUFFER, 3 * FILE_BUFFER + 7};
    const char *path = faults_path("sizes");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        assert_ok(replace(path, false, 5, sizes[i], NULL));
        assert_true(holds(path, 5, sizes[i]));
    }
}

static void what_produces_the_content_may_fail(void **state)
{
    (void)state;
    char reason[REEF_DETAIL_MAX] = "?";
    const char *path = faults_path("produced"), *temporary = faults_path("produced.new");
    put(path, 1, OLD_BYTES);
    making m = {2, NEW_BYTES, REEF_CANCELLED};
    assert_status(REEF_CANCELLED, reef_file_replace(path, true, make_content, &m, reason));
    assert_string_equal(reason, "");
    assert_true(holds(path, 1, OLD_BYTES) && !there(temporary));
    assert_status(REEF_BAD_ARGUMENT, reef_file_replace(NULL, true, make_content, &m, reason));
    assert_status(REEF_BAD_ARGUMENT, reef_file_replace(path, true, NULL, &m, NULL));
}

/* A failed write can't be hidden by who writes. */
typedef struct forgetting {
    replacing *r;
    reef_status answer;
} forgetting;

static reef_status make_and_forget(void *context, reef_writer writer)
{
    const forgetting *g = context;
    making m = {2, NEW_BYTES, REEF_OK};
    (void)make_content(&m, writer);
    return g->answer;
}

static bool forgetting_run(void *context)
{
    forgetting *g = context;
    g->r->status = reef_file_replace(g->r->path, true, make_and_forget, g, g->r->reason);
    return g->r->status == REEF_OK;
}

static void a_failed_write_is_not_forgotten(void **state)
{
    (void)state;
    static const reef_status answers[] = {REEF_OK, REEF_CANCELLED};
    replacing r = replacing_make("forgotten", true, true);
    forgetting g = {&r, REEF_OK};
    replacing_prepare(&r);
    assert_true(faults_run(NULL, forgetting_run, &g));
    uint32_t first = faults_number(FAULT_pwrite, 1);
    for (int i = 0; i < 2; i++) {
        fault f = {first, FAULT_pwrite, FAULT_ERROR, ENOSPC};
        g.answer = answers[i];
        replacing_prepare(&r);
        assert_false(faults_run(&f, forgetting_run, &g));
        assert_status(REEF_IO, r.status);
        assert_int_equal(strncmp(r.reason, "write of ", 9), 0);
        assert_true(holds_old(&r));
    }
}

static uint32_t mode_of(const char *path)
{
    struct stat s;
    assert_int_equal(stat(path, &s), 0);
    return (uint32_t)s.st_mode & 07777;
}

static uint32_t mode_before;

static void look_at_mode(fault_call call, uint32_t number)
{
    (void)number;
    if (call == FAULT_fchmod) mode_before = mode_of(faults_path("mode.new"));
}

static void permissions_stay(void **state)
{
    (void)state;
    const char *path = faults_path("mode");
    mode_t mask = umask(027);
    assert_ok(replace(path, false, 1, 10, NULL));
    assert_int_equal(mode_of(path), 0640);
    assert_int_equal(chmod(path, 0604), 0);
    assert_ok(replace(path, false, 2, 10, NULL));
    assert_int_equal(mode_of(path), 0604);
    /* Until then it is nobody else's. */
    replacing r = replacing_make("mode", false, true);
    mode_before = 07777;
    faults_hook = look_at_mode;
    assert_true(faults_run(NULL, replacing_run, &r));
    faults_hook = NULL;
    assert_int_equal(mode_before, 0600);
    assert_int_equal(mode_of(path), 0604);
    umask(mask);
}

static void links_lead_to_what_is_replaced(void **state)
{
    (void)state;
    char target[400];
    const char *folder = faults_path("folder-of-links"), *plain = faults_path("folder-of-links/plain");
    const char *near = faults_path("near"), *far = faults_path("folder-of-links/far"), *loop = faults_path("loop");
    assert_int_equal(mkdir(folder, 0777), 0);
    assert_int_equal(symlink("folder-of-links/far", near), 0); /* relative to the folder of the link */
    snprintf(target, sizeof target, "%s", plain);
    assert_int_equal(symlink(target, far), 0);
    for (uint32_t i = 0; i < 2; i++) { /* at first it leads nowhere */
        assert_ok(replace(near, true, i, 100, NULL));
        assert_true(holds(plain, i, 100));
        struct stat s;
        assert_int_equal(lstat(near, &s), 0);
        assert_true(S_ISLNK(s.st_mode));
        assert_int_equal(lstat(far, &s), 0);
        assert_true(S_ISLNK(s.st_mode));
    }
    assert_int_equal(symlink("loop", loop), 0);
    char reason[REEF_DETAIL_MAX];
    assert_status(REEF_IO, replace(loop, true, 1, 100, reason));
    assert_non_null(strstr(reason, strerror(ELOOP)));
    char dots[DISK_PATH_MAX];
    for (size_t i = 0; i < sizeof dots; i++) dots[i] = i % 2 ? '/' : '.';
    dots[DISK_PATH_MAX - 9] = 0; /* too long only behind the link's folder */
    assert_int_equal(symlink(dots, faults_path("long")), 0);
    assert_status(REEF_IO, replace(faults_path("long"), true, 1, 100, reason));
    assert_non_null(strstr(reason, "the name is too long"));
    /* Nobody is made to write through a link that somebody put where the temporary file will be. */
    put(plain, 7, 100);
    assert_int_equal(symlink(target, faults_path("trap.new")), 0);
    assert_status(REEF_IO, replace(faults_path("trap"), true, 1, 100, reason));
    assert_true(holds(plain, 7, 100));
}

static void assert_replace_says(const char *path, const char *text)
{
    char reason[REEF_DETAIL_MAX];
    assert_status(REEF_IO, replace(path, true, 1, 100, reason));
    if (strstr(reason, text) == NULL) fail_msg("%s instead of %s", reason, text);
}

static void what_cannot_be_replaced(void **state)
{
    (void)state;
    assert_replace_says("/dev/null", "open of /dev/null: it isn't a plain file");
    assert_replace_says(faults_path("."), "it isn't a plain file");
    assert_replace_says("", strerror(ENOENT));
    assert_replace_says(faults_path("nowhere/file"), strerror(ENOENT));
    put(faults_path("plain"), 1, 10);
    assert_replace_says(faults_path("plain/file"), strerror(ENOTDIR));
    assert_int_equal(mkfifo(faults_path("pipe.new"), 0600), 0);
    assert_replace_says(faults_path("pipe"), strerror(ENXIO));
    assert_int_equal(mkdir(faults_path("taken.new"), 0700), 0);
    assert_replace_says(faults_path("taken"), strerror(EISDIR));
}

static void names_as_long_as_they_may_be(void **state)
{
    (void)state;
    char path[2 * DISK_PATH_MAX], name[256];
    memset(name, 'n', sizeof name);
    name[255] = 0;
    assert_replace_says(faults_path(name), strerror(ENAMETOOLONG)); /* of the temporary file */
    name[251] = 0;
    assert_ok(replace(faults_path(name), true, 1, 100, NULL));
    assert_true(holds(faults_path(name), 1, 100));
    name[252] = 0;
    /* "./././name": as long as the system takes it, with the temporary's suffix; then one longer. */
    snprintf(path, sizeof path, "%s", faults_path("."));
    size_t length = strlen(path);
    for (; length + 4 < DISK_PATH_MAX - 4; length += 2) memcpy(path + length, "/.", 3);
    strcpy(path + length, DISK_PATH_MAX - 5 - length == 2 ? "/x" : DISK_PATH_MAX - 5 - length == 3 ? "/xy" : "/xyz");
    assert_int_equal(strlen(path), DISK_PATH_MAX - 5);
    assert_ok(replace(path, true, 2, 100, NULL));
    assert_true(holds(path, 2, 100));
    strcat(path, "z");
    assert_replace_says(path, "the name is too long");
    strcat(path, "zzz");
    assert_replace_says(path, "the name is too long");
    strcat(path, "z");
    assert_replace_says(path, "the name is too long");
}

/* ---- held files ---- */

static char moved_from[300], moved_to[300];
static bool moved_and_made;

/* What its holder does at the end, while somebody else waits for it. */
static void take_away(fault_call call, uint32_t number)
{
    (void)number;
    if (call != FAULT_flock || there(moved_to)) return;
    assert_int_equal(rename(moved_from, moved_to), 0);
    if (moved_and_made) put(moved_from, 8, 10); /* and somebody begins anew */
}

static void who_waited_does_not_write_into_what_was_renamed_meanwhile(void **state)
{
    (void)state;
    replacing r = replacing_make("waited", true, true);
    snprintf(moved_from, sizeof moved_from, "%s", r.temporary);
    snprintf(moved_to, sizeof moved_to, "%s", faults_path("moved"));
    for (int i = 0; i < 2; i++) {
        moved_and_made = i;
        replacing_prepare(&r);
        faults_put(moved_to, NULL, 0);
        faults_hook = take_away;
        assert_true(faults_run(NULL, replacing_run, &r));
        faults_hook = NULL;
        assert_int_equal(faults_called(FAULT_flock), 2);
        assert_true(holds(moved_to, 9, LEFT_BYTES));
        assert_true(holds_new(&r) && !there(r.temporary));
    }
}

static reef_status replace_inside(void *context, reef_writer writer)
{
    replacing *r = context;
    r->status = replace(r->path, true, 3, 100, r->reason);
    making m = {2, NEW_BYTES, REEF_OK};
    return make_content(&m, writer);
}

static void a_file_is_written_by_one_at_a_time(void **state)
{
    (void)state;
    replacing r = replacing_make("held", true, true);
    replacing_prepare(&r);
    assert_true(faults_run(NULL, replacing_run, &r));
    fault f = {faults_number(FAULT_flock, 1), FAULT_flock, FAULT_ERROR_REST, EWOULDBLOCK};
    replacing_prepare(&r);
    assert_false(faults_run(&f, replacing_run, &r));
    assert_status(REEF_IO, r.status);
    assert_int_equal(faults_called(FAULT_nanosleep), DISK_LOCK_WAIT_MS / 5);
    assert_non_null(strstr(r.reason, "held.new: it is open for writing elsewhere"));
    assert_true(holds(r.temporary, 9, LEFT_BYTES)); /* it isn't ours */
    f.kind = FAULT_ERROR;                           /* the second time it is free */
    assert_true(faults_run(&f, replacing_run, &r));
    assert_int_equal(faults_called(FAULT_nanosleep), 1);
    assert_true(holds_new(&r));
    f.error = ENOLCK; /* a file system without locks */
    replacing_prepare(&r);
    assert_true(faults_run(&f, replacing_run, &r));
    assert_true(holds_new(&r));
    /* A real holder: the one within the other. */
    assert_ok(reef_file_replace(r.path, true, replace_inside, &r, NULL));
    assert_status(REEF_IO, r.status);
    assert_non_null(strstr(r.reason, "it is open for writing elsewhere"));
    assert_true(holds_new(&r));
}

/* ---- reading ---- */

typedef struct reading {
    char path[300];
    reef_status status;
    size_t size, count;
    unsigned char bytes[NEW_BYTES];
    char reason[REEF_DETAIL_MAX];
} reading;

static void reading_prepare(void *context)
{
    reading *r = context;
    put(r->path, 4, r->size);
    r->count = 0;
}

static bool reading_run(void *context)
{
    static const size_t pieces[] = {16, 1, 3000, FILE_BUFFER, 0, FILE_BUFFER - 1, 90000, 16};
    reading *r = context;
    file_in *f;
    r->status = reef__file_in_open(&scene_memory, r->path, &f, r->reason);
    if (r->status != REEF_OK) return false;
    assert_int_equal(reef__file_in_size(f), r->size);
    reef_reader reader = reef__file_in_reader(f);
    for (size_t i = 0;; i = (i + 1) % (sizeof pieces / sizeof *pieces)) {
        size_t wanted = pieces[i] < NEW_BYTES - r->count ? pieces[i] : NEW_BYTES - r->count, got = 99;
        r->status = reader.read(reader.context, r->bytes + r->count, wanted, &got);
        assert_true(got <= wanted);
        r->count += got;
        if (r->status != REEF_OK || got < wanted || r->count == NEW_BYTES) break;
    }
    snprintf(r->reason, sizeof r->reason, "%s", reef__file_in_reason(f));
    reef__file_in_close(f);
    return r->status == REEF_OK;
}

static void reading_check(void *context, const fault *f, fault_end end)
{
    const reading *r = context;
    if (end == FAULT_SUCCEEDED && !is_content(r->bytes, r->count, 4, r->size))
        fail_msg("%s: not the content", fault_text(f));
    if (end == FAULT_REFUSED && (r->status != REEF_IO || !strstr(r->reason, strerror(f->error))))
        fail_msg("%s: %s", fault_text(f), r->reason);
    if (end != FAULT_KILLED && !is_content(r->bytes, r->count, 4, r->count))
        fail_msg("%s: not what is in front", fault_text(f));
}

static const fault_scenario reading_scenario = {reading_prepare, reading_run, reading_check, true};

static void what_is_read_is_what_is_there_whatever_call_fails(void **state)
{
    static const size_t sizes[] = {NEW_BYTES, 0, 17, FILE_BUFFER + 3017};
    const reef_allocator allocator = heap_allocator(heap_of(state));
    reading *r = faults_shared(sizeof *r);
    assert_true(reef__memory_make(&scene_memory, &allocator));
    snprintf(r->path, sizeof r->path, "%s", faults_path("read"));
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        r->size = sizes[i];
        (void)faults_each(&reading_scenario, r);
    }
    file_in *f;
    assert_status(REEF_IO, reef__file_in_open(&scene_memory, faults_path("none"), &f, r->reason));
    assert_non_null(strstr(r->reason, strerror(ENOENT)));
    assert_null(f);
    heap_fail_nth(heap_of(state), 1, true);
    assert_status(REEF_NO_MEMORY, reef__file_in_open(&scene_memory, r->path, &f, NULL));
    heap_fail_never(heap_of(state));
    assert_ok(reef__file_in_open(&scene_memory, "/dev/null", &f, NULL));
    assert_true(reef__file_in_size(f) == UINT64_MAX);
    reef__file_in_close(f);
    assert_ok(reef__file_in_open(&scene_memory, faults_path("."), &f, NULL)); /* a folder opens, and can't be read */
    size_t got;
    assert_status(REEF_IO, reef__file_in_reader(f).read(f, r->bytes, 100, &got));
    assert_non_null(strstr(reef__file_in_reason(f), strerror(EISDIR)));
    reef__file_in_close(f);
    reef__file_in_close(NULL);
    assert_int_equal(scene_memory.bytes, 0);
    reef__memory_drop(&scene_memory);
}

/* ---- reasons ---- */

static void a_reason_shows_the_end_of_a_long_path(void **state)
{
    (void)state;
    char reason[REEF_DETAIL_MAX], name[200];
    memset(name, 'a', sizeof name);
    /* cut within the first letter */
    strcpy(name + 90, "\xC3\xA4"
                      "fghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ12345/no");
    assert_status(REEF_IO, replace(faults_path(name), true, 1, 1, reason));
    char wanted[2 * REEF_DETAIL_MAX];
    snprintf(wanted, sizeof wanted, "opening the folder of ...%s: %s", strchr(name, 'f'), strerror(ENOENT));
    assert_string_equal(reason, wanted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_replaced_file_is_whole_whatever_call_fails),
        TEST(what_is_synced_before_it_is_renamed),
        TEST(folders_that_cannot_be_synced),
        TEST(content_of_every_size_around_the_buffer),
        TEST(what_produces_the_content_may_fail),
        TEST(a_failed_write_is_not_forgotten),
        TEST(permissions_stay),
        TEST(links_lead_to_what_is_replaced),
        TEST(what_cannot_be_replaced),
        TEST(names_as_long_as_they_may_be),
        TEST(who_waited_does_not_write_into_what_was_renamed_meanwhile),
        TEST(a_file_is_written_by_one_at_a_time),
        TEST(what_is_read_is_what_is_there_whatever_call_fails),
        TEST(a_reason_shows_the_end_of_a_long_path),
        TEST(a_replaced_file_is_whole_after_a_crash_of_the_system),
    };
    pattern_make();
    return cmocka_run_group_tests_name("file", tests, NULL, NULL);
}
