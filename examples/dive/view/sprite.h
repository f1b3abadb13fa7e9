/* What is drawn: a frame is one array of sprites, in the order in which they cover each other, and a few passes over
 * parts of it. The window and the web page draw the same arrays with the same shaders (shaders.h). */
#ifndef DIVE_SPRITE_H
#define DIVE_SPRITE_H

#include <stdbool.h>
#include <stdint.h>

/* The shapes, which the shader draws. The order is that of the numbers in shaders.c. */
enum {
    SHAPE_GLOW, /* a soft light that is added */
    SHAPE_DISC,
    SHAPE_RING,
    SHAPE_LINE,
    SHAPE_BOX,
    SHAPE_FISH,
    SHAPE_JELLY,
    SHAPE_CRAB,
    SHAPE_SPIKY,
    SHAPE_EEL,
    SHAPE_PUFFER,
    SHAPE_SHARK,
    SHAPE_SHRIMP,
    SHAPE_DIVER,
    SHAPE_BELL,
    SHAPE_CORAL,
    SHAPE_WEED,
    SHAPE_BUBBLE,
    SHAPE_PEARL,
    SHAPE_EGG,
    SHAPE_SEGMENT,
    SHAPE_ANGLER,
    SHAPE_MATRON
};

typedef struct colour {
    uint8_t r, g, b, a;
} colour;

/* 32 bytes, as the graphics card reads them. */
typedef struct sprite {
    float x, y;   /* the middle, in metres; in a pass over the screen: hundredths of its height */
    float ux, uy; /* from the middle to the front: direction and half the length */
    float width;  /* half of it */
    float phase;  /* where its movement is: tails beat, weeds sway */
    colour paint;
    uint8_t shape;
    uint8_t glow;  /* 0: only what light falls on it is seen; 255: it shines by itself */
    uint8_t flash; /* towards white */
    uint8_t extra; /* depends on the shape */
} sprite;

enum { SPRITES_MAX = 40000, PASSES_MAX = 4, LIGHTS_MAX = 8 };

typedef struct light {
    float x, y, radius, power;
    float r, g, b, unused;
} light;

/* A part of the screen, with the sprites to be drawn in it. */
typedef struct pass {
    uint32_t first, count;            /* sprites */
    uint32_t sea;                     /* 1: the sea floor behind them, and they are lit; 0: over all, on the screen */
    float left, top, wide, high;      /* of the screen, 0 ... 1 */
    float x, y, half_wide, half_high; /* the camera: its middle, and what it sees */
    float lamp_x, lamp_y, lamp_dx, lamp_dy, cosine, range;
    float bell_x, bell_y;
    float backward; /* 0 ... 1: time runs backward */
    float hurt;     /* 0 ... 1 */
    float time;     /* seconds, for what sways */
    float dark;     /* 0 ... 1: behind a menu */
    light lights[LIGHTS_MAX];
} pass;

typedef struct frame {
    uint32_t count, pass_count;
    pass passes[PASSES_MAX];
    sprite sprites[SPRITES_MAX];
} frame;

/* Adds a sprite; what doesn't fit is left out. */
void frame_add(frame *f, sprite s);
/* Begins a pass with the sprites that come from now on; the caller sets the camera. */
pass *frame_pass(frame *f, bool sea);
/* Ends the pass. */
void frame_end_pass(frame *f);

/* A line of text of strokes. `size` is the height of a letter. Returns its width. */
enum { TEXT_LEFT, TEXT_MIDDLE, TEXT_RIGHT };
float frame_text(frame *f, const char *text, float x, float y, float size, int align, colour paint);
float text_width(const char *text, float size);

static inline colour faded(colour c, float by) { return (colour){c.r, c.g, c.b, (uint8_t)((float)c.a * by)}; }

#endif
