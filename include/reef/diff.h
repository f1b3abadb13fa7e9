/* What is different between two worlds, one thing at a time.
 *
 *     reef_diff *d = reef_diff_new(before, after);
 *     for (const reef_change *c; (c = reef_diff_next(d)) != NULL;) ...
 *     reef_diff_free(d);
 *
 * Forks of one world share what neither has written since, and that isn't looked at: the cost is that of what changed, and of a
 * pass over the directory of blocks. For two snapshots take reef_snapshot_fork of each, which costs microseconds.
 * For a difference as bytes, to be sent or kept and applied: reef_diff_save (reef/save.h). */
#ifndef REEF_DIFF_H
#define REEF_DIFF_H

#include "world.h"

REEF_BEGIN_C

typedef enum reef_change_kind {
    REEF_CHANGE_BORN = 1,  /* lives in `after` alone */
    REEF_CHANGE_GONE,      /* lived in `before` alone */
    REEF_CHANGE_NAME,      /* `was` and `is` are its names, NULL: none */
    REEF_CHANGE_ADDED,     /* has the component in `after` alone, maybe since it was born: `is`, NULL: no data */
    REEF_CHANGE_REMOVED,   /* had it in `before` alone, maybe since it is gone: `was` */
    REEF_CHANGE_VALUE,     /* has it in both, with another value: `was`, `is`, `fields` */
    REEF_CHANGE_DISABLED,  /* the component's mark; {0}: of the entity: on in `after` alone */
    REEF_CHANGE_ENABLED    /* on in `before` alone */
} reef_change_kind;

typedef struct reef_change {
    reef_change_kind kind;
    reef_entity    entity;
    reef_component component;
    uint32_t       number;  /* REEF_MULTI: which of the entity's values */
    const void    *was, *is;
    uint64_t       fields;  /* bit i: field i differs, the last for all from 63 on; without fields: 1 */
} reef_change;

typedef struct reef_diff reef_diff;

/* Neither world may change while the difference is open, nor be in use by another thread that writes it. `before` and `after` needn't be
 * related. NULL: no memory, or one of them is NULL or runs systems. */
REEF_API reef_diff *reef_diff_new(const reef_world *before, const reef_world *after);
/* The next change, NULL: no more. It lives until the next call, its values as long as the worlds aren't changed. In the order: who is gone, who was born,
 * names (each by index); then, by the types' names, what was removed, added, written (in the order of the tables and rows of `after`; of those that are gone, of
 * `before`), disabled, enabled. The order of rows itself isn't a change. The worlds' time, events and free ids aren't listed. */
REEF_API const reef_change *reef_diff_next(reef_diff *diff);
REEF_API void reef_diff_free(reef_diff *diff);

REEF_END_C

#endif
