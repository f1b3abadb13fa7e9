/* Events as a part of the state: for each type a ring of those events that some reader hasn't read yet.
 *
 *   ring:    head ─► oldest event ... newest ◄─ tail     positions only count up; no event crosses the end of a page
 *   flight:  chunk ─► chunk ...                          events that were sent after the ring's tail was settled
 *
 * Systems send into chunks, each job into its own; src/system/event.c joins the chunks in order and moves them into the
 * ring. An event is dropped when all readers have read it, or when the type has more events than it keeps. A reader
 * that is behind the head goes on at the head. */
#include "storage/event_log.h"
#include "base/byte_hash.h"
#include "storage/error.h"
#include "storage/removal_log.h"
#include "storage/row_stamps.h"
#include "storage/table.h"
#include "reef/event.h"
#include "reef/type_info.h"

event_chunk *reef__event_chunk_take(reef_world *w, uint32_t c)
{
    event_flight *f = w->flight; /* NULL in a fork that was never made ready, where a system is tried */
    const uint32_t bytes = (uint32_t)EVENT_CHUNK_LEAST << 2 * c;
    mutex_lock(&w->family->lock);
    event_chunk *k = f ? f->spare[c] : NULL;
    if (k) f->spare[c] = k->next;
    mutex_unlock(&w->family->lock);
    if (k == NULL) k = reef__memory_resize(&w->family->memory, MEMORY_EVENTS, NULL, 0, bytes, EVENT_CHUNK_HEAD);
    if (k) *k = (event_chunk){NULL, bytes, 0};
    return k;
}

static void event_chunk_free(reef_world *w, event_chunk *k)
{
    reef__memory_resize(&w->family->memory, MEMORY_EVENTS, k, k->bytes, 0, EVENT_CHUNK_HEAD);
}

void reef__event_chunks_retire(reef_world *w, event_chunk *first)
{
    if (w->flight == NULL) {
        for (event_chunk *next; first; first = next) next = first->next, event_chunk_free(w, first);
        return;
    }
    event_chunk **spare = w->flight->spare, *rest[EVENT_CHUNK_CLASSES], **end[EVENT_CHUNK_CLASSES];
    for (uint32_t c = 0; c < EVENT_CHUNK_CLASSES; c++) {
        rest[c] = spare[c];
        end[c] = &spare[c];
    }
    for (event_chunk *next; first; first = next) {
        const uint32_t c = event_chunk_class(first->bytes);
        next = first->next;
        *end[c] = first;
        end[c] = &first->next;
    }
    for (uint32_t c = 0; c < EVENT_CHUNK_CLASSES; c++) *end[c] = rest[c];
}

COLD void reef__events_shrink(reef_world *w)
{
    event_flight *f = w->flight;
    for (uint32_t c = 0; f && c < EVENT_CHUNK_CLASSES; c++) {
        for (event_chunk *k; (k = f->spare[c]) != NULL;) {
            f->spare[c] = k->next;
            event_chunk_free(w, k);
        }
    }
    for (uint32_t i = 0; i < w->state.event_count; i++)
        if (w->state.events[i].head == w->state.events[i].tail)
            reef__pages_drop(w, &w->state.events[i].pages, &reef__pages_events);
}

const event_store *reef__events_of(const reef_world *w, uint32_t component)
{
    for (uint32_t i = 0; i < w->state.event_count; i++)
        if (w->state.events[i].component == component) return &w->state.events[i];
    return NULL;
}

flight_type *reef__flight_of(const reef_world *w, const event_store *s)
{
    const uint32_t i = (uint32_t)(s - w->state.events);
    return w->flight && i < w->flight->type_room ? &w->flight->types[i] : NULL;
}

uint64_t reef__event_end(const reef_world *w, const event_store *s)
{
    const flight_type *t = reef__flight_of(w, s);
    return s->tail + (t ? t->count : 0);
}

uint64_t reef__events_end_of(const reef_world *w, uint32_t component)
{
    const event_store *s = reef__events_of(w, component);
    return s ? reef__event_end(w, s) : 0;
}

COLD bool reef__flight_room(reef_world *w, uint32_t types, uint32_t views)
{
    memory *m = &w->family->memory;
    event_flight *f = w->flight;
    if (f == NULL) f = w->flight = reef__memory_zeroed(m, MEMORY_EVENTS, sizeof *f);
    return f && reef__array_room(m, MEMORY_EVENTS, &f->types, &f->type_room, types, sizeof *f->types) &&
           reef__array_room(m, MEMORY_EVENTS, &f->views, &f->view_room, views, sizeof *f->views);
}

