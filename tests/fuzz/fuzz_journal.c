/* Fuzzes journals, as fuzz_load.c fuzzes files: several records, torn at their ends. The input's first byte says how
 * many bytes at the end keep their wrong checksums, so that the end is cut off or refused. */
#include "fuzz_world.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static reef_world *w;
    if (w == NULL) w = reef_world_new(NULL);
    if (size < 1) return 0;
    const size_t length = size - 1, torn = data[0] < 128 ? 0 : (size_t)(data[0] - 128) * length / 128;
    unsigned char *copy = malloc(length + 1);
    MUST(w && copy);
    if (length) memcpy(copy, data + 1, length);
    repair(copy, length - torn);
    const uint64_t hash = reef_hash(w);
    const reef_status s = reef_load_bytes(w, copy, length, NULL);
    sound(w);
    if (s != REEF_OK) MUST(reef_hash(w) == hash);
    else work(w);
    free(copy);
    return 0;
}
