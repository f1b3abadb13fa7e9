/* Entities: lists that match a query, one with all it has, the tree of a relation. */
#include "inspector.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { TYPES_OF_ROW = 64, TYPES_OF_TARGET = 12, SHOWN_MAX = 16, SOURCES_SHOWN = 200 };

const char *inspector_entity_label(const reef_world *w, reef_entity e, char *text, size_t size)
{
    const char *name = reef_name(w, e);
    if (name) (void)snprintf(text, size, "%s", name);
    else (void)snprintf(text, size, "%" PRIu32 "v%" PRIu32, e.index, e.generation);
    return text;
}

/* ---- values of one entity ---- */

static bool type_name_add(void *context, reef_entity e, reef_component type, const void *data, size_t size)
{
    json *list = context;
    (void)e, (void)data, (void)size;
    inspector_append(list, inspector_text(reef_type_name(type)));
    return inspector_json_size(list) < TYPES_OF_TARGET;
}

/* A relation's target, with what tells a reader which one it is: its path, else its name, else what it consists of. */
static json *target_json(const reef_world *w, reef_entity e)
{
    char path[4 * REEF_NAME_MAX];
    json *j = inspector_object();
    inspector_put(j, "id", inspector_json_entity(e));
    const size_t length = reef_path(w, e, path, sizeof path);
    if (length && length < sizeof path) {
        inspector_put(j, "label", inspector_text(path));
    } else if (reef_name(w, e)) {
        inspector_put(j, "label", inspector_text(reef_name(w, e)));
    } else {
        json *types = inspector_array();
        (void)reef_visit_entity(w, e, type_name_add, types);
        inspector_put(j, "types", types);
    }
    return j;
}

typedef struct seen {
    const reef_world *world;
    json *components; /* a list */
    reef_component last;
    bool values;
    uint32_t left;
} seen;

static json *type_json(const reef_world *w, reef_entity e, reef_component type, const reef_type_info *t)
{
    json *c = inspector_object();
    inspector_put(c, "type", inspector_text(t->name));
    inspector_put(c, "home", inspector_text(inspector_home_name(t->home)));
    if (!reef_is_enabled_id(w, e, type)) inspector_put(c, "disabled", inspector_boolean(true));
    if (t->relation) inspector_put(c, "relation", inspector_boolean(true));
    return c;
}

static bool see_component(void *context, reef_entity e, reef_component type, const void *data, size_t size)
{
    seen *s = context;
    reef_type_info t;
    (void)size;
    if (!reef_type_get(type, &t)) return true;
    const bool more = s->last.id == type.id; /* one more value of a type in REEF_MULTI */
    s->last = type;
    if (!s->values) {
        if (!more) inspector_append(s->components, inspector_text(t.name));
        return true;
    }
    json *c = more ? inspector_element(s->components, inspector_json_size(s->components) - 1)
                   : type_json(s->world, e, type, &t);
    if (!more) inspector_append(s->components, c);
    if (data == NULL) return true;
    json *list = inspector_member(c, "values");
    if (list == NULL) inspector_put(c, "values", list = inspector_array());
    if (inspector_json_size(list) < SOURCES_SHOWN) inspector_append(list, inspector_json_value(&t, data));
    if (t.relation == 0 || inspector_json_size(list) >= SOURCES_SHOWN) return true;
    reef_entity target; /* a relation's value begins with it */
    memcpy(&target, data, sizeof target);
    json *targets = inspector_member(c, "targets");
    if (targets == NULL) inspector_put(c, "targets", targets = inspector_array());
    inspector_append(targets, target_json(s->world, target));
    return true;
}

/* ---- rows ---- */

typedef struct shown {
    reef_component type[SHOWN_MAX];
    uint32_t count;
} shown;

/* Reads "Position,Velocity". */
static void shown_read(const request *r, shown *s)
{
    char text[TEXT_MAX];
    s->count = 0;
    if (!inspector_parameter(r, "show", text, sizeof text)) return;
    for (char *at = text, *end; *at && s->count < SHOWN_MAX; at = end) {
        end = at + strcspn(at, ",");
        if (*end) *end++ = 0;
        const reef_component c = reef_type_find(at);
        if (c.id) s->type[s->count++] = c;
    }
}

