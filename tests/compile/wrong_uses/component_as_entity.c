/* A component id where an entity is wanted. */
#include "common.h"

void use(reef_world *w, reef_entity e)
{
#ifdef WRONG
    reef_destroy(w, reef_id(Position));
#else
    reef_destroy(w, e);
#endif
}
