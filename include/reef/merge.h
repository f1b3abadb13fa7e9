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

/* What is merged, and how; {0}: all of it. */
typedef struct reef_merge_desc {
    /* only the entities of `from` that a loop over this query would visit (reef/query.h); NULL: all */
    const char *query;
    bool drop_names; /* a name that is taken in `to` is left out; otherwise it is an error */
} reef_merge_desc;

/* Who became who. */
typedef struct reef_merged reef_merged;

/* Makes in `to` an entity for each of `from`, with copies of all its components in every home, its switches, its
 * marks and its name. They get new handles. Fields of kind REEF_ENTITY that name one of them follow; those that name
 * somebody who doesn't come along become null. (Handles that no field describes stay as they are, and mean nothing.)
 * Values of REEF_SHARED that some of them have in common are one value again. Types of which forks get default
 * values (REEF_FORK_RESET, _SKIP) are made anew. The order is that of the tables and rows of `from`; entities that
 * have nothing come last, by index. Singletons come as an entity like others; events, time and random numbers don't
 * come.
 *
 * `from` may be any world but `to`, also of another allocator, and isn't changed; the query is made in it and freed. No
 * observer is told, as with reef_restore. It happens as a whole or not at all: `to` is forked, and the fork takes
 * its place when it is ready; so pointers into `to` are no longer valid, and what is in it must be copyable as for
 * reef_fork.
 *
 * *merged (may be NULL) gets the table of who became who, NULL on failure: 12 bytes for each index of `from`, of the
 * allocator of `to`. NULL desc: all defaults. Errors, `to` as before: BAD_ARGUMENT (to is from, or NULL), LOCKED (a
 * loop is open, commands wait, or systems run), BAD_TEXT (the query), NAME_TAKEN (names the entity of `to` that has
 * it), NOT_COPYABLE (names a type of either world), UNKNOWN_TYPE (`to` is strict and doesn't know the type), LIMIT,
 * NO_MEMORY, and what a hook answered. */
REEF_API reef_status reef_merge(reef_world *to, reef_world *from, const reef_merge_desc *desc, reef_merged **merged);
/* The entity of `to` that `entity` of `from` became; null: none. Any number of threads. */
REEF_API reef_entity reef_merged_find(const reef_merged *merged, reef_entity entity);
/* Also when the worlds are gone. NULL does nothing. */
REEF_API void reef_merged_free(reef_merged *merged);

REEF_END_C

#endif
