/* How observers are told what operations do.
 *
 *   log    notices, each with kind, component, entities, old value: planned before the operation, complete when it is
 *   told   the notices before this number were told to immediate observers; collected observers get the whole log at
 *          a flush, and it is empty then
 *
 * An old value of plain bytes is copied when its notice is planned. One with hooks is moved into the log at the moment
 * when it would have been destroyed (observing_keep), and is destroyed when the log is emptied.
 *
 * What observers ask for is recorded as the world's commands, as in a loop that records. Then these commands are taken
 * out and done in rounds: the commands of one round cause new notices, and what observers ask for then is the next
 * round. */
#include "observe/notice.h"
#include "base/memory.h"
#include "base/platform.h"
#include "type/type.h"
#include "type/value.h"
#include "storage/archetype.h"
#include "storage/command_buffer.h"
#include "storage/entity_index.h"
#include "storage/error.h"
#include "storage/invalidate.h"
#include "storage/layout.h"
#include "storage/multi_store.h"
#include "storage/observed.h"
#include "storage/read.h"
#include "storage/relation_index.h"
#include "storage/shared_store.h"
#include "storage/world_data.h"
#include "change/command.h"
#include "change/spawn_row.h"
#include "query/query.h"
#include "system/schedule.h"
#include "observe/observer.h"
#include "observe/observer_log.h"
#include "reef/multi.h"
#include "reef/observer.h"
#include "reef/relation.h"
#include "reef/many.h"
#include "reef/loop_settings.h"
#include <stdio.h>

static uint32_t kinds_asked(const observer_log *o, uint32_t component)
{
    return component > o->head.kinds_count ? 0 : whom_either(o->head.asked[component]);
}

/* ---- the log ---- */

static size_t old_values_bytes(const type *t) { return t->size ? (size_t)t->size + t->align - 1 : 0; }

static void *old_values_take(const observer_log *o, const type *t)
{
    return reef__arena_take(o->old_values, t->size, t->align);
}

/* Makes room for notices, for entities, for the sum of the notices' counts, and for bytes of old values. */
static bool notices_room(reef_world *w, observer_log *o, uint64_t notices, uint64_t entities, uint64_t references,
                         uint64_t bytes)
{
    return reef__list_room(w, &o->notices, o->notice_count, &o->notice_room, notices, sizeof *o->notices) &&
           reef__list_room(w, &o->entities, o->entity_count, &o->entity_room, entities, sizeof *o->entities) &&
           (!o->collects || reef__list_room(w, &o->nets, o->references, &o->net_room, references, sizeof *o->nets)) &&
           reef__arena_room(&w->family->memory, &o->old_values, bytes, OLD_VALUES_BYTES);
}

static notice *notice_add(observer_log *o, uint32_t kind, uint32_t component, uint64_t first, uint32_t count)
{
    notice *n = &o->notices[o->notice_count++];
    *n = (notice){.first = first, .kind = kind, .component = component, .count = count};
    o->references += count;
    o->head.room_for_one = false;
    return n;
}

static void log_empty(reef_world *w, observer_log *o)
{
    for (uint64_t i = 0; i < o->notice_count; i++)
        if (o->notices[i].held) held_end(reef__type_of(o->notices[i].component), (void *)(uintptr_t)o->notices[i].old);
    o->notice_count = o->told = o->entity_count = o->references = o->op_notices = o->op_entities = 0;
    while (o->old_values && (o->old_values->next || o->old_values->bytes > OLD_VALUES_KEPT))
        reef__arena_drop(&w->family->memory, &o->old_values);
    if (o->old_values) o->old_values->used = sizeof *o->old_values;
    o->head.room_for_one = o->notice_room && o->entity_room && (!o->collects || o->net_room);
}

static COLD void observing_forget(reef_world *w)
{
    if (w->observing == NULL) return;
    log_empty(w, w->observing);
    w->observing->head.stuck = false;
}

static COLD void observing_drop(reef_world *w)
{
    observer_log *o = w->observing;
    memory *m = &w->family->memory;
    if (o == NULL) return;
    log_empty(w, o);
    reef__listeners_free(w, o);
    while (o->old_values) reef__arena_drop(m, &o->old_values);
    reef__memory_free(m, MEMORY_OTHER, o->notices, (size_t)o->notice_room * sizeof *o->notices);
    reef__memory_free(m, MEMORY_OTHER, o->entities, (size_t)o->entity_room * sizeof *o->entities);
    reef__memory_free(m, MEMORY_OTHER, o->nets, (size_t)o->net_room * sizeof *o->nets);
    reef__memory_free(m, MEMORY_OTHER, o, sizeof *o);
    w->observing = NULL;
}

/* ---- planning ---- */

