/* Sections of a record: time, events that wait, stamps of tracked types, scripts that wait for their end.
 *
 * A file knows systems and phases by name. One that the world doesn't have becomes absent (unknown_system.h): the state
 * keeps what the file says of it, for the case that the program makes it later or saves again.
 *
 * Events have positions that count up for ever. A difference writes those from the first one that isn't as in the
 * base, and how far each system has read. Stamps are compared page by page, and of each page the indices from the
 * first to the last difference are written. Scripts that wait are few: where they differ all are written. */
#include "base/byte_hash.h"
#include "type/portable_bytes.h"
#include "storage/error.h"
#include "storage/event_log.h"
#include "storage/invalidate.h"
#include "storage/read.h"
#include "storage/removal_log.h"
#include "storage/row_stamps.h"
#include "storage/serial_list.h"
#include "storage/state_kind.h"
#include "system/script.h"
#include "system/unknown_system.h"
#include "file/decode_types.h"
#include "file/decoding.h"
#include "file/encoding.h"
#include "file/pack.h"
#include "file/section.h"
#include "reef/event.h"
#include "reef/file.h"
#include "reef/ref.h"
#include "reef/script.h"

/* ---- TIME ---- */

static void clocks_put(encoding *x)
{
    uint32_t count = 0;
    const size_t where = reef__put_later(x->o);
    for (uint32_t of = 0; of < 2; of++) {
        for (named_serial n = {NULL, 0, false}; reef__named_next(x->w, of == 0, &n);) {
            const uint64_t value = reef__serial_read(&x->w->state.clocks, n.serial);
            if (value == 0) continue;
            reef__put_u8(x->o, of);
            reef__put_text(x->o, n.name);
            reef__put_u64(x->o, value);
            count++;
        }
    }
    reef__put_now(x->o, where, count);
}

static void systems_put(encoding *x)
{
    uint32_t systems = 0;
    const size_t where = reef__put_later(x->o);
    for (named_serial n = {NULL, 0, false}; reef__named_next(x->w, false, &n); systems++) {
        bool ran;
        const uint64_t version = reef__encode_run(x, n.serial, &ran);
        reef__put_text(x->o, n.name);
        reef__put_u8(x->o, n.on);
        reef__put_u8(x->o, ran);
        reef__put_u64(x->o, encode_version(x, version));
    }
    reef__put_now(x->o, where, systems);
}

void reef__encode_time(encoding *x)
{
    const state *s = &x->w->state;
    reef__section_begin(x->o, SECTION_TIME);
    reef__put_u64(x->o, s->ticks);
    reef__put_u64(x->o, s->time_ns);
    reef__put_u64(x->o, s->seed);
    reef__put_u64(x->o, UINT64_C(1) + x->runs.count);
    reef__put_handle(x->o, reef_single_entity(x->w));
    clocks_put(x);
    systems_put(x);
    reef__encode_end(x);
}

/* Reads the name of a system or phase into `name`, and answers its serial number. One that the world doesn't have is
 * absent from now on; with `note` the caller of the load is told of such a system, once for a file. 0: the error is
 * recorded. */
static uint64_t get_serial(decoding *d, char *name, bool of_phase, bool note)
{
    if (!reef__get_text(d->in, name, REEF_SYSTEM_NAME_MAX)) return 0;
    uint64_t serial = reef__serial_by_name(d->w, name, of_phase);
    if (serial == 0) {
        if (name[0] == 0) return (void)reef__in_wrong(d->in, REEF_CORRUPT, "a system or phase has no name"), 0u;
        if (d->w->state.absent_count >= REEF_SYSTEMS_MAX)
            return (void)reef__in_wrong(d->in, REEF_LIMIT, "more systems than a world can have"), 0u;
        const unknown_system *a = reef__unknown_system_add(d->w, name, of_phase);
        if (a == NULL) return (void)reef__decode_no_memory(d), 0u;
        serial = a->serial;
    }
    if (note && d->first && reef__unknown_system_of(d->w, serial))
        reef__decode_note(d, &(reef_load_note){.kind = REEF_NOTE_SYSTEM_UNKNOWN, .type = name});
    return serial;
}

