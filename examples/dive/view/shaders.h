/* How the graphics card draws: the same shaders for OpenGL 3.3 and for OpenGL ES 3, which is WebGL 2. They are files
 * beside this one, and the build makes arrays of them. Before each stands a line of the program that says the version,
 * and light.glsl. */
#ifndef DIVE_SHADERS_H
#define DIVE_SHADERS_H

/* Texts that end with a zero. */
extern const char dive_light_glsl[];
extern const char dive_sprite_vert[], dive_sprite_frag[]; /* an instance is a sprite: sprite.h */
extern const char dive_floor_vert[], dive_floor_frag[];   /* the sea floor behind them */

/* Attributes: 0: vec4 x, y, ux, uy; 1: vec2 width, phase; 2: vec4 paint, 0 ... 1; 3: vec4 shape, glow, flash, extra,
 * each 0 ... 255. Four vertices of a strip, without an array of their own.
 * Uniforms: `camera` vec4: middle, 1 / half of what it sees. `lamp` vec4: place, direction. `cone` vec4: cosine, range,
 * lit (0: everything shines by itself), time. `mood` vec4: backward, hurt, dark, unused. `bell` vec2. `lights` vec4[8]:
 * place, radius, power; `tints` vec4[8]. `noise` sampler2D: noise_make. */

enum { NOISE_SIDE = 256 };
/* Fills NOISE_SIDE * NOISE_SIDE pixels of four bytes with smooth noise that repeats at its edges: a different one in
 * each channel. */
void noise_make(unsigned char *pixels);

#endif
