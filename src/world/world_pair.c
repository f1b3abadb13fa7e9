/* One world, or two side by side: the tables in order, all parts of the state in order, the rows that differ, the
 * queues of free ids, and the names that differ. */
#include "world/world_pair.h"
#include "type/portable_bytes.h"
#include "type/value.h"
#include "storage/archetype.h"
#include "storage/entity_index.h"
#include "storage/name_index.h"
#include "reef/ref.h"

COLD bool reef__table_merge_begin(table_merge *m, const reef_world *a, const reef_world *b)
{
    *m = (table_merge){.world = {a, b}};
    for (int side = 0; side < 2 && m->world[side]; side++)
        m->ids[side] = reef__tables_sorted(m->world[side], &m->count[side]);
    return (m->ids[0] || m->count[0] == 0) && (m->ids[1] || m->count[1] == 0);
}

/* The next table with rows of one world; NULL: there is none. */
static const table *table_ahead(table_merge *m, int side)
{
    for (; m->at[side] < m->count[side]; m->at[side]++) {
        const table *t = table_read(m->world[side], m->ids[side][m->at[side]]);
        if (t && table_rows(t)) return t;
    }
    return NULL;
}

COLD bool reef__table_merge_next(table_merge *m, chunk_pair *next)
{
    const table *a = table_ahead(m, 0), *b = table_ahead(m, 1);
    const int order = a == NULL              ? 1
                      : b == NULL            ? -1
                      : a->shape == b->shape ? 0
                                             : reef__shape_compare(a->shape, b->shape);
    /* the lesser one; the other world doesn't have it */
    *next = (chunk_pair){.world = {m->world[0], m->world[1]}, .t = {order > 0 ? NULL : a, order < 0 ? NULL : b}};
    for (int side = 0; side < 2; side++) m->at[side] += next->t[side] != NULL;
    return a || b;
}

COLD void reef__table_merge_end(table_merge *m)
{
    for (int side = 0; side < 2 && m->world[side]; side++)
        reef__memory_free(&m->world[side]->family->memory, MEMORY_OTHER, (void *)(uintptr_t)m->ids[side],
                          m->count[side] * sizeof *m->ids[side]);
}

/* ---- parts ---- */

/* The canonical order. Events and stores are visited by the names of their types. Tables are visited by the names of
 * theirs, and of each table first its rows, then its columns by name, switches by name, and marks. */
static const reef_hash_kind part_kinds[] = {REEF_HASH_IDS,    REEF_HASH_NAMES,   REEF_HASH_TIME, REEF_HASH_SINGLE,
                                            REEF_HASH_EVENTS, REEF_HASH_SCRIPTS, REEF_HASH_ROWS, REEF_HASH_STORE};

/* The next part of the table behind its rows. */
static bool table_part_next(part_walk *p)
{
    const table *const *t = p->table.t;
    p->of.kind = REEF_HASH_COLUMN;
    if (p->column < p->of.table_count) {
        p->of.component = p->of.table[p->column++];
        return true;
    }
    const uint64_t bits = (t[0] ? t[0]->bits : 0) | (t[1] ? t[1]->bits : 0);
    if (bits == 0 || !reef__state_next(STATE_BITS, p->tables.world[0], p->tables.world[1], &p->key)) return false;
    p->of.kind = p->key.key & BIT_DISABLED ? REEF_HASH_DISABLED : REEF_HASH_SWITCH;
    p->of.component.id = p->key.key & ~BIT_DISABLED;
    return true;
}

/* The next table, or the next type that has a part of this kind. Other kinds have one part. */
static bool kind_part_next(part_walk *p, reef_hash_kind kind)
{
    const reef_world *const *w = p->tables.world;
    p->of = (reef_hash_part){.kind = kind};
    if (kind == REEF_HASH_ROWS) {
        if (!reef__table_merge_next(&p->tables, &p->table)) return false;
        const shape *s = p->table.t[0] ? p->table.t[0]->shape : p->table.t[1]->shape;
        p->of.table = (const reef_component *)(const void *)s->component;
        p->of.table_count = s->component_count;
        p->column = 0;
        p->key = (state_key){0};
        return true;
    }
    if (kind != REEF_HASH_EVENTS && kind != REEF_HASH_STORE) {
        const bool first = !p->key.begun;
        p->key.begun = true;
        return first;
    }
    const bool more = reef__state_next(kind == REEF_HASH_EVENTS ? STATE_EVENTS : STATE_STORES, w[0], w[1], &p->key);
    p->of.component.id = more ? p->key.key : 0;
    return more;
}

bool reef__part_next(part_walk *p)
{
    if (p->of.table && table_part_next(p)) return true;
    for (; p->stage < sizeof part_kinds / sizeof *part_kinds; p->stage++) {
        if (kind_part_next(p, part_kinds[p->stage])) return true;
        p->key = (state_key){0};
    }
    return false;
}

