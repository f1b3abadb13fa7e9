/* What storage and the verbs tell observers, by the calls that the first observer of a family brings along. */
#ifndef REEF_STORAGE_OBSERVED_H
#define REEF_STORAGE_OBSERVED_H

#include "base/platform.h"
#include "type/type.h"
#include "type/value.h"
#include "storage/command_buffer.h"
#include "storage/error.h"
#include "storage/world_data.h"
#include "reef/observer.h"

/* Immutable but for its count of holders. */
struct observer {
    uint32_t holders; /* schedules; under the family's lock */
    uint32_t events;
    uint64_t name_hash;
    char name[REEF_SYSTEM_NAME_MAX + 1];
    void (*function)(const reef_notice *notice);
    void *context;
    void (*context_free)(void *context);
    reef_component component;
    bool collected, has_query;
    reef_query_desc query; /* without text */
};

/* What observers are told by; a family has it from its first observer on. Nothing else leads to
 * src/observe/notice.c, and from there to queries: so a program without observers carries neither. (A hello was 250
 * KiB, of which 145 hung on this.) */
typedef struct observer_calls {
    bool (*change)(reef_world *w, reef_entity e, uint32_t to, const reef_value *values, uint32_t count);
    bool (*several)(reef_world *w, reef_entity e, const type *t);
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
    bool (*told)(reef_world *w, reef_entity e, uint32_t component, void *value, bool remove);
    void (*told_more)(reef_world *w);
    reef_status (*flush)(reef_world *w);
    void (*failure)(reef_world *w, reef_error *e);
    void (*forget)(reef_world *w);
    void (*drop)(reef_world *w);
    bool (*named)(const reef_world *w, const char *name);
    reef_status (*validate)(const reef_world *w, char *message, size_t size);
} observer_calls;

/* Does the world have observers? */
INLINE bool observed(const reef_world *w) { return (w->slow & SLOW_OBSERVED) != 0; }
INLINE const observer_calls *observers_by(const reef_world *w) { return w->family->observer_calls; }
/* The world ends. The state is another one: what wasn't told yet is never told. */
INLINE void observing_end(reef_world *w)
{
    if (w->observing) observers_by(w)->drop(w);
}
INLINE void observing_restart(reef_world *w)
{
    if (w->observing) observers_by(w)->forget(w);
}

/* e is about to be changed: to table `to`, with these values (removals included, at least of what isn't in tables). */
INLINE bool observe_change(reef_world *w, reef_entity e, uint32_t to, const reef_value *values, uint32_t count)
{
    return observers_by(w)->change(w, e, to, values, count);
}
/* e is about to get one more, or lose one, of several values of a type; it keeps some. */
INLINE bool observe_several(reef_world *w, reef_entity e, const type *t) { return observers_by(w)->several(w, e, t); }
/* e is about to die. */
INLINE bool observe_destroy(reef_world *w, reef_entity e) { return observers_by(w)->destroy(w, e); }
/* n entities are about to be made in table `id` with these values; they have been made, by these ids, which are
 * alive or NULL: the next ones (reef__ids_peek). */
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

/* A value comes to its end: where it is told of it is kept until then. */
INLINE bool observe_keep(reef_world *w, const type *t, void *slot) { return observers_by(w)->keep(w, t, slot); }
INLINE void value_leave(reef_world *w, const type *t, void *slot)
{
    if (LIKELY(!observed(w)) || !observe_keep(w, t, slot)) value_destroy(t, slot);
}

/* Room for n operations between here and observe_close, which then can't fail for what observers need: of changes of
 * one component; of deaths. */
INLINE bool observe_reserve_changes(reef_world *w, const type *t, uint64_t n)
{
    return observers_by(w)->reserve_changes(w, t, n);
}
INLINE bool observe_reserve_deaths(reef_world *w, uint64_t n) { return observers_by(w)->reserve_deaths(w, n); }
/* Of any world. */
INLINE void observe_open(reef_world *w)
{
    if (observed(w)) observers_by(w)->open(w);
}
INLINE void observe_close(reef_world *w)
{
    if (observed(w)) observers_by(w)->close(w);
}

/* The number of the world's observers as its schedule has them, which changes with them: the first member of a
 * schedule. */
