/* Files from one machine to another. This program needs only the library.
 *
 *     file_scene write FOLDER     writes a world, differences of it, and a journal, and prints the hashes of their
 *                                 states
 *     file_scene read FOLDER      loads what another machine wrote there, goes on from it, and prints the same
 *
 * scripts/check-files runs it on several machines. */
#include "kept_scene.h"
#include <inttypes.h>
#include <stdlib.h>

enum { CHANGES = 2500, STEPS = 4 };

static void must(bool ok, const char *what, const reef_world *w)
{
    if (ok) return;
    fprintf(stderr, "file_scene: %s: %s\n", what, w ? reef_last_error(w).detail : "");
    exit(1);
}

static const char *path_of(const char *folder, const char *name, int number)
{
    static char path[1024];
    (void)snprintf(path, sizeof path, "%s/%s%d.reef", folder, name, number);
    return path;
}

static void told(const char *what, reef_world *w)
{
    char message[256] = "";
    must(reef_validate(w, message, sizeof message) == REEF_OK, message, NULL);
    printf("%-12s alive %4u hash %016" PRIx64 "\n", what, (unsigned)reef_count_alive(w), reef_hash(w));
}

static void bytes_write(const char *path, const reef_bytes *bytes)
{
    FILE *f = fopen(path, "wb");
    must(f && fwrite(bytes->data, 1, bytes->size, f) == bytes->size && fclose(f) == 0, path, NULL);
}

static reef_bytes bytes_read(const char *path)
{
    static unsigned char room[1 << 22];
    FILE *f = fopen(path, "rb");
    must(f != NULL, path, NULL);
    const size_t size = fread(room, 1, sizeof room, f);
    must(fclose(f) == 0 && size < sizeof room, path, NULL);
    return (reef_bytes){room, size};
}

static reef_world *world_made(void)
{
    reef_world *w = kept_world(false);
    must(w != NULL, "no world", NULL);
    return w;
}

/* The last part of both: a loaded world goes on as the one that was written, on any number of threads. */
static void goes_on(reef_world *w, uint32_t threads)
{
    uint64_t seed = 99;
    reef_pool *pool = reef_pool_new(&(reef_pool_config){.threads = threads});
    must(pool && reef_set_pool(w, pool) == REEF_OK, "a pool", w);
    for (int i = 0; i < 8; i++) must(kept_play(w, &seed, 50), "a tick", w);
    must(reef_set_pool(w, NULL) == REEF_OK, "no pool", w);
    reef_pool_free(pool);
    told("goes on", w);
}

static void write_all(const char *folder)
{
    uint64_t seed = 2026;
    reef_bytes bytes;
    reef_world *w = world_made();
    must(kept_begin(w, &seed, CHANGES, false), "the beginning", w);
    must(reef_save(w, path_of(folder, "world", 0), &(reef_save_desc){.sealed = true}) == REEF_OK, "reef_save", w);
    told("world", w);
    reef_journal *j = reef_journal_open(w, path_of(folder, "journal", 0), &(reef_journal_desc){.fresh = true});
    must(j != NULL, "reef_journal_open", w);
    for (int i = 0; i < STEPS; i++) {
        reef_world *before = reef_fork(w);
        must(before && kept_play(w, &seed, 150), "a tick", w);
        must(reef_journal_append(j) == REEF_OK, "reef_journal_append", w);
        must(reef_diff_bytes(before, w, &bytes, &(reef_save_desc){.sealed = true}) == REEF_OK, "reef_diff_bytes", w);
        bytes_write(path_of(folder, "difference", i), &bytes);
        reef_bytes_free(&bytes);
        reef_world_free(before);
        told("difference", w);
    }
    reef_journal_close(j);
    told("journal", w);
    /* A journal that is written anew while it is open, and one over a file that is there. */
    for (int times = 0; times < 2; times++) {
        j = reef_journal_open(w, path_of(folder, "journal", 1), &(reef_journal_desc){.fresh = true});
        must(j != NULL, "reef_journal_open", w);
        must(reef_journal_compact(j) == REEF_OK && kept_play(w, &seed, 20) && reef_journal_append(j) == REEF_OK,
             "a journal that was compacted", w);
        must(reef_journal_stats(j).records == 2, "the records", w);
        reef_journal_close(j);
    }
    told("compacted", w);
    goes_on(w, 4);
    reef_world_free(w);
}

static void read_all(const char *folder)
{
    reef_world *w = world_made(), *other = world_made();
    must(reef_load(w, path_of(folder, "world", 0), NULL) == REEF_OK, "reef_load", w);
    told("world", w);
    for (int i = 0; i < STEPS; i++) {
        const reef_bytes bytes = bytes_read(path_of(folder, "difference", i));
        must(reef_diff_apply(w, bytes.data, bytes.size) == REEF_OK, "reef_diff_apply", w);
        told("difference", w);
    }
    must(reef_load(other, path_of(folder, "journal", 0), NULL) == REEF_OK, "reef_load of a journal", other);
    told("journal", other);
    must(reef_equal(w, other, NULL), "differences and journal lead to two worlds", NULL);
    must(reef_load(other, path_of(folder, "journal", 1), NULL) == REEF_OK, "reef_load of a journal", other);
    told("compacted", other);
    goes_on(other, 1);
    reef_world_free(w);
    reef_world_free(other);
}

int main(int count, char **arguments)
{
    if (count == 3 && strcmp(arguments[1], "write") == 0) write_all(arguments[2]);
    else if (count == 3 && strcmp(arguments[1], "read") == 0) read_all(arguments[2]);
    else must(false, "write FOLDER or read FOLDER", NULL);
    return 0;
}
