/* Aggregates over whole blocks: select sum(x), count(*) from Position.
 *
 * SQLite asks a table for one value at a time, which costs some 50 ns for each row. Where a statement does nothing in
 * its loop but hand values of one table to aggregates, it runs on a second connection. There a cursor hands out a run
 * of rows at once, as a pointer, and the aggregates (the same names, the same results) take runs. Whether a statement
 * is of this kind is seen in the program that SQLite has made of it: between VFilter and VNext stand only VColumn and
 * AggStep. Everything before and behind the loop is SQLite's own. */
#include "live.h"
#include <string.h>

/* ---- is the statement of this kind? ---- */

static bool opcode_allowed(const char *op, const char *p4)
{
    static const char *const functions[] = {"sum(1)", "total(1)", "avg(1)", "count(1)", "count(0)", "min(1)", "max(1)"};
    if (strcmp(op, "VColumn") == 0 || strcmp(op, "CollSeq") == 0) return true;
    if (strcmp(op, "AggStep") != 0) return false;
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
        if (p4 && strcmp(p4, functions[i]) == 0) return true;
    return false;
}

typedef struct looking {
    int filters, nexts, loops;
    bool inside, wrong;
    uint64_t columns; /* registers that a VColumn has filled, by their number modulo 64 */
} looking;

static void opcode_look(looking *l, sqlite3_stmt *s)
{
    const char *op = (const char *)sqlite3_column_text(s, 1), *p4 = (const char *)sqlite3_column_text(s, 5);
    if (op == NULL) l->wrong = true;
    else if (strcmp(op, "VFilter") == 0) {
        l->filters++;
        l->inside = true;
        l->columns = 0;
    } else if (strcmp(op, "VNext") == 0) {
        l->nexts++;
        l->inside = false;
    } else if (l->inside && !opcode_allowed(op, p4)) l->wrong = true;
    else if (l->inside && strcmp(op, "VColumn") == 0) l->columns |= UINT64_C(1) << sqlite3_column_int(s, 4) % 64;
    else if (l->inside && strcmp(op, "AggStep") == 0 && p4 && strcmp(p4, "count(0)") != 0 &&
             !(l->columns >> sqlite3_column_int(s, 3) % 64 & 1))
        l->wrong = true; /* the aggregate of something else than a column */
    else if (strcmp(op, "OpenRead") == 0 || strcmp(op, "Rewind") == 0 || strcmp(op, "InitCoroutine") == 0) l->loops++;
}

bool reef__sql_batch_possible(sqlite3 *db, const char *sql)
{
    static const char *const words[] = {"sum", "total", "avg", "count", "min", "max"};
    sqlite3_stmt *s = NULL;
    looking l = {0};
    bool named = false;
    for (const char *p = sql; *p && !named; p++)
        for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
            named |= sqlite3_strnicmp(p, words[i], (int)strlen(words[i])) == 0;
    char *text = named ? sqlite3_mprintf("EXPLAIN %s", sql) : NULL;
    if (text && sqlite3_prepare_v2(db, text, -1, &s, NULL) == SQLITE_OK)
        while (sqlite3_step(s) == SQLITE_ROW) opcode_look(&l, s);
    const bool good = sqlite3_finalize(s) == SQLITE_OK;
    sqlite3_free(text);
    return good && l.filters == 1 && l.nexts == 1 && !l.wrong && l.loops == 0;
}

/* ---- the aggregates ---- */

typedef struct total {
    double real;
    int64_t integer, count;
    bool reals, overflows, begun;
} total;

/* Adds a run. The order is that of the rows, so reals come to what they come to row by row. */
#define EACH_VALUE(T, statement) \
    for (uint32_t i = 0; i < b->count; i++) { \
        T v; \
        memcpy(&v, b->at + i * b->stride, sizeof v); \
        statement; \
    }
#define OF_KIND(integer_statement, real_statement) \
    switch (b->kind) { \
    case REEF_BOOL: EACH_VALUE(uint8_t, integer_statement) break; \
    case REEF_I8: EACH_VALUE(int8_t, integer_statement) break; \
    case REEF_U8: EACH_VALUE(uint8_t, integer_statement) break; \
    case REEF_I16: EACH_VALUE(int16_t, integer_statement) break; \
    case REEF_U16: EACH_VALUE(uint16_t, integer_statement) break; \
    case REEF_I32: EACH_VALUE(int32_t, integer_statement) break; \
    case REEF_U32: EACH_VALUE(uint32_t, integer_statement) break; \
    case REEF_I64: EACH_VALUE(int64_t, integer_statement) break; \
    case REEF_F32: EACH_VALUE(float, real_statement) break; \
    default: EACH_VALUE(double, real_statement) break; \
    }

