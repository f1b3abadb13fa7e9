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
 * it goes on to the general path (component.c, apply.c). It isn't where a loop is open, where the entity has no row or
 * won't have one, where more than the component comes, and where rows wait in quarantine. */
#include "change/row_change.h"
#include "type/value.h"
#include "storage/archetype.h"
#include "storage/entity_index.h"
#include "storage/error.h"
#include "storage/invalidate.h"
#include "storage/known_types.h"
#include "storage/observed.h"
#include "storage/place.h"
#include "storage/quarantine.h"
#include "storage/removal_log.h"
#include "storage/required.h"
#include "storage/row_bits.h"
#include "storage/row_stamps.h"
#include "storage/table.h"
#include "change/apply.h"
#include "change/component.h"
#include "change/row_move.h"
#include "change/row_reserve.h"
#include "reef/observer.h"

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
    const uint32_t to_place = to->next;
    hooked_columns_move(k->edge, from->shape, x->slots, place_row(x->place), to->tail, place_row(to_place));
    moving_commit(w, x, from, to);
    if (UNLIKELY(from->bits != 0) && remove) reef__bit_commit(w, t->id | BIT_DISABLED, to_place, false);
}

/* Values that move as bytes. `remove` is a constant. */
INLINE void row_go_plain(reef_world *w, const row_place *x, const struct edge_entry *k, bool remove)
{
    table *from = k->from, *to = k->to;
    if (UNLIKELY(to->shape->hooked)) to->tail[0].head_more.count++;
    if (UNLIKELY(from->shape->hooked)) from->tail[0].head_more.count--;
    if (LIKELY(x->place != from->next - 1)) row_move_by_edge(w, k, x, NULL, false, remove, 1, true, true);
    else row_move_by_edge(w, k, x, NULL, false, remove, 1, false, true);
    if (UNLIKELY(from->next == unit_place(from->last))) reef__table_trim(w, from);
}

static COLD reef_status change_failed(reef_world *w, const char *op, reef_entity e, const type *t, reef_status s)
{
    const reef_component named = w->hook_failed.id ? w->hook_failed : (reef_component){t->id};
    return reef__failure(w, s, op, named, e, 0);
}

/* What a tracked component needs: the page of its stamps when it comes; whether somebody reads that it goes. */
typedef struct row_track {
    stamp_page *stamps;
    bool logged;
} row_track;

/* Everything that the move writes. What moved meanwhile is found anew. `remove` is a constant. */
INLINE bool move_reserve(reef_world *w, row_place *x, const type *t, const struct edge_entry *k, bool remove,
                         row_track *track)
{
    table *const from = k->from, *const to = k->to;
    if (UNLIKELY(!moving_reserve(w, x, from, to))) return false;
    if (UNLIKELY(from->bits != 0) && remove &&
        !reef__bit_prepare(w, t->id | BIT_DISABLED, to->shape->table, to->next, false))
        return false;
    if (UNLIKELY(t->tracked)) {
        track->logged = remove && removals_read(w, t);
        if (track->logged && !reef__removals_prepare(w, t->id, 1)) return false;
        if (!remove && !(track->stamps = reef__track_page(w, t->id, HANDLE_INDEX(x->h)))) return false;
    }
    return true;
}

/* Plans what observers will be told. `v` NULL: the component goes. */
static NOINLINE bool change_planned(reef_world *w, reef_entity e, const type *t, uint32_t to, const reef_value *v)
{
    const reef_value goes = reef_value_make((reef_component){t->id}, REEF_VALUE_REMOVE, 0, NULL);
    return observe_change(w, e, to, v ? v : &goes, 1);
}

/* Makes the value that comes. */
INLINE reef_status value_arrive(reef_world *w, reef_entity e, const type *t, char *to, const reef_value *v)
{
    if (UNLIKELY(v->kind != REEF_VALUE_ONE || (t->hooked && (!t->copyable || t->hooks.unique))))
        return reef__value_put(w, e, t, to, v, 0);
    if (LIKELY(!t->hooked)) return bytes_copy(to, v->data, t->size), REEF_OK;
    const reef_status s = reef__value_copy(t, to, v->data);
    if (UNLIKELY(s != REEF_OK)) w->hook_failed.id = t->id;
    return s;
}

/* The three steps. `told`: an observer watches the component. `v`: what comes; NULL: the component goes. `remove` is a
 * constant. */
