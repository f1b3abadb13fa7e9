/* What the calls of reef_ranks.h answer, on each rank. Run it by mpirun on two ranks or more.
 *
 * The world is a strip of cells; entities have a Place. All checks are made on all ranks; the last line counts them. */
#include "reef_ranks.h"
#include "reef/relation.h"
#include "reef/inspect.h"
#include "reef/stats.h"
#include "reef/code.h"
#include "reef/hooks.h"
#include "reef/place.h"
#include "reef/value_index.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct Place {
    float x;
} Place;
typedef struct Speed {
    float x;
} Speed;
typedef struct Mark {
    int32_t number;
} Mark;
REEF_COMPONENT(Place);
REEF_COMPONENT(Speed);
REEF_COMPONENT(Mark);
typedef struct Owner {
    void *what;
} Owner;
static void nothing(void *context, void *slot)
{
    (void)context;
    (void)slot;
}
static const reef_hooks owning = {.destroy = nothing, .bytes_move = true};
REEF_COMPONENT_HOOKS(Owner, &owning);
REEF_RELATION(Likes);
REEF_RELATION(PartOf, REEF_EXCLUSIVE | REEF_ACYCLIC | REEF_CASCADE);

typedef struct Word {
    reef_entity from, to;
    int32_t number;
} Word;
typedef struct Heard {
    reef_entity from, to;
    int32_t number;
} Heard;
typedef struct Call {
    reef_entity from;
    float x;
} Call;
REEF_COMPONENT(Word);
REEF_COMPONENT(Heard);
REEF_COMPONENT(Call);

enum { CELLS = 10 };

static int rank, size, checks;

