/* Libraries that print and read numbers in the program's locale are called in the locale "C", on this thread alone:
 *
 *     plain_locale l;
 *     if (!plain_locale_begin(&l)) return REEF_NO_MEMORY;
 *     ...
 *     plain_locale_end(&l);
 *
 * jansson takes the first byte of the decimal point, and ends the program where that has several. SQLite's functions on
 * JSON read numbers by strtod, in Debian's build. What they call back runs in this locale too.
 * Files that include this define _POSIX_C_SOURCE 200809L before all headers. */
#ifndef REEF_PLAIN_LOCALE_H
#define REEF_PLAIN_LOCALE_H

#include <locale.h>
#include <stdbool.h>
#if defined(__APPLE__)
#include <xlocale.h>
#endif

typedef struct plain_locale {
#if defined(_WIN32)
    int before; /* of _configthreadlocale */
    char numeric[64];
#else
    locale_t plain, before;
#endif
} plain_locale;

/* False: no memory. */
static inline bool plain_locale_begin(plain_locale *l)
{
#if defined(_WIN32)
    l->before = _configthreadlocale(_ENABLE_PER_THREAD_LOCALE);
    const char *numeric = setlocale(LC_NUMERIC, NULL);
    size_t k = 0;
    for (; numeric && numeric[k] && k + 1 < sizeof l->numeric; k++) l->numeric[k] = numeric[k];
    l->numeric[k] = 0;
    return setlocale(LC_NUMERIC, "C") != NULL;
#else
    l->plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (l->plain) l->before = uselocale(l->plain);
    return l->plain != (locale_t)0;
#endif
}

static inline void plain_locale_end(plain_locale *l)
{
#if defined(_WIN32)
    (void)setlocale(LC_NUMERIC, l->numeric);
    (void)_configthreadlocale(l->before);
#else
    (void)uselocale(l->before);
    freelocale(l->plain);
#endif
}

#endif
