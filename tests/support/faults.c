#define _DEFAULT_SOURCE /* kill, mmap, pwrite */
#include "faults.h"
#include "crashes.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CALLS_MAX = 400, DESCRIPTORS = 256 };

static const char *const call_name[] = {
#define X(name) #name,
    FAULT_CALLS(X)
#undef X
};

void (*faults_hook)(fault_call call, uint32_t number);

static struct {
    bool on;
    bool faulty;
    fault fault;
    uint32_t calls;                /* of this run */
    uint8_t call[CALLS_MAX];       /* what they were */
    uint32_t of[FAULT_CALL_COUNT]; /* how many of each name */
} armed;

/* ---- the wrapped calls ---- */

typedef enum verdict { GO, FAIL, ONE, HALF, HALF_AND_DIE, GO_AND_DIE } verdict;

static void die(void)
{
    kill(getpid(), SIGKILL);
    for (;;) pause();
}

static verdict enter(fault_call call)
{
    if (!armed.on) return GO;
    if (faults_hook) { /* what it calls itself isn't counted */
        armed.on = false;
        faults_hook(call, armed.calls + 1);
        armed.on = true;
    }
    if (armed.calls < CALLS_MAX) armed.call[armed.calls] = (uint8_t)call;
    armed.calls++;
    armed.of[call]++;
    const fault *f = &armed.fault;
    if (!armed.faulty) return GO;
    if ((f->kind == FAULT_ERROR_REST || f->kind == FAULT_FULL) && f->number < armed.calls && f->call == call) {
        errno = f->error;
        return FAIL;
    }
    if (f->number != armed.calls) return GO;
    switch (f->kind) {
    case FAULT_ERROR:
    case FAULT_ERROR_REST: errno = f->error; return FAIL;
    case FAULT_ONE: return ONE;
    case FAULT_HALF:
    case FAULT_FULL: return HALF;
    case FAULT_KILL_BEFORE: die(); break;
    case FAULT_KILL_WITHIN: return HALF_AND_DIE;
    case FAULT_KILL_AFTER: return GO_AND_DIE;
    }
    return GO;
}

static void leave(verdict v)
{
    if (v == GO_AND_DIE || v == HALF_AND_DIE) die();
}

static size_t part_of(verdict v, size_t count)
{
    if (v == ONE && count > 1) return 1;
    if (v == HALF || v == HALF_AND_DIE) return count > 1 ? count / 2 : count;
    return count;
}

/* The linker replaces calls of `name` by __wrap_name, and those of __real_name by the system's function. */
#define WRAPPED(type, name, ...) \
    type __real_##name(__VA_ARGS__); \
    type __wrap_##name(__VA_ARGS__); \
    type __wrap_##name(__VA_ARGS__)

/* A call that does everything or nothing; `note` is done after its success. */
#define CALL(type, name, call, note) \
    verdict v = enter(FAULT_##name); \
    if (v == FAIL) return -1; \
    type result = call; \
    int error = errno; \
    if (result >= 0) note; \
    leave(v); \
    errno = error; \
    return result

WRAPPED(ssize_t, readlink, const char *path, char *to, size_t size)
{
    CALL(ssize_t, readlink, __real_readlink(path, to, size), (void)0);
}

WRAPPED(int, stat, const char *path, struct stat *to) { CALL(int, stat, __real_stat(path, to), (void)0); }
WRAPPED(int, fstat, int fd, struct stat *to) { CALL(int, fstat, __real_fstat(fd, to), (void)0); }

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...)
{
    mode_t mode = 0;
    if (flags & O_CREAT) {
        va_list arguments;
        va_start(arguments, flags);
        mode = va_arg(arguments, mode_t);
        va_end(arguments);
    }
    CALL(int, open, __real_open(path, flags, mode), crash_opened(path, result));
}

WRAPPED(int, flock, int fd, int operation) { CALL(int, flock, __real_flock(fd, operation), (void)0); }

WRAPPED(int, nanosleep, const struct timespec *time, struct timespec *rest)
{
    (void)time, (void)rest;
    CALL(int, nanosleep, 0, (void)0);
}

