/* Indexes of blocks, from unit to block: src/storage/block_index.h has the rules. */
#include "storage/block_index.h"
#include "base/memory.h"
#include "base/platform.h"
#include "base/threads.h"
#include "type/type.h"
#include "storage/archetype.h"
#include "storage/family.h"
#include "storage/layout.h"
#include "storage/place.h"
#include "storage/world_data.h"
#include "reef/detail/layout.h"
#include <stdio.h>

enum {
    ROOM_FIRST = 64,  /* units that an index has room for at first */
    UNITS_A_BLOCK = 8 /* an index has at most this many units for each block of the component */
};

static const uint32_t no_indices;
static struct empty_index {
    reef_block_index index;
    void *block;
} empty_index = {.index = {&no_indices, &no_indices, NULL, 0, 0, 0, 0}};
static reef_block_entry no_entries = {&empty_index.index, 1};

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
    if (x->room) reef__memory_free(&w->family->memory, MEMORY_TABLES, x, index_bytes(x->room));
}

/* Entries that were replaced wait until all are dropped, since another thread may be reading them: the entry
 * behind the last leads to them. They double, so they take less than those in use. */
static size_t entries_bytes(uint32_t count) { return (count + 1) * sizeof(reef_block_entry); }

static bool entries_reserve(reef_world *w, uint32_t component)
{
    reef_block_entry *old = w->hot.blocks;
    const uint32_t count = old[0].asked;
    if (component < count) return true;
    uint32_t room = count > 16 ? count * 2 : 32;
    while (room <= component) room *= 2;
    reef_block_entry *all = reef__memory_zeroed(&w->family->memory, MEMORY_TABLES, entries_bytes(room));
    if (all == NULL) return false;
    for (uint32_t i = 0; i < room; i++) all[i] = i < count ? old[i] : (reef_block_entry){&empty_index.index, 0};
    all[0].asked = room;
    /* behind the last entry: which one it replaced */
    all[room].index = (reef_block_index *)(void *)(old == &no_entries ? NULL : old);
    RELEASE_STORE(&w->hot.blocks, all);
    return true;
}

/* ---- making one ---- */

/* The slot of the component in a shape, 0: it hasn't got it; REEF_SLOT_TAG: it is a tag. (slot_find may take the lock,
 * which is held here.) */
static uint32_t shape_slot(const shape *s, uint32_t component)
{
    for (uint32_t k = SLOT_COLUMNS; k < s->end_slot; k++)
        if (s->columns[k].type->id == component) return k;
    for (uint32_t i = 0; i < s->component_count; i++)
        if (s->component[i] == component) return REEF_SLOT_TAG;
    return 0;
}

/* The number of the component's blocks, which are also noted in x unless it is NULL. */
static uint32_t index_fill(const reef_world *w, uint32_t component, reef_block_index *x)
{
    const shape *s = NULL;
    uint32_t used = 0, k = 0;
    for (uint32_t unit = 2; unit < w->state.next_unit;) {
        const uint32_t page = unit >> REEF_UNIT_BITS;
        const reef_slot *slots = w->hot.chunks.page[page] ? unit_slots(w, unit) : NULL;
        const uint32_t id = slots ? slots[0].head.table : TABLE_NONE;
        if (id == TABLE_NONE) {
            unit = slots ? unit + 1 : (page + 1) << REEF_UNIT_BITS;
            continue;
        }
        if (s == NULL || s->table != id) s = shape_of(w->family, id), k = shape_slot(s, component);
        if (k && x) index_blocks(x)[unit] = k == REEF_SLOT_TAG ? (void *)x : slots[k].block;
        used += k != 0;
        unit += s->units;
    }
    return used;
}

static void index_means(const reef_world *w, reef_block_index *x)
{
    const type *t = reef__type_of(x->component);
    x->whole = !has_subtypes(t);
    x->get = type_column(t) ? &w->hot.index_count : &no_indices;
    x->has = x->whole ? &w->hot.index_count : &no_indices;
}

static uint32_t units_room(uint32_t units)
{
    uint32_t room = ROOM_FIRST;
    while (room < units) room *= 2;
    return room;
}

static bool index_pays(uint32_t used, uint32_t units) { return units <= ROOM_FIRST || used >= units / UNITS_A_BLOCK; }

/* Under the lock. */
static void index_make(reef_world *w, uint32_t component)
{
    const uint32_t used = index_fill(w, component, NULL);
    const uint32_t room = block_indexed_any(w) ? w->block_room : units_room(w->state.next_unit);
    /* What no row has is asked for in vain, and takes no memory. */
    if (used == 0 || !index_pays(used, w->state.next_unit) || !entries_reserve(w, component)) return;
    reef_block_entry *entry = &w->hot.blocks[component];
    reef_block_index *x = entry->index->room ? NULL : index_take(w, component, room);
    if (x == NULL) return;
    x->used = index_fill(w, component, x);
    index_means(w, x);
    w->block_room = room;
    RELEASE_STORE(&entry->index, x);
}

void reef__block_index_ask(const reef_world *cw, uint32_t component, uint32_t calls)
{
    reef_world *w = (reef_world *)(uintptr_t)cw; /* a cache: no world is really const */
    reef_block_entry *all = REEF_ACQUIRE_POINTER(&w->hot.blocks);
    if (component == 0) return;
    uint32_t *counter = component < all[0].asked ? &all[component].asked : &w->block_asked;
    const uint32_t before = REEF_ACQUIRE_U32(counter);
    if (component < all[0].asked && REEF_ACQUIRE_POINTER(&all[component].index)->room) return;
    /* calls of two threads may count as one */
    const bool enough = before + (uint64_t)calls >= w->state.next_unit;
    RELEASE_STORE(counter, enough ? 0u : before + calls);
    if (!enough) return;
    const type *t = reef__type_of(component);
    if (t == NULL || !in_table(t) || t->split || component >= w->state.map_count) return;
    /* A hook that reads may have been called under the lock. A later call asks again. */
    if (!mutex_try(&w->family->lock)) return;
    index_make(w, component);
    mutex_unlock(&w->family->lock);
}

