/* A type that can't be moved doesn't fit into rows, which move.
 * expected: this type can't be moved */
#include "common.hpp"

void use(reef::world &w, reef::entity e)
{
    (void)w, (void)e;
#ifdef WRONG
    e.add<Locked>();
#else
    e.add<Position>();
#endif
}
