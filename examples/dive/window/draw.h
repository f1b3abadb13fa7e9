/* Draws frames with OpenGL 3.3 or OpenGL ES 3, whichever the machine has. */
#ifndef DIVE_DRAW_H
#define DIVE_DRAW_H

#include "sprite.h"

#include <SDL.h>

/* Opens a window with a context. NULL: *why says what failed. */
SDL_Window *draw_open(int wide, int high, bool full_screen, const char **why);
/* Draws a frame; the caller swaps. */
void draw_frame(const frame *f, int wide, int high);
/* Writes what was drawn to a file, as a BMP. False: it can't, and it was said. */
bool draw_picture(const char *path, int wide, int high);
void draw_close(SDL_Window *window);

#endif
