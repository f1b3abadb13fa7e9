/* Observers are added and removed: their descriptions, their places in the schedule, and the list of watchers that
 * each world makes of them. */
#include "observe/observer.h"
#include "base/byte_hash.h"
#include "base/memory.h"
#include "base/platform.h"
#include "type/type.h"
#include "type/type_walk.h"
#include "storage/error.h"
#include "storage/family.h"
#include "storage/known_types.h"
#include "storage/observed.h"
#include "storage/world_data.h"
#include "change/command.h"
#include "change/spawn.h"
#include "query/query.h"
#include "query/query_text.h"
#include "query/value_term.h"
#include "system/schedule.h"
#include "system/system.h"
#include "observe/notice.h"
#include "observe/observer_log.h"
#include "reef/observer.h"
#include <stdio.h>

static COLD bool refuse_observer(reef_world *w, const char *op, const char *detail)
{
    reef__failure_detail(w, REEF_BAD_ARGUMENT, op, 0, detail);
    return false;
}

/* ---- descriptions ---- */

enum {
    OF_COMPONENTS = REEF_ON_ADD | REEF_ON_SET | REEF_ON_REMOVE,
    OF_QUERIES = REEF_ON_MATCH | REEF_ON_UNMATCH,
    OF_ALL = OF_COMPONENTS | OF_QUERIES | REEF_ON_DESTROY
};

static COLD bool check_events(reef_world *w, const char *op, const reef_observer_desc *d)
{
    const bool of_query = d->text || d->query;
    if (d->events == 0 || (d->events & ~(uint32_t)OF_ALL))
        return refuse_observer(w, op, "`events` must be one or more of REEF_ON_ADD ... REEF_ON_UNMATCH");
    if (d->text && d->query) return refuse_observer(w, op, "it has a query in `text` and another one in `query`");
    if ((d->events & OF_QUERIES) && (d->events & ~(uint32_t)OF_QUERIES))
        return refuse_observer(w, op, "an observer is for a component or for a query, not for both");
    if (of_query != ((d->events & OF_QUERIES) != 0))
        return refuse_observer(w, op, "a query needs REEF_ON_MATCH or REEF_ON_UNMATCH, and these need a query");
    if (of_query && d->component.id)
        return refuse_observer(w, op, "an observer is for a component or for a query, not for both");
    if ((d->events & OF_COMPONENTS) && d->component.id == 0)
        return refuse_observer(w, op, "the component is missing: only REEF_ON_DESTROY can be used without one");
    if (d->target.generation != 0 && (d->events & ~(uint32_t)OF_COMPONENTS))
        return refuse_observer(w, op, "an observer of relations to one target isn't for queries or destroyed entities");
    if (d->existing && !(d->events & (REEF_ON_ADD | REEF_ON_MATCH)))
        return refuse_observer(w, op, "`existing` needs REEF_ON_ADD or REEF_ON_MATCH");
    return true;
}

/* Reads the query. */
static COLD bool check_query(reef_world *w, const char *op, const reef_observer_desc *d, query_text *text)
{
    term_facts facts[REEF_TERMS_MAX];
    const reef_query_desc of_text = {.text = d->text};
    memset(text, 0, sizeof *text);
    if (!reef__query_read(w, op, d->query ? d->query : &of_text, text) || !reef__query_check(w, op, text, facts))
        return false;
    for (uint32_t i = 0; i < text->count; i++) {
        if (text->term[i].since != REEF_ALWAYS)
            return refuse_observer(w, op, "the query of an observer can't ask for changes");
        if (text->term[i].source.generation != 0 || text->term[i].target.generation != 0)
            return refuse_observer(w, op, "the query of an observer can't name an entity");
        if (facts[i].near) return refuse_observer(w, op, "the query of an observer has no 'near'");
        if (facts[i].target)
            return refuse_observer(w, op, "the query of an observer can't follow relations to other entities");
        text->term[i].each = false; /* an entity matches once, however many values it has */
    }
    return !reef__conditions_vary(text->term, text->count) ||
           refuse_observer(w, op, "the query of an observer has no parameters, since nobody could set them");
}

/* Makes room for an observer, with its query. */
static COLD struct observer *observer_room(reef_world *w, const query_text *text)
{
    const size_t bytes = sizeof(struct observer) + (text ? reef__conditions_bytes(text->term, text->count) : 0);
    struct observer *o = reef__memory_zeroed(&w->family->memory, MEMORY_OTHER, bytes);
    if (o == NULL) return NULL;
    o->bytes = bytes;
    if (text == NULL) return o;
    memcpy(o->query.terms, text->term, text->count * sizeof *text->term);
    o->query.entities = text->entities;
    o->has_query = true;
    reef__conditions_keep(o->query.terms, text->count, o + 1);
    return o;
}

