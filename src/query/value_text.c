/* The text of conditions, in the parentheses behind a type's name:
 *
 *     condition := field compare literal | field "in" literal ".." literal | field "as" "$" name
 *     compare   := "==" | "!=" | "<" | "<=" | ">" | ">=" | "&" | "has"
 *     field     := what C writes for a member: "left", "at.x", "slots[2]"; any name in quotes
 *     literal   := a number | "true" | "false" | a text in quotes | an entity | names of an enum or bit mask, with "|"
 *                  between them | "$" name
 *
 * Elsewhere in a text a name may contain "<", ">" and "..", so conditions are read by their characters and not by
 * tokens: the name of a field ends before these. What stands behind a comparison is read by the field's kind. A "$"
 * there is a parameter, or the name that "as" gives to a value; in front of a comparison it is a variable, which is
 * bound to an entity. */
#include "type/names.h"
#include "query/query_text.h"
#include "query/token.h"
#include "query/value_term.h"
#include "reef/type_info.h"
#include <float.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- characters ---- */

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static const char *spaces_end(const char *at)
{
    while (is_space(*at)) at++;
    return at;
}
static bool range_begins(const char *at) { return at[0] == '.' && at[1] == '.'; }

/* The parser goes on behind `at`. */
static void parse_from(parser *p, const char *at) { p->token = reef__token_scan(at); }

/* The end of a field's name that isn't in quotes. */
static const char *field_end(const char *at)
{
    const char *first = at;
    while (is_word(*at) || *at == '[' || *at == ']' || (*at == '.' && !range_begins(at))) {
        if (at > first && at[-1] == ']' && is_word(*at)) break;
        at++;
    }
    return at;
}

/* ---- comparisons ---- */

typedef struct compare_sign {
    const char *text;
    reef_compare compare;
} compare_sign;

/* longer ones come before what they begin with */
static const compare_sign compare_signs[] = {
    {"==", REEF_EQUAL}, {"!=", REEF_UNEQUAL}, {"<=", REEF_AT_MOST}, {">=", REEF_AT_LEAST},  {"<", REEF_LESS},
    {">", REEF_MORE},   {"&", REEF_ANY_BIT},  {"in", REEF_WITHIN},  {"has", REEF_ALL_BITS}, {"as", REEF_AS},
};

static const compare_sign *sign_at(const char *at)
{
    for (uint32_t i = 0; i < sizeof compare_signs / sizeof *compare_signs; i++) {
        const size_t n = strlen(compare_signs[i].text);
        if (strncmp(at, compare_signs[i].text, n) != 0) continue;
        if (is_word(compare_signs[i].text[0]) && is_word(at[n])) continue;
        return &compare_signs[i];
    }
    return NULL;
}

static const char *sign_text(reef_compare compare)
{
    for (uint32_t i = 0; i < sizeof compare_signs / sizeof *compare_signs; i++)
        if (compare_signs[i].compare == compare) return compare_signs[i].text;
    return "?";
}

COLD bool reef__condition_comes(const parser *p)
{
    const char *at = p->token.start, *end = at;
    if (p->token.kind == TOKEN_QUOTED) end = at + p->token.length;
    else end = field_end(at);
    const char *behind = spaces_end(end);
    const compare_sign *s = sign_at(behind);
    if (end == at || (s == NULL && *behind != '=')) return false;
    return s == NULL || !is_word(s->text[0]) || behind > end || p->token.kind == TOKEN_QUOTED;
}

/* ---- keeping texts ---- */

static COLD char *value_text_keep(parser *p, const char *at, const char *text, size_t length)
{
    query_text *out = p->out;
    if (length + 1 > sizeof out->texts - out->text_bytes) {
        (void)reef__parse_refuse(p, REEF_LIMIT, at, "the fields and texts of conditions have at most %d bytes",
                                 REEF_CONDITION_TEXTS_MAX);
        return NULL;
    }
    char *copy = memcpy(out->texts + out->text_bytes, text, length);
    copy[length] = 0;
    out->text_bytes += (uint32_t)length + 1;
    return copy;
}

