/* The world as a whole: the overview, the timeline, types, tables, systems, spans. */
#include "inspector.h"
#include <stdlib.h>
#include <string.h>

static void put(json_t *j, const char *name, uint64_t number)
{
    json_object_set_new(j, name, inspector_json_number(number));
}

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

static json_t *memory_json(const reef_stats *s)
{
    json_t *m = json_object();
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

json_t *inspector_answer_overview(request *r)
{
    overview o = {.paused = false};
    json_t *j = json_object();
    if (!inspector_order_give(r->i, overview_run, &o)) {
        json_decref(j);
        return inspector_refuse(r, 503, "the program doesn't tick");
    }
    const reef_stats *s = &o.stats;
    char version[32];
    (void)snprintf(version, sizeof version, "%d.%d.%d", REEF_VERSION_MAJOR, REEF_VERSION_MINOR, REEF_VERSION_PATCH);
    json_object_set_new(j, "title", inspector_json_text(r->i->title));
    json_object_set_new(j, "version", json_string(version));
    json_object_set_new(j, "writes", json_boolean(r->i->config.writes));
    json_object_set_new(j, "sql", json_boolean(r->i->config.sql != NULL));
    json_object_set_new(j, "paused", json_boolean(o.paused));
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
    json_object_set_new(j, "memory", memory_json(s));
    json_t *t = json_object();
    put(t, "ticks", o.ticks.ticks);
    put(t, "time_ns", o.ticks.time_ns);
    put(t, "last_ns", o.ticks.last_ns);
    put(t, "longest_ns", o.ticks.longest_ns);
    json_object_set_new(j, "measured", t);
    json_object_set_new(j, "error", o.failed[0] ? inspector_json_text(o.failed) : json_null());
    return j;
}

/* ---- the timeline ---- */

/* Rows from number `first` on, each [tick, tick_ns, entities, gap_ns]; UINT64_MAX: only the newest. *next: the number
 * behind the last one. */
json_t *inspector_ticks_after(reef_inspector *i, uint64_t first, uint64_t most, uint64_t *next)
{
    json_t *list = json_array();
    pthread_mutex_lock(&i->lock);
    const uint64_t end = i->row_count;
    if (first == UINT64_MAX || first > end) first = end ? end - 1 : 0; /* beyond: of another inspector at this port */
    if (first < i->row_first) first = i->row_first;
    if (end > TICKS_SHOWN && first < end - TICKS_SHOWN) first = end - TICKS_SHOWN;
    if (end > most && first < end - most) first = end - most;
    tick_row *rows = first < end ? malloc((end - first) * sizeof *rows) : NULL;
    const uint64_t count = rows ? end - first : 0;
    for (uint64_t n = 0; n < count; n++) rows[n] = i->rows[(first + n) % TICKS_SHOWN];
    pthread_mutex_unlock(&i->lock);
    for (uint64_t n = 0; n < count; n++) {
        json_t *row = json_array();
        json_array_append_new(row, inspector_json_number(rows[n].tick));
        json_array_append_new(row, inspector_json_number(rows[n].tick_ns));
        json_array_append_new(row, inspector_json_number(rows[n].entities));
        json_array_append_new(row, inspector_json_number(rows[n].gap_ns));
        json_array_append_new(list, row);
    }
    free(rows);
    *next = end;
    return list;
}

json_t *inspector_answer_ticks(request *r)
{
    uint64_t next = 0;
    json_t *j = json_object(),
           *list = inspector_ticks_after(r->i, inspector_parameter_number(r, "after", 0, UINT64_MAX / 2),
                                         inspector_parameter_number(r, "limit", 1000, TICKS_SHOWN), &next);
    json_object_set_new(j, "rows", list);
    put(j, "next", next);
    return j;
}

/* The hash of a recorded state. */
json_t *inspector_answer_hash(request *r)
{
    char text[32];
    view v;
    if (!inspector_view_open(r, "at", &v)) return NULL;
    (void)snprintf(text, sizeof text, "%016llx", (unsigned long long)reef_hash(v.world));
    json_t *j = json_object();
    put(j, "tick", v.moment->tick);
    put(j, "time_ns", v.moment->time_ns);
    put(j, "entities", reef_count_alive(v.world));
    json_object_set_new(j, "hash", json_string(text));
    inspector_view_close(r, &v);
    return j;
}

/* ---- types and tables ---- */

/* The names of an enum or bit mask, for lists and check boxes: {"name": "Mood", "mask": false, "values": [["CALM", 0],
 * ...]} */
static json_t *names_json(const reef_names *names)
{
    json_t *j = json_object(), *values = json_array();
    for (uint32_t i = 0; i < names->count; i++) {
        const int64_t value = names->values[i].value;
        json_t *pair = json_array();
        json_array_append_new(pair, inspector_json_text(names->values[i].name));
        json_array_append_new(pair, json_integer(value));
        json_array_append_new(values, pair);
    }
    json_object_set_new(j, "name", inspector_json_text(names->name));
    json_object_set_new(j, "mask", json_boolean(names->mask));
    json_object_set_new(j, "values", values);
    return j;
}

static json_t *field_json(const reef_field *f)
{
    json_t *j = json_object();
    json_object_set_new(j, "name", inspector_json_text(f->name));
    json_object_set_new(j, "kind", json_string(inspector_kind_name(f->kind)));
    put(j, "offset", f->offset);
    put(j, "count", inspector_field_count(f));
    if (f->kind == REEF_CHAR) put(j, "bytes", f->bytes);
    if (f->unit) json_object_set_new(j, "unit", inspector_json_text(f->unit));
    if (f->names) json_object_set_new(j, "names", names_json(f->names));
    if (f->lowest == 0 && f->highest == 0) return j;
    json_object_set_new(j, "lowest", json_real(f->lowest));
    json_object_set_new(j, "highest", json_real(f->highest));
    return j;
}

static json_t *relation_json(uint32_t options)
{
    static const struct {
        uint32_t bit;
        const char *word;
    } words[] = {{REEF_EXCLUSIVE, "exclusive"},       {REEF_SYMMETRIC, "symmetric"}, {REEF_TRANSITIVE, "transitive"},
                 {REEF_REFLEXIVE, "reflexive"},       {REEF_ACYCLIC, "acyclic"},     {REEF_CASCADE, "cascade"},
                 {REEF_KEEPS_TARGET, "keeps target"}, {REEF_GROUPED, "grouped"}};
    json_t *list = json_array();
    for (size_t k = 0; k < sizeof words / sizeof words[0]; k++)
        if (options & words[k].bit) json_array_append_new(list, json_string(words[k].word));
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

json_t *inspector_answer_types(request *r)
{
    view v;
    uint32_t count;
    if (!inspector_view_open(r, "at", &v)) return NULL;
    json_t *j = json_object(), *list = json_array();
    reef_component *types = inspector_types_by_name(&count);
    for (uint32_t i = 0; i < count; i++) {
        reef_type_info t;
        const reef_component type = types[i];
        if (!reef_type_get(type, &t)) continue;
        json_t *one = json_object(), *fields = json_array();
        json_object_set_new(one, "name", inspector_json_text(t.name));
        json_object_set_new(one, "home", json_string(inspector_home_name(t.home)));
        put(one, "size", t.size);
        put(one, "count", reef_count_id(v.world, type));
        for (uint32_t k = 0; k < t.field_count; k++) json_array_append_new(fields, field_json(&t.fields[k]));
        json_object_set_new(one, "fields", fields);
        if (t.base.id) json_object_set_new(one, "base", inspector_json_text(reef_type_name(t.base)));
        if (t.relation) json_object_set_new(one, "relation", relation_json(t.relation));
        if (t.data.id) json_object_set_new(one, "data", inspector_json_text(reef_type_name(t.data)));
        if (t.hooks) json_object_set_new(one, "hooks", json_true());
        json_array_append_new(list, one);
    }
    free(types);
    json_object_set_new(j, "types", list);
    put(j, "tick", v.moment->tick);
    inspector_view_close(r, &v);
    return j;
}

static bool table_visit(void *context, const reef_component *types, uint32_t count, uint64_t rows)
{
    json_t *j = json_object(), *names = json_array();
    uint64_t bytes = sizeof(reef_entity);
    for (uint32_t k = 0; k < count; k++) {
        reef_type_info t;
        if (!reef_type_get(types[k], &t)) continue;
        if (t.home == REEF_TABLE || t.home == REEF_SPLIT) bytes += t.size;
        json_array_append_new(names, inspector_json_text(t.name));
    }
    json_object_set_new(j, "types", names);
    put(j, "rows", rows);
    put(j, "row_bytes", bytes);
    put(j, "bytes", bytes * rows);
    json_array_append_new(context, j);
    return json_array_size(context) < 10000;
}

json_t *inspector_answer_tables(request *r)
{
    view v;
    if (!inspector_view_open(r, "at", &v)) return NULL;
    json_t *j = json_object(), *list = json_array();
    (void)reef_visit_tables(v.world, table_visit, list);
    json_object_set_new(j, "tables", list);
    put(j, "tick", v.moment->tick);
    inspector_view_close(r, &v);
    return j;
}

/* ---- systems ---- */

typedef struct systems {
    const reef_world *world;
    json_t *list, *observers;
    char *text;
} systems;

static const char *touch_word(reef_touch_kind kind)
{
    static const char *const words[] = {"",     "reads",   "writes",  "sends",    "receives", "sums",    "spawns",
                                        "adds", "removes", "enables", "destroys", "names",    "relates", "unrelates"};
    return words[kind];
}

static bool system_visit(void *context, const reef_system_info *s)
{
    systems *x = context;
    const reef_system_stats m = reef_system_measured(x->world, s->system);
    json_t *j = json_object(), *touches = json_array(), *waits = json_array();
    json_object_set_new(j, "name", inspector_json_text(s->name));
    json_object_set_new(j, "phase", inspector_json_text(s->phase));
    if (s->module) json_object_set_new(j, "module", inspector_json_text(s->module));
    json_object_set_new(j, "on", json_boolean(s->on));
    json_object_set_new(j, "split", json_boolean(s->split));
    json_object_set_new(j, "main_thread", json_boolean(s->main_thread));
    put(j, "interval_ns", s->interval_ns);
    for (uint32_t k = 0; k < s->touch_count; k++) {
        json_t *t = json_array();
        json_array_append_new(t, json_string(touch_word(s->touches[k].kind)));
        json_array_append_new(t, s->touches[k].type.id ? inspector_json_text(reef_type_name(s->touches[k].type))
                                                       : json_null());
        json_array_append_new(touches, t);
    }
    for (uint32_t k = 0; k < s->waits_for_count; k++) json_array_append_new(waits, json_integer(s->waits_for[k]));
    json_object_set_new(j, "touches", touches);
    json_object_set_new(j, "waits", waits);
    put(j, "runs", m.runs);
    put(j, "blocks", m.blocks);
    put(j, "rows", m.rows);
    put(j, "time_ns", m.time_ns);
    put(j, "longest_ns", m.longest_ns);
    json_array_append_new(x->list, j);
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
    json_t *j = json_object(), *events = json_array();
    for (size_t k = 0; k < sizeof words / sizeof words[0]; k++)
        if (o->events & words[k].kind) json_array_append_new(events, json_string(words[k].word));
    json_object_set_new(j, "name", inspector_json_text(o->name));
    json_object_set_new(j, "events", events);
    json_object_set_new(j, "type", o->component.id ? inspector_json_text(reef_type_name(o->component)) : json_null());
    json_object_set_new(j, "collected", json_boolean(o->collected));
    json_array_append_new(x->observers, j);
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

json_t *inspector_answer_systems(request *r)
{
    systems x = {.list = json_array(), .observers = json_array()};
    json_t *j = inspector_order_give(r->i, systems_run, &x) ? json_object() : NULL;
    if (j) {
        json_object_set(j, "systems", x.list);
        json_object_set(j, "observers", x.observers);
        json_object_set_new(j, "explain", inspector_json_text(x.text));
    } else {
        (void)inspector_refuse(r, 503, "the program doesn't tick");
    }
    json_decref(x.list);
    json_decref(x.observers);
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

json_t *inspector_answer_spans(request *r)
{
    spans s = {.first = inspector_parameter_number(r, "after", 0, UINT64_MAX / 2), .room = 2000};
    s.span = malloc(s.room * sizeof *s.span);
    json_t *j = s.span && inspector_order_give(r->i, spans_run, &s) ? json_object() : NULL;
    if (j == NULL) (void)inspector_refuse(r, 503, "the program doesn't tick");
    json_t *list = json_array();
    for (uint32_t k = 0; j && k < s.got; k++) {
        const reef_trace_span *x = &s.span[k];
        json_t *one = json_array();
        json_array_append_new(one, inspector_json_text(x->system));
        json_array_append_new(one, json_integer(x->worker));
        json_array_append_new(one, inspector_json_number(x->tick));
        json_array_append_new(one, inspector_json_number(x->begin_ns));
        json_array_append_new(one, inspector_json_number(x->end_ns));
        json_array_append_new(list, one);
    }
    if (j) {
        json_object_set_new(j, "on", json_boolean(s.on));
        json_object_set(j, "spans", list);
        put(j, "next", s.first + s.got);
    }
    json_decref(list);
    free(s.span);
    return j;
}
