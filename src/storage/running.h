/* The calls by which storage and the public verbs ask the running phase: reef_world.running, which is NULL while no
 * system runs. Systems may run on several threads, so nobody then writes what threads share. */
#ifndef REEF_STORAGE_RUNNING_H
#define REEF_STORAGE_RUNNING_H

#include "storage/world_data.h"
#include "reef/world.h"

typedef struct running_calls {
    /* Is this the version under which a running system writes the component in other entities' rows? Then a column with
     * this version belongs to this world alone. */
    bool (*marked)(const reef_world *w, uint32_t component, uint64_t version);
    /* The address of an entity's component, for the running system to write. A refusal is recorded, and *at isn't
     * set. */
    reef_status (*mut)(reef_world *w, const char *op, reef_entity e, reef_component c, void **at);
    /* Of the checked build (src/system/access_check.c). `read` is told that a value is read by its handle; `on_thread`:
     * is this the thread that ticks; `failed` is told of a failure. */
    void (*read)(const reef_world *w, const char *op, reef_entity e, reef_component c);
    bool (*on_thread)(const reef_world *w);
    void (*failed)(reef_world *w, reef_error *e);
} running_calls;

/* For calls on a const world that read the value of any entity. */
INLINE void running_read(const reef_world *w, const char *op, reef_entity e, reef_component c)
{
#if defined(REEF_CHECKED)
    if (UNLIKELY(w->hot.held)) w->running->read(w, op, e, c);
#else
    (void)w, (void)op, (void)e, (void)c;
#endif
}
/* Is this a thread that may write while systems run? */
INLINE bool running_here(const reef_world *w)
{
#if defined(REEF_CHECKED)
    return w->running->on_thread(w);
#else
    return (void)w, true;
#endif
}

#endif
