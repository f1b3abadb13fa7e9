/* Reading prefabs from a text. jansson parses it; then the prefabs are made in their order, each in two passes:
 *
 *   fill   the entity, from its base or new, with its components, and its children, each with theirs
 *   link   relations and handles in fields, since these may name entities that come later
 *
 * What is wrong is found on the way. Then a snapshot that was taken before is restored. */
#if !defined(_WIN32)
#define _POSIX_C_SOURCE 200809L /* for the locale */
#endif
#include "reef/all.h"
#include "reef_prefab_text.h"
#include "text_place.h"
#include "../shared/plain_locale.h"
#include "../shared/plain_number.h"
#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct reading {
    reef_world *w;
    const char *text, *file;
    size_t size;
    reef_prefab_text_error *error;
    reef_status status; /* the first failure */
    reef_entity root;   /* of the prefab that is made */
    bool links;         /* the second pass */
    reef_entity *made;  /* roots */
    size_t made_count;
    reef_entity
        *unnamed; /* children without a name, in the order of the text; the second pass goes through them again */
    size_t unnamed_count, unnamed_room, unnamed_next;
    uint32_t entities; /* that the text has made */
} reading;

/* ---- what is wrong ---- */

static bool wrong_at(reading *r, reef_status status, uint32_t line, uint32_t column, const char *what)
{
    if (r->status != REEF_OK) return false;
    r->status = status;
    r->error->line = line;
    r->error->column = column;
    if (line) snprintf(r->error->message, sizeof r->error->message, "%s:%u:%u: %s", r->file, line, column, what);
    else snprintf(r->error->message, sizeof r->error->message, "%s: %s", r->file, what);
    return false;
}

/* The text is wrong at this step. */
static bool wrong(reading *r, const text_step *at, const char *format, ...)
{
    char what[REEF_PREFAB_TEXT_MESSAGE / 2];
    uint32_t line, column;
    va_list list;
    va_start(list, format);
    vsnprintf(what, sizeof what, format, list);
    va_end(list);
    reef__text_place(r->text, r->size, at, &line, &column);
    return wrong_at(r, REEF_BAD_TEXT, line, column, what);
}

/* Counts entities that are about to be made at this step. Prefabs that are made of two others each double with every
 * prefab, so a short text could ask for any number. */
static bool entities_count(reading *r, const text_step *at, uint32_t n)
{
    uint32_t line, column;
    char what[100];
    if (n <= REEF_PREFAB_TEXT_ENTITIES - r->entities) {
        r->entities += n;
        return true;
    }
    snprintf(what, sizeof what, "with this the text makes more than %d entities", (int)REEF_PREFAB_TEXT_ENTITIES);
    reef__text_place(r->text, r->size, at, &line, &column);
    return wrong_at(r, REEF_LIMIT, line, column, what);
}

/* A call of reef was refused. */
static bool refused(reading *r, const text_step *at, reef_status status)
{
    char what[REEF_PREFAB_TEXT_MESSAGE / 2];
    uint32_t line, column;
    reef_error_text(r->w, what, sizeof what);
    reef__text_place(r->text, r->size, at, &line, &column);
    return wrong_at(r, status, line, column, what);
}

/* ---- the most similar name ---- */

enum { SIMILAR_MOST = 63 }; /* longer names aren't compared */

/* The number of letters to add, take away, replace or swap with their neighbour. */
static size_t distance(const char *a, const char *b)
{
    size_t rows[3][SIMILAR_MOST + 1];
    const size_t n = strlen(a), m = strlen(b);
    if (n > SIMILAR_MOST || m > SIMILAR_MOST) return SIZE_MAX;
    for (size_t k = 0; k <= m; k++) rows[0][k] = k;
    for (size_t i = 1; i <= n; i++) {
        size_t *row = rows[i % 3], *above = rows[(i - 1) % 3], *second = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t k = 1; k <= m; k++) {
            const char x = a[i - 1], y = b[k - 1];
            const bool same = x == y, nearly = (x | 32) == (y | 32);
            size_t best = above[k - 1] + (same ? 0 : nearly ? 0 : 1);
            if (above[k] + 1 < best) best = above[k] + 1;
            if (row[k - 1] + 1 < best) best = row[k - 1] + 1;
            if (i > 1 && k > 1 && x == b[k - 2] && a[i - 2] == y && second[k - 2] + 1 < best) best = second[k - 2] + 1;
            row[k] = best;
        }
    }
    return rows[n % 3][m];
}

