/* Types of relations: everything but their name follows from their options and the type of their data. */
#ifndef REEF_TYPE_RELATION_TYPE_H
#define REEF_TYPE_RELATION_TYPE_H

#include "type/fields.h"
#include "reef/type_info.h"

/* Completes the description of a type of relations. Its fields are made in `made`. */
reef_status reef__relation_complete(reef_type_desc *d, made_fields *made);
/* Why such a type is refused with BAD_ARGUMENT. */
const char *reef__relation_refused(const reef_type_desc *d);

#endif
