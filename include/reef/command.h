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
/* These do what reef_destroy, reef_add_id (without args), reef_set_id, reef_remove_id and reef_change_values
 * do, when the command is applied. Values are copied at once. */
REEF_API reef_status reef_cmd_destroy(reef_block *block, reef_entity entity);
REEF_API reef_status reef_cmd_add_id(reef_block *block, reef_entity entity, reef_component type);
REEF_API reef_status reef_cmd_set_id(reef_block *block, reef_entity entity, reef_component type, const void *value,
                                     size_t size);
REEF_API reef_status reef_cmd_remove_id(reef_block *block, reef_entity entity, reef_component type);
REEF_API reef_status reef_cmd_change_values(reef_block *block, reef_entity entity, const reef_value *values,
                                            uint32_t count);
/* As reef_enable_id; type {0} means the whole entity. */
REEF_API reef_status reef_cmd_enable_id(reef_block *block, reef_entity entity, reef_component type, bool on);

REEF_END_C

/* By the C name of a type: reef_cmd_spawn(b, reef_with(Position, 1, 2)), reef_cmd_add(b, e, Frozen), reef_cmd_set(b,
 * e, Velocity, 3, 4). */
#define reef_cmd_spawn(block, ...) reef_cmd_spawn_values(block, REEF_VALUES_(__VA_ARGS__))
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
#ifndef __cplusplus
#define reef_cmd_set(block, entity, T, ...) \
    reef_cmd_set_id(block, entity, reef_id(T), &(const T){__VA_ARGS__}, sizeof(T))
#else
template <class T>
static inline reef_status reef_cmd_set_value(reef_block *b, reef_entity e, reef_component c, const T &value)
{
    return reef_cmd_set_id(b, e, c, &value, sizeof(T));
}
#define reef_cmd_set(block, entity, T, ...) reef_cmd_set_value<T>(block, entity, reef_id(T), T{__VA_ARGS__})
#endif

#endif
