/* Keyboard, mouse and game pads. */
#ifndef DIVE_INPUT_H
#define DIVE_INPUT_H

#include "app.h"

/* Reads what has happened since the last frame. False: the window was closed. */
bool input_read(controls *c);

#endif
