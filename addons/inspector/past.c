/* What changed between two states, which system changed it, curves of fields, and when something changed last.
 *
 * Which system: the tick is played on forks of the state before it, with its first system alone, with the first two,
 * and so on. What differs between two neighbours is what the later system did, together with its commands. The last of
 * these states must be the recorded one: if it isn't, the rest was done outside of the systems, or the tick can't be
 * repeated. The forks are played on the simulation's thread, one at each update; comparing is done here. */
#include "inspector.h"
#include "../shared/plain_number.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { CHANGES_MAX = 1000, SYSTEMS_TOLD = 64, KEY_MAX = 1024, COUNTS_MAX = 200 };

static const char *change_word(reef_change_kind kind)
{
    static const char *const words[] = {"", "gone", "born", "name", "removed", "added", "value", "disabled", "enabled"};
    return words[kind];
}

/* ---- one change as JSON ---- */

static json *change_json(const reef_world *before, const reef_world *after, const reef_change *c)
{
    json *j = inspector_object();
    reef_type_info t;
    const char *name = reef_name(after, c->entity) ? reef_name(after, c->entity) : reef_name(before, c->entity);
    inspector_put(j, "kind", inspector_text(change_word(c->kind)));
    inspector_put(j, "id", inspector_json_entity(c->entity));
    if (name) inspector_put(j, "name", inspector_text(name));
    if (c->kind == REEF_CHANGE_NAME) {
        inspector_put(j, "was", inspector_text(c->was));
        inspector_put(j, "is", inspector_text(c->is));
    }
    if (!reef_type_get(c->component, &t)) return j;
    inspector_put(j, "component", inspector_text(t.name));
    if (t.home == REEF_MULTI) inspector_put(j, "number", inspector_integer(c->number));
    if (c->kind != REEF_CHANGE_VALUE) {
        if (c->was) inspector_put(j, "was", inspector_json_value(&t, c->was));
        if (c->is) inspector_put(j, "is", inspector_json_value(&t, c->is));
        return j;
    }
    json *was = t.field_count ? inspector_object() : inspector_json_value(&t, c->was);
    json *is = t.field_count ? inspector_object() : inspector_json_value(&t, c->is);
    for (uint32_t k = 0; k < t.field_count; k++) {
        if (!reef_change_has_field(c, t.fields, k)) continue;
        inspector_put(was, t.fields[k].name, inspector_json_field(&t.fields[k], c->was));
        inspector_put(is, t.fields[k].name, inspector_json_field(&t.fields[k], c->is));
    }
    inspector_put(j, "was", was);
    inspector_put(j, "is", is);
    return j;
}

/* ---- counts by kind and type ---- */

typedef struct tally {
    uint64_t total;
    json *by; /* "value Position": number */
} tally;

static void tally_add(tally *t, const reef_change *c)
{
    char key[REEF_TYPE_NAME_MAX + 16];
    const char *name = c->component.id ? reef_type_name(c->component) : NULL;
    (void)snprintf(key, sizeof key, "%s%s%s", change_word(c->kind), name ? " " : "", name ? name : "");
    json *n = inspector_member(t->by, key);
    t->total++;
    if (n) inspector_integer_set(n, inspector_integer_in(n) + 1);
    else inspector_put(t->by, key, inspector_integer(1));
}

/* ---- equal changes as one group ---- */

/* The changes that an answer lists, and the groups of those of one kind and component: of what is made or destroyed,
 * those of entities with the same components. A group counts all of its changes, and lists the first `each`. */
typedef struct listing {
    json *changes, *groups, *places; /* places: the number of a group, by its key */
    uint64_t limit, each;
} listing;

static listing listing_new(const request *r)
{
    const uint64_t limit = inspector_parameter_number(r, "limit", 200, CHANGES_MAX);
    return (listing){inspector_array(), inspector_array(), inspector_object(), limit,
                     inspector_parameter_number(r, "each", limit, CHANGES_MAX)};
}

static void listing_free(listing *l)
{
    inspector_json_free(l->changes);
    inspector_json_free(l->groups);
    inspector_json_free(l->places);
}

