/* So is what is aligned to more than a page.
 * expected: aligned to at most REEF_ALIGN_MAX */
#include "common.hpp"

struct alignas(2 * REEF_ALIGN_MAX) Page {
    char bytes[2 * REEF_ALIGN_MAX];
};

void use(reef::world &w, reef::entity e)
{
    (void)w, (void)e;
#ifdef WRONG
    (void)e.has<Page>();
#else
    (void)e.has<Position>();
#endif
}
