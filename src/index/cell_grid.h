/* Rows with coordinates, sorted into the cells of uniform grids by a counting sort.
 *
 *     grid    start:   0  2  2  5 ...                   a number for each bucket: where its rows begin
 *                      │     │
 *     rows    x:     [ 1  3 | 8  7  9 | ...             the coordinates, side by side for each axis
 *             y:     [ 0  2 | 1  1  0 | ...
 *             index: [ 4  9 | 2  7  3 | ...             the indices of the entities
 *
 * A cell has a bucket: x + y * stride + z * stride, modulo the number of buckets. Where the cells between the outermost
 * rows are no more than the rows, each has a bucket of its own, and the grid is *dense*. Otherwise, where a few rows
 * are very far away, cells share buckets, and whoever looks at a bucket has to look at the rows' own cells as well.
 * Cells along x are neighbours in either case, so three cells side by side are one slice of the rows.
 *
 * The cell of a coordinate is a function that never falls as the coordinate rises, in floating point too: subtracting
 * the origin, multiplying by a positive number, and cutting off. So everything between two coordinates lies in the
 * cells between theirs, whatever is rounded, and the size of the cells can't be seen in any answer.
 *
 * There are several grids, since one size of cells doesn't fit all: large bodies have a grid with larger cells (each
 * grid knows its largest body), and cells with very many rows are taken apart by a grid with smaller cells. Every row
 * is in exactly one of them.
 *
 * Hockney and Eastwood, Computer Simulation Using Particles, 1981 (linked cells); Green, Particle Simulation using
 * CUDA, 2008 (cells by a sort); Teschner et al., Optimized Spatial Hashing for Collision Detection, 2003 (cells that
 * share buckets); Mirtich, Impulse-based Dynamic Simulation, 1996 (a hierarchy of grids by the size of bodies). */
#ifndef REEF_INDEX_CELL_GRID_H
#define REEF_INDEX_CELL_GRID_H

#include "base/memory.h"
#include "index/place_type.h"

enum {
    GRIDS_MAX = 24,
    ROWS_AT_ONCE = 8, /* looked at together; behind the last row there is room for so many */
    CROWD = 512,      /* rows in a bucket that are taken apart by a finer grid */
    CROWD_FINER = 8,  /* how much smaller its cells are */
    CROWD_DEPTH = 10
};

/* Rows with their coordinates. Those of f32 coordinates are floats, the others doubles. */
typedef struct cell_rows {
    uint32_t count, room;
    bool wide;   /* the coordinates are doubles */
    bool bodies; /* `radius` is there; else all are points */
    uint32_t axes;
    void *at[AXES];
    uint32_t *index;  /* of the entity */
    void *generation; /* its generation: uint16_t, or uint32_t if some is larger */
    bool old;         /* some is larger */
    float *radius;
    /* By the index of an entity: its row, or anything, if it has none. Only where slots are wanted. */
    uint32_t *slot, slot_room;
    uint32_t *cell; /* the cell of each row; only where cells are whole */
    /* Values of the types that the place carries, and the bytes of one; 0: there is no such type. */
    void *carried[REEF_PLACE_CARRIES_MAX];
    uint32_t carried_size[REEF_PLACE_CARRIES_MAX];
} cell_rows;

typedef struct cell_grid {
    uint32_t rows;  /* how many it has */
    double cell;    /* the side that was asked for */
    uint32_t depth; /* how often rows of a crowded cell were taken apart to get here */
    bool dense;
    double lowest[AXES], highest[AXES]; /* the outermost coordinates of its rows */
    double origin[AXES], scale[AXES];   /* the cell of x is (x - origin) * scale, cut off */
    uint64_t last[AXES];                /* the last cell of each axis; the first one is 0 */
    uint32_t stride[AXES];              /* of y and z; that of x is 1 */
    uint32_t first, mask;               /* its buckets: `first` and those behind it, a power of two minus one */
    float reach;                        /* the largest radius of its bodies */
} cell_grid;

typedef struct cell_grids {
    cell_grid grid[GRIDS_MAX];
    uint32_t count;
    uint32_t *start; /* by bucket of any grid: its first row; one more at the end */
    uint32_t buckets, bucket_room;
} cell_grids;

/* Up to a block of rows, as they come from the world. */
enum { GATHERED = 1024 };
typedef struct gathered {
    uint32_t count;
    union {
        float narrow[GATHERED];
        double wide[GATHERED];
    } at[AXES];
    float radius[GATHERED];
    const reef_entity *entities; /* those of the block in the world, or `kept` */
    /* The values that are carried, where they lie in the world: of row i that of the block's row from[i], or, where no
     * row was left out, its row i. */
    const char *carried[REEF_PLACE_CARRIES_MAX];
    bool left_out;
    uint16_t from[GATHERED];
    reef_entity kept[GATHERED]; /* where rows were left out: the others */
} gathered;

/* Hands out the same rows in the same order each time that it is begun anew; without their handles if these aren't
 * wanted. False: the end. */
typedef struct cell_source {
    void (*begin)(void *context, bool handles);
    bool (*next)(void *context, gathered *g);
    void *context;
    uint64_t most;    /* it has no more rows */
    uint32_t indices; /* those of its entities are below this, and slots are wanted; 0: they aren't */
} cell_source;

/* Sorts all rows of a source into grids. `rows` and `grids` keep their memory for the next time. False: no memory, and
 * both are empty. */
bool reef__cells_sort(memory *m, const place_type *p, const cell_source *s, cell_rows *rows, cell_grids *grids);
void reef__cells_drop(memory *m, cell_rows *rows, cell_grids *grids);

/* ---- the cell of a coordinate ---- */

/* Cuts off a number that isn't negative, so that larger ones never give less: whole numbers that a float or double
 * can't count any more are numbered one by one. */
INLINE uint64_t cell_cut_narrow(float t)
{
    uint32_t bits;
    if (LIKELY(t < 0x1p24f)) return t > 0 ? (uint64_t)(int64_t)t : 0;
    memcpy(&bits, &t, sizeof bits);
    return (1u << 24) + (uint64_t)(bits - 0x4B800000u);
}
INLINE uint64_t cell_cut_wide(double t)
{
    uint64_t bits;
    if (LIKELY(t < 0x1p52)) return t > 0 ? (uint64_t)(int64_t)t : 0;
    memcpy(&bits, &t, sizeof bits);
    return (1ull << 52) + (bits - 0x4330000000000000ull);
}
/* The cell of a coordinate on one axis; that of one outside is the first or the last. */
INLINE uint64_t cell_of(const cell_grid *g, uint32_t axis, double x, bool wide)
{
    const uint64_t c = wide ? cell_cut_wide((x - g->origin[axis]) * g->scale[axis])
                            : cell_cut_narrow(((float)x - (float)g->origin[axis]) * (float)g->scale[axis]);
    return c < g->last[axis] ? c : g->last[axis];
}
INLINE uint32_t cell_bucket(const cell_grid *g, uint64_t x, uint64_t y, uint64_t z)
{
    return g->first + (((uint32_t)x + (uint32_t)y * g->stride[1] + (uint32_t)z * g->stride[2]) & g->mask);
}

#endif
