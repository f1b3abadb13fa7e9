/* get is for reading. */
#include "common.h"

void use(reef_world *w, reef_entity e)
{
#ifdef WRONG
    reef_get(w, e, Position)->x = 1;
#else
    reef_mut(w, e, Position)->x = 1;
#endif
}
