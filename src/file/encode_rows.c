/* Writing a record: the rows of tables, chunk by chunk, and the bits of rows.
 *
 * Chunk k of a table is compared with chunk k of the same table in the base. A column whose block both share isn't
 * looked at. Of the other columns the rows that differ are written, in pieces: a piece ends where more equal rows
 * follow than the head of another piece would cost. */
#include "type/portable_bytes.h"
#include "storage/archetype.h"
#include "storage/place.h"
#include "storage/row_bits.h"
#include "storage/state_kind.h"
#include "world/world_pair.h"
#include "file/encoding.h"
#include "file/pack.h"
#include "file/section.h"
#include "reef/detail/layout.h"

/* The sides of a pair of chunks. */
enum { WAS, NOW };

/* The first chunks of a table, in the base and in the world. */
static chunk_pair chunks_of(const encoding *x, uint32_t id)
{
    chunk_pair p = {.world = {x->base, x->w}};
    for (int side = 0; side < 2; side++) p.t[side] = p.world[side] ? table_read(p.world[side], id) : NULL;
    (void)chunk_pair_first(&p);
    return p;
}

static bool slot_shared(const reef_slot *a, const reef_slot *b, uint32_t k)
{
    return a[k].block == b[k].block && a[k].version == b[k].version;
}

/* encoding.again for a table. What is written again needn't be, so where values of the table can't be written it is
 * left out, rather than that the record is refused. */
static uint64_t again_in(const encoding *x, const table *t)
{
    if (x->again == UINT64_MAX || t == NULL) return UINT64_MAX;
    for (uint32_t i = 0; i < t->shape->component_count; i++) {
        const type *c = type_known(t->shape->component[i]);
        if (c->owner == 0 && reef__pack_allowed(c, x->d->form) != REEF_OK) return UINT64_MAX;
    }
    return x->again;
}

static bool chunk_differs(const chunk_pair *p, uint64_t again, bool deep)
{
    if (p->unit[WAS] == 0 || p->rows[NOW] != p->rows[WAS]) return true;
    if (!deep && chunk_pair_shared(p)) return false;
    for (uint32_t k = SLOT_ENTITIES; k < p->t[NOW]->shape->end_slot; k++)
        if (!slot_shared(p->slots[NOW], p->slots[WAS], k) || p->slots[NOW][k].version > again) return true;
    return false;
}

/* Word i of the mask of the first `rows` rows. */
static uint64_t rows_below(uint32_t rows, uint32_t i)
{
    if (rows <= i * 64) return 0;
    return rows >= (i + 1) * 64 ? UINT64_MAX : (UINT64_C(1) << rows % 64) - 1;
}

/* ---- columns ---- */

/* The slot of part i of a split column. Any other column has one part, itself. */
static uint32_t part_slot(const chunk_pair *p, const file_column *c, uint32_t i)
{
    return c->slot ? c->slot : reef__slot_seek(p->world[NOW], c->type->parts[i], p->t[NOW]->shape->table);
}

static uint32_t part_number(const file_column *c) { return c->slot ? 1 : c->type->part_count; }

/* Are the versions of the column's blocks as in the base, so that they needn't be written? */
static bool versions_shared(const chunk_pair *p, const file_column *c, uint64_t again)
{
    for (uint32_t i = 0; p->unit[WAS] && i < part_number(c); i++) {
        const uint32_t k = part_slot(p, c, i);
        if (p->slots[NOW][k].version != p->slots[WAS][k].version || p->slots[NOW][k].version > again) return false;
    }
    return p->unit[WAS] != 0;
}

/* The rows of a column that differ. Rows that the base doesn't have count as different. A value with hooks is written
 * again where its row has another entity: the reader makes it anew. */
static void column_masks(const chunk_pair *p, const file_column *c, uint64_t *masks)
{
    for (uint32_t i = 0; i < part_number(c); i++) {
        const uint32_t k = part_slot(p, c, i);
        (void)chunk_pair_differ(p, c->slot ? c->type : reef__type_of(c->type->parts[i]), k, k, masks);
    }
    if (c->type && c->type->hooked) (void)chunk_pair_differ(p, NULL, SLOT_ENTITIES, SLOT_ENTITIES, masks);
    for (uint32_t i = 0; i < BIT_WORDS; i++) masks[i] |= rows_below(p->rows[NOW], i) & ~rows_below(p->rows[WAS], i);
}