INLINE reef_status row_move(reef_world *w, const char *op, reef_entity e, const type *t, reef_value *v, row_place *x,
                            const struct edge_entry *k, bool told, void **out, bool remove)
{
    const edge *d = k->edge;
    const uint32_t kind = remove ? REEF_ON_REMOVE : REEF_ON_ADD;
    const uint32_t whom = UNLIKELY(told) ? reef__type_whom(w, t, kind) : 0;
    const bool planned = whom == WHOM_BY_PLAN;
    old_value old;
    reef_status s = REEF_NO_MEMORY;
    char *fresh = NULL;
    row_track track = {NULL, false};
    if (!remove) w->value = v, w->value_count = 1;
    values_begin(w);
    if (planned && !change_planned(w, e, t, d->to, v)) return w->value_count = 0, change_failed(w, op, e, t, s);
    if (LIKELY(move_reserve(w, x, t, k, remove, &track))) s = REEF_OK;
    if (s == REEF_OK && !remove && d->slot) {
        fresh = cell(k->to->tail, d->slot, place_row(k->to->next), d->size);
        s = value_arrive(w, e, t, fresh, v);
    }
    if (!remove) w->value_count = 0;
    if (UNLIKELY(s != REEF_OK)) {
        reef__table_trim(w, k->to);
        if (planned) observe_done(w, false);
        return change_failed(w, op, e, t, s);
    }
    if (UNLIKELY(t->tracked)) {
        if (!remove) stamps_write(track.stamps, e.index, w->hot.version, w->hot.version);
        if (track.logged) reef__removal_log(w, t, x->place, e);
    }
    if (remove && d->slot && (t->hooked || told)) {
        char *gone = cell(x->slots, d->slot, place_row(x->place), d->size);
        if (told && !planned && d->size <= OLD_BYTES) bytes_copy(old.at, gone, d->size);
        if (planned) value_leave(w, t, gone);
        else value_destroy(t, gone);
    }
    reef__invalidate(w, INVALIDATE_WRITTEN | INVALIDATE_ROWS_CHANGED);
    table *from = k->from;
    if (UNLIKELY(!from->shape->plain_move || !k->to->shape->plain_move || from->bits != 0))
        row_go_aware(w, t, k, x, remove);
    else row_go_plain(w, x, k, remove);
    if (from->append != w->hot.version && !from->shape->hooked && !from->shape->tracked) reef__table_lease(w, from);
    if (out) *out = t->hooks.unique ? NULL : fresh;
    if (LIKELY(!told)) return REEF_OK;
    if (planned) observe_done(w, true);
    else if (!observe_tell(w, e, t, whom, fresh, remove && d->size ? old.at : NULL)) return REEF_OK;
    if (out && fresh) *out = reef__cell_now(w, e, (reef_component){t->id});
    return REEF_OK;
}

/* The edge of a row that may go along it. NULL: this isn't a change of this shape. */
INLINE const struct edge_entry *move_starts(const reef_world *w, const row_place *x, reef_component c, bool remove,
                                            bool told)
{
    const uint64_t key = row_place_key(x, c, remove) | (told ? EDGE_WATCHED : 0);
    const struct edge_entry *const k = &w->edge_cache[edge_index(key)];
    const bool may = LIKELY(w->locks == 0 && x->place > PLACE_EMPTY && k->key == key) && !quarantine_on(w) &&
                     (!told || observers_known(w)) && table_owned(w, k->edge->from) && table_owned(w, k->edge->to);
    return LIKELY(may) ? k : NULL;
}

/* Enters the edge of a row that may go along it, which the cache hasn't got. False: this isn't a change of this shape;
 * otherwise *status may be a failure. */
static COLD bool move_first(reef_world *w, const row_place *x, reef_component c, bool remove, reef_status *status)
{
    const uint32_t from = x->slots[0].head.table;
    const type *t = reef__type_of(c.id);
    if (w->locks || x->place <= PLACE_EMPTY || quarantine_on(w) || t == NULL || !in_table(t) || t->split || t->owner)
        return false;
    *status = reef__type_ready(w, c.id);
    if (*status != REEF_OK) return true;
    if ((slot_find(w, c.id, from) != 0) != remove) return false;
    if (!remove && t->need_count && !reef__table_meets(w, from, t)) return false;
    return reef__edge_fetch(w, edge_key(from, c.id, remove), status) != NULL || *status != REEF_OK;
}

static const char *const coming_op[] = {"reef_set", "reef_add", "reef_ensure"};

static NOINLINE reef_status comes_general(reef_world *w, reef_entity e, const type *t, const void *value, coming how,
                                          void **out)
{
    const reef_component c = {t->id};
    if (how == COMES_SET) return reef__set_general(w, e, c, value, t->size);
    return reef__add_general(w, coming_op[how], e, c, value, out);
}

