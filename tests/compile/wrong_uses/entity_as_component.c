/* An entity where a component id is wanted. */
#include "common.h"

void use(reef_world *w, reef_entity e)
{
#ifdef WRONG
    (void)reef_has_id(w, e, e);
#else
    (void)reef_has_id(w, e, reef_id(Position));
#endif
}
