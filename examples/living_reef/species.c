/* Reads the table in one pass over the bytes, with a cursor that knows its line and column. Decimal numbers are read
 * into integers by hand, because the C library's functions depend on the locale. */
#include "species.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIELD_MAX = 1023, FILE_MAX = 1 << 20, COLUMNS = 10 };

static const char *const column_names[COLUMNS] = {
    "scientific_name", "common_name",        "trophic_level", "length_m", "cruising_speed_m_s",
    "lifespan_years",  "metabolism_percent", "clutch",        "eats",     "number"};

typedef struct position {
    uint32_t line, column;
} position;

typedef struct reader {
    const char *name;
    const char *at, *end;
    position here;
    char *message;
    size_t message_size;
    char field[FIELD_MAX + 1]; /* the current field without its quotes */
    size_t field_length;
    position field_start;
    bool line_ended;                       /* after the current field */
    char eats[SPECIES_MAX][FIELD_MAX + 1]; /* the `eats` fields; they are resolved when all names are known */
    position eats_start[SPECIES_MAX];
} reader;

static bool refuse(reader *r, position p, const char *format, ...)
{
    char what[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    snprintf(r->message, r->message_size, "%s:%u:%u: expected %s", r->name, p.line, p.column, what);
    return false;
}

/* ---- bytes to fields ---- */

static void step(reader *r)
{
    if (*r->at == '\n') {
        r->here.line++;
        r->here.column = 1;
    } else {
        r->here.column++;
    }
    r->at++;
}

static bool at_line_end(const reader *r)
{
    return r->at == r->end || *r->at == '\n' || (*r->at == '\r' && r->at + 1 < r->end && r->at[1] == '\n');
}

static void skip_line_end(reader *r)
{
    if (r->at < r->end && *r->at == '\r') step(r);
    if (r->at < r->end) step(r);
}

static void skip_blanks(reader *r)
{
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\t')) step(r);
}

/* Returns the number of bytes of the UTF-8 character at the cursor; 0 if there is none, or if it is a control
 * character. */
static size_t character_bytes(const reader *r)
{
    const unsigned char *s = (const unsigned char *)r->at;
    size_t left = (size_t)(r->end - r->at), n;
    uint32_t code, lowest;
    if (s[0] < 0x80) return (s[0] >= 0x20 && s[0] != 0x7F) || s[0] == '\t' ? 1 : 0;
    if (s[0] >> 5 == 6) n = 2, code = s[0] & 0x1Fu, lowest = 0xA0;
    else if (s[0] >> 4 == 14) n = 3, code = s[0] & 0x0Fu, lowest = 0x800;
    else if (s[0] >> 3 == 30) n = 4, code = s[0] & 0x07u, lowest = 0x10000;
    else return 0;
    if (left < n) return 0;
    for (size_t i = 1; i < n; i++) {
        if (s[i] >> 6 != 2) return 0;
        code = code << 6 | (s[i] & 0x3Fu);
    }
    bool legal =
        code >= lowest && code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF) && code != 0xFFFE && code != 0xFFFF;
    return legal ? n : 0;
}

static bool take_character(reader *r)
{
    size_t n = character_bytes(r);
    if (n == 0) return refuse(r, r->here, "text in UTF-8, found byte 0x%02X", (unsigned)(unsigned char)*r->at);
    if (r->field_length + n > FIELD_MAX) return refuse(r, r->here, "at most %d bytes in a value", FIELD_MAX);
    for (; n > 0; n--) {
        r->field[r->field_length++] = *r->at;
        step(r);
    }
    return true;
}

static bool read_quoted(reader *r)
{
    position opening = r->here;
    step(r);
    for (;;) {
        if (at_line_end(r)) return refuse(r, r->here, "a closing quote for the one in column %u", opening.column);
        if (*r->at == '"') {
            step(r);
            if (r->at == r->end || *r->at != '"') return true;
        }
        if (!take_character(r)) return false;
    }
}

