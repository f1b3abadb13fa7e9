/* A word of a system's text is wrong. */
#include <reef.h>

typedef struct {
    float x, y;
} Position;
typedef struct {
    float x, y;
} Velocity;
REEF_COMPONENT(Position);
REEF_COMPONENT(Velocity);

static void move(reef_block *b) { (void)reef_inout(b, Position); }

int main(void)
{
    reef_world *w = reef_world_new(NULL);
    reef_system(w, move, "Position; recieves Velocity");
    reef_tick(w, 0.1f);
    reef_world_free(w);
}
