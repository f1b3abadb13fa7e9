/* Which types have a place: their declarations, and what these say once they are resolved. */
#ifndef REEF_INDEX_PLACE_TYPE_H
#define REEF_INDEX_PLACE_TYPE_H

#include "type/type.h"
#include "reef/place.h"

enum { AXES = 3 };

/* The place of a type. It never changes and lives as long as the process; a type may get another one. */
typedef struct place_type {
    const type *of;
    uint32_t axes;  /* 2 or 3 */
    reef_kind kind; /* of the coordinates */
    uint32_t offset[AXES];
    double cell;
    /* Of each axis: the lowest coordinate, and how long the axis is; 0: it doesn't wrap around. Where the coordinates
     * are f32, so are these. */
    double low[AXES], length[AXES];
    bool whole;           /* cells stay as they are declared, between these borders: */
    double extent[AXES];  /* from `low` on */
    uint32_t cells[AXES]; /* how many; 1: the third axis of two */
    const type *body;     /* the type with the radius; NULL: all are points */
    uint32_t body_offset;
    reef_kind body_kind;
    const type *carried[REEF_PLACE_CARRIES_MAX]; /* types whose values it carries */
    uint32_t carried_count;
} place_type;

/* The place of a type. NULL: it has none, or its declaration is refused, and *why says why (NULL: it has none). Any
 * thread. */
const place_type *reef__place_type_of(uint32_t component, const char **why);
/* How many declarations came. While that is the same, no type has got another place. */
uint32_t reef__places_changes(void);

#endif
