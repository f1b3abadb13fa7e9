/* A tag has no values, so nothing would ever call its destructor.
 * expected: its destructor would never be called */
#include "common.hpp"

struct Loud {
    ~Loud() {}
};

void use(reef::world &w, reef::entity e)
{
    (void)w, (void)e;
#ifdef WRONG
    e.add<Loud>();
#else
    e.add<Hungry>();
#endif
}
