/* A world: the inside.
 *
 *   family (shared by a world and its forks, guarded by its lock)
 *     types -> tables graph: which sets of components have a table, the layout of each (shape), component -> slot
 *     maps, edges memory
 *   world
 *     hot: records, chunks                 what the inlined calls read (reef/detail/layout.h)
 *     state: tables, ring of free ids, bits, names, counters      a value: snapshot and fork share it
 *     caches: bundles and edges lately used, open loops, the last error
 *
 * Table ids are the family's and depend on history; nothing visible is ordered by them. Table 0 is nowhere (unit 0, the
 * place of the dead), table 1 is the table of entities without components: those have no row (unit 1). */
#ifndef REEF_STORAGE_STATE_H
#define REEF_STORAGE_STATE_H

#include "storage/layout.h"
#include "reef/inspect.h"
#include "reef/signature.h"
#include "reef/snapshot.h"

/* ---- state: everything that a snapshot holds beside hot.records and hot.chunks ---- */

typedef struct bit_store { /* the REEF_BIT home of one type, or the marks of those that are disabled: 16 words a unit */
    uint32_t key;          /* id of the component, or with BIT_DISABLED */
    /* of a type: number of the store of its marks + 1, 0: none was ever made. BITS_OF_MARKS: these are marks */
    uint32_t marks;
    /* set bits of a switch, or of marks; of a type with a store it says nothing: reef__bit_count_rows asks that */
    uint64_t switched;
    reef_paged words;  /* page u: the bits of unit u, NULL: all zero; its version is that of the last write */
    reef_paged hashes; /* of the units: src/world/state_hash.c */
} bit_store;

typedef struct track_store { /* of one type with track_rows */
    uint32_t component;
    /* of removals, that the world has: nothing is logged without one (src/storage/removal_log.c) */
    uint32_t readers, value_readers;
    reef_paged stamps;               /* by entity index: src/storage/row_stamps.c */
    reef_paged log;                  /* removals head ... tail - 1: a ring of handles */
    reef_paged values;               /* of removals value_head ... tail - 1: a ring of bytes */
    uint64_t head, value_head, tail; /* positions count up for ever */
} track_store;

typedef struct reader_place { /* where a reader of removals or events stood when the state was shared */
    uint64_t serial, position;
} reader_place;

typedef struct event_store { /* of one type (src/system/event.c) */
    uint32_t component;
    reef_paged pages;    /* events head ... tail - 1: a ring */
    uint64_t head, tail; /* positions count up for ever */
    uint64_t most;       /* that are kept */
} event_store;

typedef struct event_place { /* how far a system has read a type */
    uint64_t serial;         /* of the system */
    uint64_t name_hash;      /* of its name, for the state's hash */
    uint64_t position;       /* of the next event that it reads */
    uint32_t component;
} event_place;

/* a system or phase that this state speaks of and the world hasn't got: src/system/absent_system.c */
typedef struct absentee {
    uint64_t serial;
    bool phase, on;
    char name[REEF_SYSTEM_NAME_MAX + 1];
} absentee;

typedef struct state {
    reef_paged tables; /* table[64] a page, by table id */
    /* free ids, oldest first: uint32_t[1024] a page, by position / 1024 modulo the number of pages, a power of two;
     * all pages are there */
    reef_paged ring;
    uint64_t ring_head, ring_tail;   /* positions */
    uint32_t ring_holes;             /* entries in the ring that are RING_HOLE */
    uint32_t next_unit;              /* units from here on were never used */
    uint32_t free_unit[RUN_CLASSES]; /* heads of lists of free runs: run_class */
    bit_store *bits;                 /* in order of first use */
    uint32_t bit_count, bit_capacity;
    uint32_t *bit_number; /* by bit_slot of the key: number of the store + 1, 0: there is none */
    uint32_t bit_room;
    track_store *tracks; /* in order of first use */
    uint32_t track_count, track_capacity;
    reader_place *places; /* reef__readers_note: in a state that somebody may go back to */
    uint32_t place_count, place_capacity;
    reef_paged name_entries; /* src/storage/name_index.c */
    reef_paged name_by_text, name_by_index;
    reef_paged chunk_hashes, record_hashes, ring_hashes, name_hashes; /* src/world/state_hash.c */
    /* values outside of the rows, in order of first use; the first one is empty (src/storage/sparse_store.c) */
    reef_store *stores;
    uint32_t store_count, store_capacity;
    uint32_t *store_number; /* by component id; hot has the same */
    uint32_t store_room;
    event_store *events; /* in order of first use */
    uint32_t event_count, event_capacity;
    event_place *event_places;
    uint32_t event_place_count, event_place_capacity;
    absentee *absents;
    uint32_t absent_count, absent_room;
    uint32_t described; /* reef__types_described when the chunks' hashes were kept */
    uint32_t name_count, name_buckets;
    uint64_t *used_types; /* bitset by component id: this world knows the type */
    uint32_t used_words;
    uint32_t map_count; /* this world sees the maps of ids below */
    struct query_run {
        uint64_t serial, version;
    } * runs; /* of queries that ask for changes: their last run */
    uint32_t run_count, run_room;
    /* Of time: src/time/tick.c. A clock belongs to a phase or a system, by its serial number: time that waits to be
     * stepped through, or the world's time when it ran last. */
    uint64_t ticks, time_ns, seed;
    struct clock {
        uint64_t serial, value;
    } * clocks;
    uint32_t clock_count, clock_room;
    reef_entity single;      /* that has the singletons; null or dead: there is none (src/change/singleton.c) */
    uint32_t reserved_count; /* ids out by reef_reserve_id and by commands that are recorded */
    uint32_t retired_count;  /* indices that are never given out again */
} state;

/* ---- caches ---- */

/* Of a bundle (src/change/spawn.c): its world while the straight path is open, else the gate itself; the next open
 * one of the world's. */
typedef struct bundle_gate {
    const void *ready;
    struct bundle_gate *next;
} bundle_gate;

/* ---- errors (src/storage/error.c) ---- */
/* The same for a text: what is wrong with it in column `number`, as a sentence. (0: of no text.) */
#if defined(REEF_CHECKED)
/* Tells the misuse hook, or the log, of a mistake of the caller. */
void reef__failure_tell(const reef_world *w, const reef_error *e);
#endif

#endif
