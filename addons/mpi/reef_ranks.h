/* reef over the ranks of MPI: one world that is divided among processes, with the same result on any number of them.
 *
 *     MPI_Init(&argc, &argv);
 *     reef_world *w = reef_world_new(NULL);                       types, systems, what all ranks have alike
 *     reef_ranks *r = reef_ranks_new(MPI_COMM_WORLD, w, &config);
 *     reef_ranks_fill(r, count, make);                            the entities of each cell
 *     for (int i = 0; i < 1000; i++) reef_ranks_tick(r, 0.1f);
 *     reef_ranks_free(r);
 *
 * This is a separate library on reef's public headers and MPI 3.
 *
 * The world is divided into *cells*. An entity that the query `placed` matches belongs to the cell that `cell_of` says,
 * and each cell belongs to one rank. The world of a rank holds
 *
 *     the entities of its cells   with all their components and a ReefCell
 *     ghosts (ReefGhost)          entities of neighbouring cells of other ranks, with the components that the config
 *                                 lists
 *     handles of others           entities that are further away and were here before, or to which an entity here is
 *                                 related: alive, but without components
 *     everything else             entities made before reef_ranks_new, and singletons: each rank has them alike
 *
 * Ghosts are disabled as a whole, so queries skip them. After each tick entities that have changed their cell move to
 * its rank with everything they have, messages are delivered, ghosts are brought up to date, and what has died here
 * ends on all ranks.
 *
 * *A handle is the same on every rank, whatever their number.* Each cell has its own ids, so entities are made by the
 * cells (reef_ranks_fill, and messages with `born`), not by reef_spawn.
 *
 * What a tick does depends on the number of ranks only if a system does one of these:
 *   - it looks at entities of cells that aren't near (reef_ranks_around finds those that are);
 *   - it depends on the order of rows or of the sources of a relation, which differ (go through the entities of a cell
 *     by reef_ranks_around: they come by index; sums of integers don't depend on the order);
 *   - it spawns by itself.
 * reef_ranks_digest compares the whole world with that of a run on another number of ranks.
 *
 * All calls are made by the thread that initialised MPI; those that say *collective* by all ranks at the same time.
 * reef_ranks_around may also be called in systems. A call that can't go on because another rank is gone ends the
 * whole run (MPI_Abort) with a message, after `timeout_ms` at the latest. */
#ifndef REEF_RANKS_H
#define REEF_RANKS_H

#include "reef.h"
#include <mpi.h>

REEF_BEGIN_C

/* The cell of an entity that lives here or is a ghost. reef sets it; don't change it. */
typedef struct ReefCell {
    uint32_t cell;
} ReefCell;
REEF_COMPONENT(ReefCell);
REEF_FIELDS(ReefCell, cell);
/* An entity of a neighbouring cell, which lives on another rank. Read it, don't change it. */
REEF_TAG(ReefGhost);
/* With `overlap`: an entity of an inner cell, that is, all cells near it are of the same rank. */
REEF_TAG(ReefInner);

enum {
    REEF_RANKS_CELLS_MAX = 1 << 24,
    REEF_RANKS_NEAR_MAX = 64,     /* cells near a cell */
    REEF_RANKS_GHOSTS_MAX = 32,   /* components of a ghost */
    REEF_RANKS_MESSAGES_MAX = 32, /* kinds of messages */
    REEF_RANKS_RANGE = 32         /* ids that a cell takes at a time, or a multiple; see reef_ranks_fill */
};

/* A kind of message: values that systems send here and that arrive at another cell, on whatever rank that is. */
typedef struct reef_ranks_message {
    /* The type of the events that systems send (reef_send). A value begins with the sender, a reef_entity that lives
     * here. Messages of a sender arrive in the order in which it sent them, those of several senders by their index. */
    reef_component sent;
    /* Where a message goes. If `cell` isn't NULL, to that cell. Otherwise the value's second member is the entity to
     * which it goes, whose cell must be the sender's or near it when the message is sent. */
    uint32_t (*cell)(const void *value, void *context);
    /* Messages with `born` make an entity: it belongs to that cell, and `born` gives it its components by calls on the
     * world. Needs `cell`. The new entity's place may be in another cell, to which it moves after the next tick. */
    void (*born)(reef_world *world, reef_entity entity, const void *value, void *context);
    /* Without `born`: the type of the events as which the values arrive, at the beginning of the next tick. It has the
     * same size. */
    reef_component arrives;
    /* What becomes of a message whose receiver has died: called between two ticks with the cell where it is, which is
     * of this rank (that of the sender, or the last one of the receiver). NULL: nothing. */
    void (*lost)(reef_world *world, uint32_t cell, const void *value, void *context);
} reef_ranks_message;

/* A world that is divided among the ranks. */
typedef struct reef_ranks reef_ranks;

