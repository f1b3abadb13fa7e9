/* Texts that are kept behind a struct, in one piece of memory with it. */
#ifndef REEF_BASE_KEPT_TEXT_H
#define REEF_BASE_KEPT_TEXT_H

#include "base/platform.h"
#include <string.h>

/* Bytes that a text takes there; 0 for NULL. */
INLINE size_t kept_bytes(const char *text) { return text ? strlen(text) + 1 : 0; }
/* Copies a text to *room, which moves behind the copy. NULL stays NULL. */
INLINE char *text_copy(char **room, const char *text)
{
    char *copy = *room;
    if (text == NULL) return NULL;
    memcpy(copy, text, kept_bytes(text));
    *room += kept_bytes(text);
    return copy;
}

#endif
