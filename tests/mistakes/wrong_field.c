/* A field is described that the struct doesn't have. */
#include <reef.h>

typedef struct {
    float x, y;
} Position;
typedef struct {
    float x, y;
} Velocity;
REEF_COMPONENT(Position);
REEF_COMPONENT(Velocity);

REEF_FIELDS(Position, (x, "m"), (z, "m"));

int main(void)
{
    reef_world *w = reef_world_new(NULL);
    reef_world_free(w);
}
