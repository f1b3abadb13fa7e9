/* The difference of two worlds, one change at a time.
 *
 *   reef_diff_new    tables of both by name ──► pairs of chunks ──► spots
 *   reef_diff_next   ids ──► names ──► type by type and kind by kind: the spots of its tables ──► masks of 64 rows
 *
 * A *spot* is a pair of chunks that may differ: the two worlds don't share all of its blocks and words of bits.
 * Chunk k of a table is compared with chunk k of the same table in the other world. Nearly everywhere both have the
 * same entity in the same row, and a loop over both blocks compares the values. Where they don't, the row is
 * *moved*, and its entity is looked up in the other world. Values in stores are compared by entity index, where pages
 * with values that both worlds share are passed over.
 *
 * Invariant: reef_diff_new takes all memory that is needed, so reef_diff_next can't fail. */
#include "storage/archetype.h"
#include "storage/entity_index.h"
#include "storage/multi_store.h"
#include "storage/place.h"
#include "storage/read.h"
#include "storage/row_bits.h"
#include "storage/sparse_store.h"
#include "storage/split_columns.h"
#include "storage/state_kind.h"
#include "storage/value_arena.h"
#include "world/world_pair.h"
#include "reef/diff.h"
#include "reef/ref.h"
#include "reef/type_info.h"
#include <stdlib.h>

typedef struct diff_spot {
    chunk_pair c;
    bool moved;   /* some row has another entity in the other world */
    uint32_t end; /* number of the first spot of the next table */
} diff_spot;

struct reef_diff {
    /* the current group of 64 rows: reef_diff_next reads only this when it is quick */
    uint64_t mask; /* rows of the group that are still to be looked at */
    bool straight; /* the values of a row lie at the same row of both blocks */
    bool fielded;  /* the fields are compared too: the bytes between them may differ and mean nothing */
    size_t size;
    const char *was; /* value of the group's first row in world 0 */
    uintptr_t apart; /* distance from there to the same row's value in world 1 */
    const reef_entity *entities;
    reef_change change;
    /* the position. change.kind is the kind of change that is sought; 0: there is none left */
    uint32_t side;                               /* the world whose rows are walked */
    uint64_t at;                                 /* entity index, or number of a name */
    uint32_t type_at, spot_at, table_end, group; /* table_end: number of the first spot of the next table */
    const type *type;                            /* NULL: the entity itself */
    bool valued, stored;                         /* values are compared; values lie in a store */
    uint32_t slot[2];
    const diff_spot *spot;
    const reef_entity *chunk; /* the spot's entities in the world that is walked */
    const char *column[2];    /* the spot's values in both worlds */
    uint64_t masks[BIT_WORDS];
    uint32_t number, number_end; /* of the entity's values in a store that are looked at */
    /* what is compared */
    const reef_world *world[2];
    bool related; /* the worlds are of one family and may share memory */
    diff_spot *spots;
    uint64_t *names; /* index << 32 | generation of each entity whose name differs */
    uint32_t *types; /* by name; the first is 0 and stands for the entity itself */
    char *gathered;  /* room for two values of a split type */
    uint64_t *marks; /* pages of the walked store's index with entities whose values may differ, as bits */
    uint32_t spot_count, name_count, type_count;
    value_arena *rooms; /* the memory of all these */
};

/* ---- rows that differ ---- */

/* The fields that differ, as reef_change.fields. */
static uint64_t fields_differ(const type *t, const char *p, const char *q)
{
    const reef_field *fields = REEF_ACQUIRE_POINTER(&t->fields);
    if (fields == NULL) return memcmp(p, q, t->size) != 0;
    uint64_t differ = 0;
    for (uint32_t i = 0; i < t->field_count; i++) {
        const char *a = p + fields[i].offset, *b = q + fields[i].offset;
        const bool other = LIKELY(fields[i].bytes == 4) ? memcmp(a, b, 4) != 0 : memcmp(a, b, fields[i].bytes) != 0;
        differ |= (uint64_t)other << (i < 63 ? i : 63);
    }
    return differ;
}

