/* The picture of a run: one SVG file that needs nothing else. Curves of all populations on a logarithmic axis, the
 * energy of all parts of the sea, and maps. Of two futures the one without a species is dashed. */
#ifndef LIVING_REEF_PICTURE_H
#define LIVING_REEF_PICTURE_H

#include "record.h"

/* Draws what was recorded; `without` is NULL when the world wasn't forked. False: no memory. Whether the file took it,
 * ferror tells. */
bool picture_write(const record *with, const record *without, const species_table *table, uint32_t metres,
                   uint64_t seed, FILE *file);

#endif
