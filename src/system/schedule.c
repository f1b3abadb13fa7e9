/* Schedules: systems are added, replaced, removed and ordered.
 *
 * Each change makes a new schedule beside the old one, and gives it to the world when nothing can fail any more. So it
 * doesn't matter who else holds the old one. There is one exception: a system is switched on or off in place if only
 * this world holds the schedule. */
#include "system/schedule.h"
#include "base/byte_hash.h"
#include "type/code.h"
#include "storage/error.h"
#include "storage/invalidate.h"
#include "storage/observed.h"
#include "query/token.h"
#include "system/access_check.h"
#include "system/event.h"
#include "system/schedule_order.h"
#include "system/system.h"
#include "reef/system.h"
#include "reef/control.h"
#include <stdio.h>

/* ---- making and sharing ---- */

/* Makes a schedule with the plain fields and the phases of `from`, empty arrays, and room for more systems and
 * observers. NULL: no memory. */
static COLD schedule *schedule_empty(family *f, const schedule *from, uint32_t systems, uint32_t observers)
{
    static const schedule none;
    if (from == NULL) from = &none;
    const uint32_t count = from->count + systems, slots = from->slot_count + systems;
    const uint32_t watching = from->observer_count + observers, places = from->observer_slot_count + observers;
    const uint32_t modules = from->module_count + 1;
    const size_t bytes = sizeof(schedule) + count * (sizeof(schedule_entry) + sizeof(uint32_t)) +
                         watching * sizeof(observer_entry) + (slots + places) * sizeof(schedule_slot) +
                         modules * sizeof(module_entry);
    schedule *s = reef__memory_zeroed(&f->memory, MEMORY_OTHER, bytes);
    if (s == NULL) return NULL;
    *s = *from;
    s->bytes = bytes;
    s->holders = 1;
    s->modules = (module_entry *)(s + 1);
    s->entries = (schedule_entry *)(void *)(s->modules + modules);
    s->observers = (observer_entry *)(void *)(s->entries + count);
    s->slots = (schedule_slot *)(void *)(s->observers + watching);
    s->observer_slots = s->slots + slots;
    s->order = (uint32_t *)(void *)(s->observer_slots + places);
    return s;
}

COLD schedule *reef__schedule_copy_more(reef_world *w, uint32_t systems, uint32_t observers)
{
    const schedule *from = w->schedule;
    schedule *s = schedule_empty(w->family, from, systems, observers);
    if (s == NULL) return NULL;
    memcpy(s->entries, from->entries, from->count * sizeof *s->entries);
    memcpy(s->slots, from->slots, from->slot_count * sizeof *s->slots);
    memcpy(s->order, from->order, from->count * sizeof *s->order);
    memcpy(s->observers, from->observers, from->observer_count * sizeof *s->observers);
    memcpy(s->observer_slots, from->observer_slots, from->observer_slot_count * sizeof *s->observer_slots);
    memcpy(s->modules, from->modules, from->module_count * sizeof *s->modules);
    return s;
}

/* Makes a copy with room for `more` systems (0 or 1). The copy's systems aren't counted yet. NULL: no memory. */
static COLD schedule *schedule_copy(reef_world *w, uint32_t more) { return reef__schedule_copy_more(w, more, 0); }

static COLD void schedule_free(family *f, schedule *s) { reef__memory_free(&f->memory, MEMORY_OTHER, s, s->bytes); }

COLD bool reef__hold_release(family *f, uint32_t *holders)
{
    mutex_lock(&f->lock);
    const bool last = --*holders == 0;
    mutex_unlock(&f->lock);
    return last;
}

/* The last holder of a schedule releases its systems and observers too. */
COLD void reef__observer_leave(family *f, struct observer *o)
{
    if (!reef__hold_release(f, &o->holders)) return;
    if (o->context_free) o->context_free(o->context);
    observer_hold(o, false);
    reef__memory_free(&f->memory, MEMORY_OTHER, o, o->bytes);
}

