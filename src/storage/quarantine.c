/* The quarantine: moves rows and values at every structural change and poisons where they were, so that the address
 * sanitizer finds pointers that were kept too long. src/storage/quarantine.h explains it. */
#include "storage/quarantine.h"
#include "type/value.h"
#include "storage/cow_pages.h"
#include "storage/error.h"
#include "storage/invalidate.h"
#include "storage/place.h"
#include "storage/sparse_store.h"
#include "storage/table.h"
#include "reef/ref.h"
#include "reef/stats.h"
#include "reef/type_info.h"
#include <stdio.h>
#include <stdlib.h>

#if defined(QUARANTINE)

#include <sanitizer/asan_interface.h>

enum { WAITING = 256 };
#define WAITING_BYTES ((size_t)16 << 20)
#define GUARD_BYTES ((uint64_t)16 << 10) /* what a change moves at most, if the environment doesn't say otherwise */

typedef struct held_block {
    char *block;
    size_t bytes;
    const type *type; /* NULL: handles */
    uint32_t size, arena;
    uint32_t first; /* offset of the first row: a page of a store begins with its marks */
    bool waits;     /* false: the allocator has the block again, or it is a row of a block that is in use */
} held_block;

struct left_blocks {
    family *family;
    const char *op; /* NULL: a state ended */
    uint32_t component;
    reef_entity entity;
    bool flushing;
    uint32_t rows, count;
    size_t bytes;
    reef_entity *entities;
    held_block blocks[];
};

/* The blocks that wait. These records are the C library's memory: no allocator of a world sees them. */
typedef struct waiting_blocks {
    mutex lock;
    left_blocks *ring[WAITING];
    uint32_t head, tail; /* positions */
    size_t bytes;
    bool reports;
} waiting_blocks;
static waiting_blocks waiting = {.lock = MUTEX_INIT};

/* ---- the report ---- */

static const held_block *held_find(const left_blocks *x, const char *address)
{
    for (uint32_t i = 0; i < x->count; i++)
        if (address >= x->blocks[i].block && address < x->blocks[i].block + x->blocks[i].bytes) return &x->blocks[i];
    return NULL;
}

static void held_tell(const left_blocks *x, const held_block *b, const char *address)
{
    const size_t at = (size_t)(address - b->block), row = at < b->first ? x->rows : (at - b->first) / b->size;
    const bool known = row < x->rows && x->entities[row].generation;
    const reef_entity e = known ? x->entities[row] : (reef_entity){0, 0};
    if (b->type) fprintf(stderr, "reef: a pointer to %s", b->type->name);
    else fprintf(stderr, "reef: a pointer to the entities of a block");
    if (known && b->type) fprintf(stderr, " of entity %uv%u", (unsigned)e.index, (unsigned)e.generation);
    if (x->op == NULL) {
        fprintf(stderr, " was used after its world went to another state\n");
        return;
    }
    fprintf(stderr, " was used after %s", x->op);
    if (x->component) fprintf(stderr, " of %s", reef_type_name((reef_component){x->component}));
    if (known && b->type && reef_entity_equal(x->entity, e)) fprintf(stderr, " moved it");
    else if (x->entity.generation)
        fprintf(stderr, " of entity %uv%u moved it", (unsigned)x->entity.index, (unsigned)x->entity.generation);
    else fprintf(stderr, " moved it");
    fprintf(stderr, x->flushing ? ", when commands were applied\n" : "\n");
}

/* The sanitizer calls this when it stops the program. It takes no lock, since whoever holds it won't go on. The newest
 * record is the right one. */
static void report_more(const char *text)
{
    const char *address = __asan_get_report_address();
    (void)text;
    for (uint32_t i = waiting.tail; i != waiting.head; i--) {
        const left_blocks *x = waiting.ring[(i - 1) % WAITING];
        const held_block *b = x ? held_find(x, address) : NULL;
        if (b == NULL) continue;
        held_tell(x, b, address);
        fflush(stderr);
        return;
    }
}

/* ---- what waits ---- */

/* Under the lock. */
static void held_free(left_blocks *x)
{
    for (uint32_t i = 0; i < x->count; i++) {
        const held_block *b = &x->blocks[i];
        if (!b->waits) continue;
        ASAN_UNPOISON_MEMORY_REGION(b->block, b->bytes);
        reef__memory_block_release(&x->family->memory, b->arena, b->block, b->bytes);
    }
    waiting.bytes -= x->bytes;
    free(x);
}

static void oldest_free(void)
{
    left_blocks **x = &waiting.ring[waiting.head++ % WAITING];
    if (*x) held_free(*x);
    *x = NULL;
}

