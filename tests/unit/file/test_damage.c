/* Files that were damaged (G5): every bit of a file flipped, every length that is too short; and the same behind
 * right sums. A part of it, all of it with --deep [PART OF_PARTS]. */
#include "base/checksum.h"
#include "kept_scene.h"
#include "load_repair.h"
#include "support.h"
#include <unistd.h>

enum {
    CHANGES = 6000,
    SMALLEST = 64 << 10,
    FLAGS_AT = 10 /* in the header */,
    BESIDE = 1 << 20 /* bytes that any loading may take: the first pages of homes */
};

static bool deep;
static uint64_t part, parts = 1;

/* Is it the turn of case i of all? Some `few` cases are tried where it isn't deep. */
static bool tried(uint64_t i, uint64_t all, uint64_t few)
{
    if (deep) return i % parts == part;
    return i % (all / few) == 0;
}

/* What all worlds hold of memory, and the most that they held. */
static size_t held, most_held;

static void *count_memory(void *context, void *block, size_t old, size_t bytes, size_t align)
{
    (void)context;
    void *fresh = bytes ? aligned_alloc(align, (bytes + align - 1) / align * align) : NULL;
    if (bytes && fresh == NULL) return NULL;
    if (fresh && block) memcpy(fresh, block, old < bytes ? old : bytes);
    held += bytes;
    if (held > most_held) most_held = held; /* while it moves there are both */
    if (block) held -= old;
    free(block);
    return fresh;
}

static reef_world *kept(void **state, bool scripts)
{
    reef_world *w = kept_world_on((reef_world_config){.allocator = {count_memory, NULL}}, scripts);
    assert_non_null(w);
    (void)state;
    return w;
}

static reef_bytes file_made(void **state, bool scripts, uint32_t changes)
{
    uint64_t seed = 64;
    reef_bytes bytes = {NULL, 0};
    reef_world *w = kept(state, scripts);
    assert_true(kept_begin(w, &seed, changes, scripts));
    assert_ok(reef_save_bytes(w, &bytes, &(reef_save_desc){.raw = scripts}));
    reef_world_free(w);
    return bytes;
}

/* The world that the files are loaded into. */
static reef_world *target_made(void **state, bool scripts)
{
    uint64_t seed = 3;
    reef_world *w = kept(state, scripts);
    assert_true(kept_begin(w, &seed, 100, scripts));
    return w;
}

static void assert_damaged(reef_world *w, const unsigned char *data, size_t size, uint64_t hash, reef_world *same)
{
    static uint32_t turn;
    const reef_status s = reef_load_bytes(w, data, size, NULL);
    if (s != REEF_CORRUPT && s != REEF_VERSION) fail_msg("a damaged file: %s", reef_status_name(s));
    assert_true(reef_last_error(w).detail[0] != 0);
    assert_true(reef_hash(w) == hash);
    if (++turn % 4096 == 0) assert_true(reef_equal(w, same, NULL));
}

/* ---- the file ---- */

static uint32_t section_at(const unsigned char *data, size_t at, size_t *next)
{
    *next = at + SECTION_HEAD_BYTES + (size_t)repair_get(data + at + 4, 8) + SECTION_SUM_BYTES;
    return (uint32_t)repair_get(data + at, 4);
}

static void the_file_has_every_kind_of_section(void **state)
{
    static const uint32_t kinds[] = {SECTION_RECORD, SECTION_TYPES,  SECTION_TABLES, SECTION_TIME,   SECTION_RESERVED,
                                     SECTION_IDS,    SECTION_FREE,   SECTION_IDLE,   SECTION_ROWS,   SECTION_BITS,
                                     SECTION_PAGE,   SECTION_VALUES, SECTION_NAMES,  SECTION_EVENTS, SECTION_TRACKS,
                                     SECTION_LOST,   SECTION_DONE};
    reef_bytes bytes = file_made(state, true, CHANGES);
    assert_true(bytes.size >= SMALLEST);
    for (uint32_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        bool found = false;
        for (size_t at = FILE_HEADER_BYTES; at < bytes.size && !found;)
            found = section_at(bytes.data, at, &at) == kinds[i];
        if (!found) fail_msg("no section %.4s", (const char *)&kinds[i]);
    }
    reef_bytes_free(&bytes);
}

