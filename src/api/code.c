/* Code that comes and goes. What it declares is tried first, then its module is used; if anything fails, all of it goes
 * back, the last one first:
 *
 *     types and their hooks ──► values of types that have another layout (layout_change.c) ──► classes of scripts
 *         ──► the module's systems, observers and phases ──► queries that name such types ──► the last ticks again
 *
 * src/type/code.h says how it is known whether something leads into the code. */
#include "type/code.h"
#include "storage/error.h"
#include "system/script.h"
#include "api/layout_change.h"
#include "api/module.h"
#include "reef/code.h"
#include <stdio.h>

COLD reef_code *reef_code_begin(void) { return reef__code_add(); }

COLD reef_status reef_code_end(reef_code *c, const reef_code_range *ranges, uint32_t count)
{
    if (c == NULL || !c->loading || count > REEF_CODE_RANGES_MAX || (count && ranges == NULL)) return REEF_BAD_ARGUMENT;
    reef__code_loaded(c, ranges, count);
    return REEF_OK;
}

/* ---- using ---- */

static COLD reef_status refuse_code(reef_world *w, const char *op, reef_status s, const char *detail)
{
    return s == REEF_NO_MEMORY ? reef__refuse(w, s, op) : reef__failure_detail(w, s, op, 0, detail);
}

/* What is declared is known: the world follows. */
static COLD reef_status code_take(layout_change *x, const reef_module *m, const type *undescribed)
{
    reef_status s = REEF_OK;
    if (undescribed && x->settings->refuse_undescribed)
        return reef__layout_refuse(x, REEF_UNKNOWN_TYPE, "%s has no fields, so another layout can't be seen",
                                   undescribed->name);
    x->count = reef__declarations_retired(x->list, LAYOUTS_MAX);
    if (x->count > LAYOUTS_MAX)
        return reef__layout_refuse(x, REEF_LIMIT, "more than %d types have other layouts", LAYOUTS_MAX);
    if (x->count) s = reef__layouts_begin(x);
    if (s >= 0) s = reef__scripts_try(x->module, m->scripts, m->script_count, x->why, sizeof x->why);
    if (s >= 0) s = reef__module_take(x->world, x->op, m, true);
    if (s >= 0 && x->count) s = reef__layouts_follow(x, m);
    return s;
}

COLD reef_status reef_code_use(reef_world *w, reef_code *c, const reef_module *m, reef_code_settings *settings)
{
    static const char op[] = "reef_code_use";
    static const reef_code_settings defaults;
    reef_status s = reef__module_allowed(w, op, m);
    if (s != REEF_OK) return s;
    if (w->code_pinned) return refuse_code(w, op, REEF_LOCKED, w->code_pinned);
    if (c == NULL || c->loading || c->module)
        return refuse_code(w, op, REEF_BAD_ARGUMENT, "the code is being loaded, or was used before");
    layout_change x = {
        .world = w, .op = op, .module = reef__module_id(m->name), .settings = settings ? settings : &defaults};
    c->text[0] = 0;
    s = reef__declarations_try(c, x.module);
    if (s < 0 && s != REEF_NO_MEMORY) s = REEF_UNKNOWN_TYPE;
    const uint32_t undescribed = s >= 0 ? reef__declarations_undescribed(c) : 0;
    if (s < 0) (void)refuse_code(w, op, s, c->text);
    else if ((s = code_take(&x, m, reef__type_of(undescribed))) < 0 && x.why[0]) (void)refuse_code(w, op, s, x.why);
    else if (s < 0 && w->error.status != s) (void)reef__refuse(w, s, op);
    s = reef__layouts_end(&x, s);
    reef__scripts_settle(s >= 0);
    reef__declarations_settle(c, s >= 0);
    if (settings) settings->layouts = s >= 0 ? x.count : 0;
    if (settings) settings->undescribed.id = undescribed;
    if (s >= 0) c->module = x.module;
    return s;
}

COLD void reef_code_pin(reef_world *w, const char *why)
{
    if (WORLD_GIVEN(w)) w->code_pinned = why;
}

/* ---- what leads into it ---- */

static COLD bool code_covers(const void *context, uintptr_t at)
{
    const reef_code *c = context;
    bool covers = false;
    for (uint32_t i = 0; i < c->range_count; i++)
        covers |= at >= (uintptr_t)c->ranges[i].begin && at < (uintptr_t)c->ranges[i].end;
    return covers;
}

COLD bool reef_code_unused(const reef_code *c, char *why, size_t size)
{
    char unwanted[REEF_DETAIL_MAX];
    if (why == NULL || size == 0) why = unwanted, size = sizeof unwanted;
    why[0] = 0;
    if (c == NULL || c->loading || reef__code_needed(c, why, size)) return false;
    const char *name = reef__scripts_in(code_covers, c);
    if (name) (void)snprintf(why, size, "it has the class %.80s of scripts", name);
    return name == NULL;
}

COLD void reef_code_free(reef_code *c)
{
    if (c == NULL || (!c->loading && !reef_code_unused(c, NULL, 0))) return;
    reef__scripts_forget(code_covers, c);
    reef__code_drop(c);
}
