#include "creature_text.h"
#include <reef/type_info.h>
#include <reef/prefab.h>

#include <string.h>

enum { NAME_MAX_BYTES = 40, VALUE_MAX_BYTES = 64 };

typedef struct reader {
    reef_world *w;
    const char *at, *why;
    uint32_t line;
    bool naming; /* the first time through the text: the prefabs get names, so that others can name them */
} reader;

static bool wrong(reader *r, const char *why)
{
    if (r->why == NULL) r->why = why;
    return false;
}

static void skip_space(reader *r)
{
    for (; *r->at == ' ' || *r->at == '\t' || *r->at == '\r' || *r->at == '\n'; r->at++)
        if (*r->at == '\n') r->line++;
}

/* Takes this character if it is the next one. */
static bool take(reader *r, char c)
{
    skip_space(r);
    if (*r->at != c) return false;
    r->at++;
    return true;
}

static bool take_name(reader *r, char name[NAME_MAX_BYTES])
{
    size_t n = 0;
    if (!take(r, '"')) return wrong(r, "a name in quotes is missing");
    for (; *r->at != '"'; r->at++) {
        if (*r->at == '\0' || *r->at == '\n' || *r->at == '\\' || n + 1 == NAME_MAX_BYTES)
            return wrong(r, "a name isn't ended, or too long");
        name[n++] = *r->at;
    }
    name[n] = '\0';
    r->at++;
    return true;
}

/* An object: calls `member` behind each name and colon. */
static bool take_object(reader *r, bool (*member)(reader *r, const char *name, void *context), void *context)
{
    char name[NAME_MAX_BYTES];
    if (!take(r, '{')) return wrong(r, "a { is missing");
    if (take(r, '}')) return true;
    do {
        if (!take_name(r, name)) return false;
        if (!take(r, ':')) return wrong(r, "a : is missing");
        if (!member(r, name, context)) return false;
    } while (take(r, ','));
    return take(r, '}') || wrong(r, "a , or } is missing");
}

/* ---- values ---- */

/* A decimal number such as -1.5 or 1e9, of at most 15 digits: then a whole number and a power of ten, both exact, make
 * the nearest double. strtod would take the decimal point of the program's locale. */
static bool take_number(reader *r, double *number)
{
    static const double tens[] = {1,    1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                  1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    uint64_t whole = 0;
    int digits = 0, power = 0, exponent = 0, point = 0;
    skip_space(r);
    const bool minus = *r->at == '-';
    if (minus) r->at++;
    for (; (*r->at >= '0' && *r->at <= '9') || (*r->at == '.' && !point); r->at++) {
        if (*r->at == '.') {
            point = 1;
            continue;
        }
        if (++digits > 15) return wrong(r, "a number has too many digits");
        whole = whole * 10 + (uint64_t)(*r->at - '0');
        power -= point;
    }
    if (digits == 0) return wrong(r, "a number is missing");
    if (*r->at == 'e' || *r->at == 'E') {
        const bool down = *++r->at == '-';
        if (*r->at == '-' || *r->at == '+') r->at++;
        for (; *r->at >= '0' && *r->at <= '9' && exponent < 100; r->at++) exponent = exponent * 10 + (*r->at - '0');
        power += down ? -exponent : exponent;
    }
    if (power < -22 || power > 22) return wrong(r, "a number doesn't fit");
    *number = power < 0 ? (double)whole / tens[-power] : (double)whole * tens[power];
    if (minus) *number = -*number;
    return true;
}

/* A component whose value is being read. */
typedef struct value {
    reef_type_info type;
    _Alignas(16) char bytes[VALUE_MAX_BYTES];
} value;

static bool take_field(reader *r, const char *name, void *context)
{
    value *v = context;
    const reef_field *field = NULL;
    char target[NAME_MAX_BYTES];
    double number;
    for (uint32_t i = 0; i < v->type.field_count; i++)
        if (strcmp(v->type.fields[i].name, name) == 0) field = &v->type.fields[i];
    if (field == NULL) return wrong(r, "the component has no such field");
    if (field->kind == REEF_ENTITY) {
        if (!take_name(r, target)) return false;
        const reef_entity e = reef_find(r->w, target + 1);
        if (target[0] != '@') return wrong(r, "a creature is named by @ and its name");
        if (reef_entity_is_null(e) && !r->naming) return wrong(r, "there is no creature of that name");
        memcpy(v->bytes + field->offset, &e, sizeof e);
        return true;
    }
    if (!take_number(r, &number)) return false;
    if (field->kind == REEF_F32) {
        const float f = (float)number;
        memcpy(v->bytes + field->offset, &f, sizeof f);
        return true;
    }
    if (field->kind != REEF_U32 || number < 0.0 || number > 4294967295.0) return wrong(r, "a number doesn't fit");
    const uint32_t u = (uint32_t)number;
    memcpy(v->bytes + field->offset, &u, sizeof u);
    return true;
}

static bool take_component(reader *r, const char *name, void *context)
{
    const reef_entity e = *(const reef_entity *)context;
    const reef_component type = reef_type_find(name);
    value v = {0};
    if (!reef_type_get(type, &v.type) || v.type.size > sizeof v.bytes) return wrong(r, "there is no such component");
    if (v.type.size == 0) {
        skip_space(r);
        if (strncmp(r->at, "true", 4) != 0) return wrong(r, "a tag is true");
        r->at += 4;
        return r->naming || reef_add_id(r->w, e, type, NULL, NULL) >= 0 || wrong(r, "the creature has the tag twice");
    }
    if (!take_object(r, take_field, &v)) return false;
    return r->naming || reef_set_id(r->w, e, type, v.bytes, v.type.size) >= 0 || wrong(r, "a component can't be added");
}

/* ---- prefabs ---- */

static bool take_part(reader *r, const char *name, void *context)
{
    if (strcmp(name, "components") != 0) return wrong(r, "a creature has components and nothing else");
    return take_object(r, take_component, context);
}

static bool take_prefab(reader *r, const char *name, void *context)
{
    (void)context;
    reef_entity e = r->naming ? reef_create(r->w) : reef_find(r->w, name);
    if (r->naming && reef_set_name(r->w, e, name) < 0) return wrong(r, "there are two creatures of that name");
    if (!take_object(r, take_part, &e)) return false;
    return r->naming || reef_make_prefab(r->w, e) >= 0 || wrong(r, "there is no memory");
}

bool creature_text_read(reef_world *w, const char *text, uint32_t *line, const char **why)
{
    reader r = {.w = w};
    for (int time = 0; time < 2 && r.why == NULL; time++) {
        r.at = text, r.line = 1, r.naming = time == 0;
        if (!take_object(&r, take_prefab, NULL)) break;
        skip_space(&r);
        if (*r.at != '\0') wrong(&r, "something stands behind the end");
    }
    *line = r.line, *why = r.why;
    return r.why == NULL;
}
