/* Types with track_rows: stamps say when the component of each entity was written and added (src/storage/row_stamps.c).
 * Readers of the log of removals are here as well (src/storage/removal_log.c).
 *
 * A function ..._prepare owns what the calls after it need and changes nothing visible; false: there is no memory. What
 * follows it can't fail. */
#ifndef REEF_STORAGE_ROW_STAMPS_H
#define REEF_STORAGE_ROW_STAMPS_H

#include "storage/state.h"
#include "reef/track.h"

/* ---- stamps ---- */

/* A page of track_store.stamps. Of neighbours one kind of stamp lies side by side, which reading many of them is made
 * for. `newest` has, for each eight neighbours, a version that none of their stamps is newer than. */
enum { STAMPS_PER_PAGE = 512, STAMPS_TOGETHER = 8 };
typedef struct stamp_page {
    uint64_t changed[STAMPS_PER_PAGE], added[STAMPS_PER_PAGE];
    uint64_t newest[STAMPS_PER_PAGE / STAMPS_TOGETHER];
} stamp_page;

/* The stamps of a type. NULL: no entity of this state ever had the component. The pointer is good until another type is
 * tracked for the first time. */
track_store *reef__track_of(const reef_world *w, uint32_t component);
/* Bit i (of at most 64) says whether the component of e[i], which has it, was written, or added, after version
 * `since`. */
uint64_t reef__track_word(const track_store *s, const reef_entity *e, uint32_t rows, uint64_t since, bool added);
/* Keeps of words[first] to words[end - 1], which stand for 64 of e[0] to e[rows - 1] each, the bits of those of which
 * that is so. */
void reef__track_words(const track_store *s, const reef_entity *e, uint32_t rows, uint64_t since, bool added,
                       uint64_t *words, uint32_t first, uint32_t end);
/* The first index from `index` on whose entity ever had the component. UINT64_MAX: there is none. A store NULL has
 * none. */
uint64_t reef__track_next(const track_store *s, uint64_t index);
/* The page of an entity's stamps, which this world owns then. NULL: there is no memory. */
stamp_page *reef__track_page(reef_world *w, uint32_t component, uint32_t index);
/* Writes the stamps of an entity on such a page; a number that is 0 isn't written. */
INLINE void stamps_write(stamp_page *p, uint32_t index, uint64_t changed, uint64_t added)
{
    const uint32_t i = index % STAMPS_PER_PAGE;
    uint64_t *newest = &p->newest[i / STAMPS_TOGETHER];
    if (changed) p->changed[i] = changed;
    if (added) p->added[i] = added;
    /* Other jobs of the same system, which have the same version, may write it for other entities. */
    if (RELAXED_LOAD(newest) < changed) RELAXED_STORE(newest, changed);
}
/* Makes stamps for these entities. Whoever marks a tracked column as written does so by column_mark. */
bool reef__track_prepare(reef_world *w, uint32_t component, const reef_entity *e, uint32_t rows);
bool reef__track_prepare_table(reef_world *w, uint32_t component, const table *t); /* for all entities of a table */
void reef__track_stamp(reef_world *w, uint32_t component, uint32_t index, bool added);
/* Stamps the component as written, if this world's own page has room for the stamp. False: reef__track_prepare has to
 * come first. */
bool reef__track_stamp_own(reef_world *w, uint32_t component, uint32_t index);
/* Stamps the component as written at `version`, if its stamp is older. */
void reef__track_stamp_at(reef_world *w, uint32_t component, uint32_t index, uint64_t version);
/* Sets a stamp that is known; a number that is 0 isn't set. False: there is no memory. */
bool reef__track_set(reef_world *w, uint32_t component, uint32_t index, uint64_t changed, uint64_t added);
/* The same for all tracked components of a new row. */
bool reef__track_prepare_row(reef_world *w, const shape *s, reef_entity e);
void reef__track_stamp_row(reef_world *w, const shape *s, uint32_t index);
/* Copies the stamp of an entity that has the component in both worlds. */
void reef__track_carry(reef_world *to, const reef_world *from, uint32_t component, uint32_t index);
reef_status reef__tracks_validate(const reef_world *w, char *message, size_t size);

/* ---- removals ---- */

/* A reader of one type's removals, or of its events (src/system/event.c). It belongs to the world. */
typedef struct log_reader {
    uint64_t serial;   /* 0: this reader is free */
    uint64_t position; /* position of the next entry that it reads */
    uint32_t generation, component;
    bool values, events;
} log_reader;

#endif
