/* Differences between two worlds, one change at a time.
 *
 *     reef_diff *d = reef_diff_new(before, after);
 *     for (const reef_change *c; (c = reef_diff_next(d)) != NULL;) ...
 *     reef_diff_free(d);
 *
 * Forks of one world share the blocks that neither has written, and shared blocks aren't compared. So the cost depends
 * on what has changed, plus a pass over the directory of blocks. To compare two snapshots, make a fork of each by
 * reef_snapshot_fork, which costs microseconds. reef_diff_save (reef/file.h) makes a difference as bytes, which can be
 * sent, stored and applied. */
#ifndef REEF_DIFF_H
#define REEF_DIFF_H

#include "world.h"

REEF_BEGIN_C

/* What a change is. */
typedef enum reef_change_kind {
    REEF_CHANGE_GONE = 1, /* the entity is alive only in `before` */
    REEF_CHANGE_BORN,     /* the entity is alive only in `after` */
    REEF_CHANGE_NAME,     /* `was` and `is` are its names, or NULL; also for entities that are gone or born */
    REEF_CHANGE_REMOVED,  /* has the component only in `before` (`was`); also for entities that are gone */
    REEF_CHANGE_ADDED,    /* has it only in `after` (`is`); also for entities that were born */
    REEF_CHANGE_VALUE,    /* has it in both, with different values: `was`, `is`, `fields` */
    REEF_CHANGE_DISABLED, /* the component is disabled only in `after`; component {0}: the entity itself */
    REEF_CHANGE_ENABLED   /* disabled only in `before`, and the component or entity is still there */
} reef_change_kind;

/* One change. `was` and `is` are NULL for tags, and for types whose values forks don't get (REEF_FORK_RESET,
 * REEF_FORK_SKIP), which aren't compared. Members that the comment of the kind doesn't name are 0 or NULL. */
typedef struct reef_change {
    reef_change_kind kind;
    reef_entity entity;
    reef_component component; /* for a type in REEF_SPLIT, the type with its whole value, never a part */
    uint32_t number;          /* REEF_MULTI: the number of the value, from 0; removed values come from the last down */
    const void *was, *is;
    uint64_t fields; /* bit i: field i differs; bit 63: any field from 63 on differs. 1 for a type without fields */
} reef_change;

/* Does field `i` differ? `fields` is reef_type_info.fields of the change's component. It also tells the fields from
 * number 63 on apart. False for a change that isn't a REEF_CHANGE_VALUE. */
REEF_INLINE bool reef_change_has_field(const reef_change *change, const reef_field *fields, uint32_t i)
{
    if (i < 63) return (change->fields >> i & 1) != 0;
    if (change->fields >> 63 == 0) return false;
    const char *was = REEF_CAST(const char *, change->was), *is = REEF_CAST(const char *, change->is);
    return memcmp(was + fields[i].offset, is + fields[i].offset, fields[i].bytes) != 0;
}

/* A comparison of two worlds. */
typedef struct reef_diff reef_diff;

/* Begins to compare two worlds, which needn't be related. Until reef_diff_free neither may be changed or freed. This
 * call allocates all memory that the comparison needs, from the allocator of `after`: 80 bytes for each chunk of 1,024
 * rows, and a little for types and names. NULL: no memory, or one of the worlds is NULL or runs systems. */
REEF_API reef_diff *reef_diff_new(const reef_world *before, const reef_world *after);
/* Returns the next change; NULL if there is no more, or `diff` is NULL. The change lives until the next call, and so do
 * values of types in REEF_SPLIT; other values and names live as long as the worlds aren't changed. The order is:
 * entities that are gone, entities that were born, names, each by index; entities that were disabled or enabled; then
 * type by type, by name: removed, added, written, disabled, enabled. Within one kind, components in rows come in the
 * order of tables and rows (of `before` for what is only there, otherwise of `after`), and values outside of the rows
 * by the entities' indices. These don't count as changes: the order of rows, which entities share a value of
 * REEF_SHARED, and the worlds' time, events and free ids. Any thread, one at a time. */
REEF_API const reef_change *reef_diff_next(reef_diff *diff);
/* Ends the comparison and frees its memory. NULL does nothing. */
REEF_API void reef_diff_free(reef_diff *diff);

REEF_END_C

#endif
