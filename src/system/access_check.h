/* The checked build's watch over systems: what it sees, src/system/access_check.c says.
 *
 *   reef__phase_run ─ reef__watch_open ─┬─ first job: reef__watch_before ─ reef__watch_block ... ─ last job:
 *   reef__watch_after ─┬─ next system ... ─ reef__watch_close
 *                           │  a copy of all columns     what is handed out    compared, run again │
 *
 * All of this runs on the thread that ticks. In other builds there is nothing of it. */
#ifndef REEF_SYSTEM_ACCESS_CHECK_H
#define REEF_SYSTEM_ACCESS_CHECK_H

#include "base/platform.h"
#include "storage/world_data.h"
#include "reef/loop.h"

struct run;
struct ticking;

#if defined(REEF_CHECKED)

enum { WATCH_TOLD = 64 }; /* components that are told of in one run of a system */

typedef struct watch {
    const struct run *run;       /* that is looked at; NULL: none */
    const struct system *system; /* its system */
    thread_name thread;          /* that ticks */
    uint64_t mistakes;           /* failures since the run began */
    uint32_t told_count;
    uint32_t told[WATCH_TOLD];
    /* The copy, in one piece of memory of `bytes`; NULL: there is none. */
    struct shade *shades; /* of each chunk */
    uint32_t shade_count;
    uint32_t *by_unit; /* which shade is that of a chunk */
    uint32_t *handed;  /* shades in the order in which their chunks were handed out */
    uint32_t handed_count;
    char *values;
    char *stored; /* entity and value, for all values of all stores */
    size_t bytes;
} watch;

/* Are the world's systems watched? Then they run one at a time, on the thread that ticks. */
INLINE bool watching(const reef_world *w) { return !w->unwatched; }
/* Around a phase. */
void reef__watch_open(reef_world *w);
void reef__watch_close(reef_world *w);
/* Around the jobs of a run, and for each block before the function gets it. */
void reef__watch_before(reef_world *w, const struct run *r);
void reef__watch_after(reef_world *w);
void reef__watch_block(reef_world *w, const reef_block *b);
/* A failure while systems are watched: it is counted, and told of the system that runs, or of a thread that has no
 * business here. */
void reef__watch_failure(reef_world *w, reef_error *e);
/* Is the component declared to be read in others' rows? If not, it is told of once. */
COLD void reef__watch_read(const reef_world *w, const char *op, reef_entity e, reef_component c);
/* To be written? And is this the thread that ticks? If not, it is told, and false. */
bool reef__watch_may_write(const reef_world *w, uint32_t component);
bool reef__watch_write(reef_world *w, const char *op, reef_entity e, reef_component c);
bool reef__watch_thread(const reef_world *w);
/* Why a system isn't run twice, with the type for whose sake, if there is one; NULL: it is. */
const char *reef__watch_once(const struct system *s, uint32_t *component);

#else

INLINE bool watching(const reef_world *w) { return (void)w, false; }
INLINE void reef__watch_open(reef_world *w) { (void)w; }
INLINE void reef__watch_close(reef_world *w) { (void)w; }
INLINE void reef__watch_before(reef_world *w, const struct run *r) { (void)w, (void)r; }
INLINE void reef__watch_after(reef_world *w) { (void)w; }
INLINE void reef__watch_block(reef_world *w, const reef_block *b) { (void)w, (void)b; }
INLINE bool reef__watch_may_write(const reef_world *w, uint32_t component) { return (void)w, (void)component, true; }
INLINE bool reef__watch_write(reef_world *w, const char *op, reef_entity e, reef_component c)
{
    return (void)w, (void)op, (void)e, (void)c, true;
}

#endif

#endif
