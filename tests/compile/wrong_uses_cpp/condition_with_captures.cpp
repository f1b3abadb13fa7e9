/* A condition of a system has captures, which its forks would share.
 * expected: a condition is a lambda without captures */
#include "common.hpp"

struct Depth {
    float metres;
};

void use(reef::world &w, reef::entity e)
{
    bool on = e.is_alive();
    (void)on;
#ifdef WRONG
    w.system(reef::about("sink").run_if([&on](const reef::world_ref &) { return on; }), [](Depth &d) { d.metres++; });
#else
    w.system(reef::about("sink").run_if([](const reef::world_ref &x) { return x.ticks() > 3; }),
             [](Depth &d) { d.metres++; });
#endif
}