#define CHECK(x) \
    do { \
        if (!(x)) { \
            fprintf(stderr, "rank %d: %s:%d: %s\n", rank, __FILE__, __LINE__, #x); \
            MPI_Abort(MPI_COMM_WORLD, 1); \
        } \
        checks++; \
    } while (0)

/* ---- a strip of cells, each a metre long ---- */

static int32_t wrong_cell; /* 1: cell_of gives a number that is no cell */

static void cell_of(const reef_block *b, uint32_t *cells, void *context)
{
    const Place *p = reef_in(b, Place);
    (void)context;
    for (uint32_t i = 0; i < b->count; i++) cells[i] = wrong_cell ? CELLS : (uint32_t)p[i].x;
}

static uint32_t near_cells(uint32_t c, uint32_t *near, void *context)
{
    uint32_t n = 0;
    (void)context;
    if (c > 0) near[n++] = c - 1;
    if (c + 1 < CELLS) near[n++] = c + 1;
    return n;
}

static uint32_t near_one_way(uint32_t c, uint32_t *near, void *context)
{
    (void)context;
    near[0] = c + 1;
    return c + 1 < CELLS;
}

static uint32_t near_itself(uint32_t c, uint32_t *near, void *context)
{
    (void)context;
    near[0] = c;
    return 1;
}

/* All of the other cells, of which there are as many as the config says. */
static uint32_t near_all(uint32_t c, uint32_t *near, void *context)
{
    const uint32_t cells = ((const reef_ranks_config *)context)->cells;
    uint32_t n = 0;
    for (uint32_t i = 0; i < cells; i++)
        if (i != c) near[n++] = i;
    return n;
}

static uint32_t one(uint32_t cell, void *context)
{
    (void)cell;
    (void)context;
    return 1;
}

static void make(reef_world *w, reef_entity e, uint32_t cell, uint32_t i, void *context)
{
    (void)i;
    (void)context;
    reef_change(w, e, reef_with(Place, (float)cell + 0.5f), reef_with(Speed, 0), reef_with(Mark, (int32_t)cell));
}

static uint32_t call_cell(const void *value, void *context)
{
    (void)context;
    return (uint32_t)((const Call *)value)->x;
}

static void born(reef_world *w, reef_entity e, const void *value, void *context)
{
    (void)context;
    reef_change(w, e, reef_with(Place, ((const Call *)value)->x), reef_with(Speed, 0), reef_with(Mark, 100));
}

static void move(reef_block *b)
{
    Place *p = reef_inout(b, Place);
    const Speed *v = reef_in(b, Speed);
    for (uint32_t i = 0; i < b->count; i++) p[i].x += v[i].x;
}

static reef_component ghosts[2];
static reef_ranks_message messages[2];
static reef_ranks_config config;

static void config_begin(void)
{
    ghosts[0] = reef_id(Mark);
    ghosts[1] = reef_id(Likes);
    messages[0] = (reef_ranks_message){.sent = reef_id(Word), .arrives = reef_id(Heard)};
    messages[1] = (reef_ranks_message){.sent = reef_id(Call), .cell = call_cell, .born = born};
    config = (reef_ranks_config){.cells = CELLS,
                                 .placed = "in Place",
                                 .cell_of = cell_of,
                                 .near = near_cells,
                                 .ghosts = ghosts,
                                 .ghost_count = 2,
                                 .messages = messages,
                                 .message_count = 2};
}

typedef struct stage {
    reef_world *w;
    reef_ranks *r;
    reef_entity common;
    reef_entity of[CELLS]; /* the entity of each cell: the same handles on all ranks */
} stage;

static stage stage_open(void)
{
    char why[REEF_DETAIL_MAX];
    stage s = {.w = reef_world_new(NULL)};
    s.common = reef_spawn(s.w, reef_with(Mark, -1));
    reef_system(s.w, move, "Place, in Speed");
    s.r = reef_ranks_new(MPI_COMM_WORLD, s.w, &config, why);
    CHECK(s.r != NULL);
    CHECK(reef_ranks_fill(s.r, one, make) == REEF_OK);
    for (uint32_t c = 0; c < CELLS; c++) s.of[c] = (reef_entity){s.common.index + 1 + c * REEF_RANKS_RANGE, 1};
    return s;
}

static void stage_close(stage *s)
{
    char wrong[200] = "";
    if (reef_validate(s->w, wrong, sizeof wrong) != REEF_OK) fprintf(stderr, "%s\n", wrong);
    CHECK(wrong[0] == 0);
    reef_ranks_free(s->r);
    reef_world_free(s->w);
}

static bool here(const stage *s, reef_entity e) { return reef_ranks_where(s->r, e) == REEF_RANKS_HERE; }

static void say_nothing(reef_block *b) { (void)b; }

/* ---- checks ---- */

static bool refused(const reef_ranks_config *c, const char *why)
{
    char reason[REEF_DETAIL_MAX] = "";
    reef_world *w = reef_world_new(NULL);
    reef_ranks *r = reef_ranks_new(MPI_COMM_WORLD, w, c, reason);
    const bool ok = r == NULL && strstr(reason, why) != NULL;
    if (!ok) fprintf(stderr, "reason: %s\n", reason);
    reef_world_free(w);
    return ok;
}

static void wrong_configs(void)
{
    reef_ranks_config c = config;
    c.cells = 0;
    CHECK(refused(&c, "0 cells"));
    c = config, c.placed = NULL;
    CHECK(refused(&c, "placed"));
    c = config, c.placed = "in Nobody";
    CHECK(refused(&c, "placed"));
    c = config, c.near = near_one_way;
    CHECK(refused(&c, "not the other way round"));
    c = config, c.near = near_itself;
    CHECK(refused(&c, "can't be near"));
    c = config, c.near = near_all, c.context = &c;
    for (c.cells = REEF_RANKS_NEAR_MAX + 2; c.cells < 5000; c.cells += 2000) CHECK(refused(&c, "at most 64 can be"));
    c.cells = REEF_RANKS_NEAR_MAX + 1;
    reef_world *most = reef_world_new(NULL);
    reef_ranks *ranks = reef_ranks_new(MPI_COMM_WORLD, most, &c, NULL);
    CHECK(ranks != NULL);
    reef_ranks_free(ranks);
    reef_world_free(most);
    c = config, c.ghost_count = REEF_RANKS_GHOSTS_MAX + 1;
    CHECK(refused(&c, "ghosts"));
    const reef_component owner = reef_id(Owner);
    c = config, c.ghosts = &owner, c.ghost_count = 1;
    CHECK(refused(&c, "ghosts can't have component 0 (Owner): it has hooks"));
    reef_ranks_message m = {.sent = reef_id(Mark), .arrives = reef_id(Heard)};
    c = config, c.messages = &m, c.message_count = 1;
    CHECK(refused(&c, "doesn't begin with"));
    m = (reef_ranks_message){.sent = reef_id(Word), .arrives = reef_id(Word)};
    CHECK(refused(&c, "another type"));
    m = (reef_ranks_message){.sent = reef_id(Word), .born = born};
    CHECK(refused(&c, "no `cell`"));
    CHECK(reef_ranks_new(MPI_COMM_WORLD, NULL, &config, NULL) == NULL);
    if (size > 1) {
        reef_world *w = reef_world_new(NULL);
        char reason[REEF_DETAIL_MAX];
        if (rank == 1) reef_spawn(w, reef_with(Mark, 1));
        CHECK(reef_ranks_new(MPI_COMM_WORLD, w, &config, reason) == NULL && strstr(reason, "differ"));
        reef_world_free(w);
    }
}

/* Systems of the phases "inner" and "border" that change what ghosts show, or more than values. */
static void wrong_phases(void)
{
    const struct {
        const char *text, *why;
    } wrong[] = {{"Mark", "system touch, in phase inner, writes a component of ghosts: Mark"},
                 {"in Mark; sends Word", "changes more than values: Word"},
                 {"in Mark; destroys", "changes more than values"},
                 {"in Mark, Speed", NULL}};
    reef_ranks_config c = config;
    c.overlap = true;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char reason[REEF_DETAIL_MAX] = "";
        reef_world *w = reef_world_new(NULL);
        const reef_system_desc touching = {
            .name = "touch", .function = say_nothing, .phase = "inner", .text = wrong[i].text};
        CHECK(reef_ranks_phases(w) == REEF_OK && reef_ranks_phases(w) == REEF_EXISTS);
        CHECK(!reef_system_is_null(reef_system_new(w, &touching)));
        reef_ranks *r = reef_ranks_new(MPI_COMM_WORLD, w, &c, reason);
        CHECK(wrong[i].why ? r == NULL && strstr(reason, wrong[i].why) : r != NULL);
        reef_ranks_free(r);
        reef_world_free(w);
    }
    CHECK(reef_ranks_phases(NULL) == REEF_BAD_ARGUMENT);
}

