/* Orders: what a reef_order means, the keys of a chunk at a time, and sorting by them.
 *
 * Rows are sorted by digits, first those of the index and then those of the key, the lowest first: each pass is stable,
 * so the last one decides. Bits that are the same in all rows, at the ends of a number, are in no digit. Digits have 11
 * bits where many rows are still within a cache, and 8 otherwise. */
#include "query/sort_key.h"
#include "type/fields.h"
#include "storage/known_types.h"
#include "storage/place.h"
#include "storage/sparse_store.h"
#include "query/relation_order.h"
#include "reef/order.h"
#include "reef/relation.h"

enum {
    FEW_ROWS = 24,
    NARROW = 8, /* bits of a digit */
    WIDE = 11,
    DIGIT_VALUES_MAX = 1 << WIDE,
    DIGITS_MAX = 12,
    ROWS_FOR_WIDE = 2048, /* the least, and the most, of which a digit has `WIDE` bits */
    ROWS_FOR_WIDE_MOST = 1 << 16
};

static bool order_field_fits(const reef_field *f)
{
    return f->kind == REEF_CHAR ? f->bytes <= 8 : f->bytes == reef__kind_size(f->kind);
}

COLD reef_status reef__order_resolve(const reef_world *w, const reef_order *given, ordering *out)
{
    ordering o = {.kind = REEF_ENTITY, .stride = sizeof(reef_entity), .flip = given->descending ? UINT64_MAX : 0};
    if (given->relation.id) {
        const reef_component none = given->component;
        if (none.id || given->key || given->field || given->pool || given->descending)
            return refuse_because(w,
                                  "an order by a relation has no `component`, `key`, `field`, `pool` or `descending`");
        if (!reef__world_knows(w, given->relation.id)) return REEF_UNKNOWN_TYPE;
        o.relation = reef__type_of(given->relation.id);
        if (!(o.relation->relation & REEF_EXCLUSIVE))
            return refuse_because(w, "an order by a relation needs one that is exclusive");
        *out = o;
        return REEF_OK;
    }
    if (given->component.id == 0) {
        if (given->key || given->field || given->pool)
            return refuse_because(w, "an order with a `key`, a `field` or a `pool` needs its `component`");
        *out = o;
        return REEF_OK;
    }
    if (!reef__world_knows(w, given->component.id)) return REEF_UNKNOWN_TYPE;
    o.type = reef__type_of(given->component.id);
    o.stride = o.type->size;
    o.key = given->key;
    if (given->pool) {
        if (!o.type->stored || given->key || given->field)
            return refuse_because(w, "`pool` is for a component in a store, without `key` and `field`");
        o.pool = true;
        *out = o;
        return REEF_OK;
    }
    if (o.stride == 0) return refuse_because(w, "a tag has no values to order by");
    if (given->key && given->field) return refuse_because(w, "an order has a `key` or a `field`, not both");
    /* there is no struct that a key could be computed from */
    if (o.type->split && given->key) return refuse_because(w, "a type in REEF_SPLIT is ordered by a `field`");
    const reef_field *fields = REEF_ACQUIRE_POINTER(&o.type->fields), *found = NULL;
    if (fields && given->field)
        found = reef__field_named(fields, o.type->field_count, given->field, strlen(given->field));
    else if (fields && !given->key && o.type->field_count == 1) found = fields;
    if (given->key == NULL) {
        if (found == NULL && given->field)
            return refuse_because(w, fields ? "it has no field of this name"
                                            : "it has no fields: REEF_FIELDS describes them, in C++ reef::options");
        if (found == NULL) return refuse_because(w, "it needs a `field` or a `key` to be ordered by");
        if (!order_field_fits(found))
            return refuse_because(w, "the field is no number, entity or text of up to 8 bytes");
        o.kind = found->kind;
        o.offset = found->offset;
        o.bytes = found->bytes;
        if (o.type->split) { /* the field has a column of its own */
            o.type = reef__type_of(o.type->parts[found - fields]);
            o.stride = o.type->size;
            o.offset = 0;
        }
    }
    *out = o;
    return REEF_OK;
}

/* ---- keys ---- */

#define KEYS_OF(T, make) \
    for (uint32_t i = 0; i < rows; i++, p += stride) { \
        T x; \
        memcpy(&x, p, sizeof x); \
        keys[i] = make(x) ^ flip; \
    } \
    break

/* Compares like strcmp, except that bytes behind the first zero don't count. */
static uint64_t key_of_text(const char *p, uint32_t bytes)
{
    uint64_t key = 0;
    for (uint32_t i = 0; i < bytes && p[i]; i++) key |= (uint64_t)(unsigned char)p[i] << (56 - 8 * i);
    return key;
}

void reef__order_keys(const ordering *o, const void *values, uint32_t rows, uint64_t *keys)
{
    const char *p = (const char *)values + o->offset;
    const uint64_t flip = o->flip;
    const size_t stride = o->stride;
    if (o->key) {
        for (uint32_t i = 0; i < rows; i++, p += stride) keys[i] = o->key(p) ^ flip;
        return;
    }
    switch (o->kind) {
    case REEF_BOOL:
    case REEF_U8: KEYS_OF(uint8_t, reef_key_u32);
    case REEF_I8: KEYS_OF(int8_t, reef_key_i32);
    case REEF_I16: KEYS_OF(int16_t, reef_key_i32);
    case REEF_U16: KEYS_OF(uint16_t, reef_key_u32);
    case REEF_I32: KEYS_OF(int32_t, reef_key_i32);
    case REEF_U32: KEYS_OF(uint32_t, reef_key_u32);
    case REEF_I64: KEYS_OF(int64_t, reef_key_i64);
    case REEF_U64: KEYS_OF(uint64_t, reef_key_u64);
    case REEF_F32: KEYS_OF(float, reef_key_f32);
    case REEF_F64: KEYS_OF(double, reef_key_f64);
    case REEF_ENTITY: KEYS_OF(reef_entity, reef_key_entity);
    case REEF_CHAR:
        for (uint32_t i = 0; i < rows; i++, p += stride) keys[i] = key_of_text(p, o->bytes) ^ flip;
        break;
    }
}

