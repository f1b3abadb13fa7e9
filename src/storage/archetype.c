/* The graph of tables: which sets of components have a table, how each table is laid out, and how one leads to another.
 *
 *      component ──map──► slot of its column in each table            (has, get, "does this query match?")
 *      set of components ──hash──► table
 *      (table, component, add or remove) ──edge──► table, with the moves of the columns that both have
 *
 * The graph belongs to the family and only grows. Nothing of it can be seen from outside, except the layouts of tables
 * with rows. Every change happens under the lock of the family. Worlds of the family read it without the lock, so an
 * array that they may still read when it is replaced is retired, not freed. (Arrays double, so the retired ones take
 * less memory than the live ones.) */
#include "storage/archetype.h"
#include "base/byte_hash.h"
#include "storage/block_index.h"
#include "storage/place.h"
#include "reef/signature.h"
#include "reef/type_info.h"

/* Empty maps, each with the slot behind it that every map has, by what they say in `elsewhere`. */
enum { MAP_SPLIT = ELSEWHERE_NEEDS + 1 };
static struct {
    reef_map map;
    uint16_t slot[2];
} empty_maps[] = {
    [ELSEWHERE_RARE] = {.map = {.elsewhere = ELSEWHERE_RARE}},
    [ELSEWHERE_BITS] = {.map = {.elsewhere = ELSEWHERE_BITS}},
    [ELSEWHERE_STORES] = {.map = {.elsewhere = ELSEWHERE_STORES}},
    [ELSEWHERE_NEEDS] = {.map = {.elsewhere = ELSEWHERE_NEEDS}},
    /* of types that are split by field: the inlined calls must not take their tags for columns */
    [MAP_SPLIT] = {.map = {.elsewhere = ELSEWHERE_RARE}},
};
#define map_none empty_maps[0].map
#define map_split empty_maps[MAP_SPLIT].map

static void *take(family *f, size_t bytes) { return reef__memory_zeroed(&f->memory, MEMORY_TABLES, bytes); }
static void give(family *f, void *p, size_t bytes) { reef__memory_free(&f->memory, MEMORY_TABLES, p, bytes); }

void reef__graph_free_retired(family *f)
{
    if (f->worlds > 1) return;
    for (retired *r = f->graph.retired, *next; r; r = next) {
        next = r->next;
        give(f, r->memory, r->bytes);
        give(f, r, sizeof *r);
    }
    f->graph.retired = NULL;
}

/* Memory that will take the place of `old`, and a node to retire that with, if there is an old one. NULL: there is no
 * memory. */
static void *take_instead(family *f, size_t bytes, const void *old, retired **node)
{
    void *p = take(f, bytes);
    *node = p && old ? take(f, sizeof **node) : NULL;
    if (*node || old == NULL) return p;
    give(f, p, bytes);
    return NULL;
}

/* Retires p, which a thread of another world may still read: it is freed when there is no other world. `node` was
 * allocated before. */
static void retire(family *f, retired *node, void *p, size_t bytes)
{
    *node = (retired){f->graph.retired, p, bytes};
    f->graph.retired = node;
    reef__graph_free_retired(f);
}

/* ---- sets of components ---- */

int reef__shape_compare(const shape *a, const shape *b)
{
    uint32_t n = a->component_count < b->component_count ? a->component_count : b->component_count;
    for (uint32_t i = 0; i < n; i++) {
        int c = reef__ids_compare(a->component[i], b->component[i]);
        if (c) return c;
    }
    return (a->component_count > b->component_count) - (a->component_count < b->component_count);
}

INLINE uint64_t set_hash(const uint32_t *ids, uint32_t count)
{
    uint64_t h = count;
    for (uint32_t i = 0; i < count; i++) h = h * 0x9E3779B97F4A7C15u + ids[i];
    return hash_blend(h);
}