static bool clocks_read(decoding *d)
{
    section_in *in = d->in;
    char name[REEF_SYSTEM_NAME_MAX + 1];
    const uint32_t count = reef__get_u32(in);
    d->w->state.clocks.count = 0;
    EACH_ELEMENT(in, i, count)
    {
        const bool of_phase = reef__get_most(in, "of", 1, 1) == 0;
        const uint64_t serial = get_serial(d, name, of_phase, of_phase), value = reef__get_u64(in);
        if (in->status != REEF_OK) return false;
        uint64_t *clock = reef__clock_own(d->w, serial);
        if (clock == NULL) return reef__decode_no_memory(d);
        *clock = value;
    }
    return in->status == REEF_OK;
}

/* Reads of each system whether it is on, and when it ran last. Version 0 says: as in the state before. Of systems that
 * the file doesn't know it says nothing, so their runs stay. */
static bool systems_read(decoding *d)
{
    section_in *in = d->in;
    serial_list *runs = &d->w->state.runs;
    char name[REEF_SYSTEM_NAME_MAX + 1];
    const uint32_t count = reef__get_u32(in);
    d->switch_count = 0;
    EACH_ELEMENT(in, i, count)
    {
        const uint64_t serial = get_serial(d, name, false, true);
        const bool on = reef__get_most(in, "on", 1, 1), ran = reef__get_most(in, "ran", 1, 1);
        const uint64_t version = reef__get_version(d);
        if (in->status != REEF_OK) return false;
        unknown_system *a = reef__unknown_system_of(d->w, serial);
        if (a) a->on = on;
        if (!ran) reef__serial_hand_over(runs, serial, 0);
        uint64_t *run = ran && version ? reef__serial_own(d->w, runs, serial, NULL) : NULL;
        if (run) *run = version;
        else if (ran && version) return reef__decode_no_memory(d);
        if (!reef__decode_room(d, &d->switches, &d->switch_room, d->switch_count + 1, sizeof *d->switches))
            return false;
        d->switches[d->switch_count++] = (file_switch){serial, on};
    }
    return in->status == REEF_OK;
}

bool reef__decode_time(decoding *d)
{
    section_in *in = d->in;
    state *s = &d->w->state;
    s->ticks = reef__get_u64(in);
    s->time_ns = reef__get_u64(in);
    s->seed = reef__get_u64(in);
    d->newest = reef__get_most(in, "version", 8, RECORD_VERSION_MAX);
    s->single = reef__get_handle(in);
    if (in->status != REEF_OK) return false;
    d->w->hot.version = d->base + d->newest;
    reef__invalidate(d->w, INVALIDATE_CONDITION_CHANGED | INVALIDATE_WRITTEN);
    return clocks_read(d) && systems_read(d);
}

/* ---- EVNT ---- */

/* The positions of the events of a type that wait, and how many are kept at most. Where nothing waits positions don't
 * matter, and the type is written only for its `most`. */
typedef struct events_span {
    uint64_t first, end, most;
} events_span;

static events_span waiting_of(const reef_world *w, uint32_t component)
{
    const event_store *s = w ? reef__events_of(w, component) : NULL;
    if (s == NULL) return (events_span){0, 0, REEF_EVENTS_BOUND};
    const reef_events r = reef__events_waiting(w, s);
    return r.count ? (events_span){r.position, r.position + r.count, s->most} : (events_span){0, 0, s->most};
}

static bool waiting_counts(const events_span *x) { return x->first != x->end || x->most != REEF_EVENTS_BOUND; }

/* The position up to which a system has read. UINT64_MAX: it doesn't read this type. */
static uint64_t reader_position(const reef_world *w, uint64_t serial, uint32_t component)
{
    const event_place *p = reef__event_place_of(w, serial, component);
    return p ? p->position : UINT64_MAX;
}

/* The position of the first event that isn't as in the base. */
static uint64_t waiting_from(const encoding *x, const type *t, const events_span *now, const events_span *was)
{
    if (now->first < was->first || now->first >= was->end) return now->first;
    reef_events a = reef__events_waiting(x->w, reef__events_of(x->w, t->id)),
                b = reef__events_waiting(x->base, reef__events_of(x->base, t->id));
    for (uint64_t n = was->first; n < now->first; n++) (void)reef_next_event(&b);
    uint64_t at = now->first;
    for (; at < now->end && at < was->end; at++) {
        const void *p = reef_next_event(&a), *q = reef_next_event(&b);
        if (!reef__pack_equal(t, p, q)) break;
    }
    return at;
}

