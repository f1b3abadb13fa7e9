/* All arithmetic is on integers, and each unit that leaves a cell or a layer is added to exactly one other. Layers
 * never become negative: in one step of spreading a cell gives away at most 4/16 + 1/32 of a layer, and each rule
 * takes at most what is there. */
#include "sea.h"

#include "dice.h"

enum {
    START_NUTRIENTS = 2500, /* energy units in each cell */
    START_PLANKTON = 900,
    START_DETRITUS = 300,
    GROUND_MOST = 3600, /* energy of the algae that the best rock carries */
    HALF_GROWTH = 1200  /* nutrients at which growth has half of its full rate */
};

/* ---- the first sea ---- */

/* Returns the height of a knot of a coarse lattice. Knots aren't entities, but reef_random_of accepts anything that
 * has the shape of a handle. */
static float height_of(const reef_world *w, uint32_t lattice, uint32_t knot)
{
    reef_random r = reef_random_of(w, FOR_GROUND, (reef_entity){knot, lattice});
    return reef_random_float(&r);
}

/* Returns how much rock there is in a cell, from 0 to 1000. The ground is made of random heights on a lattice that are
 * joined smoothly; what lies above the middle is rock, the rest is sand. */
static int32_t rock(const reef_world *w, const Sea *s, uint32_t cell, uint32_t lattice)
{
    uint32_t knots = s->side / lattice > 0 ? s->side / lattice : 1, x = cell % s->side, y = cell / s->side;
    float u = (float)(x * knots) / (float)s->side, v = (float)(y * knots) / (float)s->side;
    uint32_t i = (uint32_t)u, j = (uint32_t)v;
    float fx = u - (float)i, fy = v - (float)j;
    fx = fx * fx * (3.0f - 2.0f * fx);
    fy = fy * fy * (3.0f - 2.0f * fy);
    float corner[4];
    for (uint32_t k = 0; k < 4; k++)
        corner[k] = height_of(w, lattice, (j + (k >> 1)) % knots * knots + (i + (k & 1)) % knots);
    float top = corner[0] + (corner[1] - corner[0]) * fx, bottom = corner[2] + (corner[3] - corner[2]) * fx;
    return (int32_t)((top + (bottom - top) * fy) * 1000.0f);
}

static void lay_ground(reef_block *b)
{
    const Sea *s = reef_single_get(b->world, Sea);
    Ground *ground = reef_out(b, Ground);
    Water *water = reef_out(b, Water);
    for (uint32_t i = 0; i < b->count; i++) {
        uint32_t cell = sea_number(s, b->entities[i]);
        int32_t height = (rock(b->world, s, cell, 24) * 2 + rock(b->world, s, cell, 8)) / 3;
        int32_t above = height < 380 ? 0 : height > 620 ? 240 : height - 380;
        ground[i].carries = above * GROUND_MOST / 240;
        water[i] = (Water){{START_NUTRIENTS, START_PLANKTON, ground[i].carries / 2, START_DETRITUS}};
    }
}

bool sea_lay(reef_world *w)
{
    const reef_system_desc lay = {.function = lay_ground, .text = "out Ground, out Water; reads Sea"};
    return reef_system_once(w, &lay, 0) >= 0;
}

bool sea_fill(reef_world *w, uint32_t metres)
{
    const uint32_t side = metres / CELL_METRES;
    Sea s = {side, (float)metres, {0}, side * side, side * side, 0};
    const reef_value cell[] = {reef_default(Water), reef_default(Ground), reef_default(Mixed), reef_default(Crowd),
                               reef_default(Meal)};
    /* The world is new, so the cells get consecutive indices, and the first handle is enough to know them all. */
    s.first = reef_spawn_values(w, cell, 5);
    return !reef_entity_is_null(s.first) && reef_spawn_many_values(w, s.side * s.side - 1, NULL, cell, 5) >= 0 &&
           reef_single_set_id(w, reef_id(Sea), &s, sizeof s) >= 0 && reef_single_set(w, Current, false, false) >= 0 &&
           sea_lay(w);
}