static void nothing_is_refused(void)
{
    uint64_t n;
    int64_t x = 1;
    double d;
    reef_ranks_members m;
    CHECK(reef_ranks_tick(NULL, 1) == REEF_BAD_ARGUMENT && reef_ranks_balance(NULL) == REEF_BAD_ARGUMENT);
    CHECK(reef_ranks_fill(NULL, one, make) == REEF_BAD_ARGUMENT && reef_ranks_sum(NULL, &x, 1) == REEF_BAD_ARGUMENT);
    CHECK(reef_ranks_count(NULL, &n) == REEF_BAD_ARGUMENT && reef_ranks_digest(NULL, &n) == REEF_BAD_ARGUMENT);
    CHECK(reef_ranks_sum_cells(NULL, NULL, &d) == REEF_BAD_ARGUMENT && !reef_ranks_around(NULL, 0, 0, &m));
    CHECK(reef_ranks_save(NULL, "x") == REEF_BAD_ARGUMENT && reef_ranks_load(NULL, "x") == REEF_BAD_ARGUMENT);
    CHECK(reef_ranks_where(NULL, (reef_entity){0, 1}) == REEF_RANKS_NOWHERE && reef_ranks_reason(NULL)[0] == 0);
    reef_ranks_free(NULL);
}

static reef_status load_nothing(reef_world *w, void *context) { return (void)w, (void)context, REEF_OK; }

/* All ranks would have to change their code at the same tick. */
static void new_code_is_refused(void)
{
    static const reef_module module = {.name = "rules", .version = 1, .load = load_nothing};
    stage s = stage_open();
    reef_code *code = reef_code_begin();
    CHECK(reef_code_end(code, NULL, 0) == REEF_OK);
    CHECK(reef_code_use(s.w, code, &module, NULL) == REEF_LOCKED);
    CHECK(strstr(reef_last_error(s.w).detail, "ranks share this world") != NULL);
    CHECK(reef_module_version(s.w, "rules") == 0);
    reef_ranks_free(s.r);
    s.r = NULL;
    CHECK(reef_code_use(s.w, code, &module, NULL) == REEF_OK); /* it is its own again */
    CHECK(reef_module_remove(s.w, "rules") == REEF_OK);
    stage_close(&s);
}

static void who_is_where(void)
{
    stage s = stage_open();
    int64_t sum[2] = {0, 1};
    uint64_t n;
    for (uint32_t c = 0; c < CELLS; c++) {
        const reef_ranks_place p = reef_ranks_where(s.r, s.of[c]);
        const bool mine = reef_ranks_owner(s.r, c) == (uint32_t)rank;
        const bool near = (c > 0 && reef_ranks_owner(s.r, c - 1) == (uint32_t)rank) ||
                          (c + 1 < CELLS && reef_ranks_owner(s.r, c + 1) == (uint32_t)rank);
        CHECK(p == (mine ? REEF_RANKS_HERE : near ? REEF_RANKS_GHOST : REEF_RANKS_NOWHERE));
        CHECK((reef_get(s.w, s.of[c], Mark) != NULL) == (mine || near));
        CHECK((reef_get(s.w, s.of[c], Speed) != NULL) == mine);
        sum[0] += mine ? reef_get(s.w, s.of[c], Mark)->number : 0;
        reef_ranks_members m;
        CHECK(reef_ranks_around(s.r, c, 0, &m) == mine);
        if (mine) CHECK(m.count == 1 && reef_entity_equal(m.entities[0], s.of[c]));
        if (mine && c + 1 < CELLS && c > 0)
            CHECK(reef_ranks_around(s.r, c, 2, &m) && m.count == 1 && reef_entity_equal(m.entities[0], s.of[c + 1]));
        CHECK(!reef_ranks_around(s.r, c, 3, &m));
    }
    CHECK(reef_ranks_where(s.r, s.common) == REEF_RANKS_EVERYWHERE);
    CHECK(reef_ranks_where(s.r, (reef_entity){77, 9}) == REEF_RANKS_NOWHERE);
    CHECK(reef_ranks_sum(s.r, sum, 2) == REEF_OK && sum[0] == 45 && sum[1] == size);
    CHECK(reef_ranks_count(s.r, &n) == REEF_OK && n == CELLS);
    stage_close(&s);
}

