/* What a block of a loop gives to the caller: columns, values of fixed sources, bits, runs of rows that match. And
 * loops row by row, which hand out the rows of such blocks. */
#include "query/block.h"
#include "storage/archetype.h"
#include "storage/entity_index.h"
#include "storage/error.h"
#include "storage/multi_store.h"
#include "storage/place.h"
#include "storage/read.h"
#include "storage/row_bits.h"
#include "storage/sparse_store.h"
#include "query/iterate.h"
#include "query/iterate_sparse.h"
#include "query/match_cache.h"
#include "query/query.h"
#include "reef/column.h"
#include "reef/loop_settings.h"

const reef_query_head reef__no_keys = {.key = {REEF_NO_KEY, REEF_NO_KEY}};

reef_block reef__block_none(reef_world *w)
{
    reef_block b;
    memset(&b, 0, sizeof b);
    b.world = w;
    b.loop.head = &reef__no_keys;
    return b;
}

/* ---- what a block gives ---- */

/* What the loop asks of a block is noted in the checked build: its values of this type, or with 0, which of its rows
 * match (src/query/iterate.c). A block of an open loop is never really const. */
INLINE void block_asked(const reef_block *b, uint32_t component)
{
#if defined(REEF_CHECKED)
    reef_loop_position *at = &((reef_block *)(uintptr_t)b)->loop;
    if (component) at->values_asked = component;
    else at->rows_asked = true;
#else
    (void)b, (void)component;
#endif
}

void reef_block_asked_(const reef_block *b)
{
    if (b && b->loop.open) block_asked(b, 0);
}

static const void *block_refuse(const reef_block *b, reef_component c, const char *op)
{
    if (b->world) reef__failure(b->world, REEF_UNDECLARED, op, c, (reef_entity){0, 0}, 0);
    return NULL;
}

/* The term that names the component with this access. NULL: there is none. */
static const reef_term *term_named(const query *q, uint32_t component, bool write, bool fixed)
{
    for (uint32_t i = 0; i < q->term_count; i++) {
        const reef_term *t = &q->terms[i];
        if (t->component.id != component || t->op >= REEF_ANY_OF || q->facts[i].filter || q->facts[i].fixed != fixed ||
            q->facts[i].sub)
            continue;
        if (!write || t->access != REEF_IN) return t;
    }
    return NULL;
}

void *reef__block_values(const reef_block *b, const type *t)
{
    /* the values of the block's other rows follow this one */
    if (t->stored) return (void *)(uintptr_t)store_find(b->world, t->id, b->entities[0]);
    const reef_slot *slots = block_slots(b);
    const uint32_t k = reef__slot_seek(b->world, t->id, slots[0].head.table);
    const uint32_t first = b->loop.walks ? b->loop.first : 0;
    if (k == 0 || k == REEF_SLOT_TAG) return NULL;
    if (b->loop.mask) block_asked(b, t->id);
    return (char *)slots[k].block + (size_t)first * t->size;
}

const void *reef_block_other_(const reef_block *b, reef_component c, bool write)
{
    const query *q = b->loop.query;
    const char *op = write ? "reef_inout" : "reef_in";
    if (b->count == 0 || q == NULL || c.id == 0 || term_named(q, c.id, write, false) == NULL)
        return block_refuse(b, c, op);
    if (q->cut && q->cut->each == c.id && b->loop.number)
        return reef__store_nth(store_of(b->world, c.id), b->entities[0], b->loop.number);
    return reef__block_values(b, reef__type_of(c.id));
}

const void *reef_block_slow_(const reef_block *b, reef_type_decl *decl, bool write)
{
    const reef_component c = reef_id_of(decl);
    return write ? reef_block_inout_fast(b, c) : reef_block_in_fast(b, c);
}

const void *reef_block_in(const reef_block *b, reef_component c)
{
    if (b == NULL || b->count == 0) return NULL;
    /* no component has the id that REEF_NO_KEY would mean */
    return c.id > REEF_TYPES_MAX ? reef_block_other_(b, c, false) : reef_block_in_fast(b, c);
}
void *reef_block_inout(const reef_block *b, reef_component c)
{
    return b && b->count ? reef_block_inout_fast(b, c) : NULL;
}

static const void *block_fixed(const reef_block *b, reef_component c, bool write, const char *op)
{
    const reef_term *t = b && b->loop.query ? term_named(b->loop.query, c.id, write, true) : NULL;
    if (t == NULL) return b ? block_refuse(b, c, op) : NULL;
    if (!has_itself(b->world, t->source, reef__type_of(c.id))) return NULL;
    return write ? reef_mut_id(b->world, t->source, c) : reef_get_id(b->world, t->source, c);
}

const void *reef_block_fixed_in(const reef_block *b, reef_component c)
{
    return block_fixed(b, c, false, "reef_fixed_in");
}
void *reef_block_fixed_inout(const reef_block *b, reef_component c)
{
    return (void *)(uintptr_t)block_fixed(b, c, true, "reef_fixed_inout");
}

static uint32_t block_unit(const reef_block *b)
{
    if (b->loop.walks) return b->loop.unit;
    if (b->loop.next_unit != REEF_GO_TABLE) return unit_slots(b->world, b->loop.next_unit)[0].head_more.previous;
    return match_now(b)->table->last;
}

