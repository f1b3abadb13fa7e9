/* Writing prefabs as text. Of an entity with a base, each component is also written of the base's entity, and only what
 * differs goes into the result. A child of which nothing differs is taken back: the text is cut off where it began. */
#include "reef/all.h"
#include "reef_prefab_text.h"
#include "../shared/plain_number.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct writing {
    const reef_world *w;
    char *text;
    size_t size, room;
    bool failed;
} writing;

/* ---- text ---- */

static void put_bytes(writing *x, const char *from, size_t n)
{
    if (x->failed) return;
    if (x->room - x->size < n + 1) {
        const size_t room = (x->size + n + 1) * 2;
        char *more = realloc(x->text, room);
        if (more == NULL) {
            x->failed = true;
            return;
        }
        x->text = more;
        x->room = room;
    }
    memcpy(x->text + x->size, from, n);
    x->size += n;
    x->text[x->size] = 0;
}
static void put(writing *x, const char *text) { put_bytes(x, text, strlen(text)); }

/* Lines of deep levels are indented no further, so that the length of the text doesn't grow with the square of the
 * depth. */
static void put_line(writing *x, uint32_t depth)
{
    static const char indent[] = "\n                                                                ";
    const size_t spaces = (size_t)depth * 2;
    put_bytes(x, indent, 1 + (spaces < sizeof indent - 2 ? spaces : sizeof indent - 2));
}

static void put_string(writing *x, const char *text, size_t n)
{
    put(x, "\"");
    for (size_t i = 0; i < n; i++) {
        const unsigned char c = (unsigned char)text[i];
        char escaped[8];
        if (c == '"' || c == '\\') snprintf(escaped, sizeof escaped, "\\%c", c);
        else if (c < 32) snprintf(escaped, sizeof escaped, "\\u%04x", c);
        else escaped[0] = (char)c, escaped[1] = 0;
        put(x, escaped);
    }
    put(x, "\"");
}
static void put_name(writing *x, const char *text) { put_string(x, text, strlen(text)); }

/* A comma before all but the first member of an object or array. */
static void put_comma(writing *x, bool *first)
{
    if (!*first) put(x, ", ");
    *first = false;
}

static bool text_same(const writing *a, const writing *b)
{
    return a->size == b->size && (a->size == 0 || memcmp(a->text, b->text, a->size) == 0);
}

/* ---- values ---- */

/* The shortest number that is read as the same one. */
static void put_real(writing *x, double value, bool narrow)
{
    char text[PLAIN_NUMBER_MAX];
    double again = 0;
    if (!isfinite(value)) {
        x->failed = true;
        return;
    }
    for (int digits = narrow ? 6 : 15;; digits++) {
        plain_number_write(text, digits, value);
        const bool read = plain_number_read(text, &again);
        if (read && (narrow ? (float)again == (float)value : again == value)) break;
        if (digits > 17) break;
    }
    put(x, value == 0 && signbit(value) ? "-0.0" : text); /* "-0" would be read as a whole number */
}

/* An entity below the root by its path, another one by "@" and its path. */
static void put_entity(writing *x, reef_entity root, reef_entity e)
{
    size_t skip = 0;
    if (reef_entity_is_null(e) || !reef_is_alive(x->w, e)) {
        put(x, "null");
        return;
    }
    if (reef_entity_equal(root, e)) {
        put(x, "\".\"");
        return;
    }
    const size_t length = reef_path(x->w, e, NULL, 0);
    char *path = length ? malloc(length + 2) : NULL;
    if (path == NULL) {
        x->failed = true;
        return;
    }
    (void)reef_path(x->w, e, path + 1, length + 1);
    if (reef_is_above(x->w, root, e, ChildOf)) skip = reef_path(x->w, root, NULL, 0) + 2;
    path[0] = '@';
    put_name(x, path + skip);
    free(path);
}

static void put_number(writing *x, int64_t i, uint64_t u)
{
    char text[32];
    if (u > INT64_MAX) x->failed = true; /* jansson wouldn't read it */
    if (u) snprintf(text, sizeof text, "%llu", (unsigned long long)u);
    else snprintf(text, sizeof text, "%lld", (long long)i);
    put(x, text);
}

/* A value by its name, as a text; a number if nothing of it has a name. */
static void put_named(writing *x, const reef_field *f, int64_t i, uint64_t u)
{
    char text[REEF_NAMES_TEXT_MAX];
    const size_t length = reef_names_write(f->names, u ? (int64_t)u : i, text, sizeof text);
    if ((text[0] >= '0' && text[0] <= '9') || text[0] == '-') put_number(x, i, u);
    else put_string(x, text, length);
}

