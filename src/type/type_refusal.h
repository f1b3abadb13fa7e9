/* Why a declaration of a type is refused, as a text. */
#ifndef REEF_TYPE_TYPE_REFUSAL_H
#define REEF_TYPE_TYPE_REFUSAL_H

#include "base/text_out.h"
#include "type/type.h"
#include "reef/type_info.h"

/* `named`: the type that has this name already; NULL: none. Of types with ids up to `settled` the requirements don't
 * change any more. */
void reef__type_refusal_put(text_out *o, const reef_type_desc *d, reef_status status, const type *named,
                            uint32_t settled);

#endif
