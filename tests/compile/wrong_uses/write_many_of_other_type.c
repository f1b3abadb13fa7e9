/* Components are replaced by values of their own type. */
#include "common.h"

void use(reef_world *w, reef_entity e)
{
    const Position positions[1] = {{1, 2}};
    const Velocity velocities[1] = {{1, 2}};
    (void)positions, (void)velocities;
#ifdef WRONG
    reef_write_many(w, Position, &e, 1, velocities);
#else
    reef_write_many(w, Position, &e, 1, positions);
#endif
}
