/* What the core asks of value indexes that are declared beside types. A program that declares none is linked without
 * their code, since nothing leads there but this pointer. */
#ifndef REEF_STORAGE_INDEX_CALLS_H
#define REEF_STORAGE_INDEX_CALLS_H

#include "storage/world_data.h"

/* Makes the declared indexes that the world hasn't got yet (src/index/index_decl.c). False: no memory. NULL as long as
 * none was declared; it is set once. */
extern bool (*reef__indexes_declared)(reef_world *w);

#endif