INLINE uint64_t observer_epoch(const reef_world *w)
{
    uint64_t epoch;
    memcpy(&epoch, w->schedule, sizeof epoch);
    return epoch;
}

/* What the straight path asks; the head of what is in src/observe/observer_log.h. */
typedef struct observing_head {
    uint64_t epoch;       /* of the schedule's observers, as they are here */
    uint32_t kinds_count; /* the highest component of which there is something in `now` and `later` */
    uint32_t matches;     /* observers of queries */
    uint32_t depth;       /* observe_open */
    bool cascading;       /* what observers asked for is being done */
    bool stuck;           /* and couldn't be */
    uint8_t *now, *later; /* by component: what immediate, and what collected observers ask */
    /* the component that came last on the straight path where one observer is told of it; 0: none. Then */
    uint32_t lately;
    const struct observer *only; /* who is told, */
    reef_notice only_notice;     /* what, */
    reef_entity only_entity;     /* and of whom */
    uint32_t round;
    reef_error failed; /* the first failure of an observer or for one */
} observing_head;

/* May a table component come, or a tag go, with nothing more than observe_told behind it? */
INLINE bool observe_straight(const reef_world *w, uint32_t component)
{
    const observing_head *o = (const observing_head *)(const void *)w->observing;
    if (UNLIKELY(o == NULL || o->epoch != observer_epoch(w) || o->matches + o->depth)) return false;
    if (component > o->kinds_count) return true;
    return o->later[component] == 0 && (o->cascading || (w->deferred.count == 0 && w->deferred.run == 0));
}
/* Does nobody ask for the value that goes? */
INLINE bool observe_unasked(const reef_world *w, uint32_t component)
{
    const observing_head *o = (const observing_head *)(const void *)w->observing;
    return component > o->kinds_count || !(o->now[component] & REEF_ON_REMOVE);
}
/* It came; it went. False: nobody was told, so that pointers are good still. */
INLINE bool observe_told(reef_world *w, reef_entity e, uint32_t component, void *value, bool remove)
{
    return observers_by(w)->told(w, e, component, value, remove);
}

/* A table component comes once more of which one observer alone was told lately: may it, with nothing more than
 * observe_lately_told behind it? (A list of observers to go through and a notice to fill in made 1.3 times as many
 * instructions of an add.) */
INLINE bool observe_lately(const reef_world *w, uint32_t component)
{
    const observing_head *o = (const observing_head *)(const void *)w->observing;
    return LIKELY(o != NULL && o->lately == component) &&
           LIKELY((o->depth | o->cascading | w->deferred.count | w->deferred.run) == 0);
}
/* It came. Pointers aren't good any more. */
INLINE void observe_lately_told(reef_world *w, reef_entity e, const void *value)
{
    observing_head *o = (observing_head *)(void *)w->observing;
    commands *const recording = w->commands;
    o->round = 0;
    if (LIKELY(!w->flushing)) o->failed.status = REEF_OK, o->stuck = false;
    o->only_entity = e;
    o->only_notice.values = value;
    w->commands = &w->deferred; /* as observers_enter; no loop is open */
    w->deferring++;
    w->locks = 1;
    w->notifying = o->only;
    o->only->function(&o->only_notice);
    w->notifying = NULL;
    w->commands = recording;
    w->deferring--;
    w->locks = 0;
    if (UNLIKELY((w->deferred.count | w->deferred.run) != 0 || o->failed.status != REEF_OK))
        observers_by(w)->told_more(w);
}

/* What is recorded is done, and collected observers are called. (reef__world_flush) */
INLINE reef_status observed_flush(reef_world *w) { return observers_by(w)->flush(w); }
/* Commands were left behind by what an operation's observers asked for: those behind it wait. */
INLINE bool observers_stuck(const reef_world *w)
{
    return w->observing && ((const observing_head *)(const void *)w->observing)->stuck;
}
/* A failure while an observer runs: it gets the observer's name, and is kept. */
INLINE void observer_failure(reef_world *w, reef_error *e) { observers_by(w)->failure(w, e); }
INLINE reef_status observing_validate(const reef_world *w, char *message, size_t size)
{
    return w->observing ? observers_by(w)->validate(w, message, size) : REEF_OK;
}

#endif
