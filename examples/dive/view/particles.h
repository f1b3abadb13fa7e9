/* Sparks, bubbles and flashes: what the player sees of the world's cues. They are no part of the world. */
#ifndef DIVE_PARTICLES_H
#define DIVE_PARTICLES_H

#include "game.h"
#include "sprite.h"

enum { PARTICLES_MAX = 3000, FLASHES_MAX = 6 };

typedef struct particle {
    float x, y, vx, vy;
    float size, grows;
    float left, life;
    colour paint;
    uint8_t shape, glow, extra;
} particle;

typedef struct flash {
    float x, y, radius, left, life, power;
    float r, g, b;
} flash;

typedef struct particles {
    particle of[PARTICLES_MAX];
    uint32_t count, next;
    flash flashes[FLASHES_MAX];
    float shake; /* of the screen, in metres */
    float hurt;  /* 1 after a bite, then less */
    uint32_t dice;
} particles;

/* Shows a cue. */
void particles_cue(particles *p, const Cue *cue);
void particles_step(particles *p, float dt);
void particles_draw(const particles *p, frame *f);
/* Writes the flashes to the lights of a pass, from this one on. */
void particles_light(const particles *p, pass *to, uint32_t first);
/* 0 ... 1 */
float particles_random(particles *p);

#endif
