/* The rules of examples/hot/main.c. Change them while it runs. */
#include "reef_hot.h"

#if !defined(SPEED)
#define SPEED 1
#endif

typedef struct {
    float x;
} Position;
REEF_COMPONENT(Position);
REEF_FIELDS(Position, x);

static void swim(reef_block *b)
{
    Position *p = reef_inout(b, Position);
    for (uint32_t i = 0; i < b->count; i++) p[i].x += SPEED * b->dt;
}

static reef_status load(reef_world *w, void *context)
{
    (void)context;
    reef_system(w, swim, "Position");
    return REEF_OK;
}

static const reef_module rules = {.name = "rules", .version = SPEED, .load = load};
REEF_HOT_LIBRARY(&rules);
