/* Saved worlds, differences and journals that were crafted (craft.h): whatever is in them, either they are refused and
 * the world is as it was, or the world is sound and can be used like any other. Memory is bounded by the size of the
 * file. */
#include "crafted.h"
#include "kept_scene.h"
#include "reef/journal.h"

REEF_RELATION(ZooNear, REEF_SYMMETRIC);
REEF_RELATION(ZooPart, REEF_EXCLUSIVE | REEF_ACYCLIC | REEF_CASCADE | REEF_GROUPED);
REEF_RELATION(ZooHolds, REEF_TRANSITIVE | REEF_REFLEXIVE | REEF_KEEPS_TARGET | REEF_ACYCLIC);

enum { WORLDS = 4, FILES = 3 * WORLDS, BESIDE = 1 << 20, ANOTHER_FAMILY = 4 << 20, TIMES = 12 };

/* A file, and the state to which it belongs. */
typedef struct crafted_file {
    craft_bytes bytes;
    reef_world *base;
    uint64_t hash; /* of base */
    char what;     /* 'w'orld, 'd'ifference, 'j'ournal */
} crafted_file;

static crafted_file files[FILES];
static reef_world *worlds[WORLDS];

/* ---- memory, counted ---- */

static size_t held, bound = SIZE_MAX;

static void *count_memory(void *context, void *block, size_t old, size_t bytes, size_t align)
{
    (void)context;
    void *fresh = bytes ? aligned_alloc(align, (bytes + align - 1) / align * align) : NULL;
    if (bytes && fresh == NULL) return NULL;
    if (fresh && block) memcpy(fresh, block, old < bytes ? old : bytes);
    held += bytes;
    if (held > bound) { /* here the stack says who takes it */
        (void)fprintf(stderr, "%zu bytes more than a file of this size may take\n", held - bound);
        abort();
    }
    if (block) held -= old;
    free(block);
    return fresh;
}

/* ---- worlds ---- */

/* What kept_scene.h doesn't have: a tree with names, prefabs, relations of all kinds, disabled ones among them. */
static void relate_all(reef_world *w, uint64_t *seed, uint32_t n)
{
    char name[16];
    for (uint32_t i = 0; i < n; i++) {
        const reef_entity a = zoo_somebody(w, seed), b = zoo_somebody(w, seed);
        const uint32_t what = zoo_random(seed, 12);
        if (reef_entity_is_null(a) || reef_entity_equal(a, b)) continue;
        (void)snprintf(name, sizeof name, "c%u", zoo_random(seed, 40));
        if (what < 3) (void)reef_relate(w, a, ChildOf, b);
        else if (what == 3) (void)reef_relate(w, a, ZooNear, b);
        else if (what == 4 || what == 5) (void)reef_relate(w, a, ZooPart, b);
        else if (what == 6) (void)reef_relate(w, a, ZooHolds, b);
        else if (what == 7) (void)reef_unrelate(w, a, ChildOf, b);
        else if (what == 8 && reef_has(w, a, ZooPart)) (void)reef_enable_id(w, a, reef_id(ZooPart), i & 1);
        else if (what == 9) (void)reef_set_name(w, a, name);
        else if (what == 10 && i == 10) (void)(reef_has(w, a, ReefPrefab) ? REEF_OK : reef_add(w, a, ReefPrefab));
    }
}

static craft_bytes taken(reef_bytes b)
{
    craft_bytes c = craft_copy(b.data, b.size);
    reef_bytes_free(&b);
    return c;
}

static void temporary(char *path, size_t size)
{
    const char *folder = getenv("TMPDIR");
    (void)snprintf(path, size, "%s/reef_crafted_%ld", folder ? folder : "/tmp", (long)getpid());
}

static craft_bytes file_read(const char *path)
{
    craft_bytes b = {malloc(1 << 24), 0};
    FILE *f = fopen(path, "rb");
    MUST(b.data && f);
    b.size = fread(b.data, 1, 1 << 24, f);
    (void)fclose(f);
    return b;
}

static craft_bytes journal_make(reef_world *base, uint64_t seed)
{
    char path[512];
    temporary(path, sizeof path);
    reef_world *w = reef_fork(base);
    reef_journal *j = w ? reef_journal_open(w, path, &(reef_journal_desc){.fresh = true, .unsynced = true}) : NULL;
    MUST(j);
    for (uint32_t i = 0; i < 3; i++) {
        MUST(kept_play(w, &seed, 4 + i * 8));
        relate_all(w, &seed, 6);
        MUST(reef_journal_append(j) == REEF_OK);
    }
    reef_journal_close(j);
    reef_world_free(w);
    craft_bytes b = file_read(path);
    (void)remove(path);
    return b;
}

