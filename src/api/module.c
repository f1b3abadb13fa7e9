/* Modules: what belongs together is loaded, replaced and removed as one.
 *
 * Loading calls the module's function while world.loading is set: systems, observers and phases that are made then get
 * the module's id. A schedule is a value that is shared and never changed, and a state can be set aside. So a load that
 * is refused goes back to both as they were (reef__trial_end).
 *
 * To replace a module, its systems and observers first leave the schedule, but their slots are kept; those of the new
 * version that have the same names get these slots. Then the order is made (order_join): what was there keeps its
 * place, what is new comes behind what was made before it. */
#include "api/module.h"
#include "base/byte_hash.h"
#include "type/code.h"
#include "storage/error.h"
#include "storage/observed.h"
#include "query/token.h"
#include "system/schedule.h"
#include "system/schedule_order.h"
#include "system/system.h"
#include "system/unknown_system.h"
#include "observe/observer.h"
#include "world/fork_policy.h"
#include "world/snapshot.h"
#include "reef/component.h"
#include "reef/module.h"
#include "reef/type_info.h"
#include <stdio.h>

COLD uint64_t reef__module_id(const char *name) { return reef__hash_bytes(name, strlen(name)); }

static COLD reef_status refuse_module(reef_world *w, const char *op, reef_status s, const char *detail)
{
    return reef__failure_detail(w, s, op, 0, detail);
}

static COLD bool modules_may_change(reef_world *w, const char *op)
{
    if (!w->running && w->locks == 0 && !w->flushing && w->time_owner == NULL && w->loading == NULL) return true;
    reef__refuse(w, REEF_LOCKED, op);
    return false;
}

/* ---- what a module needs ---- */

/* The next module in a list of them: "physics 2, input". Answers the text behind it; NULL: it can't be read. *length is
 * 0 at the end of the list. */
static COLD const char *need_next(const char *text, const char **name, size_t *length, uint32_t *version)
{
    static const char between[] = " ,";
    text += strspn(text, " ");
    *name = text;
    *length = strcspn(text, between);
    *version = 1;
    if (*length == 0) return *text == 0 ? text : NULL;
    if (*length > REEF_SYSTEM_NAME_MAX) return NULL;
    text += *length;
    text += strspn(text, " ");
    if (*text >= '0' && *text <= '9') {
        uint64_t n = 0;
        for (; *text >= '0' && *text <= '9' && n <= UINT32_MAX; text++) n = n * 10 + (uint64_t)(*text - '0');
        if (n == 0 || n > UINT32_MAX) return NULL;
        *version = (uint32_t)n;
        text += strspn(text, " ");
    }
    if (*text == 0) return text;
    return *text == ',' ? text + 1 : NULL;
}

/* A module that needs the one of this name in a newer version (than 0: in any). NULL: there is none. */
static COLD const module_entry *needed_by(const schedule *s, const char *needed, uint32_t than)
{
    const char *name;
    size_t length;
    uint32_t version;
    for (uint32_t i = 0; i < s->module_count; i++)
        for (const char *at = s->modules[i].about->needs;
             at && (at = need_next(at, &name, &length, &version)) != NULL;) {
            if (length == 0) break;
            if (version > than && strlen(needed) == length && memcmp(name, needed, length) == 0) return &s->modules[i];
        }
    return NULL;
}

/* Is there what the module needs, and is it new enough for those that need it? */
static COLD reef_status needs_check(reef_world *w, const char *op, const reef_module *m)
{
    char detail[REEF_DETAIL_MAX], need[REEF_SYSTEM_NAME_MAX + 1];
    const char *name;
    size_t length;
    uint32_t version;
    const module_entry *other = needed_by(w->schedule, m->name, m->version);
    if (other) {
        snprintf(detail, sizeof detail, "%s needs a newer version of %s than %u", other->name, m->name, m->version);
        return refuse_module(w, op, REEF_BAD_ARGUMENT, detail);
    }
    for (const char *at = m->needs ? m->needs : "";;) {
        at = need_next(at, &name, &length, &version);
        if (at == NULL)
            return refuse_module(w, op, REEF_BAD_ARGUMENT, "`needs` names modules and versions: \"physics 2, input\"");
        if (length == 0) return REEF_OK;
        memcpy(need, name, length);
        need[length] = 0;
        const module_entry *x = reef__module_find(w->schedule, reef__module_id(need));
        if (x && x->version >= version) continue;
        if (x) snprintf(detail, sizeof detail, "%s needs %s %u; %u is loaded", m->name, need, version, x->version);
        else snprintf(detail, sizeof detail, "%s needs %s %u, which isn't loaded", m->name, need, version);
        return refuse_module(w, op, REEF_BAD_ARGUMENT, detail);
    }
}

