/* What the wrong uses share. */
#include <reef/all.h>

typedef struct {
    float x, y;
} Position;
typedef struct {
    float x, y;
} Velocity;
REEF_COMPONENT(Position);
REEF_COMPONENT(Velocity);
REEF_TAG(Hungry);

void use(reef_world *w, reef_entity e);
