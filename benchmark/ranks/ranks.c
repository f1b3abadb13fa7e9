/* What a tick over ranks costs: time, bytes and messages by the number of ranks and the length of the border.
 *
 *     mpirun -n 2 reef-bench-ranks [--side CELLS] [--fish PER_CELL] [--ticks N] [--overlap 1]
 *                                  [--delay US] [--bandwidth MB_PER_S]
 *
 * A torus of side x side cells, each with `fish` entities of 32 bytes that swim and look at their cell; with --overlap
 * they look while ghosts travel. Prints a line, between tabs:
 *
 *     ranks side fish            as given
 *     border ghosts              cells at borders, and ghosts, of all ranks
 *     changed bytes messages moves    of a tick, of all ranks: ghosts that were sent, bytes, messages, entities that
 *                                went to another rank
 *     collectives                of a tick: collective calls of MPI
 *     ms                         a tick: the slowest rank's, the median of all ticks
 *     systems work waiting       of this, in a rank's mean: in reef_tick and its like, in the library, and waiting for
 *                                other ranks; medians
 *     share                      of a tick that isn't systems
 *     KiB index library          memory of a rank's world, in the mean; of this, its entity index; the library's own
 *
 * --delay and --bandwidth simulate a network (network.h). */
#define _POSIX_C_SOURCE 200809L
#include "network.h"
#include "reef_ranks.h"
#include "reef/random.h"
#include "reef/stats.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Position {
    float x, y;
} Position;
typedef struct Velocity {
    float x, y;
} Velocity;
typedef struct Load {
    uint64_t a, b;
} Load;
REEF_COMPONENT(Position);
REEF_COMPONENT(Velocity);
REEF_COMPONENT(Load);

static struct {
    uint32_t side, fish, ticks;
    bool overlap;
    double delay_us, megabytes_per_s;
} o = {64, 50, 50, false, 0, 0};

/* ---- the scene ---- */

static void cell_of(const reef_block *b, uint32_t *cells, void *context)
{
    const Position *p = reef_in(b, Position);
    (void)context;
    for (uint32_t i = 0; i < b->count; i++) cells[i] = (uint32_t)p[i].y * o.side + (uint32_t)p[i].x;
}

static uint32_t near_cells(uint32_t c, uint32_t *near, void *context)
{
    uint32_t n = 0;
    const uint32_t s = o.side;
    (void)context;
    for (uint32_t dy = 0; dy < 3; dy++)
        for (uint32_t dx = 0; dx < 3; dx++)
            if (dx != 1 || dy != 1) near[n++] = (c / s + dy + s - 1) % s * s + (c % s + dx + s - 1) % s;
    return n;
}

static void look(reef_block *b)
{
    const reef_ranks *r = *(reef_ranks *const *)b->context;
    const ReefCell *cell = reef_in(b, ReefCell);
    const Position *p = reef_in(b, Position);
    Velocity *v = reef_inout(b, Velocity);
    for (uint32_t i = 0; i < b->count; i++) {
        reef_ranks_members m;
        float x = 0, y = 0;
        if (!reef_ranks_around(r, cell[i].cell, 0, &m)) continue;
        for (uint32_t k = 0; k < m.count; k++) {
            const Position *q = reef_get(b->world, m.entities[k], Position);
            x += q->x - p[i].x;
            y += q->y - p[i].y;
        }
        v[i].x = v[i].x * 0.9f + x * 0.001f;
        v[i].y = v[i].y * 0.9f + y * 0.001f;
    }
}

static float wrap(float x)
{
    const float size = (float)o.side;
    x = x < 0 ? x + size : x >= size ? x - size : x;
    return x >= size ? 0 : x;
}

static void swim(reef_block *b)
{
    Position *p = reef_inout(b, Position);
    const Velocity *v = reef_in(b, Velocity);
    for (uint32_t i = 0; i < b->count; i++) {
        reef_random dice = reef_random_for(b, b->entities[i]);
        p[i].x = wrap(p[i].x + v[i].x + 0.02f * (reef_random_float(&dice) - 0.5f));
        p[i].y = wrap(p[i].y + v[i].y + 0.02f * (reef_random_float(&dice) - 0.5f));
    }
}