/* ---- rows that differ ---- */

/* Bit i says whether row i of n <= 8 rows differs. */
INLINE uint64_t eight_mask(const char *a, const char *b, size_t size, uint32_t n)
{
    uint64_t mask = 0;
    for (uint32_t i = 0; i < n; i++) mask |= (uint64_t)(memcmp(a + i * size, b + i * size, size) != 0) << i;
    return mask;
}

/* Do eight rows differ? They are `size` words of 8 bytes. */
INLINE bool eight_differ(const char *a, const char *b, size_t size)
{
    uint64_t x = 0;
    for (size_t i = 0; i < size; i++) {
        uint64_t p, q;
        memcpy(&p, a + i * 8, 8);
        memcpy(&q, b + i * 8, 8);
        x |= p ^ q;
    }
    return x != 0;
}

/* Sets the bits of the rows whose bytes differ. The handles of such rows are prefetched. */
INLINE void column_mask(uint64_t *masks, const char *a, const char *b, size_t size, uint32_t rows, const reef_entity *e)
{
    uint32_t row = 0;
    for (; row + 8 <= rows; row += 8, a += 8 * size, b += 8 * size) {
        if (LIKELY(size <= 16 ? !eight_differ(a, b, size) : memcmp(a, b, 8 * size) == 0)) continue;
        PREFETCH(e + row);
        masks[row / 64] |= eight_mask(a, b, size, 8) << row % 64;
    }
    if (row < rows) masks[row / 64] |= eight_mask(a, b, size, rows - row) << row % 64;
}

void reef__bytes_differ(uint64_t *masks, const char *a, const char *b, size_t size, uint32_t rows, const reef_entity *e)
{
    switch (size) {
    case 4: column_mask(masks, a, b, 4, rows, e); break;
    case 8: column_mask(masks, a, b, 8, rows, e); break;
    case 12: column_mask(masks, a, b, 12, rows, e); break;
    case 16: column_mask(masks, a, b, 16, rows, e); break;
    default: column_mask(masks, a, b, size, rows, e); break;
    }
}

void reef__rows_differ(uint64_t *masks, const type *t, const char *a, const char *b, uint32_t rows,
                       const reef_entity *e)
{
    const bool flat = t == NULL || reef__type_is_flat(t);
    const size_t size = t ? t->size : sizeof *e;
    for (uint32_t first = 0; first < rows; first += 64, masks++, a += 64 * size, b += 64 * size) {
        const uint32_t n = rows - first < 64 ? rows - first : 64;
        uint64_t left = 0;
        if (memcmp(a, b, n * size) == 0) continue;
        reef__bytes_differ(&left, a, b, size, n, e + first);
        for (; left; left &= left - 1) {
            const size_t at = bits_first(left) * size;
            if (flat || !reef__value_equal(t, a + at, b + at)) *masks |= left & (0 - left);
        }
    }
}

reef_entity reef__free_next(free_queue *q)
{
    while (q->at < q->end) {
        const uint32_t index = *ring_at(q->w, q->at++);
        if (index != RING_HOLE) return (reef_entity){index, (uint32_t)(record_read(q->w, index) >> 32)};
    }
    return (reef_entity){0, 0};
}

/* Goes to the end of a page that both worlds hold, and answers how many ids these are. An id that is taken from a queue
 * comes back at its end, on a page that is written then. */
static uint64_t free_shared(free_queue *a, free_queue *b)
{
    uint64_t n = RING_PER_PAGE - a->at % RING_PER_PAGE;
    if (a->at == a->end || b->at == b->end || a->w->state.ring_holes + b->w->state.ring_holes) return 0;
    if (ring_at(a->w, a->at) != ring_at(b->w, b->at)) return 0;
    if (n > a->end - a->at) n = a->end - a->at;
    if (n > b->end - b->at) n = b->end - b->at;
    a->at += n, b->at += n;
    return n;
}

uint64_t reef__free_same(free_queue *a, free_queue *b)
{
    for (uint64_t n = 0;; n++) {
        n += free_shared(a, b);
        free_queue x = *a, y = *b;
        const reef_entity e = reef__free_next(&x);
        if (e.generation == 0 || !reef_entity_equal(e, reef__free_next(&y))) return n;
        *a = x, *b = y;
    }
}

bool reef__name_walk_next(const reef_world *w, const reef_world *other, name_walk *n)
{
    while (n->number < w->state.name_count) {
        const uint32_t number = n->number++;
        if (other && name_shared(w, other, number)) continue;
        n->text = reef__name_at_number(w, number, &n->entity);
        n->other = other ? reef_name(other, n->entity) : NULL;
        if (n->other == NULL || strcmp(n->other, n->text) != 0) return true;
    }
    return false;
}