/* ---- trials ---- */

/* False: there is no memory, which is recorded. */
COLD bool reef__trial_begin(reef_world *w, const char *op, module_trial *x)
{
    *x = (module_trial){.backup = reef__world_restorable(w)};
    if (x->backup == NULL) return false;
    x->before = reef__schedule_hold(w->family, w->schedule);
    if (reef__skips_prepare(x->backup, &x->room)) return true;
    reef__schedule_leave(w->family, x->before);
    reef_world_free(x->backup);
    reef__refuse(w, REEF_NO_MEMORY, op);
    return false;
}

COLD reef_status reef__trial_end(reef_world *w, module_trial *x, reef_status s)
{
    schedule *left = x->before;
    if (s < 0) {
        const reef_error why = w->error;
        reef__skips_commit(w, x->backup, &x->room);
        reef__state_exchange(w, x->backup);
        left = w->schedule;
        w->schedule = x->before;
        reef__observers_follow(w);
        w->error = why;
    }
    reef__skips_free(w->family, &x->room);
    reef_world_free(x->backup);
    world_hold(w); /* contexts may be freed */
    reef__schedule_leave(w->family, left);
    world_let_go(w);
    return s;
}

/* ---- schedules ---- */

/* A copy of the world's schedule without the systems and observers of a module. `entry`: their slots belong to no entry
 * (ENTRY_NONE), and the module goes too; or they wait (ENTRY_KEPT). NULL: no memory. */
static COLD schedule *schedule_without(reef_world *w, uint64_t id, uint32_t entry)
{
    schedule *s = reef__schedule_copy_more(w, 0, 0);
    uint32_t n = 0;
    if (s == NULL) return NULL;
    for (uint32_t i = 0; i < s->count; i++) {
        const schedule_entry x = s->entries[i];
        s->slots[x.slot].entry = x.system->module == id ? entry : n;
        if (x.system->module != id) s->entries[n++] = x;
    }
    s->count = n;
    n = 0;
    for (uint32_t i = 0; i < s->observer_count; i++) {
        const observer_entry x = s->observers[i];
        s->observer_slots[x.slot].entry = x.observer->module == id ? entry : n;
        if (x.observer->module != id) s->observers[n++] = x;
    }
    s->observer_count = n;
    n = 0;
    for (uint32_t i = 0; i < s->module_count; i++)
        if (s->modules[i].id != id || entry == ENTRY_KEPT) s->modules[n++] = s->modules[i];
    s->module_count = n;
    return s;
}

/* Orders the systems and makes the schedule the world's. On failure it is freed. */
static COLD reef_status schedule_settle(reef_world *w, const char *op, schedule *s)
{
    char detail[REEF_DETAIL_MAX];
    const reef_status status = reef__schedule_sort(w->family, s, detail);
    if (status != REEF_OK) {
        reef__memory_free(&w->family->memory, MEMORY_OTHER, s, s->bytes);
        return status == REEF_NO_MEMORY ? reef__refuse(w, status, op) : refuse_module(w, op, status, detail);
    }
    reef__schedule_put(w, s);
    s->observer_epoch = s->epoch;
    reef__observers_follow(w);
    if (s->observer_count && !reef__observing_ready(w)) return reef__refuse(w, REEF_NO_MEMORY, op);
    return REEF_OK;
}

/* ---- replacing ---- */

