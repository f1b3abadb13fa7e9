/* The world as a whole: the overview, the timeline, types, tables, systems, spans. */
#include "inspector.h"
#include <stdlib.h>
#include <string.h>

static void put(json *j, const char *name, uint64_t number) { inspector_put(j, name, inspector_json_number(number)); }

/* ---- the overview ---- */

typedef struct overview {
    reef_stats stats;
    reef_tick_stats ticks;
    reef_error error;
    bool paused;
    uint32_t threads;
    uint64_t tick, time_ns;
    char failed[256];
} overview;

static void overview_run(reef_inspector *i, void *data)
{
    overview *o = data;
    o->stats = reef_world_stats(i->world);
    o->ticks = reef_tick_measured(i->world);
    o->paused = reef_is_paused(i->world) || i->paused;
    o->threads = reef_pool_threads(reef_world_pool(i->world));
    o->tick = reef_tick_count(i->world);
    o->time_ns = reef_time_ns(i->world);
    o->error = reef_last_error(i->world);
    if (o->error.status < 0) (void)reef_error_text(i->world, o->failed, sizeof o->failed);
}

static json *memory_json(const reef_stats *s)
{
    json *m = inspector_object();
    put(m, "total", s->bytes_total);
    put(m, "rows", s->bytes_rows);
    put(m, "index", s->bytes_index);
    put(m, "tables", s->bytes_tables);
    put(m, "names", s->bytes_names);
    put(m, "bits", s->bytes_bits);
    put(m, "hashes", s->bytes_hashes);
    put(m, "tracks", s->bytes_tracks);
    put(m, "events", s->bytes_events);
    put(m, "stores", s->bytes_stores);
    put(m, "spare", s->bytes_spare);
    return m;
}

json *inspector_answer_overview(request *r)
{
    overview o = {.paused = false};
    json *j = inspector_object();
    if (!inspector_order_give(r->i, overview_run, &o)) {
        inspector_json_free(j);
        return inspector_refuse(r, 503, "the program doesn't tick");
    }
    const reef_stats *s = &o.stats;
    char version[32];
    (void)snprintf(version, sizeof version, "%d.%d.%d", REEF_VERSION_MAJOR, REEF_VERSION_MINOR, REEF_VERSION_PATCH);
    inspector_put(j, "title", inspector_text(r->i->title));
    inspector_put(j, "version", inspector_text(version));
    inspector_put(j, "writes", inspector_boolean(r->i->config.writes));
    inspector_put(j, "sql", inspector_boolean(r->i->config.sql != NULL));
    inspector_put(j, "paused", inspector_boolean(o.paused));
    put(j, "tick", o.tick);
    put(j, "time_ns", o.time_ns);
    put(j, "threads", o.threads);
    put(j, "entities", s->entities);
    put(j, "entities_empty", s->entities_empty);
    put(j, "indices", s->indices);
    put(j, "free_ids", s->free_ids);
    put(j, "tables", s->tables);
    put(j, "blocks", s->blocks);
    put(j, "types", s->types);
    put(j, "names", s->names);
    put(j, "events", s->events);
    put(j, "values", s->values);
    put(j, "spawned", s->spawned);
    put(j, "destroyed", s->destroyed);
    put(j, "moved", s->moved);
    inspector_put(j, "memory", memory_json(s));
    json *t = inspector_object();
    put(t, "ticks", o.ticks.ticks);
    put(t, "time_ns", o.ticks.time_ns);
    put(t, "last_ns", o.ticks.last_ns);
    put(t, "longest_ns", o.ticks.longest_ns);
    inspector_put(j, "measured", t);
    inspector_put(j, "error", o.failed[0] ? inspector_text(o.failed) : inspector_null());
    return j;
}

/* ---- the timeline ---- */

/* Rows from number `first` on, each [tick, tick_ns, entities, gap_ns]; UINT64_MAX: only the newest. *next: the number
 * behind the last one. */
