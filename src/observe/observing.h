/* The memory of observers in one world: who listens, and what was told. */
#ifndef REEF_OBSERVING_H
#define REEF_OBSERVING_H

#include "observe/observer.h"

enum {
    NOTICE_BORN = 64, /* an entity that didn't live at the last flush */
    OLDS_BYTES = 4096, OLDS_KEPT = 1 << 16 /* of a piece of memory for old values: the least; the most that is kept */
};
#define OF_COMPONENT ((uint32_t)(REEF_ON_ADD | REEF_ON_SET | REEF_ON_REMOVE))
#define OF_MATCH ((uint32_t)(REEF_ON_MATCH | REEF_ON_UNMATCH))

typedef struct notice {
    uint64_t    first;     /* of its entities in the log */
    const void *old;       /* of the only one; NULL: none */
    uint32_t    kind;      /* reef_observed, or NOTICE_BORN */
    uint32_t    component; /* of a match: the watcher's number */
    uint32_t    count;
    bool        awaited;   /* the value is moved to `old` when it leaves; */
    bool        held;      /* it was, and ends with the log */
} notice;

typedef struct watcher { /* an observer in this world */
    const struct observer *o;
    reef_query handle;
    query     *q; /* NULL: it has none, or this world doesn't know its types */
} watcher;

typedef struct olds { /* a piece of memory for old values; they follow */
    struct olds *next;
    size_t       bytes, used;
} olds;

typedef struct net { /* what the log says of an entity to one collected observer */
    reef_entity entity;
    uint64_t    number; /* of the notice */
    const void *old;
    uint32_t    kind, rank;
} net;

typedef struct batch { /* of one kind for one observer */
    uint32_t    count, kind;
    reef_entity entity[REEF_BLOCK_ROWS];
    const void *old[REEF_BLOCK_ROWS];
} batch;

typedef struct observing {
    observing_head head;
    watcher  *watchers; /* in order */
    uint32_t  count, watched_count;
    uint32_t *watched;  /* components, by name */
    bool     *before;   /* by watcher: what the operation's entity matched */
    bool      deaths, births, collects; /* somebody asks who dies; who was born; some observer is collected */
    notice   *notices;
    uint64_t  notice_count, notice_room, told;
    reef_entity *entities;
    uint64_t  entity_count, entity_room;
    uint64_t  references; /* entities of all notices */
    olds     *olds;
    net      *nets;
    uint64_t  net_room;
    uint64_t  op_notices, op_entities; /* where those of this operation begin */
    bool      op_one;    /* it is of entities[op_entities] */
    bool      planned;   /* observe_done belongs to a plan */
    uint32_t  round;
    commands *recording; /* where calls were recorded before the observers' turn */
    reef_error failed;   /* the first failure of an observer or for one */
    const struct observer *only; /* of head.lately: who is told, */
    reef_notice only_notice;     /* what, */
    reef_entity only_entity;     /* and of whom */
    batch     batch;
} observing;

/* A table component comes once more of which one observer alone was told lately: may it, with nothing more than observe_lately_told behind
 * it? (A list of observers to go through and a notice to fill in made 1.3 times as many instructions of an add.) */
INLINE bool observe_lately(const reef_world *w, uint32_t component)
{
    const observing *o = w->observing;
    return LIKELY(o != NULL && o->head.lately == component) &&
           LIKELY((o->head.depth | o->head.cascading | w->deferred.count | w->deferred.run) == 0);
}
/* It came. Pointers aren't good any more. */
INLINE void observe_lately_told(reef_world *w, reef_entity e, const void *value)
{
    observing *o = w->observing;
    commands *const recording = w->commands;
    o->round = 0;
    if (LIKELY(!w->flushing)) o->failed.status = REEF_OK, o->head.stuck = false;
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
    if (UNLIKELY((w->deferred.count | w->deferred.run) != 0 || o->failed.status != REEF_OK)) observers_by(w)->told_more(w);
}

/* Its watchers end. (src/observe/observer.c) */
void listeners_free(reef_world *w, observing *o);

#endif
