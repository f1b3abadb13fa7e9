/* Finding out what changed: src/index/value_rows.h has the drawing. */
#include "index/value_rows.h"
#include "storage/place.h"
#include "storage/row_bits.h"
#include "storage/sparse_store.h"
#include "query/chunk_cursor.h"
#include "query/row_filter.h"
#include "query/variables.h"
#include <string.h>

enum {
    FLOOD_LEAST = 1024, /* changes that never make the list be sorted anew */
    FLOOD_SHARE = 4,    /* more than this part of the rows do */
    KEYS_MANY = 16      /* rows of a word that changed, and all 64 keys are computed at once */
};

/* A refresh. */
typedef struct refreshing {
    memory *memory;
    value_rows *rows;
    const query *q;
    const ordering *by;
    seen_state seen;
    bool all;                 /* versions say nothing: the state came from elsewhere */
    bool stored;              /* some value outside of the tables may be new */
    bool only_look;           /* nothing is changed: is anything different? */
    bool different, compared; /* something is; some chunk was looked at */
    uint32_t visited;         /* chunks that were seen before */
    bool flood;               /* so much changed that the list is sorted anew */
    size_t most;              /* changes that aren't so much */
} refreshing;

/* ---- rows that were seen ---- */

static size_t seen_rows_bytes(const value_rows *x, uint32_t room)
{
    return sizeof(seen_rows) + (size_t)room * (sizeof(reef_entity) + x->bytes);
}

static char *seen_values(const seen_unit *u) { return (char *)(u->seen->entities + u->room); }

static void seen_free(memory *m, const value_rows *x, seen_unit *u)
{
    if (u->seen) reef__memory_free(m, MEMORY_OTHER, u->seen, seen_rows_bytes(x, u->room));
    *u = (seen_unit){0};
}

/* Makes room for as many rows, and keeps what was seen. */
static bool seen_grow(memory *m, const value_rows *x, seen_unit *u, uint32_t rows)
{
    seen_unit new = *u;
    uint32_t room = 8;
    if (u->seen && u->room >= rows) return true;
    while (room < rows) room *= 2;
    new.room = (uint16_t)room;
    new.seen = reef__memory_resize(m, MEMORY_OTHER, NULL, 0, seen_rows_bytes(x, room), PLAIN_ALIGN);
    if (new.seen == NULL) return false;
    memset(new.seen, 0, sizeof *new.seen);
    if (u->seen) {
        memcpy(new.seen, u->seen, sizeof *u->seen + u->rows * sizeof(reef_entity));
        memcpy(seen_values(&new), seen_values(u), (size_t)u->rows * x->bytes);
        seen_free(m, x, u);
    }
    *u = new;
    return true;
}

/* ---- those that share them ---- */

value_rows *reef__value_rows_make(memory *m, const ordering *by)
{
    value_rows *x = reef__memory_zeroed(m, MEMORY_OTHER, sizeof *x);
    if (x == NULL) return NULL;
    x->holders = 1;
    x->by = *by;
    x->by.offset = 0;
    x->bytes = by->kind == REEF_CHAR ? by->bytes : reef__kind_size(by->kind);
    x->by.stride = x->bytes;
    return x;
}

/* Forgets all rows. */
static void value_rows_empty(memory *m, value_rows *x)
{
    reef__list_drop(&x->list, m);
    for (uint32_t i = 0; i < x->units; i++) seen_free(m, x, &x->unit[i]);
    x->filled = false;
}

void reef__value_rows_leave(memory *m, value_rows *x)
{
    if (x == NULL || COUNT_DOWN(&x->holders)) return;
    value_rows_empty(m, x);
    reef__memory_free(m, MEMORY_OTHER, x->unit, x->units * sizeof *x->unit);
    reef__memory_free(m, MEMORY_OTHER, x->note, x->note_room * sizeof *x->note);
    reef__memory_free(m, MEMORY_OTHER, x->scratch, x->scratch_room * sizeof *x->scratch);
    reef__memory_free(m, MEMORY_OTHER, x, sizeof *x);
}

