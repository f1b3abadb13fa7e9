/* The values of a change that lie in stores. As in apply.c there are three steps: reef__stored_prepare makes pages
 * ready, reef__stored_make makes the values, and reef__stored_commit puts them in their places; reef__stored_undo
 * takes them back.
 *
 * Where a value is made depends on what is there. A new one is made in the slot behind those that are visible. One
 * that replaces another, and whose hook may refuse, is made aside. One that can't move is made in its place, and the
 * bytes of the old value are kept aside. Everything else is only written by the commit. */
#include "change/value_stage.h"
#include "base/memory.h"
#include "base/platform.h"
#include "type/type.h"
#include "type/value.h"
#include "storage/entity_index.h"
#include "storage/layout.h"
#include "storage/multi_store.h"
#include "storage/observed.h"
#include "storage/quarantine.h"
#include "storage/removal_log.h"
#include "storage/row_bits.h"
#include "storage/row_stamps.h"
#include "storage/shared_store.h"
#include "storage/sparse_store.h"
#include "storage/world_data.h"
#include "change/apply.h"
#include "reef/detail/access.h"

static const type *stored_value(const reef_value *v) /* NULL: not a stored value */
{
    if (v->component.id & BIT_DISABLED) return NULL;
    const type *t = reef__type_of(v->component.id);
    return t->stored ? t : NULL;
}

bool reef__values_stored(const reef_value *values, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (stored_value(&values[i])) return true;
    return false;
}

static bool prepare_new(reef_world *w, const type *t, reef_entity e, const reef_value *v)
{
    if (!reef__store_prepare_add(w, t->id, &e, v->kind != VALUE_SPAN)) return false;
    return v->kind != VALUE_SPAN ||
           reef__multi_prepare(w, (value_store *)(uintptr_t)store_of(w, t->id), &e, 1, v->size);
}

static void *raw_of(const reef_world *w, const type *t, reef_entity e, const reef_value *v)
{
    return v->kind == VALUE_SPAN ? reef__multi_raw(store_of(w, t->id), v->size) : reef__store_raw(w, t->id, e, 0);
}

/* Takes back a value that was made: it is destroyed, or moves back to where it came from. */
static void take_back(const type *t, char *slot, const reef_value *v, uint32_t n)
{
    if (t->home == REEF_SHARED) {
        void *value;
        memcpy(&value, slot, sizeof value);
        if (v->kind == VALUE_HELD) reef__shared_release(value);
        else reef__value_take_back(t, value, v, n), reef__shared_discard(value);
        return;
    }
    if (v->kind != VALUE_SPAN) {
        reef__value_take_back(t, slot, v, n);
        return;
    }
    for (uint32_t i = 0; i < v->size; i++) value_destroy(t, slot + (size_t)i * t->size);
}

/* Makes a value that entities may have in common, and writes its address into the slot. */
static reef_status put_shared(reef_world *w, reef_entity e, const type *t, void *slot, const reef_value *v, uint32_t n)
{
    void *value = (void *)(uintptr_t)v->data;
    if (v->kind == VALUE_HELD) {
        reef__shared_hold(value);
    } else {
        value = reef__shared_make(w, t);
        if (value == NULL) return REEF_NO_MEMORY;
        const reef_status s = reef__value_put(w, e, t, value, v, n);
        if (s != REEF_OK) return reef__shared_discard(value), s;
    }
    memcpy(slot, &value, sizeof value);
    return REEF_OK;
}

/* Makes the value in raw memory. */
static reef_status put(reef_world *w, reef_entity e, const type *t, char *slot, const reef_value *v, uint32_t n)
{
    if (t->home == REEF_SHARED) return put_shared(w, e, t, slot, v, n);
    if (v->kind != VALUE_SPAN) return reef__value_put(w, e, t, slot, v, n);
    for (uint32_t i = 0; i < v->size; i++) {
        const reef_value one =
            reef_value_make(v->component, REEF_VALUE_ONE, t->size, (const char *)v->data + (size_t)i * t->size);
        const reef_status s = reef__value_put(w, e, t, slot + (size_t)i * t->size, &one, 0);
        if (s == REEF_OK) continue;
        while (i-- > 0) value_destroy(t, slot + (size_t)i * t->size);
        return s;
    }
    return REEF_OK;
}

