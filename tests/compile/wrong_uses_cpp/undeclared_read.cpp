/* Others' components are looked up where the parameter names them.
 * expected: doesn't declare that it reads */
#include "common.hpp"

void use(reef::world &w, reef::entity e)
{
    (void)w, (void)e;
#ifdef WRONG
    w.system("x", [](const Position &, reef::entity x, reef::reads<Mass> r) { (void)r.get<Velocity>(x); });
#else
    w.system("x", [](const Position &, reef::entity x, reef::reads<Mass> r) { (void)r.get<Mass>(x); });
#endif
}