/* ---- keeping it true ---- */

static void unit_note(reef_world *w, uint32_t component, uint32_t unit, const void *block)
{
    reef_block_index *x = block_index_of(w, component);
    if (x->room == 0) return;
    if (block == w) block = x;
    x->used += (uint32_t)(block != NULL) - (uint32_t)(index_blocks(x)[unit] != NULL);
    index_blocks(x)[unit] = (void *)(uintptr_t)block;
    x->version[unit] = 0;
}

void reef__chunk_note_slow(reef_world *w, const shape *s, uint32_t unit, bool there)
{
    const reef_slot *slots = unit_slots(w, unit);
    /* a tag's block is the index, which unit_note puts in the place of the world */
    for (uint32_t i = 0; s->component_count + SLOT_COLUMNS > s->end_slot && i < s->component_count; i++)
        if (type_column(reef__type_of(s->component[i])) == 0) unit_note(w, s->component[i], unit, there ? w : NULL);
    for (uint32_t k = SLOT_COLUMNS; k < s->end_slot; k++)
        unit_note(w, s->columns[k].type->id, unit, there ? slots[k].block : NULL);
}

static void index_drop(reef_world *w, reef_block_entry *entry)
{
    index_give(w, entry->index);
    *entry = (reef_block_entry){&empty_index.index, 0};
}

COLD void reef__block_indexes_grow(reef_world *w)
{
    const uint32_t units = w->state.next_unit, room = units_room(units);
    bool some = false;
    for (uint32_t i = 1; i < w->hot.blocks[0].asked; i++) {
        reef_block_entry *entry = &w->hot.blocks[i];
        reef_block_index *x = entry->index, *fresh;
        if (x->room == 0) continue;
        fresh = index_pays(x->used, units) ? index_take(w, i, room) : NULL;
        if (fresh) {
            memcpy(index_blocks(fresh), index_blocks(x), x->room * sizeof(void *));
            memcpy(fresh->version, x->version, x->room * sizeof *x->version);
            for (uint32_t unit = 0; type_column(reef__type_of(i)) == 0 && unit < x->room; unit++)
                if (index_blocks(fresh)[unit]) index_blocks(fresh)[unit] = fresh;
            fresh->used = x->used;
            index_means(w, fresh);
            some = true;
        }
        index_drop(w, entry);
        if (fresh) entry->index = fresh;
    }
    w->block_room = some ? room : UINT32_MAX;
}

void reef__versions_forget(reef_world *w, uint32_t component)
{
    reef_block_index *x = block_index_of(w, component);
    if (x->room) memset(x->version, 0, x->room * sizeof *x->version);
}

void reef__block_indexes_renew(reef_world *w)
{
    for (uint32_t i = 1; block_indexed_any(w) && i < w->hot.blocks[0].asked; i++)
        if (w->hot.blocks[i].index->room) index_means(w, w->hot.blocks[i].index);
}

void reef__block_indexes_begin(reef_world *w)
{
    w->hot.blocks = &no_entries;
    w->block_room = UINT32_MAX;
}

void reef__block_indexes_drop(reef_world *w)
{
    if (w->hot.blocks == &no_entries) return;
    for (uint32_t i = 1; i < w->hot.blocks[0].asked; i++) index_drop(w, &w->hot.blocks[i]);
    for (reef_block_entry *all = w->hot.blocks, *older; all && all != &no_entries; all = older) {
        const uint32_t room = all[0].asked;
        older = (reef_block_entry *)(void *)all[room].index;
        reef__memory_free(&w->family->memory, MEMORY_TABLES, all, entries_bytes(room));
    }
    reef__block_indexes_begin(w);
}

/* ---- validation ---- */

static const char *index_fault(const reef_world *w, reef_block_index *x, reef_block_index *should)
{
    if (x->room != w->block_room || x->room < w->state.next_unit) return "no room for all units";
    if (index_fill(w, x->component, should) != x->used) return "a wrong number of blocks";
    for (uint32_t unit = 0; unit < x->room; unit++) {
        const void *block = index_blocks(x)[unit];
        if ((block == x ? should : block) != index_blocks(should)[unit]) return "a block that isn't the chunk's";
        if (x->version[unit] != w->hot.version || w->running) continue;
        const reef_slot *slots = unit < w->state.next_unit ? unit_slots(w, unit) : NULL;
        const uint32_t k = block && x->get == &w->hot.index_count
                               ? shape_slot(shape_of(w->family, slots[0].head.table), x->component)
                               : 0;
        if (k == 0 || slots[k].version != w->hot.version) return "a version that isn't the slot's";
    }
    return NULL;
}

COLD reef_status reef__block_indexes_validate(const reef_world *w, char *message, size_t size)
{
    for (uint32_t i = 1; i < w->hot.blocks[0].asked; i++) {
        reef_block_index *x = w->hot.blocks[i].index;
        if (x->room == 0) continue;
        reef_block_index *should = index_take(w, i, x->room);
        if (should == NULL) continue; /* no memory to compare it with */
        const char *what = index_fault(w, x, should);
        index_give(w, should);
        if (what == NULL) continue;
        snprintf(message, size, "%s: its index of blocks has %s", reef__type_of(i)->name, what);
        return REEF_CORRUPT;
    }
    return REEF_OK;
}
