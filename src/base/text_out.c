/* Bounded text. Behind the end of the buffer vsnprintf only counts, so that `length` is right in any case. */
#include "base/text_out.h"
#include <stdarg.h>
#include <stdio.h>

COLD void reef__text_put(text_out *o, const char *format, ...)
{
    va_list arguments;
    const size_t used = o->length < o->size ? o->length : o->size;
    va_start(arguments, format);
    const int n = vsnprintf(o->size ? o->text + used : NULL, o->size - used, format, arguments);
    va_end(arguments);
    if (n > 0) o->length += (size_t)n;
}