value_rows *reef__value_rows_share(value_rows *x)
{
    COUNT_UP(&x->holders);
    return x;
}

static value_rows *value_rows_copy(memory *m, const value_rows *from)
{
    value_rows *x = reef__memory_zeroed(m, MEMORY_OTHER, sizeof *x);
    if (x == NULL) return NULL;
    x->holders = 1;
    x->by = from->by;
    x->bytes = from->bytes;
    x->walk = from->walk;
    bool ok = !from->filled || reef__list_copy(&x->list, m, &from->list);
    x->filled = ok && from->filled;
    ok = ok && reef__array_room(m, MEMORY_OTHER, &x->unit, &x->units, from->units, sizeof *x->unit);
    for (uint32_t i = 0; ok && i < from->units; i++) {
        const seen_unit *u = &from->unit[i];
        if (u->seen == NULL) continue;
        ok = seen_grow(m, x, &x->unit[i], u->room);
        if (!ok) break;
        memcpy(x->unit[i].seen, u->seen, seen_rows_bytes(x, u->room));
        x->unit[i].rows = u->rows;
        x->unit[i].walk = u->walk;
    }
    if (!ok) reef__value_rows_leave(m, x);
    return ok ? x : NULL;
}

/* ---- comparing ---- */

#define ROWS_UNLIKE(T) \
    for (uint32_t i = 0; i < rows; i++) { \
        T x, y; \
        memcpy(&x, a + i * sizeof x, sizeof x); \
        memcpy(&y, b + i * sizeof y, sizeof y); \
        unlike[i] = x != y; \
    } \
    break

/* The bits of up to 64 elements that are different. Most often all are the same, and then one call says so. (Compilers
 * vectorise a loop that writes bytes.) */
static uint64_t rows_unlike(const char *a, const char *b, uint32_t size, uint32_t rows)
{
    uint8_t unlike[64] = {0};
    if (memcmp(a, b, (size_t)rows * size) == 0) return 0;
    switch (size) {
    case 1: ROWS_UNLIKE(uint8_t);
    case 2: ROWS_UNLIKE(uint16_t);
    case 4: ROWS_UNLIKE(uint32_t);
    case 8: ROWS_UNLIKE(uint64_t);
    default:
        for (uint32_t i = 0; i < rows; i++) unlike[i] = memcmp(a + i * size, b + i * size, size) != 0;
    }
    return bytes_pack(unlike);
}

/* What a word of rows was, or is. */
typedef struct word_now {
    uint32_t rows;
    const char *values;
    const reef_entity *entities;
} word_now;

/* Notes rows of a word that leave the list, and rows that join it. False: no memory. */
static bool changes_note(refreshing *r, uint64_t gone, const word_now *was, uint64_t come, const word_now *is)
{
    value_rows *x = r->rows;
    uint64_t old[64], new[64]; /* keys of all rows, if there are many */
    const bool many = bits_count(gone | come) > KEYS_MANY;
    if (r->flood) return true;
    if (x->noted > r->most) return r->flood = true;
    if (!reef__array_room(r->memory, MEMORY_OTHER, &x->note, &x->note_room, x->noted + 128, sizeof *x->note))
        return false;
    if (many) reef__order_keys(&x->by, was->values, was->rows, old);
    if (many) reef__order_keys(&x->by, is->values, is->rows, new);
    for (uint64_t rows = gone | come; rows; rows &= rows - 1) {
        const uint32_t i = bits_first(rows);
        const uint64_t bit = rows & (0 - rows);
        const size_t at = (size_t)i * x->bytes;
        if (!many) old[i] = new[i] = 0;
        if (!many && (gone & bit)) reef__order_keys(&x->by, was->values + at, 1, &old[i]);
        if (!many && (come & bit)) reef__order_keys(&x->by, is->values + at, 1, &new[i]);
        if (gone & bit) x->note[x->noted++] = (order_row){old[i], was->entities[i].index, GONE};
        if (come & bit) x->note[x->noted++] = (order_row){new[i], is->entities[i].index, is->entities[i].generation};
    }
    return true;
}

