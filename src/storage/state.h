/* A world: the inside.
 *
 *   family (shared by a world and its forks, guarded by its lock)
 *     types -> tables graph: which sets of components have a table, the layout of each (shape), component -> slot maps, edges
 *     memory
 *   world
 *     hot: records, chunks                 what the inlined calls read (reef/fast.h)
 *     state: tables, ring of free ids, bits, names, counters      a value: snapshot and fork share it
 *     caches: bundles and edges lately used, open loops, the last error
 *
 * Table ids are the family's and depend on history; nothing visible is ordered by them. Table 0 is nowhere (unit 0, the
 * place of the dead), table 1 is the table of entities without components: those have no row (unit 1). */
#ifndef REEF_WORLD_INTERNAL_H
#define REEF_WORLD_INTERNAL_H

#include "change/command.h"
#include "storage/cow_pages.h"
#include "reef/fast.h"
#include "reef/inspect.h"
#include "reef/signature.h"
#include "reef/snapshot.h"
#include "type/type.h"

enum {
    ROW_MASK = REEF_BLOCK_ROWS - 1,
    RECORDS_PER_PAGE = 1 << REEF_RECORD_BITS,
    UNITS_PER_PAGE = 1 << REEF_UNIT_BITS,
    UNIT_MAX = (1 << 22) - 1,
    TABLES_PER_PAGE = 64,
    TABLE_NONE = 0, TABLE_EMPTY = 1,
    PLACE_DEAD = 0, PLACE_PENDING = 3, PLACE_EMPTY = 1 << REEF_ROW_BITS,
    SLOT_ENTITIES = 1, SLOT_COLUMNS = 2, /* the first column */
    RING_PER_PAGE = 1024,
    NAMES_PER_PAGE = 32,
    HASHES_PER_PAGE = 1024,
    TRACK_PAGE_BYTES = 8192, /* of stamps, and of the rings of removals */
    BIT_WORDS = REEF_BLOCK_ROWS / 64,
    RUN_SMALL = 32, /* units of a chunk up to here are exact, above rounded to a multiple of 8 */
    RUN_CLASSES = RUN_SMALL + UNITS_PER_PAGE / 8 - 3
};
#define RING_HOLE 0xFFFFFFFFu /* an entry of the ring that was taken out of turn */
#define INDEX_MAX 0xFFFFFFFEu /* entities of a world */
#define BIT_DISABLED 0x80000000u /* | id of a component: the key of the store of those that are disabled; alone: of whole entities */
#define BITS_OF_MARKS 0xFFFFFFFFu /* bit_store.marks of such a store */

/* ---- layout: what all rows of a table have in common; immutable, lives as long as the family ---- */

typedef struct column {
    const type *type;
    uint32_t    size;
    uint16_t    align, arena;
} column;

typedef struct shape {
    uint32_t    table;           /* id */
    uint32_t    component_count; /* with tags */
    uint32_t    column_count;
    uint16_t    end_8, end_16;   /* slots 2 ... end_8 are 8 bytes wide, end_8 ... end_16 are 16, the rest anything */
    uint16_t    end_slot;
    uint16_t    units;           /* of a chunk */
    uint16_t    first_rows;      /* capacity of the first chunk when it is made */
    uint16_t    word_count;      /* of shape_signature */
    bool        hooked;          /* some column has hooks */
    bool        narrow;          /* all columns are 8 bytes wide */
    bool        bound;           /* some column can't be copied: such rows can't be shared */
    bool        resets;          /* some column of which a copy of the world gets default values */
    bool        tracked;         /* some component, with data or a tag, whose rows are stamped */
    const uint32_t *component;   /* ids by name */
    const column *columns;       /* by slot: columns[slot]; [1] is the handles */
} shape; /* the columns follow it, then the words of the set (shape_signature), then the ids */

/* The same set by id, in words of 64. */
INLINE const reef_signature_word *shape_signature(const shape *s)
{
    return (const reef_signature_word *)(const void *)(s->columns + s->column_count + SLOT_COLUMNS);
}

/* ---- a table of one world ---- */

/* append: == world version: the tail chunk is ours and marked, next and end hold, rows without bits may be appended by the straight
 *        paths. Never for tables with hooks or stamps.
 * lease: == world version: the same, and rows may come with all that they have, and go. Never where `append` isn't, or for tables with bits.
 * tail:  slots of the last chunk; valid under `append` only
 * shape: NULL: never used by this world
 * bits:  stores of bits that some row here may have one in: bit_mask of their numbers (src/storage/table.h)
 * first, last: chunks are linked by their heads
 * spare: unit of the first of the empty chunks kept for growth (linked by their heads), 0: none */
