/* What one world remembers for its observers: who watches what, and the log of notices that they have yet to get.
 * observer.c keeps the first part, notice.c the second. */
#ifndef REEF_OBSERVE_OBSERVER_LOG_H
#define REEF_OBSERVE_OBSERVER_LOG_H

#include "storage/command_buffer.h"
#include "storage/observed.h"
#include "storage/value_arena.h"
#include "query/query.h"
#include "reef/observer.h"

enum {
    NOTICE_BORN = 64,         /* an entity that was made since the last flush */
    OLD_VALUES_BYTES = 4096,  /* the least size of a piece of memory for old values */
    OLD_VALUES_KEPT = 1 << 16 /* the largest such piece that is kept */
};
#define OF_COMPONENT ((uint32_t)(REEF_ON_ADD | REEF_ON_SET | REEF_ON_REMOVE))
#define OF_MATCH ((uint32_t)(REEF_ON_MATCH | REEF_ON_UNMATCH))

typedef struct notice {
    uint64_t first;     /* its first entity, in `entities` */
    const void *old;    /* the old value of its only entity; NULL: none */
    reef_entity target; /* of a relation, which has a notice of its own; otherwise null */
    uint32_t kind;      /* reef_observed, or NOTICE_BORN */
    uint32_t component; /* for a match: the watcher's number */
    uint32_t count;
    bool awaited; /* the value is to be moved to `old` when it leaves its row */
    bool held;    /* it has been moved there, and is destroyed with the log */
} notice;

typedef struct watcher { /* an observer in this world */
    const struct observer *o;
    reef_query handle;
    uint32_t whom; /* its events, for those that it is told of at once or, if it is collected, later (WHOM_LATER) */
    query *q;      /* NULL: it has no query, or this world doesn't know its types */
} watcher;

typedef struct net { /* what one notice says of one entity, for a collected observer */
    reef_entity entity;
    reef_entity target; /* of a relation, where a source may have several; otherwise null */
    uint64_t number;    /* its place among all that the observer gets */
    const void *old;
    uint32_t kind, rank;
} net;

typedef struct batch { /* what one call tells one observer; all of one kind */
    uint32_t count, kind;
    bool existing;
    reef_entity entity[REEF_BLOCK_ROWS], target[REEF_BLOCK_ROWS];
    const void *old[REEF_BLOCK_ROWS];
} batch;

typedef struct observer_log {
    observing_head head;
    watcher *watchers; /* in the order in which they are called */
    uint32_t count;
    bool *before;                  /* for each watcher: whether it matched the operation's entity */
    bool deaths, births, collects; /* whether somebody watches the end of all entities; needs births; is collected */
    notice *notices;
    uint64_t notice_count, notice_room, told;
    reef_entity *entities;
    uint64_t entity_count, entity_room;
    uint64_t references; /* sum of `count` over all notices */
    value_arena *old_values;
    net *nets;
    uint64_t net_room;
    uint64_t op_notices, op_entities; /* where the running operation's begin */
    bool op_one;                      /* the operation changes one entity, entities[op_entities] */
    bool planned;                     /* observing_done has to follow */
    commands *recording;              /* where calls were recorded before observers were called */
    const char *calling;              /* reef_world.calling before observers were called */
    batch batch;
} observer_log;

#endif