/* An entity crosses the whole strip, with its relation to the first one; that dies in the end. */
static void a_journey(void)
{
    stage s = stage_open();
    const reef_entity home = s.of[0], traveller = s.of[1];
    if (here(&s, traveller)) {
        reef_set(s.w, traveller, Speed, 1);
        reef_relate(s.w, traveller, PartOf, home);
        reef_relate(s.w, traveller, Likes, s.of[2]);
        reef_set_name(s.w, traveller, "traveller");
    }
    for (uint32_t i = 2; i < CELLS; i++) {
        CHECK(reef_ranks_tick(s.r, 1) == REEF_OK);
        CHECK(here(&s, traveller) == (reef_ranks_owner(s.r, i) == (uint32_t)rank));
        if (!here(&s, traveller)) continue;
        CHECK(reef_related(s.w, traveller, PartOf, home) && reef_related(s.w, traveller, Likes, s.of[2]));
        CHECK(strcmp(reef_name(s.w, traveller), "traveller") == 0);
        CHECK(here(&s, home) || reef_ranks_where(s.r, home) != REEF_RANKS_NOWHERE);
    }
    if (here(&s, traveller)) reef_set(s.w, traveller, Speed, 0);
    if (here(&s, home)) CHECK(reef_destroy(s.w, home) == REEF_OK);
    CHECK(reef_ranks_tick(s.r, 1) == REEF_OK);
    CHECK(!reef_is_alive(s.w, home) && !reef_is_alive(s.w, traveller)); /* it was a part of the first */
    uint64_t n;
    CHECK(reef_ranks_count(s.r, &n) == REEF_OK && n == CELLS - 2);
    stage_close(&s);
}

/* Each likes the next one. Sources that live here or are ghosts are known; all ranks together know all. */
static void who_likes_whom(void)
{
    stage s = stage_open();
    reef_entity list[CELLS], five = s.of[5];
    uint64_t n = 0;
    for (uint32_t c = 0; c + 1 < CELLS; c++)
        if (here(&s, s.of[c])) {
            CHECK(reef_is_alive(s.w, s.of[c + 1])); /* it is near */
            CHECK(reef_relate(s.w, s.of[c], Likes, s.of[c + 1]) >= 0);
        }
    /* The fourth swims away, so that the fifth isn't near any more. */
    const reef_entity traveller = s.of[4];
    if (here(&s, traveller)) reef_set(s.w, traveller, Speed, -1);
    for (int i = 0; i < 4; i++) {
        CHECK(reef_ranks_tick(s.r, 1) == REEF_OK);
        for (uint32_t c = 0; c < CELLS; c++) {
            if (!here(&s, s.of[c]) || c == 0) continue;
            uint64_t likes = 0;
            for (reef_sources x = reef_sources_of(s.w, s.of[c], Likes); reef_sources_next(&x);)
                for (uint32_t k = 0; k < x.count; k++, likes++) CHECK(reef_entity_equal(x.sources[k], s.of[c - 1]));
            const int cell = c == 4 ? 3 - i : (int)c, of_source = c == 5 ? 3 - i : (int)c - 1;
            CHECK(likes == 1 || (abs(cell - of_source) > 1 && likes == 0));
        }
        CHECK(reef_ranks_sources(s.r, reef_id(Likes), five, list, CELLS, &n) == REEF_OK);
        CHECK(n == 1 && reef_entity_equal(list[0], traveller));
    }
    for (uint32_t c = 0; c < CELLS; c++)
        if (here(&s, s.of[c]) && reef_is_alive(s.w, s.of[3])) CHECK(reef_relate(s.w, s.of[c], Likes, s.of[3]) >= 0);
    int64_t related = 0;
    for (uint32_t c = 0; c < CELLS; c++) related += here(&s, s.of[c]) && reef_related(s.w, s.of[c], Likes, s.of[3]);
    CHECK(reef_ranks_sum(s.r, &related, 1) == REEF_OK && related >= 3);
    CHECK(reef_ranks_sources(s.r, reef_id(Likes), s.of[3], NULL, 0, &n) == REEF_OK && n == (uint64_t)related);
    CHECK(reef_ranks_sources(s.r, reef_id(Likes), s.of[3], list, 2, &n) == REEF_OK && n == (uint64_t)related);
    CHECK(list[0].index < list[1].index);
    CHECK(reef_ranks_sources(s.r, reef_id(Likes), s.of[3], NULL, 1, &n) == REEF_BAD_ARGUMENT);
    stage_close(&s);
}

static reef_entity say_from, say_to;
static int32_t heard, heard_sum;
static void say(reef_block *b)
{
    for (uint32_t i = 0; i < b->count; i++)
        for (int32_t k = 1; k <= 3 && reef_entity_equal(b->entities[i], say_from); k++)
            reef_send(b, Word, say_from, say_to, k);
}
static void hear(reef_block *b)
{
    reef_events words = reef_receive(b, Heard);
    for (const Heard *h; (h = reef_next_event(&words)) != NULL; heard++) {
        CHECK(here(b->context, h->to) && h->number == heard + 1); /* in the order of sending */
        heard_sum += h->number;
    }
}
static void call(reef_block *b)
{
    for (uint32_t i = 0; i < b->count; i++)
        if (reef_entity_equal(b->entities[i], say_from)) reef_send(b, Call, say_from, 7.25f);
}

