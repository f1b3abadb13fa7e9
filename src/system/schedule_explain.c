/* Writes a schedule as text, or as a graph for Graphviz. Nothing is allocated: which system waits for which is found
 * by comparing systems. That is at worst n * n comparisons for each system of a phase with n systems. */
#include "base/text_out.h"
#include "query/query.h"
#include "query/query_text.h"
#include "system/access_check.h"
#include "system/schedule.h"
#include "system/system.h"
#include "system/system_text.h"
#include "reef/system.h"
#include "reef/schedule.h"
#include <inttypes.h>

typedef struct explainer {
    const reef_world *world;
    const schedule *s;
    uint32_t first, end; /* the phase that is written, in s->order */
    text_out out;
} explainer;

typedef struct system_set {
    uint64_t word[REEF_SYSTEMS_MAX / 64];
} system_set; /* by place in the phase */

static void place_put(system_set *set, uint32_t i) { set->word[i / 64] |= 1ull << i % 64; }
static bool place_has(const system_set *set, uint32_t i) { return set->word[i / 64] >> i % 64 & 1; }

/* ---- writing ---- */

static COLD void tell_query(explainer *o, const struct system *x)
{
    uint32_t count = 0;
    while (count < REEF_TERMS_MAX && term_is_there(&x->query.terms[count])) count++;
    reef__query_text_write(&o->out, o->world, x->query.terms, count, x->query.entities, x->query.cascade,
                           &x->query.variables);
    if (count == 0 && x->query.entities == REEF_ENABLED && x->query.cascade.id == 0)
        reef__text_put(&o->out, "everything");
}

static const struct system *system_at(const explainer *o, uint32_t place)
{
    return o->s->entries[o->s->order[o->first + place]].system;
}

static const char *type_at(uint32_t id)
{
    const type *t = reef__type_of(id);
    return t ? t->name : "";
}

/* ---- by name ---- */

enum { ACCESS_MAX = REEF_TERMS_MAX + REEF_TOUCHES_MAX };

/* Sorts what a system uses by type name: by_name gets the numbers in its list. */
static COLD void access_sorted(const struct system *x, uint32_t *by_name)
{
    for (uint32_t i = 0; i < x->access_count; i++) {
        uint32_t at = i;
        for (; at && strcmp(type_at(x->access[by_name[at - 1]].component), type_at(x->access[i].component)) > 0; at--)
            by_name[at] = by_name[at - 1];
        by_name[at] = i;
    }
}

static COLD uint32_t use_of(const struct system *x, uint32_t component)
{
    for (uint32_t i = 0; i < x->access_count; i++)
        if (x->access[i].component == component) return x->access[i].use;
    return 0;
}

/* Writes "reads A B" for what a system uses, with a comma before it if something was written already. */
static COLD void tell_uses(explainer *o, const struct system *x, reef_touch_kind kind, bool *some)
{
    uint32_t by_name[ACCESS_MAX];
    bool begun = false;
    access_sorted(x, by_name);
    for (uint32_t i = 0; i < x->access_count; i++) {
        const struct access a = x->access[by_name[i]];
        const bool sums = reef__system_touches(x, REEF_SUMS, a.component), writes = (a.use & ACCESS_WRITE) && !sums;
        const bool placed = reef__system_touches(x, REEF_PLACED, a.component);
        const bool fits = kind == REEF_READS    ? (a.use & ACCESS_READ) && (placed || !(a.use & ACCESS_WRITE))
                          : kind == REEF_WRITES ? writes
                          : kind == REEF_SUMS   ? sums && (a.use & ACCESS_WRITE)
                          : kind == REEF_SENDS  ? (a.use & ACCESS_SEND) != 0
                                                : (a.use & ACCESS_RECEIVE) != 0;
        if (!fits) continue;
        if (!begun) reef__text_put(&o->out, "%s%s", *some ? ", " : "    ", reef__touch_word(kind));
        reef__text_put(&o->out, " %s%s%s", type_at(a.component), a.use & ACCESS_SUBTYPES ? "+" : "",
                       placed && kind == REEF_READS ? " as placed" : "");
        begun = *some = true;
    }
}

