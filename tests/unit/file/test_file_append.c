/* Files that grow: what is on the disk when something goes wrong while they are appended to, and when the machine
 * stops. */
#include "file_content.h"

#include <errno.h>
#include <unistd.h>

/* ---- appending ---- */

/* Records of these sizes behind the base, each of its own seed. */
static const size_t record_bytes[] = {100, 100 << 10, 5000};
enum { RECORDS = 3 };

typedef struct appending {
    char path[300];
    bool synced, undo; /* undo: before each record something is written and taken back */
    uint32_t settled;  /* records, as run was told; in shared memory */
    bool unknown;
    char reason[REEF_DETAIL_MAX];
    uint32_t torn, refused, unknowns; /* ends seen */
} appending;

static void appending_prepare(void *context)
{
    appending *a = context;
    put(a->path, 0, BASE_BYTES + 300); /* with a torn tail */
    a->settled = 0;
    a->unknown = false;
    memset(a->reason, '?', sizeof a->reason);
}

static bool append_record(appending *a, file_out *f, uint32_t record)
{
    making m = {record + 1, record_bytes[record], REEF_OK};
    if (a->undo) {
        making other = {77, 70000, REEF_OK};
        (void)make_content(&other, reef__file_append_writer(f));
        reef__file_append_undo(f);
    }
    reef_status written = make_content(&m, reef__file_append_writer(f));
    reef_status s = reef__file_append_commit(f, a->synced, a->reason);
    assert_true(s == REEF_OK || s == REEF_IO);
    if (written != REEF_OK) assert_int_equal(s, REEF_IO);
    if (s == REEF_OK) {
        a->settled++;
        crash_mark(a->settled);
    }
    a->unknown = reef__file_append_unknown(f);
    return s == REEF_OK;
}

static bool appending_run(void *context)
{
    appending *a = context;
    file_out *f;
    if (reef__file_append_open(&scene_memory, a->path, BASE_BYTES, NULL, &f, a->reason) != REEF_OK) {
        assert_null(f);
        return false;
    }
    assert_int_equal(reef__file_append_length(f), BASE_BYTES);
    bool good = true;
    for (uint32_t i = 0; i < RECORDS && good; i++) good = append_record(a, f, i);
    size_t length = BASE_BYTES;
    for (uint32_t i = 0; i < a->settled; i++) length += record_bytes[i];
    assert_int_equal(reef__file_append_length(f), length);
    if (a->unknown) { /* from now on */
        reef_writer writer = reef__file_append_writer(f);
        assert_status(REEF_IO, writer.write(writer.context, "x", 1));
        assert_false(append_record(a, f, 0));
    }
    reef__file_append_close(f);
    return good;
}

/* How many whole records follow the base; *rest: bytes behind them. */
static uint32_t records_in(const appending *a, size_t *rest)
{
    size_t count = 0, at = BASE_BYTES;
    uint32_t records = 0;
    unsigned char *bytes = faults_get(a->path, &count);
    if (count < at || !is_content(bytes, at, 0, at)) fail_msg("what was there before is damaged");
    while (records < RECORDS && count - at >= record_bytes[records] &&
           is_content(bytes + at, record_bytes[records], records + 1, record_bytes[records]))
        at += record_bytes[records++];
    *rest = count - at;
    return records;
}

static void appending_check(void *context, const fault *f, fault_end end)
{
    appending *a = context;
    size_t rest;
    uint32_t records = records_in(a, &rest);
    a->torn += rest != 0;
    switch (end) {
    case FAULT_SUCCEEDED:
        if (records != RECORDS || rest) fail_msg("%s: no success", fault_text(f));
        break;
    case FAULT_REFUSED:
        a->refused++;
        a->unknowns += a->unknown;
        if (f->call == FAULT_fsync && !a->unknown) fail_msg("%s: nobody knows what reached the disk", fault_text(f));
        if (!strstr(a->reason, strerror(f->error)) && !a->unknown) fail_msg("%s: %s", fault_text(f), a->reason);
        /* The torn tail that was there before stays when opening fails. */
        if (!a->unknown &&
            (records != a->settled || (rest && !(f->call != FAULT_pwrite && records == 0 && rest == 300))))
            fail_msg("%s: %u records and %zu bytes, %u were settled", fault_text(f), records, rest, a->settled);
        if (records < a->settled) fail_msg("%s: %u records, %u were settled", fault_text(f), records, a->settled);
        break;
    case FAULT_KILLED:
        if (records < a->settled || records > a->settled + 1)
            fail_msg("%s: %u records of %u", fault_text(f), records, a->settled);
        break;
    }
}

static const fault_scenario appending_scenario = {appending_prepare, appending_run, appending_check, false};