static void plan_begin(observer_log *o, bool one)
{
    o->op_notices = o->notice_count;
    o->op_entities = o->entity_count;
    o->op_one = one;
    o->planned = true;
}

/* The same for an operation on one entity: it goes into the log, and which watchers it matches is remembered. False:
 * no memory. */
static bool plan_one(reef_world *w, reef_entity e, uint64_t notices, uint64_t bytes)
{
    observer_log *o = w->observing;
    if (!notices_room(w, o, notices, 1, notices, bytes)) return false;
    plan_begin(o, true);
    o->entities[o->entity_count++] = e;
    for (uint32_t i = 0; o->head.matches && i < o->count; i++)
        o->before[i] = watcher_matches(&o->watchers[i], place_of(w, e));
    return true;
}

/* Keeps the value of a component that leaves e, or that is overwritten. */
static void plan_old(reef_world *w, observer_log *o, notice *n, reef_entity e, const type *t)
{
    if (t->size == 0) return;
    if (t->split) {
        char *room = old_values_take(o, t);
        if (reef_read_id(w, e, (reef_component){t->id}, room, t->size)) n->old = room;
        return;
    }
    const void *p = reef__value_itself(w, e, (reef_component){t->id});
    if (p == NULL) return;
    if (t->relation && n->kind == REEF_ON_REMOVE) n->target = ((const relation_value *)p)->target;
    void *old = old_values_take(o, t);
    if (t->hooked) n->awaited = true;
    else memcpy(old, p, t->size);
    n->old = old;
}

/* Returns what a change does to a component: the kind of notice, or 0. */
static uint32_t change_of(const reef_world *w, reef_entity e, const type *t, uint32_t to, const reef_value *values,
                          uint32_t count)
{
    const reef_value *v = NULL;
    for (uint32_t i = 0; i < count && v == NULL; i++)
        if (values[i].component.id == t->id) v = &values[i];
    if (has_itself(w, e, t)) {
        if (v ? v->kind == REEF_VALUE_REMOVE : !t->bit && !t->stored && reef__slot_seek(w, t->id, to) == 0)
            return REEF_ON_REMOVE;
        return v && t->size ? REEF_ON_SET : 0;
    }
    return v && v->kind != REEF_VALUE_REMOVE ? REEF_ON_ADD : 0;
}

/* ---- relations ----
 *
 * A relation is told by a notice of its own. Which one came is known when the operation is complete. */

/* What a change does to the relations of a type of which a source may have several: how many leave, beginning with the
 * first one, how many come, and whether the first one gets other data. */
typedef struct relations_moved {
    uint32_t leave, come;
    bool written;
} relations_moved;

static relations_moved relations_moved_by(const reef_world *w, reef_entity e, const type *t, uint32_t to,
                                          const reef_value *values, uint32_t count)
{
    const uint32_t kind = change_of(w, e, t, to, values, count);
    const reef_value *v = values;
    if (kind == 0) return (relations_moved){0, 0, false};
    if (kind == REEF_ON_REMOVE) return (relations_moved){reef__store_values(w, t, e), 0, false};
    while (v->component.id != t->id) v++;
    if (kind == REEF_ON_ADD) return (relations_moved){0, v->kind == VALUE_SPAN ? v->size : 1, false};
    const relation_value *comes = v->data;
    const bool same = comes && reef_entity_equal(comes->target, relation_number(w, t, e, 0)->target);
    return (relations_moved){!same, !same, same};
}

/* Adds the notice of a relation: `leaves` is what it was, NULL: nothing; `comes` what it will be, if that is known. */
static void relation_notices_plan(observer_log *o, uint32_t kind, const type *t, const void *leaves, const void *comes)
{
    if (!(kinds_asked(o, t->id) & kind)) return;
    notice *n = notice_add(o, kind, t->id, o->op_entities, 1);
    if (leaves) n->old = memcpy(old_values_take(o, t), leaves, t->size);
    if (comes || kind == REEF_ON_REMOVE) n->target = ((const relation_value *)(comes ? comes : leaves))->target;
}

static void relations_plan(const reef_world *w, observer_log *o, reef_entity e, const type *t, relations_moved m)
{
    for (uint32_t i = 0; i < m.leave; i++)
        relation_notices_plan(o, REEF_ON_REMOVE, t, relation_number(w, t, e, i), NULL);
    for (uint32_t i = 0; i < m.come; i++) relation_notices_plan(o, REEF_ON_ADD, t, NULL, NULL);
    if (m.written) relation_notices_plan(o, REEF_ON_SET, t, relation_number(w, t, e, 0), NULL);
}

