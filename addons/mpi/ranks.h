/* What the files of the add-on share. A tick goes through them like this:
 *
 *   reef_tick ─► the dead     cell.c      ids go back to their cell; all ranks hear of them
 *             ─► messages     message.c   to the rank of the cell to which they go
 *             ─► moves        travel.c    entities go to the rank of their new cell, with the messages for them
 *             ─► births       message.c   in the order of cells and senders, with the ids of their cell
 *             ─► ghosts       ghost.c     what has changed near the borders
 *
 * Each rank's world has the same number of indices. Those that aren't alive here are reserved (reef_reserve_id), so
 * that reef_create_as makes any of them in constant time and reef gives out none by itself. */
#ifndef REEF_RANKS_INSIDE_H
#define REEF_RANKS_INSIDE_H

#include "reef_ranks.h"

#include <stdlib.h>
#include <string.h>

/* ---- bytes that are written and read in order ---- */

typedef struct bytes {
    unsigned char *data;
    size_t count, room;
    size_t at;   /* reading: the next byte */
    bool failed; /* writing: no memory; reading: the end came too early */
} bytes;

void ranks__put(bytes *b, const void *from, size_t count);
void ranks__put_u32(bytes *b, uint32_t x);
void ranks__put_u64(bytes *b, uint64_t x);
void ranks__put_entity(bytes *b, reef_entity e);
const unsigned char *ranks__take(bytes *b, size_t count); /* NULL: there are fewer */
uint32_t ranks__take_u32(bytes *b);
uint64_t ranks__take_u64(bytes *b);
reef_entity ranks__take_entity(bytes *b);
void ranks__bytes_free(bytes *b);
/* Makes room for `count` elements of an array. False: no memory. */
bool ranks__room(void *array, uint32_t *room, size_t count, size_t size);

/* ---- entities as bytes ---- */

/* Entities for one rank. Types are numbered in each packet, since their ids differ between ranks. */
typedef struct packet {
    bytes body;
    reef_component *types;
    uint32_t type_count, type_room;
    uint32_t entities;
} packet;

/* What an entity that arrives gets, and what of it is disabled (travel.c). */
typedef struct arrival {
    reef_value *values;
    reef_component *disabled;
    uint32_t count, room, disabled_count, disabled_room;
    bytes copy;
} arrival;

/* ---- cells ---- */

typedef struct cell_ids {
    reef_entity *free; /* ids to be used next, oldest first, from `first` on */
    uint32_t first, count, room;
    uint32_t next, end; /* indices that were never used */
} cell_ids;

typedef struct cell {
    uint32_t owner;
    reef_entity *members; /* of cells that are present: who is there, by index */
    uint32_t count, room;
    uint32_t seen, seen_count; /* those that reef_ranks_around shows: `visible` from `seen` on */
    cell_ids ids;              /* of cells of this rank */
} cell;

typedef struct cell_entity {
    uint32_t cell;
    reef_entity entity;
} cell_entity;

/* What a neighbouring rank knows of a cell of ours: the ghosts as they were sent last, by index. */
typedef struct ghost_copy {
    reef_entity entity;
    size_t at, count; /* in `bytes` */
} ghost_copy;
typedef struct neighbour {
    int rank;
    uint32_t *cells; /* those of ours that it sees, in order */
    uint32_t cell_count, cell_room;
    ghost_copy *sent;
    uint32_t sent_count;
    bytes sent_bytes;
} neighbour;

typedef struct message {
    uint32_t kind, cell;
    reef_entity from, to;
    uint32_t number; /* among those of its sender */
    size_t at;       /* of its value in the list's bytes */
} message;
typedef struct message_list {
    message *of;
    uint32_t count, room;
    bytes values;
} message_list;

struct reef_ranks {
    MPI_Comm comm;
    int rank, size;
    reef_world *world;
    reef_ranks_config config;
    reef_query placed;
    char reason[REEF_DETAIL_MAX];
    cell *cells;
    uint32_t first_cell, end_cell; /* of this rank */
    uint32_t *near_first, *near;   /* of each cell: near[near_first[c]] ... */
    uint32_t *present;             /* cells of this rank and those near them, in order */
    uint32_t present_count, present_room;
    reef_entity *visible;
    uint32_t visible_room;
    uint32_t index_base, index_end; /* of the ids of all cells */
    uint64_t common;                /* entities that each rank has alike */
    uint64_t owned, ghosts, remote; /* entities here, ghosts, and entities of which only the handle is here */
    neighbour *neighbours;
    uint32_t neighbour_count;
    reef_event_reader readers[REEF_RANKS_MESSAGES_MAX];
    uint32_t message_bytes[REEF_RANKS_MESSAGES_MAX];
    message_list waiting; /* that arrive at the beginning of the next tick, or are born at the end of this one */
    cell_entity *dead;    /* of this rank, in this tick */
    uint32_t dead_count, dead_room;
    cell_entity *leaving; /* entities whose new cell is another rank's, with that cell */
    uint32_t leaving_count, leaving_room;
    arrival arrival;
    reef_ranks_stats stats;
};