typedef struct similar {
    const char *wanted, *best;
    size_t distance;
} similar;

static similar similar_to(const char *wanted) { return (similar){wanted, NULL, strlen(wanted) / 3 + 1}; }
static void similar_try(similar *x, const char *name)
{
    const size_t d = name ? distance(x->wanted, name) : SIZE_MAX;
    if (d > x->distance || (d == x->distance && x->best)) return;
    x->distance = d;
    x->best = name;
}

static bool unknown(reading *r, const text_step *at, const char *what, const similar *x)
{
    if (x->best) return wrong(r, at, "there is no %s \"%s\"; did you mean \"%s\"?", what, x->wanted, x->best);
    return wrong(r, at, "there is no %s \"%s\"", what, x->wanted);
}

/* Are all keys of an object among these, which end with NULL? */
static bool keys_known(reading *r, const text_step *at, json_t *object, const char *const *known)
{
    const char *key;
    json_t *value;
    size_t number = 0;
    json_object_foreach(object, key, value)
    {
        similar x = similar_to(key);
        size_t i = 0;
        while (known[i] && strcmp(known[i], key) != 0) similar_try(&x, known[i++]);
        if (known[i] == NULL) return unknown(r, &(text_step){at, number, true}, "key", &x);
        number++;
    }
    return true;
}

/* The value of a key, and where it is. NULL: the object hasn't got it. */
static json_t *member(json_t *object, const text_step *at, const char *wanted, text_step *where)
{
    const char *key;
    json_t *value;
    *where = (text_step){at, 0, false};
    json_object_foreach(object, key, value)
    {
        if (strcmp(key, wanted) == 0) return value;
        where->number++;
    }
    return NULL;
}

static const char *kind_of(const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT: return "an object";
    case JSON_ARRAY: return "an array";
    case JSON_STRING: return "a text";
    case JSON_INTEGER:
    case JSON_REAL: return "a number";
    case JSON_TRUE:
    case JSON_FALSE: return "true or false";
    default: return "null";
    }
}

static bool wants(reading *r, const text_step *at, const json_t *value, const char *wanted)
{
    return wrong(r, at, "here belongs %s, not %s", wanted, kind_of(value));
}

/* ---- entities ---- */

enum { PATH_MOST = 4 * REEF_NAME_MAX }; /* longer paths aren't offered */

/* There is no entity of this name. What is offered instead is written as it would be right here. */
static bool entity_unknown(reading *r, const text_step *at, const char *name)
{
    const char *root = reef_name(r->w, r->root), *behind = name + strlen(root);
    char path[PATH_MOST], best[PATH_MOST] = "";
    const size_t skip = strlen(root) + 1;
    if (name[0] == '@') return wrong(r, at, "there is no entity \"%s\"", name);
    if (strcmp(name, root) == 0) return wrong(r, at, "\"%s\" is this prefab itself: write \".\"", name);
    if (strncmp(name, root, skip - 1) == 0 && *behind == '.' &&
        !reef_entity_is_null(reef_find_below(r->w, r->root, behind + 1)))
        return wrong(r, at, "names begin below the prefab: write \"%s\"", behind + 1);
    similar x = similar_to(name);
    for (reef_walk k = reef_walk_from(r->w, r->root, ChildOf); reef_walk_next(&k);) {
        if (reef_entity_equal(k.entity, r->root)) continue;
        const size_t length = reef_path(r->w, k.entity, path, sizeof path), distance_was = x.distance;
        const char *was = x.best;
        if (length <= skip || length >= sizeof path) continue;
        similar_try(&x, reef_name(r->w, k.entity));
        similar_try(&x, path + skip);
        if (x.distance < distance_was || x.best != was) snprintf(best, sizeof best, "%s", path + skip);
        if (x.best) x.best = best;
    }
    if (x.best == NULL && !reef_entity_is_null(reef_find(r->w, name)))
        return wrong(r, at, "\"%s\" isn't in this prefab: for the entity of the world write \"@%s\"", name, name);
    return unknown(r, at, "entity in this prefab", &x);
}

