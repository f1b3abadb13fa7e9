/* storage/signature: TODO */
#ifndef REEF_STORAGE_SIGNATURE_H
#define REEF_STORAGE_SIGNATURE_H

#include "storage/layout.h"

/* Are the words of a layout its components? (src/storage/signature.c) */
bool reef__shape_signed(const shape *s);

#endif