/* As reef__order_chunk. */
static uint32_t chunk_keys(const reef_world *w, const ordering *o, const reef_slot *slots, uint32_t slot, uint32_t rows,
                           uint64_t *keys)
{
    const reef_entity *e = slot_entities(slots);
    uint32_t n = 0;
    if (o->rank) {
        for (uint32_t i = 0; i < rows; i++) keys[i] = o->rank[e[i].index];
        return rows;
    }
    if (!order_is_stored(o)) return reef__order_keys(o, slots[slot].block, rows, keys), rows;
    for (uint32_t i = 0; i < rows; i++) {
        const value_store *s = store_of(w, o->type->id);
        const void *value = reef_store_find(s, e[i]);
        keys[i] = UINT64_MAX;
        if (value && o->pool) keys[i] = slot_of(s, e[i]) ^ o->flip;
        else if (value) reef__order_keys(o, value, 1, &keys[i]);
        n += value != NULL;
    }
    return n;
}

uint32_t reef__order_chunk(const reef_world *w, const ordering *o, const reef_slot *slots, uint32_t slot, uint32_t rows,
                           uint64_t *keys)
{
    if (o->key == NULL) return chunk_keys(w, o, slots, slot, rows, keys);
    world_hold(w);
    const uint32_t n = chunk_keys(w, o, slots, slot, rows, keys);
    world_let_go(w);
    return n;
}

/* ---- sorting ---- */

static void order_few(order_row *rows, size_t count) /* insertion sort */
{
    for (size_t i = 1; i < count; i++) {
        order_row x = rows[i];
        size_t j = i;
        for (; j > 0 && row_is_before(&x, &rows[j - 1]); j--) rows[j] = rows[j - 1];
        rows[j] = x;
    }
}

/* The digits by which rows are sorted: bits of the index, and then bits of the key, in which some rows differ. */
typedef struct order_digits {
    uint32_t count, values; /* a digit has so many values */
    struct {
        bool of_index;
        uint32_t shift;
    } digit[DIGITS_MAX];
} order_digits;

static void digits_add(order_digits *d, bool of_index, uint64_t differ, uint32_t width)
{
    uint32_t first = 0;
    if (differ == 0) return;
    while (!(differ >> first & 1)) first++;
    for (; first < 64 && differ >> first; first += width) {
        d->digit[d->count].of_index = of_index;
        d->digit[d->count++].shift = first;
    }
}

INLINE uint32_t order_digit(const order_digits *d, uint32_t k, const order_row *r)
{
    const uint64_t bits = d->digit[k].of_index ? r->index : r->key;
    return (uint32_t)(bits >> d->digit[k].shift) & (d->values - 1);
}

/* One pass: rows go to where those with their digit begin. */
static void digit_sort(const order_digits *d, uint32_t k, uint32_t *at, const order_row *rows, order_row *to,
                       size_t count)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < d->values; i++) {
        const uint32_t n = at[i];
        at[i] = sum;
        sum += n;
    }
    if (d->digit[k].of_index)
        for (size_t i = 0; i < count; i++) to[at[rows[i].index >> d->digit[k].shift & (d->values - 1)]++] = rows[i];
    else
        for (size_t i = 0; i < count; i++)
            to[at[(uint32_t)(rows[i].key >> d->digit[k].shift) & (d->values - 1)]++] = rows[i];
}

order_row *reef__order_rows(order_row *rows, order_row *scratch, size_t count)
{
    uint32_t counts[DIGIT_VALUES_MAX];
    if (count <= FEW_ROWS) {
        order_few(rows, count);
        return rows;
    }
    const uint32_t width = count >= ROWS_FOR_WIDE && count <= ROWS_FOR_WIDE_MOST ? WIDE : NARROW;
    order_digits d = {.values = 1u << width};
    uint64_t keys = 0;
    uint32_t indices = 0;
    bool by_index = true; /* already sorted by index, as tables are that never lost a row */
    for (size_t i = 1; i < count; i++) {
        by_index &= rows[i - 1].index <= rows[i].index;
        keys |= rows[i].key ^ rows[0].key;
        indices |= rows[i].index ^ rows[0].index;
    }
    if (!by_index) digits_add(&d, true, indices, width);
    digits_add(&d, false, keys, width);
    for (uint32_t k = 0; k < d.count; k++) {
        memset(counts, 0, d.values * sizeof *counts);
        for (size_t i = 0; i < count; i++) counts[order_digit(&d, k, &rows[i])]++;
        if (counts[order_digit(&d, k, &rows[0])] == count) continue; /* the same in all rows */
        digit_sort(&d, k, counts, rows, scratch, count);
        order_row *sorted = scratch;
        scratch = rows;
        rows = sorted;
    }
    return rows;
}
