/* The log of removals of a type with track_rows, and its readers.
 *
 *   log:     head ─► handles of the entities that lost it, oldest first ◄─ tail     positions only count up, as in the
 *   values:  value_head ─► their last values ◄─ tail                                ring of free ids; a page holds
 *                                                                                   TRACK_PAGE_BYTES
 *
 * Both rings are state, which snapshots share page by page. Nothing is logged while the world has no reader of the
 * type, and no value while no reader wants values. head is the position of the slowest reader; entries before it are
 * overwritten. The pages are freed with the last reader.
 *
 * Readers and their positions belong to the world. The host's readers of events (src/system/event.c) are among them. A
 * state that somebody may return to holds the positions of that time under the serial numbers of the readers. No two
 * readers of a family have the same serial number, so a reader that the state doesn't know is recognised. */
#include "storage/removal_log.h"
#include "storage/archetype.h"
#include "storage/cow_pages.h"
#include "storage/error.h"
#include "storage/event_log.h"
#include "storage/known_types.h"
#include "storage/place.h"
#include "storage/read.h"
#include "storage/row_stamps.h"
#include "storage/serial_list.h"
#include "storage/sparse_store.h"
#include "storage/table.h"
#include "reef/track.h"

/* ---- rings of bytes ---- */

bool reef__bytes_room(reef_world *w, const paged_type *kind, reef_paged *ring, uint64_t head, uint64_t tail,
                      uint64_t bytes)
{
    if (bytes == 0) return true;
    const uint64_t first = tail / TRACK_PAGE_BYTES, end = (tail + bytes - 1) / TRACK_PAGE_BYTES + 1;
    const uint64_t pages = end - head / TRACK_PAGE_BYTES;
    if (pages > ring->count && !reef__ring_enlarge(w, kind, ring, head, tail, pages)) return false;
    for (uint64_t p = first; p < end; p++)
        if (!reef__page_own(w, ring, kind, (uint32_t)(p & (ring->count - 1)))) return false;
    return true;
}

/* The part of a ring from byte `at` on that lies side by side, at most *bytes long; *bytes becomes its length. */
static char *bytes_at(const reef_paged *ring, uint64_t at, size_t *bytes)
{
    const size_t in = (size_t)(at % TRACK_PAGE_BYTES);
    if (*bytes > TRACK_PAGE_BYTES - in) *bytes = TRACK_PAGE_BYTES - in;
    return (char *)ring->page[(at / TRACK_PAGE_BYTES) & (ring->count - 1)] + in;
}

/* Copies bytes into a ring, or out of it. */
static void ring_copy(const reef_paged *ring, uint64_t at, void *bytes, size_t left, bool put)
{
    char *p = bytes;
    for (size_t n; left; at += n, p += n, left -= n) {
        n = left;
        char *there = bytes_at(ring, at, &n);
        memcpy(put ? there : p, put ? p : there, n);
    }
}

/* ---- logging ---- */

enum { ENTRY = sizeof(reef_entity) };

static bool store_room(reef_world *w, track_store *s, uint64_t n)
{
    const uint64_t size = s->value_readers ? reef__type_of(s->component)->size : 0;
    if (s->readers == 0) return true;
    return reef__bytes_room(w, &reef__pages_tracks, &s->log, s->head * ENTRY, s->tail * ENTRY, n * ENTRY) &&
           reef__bytes_room(w, &reef__pages_tracks, &s->values, s->value_head * size, s->tail * size, n * size);
}

bool reef__removals_prepare(reef_world *w, uint32_t component, uint64_t n)
{
    track_store *s = reef__track_of(w, component);
    return s == NULL || s->readers == 0 || store_room(w, s, n);
}

bool reef__removals_prepare_row(reef_world *w, const shape *s)
{
    for (uint32_t i = 0; i < s->component_count; i++)
        if (type_known(s->component[i])->tracked && !reef__removals_prepare(w, s->component[i], 1)) return false;
    return true;
}

COLD bool reef__removals_prepare_many(reef_world *w, const reef_entity *e, uint64_t n)
{
    for (uint32_t i = 0; i < w->state.track_count; i++) {
        track_store *s = &w->state.tracks[i];
        uint64_t rows = 0;
        for (uint64_t k = 0; s->readers && k < n; k++) rows += has_itself(w, e[k], reef__type_of(s->component));
        if (!store_room(w, s, rows)) return false;
    }
    return true;
}