static uint32_t set_find(const graph *g, const uint32_t *ids, uint32_t count, uint64_t hash)
{
    if (g->hash_capacity == 0) return 0;
    uint32_t mask = g->hash_capacity - 1;
    for (uint32_t i = (uint32_t)hash & mask; g->hash[i]; i = (i + 1) & mask) {
        const shape *s = g->shapes[g->hash[i] - 1];
        if (s->component_count == count && (count == 0 || memcmp(s->component, ids, count * sizeof *ids) == 0))
            return s->table;
    }
    return 0;
}

static NOINLINE void set_put(graph *g, const shape *s, uint64_t hash)
{
    uint32_t mask = g->hash_capacity - 1, i = (uint32_t)hash & mask;
    while (g->hash[i]) i = (i + 1) & mask;
    g->hash[i] = s->table + 1;
}

/* ---- maps ---- */

static reef_map **map_of(graph *g, uint32_t c) { return &g->maps[c >> 8][c & 255]; }
static size_t map_bytes(uint32_t capacity) { return sizeof(reef_map) + (1 + capacity) * sizeof(uint16_t); }
static uint16_t *map_slots(reef_map *m) { return (uint16_t *)(m + 1) + 1; }

/* A rare entry is its key and its slot in one word. */
enum { RARE_SLOT_BITS = 16, RARE_TABLE_BITS = 20 };
static uint64_t rare_key(uint32_t component, uint32_t table_id)
{
    return (uint64_t)component << RARE_TABLE_BITS | table_id;
}

static uint32_t rare_find(const graph *g, uint64_t key)
{
    if (g->rare_capacity == 0) return 0;
    uint32_t mask = g->rare_capacity - 1;
    for (uint32_t i = (uint32_t)hash_blend(key) & mask; g->rare[i]; i = (i + 1) & mask)
        if (g->rare[i] >> RARE_SLOT_BITS == key) return (uint16_t)g->rare[i];
    return 0;
}

uint32_t reef__graph_slot_rare(const family *f, uint32_t component, uint32_t table_id)
{
    mutex *lock = (mutex *)&f->lock; /* a family is never really const */
    mutex_lock(lock);
    uint32_t slot = rare_find(&f->graph, rare_key(component, table_id));
    mutex_unlock(lock);
    return slot;
}

uint32_t reef__slot_seek(const reef_world *w, uint32_t component, uint32_t table_id)
{
    return slot_find(w, component, table_id);
}

static void rare_put(graph *g, uint64_t entry)
{
    uint32_t mask = g->rare_capacity - 1, i = (uint32_t)hash_blend(entry >> RARE_SLOT_BITS) & mask;
    while (g->rare[i]) i = (i + 1) & mask;
    g->rare[i] = entry;
}

static bool rare_reserve(family *f, uint32_t more)
{
    graph *g = &f->graph;
    const uint32_t old = g->rare_capacity;
    uint32_t capacity = old ? old : 64;
    while ((uint64_t)(g->rare_count + more) * 2 > capacity) capacity *= 2;
    if (capacity == old) return true;
    uint64_t *entries = take(f, capacity * sizeof *entries), *was = g->rare;
    if (entries == NULL) return false;
    g->rare = entries;
    g->rare_capacity = capacity;
    for (uint32_t i = 0; i < old; i++)
        if (was[i]) rare_put(g, was[i]);
    give(f, was, old * sizeof *was);
    return true;
}

/* Is an array up to entry d worth its memory for a component that `used` tables have? Otherwise the entry goes to the
 * rare ones. */
static bool map_dense(uint32_t d, uint32_t used) { return d < 64 || (uint64_t)d < ((uint64_t)used + 1) * 16; }

/* Notes the rare entries of component c in a new map, which has room for all of them. They stay among the rare ones as
 * well, since other worlds may still read the old map. The room of a map grows by half, so this happens seldom. */
