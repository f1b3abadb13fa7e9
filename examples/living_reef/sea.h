/* The sea: a wrapped square of cells, each an entity with whole units of energy in four layers. Energy moves between
 * cells and layers, and never appears or disappears here.
 *
 *     nutrients --grow--> plankton --die--> detritus --rot--> nutrients        nutrients and plankton spread and drift
 *     nutrients --grow--> algae    --die--> detritus                          algae and detritus stay where they are */
#ifndef LIVING_REEF_SEA_H
#define LIVING_REEF_SEA_H

#include "species.h"

#include <reef.h>

enum {
    CELL_METRES = 2, /* a power of two: dividing by it is exact */
    SEA_METRES_MIN = 16,
    SEA_METRES_MAX = 4096,
    SEA_METRES_DEFAULT = 384
};

/* ---- what a cell has ---- */

typedef struct Water {
    int32_t of[LAYERS]; /* energy */
} Water;

typedef struct Ground {
    int32_t carries; /* energy of the algae that the bottom can carry: 0 on sand */
} Ground;

/* The layers that spread, as they will be after this step. */
typedef struct Mixed {
    int32_t of[PLANKTON + 1];
} Mixed;

/* The fish in the cell: their first slot in Sight, and the one behind the last. */
typedef struct Crowd {
    uint32_t first, end;
} Crowd;

typedef struct Meal {
    int32_t eaten; /* energy that the cell's fish ate in this tick */
} Meal;

/* ---- what the sea has ---- */

typedef struct Sea {
    uint32_t side;     /* cells along each side */
    float metres;      /* side * CELL_METRES */
    reef_entity first; /* the first cell; none of them ever dies */
    /* Cells were made in bands, each in a row: this many cells in a band, indices from one band to the next, and the
     * number of the last band, which may be longer. In a sea on one machine there is one band. */
    uint32_t band, stride, last;
} Sea;

typedef struct Current {
    bool west, north; /* the current flows against the coordinate */
} Current;

REEF_COMPONENT(Water);
REEF_COMPONENT(Ground);
REEF_COMPONENT(Mixed);
REEF_COMPONENT(Crowd);
REEF_COMPONENT(Meal);
REEF_COMPONENT(Sea);
REEF_COMPONENT(Current);
REEF_FIELDS(Water, of);
REEF_FIELDS(Ground, carries);
REEF_FIELDS(Mixed, of);
REEF_FIELDS(Crowd, first, end);
REEF_FIELDS(Meal, eaten);
REEF_FIELDS(Sea, (side, "cells"), (metres, "m"), first, (band, "cells"), stride, last);
REEF_FIELDS(Current, west, north);

/* Makes the cells of a new world, and the singletons. False: reef refused. */
bool sea_fill(reef_world *w, uint32_t metres);
/* Lays the ground of cells that were made, and fills them with water. False: reef refused. */
bool sea_lay(reef_world *w);

/* ---- systems ---- */

void grow(reef_block *b); /* growth and decay in each cell */
void turn(reef_block *b); /* the current turns */
void mix(reef_block *b);  /* computes what flows between cells */
void pour(reef_block *b); /* puts what has flowed into the cells */

/* Loses one unit of energy against all rules, to prove that the count notices. */
void leak(reef_block *b);

/* ---- places ---- */

/* Returns the column of a coordinate, or the row. It must be in 0 ... metres, without metres itself. */
static inline uint32_t sea_column(float x) { return (uint32_t)(int32_t)(x * (1.0f / CELL_METRES)); }

/* Returns the number of the cell at a position. */
static inline uint32_t sea_cell(const Sea *s, float x, float y) { return sea_column(y) * s->side + sea_column(x); }

static inline reef_entity sea_entity(const Sea *s, uint32_t cell)
{
    uint32_t band = s->last == 0 ? 0 : cell / s->band;
    if (band > s->last) band = s->last;
    return (reef_entity){s->first.index + band * s->stride + (cell - band * s->band), s->first.generation};
}

/* Returns the number of the cell that an entity is. */
static inline uint32_t sea_number(const Sea *s, reef_entity entity)
{
    const uint32_t index = entity.index - s->first.index;
    uint32_t band = s->last == 0 ? 0 : index / s->stride;
    if (band > s->last) band = s->last;
    return index - band * (s->stride - s->band);
}

static inline const Water *sea_water(const reef_world *w, const Sea *s, uint32_t cell)
{
    return reef_get(w, sea_entity(s, cell), Water);
}

/* A cell and those around it: columns, and the first cells of rows. */
typedef struct spot {
    uint32_t west, here, east, row[3];
} spot;

static inline spot sea_spot(const Sea *s, uint32_t column, uint32_t row)
{
    uint32_t last = s->side - 1;
    return (spot){column > 0 ? column - 1 : last,
                  column,
                  column < last ? column + 1 : 0,
                  {(row > 0 ? row - 1 : last) * s->side, row * s->side, (row < last ? row + 1 : 0) * s->side}};
}

/* Moves a coordinate that is off by less than one sea back onto the sea. */
static inline float sea_wrap(const Sea *s, float x)
{
    if (x < 0.0f) x += s->metres;
    return x >= s->metres ? x - s->metres : x;
}

/* Returns the shorter way from one coordinate to another. */
static inline float sea_way(const Sea *s, float from, float to)
{
    float d = to - from, half = s->metres * 0.5f;
    d = d > half ? d - s->metres : d;
    return d < -half ? d + s->metres : d;
}

#endif
