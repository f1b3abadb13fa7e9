/* Values of components as JSON and back, by the fields of their types. Whole numbers that a double can't hold are texts
 * of digits, and so are infinities and NaN. */
#include "inspector.h"
#include "../shared/plain_number.h"
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES_SHOWN = 256, ELEMENTS_SHOWN = 256 };

/* ---- numbers and entities ---- */

json *inspector_json_number(uint64_t number)
{
    char text[32];
    if (number <= (uint64_t)1 << 53) return inspector_integer((int64_t)number);
    (void)snprintf(text, sizeof text, "%" PRIu64, number);
    return inspector_text(text);
}

static json *json_signed(int64_t number)
{
    char text[32];
    if (number >= -((int64_t)1 << 53) && number <= (int64_t)1 << 53) return inspector_integer(number);
    (void)snprintf(text, sizeof text, "%" PRId64, number);
    return inspector_text(text);
}

static json *json_float(double number)
{
    if (isnan(number)) return inspector_text("NaN");
    if (isinf(number)) return inspector_text(number < 0 ? "-Infinity" : "Infinity");
    return inspector_real(number);
}

json *inspector_json_entity(reef_entity e)
{
    char text[32];
    if (reef_entity_is_null(e)) return inspector_null();
    (void)snprintf(text, sizeof text, "%" PRIu32 "v%" PRIu32, e.index, e.generation);
    return inspector_text(text);
}

bool inspector_entity_of_text(const char *text, reef_entity *e)
{
    char *end;
    if (*text == '#') text++;
    if (!isdigit((unsigned char)*text)) return false;
    errno = 0;
    const unsigned long long index = strtoull(text, &end, 10);
    if (errno || *end != 'v' || !isdigit((unsigned char)end[1])) return false;
    const unsigned long long generation = strtoull(end + 1, &end, 10);
    if (errno || *end || index > UINT32_MAX || generation > UINT32_MAX || generation == 0) return false;
    e->index = (uint32_t)index;
    e->generation = (uint32_t)generation;
    return true;
}

/* ---- kinds ---- */

static const struct {
    const char *name;
    uint32_t size;
} kinds[] = {[REEF_BOOL] = {"bool", 1},    [REEF_I8] = {"i8", 1},   [REEF_U8] = {"u8", 1},   [REEF_I16] = {"i16", 2},
             [REEF_U16] = {"u16", 2},      [REEF_I32] = {"i32", 4}, [REEF_U32] = {"u32", 4}, [REEF_I64] = {"i64", 8},
             [REEF_U64] = {"u64", 8},      [REEF_F32] = {"f32", 4}, [REEF_F64] = {"f64", 8}, [REEF_CHAR] = {"text", 1},
             [REEF_ENTITY] = {"entity", 8}};
static const char *const homes[] = {
    [REEF_TABLE] = "table", [REEF_BIT] = "bit",     [REEF_SPARSE] = "sparse", [REEF_PAGED] = "paged",
    [REEF_COLD] = "cold",   [REEF_MULTI] = "multi", [REEF_SHARED] = "shared", [REEF_SPLIT] = "split"};

uint32_t inspector_kind_size(reef_kind kind) { return kinds[kind].size; }
const char *inspector_kind_name(reef_kind kind) { return kinds[kind].name; }
const char *inspector_home_name(reef_home home) { return homes[home]; }
uint32_t inspector_field_count(const reef_field *f)
{
    return f->kind == REEF_CHAR ? 1 : f->bytes / inspector_kind_size(f->kind);
}

const reef_field *inspector_field_named(const reef_type_info *t, const char *name)
{
    for (uint32_t i = 0; i < t->field_count; i++)
        if (strcmp(t->fields[i].name, name) == 0) return &t->fields[i];
    return NULL;
}

/* ---- to JSON ---- */