static bool readers_differ(const encoding *x, uint32_t component)
{
    for (named_serial n = {NULL, 0, false}; reef__named_next(x->w, false, &n);)
        if (reader_position(x->w, n.serial, component) != reader_position(x->base, n.serial, component)) return true;
    return false;
}

static bool events_differ_now(const encoding *x, uint32_t component, events_span *now, events_span *was, uint64_t *from)
{
    *now = waiting_of(x->w, component);
    *was = waiting_of(x->base, component);
    *from = now->first;
    if (!waiting_counts(now) && !waiting_counts(was)) return false;
    if (x->base == NULL) return true;
    if (now->first != now->end) *from = waiting_from(x, reef__type_of(component), now, was);
    if (now->first != was->first || now->end != was->end || now->most != was->most || *from != now->end) return true;
    return now->first != now->end && readers_differ(x, component);
}

/* Writes the systems that have something left to read, by name. */
static void readers_put(encoding *x, uint32_t component, uint64_t end)
{
    uint32_t count = 0;
    const size_t where = reef__put_later(x->o);
    for (named_serial n = {NULL, 0, false}; reef__named_next(x->w, false, &n);) {
        const uint64_t position = reader_position(x->w, n.serial, component);
        if (position >= end) continue;
        reef__put_text(x->o, n.name);
        reef__put_u64(x->o, position);
        count++;
    }
    reef__put_now(x->o, where, count);
}

static void event_values_put(encoding *x, const type *t, const events_span *now, uint64_t from)
{
    uint32_t n;
    if (now->first == now->end || reef__pack_bytes(t, x->d->form) == 0) return;
    reef_events r = reef__events_waiting(x->w, reef__events_of(x->w, t->id));
    uint64_t at = now->first;
    for (const char *run; (run = reef_event_run(&r, &n)) != NULL; at += n) {
        const uint64_t skip = at < from ? from - at : 0;
        if (skip < n) reef__encode_values(x, t, run + skip * t->size, (size_t)(n - skip));
    }
}

void reef__encode_events(encoding *x)
{
    events_span now, was;
    uint64_t from;
    /* events belong to no entity, so a part of a world has none */
    for (state_key k = {0}; !x->d->part && reef__state_next(STATE_EVENTS, x->w, x->base, &k) && !encode_stopped(x);) {
        const type *t = k.type;
        if (!events_differ_now(x, t->id, &now, &was, &from)) continue;
        if (now.first != now.end && !reef__encode_allowed(x, t)) return;
        if (now.end > EVENT_POSITION_MAX) { /* nobody could load it */
            reef__failure(x->w, REEF_LIMIT, x->op, (reef_component){t->id}, (reef_entity){0, 0}, now.end);
            reef__encode_failed(x, REEF_LIMIT);
            return;
        }
        reef__section_begin(x->o, SECTION_EVENTS);
        reef__put_u32(x->o, reef__encode_type(x, t->id));
        reef__put_u64(x->o, now.most);
        reef__put_u64(x->o, now.first);
        reef__put_u64(x->o, now.end);
        reef__put_u64(x->o, from);
        reef__put_u32(x->o, (uint32_t)(now.end - from));
        event_values_put(x, t, &now, from);
        readers_put(x, t->id, now.end);
        reef__encode_end(x);
    }
}

/* Sets the position up to which a system has read events of a type. */
static bool event_place_put(decoding *d, uint64_t serial, const char *name, uint32_t component, uint64_t position)
{
    state *s = &d->w->state;
    event_place *there = reef__event_place_of(d->w, serial, component);
    if (there) return there->position = position, true;
    if (!reef__array_room(d->memory, MEMORY_EVENTS, &s->event_places, &s->event_place_capacity,
                          s->event_place_count + 1, sizeof *s->event_places))
        return reef__decode_no_memory(d);
    s->event_places[s->event_place_count++] =
        (event_place){serial, reef__hash_bytes(name, strlen(name)), position, component};
    return true;
}