static void rare_gather(const graph *g, uint32_t c, reef_map *m)
{
    if (m->elsewhere != ELSEWHERE_RARE) return;
    for (uint32_t d = 0; d < m->capacity; d++) {
        const uint32_t slot = rare_find(g, rare_key(c, m->lowest + d));
        if (slot == 0) continue;
        map_slots(m)[d] = (uint16_t)slot;
        m->count = d + 1;
    }
    if (!has_subtypes(reef__type_of(c))) m->elsewhere = 0;
}

/* Makes room for the entry of component c in a new table, which has the highest id so far. */
static bool map_reserve(family *f, uint32_t c, uint32_t table_id)
{
    graph *g = &f->graph;
    reef_map *m = *map_of(g, c);
    bool fresh = m->capacity == 0;
    uint32_t d = fresh ? 0 : table_id - m->lowest;
    if (m == &map_split || (d < m->capacity && !fresh)) return true;
    if (!map_dense(d, m->used)) {
        RELEASE_STORE(&m->elsewhere, (uint32_t)ELSEWHERE_RARE);
        return true; /* room for rare entries was made for all columns at once */
    }
    uint32_t capacity = fresh ? 4 : d + 1 + d / 2;
    retired *r;
    reef_map *n = take_instead(f, map_bytes(capacity), fresh ? NULL : m, &r);
    if (n == NULL) return false;
    memcpy(n, m, fresh ? sizeof *m : map_bytes(m->count));
    n->capacity = capacity;
    if (fresh) n->lowest = table_id;
    else rare_gather(g, c, n);
    if (!fresh) retire(f, r, m, map_bytes(m->capacity));
    RELEASE_STORE(map_of(g, c), n);
    return true;
}

static void map_put(graph *g, uint32_t c, uint32_t table_id, uint16_t slot)
{
    reef_map *m = *map_of(g, c);
    uint32_t d = table_id - m->lowest;
    m->used += m != &map_split;
    if (d >= m->capacity) {
        rare_put(g, rare_key(c, table_id) << RARE_SLOT_BITS | slot);
        g->rare_count++;
        return;
    }
    map_slots(m)[d] = slot; /* entries in between have been zero since the map was made */
    RELEASE_STORE(&m->count, d + 1);
}

/* A page of components that no table has. The first family fills it, so that it takes no room in the file. */
static reef_map *no_maps[256];

void reef__graph_begin(family *f)
{
    static mutex lock = MUTEX_INIT;
    f->graph.shape_count = TABLE_EMPTY;
    mutex_lock(&lock);
    if (no_maps[0] == NULL) {
        for (uint32_t i = 0; i < 256; i++) no_maps[i] = &map_none;
        reef__block_indexes_fill();
    }
    mutex_unlock(&lock);
}

void reef__graph_view_none(reef_world *w)
{
    for (uint32_t i = 0; i < REEF_MAP_PAGES; i++) w->hot.maps[i] = no_maps;
}

/* Marks the maps of a type's bases: who looks for a base that no table has must ask for subtypes as well. */
static void map_bases(graph *g, const type *t)
{
    for (const type *b = t->base; b; b = b->base) {
        reef_map *m = *map_of(g, b->id);
        if (m == &map_none) RELEASE_STORE(map_of(g, b->id), &empty_maps[ELSEWHERE_RARE].map);
        else if (m->elsewhere == 0) RELEASE_STORE(&m->elsewhere, (uint32_t)ELSEWHERE_RARE);
    }
}

