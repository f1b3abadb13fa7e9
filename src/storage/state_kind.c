/* The kinds of state.
 *
 * Two tables say what a state consists of: its copy-on-write containers, and its arrays, whose elements may have
 * containers of their own. A new kind of state is one row; docs/internals/state.md adds one. */
#include "storage/state_kind.h"
#include "storage/place.h"
#include "storage/relation_index.h"
#include "storage/row_bits.h"
#include "storage/table.h"

/* A container at an offset, and the kind of its pages. A store decides the kind of its pages of values itself: NULL. */
typedef struct container_row {
    size_t offset;
    const paged_type *pages;
} container_row;

/* In reef_hot. The chunks come first: their values are destroyed while everything else is still there. */
static const container_row hot_containers[] = {
    {offsetof(reef_hot, chunks), &reef__pages_chunks},
    {offsetof(reef_hot, records), &reef__pages_records},
};
static const container_row state_containers[] = {
    {offsetof(state, tables), &reef__pages_tables},         {offsetof(state, ring), &reef__pages_ring},
    {offsetof(state, name_entries), &reef__pages_names},    {offsetof(state, name_by_text), &reef__pages_buckets},
    {offsetof(state, name_by_index), &reef__pages_buckets}, {offsetof(state, chunk_hashes), &reef__pages_hashes},
    {offsetof(state, record_hashes), &reef__pages_hashes},  {offsetof(state, ring_hashes), &reef__pages_hashes},
    {offsetof(state, name_hashes), &reef__pages_hashes},
};
static const container_row bit_store_containers[] = {
    {offsetof(bit_store, words), &reef__pages_bits},
    {offsetof(bit_store, hashes), &reef__pages_hashes},
};
static const container_row track_store_containers[] = {
    {offsetof(track_store, stamps), &reef__pages_stamps},
    {offsetof(track_store, log), &reef__pages_tracks},
    {offsetof(track_store, values), &reef__pages_tracks},
};
static const container_row value_store_containers[] = {
    {offsetof(value_store, values), NULL},
    {offsetof(value_store, index), &reef__pages_index},
    {offsetof(value_store, hashes), &reef__pages_hashes},
    {offsetof(value_store, heads), &reef__pages_heads},
    {offsetof(value_store, nodes), &reef__pages_nodes},
};
static const container_row event_store_containers[] = {
    {offsetof(event_store, pages), &reef__pages_events},
};

/* An array of a state: where its pointer, its count and its capacity are, and the containers of an element. (Where
 * the whole capacity is used, both numbers are the same field.) */
typedef struct array_row {
    enum memory_kind memory;
    size_t list, count, capacity, size;
    uint32_t skipped; /* elements at the front that are none */
    uint32_t container_count;
    const container_row *containers;
    size_t key; /* where an element has its key: state_key.key */
} array_row;

#define ARRAY(memory, list, count, capacity) \
    memory, offsetof(state, list), offsetof(state, count), offsetof(state, capacity), sizeof *((state *)0)->list
