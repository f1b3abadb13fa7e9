/* What a row that goes from one table to another writes becomes this world's own, and room is made for it. Nothing can
 * be seen of that. Each function answers false if there is no memory. At last it goes over, which can't fail.
 *
 * Only src/change/row_change.c and list_change.c include this. */
#ifndef REEF_CHANGE_ROW_RESERVE_H
#define REEF_CHANGE_ROW_RESERVE_H

#include "storage/cow_pages.h"
#include "storage/entity_index.h"
#include "storage/place.h"
#include "storage/row_bits.h"
#include "storage/row_stamps.h"
#include "storage/table.h"
#include "change/row_move.h"

INLINE bool table_owned(const reef_world *w, uint32_t id)
{
    return paged_owned(&w->state.tables, id / TABLES_PER_PAGE, w->hot.fork_version);
}
/* A table for writing; NULL: there is no memory. It is where it was as long as no other table is asked for. */
INLINE table *table_reserve(reef_world *w, uint32_t id)
{
    table *t = (table *)(uintptr_t)table_read(w, id);
    return LIKELY(t && table_owned(w, id)) ? t : reef__table_own(w, id);
}
INLINE bool record_reserve(reef_world *w, uint32_t index)
{
    return LIKELY(record_owned(w, index)) || reef__record_own(w, index) != NULL;
}
INLINE bool written_now(const reef_world *w, const reef_slot *slots)
{
    return slots[SLOT_ENTITIES].version == w->hot.version;
}

/* Chunks for a row that leaves the old table, for the last one there, which fills the hole, and for the new row. */
static NOINLINE bool chunks_reserve(reef_world *w, const row_place *x, table *from, table *to)
{
    if (!reef__chunk_own(w, from, place_unit(x->place))) return false;
    if (from->shape->hooked && !reef__chunk_own(w, from, from->last)) return false;
    if (place_row(from->next - 1) == 0 && !reef__table_prepare_pop(w, from)) return false;
    return reef__table_room(w, to);
}

/* The bits of the row and of the last one there. */
static NOINLINE bool moving_bits_reserve(reef_world *w, const row_place *x, const table *from, table *to)
{
    const uint32_t last = from->next - 1;
    to->bits |= from->bits;
    to->lease = 0;
    return (last == x->place || reef__bits_prepare_move(w, from->bits, last, x->place)) &&
           reef__bits_prepare_move(w, from->bits, x->place, to->next);
}

/* The records, chunks and bits that a row writes which goes from one table to another: its own, and those of the last
 * row there, which fills the hole. What moved meanwhile is found anew. Both tables are this world's own, and know their
 * last chunks then. */
INLINE bool moving_reserve(reef_world *w, row_place *x, table *from, table *to)
{
    const uint32_t last = from->next - 1;
    if (UNLIKELY(!record_owned(w, HANDLE_INDEX(x->h)))) {
        if (reef__record_own(w, HANDLE_INDEX(x->h)) == NULL) return false;
        x->record = (char *)(uintptr_t)reef_record_at(&w->hot, HANDLE_INDEX(x->h));
    }
    reef_slot *tail = unit_slots(w, from->last), *end = unit_slots(w, to->last);
    if (!record_reserve(w, HANDLE_INDEX(handle_at(tail, place_row(last))))) return false;
    const bool ready = LIKELY(written_now(w, x->slots) && place_row(last) != 0 && to->next != to->end) &&
                       written_now(w, end) && (written_now(w, tail) || !from->shape->hooked);
    if (UNLIKELY(!ready)) {
        if (!chunks_reserve(w, x, from, to)) return false;
        x->slots = reef_slots_at(&w->hot, x->place);
        tail = unit_slots(w, from->last);
        end = unit_slots(w, to->last);
    }
    from->tail = tail;
    to->tail = end;
    return LIKELY(from->bits == 0) || moving_bits_reserve(w, x, from, to);
}

/* The row goes over: its values did so before. */
INLINE void moving_commit(reef_world *w, const row_place *x, table *from, table *to)
{
    const uint32_t to_place = to->next;
    handle_put(to->tail, place_row(to_place), x->h);
    reef__row_pushed(w, to);
    if (UNLIKELY(from->bits != 0)) reef__bits_move(w, from->bits, x->place, to_place);
    reef__row_fill(w, from, x->place);
    record_replace(w, HANDLE_INDEX(x->h), to_place);
    w->hot.moves++;
}

/* Does somebody read what is removed of a tracked type? */
INLINE bool removals_read(const reef_world *w, const type *t)
{
    const track_store *s = reef__track_of(w, t->id);
    return s && s->readers;
}

#endif
