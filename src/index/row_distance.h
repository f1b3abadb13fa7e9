/* Distances to the rows of a picture. All answers are decided by way_to; what else computes distances only leaves out
 * rows that are too far away for it. */
#ifndef REEF_INDEX_ROW_DISTANCE_H
#define REEF_INDEX_ROW_DISTANCE_H

#include "index/picture.h"

/* The way from one coordinate to another, over an edge if that is shorter. */
INLINE float way_narrow(float from, float to, float length)
{
    float d = to - from;
    if (length > 0) {
        const float half = length * 0.5f;
        d = d > half ? d - length : d;
        d = d < -half ? d + length : d;
    }
    return d;
}
INLINE float way_wide(double from, double to, double length)
{
    double d = to - from;
    if (length > 0) {
        const double half = length * 0.5;
        d = d > half ? d - length : d;
        d = d < -half ? d + length : d;
    }
    return (float)d;
}

/* The way to a row. A square of a float is exact in double, so that a compiler that joins a product with a sum rounds
 * no other way. `axes` and `wide` are constants. */
INLINE double way_to(const reef_place *p, const double *at, uint32_t row, uint32_t axes, bool wide, bool wraps,
                     float *way)
{
    double squared = 0;
    for (uint32_t a = 0; a < axes; a++) {
        const double length = wraps ? p->type->length[a] : 0;
        const void *x = p->rows.at[a];
        way[a] = wide ? way_wide(at[a], ((const double *)x)[row], length)
                      : way_narrow((float)at[a], ((const float *)x)[row], (float)length);
        squared += (double)way[a] * (double)way[a];
    }
    return squared;
}

/* What is found of a row: the way there, and its square. */
typedef struct row_found {
    float way[AXES];
    uint32_t row;
    double squared;
} row_found;

/* Is a row within a radius, or for a body the sum of both? */
INLINE bool row_is_near(const reef_place *p, const double *at, uint32_t row, double radius, uint32_t axes, bool wide,
                        bool wraps, bool bodies, row_found *f)
{
    const double touch = bodies ? radius + (double)p->rows.radius[row] : radius;
    f->row = row;
    if (axes == 2) f->way[2] = 0;
    f->squared = way_to(p, at, row, axes, wide, wraps, f->way);
    return f->squared <= touch * touch;
}

/* The square of a radius as a float, rounded up by more than squares of floats are rounded. */
INLINE float square_above(float radius) { return radius * radius * 1.000002f + 1e-44f; }

/* Adds the squares of the ways to a group of rows on one axis. (Compilers unroll a loop of eight steps before they
 * would vectorise it.) */
INLINE void ways_add_narrow(float *squared, const float *x, float at, float length)
{
    NO_UNROLL
    for (uint32_t k = 0; k < ROWS_AT_ONCE; k++) {
        const float way = way_narrow(at, x[k], length);
        squared[k] += way * way;
    }
}
INLINE void ways_add_wide(float *squared, const double *x, double at, double length)
{
    NO_UNROLL
    for (uint32_t k = 0; k < ROWS_AT_ONCE; k++) {
        const float way = way_wide(at, x[k], length);
        squared[k] += way * way;
    }
}

/* Adds the rows of a slice that may be near to a list of *n: none that is near is missing. With `above` only those with
 * a higher index than `lower`. All is computed in floats, in groups of eight rows as processors do at once, and without
 * branches, since whether a row is near can't be predicted; row_is_near decides about the few that are left. What
 * follows `radius` is constant. (One by one in doubles the row pairs took twice as long.) */
INLINE void rows_maybe_near(const reef_place *p, uint32_t first, uint32_t end, uint32_t *row, uint32_t *n,
                            const double *at, uint32_t lower, double radius, uint32_t axes, bool wide, bool wraps,
                            bool bodies, bool above)
{
    const cell_rows *r = &p->rows;
    const float around = (float)radius, same = square_above(around);
    uint32_t count = *n;
    for (; first < end; first += ROWS_AT_ONCE) {
        float squared[ROWS_AT_ONCE] = {0};
        uint32_t near[ROWS_AT_ONCE];
        for (uint32_t a = 0; a < axes; a++) {
            const double length = wraps ? p->type->length[a] : 0;
            if (wide) ways_add_wide(squared, (const double *)r->at[a] + first, at[a], length);
            else ways_add_narrow(squared, (const float *)r->at[a] + first, (float)at[a], (float)length);
        }
        const uint32_t *index = r->index + first, left = end - first;
        const float *radii = bodies ? r->radius + first : squared;
        NO_UNROLL
        for (uint32_t k = 0; k < ROWS_AT_ONCE; k++) {
            const float most = bodies ? square_above(around + radii[k]) : same;
            const uint32_t close = squared[k] <= most ? 1 : 0, higher = !above || index[k] > lower ? 1 : 0;
            near[k] = close & higher & (k < left ? 1u : 0u);
        }
        for (uint32_t k = 0; k < ROWS_AT_ONCE; k++) {
            row[count] = first + k;
            count += near[k];
        }
    }
    *n = count;
}

/* How far beyond a radius rows may lie that count as within it, since differences are rounded; generously. */
INLINE double radius_slack(const reef_place *p, double radius) { return radius * 1e-6 + p->slack; }

#endif
