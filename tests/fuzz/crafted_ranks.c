/* Sets of files of a world over ranks that were crafted: the index, behind a right sum, and the worlds (craft.h). What
 * is in them is refused, or the world is sound and ticks; and after a refusal the right set can be loaded. One rank
 * reads them: a set that one rank wrote, and one that two wrote, as its index says. */
#include "crafted.h"
#include "reef_ranks.h"
#include "reef/relation.h"
#include "reef/inspect.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct Place {
    float x;
} Place;
typedef struct Mark {
    int32_t number;
} Mark;
typedef struct Call {
    reef_entity from;
    float x;
} Call;
typedef struct Heard {
    reef_entity from;
    float x;
} Heard;
REEF_COMPONENT(Place);
REEF_FIELDS(Place, x);
REEF_COMPONENT(Mark);
REEF_COMPONENT(Call);
REEF_COMPONENT(Heard);
REEF_RELATION(Likes);
REEF_RELATION(PartOf, REEF_EXCLUSIVE | REEF_ACYCLIC | REEF_CASCADE);

enum { CELLS = 10, EACH = 3, SETS = 2, WORLDS = 2, BESIDE = 64 << 20 };

/* A set of files. */
typedef struct crafted_set {
    craft_bytes index, world[WORLDS];
    uint32_t worlds;
} crafted_set;

static crafted_set sets[SETS];
static uint64_t tick_saved;
static char path[400];

/* ---- a strip of cells, each a metre long ---- */

static void cell_of(const reef_block *b, uint32_t *cells, void *context)
{
    const Place *p = reef_in(b, Place);
    (void)context;
    for (uint32_t i = 0; i < b->count; i++) cells[i] = p[i].x >= 0 && p[i].x < CELLS ? (uint32_t)p[i].x : 0;
}

static uint32_t near_cells(uint32_t c, uint32_t *near, void *context)
{
    uint32_t n = 0;
    (void)context;
    if (c > 0) near[n++] = c - 1;
    if (c + 1 < CELLS) near[n++] = c + 1;
    return n;
}

static uint32_t each(uint32_t cell, void *context)
{
    (void)cell, (void)context;
    return EACH;
}

static void make(reef_world *w, reef_entity e, uint32_t cell, uint32_t i, void *context)
{
    (void)context;
    (void)reef_change(w, e, reef_with(Place, (float)cell + 0.25f * (float)i), reef_with(Mark, (int32_t)cell));
}

static uint32_t call_cell(const void *value, void *context)
{
    const float x = ((const Call *)value)->x;
    (void)context;
    return x >= 0 && x < CELLS ? (uint32_t)x : 0;
}

static void call(reef_block *b)
{
    const Place *p = reef_in(b, Place);
    for (uint32_t i = 0; i < b->count; i += 2) (void)reef_send(b, Call, .from = b->entities[i], .x = p[i].x / 2);
}

/* ---- memory, counted ---- */

static size_t held, bound = SIZE_MAX;

static void *count_memory(void *context, void *block, size_t old, size_t bytes, size_t align)
{
    (void)context;
    void *fresh = bytes ? aligned_alloc(align, (bytes + align - 1) / align * align) : NULL;
    if (bytes && fresh == NULL) return NULL;
    if (fresh && block) memcpy(fresh, block, old < bytes ? old : bytes);
    held += bytes;
    if (held > bound) abort();
    if (block) held -= old;
    free(block);
    return fresh;
}

/* ---- a world ---- */

typedef struct stage {
    reef_world *w;
    reef_ranks *r;
} stage;

static stage stage_open(void)
{
    static reef_ranks_message message;
    static reef_component ghosts[1];
    char reason[REEF_DETAIL_MAX];
    ghosts[0] = reef_id(Mark);
    message = (reef_ranks_message){.sent = reef_id(Call), .cell = call_cell, .arrives = reef_id(Heard)};
    const reef_ranks_config config = {.cells = CELLS,
                                      .placed = "in Place",
                                      .cell_of = cell_of,
                                      .near = near_cells,
                                      .ghosts = ghosts,
                                      .ghost_count = 1,
                                      .messages = &message,
                                      .message_count = 1};
    stage s = {.w = reef_world_new(&(reef_world_config){.allocator = {count_memory, NULL}})};
    MUST(s.w && !reef_system_is_null(reef_system_add(s.w, "call", call, "in Place; sends Call")));
    s.r = reef_ranks_new(MPI_COMM_WORLD, s.w, &config, reason);
    if (s.r == NULL) (void)fprintf(stderr, "%s\n", reason);
    MUST(s.r);
    return s;
}

static void stage_close(stage *s)
{
    reef_ranks_free(s->r);
    reef_world_free(s->w);
}

/* ---- files ---- */

static void name_of(char *name, size_t size, int world)
{
    if (world < 0) (void)snprintf(name, size, "%s", path);
    else (void)snprintf(name, size, "%s.%" PRIu64 ".%d", path, tick_saved, world);
}

static craft_bytes file_read(int world)
{
    char name[512];
    craft_bytes b = {malloc(1 << 22), 0};
    name_of(name, sizeof name, world);
    FILE *f = fopen(name, "rb");
    MUST(b.data && f);
    b.size = fread(b.data, 1, 1 << 22, f);
    (void)fclose(f);
    return b;
}

static void file_write(int world, craft_bytes b)
{
    char name[512];
    name_of(name, sizeof name, world);
    FILE *f = fopen(name, "wb");
    MUST(f && fwrite(b.data, 1, b.size, f) == b.size && fclose(f) == 0);
}

