/* The names of values of enums and bit masks, and values as texts. Lists are short and texts are for people, so
 * everything is found by looking through a list. */
#include "type/names.h"
#include "base/text_out.h"
#include "type/type_rules.h"
#include <inttypes.h>
#include <stdalign.h>

int64_t reef__whole_read(reef_kind kind, const void *p)
{
    const uint32_t size = reef__kind_size(kind);
    const bool is_signed = kind == REEF_I8 || kind == REEF_I16 || kind == REEF_I32;
    uint8_t byte;
    uint16_t half;
    uint32_t word;
    uint64_t bits;
    if (size == 1) memcpy(&byte, p, 1), bits = byte;
    else if (size == 2) memcpy(&half, p, 2), bits = half;
    else if (size == 4) memcpy(&word, p, 4), bits = word;
    else memcpy(&bits, p, 8);
    if (is_signed && bits >> (8 * size - 1)) bits |= UINT64_MAX << 8 * size;
    return (int64_t)bits;
}

/* ---- what is allowed ---- */

static bool named_value_fits(reef_kind kind, int64_t value)
{
    const uint32_t bits = 8 * reef__kind_size(kind);
    if (bits == 64) return true;
    if (kind == REEF_U8 || kind == REEF_U16 || kind == REEF_U32) return value >= 0 && value >> bits == 0;
    return value >= -(INT64_C(1) << (bits - 1)) && value < INT64_C(1) << (bits - 1);
}

/* A name must not look like a number. It has none of the characters that separate names in a text. */
static bool value_name_allowed(const char *name)
{
    return reef__type_name_allowed(name) && !(name[0] >= '0' && name[0] <= '9');
}

const char *reef__names_refused(const reef_names *n, reef_kind kind)
{
    if (!kind_is_whole(kind)) return "only whole numbers have names";
    if (n->count == 0 || n->values == NULL) return "its list of names is empty";
    if (n->count > REEF_NAMES_MAX) return "it has too many names";
    if (!reef__type_name_allowed(n->name)) return "the name of its enum isn't allowed";
    for (uint32_t i = 0; i < n->count; i++) {
        const reef_named_value *v = &n->values[i];
        if (!value_name_allowed(v->name)) return "a name of its values isn't allowed";
        if (!named_value_fits(kind, v->value)) return "a value that has a name doesn't fit";
        for (uint32_t k = 0; k < i; k++) {
            if (n->values[k].value == v->value) return "two names have the same value";
            if (strcmp(n->values[k].name, v->name) == 0) return "two values have the same name";
        }
    }
    return NULL;
}

bool reef__names_same(const reef_names *a, const reef_names *b)
{
    if (a == b) return true;
    if (a == NULL || b == NULL || a->count != b->count || a->mask != b->mask || strcmp(a->name, b->name) != 0)
        return false;
    for (uint32_t i = 0; i < a->count; i++)
        if (a->values[i].value != b->values[i].value || strcmp(a->values[i].name, b->values[i].name) != 0) return false;
    return true;
}

const reef_named_value *reef__names_find(const reef_names *n, const char *name)
{
    for (uint32_t i = 0; i < n->count; i++)
        if (strcmp(n->values[i].name, name) == 0) return &n->values[i];
    return NULL;
}

/* ---- copying ---- */

size_t reef__names_bytes(const reef_names *n)
{
    size_t bytes = sizeof *n + n->count * sizeof *n->values + strlen(n->name) + 1;
    for (uint32_t i = 0; i < n->count; i++) bytes += strlen(n->values[i].name) + 1;
    return (bytes + alignof(reef_field) - 1) & ~(alignof(reef_field) - 1);
}

static const char *name_copy(char **room, const char *text)
{
    char *copy = *room;
    const size_t bytes = strlen(text) + 1;
    memcpy(copy, text, bytes);
    *room += bytes;
    return copy;
}

const reef_names *reef__names_copy(const reef_names *n, void *room)
{
    reef_names *copy = room;
    reef_named_value *values = (reef_named_value *)(copy + 1);
    char *texts = (char *)(values + n->count);
    *copy = *n;
    copy->values = values;
    copy->name = name_copy(&texts, n->name);
    for (uint32_t i = 0; i < n->count; i++) {
        values[i].value = n->values[i].value;
        values[i].name = name_copy(&texts, n->values[i].name);
    }
    return copy;
}

/* ---- values as texts ---- */

static void put_between(text_out *o, const char *name) { reef__text_put(o, "%s%s", o->length ? "|" : "", name); }

static void put_mask(text_out *o, const reef_names *n, uint64_t bits)
{
    uint64_t left = bits;
    for (uint32_t i = 0; i < n->count; i++) {
        const uint64_t v = (uint64_t)n->values[i].value;
        if ((bits & v) != v || (left & v) == 0) continue;
        put_between(o, n->values[i].name);
        left &= ~v;
    }
    if (left) reef__text_put(o, "%s%" PRId64, o->length ? "|" : "", (int64_t)left);
}

COLD size_t reef_names_write(const reef_names *names, int64_t value, char *text, size_t size)
{
    text_out o = {text, text ? size : 0, 0};
    if (names && names->mask) put_mask(&o, names, (uint64_t)value);
    for (uint32_t i = 0; names && o.length == 0 && i < names->count; i++)
        if (names->values[i].value == value) reef__text_put(&o, "%s", names->values[i].name);
    if (o.length == 0) reef__text_put(&o, "%" PRId64, value);
    return o.length;
}

/* Reads a number: digits, or 0x and hexadecimal digits, with or without a minus. It may be one of the unsigned ones. */
static bool read_number(const char *text, size_t length, int64_t *value)
{
    const bool minus = length && text[0] == '-';
    const bool hex = length > minus + 2u && text[minus] == '0' && text[minus + 1] == 'x';
    const uint64_t base = hex ? 16 : 10;
    uint64_t x = 0;
    size_t i = hex ? minus + 2u : minus;
    if (i == length) return false;
    for (; i < length; i++) {
        const char c = text[i];
        uint64_t digit = 16;
        if (c >= '0' && c <= '9') digit = (uint64_t)(c - '0');
        else if (hex && c >= 'a' && c <= 'f') digit = (uint64_t)(c - 'a') + 10;
        else if (hex && c >= 'A' && c <= 'F') digit = (uint64_t)(c - 'A') + 10;
        if (digit >= base || x > (UINT64_MAX - digit) / base) return false;
        x = x * base + digit;
    }
    if (minus && x > UINT64_C(1) << 63) return false;
    *value = (int64_t)(minus ? 0 - x : x);
    return true;
}

static bool read_one(const reef_names *n, const char *text, size_t length, int64_t *value)
{
    while (length && text[0] == ' ') text++, length--;
    while (length && text[length - 1] == ' ') length--;
    for (uint32_t i = 0; n && i < n->count; i++) {
        const char *name = n->values[i].name;
        if (strncmp(name, text, length) != 0 || name[length] != 0) continue;
        *value = n->values[i].value;
        return length != 0;
    }
    return read_number(text, length, value);
}

COLD bool reef_names_read(const reef_names *names, const char *text, size_t length, int64_t *value)
{
    int64_t one = 0;
    uint64_t all = 0;
    if (text == NULL || value == NULL) return false;
    for (;;) {
        size_t end = 0;
        while (end < length && !(names && names->mask && text[end] == '|')) end++;
        if (!read_one(names, text, end, &one)) return false;
        all |= (uint64_t)one;
        if (end == length) break;
        text += end + 1;
        length -= end + 1;
    }
    *value = (int64_t)all;
    return true;
}