/* The address of a value that is replaced, for writing. */
static void *stored_own(reef_world *w, const type *t, reef_entity e)
{
    return t->home == REEF_SHARED ? reef__store_slot_own(w, t->id, e) : reef__store_own(w, t->id, e);
}

COLD bool reef__stored_prepare(reef_world *w, reef_entity e, const reef_value *values, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const type *t = stored_value(&values[i]);
        if (t == NULL) continue;
        const bool has = store_has(w, t->id, e), remove = values[i].kind == REEF_VALUE_REMOVE;
        if (remove && !has) continue;
        if (remove && t->tracked && !reef__removals_prepare(w, t->id, 1)) return false;
        if (remove && !reef__store_prepare_drop(w, t->id, e)) return false;
        if (remove) continue;
        if (t->tracked && !reef__track_prepare(w, t->id, &e, 1)) return false;
        if (has ? stored_own(w, t, e) == NULL : !prepare_new(w, t, e, &values[i])) return false;
    }
    return true;
}

/* Does this value replace another, in a way that needs room aside? It does if its hook may refuse. (Of a type that
 * can't move, the old value's bytes are kept there: it had no hook to destroy it, so it lives again when they are
 * copied back.) */
static bool made_aside(const reef_world *w, const type *t, reef_entity e, const reef_value *v)
{
    const bool made = t->home == REEF_SHARED || (t->hooked && v->kind < VALUE_MOVED);
    return made && v->kind != REEF_VALUE_REMOVE && store_has(w, t->id, e);
}

/* Size and alignment of what lies in a slot. */
static size_t aside_bytes(const type *t) { return t->home == REEF_SHARED ? sizeof(void *) : t->size; }
static size_t aside_align(const type *t) { return t->home == REEF_SHARED ? sizeof(void *) : t->align; }
static size_t stored_aligned(size_t at, const type *t) { return (at + aside_align(t) - 1) & ~(aside_align(t) - 1); }

/* Makes a value that can't move, in its place, on a page that is this world's own. The old value's bytes are kept in
 * `was`. */
static COLD reef_status fixed_put(reef_world *w, reef_entity e, const reef_value *v, const type *t, char *was,
                                  uint32_t n)
{
    char *here = slot_value(store_of(w, t->id), e.index);
    memcpy(was, here, t->size);
    const reef_status s = put(w, e, t, here, v, n);
    if (s != REEF_OK) memcpy(here, was, t->size);
    return s;
}

static COLD void fixed_undo(const reef_world *w, reef_entity e, const reef_value *v, const type *t, const char *was,
                            uint32_t n)
{
    char *here = slot_value(store_of(w, t->id), e.index);
    take_back(t, here, v, n);
    memcpy(here, was, t->size);
}

static COLD void stored_undo_some(reef_world *w, reef_entity e, const reef_value *values, uint32_t made, uint32_t n,
                                  char *aside)
{
    size_t at = 0;
    for (uint32_t i = 0; i < made; i++) {
        const type *t = stored_value(&values[i]);
        if (t == NULL || values[i].kind == REEF_VALUE_REMOVE) continue;
        if (made_aside(w, t, e, &values[i])) {
            at = stored_aligned(at, t);
            if (t->fixed) fixed_undo(w, e, &values[i], t, aside + at, n);
            else take_back(t, aside + at, &values[i], n);
            at += aside_bytes(t);
        } else if (!store_has(w, t->id, e)) {
            take_back(t, raw_of(w, t, e, &values[i]), &values[i], n);
        }
    }
}

static void stage_free(reef_world *w, stored_stage *x)
{
    if (x->heap) reef__memory_resize(&w->family->memory, MEMORY_OTHER, x->heap, x->bytes, 0, x->align);
    x->heap = NULL;
}