COLD reef_status reef__graph_sync(reef_world *w)
{
    family *f = w->family;
    graph *g = &f->graph;
    const uint32_t types = reef__types_resolve(), need = types + 1;
    bool ok = types || reef_type_count() == 0;
    mutex_lock(&f->lock);
    for (; ok && g->map_count < need; g->map_count += ok) {
        reef_map ***page = &g->maps[g->map_count >> 8];
        if (*page == NULL) {
            *page = take(f, 256 * sizeof **page);
            for (uint32_t i = 0; *page && i < 256; i++) (*page)[i] = &map_none;
        }
        ok = *page != NULL;
        const type *t = reef__type_of(g->map_count);
        if (ok && t) map_bases(g, t);
        if (ok && t && (t->split || !in_table(t)))
            RELEASE_STORE(map_of(g, g->map_count), &empty_maps[t->split        ? (uint32_t)MAP_SPLIT
                                                               : t->stored     ? (uint32_t)ELSEWHERE_STORES
                                                               : t->need_count ? (uint32_t)ELSEWHERE_NEEDS
                                                                               : (uint32_t)ELSEWHERE_BITS]
                                                        .map);
    }
    for (uint32_t i = 0; i < REEF_MAP_PAGES; i++)
        if (g->maps[i]) w->hot.maps[i] = g->maps[i];
    w->state.map_count = g->map_count;
    mutex_unlock(&f->lock);
    reef__block_indexes_renew(w);
    return ok ? REEF_OK : REEF_NO_MEMORY;
}

/* ---- layouts ---- */

static uint32_t size_class(uint32_t size) { return size == 8 ? 0 : size == 16 ? 1 : 2; }

/* The arena of a column. The columns of a table have different arenas, and so have tables that grow in turn, as far as
 * there are arenas: two tables with a common component cost 1.3 times as much to walk when their blocks alternate. (The
 * price: a table can't use the blocks that another one frees, so moving all rows from one table to another costs 4 to
 * 10% more.) */
static uint16_t column_arena(uint32_t id, uint32_t slot)
{
    return (uint16_t)(ARENA_COLUMNS + (5 * id + slot - SLOT_COLUMNS) % COLUMN_ARENAS);
}

/* `with`: the types that have columns. */
static void shape_columns(shape *s, column *columns, const type *const *with)
{
    uint16_t slot = SLOT_COLUMNS;
    s->plain_move = true;
    columns[SLOT_ENTITIES] = (column){NULL, sizeof(reef_entity), _Alignof(reef_entity), ARENA_ENTITIES};
    for (uint32_t class = 0; class < 3; class ++) {
        for (uint32_t i = 0; i < s->column_count; i++) {
            const type *t = with[i];
            if (size_class(t->size) != class) continue;
            columns[slot] = (column){t, t->size, (uint16_t)t->align, column_arena(s->table, slot)};
            s->hooked |= t->hooked;
            s->plain_move &= t->plain_move;
            s->bound |= !t->copyable && !t->resets;
            s->resets |= t->resets;
            if (t->size > 4096 && s->first_rows > 1) s->first_rows = 1;
            slot++;
        }
        if (class == 0) s->end_8 = slot;
        if (class == 1) s->end_16 = slot;
    }
    s->end_slot = slot;
    s->narrow = s->end_8 == slot;
    s->units = (uint16_t)((slot + REEF_UNIT_SLOTS - 1) / REEF_UNIT_SLOTS);
    if (s->units > RUN_SMALL) s->units = (uint16_t)((s->units + 7) / 8 * 8);
}

/* A set of types as bits, in the words from `low` to `high`, of which `count` aren't 0. */
typedef struct id_bits {
    uint32_t low, high, count;
    uint64_t word[REEF_TYPES_MAX / 64 + 1];
} id_bits;

static void id_bits_set(id_bits *b, const uint32_t *ids, uint32_t count)
{
    b->low = REEF_TYPES_MAX / 64;
    b->high = b->count = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (ids[i] / 64 < b->low) b->low = ids[i] / 64;
        if (ids[i] / 64 > b->high) b->high = ids[i] / 64;
    }
    for (uint32_t k = b->low; k <= b->high; k++) b->word[k] = 0;
    for (uint32_t i = 0; i < count; i++) /* parts are described by their type */
        if (type_known(ids[i])->owner == 0) b->word[ids[i] / 64] |= 1ull << ids[i] % 64;
    for (uint32_t k = b->low; k <= b->high; k++) b->count += b->word[k] != 0;
}

