/* Lists of fields.
 *
 * A copy is one piece of memory:
 *
 *     | the fields | the lists of names, each with its values and texts | names, units and old names of the fields |
 */
#include "type/fields.h"
#include "base/kept_text.h"
#include "type/names.h"
#include "type/type_rules.h"
#include <stdio.h>

/* ---- members that are structs ---- */

enum { NESTED_DEPTH_MAX = 16 };

typedef struct flattening {
    made_fields *made;
    uint32_t count;
} flattening;

/* Where a list of fields lies in the struct around it: what comes before the names, now and formerly. */
typedef struct nesting {
    const char *prefix, *was; /* was: as reef_field.was, each with what comes behind it; NULL: none */
    uint32_t offset, depth;
} nesting;

static bool fields_flatten(flattening *x, const nesting *in, const reef_field *fields, uint32_t count);

/* The next name of a list with ", " between them, and the text behind it. NULL: there is none. */
static const char *was_next(const char **list, size_t *length)
{
    const char *name = *list;
    if (name == NULL || name[0] == 0) return NULL;
    const char *end = strstr(name, ", ");
    *length = end ? (size_t)(end - name) : strlen(name);
    *list = end ? end + 2 : name + *length;
    return name;
}

static bool was_put(char *to, const char *prefix, size_t prefix_length, const char *name, size_t length)
{
    const size_t at = strlen(to);
    const int n = snprintf(to + at, REEF_FIELD_WAS_MAX + 1 - at, "%s%.*s%.*s", at ? ", " : "", (int)prefix_length,
                           prefix, (int)length, name);
    return n >= 0 && (size_t)n <= REEF_FIELD_WAS_MAX - at;
}

/* All names that a member had before: its own with each of the prefix, old ones with the prefix as it is and as it
 * was. `behind` follows each name. False: they are too long. */
static bool was_join(char *to, const nesting *in, const reef_field *f, const char *behind)
{
    char name[REEF_TYPE_NAME_MAX + 1];
    size_t length = 0, prefix_length = 0;
    bool fits = true;
    to[0] = 0;
    for (const char *own = f->name, *list = f->was; fits && own; own = was_next(&list, &length)) {
        if (own == f->name) length = strlen(own);
        const int n = snprintf(name, sizeof name, "%.*s%s", (int)length, own, behind);
        fits = n >= 0 && (size_t)n < sizeof name;
        if (fits && own != f->name) fits = was_put(to, in->prefix, strlen(in->prefix), name, (size_t)n);
        const char *prefixes = in->was, *prefix;
        while (fits && (prefix = was_next(&prefixes, &prefix_length)) != NULL)
            fits = was_put(to, prefix, prefix_length, name, (size_t)n);
    }
    return fits;
}

static bool field_add(flattening *x, const nesting *in, const reef_field *f)
{
    if (x->count == REEF_FIELDS_MAX || f->name == NULL) return false;
    char *name = x->made->name[x->count], *was = x->made->was[x->count];
    const int length = snprintf(name, REEF_TYPE_NAME_MAX + 1, "%s%s", in->prefix, f->name);
    if (length < 0 || length > REEF_TYPE_NAME_MAX || !was_join(was, in, f, "")) return false;
    reef_field *to = &x->made->field[x->count++];
    *to = *f;
    to->name = name;
    to->offset += in->offset;
    to->was = was[0] ? was : NULL;
    return true;
}

/* The fields of a member that is a struct, or of all structs of an array. */
static bool nested_add(flattening *x, const nesting *in, const reef_field *f)
{
    char prefix[REEF_TYPE_NAME_MAX + 1], behind[16] = ".", was[REEF_FIELD_WAS_MAX + 1];
    const reef_field_list *list = f->nested;
    if (in->depth == NESTED_DEPTH_MAX || (int)f->kind != 0 || f->names || f->name == NULL) return false;
    if (list->fields == NULL || list->count == 0 || list->bytes == 0 || f->bytes % list->bytes != 0) return false;
    for (uint32_t at = 0; at < f->bytes; at += list->bytes) {
        if (f->bytes != list->bytes) (void)snprintf(behind, sizeof behind, "[%u].", (unsigned)(at / list->bytes));
        const int length = snprintf(prefix, sizeof prefix, "%s%s%s", in->prefix, f->name, behind);
        if (length < 0 || (size_t)length >= sizeof prefix || !was_join(was, in, f, behind)) return false;
        const nesting inner = {prefix, was, in->offset + f->offset + at, in->depth + 1};
        if (!fields_flatten(x, &inner, list->fields, list->count)) return false;
    }
    return f->bytes != 0;
}

static bool fields_flatten(flattening *x, const nesting *in, const reef_field *fields, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (!(fields[i].nested ? nested_add(x, in, &fields[i]) : field_add(x, in, &fields[i]))) return false;
    return true;
}

COLD bool reef__fields_flatten(made_fields *made, const reef_field **fields, uint32_t *count)
{
    flattening x = {made, 0};
    uint32_t i = 0;
    if (*fields == NULL || *count > REEF_FIELDS_MAX) return true; /* which is refused, if it is wrong */
    while (i < *count && (*fields)[i].nested == NULL) i++;
    if (i == *count) return true;
    if (!fields_flatten(&x, &(nesting){.prefix = ""}, *fields, *count)) return false;
    *fields = made->field;
    *count = x.count;
    return true;
}

/* ---- pairing ---- */

/* Takes the name for a field. FIELD_UNPAIRED: it isn't there, or another field has it. */
static uint32_t name_take(const char *const *names, uint32_t count, bool *taken, const char *name, size_t length)
{
    for (uint32_t k = 0; k < count; k++)
        if (!taken[k] && strncmp(names[k], name, length) == 0 && names[k][length] == 0) return taken[k] = true, k;
    return FIELD_UNPAIRED;
}

COLD void reef__fields_pair(const reef_field *fields, uint32_t count, const char *const *names, uint32_t name_count,
                            uint32_t *pair, bool *taken)
{
    size_t length = 0;
    memset(taken, 0, name_count * sizeof *taken);
    for (uint32_t i = 0; i < count; i++)
        pair[i] = name_take(names, name_count, taken, fields[i].name, strlen(fields[i].name));
    for (uint32_t i = 0; i < count; i++) {
        const char *list = fields[i].was, *name;
        while (pair[i] == FIELD_UNPAIRED && (name = was_next(&list, &length)) != NULL)
            pair[i] = name_take(names, name_count, taken, name, length);
    }
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
        bytes += strlen(fields[i].name) + strlen(unit_text(fields[i].unit)) + 2 + kept_bytes(fields[i].was);
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
        copy[i].was = text_copy(&next, fields[i].was);
    }
    return copy;
}
