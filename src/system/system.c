/* One system. Its description is read, checked, and brought into a form that can be compared with other systems: a
 * sorted list of the types that the system uses. */
#include "system/system.h"
#include "base/byte_hash.h"
#include "base/kept_text.h"
#include "type/code.h"
#include "storage/error.h"
#include "storage/known_types.h"
#include "storage/place_calls.h"
#include "query/query.h"
#include "query/value_term.h"
#include "system/schedule.h"
#include "system/system_text.h"
#include "reef/system.h"
#include <stdio.h>

/* A system while it is made. */
typedef struct system_draft {
    reef_world *world;
    const char *op;
    const reef_system_desc *desc;
    /* the text, and what the struct declares; for the latter, columns are numbers of terms and touches */
    system_text text;
    term_facts facts[REEF_TERMS_MAX];
    struct access access[REEF_TERMS_MAX + REEF_TOUCHES_MAX * REEF_SPLIT_FIELDS_MAX];
    uint32_t access_count;
    split_reason unsplit;
    reef_component unsplit_type;
} system_draft;

static COLD bool refuse_system(const system_draft *d, reef_status status, reef_component c, uint64_t number)
{
    reef__failure(d->world, status, d->op, c, (reef_entity){0, 0}, number);
    return false;
}

static COLD bool refuse_detail(const system_draft *d, reef_status status, uint64_t number, const char *detail)
{
    reef__failure_detail(d->world, status, d->op, number, detail);
    return false;
}

/* ---- names ---- */

COLD bool reef__system_name_allowed(const char *name)
{
    size_t length = 0;
    if (name == NULL) return false;
    for (; name[length]; length++) {
        const unsigned char c = (unsigned char)name[length];
        if (c <= ' ' || c == 127 || c == ';' || c == ',' || c == '"' || c == '\'' || length == REEF_SYSTEM_NAME_MAX)
            return false;
    }
    return length != 0;
}

COLD bool reef__system_refuse_name(reef_world *w, const char *op, const char *what)
{
    char detail[REEF_DETAIL_MAX];
    snprintf(detail, sizeof detail, "%s's name must have 1 to %d bytes, no spaces, commas, semicolons or quotes", what,
             REEF_SYSTEM_NAME_MAX);
    reef__failure_detail(w, REEF_BAD_ARGUMENT, op, 0, detail);
    return false;
}

/* ---- reading ---- */

static COLD bool draft_query(system_draft *d)
{
    char detail[REEF_DETAIL_MAX];
    const reef_system_desc *desc = d->desc;
    memset(&d->text, 0, sizeof d->text);
    if (desc->text) {
        const reef_status s = reef__system_text_parse(d->world, desc->text, &d->text, detail, sizeof detail);
        if (s != REEF_OK) return refuse_detail(d, s, d->text.at, detail);
    }
    if (desc->query) {
        if (d->text.has_query)
            return refuse_detail(d, REEF_BAD_ARGUMENT, 0, "it has a query in `text` and another one in `query`");
        if (!reef__query_read(d->world, d->op, desc->query, &d->text.query)) return false;
        d->text.has_query = true;
    }
    if (!d->text.has_query) return true;
    if (!reef__query_check(d->world, d->op, &d->text.query, d->facts)) return false;
    /* nothing that isn't part of the state may decide what a tick does */
    for (uint32_t i = 0; i < d->text.query.count; i++)
        if (d->facts[i].near)
            return refuse_detail(d, REEF_BAD_ARGUMENT, 0,
                                 "a system's query has no 'near': it asks reef_placed, for each of its rows");
    const char *why;
    if (reef__variables_check(&d->text.query, d->facts, false, &why) != REEF_TERMS_MAX)
        return refuse_detail(d, REEF_BAD_ARGUMENT, 0,
                             "a system's query binds no variable by its value: it asks reef_indexed, for its rows");
    return !reef__conditions_vary(d->text.query.term, d->text.query.count) ||
           refuse_detail(d, REEF_BAD_ARGUMENT, 0, "a system's query has no parameters: it compares with what it reads");
}

/* The touches of the struct come after those of the text. */
static COLD bool draft_touches(system_draft *d)
{
    for (uint32_t i = 0; i < REEF_TOUCHES_MAX && d->desc->touches[i].kind != 0; i++) {
        const reef_touch t = d->desc->touches[i];
        if ((uint32_t)t.kind > REEF_PLACED)
            return refuse_detail(d, REEF_BAD_ARGUMENT, i + 1, "a member isn't of its enumeration");
        if (d->text.count == REEF_TOUCHES_MAX) return refuse_system(d, REEF_LIMIT, t.type, i + 1);
        d->text.touch[d->text.count] = t;
        d->text.column[d->text.count++] = i + 1;
    }
    return true;
}