/* A record with room for this many blocks and rows. NULL: there is none, and the blocks don't wait. */
static left_blocks *held_make(const reef_world *w, family *f, size_t blocks, uint32_t rows)
{
    if (!f->memory.guarded) return NULL;
    const size_t bytes = sizeof(left_blocks) + blocks * sizeof(held_block);
    left_blocks *x = malloc(bytes + rows * sizeof(reef_entity));
    if (x == NULL) return NULL;
    *x = (left_blocks){.family = f, .rows = rows, .entities = (reef_entity *)(void *)((char *)x + bytes)};
    if (!WORLD_GIVEN(w)) return x;
    x->op = w->moving.op;
    x->component = w->moving.component;
    x->entity = w->moving.entity;
    x->flushing = w->flushing;
    return x;
}

COLD left_blocks *reef__quarantine_note(const reef_world *w, family *f, const shape *s, const reef_slot *slots,
                                        uint32_t rows)
{
    left_blocks *x = held_make(w, f, s->column_count + 1u, rows);
    if (x) memcpy(x->entities, slot_entities(slots), rows * sizeof(reef_entity));
    return x;
}

COLD bool reef__quarantine_take(left_blocks *x, const column *c, void *block, uint32_t capacity)
{
    if (x == NULL) return false;
    held_block *b = &x->blocks[x->count];
    *b = (held_block){block, (size_t)c->size * capacity, c->type, c->size, c->arena, 0, false};
    b->waits = reef__memory_block_hold(&x->family->memory, MEMORY_ROWS, c->arena, b->bytes, c->align);
    if (b->waits) x->bytes += b->bytes;
    x->count++;
    return b->waits;
}

COLD void reef__quarantine_wait(left_blocks *x)
{
    if (x == NULL) return;
    for (uint32_t i = 0; i < x->count; i++)
        if (x->blocks[i].waits) ASAN_POISON_MEMORY_REGION(x->blocks[i].block, x->blocks[i].bytes);
    mutex_lock(&waiting.lock);
    waiting.bytes += x->bytes;
    if (waiting.tail - waiting.head == WAITING) oldest_free();
    waiting.ring[waiting.tail++ % WAITING] = x;
    while (waiting.bytes > WAITING_BYTES) oldest_free();
    mutex_unlock(&waiting.lock);
}

COLD void reef__quarantine_end(family *f)
{
    if (!f->memory.guarded) return;
    mutex_lock(&waiting.lock);
    for (uint32_t i = waiting.head; i != waiting.tail; i++) {
        left_blocks **x = &waiting.ring[i % WAITING];
        if (*x == NULL || (*x)->family != f) continue;
        held_free(*x);
        *x = NULL;
    }
    mutex_unlock(&waiting.lock);
}

static void guard_set(family *f, uint64_t bytes)
{
    f->memory.guard_bytes = bytes;
    f->memory.guarded = bytes != 0;
    if (bytes == 0) return;
    mutex_lock(&waiting.lock);
    if (!waiting.reports) __asan_set_error_report_callback(report_more);
    waiting.reports = true;
    mutex_unlock(&waiting.lock);
}

COLD void reef__quarantine_begin(family *f)
{
    const char *text = getenv("REEF_QUARANTINE");
    guard_set(f, text ? strtoull(text, NULL, 10) : GUARD_BYTES);
}

/* ---- chunks ---- */

static uint64_t rows_bytes(const shape *s, uint32_t rows)
{
    uint64_t bytes = 0;
    for (uint32_t k = SLOT_ENTITIES; k < s->end_slot; k++) bytes += (uint64_t)rows * s->columns[k].size;
    return bytes;
}

/* Is there enough saved up to move this many bytes? Each change adds what it may move; so a chunk or page that is too
 * large for one change is moved by every n-th. */
static bool guard_pays(reef_world *w, uint64_t bytes)
{
    const uint64_t each = w->family->memory.guard_bytes, most = (uint64_t)1 << 40;
    w->moving.saved = each > most || w->moving.saved > most - each ? most : w->moving.saved + each;
    if (each == 0 || bytes > w->moving.saved) return false;
    w->moving.saved = bytes > each ? 0 : each;
    return true;
}

static bool chunk_is_ours(const reef_world *w, const shape *s, uint32_t unit)
{
    const reef_slot *slots = unit_slots(w, unit);
    if (!paged_owned(&w->hot.chunks, unit >> REEF_UNIT_BITS, w->hot.fork_version)) return false;
    for (uint32_t k = SLOT_ENTITIES; k < s->end_slot; k++)
        if (slots[k].version <= w->ours_after) return false;
    return true;
}

/* Poisons the rows behind the last one of a chunk, or opens them. */
static void tail_guard(const shape *s, const reef_slot *slots, uint32_t rows, bool closed)
{
    const size_t capacity = slots[0].head_more.capacity;
    for (uint32_t k = SLOT_ENTITIES; k < s->end_slot; k++) {
        const size_t size = s->columns[k].size, bytes = (capacity - rows) * size;
        char *tail = (char *)slots[k].block + rows * size;
        if (closed) ASAN_POISON_MEMORY_REGION(tail, bytes);
        else ASAN_UNPOISON_MEMORY_REGION(tail, bytes);
    }
}

