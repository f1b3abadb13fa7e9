/* A world: its state, and what it remembers beside the state.
 *
 *   hot       records, chunks and what else the inlined calls read (reef/detail/layout.h)
 *   state     tables, ring of free ids, bits, names, counters: a value, which snapshots and forks share (state.h)
 *   the rest  caches (bundles and edges that were used last), open loops, commands, the last error
 *
 * What the world shares with its forks and snapshots is its family (family.h). */
#ifndef REEF_STORAGE_WORLD_DATA_H
#define REEF_STORAGE_WORLD_DATA_H

#include "storage/command_buffer.h"
#include "storage/family.h"
#include "storage/library.h"
#include "storage/query_types.h"
#include "storage/state.h"
#include "reef/inspect.h"
#include "reef/pool.h"
#include "reef/snapshot.h"

enum { AHEAD_COLUMNS = 4, AHEAD_SPARES = 16, EDGE_CACHE = 128, SET_CACHE = 64, FREED_QUERIES = 8 };

/* The gate of a bundle (src/change/spawn.c). `ready` is its world while its fast path is open, else the gate itself;
 * `next` is the next open one of the same world. */
typedef struct bundle_gate {
    const void *ready;
    struct bundle_gate *next;
} bundle_gate;

/* Why a relation can't be made or ended, for the message of the failure with this status, which is recorded next. */
typedef struct relation_refusal {
    reef_status status;
    reef_component relation;
    reef_entity target;
    const char *why; /* static memory; NULL: the target says it */
} relation_refusal;

/* What is derived from the state of a world, as a list; what is called for all of it. A program that has none is linked
 * without its code. */
struct reef_query_data;
struct value_list;
typedef struct derived {
    struct derived *next;
    void (*drop)(reef_world *w);                                  /* frees it */
    void (*share)(const struct derived *first, reef_world *fork); /* a fork gets the same */
    bool (*prepare)(reef_world *w); /* for systems that read components of others. False: no memory */
    /* marks rows that fulfil the query's conditions, where that pays (src/query/value_term.h) */
    void (*mark)(reef_world *w, struct reef_query_data *q);
    /* of a field, the rows by their values, for joins (src/query/value_join.h); to->held stays NULL if there is no such
     * index. False: no memory */
    bool (*hold)(reef_world *w, uint32_t component, uint32_t offset, uint32_t bytes, struct value_list *to);
} derived;