static void put_element(writing *x, reef_entity root, const reef_field *field, const char *from)
{
    reef_entity e;
    float f;
    double d;
    int64_t i = 0;
    uint64_t u = 0;
    switch (field->kind) {
    case REEF_BOOL: put(x, *from ? "true" : "false"); return;
    case REEF_F32: memcpy(&f, from, sizeof f), put_real(x, (double)f, true); return;
    case REEF_F64: memcpy(&d, from, sizeof d), put_real(x, d, false); return;
    case REEF_ENTITY: memcpy(&e, from, sizeof e), put_entity(x, root, e); return;
    case REEF_I8: i = *(const int8_t *)from; break;
    case REEF_I16: {
        int16_t v;
        memcpy(&v, from, sizeof v), i = v;
        break;
    }
    case REEF_I32: {
        int32_t v;
        memcpy(&v, from, sizeof v), i = v;
        break;
    }
    case REEF_I64: memcpy(&i, from, sizeof i); break;
    case REEF_U8: u = *(const uint8_t *)from; break;
    case REEF_U16: {
        uint16_t v;
        memcpy(&v, from, sizeof v), u = v;
        break;
    }
    case REEF_U32: {
        uint32_t v;
        memcpy(&v, from, sizeof v), u = v;
        break;
    }
    case REEF_U64: memcpy(&u, from, sizeof u); break;
    default: break;
    }
    if (field->names) put_named(x, field, i, u);
    else put_number(x, i, u);
}

static size_t kind_bytes(reef_kind kind)
{
    switch (kind) {
    case REEF_I16:
    case REEF_U16: return 2;
    case REEF_I32:
    case REEF_U32:
    case REEF_F32: return 4;
    case REEF_I64:
    case REEF_U64:
    case REEF_F64:
    case REEF_ENTITY: return 8;
    default: return 1;
    }
}

static void put_fields(writing *x, reef_entity root, const reef_type_info *t, const char *value, bool *first)
{
    for (uint32_t i = 0; i < t->field_count; i++) {
        const reef_field *f = &t->fields[i];
        const char *from = value + f->offset;
        const size_t bytes = kind_bytes(f->kind), n = f->bytes / bytes;
        put_comma(x, first);
        put_name(x, f->name);
        put(x, ": ");
        if (f->kind == REEF_CHAR) {
            const char *end = memchr(from, 0, f->bytes);
            put_string(x, from, end ? (size_t)(end - from) : f->bytes);
            continue;
        }
        if (n != 1) put(x, "[");
        for (size_t k = 0; k < n; k++) {
            if (k) put(x, ", ");
            put_element(x, root, f, from + k * bytes);
        }
        if (n != 1) put(x, "]");
    }
}

static void put_value(writing *x, reef_entity root, const reef_type_info *t, const char *value)
{
    bool first = true;
    put(x, "{");
    put_fields(x, root, t, value, &first);
    put(x, "}");
}

/* ---- components and relations ---- */

/* The text of a component, or of all relations of one type; empty if the entity hasn't got it. */
static void put_component(writing *x, reef_entity root, reef_entity e, reef_component c, const reef_type_info *t)
{
    reef_type_info data;
    uint32_t n = 0;
    if (reef_entity_is_null(e) || !reef_has_id(x->w, e, c)) return;
    if (t->size == 0 || t->field_count == 0) {
        put(x, "true");
        return;
    }
    const char *values = reef_get_all_id(x->w, e, c, &n);
    if (t->relation) {
        if (n > 1) put(x, "[");
        for (uint32_t i = 0; i < n; i++) {
            reef_entity target;
            memcpy(&target, values + (size_t)i * t->size, sizeof target);
            if (i) put(x, ", ");
            if (reef_type_get(t->data, &data) && data.field_count) {
                bool first = false;
                put(x, "{\"target\": ");
                put_entity(x, root, target);
                put_fields(x, root, &data, values + (size_t)i * t->size + 16, &first);
                put(x, "}");
            } else {
                put_entity(x, root, target);
            }
        }
        if (n > 1) put(x, "]");
    } else if (t->home == REEF_MULTI) {
        put(x, "[");
        for (uint32_t i = 0; i < n; i++) {
            if (i) put(x, ", ");
            put_value(x, root, t, values + (size_t)i * t->size);
        }
        put(x, "]");
    } else {
        char *copy = values ? NULL : malloc(t->size); /* of a split type there is no whole value in memory */
        if (copy && reef_read_id(x->w, e, c, copy, t->size)) values = copy;
        if (values) put_value(x, root, t, values);
        else x->failed = true;
        free(copy);
    }
}

/* The types that an entity has, by name. */
typedef struct type_names {
    reef_component *type;
    size_t count, room;
    bool failed;
} type_names;

