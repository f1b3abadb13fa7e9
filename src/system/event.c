/* Events.
 *
 *   job:     queue ─► chunk ─► chunk                    one queue for each type that its system sends; no other thread
 *              │                                        looks at it
 *              │ reef__events_gather: linked, never copied
 *   flight:  chunk ─► chunk ─► chunk ─► chunk           what was sent in this phase, in the order of (system, job)
 *              │ reef__events_keep: what somebody hasn't read is copied, and the chunks are used again
 *   state:   pages:  head ─► event, event, ... ◄─ tail  a ring
 *
 * The events of a type have positions that count up for ever. Those from head to tail - 1 lie in the pages, those from
 * tail on are in flight. A reader is a position. The positions of systems are state and are kept by the system's
 * serial number; the host's readers belong to the world (src/storage/removal_log.c).
 *
 * While jobs run, no event moves. A system's view is made under the phase's lock when the system begins, and it ends
 * where the events ended at that time. What is gathered meanwhile is linked behind the last chunk of the view, and the
 * view never follows that link. So a job reads without a lock. When it sends, it takes the family's lock only to get
 * another chunk, which is once for up to 64 KiB of events.
 *
 * The chunks of a phase are kept for the next one. Events that all readers read in the phase in which they were sent
 * are never copied. */
#include "system/event.h"
#include "storage/error.h"
#include "storage/event_log.h"
#include "storage/invalidate.h"
#include "storage/known_types.h"
#include "storage/removal_log.h"
#include "storage/row_stamps.h"
#include "storage/serial_list.h"
#include "system/unknown_system.h"
#include "system/job.h"
#include "system/schedule.h"
#include "system/system.h"
#include "reef/event.h"
#include "reef/system.h"
#include "reef/track.h"
#include "reef/event_reader.h"

_Static_assert(sizeof(event_chunk) <= EVENT_CHUNK_HEAD && (int)REEF_EVENT_ALIGN_MAX <= (int)EVENT_CHUNK_HEAD,
               "events begin aligned");
_Static_assert((int)REEF_EVENT_SIZE_MAX + EVENT_CHUNK_HEAD <= EVENT_CHUNK_LEAST << 2 * (EVENT_CHUNK_CLASSES - 1),
               "every event fits");
_Static_assert((int)REEF_EVENT_SIZE_MAX <= (int)TRACK_PAGE_BYTES && (int)REEF_EVENT_ALIGN_MAX <= (int)BLOCK_ALIGN,
               "every event fits into a page");

typedef struct event_queue {
    /* Free room in the last chunk. For a tag its size is UINT32_MAX, so that no call takes the fast path. */
    reef_event_room room;
    event_chunk *first, *last;
    uint32_t chunks;
    uint64_t count; /* number of events in all chunks but the last; for a tag: of all events */
} event_queue;

static const reef_entity event_null = {0, 0};

/* ---- types ---- */

/* Can values of this type be events? */
static reef_status event_type_check(const reef_world *w, uint32_t component, const type **t)
{
    *t = reef__type_of(component);
    if (*t == NULL || !reef__world_knows(w, component)) return REEF_UNKNOWN_TYPE;
    if ((*t)->hooked) return REEF_NOT_COPYABLE;
    return (*t)->size > REEF_EVENT_SIZE_MAX || (*t)->align > REEF_EVENT_ALIGN_MAX ? REEF_LIMIT : REEF_OK;
}

/* ---- reading ---- */

const void *reef_event_run(reef_events *r, uint32_t *count)
{
    uint32_t n = 0;
    const char *run = NULL;
    const event_store *s = r->store;
    if (r->at != r->end) {
        n = (uint32_t)((size_t)(r->end - r->at) / r->size);
        run = r->at;
        r->at = r->end;
    } else if (r->left) {
        n = r->left < UINT32_MAX ? (uint32_t)r->left : UINT32_MAX;
        if (r->size == 0) {
            run = "";
        } else if (r->position < s->tail) {
            if (n > s->tail - r->position) n = (uint32_t)(s->tail - r->position);
            run = reef__event_piece(s, r->position, r->size, &n);
        } else {
            const event_chunk *k = r->chunk;
            if (n > k->count - r->skip) n = (uint32_t)(k->count - r->skip);
            run = chunk_events(k) + r->skip * r->size;
            r->skip = 0;
            if (n < r->left) r->chunk = k->next;
        }
        r->position += n;
        r->left -= n;
    }
    *count = n;
    return run;
}

