/* Lists of fields.
 *
 * A copy is one piece of memory:
 *
 *     | the fields | the lists of names, each with its values and texts | names and units of the fields |
 */
#include "type/fields.h"
#include "base/kept_text.h"
#include "base/platform.h"
#include "type/names.h"
#include "type/type_rules.h"
#include <stdio.h>

/* ---- members that are structs ---- */

enum { NESTED_DEPTH_MAX = 16 };

typedef struct flattening {
    made_fields *made;
    uint32_t count;
} flattening;

static bool fields_flatten(flattening *x, const char *prefix, uint32_t offset, const reef_field *fields, uint32_t count,
                           uint32_t depth);

static bool field_add(flattening *x, const char *prefix, uint32_t offset, const reef_field *f)
{
    if (x->count == REEF_FIELDS_MAX || f->name == NULL) return false;
    char *name = x->made->name[x->count];
    const int length = snprintf(name, REEF_TYPE_NAME_MAX + 1, "%s%s", prefix, f->name);
    if (length < 0 || length > REEF_TYPE_NAME_MAX) return false;
    reef_field *to = &x->made->field[x->count++];
    *to = *f;
    to->name = name;
    to->offset += offset;
    return true;
}

/* The fields of a member that is a struct, or of all structs of an array. */
static bool nested_add(flattening *x, const char *prefix, uint32_t offset, const reef_field *f, uint32_t depth)
{
    char inner[REEF_TYPE_NAME_MAX + 1];
    const reef_field_list *list = f->nested;
    if (depth == NESTED_DEPTH_MAX || (int)f->kind != 0 || f->names || f->name == NULL) return false;
    if (list->fields == NULL || list->count == 0 || list->bytes == 0 || f->bytes % list->bytes != 0) return false;
    for (uint32_t at = 0; at < f->bytes; at += list->bytes) {
        const int length = f->bytes == list->bytes ? snprintf(inner, sizeof inner, "%s%s.", prefix, f->name)
                                                   : snprintf(inner, sizeof inner, "%s%s[%u].", prefix, f->name,
                                                              (unsigned)(at / list->bytes));
        if (length < 0 || (size_t)length >= sizeof inner) return false;
        if (!fields_flatten(x, inner, offset + f->offset + at, list->fields, list->count, depth + 1)) return false;
    }
    return f->bytes != 0;
}

static bool fields_flatten(flattening *x, const char *prefix, uint32_t offset, const reef_field *fields, uint32_t count,
                           uint32_t depth)
{
    for (uint32_t i = 0; i < count; i++)
        if (!(fields[i].nested ? nested_add(x, prefix, offset, &fields[i], depth)
                               : field_add(x, prefix, offset, &fields[i])))
            return false;
    return true;
}

COLD bool reef__fields_flatten(made_fields *made, const reef_field **fields, uint32_t *count)
{
    flattening x = {made, 0};
    uint32_t i = 0;
    if (*fields == NULL || *count > REEF_FIELDS_MAX) return true; /* which is refused, if it is wrong */
    while (i < *count && (*fields)[i].nested == NULL) i++;
    if (i == *count) return true;
    if (!fields_flatten(&x, "", 0, *fields, *count, 0)) return false;
    *fields = made->field;
    *count = x.count;
    return true;
}

/* ---- copying ---- */

/* The first field that has the same names. */
static uint32_t same_names_first(const reef_field *fields, uint32_t i)
{
    uint32_t k = 0;
    while (!reef__names_same(fields[k].names, fields[i].names)) k++;
    return k;
}

COLD const reef_field *reef__field_named(const reef_field *fields, uint32_t count, const char *name, size_t length)
{
    for (uint32_t i = 0; i < count; i++)
        if (strncmp(fields[i].name, name, length) == 0 && fields[i].name[length] == 0) return &fields[i];
    return NULL;
}

size_t reef__fields_bytes(const reef_field *fields, uint32_t count)
{
    size_t bytes = count * sizeof *fields;
    for (uint32_t i = 0; i < count; i++) {
        bytes += strlen(fields[i].name) + strlen(unit_text(fields[i].unit)) + 2;
        if (fields[i].names && same_names_first(fields, i) == i) bytes += reef__names_bytes(fields[i].names);
    }
    return bytes;
}

const reef_field *reef__fields_copy(const reef_field *fields, uint32_t count, void *room)
{
    reef_field *copy = room;
    char *next = (char *)(copy + count);
    for (uint32_t i = 0; i < count; i++) {
        copy[i] = fields[i];
        if (fields[i].names == NULL) continue;
        const uint32_t first = same_names_first(fields, i);
        if (first < i) {
            copy[i].names = copy[first].names;
            continue;
        }
        copy[i].names = reef__names_copy(fields[i].names, next);
        next += reef__names_bytes(fields[i].names);
    }
    for (uint32_t i = 0; i < count; i++) {
        copy[i].name = text_copy(&next, fields[i].name);
        copy[i].unit = text_copy(&next, unit_text(fields[i].unit));
        if (copy[i].unit[0] == 0) copy[i].unit = NULL;
    }
    return copy;
}