static void integer_add(total *t, int64_t v)
{
    if (v > 0 ? t->integer > INT64_MAX - v : t->integer < INT64_MIN - v) t->overflows = true;
    else t->integer += v;
    t->real += (double)v;
    t->count++;
}

static void real_add(total *t, double v)
{
    if (v != v) return; /* not a number is NULL */
    t->real += v;
    t->count++;
}

static const live_batch *batch_in(sqlite3_context *context, sqlite3_value *value)
{
    const live_batch *b = sqlite3_value_pointer(value, LIVE_BATCH);
    if (b == NULL) sqlite3_result_error_code(context, SQLITE_MISMATCH);
    return b;
}

static void sum_step(sqlite3_context *context, int count, sqlite3_value **values)
{
    total *t = sqlite3_aggregate_context(context, sizeof *t);
    const live_batch *b = batch_in(context, values[0]);
    (void)count;
    if (t == NULL || b == NULL) return;
    t->reals = b->kind == REEF_F32 || b->kind == REEF_F64;
    total own = *t; /* the loop keeps it in registers */
    OF_KIND(integer_add(&own, (int64_t)v), real_add(&own, (double)v))
    *t = own;
}

static void sum_final(sqlite3_context *context)
{
    const total *t = sqlite3_aggregate_context(context, 0);
    if (t == NULL || t->count == 0) return;
    if (t->reals) sqlite3_result_double(context, t->real);
    else if (t->overflows) sqlite3_result_error(context, "integer overflow", -1);
    else sqlite3_result_int64(context, t->integer);
}

static void total_final(sqlite3_context *context)
{
    const total *t = sqlite3_aggregate_context(context, 0);
    sqlite3_result_double(context, t ? t->real : 0.0);
}

static void avg_final(sqlite3_context *context)
{
    const total *t = sqlite3_aggregate_context(context, 0);
    if (t && t->count) sqlite3_result_double(context, t->real / (double)t->count);
}

static void count_step(sqlite3_context *context, int count, sqlite3_value **values)
{
    total *t = sqlite3_aggregate_context(context, sizeof *t);
    const reef_sql_session *s = sqlite3_user_data(context);
    if (t == NULL) return;
    if (count == 0) {
        t->count += (int64_t)s->batch_rows;
        return;
    }
    const live_batch *b = batch_in(context, values[0]);
    if (b == NULL) return;
    int64_t numbers = 0;
    OF_KIND(numbers += (int64_t)sizeof v != 0, numbers += v == v)
    t->count += numbers;
}

static void count_final(sqlite3_context *context)
{
    const total *t = sqlite3_aggregate_context(context, 0);
    sqlite3_result_int64(context, t ? t->count : 0);
}

static void integer_bound(total *t, bool greatest, int64_t v)
{
    if (!t->begun || (greatest ? v > t->integer : v < t->integer)) t->integer = v;
    t->begun = true;
}

static void real_bound(total *t, bool greatest, double v)
{
    if (v != v) return;
    if (!t->begun || (greatest ? v > t->real : v < t->real)) t->real = v;
    t->begun = true;
}

static void bound_step(sqlite3_context *context, bool greatest, sqlite3_value **values)
{
    total *t = sqlite3_aggregate_context(context, sizeof *t);
    const live_batch *b = batch_in(context, values[0]);
    if (t == NULL || b == NULL) return;
    t->reals = b->kind == REEF_F32 || b->kind == REEF_F64;
    total own = *t;
    OF_KIND(integer_bound(&own, greatest, (int64_t)v), real_bound(&own, greatest, (double)v))
    *t = own;
}

static void min_step(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    bound_step(context, false, values);
}
static void max_step(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    bound_step(context, true, values);
}

static void bound_final(sqlite3_context *context)
{
    const total *t = sqlite3_aggregate_context(context, 0);
    if (t == NULL || !t->begun) return;
    if (t->reals) sqlite3_result_double(context, t->real);
    else sqlite3_result_int64(context, t->integer);
}

int reef__sql_batch_functions(reef_sql_session *s, sqlite3 *db)
{
    static const struct {
        const char *name;
        int count;
        void (*step)(sqlite3_context *, int, sqlite3_value **);
        void (*final)(sqlite3_context *);
    } functions[] = {{"sum", 1, sum_step, sum_final},       {"total", 1, sum_step, total_final},
                     {"avg", 1, sum_step, avg_final},       {"count", 0, count_step, count_final},
                     {"count", 1, count_step, count_final}, {"min", 1, min_step, bound_final},
                     {"max", 1, max_step, bound_final}};
    int code = SQLITE_OK;
    for (size_t i = 0; i < sizeof functions / sizeof functions[0] && code == SQLITE_OK; i++)
        code = sqlite3_create_function(db, functions[i].name, functions[i].count, SQLITE_UTF8, s, NULL,
                                       functions[i].step, functions[i].final);
    return code;
}
