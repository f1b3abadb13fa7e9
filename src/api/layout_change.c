/* Types whose layout changes while a world lives.
 *
 *   the name "Hunter" ──before──► type 7 {power, rage}            values of the world, of its snapshots
 *                     ──after───► type 31 {power, mood, fear}
 *
 * The new layout is another type, which takes over the name (src/type/code.h), so both are valid until the old one has
 * no values any more, and a failure at any point leaves the old one. The world is written as a file in memory while it
 * has the old types, and read with the new ones: what is converted how, in which home, and what would be lost, is what
 * loading an old file does and says (src/file/decode_types.c).
 *
 * A file contains everything that can be observed, but only what fields describe of values with fields, and it can't
 * carry what a value owns. So a world with other values is refused, and so is everything else that would still name the
 * old type: other worlds, snapshots, systems and observers that the module doesn't make again. */
#include "api/layout_change.h"
#include "base/memory.h"
#include "base/platform.h"
#include "base/text_out.h"
#include "type/type.h"
#include "type/type_rules.h"
#include "storage/error.h"
#include "storage/family.h"
#include "storage/known_types.h"
#include "storage/observed.h"
#include "storage/state.h"
#include "storage/world_data.h"
#include "system/schedule.h"
#include "system/script.h"
#include "world/snapshot.h"
#include "time/history.h"
#include "reef/code.h"
#include "reef/loop_settings.h"
#include "reef/control.h"
#include "reef/file.h"
#include "reef/type_info.h"
#include <stdarg.h>
#include <stdio.h>

static COLD uint32_t layout_now(const void *context, uint32_t id)
{
    const layout_change *x = context;
    for (uint32_t i = 0; i < x->count; i++)
        if (x->list[i].was->id == id) return x->list[i].is->id;
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
static COLD const char *who_names(const layout_change *x)
{
    const schedule *s = x->world->schedule;
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

/* A type of which the world has values that a file can't carry whole. NULL: there is none. */
static COLD const type *who_is_bound(const layout_change *x, const char **why)
{
    const reef_world *w = x->world;
    const type *t;
    for (uint32_t id = 1; (t = reef__type_of(id)) != NULL; id++) {
        if (t->size == 0 || t->resets || t->owner || t->relation || t->split || id == reef__scripts_type()) continue;
        const bool owns = t->hooks.destroy || t->hooks.copy || t->hooks.move;
        const bool partly = t->field_count && !reef__fields_cover(t->fields, t->field_count, t->size, t->align);
        if ((!owns && !partly) || reef_count_id(w, (reef_component){id}) == 0) continue;
        *why = owns ? "they have hooks" : "fields don't describe all their bytes";
        return t;
    }
    return NULL;
}

static COLD reef_status layouts_check(layout_change *x)
{
    uint32_t ids[LAYOUTS_MAX], worlds, snapshots;
    const char *why = NULL, *first = x->list[0].was->name;
    const reef_history *h = x->settings->history;
    const uint64_t kept = h ? reef__history_kept(h) : 0;
    for (uint32_t i = 0; i < x->count; i++) ids[i] = x->list[i].was->id;
    reef__members_knowing(x->world, ids, x->count, &worlds, &snapshots);
    if ((worlds || snapshots > kept))
        return reef__layout_refuse(
            x, REEF_UNKNOWN_TYPE,
            "%s has another layout, but %u other worlds and %llu snapshots know the one that it had", first, worlds,
            (unsigned long long)(snapshots > kept ? snapshots - kept : 0));
    const char *name = who_names(x);
    if (name)
        return reef__layout_refuse(x, REEF_UNKNOWN_TYPE, "%s has another layout, but %s names it, too", first, name);
    const type *t = who_is_bound(x, &why);
    if (t == NULL) return REEF_OK;
    return reef__layout_refuse(x, REEF_NOT_COPYABLE, "%s has another layout, but %s can't be converted: %s", first,
                               t->name, why);
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

/* Writes the world with the old types, and reads it with the new ones. */
static COLD reef_status world_convert(layout_change *x)
{
    reef_world *w = x->world;
    reef_bytes bytes = {0};
    const reef_save_desc save = {.raw = true};
    const reef_load_desc load = {
        .unknown = REEF_UNKNOWN_REFUSE, .lossless = !x->settings->lose_values, .note = layout_lost, .context = x};
    for (uint32_t i = 0; i < x->count; i++)
        if (reef__world_knows(w, x->list[i].was->id) &&
            reef_world_use(w, (reef_component){x->list[i].is->id}) != REEF_OK)
            return REEF_NO_MEMORY;
    reef_status s = reef_save_bytes(w, &bytes, &save);
    if (s != REEF_OK) return s;
    reef_world *fresh = reef__world_blank(w);
    s = fresh ? reef_load_bytes(fresh, bytes.data, bytes.size, &load) : REEF_NO_MEMORY;
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

static COLD reef_status past_begin(layout_change *x)
{
    reef_history *h = x->settings->history;
    if (h == NULL) return REEF_OK;
    const reef_history_range r = reef_history_reach(h);
    uint64_t from = r.tick > x->settings->replay ? r.tick - x->settings->replay : 0;
    if (from < r.first) from = r.first;
    if (x->settings->replay == 0) from = r.tick;
    x->aside_put = reef__history_aside(h, from, &x->aside);
    if (!x->aside_put) return REEF_NO_MEMORY;
    return reef__history_back(x->aside, from);
}

COLD reef_status reef__layouts_begin(layout_change *x)
{
    reef_world *w = x->world;
    if (x->settings->history && !reef__history_of(x->settings->history, w))
        return reef__layout_refuse(x, REEF_BAD_ARGUMENT, "the history is another world's");
    reef_status s = reef_flush(w);
    if (s == REEF_OK) s = layouts_check(x);
    if (s != REEF_OK) return s;
    x->tried = reef__trial_begin(w, x->op, &x->trial);
    if (!x->tried) return w->error.status;
    s = past_begin(x);
    return s < 0 ? s : world_convert(x);
}

COLD reef_status reef__layouts_follow(layout_change *x)
{
    x->queries.now = layout_now;
    x->queries.context = x;
    reef_status s = reef__queries_renew(&x->queries, x->world, x->op, reef__query_planned);
    if (x->queries.bound)
        (void)reef__layout_refuse(x, s, "%s has another layout, but a query compares or sorts by its values",
                                  x->list[0].was->name);
    if (s >= 0 && x->aside) s = reef__history_play(x->settings->history, x->aside);
    return s;
}

COLD reef_status reef__layouts_end(layout_change *x, reef_status s)
{
    reef__queries_renewed(&x->queries, s >= 0);
    if (x->aside) reef__history_settle(x->settings->history, x->aside, s >= 0);
    return x->tried ? reef__trial_end(x->world, &x->trial, s) : s;
}
