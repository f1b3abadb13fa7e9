/* A text that is written piece by piece into a buffer of fixed size, as far as it fits. */
#ifndef REEF_BASE_TEXT_OUT_H
#define REEF_BASE_TEXT_OUT_H

#include "base/platform.h"
#include "reef/compiler.h"

/* Begin with {buffer, size, 0}. size 0 writes nothing, and then the buffer may be NULL; a larger buffer always holds a
 * text with a zero at its end once something was put. `length` is the length of the whole text, without the zero, also
 * of what didn't fit: the text was cut off if length >= size. */
typedef struct text_out {
    char *text;
    size_t size, length;
} text_out;

/* Appends formatted text. */
REEF_PRINTF(2, 3) COLD void reef__text_put(text_out *o, const char *format, ...);

#endif