json *inspector_ticks_after(reef_inspector *i, uint64_t first, uint64_t most, uint64_t *next)
{
    json *list = inspector_array();
    pthread_mutex_lock(&i->lock);
    const uint64_t end = i->row_count;
    if (first == UINT64_MAX || first > end) first = end ? end - 1 : 0; /* beyond: of another inspector at this port */
    if (first < i->row_first) first = i->row_first;
    if (end > TICKS_SHOWN && first < end - TICKS_SHOWN) first = end - TICKS_SHOWN;
    if (end > most && first < end - most) first = end - most;
    tick_row *rows = first < end ? malloc((size_t)(end - first) * sizeof *rows) : NULL;
    const uint64_t count = rows ? end - first : 0;
    for (uint64_t n = 0; n < count; n++) rows[n] = i->rows[(first + n) % TICKS_SHOWN];
    pthread_mutex_unlock(&i->lock);
    for (uint64_t n = 0; n < count; n++) {
        json *row = inspector_array();
        inspector_append(row, inspector_json_number(rows[n].tick));
        inspector_append(row, inspector_json_number(rows[n].tick_ns));
        inspector_append(row, inspector_json_number(rows[n].entities));
        inspector_append(row, inspector_json_number(rows[n].gap_ns));
        inspector_append(list, row);
    }
    free(rows);
    *next = end;
    return list;
}

json *inspector_answer_ticks(request *r)
{
    uint64_t next = 0;
    json *j = inspector_object(),
         *list = inspector_ticks_after(r->i, inspector_parameter_number(r, "after", 0, UINT64_MAX / 2),
                                       inspector_parameter_number(r, "limit", 1000, TICKS_SHOWN), &next);
    inspector_put(j, "rows", list);
    put(j, "next", next);
    return j;
}

/* The hash of a recorded state. */
json *inspector_answer_hash(request *r)
{
    char text[32];
    view v;
    if (!inspector_view_open(r, "at", &v)) return NULL;
    (void)snprintf(text, sizeof text, "%016llx", (unsigned long long)reef_hash(v.world));
    json *j = inspector_object();
    put(j, "tick", v.moment->tick);
    put(j, "time_ns", v.moment->time_ns);
    put(j, "entities", reef_count_alive(v.world));
    inspector_put(j, "hash", inspector_text(text));
    inspector_view_close(r, &v);
    return j;
}

/* ---- types and tables ---- */

/* The names of an enum or bit mask, for lists and check boxes: {"name": "Mood", "mask": false, "values": [["CALM", 0],
 * ...]} */
static json *names_json(const reef_names *names)
{
    json *j = inspector_object(), *values = inspector_array();
    for (uint32_t i = 0; i < names->count; i++) {
        const int64_t value = names->values[i].value;
        json *pair = inspector_array();
        inspector_append(pair, inspector_text(names->values[i].name));
        inspector_append(pair, inspector_integer(value));
        inspector_append(values, pair);
    }
    inspector_put(j, "name", inspector_text(names->name));
    inspector_put(j, "mask", inspector_boolean(names->mask));
    inspector_put(j, "values", values);
    return j;
}

static json *field_json(const reef_field *f)
{
    json *j = inspector_object();
    inspector_put(j, "name", inspector_text(f->name));
    inspector_put(j, "kind", inspector_text(inspector_kind_name(f->kind)));
    put(j, "offset", f->offset);
    put(j, "count", inspector_field_count(f));
    if (f->kind == REEF_CHAR) put(j, "bytes", f->bytes);
    if (f->unit) inspector_put(j, "unit", inspector_text(f->unit));
    if (f->names) inspector_put(j, "names", names_json(f->names));
    if (f->lowest == 0 && f->highest == 0) return j;
    inspector_put(j, "lowest", inspector_real(f->lowest));
    inspector_put(j, "highest", inspector_real(f->highest));
    return j;
}

