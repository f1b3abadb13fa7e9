/* Commands: how a system changes the structure.
 *
 *     static void burn(reef_block *b)
 *     {
 *         Fuse *fuse = reef_inout(b, Fuse);
 *         for (uint32_t i = 0; i < b->count; i++)
 *             if (fuse[i].left-- == 0) reef_cmd_destroy(b, b->entities[i]);
 *     }
 *     reef_system(w, burn, "Fuse; destroys");
 *
 * A command is recorded by the job of its block, and applied at the end of the phase. The result is that of applying
 * all commands one by one, in the order of the systems, of their blocks, and of the calls. Mistakes that don't depend
 * on the state are refused at once (UNDECLARED, UNKNOWN_TYPE, WRONG_SIZE, a null entity, NO_MEMORY ...). Whether an
 * entity is alive is decided when the command is applied, since earlier commands may make or destroy it; a command that
 * fails then has no effect, and is logged. docs/manual/commands.md has the table.
 *
 * With a block of a loop outside of systems, these calls do the same as the calls on the world. */
#ifndef REEF_COMMAND_PUBLIC_H
#define REEF_COMMAND_PUBLIC_H

#include "enable.h"
#include "system.h"

REEF_BEGIN_C

/* Makes an entity. Its handle can be used at once: in other commands, in components and in events. The entity is alive
 * from the end of the phase on. Handles don't depend on the number of threads. Null on failure. */
REEF_API reef_entity reef_cmd_create(reef_block *block);
/* Makes an entity with these components. The values are copied at once; those that can't be copied are moved out of the
 * caller's. Null on failure. */
REEF_API reef_entity reef_cmd_spawn_values(reef_block *block, const reef_value *values, uint32_t count);
/* Makes `n` such entities and writes their handles to `entities`, which has room for n or is NULL. Either all are made
 * or none. */
REEF_API reef_status reef_cmd_spawn_many_values(reef_block *block, uint32_t n, reef_entity *entities,
                                                const reef_value *values, uint32_t count);
/* Makes a copy of `source` as it is when the command is applied. Null on failure. */
REEF_API reef_entity reef_cmd_clone(reef_block *block, reef_entity source);
/* Makes a copy of a prefab and of everything below it, as it is when the command is applied (reef_instantiate_values).
 * The handle is that of the root. The system declares that it spawns entities with any components ("spawns"). Null on
 * failure. */
REEF_API reef_entity reef_cmd_instantiate_values(reef_block *block, reef_entity prefab, const reef_value *values,
                                                 uint32_t count);
/* These do what reef_destroy, reef_add_id (without args), reef_set_id, reef_remove_id, reef_remove_all and
 * reef_change_values do, when the command is applied. Values are copied at once. */
REEF_API reef_status reef_cmd_destroy(reef_block *block, reef_entity entity);
REEF_API reef_status reef_cmd_add_id(reef_block *block, reef_entity entity, reef_component type);
REEF_API reef_status reef_cmd_set_id(reef_block *block, reef_entity entity, reef_component type, const void *value,
                                     size_t size);
REEF_API reef_status reef_cmd_remove_id(reef_block *block, reef_entity entity, reef_component type);
REEF_API reef_status reef_cmd_remove_all(reef_block *block, reef_entity entity);
REEF_API reef_status reef_cmd_change_values(reef_block *block, reef_entity entity, const reef_value *values,
                                            uint32_t count);
/* As reef_enable_id; type {0} means the whole entity. */
REEF_API reef_status reef_cmd_enable_id(reef_block *block, reef_entity entity, reef_component type, bool on);
/* As reef_set_name; the text is copied. If two commands give the same name, the first one in their order gets it, and
 * the other fails with NAME_TAKEN. */
REEF_API reef_status reef_cmd_name(reef_block *block, reef_entity entity, const char *name);

/* As reef_relate_id, reef_relate_before_id, reef_unrelate_id and reef_retarget_id (reef/relation.h), when the command
 * is applied. The data is copied at once. The system declares that it relates or unrelates the type: a new target and
 * a new place count as relating. */
REEF_API reef_status reef_cmd_relate_id(reef_block *block, reef_entity source, reef_component relation,
                                        reef_entity target, const void *data, size_t size);
REEF_API reef_status reef_cmd_relate_before_id(reef_block *block, reef_entity source, reef_component relation,
                                               reef_entity target, reef_entity next);
REEF_API reef_status reef_cmd_unrelate_id(reef_block *block, reef_entity source, reef_component relation,
                                          reef_entity target);
REEF_API reef_status reef_cmd_retarget_id(reef_block *block, reef_entity source, reef_component relation,
                                          reef_entity from, reef_entity to);

