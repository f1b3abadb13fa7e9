/* What the files of the add-on share. A tick goes through them like this:
 *
 *   reef_tick ─► the dead     cell.c      ids go back to their cell; all ranks hear of them
 *             ─► messages     message.c   to the rank of the cell to which they go
 *             ─► moves        travel.c    entities go to the rank of their new cell, with the messages for them
 *             ─► births       message.c   in the order of cells and senders, with the ids of their cell
 *             ─► ghosts       ghost.c     what has changed near the borders
 *
 * Each rank's world has the same number of indices. Those that aren't alive here are reserved
 * (reef_reserve_range), so that reef_create_as makes any of them in constant time and reef gives out none by itself. */
#ifndef REEF_RANKS_INSIDE_H
#define REEF_RANKS_INSIDE_H

#include "reef/all.h"
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

enum { GROUP_CELLS = 256, GROUP_PAGE = 4096 };
static inline uint32_t ranks__groups(uint32_t cells) { return (cells + GROUP_CELLS - 1) / GROUP_CELLS; }

/* A cell that is present: of this rank, or near one that is. */
typedef struct cell {
    uint32_t number;
    bool inner;           /* of this rank, and so are all cells near it */
    reef_entity *members; /* who is there, by index */
    uint32_t count, room;
    uint32_t seen, seen_count; /* of cells of this rank: those that are enabled, `visible` from `seen` on */
    cell_ids ids;              /* of cells of this rank */
} cell;

typedef struct cell_entity {
    uint32_t cell;
    reef_entity entity;
} cell_entity;

/* What a neighbouring rank knows of our cells: the ghosts as they were sent last, by cell and index. */
typedef struct ghost_copy {
    reef_entity entity;
    uint32_t cell;
    uint32_t there, disabled; /* bit i: the component with number i in the config */
    size_t at;                /* of its values in `values` */
} ghost_copy;
typedef struct ghost_list {
    ghost_copy *of;
    uint32_t count, room;
    bytes values;
} ghost_list;
typedef struct neighbour {
    int rank;
    uint32_t *cells; /* those of ours that it sees, in order */
    uint32_t cell_count, cell_room;
    ghost_list sent, now; /* `now` is empty between two calls and keeps its memory */
} neighbour;

/* A component of ghosts. */
typedef struct ghost_type {
    reef_component id;
    uint32_t size;
    bool several, relation; /* several values, whose number stands before them */
} ghost_type;

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
    reef_query placed, enabled; /* entities of this rank: all; those that aren't disabled */
    char reason[REEF_DETAIL_MAX];
    uint32_t *starts;              /* rank i has the cells from starts[i] on, before starts[i + 1] */
    uint32_t first_cell, end_cell; /* of this rank */
    cell *cells;                   /* of this rank, by number: cells[c - first_cell] */
    cell *ghost_cells;             /* cells of other ranks that are near, by number */
    uint32_t ghost_cell_count, ghost_cell_room;
    uint32_t *near_first, *near; /* of each cell of this rank: near[near_first[c - first_cell]] ... */
    uint32_t near_room;
    uint32_t *groups;     /* of each group of cells: the next index of its page */
    bool all_enabled;     /* nothing in the cells of this rank is disabled, and otherwise: */
    reef_entity *visible; /* what is enabled there */
    uint32_t visible_room;
    uint32_t index_base, index_end; /* of the ids of all cells */
    uint64_t common;                /* entities that each rank has alike */
    uint64_t owned, ghosts, remote; /* entities here, ghosts, and entities of which only the handle is here */
    neighbour *neighbours;
    uint32_t neighbour_count;
    ghost_type ghost_types[REEF_RANKS_GHOSTS_MAX];
    bytes *near_out; /* to the neighbours and from them, while ghosts travel */
    MPI_Request *near_requests;
    bool refused;    /* a system has read what it mustn't */
    bool inner_only; /* the phase "inner" runs: ghosts are under way */
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
/* The worst status of all ranks, and the largest of their numbers. Each is one collective call of MPI, which costs the
 * time of log2(ranks) messages: a tick has five of them. */
