/* Ctrl-C ends a run between two ticks. */
#include "stop.h"

#include <signal.h>

static volatile sig_atomic_t wanted;

static void remember(int number)
{
    wanted = 1;
    signal(number, SIG_DFL);
}

void stop_watch(void)
{
    signal(SIGINT, remember);
    signal(SIGTERM, remember);
}

bool stop_wanted(void) { return wanted != 0; }