static COLD bool refuse_touch(const system_draft *d, reef_touch t, uint32_t number, const char *why)
{
    const type *x = reef__type_of(t.type.id);
    char detail[REEF_DETAIL_MAX];
    snprintf(detail, sizeof detail, "%s %.40s%s: %s", reef__touch_word(t.kind), x->name,
             strlen(x->name) > 40 ? "..." : "", why);
    return refuse_detail(d, REEF_BAD_ARGUMENT, number, detail);
}

/* Events and parts of sums are copied and dropped as bytes, so their types must allow that. */
static COLD bool check_bytes(const system_draft *d, reef_touch t, uint32_t number)
{
    const type *x = reef__type_of(t.type.id);
    const char *why = x->hooks.copy || x->hooks.move || x->hooks.destroy ? "its values can't be copied as bytes"
                      : t.kind == REEF_SUMS && x->size == 0              ? "it has no data"
                      : t.kind == REEF_SUMS && x->split                  ? "it is split by field"
                                                                         : NULL;
    return why == NULL || refuse_touch(d, t, number, why);
}

/* Has the type a place? */
static COLD bool check_placed(const system_draft *d, reef_touch t, uint32_t number)
{
    place_reads reads;
    const char *why = reef__places_by ? reef__places_by->reads(t.type.id, &reads) : "no type has a place";
    return why == NULL || refuse_touch(d, t, number, why);
}

static COLD bool check_touch(const system_draft *d, uint32_t i)
{
    const reef_touch t = d->text.touch[i];
    const uint32_t number = d->text.column[i];
    const touch_type takes = reef__touch_takes(t.kind);
    const bool typed = t.type.id != 0;
    if (typed && takes == TOUCH_PLAIN) return refuse_touch(d, t, number, "this names no component");
    if (!typed && takes == TOUCH_TYPED)
        return refuse_detail(d, REEF_BAD_ARGUMENT, number, "this names a component, which is missing");
    const reef_status s = typed ? reef__type_ready(d->world, t.type.id) : REEF_OK;
    if (s != REEF_OK) return refuse_system(d, s, t.type, number);
    const bool relates = t.kind == REEF_RELATES || t.kind == REEF_UNRELATES;
    if (relates && typed && reef__type_of(t.type.id)->relation == 0)
        return refuse_touch(d, t, number, "it is no type of relations");
    for (uint32_t j = 0; j < i; j++) {
        const reef_touch *u = &d->text.touch[j];
        if (u->kind == t.kind && u->type.id == t.type.id) return refuse_system(d, REEF_DUPLICATE_TERM, t.type, number);
        if (u->kind == REEF_SUMS && t.kind == REEF_SUMS)
            return refuse_detail(d, REEF_BAD_ARGUMENT, number,
                                 "a system sums one type: a second one needs another system");
    }
    if (t.kind == REEF_SUMS && d->desc->combine == NULL)
        return refuse_detail(d, REEF_BAD_ARGUMENT, number,
                             "a system that sums needs `combine`, which adds up the parts");
    if ((t.kind == REEF_WRITES || t.kind == REEF_SUMS) && typed && reef__type_of(t.type.id)->hooks.unique)
        return refuse_touch(d, t, number, "its unique field is written by calls and commands only");
    if (t.kind == REEF_PLACED && !check_placed(d, t, number)) return false;
    return (t.kind != REEF_SENDS && t.kind != REEF_RECEIVES && t.kind != REEF_SUMS) || check_bytes(d, t, number);
}

/* ---- access ---- */

static COLD void access_add(system_draft *d, uint32_t component, uint32_t use)
{
    const bool event = (use & (ACCESS_SEND | ACCESS_RECEIVE)) != 0;
    const type *x = event ? NULL : reef__type_of(component);
    if (x && x->size == 0) return;
    for (uint32_t i = 0; x && i < x->part_count; i++) access_add(d, x->parts[i], use);
    if (x && x->split) return;
    uint32_t at = 0;
    while (at < d->access_count && d->access[at].component < component) at++;
    if (at == d->access_count || d->access[at].component != component) {
        memmove(&d->access[at + 1], &d->access[at], (d->access_count - at) * sizeof *d->access);
        d->access[at] = (struct access){component, 0};
        d->access_count++;
    }
    d->access[at].use |= use;
}

