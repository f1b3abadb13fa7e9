/* A scene over ranks that uses everything that travels: schools of fish on a sea of cells that looks at neighbours,
 * bites by messages, is born and dies, follows leaders by relations, and keeps several values, switches and names.
 *
 *     mpirun -n 4 scene [--ticks N] [--threads N] [--balance N] [--save PATH AT] [--load PATH]
 *                       [--overlap] [--beyond] [--peek] [--die RANK AT] [--hang RANK AT] [--timeout MS]
 *
 * Rank 0 prints the number of fish and the digest of each tick: the same lines on any number of ranks and threads.
 * --overlap adds systems that look around while ghosts travel. --beyond adds a system that sends further than it may,
 * --peek one that reads values of entities that aren't near. --die and --hang let a rank fail at that tick. */
#define _POSIX_C_SOURCE 200809L /* raise, pause */
#include "reef_ranks.h"
#include "reef/relation.h"
#include "reef/multi.h"
#include "reef/random.h"
#include "reef/pool.h"
#include "reef/inspect.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SIDE = 12, CELL_METRES = 10, FIRST_FISH = 14 };

typedef struct Position {
    float x, y;
} Position;
typedef struct Velocity {
    float x, y;
} Velocity;
typedef struct Energy {
    int32_t units;
    int32_t age;
} Energy;
typedef struct Scar {
    reef_entity by;
    uint32_t tick;
} Scar;
typedef struct Depth {
    double metres;
} Depth;
REEF_COMPONENT(Position);
REEF_FIELDS(Position, (x, "m"), (y, "m"));
REEF_COMPONENT(Velocity);
REEF_COMPONENT(Energy);
REEF_COMPONENT_IN(Scar, REEF_MULTI);
REEF_COMPONENT_IN(Depth, REEF_PAGED);
REEF_TAG(Hunter);
REEF_SWITCH(Awake);
typedef struct Crowd {
    uint32_t fish;
    float warmth;
} Crowd;
REEF_COMPONENT(Crowd);
typedef struct Wish {
    float x, y;
} Wish;
REEF_COMPONENT_IN(Wish, REEF_SPARSE);
REEF_RELATION(Follows, REEF_EXCLUSIVE);
REEF_RELATION(Knows);
REEF_RELATION(PartOf, REEF_EXCLUSIVE | REEF_ACYCLIC | REEF_CASCADE);

/* A bite travels to a fish nearby, a birth to a cell. */
typedef struct Bite {
    reef_entity from, to;
    int32_t units;
} Bite;
typedef struct Bitten {
    reef_entity from, to;
    int32_t units;
} Bitten;
typedef struct Birth {
    reef_entity from;
    float x, y;
    int32_t units;
    uint32_t hunter;
} Birth;
REEF_COMPONENT(Bite);
REEF_COMPONENT(Bitten);
REEF_COMPONENT(Birth);

/* ---- the sea ---- */

static float wrap(float x)
{
    const float size = SIDE * CELL_METRES;
    if (x < 0) x += size;
    if (x >= size) x -= size;
    return x < 0 || x >= size ? 0 : x;
}

static uint32_t cell_at(float x, float y)
{
    uint32_t cx = (uint32_t)(x / CELL_METRES), cy = (uint32_t)(y / CELL_METRES);
    if (cx >= SIDE) cx = SIDE - 1;
    if (cy >= SIDE) cy = SIDE - 1;
    return cy * SIDE + cx;
}

static void cell_of(const reef_block *b, uint32_t *cells, void *context)
{
    const Position *p = reef_in(b, Position);
    (void)context;
    for (uint32_t i = 0; i < b->count; i++) cells[i] = cell_at(p[i].x, p[i].y);
}

static uint32_t near_cells(uint32_t c, uint32_t *near, void *context)
{
    uint32_t n = 0;
    (void)context;
    for (uint32_t dy = 0; dy < 3; dy++)
        for (uint32_t dx = 0; dx < 3; dx++)
            if (dx != 1 || dy != 1)
                near[n++] = (c / SIDE + dy + SIDE - 1) % SIDE * SIDE + (c % SIDE + dx + SIDE - 1) % SIDE;
    return n;
}

