/* Adding a component to everything that a query matches, where others come along that it requires. Each entity changes
 * by the general path, with a list of its own (reef__spread_fill). What that needs is prepared before the first one
 * changes, for all types that may come: so nothing can fail then. */
#include "query/change_where.h"
#include "type/value.h"
#include "storage/archetype.h"
#include "storage/known_types.h"
#include "storage/observed.h"
#include "storage/place.h"
#include "storage/read.h"
#include "storage/required.h"
#include "storage/row_bits.h"
#include "storage/row_stamps.h"
#include "storage/shared_store.h"
#include "storage/sparse_store.h"
#include "storage/split_columns.h"
#include "change/apply.h"
#include "change/destroy.h"
#include "change/value_stage.h"

/* The i-th type that may come: the type of the call, then what it needs. */
static const type *along_type(const bulk *b, uint32_t i) { return i ? reef__type_of(b->t->needs[i - 1]) : b->t; }
static bool along_aside(const type *t) { return t->size && (t->hooked || t->home == REEF_SHARED); }

typedef struct along {
    spread list; /* what the present entity gets */
    char *aside[REEF_COMPONENTS_MAX + 1];
    uint64_t made[REEF_COMPONENTS_MAX + 1]; /* how many entities were looked at */
} along;

bool reef__bulk_adds_required(const bulk *b)
{
    if (b->t->need_count == 0 || b->value.kind == REEF_VALUE_REMOVE) return false;
    for (uint32_t i = 0; i < b->q->match_count; i++) {
        const table *t = table_read(b->w, match_at(b->q, i)->id);
        if (t && table_rows(t) && !reef__table_meets(b->w, t->shape->table, b->t)) return true;
    }
    return false;
}

/* The table of entity i after the change; 0: no memory or a limit, as *s says. */
static uint32_t along_table(bulk *b, along *x, uint64_t i, reef_status *s)
{
    uint32_t ids[2 * REEF_COMPONENTS_MAX];
    const uint32_t from = reef_slots_at(&b->w->hot, place_of(b->w, b->list[i]))[0].head.table;
    *s = reef__spread_fill(b->w, &x->list, b->list[i], &b->value, 1);
    if (*s != REEF_OK) return 0;
    return reef__graph_table(b->w, ids, reef__set_after(b->w, from, x->list.values, x->list.count, ids), s);
}

/* Lists the rows of a match, and divides them by the table that they go to. */
static reef_status along_collect(bulk *b, along *x, const match *m)
{
    const table *t = table_read(b->w, m->id);
    const uint64_t rows = t ? reef__bulk_rows(b, m, t) : 0, first = b->count;
    reef_status s = REEF_OK;
    uint64_t end = first;
    if (rows == 0) return s;
    if (!reef__bulk_list(b, m, t, rows)) return REEF_NO_MEMORY;
    for (uint64_t i = first; i < b->count; i++)
        if (b->value.kind == REEF_VALUE_ONE || !has_itself(b->w, b->list[i], b->t)) b->list[end++] = b->list[i];
    b->count = first;
    portion *p = NULL;
    for (; b->count < end; b->count++) {
        const uint32_t to = along_table(b, x, b->count, &s);
        if (to == 0) return s;
        if ((p == NULL || p->to != to) && (p = reef__portion_add(b, MOVE, m->id)) == NULL) return REEF_NO_MEMORY;
        p->to = to;
        p->count++;
    }
    return s;
}

/* Prepares bits and stored values of one type for all entities. */
static bool along_stored(bulk *b, const type *t)
{
    for (uint64_t i = 0; (t->bit || t->stored) && i < b->count; i++) {
        const uint32_t place = place_of(b->w, b->list[i]), id = reef_slots_at(&b->w->hot, place)[0].head.table;
        if (t->bit && !reef__bit_prepare(b->w, t->id, id, place, true)) return false;
        if (!t->stored || !store_has(b->w, t->id, b->list[i]) || t != b->t) continue;
        if ((t->home == REEF_SHARED ? reef__store_slot_own(b->w, t->id, b->list[i])
                                    : reef__store_own(b->w, t->id, b->list[i])) == NULL)
            return false;
    }
    return !t->stored || b->count == 0 || reef__store_prepare_add_some(b->w, t->id, b->list, b->count);
}

static bool along_portion(bulk *b, uint64_t k)
{
    const portion *p = &b->portions[k];
    uint64_t leave = 0, arrive = 0;
    for (uint64_t i = 0; i < b->portion_count; i++) {
        if (b->portions[i].from == p->from) leave += b->portions[i].count;
        if (b->portions[i].to == p->to) arrive += b->portions[i].count;
    }
    const bool first = k == 0 || b->portions[k - 1].from != p->from;
    if (p->to == p->from)
        return !in_table(b->t) || reef__slot_seek(b->w, b->t->id, p->from) == 0 ||
               reef__bulk_columns_own(b->w, p, b->t->id, b->list + p->first);
    return (!first || reef__leave_prepare(b->w, p->from, b->list + p->first, leave)) &&
           reef__arrive_prepare(b->w, p->from, p->to, arrive);
}

static bool along_prepare(bulk *b)
{
    for (uint32_t k = 0; k <= b->t->need_count; k++) {
        const type *t = along_type(b, k);
        if (!along_stored(b, t)) return false;
        for (uint64_t i = 0; t->tracked && i < b->count; i++)
            if (!reef__track_prepare(b->w, t->id, &b->list[i], 1)) return false;
    }
    for (uint64_t k = 0; k < b->portion_count; k++)
        if (!along_portion(b, k)) return false;
    return !observed(b->w) || observe_reserve_changes(b->w, b->t, b->count * (1 + (uint64_t)b->t->need_count));
}

