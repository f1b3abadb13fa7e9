/* Fields that had another name before.
 *
 *     typedef struct Hunter { float strength; uint8_t temper; } Hunter;
 *     REEF_COMPONENT(Hunter);
 *     REEF_FIELDS(Hunter, REEF_FIELD_WAS(strength, power), REEF_FIELD_WAS((temper, "%"), anger, rage));
 *
 * Wherever values are paired by the names of fields, those of `power` come to `strength`: from files that were saved
 * before (reef/save.h), and when code with another layout takes over (reef/code.h). A field takes the values of its own
 * name first, and if there are none those of its old names, the newest of which stands first. What was saved once may
 * be loaded at any time, so leave the old names there. Those of a field have at most REEF_FIELD_WAS_MAX bytes
 * together. */
#ifndef REEF_RENAMED_H
#define REEF_RENAMED_H

#include "field.h"

/* An item of REEF_FIELDS or REEF_STRUCT. The first argument is the field in any form that it has there, in parentheses
 * if it is more than a word; the others are names that it had. */
#define REEF_FIELD_WAS(item, ...) (item, REEF_FIELD_WAS_TEXT_(__VA_ARGS__), was, was, was, was)

#endif