WRAPPED(int, fchmod, int fd, mode_t mode) { CALL(int, fchmod, __real_fchmod(fd, mode), (void)0); }

WRAPPED(int, ftruncate, int fd, off_t length)
{
    CALL(int, ftruncate, __real_ftruncate(fd, length), crash_truncated(fd, (uint64_t)length));
}

WRAPPED(ssize_t, read, int fd, void *to, size_t count)
{
    CALL(ssize_t, read, __real_read(fd, to, part_of(v, count)), (void)0);
}

WRAPPED(ssize_t, pwrite, int fd, const void *from, size_t count, off_t offset)
{
    CALL(ssize_t, pwrite, __real_pwrite(fd, from, part_of(v, count), offset),
         crash_wrote(fd, (uint64_t)offset, from, (size_t)result));
}

/* Waiting for the disk would only take time, since these tests don't stop the machine. */
WRAPPED(int, fsync, int fd) { CALL(int, fsync, fcntl(fd, F_GETFD) < 0 ? -1 : 0, crash_synced(fd)); }
WRAPPED(int, dup, int fd) { CALL(int, dup, __real_dup(fd), crash_dup(fd, result)); }

WRAPPED(int, close, int fd)
{
    crash_closed(fd);
    verdict v = enter(FAULT_close);
    int failed = errno, result = __real_close(fd), error = errno;
    leave(v);
    errno = v == FAIL ? failed : error;
    return v == FAIL ? -1 : result;
}

WRAPPED(int, rename, const char *from, const char *to)
{
    CALL(int, rename, __real_rename(from, to), crash_renamed(from, to));
}
WRAPPED(int, unlink, const char *path) { CALL(int, unlink, __real_unlink(path), crash_removed(path)); }

/* ---- running a scenario ---- */

static void arm(const fault *f)
{
    memset(&armed, 0, sizeof armed);
    armed.faulty = f != NULL;
    if (f) armed.fault = *f;
    armed.on = true;
}

bool faults_run(const fault *f, bool (*run)(void *context), void *context)
{
    arm(f);
    bool good = run(context);
    armed.on = false;
    return good;
}

uint32_t faults_called(fault_call call) { return armed.of[call]; }

uint32_t faults_number(fault_call call, uint32_t n)
{
    for (uint32_t i = 0; i < armed.calls && i < CALLS_MAX; i++)
        if (armed.call[i] == call && --n == 0) return i + 1;
    fail_msg("%s wasn't called as often", call_name[call]);
    return 0;
}

/* Calls that a signal may interrupt. */
static bool is_interrupted(const fault *f)
{
    fault_call c = f->call;
    return f->kind == FAULT_ERROR && f->error == EINTR &&
           (c == FAULT_open || c == FAULT_flock || c == FAULT_ftruncate || c == FAULT_read || c == FAULT_pwrite ||
            c == FAULT_fsync || c == FAULT_close);
}

const char *fault_text(const fault *f)
{
    static char text[100];
    static const char *const kinds[] = {
        "", "", "one byte", "a half", "a half, then full", "killed before", "killed within", "killed after"};
    if (f == NULL) return "no fault";
    bool error = f->kind <= FAULT_ERROR_REST;
    snprintf(text, sizeof text, "%s%s at call %u, %s", error ? strerror(f->error) : kinds[f->kind],
             f->kind == FAULT_ERROR_REST ? " from now on" : "", (unsigned)f->number, call_name[f->call]);
    return text;
}

uint32_t faults_descriptors(void)
{
    uint32_t n = 0;
    for (int fd = 0; fd < DESCRIPTORS; fd++) n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

static void run_killed(const fault_scenario *s, const fault *f, void *context)
{
    int status = 0;
    (void)fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        (void)faults_run(f, s->run, context);
        _exit(99); /* the call wasn't reached */
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL) fail_msg("%s: the process ended by itself", fault_text(f));
}