static void word_put(unsigned char *p, uint64_t x, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++) p[i] = (unsigned char)(x >> 8 * i);
}

/* The sum at the end of an index (addons/mpi/save.c). */
static void index_sum(craft_bytes b)
{
    if (b.size < 8) return;
    uint64_t a = b.size - 8, c = 0;
    for (size_t i = 0; i < b.size - 8; i += 4) {
        uint32_t x = 0;
        memcpy(&x, b.data + i, b.size - 8 - i < 4 ? b.size - 8 - i : 4);
        a = (a + x) % UINT32_MAX;
        c = (c + a) % UINT32_MAX;
    }
    word_put(b.data + b.size - 8, c << 32 | a, 8);
}

/* An index of two ranks, by one of one rank: the first cells are in the first world, the others in the second one. */
static craft_bytes index_of_two(craft_bytes one)
{
    enum { SIZE_AT = 16, STARTS_AT = 44 };
    craft_bytes two = {malloc(one.size + 4), one.size + 4};
    MUST(two.data);
    memcpy(two.data, one.data, STARTS_AT + 4);
    word_put(two.data + SIZE_AT, 2, 4);
    word_put(two.data + STARTS_AT + 4, CELLS / 2, 4);
    memcpy(two.data + STARTS_AT + 8, one.data + STARTS_AT + 4, one.size - STARTS_AT - 4);
    index_sum(two);
    return two;
}

static void begin(void)
{
    const char *folder = getenv("TMPDIR");
    (void)snprintf(path, sizeof path, "%s/reef_crafted_%ld.ranks", folder ? folder : "/tmp", (long)getpid());
    MUST(MPI_Init(NULL, NULL) == MPI_SUCCESS);
    stage s = stage_open();
    MUST(reef_ranks_fill(s.r, each, make) == REEF_OK);
    for (uint32_t i = 0; i + 1 < CELLS * EACH; i += 2) {
        const reef_entity a = reef_entity_at(s.w, i), b = reef_entity_at(s.w, i + 1);
        if (reef_entity_is_null(a) || reef_entity_is_null(b)) continue;
        (void)reef_relate(s.w, a, PartOf, b);
        (void)reef_relate(s.w, b, Likes, a);
        (void)reef_set_name(s.w, a, i % 4 ? "odd" : "even");
    }
    for (int i = 0; i < 2; i++) MUST(reef_ranks_tick(s.r, 1) == REEF_OK);
    tick_saved = reef_tick_count(s.w);
    MUST(reef_ranks_save(s.r, path) == REEF_OK);
    stage_close(&s);
    sets[0] = (crafted_set){.index = file_read(-1), .world = {file_read(0), {NULL, 0}}, .worlds = 1};
    sets[1] = (crafted_set){.index = index_of_two(sets[0].index), .world = {file_read(0), file_read(0)}, .worlds = 2};
}

static void files_remove(void)
{
    char name[512];
    for (int i = -1; i < WORLDS; i++) {
        name_of(name, sizeof name, i);
        (void)remove(name);
    }
}

static void end(void)
{
    files_remove();
    for (uint32_t i = 0; i < SETS; i++) {
        free(sets[i].index.data);
        for (uint32_t k = 0; k < WORLDS; k++) free(sets[i].world[k].data);
    }
    MUST(MPI_Finalize() == MPI_SUCCESS);
}

/* ---- a case ---- */

static void sound(reef_world *w)
{
    char message[512];
    if (reef_validate(w, message, sizeof message) == REEF_OK) return;
    (void)fprintf(stderr, "%s\n", message);
    abort();
}

static void set_write(const crafted_set *s)
{
    file_write(-1, s->index);
    for (uint32_t i = 0; i < s->worlds; i++) file_write((int)i, s->world[i]);
}

static void one(uint64_t seed, const char *keep)
{
    const crafted_set *set = &sets[craft_below(&seed, SETS)];
    crafted_set made = *set;
    const uint32_t which = craft_below(&seed, 3), i = craft_below(&seed, set->worlds);
    if (which < 2) {
        made.index = craft_blob(set->index, &seed);
        index_sum(made.index);
    } else made.world[i] = craft_file(set->world[i], set->world[i], &seed);
    const craft_bytes changed = which < 2 ? made.index : made.world[i];
    if (keep) {
        FILE *f = fopen(keep, "wb");
        if (f) (void)fwrite(changed.data, 1, changed.size, f), (void)fclose(f);
        free(changed.data);
        return;
    }
    stage s = stage_open();
    set_write(&made);
    bound = held + BESIDE;
    const reef_status status = reef_ranks_load(s.r, path);
    bound = SIZE_MAX;
    sound(s.w);
    if (status == REEF_OK) {
        crafted_counts->taken++;
        for (int k = 0; k < 3; k++) (void)reef_ranks_tick(s.r, 1);
    } else {
        crafted_counts->refused++;
        MUST(status < 0);
        set_write(&sets[0]);
        MUST(reef_ranks_load(s.r, path) == REEF_OK);
        for (int k = 0; k < 3; k++) MUST(reef_ranks_tick(s.r, 1) == REEF_OK);
    }
    sound(s.w);
    stage_close(&s);
    free(changed.data);
}

int main(int count, char **words)
{
    const crafted_program program = {"crafted_ranks", begin, end, one, 300};
    return crafted_main(&program, count, words);
}
