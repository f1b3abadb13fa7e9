/* Words of a statement, and what a WITH comes to. */
#include "sql_token.h"
#include <sqlite3.h>
#include <string.h>

enum { PARTS_OF_WITH = 50 }; /* that are looked at; more count as too many */

static bool letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' ||
           (unsigned char)c >= 128;
}

static const char *quoted_skip(const char *p)
{
    const char end = *p == '[' ? ']' : *p;
    for (p++; *p; p++) {
        if (*p != end) continue;
        if (end == ']' || p[1] != end) return p + 1;
        p++;
    }
    return p;
}

static const char *space_skip(const char *p)
{
    for (;;) {
        const char *comment_end = NULL;
        if (p[0] == '-' && p[1] == '-') comment_end = strchr(p, '\n');
        else if (p[0] == '/' && p[1] == '*') comment_end = strstr(p + 2, "*/");
        else if (*p && strchr(" \t\n\r\f", *p)) {
            p++;
            continue;
        } else return p;
        if (comment_end == NULL) return p + strlen(p);
        p = comment_end + (p[0] == '-' ? 1 : 2);
    }
}

sql_token reef__sql_token_next(const char **text)
{
    const char *p = space_skip(*text);
    sql_token t = {p, 0, letter(*p)};
    if (t.word)
        while (letter(*p)) p++;
    else if (*p == '\'' || *p == '"' || *p == '`' || *p == '[') p = quoted_skip(p);
    else if (*p) p++;
    t.size = (size_t)(p - t.at);
    *text = p;
    return t;
}

bool reef__sql_token_is(sql_token t, const char *word)
{
    return t.word && strlen(word) == t.size && sqlite3_strnicmp(t.at, word, (int)t.size) == 0;
}

bool reef__sql_token_names(sql_token t, const char *name)
{
    if (!t.word && t.size >= 2) {
        t.at++;
        t.size -= 2;
    }
    return strlen(name) == t.size && sqlite3_strnicmp(t.at, name, (int)t.size) == 0;
}

static bool same_name(sql_token a, sql_token b)
{
    char name[200];
    const size_t quotes = b.word ? 0 : 1;
    if (b.size < 2 * quotes + 1 || b.size - 2 * quotes >= sizeof name) return false;
    memcpy(name, b.at + quotes, b.size - 2 * quotes);
    name[b.size - 2 * quotes] = 0;
    return reef__sql_token_names(a, name);
}

static bool is(sql_token t, char c) { return t.size == 1 && *t.at == c; }

/* Is the token behind which `text` stands the name of a part: name [(columns)] AS [[NOT] MATERIALIZED] ( ? */
static bool part_begins(const char *text)
{
    sql_token t = reef__sql_token_next(&text);
    if (is(t, '(')) {
        while (t.size && !is(t, ')')) t = reef__sql_token_next(&text);
        t = reef__sql_token_next(&text);
    }
    if (!reef__sql_token_is(t, "as")) return false;
    t = reef__sql_token_next(&text);
    if (reef__sql_token_is(t, "not")) t = reef__sql_token_next(&text);
    if (reef__sql_token_is(t, "materialized")) t = reef__sql_token_next(&text);
    return is(t, '(');
}

/* The places that may name a part: behind FROM, JOIN, a comma or a parenthesis. A column with its table isn't one. */
static double places_of(const char *sql, sql_token name)
{
    double places = 0;
    sql_token before = {sql, 0, false};
    for (sql_token t = reef__sql_token_next(&sql); t.size && !is(t, ';'); t = reef__sql_token_next(&sql)) {
        const char *behind = sql;
        const bool place = is(before, ',') || is(before, '(') || reef__sql_token_is(before, "from") ||
                           reef__sql_token_is(before, "join") || reef__sql_token_is(before, "in");
        before = t;
        if (!place || !same_name(t, name) || part_begins(sql)) continue;
        if (is(reef__sql_token_next(&behind), '.')) continue;
        places++;
    }
    return places;
}

double reef__sql_copies(const char *sql)
{
    double copies = 1;
    int parts = 0;
    const char *text = sql;
    for (sql_token t = reef__sql_token_next(&text); t.size && !is(t, ';'); t = reef__sql_token_next(&text)) {
        if (is(t, '(') || is(t, ')') || !part_begins(text)) continue;
        if (++parts > PARTS_OF_WITH) return 1e300;
        const double places = places_of(sql, t);
        if (places > 1) copies *= places;
    }
    return copies;
}
