/* Value indexes: the list of an ordered query (src/query/sorted_query.c), and a directory to find values in it.
 *
 *     directory   0 0 3 3 3 9 ...                 by the upper bits of the key: the first row of the list
 *                 │   │     └──────┐
 *     list        {key, index} {key, index} ...   ordered by key, then by the index of the entity
 *
 * Whether the list is still right, and what of it has to be repaired, is the ordered query's business. The directory is
 * made anew when the list has changed. Where values are spread evenly one of its entries covers a few rows, so a
 * look-up reads two lines of the cache; where they aren't, a binary search finds them among those of the entry. */
#include "base/memory.h"
#include "base/platform.h"
#include "type/fields.h"
#include "type/type.h"
#include "storage/entity_index.h"
#include "storage/error.h"
#include "storage/layout.h"
#include "storage/library.h"
#include "storage/place.h"
#include "storage/world_data.h"
#include "query/query.h"
#include "query/query_answers.h"
#include "query/sort_key.h"
#include "query/sorted_query.h"
#include "reef/value_index.h"
#include "reef/ordered.h"
#include "reef/term.h"
#include "reef/type_info.h"
#include <string.h>

enum {
    ROWS_PER_ENTRY = 2,
    RECORDS_AHEAD = 16 /* whose entities' records are asked for from memory, as a range is walked */
};

struct reef_index {
    derived own;
    reef_world *world;
    reef_component type;
    const char *field; /* behind the struct; NULL: the only one */
    size_t bytes;
    query *query;
    uint64_t edition; /* of the list of which the directory was made */
    uint64_t most;    /* the largest key that is a value: that of a NaN is none */
    const order_row *rows;
    size_t count;
    bool looks; /* some row of the list may not match */
    uint32_t *directory;
    uint32_t entries, room, shift; /* entry i: keys from lowest + (i << shift) on */
    uint64_t lowest, highest;
};

/* ---- the indexes of a world ---- */

static void indexes_drop(reef_world *w)
{
    memory *m = &w->family->memory;
    for (derived *d = w->indexes, *next; d; d = next) {
        reef_index *x = (reef_index *)(void *)d;
        next = d->next;
        reef__memory_free(m, MEMORY_OTHER, x->directory, x->room * sizeof *x->directory);
        reef__memory_free(m, MEMORY_OTHER, x, x->bytes);
    }
    w->indexes = NULL;
}

static reef_index *value_index_find(const reef_world *w, reef_component c, const char *field)
{
    for (derived *d = w->indexes; d; d = d->next) {
        reef_index *x = (reef_index *)(void *)d;
        const bool same = x->field && field ? strcmp(x->field, field) == 0 : x->field == field;
        if (x->type.id == c.id && same) return x;
    }
    return NULL;
}

/* The largest key of a value of this field. */
static uint64_t key_most(const type *t, const char *field)
{
    const reef_field *f = field ? reef__field_named(t->fields, t->field_count, field, strlen(field)) : t->fields;
    if (f && f->kind == REEF_F32) return UINT32_MAX - 1;
    if (f && f->kind == REEF_F64) return UINT64_MAX - 1;
    return UINT64_MAX;
}

/* Makes the index, without its rows. NULL: refused, and recorded. */
static reef_index *value_index_make(reef_world *w, const char *op, reef_component c, const char *field)
{
    const size_t text = field ? strlen(field) + 1 : 0, bytes = sizeof(reef_index) + text;
    const reef_query_desc d = {.terms = {{.component = c, .access = REEF_IN}}};
    const reef_order order = {.component = c, .field = field};
    ordering by;
    reef_status s = reef__order_resolve(w, &order, &by);
    const type *t = reef__type_of(c.id);
    if (s == REEF_OK && (t->home == REEF_MULTI || t->home == REEF_SHARED || t->relation)) s = REEF_BAD_ARGUMENT;
    if (s != REEF_OK) return reef__failure(w, s, op, c, (reef_entity){0, 0}, 0), NULL;
    const reef_query q = reef_query_make(w, &d);
    reef_index *x = reef_query_is_null(q) || reef_query_order(w, q, &order) != REEF_OK
                        ? NULL
                        : reef__memory_zeroed(&w->family->memory, MEMORY_OTHER, bytes);
    if (x == NULL) {
        if (!reef_query_is_null(q)) (void)reef_query_free(w, q);
        return reef__failure(w, REEF_NO_MEMORY, op, c, (reef_entity){0, 0}, 0), NULL;
    }
    x->own = (derived){w->indexes, indexes_drop};
    x->world = w;
    x->type = c;
    x->bytes = bytes;
    x->query = query_of(w, q, &s);
    x->most = key_most(t, field);
    if (field) x->field = memcpy(x + 1, field, text);
    w->indexes = &x->own;
    return x;
}

/* ---- the directory ---- */

