/* Writing a record: the rows of tables, chunk by chunk, and the bits of rows.
 *
 * Chunk k of a table is held against chunk k of the base. Where a column's block is the same one it isn't looked at;
 * in the others the rows that differ are written, in pieces. */
#include "file/encode_rows.h"
#include "base/platform.h"
#include "type/type.h"
#include "storage/archetype.h"
#include "storage/layout.h"
#include "storage/place.h"
#include "storage/row_bits.h"
#include "storage/state.h"
#include "storage/world_data.h"
#include "file/encode.h"
#include "file/pack.h"
#include "file/section.h"
#include "reef/detail/layout.h"

/* A chunk of the table in one of the worlds: unit 0: there is none. */
typedef struct chunk_at {
    const reef_world *w;
    const table *t;
    uint32_t unit, rows;
    const reef_slot *slots;
} chunk_at;

static chunk_at chunk_of(const reef_world *w, const table *t, uint32_t unit)
{
    if (unit == 0 || chunk_rows(t, unit) == 0) return (chunk_at){.w = w};
    return (chunk_at){w, t, unit, chunk_rows(t, unit), unit_slots(w, unit)};
}

static chunk_at chunk_first(const reef_world *w, uint32_t id)
{
    const table *t = w ? table_read(w, id) : NULL;
    return chunk_of(w, t, t && table_rows(t) ? t->first : 0);
}

static chunk_at chunk_next(chunk_at at)
{
    return at.unit == 0 || at.unit == at.t->last ? (chunk_at){.w = at.w} : chunk_of(at.w, at.t, at.slots[0].head.next);
}

/* Nothing of the rows was written in either world since they were one: not even looking is needed. */
static bool chunk_shared(const chunk_at *now, const chunk_at *was)
{
    return now->slots == was->slots && now->rows == was->rows;
}

static bool slot_shared(const reef_slot *a, const reef_slot *b, uint32_t k)
{
    return a[k].block == b[k].block && a[k].version == b[k].version;
}

/* encoding.again for a table: what can't be written, and needn't be, doesn't become a reason to refuse the record. */
static uint64_t again_in(const encoding *x, const table *t)
{
    if (x->again == UINT64_MAX || t == NULL) return UINT64_MAX;
    for (uint32_t i = 0; i < t->shape->component_count; i++) {
        const type *c = reef__type_of(t->shape->component[i]);
        if (c->owner == 0 && reef__pack_allowed(c, x->d->raw) != REEF_OK) return UINT64_MAX;
    }
    return x->again;
}

static bool chunk_differs(const chunk_at *now, const chunk_at *was, uint64_t again, bool deep)
{
    if (was->unit == 0 || now->rows != was->rows) return true;
    if (!deep && chunk_shared(now, was)) return false;
    for (uint32_t k = SLOT_ENTITIES; k < now->t->shape->end_slot; k++)
        if (!slot_shared(now->slots, was->slots, k) || now->slots[k].version > again) return true;
    return false;
}

void reef__encode_rows_oldest(const encoding *x, uint64_t limit, uint64_t *oldest)
{
    for (uint32_t i = 0; i < x->order_count; i++) {
        chunk_at now = chunk_first(x->w, x->order[i]), was = chunk_first(x->base, x->order[i]);
        for (; now.unit; now = chunk_next(now), was = chunk_next(was))
            for (uint32_t k = SLOT_ENTITIES; !chunk_shared(&now, &was) && k < now.t->shape->end_slot; k++)
                if (was.unit == 0 || !slot_shared(now.slots, was.slots, k))
                    encode_older(now.slots[k].version, limit, oldest);
    }
}

static bool bits_differ_in(const encoding *x, uint32_t key, uint32_t id);

bool reef__encode_table_differs(const encoding *x, uint32_t id)
{
    const table *t = table_read(x->w, id), *b = x->base ? table_read(x->base, id) : NULL;
    const uint64_t rows = t ? table_rows(t) : 0;
    const uint64_t again = again_in(x, t);
    if (rows != (b ? table_rows(b) : 0)) return true;
    chunk_at now = chunk_first(x->w, id), was = chunk_first(x->base, id);
    for (; now.unit; now = chunk_next(now), was = chunk_next(was))
        if (chunk_differs(&now, &was, again, x->deep)) return true;
    for (uint32_t i = 0; rows && i < x->w->state.bit_count; i++)
        if (bits_differ_in(x, x->w->state.bits[i].key, id)) return true;
    for (uint32_t i = 0; rows && x->base && i < x->base->state.bit_count; i++)
        if (bits_differ_in(x, x->base->state.bits[i].key, id)) return true;
    return false;
}

