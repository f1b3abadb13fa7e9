/* Unique fields: src/storage/unique_field.h says how. */
#include "storage/unique_field.h"
#include "type/fields.h"
#include "storage/error.h"
#include "storage/known_types.h"
#include "storage/read.h"
#include "reef/hooks.h"
#include <stdlib.h>
#include <string.h>

typedef struct unique_entry {
    uint64_t key, operation;
    reef_entity entity; /* null: the entry is free */
} unique_entry;

struct unique_table {
    struct unique_table *next;
    uint32_t component;
    size_t count, room; /* room: a power of two */
    unique_entry *entries;
};

/* ---- values ---- */

static const reef_field *unique_field_of(const type *t)
{
    const reef_field *fields = REEF_ACQUIRE_POINTER(&t->fields);
    const reef_field *f =
        fields ? reef__field_named(fields, t->field_count, t->hooks.unique, strlen(t->hooks.unique)) : NULL;
    return f && f->bytes <= 8 && (f->kind == REEF_CHAR || f->bytes == reef__kind_size(f->kind)) ? f : NULL;
}

/* The number that equal values have in common. False: it equals no value (NaN). */
static bool unique_key(const reef_field *f, const void *value, uint64_t *key)
{
    const char *p = (const char *)value + f->offset;
    float x;
    double y;
    *key = 0;
    memcpy(key, p, f->bytes);
    if (f->kind == REEF_F32 || f->kind == REEF_F64) {
        memcpy(f->kind == REEF_F32 ? (void *)&x : &y, p, f->bytes);
        if (f->kind == REEF_F32) y = x;
        if (y == 0) *key = 0;
        return y == y;
    }
    if (f->kind != REEF_CHAR) return true;
    *key = 0; /* what is behind the end of a text doesn't count */
    for (uint32_t i = 0; i < f->bytes && p[i]; i++) *key |= (uint64_t)(unsigned char)p[i] << (8 * i);
    return true;
}

/* ---- who has a value ---- */

static bool unique_counts(const reef_world *w, const type *t, const reef_field *f, const unique_entry *x)
{
    uint64_t key;
    if (x->operation == w->operation) return true;
    if (!has_itself(w, x->entity, t)) return false;
    const void *value = reef__value_itself(w, x->entity, (reef_component){t->id});
    return value && unique_key(f, value, &key) && key == x->key;
}

/* ---- the table ---- */

static unique_entry *unique_seek(const struct unique_table *u, uint64_t key)
{
    uint64_t h = key * UINT64_C(0x9E3779B97F4A7C15);
    h ^= h >> 32;
    size_t i = (size_t)h & (u->room - 1);
    while (u->entries[i].entity.generation && u->entries[i].key != key) i = (i + 1) & (u->room - 1);
    return &u->entries[i];
}

static void unique_put(struct unique_table *u, const unique_entry *x)
{
    unique_entry *to = unique_seek(u, x->key);
    u->count += to->entity.generation == 0;
    *to = *x;
}

/* Makes room for one more entry, by leaving out those that don't count. */
static bool unique_grow(reef_world *w, struct unique_table *u, const type *t, const reef_field *f)
{
    memory *m = &w->family->memory;
    struct unique_table old = *u;
    size_t count = 0;
    for (size_t i = 0; i < old.room; i++)
        count += old.entries[i].entity.generation && unique_counts(w, t, f, &old.entries[i]);
    u->room = 64;
    u->count = 0;
    while (u->room < 4 * (count + 1)) u->room *= 2;
    u->entries = reef__memory_zeroed(m, MEMORY_OTHER, u->room * sizeof *u->entries);
    if (u->entries == NULL) return *u = old, false;
    for (size_t i = 0; i < old.room; i++)
        if (old.entries[i].entity.generation && unique_counts(w, t, f, &old.entries[i])) unique_put(u, &old.entries[i]);
    reef__memory_free(m, MEMORY_OTHER, old.entries, old.room * sizeof *old.entries);
    return true;
}

static bool unique_room(reef_world *w, struct unique_table *u, const type *t, const reef_field *f)
{
    return 4 * (u->count + 1) <= 3 * u->room || unique_grow(w, u, t, f);
}