reef_events reef_receive_id(const reef_block *b, reef_component c)
{
    static const char op[] = "reef_receive";
    const reef_events none = {0};
    if (b == NULL) return none;
    if (b->loop.job == NULL) return reef__failure(b->world, REEF_UNDECLARED, op, c, event_null, 0), none;
    job *j = b->loop.job;
    const event_place *p = reef__event_place_of(j->world, j->system->serial, c.id);
    if (LIKELY(p != NULL && j->world->flight != NULL)) return j->world->flight->views[p - j->world->state.event_places];
    if (!reef__touch_find(j->system, REEF_RECEIVES, &c))
        (void)reef__job_failure(j, REEF_UNDECLARED, op, c, event_null, 0);
    return none;
}

void reef__events_begin(reef_world *w, const struct system *s)
{
    for (uint32_t i = 0; i < w->state.event_place_count; i++) {
        const event_place *p = &w->state.event_places[i];
        if (p->serial != s->serial) continue;
        const event_store *store = reef__events_of(w, p->component);
        const uint64_t from = p->position > store->head ? p->position : store->head;
        w->flight->views[i] = reef__event_cursor(w, store, from, reef__event_end(w, store));
        w->flight->views[i].missed = from - p->position;
    }
}

void reef__events_end(reef_world *w, const struct system *s)
{
    for (uint32_t i = 0; i < w->state.event_place_count; i++) {
        event_place *p = &w->state.event_places[i];
        if (p->serial != s->serial) continue;
        const reef_events *view = &w->flight->views[i];
        const uint64_t end = view->position + view->left; /* only copies of the view were advanced */
        if (p->position == end) continue;
        p->position = end;
        w->flight->moved = true;
    }
}

/* ---- sending ---- */

uint32_t reef__event_queues(const struct system *s)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->touch_count; i++) n += s->touches[i].kind == REEF_SENDS;
    return n;
}

size_t reef__event_queue_bytes(void) { return sizeof(event_queue); }

/* Returns the job's queue for a type. NULL: the system doesn't send it. */
static event_queue *event_queue_of(const job *j, uint32_t component)
{
    uint32_t k = 0;
    for (uint32_t i = 0; i < j->system->touch_count; i++) {
        if (j->system->touches[i].kind != REEF_SENDS) continue;
        if (j->system->touches[i].type.id == component) return &j->queues[k];
        k++;
    }
    return NULL;
}

/* Closes the last chunk of a queue: its events are counted, and it takes no more. */
static void event_queue_seal(event_queue *q)
{
    if (q->last == NULL) return;
    q->last->count = (uint32_t)((size_t)(q->room.next - chunk_events(q->last)) / q->room.size);
    q->count += q->last->count;
    q->room.next = q->room.end = NULL;
}

static bool event_queue_grow(reef_world *w, event_queue *q, const type *t)
{
    const uint32_t least = event_chunk_class(t->size + EVENT_CHUNK_HEAD);
    uint32_t c = q->chunks < EVENT_CHUNK_CLASSES ? q->chunks : EVENT_CHUNK_CLASSES - 1;
    event_chunk *k = reef__event_chunk_take(w, c > least ? c : least);
    if (k == NULL) return false;
    event_queue_seal(q);
    if (q->last) q->last->next = k;
    else q->first = k;
    q->last = k;
    q->chunks++;
    q->room = (reef_event_room){chunk_events(k), (char *)k + k->bytes, t->id, t->size};
    return true;
}

