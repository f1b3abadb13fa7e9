/* The picture of a run: one SVG file that needs no other file. It has curves of all populations on a logarithmic axis,
 * the energy of all parts of the sea, and maps. If there are two futures, the one without a species is dashed. */
#ifndef LIVING_REEF_PICTURE_H
#define LIVING_REEF_PICTURE_H

#include "record.h"

/* Draws what was recorded. `without` is NULL if the world wasn't forked. False: no memory. Errors of the file are
 * found by ferror. */
bool picture_write(const record *with, const record *without, const species_table *table, uint32_t metres,
                   uint64_t seed, FILE *file);

#endif
