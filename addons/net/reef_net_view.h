/* Views: a server shows each client a part of its world, and no more than that leaves the server.
 *
 *     the server, after each of its ticks                 a client
 *     views = reef_net_views_new(&config, reason);        view = reef_net_view_new(&config, server, reason);
 *     n = reef_net_views_add(views, &client);             each frame: reef_net_view_update(view);
 *     reef_net_views_own(views, n, avatar, true);         draw(world);
 *     each tick: reef_net_views_update(views);
 *
 * A client sees his own entities, and those that a query and a radius around his own entities let him see. Of these he
 * gets the listed types, as values that change: what changed is found once, by the difference of the world since the
 * last update (reef/diff.h), and is noted for those who see it. So an update costs changes times who sees them, however
 * many entities, types and clients there are. What a client hasn't acknowledged is sent again.
 *
 * What is hidden stays on the server: entities out of sight, types that aren't listed, private types of others'
 * entities, names, and bytes between fields. A client knows entities by numbers of his own, which don't tell how many
 * there are. A field of kind entity is null for him while its target is out of his sight.
 *
 * Bandwidth: what waits longest is sent first. When a change would wait for more than `age_max` ticks, its entity goes
 * out of sight, and the radius shrinks until the rest fits; it grows again later. So what a client sees is never older
 * than age_max ticks and the way to him, and what gives way is how far he sees. His own entities don't give way.
 *
 * Both sides list the same types in the same order. The types have fields or are tags, have no hooks, and aren't in
 * REEF_SPLIT or REEF_MULTI. Who may be a client, and from which address, is for the program and its transport to decide
 * (reef_net_udp lets in who has an invitation). docs/manual/views.md is the chapter for users. */
#ifndef REEF_NET_VIEW_H
#define REEF_NET_VIEW_H

#include "reef_net.h"

REEF_BEGIN_C

enum {
    REEF_NET_VIEW_CLIENTS_MAX = 64,
    REEF_NET_VIEW_TYPES_MAX = 32,
    REEF_NET_VIEW_OWN_MAX = 8,      /* own entities of a client */
    REEF_NET_VIEW_QUERIES_MAX = 32, /* different queries of all clients */
    REEF_NET_VIEW_VALUE_MAX = 512   /* bytes of a listed type's value */
};

/* A type that clients get. */
typedef struct reef_net_view_type {
    reef_component type;
    bool own; /* only the clients whose own entity it is get it, such as what an avatar carries */
} reef_net_view_type;

typedef struct reef_net_view_config {
    /* The server: the world to show, which the views only read. A client: the world in which entities appear; he may
     * add entities and components of his own. The views don't own it. */
    reef_world *world;
    reef_net_transport transport;
    reef_allocator allocator;        /* {0}: the C library's */
    const reef_net_view_type *types; /* copied; 1 ... REEF_NET_VIEW_TYPES_MAX */
    uint32_t type_count;
    /* ---- of the server; each 0: the default ---- */
    reef_component place; /* for radii: a type with fields x and y of kind f32, and perhaps z; it needn't be listed */
    float cell;           /* for radii: about a quarter of the usual one; 16 */
    uint32_t age_max;     /* ticks that a change may wait, 1 ... 1000; 30 */
    uint32_t again;       /* ticks after which what isn't acknowledged is sent again, 1 ... 1000; 30 */
    /* ---- of a client: is told what comes into sight and what goes; each may be NULL ---- */
    void (*came)(void *context, reef_entity entity, bool own);       /* also when `own` has changed */
    void (*went)(void *context, reef_entity entity, bool destroyed); /* before it is destroyed in the client's world */
    void *context;
} reef_net_view_config;

/* ---- the server ---- */

typedef struct reef_net_views reef_net_views;

/* Returns NULL on failure and writes why to `reason` (NULL, or room for REEF_NET_REASON_MAX bytes). */
reef_net_views *reef_net_views_new(const reef_net_view_config *config, char *reason);
void reef_net_views_free(reef_net_views *views);

typedef struct reef_net_view_client {
    uint64_t address;
    /* Which entities he sees, as the text of a query; NULL: all. It is asked about an entity when that one changes, so
     * it must ask about the entity itself, not about others. */
    const char *query;
    /* How far he sees from his own entities that have the place; 0: as far as the world goes. */
    float radius;
    uint32_t bytes; /* that he is sent in an update; 0: 2400 */
} reef_net_view_client;
/* Adds a client, and returns his number; -1: an argument out of its range, too many clients or queries, a text that is
 * no query, the address of another client (whoever comes back is removed first), or no memory. Without a query and
 * without a radius he sees his own entities only. */
int reef_net_views_add(reef_net_views *views, const reef_net_view_client *client);
/* Nothing more is sent to the client. His number may be given again. Errors: BAD_ARGUMENT. */
reef_status reef_net_views_remove(reef_net_views *views, int client);
/* The entity is the client's own, or isn't any more. What doesn't live is nobody's. Errors: BAD_ARGUMENT, NOT_ALIVE,
 * LIMIT (he has REEF_NET_VIEW_OWN_MAX). */
reef_status reef_net_views_own(reef_net_views *views, int client, reef_entity entity, bool own);
/* After a tick: finds what changed, and sends. Errors: BAD_ARGUMENT, LOCKED (the world runs systems), NO_MEMORY: the
 * next update does what is left. */
reef_status reef_net_views_update(reef_net_views *views);
/* Does the client see this entity now? */
bool reef_net_views_sees(const reef_net_views *views, int client, reef_entity entity);

typedef struct reef_net_views_stats {
    uint64_t ticks;
    uint64_t changes;         /* found in the world */
    uint64_t marked;          /* the sum of those who see each of them */
    uint64_t sent, bytes;     /* datagrams, and their bytes; of one client or of all */
    uint64_t again;           /* datagrams whose content was sent again, since it wasn't acknowledged */
    uint64_t refused;         /* datagrams that weren't understood */
    uint64_t gave_way;        /* entities that went out of sight since the bandwidth didn't suffice */
    uint32_t oldest;          /* most ticks that a change has waited for its first datagram */
    uint32_t visible, silent; /* of one client: entities that he sees; ticks since he was heard */
    float radius;             /* of one client: as it is now */
} reef_net_views_stats;
/* Of a client, or with -1 of all. */
reef_net_views_stats reef_net_views_statistics(const reef_net_views *views, int client);

/* ---- a client ---- */

typedef struct reef_net_view reef_net_view;

/* `server` is its address. Returns NULL on failure and writes why to `reason`. */
reef_net_view *reef_net_view_new(const reef_net_view_config *config, uint64_t server, char *reason);
/* Frees the view; its entities stay in the world. */
void reef_net_view_free(reef_net_view *view);
/* Receives, changes the world, and acknowledges. Errors: BAD_ARGUMENT, LOCKED, NO_MEMORY: what couldn't be taken isn't
 * acknowledged, so it comes again. */
reef_status reef_net_view_update(reef_net_view *view);

typedef struct reef_net_view_stats {
    uint64_t tick;            /* of the server, as it said last */
    uint32_t age;             /* the oldest change that it hadn't sent then had waited for so many ticks */
    uint32_t entities;        /* in sight */
    uint64_t received, bytes; /* datagrams, and their bytes */
    uint64_t refused;         /* datagrams that weren't understood: of others, damaged, or with other types */
    uint64_t other_types;     /* of these, those of a server that lists other types, or in another order */
} reef_net_view_stats;
reef_net_view_stats reef_net_view_statistics(const reef_net_view *view);

REEF_END_C

#endif
