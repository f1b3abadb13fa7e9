/* Conditions of queries, answered by value indexes.
 *
 *     in Team(id == 5), Position      the index has 40 entities with 5, of a million rows: these 40 are marked
 *                                     (src/query/value_term.h), and the loop looks at nobody else
 *
 * Keys of a range of values are a range of keys, so each condition that is such a range has one in the list of the
 * index. Whether it is used is decided before each loop and each question; it never changes what they find. */
#include "storage/invalidate.h"
#include "query/chunk_cursor.h"
#include "query/query.h"
#include "query/value_term.h"
#include "index/row_list.h"
#include "index/value_index.h"
#include <string.h>

enum {
    ROWS_LEAST = 2048, /* of a query, for which an index pays */
    ROWS_FOR_MARK = 16 /* rows are marked if they are at most one in this many (marking one costs about 20 looks) */
};

/* Does the term say itself which of the visited entities match, and does an index know all of these? (It knows none
 * that are disabled or templates.) */
static bool term_is_indexed(const query *q, uint32_t i)
{
    const reef_term *t = &q->terms[i];
    const term_facts *f = &q->facts[i];
    return t->op == REEF_HAS && f->values && f->top && !f->fixed && !f->target && !f->up && !f->bound && !f->sub &&
           !f->some_disabled && t->enabled == REEF_ENABLED && !t->subtypes && !type_known(t->component.id)->stored;
}

/* The key of a value of which the bytes are given as a number. */
static uint64_t key_of_bytes(const ordering *by, uint64_t value, uint32_t bytes)
{
    const uint8_t a = (uint8_t)value;
    const uint16_t b = (uint16_t)value;
    const uint32_t c = (uint32_t)value;
    uint64_t key = 0;
    switch (bytes) {
    case 1: reef__order_keys(by, &a, 1, &key); break;
    case 2: reef__order_keys(by, &b, 1, &key); break;
    case 4: reef__order_keys(by, &c, 1, &key); break;
    default: reef__order_keys(by, &value, 1, &key);
    }
    return key;
}

static uint64_t key_of_float(const value_test *t, double x)
{
    return t->kind == REEF_F32 ? reef_key_f32((float)x) : reef_key_f64(x);
}

/* The keys of the values that fulfil a test. False: they are no range. */
static bool test_range(const value_test *t, const ordering *by, uint64_t *lowest, uint64_t *highest)
{
    const double a = t->number[0].f64, b = t->number[1].f64;
    char text[8] = {0};
    *lowest = 0;
    *highest = UINT64_MAX;
    switch (t->form) {
    case VALUE_INSIDE:
        *lowest = key_of_bytes(by, t->low, t->bytes);
        *highest = key_of_bytes(by, t->low + t->span, t->bytes);
        return !t->inverted && *lowest <= *highest && (t->kind != REEF_ENTITY || t->span == 0);
    case VALUE_LESS: *highest = key_of_float(t, a) - 1; return true;
    case VALUE_AT_MOST: *highest = key_of_float(t, a); return true;
    case VALUE_MORE: *lowest = key_of_float(t, a) + 1; return true;
    case VALUE_AT_LEAST: *lowest = key_of_float(t, a); return true;
    case VALUE_WITHIN:
        *lowest = key_of_float(t, a);
        *highest = key_of_float(t, b);
        return true;
    case VALUE_TEXT:
        if (t->inverted || t->length > sizeof text) return false;
        memcpy(text, t->text, t->length);
        reef__order_keys(by, text, 1, lowest);
        *highest = *lowest;
        return true;
    default: return false;
    }
}

/* What was found for a condition. */
typedef struct found_rows {
    row_range range;
    uint64_t count, version;
    uint32_t term;
    const char *field;
} found_rows;

/* Asks an index for a test. Keeps what it finds, if that is less than before. */
static void index_ask(reef_index *x, uint32_t term, const value_test *t, found_rows *best)
{
    uint64_t lowest, highest, most, version;
    const char *name;
    const ordering *by = reef__index_order(x, &most, &name);
    if (!test_range(t, by, &lowest, &highest)) return;
    const row_list *l = reef__index_list(x, &version);
    if (l == NULL) return;
    const row_range range = reef__list_range(l, lowest, highest < most ? highest : most);
    const uint64_t count = reef__range_count(&range);
    if (best->field == NULL || count < best->count) *best = (found_rows){range, count, version, term, name};
}

void reef__indexes_mark(reef_world *w, query *q)
{
    value_marks *m = &q->values->marks;
    const bool held = marks_hold(q);
    const uint64_t rows = query_rows(q);
    found_rows best = {.field = NULL};
    m->used = false;
    if (rows < ROWS_LEAST || q->entities != REEF_ENABLED || q->disabled_entities || !q->hides) return;
    for (uint32_t i = 0; i < q->term_count; i++) {
        if (!term_is_indexed(q, i)) continue;
        for (const value_test *t = term_tests(q, i), *end = t + q->terms[i].count; t < end; t++)
            for (reef_index *x = NULL; (x = reef__index_of_field(w, x, t->component, t->offset, t->bytes)) != NULL;)
                index_ask(x, i, t, &best);
    }
    if (best.field == NULL || best.count > rows / ROWS_FOR_MARK || !reef__row_set_ready(w, &m->rows)) return;
    for (const order_row *r; (r = range_next(&best.range)) != NULL;)
        if (!reef__row_set_add(w, &m->rows, (reef_entity){r->index, r->row}, 1)) return;
    /* Leases end, so that rows that move from now on are counted by rows_epoch. */
    if (!held) reef__invalidate(w, INVALIDATE_LOOKED_AT);
    m->term = best.term;
    m->field = best.field;
    m->found = best.count;
    m->version = best.version;
    m->rows_epoch = w->rows_epoch;
    m->used = true;
}
