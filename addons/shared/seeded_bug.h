/* Seeded bugs in add-ons: BUG(n) is true in a build with REEF_SEEDED_BUGS while the environment variable REEF_BUG is n
 * (scripts/seeded-bugs), and the constant false in every other build. src/base/bugs.h lists them all. */
#ifndef REEF_SHARED_SEEDED_BUG_H
#define REEF_SHARED_SEEDED_BUG_H

#if defined(REEF_SEEDED_BUGS)
#include <stdbool.h>
#include <stdlib.h>
static inline bool seeded_bug(long number)
{
    const char *on = getenv("REEF_BUG");
    return on && strtol(on, NULL, 10) == number;
}
#define BUG(n) seeded_bug(n)
#else
#define BUG(n) 0
#endif

#endif