static NOINLINE reef_status row_comes(reef_world *w, reef_entity e, const type *t, const void *value, coming how,
                                      void **out)
{
    row_place x = row_place_of(w, e);
    const reef_component c = {t->id};
    const bool told = watched(w, c.id);
    reef_status s;
    const struct edge_entry *k = move_starts(w, &x, c, false, told);
    if (UNLIKELY(k == NULL)) {
        if (!move_first(w, &x, c, false, &s)) return comes_general(w, e, t, value, how, out);
        if (s != REEF_OK) return reef__failure(w, s, coming_op[how], c, e, 0);
        k = move_starts(w, &x, c, false, told);
        if (k == NULL) return comes_general(w, e, t, value, how, out);
    }
    reef_value v = reef_value_make(c, REEF_VALUE_DEFAULT, 0, value);
    if (how == COMES_SET) v.kind = REEF_VALUE_ONE, v.size = t->size;
    s = row_move(w, coming_op[how], e, t, &v, &x, k, told, out, false);
    return s == REEF_OK && how == COMES_SET ? REEF_ADDED : s;
}

/* The same for what observers watch. Plain bytes (NULL: zeros) come by the straight line, where both tables have a
 * lease and no plan is needed. */
INLINE reef_status row_comes_watched(reef_world *w, row_place *x, reef_entity e, const type *t, const void *value,
                                     coming how, void **out)
{
    const struct edge_entry *const k = &w->edge_cache[EDGE_CACHE];
    const uint32_t whom = observe_whom(w, t->id, REEF_ON_ADD, false);
    if (UNLIKELY((w->locks | w->hot.records.shared) != 0 || (how != COMES_SET && value)) || whom == WHOM_BY_PLAN ||
        !edge_cached(w, row_place_key(x, (reef_component){t->id}, false) | EDGE_WATCHED, false, w->hot.version) ||
        !edge_open(k, x, w->hot.version))
        return row_comes(w, e, t, value, how, out);
    void *made = edge_add(w, k, x, value);
    const bool told = observe_tell(w, e, t, whom, made, NULL);
    if (out) *out = told && made ? reef__cell_now(w, e, (reef_component){t->id}) : made;
    return how == COMES_SET ? REEF_ADDED : REEF_OK;
}

reef_status reef__row_add(reef_world *w, coming how, reef_entity e, reef_component c, const void *args, void **out)
{
    row_place x;
    const char *op = coming_op[how];
    if (!world_is_ours(w, op)) return REEF_BAD_ARGUMENT;
    const type *t = reef__type_of(c.id);
    if (t == NULL || w->running || !row_place_find(w, &x, e)) return reef__add_general(w, op, e, c, args, out);
    return watched(w, c.id) ? row_comes_watched(w, &x, e, t, args, how, out) : row_comes(w, e, t, args, how, out);
}

reef_status reef__row_comes(reef_world *w, reef_entity e, reef_component c, const void *value)
{
    if (!world_is_ours(w, "reef_set")) return REEF_BAD_ARGUMENT;
    return row_comes(w, e, type_known(c.id), value, COMES_SET, NULL);
}