/* Reads the positions of the systems that are behind. All others have read everything. */
static bool readers_read(decoding *d, const type *t, uint64_t tail)
{
    section_in *in = d->in;
    state *s = &d->w->state;
    char name[REEF_SYSTEM_NAME_MAX + 1];
    const uint32_t count = reef__get_u32(in);
    for (uint32_t i = 0; t && i < s->event_place_count; i++)
        if (s->event_places[i].component == t->id) s->event_places[i].position = tail;
    EACH_ELEMENT(in, i, count)
    {
        const uint64_t serial = get_serial(d, name, false, false), position = reef__get_most(in, "position", 8, tail);
        if (in->status != REEF_OK || (t && !event_place_put(d, serial, name, t->id, position))) return false;
    }
    return in->status == REEF_OK;
}

typedef struct event_reading {
    uint64_t most, head, tail, from;
    const unsigned char *values;
} event_reading;

enum { EVENTS_FROM_NOTHING = 1 << 20 }; /* most bytes of memory for events that take no bytes in the file */

/* Keeps the events before `from` and adds those of the file. */
static bool events_fill(decoding *d, const file_type *f, const type *t, const event_reading *x)
{
    reef_world *w = d->w;
    const unsigned char *values = x->values;
    if (t->hooked || t->size > REEF_EVENT_SIZE_MAX || t->align > REEF_EVENT_ALIGN_MAX)
        return reef__in_wrong(d->in, REEF_NOT_PORTABLE, "type %.80s can't be used for events", t->name);
    if (f->bytes == 0 && t->size && x->tail - x->from > EVENTS_FROM_NOTHING / t->size)
        return reef__in_wrong(d->in, REEF_LIMIT, "more events of type %.80s without values than a file may announce",
                              f->name);
    event_store *s = reef__event_store_ready(w, t->id);
    char *one = reef__decode_value_room(d, t->size ? t->size : 1);
    if (s == NULL || one == NULL) return reef__decode_no_memory(d);
    if (x->head == x->from) s->head = s->tail = x->from;
    else if (x->from < s->head || x->from > s->tail) return reef__in_wrong(d->in, REEF_CORRUPT, "events are missing");
    s->tail = x->from;
    if (x->head > s->head) s->head = x->head;
    s->most = x->most ? x->most : REEF_EVENTS_BOUND;
    if (x->tail - s->head > s->most) return reef__in_wrong(d->in, REEF_CORRUPT, "more events wait than are kept");
    if (!reef__events_room(w, s, x->tail - x->from)) return reef__decode_no_memory(d);
    for (uint64_t i = x->from; t->size && i < x->tail; i++, values += f->bytes) {
        memset(one, 0, t->size);
        reef__decode_values(f, values, one, t->size, 1);
        reef__events_put(s, one, 1);
    }
    s->tail = x->tail;
    reef__invalidate(w, INVALIDATE_WRITTEN);
    return true;
}

bool reef__decode_events(decoding *d)
{
    section_in *in = d->in;
    const file_type *f = reef__get_type(d, HOMES_ALL);
    event_reading x = {.most = reef__get_u64(in)};
    x.head = reef__get_u64(in);
    x.tail = reef__get_most(in, "tail", 8, EVENT_POSITION_MAX);
    x.from = reef__get_most(in, "from", 8, x.tail);
    const uint32_t count = reef__get_count(in, "count", f ? f->bytes : 0);
    if (f == NULL || in->status != REEF_OK) return false;
    if (x.head > x.from || x.tail - x.from != count)
        return reef__in_wrong(in, REEF_CORRUPT, "the positions of events contradict each other");
    x.values = reef__get_bytes(in, (size_t)count * f->bytes);
    const type *t = f->dropped ? NULL : f->to ? f->to : f->t; /* events have no home, so they need no stand-in */
    if (x.values == NULL || (t && !events_fill(d, f, t, &x))) return false;
    return readers_read(d, t, x.tail);
}

/* ---- TRAK ---- */

enum { STAMP_WORDS = 2 };

static bool stamp_counts(const reef_world *w, uint32_t component, uint64_t index)
{
    return index < w->hot.index_count && has_itself(w, reef_entity_at(w, (uint32_t)index), reef__type_of(component));
}

