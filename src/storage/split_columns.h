/* Types that are split by field (REEF_SPLIT).
 *
 *   Position {x, y, z}    in the graph    a tag Position, and parts Position.x, Position.y, Position.z: types in tables
 *                         in a table      a column of floats for each part; they come and go with the tag
 *
 * Parts are types as others are for tables, queries, hashes and forks. Values come in as structs and are spread over
 * the parts where lists of values enter (reef__values_spread); they go out gathered. The caller can't add or remove
 * a part. */
#ifndef REEF_STORAGE_SPLIT_COLUMNS_H
#define REEF_STORAGE_SPLIT_COLUMNS_H

#include "base/platform.h"
#include "type/type.h"
#include "reef/loop.h"

/* A list of values in which each one of a split type is followed by its parts. */
typedef struct spread {
    reef_value *values;
    uint32_t count;
    size_t bytes; /* of the heap; 0: it is the caller's list, or in `few` */
    reef_value few[48];
} spread;
/* How long the list is with the parts; the same number: none is split. */
uint32_t reef__values_spread(const reef_value *values, uint32_t count);
/* NO_MEMORY; LIMIT. */
COLD reef_status reef__spread_make(reef_world *w, spread *x, const reef_value *values, uint32_t count);
COLD void reef__spread_free(reef_world *w, spread *x);
/* The parts of one value into a list with room for REEF_SPLIT_FIELDS_MAX + 1; how many, with its tag. */
COLD uint32_t reef__spread_one(reef_value *to, const reef_value *v);

/* A query's terms, in prefix form: what asks for a split type's data, or for changes of it, becomes a term of its
 * tag and terms of its parts. False: too many. */
COLD bool reef__terms_spread(reef_term *term, uint32_t *number, uint32_t *count);

/* The parts of a row put together; false: it hasn't got the type. */
COLD bool reef__parts_gather(const reef_world *w, uint32_t place, const type *t, void *out);
/* In a row that has it, whose columns are ours. */
COLD void reef__parts_scatter(const reef_world *w, uint32_t place, const type *t, const void *value);
bool reef__parts_own(reef_world *w, uint32_t place, const type *t);
/* The type whose array a field's is: the part of a split one; another one, where the field is all of it. {0}: there
 * is none. */
reef_component reef__field_type(reef_component c, size_t offset, size_t size);

#endif
