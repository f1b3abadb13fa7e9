/* Values of JSON, and their texts.
 *
 * An object's members lie in the order in which they were put. From FEW on a table of their numbers, open addressing by
 * the hash of the name, finds one of them. */
#include "json.h"
#include "../shared/plain_number.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef enum json_kind {
    JSON_NULL,
    JSON_FALSE,
    JSON_TRUE,
    JSON_INTEGER,
    JSON_REAL,
    JSON_TEXT,
    JSON_ARRAY,
    JSON_OBJECT
} json_kind;

enum { FEW = 16 };

typedef struct json_member {
    char *name; /* of an object */
    json *value;
} json_member;

struct json {
    json_kind kind;
    uint32_t owners;
    int64_t integer;
    double real;
    char *text;
    size_t size, room; /* of the text, or the members */
    json_member *members;
    uint32_t *table; /* numbers of members from 1; 0: empty. NULL: few members */
    size_t mask;
};

static json *value_new(json_kind kind)
{
    json *j = calloc(1, sizeof *j);
    if (j == NULL) return NULL;
    j->kind = kind;
    j->owners = 1;
    return j;
}

json *inspector_null(void) { return value_new(JSON_NULL); }
json *inspector_boolean(bool is) { return value_new(is ? JSON_TRUE : JSON_FALSE); }
json *inspector_object(void) { return value_new(JSON_OBJECT); }
json *inspector_array(void) { return value_new(JSON_ARRAY); }

json *inspector_integer(int64_t number)
{
    json *j = value_new(JSON_INTEGER);
    if (j) j->integer = number;
    return j;
}

json *inspector_real(double number)
{
    json *j = isfinite(number) ? value_new(JSON_REAL) : NULL;
    if (j) j->real = number;
    return j;
}

json *inspector_json_share(json *j)
{
    if (j) j->owners++;
    return j;
}

void inspector_json_free(json *j)
{
    if (j == NULL || --j->owners) return;
    for (size_t k = 0; j->members && k < j->size; k++) {
        free(j->members[k].name);
        inspector_json_free(j->members[k].value);
    }
    free(j->members);
    free(j->table);
    free(j->text);
    free(j);
}

/* ---- texts ---- */

/* Returns the length of the sequence of UTF-8 at `s`, of which `size` bytes are left; 0: it isn't one. */
static size_t utf8_length(const unsigned char *s, size_t size)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t n = 0;
    if (s[0] < 0x80) return 1;
    if (s[0] >> 5 == 6) n = 2;
    else if (s[0] >> 4 == 14) n = 3;
    else if (s[0] >> 3 == 30) n = 4;
    if (n == 0 || n > size) return 0;
    uint32_t code = s[0] & (0xFFu >> (n + 1));
    for (size_t k = 1; k < n; k++) {
        if (s[k] >> 6 != 2) return 0;
        code = code << 6 | (s[k] & 0x3F);
    }
    return code < least[n] || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000) ? 0 : n;
}

json *inspector_text_sized(const char *text, size_t size)
{
    json *j = value_new(JSON_TEXT);
    size_t wrong = 0;
    for (size_t k = 0; k < size;) {
        const size_t n = utf8_length((const unsigned char *)text + k, size - k);
        wrong += n == 0;
        k += n ? n : 1;
    }
    char *to = j ? malloc(size + 2 * wrong + 1) : NULL;
    if (to == NULL) return free(j), NULL;
    j->text = to;
    for (size_t k = 0; k < size;) {
        const size_t n = utf8_length((const unsigned char *)text + k, size - k);
        memcpy(to, n ? text + k : "\xEF\xBF\xBD", n ? n : 3);
        to += n ? n : 3;
        k += n ? n : 1;
    }
    *to = 0;
    j->size = (size_t)(to - j->text);
    return j;
}

json *inspector_text(const char *text) { return text ? inspector_text_sized(text, strlen(text)) : inspector_null(); }

/* ---- members ---- */

static size_t name_hash(const char *name)
{
    uint32_t hash = 2166136261u; /* FNV-1a */
    for (; *name; name++) hash = (hash ^ (unsigned char)*name) * 16777619u;
    return hash;
}

/* The number of the member; the size of the object: there is none. */
static size_t member_find(const json *o, const char *name)
{
    if (o->table == NULL) {
        size_t k = 0;
        while (k < o->size && strcmp(o->members[k].name, name) != 0) k++;
        return k;
    }
    for (size_t at = name_hash(name) & o->mask; o->table[at]; at = (at + 1) & o->mask)
        if (strcmp(o->members[o->table[at] - 1].name, name) == 0) return o->table[at] - 1;
    return o->size;
}

