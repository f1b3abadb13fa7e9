/* Relations: an entity as the target of a component.
 *
 *     REEF_RELATION(Likes);                                  alice likes bob
 *     REEF_RELATION(DockedTo, REEF_EXCLUSIVE);               a ship is docked to one planet at most
 *     typedef struct { int coins; } Money;
 *     REEF_COMPONENT(Money);
 *     REEF_RELATION_OF(Owes, Money);                         a relation with data
 *
 *     reef_relate(w, alice, Likes, bob);
 *     reef_relate_data(w, alice, Owes, bob, 30);
 *     if (reef_related(w, alice, Likes, bob)) ...
 *     for (reef_sources s = reef_sources_of(w, bob, Likes); reef_sources_next(&s);)
 *         for (uint32_t i = 0; i < s.count; i++) greet(s.sources[i]);       everyone who likes bob
 *     reef_unrelate(w, alice, Likes, bob);
 *
 * A relation has a *source* (alice) and a *target* (bob). It is a component of its source: `Likes` is a struct {target,
 * place}, and one with data is {target, place, data}. So everything that knows components knows relations: queries
 * (with Likes), reef_has, reef_get, reef_count, snapshots, forks, files, differences, printing. The targets of a source
 * are an array, in the order in which they were related:
 *
 *     uint32_t n;
 *     const Likes *likes = reef_get_all(w, alice, Likes, &n);      likes[0].target ... likes[n - 1].target
 *
 * The sources of a target have an order too, which is part of the state: that in which they were related, unless
 * reef_relate_before put one elsewhere. Relations make no tables: 100,000 targets are as good as one.
 *
 * reef_set and reef_spawn take a relation like any component, reef_with(DockedTo, .target = planet), by the same rules;
 * reef_remove removes all relations of a type from their source. In systems commands do the same: reef_cmd_relate and
 * others (reef/command_relation.h). A symmetric relation can only be made by reef_relate, and reef_remove removes that
 * half alone; reef_relate of the two, from either side, makes it again, with the data of the other half. A clone has
 * the relations of its origin, but no symmetric ones. A relation whose target isn't alive is refused with NOT_ALIVE.
 * When an entity dies, so do its relations, and those to it end as their type says. */
#ifndef REEF_RELATION_H
#define REEF_RELATION_H

#include "component.h"

REEF_BEGIN_C

/* What a type of relations is like. */
enum {
    REEF_IS_RELATION = 1, /* it is a type of relations; the macros say so */
    REEF_EXCLUSIVE = 2,   /* a source has one target at most, and relating it again replaces the target */
    REEF_SYMMETRIC = 4,   /* who is related to an entity has that entity related to it */
    REEF_TRANSITIVE = 8, /* reef_related also follows the relations of targets: an ancestor's ancestor is an ancestor */
    REEF_REFLEXIVE = 16, /* reef_related holds for an entity and itself */
    REEF_ACYCLIC = 32,   /* what would lead back to its source is refused with CYCLE */
    /* What happens to a relation when its target is destroyed. Neither of these: the relation is removed. */
    REEF_CASCADE = 64, /* the source is destroyed, too */
    REEF_KEEPS_TARGET =
        128, /* destroying the target is refused with REFUSED, unless its sources are destroyed as well */
    /* The sources of one target lie side by side; only with REEF_EXCLUSIVE. Every reef_tick begins with putting rows
     * that came, moved or got another target into their groups: the tables' rows in the order of the targets' indices,
     * those without a relation last, and by the next such relation within a group. Between ticks rows come and go as
     * ever; reef_sort_storage with `grouped` does the same at any other time. */
    REEF_GROUPED = 256,
    REEF_RELATION_ALL = 511
};

/* ---- declaring ---- */

/* A type of relations, with options joined by |: REEF_RELATION(Likes), REEF_RELATION(DockedTo, REEF_EXCLUSIVE). A
 * source has up to REEF_MULTI_MAX targets, or one. */
#define REEF_RELATION(...) REEF_RELATION_MORE_(__VA_ARGS__, 0, 0)
#define REEF_RELATION_MORE_(T, options, ...) \
    REEF_RELATION_STRUCT_(T) static REEF_RELATION_DECLARATION_(T, options, 0) REEF_ENLIST_(T)