/* "barrel.sight" is below the root, "." the root, "@name" an entity of the world. */
static bool entity_find(reading *r, const text_step *at, json_t *value, reef_entity *e)
{
    *e = (reef_entity){0, 0};
    if (json_is_null(value)) return true;
    if (!json_is_string(value)) return wants(r, at, value, "the name of an entity");
    const char *name = json_string_value(value);
    if (strcmp(name, ".") == 0) *e = r->root;
    else *e = name[0] == '@' ? reef_find(r->w, name + 1) : reef_find_below(r->w, r->root, name);
    return !reef_entity_is_null(*e) || entity_unknown(r, at, name);
}

/* ---- values ---- */

typedef struct kind_range {
    size_t bytes;
    double lowest, highest;
} kind_range;

static kind_range range_of(reef_kind kind)
{
    switch (kind) {
    case REEF_I8: return (kind_range){1, INT8_MIN, INT8_MAX};
    case REEF_U8: return (kind_range){1, 0, UINT8_MAX};
    case REEF_I16: return (kind_range){2, INT16_MIN, INT16_MAX};
    case REEF_U16: return (kind_range){2, 0, UINT16_MAX};
    case REEF_I32: return (kind_range){4, INT32_MIN, INT32_MAX};
    case REEF_U32: return (kind_range){4, 0, UINT32_MAX};
    case REEF_I64: return (kind_range){8, -9223372036854775808.0, 9223372036854775807.0};
    case REEF_U64: return (kind_range){8, 0, 9223372036854775807.0};
    case REEF_F32: return (kind_range){4, -PLAIN_SINGLE_MOST, PLAIN_SINGLE_MOST};
    case REEF_F64: return (kind_range){8, -1.7976931348623157e308, 1.7976931348623157e308};
    case REEF_ENTITY: return (kind_range){8, 0, 0};
    default: return (kind_range){1, 0, 1};
    }
}

static void integer_put(void *to, size_t bytes, json_int_t x)
{
    const int8_t i8 = (int8_t)x;
    const int16_t i16 = (int16_t)x;
    const int32_t i32 = (int32_t)x;
    const int64_t i64 = (int64_t)x;
    memcpy(to,
           bytes == 1   ? (const void *)&i8
           : bytes == 2 ? (const void *)&i16
           : bytes == 4 ? (const void *)&i32
                        : &i64,
           bytes);
}

static bool number_read(reading *r, const text_step *at, const reef_field *f, json_t *value, void *to)
{
    const kind_range k = range_of(f->kind);
    const bool real = f->kind == REEF_F32 || f->kind == REEF_F64;
    char lowest[PLAIN_NUMBER_MAX], highest[PLAIN_NUMBER_MAX];
    const char *unit = f->unit ? f->unit : "";
    if (!(real ? json_is_number(value) : json_is_integer(value)))
        return wants(r, at, value, real ? "a number" : "a whole number");
    const double x = json_number_value(value);
    const bool limits = f->lowest != 0 || f->highest != 0;
    if (x < k.lowest || x > k.highest) return wrong(r, at, "this number doesn't fit the field \"%s\"", f->name);
    if (limits && (x < f->lowest || x > f->highest)) {
        plain_number_write(lowest, 6, f->lowest);
        plain_number_write(highest, 6, f->highest);
        return wrong(r, at, "\"%s\" is from %s to %s %s", f->name, lowest, highest, unit);
    }
    const float narrow = (float)x;
    if (f->kind == REEF_F64) memcpy(to, &x, sizeof x);
    else if (f->kind == REEF_F32) memcpy(to, &narrow, sizeof narrow);
    else integer_put(to, k.bytes, json_integer_value(value));
    return true;
}

/* A value by its name: "ANGRY", in a bit mask "WET|COLD". */
static bool named_read(reading *r, const text_step *at, const reef_field *f, json_t *value, void *to)
{
    const char *text = json_string_value(value);
    const size_t length = json_string_length(value);
    const kind_range k = range_of(f->kind);
    int64_t x = 0;
    if (!reef_names_read(f->names, text, length, &x)) {
        char what[160];
        similar s = similar_to(text);
        for (uint32_t i = 0; i < f->names->count; i++) similar_try(&s, f->names->values[i].name);
        snprintf(what, sizeof what, "value of \"%.120s\"", f->names->name);
        return unknown(r, at, what, &s);
    }
    if (k.bytes < 8 && ((double)x < k.lowest || (double)x > k.highest))
        return wrong(r, at, "this number doesn't fit the field \"%s\"", f->name);
    integer_put(to, k.bytes, x);
    return true;
}

