/* The smallest program that does something with every part of a world. */
#include "reef.h"
#include <stdio.h>

typedef struct {
    float x, y;
} Position;
REEF_COMPONENT(Position);

int main(void)
{
    reef_world *w = reef_world_new(NULL);
    reef_entity e = reef_spawn(w, reef_with(Position, 1, 2));
    reef_mut(w, e, Position)->x = 3;
    reef_mut(w, e, Position)->y = 4;
    const Position *p = reef_get(w, e, Position);
    printf("hello, %u entity at %g %g\n", (unsigned)reef_count_alive(w), (double)p->x, (double)p->y);
    reef_world_free(w);
    return 0;
}