static void table_add(json *o, size_t number)
{
    size_t at = name_hash(o->members[number].name) & o->mask;
    while (o->table[at]) at = (at + 1) & o->mask;
    o->table[at] = (uint32_t)number + 1;
}

/* Room for one more member. The table is at most half full. False: no memory. */
static bool member_room(json *j)
{
    if (j->size < j->room) return true;
    const size_t room = j->room ? 2 * j->room : 4;
    json_member *more = room < UINT32_MAX / 2 ? realloc(j->members, room * sizeof *more) : NULL;
    if (more == NULL) return false;
    j->members = more;
    if (j->kind == JSON_OBJECT && room >= FEW) {
        uint32_t *table = calloc(2 * room, sizeof *table);
        if (table == NULL) return false;
        free(j->table);
        j->table = table;
        j->mask = 2 * room - 1;
        for (size_t k = 0; k < j->size; k++) table_add(j, k);
    }
    j->room = room;
    return true;
}

/* Adds a member that isn't there yet; takes over name and value. */
static void member_add(json *j, char *name, json *value)
{
    if (value == NULL) value = inspector_null();
    if (value == NULL || (j->kind == JSON_OBJECT && name == NULL) || !member_room(j)) {
        free(name);
        inspector_json_free(value);
        return;
    }
    j->members[j->size] = (json_member){name, value};
    if (j->table) table_add(j, j->size);
    j->size++;
}

void inspector_put(json *o, const char *name, json *value)
{
    if (o == NULL || o->kind != JSON_OBJECT) {
        inspector_json_free(value);
        return;
    }
    const size_t number = member_find(o, name);
    if (number < o->size) {
        inspector_json_free(o->members[number].value);
        o->members[number].value = value ? value : inspector_null();
        return;
    }
    json *copy = inspector_text(name); /* its bytes are UTF-8 */
    member_add(o, copy ? copy->text : NULL, value);
    free(copy);
}

void inspector_append(json *a, json *value)
{
    if (a && a->kind == JSON_ARRAY) member_add(a, NULL, value);
    else inspector_json_free(value);
}

/* ---- reading a value ---- */

static json_kind kind_of(const json *j) { return j ? j->kind : JSON_NULL; }
static bool is_list(const json *j) { return kind_of(j) == JSON_ARRAY || kind_of(j) == JSON_OBJECT; }

json *inspector_member(const json *o, const char *name)
{
    const size_t number = inspector_is_object(o) ? member_find(o, name) : SIZE_MAX;
    return inspector_is_object(o) && number < o->size ? o->members[number].value : NULL;
}

json *inspector_element(const json *a, size_t at)
{
    return inspector_is_array(a) && at < a->size ? a->members[at].value : NULL;
}

const char *inspector_member_name(const json *o, size_t at)
{
    return inspector_is_object(o) && at < o->size ? o->members[at].name : NULL;
}

size_t inspector_json_size(const json *j) { return is_list(j) ? j->size : 0; }
const char *inspector_text_in(const json *j) { return inspector_is_text(j) ? j->text : NULL; }
size_t inspector_text_size(const json *j) { return inspector_is_text(j) ? j->size : 0; }
int64_t inspector_integer_in(const json *j) { return inspector_is_integer(j) ? j->integer : 0; }

double inspector_number_in(const json *j)
{
    if (inspector_is_integer(j)) return (double)j->integer;
    return kind_of(j) == JSON_REAL ? j->real : 0;
}

void inspector_integer_set(json *j, int64_t number)
{
    if (inspector_is_integer(j)) j->integer = number;
}

bool inspector_is_null(const json *j) { return j && j->kind == JSON_NULL; }
bool inspector_is_boolean(const json *j) { return kind_of(j) == JSON_TRUE || kind_of(j) == JSON_FALSE; }
bool inspector_is_true(const json *j) { return kind_of(j) == JSON_TRUE; }
bool inspector_is_integer(const json *j) { return kind_of(j) == JSON_INTEGER; }
bool inspector_is_number(const json *j) { return kind_of(j) == JSON_INTEGER || kind_of(j) == JSON_REAL; }
bool inspector_is_text(const json *j) { return kind_of(j) == JSON_TEXT; }
bool inspector_is_array(const json *j) { return kind_of(j) == JSON_ARRAY; }
bool inspector_is_object(const json *j) { return kind_of(j) == JSON_OBJECT; }

