/* Types of relations (src/type/relation_type.c). */
#ifndef REEF_TYPE_RELATION_TYPE_H
#define REEF_TYPE_RELATION_TYPE_H

#include "type/fields.h"
#include "reef/type_info.h"

/* Completes the description of a type of relations; its fields become a list in `made`. */
reef_status reef__relation_complete(reef_type_desc *d, made_fields *made);
/* Why a type of relations is refused with BAD_ARGUMENT. */
const char *reef__relation_refused(const reef_type_desc *d);

#endif