/* False: no memory. */
static bool value_directory_make(reef_index *x)
{
    uint32_t entries = 2; /* so that no key is shifted by all of its bits */
    x->shift = 0;
    x->lowest = x->count ? x->rows[0].key : 0;
    x->highest = x->count ? x->rows[x->count - 1].key : 0;
    while (entries < x->count / ROWS_PER_ENTRY) entries *= 2;
    while ((x->highest - x->lowest) >> x->shift >= entries) x->shift++;
    if (!reef__array_room(&x->world->family->memory, MEMORY_OTHER, &x->directory, &x->room, entries + 1,
                          sizeof *x->directory))
        return false;
    uint32_t entry = 0;
    for (size_t i = 0; i < x->count; i++)
        for (const uint64_t last = (x->rows[i].key - x->lowest) >> x->shift; entry <= last;)
            x->directory[entry++] = (uint32_t)i;
    while (entry <= entries) x->directory[entry++] = (uint32_t)x->count;
    x->entries = entries;
    return true;
}

/* Brings the index up to date. False: no memory. */
static bool value_index_refresh(reef_index *x)
{
    x->count = 0; /* what follows may fail and leave no list */
    if (!reef__queries_ready(x->world) || !reef__ranking_ready(x->query)) return false;
    const uint64_t edition = reef__ranking_list(x->query, &x->rows, &x->count, &x->looks);
    if (x->directory && (x->edition == edition || BUG(460))) return true;
    x->edition = edition;
    if (value_directory_make(x)) return true;
    x->edition = 0;
    x->count = 0;
    return false;
}

const reef_index *reef_index_of_id(reef_world *w, reef_component c, const char *field)
{
    static const char op[] = "reef_index_of";
    if (!WORLD_GIVEN_TO(w, op)) return NULL;
    reef_index *x = value_index_find(w, c, field);
    if (x == NULL && reef__type_of(c.id) == NULL)
        return reef__failure(w, REEF_UNKNOWN_TYPE, op, c, (reef_entity){0, 0}, 0), NULL;
    if (w->locks || w->running) return reef__failure(w, REEF_LOCKED, op, c, (reef_entity){0, 0}, 0), NULL;
    if (x == NULL) x = value_index_make(w, op, c, field);
    if (x == NULL || value_index_refresh(x)) return x;
    return reef__failure(w, REEF_NO_MEMORY, op, c, (reef_entity){0, 0}, 0), NULL;
}

/* ---- asking ---- */

/* The first row whose key isn't below this one. */
static size_t row_from(const reef_index *x, uint64_t key)
{
    if (x->count == 0 || key <= x->lowest) return 0;
    if (key > x->highest) return x->count;
    const uint64_t entry = (key - x->lowest) >> x->shift;
    size_t low = x->directory[entry], high = x->directory[entry + 1];
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (x->rows[middle].key < key) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* The entity of a row. Null: it doesn't count, or is dead by now. */
static reef_entity row_entity(const reef_index *x, size_t i)
{
    const uint32_t index = x->rows[i].index;
    const uint64_t record = record_read(x->world, index);
    const uint32_t place = (uint32_t)record;
    const bool counts =
        place >= 2 * PLACE_EMPTY && (!x->looks || BUG(461) || reef__query_place_matches(x->query, place));
    return counts ? (reef_entity){index, (uint32_t)(record >> 32)} : (reef_entity){0, 0};
}

/* The rows of a range of keys. */
typedef struct index_rows {
    size_t first, end;
} index_rows;

static index_rows rows_between(const reef_index *x, uint64_t lowest, uint64_t highest)
{
    index_rows r = {0, 0};
    if (x == NULL) return r;
    if (highest > x->most && !BUG(462)) highest = x->most;
    if (lowest > highest) return r;
    r.first = row_from(x, lowest);
    r.end = highest == UINT64_MAX ? x->count : row_from(x, highest + 1);
    return r;
}

uint64_t reef_index_range(const reef_index *x, uint64_t lowest, uint64_t highest, uint64_t skip, reef_entity *to,
                          uint64_t room)
{
    const index_rows r = rows_between(x, lowest, highest);
    uint64_t n = 0;
    if (x && !x->looks && (to == NULL || room == 0)) return r.end - r.first; /* nobody asks for more than the number */
    for (size_t i = r.first; i < r.end; i++) {
        if (i + RECORDS_AHEAD < r.end) PREFETCH(reef_record_at(&x->world->hot, x->rows[i + RECORDS_AHEAD].index));
        const reef_entity e = row_entity(x, i);
        if (reef_entity_is_null(e)) continue;
        if (to && n >= skip && n - skip < room) to[n - skip] = e;
        n++;
    }
    return n;
}

uint64_t reef_index_get(const reef_index *x, uint64_t key, reef_entity *to, uint64_t room)
{
    return reef_index_range(x, key, key, 0, to, room);
}

reef_entity reef_index_first(const reef_index *x, uint64_t lowest, uint64_t highest)
{
    const index_rows r = rows_between(x, lowest, highest);
    reef_entity e = {0, 0};
    for (size_t i = r.first; i < r.end && reef_entity_is_null(e); i++) e = row_entity(x, i);
    return e;
}

reef_entity reef_index_last(const reef_index *x, uint64_t lowest, uint64_t highest)
{
    const index_rows r = rows_between(x, lowest, highest);
    reef_entity e = {0, 0};
    for (size_t i = r.end; i > r.first && reef_entity_is_null(e); i--) e = row_entity(x, i - 1);
    return e;
}
