/* Types whose layout changes while a world lives.
 *
 *   the name "Hunter" ──before──► type 7 {power, rage}            values of the world, of its snapshots
 *                     ──after───► type 31 {power, mood, fear}
 *
 * The new layout is another type, which takes over the name (src/type/code.h), so both are valid until the old one has
 * no values any more, and a failure at any point leaves the old one. A world is written as bytes while it has the old
 * types, and read with the new ones: what is converted how, in which home, and what would be lost, is what loading an
 * old file does and says (src/file/decode_types.c). Values that a file couldn't carry whole go by their addresses
 * (src/file/decode_carry.h).
 *
 * Types belong to the process, so all of its worlds and snapshots that know such a type are converted, or none is:
 *
 *     the world ──► its module is used ──► its queries follow
 *     each other world ──► the module is used, if it was before ──► its queries follow
 *     each snapshot ──► a fork of it, as above ──► a snapshot of that
 *     the inputs of each history that are of such a type ──► entities of a world of their own ──► back
 *     all of these worked: each snapshot holds what the new one does          otherwise everything goes back */
#include "api/layout_change.h"
#include "base/text_out.h"
#include "storage/error.h"
#include "storage/known_types.h"
#include "storage/observed.h"
#include "query/inherited_queries.h"
#include "system/schedule.h"
#include "system/script.h"
#include "world/snapshot.h"
#include "file/load.h"
#include "file/pack.h"
#include "time/history.h"
#include "reef/loop_settings.h"
#include "reef/file.h"
#include "reef/type_info.h"
#include <stdarg.h>
#include <stdio.h>

/* Of a part of a split type the type that takes over the name of the whole. */
static COLD uint32_t layout_now(const void *context, uint32_t id)
{
    const layout_change *x = context;
    const type *t = reef__type_of(id);
    for (uint32_t i = 0; i < x->count; i++)
        if (x->list[i].was->id == (t && t->owner ? t->owner : id)) return x->list[i].is->id;
    return id;
}

COLD reef_status reef__layout_refuse(layout_change *x, reef_status s, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    (void)vsnprintf(x->why, sizeof x->why, format, list);
    va_end(list);
    return s;
}

static COLD bool layout_ages(const layout_change *x, uint32_t id) { return layout_now(x, id) != id; }

/* ---- what refuses it ---- */

static COLD bool terms_name(const layout_change *x, const reef_term *terms)
{
    bool names = false;
    for (uint32_t k = 0; k < REEF_TERMS_MAX; k++)
        names |= layout_ages(x, terms[k].component.id) || layout_ages(x, terms[k].up.id);
    return names;
}

/* What still names an old type, of what the module doesn't make again. NULL: nothing. */
static COLD const char *who_names(const layout_change *x, const reef_world *w)
{
    const schedule *s = w->schedule;
    for (uint32_t i = 0; s && i < s->count; i++) {
        const struct system *y = s->entries[i].system;
        bool names = false;
        for (uint32_t k = 0; k < y->access_count; k++) names |= layout_ages(x, y->access[k].component);
        for (uint32_t k = 0; k < y->touch_count; k++) names |= layout_ages(x, y->touches[k].type.id);
        names |= terms_name(x, y->query.terms);
        if (names && y->module != x->module) return y->name;
    }
    for (uint32_t i = 0; s && i < s->observer_count; i++) {
        const struct observer *y = s->observers[i].observer;
        bool names = layout_ages(x, y->component.id);
        names |= terms_name(x, y->query.terms);
        if (names && y->module != x->module) return y->name;
    }
    return NULL;
}

/* A type of which the world has values that can't be copied. NULL: there is none. */
static COLD const type *who_is_bound(reef_world *w)
{
    const type *t;
    for (uint32_t id = 1; (t = reef__type_of(id)) != NULL; id++)
        if (reef__pack_by_address(t, PACK_HERE) && !t->copyable && reef_count_id(w, (reef_component){id})) return t;
    return NULL;
}