static appending *appending_make(void **state, const char *name, bool synced)
{
    const reef_allocator allocator = heap_allocator(heap_of(state));
    appending *a = faults_shared(sizeof *a);
    assert_true(reef__memory_make(&scene_memory, &allocator));
    snprintf(a->path, sizeof a->path, "%s", faults_path(name));
    a->synced = synced;
    return a;
}

static void appending_end(void)
{
    assert_int_equal(scene_memory.bytes, 0);
    reef__memory_drop(&scene_memory);
}

static void what_was_appended_stays_whatever_call_fails(void **state)
{
    for (int i = 0; i < 2; i++) {
        appending *a = appending_make(state, "appended", i == 0);
        a->undo = i == 0;
        (void)faults_each(&appending_scenario, a);
        assert_true(a->torn > 0 && a->refused > 10);
        assert_true(a->unknowns < a->refused && (a->unknowns > 0 || i == 1));
        appending_end();
    }
}

static void appending_crash_run(void *context) { (void)appending_run(context); }

static void appending_crash_check(void *context, uint32_t marked)
{
    appending *a = context;
    size_t rest;
    uint32_t records = records_in(a, &rest);
    if (records < marked && !a->synced) a->refused++; /* may be */
    else if (records < marked) fail_msg("%u records were promised, %u are there", marked, records);
    a->torn += rest != 0;
}

static const crash_scenario appending_crashes = {appending_prepare, appending_crash_run, appending_crash_check};

static void what_was_appended_stays_after_a_crash_of_the_system(void **state)
{
    for (int synced = 0; synced < 2; synced++) {
        appending *a = appending_make(state, "crashed-append", synced);
        (void)crashes_each(&appending_crashes, a->path, a);
        assert_true(a->torn > 0);
        assert_true(synced ? a->refused == 0 : a->refused > 0);
        appending_end();
    }
}

/* What is undone between two appends was never there, and after a failure the same bytes are written again. */
static bool append_again_run(void *context)
{
    appending *a = context;
    file_out *f;
    if (reef__file_append_open(&scene_memory, a->path, BASE_BYTES, NULL, &f, a->reason) != REEF_OK) return false;
    bool good = append_record(a, f, 0);
    if (!good && !a->unknown) good = append_record(a, f, 0);
    for (uint32_t i = 1; i < RECORDS && good; i++) good = append_record(a, f, i);
    reef__file_append_close(f);
    return good;
}

static void an_append_that_failed_can_be_tried_again(void **state)
{
    appending *a = appending_make(state, "again", true);
    size_t rest;
    appending_prepare(a);
    assert_true(faults_run(NULL, append_again_run, a));
    uint32_t again = 0, writes = faults_called(FAULT_pwrite);
    for (fault f = {1, FAULT_pwrite, FAULT_ERROR, ENOSPC}; f.number < 40; f.number++) {
        appending_prepare(a);
        if (!faults_run(&f, append_again_run, a) || faults_called(FAULT_pwrite) <= writes) continue;
        assert_int_equal(records_in(a, &rest), RECORDS);
        assert_int_equal(rest, 0);
        again++;
    }
    assert_true(again > 0);
    appending_end();
}

static void only_what_is_there_can_be_appended_to(void **state)
{
    appending *a = appending_make(state, "there", true);
    file_out *f, *second;
    assert_status(REEF_IO, reef__file_append_open(&scene_memory, a->path, 0, NULL, &f, a->reason));
    assert_non_null(strstr(a->reason, strerror(ENOENT)));
    put(a->path, 0, BASE_BYTES);
    assert_status(REEF_IO, reef__file_append_open(&scene_memory, a->path, BASE_BYTES + 1, NULL, &f, a->reason));
    assert_non_null(strstr(a->reason, "it is shorter than it was"));
    assert_true(holds(a->path, 0, BASE_BYTES));
    assert_status(REEF_IO, reef__file_append_open(&scene_memory, "/dev/null", 0, NULL, &f, a->reason));
    put(a->path, 0, BASE_BYTES + 1); /* with something torn behind */
    assert_ok(reef__file_append_open(&scene_memory, a->path, BASE_BYTES, NULL, &f, a->reason));
    assert_true(holds(a->path, 0, BASE_BYTES));
    assert_status(REEF_IO, reef__file_append_open(&scene_memory, a->path, BASE_BYTES, NULL, &second, a->reason));
    assert_non_null(strstr(a->reason, "there: it is open for writing elsewhere"));
    assert_null(second);
    /* Nothing to settle; then something that is closed before it is settled. */
    assert_ok(reef__file_append_commit(f, true, a->reason));
    making m = {1, 100 << 10, REEF_OK};
    assert_ok(make_content(&m, reef__file_append_writer(f)));
    reef__file_append_close(f);
    assert_true(holds(a->path, 0, BASE_BYTES));
    reef__file_append_close(NULL);
    heap_fail_nth(heap_of(state), 1, true);
    assert_status(REEF_NO_MEMORY, reef__file_append_open(&scene_memory, a->path, BASE_BYTES, NULL, &f, a->reason));
    assert_string_equal(a->reason, "");
    heap_fail_never(heap_of(state));
    appending_end();
}