COLD reef_status reef__stored_make(reef_world *w, reef_entity e, const reef_value *values, uint32_t count, uint32_t n,
                                   stored_stage *x)
{
    size_t at = 0;
    x->heap = NULL;
    x->bytes = 0, x->align = BLOCK_ALIGN;
    for (uint32_t i = 0; i < count; i++) {
        const type *t = stored_value(&values[i]);
        if (t == NULL || !made_aside(w, t, e, &values[i])) continue;
        x->bytes = stored_aligned(x->bytes, t) + aside_bytes(t);
        if (aside_align(t) > x->align) x->align = aside_align(t);
    }
    if (x->bytes > sizeof x->few || x->align > BLOCK_ALIGN) {
        x->heap = reef__memory_resize(&w->family->memory, MEMORY_OTHER, NULL, 0, x->bytes, x->align);
        if (x->heap == NULL) return REEF_NO_MEMORY;
    }
    char *aside = x->heap ? x->heap : x->few;
    for (uint32_t i = 0; i < count; i++) {
        const type *t = stored_value(&values[i]);
        if (t == NULL || values[i].kind == REEF_VALUE_REMOVE) continue;
        const bool replaces = made_aside(w, t, e, &values[i]);
        if (t->size == 0 || (!replaces && store_has(w, t->id, e))) continue;
        if (replaces) at = stored_aligned(at, t);
        const reef_status s = replaces && t->fixed
                                  ? fixed_put(w, e, &values[i], t, aside + at, n)
                                  : put(w, e, t, replaces ? aside + at : raw_of(w, t, e, &values[i]), &values[i], n);
        if (replaces) at += aside_bytes(t);
        if (s == REEF_OK) continue;
        stored_undo_some(w, e, values, i, n, aside);
        stage_free(w, x);
        return s;
    }
    return REEF_OK;
}

COLD void reef__stored_undo(reef_world *w, reef_entity e, const reef_value *values, uint32_t count, uint32_t n,
                            stored_stage *x)
{
    stored_undo_some(w, e, values, count, n, x->heap ? x->heap : x->few);
    stage_free(w, x);
}

COLD void reef__stored_unmake(reef_world *w, reef_entity e, const reef_value *values, uint32_t count, uint32_t n)
{
    for (uint32_t i = count; i-- > 0;) {
        const type *t = stored_value(&values[i]);
        if (t == NULL) continue;
        const value_store *s = store_of(w, t->id);
        take_back(t, slot_value(s, slot_of(s, e)), &values[i], n);
        reef__store_undo_add(w, t->id, e);
    }
}

/* Puts the new value in the place of the one that is there. */
static void stored_replace(reef_world *w, reef_entity e, const type *t, void *here, char *aside, const reef_value *v)
{
    if (t->home == REEF_SHARED) {
        void *was = *(void **)here;
        reef__quarantine_value(w, t, was, 1, e);
        memcpy(here, aside, sizeof was);
        if (!observed(w) || !observe_keep(w, t, was)) reef__shared_release(was);
        return;
    }
    if (aside && t->fixed) {
        value_leave(w, t, aside);
    } else if (aside || v->kind == VALUE_MOVED) {
        value_leave(w, t, here);
        reef__value_move(t, here, aside ? (void *)aside : (void *)(uintptr_t)v->data);
    } else if (v->kind == REEF_VALUE_DEFAULT) {
        memset(here, 0, t->size);
    } else if (t->size) {
        memmove(here, v->data, t->size);
    }
}

COLD void reef__stored_commit(reef_world *w, reef_entity e, const reef_value *values, uint32_t count, stored_stage *x)
{
    char *aside = x->heap ? x->heap : x->few;
    size_t at = 0;
    for (uint32_t i = 0; i < count; i++) {
        const type *t = stored_value(&values[i]);
        if (t == NULL || values[i].kind == REEF_VALUE_REMOVE) continue;
        const bool has = store_has(w, t->id, e), replaces = made_aside(w, t, e, &values[i]);
        if (replaces) at = stored_aligned(at, t);
        if (has) stored_replace(w, e, t, stored_own(w, t, e), replaces ? aside + at : NULL, &values[i]);
        else if (values[i].kind == VALUE_SPAN)
            reef__multi_put(w, (value_store *)(uintptr_t)store_of(w, t->id), e, values[i].size);
        else reef__store_commit_add(w, t->id, e);
        if (replaces) at += aside_bytes(t);
        if (t->tracked && (t->size || !has)) reef__track_stamp(w, t->id, e.index, !has);
    }
    for (uint32_t i = 0; i < count; i++) {
        const type *t = stored_value(&values[i]);
        if (t == NULL || values[i].kind != REEF_VALUE_REMOVE || !store_has(w, t->id, e)) continue;
        if (t->tracked) reef__removal_log(w, t, 0, e);
        reef__store_drop(w, t->id, e);
    }
    stage_free(w, x);
}

/* ---- entities that are destroyed ---- */

/* Walks over the stores in which an entity has a value: first those of which its row has a bit, then those of
 * REEF_COLD. */
