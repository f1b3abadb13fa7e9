/* Lists of fields: members that are structs become their fields, and copies for the registry. */
#ifndef REEF_TYPE_FIELDS_H
#define REEF_TYPE_FIELDS_H

#include "base/platform.h"
#include "reef/limits.h"
#include "reef/field.h"

#define FIELD_UNPAIRED UINT32_MAX

/* Fields that are made from others, with room for their names. */
typedef struct made_fields {
    reef_field field[REEF_FIELDS_MAX];
    char name[REEF_FIELDS_MAX][REEF_TYPE_NAME_MAX + 1];
    char was[REEF_FIELDS_MAX][REEF_FIELD_WAS_MAX + 1];
} made_fields;

/* Replaces each member that is a struct by the fields of that struct. *fields becomes a list in `made`, if there are
 * such members. False: a name is too long, there are too many fields, or a struct isn't as its list says. */
bool reef__fields_flatten(made_fields *made, const reef_field **fields, uint32_t *count);
/* The field with this name of `length` bytes. NULL: there is none. */
const reef_field *reef__field_named(const reef_field *fields, uint32_t count, const char *name, size_t length);
/* Which of these names each field takes its values from: its own, or else the first of its old names that no field has
 * taken. FIELD_UNPAIRED: none. `taken` says for each of the names whether a field takes it. This is the only place
 * where old names count. */
void reef__fields_pair(const reef_field *fields, uint32_t count, const char *const *names, uint32_t name_count,
                       uint32_t *pair, bool *taken);
/* Bytes of a copy of the fields with their texts and names. It can't overflow: all counts and lengths are checked. */
size_t reef__fields_bytes(const reef_field *fields, uint32_t count);
/* Copies the fields to `room`. Fields with the same names share their copy. */
const reef_field *reef__fields_copy(const reef_field *fields, uint32_t count, void *room);

#endif
