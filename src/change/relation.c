/* Relations: relating and unrelating two entities, and asking who is related to whom.
 *
 * A relation is a value of its source (src/storage/relation_index.h), so these calls make, replace and remove values by
 * the calls for components. What is special about relations is tested where every value is made, by
 * reef__relation_check: so reef_set, reef_spawn and commands that make relations are held to the same rules. */
#include "change/relation.h"
#include "type/relation_type.h"
#include "type/value.h"
#include "storage/entity_index.h"
#include "storage/error.h"
#include "storage/invalidate.h"
#include "storage/known_types.h"
#include "storage/name_index.h"
#include "storage/observed.h"
#include "storage/quarantine.h"
#include "storage/relation_calls.h"
#include "storage/relation_index.h"
#include "storage/row_bits.h"
#include "storage/running.h"
#include "storage/sparse_store.h"
#include "change/command.h"
#include "change/component.h"
#include "change/relation_command.h"
#include "change/relation_halves.h"
#include "change/spawn.h"
#include "change/value_path.h"
#include "reef/hierarchy.h"
#include "reef/multi.h"
#include "reef/relation.h"

void reef_bring_relations_(void)
{
    static const relation_calls calls = {.index_add = reef__relation_index_add,
                                         .index_remove = reef__relation_index_remove,
                                         .name_prepare_orphan = reef__name_prepare_orphan,
                                         .name_arrives = reef__name_arrives,
                                         .check = reef__relation_check,
                                         .differs = reef__relation_differs,
                                         .unplace = reef__relation_unplace,
                                         .set = reef__relation_set,
                                         .remove = reef__relation_remove,
                                         .related_to = reef__related_to,
                                         .destroy = reef__destroy_related,
                                         .spawn = reef__spawn_related};
    if (reef__relations_by == NULL) reef__relations_by = &calls; /* under the lock of the list of types */
    reef__relation_types_by = &reef__relation_type;
}

/* ---- following relations ---- */

/* A search over the targets of targets: which entities were seen, and which are still to be looked at. */
typedef struct way_search {
    memory *m;
    uint8_t *seen; /* a bit for each index */
    size_t seen_bytes;
    reef_entity *list;
    uint32_t count, room;
} way_search;

static bool search_add(way_search *x, reef_entity e)
{
    if (x->seen[e.index / 8] >> (e.index & 7) & 1) return true;
    if (!reef__array_room(x->m, MEMORY_OTHER, &x->list, &x->room, x->count + 1, sizeof e)) return false;
    x->seen[e.index / 8] = (uint8_t)(x->seen[e.index / 8] | 1u << (e.index & 7));
    x->list[x->count++] = e;
    return true;
}

/* Does a way lead from an entity to another one, over one relation or several? A source has several targets. `ends` is
 * that of reef__relation_leads. NO_MEMORY, ABSENT: no. */
static COLD reef_status search_way(const reef_world *w, const value_store *store, reef_entity from, reef_entity to,
                                   const bit_store *ends)
{
    way_search x = {.m = &w->family->memory, .seen_bytes = w->hot.index_count / 8 + 1};
    reef_status s = REEF_ABSENT;
    x.seen = reef__memory_zeroed(x.m, MEMORY_OTHER, x.seen_bytes);
    if (x.seen == NULL || !search_add(&x, from)) s = REEF_NO_MEMORY;
    for (uint32_t next = 0; s == REEF_ABSENT && next < x.count; next++) {
        uint32_t n;
        const relation_value *first = reef__relations_of(store, x.list[next], &n);
        if (next && ends && bit_read(ends, place_of(w, x.list[next]))) continue;
        for (uint32_t i = 0; s == REEF_ABSENT && i < n; i++) {
            const reef_entity target = relation_nth(store, first, i)->target;
            if (reef_entity_equal(target, to)) s = REEF_OK;
            else if (!search_add(&x, target)) s = REEF_NO_MEMORY;
        }
    }
    reef__memory_free(x.m, MEMORY_OTHER, x.list, x.room * sizeof *x.list);
    reef__memory_free(x.m, MEMORY_OTHER, x.seen, x.seen_bytes);
    return s;
}

/* The same, for any type. Of an exclusive one there is one way only. Where it is long it may go round in a circle; then
 * a second walker of half the speed is met (Floyd's). */
static reef_status way_leads(const reef_world *w, const value_store *s, reef_entity from, reef_entity to,
                             const bit_store *ends)
{
    enum { STEPS_ALONE = 64 };
    if ((s->relation & REEF_EXCLUSIVE) == 0) return search_way(w, s, from, to, ends);
    reef_entity slow = from;
    for (uint32_t steps = 0;; steps++) {
        const relation_value *v = reef_store_find(s, from);
        if (v == NULL) return REEF_ABSENT;
        if (reef_entity_equal(v->target, to)) return REEF_OK;
        from = v->target;
        if (ends && bit_read(ends, place_of(w, from))) return REEF_ABSENT;
        if (LIKELY(steps < STEPS_ALONE)) continue;
        if (steps == STEPS_ALONE) slow = from;
        else if (steps % 2 == 0) slow = ((const relation_value *)reef_store_find(s, slow))->target;
        if (steps > STEPS_ALONE && reef_entity_equal(slow, from)) return REEF_ABSENT;
    }
}

