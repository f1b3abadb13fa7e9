/* Types whose values a copy of the world doesn't get (REEF_FORK_RESET), and types whose values a rewind leaves alone
 * (REEF_FORK_SKIP).
 *
 *      before:  world ──► node ──► chunk ──► values
 *      after:   world ──► node'──► chunk'──► values         copy ──► node ──► chunk ──► default values
 *
 * A snapshot or fork shares the state, and what is shared can't differ between its two holders. So default values are
 * made first, and take the place of the world's own values while the state is shared. Then the world copies the pages
 * of the chunks concerned and puts its own values back; the copy keeps the default ones. This costs a block for each
 * chunk with such a column, and a snapshot or fork counts as a write of such columns. A world without such types pays
 * one test.
 *
 * For values in stores, a second container with default values is made for each such store, and the copy keeps it.
 *
 * A rewind exchanges the values of such types between the state that it leaves and the state that it enters, for all
 * entities that have them in both. Preparing takes all memory and changes no value; committing can't fail. */
#include "world/fork_policy.h"
#include "type/value.h"
#include "storage/archetype.h"
#include "storage/cow_pages.h"
#include "storage/invalidate.h"
#include "storage/multi_store.h"
#include "storage/place.h"
#include "storage/read.h"
#include "storage/row_stamps.h"
#include "storage/sparse_store.h"
#include "storage/table.h"
#include "reef/type_info.h"

struct reset {
    const shape *shape;
    uint32_t unit, slot;
    void *own, *fresh;
    bool back; /* the world has its own values again */
};

struct store_reset {
    uint32_t number; /* number of the store */
    reef_paged own;  /* the world's values */
};

/* ---- stores ---- */

static bool store_resets(const value_store *s) { return s->count && reef__type_of(s->component)->resets; }

bool reef__stores_reset(const reef_world *w)
{
    for (uint32_t i = 1; i < w->state.store_count; i++)
        if (store_resets(&w->state.stores[i])) return true;
    return false;
}

/* Makes default values for the entities of a page of a store. `to` is zeroed and doesn't say yet who has a value. */
static COLD bool page_construct(reef_world *w, const value_store *s, uint32_t page, char *to)
{
    const type *t = reef__type_of(s->component);
    const char *from = s->values.page[page];
    store_place at = {.slot = 0};
    while (t->hooks.construct && reef__store_each(s, page, &at)) {
        if (t->hooks.construct(t->hooks.context, w, at.entity, to + ((char *)at.value - from), NULL) == REEF_OK)
            continue;
        const uint32_t end = at.slot - 1;
        w->hook_failed.id = t->id;
        for (at.slot = 0; reef__store_each(s, page, &at) && at.slot <= end;)
            value_destroy(t, to + ((char *)at.value - from));
        return false;
    }
    memcpy(to, from, s->offset);
    return true;
}

/* Makes a second container with the same entities and default values. False: no memory, or a hook refused. */
static COLD bool store_default(reef_world *w, const value_store *s, reef_paged *fresh)
{
    store_pages pages;
    const paged_owner o = reef__store_owner(w->family, s, &pages);
    *fresh = (reef_paged){0};
    bool ok = reef__paged_grow(fresh, &o, s->values.count, w->hot.fork_version);
    for (uint32_t page = 0; ok && page < s->values.count; page++) {
        store_place first = {.slot = 0};
        if (!reef__store_each(s, page, &first)) continue;
        char *to = reef__paged_own(fresh, &o, page, w->hot.version, w->hot.fork_version);
        ok = to && page_construct(w, s, page, to);
    }
    if (!ok) reef__paged_drop(fresh, &o);
    return ok;
}

/* Gives the world its own values back. The copy, if there is one, keeps the default ones. */
static void stores_take_back(reef_world *w, resets *r)
{
    reef__invalidate(w, INVALIDATE_STORES_MOVED);
    while (r->store_count > 0) {
        const struct store_reset *x = &r->stores[--r->store_count];
        value_store *s = &w->state.stores[x->number];
        store_pages pages;
        const paged_owner o = reef__store_owner(w->family, s, &pages);
        reef__paged_drop(&s->values, &o);
        s->values = x->own;
        /* After any share it is unknown which of the older pages the world alone holds. */
        if (s->values.shared) s->values.shared = s->values.count;
    }
}