static int64_t signed_of(reef_kind kind, const void *data)
{
    int8_t a;
    int16_t b;
    int32_t c;
    int64_t d;
    switch (kind) {
    case REEF_I8: return memcpy(&a, data, sizeof a), a;
    case REEF_I16: return memcpy(&b, data, sizeof b), b;
    case REEF_I32: return memcpy(&c, data, sizeof c), c;
    default: return memcpy(&d, data, sizeof d), d;
    }
}

static uint64_t unsigned_of(reef_kind kind, const void *data)
{
    uint8_t a;
    uint16_t b;
    uint32_t c;
    uint64_t d;
    switch (kind) {
    case REEF_BOOL:
    case REEF_U8: return memcpy(&a, data, sizeof a), a;
    case REEF_U16: return memcpy(&b, data, sizeof b), b;
    case REEF_U32: return memcpy(&c, data, sizeof c), c;
    default: return memcpy(&d, data, sizeof d), d;
    }
}

static double float_of(reef_kind kind, const void *data)
{
    float single;
    double wide;
    if (kind == REEF_F64) return memcpy(&wide, data, sizeof wide), wide;
    memcpy(&single, data, sizeof single);
    return (double)single;
}

static bool is_signed(reef_kind k) { return k == REEF_I8 || k == REEF_I16 || k == REEF_I32 || k == REEF_I64; }
static bool is_float(reef_kind k) { return k == REEF_F32 || k == REEF_F64; }

/* A float as the shortest number that reads back as the same one: 0.1, not 0.10000000149. */
static json *json_single(const void *data)
{
    char text[PLAIN_NUMBER_MAX];
    double number = 0;
    const float x = (float)float_of(REEF_F32, data);
    if (isnan(x) || isinf(x)) return json_float((double)x);
    for (int digits = 6; digits <= 9; digits++) {
        plain_number_write(text, digits, (double)x);
        if (plain_number_read(text, &number) && (float)number == x) break;
    }
    return inspector_real(number);
}

/* A value by its name; NULL: nothing of it has a name, so it is a number. */
static json *json_named(const reef_field *f, const void *data)
{
    char text[REEF_NAMES_TEXT_MAX];
    const int64_t value = is_signed(f->kind) ? signed_of(f->kind, data) : (int64_t)unsigned_of(f->kind, data);
    const size_t length = reef_names_write(f->names, value, text, sizeof text);
    return isdigit((unsigned char)text[0]) || text[0] == '-' ? NULL : inspector_text_sized(text, length);
}

static json *json_element(const reef_field *f, const void *data)
{
    reef_entity e;
    const reef_kind kind = f->kind;
    json *named = f->names ? json_named(f, data) : NULL;
    if (named) return named;
    if (kind == REEF_BOOL) return inspector_boolean(*(const unsigned char *)data != 0);
    if (kind == REEF_ENTITY) return memcpy(&e, data, sizeof e), inspector_json_entity(e);
    if (kind == REEF_F32) return json_single(data);
    if (kind == REEF_F64) return json_float(float_of(kind, data));
    return is_signed(kind) ? json_signed(signed_of(kind, data)) : inspector_json_number(unsigned_of(kind, data));
}

json *inspector_json_field(const reef_field *f, const void *data)
{
    const char *at = (const char *)data + f->offset;
    const uint32_t count = inspector_field_count(f);
    if (f->kind == REEF_CHAR) {
        const char *end = memchr(at, 0, f->bytes);
        return inspector_text_sized(at, end ? (size_t)(end - at) : f->bytes);
    }
    if (count == 1) return json_element(f, at);
    json *list = inspector_array();
    for (uint32_t i = 0; i < count && i < ELEMENTS_SHOWN; i++)
        inspector_append(list, json_element(f, at + (size_t)i * inspector_kind_size(f->kind)));
    return list;
}

static json *json_bytes(const unsigned char *data, uint32_t size)
{
    char text[2 * BYTES_SHOWN + 4], *to = text;
    for (uint32_t i = 0; i < size && i < BYTES_SHOWN; i++) to += sprintf(to, "%02x", data[i]);
    if (size > BYTES_SHOWN) (void)sprintf(to, "...");
    return inspector_text(text);
}

