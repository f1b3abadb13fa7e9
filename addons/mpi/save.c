/* Saving a world of many ranks, and loading it on any number of them.
 *
 *   path.TICK.RANK   the world of a rank: a file of reef, ghosts and all
 *   path             the index: what isn't in the worlds (ids of the cells, messages under way), the division, the
 *                    digest
 *
 * The index is written last and replaces the old one in one step, so it always names a complete set of files. A rank
 * that loads reads the worlds in which its cells were, takes the first one as it is, and adds the entities of its
 * cells in the others as if they had travelled. */
#include "ranks.h"

#include <inttypes.h>
#include <stdio.h>

enum { INDEX_VERSION = 1, PATH_MAX_BYTES = 4096 };
static const char magic[8] = "REEFRANK";

typedef struct ranks_index {
    uint32_t cells, size, index_base, index_end;
    uint64_t tick, digest;
    uint32_t *starts, *count; /* the first cell of each rank, and where they end; entities of each cell */
    uint32_t *groups;         /* the next index of each group of cells */
    bytes ids, messages, all;
} ranks_index;

static void index_free(ranks_index *x)
{
    free(x->starts);
    free(x->count);
    free(x->groups);
    ranks__bytes_free(&x->ids);
    ranks__bytes_free(&x->messages);
    ranks__bytes_free(&x->all);
}

static bool rank_path(char *to, const char *path, uint64_t tick, uint32_t rank)
{
    return snprintf(to, PATH_MAX_BYTES, "%s.%" PRIu64 ".%" PRIu32, path, tick, rank) < PATH_MAX_BYTES;
}

/* Fletcher's sum over 32 bit words with a length, which finds what a torn or changed file is likely to have. (Fletcher,
 * An Arithmetic Checksum for Serial Transmissions, 1982.) */
static uint64_t sum_of(const unsigned char *p, size_t n)
{
    uint64_t a = n, b = 0;
    for (size_t i = 0; i < n; i += 4) {
        uint32_t x = 0;
        memcpy(&x, p + i, n - i < 4 ? n - i : 4);
        a = (a + x) % UINT32_MAX;
        b = (b + a) % UINT32_MAX;
    }
    return b << 32 | a;
}

/* ---- the index ---- */

static void index_put(const ranks_index *x, bytes *to)
{
    ranks__put(to, magic, sizeof magic);
    ranks__put_u32(to, INDEX_VERSION);
    ranks__put_u32(to, x->cells);
    ranks__put_u32(to, x->size);
    ranks__put_u32(to, x->index_base);
    ranks__put_u32(to, x->index_end);
    ranks__put_u64(to, x->tick);
    ranks__put_u64(to, x->digest);
    ranks__put(to, x->starts, ((size_t)x->size + 1) * sizeof *x->starts);
    ranks__put(to, x->count, x->cells * sizeof *x->count);
    ranks__put(to, x->groups, ranks__groups(x->cells) * sizeof *x->groups);
    ranks__put_u64(to, x->ids.count);
    ranks__put(to, x->ids.data, x->ids.count);
    ranks__put_u64(to, x->messages.count);
    ranks__put(to, x->messages.data, x->messages.count);
    if (!to->failed) ranks__put_u64(to, sum_of(to->data, to->count));
}

static bool part_take(bytes *from, bytes *part)
{
    const size_t n = (size_t)ranks__take_u64(from);
    const unsigned char *p = ranks__take(from, n);
    if (p) ranks__put(part, p, n);
    return p != NULL && !part->failed;
}

static reef_status list_take(bytes *from, size_t n, uint32_t **list)
{
    const unsigned char *p = ranks__take(from, n * sizeof **list);
    *list = p ? malloc(n * sizeof **list) : NULL;
    if (*list) memcpy(*list, p, n * sizeof **list);
    return p == NULL ? REEF_CORRUPT : *list ? REEF_OK : REEF_NO_MEMORY;
}

