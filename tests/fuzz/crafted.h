/* The loop of the programs that craft files (craft.h): case after case in a child process, so that a crash, a hang or a
 * report of a sanitizer ends only the child. The parent names the case, keeps its file, and goes on behind it.
 *
 *     PROGRAM [--seconds N | --cases N] [--seed N] [--case N] [--keep FOLDER]
 *
 * Without arguments some cases that are the same each time. --case tries one case in this process, for a debugger. (A
 * batch of cases shares a process, since types that files declare stay.) A case follows from the seed and its number
 * alone. */
#ifndef REEF_TESTS_FUZZ_CRAFTED_H
#define REEF_TESTS_FUZZ_CRAFTED_H

#include "craft.h"
#include "must.h"
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    CRAFTED_BATCH = 500,      /* cases in one process */
    CRAFTED_HANGS = 300,      /* seconds: a case takes a few hundredths of one */
    CRAFTED_FAILURES_MAX = 20 /* then nothing more is tried */
};

/* What a program gives to the loop. */
typedef struct crafted_program {
    const char *name;
    void (*begin)(void); /* in each child, before its first case */
    void (*end)(void);
    /* Makes the case that follows from this seed and tries it, or with `keep` only writes what it is made of. */
    void (*one)(uint64_t seed, const char *keep);
    uint64_t cases; /* without arguments */
} crafted_program;

/* What parent and child share. */
typedef struct crafted_shared {
    uint64_t number;                /* the case that is being tried */
    uint64_t tried, taken, refused; /* taken: read without an error */
} crafted_shared;

static crafted_shared *crafted_counts;

static inline void crafted_batch(const crafted_program *p, uint64_t seed, uint64_t first, uint64_t end)
{
    p->begin();
    for (uint64_t n = first; n < end; n++) {
        crafted_counts->number = n;
        (void)alarm(CRAFTED_HANGS);
        p->one(seed << 32 ^ n, NULL);
        crafted_counts->tried++;
    }
    (void)alarm(0);
    p->end();
}

/* Tries a batch in a child. Returns the number of the case behind the last one that was tried. */
static inline uint64_t crafted_child(const crafted_program *p, uint64_t seed, uint64_t first, uint64_t end,
                                     const char *keep, uint32_t *failures)
{
    char path[512];
    int status = 0;
    (void)fflush(NULL);
    crafted_counts->number = first;
    const pid_t child = fork();
    MUST(child >= 0);
    if (child == 0) {
        crafted_batch(p, seed, first, end);
        exit(0);
    }
    MUST(waitpid(child, &status, 0) == child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return end;
    const uint64_t n = crafted_counts->number;
    ++*failures;
    (void)snprintf(path, sizeof path, "%s/%s_%" PRIu64 "_%" PRIu64, keep, p->name, seed, n);
    (void)fprintf(stderr,
                  "%s: --seed %" PRIu64 " --case %" PRIu64 " (of the batch from %" PRIu64
                  ") ended by %s %d; kept as %s\n",
                  p->name, seed, n, first, WIFEXITED(status) ? "status" : "signal",
                  WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status), path);
    const pid_t writer = fork();
    MUST(writer >= 0);
    if (writer == 0) {
        p->begin();
        p->one(seed << 32 ^ n, path);
        _exit(0);
    }
    (void)waitpid(writer, NULL, 0);
    return n + 1;
}

static inline int crafted_main(const crafted_program *p, int count, char **words)
{
    uint64_t seconds = 0, cases = p->cases, seed = 1, one = UINT64_MAX;
    const char *keep = ".";
    uint32_t failures = 0;
    for (int i = 1; i < count; i += 2) {
        const char *value = i + 1 < count ? words[i + 1] : NULL;
        if (value && strcmp(words[i], "--seconds") == 0) seconds = strtoull(value, NULL, 10);
        else if (value && strcmp(words[i], "--cases") == 0) cases = strtoull(value, NULL, 10);
        else if (value && strcmp(words[i], "--seed") == 0) seed = strtoull(value, NULL, 10);
        else if (value && strcmp(words[i], "--case") == 0) one = strtoull(value, NULL, 10);
        else if (value && strcmp(words[i], "--keep") == 0) keep = value;
        else return fprintf(stderr, "%s [--seconds N | --cases N] [--seed N] [--case N] [--keep FOLDER]\n", p->name), 2;
    }
    void *shared = mmap(NULL, sizeof *crafted_counts, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    MUST(shared != MAP_FAILED);
    crafted_counts = shared;
    if (one != UINT64_MAX) {
        crafted_batch(p, seed, one, one + 1);
        return 0;
    }
    const time_t start = time(NULL);
    for (uint64_t n = 0; failures < CRAFTED_FAILURES_MAX;) {
        if (seconds ? (uint64_t)(time(NULL) - start) >= seconds : n >= cases) break;
        const uint64_t end = seconds || cases - n > CRAFTED_BATCH ? n + CRAFTED_BATCH : cases;
        n = crafted_child(p, seed, n, end, keep, &failures);
    }
    printf("%s: seed %" PRIu64 ", %" PRIu64 " cases: %" PRIu64 " read, %" PRIu64 " refused; %u failures\n", p->name,
           seed, crafted_counts->tried, crafted_counts->taken, crafted_counts->refused, failures);
    return failures != 0;
}

#endif
