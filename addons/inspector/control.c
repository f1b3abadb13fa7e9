/* What the page does with the world: pausing, stepping a tick or a system, recording, going back, editing. All of it
 * happens on the simulation's thread, between two ticks, as an order.
 *
 * A system is stepped on a fork: the state before the tick is forked, all later systems are switched off, and the tick
 * is played. So the program's own world never stands in the middle of a tick. */
#include "inspector.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- stepping a system ---- */

typedef struct naming {
    uint32_t number, count;
    char name[REEF_SYSTEM_NAME_MAX + 1]; /* of system `number`, from 1 */
} naming;

static bool system_count(void *context, const reef_system_info *s)
{
    naming *n = context;
    if (!s->on) return true;
    if (++n->count == n->number) memcpy(n->name, s->name, strlen(s->name) + 1);
    return true;
}

/* Plays the tick behind a moment with the first `number` of its systems that are on. NULL: *error says why. */
static moment *prefix_play(reef_inspector *i, const moment *from, uint32_t number, float dt, naming *names,
                           const char **error)
{
    reef_world *w = reef_snapshot_fork(from->snapshot);
    *names = (naming){.number = number};
    *error = w ? NULL : "no memory";
    if (w == NULL) return NULL;
    (void)reef_visit_systems(w, system_count, names);
    for (uint32_t k = number; k < names->count && *error == NULL; k++) {
        naming later = {.number = number + 1}; /* the next one that is still on */
        (void)reef_visit_systems(w, system_count, &later);
        if (reef_system_enable(w, reef_system_find(w, later.name), false) < 0) *error = "no memory";
    }
    if (*error == NULL && inspector_play(i, w, dt) < 0) *error = "the tick failed on a fork";
    moment *m = *error ? NULL : inspector_moment_take(i, w);
    if (*error == NULL && m == NULL) *error = "the fork can't be copied";
    reef_world_free(w);
    return m;
}

void inspector_step_clear(reef_inspector *i)
{
    pthread_mutex_lock(&i->lock);
    i->step_number = i->step_count = 0;
    i->step_system[0] = 0;
    pthread_mutex_unlock(&i->lock);
    inspector_moment_put(i, MOMENT_STEP, NULL);
    inspector_moment_put(i, MOMENT_STEP_BEFORE, NULL);
}

static void step_system(reef_inspector *i, control *c)
{
    naming names;
    const uint32_t number = i->step_number + 1;
    moment *base = inspector_moment_take(i, i->world), *m = NULL;
    if (base == NULL) c->error = "the world can't be copied";
    else m = prefix_play(i, base, number, inspector_dt(i->dt_ns), &names, &c->error);
    if (m == NULL) {
        inspector_moment_release(i, base);
        return;
    }
    if (number > names.count) { /* all have run: the tick is played */
        inspector_moment_release(i, m);
        inspector_moment_release(i, base);
        inspector_step_clear(i);
        i->free_ticks++;
        inspector_put(c->answer, "done", inspector_boolean(true));
        return;
    }
    if (number == 1) {
        inspector_moment_put(i, MOMENT_STEP_BEFORE, base);
    } else {
        moment *was = inspector_moment_hold(i, MOMENT_STEP, 0);
        inspector_moment_put(i, MOMENT_STEP_BEFORE, was);
        inspector_moment_release(i, base);
    }
    inspector_moment_put(i, MOMENT_STEP, m);
    pthread_mutex_lock(&i->lock);
    i->step_number = number;
    i->step_count = names.count;
    memcpy(i->step_system, names.name, sizeof i->step_system);
    pthread_mutex_unlock(&i->lock);
    inspector_put(c->answer, "system", inspector_text(names.name));
    inspector_put(c->answer, "number", inspector_integer(number));
    inspector_put(c->answer, "count", inspector_integer(names.count));
}

typedef struct prefix {
    const moment *from;
    uint32_t number;
    float dt;
    naming names;
    const char *error;
    moment *made;
} prefix;

static void prefix_run(reef_inspector *i, void *data)
{
    prefix *p = data;
    p->made = prefix_play(i, p->from, p->number, p->dt, &p->names, &p->error);
}