static reef_status index_take(ranks_index *x)
{
    bytes *b = &x->all;
    const unsigned char *m = ranks__take(b, sizeof magic);
    if (b->count < 16 || m == NULL || memcmp(m, magic, sizeof magic) != 0) return REEF_CORRUPT;
    if (ranks__take_u32(b) != INDEX_VERSION) return REEF_VERSION;
    uint64_t sum;
    memcpy(&sum, b->data + b->count - sizeof sum, sizeof sum);
    if (sum != sum_of(b->data, b->count - sizeof sum)) return REEF_CORRUPT;
    x->cells = ranks__take_u32(b);
    x->size = ranks__take_u32(b);
    x->index_base = ranks__take_u32(b);
    x->index_end = ranks__take_u32(b);
    x->tick = ranks__take_u64(b);
    x->digest = ranks__take_u64(b);
    if (b->failed || x->cells == 0 || x->cells > REEF_RANKS_CELLS_MAX || x->size == 0) return REEF_CORRUPT;
    reef_status s = list_take(b, (size_t)x->size + 1, &x->starts);
    if (s == REEF_OK) s = list_take(b, x->cells, &x->count);
    if (s == REEF_OK) s = list_take(b, ranks__groups(x->cells), &x->groups);
    if (s != REEF_OK) return s;
    return part_take(b, &x->ids) && part_take(b, &x->messages) ? REEF_OK : REEF_CORRUPT;
}

static reef_status index_read(const char *path, ranks_index *x)
{
    unsigned char part[65536];
    FILE *f = fopen(path, "rb");
    if (f == NULL) return REEF_IO;
    for (size_t n; (n = fread(part, 1, sizeof part, f)) > 0;) ranks__put(&x->all, part, n);
    const bool bad = ferror(f) != 0;
    fclose(f);
    return bad ? REEF_IO : x->all.failed ? REEF_NO_MEMORY : index_take(x);
}

/* ---- saving ---- */

static reef_status index_produce(void *context, reef_writer to)
{
    const bytes *b = context;
    return to.write(to.context, b->data, b->count);
}

/* The numbers of entities of all cells, in their order, since ranks have cells in order. */
static reef_status counts_gather(reef_ranks *r, ranks_index *x)
{
    bytes mine = {0}, all = {0};
    for (uint32_t c = r->first_cell; c < r->end_cell; c++) ranks__put_u32(&mine, ranks__own(r, c)->count);
    reef_status s = ranks__agree(r, mine.failed ? REEF_NO_MEMORY : REEF_OK);
    if (s == REEF_OK) ranks__gather(r, &mine, &all);
    if (s == REEF_OK) memcpy(x->count, all.data, x->cells * sizeof *x->count);
    ranks__bytes_free(&mine);
    ranks__bytes_free(&all);
    return s;
}

static uint32_t *list_copy(const uint32_t *list, size_t n)
{
    uint32_t *copy = malloc(n * sizeof *copy);
    return copy ? memcpy(copy, list, n * sizeof *copy) : NULL;
}

static reef_status index_make(reef_ranks *r, ranks_index *x)
{
    bytes ids = {0}, messages = {0};
    *x = (ranks_index){.cells = r->config.cells,
                       .size = (uint32_t)r->size,
                       .index_base = r->index_base,
                       .index_end = r->index_end,
                       .tick = reef_tick_count(r->world)};
    x->starts = list_copy(r->starts, (size_t)r->size + 1);
    x->groups = list_copy(r->groups, ranks__groups(x->cells));
    x->count = calloc(x->cells, sizeof *x->count);
    for (uint32_t c = r->first_cell; c < r->end_cell; c++) ranks__ids_put(&ids, c, &ranks__own(r, c)->ids);
    ranks__messages_put(r, &messages);
    reef_status s = ranks__agree(
        r, x->starts && x->groups && x->count && !ids.failed && !messages.failed ? REEF_OK : REEF_NO_MEMORY);
    if (s == REEF_OK) s = counts_gather(r, x);
    if (s == REEF_OK) ranks__gather(r, &ids, &x->ids);
    if (s == REEF_OK) ranks__gather(r, &messages, &x->messages);
    if (s == REEF_OK) s = reef_ranks_digest(r, &x->digest);
    ranks__bytes_free(&ids);
    ranks__bytes_free(&messages);
    return s;
}

static reef_status index_write(reef_ranks *r, const char *path, const ranks_index *x)
{
    char why[REEF_DETAIL_MAX] = "";
    bytes b = {0};
    if (r->rank != 0) return REEF_OK;
    index_put(x, &b);
    const reef_status s = b.failed ? REEF_NO_MEMORY : reef_file_replace(path, true, index_produce, &b, why);
    ranks__bytes_free(&b);
    return s == REEF_OK ? s : ranks__fail(r, s, "writing the index: %s", why[0] ? why : reef_status_text(s));
}