COLD bool reef__quarantine_chunk(reef_world *w, const table *t, uint32_t unit, uint32_t raw)
{
    const reef_slot *slots = unit_slots(w, unit);
    const uint32_t rows = chunk_rows(t, unit);
    if (!chunk_is_ours(w, t->shape, unit) || !guard_pays(w, rows_bytes(t->shape, rows))) return false;
    if (!reef__chunk_rehouse(w, t, unit, chunk_capacity(slots), raw)) return false;
    tail_guard(t->shape, slots, rows, true);
    return true;
}

COLD void reef__quarantine_table(reef_world *w, const table *t)
{
    if (!quarantine_on(w)) return;
    for (uint32_t unit = t->first; unit; unit = unit_slots(w, unit)[0].head.next)
        reef__quarantine_chunk(w, t, unit, UINT32_MAX);
}

/* ---- values outside of the rows ---- */

static size_t page_bytes(const value_store *s) { return s->offset + ((size_t)s->size << s->bits); }

/* Notes a page, and the entities whose values it has. */
static void page_note(left_blocks *x, const value_store *s, const paged_type *p, char *block, uint32_t page)
{
    for (uint32_t i = 0; i < x->rows; i++) x->entities[i] = slot_entity(s, block, page, i);
    held_block *b = &x->blocks[x->count++];
    *b = (held_block){block, p->page_bytes, reef__type_of(s->component), s->size, p->arena, s->offset, false};
    b->waits = reef__memory_block_hold(&x->family->memory, p->kind, p->arena, p->page_bytes, p->align);
    if (b->waits) x->bytes += b->bytes;
}

/* Moves a page of values to another address. Pages of REEF_PAGED stay, and shared values don't lie on a page. False:
 * the page stays, like a chunk that doesn't move. */
static bool page_moves(reef_world *w, value_store *s, uint32_t page)
{
    store_pages pages;
    char *old = page_ours(&s->values, page, w->hot.fork_version);
    if (old == NULL || s->paged || s->shared || s->size == 0) return false;
    if (!guard_pays(w, page_bytes(s))) return false;
    (void)reef__store_owner(w->family, s, &pages);
    const paged_type *p = &pages.type;
    left_blocks *x = held_make(w, w->family, 1, slot_mask(s) + 1);
    char *fresh = x ? reef__memory_block(&w->family->memory, p->kind, p->arena, p->page_bytes, p->align) : NULL;
    if (fresh == NULL) return free(x), false;
    page_note(x, s, p, old, page);
    memset(fresh, 0, p->page_bytes);
    memcpy(fresh, old, s->offset);
    for (uint32_t i = 0; i < x->rows; i++) {
        const size_t at = s->offset + (size_t)i * s->size;
        if (x->entities[i].generation) reef__value_move(reef__type_of(s->component), fresh + at, old + at);
    }
    mutex_lock(&w->family->lock); /* a relative that dies may be comparing pages */
    s->values.page[page] = fresh;
    mutex_unlock(&w->family->lock);
    if (!x->blocks[0].waits)
        reef__memory_block_free(&w->family->memory, p->kind, p->arena, old, p->page_bytes, p->align);
    reef__values_relocate(w, old, fresh, p->page_bytes);
    s->moves++;
    s->cached.slots = s->hole.slots = 0;
    reef__invalidate(w, INVALIDATE_BLOCKS_MOVED);
    reef__quarantine_wait(x);
    return true;
}

COLD bool reef__quarantine_page(reef_world *w, value_store *s, uint32_t page)
{
    return quarantine_on(w) && page_moves(w, s, page);
}

COLD void reef__quarantine_slots(const reef_world *w, const value_store *s, uint32_t slot, uint32_t n, reef_entity e)
{
    if (!quarantine_on(w) || s->size == 0 || s->shared) return;
    char *values = slot_value(s, slot);
    reef__quarantine_value(w, reef__type_of(s->component), values, n, e);
    ASAN_POISON_MEMORY_REGION(values, (size_t)n * s->size);
}

COLD void reef__quarantine_value(const reef_world *w, const type *t, const void *value, uint32_t n, reef_entity e)
{
    left_blocks *x = held_make(w, w->family, 1, 1);
    if (x == NULL) return;
    x->entities[0] = e;
    x->blocks[x->count++] = (held_block){(char *)(uintptr_t)value, (size_t)n * t->size, t, n * t->size, 0, 0, false};
    reef__quarantine_wait(x);
}