/* The operation is complete: writes the targets of relations that came. */
static void relations_done(const reef_world *w, observer_log *o)
{
    uint32_t number = 0;
    for (uint64_t i = o->op_notices; i < o->notice_count; i++) {
        notice *n = &o->notices[i];
        if (!(n->kind & (REEF_ON_ADD | REEF_ON_SET)) || n->target.generation != 0) continue;
        const type *t = reef__type_of(n->component);
        if (t->relation == 0) continue;
        number = i > o->op_notices && n[-1].component == n->component && n[-1].kind == REEF_ON_ADD ? number + 1 : 0;
        const relation_value *v = relation_number(w, t, o->entities[n->first], number);
        if (v) n->target = v->target;
    }
}

/* The most relations that n entities have of the types in which a source may have several; of one type, or of all that
 * are watched (NULL). *bytes grows by what is kept of their values. */
static uint64_t relations_most(const reef_world *w, const observer_log *o, const type *one, uint64_t n, uint64_t *bytes)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < o->head.watched_count; i++) {
        const type *t = reef__type_of(o->head.watched[i]);
        if (!several_relations(t) || (one && one != t)) continue;
        const uint64_t all = store_of(w, t->id)->count, some = all / REEF_MULTI_MAX < n ? all : n * REEF_MULTI_MAX;
        most += some;
        *bytes += some * old_values_bytes(t);
    }
    return most;
}

/* ---- planning what an operation does ---- */

static bool observing_change(reef_world *w, reef_entity e, uint32_t to, const reef_value *values, uint32_t count)
{
    uint64_t n = 0, bytes = 0;
    if (!reef__observing_ready(w)) return false;
    observer_log *o = w->observing;
    for (uint32_t i = 0; i < o->head.watched_count; i++) {
        const type *t = reef__type_of(o->head.watched[i]);
        if (several_relations(t)) {
            const relations_moved m = relations_moved_by(w, e, t, to, values, count);
            n += (uint64_t)m.leave + m.come + m.written;
            bytes += (m.leave + (uint64_t)m.written) * old_values_bytes(t);
            continue;
        }
        const uint32_t kind = change_of(w, e, t, to, values, count) & kinds_asked(o, t->id);
        n += kind != 0;
        if (kind & (REEF_ON_SET | REEF_ON_REMOVE)) bytes += old_values_bytes(t);
    }
    if (!plan_one(w, e, n + o->head.matches, bytes)) return false;
    for (uint32_t i = 0; n && i < o->head.watched_count; i++) {
        const type *t = reef__type_of(o->head.watched[i]);
        if (several_relations(t)) {
            relations_plan(w, o, e, t, relations_moved_by(w, e, t, to, values, count));
            continue;
        }
        const uint32_t kind = change_of(w, e, t, to, values, count) & kinds_asked(o, t->id);
        if (kind == 0) continue;
        notice *x = notice_add(o, kind, t->id, o->op_entities, 1);
        if (kind != REEF_ON_ADD) plan_old(w, o, x, e, t);
    }
    return true;
}

/* e gets or loses one of several values of a type of which it may have several. The first value is the one that
 * observers are told, so only when that one leaves is there an old value. */
static COLD bool observing_several(reef_world *w, reef_entity e, const type *t, const void *leaves, const void *comes)
{
    if (!reef__observing_ready(w)) return false;
    observer_log *o = w->observing;
    if (t->relation) {
        const bool kept = (leaves && kinds_asked(o, t->id));
        if (!plan_one(w, e, 2 + (uint64_t)o->head.matches, kept ? old_values_bytes(t) : 0)) return false;
        if (leaves) relation_notices_plan(o, REEF_ON_REMOVE, t, leaves, NULL);
        if (comes) relation_notices_plan(o, REEF_ON_ADD, t, NULL, comes);
        return true;
    }
    const bool told = (kinds_asked(o, t->id) & REEF_ON_SET) != 0;
    const bool first = told && leaves && leaves == reef__value_itself(w, e, (reef_component){t->id});
    if (!plan_one(w, e, told + (uint64_t)o->head.matches, first ? old_values_bytes(t) : 0)) return false;
    notice *n = told ? notice_add(o, REEF_ON_SET, t->id, o->op_entities, 1) : NULL;
    if (first) plan_old(w, o, n, e, t);
    return true;
}

/* Return the most bytes and notices that the death of one entity may need. */
static uint64_t death_bytes(const observer_log *o)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < o->head.watched_count; i++) bytes += old_values_bytes(reef__type_of(o->head.watched[i]));
    return bytes;
}
static uint64_t death_notices(const observer_log *o)
{
    return 2 * (uint64_t)o->head.watched_count + 1 + o->head.matches;
}