static COLD bool stores_place(reef_world *w, resets *r)
{
    memory *m = &w->family->memory;
    for (uint32_t i = 1; i < w->state.store_count; i++) {
        value_store *s = &w->state.stores[i];
        reef_paged fresh;
        if (!store_resets(s)) continue;
        if (!reef__array_room(m, MEMORY_OTHER, &r->stores, &r->store_room, r->store_count + 1, sizeof *r->stores) ||
            !store_default(w, s, &fresh))
            return false;
        r->stores[r->store_count++] = (struct store_reset){i, s->values};
        s->values = fresh;
    }
    return true;
}

/* ---- columns ---- */

/* Lists the blocks of columns that reset in which the world has values of its own, with default values for each. False:
 * no memory; what was made is in the list. */
static bool resets_collect(reef_world *w, resets *r)
{
    memory *m = &w->family->memory;
    EACH_TABLE(w, t)
    {
        if (!t->shape->resets || table_rows(t) == 0) continue;
        for (uint32_t unit = t->first; unit; unit = unit_slots(w, unit)[0].head.next) {
            for (uint32_t k = SLOT_COLUMNS; k < t->shape->end_slot; k++) {
                if (!t->shape->columns[k].type->resets || !reef__column_is_ours(w, unit, k)) continue;
                if (!reef__array_room(m, MEMORY_OTHER, &r->list, &r->room, r->count + 1, sizeof *r->list)) return false;
                struct reset *x = &r->list[r->count];
                *x = (struct reset){.shape = t->shape, .unit = unit, .slot = k};
                x->fresh = reef__column_default(w, t, unit, k);
                if (x->fresh == NULL) return false;
                r->count++;
            }
        }
    }
    return true;
}

static void resets_free(reef_world *w, resets *r)
{
    reef__memory_free(&w->family->memory, MEMORY_OTHER, r->list, r->room * sizeof *r->list);
    reef__memory_free(&w->family->memory, MEMORY_OTHER, r->stores, r->store_room * sizeof *r->stores);
    *r = (resets){0};
}

/* Puts the values of the world back where they were. There is no copy, or it was freed. */
COLD void reef__resets_undo(reef_world *w, resets *r)
{
    for (uint32_t i = 0; i < r->count; i++) {
        struct reset *x = &r->list[i];
        if (x->back) continue; /* the default values belonged to the copy and were freed with it */
        if (x->own) reef__column_exchange(w, x->unit, x->slot, x->own);
        reef__column_discard(w, x->shape, x->unit, x->slot, x->fresh);
    }
    stores_take_back(w, r);
    resets_free(w, r);
}

COLD bool reef__resets_place(reef_world *w, resets *r)
{
    *r = (resets){0};
    if (!stores_place(w, r) || (REEF_ACQUIRE_U32(&w->family->graph.reset_count) && !resets_collect(w, r))) {
        reef__resets_undo(w, r);
        return false;
    }
    for (uint32_t i = 0; i < r->count; i++)
        r->list[i].own = reef__column_exchange(w, r->list[i].unit, r->list[i].slot, r->list[i].fresh);
    return true;
}

COLD bool reef__resets_take_back(reef_world *w, resets *r)
{
    for (uint32_t i = 0; i < r->count; i++) {
        struct reset *x = &r->list[i];
        if (!reef__column_take(w, x->unit, x->slot, x->own)) return false;
        x->back = true;
    }
    stores_take_back(w, r);
    resets_free(w, r);
    return true;
}

/* ---- values that a rewind leaves alone ---- */

/* The next type, behind that of number *id, whose values stay. NULL: there is none left. */
static const type *staying_next(const skips_room *room, uint32_t *id)
{
    while (++*id <= reef_type_count()) {
        const type *t = reef__type_of(*id);
        if (t && (room->resets_too ? t->resets : t->hooks.on_fork == REEF_FORK_SKIP)) return t;
    }
    return NULL;
}

/* Exchanges one entity's value with its value in the state that the world enters. `number`: which one of several values
 * in a store. */
