/* A template has no name that all compilers write the same way.
 * expected: no name that is the same everywhere */
#include "common.hpp"

void use(reef::world &w, reef::entity e)
{
    (void)w, (void)e;
#ifdef WRONG
    e.add<Box<int>>();
#else
    e.add<Position>();
#endif
}