static bool copy_value(void *context, reef_entity e, reef_component type, const void *data, size_t size)
{
    json **v = context;
    reef_type_info t;
    (void)e, (void)size;
    if (*v == NULL && data && reef_type_get(type, &t)) *v = inspector_json_value(&t, data);
    return *v == NULL;
}

typedef struct wanted {
    reef_component type;
    json *value;
} wanted;

static bool find_value(void *context, reef_entity e, reef_component type, const void *data, size_t size)
{
    wanted *x = context;
    return type.id != x->type.id || copy_value(&x->value, e, type, data, size);
}

static json *value_of(const reef_world *w, reef_entity e, reef_component type)
{
    reef_type_info t;
    const void *data = reef_get_id(w, e, type);
    if (data && reef_type_get(type, &t)) return inspector_json_value(&t, data);
    if (!reef_has_id(w, e, type)) return NULL;
    wanted x = {type, NULL}; /* of a type in REEF_SPLIT or REEF_MULTI */
    (void)reef_visit_entity(w, e, find_value, &x);
    return x.value ? x.value : inspector_boolean(true);
}

/* The name of the template whose copy this is, for copies without a name of their own; NULL. */
static const char *template_name(const reef_world *w, reef_entity e)
{
    const reef_component instance = reef_type_find("InstanceOf");
    return instance.id ? reef_name(w, reef_target_id(w, e, instance)) : NULL;
}

static json *row_json(const reef_world *w, reef_entity e, const shown *s)
{
    json *row = inspector_object(), *types = inspector_array();
    seen x = {.world = w, .components = types};
    inspector_put(row, "id", inspector_json_entity(e));
    const char *name = reef_name(w, e), *of = name ? NULL : template_name(w, e);
    if (name) inspector_put(row, "name", inspector_text(name));
    if (of) inspector_put(row, "of", inspector_text(of));
    (void)reef_visit_entity(w, e, see_component, &x);
    inspector_put(row, "types", types);
    if (!reef_is_enabled(w, e)) inspector_put(row, "disabled", inspector_boolean(true));
    if (s->count == 0) return row;
    json *values = inspector_object();
    for (uint32_t i = 0; i < s->count; i++) {
        json *v = value_of(w, e, s->type[i]);
        if (v) inspector_put(values, reef_type_name(s->type[i]), v);
    }
    inspector_put(row, "values", values);
    return row;
}

typedef struct page_of {
    const reef_world *world;
    const shown *shown;
    const char *part; /* names must contain it; NULL: any entity will do */
    json *rows;
    uint64_t skip, limit, total, most; /* most: where counting ends */
} page_of;

static bool page_visit(void *context, reef_entity e, reef_component type, const void *data, size_t size)
{
    page_of *p = context;
    (void)type, (void)data, (void)size;
    if (p->part) {
        const char *name = reef_name(p->world, e);
        if (name == NULL || strstr(name, p->part) == NULL) return true;
    }
    if (p->total++ >= p->skip && inspector_json_size(p->rows) < p->limit)
        inspector_append(p->rows, row_json(p->world, e, p->shown));
    return p->total < p->most;
}

static void query_error(request *r, reef_world *w)
{
    const reef_error e = reef_last_error(w);
    char text[256];
    (void)reef_error_text(w, text, sizeof text);
    (void)inspector_refuse(r, 400, "column %" PRIu64 ": %s", e.number, e.detail[0] ? e.detail : text);
}

/* The rows of a query from p->skip on: tables and blocks before it are skipped by their counts. */
static void rows_list(reef_world *w, reef_query q, page_of *p)
{
    const reef_loop loop = {.offset = p->skip, .limit = p->limit};
    p->total = reef_query_count(w, q);
    if (p->skip >= p->total) return;
    for (reef_block b = reef_begin_loop(w, q, &loop); reef_next(&b);) {
        const uint64_t *mask = reef_block_mask(&b);
        for (uint32_t i = 0; i < b.count; i++)
            if (mask == NULL || (mask[i / 64] >> i % 64 & 1))
                inspector_append(p->rows, row_json(w, b.entities[i], p->shown));
    }
}

