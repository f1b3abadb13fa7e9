/* One component of one entity in tables: it comes, goes or is overwritten, whatever the row needs. Columns may have
 * hooks, rows may be tracked or have bits, blocks may be shared with a fork, and observers may watch. What moves where
 * says an edge of the table graph, which the world's cache remembers.
 *
 *   reserve   Everything that is written becomes this world's own, room is made for the row, for stamps, for the log
 *             of removals, and for what observers will be told. It may fail; nothing can be seen of it then.
 *   make      The new value is made in the row behind the last one, or aside if it replaces another one. A hook may
 *             refuse.
 *   commit    Columns move, the last row fills the hole, records and bits follow. Nothing fails.
 *
 * Three answers are possible: it is done (or failed, and `*status` says why), or this isn't a change of this shape, and
 * the caller takes the general path (apply.c). It isn't where the edge isn't cached, where the entity has no row or
 * won't have one, and where rows wait in quarantine. */
#include "change/row_change.h"
#include "base/memory.h"
#include "base/platform.h"
#include "type/type.h"
#include "type/value.h"
#include "storage/archetype.h"
#include "storage/entity_index.h"
#include "storage/error.h"
#include "storage/invalidate.h"
#include "storage/layout.h"
#include "storage/observed.h"
#include "storage/place.h"
#include "storage/quarantine.h"
#include "storage/read.h"
#include "storage/removal_log.h"
#include "storage/row_bits.h"
#include "storage/row_stamps.h"
#include "storage/table.h"
#include "storage/world_data.h"
#include "change/apply.h"
#include "change/component.h"
#include "change/row_move.h"
#include "reef/observer.h"
#include <stddef.h>

/* ---- reserving ---- */

INLINE bool table_owned(const reef_world *w, uint32_t id)
{
    return paged_owned(&w->state.tables, id / TABLES_PER_PAGE, w->hot.fork_version);
}
INLINE bool record_reserve(reef_world *w, uint32_t index)
{
    return LIKELY(record_owned(w, index)) || reef__record_own(w, index) != NULL;
}
INLINE bool chunk_reserve(reef_world *w, const table *t, uint32_t unit)
{
    return LIKELY(unit_slots(w, unit)[SLOT_ENTITIES].version == w->hot.version) || reef__chunk_own(w, t, unit);
}

/* What leaves the old table, and what fills the hole. */
INLINE bool leave_reserve(reef_world *w, const row_place *x, const table *from)
{
    const uint32_t last = from->next - 1;
    if (!chunk_reserve(w, from, place_unit(x->place))) return false;
    if (UNLIKELY(from->shape->hooked) && !chunk_reserve(w, from, from->last)) return false;
    if (UNLIKELY(place_row(last) == 0) && !reef__table_prepare_pop(w, from)) return false;
    return record_reserve(w, HANDLE_INDEX(handle_at(unit_slots(w, from->last), place_row(last))));
}
INLINE bool room_reserve(reef_world *w, table *to)
{
    if (LIKELY(to->next != to->end) && LIKELY(unit_slots(w, to->last)[SLOT_ENTITIES].version == w->hot.version))
        return true;
    return reef__table_room(w, to);
}
static bool move_bits_reserve(reef_world *w, uint32_t c, bool remove, const row_place *x, table *from, table *to)
{
    const uint64_t mask = from->bits;
    const uint32_t last = from->next - 1;
    to->bits |= mask;
    to->lease = 0;
    return (last == x->place || reef__bits_prepare_move(w, mask, last, x->place)) &&
           reef__bits_prepare_move(w, mask, x->place, to->next) &&
           (!remove || reef__bit_prepare(w, c | BIT_DISABLED, to->shape->table, to->next, false));
}
INLINE bool track_reserve(reef_world *w, reef_entity e, const type *t, bool remove)
{
    return remove ? reef__removals_prepare(w, t->id, 1) : reef__track_prepare(w, t->id, &e, 1);
}