/* Counts where modules lead into code that comes and goes. */
static COLD void modules_hold(const schedule *s, bool hold)
{
    for (uint32_t i = 0; i < s->module_count; i++) {
        const uintptr_t about = (uintptr_t)s->modules[i].about;
        reef__code_hold(&about, 1, hold);
    }
}

COLD void reef__schedule_leave(family *f, schedule *s)
{
    if (s == NULL || !reef__hold_release(f, &s->holders)) return;
    modules_hold(s, false);
    for (uint32_t i = 0; i < s->count; i++) reef__system_leave(f, s->entries[i].system);
    for (uint32_t i = 0; i < s->observer_count; i++) reef__observer_leave(f, s->observers[i].observer);
    schedule_free(f, s);
}

COLD void reef__schedule_put(reef_world *w, schedule *s)
{
    family *f = w->family;
    schedule *was = w->schedule;
    mutex_lock(&f->lock);
    for (uint32_t i = 0; i < s->count; i++) s->entries[i].system->holders++;
    for (uint32_t i = 0; i < s->observer_count; i++) s->observers[i].observer->holders++;
    s->epoch = ++f->schedule_epoch;
    f->schedule_knows = reef__schedule_knows;
    mutex_unlock(&f->lock);
    modules_hold(s, true);
    w->schedule = s;
    world_hold(w); /* contexts may be freed */
    if (was) reef__schedule_leave(f, was);
    world_let_go(w);
}

const char *const reef__phases_first[PHASES_FIRST] = {"begin", "update", "end"};

COLD schedule *reef__schedule_ready(reef_world *w)
{
    if (w->schedule) return w->schedule;
    schedule *s = schedule_empty(w->family, NULL, 0, 0);
    if (s == NULL) return NULL;
    mutex_lock(&w->family->lock);
    for (; s->phase_count < PHASES_FIRST; s->phase_count++) {
        phase *p = &s->phases[s->phase_count];
        strcpy(p->name, reef__phases_first[s->phase_count]);
        p->serial = ++w->family->query_serial;
        p->steps_max = STEPS_MAX;
    }
    mutex_unlock(&w->family->lock);
    reef__schedule_put(w, s);
    return s;
}

COLD void reef__schedule_drop(reef_world *w)
{
    reef__schedule_leave(w->family, w->schedule);
    w->schedule = NULL;
}

schedule *reef__schedule_hold(family *f, schedule *s)
{
    if (s == NULL) return NULL;
    mutex_lock(&f->lock);
    s->holders++;
    mutex_unlock(&f->lock);
    return s;
}

/* ---- looking up ---- */

/* Returns the entry of the system with this name. ENTRY_NONE: there is none. */
static COLD uint32_t entry_named(const schedule *s, const char *name)
{
    const uint64_t hash = reef__hash_bytes(name, strlen(name));
    for (uint32_t i = 0; i < s->count; i++) {
        const struct system *x = s->entries[i].system;
        if (x->name_hash == hash && strcmp(x->name, name) == 0) return i;
    }
    return ENTRY_NONE;
}

uint32_t reef__slot_entry(const reef_world *w, const schedule_slot *slots, uint32_t count, reef_system_id which,
                          reef_status *status)
{
    const schedule_slot *x = which.generation && which.index < count ? &slots[which.index] : NULL;
    const bool ours = x && x->generation == which.generation && x->world == which.world;
    if (ours && x->entry < ENTRY_KEPT) return x->entry;
    *status = ours || which.world == w->hot.number || which.generation == 0 ? REEF_NOT_ALIVE : REEF_OTHER_WORLD;
    return ENTRY_NONE;
}

const schedule_entry *reef__schedule_find(const reef_world *w, reef_system_id which, reef_status *status)
{
    const schedule *s = w->schedule;
    const uint32_t entry = reef__slot_entry(w, s ? s->slots : NULL, s ? s->slot_count : 0, which, status);
    return entry == ENTRY_NONE ? NULL : &s->entries[entry];
}