/* ---- what may be related ---- */

/* Keeps what the message of the failure has to say, and returns the status. */
static COLD reef_status refusal_because(reef_world *w, reef_status s, const type *t, reef_entity target,
                                        const char *why)
{
    w->refused = (relation_refusal){s, {t->id}, target, why};
    return s;
}

static reef_status target_check(reef_world *w, reef_entity e, const type *t, reef_entity target)
{
    if (!reef_is_alive(w, target)) return refusal_because(w, REEF_NOT_ALIVE, t, target, NULL);
    if (UNLIKELY(w->state.name_count != 0) && t->id == reef_id(ChildOf).id) {
        const reef_status s = reef__name_may_move(w, e, target);
        if (s != REEF_OK) return s;
    }
    if ((t->relation & REEF_ACYCLIC) == 0) return REEF_OK;
    if (reef_entity_equal(target, e))
        return refusal_because(w, REEF_CYCLE, t, target, "the target is the source itself");
    /* who has no sources is on nobody's way */
    if (!reef_is_alive(w, e) || !relation_has_sources(store_of(w, t->id), e)) return REEF_OK;
    const reef_status s = way_leads(w, store_of(w, t->id), target, e, NULL);
    return s == REEF_OK ? refusal_because(w, REEF_CYCLE, t, target, NULL) : s == REEF_ABSENT ? REEF_OK : s;
}

/* The relation that a value makes: number n of an array. */
static const relation_value *value_relates(const type *t, const reef_value *v, uint32_t n)
{
    const bool array = v->kind == REEF_VALUE_ARRAY || v->kind == VALUE_MOVED_ARRAY;
    return (const relation_value *)(const void *)((const char *)v->data + (array ? (size_t)n * t->size : 0));
}

reef_status reef__relation_differs(reef_world *w, const type *t, const reef_value *v, uint32_t n,
                                   const reef_value *others)
{
    const reef_entity target = value_relates(t, v, n)->target;
    for (uint32_t i = 0; i < others->size; i++) {
        const relation_value *other =
            (const relation_value *)(const void *)((const char *)others->data + (size_t)i * t->size);
        if (reef_entity_equal(other->target, target)) return refusal_because(w, REEF_EXISTS, t, target, NULL);
    }
    return REEF_OK;
}

reef_status reef__relation_check(reef_world *w, reef_entity e, const type *t, const reef_value *v, uint32_t n,
                                 bool replaces)
{
    if (w->untargeted) return REEF_OK;
    if (v->kind == REEF_VALUE_DEFAULT)
        return refusal_because(w, REEF_BAD_ARGUMENT, t, (reef_entity){0, 0},
                               "a relation has no default value: it needs a target");
    const relation_value *value = value_relates(t, v, n);
    (void)reef__relation_ready(w, relation_store(w, t)); /* without it everything takes longer */
    /* a copy of an entity has its targets */
    if (v->kind == VALUE_SPAN || v->kind == VALUE_MOVED || v->data == w->relating) return REEF_OK;
    if (t->relation & REEF_SYMMETRIC)
        return refusal_because(w, REEF_BAD_ARGUMENT, t, value->target,
                               "a symmetric relation is made by reef_relate alone");
    const reef_status s = target_check(w, e, t, value->target);
    if (s != REEF_OK || (t->relation & REEF_EXCLUSIVE)) return s;
    const relation_value *there = relation_of(w, t, e, value->target);
    if (there == NULL || (replaces && there == reef_store_find(store_of(w, t->id), e))) return REEF_OK;
    return refusal_because(w, REEF_EXISTS, t, value->target, NULL);
}

void reef__relation_unplace(const reef_world *w, const type *t, void *made, const reef_value *v,
                            const relation_value *was)
{
    relation_value *first = made;
    if (w->untargeted || made == NULL || v->data == w->relating) return;
    for (uint32_t i = 0; i < (v->kind == VALUE_SPAN ? v->size : 1); i++)
        ((relation_value *)(void *)((char *)made + (size_t)i * t->size))->place = 0;
    if (was && reef_entity_equal(was->target, first->target)) first->place = was->place;
}

/* ---- relating ---- */

/* A request that is made where calls are recorded: what can be refused at once is refused at once. */
static COLD reef_status request_defer(reef_world *w, const char *op, const relation_request *x)
{
    reef_status s = reef__command_knows(w, x->source) ? reef__type_ready(w, x->relation.id) : REEF_NOT_ALIVE;
    reef_entity e = x->source;
    const char *why = NULL;
    if (s == REEF_OK) s = reef__relation_sound(x, &why);
    if (s == REEF_BAD_ARGUMENT && why) (void)refuse_because(w, why);
    if (s == REEF_OK && !reef__command_knows(w, x->target)) s = REEF_NOT_ALIVE, e = x->target;
    if (s == REEF_OK && !reef_entity_is_null(x->other) && !reef__command_knows(w, x->other))
        s = REEF_NOT_ALIVE, e = x->other;
    return s == REEF_OK ? reef__relation_record(w, w->commands, op, x)
                        : reef__failure(w, s, op, x->relation, e, x->size);
}

