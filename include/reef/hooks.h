/* Hooks: functions that a component type brings along where copying, moving or forgetting the bytes of its values
 * would not do. Plain data needs none. */
#ifndef REEF_HOOKS_H
#define REEF_HOOKS_H

#include "handle.h"

REEF_BEGIN_C

/* What a snapshot or a fork gets of a type's values. */
typedef enum reef_on_fork {
    REEF_FORK_COPY = 0, /* the values, shared until one side writes, then copied */
    REEF_FORK_RESET,    /* default values: what `construct` makes, or zeroes */
    /* the same; but reef_restore leaves the value of an entity alone that has it now and then: for what belongs to
     * this run of the program and not to the game, as a sound that plays or a texture */
    REEF_FORK_SKIP
} reef_on_fork;

/* ---- hooks ----
 * Plain data needs none. A type with `destroy` owns something; then `move` is needed as well, or `bytes_move`.
 * Hooks must not call reef on the same world. Alignment of every slot is the type's. */
/* What is to be done with the values of a type where their bytes alone won't do. */
typedef struct reef_hooks {
    /* Make a value in `slot` (zeroed memory) for `entity`. `args` is what the caller gave to reef_add_with (NULL for
     * the default value). Anything but REEF_OK fails the whole call, and `slot` is not destroyed. */
    reef_status (*construct)(void *context, reef_world *world, reef_entity entity, void *slot, const void *args);
    /* Make `to` (raw memory) a copy of `from`. A type with `destroy` but no `copy` can't be copied: set takes its value
     * by moving bytes in; clone refuses it by name, and so does fork, unless on_fork says otherwise. May run on any
     * thread that uses a fork of the world, or runs its systems.
     * Anything but REEF_OK fails the call; when it runs since a shared block is written, the call answers NO_MEMORY
     * and names the type. */
    reef_status (*copy)(void *context, void *to, const void *from);
    /* Make `to` (raw memory) hold what `from` held; `from` is raw memory afterwards and isn't destroyed. */
    void (*move)(void *context, void *to, void *from);
    /* Release what `slot` owns; it is raw memory afterwards. */
    void (*destroy)(void *context, void *slot);
    void *context;   /* handed to every hook */
    bool bytes_move; /* moving is copying the bytes and forgetting the old place: no `move` needed */
    /* the value knows its own address: without `copy` it can't be copied, and without `move` only REEF_PAGED takes
     * the type, where each value is made in the place that it keeps */
    bool address_bound;
    reef_on_fork on_fork; /* may stand alone: plain data that forks don't get. Such values are never hashed */
    /* may stand alone, for tags too: the world knows for each entity when the component was last written and when it
     * was added, and tells who lost it (reef/track.h). Costs 16 bytes for each entity index, 512 of them at a time
     * where one is used, and every add, remove, write, spawn and destroy of entities that have the type goes a slower
     * way. Refused for the REEF_BIT home (BAD_ARGUMENT) */
    bool track_rows;
} reef_hooks;

REEF_END_C

#endif