/* ---- the spots ---- */

/* May the two chunks differ? *moved: some row has another entity. */
static bool chunks_differ(const reef_diff *d, const chunk_pair *c, bool *moved)
{
    const reef_slot *a = c->slots[0], *b = c->slots[1];
    const uint64_t *words[2];
    *moved = c->rows[0] != c->rows[1];
    if (a == NULL || b == NULL) return true;
    /* Most chunks of a table follow each other in memory. */
    PREFETCH((const void *)((uintptr_t)a + (size_t)8 * c->t[0]->shape->units * REEF_UNIT_BYTES));
    PREFETCH((const void *)((uintptr_t)b + (size_t)8 * c->t[1]->shape->units * REEF_UNIT_BYTES));
    bool differ = *moved || !d->related;
    if (a != b)
        for (uint32_t k = SLOT_ENTITIES; !differ && k < c->t[0]->shape->end_slot; k++)
            differ = a[k].block != b[k].block;
    if (!*moved && a[SLOT_ENTITIES].block != b[SLOT_ENTITIES].block)
        *moved = memcmp(a[SLOT_ENTITIES].block, b[SLOT_ENTITIES].block, c->rows[0] * sizeof(reef_entity)) != 0;
    for (int side = 0; c->t[0]->bits | c->t[1]->bits && !differ && side < 2; side++) {
        EACH_BIT_STORE(c->world[side], c->t[side]->bits, bits)
        differ |= chunk_pair_words(c, bits->key, words);
    }
    return differ;
}

/* ---- what there is to compare ---- */

/* Room that belongs to the difference and isn't zeroed: of the spots most is never used. NULL: no memory. */
static void *diff_room(reef_diff *d, size_t count, size_t size)
{
    size_t bytes; /* and those before it, for its alignment */
    if (count > UINT32_MAX || !reef__size_multiply(count, size, PLAIN_ALIGN, &bytes)) return NULL;
    if (!reef__arena_room(&d->world[1]->family->memory, &d->rooms, bytes, 1024)) return NULL;
    return reef__arena_take(d->rooms, count * size, PLAIN_ALIGN);
}

static void table_spots(reef_diff *d, chunk_pair c)
{
    const uint32_t first = d->spot_count;
    bool moved;
    for (bool more = chunk_pair_first(&c); more; more = chunk_pair_next(&c))
        if (chunks_differ(d, &c, &moved)) d->spots[d->spot_count++] = (diff_spot){c, moved, 0};
    for (uint32_t i = first; i < d->spot_count; i++) d->spots[i].end = d->spot_count;
}

static bool spots_make(reef_diff *d)
{
    table_merge m;
    chunk_pair c;
    size_t most = 0;
    bool ok = reef__table_merge_begin(&m, d->world[0], d->world[1]);
    while (ok && reef__table_merge_next(&m, &c)) {
        const uint32_t a = c.t[0] ? c.t[0]->chunks : 0, b = c.t[1] ? c.t[1]->chunks : 0;
        most += a > b ? a : b;
    }
    ok = ok && (d->spots = diff_room(d, most, sizeof *d->spots)) != NULL;
    m.at[0] = m.at[1] = 0;
    while (ok && reef__table_merge_next(&m, &c)) table_spots(d, c);
    reef__table_merge_end(&m);
    return ok;
}

static bool pages_same(const reef_paged *a, const reef_paged *b)
{
    return a->count == b->count &&
           (a->count == 0 || a->page == b->page || memcmp(a->page, b->page, a->count * sizeof *a->page) == 0);
}
static bool stores_same(const value_store *a, const value_store *b)
{
    return a->count == b->count && pages_same(&a->values, &b->values) && pages_same(&a->index, &b->index);
}

static void type_see(bool *seen, uint32_t id)
{
    /* A part of a split type is reported with its type. */
    if (id && reef__type_of(id)->owner == 0) seen[id] = true;
}

