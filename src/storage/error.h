/* The last error of a world: recording a failure, with what it was about, and telling the misuse hook of it. */
#ifndef REEF_STORAGE_ERROR_H
#define REEF_STORAGE_ERROR_H

#include "base/platform.h"
#include "reef/world.h"

/* Enough for the text of any failure. */
enum { REPORT_BYTES = REEF_TYPE_NAME_MAX + REEF_NAME_MAX + REEF_DETAIL_MAX + REEF_SYSTEM_NAME_MAX + 512 };

/* Records a failure, tells of it (reef__failure_report), and returns `status`. It never allocates. */
COLD reef_status reef__failure(reef_world *w, reef_status status, const char *operation, reef_component c,
                               reef_entity e, uint64_t number);

/* The same for a failure that is about no component and no entity, and has no number. */
COLD reef_status reef__refuse(reef_world *w, reef_status status, const char *operation);

/* The same for an argument that is wrong, with what is wrong about it: BAD_ARGUMENT. Every such failure says that. */
COLD reef_status reef__misuse(reef_world *w, const char *operation, reef_component c, reef_entity e, const char *why);
INLINE reef_status misuse_refuse(reef_world *w, const char *operation, const char *why) /* about no component */
{
    return reef__misuse(w, operation, (reef_component){0}, (reef_entity){0, 0}, why);
}

/* What to do about a query of another world. */
#define OTHER_WORLDS_QUERY \
    "a fork has the queries that its origin had when it was forked; reef_query_copy makes others there, too"

/* Does the number of a failure with a detail say where it is in a file? (Otherwise it says where it is in a text.) */
bool reef__status_of_file(reef_status status);

/* records a failure that is filled in already */
COLD reef_status reef__failure_record(reef_world *w, const reef_error *e);
COLD reef_status reef__failure_detail(reef_world *w, reef_status status, const char *operation, uint64_t number,
                                      const char *detail);

/* A loop begins, or a tick has ended in which nothing failed: the last error is OK. The failure before is set aside, so
 * that reef_error_text still has it. */
COLD void reef__error_pass(reef_world *w);

/* Writes what is wrong with the state, for reef_validate. Answers REEF_CORRUPT. */
COLD reef_status reef__corrupt(char *message, size_t size, const char *format, ...) REEF_PRINTF(3, 4);

/* Tells of a mistake of the caller: the misuse hook, or the log, or stderr. In a build that isn't checked only of
 * refused declarations. */
COLD void reef__failure_report(const reef_world *w, const reef_error *e);

/* Gives a message to the log, or to stderr where the world has none. On stderr, messages with the same key are printed
 * a few times and then counted. */
COLD void reef__report(const reef_world *w, reef_log_level level, uint64_t key, const char *message);
/* The key of a message that says the same only if it is the same text. */
COLD uint64_t reef__report_key(const char *message);

#endif
