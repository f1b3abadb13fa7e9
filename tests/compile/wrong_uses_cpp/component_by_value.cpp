/* A system takes components by reference.
 * expected: takes components by reference */
#include "common.hpp"

void use(reef::world &w, reef::entity e)
{
    (void)w, (void)e;
#ifdef WRONG
    w.system("x", [](Position p) { (void)p; });
#else
    w.system("x", [](const Position &p) { (void)p; });
#endif
}
