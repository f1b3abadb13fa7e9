/* An image of at most 256 colours as a PNG in base64, for a picture inside of another file. The bytes depend on nothing
 * but the pixels: no library, whose next version would compress differently. */
#ifndef LIVING_REEF_PNG_H
#define LIVING_REEF_PNG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct colour {
    uint8_t red, green, blue;
} colour;

/* Writes the PNG's bytes in base64. False: no memory. Whether the file took them, ferror tells. */
bool png_write_base64(FILE *file, const uint8_t *pixels, uint32_t width, uint32_t height, const colour *colours,
                      uint32_t colour_count);

#endif