/* ---- systems ---- */

/* Goes on to the next row of a block whose velocity isn't disabled, from *i on. False: there is none. */
static bool next_row(reef_block *b, uint32_t *i) { return reef_block_run(b, i) != 0; }

/* Each fish swims to its neighbours' middle, a hunter to the nearest fish, which it bites when it is there. */
static void look(reef_block *b)
{
    const reef_ranks *r = *(reef_ranks *const *)b->context;
    const Position *p = reef_in(b, Position);
    const ReefCell *cell = reef_in(b, ReefCell);
    Velocity *v = reef_inout(b, Velocity);
    const bool hunter = reef_has(b->world, b->entities[0], Hunter);
    for (uint32_t i = 0; next_row(b, &i); i++) {
        float sx = 0, sy = 0, best = 4;
        uint32_t n = 0;
        reef_entity prey = {0, 0};
        reef_ranks_members m;
        for (uint32_t k = 0; reef_ranks_around(r, cell[i].cell, k, &m); k++)
            for (uint32_t j = 0; j < m.count; j++) {
                if (reef_entity_equal(m.entities[j], b->entities[i])) continue;
                const Position *o = reef_get(b->world, m.entities[j], Position);
                const float dx = o->x - p[i].x, dy = o->y - p[i].y, d = dx * dx + dy * dy;
                if (d > 100) continue;
                sx += dx;
                sy += dy;
                n++;
                if (hunter && d < best && !reef_has(b->world, m.entities[j], Hunter)) {
                    best = d;
                    prey = m.entities[j];
                }
            }
        if (n) {
            v[i].x += sx / (float)n * 0.1f;
            v[i].y += sy / (float)n * 0.1f;
        }
        reef_random dice = reef_random_for(b, b->entities[i]);
        v[i].x += reef_random_float(&dice) - 0.5f;
        v[i].y += reef_random_float(&dice) - 0.5f;
        const float speed = v[i].x * v[i].x + v[i].y * v[i].y;
        if (speed > 9) v[i].x *= 0.5f, v[i].y *= 0.5f;
        if (!reef_entity_is_null(prey)) reef_send(b, Bite, b->entities[i], prey, 3);
    }
}

static void swim(reef_block *b)
{
    Position *p = reef_inout(b, Position);
    const Velocity *v = reef_in(b, Velocity);
    for (uint32_t i = 0; next_row(b, &i); i++) {
        p[i].x = wrap(p[i].x + v[i].x * b->dt);
        p[i].y = wrap(p[i].y + v[i].y * b->dt);
    }
}

/* --overlap: how many fish are near, and what they have. Runs in the phases "inner" and "border". */
static void count_crowd(reef_block *b)
{
    const reef_ranks *r = *(reef_ranks *const *)b->context;
    const ReefCell *cell = reef_in(b, ReefCell);
    Crowd *crowd = reef_out(b, Crowd);
    for (uint32_t i = 0; i < b->count; i++) {
        reef_ranks_members m;
        crowd[i] = (Crowd){0, 0};
        for (uint32_t k = 0; reef_ranks_around(r, cell[i].cell, k, &m); k++)
            for (uint32_t j = 0; j < m.count; j++) {
                crowd[i].fish++;
                crowd[i].warmth += 0.1f * (float)reef_get(b->world, m.entities[j], Energy)->units;
            }
    }
}

/* Bites cost energy and leave a scar. */
static void suffer(reef_block *b)
{
    reef_events bites = reef_receive(b, Bitten);
    for (const Bitten *x; (x = reef_next_event(&bites)) != NULL;) {
        Energy *e = reef_mut(b->world, x->to, Energy);
        if (e) e->units -= x->units;
        if (e) reef_cmd_set(b, x->to, Scar, x->from, (uint32_t)reef_tick_count(b->world));
    }
}

