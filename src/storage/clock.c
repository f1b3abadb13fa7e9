/* Time as a part of the state: ticks, nanoseconds, and clocks of phases and systems.
 *
 * Clocks are kept by the serial numbers of the family, and hashed by the names that the world's schedule knows, or that are kept of what is
 * absent (src/system/absent_system.c): a clock of a system that is gone doesn't count, and neither does one at 0. */
#include "world/state_hash.h"
#include "system/absent_system.h"
#include "system/schedule.h"

bool serial_counts(const reef_world *w, uint64_t serial)
{
    const family *f = w->family;
    return (f->schedule_knows && f->schedule_knows(w, serial)) || absent_of(w, serial) != NULL;
}

/* Those of systems that are gone, which a removal and a restored state leave. */
static COLD void clocks_settle(const reef_world *w, state *s)
{
    for (uint32_t i = s->clock_count; i-- > 0;)
        if (!serial_counts(w, s->clocks[i].serial)) s->clocks[i] = s->clocks[--s->clock_count];
}

uint64_t *clock_own(reef_world *w, uint64_t serial)
{
    state *s = &w->state;
    for (uint32_t i = 0; i < s->clock_count; i++)
        if (s->clocks[i].serial == serial) return &s->clocks[i].value;
    if (s->clock_count == s->clock_room && !BUG(165)) clocks_settle(w, s);
    if (s->clock_count == s->clock_room) {
        const uint32_t room = s->clock_room ? s->clock_room * 2 : 4;
        struct clock *p = memory_resize(&w->family->memory, MEMORY_OTHER, s->clocks, s->clock_room * sizeof *p, room * sizeof *p, PLAIN_ALIGN);
        if (p == NULL) return NULL;
        s->clocks = p;
        s->clock_room = room;
    }
    s->clocks[s->clock_count] = (struct clock){serial, 0};
    return &s->clocks[s->clock_count++].value;
}

static uint64_t clock_read(const state *s, uint64_t serial)
{
    for (uint32_t i = 0; i < s->clock_count; i++)
        if (s->clocks[i].serial == serial) return s->clocks[i].value;
    return 0;
}

static uint64_t clock_piece(const state *s, uint64_t serial, const char *name, uint64_t kind)
{
    const uint64_t value = clock_read(s, serial);
    return value ? number_hash(number_hash(value) + number_hash(hash_bytes(name, strlen(name)) + kind)) : 0;
}

COLD uint64_t clocks_hash(const reef_world *w)
{
    const state *s = &w->state;
    const schedule *c = w->schedule;
    uint64_t sum = 0;
    for (uint32_t i = 0; c && s->clock_count && i < c->phase_count; i++) sum += clock_piece(s, c->phases[i].serial, c->phases[i].name, 1);
    for (uint32_t i = 0; c && s->clock_count && i < c->count; i++)
        sum += clock_piece(s, c->entries[i].system->serial, c->entries[i].system->name, 2);
    for (uint32_t i = 0; s->clock_count && i < s->absent_count; i++)
        sum += clock_piece(s, s->absents[i].serial, s->absents[i].name, s->absents[i].phase ? 1 : 2);
    if (s->ticks == 0 && s->time_ns == 0 && s->seed == 0 && sum == 0) return 0;
    const uint64_t h = number_hash(number_hash(number_hash(s->ticks) + s->time_ns) + s->seed) + sum;
    return h ? h : 1;
}
