/* The log of removals: for each tracked type, the handles (and, where somebody asks, the values) of what was removed,
 * and the readers of these logs. Nothing is logged for a type without readers. */
#ifndef REEF_STORAGE_REMOVAL_LOG_H
#define REEF_STORAGE_REMOVAL_LOG_H

#include "storage/cow_pages.h"
#include "storage/row_stamps.h"
#include "reef/track.h"

/* Makes room for n removals, if the type has readers. */
bool reef__removals_prepare(reef_world *w, uint32_t component, uint64_t n);
bool reef__removals_prepare_row(reef_world *w, const shape *s); /* for all components of a row */
/* For all components of n living entities. */
bool reef__removals_prepare_many(reef_world *w, const reef_entity *e, uint64_t n);

/* Logs a removal while the value is still in the row at `place`. */
void reef__removal_log(reef_world *w, const type *t, uint32_t place, reef_entity e);
void reef__removals_log_row(reef_world *w, const shape *s, uint32_t place, reef_entity e);

/* Makes a new reader, whose position is still to be set (NULL: there is no memory); finds the reader of a handle (NULL:
 * it is none, and the failure is recorded). */
log_reader *reef__reader_make(reef_world *w, uint32_t component, bool events);
log_reader *reef__reader_of(reef_world *w, reef_removals handle, bool events, const char *op);
bool reef__readers_free(reef_world *w, const char *op); /* may readers outside of systems read? */

/* Makes room for more bytes at the tail of a ring, on pages that this world owns. Nothing between head and tail
 * moves. */
bool reef__bytes_room(reef_world *w, const paged_type *kind, reef_paged *ring, uint64_t head, uint64_t tail,
                      uint64_t bytes);

/* For a reader by its number. reef__removals_peek reads the removal that is `ahead` places behind its position,
 * reef__removals_at the one at a position. reef__removals_trim frees what all readers have read. */
bool reef__removals_peek(const reef_world *w, uint32_t reader, uint64_t ahead, reef_entity *entity, void *value);
bool reef__removals_at(const reef_world *w, uint32_t component, uint64_t position, reef_entity *entity, void *value);
void reef__removals_trim(reef_world *w, uint32_t reader);

/* Readers belong to the world; how far they have read is part of the state while somebody else holds that state. In
 * this order: to be called before the state is shared (false: there is no memory), after another state came, when the
 * state must have no readers, when the world ends. */
bool reef__readers_note(reef_world *w);
void reef__readers_arrive(reef_world *w);
void reef__removals_forget(reef_world *w);
void reef__readers_drop(reef_world *w);

/* While a world aside is read from a file, it mirrors the readers of removals of its target; the reader of the scripts
 * then stands where the state of the file says (reef__readers_mirror: false means that there is no memory).
 * reef__readers_place answers where the state says that a reader stands. reef__removals_forget_waiting drops what waits
 * for a reader. reef__removals_put appends a removal to a log that has a reader of values. */
uint64_t reef__scripts_serial(const reef_world *w); /* serial number of the reader of the scripts; 0: scripts are off */
bool reef__readers_mirror(reef_world *loaded, const reef_world *w);
void reef__readers_unmirror(reef_world *loaded);
bool reef__readers_place(const reef_world *w, uint64_t serial, uint64_t *position);
bool reef__removals_forget_waiting(reef_world *w, uint32_t reader);
bool reef__removals_put(reef_world *w, uint32_t component, reef_entity e, const void *value);

/* Counts the readers of a new store. */
void reef__readers_count(const reef_world *w, track_store *s);
bool reef__removals_sound(const reef_world *w, const track_store *s);

#endif