typedef reef_table table;

INLINE void lease_end(table *t) { t->append = t->lease = 0; }

/* ---- edges: from a table by (operation, component) to another ---- */

typedef struct edge_move { uint16_t from, to; uint32_t size; } edge_move; /* slots as offsets in bytes: slot_by */
INLINE char *slot_by(const reef_slot *slots, uint16_t offset)
{
    void *block;
    memcpy(&block, (const char *)slots + offset, sizeof block);
    return block;
}

typedef struct edge {
    uint64_t key;          /* edge_key */
    uint32_t from, to;     /* tables */
    uint16_t slot;         /* add: of the new column, 0 for a tag. remove: of the old one in `from` */
    uint32_t size;         /* of that component */
    bool     word;         /* the component is 8 bytes wide, or a tag */
    uint16_t end_8, end_16, count; /* moves by size class */
    uint16_t rest;         /* moves of other sizes than 8 */
    uint16_t pair_from, pair_to, pair_count; /* the first column of 16 bytes that is kept, as in edge_move; so many lie side by side, then
                                                comes the component's own, if it is such a column, and then the others */
    edge_move move[];
} edge;

/* No two keys are the same, whatever number somebody gives for a component: the straight paths compare nothing else. */
INLINE uint64_t edge_key(uint32_t table_id, uint32_t component, bool remove)
{
    return (uint64_t)table_id << 33 | (uint64_t)component << 1 | (uint64_t)remove;
}

/* ---- family ---- */

typedef struct retired {
    struct retired *next;
    void           *memory;
    size_t          bytes;
} retired;

typedef struct graph {
    shape      **shapes;      /* by table id */
    uint32_t     shape_count, shape_capacity;
    uint32_t    *hash;        /* open addressing, set of components -> table id + 1 */
    uint32_t     hash_capacity;
    edge       **edges;       /* open addressing by key */
    uint32_t     edge_count, edge_capacity;
    reef_map   **maps[REEF_MAP_PAGES]; /* by component id, 256 a page */
    uint32_t     map_count;            /* types whose maps exist: ids below */
    uint32_t    *order;                /* tables in the visible order, as far as somebody asked for it */
    uint32_t     order_count, order_room;
    uint32_t     bound_count, reset_count; /* layouts that are bound, that reset */
    retired     *retired;     /* replaced arrays that another thread may still read; freed with the family */
    uint64_t    *rare;        /* open addressing: component << 32 | table, with slot beside it: maps too sparse for an array */
    uint16_t    *rare_slot;
    uint32_t     rare_count, rare_capacity;
} graph;

typedef struct family {
    memory   memory;
    mutex    lock;   /* of nodes, graph and members */
    uint32_t members; /* worlds and snapshots */
    uint32_t worlds;  /* of these, worlds: who may still read what the graph retires */
    uint64_t reader_serial; /* of the last reader of removals or events made */
    graph    graph;
    uint64_t query_serial; /* of the last query, system or phase made */
    uint64_t schedule_epoch; /* changes of schedules */
    const struct observer_calls *observer_calls; /* src/observe/observer.h; NULL: there never was an observer */
    bool   (*schedule_knows)(const reef_world *w, uint64_t serial); /* src/system/schedule.h; NULL: there never was a schedule */
} family;

/* ---- state: everything that a snapshot holds beside hot.records and hot.chunks ---- */

typedef struct bit_store { /* the REEF_BIT home of one type, or the marks of those that are disabled: 16 words a unit */
    uint32_t   key;   /* id of the component, or with BIT_DISABLED */
    uint32_t   marks; /* of a type: number of the store of its marks + 1, 0: none was ever made. BITS_OF_MARKS: these are marks */
    uint64_t   switched; /* set bits of a switch, or of marks; of a type with a store it says nothing: bit_count_rows asks that */
    reef_paged words; /* page u: the bits of unit u, NULL: all zero; its version is that of the last write */
    reef_paged hashes; /* of the units: src/world/state_hash.c */
} bit_store;

typedef struct track_store { /* of one type with track_rows */
    uint32_t   component;
    uint32_t   readers, value_readers; /* of removals, that the world has: nothing is logged without one (src/storage/removal_log.c) */
    reef_paged stamps;     /* by entity index: src/storage/row_stamps.c */
    reef_paged log;        /* removals head ... tail - 1: a ring of handles */
    reef_paged values;     /* of removals value_head ... tail - 1: a ring of bytes */
    uint64_t   head, value_head, tail; /* positions count up for ever */
} track_store;

