/* Spans: a ring of the last jobs of a world, recorded by the functions for profilers, and written as JSON.
 *
 * Each thread remembers when its job began, in a place of its own. When the job ends, the span gets the next place of
 * the ring under the lock. */
#include "storage/world_data.h"
#include "reef/trace.h"
#include "reef/file.h"
#include "reef/schedule.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { SPANS_MOST = 1 << 24 };

struct reef_trace {
    reef_world *world;
    mutex lock;
    uint64_t origin;                  /* the clock when the recording began */
    uint64_t count;                   /* spans so far; number n lies at n % room */
    uint64_t began[REEF_THREADS_MAX]; /* by thread */
    uint32_t room;
    reef_trace_span ring[];
};

static COLD void span_begin(void *context, const char *system, uint32_t worker)
{
    reef_trace *s = context;
    (void)system;
    if (worker < REEF_THREADS_MAX) s->began[worker] = clock_now();
}

static COLD void span_end(void *context, const char *system, uint32_t worker)
{
    reef_trace *s = context;
    const uint64_t now = clock_now();
    if (worker >= REEF_THREADS_MAX) return;
    const uint64_t begin = s->began[worker] > s->origin ? s->began[worker] - s->origin : 0;
    const uint64_t end = now > s->origin ? now - s->origin : 0;
    mutex_lock(&s->lock);
    reef_trace_span *x = &s->ring[s->count++ % s->room];
    x->tick = s->world->state.ticks;
    x->begin_ns = begin;
    x->end_ns = end > begin ? end : begin; /* somebody may have set the clock back */
    x->worker = worker;
    memcpy(x->system, system, strlen(system) + 1); /* names are bounded by REEF_SYSTEM_NAME_MAX */
    mutex_unlock(&s->lock);
}

COLD reef_trace *reef_trace_new(reef_world *w, uint32_t spans_max)
{
    if (!WORLD_GIVEN(w) || spans_max == 0 || spans_max > SPANS_MOST || w->locks) return NULL;
    reef_trace *s = malloc(sizeof *s + spans_max * sizeof s->ring[0]);
    if (s == NULL) return NULL;
    memset(s, 0, sizeof *s);
    s->world = w;
    s->room = spans_max;
    s->origin = clock_now();
    if (mutex_make(&s->lock)) {
        reef_set_profiler(w, &(reef_profiler){.begin = span_begin, .end = span_end, .context = s});
        if (w->ticking) return s;
        mutex_drop(&s->lock);
    }
    free(s);
    return NULL;
}

COLD void reef_trace_free(reef_trace *s)
{
    if (s == NULL) return;
    reef_set_profiler(s->world, NULL);
    mutex_drop(&s->lock);
    free(s);
}

uint64_t reef_trace_count(const reef_trace *s) { return s ? s->count : 0; }

COLD uint32_t reef_trace_read(const reef_trace *s, uint64_t first, reef_trace_span *out, uint32_t room)
{
    uint32_t n = 0;
    if (s == NULL || out == NULL) return 0;
    if (s->count > s->room && first < s->count - s->room) first = s->count - s->room;
    for (; first < s->count && n < room; first++, n++) out[n] = s->ring[first % s->room];
    return n;
}

/* Writes a name as the inside of a JSON string. Each byte takes at most six. */
static COLD void name_escape(char *to, const char *name)
{
    for (; *name; name++) {
        const unsigned char c = (unsigned char)*name;
        if (c == '"' || c == '\\') *to++ = '\\', *to++ = (char)c;
        else if (c < 0x20 || c > 0x7E) to += sprintf(to, "\\u%04x", c);
        else *to++ = (char)c;
    }
    *to = 0;
}

static COLD reef_status span_write(reef_writer writer, const reef_trace_span *x, bool first)
{
    char name[6 * REEF_SYSTEM_NAME_MAX + 1], text[sizeof name + 200];
    name_escape(name, x->system);
    const int length = snprintf(text, sizeof text,
                                "%s{\"name\":\"%s\",\"ph\":\"X\",\"pid\":1,\"tid\":%" PRIu32 ",\"ts\":%" PRIu64
                                ".%03d,\"dur\":%" PRIu64 ".%03d,\"args\":{\"tick\":%" PRIu64 "}}",
                                first ? "" : ",\n", name, x->worker, x->begin_ns / 1000, (int)(x->begin_ns % 1000),
                                (x->end_ns - x->begin_ns) / 1000, (int)((x->end_ns - x->begin_ns) % 1000), x->tick);
    return writer.write(writer.context, text, (size_t)length);
}

COLD reef_status reef_trace_write(const reef_trace *s, reef_writer writer)
{
    static const char head[] = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n", tail[] = "\n]}\n";
    if (s == NULL || writer.write == NULL) return REEF_BAD_ARGUMENT;
    const uint64_t oldest = s->count > s->room ? s->count - s->room : 0;
    reef_status status = writer.write(writer.context, head, sizeof head - 1);
    for (uint64_t n = oldest; n < s->count && status == REEF_OK; n++)
        status = span_write(writer, &s->ring[n % s->room], n == oldest);
    return status == REEF_OK ? writer.write(writer.context, tail, sizeof tail - 1) : status;
}