/* A system or an observer of a schedule, by its slot. */
typedef struct module_member {
    uint32_t slot, number; /* its entry in the new schedule */
    bool own;              /* it belongs to the module */
} module_member;

static COLD uint32_t member_at(const module_member *list, uint32_t count, uint32_t slot)
{
    uint32_t i = 0;
    while (i < count && list[i].slot != slot) i++;
    return i;
}

static COLD void member_insert(module_member *list, uint32_t *count, uint32_t at, module_member x)
{
    memmove(list + at + 1, list + at, (*count - at) * sizeof *list);
    list[at] = x;
    ++*count;
}

/* Puts the members of the new schedule into their order: those that the old one had as there, each other one behind
 * what was made before it, the first ones of the module before all others of it. `list` has room for all. */
static COLD void order_join(module_member *list, const module_member *was, uint32_t was_count, const module_member *now,
                            uint32_t now_count)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < was_count; i++) {
        const uint32_t k = member_at(now, now_count, was[i].slot);
        if (k < now_count) list[n++] = now[k];
    }
    for (uint32_t k = 0, last = UINT32_MAX; k < now_count; k++) {
        uint32_t at = member_at(list, n, now[k].slot);
        if (at == n) { /* it is new */
            at = last == UINT32_MAX ? 0 : member_at(list, n, last) + 1;
            while (last == UINT32_MAX && at < n && !list[at].own) at++;
            member_insert(list, &n, at, now[k]);
        }
        if (now[k].own) last = now[k].slot;
    }
}

/* Lists the systems of a schedule, or its observers, in their order. Answers how many there are. `to` may be NULL. */
static COLD uint32_t members_list(const schedule *s, bool observers, uint64_t id, module_member *to)
{
    const uint32_t count = observers ? s->observer_count : s->count;
    for (uint32_t i = 0; to && i < count; i++)
        to[i] = observers ? (module_member){s->observers[i].slot, i, s->observers[i].observer->module == id}
                          : (module_member){s->entries[i].slot, i, s->entries[i].system->module == id};
    return count;
}

/* The systems, or observers, of the version that was just loaded get the places of those that they replace; systems are
 * enabled as those were. `s` is a copy of the world's schedule. False: no memory. */
static COLD bool members_settle(reef_world *w, schedule *s, const schedule *before, uint64_t id, bool observers)
{
    const schedule *now = w->schedule;
    schedule_slot *slots = observers ? s->observer_slots : s->slots;
    const uint32_t slot_count = observers ? s->observer_slot_count : s->slot_count;
    const uint32_t was_count = members_list(before, observers, id, NULL),
                   now_count = members_list(now, observers, id, NULL);
    const size_t bytes = ((size_t)was_count + 2 * (size_t)now_count + 1) * sizeof(module_member);
    module_member *was = reef__memory_zeroed(&w->family->memory, MEMORY_OTHER, bytes);
    if (was == NULL) return false;
    module_member *is = was + was_count, *list = is + now_count;
    members_list(before, observers, id, was);
    members_list(now, observers, id, is);
    order_join(list, was, was_count, is, now_count);
    for (uint32_t i = 0; i < now_count; i++) {
        slots[list[i].slot].entry = i;
        if (observers) {
            s->observers[i] = now->observers[list[i].number];
            continue;
        }
        s->entries[i] = now->entries[list[i].number];
        const uint32_t k = list[i].own ? member_at(was, was_count, list[i].slot) : was_count;
        if (k < was_count) s->entries[i].on = before->entries[k].on;
    }
    for (uint32_t i = 0; i < slot_count; i++)
        if (slots[i].entry == ENTRY_KEPT) slots[i].entry = ENTRY_NONE;
    reef__memory_free(&w->family->memory, MEMORY_OTHER, was, bytes);
    return true;
}

static COLD reef_status module_settle(reef_world *w, const char *op, const schedule *before, uint64_t id)
{
    schedule *s = reef__schedule_copy_more(w, 0, 0);
    if (s && members_settle(w, s, before, id, false) && members_settle(w, s, before, id, true))
        return schedule_settle(w, op, s);
    if (s) reef__memory_free(&w->family->memory, MEMORY_OTHER, s, s->bytes);
    return reef__refuse(w, REEF_NO_MEMORY, op);
}