/* Sees the types of which something may differ. */
static void types_see(const reef_diff *d, bool *seen)
{
    for (uint32_t i = 0; i < d->spot_count; i = d->spots[i].end) {
        const table *const *t = d->spots[i].c.t;
        const shape *s = t[0] ? t[0]->shape : t[1]->shape;
        for (uint32_t k = 0; k < s->component_count; k++) type_see(seen, s->component[k]);
    }
    for (state_key k = {0}; d->spot_count && reef__state_next(STATE_BITS, d->world[0], d->world[1], &k);)
        type_see(seen, k.key & ~BIT_DISABLED);
    for (state_key k = {0}; reef__state_next(STATE_STORES, d->world[0], d->world[1], &k);)
        if (!stores_same(store_of(d->world[0], k.key), store_of(d->world[1], k.key))) type_see(seen, k.key);
}

static bool types_make(reef_diff *d)
{
    const uint32_t end = reef_type_count() + 1;
    bool split = false, *seen = diff_room(d, end, sizeof *seen);
    uint32_t pages = 0; /* of the largest index */
    d->types = diff_room(d, end, sizeof *d->types);
    if (seen == NULL || d->types == NULL) return false;
    memset(seen, 0, end * sizeof *seen);
    types_see(d, seen);
    for (uint32_t id = 1; id < end; id++) {
        if (!seen[id]) continue;
        d->types[++d->type_count] = id;
        split |= reef__type_of(id)->split;
        for (int side = 0; side < 2; side++) {
            const uint32_t count = store_of(d->world[side], id)->index.count;
            pages = count > pages ? count : pages;
        }
    }
    if (pages && (d->marks = diff_room(d, pages / 64 + 1, sizeof *d->marks)) == NULL) return false;
    d->types[0] = 0;
    reef__ids_sort(d->types + 1, d->type_count++);
    return !split || (d->gathered = diff_room(d, 2, REEF_SPLIT_SIZE_MAX)) != NULL;
}

/* ---- names ---- */

static bool names_make(reef_diff *d)
{
    size_t most = 0;
    for (int side = 0; side < 2; side++)
        for (uint32_t i = 0; i < d->world[side]->state.name_count; i++)
            most += !name_shared(d->world[side], d->world[!side], i);
    if (most == 0) return true;
    d->names = diff_room(d, most, sizeof *d->names);
    if (d->names == NULL) return false;
    for (uint32_t side = 0; side < 2; side++)
        for (name_walk n = {0}; reef__name_walk_next(d->world[side], d->world[!side], &n);)
            if (side == 0 || n.other == NULL) /* an entity with two names is in the list since side 0 */
                d->names[d->name_count++] = (uint64_t)n.entity.index << 32 | n.entity.generation;
    if (d->name_count > 1) qsort(d->names, d->name_count, sizeof *d->names, reef__numbers_compare);
    return true;
}

static bool name_next(reef_diff *d)
{
    if (d->at == d->name_count) return false;
    const uint64_t x = d->names[d->at++];
    const reef_entity e = {(uint32_t)(x >> 32), (uint32_t)x};
    d->change.entity = e;
    d->change.was = reef_name(d->world[0], e);
    d->change.is = reef_name(d->world[1], e);
    return true;
}

/* ---- ids ---- */

/* The next entity that lives only in the world that is walked. */
static bool id_next(reef_diff *d)
{
    const reef_world *w = d->world[d->side], *other = d->world[!d->side];
    while (d->at < w->hot.index_count) {
        const uint32_t index = (uint32_t)d->at;
        const bool same = index % RECORDS_PER_PAGE == 0 && records_same(w, other, index >> REEF_RECORD_BITS);
        d->at = same ? records_end(w, index) : d->at + 1;
        const uint64_t record = record_read(w, index);
        const reef_entity e = {index, (uint32_t)(record >> 32)};
        if (same || (uint32_t)record < PLACE_EMPTY || place_of(other, e) != PLACE_DEAD) continue;
        d->change.entity = e;
        return true;
    }
    return false;
}

/* ---- one component of one entity ---- */