/* `value` NULL: nobody wants it. */
static void removal_put(track_store *s, reef_entity e, const void *value, size_t size)
{
    ring_copy(&s->log, s->tail * ENTRY, &e, ENTRY, true);
    if (value) ring_copy(&s->values, s->tail * size, (void *)(uintptr_t)value, size, true);
    s->tail++;
}

void reef__removal_log(reef_world *w, const type *t, uint32_t place, reef_entity e)
{
    track_store *s = reef__track_of(w, t->id);
    if (s == NULL || s->readers == 0) return;
    const void *value = NULL;
    if (s->value_readers && t->size) {
        const reef_slot *slots = reef_slots_at(&w->hot, place);
        value = t->stored ? store_find(w, t->id, e)
                          : cell(slots, reef__slot_seek(w, t->id, slots[0].head.table), place_row(place), t->size);
    }
    removal_put(s, e, value, t->size);
    if (s->value_readers == 0) s->value_head = s->tail;
}

void reef__removals_log_row(reef_world *w, const shape *s, uint32_t place, reef_entity e)
{
    for (uint32_t i = 0; i < s->component_count; i++) {
        const type *t = type_known(s->component[i]);
        if (t->tracked) reef__removal_log(w, t, place, e);
    }
}

/* ---- readers ---- */

static bool reads_removals(const log_reader *r, const track_store *s)
{
    return r->serial && !r->events && r->component == s->component;
}

/* Drops what all readers have read. */
static void store_trim(reef_world *w, track_store *s)
{
    uint64_t head = s->tail, value_head = s->tail;
    for (uint32_t i = 0; i < w->reader_count; i++) {
        const log_reader *r = &w->readers[i];
        if (!reads_removals(r, s)) continue;
        if (r->position < head) head = r->position;
        if (r->values && r->position < value_head) value_head = r->position;
    }
    s->head = head;
    s->value_head = value_head;
    if (s->readers == 0) reef__pages_drop(w, &s->log, &reef__pages_tracks);
    if (s->value_readers == 0) reef__pages_drop(w, &s->values, &reef__pages_tracks);
}

void reef__readers_count(const reef_world *w, track_store *s)
{
    s->readers = s->value_readers = 0;
    for (uint32_t i = 0; i < w->reader_count; i++) {
        const log_reader *r = &w->readers[i];
        if (!reads_removals(r, s)) continue;
        s->readers++;
        s->value_readers += r->values;
    }
}

static void readers_changed(reef_world *w, track_store *s)
{
    reef__readers_count(w, s);
    store_trim(w, s);
}

COLD bool reef__readers_note(reef_world *w)
{
    state *s = &w->state;
    serial_list *l = &s->places;
    l->count = 0;
    if (!reef__array_room(&w->family->memory, MEMORY_TRACKS, &l->of, &l->room, w->reader_count, sizeof *l->of))
        return false;
    for (uint32_t i = 0; i < w->reader_count; i++)
        if (w->readers[i].serial) l->of[l->count++] = (serial_number){w->readers[i].serial, w->readers[i].position};
    return true;
}

COLD void reef__readers_arrive(reef_world *w)
{
    const state *s = &w->state;
    for (uint32_t i = 0; i < w->reader_count; i++) {
        log_reader *r = &w->readers[i];
        const track_store *log = r->events ? NULL : reef__track_of(w, r->component);
        const uint64_t tail = r->events ? reef__events_end_of(w, r->component) : log ? log->tail : 0;
        const uint64_t *p = reef__serial_find(&s->places, r->serial);
        r->position = p ? *p : tail;
    }
    for (uint32_t i = 0; i < s->track_count; i++) readers_changed(w, &s->tracks[i]);
    reef__events_trim(w);
}

COLD void reef__removals_forget(reef_world *w)
{
    reef__readers_arrive(w); /* the reader of the scripts continues */
    w->state.places.count = 0;
}

COLD void reef__readers_drop(reef_world *w)
{
    reef__memory_free(&w->family->memory, MEMORY_TRACKS, w->readers, w->reader_capacity * sizeof *w->readers);
    w->readers = NULL;
    w->reader_count = w->reader_capacity = 0;
}

/* ---- the calls ---- */

/* A free place for a reader. NULL: there is no memory. */
static log_reader *reader_place_find(reef_world *w)
{
    uint32_t i = 0;
    while (i < w->reader_count && (w->readers[i].serial || w->readers[i].generation == UINT32_MAX)) i++;
    if (i == UINT32_MAX || !reef__array_room(&w->family->memory, MEMORY_TRACKS, &w->readers, &w->reader_capacity, i + 1,
                                             sizeof *w->readers))
        return NULL;
    if (i == w->reader_count) w->reader_count++;
    return &w->readers[i];
}

