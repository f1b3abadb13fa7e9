/* One array element an entity: the array must be of the component's type. */
#include "common.h"

void use(reef_world *w, reef_entity e)
{
    Position positions[2] = {{1, 2}, {3, 4}};
    Velocity velocities[2] = {{1, 2}, {3, 4}};
    (void)e, (void)positions, (void)velocities;
#ifdef WRONG
    reef_spawn_many(w, 2, NULL, reef_array(Position, velocities));
#else
    reef_spawn_many(w, 2, NULL, reef_array(Position, positions));
#endif
}