static bool element_read(reading *r, const text_step *at, const reef_field *f, json_t *value, char *to)
{
    reef_entity e;
    if (f->kind == REEF_BOOL) {
        const bool on = json_is_true(value);
        if (!json_is_boolean(value)) return wants(r, at, value, "true or false");
        return memcpy(to, &on, 1), true;
    }
    if (f->names && json_is_string(value)) return named_read(r, at, f, value, to);
    if (f->kind != REEF_ENTITY) return number_read(r, at, f, value, to);
    if (!r->links) return true;
    if (!entity_find(r, at, value, &e)) return false;
    return memcpy(to, &e, sizeof e), true;
}

/* Writes the value of a field into a component at `to`. In the first pass handles are left as they are, in the second
 * one everything else. */
static bool field_read(reading *r, const text_step *at, const reef_field *f, json_t *value, char *to)
{
    const size_t bytes = range_of(f->kind).bytes, n = f->bytes / bytes;
    if (f->kind == REEF_CHAR) {
        if (!json_is_string(value)) return wants(r, at, value, "a text");
        const size_t length = json_string_length(value);
        if (length > f->bytes) return wrong(r, at, "\"%s\" has at most %u bytes", f->name, (unsigned)f->bytes);
        memset(to + f->offset, 0, f->bytes);
        memcpy(to + f->offset, json_string_value(value), length);
        return true;
    }
    if (n == 1) return element_read(r, at, f, value, to + f->offset);
    if (!json_is_array(value)) return wants(r, at, value, "an array");
    if (json_array_size(value) != n) return wrong(r, at, "\"%s\" has %u elements", f->name, (unsigned)n);
    for (size_t i = 0; i < n; i++)
        if (!element_read(r, &(text_step){at, i, false}, f, json_array_get(value, i), to + f->offset + i * bytes))
            return false;
    return true;
}

/* Writes the fields of an object into a value, except those that are named in `but`. */
static bool fields_read(reading *r, const text_step *at, const reef_type_info *t, json_t *object, const char *but,
                        char *to)
{
    const char *key;
    json_t *value;
    size_t number = 0;
    json_object_foreach(object, key, value)
    {
        const text_step name = {at, number, true}, here = {at, number, false};
        similar x = similar_to(key);
        uint32_t i = 0;
        number++;
        if (but && strcmp(key, but) == 0) continue;
        while (i < t->field_count && strcmp(t->fields[i].name, key) != 0) similar_try(&x, t->fields[i++].name);
        if (i == t->field_count && t->field_count == 0)
            return wrong(r, &name, "the component \"%s\" has no fields that are known", t->name);
        if (i == t->field_count) {
            char what[160];
            snprintf(what, sizeof what, "field of \"%.120s\"", t->name);
            return unknown(r, &name, what, &x);
        }
        if (!field_read(r, &here, &t->fields[i], value, to)) return false;
    }
    return true;
}

static bool has_handles(const reef_type_info *t)
{
    for (uint32_t i = 0; i < t->field_count; i++)
        if (t->fields[i].kind == REEF_ENTITY) return true;
    return false;
}

/* ---- components ---- */

/* Gives e one value: a new one beside others (`append`), or its only one, of which fields that aren't named keep what
 * is there, or their default. */
static bool value_read(reading *r, const text_step *at, reef_entity e, reef_component c, const reef_type_info *t,
                       json_t *object, bool append)
{
    reef_world *w = r->w;
    const bool owns = t->hooks && (t->hooks->construct || t->hooks->copy || t->hooks->move || t->hooks->destroy);
    if (owns && !append) { /* in place, since its bytes can't be copied */
        if (t->home == REEF_SHARED && reef_has_id(w, e, c))
            return wrong(r, at, "\"%s\" is shared and has hooks: its fields can't be changed here", t->name);
        char *value = reef_ensure_id(w, e, c, NULL);
        return value ? fields_read(r, at, t, object, NULL, value) : refused(r, at, REEF_NO_MEMORY);
    }
    char *value = calloc(1, t->size ? t->size : 1);
    if (value == NULL) return wrong_at(r, REEF_NO_MEMORY, 0, 0, "there is no memory");
    if (!append) (void)reef_read_id(w, e, c, value, t->size);
    bool ok = fields_read(r, at, t, object, NULL, value);
    if (ok && append) ok = reef_append_id(w, e, c, value, t->size) || refused(r, at, REEF_LIMIT);
    else if (ok) {
        const reef_status s = reef_set_id(w, e, c, value, t->size);
        ok = s >= 0 || refused(r, at, s);
    }
    free(value);
    return ok;
}