/* How a world is divided. The same on all ranks. */
typedef struct reef_ranks_config {
    uint32_t cells;     /* number of cells, 1 ... REEF_RANKS_CELLS_MAX */
    const char *placed; /* the query of the entities that have a place, read only: "in Position" */
    /* Writes the cell of each row of a block of that query: block->count numbers below `cells`. */
    void (*cell_of)(const reef_block *block, uint32_t *cells, void *context);
    /* Writes the cells near a cell, without itself and each once, to `near`; returns how many. At most
     * REEF_RANKS_NEAR_MAX cells are near a cell; more are refused. If A is near B, then B is near A. NULL: no cell is
     * near another one. */
    uint32_t (*near)(uint32_t cell, uint32_t *near, void *context);
    const reef_component *ghosts; /* components of ghosts: plain data, or types of relations */
    uint32_t ghost_count;
    /* For systems that ask places ("reads Position as placed"): whoever is no further away than this from an entity is
     * in its cell, or in one near it. Ghosts then are in the pictures like all others, if they have the components that
     * a picture shows. A tick in which a question reaches further is refused, on any number of ranks: leave room for
     * the largest body. 0: pictures are without ghosts, so they differ by the ranks. */
    double reach;
    const reef_ranks_message *messages;
    uint32_t message_count;
    /* Cells that follow one another belong to the same rank. After so many ticks they are divided anew, so that each
     * rank has about the same load; 0: only by reef_ranks_balance. */
    uint32_t balance_ticks;
    /* The load of a cell of this rank, in any unit: what the program has counted or measured. More than 2^24 counts as
     * that. NULL: the number of its entities. */
    uint64_t (*load)(const reef_ranks *ranks, uint32_t cell, void *context);
    /* Systems look at neighbours while ghosts travel, in the phases "inner" and "border" (reef_ranks_phases). */
    bool overlap;
    uint32_t timeout_ms; /* how long a rank waits for another one; 0: 60,000 */
    void *context;       /* passed to the functions */
} reef_ranks_config;

/* Divides a world. Collective. What is in the world already must be the same on all ranks and have no place; it
 * stays on each of them. The world stays the caller's and must outlive `reef_ranks`; `context` and the arrays of the
 * config are read as long as that lives. NULL on failure, with the reason in `reason` (REEF_DETAIL_MAX bytes or
 * NULL): wrong config, worlds or configs that differ between ranks, no memory. */
reef_ranks *reef_ranks_new(MPI_Comm comm, reef_world *world, const reef_ranks_config *config, char *reason);
/* Ends the division. Collective. The world keeps what it has. NULL does nothing. */
void reef_ranks_free(reef_ranks *ranks);

/* Makes the phases "inner" and "border", before systems are added to them. reef_tick leaves them out. At the end of
 * reef_ranks_tick, with `overlap`, "inner" runs while ghosts travel, and "border" when they have arrived: so a system
 * that looks at neighbours is added twice, to "inner" for rows with ReefInner and to "border" for those without
 * (!ReefInner). Which rows have it depends on the ranks, so these systems use no random numbers, write values of their
 * own rows that no other row looks at, and nothing that ghosts show; they add, remove, destroy and send nothing
 * (reef_ranks_new refuses them). Errors: as reef_phase_new. */
reef_status reef_ranks_phases(reef_world *world);

/* Makes entities cell by cell. Collective. `count` says how many a cell gets, `make` gives components to one of them,
 * number `i` of the cell. The first time, the ids of a cell follow one another, and so do those of up to 256 cells:
 * each takes as many times REEF_RANKS_RANGE indices as it needs, in the order of cells. Errors: NO_MEMORY, LIMIT (2^32
 * ids), UNDECLARED (an entity has no place afterwards). */
reef_status reef_ranks_fill(reef_ranks *ranks, uint32_t (*count)(uint32_t cell, void *context),
                            void (*make)(reef_world *world, reef_entity entity, uint32_t cell, uint32_t i,
                                         void *context));

/* A tick (reef_tick) on all ranks, then everything travels. Collective. The answer is the first failure of any rank,
 * the same on all of them; after a failure of a tick the states of the ranks don't fit each other any more: go back
 * to what was saved. Errors: as reef_tick; NOT_PORTABLE (a component with hooks, or in REEF_SHARED, can't travel: the
 * reason names it), UNDECLARED (an entity was spawned outside of the cells, or has lost its place; a message to an
 * entity that isn't near; in the checked build a system that reads values which this rank doesn't have, or which are
 * under way: the reason names system, component and entity), BAD_ARGUMENT (cell_of gave a number that is no cell),
 * LIMIT. With `reach`, UNDECLARED as well if a question to a place reached further. */
reef_status reef_ranks_tick(reef_ranks *ranks, float dt);
/* Divides the cells anew by their load, and moves what has to. Collective. */
reef_status reef_ranks_balance(reef_ranks *ranks);
/* Why the last call on this rank failed; "" if it didn't. */
const char *reef_ranks_reason(const reef_ranks *ranks);