/* What states keep for the module's systems, also snapshots and histories, is for those that took their slots: these go
 * on under the old serial numbers. For the others it is dropped. */
static COLD void states_hand_over(reef_world *w, const schedule *before, uint64_t id)
{
    const schedule *s = w->schedule;
    for (uint32_t i = 0; i < before->count; i++) {
        const schedule_entry *e = &before->entries[i];
        if (e->system->module != id) continue;
        const schedule_slot *slot = &s->slots[e->slot];
        const schedule_slot *was = &before->slots[e->slot];
        const bool there =
            slot->entry != ENTRY_NONE && slot->generation == was->generation && slot->world == was->world;
        struct system *now = there ? s->entries[slot->entry].system : NULL;
        reef__system_state_hand_over(w, now ? now->serial : e->system->serial, now ? e->system->serial : 0);
        if (now) now->serial = e->system->serial;
    }
}

/* ---- using ---- */

static COLD reef_status module_check(reef_world *w, const char *op, const reef_module *m)
{
    if (m == NULL) return misuse_refuse(w, op, "the module is NULL");
    if (!reef__system_name_allowed(m->name)) return reef__system_refuse_name(w, op, "a module"), REEF_BAD_ARGUMENT;
    if (m->version == 0) return refuse_module(w, op, REEF_BAD_ARGUMENT, "versions of modules begin with 1");
    if (m->load == NULL) return refuse_module(w, op, REEF_BAD_ARGUMENT, "a module needs the function `load`");
    if (m->type_count && m->types == NULL) return refuse_module(w, op, REEF_BAD_ARGUMENT, "`types` is NULL");
    if (m->script_count && m->scripts == NULL) return refuse_module(w, op, REEF_BAD_ARGUMENT, "`scripts` is NULL");
    return REEF_OK;
}

static COLD reef_status declarations_check(reef_world *w, const char *op, const reef_module *m, bool code)
{
    for (uint32_t i = 0; i < m->type_count; i++) {
        const reef_component c = reef_resolve(m->types[i]);
        const reef_status s = c.id ? REEF_OK : reef_declare_error() ? REEF_UNKNOWN_TYPE : REEF_NO_MEMORY;
        if (s != REEF_OK) return reef__failure(w, s, op, c, (reef_entity){0, 0}, 0);
    }
    for (uint32_t i = 0; i < m->script_count && !code; i++) {
        const reef_status s = reef_script_know(m->scripts[i]);
        if (s < 0) return reef__refuse(w, s, op);
    }
    return REEF_OK;
}

/* Lets the module declare what it brings. */
static COLD reef_status module_load(reef_world *w, const char *op, const reef_module *m, const schedule *before)
{
    module_loading loading = {
        .id = reef__module_id(m->name), .version = m->version, .before = before, .failed = {.status = REEF_OK}};
    schedule *s = schedule_without(w, loading.id, ENTRY_KEPT);
    if (s == NULL) return reef__refuse(w, REEF_NO_MEMORY, op);
    uint32_t at = 0;
    while (at < s->module_count && s->modules[at].id != loading.id) at++;
    s->module_count += at == s->module_count;
    module_entry *x = &s->modules[at];
    *x = (module_entry){.id = loading.id, .about = m, .version = m->version};
    snprintf(x->name, sizeof x->name, "%s", m->name);
    const reef_status settled = schedule_settle(w, op, s);
    if (settled != REEF_OK) return settled;
    reef__error_pass(w);
    w->loading = &loading;
    reef_status status = m->load(w, m->context);
    w->loading = NULL;
    if (status < 0 && w->error.status == REEF_OK) return refuse_module(w, op, status, "its `load` refused");
    if (status < 0) return status;
    if (loading.failed.status == REEF_OK) return REEF_OK;
    w->error = loading.failed;
    return loading.failed.status;
}

COLD reef_status reef__module_allowed(reef_world *w, const char *op, const reef_module *m)
{
    if (!WORLD_GIVEN_TO(w, op)) return REEF_BAD_ARGUMENT;
    return modules_may_change(w, op) ? module_check(w, op, m) : REEF_LOCKED;
}

