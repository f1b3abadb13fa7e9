#include "text_place.h"

typedef struct walk {
    const char *at, *end;
} walk;

static void skip_space(walk *x)
{
    while (x->at < x->end && (*x->at == ' ' || *x->at == '\t' || *x->at == '\n' || *x->at == '\r')) x->at++;
}

static void skip_string(walk *x)
{
    for (x->at++; x->at < x->end && *x->at != '"'; x->at++)
        if (*x->at == '\\') x->at++;
    if (x->at < x->end) x->at++;
}

/* Objects and arrays are skipped by counting brackets, so that no depth needs a stack. */
static void skip_value(walk *x)
{
    size_t depth = 0;
    skip_space(x);
    do {
        skip_space(x);
        if (x->at >= x->end) return;
        const char c = *x->at;
        if (c == '"') skip_string(x);
        else if (c == '{' || c == '[') depth++, x->at++;
        else if (c == '}' || c == ']') depth--, x->at++;
        else if (c == ',' || c == ':') x->at++;
        else
            while (x->at < x->end && *x->at != ',' && *x->at != '}' && *x->at != ']' && *x->at != ' ' &&
                   *x->at != '\n' && *x->at != '\r' && *x->at != '\t')
                x->at++;
    } while (depth > 0);
}

/* From the beginning of an object or array to value `number` of it. */
static void enter(walk *x, size_t number, bool key)
{
    const bool object = x->at < x->end && *x->at == '{';
    if (x->at < x->end) x->at++;
    for (size_t i = 0;; i++) {
        skip_space(x);
        if (key && i == number) return;
        if (object) {
            skip_string(x);
            skip_space(x);
            if (x->at < x->end) x->at++; /* the colon */
        }
        skip_space(x);
        if (i == number || x->at >= x->end) return;
        skip_value(x);
        skip_space(x);
        if (x->at < x->end) x->at++; /* the comma */
    }
}

void reef__text_place(const char *text, size_t size, const text_step *step, uint32_t *line, uint32_t *column)
{
    walk x = {text, text + size};
    size_t depth = 0;
    for (const text_step *s = step; s && s->up; s = s->up) depth++;
    skip_space(&x);
    for (; depth > 0; depth--) {
        const text_step *s = step;
        for (size_t i = 1; i < depth; i++) s = s->up;
        enter(&x, s->number, s->key);
    }
    *line = *column = 1;
    for (const char *p = text; p < x.at; p++) {
        if (*p == '\n') ++*line, *column = 1;
        else if (((unsigned char)*p & 0xC0) != 0x80) ++*column;
    }
}