/* Reads a text in quotes. Unlike a name it may be empty, and is as long as it likes. */
static COLD char *quoted_read(parser *p)
{
    const char *first = p->token.start + 1, *end = p->token.start + p->token.length;
    const bool closed = end > first && end[-1] == '"'; /* if that is a quote after a backslash, there is room as well */
    char *copy = value_text_keep(p, p->token.start, first, (size_t)(end - first) - closed);
    if (copy == NULL) return NULL;
    char *to = copy;
    for (; first < end && *first != '"'; first++) {
        if (*first == '\\' && *++first != '"' && *first != '\\') {
            (void)reef__parse_refuse(p, REEF_BAD_TEXT, first, "expected \\\" or \\\\ after a backslash");
            return NULL;
        }
        *to++ = *first;
    }
    if (first == end) {
        (void)reef__parse_refuse(p, REEF_BAD_TEXT, end, "expected the quote that ends the text, found the end");
        return NULL;
    }
    *to = 0;
    reef__token_next(p);
    return copy;
}

/* ---- fields ---- */

static COLD bool refuse_field(parser *p, const char *at, const type *t, const char *name)
{
    const shown type_name = reef__show(t->name, strlen(t->name)), unknown = reef__show(name, strlen(name));
    nearest s = reef__nearest_begin(name);
    for (uint32_t i = 0; i < t->field_count; i++) {
        const reef_field *f = &t->fields[i];
        const size_t n = strlen(f->name);
        if (strncmp(f->name, name, n) != 0 || (name[n] && name[n] != '[') || f->kind == REEF_CHAR) continue;
        return reef__parse_refuse(p, REEF_BAD_ARGUMENT, at,
                                  "%s is an array of %u: a condition names one element, such as [0]",
                                  reef__show(f->name, n).text, (unsigned)(f->bytes / reef__kind_size(f->kind)));
    }
    for (uint32_t i = 0; i < t->field_count; i++) {
        const char *field = t->fields[i].name;
        const bool data = t->relation && strncmp(field, "data.", 5) == 0;
        if (strlen(field) <= REEF_TYPE_NAME_MAX) reef__nearest_look(&s, data ? field + 5 : field);
    }
    if (t->field_count == 0)
        return reef__parse_refuse(p, REEF_BAD_ARGUMENT, at, "%s has no fields (REEF_FIELDS) that could be compared",
                                  type_name.text);
    if (s.name == NULL)
        return reef__parse_refuse(p, REEF_BAD_ARGUMENT, at, "%s has no field %s", type_name.text, unknown.text);
    return reef__parse_refuse(p, REEF_BAD_ARGUMENT, at, "no field is named %s; did you mean %s?", unknown.text,
                              reef__show(s.name, strlen(s.name)).text);
}

static COLD const reef_field *parse_field(parser *p, const type *t, reef_condition *c, uint32_t *bytes)
{
    const char *at = p->token.start;
    char *name;
    uint32_t offset;
    if (p->token.kind == TOKEN_QUOTED) {
        name = quoted_read(p);
    } else {
        const char *end = field_end(at);
        if (end == at) return (void)reef__parse_expected(p, "a field's name"), NULL;
        name = value_text_keep(p, at, at, (size_t)(end - at));
        parse_from(p, end);
    }
    if (name == NULL) return NULL;
    if (strlen(name) > REEF_TYPE_NAME_MAX)
        return (void)reef__parse_refuse(p, REEF_BAD_TEXT, at, "this name is longer than %d bytes", REEF_TYPE_NAME_MAX),
               NULL;
    c->field = name;
    const reef_field *f = reef__condition_field(t, name, &offset, bytes);
    if (f == NULL) (void)refuse_field(p, at, t, name);
    return f;
}

/* ---- literals ---- */