moment *inspector_prefix(reef_inspector *i, const moment *from, uint32_t number, float dt, char *system,
                         uint32_t *count, const char **error)
{
    prefix p = {.from = from, .number = number, .dt = dt};
    if (!inspector_order_give(i, prefix_run, &p)) p.error = "the program doesn't tick";
    if (system) memcpy(system, p.names.name, sizeof p.names.name);
    *count = p.names.count;
    *error = p.error;
    return p.made;
}

/* ---- time ---- */

/* The world isn't the newest moment any more. If states are recorded, this one takes the place of that of its tick. */
void inspector_world_changed(reef_inspector *i)
{
    pthread_mutex_lock(&i->lock);
    moment *was = i->newest;
    i->newest = NULL;
    i->serial++;
    const bool records = i->records;
    i->wants_moment |= records;
    pthread_mutex_unlock(&i->lock);
    inspector_moment_release(i, was);
    if (records) inspector_hand_over(i, false); /* before the order is answered */
}

static void restore(reef_inspector *i, uint64_t tick, control *c)
{
    moment *m = inspector_moment_hold(i, MOMENT_TICK, tick);
    if (m == NULL) {
        c->error = "this state isn't kept";
        return;
    }
    if (reef_time_owner(i->world)) c->error = "the time of this world belongs to another owner, such as a session";
    else if (reef_restore(i->world, m->snapshot) < 0) c->error = "restoring failed";
    inspector_moment_release(i, m);
    inspector_record_cut(i, tick + 1); /* what was recorded behind it belongs to another future */
    i->ended_ns = 0;                   /* no time passed in the program */
    inspector_note(i, inspector_now_ns(), reef_tick_count(i->world));
    inspector_world_changed(i);
}

static void trace_switch(reef_inspector *i, bool on, control *c)
{
    if (on && i->spans == NULL) i->spans = reef_trace_new(i->world, SPANS_KEPT);
    if (on && i->spans == NULL) c->error = "no memory for spans";
    if (!on) {
        reef_trace_free(i->spans);
        i->spans = NULL;
    }
    pthread_mutex_lock(&i->lock);
    i->traces = i->spans != NULL;
    pthread_mutex_unlock(&i->lock);
}

/* What the stream of events tells is written under the lock. */
static void hold_set(reef_inspector *i, bool paused, uint32_t free_ticks)
{
    pthread_mutex_lock(&i->lock);
    i->paused = paused;
    i->free_ticks = free_ticks;
    pthread_mutex_unlock(&i->lock);
    if (!paused || free_ticks || i->config.waits || i->alone || i->paused_by_us) return;
    i->paused_by_us = true; /* before the order is answered */
    reef_pause(i->world, true);
}

static void speed_set(reef_inspector *i, double speed)
{
    pthread_mutex_lock(&i->lock);
    i->speed = speed >= 0.01 && speed <= 100 ? speed : 1;
    i->speed_left = 0;
    pthread_mutex_unlock(&i->lock);
}

static void record_set(reef_inspector *i, bool records)
{
    pthread_mutex_lock(&i->lock);
    i->records = records;
    i->wants_moment |= records;
    pthread_mutex_unlock(&i->lock);
}

static void record_bound_set(reef_inspector *i, int64_t bytes, control *c)
{
    if (bytes < 1) {
        c->error = "a bound is a number of bytes";
        return;
    }
    pthread_mutex_lock(&i->lock);
    i->config.record_bytes = (uint64_t)bytes;
    pthread_mutex_unlock(&i->lock);
}

static void step(reef_inspector *i, const json *step, control *c)
{
    const char *what = inspector_text_in(step);
    const int64_t ticks = inspector_integer_in(step);
    if (what && strcmp(what, "system") == 0) {
        hold_set(i, true, i->free_ticks);
        step_system(i, c);
    } else if (inspector_is_integer(step) && ticks >= 1 && ticks <= STEPS_MAX) {
        inspector_step_clear(i);
        hold_set(i, true, i->free_ticks + (uint32_t)ticks);
    } else {
        c->error = "a step is a number of ticks, 1 ... 1000, or \"system\"";
    }
}

