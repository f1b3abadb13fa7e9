/* What a state holds of systems and phases that its world doesn't have. This happens when another program loads a
 * file.
 *
 * A name that only the file knows gets a serial number of its own. The last runs of queries, the clocks and the
 * positions in events are kept under that number, as for any system; so they count for the hash and are saved again. A
 * system or phase of that name that is added later takes them over. They are forgotten when a system of the world
 * runs: otherwise a program that goes on without such a system would keep events for it for ever. */
#include "system/unknown_system.h"
#include "storage/serial_list.h"
#include "system/event.h"
#include "system/phase.h"
#include "system/schedule.h"

/* Returns the serial number of the world's system or phase of this name. 0: the world has none. */
static uint64_t serial_named(const reef_world *w, const char *name, bool of_phase)
{
    const schedule *s = w->schedule;
    for (uint32_t i = 0; s && !of_phase && i < s->count; i++)
        if (strcmp(s->entries[i].system->name, name) == 0) return s->entries[i].system->serial;
    const uint32_t number = s && of_phase ? reef__phase_find(s, name) : UINT32_MAX;
    return number == UINT32_MAX ? 0 : s->phases[number].serial;
}

COLD uint64_t reef__serial_by_name(const reef_world *w, const char *name, bool of_phase)
{
    const uint64_t serial = serial_named(w, name, of_phase);
    for (uint32_t i = 0; serial == 0 && i < w->state.absent_count; i++)
        if (w->state.absents[i].phase == of_phase && strcmp(w->state.absents[i].name, name) == 0)
            return w->state.absents[i].serial;
    return serial;
}

COLD unknown_system *reef__unknown_system_add(reef_world *w, const char *name, bool of_phase)
{
    state *s = &w->state;
    if (!reef__array_room(&w->family->memory, MEMORY_OTHER, &s->absents, &s->absent_room, s->absent_count + 1,
                          sizeof *s->absents))
        return NULL;
    unknown_system *a = &s->absents[s->absent_count++];
    memset(a, 0, sizeof *a);
    a->phase = of_phase;
    a->on = true;
    strcpy(a->name, name);
    mutex_lock(&w->family->lock);
    a->serial = ++w->family->query_serial;
    mutex_unlock(&w->family->lock);
    return a;
}

COLD void reef__system_state_hand_over(reef_world *w, uint64_t from, uint64_t to)
{
    reef__serial_hand_over(&w->state.runs, from, to);
    reef__serial_hand_over(&w->state.clocks, from, to);
    if (to) reef__events_take_over(w, from, to);
    else reef__events_leave(w, from);
}

COLD void reef__unknown_systems_resolve(reef_world *w)
{
    state *s = &w->state;
    for (uint32_t i = s->absent_count; i-- > 0;) {
        const uint64_t was = s->absents[i].serial, is = serial_named(w, s->absents[i].name, s->absents[i].phase);
        if (is == 0) continue;
        reef__system_state_hand_over(w, was, is);
        s->absents[i] = s->absents[--s->absent_count];
    }
}

COLD void reef__unknown_systems_end(reef_world *w)
{
    state *s = &w->state;
    reef__unknown_systems_resolve(w);
    while (s->absent_count) reef__system_state_hand_over(w, s->absents[--s->absent_count].serial, 0);
}

COLD bool reef__named_next(const reef_world *w, bool of_phase, named_serial *n)
{
    const schedule *s = w->schedule;
    named_serial best = {NULL, 0, false};
#define LOOK(x, number, is_on) \
    if ((n->name == NULL || strcmp(x, n->name) > 0) && (best.name == NULL || strcmp(x, best.name) < 0)) \
        best = (named_serial) { x, number, is_on }
    for (uint32_t i = 0; s && !of_phase && i < s->count; i++)
        LOOK(s->entries[i].system->name, s->entries[i].system->serial, s->entries[i].on);
    for (uint32_t i = 0; s && of_phase && i < s->phase_count; i++) LOOK(s->phases[i].name, s->phases[i].serial, true);
    for (uint32_t i = 0; i < w->state.absent_count; i++) {
        const unknown_system *a = &w->state.absents[i];
        if (a->phase == of_phase) LOOK(a->name, a->serial, a->on);
    }
#undef LOOK
    *n = best;
    return best.name != NULL;
}
