/* Keys from a file, for tests and for the pictures in the documents. Each line has the number of a frame, of which
 * there are 60 in a second, and what happens in it:
 *
 *     # whatever
 *     60 down right          keys: up, down, left, right, confirm, dash, pulse, hold, rewind, pause, photo
 *     120 up right
 *     130 tap confirm        down in this frame, and up in the next one
 *     400 picture a.bmp      what is drawn in this frame
 *     450 tell               prints what is going on
 *     500 end
 *
 * The frames of a script last 1/60 second each, however long drawing takes; so the same script draws the same. */
#ifndef DIVE_SCRIPT_H
#define DIVE_SCRIPT_H

#include "app.h"

typedef struct script script;

/* NULL: the file can't be read. */
script *script_open(const char *path);
/* Changes what is pressed in the next frame. False: the script is at its end. */
bool script_frame(script *s, controls *c);
/* Is a picture due in this frame? Others needn't be drawn. */
bool script_wants_picture(const script *s);
/* Is this frame told about? True once. */
bool script_tells(script *s);
/* Prints a line about the app if this frame is told about. */
void script_tell(script *s, const app *a);
/* Writes the pictures of this frame. False: a file can't be written. */
bool script_picture(script *s, int wide, int high);
void script_close(script *s);

#endif