static bool type_put(void *context, reef_entity e, reef_component type, const void *data, size_t size)
{
    type_names *x = context;
    (void)e, (void)data, (void)size;
    if (x->count && x->type[x->count - 1].id == type.id) return true; /* one more of several values */
    if (x->count == x->room) {
        const size_t room = x->room * 2 + 16;
        reef_component *more = realloc(x->type, room * sizeof *more);
        if (more == NULL) return x->failed = true, false;
        x->type = more;
        x->room = room;
    }
    x->type[x->count++] = type;
    return true;
}

static type_names types_of(writing *x, reef_entity e)
{
    type_names types = {NULL, 0, 0, false};
    if (!reef_entity_is_null(e)) (void)reef_visit_entity(x->w, e, type_put, &types);
    x->failed |= types.failed;
    return types;
}

static bool is_own(const char *name)
{
    return strcmp(name, "ReefPrefab") != 0 && strcmp(name, "ChildOf") != 0 && strcmp(name, "InstanceOf") != 0;
}

/* Begins one of the lists of an entity. */
static void list_begin(writing *x, const char *name, const char *bracket, uint32_t depth, bool *first_list, bool first)
{
    if (!first) {
        put(x, strcmp(name, "children") == 0 ? "," : ", ");
        return;
    }
    if (!*first_list) put(x, ",");
    *first_list = false;
    put_line(x, depth);
    put(x, "\"");
    put(x, name);
    put(x, "\": ");
    put(x, bracket);
}

static void components_write(writing *x, reef_entity root, reef_entity e, reef_entity base_root, reef_entity base,
                             bool relations, uint32_t depth, bool *first_list)
{
    const type_names types = types_of(x, e);
    bool first = true;
    for (size_t i = 0; i < types.count; i++) {
        reef_type_info t;
        if (!reef_type_get(types.type[i], &t) || (t.relation != 0) != relations || !is_own(t.name)) continue;
        writing own = {.w = x->w}, other = {.w = x->w};
        put_component(&own, root, e, types.type[i], &t);
        put_component(&other, base_root, base, types.type[i], &t);
        if (own.failed || other.failed) x->failed = true;
        else if (!text_same(&own, &other) && own.size) {
            list_begin(x, relations ? "relations" : "components", "{", depth, first_list, first);
            first = false;
            put_name(x, t.name);
            put(x, ": ");
            put_bytes(x, own.text, own.size);
        }
        free(own.text);
        free(other.text);
    }
    if (!first) put(x, "}");
    free(types.type);
}

/* What the base has and the entity hasn't. */
static void without_write(writing *x, reef_entity e, reef_entity base, uint32_t depth, bool *first_list)
{
    const type_names types = types_of(x, base);
    bool first = true;
    for (size_t i = 0; i < types.count; i++) {
        const char *name = reef_type_name(types.type[i]);
        if (!is_own(name) || reef_has_id(x->w, e, types.type[i])) continue;
        list_begin(x, "without", "[", depth, first_list, first);
        first = false;
        put_name(x, name);
    }
    if (!first) put(x, "]");
    free(types.type);
}

/* ---- entities ---- */

static void node_write(writing *x, reef_entity root, reef_entity e, reef_entity base_root, reef_entity base,
                       uint32_t depth, bool *first_list);

/* The template of an entity, if it can be named in the text. */
static reef_entity base_of(const reef_world *w, reef_entity e)
{
    const reef_entity base = reef_target(w, e, InstanceOf), none = {0, 0};
    return !reef_entity_is_null(base) && reef_name(w, base) && reef_entity_is_null(reef_parent(w, base)) ? base : none;
}

static void base_write(writing *x, reef_entity base, uint32_t depth, bool *first_list)
{
    if (reef_entity_is_null(base)) return;
    list_begin(x, "base", "", depth, first_list, true);
    put_name(x, reef_name(x->w, base));
}

/* The children of an entity that have no name, one after the other. */
typedef struct unnamed_children {
    reef_sources sources;
    uint32_t next;
} unnamed_children;

static unnamed_children unnamed_of(const reef_world *w, reef_entity parent)
{
    return (unnamed_children){reef_sources_of(w, parent, ChildOf), 0};
}

/* Null: there are no more. */
static reef_entity unnamed_next(const reef_world *w, unnamed_children *x)
{
    for (;; x->next = 0) {
        while (x->next < x->sources.count) {
            const reef_entity e = x->sources.sources[x->next++];
            if (reef_name(w, e) == NULL) return e;
        }
        if (!reef_sources_next(&x->sources)) return (reef_entity){0, 0};
    }
}

/* Begins the next child of a list. */
static void child_begin(writing *x, uint32_t depth, bool *first_list, bool *first)
{
    list_begin(x, "children", "[", depth, first_list, *first);
    *first = false;
    put_line(x, depth + 1);
}

static void removed_write(writing *x, const char *name, uint32_t depth, bool *first_list, bool *first)
{
    child_begin(x, depth, first_list, first);
    put(x, "{\"name\": ");
    put_name(x, name);
    put(x, ", \"removed\": true}");
}

