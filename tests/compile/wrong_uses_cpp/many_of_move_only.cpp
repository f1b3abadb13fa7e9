/* One value can't become many of a type that can't be copied.
 * expected: this type can't be copied */
#include "common.hpp"

void use(reef::world &w, reef::entity e)
{
    (void)w, (void)e;
    auto all = w.query<const Position>();
    const Mesh mesh;
#ifdef WRONG
    all.set(mesh);
#else
    all.set(Position{1, 2});
#endif
}