reef_status ranks__agree(reef_ranks *r, reef_status s);
reef_status ranks__agree_on(reef_ranks *r, reef_status s, int64_t *most);
/* Ends the run where an MPI call failed. */
void ranks__must(reef_ranks *r, int code, const char *what);
void ranks__wait(reef_ranks *r, int n, MPI_Request *requests, const char *what);
void ranks__reduce(reef_ranks *r, void *values, int n, MPI_Datatype type, MPI_Op op);
/* Joins the bytes of all ranks in their order. */
void ranks__gather(reef_ranks *r, const bytes *mine, bytes *all);
/* Sends out[i] to rank i, and receives in[i] from it, if no rank comes with a failure. The worst status of all. */
reef_status ranks__exchange(reef_ranks *r, reef_status s, const bytes *out, bytes *in);
/* Among neighbours alone: out[i] goes to r->neighbours[i], and in[i] comes from there. q has a request for each, and
 * then as many for receiving. */
void ranks__near_send(reef_ranks *r, const bytes *out, MPI_Request *q);
void ranks__near_receive(reef_ranks *r, bytes *in, MPI_Request *q);

/* ---- cell.c ---- */

void ranks__cells_free(reef_ranks *r);
/* Says which rank would have each cell, by the weights of all cells: starts[i] is the first cell of rank i, and
 * starts[size] is the number of cells. */
void ranks__cells_divide(const reef_ranks *r, const uint64_t *weight, uint32_t *starts);
/* Divides the cells so, and finds the neighbours. Cells that this rank had and keeps stay as they are; the others are
 * empty. Errors: NO_MEMORY; BAD_ARGUMENT (`near` names too many cells). */
reef_status ranks__cells_take(reef_ranks *r, const uint32_t *starts);
/* Room for what `near` of the config writes; the caller frees it. A function that names each cell once at most stays
 * within it, also one that names more than REEF_RANKS_NEAR_MAX and is refused for that. */
uint32_t *ranks__near_room(const reef_ranks *r);
static inline bool ranks__mine(const reef_ranks *r, uint32_t c) { return c >= r->first_cell && c < r->end_cell; }
/* A cell of this rank. */
static inline cell *ranks__own(const reef_ranks *r, uint32_t c) { return &r->cells[c - r->first_cell]; }
/* A cell that is present. NULL: it isn't. */
cell *ranks__cell(const reef_ranks *r, uint32_t c);
/* The rank of a cell in a division. */
static inline uint32_t ranks__owner_in(const uint32_t *starts, int size, uint32_t c)
{
    uint32_t low = 0, high = (uint32_t)size; /* the last rank that begins at this cell or before */
    while (high - low > 1) {
        const uint32_t middle = (low + high) / 2;
        if (starts[middle] <= c) low = middle;
        else high = middle;
    }
    return low;
}
static inline uint32_t ranks__owner(const reef_ranks *r, uint32_t c) { return ranks__owner_in(r->starts, r->size, c); }
static inline bool ranks__inner(const reef_ranks *r, uint32_t c)
{
    return r->config.overlap && ranks__own(r, c)->inner;
}
bool ranks__member_add(reef_ranks *r, uint32_t c, reef_entity e);
void ranks__member_drop(reef_ranks *r, uint32_t c, reef_entity e);
/* Reserves what the world would give out by itself, up to the end of all ids. */
reef_status ranks__ids_hold(reef_ranks *r);
bool ranks__id_back(reef_ranks *r, uint32_t c, reef_entity dead);
/* Takes ranges for the cells of this rank that need `need[c - first_cell]` ids. */
reef_status ranks__ids_provide(reef_ranks *r, reef_status s, const uint32_t *need);
reef_entity ranks__id_take(reef_ranks *r, uint32_t c);
/* The ids of a cell as bytes, and those of cells of this rank from bytes of several ones, which may come from a file.
 * Errors: NO_MEMORY, CORRUPT. */
void ranks__ids_put(bytes *b, uint32_t c, const cell_ids *ids);
reef_status ranks__ids_unpack(reef_ranks *r, bytes *b);
/* Finds the dead of this tick, here and on other ranks. */
reef_status ranks__bury(reef_ranks *r, reef_status s);
bool ranks__see(reef_ranks *r); /* finds what is enabled */
/* Gives an entity of this rank the tag ReefInner, or takes it away. */
reef_status ranks__inner_mark(reef_ranks *r, reef_entity e, uint32_t c);

