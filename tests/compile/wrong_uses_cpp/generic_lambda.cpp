/* Parameters that are auto say nothing.
 * expected: a lambda without auto parameters */
#include "common.hpp"

void use(reef::world &w, reef::entity e)
{
    (void)w, (void)e;
#ifdef WRONG
    w.system("x", [](auto &p) { (void)p; });
#else
    w.system("x", [](Position &p) { (void)p; });
#endif
}