/* Reads the name of a parameter; the parser stands at "$". */
static COLD bool parse_parameter(parser *p, reef_literal *l)
{
    query_text *out = p->out;
    const char *at = p->token.start, *end = at + 1;
    char name[REEF_VARIABLE_NAME_MAX + 1];
    while (is_word(*end)) end++;
    const size_t length = (size_t)(end - at - 1);
    if (length == 0) {
        parse_from(p, at + 1);
        return reef__parse_expected(p, "a parameter's name behind '$'");
    }
    if (length > REEF_VARIABLE_NAME_MAX)
        return reef__parse_refuse(p, REEF_BAD_TEXT, at, "this name is longer than %d bytes", REEF_VARIABLE_NAME_MAX);
    memcpy(name, at + 1, length);
    name[length] = 0;
    if (reef__name_seek(out->variables, out->variable_count, name) < out->variable_count)
        return reef__parse_refuse(p, REEF_BAD_TEXT, at, "$%s is a variable already: a parameter needs another name",
                                  name);
    const uint32_t i = reef__name_seek(out->parameters, out->parameter_count, name);
    if (i == REEF_PARAMETERS_MAX)
        return reef__parse_refuse(p, REEF_LIMIT, at, "a query has at most %d parameters", REEF_PARAMETERS_MAX);
    if (i == out->parameter_count) {
        memcpy(out->parameters[i], name, length + 1);
        out->parameter_count++;
    }
    *l = reef_literal_parameter(out->parameters[i]);
    parse_from(p, end);
    return true;
}

/* The end of what may be a number. */
static const char *number_end(const char *at)
{
    const char *first = at;
    if (*at == '-' || *at == '+') at++;
    while (is_word(*at) || (*at == '.' && !range_begins(at)) ||
           ((*at == '-' || *at == '+') && at > first && (at[-1] == 'e' || at[-1] == 'E') && first[1] != 'x' &&
            first[0] != 'x'))
        at++;
    return at;
}

/* Reads a whole number. False: it isn't one, or (with *large) needs more than 64 bits. */
static bool numeral_read(const char *at, const char *end, reef_literal *l, bool *large)
{
    const bool minus = *at == '-';
    uint64_t x = 0;
    *large = false;
    if (*at == '-' || *at == '+') at++;
    const bool hex = end - at > 2 && at[0] == '0' && (at[1] == 'x' || at[1] == 'X');
    if (hex) at += 2;
    if (at == end) return false;
    for (; at < end; at++) {
        uint64_t digit = 16;
        if (is_digit(*at)) digit = (uint64_t)(*at - '0');
        else if (hex && *at >= 'a' && *at <= 'f') digit = (uint64_t)(*at - 'a') + 10;
        else if (hex && *at >= 'A' && *at <= 'F') digit = (uint64_t)(*at - 'A') + 10;
        if (digit >= (hex ? 16u : 10u)) return false;
        *large |= x > (UINT64_MAX - digit) / (hex ? 16 : 10);
        x = x * (hex ? 16 : 10) + digit;
    }
    *large |= minus && x > UINT64_C(1) << 63;
    if (minus) *l = reef_literal_i64((int64_t)(0 - x));
    else *l = x > INT64_MAX ? reef_literal_u64(x) : reef_literal_i64((int64_t)x);
    return !*large;
}

enum { FLOAT_ROOM = 400, POINT_ROOM = 16 };

/* Reads a number with a point or an exponent, whatever the program's locale writes for the point. */
static bool float_read(const char *at, const char *end, bool single, double *x)
{
    char half[32], local[FLOAT_ROOM + POINT_ROOM], *to = local, *stop;
    const char *digits = at + (*at == '-' || *at == '+');
    const bool word = end - digits == 3 && (memcmp(digits, "inf", 3) == 0 || memcmp(digits, "nan", 3) == 0);
    if (end == digits || end - at >= FLOAT_ROOM) return false;
    (void)snprintf(half, sizeof half, "%.1f", 0.5); /* 0, the point, 5 */
    const size_t point = strlen(half) - 2;
    bool found = false;
    if (point > POINT_ROOM) return false;
    for (const char *c = at; c < end; c++) {
        if (!word && !is_digit(*c) && !strchr("+-.eE", *c)) return false;
        if (*c != '.') {
            *to++ = *c;
            continue;
        }
        if (found) return false;
        found = true;
        memcpy(to, half + 1, point);
        to += point;
    }
    *to = 0;
    *x = single ? (double)strtof(local, &stop) : strtod(local, &stop);
    return stop == to;
}

static COLD bool refuse_number(parser *p, const char *at, const char *end)
{
    if (end == at) return reef__parse_expected(p, "a number");
    return reef__parse_refuse(p, REEF_BAD_TEXT, at, "expected a number, found '%s'",
                              reef__show(at, (size_t)(end - at)).text);
}