/* May this world be converted? `which` says in messages which one it is. */
static COLD reef_status world_check(layout_change *x, reef_world *w, const char *which)
{
    const char *first = x->list[0].was->name;
    if (w->running || world_engaged(w) || w->loading)
        return reef__layout_refuse(x, REEF_LOCKED, "%s has another layout, but %s is in use", first, which);
    if (w->time_owner)
        return reef__layout_refuse(x, REEF_LOCKED, "%s has another layout, but the time of %s belongs to %s", first,
                                   which, w->time_owner);
    const char *name = who_names(x, w);
    if (name)
        return reef__layout_refuse(x, REEF_UNKNOWN_TYPE, "%s has another layout, but %s of %s names it, too", first,
                                   name, which);
    const type *t = who_is_bound(w);
    if (t == NULL) return REEF_OK;
    return reef__layout_refuse(
        x, REEF_NOT_COPYABLE,
        "%s has another layout, but %s can't be converted: %llu values have hooks and none that copies", first, t->name,
        (unsigned long long)reef_count_id(w, (reef_component){t->id}));
}

/* ---- converting ---- */

/* Notes what would be lost: "Hunter.rage: 312 values". */
static COLD void layout_lost(void *context, const reef_load_note *n)
{
    layout_change *x = context;
    const size_t at = strlen(x->why);
    if (n->lost == 0) return;
    text_out o = {x->why, sizeof x->why, at};
    reef__text_put(&o, "%s%s%s%s: %llu values", at ? ", " : "would be lost: ", n->type ? n->type : "",
                   n->field ? "." : "", n->field ? n->field : "", (unsigned long long)n->lost);
}

/* Writes a world with the old types, and reads it with the new ones. */
static COLD reef_status world_convert(layout_change *x, reef_world *w)
{
    reef_bytes bytes = {0};
    const reef_load_desc load = {
        .unknown = REEF_UNKNOWN_REFUSE, .lossless = !x->settings->lose_values, .note = layout_lost, .context = x};
    for (uint32_t i = 0; i < x->count; i++)
        if (reef__world_knows(w, x->list[i].was->id) &&
            reef_world_use(w, (reef_component){x->list[i].is->id}) != REEF_OK)
            return REEF_NO_MEMORY;
    reef_status s = reef__save_here(w, &bytes, x->op);
    if (s != REEF_OK && s != REEF_NO_MEMORY) (void)reef_error_text(w, x->why, sizeof x->why);
    if (s != REEF_OK) return s;
    reef_world *fresh = reef__world_blank(w);
    s = fresh ? reef__load_here(fresh, &bytes, x->op, &load) : REEF_NO_MEMORY;
    if (s != REEF_OK && s != REEF_NO_MEMORY && x->why[0] == 0 && fresh)
        (void)reef__layout_refuse(x, s, "%s", reef_last_error(fresh).detail);
    if (s == REEF_OK) x->why[0] = 0;
    if (s == REEF_OK && !reef__world_adopt(w, fresh, true)) s = REEF_NO_MEMORY;
    reef_world_free(fresh);
    reef_bytes_free(&bytes);
    for (uint32_t i = 0; s == REEF_OK && i < x->count; i++) { /* nothing has these types any more */
        const uint32_t id = x->list[i].was->id;
        if (id / 64 < w->state.used_words) w->state.used_types[id / 64] &= ~(UINT64_C(1) << id % 64);
    }
    return s;
}

/* A query that can't be made anew refuses the change, so that the user frees it. But forks and snapshots may have it
 * from the world that is changed, and there nobody frees it: these lose it. */
static COLD reef_status queries_follow(layout_change *x, reef_world *w, queries_renewal *q)
{
    q->loose = w != x->world;
    q->now = layout_now;
    q->context = x;
    const reef_status s = reef__queries_renew(q, w, x->op, reef__query_planned);
    if (q->bound)
        (void)reef__layout_refuse(
            x, s, "%s has another layout, but a query compares or sorts by its values, or names its columns",
            x->list[0].was->name);
    return s;
}

