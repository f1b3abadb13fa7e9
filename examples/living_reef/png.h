/* Writes an image of at most 256 colours as a PNG in base64, for a picture inside of another file. The bytes depend on
 * nothing but the pixels; a library's next version might compress differently. */
#ifndef LIVING_REEF_PNG_H
#define LIVING_REEF_PNG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct colour {
    uint8_t red, green, blue;
} colour;

/* Writes the PNG in base64. False: no memory. Errors of the file are found by ferror. */
bool png_write_base64(FILE *file, const uint8_t *pixels, uint32_t width, uint32_t height, const colour *colours,
                      uint32_t colour_count);

#endif