reef_status reef_ranks_save(reef_ranks *r, const char *path)
{
    char file[PATH_MAX_BYTES];
    ranks_index x = {0}, old = {0};
    if (r == NULL || path == NULL) return REEF_BAD_ARGUMENT;
    r->reason[0] = 0;
    const bool replaces = index_read(path, &old) == REEF_OK;
    reef_status s = index_make(r, &x);
    if (s == REEF_OK && !rank_path(file, path, x.tick, (uint32_t)r->rank)) s = REEF_BAD_ARGUMENT;
    if (s == REEF_OK) {
        s = reef_save(r->world, file, &(reef_save_desc){.raw = true});
        if (s != REEF_OK) ranks__fail(r, s, "saving: %s %s", reef_status_text(s), reef_last_error(r->world).detail);
    }
    s = ranks__agree(r, s);
    if (s == REEF_OK) s = ranks__agree(r, index_write(r, path, &x));
    /* The old files are of no use any more. */
    for (uint32_t i = (uint32_t)r->rank; s == REEF_OK && replaces && old.tick != x.tick && i < old.size;
         i += (uint32_t)r->size)
        if (rank_path(file, path, old.tick, i)) (void)remove(file);
    index_free(&x);
    index_free(&old);
    return s;
}

/* ---- loading ---- */

static void note_nothing(void *context, const reef_load_note *note)
{
    (void)context;
    (void)note;
}

static reef_status world_load(reef_ranks *r, reef_world *w, const char *path, uint64_t tick, uint32_t rank)
{
    char file[PATH_MAX_BYTES];
    if (!rank_path(file, path, tick, rank)) return REEF_BAD_ARGUMENT;
    const reef_status s = reef_load(w, file, &(reef_load_desc){.note = note_nothing});
    if (s == REEF_OK) return s;
    return ranks__fail(r, s, "loading the world of rank %u: %s %s", rank, reef_status_text(s),
                       reef_last_error(w).detail);
}

/* Lists all entities of a world that have a cell. */
static reef_status celled_list(reef_world *w, cell_entity **list, uint32_t *n)
{
    uint32_t room = 0;
    reef_status s = REEF_OK;
    const reef_query q = reef_query_new(w, "in ReefCell, either *");
    *list = NULL;
    *n = 0;
    if (reef_query_is_null(q)) return reef_last_error(w).status;
    for (reef_block b = reef_begin(w, q); reef_next(&b);) {
        const ReefCell *at = reef_in(&b, ReefCell);
        for (uint32_t i = 0; s == REEF_OK && i < b.count; i++) {
            if (!ranks__room(list, &room, (size_t)*n + 1, sizeof **list)) s = REEF_NO_MEMORY;
            else (*list)[(*n)++] = (cell_entity){at[i].cell, b.entities[i]};
        }
    }
    reef_query_free(w, q);
    return s;
}

/* The world that is taken as it is: what isn't of our cells becomes a handle. */
static reef_status first_take(reef_ranks *r)
{
    cell_entity *list;
    uint32_t n;
    reef_status s = celled_list(r->world, &list, &n);
    for (uint32_t i = 0; s == REEF_OK && i < n; i++) {
        const reef_entity e = list[i].entity;
        if (list[i].cell >= r->config.cells) s = REEF_CORRUPT;
        else if (reef_has(r->world, e, ReefGhost) || !ranks__mine(r, list[i].cell)) s = ranks__leave(r, e);
        else if (!ranks__member_add(r, list[i].cell, e)) s = REEF_NO_MEMORY;
        else s = ranks__inner_mark(r, e, list[i].cell);
    }
    free(list);
    return s;
}

