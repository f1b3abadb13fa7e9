/* The values of a change of one entity, in columns and in stores. As in apply.c there are three steps:
 * reef__stage_prepare makes pages ready, reef__stage_make makes the values, and reef__stage_commit puts them in their
 * places.
 *
 * Where a value is made depends on what is there. A new one is made where it will be: in the row that nobody sees yet,
 * or in the slot behind those that are visible. One that replaces another, and whose hook may refuse, is made aside.
 * One that can't move is made in its place, and the bytes of the old value are kept aside. Everything else is only
 * written by the commit. */
#include "change/value_stage.h"
#include "type/value.h"
#include "storage/entity_index.h"
#include "storage/multi_store.h"
#include "storage/observed.h"
#include "storage/quarantine.h"
#include "storage/removal_log.h"
#include "storage/row_bits.h"
#include "storage/row_stamps.h"
#include "storage/shared_store.h"
#include "storage/sparse_store.h"
#include "storage/table.h"
#include "storage/unique_field.h"
#include "change/apply.h"
#include "change/relation.h"
#include "reef/detail/access.h"
#include "reef/relation.h"

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

/* Value number i is followed by the span that comes behind it (VALUE_SPAN). NULL: it isn't. */
static const reef_value *span_behind(const value_stage *x, uint32_t i)
{
    const reef_value *v = &x->values[i];
    const bool has = i + 1 < x->count && v[1].kind == VALUE_SPAN && v[1].component.id == v->component.id;
    return has ? v + 1 : NULL;
}

/* How many values an entity gets of a type in REEF_MULTI, from a value and the span behind it (NULL: none). 0: it gets
 * one, as of any type. */
static uint32_t span_size(const reef_value *v, const reef_value *rest)
{
    if (v->kind == VALUE_SPAN) return v->size;
    return rest ? 1 + rest->size : 0;
}

static bool prepare_new(reef_world *w, const type *t, reef_entity e, uint32_t span)
{
    if (!reef__store_prepare_add(w, t->id, &e, span == 0)) return false;
    return span == 0 || reef__multi_prepare(w, (value_store *)(uintptr_t)store_of(w, t->id), &e, 1, span);
}

static void *raw_of(const reef_world *w, const type *t, reef_entity e, uint32_t span)
{
    return span ? reef__multi_raw(store_of(w, t->id), span) : reef__store_raw(w, t->id, e);
}

void reef__staged_take_back(const type *t, void *slot, const reef_value *v, uint32_t n)
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
    for (uint32_t i = 0; i < v->size; i++) value_destroy(t, (char *)slot + (size_t)i * t->size);
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

reef_status reef__staged_put(reef_world *w, reef_entity e, const type *t, void *slot, const reef_value *v, uint32_t n)
{
    if (t->home == REEF_SHARED) return put_shared(w, e, t, slot, v, n);
    if (v->kind != VALUE_SPAN) return reef__value_put(w, e, t, slot, v, n);
    for (uint32_t i = 0; i < v->size; i++) {
        const reef_value one =
            reef_value_make(v->component, REEF_VALUE_ONE, t->size, (const char *)v->data + (size_t)i * t->size);
        const reef_status s = reef__value_put(w, e, t, (char *)slot + (size_t)i * t->size, &one, 0);
        if (s == REEF_OK) continue;
        while (i-- > 0) value_destroy(t, (char *)slot + (size_t)i * t->size);
        return s;
    }
    return REEF_OK;
}

/* The address of a value that is replaced, for writing. */
static void *stored_own(reef_world *w, const type *t, reef_entity e)
{
    return t->home == REEF_SHARED ? reef__store_slot_own(w, t->id, e) : reef__store_own(w, t->id, e);
}

