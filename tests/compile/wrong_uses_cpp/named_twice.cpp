/* A component stands in a list once.
 * expected: a component is named twice */
#include "common.hpp"

void use(reef::world &w, reef::entity e)
{
    (void)w, (void)e;
#ifdef WRONG
    (void)w.query<Position, const Position>();
#else
    (void)w.query<Position, const Velocity>();
#endif
}