/* What another world has of our cells. */
static reef_status other_take(reef_ranks *r, reef_world *from)
{
    cell_entity *list;
    uint32_t n;
    packet p = {0};
    bytes b = {0};
    reef_status s = celled_list(from, &list, &n);
    for (uint32_t i = 0; s == REEF_OK && i < n; i++)
        if (list[i].cell < r->config.cells && ranks__mine(r, list[i].cell) &&
            !reef_has(from, list[i].entity, ReefGhost))
            s = ranks__pack(r, &p, from, list[i].entity, list[i].cell);
    if (s == REEF_OK) ranks__seal(&p, &b);
    if (s == REEF_OK) s = b.failed ? REEF_NO_MEMORY : ranks__unpack(r, &b);
    ranks__packet_free(&p);
    ranks__bytes_free(&b);
    free(list);
    return s;
}

static reef_status worlds_take(reef_ranks *r, const char *path, const ranks_index *x)
{
    bool first = true;
    reef_status s = REEF_OK;
    for (uint32_t f = 0; s == REEF_OK && f < x->size; f++) {
        bool wanted = r->first_cell == r->end_cell && f == 0; /* a rank without cells needs what all have alike */
        wanted |= x->starts[f] < r->end_cell && r->first_cell < x->starts[f + 1] && x->starts[f] < x->starts[f + 1];
        if (!wanted) continue;
        if (first) {
            s = world_load(r, r->world, path, x->tick, f);
            if (s == REEF_OK) s = first_take(r);
            first = false;
            continue;
        }
        reef_world *other = reef_world_new(&(reef_world_config){.log = reef_log_none});
        s = other ? world_load(r, other, path, x->tick, f) : REEF_NO_MEMORY;
        if (s == REEF_OK) s = other_take(r, other);
        reef_world_free(other);
    }
    r->ghosts = 0;
    r->remote = reef_count_alive(r->world) - r->common - r->owned;
    return s;
}

/* Forgets who is where. */
static void forget(reef_ranks *r)
{
    for (uint32_t c = r->first_cell; c < r->end_cell; c++) {
        cell *x = ranks__own(r, c);
        x->count = x->seen = x->seen_count = 0;
        x->ids.first = x->ids.count = x->ids.next = x->ids.end = 0;
    }
    for (uint32_t i = 0; i < r->ghost_cell_count; i++) r->ghost_cells[i].count = 0;
    r->owned = r->ghosts = r->remote = 0;
    r->waiting.count = 0;
    r->waiting.values.count = 0;
}

static reef_status index_use(reef_ranks *r, ranks_index *x)
{
    uint64_t *weight = malloc(x->cells * sizeof *weight);
    uint32_t *starts = malloc(((size_t)r->size + 1) * sizeof *starts);
    bool ok = weight && starts;
    for (uint32_t c = 0; ok && c < x->cells; c++) weight[c] = x->count[c];
    if (ok) ranks__cells_divide(r, weight, starts);
    reef_status s = ok ? ranks__cells_take(r, starts) : REEF_NO_MEMORY;
    free(weight);
    free(starts);
    if (s == REEF_OK) s = ranks__ids_unpack(r, &x->ids);
    if (s != REEF_OK) return s;
    memcpy(r->groups, x->groups, ranks__groups(x->cells) * sizeof *r->groups);
    r->index_base = x->index_base;
    r->index_end = x->index_end;
    return ranks__messages_get(r, &x->messages);
}

reef_status reef_ranks_load(reef_ranks *r, const char *path)
{
    ranks_index x = {0};
    uint64_t digest = 0;
    if (r == NULL || path == NULL) return REEF_BAD_ARGUMENT;
    r->reason[0] = 0;
    reef_status s = index_read(path, &x);
    if (s != REEF_OK) ranks__fail(r, s, "reading the index: %s", reef_status_text(s));
    else if (x.cells != r->config.cells) s = ranks__fail(r, REEF_OTHER_STATE, "it has %u cells", x.cells);
    s = ranks__agree(r, s);
    if (s == REEF_OK) {
        forget(r);
        s = index_use(r, &x);
        if (s == REEF_OK) s = worlds_take(r, path, &x);
        if (s == REEF_OK) s = ranks__ids_hold(r);
        s = ranks__agree(r, s);
    }
    if (s == REEF_OK) s = ranks__refresh(r, s, NULL);
    if (s == REEF_OK) s = reef_ranks_digest(r, &digest);
    if (s == REEF_OK && digest != x.digest) s = ranks__fail(r, REEF_OTHER_STATE, "the digest isn't that of the index");
    index_free(&x);
    return s;
}
