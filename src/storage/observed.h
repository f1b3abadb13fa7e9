/* What storage and the public verbs tell observers. They do so through calls that the first observer of a family
 * sets. */
#ifndef REEF_STORAGE_OBSERVED_H
#define REEF_STORAGE_OBSERVED_H

#include "type/code.h"
#include "type/value.h"
#include "storage/error.h"
#include "storage/invalidate.h"
#include "storage/world_data.h"
#include "reef/observer.h"
#include "reef/term.h"
#include <stddef.h>

/* An observer. Only its number of holders ever changes. */
struct observer {
    uint32_t holders; /* number of schedules that hold it; guarded by the lock of the family */
    uint32_t events;
    uint64_t name_hash;
    uint64_t module; /* the id of the module that it belongs to; 0: none */
    char name[REEF_SYSTEM_NAME_MAX + 1];
    void (*function)(const reef_notice *notice);
    void *context;
    void (*context_free)(void *context);
    reef_component component;
    reef_entity target; /* of relations to this entity only; null: of all */
    bool collected, has_query;
    reef_query_desc query; /* without text */
    size_t bytes;          /* of this allocation; the conditions of the query's terms follow the struct */
};

/* Counts where the observer leads into code that comes and goes. */
INLINE void observer_hold(const struct observer *o, bool hold)
{
    const uintptr_t at[] = {(uintptr_t)o->function, (uintptr_t)o->context, (uintptr_t)o->context_free};
    reef__code_hold(at, sizeof at / sizeof *at, hold);
}

/* The calls that tell observers; a family has them from its first observer on. Nothing else leads to
 * src/observe/notice.c, and from there to queries, so that a program without observers links neither. (A minimal
 * program had 250 KiB, of which 145 came from this.) */
typedef struct observer_calls {
    bool (*change)(reef_world *w, reef_entity e, uint32_t to, const reef_value *values, uint32_t count);
    bool (*several)(reef_world *w, reef_entity e, const type *t, const void *leaves, const void *comes);
    bool (*destroy)(reef_world *w, reef_entity e);
    bool (*spawn)(reef_world *w, uint32_t id, const reef_value *values, uint32_t count, uint32_t n);
    void (*spawned)(reef_world *w, uint32_t id, const reef_value *values, uint32_t count, uint32_t n,
                    const reef_entity *given);
    void (*done)(reef_world *w, bool happened);
    bool (*keep)(reef_world *w, const type *t, void *slot);
    bool (*reserve_changes)(reef_world *w, const type *t, uint64_t n);
    bool (*reserve_deaths)(reef_world *w, uint64_t n);
    void (*open)(reef_world *w);
    void (*close)(reef_world *w);
    bool (*tell)(reef_world *w, reef_entity e, const type *t, uint32_t whom, void *value, const void *old);
    /* does what was recorded and calls the collected observers (reef__world_flush) */
    reef_status (*flush)(reef_world *w);
    /* adds to a failure that happens while an observer runs the name of the observer */
    void (*failure)(reef_world *w, reef_error *e);
    void (*forget)(reef_world *w);
    void (*drop)(reef_world *w);
    bool (*named)(const reef_world *w, const char *name);
    reef_status (*validate)(const reef_world *w, char *message, size_t size);
    /* src/change/spawn_row.h */
    bool (*spawn_row)(reef_world *w, const char *op, const shape *s, const reef_value *values, uint32_t count,
                      reef_entity *e);
} observer_calls;

/* Does the world have observers? */
INLINE bool observed(const reef_world *w) { return (w->slow & SLOW_OBSERVED) != 0; }
INLINE const observer_calls *observers_by(const reef_world *w) { return w->family->observer_calls; }
/* observing_end: the world ends. observing_restart: the world has another state; what observers haven't been told yet
 * is never told. */
INLINE void observing_end(reef_world *w)
{
    if (w->observing) observers_by(w)->drop(w);
}
INLINE void observing_restart(reef_world *w)
{
    if (w->observing) observers_by(w)->forget(w);
}

