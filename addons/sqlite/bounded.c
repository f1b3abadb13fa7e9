/* The functions that a confined session may call.
 *
 * SQLite comes by to see whether a statement has had its time only between the steps of its virtual machine, and a call
 * of a function is one step. Most functions take as long as their arguments, which have TEXT_MAX bytes at most. Some
 * take the product of two lengths, as long as a format asks for, or a level of the stack for each step of a path. These
 * are replaced: the replacement looks at the lengths, and then calls SQLite's own function, on a connection of its own.
 * A function that isn't in the list can't be called, so a later version of SQLite brings none in that nobody has looked
 * at. */
#include "live.h"
#include <stdlib.h>
#include <string.h>

enum {
    TEXT_MAX = 1000000,
    SQL_MAX = 100000,
    DEPTH_MAX = 100,
    PATTERN_MAX = 100,
    PARTS_MAX = 50,
    ARGUMENTS_MAX = 32,
    PRODUCT_MAX = 10000000, /* of two lengths: each step compares a few bytes */
    PATCH_MAX = 100000000,  /* a step for each pair of members, which have five bytes or more */
    FORMAT_MAX = 10000,     /* bytes of a format */
    DIGITS_MAX = 100000,    /* all widths and precisions of a format */
    PATH_MAX_BYTES = 1000,
    JSON = 'J' /* the subtype of a value in JSON */
};

void reef__sql_lengths(sqlite3 *db)
{
    (void)sqlite3_limit(db, SQLITE_LIMIT_LENGTH, TEXT_MAX);
    (void)sqlite3_limit(db, SQLITE_LIMIT_SQL_LENGTH, SQL_MAX);
    (void)sqlite3_limit(db, SQLITE_LIMIT_EXPR_DEPTH, DEPTH_MAX);
    (void)sqlite3_limit(db, SQLITE_LIMIT_COMPOUND_SELECT, PARTS_MAX);
    (void)sqlite3_limit(db, SQLITE_LIMIT_FUNCTION_ARG, ARGUMENTS_MAX);
    (void)sqlite3_limit(db, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, PATTERN_MAX);
    (void)sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
}

/* Functions whose time grows with the length of their arguments, or not at all. */
static const char *const plain_functions[] = {"->",
                                              "->>",
                                              "abs",
                                              "acos",
                                              "acosh",
                                              "asin",
                                              "asinh",
                                              "atan",
                                              "atan2",
                                              "atanh",
                                              "avg",
                                              "ceil",
                                              "ceiling",
                                              "changes",
                                              "char",
                                              "coalesce",
                                              "concat",
                                              "concat_ws",
                                              "cos",
                                              "cosh",
                                              "count",
                                              "cume_dist",
                                              "current_date",
                                              "current_time",
                                              "current_timestamp",
                                              "date",
                                              "datetime",
                                              "degrees",
                                              "dense_rank",
                                              "exp",
                                              "first_value",
                                              "floor",
                                              "group_concat",
                                              "hex",
                                              "if",
                                              "ifnull",
                                              "iif",
                                              "json",
                                              "json_array",
                                              "json_array_length",
                                              "json_error_position",
                                              "json_extract",
                                              "json_group_array",
                                              "json_group_object",
                                              "json_object",
                                              "json_quote",
                                              "json_remove",
                                              "json_replace",
                                              "json_type",
                                              "json_valid",
                                              "julianday",
                                              "lag",
                                              "last_insert_rowid",
                                              "last_value",
                                              "lead",
                                              "length",
                                              "likelihood",
                                              "likely",
                                              "ln",
                                              "log",
                                              "log10",
                                              "log2",
                                              "lower",
                                              "max",
                                              "min",
                                              "mod",
                                              "nth_value",
                                              "ntile",
                                              "nullif",
                                              "octet_length",
                                              "percent_rank",
                                              "pi",
                                              "pow",
                                              "power",
                                              "quote",
                                              "radians",
                                              "random",
                                              "randomblob",
                                              "rank",
                                              "reef_id",
                                              "reef_name",
                                              "round",
                                              "row_number",
                                              "sign",
                                              "sin",
                                              "sinh",
                                              "sqlite_source_id",
                                              "sqlite_version",
                                              "sqrt",
                                              "string_agg",
                                              "substr",
                                              "substring",
                                              "sum",
                                              "tan",
                                              "tanh",
                                              "time",
                                              "timediff",
                                              "total",
                                              "total_changes",
                                              "trunc",
                                              "typeof",
                                              "unhex",
                                              "unicode",
                                              "unixepoch",
                                              "unlikely",
                                              "upper",
                                              "zeroblob"};

