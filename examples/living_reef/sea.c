/* All arithmetic is on integers, and each unit that leaves a cell or layer is added to exactly one other. Layers
 * never become negative: a cell gives away at most 4/16 + 1/32 of a layer in one step of spreading, and each rule
 * takes at most what is there. */
#include "sea.h"

#include "random.h"

#include <stdlib.h>
#include <string.h>

enum {
    START_NUTRIENTS = 2500, /* energy units a cell */
    START_PLANKTON = 900,
    START_DETRITUS = 300,
    GROUND_MOST = 3600, /* algae that the best rock carries */
    HALF_GROWTH = 1200  /* nutrients at which growth has half of its full rate */
};

static bool make_arrays(sea *s)
{
    int32_t **arrays[] = {&s->layer[NUTRIENTS], &s->layer[PLANKTON],  &s->layer[ALGAE],    &s->layer[DETRITUS],
                          &s->spread,           &s->ground,           &s->waste,           &s->wanted[PLANKTON],
                          &s->wanted[ALGAE],    &s->wanted[DETRITUS], &s->taken[PLANKTON], &s->taken[ALGAE],
                          &s->taken[DETRITUS]};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
        *arrays[i] = calloc(s->cells, sizeof(int32_t));
        if (*arrays[i] == NULL) return false;
    }
    return true;
}

/* Rock and sand: random heights on a coarse lattice, joined smoothly; what lies above the middle is rock. */
static int32_t rock(const sea *s, uint32_t x, uint32_t y, uint64_t seed, uint32_t lattice)
{
    uint32_t knots = s->side / lattice > 0 ? s->side / lattice : 1;
    float    u = (float)(x * knots) / (float)s->side, v = (float)(y * knots) / (float)s->side;
    uint32_t i = (uint32_t)u, j = (uint32_t)v;
    float    fx = u - (float)i, fy = v - (float)j;
    fx = fx * fx * (3.0f - 2.0f * fx);
    fy = fy * fy * (3.0f - 2.0f * fy);
    float corner[4];
    for (uint32_t k = 0; k < 4; k++) {
        uint64_t knot = (uint64_t)((j + (k >> 1)) % knots) * knots + (i + (k & 1)) % knots;
        corner[k] = random_unit(random_bits(seed, lattice, knot, FOR_GROUND), 0);
    }
    float top = corner[0] + (corner[1] - corner[0]) * fx, bottom = corner[2] + (corner[3] - corner[2]) * fx;
    return (int32_t)((top + (bottom - top) * fy) * 1000.0f);
}

static void lay_ground(sea *s, uint64_t seed)
{
    for (uint32_t y = 0; y < s->side; y++) {
        for (uint32_t x = 0; x < s->side; x++) {
            int32_t height = (rock(s, x, y, seed, 24) * 2 + rock(s, x, y, seed, 8)) / 3; /* 0 ... 1000 */
            int32_t above = height < 380 ? 0 : height > 620 ? 240 : height - 380;
            s->ground[y * s->side + x] = above * GROUND_MOST / 240;
        }
    }
}

bool sea_new(sea *s, uint32_t metres, uint64_t seed)
{
    memset(s, 0, sizeof *s);
    s->side = metres / CELL_METRES;
    s->cells = s->side * s->side;
    s->metres = (float)metres;
    if (!make_arrays(s)) return false;
    lay_ground(s, seed);
    for (uint32_t c = 0; c < s->cells; c++) {
        s->layer[NUTRIENTS][c] = START_NUTRIENTS;
        s->layer[PLANKTON][c] = START_PLANKTON;
        s->layer[ALGAE][c] = s->ground[c] / 2;
        s->layer[DETRITUS][c] = START_DETRITUS;
    }
    return true;
}

/* What the fish want, take and waste is all zero between two ticks. */
bool sea_copy(sea *s, const sea *from)
{
    memset(s, 0, sizeof *s);
    s->side = from->side;
    s->cells = from->cells;
    s->metres = from->metres;
    if (!make_arrays(s)) return false;
    size_t bytes = s->cells * sizeof(int32_t);
    for (int l = 0; l < LAYERS; l++) memcpy(s->layer[l], from->layer[l], bytes);
    memcpy(s->ground, from->ground, bytes);
    return true;
}