typedef struct group_key {
    char text[KEY_MAX];
    size_t size;
    json *types; /* NULL: only the key is wanted */
} group_key;

static bool group_key_add(void *context, reef_entity e, reef_component type, const void *data, size_t size)
{
    group_key *k = context;
    (void)e, (void)data, (void)size;
    const char *name = reef_type_name(type);
    const int n = snprintf(k->text + k->size, sizeof k->text - k->size, ",%s", name);
    if (n < 0 || (size_t)n >= sizeof k->text - k->size) return false;
    k->size += (size_t)n;
    if (k->types) inspector_append(k->types, inspector_text(name));
    return true;
}

static json *group_new(const reef_world *w, const reef_change *c)
{
    json *g = inspector_object();
    const bool whole = c->kind == REEF_CHANGE_GONE || c->kind == REEF_CHANGE_BORN;
    inspector_put(g, "kind", inspector_text(change_word(c->kind)));
    if (c->component.id) inspector_put(g, "component", inspector_text(reef_type_name(c->component)));
    inspector_put(g, "count", inspector_integer(0));
    group_key k = {.types = whole ? inspector_array() : NULL};
    if (whole) (void)reef_visit_entity(w, c->entity, group_key_add, &k);
    if (whole) inspector_put(g, "types", k.types);
    return g;
}

/* Counts the change. Returns its JSON, which the listing owns; NULL: it isn't listed. */
static json *listing_add(listing *l, const reef_world *before, const reef_world *after, const reef_change *c)
{
    const reef_world *w = c->kind == REEF_CHANGE_GONE ? before : after;
    group_key k = {.types = NULL};
    k.size = (size_t)snprintf(k.text, sizeof k.text, "%d %" PRIu32, (int)c->kind, c->component.id);
    if (c->kind == REEF_CHANGE_GONE || c->kind == REEF_CHANGE_BORN)
        (void)reef_visit_entity(w, c->entity, group_key_add, &k);
    const json *place = inspector_member(l->places, k.text);
    const int64_t number = place ? inspector_integer_in(place) : (int64_t)inspector_json_size(l->groups);
    if (place == NULL) {
        inspector_append(l->groups, group_new(w, c));
        inspector_put(l->places, k.text, inspector_integer(number));
    }
    json *count = inspector_member(inspector_element(l->groups, (size_t)number), "count");
    inspector_integer_set(count, inspector_integer_in(count) + 1);
    if ((uint64_t)inspector_integer_in(count) > l->each || inspector_json_size(l->changes) >= l->limit) return NULL;
    json *j = change_json(before, after, c);
    inspector_put(j, "group", inspector_integer(number));
    inspector_append(l->changes, j);
    return j;
}

/* ---- filters ---- */

typedef struct filter {
    bool by_entity;
    reef_entity entity;
    reef_component component;
} filter;

static bool filter_read(request *r, filter *f)
{
    char text[TEXT_MAX];
    *f = (filter){.by_entity = false};
    if (inspector_parameter(r, "id", text, sizeof text)) {
        f->by_entity = true;
        if (!inspector_entity_of_text(text, &f->entity))
            return inspector_refuse(r, 400, "id: expected an entity such as 7v1"), false;
    }
    if (inspector_parameter(r, "component", text, sizeof text)) {
        f->component = reef_type_find(text);
        if (f->component.id == 0) return inspector_refuse(r, 404, "there is no such type"), false;
    }
    return true;
}

static bool filter_lets(const filter *f, const reef_change *c)
{
    if (f->by_entity && !reef_entity_equal(f->entity, c->entity)) return false;
    return f->component.id == 0 || f->component.id == c->component.id;
}

