/* What owns something can't be sent: events are copied as bytes.
 * expected: events must be plain data */
#include "common.hpp"

void use(reef::world &w, reef::entity e)
{
    (void)w, (void)e;
#ifdef WRONG
    w.system("say", [](const Position &, reef::sends<Mesh> send) { send(); });
#else
    w.system("say", [](const Position &, reef::sends<Mass> send) { send(1.0f); });
#endif
}