COLD uint32_t reef__phase_find(const schedule *s, const char *name)
{
    for (uint32_t i = 0; i < s->phase_count; i++)
        if (strcmp(s->phases[i].name, name) == 0) return i;
    return UINT32_MAX;
}

COLD bool reef__phase_named(reef_world *w, const char *op, const char *name, uint32_t *found)
{
    char detail[REEF_DETAIL_MAX];
    const schedule *s = w->schedule;
    *found = reef__phase_find(s, name);
    if (*found != UINT32_MAX) return true;
    nearest near_by = {0};
    if (strlen(name) <= REEF_SYSTEM_NAME_MAX) {
        near_by = reef__nearest_begin(name);
        for (uint32_t i = 0; i < s->phase_count; i++) reef__nearest_look(&near_by, s->phases[i].name);
    }
    const shown unknown = reef__show(name, strlen(name));
    const shown meant = near_by.name ? reef__show(near_by.name, strlen(near_by.name)) : reef__show("", 0);
    snprintf(detail, sizeof detail, near_by.name ? "no phase is named %s; did you mean %s?" : "no phase is named %s",
             unknown.text, meant.text);
    return reef__failure_detail(w, REEF_BAD_ARGUMENT, op, 0, detail), false;
}

reef_system_id reef__slot_handle(const schedule_slot *slots, uint32_t slot)
{
    return (reef_system_id){slot, slots[slot].generation, slots[slot].world};
}

static reef_system_id entry_handle(const reef_world *w, uint32_t entry)
{
    return reef__slot_handle(w->schedule->slots, w->schedule->entries[entry].slot);
}

/* ---- changing ---- */

/* May the schedule change now? */
static COLD bool change_allowed(reef_world *w, const char *op)
{
    if (!WORLD_GIVEN_TO(w, op)) return false;
    if (!w->running && w->locks == 0 && w->time_owner == NULL) return true;
    reef__refuse(w, REEF_LOCKED, op);
    return false;
}

/* Orders the systems and makes the schedule the world's. On failure the schedule is freed. */
static COLD reef_status schedule_finish(reef_world *w, const char *op, schedule *s)
{
    char detail[REEF_DETAIL_MAX];
    const reef_status status = reef__schedule_sort(w->family, s, detail);
    if (status == REEF_OK) {
        reef__schedule_put(w, s);
        return REEF_OK;
    }
    schedule_free(w->family, s);
    return status == REEF_NO_MEMORY ? reef__refuse(w, status, op) : reef__failure_detail(w, status, op, 0, detail);
}

/* Is no system but the one at `place` named so? If not, this is recorded. */
static COLD bool name_free(reef_world *w, const char *op, const char *name, uint32_t place)
{
    char detail[REEF_DETAIL_MAX];
    const uint32_t other = entry_named(w->schedule, name);
    if (other == ENTRY_NONE || other == place) return true;
    snprintf(detail, sizeof detail, "another system is named %s", name);
    reef__failure_detail(w, REEF_EXISTS, op, 0, detail);
    return false;
}

COLD uint32_t reef__slot_take(const reef_world *w, schedule_slot *slots, uint32_t *count, uint32_t entry)
{
    uint32_t slot = 0;
    while (slot < *count && (slots[slot].entry != ENTRY_NONE || slots[slot].generation == UINT32_MAX)) slot++;
    *count += slot == *count;
    slots[slot] = (schedule_slot){slots[slot].generation + 1, w->hot.number, entry};
    return slot;
}

/* ---- modules ---- */

COLD uint64_t reef__module_of_new(const reef_world *w) { return w->loading ? w->loading->id : 0; }

COLD void reef__module_refused(const reef_world *w)
{
    if (w->loading && w->loading->failed.status == REEF_OK) w->loading->failed = w->error;
}

COLD const module_entry *reef__module_find(const schedule *s, uint64_t id)
{
    for (uint32_t i = 0; s && i < s->module_count; i++)
        if (s->modules[i].id == id) return &s->modules[i];
    return NULL;
}