static bool observing_destroy(reef_world *w, reef_entity e)
{
    const uint32_t either = REEF_ON_REMOVE | REEF_ON_DESTROY;
    if (!reef__observing_ready(w)) return false;
    observer_log *o = w->observing;
    uint64_t bytes = death_bytes(o);
    const uint64_t relations = relations_most(w, o, NULL, 1, &bytes);
    if (!plan_one(w, e, death_notices(o) + relations, bytes)) return false;
    for (uint32_t i = 0; i < o->head.watched_count; i++) {
        const type *t = reef__type_of(o->head.watched[i]);
        const uint32_t kinds = kinds_asked(o, t->id) & either;
        if (kinds == 0 || !has_itself(w, e, t)) continue;
        plan_old(w, o,
                 notice_add(o, kinds & REEF_ON_REMOVE ? REEF_ON_REMOVE : REEF_ON_DESTROY, t->id, o->op_entities, 1), e,
                 t);
        const uint32_t several = several_relations(t) ? reef__store_values(w, t, e) : 1;
        for (uint32_t k = 1; k < several; k++)
            relation_notices_plan(o, REEF_ON_REMOVE, t, relation_number(w, t, e, k), NULL);
    }
    const uint64_t end = o->notice_count;
    for (uint64_t i = o->op_notices; i < end; i++) {
        const notice x = o->notices[i];
        const bool first = i == o->op_notices || o->notices[i - 1].component != x.component;
        if (first && x.kind == REEF_ON_REMOVE && kinds_asked(o, x.component) & REEF_ON_DESTROY)
            notice_add(o, REEF_ON_DESTROY, x.component, o->op_entities, 1)->old = x.old;
    }
    if (o->deaths) notice_add(o, REEF_ON_DESTROY, 0, o->op_entities, 1);
    return true;
}

/* Is an observer told that entities get this component, and do those that are made in this table with these values? */
static bool spawn_adds(const reef_world *w, uint32_t component, uint32_t id, const reef_value *values, uint32_t count)
{
    const type *t = reef__type_of(component);
    if (!(kinds_asked(w->observing, component) & REEF_ON_ADD)) return false;
    if (!t->bit && !t->stored) return reef__slot_seek(w, t->id, id) != 0;
    for (uint32_t i = 0; i < count; i++)
        if (values[i].component.id == t->id) return true;
    return false;
}

/* What is told of entities that are made, beside what watchers match: notices for all of them together, and relations
 * of each. */
typedef struct spawn_told {
    uint64_t notices, relations;
} spawn_told;

static spawn_told spawn_tells(const reef_world *w, uint32_t id, const reef_value *values, uint32_t count)
{
    const observer_log *o = w->observing;
    spawn_told told = {o->births, 0};
    for (uint32_t i = 0; i < o->head.watched_count; i++) {
        const uint32_t c = o->head.watched[i];
        if (!spawn_adds(w, c, id, values, count)) continue;
        if (reef__type_of(c)->relation == 0) {
            told.notices++;
            continue;
        }
        for (uint32_t k = 0; k < count; k++)
            if (values[k].component.id == c) told.relations += values[k].kind == VALUE_SPAN ? values[k].size : 1;
    }
    return told;
}

static bool observing_spawn(reef_world *w, uint32_t id, const reef_value *values, uint32_t count, uint32_t n)
{
    if (!reef__observing_ready(w)) return false;
    observer_log *o = w->observing;
    const spawn_told told = spawn_tells(w, id, values, count);
    const uint64_t each = ((uint64_t)o->head.matches + told.relations) * n;
    if (told.notices + each && !notices_room(w, o, told.notices + each, n, told.notices * n + each, 0)) return false;
    plan_begin(o, false);
    return true;
}

static void observing_spawned(reef_world *w, uint32_t id, const reef_value *values, uint32_t count, uint32_t n,
                              const reef_entity *given)
{
    observer_log *o = w->observing;
    const spawn_told told = spawn_tells(w, id, values, count);
    if (o->head.matches + told.notices + told.relations == 0) return;
    reef_entity *e = o->entities + o->entity_count;
    if (given) memcpy(e, given, n * sizeof *e);
    else reef__ids_peek(w, 0, n, e);
    o->entity_count += n;
    if (o->births) notice_add(o, NOTICE_BORN, 0, o->op_entities, n);
    for (uint32_t i = 0; i < o->head.watched_count; i++) {
        const type *t = reef__type_of(o->head.watched[i]);
        if (!spawn_adds(w, t->id, id, values, count)) continue;
        if (t->relation == 0) notice_add(o, REEF_ON_ADD, t->id, o->op_entities, n);
        const relation_value *v;
        for (uint32_t k = 0; t->relation && k < n; k++)
            for (uint32_t m = 0; (v = relation_number(w, t, e[k], m)) != NULL; m++)
                notice_add(o, REEF_ON_ADD, t->id, o->op_entities + k, 1)->target = v->target;
    }
    for (uint32_t i = 0; o->head.matches && i < o->count; i++) {
        notice *last = NULL;
        for (uint32_t k = 0; o->watchers[i].q && k < n; k++) {
            if (!watcher_matches(&o->watchers[i], (uint32_t)record_read(w, e[k].index))) last = NULL;
            else if (last) last->count++, o->references++;
            else last = notice_add(o, REEF_ON_MATCH, i, o->op_entities + k, 1);
        }
    }
}

