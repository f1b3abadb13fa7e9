/* Writing a record: events that systems haven't read, stamps of tracked types, and scripts that wait for their end.
 *
 * Events have positions that count up for ever. A difference writes those from the first one that isn't as in the
 * base, and how far each system has read. Stamps are compared page by page, and of each page the indices from the
 * first to the last difference are written. Scripts that wait are few: where they differ all are written. */
#include "type/portable_bytes.h"
#include "storage/error.h"
#include "storage/event_log.h"
#include "storage/read.h"
#include "storage/removal_log.h"
#include "storage/row_stamps.h"
#include "storage/state_kind.h"
#include "system/unknown_system.h"
#include "file/encoding.h"
#include "file/pack.h"
#include "file/section.h"
#include "reef/event.h"
#include "reef/ref.h"
#include "reef/script.h"

/* ---- events ---- */

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
    const bool flat = reef__type_is_flat(t);
    uint32_t n;
    if (now->first == now->end || reef__pack_bytes(t, x->d->form) == 0) return;
    reef_events r = reef__events_waiting(x->w, reef__events_of(x->w, t->id));
    uint64_t at = now->first;
    for (const char *run; (run = reef_event_run(&r, &n)) != NULL; at += n) {
        const uint64_t skip = at < from ? from - at : 0;
        if (skip < n) reef__encode_values(x, t, flat, run + skip * t->size, (size_t)(n - skip));
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

/* ---- stamps ---- */

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

/* ---- scripts ---- */

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
        reef__encode_values(x, t, false, &value, 1);
    }
    reef__put_now(x->o, where, count);
    reef__encode_end(x);
}