/* The same with the containers of an element, and its key. */
#define KEYED(memory, list, count, capacity, skipped, element, key) \
    ARRAY(memory, list, count, capacity), skipped, LENGTH(element##_containers), element##_containers, \
        offsetof(element, key)
#define LENGTH(rows) (uint32_t)(sizeof(rows) / sizeof *(rows))

/* First the arrays of state_kind, in its order. Only their elements have keys and containers. The store of number 0 is
 * none. */
enum { ARRAYS_WITH_CONTAINERS = 4 };
static const array_row arrays[] = {
    {KEYED(MEMORY_BITS, bits, bit_count, bit_capacity, 0, bit_store, key)},
    {KEYED(MEMORY_TRACKS, tracks, track_count, track_capacity, 0, track_store, component)},
    {KEYED(MEMORY_STORES, stores, store_count, store_capacity, 1, value_store, component)},
    {KEYED(MEMORY_EVENTS, events, event_count, event_capacity, 0, event_store, component)},
    {ARRAY(MEMORY_OTHER, used_types, used_words, used_words), 0, 0, NULL, 0},
    {ARRAY(MEMORY_BITS, bit_number, bit_room, bit_room), 0, 0, NULL, 0},
    {ARRAY(MEMORY_TRACKS, places.of, places.count, places.room), 0, 0, NULL, 0},
    {ARRAY(MEMORY_OTHER, runs.of, runs.count, runs.room), 0, 0, NULL, 0},
    {ARRAY(MEMORY_OTHER, clocks.of, clocks.count, clocks.room), 0, 0, NULL, 0},
    {ARRAY(MEMORY_STORES, store_number, store_room, store_room), 0, 0, NULL, 0},
    {ARRAY(MEMORY_EVENTS, event_places, event_place_count, event_place_capacity), 0, 0, NULL, 0},
    {ARRAY(MEMORY_OTHER, absents, absent_count, absent_room), 0, 0, NULL, 0},
};

static uint32_t *number_at(const state *s, size_t offset) { return (uint32_t *)(uintptr_t)((const char *)s + offset); }

static char *list_at(const state *s, const array_row *a)
{
    char *list;
    memcpy(&list, (const char *)s + a->list, sizeof list);
    return list;
}

/* The number of containers of all elements of the array. */
static uint32_t array_containers(const state *s, const array_row *a)
{
    const uint32_t count = *number_at(s, a->count);
    return count > a->skipped ? (count - a->skipped) * a->container_count : 0;
}

static void part_set(family *f, char *base, const container_row *row, state_part *part)
{
    part->pages = (reef_paged *)(void *)(base + row->offset);
    part->owner =
        row->pages ? reef__owner_of(f, row->pages) : reef__store_owner(f, (value_store *)(void *)base, &part->values);
}

bool reef__part_at(family *f, reef_hot *h, state *s, uint32_t i, state_part *part)
{
    if (i < LENGTH(hot_containers)) return part_set(f, (char *)h, &hot_containers[i], part), true;
    i -= LENGTH(hot_containers);
    if (i < LENGTH(state_containers)) return part_set(f, (char *)s, &state_containers[i], part), true;
    i -= LENGTH(state_containers);
    for (const array_row *a = arrays; a < arrays + ARRAYS_WITH_CONTAINERS; a++) {
        const uint32_t count = array_containers(s, a);
        if (i < count) {
            char *element = list_at(s, a) + (i / a->container_count + a->skipped) * a->size;
            return part_set(f, element, &a->containers[i % a->container_count], part), true;
        }
        i -= count;
    }
    return false;
}

uint32_t reef__part_like(const state *from, uint32_t i, const state *to)
{
    uint32_t begin = LENGTH(hot_containers) + LENGTH(state_containers), to_begin = begin;
    if (i < begin) return i;
    for (const array_row *a = arrays; a < arrays + ARRAYS_WITH_CONTAINERS; a++) {
        const uint32_t count = array_containers(from, a), to_count = array_containers(to, a);
        if (i - begin < count) return i - begin < to_count ? to_begin + (i - begin) : UINT32_MAX;
        begin += count;
        to_begin += to_count;
    }
    return UINT32_MAX;
}

static reef_paged *container_at(const char *base, const container_row *row)
{
    return (reef_paged *)(void *)(uintptr_t)(base + row->offset);
}

/* Both under the lock. */
static void containers_share(char *to, const char *from, const container_row *rows, uint32_t count)
{
    for (const container_row *row = rows; row < rows + count; row++)
        *container_at(to, row) = reef__paged_share(container_at(from, row));
}
static void containers_leave(family *f, char *base, const container_row *rows, uint32_t count)
{
    for (const container_row *row = rows; row < rows + count; row++) {
        if (container_at(base, row)->node == NULL) continue;
        state_part part;
        part_set(f, base, row, &part);
        reef__paged_leave(part.pages, &part.owner);
    }
}

void reef__state_share(family *f, reef_hot *to_hot, state *to, const reef_hot *from_hot, const state *from)
{
    mutex_lock(&f->lock);
    containers_share((char *)to_hot, (const char *)from_hot, hot_containers, LENGTH(hot_containers));
    containers_share((char *)to, (const char *)from, state_containers, LENGTH(state_containers));
    for (const array_row *a = arrays; a < arrays + ARRAYS_WITH_CONTAINERS; a++)
        for (uint32_t i = a->skipped; i < *number_at(from, a->count); i++)
            containers_share(list_at(to, a) + i * a->size, list_at(from, a) + i * a->size, a->containers,
                             a->container_count);
    mutex_unlock(&f->lock);
}

static void state_leave(family *f, reef_hot *h, state *s)
{
    mutex_lock(&f->lock);
    containers_leave(f, (char *)h, hot_containers, LENGTH(hot_containers));
    containers_leave(f, (char *)s, state_containers, LENGTH(state_containers));
    for (const array_row *a = arrays; a < arrays + ARRAYS_WITH_CONTAINERS; a++)
        for (uint32_t i = a->skipped; i < *number_at(s, a->count); i++)
            containers_leave(f, list_at(s, a) + i * a->size, a->containers, a->container_count);
    mutex_unlock(&f->lock);
}

static size_t array_bytes(const state *s, const array_row *a) { return *number_at(s, a->count) * a->size; }
static size_t array_room(const state *s, const array_row *a) { return *number_at(s, a->capacity) * a->size; }

static void array_drop(family *f, const array_row *a, state *s)
{
    reef__memory_free(&f->memory, a->memory, list_at(s, a), array_room(s, a));
}

void reef__state_drop(family *f, reef_hot *h, state *s)
{
    state_leave(f, h, s);
    for (const array_row *a = arrays; a < arrays + LENGTH(arrays); a++) array_drop(f, a, s);
    memset(s, 0, sizeof *s);
}

/* Copies an array of a state; NULL where there is nothing to copy. False: no memory. */
static bool array_copy(family *f, const array_row *a, state *to, const state *from)
{
    const size_t bytes = array_bytes(from, a);
    void *p = bytes ? reef__memory_resize(&f->memory, a->memory, NULL, 0, bytes, PLAIN_ALIGN) : NULL;
    if (p) memcpy(p, list_at(from, a), bytes);
    memcpy((char *)to + a->list, &p, sizeof p);
    *number_at(to, a->capacity) = *number_at(from, a->count);
    return p != NULL || bytes == 0;
}

COLD bool reef__state_copy(family *f, state *to, const state *from)
{
    bool ok = true;
    *to = *from;
    for (const array_row *a = arrays; a < arrays + LENGTH(arrays); a++) ok &= array_copy(f, a, to, from);
    for (const array_row *a = arrays; !ok && a < arrays + LENGTH(arrays); a++) array_drop(f, a, to);
    return ok;
}

bool reef__state_become(family *f, reef_hot *h, state *s, const state *from)
{
    state fresh = *from;
    bool kept[LENGTH(arrays)], ok = true;
    for (uint32_t i = 0; i < LENGTH(arrays); i++) {
        const array_row *a = &arrays[i];
        kept[i] = array_bytes(from, a) == array_room(s, a);
        if (kept[i]) memcpy((char *)&fresh + a->list, (const char *)s + a->list, sizeof(void *));
        else ok &= array_copy(f, a, &fresh, from);
    }
    for (uint32_t i = 0; !ok && i < LENGTH(arrays); i++)
        if (!kept[i]) array_drop(f, &arrays[i], &fresh);
    if (!ok) return false;
    state_leave(f, h, s);
    for (uint32_t i = 0; i < LENGTH(arrays); i++) {
        const array_row *a = &arrays[i];
        if (!kept[i]) array_drop(f, a, s);
        else if (list_at(s, a)) memcpy(list_at(s, a), list_at(from, a), array_bytes(from, a));
        *number_at(&fresh, a->capacity) = *number_at(from, a->count);
    }
    *s = fresh;
    return true;
}

COLD size_t reef__state_array_bytes(const state *s)
{
    size_t bytes = 0;
    for (const array_row *a = arrays; a < arrays + LENGTH(arrays); a++) bytes += array_bytes(s, a);
    return bytes;
}

/* ---- keys ---- */

bool reef__state_next(state_kind kind, const reef_world *w, const reef_world *other, state_key *k)
{
    const array_row *a = &arrays[kind];
    const reef_world *const worlds[] = {w, other};
    const state_key last = *k;
    bool found = false;
    for (uint32_t side = 0; side < 2 && worlds[side]; side++) {
        const state *s = &worlds[side]->state;
        const char *list = list_at(s, a);
        for (uint32_t i = a->skipped; i < *number_at(s, a->count); i++) {
            uint32_t key;
            memcpy(&key, list + i * a->size + a->key, sizeof key);
            if ((last.begun && reef__bit_key_compare(key, last.key) <= 0) ||
                (found && reef__bit_key_compare(key, k->key) >= 0))
                continue;
            k->key = key;
            found = true;
        }
    }
    k->type = reef__type_of(k->key & ~BIT_DISABLED);
    k->begun = true;
    return found;
}
