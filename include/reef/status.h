/* Statuses: what a call returns.
 *
 * There are three kinds of failure, and reef never mixes them:
 *
 *   1. The environment fails (memory, disk): a status in every build; the world is as it was before the call.
 *   2. The caller is wrong (a dead handle, an unknown type): a status in every build, no effect. In the checked build
 *      (REEF_CHECKED) the world's `misuse` hook is also called, with the whole message.
 *   3. reef itself is wrong: an assertion fails.
 *
 * Failures are negative, successes are zero or positive: `if (reef_destroy(w, e) < 0) ...`. Calls that return a pointer
 * or a handle return NULL or {0} on failure; the reason is in reef_last_error(). */
#ifndef REEF_STATUS_H
#define REEF_STATUS_H

#include "compiler.h"

REEF_BEGIN_C

/* name, value, text */
#define REEF_STATUSES(X) \
    X(OK, 0, "ok") \
    X(ADDED, 1, "ok: the component was not there before") \
    X(NOT_ALIVE, -1, "the handle is null, dead or was never made") \
    X(OTHER_WORLD, -2, "the object belongs to another world") \
    X(UNKNOWN_TYPE, -3, "the component type is not known here") \
    X(ABSENT, -4, "the entity does not have the component") \
    X(EXISTS, -5, "it is there already") \
    X(WRONG_SIZE, -6, "the size is not that of the component type") \
    X(NOT_MOVABLE, -7, "the component type can't be moved in memory") \
    X(NOT_COPYABLE, -8, "the component type can't be copied") \
    X(AMBIGUOUS, -9, "more than one fits") \
    X(DUPLICATE_TERM, -10, "a component is named twice") \
    X(BAD_TEXT, -11, "the text can't be read") \
    X(NAME_TAKEN, -12, "the name is taken") \
    X(LOCKED, -13, "the structure can't change while a loop is open") \
    X(UNDECLARED, -14, "the access was not declared") \
    X(LIMIT, -15, "a limit is reached") \
    X(NO_MEMORY, -16, "no memory") \
    X(IO, -17, "reading or writing failed") \
    X(CORRUPT, -18, "the data is damaged") \
    X(VERSION, -19, "the version is not supported") \
    X(BAD_ARGUMENT, -20, "an argument is wrong") \
    X(DESYNC, -21, "the same inputs gave another state") \
    X(NOT_PORTABLE, -22, "the component type can't be written or read as it is") \
    X(CANCELLED, -23, "the caller stopped it") \
    X(OTHER_STATE, -24, "it was made for another state") \
    X(CYCLE, -25, "the relation would lead back to its source") \
    X(REFUSED, -26, "a relation keeps its target from being destroyed")

/* What a call returns: 0 or more is success. */
typedef enum reef_status {
#define X(name, value, text) REEF_##name = value,
    REEF_STATUSES(X)
#undef X
} reef_status;

/* A status as a short text; "unknown status" for any other number. Static memory; any thread. */
REEF_API const char *reef_status_text(reef_status status);
/* The name of a status, such as "NOT_ALIVE"; "unknown status" for any other number. Static memory; any thread. */
REEF_API const char *reef_status_name(reef_status status);

REEF_END_C

#endif