static size_t shape_bytes(uint32_t components, uint32_t columns, uint32_t words)
{
    return sizeof(shape) + (columns + SLOT_COLUMNS) * sizeof(column) + words * sizeof(reef_signature_word) +
           components * sizeof(uint32_t);
}
static void shape_free(family *f, shape *s)
{
    give(f, s, shape_bytes(s->component_count, s->column_count, s->word_count));
}

static shape *shape_make(family *f, uint32_t id, const uint32_t *ids, uint32_t count, reef_status *status)
{
    const type *with[REEF_COLUMNS_MAX];
    id_bits bits;
    uint32_t columns = 0;
    bool tracked = false;
    for (uint32_t i = 0; i < count; i++) {
        const type *t = type_known(ids[i]);
        tracked |= t->tracked;
        if (type_column(t) == 0) continue;
        if (columns < REEF_COLUMNS_MAX) with[columns] = t;
        columns++;
    }
    *status = columns > REEF_COLUMNS_MAX || count > REEF_COMPONENTS_MAX ? REEF_LIMIT : REEF_NO_MEMORY;
    if (*status == REEF_LIMIT) return NULL;
    id_bits_set(&bits, ids, count);
    const uint32_t word_count = bits.count;
    shape *s = take(f, shape_bytes(count, columns, word_count));
    if (s == NULL) return NULL;
    column *c = (column *)(void *)(s + 1);
    reef_signature_word *words = (reef_signature_word *)(void *)(c + columns + SLOT_COLUMNS);
    uint32_t *component = (uint32_t *)(void *)(words + word_count);
    for (uint32_t k = bits.low; k <= bits.high; k++)
        if (bits.word[k]) *words++ = (reef_signature_word){bits.word[k], k, 0};
    if (count) memcpy(component, ids, count * sizeof *ids);
    s->table = id;
    s->component = component;
    s->component_count = count;
    s->column_count = columns;
    s->first_rows = 8;
    s->columns = c;
    s->word_count = (uint16_t)word_count;
    s->tracked = tracked;
    shape_columns(s, c, with);
    return s;
}

static bool shapes_reserve(family *f)
{
    graph *g = &f->graph;
    if (g->shape_count >= g->shape_capacity) {
        uint32_t capacity = g->shape_capacity ? g->shape_capacity * 2 : 8;
        retired *r;
        shape **shapes = take_instead(f, capacity * sizeof *shapes, g->shapes, &r);
        if (shapes == NULL) return false;
        if (g->shapes) memcpy(shapes, g->shapes, g->shape_count * sizeof *shapes);
        if (r) retire(f, r, g->shapes, g->shape_capacity * sizeof *shapes);
        RELEASE_STORE(&g->shapes, shapes);
        g->shape_capacity = capacity;
    }
    if ((g->shape_count + 1) * 2 > g->hash_capacity) {
        uint32_t capacity = g->hash_capacity ? g->hash_capacity * 2 : 16;
        uint32_t *hash = take(f, capacity * sizeof *hash);
        if (hash == NULL) return false;
        give(f, g->hash, g->hash_capacity * sizeof *hash);
        g->hash = hash;
        g->hash_capacity = capacity;
        for (uint32_t i = TABLE_EMPTY; i < g->shape_count; i++)
            set_put(g, g->shapes[i], set_hash(g->shapes[i]->component, g->shapes[i]->component_count));
    }
    return true;
}

