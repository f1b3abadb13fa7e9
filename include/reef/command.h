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
 * A command is recorded by the job whose block it is called with, and done at the end of the phase: as if all were
 * done one by one, in the order of the systems, of the blocks, of the calls. What can be told at once is refused at
 * once (UNDECLARED, UNKNOWN_TYPE, WRONG_SIZE, a null entity, NO_MEMORY ...). Whether the entity lives is decided
 * when the command is done, since commands before it may make or destroy it; a command that fails then has no
 * effect, and goes to the log. docs/manual/commands.md has the table.
 *
 * With a block of a loop outside of systems these are the same as the calls on the world. */
#ifndef REEF_COMMAND_PUBLIC_H
#define REEF_COMMAND_PUBLIC_H

#include "system.h"

REEF_BEGIN_C

/* Makes an entity; the handle is good at once for other commands, to be stored and sent; it lives from the end of
 * the phase on. The handles don't depend on the number of threads. Null on failure. */
REEF_API reef_entity reef_cmd_create(reef_block *block);
/* With these components. The values are copied at once (moved out of the caller's where there is no copy). Null on
 * failure. */
REEF_API reef_entity reef_cmd_spawn_values(reef_block *block, const reef_value *values, uint32_t count);
/* `n` of them, whose handles go to `entities` (room for n, NULL: not wanted). All or none. */
REEF_API reef_status reef_cmd_spawn_many_values(reef_block *block, uint32_t n, reef_entity *entities,
                                                const reef_value *values, uint32_t count);
/* A copy of what `source` is when the command is done. Null on failure. */
REEF_API reef_entity reef_cmd_clone(reef_block *block, reef_entity source);
/* Destroys it, add and set a component, remove one or all, make several changes in one move: as reef_destroy,
 * reef_add_id (without args), reef_set_id, reef_remove_id, reef_remove_all and reef_change_values, when the command
 * is done. Values are copied at once. */
REEF_API reef_status reef_cmd_destroy(reef_block *block, reef_entity entity);
REEF_API reef_status reef_cmd_add_id(reef_block *block, reef_entity entity, reef_component type);
REEF_API reef_status reef_cmd_set_id(reef_block *block, reef_entity entity, reef_component type, const void *value,
                                     size_t size);
REEF_API reef_status reef_cmd_remove_id(reef_block *block, reef_entity entity, reef_component type);
REEF_API reef_status reef_cmd_remove_all(reef_block *block, reef_entity entity);
REEF_API reef_status reef_cmd_change_values(reef_block *block, reef_entity entity, const reef_value *values,
                                            uint32_t count);
/* With type {0}: the whole entity. */
REEF_API reef_status reef_cmd_enable_id(reef_block *block, reef_entity entity, reef_component type, bool on);
/* As reef_set_name; the text is copied. A name that is taken when the command is done: NAME_TAKEN, the first in
 * order has it. */
REEF_API reef_status reef_cmd_name(reef_block *block, reef_entity entity, const char *name);

/* Systems that come, go and change by commands do so at the end of the phase, in the order of all commands: from the
 * next phase on a tick has the others. They need no declaration. What is kept of a description is a copy; its
 * context is reef's when the answer is OK: context_free is called for it also if the command fails in the end, or is
 * forgotten. Errors at once: BAD_ARGUMENT (no function, a bad name), NO_MEMORY; when it is done: as reef_system_new,
 * reef_system_replace ..., and NOT_ALIVE where no system has the name. */
REEF_API reef_status reef_cmd_system_new(reef_block *block, const reef_system_desc *desc);
/* The system of this name becomes another one. */
REEF_API reef_status reef_cmd_system_replace(reef_block *block, const char *name, const reef_system_desc *desc);
/* The system of this name is removed, as by reef_system_remove. It may be the one that asks. */
REEF_API reef_status reef_cmd_system_remove(reef_block *block, const char *name);
/* It is turned on or off, as by reef_system_switch. */
REEF_API reef_status reef_cmd_system_switch(reef_block *block, const char *name, bool on);

REEF_END_C

/* By the C name of a type: reef_cmd_spawn(b, reef_with(Position, 1, 2)), reef_cmd_add(b, e, Frozen), reef_cmd_set(b,
 * e, Velocity, 3, 4). */
#define reef_cmd_spawn(block, ...) reef_cmd_spawn_values(block, REEF_VALUES_(__VA_ARGS__))
#define reef_cmd_spawn_many(block, n, entities, ...) \
    reef_cmd_spawn_many_values(block, n, entities, REEF_VALUES_(__VA_ARGS__))
#define reef_cmd_change(block, entity, ...) reef_cmd_change_values(block, entity, REEF_VALUES_(__VA_ARGS__))
#define reef_cmd_add(block, entity, T) reef_cmd_add_id(block, entity, reef_id(T))
#define reef_cmd_remove(block, entity, T) reef_cmd_remove_id(block, entity, reef_id(T))
#define reef_cmd_enable(block, entity, T) reef_cmd_enable_id(block, entity, reef_id(T), true)
#define reef_cmd_disable(block, entity, T) reef_cmd_enable_id(block, entity, reef_id(T), false)
#define reef_cmd_enable_entity(block, entity) reef_cmd_enable_id(block, entity, reef_null_component_(), true)
#define reef_cmd_disable_entity(block, entity) reef_cmd_enable_id(block, entity, reef_null_component_(), false)
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
