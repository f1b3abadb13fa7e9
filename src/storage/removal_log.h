/* storage/removal_log: TODO */
#ifndef REEF_STORAGE_REMOVAL_LOG_H
#define REEF_STORAGE_REMOVAL_LOG_H

#include "type/type.h"
#include "storage/cow_pages.h"
#include "storage/layout.h"
#include "storage/row_stamps.h"
#include "storage/state.h"
#include "reef/detail/layout.h"
#include "reef/track.h"

/* Room for n removals, if somebody reads them. */
bool reef__removals_prepare(reef_world *w, uint32_t component, uint64_t n);
bool reef__removals_prepare_row(reef_world *w, const shape *s); /* of all components */
/* of all components of living entities */
bool reef__removals_prepare_many(reef_world *w, const reef_entity *e, uint64_t n);

/* The value is still in the row at `place`. */
void reef__removal_log(reef_world *w, const type *t, uint32_t place, reef_entity e);
void reef__removals_log_row(reef_world *w, const shape *s, uint32_t place, reef_entity e);

/* A new one (NULL: no memory), whose position is still to be set; that of a handle (NULL: the failure is recorded). */
log_reader *reef__reader_make(reef_world *w, uint32_t component, bool events);
log_reader *reef__reader_of(reef_world *w, reef_removals handle, bool events, const char *op);

/* Room for so many bytes at the tail of a ring, ours: of what lies between head and tail nothing moves. */
bool reef__bytes_room(reef_world *w, const paged_type *kind, reef_paged *ring, uint64_t head, uint64_t tail,
                      uint64_t bytes);

/* Removal `ahead` behind the place of a reader with values, by its number; its place goes on; what all have read is
 * let go. */
bool reef__removals_peek(const reef_world *w, uint32_t reader, uint64_t ahead, reef_entity *entity, void *value);
bool reef__removals_at(const reef_world *w, uint32_t component, uint64_t position, reef_entity *entity, void *value);
void reef__removals_pass(reef_world *w, uint32_t reader, uint64_t n);
void reef__removals_trim(reef_world *w, uint32_t reader);

/* Who reads is the world's; how far they are is part of the state while somebody holds it. Before the state is
 * shared; after another one came; when the state is to have no reader; when the world ends. */
bool reef__readers_note(reef_world *w);
void reef__readers_arrive(reef_world *w);
void reef__removals_forget(reef_world *w);
void reef__readers_drop(reef_world *w);

/* A world aside, while it is read from a file, has readers of removals as its target; then that of scripts stands
 * where its state says. False: no memory. Where a state says that a reader is. What waits for a reader is forgotten;
 * a removal is put at the end of the log, which has a reader of values. */
uint64_t reef__scripts_serial(const reef_world *w); /* of the reader that scripts have; 0: scripts are off */
bool reef__readers_mirror(reef_world *aside, const reef_world *w);
void reef__readers_unmirror(reef_world *aside);
bool reef__readers_place(const reef_world *w, uint64_t serial, uint64_t *position);
bool reef__removals_forget_waiting(reef_world *w, uint32_t reader);
bool reef__removals_put(reef_world *w, uint32_t component, reef_entity e, const void *value);

/* Of a store that is new. */
void reef__readers_count(const reef_world *w, track_store *s);
bool reef__removals_sound(const reef_world *w, const track_store *s);

#endif