void inspector_control_run(reef_inspector *i, void *data)
{
    control *c = data;
    const json *pause = inspector_member(c->asked, "pause"), *steps = inspector_member(c->asked, "step"),
               *speed = inspector_member(c->asked, "speed"), *record = inspector_member(c->asked, "record"),
               *trace = inspector_member(c->asked, "trace"), *bytes = inspector_member(c->asked, "bytes"),
               *back = inspector_member(c->asked, "restore");
    if (inspector_is_boolean(pause)) {
        hold_set(i, inspector_is_true(pause), 0);
        inspector_step_clear(i);
    }
    if (inspector_is_number(speed)) speed_set(i, inspector_number_in(speed));
    if (inspector_is_integer(bytes)) record_bound_set(i, inspector_integer_in(bytes), c);
    if (inspector_is_boolean(record)) record_set(i, inspector_is_true(record));
    if (inspector_is_boolean(trace)) trace_switch(i, inspector_is_true(trace), c);
    if (inspector_is_integer(back)) {
        inspector_step_clear(i);
        restore(i, (uint64_t)inspector_integer_in(back), c);
    }
    if (steps) step(i, steps, c);
}

json *inspector_answer_control(request *r)
{
    static const char *const all[] = {"pause", "step", "speed", "restore", "record", "trace", "bytes"};
    if (!inspector_is_object(r->body)) return inspector_refuse(r, 400, "expected an object");
    for (size_t n = 0; n < inspector_json_size(r->body); n++) {
        const char *key = inspector_member_name(r->body, n);
        bool known = false;
        for (size_t k = 0; k < sizeof all / sizeof all[0]; k++)
            known |= strcmp(key, all[k]) == 0 && (r->i->config.writes || k >= 4);
        if (!known) return inspector_refuse(r, r->i->config.writes ? 400 : 403, "\"%.40s\" isn't allowed here", key);
    }
    control c = {.asked = r->body, .answer = inspector_object()};
    if (!inspector_order_give(r->i, inspector_control_run, &c)) c.error = "the program doesn't tick";
    if (c.error == NULL) return c.answer;
    inspector_json_free(c.answer);
    return inspector_refuse(r, strcmp(c.error, "the program doesn't tick") == 0 ? 503 : 409, "%s", c.error);
}

/* ---- editing ---- */

static bool edit_wrong(char *why, const char *text, const char *name)
{
    (void)snprintf(why, REEF_DETAIL_MAX, name ? "%s: %.60s" : "%s", text, name);
    return false;
}

static bool edit_failed(reef_world *w, reef_status s, char *why)
{
    if (s >= 0) return true;
    (void)reef_error_text(w, why, REEF_DETAIL_MAX);
    if (why[0] == 0) (void)snprintf(why, REEF_DETAIL_MAX, "%s", reef_status_text(s));
    return false;
}

/* Takes the number of a value, or of an element; 0, where the edit names none. */
static bool edit_number(const json *edit, const char *name, uint32_t *number)
{
    const json *j = inspector_member(edit, name);
    const int64_t n = inspector_integer_in(j);
    *number = (uint32_t)n;
    return j == NULL || (inspector_is_integer(j) && n >= 0 && n <= UINT32_MAX);
}