static bool observing_keep(reef_world *w, const type *t, void *slot)
{
    observer_log *o = w->observing;
    for (uint64_t i = o ? o->op_notices : 0; o && i < o->notice_count; i++) {
        notice *n = &o->notices[i];
        if (!n->awaited || n->held || n->component != t->id || (n->kind & OF_MATCH)) continue;
        const void *at = n->old;
        /* several notices may have this value */
        for (uint64_t k = i; t->home == REEF_SHARED && k < o->notice_count; k++)
            if (o->notices[k].old == at) o->notices[k].old = slot;
        if (t->home != REEF_SHARED) reef__value_move(t, (void *)(uintptr_t)at, slot);
        n->held = true;
        return true;
    }
    return false;
}

static bool observing_reserve_changes(reef_world *w, const type *t, uint64_t n)
{
    if (!reef__observing_ready(w)) return false;
    observer_log *o = w->observing;
    const uint64_t notices = 2 + (uint64_t)o->head.matches;
    if (n > SIZE_MAX / 64 / notices || (t && n > SIZE_MAX / 4 / (old_values_bytes(t) + 1))) return false;
    uint64_t bytes = t && kinds_asked(o, t->id) ? n * old_values_bytes(t) : 0;
    const uint64_t relations = t && t->relation ? relations_most(w, o, t, n, &bytes) : 0, all = n * notices + relations;
    return notices_room(w, o, all, n, all, bytes);
}

static bool observing_reserve_deaths(reef_world *w, uint64_t n)
{
    if (!reef__observing_ready(w)) return false;
    observer_log *o = w->observing;
    if (n > SIZE_MAX / 64 / death_notices(o) || n > SIZE_MAX / 4 / (death_bytes(o) + 1)) return false;
    uint64_t bytes = n * death_bytes(o);
    const uint64_t all = n * death_notices(o) + relations_most(w, o, NULL, n, &bytes);
    return notices_room(w, o, all, n, all, bytes);
}

/* ---- calling ---- */

static bool commands_pending(const reef_world *w) { return w->deferred.count || w->deferred.run; }

/* Calls are recorded from here on, as in a loop that records. In the last round nothing is recorded any more. Failures
 * name the calls of observers, and not the one that is observed. */
static void observers_enter(reef_world *w, observer_log *o)
{
    o->calling = w->calling;
    w->calling = NULL;
    o->recording = w->commands;
    w->commands = o->head.round >= REEF_CASCADE_ROUNDS ? NULL : &w->deferred;
    w->deferring++;
    w->locks++;
    reef__invalidate(w, INVALIDATE_LOOP_OPENED);
}

static void observers_leave(reef_world *w, const observer_log *o)
{
    w->calling = o->calling;
    w->notifying = NULL;
    w->commands = o->recording;
    w->deferring--;
    w->locks--;
    reef__invalidate(w, INVALIDATE_CONDITION_CHANGED);
    if (commands_pending(w)) w->slow |= SLOW_DEFERRED;
}

static void observer_call(reef_world *w, const struct observer *o, const reef_notice *n)
{
    w->notifying = o;
    o->function(n);
    if (UNLIKELY(w->deferred.run != 0)) reef__commands_part(&w->deferred);
}

static bool side_by_side(const void *const *p, uint32_t n, uint32_t size)
{
    for (uint32_t i = 0; i < n; i++)
        if (p[i] == NULL || (const char *)p[i] != (const char *)p[0] + (size_t)i * size) return false;
    return true;
}

/* Returns the values that these entities have now; NULL: they don't lie side by side. */
static const void *values_of(const reef_world *w, const reef_entity *e, uint32_t n, reef_component c, uint32_t size,
                             const reef_entity *targets)
{
    if (targets) return n == 1 ? reef__relation_find(store_of(w, c.id), e[0], targets[0], NULL) : NULL;
    const char *first = reef__value_itself(w, e[0], c);
    for (uint32_t i = 1; first && i < n; i++)
        if (reef__value_itself(w, e[i], c) != first + (size_t)i * size) return NULL;
    return first;
}