/* Reads the next field and the comma after it. */
static bool read_field(reader *r)
{
    r->field_length = 0;
    skip_blanks(r);
    r->field_start = r->here;
    if (r->at < r->end && *r->at == '"') {
        if (!read_quoted(r)) return false;
        skip_blanks(r);
        if (!at_line_end(r) && *r->at != ',') return refuse(r, r->here, "a comma after the closing quote");
    } else {
        while (!at_line_end(r) && *r->at != ',') {
            if (*r->at == '"') return refuse(r, r->here, "no quote inside of a value (put the whole value in quotes)");
            if (!take_character(r)) return false;
        }
        while (r->field_length > 0 && (r->field[r->field_length - 1] == ' ' || r->field[r->field_length - 1] == '\t'))
            r->field_length--;
    }
    r->field[r->field_length] = '\0';
    r->line_ended = at_line_end(r);
    if (!r->line_ended) step(r);
    return true;
}

static bool read_column(reader *r, uint32_t column)
{
    if (column > 0 && r->line_ended)
        return refuse(r, r->here, "%d values, found %u: %s is missing", COLUMNS, column, column_names[column]);
    if (!read_field(r)) return false;
    if (column + 1 == COLUMNS && !r->line_ended)
        return refuse(r, r->here, "the end of the line after %d values", COLUMNS);
    return true;
}

/* Skips comments and empty lines. False: the end of the file. */
static bool find_line(reader *r)
{
    while (r->at < r->end) {
        skip_blanks(r);
        if (r->at == r->end) return false;
        if (*r->at == '#') {
            while (!at_line_end(r)) step(r);
        } else if (!at_line_end(r)) {
            return true;
        }
        skip_line_end(r);
    }
    return false;
}

/* ---- fields to values ---- */

static bool read_header(reader *r)
{
    for (uint32_t c = 0; c < COLUMNS; c++) {
        if (!read_column(r, c)) return false;
        if (strcmp(r->field, column_names[c]) != 0)
            return refuse(r, r->field_start, "the column name \"%s\", found \"%s\"", column_names[c], r->field);
    }
    skip_line_end(r);
    return true;
}

static bool read_name(reader *r, uint32_t column, char *name)
{
    if (!read_column(r, column)) return false;
    if (r->field_length == 0) return refuse(r, r->field_start, "a name for %s", column_names[column]);
    if (r->field_length > SPECIES_NAME_MAX)
        return refuse(r, r->field_start, "at most %d bytes for %s", SPECIES_NAME_MAX, column_names[column]);
    memcpy(name, r->field, r->field_length + 1);
    return true;
}

/* Reads digits, with up to `decimals` more behind a point, as an integer of the smallest unit. */
static bool to_units(const char *text, uint32_t decimals, uint64_t *units)
{
    uint64_t value = 0;
    uint32_t digits = 0, behind = 0;
    bool point = false;
    for (const char *s = text; *s != '\0'; s++) {
        if (*s == '.' && !point && digits > 0 && decimals > 0) {
            point = true;
        } else if (*s >= '0' && *s <= '9' && digits < 15 && (!point || behind < decimals)) {
            value = value * 10 + (uint64_t)(*s - '0');
            digits++;
            behind += point;
        } else {
            return false;
        }
    }
    if (digits == 0 || (point && behind == 0)) return false;
    for (; behind < decimals; behind++) value *= 10;
    *units = value;
    return true;
}

/* A number of `decimals` decimals between lowest and highest, both in the smallest unit and written in texts. */
static bool read_number(reader *r, uint32_t column, uint32_t decimals, uint64_t lowest, uint64_t highest,
                        const char *range, uint64_t *units)
{
    if (!read_column(r, column)) return false;
    if (!to_units(r->field, decimals, units) || *units < lowest || *units > highest)
        return refuse(r, r->field_start, "%s for %s, found \"%s\"", range, column_names[column], r->field);
    return true;
}