void sea_free(sea *s)
{
    for (int l = 0; l < LAYERS; l++) {
        free(s->layer[l]);
        free(s->wanted[l]);
        free(s->taken[l]);
    }
    free(s->waste);
    free(s->spread);
    free(s->ground);
    memset(s, 0, sizeof *s);
}

/* One cell's exchange between its layers. */
static void grow(sea *s, uint32_t c)
{
    int32_t n = s->layer[NUTRIENTS][c], p = s->layer[PLANKTON][c], a = s->layer[ALGAE][c], d = s->layer[DETRITUS][c];
    int32_t room = s->ground[c] - a;
    int32_t grown = (int32_t)((int64_t)p * n / ((HALF_GROWTH + n) * 8)) + (n > 0);
    if (grown > n) grown = n;
    n -= grown;
    int32_t covered = room > 0 ? (int32_t)((int64_t)(a + 40) * n / ((HALF_GROWTH + n) * 8) * room / s->ground[c]) : 0;
    if (covered > n) covered = n;
    n -= covered;
    int32_t dead_plankton = p / 128, dead_algae = a / 256, rotten = d / 64 + (d > 0);
    s->layer[NUTRIENTS][c] = n + rotten;
    s->layer[PLANKTON][c] = p + grown - dead_plankton;
    s->layer[ALGAE][c] = a + covered - dead_algae;
    s->layer[DETRITUS][c] = d + dead_plankton + dead_algae - rotten;
}

/* Spreads a layer: over each edge between two cells flows 1/16 of their difference, and 1/32 of a cell flows on with
 * the current along x or along y. Every flow is computed from the old state and booked on both sides. */
static void spread(sea *s, layer which, bool along_x, bool backward)
{
    const int32_t *old = s->layer[which];
    int32_t       *next = s->spread;
    uint32_t       side = s->side;
    memcpy(next, old, s->cells * sizeof *next);
    for (uint32_t y = 0; y < side; y++) {
        uint32_t row = y * side, below = (y + 1 < side ? y + 1 : 0) * side;
        for (uint32_t x = 0; x < side; x++) {
            uint32_t c = row + x, right = row + (x + 1 < side ? x + 1 : 0), down = below + x;
            int32_t  to_right = (old[c] - old[right]) / 16, to_down = (old[c] - old[down]) / 16;
            int32_t  drift = backward ? -(old[along_x ? right : down] / 32) : old[c] / 32;
            to_right += along_x ? drift : 0;
            to_down += along_x ? 0 : drift;
            next[c] -= to_right + to_down;
            next[right] += to_right;
            next[down] += to_down;
        }
    }
    s->spread = s->layer[which];
    s->layer[which] = next;
}

void sea_step(sea *s, uint64_t seed, uint32_t tick)
{
    for (uint32_t c = 0; c < s->cells; c++) grow(s, c);
    uint64_t current = random_bits(seed, tick / 256, 0, FOR_CURRENT);
    spread(s, NUTRIENTS, (tick & 1) != 0, (current >> (tick & 1) & 1) != 0);
    spread(s, PLANKTON, (tick & 1) != 0, (current >> (tick & 1) & 1) != 0);
}

void sea_settle(sea *s)
{
    size_t bytes = s->cells * sizeof(int32_t);
    for (int l = PLANKTON; l < LAYERS; l++) {
        for (uint32_t c = 0; c < s->cells; c++) s->layer[l][c] -= s->taken[l][c];
        memset(s->taken[l], 0, bytes);
        memset(s->wanted[l], 0, bytes);
    }
    for (uint32_t c = 0; c < s->cells; c++) s->layer[DETRITUS][c] += s->waste[c];
    memset(s->waste, 0, bytes);
}

void sea_leak(sea *s)
{
    uint32_t c = 0;
    while (c < s->cells && s->layer[NUTRIENTS][c] == 0) c++;
    if (c < s->cells) s->layer[NUTRIENTS][c]--;
}

int64_t sea_layer_energy(const sea *s, layer which)
{
    int64_t sum = 0;
    for (uint32_t c = 0; c < s->cells; c++) sum += s->layer[which][c];
    return sum;
}

int64_t sea_energy(const sea *s)
{
    int64_t sum = 0;
    for (int l = 0; l < LAYERS; l++) sum += sea_layer_energy(s, (layer)l);
    return sum;
}
