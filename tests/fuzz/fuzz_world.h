/* What the fuzz programs of files share: worlds with something in every home, and the files that fuzzing begins with. */
#ifndef REEF_TESTS_FUZZ_WORLD_H
#define REEF_TESTS_FUZZ_WORLD_H

#include "load_repair.h"
#include "load_zoo.h"
#include <stdio.h>
#include <stdlib.h>

/* Holds in every build; libFuzzer keeps the input. */
#define MUST(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "%s:%d: this must hold: %s\n", __FILE__, __LINE__, #condition); \
            abort(); \
        } \
    } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *count, char ***arguments);

static inline void sound(reef_world *w)
{
    char message[256];
    if (reef_validate(w, message, sizeof message) == REEF_OK) return;
    fprintf(stderr, "%s\n", message);
    abort();
}

static inline void work(reef_world *w)
{
    zoo_steps(w, 1, 30);
    sound(w);
    (void)reef_hash(w);
}

static inline reef_world *fuzz_base(void)
{
    reef_world *w = reef_world_new(NULL);
    const Season season = {3};
    MUST(w && reef_single_set_id(w, reef_id(Season), &season, sizeof season) == REEF_ADDED);
    zoo_steps(w, 11, 150);
    return w;
}

static inline void fuzz_write(const char *directory, const char *name, uint32_t number, reef_bytes bytes)
{
    char path[512];
    (void)snprintf(path, sizeof path, "%s/%s_%u", directory, name, (unsigned)number);
    FILE *file = fopen(path, "wb");
    MUST(file && fwrite(bytes.data, 1, bytes.size, file) == bytes.size);
    MUST(fclose(file) == 0);
    reef_bytes_free(&bytes);
}

/* Worlds that grow from nothing, and the differences between them, the first of which is that to the base. */
static inline void fuzz_files(const char *directory)
{
    reef_world *w = fuzz_base();
    for (uint32_t i = 0; i < 8; i++) {
        reef_bytes bytes = {NULL, 0};
        reef_world *before = reef_fork(w);
        zoo_steps(w, i, i < 4 ? 8 : 60);
        MUST(before && reef_diff_bytes(before, w, &bytes, NULL) == REEF_OK);
        fuzz_write(directory, "diff", i, bytes);
        MUST(reef_save_bytes(w, &bytes, NULL) == REEF_OK);
        fuzz_write(directory, "load", i, bytes);
        reef_world_free(before);
    }
    reef_world_free(w);
}

int LLVMFuzzerInitialize(int *count, char ***arguments)
{
    static const char option[] = "-seed_files=";
    if (*count != 2 || strncmp((*arguments)[1], option, sizeof option - 1) != 0) return 0;
    fuzz_files((*arguments)[1] + sizeof option - 1);
    exit(0);
}

#endif
