/* What is larger than a component may be is told when it is compiled.
 * expected: at most REEF_SIZE_MAX bytes */
#include "common.hpp"

struct Sea {
    char cells[REEF_SIZE_MAX + 1];
};

void use(reef::world &w, reef::entity e)
{
    (void)w, (void)e;
#ifdef WRONG
    (void)e.has<Sea>();
#else
    (void)e.has<Position>();
#endif
}