/* Ageing, dying, spawning. */
static void live(reef_block *b)
{
    const Position *p = reef_in(b, Position);
    Energy *e = reef_inout(b, Energy);
    for (uint32_t i = 0; i < b->count; i++) {
        reef_random dice = reef_random_for(b, b->entities[i]);
        e[i].age++;
        e[i].units += reef_random_range(&dice, 0, 2) == 0;
        if (e[i].units <= 0 || e[i].age > 200) {
            reef_cmd_destroy(b, b->entities[i]);
        } else if (e[i].units > 24) {
            e[i].units -= 14;
            const float x = wrap(p[i].x + reef_random_float(&dice) * 12), y = wrap(p[i].y + 1);
            reef_send(b, Birth, b->entities[i], x, y, 12, reef_has(b->world, b->entities[i], Hunter));
        }
        if (e[i].age % 7 == 0) reef_cmd_add(b, b->entities[i], Awake);
        if (e[i].age % 11 == 0) reef_cmd_remove(b, b->entities[i], Awake);
    }
}

static uint32_t birth_cell(const void *value, void *context)
{
    const Birth *x = value;
    (void)context;
    return cell_at(x->x, x->y);
}

static void born(reef_world *w, reef_entity e, const void *value, void *context)
{
    const Birth *x = value;
    (void)context;
    reef_change(w, e, reef_with(Position, x->x, x->y), reef_with(Velocity, 1, 0), reef_with(Energy, x->units, 0),
                reef_default(Crowd));
    if (x->hunter) reef_add(w, e, Hunter);
    if (!reef_is_alive(w, x->from)) return;
    if (e.index % 3 == 0) reef_relate(w, e, Follows, x->from);
    if (e.index % 3 == 1) reef_relate(w, e, PartOf, x->from);
    reef_relate(w, e, Knows, x->from);
}

/* ---- filling ---- */

static uint32_t count_fish(uint32_t cell, void *context)
{
    (void)context;
    return FIRST_FISH + cell % 5;
}

static void make_fish(reef_world *w, reef_entity e, uint32_t cell, uint32_t i, void *context)
{
    reef_random dice = reef_random_of(w, 1, e);
    const float x = (float)(cell % SIDE * CELL_METRES), y = (float)(cell / SIDE * CELL_METRES);
    (void)context;
    reef_change(w, e, reef_with(Position, x + 9.9f * reef_random_float(&dice), y + 9.9f * reef_random_float(&dice)),
                reef_with(Velocity, 0, 0), reef_with(Energy, (int32_t)(5 + i % 9), (int32_t)(i * 13 % 100)),
                reef_default(Crowd));
    if (i % 6 == 0) reef_add(w, e, Hunter);
    if (i % 4 == 0) reef_set(w, e, Depth, 10.0 + i);
    if (i % 5 == 0) reef_set(w, e, Wish, (float)i, 0);
    if (i == 3) {
        char name[32];
        snprintf(name, sizeof name, "fish%u", cell);
        reef_set_name(w, e, name);
    }
    if (i % 7 == 2) reef_disable(w, e, Velocity);
    const reef_entity before = {e.index - 1, 1};
    if (i % 4 == 1) reef_relate(w, e, Knows, before); /* they will swim apart */
    for (uint32_t k = 0; k < i % 3; k++) reef_append(w, e, Scar, e, k);
}

/* ---- the run ---- */

typedef struct options {
    uint32_t ticks, threads, balance, save_at, die_at, hang_at, timeout;
    int die, hang;
    const char *save, *load;
    bool overlap, beyond, peek;
} options;

