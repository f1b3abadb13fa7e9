/* What the suites and the model test do with the internals of a world. */
#ifndef REEF_TESTS_INSIDE_H
#define REEF_TESTS_INSIDE_H

#include "reef/all.h"

/* reef_hash without the hashes that the world keeps: they are dropped, and everything is hashed again. */
uint64_t hash_anew(reef_world *world);
/* Resets the last error, as if no call on the world had failed yet. */
void error_forget(reef_world *world);
/* The number of tables of a family of worlds, with or without rows. */
uint32_t family_tables(const reef_world *world);
/* Makes it look as if another copy of reef in the process had made the world, or as it was. */
void library_pretend(reef_world *world, bool other);
/* The public function that the other copy was last told of; NULL: it was told of none since it was last asked. */
const char *library_told(void);

#endif
