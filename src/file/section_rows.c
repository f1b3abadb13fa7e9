/* Sections of a record: the rows of tables, chunk by chunk, and the bits of rows.
 *
 * Writing: chunk k of a table is compared with chunk k of the same table in the base. A column whose block both share
 * isn't looked at. Of the other columns the rows that differ are written, in pieces: a piece ends where more equal rows
 * follow than the head of another piece would cost.
 *
 * Reading: the first section of a table says how many rows it has in the end. If these are fewer, it is cut at once.
 * New rows are made chunk by chunk: first the handles, then default values (zero, or what a construct hook makes), then
 * the values of the section.
 *
 * Invariant: there is never a row without values, and never a row for which no section brought a handle. */
#include "type/portable_bytes.h"
#include "type/value.h"
#include "storage/archetype.h"
#include "storage/entity_index.h"
#include "storage/invalidate.h"
#include "storage/place.h"
#include "storage/quarantine.h"
#include "storage/row_bits.h"
#include "storage/state_kind.h"
#include "storage/table.h"
#include "system/script.h"
#include "world/world_pair.h"
#include "file/decode_types.h"
#include "file/decoding.h"
#include "file/encoding.h"
#include "file/pack.h"
#include "file/section.h"
#include "reef/detail/layout.h"
#include "reef/ref.h"

/* ---- writing ROWS ---- */

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

