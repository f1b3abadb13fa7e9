/* Signatures: sets of components as words of bits. The public calls are in reef/signature.h; this header has what other
 * files of reef need. */
#ifndef REEF_STORAGE_SIGNATURE_H
#define REEF_STORAGE_SIGNATURE_H

#include "storage/layout.h"

/* Do the words of a layout say what its components are? */
bool reef__shape_signed(const shape *s);

#endif