/* ---- growth ---- */

/* Returns a cell after the exchange between its layers. */
static Water grown(Water was, int32_t carries)
{
    int32_t n = was.of[NUTRIENTS], p = was.of[PLANKTON], a = was.of[ALGAE], d = was.of[DETRITUS], room = carries - a;
    int32_t fresh = (int32_t)((int64_t)p * n / ((HALF_GROWTH + n) * 8)) + (n > 0);
    if (fresh > n) fresh = n;
    n -= fresh;
    int32_t covered = room > 0 ? (int32_t)((int64_t)(a + 40) * n / ((HALF_GROWTH + n) * 8) * room / carries) : 0;
    if (covered > n) covered = n;
    n -= covered;
    int32_t dead_plankton = p / 128, dead_algae = a / 256, rotten = d / 64 + (d > 0);
    return (Water){
        {n + rotten, p + fresh - dead_plankton, a + covered - dead_algae, d + dead_plankton + dead_algae - rotten}};
}

void grow(reef_block *b)
{
    Water *water = reef_inout(b, Water);
    const Ground *ground = reef_in(b, Ground);
    for (uint32_t i = 0; i < b->count; i++) water[i] = grown(water[i], ground[i].carries);
}

/* ---- spreading ---- */

void turn(reef_block *b)
{
    reef_random r = reef_random_for(b, (reef_entity){0});
    uint32_t bits = reef_random_u32(&r);
    *reef_single_mut(b->world, Current) = (Current){(bits & 1) != 0, (bits & 2) != 0};
}

/* Returns what flows over the edge between two cells: 1/16 of their difference, and 1/32 of a cell with the current. */
static int32_t flow(int32_t from, int32_t to, int drift)
{
    int32_t along = drift > 0 ? from / 32 : drift < 0 ? -(to / 32) : 0;
    return (from - to) / 16 + along;
}

/* Every flow is computed on both sides of its edge from the same state. */
void mix(reef_block *b)
{
    const reef_world *w = b->world;
    const Sea *s = reef_single_get(w, Sea);
    const Current *current = reef_single_get(w, Current);
    const Water *water = reef_in(b, Water);
    Mixed *mixed = reef_out(b, Mixed);
    const bool along_x = (reef_tick_count(w) & 1) != 0; /* the current flows along x in one tick, along y in the next */
    const int dx = !along_x ? 0 : current->west ? -1 : 1, dy = along_x ? 0 : current->north ? -1 : 1;
    for (uint32_t i = 0; i < b->count; i++) {
        uint32_t cell = sea_number(s, b->entities[i]);
        spot p = sea_spot(s, cell % s->side, cell / s->side);
        const Water *west = sea_water(w, s, p.row[1] + p.west), *east = sea_water(w, s, p.row[1] + p.east);
        const Water *north = sea_water(w, s, p.row[0] + p.here), *south = sea_water(w, s, p.row[2] + p.here);
        for (uint32_t l = NUTRIENTS; l <= PLANKTON; l++) {
            int32_t here = water[i].of[l];
            mixed[i].of[l] = here + flow(west->of[l], here, dx) - flow(here, east->of[l], dx) +
                             flow(north->of[l], here, dy) - flow(here, south->of[l], dy);
        }
    }
}

void pour(reef_block *b)
{
    Water *water = reef_inout(b, Water);
    const Mixed *mixed = reef_in(b, Mixed);
    for (uint32_t i = 0; i < b->count; i++)
        for (uint32_t l = NUTRIENTS; l <= PLANKTON; l++) water[i].of[l] = mixed[i].of[l];
}

/* The first cell that has energy loses a unit. */
void leak(reef_block *b)
{
    const Sea *s = reef_single_get(b->world, Sea);
    for (uint32_t cell = 0; cell < s->side * s->side; cell++) {
        Water *water = reef_mut(b->world, sea_entity(s, cell), Water);
        if (water->of[NUTRIENTS] == 0) continue;
        water->of[NUTRIENTS]--;
        return;
    }
}