/* The type of a relation, for a call that changes the world. NULL: the call is refused, and *s says why. */
static const type *relation_type(reef_world *w, const char *op, reef_component c, reef_entity e, reef_status *s)
{
    *s = w->locks || w->running || w->commands ? REEF_LOCKED
         : !reef_is_alive(w, e)                ? REEF_NOT_ALIVE
                                               : reef__type_ready(w, c.id);
    const type *t = *s == REEF_OK ? reef__type_of(c.id) : NULL;
    if (t && t->relation == 0)
        *s = refusal_because(w, REEF_BAD_ARGUMENT, t, (reef_entity){0, 0}, "it is no type of relations");
    if (*s != REEF_OK) reef__failure(w, *s, op, c, e, 0);
    return *s == REEF_OK ? t : NULL;
}

/* The same for a request, which is recorded where calls are. NULL: that is done, or it is refused. */
static NOINLINE const type *request_begin(reef_world *w, const char *op, const relation_request *x, reef_status *s)
{
    if (w->commands == NULL) return relation_type(w, op, x->relation, x->source, s);
    *s = request_defer(w, op, x);
    return NULL;
}

/* ---- the straight path ----
 *
 * One relation comes, goes or gets another target, and nothing but its value, a bit of a row and the index changes: it
 * is exclusive and not symmetric, nobody observes it, and nothing has to be allocated in its store. All calls that do
 * one of these come here first: reef_relate, reef_set, reef_retarget, reef_unrelate, reef_remove. Whatever refuses has
 * changed nothing, and the general path decides. (It took 3,500 instructions for another target, and 2,600 to end
 * a relation.) */

/* The store of a type of which one relation may change so. NULL: none may. */
INLINE value_store *straight_store(const reef_world *w, reef_component c)
{
    value_store *s = (value_store *)(uintptr_t)store_of(w, c.id);
    if (UNLIKELY(!s->straight || s->unindexed || w->locks || w->running || w->commands)) return NULL;
    return UNLIKELY(watched(w, c.id)) || GUARDED(w) ? NULL : s;
}

/* Other calls don't know what is special about relations. So the pages that were used last are shown to them only by
 * these two, between which the value and the bit of a row come or go. */
INLINE void near_show(value_store *s) { s->cached_gate = s->relation_gate; }
INLINE void near_hide(value_store *s)
{
    s->relation_gate = s->cached_gate;
    s->cached_gate = 0;
}

/* The memory of a value that comes to a store of exclusive relations, without a look at its target. NULL: nothing was
 * done. */
INLINE relation_value *relation_raw(reef_world *w, value_store *s, reef_entity source)
{
    near_show(s);
    char *at = store_add_cached(&w->hot, s, source, s->size, true);
    if (UNLIKELY(at == NULL)) at = reef__stored_add_fast(w, s, source);
    near_hide(s);
    return (relation_value *)(void *)at;
}

/* The data of a relation; NULL: zeroes. */
INLINE void data_put(const value_store *s, relation_value *v, const void *data, size_t size)
{
    if (LIKELY(s->size == sizeof *v)) return;
    if (data != NULL) memmove(v + 1, data, size); /* it may lie in this very relation */
    else memset(v + 1, 0, s->size - sizeof *v);
}

/* May a source be related to this target, and would the general path say so, too? */
INLINE bool target_fits(const reef_world *w, const value_store *s, reef_entity source, reef_entity target)
{
    if (UNLIKELY(place_of(w, target) == PLACE_DEAD)) return false;
    if (s->relation & REEF_ACYCLIC) { /* who has no sources is on nobody's way */
        if (reef_entity_equal(source, target)) return false;
        if (relation_has_sources(s, source) && way_leads(w, s, target, source, NULL) != REEF_ABSENT) return false;
    }
    return !scopes_names(w, s) || reef__name_may_move(w, source, target) == REEF_OK;
}

/* The relation of a source, to be written: its page belongs to this world alone and is marked. NULL: there is no
 * memory. */
INLINE relation_value *relation_own(reef_world *w, value_store *s, reef_entity source, const relation_value *v)
{
    if (LIKELY(s->values.version[source.index >> s->bits] == w->hot.version)) return (relation_value *)(uintptr_t)v;
    return reef__store_own(w, s->component, source);
}

/* Gives a relation, which may be written, another target or place; 0: behind all others of the target. */
static void relation_turn(reef_world *w, value_store *s, reef_entity source, relation_value *v, reef_entity target,
                          uint64_t place)
{
    reef__relation_index_remove(w, s, source, v);
    *v = (relation_value){target, place};
    reef__relation_index_add(w, s, source, v);
}

/* Relates a source to a target; `data` of `size` bytes are the whole data, NULL: zeroes. OK: they were related, and
 * nothing is to be done; ADDED; ABSENT: nothing was done. */
