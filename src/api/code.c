/* Code that comes and goes. What it declares is tried first, then its module is used; if anything fails, all of it goes
 * back, the last one first:
 *
 *     types and their hooks ──► classes of scripts ──► the module's systems, observers and phases
 *
 * src/type/code.h says how it is known whether something leads into the code. */
#include "type/code.h"
#include "base/platform.h"
#include "storage/error.h"
#include "storage/world_data.h"
#include "system/script.h"
#include "api/module.h"
#include "reef/code.h"
#include "reef/log.h"
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

COLD reef_status reef_code_use(reef_world *w, reef_code *c, const reef_module *m)
{
    static const char op[] = "reef_code_use";
    char detail[REEF_DETAIL_MAX] = "";
    reef_status s = reef__module_allowed(w, op, m);
    if (s != REEF_OK) return s;
    if (c == NULL || c->loading || c->module)
        return refuse_code(w, op, REEF_BAD_ARGUMENT, "the code is being loaded, or was used before");
    const uint64_t id = reef__module_id(m->name);
    c->text[0] = 0;
    s = reef__declarations_try(c, id);
    if (s < 0 && s != REEF_NO_MEMORY) s = REEF_UNKNOWN_TYPE;
    if (s < 0) (void)refuse_code(w, op, s, c->text);
    if (s >= 0 && (s = reef__scripts_try(id, m->scripts, m->script_count, detail, sizeof detail)) < 0)
        (void)refuse_code(w, op, s, detail);
    if (s >= 0) s = reef__module_take(w, op, m, true);
    reef__scripts_settle(s >= 0 || BUG(542));
    reef__declarations_settle(c, s >= 0 || BUG(540));
    if (s >= 0) c->module = id;
    return s;
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
