/* Adding one world's entities to another.
 *
 *     reef_merged *who = NULL;
 *     reef_merge(game, level, NULL, &who);
 *     reef_entity door = reef_merged_find(who, door_in_level);
 *     reef_merged_free(who); */
#ifndef REEF_MERGE_H
#define REEF_MERGE_H

#include "world.h"

REEF_BEGIN_C

/* What is merged, and how; {0}: all entities. */
typedef struct reef_merge_desc {
    /* only the entities of `from` that a loop over this query would visit (reef/query.h); NULL: all */
    const char *query;
    bool drop_names; /* leave out a name that is taken in `to`; otherwise it is an error */
} reef_merge_desc;

/* A table of which entity of `from` became which entity of `to`. */
typedef struct reef_merged reef_merged;

/* Makes a new entity in `to` for each entity of `from`, with copies of all its components in every home, its switches
 * and its name; what is disabled stays disabled. The new entities have new handles. Fields of kind REEF_ENTITY that
 * name a merged entity name the new one afterwards; those that name an entity that isn't merged become null, and
 * relations to it end.
 * (Handles that no field describes are copied as they are, and mean nothing.) Merged entities that share a value of
 * REEF_SHARED still share it. Types whose values forks don't get (REEF_FORK_RESET, REEF_FORK_SKIP) get default values.
 * The order is that of the tables and rows of `from`; entities without a row come last, by index. The entity with the
 * singletons is merged as an ordinary entity. Scripts start anew in `to` (reef/script.h). Events, time and random
 * numbers aren't merged.
 *
 * `from` may be any world except `to`, also with another allocator, and isn't changed; the query is made in it and
 * freed. Observers aren't called, as for reef_restore. Either everything is merged or nothing: `to` is forked, and the
 * fork replaces it when everything has succeeded. So pointers into `to` are no longer valid, and its types must be
 * copyable as for reef_fork.
 *
 * *merged (`merged` may be NULL) is set to the table of merged entities, or NULL on failure. It takes 12 bytes for each
 * index of `from`, from the allocator of `to`; the caller frees it by reef_merged_free. A NULL desc means all defaults.
 * Errors, which leave `to` as it was: BAD_ARGUMENT (`to` is `from`, or one is NULL), LOCKED (a loop is open, commands
 * wait, or systems run), BAD_TEXT (the query), NAME_TAKEN (names the entity of `to` that has it), NOT_COPYABLE (names a
 * type of either world), UNKNOWN_TYPE (`to` is strict and doesn't know the type), LIMIT, NO_MEMORY, and what a hook
 * returns. */
REEF_API reef_status reef_merge(reef_world *to, reef_world *from, const reef_merge_desc *desc, reef_merged **merged);
/* The entity of `to` that `entity` of `from` became; null if there is none. Several threads may call it at once. */
REEF_API reef_entity reef_merged_find(const reef_merged *merged, reef_entity entity);
/* Frees the table. The worlds may be freed before. NULL does nothing. */
REEF_API void reef_merged_free(reef_merged *merged);

REEF_END_C

#endif
