/* What is different between two worlds, one thing at a time.
 *
 *     reef_diff *d = reef_diff_new(before, after);
 *     for (const reef_change *c; (c = reef_diff_next(d)) != NULL;) ...
 *     reef_diff_free(d);
 *
 * Forks of one world share what neither has written since, and that isn't looked at: the cost is that of what
 * changed, and of a pass over the directory of blocks. For two snapshots take reef_snapshot_fork of each, which
 * costs microseconds. For a difference as bytes, to be sent or kept and applied: reef_diff_save (reef/save.h). */
#ifndef REEF_DIFF_H
#define REEF_DIFF_H

#include "world.h"

REEF_BEGIN_C

/* What a change is. */
typedef enum reef_change_kind {
    REEF_CHANGE_GONE = 1, /* lived in `before` alone */
    REEF_CHANGE_BORN,     /* lives in `after` alone */
    REEF_CHANGE_NAME,     /* `was` and `is` are its names, NULL: none; also of who is gone or born */
    REEF_CHANGE_REMOVED,  /* had the component in `before` alone, maybe since it is gone: `was` */
    REEF_CHANGE_ADDED,    /* has it in `after` alone, maybe since it was born: `is` */
    REEF_CHANGE_VALUE,    /* has it in both, with another value: `was`, `is`, `fields` */
    REEF_CHANGE_DISABLED, /* the component's mark is on in `after` alone; component {0}: the entity's own */
    REEF_CHANGE_ENABLED   /* it was on in `before` alone, and what it is of is still there */
} reef_change_kind;

/* `was` and `is` are NULL for tags, and for types of which forks get no values (REEF_FORK_RESET, _SKIP), whose
 * values aren't compared either. What isn't named with a kind is 0 or NULL. */
typedef struct reef_change {
    reef_change_kind kind;
    reef_entity entity;
    reef_component component; /* never a part of a split type, but the type with its whole value */
    uint32_t number;          /* REEF_MULTI: which of the entity's values. Where some are gone, the last comes first */
    const void *was, *is;
    uint64_t fields; /* bit i: field i differs, the last for all from 63 on; of a type without fields: 1 */
} reef_change;

/* A comparison of two worlds that is under way. */
typedef struct reef_diff reef_diff;

/* Compares two worlds, which needn't be related. Neither may change or be freed while the difference is open, nor be
 * in use by another thread that writes it. It takes memory of `after`, all of it here: for each table 48 bytes, for
 * each chunk of 1,024 rows 12, and a few for types and names. NULL: no memory, or one of the worlds is NULL or runs
 * systems. */
REEF_API reef_diff *reef_diff_new(const reef_world *before, const reef_world *after);
/* The next change, NULL: no more (or diff is NULL). It lives until the next call, and so do values of REEF_SPLIT types;
 * others, and names, as long as the worlds aren't changed. The order: who is gone, who was born, names, each by
 * index; the entities' own marks; then type by type, by name: removed, added, written, disabled, enabled. Within one
 * kind what lies in rows comes in the order of tables and rows, of `before` for what was there alone and of `after`
 * for all else, and values outside of the rows by the entities' indices. Neither the order of rows is a change, nor
 * who has a value of REEF_SHARED in common with whom, nor the worlds' time, events and free ids. Any thread, one at
 * a time. */
REEF_API const reef_change *reef_diff_next(reef_diff *diff);
/* NULL does nothing. */
REEF_API void reef_diff_free(reef_diff *diff);

REEF_END_C

#endif