/* Makes an observer that is in no schedule and has one holder. NULL: refused, and recorded. */
static COLD struct observer *observer_make(reef_world *w, const char *op, const reef_observer_desc *d)
{
    const reef_entity null = {0, 0};
    query_text text;
    if (!reef__system_name_allowed(d->name)) return reef__system_refuse_name(w, op, "an observer"), NULL;
    if (d->function == NULL) return refuse_observer(w, op, "an observer needs a function"), NULL;
    if (!check_events(w, op, d)) return NULL;
    const reef_status s = d->component.id ? reef__type_ready(w, d->component.id) : REEF_OK;
    if (s != REEF_OK) return reef__failure(w, s, op, d->component, null, 0), NULL;
    if (d->target.generation != 0 && reef__type_of(d->component.id)->relation == 0)
        return refuse_observer(w, op, "`target` needs a type of relations"), NULL;
    if (d->target.generation != 0 && !reef_is_alive(w, d->target))
        return reef__failure(w, REEF_NOT_ALIVE, op, d->component, d->target, 0), NULL;
    const bool of_query = (d->events & OF_QUERIES) != 0;
    if (of_query && !check_query(w, op, d, &text)) return NULL;
    struct observer *o = observer_room(w, of_query ? &text : NULL);
    if (o == NULL) return reef__failure(w, REEF_NO_MEMORY, op, d->component, null, 0), NULL;
    o->holders = 1;
    snprintf(o->name, sizeof o->name, "%s", d->name);
    o->name_hash = reef__hash_bytes(o->name, strlen(o->name));
    o->module = reef__module_of_new(w);
    o->function = d->function;
    o->context = d->context;
    o->context_free = d->context_free;
    o->events = d->events;
    o->component = d->component;
    o->target = d->target;
    o->collected = d->collected;
    observer_hold(o, true);
    return o;
}

/* ---- places ---- */

static const observer_entry *observer_find(const reef_world *w, reef_observer_id which, reef_status *status)
{
    const schedule *s = w->schedule;
    const uint32_t entry = reef__slot_entry(w, s ? s->observer_slots : NULL, s ? s->observer_slot_count : 0,
                                            (reef_system_id){which.index, which.generation, which.world}, status);
    return entry == ENTRY_NONE ? NULL : &s->observers[entry];
}

static reef_observer_id observer_handle(const reef_world *w, uint32_t entry)
{
    const reef_system_id x = reef__slot_handle(w->schedule->observer_slots, w->schedule->observers[entry].slot);
    return (reef_observer_id){x.index, x.generation, x.world};
}

static COLD bool observers_may_change(reef_world *w, const char *op)
{
    if (!w->running && w->locks == 0 && !w->flushing) return true;
    reef__refuse(w, REEF_LOCKED, op);
    return false;
}

COLD bool reef__observers_settled(reef_world *w)
{
    const bool waits = w->slow & SLOW_DEFERRED || (w->observing && w->observing->notice_count);
    if (!waits) return true;
    return reef__world_flush(w) != REEF_NO_MEMORY && (w->slow & SLOW_DEFERRED) == 0 &&
           (w->observing == NULL || w->observing->notice_count == 0);
}

/* The slot of a new observer. *again: its module made an observer of this name the last time, whose slot it is. */
static COLD uint32_t observer_slot(const reef_world *w, schedule *s, const struct observer *o, bool *again)
{
    const schedule *before = w->loading ? w->loading->before : NULL;
    const uint32_t was = before ? reef__observer_entry_named(before, o->name) : ENTRY_NONE;
    *again = was != ENTRY_NONE && s->observer_slots[before->observers[was].slot].entry == ENTRY_KEPT;
    if (!*again) return reef__slot_take(w, s->observer_slots, &s->observer_slot_count, s->observer_count);
    s->observer_slots[before->observers[was].slot].entry = s->observer_count;
    return before->observers[was].slot;
}

static COLD reef_status observer_join(reef_world *w, const char *op, struct observer *o, bool *again)
{
    char detail[REEF_DETAIL_MAX];
    if (reef__observer_named(w, o->name)) {
        snprintf(detail, sizeof detail, "another observer is named %s", o->name);
        return reef__failure_detail(w, REEF_EXISTS, op, 0, detail);
    }
    if (w->schedule->observer_count == REEF_OBSERVERS_MAX) return reef__refuse(w, REEF_LIMIT, op);
    schedule *s = reef__schedule_copy_more(w, 0, 1);
    if (s == NULL) return reef__refuse(w, REEF_NO_MEMORY, op);
    const uint32_t slot = observer_slot(w, s, o, again);
    s->observers[s->observer_count++] = (observer_entry){o, slot};
    reef__schedule_put(w, s);
    s->observer_epoch = s->epoch;
    mutex_lock(&w->family->lock);
    if (w->family->observer_calls == NULL) w->family->observer_calls = &reef__observers_called;
    mutex_unlock(&w->family->lock);
    reef__observers_follow(w);
    return REEF_OK;
}