static bool event_is_read(const reef_world *w, uint32_t component)
{
    bool read = false;
    for (uint32_t i = 0; i < w->state.event_place_count; i++) read |= w->state.event_places[i].component == component;
    for (uint32_t i = 0; i < w->reader_count; i++) {
        const log_reader *r = &w->readers[i];
        read |= r->serial && r->events && r->component == component;
    }
    return read;
}

/* *slot: where the event has to be written; NULL: the type is a tag and has no value. */
static reef_status event_reserve(job *j, reef_component c, size_t size, void **slot)
{
    static const char op[] = "reef_send";
    event_queue *q = event_queue_of(j, c.id);
    if (q == NULL) return reef__job_failure(j, REEF_UNDECLARED, op, c, event_null, 0);
    const type *t;
    reef_status s = event_type_check(j->world, c.id, &t);
    if (s != REEF_OK) return reef__job_failure(j, s, op, c, event_null, s == REEF_LIMIT ? t->size : 0);
    if (size != t->size) return reef__job_failure(j, REEF_WRONG_SIZE, op, c, event_null, size);
    if (size == 0) {
        q->room.size = UINT32_MAX;
        q->count++;
        return REEF_OK;
    }
    if ((size_t)(q->room.end - q->room.next) < size && !event_queue_grow(j->world, q, t))
        return reef__job_failure(j, REEF_NO_MEMORY, op, c, event_null, size);
    *slot = q->room.next;
    q->room.next += size;
    j->head.room = &q->room;
    return REEF_OK;
}

/* The same for the host. *slot is also NULL if no reader follows this type. */
static reef_status event_post(reef_world *w, const char *op, reef_component c, size_t size, void **slot)
{
    const type *t;
    if (w->running) return reef__failure(w, REEF_LOCKED, op, c, event_null, 0);
    reef_status s = event_type_check(w, c.id, &t);
    if (s != REEF_OK) return reef__failure(w, s, op, c, event_null, s == REEF_LIMIT ? t->size : 0);
    if (size != t->size) return reef__failure(w, REEF_WRONG_SIZE, op, c, event_null, size);
    if (!reef__events_ready(w) || reef__events_keep(w) != REEF_OK)
        return reef__failure(w, REEF_NO_MEMORY, op, c, event_null, size);
    if (!event_is_read(w, c.id)) return REEF_OK;
    event_store *store = reef__event_store_ready(w, c.id);
    if (store == NULL || !reef__events_room(w, store, 1))
        return reef__failure(w, REEF_NO_MEMORY, op, c, event_null, size);
    uint32_t one = 1;
    if (size) *slot = reef__event_piece(store, store->tail, size, &one);
    store->tail++;
    if (store->tail - store->head > store->most) reef__event_trim(w, store);
    reef__invalidate(w, INVALIDATE_WRITTEN);
    return REEF_OK;
}

void *reef_send_room_(const reef_block *b, reef_component c, size_t size, void *nowhere)
{
    void *slot = NULL;
    if (b == NULL) return nowhere;
    if (b->loop.job) b->loop.job->head.sent = event_reserve(b->loop.job, c, size, &slot);
    else b->world->sent = event_post(b->world, "reef_send", c, size, &slot);
    return slot ? slot : nowhere;
}

reef_status reef_sent_(const reef_block *b)
{
    return b == NULL ? REEF_BAD_ARGUMENT : b->loop.job ? b->loop.job->head.sent : b->world->sent;
}

reef_status reef_send_id(const reef_block *b, reef_component c, const void *value, size_t size)
{
    if (b && size && value == NULL) return reef__block_misuse(b, "reef_send", c, event_null, reef__no_value_text);
    void *slot = reef_send_room_(b, c, size, NULL);
    if (slot) memcpy(slot, value, size);
    return reef_sent_(b);
}

/* Appends what a queue holds to what is in flight. The queue is empty afterwards. */
static void event_queue_join(reef_world *w, event_queue *q, uint32_t component)
{
    event_queue_seal(q);
    const event_store *s = reef__events_of(w, component);
    flight_type *t = s ? reef__flight_of(w, s) : NULL;
    if (t == NULL) { /* no reader ever followed this type */
        reef__event_chunks_retire(w, q->first);
    } else if (q->count) {
        if (q->first) {
            if (t->last) t->last->next = q->first;
            else t->first = q->first;
            t->last = q->last;
        }
        t->count += q->count;
        w->flight->moved = true;
    }
    *q = (event_queue){0};
}

