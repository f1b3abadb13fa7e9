/* A type with a unique field isn't written through a reference, since nobody could refuse that.
 * expected: written by calls only */
#include "common.hpp"

struct Badge {
    uint32_t number;
};
template <> struct reef::options<Badge> {
    static constexpr reef_field fields[] = {REEF_FIELDS_OF(Badge, number)};
    static constexpr const char *unique = "number";
};

void use(reef::world &w, reef::entity e)
{
    (void)w, (void)e;
#ifdef WRONG
    w.system("x", [](Badge &b) { b.number = 3; });
#else
    w.system("x", [](const Badge &b) { (void)b.number; });
    e.set(Badge{3});
#endif
}
