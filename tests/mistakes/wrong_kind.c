/* A field is described as another kind than its member is. */
#include <reef.h>

typedef struct {
    float x, y;
} Position;
typedef struct {
    float x, y;
} Velocity;
REEF_COMPONENT(Position);
REEF_COMPONENT(Velocity);

REEF_FIELDS(Position, (x, REEF_F64, "m", 0, 0), (y, "m"));

int main(void)
{
    reef_world *w = reef_world_new(NULL);
    reef_spawn(w, reef_with(Position, 1, 2));
    reef_world_free(w);
}