void reef__events_gather(reef_world *w, job *jobs, uint32_t count, uint32_t component)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct system *s = jobs[i].system;
        for (uint32_t t = 0, k = 0; t < s->touch_count; t++) {
            if (s->touches[t].kind != REEF_SENDS) continue;
            event_queue *q = &jobs[i].queues[k++];
            if (component == 0 || s->touches[t].type.id == component) event_queue_join(w, q, s->touches[t].type.id);
        }
    }
}

/* ---- the end of a phase ---- */

/* Drops the first events in flight: all before position `keep`, which lies behind the pages. */
static void flight_skip(event_store *s, flight_type *t, uint64_t keep, event_chunk **gone)
{
    const uint64_t n = keep - s->tail;
    s->head = s->tail = keep;
    t->count -= n;
    t->skip += n;
    while (t->first && t->skip >= t->first->count) {
        event_chunk *k = t->first;
        t->skip -= k->count;
        t->first = k->next;
        k->next = *gone;
        *gone = k;
    }
    if (t->first == NULL) t->last = NULL, t->skip = 0;
}

/* Copies the events of one type that are in flight to the pages, or drops them. False: no memory. */
static bool event_keep(reef_world *w, event_store *s)
{
    flight_type *t = reef__flight_of(w, s);
    if (t == NULL || t->count == 0) return true;
    event_chunk *gone = NULL;
    const uint64_t keep = reef__event_keep(w, s);
    if (keep > s->tail) flight_skip(s, t, keep, &gone);
    reef__event_trim(w, s);
    if (gone) reef__event_chunks_retire(w, gone);
    if (!reef__events_room(w, s, t->count)) return false;
    const size_t size = reef__type_of(s->component)->size;
    for (const event_chunk *k = t->first; k; k = k->next, t->skip = 0)
        reef__events_put(s, chunk_events(k) + t->skip * size, k->count - t->skip);
    if (size == 0) s->tail += t->count;
    if (t->first) reef__event_chunks_retire(w, t->first);
    *t = (flight_type){0};
    return true;
}

reef_status reef__events_keep(reef_world *w)
{
    bool ok = true;
    if (w->flight == NULL || !w->flight->moved) return REEF_OK;
    for (uint32_t i = 0; i < w->state.event_count; i++) ok &= event_keep(w, &w->state.events[i]);
    reef__events_trim(w);
    reef__invalidate(w, INVALIDATE_WRITTEN);
    w->flight->moved = !ok;
    return ok ? REEF_OK : REEF_NO_MEMORY;
}

/* ---- systems come and go ---- */

COLD bool reef__events_follow(reef_world *w, const struct system *s)
{
    state *x = &w->state;
    reef__unknown_systems_resolve(w);
    uint32_t places = x->event_place_count;
    if (places == 0 && !reef__touch_find(s, REEF_SENDS, NULL) && !reef__touch_find(s, REEF_RECEIVES, NULL)) return true;
    for (uint32_t i = 0; i < s->touch_count; i++) {
        const reef_touch *t = &s->touches[i];
        if (t->kind != REEF_SENDS && t->kind != REEF_RECEIVES) continue;
        if (reef__event_store_ready(w, t->type.id) == NULL) return false;
        places += t->kind == REEF_RECEIVES;
    }
    if (!reef__array_room(&w->family->memory, MEMORY_EVENTS, &x->event_places, &x->event_place_capacity, places,
                          sizeof *x->event_places))
        return false;
    if (places && !reef__flight_room(w, 0, x->event_place_capacity)) return false;
    for (uint32_t i = x->event_place_count; i-- > 0;) { /* drop the types that it no longer receives */
        if (x->event_places[i].serial != s->serial) continue;
        x->event_places[i].name_hash = s->name_hash;
        if (reef__touch_find(s, REEF_RECEIVES, &(reef_component){x->event_places[i].component})) continue;
        x->event_places[i] = x->event_places[--x->event_place_count];
        reef__invalidate(w, INVALIDATE_WRITTEN);
    }
    for (uint32_t i = 0; i < s->touch_count; i++) {
        const uint32_t c = s->touches[i].type.id;
        if (s->touches[i].kind != REEF_RECEIVES || reef__event_place_of(w, s->serial, c)) continue;
        x->event_places[x->event_place_count++] = (event_place){s->serial, s->name_hash, reef__events_end_of(w, c), c};
    }
    return true;
}

