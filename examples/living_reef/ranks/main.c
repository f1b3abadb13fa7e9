/* living_reef_ranks: the living reef over the ranks of MPI.
 *
 *     mpirun -n 4 ./run --ranks [--ticks N] [--size METRES] [--seed N] [--threads N] [--out DIR] [--quiet]
 *
 * Rank 0 writes populations.csv, which is the same on any number of ranks and threads. (It isn't that of the living
 * reef without --ranks: a catch takes two ticks here.) */
#include "../options.h"
#include "../output.h"
#include "../record.h"
#include "shoals.h"
#include <reef/random.h>
#include <reef/pool.h>
#include <reef/stats.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_FISH = 3 }; /* a stream of random numbers */

/* Counts over all ranks. */
enum {
    FISH = 0,
    FISH_ENERGY,
    BORN,
    DIED,
    FLIGHT,
    LAYER,
    POPULATION = LAYER + LAYERS,
    COUNTS = POPULATION + SPECIES_MAX
};

typedef struct run {
    const options *o;
    species_table table;
    reef_world *w;
    reef_ranks *ranks;
    reef_query fish, water;
    uint32_t fish_before; /* number of the first fish of the band that is being filled */
    int64_t energy;       /* at the start */
    Sample *samples;
    uint32_t sample_count;
    output files; /* of rank 0 */
} run;

static _Noreturn void stop(run *x, const char *what)
{
    char text[300] = "";
    if (x->w) reef_error_text(x->w, text, sizeof text);
    fprintf(stderr, "living_reef: %s: %s%s%s\n", what, reef_ranks_reason(x->ranks), text[0] ? "; " : "", text);
    output_discard(&x->files);
    MPI_Abort(MPI_COMM_WORLD, 1);
    abort();
}

/* ---- dividing ---- */

static void cell_of(const reef_block *b, uint32_t *cells, void *context)
{
    const Sea *sea = reef_single_get((reef_world *)context, Sea);
    const Position *at = reef_in(b, Position);
    const ReefCell *was = reef_in(b, ReefCell);
    for (uint32_t i = 0; i < b->count; i++) cells[i] = at ? band_of(sea, sea_column(at[i].y)) : was[i].cell;
}

static uint32_t near_bands(uint32_t band, uint32_t *near, void *context)
{
    const uint32_t bands = reef_single_get((reef_world *)context, Sea)->last + 1;
    if (bands == 1) return 0;
    near[0] = (band + bands - 1) % bands;
    near[1] = (band + 1) % bands;
    return bands == 2 ? 1 : 2;
}

static uint32_t rows_of(const Sea *s, uint32_t band) { return band < s->last ? BAND_ROWS : s->side - band * BAND_ROWS; }

/* ---- filling ---- */

static uint32_t water_count(uint32_t band, void *context)
{
    const Sea *s = reef_single_get((reef_world *)context, Sea);
    return rows_of(s, band) * s->side;
}

static void water_make(reef_world *w, reef_entity e, uint32_t band, uint32_t i, void *context)
{
    (void)band, (void)i, (void)context;
    reef_change(w, e, reef_default(Water), reef_default(Ground), reef_default(Mixed), reef_default(Crowd),
                reef_default(Meal));
}

/* Fish are divided evenly among bands; most of them swim to another one at once, where their group is. */
static uint32_t fish_before(const run *x, uint32_t band)
{
    return (uint32_t)((uint64_t)species_total(&x->table) * band / (reef_single_get(x->w, Sea)->last + 1));
}

static run *filled; /* for the functions below, which get the world as their context */

static uint32_t fish_count(uint32_t band, void *context)
{
    (void)context;
    return fish_before(filled, band + 1) - fish_before(filled, band);
}

static void fish_make(reef_world *w, reef_entity e, uint32_t band, uint32_t i, void *context)
{
    const species_table *table = &filled->table;
    uint32_t number = fish_before(filled, band) + i, kind = 0;
    (void)context;
    while (number >= table->of[kind].number) number -= table->of[kind++].number;
    reef_random r = reef_random_of(w, FIRST_FISH, e);
    const species *of = &table->of[kind];
    const fish_first f = fish_hatched(w, reef_single_get(w, Sea), of, (Species){kind}, e, &r);
    reef_change(w, e, reef_with(Position, f.at.x, f.at.y), reef_with(Velocity, f.heading.x, f.heading.y),
                reef_with(Species, kind), reef_with(Energy, f.energy.units), reef_with(Age, f.age.ticks, f.age.span),
                reef_default(Place), reef_with(Leader, ALONE));
    if (of->prey != 0) reef_set(w, e, Hunter, 0);
    if (f.adult) reef_add(w, e, Adult);
}

