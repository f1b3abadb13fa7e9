/* Reading a file: time, what systems have seen, names, events that wait, stamps, scripts that wait for their end.
 *
 * A file knows systems and phases by name. One that the world doesn't have becomes absent (unknown_system.h): the state
 * keeps what the file says of it, for the case that the program makes it later or saves again. */
#include "base/byte_hash.h"
#include "storage/event_log.h"
#include "storage/invalidate.h"
#include "storage/name_index.h"
#include "storage/read.h"
#include "storage/removal_log.h"
#include "storage/row_stamps.h"
#include "storage/serial_list.h"
#include "system/unknown_system.h"
#include "system/script.h"
#include "file/decoding.h"
#include "file/decode_types.h"
#include "file/section.h"
#include "reef/event.h"
#include "reef/script.h"
#include "reef/file.h"

/* ---- systems and phases by name ---- */

/* Reads the name of a system or phase into `name`, and answers its serial number. One that the world doesn't have is absent from
 * now on; with `note` the caller of the load is told of such a system, once for a file. 0: the error is recorded. */
static uint64_t get_serial(decoding *d, char *name, bool of_phase, bool note)
{
    if (!reef__get_text(d->in, name, REEF_SYSTEM_NAME_MAX)) return 0;
    const uint64_t serial = reef__serial_by_name(d->w, name, of_phase);
    if (note && d->first && (serial == 0 || reef__unknown_system_of(d->w, serial)))
        reef__decode_note(d, &(reef_load_note){.kind = REEF_NOTE_SYSTEM_UNKNOWN, .type = name});
    if (serial) return serial;
    if (name[0] == 0) return (void)reef__in_wrong(d->in, REEF_CORRUPT, "a system or phase has no name"), 0u;
    if (d->w->state.absent_count >= REEF_SYSTEMS_MAX)
        return (void)reef__in_wrong(d->in, REEF_LIMIT, "more systems than a world can have"), 0u;
    unknown_system *a = reef__unknown_system_add(d->w, name, of_phase);
    if (a == NULL) return (void)reef__decode_no_memory(d), 0u;
    return a->serial;
}

/* ---- time ---- */

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

/* ---- names ---- */

bool reef__decode_names(decoding *d)
{
    char text[REEF_NAME_MAX + 1];
    const reef_entity e = reef__get_handle(d->in);
    if (!reef__get_text(d->in, text, REEF_NAME_MAX)) return false;
    if (text[0] == 0) {
        if (!reef__name_prepare_forget(d->w, e)) return reef__decode_no_memory(d);
        reef__name_forget(d->w, e);
        reef__invalidate(d->w, INVALIDATE_WRITTEN);
        return true;
    }
    const reef_status s = reef_name(d->w, e) ? REEF_NAME_TAKEN : reef_set_name(d->w, e, text);
    if (s == REEF_NO_MEMORY) return reef__decode_no_memory(d);
    return s == REEF_OK ||
           reef__in_wrong(d->in, REEF_CORRUPT, "a name is invalid or used twice, or its entity isn't alive");
}

/* ---- events ---- */

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

/* ---- stamps ---- */

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
