/* Printing entities and worlds. */
#ifndef REEF_PRINT_H
#define REEF_PRINT_H

#include "world.h"
#include <stdio.h>

REEF_BEGIN_C

/* Writes an entity as text: its id, its name, and its components ordered by type name, with fields, values and units,
 * or as bytes where the type has no fields. A relation is written without its place. A dead entity is printed as dead.
 * False when the file can't be written. */
REEF_API bool reef_print(const reef_world *world, reef_entity entity, FILE *file);
/* Writes a world: a summary, the tables with their counts, the events that wait for systems, and the entities, at most
 * `entities_max` of them. False when the file can't be written. */
REEF_API bool reef_print_world(const reef_world *world, FILE *file, uint64_t entities_max);

REEF_END_C

#endif
