/* What a tick over ranks costs: bytes and messages by the number of ranks and the length of the border.
 *
 *     mpirun -n 2 reef-bench-ranks [--side CELLS] [--fish PER_CELL] [--ticks N] [--delay US] [--bandwidth MB_PER_S]
 *
 * A torus of side x side cells, each with `fish` entities of 32 bytes that swim and look at their cell. Prints a line,
 * between tabs: ranks, side, fish, and of a tick: border cells, ghosts, those sent, bytes, sends, moves (all over the
 * ranks); milliseconds in systems and in everything else (of the slowest rank); the share of the latter.
 *
 * --delay and --bandwidth simulate a network: each message waits before it is sent (MPI's profiling interface). */
#include "reef_ranks.h"

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
    double delay_us, bytes_per_us;
} o = {64, 50, 50, 0, 0};

/* ---- a simulated network ---- */

int MPI_Isend(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request)
{
    if (o.delay_us > 0 || o.bytes_per_us > 0) {
        const double wait = o.delay_us + (o.bytes_per_us > 0 ? count / o.bytes_per_us : 0),
                     until = MPI_Wtime() + wait * 1e-6;
        while (MPI_Wtime() < until) {}
    }
    return PMPI_Isend(data, count, type, to, tag, comm, request);
}

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

static void measure(reef_ranks *r)
{
    const reef_ranks_stats before = reef_ranks_statistics(r);
    for (uint32_t i = 0; i < o.ticks; i++)
        if (reef_ranks_tick(r, 1) != REEF_OK) {
            fprintf(stderr, "%s\n", reef_ranks_reason(r));
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
    const reef_ranks_stats x = reef_ranks_statistics(r);
    int64_t n[] = {border_cells(r),
                   (int64_t)x.ghosts,
                   (int64_t)(x.ghosts_sent - before.ghosts_sent),
                   (int64_t)(x.bytes_sent - before.bytes_sent),
                   (int64_t)(x.sends - before.sends),
                   (int64_t)(x.moved_out - before.moved_out)};
    double t[] = {x.seconds_tick - before.seconds_tick, x.seconds_exchange - before.seconds_exchange};
    MPI_Allreduce(MPI_IN_PLACE, t, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (reef_ranks_sum(r, n, 6) != REEF_OK || reef_ranks_rank(r) != 0) return;
    const double k = o.ticks;
    printf("%d\t%u\t%u\t%lld\t%lld\t%.0f\t%.0f\t%.1f\t%.1f\t%.2f\t%.2f\t%.0f%%\n", reef_ranks_size(r), o.side, o.fish,
           (long long)n[0], (long long)n[1], (double)n[2] / k, (double)n[3] / k, (double)n[4] / k, (double)n[5] / k,
           t[0] * 1e3 / k, t[1] * 1e3 / k, 100 * t[1] / (t[0] + t[1]));
}

static void read_options(int argc, char **argv)
{
    for (int i = 1; i + 1 < argc; i += 2) {
        const double x = atof(argv[i + 1]);
        if (strcmp(argv[i], "--side") == 0) o.side = (uint32_t)x;
        else if (strcmp(argv[i], "--fish") == 0) o.fish = (uint32_t)x;
        else if (strcmp(argv[i], "--ticks") == 0) o.ticks = (uint32_t)x;
        else if (strcmp(argv[i], "--delay") == 0) o.delay_us = x;
        else if (strcmp(argv[i], "--bandwidth") == 0) o.bytes_per_us = x;
        else fprintf(stderr, "what is %s?\n", argv[i]), exit(2);
    }
    if (o.side < 3 || o.ticks == 0) fprintf(stderr, "--side is 3 or more, --ticks 1 or more\n"), exit(2);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    read_options(argc, argv);
    char reason[REEF_DETAIL_MAX];
    reef_ranks *r = NULL;
    reef_world *w = reef_world_new(NULL);
    reef_system_new(w, &(reef_system_desc){.name = "look",
                                           .function = look,
                                           .context = &r,
                                           .text = "in Position, in ReefCell, Velocity; reads Position"});
    reef_system(w, swim, "Position, in Velocity");
    const reef_component ghosts[] = {reef_id(Position)};
    r = reef_ranks_new(MPI_COMM_WORLD, w,
                       &(reef_ranks_config){.cells = o.side * o.side,
                                            .placed = "in Position",
                                            .cell_of = cell_of,
                                            .near = near_cells,
                                            .ghosts = ghosts,
                                            .ghost_count = 1},
                       reason);
    if (r == NULL || reef_ranks_fill(r, count, make) != REEF_OK) {
        fprintf(stderr, "%s\n", r ? reef_ranks_reason(r) : reason);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    measure(r);
    reef_ranks_free(r);
    reef_world_free(w);
    MPI_Finalize();
    return 0;
}
