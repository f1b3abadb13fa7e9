/* A tag has no value to set. */
#include "common.h"

void use(reef_world *w, reef_entity e)
{
#ifdef WRONG
    reef_set(w, e, Hungry, 1);
#else
    reef_set(w, e, Position, 1, 2);
#endif
}