struct reef_world {
    reef_hot hot;
    uint32_t slow;      /* not 0: the fast paths of structural calls give up (SLOW_...) */
    uint32_t deferring; /* number of open loops that asked for structural changes to be recorded */
    /* number of open loops (not beside `slow`: a compiler that compares both at once would wait for two stores) */
    uint32_t locks;
    commands *commands; /* where structural changes are recorded now; NULL: nowhere */
    /* src/storage/invalidate.h says what counts these up. While tables_epoch stays, pointers into pages of tables and
     * chunks are good. While rows_epoch stays, each table also has the same rows, blocks and leases. While
     * disabled_epoch stays, there are the same stores of marks. */
    uint64_t tables_epoch, rows_epoch, disabled_epoch;
    /* as hot.gate_move, for destroy, which is also shut while entities may have names or cold components */
    uint64_t gate_destroy;
    /* where the next free id goes, on a page that this world owns; both NULL: not known */
    uint32_t *ring_next, *ring_end;
    uint64_t told; /* how often a query was told of a table that is used for the first time */
    /* counts the changes that no version tells: another state, or chunks that went to another table as they were */
    uint64_t state_epoch;
    struct schedule *schedule; /* src/system/schedule.h; NULL: no system was ever added */
    struct ticking *ticking;   /* what ticks remember (src/time/tick.c); NULL: the world never ticked */
    uint64_t hashed, hash;     /* the hash of the state; it is right while the version is `hashed` */
    struct reef_pool *pool;
    /* not NULL: systems run, maybe on several threads, and nobody writes what threads share (src/storage/running.h) */
    const struct running_calls *running;
    const char *time_owner; /* who alone plays ticks and goes back (reef_own_time); NULL: everybody may */
    /* number of calls that are calling a function of the user and go on with the world afterwards, beside those that
     * `locks` and `running` tell of: world_hold. Atomic, since several threads may read a world */
    uint32_t held;
    bool paused, readers_held; /* reef_hold_readers */
    /* recorded commands are being done: a failure is no mistake of the present caller */
    bool flushing;
    reef_error error;
    state state;
    reef_world_config config;
    reef_error world_failure; /* failure of a call that a system made on the world */
    family *family;
    /* src/storage/block_index.h: units that the indexes have room for, UINT32_MAX: there is none; how many calls would
     * have liked one, by the last bits of the component's id; the newest index */
    uint32_t block_room, block_count, block_asked[64];
    reef_block_index *block_newest;
    /* Edges that were used, by a hash of their key. Emptied when pages may move. The last three entries are those that
     * add, remove and destroy used last (for destroy, key and `from` are a table). Their address doesn't depend on the
     * entity, so that the processor goes on with the ends of the tables while the record still comes, and compares the
     * key when it has it. (A move took 42 ns with hashed entries alone and takes 28 with these.) */
    struct edge_entry {
        uint64_t key;
        const edge *edge;
        table *from, *to;
    } edge_cache[EDGE_CACHE + 3];
    bool edges_cached; /* some edge is remembered */
    struct {
        uint64_t key;
        uint32_t table;
    } set_cache[SET_CACHE]; /* for reef_spawn and reef_change: list of components -> table (src/change/spawn.h) */
    uint32_t *order;        /* a copy of the graph's order, which is read without the lock */
    uint32_t order_count, order_room;
    struct reef_bundle *bundles;       /* bundles of the user */
    struct bundle_gate *bundles_ready; /* those whose fast path is open, until INVALIDATE_TABLES_MADE */
    struct query_slot *queries;        /* by index */
    uint32_t query_room, query_free;   /* no place before query_free is free */
    /* src/query/inherited_queries.h: what it began with; what its next fork begins with, NULL: to be made, unless it is
     * known that there are none. The calls are NULL if it is no fork and never had one */
    struct query_list *inherited, *handed_on;
    bool hands_none_on;
    const struct inheritance_calls *inheritance;
    /* src/storage/query_types.h: the queries by what they need, their number; how many tables were used first */
    struct query_types *filed[QUERY_BUCKETS + 1];
    uint32_t filed_count[QUERY_BUCKETS + 1];
    uint64_t tables_begun;
    /* tells queries that a table is used for the first time; NULL: there was no query yet, and none is linked in */
    void (*queries_tell)(reef_world *w, const shape *s);
    /* the last ones, for a caller who asks the same again; the newest first */
    struct reef_query_data *freed_queries[FREED_QUERIES];
    /* when storage was grouped last (src/query/grouped_rows.h): the version and state_epoch; of the relations that
     * group rows, how many there were, and how many had come or gone */
    uint64_t grouped_version, grouped_epoch, grouped_links, grouped_link_changes;
    reef_error passed_error; /* the last failure, if a loop or a tick that worked came after it */
    /* the public call for which another call does the work; NULL: there is none. Not set while systems run. */
    const char *calling;
    const char *declaring;          /* the name of the system or observer that is being declared; NULL: none */
    const char *code_pinned;        /* why reef_code_use is refused; NULL: it isn't (src/api/code.c) */
    struct module_loading *loading; /* src/system/schedule.h; NULL: no module is being loaded */
    /* number of the running phase's step in this tick, from 0 (for phases with steps of their own) */
    uint32_t step;
    reef_component hook_failed; /* the type whose hook failed in the running call */
    /* src/storage/unique_field.h: number of the operation that makes values; who has the value that one was refused;
     * the tables, NULL: none */
    uint64_t operation;
    reef_entity taken;
    struct unique_table *uniques;
    bool unique_later; /* the values of a file come to their types; reef_validate compares them in the end */
    struct {
        reef_entity entity;
        uint32_t component;
        void *value;
    } ready; /* the entity and the component that reef_mut_slow_ made ready to be written, outside of systems */
    /* number of the reader of the scripts + 1; 0: scripts were never turned on (src/system/script.c) */
    uint32_t script_reader;
    struct log_reader *readers; /* by index: src/storage/removal_log.c */
    reef_status sent;           /* status of the last reef_send outside of systems */
    /* events that aren't part of the state yet (src/system/event.c); NULL: there never were any */
    struct event_flight *flight;
    uint32_t reader_count, reader_capacity; /* the free ones are counted too */
    uint64_t shifted, destroyed;            /* parts of hot.moves; the rest is rows that moved: rows_moved */
    /* blocks with a newer version belong to this world alone, as far as is known without the lock: block_own */
    uint64_t ours_after;
    /* as far as is known, only snapshots hold the blocks that this world doesn't own: reef__block_unshare */
    bool has_past;
    /* The chunk that the open loop comes to next, of which it has copied ahead the columns that it writes:
     * src/storage/copy_on_write.c */
    uint32_t ahead_unit, ahead_count; /* ahead_count: number of these columns */
    struct ahead {
        const column *column;
        void *copy; /* NULL: there is none, or it was used */
        void *of;   /* the block that was copied, at this version */
        uint64_t version;
        uint32_t slot, spare_at, spare_end;
        void *spare[AHEAD_SPARES]; /* blocks for the next copies, since each call for memory takes a lock */
    } ahead[AHEAD_COLUMNS];
    uint64_t observed; /* the newest version for which somebody may ask what was written after it */
    /* the values of the running call: when growth moves a block that one of them points into, the pointer is
     * corrected */
    reef_value *value;
    uint32_t value_count;
    /* commands that loops recorded; `commands` points here while such a loop is open */
    commands deferred;
    struct observer_log *observing; /* src/observe/observer_log.h; NULL: nothing was ever observed */
    /* relations are made as they are, whoever their targets are, and nothing ends with its target; in the end
     * reef__relations_end_dead puts that right */
    bool untargeted;
    /* while entities are destroyed together with others to which they are related: a bit for each index. The index of
     * relations to them needn't follow, since it ends as a whole (reef__relation_end). Else NULL */
    const uint8_t *doomed;
    relation_refusal refused; /* status OK: none */
    const char *why;          /* of the next BAD_ARGUMENT (refuse_because); NULL: it isn't known */
    const void *relating;     /* the value of a relation that was checked already and says its place; NULL: none */
    const struct observer *notifying; /* the observer that runs; NULL: none */
    /* spare chunks of command buffers, by length; guarded by the lock of the family */
    struct command_chunk *spare_chunks[COMMAND_CHUNK_CLASSES];
    /* Lanes that gave out ids which aren't pending yet, since memory was short: lane_made[l] ids of lane l. lane_rest
     * is the number of lanes; 0: nothing is left. */
    uint32_t lane_rest, lane_room;
    uint32_t *lane_made;
    /* counts ids that stopped being pending although no entity came; while it is 0, the ids of all commands are
     * pending */
    uint64_t unpended;
    derived *indexes;            /* src/index/value_index.c; NULL: none */
    struct reef_place *pictures; /* src/index/picture.h; NULL: none */
    uint32_t place_ghost;        /* of reef_place_ghosts: the tag; 0: there is none */
    double place_reach;
    family_member member;             /* in the list of all worlds */
    const struct debug_layout *debug; /* src/world/debug_layout.h: here, so that each program has it */
#if defined(QUARANTINE)
    /* what is moving rows now (src/storage/quarantine.h) */
    struct {
        const char *op;
        uint32_t component;
        reef_entity entity;
        uint64_t saved;
    } moving;
#endif
#if defined(REEF_CHECKED)
    bool unwatched;      /* reef_watch_systems turned watching off */
    struct watch *watch; /* while watched systems run (src/system/access_check.h); else NULL */
    const char *(*read_refusal)(const reef_world *world, reef_entity entity, reef_component type, void *context);
    void *read_context; /* of reef_watch_reads */
#endif
};

