/* A type with a value isn't given as a tag: its members would be zero, not what they say.
 * expected: this type has a value */
#include "common.hpp"

struct Health {
    int value = 100;
};

void use(reef::world &w, reef::entity e)
{
    (void)e;
#ifdef WRONG
    (void)w.spawn(reef::tag<Health>());
#else
    (void)w.spawn(reef::tag<Hungry>(), Health());
#endif
}
