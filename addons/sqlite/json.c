/* Answers as JSON: reef_sql_json. The text is built in memory of SQLite, and handed over when all has gone well. */
#include "live.h"
#include "../shared/plain_number.h"
#include <math.h>
#include <string.h>

enum { ROWS_MAX = 1000, CALL_MS = 2000, CALL_BYTES = 64 << 20, ANSWER_MAX = 4 << 20, DOUBLE_BITS = 53 };

typedef struct answer {
    char *bytes;
    size_t size, room;
    bool failed; /* no memory */
    bool any;    /* a statement was begun */
    bool more;   /* rows of it are missing */
    uint32_t rows;
} answer;

static void put(answer *a, const char *bytes, size_t size)
{
    if (a->failed) return;
    if (a->size + size > a->room) {
        const size_t room = (a->size + size) * 2;
        char *larger = sqlite3_realloc64(a->bytes, room);
        a->failed = larger == NULL;
        if (a->failed) return;
        a->bytes = larger;
        a->room = room;
    }
    memcpy(a->bytes + a->size, bytes, size);
    a->size += size;
}

static void put_word(answer *a, const char *word) { put(a, word, strlen(word)); }

/* How many bytes the character at p has in UTF-8; 0: it is none. */
static size_t character_size(const unsigned char *p, size_t left)
{
    const size_t size = p[0] < 0x80 ? 1 : p[0] < 0xC2 ? 0 : p[0] < 0xE0 ? 2 : p[0] < 0xF0 ? 3 : p[0] < 0xF5 ? 4 : 0;
    if (size == 0 || size > left) return 0;
    for (size_t i = 1; i < size; i++)
        if ((p[i] & 0xC0) != 0x80) return 0;
    const bool bad = (p[0] == 0xE0 && p[1] < 0xA0) || (p[0] == 0xED && p[1] > 0x9F) || (p[0] == 0xF0 && p[1] < 0x90) ||
                     (p[0] == 0xF4 && p[1] > 0x8F);
    return bad ? 0 : size;
}

/* A string. Bytes that are no UTF-8 become U+FFFD. */
static void put_text(answer *a, const char *text, size_t size)
{
    const unsigned char *p = (const unsigned char *)text;
    char escaped[8];
    put_word(a, "\"");
    for (size_t i = 0, n; i < size && a->size <= ANSWER_MAX; i += n ? n : 1) {
        n = character_size(p + i, size - i);
        if (n == 0) put_word(a, "\xEF\xBF\xBD");
        else if (n > 1 || (p[i] >= 0x20 && p[i] != '"' && p[i] != '\\')) put(a, text + i, n);
        else {
            (void)snprintf(escaped, sizeof escaped, "\\u%04x", (unsigned)p[i]);
            put_word(a, escaped);
        }
    }
    put_word(a, "\"");
}

static void put_bytes(answer *a, const char *bytes, size_t size)
{
    char digits[3];
    put_word(a, "\"");
    for (size_t i = 0; i < size && a->size <= ANSWER_MAX; i++) {
        (void)snprintf(digits, sizeof digits, "%02x", (unsigned)(unsigned char)bytes[i]);
        put_word(a, digits);
    }
    put_word(a, "\"");
}

/* SQLite's text has 15 digits. Where they bring back another number, there are more, and always a point. */
static void put_real(answer *a, const reef_sql_value *v)
{
    char text[PLAIN_NUMBER_MAX];
    double back;
    if (plain_number_read(v->text, &back) && back == v->real) {
        put(a, v->text, v->size);
        return;
    }
    plain_number_write(text, 16, v->real);
    if (!plain_number_read(text, &back) || back != v->real) plain_number_write(text, 17, v->real);
    put_word(a, text);
    if (strpbrk(text, ".e") == NULL) put_word(a, ".0");
}

static void put_value(answer *a, const reef_sql_value *v)
{
    const int64_t exact = INT64_C(1) << DOUBLE_BITS;
    const bool whole = v->kind == REEF_SQL_INTEGER && v->integer >= -exact && v->integer <= exact;
    if (v->kind == REEF_SQL_NULL) put_word(a, "null");
    else if (v->kind == REEF_SQL_BLOB) put_bytes(a, v->text, v->size);
    else if (v->kind == REEF_SQL_REAL && isfinite(v->real)) put_real(a, v);
    else if (whole) put(a, v->text, v->size);
    else put_text(a, v->text, v->size);
}

/* A row that doesn't fit any more is left out. */
static bool row_put(void *context, uint32_t count, const reef_sql_value *values)
{
    answer *a = context;
    const size_t before = a->size;
    a->more = a->rows == ROWS_MAX || a->size >= ANSWER_MAX;
    if (a->more) return false;
    put_word(a, a->rows ? ",[" : "[");
    for (uint32_t i = 0; i < count && a->size <= ANSWER_MAX; i++) {
        if (i) put_word(a, ",");
        put_value(a, &values[i]);
    }
    put_word(a, "]");
    a->more = a->size > ANSWER_MAX;
    if (a->more) a->size = before;
    else a->rows++;
    return !a->more;
}

static void statement_begins(void *context, sqlite3_stmt *st)
{
    answer *a = context;
    put_word(a, a->any ? ",{\"columns\":[" : "{\"columns\":[");
    for (int i = 0; i < sqlite3_column_count(st); i++) {
        const char *name = sqlite3_column_name(st, i);
        if (i) put_word(a, ",");
        if (name) put_text(a, name, strlen(name));
        else a->failed = true;
    }
    put_word(a, "],\"rows\":[");
    a->any = true;
    a->more = false;
    a->rows = 0;
}

/* Makes room for the end of the array, too. False: no memory. */
static bool statement_ends(void *context, uint64_t changed)
{
    answer *a = context;
    char end[64];
    (void)snprintf(end, sizeof end, "],\"more\":%s,\"changed\":%llu}]", a->more ? "true" : "false",
                   (unsigned long long)changed);
    put_word(a, end);
    if (!a->failed) a->size--;
    return !a->failed;
}

reef_status reef_sql_json(reef_world *world, const char *statements, bool read_only, reef_writer to, char *reason)
{
    const reef_sql_desc desc = {.read_only = read_only, .confined = true, .ms = CALL_MS, .bytes = CALL_BYTES};
    reef_sql_session *s = NULL;
    answer a = {0};
    if (to.write == NULL) {
        if (reason) (void)snprintf(reason, REEF_SQLITE_REASON_MAX, "there is no function to write to");
        return REEF_BAD_ARGUMENT;
    }
    reef_status status = reef_sql_open(world, &desc, &s, reason);
    if (status == REEF_OK) {
        s->row_limits = true;
        s->begins = statement_begins;
        s->ends = statement_ends;
        put_word(&a, "[");
        status = reef_sql_run(s, statements, row_put, &a, reason);
        put_word(&a, "]");
    }
    reef_sql_close(s);
    if (status == REEF_OK && a.failed) status = REEF_NO_MEMORY;
    if (status == REEF_OK) status = to.write(to.context, a.bytes, a.size);
    if (status != REEF_OK && reason && reason[0] == 0)
        (void)snprintf(reason, REEF_SQLITE_REASON_MAX, "%s", reef_status_text(status));
    sqlite3_free(a.bytes);
    return status;
}