/* Under the lock. The ids are sorted by name. */
static COLD uint32_t table_make(family *f, const uint32_t *ids, uint32_t count, uint64_t hash, reef_status *status)
{
    graph *g = &f->graph;
    *status = REEF_LIMIT;
    if (g->shape_count >= 1u << 20) return 0;
    uint32_t id = g->shape_count ? g->shape_count : TABLE_EMPTY;
    shape *s = shape_make(f, id, ids, count, status);
    if (s == NULL) return 0;
    bool ok = shapes_reserve(f) && rare_reserve(f, count);
    for (uint32_t i = 0; ok && i < count; i++) ok = map_reserve(f, ids[i], id);
    if (!ok) {
        shape_free(f, s);
        return 0;
    }
    g->shapes[id] = s;
    set_put(g, s, hash);
    for (uint32_t slot = SLOT_COLUMNS; slot < s->end_slot; slot++)
        map_put(g, s->columns[slot].type->id, id, (uint16_t)slot);
    for (uint32_t i = 0; i < count; i++)
        if (type_column(type_known(ids[i])) == 0) map_put(g, ids[i], id, REEF_SLOT_TAG);
    if (s->bound) RELEASE_STORE(&g->bound_count, g->bound_count + 1);
    if (s->resets) RELEASE_STORE(&g->reset_count, g->reset_count + 1);
    RELEASE_STORE(&g->shape_count, id + 1); /* queries of other worlds may look at it now */
    *status = REEF_OK;
    return id;
}

uint32_t reef__graph_table(reef_world *w, uint32_t *ids, uint32_t count, reef_status *status)
{
    family *f = w->family;
    reef__ids_sort(ids, count);
    const uint64_t hash = set_hash(ids, count);
    mutex_lock(&f->lock);
    uint32_t id = set_find(&f->graph, ids, count, hash);
    const bool first = count && f->graph.shape_count == TABLE_EMPTY; /* the table of the empty set always comes first */
    *status = REEF_OK;
    if (id == 0 && (!first || table_make(f, NULL, 0, set_hash(NULL, 0), status)))
        id = table_make(f, ids, count, hash, status);
    mutex_unlock(&f->lock);
    return id;
}

/* ---- edges ---- */

static size_t edge_bytes(uint32_t moves) { return sizeof(edge) + moves * sizeof(edge_move); }

static COLD void edge_plan(reef_world *w, edge *e, const shape *from, const shape *to)
{
    e->word = e->size == 0 || e->size == 8;
    for (uint32_t slot = SLOT_COLUMNS; slot < from->end_slot; slot++) {
        const column *c = &from->columns[slot];
        uint32_t there = slot_find(w, c->type->id, to->table);
        if (there != 0)
            e->move[e->count++] =
                (edge_move){(uint16_t)(slot * sizeof(reef_slot)), (uint16_t)(there * sizeof(reef_slot)), c->size};
        if (slot + 1u == from->end_8) e->end_8 = e->count;
        if (slot + 1u == from->end_16) e->end_16 = e->count;
    }
    e->rest = (uint16_t)(e->count - e->end_8);
    const uint32_t pairs = (uint32_t)(e->end_16 - e->end_8), own = e->slot;
    const shape *s = e->key & 1 ? from : to;
    e->pair_from = (uint16_t)(from->end_8 * sizeof(reef_slot));
    e->pair_to = (uint16_t)(to->end_8 * sizeof(reef_slot));
    e->pair_count = (uint16_t)(own >= s->end_8 && own < s->end_16 ? own - s->end_8 : pairs);
}