static json *relation_json(uint32_t options)
{
    static const struct {
        uint32_t bit;
        const char *word;
    } words[] = {{REEF_EXCLUSIVE, "exclusive"},       {REEF_SYMMETRIC, "symmetric"}, {REEF_TRANSITIVE, "transitive"},
                 {REEF_REFLEXIVE, "reflexive"},       {REEF_ACYCLIC, "acyclic"},     {REEF_CASCADE, "cascade"},
                 {REEF_KEEPS_TARGET, "keeps target"}, {REEF_GROUPED, "grouped"}};
    json *list = inspector_array();
    for (size_t k = 0; k < sizeof words / sizeof words[0]; k++)
        if (options & words[k].bit) inspector_append(list, inspector_text(words[k].word));
    return list;
}

static int types_compare(const void *a, const void *b)
{
    const reef_component *x = a, *y = b;
    return strcmp(reef_type_name(*x), reef_type_name(*y));
}

reef_component *inspector_types_by_name(uint32_t *count)
{
    const uint32_t n = reef_type_count();
    reef_component *types = malloc((n + 1) * sizeof *types);
    *count = 0;
    for (uint32_t id = 1; types && id <= n; id++)
        if (reef_type_name((reef_component){id})) types[(*count)++] = (reef_component){id};
    if (types) qsort(types, *count, sizeof *types, types_compare);
    return types;
}

json *inspector_answer_types(request *r)
{
    view v;
    uint32_t count;
    if (!inspector_view_open(r, "at", &v)) return NULL;
    json *j = inspector_object(), *list = inspector_array();
    reef_component *types = inspector_types_by_name(&count);
    for (uint32_t i = 0; i < count; i++) {
        reef_type_info t;
        const reef_component type = types[i];
        if (!reef_type_get(type, &t)) continue;
        json *one = inspector_object(), *fields = inspector_array();
        inspector_put(one, "name", inspector_text(t.name));
        inspector_put(one, "home", inspector_text(inspector_home_name(t.home)));
        put(one, "size", t.size);
        put(one, "count", reef_count_id(v.world, type));
        for (uint32_t k = 0; k < t.field_count; k++) inspector_append(fields, field_json(&t.fields[k]));
        inspector_put(one, "fields", fields);
        if (t.base.id) inspector_put(one, "base", inspector_text(reef_type_name(t.base)));
        if (t.relation) inspector_put(one, "relation", relation_json(t.relation));
        if (t.data.id) inspector_put(one, "data", inspector_text(reef_type_name(t.data)));
        if (t.hooks) inspector_put(one, "hooks", inspector_boolean(true));
        inspector_append(list, one);
    }
    free(types);
    inspector_put(j, "types", list);
    put(j, "tick", v.moment->tick);
    inspector_view_close(r, &v);
    return j;
}

static bool table_visit(void *context, const reef_component *types, uint32_t count, uint64_t rows)
{
    json *j = inspector_object(), *names = inspector_array();
    uint64_t bytes = sizeof(reef_entity);
    for (uint32_t k = 0; k < count; k++) {
        reef_type_info t;
        if (!reef_type_get(types[k], &t)) continue;
        if (t.home == REEF_TABLE || t.home == REEF_SPLIT) bytes += t.size;
        inspector_append(names, inspector_text(t.name));
    }
    inspector_put(j, "types", names);
    put(j, "rows", rows);
    put(j, "row_bytes", bytes);
    put(j, "bytes", bytes * rows);
    inspector_append(context, j);
    return inspector_json_size(context) < 10000;
}

json *inspector_answer_tables(request *r)
{
    view v;
    if (!inspector_view_open(r, "at", &v)) return NULL;
    json *j = inspector_object(), *list = inspector_array();
    (void)reef_visit_tables(v.world, table_visit, list);
    inspector_put(j, "tables", list);
    put(j, "tick", v.moment->tick);
    inspector_view_close(r, &v);
    return j;
}