static void words_and_calls(void)
{
    stage s = stage_open();
    const reef_system_desc hearing = {.name = "hear", .function = hear, .text = "; receives Heard", .context = &s};
    reef_system(s.w, say, "in Mark, with ReefCell; sends Word");
    CHECK(!reef_system_is_null(reef_system_new(s.w, &hearing)));
    reef_system(s.w, call, "in Mark, with ReefCell; sends Call");
    say_from = s.of[4], say_to = s.of[5], heard = heard_sum = 0;
    CHECK(reef_ranks_tick(s.r, 1) == REEF_OK);
    uint64_t n;
    CHECK(reef_ranks_count(s.r, &n) == REEF_OK && n == CELLS + 1);
    const reef_entity child = {s.of[7].index + 1, 1}; /* the next id of cell 7 */
    CHECK(here(&s, child) == (reef_ranks_owner(s.r, 7) == (uint32_t)rank));
    say_from = (reef_entity){0, 0};
    CHECK(reef_ranks_tick(s.r, 1) == REEF_OK);
    CHECK(heard == (here(&s, say_to) ? 3 : 0) && heard_sum == (here(&s, say_to) ? 6 : 0));
    say_from = s.of[4], say_to = s.of[9]; /* not near */
    const reef_status far = reef_ranks_tick(s.r, 1);
    /* A rank that never heard of the receiver takes it for dead. */
    CHECK(far == REEF_UNDECLARED || (size > 1 && far == REEF_OK));
    stage_close(&s);
}

/* Failures of one rank are answered by all. */
static void failures(void)
{
    stage s = stage_open();
    if (here(&s, s.of[3])) reef_spawn(s.w, reef_with(Mark, 3));
    CHECK(reef_ranks_tick(s.r, 1) == REEF_UNDECLARED && reef_ranks_reason(s.r)[0]);
    reef_ranks_free(s.r);
    reef_world_free(s.w);

    s = stage_open();
    if (here(&s, s.of[3])) reef_remove(s.w, s.of[3], Place);
    CHECK(reef_ranks_tick(s.r, 1) == REEF_UNDECLARED && reef_ranks_reason(s.r)[0]);
    stage_close(&s);

    s = stage_open();
    wrong_cell = here(&s, s.of[3]);
    CHECK(reef_ranks_tick(s.r, 1) == REEF_BAD_ARGUMENT);
    wrong_cell = 0;
    stage_close(&s);

    s = stage_open();
    if (here(&s, s.of[0])) {
        reef_add(s.w, s.of[0], Owner);
        reef_set(s.w, s.of[0], Speed, 9);
    }
    CHECK(reef_ranks_tick(s.r, 1) == (size > 1 ? REEF_NOT_PORTABLE : REEF_OK));
    CHECK(rank != 0 || size == 1 || strstr(reef_ranks_reason(s.r), "Owner"));
    stage_close(&s);
}

