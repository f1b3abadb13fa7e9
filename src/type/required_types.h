/* What types require (REEF_REQUIRES): all that comes along with a type, and what may not be required. */
#ifndef REEF_TYPE_REQUIRED_TYPES_H
#define REEF_TYPE_REQUIRED_TYPES_H

#include "type/type.h"
#include "reef/type_info.h"

/* Lists all types that come along with t, ordered by name. The answer is how many, but at most REEF_COMPONENTS_MAX. */
uint32_t reef__needs_of(const type *t, uint32_t *needs);
/* May t (NULL: a new type) require what the description says? *which is the type that it may not; NULL: there are too
 * many. */
reef_status reef__required_check(const type *t, const reef_type_desc *d, const type **which);

#endif
