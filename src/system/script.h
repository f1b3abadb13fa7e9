/* system/script: TODO */
#ifndef REEF_SYSTEM_SCRIPT_H
#define REEF_SYSTEM_SCRIPT_H

#include "base/platform.h"
#include "reef/type.h"

/* the fork has them as its origin has, if it has. False: no memory */
bool reef__scripts_join(reef_world *fork, uint64_t serial);
/* of those that wait for their end, and how many they are */
uint64_t reef__scripts_hash(const reef_world *w, uint64_t *waiting);
uint32_t reef__scripts_type(void); /* 0: nobody has asked for it yet */
/* n values of the type side by side get the classes of their names; how many got none */
uint32_t reef__scripts_bind(void *values, uint32_t n);
uint64_t reef__scripts_without(const reef_world *w); /* how many have no class */
void reef__scripts_end(reef_world *w);               /* the world is about to end: all that live do */

#endif