/* ---- travel.c ---- */

/* NULL, or why values of the type can't go to another rank. */
const char *ranks__stays(const reef_type_info *info);
/* Appends an entity with everything that it has. */
reef_status ranks__pack(reef_ranks *r, packet *p, reef_world *from, reef_entity e, uint32_t cell);
/* The packet with its head, as bytes to send. */
void ranks__seal(packet *p, bytes *to);
void ranks__packet_free(packet *p);
/* Makes the entities of a packet. */
reef_status ranks__unpack(reef_ranks *r, bytes *from);
/* An entity that arrives is made; or what it had is taken away. Then come its components, and arrival_end. */
reef_status ranks__arrive(reef_ranks *r, reef_entity e, uint32_t c);
reef_status ranks__component_arrive(reef_ranks *r, reef_entity e, reef_component c, const unsigned char *v, uint32_t n);
reef_status ranks__value_arrive(reef_ranks *r, reef_entity e, reef_component c, const void *value, size_t size);
reef_status ranks__arrival_end(reef_ranks *r, reef_entity e);
/* An entity or a ghost is here no longer: only its handle stays. (If it were destroyed, its generation could never be
 * alive here again.) */
reef_status ranks__leave(reef_ranks *r, reef_entity e);
/* Makes the handle of an entity that lives elsewhere alive here. */
reef_status ranks__hear_of(reef_ranks *r, reef_entity e);
/* Those of these calls that take a status are collective: a rank comes to them also with a failure, and where they end
 * by an agreement, all have the same one. What one answers goes to the next.
 *
 * Finds the cell of each entity of this rank. */
reef_status ranks__place(reef_ranks *r);
/* Entities whose cell belongs to another rank go there. */
reef_status ranks__move(reef_ranks *r, reef_status s);

/* ---- message.c ---- */

bool ranks__messages_begin(reef_ranks *r, char *reason);
void ranks__messages_end(reef_ranks *r);
/* Reads what was sent in this tick, and brings it to the ranks of its cells. */
reef_status ranks__messages_collect(reef_ranks *r, reef_status s);
/* Each message goes to the cell where its receiver is now. */
void ranks__messages_follow(reef_ranks *r);
reef_status ranks__messages_deliver(reef_ranks *r);
reef_status ranks__messages_born(reef_ranks *r, reef_status s);
/* Counts the messages that wait, by the rank of their cell; and packs those of other ranks, behind their number, and
 * forgets them. */
void ranks__messages_count(const reef_ranks *r, uint32_t *count);
bool ranks__messages_leave(reef_ranks *r, bytes *to);
reef_status ranks__messages_unpack(reef_ranks *r, bytes *from); /* errors: NO_MEMORY, CORRUPT */
void ranks__messages_sort(reef_ranks *r);
/* All messages that wait, for a file; and those for cells of this rank, from the bytes of all ranks. */
void ranks__messages_put(const reef_ranks *r, bytes *to);
reef_status ranks__messages_get(reef_ranks *r, bytes *from);

/* ---- ghost.c ---- */

/* Looks up the types of ghosts. NULL, or why the one with this number can't be shown. */
const char *ranks__ghost_types(reef_ranks *r, uint32_t *number);
/* Sends neighbours what has changed, or that this rank has failed; and takes what they sent. In between, the bytes
 * travel. Each rank comes to both, also with a failure. */
reef_status ranks__ghosts_send(reef_ranks *r, reef_status s);
reef_status ranks__ghosts_take(reef_ranks *r, reef_status s);
reef_status ranks__ghosts_drop(reef_ranks *r); /* forgets them all, on both sides */

/* ---- ranks.c ---- */

/* Ghosts are brought up to date, and with `dt` the systems run that look at them. Ends by an agreement. */
reef_status ranks__refresh(reef_ranks *r, reef_status s, const float *dt);

/* ---- digest.c ---- */

uint64_t ranks__digest_here(const reef_ranks *r);

#endif
