/* Components are not copied into an array that is constant. */
#include "common.h"

void use(reef_world *w, reef_entity e)
{
    const Position constant[1] = {{1, 2}};
    Position positions[1] = {{1, 2}};
    (void)constant, (void)positions;
#ifdef WRONG
    reef_get_many(w, Position, &e, 1, constant);
#else
    reef_get_many(w, Position, &e, 1, positions);
#endif
}
