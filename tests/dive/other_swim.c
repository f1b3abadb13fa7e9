/* The rules of swim.c, but whoever swims to the right gets one unit in the last place further. A program with this file
 * has another rule than the game, and nothing else tells the two apart. */
#define swim swim_by_the_rule
#include "../../examples/dive/game/swim.c"
#undef swim

void swim(reef_block *b)
{
    Position *at = reef_inout(b, Position);
    const Velocity *v = reef_in(b, Velocity);
    swim_by_the_rule(b);
    for (uint32_t i = 0; i < b->count; i++)
        if (v[i].x > 0.0f) at[i].x = nextafterf(at[i].x, 1e9f);
}
