/* The memory of observers in one world: who listens, and what was told. */
#ifndef REEF_OBSERVE_OBSERVING_H
#define REEF_OBSERVE_OBSERVING_H

#include "storage/command_buffer.h"
#include "storage/observed.h"
#include "query/query.h"
#include "reef/observer.h"

enum {
    NOTICE_BORN = 64, /* an entity that didn't live at the last flush */
    OLDS_BYTES = 4096,
    OLDS_KEPT = 1 << 16 /* of a piece of memory for old values: the least; the most that is kept */
};
#define OF_COMPONENT ((uint32_t)(REEF_ON_ADD | REEF_ON_SET | REEF_ON_REMOVE))
#define OF_MATCH ((uint32_t)(REEF_ON_MATCH | REEF_ON_UNMATCH))

typedef struct notice {
    uint64_t first;     /* of its entities in the log */
    const void *old;    /* of the only one; NULL: none */
    uint32_t kind;      /* reef_observed, or NOTICE_BORN */
    uint32_t component; /* of a match: the watcher's number */
    uint32_t count;
    bool awaited; /* the value is moved to `old` when it leaves; */
    bool held;    /* it was, and ends with the log */
} notice;

typedef struct watcher { /* an observer in this world */
    const struct observer *o;
    reef_query handle;
    query *q; /* NULL: it has none, or this world doesn't know its types */
} watcher;

typedef struct olds { /* a piece of memory for old values; they follow */
    struct olds *next;
    size_t bytes, used;
} olds;

typedef struct net { /* what the log says of an entity to one collected observer */
    reef_entity entity;
    uint64_t number; /* of the notice */
    const void *old;
    uint32_t kind, rank;
} net;

typedef struct batch { /* of one kind for one observer */
    uint32_t count, kind;
    reef_entity entity[REEF_BLOCK_ROWS];
    const void *old[REEF_BLOCK_ROWS];
} batch;

typedef struct observing {
    observing_head head;
    watcher *watchers; /* in order */
    uint32_t count, watched_count;
    uint32_t *watched;             /* components, by name */
    bool *before;                  /* by watcher: what the operation's entity matched */
    bool deaths, births, collects; /* somebody asks who dies; who was born; some observer is collected */
    notice *notices;
    uint64_t notice_count, notice_room, told;
    reef_entity *entities;
    uint64_t entity_count, entity_room;
    uint64_t references; /* entities of all notices */
    olds *olds;
    net *nets;
    uint64_t net_room;
    uint64_t op_notices, op_entities; /* where those of this operation begin */
    bool op_one;                      /* it is of entities[op_entities] */
    bool planned;                     /* observe_done belongs to a plan */
    commands *recording;              /* where calls were recorded before the observers' turn */
    batch batch;
} observing;

#endif