bool reef__stage_prepare(value_stage *x)
{
    reef_world *w = x->w;
    for (uint32_t i = 0; i < x->count; i++) {
        const reef_value *v = &x->values[i];
        const type *t = stored_value(v), *replaced = t || x->fresh ? NULL : reef__value_column(v);
        if (replaced &&
            !reef__column_own(w, table_read(w, x->id), place_unit(x->place), reef__slot_seek(w, replaced->id, x->id)))
            return false;
        if (t == NULL || (i && span_behind(x, i - 1))) continue;
        const bool has = store_has(w, t->id, x->e), remove = v->kind == REEF_VALUE_REMOVE;
        if (remove && !has) continue;
        if (remove && t->tracked && !reef__removals_prepare(w, t->id, 1)) return false;
        if (remove && !reef__store_prepare_drop(w, t->id, x->e)) return false;
        if (remove) continue;
        if (t->tracked && !reef__track_prepare(w, t->id, &x->e, 1)) return false;
        const uint32_t span = span_size(v, span_behind(x, i));
        if (has ? stored_own(w, t, x->e) == NULL : !prepare_new(w, t, x->e, span)) return false;
    }
    return true;
}

/* A walk over the values that have a place, in a column or in a store. */
typedef struct stage_walk {
    uint32_t next;
    size_t at;                  /* where the next value waits aside */
    const reef_value *v, *rest; /* rest: the span behind it; NULL: none */
    const type *t;
    char *aside; /* where it waits, or the bytes of the old value do; NULL: nowhere. (Of a type that can't move, the old
                    value had no hook to destroy it, so it lives again when its bytes are copied back.) */
    bool has;    /* it replaces another value */
} stage_walk;

static bool stage_next(value_stage *x, stage_walk *k)
{
    while (k->next < x->count) {
        const reef_value *v = k->v = &x->values[k->next];
        k->rest = span_behind(x, k->next);
        k->next += k->rest ? 2 : 1;
        if (v->kind == REEF_VALUE_REMOVE) continue;
        const type *stored = stored_value(v), *t = k->t = stored ? stored : reef__value_column(v);
        if (t == NULL) continue;
        k->has = stored ? store_has(x->w, t->id, x->e) : !x->fresh;
        k->aside = NULL;
        if (k->has && (t->home == REEF_SHARED || (t->hooked && v->kind < VALUE_MOVED))) {
            k->at = (k->at + staged_align(t) - 1) & ~(staged_align(t) - 1);
            k->aside = (char *)x->aside.at + k->at;
            k->at += staged_bytes(t);
        }
        return true;
    }
    return false;
}

/* Where the value is in the end. */
static char *stage_place(const value_stage *x, const stage_walk *k)
{
    const type *t = k->t;
    if (!t->stored)
        return cell(unit_slots(x->w, place_unit(x->place)), reef__slot_seek(x->w, t->id, x->id), place_row(x->place),
                    t->size);
    const value_store *s = store_of(x->w, t->id);
    return k->has ? slot_value(s, slot_of(s, x->e)) : raw_of(x->w, t, x->e, span_size(k->v, k->rest));
}

/* Where the value is made. NULL: only the commit writes it. */
static char *stage_raw(const value_stage *x, const stage_walk *k)
{
    if (k->t->size == 0 || (k->has && k->aside == NULL)) return NULL;
    return k->aside && !k->t->fixed ? k->aside : stage_place(x, k);
}

/* Makes the value, with what comes behind it. */
static reef_status stage_put(const value_stage *x, const stage_walk *k, char *raw)
{
    reef_status s = reef__staged_put(x->w, x->e, k->t, raw, k->v, x->n);
    if (s != REEF_OK || k->rest == NULL) return s;
    s = reef__staged_put(x->w, x->e, k->t, raw + k->t->size, k->rest, x->n);
    if (s != REEF_OK) reef__staged_take_back(k->t, raw, k->v, x->n);
    return s;
}

static void stage_take_back(const value_stage *x, const stage_walk *k, char *raw)
{
    if (k->rest) reef__staged_take_back(k->t, raw + k->t->size, k->rest, x->n);
    reef__staged_take_back(k->t, raw, k->v, x->n);
}