static COLD reef_observer_id observer_create(reef_world *w, const char *op, const reef_observer_desc *desc)
{
    const reef_observer_id null = {0, 0, 0};
    if (!WORLD_GIVEN(w) || !observers_may_change(w, op)) return null;
    if (desc == NULL) return misuse_refuse(w, op, "the description is NULL"), null;
    if (!reef__observers_settled(w)) return reef__refuse(w, REEF_NO_MEMORY, op), null;
    w->declaring = desc->name;
    struct observer *o = observer_make(w, op, desc);
    w->declaring = NULL;
    if (o == NULL) return reef__module_refused(w), null;
    family *f = w->family;
    bool again = false;
    schedule *was = reef__schedule_hold(f, reef__schedule_ready(w));
    reef_status s = was ? observer_join(w, op, o, &again) : reef__refuse(w, REEF_NO_MEMORY, op);
    const reef_observer_id made = s == REEF_OK ? observer_handle(w, w->schedule->observer_count - 1) : null;
    /* on failure, return to the schedule that the world had */
    if (s == REEF_OK && (!reef__observing_ready(w) || (desc->existing && !again && !reef__observe_existing(w, o)))) {
        schedule *fresh = w->schedule;
        s = reef__refuse(w, REEF_NO_MEMORY, op);
        w->schedule = was;
        was = fresh;
        reef__observers_follow(w);
    }
    if (s != REEF_OK) o->context_free = NULL, reef__module_refused(w); /* its context stays the maker's */
    reef__schedule_leave(f, was);
    reef__observer_leave(f, o); /* releases the hold of the maker */
    return s == REEF_OK ? made : null;
}

COLD reef_observer_id reef_observer_new(reef_world *w, const reef_observer_desc *desc)
{
    return observer_create(w, "reef_observer_new", desc);
}

COLD reef_observer_id reef_observer_add(reef_world *w, const char *name, void (*function)(const reef_notice *notice),
                                        uint32_t events, reef_component c)
{
    return observer_create(w, "reef_observe",
                           &(reef_observer_desc){.name = name, .function = function, .events = events, .component = c});
}

COLD reef_status reef_observer_remove(reef_world *w, reef_observer_id which)
{
    static const char op[] = "reef_observer_remove";
    reef_status status = REEF_OK;
    if (!WORLD_GIVEN(w)) return REEF_BAD_ARGUMENT;
    if (!observers_may_change(w, op)) return REEF_LOCKED;
    const observer_entry *e = observer_find(w, which, &status);
    if (e == NULL) return reef__refuse(w, status, op);
    const uint32_t entry = (uint32_t)(e - w->schedule->observers);
    if (!reef__observers_settled(w)) return reef__refuse(w, REEF_NO_MEMORY, op);
    schedule *s = reef__schedule_copy_more(w, 0, 0);
    if (s == NULL) return reef__refuse(w, REEF_NO_MEMORY, op);
    s->observer_slots[s->observers[entry].slot].entry = ENTRY_NONE;
    s->observer_count--;
    memmove(s->observers + entry, s->observers + entry + 1, (s->observer_count - entry) * sizeof *s->observers);
    for (uint32_t i = entry; i < s->observer_count; i++) s->observer_slots[s->observers[i].slot].entry = i;
    reef__schedule_put(w, s);
    s->observer_epoch = s->epoch;
    reef__observers_follow(w);
    return REEF_OK;
}

COLD reef_observer_id reef_observer_find(const reef_world *w, const char *name)
{
    const uint32_t entry = WORLD_GIVEN(w) && name ? reef__observer_entry_named(w->schedule, name) : ENTRY_NONE;
    return entry == ENTRY_NONE ? (reef_observer_id){0, 0, 0} : observer_handle(w, entry);
}

COLD const char *reef_observer_name(const reef_world *w, reef_observer_id which)
{
    reef_status status;
    const observer_entry *e = WORLD_GIVEN(w) ? observer_find(w, which, &status) : NULL;
    return e ? e->observer->name : NULL;
}

/* ---- who listens ---- */

