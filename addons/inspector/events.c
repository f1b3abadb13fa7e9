/* Events of the last ticks. While somebody asks for them, the program's world has a reader for each type that its
 * systems send or receive; after each tick what they have is copied into a ring. Three seconds after the last question
 * the readers are freed, so that no event is kept for nobody. */
#include "inspector.h"
#include <stdlib.h>
#include <string.h>

enum { EVENT_TYPES_MAX = 64, EVENTS_KEPT = 2000, EVENTS_A_TICK = 500 };

typedef struct event_row {
    uint64_t tick;
    reef_component type;
    void *value; /* NULL: a tag */
} event_row;

typedef struct event_types {
    uint32_t count;
    reef_component type[EVENT_TYPES_MAX];
} event_types;

struct inspector_events {
    reef_world *world; /* to which the readers belong; NULL: there are none */
    reef_event_reader readers[EVENT_TYPES_MAX];
    /* written by the simulation's thread under the inspector's lock */
    event_types types;
    uint64_t totals[EVENT_TYPES_MAX];
    uint64_t count; /* of all rows; number n lies at n % EVENTS_KEPT */
    event_row rows[EVENTS_KEPT];
};

static bool type_note(void *context, const reef_system_info *s)
{
    event_types *x = context;
    for (uint32_t k = 0; k < s->touch_count; k++) {
        if (s->touches[k].kind != REEF_SENDS && s->touches[k].kind != REEF_RECEIVES) continue;
        bool known = x->count == EVENT_TYPES_MAX;
        for (uint32_t n = 0; n < x->count; n++) known |= x->type[n].id == s->touches[k].type.id;
        if (!known) x->type[x->count++] = s->touches[k].type;
    }
    return true;
}

void inspector_events_leave(reef_inspector *i)
{
    struct inspector_events *x = i->events;
    if (x == NULL || x->world == NULL) return;
    for (uint32_t k = 0; k < x->types.count; k++) (void)reef_event_reader_free(x->world, x->readers[k]);
    x->world = NULL;
}

/* Begins anew with this world. The totals are those of this world's types. */
static void events_enter(reef_inspector *i, struct inspector_events *x)
{
    event_types types = {.count = 0};
    (void)reef_visit_systems(i->world, type_note, &types);
    pthread_mutex_lock(&i->lock);
    memset(x->totals, 0, sizeof x->totals);
    x->types = types;
    pthread_mutex_unlock(&i->lock);
    for (uint32_t k = 0; k < types.count; k++) x->readers[k] = reef_event_reader_new(i->world, types.type[k]);
    x->world = i->world;
}

static void event_put(reef_inspector *i, struct inspector_events *x, uint32_t k, uint64_t tick, const void *bytes,
                      size_t size)
{
    event_row row = {tick, x->types.type[k], size ? malloc(size) : NULL};
    if (size && row.value == NULL) return;
    if (size) memcpy(row.value, bytes, size);
    pthread_mutex_lock(&i->lock);
    event_row *at = &x->rows[x->count++ % EVENTS_KEPT];
    void *was = at->value;
    *at = row;
    pthread_mutex_unlock(&i->lock);
    free(was);
}

/* Copies what was sent since the last update. Of each type the first EVENTS_A_TICK of a tick are kept, all are
 * counted. */
void inspector_events_read(reef_inspector *i, uint64_t now)
{
    struct inspector_events *x = i->events;
    _Alignas(REEF_EVENT_ALIGN_MAX) char value[REEF_EVENT_SIZE_MAX];
    const uint64_t asked = atomic_load(&i->events_ns);
    if (asked == 0) return;
    if (now > asked + 3000000000u) {
        inspector_events_leave(i);
        atomic_store(&i->events_ns, 0);
        return;
    }
    if (x == NULL) {
        if ((x = calloc(1, sizeof *x)) == NULL) return;
        pthread_mutex_lock(&i->lock);
        i->events = x;
        pthread_mutex_unlock(&i->lock);
    }
    if (x->world != i->world) events_enter(i, x);
    const uint64_t tick = reef_tick_count(i->world);
    for (uint32_t k = 0; k < x->types.count; k++) {
        reef_type_info t;
        uint64_t n = 0;
        if (!reef_type_get(x->types.type[k], &t) || t.size > sizeof value) continue;
        for (; reef_event_next(i->world, x->readers[k], n < EVENTS_A_TICK ? value : NULL); n++)
            if (n < EVENTS_A_TICK) event_put(i, x, k, tick, value, t.size);
        pthread_mutex_lock(&i->lock);
        x->totals[k] += n;
        pthread_mutex_unlock(&i->lock);
    }
}

void inspector_events_free(reef_inspector *i)
{
    for (uint32_t k = 0; i->events && k < EVENTS_KEPT; k++) free(i->events->rows[k].value);
    free(i->events);
    i->events = NULL;
}

/* The number of each type's events since they are listened to. The lock is held. */
static json *totals_json(const struct inspector_events *x)
{
    json *j = inspector_object();
    for (uint32_t k = 0; x && k < x->types.count; k++)
        inspector_put(j, reef_type_name(x->types.type[k]), inspector_json_number(x->totals[k]));
    return j;
}

static json *event_json(uint64_t number, const event_row *e)
{
    reef_type_info t;
    json *row = inspector_array();
    inspector_append(row, inspector_json_number(number));
    inspector_append(row, inspector_json_number(e->tick));
    inspector_append(row, inspector_text(reef_type_name(e->type)));
    inspector_append(row,
                     e->value && reef_type_get(e->type, &t) ? inspector_json_value(&t, e->value) : inspector_null());
    return row;
}

/* {"rows": [[number, tick, type, value], ...], "next": n, "totals": {type: n}}, from `after` on, or the newest. */
json *inspector_answer_events(request *r)
{
    reef_inspector *i = r->i;
    char text[TEXT_MAX];
    const uint64_t limit = inspector_parameter_number(r, "limit", 200, ROWS_MAX);
    reef_component only = {0};
    if (inspector_parameter(r, "type", text, sizeof text) && (only = reef_type_find(text)).id == 0)
        return inspector_refuse(r, 404, "there is no such type");
    atomic_store(&i->events_ns, inspector_now_ns());
    json *list = inspector_array();
    pthread_mutex_lock(&i->lock);
    const struct inspector_events *x = i->events;
    const uint64_t end = x ? x->count : 0, oldest = end > EVENTS_KEPT ? end - EVENTS_KEPT : 0;
    uint64_t first = end, found = 0, after = inspector_parameter_number(r, "after", 0, end);
    if (after < oldest) after = oldest;
    for (; first > after && found < limit; first--)
        found += only.id == 0 || x->rows[(first - 1) % EVENTS_KEPT].type.id == only.id;
    for (uint64_t n = first; n < end; n++)
        if (only.id == 0 || x->rows[n % EVENTS_KEPT].type.id == only.id)
            inspector_append(list, event_json(n, &x->rows[n % EVENTS_KEPT]));
    json *j = inspector_object(), *totals = totals_json(x);
    pthread_mutex_unlock(&i->lock);
    inspector_put(j, "rows", list);
    inspector_put(j, "next", inspector_json_number(end));
    inspector_put(j, "totals", totals);
    return j;
}