static void begin(void)
{
    static const uint32_t changes[WORLDS] = {14, 60, 200, 500};
    for (uint32_t i = 0; i < WORLDS; i++) {
        uint64_t seed = i;
        const bool raw = i == 1;
        reef_bytes saved = {NULL, 0}, difference = {NULL, 0};
        /* Reserved ids take memory by their number, whatever the size of the file. */
        const reef_world_config config = {.allocator = {count_memory, NULL}, .entities_max = 1 << 20};
        reef_world *w = worlds[i] = kept_world_on(config, raw);
        MUST(w && kept_begin(w, &seed, changes[i], raw));
        relate_all(w, &seed, changes[i]);
        MUST(reef_tick(w, 0) == REEF_OK);
        reef_world *later = reef_fork(w);
        MUST(later && kept_play(later, &seed, 10 + changes[i] / 6));
        relate_all(later, &seed, 10);
        MUST(reef_save_bytes(w, &saved, &(reef_save_desc){.raw = raw}) == REEF_OK);
        MUST(reef_diff_bytes(w, later, &difference, &(reef_save_desc){.raw = raw}) == REEF_OK);
        files[3 * i] = (crafted_file){.bytes = taken(saved), .base = w, .what = 'w'};
        files[3 * i + 1] = (crafted_file){.bytes = taken(difference), .base = w, .what = 'd'};
        files[3 * i + 2] = raw ? (crafted_file){.bytes = craft_copy(files[3 * i].bytes.data, files[3 * i].bytes.size),
                                                .base = w,
                                                .what = 'w'}
                               : (crafted_file){.bytes = journal_make(w, seed), .base = w, .what = 'j'};
        for (uint32_t k = 0; k < 3; k++) files[3 * i + k].hash = reef_hash(w);
        reef_world_free(later);
    }
}

static void end(void)
{
    for (uint32_t i = 0; i < FILES; i++) free(files[i].bytes.data);
    for (uint32_t i = 0; i < WORLDS; i++) reef_world_free(worlds[i]);
    MUST(held == 0);
}

/* ---- what must hold ---- */

static void sound(reef_world *w)
{
    char message[512];
    if (reef_validate(w, message, sizeof message) == REEF_OK) return;
    (void)fprintf(stderr, "%s\n", message);
    abort();
}

/* Asks what follows relations and names. */
static void look_around(reef_world *w)
{
    static const char *const texts[] = {"in ZooPlace, cascade(ChildOf)", "ZooPart($x), ?ZooPlace($x)", "ZooHolds(*)",
                                        "?ZooAnimal up(ChildOf), ZooUnder(*)"};
    char path[REEF_NAME_MAX + 1];
    for (uint32_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const reef_query q = reef_query_new(w, texts[i]);
        if (!reef_query_is_null(q)) (void)reef_query_count(w, q);
        (void)reef_query_free(w, q);
    }
    const uint32_t n = (uint32_t)reef_world_stats(w).indices;
    for (uint32_t i = 0; i < n; i += 1 + n / 64) {
        const reef_entity e = reef_entity_at(w, i);
        if (reef_entity_is_null(e)) continue;
        for (reef_sources s = reef_sources_of(w, e, ChildOf); reef_sources_next(&s);)
            for (uint32_t k = 0; k < s.count; k++) MUST(reef_is_alive(w, s.sources[k]));
        (void)reef_related(w, e, ZooHolds, reef_target(w, e, ChildOf));
        (void)snprintf(path, sizeof path, "%s", reef_name(w, e) ? reef_name(w, e) : "");
    }
}