json *inspector_json_value(const reef_type_info *t, const void *data)
{
    if (data == NULL || t->size == 0) return inspector_null();
    if (t->field_count == 0) return json_bytes(data, t->size);
    json *value = inspector_object();
    for (uint32_t i = 0; i < t->field_count; i++) {
        json *name = inspector_text(t->fields[i].name);
        inspector_put(value, inspector_text_in(name) ? inspector_text_in(name) : "?",
                      inspector_json_field(&t->fields[i], data));
        inspector_json_free(name);
    }
    return value;
}

bool inspector_field_number(const reef_field *f, uint32_t element, const void *data, double *number)
{
    if (f->kind == REEF_CHAR || f->kind == REEF_ENTITY || element >= inspector_field_count(f)) return false;
    const char *at = (const char *)data + f->offset + (size_t)element * inspector_kind_size(f->kind);
    *number = is_float(f->kind)    ? float_of(f->kind, at)
              : is_signed(f->kind) ? (double)signed_of(f->kind, at)
                                   : (double)unsigned_of(f->kind, at);
    return true;
}

/* ---- from JSON ---- */

static bool wrong(char *why, const char *expected, const reef_field *f)
{
    (void)snprintf(why, REEF_DETAIL_MAX, "%.40s: expected %.70s", f->name, expected);
    return false;
}

static bool number_of_json(const json *j, double *number)
{
    if (inspector_is_number(j)) {
        *number = inspector_number_in(j);
        return true;
    }
    const char *text = inspector_text_in(j);
    if (text == NULL) return false;
    *number = (double)NAN;
    if (strcmp(text, "NaN") == 0) return true;
    *number = (double)INFINITY;
    if (strcmp(text, "Infinity") == 0) return true;
    *number = -(double)INFINITY;
    if (strcmp(text, "-Infinity") == 0) return true;
    return plain_number_read(text, number) && isfinite(*number);
}

static bool signed_of_json(const json *j, int64_t *number)
{
    char *end;
    if (inspector_is_integer(j)) return *number = inspector_integer_in(j), true;
    const char *text = inspector_text_in(j);
    if (text == NULL || *text == 0) return false;
    errno = 0;
    *number = strtoll(text, &end, 10);
    return *end == 0 && errno == 0;
}

static bool unsigned_of_json(const json *j, uint64_t *number)
{
    char *end;
    if (inspector_is_integer(j)) return *number = (uint64_t)inspector_integer_in(j), inspector_integer_in(j) >= 0;
    const char *text = inspector_text_in(j);
    if (text == NULL || !isdigit((unsigned char)*text)) return false;
    errno = 0;
    *number = strtoull(text, &end, 10);
    return *end == 0 && errno == 0;
}

/* Is the number in the range that the field declares? */
static bool in_range(const reef_field *f, double number, char *why)
{
    char lowest[PLAIN_NUMBER_MAX], highest[PLAIN_NUMBER_MAX];
    if ((f->lowest == 0 && f->highest == 0) || (number >= f->lowest && number <= f->highest)) return true;
    plain_number_write(lowest, 6, f->lowest);
    plain_number_write(highest, 6, f->highest);
    (void)snprintf(why, REEF_DETAIL_MAX, "%.40s: expected %s ... %s", f->name, lowest, highest);
    return false;
}

static bool signed_set(const reef_field *f, const json *to, void *at, char *why)
{
    int64_t n;
    const unsigned bits = 8 * inspector_kind_size(f->kind);
    const int64_t most = bits == 64 ? INT64_MAX : ((int64_t)1 << (bits - 1)) - 1;
    if (!signed_of_json(to, &n) || n > most || n < -most - 1) return wrong(why, inspector_kind_name(f->kind), f);
    if (!in_range(f, (double)n, why)) return false;
    const int8_t a = (int8_t)n;
    const int16_t b = (int16_t)n;
    const int32_t c = (int32_t)n;
    memcpy(at,
           bits == 8    ? (const void *)&a
           : bits == 16 ? (const void *)&b
           : bits == 32 ? (const void *)&c
                        : &n,
           bits / 8);
    return true;
}

