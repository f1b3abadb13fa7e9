/* What the suites and the model test do with the internals of a world. */
#ifndef REEF_TESTS_INSIDE_H
#define REEF_TESTS_INSIDE_H

#include "reef.h"

/* reef_hash without the hashes that the world keeps: they are dropped, and everything is hashed again. */
uint64_t hash_anew(reef_world *world);
/* Resets the last error, as if no call on the world had failed yet. */
void error_forget(reef_world *world);

#endif