static COLD edge *edge_make(reef_world *w, uint32_t from, uint32_t component, bool remove, uint64_t key,
                            reef_status *status)
{
    family *f = w->family;
    const shape *s = shape_of(f, from);
    size_t bytes = (s->component_count + 1u + REEF_SPLIT_FIELDS_MAX) * sizeof(uint32_t);
    uint32_t *ids = take(f, bytes), n = 0;
    *status = REEF_NO_MEMORY;
    if (ids == NULL) return NULL;
    const type *t = reef__type_of(component);
    for (uint32_t i = 0; i < s->component_count; i++)
        if (s->component[i] != component && reef__type_of(s->component[i])->owner != component)
            ids[n++] = s->component[i];
    if (!remove) ids[n++] = component;
    for (uint32_t i = 0; !remove && i < t->part_count; i++) ids[n++] = t->parts[i];
    uint32_t to = reef__graph_table(w, ids, n, status);
    give(f, ids, bytes);
    if (to == 0) return NULL;
    edge *e = take(f, edge_bytes(s->column_count));
    if (e == NULL) {
        *status = REEF_NO_MEMORY;
        return NULL;
    }
    e->key = key;
    e->from = from;
    e->to = to;
    uint32_t slot = slot_find(w, component, remove ? from : to);
    e->slot = slot == REEF_SLOT_TAG ? 0 : (uint16_t)slot;
    e->size = type_column(reef__type_of(component));
    edge_plan(w, e, s, shape_of(f, to));
    return e;
}

static edge **edge_place(graph *g, uint64_t key)
{
    uint32_t mask = g->edge_capacity - 1, i = (uint32_t)hash_blend(key) & mask;
    while (g->edges[i] && g->edges[i]->key != key) i = (i + 1) & mask;
    return &g->edges[i];
}

static bool edges_reserve(family *f)
{
    graph *g = &f->graph;
    if ((g->edge_count + 1) * 2 <= g->edge_capacity) return true;
    uint32_t old = g->edge_capacity, capacity = old ? old * 2 : 16;
    edge **edges = take(f, capacity * sizeof *edges), **was = g->edges;
    if (edges == NULL) return false;
    g->edges = edges;
    g->edge_capacity = capacity;
    for (uint32_t i = 0; i < old; i++)
        if (was[i]) *edge_place(g, was[i]->key) = was[i];
    give(f, was, old * sizeof *was);
    return true;
}

COLD const edge *reef__graph_edge(reef_world *w, uint32_t from, uint32_t component, bool remove, reef_status *status)
{
    family *f = w->family;
    graph *g = &f->graph;
    uint64_t key = edge_key(from, component, remove);
    mutex_lock(&f->lock);
    edge *e = g->edge_capacity ? *edge_place(g, key) : NULL;
    mutex_unlock(&f->lock);
    if (e) return e;
    e = edge_make(w, from, component, remove, key, status);
    if (e == NULL) return NULL;
    mutex_lock(&f->lock);
    bool ok = edges_reserve(f);
    edge **place = ok ? edge_place(g, key) : NULL;
    const edge *kept = ok && *place ? *place : e; /* another world has made this edge meanwhile */
    if (ok && *place == NULL) *place = e, g->edge_count++;
    mutex_unlock(&f->lock);
    if (!ok || kept != e) give(f, e, edge_bytes(shape_of(f, from)->column_count));
    if (!ok) *status = REEF_NO_MEMORY;
    return ok ? kept : NULL;
}

/* ---- all tables with rows, in the visible order ---- */

static void tables_sift(const family *f, uint32_t *ids, uint32_t root, uint32_t count)
{
    for (uint32_t child; (child = root * 2 + 1) < count; root = child) {
        if (child + 1 < count && reef__shape_compare(shape_of(f, ids[child]), shape_of(f, ids[child + 1])) < 0) child++;
        if (reef__shape_compare(shape_of(f, ids[root]), shape_of(f, ids[child])) >= 0) return;
        uint32_t x = ids[root];
        ids[root] = ids[child], ids[child] = x;
    }
}

static void order_sort(const family *f, uint32_t *ids, uint32_t n) /* heapsort: no recursion, no memory */
{
    for (uint32_t i = n / 2; i-- > 0;) tables_sift(f, ids, i, n);
    for (uint32_t end = n; end-- > 1;) {
        uint32_t x = ids[0];
        ids[0] = ids[end], ids[end] = x;
        tables_sift(f, ids, 0, end);
    }
}