#define SLOW_NAMES 2u     /* world.slow: some entity has a name */
#define SLOW_COLD 8u      /* some entity has a component of REEF_COLD */
#define SLOW_DEFERRED 4u  /* a loop is open that records, or commands are left */
#define SLOW_OBSERVED 16u /* the world has observers: src/observe/observer.h */
#define SLOW_AHEAD 32u    /* blocks were copied ahead (world.ahead) */
#define SLOW_RELATED 64u  /* some entity has a relation to another one */
/* every change may concern an observer: some look at whole entities, or what they watch isn't known yet */
#define SLOW_WATCHED 128u
/* an entity may have more than its row, which has to end with it */
#define SLOW_BOUND (SLOW_NAMES | SLOW_COLD | SLOW_RELATED)
/* A loop is open, or commands are left: the state as a whole can't be taken, replaced or compared now. */
INLINE bool world_engaged(const reef_world *w) { return w->locks || w->slow & SLOW_DEFERRED; }

/* Around functions of the user that run in the middle of a call: until it is over, the world can't be freed. */
INLINE void world_hold(const reef_world *w) { COUNT_UP(&((reef_world *)(uintptr_t)w)->held); }
INLINE void world_let_go(const reef_world *w) { COUNT_DOWN(&((reef_world *)(uintptr_t)w)->held); }

/* For checks whose callers record the failure: the next BAD_ARGUMENT of this world is for this reason, a text in static
 * memory that is shorter than REEF_DETAIL_MAX. Answers BAD_ARGUMENT. While systems run, nothing is kept. */
INLINE reef_status refuse_because(const reef_world *w, const char *why)
{
    if (!w->running) ((reef_world *)(uintptr_t)w)->why = why; /* a world is never really const */
    return REEF_BAD_ARGUMENT;
}

#endif