json *inspector_json_copy(const json *j)
{
    if (j == NULL) return NULL;
    if (j->kind == JSON_INTEGER) return inspector_integer(j->integer);
    if (j->kind == JSON_REAL) return inspector_real(j->real);
    if (j->kind == JSON_TEXT) return inspector_text_sized(j->text, j->size);
    json *copy = value_new(j->kind);
    for (size_t k = 0; k < inspector_json_size(j); k++) {
        if (j->kind == JSON_OBJECT) inspector_put(copy, j->members[k].name, inspector_json_copy(j->members[k].value));
        else inspector_append(copy, inspector_json_copy(j->members[k].value));
    }
    return copy;
}

bool inspector_json_equal(const json *a, const json *b)
{
    if (a == NULL || b == NULL || a->kind != b->kind || a->size != b->size) return a == b;
    if (a->kind == JSON_INTEGER) return a->integer == b->integer;
    if (a->kind == JSON_REAL) return a->real == b->real;
    if (a->kind == JSON_TEXT) return memcmp(a->text, b->text, a->size) == 0;
    for (size_t k = 0; k < inspector_json_size(a); k++) {
        const json *other = a->kind == JSON_OBJECT ? inspector_member(b, a->members[k].name) : b->members[k].value;
        if (!inspector_json_equal(a->members[k].value, other)) return false;
    }
    return true;
}

/* ---- to bytes ---- */

typedef struct json_bytes {
    char *at;
    size_t size, room;
    bool failed;
} json_bytes;

static void bytes_add(json_bytes *b, const char *bytes, size_t size)
{
    if (size > b->room - b->size) {
        const size_t room = (b->size + size) * 2;
        char *more = b->failed ? NULL : realloc(b->at, room);
        b->failed = more == NULL;
        if (b->failed) return;
        b->at = more;
        b->room = room;
    }
    memcpy(b->at + b->size, bytes, size);
    b->size += size;
}

static void text_write(json_bytes *b, const char *text, size_t size)
{
    static const char letters[] = "\"\"\\\\\bb\ff\nn\rr\tt";
    bytes_add(b, "\"", 1);
    for (size_t k = 0; k < size;) {
        size_t plain = k;
        while (plain < size && (unsigned char)text[plain] >= 0x20 && text[plain] != '"' && text[plain] != '\\') plain++;
        bytes_add(b, text + k, plain - k);
        k = plain;
        if (k == size) break;
        char code[8] = {'\\'};
        int n = 0;
        for (size_t l = 0; letters[l] && n == 0; l += 2)
            if (letters[l] == text[k]) code[1] = letters[l + 1], n = 2;
        if (n == 0) n = snprintf(code, sizeof code, "\\u%04x", (unsigned)(unsigned char)text[k]);
        bytes_add(b, code, (size_t)n);
        k++;
    }
    bytes_add(b, "\"", 1);
}

static void value_write(json_bytes *b, const json *j)
{
    static const char *const words[] = {"null", "false", "true"};
    char number[PLAIN_NUMBER_MAX + 4];
    if (is_list(j)) {
        bytes_add(b, j->kind == JSON_OBJECT ? "{" : "[", 1);
        for (size_t k = 0; k < j->size; k++) {
            if (k) bytes_add(b, ",", 1);
            if (j->kind == JSON_OBJECT) {
                text_write(b, j->members[k].name, strlen(j->members[k].name));
                bytes_add(b, ":", 1);
            }
            value_write(b, j->members[k].value);
        }
        bytes_add(b, j->kind == JSON_OBJECT ? "}" : "]", 1);
    } else if (inspector_is_text(j)) {
        text_write(b, j->text, j->size);
    } else if (inspector_is_number(j)) {
        if (j->kind == JSON_INTEGER) (void)snprintf(number, sizeof number, "%" PRId64, j->integer);
        else plain_number_write(number, 17, j->real);
        if (j->kind == JSON_REAL && strpbrk(number, ".e") == NULL) strcat(number, ".0");
        bytes_add(b, number, strlen(number));
    } else {
        bytes_add(b, words[kind_of(j)], strlen(words[kind_of(j)]));
    }
}

char *inspector_json_text_of(const json *j, size_t *size)
{
    json_bytes b = {NULL, 0, 0, j == NULL};
    if (j) value_write(&b, j);
    bytes_add(&b, "", 1);
    *size = b.failed ? 0 : b.size - 1;
    if (b.failed) return free(b.at), NULL;
    return b.at;
}