void reef__encode_sizes(encoding *x)
{
    uint32_t count = 0;
    reef__section_begin(x->o, SECTION_SIZES);
    const size_t where = reef__put_later(x->o);
    for (uint32_t i = 0; i < x->order_count; i++) {
        const uint32_t id = x->order[i];
        const table *t = table_read(x->w, id), *b = x->base ? table_read(x->base, id) : NULL;
        const uint64_t rows = t ? table_rows(t) : 0;
        if (rows == (b ? table_rows(b) : 0)) continue;
        reef__put_u32(x->o, x->table_number[id]);
        reef__put_u64(x->o, rows);
        count++;
    }
    reef__put_now(x->o, where, count);
    if (count) reef__encode_end(x);
}

/* ---- columns ---- */

/* The slot of part i of a split column; of any other column its own. */
static uint32_t part_slot(const chunk_at *at, const file_column *c, uint32_t i)
{
    return c->slot ? c->slot : reef__slot_seek(at->w, c->type->parts[i], at->t->shape->table);
}

static uint32_t part_number(const file_column *c) { return c->slot ? 1 : c->type->part_count; }

/* The same blocks; *version: with the same versions, which need not be told again. */
static bool column_shared(const chunk_at *now, const chunk_at *was, const file_column *c, uint64_t again, bool *version)
{
    bool same = was->unit != 0;
    *version = same;
    for (uint32_t i = 0; was->unit && i < part_number(c); i++) {
        const uint32_t k = part_slot(now, c, i);
        same &= now->slots[k].block == was->slots[k].block;
        *version &= now->slots[k].version == was->slots[k].version && now->slots[k].version <= again;
    }
    return same;
}

static bool row_same(const chunk_at *now, const chunk_at *was, const file_column *c, uint32_t row)
{
    if (c->type == NULL) return handle_at(now->slots, row) == handle_at(was->slots, row);
    for (uint32_t i = 0; i < part_number(c); i++) {
        const type *t = c->slot ? c->type : reef__type_of(c->type->parts[i]);
        const uint32_t k = part_slot(now, c, i);
        const char *a = cell(now->slots, k, row, t->size), *b = cell(was->slots, k, row, t->size);
        if (c->slot && !c->flat ? !reef__pack_equal(t, a, b) : memcmp(a, b, t->size) != 0) return false;
    }
    return true;
}

/* The first row from `row` on that differs; `rows`: none. */
static uint32_t row_that_differs(const chunk_at *now, const chunk_at *was, const file_column *c, uint32_t row)
{
    const uint32_t both = now->rows < was->rows ? now->rows : was->rows;
    if (c->flat) {
        const size_t size = c->bytes;
        const char *a = now->slots[c->slot].block, *b = was->slots[c->slot].block;
        while (row + 16 <= both && memcmp(a + row * size, b + row * size, 16 * size) == 0) row += 16;
        while (row < both && memcmp(a + row * size, b + row * size, size) == 0) row++;
        return row;
    }
    while (row < both && row_same(now, was, c, row)) row++;
    return row;
}

/* Values of a type that is split, gathered from its parts. */
static COLD void split_put(encoding *x, const chunk_at *at, const file_column *c, uint32_t row, uint32_t rows)
{
    unsigned char *to = reef__put_room(x->o, (size_t)rows * c->bytes);
    uint32_t offset = 0;
    if (to == NULL) return;
    for (uint32_t i = 0; i < c->type->part_count; i++) {
        const type *p = reef__type_of(c->type->parts[i]);
        reef_field field = c->type->fields[i];
        const uint32_t k = part_slot(at, c, i);
        field.offset = 0;
        for (uint32_t r = 0; r < rows; r++)
            reef__pack_field(&field, to + (size_t)r * c->bytes + offset,
                             (const unsigned char *)cell(at->slots, k, row + r, p->size));
        offset += field.bytes;
    }
}