/* ---- comm.c: MPI ---- */

/* Records a failure. Answers the status. */
reef_status ranks__fail(reef_ranks *r, reef_status s, const char *format, ...) REEF_PRINTF(3, 4);
/* The worst status of all ranks. */
reef_status ranks__agree(reef_ranks *r, reef_status s);
/* Ends the run where an MPI call failed. */
void ranks__must(reef_ranks *r, int code, const char *what);
void ranks__wait(reef_ranks *r, int n, MPI_Request *requests, const char *what);
void ranks__reduce(reef_ranks *r, void *values, int n, MPI_Datatype type, MPI_Op op);
/* Joins the bytes of all ranks in their order. False: no memory. */
bool ranks__gather(reef_ranks *r, const bytes *mine, bytes *all);
/* Sends out[i] to rank i, and receives in[i] from it. False: no memory. */
bool ranks__exchange(reef_ranks *r, const bytes *out, bytes *in);
/* The same among neighbours alone: out[i] goes to r->neighbours[i]. */
bool ranks__exchange_near(reef_ranks *r, const bytes *out, bytes *in);

/* ---- cell.c ---- */

bool ranks__cells_make(reef_ranks *r);
void ranks__cells_free(reef_ranks *r);
/* Gives cells to ranks by their weights, and finds the neighbours. False: no memory. */
bool ranks__cells_divide(reef_ranks *r, const uint64_t *weight);
static inline bool ranks__mine(const reef_ranks *r, uint32_t c) { return c >= r->first_cell && c < r->end_cell; }
bool ranks__member_add(reef_ranks *r, uint32_t c, reef_entity e);
void ranks__member_drop(reef_ranks *r, uint32_t c, reef_entity e);
/* Reserves what the world would give out by itself, up to the end of all ids. */
reef_status ranks__ids_hold(reef_ranks *r);
bool ranks__id_back(reef_ranks *r, uint32_t c, reef_entity dead);
/* Takes ranges for the cells of this rank that need `need[c - first_cell]` ids. Collective. */
reef_status ranks__ids_provide(reef_ranks *r, const uint32_t *need);
reef_entity ranks__id_take(reef_ranks *r, uint32_t c);
/* The ids of a cell as bytes, and those of cells of this rank from bytes of several ones. False: no memory. */
void ranks__ids_put(bytes *b, uint32_t c, const cell_ids *ids);
bool ranks__ids_unpack(reef_ranks *r, bytes *b);
/* Finds the dead of this tick, here and on other ranks. Collective. */
reef_status ranks__bury(reef_ranks *r);
bool ranks__see(reef_ranks *r); /* makes `visible` */

/* ---- travel.c ---- */

/* Appends an entity. `only`: the components; NULL: everything that can travel. */
reef_status ranks__pack(reef_ranks *r, packet *p, reef_world *from, reef_entity e, uint32_t cell,
                        const reef_component *only, uint32_t only_count);
/* The packet with its head, as bytes to send. */
void ranks__seal(packet *p, bytes *to);
void ranks__packet_clear(packet *p);
void ranks__packet_free(packet *p);
/* Makes the entities of a packet. */
reef_status ranks__unpack(reef_ranks *r, bytes *from, bool ghosts);
/* An entity or a ghost is here no longer: only its handle stays. (If it were destroyed, its generation could never be
 * alive here again.) */
reef_status ranks__leave(reef_ranks *r, reef_entity e);
/* Makes the handle of an entity that lives elsewhere alive here. */
reef_status ranks__hear_of(reef_ranks *r, reef_entity e);
/* Entities whose cell belongs to another rank go there. Collective. */
reef_status ranks__move(reef_ranks *r);
reef_status ranks__place(reef_ranks *r); /* finds the cell of each entity of this rank */

/* ---- message.c ---- */

bool ranks__messages_begin(reef_ranks *r, char *reason);
void ranks__messages_end(reef_ranks *r);
/* Reads what was sent in this tick, and brings it to the ranks of its cells. Collective. */
reef_status ranks__messages_collect(reef_ranks *r);
/* Each message goes to the cell where its receiver is now. */
void ranks__messages_follow(reef_ranks *r);
reef_status ranks__messages_deliver(reef_ranks *r);
reef_status ranks__messages_born(reef_ranks *r); /* collective */
/* Packs the messages that wait for cells of a rank, and forgets them. */
bool ranks__messages_leave(reef_ranks *r, bytes *to, int rank);
bool ranks__messages_unpack(reef_ranks *r, bytes *from);
void ranks__messages_sort(reef_ranks *r);
/* All messages that wait, for a file; and those for cells of this rank, from the bytes of all ranks. */
void ranks__messages_put(const reef_ranks *r, bytes *to);
bool ranks__messages_get(reef_ranks *r, bytes *from);

/* ---- ghost.c ---- */

reef_status ranks__ghosts_refresh(reef_ranks *r); /* collective */
reef_status ranks__ghosts_drop(reef_ranks *r);    /* forgets them all, on both sides */

/* ---- digest.c ---- */

uint64_t ranks__digest_here(const reef_ranks *r);

#endif
