/* Finds pointers that are kept over a structural change, by the address sanitizer.
 *
 *   before   block at a: [x0 x1 x2 .. ]                         the chunk's rows
 *   change   block at b: [x0 x1 x2 .. ]   a: poisoned, waits    rows move before the change takes place, all columns
 *                                                               of the chunk
 *   later                                 a: free               when 256 chunks or 16 MiB wait behind it
 *
 * So a pointer into a chunk never points into it after a change, whichever row it pointed to. Using it stops the
 * program, and a text behind the sanitizer's report says of which component and entity the pointer was and which call
 * moved it. Rows behind the last one of a chunk are poisoned too.
 *
 * A block that waits is neither in use nor in the lists of its arena: it counts as spare. The fast paths are closed in
 * this build, since they tell nobody what they move. All of this belongs to the family, because forks share blocks.
 * Nothing moves when memory is short.
 *
 * Pages of stores, with the values outside of the rows, are treated like chunks. Those of REEF_PAGED stay where they
 * are; a vacant slot there, or on a page that didn't move, is poisoned until it is filled again.
 *
 * Only the checked build with the address sanitizer has this. */
#ifndef REEF_STORAGE_QUARANTINE_H
#define REEF_STORAGE_QUARANTINE_H

#include "storage/cow_pages.h"
#include "storage/world_data.h"

typedef struct left_blocks left_blocks; /* blocks of a chunk that are about to wait */

#if defined(QUARANTINE)

INLINE bool quarantine_of(const family *f) { return UNLIKELY(f->memory.guarded); }
INLINE bool quarantine_on(const reef_world *w) { return quarantine_of(w->family); }
/* Notes the call that moves rows from here on, with its component and entity, for the report. */
INLINE void quarantine_because(reef_world *w, const char *op, uint32_t component, reef_entity e)
{
    if (quarantine_on(w)) w->moving.op = op, w->moving.component = component & ~BIT_DISABLED, w->moving.entity = e;
}
/* Moves all columns of a chunk to other addresses, except the row `raw`, which has no values (UINT32_MAX: no such row).
 * False: they stay, because memory is short or too much was moved already. Nothing that is shared moves. */
COLD bool reef__quarantine_chunk(reef_world *w, const table *t, uint32_t unit, uint32_t raw);
COLD void reef__quarantine_table(reef_world *w, const table *t);
COLD void reef__quarantine_world(reef_world *w, const char *op);
INLINE void quarantine_move(reef_world *w, const table *t, uint32_t unit)
{
    if (quarantine_on(w)) reef__quarantine_chunk(w, t, unit, UINT32_MAX);
}
/* To be called before the last row of t moves to `place`, whose row is raw. */
COLD void reef__quarantine_fill(reef_world *w, const table *t, uint32_t place);
/* Poisons the row at t->next, which is no row any more. */
COLD void reef__quarantine_close(reef_world *w, const table *t);
/* Lets rows behind the last one of a chunk be written (and read, by code that compares bytes). */
COLD void reef__quarantine_open(const reef_world *w, const table *t, uint32_t unit);
/* Moves a page of values outside of the rows to another address, before the store changes. False: it stays; then the
 * values that go are noted in the slots that they leave. */
COLD bool reef__quarantine_page(reef_world *w, reef_store *s, uint32_t page);
/* Poisons n slots that held values of e and belong to nobody now; lets slots be filled again, or a page be read that is
 * about to be copied. */
COLD void reef__quarantine_slots(const reef_world *w, const reef_store *s, uint32_t slot, uint32_t n, reef_entity e);
COLD void reef__quarantine_open_slots(const reef_world *w, const reef_store *s, uint32_t slot, uint32_t n);
COLD void reef__quarantine_open_page(const reef_world *w, const reef_store *s, uint32_t page);
/* Notes values of e that may be given back to the allocator. */
COLD void reef__quarantine_value(const reef_world *w, const type *t, const void *value, uint32_t n, reef_entity e);
/* Takes a page that a state has left. True: it waits. */
COLD bool reef__quarantine_left(family *f, const reef_store *s, const paged_type *p, const void *block, uint32_t page);
/* Takes blocks that were left: they are noted one by one, and then all wait at once. NULL: they don't wait, and the
 * caller frees them. w NULL: the blocks are those of a state that ended. */
COLD left_blocks *reef__quarantine_note(const reef_world *w, family *f, const shape *s, const reef_slot *slots,
                                        uint32_t rows);
/* false: this block doesn't wait */
COLD bool reef__quarantine_take(left_blocks *x, const column *c, void *block, uint32_t capacity);
COLD void reef__quarantine_wait(left_blocks *x);
/* Frees everything of a family that waits. */
COLD void reef__quarantine_end(family *f);
COLD void reef__quarantine_begin(family *f); /* as the environment variables say */

#else

INLINE bool quarantine_of(const family *f) { return (void)f, false; }
INLINE bool quarantine_on(const reef_world *w) { return (void)w, false; }
/* These calls are nothing then. */
#define quarantine_because(...) ((void)0)
#define quarantine_move(...) ((void)0)
#define reef__quarantine_table(...) ((void)0)
#define reef__quarantine_world(...) ((void)0)
#define reef__quarantine_fill(...) ((void)0)
#define reef__quarantine_close(...) ((void)0)
#define reef__quarantine_open(...) ((void)0)
#define reef__quarantine_page(...) false
#define reef__quarantine_slots(w, s, slot, n, e) ((void)(slot))
#define reef__quarantine_open_slots(...) ((void)0)
#define reef__quarantine_open_page(...) ((void)0)
#define reef__quarantine_value(w, t, value, n, e) ((void)(e))
#define reef__quarantine_left(...) false
#define reef__quarantine_note(...) NULL
#define reef__quarantine_take(left, ...) ((void)(left), false)
#define reef__quarantine_wait(left) ((void)(left))
#define reef__quarantine_end(...) ((void)0)
#define reef__quarantine_begin(...) ((void)0)

#endif

#endif
