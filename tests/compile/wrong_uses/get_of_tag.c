/* A tag has no data to get. */
#include "common.h"

void use(reef_world *w, reef_entity e)
{
#ifdef WRONG
    (void)reef_get(w, e, Hungry);
#else
    (void)reef_get(w, e, Position);
#endif
}
