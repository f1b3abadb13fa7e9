/* Fuzzes files. Checksums are corrected first, so that the fuzzer reaches the code after them. Either the file is
 * refused, or the loaded world is valid and can be used. The first inputs are files of worlds that the program makes
 * itself: run it with `-seed_files=DIRECTORY` as the only argument to write them. */
#include "fuzz_world.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static reef_world *w;
    unsigned char *copy = malloc(size ? size : 1);
    if (w == NULL) w = reef_world_new(NULL);
    MUST(w && copy);
    if (size) memcpy(copy, data, size);
    repair(copy, size);
    static const reef_unknown unknown[] = {REEF_UNKNOWN_DROP, REEF_UNKNOWN_REFUSE};
    const reef_load_desc desc = {.unknown = unknown[size & 1]};
    const uint64_t hash = reef_hash(w);
    const reef_status s = reef_load_bytes(w, copy, size, &desc);
    sound(w);
    if (s != REEF_OK) MUST(reef_hash(w) == hash);
    else work(w);
    free(copy);
    return 0;
}