/* ---- all others of the process ---- */

/* Another world, or a snapshot. */
struct layout_member {
    reef_world *world;                   /* of a snapshot: a fork of it */
    reef_snapshot *snapshot, *converted; /* NULL: it is a world */
    module_trial trial;
    bool tried;
    queries_renewal queries;
};

static COLD reef_snapshot *snapshot_of(family_member *m)
{
    return (reef_snapshot *)(void *)((char *)m - offsetof(reef_snapshot, member));
}

/* Lists them, before the change makes worlds of its own. Of the history's snapshots one is among them: the others are
 * dropped when all is done. */
static COLD reef_status others_list(layout_change *x)
{
    uint32_t ids[LAYOUTS_MAX];
    for (uint32_t i = 0; i < x->count; i++) ids[i] = x->list[i].was->id;
    memory *m = &x->world->family->memory;
    const uint32_t all = reef__members_knowing(x->world, ids, x->count, NULL, 0);
    if (all == 0) return REEF_OK;
    family_member **list = reef__memory_zeroed(m, MEMORY_OTHER, all * sizeof *list);
    x->others = reef__memory_zeroed(m, MEMORY_OTHER, all * sizeof *x->others);
    x->other_room = x->others ? all : 0;
    for (uint32_t i = 0, n = list && x->others ? reef__members_knowing(x->world, ids, x->count, list, all) : 0; i < n;
         i++) {
        reef_snapshot *s = list[i]->world ? NULL : snapshot_of(list[i]);
        const reef_history *h = x->settings->history;
        if (s && h && reef__history_has(h, s) && s != reef_history_at(h, x->from)) continue;
        x->others[x->other_count++] = (layout_member){.world = list[i]->world, .snapshot = s};
    }
    const bool ok = list && x->others;
    reef__memory_free(m, MEMORY_OTHER, list, all * sizeof *list);
    return ok ? REEF_OK : REEF_NO_MEMORY;
}

static COLD reef_status member_convert(layout_change *x, layout_member *y, const reef_module *m)
{
    if (y->snapshot && (y->world = reef__snapshot_restorable(y->snapshot)) == NULL) return REEF_NO_MEMORY;
    if (y->snapshot && !reef__queries_inherit(y->world, y->snapshot->queries)) return REEF_NO_MEMORY;
    reef_world *w = y->world;
    const char *which = y->snapshot ? "a snapshot" : "another world";
    reef_status s = world_check(x, w, which);
    if (s == REEF_OK) s = reef_flush(w);
    if (s >= 0) {
        y->tried = reef__trial_begin(w, x->op, &y->trial);
        s = y->tried ? world_convert(x, w) : w->error.status;
    }
    const schedule *now = w->schedule;
    if (s >= 0 && now && reef__module_find(now, x->module)) s = reef__module_take(w, x->op, m, true);
    if (s >= 0) s = queries_follow(x, w, &y->queries);
    if (s >= 0 && y->snapshot && (y->converted = reef_snapshot_take(w)) == NULL) s = w->error.status;
    if (s < 0 && x->why[0] == 0 && s != REEF_NO_MEMORY) (void)reef_error_text(w, x->why, sizeof x->why);
    if (s >= 0) return s;
    char detail[REEF_DETAIL_MAX];
    (void)snprintf(detail, sizeof detail, "%s", x->why);
    if (detail[0]) (void)reef__layout_refuse(x, s, "%s, in %s", detail, which);
    return s;
}

static COLD void member_end(layout_member *y, reef_status s)
{
    if (y->queries.world) reef__queries_renewed(&y->queries, s >= 0);
    if (y->tried) (void)reef__trial_end(y->world, &y->trial, s);
    if (s >= 0 && y->converted) reef__snapshot_become(y->snapshot, y->converted);
    reef_snapshot_free(y->converted);
    if (y->snapshot) reef_world_free(y->world);
}