static COLD void unsplit(system_draft *d, split_reason reason, uint32_t component)
{
    if (d->unsplit != SPLIT_ALLOWED) return;
    d->unsplit = reason;
    d->unsplit_type.id = component;
}

/* Returns how a term uses its component's data. */
static COLD uint32_t term_use(const reef_term *t, const term_facts *f)
{
    uint32_t use = t->since == REEF_ALWAYS ? 0 : ACCESS_READ;
    if (f->values) use |= ACCESS_READ;
    if (f->reads) return ACCESS_READ;
    if (f->filter) return use && t->subtypes ? use | ACCESS_SUBTYPES : use;
    if (t->access != REEF_OUT) use |= ACCESS_READ;
    if (t->access != REEF_IN) use |= ACCESS_WRITE;
    return t->subtypes ? use | ACCESS_SUBTYPES : use;
}

/* Does the term name the component, or with a plus a supertype of it? */
static COLD bool term_names(const reef_term *t, uint32_t component)
{
    return t->component.id == component ||
           (t->subtypes && reef__is_subtype(reef__type_of(component), reef__type_of(t->component.id)));
}

/* Does the system write the component in its own rows? */
static COLD bool writes_own(const system_draft *d, uint32_t component)
{
    for (uint32_t i = 0; i < d->text.query.count; i++) {
        const reef_term *t = &d->text.query.term[i];
        if (t->op >= REEF_ANY_OF || d->facts[i].fixed) continue;
        /* a touch of a type that is split by field covers its parts */
        if (t->component.id == 0 || (!term_names(t, component) && reef__type_of(t->component.id)->owner != component))
            continue;
        if (term_use(t, &d->facts[i]) & ACCESS_WRITE) return true;
    }
    return false;
}

static COLD void access_of_terms(system_draft *d)
{
    for (uint32_t i = 0; i < d->text.query.count; i++) {
        const reef_term *t = &d->text.query.term[i];
        const term_facts *f = &d->facts[i];
        const uint32_t c = t->component.id;
        if (t->op >= REEF_ANY_OF) continue;
        const uint32_t use = term_use(t, f);
        if (use) access_add(d, c, use);
        if (f->fixed && (use & ACCESS_WRITE)) unsplit(d, SPLIT_WRITES_FIXED, c);
        const bool away = f->fixed || f->reads || (f->up && f->values);
        if (away && use && writes_own(d, c)) unsplit(d, SPLIT_READS_WRITTEN, c);
        if (f->bound) unsplit(d, SPLIT_VARIABLES, 0);
        /* The marks that one job makes would be changes in the eyes of another one. */
        if (!f->fixed && (!f->top || t->subtypes) && t->since != REEF_ALWAYS && writes_own(d, c))
            unsplit(d, SPLIT_CHANGED_IN_GROUP, c);
    }
}

/* A picture is made of what earlier systems wrote, and later ones mustn't write before. The system itself reads the
 * picture alone, so it may write. */
static COLD void access_of_place(system_draft *d, reef_touch t)
{
    place_reads reads;
    (void)reef__places_by->reads(t.type.id, &reads);
    access_add(d, t.type.id, ACCESS_READ);
    for (uint32_t i = 0; i < reads.count; i++) access_add(d, reads.type[i].id, ACCESS_READ);
}

static COLD void access_of_touches(system_draft *d)
{
    static const uint32_t uses[] = {
        [REEF_READS] = ACCESS_READ,
        [REEF_WRITES] = ACCESS_READ | ACCESS_WRITE,
        [REEF_SUMS] = ACCESS_READ | ACCESS_WRITE,
        [REEF_SENDS] = ACCESS_SEND,
        [REEF_RECEIVES] = ACCESS_RECEIVE,
    };
    for (uint32_t i = 0; i < d->text.count; i++) {
        const reef_touch t = d->text.touch[i];
        if (t.kind == REEF_PLACED) access_of_place(d, t);
        if (t.kind > REEF_SUMS) continue;
        access_add(d, t.type.id, uses[t.kind]);
        if (t.kind == REEF_WRITES) unsplit(d, SPLIT_WRITES_OTHERS, t.type.id);
        if (t.kind == REEF_READS && writes_own(d, t.type.id)) unsplit(d, SPLIT_READS_WRITTEN, t.type.id);
    }
}

static COLD void draft_access(system_draft *d)
{
    d->access_count = 0;
    d->unsplit = SPLIT_ALLOWED;
    d->unsplit_type.id = 0;
    if (!d->text.has_query) unsplit(d, SPLIT_NO_QUERY, 0);
    if (d->desc->main_thread) unsplit(d, SPLIT_MAIN_THREAD, 0);
    if (d->desc->whole) unsplit(d, SPLIT_WHOLE, 0);
    access_of_touches(d);
    access_of_terms(d);
}