reef_status reef__row_remove(reef_world *w, reef_entity e, reef_component c)
{
    static const char op[] = "reef_remove";
    row_place x;
    if (!world_is_ours(w, op)) return REEF_BAD_ARGUMENT;
    if (!row_place_find(w, &x, e)) return reef__remove_general(w, e, c);
    const bool told = watched(w, c.id);
    const struct edge_entry *k = move_starts(w, &x, c, true, told);
    if (UNLIKELY(k == NULL)) {
        reef_status s;
        if (!move_first(w, &x, c, true, &s)) return reef__remove_general(w, e, c);
        if (s != REEF_OK) return reef__failure(w, s, op, c, e, 0);
        k = move_starts(w, &x, c, true, told);
        if (k == NULL) return reef__remove_general(w, e, c);
    }
    return row_move(w, op, e, reef__type_of(c.id), NULL, &x, k, told, NULL, true);
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

static NOINLINE reef_status overwrite(reef_world *w, reef_entity e, const type *t, const void *value)
{
    static const char op[] = "reef_set";
    const bool told = watched(w, t->id);
    const uint32_t whom = told ? reef__type_whom(w, t, REEF_ON_SET) : 0;
    const bool planned = whom == WHOM_BY_PLAN;
    reef_value v = reef_value_make((reef_component){t->id}, REEF_VALUE_ONE, t->size, value);
    row_place x = row_place_of(w, e);
    old_value old;
    char *here = NULL;
    reef_status s = REEF_NO_MEMORY;
    const uint32_t id = x.slots[0].head.table, k = slot_find(w, t->id, id);
    w->value = &v;
    w->value_count = 1;
    values_begin(w);
    if (planned && !observe_change(w, e, id, &v, 1)) return w->value_count = 0, change_failed(w, op, e, t, s);
    stamp_page *stamps = NULL;
    if (column_reserve(w, &x, k) && (LIKELY(!t->tracked) || (stamps = reef__track_page(w, t->id, e.index)))) {
        here = cell(x.slots, k, place_row(x.place), t->size);
        if (told && !planned && t->size <= OLD_BYTES) bytes_copy(old.at, here, t->size);
        if (UNLIKELY(t->hooked)) s = value_exchange(w, e, t, here, &v, planned);
        else memmove(here, v.data, t->size), s = REEF_OK;
    }
    w->value_count = 0;
    if (s == REEF_OK && UNLIKELY(t->tracked)) stamps_write(stamps, e.index, w->hot.version, 0);
    if (planned) observe_done(w, s == REEF_OK);
    else if (told && s == REEF_OK) (void)observe_tell(w, e, t, whom, here, old.at);
    return s == REEF_OK ? s : change_failed(w, op, e, t, s);
}

/* Replaces a plain value. The new one may lie in this very row. */
INLINE void value_replace(char *to, const void *value, size_t size)
{
    if (LIKELY(size == 8)) memcpy(to, value, 8);
    else memmove(to, value, size);
}
/* What observers watch, as plain bytes in a block that was written at this version, where no plan is needed. All else
 * goes on to reef__row_set. */
reef_status reef__row_set_watched(reef_world *w, reef_entity e, reef_component c, const void *value, size_t size)
{
    row_place x;
    old_value old;
    if (!world_is_ours(w, "reef_set")) return REEF_BAD_ARGUMENT;
    const type *t = reef__type_of(c.id);
    if (UNLIKELY(t == NULL || !t->direct || size != t->size || size == 0 || value == NULL) ||
        (w->locks && (w->notifying || w->running)) || !row_place_find(w, &x, e))
        return reef__row_set(w, e, c, value, size);
    const uint32_t k = slot_find(w, c.id, x.slots[0].head.table);
    if (k == 0) return row_comes_watched(w, &x, e, t, value, COMES_SET, NULL);
    const bool no_old = size > OLD_ALIGN && (size > OLD_BYTES || t->align > OLD_ALIGN);
    const uint32_t whom = observe_whom(w, c.id, REEF_ON_SET, no_old);
    if (UNLIKELY(x.slots[k].version != w->hot.version || whom == WHOM_BY_PLAN))
        return reef__row_set(w, e, c, value, size);
    char *to = cell(x.slots, k, place_row(x.place), size);
    if (LIKELY(size == 8)) {
        memcpy(old.at, to, 8);
        memmove(to, value, 8); /* which may be the value itself */
    } else {
        if (size <= OLD_BYTES) memcpy(old.at, to, size); /* where it is larger, nobody asks for it */
        memmove(to, value, size);
    }
    (void)observe_tell(w, e, t, whom, to, old.at);
    return REEF_OK;
}

/* It decides what is done and does it last, so that it needs no frame. */
reef_status reef__row_set(reef_world *w, reef_entity e, reef_component c, const void *value, size_t size)
{
    row_place x;
    if (!world_is_ours(w, "reef_set")) return REEF_BAD_ARGUMENT;
    if (UNLIKELY(w->notifying || w->running || value == NULL || size == 0) || !row_place_find(w, &x, e))
        return reef__set_general(w, e, c, value, size);
    const uint32_t k = slot_find(w, c.id, x.slots[0].head.table);
    const type *t = reef__type_of(c.id);
    if (UNLIKELY(t == NULL || size != t->size) || k == REEF_SLOT_TAG) return reef__set_general(w, e, c, value, size);
    if (k == 0) return row_comes(w, e, t, value, COMES_SET, NULL);
    if (LIKELY(t->direct && x.slots[k].version == w->hot.version) && !watched(w, c.id)) {
        value_replace(cell(x.slots, k, place_row(x.place), size), value, size);
        return REEF_OK;
    }
    if (quarantine_on(w) || t->fixed) return reef__set_general(w, e, c, value, size);
    return overwrite(w, e, t, value);
}
