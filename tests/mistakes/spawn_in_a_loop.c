/* The structure is changed in a loop that doesn't record. */
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
    for (int i = 0; i < 10; i++) reef_spawn(w, reef_with(Position, 1, 2));
    reef_query q = reef_query_new(w, "in Position");
    reef_each(w, q, row) reef_spawn(w, reef_with(Velocity, 1, 2));
    reef_world_free(w);
}