COLD const char *reef__module_name(const schedule *s, uint64_t id)
{
    const module_entry *m = id ? reef__module_find(s, id) : NULL;
    return m ? m->name : NULL;
}

/* The slot of a new system: that of the system of this name that its module made the last time, or a free one. */
static COLD uint32_t system_slot(const reef_world *w, schedule *s, const struct system *x)
{
    const schedule *before = w->loading ? w->loading->before : NULL;
    const uint32_t was = before ? entry_named(before, x->name) : ENTRY_NONE;
    if (was != ENTRY_NONE && s->slots[before->entries[was].slot].entry == ENTRY_KEPT) {
        s->slots[before->entries[was].slot].entry = s->count;
        return before->entries[was].slot;
    }
    return reef__slot_take(w, s->slots, &s->slot_count, s->count);
}

static COLD reef_status system_join(reef_world *w, const char *op, struct system *x, uint32_t in, bool on)
{
    if (!name_free(w, op, x->name, ENTRY_NONE)) return REEF_EXISTS;
    if (w->schedule->count == REEF_SYSTEMS_MAX) return reef__refuse(w, REEF_LIMIT, op);
    schedule *s = schedule_copy(w, 1);
    if (s == NULL) return reef__refuse(w, REEF_NO_MEMORY, op);
    const uint32_t slot = system_slot(w, s, x);
    s->entries[s->count++] = (schedule_entry){x, slot, in, on};
    return schedule_finish(w, op, s);
}

static COLD reef_system_id system_create(reef_world *w, const char *op, const reef_system_desc *desc)
{
    const reef_system_id null = {0, 0, 0};
    uint32_t in = 0;
    if (!change_allowed(w, op)) return null;
    w->declaring = desc ? desc->name : NULL;
    struct system *x = reef__system_make(w, op, desc, &in);
    const bool joined = x && system_join(w, op, x, in, !desc->off) == REEF_OK;
    w->declaring = NULL;
    if (!joined) reef__module_refused(w);
    if (x == NULL) return null;
    if (!joined) return reef__system_forget(w->family, x), null;
    reef__system_leave(w->family, x); /* releases the hold of the maker */
    return entry_handle(w, w->schedule->count - 1);
}

COLD reef_system_id reef_system_new(reef_world *w, const reef_system_desc *desc)
{
    return system_create(w, "reef_system_new", desc);
}

COLD reef_system_id reef_system_add(reef_world *w, const char *name, void (*function)(reef_block *block),
                                    const char *text)
{
    return system_create(w, "reef_system", &(reef_system_desc){.name = name, .function = function, .text = text});
}

/* Returns the number of the entry of a handle, for a call that changes it. ENTRY_NONE: *status, and it is recorded. */
static COLD uint32_t entry_for(reef_world *w, const char *op, reef_system_id which, reef_status *status)
{
    *status = w ? REEF_LOCKED : REEF_BAD_ARGUMENT;
    if (!change_allowed(w, op)) return ENTRY_NONE;
    const schedule_entry *e = reef__schedule_find(w, which, status);
    if (e) return (uint32_t)(e - w->schedule->entries);
    reef__refuse(w, *status, op);
    return ENTRY_NONE;
}

COLD bool reef__schedule_knows(const reef_world *w, uint64_t serial)
{
    const schedule *s = w->schedule;
    for (uint32_t i = 0; s && i < s->count; i++)
        if (s->entries[i].system->serial == serial) return true;
    for (uint32_t i = 0; s && i < s->phase_count; i++)
        if (s->phases[i].serial == serial) return true;
    return false;
}

