/* Moving all rows of a table to another table at once: the chunks and the blocks of the columns stay, and a block comes
 * or goes in each chunk. Where the chunks of the two tables have a different number of units, the slots go to other
 * units, and rows get other places. */
#include "storage/relabel.h"
#include "type/value.h"
#include "storage/archetype.h"
#include "storage/block_index.h"
#include "storage/entity_index.h"
#include "storage/invalidate.h"
#include "storage/place.h"
#include "storage/quarantine.h"
#include "storage/row_bits.h"
#include "storage/table.h"

/* Makes the blocks of the new column, or room to note the blocks of the column that goes. */
static bool relabel_blocks(reef_world *w, relabel *r, const void *value)
{
    const column *c = &r->to->shape->columns[r->slot];
    uint32_t unit = r->from->first;
    r->fresh =
        reef__memory_resize(&w->family->memory, MEMORY_OTHER, NULL, 0, r->chunks * sizeof *r->fresh, PLAIN_ALIGN);
    if (r->fresh == NULL) return false;
    if (r->gone) return true;
    for (; r->fresh_count < r->chunks; r->fresh_count++, unit = unit_slots(w, unit)[0].head.next) {
        void *block = reef__block_take(w->family, c, chunk_capacity(unit_slots(w, unit)));
        if (block == NULL) return false;
        if (value) reef__values_fill(block, value, c->size, chunk_rows(r->from, unit));
        else memset(block, 0, (size_t)chunk_rows(r->from, unit) * c->size);
        r->fresh[r->fresh_count] = block;
    }
    return true;
}

/* Finds runs of units of another length, and owns everything that holds places of rows. */
static COLD bool relabel_units(reef_world *w, relabel *r)
{
    uint32_t unit = r->from->first;
    r->unit = reef__memory_resize(&w->family->memory, MEMORY_OTHER, NULL, 0, r->chunks * sizeof *r->unit, PLAIN_ALIGN);
    if (r->unit == NULL) return false;
    for (; r->unit_count < r->chunks; r->unit_count++, unit = unit_slots(w, unit)[0].head.next) {
        uint32_t fresh = reef__unit_find(w, r->to->shape->units);
        if (fresh == 0) return false;
        reef__unit_take(w, fresh, r->to->shape->units);
        r->unit[r->unit_count] = fresh;
        if (!reef__bits_own_unit(w, r->from->bits, unit) || !reef__bits_own_unit(w, r->from->bits, fresh))
            return r->unit_count++, false;
        const reef_entity *e = slot_entities(unit_slots(w, unit));
        for (uint32_t i = 0; i < chunk_rows(r->from, unit); i++)
            if (!record_owned(w, e[i].index) && reef__record_own(w, e[i].index) == NULL) return r->unit_count++, false;
    }
    return true;
}

bool reef__relabel_prepare(reef_world *w, relabel *r, uint32_t from, const edge *e, bool remove, const void *value)
{
    memset(r, 0, sizeof *r);
    if (!reef__table_shrink(w, e->to)) return false;
    r->to = reef__table_own(w, e->to);
    r->from = r->to ? reef__table_own(w, from) : NULL;
    if (r->from == NULL) return false;
    r->chunks = r->from->chunks;
    r->slot = remove || e->slot == REEF_SLOT_TAG ? 0 : e->slot;
    r->gone = remove && e->slot != REEF_SLOT_TAG ? e->slot : 0;
    for (uint32_t unit = r->from->first; unit; unit = unit_slots(w, unit)[0].head.next)
        if (!reef__chunk_own(w, r->from, unit)) return false;
    const shape *s = r->to->shape;
    for (uint32_t k = SLOT_COLUMNS; k < s->end_slot; k++)
        if (!reef__memory_arena_ready(&w->family->memory, s->columns[k].arena)) return false;
    return ((r->slot | r->gone) == 0 || relabel_blocks(w, r, value)) &&
           (s->units == r->from->shape->units || relabel_units(w, r));
}

static void relabel_free(reef_world *w, relabel *r)
{
    reef__memory_free(&w->family->memory, MEMORY_OTHER, r->fresh, r->chunks * sizeof *r->fresh);
    reef__memory_free(&w->family->memory, MEMORY_OTHER, r->unit, r->chunks * sizeof *r->unit);
}

COLD void reef__relabel_cancel(reef_world *w, relabel *r)
{
    uint32_t unit = r->fresh_count ? r->from->first : 0;
    for (uint32_t i = 0; i < r->fresh_count; i++, unit = unit_slots(w, unit)[0].head.next)
        reef__block_give(w->family, &r->to->shape->columns[r->slot], r->fresh[i], chunk_capacity(unit_slots(w, unit)));
    mutex_lock(&w->family->lock);
    for (uint32_t i = 0; i < r->unit_count; i++) reef__unit_give(w, r->unit[i], r->to->shape->units);
    mutex_unlock(&w->family->lock);
    relabel_free(w, r);
}

