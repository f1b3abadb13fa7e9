/* Looking into a world: printing, visiting everything, checking reef's own invariants. */
#ifndef REEF_INSPECT_H
#define REEF_INSPECT_H

#include "query.h"
#include <stdio.h>

REEF_BEGIN_C

/* Called once for each (entity, component). `data` is NULL for tags. Return false to stop. The visitor must not change
 * the world. */
typedef bool (*reef_visitor)(void *context, reef_entity entity, reef_component type, const void *data, size_t size);

/* All components of an entity, by type name, in every kind of storage. False: the visitor stopped, or nobody is
 * there. */
REEF_API bool reef_visit_entity(const reef_world *world, reef_entity entity, reef_visitor visit, void *context);
/* All components of a world: by type name, within a type in the order of tables and rows. */
REEF_API bool reef_visit_world(const reef_world *world, reef_visitor visit, void *context);
/* All living entities in the order of their indices (type is {0}, data NULL). */
REEF_API bool reef_visit_entities(const reef_world *world, reef_visitor visit, void *context);

/* Called once for each table with rows: the types of its components by name (they live until the call returns), and
 * how many entities have exactly these in REEF_TABLE or REEF_SPLIT. Return false to stop. The visitor must not
 * change the world. */
typedef bool (*reef_table_visitor)(void *context, const reef_component *types, uint32_t count, uint64_t rows);

/* All tables with rows, in the order in which a query visits them; not the one of entities that have nothing there.
 * False: the visitor stopped, or there was no memory for 4 bytes a table. */
REEF_API bool reef_visit_tables(const reef_world *world, reef_table_visitor visit, void *context);

/* Writes an entity as text: its id, name, components by type name, with fields, values and units where they are known,
 * bytes where not. False when the file can't be written. A dead entity prints as such. */
REEF_API bool reef_print(const reef_world *world, reef_entity entity, FILE *file);
/* Writes a value as reef_print does: of one field of the type with its unit ("2.5 m"), or of all with their names
 * ("x 1 m, y 2 m") where `field` is NULL, or as bytes where the type has no fields. `data` is a value of the type,
 * NULL: nothing is written. The world is asked for names of entities. False when the file can't be written, or the
 * type isn't known. */
REEF_API bool reef_print_value(const reef_world *world, reef_component type, const reef_field *field, const void *data,
                               FILE *file);
/* Writes a world: a summary, then the tables with their counts, events that wait for systems, then each entity;
 * `entities_max` bounds the last part. */
REEF_API bool reef_print_world(const reef_world *world, FILE *file, uint64_t entities_max);

/* How full the pages of a type in REEF_PAGED are, and which size of pages would take the fewest bytes for the same
 * entities. */
typedef struct reef_page_use {
    uint64_t values;     /* that are there */
    uint64_t pages;      /* that have some */
    uint64_t bytes;      /* of these pages, and of the list of all */
    uint32_t page_rows;  /* values that a page has room for */
    uint32_t best_rows;  /* the size with the fewest bytes, of several the largest */
    uint64_t best_bytes; /* with that */
} reef_page_use;

/* Costs O(values). UNKNOWN_TYPE, or BAD_ARGUMENT: NULL, or the type is in another home; then *use is all zeroes. */
REEF_API reef_status reef_pages_used(const reef_world *world, reef_component type, reef_page_use *use);

/* Walks the whole world and proves that index, tables, blocks, bits, values outside of the rows, names and free ids
 * agree. OK, or CORRUPT with a message that says what is wrong where. Costs O(world): for tests. */
REEF_API reef_status reef_validate(const reef_world *world, char *message, size_t size);

REEF_END_C

#endif
