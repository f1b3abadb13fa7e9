/* Child processes that run a part of the model test and report how it went. */
#ifndef MODEL_SHRINK_H
#define MODEL_SHRINK_H

#include "model.h"
#include "pairs.h"
#include <signal.h>

/* Without child processes a crash ends the program, and nothing is shrunk. */
#if defined(_WIN32) || defined(__EMSCRIPTEN__)
#define MODEL_HAS_CHILDREN 0
#else
#define MODEL_HAS_CHILDREN 1
#endif

typedef struct report {   /* in memory that parent and child share */
    volatile uint32_t at; /* the operation that runs */
    bool failed;
    char message[600];
    uint64_t counts[OP_COUNT];  /* operations done by kind, */
    uint64_t refused[OP_COUNT]; /* of these answered with an error */
    pair_counts pairs;
    uint64_t starved, most_living, most_forks;
} report;

typedef void (*child_function)(report *r, void *context);

report *report_make(void);
/* Runs a function in a child process, if the system has them. False: it failed, crashed, or took longer than the
 * limit. */
bool child_run(report *r, unsigned limit_seconds, child_function run, void *context);
double seconds_now(void);

#endif
