/* Where in a text of JSON something stands. The library that parses it tells this only for texts that it refuses. So a
 * text that it took is walked once more, to the value in question. */
#ifndef REEF_TEXT_PLACE_H
#define REEF_TEXT_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A value on the way from the root: which one it is among the values of its object or array. */
typedef struct text_step {
    const struct text_step *up; /* NULL: this is the root */
    size_t number;
    bool key; /* the place is that of its key */
} text_step;

/* Line and column, from 1. A column is a character of UTF-8. The text is valid JSON. */
void reef__text_place(const char *text, size_t size, const text_step *step, uint32_t *line, uint32_t *column);

#endif