/* The value in the row at this place, which has the component. NULL: the type has no data that is part of the state. */
static const void *value_at(const reef_diff *d, uint32_t side, uint32_t place)
{
    const type *t = d->type;
    const reef_world *w = d->world[side];
    if (!d->valued) return NULL;
    if (t->split) {
        char *to = d->gathered + side * REEF_SPLIT_SIZE_MAX;
        reef__parts_gather(w, place, t, to);
        return to;
    }
    const reef_slot *slots = reef_slots_at(&w->hot, place);
    return cell(slots, slot_find(w, t->id, slots[0].head.table), place_row(place), t->size);
}

/* ---- rows ---- */

static bool of_disabled(const reef_diff *d) { return d->change.kind >= REEF_CHANGE_DISABLED; }
static bool of_bits(const reef_diff *d) { return of_disabled(d) || d->type->bit; }
/* The key of the bits that are compared. */
static uint32_t key_of(const reef_diff *d) { return (d->type ? d->type->id : 0) | (of_disabled(d) ? BIT_DISABLED : 0); }

/* Looks at one row of the group. Does it hold a change? */
static bool row_change_next(reef_diff *d, uint32_t in_group)
{
    const reef_entity e = d->entities[in_group];
    const reef_world *other = d->world[!d->side];
    const uint32_t row = (uint32_t)(d->entities - d->chunk) + in_group;
    const uint32_t place = unit_place(d->spot->c.unit[d->side]) + row, there = place_of(other, e);
    reef_change *c = &d->change;
    c->entity = e;
    const bool has = d->type ? has_itself(other, e, d->type) : there != PLACE_DEAD;
    if (of_disabled(d)) {
        if (d->side == 0 && !has) return false; /* the mark went with its entity or component */
        return there == PLACE_DEAD || !reef__bit_has(other, key_of(d), there);
    }
    if (has != (c->kind == REEF_CHANGE_VALUE)) return false;
    c->was = c->kind == REEF_CHANGE_ADDED ? NULL : value_at(d, 0, d->side ? there : place);
    c->is = c->kind == REEF_CHANGE_REMOVED ? NULL : value_at(d, 1, d->side ? place : there);
    c->fields = has ? fields_differ(d->type, c->was, c->is) : 0;
    return c->fields != 0 || !has;
}

/* Adds the rows whose entity isn't in the same row of the other world. */
static void moved_mask(reef_diff *d, uint32_t rows, uint32_t common)
{
    if (!d->spot->moved) return;
    if (common) {
        const reef_entity *other = slot_entities(d->spot->c.slots[!d->side]);
        reef__bytes_differ(d->masks, (const char *)d->chunk, (const char *)other, sizeof *other, common, d->chunk);
    }
    for (uint32_t row = common; row < rows; row++) d->masks[row / 64] |= 1ull << (row % 64);
}

static void bits_mask(reef_diff *d, uint32_t rows, uint32_t common)
{
    const uint64_t *words[2];
    const bool differ = chunk_pair_words(&d->spot->c, key_of(d), words);
    const uint64_t *ours = words[d->side], *other = words[!d->side];
    if (ours == NULL || (!differ && !d->spot->moved)) return;
    moved_mask(d, rows, common);
    for (uint32_t g = 0; g < BIT_WORDS; g++) d->masks[g] = ours[g] & (d->masks[g] | ~(other ? other[g] : 0));
}

static void values_mask(reef_diff *d, uint32_t common)
{
    const type *t = d->type;
    for (uint32_t i = 0; common && i < (t->split ? t->part_count : 1); i++) {
        const uint32_t part = t->split ? t->parts[i] : t->id;
        for (int side = 0; side < 2; side++) {
            const uint32_t k =
                t->split ? slot_find(d->world[side], part, d->spot->c.t[side]->shape->table) : d->slot[side];
            d->column[side] = d->spot->c.slots[side][k].block;
        }
        if (d->column[0] != d->column[1])
            reef__bytes_differ(d->masks, d->column[0], d->column[1], reef__type_of(part)->size, common, d->chunk);
    }
}

