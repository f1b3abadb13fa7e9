/* Fields can't hold what owns memory.
 * expected: leave out what a member owns */
#include "common.hpp"
#include <string>

struct Label {
    std::string text;
    int size;
};
template <> struct reef::options<Label> {
#ifdef WRONG
    static constexpr reef_field fields[] = {REEF_FIELDS_OF(Label, text, size)};
#else
    static constexpr reef_field fields[] = {REEF_FIELDS_OF(Label, size)};
#endif
};

void use(reef::world &w, reef::entity e)
{
    (void)w;
    e.set(Label{"crab", 4});
}
