/* The checked build's watch over systems. src/system/access_check.c describes what it checks.
 *
 * reef__watch_open                        a phase opens
 *    reef__watch_before                   before a system's first job: all columns are copied
 *    reef__watch_block ...                for each block that the system is handed
 *    reef__watch_after                    after its last job: everything is compared, and the system runs once more
 *    ...                                  the next system
 * reef__watch_close                       the phase closes
 *
 * All of this runs on the thread that ticks. Other builds contain none of it. */
#ifndef REEF_SYSTEM_ACCESS_CHECK_H
#define REEF_SYSTEM_ACCESS_CHECK_H

#include "storage/world_data.h"
#include "reef/loop.h"

struct planned_system;
struct ticking;

#if defined(REEF_CHECKED)

enum { WATCH_REPORTS = 64 }; /* the most components that are reported while one system runs */

typedef struct watch {
    const struct planned_system *planned; /* the planned system that runs now; NULL: none */
    const struct system *system;          /* the same as planned->system */
    thread_name thread;                   /* the thread that ticks */
    uint64_t mistakes;                    /* number of failures since the system began */
    uint32_t reported_count;
    uint32_t reported[WATCH_REPORTS];
    /* The copy. It is one piece of memory of `bytes` bytes; NULL: there is none. */
    struct old_chunk *old_chunks; /* one for each chunk */
    uint32_t old_chunk_count;
    uint32_t *by_unit; /* for each unit: the number of its chunk's old_chunk */
    uint32_t *handed;  /* numbers of old_chunks, in the order in which their chunks were handed out */
    uint32_t handed_count;
    char *values;
    char *stored; /* entity and value, for all values of all stores */
    size_t bytes;
} watch;

/* Are the world's systems watched? If so, they run one at a time, on the thread that ticks. */
INLINE bool watching(const reef_world *w) { return !w->unwatched; }
/* These two stand around a phase. */
void reef__watch_open(reef_world *w);
void reef__watch_close(reef_world *w);
/* The first two stand around the jobs of a system. The third is called for each block before the system's function
 * gets it. */
void reef__watch_before(reef_world *w, const struct planned_system *r);
void reef__watch_after(reef_world *w);
void reef__watch_block(reef_world *w, const reef_block *b);
/* Counts a failure that occurs while systems are watched. The error names the system that runs, or says that it came
 * from a thread that may not use the world now. */
void reef__watch_failure(reef_world *w, reef_error *e);
/* Checks that the component is declared to be read in others' rows. If it isn't, this is reported once. */
COLD void reef__watch_read(const reef_world *w, const char *op, reef_entity e, reef_component c);
/* May_write: is the component declared to be written in others' rows? Thread: is this the thread that ticks? Write
 * asks both; if the answer is no, it reports that and returns false. */
bool reef__watch_may_write(const reef_world *w, uint32_t component);
bool reef__watch_write(reef_world *w, const char *op, reef_entity e, reef_component c);
bool reef__watch_thread(const reef_world *w);
/* Returns why a system isn't run a second time, and in *component the type that is the reason, if one is. NULL: it is
 * run twice. */
const char *reef__watch_once(const struct system *s, uint32_t *component);

#else

INLINE bool watching(const reef_world *w) { return (void)w, false; }
INLINE void reef__watch_open(reef_world *w) { (void)w; }
INLINE void reef__watch_close(reef_world *w) { (void)w; }
INLINE void reef__watch_before(reef_world *w, const struct planned_system *r) { (void)w, (void)r; }
INLINE void reef__watch_after(reef_world *w) { (void)w; }
INLINE void reef__watch_block(reef_world *w, const reef_block *b) { (void)w, (void)b; }
INLINE bool reef__watch_may_write(const reef_world *w, uint32_t component) { return (void)w, (void)component, true; }
INLINE bool reef__watch_write(reef_world *w, const char *op, reef_entity e, reef_component c)
{
    return (void)w, (void)op, (void)e, (void)c, true;
}

#endif

#endif