static void *array_of(reef_world *w, size_t count, size_t size)
{
    return reef__memory_zeroed(&w->family->memory, MEMORY_OTHER, (count + 1) * size);
}

static void array_free(reef_world *w, void *p, size_t count, size_t size)
{
    if (p) reef__memory_free(&w->family->memory, MEMORY_OTHER, p, (count + 1) * size);
}

COLD void reef__listeners_free(reef_world *w, observer_log *o)
{
    for (uint32_t i = 0; i < o->count; i++)
        if (o->watchers && o->watchers[i].handle.generation) (void)reef_query_free(w, o->watchers[i].handle);
    array_free(w, o->watchers, o->count, sizeof *o->watchers);
    array_free(w, o->before, o->count, sizeof *o->before);
    array_free(w, o->head.watched, o->count, sizeof *o->head.watched);
    array_free(w, o->head.asked, o->head.kinds_count, sizeof *o->head.asked);
}

static COLD void listener_note(observer_log *o, const struct observer *x)
{
    const uint32_t c = x->component.id;
    if (x->has_query) o->head.matches++;
    if (x->collected) o->collects = true;
    if (x->events & REEF_ON_DESTROY) o->births |= x->collected, o->deaths |= c == 0;
    if (c == 0) return;
    const uint32_t later = (x->events & OF_COMPONENT ? OF_COMPONENT : 0) | (x->events & REEF_ON_DESTROY);
    o->head.asked[c] |= (uint16_t)(x->collected ? later << WHOM_LATER : x->events);
    for (uint32_t i = 0; i < o->head.watched_count; i++)
        if (o->head.watched[i] == c) return;
    o->head.watched[o->head.watched_count++] = c;
    reef__ids_sort(o->head.watched, o->head.watched_count);
}

/* Makes the query of an observer in this world. False: no memory. */
static COLD bool listener_query(reef_world *w, watcher *x)
{
    if (!x->o->has_query) return true;
    const reef_error was = w->error;
    x->q = reef__query_make(w, &x->o->query);
    x->handle = reef__query_handle(x->q);
    const bool short_of_memory = x->q == NULL && w->error.status == REEF_NO_MEMORY;
    w->error = was;
    return !short_of_memory;
}

static COLD bool listeners_make(reef_world *w, observer_log *o)
{
    const schedule *s = w->schedule;
    uint32_t most = 0;
    o->count = s->observer_count;
    for (uint32_t i = 0; i < s->observer_count; i++)
        if (s->observers[i].observer->component.id > most) most = s->observers[i].observer->component.id;
    o->head.kinds_count = most;
    o->watchers = array_of(w, o->count, sizeof *o->watchers);
    o->before = array_of(w, o->count, sizeof *o->before);
    o->head.watched = array_of(w, o->count, sizeof *o->head.watched);
    o->head.asked = array_of(w, o->head.kinds_count, sizeof *o->head.asked);
    if (!o->watchers || !o->before || !o->head.watched || !o->head.asked) return false;
    for (uint32_t i = 0; i < o->count; i++) {
        const struct observer *x = s->observers[i].observer;
        o->watchers[i].o = x;
        o->watchers[i].whom = x->collected ? x->events << WHOM_LATER : x->events;
        listener_note(o, x);
        if (!listener_query(w, &o->watchers[i])) return false;
    }
    o->head.epoch = s->observer_epoch;
    return true;
}

static COLD bool observing_make(reef_world *w)
{
    observer_log fresh;
    memset(&fresh, 0, sizeof fresh - sizeof fresh.batch);
    if (w->observing == NULL)
        w->observing = reef__memory_zeroed(&w->family->memory, MEMORY_OTHER, sizeof *w->observing);
    if (w->observing == NULL) return false;
    observer_log *o = w->observing;
    ASSERT(o->notice_count == 0 || o->head.epoch == 0);
    if (!listeners_make(w, &fresh)) return reef__listeners_free(w, &fresh), false;
    reef__listeners_free(w, o);
    fresh.head.depth = o->head.depth;
    fresh.head.cascading = o->head.cascading;
    fresh.head.stuck = o->head.stuck;
    memcpy(o, &fresh, offsetof(observer_log, notices)); /* the log, which begins there, stays */
    if (o->head.matches == 0 && !o->deaths && !o->births) w->slow &= ~SLOW_WATCHED;
    edges_forget(w);
    reef__sets_distrust(w);
    reef__bundles_distrust(w);
    reef__invalidate(w, INVALIDATE_CONDITION_CHANGED);
    return true;
}

bool reef__observing_ready(reef_world *w)
{
    return LIKELY(w->observing && w->observing->head.epoch == w->schedule->observer_epoch) || observing_make(w);
}
