/* The door: who connects is a stranger until the head of the request has shown the token. */
#ifndef REEF_INSPECTOR_DOOR_H
#define REEF_INSPECTOR_DOOR_H

#include "head.h"
#include "inspector.h"

typedef struct connection connection;
typedef struct door door;

typedef struct server {
    door *door; /* door.c */
    char token[TOKEN_MAX + 1], bind[64], address[256];
    char hosts[HOSTS_MAX][128];
    unsigned host_count;
    uint16_t port;
    /* guarded by the inspector's lock: of the limit of requests a second */
    double tokens;
    uint64_t tokens_ns;
} server;

/* What is said to a request of which the head is read. */
typedef struct verdict {
    int status;           /* 0: it is let in; otherwise this is the answer */
    const char *why;      /* of a refusal */
    const char *type;     /* of a file of the page, whose bytes last */
    const void *bytes;    /* NULL: a refusal */
    size_t size;          /* of the file */
    const void *answerer; /* who answers, if it is let in; for door_calls.serve */
} verdict;

/* What the door asks. */
typedef struct door_calls {
    verdict (*judge)(reef_inspector *i, const request_head *h); /* by its head, on the door's thread: never waits */
    void (*serve)(reef_inspector *i, connection *c);            /* answers a request that was let in */
} door_calls;

/* Opens the port of i->server, which is then known, and nobody is let in yet. False: `reason` says why. */
bool inspector_door_open(reef_inspector *i, const door_calls *calls, char *reason);
/* Begins to let in. False: there are no threads; the door is closed again. */
bool inspector_door_start(server *s);
/* Ends all connections and threads. */
void inspector_door_close(server *s);

/* A request that is let in, on a thread of its own until it is answered. */
const request_head *inspector_connection_head(const connection *c);
const char *inspector_connection_body(const connection *c, size_t *size);
const void *inspector_connection_answerer(const connection *c);
/* Waits until all bytes are sent. False: the other side is gone, or takes nothing for five seconds. */
bool inspector_send(connection *c, const void *bytes, size_t size);

#endif
