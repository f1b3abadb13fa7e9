/* Fuzzes differences, as fuzz_load.c fuzzes files. They are applied to the world for which most of the first inputs
 * were made. */
#include "fuzz_world.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static reef_world *base;
    unsigned char *copy = malloc(size ? size : 1);
    if (base == NULL) base = fuzz_base();
    MUST(base && copy);
    if (size) memcpy(copy, data, size);
    repair(copy, size);
    reef_world *w = reef_fork(base);
    MUST(w);
    const uint64_t hash = reef_hash(w);
    const reef_status s = reef_diff_apply(w, copy, size);
    sound(w);
    if (s != REEF_OK) MUST(reef_hash(w) == hash);
    else work(w);
    reef_world_free(w);
    free(copy);
    return 0;
}