json *inspector_answer_diff(request *r)
{
    filter f;
    view from, to;
    if (!filter_read(r, &f) || !inspector_view_open(r, "from", &from)) return NULL;
    if (!inspector_view_open(r, "to", &to)) return inspector_view_close(r, &from), NULL;
    tally t = {.by = inspector_object()};
    listing l = listing_new(r);
    json *j = NULL;
    reef_diff *d = reef_diff_new(from.world, to.world);
    for (const reef_change *c; d && (c = reef_diff_next(d)) != NULL;) {
        if (!filter_lets(&f, c)) continue;
        (void)listing_add(&l, from.world, to.world, c);
        tally_add(&t, c);
    }
    if (d) {
        j = inspector_object();
        inspector_put(j, "from", inspector_json_number(from.moment->tick));
        inspector_put(j, "to", inspector_json_number(to.moment->tick));
        inspector_put(j, "total", inspector_json_number(t.total));
        inspector_put(j, "counts", inspector_json_share(t.by));
        inspector_put(j, "groups", inspector_json_share(l.groups));
        inspector_put(j, "changes", inspector_json_share(l.changes));
    }
    reef_diff_free(d);
    listing_free(&l);
    inspector_json_free(t.by);
    inspector_view_close(r, &to);
    inspector_view_close(r, &from);
    return j ? j : inspector_refuse(r, 503, "no memory");
}

/* ---- who ---- */

/* Finds a change again in another comparison: its entity, component, and whether it makes, removes or writes. */
typedef struct change_key {
    reef_entity entity;
    uint32_t component, number, kind;
    json *systems; /* the list of its systems, in its JSON */
} change_key;

typedef struct keys {
    change_key *slot;
    uint32_t mask;
} keys;

/* A value that one system adds and the next one writes is one that was added, in the whole. */
static uint32_t key_kind(reef_change_kind kind)
{
    if (kind == REEF_CHANGE_ADDED || kind == REEF_CHANGE_REMOVED) return REEF_CHANGE_VALUE;
    if (kind == REEF_CHANGE_BORN) return REEF_CHANGE_GONE;
    return kind == REEF_CHANGE_ENABLED ? REEF_CHANGE_DISABLED : kind;
}

static change_key *key_find(const keys *k, const reef_change *c)
{
    uint64_t h = reef_entity_bits(c->entity) * 0x9E3779B97F4A7C15u ^ c->component.id * 0xC2B2AE3D27D4EB4Fu;
    h ^= (uint64_t)key_kind(c->kind) << 17 ^ (uint64_t)c->number << 23;
    for (uint32_t at = (uint32_t)(h >> 32 ^ h) & k->mask;; at = (at + 1) & k->mask) {
        change_key *x = &k->slot[at];
        if (x->systems == NULL) return x;
        if (reef_entity_equal(x->entity, c->entity) && x->component == c->component.id && x->number == c->number &&
            x->kind == key_kind(c->kind))
            return x;
    }
}

typedef struct who {
    keys keys;
    filter filter;
    listing listing;
    json *systems;
    uint64_t total;
    bool exact;
} who;

/* Lists the changes of the whole tick, to which systems are to be found. */
static bool who_begin(who *x, const reef_world *before, const reef_world *after)
{
    reef_diff *d = reef_diff_new(before, after);
    for (const reef_change *c; d && (c = reef_diff_next(d)) != NULL;) {
        if (!filter_lets(&x->filter, c)) continue;
        x->total++;
        json *j = listing_add(&x->listing, before, after, c), *systems = j ? inspector_array() : NULL;
        if (j == NULL) continue;
        inspector_put(j, "by", systems);
        change_key *k = key_find(&x->keys, c);
        if (k->systems == NULL) *k = (change_key){c->entity, c->component.id, c->number, key_kind(c->kind), systems};
    }
    reef_diff_free(d);
    return d != NULL;
}

/* Between two neighbours: what this system did; NULL: the step did it, outside of systems. Returns how much. */
static uint64_t who_compare(who *x, const reef_world *a, const reef_world *b, const char *system)
{
    tally t = {.by = inspector_object()};
    reef_diff *d = reef_diff_new(a, b);
    for (const reef_change *c; d && (c = reef_diff_next(d)) != NULL;) {
        if (!filter_lets(&x->filter, c)) continue;
        tally_add(&t, c);
        const change_key *k = key_find(&x->keys, c);
        if (k->systems && inspector_json_size(k->systems) < SYSTEMS_TOLD)
            inspector_append(k->systems, system ? inspector_text(system) : inspector_null());
    }
    reef_diff_free(d);
    json *one = inspector_object();
    inspector_put(one, "system", system ? inspector_text(system) : inspector_null());
    inspector_put(one, "total", inspector_json_number(t.total));
    inspector_put(one, "counts", t.by);
    if (system || t.total) inspector_append(x->systems, one);
    else inspector_json_free(one);
    return t.total;
}