static void row_piece_put(encoding *x, const chunk_at *at, const file_column *c, uint32_t row, uint32_t rows)
{
    if (c->slot == 0) split_put(x, at, c, row, rows);
    else if (c->type == NULL) reef__encode_handles(x, slot_entities(at->slots) + row, rows);
    else reef__encode_values(x, c->type, c->flat, cell(at->slots, c->slot, row, c->type->size), rows);
}

/* `number`: of the column in the file. */
static void piece_put(encoding *x, const chunk_at *at, const file_column *c, uint32_t number, uint32_t row,
                      uint32_t rows)
{
    reef__put_u32(x->o, number);
    reef__put_u32(x->o, row);
    reef__put_u32(x->o, rows);
    for (uint32_t i = 0; i < part_number(c); i++)
        reef__put_u64(x->o, encode_version(x, at->slots[part_slot(at, c, i)].version));
    if (rows) row_piece_put(x, at, c, row, rows);
}

/* The rows of a column that differ: from one that does up to a gap that costs more than the head of another piece. */
static uint32_t column_put(encoding *x, const chunk_at *now, const chunk_at *was, const file_column *c, uint32_t number,
                           uint64_t again)
{
    enum { PIECE_HEAD = 20 };
    const uint32_t gap = PIECE_HEAD / c->bytes;
    bool version;
    uint32_t pieces = 0, row = column_shared(now, was, c, again, &version) ? was->rows : 0;
    if (was->unit && row < now->rows) row = row_that_differs(now, was, c, row);
    while (row < now->rows) {
        uint32_t end = row + 1, next = end;
        while (end < now->rows) {
            if (end >= was->rows) next = end = now->rows; /* all that follows is new */
            else next = row_that_differs(now, was, c, end);
            if (next == now->rows || next - end > gap) break;
            end = next + 1;
        }
        piece_put(x, now, c, number, row, end - row - (BUG(102) && was->unit && number && end - row > 1));
        pieces++;
        row = end < now->rows ? next : end;
    }
    if (pieces == 0 && !version) piece_put(x, now, c, number, 0, 0), pieces++;
    return pieces;
}

static void chunk_put(encoding *x, uint32_t id, uint32_t number, const chunk_at *now, const chunk_at *was,
                      const file_column *columns, uint32_t count)
{
    const uint64_t again = again_in(x, now->t);
    uint32_t pieces = 0;
    reef__section_begin(x->o, SECTION_ROWS);
    reef__put_u32(x->o, x->table_number[id]);
    reef__put_u32(x->o, number);
    const size_t where = reef__put_later(x->o);
    for (uint32_t c = 0; c < count; c++) pieces += column_put(x, now, was, &columns[c], c, again);
    reef__put_now(x->o, where, pieces);
    if (pieces) reef__encode_end(x);
}

void reef__encode_rows(encoding *x)
{
    file_column columns[REEF_COLUMNS_MAX + 1];
    for (uint32_t i = 0; i < x->order_count; i++) {
        const uint32_t id = x->order[i];
        chunk_at now = chunk_first(x->w, id), was = chunk_first(x->base, id);
        if (now.unit == 0 || x->table_number[id] == ENCODE_NONE) continue;
        const uint32_t count = reef__encode_columns(x, now.t->shape, columns);
        for (uint32_t number = 0; now.unit && !encode_stopped(x);
             number++, now = chunk_next(now), was = chunk_next(was))
            if (x->deep || !chunk_shared(&now, &was)) chunk_put(x, id, number, &now, &was, columns, count);
    }
}

/* ---- bits ---- */

/* The words of a chunk: NULL: all zero. */
static const uint64_t *words_of(const bit_store *b, const chunk_at *at, uint64_t *version)
{
    const uint64_t *words = b && at->unit ? bit_words(b, at->unit) : NULL;
    *version = words ? b->words.version[at->unit] : 0;
    return words;
}