/* Writes "spawns A B" for what a system's commands do. */
static COLD void tell_commands(explainer *o, const struct system *x, reef_touch_kind kind, bool *some)
{
    const char *last = "";
    bool begun = false;
    for (;; begun = true) { /* each round finds the next type by name; "no type" comes first */
        const char *next = NULL;
        for (uint32_t i = 0; i < x->touch_count; i++) {
            const char *name = type_at(x->touches[i].type.id);
            if (x->touches[i].kind != kind || (begun && strcmp(name, last) <= 0)) continue;
            if (next == NULL || strcmp(name, next) < 0) next = name;
        }
        if (next == NULL) return;
        if (!begun) reef__text_put(&o->out, "%s%s", *some ? ", " : "    commands: ", reef__touch_word(kind));
        if (*next) reef__text_put(&o->out, " %s", next);
        *some = true;
        last = next;
    }
}

/* ---- which system waits for which ---- */

/* Does system i collide with any system of a set? */
static COLD bool collides_with(const explainer *o, uint32_t i, const system_set *set)
{
    for (uint32_t w = 0; w < REEF_SYSTEMS_MAX / 64; w++) {
        uint32_t k = w * 64;
        for (uint64_t rest = set->word[w]; rest; rest >>= 1, k++)
            if ((rest & 1) && reef__systems_collide(system_at(o, i), system_at(o, k))) return true;
    }
    return false;
}

/* Finds the systems before `place` that it waits for. `all`: directly, or because of a system between. `direct`: only
 * directly. */
static COLD void set_before(const explainer *o, uint32_t place, system_set *all, system_set *direct)
{
    memset(all, 0, sizeof *all);
    memset(direct, 0, sizeof *direct);
    for (uint32_t i = place; i-- > 0;) {
        const bool implied = collides_with(o, i, all);
        const bool itself = !implied && reef__systems_collide(system_at(o, i), system_at(o, place));
        if (implied || itself) place_put(all, i);
        if (itself) place_put(direct, i);
    }
}

/* Finds the systems behind `place` that wait for it. */
static COLD void set_behind(const explainer *o, uint32_t place, system_set *all)
{
    memset(all, 0, sizeof *all);
    for (uint32_t i = place + 1; i < o->end - o->first; i++) {
        if (reef__systems_collide(system_at(o, i), system_at(o, place)) || collides_with(o, i, all)) place_put(all, i);
    }
}

/* ---- text ---- */

/* Writes why system b has to wait for system a, which stands before it. */
static COLD void tell_reason(explainer *o, const struct system *a, const struct system *b)
{
    uint32_t by_name[ACCESS_MAX];
    const char *between = ": ";
    access_sorted(a, by_name);
    for (uint32_t i = 0; i < a->access_count; i++) {
        const uint32_t c = a->access[by_name[i]].component, x = a->access[by_name[i]].use, y = use_of(b, c);
        const uint32_t why = reef__access_collides(x, y);
        const char *name = type_at(c);
        if (why & ACCESS_WRITE) {
            if (x & y & ACCESS_WRITE) reef__text_put(&o->out, "%sboth write %s", between, name);
            else
                reef__text_put(&o->out, "%sboth use %s, %s %s it", between, name, a->name,
                               x & ACCESS_WRITE ? "writes" : "only reads");
            between = "; ";
        }
        if (why & ACCESS_SEND) {
            const bool sent = (x & ACCESS_SEND) && (y & ACCESS_RECEIVE);
            reef__text_put(&o->out, "%s%s %s %s, which is %s here", between, a->name, sent ? "sends" : "receives", name,
                           sent ? "received" : "sent");
            between = "; ";
        }
    }
    uint32_t other = 0, c = *between == ':' ? reef__subtypes_collide(a, b, &other) : 0;
    if (c)
        reef__text_put(&o->out, "%s%s uses %s, %s uses %s, one of which is a subtype of the other", between, a->name,
                       type_at(c), b->name, type_at(other));
    reef__text_put(&o->out, "\n");
}

