/* Types as tables, and values as cells. */
#include "table.h"
#include "../shared/plain_number.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void *reef__sql_zeroed(size_t bytes)
{
    void *p = sqlite3_malloc64(bytes ? bytes : 1);
    if (p) memset(p, 0, bytes ? bytes : 1);
    return p;
}

char *reef__sql_copy(const char *text) { return sqlite3_mprintf("%s", text); }

bool reef__sql_more(void *array, uint32_t count, uint32_t *room, size_t size)
{
    if (count < *room) return true;
    void *old, *more;
    memcpy(&old, array, sizeof old);
    const uint32_t wanted = *room ? *room * 2 : 16;
    more = sqlite3_realloc64(old, (sqlite3_uint64)wanted * size);
    if (more == NULL) return false;
    memcpy(array, &more, sizeof more);
    *room = wanted;
    return true;
}

/* ---- tables ---- */

bool reef__sql_type_shown(reef_component type)
{
    const char *name = reef_type_name(type), *dot = name ? strrchr(name, '.') : NULL;
    char whole[REEF_TYPE_NAME_MAX + 1];
    if (name == NULL || reef_type_find(name).id != type.id) return false; /* another layout has its name */
    /* "Position.x" is a column of a split type if Position has this part; names may have several dots */
    for (; dot; dot = NULL) {
        for (const char *p = name; (p = strchr(p, '.')) != NULL; p++) {
            memcpy(whole, name, (size_t)(p - name));
            whole[p - name] = 0;
            const reef_component owner = reef_type_find(whole);
            if (owner.id && reef_column_of(owner, p + 1).id == type.id) return false;
        }
    }
    return true;
}

/* What SQLite and this add-on keep for themselves, whatever stands behind it. */
static bool name_begins_reserved(const char *name)
{
    return sqlite3_strnicmp(name, "reef_", 5) == 0 || sqlite3_strnicmp(name, "sqlite_", 7) == 0 ||
           sqlite3_strnicmp(name, "pragma_", 7) == 0;
}

