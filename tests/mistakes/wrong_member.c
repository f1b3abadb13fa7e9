/* A member is described that fields can't hold. */
#include <reef.h>

typedef struct {
    float x, y;
    const char *name;
} Position;
REEF_COMPONENT(Position);

REEF_FIELDS(Position, (x, "m"), (y, "m"), name);

int main(void)
{
    reef_world *w = reef_world_new(NULL);
    reef_spawn(w, reef_with(Position, 1, 2));
    reef_world_free(w);
}