COLD uint32_t *reef__tables_sorted(const reef_world *w, uint32_t *count)
{
    family *f = w->family;
    uint32_t n = 0, k = 0;
    EACH_TABLE(w, t) n += table_rows(t) != 0;
    *count = n;
    if (n == 0) return NULL;
    uint32_t *ids = reef__memory_resize(&f->memory, MEMORY_OTHER, NULL, 0, n * sizeof *ids, PLAIN_ALIGN);
    if (ids == NULL) return NULL;
    EACH_TABLE(w, t)
    if (table_rows(t) != 0) ids[k++] = t->shape->table;
    order_sort(f, ids, n);
    return ids;
}

/* Puts new tables into the order: one is inserted, many at once are sorted in. Under the lock. */
static bool order_extend(family *f, uint32_t count)
{
    graph *g = &f->graph;
    const bool many = count - g->order_count > 64;
    if (!reef__array_room(&f->memory, MEMORY_OTHER, &g->order, &g->order_room, count, sizeof *g->order)) return false;
    for (; g->order_count < count; g->order_count++) {
        uint32_t id = TABLE_EMPTY + g->order_count, low = many ? g->order_count : 0, high = g->order_count;
        while (low < high) {
            uint32_t mid = low + (high - low) / 2;
            if (reef__shape_compare(g->shapes[g->order[mid]], g->shapes[id]) < 0) low = mid + 1;
            else high = mid;
        }
        memmove(g->order + low + 1, g->order + low, (g->order_count - low) * sizeof *g->order);
        g->order[low] = id;
    }
    if (many) order_sort(f, g->order, count);
    return true;
}

/* Copies the order of the tables with ids below `end`, since another world may have made more. Under the lock. */
static void order_copy(const family *f, uint32_t *to, uint32_t end)
{
    for (uint32_t i = 0; i < f->graph.order_count; i++)
        if (f->graph.order[i] < end) *to++ = f->graph.order[i];
}

COLD const uint32_t *reef__tables_order(reef_world *w, uint32_t *count)
{
    family *f = w->family;
    uint32_t n = REEF_ACQUIRE_U32(&f->graph.shape_count) - TABLE_EMPTY;
    *count = n;
    if (w->order_count == n || n == 0) return w->order;
    if (!reef__array_room(&f->memory, MEMORY_OTHER, &w->order, &w->order_room, n, sizeof *w->order)) return NULL;
    mutex_lock(&f->lock);
    bool ok = f->graph.order_count >= n || order_extend(f, n);
    if (ok) order_copy(f, w->order, TABLE_EMPTY + n);
    mutex_unlock(&f->lock);
    if (!ok) return NULL;
    w->order_count = n;
    return w->order;
}

/* ---- the end ---- */

COLD void reef__family_drop(family *f)
{
    graph *g = &f->graph;
    for (uint32_t i = 0; i < g->edge_capacity; i++)
        if (g->edges[i]) give(f, g->edges[i], edge_bytes(g->shapes[g->edges[i]->from]->column_count));
    give(f, g->edges, g->edge_capacity * sizeof *g->edges);
    for (uint32_t i = 0; i < g->map_count; i++)
        if ((*map_of(g, i))->capacity) give(f, *map_of(g, i), map_bytes((*map_of(g, i))->capacity));
    for (uint32_t i = 0; i <= g->map_count >> 8; i++) give(f, g->maps[i], 256 * sizeof *g->maps[i]);
    for (uint32_t i = TABLE_EMPTY; i < g->shape_count; i++) shape_free(f, g->shapes[i]);
    give(f, g->shapes, g->shape_capacity * sizeof *g->shapes);
    give(f, g->hash, g->hash_capacity * sizeof *g->hash);
    give(f, g->rare, g->rare_capacity * sizeof *g->rare);
    reef__memory_free(&f->memory, MEMORY_OTHER, g->order, g->order_room * sizeof *g->order);
    reef__graph_free_retired(f);
}
