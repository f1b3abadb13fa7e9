/* Observers: how operations that change a world tell of it, and when observers are called.
 *
 *   an operation begins    observe_change, observe_destroy ...: its notices are planned, with room for everything
 *   the operation
 *   an operation ends      observe_done: immediate observers are called
 *                          what observers asked for is done, in rounds
 *   a flush                collected observers are called
 *
 * In a world without observers an operation tests one flag (`observed`). Otherwise it plans first: what observers will
 * be told is written to a log, together with the values that will go. Without memory for that, the operation doesn't
 * begin. Observers are called when the operation is complete, so that the world is in a valid state whenever they look
 * at it.
 *
 * Several operations that are one for the caller stand between observe_open and observe_close: observers are called
 * after the last one. */
#ifndef REEF_OBSERVE_OBSERVER_H
#define REEF_OBSERVE_OBSERVER_H

#include "storage/multi_store.h"
#include "storage/place.h"
#include "storage/relation_index.h"
#include "query/query.h"
#include "query/query_answers.h"
#include "observe/observer_log.h"
#include "reef/observer.h"
#include "reef/relation.h"

/* The world's schedule has observers: brings its list of watchers up to date with the schedule. False: no memory. */
bool reef__observing_ready(reef_world *w);

/* To be called before the observers change: notices and commands that had no memory and wait for a flush are done. They
 * are for the observers that existed at that time, and the log refers to observers by their places. False: there still
 * is no memory. */
bool reef__observers_settled(reef_world *w);

/* Does this watcher's query match what lies at this place? */
INLINE bool watcher_matches(const watcher *x, uint32_t place)
{
    return x->q && place >= 2 * PLACE_EMPTY && reef__query_prepare_one(x->q) && reef__query_place_matches(x->q, place);
}

/* Is the notice for this observer? */
INLINE bool concerns(const observer_log *o, uint32_t number, const notice *n)
{
    const struct observer *x = o->watchers[number].o;
    return n->component == (x->has_query ? number : x->component.id) && ((n->kind & OF_MATCH) != 0) == x->has_query;
}

/* May a source have several relations of this type? */
INLINE bool several_relations(const type *t) { return t->relation && !(t->relation & REEF_EXCLUSIVE); }

INLINE const relation_value *relation_number(const reef_world *w, const type *t, reef_entity e, uint32_t i)
{
    return reef__store_nth(store_of(w, t->id), e, i);
}

/* Tells an observer of one entity, together with others of the same kind: at the latest when reef__batch_notify is
 * called. */
void reef__batch_add(reef_world *w, const struct observer *x, batch *b, uint32_t kind, reef_entity e,
                     reef_entity target, const void *old);
void reef__batch_notify(reef_world *w, const struct observer *x, batch *b);
/* Tells one collected observer the net effect of the log, for notices of these kinds (src/observe/net_effect.c). */
void reef__tell_net(reef_world *w, observer_log *o, uint32_t number, uint32_t kinds);

/* Frees the list of watchers, with their queries. */
void reef__listeners_free(reef_world *w, observer_log *o);

#endif
