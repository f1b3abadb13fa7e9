/* Types of relations (src/type/relation_type.c). */
#ifndef REEF_TYPE_RELATION_TYPE_H
#define REEF_TYPE_RELATION_TYPE_H

#include "type/fields.h"
#include "reef/type_info.h"

/* A program without a relation type is linked without this code: nothing leads there but this table, which such a type
 * brings along (src/storage/relation_calls.h). */
typedef struct relation_type_calls {
    /* Completes the description of a type of relations; its fields become a list in `made`. */
    reef_status (*complete)(reef_type_desc *d, made_fields *made);
    /* Why a type of relations is refused with BAD_ARGUMENT. */
    const char *(*refused)(const reef_type_desc *d);
} relation_type_calls;
extern const relation_type_calls reef__relation_type;

/* NULL as long as there is no relation type. */
extern const relation_type_calls *reef__relation_types_by;

#endif
