/* A tag has no data to change. */
#include "common.h"

void use(reef_world *w, reef_entity e)
{
#ifdef WRONG
    (void)reef_mut(w, e, Hungry);
#else
    (void)reef_mut(w, e, Position);
#endif
}