static bool several_read(reading *r, const text_step *at, reef_entity e, reef_component c, const reef_type_info *t,
                         json_t *array)
{
    size_t i;
    json_t *value;
    if (reef_has_id(r->w, e, c) && reef_remove_id(r->w, e, c) < 0) return refused(r, at, REEF_NO_MEMORY);
    json_array_foreach(array, i, value)
    {
        const text_step here = {at, i, false};
        if (!json_is_object(value)) return wants(r, &here, value, "an object with fields");
        if (!value_read(r, &here, e, c, t, value, true)) return false;
    }
    return true;
}

/* The type of this name: a component, or with `relation` a type of relations. */
static bool type_find(reading *r, const text_step *at, const char *name, bool relation, reef_component *c,
                      reef_type_info *t)
{
    const char *what = relation ? "relation" : "component";
    *c = reef_type_find(name);
    if (reef_type_get(*c, t) && (t->relation != 0) == relation && strcmp(name, "ReefPrefab") != 0) return true;
    similar x = similar_to(name);
    for (uint32_t id = 1; id <= reef_type_count(); id++) {
        reef_type_info other;
        if (reef_type_get((reef_component){id}, &other) && (other.relation != 0) == relation)
            similar_try(&x, other.name);
    }
    return unknown(r, at, what, &x);
}

static bool components_read(reading *r, const text_step *at, reef_entity e, json_t *object)
{
    const char *key;
    json_t *value;
    size_t number = 0;
    json_object_foreach(object, key, value)
    {
        const text_step name = {at, number, true}, here = {at, number, false};
        reef_component c;
        reef_type_info t;
        number++;
        if (!type_find(r, &name, key, false, &c, &t)) return false;
        if (r->links && !has_handles(&t)) continue;
        if (json_is_array(value) && t.home == REEF_MULTI) {
            if (!several_read(r, &here, e, c, &t, value)) return false;
        } else if (json_is_object(value) && json_object_size(value)) {
            if (t.size == 0) return wrong(r, &here, "\"%s\" is a tag: write true", t.name);
            if (t.home == REEF_MULTI) return wants(r, &here, value, "an array of objects");
            if (!value_read(r, &here, e, c, &t, value, false)) return false;
        } else if (json_is_true(value) || json_is_object(value)) { /* the default value, or what is there */
            const reef_status s = reef_has_id(r->w, e, c) ? REEF_OK : reef_add_id(r->w, e, c, NULL, NULL);
            if (s < 0) return refused(r, &here, s);
        } else {
            return wants(r, &here, value, t.size ? "an object with fields" : "true");
        }
    }
    return true;
}

static bool without_read(reading *r, const text_step *at, reef_entity e, json_t *array)
{
    size_t i;
    json_t *value;
    if (!json_is_array(array)) return wants(r, at, array, "an array of names");
    json_array_foreach(array, i, value)
    {
        const text_step here = {at, i, false};
        reef_component c;
        reef_type_info t;
        if (!json_is_string(value)) return wants(r, &here, value, "the name of a component");
        c = reef_type_find(json_string_value(value));
        const bool relation = reef_type_get(c, &t) && t.relation;
        if (!type_find(r, &here, json_string_value(value), relation, &c, &t)) return false;
        if (reef_has_id(r->w, e, c) && reef_remove_id(r->w, e, c) < 0) return refused(r, &here, REEF_NO_MEMORY);
    }
    return true;
}

/* ---- relations ---- */