static uint32_t count(uint32_t cell, void *context)
{
    (void)cell;
    (void)context;
    return o.fish;
}

static void make(reef_world *w, reef_entity e, uint32_t cell, uint32_t i, void *context)
{
    reef_random dice = reef_random_of(w, 1, e);
    const float x = (float)(cell % o.side) + 0.98f * reef_random_float(&dice);
    const float y = (float)(cell / o.side) + 0.98f * reef_random_float(&dice);
    (void)context;
    reef_change(w, e, reef_with(Position, x, y), reef_with(Velocity, 0, 0), reef_with(Load, i, cell));
}

/* ---- the measurement ---- */

/* Cells of this rank that are near a cell of another one. */
static int64_t border_cells(const reef_ranks *r)
{
    int64_t n = 0;
    for (uint32_t c = 0; c < o.side * o.side; c++) {
        uint32_t near[REEF_RANKS_NEAR_MAX];
        bool border = false;
        if (reef_ranks_owner(r, c) != (uint32_t)reef_ranks_rank(r)) continue;
        for (uint32_t i = near_cells(c, near, NULL); i-- > 0;)
            border |= reef_ranks_owner(r, near[i]) != (uint32_t)reef_ranks_rank(r);
        n += border;
    }
    return n;
}

enum { TICK, SYSTEMS, WORK, WAITING, TIMES };

static int time_order(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *x, uint32_t n)
{
    qsort(x, n, sizeof *x, time_order);
    return n % 2 ? x[n / 2] : (x[n / 2 - 1] + x[n / 2]) / 2;
}

