/* What the parsers of texts share: they look at one token at a time, and the first failure ends them. */
#include "query/token.h"
#include "type/type.h"
#include "storage/known_types.h"
#include "reef/type.h"
#include "reef/type_info.h"
#include "reef/world.h"
#include <stdarg.h>
#include <stdio.h>

/* ---- tokens ---- */

/* The characters of type names, as in src/type/type.c. */
static bool token_letter(char c) { return is_word(c) || (c && strchr(".:<>*", c)); }

COLD token reef__token_scan(const char *at)
{
    while (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r') at++;
    token t = {TOKEN_SIGN, at, 1};
    const char *end = at + 1;
    if (*at == 0) {
        t.kind = TOKEN_END;
        end = at;
    } else if (token_letter(*at) || *at == '#') {
        t.kind = *at == '#' ? TOKEN_HANDLE : TOKEN_NAME;
        while (token_letter(*end)) end++;
    } else if (*at == '"') {
        t.kind = TOKEN_QUOTED; /* up to its closing quote, or to the end if there is none */
        for (; *end && *end != '"'; end++)
            if (*end == '\\' && end[1]) end++;
        end += *end == '"';
    }
    t.length = (size_t)(end - at);
    return t;
}

void reef__token_next(parser *p) { p->token = reef__token_scan(p->token.start + p->token.length); }

bool reef__token_is(token t, const char *text)
{
    return t.kind == TOKEN_NAME && t.length == strlen(text) && memcmp(t.start, text, t.length) == 0;
}

COLD bool reef__number_read(const char **at, uint32_t *number)
{
    const char *first = *at;
    uint64_t n = 0;
    for (; **at >= '0' && **at <= '9'; ++*at) {
        n = n * 10 + (uint64_t)(**at - '0');
        if (n > UINT32_MAX) return false;
    }
    *number = (uint32_t)n;
    return *at != first;
}

/* ---- messages ---- */

static bool byte_continues(char c) { return ((unsigned char)c & 0xC0) == 0x80; }

/* How much of a text fits `room` bytes without cutting a character of UTF-8. (If four bytes continue a character, the
 * text isn't UTF-8.) */
static COLD size_t text_fits(const char *text, size_t length, size_t room)
{
    if (length <= room) return length;
    size_t n = room;
    while (n > 0 && room - n < 3 && byte_continues(text[n])) n--;
    return byte_continues(text[n]) ? room : n;
}

COLD shown reef__show(const char *text, size_t length)
{
    shown s;
    size_t n = text_fits(text, length, SHOWN_MAX);
    for (size_t i = 0; i < n; i++) s.text[i] = (unsigned char)text[i] < 32 || text[i] == 127 ? '?' : text[i];
    strcpy(s.text + n, n < length ? "..." : "");
    return s;
}

COLD shown reef__show_token(token t)
{
    shown s;
    char c = *t.start;
    if (t.kind == TOKEN_END) return reef__show("the end", 7);
    if (t.kind != TOKEN_SIGN) return reef__show(t.start, t.length);
    if (c < 32 || c == 127) snprintf(s.text, sizeof s.text, "the byte 0x%02X", (unsigned)(unsigned char)c);
    else snprintf(s.text, sizeof s.text, "'%c'", c);
    return s;
}

COLD bool reef__parse_refuse(parser *p, reef_status status, const char *at, const char *format, ...)
{
    char message[2 * REEF_DETAIL_MAX];
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    ASSERT(n > 0 && n < REEF_DETAIL_MAX);
    p->status = status;
    p->at = (uint32_t)(at - p->text) + 1;
    if (p->size == 0 || n < 0) return false;
    size_t length = text_fits(message, (size_t)n, p->size - 1);
    memcpy(p->detail, message, length);
    p->detail[length] = 0;
    return false;
}

COLD bool reef__parse_expected(parser *p, const char *what)
{
    bool quoted = p->token.kind == TOKEN_NAME || p->token.kind == TOKEN_HANDLE;
    return reef__parse_refuse(p, REEF_BAD_TEXT, p->token.start,
                              quoted ? "expected %s, found '%s'" : "expected %s, found %s", what,
                              reef__show_token(p->token).text);
}

/* ---- similar names ----
 * The distance of two names is the number of edits: a letter changed, left out, inserted, or two exchanged. Upper and
 * lower case only make a difference between names at the same distance. After that the first by name is taken, so that
 * nothing depends on the order in which types or names were made. */

enum { EDITS_MAX = 3 };

static uint32_t edit_least(uint32_t a, uint32_t b) { return a < b ? a : b; }
static char letter_small(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }
static bool letter_same(char a, char b, bool fold) { return a == b || (fold && letter_small(a) == letter_small(b)); }

/* The edits from a to b; limit + 1 if there are more. Only cells near the diagonal are computed: a cell more than
 * `limit` away from it needs more than `limit` edits. */
static COLD uint32_t edits_between(const char *a, uint32_t m, const char *b, uint32_t n, uint32_t limit, bool fold)
{
    uint32_t rows[3][REEF_TYPE_NAME_MAX + 1], far = limit + 1;
    if (m > n + limit || n > m + limit) return far;
    for (uint32_t j = 0; j <= n && j <= limit + 1; j++) rows[0][j] = j;
    for (uint32_t i = 1; i <= m; i++) {
        uint32_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *second = rows[(i + 1) % 3], best = i;
        uint32_t low = i > limit ? i - limit : 1, high = edit_least(n, i + limit);
        row[low - 1] = i; /* right in the first column; elsewhere i is above the limit, as that cell is */
        for (uint32_t j = low; j <= high; j++) {
            uint32_t d = above[j - 1] + !letter_same(a[i - 1], b[j - 1], fold);
            d = edit_least(d, edit_least(above[j], row[j - 1]) + 1);
            bool crossed =
                i > 1 && j > 1 && letter_same(a[i - 1], b[j - 2], fold) && letter_same(a[i - 2], b[j - 1], fold);
            if (crossed) d = edit_least(d, second[j - 2] + 1);
            row[j] = d;
            best = edit_least(best, d);
        }
        if (high < n) row[high + 1] = far;
        if (best > limit) return far;
    }
    return edit_least(rows[m % 3][n], far);
}

COLD void reef__nearest_look(nearest *s, const char *name)
{
    uint32_t n = (uint32_t)strlen(name);
    uint32_t edits = edits_between(s->wanted, s->length, name, n, s->limit, true);
    if (edits > s->limit || (s->name && edits > s->edits)) return;
    uint32_t exact = edits_between(s->wanted, s->length, name, n, s->limit, false);
    bool nearer = s->name == NULL || edits < s->edits || exact < s->exact;
    if (!nearer && (exact > s->exact || strcmp(name, s->name) > 0)) return;
    s->name = name;
    s->edits = edits;
    s->exact = exact;
}

COLD nearest reef__nearest_begin(const char *name)
{
    uint32_t length = (uint32_t)strlen(name);
    return (nearest){.wanted = name, .length = length, .limit = edit_least(length / 3, EDITS_MAX)};
}

static COLD bool refuse_type(parser *p, const token *at, const char *name)
{
    nearest s = reef__nearest_begin(name);
    const type *t;
    for (uint32_t id = 1; (t = reef__type_of(id)) != NULL; id++)
        if (reef__world_knows(p->world, id)) reef__nearest_look(&s, t->name);
    const shown unknown = reef__show(name, strlen(name));
    if (p->word)
        return reef__parse_refuse(p, REEF_UNKNOWN_TYPE, at->start,
                                  "no type is named %s, and as a word it needs a type's name after it", unknown.text);
    if (s.name == NULL && !reef_entity_is_null(reef_find(p->world, name)))
        return reef__parse_refuse(p, REEF_UNKNOWN_TYPE, at->start,
                                  "no type is named %s, but an entity is: a target stands behind its relation, R(%s)",
                                  unknown.text, unknown.text);
    if (s.name == NULL) return reef__parse_refuse(p, REEF_UNKNOWN_TYPE, at->start, "no type is named %s", unknown.text);
    return reef__parse_refuse(p, REEF_UNKNOWN_TYPE, at->start, "no type is named %s; did you mean %s?", unknown.text,
                              reef__show(s.name, strlen(s.name)).text);
}

/* ---- names ---- */

COLD bool reef__parse_name(parser *p, char *name, size_t most)
{
    const char *at = p->token.start, *end = at + p->token.length;
    const bool quoted = p->token.kind == TOKEN_QUOTED;
    size_t n = 0;
    if (quoted) at++;
    for (; at < end && (!quoted || *at != '"'); at++) {
        if ((unsigned char)*at < 32 || *at == 127)
            return reef__parse_refuse(p, REEF_BAD_TEXT, at,
                                      "names can't contain control characters, found the byte 0x%02X", (unsigned)*at);
        if (quoted && *at == '\\' && *++at != '"' && *at != '\\')
            return reef__parse_refuse(p, REEF_BAD_TEXT, at, "expected \\\" or \\\\ after a backslash");
        if (n == most)
            return reef__parse_refuse(p, REEF_BAD_TEXT, p->token.start, "this name is longer than %u bytes",
                                      (unsigned)most);
        name[n++] = *at;
    }
    if (quoted && at == end)
        return reef__parse_refuse(p, REEF_BAD_TEXT, end, "expected the quote that ends the name, found the end");
    name[n] = 0;
    reef__token_next(p);
    return true;
}

COLD bool reef__parse_type(parser *p, reef_component *c)
{
    char name[REEF_TYPE_NAME_MAX + 1];
    const token at = p->token;
    if (!reef__parse_name(p, name, REEF_TYPE_NAME_MAX)) return false;
    *c = reef_type_find(name);
    if (c->id == 0) return refuse_type(p, &at, name);
    if (reef__world_knows(p->world, c->id)) return true;
    return reef__parse_refuse(p, REEF_UNKNOWN_TYPE, at.start, "this strict world doesn't know %s (reef_world_use)",
                              reef__show(name, strlen(name)).text);
}
