/* Hooks: functions of a component type whose values can't be made, copied, moved or dropped as plain bytes. Plain data
 * needs none. */
#ifndef REEF_HOOKS_H
#define REEF_HOOKS_H

#include "component.h"

REEF_BEGIN_C

/* What a snapshot or a fork gets of a type's values. */
typedef enum reef_on_fork {
    REEF_FORK_COPY = 0, /* the values; they are shared until one side writes them, and copied then */
    REEF_FORK_RESET,    /* default values: what `construct` makes, or zeros */
    /* the same, but reef_restore keeps the current value of an entity that has the component both now and in the
     * snapshot. This is for what belongs to this run of the program and not to the game, such as a sound that plays, or
     * a texture */
    REEF_FORK_SKIP
} reef_on_fork;

/* ---- hooks ----
 * A type with `destroy` owns something, so it needs `move` or `bytes_move` as well. Hooks must not call reef on the
 * same world. Every slot has the type's alignment. */
/* The hooks of a type; each may be NULL. */
struct reef_hooks {
    /* Make a value in `slot` (zeroed memory) for `entity`. `args` is what the caller gave to reef_add_args (NULL for
     * the default value). If it returns anything but REEF_OK, the whole call fails, and `slot` is not destroyed. */
    reef_status (*construct)(void *context, reef_world *world, reef_entity entity, void *slot, const void *args);
    /* Make `to` (raw memory) a copy of `from`. A type with `destroy` but no `copy` can't be copied: set moves the value
     * in; clones refuse the type with an error that names it, and so do forks and snapshots, unless on_fork says
     * otherwise. It may run on any thread that uses a fork of the world or runs its systems. If it returns anything but
     * REEF_OK, the call fails; where it runs because a shared block is written, the call fails with NO_MEMORY and names
     * the type. */
    reef_status (*copy)(void *context, void *to, const void *from);
    /* Make `to` (raw memory) hold what `from` held; `from` is raw memory afterwards and isn't destroyed. */
    void (*move)(void *context, void *to, void *from);
    /* Release what `slot` owns; it is raw memory afterwards. */
    void (*destroy)(void *context, void *slot);
    void *context;   /* passed to every hook */
    bool bytes_move; /* a value can be moved by copying its bytes: no `move` needed */
    /* the value contains its own address: without `copy` it can't be copied, and without `move` the type must be in
     * REEF_PAGED, where a value keeps its address */
    bool address_bound;
    reef_on_fork on_fork; /* may be the only hook, for plain data that forks don't get. Such values are never hashed */
    /* may be the only hook, for tags too: the world records for each entity when the component was last written and
     * when it was added, and which entities lost it (reef/track.h). Costs 16 bytes for each entity index, in pages of
     * 512, and every add, remove, write, spawn and destroy of entities with the type takes a slower path. Refused for
     * the home REEF_BIT (BAD_ARGUMENT) */
    bool track_rows;
    /* may be the only hook: the name of a field of which no two entities may have the same value, such as
     * .unique = "id". A call that would make the second one fails with EXISTS and changes nothing; the value is written
     * by such calls only, so reef_mut, `inout`, `out` and `writes` of the type are refused (docs/manual/unique.md). Of
     * up to 8 bytes, as in an index. Implies track_rows. Refused with on_fork, and for the homes REEF_MULTI and
     * REEF_SHARED, tags, subtypes and relations (BAD_ARGUMENT) */
    const char *unique;
};

/* ---- declaring types with hooks ---- */

/* A component with hooks: a pointer to a reef_hooks that lives as long as the program. */
#define REEF_COMPONENT_HOOKS(T, hooks) REEF_COMPONENT_IN_HOOKS(T, REEF_TABLE, hooks)
/* The same in another home. */
#define REEF_COMPONENT_IN_HOOKS(T, home, hooks) \
    REEF_DECLARE_HOOKS_(T, REEF_CAST(uint32_t, sizeof(T)), REEF_CAST(uint32_t, REEF_ALIGNOF(T)), home, hooks)
/* A tag with hooks. Only track_rows makes sense for a tag. */
#define REEF_TAG_HOOKS(Name, hooks) \
    REEF_TAG_STRUCT_(Name) \
    REEF_DECLARE_HOOKS_(Name, 0, 1, REEF_TABLE, hooks)

/* Lets the library find its code of unique fields. Only declarations name this. */
REEF_API void reef_bring_hooks_(void);
#define REEF_DECLARE_HOOKS_(T, size, align, home, hooks) \
    REEF_DECLARE_AS_(T, size, align, home, hooks, 0, 0, reef_bring_hooks_)

/* reef_add for a type whose constructor gets `args`. */
#define reef_add_args(world, entity, T, args) reef_add_decl(world, entity, &reef_declared_by_REEF_COMPONENT_##T, args)

REEF_END_C

#endif
