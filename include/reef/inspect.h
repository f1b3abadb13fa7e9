/* Inspecting a world: visiting everything, checking reef's own invariants. */
#ifndef REEF_INSPECT_H
#define REEF_INSPECT_H

#include "query.h"
#include <stdio.h>

REEF_BEGIN_C

/* Called once for each (entity, component). `data` is NULL for tags. Return false to stop. The visitor must not change
 * the world. */
typedef bool (*reef_visitor)(void *context, reef_entity entity, reef_component type, const void *data, size_t size);

/* Visits all components of an entity, ordered by type name, in every home. False: the visitor stopped, or the entity
 * isn't alive. */
REEF_API bool reef_visit_entity(const reef_world *world, reef_entity entity, reef_visitor visit, void *context);
/* Visits all components of a world, ordered by type name, and within a type in the order of tables and rows. False: the
 * visitor stopped, or there was no memory (4 bytes for each table). */
REEF_API bool reef_visit_world(const reef_world *world, reef_visitor visit, void *context);
/* Visits all living entities in the order of their indices; type is {0}, data NULL. False: the visitor stopped. */
REEF_API bool reef_visit_entities(const reef_world *world, reef_visitor visit, void *context);

/* Called once for each table with rows: the types of its components, ordered by name (the array lives until the visitor
 * returns), and the number of its rows. These are the entities that have exactly these types in REEF_TABLE or
 * REEF_SPLIT. Return false to stop. The visitor must not change the world. */
typedef bool (*reef_table_visitor)(void *context, const reef_component *types, uint32_t count, uint64_t rows);

/* Visits all tables with rows, in the order in which queries do, except the table of entities without such types.
 * False: the visitor stopped, or there was no memory (4 bytes for each table). */
REEF_API bool reef_visit_tables(const reef_world *world, reef_table_visitor visit, void *context);

/* How full the pages of a type in REEF_PAGED are, and which page size would take the fewest bytes for the same
 * entities. */
typedef struct reef_page_use {
    uint64_t values;     /* number of values */
    uint64_t pages;      /* pages with at least one value */
    uint64_t bytes;      /* of these pages, and of the list of all pages */
    uint32_t page_rows;  /* values that fit in a page */
    uint32_t best_rows;  /* the page size that takes the fewest bytes; the largest, if there are several */
    uint64_t best_bytes; /* bytes with that size */
} reef_page_use;

/* Fills *use. Costs O(values). Errors: UNKNOWN_TYPE, BAD_ARGUMENT (a NULL argument, or the type has another home); then
 * *use is all zeros. */
REEF_API reef_status reef_pages_used(const reef_world *world, reef_component type, reef_page_use *use);

/* Checks the whole world: index, tables, blocks, bits, values outside of the rows, names and free ids must agree.
 * Returns OK, or CORRUPT and writes a message that says what is wrong and where, at most `size` bytes with the zero.
 * Costs O(world); it is for tests. */
REEF_API reef_status reef_validate(const reef_world *world, char *message, size_t size);

/* ---- single entities and values ---- */

/* The living entity of an index; null if there is none. */
REEF_API reef_entity reef_entity_at(const reef_world *world, uint32_t index);
/* The entity that has the singletons, for everything that the calls of reef/single.h don't do. Null: there is none, as
 * in a new world. */
REEF_API reef_entity reef_single_entity(const reef_world *world);
/* The handle as a number for hash tables and logs: the generation in the upper half, the index in the lower half. */
REEF_INLINE uint64_t reef_entity_bits(reef_entity e) { return REEF_CAST(uint64_t, e.generation) << 32 | e.index; }
/* Writes a value as reef_print does: one field of the type with its unit ("2.5 m"); if `field` is NULL, all fields with
 * their names ("x 1 m, y 2 m"), or bytes if the type has no fields. `data` points to a value of the type; NULL: nothing
 * is written. The world is needed for the names of entities. False when the file can't be written, or the type isn't
 * known. */
REEF_API bool reef_print_value(const reef_world *world, reef_component type, const reef_field *field, const void *data,
                               FILE *file);

REEF_END_C

#endif
