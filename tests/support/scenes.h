/* Worlds that systems run in, for the suites about ticks: each scene has its types of change, so that together they
 * have all. What a scene does depends on the world and the number of the tick alone.
 *
 * Some scenes have a naive twin: the same functions, called one after the other for plain loops over queries, whose
 * commands go to a list that is done by calls on the world at the phase's end, one by one. So everything that a tick
 * adds to that is held against something simple: order, jobs, ids of lanes, joining, versions, sums. */
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
    /* what the host does before a tick; NULL: nothing */
    void (*before)(reef_world *world, uint64_t tick);
} scene;

extern const scene scenes[];
extern const uint32_t scene_count;

/* Systems and entities. False: something is refused. */
bool scene_begin(const scene *s, reef_world *world);
/* The host's part and one tick. */
reef_status scene_tick(const scene *s, reef_world *world, uint64_t tick);

/* The naive twin of a world; it has no systems. */
typedef struct naive naive;
naive *naive_begin(const scene *s, reef_world *world);
void naive_tick(naive *n, uint64_t tick);
void naive_end(naive *n);

/* What can be seen of a world but for the handles of its entities: all values in the visible order. */
uint64_t scene_digest(reef_world *world);

#endif
