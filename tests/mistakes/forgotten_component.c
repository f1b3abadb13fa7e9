/* A type is used that was never declared as a component. */
#include <reef.h>

typedef struct {
    float x, y;
} Position;

int main(void)
{
    reef_world *w = reef_world_new(NULL);
    reef_entity e = reef_spawn(w, reef_with(Position, 1, 2));
    const Position *p = reef_get(w, e, Position);
    (void)p;
    reef_world_free(w);
}
