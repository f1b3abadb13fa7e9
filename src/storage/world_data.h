/* The memory of a world: its state, and what it remembers beside that. */
#ifndef REEF_STORAGE_WORLD_DATA_H
#define REEF_STORAGE_WORLD_DATA_H

#include "base/platform.h"
#include "storage/command_buffer.h"
#include "storage/family.h"
#include "storage/layout.h"
#include "storage/state.h"
#include "reef/inspect.h"
#include "reef/pool.h"
#include "reef/snapshot.h"

enum { AHEAD_COLUMNS = 4, AHEAD_CHUNKS = 4, AHEAD_SPARES = 16, EDGE_CACHE = 128, SET_CACHE = 64, FREED_QUERIES = 8 };

struct reef_world {
    reef_hot hot;
    uint32_t slow;      /* != 0: the fast paths of structural calls give up (names, observers ...) */
    uint32_t deferring; /* of the open loops, those that asked for structural changes to be recorded */
    /* open loops. (Not beside `slow`: a compiler that compares both at once waits for two stores.) */
    uint32_t locks;
    commands *commands; /* where they are recorded now; NULL: nowhere */
    /* src/storage/invalidate.h says what counts these up. While tables_epoch stays, pointers into pages of tables and
     * chunks are good. While rows_epoch stays, each table also has the same rows, blocks and leases. While
     * disabled_epoch stays, there are the same stores of marks. */
    uint64_t tables_epoch, rows_epoch, disabled_epoch;
    uint64_t gate_destroy;          /* as hot.gate_move, for destroy, which also has names to forget (gates_set) */
    uint32_t *ring_next, *ring_end; /* where the next free id goes: a page that is ours; both NULL: not known */
    state state;
    family *family;
    /* Emptied when pages may move. The last three are what add, remove and destroy used lately (destroy: key and
     * from are a table). Their address doesn't depend on the entity: the processor goes on with the tables' ends
     * while the record still comes, and compares the key when it has it. (A move took 42 ns with hashed entries
     * alone, takes 28 with these.) */
    struct edge_entry {
        uint64_t key;
        const edge *edge;
        table *from, *to;
    } edge_cache[EDGE_CACHE + 3];
    struct {
        uint64_t key;
        uint32_t table;
    } set_cache[SET_CACHE]; /* reef_spawn: set of components -> table */
    uint32_t *order;        /* a copy of the graph's, to be read without the lock */
    uint32_t order_count, order_room;
    struct reef_bundle *bundles;       /* the user's */
    struct bundle_gate *bundles_ready; /* of those whose straight path is open: until INVALIDATE_TABLES_MADE */
    struct query_slot {
        struct reef_query_data *query;
        uint32_t generation;
    } * queries; /* by index */
    uint32_t query_room, query_count;
    struct reef_query_data *freed_queries[FREED_QUERIES]; /* the last ones, for who asks the same again; newest first */
    /* counts what no version tells: another state, chunks that went to other units as they were */
    uint64_t state_epoch;
    reef_world_config config;
    reef_error error;
    /* the public call that another one does the work for; NULL: none. Not while systems run */
    const char *calling;
    struct schedule *schedule; /* src/system/schedule.h; NULL: no system was ever added */
    struct ticking *ticking;   /* what ticks remember (src/time/tick.c); NULL: it never ticked */
    /* of the phase that runs, in this tick: counted from 0 (phases with steps of their own) */
    uint32_t step;
    struct reef_pool *pool;
    /* systems run, maybe on several threads: nobody writes what is shared (storage/running.h); else NULL */
    const struct running_calls *running;
    bool paused;
    reef_error world_failure;   /* while they run: of a call on the world by one of them */
    reef_component hook_failed; /* of the call that is running */
    struct {
        reef_entity entity;
        uint32_t component;
    } ready; /* of a tracked type, to be written: reef_mut_done */
    /* number of that of scripts + 1; 0: scripts were never turned on (src/system/script.c) */
    uint32_t script_reader;
    struct log_reader *readers; /* by index: src/storage/removal_log.c */
    reef_status sent;           /* of reef_send outside of systems */
    /* events that aren't part of the state yet: src/system/event.c; NULL: there never were any */
    struct event_flight *flight;
    uint32_t reader_count, reader_capacity; /* with free ones */
    uint64_t shifted, destroyed;            /* of hot.moves; what is left of it is rows that moved: rows_moved */
    uint64_t ours_after; /* blocks with a newer version are ours, as far as is known without the lock: block_own */
    bool has_past;       /* snapshots alone hold what is not ours, as far as is known: reef__block_unshare */
    /* What the open loop comes to next and was copied: src/storage/copy_on_write.c. Chunks are a ring in the loop's
     * order. */
    uint32_t ahead_count;            /* of columns that it writes */
    uint32_t ahead_most, ahead_done; /* chunks that are copied ahead at most; that it came to */
    uint32_t ahead_first, ahead_chunks;
    uint32_t ahead_unit[AHEAD_CHUNKS];
    struct ahead {
        const column *column;
        struct ahead_copy {
            void *copy; /* NULL: none, or it was taken */
            void *of;   /* what was copied, at this version */
            uint64_t version;
            bool away;  /* past the caches */
            bool there; /* it changed hands: the past has the copy, and the block is ours, though not marked */
        } made[AHEAD_CHUNKS];
        uint32_t slot, spare_at, spare_end;
        void *spare[AHEAD_SPARES]; /* blocks for the next copies: each call for memory takes a lock */
    } ahead[AHEAD_COLUMNS];
    uint64_t observed;     /* the newest version of which somebody may ask what was written after it */
    uint64_t hashed, hash; /* the state's hash, good while the version is `hashed` */
    /* values of the call that is running: when growth moves the block that one points into, it is put right */
    reef_value *value;
    uint32_t value_count;
    commands deferred;                /* recorded by loops; commands points here while one of them is open */
    bool flushing;                    /* commands are done: what fails is no mistake of the caller */
    struct observing *observing;      /* src/observe/observing.h; NULL: nothing was ever observed */
    const struct observer *notifying; /* it runs; NULL: none */
    struct command_chunk *spare_chunks[COMMAND_CHUNK_CLASSES]; /* of buffers, by length; under the family's lock */
    /* Lanes that gave out ids which aren't pending yet, since memory was short: lane_made[l] of lane l. 0: none */
    uint32_t lane_rest, lane_room;
    uint32_t *lane_made;
    /* ids that stopped to be pending though no entity came: while it is 0, those of all commands are pending */
    uint64_t unpended;
#if defined(QUARANTINE)
    /* what moves rows now: src/storage/quarantine.h */
    struct {
        const char *op;
        uint32_t component;
        reef_entity entity;
        uint64_t saved;
    } moving;
#endif
#if defined(REEF_CHECKED)
    bool unwatched;      /* reef_watch_systems */
    struct watch *watch; /* while systems run that are watched (src/system/access_check.h); else NULL */
#endif
};

#define SLOW_NAMES 2u                       /* world.slow: some entity has a name */
#define SLOW_COLD 8u                        /* some entity has a component of REEF_COLD */
#define SLOW_DEFERRED 4u                    /* a loop that records is open, or commands are left */
#define SLOW_OBSERVED 16u                   /* the world has observers: src/observe/observer.h */
#define SLOW_AHEAD 32u                      /* blocks were copied ahead: world.ahead */
#define SLOW_BOUND (SLOW_NAMES | SLOW_COLD) /* an entity may be bound to more than its row: what matters when it ends */
/* A loop is open, or commands are left: no moment for the state as a whole to be taken, replaced or compared. */
INLINE bool world_engaged(const reef_world *w) { return w->locks || w->slow & SLOW_DEFERRED; }

#endif