/* e is about to change: to table `to`, with these values. Removals are among the values, at least those of components
 * that aren't in tables. */
INLINE bool observe_change(reef_world *w, reef_entity e, uint32_t to, const reef_value *values, uint32_t count)
{
    return observers_by(w)->change(w, e, to, values, count);
}
/* e is about to get one more of several values of a type, or to lose one, or both; it keeps some. NULL: none comes, or
 * leaves. */
INLINE bool observe_several(reef_world *w, reef_entity e, const type *t, const void *leaves, const void *comes)
{
    return observers_by(w)->several(w, e, t, leaves, comes);
}
/* e is about to die. */
INLINE bool observe_destroy(reef_world *w, reef_entity e) { return observers_by(w)->destroy(w, e); }
/* observe_spawn: n entities are about to be made in table `id` with these values. observe_spawned: they were made with
 * these ids, which are alive. `given` NULL: the next ids (reef__ids_peek). */
INLINE bool observe_spawn(reef_world *w, uint32_t id, const reef_value *values, uint32_t count, uint32_t n)
{
    return observers_by(w)->spawn(w, id, values, count, n);
}
INLINE void observe_spawned(reef_world *w, uint32_t id, const reef_value *values, uint32_t count, uint32_t n,
                            const reef_entity *given)
{
    observers_by(w)->spawned(w, id, values, count, n, given);
}
INLINE void observe_done(reef_world *w, bool happened) { observers_by(w)->done(w, happened); }

/* The number of the world's set of observers, which changes with the set. It is the first member of a schedule. */
INLINE uint64_t observer_epoch(const reef_world *w)
{
    uint64_t epoch;
    memcpy(&epoch, w->schedule, sizeof epoch);
    return epoch;
}

/* What the fast path asks of the observers. This is the head of the struct in src/observe/observer_log.h. */
typedef struct observing_head {
    uint64_t epoch;         /* of the schedule's observers for which this was made */
    uint32_t watched_count; /* the watched components, by name: */
    uint32_t *watched;
    uint32_t kinds_count; /* the highest component with an entry in `asked` */
    uint32_t matches;     /* number of observers of queries */
    uint32_t depth;       /* how often observe_open was called without observe_close */
    bool cascading;       /* what observers asked for is being done */
    bool stuck;           /* that couldn't be done */
    bool room_for_one;    /* the log is empty and has room for a notice of one entity */
    uint16_t *asked;      /* by component: the kinds that immediate observers ask for; WHOM_LATER: collected ones */
    uint32_t round;
    reef_error failed; /* the first failure of an observer, or of telling one */
} observing_head;

/* Whom a change concerns: its kind, if immediate observers ask for it; `kind << WHOM_LATER`, if collected ones do. */
enum { WHOM_LATER = 8, WHOM_BY_PLAN = 1 << 16 };
INLINE uint32_t whom_now(uint32_t whom) { return whom & 0xFF; }
INLINE uint32_t whom_either(uint32_t whom) { return (whom | whom >> WHOM_LATER) & 0xFF; }

/* May a change of this component concern an observer? What nobody watches is changed as in a world without observers:
 * the caches of edges, of bundles and of lists remember nothing that is watched, or under another key. They are emptied
 * when observers come. */
INLINE bool watched(const reef_world *w, uint32_t component)
{
    if (LIKELY(!observed(w))) return false;
    if (w->slow & SLOW_WATCHED) return true;
    const observing_head *o = (const observing_head *)(const void *)w->observing;
    return component <= o->kinds_count && o->asked[component] != 0;
}
/* May one of these values concern an observer? */
INLINE bool values_watched(const reef_world *w, const reef_value *values, uint32_t count)
{
    bool found = (w->slow & SLOW_WATCHED) != 0;
    for (uint32_t i = 0; i < count && !found; i++) found = watched(w, values[i].component.id & ~BIT_DISABLED);
    return found;
}
/* May rows that are made or end in a table concern an observer, or one that leaves for another table? */
bool reef__table_watched(const reef_world *w, uint32_t id);
bool reef__leave_watched(const reef_world *w, uint32_t from, uint32_t to);