typedef struct reader_place { /* where a reader of removals or events stood when the state was shared */
    uint64_t serial, position;
} reader_place;

typedef struct event_store { /* of one type (src/system/event.c) */
    uint32_t   component;
    reef_paged pages;      /* events head ... tail - 1: a ring */
    uint64_t   head, tail; /* positions count up for ever */
    uint64_t   most;       /* that are kept */
} event_store;

typedef struct event_place { /* how far a system has read a type */
    uint64_t serial;    /* of the system */
    uint64_t name_hash; /* of its name, for the state's hash */
    uint64_t position;  /* of the next event that it reads */
    uint32_t component;
} event_place;

typedef struct absentee { /* a system or phase that this state speaks of and the world hasn't got: src/system/absent_system.c */
    uint64_t serial;
    bool     phase, on;
    char     name[REEF_SYSTEM_NAME_MAX + 1];
} absentee;

typedef struct state {
    reef_paged tables;        /* table[64] a page, by table id */
    reef_paged ring;          /* free ids, oldest first: uint32_t[1024] a page, by position / 1024 modulo the number of
                                 pages, a power of two; all pages are there */
    uint64_t   ring_head, ring_tail; /* positions */
    uint32_t   ring_holes;    /* entries in the ring that are RING_HOLE */
    uint32_t   next_unit;     /* units from here on were never used */
    uint32_t   free_unit[RUN_CLASSES]; /* heads of lists of free runs: run_class */
    bit_store *bits;          /* in order of first use */
    uint32_t   bit_count, bit_capacity;
    uint32_t  *bit_number;    /* by bit_slot of the key: number of the store + 1, 0: there is none */
    uint32_t   bit_room;
    track_store *tracks;      /* in order of first use */
    uint32_t   track_count, track_capacity;
    reader_place *places;     /* readers_note: in a state that somebody may go back to */
    uint32_t   place_count, place_capacity;
    reef_paged name_entries;  /* src/storage/name_index.c */
    reef_paged name_by_text, name_by_index;
    reef_paged chunk_hashes, record_hashes, ring_hashes, name_hashes; /* src/world/state_hash.c */
    reef_store *stores;       /* values outside of the rows, in order of first use; the first one is empty (src/storage/sparse_store.c) */
    uint32_t   store_count, store_capacity;
    uint32_t  *store_number;  /* by component id; hot has the same */
    uint32_t   store_room;
    event_store *events;      /* in order of first use */
    uint32_t   event_count, event_capacity;
    event_place *event_places;
    uint32_t   event_place_count, event_place_capacity;
    absentee  *absents;
    uint32_t   absent_count, absent_room;
    uint32_t   described;     /* types_described when the chunks' hashes were kept */
    uint32_t   name_count, name_buckets;
    uint64_t  *used_types;    /* bitset by component id: this world knows the type */
    uint32_t   used_words;
    uint32_t   map_count;     /* this world sees the maps of ids below */
    struct query_run { uint64_t serial, version; } *runs; /* of queries that ask for changes: their last run */
    uint32_t   run_count, run_room;
    /* Of time: src/time/tick.c. A clock belongs to a phase or a system, by its serial number: time that waits to be stepped through, or
     * the world's time when it ran last. */
    uint64_t   ticks, time_ns, seed;
    struct clock { uint64_t serial, value; } *clocks;
    uint32_t   clock_count, clock_room;
    reef_entity single;       /* that has the singletons; null or dead: there is none (src/change/singleton.c) */
    uint32_t   reserved_count; /* ids out by reef_reserve_id and by commands that are recorded */
    uint32_t   retired_count;  /* indices that are never given out again */
} state;

/* ---- caches ---- */

/* Of a bundle (src/change/spawn.c): its world while the straight path is open, else the gate itself; the next open one of the world's. */
typedef struct bundle_gate {
    const void *ready;
    struct bundle_gate *next;
} bundle_gate;

enum { AHEAD_COLUMNS = 4, AHEAD_CHUNKS = 4, AHEAD_SPARES = 16, EDGE_CACHE = 128, SET_CACHE = 64, FREED_QUERIES = 8 };