/* Rows that match a query's text. False: it is refused. */
static bool rows_of_query(request *r, reef_world *w, const char *text, page_of *p)
{
    const reef_query q = reef_query_make(w, &(reef_query_desc){.text = text, .own = true});
    if (reef_query_is_null(q)) return query_error(r, w), false;
    rows_list(w, q, p);
    return true;
}

typedef struct bare {
    page_of page;
    reef_world *world;
    reef_query query;
} bare;

static bool bare_visit(void *context, reef_entity e, reef_component type, const void *data, size_t size)
{
    bare *x = context;
    return reef_query_matches(x->world, x->query, e) || page_visit(&x->page, e, type, data, size);
}

/* All entities: first those that have something, in the order of a query, then those without anything, which no query
 * finds. */
static bool rows_of_all(request *r, reef_world *w, page_of *p)
{
    const reef_query q = reef_query_make(
        w, &(reef_query_desc){.text = "?ReefPrefab", .entities = REEF_EITHER, .own = true}); /* prefabs too */
    if (reef_query_is_null(q)) return query_error(r, w), false;
    rows_list(w, q, p);
    const uint64_t with = p->total, got = inspector_json_size(p->rows);
    p->total = reef_count_alive(w);
    if (p->total == with || got == p->limit) return true;
    bare x = {*p, w, q};
    x.page.skip = p->skip > with ? p->skip - with : 0;
    x.page.total = 0;
    x.page.most = x.page.skip + p->limit - got;
    (void)reef_visit_entities(w, bare_visit, &x);
    return true;
}

/* "7v1" is that entity; a text in quotes is a part of names; everything else is a query. */
json *inspector_answer_entities(request *r)
{
    char text[TEXT_MAX] = "";
    shown s;
    view v;
    if (inspector_parameter(r, "q", text, sizeof text) == false && strstr(r->query, "q="))
        return inspector_refuse(r, 400, "the query is too long");
    if (!inspector_view_open(r, "at", &v)) return NULL;
    shown_read(r, &s);
    page_of p = {.world = v.world,
                 .shown = &s,
                 .rows = inspector_array(),
                 .skip = inspector_parameter_number(r, "offset", 0, UINT64_MAX / 2),
                 .limit = inspector_parameter_number(r, "limit", 100, ROWS_MAX),
                 .most = UINT64_MAX};
    reef_entity e;
    bool good = true;
    if (inspector_entity_of_text(text, &e)) {
        if (reef_is_alive(v.world, e)) (void)page_visit(&p, e, (reef_component){0}, NULL, 0);
    } else if (text[0] == '"') {
        text[strcspn(text + 1, "\"") + 1] = 0;
        p.part = text + 1;
        (void)reef_visit_entities(v.world, page_visit, &p);
    } else if (text[strspn(text, " ")] == 0) {
        good = rows_of_all(r, v.world, &p);
    } else {
        good = rows_of_query(r, v.world, text, &p);
    }
    json *j = good ? inspector_object() : NULL;
    if (j) {
        inspector_put(j, "total", inspector_json_number(p.total));
        inspector_put(j, "offset", inspector_json_number(p.skip));
        inspector_put(j, "tick", inspector_json_number(v.moment->tick));
        inspector_put(j, "rows", inspector_json_share(p.rows));
    }
    inspector_json_free(p.rows);
    inspector_view_close(r, &v);
    return j;
}

/* ---- one entity ---- */

/* For each relation type: who is related to this entity. */
static json *sources_json(const reef_world *w, reef_entity e)
{
    json *list = inspector_array();
    char label[REEF_NAME_MAX + 1];
    uint32_t type_count;
    reef_component *types = inspector_types_by_name(&type_count);
    for (uint32_t i = 0; i < type_count; i++) {
        reef_type_info t;
        const reef_component type = types[i];
        if (!reef_type_get(type, &t) || t.relation == 0) continue;
        const uint64_t count = reef_source_count_id(w, e, type);
        if (count == 0) continue;
        json *one = inspector_object(), *sources = inspector_array();
        for (reef_sources s = reef_sources_of_id(w, e, type); reef_sources_next(&s);) {
            for (uint32_t k = 0; k < s.count && inspector_json_size(sources) < SOURCES_SHOWN; k++) {
                json *pair = inspector_array();
                inspector_append(pair, inspector_json_entity(s.sources[k]));
                inspector_append(pair, inspector_text(inspector_entity_label(w, s.sources[k], label, sizeof label)));
                inspector_append(sources, pair);
            }
            if (inspector_json_size(sources) >= SOURCES_SHOWN) break;
        }
        inspector_put(one, "type", inspector_text(t.name));
        inspector_put(one, "count", inspector_json_number(count));
        inspector_put(one, "sources", sources);
        inspector_append(list, one);
    }
    free(types);
    return list;
}

