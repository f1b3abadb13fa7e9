/* What a view names const is const for each() as well.
 * expected: a component that is const in the list must be const there */
#include "common.hpp"

void use(reef::world &w, reef::entity e)
{
    (void)w, (void)e;
#ifdef WRONG
    w.view<const Position>().each([](Position &p) { p.x = 1; });
#else
    w.view<const Position>().each([](const Position &p) { (void)p; });
#endif
}
