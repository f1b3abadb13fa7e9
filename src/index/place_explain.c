/* What a picture is made of, as numbers and as a text. */
#include "base/text_out.h"
#include "index/picture.h"
#include "reef/place.h"
#include <inttypes.h>

enum { CROWDED_CELLS = 32 }; /* entities in a used cell on average, from which on cells are too large */

static uint32_t grid_end(const reef_place *p, const cell_grid *g)
{
    return g + 1 < p->grids.grid + p->grids.count ? g[1].first : p->grids.buckets;
}

static void grid_stats(const reef_place *p, const cell_grid *g, reef_place_stats *s)
{
    s->grids++;
    s->cells += grid_end(p, g) - g->first;
    for (uint32_t k = g->first; k < grid_end(p, g); k++) {
        const uint32_t rows = p->grids.start[k + 1] - p->grids.start[k];
        s->used += rows != 0;
        s->fullest = rows > s->fullest ? rows : s->fullest;
    }
}

reef_place_stats reef_place_stats_of(const reef_place *p)
{
    reef_place_stats s = {0};
    if (p == NULL) return s;
    const cell_rows *r = &p->rows;
    const size_t row = p->type->axes * (r->wide ? sizeof(double) : sizeof(float)) + sizeof *r->index +
                       (r->old ? sizeof(uint32_t) : sizeof(uint16_t)) + (r->bodies ? sizeof *r->radius : 0);
    uint64_t more = (uint64_t)r->slot_room * sizeof *r->slot + (r->cell ? (uint64_t)r->room * sizeof *r->cell : 0);
    for (uint32_t k = 0; k < p->type->carried_count; k++) more += (uint64_t)r->room * r->carried_size[k];
    s.rows = r->count;
    s.bytes = more + sizeof *p + r->room * row + (uint64_t)p->grids.bucket_room * sizeof *p->grids.start;
    for (const cell_grid *g = p->grids.grid, *end = g + p->grids.count; g < end; g++) grid_stats(p, g, &s);
    return s;
}

COLD size_t reef_place_explain(const reef_place *p, char *text, size_t size)
{
    text_out o = {text, size, 0};
    if (p == NULL) return o.length;
    const reef_place_stats s = reef_place_stats_of(p);
    reef__text_put(&o, "place of %s: %" PRIu64 " entities, %" PRIu64 " bytes\n", p->type->of->name, s.rows, s.bytes);
    for (const cell_grid *g = p->grids.grid, *end = g + p->grids.count; g < end; g++) {
        reef_place_stats x = {0};
        grid_stats(p, g, &x);
        if (g->rows == 0) continue;
        reef__text_put(&o, "    cells of %g: %u entities in %" PRIu64 " of %" PRIu64 "%s, at most %" PRIu64 " in one\n",
                       g->cell, g->rows, x.used, x.cells, g->dense ? "" : " that far cells share", x.fullest);
        if (g->rows / CROWDED_CELLS > x.used)
            reef__text_put(&o, "    these cells are too large: a used one has %" PRIu64 " entities on average\n",
                           g->rows / x.used);
        if (!g->dense)
            reef__text_put(&o, "    these cells are too small for how far the entities are apart, or a few are far "
                               "away\n");
    }
    return o.length;
}
