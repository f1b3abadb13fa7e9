/* A file that has what look_two.cpp lacks: the options of a type. Each of the two is right for itself. */
#include "look.hpp"

#if LOOK == 1
struct Seen {
    int a;
};
REEF_CPP_IN(Seen, REEF_SPARSE);
#else
struct Seen {
    int a, b;
};
#endif

void look_one(reef::world &world) { world.spawn(Seen{}); }