/* A world that was read is like any other: it is saved and read again as the same, ticks, changes, and ends. */
static void work(reef_world *w, const crafted_file *f, uint64_t seed)
{
    reef_bytes bytes = {NULL, 0};
    sound(w);
    const uint64_t hash = reef_hash(w);
    MUST(hash != 0);
    const reef_status s = reef_save_bytes(w, &bytes, &(reef_save_desc){.raw = true});
    MUST(s == REEF_OK);
    reef_world *again = reef_fork(f->base);
    MUST(again);
    const reef_status t = reef_load_bytes(again, bytes.data, bytes.size, NULL);
    if (t != REEF_OK) (void)fprintf(stderr, "%s: %s\n", reef_status_name(t), reef_last_error(again).detail);
    MUST(t == REEF_OK && reef_hash(again) == hash);
    reef_bytes_free(&bytes);
    reef_world_free(again);
    look_around(w);
    if (reef_tick_count(w) < UINT64_MAX / 2) (void)reef_tick(w, 1.0f / 64.0f);
    sound(w);
    for (uint32_t i = 0; i < 10; i++) zoo_change(w, &seed);
    relate_all(w, &seed, 10);
    (void)reef_tick(w, 1.0f / 64.0f);
    sound(w);
    MUST(reef_hash(w) != 0);
    const uint32_t n = (uint32_t)reef_world_stats(w).indices;
    for (uint32_t i = 0; i < n && i < 20000; i++) {
        const reef_entity e = reef_entity_at(w, i);
        if (!reef_entity_is_null(e)) (void)reef_destroy(w, e);
    }
    sound(w);
}

static reef_status journal_open(reef_world *w, craft_bytes b, bool keep_on)
{
    char path[512];
    temporary(path, sizeof path);
    FILE *file = fopen(path, "wb");
    MUST(file && fwrite(b.data, 1, b.size, file) == b.size && fclose(file) == 0);
    reef_journal *j = reef_journal_open(w, path, &(reef_journal_desc){.unsynced = true});
    const reef_status s = j ? REEF_OK : reef_last_error(w).status;
    if (j && keep_on) { /* what is appended to it is there the next time */
        (void)reef_create(w);
        const uint64_t hash = reef_hash(w);
        const reef_status appended = reef_journal_append(j);
        reef_journal_close(j);
        reef_world *again = reef_fork(w);
        MUST(again);
        if (appended == REEF_OK) {
            j = reef_journal_open(again, path, &(reef_journal_desc){.unsynced = true});
            if (j == NULL) (void)fprintf(stderr, "%s\n", reef_last_error(again).detail);
            MUST(j && reef_hash(again) == hash);
        } else j = NULL;
        reef_journal_close(j);
        reef_world_free(again);
    } else reef_journal_close(j);
    (void)remove(path);
    return s;
}

static void note_nothing(void *context, const reef_load_note *note) { (void)context, (void)note; }

static void one(uint64_t seed, const char *keep)
{
    static const reef_unknown unknown[] = {REEF_UNKNOWN_DROP, REEF_UNKNOWN_DECLARE, REEF_UNKNOWN_REFUSE};
    for (uint32_t i = 0; i < 3; i++) (void)craft_below(&seed, 2);
    const crafted_file *f = &files[craft_below(&seed, FILES)];
    craft_bytes b = craft_file(f->bytes, files[craft_below(&seed, FILES)].bytes, &seed);
    const reef_load_desc desc = {.unknown = unknown[craft_below(&seed, 3)], .note = note_nothing};
    const bool by_journal = f->what == 'j' && craft_below(&seed, 4) == 0;
    if (keep) {
        FILE *file = fopen(keep, "wb");
        if (file) (void)fwrite(b.data, 1, b.size, file), (void)fclose(file);
        free(b.data);
        return;
    }
    reef_world *w = reef_fork(f->base);
    MUST(w);
    /* before types are declared, the file is read into a world that shares no memory with this one */
    const size_t beside = BESIDE + (desc.unknown == REEF_UNKNOWN_DECLARE ? ANOTHER_FAMILY : 0);
    bound = by_journal ? SIZE_MAX : held + TIMES * (b.size + f->bytes.size) + beside;
    const reef_status s = f->what == 'd' ? reef_diff_apply(w, b.data, b.size)
                          : by_journal   ? journal_open(w, b, craft_below(&seed, 2))
                                         : reef_load_bytes(w, b.data, b.size, &desc);
    bound = SIZE_MAX;
    if (s == REEF_OK) {
        crafted_counts->taken++;
        work(w, f, seed);
    } else {
        crafted_counts->refused++;
        MUST(reef_hash(w) == f->hash);
        MUST(reef_last_error(w).status == s);
    }
    reef_world_free(w);
    free(b.data);
}

int main(int count, char **words)
{
    const crafted_program program = {"crafted_files", begin, end, one, 2000};
    return crafted_main(&program, count, words);
}
