/* What is read is taken as if it could be written. */
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
    Position *p = reef_in(b, Position);
    p->x++;
}

int main(void)
{
    reef_world *w = reef_world_new(NULL);
    reef_system(w, move, "in Position");
    reef_world_free(w);
}