/* Finds the rows of the spot that may hold changes. False: there are none. */
static bool spot_masks(reef_diff *d, const diff_spot *s)
{
    const uint32_t rows = s->c.rows[d->side], common = rows < s->c.rows[!d->side] ? rows : s->c.rows[!d->side];
    const bool bits = of_bits(d), values = d->change.kind == REEF_CHANGE_VALUE;
    if (rows == 0 || (!bits && !values && !s->moved)) return false;
    d->spot = s;
    d->straight = values && !s->moved && !d->type->split;
    if (d->straight && d->spot->c.slots[0][d->slot[0]].block == d->spot->c.slots[1][d->slot[1]].block) return false;
    d->chunk = slot_entities(d->spot->c.slots[d->side]);
    memset(d->masks, 0, sizeof d->masks);
    if (bits) bits_mask(d, rows, common);
    else moved_mask(d, rows, common);
    if (values) values_mask(d, common);
    d->group = 0;
    d->fielded = d->straight && REEF_ACQUIRE_POINTER(&d->type->fields) != NULL;
    d->apart = d->straight ? (uintptr_t)d->column[1] - (uintptr_t)d->column[0] : 0;
    d->change.fields = values;
    return true;
}

/* Does the spot's table have what is compared, in the world that is walked? */
static bool table_has(reef_diff *d, const diff_spot *s)
{
    const table *const *t = s->c.t;
    const uint32_t side = d->side;
    if (t[side] == NULL) return false;
    if (of_bits(d)) {
        const bit_store *b = bit_store_of(d->world[side], key_of(d));
        return b && reef__bit_known(d->world[side], b, t[side]->shape->table);
    }
    for (uint32_t i = 0; i < 2; i++) d->slot[i] = t[i] ? slot_find(d->world[i], d->type->id, t[i]->shape->table) : 0;
    return d->slot[side] != 0;
}

/* The next spot with rows to look at. False: there is none for this type. */
static bool spot_next(reef_diff *d)
{
    while (d->spot_at < d->spot_count) {
        const diff_spot *s = &d->spots[d->spot_at];
        const bool begins = d->spot_at == d->table_end;
        d->table_end = s->end;
        if (begins && !table_has(d, s)) {
            d->spot_at = s->end;
            continue;
        }
        d->spot_at++;
        if (spot_masks(d, s)) return true;
    }
    return false;
}

static bool group_next(reef_diff *d)
{
    while (d->group < BIT_WORDS) {
        const uint32_t g = d->group++;
        if (d->masks[g] == 0) continue;
        d->mask = d->masks[g];
        d->entities = d->chunk + g * 64;
        if (d->straight) d->was = d->column[0] + g * 64 * d->size;
        return true;
    }
    return false;
}

/* The fast path (row diff): takes the next row of a group whose values lie at the same row of both blocks. False: no
 * further row of the group differs. */
INLINE bool row_take(reef_diff *d)
{
    while (d->mask) {
        const uint32_t row = bits_first(d->mask);
        d->mask &= d->mask - 1;
        const char *was = d->was + row * d->size, *is = (const char *)((uintptr_t)was + d->apart);
        d->change.entity = d->entities[row];
        d->change.was = was;
        d->change.is = is;
        if (LIKELY(!d->fielded)) return true;
        d->change.fields = fields_differ(d->type, was, is);
        if (d->change.fields) return true;
    }
    return false;
}

static bool rows_next(reef_diff *d)
{
    for (;;) {
        if (d->straight && row_take(d)) return true;
        while (d->mask) {
            const uint32_t row = bits_first(d->mask);
            d->mask &= d->mask - 1;
            if (row_change_next(d, row)) return true;
        }
        if (!group_next(d) && !spot_next(d)) return false;
    }
}

/* ---- values in stores ---- */

static bool same_page(const reef_paged *a, const reef_paged *b, uint32_t page)
{
    return page < b->count && a->page[page] == b->page[page];
}

