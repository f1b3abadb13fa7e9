/* A world, as sprites. */
#ifndef DIVE_SCENE_H
#define DIVE_SCENE_H

#include "game.h"
#include "particles.h"
#include "sprite.h"

/* How a creature looks. */
typedef struct look {
    uint8_t shape;
    colour paint;
    float length, width; /* half of them, as multiples of the body's radius */
    float beat;          /* of its tail */
    uint8_t glow, extra;
} look;
const look *creature_look(uint32_t kind);

/* What is seen: the middle, half the height in metres, and the ratio of width to height. */
typedef struct camera {
    float x, y, half_high, aspect;
} camera;

/* Adds a pass that shows a world. The particles may be NULL, and so may the ghost. Returns the pass, for what else the
 * caller wants of it. */
pass *scene_draw(frame *f, const game *g, const game *ghost, const particles *p, camera c, float time);

#endif
