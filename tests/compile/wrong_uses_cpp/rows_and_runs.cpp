/* A system is called for rows or for runs of them.
 * expected: not both */
#include "common.hpp"

void use(reef::world &w, reef::entity e)
{
    (void)w, (void)e;
#ifdef WRONG
    w.system("x", [](Position &, reef::span<Velocity>) {});
#else
    w.system("x", [](reef::span<Position>, reef::span<Velocity>) {});
#endif
}