/* The bits of a chunk that are to be written into `to`: none: false. Rows that are gone took theirs along. */
static bool bits_differ_at(const bit_store *b, const chunk_at *now, const bit_store *old, const chunk_at *was,
                           uint64_t again, uint64_t *to, uint64_t *version)
{
    uint64_t before;
    const uint64_t *words = words_of(b, now, version), *others = words_of(old, was, &before);
    if (words == others && (words == NULL || (*version == before && *version <= again))) return false;
    bool any = false, differs = false;
    for (uint32_t i = 0; i < BIT_WORDS; i++) {
        const uint32_t first = i * 64;
        const uint64_t rows = now->rows >= first + 64 ? UINT64_MAX
                              : now->rows > first     ? (UINT64_C(1) << (now->rows - first)) - 1
                                                      : 0;
        const uint64_t is = words ? words[i] & rows : 0, used = others ? others[i] & rows : 0;
        to[i] = is;
        any |= is != 0;
        differs |= is != used;
    }
    return differs || (any && (*version != before || *version > again));
}

static bool bits_differ_in(const encoding *x, uint32_t key, uint32_t id)
{
    uint64_t words[BIT_WORDS], version;
    const bit_store *b = bit_store_of(x->w, key), *old = x->base ? bit_store_of(x->base, key) : NULL;
    if (reef__bit_count_rows(x->w, key) == 0 && (old == NULL || reef__bit_count_rows(x->base, key) == 0)) return false;
    const uint64_t again = again_in(x, table_read(x->w, id));
    chunk_at now = chunk_first(x->w, id), was = chunk_first(x->base, id);
    for (; now.unit; now = chunk_next(now), was = chunk_next(was))
        if (bits_differ_at(b, &now, old, &was, again, words, &version)) return true;
    return false;
}

void reef__encode_bits_oldest(const encoding *x, uint64_t limit, uint64_t *oldest)
{
    uint64_t words[BIT_WORDS], version;
    for (uint32_t k = 0; k < x->w->state.bit_count; k++) {
        const bit_store *b = &x->w->state.bits[k], *old = bit_store_of(x->base, b->key);
        for (uint32_t i = 0; i < x->order_count; i++) {
            chunk_at now = chunk_first(x->w, x->order[i]), was = chunk_first(x->base, x->order[i]);
            for (; now.unit; now = chunk_next(now), was = chunk_next(was))
                if (bits_differ_at(b, &now, old, &was, UINT64_MAX, words, &version))
                    encode_older(version, limit, oldest);
        }
    }
}

bool reef__encode_bits_differ(const encoding *x, uint32_t key)
{
    for (uint32_t i = 0; i < x->order_count; i++)
        if (bits_differ_in(x, key, x->order[i])) return true;
    return false;
}

/* The rows of one table. */
static void bits_put(encoding *x, uint32_t key, uint32_t id)
{
    enum { PART = 4096 };
    uint64_t words[BIT_WORDS], version;
    uint32_t count = 0;
    size_t where = 0;
    const bit_store *b = bit_store_of(x->w, key), *old = x->base ? bit_store_of(x->base, key) : NULL;
    const uint32_t component = key & ~BIT_DISABLED, what = (key & BIT_DISABLED) == 0 ? 0 : component ? 1 : 2;
    const uint64_t again = again_in(x, table_read(x->w, id));
    chunk_at now = chunk_first(x->w, id), was = chunk_first(x->base, id);
    for (uint32_t number = 0; now.unit && !encode_stopped(x); number++, now = chunk_next(now), was = chunk_next(was)) {
        if (!bits_differ_at(b, &now, old, &was, again, words, &version)) continue;
        if (count == 0) {
            reef__section_begin(x->o, SECTION_BITS);
            reef__put_u8(x->o, what);
            reef__put_u32(x->o, component ? x->type_number[component] : ENCODE_NONE);
            reef__put_u32(x->o, x->table_number[id]);
            where = reef__put_later(x->o);
        }
        reef__put_u32(x->o, number);
        reef__put_u64(x->o, encode_version(x, version));
        for (uint32_t i = 0; i < BIT_WORDS; i++) reef__put_u64(x->o, words[i]);
        reef__put_now(x->o, where, ++count);
        if (count == PART) count = 0, reef__encode_end(x);
    }
    if (count) reef__encode_end(x);
}

void reef__encode_bits(encoding *x)
{
    for (uint32_t k = 0; k < x->key_count; k++)
        for (uint32_t i = 0; i < x->order_count && !encode_stopped(x); i++)
            if (x->table_number[x->order[i]] != ENCODE_NONE) bits_put(x, x->keys[k], x->order[i]);
}
