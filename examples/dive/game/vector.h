/* Vectors in the plane of the sea floor. x grows to the east, y to the south, in metres.
 *
 * Only + - * / and the square root are used, which IEEE 754 defines to the last bit: so the game is the same on every
 * machine. Directions are unit vectors, never angles. */
#ifndef DIVE_VECTOR_H
#define DIVE_VECTOR_H

#include <math.h>

typedef struct vec {
    float x, y;
} vec;

static inline vec vec_sub(vec a, vec b) { return (vec){a.x - b.x, a.y - b.y}; }
static inline vec vec_add_scaled(vec a, vec b, float s) { return (vec){a.x + b.x * s, a.y + b.y * s}; }
static inline vec vec_scale(vec a, float s) { return (vec){a.x * s, a.y * s}; }
static inline float vec_dot(vec a, vec b) { return a.x * b.x + a.y * b.y; }
static inline float vec_square(vec a) { return a.x * a.x + a.y * a.y; }
static inline float vec_length(vec a) { return sqrtf(a.x * a.x + a.y * a.y); }
/* The direction of a vector; of a null vector, the null vector. */
static inline vec vec_unit(vec a)
{
    float length = vec_length(a);
    return length > 1e-6f ? (vec){a.x / length, a.y / length} : (vec){0.0f, 0.0f};
}
/* Turned by the angle whose direction is `by`. */
static inline vec vec_turn(vec a, vec by) { return (vec){a.x * by.x - a.y * by.y, a.x * by.y + a.y * by.x}; }
/* Turned by a quarter, clockwise on the screen. */
static inline vec vec_side(vec a) { return (vec){-a.y, a.x}; }
static inline float clamp(float value, float lowest, float highest)
{
    return value < lowest ? lowest : value > highest ? highest : value;
}
/* Counts down to 0. */
static inline float count_down(float clock, float dt) { return clock > dt ? clock - dt : 0.0f; }

#endif