struct reef_world {
    reef_hot   hot;
    uint32_t   slow;        /* != 0: the fast paths of structural calls give up (names, observers ...) */
    uint32_t   deferring;   /* of the open loops, those that asked for structural changes to be recorded */
    uint32_t   locks;       /* open loops. (Not beside `slow`: a compiler that compares both at once waits for two stores.) */
    commands  *commands;    /* where they are recorded now; NULL: nowhere */
    uint64_t   tables_epoch; /* counts what queries remember and what may be no more: pages of tables and of chunks made or copied
                                (pointers into them are good while it stays) or shared, tables used for the first time, disabled_epoch */
    uint64_t   rows_epoch;   /* the same, and counts whatever gives a table other rows or blocks, or a lease: rows_other */
    uint64_t   disabled_epoch; /* which stores of marks there are is the same while it stays: marks_renew */
    uint64_t   gate_destroy; /* as hot.gate_move, for destroy, which also has names to forget (gates_set) */
    uint32_t  *ring_next, *ring_end; /* where the next free id goes: a page that is ours; both NULL: not known */
    state      state;
    family    *family;
    /* Emptied when pages may move. The last three are what add, remove and destroy used lately (destroy: key and from are a
     * table). Their address doesn't depend on the entity: the processor goes on with the tables' ends while the record still
     * comes, and compares the key when it has it. (A move took 42 ns with hashed entries alone, takes 28 with these.) */
    struct edge_entry { uint64_t key; const edge *edge; table *from, *to; } edge_cache[EDGE_CACHE + 3];
    struct { uint64_t key; uint32_t table; } set_cache[SET_CACHE]; /* reef_spawn: set of components -> table */
    uint32_t  *order;       /* a copy of the graph's, to be read without the lock */
    uint32_t   order_count, order_room;
    struct reef_bundle *bundles;  /* the user's */
    struct bundle_gate *bundles_ready; /* of those whose straight path is open: until tables_renew */
    struct query_slot { struct reef_query_data *query; uint32_t generation; } *queries; /* by index */
    uint32_t    query_room, query_count;
    struct reef_query_data *freed_queries[FREED_QUERIES]; /* the last ones, for who asks the same again; newest first */
    uint64_t    state_epoch;   /* counts what no version tells: another state, chunks that went to other units as they were */
    reef_world_config config;
    reef_error error;
    const char *calling;       /* the public call that another one does the work for; NULL: none. Not while systems run */
    struct schedule *schedule; /* src/system/schedule.h; NULL: no system was ever added */
    struct ticking *ticking;   /* what ticks remember (src/time/tick.c); NULL: it never ticked */
    uint32_t   step;           /* of the phase that runs, in this tick: counted from 0 (phases with steps of their own) */
    struct reef_pool *pool;
    const struct running_calls *running; /* systems run, maybe on several threads: nobody writes what is shared (storage/running.h); else NULL */
    bool       paused;
    reef_error world_failure;  /* while they run: of a call on the world by one of them */
    reef_component hook_failed; /* of the call that is running */
    struct { reef_entity entity; uint32_t component; } ready; /* of a tracked type, to be written: reef_mut_done */
    uint32_t   script_reader;  /* number of that of scripts + 1; 0: scripts were never turned on (src/system/script.c) */
    struct log_reader *readers; /* by index: src/storage/removal_log.c */
    reef_status sent;           /* of reef_send outside of systems */
    struct event_flight *flight; /* events that aren't part of the state yet: src/system/event.c; NULL: there never were any */
    uint32_t    reader_count, reader_capacity; /* with free ones */
    uint64_t   shifted, destroyed; /* of hot.moves; what is left of it is rows that moved: rows_moved */
    uint64_t   ours_after;   /* blocks with a newer version are ours, as far as is known without the lock: block_own */
    bool       has_past;     /* snapshots alone hold what is not ours, as far as is known: block_unshare */
    /* What the open loop comes to next and was copied: src/storage/copy_on_write.c. Chunks are a ring in the loop's order. */
    uint32_t   ahead_count;  /* of columns that it writes */
    uint32_t   ahead_most, ahead_done; /* chunks that are copied ahead at most; that it came to */
    uint32_t   ahead_first, ahead_chunks;
    uint32_t   ahead_unit[AHEAD_CHUNKS];
    struct ahead {
        const column *column;
        struct ahead_copy {
            void    *copy;    /* NULL: none, or it was taken */
            void    *of;      /* what was copied, at this version */
            uint64_t version;
            bool     away;    /* past the caches */
            bool     there;   /* it changed hands: the past has the copy, and the block is ours, though not marked */
        } made[AHEAD_CHUNKS];
        uint32_t    slot, spare_at, spare_end;
        void       *spare[AHEAD_SPARES]; /* blocks for the next copies: each call for memory takes a lock */
    } ahead[AHEAD_COLUMNS];
    uint64_t   observed;     /* the newest version of which somebody may ask what was written after it */
    uint64_t   hashed, hash; /* the state's hash, good while the version is `hashed`: world_touch */
    /* values of the call that is running: when growth moves the block that one points into, it is put right */
    reef_value *value;
    uint32_t   value_count;
    commands   deferred;    /* recorded by loops; commands points here while one of them is open */
    bool       flushing;    /* commands are done: what fails is no mistake of the caller */
    struct observing *observing; /* src/observe/observing.h; NULL: nothing was ever observed */
    const struct observer *notifying; /* it runs; NULL: none */
    struct command_chunk *spare_chunks[COMMAND_CHUNK_CLASSES]; /* of buffers, by length; under the family's lock */
    /* Lanes that gave out ids which aren't pending yet, since memory was short: lane_made[l] of lane l. 0: none */
    uint32_t   lane_rest, lane_room;
    uint32_t  *lane_made;
    uint64_t   unpended;    /* ids that stopped to be pending though no entity came: while it is 0, those of all commands are pending */
#if defined(QUARANTINE)
    struct { const char *op; uint32_t component; reef_entity entity; uint64_t saved; } moving; /* what moves rows now: src/storage/quarantine.h */
#endif
#if defined(REEF_CHECKED)
    bool       unwatched;       /* reef_watch_systems */
    struct watch *watch;        /* while systems run that are watched (src/system/access_check.h); else NULL */
#endif
};