/* ---- damage ---- */

static void every_bit_of_64_KiB(void **state)
{
    reef_bytes bytes = file_made(state, true, CHANGES);
    reef_world *w = target_made(state, true), *same = reef_fork(w);
    const uint64_t hash = reef_hash(w), all = bytes.size * 8;
    uint64_t count = 0;
    unsigned char *data = bytes.data;
    for (uint64_t i = 0; i < all; i++) {
        if (!tried(i, all, 150)) continue;
        data[i / 8] ^= (unsigned char)(1u << i % 8);
        assert_damaged(w, data, bytes.size, hash, same);
        data[i / 8] ^= (unsigned char)(1u << i % 8);
        count++;
    }
    assert_true(reef_equal(w, same, NULL));
    assert_valid(w);
    assert_ok(reef_load_bytes(w, data, bytes.size, NULL)); /* it was the damage */
    if (deep)
        print_message("%llu of %llu bits flipped, all refused\n", (unsigned long long)count, (unsigned long long)all);
    reef_bytes_free(&bytes);
    reef_world_free(same);
    reef_world_free(w);
}

static void every_length_of_64_KiB(void **state)
{
    reef_bytes bytes = file_made(state, true, CHANGES);
    reef_world *w = target_made(state, true), *same = reef_fork(w);
    const uint64_t hash = reef_hash(w);
    uint64_t count = 0;
    for (uint64_t i = 0; i < bytes.size; i++) {
        if (!tried(i, bytes.size, 150)) continue;
        assert_damaged(w, bytes.data, (size_t)i, hash, same);
        count++;
    }
    assert_true(reef_equal(w, same, NULL));
    assert_valid(w);
    if (deep)
        print_message("%llu of %llu lengths, all refused\n", (unsigned long long)count, (unsigned long long)bytes.size);
    reef_bytes_free(&bytes);
    reef_world_free(same);
    reef_world_free(w);
}

/* ---- behind right sums ---- */

static bool may_be_refused(reef_status s)
{
    return s == REEF_CORRUPT || s == REEF_VERSION || s == REEF_LIMIT || s == REEF_NOT_PORTABLE || s == REEF_NO_MEMORY ||
           s == REEF_UNKNOWN_TYPE || s == REEF_OTHER_STATE;
}

static void assert_survives(reef_world *w, reef_status s, uint64_t *seed)
{
    char message[256];
    if (s != REEF_OK && !may_be_refused(s)) fail_msg("a file that lies: %s", reef_status_name(s));
    if (s != REEF_OK) return;
    if (reef_validate(w, message, sizeof message) != REEF_OK) fail_msg("a file that lies was loaded: %s", message);
    for (int i = 0; i < 10; i++) zoo_change(w, seed);
    (void)reef_hash(w);
}

/* Where the files are to be loaded, or the state that the differences are applied to: base. NULL: a world of its
 * own. */
typedef struct liar {
    reef_bytes bytes;
    reef_world *base, *w;
    unsigned char *copy;
    uint64_t count, loaded, seed;
} liar;

static void liar_make(liar *l, void **state, reef_bytes bytes, reef_world *base)
{
    *l = (liar){.bytes = bytes, .base = base, .seed = 1};
    l->w = base ? NULL : target_made(state, false);
    l->copy = malloc(bytes.size + 1);
    assert_non_null(l->copy);
}

