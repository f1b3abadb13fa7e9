/* Pictures of a world that is a part of a larger one: which of the neighbours' entities they show, and how far
 * questions may reach.
 *
 *     own cells │ ghosts │ nothing is known        a question around an entity of an own cell is right
 *          ○────┼────────┼─►  reach                as long as it ends where ghosts end
 *
 * Whether a question reaches too far depends on the question alone, so it is refused on any number of ranks, also on
 * one. The questions can be asked by several threads at the same time, and they have no place for a status: how far the
 * furthest one reached is kept until somebody asks for it. */
#include "storage/error.h"
#include "storage/library.h"
#include "index/picture.h"
#include "index/place_search.h"
#include "reef/place.h"
#include "reef/type_info.h"

/* The square root, as exact as a message needs it. */
static COLD double root_of(double squared)
{
    double x = squared > 1 ? squared : 1;
    if (!(squared > 0) || squared - squared != 0) return squared;
    for (double next; (next = (x + squared / x) / 2) < x;) x = next;
    return x;
}

bool reef__ask_reaches(const reef_place *p, double radius, double squared)
{
    reef_place *own = (reef_place *)(uintptr_t)p;
    const double left = p->world->place_reach - radius;
    if (left >= 0 && squared <= left * left) return true;
    const double reach = radius + root_of(squared);
    mutex_lock(&own->lock);
    if (reach > own->beyond) own->beyond = reach;
    mutex_unlock(&own->lock);
    return false;
}

COLD reef_status reef_place_ghosts(reef_world *w, reef_component ghost, double reach)
{
    static const char op[] = "reef_place_ghosts";
    const type *t = reef__type_of(ghost.id);
    reef_status s = REEF_OK;
    if (!WORLD_GIVEN_TO(w, op)) return REEF_BAD_ARGUMENT;
    if (t == NULL) s = REEF_UNKNOWN_TYPE;
    else if (t->size != 0 || !in_table(t) || t->relation) s = refuse_because(w, "ghosts are marked by a tag");
    else if (!(reach >= 0)) s = refuse_because(w, "the reach is negative, or no number");
    else if (w->running || w->locks) s = REEF_LOCKED;
    if (s != REEF_OK) return reef__failure(w, s, op, ghost, (reef_entity){0, 0}, 0);
    while (w->pictures) reef__picture_leave(w->pictures);
    w->place_ghost = reach > 0 ? ghost.id : 0;
    w->place_reach = reach;
    return REEF_OK;
}

COLD double reef_place_beyond(reef_world *w, reef_component *component)
{
    static const char op[] = "reef_place_beyond";
    double beyond = 0;
    if (component) *component = (reef_component){0};
    if (!WORLD_GIVEN_TO(w, op)) return 0;
    if (w->running) return reef__refuse(w, REEF_LOCKED, op), 0;
    for (reef_place *p = w->pictures; p; p = p->next) {
        const reef_component c = {p->type->of->id};
        const bool further = p->beyond > beyond;
        const bool same = p->beyond > 0 && p->beyond >= beyond && !further;
        if (component && (further || (same && strcmp(reef_type_name(c), reef_type_name(*component)) < 0)))
            *component = c;
        if (further) beyond = p->beyond;
        p->beyond = 0;
    }
    return beyond;
}