/* The stamp of row i of a page as it is written: {changed, added}. 0: the entity doesn't have the component, or the
 * stamp is as in the base. */
static void stamp_to_write(const encoding *x, uint32_t component, uint32_t page, uint32_t i, const stamp_page *now,
                           const stamp_page *was, uint64_t *to)
{
    const uint64_t index = (uint64_t)page * STAMPS_PER_PAGE + i;
    to[0] = to[1] = 0;
    if (!stamp_counts(x->w, component, index)) return;
    const bool before = was && stamp_counts(x->base, component, index);
    const bool added = !before || now->added[i] != was->added[i];
    if (added || now->changed[i] != was->changed[i] || now->changed[i] > x->again) to[0] = now->changed[i];
    if (added || now->added[i] > x->again) to[1] = now->added[i];
}

/* Writes the stamps of this page that must be written, from the first to the last of them. */
static void stamps_put(encoding *x, const track_store *s, uint32_t page, const stamp_page *was)
{
    uint64_t to[STAMP_WORDS * STAMPS_PER_PAGE];
    uint32_t first = STAMPS_PER_PAGE, end = 0;
    for (uint32_t i = 0; i < STAMPS_PER_PAGE; i++) {
        stamp_to_write(x, s->component, page, i, s->stamps.page[page], was, to + STAMP_WORDS * i);
        if (to[STAMP_WORDS * i] == 0) continue;
        if (first == STAMPS_PER_PAGE) first = i;
        end = i + 1;
    }
    if (end == 0) return;
    reef__section_begin(x->o, SECTION_TRACKS);
    reef__put_u32(x->o, reef__encode_type(x, s->component));
    reef__put_u32(x->o, page * STAMPS_PER_PAGE + first);
    reef__put_u32(x->o, end - first);
    for (uint32_t i = STAMP_WORDS * first; i < STAMP_WORDS * end; i++) reef__put_u64(x->o, encode_version(x, to[i]));
    reef__encode_end(x);
}

static void track_pages_put(encoding *x, const track_store *s)
{
    const track_store *old = x->base ? reef__track_of(x->base, s->component) : NULL;
    for (uint32_t page = 0; page < s->stamps.count && !encode_stopped(x); page++) {
        const stamp_page *was = old && page < old->stamps.count ? old->stamps.page[page] : NULL;
        if (s->stamps.page[page] && (s->stamps.page[page] != was || x->deep || x->back)) stamps_put(x, s, page, was);
    }
}

void reef__encode_tracks(encoding *x)
{
    for (state_key k = {0}; reef__state_next(STATE_TRACKS, x->w, NULL, &k);)
        track_pages_put(x, reef__track_of(x->w, k.key));
}

bool reef__decode_tracks(decoding *d)
{
    section_in *in = d->in;
    const file_type *f = reef__get_type(d, HOMES_ALL);
    const uint32_t end = d->w->hot.index_count, first = (uint32_t)reef__get_most(in, "first", 4, end),
                   count = (uint32_t)reef__get_most(in, "count", 4, end - first);
    EACH_ELEMENT(in, i, count)
    {
        const uint64_t changed = reef__get_version(d), added = reef__get_version(d);
        if (in->status != REEF_OK) return false;
        if (f == NULL || f->t == NULL || !f->t->tracked || (changed == 0 && added == 0)) continue;
        if (!reef__track_set(d->w, f->t->id, first + i, changed, added)) return reef__decode_no_memory(d);
    }
    return in->status == REEF_OK;
}

/* Stamps the entities that have no stamp: their component counts as added now. */
static bool rows_stamp(decoding *d, uint32_t component, const reef_entity *e, uint32_t rows)
{
    if (!reef__track_prepare(d->w, component, e, rows)) return reef__decode_no_memory(d);
    const track_store *s = reef__track_of(d->w, component);
    for (uint32_t i = 0; i < rows; i++)
        if (reef__track_word(s, e + i, 1, 0, true) == 0) reef__track_stamp(d->w, component, e[i].index, true);
    return true;
}

