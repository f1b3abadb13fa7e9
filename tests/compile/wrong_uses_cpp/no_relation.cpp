/* A tag is used as a type of relations.
 * expected: this is no type of relations */
#include "common.hpp"

struct Crab {};
struct Likes : reef::relation<> {};

void use(reef::world &w, reef::entity e)
{
    (void)w;
#ifdef WRONG
    e.relate<Crab>(e);
#else
    e.relate<Likes>(e);
#endif
}