INLINE reef_status relate_straight(reef_world *w, value_store *s, reef_entity source, reef_entity target,
                                   const void *data, size_t size)
{
    const relation_value *was = reef_store_find(s, source);
    if (was == NULL) {
        if (UNLIKELY(place_of(w, source) == PLACE_DEAD) || !target_fits(w, s, source, target)) return REEF_ABSENT;
        relation_value *v = relation_raw(w, s, source);
        if (UNLIKELY(v == NULL)) return REEF_ABSENT;
        *v = (relation_value){target, 0};
        data_put(s, v, data, size);
        reef__relation_index_add(w, s, source, v);
        return REEF_ADDED;
    }
    if (reef_entity_equal(was->target, target)) return data ? REEF_ABSENT : REEF_OK;
    if (!target_fits(w, s, source, target)) return REEF_ABSENT;
    relation_value *v = relation_own(w, s, source, was);
    if (UNLIKELY(v == NULL)) return REEF_ABSENT;
    data_put(s, v, data, size);
    relation_turn(w, s, source, v, target, 0);
    return REEF_ADDED;
}

/* Ends the relation of a source. False: nothing was done. */
INLINE bool unrelate_straight(reef_world *w, value_store *s, reef_entity source, const relation_value *v)
{
    const relation_value was = *v;
    if (UNLIKELY(scopes_names(w, s)) && reef_name(w, source)) return false; /* it goes to another scope, or ends */
    near_show(s);
    const bool gone = store_remove_cached(&w->hot, s, source, s->size, true) || reef__stored_leave_fast(w, s, source);
    near_hide(s);
    if (LIKELY(gone)) reef__relation_index_remove(w, s, source, &was);
    return gone;
}

bool reef__relation_remove(reef_world *w, reef_component c, reef_entity source)
{
    value_store *s = straight_store(w, c);
    const relation_value *v = s ? reef_store_find(s, source) : NULL;
    return v && unrelate_straight(w, s, source, v);
}

reef_status reef__relation_set(reef_world *w, reef_component c, reef_entity source, const void *value, size_t size)
{
    value_store *s = straight_store(w, c);
    const relation_value *v = value;
    if (s == NULL || v == NULL || size != s->size) return REEF_ABSENT;
    const bool has = reef_store_find(s, source) != NULL;
    const reef_status status = relate_straight(w, s, source, v->target, v + 1, size - sizeof *v);
    return status == REEF_ADDED && has ? REEF_OK : status;
}

/* ---- relations of new entities ---- */

/* Makes the words of bits ready for a row at `place` of table `id`, and the page for the value of a source that isn't
 * there yet. False: there is no memory. */
static bool raw_prepare(reef_world *w, value_store *s, reef_entity source, uint32_t id, uint32_t place)
{
    const uint32_t number = bit_number_of(w, s->component);
    const bool ready =
        number && bit_is_ready(w, &w->state.bits[number - 1], table_read(w, id)->bits, place_unit(place));
    if (UNLIKELY(!ready) && !reef__bit_prepare(w, s->component, id, place, true)) return false;
    return LIKELY(page_is_ready(w, s, source.index >> s->bits)) || reef__store_prepare_add(w, s->component, &source, 1);
}

value_store *reef__relation_comes(reef_world *w, const reef_value *v, reef_entity source, uint32_t id, uint32_t place)
{
    value_store *s = straight_store(w, v->component);
    if (s == NULL || v->kind != REEF_VALUE_ONE || v->size != s->size || v->data == NULL) return NULL;
    const reef_entity target = ((const relation_value *)v->data)->target; /* it isn't the source, which isn't alive */
    return place_of(w, target) != PLACE_DEAD && raw_prepare(w, s, source, id, place) ? s : NULL;
}

void reef__relation_came(reef_world *w, value_store *s, reef_entity source, uint32_t place, const reef_value *v)
{
    const relation_value *from = v->data;
    relation_value *to = (relation_value *)(void *)slot_value(s, source.index);
    bit_turn_on(&w->state.bits[bit_number_of(w, s->component) - 1], place);
    *to = (relation_value){from->target, 0};
    data_put(s, to, from + 1, s->size - sizeof *to);
    paged_put(w, s, source);
    reef__relation_index_add(w, s, source, to);
}

/* The fast path of an exclusive relation that isn't there and may be made. NULL: nothing was done. The relation's place
 * is 0. */
static relation_value *relate_fast(reef_world *w, reef_entity source, const type *t)
{
    value_store *s = relation_store(w, t);
    if (!s->paged || s->unindexed || watched(w, t->id) || GUARDED(w) || t->need_count) return NULL;
    return relation_raw(w, s, source);
}

