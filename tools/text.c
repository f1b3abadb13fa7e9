/* Messages and output. */
#include "tool.h"
#include <errno.h>
#include <stdarg.h>
#include <string.h>

void say(const char *path, const char *format, ...)
{
    va_list arguments;
    (void)fflush(stdout); /* keeps the order where stdout and stderr lead to the same place */
    fprintf(stderr, "reef: %s%s", path ? path : "", path ? ": " : "");
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
}

void put_text(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        const unsigned char c = (unsigned char)text[i];
        if (c < 32 || c == 127) printf("\\x%02x", c);
        else putchar(c);
    }
}

void put_name(const char *name) { put_text(name, strlen(name)); }

void put_entity(const reef_world *world, reef_entity e)
{
    const char *name = reef_name(world, e);
    printf("%" PRIu32 "v%" PRIu32, e.index, e.generation);
    if (name == NULL) return;
    fputs(" \"", stdout);
    put_name(name);
    putchar('"');
}

const char *plural(uint64_t count) { return count == 1 ? "" : "s"; }

static int output_error; /* errno of the first failure */

bool output_open(void)
{
    if (!ferror(stdout)) return true;
    if (output_error == 0) output_error = errno ? errno : EIO;
    return false;
}

int output_close(int answer)
{
    if (output_open()) {
        errno = 0;
        (void)fflush(stdout);
        if (output_open()) return answer;
    }
    if (output_error != EPIPE) say(NULL, "standard output: %s", strerror(output_error));
    return ANSWER_TROUBLE;
}