static COLD bool refuse_range(parser *p, const reef_field *f, const char *at, const char *end)
{
    return reef__parse_refuse(p, REEF_BAD_ARGUMENT, at, "%s is %s: %s is out of its range",
                              reef__show(f->name, strlen(f->name)).text, reef__kind_name(f->kind),
                              reef__show(at, (size_t)(end - at)).text);
}

static COLD bool parse_numeral(parser *p, const reef_field *f, reef_literal *l)
{
    const char *at = p->token.start, *end = number_end(at);
    const bool whole = kind_is_whole(f->kind);
    bool large = false;
    double x;
    if (!whole && float_read(at, end, f->kind == REEF_F32, &x)) {
        if (x - x != 0 && memchr(at, 'n', (size_t)(end - at)) == NULL) /* neither inf nor nan is written there */
            return refuse_range(p, f, at, end);
        *l = reef_literal_f64(x);
    } else if (!numeral_read(at, end, l, &large)) {
        if (large) return refuse_range(p, f, at, end);
        if (!whole || !float_read(at, end, false, &x)) return refuse_number(p, at, end);
        *l = reef_literal_f64(x); /* which the field can't be compared with */
    }
    parse_from(p, end);
    return true;
}

/* Reads names of an enum or a bit mask, or a number in their place. */
static COLD bool parse_names(parser *p, const reef_field *f, reef_literal *l)
{
    const char *at = p->token.start, *end = at;
    int64_t x;
    while (*end && !strchr(",)$\"\n", *end) && !range_begins(end)) end++;
    while (end > at && is_space(end[-1])) end--;
    if (!reef_names_read(f->names, at, (size_t)(end - at), &x)) {
        const shown found = reef__show(at, (size_t)(end - at));
        char name[REEF_TYPE_NAME_MAX + 1];
        if (end == at || (size_t)(end - at) > REEF_TYPE_NAME_MAX) return reef__parse_expected(p, "a name or a number");
        memcpy(name, at, (size_t)(end - at));
        name[end - at] = 0;
        nearest s = reef__nearest_begin(name);
        for (uint32_t i = 0; i < f->names->count; i++)
            if (strlen(f->names->values[i].name) <= REEF_TYPE_NAME_MAX)
                reef__nearest_look(&s, f->names->values[i].name);
        if (s.name == NULL)
            return reef__parse_refuse(p, REEF_BAD_ARGUMENT, at, "%s has no value %s",
                                      reef__show(f->names->name, strlen(f->names->name)).text, found.text);
        return reef__parse_refuse(p, REEF_BAD_ARGUMENT, at, "no value is named %s; did you mean %s?", found.text,
                                  reef__show(s.name, strlen(s.name)).text);
    }
    *l = f->kind == REEF_U64 ? reef_literal_u64((uint64_t)x) : reef_literal_i64(x);
    parse_from(p, end);
    return true;
}

static COLD bool parse_literal(parser *p, const reef_field *f, uint32_t bytes, reef_literal *l)
{
    const char *at = p->token.start;
    char detail[REEF_DETAIL_MAX];
    field_value number;
    bool ok = true;
    if (token_is_sign(p, '$')) return parse_parameter(p, l);
    if (p->token.kind == TOKEN_QUOTED && f->kind != REEF_ENTITY) {
        *l = reef_literal_text(quoted_read(p));
        if (l->text == NULL) return false;
    } else if (f->kind == REEF_CHAR) {
        return reef__parse_expected(p, "a text in quotes");
    } else if (f->kind == REEF_ENTITY) {
        l->kind = REEF_ENTITY;
        if (!reef__parse_entity(p, &l->entity)) return false;
    } else if (f->kind == REEF_BOOL) {
        const bool yes = reef__token_is(p->token, "true");
        if (!yes && !reef__token_is(p->token, "false")) return reef__parse_expected(p, "true or false");
        *l = reef_literal_u64(yes);
        reef__token_next(p);
    } else {
        ok = f->names ? parse_names(p, f, l) : parse_numeral(p, f, l);
    }
    if (!ok) return false;
    const char *why = reef__literal_take(f, bytes, l, &number, detail, sizeof detail);
    return why == NULL || reef__parse_refuse(p, REEF_BAD_ARGUMENT, at, "%s", why);
}

/* ---- conditions ---- */