static bool relation_read(reading *r, const text_step *at, reef_entity e, reef_component c, const reef_type_info *t,
                          json_t *value)
{
    reef_entity target;
    reef_type_info data;
    text_step where = *at;
    json_t *name = json_is_object(value) ? member(value, at, "target", &where) : value;
    if (name == NULL) return wrong(r, at, "the key \"target\" is missing");
    if (!entity_find(r, &where, name, &target)) return false;
    if (reef_entity_is_null(target)) return wants(r, &where, name, "the name of an entity");
    const bool more = json_is_object(value) && json_object_size(value) > 1;
    char *bytes = NULL;
    if (more && !reef_type_get(t->data, &data)) return wrong(r, at, "the relation \"%s\" has no data", t->name);
    if (more && (bytes = calloc(1, data.size)) == NULL) return wrong_at(r, REEF_NO_MEMORY, 0, 0, "there is no memory");
    bool ok = !more || fields_read(r, at, &data, value, "target", bytes);
    if (ok) {
        const reef_status s = reef_relate_id(r->w, e, c, target, bytes, more ? data.size : 0);
        ok = s >= 0 || refused(r, at, s);
    }
    free(bytes);
    return ok;
}

static bool relations_read(reading *r, const text_step *at, reef_entity e, json_t *object)
{
    const char *key;
    json_t *value, *one;
    size_t number = 0, i;
    json_object_foreach(object, key, value)
    {
        const text_step name = {at, number, true}, here = {at, number, false};
        reef_component c;
        reef_type_info t;
        number++;
        if (!type_find(r, &name, key, true, &c, &t)) return false;
        if (strcmp(key, "ChildOf") == 0 || strcmp(key, "InstanceOf") == 0)
            return wrong(r, &name, "write \"children\" and \"base\" instead of \"%s\"", key);
        if (!r->links) continue;
        for (reef_entity was; !reef_entity_is_null(was = reef_target_id(r->w, e, c));) { /* those of the base */
            const reef_status s = reef_unrelate_id(r->w, e, c, was);
            if (s < 0) return refused(r, &here, s);
        }
        if (!json_is_array(value)) {
            if (!relation_read(r, &here, e, c, &t, value)) return false;
            continue;
        }
        json_array_foreach(value, i, one)
        {
            const text_step at_one = {&here, i, false};
            if (!relation_read(r, &at_one, e, c, &t, one)) return false;
        }
    }
    return true;
}

/* ---- entities ---- */

static bool node_read(reading *r, const text_step *at, reef_entity e, json_t *object, bool child);

/* The number of entities of a template, or one more than a text may make. */
static uint32_t entities_of(const reading *r, reef_entity root)
{
    uint32_t n = 0;
    for (reef_walk k = reef_walk_from(r->w, root, ChildOf); n <= REEF_PREFAB_TEXT_ENTITIES && reef_walk_next(&k);) n++;
    return n;
}

/* Makes the entity of an object, from its base if it has one. With a parent, it is that one's child. */
static bool node_make(reading *r, const text_step *at, json_t *object, reef_entity parent, reef_entity *e)
{
    text_step where;
    json_t *base = member(object, at, "base", &where);
    reef_status s;
    if (base) {
        if (!json_is_string(base)) return wants(r, &where, base, "the name of a prefab");
        const reef_entity from = reef_find(r->w, json_string_value(base));
        if (reef_entity_is_null(from)) {
            similar x = similar_to(json_string_value(base));
            for (size_t i = 0; i < r->made_count; i++) similar_try(&x, reef_name(r->w, r->made[i]));
            return unknown(r, &where, "prefab before this one", &x);
        }
        if (reef_entity_equal(from, parent) || reef_is_above(r->w, from, parent, ChildOf))
            return wrong(r, &where, "\"%s\" can't contain itself", json_string_value(base));
        if (!entities_count(r, &where, entities_of(r, from))) return false;
        s = reef_instantiate(r->w, from, 1, e);
        if (s < 0) return refused(r, &where, s);
    } else {
        if (!entities_count(r, at, 1)) return false;
        *e = reef_create(r->w);
        if (reef_entity_is_null(*e)) return refused(r, at, REEF_NO_MEMORY);
    }
    if (reef_entity_is_null(parent)) return true;
    s = reef_relate(r->w, *e, ChildOf, parent);
    return s >= 0 || refused(r, at, s);
}

static bool unnamed_put(reading *r, reef_entity e)
{
    if (r->unnamed_count == r->unnamed_room) {
        const size_t room = r->unnamed_room * 2 + 16;
        reef_entity *more = realloc(r->unnamed, room * sizeof *more);
        if (more == NULL) return wrong_at(r, REEF_NO_MEMORY, 0, 0, "there is no memory");
        r->unnamed = more;
        r->unnamed_room = room;
    }
    r->unnamed[r->unnamed_count++] = e;
    return true;
}

