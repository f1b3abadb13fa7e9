/* Types that are split by field (REEF_SPLIT).
 *
 *   Position {x, y, z}    in the graph    a tag Position, and parts Position.x, Position.y, Position.z: types in tables
 *                         in a table      a column of floats for each part; they come and go with the tag
 *
 * For tables, queries, hashes and forks a part is a type like any other. Values come in as structs and are spread over
 * the parts where lists of values enter (reef__values_spread). They go out gathered. The caller can't add or remove a
 * part. */
#ifndef REEF_STORAGE_SPLIT_COLUMNS_H
#define REEF_STORAGE_SPLIT_COLUMNS_H

#include "base/memory.h"
#include "type/type.h"
#include "reef/loop.h"
#include "reef/term.h"

/* A list of values of a call's own. In a copy of the caller's list each value of a split type is followed by its parts,
 * and the required types that come along are at its end. */
typedef struct spread {
    reef_value *values;
    uint32_t count;
    call_memory memory;
} spread;
/* Makes an empty list with room for `most` values. False: no memory. */
bool reef__spread_room(reef_world *w, spread *x, uint32_t most);
/* Makes the copy, for entity e (null: a new one). REEF_OK, or what reef__type_ready answers, or REEF_NO_MEMORY or
 * REEF_LIMIT. */
reef_status reef__spread_make(reef_world *w, spread *x, reef_entity e, const reef_value *values, uint32_t count);
/* The same, into a list with room for reef__spread_most values. It needs no memory if the world knows all types. */
uint32_t reef__spread_most(const reef_value *values, uint32_t count);
reef_status reef__spread_fill(reef_world *w, spread *x, reef_entity e, const reef_value *values, uint32_t count);
void reef__spread_free(reef_world *w, spread *x);
/* Puts a value and its parts into a list with room for REEF_SPLIT_FIELDS_MAX + 1; answers how many there are. */
COLD uint32_t reef__spread_one(reef_value *to, const reef_value *v);

/* For the terms of a query, in prefix form: a term that asks for the data of a split type, or for changes of it,
 * becomes one term of its tag and one of each part. False: there are too many terms. */
COLD bool reef__terms_spread(reef_term *term, uint32_t *number, uint32_t *count);

/* Puts the parts of a row together in `out`. False: the row hasn't got the type. */
COLD bool reef__parts_gather(const reef_world *w, uint32_t place, const type *t, void *out);
/* Writes the parts of a row that has the type. This world owns the columns (reef__parts_own). */
COLD void reef__parts_scatter(const reef_world *w, uint32_t place, const type *t, const void *value);
bool reef__parts_own(reef_world *w, uint32_t place, const type *t);
/* The type in whose column a field lies: the part of a split type, or c itself if the field is all of it. {0}: there is
 * none. */
reef_component reef__field_type(reef_component c, size_t offset, size_t size);

#endif