COLD bool reef__parse_condition(parser *p, const type *t)
{
    query_text *out = p->out;
    uint32_t bytes;
    const char *at = p->token.start;
    if (out->condition_count == REEF_CONDITIONS_MAX)
        return reef__parse_refuse(p, REEF_LIMIT, at, "a query has at most %d conditions", REEF_CONDITIONS_MAX);
    reef_condition *c = &out->conditions[out->condition_count];
    memset(c, 0, sizeof *c);
    const reef_field *f = parse_field(p, t, c, &bytes);
    if (f == NULL) return false;
    const compare_sign *sign = sign_at(p->token.start);
    if (sign == NULL) return reef__parse_expected(p, "a comparison (==, !=, <, <=, >, >=, &, has, in, as)");
    if (!reef__kind_compares(f, sign->compare))
        return reef__parse_refuse(p, REEF_BAD_ARGUMENT, p->token.start, "%s is %s, which can't be compared by '%s'",
                                  reef__show(f->name, strlen(f->name)).text, reef__kind_name(f->kind), sign->text);
    c->compare = sign->compare;
    parse_from(p, p->token.start + strlen(sign->text));
    if (c->compare == REEF_AS && !token_is_sign(p, '$')) return reef__parse_expected(p, "'$' and the value's name");
    if (!parse_literal(p, f, bytes, &c->value)) return false;
    if (c->compare == REEF_WITHIN) {
        if (!range_begins(p->token.start)) return reef__parse_expected(p, "'..' and the last value");
        parse_from(p, p->token.start + 2);
        if (!parse_literal(p, f, bytes, &c->last)) return false;
    }
    out->condition_count++;
    return true;
}

/* ---- writing ---- */

/* The shortest text that reads back as the same number. */
static COLD void write_float(text_out *o, double x, bool single)
{
    char text[64];
    int digits = single ? FLT_DIG : DBL_DIG;
    const int most = single ? FLT_DECIMAL_DIG : DBL_DECIMAL_DIG;
    if (x != x) {
        reef__text_put(o, "nan");
        return;
    }
    for (; digits <= most; digits++) {
        (void)snprintf(text, sizeof text, "%.*g", digits, x);
        if (single ? (double)strtof(text, NULL) == x : strtod(text, NULL) == x) break;
    }
    bool point = false;
    for (const char *c = text; *c; c++) { /* the point of the locale may have several bytes */
        const bool plain = strchr("0123456789+-einfa", *c) != NULL;
        if (plain || !point) reef__text_put(o, "%c", plain ? *c : '.');
        point = !plain;
    }
}

static COLD void write_literal(text_out *o, const reef_world *w, const reef_field *f, const reef_literal *l)
{
    char names[256];
    field_value x;
    if (l->kind == 0) {
        reef__text_put(o, "$%s", l->text);
        return;
    }
    (void)reef__literal_take(f, UINT32_MAX, l, &x, names, sizeof names);
    switch (f->kind) {
    case REEF_CHAR: reef__text_put_quoted(o, l->text); break;
    case REEF_ENTITY: reef__entity_write(o, w, l->entity); break;
    case REEF_BOOL: reef__text_put(o, x.u64 ? "true" : "false"); break;
    case REEF_F32:
    case REEF_F64: write_float(o, x.f64, f->kind == REEF_F32); break;
    default:
        if (f->names && reef_names_write(f->names, x.i64, names, sizeof names) < sizeof names) {
            reef__text_put(o, "%s", names);
        } else if (f->kind == REEF_U64) {
            reef__text_put(o, "%" PRIu64, x.u64);
        } else {
            reef__text_put(o, "%" PRId64, x.i64);
        }
    }
}

COLD void reef__condition_write(text_out *o, const reef_world *w, const type *t, const reef_condition *c)
{
    uint32_t offset, bytes;
    const reef_field *f = reef__condition_field(t, c->field, &offset, &bytes);
    ASSERT(f);
    if (*field_end(c->field) == 0) reef__text_put(o, "%s", c->field);
    else reef__text_put_quoted(o, c->field);
    reef__text_put(o, " %s ", sign_text(c->compare));
    write_literal(o, w, f, &c->value);
    if (c->compare != REEF_WITHIN) return;
    reef__text_put(o, "..");
    write_literal(o, w, f, &c->last);
}