/* ---- a chunk of the world ---- */

/* A chunk as it is now. */
typedef struct chunk_now {
    uint32_t rows;
    bool values_new, entities_new; /* they may be others than those that were seen */
    uint64_t listed[BIT_WORDS];
    const reef_entity *entities;
    const char *values; /* side by side, in the chunk or in `room` */
    char *room;
} chunk_now;

#define GATHER(T) \
    for (uint32_t i = 0; i < rows; i++) memcpy(to + i * sizeof(T), from + (size_t)i * stride, sizeof(T)); \
    break

/* Copies a field of structs so that its values lie side by side. */
static void field_gather(char *to, const char *from, size_t stride, uint32_t bytes, uint32_t rows)
{
    switch (bytes) {
    case 1: GATHER(uint8_t);
    case 2: GATHER(uint16_t);
    case 4: GATHER(uint32_t);
    case 8: GATHER(uint64_t);
    default:
        for (uint32_t i = 0; i < rows; i++) memcpy(to + i * bytes, from + (size_t)i * stride, bytes);
    }
}

static void values_find(const refreshing *r, const chunk_cursor *c, uint32_t slot, chunk_now *now)
{
    const uint32_t bytes = r->rows->bytes;
    now->values = now->room;
    if (!order_is_stored(r->by)) {
        const char *from = (const char *)c->slots[slot].block + r->by->offset;
        if (r->by->stride == bytes) now->values = from;
        else field_gather(now->room, from, r->by->stride, bytes, c->rows);
        return;
    }
    const value_store *s = store_of(r->q->world, r->by->type->id);
    memset(now->room, 0, (size_t)c->rows * bytes);
    for (uint32_t k = 0; k < BIT_WORDS; k++) {
        for (uint64_t word = now->listed[k]; word; word &= word - 1) {
            const uint32_t i = k * 64 + bits_first(word);
            memcpy(now->room + i * bytes, (const char *)reef_store_find(s, now->entities[i]) + r->by->offset, bytes);
        }
    }
}

/* How many of the first `rows` are in the word that begins at row `first`. */
static uint32_t word_rows(uint32_t rows, uint32_t first)
{
    if (rows <= first) return 0;
    return rows - first < 64 ? rows - first : 64;
}

/* Compares a chunk with what was seen of it, and brings that up to date. now->rows 0: the chunk is gone. False: no
 * memory. */
static bool chunk_compare(refreshing *r, seen_unit *u, const chunk_now *now)
{
    const size_t bytes = r->rows->bytes;
    seen_rows *s = u->seen;
    for (uint32_t k = 0, first = 0; first < u->rows || first < now->rows; k++, first += 64) {
        const uint64_t old = s->listed[k], listed = now->listed[k];
        const uint32_t was = word_rows(u->rows, first), is = word_rows(now->rows, first), both = was < is ? was : is;
        const char *values = now->values + first * bytes;
        char *seen = seen_values(u) + first * bytes;
        uint64_t unlike = 0;
        if ((old & listed) && now->values_new) unlike = rows_unlike(values, seen, (uint32_t)bytes, both);
        if ((old & listed) && now->entities_new)
            unlike |= rows_unlike((const char *)(now->entities + first), (const char *)(s->entities + first),
                                  sizeof(reef_entity), both);
        const uint64_t gone = old & (~listed | unlike), come = listed & (~old | unlike);
        if ((gone | come) == 0) continue;
        r->different = true;
        if (r->only_look) return true;
        /* (Entities that are the same are read from the world alone, since each touch may wait for memory.) */
        const reef_entity *new = now->entities + first;
        const bool same = !now->entities_new && now->rows >= u->rows;
        if (!changes_note(r, gone, &(word_now){was, seen, same ? new : s->entities + first}, come,
                          &(word_now){is, values, new}))
            return false;
        s->listed[k] = listed;
        memcpy(seen, values, is * bytes);
        if (now->entities_new || (listed & ~old)) memcpy(s->entities + first, new, is * sizeof *s->entities);
    }
    if (!r->only_look) u->rows = (uint16_t)now->rows;
    return true;
}

