/* Components are copied into an array of their own type. */
#include "common.h"

void use(reef_world *w, reef_entity e)
{
    Position positions[1] = {{1, 2}};
    Velocity velocities[1] = {{1, 2}};
    (void)positions, (void)velocities;
#ifdef WRONG
    reef_get_many(w, Position, &e, 1, velocities);
#else
    reef_get_many(w, Position, &e, 1, positions);
#endif
}