/* The first `size` bytes, one bit flipped (UINT64_MAX: none), behind right sums. */
static void lie(liar *l, uint64_t bit, size_t size)
{
    memcpy(l->copy, l->bytes.data, size);
    if (bit != UINT64_MAX) l->copy[bit / 8] ^= (unsigned char)(1u << bit % 8);
    repair(l->copy, size);
    reef_world *w = l->base ? reef_fork(l->base) : l->w;
    assert_non_null(w);
    const size_t before = most_held = held;
    const reef_status s = l->base ? reef_diff_apply(w, l->copy, size) : reef_load_bytes(w, l->copy, size, NULL);
    if (most_held - before > 8 * l->bytes.size + BESIDE)
        fail_msg("bit %llu of %zu bytes took %zu bytes", (unsigned long long)bit, size, most_held - before);
    assert_survives(w, s, &l->seed);
    if (l->base) reef_world_free(w);
    l->loaded += s == REEF_OK;
    l->count++;
}

static void liar_end(liar *l, const char *what)
{
    if (deep)
        print_message("%llu %s behind right sums: %llu loaded, sound\n", (unsigned long long)l->count, what,
                      (unsigned long long)l->loaded);
    if (l->w) reef_world_free(l->w);
    free(l->copy);
}

/* Header, sections, and behind every length a file that says it is whole. */
static void lies(void **state, reef_bytes bytes, reef_world *base, uint64_t few)
{
    liar l;
    liar_make(&l, state, bytes, base);
    for (uint64_t bit = FLAGS_AT * 8; bit < (FLAGS_AT + 2) * 8; bit++)
        if (!deep || part == 0) lie(&l, bit, bytes.size);
    for (uint64_t bit = FILE_HEADER_BYTES * 8, all = bytes.size * 8; bit < all; bit++)
        if (tried(bit, all, few)) lie(&l, bit, bytes.size);
    liar_end(&l, "bits");
    liar_make(&l, state, bytes, base);
    for (uint64_t size = 0; size < bytes.size; size++)
        if (tried(size, bytes.size, few)) lie(&l, UINT64_MAX, (size_t)size);
    liar_end(&l, "lengths");
}

static void every_bit_behind_right_sums(void **state)
{
    reef_bytes bytes = file_made(state, false, CHANGES);
    assert_true(bytes.size >= SMALLEST);
    lies(state, bytes, NULL, 60);
    reef_bytes_free(&bytes);
}

static void every_bit_of_a_difference_behind_right_sums(void **state)
{
    uint64_t seed = 64;
    reef_bytes bytes = {NULL, 0};
    reef_world *w = kept(state, false);
    assert_true(kept_begin(w, &seed, 600, false));
    reef_world *before = reef_fork(w);
    assert_true(kept_play(w, &seed, 60));
    assert_ok(reef_diff_bytes(before, w, &bytes, NULL));
    lies(state, bytes, before, 100);
    reef_bytes_free(&bytes);
    reef_world_free(before);
    reef_world_free(w);
}

/* ---- journals: what is damaged at the end is cut off ---- */

enum { RECORDS = 4 };
typedef struct journal_file {
    char path[64];
    unsigned char *data;
    size_t size;
    uint64_t hash[RECORDS + 1], end[RECORDS + 1];
} journal_file;

static void journal_made(void **state, journal_file *f, bool unsynced)
{
    uint64_t seed = 9;
    reef_world *w = kept(state, false);
    (void)snprintf(f->path, sizeof f->path, "damage_%ld.journal", (long)getpid());
    assert_true(kept_begin(w, &seed, 400, false));
    reef_journal *j = reef_journal_open(w, f->path, &(reef_journal_desc){.fresh = true, .unsynced = unsynced});
    assert_non_null(j);
    for (int i = 0; i <= RECORDS; i++) {
        if (i) assert_true(kept_play(w, &seed, 30));
        if (i) assert_ok(reef_journal_append(j));
        f->hash[i] = reef_hash(w);
        f->end[i] = reef_journal_stats(j).bytes;
    }
    reef_journal_close(j);
    reef_world_free(w);
    FILE *file = fopen(f->path, "rb");
    f->data = malloc((size_t)f->end[RECORDS]);
    assert_true(file && f->data);
    f->size = fread(f->data, 1, (size_t)f->end[RECORDS], file);
    assert_int_equal(f->size, f->end[RECORDS]);
    (void)fclose(file);
    (void)remove(f->path);
}

