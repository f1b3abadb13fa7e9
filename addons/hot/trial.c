/* A trial: a child process plays the first ticks with the new code, on one thread, which gives the same result. What
 * would end the program or hang it ends the child, which says through a pipe where that was. Nothing is caught in the
 * program itself.
 *
 *   the program ──fork──► the child: opens the library, uses it, plays        a text through the pipe: refused
 *        waits for the end of the pipe, or for the time limit ◄──────────     the end, and status 0: the program does
 * it
 */
#include "hot.h"

#if defined(__linux__)

#include "reef/log.h"
#include "reef/schedule.h"
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

/* What the child's handlers use: they can't be given a context. */
static struct {
    int pipe;
    uint32_t limit_ms;
    reef_code_range range; /* where the new library lies */
    const char *system;    /* the one that runs; NULL: none */
} trial;

static void trial_write(const char *text)
{
    size_t n = strlen(text);
    while (n) {
        const ssize_t done = write(trial.pipe, text, n);
        if (done <= 0) return;
        text += done, n -= (size_t)done;
    }
}

static uintptr_t code_address(const void *context)
{
    const ucontext_t *c = context;
#if defined(__x86_64__)
    return (uintptr_t)c->uc_mcontext.gregs[REG_RIP];
#elif defined(__i386__)
    return (uintptr_t)c->uc_mcontext.gregs[REG_EIP];
#elif defined(__aarch64__)
    return (uintptr_t)c->uc_mcontext.pc;
#else
    return (void)c, 0;
#endif
}

/* Says what happened, in which system, and where in the library, so that addr2line finds the line. */
static void trial_ended(int signal, siginfo_t *info, void *context)
{
    char text[300], where[100] = "";
    const uintptr_t at = code_address(context), begin = (uintptr_t)trial.range.begin;
    const bool inside = at >= begin && at < (uintptr_t)trial.range.end;
    (void)info;
    if (inside) (void)snprintf(where, sizeof where, ", at 0x%llx of the library", (unsigned long long)(at - begin));
    if (signal == SIGALRM) (void)snprintf(text, sizeof text, "the trial takes longer than %u ms", trial.limit_ms);
    else (void)snprintf(text, sizeof text, "the trial ended: %s", strsignal(signal));
    trial_write(text);
    if (trial.system) trial_write(", in the system "), trial_write(trial.system);
    trial_write(where);
    _exit(1);
}

static void trial_misuse(void *context, reef_status status, const char *message)
{
    (void)context, (void)status;
    trial_write("the trial made a mistake: ");
    trial_write(message);
    if (trial.system) trial_write(", in the system "), trial_write(trial.system);
    _exit(1);
}

static void system_begins(void *context, const char *system, uint32_t worker)
{
    (void)context, (void)worker;
    trial.system = system;
}
static void system_ends(void *context, const char *system, uint32_t worker)
{
    (void)context, (void)system, (void)worker;
    trial.system = NULL;
}

void hot_trial_begin(reef_world *w)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGALRM};
    static char stack[1 << 16]; /* also when the stack is used up */
    const struct sigaction action = {.sa_sigaction = trial_ended, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    const struct itimerval limit = {.it_value = {.tv_sec = (time_t)(trial.limit_ms / 1000),
                                                 .tv_usec = (suseconds_t)(trial.limit_ms % 1000) * 1000}};
    (void)sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) (void)sigaction(signals[i], &action, NULL);
    (void)setitimer(ITIMER_REAL, &limit, NULL);
    reef_set_log(w, reef_log_none, trial_misuse);
    (void)reef_set_profiler(w, &(reef_profiler){.begin = system_begins, .end = system_ends});
}

void hot_trial_library(const reef_code_range *range) { trial.range = *range; }

void hot_trial_end(const char *failure)
{
    if (failure) trial_write(failure);
    _exit(failure != NULL);
}

static uint64_t clock_ms(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

hot_trial_role hot_trial_fork(uint32_t limit_ms, char *why, size_t size)
{
    int ends[2], status = 0;
    size_t got = 0;
    why[0] = 0;
    if (pipe(ends) != 0) return (void)snprintf(why, size, "no trial: %s", strerror(errno)), HOT_TRIAL_FAILED;
    const pid_t child = fork();
    if (child == 0) {
        (void)close(ends[0]);
        trial.pipe = ends[1];
        trial.limit_ms = limit_ms;
        return HOT_TRIAL_CHILD;
    }
    (void)close(ends[1]);
    if (child < 0) (void)snprintf(why, size, "no trial: %s", strerror(errno));
    /* The child ends itself at its limit; this is for one that blocks signals. */
    const uint64_t last = clock_ms() + limit_ms + 1000;
    struct pollfd p = {.fd = ends[0], .events = POLLIN};
    for (bool open = child > 0; open;) {
        const uint64_t now = clock_ms();
        const int ready = now >= last ? 0 : poll(&p, 1, (int)(last - now));
        const ssize_t n = ready > 0 && got + 1 < size ? read(ends[0], why + got, size - 1 - got) : 0;
        if (n > 0) why[got += (size_t)n] = 0;
        open = n > 0 || (ready < 0 && errno == EINTR);
        if (ready == 0) (void)snprintf(why, size, "the trial takes longer than %u ms", limit_ms);
    }
    (void)close(ends[0]);
    if (child < 0) return HOT_TRIAL_FAILED;
    if (why[0]) (void)kill(child, SIGKILL);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    if (why[0] == 0 && WIFSIGNALED(status))
        (void)snprintf(why, size, "the trial ended: %s", strsignal(WTERMSIG(status)));
    else if (why[0] == 0 && status != 0)
        (void)snprintf(why, size, "the trial ended with status %d", WEXITSTATUS(status));
    return why[0] ? HOT_TRIAL_FAILED : HOT_TRIAL_PASSED;
}

#else

hot_trial_role hot_trial_fork(uint32_t limit_ms, char *why, size_t size)
{
    (void)limit_ms;
    (void)snprintf(why, size, "trials need Linux");
    return HOT_TRIAL_FAILED;
}
void hot_trial_begin(reef_world *w) { (void)w; }
void hot_trial_library(const reef_code_range *range) { (void)range; }
void hot_trial_end(const char *failure) { (void)failure; }

#endif
