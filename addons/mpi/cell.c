/* Cells: which rank has them, who is in them, and their ids.
 *
 * Each cell has ids of its own: those that became free in it, used oldest first, and ranges of REEF_RANKS_RANGE indices
 * that were never used. Ranges are given out in the order of cells, after a look at what all ranks need; so which id an
 * entity gets depends on the cells and on nothing else.
 *
 *   group 0 (cells 0 ... 255)             group 1 (cells 256 ... 511)           then pages of whatever group needs one
 *   |cell 0|cell 1|cell 5|cell 0| free  | |cell 260|cell 256| free            | ...
 *   page of 4,096 indices                 page of 4,096 indices
 *
 * The cells of a group share pages, and no two groups do. reef keeps records by pages (reef_reserve_range), so a rank
 * has few pages with ids of other ranks, however slowly the ids grew. */
#include "ranks.h"

static uint32_t ghost_cell_seek(const reef_ranks *r, uint32_t c)
{
    uint32_t low = 0, high = r->ghost_cell_count;
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        if (r->ghost_cells[middle].number < c) low = middle + 1;
        else high = middle;
    }
    return low;
}

cell *ranks__cell(const reef_ranks *r, uint32_t c)
{
    if (ranks__mine(r, c)) return ranks__own(r, c);
    const uint32_t at = ghost_cell_seek(r, c);
    return at < r->ghost_cell_count && r->ghost_cells[at].number == c ? &r->ghost_cells[at] : NULL;
}

/* ---- members ---- */

static uint32_t member_seek(const cell *c, reef_entity e)
{
    uint32_t low = 0, high = c->count;
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        if (c->members[middle].index < e.index) low = middle + 1;
        else high = middle;
    }
    return low;
}

bool ranks__member_add(reef_ranks *r, uint32_t number, reef_entity e)
{
    cell *c = ranks__cell(r, number);
    if (c == NULL || !ranks__room(&c->members, &c->room, (size_t)c->count + 1, sizeof *c->members)) return false;
    const uint32_t at = member_seek(c, e);
    memmove(c->members + at + 1, c->members + at, (c->count - at) * sizeof *c->members);
    c->members[at] = e;
    c->count++;
    if (ranks__mine(r, number)) r->owned++;
    else r->ghosts++;
    return true;
}

void ranks__member_drop(reef_ranks *r, uint32_t number, reef_entity e)
{
    cell *c = ranks__cell(r, number);
    const uint32_t at = c ? member_seek(c, e) : 0;
    if (c == NULL || at == c->count || !reef_entity_equal(c->members[at], e)) return;
    memmove(c->members + at, c->members + at + 1, (c->count - at - 1) * sizeof *c->members);
    c->count--;
    if (ranks__mine(r, number)) r->owned--;
    else r->ghosts--;
}

bool ranks__see(reef_ranks *r)
{
    uint32_t n = 0;
    r->all_enabled = reef_query_count(r->world, r->enabled) == r->owned;
    if (r->all_enabled) return true;
    if (!ranks__room(&r->visible, &r->visible_room, r->owned + 1, sizeof *r->visible)) return false;
    for (uint32_t i = r->first_cell; i < r->end_cell; i++) {
        cell *c = ranks__own(r, i);
        c->seen = n;
        for (uint32_t k = 0; k < c->count; k++)
            if (reef_is_enabled(r->world, c->members[k])) r->visible[n++] = c->members[k];
        c->seen_count = n - c->seen;
    }
    return true;
}

bool reef_ranks_around(const reef_ranks *r, uint32_t from, uint32_t i, reef_ranks_members *members)
{
    if (r == NULL || members == NULL || from >= r->config.cells || !ranks__mine(r, from)) return false;
    const uint32_t *first = &r->near_first[from - r->first_cell], near = first[0], count = first[1] - near;
    if (i > count || (r->inner_only && !ranks__own(r, from)->inner)) return false;
    const uint32_t number = i ? r->near[near + i - 1] : from;
    const cell *c = ranks__cell(r, number);
    const bool some = !r->all_enabled && ranks__mine(r, number); /* all ghosts are shown */
    *members =
        some ? (reef_ranks_members){r->visible + c->seen, c->seen_count} : (reef_ranks_members){c->members, c->count};
    return true;
}

reef_status ranks__inner_mark(reef_ranks *r, reef_entity e, uint32_t c)
{
    if (!r->config.overlap || reef_has(r->world, e, ReefInner) == ranks__own(r, c)->inner) return REEF_OK;
    return ranks__own(r, c)->inner ? reef_add(r->world, e, ReefInner) : reef_remove(r->world, e, ReefInner);
}

