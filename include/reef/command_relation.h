/* Commands that relate entities, and those that copy prefabs: reef/command.h. */
#ifndef REEF_COMMAND_RELATION_H
#define REEF_COMMAND_RELATION_H

#include "command.h"
#include "prefab.h"

REEF_BEGIN_C

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

/* Makes a copy of a prefab and of everything below it, as it is when the command is applied (reef_instantiate_values).
 * The handle is that of the root. The system declares that it spawns entities with any components ("spawns"). Null on
 * failure. */
REEF_API reef_entity reef_cmd_instantiate_values(reef_block *block, reef_entity prefab, const reef_value *values,
                                                 uint32_t count);

REEF_END_C

/* By the C name of a type. */
#define reef_cmd_relate(block, source, R, target) reef_cmd_relate_id(block, source, reef_id(R), target, NULL, 0)
#define reef_cmd_relate_before(block, source, R, target, ...) \
    reef_cmd_relate_before_id(block, source, reef_id(R), target, __VA_ARGS__)
#define reef_cmd_unrelate(block, source, R, target) reef_cmd_unrelate_id(block, source, reef_id(R), target)
#define reef_cmd_retarget(block, source, R, from, to) reef_cmd_retarget_id(block, source, reef_id(R), from, to)
#define reef_cmd_instantiate(block, prefab) reef_cmd_instantiate_values(block, prefab, NULL, 0)
#define reef_cmd_instantiate_with(block, prefab, ...) \
    reef_cmd_instantiate_values(block, prefab, REEF_VALUES_(__VA_ARGS__))
#ifndef __cplusplus
/* The data is written out: reef_cmd_relate_data(b, alice, Owes, bob, 30). */
#define reef_cmd_relate_data(block, source, R, target, ...) \
    reef_cmd_relate_id(block, source, reef_id(R), target, &(const reef_data_of_##R){__VA_ARGS__}, \
                       sizeof(reef_data_of_##R))
#else
template <class D>
static inline reef_status reef_cmd_relate_data_id(reef_block *b, reef_entity source, reef_component relation,
                                                  reef_entity target, const D &data)
{
    return reef_cmd_relate_id(b, source, relation, target, &data, sizeof(D));
}
#define reef_cmd_relate_data(block, source, R, target, ...) \
    reef_cmd_relate_data_id<reef_data_of_##R>(block, source, reef_id(R), target, reef_data_of_##R{__VA_ARGS__})
#endif

#endif
