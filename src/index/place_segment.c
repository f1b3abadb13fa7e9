/* What a segment hits first.
 *
 *     at ──┬──────┬──────┬──────┬── end        pieces of a few cells; a hit that isn't behind its piece ends the search
 *          └ box ─┘
 *
 * A ball of radius s around a point p, seen from `at`, is touched where |t d - p| = s. With b = p·d, D = d·d and
 * q = |p|² - b² / D, the square of the distance of p from the line, that is t = b / D - sqrt((s² - q) / D). All
 * products of coordinates are products of two floats and so exact. Where edges wrap around, the entity is at p plus any
 * number of lengths, and each of these places is tried that a piece comes near to; where the pieces begin doesn't
 * matter to t. */
#include "index/cell_walk.h"
#include "index/picture.h"
#include "index/place_search.h"
#include "reef/place.h"

enum { PIECE_CELLS = 4, LENGTHS_MAX = 1000 };

typedef struct segment {
    const reef_place *p;
    asked_rows test;
    double at[AXES], way[AXES]; /* the start, and the way from there to the end, rounded to float */
    double radius;
    double low[AXES], high[AXES]; /* the box of the piece */
    double along;                 /* of the first hit so far; 2: none */
    uint32_t index, row;          /* its entity's index, and its row */
} segment;

/* A square root by Newton's method, in operations that no compiler joins. x isn't negative. */
static double square_root(double x)
{
    uint64_t bits;
    double r;
    if (!(x > 0)) return 0;
    memcpy(&bits, &x, sizeof bits);
    bits = (bits >> 1) + 0x1FF8000000000000ull;
    memcpy(&r, &bits, sizeof r);
    for (uint32_t i = 0; i < 6; i++) r = 0.5 * (r + x / r);
    return r;
}

/* Where a ball of radius `touch` around a point is touched; 2: nowhere. */
static double segment_touch(const segment *s, const float *point, double touch)
{
    const volatile double within = touch * touch; /* volatile: it isn't joined with the difference below */
    double square = 0, ahead = 0, length = 0;
    for (uint32_t a = 0; a < s->p->type->axes; a++) {
        square += (double)point[a] * (double)point[a];
        ahead += (double)point[a] * s->way[a];
        length += s->way[a] * s->way[a];
    }
    if (square <= within) return 0;
    if (!(length > 0) || !(ahead > 0)) return 2;
    double aside = square - ahead * ahead / length;
    if (aside < 0) aside = 0;
    if (!(aside <= within)) return 2;
    const double t = ahead / length - square_root((within - aside) / length);
    return t < 0 ? 0 : t <= 1 ? t : 2;
}

static void segment_try(segment *s, uint32_t row, const double *lengths)
{
    const place_type *t = s->p->type;
    const uint32_t index = s->p->rows.index[row];
    float point[AXES];
    for (uint32_t a = 0; a < t->axes; a++) {
        const volatile double shift = lengths[a] * t->length[a];
        point[a] = (float)(coordinate_of(&s->p->rows, a, row) + shift - s->at[a]);
    }
    const double along = segment_touch(s, point, s->radius + (s->p->rows.bodies ? (double)s->p->rows.radius[row] : 0));
    if (along > 1 || along > s->along || (along == s->along && index >= s->index)) return;
    if (!row_counts(&s->test, index)) return;
    s->along = along;
    s->index = index;
    s->row = row;
}

/* The number of lengths by which a coordinate has to be moved to be in the box: the first one that may do. */
static double lengths_first(const segment *s, uint32_t axis, double x)
{
    const double length = s->p->type->length[axis], n = length > 0 ? (s->low[axis] - x) / length : 0;
    const double whole = (double)(int64_t)n;
    return whole < n ? whole : whole - (length > 0);
}

static void segment_row(segment *s, uint32_t row)
{
    const place_type *t = s->p->type;
    double first[AXES] = {0}, n[AXES] = {0};
    for (uint32_t a = 0; a < t->axes; a++) first[a] = lengths_first(s, a, coordinate_of(&s->p->rows, a, row));
#define EACH_LENGTH(a) \
    for (n[a] = first[a]; \
         n[a] == first[a] || (a < t->axes && t->length[a] > 0 && \
                              coordinate_of(&s->p->rows, a, row) + n[a] * t->length[a] <= s->high[a] + t->length[a]); \
         n[a]++)
    EACH_LENGTH(0)
    EACH_LENGTH(1)
    EACH_LENGTH(2) segment_try(s, row, n);
#undef EACH_LENGTH
}