#define SLOW_NAMES 2u  /* world.slow: some entity has a name */
#define SLOW_COLD 8u /* some entity has a component of REEF_COLD */
#define SLOW_DEFERRED 4u /* a loop that records is open, or commands are left */
#define SLOW_OBSERVED 16u /* the world has observers: src/observe/observer.h */
#define SLOW_AHEAD 32u /* blocks were copied ahead: world.ahead */
#define SLOW_BOUND (SLOW_NAMES | SLOW_COLD) /* an entity may be bound to more than its row: what matters when it ends */
/* A loop is open, or commands are left: no moment for the state as a whole to be taken, replaced or compared. */
INLINE bool world_engaged(const reef_world *w) { return w->locks || w->slow & SLOW_DEFERRED; }

/* ---- errors (src/storage/error.c) ---- */

/* Records a failure, calls the misuse hook in the checked build, returns `status`. Never allocates. */
COLD reef_status failure(reef_world *w, reef_status status, const char *operation, reef_component c, reef_entity e,
                      uint64_t number);
/* Does the number of a failure with a detail say where in a file it is? (Else in a text.) */
bool status_of_file(reef_status status);
/* Enough for any failure as a text. */
enum { REPORT_BYTES = REEF_TYPE_NAME_MAX + REEF_NAME_MAX + REEF_DETAIL_MAX + REEF_SYSTEM_NAME_MAX + 512 };
/* The same for a text: what is wrong with it in column `number`, as a sentence. (0: of no text.) */
#if defined(REEF_CHECKED)
/* Tells the misuse hook, or the log, of a mistake of the caller. */
void failure_tell(const reef_world *w, const reef_error *e);
#endif
COLD reef_status failure_record(reef_world *w, const reef_error *e); /* of one that is filled in */
COLD reef_status failure_detail(reef_world *w, reef_status status, const char *operation, uint64_t number, const char *detail);

/* ---- graph (src/storage/archetype.c) ---- */

enum { ELSEWHERE_RARE = 1, ELSEWHERE_BITS = 2, ELSEWHERE_STORES = 3 }; /* reef_map.elsewhere */

void family_drop(family *f); /* the last member left */
/* A world or a snapshot more, or less: the last one takes the family along. (src/storage/state.c) */
void family_join(family *f, bool world);
void family_leave(family *f, bool world);
uint32_t world_number(void); /* of a new one */
/* A holder of this state leaves; it is empty afterwards. (src/world/snapshot.c) */
void state_drop(family *f, reef_hot *h, state *s);
/* Frees what was retired, if no other world is left whose thread may still read it. Under the lock, or by the only world. */
void graph_settle(family *f);
/* The world's view of maps that don't exist yet. */
void graph_view_none(reef_world *w);
/* Makes the maps reach all types; refreshes the world's view. NO_MEMORY. */
reef_status graph_sync(reef_world *w);
/* The table of a set of table-home components, given by ids in any order, without doubles. 0: no memory or a limit (then
 * *status says). */