typedef enum bound_rule { RULE_PRODUCT, RULE_FORMAT, RULE_TIME, RULE_PATCH, RULE_PATHS } bound_rule;

static const struct {
    const char *name;
    int count; /* of arguments; -1: any number */
    bound_rule rule;
} bounded_functions[] = {{"instr", 2, RULE_PRODUCT},   {"replace", 3, RULE_PRODUCT},   {"trim", 2, RULE_PRODUCT},
                         {"ltrim", 2, RULE_PRODUCT},   {"rtrim", 2, RULE_PRODUCT},     {"trim", 1, RULE_PRODUCT},
                         {"ltrim", 1, RULE_PRODUCT},   {"rtrim", 1, RULE_PRODUCT},     {"like", 2, RULE_PRODUCT},
                         {"like", 3, RULE_PRODUCT},    {"glob", 2, RULE_PRODUCT},      {"printf", -1, RULE_FORMAT},
                         {"format", -1, RULE_FORMAT},  {"strftime", -1, RULE_TIME},    {"json_patch", 2, RULE_PATCH},
                         {"json_set", -1, RULE_PATHS}, {"json_insert", -1, RULE_PATHS}};
enum { BOUNDED = sizeof bounded_functions / sizeof bounded_functions[0] };

/* A function that is replaced, with the statement that calls SQLite's own. */
typedef struct bounded_call {
    reef_sql_session *session;
    uint32_t function;
    sqlite3_stmt *st;
    int count;       /* of arguments that it is for */
    uint32_t inside; /* which of them are JSON, which SQLite marks beside the value */
} bounded_call;

bool reef__sql_function_allowed(const char *name)
{
    for (size_t i = 0; i < sizeof plain_functions / sizeof plain_functions[0]; i++)
        if (sqlite3_stricmp(name, plain_functions[i]) == 0) return true;
    for (int i = 0; i < BOUNDED; i++)
        if (sqlite3_stricmp(name, bounded_functions[i].name) == 0) return true;
    return false;
}

/* ---- the rules ---- */

static uint64_t bytes_of(sqlite3_value *value) { return (uint64_t)sqlite3_value_bytes(value); }

/* All widths and precisions of a format; UINT64_MAX: one of them is an argument. */
static uint64_t format_digits(const char *p)
{
    uint64_t sum = 0;
    while ((p = strchr(p, '%')) != NULL) {
        for (p++; *p && strchr("-+ #0!,.*123456789", *p); p++) {
            char *end = NULL;
            if (*p == '*') return UINT64_MAX;
            if (*p < '1' || *p > '9') continue;
            const unsigned long n = strtoul(p, &end, 10);
            sum += n < DIGITS_MAX ? n : DIGITS_MAX + 1;
            p = end - 1;
        }
        if (*p) p++;
    }
    return sum;
}

/* NULL: these arguments may be handed on. */
static const char *refusal(bound_rule rule, int count, sqlite3_value **values)
{
    const uint64_t first = count ? bytes_of(values[0]) : 0, second = count > 1 ? bytes_of(values[1]) : 0;
    switch (rule) {
    case RULE_PRODUCT: return first * second > PRODUCT_MAX ? "the product of the lengths is over 10,000,000" : NULL;
    case RULE_PATCH: return (first + second) * second > PATCH_MAX ? "the texts are too long" : NULL;
    case RULE_TIME: return first > FORMAT_MAX ? "the format has more than 10,000 bytes" : NULL;
    case RULE_FORMAT: {
        const char *text = count ? (const char *)sqlite3_value_text(values[0]) : NULL;
        if (first > FORMAT_MAX) return "the format has more than 10,000 bytes";
        if (text && format_digits(text) > DIGITS_MAX) return "its widths and precisions are over 100,000, or a *";
        return NULL;
    }
    default:
        for (int i = 1; i < count; i += 2)
            if (bytes_of(values[i]) > PATH_MAX_BYTES) return "a path has more than 1,000 bytes";
        return NULL;
    }
}

