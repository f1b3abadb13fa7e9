/* Which seeded bug is on. */
#include "base/platform.h"
#include <stdlib.h>

int reef_bug;

REEF_BEFORE_MAIN(reef_bug_from_environment)
{
    const char *number = getenv("REEF_BUG");
    if (number) reef_bug = atoi(number);
}