/* A child that is there already comes from the base, or from an earlier object of the same array, which is an error. */
static bool child_again(reading *r, const text_step *at, const text_step *name, json_t *object, json_t *names)
{
    text_step where;
    const char *text = json_string_value(json_object_get(object, "name"));
    if (json_object_get(names, text)) return wrong(r, name, "there is a child \"%s\" already", text);
    if (member(object, at, "base", &where))
        return wrong(r, &where, "the child \"%s\" is there already; take it away first, with \"removed\"", text);
    return true;
}

/* `names`: those of the earlier children of the array. */
static bool child_read(reading *r, const text_step *at, reef_entity parent, json_t *object, json_t *names)
{
    text_step where;
    json_t *name, *removed;
    reef_entity e = {0, 0};
    if (!json_is_object(object)) return wants(r, at, object, "an object");
    name = member(object, at, "name", &where);
    if (name && !json_is_string(name)) return wants(r, &where, name, "a name");
    if (name && strchr(json_string_value(name), '.')) return wrong(r, &where, "the name of a child has no dots");
    if (name) e = reef_find_below(r->w, parent, json_string_value(name));
    if (!r->links && !reef_entity_is_null(e) && !child_again(r, at, &where, object, names)) return false;
    if (name && !r->links && json_object_set_new(names, json_string_value(name), json_true()) != 0)
        return wrong_at(r, REEF_NO_MEMORY, 0, 0, "there is no memory");
    if (name == NULL && r->links) e = r->unnamed[r->unnamed_next++];
    removed = member(object, at, "removed", &where);
    if (removed) {
        if (!json_is_true(removed) || name == NULL || json_object_size(object) != 2)
            return wrong(r, &where, "a child that is removed has a name, \"removed\": true, and nothing else");
        if (!r->links && reef_entity_is_null(e)) return wrong(r, at, "the base has no such child");
        const reef_status s = r->links ? REEF_OK : reef_destroy(r->w, e);
        return s >= 0 || refused(r, at, s);
    }
    if (reef_entity_is_null(e)) {
        if (!node_make(r, at, object, parent, &e)) return false;
        const reef_status s = name ? reef_set_name(r->w, e, json_string_value(name)) : REEF_OK;
        if (s < 0) return refused(r, at, s);
        if (name == NULL && !unnamed_put(r, e)) return false;
    }
    return node_read(r, at, e, object, true);
}

static bool children_read(reading *r, const text_step *at, reef_entity parent, json_t *children)
{
    json_t *names = json_object();
    bool ok = names || wrong_at(r, REEF_NO_MEMORY, 0, 0, "there is no memory");
    for (size_t i = 0; ok && i < json_array_size(children); i++)
        ok = child_read(r, &(text_step){at, i, false}, parent, json_array_get(children, i), names);
    json_decref(names);
    return ok;
}

static bool node_read(reading *r, const text_step *at, reef_entity e, json_t *object, bool child)
{
    static const char *const keys[] = {"components", "without", "relations", "children",
                                       "base",       "name",    "removed",   NULL};
    static const char *const root_keys[] = {"components", "without", "relations", "children", "base", NULL};
    text_step where;
    json_t *value;
    if (!keys_known(r, at, object, child ? keys : root_keys)) return false;
    if ((value = member(object, at, "components", &where)) != NULL) {
        if (!json_is_object(value)) return wants(r, &where, value, "an object");
        if (!components_read(r, &where, e, value)) return false;
    }
    if (!r->links && (value = member(object, at, "without", &where)) != NULL)
        if (!without_read(r, &where, e, value)) return false;
    if ((value = member(object, at, "relations", &where)) != NULL) {
        if (!json_is_object(value)) return wants(r, &where, value, "an object");
        if (!relations_read(r, &where, e, value)) return false;
    }
    if ((value = member(object, at, "children", &where)) != NULL) {
        if (!json_is_array(value)) return wants(r, &where, value, "an array");
        return children_read(r, &where, e, value);
    }
    return true;
}