uint32_t graph_table(reef_world *w, uint32_t *ids, uint32_t count, reef_status *status);
/* The edge from a table by adding or removing a component, which it hasn't or has. NULL as above. */
const edge *graph_edge(reef_world *w, uint32_t from, uint32_t component, bool remove, reef_status *status);
/* Slot of a component in a table: 0 absent, REEF_SLOT_TAG. */
uint32_t graph_slot_rare(const family *f, uint32_t component, uint32_t table_id);
INLINE uint32_t slot_find(const reef_world *w, uint32_t component, uint32_t table_id)
{
    if (UNLIKELY(component > REEF_TYPES_MAX)) return 0;
    const reef_map *m = REEF_DEPENDENT(&w->hot.maps[component >> 8][component & 255]);
    uint32_t d = table_id - m->lowest;
    uint32_t k = d < m->capacity ? ((const uint16_t *)(m + 1))[1 + d] : 0;
    return LIKELY(k != 0) || REEF_DEPENDENT(&m->elsewhere) != ELSEWHERE_RARE ? k : graph_slot_rare(w->family, component, table_id);
}
/* The same by a call, where it isn't on a straight path. */
NOINLINE uint32_t slot_seek(const reef_world *w, uint32_t component, uint32_t table_id);
INLINE const shape *shape_of(const family *f, uint32_t table_id)
{
    return REEF_DEPENDENT(&f->graph.shapes)[table_id];
}
void ids_sort(uint32_t *ids, uint32_t count); /* by type name */
/* Are the words of a layout its components? (src/storage/signature.c) */
bool shape_signed(const shape *s);

/* ---- versions and gates ---- */

#if defined(QUARANTINE)
#define GUARDED(w) ((w)->family->memory.guarded)
#else
#define GUARDED(w) false
#endif
/* hot.gate_move is what a lease must be for the straight path: the version, or never; hot.lately is emptied when a unit gets another
 * table, the stores move, the state is another. To be called when one of these changes: version, open loops, names, shared records, whether there are observers. */
INLINE void gates_set(reef_world *w)
{
    w->hot.gate_move = w->locks || w->hot.records.shared || GUARDED(w) || w->slow & SLOW_OBSERVED ? UINT64_MAX : w->hot.version;
    w->gate_destroy = w->slow & SLOW_BOUND ? UINT64_MAX : w->hot.gate_move;
    w->hot.lately.component = REEF_LATELY_NONE;
}
INLINE void gates_close(reef_world *w)
{
    w->hot.gate_move = w->gate_destroy = UINT64_MAX;
    w->hot.lately.component = REEF_LATELY_NONE;
}
/* A new write version: what is written from now on can be told from what was written before. */
INLINE void version_advance(reef_world *w)
{
    w->hot.version++;
    gates_set(w);
}
/* The straight paths that give out indices are closed, until somebody comes by fresh_open of src/storage/entity_index.c. */
INLINE void fresh_close(reef_world *w) { w->hot.fresh_end = w->hot.empty_end = 0; }
/* The same where every later write shall be seen, also those of the straight paths that mark nothing. */
INLINE void version_look(reef_world *w)
{
    fresh_close(w);
    w->ring_next = w->ring_end = NULL;
    version_advance(w);
}
/* What queries remember of the rows of tables isn't so any more. The straight paths that make and end rows don't come by here: they need
 * a lease, which does, and queries take away the leases of the tables that they look at (rows_look in src/query/query.c). */
INLINE void rows_other(reef_world *w) { w->rows_epoch++; }
void bundles_distrust(reef_world *w); /* closes the gates of all bundles */
INLINE void tables_renew(reef_world *w)
{
    w->tables_epoch++;
    if (w->bundles_ready) bundles_distrust(w);
    rows_other(w);
}
INLINE void marks_renew(reef_world *w)
{
    w->disabled_epoch++;
    tables_renew(w);
}
/* The same after everything was shared with another holder: nothing is ours alone. */
INLINE void version_share(reef_world *w)
{
    if (!BUG(27)) tables_renew(w); /* queries remember slots */
    bool hashed = w->hashed == w->hot.version; /* sharing changes nothing that the hash covers */
    w->hot.fork_version = w->ours_after = w->hot.version;
    version_look(w);
    if (hashed) w->hashed = w->hot.version;
}

