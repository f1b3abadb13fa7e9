/* Numbers under serial numbers, which are part of the state.
 *
 * The family gives each phase, system, query and reader a serial number that nobody else has. The world's schedule
 * knows the names of systems and phases, and for absent systems the state keeps them (src/system/unknown_system.c).
 * Removing a system, or restoring a state, leaves numbers behind that nobody asks for any more. They don't count, and
 * neither does a clock at 0; so a list is cleared of them only before it would grow. */
#include "storage/serial_list.h"
#include "storage/world_data.h"

bool reef__serial_counts(const reef_world *w, uint64_t serial)
{
    const family *f = w->family;
    return (f->schedule_knows && f->schedule_knows(w, serial)) || reef__unknown_system_of(w, serial) != NULL;
}

uint64_t *reef__serial_find(const serial_list *l, uint64_t serial)
{
    for (uint32_t i = 0; i < l->count; i++)
        if (l->of[i].serial == serial) return &l->of[i].number;
    return NULL;
}

uint64_t reef__serial_read(const serial_list *l, uint64_t serial)
{
    const uint64_t *number = reef__serial_find(l, serial);
    return number ? *number : 0;
}

uint64_t *reef__serial_own(reef_world *w, serial_list *l, uint64_t serial,
                           bool (*counts)(const reef_world *w, uint64_t serial))
{
    uint64_t *number = reef__serial_find(l, serial);
    if (number) return number;
    for (uint32_t i = l->count == l->room && counts ? l->count : 0; i-- > 0;)
        if (!counts(w, l->of[i].serial)) l->of[i] = l->of[--l->count];
    if (!reef__array_room(&w->family->memory, MEMORY_OTHER, &l->of, &l->room, l->count + 1, sizeof *l->of)) return NULL;
    l->of[l->count] = (serial_number){serial, 0};
    return &l->of[l->count++].number;
}

uint64_t *reef__clock_own(reef_world *w, uint64_t serial)
{
    return reef__serial_own(w, &w->state.clocks, serial, reef__serial_counts);
}

void reef__serial_hand_over(serial_list *l, uint64_t from, uint64_t to)
{
    const bool taken = to == 0 || reef__serial_find(l, to);
    for (uint32_t i = 0; i < l->count; i++) {
        if (l->of[i].serial != from) continue;
        if (taken) l->of[i] = l->of[--l->count];
        else l->of[i].serial = to;
        return;
    }
}

COLD unknown_system *reef__unknown_system_of(const reef_world *w, uint64_t serial)
{
    for (uint32_t i = 0; i < w->state.absent_count; i++)
        if (w->state.absents[i].serial == serial) return &w->state.absents[i];
    return NULL;
}