/* One child. `base` is the child of the parent's base that has its name, or its number among those without a name: what
 * it is compared with. Null: there is none. */
static void child_write(writing *x, reef_entity root, reef_entity e, reef_entity base_root, reef_entity base,
                        uint32_t depth, bool *first_list, bool *first)
{
    const char *name = reef_name(x->w, e);
    reef_entity base_top = base_root;
    bool inner_first = true;
    /* a copy of another template is no child that was changed: it has taken the place of one */
    const bool replaces = name && !reef_entity_is_null(base) &&
                          !reef_entity_equal(reef_target(x->w, e, InstanceOf), reef_target(x->w, base, InstanceOf));
    const bool known = !reef_entity_is_null(base) && !replaces;
    if (replaces) removed_write(x, name, depth, first_list, first);
    const size_t before = x->size;
    const bool list_was = *first_list, was = *first;
    child_begin(x, depth, first_list, first);
    put(x, "{");
    if (name) list_begin(x, "name", "", depth + 2, &inner_first, true), put_name(x, name);
    if (!known) {
        base = base_top = base_of(x->w, e);
        base_write(x, base, depth + 2, &inner_first);
    }
    const size_t head = x->size;
    node_write(x, root, e, base_top, base, depth + 2, &inner_first);
    const bool differs = x->size > head;
    /* a text can't say of which child without a name it speaks */
    if (known && name == NULL && differs) x->failed = true;
    if (known && !differs && !x->failed) { /* nothing to say */
        x->size = before;
        x->text[before] = 0;
        *first_list = list_was;
        *first = was;
        return;
    }
    put_line(x, depth + 1);
    put(x, "}");
}

/* What the parent's base has and the parent hasn't is written as removed, behind the children. */
static void children_write(writing *x, reef_entity root, reef_entity e, reef_entity base_root, reef_entity base,
                           uint32_t depth, bool *first_list)
{
    const bool has_base = !reef_entity_is_null(base);
    bool first = true;
    unnamed_children unnamed = has_base ? unnamed_of(x->w, base) : (unnamed_children){.next = 0};
    for (reef_sources s = reef_sources_of(x->w, e, ChildOf); !x->failed && reef_sources_next(&s);)
        for (uint32_t i = 0; i < s.count && !x->failed; i++) {
            const char *name = reef_name(x->w, s.sources[i]);
            reef_entity other = {0, 0};
            if (has_base) other = name ? reef_find_below(x->w, base, name) : unnamed_next(x->w, &unnamed);
            child_write(x, root, s.sources[i], base_root, other, depth, first_list, &first);
        }
    if (has_base && !reef_entity_is_null(unnamed_next(x->w, &unnamed))) x->failed = true; /* nor that one is gone */
    if (has_base)
        for (reef_sources s = reef_sources_of(x->w, base, ChildOf); reef_sources_next(&s);)
            for (uint32_t i = 0; i < s.count; i++) {
                const char *name = reef_name(x->w, s.sources[i]);
                if (name == NULL || !reef_entity_is_null(reef_find_below(x->w, e, name))) continue;
                removed_write(x, name, depth, first_list, &first);
            }
    if (!first) put_line(x, depth), put(x, "]");
}

static void node_write(writing *x, reef_entity root, reef_entity e, reef_entity base_root, reef_entity base,
                       uint32_t depth, bool *first_list)
{
    if (depth > 2 * REEF_PREFAB_TEXT_DEPTH) { /* of the root it is 2 */
        x->failed = true;
        return;
    }
    components_write(x, root, e, base_root, base, false, depth, first_list);
    without_write(x, e, base, depth, first_list);
    components_write(x, root, e, base_root, base, true, depth, first_list);
    children_write(x, root, e, base_root, base, depth, first_list);
}

char *reef_prefab_text_write(const reef_world *w, const reef_entity *prefabs, uint32_t count, size_t *size)
{
    writing x = {.w = w};
    if (w == NULL || (count && prefabs == NULL)) return NULL;
    put(&x, "{");
    for (uint32_t i = 0; i < count; i++) {
        const char *name = reef_name(w, prefabs[i]);
        bool first = true;
        if (name == NULL) x.failed = true;
        if (x.failed) break;
        if (i) put(&x, ",");
        put_line(&x, 1);
        put_name(&x, name);
        put(&x, ": {");
        const reef_entity base = base_of(w, prefabs[i]);
        base_write(&x, base, 2, &first);
        node_write(&x, prefabs[i], prefabs[i], base, base, 2, &first);
        if (!first) put_line(&x, 1);
        put(&x, "}");
    }
    put(&x, "\n}\n");
    if (x.failed) free(x.text), x.text = NULL;
    if (size) *size = x.text ? x.size : 0;
    return x.text;
}

void reef_prefab_text_free(char *text) { free(text); }
