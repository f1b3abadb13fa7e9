/* A number where an entity is wanted. */
#include "common.h"

void use(reef_world *w, reef_entity e)
{
#ifdef WRONG
    reef_destroy(w, 7);
#else
    reef_destroy(w, e);
#endif
}
