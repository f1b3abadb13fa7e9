/* What the calls of these layers ask of the phase that runs: reef_world.running, NULL while no system runs. Systems
 * may run on several threads, so nobody writes then what is shared. */
#ifndef REEF_STORAGE_RUNNING_H
#define REEF_STORAGE_RUNNING_H

#include "base/platform.h"
#include "storage/world_data.h"
#include "reef/world.h"

typedef struct running_calls {
    /* Is this the version of the system that writes the component in others' rows? Then a column that carries it is
     * ours. */
    bool (*marked)(const reef_world *w, uint32_t component, uint64_t version);
    /* The cell of an entity's component for that system. A refusal is recorded, and leaves *at. */
    reef_status (*mut)(reef_world *w, const char *op, reef_entity e, reef_component c, void **at);
    /* The checked build's (src/system/access_check.c): a value is read by its handle; is this the thread that ticks?
     * a failure. */
    void (*read)(const reef_world *w, const char *op, reef_entity e, reef_component c);
    bool (*on_thread)(const reef_world *w);
    void (*failed)(reef_world *w, reef_error *e);
} running_calls;

/* Calls on a const world that read others' values. */
INLINE void running_read(const reef_world *w, const char *op, reef_entity e, reef_component c)
{
#if defined(REEF_CHECKED)
    if (UNLIKELY(w->hot.held)) w->running->read(w, op, e, c);
#else
    (void)w, (void)op, (void)e, (void)c;
#endif
}
/* Systems run: is this a thread that may write? */
INLINE bool running_here(const reef_world *w)
{
#if defined(REEF_CHECKED)
    return w->running->on_thread(w);
#else
    return (void)w, true;
#endif
}

#endif