bool reef__decode_tracks_done(decoding *d)
{
    for (uint32_t i = 0; i < d->type_count; i++) {
        const type *t = d->types[i].to ? d->types[i].to : d->types[i].t;
        if (t == NULL || !t->tracked) continue;
        for (value_run r = {0}; reef__value_run_next(d->w, t, &r);)
            if (!rows_stamp(d, t->id, r.entities, r.count)) return false;
    }
    return true;
}

/* ---- LOST ---- */

/* The position from which on scripts wait. A state that is held aside has no reader of its own; it says where the
 * world's reader stood. */
static uint64_t lost_first(const encoding *x, const reef_world *w)
{
    uint64_t position = UINT64_MAX;
    if (w && w->script_reader) position = w->readers[w->script_reader - 1].position;
    else if (w && x->w->script_reader) (void)reef__readers_place(w, reef__scripts_serial(x->w), &position);
    return position;
}

/* The next script from *at on that waits for its end. False: no more. */
static bool lost_next(const reef_world *w, uint64_t *at, reef_entity *e, reef_script *value)
{
    while (*at != UINT64_MAX && reef__removals_at(w, reef_script_type().id, (*at)++, e, value))
        if (value->name_hash && value->started == reef_entity_bits(*e)) return true;
    return false;
}

static bool lost_differ(const encoding *x)
{
    uint64_t at = lost_first(x, x->w), other = lost_first(x, x->base);
    reef_entity e, f;
    reef_script a, b;
    for (;;) {
        const bool some = lost_next(x->w, &at, &e, &a), before = lost_next(x->base, &other, &f, &b);
        if (some != before) return true;
        if (!some) return false;
        if (!reef_entity_equal(e, f) || !reef__pack_equal(reef__type_of(reef_script_type().id), &a, &b)) return true;
    }
}

void reef__encode_lost(encoding *x)
{
    reef_entity e;
    reef_script value;
    if (encode_stopped(x) || !lost_differ(x)) return;
    const type *t = reef__type_of(reef_script_type().id);
    reef__section_begin(x->o, SECTION_LOST);
    reef__put_u32(x->o, reef__encode_type(x, t->id));
    uint32_t count = 0;
    const size_t where = reef__put_later(x->o);
    for (uint64_t at = lost_first(x, x->w); lost_next(x->w, &at, &e, &value); count++) {
        reef__put_handle(x->o, e);
        reef__encode_values(x, t, &value, 1);
    }
    reef__put_now(x->o, where, count);
    reef__encode_end(x);
}

bool reef__decode_lost(decoding *d)
{
    section_in *in = d->in;
    reef_world *w = d->w;
    reef_script value;
    const file_type *f = reef__get_type(d, HOMES_ALL);
    const uint32_t count = reef__get_count(in, "count", sizeof(reef_entity));
    if (f == NULL || in->status != REEF_OK) return false;
    const bool kept = w->script_reader && f->t && f->t->id == d->script;
    if (!kept && count) d->load->converted = true; /* this world has no system that would end them */
    if (kept && !reef__removals_forget_waiting(w, w->script_reader - 1)) return reef__decode_no_memory(d);
    EACH_ELEMENT(in, i, count)
    {
        const reef_entity e = reef__get_handle(in);
        const unsigned char *from = reef__get_bytes(in, f->bytes);
        if (from == NULL) return false;
        if (!kept) continue;
        memset(&value, 0, sizeof value);
        reef__decode_values(f, from, (char *)&value, sizeof value, 1);
        d->unbound += reef__scripts_bind(&value, 1);
        if (!reef__removals_put(w, d->script, e, &value)) return reef__decode_no_memory(d);
    }
    reef__invalidate(w, INVALIDATE_WRITTEN);
    return true;
}

bool reef__decode_scripts_done(decoding *d)
{
    if (d->unbound == 0) return true;
    if (d->load->difference)
        return reef__in_wrong(d->in, REEF_NOT_PORTABLE, "the class of a script isn't known: reef_script_know");
    const uint64_t rows = reef__scripts_without(d->w);
    const reef_load_note note = {
        .kind = REEF_NOTE_SCRIPT_UNKNOWN, .type = reef__type_of(d->script)->name, .rows = rows};
    if (rows) reef__decode_note(d, &note);
    return true;
}