/* May values differ where both worlds share the index, which says who has one and in which slot? */
static bool values_matter(const reef_diff *d, const value_store *s)
{
    return s->multi || d->change.kind == REEF_CHANGE_VALUE;
}

/* Marks the pages of the index that the worlds don't share, and those with an entity whose values lie on a page that
 * they don't share. */
static void pages_mark(const reef_diff *d, const value_store *s, const value_store *o)
{
    if (s->paged || d->marks == NULL) return; /* the slots of a paged store are the indices themselves */
    memset(d->marks, 0, (s->index.count / 64 + 1) * sizeof *d->marks);
    for (uint32_t page = 0; page < s->index.count; page++)
        if (!same_page(&s->index, &o->index, page)) d->marks[page / 64] |= UINT64_C(1) << page % 64;
    for (uint32_t page = 0; page < s->values.count && values_matter(d, s); page++) {
        if (same_page(&s->values, &o->values, page)) continue;
        for (store_place at = {.slot = 0}; reef__store_each(s, page, &at);) {
            const uint32_t of = at.entity.index >> REEF_INDEX_BITS;
            ASSERT(of < s->index.count);
            d->marks[of / 64] |= UINT64_C(1) << of % 64;
        }
    }
}

/* Does nothing differ on the page that begins with this index, since both worlds hold it? */
static bool page_alike(const reef_diff *d, const value_store *s, const value_store *o, uint32_t index)
{
    const uint32_t page = index >> (s->paged ? s->bits : REEF_INDEX_BITS);
    if (s->paged) return s->values.page[page] == NULL || (o->paged && same_page(&s->values, &o->values, page));
    return s->index.page[page] == NULL || !(d->marks[page / 64] >> page % 64 & 1);
}

/* The next entity in the store of the world that is walked, and which of its values to look at. */
static bool holder_next(reef_diff *d, const value_store *s, const value_store *o)
{
    const uint32_t bits = s->paged ? s->bits : REEF_INDEX_BITS;
    const uint64_t end = (uint64_t)(s->paged ? s->values.count : s->index.count) << bits;
    for (; d->at < end; d->at++) {
        const uint32_t index = (uint32_t)d->at, page = index >> bits;
        if (index % (1u << bits) == 0 && page_alike(d, s, o, index)) {
            d->at |= (1u << bits) - 1;
            continue;
        }
        const uint64_t entry = s->paged ? 0 : *index_entry(s, index);
        const uint32_t generation = s->paged
                                        ? slot_entity(s, s->values.page[page], page, index & slot_mask(s)).generation
                                        : (uint32_t)(entry >> 32);
        if (generation == 0) continue;
        if (!s->paged && same_page(&s->index, &o->index, page) &&
            same_page(&s->values, &o->values, (uint32_t)entry >> s->bits))
            continue;
        const reef_entity e = d->change.entity = (reef_entity){index, generation};
        const uint32_t ours = reef__store_count(s, e), others = reef__store_count(o, e),
                       common = ours < others ? ours : others;
        d->number = d->change.kind == REEF_CHANGE_VALUE ? 0 : d->change.kind == REEF_CHANGE_ADDED ? common : ours;
        d->number_end = d->change.kind == REEF_CHANGE_ADDED ? ours : common;
        if (d->number == d->number_end) continue;
        d->at++;
        return true;
    }
    return false;
}

/* The next change of a value in a store. Of several values of an entity the last is removed first: whoever applies the
 * changes in this order finds each value under its number. */
static bool stored_values_next(reef_diff *d)
{
    const value_store *s[2] = {store_of(d->world[0], d->type->id), store_of(d->world[1], d->type->id)};
    reef_change *c = &d->change;
    for (;;) {
        while (d->number != d->number_end) {
            c->number = c->kind == REEF_CHANGE_REMOVED ? --d->number : d->number++;
            c->was = c->kind == REEF_CHANGE_ADDED || !d->valued ? NULL : reef__store_nth(s[0], c->entity, c->number);
            c->is = c->kind == REEF_CHANGE_REMOVED || !d->valued ? NULL : reef__store_nth(s[1], c->entity, c->number);
            if (c->kind != REEF_CHANGE_VALUE) return true;
            c->fields = c->was == c->is ? 0 : fields_differ(d->type, c->was, c->is);
            if (c->fields) return true;
        }
        if (!holder_next(d, s[d->side], s[!d->side])) return false;
    }
}