static bool chunk_refresh(refreshing *r, const chunk_cursor *c, chunk_now *now)
{
    const reef_world *w = r->q->world;
    value_rows *x = r->rows;
    seen_unit *u = c->unit < x->units ? &x->unit[c->unit] : NULL;
    const uint32_t slot = order_slot(w, r->by, c->match->id);
    const uint64_t version = r->seen.version;
    const bool all = r->all || u == NULL || u->seen == NULL;
    now->rows = c->rows;
    now->entities = slot_entities(c->slots);
    now->entities_new = all || (c->slots[SLOT_ENTITIES].version > version);
    now->values_new =
        all || (order_is_stored(r->by) ? r->stored || now->entities_new : c->slots[slot].version > version);
    r->visited += u && u->seen;
    if (u && !r->only_look) u->walk = x->walk;
    const bool same = !now->entities_new && !now->values_new && u->rows == c->rows;
    if (same && !c->match->look) return true;
    rows_all(now->listed, c->rows);
    if (c->match->look) {
        const look l = {r->q, c->match->id, c->unit, c->rows, 0, now->entities, NULL, NULL};
        (void)reef__look_rows(&l, now->listed, 0, BIT_WORDS);
        if (same && memcmp(now->listed, u->seen->listed, sizeof now->listed) == 0) return true;
    }
    r->compared = true;
    if (r->only_look && (u == NULL || u->seen == NULL)) return r->different = true;
    values_find(r, c, slot, now);
    return (r->only_look || seen_grow(r->memory, x, u, c->rows)) && chunk_compare(r, u, now);
}

/* Takes out the rows of chunks to which the walk didn't come. */
static bool chunks_forget(refreshing *r)
{
    value_rows *x = r->rows;
    uint32_t units = 0;
    for (uint32_t i = 0; i < x->units; i++) {
        seen_unit *u = &x->unit[i];
        units += u->seen != NULL;
        if (u->seen == NULL || r->only_look || u->walk == x->walk) continue;
        const chunk_now gone = {.entities_new = true, .entities = u->seen->entities, .values = seen_values(u)};
        if (!chunk_compare(r, u, &gone)) return false;
        seen_free(r->memory, x, u);
    }
    if (r->only_look) r->different |= units != r->visited;
    return true;
}

/* ---- the list ---- */

/* Makes the list of all rows that were seen. */
static bool list_sort(refreshing *r)
{
    value_rows *x = r->rows;
    uint64_t keys[64];
    size_t count = 0, bytes, n = 0;
    for (uint32_t i = 0; i < x->units; i++) count += x->unit[i].seen ? rows_in(x->unit[i].seen->listed) : 0;
    const size_t room = count + count / 16 + ROWS_BEHIND;
    if (!reef__size_multiply(room, sizeof(order_row), 0, &bytes)) return false;
    order_row *rows = reef__memory_resize(r->memory, MEMORY_OTHER, NULL, 0, bytes, PLAIN_ALIGN);
    order_row *scratch = rows ? reef__memory_resize(r->memory, MEMORY_OTHER, NULL, 0, bytes, PLAIN_ALIGN) : NULL;
    if (scratch == NULL) {
        reef__memory_free(r->memory, MEMORY_OTHER, rows, rows ? bytes : 0);
        return false;
    }
    for (const seen_unit *u = x->unit, *last = u + x->units; u < last; u++) {
        for (uint32_t first = 0; first < u->rows; first += 64) {
            reef__order_keys(&x->by, seen_values(u) + (size_t)first * x->bytes, word_rows(u->rows, first), keys);
            for (uint64_t word = u->seen->listed[first / 64]; word; word &= word - 1) {
                const reef_entity e = u->seen->entities[first + bits_first(word)];
                rows[n++] = (order_row){keys[bits_first(word)], e.index, e.generation};
            }
        }
    }
    order_row *sorted = reef__order_rows(rows, scratch, count);
    reef__memory_free(r->memory, MEMORY_OTHER, sorted == rows ? scratch : rows, bytes);
    return x->filled = reef__list_fill(&x->list, r->memory, sorted, count, room);
}