COLD void reef__quarantine_open_slots(const reef_world *w, const value_store *s, uint32_t slot, uint32_t n)
{
    if (!quarantine_on(w) || s->size == 0) return;
    ASAN_UNPOISON_MEMORY_REGION(slot_value(s, slot), (size_t)n * s->size);
}

COLD void reef__quarantine_open_page(const reef_world *w, const value_store *s, uint32_t page)
{
    if (!quarantine_on(w) || page >= s->values.count || s->values.page[page] == NULL) return;
    ASAN_UNPOISON_MEMORY_REGION(s->values.page[page], page_bytes(s));
}

COLD bool reef__quarantine_left(family *f, const value_store *s, const paged_type *p, const void *block, uint32_t page)
{
    if (s->shared || s->size == 0) return false;
    left_blocks *x = held_make(NULL, f, 1, slot_mask(s) + 1);
    if (x == NULL) return false;
    page_note(x, s, p, (char *)(uintptr_t)block, page);
    const bool waits = x->blocks[0].waits;
    reef__quarantine_wait(x);
    return waits;
}

/* ---- all of a world ---- */

COLD void reef__quarantine_world(reef_world *w, const char *op)
{
    if (!quarantine_on(w)) return;
    quarantine_because(w, op, 0, (reef_entity){0, 0});
    EACH_TABLE(w, t) reef__quarantine_table(w, t);
    for (uint32_t i = 1; i < w->state.store_count; i++)
        for (uint32_t page = 0; page < w->state.stores[i].values.count; page++)
            (void)page_moves(w, &w->state.stores[i], page);
}

COLD void reef__quarantine_fill(reef_world *w, const table *t, uint32_t place)
{
    if (!quarantine_on(w)) return;
    bool moved = reef__quarantine_chunk(w, t, place_unit(place), place_row(place));
    if (place_unit(place) != t->last) moved = reef__quarantine_chunk(w, t, t->last, UINT32_MAX);
    if (moved) return;
    /* The last row goes and its block stays: notes what a report says of that row. */
    const reef_slot *slots = unit_slots(w, t->last);
    const uint32_t last = place_row(t->next - 1);
    left_blocks *x = reef__quarantine_note(w, w->family, t->shape, slots, last + 1);
    if (x == NULL) return;
    x->entities[0] = x->entities[last];
    x->rows = 1;
    for (uint32_t k = SLOT_ENTITIES; k < t->shape->end_slot; k++) {
        const column *c = &t->shape->columns[k];
        x->blocks[x->count++] = (held_block){
            (char *)slots[k].block + (size_t)last * c->size, c->size, c->type, c->size, c->arena, 0, false};
    }
    reef__quarantine_wait(x);
}

COLD void reef__quarantine_close(reef_world *w, const table *t)
{
    if (quarantine_on(w) && chunk_is_ours(w, t->shape, t->last))
        tail_guard(t->shape, unit_slots(w, t->last), place_row(t->next), true);
}

COLD void reef__quarantine_open(const reef_world *w, const table *t, uint32_t unit)
{
    if (quarantine_on(w)) tail_guard(t->shape, unit_slots(w, unit), chunk_rows(t, unit), false);
}

/* For a world without relatives. */
static void quarantine_set(reef_world *w, uint64_t bytes)
{
    for (uint32_t id = TABLE_EMPTY; bytes == 0 && id < w->state.tables.count * TABLES_PER_PAGE; id++) {
        const table *t = table_read(w, id);
        if (t && t->last) reef__quarantine_open(w, t, t->last);
        for (uint32_t unit = t ? t->spare : 0; unit; unit = unit_slots(w, unit)[0].head.next)
            tail_guard(t->shape, unit_slots(w, unit), 0, false);
    }
    for (uint32_t i = 1; bytes == 0 && i < w->state.store_count; i++)
        for (uint32_t page = 0; page < w->state.stores[i].values.count; page++)
            reef__quarantine_open_page(w, &w->state.stores[i], page);
    reef__quarantine_end(w->family);
    guard_set(w->family, bytes);
    reef__invalidate(w, INVALIDATE_LOOKED_AT); /* closes the fast paths: no lease has this version */
}

#endif

COLD reef_status reef_quarantine(reef_world *w, uint64_t bytes)
{
    if (!WORLD_GIVEN(w)) return REEF_BAD_ARGUMENT;
#if defined(QUARANTINE)
    if (w->locks || w->running) return reef__refuse(w, REEF_LOCKED, "reef_quarantine");
    mutex_lock(&w->family->lock);
    const bool alone = w->family->members == 1;
    mutex_unlock(&w->family->lock);
    if (!alone) return reef__refuse(w, REEF_LOCKED, "reef_quarantine");
    quarantine_set(w, bytes);
#else
    (void)bytes;
#endif
    return REEF_OK;
}