/* Changes one field of a component that is there. */
static bool edit_field(reef_world *w, reef_entity e, reef_component type, const reef_type_info *t, const json *edit,
                       char *why)
{
    const char *name = inspector_text_in(inspector_member(edit, "field"));
    const reef_field *f = name ? inspector_field_named(t, name) : NULL;
    uint32_t at, which;
    if (f == NULL) return edit_wrong(why, "there is no such field", name);
    if (t->relation && f->offset < sizeof(reef_entity) + sizeof(uint64_t))
        return edit_wrong(why, "a relation's target is changed by relating", name);
    if (t->size > REEF_SPLIT_SIZE_MAX * 16) return edit_wrong(why, "the value is too large to be edited", t->name);
    if (!edit_number(edit, "element", &at)) return edit_wrong(why, "element: expected a number from 0 on", NULL);
    if (!edit_number(edit, "number", &which)) return edit_wrong(why, "number: expected a number from 0 on", NULL);
    if (t->home == REEF_MULTI) {
        uint32_t n = 0;
        char *values = reef_mut_all_id(w, e, type, &n);
        if (values == NULL || which >= n) return edit_wrong(why, "there is no such value", t->name);
        return inspector_field_set(f, at, inspector_member(edit, "value"), values + (size_t)which * t->size, why);
    }
    if (t->hooks && (t->hooks->copy || t->hooks->destroy)) {
        void *value = reef_mut_id(w, e, type);
        if (value == NULL) return edit_failed(w, reef_last_error(w).status, why);
        return inspector_field_set(f, at, inspector_member(edit, "value"), value, why);
    }
    _Alignas(64) char room[REEF_SPLIT_SIZE_MAX * 16];
    if (!reef_read_id(w, e, type, room, t->size)) return edit_wrong(why, "the entity doesn't have it", t->name);
    if (!inspector_field_set(f, at, inspector_member(edit, "value"), room, why)) return false;
    return edit_failed(w, reef_set_id(w, e, type, room, t->size), why);
}

static bool edit_relation(reef_world *w, reef_entity e, reef_component type, const char *what, const json *edit,
                          char *why)
{
    reef_entity target = {0, 0};
    const char *text = inspector_text_in(inspector_member(edit, "target"));
    if (text == NULL || !inspector_entity_of_text(text, &target))
        return edit_wrong(why, "expected a target such as 7v1", text);
    if (strcmp(what, "relate") == 0) return edit_failed(w, reef_relate_id(w, e, type, target, NULL, 0), why);
    return edit_failed(w, reef_unrelate_id(w, e, type, target), why);
}

/* Destroys everything that a query matches. */
static bool edit_destroy_all(reef_world *w, const char *text, char *why)
{
    const reef_query q = reef_query_make(w, &(reef_query_desc){.text = text, .own = true});
    if (reef_query_is_null(q)) return edit_failed(w, reef_last_error(w).status, why);
    const reef_status s = reef_destroy_where(w, q, NULL);
    (void)reef_query_free(w, q);
    return edit_failed(w, s, why);
}

/* Names and queries are texts up to their first zero, so one with a zero in it would be taken for another one. */
static bool edit_zeros(const json *edit)
{
    for (size_t k = 0; k < inspector_json_size(edit); k++) {
        const char *name = inspector_member_name(edit, k);
        const char *text = name && strcmp(name, "value") != 0 ? inspector_text_in(inspector_member(edit, name)) : NULL;
        if (text && strlen(text) < inspector_text_size(inspector_member(edit, name))) return true;
    }
    return false;
}

static bool edit_rename(reef_world *w, reef_entity e, const json *to, char *why)
{
    if (!inspector_is_text(to) && !inspector_is_null(to))
        return edit_wrong(why, "name: expected a text, or null", NULL);
    return edit_failed(w, reef_set_name(w, e, inspector_text_in(to)), why);
}

static bool edit_enable(reef_world *w, reef_entity e, reef_component type, const json *on, char *why)
{
    if (!inspector_is_boolean(on)) return edit_wrong(why, "on: expected true or false", NULL);
    return edit_failed(w, reef_enable_id(w, e, type, inspector_is_true(on)), why);
}