static void observer_tell(reef_world *w, const struct observer *o, uint32_t kind, const reef_entity *e,
                          const reef_entity *targets, const void *const *old, uint32_t n, bool existing)
{
    const type *t = reef__type_of(o->component.id);
    reef_notice x = {.world = w,
                     .context = o->context,
                     .kind = (reef_observed)kind,
                     .component = o->component,
                     .count = n,
                     .entities = e,
                     .targets = t && t->relation && kind != REEF_ON_DESTROY ? targets : NULL,
                     .existing = existing,
                     .size = t ? t->size : 0};
    if (x.size && kind & (REEF_ON_ADD | REEF_ON_SET)) x.values = values_of(w, e, n, o->component, x.size, x.targets);
    if (x.size && old && kind & (REEF_ON_SET | REEF_ON_REMOVE | REEF_ON_DESTROY)) {
        x.old = old;
        if (side_by_side(old, n, x.size)) x.olds = old[0];
    }
    observer_call(w, o, &x);
}

const void *reef_notice_value(const reef_notice *n, uint32_t i)
{
    if (n == NULL || i >= n->count || n->size == 0 || !(n->kind & (REEF_ON_ADD | REEF_ON_SET))) return NULL;
    if (n->values) return (const char *)n->values + (size_t)i * n->size;
    return n->targets ? reef__relation_find(store_of(n->world, n->component.id), n->entities[i], n->targets[i], NULL)
                      : reef__value_itself(n->world, n->entities[i], n->component);
}

const void *reef_notice_old(const reef_notice *n, uint32_t i) { return n && n->old && i < n->count ? n->old[i] : NULL; }

void reef__batch_notify(reef_world *w, const struct observer *x, batch *b)
{
    if (b->count) observer_tell(w, x, b->kind, b->entity, b->target, b->old, b->count, b->existing);
    b->count = 0;
}

/* Is this about relations to the target that the observer asks for? */
static bool is_of_target(const struct observer *x, reef_entity target, const void *old)
{
    return x->target.generation == 0 || reef_entity_equal(target, x->target) ||
           (old && reef_entity_equal(((const relation_value *)old)->target, x->target));
}

void reef__batch_add(reef_world *w, const struct observer *x, batch *b, uint32_t kind, reef_entity e,
                     reef_entity target, const void *old)
{
    if (!is_of_target(x, target, old)) return;
    if (b->count == REEF_BLOCK_ROWS || (b->count && b->kind != kind)) reef__batch_notify(w, x, b);
    b->kind = kind;
    b->entity[b->count] = e;
    b->target[b->count] = target;
    b->old[b->count++] = old;
}

static void tell_immediate(reef_world *w, observer_log *o)
{
    observers_enter(w, o);
    for (uint32_t i = 0; i < o->count; i++) {
        const struct observer *x = o->watchers[i].o;
        for (uint64_t k = x->collected ? o->notice_count : o->told; k < o->notice_count; k++) {
            const notice *n = &o->notices[k];
            if (!(n->kind & x->events) || !concerns(o, i, n)) continue;
            if (n->count == 1) {
                reef__batch_add(w, x, &o->batch, n->kind, o->entities[n->first], n->target, n->old);
                continue;
            }
            reef__batch_notify(w, x, &o->batch);
            for (uint32_t at = 0; at < n->count; at += REEF_BLOCK_ROWS) {
                const uint32_t rest = n->count - at;
                observer_tell(w, x, n->kind, o->entities + n->first + at, NULL, NULL,
                              rest < REEF_BLOCK_ROWS ? rest : REEF_BLOCK_ROWS, false);
            }
        }
        reef__batch_notify(w, x, &o->batch);
    }
    observers_leave(w, o);
    o->told = o->notice_count;
}

/* ---- flushes of the log ---- */

/* Tells the log to collected observers and empties it. False: it was empty. */
static bool tell_collected(reef_world *w, observer_log *o)
{
    if (o->notice_count == 0) return false;
    if (o->collects) {
        observers_enter(w, o);
        for (uint32_t i = 0; i < o->count; i++) {
            const struct observer *x = o->watchers[i].o;
            if (!x->collected) continue;
            if (x->events & OF_COMPONENT) reef__tell_net(w, o, i, OF_COMPONENT);
            if (x->events & OF_MATCH) reef__tell_net(w, o, i, OF_MATCH);
            if (x->events & REEF_ON_DESTROY) reef__tell_net(w, o, i, REEF_ON_DESTROY);
        }
        observers_leave(w, o);
        o->head.round++;
    }
    log_empty(w, o);
    return true;
}

/* ---- what observers ask for ---- */

