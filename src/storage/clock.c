/* Clocks of phases and systems, which are part of the state.
 *
 * A clock is kept under the serial number that the family gave its phase or system, and hashed under its name. The
 * world's schedule knows the names, and for absent systems the state keeps them (src/system/unknown_system.c). A clock
 * of a system that is gone doesn't count, and a clock at 0 doesn't either; so the list is cleared of the gone ones only
 * before it would grow. */
#include "storage/clock.h"
#include "base/memory.h"
#include "base/platform.h"
#include "storage/family.h"
#include "storage/state.h"
#include "storage/world_data.h"

bool reef__serial_counts(const reef_world *w, uint64_t serial)
{
    const family *f = w->family;
    return (f->schedule_knows && f->schedule_knows(w, serial)) || reef__unknown_system_of(w, serial) != NULL;
}

/* Removes the clocks of systems that are gone: removing a system, or restoring a state, leaves them behind. */
static COLD void clocks_forget(const reef_world *w, state *s)
{
    for (uint32_t i = s->clock_count; i-- > 0;)
        if (!reef__serial_counts(w, s->clocks[i].serial)) s->clocks[i] = s->clocks[--s->clock_count];
}

uint64_t reef__clock_read(const state *s, uint64_t serial)
{
    for (uint32_t i = 0; i < s->clock_count; i++)
        if (s->clocks[i].serial == serial) return s->clocks[i].value;
    return 0;
}

uint64_t *reef__clock_own(reef_world *w, uint64_t serial)
{
    state *s = &w->state;
    for (uint32_t i = 0; i < s->clock_count; i++)
        if (s->clocks[i].serial == serial) return &s->clocks[i].value;
    if (s->clock_count == s->clock_room) clocks_forget(w, s);
    if (!reef__array_room(&w->family->memory, MEMORY_OTHER, &s->clocks, &s->clock_room, s->clock_count + 1,
                          sizeof *s->clocks))
        return NULL;
    s->clocks[s->clock_count] = (struct clock){serial, 0};
    return &s->clocks[s->clock_count++].value;
}

COLD unknown_system *reef__unknown_system_of(const reef_world *w, uint64_t serial)
{
    for (uint32_t i = 0; i < w->state.absent_count; i++)
        if (w->state.absents[i].serial == serial) return &w->state.absents[i];
    return NULL;
}
