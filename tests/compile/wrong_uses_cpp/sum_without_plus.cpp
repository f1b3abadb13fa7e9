/* The parts of a sum are added up by +=.
 * expected: added up by T's operator \+= */
#include "common.hpp"

struct Count {
    int landed;
};
struct Total {
    int landed;
    void operator+=(const Total &part) { landed += part.landed; }
};

void use(reef::world &w, reef::entity e)
{
    (void)e;
#ifdef WRONG
    w.system("count", [](const Position &, reef::sums<Count> sum) { sum->landed++; });
#else
    w.system("count", [](const Position &, reef::sums<Total> sum) { sum->landed++; });
#endif
}
