/* The handle of an entity that was destroyed is used. */
#include <reef.h>

typedef struct {
    float x, y;
} Position;
typedef struct {
    float x, y;
} Velocity;
REEF_COMPONENT(Position);
REEF_COMPONENT(Velocity);

int main(void)
{
    reef_world *w = reef_world_new(NULL);
    reef_entity e = reef_spawn(w, reef_with(Position, 1, 2));
    reef_destroy(w, e);
    reef_set(w, e, Position, 3, 4);
    reef_world_free(w);
}