/* What was remembered of the bits that were turned lately isn't so any more. */
INLINE void lately_forget(reef_world *w)
{
    w->hot.lately.component = REEF_LATELY_NONE;
    for (uint32_t i = 0; i < w->state.store_count; i++) w->state.stores[i].lately_gate = 0;
}

/* Called where something begins to be written for the first time at this version. (A loop that writes makes a new one.) */
INLINE void world_touch(reef_world *w) { w->hashed = 0; }

/* ---- what moves ----
 * hot.moves counts everything after which the value of a living entity may be gone or lie elsewhere: rows that moved to another
 * table (the statistics tell them), entities destroyed, and the rest: blocks with another address, rows in another order, another
 * state. Nothing is trusted that a reef_ref remembered under another count. So whoever ends a value, moves it or copies its block
 * comes by here. */

INLINE uint64_t rows_moved(const reef_world *w) { return w->hot.moves - w->destroyed - w->shifted; }
INLINE void values_shift(reef_world *w)
{
    w->hot.moves++;
    w->shifted++;
    rows_other(w);
}
INLINE void entities_ended(reef_world *w, uint64_t n)
{
    w->hot.moves += n;
    w->destroyed += n;
}
/* The statistics of another state; hot.moves goes on. */
INLINE void moves_put(reef_world *w, uint64_t moved, uint64_t destroyed)
{
    w->hot.moves++;
    rows_other(w);
    w->destroyed = destroyed;
    w->shifted = w->hot.moves - destroyed - moved;
}

/* ---- access ---- */

INLINE const table *table_read(const reef_world *w, uint32_t id) /* NULL: never used by this world */
{
    uint32_t p = id / TABLES_PER_PAGE;
    if (p >= w->state.tables.count || w->state.tables.page[p] == NULL) return NULL;
    const table *t = (const table *)w->state.tables.page[p] + id % TABLES_PER_PAGE;
    return t->shape ? t : NULL;
}
INLINE handle handle_of(reef_entity e)
{
    handle h;
    memcpy(&h, &e, sizeof h);
    return h;
}
INLINE handle handle_at(const reef_slot *slots, size_t row)
{
    handle h;
    memcpy(&h, (const char *)slots[SLOT_ENTITIES].block + row * sizeof h, sizeof h);
    return h;
}
INLINE void handle_put(reef_slot *slots, size_t row, handle h)
{
    memcpy((char *)slots[SLOT_ENTITIES].block + row * sizeof h, &h, sizeof h);
}
INLINE uint32_t place_unit(uint32_t place) { return place >> REEF_ROW_BITS; }
INLINE uint32_t place_row(uint32_t place) { return place & ROW_MASK; }
/* Where row `place` of its chunk begins in a block of values of 8 or 16 bytes. (One register for columns and handles alike.) */
INLINE size_t place_word(uint32_t place) { return (size_t)(place * 8 & ROW_MASK * 8); }
INLINE uint32_t unit_place(uint32_t unit) { return unit << REEF_ROW_BITS; }
INLINE reef_slot *unit_slots(const reef_world *w, uint32_t unit) { return reef_slots_at(&w->hot, unit_place(unit)); }
/* Rows of a chunk of t. */
INLINE uint32_t chunk_rows(const table *t, uint32_t unit)
{
    return unit == t->last ? t->next - unit_place(unit) : REEF_BLOCK_ROWS;
}
INLINE uint64_t table_rows(const table *t)
{
    return t->chunks == 0 ? 0 : (uint64_t)(t->chunks - 1) * REEF_BLOCK_ROWS + (t->next - unit_place(t->last));
}
INLINE const reef_entity *slot_entities(const reef_slot *slots) { return (const reef_entity *)slots[SLOT_ENTITIES].block; }

/* The tables with at least one row, by their sorted type names: ids into a fresh array of *count (memory kind OTHER;
 * free with memory_free(&w->family->memory, MEMORY_OTHER, p, *count * 4)). NULL with *count 0: none; NULL with *count != 0:
 * no memory. (src/storage/archetype.c) */
uint32_t *tables_sorted(const reef_world *w, uint32_t *count);
/* All tables of the family, with rows here or without, in that order: the world's own list, good until the next call.
 * NULL with *count 0: there is none; NULL with *count != 0: no memory. (src/storage/archetype.c) */