static void cascade(reef_world *w, observer_log *o)
{
    const bool flushing = w->flushing;
    const char *calling = w->calling;
    w->calling = NULL;
    o->head.cascading = true;
    while (commands_pending(w) && !o->head.stuck) {
        commands asked_for = w->deferred;
        const reef_error was = w->error;
        memset(&w->deferred, 0, sizeof w->deferred);
        o->head.round++;
        const reef_status s = reef__commands_do(w, &asked_for);
        if (s < 0 && o->head.failed.status == REEF_OK) o->head.failed = w->error;
        w->error = was;
        o->head.stuck |= s == REEF_NO_MEMORY;
        if (!o->head.stuck) continue;
        reef__commands_append(&asked_for, &w->deferred);
        w->deferred = asked_for;
        w->slow |= SLOW_DEFERRED;
    }
    w->calling = calling;
    w->flushing = flushing;
    o->head.cascading = false;
    if (!commands_pending(w) && w->deferring == 0) w->slow &= ~SLOW_DEFERRED;
}

/* The immediate observers of an operation were told: does what they asked for, and outside of a flush tells the
 * collected ones. */
static void operation_rest(reef_world *w, observer_log *o)
{
    const bool outermost = !o->head.cascading && !w->flushing;
    if (!o->collects) log_empty(w, o);
    if (!o->head.cascading && w->locks == 0 && commands_pending(w)) cascade(w, o);
    if (outermost && w->deferring == 0)
        while (!o->head.stuck && tell_collected(w, o))
            if (w->locks == 0) cascade(w, o);
    if (outermost && o->head.failed.status != REEF_OK) w->error = o->head.failed;
}

/* An operation is complete, and is not part of another one. */
static void operation_end(reef_world *w, observer_log *o)
{
    const reef_error was = w->error;
    if (!o->head.cascading) o->head.round = 0;
    if (!o->head.cascading && !w->flushing) o->head.failed.status = REEF_OK, o->head.stuck = false;
    if (o->told < o->notice_count) tell_immediate(w, o);
    w->error = was;
    operation_rest(w, o);
}

/* Adds notices for watchers whose match of the operation's entity has changed. */
static void done_matches(reef_world *w, observer_log *o)
{
    const uint32_t place = place_of(w, o->entities[o->op_entities]);
    for (uint32_t i = 0; i < o->count; i++) {
        const bool is = watcher_matches(&o->watchers[i], place);
        if (is != o->before[i]) notice_add(o, is ? REEF_ON_MATCH : REEF_ON_UNMATCH, i, o->op_entities, 1);
    }
}

static void observing_done(reef_world *w, bool happened)
{
    observer_log *o = w->observing;
    ASSERT(o && o->planned);
    o->planned = false;
    if (!happened) {
        while (o->notice_count > o->op_notices) o->references -= o->notices[--o->notice_count].count;
        o->entity_count = o->op_entities;
        if (o->notice_count == 0) log_empty(w, o);
        return;
    }
    for (uint64_t i = o->op_notices; i < o->notice_count; i++) {
        const notice x = o->notices[i];
        for (uint64_t k = i; x.awaited && !x.held && k < o->notice_count; k++)
            if (o->notices[k].old == x.old) o->notices[k].old = NULL;
    }
    if (o->op_one) relations_done(w, o);
    if (o->op_one && o->head.matches) done_matches(w, o);
    if (o->op_notices == o->notice_count) o->entity_count = o->op_entities;
    if (o->head.depth == 0) operation_end(w, o);
}

static void observing_open(reef_world *w)
{
    if (reef__observing_ready(w)) w->observing->head.depth++;
}

static void observing_close(reef_world *w)
{
    observer_log *o = w->observing;
    if (o && o->head.depth && --o->head.depth == 0) operation_end(w, o);
}

/* ---- one change of one component ---- */

/* Calls the observers that watch this: the immediate ones, or the collected ones. */
INLINE void tell_one(reef_world *w, observer_log *o, reef_notice *x, uint32_t whom)
{
    observers_enter(w, o);
    for (const watcher *k = o->watchers, *end = k + o->count; k < end; k++) {
        if (k->o->component.id != x->component.id || !(k->whom & whom)) continue;
        x->context = k->o->context;
        observer_call(w, k->o, x);
    }
    observers_leave(w, o);
}

/* A notice goes into the log only if somebody may do something between the immediate observers and the collected ones.
 * Where no immediate observer watches, it is its own net effect, and the collected ones are told at once. */
static bool observing_tell(reef_world *w, reef_entity e, const type *t, uint32_t whom, void *value, const void *old)
{
    observer_log *o = w->observing;
    const uint32_t now = whom_now(whom);
    if (!o->head.cascading) {
        o->head.round = 0;
        if (!w->flushing) o->head.failed.status = REEF_OK, o->head.stuck = false;
    }
    reef_notice x = {.world = w,
                     .kind = (reef_observed)whom_either(whom),
                     .component = {t->id},
                     .count = 1,
                     .entities = &e,
                     .values = value,
                     .old = old ? &old : NULL,
                     .olds = old,
                     .size = t->size};
    if (UNLIKELY(now && now != whom)) { /* the log is empty: observe_whom */
        o->entities[o->entity_count++] = e;
        notice_add(o, x.kind, t->id, 0, 1)->old = old;
        tell_one(w, o, &x, now);
        o->told = o->notice_count;
        return operation_rest(w, o), true;
    }
    tell_one(w, o, &x, whom);
    if (now == 0) o->head.round++;
    if (UNLIKELY(commands_pending(w) || o->head.failed.status != REEF_OK)) operation_rest(w, o);
    return true;
}

