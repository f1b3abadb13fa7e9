/* Indexes of blocks, from unit to block: src/storage/block_index.h has the rules. */
#include "storage/block_index.h"
#include "base/threads.h"
#include "storage/archetype.h"
#include "storage/place.h"
#include <stdio.h>

enum {
    INDEXES_MAX = 64, /* of a world */
    ROOM_FIRST = 64   /* units that an index has room for at least */
};

static const uint32_t no_indices;
static reef_block_index no_index = {.get = &no_indices, .has = &no_indices};
/* those of a world without an index of blocks */
static reef_block_index *no_blocks[REEF_BLOCK_NUMBERS];

/* ---- memory ---- */

/* The bytes in front of the versions: a multiple of 8 where an address has 4 bytes, too. */
static size_t index_front(uint32_t room)
{
    const size_t bytes = sizeof(reef_block_index) + room * sizeof(void *);
    return (bytes + sizeof(uint64_t) - 1) / sizeof(uint64_t) * sizeof(uint64_t);
}
static size_t index_bytes(uint32_t room) { return index_front(room) + room * sizeof(uint64_t); }

static reef_block_index *index_take(const reef_world *w, uint32_t component, uint32_t room)
{
    reef_block_index *x = reef__memory_zeroed(&w->family->memory, MEMORY_TABLES, index_bytes(room));
    if (x == NULL) return NULL;
    x->component = component;
    x->room = room;
    x->version = (uint64_t *)(void *)((char *)x + index_front(room));
    return x;
}

static void index_give(const reef_world *w, reef_block_index *x)
{
    reef__memory_free(&w->family->memory, MEMORY_TABLES, x, index_bytes(x->room));
}

/* Where the component's index is entered, by its number, which it gets if it has none. NULL: there is no memory, or no
 * number left, or no table has the component. */
static reef_block_index **entry_reserve(reef_world *w, uint32_t component)
{
    reef_map *m = w->hot.maps[component >> 8][component & 255];
    uint32_t *last = &w->family->graph.last_number;
    if (m->capacity == 0 || (m->number == 0 && *last == REEF_BLOCK_NUMBERS - 1)) return NULL;
    if (w->hot.blocks == no_blocks) {
        reef_block_index **all = reef__memory_zeroed(&w->family->memory, MEMORY_TABLES, sizeof no_blocks);
        if (all == NULL) return NULL;
        memcpy(all, no_blocks, sizeof no_blocks);
        RELEASE_STORE(&w->hot.blocks, all);
    }
    if (m->number == 0) RELEASE_STORE(&m->number, ++*last);
    return &w->hot.blocks[m->number];
}

/* ---- making one ---- */

/* The slot of the component in a shape, 0: it hasn't got it; REEF_SLOT_TAG: it is a tag. */
static uint32_t shape_slot(const shape *s, uint32_t component)
{
    for (uint32_t k = SLOT_COLUMNS; k < s->end_slot; k++)
        if (s->columns[k].type->id == component) return k;
    for (uint32_t i = 0; i < s->component_count; i++)
        if (s->component[i] == component) return REEF_SLOT_TAG;
    return 0;
}

/* Notes the blocks in slot k of the chunks from `unit` on. How many there are. */
static uint32_t units_fill(const reef_world *w, reef_block_index *x, uint32_t k, uint32_t unit)
{
    uint32_t used = 0;
    for (; unit; used++) {
        const reef_slot *slots = unit_slots(w, unit);
        index_blocks(x)[unit] = k == REEF_SLOT_TAG ? (void *)x : slots[k].block;
        unit = slots[0].head.next;
    }
    return used;
}

/* Notes the blocks of the component in x, also those of chunks that wait for rows. How many there are. */
static uint32_t index_fill(const reef_world *w, reef_block_index *x)
{
    const reef_map *m = map_of_id(w, x->component);
    const bool partial = REEF_DEPENDENT(&m->elsewhere) == ELSEWHERE_RARE; /* the map may not know all tables */
    const uint32_t tables = w->state.tables.count * TABLES_PER_PAGE, behind = m->lowest + m->capacity;
    uint32_t used = 0;
    for (uint32_t id = partial ? 0 : m->lowest; id < (partial || behind > tables ? tables : behind); id++) {
        if (!partial && ((const uint16_t *)(m + 1))[1 + id - m->lowest] == 0) continue;
        const table *t = table_read(w, id);
        const uint32_t k = t && (t->first | t->spare) ? shape_slot(t->shape, x->component) : 0;
        if (k == 0) continue;
        used += units_fill(w, x, k, t->first) + units_fill(w, x, k, t->spare);
    }
    return used;
}

static void index_means(const reef_world *w, reef_block_index *x)
{
    const type *t = reef__type_of(x->component);
    if (t == NULL) return; /* it has one; without this, gcc at -O3 warns of a read from NULL */
    x->whole = !has_subtypes(t);
    x->get = type_column(t) ? &w->hot.index_count : &no_indices;
    x->has = x->whole ? &w->hot.index_count : &no_indices;
}

/* Under the lock. */
static void index_make(reef_world *w, uint32_t component)
{
    uint32_t room = ROOM_FIRST;
    while (room < w->state.next_unit) room *= 2;
    if (block_indexed_any(w)) room = w->block_room;
    reef_block_index **entry = entry_reserve(w, component);
    if (entry == NULL || (*entry)->room) return;
    reef_block_index *x = index_take(w, component, room);
    if (x == NULL) return;
    if (index_fill(w, x) == 0) { /* what no row has is asked for in vain, and takes no memory */
        index_give(w, x);
        return;
    }
    index_means(w, x);
    x->older = w->block_newest;
    w->block_newest = x;
    w->block_count++;
    w->block_room = room;
    RELEASE_STORE(entry, x);
}