COLD void reef__events_leave(reef_world *w, uint64_t serial)
{
    state *x = &w->state;
    for (uint32_t i = x->event_place_count; i-- > 0;)
        if (x->event_places[i].serial == serial) x->event_places[i] = x->event_places[--x->event_place_count];
    reef__events_trim(w);
    reef__invalidate(w, INVALIDATE_WRITTEN);
}

COLD void reef__events_hand_over(reef_world *w, uint64_t serial, const struct system *to)
{
    for (uint32_t i = 0; i < w->state.event_place_count; i++) {
        event_place *p = &w->state.event_places[i];
        if (p->serial != serial) continue;
        p->serial = to->serial;
        p->name_hash = to->name_hash;
    }
    reef__invalidate(w, INVALIDATE_WRITTEN);
}

COLD void reef__events_take_over(reef_world *w, uint64_t serial, uint64_t to)
{
    state *x = &w->state;
    for (uint32_t i = x->event_place_count; i-- > 0;) {
        event_place *p = &x->event_places[i];
        if (p->serial != serial) continue;
        /* the name is the same, and so is name_hash */
        if (reef__event_place_of(w, to, p->component) == NULL) p->serial = to;
        else *p = x->event_places[--x->event_place_count];
    }
    reef__invalidate(w, INVALIDATE_WRITTEN);
}

COLD void reef__events_sift(reef_world *w)
{
    state *x = &w->state;
    if (x->event_place_count == 0) return;
    for (uint32_t i = x->event_place_count; i-- > 0;) {
        uint32_t k = 0, systems = w->schedule ? w->schedule->count : 0;
        while (k < systems && w->schedule->entries[k].system->serial != x->event_places[i].serial) k++;
        if (k == systems && reef__unknown_system_of(w, x->event_places[i].serial) == NULL)
            x->event_places[i] = x->event_places[--x->event_place_count], reef__invalidate(w, INVALIDATE_WRITTEN);
    }
    reef__events_trim(w);
}

bool reef__events_ready(reef_world *w)
{
    const struct schedule *s = w->schedule;
    event_flight *f = w->flight;
    const uint64_t epoch = s ? s->epoch : 0;
    if (f && f->ready && f->schedule_epoch == epoch && f->state_epoch == w->state_epoch) return true;
    if (!reef__flight_room(w, w->state.event_capacity, w->state.event_place_capacity)) return false;
    reef__unknown_systems_resolve(w);
    reef__events_sift(w);
    for (uint32_t i = 0; s && i < s->count; i++)
        if (!reef__events_follow(w, s->entries[i].system)) return false;
    f = w->flight;
    f->ready = true;
    f->schedule_epoch = epoch;
    f->state_epoch = w->state_epoch;
    return true;
}

/* ---- the host ---- */

reef_status reef_post_id(reef_world *w, reef_component c, const void *value, size_t size)
{
    static const char op[] = "reef_post";
    void *slot = NULL;
    if (!WORLD_GIVEN(w)) return REEF_BAD_ARGUMENT;
    if (size && value == NULL) return reef__misuse(w, op, c, event_null, reef__no_value_text);
    reef_status s = event_post(w, op, c, size, &slot);
    if (slot) memcpy(slot, value, size);
    return s;
}