/* ---- looking around ---- */

/* The entities of a cell that is present here, that is, one of this rank or near one of these, when the tick began,
 * ordered by index, ghosts included and what is disabled as a whole left out. */
typedef struct reef_ranks_members {
    const reef_entity *entities;
    uint32_t count;
} reef_ranks_members;
/* Those of the cell `from` itself (i = 0) and of the cells near it (i = 1 ... in the order that `near` gave). `from`
 * is a cell of this rank. False: there is no further cell, or `from` isn't of this rank, or isn't an inner cell in the
 * phase "inner". Any thread, also in systems. The array lives until the next collective call. */
bool reef_ranks_around(const reef_ranks *ranks, uint32_t from, uint32_t i, reef_ranks_members *members);

/* Where an entity is, as far as this rank knows. */
typedef enum reef_ranks_place {
    REEF_RANKS_NOWHERE = 0, /* dead, or never heard of */
    REEF_RANKS_HERE,        /* it lives here */
    REEF_RANKS_GHOST,       /* its listed components can be read here */
    REEF_RANKS_REMOTE,      /* it lives on another rank, too far away to be read */
    REEF_RANKS_EVERYWHERE   /* each rank has it */
} reef_ranks_place;
reef_ranks_place reef_ranks_where(const reef_ranks *ranks, reef_entity entity);

int reef_ranks_rank(const reef_ranks *ranks);
int reef_ranks_size(const reef_ranks *ranks);
uint32_t reef_ranks_owner(const reef_ranks *ranks, uint32_t cell); /* the rank of a cell */

/* ---- about all ranks ---- */

/* Adds up n numbers over all ranks, in place. Collective. */
reef_status reef_ranks_sum(reef_ranks *ranks, int64_t *values, uint32_t n);
/* Adds up a number of each cell, in the order of the cells, so that the sum doesn't depend on the ranks. `of` is called
 * for the cells of this rank. Collective. */
reef_status reef_ranks_sum_cells(reef_ranks *ranks, double (*of)(reef_ranks *ranks, uint32_t cell, void *context),
                                 double *sum);
/* The number of entities that have a place, over all ranks. Collective. */
reef_status reef_ranks_count(reef_ranks *ranks, uint64_t *count);
/* A digest of all entities that have a place, with their values, names, targets of relations, and the messages that are
 * under way: the same on all ranks and for any number of them. Values are compared by their fields, or as bytes where a
 * type has none. Collective. Costs O(entities). */
reef_status reef_ranks_digest(reef_ranks *ranks, uint64_t *digest);

/* All sources of a target, on whatever rank they live, by index: up to `room` of them are written to `sources` (which
 * may be NULL if room is 0), and *count is how many there are. The target is one that any rank knows. Collective, with
 * the same arguments. (reef_sources_of gives those that live here or are ghosts: docs/manual/clusters.md.) */
reef_status reef_ranks_sources(reef_ranks *ranks, reef_component relation, reef_entity target, reef_entity *sources,
                               uint32_t room, uint64_t *count);

/* ---- saving ---- */

/* Saves the world of each rank to `path`.TICK.RANK, and then the index to `path`, which replaces the old one in one
 * step: so there is always the old state or the new one as a whole. Files of the old one are removed. Collective. The
 * folder must be one that all ranks see. Errors: as reef_save, the same on all ranks. */
reef_status reef_ranks_save(reef_ranks *ranks, const char *path);
/* Goes back to what was saved, by whatever number of ranks. Collective. `ranks` is new, with the same config, or has
 * ticked; the world has its types and systems. Errors: as reef_load; CORRUPT, OTHER_STATE (another division into cells;
 * the digest isn't that of the index). After an error the state is unusable: load another one. */
reef_status reef_ranks_load(reef_ranks *ranks, const char *path);

/* ---- statistics of this rank ---- */

typedef struct reef_ranks_stats {
    uint64_t ticks;
    uint64_t entities, ghosts, remote;          /* now; remote: handles of entities that are further away */
    uint64_t moved_out, moved_in;               /* entities, in all */
    uint64_t messages_out;                      /* messages sent to other cells, in all */
    uint64_t bytes_sent, bytes_received, sends; /* by this library, in all, without collective calls */
    uint64_t ghosts_sent, ghosts_same;          /* ghosts that were sent, and those that hadn't changed, in all */
    double seconds_tick, seconds_exchange;      /* in systems, and in everything else of the ticks */
    double seconds_waiting;                     /* of the latter: waiting for other ranks and for bytes to arrive */
} reef_ranks_stats;
reef_ranks_stats reef_ranks_statistics(const reef_ranks *ranks);
/* Bytes of this library on this rank between two ticks, beside those of the world (reef_world_stats). Costs O(cells
 * that are present). */
uint64_t reef_ranks_bytes(const reef_ranks *ranks);

REEF_END_C

#endif