static void run_one(const fault_scenario *s, const fault *f, void *context)
{
    s->prepare(context);
    if (f->kind >= FAULT_KILL_BEFORE) {
        run_killed(s, f, context);
        s->check(context, f, FAULT_KILLED);
        return;
    }
    uint32_t before = faults_descriptors();
    bool good = faults_run(f, s->run, context);
    if (faults_descriptors() != before) fail_msg("%s: a descriptor was left open", fault_text(f));
    if (armed.calls < f->number) fail_msg("%s: the call wasn't reached", fault_text(f));
    if (!good && is_interrupted(f)) fail_msg("%s: an interruption is no failure", fault_text(f));
    s->check(context, f, good ? FAULT_SUCCEEDED : FAULT_REFUSED);
}

uint32_t faults_each(const fault_scenario *s, void *context)
{
    static const struct {
        fault_kind kind;
        int error;
        bool transfer, write;
    } ways[] = {
        {FAULT_ERROR, EIO, false, false},
        {FAULT_ERROR, EINTR, false, false},
        {FAULT_ERROR_REST, ENOSPC, false, false},
        {FAULT_KILL_BEFORE, 0, false, false},
        {FAULT_KILL_AFTER, 0, false, false},
        {FAULT_ONE, 0, true, false},
        {FAULT_HALF, 0, true, false},
        {FAULT_ERROR, ENOSPC, false, true},
        {FAULT_ERROR_REST, EDQUOT, false, true},
        {FAULT_KILL_WITHIN, 0, false, true},
        {FAULT_FULL, ENOSPC, false, true},
    };
    uint8_t call[CALLS_MAX];
    uint32_t runs = 1;
    s->prepare(context);
    bool good = faults_run(NULL, s->run, context);
    s->check(context, NULL, good ? FAULT_SUCCEEDED : FAULT_REFUSED);
    uint32_t calls = armed.calls;
    assert_true(calls > 0 && calls <= CALLS_MAX);
    memcpy(call, armed.call, calls);
    for (uint32_t n = 1; n <= calls; n++) {
        fault_call c = (fault_call)call[n - 1];
        for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
            if (ways[i].transfer && c != FAULT_read && c != FAULT_pwrite) continue;
            if (ways[i].write && c != FAULT_pwrite) continue;
            if (ways[i].kind >= FAULT_KILL_BEFORE && s->unkilled) continue;
            if (ways[i].kind == FAULT_KILL_AFTER && n < calls) continue;
            fault f = {n, c, ways[i].kind, ways[i].error};
            run_one(s, &f, context);
            runs++;
        }
    }
    return runs;
}

void *faults_shared(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(p != MAP_FAILED);
    return p;
}

/* ---- files of a test ---- */

static char folder[200];

static void folder_remove(void)
{
    char command[250];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    if (system(command) != 0) fprintf(stderr, "%s failed\n", command);
}

const char *faults_path(const char *name)
{
    static char paths[8][4200];
    static unsigned at;
    if (folder[0] == 0) {
        const char *where = getenv("TMPDIR");
        if (where == NULL) where = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
        snprintf(folder, sizeof folder, "%.150s/reef-XXXXXX", where);
        assert_non_null(mkdtemp(folder));
        atexit(folder_remove);
    }
    char *path = paths[at++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

void faults_put(const char *path, const void *bytes, size_t count)
{
    if (bytes == NULL) {
        if (unlink(path) != 0) assert_int_equal(errno, ENOENT);
        return;
    }
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, count, f), count);
    assert_int_equal(fclose(f), 0);
}

void *faults_get(const char *path, size_t *count)
{
    static char *bytes;
    static size_t room;
    struct stat s;
    FILE *f = fopen(path, "rb");
    if (f == NULL) return NULL;
    assert_int_equal(fstat(fileno(f), &s), 0);
    if ((size_t)s.st_size + 1 > room) {
        room = 2 * (size_t)s.st_size + 4096;
        bytes = realloc(bytes, room);
        assert_non_null(bytes);
    }
    *count = fread(bytes, 1, room, f);
    assert_int_equal(*count, s.st_size);
    fclose(f);
    return bytes;
}