static void skip_value(reef_world *now, reef_world *then, const skips_room *room, const type *t, reef_entity e,
                       uint32_t number, void *here)
{
    void *there = (void *)(uintptr_t)(t->stored ? reef__store_nth(store_of(then, t->id), e, number)
                                                : reef__value_itself(then, e, (reef_component){t->id}));
    if (there == NULL) return;
    if (t->tracked) reef__track_carry(then, now, t->id, e.index);
    reef__value_move(t, room->value, here);
    reef__value_move(t, here, there);
    reef__value_move(t, there, room->value);
}

/* Does the world alone hold this page? If not, the page holds default values, which needn't be kept. */
static bool page_is_ours(const reef_world *w, const value_store *s, uint32_t page)
{
    if (s->values.shared == 0) return true;
    mutex_lock(&w->family->lock);
    const bool ours = s->values.version[page] > reef__paged_base(&s->values);
    mutex_unlock(&w->family->lock);
    return ours;
}

static bool run_is_ours(reef_world *w, const type *t, const value_run *r)
{
    return t->stored ? page_is_ours(w, store_of(w, t->id), r->at.page)
                     : reef__column_is_ours(w, r->unit, slot_find(w, t->id, r->table));
}

static void skip_type(reef_world *now, reef_world *then, const skips_room *room, const type *t)
{
    bool ours = false;
    uint32_t page = UINT32_MAX; /* for which `ours` is known */
    for (value_run r = {0}; reef__value_run_next(now, t, &r);) {
        if (!t->stored || r.at.page != page) ours = r.values && run_is_ours(now, t, &r);
        page = r.at.page;
        char *here = (char *)(uintptr_t)r.values;
        for (uint32_t i = 0; ours && i < r.count; i++, here += t->size)
            skip_value(now, then, room, t, r.entities[i], r.at.number, here);
    }
}

/* Takes room for the largest of such values. False: no memory. */
static COLD bool room_take(family *f, bool resets_too, skips_room *room)
{
    *room = (skips_room){NULL, 0, resets_too};
    const type *t;
    for (uint32_t id = 0; (t = staying_next(room, &id)) != NULL;)
        if (t->size > room->bytes) room->bytes = t->size;
    if (room->bytes == 0) return true;
    room->value = reef__memory_resize(&f->memory, MEMORY_OTHER, NULL, 0, room->bytes, REEF_ALIGN_MAX);
    return room->value != NULL;
}

COLD void reef__skips_free(family *f, skips_room *room)
{
    if (room->value) reef__memory_resize(&f->memory, MEMORY_OTHER, room->value, room->bytes, 0, REEF_ALIGN_MAX);
    *room = (skips_room){0};
}

static COLD bool skips_own(reef_world *w, const type *t)
{
    if (t->stored && !reef__store_own_all(w, t->id, true)) return false;
    for (value_run r = {0}; reef__value_run_next(w, t, &r);) {
        const uint32_t k = t->stored || r.values == NULL ? 0 : slot_find(w, t->id, r.table);
        if (k && !reef__column_own(w, table_read(w, r.table), r.unit, k)) return false;
        if (t->tracked && !reef__track_prepare(w, t->id, r.entities, r.count)) return false;
    }
    return true;
}

static COLD bool skips_prepare(reef_world *then, bool resets_too, skips_room *room)
{
    bool ok = room_take(then->family, resets_too, room);
    const type *t;
    for (uint32_t id = 0; ok && room->value && (t = staying_next(room, &id)) != NULL;) ok = skips_own(then, t);
    if (!ok) reef__skips_free(then->family, room);
    return ok;
}

COLD bool reef__skips_prepare(reef_world *then, skips_room *room) { return skips_prepare(then, false, room); }

COLD void reef__skips_commit(reef_world *now, reef_world *then, const skips_room *room)
{
    const type *t;
    for (uint32_t id = 0; room->value && (t = staying_next(room, &id)) != NULL;) skip_type(now, then, room, t);
}

COLD bool reef__skips_move(reef_world *now, reef_world *then, bool resets_too)
{
    skips_room room;
    if (!skips_prepare(then, resets_too, &room)) return false;
    reef__skips_commit(now, then, &room);
    reef__skips_free(now->family, &room);
    return true;
}
