/* A struct whose definition isn't there is no tag: it may have members where it is defined.
 * expected: this type is only declared here */
#include "common.hpp"

struct Health;
REEF_TAG(Frozen);
namespace sea {
extern "C" {
REEF_SWITCH(Awake);
}
} // namespace sea

void use(reef::world &w, reef::entity e)
{
    (void)e;
#ifdef WRONG
    for (auto [other] : w.view<reef::with<Health>>()) (void)other;
#else
    for (auto [other] : w.view<reef::with<Frozen>, sea::Awake>()) (void)other;
#endif
}