void reef__block_index_ask(const reef_world *cw, uint32_t component)
{
    reef_world *w = (reef_world *)(uintptr_t)cw; /* a cache: no world is really const */
    uint32_t *counter = &w->block_asked[component % (sizeof w->block_asked / sizeof *w->block_asked)];
    const uint32_t asked = REEF_ACQUIRE_U32(counter) + BLOCK_ASKS;
    const bool enough = asked >= w->state.next_unit;
    RELEASE_STORE(counter, enough ? 0 : asked); /* calls of two threads may count as one */
    if (!enough || component == 0 || component > REEF_TYPES_MAX || block_index_of(w, component)->room) return;
    const type *t = reef__type_of(component);
    if (t == NULL || !in_table(t) || t->split || component >= w->state.map_count) return;
    /* A hook that reads may have been called under the lock. A later call asks again. */
    if (!mutex_try(&w->family->lock)) return;
    if (w->block_count < INDEXES_MAX) index_make(w, component);
    mutex_unlock(&w->family->lock);
}

/* ---- keeping it true ---- */

static void unit_note(reef_world *w, uint32_t component, uint32_t unit, const void *block)
{
    reef_block_index *x = block_index_of(w, component);
    if (x->room == 0) return;
    index_blocks(x)[unit] = (void *)(uintptr_t)(block == w ? x : block);
    x->version[unit] = 0;
}

void reef__chunk_note_slow(reef_world *w, const shape *s, uint32_t unit, bool there)
{
    const reef_slot *slots = unit_slots(w, unit);
    /* a tag's block is the index, which unit_note puts in the place of the world */
    for (uint32_t i = 0; s->component_count + SLOT_COLUMNS > s->end_slot && i < s->component_count; i++)
        if (type_column(type_known(s->component[i])) == 0) unit_note(w, s->component[i], unit, there ? w : NULL);
    for (uint32_t k = SLOT_COLUMNS; k < s->end_slot; k++)
        unit_note(w, s->columns[k].type->id, unit, there ? slots[k].block : NULL);
}

void reef__versions_forget(reef_world *w, uint32_t component)
{
    reef_block_index *x = block_index_of(w, component);
    if (x->room) memset(x->version, 0, x->room * sizeof *x->version);
}

void reef__block_indexes_renew(reef_world *w)
{
    for (reef_block_index *x = w->block_newest; x; x = x->older) index_means(w, x);
}

void reef__block_indexes_fill(void)
{
    for (uint32_t i = 0; i < REEF_BLOCK_NUMBERS; i++) no_blocks[i] = &no_index;
}

void reef__block_indexes_begin(reef_world *w)
{
    w->hot.blocks = no_blocks;
    w->block_room = UINT32_MAX;
    w->block_newest = NULL;
    w->block_count = 0;
}

COLD void reef__block_indexes_drop(reef_world *w)
{
    if (w->hot.blocks == no_blocks) return;
    for (reef_block_index *x = w->block_newest, *older; x; x = older) {
        older = x->older;
        index_give(w, x);
    }
    reef__memory_free(&w->family->memory, MEMORY_TABLES, w->hot.blocks, sizeof no_blocks);
    reef__block_indexes_begin(w);
}

/* ---- validation ---- */

/* What is wrong with the index at `unit`, where a chunk with these slots begins; NULL: none does. */
static const char *unit_fault(const reef_world *w, reef_block_index *x, uint32_t unit, const reef_slot *slots)
{
    const void *block = index_blocks(x)[unit];
    const uint32_t k = slots ? shape_slot(shape_of(w->family, slots[0].head.table), x->component) : 0;
    if (block != (k == 0 ? NULL : k == REEF_SLOT_TAG ? (void *)x : slots[k].block))
        return "a block that isn't the chunk's";
    if (x->version[unit] != w->hot.version || w->running) return NULL;
    return k == 0 || k == REEF_SLOT_TAG || slots[k].version != w->hot.version ? "a version that isn't the slot's"
                                                                              : NULL;
}

static const char *index_fault(const reef_world *w, reef_block_index *x)
{
    const char *fault = NULL;
    if (x->room != w->block_room || x->room < w->state.next_unit) return "no room for all units";
    for (uint32_t unit = 0, more = 0; unit < x->room && fault == NULL; unit++) {
        const reef_slot *slots = NULL; /* `more` units belong to the chunk that began before */
        if (more > 0) more--;
        else if (unit_used(w, unit)) slots = unit_slots(w, unit);
        if (slots && slots[0].head.table == TABLE_NONE) slots = NULL;
        if (slots) more = shape_of(w->family, slots[0].head.table)->units - 1u;
        fault = unit_fault(w, x, unit, slots);
    }
    return fault;
}

COLD reef_status reef__block_indexes_validate(const reef_world *w, char *message, size_t size)
{
    for (reef_block_index *x = w->block_newest; x; x = x->older) {
        const char *fault = index_fault(w, x);
        if (fault == NULL) continue;
        snprintf(message, size, "%s: its index of blocks has %s", reef__type_of(x->component)->name, fault);
        return REEF_CORRUPT;
    }
    return REEF_OK;
}