/* ---- a row moves ---- */

/* Values that both tables have go to the new row; what fills the hole comes later. */
static void hooked_columns_move(const edge *d, const shape *s, const reef_slot *here, size_t row, const reef_slot *to,
                                size_t to_row)
{
    for (const edge_move *m = d->move, *end = m + d->count; m < end; m++)
        reef__value_move(s->columns[m->from / sizeof(reef_slot)].type, slot_by(to, m->to) + to_row * m->size,
                         slot_by(here, m->from) + row * m->size);
}

/* Some values have a hook that moves them, or the row has bits, which go along. */
static void row_go_aware(reef_world *w, const type *t, const struct edge_entry *k, const row_place *x, bool remove)
{
    table *from = k->from, *to = k->to;
    const edge *d = k->edge;
    const uint32_t place = x->place, to_place = to->next;
    hooked_columns_move(d, from->shape, x->slots, place_row(place), to->tail, place_row(to_place));
    handle_put(to->tail, place_row(to_place), x->h);
    reef__row_pushed(w, to);
    if (UNLIKELY(from->bits != 0)) reef__bits_move(w, from->bits, place, to_place);
    reef__row_fill(w, from, place);
    record_replace(w, HANDLE_INDEX(x->h), to_place);
    if (UNLIKELY(from->bits != 0) && remove) reef__bit_commit(w, t->id | BIT_DISABLED, to_place, false);
    w->hot.moves++;
}

/* Values that move as bytes. `remove` is a constant. */
INLINE void row_go_plain(reef_world *w, const row_place *x, uint32_t i, bool remove)
{
    table *from = w->edge_cache[i].from, *to = w->edge_cache[i].to;
    if (UNLIKELY(to->shape->hooked)) to->tail[0].head_more.count++;
    if (UNLIKELY(from->shape->hooked)) from->tail[0].head_more.count--;
    if (LIKELY(x->place != from->next - 1)) row_move_by_edge(w, x, i, NULL, false, remove, 1, true, true);
    else row_move_by_edge(w, x, i, NULL, false, remove, 1, false, true);
    if (UNLIKELY(from->next == unit_place(from->last))) reef__table_trim(w, from);
}

static COLD reef_status change_failed(reef_world *w, const char *op, reef_entity e, const type *t, reef_status s)
{
    const reef_component named = w->hook_failed.id ? w->hook_failed : (reef_component){t->id};
    return reef__failure(w, s, op, named, e, 0);
}

/* Everything that the move writes. `x` is found anew, since pages may have been copied. `remove` is a constant. */
INLINE bool move_reserve(reef_world *w, row_place *x, reef_entity e, const type *t, uint32_t i, bool remove)
{
    const struct edge_entry *const k = &w->edge_cache[i];
    if (!record_reserve(w, HANDLE_INDEX(x->h))) return false;
    x->record = (char *)(uintptr_t)reef_record_at(&w->hot, HANDLE_INDEX(x->h));
    if (LIKELY(edge_open(w, x, i, w->hot.version)))
        return record_reserve(w, HANDLE_INDEX(handle_at(k->from->tail, place_row(k->from->next - 1))));
    if (!leave_reserve(w, x, k->from) || !room_reserve(w, k->to)) return false;
    if (UNLIKELY(k->from->bits != 0) && !move_bits_reserve(w, t->id, remove, x, k->from, k->to)) return false;
    if (UNLIKELY(t->tracked) && !track_reserve(w, e, t, remove)) return false;
    x->slots = reef_slots_at(&w->hot, x->place);
    k->from->tail = unit_slots(w, k->from->last);
    k->to->tail = unit_slots(w, k->to->last);
    return true;
}

enum { OLD_BYTES = 256, OLD_ALIGN = 16 }; /* the largest old value that is kept on the stack, and its alignment */
typedef union old_value {
    max_align_t align;
    char at[OLD_BYTES];
} old_value;