/* The first row from `row` on of which the mask says `set`; REEF_BLOCK_ROWS: there is none. */
static uint32_t mask_seek(const uint64_t *masks, uint32_t row, bool set)
{
    for (uint64_t word; row < REEF_BLOCK_ROWS; row = (row | 63) + 1) {
        word = (set ? masks[row / 64] : ~masks[row / 64]) >> row % 64;
        if (word) return row + bits_first(word);
    }
    return REEF_BLOCK_ROWS;
}

/* Writes values of a split type, which are gathered from its parts. */
static COLD void split_put(encoding *x, const chunk_pair *p, const file_column *c, uint32_t row, uint32_t rows)
{
    unsigned char *to = reef__put_room(x->o, (size_t)rows * c->bytes);
    uint32_t offset = 0;
    if (to == NULL) return;
    for (uint32_t i = 0; i < c->type->part_count; i++) {
        const uint32_t size = reef__type_of(c->type->parts[i])->size;
        const reef_field *field = &c->type->fields[i];
        const uint32_t k = part_slot(p, c, i);
        for (uint32_t r = 0; r < rows; r++)
            reef__portable_copy(field->kind, to + (size_t)r * c->bytes + offset,
                                (const unsigned char *)cell(p->slots[NOW], k, row + r, size), field->bytes);
        offset += field->bytes;
    }
}

static void row_piece_put(encoding *x, const chunk_pair *p, const file_column *c, uint32_t row, uint32_t rows)
{
    if (c->slot == 0) split_put(x, p, c, row, rows);
    else if (c->type == NULL) reef__encode_handles(x, slot_entities(p->slots[NOW]) + row, rows);
    else reef__encode_values(x, c->type, c->flat, cell(p->slots[NOW], c->slot, row, c->type->size), rows);
}

/* Writes one piece of a column. `number`: that of the column in the file. */
static void piece_put(encoding *x, const chunk_pair *p, const file_column *c, uint32_t number, uint32_t row,
                      uint32_t rows)
{
    reef__put_u32(x->o, number);
    reef__put_u32(x->o, row);
    reef__put_u32(x->o, rows);
    for (uint32_t i = 0; i < part_number(c); i++)
        reef__put_u64(x->o, encode_version(x, p->slots[NOW][part_slot(p, c, i)].version));
    if (rows) row_piece_put(x, p, c, row, rows);
}

/* Writes the rows of a column that differ. Answers the number of pieces. */
static uint32_t column_put(encoding *x, const chunk_pair *p, const file_column *c, uint32_t number, uint64_t again)
{
    enum { PIECE_HEAD = 20 };
    const uint32_t gap = PIECE_HEAD / c->bytes;
    uint64_t masks[BIT_WORDS] = {0};
    uint32_t pieces = 0;
    if (p->unit[WAS] == 0) return piece_put(x, p, c, number, 0, p->rows[NOW]), 1;
    column_masks(p, c, masks);
    for (uint32_t row = mask_seek(masks, 0, true), next; row < p->rows[NOW]; row = next) {
        uint32_t end = mask_seek(masks, row, false);
        while ((next = mask_seek(masks, end, true)) < p->rows[NOW] && next - end <= gap)
            end = mask_seek(masks, next, false);
        piece_put(x, p, c, number, row, end - row);
        pieces++;
    }
    if (pieces == 0 && !versions_shared(p, c, again)) piece_put(x, p, c, number, 0, 0), pieces++;
    return pieces;
}

static void chunk_begin(encoding *x, uint32_t id, uint32_t chunk)
{
    const table *t = table_read(x->w, id);
    reef__section_begin(x->o, SECTION_ROWS);
    reef__put_u32(x->o, reef__encode_table(x, id));
    reef__put_u64(x->o, t ? table_rows(t) : 0);
    reef__put_u32(x->o, chunk);
}

/* Writes the rows of a chunk. False: there is nothing to write. */
static bool chunk_put(encoding *x, uint32_t id, const chunk_pair *p, const file_column *columns, uint32_t count,
                      uint64_t again)
{
    uint32_t pieces = 0;
    chunk_begin(x, id, p->number);
    const size_t where = reef__put_later(x->o);
    for (uint32_t c = 0; c < count; c++) pieces += column_put(x, p, &columns[c], c, again);
    reef__put_now(x->o, where, pieces);
    if (pieces) reef__encode_end(x);
    return pieces != 0;
}

