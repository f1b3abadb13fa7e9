/* A value that can't be copied is handed over.
 * expected: this type can't be copied */
#include "common.hpp"

void use(reef::world &w, reef::entity e)
{
    (void)w, (void)e;
#ifdef WRONG
    Mesh mesh;
    e.set(mesh);
#else
    Mesh mesh;
    e.set(std::move(mesh));
#endif
}
