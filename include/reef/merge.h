/* Adding one world's entities to another. */
#ifndef REEF_MERGE_H
#define REEF_MERGE_H

#include "world.h"

REEF_BEGIN_C

typedef struct reef_merge_desc {
    const char *query;      /* only the entities of `from` that match this text (reef/query.h); NULL: all */
    bool        drop_names; /* a name that is taken is left out; otherwise it is an error */
} reef_merge_desc;

/* Who became who. */
typedef struct reef_merged reef_merged;

/* Makes in `to` an entity for each of `from`, with copies of all its components in every home, its switches, marks and name. They get new handles;
 * fields of kind REEF_ENTITY that name one of them follow, those that name somebody who doesn't come along become null. (Handles that no field describes stay as they are.) The order is that of
 * the tables and rows of `from`. `from` may be any world but `to`, also of another allocator, and isn't changed. Nothing of `from` that belongs to no entity comes along; singletons
 * come as an entity like others. No observer is told, as with reef_restore.
 *
 * *merged (may be NULL) gets the table of who became who; free it with reef_merged_free. NULL desc: all defaults. Errors, `to` as before: LOCKED, BAD_ARGUMENT (to is from, or NULL), BAD_TEXT,
 * NAME_TAKEN (names the entity), NOT_COPYABLE, UNKNOWN_TYPE (a strict world), LIMIT, NO_MEMORY. */
REEF_API reef_status reef_merge(reef_world *to, const reef_world *from, const reef_merge_desc *desc, reef_merged **merged);
/* The entity of `to` that `entity` of `from` became; null: none. */
REEF_API reef_entity reef_merged_find(const reef_merged *merged, reef_entity entity);
REEF_API void reef_merged_free(reef_merged *merged);

REEF_END_C

#endif