/* Can an observer be told of a change without a plan? The old value is then kept by the caller. */
INLINE bool told_simply(const reef_world *w, const type *t, uint32_t kind)
{
    const bool no_old = t->hooked || t->size > OLD_BYTES || t->align > OLD_ALIGN || t->relation != 0;
    return observe_simply(w, t->id, kind, no_old && t->size);
}

INLINE reef_status row_move(reef_world *w, const char *op, reef_entity e, const type *t, reef_value *v, row_place *x,
                            uint32_t i, bool told, void **out, bool remove)
{
    const struct edge_entry *const k = &w->edge_cache[i];
    const edge *d = k->edge;
    const uint32_t kind = remove ? REEF_ON_REMOVE : REEF_ON_ADD;
    const bool planned = told && !told_simply(w, t, kind);
    old_value old;
    reef_status s = REEF_NO_MEMORY;
    char *fresh = NULL;
    w->value = v;
    w->value_count = 1;
    values_begin(w);
    if (planned && !observe_change(w, e, d->to, v, 1)) return w->value_count = 0, change_failed(w, op, e, t, s);
    if (LIKELY(move_reserve(w, x, e, t, i, remove))) s = REEF_OK;
    if (s == REEF_OK && !remove && d->slot) {
        fresh = cell(k->to->tail, d->slot, place_row(k->to->next), d->size);
        if (LIKELY(t->direct && v->kind == REEF_VALUE_ONE)) bytes_copy(fresh, v->data, d->size);
        else s = reef__value_put(w, e, t, fresh, v, 0);
    }
    w->value_count = 0;
    if (UNLIKELY(s != REEF_OK)) {
        reef__table_trim(w, k->to);
        if (planned) observe_done(w, false);
        return change_failed(w, op, e, t, s);
    }
    if (UNLIKELY(t->tracked)) {
        if (remove) reef__removal_log(w, t, x->place, e);
        else reef__track_stamp(w, t->id, e.index, true);
    }
    if (remove && d->slot && (t->hooked || told)) {
        char *gone = cell((reef_slot *)(uintptr_t)x->slots, d->slot, place_row(x->place), d->size);
        if (told && !planned && d->size <= OLD_BYTES) bytes_copy(old.at, gone, d->size);
        if (planned) value_leave(w, t, gone);
        else value_destroy(t, gone);
    }
    reef__invalidate(w, INVALIDATE_WRITTEN | INVALIDATE_ROWS_CHANGED);
    table *from = k->from;
    if (UNLIKELY(!from->shape->plain_move || !k->to->shape->plain_move || from->bits != 0))
        row_go_aware(w, t, k, x, remove);
    else row_go_plain(w, x, i, remove);
    if (!from->shape->hooked && !from->shape->tracked && from->append != w->hot.version) reef__table_lease(w, from);
    if (out) *out = t->hooks.unique ? NULL : fresh;
    s = remove ? REEF_OK : REEF_ADDED;
    if (LIKELY(!told)) return s;
    if (planned) observe_done(w, true);
    else if (!observe_tell(w, e, t, kind, fresh, remove && d->size ? old.at : NULL)) return s;
    if (out && fresh) *out = reef__cell_now(w, e, v->component);
    return s;
}

static NOINLINE reef_status row_move_add(reef_world *w, const char *op, reef_entity e, const type *t, reef_value *v,
                                         row_place *x, uint32_t i, bool told, void **out)
{
    return row_move(w, op, e, t, v, x, i, told, out, false);
}

/* Finds the edge. False: this isn't a change of this shape. `x` is the row's place. */
INLINE bool move_starts(const reef_world *w, const row_place *x, reef_component c, bool remove, bool told, uint32_t *i)
{
    const uint64_t key = row_place_key(x, c, remove) | (told ? EDGE_WATCHED : 0);
    const struct edge_entry *const k = &w->edge_cache[ *i = edge_index(key)];
    return LIKELY(w->locks == 0 && x->place > PLACE_EMPTY && k->key == key) && !quarantine_on(w) &&
           (!told || observers_known(w)) && table_owned(w, k->edge->from) && table_owned(w, k->edge->to);
}

