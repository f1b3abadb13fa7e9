/* The inlined half of adding, setting and removing. This isn't part of the interface, and may change with every
 * version. */
#ifndef REEF_DETAIL_CHANGE_H
#define REEF_DETAIL_CHANGE_H

#include "../component.h"
#include "access.h"

REEF_BEGIN_C

REEF_INLINE reef_status reef_add_decl(reef_world *world, reef_entity e, reef_type_decl *decl, const void *args)
{
    return reef_add_id(world, e, reef_id_with(world, decl), args, NULL);
}
REEF_INLINE reef_status reef_remove_decl(reef_world *world, reef_entity e, reef_type_decl *decl)
{
    return reef_remove_id(world, e, reef_id_with(world, decl));
}
/* reef_set_id, faster for types whose values are outside of tables. */
REEF_API reef_status reef_set_stored_(reef_world *world, reef_entity entity, reef_component type, const void *value,
                                      size_t size);
/* `stored` is a constant. */
REEF_INLINE reef_status reef_set_decl(reef_world *world, reef_entity e, reef_type_decl *decl, const void *value,
                                      size_t size, bool stored)
{
    return stored ? reef_set_stored_(world, e, reef_id_with(world, decl), value, size)
                  : reef_set_id(world, e, reef_id_with(world, decl), value, size);
}

REEF_END_C

#ifdef __cplusplus
template <class T>
static inline reef_status reef_set_value(reef_world *w, reef_entity e, reef_type_decl *d, const T &value, bool stored)
{
    return reef_set_decl(w, e, d, &value, sizeof(T), stored);
}
#endif

#endif
