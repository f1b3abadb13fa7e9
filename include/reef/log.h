/* Where the messages of a world go: nowhere, or elsewhere after it was made. */
#ifndef REEF_LOG_H
#define REEF_LOG_H

#include "world.h"

REEF_BEGIN_C

/* The pointer that is passed to log and misuse, which was reef_world_config.context. A fork begins with that of its
 * origin. */
REEF_API void *reef_context(const reef_world *world);
/* Changes the pointer that is passed to log and misuse. */
REEF_API void reef_set_context(reef_world *world, void *context);
/* Changes the functions log and misuse of the config. So a tool that looks into a fork on a thread of its own can keep
 * its mistakes to itself, by reef_log_none. */
REEF_API void reef_set_log(reef_world *world, void (*log)(void *context, reef_log_level level, const char *message),
                           void (*misuse)(void *context, reef_status status, const char *message));

/* Drops all messages: a world with this log prints none. Does nothing; any thread. */
REEF_API void reef_log_none(void *context, reef_log_level level, const char *message);

REEF_END_C

#endif