bool reef__row_add(reef_world *w, const char *op, reef_entity e, reef_component c, const void *args, void **out,
                   reef_status *status)
{
    const bool told = watched(w, c.id);
    row_place x;
    uint32_t i;
    if (!row_place_find(w, &x, e) || !move_starts(w, &x, c, false, told, &i)) return false;
    reef_value v = reef_value_make(c, REEF_VALUE_DEFAULT, 0, args);
    *status = row_move_add(w, op, e, reef__type_of(c.id), &v, &x, i, told, out);
    return true;
}

bool reef__row_remove(reef_world *w, const char *op, reef_entity e, reef_component c, reef_status *status)
{
    const bool told = watched(w, c.id);
    row_place x;
    uint32_t i;
    if (!row_place_find(w, &x, e) || !move_starts(w, &x, c, true, told, &i)) return false;
    reef_value v = reef_value_make(c, REEF_VALUE_REMOVE, 0, NULL);
    *status = row_move(w, op, e, reef__type_of(c.id), &v, &x, i, told, NULL, true);
    return true;
}

/* Adds what observers watch, as plain bytes (NULL: zeros), where both tables have a lease and no plan is needed. False:
 * nothing was done. */
INLINE bool add_watched(reef_world *w, const row_place *x, reef_component c, const void *value, void **made)
{
    const uint32_t i = EDGE_CACHE;
    if ((w->locks | w->hot.records.shared) != 0 || !observe_simply(w, c.id, REEF_ON_ADD, false) ||
        !edge_cached(w, row_place_key(x, c, false) | EDGE_WATCHED, false, w->hot.version) ||
        !edge_open(w, x, i, w->hot.version))
        return false;
    *made = LIKELY(w->edge_cache[i].edge->word) ? (void *)edge_go(w, x, i, value, true, false, 0)
                                                : edge_go_wide(w, x, i, value, false);
    return true;
}

bool reef__row_add_watched(reef_world *w, reef_entity e, reef_component c, void **out)
{
    row_place x;
    void *made;
    if (!watched(w, c.id) || !row_place_find(w, &x, e) || !add_watched(w, &x, c, NULL, &made)) return false;
    const bool told = observe_tell(w, e, reef__type_of(c.id), REEF_ON_ADD, made, NULL);
    if (out) *out = told && made ? reef__cell_now(w, e, c) : made;
    return true;
}

/* ---- a value is overwritten ---- */

/* The column's block becomes this world's own and counts as written now. */
INLINE bool column_reserve(reef_world *w, row_place *x, uint32_t k)
{
    const table *t = table_read(w, x->slots[0].head.table);
    if (LIKELY(x->slots[k].version == column_mark(w, &t->shape->columns[k]))) return true;
    if (!reef__column_own(w, t, place_unit(x->place), k)) return false;
    x->slots = reef_slots_at(&w->hot, x->place);
    return true;
}

/* Makes the new value of a type with hooks aside, since a hook may refuse, and puts it in the place of the old one. */
static reef_status value_exchange(reef_world *w, reef_entity e, const type *t, char *here, const reef_value *v,
                                  bool planned)
{
    call_memory aside;
    if (!reef__call_memory_take(&w->family->memory, &aside, t->size, t->align)) return REEF_NO_MEMORY;
    const reef_status s = reef__value_put(w, e, t, aside.at, v, 0);
    if (s == REEF_OK) {
        if (planned) value_leave(w, t, here);
        else value_destroy(t, here);
        reef__value_move(t, here, aside.at);
    }
    reef__call_memory_free(&w->family->memory, &aside);
    return s;
}