/* ---- systems ---- */

typedef struct systems {
    const reef_world *world;
    json *list, *observers;
    char *text;
} systems;

static const char *touch_word(reef_touch_kind kind)
{
    static const char *const words[] = {"",         "reads",  "writes",  "sends",     "receives",
                                        "sums",     "spawns", "adds",    "removes",   "enables",
                                        "destroys", "names",  "relates", "unrelates", "places"};
    return words[kind];
}

static bool system_visit(void *context, const reef_system_info *s)
{
    systems *x = context;
    const reef_system_stats m = reef_system_measured(x->world, s->system);
    json *j = inspector_object(), *touches = inspector_array(), *waits = inspector_array();
    inspector_put(j, "name", inspector_text(s->name));
    inspector_put(j, "phase", inspector_text(s->phase));
    if (s->module) inspector_put(j, "module", inspector_text(s->module));
    inspector_put(j, "on", inspector_boolean(s->on));
    inspector_put(j, "split", inspector_boolean(s->split));
    inspector_put(j, "main_thread", inspector_boolean(s->main_thread));
    put(j, "interval_ns", s->interval_ns);
    for (uint32_t k = 0; k < s->touch_count; k++) {
        json *t = inspector_array();
        inspector_append(t, inspector_text(touch_word(s->touches[k].kind)));
        inspector_append(t,
                         s->touches[k].type.id ? inspector_text(reef_type_name(s->touches[k].type)) : inspector_null());
        inspector_append(touches, t);
    }
    for (uint32_t k = 0; k < s->waits_for_count; k++) inspector_append(waits, inspector_integer(s->waits_for[k]));
    inspector_put(j, "touches", touches);
    inspector_put(j, "waits", waits);
    put(j, "runs", m.runs);
    put(j, "blocks", m.blocks);
    put(j, "rows", m.rows);
    put(j, "time_ns", m.time_ns);
    put(j, "longest_ns", m.longest_ns);
    inspector_append(x->list, j);
    return true;
}

static bool observer_visit(void *context, const reef_observer_info *o)
{
    static const struct {
        reef_observed kind;
        const char *word;
    } words[] = {{REEF_ON_ADD, "add"},         {REEF_ON_SET, "set"},     {REEF_ON_REMOVE, "remove"},
                 {REEF_ON_DESTROY, "destroy"}, {REEF_ON_MATCH, "match"}, {REEF_ON_UNMATCH, "unmatch"}};
    systems *x = context;
    json *j = inspector_object(), *events = inspector_array();
    for (size_t k = 0; k < sizeof words / sizeof words[0]; k++)
        if (o->events & words[k].kind) inspector_append(events, inspector_text(words[k].word));
    inspector_put(j, "name", inspector_text(o->name));
    inspector_put(j, "events", events);
    inspector_put(j, "type", o->component.id ? inspector_text(reef_type_name(o->component)) : inspector_null());
    inspector_put(j, "collected", inspector_boolean(o->collected));
    inspector_append(x->observers, j);
    return true;
}

static void systems_run(reef_inspector *i, void *data)
{
    systems *x = data;
    x->world = i->world;
    (void)reef_visit_systems(i->world, system_visit, x);
    (void)reef_visit_observers(i->world, observer_visit, x);
    const size_t size = reef_schedule_explain(i->world, REEF_EXPLAIN_TEXT, NULL, 0) + 1;
    x->text = size < 1 << 20 ? malloc(size) : NULL;
    if (x->text) (void)reef_schedule_explain(i->world, REEF_EXPLAIN_TEXT, x->text, size);
}