static bool edit_apply(reef_world *w, const json *edit, char *why)
{
    const char *what = inspector_text_in(inspector_member(edit, "do"));
    const char *who = inspector_text_in(inspector_member(edit, "entity"));
    const char *name = inspector_text_in(inspector_member(edit, "component"));
    const char *query = inspector_text_in(inspector_member(edit, "query"));
    const json *on = inspector_member(edit, "on");
    reef_entity e;
    reef_type_info t;
    if (what == NULL) return edit_wrong(why, "expected \"do\"", NULL);
    if (edit_zeros(edit)) return edit_wrong(why, "there is a zero in a text", NULL);
    if (strcmp(what, "spawn") == 0)
        return edit_failed(w, reef_entity_is_null(reef_create(w)) ? REEF_NO_MEMORY : REEF_OK, why);
    if (inspector_member(edit, "query") && query == NULL) return edit_wrong(why, "query: expected a text", NULL);
    if (strcmp(what, "destroy") == 0 && query) return edit_destroy_all(w, query, why);
    if (who == NULL || !inspector_entity_of_text(who, &e))
        return edit_wrong(why, "expected an entity such as 7v1", who);
    if (!reef_is_alive(w, e)) return edit_wrong(why, "the entity isn't alive", who);
    if (strcmp(what, "destroy") == 0) return edit_failed(w, reef_destroy(w, e), why);
    if (strcmp(what, "name") == 0) return edit_rename(w, e, inspector_member(edit, "name"), why);
    if (strcmp(what, "enable") == 0 && inspector_member(edit, "component") == NULL)
        return edit_enable(w, e, (reef_component){0}, on, why);
    const reef_component type = name ? reef_type_find(name) : (reef_component){0};
    if (!reef_type_get(type, &t)) return edit_wrong(why, "there is no such type", name);
    if (strcmp(what, "set") == 0) return edit_field(w, e, type, &t, edit, why);
    if (strcmp(what, "add") == 0) return edit_failed(w, reef_add_id(w, e, type, NULL, NULL), why);
    if (strcmp(what, "remove") == 0) return edit_failed(w, reef_remove_id(w, e, type), why);
    if (strcmp(what, "enable") == 0) return edit_enable(w, e, type, on, why);
    if (strcmp(what, "relate") == 0 || strcmp(what, "unrelate") == 0) return edit_relation(w, e, type, what, edit, why);
    return edit_wrong(why, "unknown edit", what);
}

size_t inspector_edits_apply(reef_world *w, const json *edits, char *why)
{
    size_t k = 0;
    why[0] = 0;
    if (reef_time_owner(w)) {
        (void)snprintf(why, REEF_DETAIL_MAX, "the time of this world belongs to %s", reef_time_owner(w));
        return 0;
    }
    for (; k < inspector_json_size(edits); k++)
        if (!edit_apply(w, inspector_element(edits, k), why)) return k;
    return k;
}

/* All of it, or nothing: the world is set back if one of the edits fails. */
void inspector_edit_run(reef_inspector *i, void *data)
{
    control *c = data;
    char why[REEF_DETAIL_MAX];
    reef_snapshot *before = reef_snapshot_take(i->world);
    if (before == NULL) {
        c->error = "the world can't be copied";
        return;
    }
    const size_t done = inspector_edits_apply(i->world, c->asked, why);
    if (done < inspector_json_size(c->asked)) {
        (void)reef_restore(i->world, before);
        inspector_put(c->answer, "why", inspector_text(why));
        inspector_put(c->answer, "edit", inspector_integer((int64_t)done));
        c->error = "refused";
    }
    reef_snapshot_free(before);
    inspector_step_clear(i);
    inspector_world_changed(i);
}

json *inspector_answer_edit(request *r)
{
    control c = {.asked = r->body, .answer = inspector_object()};
    if (!inspector_is_array(r->body)) c.error = "expected an array of edits";
    else if (!inspector_order_give(r->i, inspector_edit_run, &c)) c.error = "the program doesn't tick";
    if (c.error == NULL)
        return inspector_put(c.answer, "done", inspector_integer((int64_t)inspector_json_size(r->body))), c.answer;
    const char *why = inspector_text_in(inspector_member(c.answer, "why"));
    const int status = strcmp(c.error, "the program doesn't tick") == 0 ? 503 : 400;
    if (why)
        (void)inspector_refuse(r, status, "edit %d: %s", (int)inspector_integer_in(inspector_member(c.answer, "edit")),
                               why);
    else (void)inspector_refuse(r, status, "%s", c.error);
    inspector_json_free(c.answer);
    return NULL;
}