static void every_bit_of_a_journal_behind_right_sums(void **state)
{
    journal_file f;
    journal_made(state, &f, false);
    lies(state, (reef_bytes){f.data, f.size}, NULL, 60);
    free(f.data);
}

/* The state of a whole record, at most number `most`. */
static void assert_some_record(const journal_file *f, reef_world *w, uint32_t most)
{
    const uint64_t hash = reef_hash(w);
    for (uint32_t i = 0; i <= most; i++)
        if (f->hash[i] == hash) return;
    fail_msg("a damaged journal leads to a state that never was, or before a later one");
}

static void every_bit_and_length_of_a_journal(void **state)
{
    journal_file f;
    for (int unsynced = 0; unsynced < 2; unsynced++) {
        journal_made(state, &f, unsynced);
        reef_world *w = kept(state, false);
        uint64_t count = 0, cut = 0;
        for (uint64_t i = 0; i < f.size * 8; i++) {
            if (!tried(i, f.size * 8, 80)) continue;
            uint32_t whole = 0; /* records before the damage */
            while (f.end[whole] <= i / 8) whole++;
            f.data[i / 8] ^= (unsigned char)(1u << i % 8);
            const reef_status s = reef_load_bytes(w, f.data, f.size, NULL);
            f.data[i / 8] ^= (unsigned char)(1u << i % 8);
            if (s != REEF_OK && s != REEF_CORRUPT && s != REEF_VERSION)
                fail_msg("a damaged journal: %s", reef_status_name(s));
            if (s == REEF_OK && whole == 0) fail_msg("a journal without a whole record was loaded");
            if (s == REEF_OK && reef_hash(w) != f.hash[whole - 1])
                fail_msg("bit %llu: not the state before the damage", (unsigned long long)i);
            if (s == REEF_OK && whole < RECORDS && !unsynced) fail_msg("records behind a damage were cut off");
            cut += s == REEF_OK;
            count++;
        }
        for (uint64_t i = 0; i < f.size; i++) {
            if (!tried(i, f.size, 80)) continue;
            const reef_status s = reef_load_bytes(w, f.data, (size_t)i, NULL);
            uint32_t whole = 0;
            while (f.end[whole] <= i) whole++;
            if (s != (whole ? REEF_OK : REEF_CORRUPT))
                fail_msg("%llu bytes of a journal: %s", (unsigned long long)i, reef_status_name(s));
            if (whole && reef_hash(w) != f.hash[whole - 1])
                fail_msg("%llu bytes of a journal lead to another state", (unsigned long long)i);
        }
        if (deep)
            print_message("%llu of %llu bits of a journal: %llu cut off, others refused\n", (unsigned long long)count,
                          (unsigned long long)f.size * 8, (unsigned long long)cut);
        assert_some_record(&f, w, RECORDS);
        reef_world_free(w);
        free(f.data);
    }
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        TEST(the_file_has_every_kind_of_section),
        TEST(every_bit_of_64_KiB),
        TEST(every_length_of_64_KiB),
        TEST(every_bit_behind_right_sums),
        TEST(every_bit_of_a_difference_behind_right_sums),
        TEST(every_bit_of_a_journal_behind_right_sums),
        TEST(every_bit_and_length_of_a_journal),
    };
    deep = count > 1 && strcmp(arguments[1], "--deep") == 0;
    if (count > 3) part = strtoull(arguments[2], NULL, 10) - 1, parts = strtoull(arguments[3], NULL, 10);
    if ((count > 1 && !deep) || parts == 0 || part >= parts)
        return fprintf(stderr, "test_damage [--deep [PART OF_PARTS]]\n"), 2;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
