/* Where the messages of a world go: to the handlers of its config, or to stderr. */
#ifndef REEF_STORAGE_REPORT_H
#define REEF_STORAGE_REPORT_H

#include "base/platform.h"
#include "reef/world.h"

/* Gives a message to the log, or to stderr where the world has none. On stderr, messages with the same key are printed
 * a few times and then counted. */
COLD void reef__report(const reef_world *w, reef_log_level level, uint64_t key, const char *message);

/* The key of a message that says the same only if it is the same text. */
COLD uint64_t reef__report_key(const char *message);

#endif