static bool prefab_read(reading *r, const text_step *at, const text_step *key, const char *name, json_t *object)
{
    reef_entity e;
    if (!json_is_object(object)) return wants(r, at, object, "an object");
    if (!reef_entity_is_null(reef_find(r->w, name))) return wrong(r, key, "there is an entity \"%s\" already", name);
    if (!node_make(r, at, object, (reef_entity){0, 0}, &e)) return false;
    r->root = r->made[r->made_count++] = e;
    r->unnamed_count = r->unnamed_next = 0;
    reef_status s = reef_set_name(r->w, e, name);
    if (s < 0) return refused(r, key, s);
    for (int pass = 0; pass < 2; pass++) {
        r->links = pass != 0;
        if (!node_read(r, at, e, object, false)) return false;
    }
    s = reef_make_prefab(r->w, e);
    return s >= 0 || refused(r, at, s);
}

static bool prefabs_read(reading *r, json_t *all)
{
    const text_step root = {NULL, 0, false};
    const char *name;
    json_t *value;
    size_t number = 0;
    if (!json_is_object(all)) return wants(r, &root, all, "an object with prefabs");
    r->made = calloc(json_object_size(all) + 1, sizeof *r->made);
    if (r->made == NULL) return wrong_at(r, REEF_NO_MEMORY, 0, 0, "there is no memory");
    json_object_foreach(all, name, value)
    {
        const text_step at = {&root, number, false}, key = {&root, number, true};
        if (!prefab_read(r, &at, &key, name, value)) return false;
        number++;
    }
    return true;
}

/* ---- the calls ---- */

static void undo(reading *r, reef_snapshot *before)
{
    if (before && reef_restore(r->w, before) == REEF_OK) return;
    while (r->made_count > 0) (void)reef_destroy(r->w, r->made[--r->made_count]);
}

reef_status reef_prefab_text_read(reef_world *w, const char *text, size_t size, const char *file,
                                  reef_prefab_text_error *error)
{
    reef_prefab_text_error unused;
    json_error_t why;
    reading r = {.w = w, .text = text, .size = size, .file = file ? file : "text", .error = error ? error : &unused};
    *r.error = (reef_prefab_text_error){0, 0, ""};
    if (w == NULL || (text == NULL && size)) return REEF_BAD_ARGUMENT;
    plain_locale l;
    if (!plain_locale_begin(&l)) {
        (void)wrong_at(&r, REEF_NO_MEMORY, 0, 0, "no memory");
        return r.status;
    }
    json_t *all = json_loadb(text ? text : "", size, JSON_REJECT_DUPLICATES, &why);
    plain_locale_end(&l);
    if (all == NULL) {
        const bool memory = json_error_code(&why) == json_error_out_of_memory;
        (void)wrong_at(&r, memory ? REEF_NO_MEMORY : REEF_BAD_TEXT, why.line > 0 ? (uint32_t)why.line : 1,
                       why.column > 0 ? (uint32_t)why.column : 1, why.text);
        return r.status;
    }
    reef_snapshot *before = reef_snapshot_take(w); /* NULL: some value can't be copied */
    if (before == NULL && reef_last_error(w).status == REEF_LOCKED)
        (void)wrong_at(&r, REEF_LOCKED, 0, 0, "a loop is open or systems run");
    else if (!prefabs_read(&r, all)) undo(&r, before);
    reef_snapshot_free(before);
    json_decref(all);
    free(r.made);
    free(r.unnamed);
    return r.status;
}

reef_status reef_prefab_text_load(reef_world *w, const char *path, reef_prefab_text_error *error)
{
    reef_prefab_text_error unused;
    char *text = NULL;
    size_t size = 0, room = 0, got = 0;
    reading r = {.w = w, .file = path, .error = error ? error : &unused};
    *r.error = (reef_prefab_text_error){0, 0, ""};
    if (w == NULL || path == NULL) return REEF_BAD_ARGUMENT;
    FILE *file = fopen(path, "rb");
    if (file == NULL) return (void)wrong_at(&r, REEF_IO, 0, 0, "the file can't be opened"), r.status;
    do {
        if (room - size < 4096) {
            char *more = realloc(text, room = room * 2 + 8192);
            if (more == NULL) {
                (void)wrong_at(&r, REEF_NO_MEMORY, 0, 0, "there is no memory");
                break;
            }
            text = more;
        }
        got = fread(text + size, 1, room - size, file);
        size += got;
    } while (got > 0);
    if (r.status == REEF_OK && ferror(file)) (void)wrong_at(&r, REEF_IO, 0, 0, "the file can't be read");
    fclose(file);
    const reef_status s = r.status == REEF_OK ? reef_prefab_text_read(w, text, size, path, error) : r.status;
    free(text);
    return s;
}