/* May the entity get these relations? */
static COLD reef_status stage_relates(const value_stage *x, const stage_walk *k)
{
    const reef_status s = reef__relations_by->check(x->w, x->e, k->t, k->v, x->n, k->has);
    return s == REEF_OK && k->rest ? reef__relations_by->differs(x->w, k->t, k->v, x->n, k->rest) : s;
}

/* May the entity get this value, which was made before and only moves? (All others come by reef__value_put.) */
static COLD reef_status stage_enter(const value_stage *x, const stage_walk *k)
{
    const reef_status s = reef__uniques_by->enter(x->w, x->e, k->t, k->v->data);
    if (s != REEF_OK) x->w->hook_failed.id = k->t->id;
    return s;
}

static COLD void stage_unplace(const value_stage *x, const stage_walk *k, char *raw)
{
    reef__relations_by->unplace(x->w, k->t, raw, k->v, NULL);
    if (k->rest) reef__relations_by->unplace(x->w, k->t, raw + k->t->size, k->rest, NULL);
}

/* Takes back the first `made` values. */
static COLD void stage_undo(value_stage *x, uint32_t made)
{
    for (stage_walk k = {0}; stage_next(x, &k) && k.next <= made;) {
        char *raw = stage_raw(x, &k);
        if (raw) stage_take_back(x, &k, raw);
        if (raw && k.aside && k.t->fixed) memcpy(raw, k.aside, k.t->size);
    }
    reef__call_memory_free(&x->w->family->memory, &x->aside);
}

reef_status reef__stage_make(value_stage *x)
{
    size_t align = BLOCK_ALIGN;
    stage_walk k = {0};
    x->aside.at = x->aside.few;
    while ((x->stored || !x->fresh) && stage_next(x, &k))
        if (k.aside && staged_align(k.t) > align) align = staged_align(k.t);
    if (!reef__call_memory_take(&x->w->family->memory, &x->aside, k.at, align)) return REEF_NO_MEMORY;
    for (k = (stage_walk){0}; stage_next(x, &k);) {
        char *raw = stage_raw(x, &k);
        reef_status s = UNLIKELY(k.t->relation) ? stage_relates(x, &k) : REEF_OK;
        if (s == REEF_OK && raw == NULL && UNLIKELY(k.t->hooks.unique != NULL)) s = stage_enter(x, &k);
        if (s == REEF_OK && raw == NULL) continue;
        if (s == REEF_OK && k.aside && k.t->fixed) memcpy(k.aside, raw, k.t->size);
        if (s == REEF_OK) s = stage_put(x, &k, raw);
        if (s == REEF_OK && UNLIKELY(k.t->relation)) stage_unplace(x, &k, raw);
        if (s == REEF_OK) continue;
        if (raw && k.aside && k.t->fixed) memcpy(raw, k.aside, k.t->size);
        stage_undo(x, k.next - 1);
        return s;
    }
    return REEF_OK;
}

void reef__stage_unmake(value_stage *x)
{
    for (uint32_t i = x->count; i-- > 0;) {
        const reef_value *v = &x->values[i];
        const type *stored = stored_value(v), *t = stored ? stored : reef__value_column(v);
        const stage_walk k = {.v = v, .rest = span_behind(x, i), .t = t, .has = true};
        if (i && span_behind(x, i - 1)) continue;
        if (t) stage_take_back(x, &k, stage_place(x, &k));
        if (stored) reef__store_undo_add(x->w, t->id, x->e);
    }
}