COLD log_reader *reef__reader_make(reef_world *w, uint32_t component, bool events)
{
    log_reader *r = reader_place_find(w);
    if (r == NULL) return NULL;
    mutex_lock(&w->family->lock);
    r->serial = ++w->family->reader_serial;
    mutex_unlock(&w->family->lock);
    r->generation++;
    r->component = component;
    r->events = events;
    r->values = false;
    return r;
}

COLD reef_removals reef_removals_new(reef_world *w, reef_component c, bool values)
{
    static const char op[] = "reef_removals_new";
    const reef_removals none = {0, 0, 0};
    const reef_entity null = {0, 0};
    if (!WORLD_GIVEN(w)) return none;
    if (w->running) return reef__failure(w, REEF_LOCKED, op, c, null, 0), none;
    const type *t = reef__type_of(c.id);
    if (t == NULL || !reef__world_knows(w, c.id)) return reef__failure(w, REEF_UNKNOWN_TYPE, op, c, null, 0), none;
    if (!t->tracked) return reef__misuse(w, op, c, null, "its rows aren't tracked (track_rows)"), none;
    if (values && !(t->plain_copy && t->plain_move)) return reef__failure(w, REEF_NOT_COPYABLE, op, c, null, 0), none;
    log_reader *r = reef__reader_make(w, c.id, false);
    if (r == NULL) return reef__failure(w, REEF_NO_MEMORY, op, c, null, 0), none;
    /* a type without a store has no entity, and its first removal is number 0 */
    track_store *s = reef__track_of(w, c.id);
    r->values = values;
    r->position = s ? s->tail : 0;
    if (s) readers_changed(w, s);
    return (reef_removals){(uint32_t)(r - w->readers), r->generation, w->hot.number};
}

bool reef__readers_free(reef_world *w, const char *op)
{
    if (LIKELY(!w->readers_held)) return true;
    reef__failure_detail(w, REEF_LOCKED, op, 0, "readers outside of systems are held: what they read isn't in a file");
    return false;
}

log_reader *reef__reader_of(reef_world *w, reef_removals r, bool events, const char *op)
{
    const bool ours = r.world == w->hot.number;
    log_reader *found = ours && r.index < w->reader_count ? &w->readers[r.index] : NULL;
    if (LIKELY(found && found->serial && found->generation == r.generation && found->events == events)) return found;
    reef__failure(w, ours || r.generation == 0 ? REEF_NOT_ALIVE : REEF_OTHER_WORLD, op, (reef_component){0},
                  (reef_entity){0, 0}, r.index);
    return NULL;
}

COLD reef_status reef_removals_free(reef_world *w, reef_removals removals)
{
    if (!WORLD_GIVEN(w)) return REEF_BAD_ARGUMENT;
    if (removals.generation == 0) return REEF_OK;
    if (w->running) return reef__refuse(w, REEF_LOCKED, "reef_removals_free");
    log_reader *r = reef__reader_of(w, removals, false, "reef_removals_free");
    if (r == NULL) return w->error.status;
    track_store *s = reef__track_of(w, r->component);
    r->serial = 0;
    if (s) readers_changed(w, s);
    return REEF_OK;
}

bool reef_removals_next(reef_world *w, reef_removals removals, reef_entity *entity, void *value)
{
    static const char op[] = "reef_removals_next";
    if (!WORLD_GIVEN(w)) return false;
    if (w->running) return reef__refuse(w, REEF_LOCKED, op), false;
    log_reader *r = reef__readers_free(w, op) ? reef__reader_of(w, removals, false, op) : NULL;
    if (r == NULL) return false;
    const reef_component c = {r->component};
    const reef_entity null = {0, 0};
    if (value && !r->values) return reef__misuse(w, op, c, null, "this reader was made without values"), false;
    track_store *s = reef__track_of(w, c.id);
    if (s == NULL || r->position == s->tail) return false;
    const size_t size = reef__type_of(c.id)->size;
    if (entity) ring_copy(&s->log, r->position * ENTRY, entity, ENTRY, false);
    if (value) ring_copy(&s->values, r->position * size, value, size, false);
    /* it may be the slowest reader */
    const bool last = r->position == s->head || (r->values && r->position == s->value_head);
    r->position++;
    if (last) store_trim(w, s);
    return true;
}