/* Which slot of `from` each column of `to` was; 0: it is new. */
static void relabel_origins(const reef_world *w, const relabel *r, uint16_t *origin)
{
    const shape *s = r->to->shape;
    origin[SLOT_ENTITIES] = SLOT_ENTITIES;
    for (uint32_t k = SLOT_COLUMNS; k < s->end_slot; k++)
        origin[k] = k == r->slot ? 0 : (uint16_t)reef__slot_seek(w, s->columns[k].type->id, r->from->shape->table);
}

/* Gives chunk number i the columns of `to`, in the run at `unit`. Under the lock. */
static void relabel_chunk(reef_world *w, const relabel *r, uint32_t i, uint32_t was, uint32_t unit,
                          const uint16_t *origin)
{
    reef_slot old[REEF_COLUMNS_MAX + SLOT_COLUMNS], *slots = unit_slots(w, was), *to = unit_slots(w, unit);
    const shape *f = r->from->shape, *s = r->to->shape;
    memcpy(old, slots, f->end_slot * sizeof *old);
    chunk_note(w, f, was, false);
    /* no slot may seem to hold a block */
    for (uint32_t k = SLOT_ENTITIES; k < f->end_slot; k++) slots[k] = (reef_slot){.block = NULL};
    to[0] = old[0];
    to[0].head.table = s->table;
    to[0].head_more.count = s->hooked ? (uint16_t)chunk_rows(r->from, was) : 0;
    for (uint32_t k = SLOT_ENTITIES; k < s->end_slot; k++) {
        if (origin[k]) to[k] = old[origin[k]];
        else to[k].block = r->fresh[i], to[k].version = column_mark(w, &r->to->shape->columns[k]);
    }
    chunk_note(w, s, unit, true);
    if (r->gone) r->fresh[i] = old[r->gone].block;
}

/* Frees the blocks of the column that went, the last one first: blocks are taken again in the reverse order, so they
 * then come in the order of their addresses. */
static void relabel_give(reef_world *w, const relabel *r)
{
    const column *c = &r->from->shape->columns[r->gone];
    for (uint32_t i = r->chunks, unit = r->to->last; i-- > 0; unit = unit_slots(w, unit)[0].head_more.previous)
        reef__block_give(w->family, c, r->fresh[i], chunk_capacity(unit_slots(w, unit)));
}

/* Gives the rows of a chunk that went to another run their new places. */
static void relabel_places(reef_world *w, const relabel *r, uint32_t was, uint32_t unit)
{
    const reef_slot *slots = unit_slots(w, unit);
    for (uint32_t i = 0, rows = chunk_rows(r->from, was); i < rows; i++)
        handle_record_put(w, handle_at(slots, i), unit_place(unit) + i);
    reef__bits_move_unit(w, r->from->bits, was, unit);
}

void reef__relabel_commit(reef_world *w, relabel *r)
{
    uint16_t origin[REEF_COLUMNS_MAX + SLOT_COLUMNS];
    table *f = r->from, *t = r->to;
    const uint32_t rows_last = f->next - unit_place(f->last), room_last = f->end - unit_place(f->last);
    uint32_t previous = 0;
    relabel_origins(w, r, origin);
    w->hot.moves += table_rows(f);
    mutex_lock(&w->family->lock); /* a relative that dies may be comparing pages */
    for (uint32_t i = 0, was = f->first, next; was; i++, was = next) {
        const uint32_t unit = r->unit ? r->unit[i] : was;
        next = unit_slots(w, was)[0].head.next;
        relabel_chunk(w, r, i, was, unit, origin);
        unit_slots(w, unit)[0].head_more.previous = previous;
        if (previous) unit_slots(w, previous)[0].head.next = unit;
        else t->first = unit;
        previous = unit;
        if (r->unit) relabel_places(w, r, was, unit), reef__unit_give(w, was, f->shape->units);
    }
    mutex_unlock(&w->family->lock);
    t->last = previous;
    t->chunks = r->chunks;
    t->next = unit_place(previous) + rows_last;
    t->end = unit_place(previous) + room_last;
    t->bits |= f->bits;
    if (r->gone) relabel_give(w, r);
    f->first = f->last = f->chunks = f->next = f->end = 0;
    lease_end(t);
    lease_end(f);
    reef__invalidate(w, INVALIDATE_CHUNKS_RENUMBERED);
    relabel_free(w, r);
    reef__table_lease(w, t);
    reef__quarantine_table(w, t);
}
