/* Worlds with systems, for the suites about ticks. Each scene has some kinds of changes, and together they have all.
 * What a scene does depends only on the world and the number of the tick.
 *
 * Some scenes have a naive twin. It calls the same functions one after the other in plain loops over queries; their
 * commands go to a list, which calls on the world apply one by one at the end of the phase. So everything that a tick
 * adds is compared with something simple: order, jobs, ids from lanes, joining, versions, sums. */
#ifndef REEF_TESTS_SCENES_H
#define REEF_TESTS_SCENES_H

#include "support.h"

typedef enum twin { TWIN_NONE, TWIN_EQUAL, TWIN_BUT_IDS /* equal but for the entities' handles */ } twin;

typedef struct scene_system {
    const char *name, *text;
    void (*function)(reef_block *block);
    reef_system_desc more; /* what is unusual */
} scene_system;

typedef struct scene {
    const char *name;
    uint32_t ticks;
    twin twin;
    const reef_phase_desc *phases; /* up to the first without a name; NULL: none of its own */
    /* up to the first without a name; in the order of their phases where there is a twin */
    const scene_system *systems;
    void (*begin)(reef_world *world);
    /* called before each tick, outside of systems; NULL: nothing */
    void (*before)(reef_world *world, uint64_t tick);
} scene;

extern const scene scenes[];
extern const uint32_t scene_count;

/* Makes the systems and entities. False: a call failed. */
bool scene_begin(const scene *s, reef_world *world);
/* Calls the function before the tick, and ticks once. */
reef_status scene_tick(const scene *s, reef_world *world, uint64_t tick);

/* The naive twin of a world; it has no systems. */
typedef struct naive naive;
naive *naive_begin(const scene *s, reef_world *world);
void naive_tick(naive *n, uint64_t tick);
void naive_end(naive *n);

/* A digest of everything that can be observed except handles: all values in the visible order. */
uint64_t scene_digest(reef_world *world);

#endif