/* ---- from bytes ---- */

typedef struct reading {
    const char *begin, *at, *end;
    unsigned depth;
    const char *wrong; /* NULL: nothing yet */
} reading;

static json *read_value(reading *r);

/* Notes the first thing that is wrong. */
static json *wrong(reading *r, const char *what, json *j)
{
    if (r->wrong == NULL) r->wrong = what;
    inspector_json_free(j);
    return NULL;
}

static void skip_space(reading *r)
{
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\n' || *r->at == '\r')) r->at++;
}

/* Takes a byte, if it is this one, behind spaces. */
static bool take(reading *r, char byte)
{
    skip_space(r);
    if (r->at == r->end || *r->at != byte) return false;
    r->at++;
    return true;
}

static bool read_hex(reading *r, uint32_t *code)
{
    *code = 0;
    if (r->end - r->at < 4) return false;
    for (int k = 0; k < 4; k++) {
        static const char digits[] = "0123456789abcdefABCDEF";
        const char *digit = *r->at ? strchr(digits, *r->at++) : NULL;
        if (digit == NULL) return false;
        const uint32_t value = (uint32_t)(digit - digits);
        *code = *code << 4 | (value < 16 ? value : value - 6);
    }
    return true;
}

/* Reads what stands behind a backslash, and writes it as UTF-8. Returns its length; 0: it is none. */
static size_t read_escape(reading *r, char *to)
{
    static const char letters[] = "\"\"\\\\//b\bf\fn\nr\rt\t";
    const char what = r->at < r->end ? *r->at++ : 0;
    uint32_t code, low;
    for (size_t k = 0; letters[k]; k += 2)
        if (letters[k] == what) return *to = letters[k + 1], 1;
    if (what != 'u' || !read_hex(r, &code) || (code >= 0xDC00 && code < 0xE000)) return 0;
    if (code >= 0xD800 && code < 0xDC00) {
        if (r->end - r->at < 6 || r->at[0] != '\\' || r->at[1] != 'u') return 0;
        r->at += 2;
        if (!read_hex(r, &low) || low < 0xDC00 || low > 0xDFFF) return 0;
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    }
    if (code < 0x80) return *to = (char)code, 1;
    const size_t n = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t k = n; k-- > 1; code >>= 6) to[k] = (char)(0x80 | (code & 0x3F));
    to[0] = (char)((0xF00u >> n & 0xFF) | code);
    return n;
}

/* Reads a text behind its first quotation mark. */
static json *read_text(reading *r)
{
    const char *begin = r->at;
    while (r->at < r->end && *r->at != '"') r->at += *r->at == '\\' && r->end - r->at > 1 ? 2 : 1;
    char *text = malloc((size_t)(r->at - begin) + 1), *to = text;
    json *j = text ? value_new(JSON_TEXT) : NULL;
    if (j == NULL) return free(text), wrong(r, "no memory", NULL);
    j->text = text;
    r->at = begin;
    while (r->at < r->end && *r->at != '"') {
        size_t n = utf8_length((const unsigned char *)r->at, (size_t)(r->end - r->at));
        if (n == 0) return wrong(r, "a text that is no UTF-8", j);
        if ((unsigned char)*r->at < 0x20) return wrong(r, "a control character in a text", j);
        if (*r->at == '\\') {
            r->at++;
            n = read_escape(r, to);
            if (n == 0) return wrong(r, "an escape that JSON doesn't have", j);
        } else {
            memcpy(to, r->at, n);
            r->at += n;
        }
        to += n;
    }
    if (r->at++ == r->end) return r->at--, wrong(r, "the text doesn't end", j);
    *to = 0;
    j->size = (size_t)(to - text);
    return j;
}

static const char *digits_end(const reading *r, const char *at)
{
    while (at < r->end && *at >= '0' && *at <= '9') at++;
    return at;
}

