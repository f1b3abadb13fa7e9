/* What a view names const can't be written.
 * expected: read-only|const */
#include "common.hpp"

void use(reef::world &w, reef::entity e)
{
    (void)w, (void)e;
#ifdef WRONG
    for (auto [x, p] : w.view<const Position>()) p.x = 1;
#else
    for (auto [x, p] : w.view<Position>()) p.x = 1;
#endif
}