typedef struct entity_stores {
    uint32_t place, cold; /* number of the next store of REEF_COLD */
    bit_walk bits;
} entity_stores;

INLINE void entity_stores_begin(const reef_world *w, reef_entity e, entity_stores *x)
{
    x->place = place_of(w, e);
    x->cold = w->slow & SLOW_COLD ? w->hot.stores->cold : 0;
    x->bits = bit_walk_of(bits_of(w, x->place));
}

/* NULL: there are no more. */
INLINE const value_store *entity_stores_next(const reef_world *w, reef_entity e, entity_stores *x)
{
    while (bit_next(w, &x->bits)) {
        if (!bit_read(x->bits.store, x->place)) continue;
        const value_store *s = store_of(w, x->bits.store->key); /* for a mark or a switch this is the empty store */
        if (s->component) return s;
    }
    while (x->cold) {
        const value_store *s = &w->state.stores[x->cold];
        x->cold = s->cold;
        if (cold_has(s, e)) return s;
    }
    return NULL;
}

#define EACH_STORE_OF(w, e, s) \
    entity_stores s##_; \
    entity_stores_begin(w, e, &s##_); \
    for (const value_store *s; (s = entity_stores_next(w, e, &s##_)) != NULL;)

COLD bool reef__stored_prepare_end(reef_world *w, reef_entity e)
{
    EACH_STORE_OF(w, e, s)
    {
        if (reef__type_of(s->component)->tracked && !reef__removals_prepare(w, s->component, 1)) return false;
        if (!reef__store_prepare_drop(w, s->component, e)) return false;
    }
    return true;
}

bool reef__cold_some(const reef_world *w, reef_entity e)
{
    bool some = false;
    EACH_COLD_STORE(w, s) some |= cold_has(s, e);
    return some;
}

COLD void reef__stored_end(reef_world *w, reef_entity e)
{
    EACH_STORE_OF(w, e, s)
    {
        const type *t = reef__type_of(s->component);
        if (t->tracked) reef__removal_log(w, t, 0, e);
        reef__store_drop(w, t->id, e);
    }
}

COLD bool reef__stored_prepare_end_all(reef_world *w)
{
    for (uint32_t i = 1; i < w->state.store_count; i++)
        if (w->state.stores[i].count && !reef__store_prepare_drop_all(w, w->state.stores[i].component)) return false;
    return true;
}

bool reef__stores_tracked(const reef_world *w)
{
    for (uint32_t i = 1; i < w->state.store_count; i++)
        if (reef__type_of(w->state.stores[i].component)->tracked) return true;
    return false;
}

static COLD bool cold_stays(const reef_world *w, reef_entity e, const reef_value *values, uint32_t count)
{
    EACH_COLD_STORE(w, s)
    {
        bool stays = cold_has(s, e);
        for (uint32_t k = 0; stays && k < count; k++)
            stays = values[k].component.id != s->component || values[k].kind != REEF_VALUE_REMOVE;
        if (stays) return true;
    }
    return false;
}

bool reef__cold_remains(const reef_world *w, reef_entity e, const reef_value *values, uint32_t count)
{
    return UNLIKELY(w->slow & SLOW_COLD) && cold_stays(w, e, values, count);
}

/* ---- copies ---- */

COLD const type *reef__stored_bound(const reef_world *w, reef_entity e)
{
    const type *first = NULL;
    EACH_STORE_OF(w, e, s)
    {
        const type *t = reef__type_of(s->component);
        if (!t->copyable && !s->shared && (first == NULL || reef__type_compare(t, first) < 0)) first = t;
    }
    return first;
}

COLD uint32_t reef__stored_values(const reef_world *w, reef_entity e, reef_value *values)
{
    uint32_t n = 0;
    EACH_STORE_OF(w, e, s)
    {
        const bool data = s->size != 0;
        if (s->shared) {
            values[n++] = reef_value_make((reef_component){s->component}, VALUE_HELD, 0, reef_store_find(s, e));
            continue;
        }
        if (s->multi) {
            values[n++] = reef_value_make((reef_component){s->component}, VALUE_SPAN, reef__multi_values(s, e),
                                          reef_store_find(s, e));
            continue;
        }
        values[n++] = reef_value_make((reef_component){s->component}, data ? REEF_VALUE_ONE : REEF_VALUE_DEFAULT,
                                      s->size, data ? reef_store_find(s, e) : NULL);
    }
    return n;
}
