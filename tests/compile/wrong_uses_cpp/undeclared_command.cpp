/* Commands do what their list says.
 * expected: don't list destroys */
#include "common.hpp"

void use(reef::world &w, reef::entity e)
{
    (void)w, (void)e;
#ifdef WRONG
    w.system("x", [](const Position &, reef::entity x, reef::commands<reef::adds<Mass>> c) { c.destroy(x); });
#else
    w.system("x", [](const Position &, reef::entity x, reef::commands<reef::destroys> c) { c.destroy(x); });
#endif
}