/* Of an entity that was destroyed since the page listed it, the newest recorded state is shown. True: there is one. */
static bool turn_to_last_life(request *r, view *v, reef_entity e)
{
    moment *m = inspector_moment_of_living(r->i, e);
    reef_world *w = m ? inspector_moment_fork(m) : NULL;
    if (w == NULL) return inspector_moment_release(r->i, m), false;
    inspector_view_close(r, v);
    *v = (view){m, w};
    return true;
}

static json *entity_json(const reef_world *w, reef_entity e, uint64_t tick)
{
    seen x = {.world = w, .components = inspector_array(), .values = true};
    (void)reef_visit_entity(w, e, see_component, &x);
    json *j = inspector_object();
    inspector_put(j, "id", inspector_json_entity(e));
    inspector_put(j, "name", inspector_text(reef_name(w, e)));
    inspector_put(j, "tick", inspector_json_number(tick));
    inspector_put(j, "enabled", inspector_boolean(reef_is_enabled(w, e)));
    inspector_put(j, "components", x.components);
    inspector_put(j, "sources", sources_json(w, e));
    return j;
}

json *inspector_answer_entity(request *r)
{
    char text[TEXT_MAX], at[32];
    reef_entity e;
    view v;
    if (!inspector_parameter(r, "id", text, sizeof text)) return inspector_refuse(r, 400, "expected id");
    if (!inspector_view_open(r, "at", &v)) return NULL;
    json *j = NULL;
    const bool single = strcmp(text, "singletons") == 0,
               now = !inspector_parameter(r, "at", at, sizeof at) || strcmp(at, "now") == 0;
    if (single) e = reef_single_entity(v.world);
    else if (!inspector_entity_of_text(text, &e)) e = reef_find(v.world, text);
    const bool lives = reef_is_alive(v.world, e);
    const bool lived = !lives && now && !reef_entity_is_null(e) && turn_to_last_life(r, &v, e);
    if (single && reef_entity_is_null(e)) {
        j = inspector_object(); /* there are none */
        inspector_put(j, "id", inspector_null());
        inspector_put(j, "components", inspector_array());
        inspector_put(j, "sources", inspector_array());
    } else if (!lives && !lived) {
        (void)inspector_refuse(r, 404, "no living entity has this id or name");
    } else {
        j = entity_json(v.world, e, v.moment->tick);
        if (lived) inspector_put(j, "gone", inspector_boolean(true));
    }
    inspector_view_close(r, &v);
    return j;
}

/* ---- queries ---- */

bool inspector_query_count(reef_world *w, const char *text, uint64_t *count, char *why, size_t size)
{
    const reef_query q = reef_query_make(w, &(reef_query_desc){.text = text, .own = true});
    if (reef_query_is_null(q)) {
        const reef_error e = reef_last_error(w);
        if (e.detail[0]) (void)snprintf(why, size, "column %" PRIu64 ": %s", e.number, e.detail);
        else (void)reef_error_text(w, why, size);
        return false;
    }
    *count = reef_query_count(w, q);
    (void)reef_query_free(w, q);
    return true;
}

