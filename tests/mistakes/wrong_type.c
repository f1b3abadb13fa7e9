/* A system asks for a component that its text doesn't name. */
#include <reef.h>

typedef struct {
    float x, y;
} Position;
typedef struct {
    float x, y;
} Velocity;
REEF_COMPONENT(Position);
REEF_COMPONENT(Velocity);

static void move(reef_block *b)
{
    Position *p = reef_inout(b, Position);
    const Velocity *v = reef_in(b, Velocity);
    if (p == NULL || v == NULL) return;
    p->x += v->x;
}

int main(void)
{
    reef_world *w = reef_world_new(NULL);
    reef_spawn(w, reef_with(Position, 1, 2), reef_with(Velocity, 3, 4));
    reef_system(w, move, "Position");
    reef_tick(w, 0.1f);
    reef_world_free(w);
}
