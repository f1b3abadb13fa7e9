/* Spans: which system ran when, and on which thread.
 *
 *     reef_spans *s = reef_spans_new(w, 100000);
 *     ... ticks ...
 *     reef_trace_write(s, writer);               a file that Perfetto and chrome://tracing open
 *     reef_spans_free(s);
 *
 * A span is one job of a system. While spans are recorded, each job reads the clock twice and takes a lock once. */
#ifndef REEF_TRACE_H
#define REEF_TRACE_H

#include "save.h"
#include "system.h"

REEF_BEGIN_C

/* A recording of the last spans of one world. */
typedef struct reef_spans reef_spans;

/* One job of a system. */
typedef struct reef_trace_span {
    uint64_t tick;             /* the tick in which it ran: reef_tick_count while it ran */
    uint64_t begin_ns, end_ns; /* since the recording began */
    uint32_t worker;           /* the thread; 0: the one that ticks */
    char system[REEF_SYSTEM_NAME_MAX + 1];
} reef_trace_span;

/* Begins to record the spans of a world, which takes the place of what reef_set_trace set. It keeps the last
 * `spans_max` spans (1 ... 2^24), for which memory is taken now from the C library: 104 bytes each. The caller owns the
 * recording, and frees it before the world. NULL: NULL or 0 was given, systems run or a loop is open, or there is no
 * memory. */
REEF_API reef_spans *reef_spans_new(reef_world *world, uint32_t spans_max);
/* Ends a recording and frees it: the world calls no functions for profilers any more. NULL is allowed. */
REEF_API void reef_spans_free(reef_spans *spans);
/* Number of spans since the recording began, also of those that were dropped. */
REEF_API uint64_t reef_spans_count(const reef_spans *spans);
/* Copies spans in the order in which they ended, beginning with number `first`, or with the oldest that is kept if that
 * one is gone; at most `room` of them. Returns how many. Not while systems run. */
REEF_API uint32_t reef_spans_read(const reef_spans *spans, uint64_t first, reef_trace_span *out, uint32_t room);
/* Writes all spans that are kept as JSON, in the format "Trace Event" that Perfetto and chrome://tracing open: a
 * complete event for each, with its thread, and the tick as an argument. Not while systems run. Errors: BAD_ARGUMENT
 * (NULL), and what the writer returns. */
REEF_API reef_status reef_trace_write(const reef_spans *spans, reef_writer writer);

REEF_END_C

#endif