COLD reef_status reef_system_replace(reef_world *w, reef_system_id which, const reef_system_desc *desc)
{
    static const char op[] = "reef_system_replace";
    reef_status status;
    uint32_t in = 0;
    const uint32_t place = entry_for(w, op, which, &status);
    if (place == ENTRY_NONE) return status;
    struct system *x = reef__system_make(w, op, desc, &in);
    if (x == NULL) return w->error.status;
    schedule *s = NULL;
    if (!name_free(w, op, x->name, place)) status = REEF_EXISTS;
    else if ((s = schedule_copy(w, 0)) == NULL) status = reef__refuse(w, REEF_NO_MEMORY, op);
    else {
        const uint64_t was = s->entries[place].system->serial;
        s->entries[place] = (schedule_entry){x, s->entries[place].slot, in, !desc->off};
        status = schedule_finish(w, op, s);
        if (status == REEF_OK) reef__events_hand_over(w, was, x);
    }
    if (status != REEF_OK) return reef__system_forget(w->family, x), status;
    reef__system_leave(w->family, x); /* releases the hold of the maker */
    return REEF_OK;
}

COLD reef_status reef_system_remove(reef_world *w, reef_system_id which)
{
    static const char op[] = "reef_system_remove";
    reef_status status;
    const uint32_t place = entry_for(w, op, which, &status);
    if (place == ENTRY_NONE) return status;
    schedule *s = schedule_copy(w, 0);
    if (s == NULL) return reef__refuse(w, REEF_NO_MEMORY, op);
    const uint64_t serial = s->entries[place].system->serial;
    s->slots[s->entries[place].slot].entry = ENTRY_NONE;
    s->count--;
    memmove(s->entries + place, s->entries + place + 1, (s->count - place) * sizeof *s->entries);
    for (uint32_t i = place; i < s->count; i++) s->slots[s->entries[i].slot].entry = i;
    status = schedule_finish(w, op, s);
    if (status == REEF_OK) reef__events_leave(w, serial);
    return status;
}

COLD reef_status reef_system_enable(reef_world *w, reef_system_id which, bool on)
{
    static const char op[] = "reef_system_enable";
    reef_status status;
    const uint32_t place = entry_for(w, op, which, &status);
    if (place == ENTRY_NONE) return status;
    if (w->schedule->entries[place].on == on) return REEF_OK;
    family *f = w->family;
    mutex_lock(&f->lock);
    const bool ours = w->schedule->holders == 1; /* only this world could add a holder */
    if (ours) w->schedule->epoch = ++f->schedule_epoch;
    mutex_unlock(&f->lock);
    schedule *s = ours ? w->schedule : schedule_copy(w, 0);
    if (s == NULL) return reef__refuse(w, REEF_NO_MEMORY, op);
    s->entries[place].on = on;
    if (!ours) reef__schedule_put(w, s);
    return REEF_OK;
}

COLD bool reef_system_is_enabled(const reef_world *w, reef_system_id which)
{
    reef_status status;
    const schedule_entry *e = WORLD_GIVEN(w) ? reef__schedule_find(w, which, &status) : NULL;
    return e && e->on;
}

COLD reef_system_id reef_system_find(const reef_world *w, const char *name)
{
    const uint32_t entry = WORLD_GIVEN(w) && w->schedule && name ? entry_named(w->schedule, name) : ENTRY_NONE;
    return entry == ENTRY_NONE ? (reef_system_id){0, 0, 0} : entry_handle(w, entry);
}

COLD const char *reef_system_name(const reef_world *w, reef_system_id which)
{
    reef_status status;
    const schedule_entry *e = WORLD_GIVEN(w) ? reef__schedule_find(w, which, &status) : NULL;
    return e ? e->system->name : NULL;
}

/* ---- phases ---- */