static COLD void tell_split(explainer *o, const struct system *x)
{
    static const char *const reasons[] = {
        [SPLIT_ALLOWED] = "split into jobs\n",
        [SPLIT_NO_QUERY] = "not split: it has no query\n",
        [SPLIT_WHOLE] = "not split: it is declared whole\n",
        [SPLIT_MAIN_THREAD] = "not split: it runs on the main thread\n",
        [SPLIT_WRITES_OTHERS] = "not split: writes %s of other entities\n",
        [SPLIT_WRITES_FIXED] = "not split: writes %s of one entity\n",
        [SPLIT_READS_WRITTEN] = "not split: writes %s, and reads it of other entities\n",
        [SPLIT_VARIABLES] = "not split: its query has variables\n",
        [SPLIT_CHANGED_IN_GROUP] = "not split: writes %s, and asks in a group whether it changed\n",
    };
    reef__text_put(&o->out, "    ");
    if (x->unsplit_type.id) reef__text_put(&o->out, reasons[x->unsplit], type_at(x->unsplit_type.id));
    else reef__text_put(&o->out, "%s", reasons[x->unsplit]);
}

/* Writes why the checked build doesn't run the system a second time in another order, if it doesn't. */
static COLD void tell_twice(explainer *o, const struct system *x)
{
#if defined(REEF_CHECKED)
    uint32_t component;
    const char *why = watching(o->world) ? reef__watch_once(x, &component) : NULL;
    if (why && component)
        reef__text_put(&o->out, "    not run twice: it writes %s, which has hooks\n", type_at(component));
    else if (why) reef__text_put(&o->out, "    not run twice: %s\n", why);
#else
    (void)o, (void)x;
#endif
}

/* Writes the systems that may run at the same time as this one. Two systems of the main thread may not, though neither
 * waits for the other. */
static COLD void tell_beside(explainer *o, uint32_t place)
{
    system_set before, direct, behind;
    const char *between = "    beside: ";
    set_before(o, place, &before, &direct);
    set_behind(o, place, &behind);
    for (uint32_t i = 0; i < o->end - o->first; i++) {
        if (i == place || place_has(&before, i) || place_has(&behind, i)) continue;
        if (system_at(o, i)->main_thread && system_at(o, place)->main_thread) continue;
        reef__text_put(&o->out, "%s%s", between, system_at(o, i)->name);
        between = ", ";
    }
    if (*between == ',') reef__text_put(&o->out, "\n");
}

static COLD void tell_system(explainer *o, uint32_t place)
{
    const struct system *x = system_at(o, place);
    bool some = false;
    const char *module = reef__module_name(o->s, x->module);
    reef__text_put(&o->out, "  %s", x->name);
    if (module) reef__text_put(&o->out, ", of module %s", module);
    if (!o->s->entries[o->s->order[o->first + place]].on) reef__text_put(&o->out, ", off");
    if (x->main_thread) reef__text_put(&o->out, ", on the main thread");
    if (x->interval_ns) reef__text_put(&o->out, ", every %" PRIu64 " ns", x->interval_ns);
    if (x->condition) reef__text_put(&o->out, ", on a condition");
    reef__text_put(&o->out, "\n");
    if (x->has_query) {
        reef__text_put(&o->out, "    query: ");
        tell_query(o, x);
        reef__text_put(&o->out, "\n");
    }
    for (uint32_t kind = REEF_READS; kind <= REEF_SUMS; kind++) tell_uses(o, x, kind, &some);
    if (some) reef__text_put(&o->out, "\n");
    some = false;
    for (uint32_t kind = REEF_SPAWNS; kind <= REEF_UNRELATES; kind++) tell_commands(o, x, kind, &some);
    if (some) reef__text_put(&o->out, "\n");
    tell_split(o, x);
    tell_twice(o, x);
    tell_beside(o, place);
    for (uint32_t i = 0; i < place; i++) {
        if (!reef__systems_collide(system_at(o, i), x)) continue;
        reef__text_put(&o->out, "    waits for %s", system_at(o, i)->name);
        tell_reason(o, system_at(o, i), x);
    }
}