/* Plays one prefix after the other, first with no system if the program has a step of its own, which may do something
 * before the tick. NULL: all are compared; otherwise why not. */
static const char *who_play(request *r, who *x, const moment *before, const moment *after)
{
    const float dt = inspector_dt(after->time_ns - before->time_ns);
    char system[REEF_SYSTEM_NAME_MAX + 1];
    const char *error = NULL;
    reef_world *a = inspector_moment_fork(before);
    uint32_t count = 1;
    for (uint32_t number = r->i->config.step ? 0 : 1; a && number <= count && error == NULL; number++) {
        moment *m = inspector_prefix(r->i, before, number, dt, system, &count, &error);
        reef_world *b = m && number <= count ? inspector_moment_fork(m) : NULL;
        if (b) (void)who_compare(x, a, b, number ? system : NULL);
        if (b) reef_world_free(a), a = b;
        else if (m && number <= count) error = "no memory";
        inspector_moment_release(r->i, m);
    }
    reef_world *end = error || a == NULL ? NULL : inspector_moment_fork(after);
    if (end) x->exact = who_compare(x, a, end, NULL) == 0;
    else if (error == NULL) error = "no memory";
    reef_world_free(end);
    reef_world_free(a);
    return error;
}

json *inspector_answer_who(request *r)
{
    const uint64_t tick = inspector_parameter_number(r, "tick", 0, UINT64_MAX);
    who x = {.listing = listing_new(r), .systems = inspector_array(), .keys.mask = 4 * 1024 - 1};
    json *j = NULL;
    const char *error = NULL;
    moment *after = tick ? inspector_moment_hold(r->i, MOMENT_TICK, tick) : NULL;
    moment *before = after ? inspector_moment_hold(r->i, MOMENT_TICK, tick - 1) : NULL;
    reef_world *a = NULL, *b = NULL;
    x.keys.slot = calloc(x.keys.mask + 1, sizeof *x.keys.slot);
    if (!filter_read(r, &x.filter)) {
        error = "";
    } else if (!r->i->config.writes) {
        (void)inspector_refuse(r, 403, "systems are played on forks only with writes allowed");
        error = "";
    } else if (before == NULL) {
        (void)inspector_refuse(r, 404, "tick %" PRIu64 " and the one before it must be recorded", tick);
        error = "";
    } else if ((a = inspector_moment_fork(before)) == NULL || (b = inspector_moment_fork(after)) == NULL ||
               x.keys.slot == NULL || !who_begin(&x, a, b)) {
        error = "no memory";
    }
    reef_world_free(a);
    reef_world_free(b);
    if (error == NULL) error = who_play(r, &x, before, after);
    if (error == NULL) {
        j = inspector_object();
        inspector_put(j, "tick", inspector_json_number(tick));
        inspector_put(j, "total", inspector_json_number(x.total));
        inspector_put(j, "exact", inspector_boolean(x.exact));
        inspector_put(j, "systems", inspector_json_share(x.systems));
        inspector_put(j, "groups", inspector_json_share(x.listing.groups));
        inspector_put(j, "changes", inspector_json_share(x.listing.changes));
    } else if (*error) {
        (void)inspector_refuse(r, 503, "%s", error);
    }
    free(x.keys.slot);
    listing_free(&x.listing);
    inspector_json_free(x.systems);
    inspector_moment_release(r->i, before);
    inspector_moment_release(r->i, after);
    return j;
}

/* ---- curves ---- */

typedef struct field_of {
    reef_entity entity;
    reef_component type;
    reef_type_info info;
    const reef_field *field; /* NULL: the whole component */
    uint32_t element;
} field_of;

