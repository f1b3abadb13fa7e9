/* Shared by the fuzzing programs for files: worlds with something in every home, and the files that fuzzing begins
 * with. */
#ifndef REEF_TESTS_FUZZ_WORLD_H
#define REEF_TESTS_FUZZ_WORLD_H

#include "must.h"
#include "load_repair.h"
#include "load_zoo.h"
#include "reef/journal.h"
#include <stdio.h>
#include <stdlib.h>

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

/* Journals of a few records, whole and torn. */
static inline void fuzz_journals(const char *directory)
{
    char path[512];
    reef_world *w = fuzz_base();
    for (uint32_t i = 0; i < 6; i++) {
        (void)snprintf(path, sizeof path, "%s/journal", directory);
        reef_journal *j = reef_journal_open(w, path, &(reef_journal_desc){.fresh = true, .unsynced = i % 2});
        MUST(j);
        for (uint32_t k = 0; k < 1 + i % 4; k++) {
            zoo_steps(w, i + k, 5);
            MUST(reef_journal_append(j) == REEF_OK);
        }
        const size_t size = (size_t)reef_journal_stats(j).bytes;
        reef_journal_close(j);
        unsigned char *data = malloc(size + 1);
        FILE *file = fopen(path, "rb");
        MUST(data && file && fread(data + 1, 1, size, file) == size && fclose(file) == 0 && remove(path) == 0);
        data[0] = (unsigned char)(i < 3 ? 0 : 128 + 4 * i);
        (void)snprintf(path, sizeof path, "%s/journal_%u", directory, (unsigned)i);
        file = fopen(path, "wb");
        MUST(file && fwrite(data, 1, size + 1, file) == size + 1 && fclose(file) == 0);
        free(data);
    }
    reef_world_free(w);
}

int LLVMFuzzerInitialize(int *count, char ***arguments)
{
    static const char option[] = "-seed_files=";
    if (*count != 2 || strncmp((*arguments)[1], option, sizeof option - 1) != 0) return 0;
    fuzz_files((*arguments)[1] + sizeof option - 1);
    fuzz_journals((*arguments)[1] + sizeof option - 1);
    exit(0);
}

#endif
