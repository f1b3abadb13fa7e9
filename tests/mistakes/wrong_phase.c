/* A system is put into a phase that doesn't exist. */
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
    reef_system_new(w, &(reef_system_desc){.name = "move", .function = move, .text = "Position", .phase = "updat"});
    reef_tick(w, 0.1f);
    reef_world_free(w);
}