COLD event_store *reef__event_store_ready(reef_world *w, uint32_t component)
{
    state *s = &w->state;
    event_store *found = (event_store *)(uintptr_t)reef__events_of(w, component);
    if (!reef__flight_room(w, s->event_count + (found == NULL), 0)) return NULL;
    if (found) return found;
    if (!reef__array_room(&w->family->memory, MEMORY_EVENTS, &s->events, &s->event_capacity, s->event_count + 1,
                          sizeof *s->events))
        return NULL;
    found = &s->events[s->event_count++];
    *found = (event_store){.component = component, .most = REEF_EVENTS_BOUND};
    return found;
}

/* Where event number `position` lies, as if the ring were bytes without an end. */
static uint64_t event_address(uint64_t position, size_t size)
{
    const uint64_t per = size ? TRACK_PAGE_BYTES / size : 1;
    return size ? position / per * TRACK_PAGE_BYTES + position % per * size : 0;
}

char *reef__event_piece(const event_store *s, uint64_t position, size_t size, uint32_t *n)
{
    const uint32_t per = (uint32_t)(TRACK_PAGE_BYTES / size), in = (uint32_t)(position % per);
    if (*n > per - in) *n = per - in;
    return (char *)s->pages.page[position / per & (s->pages.count - 1)] + in * size;
}

bool reef__events_room(reef_world *w, event_store *s, uint64_t n)
{
    const size_t size = reef__type_of(s->component)->size;
    if (size == 0 || n == 0) return true;
    const uint64_t head = event_address(s->head, size), tail = event_address(s->tail, size);
    return reef__bytes_room(w, &reef__pages_events, &s->pages, head, tail,
                            event_address(s->tail + n - 1, size) + size - tail);
}

void reef__events_put(event_store *s, const char *from, uint64_t count)
{
    const size_t size = reef__type_of(s->component)->size;
    for (uint32_t n; size && count; count -= n, s->tail += n, from += n * size) {
        n = count < TRACK_PAGE_BYTES ? (uint32_t)count : TRACK_PAGE_BYTES;
        char *to = reef__event_piece(s, s->tail, size, &n);
        memcpy(to, from, n * size);
    }
    s->tail += count;
}

reef_events reef__event_cursor(const reef_world *w, const event_store *s, uint64_t from, uint64_t to)
{
    reef_events r = {
        .count = to - from, .size = reef__type_of(s->component)->size, .left = to - from, .position = from, .store = s};
    const flight_type *t = reef__flight_of(w, s);
    if (to <= s->tail || t->first == NULL) return r;
    const event_chunk *k = t->first;
    uint64_t over = t->skip + (from > s->tail ? from - s->tail : 0);
    for (; from != to && over >= k->count; k = k->next) over -= k->count;
    r.chunk = k;
    r.skip = over;
    return r;
}

event_place *reef__event_place_of(const reef_world *w, uint64_t serial, uint32_t component)
{
    for (uint32_t i = 0; i < w->state.event_place_count; i++) {
        event_place *p = &w->state.event_places[i];
        if (p->serial == serial && p->component == component) return p;
    }
    return NULL;
}

/* The number of the first event that some system hasn't read. */
static uint64_t event_wait(const reef_world *w, const event_store *s)
{
    uint64_t first = reef__event_end(w, s);
    for (uint32_t i = 0; i < w->state.event_place_count; i++) {
        const event_place *p = &w->state.event_places[i];
        if (p->component == s->component && p->position < first) first = p->position;
    }
    return first;
}

uint64_t reef__event_keep(const reef_world *w, const event_store *s)
{
    const uint64_t end = reef__event_end(w, s);
    uint64_t keep = event_wait(w, s);
    for (uint32_t i = 0; i < w->reader_count; i++) {
        const log_reader *r = &w->readers[i];
        if (r->serial && r->events && r->component == s->component && r->position < keep) keep = r->position;
    }
    return end - keep > s->most ? end - s->most : keep;
}

void reef__event_trim(const reef_world *w, event_store *s)
{
    const uint64_t keep = reef__event_keep(w, s), head = keep < s->tail ? keep : s->tail;
    if (head > s->head) s->head = head;
}