static void segment_visit(void *context, const cell_grid *g, const cell_slices *x)
{
    segment *s = context;
    for (uint32_t k = 0; k < x->count; k++)
        for (uint32_t i = x->slice[k].first; i < x->slice[k].end; i++)
            if (x->slice[k].sure || cell_slice_has(g, &s->p->rows, &x->slice[k], i)) segment_row(s, i);
}

/* Puts the box around the part of the segment from `from` to `to`. */
static void segment_box(segment *s, double from, double to, double reach)
{
    for (uint32_t a = 0; a < s->p->type->axes; a++) {
        const double x = s->at[a] + s->way[a] * from, y = s->at[a] + s->way[a] * to;
        const double round = reach + (x < 0 ? -x : x) * 1e-12 + (y < 0 ? -y : y) * 1e-12;
        s->low[a] = (x < y ? x : y) - round;
        s->high[a] = (x < y ? y : x) + round;
    }
}

/* The cells of the box, where the axes may wrap around: the box begins between the edges. */
static void segment_walk(segment *s, const cell_grid *g)
{
    const place_type *t = s->p->type;
    double low[AXES], high[AXES];
    cell_slices found;
    for (uint32_t a = 0; a < t->axes; a++) {
        low[a] = t->length[a] > 0 ? reef__edge_wrap(t, a, s->low[a]) : s->low[a];
        high[a] = low[a] + (s->high[a] - s->low[a]);
    }
    (void)cells_walk(s->p, g, t->axes, s->p->rows.wide, s->p->wraps, low, high, &found, segment_visit, s);
}

static void segment_search(segment *s, const cell_grid *g)
{
    const place_type *t = s->p->type;
    const double r = s->radius + (double)g->reach;
    double longest = 0, least = 1;
    for (uint32_t a = 0; a < t->axes; a++) {
        const double way = s->way[a] < 0 ? -s->way[a] : s->way[a];
        longest = way > longest ? way : longest;
        if (t->length[a] > 0 && way / t->length[a] * 2 > least) least = way / t->length[a] * 2;
    }
    const double reach = r + radius_slack(s->p, r) + longest * 1e-6, cells = longest / (g->cell * PIECE_CELLS);
    double pieces = cells <= (double)g->rows + 64 ? cells : 1;
    pieces = (double)(uint64_t)((pieces > least ? pieces : least) + 1);
    for (double i = 0; i < pieces && !(s->along < i / pieces); i++) {
        segment_box(s, i / pieces, (i + 1) / pieces, reach);
        segment_walk(s, g);
    }
}

reef_hit reef_place_hit(const reef_place *p, const reef_place_ask *ask)
{
    reef_hit hit = {.along = 0};
    segment s = {.p = p, .along = 2};
    double squared = 0;
    if (!reef__ask_take(p, ask, &s.test, s.at)) return hit;
    for (uint32_t a = 0; a < p->type->axes; a++) {
        const double end = reef__ask_coordinate(p->type, ask->end[a]);
        s.way[a] = (double)(float)(end - s.at[a]);
        if (!(s.way[a] - s.way[a] == 0)) return hit;
        squared += s.way[a] * s.way[a];
        const double length = p->type->length[a];
        if (length > 0 && !(s.way[a] <= LENGTHS_MAX * length && s.way[a] >= -LENGTHS_MAX * length)) return hit;
        if (length > 0) s.at[a] = reef__edge_wrap(p->type, a, s.at[a]);
    }
    s.radius = ask->radius;
    if (!ask_reaches(p, s.radius, squared)) return hit;
    for (const cell_grid *g = p->grids.grid, *last = g + p->grids.count; g < last; g++) segment_search(&s, g);
    if (s.along <= 1) hit = (reef_hit){entity_of(p, s.row), s.along};
    return hit;
}