static options read_options(int argc, char **argv)
{
    options o = {.ticks = 40, .timeout = 600000, .die = -1, .hang = -1};
    for (int i = 1; i < argc; i++) {
        const char *next = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "--ticks") == 0) o.ticks = (uint32_t)atoi(next), i++;
        else if (strcmp(argv[i], "--threads") == 0) o.threads = (uint32_t)atoi(next), i++;
        else if (strcmp(argv[i], "--balance") == 0) o.balance = (uint32_t)atoi(next), i++;
        else if (strcmp(argv[i], "--load") == 0) o.load = next, i++;
        else if (strcmp(argv[i], "--timeout") == 0) o.timeout = (uint32_t)atoi(next), i++;
        else if (strcmp(argv[i], "--overlap") == 0) o.overlap = true;
        else if (strcmp(argv[i], "--beyond") == 0) o.beyond = true;
        else if (strcmp(argv[i], "--peek") == 0) o.peek = true;
        else if (strcmp(argv[i], "--die") == 0 && i + 2 < argc)
            o.die = atoi(next), o.die_at = (uint32_t)atoi(argv[i + 2]), i += 2;
        else if (strcmp(argv[i], "--hang") == 0 && i + 2 < argc)
            o.hang = atoi(next), o.hang_at = (uint32_t)atoi(argv[i + 2]), i += 2;
        else if (strcmp(argv[i], "--save") == 0 && i + 2 < argc)
            o.save = next, o.save_at = (uint32_t)atoi(argv[i + 2]), i += 2;
        else fprintf(stderr, "what is %s?\n", argv[i]), exit(2);
    }
    return o;
}