#define REEF_RELATION_STRUCT_(T) \
    typedef struct T { \
        REEF_ALIGNAS(8) const reef_entity target; \
        const uint64_t place; \
    } T;
/* The same with data: REEF_RELATION_OF(Owes, Money), REEF_RELATION_OF(Fears, Doubt, REEF_EXCLUSIVE). The type of the
 * data is a component that was declared before, without hooks and with an alignment of at most 16 bytes. */
#define REEF_RELATION_OF(...) REEF_RELATION_OF_MORE_(__VA_ARGS__, 0, 0)
#define REEF_RELATION_OF_MORE_(T, Data, options, ...) \
    typedef Data reef_data_of_##T; \
    typedef struct T { \
        REEF_ALIGNAS(8) const reef_entity target; \
        const uint64_t place; \
        Data data; \
    } T; \
    static REEF_RELATION_DECLARATION_(T, options, &reef_declared_by_REEF_COMPONENT_##Data) REEF_ENLIST_(T)
#define REEF_RELATION_DECLARATION_(T, options, data) \
    REEF_DECLARATION_(T, REEF_CAST(uint32_t, sizeof(T)), REEF_CAST(uint32_t, REEF_ALIGNOF(T)), \
                      ((options)&REEF_EXCLUSIVE) != 0 ? REEF_PAGED : REEF_MULTI, 0, 0, 0, \
                      (options) | REEF_IS_RELATION, data, reef_bring_relations_)
/* A relation of reef itself. No list has its declaration, so that it is only in a program that names the type. */
#define REEF_RELATION_BUILT_IN_(T, options) \
    REEF_RELATION_STRUCT_(T) \
    static REEF_UNUSED REEF_RELATION_DECLARATION_(T, options, 0) struct reef_needs_semicolon_##T
/* Lets the library find its code of relations. Only declarations name this. */
REEF_API void reef_bring_relations_(void);

/* ---- relating ---- */

/* Relates a source to a target. `data` is a value of the relation's data, copied; NULL: zeroes. If they are related
 * already, the data is written (with NULL nothing happens) and the answer is OK; else ADDED, also where only one half
 * of a symmetric relation was there. An exclusive relation to another target is replaced. The relation comes behind all
 * others of its target. Errors: NOT_ALIVE (source or target), UNKNOWN_TYPE, BAD_ARGUMENT (no type of relations),
 * WRONG_SIZE, CYCLE, LIMIT (REEF_MULTI_MAX targets), LOCKED (in systems, and in loops that don't record), NO_MEMORY. In
 * a loop that records, and in an observer, it is recorded. */
REEF_API reef_status reef_relate_id(reef_world *world, reef_entity source, reef_component relation, reef_entity target,
                                    const void *data, size_t size);
/* The same, and puts the relation in front of the one that `next` has to the same target; null: behind all. Related
 * entities change their place. Errors: the same, NOT_ALIVE for `next` too, and ABSENT (`next` has no such
 * relation). */
REEF_API reef_status reef_relate_before_id(reef_world *world, reef_entity source, reef_component relation,
                                           reef_entity target, reef_entity next);
/* Ends a relation. Errors: NOT_ALIVE (source or target), UNKNOWN_TYPE, BAD_ARGUMENT, ABSENT (they aren't related),
 * LOCKED, NO_MEMORY. */
REEF_API reef_status reef_unrelate_id(reef_world *world, reef_entity source, reef_component relation,
                                      reef_entity target);
/* The relation gets another target and keeps its data; it comes behind all others of the new target. Errors: as
 * reef_relate, and ABSENT, EXISTS (the source is related to both), BAD_ARGUMENT (it is symmetric). */
REEF_API reef_status reef_retarget_id(reef_world *world, reef_entity source, reef_component relation, reef_entity from,
                                      reef_entity to);
/* Ends all relations of a type to a target, one after the other. Returns how many; less than there were only where
 * there is no memory (reef_last_error). */
REEF_API uint64_t reef_unrelate_sources_id(reef_world *world, reef_entity target, reef_component relation);
/* Ends all relations of a type that a source has: all or none; of a symmetric type both halves of each, one after the
 * other. Returns how many. */
REEF_API uint64_t reef_unrelate_all_id(reef_world *world, reef_entity source, reef_component relation);

/* ---- asking ----
 *
 * Reading takes a const world, and any number of threads may do it at the same time. A relation that is disabled
 * (reef/enable.h) counts here as any other. Only queries don't see it. */

/* Is the source related to the target? Of transitive relations also by way of others; false if there is no memory for
 * that search. */
REEF_API bool reef_related_id(const reef_world *world, reef_entity source, reef_component relation, reef_entity target);
/* The first target of a source, for exclusive relations the only one; null: none. */
REEF_API reef_entity reef_target_id(const reef_world *world, reef_entity source, reef_component relation);
/* The whole relation, to be read: a pointer to the struct of its type, which lives as long as one that reef_get gives.
 * NULL: they aren't related. */
REEF_API const void *reef_relation_get_id(const reef_world *world, reef_entity source, reef_component relation,
                                          reef_entity target);
/* The same, to write its data; errors and what counts as changed as with reef_mut. */
REEF_API void *reef_relation_mut_id(reef_world *world, reef_entity source, reef_component relation, reef_entity target);
/* Number of sources of a target. O(1). */
REEF_API uint64_t reef_source_count_id(const reef_world *world, reef_entity target, reef_component relation);

/* The sources of a target in their order, in arrays. The world may change between two steps: the next step goes on
 * behind the last source that was handed out. The arrays live until the world changes. */
typedef struct reef_sources {
    const reef_entity *sources; /* of this step */
    uint32_t count;
    reef_component relation;
    reef_entity target;
    const reef_world *world;
    uint64_t place;   /* of the last source of this step; 0: there was no step yet */
    reef_entity last; /* that source */
    reef_entity one;  /* a source that isn't in an array of the world */
} reef_sources;
REEF_API reef_sources reef_sources_of_id(const reef_world *world, reef_entity target, reef_component relation);
/* The next sources. False: there are no more. */
REEF_API bool reef_sources_next(reef_sources *sources);

REEF_END_C

/* By the C name of a type. The last argument of reef_relate_before is `next`, also written out: (reef_entity){0, 0}. */
#define reef_relate(world, source, R, target) reef_relate_id(world, source, reef_id(R), target, NULL, 0)
#define reef_relate_before(world, source, R, target, ...) \
    reef_relate_before_id(world, source, reef_id(R), target, __VA_ARGS__)
#define reef_unrelate(world, source, R, target) reef_unrelate_id(world, source, reef_id(R), target)
#define reef_retarget(world, source, R, from, to) reef_retarget_id(world, source, reef_id(R), from, to)
#define reef_unrelate_sources(world, target, R) reef_unrelate_sources_id(world, target, reef_id(R))
#define reef_unrelate_all(world, source, R) reef_unrelate_all_id(world, source, reef_id(R))
#define reef_related(world, source, R, target) reef_related_id(world, source, reef_id(R), target)
#define reef_target(world, source, R) reef_target_id(world, source, reef_id(R))
#define reef_relation_get(world, source, R, target) ((const R *)reef_relation_get_id(world, source, reef_id(R), target))
#define reef_relation_mut(world, source, R, target) ((R *)reef_relation_mut_id(world, source, reef_id(R), target))
#define reef_source_count(world, target, R) reef_source_count_id(world, target, reef_id(R))
#define reef_sources_of(world, target, R) reef_sources_of_id(world, target, reef_id(R))
#ifndef __cplusplus
/* The data is written out: reef_relate_data(w, alice, Owes, bob, 30). */
#define reef_relate_data(world, source, R, target, ...) \
    reef_relate_id(world, source, reef_id(R), target, &(const reef_data_of_##R){__VA_ARGS__}, sizeof(reef_data_of_##R))
#else
template <class D>
static inline reef_status reef_relate_data_id(reef_world *w, reef_entity source, reef_component relation,
                                              reef_entity target, const D &data)
{
    return reef_relate_id(w, source, relation, target, &data, sizeof(D));
}
#define reef_relate_data(world, source, R, target, ...) \
    reef_relate_data_id<reef_data_of_##R>(world, source, reef_id(R), target, reef_data_of_##R{__VA_ARGS__})
#endif

#endif
