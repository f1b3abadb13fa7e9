/* A tag has no value that an observer could be told.
 * expected: a tag has no value */
#include "common.hpp"

void use(reef::world &w, reef::entity e)
{
    (void)w, (void)e;
#ifdef WRONG
    w.on_add<Hungry>("fed", [](reef::entity, const Hungry &) {});
#else
    w.on_add<Hungry>("fed", [](reef::entity) {});
#endif
}