/* ---- dividing ---- */

static void neighbours_free(reef_ranks *r)
{
    for (uint32_t i = 0; r->near_out && i < 2 * r->neighbour_count; i++) ranks__bytes_free(&r->near_out[i]);
    for (uint32_t i = 0; i < r->neighbour_count; i++) {
        neighbour *n = &r->neighbours[i];
        free(n->cells);
        free(n->sent.of);
        free(n->now.of);
        ranks__bytes_free(&n->sent.values);
        ranks__bytes_free(&n->now.values);
    }
    free(r->near_out);
    free(r->near_requests);
    free(r->neighbours);
    r->near_out = NULL;
    r->near_requests = NULL;
    r->neighbours = NULL;
    r->neighbour_count = 0;
}

static void cell_free(cell *c)
{
    free(c->members);
    free(c->ids.free);
}

static void ghost_cells_free(reef_ranks *r)
{
    for (uint32_t i = 0; i < r->ghost_cell_count; i++) cell_free(&r->ghost_cells[i]);
    r->ghost_cell_count = 0;
}

void ranks__cells_free(reef_ranks *r)
{
    for (uint32_t i = 0; i < r->end_cell - r->first_cell; i++) cell_free(&r->cells[i]);
    ghost_cells_free(r);
    neighbours_free(r);
    free(r->starts);
    free(r->cells);
    free(r->ghost_cells);
    free(r->near_first);
    free(r->near);
    free(r->groups);
    free(r->visible);
}

/* Another rank sees a cell of ours. */
static bool neighbour_sees(reef_ranks *r, int rank, uint32_t c)
{
    neighbour *n = NULL;
    for (uint32_t i = 0; i < r->neighbour_count && n == NULL; i++)
        if (r->neighbours[i].rank == rank) n = &r->neighbours[i];
    if (n == NULL) {
        neighbour *more = realloc(r->neighbours, (r->neighbour_count + 1) * sizeof *more);
        if (more == NULL) return false;
        r->neighbours = more;
        n = &more[r->neighbour_count++];
        *n = (neighbour){.rank = rank};
    }
    if (n->cell_count && n->cells[n->cell_count - 1] == c) return true;
    if (!ranks__room(&n->cells, &n->cell_room, (size_t)n->cell_count + 1, sizeof *n->cells)) return false;
    n->cells[n->cell_count++] = c;
    return true;
}

/* Makes room for the cells of this rank. Those that it had and keeps are moved there. */
static bool own_make(reef_ranks *r, uint32_t first, uint32_t end)
{
    cell *cells = calloc((size_t)(end - first) + 1, sizeof *cells);
    uint32_t *near_first = calloc((size_t)(end - first) + 1, sizeof *near_first);
    if (cells == NULL || near_first == NULL) {
        free(cells);
        free(near_first);
        return false;
    }
    for (uint32_t c = first; c < end; c++) {
        if (ranks__mine(r, c)) cells[c - first] = *ranks__own(r, c);
        cells[c - first].number = c;
    }
    for (uint32_t c = r->first_cell; c < r->end_cell; c++)
        if (c < first || c >= end) cell_free(ranks__own(r, c));
    free(r->cells);
    free(r->near_first);
    r->cells = cells;
    r->near_first = near_first;
    r->first_cell = first;
    r->end_cell = end;
    return true;
}

uint32_t *ranks__near_room(const reef_ranks *r)
{
    const size_t cells = r->config.cells > REEF_RANKS_NEAR_MAX ? r->config.cells : REEF_RANKS_NEAR_MAX;
    return malloc(cells * sizeof(uint32_t));
}

/* Adds the cells near cell c to the list, of which n are there. */
static reef_status near_add(reef_ranks *r, uint32_t c, uint32_t *room, uint32_t *n)
{
    const uint32_t count = r->config.near(c, room, r->config.context);
    if (count > REEF_RANKS_NEAR_MAX)
        return ranks__fail(r, REEF_BAD_ARGUMENT, "%u cells are near cell %u, and at most %d can be", count, c,
                           REEF_RANKS_NEAR_MAX);
    if (!ranks__room(&r->near, &r->near_room, (size_t)*n + count + 1, sizeof *r->near)) return REEF_NO_MEMORY;
    if (count) memcpy(r->near + *n, room, count * sizeof *room);
    *n += count;
    return REEF_OK;
}

