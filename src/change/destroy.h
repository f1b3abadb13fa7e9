/* Destroying entities: what operations on whole queries share with the public calls (`reef_destroy` and its kin). */
#ifndef REEF_CHANGE_DESTROY_H
#define REEF_CHANGE_DESTROY_H

#include "base/platform.h"
#include "storage/layout.h"
#include "reef/type.h"

/* reef__destroy_prepare makes ready what the destruction of these n entities needs beside their rows: names, logs of
 * removals, and room for their ids and for `more` ids of entities that have no names and aren't tracked. False: no
 * memory. reef__destroy_rows destroys all entities of a table, in the order of their rows. The caller prepared them
 * and made the whole table this world's own, so it can't fail. */
bool reef__destroy_prepare(reef_world *w, const reef_entity *e, uint64_t n, uint64_t more);
void reef__destroy_rows(reef_world *w, uint32_t id);
/* Destroys an entity that is alive, whoever is related to it; everything was prepared. */
void reef__destroy_prepared(reef_world *w, reef_entity e);

/* The parts of destroying entities together, which were prepared: the names and the values outside of the rows, while
 * the rows are still there; n rows of a table. The last entity comes first. (reef__ids_free does the rest.) */
void reef__destroy_values(reef_world *w, const reef_entity *e, uint32_t n);
void reef__destroy_some_rows(reef_world *w, uint32_t id, const reef_entity *e, uint32_t n);

/* Prepares a chunk whose rows go or change places: its columns and its bits. */
bool reef__chunk_prepare(reef_world *w, const table *t, uint32_t unit);
/* Prepares those of these rows that are in table `from` to leave it: they, and the last rows, which take their
 * places. */
bool reef__leave_prepare(reef_world *w, uint32_t from, const reef_entity *e, uint64_t count);

#endif