/* Puts the new value in the place of the one that is there. */
static void stage_replace(const value_stage *x, const stage_walk *k)
{
    reef_world *w = x->w;
    const type *t = k->t;
    char *here = t->stored ? stored_own(w, t, x->e) : stage_place(x, k);
    value_store *s = (value_store *)(uintptr_t)store_of(w, t->id);
    relation_value replaced = {{0, 0}, 0};
    if (t->relation) {
        memcpy(&replaced, here, sizeof replaced);
        reef__relations_by->index_remove(w, s, x->e, here);
    }
    if (t->home == REEF_SHARED) {
        void *was = *(void **)(void *)here;
        reef__quarantine_value(w, t, was, 1, x->e);
        memcpy(here, k->aside, sizeof was);
        if (!watched(w, t->id) || !observe_keep(w, t, was)) reef__shared_release(was);
    } else if (k->aside && t->fixed) {
        value_leave(w, t, k->aside);
    } else if (k->aside || k->v->kind == VALUE_MOVED) {
        value_leave(w, t, here);
        reef__value_move(t, here, k->aside ? (void *)k->aside : (void *)(uintptr_t)k->v->data);
    } else if (k->v->kind == REEF_VALUE_DEFAULT) {
        memset(here, 0, t->size);
    } else if (t->size) {
        memmove(here, k->v->data, t->size);
    }
    if (t->relation) {
        reef__relations_by->unplace(w, t, here, k->v, &replaced);
        reef__relations_by->index_add(w, s, x->e, here);
    }
}

void reef__stage_commit(value_stage *x)
{
    reef_world *w = x->w;
    if (!x->stored && x->fresh) return;
    for (stage_walk k = {0}; stage_next(x, &k);) {
        const type *t = k.t;
        if (k.has) stage_replace(x, &k);
        else if (span_size(k.v, k.rest))
            reef__multi_put(w, (value_store *)(uintptr_t)store_of(w, t->id), x->e, span_size(k.v, k.rest));
        else if (t->stored) reef__store_commit_add(w, t->id, x->e);
        if (t->stored && t->tracked && (t->size || !k.has)) reef__track_stamp(w, t->id, x->e.index, !k.has);
    }
    for (uint32_t i = 0; i < x->count; i++) {
        const type *t = stored_value(&x->values[i]);
        if (t == NULL || x->values[i].kind != REEF_VALUE_REMOVE || !store_has(w, t->id, x->e)) continue;
        if (t->tracked) reef__removal_log(w, t, 0, x->e);
        reef__store_drop(w, t->id, x->e);
    }
    reef__call_memory_free(&w->family->memory, &x->aside);
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

COLD bool reef__stored_prepare_end_many(reef_world *w, const reef_entity *e, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (!reef__stored_prepare_end(w, e[i])) return false;
    for (uint32_t i = 1; i < w->state.store_count; i++) /* the last values fill the holes */
        if (!reef__store_prepare_last(w, &w->state.stores[i], n)) return false;
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

/* Store by store, where the order in which values go can't be seen and the stores are few; else entity by entity. */
COLD void reef__stored_end_many(reef_world *w, const reef_entity *e, uint32_t n)
{
    enum { FEW_STORES = 8 };
    uint32_t stores = 0;
    bool simple = true;
    for (uint32_t i = 1; i < w->state.store_count; i++) {
        const value_store *s = &w->state.stores[i];
        if (s->count == 0) continue;
        stores++;
        simple &= s->paged && !s->tracked && !reef__type_of(s->component)->hooked;
    }
    if (!simple || stores > FEW_STORES) {
        for (uint32_t i = n; i-- > 0;) reef__stored_end(w, e[i]);
        return;
    }
    for (uint32_t i = 1; i < w->state.store_count; i++)
        if (w->state.stores[i].count) reef__store_drop_many(w, &w->state.stores[i], e, n);
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

COLD uint32_t reef__stored_values(const reef_world *w, reef_entity e, reef_value *values, bool halves)
{
    uint32_t n = 0;
    EACH_STORE_OF(w, e, s)
    {
        const bool data = s->size != 0;
        if (!halves && s->relation && (reef__type_of(s->component)->relation & REEF_SYMMETRIC)) continue;
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