COLD reef_event_reader reef_event_reader_new(reef_world *w, reef_component c)
{
    static const char op[] = "reef_event_reader_new";
    const reef_event_reader none = {0, 0, 0};
    const type *t;
    if (!WORLD_GIVEN(w)) return none;
    if (w->running) return reef__failure(w, REEF_LOCKED, op, c, event_null, 0), none;
    reef_status s = event_type_check(w, c.id, &t);
    if (s != REEF_OK) return reef__failure(w, s, op, c, event_null, s == REEF_LIMIT ? t->size : 0), none;
    log_reader *r = reef__event_store_ready(w, c.id) ? reef__reader_make(w, c.id, true) : NULL;
    if (r == NULL) return reef__failure(w, REEF_NO_MEMORY, op, c, event_null, 0), none;
    r->position = reef__events_end_of(w, c.id);
    return (reef_event_reader){(uint32_t)(r - w->readers), r->generation, w->hot.number};
}

/* NULL: the failure is recorded. */
static log_reader *event_reader_of(reef_world *w, reef_event_reader reader, const char *op)
{
    if (w->running) return reef__failure(w, REEF_LOCKED, op, (reef_component){0}, event_null, reader.index), NULL;
    return reef__reader_of(w, (reef_removals){reader.index, reader.generation, reader.world}, true, op);
}

COLD reef_status reef_event_reader_free(reef_world *w, reef_event_reader reader)
{
    if (!WORLD_GIVEN(w)) return REEF_BAD_ARGUMENT;
    if (reader.generation == 0) return REEF_OK;
    log_reader *r = event_reader_of(w, reader, "reef_event_reader_free");
    if (r == NULL) return w->error.status;
    r->serial = 0;
    reef__events_trim(w);
    return REEF_OK;
}

bool reef_event_next(reef_world *w, reef_event_reader reader, void *value)
{
    static const char op[] = "reef_event_next";
    log_reader *r = WORLD_GIVEN(w) && reef__readers_free(w, op) ? event_reader_of(w, reader, op) : NULL;
    event_store *s = r ? (event_store *)(uintptr_t)reef__events_of(w, r->component) : NULL;
    if (s == NULL) return false;
    const uint64_t end = reef__event_end(w, s), from = r->position > s->head ? r->position : s->head;
    if (from >= end) return false;
    reef_events events = reef__event_cursor(w, s, from, from + 1);
    const void *event = reef_next_event(&events);
    if (value) memcpy(value, event, events.size);
    r->position = from + 1;
    if (from == s->head) reef__event_trim(w, s); /* this may have been the slowest reader */
    return true;
}

uint64_t reef_events_missed(const reef_world *w, reef_event_reader reader)
{
    if (!WORLD_GIVEN(w) || w->running || reader.world != w->hot.number || reader.index >= w->reader_count) return 0;
    const log_reader *r = &w->readers[reader.index];
    const event_store *s = reef__events_of(w, r->component);
    if (r->serial == 0 || r->generation != reader.generation || !r->events || s == NULL) return 0;
    return r->position < s->head ? s->head - r->position : 0;
}

COLD reef_status reef_events_bound(reef_world *w, reef_component c, uint64_t most)
{
    static const char op[] = "reef_events_bound";
    const type *t;
    if (!WORLD_GIVEN(w)) return REEF_BAD_ARGUMENT;
    if (w->running) return reef__failure(w, REEF_LOCKED, op, c, event_null, 0);
    reef_status s = event_type_check(w, c.id, &t);
    if (s == REEF_OK && most == 0) s = refuse_because(w, "at least one event must be kept");
    if (s == REEF_OK && reef__events_keep(w) != REEF_OK) s = REEF_NO_MEMORY;
    event_store *store = s == REEF_OK ? reef__event_store_ready(w, c.id) : NULL;
    if (s == REEF_OK && store == NULL) s = REEF_NO_MEMORY;
    if (s != REEF_OK) return reef__failure(w, s, op, c, event_null, s == REEF_LIMIT ? t->size : most);
    store->most = most;
    reef__event_trim(w, store);
    reef__invalidate(w, INVALIDATE_WRITTEN);
    return REEF_OK;
}