/* ---- flushes ---- */

static reef_status observing_flush(reef_world *w)
{
    if (!reef__observing_ready(w))
        return reef__failure(w, REEF_NO_MEMORY, "reef_flush", (reef_component){0}, (reef_entity){0, 0},
                             w->deferred.count);
    observer_log *o = w->observing;
    commands asked_for = w->deferred;
    memset(&w->deferred, 0, sizeof w->deferred);
    o->head.failed.status = REEF_OK;
    o->head.stuck = false;
    reef_status s = reef__commands_do(w, &asked_for);
    if (asked_for.first) {
        reef__commands_append(&w->deferred, &asked_for);
        if (o->head.failed.status == REEF_NO_MEMORY) w->error = o->head.failed;
        return REEF_NO_MEMORY;
    }
    const reef_error was = w->error;
    w->flushing = true;
    o->head.round = 0;
    while (!o->head.stuck && tell_collected(w, o)) cascade(w, o);
    w->flushing = false;
    w->error = was;
    if (s < 0 || o->head.failed.status == REEF_OK) return s;
    w->error = o->head.failed;
    return o->head.stuck ? REEF_NO_MEMORY : o->head.failed.status;
}

static COLD void observing_failure(reef_world *w, reef_error *e)
{
    observer_log *o = w->observing;
    memcpy(e->system, w->notifying->name, sizeof e->system);
    if (e->status == REEF_LOCKED && o->head.round >= REEF_CASCADE_ROUNDS && w->commands == NULL) e->status = REEF_LIMIT;
    if (o->head.failed.status == REEF_OK) o->head.failed = *e;
}

/* ---- entities that exist already ---- */

COLD bool reef__observe_existing(reef_world *w, const struct observer *x)
{
    observer_log *o = w->observing;
    const watcher *last = &o->watchers[o->count - 1];
    const reef_query_desc desc = {.terms = {{.component = x->component, .access = REEF_WITH, .enabled = REEF_EITHER}},
                                  .entities = REEF_EITHER};
    const reef_query q = x->has_query ? last->handle : reef__query_handle(reef__query_make(w, &desc));
    if (q.generation == 0) return x->has_query;
    reef_block b = reef_begin_loop(w, q, &(reef_loop){.deferred = true});
    const bool begun = w->error.status == REEF_OK;
    const type *t = x->component.id ? reef__type_of(x->component.id) : NULL;
    const relation_value *v;
    o->batch.existing = true;
    while (begun && reef_next(&b))
        for (uint32_t first = 0, n; (n = reef_block_run(&b, &first)) != 0; first += n) {
            if (t == NULL || t->relation == 0)
                observer_tell(w, x, x->has_query ? REEF_ON_MATCH : REEF_ON_ADD, b.entities + first, NULL, NULL, n,
                              true);
            for (uint32_t i = first; t && t->relation && i < first + n; i++)
                for (uint32_t k = 0; (v = relation_number(w, t, b.entities[i], k)) != NULL; k++)
                    reef__batch_add(w, x, &o->batch, REEF_ON_ADD, b.entities[i], v->target, NULL);
            reef__batch_notify(w, x, &o->batch);
            w->notifying = NULL;
        }
    o->batch.existing = false;
    if (!x->has_query) (void)reef_query_free(w, q);
    return begun;
}

static COLD reef_status observing_check(const reef_world *w, char *message, size_t size)
{
    const observer_log *o = w->observing;
    if (w->locks || w->flushing || w->slow & SLOW_DEFERRED) return REEF_OK;
    if (o->notice_count == 0 && o->head.depth == 0 && !o->head.cascading && w->notifying == NULL) return REEF_OK;
    snprintf(message, size, "observers: %llu notices wait outside of any operation",
             (unsigned long long)o->notice_count);
    return REEF_CORRUPT;
}

const observer_calls reef__observers_called = {
    observing_change, observing_several,    observing_destroy,         observing_spawn,          observing_spawned,
    observing_done,   observing_keep,       observing_reserve_changes, observing_reserve_deaths, observing_open,
    observing_close,  observing_tell,       observing_flush,           observing_failure,        observing_forget,
    observing_drop,   reef__observer_named, observing_check,           reef__row_spawn,
};