reef_status reef__relate_one(reef_world *w, reef_entity source, const type *t, reef_entity target, const void *data,
                             uint64_t place)
{
    call_memory made;
    const reef_component c = {t->id};
    relation_value *v = relate_fast(w, source, t);
    if (v) {
        *v = (relation_value){target, place};
        if (t->data) memset(v + 1, 0, t->size - sizeof *v);
        if (data) memcpy(v + 1, data, t->data->size);
        reef__relation_index_add(w, relation_store(w, t), source, v);
        return REEF_ADDED;
    }
    if (!reef__call_memory_take(&w->family->memory, &made, t->size, t->align))
        return reef__failure(w, REEF_NO_MEMORY, w->calling, c, source, 0);
    memset(made.at, 0, t->size);
    *(relation_value *)made.at = (relation_value){target, place};
    if (data) memcpy((relation_value *)made.at + 1, data, t->data->size);
    reef_status s = REEF_ADDED;
    w->relating = made.at;
    if (t->relation & REEF_EXCLUSIVE) s = reef_set_id(w, source, c, made.at, t->size);
    else if (reef_append_id(w, source, c, made.at, t->size) == NULL) s = w->error.status;
    w->relating = NULL;
    reef__call_memory_free(&w->family->memory, &made);
    return s < 0 ? s : REEF_ADDED;
}

reef_status reef__unrelate_one(reef_world *w, reef_entity source, const type *t, reef_entity target)
{
    uint32_t number;
    if (reef__relation_find(store_of(w, t->id), source, target, &number) == NULL) return REEF_OK;
    return reef_remove_one_id(w, source, (reef_component){t->id}, number);
}

/* ---- the calls ---- */

/* Refuses a call for a relation that isn't there. */
static COLD reef_status not_related(reef_world *w, const char *op, const type *t, reef_entity source,
                                    reef_entity target)
{
    const reef_status s = reef_is_alive(w, target) ? REEF_ABSENT : REEF_NOT_ALIVE;
    return reef__failure(w, refusal_because(w, s, t, target, NULL), op, (reef_component){t->id}, source, 0);
}

/* Writes the data of a relation that is there, and of its other half. */
static reef_status relation_write(reef_world *w, reef_entity source, const type *t, reef_entity target,
                                  const void *data)
{
    const reef_component c = {t->id};
    /* reef_remove may have taken the other half away */
    const bool both =
        (t->relation & REEF_SYMMETRIC) && !reef_entity_equal(source, target) && relation_of(w, t, target, source);
    if (reef_relation_mut_id(w, source, c, target) == NULL ||
        (both && reef_relation_mut_id(w, target, c, source) == NULL))
        return w->error.status;
    for (int i = 0; i < 1 + both; i++)
        memmove(relation_of(w, t, i ? target : source, i ? source : target) + 1, data, t->data->size);
    return REEF_OK;
}

/* Bytes of the data of a relation; SIZE_MAX: it has none. */
static size_t data_size(reef_component c)
{
    const type *t = reef__type_of(c.id);
    return t && t->data ? t->data->size : SIZE_MAX;
}

reef_status reef_relate_id(reef_world *w, reef_entity source, reef_component c, reef_entity target, const void *data,
                           size_t size)
{
    static const char op[] = "reef_relate";
    reef_status s;
    if (!WORLD_GIVEN(w)) return REEF_BAD_ARGUMENT;
    value_store *straight = straight_store(w, c);
    if (LIKELY(straight != NULL) && (data == NULL || size == data_size(c))) {
        s = relate_straight(w, straight, source, target, data, size);
        if (LIKELY(s != REEF_ABSENT)) return s;
    }
    const relation_request x = {RELATION_RELATE, c, source, target, {0, 0}, data, data ? size : 0};
    const type *t = request_begin(w, op, &x, &s);
    if (t == NULL) return s;
    if (data && size != (t->data ? t->data->size : 0)) return reef__failure(w, REEF_WRONG_SIZE, op, c, source, size);
    w->calling = op;
    if (reef__half_is_lost(w, source, t, target)) s = reef__relate_both(w, target, t, source, size ? data : NULL, 0);
    else if (relation_of(w, t, source, target)) s = data && size ? relation_write(w, source, t, target, data) : REEF_OK;
    else if ((s = target_check(w, source, t, target)) != REEF_OK) reef__failure(w, s, op, c, source, 0);
    else if (t->relation & REEF_SYMMETRIC) s = reef__relate_both(w, source, t, target, data, 0);
    else s = reef__relate_one(w, source, t, target, data, 0);
    w->calling = NULL;
    return s;
}

reef_status reef_unrelate_id(reef_world *w, reef_entity source, reef_component c, reef_entity target)
{
    static const char op[] = "reef_unrelate";
    reef_status s;
    if (!WORLD_GIVEN(w)) return REEF_BAD_ARGUMENT;
    value_store *straight = straight_store(w, c);
    const relation_value *v = straight ? reef_store_find(straight, source) : NULL;
    if (LIKELY(v != NULL) && reef_entity_equal(v->target, target) && unrelate_straight(w, straight, source, v))
        return REEF_OK;
    const type *t =
        request_begin(w, op, &(relation_request){RELATION_UNRELATE, c, source, target, {0, 0}, NULL, 0}, &s);
    if (t == NULL) return s;
    if (relation_of(w, t, source, target) == NULL) return not_related(w, op, t, source, target);
    if (t->id == reef_id(ChildOf).id && (s = reef__name_may_move(w, source, (reef_entity){0, 0})) != REEF_OK)
        return reef__failure(w, s, op, c, source, 0);
    w->calling = op;
    if ((t->relation & REEF_SYMMETRIC) && !reef_entity_equal(source, target))
        s = reef__unrelate_both(w, source, t, target);
    else s = reef__unrelate_one(w, source, t, target);
    w->calling = NULL;
    return s;
}