/* The times of a tick, in milliseconds: the slowest rank's, and means of the others. */
static void tick_measure(reef_ranks *r, double *t)
{
    const reef_ranks_stats before = reef_ranks_statistics(r);
    if (reef_ranks_tick(r, 1) != REEF_OK) {
        fprintf(stderr, "%s\n", reef_ranks_reason(r));
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    const reef_ranks_stats x = reef_ranks_statistics(r);
    const double systems = x.seconds_tick - before.seconds_tick, rest = x.seconds_exchange - before.seconds_exchange,
                 waiting = x.seconds_waiting - before.seconds_waiting;
    double sum[] = {0, systems, rest - waiting, waiting}, most = systems + rest;
    MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, sum, TIMES, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    t[TICK] = 1e3 * most;
    for (int i = SYSTEMS; i < TIMES; i++) t[i] = 1e3 * sum[i] / reef_ranks_size(r);
}

static void measure(reef_ranks *r, const reef_world *w)
{
    double *t = malloc((size_t)o.ticks * TIMES * sizeof *t), of_tick[TIMES], m[TIMES];
    if (t == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
    tick_measure(r, of_tick); /* the first one makes room */
    const reef_ranks_stats before = reef_ranks_statistics(r);
    const unsigned long collectives = network_collectives();
    for (uint32_t i = 0; i < o.ticks; i++) {
        tick_measure(r, of_tick);
        for (uint32_t k = 0; k < TIMES; k++) t[k * o.ticks + i] = of_tick[k];
    }
    const reef_ranks_stats x = reef_ranks_statistics(r);
    const reef_stats s = reef_world_stats(w);
    int64_t n[] = {border_cells(r),
                   (int64_t)x.ghosts,
                   (int64_t)(x.ghosts_sent - before.ghosts_sent),
                   (int64_t)(x.bytes_sent - before.bytes_sent),
                   (int64_t)(x.sends - before.sends),
                   (int64_t)(x.moved_out - before.moved_out),
                   (int64_t)s.bytes_total,
                   (int64_t)s.bytes_index,
                   (int64_t)reef_ranks_bytes(r)};
    for (uint32_t k = 0; k < TIMES; k++) m[k] = median(t + k * o.ticks, o.ticks);
    free(t);
    if (reef_ranks_sum(r, n, 9) != REEF_OK || reef_ranks_rank(r) != 0) return;
    const double k = o.ticks, calls = (double)(network_collectives() - collectives) - 1,
                 all = 1024.0 * reef_ranks_size(r);
    printf("%d\t%u\t%u\t%lld\t%lld\t%.0f\t%.0f\t%.1f\t%.1f\t%.1f\t%.2f\t%.2f\t%.2f\t%.2f\t%.0f%%\t%.0f\t%.0f\t%.0f\n",
           reef_ranks_size(r), o.side, o.fish, (long long)n[0], (long long)n[1], (double)n[2] / k, (double)n[3] / k,
           (double)n[4] / k, (double)n[5] / k, calls / k, m[TICK], m[SYSTEMS], m[WORK], m[WAITING],
           100 * (m[WORK] + m[WAITING]) / (m[SYSTEMS] + m[WORK] + m[WAITING]), (double)n[6] / all, (double)n[7] / all,
           (double)n[8] / all);
}

static void read_options(int argc, char **argv)
{
    for (int i = 1; i + 1 < argc; i += 2) {
        const double x = atof(argv[i + 1]);
        if (strcmp(argv[i], "--side") == 0) o.side = (uint32_t)x;
        else if (strcmp(argv[i], "--fish") == 0) o.fish = (uint32_t)x;
        else if (strcmp(argv[i], "--ticks") == 0) o.ticks = (uint32_t)x;
        else if (strcmp(argv[i], "--overlap") == 0) o.overlap = x != 0;
        else if (strcmp(argv[i], "--delay") == 0) o.delay_us = x;
        else if (strcmp(argv[i], "--bandwidth") == 0) o.megabytes_per_s = x;
        else fprintf(stderr, "what is %s?\n", argv[i]), exit(2);
    }
    if (o.side < 3 || o.ticks == 0) fprintf(stderr, "--side is 3 or more, --ticks 1 or more\n"), exit(2);
}

static void add_systems(reef_world *w, reef_ranks **r)
{
    const reef_system_desc list[] = {
        {.name = "look",
         .function = look,
         .context = r,
         .text = "in Position, in ReefCell, Velocity; reads Position",
         .off = o.overlap},
        {.name = "look_inner",
         .function = look,
         .context = r,
         .phase = "inner",
         .text = "in Position, in ReefCell, Velocity, with ReefInner; reads Position"},
        {.name = "look_border",
         .function = look,
         .context = r,
         .phase = "border",
         .text = "in Position, in ReefCell, Velocity, !ReefInner; reads Position"},
        {.name = "swim", .function = swim, .text = "Position, in Velocity"},
    };
    bool ok = reef_ranks_phases(w) == REEF_OK;
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++)
        ok = ok && !reef_system_is_null(reef_system_new(w, &list[i]));
    if (!ok) MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    read_options(argc, argv);
    char reason[REEF_DETAIL_MAX];
    reef_ranks *r = NULL;
    reef_world *w = reef_world_new(NULL);
    add_systems(w, &r);
    const reef_component ghosts[] = {reef_id(Position)};
    r = reef_ranks_new(MPI_COMM_WORLD, w,
                       &(reef_ranks_config){.cells = o.side * o.side,
                                            .placed = "in Position",
                                            .cell_of = cell_of,
                                            .near = near_cells,
                                            .ghosts = ghosts,
                                            .ghost_count = 1,
                                            .overlap = o.overlap},
                       reason);
    if (r == NULL || reef_ranks_fill(r, count, make) != REEF_OK) {
        fprintf(stderr, "%s\n", r ? reef_ranks_reason(r) : reason);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (!network_begin(o.delay_us, o.megabytes_per_s)) MPI_Abort(MPI_COMM_WORLD, 1);
    measure(r, w);
    network_end();
    reef_ranks_free(r);
    reef_world_free(w);
    MPI_Finalize();
    return 0;
}
