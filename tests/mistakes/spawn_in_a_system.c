/* The structure is changed in a system, without a command. */
#include <reef.h>

typedef struct {
    float x, y;
} Position;
typedef struct {
    float x, y;
} Velocity;
REEF_COMPONENT(Position);
REEF_COMPONENT(Velocity);

static void breed(reef_block *b)
{
    for (uint32_t i = 0; i < b->count; i++) reef_spawn(b->world, reef_with(Position, 1, 2));
}

int main(void)
{
    reef_world *w = reef_world_new(NULL);
    for (int i = 0; i < 10; i++) reef_spawn(w, reef_with(Position, 1, 2));
    reef_system(w, breed, "in Position");
    reef_tick(w, 0.1f);
    reef_world_free(w);
}
