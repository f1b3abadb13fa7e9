/* Where libraries were that are closed. In the checked build on Linux these addresses stay taken and unreadable, so
 * that a pointer of the program that still leads there fails at once, and the message says into which library it led;
 * otherwise another library might lie there by then, and the call would do something else.
 *
 * The newest libraries are kept, so that a program may replace its code as often as it wants. */
#include "hot.h"

#if defined(__linux__) && defined(REEF_CHECKED)

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { GONE_MAX = 32 };

/* A handler of signals can't be given a context. */
static struct {
    struct {
        uintptr_t begin, end;
        char text[160];
    } list[GONE_MAX];
    uint32_t next; /* which one is given up for another */
    struct sigaction before;
} gone;

/* Says which library it was, and lets the signal do what it would have done. */
static void gone_reached(int number, siginfo_t *info, void *context)
{
    const uintptr_t at = (uintptr_t)info->si_addr;
    (void)context;
    for (uint32_t i = 0; i < GONE_MAX; i++) {
        if (at < gone.list[i].begin || at >= gone.list[i].end) continue;
        char text[300];
        const int n = snprintf(text, sizeof text,
                               "reef: 0x%llx of %s was reached, which is closed: a pointer that reef doesn't know of "
                               "leads there\n",
                               (unsigned long long)(at - gone.list[i].begin), gone.list[i].text);
        if (n > 0 && write(2, text, (size_t)n) < 0) break;
    }
    (void)sigaction(number, &gone.before, NULL); /* it happens again when this returns */
}

void hot_gone_keep(const reef_code_range *range, const char *text)
{
    const uintptr_t begin = (uintptr_t)range->begin, bytes = (uintptr_t)range->end - begin;
    void *at = mmap((void *)begin, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (at == MAP_FAILED) return; /* something else is there already */
    if ((uintptr_t)at != begin) {
        (void)munmap(at, bytes);
        return;
    }
    const uint32_t i = gone.next++ % GONE_MAX;
    if (gone.list[i].end) (void)munmap((void *)gone.list[i].begin, gone.list[i].end - gone.list[i].begin);
    gone.list[i].begin = begin;
    gone.list[i].end = begin + bytes;
    (void)snprintf(gone.list[i].text, sizeof gone.list[i].text, "%s", text);
    struct sigaction action, now;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = gone_reached;
    action.sa_flags = SA_SIGINFO;
    if (sigaction(SIGSEGV, NULL, &now) != 0 || now.sa_sigaction == gone_reached) return;
    gone.before = now;
    (void)sigaction(SIGSEGV, &action, NULL);
}

#else

void hot_gone_keep(const reef_code_range *range, const char *text) { (void)range, (void)text; }

#endif