static bool read_measures(reader *r, species *s)
{
    uint64_t level, length, speed, years, percent;
    if (!read_number(r, 2, 2, 200, 600, "a number of at most 2 decimals, 2 to 6,", &level)) return false;
    if (!read_number(r, 3, 4, 10, 200000, "a number of at most 4 decimals, 0.001 to 20,", &length)) return false;
    if (!read_number(r, 4, 4, 10, 50000, "a number of at most 4 decimals, 0.001 to 5,", &speed)) return false;
    if (!read_number(r, 5, 3, 10, 500000, "a number of at most 3 decimals, 0.01 to 500,", &years)) return false;
    if (!read_number(r, 6, 3, 10, 100000, "a number of at most 3 decimals, 0.01 to 100,", &percent)) return false;
    s->trophic_hundredths = (uint32_t)level;
    s->length = (float)length / 10000.0f;
    s->speed = (float)speed / 10000.0f;
    s->lifespan_years = (float)years / 1000.0f;
    s->metabolism_thousandths = (uint32_t)percent;
    return true;
}

static bool read_species(reader *r, species_table *t)
{
    uint64_t clutch, number;
    if (t->count == SPECIES_MAX) return refuse(r, r->here, "at most %d species", SPECIES_MAX);
    species *s = &t->of[t->count];
    if (!read_name(r, 0, s->scientific)) return false;
    for (uint32_t i = 0; i < t->count; i++)
        if (strcmp(t->of[i].scientific, s->scientific) == 0)
            return refuse(r, r->field_start, "each scientific name once, found \"%s\" again", s->scientific);
    for (int l = PLANKTON; l < LAYERS; l++)
        if (strcmp(layer_name((layer)l), s->scientific) == 0)
            return refuse(r, r->field_start, "a fish, found the food \"%s\"", s->scientific);
    if (strchr(s->scientific, ';') != NULL) return refuse(r, r->field_start, "a scientific name without a semicolon");
    if (!read_name(r, 1, s->common) || !read_measures(r, s)) return false;
    if (!read_number(r, 7, 0, 1, 100, "a whole number, 1 to 100,", &clutch)) return false;
    if (!read_column(r, 8)) return false;
    if (r->field_length == 0) return refuse(r, r->field_start, "at least one food for eats");
    memcpy(r->eats[t->count], r->field, r->field_length + 1);
    r->eats_start[t->count] = r->field_start;
    if (!read_number(r, 9, 0, 1, SPECIES_NUMBER_MAX, "a whole number, 1 to 4000000,", &number)) return false;
    s->clutch = (uint32_t)clutch;
    s->number = (uint32_t)number;
    t->count++;
    if (species_total(t) > SPECIES_TOTAL_MAX)
        return refuse(r, r->field_start, "at most %d fish in the whole table", SPECIES_TOTAL_MAX);
    skip_line_end(r);
    return true;
}

/* ---- who eats whom ---- */

static bool add_food(reader *r, species_table *t, uint32_t eater, const char *food, position p)
{
    for (int l = PLANKTON; l < LAYERS; l++) {
        if (strcmp(food, layer_name((layer)l)) == 0) {
            t->of[eater].foods |= 1u << l;
            return true;
        }
    }
    for (uint32_t i = 0; i < t->count; i++) {
        if (strcmp(food, t->of[i].scientific) != 0) continue;
        if (i == eater) return refuse(r, p, "another species, found \"%s\" itself", food);
        t->of[eater].prey |= (uint64_t)1 << i;
        t->of[i].predators |= (uint64_t)1 << eater;
        return true;
    }
    return refuse(r, p, "plankton, algae, detritus or a species of this table, found \"%s\"", food);
}

static bool resolve_eats(reader *r, species_table *t, uint32_t eater)
{
    char *list = r->eats[eater];
    for (char *from = list;;) {
        while (*from == ' ') from++;
        char *stop = strchr(from, ';');
        char *next = stop != NULL ? stop + 1 : NULL;
        if (stop == NULL) stop = from + strlen(from);
        while (stop > from && stop[-1] == ' ') stop--;
        position p = r->eats_start[eater];
        p.column += (uint32_t)(from - list);
        *stop = '\0';
        if (stop == from) return refuse(r, p, "a food between the semicolons");
        if (!add_food(r, t, eater, from, p)) return false;
        if (next == NULL) return true;
        from = next;
    }
}