/* ---- making ---- */

static COLD void system_describe(struct system *s, const system_draft *d, const char *name)
{
    const reef_system_desc *desc = d->desc;
    snprintf(s->name, sizeof s->name, "%s", name);
    s->name_hash = reef__hash_bytes(s->name, strlen(s->name));
    s->module = reef__module_of_new(d->world);
    s->function = desc->function;
    s->context = desc->context;
    s->context_free = desc->context_free;
    s->combine = desc->combine;
    s->condition = desc->condition;
    s->interval_ns = desc->interval_ns;
    s->main_thread = desc->main_thread;
    s->has_query = d->text.has_query;
    s->unsplit = d->unsplit;
    s->unsplit_type = d->unsplit_type;
    s->split = d->unsplit == SPLIT_ALLOWED;
    for (uint32_t i = 0; i < d->text.count; i++) {
        const reef_touch_kind kind = d->text.touch[i].kind;
        s->commands |= kind >= REEF_SPAWNS && kind != REEF_PLACED;
    }
    memcpy(s->query.terms, d->text.query.term, d->text.query.count * sizeof *s->query.terms);
    s->query.entities = d->text.query.entities;
    s->query.cascade = d->text.query.cascade;
    memcpy(s->query.variables, d->text.query.variables, d->text.query.variable_count * sizeof *s->query.variables);
    for (uint32_t i = 0; i < d->text.query.count; i++) s->subtypes |= d->text.query.term[i].subtypes != 0;
}

static COLD struct system *system_of(const system_draft *d, const char *name)
{
    family *f = d->world->family;
    const char *before = d->desc->before, *after = d->desc->after;
    const query_text *q = &d->text.query;
    const size_t asked = (reef__conditions_bytes(q->term, q->count) + 7) & ~(size_t)7;
    const size_t bytes = sizeof(struct system) + asked + d->text.count * sizeof(reef_touch) +
                         d->access_count * sizeof(struct access) + kept_bytes(before) + kept_bytes(after);
    struct system *s = reef__memory_zeroed(&f->memory, MEMORY_OTHER, bytes);
    if (s == NULL) return refuse_system(d, REEF_NO_MEMORY, (reef_component){0}, 0), NULL;
    s->bytes = bytes;
    s->holders = 1;
    system_describe(s, d, name);
    reef__conditions_keep(s->query.terms, q->count, s + 1);
    s->touches = (reef_touch *)(void *)((char *)(s + 1) + asked);
    s->touch_count = d->text.count;
    memcpy(s->touches, d->text.touch, d->text.count * sizeof *s->touches);
    s->access = (struct access *)(s->touches + s->touch_count);
    s->access_count = d->access_count;
    memcpy(s->access, d->access, d->access_count * sizeof *s->access);
    char *room = (char *)(s->access + s->access_count);
    s->before = text_copy(&room, before);
    s->after = text_copy(&room, after);
    mutex_lock(&f->lock);
    s->number = s->serial = ++f->query_serial;
    mutex_unlock(&f->lock);
    return s;
}

/* Counts where the system leads into code that comes and goes. */
static COLD void system_hold(const struct system *s, bool hold)
{
    const uintptr_t at[] = {(uintptr_t)s->function, (uintptr_t)s->context, (uintptr_t)s->context_free,
                            (uintptr_t)s->combine, (uintptr_t)s->condition};
    reef__code_hold(at, sizeof at / sizeof *at, hold);
}

COLD struct system *reef__system_make(reef_world *w, const char *op, const reef_system_desc *desc, uint32_t *in)
{
    system_draft d;
    d.world = w;
    d.op = op;
    d.desc = desc;
    if (desc == NULL) return refuse_detail(&d, REEF_BAD_ARGUMENT, 0, "the description is NULL"), NULL;
    const char *name = desc->name || in ? desc->name : op;
    if (!reef__system_name_allowed(name)) return reef__system_refuse_name(w, op, "a system"), NULL;
    if (desc->function == NULL) return refuse_detail(&d, REEF_BAD_ARGUMENT, 0, "a system needs a function"), NULL;
    if (!draft_query(&d) || !draft_touches(&d)) return NULL;
    for (uint32_t i = 0; i < d.text.count; i++)
        if (!check_touch(&d, i)) return NULL;
    draft_access(&d);
    if (in && reef__schedule_ready(w) == NULL) return refuse_system(&d, REEF_NO_MEMORY, (reef_component){0}, 0), NULL;
    if (in && !reef__phase_named(w, op, desc->phase ? desc->phase : "update", in)) return NULL;
    struct system *s = system_of(&d, name);
    if (s) system_hold(s, true);
    return s;
}

