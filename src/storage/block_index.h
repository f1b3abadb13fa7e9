/* Indexes of blocks: for one component an array from unit to block, so that get, mut and has by handle need neither the
 * chunk's slots nor the map of the component (reef/detail/layout.h draws the way).
 *
 *      map of the component: number ──► index:  block[unit]    [ – | – | b | b | – | b | ... ]
 *                                               version[unit]  [ 0 | 0 | v | 0 | 0 | v | ... ]
 *
 * An index is a cache of one world and no part of its state. Calls that went by the chunk ask for one: one call in 64,
 * which counts for 64. It is made when as many have asked as the world has units, so that each call pays for one. An
 * index takes 16 bytes for each unit, and up to twice that, since the room is a power of two;
 * and a world has 64 of them at most. (A component has the same number in all worlds of a family, of which 255 are
 * given out.) When units go beyond the room, all indexes are dropped, and made again when they are asked for. Without
 * memory, beyond these limits, and until there is an index, calls go by the chunk, and answer the same.
 *
 * Invariants, which reef_validate checks:
 *   - block[unit] is what the chunk's slot of the component says, or NULL where the chunk hasn't got it and where no
 *     chunk begins. Every function that puts a block into a slot calls one of the functions ..._note.
 *   - A version that equals the world's is also the version of the slot, except while systems run. Only a call that has
 *     just marked the slot notes it, and reef__versions_forget takes it back where slots get another version while the
 *     world's stays.
 *   - All units of the world are below `room`, which is the same for all indexes of a world. So no call compares it.
 *
 * Several threads may ask at the same time, and jobs may give their own columns other blocks meanwhile. Both happen
 * under the lock of the family, and an index is complete when its address is stored. Everything else happens while
 * nobody reads the world. */
#ifndef REEF_STORAGE_BLOCK_INDEX_H
#define REEF_STORAGE_BLOCK_INDEX_H

#include "storage/archetype.h"

enum { BLOCK_ASKS = 64 }; /* how many calls one that asks stands for */

/* BLOCK_ASKS calls would have liked an index of this component. Any thread that may read the world. */
void reef__block_index_ask(const reef_world *w, uint32_t component);

/* The index of a component; an empty one, with no room, when there is none. */
INLINE reef_block_index *block_index_of(const reef_world *w, uint32_t component)
{
    return REEF_DEPENDENT(&REEF_DEPENDENT(&w->hot.blocks)[REEF_DEPENDENT(&map_of_id(w, component)->number)]);
}
INLINE void **index_blocks(reef_block_index *x) { return (void **)(void *)(x + 1); }
INLINE bool block_indexed_any(const reef_world *w) { return w->block_room != UINT32_MAX; }

/* The block of a component's column at `unit` is another one from now on. */
INLINE void block_note(const reef_world *w, uint32_t component, uint32_t unit, void *block)
{
    reef_block_index *x = block_index_of(w, component);
    if (x->room) RELEASE_STORE(&index_blocks(x)[unit], block);
}
/* The same for the column in slot k of a shape; the handles have no index. */
INLINE void column_note(const reef_world *w, const shape *s, uint32_t unit, uint32_t k, void *block)
{
    if (UNLIKELY(block_indexed_any(w)) && k != SLOT_ENTITIES) block_note(w, s->columns[k].type->id, unit, block);
}
/* The component's slot at `unit` has just been marked with the world's version, which nobody else marks now. */
INLINE void version_note(const reef_world *w, uint32_t component, uint32_t unit, uint64_t version)
{
    reef_block_index *x = block_index_of(w, component);
    if (x->room) x->version[unit] = version;
}
/* A chunk of this shape begins at `unit` from now on, or no longer does. */
void reef__chunk_note_slow(reef_world *w, const shape *s, uint32_t unit, bool there);
INLINE void chunk_note(reef_world *w, const shape *s, uint32_t unit, bool there)
{
    if (UNLIKELY(block_indexed_any(w))) reef__chunk_note_slow(w, s, unit, there);
}
/* Slots of the component that carry the world's version get another one. */
void reef__versions_forget(reef_world *w, uint32_t component);
/* The types have got subtypes. */
void reef__block_indexes_renew(reef_world *w);
void reef__block_indexes_fill(void);           /* with the first family */
void reef__block_indexes_begin(reef_world *w); /* in a new world */
void reef__block_indexes_drop(reef_world *w);  /* frees them all: the world ends, or has another state */
/* Units up to next_unit are used from now on. */
INLINE void units_note(reef_world *w)
{
    if (UNLIKELY(w->state.next_unit > w->block_room)) reef__block_indexes_drop(w); /* never without an index */
}
reef_status reef__block_indexes_validate(const reef_world *w, char *message, size_t size);

#endif