bool reef__sql_name_reserved(const char *name)
{
    static const char *const names[] = {"entities", "disabled", "singletons", "types", "fields"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (sqlite3_stricmp(name, names[i]) == 0) return true;
    return name_begins_reserved(name);
}

char *reef__sql_name_next(char *name) { return sqlite3_mprintf(name_begins_reserved(name) ? "_%z" : "%z_", name); }

/* Columns differ without regard to case, as SQLite wants: further underscores tell them apart. */
static char *column_name(const sql_table *t, uint32_t made, const char *field)
{
    char *name = sqlite3_mprintf("%s", field);
    for (bool free = false; name && !free;) {
        free = sqlite3_stricmp(name, "id") != 0 && sqlite3_stricmp(name, "number") != 0 &&
               sqlite3_stricmp(name, "query") != 0 && sqlite3_stricmp(name, "at") != 0;
        for (uint32_t i = 0; i < made && free; i++) free = sqlite3_stricmp(name, t->columns[i]) != 0;
        if (!free) name = sqlite3_mprintf("%z_", name);
    }
    return name;
}

bool reef__sql_table_init(sql_table *t, reef_component type, const char *name)
{
    *t = (sql_table){.type = type};
    if (!reef_type_get(type, &t->info)) return false;
    t->many = t->info.home == REEF_MULTI;
    t->relation = t->info.relation != 0;
    t->first = t->many ? 2 : 1;
    t->base = reef_subtypes(type, NULL, 0) != 0;
    t->name = reef__sql_copy(name ? name : t->info.name);
    uint32_t count = t->info.field_count;
    if (count > SQL_COLUMNS_MAX) count = SQL_COLUMNS_MAX;
    if (t->info.field_count == 0 && t->info.size) count = 1;
    t->columns = reef__sql_zeroed(count * sizeof *t->columns);
    bool good = t->name && t->columns;
    for (uint32_t i = 0; i < count && good; i++) {
        t->columns[i] = column_name(t, i, t->info.field_count ? t->info.fields[i].name : "value");
        good = t->columns[i] != NULL;
        t->count = i + 1;
    }
    if (!good) reef__sql_table_drop(t);
    return good;
}

void reef__sql_table_drop(sql_table *t)
{
    for (uint32_t i = 0; i < t->count; i++) sqlite3_free(t->columns[i]);
    sqlite3_free(t->columns);
    sqlite3_free(t->name);
    *t = (sql_table){0};
}

static const char *const kind_names[] = {"",    "bool", "i8",  "u8",  "i16", "u16",  "i32",
                                         "u32", "i64",  "u64", "f32", "f64", "char", "entity"};
static const uint8_t kind_sizes[] = {0, 1, 1, 1, 2, 2, 4, 4, 8, 8, 4, 8, 1, 8};

const char *reef__sql_kind_name(reef_kind kind) { return kind_names[kind]; }

static uint32_t elements_of(const reef_field *f) { return f->kind == REEF_CHAR ? 1 : f->bytes / kind_sizes[f->kind]; }

/* The smallest and largest integer of a kind; false for other kinds, and those whose range is SQLite's own. */
static bool integer_range(reef_kind kind, int64_t *lowest, int64_t *highest)
{
    const unsigned bits = kind_sizes[kind] * 8u;
    switch (kind) {
    case REEF_BOOL: *lowest = 0, *highest = 1; return true;
    case REEF_I8:
    case REEF_I16:
    case REEF_I32: *lowest = -(INT64_C(1) << (bits - 1)), *highest = (INT64_C(1) << (bits - 1)) - 1; return true;
    case REEF_U8:
    case REEF_U16:
    case REEF_U32: *lowest = 0, *highest = (INT64_C(1) << bits) - 1; return true;
    default: return false;
    }
}

static const char *column_type(const reef_field *f)
{
    if (f == NULL) return "BLOB";
    if (elements_of(f) != 1 || f->names) return "TEXT";
    switch (f->kind) {
    case REEF_F32:
    case REEF_F64: return "REAL";
    case REEF_CHAR: return "TEXT";
    case REEF_U64: return "ANY"; /* 2^63 and above is text */
    default: return "INTEGER";
    }
}

/* A comment must not end early. */
static void comment_put(sqlite3_str *s, const char *text)
{
    for (; *text; text++) sqlite3_str_appendchar(s, 1, *text == '*' || (unsigned char)*text < 32 ? ' ' : *text);
}

static void column_put(sqlite3_str *s, const sql_table *t, uint32_t i)
{
    const reef_field *f = t->info.field_count ? &t->info.fields[i] : NULL;
    int64_t lowest, highest;
    sqlite3_str_appendf(s, ",\n  \"%w\" %s", t->columns[i], column_type(f));
    if (f == NULL) {
        sqlite3_str_appendf(s, " CHECK (length(\"%w\") = %u)", t->columns[i], (unsigned)t->info.size);
        return;
    }
    const uint32_t n = elements_of(f);
    const bool ranged = n == 1 && f->names == NULL && f->kind < REEF_CHAR && f->lowest < f->highest;
    if (t->relation && i == 0) sqlite3_str_appendall(s, " REFERENCES entities(id)");
    if (ranged)
        sqlite3_str_appendf(s, " CHECK (\"%w\" BETWEEN %!.17g AND %!.17g)", t->columns[i], f->lowest, f->highest);
    else if (n == 1 && f->names == NULL && integer_range(f->kind, &lowest, &highest))
        sqlite3_str_appendf(s, " CHECK (\"%w\" BETWEEN %lld AND %lld)", t->columns[i], lowest, highest);
    else if (f->kind == REEF_CHAR)
        sqlite3_str_appendf(s, " CHECK (length(CAST(\"%w\" AS BLOB)) <= %u)", t->columns[i], (unsigned)f->bytes);
    sqlite3_str_appendf(s, " /* %s", kind_names[f->kind]);
    if (f->kind == REEF_CHAR || n != 1) sqlite3_str_appendf(s, "[%u]", (unsigned)(f->kind == REEF_CHAR ? f->bytes : n));
    if (f->unit || f->names) {
        sqlite3_str_appendall(s, ", ");
        comment_put(s, f->names ? f->names->name : f->unit);
    }
    sqlite3_str_appendall(s, " */");
}

char *reef__sql_table_create(const sql_table *t)
{
    sqlite3_str *s = sqlite3_str_new(NULL);
    sqlite3_str_appendf(s, "CREATE TABLE \"%w\" (\n  id INTEGER %sREFERENCES entities(id) ON DELETE CASCADE", t->name,
                        t->many ? "" : "PRIMARY KEY ");
    if (t->many) sqlite3_str_appendall(s, ",\n  number INTEGER");
    for (uint32_t i = 0; i < t->count; i++) column_put(s, t, i);
    sqlite3_str_appendall(s, t->many ? ",\n  PRIMARY KEY (id, number)\n) STRICT, WITHOUT ROWID" : "\n) STRICT");
    return sqlite3_str_finish(s);
}

const char *reef__sql_column_declare(const reef_field *f)
{
    const char *type = column_type(f);
    return strcmp(type, "ANY") == 0 ? "COLLATE " SQL_DIGITS : type;
}

char *reef__sql_table_declare(const sql_table *t, const char *hidden)
{
    sqlite3_str *s = sqlite3_str_new(NULL);
    sqlite3_str_appendf(s, "CREATE TABLE x(id INTEGER%s", t->many ? ", number INTEGER" : "");
    for (uint32_t i = 0; i < t->count; i++) {
        const reef_field *f = t->info.field_count ? &t->info.fields[i] : NULL;
        sqlite3_str_appendf(s, ", \"%w\" %s", t->columns[i], reef__sql_column_declare(f));
    }
    sqlite3_str_appendf(s, "%s)", hidden);
    return sqlite3_str_finish(s);
}

/* ---- values of an entity ---- */

/* A base is asked for by visiting all components, since other calls take a subtype for it. */
typedef struct visit_one {
    reef_component type;
    const void *data;
    uint32_t wanted, count;
    void *room;
} visit_one;

static bool visit_one_step(void *context, reef_entity e, reef_component type, const void *data, size_t size)
{
    visit_one *v = context;
    (void)e;
    if (type.id != v->type.id) return true;
    if (v->count == v->wanted && data) v->data = v->room ? memcpy(v->room, data, size) : data;
    v->count++;
    return true;
}

const void *reef__sql_value(const reef_world *w, const sql_table *t, reef_entity e, uint32_t number, void *room)
{
    uint32_t n = 0;
    if (t->info.size == 0) return NULL;
    if (t->base) {
        visit_one v = {t->type, NULL, number, 0, room};
        (void)reef_visit_entity(w, e, visit_one_step, &v);
        return v.data;
    }
    if (t->info.home == REEF_SPLIT) return reef_read_id(w, e, t->type, room, t->info.size) ? room : NULL;
    if (!t->many) return number ? NULL : reef_get_id(w, e, t->type);
    const char *all = reef_get_all_id(w, e, t->type, &n);
    return all && number < n ? all + (size_t)number * t->info.size : NULL;
}

uint32_t reef__sql_count(const reef_world *w, const sql_table *t, reef_entity e)
{
    if (!t->base) return t->many ? reef_count_on_id(w, e, t->type) : reef_has_id(w, e, t->type);
    visit_one v = {t->type, NULL, UINT32_MAX, 0, NULL};
    (void)reef_visit_entity(w, e, visit_one_step, &v);
    return v.count;
}

/* ---- from a value to a cell ---- */

typedef enum cell_kind { CELL_NULL, CELL_INT, CELL_REAL, CELL_TEXT, CELL_BLOB } cell_kind;
typedef struct cell {
    cell_kind kind;
    sqlite3_int64 i;
    double r;
    const void *bytes; /* of a text or blob */
    size_t size;
    char *made; /* the text, where it was made for this cell; sqlite3_free */
    char digits[24];
} cell;

static void number_read(reef_kind kind, const void *at, cell *c)
{
    union {
        int8_t i8;
        uint8_t u8;
        int16_t i16;
        uint16_t u16;
        int32_t i32;
        uint32_t u32;
        int64_t i64;
        uint64_t u64;
        float f32;
        double f64;
        reef_entity entity;
    } v;
    memcpy(&v, at, kind_sizes[kind]);
    c->kind = CELL_INT;
    switch (kind) {
    case REEF_BOOL: c->i = v.u8 != 0; break;
    case REEF_I8: c->i = v.i8; break;
    case REEF_U8: c->i = v.u8; break;
    case REEF_I16: c->i = v.i16; break;
    case REEF_U16: c->i = v.u16; break;
    case REEF_I32: c->i = v.i32; break;
    case REEF_U32: c->i = v.u32; break;
    case REEF_I64: c->i = v.i64; break;
    case REEF_U64:
        c->i = (sqlite3_int64)v.u64;
        if (v.u64 <= INT64_MAX) break;
        c->kind = CELL_TEXT;
        c->size = (size_t)snprintf(c->digits, sizeof c->digits, "%" PRIu64, v.u64);
        c->bytes = c->digits;
        break;
    case REEF_F32:
    case REEF_F64:
        c->r = kind == REEF_F32 ? (double)v.f32 : v.f64;
        c->kind = isnan(c->r) ? CELL_NULL : CELL_REAL;
        break;
    case REEF_CHAR: c->kind = CELL_NULL; break;
    case REEF_ENTITY:
        c->i = sql_id(v.entity);
        if (v.entity.generation == 0) c->kind = CELL_NULL;
        break;
    }
}

/* Is the text of a value a name, or several? Else it is a number. */
static bool is_name(const char *text) { return text[0] != '-' && !(text[0] >= '0' && text[0] <= '9'); }

/* The value by its name. One without a name is the text of its number. */
static void named_read(const reef_field *f, const void *at, cell *c)
{
    cell number = {0};
    number_read(f->kind, at, &number);
    c->size = reef_names_write(f->names, number.i, NULL, 0);
    c->made = sqlite3_malloc64(c->size + 1);
    if (c->made) (void)reef_names_write(f->names, number.i, c->made, c->size + 1);
    c->kind = c->made ? CELL_TEXT : CELL_NULL;
    c->bytes = c->made;
}

/* An array is a text in JSON. Infinite numbers are written as 1e999, which every reader takes for infinite. */
static void array_read(const reef_field *f, const char *at, cell *c)
{
    const uint32_t n = elements_of(f);
    sqlite3_str *s = sqlite3_str_new(NULL);
    for (uint32_t i = 0; i < n; i++) {
        cell e = {0};
        const char *element = at + (size_t)i * kind_sizes[f->kind];
        if (f->names) named_read(f, element, &e);
        else number_read(f->kind, element, &e);
        sqlite3_str_appendchar(s, 1, i ? ',' : '[');
        if (e.made) sqlite3_str_appendf(s, is_name(e.made) ? "\"%s\"" : "%s", e.made);
        else if (e.kind == CELL_NULL) sqlite3_str_appendall(s, "null");
        else if (e.kind == CELL_TEXT) sqlite3_str_appendall(s, e.digits);
        else if (e.kind == CELL_INT) sqlite3_str_appendf(s, "%lld", e.i);
        else if (isinf(e.r)) sqlite3_str_appendall(s, e.r < 0 ? "-1e999" : "1e999");
        else {
            char digits[PLAIN_NUMBER_MAX];
            plain_number_write(digits, f->kind == REEF_F32 ? 9 : 17, e.r);
            sqlite3_str_appendall(s, digits);
        }
        sqlite3_free(e.made);
    }
    sqlite3_str_appendchar(s, 1, ']');
    c->size = (size_t)sqlite3_str_length(s);
    c->made = sqlite3_str_finish(s);
    c->kind = c->made ? CELL_TEXT : CELL_NULL;
    c->bytes = c->made;
}

static void cell_read(const reef_field *f, const void *value, size_t size, cell *c)
{
    c->made = NULL;
    if (f == NULL) {
        c->kind = CELL_BLOB;
        c->bytes = value;
        c->size = size;
        return;
    }
    const char *at = (const char *)value + f->offset;
    if (f->kind == REEF_CHAR) {
        const char *end = memchr(at, 0, f->bytes);
        c->kind = CELL_TEXT;
        c->bytes = at;
        c->size = end ? (size_t)(end - at) : f->bytes;
    } else if (elements_of(f) == 1 && f->names) named_read(f, at, c);
    else if (elements_of(f) == 1) number_read(f->kind, at, c);
    else array_read(f, at, c);
}

/* Are cells of this field texts that are made for them? Then a missing one means that there was no memory. */
static bool made_as_text(const reef_field *f) { return elements_of(f) != 1 || f->names; }

int reef__sql_bind(sqlite3_stmt *s, int at, const reef_field *field, const void *value, size_t size)
{
    cell c;
    if (value == NULL) return sqlite3_bind_null(s, at);
    cell_read(field, value, size, &c);
    switch (c.kind) {
    case CELL_NULL: return field && made_as_text(field) ? SQLITE_NOMEM : sqlite3_bind_null(s, at);
    case CELL_INT: return sqlite3_bind_int64(s, at, c.i);
    case CELL_REAL: return sqlite3_bind_double(s, at, c.r);
    case CELL_TEXT:
        return sqlite3_bind_text64(s, at, c.bytes, c.size, c.made ? sqlite3_free : SQLITE_TRANSIENT, SQLITE_UTF8);
    default: return sqlite3_bind_blob64(s, at, c.bytes, c.size, SQLITE_STATIC);
    }
}

void reef__sql_result(sqlite3_context *context, const reef_field *field, const void *value, size_t size)
{
    cell c;
    cell_read(field, value, size, &c);
    switch (c.kind) {
    case CELL_NULL:
        if (field && made_as_text(field)) sqlite3_result_error_nomem(context);
        else sqlite3_result_null(context);
        break;
    case CELL_INT: sqlite3_result_int64(context, c.i); break;
    case CELL_REAL: sqlite3_result_double(context, c.r); break;
    case CELL_TEXT:
        sqlite3_result_text64(context, c.bytes, c.size, c.made ? sqlite3_free : SQLITE_TRANSIENT, SQLITE_UTF8);
        break;
    case CELL_BLOB: sqlite3_result_blob64(context, c.bytes, c.size, SQLITE_TRANSIENT); break;
    }
}

cell_same reef__sql_same(sqlite3_value *cell_is, const reef_field *field, const void *value, size_t size)
{
    cell c;
    bool same = false;
    cell_read(field, value, size, &c);
    switch (c.kind) {
    case CELL_NULL:
        if (field && made_as_text(field)) return CELL_NO_MEMORY;
        same = sqlite3_value_type(cell_is) == SQLITE_NULL;
        break;
    case CELL_INT: same = sqlite3_value_type(cell_is) == SQLITE_INTEGER && sqlite3_value_int64(cell_is) == c.i; break;
    case CELL_REAL: {
        const int type = sqlite3_value_type(cell_is);
        const double is = sqlite3_value_double(cell_is);
        same = (type == SQLITE_FLOAT || type == SQLITE_INTEGER) && !(is < c.r) && !(is > c.r);
        break;
    }
    case CELL_TEXT:
    case CELL_BLOB: {
        const bool blob = c.kind == CELL_BLOB;
        const void *bytes = NULL;
        if (sqlite3_value_type(cell_is) == (blob ? SQLITE_BLOB : SQLITE_TEXT))
            bytes = blob ? sqlite3_value_blob(cell_is) : (const void *)sqlite3_value_text(cell_is);
        same = (bytes || c.size == 0) && (size_t)sqlite3_value_bytes(cell_is) == c.size &&
               (c.size == 0 || memcmp(bytes, c.bytes, c.size) == 0);
        break;
    }
    }
    sqlite3_free(c.made);
    return same ? CELL_SAME : CELL_DIFFERS;
}

/* ---- from a cell to a value ---- */

static bool refuse(char *reason, const reef_field *f, const char *what)
{
    (void)snprintf(reason, SQL_REASON_MAX, "%s %s", f ? f->name : "value", what);
    return false;
}

static bool integer_take(const reef_field *f, int64_t i, void *to, char *reason)
{
    int64_t lowest, highest;
    char what[96];
    if (integer_range(f->kind, &lowest, &highest) && (i < lowest || i > highest)) {
        (void)snprintf(what, sizeof what, "is %s: %" PRId64 " ... %" PRId64, kind_names[f->kind], lowest, highest);
        return refuse(reason, f, what);
    }
    switch (f->kind) {
    case REEF_BOOL:
    case REEF_I8:
    case REEF_U8: memcpy(to, &(const uint8_t){(uint8_t)i}, 1); break;
    case REEF_I16:
    case REEF_U16: memcpy(to, &(const uint16_t){(uint16_t)i}, 2); break;
    case REEF_I32:
    case REEF_U32: memcpy(to, &(const uint32_t){(uint32_t)i}, 4); break;
    default: memcpy(to, &i, 8); break;
    }
    return true;
}

static bool entity_take(const reef_world *w, const reef_field *f, int64_t id, void *to, char *reason)
{
    const reef_entity e = sql_entity(id);
    char what[64];
    (void)snprintf(what, sizeof what, "names no entity: there is no id %" PRId64, id);
    if (!reef_is_alive(w, e)) return refuse(reason, f, what);
    memcpy(to, &e, sizeof e);
    return true;
}

/* Takes an unsigned number of 64 bits from a text of digits. */
static bool digits_take(const reef_field *f, const char *text, void *to, char *reason)
{
    uint64_t u = 0;
    const char *p = text;
    for (; *p >= '0' && *p <= '9'; p++) {
        const unsigned digit = (unsigned)(*p - '0');
        if (u > (UINT64_MAX - digit) / 10) return refuse(reason, f, "is u64: 0 ... 18446744073709551615");
        u = u * 10 + digit;
    }
    if (p == text || *p) return refuse(reason, f, "is a number");
    memcpy(to, &u, 8);
    return true;
}

static bool real_take(const reef_field *f, double r, void *to, char *reason)
{
    if (f->kind == REEF_F32 && isfinite(r) && fabs(r) > PLAIN_SINGLE_MOST)
        return refuse(reason, f, "is f32: its largest number is 3.4028235e38");
    if (f->kind == REEF_F32) memcpy(to, &(const float){(float)r}, 4);
    else memcpy(to, &r, 8);
    return true;
}

static bool in_range(const reef_field *f, double r, char *reason)
{
    char what[192], lowest[PLAIN_NUMBER_MAX], highest[PLAIN_NUMBER_MAX];
    if (f->lowest >= f->highest || (r >= f->lowest && r <= f->highest)) return true;
    plain_number_write(lowest, 9, f->lowest);
    plain_number_write(highest, 9, f->highest);
    (void)snprintf(what, sizeof what, "has the range %s ... %s", lowest, highest);
    return refuse(reason, f, what);
}

/* One number: an integer, or a real. */
static bool number_take(const reef_world *w, const reef_field *f, bool whole, int64_t i, double r, void *to,
                        char *reason)
{
    if (f->kind == REEF_ENTITY)
        return whole ? entity_take(w, f, i, to, reason) : refuse(reason, f, "is the id of an entity");
    if (!in_range(f, whole ? (double)i : r, reason)) return false;
    if (f->kind == REEF_F32 || f->kind == REEF_F64) return real_take(f, whole ? (double)i : r, to, reason);
    if (!whole && !(r >= -9e15 && r <= 9e15 && floor(r) == r)) return refuse(reason, f, "is an integer");
    if (!whole) i = (int64_t)r;
    if (f->kind == REEF_U64 && i < 0) return refuse(reason, f, "is u64: 0 ... 18446744073709551615");
    return integer_take(f, i, to, reason);
}

static bool null_take(const reef_field *f, void *to, char *reason)
{
    static const reef_entity none;
    if (f->kind == REEF_ENTITY) memcpy(to, &none, sizeof none);
    else if (f->kind == REEF_F32 || f->kind == REEF_F64) return real_take(f, (double)NAN, to, reason);
    else return refuse(reason, f, "can't be NULL");
    return true;
}

/* A name, or several of a bit mask, or a number as a text. */
static bool named_take(const reef_field *f, const char *text, size_t length, void *to, char *reason)
{
    int64_t i = 0;
    char what[REEF_TYPE_NAME_MAX + 64];
    (void)snprintf(what, sizeof what, "is a name of %s, or a number", f->names->name);
    if (!reef_names_read(f->names, text, length, &i)) return refuse(reason, f, what);
    if (!in_range(f, (double)i, reason)) return false;
    return integer_take(f, i, to, reason);
}

static const char *spaces_skip(const char *p)
{
    while (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r') p++;
    return p;
}

/* An element of an array in JSON. NULL: the reason is set. */
static const char *element_take(const reef_world *w, const reef_field *f, const char *p, char *to, char *reason)
{
    static const char wrong[] = "is an array in JSON: [1, 2, 3]";
    if (f->names && *p == '"') {
        const size_t length = strcspn(p + 1, "\"");
        if (p[length + 1] == 0) return (void)refuse(reason, f, wrong), NULL;
        return named_take(f, p + 1, length, to, reason) ? p + length + 2 : NULL;
    }
    if (strncmp(p, "null", 4) == 0) return null_take(f, to, reason) ? p + 4 : NULL;
    const size_t word = strspn(p, "+-0123456789.eE");
    char digits[64];
    double r;
    if (word == 0 || word >= sizeof digits) return (void)refuse(reason, f, wrong), NULL;
    memcpy(digits, p, word);
    digits[word] = 0;
    const bool whole = strpbrk(digits, ".eE") == NULL;
    if (!plain_number_read(digits, &r)) return (void)refuse(reason, f, wrong), NULL;
    const bool good = whole && f->kind == REEF_U64
                          ? digits_take(f, digits, to, reason)
                          : number_take(w, f, whole && fabs(r) < 9e18, strtoll(digits, NULL, 10), r, to, reason);
    return good ? p + word : NULL;
}

static bool array_take(const reef_world *w, const reef_field *f, const char *text, char *to, char *reason)
{
    const uint32_t n = elements_of(f);
    char what[64];
    const char *p = spaces_skip(text);
    (void)snprintf(what, sizeof what, "is an array of %u in JSON: [1, 2, 3]", (unsigned)n);
    if (*p++ != '[') return refuse(reason, f, what);
    for (uint32_t i = 0; i < n; i++) {
        if (i && *(p = spaces_skip(p)) != ',') return refuse(reason, f, what);
        p = element_take(w, f, spaces_skip(i ? p + 1 : p), to + (size_t)i * kind_sizes[f->kind], reason);
        if (p == NULL) return false;
    }
    p = spaces_skip(p);
    return *p == ']' && *spaces_skip(p + 1) == 0 ? true : refuse(reason, f, what);
}

static bool text_take(const reef_field *f, const char *text, size_t size, char *to, char *reason)
{
    char what[64];
    (void)snprintf(what, sizeof what, "has room for %u bytes of text without zeros", (unsigned)f->bytes);
    if (size > f->bytes || memchr(text, 0, size)) return refuse(reason, f, what);
    memset(to, 0, f->bytes);
    memcpy(to, text, size);
    return true;
}

static reef_status no_memory(char *reason)
{
    (void)snprintf(reason, SQL_REASON_MAX, "no memory");
    return REEF_NO_MEMORY;
}

static reef_status array_or_nothing(const reef_world *w, const char *text, const reef_field *f, char *to, char *reason)
{
    char *aside = sqlite3_malloc64(f->bytes);
    if (aside == NULL) return no_memory(reason);
    const bool good = array_take(w, f, text, aside, reason);
    if (good) memcpy(to, aside, f->bytes);
    sqlite3_free(aside);
    return good ? REEF_OK : REEF_REFUSED;
}

static reef_status bytes_take(sqlite3_value *cell_is, void *value, size_t size, char *reason)
{
    char what[64];
    (void)snprintf(what, sizeof what, "is a blob of %zu bytes", size);
    if (sqlite3_value_type(cell_is) != SQLITE_BLOB || (size_t)sqlite3_value_bytes(cell_is) != size)
        return (void)refuse(reason, NULL, what), REEF_REFUSED;
    const void *bytes = sqlite3_value_blob(cell_is);
    if (bytes == NULL && size) return no_memory(reason);
    if (size) memcpy(value, bytes, size);
    return REEF_OK;
}

reef_status reef__sql_take(const reef_world *w, sqlite3_value *cell_is, const reef_field *f, void *value, size_t size,
                           char *reason)
{
    if (f == NULL) return bytes_take(cell_is, value, size, reason);
    const int type = sqlite3_value_type(cell_is);
    const bool array = f->kind != REEF_CHAR && elements_of(f) != 1;
    const bool word = f->kind == REEF_CHAR || array || (type == SQLITE_TEXT && (f->kind == REEF_U64 || f->names));
    const char *text = word && type != SQLITE_NULL ? (const char *)sqlite3_value_text(cell_is) : "";
    const size_t length = word && type != SQLITE_NULL ? (size_t)sqlite3_value_bytes(cell_is) : 0;
    if (text == NULL && length == 0 && type == SQLITE_BLOB) text = "";
    if (text == NULL) return no_memory(reason);
    char *to = (char *)value + f->offset;
    bool good;
    if (array) return array_or_nothing(w, text, f, to, reason);
    if (f->kind == REEF_CHAR && type != SQLITE_NULL) good = text_take(f, text, length, to, reason);
    else if (type == SQLITE_NULL) good = null_take(f, to, reason);
    else if (word && f->names) good = named_take(f, text, length, to, reason);
    else if (word) good = digits_take(f, text, to, reason);
    else if (type != SQLITE_INTEGER && type != SQLITE_FLOAT) good = refuse(reason, f, "is a number");
    else
        good = number_take(w, f, type == SQLITE_INTEGER, sqlite3_value_int64(cell_is), sqlite3_value_double(cell_is),
                           to, reason);
    return good ? REEF_OK : REEF_REFUSED;
}