/* Who read a file appends to what he read, and to nothing else. */
static void a_file_that_another_changed_is_not_appended_to(void **state)
{
    appending *a = appending_make(state, "changed", true);
    file_in *in;
    file_out *f;
    put(a->path, 0, BASE_BYTES + 100);
    assert_ok(reef__file_in_open(&scene_memory, a->path, &in, a->reason));
    put(faults_path("other"), 0, BASE_BYTES + 100); /* as long, and another file */
    put(a->path, 0, BASE_BYTES + 101);
    for (int i = 0; i < 2; i++) {
        assert_status(REEF_IO, reef__file_append_open(&scene_memory, a->path, BASE_BYTES, in, &f, a->reason));
        assert_non_null(strstr(a->reason, "changed: it was changed by something else"));
        assert_true(holds(a->path, 0, BASE_BYTES + 101 - (size_t)i));
        if (i == 0) assert_int_equal(rename(faults_path("other"), a->path), 0);
    }
    reef__file_in_close(in);
    assert_ok(reef__file_in_open(&scene_memory, a->path, &in, a->reason));
    assert_ok(reef__file_append_open(&scene_memory, a->path, BASE_BYTES, in, &f, a->reason));
    assert_true(holds(a->path, 0, BASE_BYTES));
    reef__file_append_close(f);
    reef__file_in_close(in);
    appending_end();
}

/* ---- a file that is replaced and appended to ---- */

static reef_status make_base(void *context, reef_writer writer)
{
    (void)context;
    making m = {0, BASE_BYTES, REEF_OK};
    return make_content(&m, writer);
}

/* What is appended to a new file goes where its name leads; a file that isn't in its place isn't kept. */
static bool keeping_run(void *context)
{
    appending *a = context;
    file_out *f;
    reef_status s = reef__file_replace(&scene_memory, a->path, a->synced, make_base, NULL, &f, a->reason);
    if (s != REEF_OK) {
        a->unknown = f != NULL;
        if (f) assert_true(reef__file_append_unknown(f));
        reef__file_append_close(f);
        return false;
    }
    assert_int_equal(reef__file_append_length(f), BASE_BYTES);
    bool good = true;
    for (uint32_t i = 0; i < RECORDS && good; i++) good = append_record(a, f, i);
    reef__file_append_close(f);
    return good;
}

static void keeping_check(void *context, const fault *f, fault_end end)
{
    appending *a = context;
    size_t rest;
    if (holds(a->path, 0, BASE_BYTES + 300)) { /* the old one */
        if (end == FAULT_SUCCEEDED || a->settled || (end == FAULT_REFUSED && a->unknown))
            fail_msg("%s: the old file", fault_text(f));
        return;
    }
    uint32_t records = records_in(a, &rest);
    if (end == FAULT_SUCCEEDED && records != RECORDS) fail_msg("%s: no success", fault_text(f));
    if (end == FAULT_REFUSED && !a->unknown && (records != a->settled || rest))
        fail_msg("%s: %u records", fault_text(f), records);
    if (records < a->settled) fail_msg("%s: %u records were settled, %u are there", fault_text(f), a->settled, records);
}

static const fault_scenario keeping_scenario = {appending_prepare, keeping_run, keeping_check, false};

static void keeping_crash_run(void *context) { (void)keeping_run(context); }

static void keeping_crash_check(void *context, uint32_t marked)
{
    appending *a = context;
    if (marked || !holds(a->path, 0, BASE_BYTES + 300)) appending_crash_check(context, marked);
}

static const crash_scenario keeping_crashes = {appending_prepare, keeping_crash_run, keeping_crash_check};

static void a_new_file_can_be_appended_to(void **state)
{
    for (int synced = 0; synced < 2; synced++) {
        appending *a = appending_make(state, "kept", synced);
        (void)faults_each(&keeping_scenario, a);
        if (synced) (void)crashes_each(&keeping_crashes, a->path, a);
        appending_end();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_was_appended_stays_whatever_call_fails),
        TEST(an_append_that_failed_can_be_tried_again),
        TEST(only_what_is_there_can_be_appended_to),
        TEST(a_file_that_another_changed_is_not_appended_to),
        TEST(a_new_file_can_be_appended_to),
        TEST(what_was_appended_stays_after_a_crash_of_the_system),
    };
    pattern_make();
    return cmocka_run_group_tests_name("file_append", tests, NULL, NULL);
}