uint64_t reef_unrelate_sources_id(reef_world *w, reef_entity target, reef_component c)
{
    static const char op[] = "reef_unrelate_sources";
    reef_status s;
    source_one one;
    source_run run;
    uint64_t n = 0;
    if (!WORLD_GIVEN(w)) return 0;
    const type *t = relation_type(w, op, c, target, &s);
    if (t == NULL) return 0;
    if (!reef__relation_ready(w, relation_store(w, t))) return reef__failure(w, REEF_NO_MEMORY, op, c, target, 0), 0;
    const uint64_t most = reef__relation_sources(store_of(w, t->id), target); /* observers may relate others */
    while (n < most && reef__relation_after(store_of(w, t->id), target, 0, (reef_entity){0, 0}, &one, &run)) {
        if (reef_unrelate_id(w, run.sources[0], c, target) != REEF_OK) break;
        n++;
    }
    return n;
}

uint64_t reef_unrelate_all_id(reef_world *w, reef_entity source, reef_component c)
{
    static const char op[] = "reef_unrelate_all";
    reef_status s;
    uint32_t count;
    uint64_t n = 0;
    if (!WORLD_GIVEN(w)) return 0;
    const type *t = relation_type(w, op, c, source, &s);
    if (t == NULL) return 0;
    (void)reef__relations_of(store_of(w, t->id), source, &count); /* observers may make others */
    if (count && (t->relation & REEF_SYMMETRIC) == 0) {
        w->calling = op;
        s = reef_remove_id(w, source, c);
        w->calling = NULL;
        return s == REEF_OK ? count : 0;
    }
    for (uint32_t left; n < count; n++) {
        const value_store *store = store_of(w, t->id);
        const relation_value *v = reef__relations_of(store, source, &left);
        if (v == NULL || reef_unrelate_id(w, source, c, relation_nth(store, v, left - 1)->target) != REEF_OK) break;
    }
    return n;
}

/* ---- places ----
 *
 * Where two sources have no place between them, some of those that follow get new places: the fewest with a distance
 * that is larger than their number. So an insertion changes O(log n) places on average, also where all insertions are
 * at one point. See Dietz and Sleator, Two Algorithms for Maintaining Order in a List (1987). (When all sources of the
 * target got new places, 30,000 insertions at one point among 300,000 sources took two minutes.) */

/* New places for sources of a target that follow each other, with the old ones, in case the call for which they were
 * made fails. */
typedef struct renewal {
    source_one *was;
    uint32_t count, room; /* count 0: nothing was renewed */
    uint64_t begin, step; /* the place in front of them; the distance of the new ones */
} renewal;

static void renewal_end(reef_world *w, const renewal *x)
{
    reef__memory_free(&w->family->memory, MEMORY_OTHER, x->was, x->room * sizeof *x->was);
}

/* Gives the sources their new places, or their old ones back. */
static void places_put(reef_world *w, const type *t, reef_entity target, const renewal *x, bool back)
{
    value_store *s = relation_store(w, t);
    for (uint32_t i = 0; i < x->count; i++) {
        const reef_entity source = x->was[i].source;
        relation_turn(w, s, source, relation_of(w, t, source, target), target,
                      back ? x->was[i].place : x->begin + (i + 1) * x->step);
    }
}

/* Decides which sources behind this one get new places, and which ones. False: there is no memory. */
static bool places_choose(reef_world *w, const value_store *s, reef_entity target, source_one before, renewal *x)
{
    source_walk walk = {.last = before};
    x->begin = before.place;
    while (source_walk_next(&walk, s, target))
        for (uint32_t i = 0; i < walk.run.count; i++) {
            x->step = (walk.run.places[i] - x->begin) / (x->count + 1);
            if (x->count && x->step > x->count + 1) return true;
            if (!reef__array_room(&w->family->memory, MEMORY_OTHER, &x->was, &x->room, x->count + 1, sizeof *x->was))
                return false;
            x->was[x->count++] = (source_one){walk.run.sources[i], walk.run.places[i]};
        }
    x->step = (UINT64_MAX - x->begin) / (x->count + 1); /* all that follow */
    if (x->step >> RELATION_STEP_BITS) x->step = (uint64_t)1 << RELATION_STEP_BITS;
    return true;
}

/* Renews the places of some sources behind this one. False: there is no memory, and nothing changed. */
static COLD bool places_renew(reef_world *w, const type *t, reef_entity target, source_one before, renewal *x)
{
    bool ok = places_choose(w, relation_store(w, t), target, before, x);
    for (uint32_t i = 0; ok && i < x->count; i++)
        ok = reef_relation_mut_id(w, x->was[i].source, (reef_component){t->id}, target) != NULL;
    if (ok) places_put(w, t, target, x, false);
    else x->count = 0;
    return ok;
}

