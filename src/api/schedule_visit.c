/* Visits what a schedule contains. Nothing is allocated: which system waits for which is found by comparing systems, as
 * the explanation of a schedule does. What a system touches is sorted by kind and type name, so that it doesn't depend
 * on the ids of types. */
#include "storage/observed.h"
#include "system/schedule.h"
#include "system/system.h"
#include "reef/schedule.h"
#include "reef/control.h"

/* Each component that a system uses gives at most three: data, sent and received events. */
enum { TOUCHES_SHOWN = 3 * REEF_TERMS_MAX + 4 * REEF_TOUCHES_MAX };

typedef struct touch_list {
    reef_touch touch[TOUCHES_SHOWN];
    uint32_t count;
} touch_list;

static COLD const char *touch_name(const reef_touch *t)
{
    const type *x = reef__type_of(t->type.id);
    return x ? x->name : "";
}

/* Puts a touch where it belongs, unless it is there. */
static COLD void touch_list_put(touch_list *l, reef_touch_kind kind, uint32_t component)
{
    const reef_touch t = {kind, {component}};
    uint32_t at = l->count;
    for (; at > 0; at--) {
        const reef_touch *x = &l->touch[at - 1];
        const int order = strcmp(touch_name(x), touch_name(&t));
        if (x->kind == kind && order == 0) return;
        if (x->kind < kind || (x->kind == kind && order < 0)) break;
    }
    memmove(&l->touch[at + 1], &l->touch[at], (l->count - at) * sizeof t);
    l->touch[at] = t;
    l->count++;
}

static COLD void touches_list(touch_list *l, const struct system *x)
{
    l->count = 0;
    for (uint32_t i = 0; i < x->access_count; i++) {
        const struct access a = x->access[i];
        const bool sums = reef__system_touches(x, REEF_SUMS, a.component);
        if (a.use & ACCESS_WRITE) touch_list_put(l, sums ? REEF_SUMS : REEF_WRITES, a.component);
        else if (a.use & ACCESS_READ) touch_list_put(l, REEF_READS, a.component);
        if (a.use & ACCESS_SEND) touch_list_put(l, REEF_SENDS, a.component);
        if (a.use & ACCESS_RECEIVE) touch_list_put(l, REEF_RECEIVES, a.component);
    }
    for (uint32_t i = 0; i < x->touch_count; i++)
        if (x->touches[i].kind >= REEF_SPAWNS) touch_list_put(l, x->touches[i].kind, x->touches[i].type.id);
}

COLD bool reef_visit_systems(const reef_world *w, reef_system_visitor visit, void *context)
{
    const schedule *s = WORLD_GIVEN(w) ? w->schedule : NULL;
    touch_list touches;
    uint32_t waits[REEF_SYSTEMS_MAX];
    if (s == NULL || visit == NULL) return w != NULL && visit != NULL;
    for (uint32_t i = 0; i < s->count; i++) {
        const schedule_entry *e = &s->entries[s->order[i]];
        const struct system *x = e->system;
        reef_system_info info = {.name = x->name,
                                 .phase = s->phases[e->phase].name,
                                 .module = reef__module_name(s, x->module),
                                 .on = e->on,
                                 .split = x->split,
                                 .main_thread = x->main_thread,
                                 .interval_ns = x->interval_ns};
        info.system = reef_system_find(w, x->name);
        touches_list(&touches, x);
        info.touches = touches.touch;
        info.touch_count = touches.count;
        info.waits_for = waits;
        for (uint32_t k = s->phases[e->phase].first; k < i; k++)
            if (reef__systems_collide(s->entries[s->order[k]].system, x)) waits[info.waits_for_count++] = k;
        world_hold(w);
        const bool on = visit(context, &info);
        world_let_go(w);
        if (!on) return false;
    }
    return true;
}

COLD bool reef_visit_observers(const reef_world *w, reef_observer_visitor visit, void *context)
{
    const schedule *s = WORLD_GIVEN(w) ? w->schedule : NULL;
    if (s == NULL || visit == NULL) return w != NULL && visit != NULL;
    for (uint32_t i = 0; i < s->observer_count; i++) {
        const struct observer *o = s->observers[i].observer;
        const reef_observer_info info = {.observer = reef_observer_find(w, o->name),
                                         .name = o->name,
                                         .module = reef__module_name(s, o->module),
                                         .events = o->events,
                                         .component = o->component,
                                         .collected = o->collected};
        world_hold(w);
        const bool on = visit(context, &info);
        world_let_go(w);
        if (!on) return false;
    }
    return true;
}
