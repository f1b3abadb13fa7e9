/* What is asked about a world over ranks: by one of them, and by all together. */
#include "ranks.h"

const char *reef_ranks_reason(const reef_ranks *r) { return r ? r->reason : ""; }
int reef_ranks_rank(const reef_ranks *r) { return r ? r->rank : 0; }
int reef_ranks_size(const reef_ranks *r) { return r ? r->size : 0; }
uint32_t reef_ranks_owner(const reef_ranks *r, uint32_t c) { return r && c < r->config.cells ? ranks__owner(r, c) : 0; }

reef_ranks_place reef_ranks_where(const reef_ranks *r, reef_entity e)
{
    if (r == NULL || !reef_is_alive(r->world, e)) return REEF_RANKS_NOWHERE;
    if (reef_has(r->world, e, ReefGhost)) return REEF_RANKS_GHOST;
    if (reef_has(r->world, e, ReefCell)) return REEF_RANKS_HERE;
    return e.index < r->index_base ? REEF_RANKS_EVERYWHERE : REEF_RANKS_REMOTE;
}

reef_status reef_ranks_sum(reef_ranks *r, int64_t *values, uint32_t n)
{
    if (r == NULL || values == NULL || n > INT32_MAX) return REEF_BAD_ARGUMENT;
    ranks__reduce(r, values, (int)n, MPI_INT64_T, MPI_SUM);
    return REEF_OK;
}

reef_status reef_ranks_sum_cells(reef_ranks *r, double (*of)(reef_ranks *ranks, uint32_t cell, void *context),
                                 double *sum)
{
    if (r == NULL || of == NULL || sum == NULL) return REEF_BAD_ARGUMENT;
    bytes mine = {0}, all = {0};
    for (uint32_t c = r->first_cell; c < r->end_cell; c++) {
        const double x = of(r, c, r->config.context);
        ranks__put(&mine, &x, sizeof x);
    }
    /* Ranks have cells in their order, so joining them by rank joins them by cell. */
    reef_status s = ranks__agree(r, mine.failed ? REEF_NO_MEMORY : REEF_OK);
    if (s == REEF_OK) ranks__gather(r, &mine, &all);
    *sum = 0;
    while (s == REEF_OK && all.at < all.count) {
        double x;
        memcpy(&x, ranks__take(&all, sizeof x), sizeof x);
        *sum += x;
    }
    ranks__bytes_free(&mine);
    ranks__bytes_free(&all);
    return s;
}

reef_status reef_ranks_count(reef_ranks *r, uint64_t *count)
{
    if (r == NULL || count == NULL) return REEF_BAD_ARGUMENT;
    *count = r->owned;
    ranks__reduce(r, count, 1, MPI_UINT64_T, MPI_SUM);
    return REEF_OK;
}

reef_status reef_ranks_digest(reef_ranks *r, uint64_t *digest)
{
    if (r == NULL || digest == NULL) return REEF_BAD_ARGUMENT;
    ranks__messages_sort(r);
    *digest = ranks__digest_here(r);
    ranks__reduce(r, digest, 1, MPI_UINT64_T, MPI_SUM);
    return REEF_OK;
}

reef_ranks_stats reef_ranks_statistics(const reef_ranks *r)
{
    reef_ranks_stats s = {0};
    if (r == NULL) return s;
    s = r->stats;
    s.entities = r->owned;
    s.ghosts = r->ghosts;
    s.remote = r->remote;
    return s;
}

/* ---- sources ---- */

static int entity_order(const void *a, const void *b)
{
    const reef_entity *x = a, *y = b;
    return (x->index > y->index) - (x->index < y->index);
}

/* Each source is listed by the rank where it lives; those that all ranks have, by the first one. */
static void sources_put(const reef_ranks *r, reef_component relation, reef_entity target, bytes *to)
{
    for (reef_sources s = reef_sources_of_id(r->world, target, relation); reef_sources_next(&s);)
        for (uint32_t i = 0; i < s.count; i++) {
            const reef_ranks_place where = reef_ranks_where(r, s.sources[i]);
            if (where == REEF_RANKS_HERE || (where == REEF_RANKS_EVERYWHERE && r->rank == 0))
                ranks__put_entity(to, s.sources[i]);
        }
}

reef_status reef_ranks_sources(reef_ranks *r, reef_component relation, reef_entity target, reef_entity *sources,
                               uint32_t room, uint64_t *count)
{
    bytes mine = {0}, all = {0};
    if (r == NULL || count == NULL || (room && sources == NULL)) return REEF_BAD_ARGUMENT;
    r->reason[0] = 0;
    sources_put(r, relation, target, &mine);
    const reef_status s = ranks__agree(r, mine.failed ? REEF_NO_MEMORY : REEF_OK);
    if (s == REEF_OK) ranks__gather(r, &mine, &all);
    *count = all.count / sizeof(reef_entity);
    if (*count) qsort(all.data, (size_t)*count, sizeof(reef_entity), entity_order);
    const size_t given = *count < room ? (size_t)*count : room;
    if (given) memcpy(sources, all.data, given * sizeof *sources);
    ranks__bytes_free(&mine);
    ranks__bytes_free(&all);
    return s;
}

/* ---- memory ---- */

static uint64_t cell_bytes(const cell *c)
{
    return sizeof *c + c->room * sizeof *c->members + c->ids.room * sizeof *c->ids.free;
}

static uint64_t list_bytes(const ghost_list *l) { return l->room * sizeof *l->of + l->values.room; }

uint64_t reef_ranks_bytes(const reef_ranks *r)
{
    if (r == NULL) return 0;
    const size_t cells = r->end_cell - r->first_cell + (size_t)1;
    uint64_t n = sizeof *r + ((size_t)r->size + 1 + ranks__groups(r->config.cells)) * sizeof(uint32_t);
    n += cells * sizeof *r->near_first + r->near_room * sizeof *r->near + r->visible_room * sizeof *r->visible;
    for (uint32_t c = r->first_cell; c < r->end_cell; c++) n += cell_bytes(ranks__own(r, c));
    for (uint32_t i = 0; i < r->ghost_cell_count; i++) n += cell_bytes(&r->ghost_cells[i]);
    n += (r->ghost_cell_room - r->ghost_cell_count) * sizeof *r->ghost_cells;
    for (uint32_t i = 0; i < r->neighbour_count; i++) {
        const neighbour *x = &r->neighbours[i];
        n += sizeof *x + x->cell_room * sizeof *x->cells + list_bytes(&x->sent) + list_bytes(&x->now);
        n += 2 * (sizeof *r->near_out + sizeof *r->near_requests) + r->near_out[i].room;
        n += r->near_out[r->neighbour_count + i].room;
    }
    n += r->waiting.room * sizeof *r->waiting.of + r->waiting.values.room;
    return n + r->dead_room * sizeof *r->dead + r->leaving_room * sizeof *r->leaving;
}