/* ---- from one to the next ---- */

static void kind_begin(reef_diff *d, reef_change_kind kind)
{
    const type *t = d->type;
    d->change = (reef_change){.kind = kind, .component = {t ? t->id : 0}};
    d->side = kind != REEF_CHANGE_GONE && kind != REEF_CHANGE_REMOVED && kind != REEF_CHANGE_ENABLED;
    d->stored = t && t->stored && kind <= REEF_CHANGE_VALUE;
    d->at = 0;
    d->number = d->number_end = 0;
    d->mask = 0;
    d->group = BIT_WORDS;
    d->spot_at = d->table_end = 0;
    bool idle = kind == REEF_CHANGE_VALUE && !d->valued;
    if (d->stored) idle |= stores_same(store_of(d->world[0], t->id), store_of(d->world[1], t->id));
    if (d->stored && !idle) pages_mark(d, store_of(d->world[d->side], t->id), store_of(d->world[!d->side], t->id));
    if (!idle) return;
    d->stored = false;
    d->spot_at = d->spot_count;
}

/* Goes on to the kind of change that follows, in the order that reef/diff.h promises and that the kinds have: the first
 * three once, the others type by type. Entities themselves are only disabled or enabled. */
static void kind_next(reef_diff *d)
{
    const reef_change_kind last = d->change.kind;
    if (last != REEF_CHANGE_NAME && last != REEF_CHANGE_ENABLED) {
        kind_begin(d, (reef_change_kind)(last + 1));
        return;
    }
    if (d->type_at == d->type_count) {
        d->change.kind = (reef_change_kind)0;
        return;
    }
    const uint32_t id = d->types[d->type_at++];
    const type *t = d->type = id ? reef__type_of(id) : NULL;
    d->size = t ? t->size : 0;
    d->valued = t && t->size && !t->resets;
    kind_begin(d, t ? REEF_CHANGE_REMOVED : REEF_CHANGE_DISABLED);
}

static bool change_next(reef_diff *d)
{
    switch (d->change.kind) {
    case REEF_CHANGE_GONE:
    case REEF_CHANGE_BORN: return id_next(d);
    case REEF_CHANGE_NAME: return name_next(d);
    default: return d->stored ? stored_values_next(d) : rows_next(d);
    }
}

static NOINLINE const reef_change *next_slowly(reef_diff *d)
{
    for (; d->change.kind; kind_next(d))
        if (change_next(d)) return &d->change;
    return NULL;
}

const reef_change *reef_diff_next(reef_diff *d)
{
    if (LIKELY(d != NULL && d->straight && row_take(d))) return &d->change;
    return d ? next_slowly(d) : NULL;
}

reef_diff *reef_diff_new(const reef_world *before, const reef_world *after)
{
    if (!WORLD_GIVEN(before) || !WORLD_GIVEN(after) || before->running || after->running) return NULL;
    reef_diff *d = reef__memory_zeroed(&after->family->memory, MEMORY_OTHER, sizeof *d);
    if (d == NULL) return NULL;
    d->world[0] = before;
    d->world[1] = after;
    d->related = before->family == after->family;
    if (spots_make(d) && types_make(d) && names_make(d)) {
        kind_begin(d, REEF_CHANGE_GONE);
        return d;
    }
    reef_diff_free(d);
    return NULL;
}

void reef_diff_free(reef_diff *d)
{
    if (d == NULL) return;
    memory *m = &d->world[1]->family->memory;
    while (d->rooms) reef__arena_drop(m, &d->rooms);
    reef__memory_free(m, MEMORY_OTHER, d, sizeof *d);
}
