/* Value indexes: which entities have a value, or one in a range, without looking at all of them.
 *
 *     typedef struct { int32_t id; } Team;
 *     REEF_COMPONENT(Team);
 *     REEF_FIELDS(Team, id);
 *
 *     const reef_index *teams = reef_index_of(w, Team, id);
 *     reef_entity members[16];
 *     uint64_t n = reef_index_get(teams, reef_key_i32(5), members, 16);
 *
 * An index is a list of the entities, ordered by a field and then by the entity's index. It is no part of the state, of
 * its hash or of files. reef_index_of makes it, and later brings it up to date: it compares the blocks that were
 * written since, and after a restore or a rewind all of them. A fork shares the indexes of its world until one of them
 * changes.
 *
 * Values are given as keys (reef/order.h), so that all 64 bits count: reef_key_i32(5), reef_key_f32(0.5f),
 * reef_key_entity(e); those of bool and of the unsigned types are the number itself, of 8 and 16 bits with a sign those
 * of reef_key_i32. -0.0 is 0.0. A NaN is found by nothing. An entity that is disabled or a template
 * (reef/prefab.h), or whose component is disabled, isn't found. */
#ifndef REEF_VALUE_INDEX_H
#define REEF_VALUE_INDEX_H

#include "block.h"
#include "order.h"
#include "world.h"

REEF_BEGIN_C

/* An index of one world. All calls on it may be made from several threads at the same time. */
typedef struct reef_index reef_index;

/* Declares beside a type that its worlds have the index of a field: REEF_INDEX(Team, id). A world makes it before it
 * runs a system that reads components of others, so reef_indexed finds it. Stands behind REEF_FIELDS of T. */
#define REEF_INDEX(T, field) \
    static reef_index_decl reef_indexed_##T##_##field = {&reef_declared_by_REEF_COMPONENT_##T, #field, 0}; \
    REEF_BEFORE_MAIN(reef_index_before_##T##_##field) { reef_index_declare_(&reef_indexed_##T##_##field); } \
    REEF_AT_UNLOAD(reef_index_unload_##T##_##field) { reef_index_undeclare_(&reef_indexed_##T##_##field); } \
    struct reef_needs_semicolon_index_##T##_##field
/* A declaration in one file. The macro fills it and links it into the process's list; don't use it by hand. */
typedef struct reef_index_decl {
    reef_type_decl *type;
    const char *field;
    struct reef_index_decl *next;
} reef_index_decl;
REEF_API void reef_index_declare_(reef_index_decl *decl);
REEF_API void reef_index_undeclare_(reef_index_decl *decl);

/* The index over a field with one element (REEF_CHAR: up to 8 bytes) of a component in any home but REEF_MULTI and
 * REEF_SHARED; NULL: the type's only field. It is the world's, and lives as long. It answers as of now: take it again
 * after a change of the world. NULL on failure: UNKNOWN_TYPE, BAD_ARGUMENT (the field), LOCKED (systems run: they call
 * reef_indexed), NO_MEMORY. While a loop is open it looks at all blocks that are new since then each time. */
REEF_API const reef_index *reef_index_of_id(reef_world *world, reef_component type, const char *field);
/* By the C names of the type and of its member. */
#define reef_index_of(world, T, field) reef_index_of_id(world, reef_id(T), #field)
/* Has the world the index of this field already? Asking makes none. */
REEF_API bool reef_has_index_id(const reef_world *world, reef_component type, const char *field);
#define reef_has_index(world, T, field) reef_has_index_id(world, reef_id(T), #field)
/* The same index for a system that declares "reads T", on all of its threads. It is brought up to date by the first
 * call in each run of the system; if the system writes the component in its own rows, ask before that. The world must
 * have it, by REEF_INDEX or reef_index_of. NULL, and the job fails: UNDECLARED, ABSENT (it hasn't), NO_MEMORY. */
REEF_API const reef_index *reef_indexed_id(const reef_block *block, reef_component type, const char *field);
#define reef_indexed(block, T, field) reef_indexed_id(block, reef_id(T), #field)

/* Writes the entities with this value to `entities`, the first `room` of them, ordered by index. Returns how many there
 * are. */
REEF_API uint64_t reef_index_get(const reef_index *index, uint64_t key, reef_entity *entities, uint64_t room);
/* Looks up n values at once, which takes a fraction of the time, as a join does for each block: writes to first[i] the
 * entity with the lowest index that has keys[i] (null: none has), and to counts[i] how many have it (NULL: not asked).
 * Returns how many of the values some entity has. */
REEF_API uint32_t reef_index_get_many(const reef_index *index, const uint64_t *keys, uint32_t n, reef_entity *first,
                                      uint32_t *counts);
/* As reef_index_get, for all values from `lowest` to `highest`, these included, ordered by value and then by the
 * entity's index. The first `skip` of them aren't written. 0 and UINT64_MAX stand for all values. */
REEF_API uint64_t reef_index_range(const reef_index *index, uint64_t lowest, uint64_t highest, uint64_t skip,
                                   reef_entity *entities, uint64_t room);
/* The entity with the lowest value in the range, and the one with the highest; of several the one with the lowest
 * index, or the highest. Null: there is none. */
REEF_API reef_entity reef_index_first(const reef_index *index, uint64_t lowest, uint64_t highest);
REEF_API reef_entity reef_index_last(const reef_index *index, uint64_t lowest, uint64_t highest);

REEF_END_C

#endif