json *inspector_answer_explain(request *r)
{
    char text[TEXT_MAX] = "";
    view v;
    if (!inspector_parameter(r, "q", text, sizeof text))
        return inspector_refuse(r, 400, "expected q, at most %d bytes", TEXT_MAX - 1);
    if (!inspector_view_open(r, "at", &v)) return NULL;
    const reef_query q = reef_query_make(v.world, &(reef_query_desc){.text = text, .own = true});
    json *j = inspector_object();
    if (reef_query_is_null(q)) {
        const reef_error e = reef_last_error(v.world);
        char why[256];
        (void)reef_error_text(v.world, why, sizeof why);
        inspector_put(j, "good", inspector_boolean(false));
        inspector_put(j, "column", inspector_json_number(e.number));
        inspector_put(j, "error", inspector_text(e.detail[0] ? e.detail : why));
    } else {
        const size_t size = reef_query_explain(v.world, q, NULL, 0) + 1, room = size < 65536 ? size : 65536;
        char *plan = malloc(room);
        if (plan) (void)reef_query_explain(v.world, q, plan, room);
        inspector_put(j, "good", inspector_boolean(true));
        inspector_put(j, "count", inspector_json_number(reef_query_count(v.world, q)));
        inspector_put(j, "explain", inspector_text(plan));
        free(plan);
    }
    inspector_put(j, "tick", inspector_json_number(v.moment->tick));
    inspector_view_close(r, &v);
    return j;
}

/* ---- the tree of a relation ---- */

typedef struct roots {
    const reef_world *world;
    reef_component type;
    json *rows;
    uint64_t skip, limit, total;
} roots;

static json *node_json(const reef_world *w, reef_entity e, reef_component type)
{
    json *row = inspector_object();
    char label[REEF_NAME_MAX + 1];
    inspector_put(row, "id", inspector_json_entity(e));
    inspector_put(row, "label", inspector_text(inspector_entity_label(w, e, label, sizeof label)));
    if (reef_name(w, e) == NULL) {
        json *types = inspector_array();
        (void)reef_visit_entity(w, e, type_name_add, types);
        inspector_put(row, "types", types);
    }
    inspector_put(row, "children", inspector_json_number(reef_source_count_id(w, e, type)));
    return row;
}

static bool root_visit(void *context, reef_entity e, reef_component type, const void *data, size_t size)
{
    roots *x = context;
    (void)type, (void)data, (void)size;
    if (reef_source_count_id(x->world, e, x->type) == 0) return true;
    if (!reef_entity_is_null(reef_target_id(x->world, e, x->type))) return true;
    if (x->total++ >= x->skip && inspector_json_size(x->rows) < x->limit)
        inspector_append(x->rows, node_json(x->world, e, x->type));
    return true;
}

static void children_list(roots *x, reef_entity parent)
{
    x->total = reef_source_count_id(x->world, parent, x->type);
    uint64_t n = 0;
    for (reef_sources s = reef_sources_of_id(x->world, parent, x->type); reef_sources_next(&s);) {
        for (uint32_t k = 0; k < s.count; k++, n++)
            if (n >= x->skip && inspector_json_size(x->rows) < x->limit)
                inspector_append(x->rows, node_json(x->world, s.sources[k], x->type));
        if (inspector_json_size(x->rows) >= x->limit) return;
    }
}

/* The sources of an entity in their order; without a parent, the entities that have sources but no target. */
json *inspector_answer_tree(request *r)
{
    char name[REEF_TYPE_NAME_MAX + 1], parent[TEXT_MAX];
    reef_type_info t;
    view v;
    if (!inspector_parameter(r, "relation", name, sizeof name)) strcpy(name, "ChildOf");
    const reef_component type = reef_type_find(name);
    if (!reef_type_get(type, &t) || t.relation == 0)
        return inspector_refuse(r, 404, "there is no relation type of this name");
    if (!inspector_view_open(r, "at", &v)) return NULL;
    roots x = {.world = v.world,
               .type = type,
               .rows = inspector_array(),
               .skip = inspector_parameter_number(r, "offset", 0, UINT64_MAX / 2),
               .limit = inspector_parameter_number(r, "limit", 200, ROWS_MAX)};
    reef_entity e = {0, 0};
    if (!inspector_parameter(r, "parent", parent, sizeof parent)) (void)reef_visit_entities(v.world, root_visit, &x);
    else if (inspector_entity_of_text(parent, &e)) children_list(&x, e);
    json *j = inspector_object();
    inspector_put(j, "total", inspector_json_number(x.total));
    inspector_put(j, "rows", x.rows);
    inspector_put(j, "tick", inspector_json_number(v.moment->tick));
    inspector_view_close(r, &v);
    return j;
}