static bool chunks_refresh(refreshing *r)
{
    char room[REEF_BLOCK_ROWS * sizeof(uint64_t)];
    chunk_now now = {.room = room};
    r->visited = 0;
    r->different = false;
    if (!r->only_look) r->rows->walk++;
    for (chunk_cursor c = {.q = r->q}; chunk_next(&c);) {
        if (!chunk_refresh(r, &c, &now)) return false;
        if (r->only_look && r->different) return true;
    }
    return chunks_forget(r);
}

/* Changes the list as was noted. False: no memory. */
static bool list_follow(refreshing *r)
{
    value_rows *x = r->rows;
    const uint32_t count = x->noted;
    if (count == 0) return true;
    if (!reef__array_room(r->memory, MEMORY_OTHER, &x->scratch, &x->scratch_room, count, sizeof *x->scratch))
        return false;
    return reef__list_change(&x->list, r->memory, reef__order_rows(x->note, x->scratch, count), count);
}

static bool rows_refresh(refreshing *r)
{
    value_rows *x = r->rows;
    r->flood = !x->filled;
    x->noted = 0;
    r->most = x->list.main.count / FLOOD_SHARE + FLOOD_LEAST;
    if (!reef__array_room(r->memory, MEMORY_OTHER, &x->unit, &x->units, r->q->world->state.next_unit,
                          sizeof *x->unit) ||
        !chunks_refresh(r))
        return false;
    if (r->flood) return list_sort(r);
    return list_follow(r);
}

/* Is any page newer? */
static bool pages_have_news(const reef_paged *p, uint64_t version)
{
    for (uint32_t i = 0; i < p->count; i++)
        if (p->page[i] && p->version[i] > version) return true;
    return false;
}

/* What is seen of the world now, but for its version; and whether that says that something is new. */
static void seen_look(refreshing *r)
{
    const reef_world *w = r->q->world;
    seen_state now = {.version = r->seen.version, .epoch = w->state_epoch};
    r->all = r->seen.epoch != now.epoch;
    if (order_is_stored(r->by)) {
        const value_store *s = store_of(w, r->by->type->id);
        now.values = s->count;
        now.moves = s->moves;
        r->stored = r->all || now.values != r->seen.values || now.moves != r->seen.moves ||
                    pages_have_news(&s->values, now.version) || pages_have_news(&s->index, now.version);
    }
    r->seen = now;
}

bool reef__value_rows_refresh(value_rows **rows, const query *q, const ordering *by, seen_state *seen, bool *fresh)
{
    memory *m = &q->world->family->memory;
    refreshing r = {.memory = m, .rows = *rows, .q = q, .by = by, .seen = *seen};
    seen_look(&r);
    r.only_look = REEF_ACQUIRE_U32(&r.rows->holders) > 1;
    bool ok = !r.only_look || chunks_refresh(&r);
    if (r.only_look && r.different && !q->world->running) reef__bindings_let_go(q->world, r.rows);
    if (r.only_look && r.different && REEF_ACQUIRE_U32(&r.rows->holders) > 1) {
        value_rows *own = value_rows_copy(m, r.rows);
        if (own == NULL) return false;
        reef__value_rows_leave(m, r.rows);
        *rows = r.rows = own;
    }
    if (!r.only_look || r.different) {
        r.only_look = false;
        ok = rows_refresh(&r);
    }
    *fresh = r.compared;
    if (ok) *seen = r.seen;
    else value_rows_empty(m, r.rows);
    return ok;
}