const uint64_t *reef_block_bits(const reef_block *b, reef_component c, uint64_t *words)
{
    if (b == NULL || b->count == 0 || words == NULL) return NULL;
    reef_block_asked_(b);
    const reef_world *w = b->world;
    const type *t = reef__type_of(c.id);
    const uint32_t unit = block_unit(b), first = b->loop.walks ? b->loop.first : 0;
    const uint64_t *on = t && t->bit ? bit_words(bit_store_of(w, c.id), unit) : NULL;
    const uint64_t *off = t ? disabled_words(w, c.id, unit) : NULL;
    const bool cold = t && t->home == REEF_COLD;
    const bool all = t && !t->bit && (cold || reef__slot_seek(w, c.id, block_slots(b)[0].head.table));
    memset(words, 0, BIT_WORDS * sizeof *words);
    for (uint32_t i = 0; (on || all) && i < b->count; i++) {
        const uint32_t row = first + i;
        if (cold && !store_has(w, c.id, b->entities[i])) continue;
        const uint64_t word = (all ? ~0ull : on[row / 64]) & (off ? ~off[row / 64] : ~0ull);
        words[i / 64] |= (word >> (row % 64) & 1) << (i % 64);
    }
    return words;
}

uint32_t reef__row_seek(const uint64_t *words, uint32_t row, uint32_t count, bool value)
{
    while (row < count) {
        uint64_t word = (value ? words[row / 64] : ~words[row / 64]) >> (row % 64);
        if (word) {
            row += bits_first(word);
            break;
        }
        row = (row | 63) + 1;
    }
    return row < count ? row : count;
}

uint32_t reef_block_run(const reef_block *b, uint32_t *first)
{
    if (b == NULL || first == NULL || *first >= b->count) return 0;
    reef_block_asked_(b);
    if (b->loop.mask == NULL) return b->count - *first;
    *first = reef__row_seek(b->loop.mask, *first, b->count, true);
    return reef__row_seek(b->loop.mask, *first, b->count, false) - *first;
}

/* ---- row by row ---- */

void reef__block_of_row(reef_block *b, reef_world *w, query *q, uint32_t unit, uint32_t row)
{
    *b = reef__block_none(w);
    b->loop.query = q;
    b->loop.walks = true;
    b->loop.unit = unit;
    b->loop.first = row;
    b->count = 1;
    b->loop.slots = unit_slots(w, unit);
    b->entities = slot_entities(b->loop.slots) + row;
    b->loop.open = true; /* so that a failure ends it */
    b->loop.part = true;
}

bool reef_query_row(reef_world *w, reef_query which, reef_entity e, reef_block *b)
{
    reef_status s = REEF_OK;
    if (!WORLD_GIVEN(w) || b == NULL) return false;
    *b = reef__block_none(w);
    query *q = query_of(w, which, &s);
    if (q == NULL) return reef__failure(w, s, "reef_query_row", (reef_component){0}, e, 0), false;
    if (!reef_query_matches(w, which, e)) return false;
    const uint32_t place = place_of(w, e);
    reef__block_of_row(b, w, q, place_unit(place), place_row(place));
    if (!reef__block_own(b)) return false;
    b->loop.open = false;
    return true;
}

reef_row reef_rows(reef_world *w, reef_query which)
{
    reef_row r;
    r.block = reef_begin(w, which);
    r.entity = (reef_entity){0, 0};
    r.i = REEF_NO_ROW;
    r.end = 0;
    r.cut = r.cut_end = NULL;
    r.block.loop.gathers =
        r.block.loop.open && r.block.loop.walks && r.block.loop.query->cut && reef__cut_gathers(r.block.loop.query);
    return r;
}

/* The rows from `first` to `end` - 1 come next. */
static bool row_walk_take(reef_row *r, uint32_t first, uint32_t end)
{
    r->i = first - 1;
    r->end = end;
    return true;
}

static bool row_walk_end(reef_row *r)
{
    reef_end(&r->block);
    r->entity = (reef_entity){0, 0};
    r->end = 0;
    r->cut = r->cut_end = NULL; /* so that no further step goes on */
    return false;
}

/* The rows of the next chunk are remembered: they come next. */
INLINE bool row_walk_gather(reef_row *r, const struct reef_cut *first, const struct reef_cut *end)
{
    r->cut = first;
    r->cut_end = end;
    r->end = 0;
    return true;
}

bool reef_rows_more_(reef_row *r)
{
    reef_block *b = &r->block;
    if (UNLIKELY(r->i != REEF_NO_ROW || !b->loop.open)) return row_walk_end(r); /* the caller ended the loop */
    const join_list *l = LIKELY(r->cut != NULL) ? reef__gather_next(b) : NULL;
    if (LIKELY(l != NULL)) return row_walk_gather(r, l->row, l->row + l->rows);
    uint32_t first = r->end;
    if (first == 0 || b->loop.mask == NULL || r->cut ||
        (first = reef__row_seek(b->loop.mask, first, b->count, true)) == b->count) {
        r->cut = r->cut_end = NULL;
        if (!(b->loop.gathers ? reef__cut_next(b) : reef_next(b))) return row_walk_end(r);
        reef_block_asked_(b);
        first = 0;
        if (b->loop.gathers && b->loop.cut != b->loop.cut_end) {
            const struct reef_cut *cut = b->loop.cut;
            b->loop.cut = b->loop.cut_end;
            return row_walk_gather(r, cut, b->loop.cut_end);
        }
        if (b->loop.mask) first = reef__row_seek(b->loop.mask, 0, b->count, true);
    }
    return row_walk_take(r, first, b->loop.mask ? reef__row_seek(b->loop.mask, first, b->count, false) : b->count);
}

reef_status reef_run(reef_world *w, reef_query which, void (*function)(reef_block *), void *context)
{
    if (!WORLD_GIVEN(w)) return REEF_BAD_ARGUMENT;
    if (function == NULL) return misuse_refuse(w, "reef_run", "the function is NULL");
    reef_block b = reef_begin(w, which);
    b.context = context;
    while (reef_next(&b)) function(&b);
    return w->error.status;
}
