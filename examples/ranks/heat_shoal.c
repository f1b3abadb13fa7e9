/* A shoal that carries heat through the sea, over ranks: mpirun -n 4 heat_shoal */
#include <reef_ranks.h>
#include <stdio.h>

enum { CELLS = 16 }; /* a ring of water, each cell 10 m long */

typedef struct {
    float x;
} Position;
typedef struct {
    double units;
} Heat;
REEF_COMPONENT(Position);
REEF_COMPONENT(Heat);
REEF_COMPONENT_AS(NextHeat, Heat);

static void cell_of(const reef_block *b, uint32_t *cells, void *context)
{
    const Position *p = reef_in(b, Position);
    (void)context;
    for (uint32_t i = 0; i < b->count; i++) cells[i] = (uint32_t)(p[i].x / 10) % CELLS;
}

static uint32_t near_cells(uint32_t cell, uint32_t *near, void *context)
{
    (void)context;
    near[0] = (cell + CELLS - 1) % CELLS;
    near[1] = (cell + 1) % CELLS;
    return 2;
}

/* A fish gets a little of the warmth of all fish in its cell and the two beside it. Their order is the same on any
 * number of ranks, and so is the sum. */
static void warm(reef_block *b)
{
    const reef_ranks *ranks = *(reef_ranks *const *)b->context;
    const ReefCell *cell = reef_in(b, ReefCell);
    const Heat *heat = reef_in(b, Heat);
    NextHeat *next = reef_out(b, NextHeat);
    for (uint32_t i = 0; i < b->count; i++) {
        reef_ranks_members m;
        next[i].units = heat[i].units;
        for (uint32_t k = 0; reef_ranks_around(ranks, cell[i].cell, k, &m); k++)
            for (uint32_t j = 0; j < m.count; j++)
                next[i].units += 0.01 * (reef_get(b->world, m.entities[j], Heat)->units - heat[i].units);
    }
}

static void swim(reef_block *b)
{
    Position *p = reef_inout(b, Position);
    Heat *heat = reef_out(b, Heat);
    const NextHeat *next = reef_in(b, NextHeat);
    for (uint32_t i = 0; i < b->count; i++) {
        p[i].x += 1 + (float)(b->entities[i].index % 5);
        if (p[i].x >= 10 * CELLS) p[i].x -= 10 * CELLS;
        heat[i].units = next[i].units;
    }
}

static uint32_t six(uint32_t cell, void *context) { return (void)cell, (void)context, 6; }

static void make(reef_world *w, reef_entity e, uint32_t cell, uint32_t i, void *context)
{
    (void)context;
    reef_change(w, e, reef_with(Position, (float)(10 * cell + i)), reef_with(Heat, cell == 0 ? 1000 : 0),
                reef_default(NextHeat));
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    reef_ranks *ranks = NULL;
    reef_world *w = reef_world_new(NULL);
    reef_system_new(w, &(reef_system_desc){.name = "warm",
                                           .function = warm,
                                           .context = &ranks,
                                           .text = "in Heat, in ReefCell, out NextHeat; reads Heat"});
    reef_system(w, swim, "Position, out Heat, in NextHeat");
    const reef_component ghosts[] = {reef_id(Heat)};
    ranks = reef_ranks_new(MPI_COMM_WORLD, w,
                           &(reef_ranks_config){.cells = CELLS,
                                                .placed = "in Position",
                                                .cell_of = cell_of,
                                                .near = near_cells,
                                                .ghosts = ghosts,
                                                .ghost_count = 1},
                           NULL);
    reef_ranks_fill(ranks, six, make);
    for (int i = 0; i < 100; i++) reef_ranks_tick(ranks, 1);
    uint64_t digest;
    reef_ranks_digest(ranks, &digest);
    if (reef_ranks_rank(ranks) == 0) printf("after 100 ticks: %016llx\n", (unsigned long long)digest);
    reef_ranks_free(ranks);
    reef_world_free(w);
    MPI_Finalize();
}
