/* The parts of a world's hash, and the first difference between two worlds. */
#ifndef REEF_HASH_H
#define REEF_HASH_H

#include "snapshot.h"

REEF_BEGIN_C

/* What a part of the hash covers, or what differs between two worlds. `rows` says what reef_hash_part.rows counts. */
typedef enum reef_hash_kind {
    REEF_HASH_IDS = 1, /* generations, free ids, entities without a row; rows: indices ever used */
    REEF_HASH_NAMES,   /* rows: names */
    REEF_HASH_ROWS,    /* the entities of one table in their order */
    REEF_HASH_COLUMN,  /* one component's values in one table */
    /* which entities of one table have one switch, or one component whose values lie outside of the rows; rows: those
     * that have it */
    REEF_HASH_SWITCH,
    REEF_HASH_TYPE, /* one component or switch in all tables, and where it is disabled; rows: all that have it */
    /* in which entities of one table a component is disabled; before these, with component {0}: which entities are
     * disabled; rows: those where it is */
    REEF_HASH_DISABLED,
    /* ticks, time, seed, when phases and systems ran last; rows: ticks. Only if something of it isn't 0 */
    REEF_HASH_TIME,
    REEF_HASH_EVENTS,  /* events of one type that wait for a system, and how far each has read; rows: events */
    REEF_HASH_SINGLE,  /* which entity has the singletons; rows: 1. Only if there is one */
    REEF_HASH_SCRIPTS, /* scripts that wait for their end (reef/script.h); rows: scripts. Only if there are some */
    REEF_HASH_STORE    /* one component's values outside of the rows (reef_home), and their entities; rows: values */
} reef_hash_kind;

/* One part of the hash. `table` lists the types of the table, ordered by name, without switches and types in other
 * homes; it is NULL for parts that belong to no table, and lives until the visitor returns. */
typedef struct reef_hash_part {
    reef_hash_kind kind;
    const reef_component *table;
    uint32_t table_count;
    reef_component component; /* {0} for REEF_HASH_IDS, _NAMES and _ROWS, and for which entities are disabled */
    uint64_t rows, hash;
} reef_hash_part;

/* Calls `visit` for every part of the hash, until it returns false: first the parts in the order of the state, then one
 * for each type, by name. Where two worlds should be equal, the first part that differs shows what is different.
 * Returns the hash, as reef_hash does, and 0 also if `visit` returned false. The visitor must not call anything that
 * takes the world without const. */
REEF_API uint64_t reef_hash_parts(reef_world *world, bool (*visit)(void *context, const reef_hash_part *part),
                                  void *context);

/* The first difference between two worlds, in the order of the parts of the hash. */
struct reef_difference {
    reef_hash_kind kind;      /* what differs; 0: nothing */
    reef_component component; /* the type; {0}: none */
    reef_entity entity;       /* in `a`; {0}: none there */
    reef_entity other;        /* the entity at the same row or index in `b`; {0}: none there */
    /* the row in the entity's table. For ids and names: the index, or, if `entity` and `other` are free ids in another
     * order, the position among the free ids. For events: the number of the waiting event, or UINT64_MAX if the
     * difference is how far the systems have read */
    uint64_t row;
    uint32_t table_count; /* the types of the table, ordered by name, as many as fit */
    reef_component table[64];
};

/* Describes a difference: "Position of entity 7v1 differs (table Position, Velocity, row 3)". Writes at most `size`
 * bytes with the zero; returns the whole text's length. */
REEF_API size_t reef_difference_text(const reef_difference *difference, char *text, size_t size);

REEF_END_C

#endif