static void spoil(const char *path, long at)
{
    FILE *f = rank == 0 ? fopen(path, "r+b") : NULL;
    if (f) fseek(f, at, SEEK_SET), fputc('?', f), fclose(f);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* ---- an index that lies, behind a right sum (addons/mpi/save.c) ---- */

enum { IDS_CELL = 0, IDS_COUNT = 12 }; /* in the ids of a cell */

static uint64_t index_sum(const unsigned char *p, size_t n)
{
    uint64_t a = n, b = 0;
    for (size_t i = 0; i < n; i += 4) {
        uint32_t x = 0;
        memcpy(&x, p + i, n - i < 4 ? n - i : 4);
        a = (a + x) % UINT32_MAX;
        b = (b + a) % UINT32_MAX;
    }
    return b << 32 | a;
}

/* Writes the index with another number in the ids of the first cell, and with `more` bytes of zeroes behind all ids. */
static void lie(const char *path, const unsigned char *whole, size_t n, size_t at, uint32_t number, size_t more)
{
    const size_t ids = 44 + 4 * ((size_t)size + 1) + 4 * CELLS + 4;
    uint64_t length, sum;
    FILE *f = rank == 0 ? fopen(path, "wb") : NULL;
    if (f) {
        unsigned char *made = calloc(1, n + more);
        CHECK(made != NULL);
        memcpy(&length, whole + ids, sizeof length);
        const size_t end = ids + 8 + (size_t)length;
        memcpy(made, whole, end);
        memcpy(made + end + more, whole + end, n - end);
        memcpy(made + ids + 8 + at, &number, sizeof number);
        length += more;
        memcpy(made + ids, &length, sizeof length);
        sum = index_sum(made, n + more - 8);
        memcpy(made + n + more - 8, &sum, sizeof sum);
        CHECK(fwrite(made, 1, n + more, f) == n + more && fclose(f) == 0);
        free(made);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Ids that end too early were read for ever, and as many as the index said were made room for. */
static void lies(stage *s, const char *path)
{
    unsigned char whole[8192];
    FILE *f = fopen(path, "rb");
    CHECK(f != NULL);
    const size_t n = fread(whole, 1, sizeof whole, f);
    CHECK(fclose(f) == 0 && n < sizeof whole);
    MPI_Barrier(MPI_COMM_WORLD);
    lie(path, whole, n, IDS_COUNT, UINT32_MAX, 0);
    CHECK(reef_ranks_load(s->r, path) == REEF_CORRUPT);
    lie(path, whole, n, IDS_CELL, CELLS, 0);
    CHECK(reef_ranks_load(s->r, path) == REEF_CORRUPT);
    lie(path, whole, n, IDS_CELL, 0, 2);
    CHECK(reef_ranks_load(s->r, path) == REEF_CORRUPT);
    lie(path, whole, n, IDS_CELL, 0, 0);
    CHECK(reef_ranks_load(s->r, path) == REEF_OK);
}

static void saving(const char *folder)
{
    char path[512];
    uint64_t before, after;
    snprintf(path, sizeof path, "%s/strip", folder);
    stage s = stage_open();
    CHECK(reef_ranks_load(s.r, path) == REEF_IO);
    CHECK(reef_ranks_tick(s.r, 1) == REEF_OK && reef_ranks_save(s.r, path) == REEF_OK);
    CHECK(reef_ranks_tick(s.r, 1) == REEF_OK && reef_ranks_save(s.r, path) == REEF_OK);
    char old[600];
    snprintf(old, sizeof old, "%s.1.%d", path, rank);
    CHECK(access(old, F_OK) != 0); /* files of the old state are gone */
    CHECK(reef_ranks_digest(s.r, &before) == REEF_OK);
    if (here(&s, s.of[6])) reef_set(s.w, s.of[6], Mark, 1000);
    CHECK(reef_ranks_digest(s.r, &after) == REEF_OK && after != before);
    CHECK(reef_ranks_load(s.r, path) == REEF_OK);
    CHECK(reef_ranks_digest(s.r, &after) == REEF_OK && after == before);
    CHECK(reef_ranks_save(s.r, "/nowhere/at/all") == REEF_IO && reef_ranks_reason(s.r)[0]);
    lies(&s, path);
    spoil(path, 100);
    CHECK(reef_ranks_load(s.r, path) == REEF_CORRUPT);
    stage_close(&s);
}

/* ---- load ---- */

/* The last cell has as much to do as all others. */
static uint64_t load_of(const reef_ranks *r, uint32_t cell, void *context)
{
    (void)context;
    return reef_ranks_owner(r, cell) != (uint32_t)rank ? 0 : cell == CELLS - 1 ? UINT64_MAX : (1 << 24) / (CELLS - 1);
}

static void cells_by_load(void)
{
    uint64_t before = 0, after = 0;
    config.load = load_of;
    stage s = stage_open();
    const uint32_t first = reef_ranks_owner(s.r, 0);
    CHECK(reef_ranks_digest(s.r, &before) == REEF_OK && reef_ranks_balance(s.r) == REEF_OK);
    CHECK(reef_ranks_digest(s.r, &after) == REEF_OK && before == after);
    CHECK(reef_ranks_owner(s.r, 0) == first);
    if (size == 2) CHECK(reef_ranks_owner(s.r, CELLS - 2) == 0 && reef_ranks_owner(s.r, CELLS - 1) == 1);
    CHECK(reef_ranks_tick(s.r, 1) == REEF_OK);
    stage_close(&s);
    config.load = NULL;
}

/* ---- memory ---- */

enum { MANY = 65536, FEW = 8, FILLED = MANY * REEF_RANKS_RANGE };

static void strip_cell_of(const reef_block *b, uint32_t *cells, void *context)
{
    const Place *p = reef_in(b, Place);
    (void)context;
    for (uint32_t i = 0; i < b->count; i++) cells[i] = (uint32_t)p[i].x;
}

static uint32_t strip_near(uint32_t c, uint32_t *near, void *context)
{
    uint32_t n = 0;
    (void)context;
    if (c > 0) near[n++] = c - 1;
    if (c + 1 < MANY) near[n++] = c + 1;
    return n;
}

static uint32_t few(uint32_t cell, void *context)
{
    (void)cell;
    (void)context;
    return FEW;
}

static uint32_t many_in_some(uint32_t cell, void *context)
{
    (void)context;
    return cell % 97 == 0 ? REEF_RANKS_RANGE : 0;
}

static void make_plain(reef_world *w, reef_entity e, uint32_t cell, uint32_t i, void *context)
{
    (void)i;
    (void)context;
    reef_set(w, e, Place, (float)cell + 0.5f);
}

/* What a rank has of the index and of cells is its share of the world's, and a little: 24 bytes for 4,096 indices, 4
 * for 256 cells, and the pages that it shares with a neighbour. So it stays when ids are given out a few at a time,
 * when cells are divided anew, and when the world is saved and loaded. */
static void memory_of_a_share(const char *folder)
{
    char path[4200];
    reef_world *w = reef_world_new(NULL);
    reef_ranks_config c = {.cells = MANY,
                           .placed = "in Place",
                           .cell_of = strip_cell_of,
                           .near = strip_near,
                           .ghosts = ghosts,
                           .ghost_count = 1};
    reef_ranks *r = reef_ranks_new(MPI_COMM_WORLD, w, &c, NULL);
    snprintf(path, sizeof path, "%s/share", folder);
    CHECK(r != NULL && reef_ranks_fill(r, few, make_plain) == REEF_OK);
    for (int round = 0; round < 3; round++) {
        const uint64_t ids = reef_world_stats(w).indices, share = ids / (uint64_t)size;
        CHECK(ids >= FILLED && reef_world_stats(w).bytes_index < 8 * share + ids / 64 + (256 << 10));
        CHECK(reef_ranks_bytes(r) < 250 * (MANY / (uint64_t)size) + MANY / 64 + (64 << 10));
        if (round == 0)
            CHECK(reef_ranks_fill(r, many_in_some, make_plain) == REEF_OK && reef_ranks_balance(r) == REEF_OK);
        if (round == 1) {
            CHECK(reef_ranks_save(r, path) == REEF_OK);
            reef_ranks_free(r);
            reef_world_free(w);
            w = reef_world_new(NULL);
            CHECK((r = reef_ranks_new(MPI_COMM_WORLD, w, &c, NULL)) != NULL && reef_ranks_load(r, path) == REEF_OK);
        }
    }
    reef_ranks_free(r);
    reef_world_free(w);
}

/* ---- places ---- */

typedef struct Spot {
    float x, y;
} Spot;
typedef struct Crowd {
    uint32_t others;
    float sum; /* depends on the order in which they are found */
} Crowd;
REEF_COMPONENT(Spot);
REEF_COMPONENT(Crowd);
REEF_FIELDS(Spot, x, y);
REEF_FIELDS(Crowd, others, sum);
REEF_PLACE(Spot, x, y, .cell = 0.7);
REEF_TAG(Shy);

enum { SPOTS_IN_CELL = 7, SPOTS = CELLS * SPOTS_IN_CELL, FOUND_MAX = 64 };

static double spot_radius = 0.8;
static Spot all_spots[SPOTS]; /* by cell and number */
static Crowd all_crowds[SPOTS];
static reef_query not_shy;

static Spot spot_of(uint32_t cell, uint32_t i)
{
    const uint32_t mixed = (cell * 7 + i) * 2654435761u;
    return (Spot){(float)cell + (float)(mixed >> 20 & 255) / 256, (float)(mixed >> 8 & 255) / 128};
}
static void spot_move(Spot *s, uint32_t number)
{
    s->x += (float)(number % 5) * 0.125f;
    if (s->x >= CELLS) s->x -= CELLS;
}
static void crowd_add(Crowd *c, float x, float y) { c->others++, c->sum = c->sum * 0.75f + x + 0.5f * y; }

static void spots_look(reef_block *b)
{
    const reef_place *spots = reef_placed(b, Spot);
    const Spot *at = reef_in(b, Spot);
    Crowd *crowd = reef_out(b, Crowd);
    for (uint32_t i = 0, n; (n = reef_block_run(b, &i)) != 0; i += n)
        for (uint32_t k = i; k < i + n; k++) {
            reef_near found[FOUND_MAX];
            const reef_place_ask ask = {.at = {(double)at[k].x, (double)at[k].y},
                                        .radius = spot_radius,
                                        .except = b->entities[k],
                                        .only = not_shy};
            const uint32_t count = reef_place_within(spots, &ask, found, FOUND_MAX);
            crowd[k] = (Crowd){0, 0};
            for (uint32_t j = 0; j < count; j++) crowd_add(&crowd[k], found[j].offset[0], found[j].offset[1]);
        }
}
static void spots_move(reef_block *b)
{
    Spot *at = reef_inout(b, Spot);
    for (uint32_t i = 0, n; (n = reef_block_run(b, &i)) != 0; i += n)
        for (uint32_t k = i; k < i + n; k++) spot_move(&at[k], b->entities[k].index);
}

static void spot_cell_of(const reef_block *b, uint32_t *cells, void *context)
{
    const Spot *s = reef_in(b, Spot);
    (void)context;
    for (uint32_t i = 0; i < b->count; i++) cells[i] = (uint32_t)s[i].x;
}
static uint32_t spots_in_cell(uint32_t cell, void *context) { return (void)cell, (void)context, SPOTS_IN_CELL; }
static void spot_make(reef_world *w, reef_entity e, uint32_t cell, uint32_t i, void *context)
{
    const Spot s = spot_of(cell, i);
    (void)context;
    CHECK(reef_set(w, e, Spot, s.x, s.y) >= 0 && reef_set(w, e, Crowd, 0, 0) >= 0);
    if (i == 3) CHECK(reef_add(w, e, Shy) >= 0);
    if (i == 5 && cell % 2) CHECK(reef_disable(w, e) >= 0);
}

/* What spots_look finds, in the order of the handles, which is that of the numbers. Those that are disabled are found
 * by nobody, and don't look. */
static bool spot_is_disabled(uint32_t number) { return number % SPOTS_IN_CELL == 5 && number / SPOTS_IN_CELL % 2; }
static void spots_expect(void)
{
    for (uint32_t i = 0; i < SPOTS; i++) {
        if (spot_is_disabled(i)) continue;
        all_crowds[i] = (Crowd){0, 0};
        for (uint32_t k = 0; k < SPOTS; k++) {
            const float x = all_spots[k].x - all_spots[i].x, y = all_spots[k].y - all_spots[i].y;
            const double squared = (double)x * (double)x + (double)y * (double)y;
            if (k == i || k % SPOTS_IN_CELL == 3 || spot_is_disabled(k)) continue;
            if (squared <= spot_radius * spot_radius) crowd_add(&all_crowds[i], x, y);
        }
    }
}

/* A question about values is one about all entities, and ghosts are entities that another rank has as well. So indexes
 * and queries leave them out, and sums over ranks are right; whoever wants ghosts says so, and gets their values. */
static void values_leave_ghosts_out(reef_ranks *r, reef_world *w)
{
    const reef_index *x = reef_index_of(w, Spot, x);
    const reef_query left = reef_query_new(w, "Spot(x < 8)");
    const reef_query few = reef_query_new(w, "Spot(x < 8), ReefGhost, either *");
    const reef_query all_ghosts = reef_query_new(w, "in Spot, ReefGhost, either *");
    int64_t sums[3] = {(int64_t)reef_index_range(x, 0, reef_key_f32(8), 0, NULL, 0), (int64_t)reef_query_count(w, left),
                       (int64_t)reef_count(w, ReefGhost)};
    int64_t all = 0, ghosts_left = 0;
    for (uint32_t i = 0; i < SPOTS; i++) all += !spot_is_disabled(i) && all_spots[i].x < 8;
    CHECK(reef_ranks_sum(r, sums, 3) == REEF_OK);
    CHECK(all > 0 && sums[0] == all && sums[1] == all && (sums[2] > 0) == (size > 1));
    reef_each(w, all_ghosts, row) ghosts_left += reef_in_at(row, Spot)->x < 8;
    CHECK((int64_t)reef_query_count(w, few) == ghosts_left);
    CHECK(reef_query_free(w, left) >= 0 && reef_query_free(w, few) >= 0 && reef_query_free(w, all_ghosts) >= 0);
}

static void places_know_ghosts(void)
{
    const reef_component seen[] = {reef_id(Spot), reef_id(Shy)};
    reef_world *w = reef_world_new(NULL);
    reef_ranks_config c = {.cells = CELLS,
                           .placed = "in Spot",
                           .cell_of = spot_cell_of,
                           .near = near_cells,
                           .ghosts = seen,
                           .ghost_count = 2,
                           .reach = 1};
    char reason[REEF_DETAIL_MAX];
    CHECK(!reef_system_is_null(reef_system(w, spots_look, "in Spot, out Crowd; reads Spot as placed")));
    CHECK(!reef_system_is_null(reef_system(w, spots_move, "Spot")));
    c.reach = -1;
    CHECK(reef_ranks_new(MPI_COMM_WORLD, w, &c, reason) == NULL && strstr(reason, "reach"));
    c.reach = 1;
    reef_ranks *r = reef_ranks_new(MPI_COMM_WORLD, w, &c, reason);
    CHECK(r != NULL && reef_ranks_fill(r, spots_in_cell, spot_make) == REEF_OK);
    not_shy = reef_query_new(w, "!Shy, either *");
    const reef_query own = reef_query_new(w, "in Spot, in Crowd, !ReefGhost, either *");
    uint32_t number_of[CELLS]; /* the first index of each cell */
    for (uint32_t i = 0; i < SPOTS; i++) all_spots[i] = spot_of(i / SPOTS_IN_CELL, i % SPOTS_IN_CELL);
    for (uint32_t cell = 0; cell < CELLS; cell++) number_of[cell] = cell * REEF_RANKS_RANGE;
    uint64_t looked = 0, crowded = 0;
    for (int tick = 0; tick < 6; tick++) {
        spots_expect();
        CHECK(reef_ranks_tick(r, 1) == REEF_OK);
        for (uint32_t i = 0; i < SPOTS; i++)
            if (!spot_is_disabled(i)) spot_move(&all_spots[i], number_of[i / SPOTS_IN_CELL] + i % SPOTS_IN_CELL);
        reef_each(w, own, row)
        {
            const uint32_t i =
                row.entity.index / REEF_RANKS_RANGE * SPOTS_IN_CELL + row.entity.index % REEF_RANKS_RANGE;
            const Crowd *is = reef_in_at(row, Crowd);
            CHECK(is->others == all_crowds[i].others && !(is->sum < all_crowds[i].sum) &&
                  !(is->sum > all_crowds[i].sum));
            looked++;
            crowded += is->others;
        }
        values_leave_ghosts_out(r, w);
    }
    CHECK(looked > 0 && crowded > 0);
    spot_radius = 1.5;
    CHECK(reef_ranks_tick(r, 1) == REEF_UNDECLARED);
    CHECK(strstr(reef_ranks_reason(r), "the place of Spot reaches 1.5, and ghosts reach 1"));
    spot_radius = 0.8;
    reef_ranks_free(r);
    reef_world_free(w);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    config_begin();
    wrong_configs();
    wrong_phases();
    nothing_is_refused();
    new_code_is_refused();
    who_is_where();
    a_journey();
    who_likes_whom();
    words_and_calls();
    cells_by_load();
    failures();
    places_know_ghosts();
    saving(argc > 1 ? argv[1] : ".");
    memory_of_a_share(argc > 1 ? argv[1] : ".");
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) printf("%d checks on each of %d ranks\n", checks, size);
    MPI_Finalize();
    return 0;
}