/* The place in front of `next` among the sources of the target. 0: there is no memory. */
static uint64_t place_before(reef_world *w, const type *t, reef_entity target, reef_entity next, renewal *x)
{
    for (;;) {
        source_one before = {{0, 0}, 0};
        const uint64_t end = relation_of(w, t, next, target)->place;
        (void)reef__relation_before(store_of(w, t->id), target, end, next, &before);
        uint64_t begin = before.place;
        if (begin == 0 && end > (uint64_t)2 << RELATION_STEP_BITS) begin = end - ((uint64_t)2 << RELATION_STEP_BITS);
        const uint64_t place = begin + (end - begin) / 2;
        if (place > begin) return place;
        if (x->count || !places_renew(w, t, target, before, x)) return 0;
    }
}

/* Puts a relation that is there into a place; 0: behind all others. False: there is no memory. */
static bool place_change(reef_world *w, reef_entity source, const type *t, reef_entity target, uint64_t place)
{
    relation_value *v = reef_relation_mut_id(w, source, (reef_component){t->id}, target);
    if (v) relation_turn(w, relation_store(w, t), source, v, target, place);
    return v != NULL;
}

/* Does the same where only the half of the source is there, and makes the other one again. */
static COLD reef_status half_before(reef_world *w, reef_entity source, const type *t, reef_entity target,
                                    uint64_t place)
{
    const uint64_t was = relation_of(w, t, source, target)->place;
    if (!place_change(w, source, t, target, place)) return REEF_NO_MEMORY;
    const reef_status s = reef__relate_both(w, target, t, source, NULL, 0);
    if (s < 0) (void)place_change(w, source, t, target, was); /* in a page that this world alone holds since */
    return s;
}

reef_status reef_relate_before_id(reef_world *w, reef_entity source, reef_component c, reef_entity target,
                                  reef_entity next)
{
    static const char op[] = "reef_relate_before";
    reef_status s;
    uint64_t place = 0;
    renewal renewed = {NULL, 0, 0, 0, 0};
    if (!WORLD_GIVEN(w)) return REEF_BAD_ARGUMENT;
    const type *t = request_begin(w, op, &(relation_request){RELATION_BEFORE, c, source, target, next, NULL, 0}, &s);
    if (t == NULL) return s;
    const bool there = relation_of(w, t, source, target) != NULL;
    if (!there && (s = target_check(w, source, t, target)) != REEF_OK) return reef__failure(w, s, op, c, source, 0);
    const bool last = reef_entity_is_null(next);
    if (!last && (reef_entity_equal(next, source) || relation_of(w, t, next, target) == NULL))
        return reef_is_alive(w, next) ? not_related(w, op, t, next, target)
                                      : reef__failure(w, REEF_NOT_ALIVE, op, c, next, 0);
    if (!reef__relation_ready(w, relation_store(w, t))) return reef__failure(w, REEF_NO_MEMORY, op, c, source, 0);
    w->calling = op;
    if (!last && (place = place_before(w, t, target, next, &renewed)) == 0) s = REEF_NO_MEMORY;
    else if (reef__half_is_lost(w, source, t, target)) s = half_before(w, source, t, target, place);
    else if (there) s = place_change(w, source, t, target, place) ? REEF_OK : REEF_NO_MEMORY;
    else if (t->relation & REEF_SYMMETRIC) s = reef__relate_both(w, source, t, target, NULL, place);
    else s = reef__relate_one(w, source, t, target, NULL, place);
    if (s < 0) places_put(w, t, target, &renewed, true);
    w->calling = NULL;
    renewal_end(w, &renewed);
    return s == REEF_NO_MEMORY ? reef__failure(w, s, op, c, source, 0) : s;
}

/* The straight path of reef_retarget; the data stay. */
static bool retarget_straight(reef_world *w, reef_entity source, reef_component c, reef_entity from, reef_entity to)
{
    value_store *s = straight_store(w, c);
    const relation_value *was = s ? reef_store_find(s, source) : NULL;
    if (UNLIKELY(was == NULL || !reef_entity_equal(was->target, from) || reef_entity_equal(from, to))) return false;
    relation_value *v = target_fits(w, s, source, to) ? relation_own(w, s, source, was) : NULL;
    if (LIKELY(v != NULL)) relation_turn(w, s, source, v, to, 0);
    return v != NULL;
}