/* Is the description sound? *at: where the phase goes. */
static COLD reef_status phase_check(reef_world *w, const char *op, const reef_phase_desc *desc, uint32_t *at)
{
    char detail[REEF_DETAIL_MAX];
    if (desc == NULL) return misuse_refuse(w, op, "the description is NULL");
    if (!reef__system_name_allowed(desc->name)) return reef__system_refuse_name(w, op, "a phase"), REEF_BAD_ARGUMENT;
    if (desc->before && desc->after)
        return reef__failure_detail(w, REEF_BAD_ARGUMENT, op, 0, "a phase has `before` or `after`, not both");
    const schedule *s = reef__schedule_ready(w);
    if (s == NULL) return reef__refuse(w, REEF_NO_MEMORY, op);
    if (reef__phase_find(s, desc->name) != UINT32_MAX) {
        snprintf(detail, sizeof detail, "another phase is named %s", desc->name);
        return reef__failure_detail(w, REEF_EXISTS, op, 0, detail);
    }
    if (!reef__phase_named(w, op, desc->after ? desc->after : desc->before ? desc->before : "end", at))
        return REEF_BAD_ARGUMENT;
    *at += desc->after != NULL;
    return s->phase_count == REEF_PHASES_MAX ? reef__refuse(w, REEF_LIMIT, op) : REEF_OK;
}

/* Did the module that is being loaded have this phase the last time? *at: which one it is. */
static COLD bool phase_again(const reef_world *w, const reef_phase_desc *desc, uint32_t *at)
{
    const schedule *s = w->schedule;
    *at = s && desc && desc->name ? reef__phase_find(s, desc->name) : UINT32_MAX;
    return *at != UINT32_MAX && w->loading && s->phases[*at].module == w->loading->id &&
           s->phases[*at].module_version != w->loading->version;
}

static COLD void phase_insert(reef_world *w, schedule *s, uint32_t at, const char *name)
{
    phase *p = &s->phases[at];
    memmove(p + 1, p, (s->phase_count - at) * sizeof *p);
    memset(p, 0, sizeof *p);
    strcpy(p->name, name);
    p->first = at < s->phase_count ? p[1].first : s->count;
    s->phase_count++;
    for (uint32_t i = 0; i < s->count; i++) s->entries[i].phase += s->entries[i].phase >= at;
    mutex_lock(&w->family->lock);
    p->serial = ++w->family->query_serial;
    mutex_unlock(&w->family->lock);
}

COLD reef_status reef_phase_new(reef_world *w, const reef_phase_desc *desc)
{
    static const char op[] = "reef_phase_new";
    uint32_t at = 0;
    if (!change_allowed(w, op)) return w ? REEF_LOCKED : REEF_BAD_ARGUMENT;
    const bool again = phase_again(w, desc, &at);
    reef_status status = again ? REEF_OK : phase_check(w, op, desc, &at);
    schedule *s = status == REEF_OK ? schedule_copy(w, 0) : NULL;
    if (status == REEF_OK && s == NULL) status = reef__refuse(w, REEF_NO_MEMORY, op);
    if (status != REEF_OK) return reef__module_refused(w), status;
    if (!again) phase_insert(w, s, at, desc->name);
    s->phases[at].module = reef__module_of_new(w);
    s->phases[at].module_version = w->loading ? w->loading->version : 0;
    s->phases[at].step_ns = desc->step_ns;
    s->phases[at].steps_max = desc->steps_max ? desc->steps_max : STEPS_MAX;
    reef__schedule_put(w, s);
    return REEF_OK;
}

/* ---- observers ---- */

void reef__observers_follow(reef_world *w)
{
    if (w->schedule && w->schedule->observer_count) w->slow |= SLOW_OBSERVED | SLOW_WATCHED;
    else w->slow &= ~(SLOW_OBSERVED | SLOW_WATCHED);
    reef__invalidate(w, INVALIDATE_LOOKED_AT);
}

uint32_t reef__observer_entry_named(const schedule *s, const char *name)
{
    const uint64_t hash = reef__hash_bytes(name, strlen(name));
    for (uint32_t i = 0; s && i < s->observer_count; i++)
        if (s->observers[i].observer->name_hash == hash && strcmp(s->observers[i].observer->name, name) == 0) return i;
    return ENTRY_NONE;
}

bool reef__observer_named(const reef_world *w, const char *name)
{
    return WORLD_GIVEN(w) && w->schedule && reef__observer_entry_named(w->schedule, name) != ENTRY_NONE;
}