static NOINLINE reef_status overwrite(reef_world *w, const char *op, reef_entity e, const type *t, row_place *x,
                                      uint32_t k, reef_value *v, bool told)
{
    const bool planned = told && !told_simply(w, t, REEF_ON_SET);
    old_value old;
    char *here = NULL;
    reef_status s = REEF_NO_MEMORY;
    w->value = v;
    w->value_count = 1;
    values_begin(w);
    if (planned && !observe_change(w, e, x->slots[0].head.table, v, 1))
        return w->value_count = 0, change_failed(w, op, e, t, s);
    if (column_reserve(w, x, k) && (LIKELY(!t->tracked) || reef__track_prepare(w, t->id, &e, 1))) {
        here = cell((reef_slot *)(uintptr_t)x->slots, k, place_row(x->place), t->size);
        if (told && !planned && t->size <= OLD_BYTES) bytes_copy(old.at, here, t->size);
        if (UNLIKELY(t->hooked)) s = value_exchange(w, e, t, here, v, planned);
        else memmove(here, v->data, t->size), s = REEF_OK;
    }
    w->value_count = 0;
    if (s == REEF_OK && UNLIKELY(t->tracked)) reef__track_stamp(w, t->id, e.index, false);
    if (planned) observe_done(w, s == REEF_OK);
    else if (told && s == REEF_OK) (void)observe_tell(w, e, t, REEF_ON_SET, here, old.at);
    return s == REEF_OK ? s : change_failed(w, op, e, t, s);
}

/* Replaces a plain value. The new one may lie in this very row. */
INLINE void value_replace(char *to, const void *value, size_t size)
{
    if (size == 8) memcpy(to, value, 8);
    else memmove(to, value, size);
}
/* The same where observers are told without a plan. */
static void value_replace_told(reef_world *w, reef_entity e, const type *t, char *to, const void *value)
{
    old_value old;
    if (t->size <= OLD_BYTES) value_replace(old.at, to, t->size); /* where it is larger, nobody asks for it */
    value_replace(to, value, t->size);
    (void)observe_tell(w, e, t, REEF_ON_SET, to, old.at);
}

bool reef__row_set(reef_world *w, const char *op, reef_entity e, reef_component c, const void *value, size_t size,
                   reef_status *status)
{
    row_place x;
    uint32_t i;
    if (UNLIKELY(w->notifying || w->running || value == NULL || size == 0) || !row_place_find(w, &x, e)) return false;
    const uint32_t k = slot_find(w, c.id, x.slots[0].head.table);
    if (k == REEF_SLOT_TAG) return false;
    const type *t = reef__type_of(c.id);
    if (UNLIKELY(t == NULL || size != t->size)) return false;
    const bool told = watched(w, c.id);
    if (k && LIKELY(t->direct && x.slots[k].version == w->hot.version) &&
        (LIKELY(!told) || told_simply(w, t, REEF_ON_SET))) {
        char *to = cell((reef_slot *)(uintptr_t)x.slots, k, place_row(x.place), size);
        *status = REEF_OK;
        if (UNLIKELY(told)) value_replace_told(w, e, t, to, value);
        else value_replace(to, value, size);
        return true;
    }
    void *made;
    if (k == 0 && told && add_watched(w, &x, c, value, &made)) {
        (void)observe_tell(w, e, t, REEF_ON_ADD, made, NULL);
        *status = REEF_ADDED;
        return true;
    }
    reef_value v = reef_value_make(c, REEF_VALUE_ONE, (uint32_t)size, value);
    if (k == 0) {
        if (!move_starts(w, &x, c, false, told, &i)) return false;
        *status = row_move_add(w, op, e, t, &v, &x, i, told, NULL);
        return true;
    }
    if (quarantine_on(w) || t->fixed) return false;
    *status = overwrite(w, op, e, t, &x, k, &v, told);
    return true;
}