reef_status reef_retarget_id(reef_world *w, reef_entity source, reef_component c, reef_entity from, reef_entity to)
{
    static const char op[] = "reef_retarget";
    reef_status s;
    if (UNLIKELY(!WORLD_GIVEN(w))) return REEF_BAD_ARGUMENT;
    if (LIKELY(retarget_straight(w, source, c, from, to))) return REEF_OK;
    const type *t = request_begin(w, op, &(relation_request){RELATION_RETARGET, c, source, from, to, NULL, 0}, &s);
    if (t == NULL) return s;
    const relation_value *was = relation_of(w, t, source, from);
    if (was == NULL) return not_related(w, op, t, source, from);
    if (t->relation & REEF_SYMMETRIC)
        s = refusal_because(w, REEF_BAD_ARGUMENT, t, to,
                            "a symmetric relation keeps its target: end it, and relate anew");
    else if (relation_of(w, t, source, to)) s = refusal_because(w, REEF_EXISTS, t, to, NULL);
    if (s != REEF_OK) return reef__failure(w, s, op, c, source, 0);
    if (!reef__relation_ready(w, relation_store(w, t))) return reef__failure(w, REEF_NO_MEMORY, op, c, source, 0);
    s = target_check(w, source, t, to);
    if (s != REEF_OK) return reef__failure(w, s, op, c, source, 0);
    if (t->relation & REEF_EXCLUSIVE) { /* observers are told that it was set */
        w->calling = op;
        s = reef__relate_one(w, source, t, to, t->data ? was + 1 : NULL, 0);
        w->calling = NULL;
        return s < 0 ? s : REEF_OK;
    }
    const bool told = watched(w, t->id);
    if (told && !observe_several(w, source, t, was, &(relation_value){to, 0}))
        return reef__failure(w, REEF_NO_MEMORY, op, c, source, 0);
    w->calling = op;
    relation_value *v = reef_relation_mut_id(w, source, c, from);
    w->calling = NULL;
    if (v) relation_turn(w, relation_store(w, t), source, v, to, 0);
    s = v ? REEF_OK : w->error.status;
    if (told) observe_done(w, v != NULL);
    return s;
}

/* ---- asking ---- */

/* The type of a relation, for reading. NULL: it is none, or the world hasn't any. */
static const type *relation_read(const reef_world *w, const char *op, reef_entity e, reef_component c)
{
    const type *t = WORLD_GIVEN_TO(w, op) ? reef__type_of(c.id) : NULL;
    if (t == NULL || t->relation == 0) return NULL;
    running_read(w, op, e, c);
    return t;
}

bool reef__relation_leads(const reef_world *w, const type *t, reef_entity source, reef_entity target,
                          const bit_store *ends)
{
    if (!reef_is_alive(w, source) || !reef_is_alive(w, target)) return false;
    if (relation_of(w, t, source, target)) return true;
    return (t->relation & REEF_TRANSITIVE) && way_leads(w, store_of(w, t->id), source, target, ends) == REEF_OK;
}

bool reef_related_id(const reef_world *w, reef_entity source, reef_component c, reef_entity target)
{
    const type *t = relation_read(w, "reef_related", source, c);
    if (t == NULL) return false;
    if (t->relation & REEF_REFLEXIVE && reef_entity_equal(source, target) && reef_is_alive(w, source)) return true;
    return reef__relation_leads(w, t, source, target, NULL);
}

reef_entity reef_target_id(const reef_world *w, reef_entity source, reef_component c)
{
    const type *t = relation_read(w, "reef_target", source, c);
    const relation_value *v = t ? reef_store_find(store_of(w, t->id), source) : NULL;
    return v ? v->target : (reef_entity){0, 0};
}

const void *reef_relation_get_id(const reef_world *w, reef_entity source, reef_component c, reef_entity target)
{
    const type *t = relation_read(w, "reef_relation_get", source, c);
    return t ? relation_of(w, t, source, target) : NULL;
}

void *reef_relation_mut_id(reef_world *w, reef_entity source, reef_component c, reef_entity target)
{
    static const char op[] = "reef_relation_mut";
    const type *t = relation_read(w, op, source, c);
    uint32_t number;
    if (!WORLD_GIVEN(w)) return NULL;
    if (t == NULL || reef__relation_find(store_of(w, t->id), source, target, &number) == NULL) {
        const reef_status s = reef__type_of(c.id) == NULL ? REEF_UNKNOWN_TYPE
                              : t == NULL                 ? refuse_because(w, "it is no type of relations")
                              : !reef_is_alive(w, source) ? REEF_NOT_ALIVE
                                                          : REEF_ABSENT;
        return reef__failure(w, s, op, c, source, 0), NULL;
    }
    char *first = reef_mut_id(w, source, c);
    return first ? first + (size_t)number * t->size : NULL;
}

uint64_t reef_source_count_id(const reef_world *w, reef_entity target, reef_component c)
{
    const type *t = relation_read(w, "reef_source_count", target, c);
    return t && reef_is_alive(w, target) ? reef__relation_sources(store_of(w, t->id), target) : 0;
}

reef_sources reef_sources_of_id(const reef_world *w, reef_entity target, reef_component c)
{
    return (reef_sources){.world = w, .target = target, .relation = c};
}

bool reef_sources_next(reef_sources *x)
{
    source_one one;
    source_run run;
    const type *t = x ? relation_read(x->world, "reef_sources_next", x->target, x->relation) : NULL;
    if (x) x->count = 0;
    if (t == NULL || !reef_is_alive(x->world, x->target) ||
        !reef__relation_after(store_of(x->world, t->id), x->target, x->place, x->last, &one, &run))
        return false;
    x->sources = run.sources;
    x->count = run.count;
    x->place = run.places[run.count - 1];
    x->last = run.sources[run.count - 1];
    if (run.sources == &one.source) x->one = one.source, x->sources = &x->one;
    return true;
}