static bool field_read(request *r, field_of *f)
{
    char text[TEXT_MAX];
    if (!inspector_parameter(r, "id", text, sizeof text) || !inspector_entity_of_text(text, &f->entity))
        return inspector_refuse(r, 400, "id: expected an entity such as 7v1"), false;
    if (!inspector_parameter(r, "component", text, sizeof text))
        return inspector_refuse(r, 400, "expected component"), false;
    f->type = reef_type_find(text);
    if (!reef_type_get(f->type, &f->info)) return inspector_refuse(r, 404, "there is no such type"), false;
    f->field = NULL;
    if (inspector_parameter(r, "field", text, sizeof text) &&
        (f->field = inspector_field_named(&f->info, text)) == NULL)
        return inspector_refuse(r, 404, "there is no such field"), false;
    f->element = (uint32_t)inspector_parameter_number(r, "element", 0, UINT32_MAX);
    return true;
}

/* Copies the value to `room`. False: the entity doesn't have it. */
static bool value_copy(const reef_world *w, const field_of *f, void *room)
{
    if (reef_read_id(w, f->entity, f->type, room, f->info.size)) return true;
    const void *data = reef_get_id(w, f->entity, f->type);
    if (data) memcpy(room, data, f->info.size);
    return data != NULL;
}

/* How many entities match a query in recorded states: in at most COUNTS_MAX of them, evenly spaced up to the newest. */
static json *counts_curve(request *r, const char *text)
{
    uint64_t count, number = 0;
    char why[REEF_DETAIL_MAX];
    bool good = true;
    moment **list = inspector_moments_hold(r->i, inspector_parameter_number(r, "from", 0, UINT64_MAX),
                                           inspector_parameter_number(r, "to", UINT64_MAX, UINT64_MAX), &count);
    const uint64_t step = (count + COUNTS_MAX - 1) / COUNTS_MAX;
    json *points = inspector_array();
    for (uint64_t n = count ? (count - 1) % step : 0; list && n < count && good; n += step) {
        reef_world *w = inspector_moment_fork(list[n]);
        good = w == NULL || inspector_query_count(w, text, &number, why, sizeof why);
        json *point = inspector_array();
        inspector_append(point, inspector_json_number(list[n]->tick));
        inspector_append(point, w ? inspector_json_number(number) : inspector_null());
        inspector_append(points, point);
        reef_world_free(w);
    }
    if (list) inspector_moments_release(r->i, list, count);
    json *j = inspector_object();
    inspector_put(j, "points", points);
    if (good) return j;
    inspector_json_free(j);
    return inspector_refuse(r, 400, "%s", why);
}

/* The value of a field in every recorded state: [[tick, value], ...]; null where the entity doesn't have it. */
json *inspector_answer_curve(request *r)
{
    field_of f;
    uint64_t count;
    char text[TEXT_MAX];
    if (inspector_parameter(r, "q", text, sizeof text)) return counts_curve(r, text);
    if (!field_read(r, &f)) return NULL;
    if (f.field == NULL) return inspector_refuse(r, 400, "expected field");
    char *room = malloc(f.info.size + 1);
    moment **list = inspector_moments_hold(r->i, inspector_parameter_number(r, "from", 0, UINT64_MAX),
                                           inspector_parameter_number(r, "to", UINT64_MAX, UINT64_MAX), &count);
    json *points = inspector_array();
    for (uint64_t n = 0; room && list && n < count; n++) {
        reef_world *w = inspector_moment_fork(list[n]);
        double number;
        json *point = inspector_array(), *value = NULL; /* of NaN and infinities json_real makes nothing */
        inspector_append(point, inspector_json_number(list[n]->tick));
        if (w && value_copy(w, &f, room) && inspector_field_number(f.field, f.element, room, &number))
            value = inspector_real(number);
        inspector_append(point, value ? value : inspector_null());
        inspector_append(points, point);
        reef_world_free(w);
    }
    if (list) inspector_moments_release(r->i, list, count);
    free(room);
    json *j = inspector_object();
    if (f.field->unit) inspector_put(j, "unit", inspector_text(f.field->unit));
    inspector_put(j, "points", points);
    return j;
}

