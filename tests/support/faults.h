/* A disk that fails: the system's calls for files, wrapped by the linker (tests/suites.cmake says for which suites).
 *
 *      faults_each   a scenario again and again: at its first call, its second ... something goes wrong, or the
 *                    process is killed
 *      crashes_each  a scenario once, its calls written down; then what may be on the disk if the machine had
 *      stopped behind each of them
 *
 * Unless one of these runs, the wrapped calls do what they always do, but without waiting for the disk and without
 * sleeping. */
#ifndef REEF_TESTS_FAULTS_H
#define REEF_TESTS_FAULTS_H

#include "support.h"

#define FAULT_CALLS(X) \
    X(readlink) \
    X(stat) \
    X(fstat) \
    X(open) \
    X(flock) \
    X(nanosleep) \
    X(fchmod) \
    X(ftruncate) \
    X(read) \
    X(pwrite) \
    X(fsync) \
    X(dup) \
    X(close) \
    X(rename) \
    X(unlink)

typedef enum fault_call {
#define X(name) FAULT_##name,
    FAULT_CALLS(X)
#undef X
        FAULT_CALL_COUNT
} fault_call;

typedef enum fault_kind {
    FAULT_ERROR,       /* the call does nothing and fails (close closes nevertheless) */
    FAULT_ERROR_REST,  /* so do all later calls of the same name */
    FAULT_ONE,         /* reads and writes one byte, less than wanted */
    FAULT_HALF,        /* the half */
    FAULT_FULL,        /* writes the half; then all writes fail */
    FAULT_KILL_BEFORE, /* the process is killed */
    FAULT_KILL_WITHIN, /* when the half is written */
    FAULT_KILL_AFTER   /* the last one; behind each other is before the next */
} fault_kind;

typedef struct fault {
    uint32_t number; /* of the call, from 1 on */
    fault_call call; /* what it is */
    fault_kind kind;
    int error; /* errno */
} fault;

typedef enum fault_end { FAULT_SUCCEEDED, FAULT_REFUSED, FAULT_KILLED } fault_end;

typedef struct fault_scenario {
    void (*prepare)(void *context); /* before each run, without a fault */
    /* The scenario. It returns whether the call reported success. When the process is to be killed, the scenario runs
     * in a child process, and what it writes to memory is lost (except memory from faults_shared). */
    bool (*run)(void *context);
    void (*check)(void *context, const fault *f, fault_end end);
    bool unkilled; /* nobody is killed: where nothing is written it makes no difference */
} fault_scenario;

/* Runs a scenario once without a fault (check gets NULL), then with each fault. Returns the number of runs. It also
 * detects a descriptor that stays open, and a scenario that fails because a signal interrupts a call. */
uint32_t faults_each(const fault_scenario *s, void *context);
/* Runs a scenario once with one fault, in this process; for kinds of faults that don't kill. NULL: only counts the
 * calls. */
bool faults_run(const fault *f, bool (*run)(void *context), void *context);
/* Calls of this name in the last run. */
uint32_t faults_called(fault_call call);
/* The number of the n-th call of this name (from 1 on) in the last run. */
uint32_t faults_number(fault_call call, uint32_t n);
/* "EIO at call 7, fsync" in static memory. */
const char *fault_text(const fault *f);
/* Called before each wrapped call of a run, with its number; it may do anything to the disk. NULL: none. */
extern void (*faults_hook)(fault_call call, uint32_t number);

/* Memory that keeps its content when a process is killed. */
void *faults_shared(size_t bytes);
uint32_t faults_descriptors(void); /* that are open */

typedef struct crash_scenario {
    void (*prepare)(void *context);
    void (*run)(void *context); /* calls crash_mark when something has been promised */
    /* Called for a state that the disk may be in after the machine stopped; `marked` is the last crash_mark before, 0:
     * none. */
    void (*check)(void *context, uint32_t marked);
} crash_scenario;

/* The scenario writes `path` and path.new. What wasn't synced may be on the disk or not, also in parts; names change in
 * their order. Returns how many states were checked. */
uint32_t crashes_each(const crash_scenario *s, const char *path, void *context);
void crash_mark(uint32_t what);

/* A folder of this process (in memory, where the system has such), and paths in it. Static memory, valid for the
 * next eight calls. */
const char *faults_path(const char *name);
void faults_put(const char *path, const void *bytes, size_t count); /* NULL bytes: no such file */
/* The content of a file; NULL: there is none. It is valid until the next call. (The memory is kept, since the address
 * sanitizer holds freed memory, which would make each fork more expensive.) */
void *faults_get(const char *path, size_t *count);

#endif
