/* Printing entities, values and worlds. */
#ifndef REEF_PRINT_H
#define REEF_PRINT_H

#include "world.h"
#include <stdio.h>

REEF_BEGIN_C

/* Writes an entity as text: its id, its name, and its components ordered by type name, with fields, values and units,
 * or as bytes where the type has no fields. A relation is written without its place. A dead entity is printed as dead.
 * False when the file can't be written. */
REEF_API bool reef_print(const reef_world *world, reef_entity entity, FILE *file);
/* Writes a value as reef_print does: one field of the type with its unit ("2.5 m"); if `field` is NULL, all fields with
 * their names ("x 1 m, y 2 m"), or bytes if the type has no fields. `data` points to a value of the type; NULL: nothing
 * is written. The world is needed for the names of entities. False when the file can't be written, or the type isn't
 * known. */
REEF_API bool reef_print_value(const reef_world *world, reef_component type, const reef_field *field, const void *data,
                               FILE *file);
/* Writes a world: a summary, the tables with their counts, the events that wait for systems, and the entities, at most
 * `entities_max` of them. False when the file can't be written. */
REEF_API bool reef_print_world(const reef_world *world, FILE *file, uint64_t entities_max);

REEF_END_C

#endif