/* ---- counting ---- */

static void count_all(run *x, int64_t *n)
{
    memset(n, 0, COUNTS * sizeof *n);
    for (reef_block b = reef_begin(x->w, x->fish); reef_next(&b);) {
        const Species *kind = reef_in(&b, Species);
        const Energy *energy = reef_in(&b, Energy);
        n[FISH] += b.count;
        for (uint32_t i = 0; i < b.count; i++) {
            n[POPULATION + kind[i].index]++;
            n[FISH_ENERGY] += energy[i].units;
        }
    }
    for (reef_block b = reef_begin(x->w, x->water); reef_next(&b);) {
        const Water *water = reef_in(&b, Water);
        for (uint32_t i = 0; i < b.count; i++)
            for (int l = 0; l < LAYERS; l++) n[LAYER + l] += water[i].of[l];
    }
    n[BORN] = (int64_t)reef_single_get(x->w, Tally)->born;
    n[DIED] = (int64_t)reef_single_get(x->w, Tally)->died;
    n[FLIGHT] = reef_single_get(x->w, Flight)->units;
    if (reef_ranks_sum(x->ranks, n, COUNTS) != REEF_OK) stop(x, "counting");
}

/* Counts, tells all ranks, and compares the energy with that of the start. */
static void census(run *x, int64_t *n)
{
    Census c = {.fish = 0};
    count_all(x, n);
    int64_t energy = n[FISH_ENERGY] + n[FLIGHT];
    for (int l = 0; l < LAYERS; l++) energy += n[LAYER + l];
    c.fish = (uint32_t)n[FISH];
    c.energy = n[FISH_ENERGY];
    for (uint32_t k = 0; k < SPECIES_MAX; k++) c.population[k] = (uint32_t)n[POPULATION + k];
    if (reef_single_set_id(x->w, reef_id(Census), &c, sizeof c) < 0 || !sight_reserve(x->w, c.fish))
        stop(x, "telling the census");
    if (x->energy == 0) x->energy = energy;
    if (energy == x->energy) return;
    fprintf(stderr,
            "living_reef: energy is not conserved: %" PRId64 " units after %" PRIu64 " ticks, %" PRId64
            " at the start\n",
            energy, reef_tick_count(x->w), x->energy);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void sample(run *x, const int64_t *n)
{
    Sample *s = &x->samples[x->sample_count++];
    *s = (Sample){.tick = (uint32_t)reef_tick_count(x->w),
                  .fish = n[FISH_ENERGY] + n[FLIGHT],
                  .born = (uint64_t)n[BORN],
                  .died = (uint64_t)n[DIED]};
    for (int l = 0; l < LAYERS; l++) s->layer[l] = n[LAYER + l];
    for (uint32_t k = 0; k < SPECIES_MAX; k++) s->population[k] = (uint32_t)n[POPULATION + k];
}

/* ---- the run ---- */

/* What all ranks have alike: the singletons. */
static void make_sea(run *x)
{
    reef_world *w = x->w;
    const uint32_t side = x->o->size / CELL_METRES, last = side / BAND_ROWS - 1;
    const uint32_t band = BAND_ROWS * side, ranges = (band + REEF_RANKS_RANGE - 1) / REEF_RANKS_RANGE;
    Sea sea = {side, (float)x->o->size, {0, 0}, band, ranges * REEF_RANKS_RANGE, last};
    const Census none = {0};
    if (reef_single_set_id(w, reef_id(Sea), &sea, sizeof sea) < 0 || reef_single_set(w, Current, false, false) < 0 ||
        !fish_rules(w, &x->table) || reef_single_set(w, Tally, 0, 0) < 0 || reef_single_set(w, Flight, 0) < 0 ||
        reef_single_set_id(w, reef_id(Census), &none, sizeof none) < 0 || !sight_new(w))
        stop(x, "making the sea");
    /* The first water gets the first id of the first band. */
    reef_single_mut(w, Sea)->first = (reef_entity){(uint32_t)reef_world_stats(w).indices, 1};
}

static void divide(run *x)
{
    static reef_component ghosts[6];
    char reason[REEF_DETAIL_MAX];
    ghosts[0] = reef_id(Position), ghosts[1] = reef_id(Velocity), ghosts[2] = reef_id(Species);
    ghosts[3] = reef_id(Energy), ghosts[4] = reef_id(Water), ghosts[5] = reef_id(Hunter);
    const Sea *sea = reef_single_get(x->w, Sea);
    reef_ranks_config config = {.cells = sea->last + 1,
                                .placed = "in Position | in Water",
                                .cell_of = cell_of,
                                .near = near_bands,
                                .ghosts = ghosts,
                                .ghost_count = 6,
                                .balance_ticks = 100,
                                .context = x->w};
    config.messages = shoals_messages(&config.message_count);
    x->ranks = reef_ranks_new(MPI_COMM_WORLD, x->w, &config, reason);
    if (x->ranks == NULL) {
        fprintf(stderr, "living_reef: dividing the sea: %s\n", reason);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    filled = x;
    if (reef_ranks_fill(x->ranks, water_count, water_make) != REEF_OK || !sea_lay(x->w) ||
        reef_ranks_fill(x->ranks, fish_count, fish_make) != REEF_OK)
        stop(x, "filling the sea");
}

static void play(run *x)
{
    int64_t n[COUNTS];
    x->samples = calloc(x->o->ticks / SAMPLE_TICKS + 2, sizeof *x->samples);
    x->fish = reef_query_new(x->w, "in Species, in Energy");
    x->water = reef_query_new(x->w, "in Water");
    if (x->samples == NULL || reef_query_is_null(x->fish) || reef_query_is_null(x->water)) stop(x, "counting");
    census(x, n);
    sample(x, n);
    while (reef_tick_count(x->w) < x->o->ticks) {
        if (reef_ranks_tick(x->ranks, 1) != REEF_OK) stop(x, "playing a tick");
        census(x, n);
        const uint64_t tick = reef_tick_count(x->w);
        if (tick % SAMPLE_TICKS == 0 || tick == x->o->ticks) sample(x, n);
        if (!x->o->quiet && reef_ranks_rank(x->ranks) == 0 && tick % 100 == 0)
            fprintf(stderr, "tick %" PRIu64 ": %" PRId64 " fish\n", tick, n[FISH]);
    }
}

static void write_csv(run *x)
{
    char message[1400];
    record_write(&(record){.samples = x->samples, .count = x->sample_count}, NULL, &x->table,
                 x->files.file[OUTPUT_POPULATIONS]);
    if (output_commit(&x->files, message, sizeof message)) return;
    fprintf(stderr, "living_reef: %s\n", message);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void report(const run *x)
{
    const reef_ranks_stats s = reef_ranks_statistics(x->ranks);
    if (x->o->quiet) return;
    printf("rank %d of %d: %" PRIu64 " entities, %" PRIu64
           " ghosts; in a tick %.0f bytes in %.1f messages, %.1f ms in systems, "
           "%.1f ms in everything else\n",
           reef_ranks_rank(x->ranks), reef_ranks_size(x->ranks), s.entities, s.ghosts,
           (double)s.bytes_sent / (double)s.ticks, (double)s.sends / (double)s.ticks,
           1e3 * s.seconds_tick / (double)s.ticks, 1e3 * s.seconds_exchange / (double)s.ticks);
}

int main(int count, char **arguments)
{
    int level, rank;
    char message[1400];
    static run x;
    options o;
    MPI_Init_thread(&count, &arguments, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (!options_parse(&o, count, arguments, message, sizeof message) ||
        !species_load(&x.table, o.species, message, sizeof message) ||
        (rank == 0 && !output_open(&x.files, o.out, OUTPUT_POPULATIONS + 1, message, sizeof message))) {
        fprintf(stderr, "living_reef: %s\n", message);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    const uint64_t area = (uint64_t)o.size * o.size, usual = (uint64_t)SEA_METRES_DEFAULT * SEA_METRES_DEFAULT;
    const uint64_t fish = o.fish > 0 ? o.fish : species_total(&x.table) * area / usual;
    if (fish != species_total(&x.table)) species_scale(&x.table, (uint32_t)fish);
    x.o = &o;
    x.w = reef_world_new(&(reef_world_config){.seed = o.seed});
    reef_pool *pool = o.threads > 1 ? reef_pool_new(&(reef_pool_config){.threads = o.threads}) : NULL;
    if (x.w == NULL || !shoals_systems(x.w, &x.ranks)) stop(&x, "making the world");
    if (pool) reef_set_pool(x.w, pool);
    make_sea(&x);
    divide(&x);
    play(&x);
    report(&x);
    if (rank == 0) write_csv(&x);
    reef_ranks_free(x.ranks);
    sight_free(x.w);
    reef_world_free(x.w);
    reef_pool_free(pool);
    free(x.samples);
    MPI_Finalize();
    return 0;
}
