/* The state of a world: everything that a snapshot holds, beside hot.records and hot.chunks. It is a value: a snapshot
 * or fork shares it and copies only what is written afterwards.
 *
 * Table 0 is no table: its unit, 0, is the place of dead entities. Table 1 is that of entities without components,
 * which have no row; its unit is 1. */
#ifndef REEF_STORAGE_STATE_H
#define REEF_STORAGE_STATE_H

#include "storage/layout.h"
#include "reef/inspect.h"
#include "reef/signature.h"
#include "reef/snapshot.h"

/* the bits of one type in the REEF_BIT home, or the marks of the disabled: 16 words for a unit */
typedef struct bit_store {
    uint32_t key; /* id of the component; for marks joined with BIT_DISABLED */
    /* of a type: number of the store of its marks + 1, or 0 while there is none; BITS_OF_DISABLED: this is a store of
     * marks */
    uint32_t disabled_bits;
    /* number of set bits, for a switch or for marks; meaningless for a type with a store: ask reef__bit_count_rows */
    uint64_t switched;
    reef_paged words;  /* page u: the bits of unit u; NULL: all are zero. Its version is that of the last write */
    reef_paged hashes; /* hashes of the units: src/world/state_hash.c */
} bit_store;

typedef struct track_store { /* of one type with track_rows */
    uint32_t component;
    /* number of readers of removals that the world has; nothing is logged while it is 0 (src/storage/removal_log.c) */
    uint32_t readers, value_readers;
    reef_paged stamps;               /* by entity index: src/storage/row_stamps.c */
    reef_paged log;                  /* a ring of handles: removals head ... tail - 1 */
    reef_paged values;               /* a ring of bytes: values of removals value_head ... tail - 1 */
    uint64_t head, value_head, tail; /* positions only ever count up */
} track_store;

typedef struct serial_number {
    uint64_t serial, number;
} serial_number;
typedef struct serial_list { /* no serial number is in it twice; in no order: src/storage/serial_list.h */
    serial_number *of;
    uint32_t count, room;
} serial_list;

typedef struct event_store { /* of one type (src/storage/event_log.c) */
    uint32_t component;
    reef_paged pages;    /* a ring: events head ... tail - 1 */
    uint64_t head, tail; /* positions only ever count up */
    uint64_t most;       /* how many are kept at most */
} event_store;

typedef struct event_place { /* how far a system has read the events of a type */
    uint64_t serial;         /* serial number of the system */
    uint64_t name_hash;      /* hash of the system's name, for the hash of the state */
    uint64_t position;       /* number of the next event that it reads */
    uint32_t component;
} event_place;

/* a system or phase that this state mentions and the world hasn't got: src/system/unknown_system.c */
typedef struct unknown_system {
    uint64_t serial;
    bool phase, on;
    char name[REEF_SYSTEM_NAME_MAX + 1];
} unknown_system;

typedef struct state {
    reef_paged tables; /* by table id, 64 on a page */
    /* free ids, the oldest first: 1,024 on a page; the page of a position is position / 1024 modulo the number of
     * pages, a power of two */
    reef_paged ring;
    uint64_t ring_head, ring_tail;   /* positions */
    uint32_t ring_holes;             /* entries of the ring that are RING_HOLE */
    uint32_t next_unit;              /* units from here on were never used */
    uint32_t free_unit[RUN_CLASSES]; /* heads of the lists of free runs of units: run_class */
    bit_store *bits;                 /* in order of first use */
    uint32_t bit_count, bit_capacity;
    uint32_t *bit_number; /* by bit_slot of the key: number of the store + 1; 0: there is none */
    uint32_t bit_room;
    track_store *tracks; /* in order of first use */
    uint32_t track_count, track_capacity;
    /* Where the readers of removals and events stood, in a state that somebody may return to: reef__readers_note */
    serial_list places;
    reef_paged name_entries; /* src/storage/name_index.c */
    reef_paged name_by_text, name_by_index;
    reef_paged chunk_hashes, record_hashes, ring_hashes, name_hashes; /* src/world/state_hash.c */
    /* values outside of the rows, in order of first use; the first store is empty (src/storage/sparse_store.h) */
    reef_store *stores;
    uint32_t store_count, store_capacity;
    uint32_t *store_number; /* by component id: number of the store; hot has the same */
    uint32_t store_room;
    event_store *events; /* in order of first use */
    uint32_t event_count, event_capacity;
    event_place *event_places;
    uint32_t event_place_count, event_place_capacity;
    unknown_system *absents;
    uint32_t absent_count, absent_room;
    uint32_t described; /* reef__types_described when the hashes of the chunks were kept */
    uint32_t name_count, name_buckets;
    bool names_unscoped;  /* name_by_text isn't there */
    uint64_t *used_types; /* bitset by component id: the types that this world knows */
    uint32_t used_words;
    uint32_t map_count; /* this world sees the maps of the types with smaller ids */
    serial_list runs;   /* versions of the last runs of the queries that ask for changes */
    /* Time (src/time/tick.c). A clock belongs to a phase or a system, by its serial number. It is the time that a phase
     * has still to step through, or the world's time at the last run of a system. */
    uint64_t ticks, time_ns, seed;
    serial_list clocks;
    reef_entity single;      /* the entity with the singletons; null or dead: there is none (src/change/singleton.c) */
    uint32_t reserved_count; /* ids that were given out by reef_reserve_id or by recorded commands */
    uint32_t retired_count;  /* indices that are never given out again */
} state;

#endif