static void die(const reef_ranks *r, const char *what, reef_status s)
{
    fprintf(stderr, "rank %d: %s: %s: %s\n", reef_ranks_rank(r), what, reef_status_name(s), reef_ranks_reason(r));
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* --beyond: hunters bite one fish of the middle, wherever they are. */
static void bite_far(reef_block *b)
{
    const reef_entity far = {1 + (SIDE / 2 * SIDE + SIDE / 2) * REEF_RANKS_RANGE, 1};
    for (uint32_t i = 0; i < b->count; i++) reef_send(b, Bite, b->entities[i], far, 1);
}

/* --peek: fish look at the one that they follow, wherever it is. */
static int32_t seen_far;
static void look_far(reef_block *b)
{
    for (uint32_t i = 0; i < b->count; i++) {
        const Energy *e = reef_get(b->world, reef_target(b->world, b->entities[i], Knows), Energy);
        if (e) seen_far += e->units;
    }
}

/* A rank fails: it is killed, or does nothing any more. */
static void fail(const reef_ranks *r, const options *o, uint64_t tick)
{
    if (reef_ranks_rank(r) == o->die && tick == o->die_at) raise(SIGKILL);
    while (reef_ranks_rank(r) == o->hang && tick == o->hang_at) pause();
}

static void add_systems(reef_world *w, reef_ranks **r, const options *o)
{
    const reef_system_desc list[] = {
        {.name = "look",
         .function = look,
         .context = r,
         .text = "in Position, in ReefCell, Velocity; reads Position Hunter, sends Bite"},
        {.name = "swim", .function = swim, .text = "Position, in Velocity"},
        {.name = "suffer", .function = suffer, .text = "; receives Bitten, writes Energy, adds Scar"},
        {.name = "live",
         .function = live,
         .text = "in Position, Energy; reads Hunter, sends Birth, destroys, adds Awake, removes Awake"},
        {.name = "bite_far", .function = bite_far, .text = "in Position, in Hunter; sends Bite", .off = !o->beyond},
        {.name = "look_far", .function = look_far, .text = "in Position; reads Energy Knows", .off = !o->peek},
        {.name = "crowd_inner",
         .function = count_crowd,
         .context = r,
         .phase = "inner",
         .text = "in ReefCell, out Crowd, with ReefInner; reads Energy"},
        {.name = "crowd_border",
         .function = count_crowd,
         .context = r,
         .phase = "border",
         .text = "in ReefCell, out Crowd, !ReefInner, !ReefGhost; reads Energy"},
    };
    if (reef_ranks_phases(w) != REEF_OK) MPI_Abort(MPI_COMM_WORLD, 1);
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++)
        if (reef_system_is_null(reef_system_new(w, &list[i]))) {
            char text[200];
            reef_error_text(w, text, sizeof text);
            fprintf(stderr, "%s\n", text);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
}

static double cell_energy(reef_ranks *r, uint32_t cell, void *context)
{
    reef_world *w = context;
    reef_ranks_members m;
    double sum = 0;
    if (reef_ranks_around(r, cell, 0, &m))
        for (uint32_t i = 0; i < m.count; i++) sum += 0.1 * reef_get(w, m.entities[i], Energy)->units;
    return sum;
}

static void report(reef_ranks *r, reef_world *w)
{
    uint64_t count, digest;
    double energy;
    char wrong[200];
    reef_status s = reef_ranks_count(r, &count);
    if (s == REEF_OK) s = reef_ranks_digest(r, &digest);
    if (s == REEF_OK) s = reef_ranks_sum_cells(r, cell_energy, &energy);
    if (s != REEF_OK) die(r, "asking", s);
    if (reef_validate(w, wrong, sizeof wrong) != REEF_OK)
        fprintf(stderr, "%s\n", wrong), die(r, "validating", REEF_CORRUPT);
    if (reef_ranks_rank(r) == 0)
        printf("tick %" PRIu64 ": %" PRIu64 " fish, %.17g, %016" PRIx64 "\n", reef_tick_count(w), count, energy,
               digest);
}

int main(int argc, char **argv)
{
    int level;
    char reason[REEF_DETAIL_MAX];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    const options o = read_options(argc, argv);
    reef_world *w = reef_world_new(&(reef_world_config){.seed = 7});
    reef_ranks *r = NULL;
    reef_pool *pool = o.threads > 1 ? reef_pool_new(&(reef_pool_config){.threads = o.threads}) : NULL;
    if (pool) reef_set_pool(w, pool);
    reef_spawn(w, reef_with(Depth, 1)); /* each rank has this one */
    add_systems(w, &r, &o);
    const reef_component ghosts[] = {reef_id(Position), reef_id(Hunter), reef_id(Energy), reef_id(PartOf)};
    const reef_ranks_message messages[] = {
        {.sent = reef_id(Bite), .arrives = reef_id(Bitten)},
        {.sent = reef_id(Birth), .cell = birth_cell, .born = born},
    };
    const reef_ranks_config config = {.cells = SIDE * SIDE,
                                      .placed = "in Position",
                                      .cell_of = cell_of,
                                      .near = near_cells,
                                      .ghosts = ghosts,
                                      .ghost_count = 4,
                                      .messages = messages,
                                      .message_count = 2,
                                      .balance_ticks = o.balance,
                                      .overlap = o.overlap,
                                      .timeout_ms = o.timeout,
                                      .context = w};
    r = reef_ranks_new(MPI_COMM_WORLD, w, &config, reason);
    if (r == NULL) fprintf(stderr, "%s\n", reason), MPI_Abort(MPI_COMM_WORLD, 1);
    reef_status s = o.load ? reef_ranks_load(r, o.load) : reef_ranks_fill(r, count_fish, make_fish);
    if (s != REEF_OK) die(r, o.load ? "loading" : "filling", s);
    report(r, w);
    while (reef_tick_count(w) < o.ticks) {
        fail(r, &o, reef_tick_count(w));
        s = reef_ranks_tick(r, 0.5f);
        if (s != REEF_OK) die(r, "ticking", s);
        report(r, w);
        if (o.save && reef_tick_count(w) == o.save_at && (s = reef_ranks_save(r, o.save)) != REEF_OK)
            die(r, "saving", s);
    }
#ifndef REEF_CHECKED
    if (o.peek) fprintf(stderr, "this isn't the checked build\n");
#endif
    const reef_ranks_stats x = reef_ranks_statistics(r);
    fprintf(stderr,
            "rank %d: %" PRIu64 " here, %" PRIu64 " ghosts, %" PRIu64 " remote, %" PRIu64 " out, %" PRIu64
            " in, %" PRIu64 " bytes, %" PRIu64 " sends\n",
            reef_ranks_rank(r), x.entities, x.ghosts, x.remote, x.moved_out, x.moved_in, x.bytes_sent, x.sends);
    reef_ranks_free(r);
    reef_world_free(w);
    reef_pool_free(pool);
    MPI_Finalize();
    return 0;
}
