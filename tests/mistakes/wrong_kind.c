/* A field is described with the wrong kind. */
#include <reef.h>

typedef struct {
    float x, y;
} Position;
typedef struct {
    float x, y;
} Velocity;
REEF_COMPONENT(Position);
REEF_COMPONENT(Velocity);

REEF_FIELDS(Position, REEF_FIELD(Position, x, REEF_F64, "m", 0, 0), REEF_FIELD(Position, y, REEF_F32, "m", 0, 0));

int main(void)
{
    reef_world *w = reef_world_new(NULL);
    reef_spawn(w, reef_with(Position, 1, 2));
    reef_world_free(w);
}
