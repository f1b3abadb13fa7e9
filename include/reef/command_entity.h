/* Further commands for entities: many at once, copies, names, removing everything (reef/command.h). */
#ifndef REEF_COMMAND_ENTITY_H
#define REEF_COMMAND_ENTITY_H

#include "command.h"

REEF_BEGIN_C

/* Makes `n` entities with these components and writes their handles to `entities`, which has room for n or is NULL.
 * Either all are made or none. */
REEF_API reef_status reef_cmd_spawn_many_values(reef_block *block, uint32_t n, reef_entity *entities,
                                                const reef_value *values, uint32_t count);
/* Makes a copy of `source` as it is when the command is applied. Null on failure. */
REEF_API reef_entity reef_cmd_clone(reef_block *block, reef_entity source);
/* As reef_remove_all, when the command is applied. */
REEF_API reef_status reef_cmd_remove_all(reef_block *block, reef_entity entity);
/* As reef_set_name; the text is copied. If two commands give the same name, the first one in their order gets it, and
 * the other fails with NAME_TAKEN. */
REEF_API reef_status reef_cmd_name(reef_block *block, reef_entity entity, const char *name);

/* reef_cmd_spawn_many(b, n, ids, reef_with(Position, 1, 2), reef_tag(Hungry)) */
#define reef_cmd_spawn_many(block, n, entities, ...) \
    reef_cmd_spawn_many_values(block, n, entities, REEF_VALUES_(__VA_ARGS__))

REEF_END_C

#endif