const uint32_t *tables_order(reef_world *w, uint32_t *count);
/* Compares two layouts by their sorted type names. */
int shape_compare(const shape *a, const shape *b);
/* Where state.bit_number has a key: a component's switch and its mark lie side by side, the mark of entities is that of component 0. */
INLINE uint32_t bit_slot(uint32_t key) { return key << 1 | key >> 31; }
/* Number of the bit store of a key + 1; 0: the world never used it. */
INLINE uint32_t bit_number_of(const reef_world *w, uint32_t key)
{
    const uint32_t slot = bit_slot(key);
    return LIKELY(slot < w->state.bit_room) ? w->state.bit_number[slot] : 0;
}
/* The store itself; NULL: as above. */
INLINE const bit_store *bit_store_of(const reef_world *w, uint32_t key)
{
    const uint32_t number = bit_number_of(w, key);
    return number ? &w->state.bits[number - 1] : NULL;
}
/* Words (16) of the bits of a unit, NULL: all zero. */
INLINE const uint64_t *bit_words(const bit_store *b, uint32_t unit)
{
    return b && unit < b->words.count ? (const uint64_t *)b->words.page[unit] : NULL;
}
/* Is the bit of a row on? */
INLINE bool bit_read(const bit_store *b, uint32_t place)
{
    const uint64_t *words = bit_words(b, place_unit(place));
    return words && (words[place_row(place) / 64] >> (place_row(place) % 64) & 1);
}
/* The rows of a unit where a component is disabled; component 0: where the entity is. NULL: none. */
INLINE const uint64_t *disabled_words(const reef_world *w, uint32_t component, uint32_t unit)
{
    return bit_words(bit_store_of(w, component | BIT_DISABLED), unit);
}
/* The visible order of keys: switches by name, marks of entities, marks of components by name. */
int bit_key_compare(uint32_t a, uint32_t b);
/* Does this world know the type? Open worlds know all declared ones. */
bool world_knows(const reef_world *w, uint32_t component);

/* ---- time (src/storage/clock.c) ---- */
/* Does anybody go by this serial number: a system or a phase of the world's schedule, or an absent one? */
bool serial_counts(const reef_world *w, uint64_t serial);
/* The clock of a phase or a system, 0 at first. NULL: no memory. */
uint64_t *clock_own(reef_world *w, uint64_t serial);
/* What the hash covers of time; 0 when the world never ticked and has no seed. */
uint64_t clocks_hash(const reef_world *w);


INLINE bool lanes_settle(reef_world *w) { return LIKELY(w->lane_rest == 0) || lanes_retry(w); }

/* ---- what a world lets go of at its end, and what doesn't hold for another state ---- */
void bundles_drop(reef_world *w);  /* src/change/spawn.c */
void sets_distrust(reef_world *w); /* the sets of values spawned lately: src/change/spawn.c */
void queries_drop(reef_world *w);  /* src/query/query.c */
void ticking_drop(reef_world *w);  /* src/time/tick.c */

/* ---- scripts (src/system/script.c) ---- */
bool scripts_join(reef_world *fork, uint64_t serial); /* the fork has them as its origin has, if it has. False: no memory */
uint64_t scripts_hash(const reef_world *w, uint64_t *waiting); /* of those that wait for their end, and how many they are */
uint32_t scripts_type(void); /* 0: nobody has asked for it yet */
uint32_t scripts_bind(void *values, uint32_t n); /* n values of the type side by side get the classes of their names; how many got none */
uint64_t scripts_without(const reef_world *w); /* how many have no class */
void scripts_end(reef_world *w); /* the world is about to end: all that live do */

/* ---- singletons (src/change/singleton.c) ---- */
reef_status single_validate(const reef_world *w, char *message, size_t size);

/* ---- names (src/storage/name_index.c) ---- */
/* The column, from 1, of the first byte that a name can't have; 0: the name is good. Its length goes to *length. */
uint32_t name_bad_column(const char *text, uint32_t *length);
void name_forget(reef_world *w, reef_entity e);         /* the entity dies; the pages it touches were owned before */
bool name_prepare_forget(reef_world *w, reef_entity e); /* own what name_forget will touch; false: no memory */
bool names_own_all(reef_world *w); /* what any number of name_forget will touch, in whatever order; false: no memory */
void names_changed(reef_world *w);                      /* the number of names is another one */
/* Name `number` of w->state.name_count, in no order; its entity. NAMES_PER_PAGE of them are on a page. */
const char *name_at_number(const reef_world *w, uint32_t number, reef_entity *e);
reef_status names_validate(const reef_world *w, char *message, size_t size);

#endif
