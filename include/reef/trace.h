/* Traces: which system ran when, and on which thread.
 *
 *     reef_trace *t = reef_trace_new(w, 100000);
 *     ... ticks ...
 *     reef_trace_write(t, writer);               a file that Perfetto and chrome://tracing open
 *     reef_trace_free(t);
 *
 * A trace keeps the last spans; a span is one job of a system. While a world is traced, each job reads the clock twice
 * and takes a lock once. */
#ifndef REEF_TRACE_H
#define REEF_TRACE_H

#include "file.h"
#include "system.h"

REEF_BEGIN_C

/* The last spans of one world. */
typedef struct reef_trace reef_trace;

/* A span: one job of a system. */
typedef struct reef_trace_span {
    uint64_t tick;             /* the tick in which it ran: reef_tick_count while it ran */
    uint64_t begin_ns, end_ns; /* since the trace began */
    uint32_t worker;           /* the thread; 0: the one that ticks */
    char system[REEF_SYSTEM_NAME_MAX + 1];
} reef_trace_span;

/* Begins a trace of a world, which takes the place of what reef_set_profiler set. It keeps the last
 * `spans_max` spans (1 ... 2^24), for which memory is taken now from the C library: 104 bytes each. The caller owns the
 * trace, and frees it before the world. NULL: NULL or 0 was given, systems run or a loop is open, or there is no
 * memory. */
REEF_API reef_trace *reef_trace_new(reef_world *world, uint32_t spans_max);
/* Ends a trace and frees it: the world calls no functions for profilers any more. NULL is allowed. */
REEF_API void reef_trace_free(reef_trace *trace);
/* Number of spans since the trace began, also of those that were dropped. */
REEF_API uint64_t reef_trace_count(const reef_trace *trace);
/* Copies spans in the order in which they ended, beginning with number `first`, or with the oldest that is kept if that
 * one is gone; at most `room` of them. Returns how many. Not while systems run. */
REEF_API uint32_t reef_trace_read(const reef_trace *trace, uint64_t first, reef_trace_span *out, uint32_t room);
/* Writes all spans that are kept as JSON, in the format "Trace Event" that Perfetto and chrome://tracing open: a
 * complete event for each, with its thread, and the tick as an argument. Not while systems run. Errors: BAD_ARGUMENT
 * (NULL), and what the writer returns. */
REEF_API reef_status reef_trace_write(const reef_trace *trace, reef_writer writer);

REEF_END_C

#endif