/* A value is about to be destroyed. If somebody is told of it, it is kept until then. */
INLINE bool observe_keep(reef_world *w, const type *t, void *slot) { return observers_by(w)->keep(w, t, slot); }
INLINE void value_leave(reef_world *w, const type *t, void *slot)
{
    if (LIKELY(!watched(w, t->id)) || !observe_keep(w, t, slot)) value_destroy(t, slot);
}

/* Reserves what observers need for n operations between here and observe_close, which then can't fail: n changes of one
 * component, or n deaths. */
INLINE bool observe_reserve_changes(reef_world *w, const type *t, uint64_t n)
{
    return observers_by(w)->reserve_changes(w, t, n);
}
INLINE bool observe_reserve_deaths(reef_world *w, uint64_t n) { return observers_by(w)->reserve_deaths(w, n); }
/* For worlds with or without observers. */
INLINE void observe_open(reef_world *w)
{
    if (observed(w)) observers_by(w)->open(w);
}
INLINE void observe_close(reef_world *w)
{
    if (observed(w)) observers_by(w)->close(w);
}

/* Is it known what the observers watch? Where it isn't, planning finds out and empties the caches. */
INLINE bool observers_known(const reef_world *w)
{
    const observing_head *o = (const observing_head *)(const void *)w->observing;
    return o != NULL && o->epoch == observer_epoch(w);
}

/* Whom a change of one plain component of one entity, which is watched, concerns, if it is told by no more than
 * observe_tell after it; 0: nobody. WHOM_BY_PLAN: it has to be planned (observe_change). `no_old`: the caller can't
 * give the old value. */
INLINE uint32_t observe_whom(const reef_world *w, uint32_t component, uint32_t kind, bool no_old)
{
    const observing_head *o = (const observing_head *)(const void *)w->observing;
    if (UNLIKELY(w->slow & SLOW_WATCHED)) {
        if (!observers_known(w) || o->matches + o->depth) return WHOM_BY_PLAN;
        if (component > o->kinds_count) return 0;
    }
    if (UNLIKELY(o->depth != 0)) return WHOM_BY_PLAN;
    const uint32_t whom = o->asked[component] & (kind | kind << WHOM_LATER);
    if (UNLIKELY(no_old && kind != REEF_ON_ADD && whom)) return WHOM_BY_PLAN;
    if (UNLIKELY(w->deferred.count | w->deferred.run) && !o->cascading) return WHOM_BY_PLAN;
    if (whom == whom_now(whom) || (o->room_for_one && !o->cascading && !w->flushing && w->deferring == 0)) return whom;
    return WHOM_BY_PLAN;
}
/* An old value that is kept on the stack until observers are told; larger ones are planned. */
enum { OLD_BYTES = 256, OLD_ALIGN = 16 };
typedef union old_value {
    max_align_t align;
    char at[OLD_BYTES];
} old_value;
/* The same for a type, if the caller keeps the old value there. */
uint32_t reef__type_whom(const reef_world *w, const type *t, uint32_t kind);
/* Tells these that a component came, was set or went. `value` and `old` (NULL: there is none): what it is, and was.
 * False: nobody was told, so that pointers are still good. */
INLINE bool observe_tell(reef_world *w, reef_entity e, const type *t, uint32_t whom, void *value, const void *old)
{
    return whom && observers_by(w)->tell(w, e, t, whom, value, old);
}

/* Were commands left behind by what the observers of an operation asked for? Then later commands wait. */
INLINE bool observers_stuck(const reef_world *w)
{
    return w->observing && ((const observing_head *)(const void *)w->observing)->stuck;
}
INLINE reef_status observing_validate(const reef_world *w, char *message, size_t size)
{
    return w->observing ? observers_by(w)->validate(w, message, size) : REEF_OK;
}

#endif