static void unique_free(reef_world *w, struct unique_table *u)
{
    memory *m = &w->family->memory;
    reef__memory_free(m, MEMORY_OTHER, u->entries, u->room * sizeof *u->entries);
    reef__memory_free(m, MEMORY_OTHER, u, sizeof *u);
}

/* The table of a type; if there is none it is made, of all values of the world. NULL: no memory. */
static COLD struct unique_table *unique_make(reef_world *w, const type *t, const reef_field *f)
{
    struct unique_table *u = reef__memory_zeroed(&w->family->memory, MEMORY_OTHER, sizeof *u);
    if (u == NULL) return NULL;
    u->component = t->id;
    bool ok = unique_room(w, u, t, f);
    unique_entry x = {0};
    for (value_run r = {0}; ok && reef__value_run_next(w, t, &r);) {
        for (uint32_t i = 0; ok && i < r.count; i++) {
            if (!unique_key(f, r.values + (size_t)i * t->size, &x.key)) continue;
            x.entity = r.entities[i];
            ok = unique_room(w, u, t, f);
            if (ok) unique_put(u, &x);
        }
    }
    if (!ok) return unique_free(w, u), NULL;
    u->next = w->uniques;
    return w->uniques = u;
}

static reef_status unique_enter(reef_world *w, reef_entity e, const type *t, const void *value)
{
    const reef_field *f = unique_field_of(t);
    struct unique_table *u = w->uniques;
    unique_entry x = {.operation = w->operation, .entity = e};
    if (w->unique_later) return REEF_OK;
    if (f == NULL) return refuse_because(w, "what is unique isn't one of its fields (REEF_FIELDS)");
    if (!unique_key(f, value, &x.key)) return REEF_OK;
    while (u && u->component != t->id) u = u->next;
    if (u == NULL) u = unique_make(w, t, f);
    if (u == NULL || !unique_room(w, u, t, f)) return REEF_NO_MEMORY;
    const unique_entry *there = unique_seek(u, x.key);
    if (there->entity.generation && !reef_entity_equal(there->entity, e) && unique_counts(w, t, f, there)) {
        w->taken = there->entity;
        return REEF_EXISTS;
    }
    unique_put(u, &x);
    return REEF_OK;
}

static COLD void all_uniques_drop(reef_world *w)
{
    for (struct unique_table *u = w->uniques, *next; u; u = next) {
        next = u->next;
        unique_free(w, u);
    }
    w->uniques = NULL;
}

/* ---- checking ---- */

/* Without memory nothing is compared. */
static bool unique_differ(const reef_world *w, const type *t, const reef_field *f)
{
    memory *m = &w->family->memory;
    uint64_t *keys = NULL;
    uint32_t room = 0, count = 0;
    bool differ = true;
    for (value_run r = {0}; reef__value_run_next(w, t, &r);) {
        if (!reef__array_room(m, MEMORY_OTHER, &keys, &room, count + r.count, sizeof *keys)) break;
        for (uint32_t i = 0; i < r.count; i++) count += unique_key(f, r.values + (size_t)i * t->size, &keys[count]);
    }
    if (count) qsort(keys, count, sizeof *keys, reef__numbers_compare);
    for (uint32_t i = 1; i < count; i++) differ &= keys[i] != keys[i - 1];
    reef__memory_free(m, MEMORY_OTHER, keys, room * sizeof *keys);
    return differ;
}

static COLD reef_status all_uniques_validate(const reef_world *w, char *message, size_t size)
{
    for (uint32_t id = 1; id <= REEF_TYPES_MAX && type_known(id); id++) {
        const type *t = type_known(id);
        const reef_field *f = t->hooks.unique ? unique_field_of(t) : NULL;
        if (f && reef__world_knows(w, id) && !unique_differ(w, t, f))
            return reef__corrupt(message, size, "%s: several entities have the same %s, which is unique", t->name,
                                 f->name);
    }
    return REEF_OK;
}

const unique_calls reef__unique_calls = {
    .enter = unique_enter, .drop = all_uniques_drop, .validate = all_uniques_validate};
