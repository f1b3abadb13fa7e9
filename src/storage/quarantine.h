/* Pointers that are kept over a structural change, found by the address sanitizer.
 *
 *   before   block at a: [x0 x1 x2 .. ]                         the chunk's rows
 *   change   block at b: [x0 x1 x2 .. ]   a: poisoned, waits    rows move before the change takes place, all columns
 *                                                               of the chunk
 *   later                                 a: free               when 256 chunks or 16 MiB wait behind it
 *
 * So a pointer into the chunk from before is never one into it afterwards, whichever row it was of; using it stops
 * the program, and what is written behind the sanitizer's report says of which component and entity it was and what
 * moved it. Rows behind a chunk's last one are poisoned, too.
 *
 * A block that waits is neither in use nor in its arena's lists: it counts as spare. Straight paths are closed
 * meanwhile, since they tell nobody of what they move. All of it belongs to the family: forks share blocks. Where
 * memory is short nothing moves.
 *
 * Values outside of the rows: pages of stores as chunks. Those of REEF_PAGED stay where they are; a slot that is
 * vacant there, or on a page that didn't move, is poisoned until it is filled again.
 *
 * In other builds than the checked one with the address sanitizer there is nothing of it. */
#ifndef REEF_STORAGE_QUARANTINE_H
#define REEF_STORAGE_QUARANTINE_H

#include "base/platform.h"
#include "type/type.h"
#include "storage/cow_pages.h"
#include "storage/family.h"
#include "storage/layout.h"
#include "storage/world_data.h"
#include "reef/detail/layout.h"

#if defined(QUARANTINE)

typedef struct held held; /* blocks of a chunk that are about to wait */

INLINE bool quarantine_of(const family *f) { return UNLIKELY(f->memory.guarded); }
INLINE bool quarantine_on(const reef_world *w) { return quarantine_of(w->family); }
/* The call that moves rows from here on, and what it was told. */
INLINE void quarantine_because(reef_world *w, const char *op, uint32_t component, reef_entity e)
{
    if (quarantine_on(w)) w->moving.op = op, w->moving.component = component & ~BIT_DISABLED, w->moving.entity = e;
}
/* All columns of a chunk to other addresses, but for the row `raw`, which has no values (UINT32_MAX: none); false:
 * they are where they were, for want of memory or since too much moved already. Nothing that is shared moves. */
COLD bool reef__quarantine_chunk(reef_world *w, const table *t, uint32_t unit, uint32_t raw);
COLD void reef__quarantine_table(reef_world *w, const table *t);
COLD void reef__quarantine_world(reef_world *w, const char *op);
INLINE void quarantine_move(reef_world *w, const table *t, uint32_t unit)
{
    if (quarantine_on(w)) reef__quarantine_chunk(w, t, unit, UINT32_MAX);
}
/* Before the last row of t goes to `place`, whose own is raw. */
COLD void reef__quarantine_fill(reef_world *w, const table *t, uint32_t place);
/* The row at t->next is one no more. */
COLD void reef__quarantine_close(reef_world *w, const table *t);
/* Rows behind the last one of a chunk may be written (and read, by who compares bytes). */
COLD void reef__quarantine_open(const reef_world *w, const table *t, uint32_t unit);
/* A page of values outside of the rows to another address, before the store changes. False: it is where it was; then
 * the values that go are noted, in the slots that they left. */
COLD bool reef__quarantine_page(reef_world *w, reef_store *s, uint32_t page);
/* n slots are nobody's, where values of e were; and may be filled again; a page that is about to be copied may be
 * read. */
COLD void reef__quarantine_slots(const reef_world *w, const reef_store *s, uint32_t slot, uint32_t n, reef_entity e);
COLD void reef__quarantine_open_slots(const reef_world *w, const reef_store *s, uint32_t slot, uint32_t n);
COLD void reef__quarantine_open_page(const reef_world *w, const reef_store *s, uint32_t page);
/* Values of e that are about to be given back to the allocator, perhaps. */
COLD void reef__quarantine_value(const reef_world *w, const type *t, const void *value, uint32_t n, reef_entity e);
/* A page that a state left. True: it waits. */
COLD bool reef__quarantine_left(family *f, const reef_store *s, const paged_type *p, const void *block, uint32_t page);
/* Blocks that were left: noted one by one, then they wait all at once. NULL: they don't, the caller frees them. w
 * NULL: of a state that ended. */
COLD held *reef__quarantine_note(const reef_world *w, family *f, const shape *s, const reef_slot *slots, uint32_t rows);
COLD bool reef__quarantine_take(held *x, const column *c, void *block, uint32_t capacity); /* false: not this one */
COLD void reef__quarantine_wait(held *x);
/* All that waits of a family is free. */
COLD void reef__quarantine_end(family *f);
COLD void reef__quarantine_begin(family *f); /* as the environment says */

#else

INLINE bool quarantine_of(const family *f) { return (void)f, false; }
INLINE bool quarantine_on(const reef_world *w) { return (void)w, false; }
INLINE void quarantine_because(reef_world *w, const char *op, uint32_t component, reef_entity e)
{
    (void)w, (void)op, (void)component, (void)e;
}
INLINE void reef__quarantine_table(reef_world *w, const table *t) { (void)w, (void)t; }
INLINE void reef__quarantine_world(reef_world *w, const char *op) { (void)w, (void)op; }
INLINE void quarantine_move(reef_world *w, const table *t, uint32_t unit) { (void)w, (void)t, (void)unit; }
INLINE void reef__quarantine_fill(reef_world *w, const table *t, uint32_t place) { (void)w, (void)t, (void)place; }
INLINE void reef__quarantine_close(reef_world *w, const table *t) { (void)w, (void)t; }
INLINE void reef__quarantine_open(const reef_world *w, const table *t, uint32_t unit) { (void)w, (void)t, (void)unit; }
INLINE bool reef__quarantine_page(reef_world *w, reef_store *s, uint32_t page)
{
    return (void)w, (void)s, (void)page, false;
}
INLINE void reef__quarantine_slots(const reef_world *w, const reef_store *s, uint32_t slot, uint32_t n, reef_entity e)
{
    (void)w, (void)s, (void)slot, (void)n, (void)e;
}
INLINE void reef__quarantine_open_slots(const reef_world *w, const reef_store *s, uint32_t slot, uint32_t n)
{
    (void)w, (void)s, (void)slot, (void)n;
}
INLINE void reef__quarantine_open_page(const reef_world *w, const reef_store *s, uint32_t page)
{
    (void)w, (void)s, (void)page;
}
INLINE void reef__quarantine_value(const reef_world *w, const type *t, const void *value, uint32_t n, reef_entity e)
{
    (void)w, (void)t, (void)value, (void)n, (void)e;
}
INLINE bool reef__quarantine_left(family *f, const reef_store *s, const paged_type *p, const void *block, uint32_t page)
{
    return (void)f, (void)s, (void)p, (void)block, (void)page, false;
}
INLINE void reef__quarantine_end(family *f) { (void)f; }
INLINE void reef__quarantine_begin(family *f) { (void)f; }

#endif

#endif
