/* A system isn't given the world.
 * expected: a system isn't given the world */
#include "common.hpp"

void use(reef::world &w, reef::entity e)
{
    (void)w, (void)e;
#ifdef WRONG
    w.system("x", [](reef::world &all, const Position &p) { (void)all, (void)p; });
#else
    w.system("x", [](reef::reads<Position> all, const Position &p) { (void)all, (void)p; });
#endif
}