/* ---- for scripts ---- */

/* Also while systems run: a system reads and moves the position of its reader. Entries before that are dropped when no
 * system runs. */
bool reef__removals_at(const reef_world *w, uint32_t component, uint64_t position, reef_entity *entity, void *value)
{
    const track_store *s = reef__track_of(w, component);
    if (s == NULL || position >= s->tail) return false;
    const size_t size = reef__type_of(component)->size;
    ring_copy(&s->log, position * ENTRY, entity, ENTRY, false);
    ring_copy(&s->values, position * size, value, size, false);
    return true;
}

bool reef__removals_peek(const reef_world *w, uint32_t reader, uint64_t ahead, reef_entity *entity, void *value)
{
    const log_reader *r = &w->readers[reader];
    return reef__removals_at(w, r->component, r->position + ahead, entity, value);
}

void reef__removals_trim(reef_world *w, uint32_t reader)
{
    track_store *s = reef__track_of(w, w->readers[reader].component);
    if (s && s->head != w->readers[reader].position) store_trim(w, s);
}

/* ---- for worlds that are read from files ---- */

bool reef__readers_place(const reef_world *w, uint64_t serial, uint64_t *position)
{
    const uint64_t *p = reef__serial_find(&w->state.places, serial);
    if (p) *position = *p;
    return p != NULL;
}

/* (Readers of events stay where the state says they are.) */
uint64_t reef__scripts_serial(const reef_world *w)
{
    return w->script_reader ? w->readers[w->script_reader - 1].serial : 0;
}

COLD bool reef__readers_mirror(reef_world *loaded, const reef_world *w)
{
    serial_list *l = &loaded->state.places;
    memory *m = &w->family->memory;
    const uint64_t serial = reef__scripts_serial(w);
    if (w->reader_count == 0) return true;
    if (serial && reef__serial_find(l, serial) == NULL &&
        !reef__array_room(m, MEMORY_TRACKS, &l->of, &l->room, l->count + 1, sizeof *l->of))
        return false;
    loaded->readers = reef__memory_zeroed(m, MEMORY_TRACKS, w->reader_capacity * sizeof *w->readers);
    if (loaded->readers == NULL) return false;
    loaded->reader_capacity = w->reader_capacity;
    loaded->reader_count = w->reader_count;
    for (uint32_t i = 0; i < w->reader_count; i++)
        if (!w->readers[i].events) loaded->readers[i] = w->readers[i];
    loaded->script_reader = w->script_reader;
    reef__readers_arrive(loaded);
    return true;
}

COLD void reef__readers_unmirror(reef_world *loaded)
{
    serial_list *l = &loaded->state.places;
    if (loaded->script_reader == 0) return;
    const log_reader *r = &loaded->readers[loaded->script_reader - 1];
    uint64_t *p = reef__serial_find(l, r->serial);
    if (p) *p = r->position;
    else l->of[l->count++] = (serial_number){r->serial, r->position};
    loaded->script_reader = 0;
}

COLD bool reef__removals_forget_waiting(reef_world *w, uint32_t reader)
{
    log_reader *r = &w->readers[reader];
    if (!reef__track_prepare(w, r->component, NULL, 0)) return false;
    track_store *s = reef__track_of(w, r->component);
    r->position = s->tail;
    store_trim(w, s);
    return true;
}

COLD bool reef__removals_put(reef_world *w, uint32_t component, reef_entity e, const void *value)
{
    track_store *s = reef__track_of(w, component);
    if (!store_room(w, s, 1)) return false;
    removal_put(s, e, value, reef__type_of(component)->size);
    return true;
}

/* ---- validation ---- */

COLD bool reef__removals_sound(const reef_world *w, const track_store *s)
{
    track_store counted = *s;
    reef__readers_count(w, &counted);
    if (counted.readers != s->readers || counted.value_readers != s->value_readers) return false;
    if (s->head > s->tail || s->value_head > s->tail || (s->readers == 0 && s->head != s->tail)) return false;
    for (uint32_t i = 0; i < w->reader_count; i++) {
        const log_reader *r = &w->readers[i];
        if (!reads_removals(r, s)) continue;
        if (r->position > s->tail || r->position < s->head || (r->values && r->position < s->value_head)) return false;
    }
    for (uint64_t p = s->head; p != s->tail; p++)
        if (s->log.count == 0 || s->log.page[(p * ENTRY / TRACK_PAGE_BYTES) & (s->log.count - 1)] == NULL) return false;
    return true;
}