/* Commands can also add, replace, remove, enable and disable systems. They are applied with the other commands at the
 * end of the phase, and the tick uses the new systems from the next phase on. A system needs no declaration for them.
 * The description is copied. When the call returns OK, reef owns its context: context_free is called for it even if the
 * command fails later or is dropped. Errors at once: BAD_ARGUMENT (no function, a bad name), NO_MEMORY. Errors when it
 * is applied: as reef_system_new, reef_system_replace ..., and NOT_ALIVE if no system has the name. */
REEF_API reef_status reef_cmd_system_new(reef_block *block, const reef_system_desc *desc);
/* Replaces the system of this name, as reef_system_replace. */
REEF_API reef_status reef_cmd_system_replace(reef_block *block, const char *name, const reef_system_desc *desc);
/* Removes the system of this name, as reef_system_remove. A system may remove itself. */
REEF_API reef_status reef_cmd_system_remove(reef_block *block, const char *name);
/* Enables or disables the system of this name, as reef_system_enable. */
REEF_API reef_status reef_cmd_system_enable(reef_block *block, const char *name, bool on);

REEF_END_C

/* By the C name of a type: reef_cmd_spawn(b, reef_with(Position, 1, 2)), reef_cmd_add(b, e, Frozen), reef_cmd_set(b,
 * e, Velocity, 3, 4). */
#define reef_cmd_spawn(block, ...) reef_cmd_spawn_values(block, REEF_VALUES_(__VA_ARGS__))
#define reef_cmd_spawn_many(block, n, entities, ...) \
    reef_cmd_spawn_many_values(block, n, entities, REEF_VALUES_(__VA_ARGS__))
#define reef_cmd_instantiate(block, prefab) reef_cmd_instantiate_values(block, prefab, NULL, 0)
#define reef_cmd_instantiate_with(block, prefab, ...) \
    reef_cmd_instantiate_values(block, prefab, REEF_VALUES_(__VA_ARGS__))
#define reef_cmd_change(block, entity, ...) reef_cmd_change_values(block, entity, REEF_VALUES_(__VA_ARGS__))
#define reef_cmd_add(block, entity, T) reef_cmd_add_id(block, entity, reef_id(T))
#define reef_cmd_remove(block, entity, T) reef_cmd_remove_id(block, entity, reef_id(T))
/* Without a type: the whole entity, reef_cmd_disable(b, e). */
#define reef_cmd_enable(block, ...) \
    REEF_TWO_OR_THREE_(block, __VA_ARGS__, REEF_CMD_TYPE_, REEF_CMD_ALL_, 0)(true, block, __VA_ARGS__)
#define reef_cmd_disable(block, ...) \
    REEF_TWO_OR_THREE_(block, __VA_ARGS__, REEF_CMD_TYPE_, REEF_CMD_ALL_, 0)(false, block, __VA_ARGS__)
#define REEF_CMD_TYPE_(on, block, entity, T) reef_cmd_enable_id(block, entity, reef_id(T), on)
#define REEF_CMD_ALL_(on, block, entity) reef_cmd_enable_id(block, entity, reef_null_component_(), on)
#define reef_cmd_relate(block, source, R, target) reef_cmd_relate_id(block, source, reef_id(R), target, NULL, 0)
#define reef_cmd_relate_before(block, source, R, target, ...) \
    reef_cmd_relate_before_id(block, source, reef_id(R), target, __VA_ARGS__)
#define reef_cmd_unrelate(block, source, R, target) reef_cmd_unrelate_id(block, source, reef_id(R), target)
#define reef_cmd_retarget(block, source, R, from, to) reef_cmd_retarget_id(block, source, reef_id(R), from, to)
#ifndef __cplusplus
/* The data is written out: reef_cmd_relate_data(b, alice, Owes, bob, 30). */
#define reef_cmd_relate_data(block, source, R, target, ...) \
    reef_cmd_relate_id(block, source, reef_id(R), target, &(const reef_data_of_##R){__VA_ARGS__}, \
                       sizeof(reef_data_of_##R))
#define reef_cmd_set(block, entity, T, ...) \
    reef_cmd_set_id(block, entity, reef_id(T), &(const T){__VA_ARGS__}, sizeof(T))
#else
template <class T>
static inline reef_status reef_cmd_set_value(reef_block *b, reef_entity e, reef_component c, const T &value)
{
    return reef_cmd_set_id(b, e, c, &value, sizeof(T));
}
template <class D>
static inline reef_status reef_cmd_relate_data_id(reef_block *b, reef_entity source, reef_component relation,
                                                  reef_entity target, const D &data)
{
    return reef_cmd_relate_id(b, source, relation, target, &data, sizeof(D));
}
#define reef_cmd_relate_data(block, source, R, target, ...) \
    reef_cmd_relate_data_id<reef_data_of_##R>(block, source, reef_id(R), target, reef_data_of_##R{__VA_ARGS__})
#define reef_cmd_set(block, entity, T, ...) reef_cmd_set_value<T>(block, entity, reef_id(T), T{__VA_ARGS__})
#endif

#endif