/* ---- when ---- */

/* What is looked for in two neighbouring states: that a field changed, or that a condition became true, which is that a
 * number, of the field or of the entities that match a query, is above or below a bound. */
typedef struct condition {
    field_of field;
    const char *text; /* NULL: the field */
    bool bounded, below;
    double bound;
    char *room[2];
    bool failed;
    char why[REEF_DETAIL_MAX];
} condition;

static bool field_differs(const condition *c, const reef_world *before, const reef_world *now)
{
    const field_of *f = &c->field;
    const bool a = value_copy(before, f, c->room[0]), b = value_copy(now, f, c->room[1]);
    if (a != b || !a) return a != b;
    if (f->field == NULL) return memcmp(c->room[0], c->room[1], f->info.size) != 0;
    const size_t at = f->field->offset,
                 size = f->field->kind == REEF_CHAR ? f->field->bytes : inspector_kind_size(f->field->kind);
    const size_t element = f->field->kind == REEF_CHAR ? 0 : f->element * size;
    return element + size <= f->field->bytes && memcmp(c->room[0] + at + element, c->room[1] + at + element, size) != 0;
}

/* Reads "above" or "below". A query without a bound is a condition that something matches. */
static bool condition_read(request *r, condition *c)
{
    char text[64];
    c->bounded = c->text != NULL;
    c->below = inspector_parameter(r, "below", text, sizeof text);
    if (!c->below && !inspector_parameter(r, "above", text, sizeof text)) return true;
    c->bounded = true;
    if (plain_number_read(text, &c->bound)) return true;
    return inspector_refuse(r, 400, "above, below: expected a number"), false;
}

static bool holds(condition *c, reef_world *w)
{
    uint64_t n = 0;
    double number = 0;
    if (c->text && !inspector_query_count(w, c->text, &n, c->why, sizeof c->why)) return c->failed = true, false;
    if (c->text) number = (double)n;
    else if (!value_copy(w, &c->field, c->room[0]) || c->field.field == NULL ||
             !inspector_field_number(c->field.field, c->field.element, c->room[0], &number))
        return false;
    return c->below ? number < c->bound : number > c->bound;
}

static bool became_true(condition *c, reef_world *before, reef_world *now)
{
    return holds(c, now) && !holds(c, before);
}

/* The last recorded tick up to `before` in which a field changed, or a condition became true. It looks at all of them,
 * newest first: what changes back would be missed by halving. */
json *inspector_answer_when(request *r)
{
    char text[TEXT_MAX];
    condition c = {.text = NULL};
    uint64_t count, found = 0;
    const uint64_t to = inspector_parameter_number(r, "before", UINT64_MAX, UINT64_MAX);
    if (inspector_parameter(r, "q", text, sizeof text)) c.text = text;
    else if (!field_read(r, &c.field)) return NULL;
    if (!condition_read(r, &c)) return NULL;
    for (int k = 0; k < 2; k++) c.room[k] = malloc(c.field.info.size + 1);
    moment **list = inspector_moments_hold(r->i, 0, to, &count);
    reef_world *now = list && count && c.room[0] && c.room[1] ? inspector_moment_fork(list[count - 1]) : NULL;
    for (uint64_t n = count; now && n > 1 && found == 0 && !c.failed; n--) {
        reef_world *before = inspector_moment_fork(list[n - 2]);
        if (before && (c.bounded ? became_true(&c, before, now) : field_differs(&c, before, now))) found = n;
        reef_world_free(now);
        now = before;
    }
    reef_world_free(now);
    json *j = inspector_object();
    inspector_put(j, "tick", found ? inspector_json_number(list[found - 1]->tick) : inspector_null());
    inspector_put(j, "oldest", count ? inspector_json_number(list[0]->tick) : inspector_null());
    if (list) inspector_moments_release(r->i, list, count);
    free(c.room[0]);
    free(c.room[1]);
    if (!c.failed) return j;
    inspector_json_free(j);
    return inspector_refuse(r, 400, "%s", c.why);
}