COLD void reef__system_forget(family *f, struct system *s)
{
    system_hold(s, false);
    reef__memory_free(&f->memory, MEMORY_OTHER, s, s->bytes);
}

COLD void reef__system_leave(family *f, struct system *s)
{
    if (!reef__hold_release(f, &s->holders)) return;
    if (s->context_free) s->context_free(s->context);
    reef__system_forget(f, s);
}

/* ---- asking ---- */

/* Does a type bring the component along? */
static bool type_needs(const type *t, uint32_t component)
{
    for (uint32_t i = 0; i < t->need_count; i++)
        if (t->needs[i] == component) return true;
    return false;
}

bool reef__system_touches(const struct system *s, reef_touch_kind kind, uint32_t component)
{
    const type *x = reef__type_of(component);
    for (uint32_t i = 0; i < s->touch_count; i++) {
        const reef_touch t = s->touches[i];
        if (x && x->owner && t.type.id == x->owner && (kind == t.kind || (kind == REEF_READS && t.kind == REEF_WRITES)))
            return true;
        if (t.kind != kind && !(kind == REEF_READS && t.kind == REEF_WRITES)) continue;
        if (t.type.id == component || t.type.id == 0 || (component == 0 && kind == REEF_SPAWNS)) return true;
        if ((kind == REEF_ADDS || kind == REEF_SPAWNS) && type_needs(reef__type_of(t.type.id), component)) return true;
    }
    return false;
}

const reef_touch *reef__touch_find(const struct system *s, reef_touch_kind kind, const reef_component *c)
{
    for (const reef_touch *t = s->touches, *end = t + s->touch_count; t < end; t++)
        if (t->kind == kind && (c == NULL || t->type.id == c->id)) return t;
    return NULL;
}

uint32_t reef__access_collides(uint32_t a, uint32_t b)
{
    const uint32_t any = ACCESS_READ | ACCESS_WRITE;
    const bool data = ((a & ACCESS_WRITE) && (b & any)) || ((b & ACCESS_WRITE) && (a & any));
    const bool event = ((a & ACCESS_SEND) && (b & ACCESS_RECEIVE)) || ((a & ACCESS_RECEIVE) && (b & ACCESS_SEND));
    return (data ? any : 0) | (event ? ACCESS_SEND | ACCESS_RECEIVE : 0);
}

static COLD bool access_overlaps(struct access x, struct access y)
{
    const type *a = reef__type_of(x.component), *b = reef__type_of(y.component);
    if (x.component == y.component) return true;
    return ((x.use & ACCESS_SUBTYPES) && reef__is_subtype(b, a)) ||
           ((y.use & ACCESS_SUBTYPES) && reef__is_subtype(a, b));
}

/* Finds a type with subtypes in one system and a subtype of it in the other; returns the first by name of those that a
 * uses. 0: none; *other: the type that b uses. */
COLD uint32_t reef__subtypes_collide(const struct system *a, const struct system *b, uint32_t *other)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < a->access_count; i++) {
        for (uint32_t j = 0; j < b->access_count; j++) {
            const struct access x = a->access[i], y = b->access[j];
            if (x.component == y.component || !(reef__access_collides(x.use, y.use) & ACCESS_WRITE)) continue;
            if (((x.use | y.use) & ACCESS_SUBTYPES) == 0 || !access_overlaps(x, y)) continue;
            if (found && reef__type_compare(reef__type_of(x.component), reef__type_of(found)) >= 0) continue;
            found = x.component;
            if (other) *other = y.component;
        }
    }
    return found;
}

uint32_t reef__systems_collide(const struct system *a, const struct system *b)
{
    uint32_t found = 0;
    for (uint32_t i = 0, j = 0; i < a->access_count && j < b->access_count;) {
        const struct access x = a->access[i], y = b->access[j];
        i += x.component <= y.component;
        j += y.component <= x.component;
        if (x.component != y.component || !reef__access_collides(x.use, y.use)) continue;
        if (found == 0 || reef__type_compare(reef__type_of(x.component), reef__type_of(found)) < 0) found = x.component;
    }
    return found || !(a->subtypes || b->subtypes) ? found : reef__subtypes_collide(a, b, NULL);
}
