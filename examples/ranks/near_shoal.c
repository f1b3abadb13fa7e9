/* A shoal that keeps together, over ranks, asking a place for neighbours: mpirun -n 4 near_shoal */
#include <reef/place.h>
#include <reef_ranks.h>
#include <stdio.h>

enum { CELLS = 16, REACH = 10, FISH = 12, FOUND_MAX = 64 }; /* strips of water, each 10 m wide */

typedef struct {
    float x, y;
} Position;
typedef struct {
    float x, y;
} Velocity;
REEF_COMPONENT(Position);
REEF_COMPONENT(Velocity);
REEF_FIELDS(Position, x, y);
REEF_FIELDS(Velocity, x, y);
REEF_PLACE(Position, x, y, .cell = 5, .carries = "Velocity");

static void cell_of(const reef_block *b, uint32_t *cells, void *context)
{
    const Position *p = reef_in(b, Position);
    (void)context;
    for (uint32_t i = 0; i < b->count; i++) {
        const float strip = p[i].x / REACH;
        cells[i] = strip < 0 ? 0 : strip >= CELLS ? CELLS - 1 : (uint32_t)strip;
    }
}

static uint32_t near_cells(uint32_t cell, uint32_t *near, void *context)
{
    uint32_t n = 0;
    (void)context;
    if (cell > 0) near[n++] = cell - 1;
    if (cell + 1 < CELLS) near[n++] = cell + 1;
    return n;
}

/* Neighbours come by index, ghosts among them, so these sums of floats are the same on any number of ranks. */
static void keep_together(reef_block *b)
{
    const reef_place *sea = reef_placed(b, Position);
    const Velocity *velocity = reef_place_carried(sea, Velocity);
    const Position *p = reef_in(b, Position);
    Velocity *v = reef_inout(b, Velocity);
    for (uint32_t i = 0; i < b->count; i++) {
        reef_near found[FOUND_MAX];
        const reef_place_ask ask = {.at = {(double)p[i].x, (double)p[i].y}, .radius = 4, .except = b->entities[i]};
        uint32_t n = reef_place_within(sea, &ask, found, FOUND_MAX);
        if (n > FOUND_MAX) n = FOUND_MAX;
        for (uint32_t k = 0; k < n; k++) {
            const Velocity *other = &velocity[reef_place_slot(sea, found[k].entity)];
            v[i].x += 0.02f * found[k].offset[0] + 0.05f * (other->x - v[i].x);
            v[i].y += 0.02f * found[k].offset[1] + 0.05f * (other->y - v[i].y);
        }
    }
}

static void swim(reef_block *b)
{
    Position *p = reef_inout(b, Position);
    const Velocity *v = reef_in(b, Velocity);
    for (uint32_t i = 0; i < b->count; i++) {
        p[i].x += 0.1f * v[i].x;
        p[i].y += 0.1f * v[i].y;
    }
}

static uint32_t fish(uint32_t cell, void *context) { return (void)cell, (void)context, FISH; }

static void make(reef_world *w, reef_entity e, uint32_t cell, uint32_t i, void *context)
{
    (void)context;
    reef_change(w, e, reef_with(Position, (float)(REACH * cell) + 0.8f * (float)i, (float)(cell * 5 + i * 7 % 12)),
                reef_with(Velocity, cell < CELLS / 2 ? 1.5f : -1.5f, 0.5f * (float)(i % 3) - 0.5f));
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    reef_world *w = reef_world_new(NULL);
    reef_system(w, keep_together, "in Position, Velocity; reads Position as placed");
    reef_system(w, swim, "Position, in Velocity");
    const reef_component ghosts[] = {reef_id(Position), reef_id(Velocity)};
    reef_ranks *ranks = reef_ranks_new(MPI_COMM_WORLD, w,
                                       &(reef_ranks_config){.cells = CELLS,
                                                            .placed = "in Position",
                                                            .cell_of = cell_of,
                                                            .near = near_cells,
                                                            .ghosts = ghosts,
                                                            .ghost_count = 2,
                                                            .reach = REACH},
                                       NULL);
    reef_ranks_fill(ranks, fish, make);
    for (int i = 0; i < 100; i++) reef_ranks_tick(ranks, 1);
    uint64_t digest;
    reef_ranks_digest(ranks, &digest);
    if (reef_ranks_rank(ranks) == 0) printf("after 100 ticks: %016llx\n", (unsigned long long)digest);
    reef_ranks_free(ranks);
    reef_world_free(w);
    MPI_Finalize();
}