/* encoding.again for a table: for all of its types. */
static uint64_t again_in(const encoding *x, const table *t)
{
    uint64_t again = t ? x->again : UINT64_MAX;
    for (uint32_t i = 0; again != UINT64_MAX && i < t->shape->component_count; i++) {
        const type *c = type_known(t->shape->component[i]);
        if (c->owner == 0) again = reef__encode_again(x, c);
    }
    return again;
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
    else if (c->type == NULL) reef__put_handles(x->o, slot_entities(p->slots[NOW]) + row, rows);
    else reef__encode_values(x, c->type, cell(p->slots[NOW], c->slot, row, c->type->size), rows);
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

/* ---- reading ROWS ---- */

/* Removes the last row. Its entity has another place already, or will get one. */
static bool row_end(decoding *d, table *t)
{
    reef_world *w = d->w;
    const uint32_t unit = t->last, place = t->next - 1;
    if (!reef__table_prepare_pop(w, t) || (t->shape->hooked && !reef__chunk_own(w, t, unit)) ||
        (t->bits && !reef__bits_prepare_clear(w, t->bits, place)))
        return reef__decode_no_memory(d);
    reef__bits_clear(w, t->bits, place);
    reef__row_destroy(t->shape, unit_slots(w, unit), place - unit_place(unit));
    reef__row_pop(w, t);
    return true;
}

bool reef__decode_rows_done(decoding *d)
{
    for (uint32_t i = 0; i < d->table_count; i++) {
        const table *t = table_read(d->w, d->tables[i].id);
        if (d->tables[i].rows != (t ? table_rows(t) : 0))
            return reef__in_wrong(d->in, REEF_CORRUPT, "the rows of table %u have no content", (unsigned)i);
    }
    return true;
}

typedef struct chunk_reading {
    decoding *d;
    file_table *ft;
    table *t;
    uint32_t unit, rows, fresh; /* rows: number of the chunk's rows at the end; those from `fresh` on are new */
    bool begun;                 /* the new rows are rows of the table */
    uint64_t at, brought;       /* the end of the last piece; number of handles and values of new rows so far */
} chunk_reading;

typedef struct piece_head {
    uint32_t column, row, rows, versions; /* versions: number of versions; one for each field of a split type, else 1 */
    uint64_t version[REEF_SPLIT_FIELDS_MAX], newest;
    const file_type *f;
    const unsigned char *values;
} piece_head;

static bool piece_versions(const chunk_reading *x, piece_head *p)
{
    section_in *in = x->d->in;
    p->newest = 0;
    for (uint32_t i = 0; i < p->versions; i++) {
        p->version[i] = reef__get_version(x->d);
        if (p->version[i] == 0) return reef__in_wrong(in, REEF_CORRUPT, "a write has no version");
        if (p->version[i] > p->newest) p->newest = p->version[i];
    }
    return true;
}

/* The version of field i of a split type. Where the program's type has other fields it is the newest of all. */
static uint64_t piece_version(const piece_head *p, uint32_t i)
{
    return p->versions > 1 && i < p->versions && p->f->t->part_count == p->versions ? p->version[i] : p->newest;
}

/* Reads the head of the next piece and checks that all of its values are there. Pieces are ordered by column and row.
 */
static bool piece_next(chunk_reading *x, piece_head *p)
{
    section_in *in = x->d->in;
    p->column = (uint32_t)reef__get_most(in, "column", 4, x->ft->column_count);
    p->row = (uint32_t)reef__get_most(in, "row", 4, x->rows);
    p->rows = (uint32_t)reef__get_most(in, "rows", 4, x->rows - p->row);
    if (in->status != REEF_OK) return false;
    const uint64_t at = (uint64_t)p->column << 32 | p->row;
    const uint32_t end = p->row + p->rows, first = p->row > x->fresh ? p->row : x->fresh;
    if (at < x->at) return reef__in_wrong(in, REEF_CORRUPT, "pieces of a chunk come out of order");
    x->at = at + p->rows;
    x->brought += end > first ? end - first : 0;
    p->f = p->column ? &x->d->types[x->ft->types[p->column - 1]] : NULL;
    p->versions = p->f && p->f->home == REEF_SPLIT ? p->f->field_count : 1;
    if (p->versions == 0 || p->versions > REEF_SPLIT_FIELDS_MAX)
        return reef__in_wrong(in, REEF_CORRUPT, "type %.80s is split by field, but has no fields or too many",
                              p->f->name);
    if (!piece_versions(x, p)) return false;
    p->values = reef__get_array(in, p->rows, p->column ? p->f->bytes : sizeof(reef_entity));
    return p->values != NULL;
}

/* Gives the entities of a piece their places. In a whole world nearly all of them had no place before, and no other
 * world shares their records: that is the quick way. */
static bool handles_place(const chunk_reading *x, const reef_entity *e, const piece_head *p)
{
    reef_world *w = x->d->w;
    const bool ours = w->hot.records.shared == 0;
    const uint32_t first = unit_place(x->unit) + p->row;
    for (uint32_t i = 0; i < p->rows; i++) {
        const bool quick = ours && e[i].generation && e[i].index < w->hot.index_count &&
                           (uint32_t)record_read(w, e[i].index) - 1 >= PLACE_EMPTY;
        if (LIKELY(quick)) record_put(w, e[i], first + i);
        else if (!reef__decode_place(x->d, e[i], first + i)) return false;
    }
    return true;
}

/* A row that exists gets another entity. Its values with hooks are made anew, so that the new entity has nothing of
 * what the old values own or of what a fork resets. The file repeats what it has of them. */
static bool row_renew(const chunk_reading *x, uint32_t row, reef_entity e)
{
    const shape *s = x->t->shape;
    for (uint32_t k = SLOT_COLUMNS; k < s->end_slot; k++) {
        const type *t = s->columns[k].type;
        if (!t->hooked) continue;
        if (!reef__block_own_at(x->d->w, x->t, x->unit, k)) return reef__decode_no_memory(x->d);
        void *fresh = reef__decode_value_room(x->d, t->size);
        if (fresh == NULL || !reef__decode_construct(x->d, t, e, fresh)) return false;
        void *value = cell(unit_slots(x->d->w, x->unit), k, row, t->size);
        value_destroy(t, value);
        reef__value_move(t, value, fresh);
    }
    return true;
}

static bool rows_renew(const chunk_reading *x, const piece_head *p)
{
    if (!x->t->shape->hooked) return true;
    for (uint32_t row = p->row; row < p->row + p->rows && row < x->fresh; row++) {
        const reef_entity e = reef__handle_at(p->values, row - p->row);
        if (e.generation == 0 || reef_entity_equal(e, slot_entities(unit_slots(x->d->w, x->unit))[row])) continue;
        if (!row_renew(x, row, e)) return false;
    }
    return true;
}

static bool handles_read(const chunk_reading *x, const piece_head *p)
{
    reef_world *w = x->d->w;
    if (!rows_renew(x, p)) return false;
    if (!reef__block_own_at(w, x->t, x->unit, SLOT_ENTITIES)) return reef__decode_no_memory(x->d);
    reef_slot *slots = unit_slots(w, x->unit);
    slots[SLOT_ENTITIES].version = p->newest;
    reef_entity *to = (reef_entity *)slots[SLOT_ENTITIES].block + p->row;
    reef__handles_copy(to, p->values, p->rows);
    if (!handles_place(x, to, p)) return false;
    reef__invalidate(w, INVALIDATE_WRITTEN);
    return true;
}

/* Makes room for new rows. They don't belong to the table yet. */
static bool chunk_grow(chunk_reading *x, uint32_t rows)
{
    reef_world *w = x->d->w;
    table *t = x->t;
    lease_end(t);
    const bool small = t->chunks == 0 || (t->chunks == 1 && t->end - unit_place(t->last) < REEF_BLOCK_ROWS);
    if (small ? !reef__table_reserve(w, t, rows) : !reef__table_room(w, t)) return reef__decode_no_memory(x->d);
    lease_end(t);
    x->unit = t->last;
    x->fresh = t->next - unit_place(t->last);
    ASSERT(t->end - t->next >= rows);
    reef_slot *slots = unit_slots(w, x->unit);
    reef__quarantine_open(w, t, x->unit); /* rows that went have closed what lies behind them */
    memset((reef_entity *)slots[SLOT_ENTITIES].block + x->fresh, 0, rows * sizeof(reef_entity));
    return true;
}

/* Destroys the values of new rows that were made before a hook refused in column `end` at `row`. */
static void columns_end(const chunk_reading *x, uint32_t end, uint32_t row)
{
    const shape *s = x->t->shape;
    for (uint32_t k = SLOT_COLUMNS; k <= end; k++)
        for (uint32_t i = x->fresh; i < (k < end ? x->rows : row); i++)
            value_destroy(s->columns[k].type, cell(unit_slots(x->d->w, x->unit), k, i, s->columns[k].size));
}

/* Does the file bring whole values for all new rows, which needn't be zeroed first? */
static bool column_is_whole(const chunk_reading *x, const type *t)
{
    for (uint32_t i = 0; i < x->ft->column_count; i++) {
        const file_type *f = &x->d->types[x->ft->types[i]];
        if (f->t == t) return f->whole;
    }
    return false;
}

/* Gives the new rows default values, and makes them part of the table. */
static bool rows_begin(chunk_reading *x)
{
    const shape *s = x->t->shape;
    reef_slot *slots = unit_slots(x->d->w, x->unit);
    const reef_entity *e = slot_entities(slots);
    const uint32_t fresh = x->rows - x->fresh;
    x->begun = true;
    if (fresh == 0) return true;
    for (uint32_t i = x->fresh; i < x->rows; i++)
        if (e[i].generation == 0) return reef__in_wrong(x->d->in, REEF_CORRUPT, "the rows of a chunk have no content");
    for (uint32_t k = SLOT_COLUMNS; k < s->end_slot; k++) {
        const column *c = &s->columns[k];
        if (c->type->hooks.construct == NULL && !column_is_whole(x, c->type))
            memset(cell(slots, k, x->fresh, c->size), 0, (size_t)fresh * c->size);
        for (uint32_t i = x->fresh; c->type->hooks.construct && i < x->rows; i++) {
            if (reef__decode_construct(x->d, c->type, e[i], cell(slots, k, i, c->size))) continue;
            columns_end(x, k, i);
            return false;
        }
    }
    x->t->next += fresh;
    if (s->hooked) slots[0].head_more.count = (uint16_t)x->rows;
    return true;
}

/* The values of a column from the piece's first row on, which this world owns, with the piece's version. NULL: no
 * memory. */
static char *column_ready(const chunk_reading *x, const piece_head *p, const type *t, uint64_t version)
{
    reef_world *w = x->d->w;
    const uint32_t k = reef__slot_seek(w, t->id, x->t->shape->table);
    ASSERT(k != 0 && k != REEF_SLOT_TAG);
    if (!reef__block_own_at(w, x->t, x->unit, k)) return (void)reef__decode_no_memory(x->d), NULL;
    reef_slot *slots = unit_slots(w, x->unit);
    slots[k].version = version;
    reef__invalidate(w, INVALIDATE_WRITTEN);
    return cell(slots, k, p->row, t->size);
}

/* Reads values of a split type as structs, and spreads them over the columns of its parts. */
static bool split_read(const chunk_reading *x, const piece_head *p)
{
    const type *t = p->f->t;
    char *values = reef__decode_value_room(x->d, (p->rows + (size_t)1) * t->size);
    if (values == NULL) return false;
    memset(values, 0, (size_t)p->rows * t->size);
    reef__decode_values(p->f, p->values, values, t->size, p->rows);
    for (uint32_t i = 0; i < t->part_count; i++) {
        const type *part = reef__type_of(t->parts[i]);
        char *to = column_ready(x, p, part, piece_version(p, i));
        if (to == NULL) return false;
        for (uint32_t row = 0; row < p->rows; row++)
            bytes_copy(to + (size_t)row * part->size, values + (size_t)row * t->size + part->offset, part->size);
    }
    return true;
}

/* Reads values. Where the plan doesn't set all bytes of a value, those of rows that existed before are zeroed: what was
 * there belongs to the state before. Values with hooks keep what they own. */
static bool values_read(const chunk_reading *x, const piece_head *p)
{
    const type *t = p->f->t;
    if (p->f->dropped || t->size == 0) return true;
    if (t->split) return split_read(x, p);
    char *to = column_ready(x, p, t, p->newest);
    if (to == NULL) return false;
    if (p->f->partial && !t->hooked && p->row < x->fresh) memset(to, 0, (size_t)p->rows * t->size);
    reef__decode_values(p->f, p->values, to, t->size, p->rows);
    if (t->id == x->d->script) x->d->unbound += reef__scripts_bind(to, p->rows);
    return true;
}

/* Reads the pieces: first the handles of rows, then their values. */
static bool pieces_read(chunk_reading *x, uint32_t pieces)
{
    piece_head p = {0};
    EACH_ELEMENT(x->d->in, i, pieces)
    {
        if (!piece_next(x, &p)) return false;
        if (p.column && !x->begun && !rows_begin(x)) return false;
        if (!(p.column ? values_read(x, &p) : handles_read(x, &p))) return false;
    }
    if (x->d->in->status != REEF_OK || (!x->begun && !rows_begin(x))) return false;
    return x->brought == (x->ft->column_count + UINT64_C(1)) * (x->rows - x->fresh) ||
           reef__in_wrong(x->d->in, REEF_CORRUPT, "the rows of a chunk have no content");
}

bool reef__decode_rows(decoding *d)
{
    section_in *in = d->in;
    chunk_reading x = {.d = d, .ft = reef__get_table(d)};
    const uint64_t rows = reef__get_most(in, "rows", 8, d->w->hot.index_count);
    const uint32_t chunk = reef__get_u32(in), pieces = reef__get_u32(in);
    if (x.ft == NULL || in->status != REEF_OK) return false;
    x.t = reef__table_own(d->w, x.ft->id);
    if (x.t == NULL) return reef__decode_no_memory(d);
    if (rows != x.ft->rows) x.ft->unit_count = 0;
    x.ft->rows = rows;
    for (lease_end(x.t); table_rows(x.t) > rows;)
        if (!row_end(d, x.t)) return false;
    if (pieces == 0) return true;
    const uint64_t first = (uint64_t)chunk * REEF_BLOCK_ROWS, have = table_rows(x.t);
    if (first >= rows || first > have)
        return reef__in_wrong(in, REEF_CORRUPT, "rows belong to a chunk that doesn't exist, or come out of order");
    x.rows = rows - first < REEF_BLOCK_ROWS ? (uint32_t)(rows - first) : REEF_BLOCK_ROWS;
    x.fresh = x.rows;
    if (have < first + x.rows) {
        if (first + x.rows - have > in_left(in) / sizeof(reef_entity))
            return reef__in_wrong(in, REEF_CORRUPT, "the rows of a chunk have no content");
        if (!chunk_grow(&x, (uint32_t)(first + x.rows - have))) return false;
    } else {
        x.unit = reef__decode_unit(d, x.ft, chunk);
        if (x.unit == 0 || !reef__chunk_page_own(d->w, x.unit)) return x.unit != 0 && reef__decode_no_memory(d);
    }
    return pieces_read(&x, pieces);
}

/* ---- BITS ---- */

/* Puts the bits of a chunk that are to be written into `to`. False: there are none. The bits of rows that the world
 * doesn't have any more went with the rows. */
static bool bits_differ_at(const chunk_pair *p, uint32_t key, uint64_t again, uint64_t *to, uint64_t *version)
{
    uint64_t differ[BIT_WORDS] = {0}, any = 0, other = 0, versions[2] = {0};
    const uint64_t *words = NULL;
    for (int side = WAS; side <= NOW; side++) {
        const bit_store *b = p->unit[side] ? bit_store_of(p->world[side], key) : NULL;
        words = b ? bit_words(b, p->unit[side]) : NULL;
        versions[side] = words ? b->words.version[p->unit[side]] : 0;
    }
    *version = versions[NOW];
    const bool written = *version != versions[WAS] || *version > again;
    if (!chunk_pair_bits_differ(p, key, differ) && !written) return false;
    for (uint32_t i = 0; i < BIT_WORDS; i++) {
        to[i] = words ? words[i] & rows_below(p->rows[NOW], i) : 0;
        any |= to[i];
        other |= differ[i] & rows_below(p->rows[NOW], i);
    }
    return other || (any && written);
}

/* Writes the bits of one key in one table. */
static void bits_put(encoding *x, uint32_t key, uint32_t id)
{
    enum { PART = 4096 };
    uint64_t words[BIT_WORDS], version;
    uint32_t count = 0;
    size_t where = 0;
    const uint32_t component = key & ~BIT_DISABLED, what = (key & BIT_DISABLED) == 0 ? 0 : component ? 1 : 2;
    const uint64_t again = again_in(x, table_read(x->w, id));
    chunk_pair p = chunks_of(x, id);
    for (; p.unit[NOW] && !encode_stopped(x); chunk_pair_next(&p)) {
        if (!bits_differ_at(&p, key, again, words, &version)) continue;
        if (count == 0) {
            reef__section_begin(x->o, SECTION_BITS);
            reef__put_u8(x->o, what);
            reef__put_u32(x->o, component ? reef__encode_type(x, component) : NUMBER_NONE);
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

/* Reads the words of a chunk. Values of a type that is left out are only counted. */
static bool words_read(decoding *d, uint32_t key, file_table *ft, file_type *f)
{
    section_in *in = d->in;
    reef_world *w = d->w;
    uint64_t words[BIT_WORDS];
    const uint32_t chunk = reef__get_u32(in), component = key & ~BIT_DISABLED;
    const uint64_t version = reef__get_version(d);
    uint32_t ones = 0;
    for (uint32_t i = 0; i < BIT_WORDS; i++) words[i] = reef__get_u64(in), ones += bits_count(words[i]);
    if (in->status != REEF_OK) return false;
    if (f && (f->t == NULL || f->dropped)) return f->rows += key & BIT_DISABLED ? 0 : ones, true;
    const uint32_t unit = reef__decode_unit(d, ft, chunk);
    if (unit == 0) return false;
    /* The bit store of a type is made before that of its marks. Where it has words they keep their version. */
    const bool of_bits =
        component && reef__type_of(component)->bit && bit_words(bit_store_of(w, component), unit) == NULL;
    if ((of_bits && !reef__bit_prepare(w, component, ft->id, unit_place(unit), true)) ||
        !reef__bit_prepare(w, key, ft->id, unit_place(unit), true))
        return reef__decode_no_memory(d);
    bit_store *b = (bit_store *)(uintptr_t)bit_store_of(w, key);
    uint64_t *to = b->words.page[unit];
    for (uint32_t i = 0; i < BIT_WORDS; i++) b->switched -= bits_count(to[i]);
    b->switched += ones;
    memcpy(to, words, sizeof words);
    if (version) b->words.version[unit] = version;
    return true;
}

bool reef__decode_bits(decoding *d)
{
    enum { CHUNK_BYTES = 12 + 8 * BIT_WORDS };
    section_in *in = d->in;
    const uint64_t what = reef__get_most(in, "what", 1, 2);
    file_type *f = what == 2 ? NULL : reef__get_type(d, what == 0 ? HOMES_BITS : HOMES_ALL);
    if (what == 2 && reef__get_u32(in) != UINT32_MAX)
        return reef__in_wrong(in, REEF_CORRUPT, "marks of entities belong to a type");
    file_table *ft = reef__get_table(d);
    const uint32_t count = reef__get_count(in, "words", CHUNK_BYTES);
    if (in->status != REEF_OK || ft == NULL) return false;
    const uint32_t key = (f && f->t ? f->t->id : 0) | (what == 0 ? 0 : BIT_DISABLED);
    EACH_ELEMENT(in, i, count)
    if (!words_read(d, key, ft, f)) return false;
    return in->status == REEF_OK;
}