/* ---- calling SQLite's own ---- */

static int call_prepare(bounded_call *c, int count, uint32_t inside)
{
    if (c->st && c->count == count && c->inside == inside) return SQLITE_OK;
    sqlite3_str *text = sqlite3_str_new(NULL);
    sqlite3_str_appendf(text, "SELECT %s(", bounded_functions[c->function].name);
    for (int i = 0; i < count; i++)
        sqlite3_str_appendf(text, inside >> i & 1 ? "%sjson(?%d)" : "%s?%d", i ? ", " : "", i + 1);
    sqlite3_str_appendall(text, ")");
    char *sql = sqlite3_str_finish(text);
    (void)sqlite3_finalize(c->st);
    c->st = NULL;
    c->count = count;
    c->inside = inside;
    const int code = sql ? sqlite3_prepare_v2(c->session->plain_db, sql, -1, &c->st, NULL) : SQLITE_NOMEM;
    sqlite3_free(sql);
    return code;
}

static void bounded_function(sqlite3_context *context, int count, sqlite3_value **values)
{
    bounded_call *c = sqlite3_user_data(context);
    const bound_rule rule = bounded_functions[c->function].rule;
    const char *why = refusal(rule, count, values);
    uint32_t inside = 0;
    if (why) {
        char *text = sqlite3_mprintf("%s: %s", bounded_functions[c->function].name, why);
        sqlite3_result_error(context, text ? text : why, -1);
        sqlite3_result_error_code(context, SQLITE_TOOBIG);
        sqlite3_free(text);
        return;
    }
    for (int i = 0; i < count && rule == RULE_PATHS; i++)
        if (sqlite3_value_subtype(values[i]) == JSON) inside |= UINT32_C(1) << i;
    int code = call_prepare(c, count, inside);
    for (int i = 0; i < count && code == SQLITE_OK; i++) code = sqlite3_bind_value(c->st, i + 1, values[i]);
    if (code == SQLITE_OK) code = sqlite3_step(c->st);
    if (code == SQLITE_ROW) {
        sqlite3_result_value(context, sqlite3_column_value(c->st, 0));
        if (rule == RULE_PATCH || rule == RULE_PATHS) sqlite3_result_subtype(context, JSON);
    } else if (code == SQLITE_NOMEM) sqlite3_result_error_nomem(context);
    else {
        sqlite3_result_error(context, sqlite3_errmsg(c->session->plain_db), -1);
        sqlite3_result_error_code(context, code);
    }
    (void)sqlite3_reset(c->st);
    if (c->st) (void)sqlite3_clear_bindings(c->st);
}

static void call_free(void *call)
{
    bounded_call *c = call;
    (void)sqlite3_finalize(c->st);
    sqlite3_free(c);
}

#ifdef SQLITE_RESULT_SUBTYPE
enum { FUNCTION_FLAGS = SQLITE_UTF8 | SQLITE_SUBTYPE | SQLITE_RESULT_SUBTYPE };
#else
enum { FUNCTION_FLAGS = SQLITE_UTF8 | SQLITE_SUBTYPE };
#endif

int reef__sql_bound(reef_sql_session *s, sqlite3 *db)
{
    int code = SQLITE_OK;
    if (s->plain_db == NULL)
        code = sqlite3_open_v2(":memory:", &s->plain_db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);
    if (code == SQLITE_OK) reef__sql_lengths(s->plain_db);
    for (uint32_t i = 0; i < BOUNDED && code == SQLITE_OK; i++) {
        bounded_call *c = reef__sql_zeroed(sizeof *c);
        if (c == NULL) return SQLITE_NOMEM;
        c->session = s;
        c->function = i;
        code = sqlite3_create_function_v2(db, bounded_functions[i].name, bounded_functions[i].count, FUNCTION_FLAGS, c,
                                          bounded_function, NULL, NULL, call_free);
    }
    return code;
}
