/* The sea: a wrapped square of cells, each with whole units of energy in four layers. Energy moves between cells and
 * layers, and never appears or disappears here.
 *
 *     nutrients --grow--> plankton --die--> detritus --rot--> nutrients        nutrients and plankton spread and drift
 *     nutrients --grow--> algae    --die--> detritus                          algae and detritus stay where they are */
#ifndef LIVING_REEF_SEA_H
#define LIVING_REEF_SEA_H

#include "species.h"

enum {
    CELL_METRES = 2, /* a power of two: dividing by it is exact */
    SEA_METRES_MIN = 16,
    SEA_METRES_MAX = 4096,
    SEA_METRES_DEFAULT = 384
};

typedef struct sea {
    uint32_t side;   /* cells */
    uint32_t cells;  /* side * side */
    float    metres; /* side * CELL_METRES */
    int32_t *layer[LAYERS];
    int32_t *spread; /* scratch: a layer's next state */
    int32_t *ground; /* energy of the algae that the bottom of a cell can carry: 0 on sand */
    int32_t
        *wanted[LAYERS]; /* what the fish of a cell want to eat in this tick; [NUTRIENTS] is unused, here and below */
    int32_t *taken[LAYERS]; /* what they got */
    int32_t *waste;         /* what of it they didn't digest */
} sea;

/* False: no memory. The sea must be freed in any case. */
bool sea_new(sea *s, uint32_t metres, uint64_t seed);
/* The same, for a sea that begins as `from` is between two ticks. */
bool sea_copy(sea *s, const sea *from);
void sea_free(sea *s);

/* One tick of growth, decay, spreading and drift. */
void sea_step(sea *s, uint64_t seed, uint32_t tick);

/* Books what was taken and wasted in this tick, and forgets the wishes. */
void sea_settle(sea *s);

/* Loses one unit of energy, against all rules: to prove that the ledger notices. */
void sea_leak(sea *s);

/* The energy of all cells and layers. */
int64_t sea_energy(const sea *s);
int64_t sea_layer_energy(const sea *s, layer which);

/* The column of a coordinate, or the row; in 0 ... metres, metres excluded. */
static inline uint32_t sea_column(float x) { return (uint32_t)(int32_t)(x * (1.0f / CELL_METRES)); }

/* The cell of a position. */
static inline uint32_t sea_cell(const sea *s, float x, float y) { return sea_column(y) * s->side + sea_column(x); }

/* Brings a coordinate that is off by less than one sea back onto it. */
static inline float sea_wrap(const sea *s, float x)
{
    if (x < 0.0f) x += s->metres;
    return x >= s->metres ? x - s->metres : x;
}

/* The shorter way from one coordinate to another. */
static inline float sea_way(const sea *s, float from, float to)
{
    float d = to - from, half = s->metres * 0.5f;
    d = d > half ? d - s->metres : d;
    return d < -half ? d + s->metres : d;
}

#endif
