/* The server's side of views from inside. */
#ifndef REEF_NET_VIEW_SERVER_H
#define REEF_NET_VIEW_SERVER_H

#include "view.h"

#define VIEW_NONE UINT32_MAX

enum { VIEW_SENT = 128, VIEW_ENTRIES = 160 };

/* What a client is shown of an entity. Its place in the client's array is its number. */
typedef struct seen {
    reef_entity entity;
    uint32_t dirty;      /* types whose value he may not have */
    uint32_t since;      /* queued: the tick at which it was */
    uint32_t prev, next; /* in the queue; free: next is the next free one */
    uint32_t targets;    /* a hash of what its fields of kind entity were sent as */
    uint32_t turn;       /* how often the number was given */
    bool used, out, destroyed, queued, ever, known, own;
} seen;

/* What a datagram had: the record, and which types. */
typedef struct entry {
    uint32_t slot, turn, types;
    bool full, out;
} entry;

typedef struct sent {
    uint32_t number, tick, count; /* number 0: none, or acknowledged */
    entry of[VIEW_ENTRIES];
} sent;

typedef struct client {
    bool used;
    uint64_t address;
    uint32_t session, bytes, number, newest; /* of datagrams: the last one sent; the newest acknowledged */
    uint32_t waiting;                        /* the first datagram that may not be settled yet */
    uint32_t heard_tick, empty_at;
    int query; /* -1: none */
    float radius, scale;
    uint32_t limit; /* entities that he may see, while bandwidth is short; VIEW_NONE: any */
    uint32_t easy_since;
    reef_entity own[REEF_NET_VIEW_OWN_MAX];
    float centre[REEF_NET_VIEW_OWN_MAX][3];
    uint32_t own_count, centre_count;
    int64_t credit;       /* bytes that may be sent */
    bool recentre, moved; /* moved: something came or went in this update */
    /* his records */
    seen *slots;
    uint32_t slot_room, slot_count, free_slot, visible;
    uint32_t first, last; /* the queue */
    uint32_t *map;        /* entity's index -> slot + 1, by open addressing */
    uint32_t map_room, map_count;
    uint32_t *watched; /* buckets */
    uint32_t watched_room, watched_count;
    sent *sent; /* VIEW_SENT of them */
    reef_net_views_stats stats;
} client;

/* What is known of an entity. */
typedef struct thing {
    uint64_t seen_by; /* clients */
    uint32_t generation;
    uint32_t bucket, prev, next; /* bucket VIEW_NONE: it has no place */
    uint32_t pending;            /* the tick at which it was noted to be looked at again */
} thing;

struct reef_net_views {
    reef_net_view_config config;
    reef_allocator allocator;
    view_types types;
    reef_world *before;
    uint32_t tick, sessions;
    uint32_t place_at[3], place_axes;
    thing *things;
    uint32_t thing_room;
    uint32_t *pending; /* indices */
    uint32_t pending_room, pending_count;
    struct {
        uint32_t head;
        uint64_t watchers;
    } * buckets;
    uint32_t bucket_count;
    struct {
        char *text;
        size_t bytes;
        reef_query query;
        uint32_t users;
    } queries[REEF_NET_VIEW_QUERIES_MAX];
    client clients[REEF_NET_VIEW_CLIENTS_MAX];
    uint64_t used, unbounded; /* clients; those who have a query and no radius */
    reef_net_views_stats stats;
};

/* The number of the lowest bit, of which there is one. */
static inline uint32_t view__lowest(uint64_t bits)
{
    uint32_t n = 0;
    for (uint32_t half = 32; half; half /= 2)
        if ((bits & ((UINT64_C(1) << half) - 1)) == 0) {
            bits >>= half;
            n += half;
        }
    return n;
}

/* ---- who sees what: view_interest.c ---- */
/* Finds what changed since the last update, and notes it for those who see it. */
reef_status view__changes(reef_net_views *v);
/* What a client sees, from the beginning, or after his own entities have moved. */
reef_status view__look(reef_net_views *v, uint32_t c);
void view__unwatch(reef_net_views *v, uint32_t c);
float view__radius(const client *k);

/* ---- what a client is shown: view_slots.c ---- */
uint32_t view__slot_of(const client *k, reef_entity e); /* VIEW_NONE: none */
/* An entity comes into a client's sight. False: no memory. */
bool view__show(reef_net_views *v, uint32_t c, reef_entity e);
void view__hide(reef_net_views *v, uint32_t c, reef_entity e, bool destroyed);
void view__mark(const reef_net_views *v, client *k, uint32_t slot, uint32_t types, bool first);
void view__unqueue(client *k, uint32_t slot);
void view__slot_free(client *k, uint32_t slot);
bool view__owns(const client *k, reef_entity e);
void view__client_release(reef_net_views *v, client *k);

#endif