/* Writes the chunks of a table that differ. If none does, it may still have other rows: fewer of them. */
static void table_put(encoding *x, uint32_t id)
{
    file_column columns[REEF_COLUMNS_MAX + 1];
    const table *t = table_read(x->w, id), *old = x->base ? table_read(x->base, id) : NULL;
    const uint64_t again = again_in(x, t);
    uint32_t count = 0;
    bool told = (t ? table_rows(t) : 0) == (old ? table_rows(old) : 0);
    for (chunk_pair p = chunks_of(x, id); p.unit[NOW] && !encode_stopped(x); chunk_pair_next(&p)) {
        if (!chunk_differs(&p, again, x->deep)) continue;
        if (count == 0) count = reef__encode_columns(x, p.t[NOW]->shape, columns);
        told |= chunk_put(x, id, &p, columns, count, again);
    }
    if (told || encode_stopped(x)) return;
    chunk_begin(x, id, 0);
    reef__put_u32(x->o, 0);
    reef__encode_end(x);
}

void reef__encode_rows(encoding *x)
{
    for (uint32_t i = 0; i < x->order_count; i++) table_put(x, x->order[i]);
}

/* ---- bits ---- */

/* The words of a chunk, and their version. NULL: all are zero. */
static const uint64_t *words_of(const bit_store *b, uint32_t unit, uint64_t *version)
{
    const uint64_t *words = b && unit ? bit_words(b, unit) : NULL;
    *version = words ? b->words.version[unit] : 0;
    return words;
}

/* Puts the bits of a chunk that are to be written into `to`. False: there are none. The bits of rows that the world
 * doesn't have any more went with the rows. */
static bool bits_differ_at(const chunk_pair *p, const bit_store *b, const bit_store *old, uint64_t again, uint64_t *to,
                           uint64_t *version)
{
    uint64_t before;
    const uint64_t *words = words_of(b, p->unit[NOW], version), *others = words_of(old, p->unit[WAS], &before);
    if (words == others && (words == NULL || (*version == before && *version <= again))) return false;
    bool any = false, differs = false;
    for (uint32_t i = 0; i < BIT_WORDS; i++) {
        const uint64_t rows = rows_below(p->rows[NOW], i);
        const uint64_t is = words ? words[i] & rows : 0, used = others ? others[i] & rows : 0;
        to[i] = is;
        any |= is != 0;
        differs |= is != used;
    }
    return differs || (any && (*version != before || *version > again));
}

/* Writes the bits of one key in one table. */
static void bits_put(encoding *x, uint32_t key, uint32_t id)
{
    enum { PART = 4096 };
    uint64_t words[BIT_WORDS], version;
    uint32_t count = 0;
    size_t where = 0;
    const bit_store *b = bit_store_of(x->w, key), *old = x->base ? bit_store_of(x->base, key) : NULL;
    const uint32_t component = key & ~BIT_DISABLED, what = (key & BIT_DISABLED) == 0 ? 0 : component ? 1 : 2;
    const uint64_t again = again_in(x, table_read(x->w, id));
    chunk_pair p = chunks_of(x, id);
    for (; p.unit[NOW] && !encode_stopped(x); chunk_pair_next(&p)) {
        if (!bits_differ_at(&p, b, old, again, words, &version)) continue;
        if (count == 0) {
            reef__section_begin(x->o, SECTION_BITS);
            reef__put_u8(x->o, what);
            reef__put_u32(x->o, component ? reef__encode_type(x, component) : ENCODE_NONE);
            reef__put_u32(x->o, reef__encode_table(x, id));
            where = reef__put_later(x->o);
        }
        reef__put_u32(x->o, p.number);
        reef__put_u64(x->o, encode_version(x, version));
        for (uint32_t i = 0; i < BIT_WORDS; i++) reef__put_u64(x->o, words[i]);
        reef__put_now(x->o, where, ++count);
        if (count == PART) count = 0, reef__encode_end(x);
    }
    if (count) reef__encode_end(x);
}

void reef__encode_bits(encoding *x)
{
    for (state_key k = {0}; reef__state_next(STATE_BITS, x->w, x->base, &k);)
        if (reef__bit_count_rows(x->w, k.key) || (x->base && reef__bit_count_rows(x->base, k.key)))
            for (uint32_t i = 0; i < x->order_count && !encode_stopped(x); i++) bits_put(x, k.key, x->order[i]);
}
