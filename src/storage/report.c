/* Messages about mistakes reach the programmer without any setting: a world that has no log prints them on stderr. A
 * mistake in a loop would print thousands of lines, so each message has a key, and the process counts how often each
 * key came. A message is printed the first three times, and then at 10, 100, 1,000 ... times, with the count. */
#include "storage/report.h"
#include "base/byte_hash.h"
#include "base/threads.h"
#include "storage/world_data.h"
#include "reef/log.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { REPORTS_KEPT = 16, REPORTS_WHOLE = 3 };

/* Which keys came how often. When all places are taken, a new key takes the place that its value chooses; the key that
 * was there begins anew. */
static struct {
    mutex lock;
    uint32_t count;
    uint64_t key[REPORTS_KEPT], times[REPORTS_KEPT];
} reports_printed = {.lock = MUTEX_INIT};

static uint64_t report_count(uint64_t key)
{
    mutex_lock(&reports_printed.lock);
    uint32_t i = 0;
    while (i < reports_printed.count && reports_printed.key[i] != key) i++;
    if (i == reports_printed.count) {
        if (i == REPORTS_KEPT) i = (uint32_t)(key % REPORTS_KEPT);
        else reports_printed.count++;
        reports_printed.key[i] = key;
        reports_printed.times[i] = 0;
    }
    const uint64_t times = ++reports_printed.times[i];
    mutex_unlock(&reports_printed.lock);
    return times;
}

static bool power_of_ten(uint64_t n)
{
    while (n >= 10 && n % 10 == 0) n /= 10;
    return n == 1;
}

static void report_print(uint64_t key, const char *message)
{
    const uint64_t times = report_count(key);
    if (times < REPORTS_WHOLE) fprintf(stderr, "reef: %s\n", message);
    else if (times == REPORTS_WHOLE) fprintf(stderr, "reef: %s (from now on this is only counted)\n", message);
    else if (power_of_ten(times)) fprintf(stderr, "reef: %s (%" PRIu64 " times so far)\n", message, times);
}

uint64_t reef__report_key(const char *message) { return reef__hash_bytes(message, strlen(message)); }

void reef__report(const reef_world *w, reef_log_level level, uint64_t key, const char *message)
{
    world_hold(w);
    if (w->config.log) w->config.log(w->config.context, level, message);
    else report_print(key, message);
    world_let_go(w);
}

COLD void reef_log_none(void *context, reef_log_level level, const char *message)
{
    (void)context, (void)level, (void)message;
}