/* ---- derived values ---- */

/* The model's scales. Real fish differ by a factor of 200 in lifespan and of 10^6 in mass. On a screen both are
 * compressed, and keep their order: a lifespan becomes its square root, and the energy of a body is linear in its
 * length. */
static void derive(species *s)
{
    s->span = (uint32_t)(600.0f * sqrtf(s->lifespan_years));
    if (s->span < 40) s->span = 40;
    s->mature = s->span / 8;
    s->full = 1600 + (int32_t)(12000.0f * s->length);
    s->newborn = s->full * 3 / (int32_t)(10 * s->clutch);
    s->burn = (int32_t)((int64_t)s->full * s->metabolism_thousandths * 1024 / 10000000);
    if (s->burn < 1) s->burn = 1;
}

static void derive_fear(species_table *t, uint32_t index)
{
    species *s = &t->of[index];
    for (uint32_t i = 0; i < t->count; i++)
        if ((s->predators >> i & 1) != 0 && t->of[i].speed > s->speed) s->feared |= (uint64_t)1 << i;
}

bool species_parse(species_table *table, const char *name, const char *text, size_t length, char *message,
                   size_t message_size)
{
    reader *r = calloc(1, sizeof *r);
    if (r == NULL) {
        snprintf(message, message_size, "%s: no memory", name);
        return false;
    }
    r->name = name, r->at = text, r->end = text + length;
    r->here = (position){1, 1};
    r->message = message, r->message_size = message_size;
    memset(table, 0, sizeof *table);
    if (length >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) r->at += 3;
    bool good =
        find_line(r) ? read_header(r) : refuse(r, r->here, "the line of column names, found the end of the file");
    while (good && find_line(r)) good = read_species(r, table);
    if (good && table->count == 0) good = refuse(r, r->here, "at least one species, found the end of the file");
    for (uint32_t i = 0; good && i < table->count; i++) good = resolve_eats(r, table, i);
    for (uint32_t i = 0; good && i < table->count; i++) derive(&table->of[i]), derive_fear(table, i);
    free(r);
    return good;
}

bool species_load(species_table *table, const char *path, char *message, size_t message_size)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        snprintf(message, message_size, "%s: expected a readable file: %s", path, strerror(errno));
        return false;
    }
    char *text = malloc(FILE_MAX + 1);
    size_t length = text != NULL ? fread(text, 1, FILE_MAX + 1, file) : 0;
    bool good = text != NULL && ferror(file) == 0;
    if (!good) snprintf(message, message_size, "%s: expected a readable file: it could not be read", path);
    fclose(file);
    if (good && length > FILE_MAX) {
        snprintf(message, message_size, "%s: expected at most %d bytes", path, FILE_MAX);
        good = false;
    }
    good = good && species_parse(table, path, text, length, message, message_size);
    free(text);
    return good;
}

uint32_t species_total(const species_table *table)
{
    uint64_t total = 0;
    for (uint32_t i = 0; i < table->count; i++) total += table->of[i].number;
    return total < UINT32_MAX ? (uint32_t)total : UINT32_MAX;
}

uint32_t species_largest_hunter(const species_table *table)
{
    uint32_t largest = SPECIES_MAX;
    for (uint32_t i = 0; i < table->count; i++) {
        if (table->of[i].prey == 0) continue;
        if (largest == SPECIES_MAX || table->of[i].length > table->of[largest].length) largest = i;
    }
    return largest;
}

void species_scale(species_table *table, uint32_t total)
{
    uint64_t now = 0;
    for (uint32_t i = 0; i < table->count; i++) now += table->of[i].number;
    for (uint32_t i = 0; i < table->count; i++) {
        uint64_t scaled = ((uint64_t)table->of[i].number * total + now / 2) / now;
        table->of[i].number = scaled < 2 ? 2 : (uint32_t)scaled;
    }
}

const char *layer_name(layer which)
{
    static const char *const names[LAYERS] = {"nutrients", "plankton", "algae", "detritus"};
    return names[which];
}