/* -? (0 | [1-9][0-9]*) (. [0-9]+)? ([eE] [+-]? [0-9]+)? */
static json *read_number(reading *r)
{
    char text[PLAIN_NUMBER_READ_MAX + 1];
    const char *begin = r->at, *at = begin + (*begin == '-'), *whole = at;
    at = digits_end(r, at);
    if (at == whole || (*whole == '0' && at - whole > 1)) return wrong(r, "this is no value", NULL);
    bool real = false;
    if (at < r->end && *at == '.') {
        const char *digits = ++at;
        at = digits_end(r, at);
        real = true;
        if (at == digits) return wrong(r, "a number without digits behind its point", NULL);
    }
    if (at < r->end && (*at == 'e' || *at == 'E')) {
        at++;
        if (at < r->end && (*at == '+' || *at == '-')) at++;
        const char *digits = at;
        at = digits_end(r, at);
        real = true;
        if (at == digits) return wrong(r, "a number without an exponent", NULL);
    }
    const size_t size = (size_t)(at - begin);
    if (size > PLAIN_NUMBER_READ_MAX) return wrong(r, "a number of too many digits", NULL);
    memcpy(text, begin, size);
    text[size] = 0;
    double number = 0;
    if (real && (!plain_number_read(text, &number) || !isfinite(number))) return wrong(r, "too large a number", NULL);
    uint64_t sum = 0;
    const uint64_t most = (uint64_t)INT64_MAX + (*begin == '-');
    for (const char *digit = whole; !real && digit < at; digit++) {
        const uint64_t value = (uint64_t)(*digit - '0');
        if (sum > (most - value) / 10) return wrong(r, "a whole number of more than 64 bits", NULL);
        sum = sum * 10 + value;
    }
    r->at = at;
    json *j = value_new(real ? JSON_REAL : JSON_INTEGER);
    if (j == NULL) return wrong(r, "no memory", NULL);
    j->real = number;
    j->integer = *begin == '-' ? (int64_t)(0 - sum) : (int64_t)sum;
    return j;
}

static json *read_array(reading *r)
{
    json *a = inspector_array();
    if (a == NULL) return wrong(r, "no memory", a);
    if (take(r, ']')) return a;
    do {
        json *value = read_value(r);
        if (value == NULL) return wrong(r, "no memory", a);
        const size_t before = a->size;
        inspector_append(a, value);
        if (a->size == before) return wrong(r, "no memory", a);
    } while (take(r, ','));
    if (!take(r, ']')) return wrong(r, "expected , or ]", a);
    return a;
}

static json *read_object(reading *r)
{
    json *o = inspector_object();
    if (o == NULL) return wrong(r, "no memory", o);
    if (take(r, '}')) return o;
    do {
        if (!take(r, '"')) return wrong(r, "expected the name of a member", o);
        json *name = read_text(r);
        if (name == NULL) return wrong(r, "no memory", o);
        const bool ends = strlen(name->text) < name->size, twice = inspector_member(o, name->text) != NULL;
        json *value = NULL;
        if (ends) (void)wrong(r, "a zero in the name of a member", NULL);
        else if (twice) (void)wrong(r, "a name comes twice", NULL);
        else if (!take(r, ':')) (void)wrong(r, "expected :", NULL);
        else value = read_value(r);
        const size_t before = o->size;
        if (value) inspector_put(o, name->text, value);
        inspector_json_free(name);
        if (o->size == before) return wrong(r, "no memory", o);
    } while (take(r, ','));
    if (!take(r, '}')) return wrong(r, "expected , or }", o);
    return o;
}

static bool take_word(reading *r, const char *word)
{
    const size_t size = strlen(word);
    if ((size_t)(r->end - r->at) < size || memcmp(r->at, word, size) != 0) return false;
    r->at += size;
    return true;
}

static json *read_value(reading *r)
{
    skip_space(r);
    if (r->at == r->end) return wrong(r, "it ends too early", NULL);
    if (take_word(r, "null")) return inspector_null();
    if (take_word(r, "true")) return inspector_boolean(true);
    if (take_word(r, "false")) return inspector_boolean(false);
    if (*r->at == '-' || (*r->at >= '0' && *r->at <= '9')) return read_number(r);
    if (take(r, '"')) return read_text(r);
    if (*r->at != '[' && *r->at != '{') return wrong(r, "this is no value", NULL);
    if (r->depth == 0) return wrong(r, "it is nested too deep", NULL);
    r->depth--;
    json *j = *r->at++ == '[' ? read_array(r) : read_object(r);
    r->depth++;
    return j;
}

json *inspector_json_read(const char *text, size_t size, unsigned depth, json_error *error)
{
    reading r = {text, text, text + size, depth, NULL};
    skip_space(&r);
    json *j = NULL;
    if (r.at == r.end || (*r.at != '[' && *r.at != '{')) (void)wrong(&r, "expected an object or an array", NULL);
    else j = read_value(&r);
    skip_space(&r);
    if (j && r.at < r.end) j = wrong(&r, "something follows behind the end", j);
    *error = (json_error){r.wrong ? r.wrong : "no memory", (size_t)(r.at - text)};
    return j;
}