static COLD void tell_phase(explainer *o, const phase *p)
{
    reef__text_put(&o->out, "phase %s: ", p->name);
    if (p->step_ns)
        reef__text_put(&o->out, "every %" PRIu64 " ns, at most %" PRIu32 " times a tick\n", p->step_ns, p->steps_max);
    else reef__text_put(&o->out, "once a tick\n");
    for (uint32_t i = 0; i < o->end - o->first; i++) tell_system(o, i);
}

/* ---- DOT ---- */

/* Writes the types because of which b waits for a. */
static COLD void tell_label(explainer *o, const struct system *a, const struct system *b)
{
    uint32_t by_name[ACCESS_MAX];
    const char *between = "";
    access_sorted(a, by_name);
    for (uint32_t i = 0; i < a->access_count; i++) {
        const struct access x = a->access[by_name[i]];
        if (!reef__access_collides(x.use, use_of(b, x.component))) continue;
        reef__text_put(&o->out, "%s", between);
        reef__text_put_escaped(&o->out, type_at(x.component));
        between = ", ";
    }
}

static COLD void draw_edges(explainer *o, uint32_t place)
{
    system_set all, direct;
    set_before(o, place, &all, &direct);
    for (uint32_t i = 0; i < place; i++) {
        if (!place_has(&direct, i)) continue;
        reef__text_put(&o->out, "    \"");
        reef__text_put_escaped(&o->out, system_at(o, i)->name);
        reef__text_put(&o->out, "\" -> \"");
        reef__text_put_escaped(&o->out, system_at(o, place)->name);
        reef__text_put(&o->out, "\" [label=\"");
        tell_label(o, system_at(o, i), system_at(o, place));
        reef__text_put(&o->out, "\"];\n");
    }
}

static COLD void draw_phase(explainer *o, const phase *p, uint32_t number)
{
    reef__text_put(&o->out, "  subgraph \"cluster_%" PRIu32 "\" {\n    label=\"%" PRIu32 ". ", number + 1, number + 1);
    reef__text_put_escaped(&o->out, p->name);
    reef__text_put(&o->out, "\";\n");
    for (uint32_t i = 0; i < o->end - o->first; i++) {
        reef__text_put(&o->out, "    \"");
        reef__text_put_escaped(&o->out, system_at(o, i)->name);
        reef__text_put(&o->out, o->s->entries[o->s->order[o->first + i]].on ? "\";\n" : "\" [style=dashed];\n");
    }
    for (uint32_t i = 0; i < o->end - o->first; i++) draw_edges(o, i);
    reef__text_put(&o->out, "  }\n");
}

/* ---- all phases ---- */

COLD size_t reef_schedule_explain(const reef_world *w, reef_explain form, char *text, size_t size)
{
    explainer o = {.world = w, .out = {text, text ? size : 0, 0}};
    if (o.out.size) text[0] = 0;
    if (!WORLD_GIVEN(w) || (form != REEF_EXPLAIN_TEXT && form != REEF_EXPLAIN_DOT)) return 0;
    const bool dot = form == REEF_EXPLAIN_DOT;
    o.s = w->schedule;
    if (dot) reef__text_put(&o.out, "digraph schedule {\n  rankdir=LR;\n  node [shape=box];\n");
    for (uint32_t i = 0; i < (o.s ? o.s->phase_count : PHASES_FIRST); i++) {
        phase none = {.serial = 0};
        if (o.s == NULL) strcpy(none.name, reef__phases_first[i]);
        const phase *p = o.s ? &o.s->phases[i] : &none;
        o.first = p->first;
        o.end = o.s == NULL ? 0 : i + 1 < o.s->phase_count ? p[1].first : o.s->count;
        if (dot) draw_phase(&o, p, i);
        else tell_phase(&o, p);
    }
    if (dot) reef__text_put(&o.out, "}\n");
    return o.out.length;
}
