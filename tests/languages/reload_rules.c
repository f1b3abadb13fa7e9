/* The rules that reload.py and reload.lua replace while they hold a world: with MORE Hunter has another layout. */
#include "reef_hot.h"

typedef struct {
#if defined(MORE)
    int16_t mood;
    double power;
#else
    float power;
    uint8_t rage;
#endif
} Hunter;
REEF_COMPONENT(Hunter);
#if defined(MORE)
REEF_FIELDS(Hunter, mood, power);
#else
REEF_FIELDS(Hunter, power, rage);
#endif

static void hunt(reef_block *b)
{
    Hunter *h = reef_inout(b, Hunter);
    for (uint32_t i = 0; i < b->count; i++) h[i].power += SPEED;
}

static reef_status load(reef_world *w, void *context)
{
    (void)context;
    return reef_system_is_null(reef_system(w, hunt, "Hunter")) ? reef_last_error(w).status : REEF_OK;
}

static const reef_module rules = {.name = "rules", .version = SPEED, .load = load};
REEF_HOT_LIBRARY(&rules);