/* ---- the change ---- */

/* The inputs of a history, as values in a world of their own. */
static COLD reef_status history_convert(layout_change *x, reef_history *h, uint32_t is)
{
    const type *t = reef__type_of(is);
    const uint64_t from = h == x->settings->history ? x->from : 0; /* those before will be dropped */
    if (reef__history_plays(h))
        return reef__layout_refuse(x, REEF_LOCKED,
                                   "%s has another layout, but a history plays a tick with inputs of it", t->name);
    if (t->hooked || t->relation || t->home != REEF_TABLE || t->size == 0)
        return reef__layout_refuse(x, REEF_BAD_ARGUMENT,
                                   "%s is the input of a history, which can't have hooks or a home", t->name);
    reef_world_config config = x->world->config; /* whose bounds are those of a game, not of its inputs */
    config.strict = false;
    config.entities_max = 0;
    reef_world *w = reef_world_new(&config);
    reef_status s = w ? reef__inputs_spread(h, w, from) : REEF_NO_MEMORY;
    if (s >= 0) s = world_convert(x, w);
    if (s >= 0) s = reef__inputs_gather(h, w, (reef_component){is}, from);
    reef_world_free(w);
    char detail[REEF_DETAIL_MAX];
    (void)snprintf(detail, sizeof detail, "%s", x->why);
    if (s < 0 && detail[0]) (void)reef__layout_refuse(x, s, "%s, in the inputs of a history", detail);
    return s;
}

static COLD reef_status inputs_convert(layout_change *x)
{
    reef_status s = REEF_OK;
    for (reef_history *h = NULL; s >= 0 && (h = reef__history_described(h)) != NULL;) {
        const uint32_t id = reef_history_input_type(h).id;
        if (layout_ages(x, id)) s = history_convert(x, h, layout_now(x, id));
    }
    return s;
}

COLD reef_status reef__layouts_begin(layout_change *x)
{
    reef_world *w = x->world;
    if (x->settings->history && !reef__history_of(x->settings->history, w))
        return reef__layout_refuse(x, REEF_BAD_ARGUMENT, "the history is another world's");
    reef_status s = reef_flush(w);
    x->from = x->settings->history ? reef__history_back(x->settings->history, x->settings->replay) : HISTORY_NOTHING;
    if (s == REEF_OK) s = world_check(x, w, "the world");
    if (s == REEF_OK) s = others_list(x);
    if (s != REEF_OK) return s;
    x->tried = reef__trial_begin(w, x->op, &x->trial);
    if (!x->tried) return w->error.status;
    s = world_convert(x, w);
    return s < 0 ? s : inputs_convert(x);
}

COLD reef_status reef__layouts_follow(layout_change *x, const reef_module *m)
{
    reef_status s = queries_follow(x, x->world, &x->queries);
    for (uint32_t i = 0; s >= 0 && i < x->other_count; i++) s = member_convert(x, &x->others[i], m);
    return s;
}

COLD reef_status reef__layouts_end(layout_change *x, reef_status s)
{
    for (uint32_t i = x->other_count; i-- > 0;) member_end(&x->others[i], s);
    reef__memory_free(&x->world->family->memory, MEMORY_OTHER, x->others, x->other_room * sizeof *x->others);
    if (x->queries.world) reef__queries_renewed(&x->queries, s >= 0);
    for (reef_history *h = NULL; (h = reef__history_described(h)) != NULL;) {
        const reef_component input = reef_history_input_type(h);
        if (layout_ages(x, input.id)) reef__inputs_settle(h, (reef_component){layout_now(x, input.id)}, s >= 0);
    }
    if (x->settings->history && x->tried && s >= 0) reef__history_cut(x->settings->history, x->from);
    return x->tried ? reef__trial_end(x->world, &x->trial, s) : s;
}