json *inspector_answer_systems(request *r)
{
    systems x = {.list = inspector_array(), .observers = inspector_array()};
    json *j = inspector_order_give(r->i, systems_run, &x) ? inspector_object() : NULL;
    if (j) {
        inspector_put(j, "systems", inspector_json_share(x.list));
        inspector_put(j, "observers", inspector_json_share(x.observers));
        inspector_put(j, "explain", inspector_text(x.text));
    } else {
        (void)inspector_refuse(r, 503, "the program doesn't tick");
    }
    inspector_json_free(x.list);
    inspector_json_free(x.observers);
    free(x.text);
    return j;
}

/* ---- spans ---- */

typedef struct spans {
    uint64_t first, count;
    reef_trace_span *span;
    uint32_t got, room;
    bool on;
} spans;

static void spans_run(reef_inspector *i, void *data)
{
    spans *s = data;
    s->on = i->spans != NULL;
    s->count = reef_trace_count(i->spans);
    if (s->first + s->room < s->count) s->first = s->count - s->room; /* the newest */
    s->got = reef_trace_read(i->spans, s->first, s->span, s->room);
    s->first = s->count - s->got;
}

json *inspector_answer_spans(request *r)
{
    spans s = {.first = inspector_parameter_number(r, "after", 0, UINT64_MAX / 2), .room = 2000};
    s.span = malloc(s.room * sizeof *s.span);
    json *j = s.span && inspector_order_give(r->i, spans_run, &s) ? inspector_object() : NULL;
    if (j == NULL) (void)inspector_refuse(r, 503, "the program doesn't tick");
    json *list = inspector_array();
    for (uint32_t k = 0; j && k < s.got; k++) {
        const reef_trace_span *x = &s.span[k];
        json *one = inspector_array();
        inspector_append(one, inspector_text(x->system));
        inspector_append(one, inspector_integer(x->worker));
        inspector_append(one, inspector_json_number(x->tick));
        inspector_append(one, inspector_json_number(x->begin_ns));
        inspector_append(one, inspector_json_number(x->end_ns));
        inspector_append(list, one);
    }
    if (j) {
        inspector_put(j, "on", inspector_boolean(s.on));
        inspector_put(j, "spans", inspector_json_share(list));
        put(j, "next", s.first + s.got);
    }
    inspector_json_free(list);
    free(s.span);
    return j;
}

/* ---- what recording takes ---- */

enum { TRIALS = 3 };

static void trials_order(reef_inspector *i, void *data)
{
    (void)data;
    pthread_mutex_lock(&i->lock);
    i->trials = TRIALS;
    i->trial_rate = 0;
    pthread_mutex_unlock(&i->lock);
}

static void held_order(reef_inspector *i, void *data) { *(uint64_t *)data = inspector_bytes_held(i->world); }

/* How many bytes a recorded tick takes: measured in the next ticks, or what the recording has measured. Rate is null if
 * the program doesn't tick. */
json *inspector_answer_recording(request *r)
{
    reef_inspector *i = r->i;
    const uint64_t until = inspector_patience_end(i);
    uint64_t used = 0;
    pthread_mutex_lock(&i->lock);
    bool known = i->records && i->record_rate;
    const bool tries = !known && !i->paused && !i->alone;
    pthread_mutex_unlock(&i->lock);
    if (!inspector_order_give(i, held_order, &used) || (tries && !inspector_order_give(i, trials_order, NULL)))
        return inspector_refuse(r, 503, "the program doesn't tick");
    json *j = inspector_object();
    pthread_mutex_lock(&i->lock);
    while (tries && i->trials && !atomic_load(&i->ending) && inspector_wait_until(&i->told, &i->lock, until)) continue;
    const uint64_t rate = known ? i->record_rate : i->trial_rate;
    known |= tries && i->trials < TRIALS;
    i->trials = 0;
    inspector_put(j, "rate", known ? inspector_json_number(rate) : inspector_null());
    inspector_put(j, "used", inspector_json_number(used));
    inspector_put(j, "bound", inspector_json_number(i->config.record_bytes));
    inspector_put(j, "room", inspector_integer(i->config.record_ticks));
    pthread_mutex_unlock(&i->lock);
    return j;
}
