/* A type that nobody declared. */
#include "common.h"

void use(reef_world *w, reef_entity e)
{
#ifdef WRONG
    (void)reef_has(w, e, Acceleration);
#else
    (void)reef_has(w, e, Position);
#endif
}
