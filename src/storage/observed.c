/* Which changes may concern an observer. */
#include "storage/observed.h"
#include "storage/place.h"

bool reef__table_watched(const reef_world *w, uint32_t id)
{
    if (!observed(w)) return false;
    const shape *s = shape_of(w->family, id);
    bool found = (w->slow & SLOW_WATCHED) != 0;
    for (uint32_t i = 0; i < s->component_count && !found; i++) found = watched(w, s->component[i]);
    return found;
}

bool reef__leave_watched(const reef_world *w, uint32_t from, uint32_t to)
{
    if (!observed(w) || w->slow & SLOW_WATCHED) return observed(w);
    const observing_head *o = (const observing_head *)(const void *)w->observing;
    bool found = false;
    for (uint32_t i = 0; i < o->watched_count && !found; i++)
        found = slot_find(w, o->watched[i], from) != 0 && slot_find(w, o->watched[i], to) == 0;
    return found;
}

uint32_t reef__type_whom(const reef_world *w, const type *t, uint32_t kind)
{
    const bool no_old = t->hooked || t->size > OLD_BYTES || t->align > OLD_ALIGN || t->relation != 0;
    return observe_whom(w, t->id, kind, no_old && t->size);
}
