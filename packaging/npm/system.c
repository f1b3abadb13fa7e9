/* What reef asks of the C library and WebAssembly's one doesn't have: the time, from JavaScript (reef.mjs). */
#include <time.h>

__attribute__((import_module("env"), import_name("reef_javascript_now"))) double reef_javascript_now(void);

int timespec_get(struct timespec *to, int base)
{
    const double ms = reef_javascript_now();
    to->tv_sec = (time_t)(ms / 1000);
    to->tv_nsec = (long)((ms - (double)to->tv_sec * 1000) * 1000000);
    return base;
}
