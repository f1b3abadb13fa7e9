/* A tag has no value to get.
 * expected: a tag has no value */
#include "common.hpp"

void use(reef::world &w, reef::entity e)
{
    (void)w, (void)e;
#ifdef WRONG
    (void)e.get<Hungry>();
#else
    (void)e.has<Hungry>();
#endif
}
