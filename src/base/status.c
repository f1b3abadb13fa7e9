/* The texts of statuses, the action of a failed assertion, and the switch of the seeded bugs. */
#include "base/platform.h"
#include "reef/status.h"
#include <stdio.h>
#include <stdlib.h>

COLD const char *reef_status_text(reef_status status)
{
    switch (status) {
#define X(name, value, text) \
    case REEF_##name: return text;
        REEF_STATUSES(X)
#undef X
    }
    return "unknown status";
}

COLD const char *reef_status_name(reef_status status)
{
    switch (status) {
#define X(name, value, text) \
    case REEF_##name: return #name;
        REEF_STATUSES(X)
#undef X
    }
    return "unknown status";
}

#if defined(REEF_CHECKED)

void reef_assert_failed(const char *text, const char *file, int line)
{
    fprintf(stderr, "reef: %s:%d: this must hold: %s\n", file, line, text);
    abort();
}

#endif