COLD reef_status reef__module_take(reef_world *w, const char *op, const reef_module *m, bool code)
{
    module_trial x;
    if (reef__schedule_ready(w) == NULL) return reef__refuse(w, REEF_NO_MEMORY, op);
    const uint64_t id = reef__module_id(m->name);
    const module_entry *there = reef__module_find(w->schedule, id);
    if (there && there->version == m->version && !code) return REEF_OK;
    if (!there && w->schedule->module_count == REEF_MODULES_MAX) return reef__refuse(w, REEF_LIMIT, op);
    reef_status s = needs_check(w, op, m);
    if (s == REEF_OK) s = declarations_check(w, op, m, code);
    if (s != REEF_OK) return s;
    if (!reef__observers_settled(w)) return reef__refuse(w, REEF_NO_MEMORY, op);
    if (!reef__trial_begin(w, op, &x)) return w->error.status;
    s = module_load(w, op, m, x.before);
    if (s >= 0) s = module_settle(w, op, x.before, id);
    if (s >= 0) states_hand_over(w, x.before, id);
    if (s >= 0) reef__types_of_module(m->types, m->type_count);
    return reef__trial_end(w, &x, s < 0 ? s : REEF_OK);
}

COLD reef_status reef_module_use(reef_world *w, const reef_module *m)
{
    static const char op[] = "reef_module_use";
    const reef_status s = reef__module_allowed(w, op, m);
    return s == REEF_OK ? reef__module_take(w, op, m, false) : s;
}

/* ---- removing ---- */

/* Removes the scripts of the module's classes from all entities. */
static COLD reef_status scripts_remove(reef_world *w, const reef_module *m)
{
    const reef_component script = m->script_count ? reef_script_type() : (reef_component){0};
    reef_status s = m->script_count && script.id == 0 ? REEF_NO_MEMORY : REEF_OK;
    for (uint32_t i = 0, n = script.id ? w->hot.index_count : 0; i < n && s >= 0; i++) {
        const reef_entity e = reef_entity_at(w, i);
        const reef_script_class *c = e.generation ? reef_script_of(w, e) : NULL;
        for (uint32_t k = 0; c && k < m->script_count; k++)
            if (m->scripts[k] == c || strcmp(m->scripts[k]->name, c->name) == 0) s = reef_script_remove(w, e), c = NULL;
    }
    return s;
}

COLD reef_status reef_module_remove(reef_world *w, const char *name)
{
    static const char op[] = "reef_module_remove";
    char detail[REEF_DETAIL_MAX];
    module_trial x;
    if (!WORLD_GIVEN_TO(w, op)) return REEF_BAD_ARGUMENT;
    if (!modules_may_change(w, op)) return REEF_LOCKED;
    const module_entry *m = name ? reef__module_find(w->schedule, reef__module_id(name)) : NULL;
    if (m == NULL) {
        const shown unknown = reef__show(name ? name : "(null)", name ? strlen(name) : 6);
        snprintf(detail, sizeof detail, "no module is named %s", unknown.text);
        return refuse_module(w, op, REEF_BAD_ARGUMENT, detail);
    }
    const module_entry *other = needed_by(w->schedule, name, 0);
    if (other) {
        snprintf(detail, sizeof detail, "%s needs it", other->name);
        return refuse_module(w, op, REEF_BAD_ARGUMENT, detail);
    }
    const reef_module *about = m->about;
    const uint64_t id = m->id;
    if (!reef__observers_settled(w)) return reef__refuse(w, REEF_NO_MEMORY, op);
    if (!reef__trial_begin(w, op, &x)) return w->error.status;
    reef_status s = scripts_remove(w, about);
    schedule *left = s >= 0 ? schedule_without(w, id, ENTRY_NONE) : NULL;
    if (s >= 0 && left == NULL) s = reef__refuse(w, REEF_NO_MEMORY, op);
    if (s >= 0) s = schedule_settle(w, op, left);
    if (s >= 0) states_hand_over(w, x.before, id);
    if (s >= 0 && about->unload) about->unload(w, about->context);
    return reef__trial_end(w, &x, s < 0 ? s : REEF_OK);
}