static bool unsigned_set(const reef_field *f, const json *to, void *at, char *why)
{
    uint64_t n;
    const unsigned bits = 8 * inspector_kind_size(f->kind);
    if (!unsigned_of_json(to, &n) || (bits < 64 && n >> bits)) return wrong(why, inspector_kind_name(f->kind), f);
    if (!in_range(f, (double)n, why)) return false;
    const uint8_t a = (uint8_t)n;
    const uint16_t b = (uint16_t)n;
    const uint32_t c = (uint32_t)n;
    memcpy(at,
           bits == 8    ? (const void *)&a
           : bits == 16 ? (const void *)&b
           : bits == 32 ? (const void *)&c
                        : &n,
           bits / 8);
    return true;
}

static bool float_set(const reef_field *f, const json *to, void *at, char *why)
{
    double n;
    if (!number_of_json(to, &n)) return wrong(why, "a number", f);
    if (f->kind == REEF_F32 && isfinite(n) && fabs(n) > PLAIN_SINGLE_MOST) return wrong(why, "f32", f);
    if (!in_range(f, n, why)) return false;
    const float single = (float)n;
    if (f->kind == REEF_F32) memcpy(at, &single, sizeof single);
    else memcpy(at, &n, sizeof n);
    return true;
}

static bool entity_set(const reef_field *f, const json *to, void *at, char *why)
{
    reef_entity e = {0, 0};
    if (!inspector_is_null(to) && (!inspector_is_text(to) || !inspector_entity_of_text(inspector_text_in(to), &e)))
        return wrong(why, "an entity such as 7v1, or null", f);
    memcpy(at, &e, sizeof e);
    return true;
}

/* Takes a name, or several of a bit mask: the number goes on as JSON. */
static bool named_set(const reef_field *f, const json *to, void *at, char *why)
{
    int64_t value = 0;
    char expected[REEF_DETAIL_MAX];
    (void)snprintf(expected, sizeof expected, "a name of %.60s, or a number", f->names->name);
    if (!reef_names_read(f->names, inspector_text_in(to), inspector_text_size(to), &value))
        return wrong(why, expected, f);
    json *number = is_signed(f->kind) || value >= 0 ? json_signed(value) : inspector_json_number((uint64_t)value);
    const bool good = is_signed(f->kind) ? signed_set(f, number, at, why) : unsigned_set(f, number, at, why);
    inspector_json_free(number);
    return good;
}

bool inspector_field_set(const reef_field *f, uint32_t element, const json *to, void *data, char *why)
{
    char *at = (char *)data + f->offset + (size_t)element * inspector_kind_size(f->kind);
    if (element >= inspector_field_count(f)) return wrong(why, "an element that it has", f);
    if (f->kind == REEF_CHAR) {
        const size_t size = inspector_text_size(to);
        if (!inspector_is_text(to) || size > f->bytes) return wrong(why, "a text that fits", f);
        memset(at, 0, f->bytes);
        memcpy(at, inspector_text_in(to), size);
        return true;
    }
    if (f->kind == REEF_BOOL) {
        if (!inspector_is_boolean(to)) return wrong(why, "true or false", f);
        *(unsigned char *)at = inspector_is_true(to);
        return true;
    }
    if (f->kind == REEF_ENTITY) return entity_set(f, to, at, why);
    if (f->names && inspector_is_text(to)) return named_set(f, to, at, why);
    if (is_float(f->kind)) return float_set(f, to, at, why);
    return is_signed(f->kind) ? signed_set(f, to, at, why) : unsigned_set(f, to, at, why);
}