static void *along_slot(const bulk *b, const along *x, uint32_t k, uint64_t i)
{
    const type *t = along_type(b, k);
    return t->fixed ? reef__store_raw(b->w, t->id, b->list[i]) : x->aside[k] + (size_t)i * staged_bytes(t);
}

/* The value that entity i gets of type k, in the entity's list; NULL: it gets none. */
static reef_value *along_value(const bulk *b, const along *x, uint32_t k)
{
    const type *t = along_type(b, k);
    for (uint32_t i = 0; i < x->list.count; i++)
        if (x->list.values[i].component.id == t->id) return &x->list.values[i];
    return NULL;
}

static void along_undo(bulk *b, along *x)
{
    for (uint64_t i = b->count; i-- > 0;) {
        const reef_status s = reef__spread_fill(b->w, &x->list, b->list[i], &b->value, 1);
        for (uint32_t k = 0; s == REEF_OK && k <= b->t->need_count; k++) {
            const reef_value *v = along_value(b, x, k);
            if (v && i < x->made[k]) reef__staged_take_back(along_type(b, k), along_slot(b, x, k, i), v, 0);
        }
    }
}

/* Makes the values that hooks may refuse. */
static reef_status along_make(bulk *b, along *x)
{
    for (uint32_t k = 0; k <= b->t->need_count; k++) {
        const type *t = along_type(b, k);
        if (!along_aside(t) || b->count == 0) continue;
        if (!t->fixed && b->count <= SIZE_MAX / staged_bytes(t))
            x->aside[k] = reef__memory_resize(&b->w->family->memory, MEMORY_OTHER, NULL, 0,
                                              (size_t)b->count * staged_bytes(t), staged_align(t));
        if (!t->fixed && x->aside[k] == NULL) return REEF_NO_MEMORY;
        for (; x->made[k] < b->count; x->made[k]++) {
            const uint64_t i = x->made[k];
            reef_status s = reef__spread_fill(b->w, &x->list, b->list[i], &b->value, 1);
            const reef_value *v = s == REEF_OK ? along_value(b, x, k) : NULL;
            if (v) s = reef__staged_put(b->w, b->list[i], t, along_slot(b, x, k, i), v, 0);
            if (s != REEF_OK) return s;
        }
    }
    return REEF_OK;
}

static void along_commit(bulk *b, along *x, uint64_t i)
{
    reef_status s;
    const uint32_t to = along_table(b, x, i, &s);
    for (uint32_t k = 0; k <= b->t->need_count; k++) {
        reef_value *v = along_aside(along_type(b, k)) ? along_value(b, x, k) : NULL;
        if (v == NULL) continue;
        *v = reef_value_make(v->component, VALUE_MOVED, along_type(b, k)->size, along_slot(b, x, k, i));
        if (along_type(b, k)->home == REEF_SHARED) v->kind = VALUE_HELD, memcpy(&v->data, v->data, sizeof v->data);
    }
    s = reef__change_apply(b->w, b->op, b->list[i], place_of(b->w, b->list[i]), to, x->list.values, x->list.count);
    ASSERT(s == REEF_OK); /* everything was prepared */
    for (uint32_t k = 0; k < x->list.count; k++)
        if (x->list.values[k].kind == VALUE_HELD) reef__shared_release((void *)(uintptr_t)x->list.values[k].data);
}

static COLD reef_status along_run(bulk *b, along *x)
{
    reef_status s = REEF_OK;
    for (uint32_t k = 0; s == REEF_OK && k <= b->t->need_count; k++) s = reef__type_ready(b->w, along_type(b, k)->id);
    for (uint32_t i = 0; s == REEF_OK && i < b->q->match_count; i++) s = along_collect(b, x, match_at(b->q, i));
    if (s == REEF_OK && b->value.kind == REEF_VALUE_ONE && !b->t->copyable && b->count > 1) s = REEF_NOT_COPYABLE;
    if (s == REEF_OK && b->value.kind == REEF_VALUE_ONE && b->t->fixed) s = REEF_NOT_MOVABLE;
    if (s == REEF_OK && b->t->relation) s = reef__bulk_relations(b);
    if (s == REEF_OK && !along_prepare(b)) s = REEF_NO_MEMORY;
    if (s == REEF_OK) s = along_make(b, x);
    if (s != REEF_OK) return along_undo(b, x), s;
    b->changed = b->count;
    observe_open(b->w);
    if (b->t->relation) b->w->relating = b->value.data;
    for (uint64_t i = 0; i < b->count; i++) along_commit(b, x, i);
    b->w->relating = NULL;
    observe_close(b->w);
    return REEF_OK;
}

COLD reef_status reef__bulk_along(bulk *b)
{
    memory *m = &b->w->family->memory;
    along *x = reef__memory_resize(m, MEMORY_OTHER, NULL, 0, sizeof *x, _Alignof(along));
    const uint32_t most = reef__spread_most(&b->value, 1);
    reef_status s = most > REEF_COMPONENTS_MAX ? REEF_LIMIT : REEF_NO_MEMORY;
    if (x) memset(x, 0, sizeof *x);
    if (x && s != REEF_LIMIT && reef__spread_room(b->w, &x->list, most)) {
        s = along_run(b, x);
        for (uint32_t k = 0; k <= b->t->need_count; k++)
            if (x->aside[k])
                reef__memory_resize(m, MEMORY_OTHER, x->aside[k], (size_t)b->count * staged_bytes(along_type(b, k)), 0,
                                    staged_align(along_type(b, k)));
        reef__spread_free(b->w, &x->list);
    }
    if (x) reef__memory_resize(m, MEMORY_OTHER, x, sizeof *x, 0, _Alignof(along));
    return s;
}