static reef_status near_make(reef_ranks *r)
{
    uint32_t *room = ranks__near_room(r), n = 0;
    reef_status s = room ? REEF_OK : REEF_NO_MEMORY;
    for (uint32_t c = r->first_cell; s == REEF_OK && c < r->end_cell; c++) {
        if (r->config.near) s = near_add(r, c, room, &n);
        r->near_first[c - r->first_cell + 1] = n;
    }
    free(room);
    return s;
}

static int cell_order(const void *a, const void *b)
{
    const cell *x = a, *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

/* Lists the cells of other ranks that are near: some of them several times, until the list is sorted. */
static bool ghost_cells_make(reef_ranks *r)
{
    uint32_t n = 0, kept = 0;
    const uint32_t end = r->near_first[r->end_cell - r->first_cell];
    ghost_cells_free(r);
    for (uint32_t k = 0; k < end; k++) {
        if (ranks__mine(r, r->near[k])) continue;
        if (!ranks__room(&r->ghost_cells, &r->ghost_cell_room, (size_t)n + 1, sizeof *r->ghost_cells)) return false;
        r->ghost_cells[n++] = (cell){.number = r->near[k]};
    }
    if (n) qsort(r->ghost_cells, n, sizeof *r->ghost_cells, cell_order);
    for (uint32_t k = 0; k < n; k++)
        if (kept == 0 || r->ghost_cells[kept - 1].number != r->ghost_cells[k].number)
            r->ghost_cells[kept++] = r->ghost_cells[k];
    r->ghost_cell_count = kept;
    return true;
}

static bool neighbours_find(reef_ranks *r)
{
    bool ok = true;
    neighbours_free(r);
    for (uint32_t c = r->first_cell; ok && c < r->end_cell; c++) {
        const uint32_t *first = &r->near_first[c - r->first_cell];
        ranks__own(r, c)->inner = true;
        for (uint32_t k = first[0]; ok && k < first[1]; k++) {
            if (ranks__mine(r, r->near[k])) continue;
            ok = neighbour_sees(r, (int)ranks__owner(r, r->near[k]), c);
            ranks__own(r, c)->inner = false;
        }
    }
    const size_t n = r->neighbour_count;
    r->near_out = calloc(2 * n + 1, sizeof *r->near_out);
    r->near_requests = calloc(2 * n + 1, sizeof(MPI_Request));
    return ok && r->near_out && r->near_requests;
}

void ranks__cells_divide(const reef_ranks *r, const uint64_t *weight, uint32_t *starts)
{
    const uint32_t size = (uint32_t)r->size;
    uint64_t sum = 0, before = 0;
    uint32_t begun = 0;
    for (uint32_t c = 0; c < r->config.cells; c++) sum += weight[c] + 1; /* an empty cell isn't free of cost */
    for (uint32_t c = 0; c < r->config.cells; c++) {
        const uint64_t owner = (before + (weight[c] + 1) / 2) * size / sum;
        before += weight[c] + 1;
        while (begun <= owner) starts[begun++] = c;
    }
    while (begun <= size) starts[begun++] = r->config.cells;
}

reef_status ranks__cells_take(reef_ranks *r, const uint32_t *starts)
{
    const size_t n = (size_t)r->size + 1;
    if (r->starts == NULL) r->starts = calloc(n, sizeof *starts);
    if (r->groups == NULL) r->groups = calloc(ranks__groups(r->config.cells), sizeof *r->groups);
    if (!r->starts || !r->groups || !own_make(r, starts[r->rank], starts[r->rank + 1])) return REEF_NO_MEMORY;
    memcpy(r->starts, starts, n * sizeof *starts);
    const reef_status s = near_make(r);
    if (s != REEF_OK) return s;
    return ghost_cells_make(r) && neighbours_find(r) ? REEF_OK : REEF_NO_MEMORY;
}

/* ---- ids ---- */

reef_status ranks__ids_hold(reef_ranks *r)
{
    for (uint64_t n = reef_world_stats(r->world).free_ids; n > 0; n--)
        if (reef_entity_is_null(reef_reserve_id(r->world)))
            return ranks__fail(r, reef_last_error(r->world).status, "ids can't be reserved");
    const uint64_t indices = reef_world_stats(r->world).indices;
    if (indices == r->index_end) return REEF_OK;
    if (indices < r->index_end) {
        const reef_entity e = reef_reserve_range(r->world, r->index_end - (uint32_t)indices);
        return reef_entity_is_null(e) ? ranks__fail(r, reef_last_error(r->world).status, "ids can't be reserved")
                                      : REEF_OK;
    }
    return ranks__fail(r, REEF_UNDECLARED, "an entity was spawned on one rank; send a message with `born` instead");
}

bool ranks__id_back(reef_ranks *r, uint32_t c, reef_entity dead)
{
    cell_ids *ids = &ranks__own(r, c)->ids;
    if (dead.generation == UINT32_MAX) return true; /* this index is used up */
    if (ids->first > 64 && ids->first > ids->count / 2) {
        memmove(ids->free, ids->free + ids->first, (ids->count - ids->first) * sizeof *ids->free);
        ids->count -= ids->first;
        ids->first = 0;
    }
    if (!ranks__room(&ids->free, &ids->room, (size_t)ids->count + 1, sizeof *ids->free)) return false;
    ids->free[ids->count++] = (reef_entity){dead.index, dead.generation + 1};
    return true;
}

reef_entity ranks__id_take(reef_ranks *r, uint32_t c)
{
    cell_ids *ids = &ranks__own(r, c)->ids;
    if (ids->first < ids->count) return ids->free[ids->first++];
    return (reef_entity){ids->next++, 1};
}

/* The ranges that a cell lacks, for what its ids don't cover. */
static uint32_t ranges_lacking(const cell_ids *ids, uint32_t need)
{
    const uint32_t there = ids->count - ids->first + (ids->end - ids->next);
    return need <= there ? 0 : (need - there + REEF_RANKS_RANGE - 1) / REEF_RANKS_RANGE;
}

/* A cell continues in its new ranges where the old one ends: what is left of that is used as free ids first. */
static bool range_give(reef_ranks *r, uint32_t c, uint32_t from, uint32_t count)
{
    cell_ids *ids = &ranks__own(r, c)->ids;
    for (; ids->next < ids->end; ids->next++) {
        if (!ranks__room(&ids->free, &ids->room, (size_t)ids->count + 1, sizeof *ids->free)) return false;
        ids->free[ids->count++] = (reef_entity){ids->next, 1};
    }
    ids->next = from;
    ids->end = from + count;
    return true;
}

/* Takes n indices that follow one another for a cell of this group: from its page, or from new ones, with the rest of
 * that page if they follow it. All ranks do the same. */
static uint32_t group_take(reef_ranks *r, uint32_t group, uint32_t n, uint64_t *end)
{
    uint32_t *next = &r->groups[group];
    const uint32_t rest = (GROUP_PAGE - *next % GROUP_PAGE) % GROUP_PAGE;
    if (n > rest) {
        if (*next + rest != *end) *next = (uint32_t)*end;
        *end = ((uint64_t)*next + n + GROUP_PAGE - 1) / GROUP_PAGE * GROUP_PAGE;
    }
    *next += n;
    return *next - n;
}

reef_status ranks__ids_provide(reef_ranks *r, reef_status s, const uint32_t *need)
{
    bytes mine = {0}, all = {0};
    uint64_t end = r->index_end;
    int64_t lacking = 0;
    for (uint32_t c = r->first_cell; s == REEF_OK && c < r->end_cell; c++) {
        const uint32_t n = ranges_lacking(&ranks__own(r, c)->ids, need[c - r->first_cell]);
        if (n == 0) continue;
        ranks__put_u32(&mine, c);
        ranks__put_u32(&mine, n);
        lacking++;
    }
    s = ranks__agree_on(r, mine.failed ? REEF_NO_MEMORY : s, &lacking);
    if (s == REEF_OK && lacking) ranks__gather(r, &mine, &all);
    while (s == REEF_OK && all.at < all.count) {
        const uint32_t c = ranks__take_u32(&all), n = ranks__take_u32(&all) * REEF_RANKS_RANGE;
        if (end + n + 2 * GROUP_PAGE >= UINT32_MAX) {
            s = ranks__fail(r, REEF_LIMIT, "the ids are used up");
            break;
        }
        const uint32_t from = group_take(r, c / GROUP_CELLS, n, &end);
        if (ranks__mine(r, c) && !range_give(r, c, from, n)) s = REEF_NO_MEMORY;
    }
    if (s == REEF_OK) r->index_end = (uint32_t)end;
    ranks__bytes_free(&mine);
    ranks__bytes_free(&all);
    return s == REEF_OK ? ranks__ids_hold(r) : s;
}

void ranks__ids_put(bytes *b, uint32_t c, const cell_ids *ids)
{
    ranks__put_u32(b, c);
    ranks__put_u32(b, ids->next);
    ranks__put_u32(b, ids->end);
    ranks__put_u32(b, ids->count - ids->first);
    if (ids->count > ids->first) ranks__put(b, ids->free + ids->first, (ids->count - ids->first) * sizeof *ids->free);
}

/* The ids of one cell, which are taken if it is of this rank. */
static reef_status ids_take(reef_ranks *r, bytes *b)
{
    const uint32_t c = ranks__take_u32(b), next = ranks__take_u32(b), end = ranks__take_u32(b),
                   count = ranks__take_u32(b);
    const unsigned char *from = ranks__take(b, count * sizeof(reef_entity));
    if (from == NULL || c >= r->config.cells || next > end) return REEF_CORRUPT;
    if (!ranks__mine(r, c)) return REEF_OK;
    cell_ids *ids = &ranks__own(r, c)->ids;
    if (count && !ranks__room(&ids->free, &ids->room, count, sizeof *ids->free)) return REEF_NO_MEMORY;
    if (count) memcpy(ids->free, from, count * sizeof *ids->free);
    ids->next = next;
    ids->end = end;
    ids->first = 0;
    ids->count = count;
    return REEF_OK;
}

reef_status ranks__ids_unpack(reef_ranks *r, bytes *b)
{
    reef_status s = REEF_OK;
    while (s == REEF_OK && b->at < b->count) s = ids_take(r, b);
    return s;
}

/* ---- the dead ---- */

static int dead_order(const void *a, const void *b)
{
    const cell_entity *x = a, *y = b;
    if (x->cell != y->cell) return x->cell < y->cell ? -1 : 1;
    return (x->entity.index > y->entity.index) - (x->entity.index < y->entity.index);
}

/* Takes the dead of a cell out of it, and lists those of this rank. */
static bool dead_take(reef_ranks *r, cell *c)
{
    const bool mine = ranks__mine(r, c->number);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < c->count; i++) {
        const reef_entity e = c->members[i];
        if (reef_is_alive(r->world, e)) {
            c->members[kept++] = e;
            continue;
        }
        if (!mine) continue;
        if (!ranks__room(&r->dead, &r->dead_room, (size_t)r->dead_count + 1, sizeof *r->dead)) return false;
        r->dead[r->dead_count++] = (cell_entity){c->number, e};
    }
    if (mine) r->owned -= c->count - kept;
    else r->ghosts -= c->count - kept;
    c->count = kept;
    return true;
}