/* ---- looking ---- */

COLD bool reef_visit_modules(const reef_world *w, reef_module_visitor visit, void *context)
{
    const schedule *s = WORLD_GIVEN(w) ? w->schedule : NULL;
    if (w == NULL || visit == NULL) return false;
    for (uint32_t i = 0; s && i < s->module_count; i++) {
        const module_entry *m = &s->modules[i];
        reef_module_info x = {.module = m->about, .name = m->name, .version = m->version};
        for (uint32_t k = 0; k < s->count; k++) x.systems += s->entries[k].system->module == m->id;
        for (uint32_t k = 0; k < s->observer_count; k++) x.observers += s->observers[k].observer->module == m->id;
        if (!visit(context, &x)) return false;
    }
    return true;
}

COLD uint32_t reef_module_version(const reef_world *w, const char *name)
{
    const module_entry *m = WORLD_GIVEN(w) && name ? reef__module_find(w->schedule, reef__module_id(name)) : NULL;
    return m ? m->version : 0;
}

typedef struct module_printing {
    const reef_world *world;
    FILE *to;
} module_printing;

/* "2 systems (swim, eat)" */
static COLD void members_print(const module_printing *x, uint64_t id, uint32_t n, bool observers)
{
    const schedule *s = x->world->schedule;
    const char *before = " (";
    fprintf(x->to, "%u %s%s", n, observers ? "observer" : "system", n == 1 ? "" : "s");
    for (uint32_t i = 0; i < (observers ? s->observer_count : s->count); i++) {
        const uint64_t module = observers ? s->observers[i].observer->module : s->entries[i].system->module;
        if (module != id) continue;
        fprintf(x->to, "%s%s", before, observers ? s->observers[i].observer->name : s->entries[i].system->name);
        before = ", ";
    }
    if (n) fputs(")", x->to);
}

static COLD bool module_print(void *context, const reef_module_info *m)
{
    const module_printing *x = context;
    const uint64_t id = reef__module_id(m->name);
    fprintf(x->to, "%s %u: ", m->name, m->version);
    members_print(x, id, m->systems, false);
    fputs(", ", x->to);
    members_print(x, id, m->observers, true);
    fprintf(x->to, m->module->needs ? "; needs %s\n" : "\n", m->module->needs);
    return true;
}

/* Does a module of the world have this type in its list, or has its code declared it? */
static COLD bool module_has(const reef_world *w, const type *t, uint64_t declared_by)
{
    const schedule *s = w->schedule;
    for (uint32_t i = 0; s && i < s->module_count; i++) {
        const reef_module *m = s->modules[i].about;
        if (declared_by && s->modules[i].id == declared_by) return true;
        for (uint32_t k = 0; k < m->type_count; k++)
            if (m->types[k]->id == t->id) return true;
    }
    return false;
}

/* The next type by name that is in use here, and came with modules that the world no longer has; NULL: no more. */
static COLD const type *type_left(const reef_world *w, const type *last)
{
    const type *next = NULL, *t;
    uint64_t declared_by;
    for (uint32_t id = 1; (t = reef__type_of(id)) != NULL; id++) {
        const reef_component c = {id};
        if ((last && reef__type_compare(t, last) <= 0) || (next && reef__type_compare(t, next) >= 0)) continue;
        if (!reef__type_of_module(t, &declared_by) || module_has(w, t, declared_by)) continue;
        if (reef_count_id(w, c)) next = t;
    }
    return next;
}

COLD void reef_print_modules(const reef_world *w, FILE *to)
{
    module_printing x = {w, to};
    if (!WORLD_GIVEN(w) || to == NULL) return;
    (void)reef_visit_modules(w, module_print, &x);
    const char *before = "without their module: ", *end = "";
    for (const type *t = NULL; (t = type_left(w, t)) != NULL; before = ", ", end = "\n")
        fprintf(to, "%s%s", before, t->name);
    fputs(end, to);
}