void reef__events_trim(reef_world *w)
{
    for (uint32_t i = 0; i < w->state.event_count; i++) reef__event_trim(w, &w->state.events[i]);
}

COLD void reef__events_forget(reef_world *w)
{
    event_flight *f = w->flight;
    for (uint32_t i = 0; f && i < f->type_room; i++) {
        if (f->types[i].first) reef__event_chunks_retire(w, f->types[i].first);
        f->types[i] = (flight_type){0};
    }
    if (f) f->moved = false;
}

COLD void reef__events_drop(reef_world *w)
{
    event_flight *f = w->flight;
    if (f == NULL) return;
    reef__events_forget(w);
    reef__events_shrink(w);
    reef__memory_free(&w->family->memory, MEMORY_EVENTS, f->types, f->type_room * sizeof *f->types);
    reef__memory_free(&w->family->memory, MEMORY_EVENTS, f->views, f->view_room * sizeof *f->views);
    reef__memory_free(&w->family->memory, MEMORY_EVENTS, f, sizeof *f);
    w->flight = NULL;
}

reef_events reef__events_waiting(const reef_world *w, const event_store *s)
{
    const uint64_t first = event_wait(w, s);
    return reef__event_cursor(w, s, first > s->head ? first : s->head, reef__event_end(w, s));
}

uint64_t reef__events_lag_hash(const reef_world *w, const event_store *s)
{
    uint64_t sum = 0, lag;
    for (uint32_t i = 0; i < w->state.event_place_count; i++) {
        const event_place *p = &w->state.event_places[i];
        if (p->component != s->component || (lag = reef__event_end(w, s) - p->position) == 0) continue;
        const uint64_t words[2] = {LITTLE_64(p->name_hash), LITTLE_64(lag)};
        sum += reef__hash_bytes(words, sizeof words);
    }
    return sum;
}

static const char *event_store_wrong(const reef_world *w, const event_store *s)
{
    const size_t size = reef__type_of(s->component)->size;
    const uint64_t end = reef__event_end(w, s);
    /* what was read is dropped when the state is settled */
    bool read = s->head == s->tail || (w->flight && w->flight->moved);
    if (s->head > s->tail || s->tail - s->head > s->most) return "wrong ends";
    for (uint32_t i = 0; i < w->state.event_place_count; i++) {
        const event_place *p = &w->state.event_places[i];
        if (p->component != s->component) continue;
        if (p->position > end) return "a system that has read more events than there are";
        read |= p->position <= s->head;
    }
    for (uint32_t i = 0; i < w->reader_count; i++) {
        const log_reader *r = &w->readers[i];
        if (r->serial == 0 || !r->events || r->component != s->component) continue;
        if (r->position > end) return "a reader that has read more events than there are";
        read |= r->position <= s->head;
    }
    if (!read) return "events that nobody waits for";
    for (uint64_t p = event_address(s->head, size) / TRACK_PAGE_BYTES;
         size && s->head != s->tail && p <= event_address(s->tail - 1, size) / TRACK_PAGE_BYTES; p++)
        if (s->pages.count == 0 || s->pages.page[p & (s->pages.count - 1)] == NULL) return "a page that is missing";
    const flight_type *t = reef__flight_of(w, s);
    uint64_t chunks = 0;
    for (const event_chunk *k = t ? t->first : NULL; k; k = k->next) chunks += k->count;
    return size && t && chunks != t->count + t->skip ? "a wrong count of events in flight" : NULL;
}

COLD reef_status reef__events_validate(const reef_world *w, char *message, size_t size)
{
    const char *what = NULL;
    uint32_t component = 0;
    for (uint32_t i = 0; i < w->state.event_count && !what; i++) {
        component = w->state.events[i].component;
        what = reef__events_of(w, component) != &w->state.events[i] ? "two stores"
                                                                    : event_store_wrong(w, &w->state.events[i]);
    }
    for (uint32_t i = 0; i < w->state.event_place_count && !what; i++) {
        const event_place *p = &w->state.event_places[i];
        component = p->component;
        if (reef__events_of(w, component) == NULL || reef__event_place_of(w, p->serial, component) != p)
            what = "a wrong position of a system";
    }
    if (what == NULL) return REEF_OK;
    return reef__corrupt(message, size, "events %s: %s", reef_type_name((reef_component){component}), what);
}
