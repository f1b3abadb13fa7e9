/* Numbers as texts, in the program's locale or any other: always with a point.
 *
 * printf and strtod take the decimal point of the locale, which a program may have set for its windows (GTK and Qt do).
 * It may be a comma, or have several bytes. A text in a file, in SQL or in JSON must not depend on it. So these two let
 * the C library do the arithmetic and exchange the point. Each add-on that needs them includes this header. */
#ifndef REEF_PLAIN_NUMBER_H
#define REEF_PLAIN_NUMBER_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLAIN_NUMBER_MAX = 32, PLAIN_NUMBER_READ_MAX = 400 };

/* The largest number that becomes a finite float. It is above FLT_MAX, and so is 3.4028235e38, the shortest text of
 * FLT_MAX. */
#define PLAIN_SINGLE_MOST 3.4028235677973362e38

/* Writes a number with so many significant digits, as "%.*g" does in the locale "C". */
static inline void plain_number_write(char text[PLAIN_NUMBER_MAX], int digits, double number)
{
    char local[PLAIN_NUMBER_MAX];
    bool in_point = false;
    (void)snprintf(local, sizeof local, "%.*g", digits, number);
    for (const char *from = local; *from; from++) {
        const bool of_point = strchr("0123456789+-einfa", *from) == NULL; /* what else there is, is the point */
        if (!of_point || !in_point) *text++ = of_point ? '.' : *from;
        in_point = of_point;
    }
    *text = 0;
}

/* Reads a text that is a decimal number as a whole, such as -1.5e3. False: it is none, or has more than 400 bytes. */
static inline bool plain_number_read(const char *text, double *number)
{
    char half[PLAIN_NUMBER_MAX], local[PLAIN_NUMBER_READ_MAX + PLAIN_NUMBER_MAX], *end;
    const size_t size = strspn(text, "+-0123456789.eE"), before = strcspn(text, ".");
    if (size == 0 || text[size] || size > PLAIN_NUMBER_READ_MAX) return false;
    (void)snprintf(half, sizeof half, "%.1f", 0.5); /* 0, the point, 5 */
    const size_t point = strlen(half) - 2;
    memcpy(local, text, before);
    if (before < size) {
        memcpy(local + before, half + 1, point);
        memcpy(local + before + point, text + before + 1, size - before); /* with the zero at the end */
    } else {
        local[before] = 0;
    }
    *number = strtod(local, &end);
    return *end == 0;
}

#endif