/* What died on other ranks dies here, with what hangs on it. */
static reef_status dead_follow(reef_ranks *r, bytes *all)
{
    while (all->at < all->count) {
        const reef_entity e = ranks__take_entity(all);
        if (!reef_is_alive(r->world, e)) continue;
        if (!reef_has(r->world, e, ReefCell)) r->remote--;
        const reef_status s = reef_destroy(r->world, e);
        if (s != REEF_OK)
            return ranks__fail(r, s, "an entity that died on another rank can't be destroyed: %s", reef_status_text(s));
    }
    return REEF_OK;
}

/* One round: finds who is dead here, tells the other ranks, and follows what they tell. The number of the dead is that
 * of the rank which has most. */
static reef_status dead_round(reef_ranks *r, reef_status s, int64_t *died)
{
    bytes mine = {0}, all = {0};
    const uint32_t before = r->dead_count;
    for (uint32_t c = r->first_cell; s == REEF_OK && c < r->end_cell; c++)
        if (!dead_take(r, ranks__own(r, c))) s = REEF_NO_MEMORY;
    for (uint32_t i = 0; s == REEF_OK && i < r->ghost_cell_count; i++)
        if (!dead_take(r, &r->ghost_cells[i])) s = REEF_NO_MEMORY;
    for (uint32_t i = before; i < r->dead_count; i++) ranks__put_entity(&mine, r->dead[i].entity);
    *died = r->dead_count - before;
    s = ranks__agree_on(r, mine.failed ? REEF_NO_MEMORY : s, died);
    if (s == REEF_OK && *died && r->size > 1) {
        ranks__gather(r, &mine, &all);
        s = dead_follow(r, &all);
    }
    ranks__bytes_free(&mine);
    ranks__bytes_free(&all);
    return s;
}

reef_status ranks__bury(reef_ranks *r, reef_status s)
{
    int64_t died = 0;
    r->dead_count = 0;
    /* Relations that cascade from rank to rank take several rounds. A failure of one ends at the next. */
    do s = dead_round(r, s, &died);
    while (died > 0 && r->size > 1);
    if (r->dead_count) qsort(r->dead, r->dead_count, sizeof *r->dead, dead_order);
    for (uint32_t i = 0; s == REEF_OK && i < r->dead_count; i++)
        if (!ranks__id_back(r, r->dead[i].cell, r->dead[i].entity)) s = REEF_NO_MEMORY;
    return s == REEF_OK ? ranks__ids_hold(r) : s;
}
