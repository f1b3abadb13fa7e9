/* Reading the head of a request.
 *
 *   GET /api/entities?q=Place HTTP/1.1      method, path, query
 *   Host: 127.0.0.1:7272                    fields
 *   Authorization: Bearer ...
 *                                           an empty line
 *
 * What isn't of this form is refused: lines that end in a lone CR or LF, a zero, fields that go on in the next line, a
 * field of those below that comes twice. Whoever reads such a head in another way would see another request. */
#include "head.h"
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }

bool inspector_begins_with(const char *text, const char *word)
{
    for (; *word; text++, word++)
        if (lower(*text) != lower(*word)) return false;
    return true;
}

bool inspector_same_word(const char *a, const char *b) { return strlen(a) == strlen(b) && inspector_begins_with(a, b); }

size_t inspector_head_end(const char *text, size_t from, size_t size)
{
    for (size_t k = from < 3 ? 3 : from; k < size; k++)
        if (text[k] == '\n' && memcmp(text + k - 3, "\r\n\r\n", 4) == 0) return k + 1;
    return 0;
}

/* Ends the line with a zero. Returns the next one; NULL: it doesn't end in CR LF. */
static char *line_cut(char *line)
{
    char *end = line + strcspn(line, "\r\n");
    if (end[0] != '\r' || end[1] != '\n') return NULL;
    *end = 0;
    return end + 2;
}

/* Ends the text at a mark. Returns what is behind it; NULL: there is no such mark. */
static char *text_cut(char *text, char mark)
{
    char *at = strchr(text, mark);
    if (at == NULL) return NULL;
    *at = 0;
    return at + 1;
}

static bool is_printed(const char *text)
{
    for (; *text; text++)
        if (((unsigned char)*text < 32 && *text != '\t') || *text == 127) return false;
    return true;
}

static bool first_line_read(char *line, request_head *h)
{
    char *target = text_cut(line, ' '), *version = target ? text_cut(target, ' ') : NULL;
    if (version == NULL || line[0] < 'A' || line[0] > 'Z' || target[0] != '/') return false;
    if (strcmp(version, "HTTP/1.1") != 0 && strcmp(version, "HTTP/1.0") != 0) return false;
    char *query = text_cut(target, '?');
    h->method = line;
    h->path = target;
    h->query = query ? query : "";
    return is_printed(line) && is_printed(target) && is_printed(h->query);
}

/* Content-Length: digits, and not so many that they have no number. */
static bool length_read(request_head *h)
{
    const size_t digits = strspn(h->length_text, "0123456789");
    if (digits == 0 || digits > 18 || h->length_text[digits]) return false;
    h->length = 0;
    for (const char *p = h->length_text; *p; p++) h->length = h->length * 10 + (*p - '0');
    return true;
}

static bool field_read(char *line, request_head *h)
{
    static const struct {
        const char *name;
        size_t offset;
    } known[] = {{"Host", offsetof(request_head, host)},
                 {"Origin", offsetof(request_head, origin)},
                 {"Authorization", offsetof(request_head, authorization)},
                 {"Content-Type", offsetof(request_head, type)},
                 {"Content-Length", offsetof(request_head, length_text)},
                 {"Transfer-Encoding", offsetof(request_head, coding)},
                 {"Expect", offsetof(request_head, expect)}};
    char *value = text_cut(line, ':');
    if (value == NULL || line[0] == 0 || strpbrk(line, " \t")) return false;
    value += strspn(value, " \t");
    size_t size = strlen(value);
    while (size && (value[size - 1] == ' ' || value[size - 1] == '\t')) value[--size] = 0;
    if (!is_printed(line) || !is_printed(value)) return false;
    for (size_t k = 0; k < sizeof known / sizeof known[0]; k++) {
        if (!inspector_same_word(line, known[k].name)) continue;
        const char **to = (const char **)(void *)((char *)h + known[k].offset);
        if (*to) return false;
        *to = value;
        return to != &h->length_text || length_read(h);
    }
    return true;
}

bool inspector_head_read(char *text, size_t size, request_head *h)
{
    *h = (request_head){.length = -1};
    if (size < 4 || memchr(text, 0, size)) return false;
    text[size - 2] = 0; /* the empty line */
    char *next = line_cut(text);
    if (next == NULL || !first_line_read(text, h)) return false;
    for (char *line = next; *line; line = next) {
        next = line_cut(line);
        if (next == NULL || !field_read(line, h)) return false;
    }
    return true;
}

static int digit_of(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (lower(c) >= 'a' && lower(c) <= 'f') return lower(c) - 'a' + 10;
    return -1;
}

int inspector_head_parameter(const char *query, const char *name, char *text, size_t size)
{
    const size_t length = strlen(name);
    while (strncmp(query, name, length) != 0 || query[length] != '=') {
        query = strchr(query, '&');
        if (query == NULL) return -1;
        query++;
    }
    size_t n = 0;
    for (query += length + 1; *query && *query != '&'; query++) {
        if (n + 1 >= size) return -1;
        const int high = *query == '%' ? digit_of(query[1]) : -1, low = high >= 0 ? digit_of(query[2]) : -1;
        text[n++] = *query == '+' ? ' ' : *query;
        if (low < 0) continue;
        text[n - 1] = (char)(high * 16 + low);
        query += 2;
    }
    text[n] = 0;
    return (int)n;
}

/* ---- the head of an answer ---- */

const char inspector_security[] =
    "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self' data: blob:; connect-src 'self'; form-action 'none'; base-uri 'none'; "
    "frame-ancestors 'none'\r\n"
    "X-Content-Type-Options: nosniff\r\n"
    "X-Frame-Options: DENY\r\n"
    "Referrer-Policy: no-referrer\r\n"
    "Cross-Origin-Resource-Policy: same-origin\r\n"
    "Cross-Origin-Opener-Policy: same-origin\r\n"
    "Cache-Control: no-store\r\n"
    "Connection: close\r\n";

static const char *status_words(int status)
{
    static const struct {
        int status;
        const char *words;
    } known[] = {{200, "OK"},
                 {400, "Bad Request"},
                 {401, "Unauthorized"},
                 {403, "Forbidden"},
                 {404, "Not Found"},
                 {405, "Method Not Allowed"},
                 {409, "Conflict"},
                 {411, "Length Required"},
                 {413, "Content Too Large"},
                 {415, "Unsupported Media Type"},
                 {429, "Too Many Requests"},
                 {431, "Request Header Fields Too Large"},
                 {503, "Service Unavailable"}};
    for (size_t k = 0; k < sizeof known / sizeof known[0]; k++)
        if (known[k].status == status) return known[k].words;
    return "Error";
}

size_t inspector_answer_head(char *to, size_t room, int status, const char *type, size_t size, const char *more)
{
    const int n = snprintf(to, room, "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n%s%s\r\n", status,
                           status_words(status), type, size, inspector_security, more);
    return n > 0 && (size_t)n < room ? (size_t)n : 0;
}
