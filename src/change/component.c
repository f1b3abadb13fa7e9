/* Components of one entity: add, set, ensure, remove, get, mut, has; and several at once.
 *
 * Add, set and remove try a fast path first, which tests all its conditions before it writes anything. What it
 * can't do takes the general path, one_slow -> reef__change_apply (apply.c). These are the cases of setting a
 * component; the first that holds is taken:
 *
 *   condition                                   what happens                         function
 *   the type has a store:
 *     absent; the pages used last fit           the value and its bit come           store_add_cached
 *     absent; nothing to allocate or to copy    the value and its bit come           reef__stored_add_fast
 *     present; its page has this version        the value is overwritten             reef_set_stored_
 *   the type lies in tables, or none of these held:
 *     absent; the edge is cached, gate open     the row moves along the edge         table_set -> edge_go
 *     present; or absent, and the edge cached   overwritten, or the row moves: with  reef__row_set
 *                                               hooks, stamps, bits, forks, observers
 *     a system runs                             overwritten, if it is present        running_set
 *     the caller is wrong                       a status, no effect                  reef__set_general
 *     a loop records and it is absent, or       a command is recorded                one_slow -> one_deferred
 *       an observer runs
 *     a loop is open, and it is absent          LOCKED                               one_slow
 *     everything else                           prepare, make, commit                one_slow -> reef__change_apply
 *
 * Where a stored value is overwritten directly, nobody observes and the type has neither hooks nor stamps. one_slow
 * enters the edge in the cache, so that the next row of the same table takes the fast path (row_move.h) or that of
 * row_change.c. Add and remove have the same cases, without those that overwrite. */
#include "change/component.h"
#include "storage/archetype.h"
#include "storage/block_index.h"
#include "storage/command_buffer.h"
#include "storage/entity_index.h"
#include "storage/error.h"
#include "storage/invalidate.h"
#include "storage/known_types.h"
#include "storage/observed.h"
#include "storage/place.h"
#include "storage/read.h"
#include "storage/required.h"
#include "storage/row_bits.h"
#include "storage/row_stamps.h"
#include "storage/running.h"
#include "storage/sparse_store.h"
#include "storage/split_columns.h"
#include "storage/subtype.h"
#include "storage/table.h"
#include "change/apply.h"
#include "change/command.h"
#include "change/multi.h"
#include "change/row_change.h"
#include "change/row_move.h"
#include "change/value_path.h"
#include "reef/ref.h"
#include "reef/enable.h"

/* ---- reading ---- */

/* The reason why the entity has no value of this component that could be given back. */
static reef_status absence(const reef_world *w, reef_entity e, reef_component c)
{
    const type *t = reef__type_of(c.id);
    uint32_t one;
    if (place_of(w, e) == PLACE_DEAD) return REEF_NOT_ALIVE;
    if (t && t->split && reef_has_id(w, e, c)) return refuse_because(w, "REEF_SPLIT has no address: use reef_read");
    if (t && has_subtypes(t) && reef__subtypes_by->find(w, e, t, &one) == REEF_AMBIGUOUS) return REEF_AMBIGUOUS;
    return reef__world_knows(w, c.id) ? REEF_ABSENT : REEF_UNKNOWN_TYPE;
}

/* What is unique is written by calls alone, which compare it. */
static COLD reef_status unique_refuse(reef_world *w, const char *op, reef_entity e, reef_component c)
{
    if (!w->running && w->calling) op = w->calling;
    reef_error error = {.status = REEF_BAD_ARGUMENT, .operation = op, .component = c, .entity = e};
    snprintf(error.detail, sizeof error.detail, "its %s is unique, and written by calls only, such as reef_set",
             reef__type_of(c.id)->hooks.unique);
    return reef__failure_record(w, &error);
}

static void *stored_mut(reef_world *w, reef_entity e, const type *t)
{
    w->hook_failed.id = 0;
    void *p = !t->tracked || reef__track_prepare(w, t->id, &e, 1) ? reef__store_own(w, t->id, e) : NULL;
    if (p == NULL) return reef__failure(w, REEF_NO_MEMORY, "reef_mut", (reef_component){t->id}, e, 0), NULL;
    if (t->tracked) reef__track_stamp(w, t->id, e.index, false);
    return p;
}

void *reef_mut_id(reef_world *w, reef_entity e, reef_component c)
{
    if (!WORLD_GIVEN(w)) return NULL;
    c = component_meant(w, e, c);
    if (UNLIKELY(w->running)) {
        void *p = NULL;
        return w->running->mut(w, "reef_mut", e, c, &p), p;
    }
    const type *t = reef__type_of(c.id);
    const void *seen = t ? reef_get_id(w, e, c) : NULL;
    if (seen == NULL) {
        reef__failure(w, absence(w, e, c), "reef_mut", c, e, 0);
        return NULL;
    }
    if (UNLIKELY(t->hooks.unique != NULL)) return unique_refuse(w, "reef_mut", e, c), NULL;
    if (t->stored) return stored_mut(w, e, t);
    uint32_t place = place_of(w, e), id = reef_slots_at(&w->hot, place)[0].head.table, k = slot_find(w, c.id, id);
    if ((t->tracked && !reef__track_prepare(w, c.id, &e, 1)) ||
        !reef__column_own(w, table_read(w, id), place_unit(place), k)) {
        reef__failure(w, REEF_NO_MEMORY, "reef_mut", c, e, 0);
        return NULL;
    }
    if (t->tracked) reef__track_stamp(w, c.id, e.index, false);
    reef_slot *slots = reef_slots_at(&w->hot, place);
    version_note(w, c.id, place_unit(place), slots[k].version);
    return cell(slots, k, place_row(place), t->size);
}

static void ready_put(reef_world *w, reef_entity e, uint32_t component, void *value)
{
    w->ready.entity = e;
    w->ready.component = value ? component : 0;
    w->ready.value = value;
}

/* Is the entity's block of this component marked as written, so that it may be written? Then the component's index of
 * blocks is told, or where rows are tracked (column_mark) the row is stamped. */
static bool marked_already(reef_world *w, reef_entity e, reef_component c)
{
    const reef_long_way way = reef_long_way_to(&w->hot, map_of_id(w, c.id));
    const reef_slot *slots;
    uint32_t place;
    const uint32_t k = reef_slot_at(&way, e, &place, &slots);
    if (k == 0 || k == REEF_SLOT_TAG) return false;
    if (slots[k].version == w->hot.version) version_note(w, c.id, place_unit(place), w->hot.version);
    else if (slots[k].version != w->hot.version - 1 || w->running || !reef__track_stamp_own(w, c.id, e.index))
        return false;
    if (!w->running)
        ready_put(w, e, c.id, cell((reef_slot *)(uintptr_t)slots, k, place_row(place), type_known(c.id)->size));
    return true;
}

void reef_mut_slow_(reef_world *w, reef_entity e, reef_type_decl *decl)
{
    if (!world_is_ours(w, "reef_mut")) return;
    const reef_component c = reef_id_of(decl);
    reef__block_index_ask(w, c.id);
    const type *t = reef__type_of(c.id);
    if (!(t && t->hooks.unique) && marked_already(w, e, c)) return;
    void *value = reef_mut_id(w, e, c);
    if (!w->running) ready_put(w, e, c.id, value);
}

/* In a system, several threads make values ready, so that nothing is remembered. */
static NOINLINE void *done_in_system(const reef_world *w, reef_entity e, reef_component c)
{
    c = component_meant(w, e, c);
    const type *t = reef__type_of(c.id);
    void *p = (void *)(uintptr_t)reef_get_id(w, e, c);
    if (p == NULL) return NULL;
    if (t->stored) return w->running->marked(w, c.id, reef__store_version(store_of(w, c.id), e)) ? p : NULL;
    const reef_slot *slots = reef_slots_at(&w->hot, place_of(w, e));
    const uint64_t version = slots[slot_find(w, c.id, slots[0].head.table)].version;
    return (t->tracked ? w->running->marked(w, c.id, version) : version == w->hot.version) ? p : NULL;
}

/* Called after reef_mut_slow_: where the value is, or NULL if it may not be written. Nothing tells the inlined caller
 * directly whether reef_mut_slow_ succeeded, so this finds out. */
void *reef_mut_done_(const reef_world *w, reef_entity e, reef_type_decl *decl)
{
    if (!world_is_ours(w, "reef_mut")) return NULL;
    const reef_component c = reef_id_of(decl);
    if (UNLIKELY(w->running != NULL)) return done_in_system(w, e, c);
    return w->ready.component == c.id && reef_entity_equal(w->ready.entity, e) ? w->ready.value : NULL;
}

COLD uint64_t reef_count_id(const reef_world *w, reef_component c)
{
    const type *t = WORLD_GIVEN(w) ? reef__type_of(c.id) : NULL;
    uint64_t n = 0;
    if (t == NULL) return 0;
    if (t->stored) return store_entities(store_of(w, c.id));
    if (t->bit) return reef__bit_count_rows(w, c.id);
    for (uint32_t i = TABLE_EMPTY; i < w->state.tables.count * TABLES_PER_PAGE; i++) {
        const table *x = table_read(w, i);
        if (x && slot_find(w, c.id, i) != 0) n += table_rows(x);
    }
    return n;
}

/* ---- one component by the general path ---- */

COLD const edge *reef__edge_fetch(reef_world *w, uint64_t key, reef_status *status)
{
    uint32_t from = (uint32_t)(key >> 33), component = (uint32_t)(key >> 1);
    const edge *e = reef__graph_edge(w, from, component, key & 1, status);
    /* the fast path handles exactly one column that comes or goes */
    if (e == NULL || reef__type_of(component)->split) return e;
    ASSERT((key & 1) || reef__table_meets(w, from, reef__type_of(component)));
    if (watched(w, component)) key |= EDGE_WATCHED;
    table *to = e->to == TABLE_EMPTY ? NULL : reef__table_own(w, e->to), *s = reef__table_own(w, from);
    if (s && to) {
        uint32_t i = edge_index(key);
        w->edge_cache[i].key = key;
        w->edge_cache[i].edge = e;
        w->edge_cache[i].from = s;
        w->edge_cache[i].to = to;
        w->edges_cached = true;
    }
    return e;
}

/* A loop that records commands gets the same command for another entity: it extends the command that was recorded
 * last. False: nothing was recorded. */
static bool again_deferred(reef_world *w, command_kind kind, reef_entity e, reef_component c)
{
    return w->commands && place_of(w, e) != PLACE_DEAD && command_again(w->commands, kind, c.id, e);
}

/* True if a recorded command will make this entity: it isn't alive yet, but further commands may name it. */
static COLD bool deferred_to(const reef_world *w, reef_entity e) { return w->commands && reef__id_pending(w, e); }

static COLD reef_status one_deferred(reef_world *w, const char *op, reef_entity e, const reef_value *v)
{
    command_kind kind = v->data ? COMMAND_ADD_VALUE : COMMAND_ADD;
    if (v->kind == REEF_VALUE_REMOVE) kind = COMMAND_REMOVE;
    if (v->kind == REEF_VALUE_ONE) kind = COMMAND_SET;
    if (kind == COMMAND_SET || kind == COMMAND_ADD_VALUE)
        return reef__command_values(w, w->commands, kind, op, e, v, 1);
    return reef__command_plain(w, w->commands, kind, op, e, v->component);
}

COLD void *reef__cell_now(reef_world *w, reef_entity e, reef_component c)
{
    if (reef__type_of(c.id)->hooks.unique != NULL) return NULL; /* nobody may write it */
    return reef__value_itself(w, e, c) ? reef_mut_id(w, e, c) : NULL;
}

/* The entity doesn't have the component itself. If it has exactly one subtype of it, that one is removed. */
static COLD reef_status remove_instead(reef_world *w, const char *op, reef_entity e, const type *t)
{
    const reef_component c = {t->id}, meant = component_meant(w, e, c);
    return meant.id != c.id ? reef_remove_id(w, e, meant) : reef__failure(w, absence(w, e, c), op, c, e, 0);
}

/* Changes one component, and nothing else comes along. `has`: it is there already. */
static reef_status one_change(reef_world *w, const char *op, reef_entity e, const type *t, reef_value *value,
                              uint32_t place, bool has)
{
    const bool remove = value->kind == REEF_VALUE_REMOVE;
    const uint32_t from = reef_slots_at(&w->hot, place)[0].head.table;
    uint32_t to = from;
    if (has == remove && in_table(t)) {
        reef_status s = REEF_OK;
        const edge *x = reef__edge_fetch(w, edge_key(from, t->id, remove), &s);
        if (x == NULL) return reef__failure(w, s, op, (reef_component){t->id}, e, 0);
        to = x->to;
    }
    if (!t->split) return reef__change_apply(w, op, e, place, to, value, 1);
    reef_value parts[REEF_SPLIT_FIELDS_MAX + 1];
    return reef__change_apply(w, op, e, place, to, parts, reef__spread_one(parts, value));
}

static COLD reef_status one_slow(reef_world *w, const char *op, reef_entity e, reef_component c, reef_value value,
                                 void **out)
{
    bool remove = value.kind == REEF_VALUE_REMOVE;
    uint32_t place = place_of(w, e), to = 0;
    if (place == PLACE_DEAD && !deferred_to(w, e)) return reef__failure(w, REEF_NOT_ALIVE, op, c, e, 0);
    reef_status s = reef__type_ready(w, c.id);
    if (s != REEF_OK) return reef__failure(w, s, op, c, e, 0);
    uint32_t from = reef_slots_at(&w->hot, place)[0].head.table;
    const type *t = reef__type_of(c.id);
    /* parts come and go with the type that they are parts of */
    if (t->owner && !(value.kind == REEF_VALUE_ONE && reef_has_id(w, e, c)))
        return reef__misuse(w, op, c, e, reef__part_text);
    bool has = component_there(w, t, e, place, from);
    const bool there = has && value.kind == REEF_VALUE_ONE;
    if (w->commands && (w->notifying || !there)) return one_deferred(w, op, e, &value);
    if (remove && !has) return remove_instead(w, op, e, t);
    const bool more = has && value.kind == REEF_VALUE_DEFAULT;
    if (more && t->home != REEF_MULTI) return reef__failure(w, REEF_EXISTS, op, c, e, 0);
    if (w->locks && (has == remove || more || w->notifying)) return reef__failure(w, REEF_LOCKED, op, c, e, 0);
    if (more) return reef__multi_add(w, op, e, t, &value, out);
    if (UNLIKELY(t->need_count != 0) && !has && !reef__table_meets(w, from, t))
        s = reef__list_apply(w, op, e, &value, 1, &to);
    else s = one_change(w, op, e, t, &value, place, has);
    if (s != REEF_OK) return s;
    if (observed(w)) return *out = remove ? NULL : reef__cell_now(w, e, c), has || remove ? REEF_OK : REEF_ADDED;
    place = place_of(w, e);
    uint32_t k = place == PLACE_EMPTY ? 0 : slot_find(w, c.id, reef_slots_at(&w->hot, place)[0].head.table);
    if (t->stored && t->size && !remove) *out = (void *)(uintptr_t)store_find(w, c.id, e);
    if (k && k != REEF_SLOT_TAG) *out = cell(reef_slots_at(&w->hot, place), k, place_row(place), t->size);
    return has || remove ? REEF_OK : REEF_ADDED;
}

/* ---- add, set, ensure, remove ---- */

/* The words of bits of the entity's chunk, in bit store `number` - 1, if the fast path is open there: the words
 * were written at this version, and for `on` the row's table knows the bit. NULL: it isn't. (Only entities with a row
 * qualify: an entity of the empty set loses its row with its last bit, which is the general path's work. `on` is a
 * constant.) */
INLINE uint64_t *bits_open(const reef_world *w, uint32_t number, reef_entity e, bool on, uint32_t *place)
{
    const handle h = handle_of(e);
    if (UNLIKELY(number == 0 || w->locks || HANDLE_INDEX(h) >= w->hot.index_count)) return NULL;
    const bit_store *b = &w->state.bits[number - 1];
    if (UNLIKELY(watched(w, b->key & ~BIT_DISABLED))) return NULL;
    const uint64_t record = *reef_record_at(&w->hot, HANDLE_INDEX(h));
    const uint32_t unit = place_unit((uint32_t)record);
    *place = (uint32_t)record;
    if (UNLIKELY((uint32_t)(record >> 32) != HANDLE_GENERATION(h) || unit >= b->words.count)) return NULL;
    uint64_t *words = b->words.page[unit];
    if (UNLIKELY(words == NULL || b->words.version[unit] != w->hot.version)) return NULL;
    const uint32_t id = reef_slots_at(&w->hot, *place)[0].head.table;
    if (UNLIKELY(id <= TABLE_EMPTY)) return NULL;
    const table *t = (const table *)w->state.tables.page[id / TABLES_PER_PAGE] + id % TABLES_PER_PAGE;
    return UNLIKELY(on && !bit_named(t->bits, number - 1)) ? NULL : words;
}

/* The fast path for one bit of a row: the switch of component c, or with `mark` the mark that c is disabled.
 * False: nothing was done, and the general path has to decide. (`mark` is a constant.) */
INLINE bool bit_go(reef_world *w, reef_entity e, reef_component c, bool on, bool mark)
{
    const uint32_t number = bit_number_of(w, mark ? c.id | BIT_DISABLED : c.id);
    uint32_t place;
    uint64_t *words = bits_open(w, number, e, on, &place);
    if (UNLIKELY(words == NULL)) return false;
    bit_store *b = &w->state.bits[number - 1];
    if (mark) {
        const uint32_t id = reef_slots_at(&w->hot, place)[0].head.table;
        if (on && c.id && slot_find(w, c.id, id) == 0 && !reef__bit_has(w, c.id, place)) return false;
    } else if (UNLIKELY(b->disabled_bits !=
                        /* An id that has a bit too many, or a switch whose mark has to be cleared with it. */
                        0)) {
        if (b->disabled_bits == BITS_OF_DISABLED || (!on && reef__bit_has(w, c.id | BIT_DISABLED, place))) return false;
    }
    const uint64_t bit = 1ull << (place % 64), was = words[place_row(place) / 64];
    if (UNLIKELY(((was & bit) != 0) == on)) return false;
    words[place_row(place) / 64] = was ^ bit;
    b->switched += on ? 1 : UINT64_MAX;
    if (!mark && b->disabled_bits == 0)
        w->hot.cached = (reef_cached_bits){c.id, place - place_row(place), words, &b->switched};
    return true;
}

/* The store remembers the words of bits of the entity's chunk, and forgets the pages of another version of the world.
 * Of a type that has marks it does so for this one call: a value that goes takes its mark along, so each row has to be
 * asked. The answer is the entity's row; REEF_BLOCK_ROWS and more: the fast path isn't open there. */
INLINE uint64_t chunk_remember(reef_world *w, value_store *s, reef_entity e, bool on)
{
    const uint32_t number = bit_number_of(w, s->component);
    uint32_t place;
    uint64_t *words = bits_open(w, number, e, on, &place);
    if (UNLIKELY(words == NULL)) return UINT64_MAX;
    const uint32_t marks = w->state.bits[number - 1].disabled_bits;
    if (UNLIKELY(marks != 0) && !on && reef__bit_has(w, s->component | BIT_DISABLED, place)) return UINT64_MAX;
    if (s->cached_gate != w->hot.version) s->cached.slots = s->hole.slots = s->cached_indices = 0;
    s->cached_gate = LIKELY(marks == 0) ? w->hot.version : 0;
    s->cached_first = place - place_row(place);
    s->cached_words = words;
    return place_row(place);
}

/* Whether the type's values lie outside of tables, and in what kind of place. (An id beyond all types reads some page
 * of the maps; later checks refuse it.) */
INLINE uint32_t elsewhere(const reef_world *w, reef_component c)
{
    return REEF_DEPENDENT(&REEF_DEPENDENT(&w->hot.maps[c.id >> 8 & 255][c.id & 255])->elsewhere);
}

reef_status reef__add_general(reef_world *w, const char *op, reef_entity e, reef_component c, const void *args,
                              void **out)
{
    void *made = NULL;
    reef_status s = REEF_OK;
    if (w->running) return reef__failure(w, REEF_LOCKED, op, c, e, 0);
    if (args || !again_deferred(w, COMMAND_ADD, e, c))
        s = one_slow(w, op, e, c, reef_value_make(c, REEF_VALUE_DEFAULT, 0, args), &made);
    const type *t = reef__type_of(c.id);
    if (out && s >= 0) *out = t && t->hooks.unique ? NULL : made;
    return s == REEF_ADDED ? REEF_OK : s;
}

static NOINLINE reef_status switch_add(reef_world *w, reef_entity e, reef_component c, void **out)
{
    if (UNLIKELY(!bit_go(w, e, c, true, false))) return reef__row_add(w, COMES_ADD, e, c, NULL, out);
    if (out) *out = NULL;
    return REEF_OK;
}

/* A plain value, or zeros for NULL. Most are of 8 bytes, which takes no call. */
INLINE void value_write(char *at, const void *value, size_t size)
{
    if (LIKELY(size == 8)) {
        if (value) memcpy(at, value, 8);
        else memset(at, 0, 8);
    } else if (value) {
        memcpy(at, value, size);
    } else {
        memset(at, 0, size);
    }
}

NOINLINE char *reef__stored_add_fast(reef_world *w, value_store *s, reef_entity e)
{
    const uint64_t row = chunk_remember(w, s, e, true);
    char *at =
        s->paged ? store_add_row(&w->hot, s, e, row, s->size, true) : store_add_row(&w->hot, s, e, row, s->size, false);
    if (LIKELY(at != NULL)) reef__invalidate(w, INVALIDATE_WRITTEN);
    return at;
}

NOINLINE bool reef__stored_leave_fast(reef_world *w, value_store *s, reef_entity e)
{
    const uint64_t row = chunk_remember(w, s, e, false);
    const bool gone = s->paged ? store_remove_row(&w->hot, s, e, row, s->size, true, true)
                               : store_remove_row(&w->hot, s, e, row, s->size, false, true);
    if (LIKELY(gone)) reef__invalidate(w, INVALIDATE_WRITTEN);
    return gone;
}

/* May values be written into the store directly? Not if its type has hooks or stamps, or the world has observers. */
INLINE bool store_direct(const reef_world *w, const value_store *s)
{
    return LIKELY(s->direct && !watched(w, s->component) && !GUARDED(w));
}

static NOINLINE reef_status stored_add(reef_world *w, reef_entity e, reef_component c, const void *args, void **out)
{
    value_store *s = store_writable(w, c);
    if (UNLIKELY(args != NULL || !store_direct(w, s))) return reef__row_add(w, COMES_ADD, e, c, args, out);
    char *at =
        s->paged ? store_add_cached(&w->hot, s, e, s->size, true) : store_add_cached(&w->hot, s, e, s->size, false);
    if (UNLIKELY(at == NULL)) at = reef__stored_add_fast(w, s, e);
    if (UNLIKELY(at == NULL)) return reef__row_add(w, COMES_ADD, e, c, args, out);
    value_write(at, NULL, s->size);
    if (out) *out = at;
    return REEF_OK;
}

static NOINLINE reef_status table_add(reef_world *w, reef_entity e, reef_component c, const void *args, void **out)
{
    row_place x;
    if (UNLIKELY(observed(w)) && watched(w, c.id)) return reef__row_add(w, COMES_ADD, e, c, args, out);
    if (UNLIKELY(!edge_at(w, &x, e, c, false, w->hot.gate_move))) return reef__row_add(w, COMES_ADD, e, c, args, out);
    void *made = edge_add(w, &w->edge_cache[EDGE_CACHE], &x, NULL);
    if (out) *out = made;
    return REEF_OK;
}

reef_status reef_add_id(reef_world *w, reef_entity e, reef_component c, const void *args, void **out)
{
    if (UNLIKELY(!WORLD_GIVEN_SHORT(w))) return REEF_BAD_ARGUMENT;
    const uint32_t kind = LIKELY(edge_component(w, false) == c.id) ? 0 : elsewhere(w, c);
    if (LIKELY(kind < ELSEWHERE_BITS)) return table_add(w, e, c, args, out);
    if (kind >= ELSEWHERE_STORES)
        return kind == ELSEWHERE_STORES ? stored_add(w, e, c, args, out) : reef__row_add(w, COMES_ADD, e, c, args, out);
    if (switch_turn(w, e, c, true)) {
        if (out) *out = NULL;
        return REEF_OK;
    }
    return switch_add(w, e, c, out);
}

/* While systems run: writes a component that the entity has, in rows of others. A component with hooks can't be set
 * so; the system records a command for it, or writes through the pointer of reef_mut. */
static COLD reef_status running_set(reef_world *w, reef_entity e, reef_component c, const void *value, size_t size)
{
    const type *t = reef__type_of(c.id);
    const bool plain = t && t->hooks.copy == NULL && t->hooks.destroy == NULL && t->hooks.move == NULL &&
                       t->home != REEF_SHARED && t->relation == 0;
    if (!running_here(w)) return reef__failure(w, REEF_LOCKED, "reef_set", c, e, size);
    if (t == NULL) return reef__failure(w, REEF_UNKNOWN_TYPE, "reef_set", c, e, size);
    if (size != t->size) return reef__failure(w, REEF_WRONG_SIZE, "reef_set", c, e, size);
    if (value == NULL && size) return reef__misuse(w, "reef_set", c, e, reef__no_value_text);
    if (place_of(w, e) == PLACE_DEAD) return reef__failure(w, REEF_NOT_ALIVE, "reef_set", c, e, size);
    if (!plain || t->relation || !has_itself(w, e, t)) return reef__failure(w, REEF_LOCKED, "reef_set", c, e, size);
    if (size == 0) return REEF_OK; /* the entity has the tag already */
    void *p = NULL;
    for (uint32_t i = 0; i < t->part_count; i++) {
        const type *part = reef__type_of(t->parts[i]);
        const reef_status s = w->running->mut(w, "reef_set", e, (reef_component){part->id}, &p);
        if (s < 0) return s;
        memcpy(p, (const char *)value + part->offset, part->size);
    }
    if (t->split) return REEF_OK;
    const reef_status s = w->running->mut(w, "reef_set", e, c, &p);
    if (s < 0) return s;
    memmove(p, value, size);
    return REEF_OK;
}

reef_status reef__set_general(reef_world *w, reef_entity e, reef_component c, const void *value, size_t size)
{
    void *made = NULL;
    if (w->running) return running_set(w, e, c, value, size);
    const type *t = reef__type_of(c.id);
    const uint32_t place = place_of(w, e);
    if (place == PLACE_DEAD && !deferred_to(w, e)) return reef__failure(w, REEF_NOT_ALIVE, "reef_set", c, e, size);
    if (!reef__world_knows(w, c.id)) return reef__failure(w, REEF_UNKNOWN_TYPE, "reef_set", c, e, size);
    if (size != t->size) return reef__failure(w, REEF_WRONG_SIZE, "reef_set", c, e, size);
    if (value == NULL && size) return reef__misuse(w, "reef_set", c, e, reef__no_value_text);
    return one_slow(w, "reef_set", e, c, reef_value_make(c, REEF_VALUE_ONE, (uint32_t)size, value), &made);
}

/* The straight line: a plain value comes to a row of a table that nobody hears. */
static NOINLINE reef_status table_set(reef_world *w, reef_entity e, reef_component c, const void *value, size_t size)
{
    row_place x;
    const struct edge_entry *const k = &w->edge_cache[EDGE_CACHE];
    const uint64_t gate = w->hot.gate_move;
    if (UNLIKELY(!row_place_find(w, &x, e)) || UNLIKELY(!edge_cached(w, row_place_key(&x, c, false), false, gate)))
        return reef__row_set(w, e, c, value, size);
    const edge *d = k->edge; /* NULL: the entry is empty, and the key is that of no type */
    if (UNLIKELY(!edge_open(k, &x, gate)))
        return d && value && size == d->size && d->slot ? reef__row_comes(w, e, c, value) /* it hasn't got it */
                                                        : reef__row_set(w, e, c, value, size);
    if (UNLIKELY(value == NULL || size != d->size || d->slot == 0)) return reef__row_set(w, e, c, value, size);
    if (UNLIKELY(size != 8)) return edge_go_wide(w, k, &x, value), REEF_ADDED;
    return (reef_status)edge_go(w, k, &x, value, true, false, REEF_ADDED);
}

reef_status reef_set_id(reef_world *w, reef_entity e, reef_component c, const void *value, size_t size)
{
    if (UNLIKELY(!WORLD_GIVEN_SHORT(w))) return REEF_BAD_ARGUMENT;
    if (UNLIKELY(observed(w)) && watched(w, c.id)) return reef__row_set_watched(w, e, c, value, size);
    return table_set(w, e, c, value, size);
}

static NOINLINE reef_status stored_set(reef_world *w, reef_entity e, reef_component c, value_store *s,
                                       const void *value, size_t size)
{
    uint32_t page = 0;
    if (UNLIKELY(s->relation)) {
        const reef_status status = reef__relations_by->set(w, c, e, value, size);
        return LIKELY(status != REEF_ABSENT) ? status : reef_set_id(w, e, c, value, size);
    }
    if (UNLIKELY(!store_direct(w, s))) return reef_set_id(w, e, c, value, size);
    const reef_store_way way = reef_store_way_to(s, s->paged);
    void *at = (void *)(uintptr_t)reef_store_at(&way, e, size, s->paged, &page);
    if (at == NULL) {
        at = reef__stored_add_fast(w, s, e);
        if (at == NULL) return reef_set_id(w, e, c, value, size);
        bytes_copy(at, value, size);
        return REEF_ADDED;
    }
    if (w->running || w->notifying || s->values.version[page] != w->hot.version)
        return reef_set_id(w, e, c, value, size);
    memmove(at, value, size);
    return REEF_OK;
}

/* The commonest case, a value that comes, is tried first. */
reef_status reef_set_stored_(reef_world *w, reef_entity e, reef_component c, const void *value, size_t size)
{
    if (UNLIKELY(!WORLD_GIVEN_SHORT(w))) return REEF_BAD_ARGUMENT;
    value_store *s = store_writable(w, c);
    if (UNLIKELY(value == NULL || size != s->size)) return reef_set_id(w, e, c, value, size);
    char *at = s->paged ? store_add_cached(&w->hot, s, e, size, true) : store_add_cached(&w->hot, s, e, size, false);
    if (UNLIKELY(at == NULL)) return stored_set(w, e, c, s, value, size);
    if (LIKELY(size == 8)) memcpy(at, value, 8);
    else memcpy(at, value, size);
    return REEF_ADDED;
}

void *reef_ensure_id(reef_world *w, reef_entity e, reef_component c, const void *args)
{
    void *made = NULL;
    if (!WORLD_GIVEN(w)) return NULL;
    const type *t = reef__type_of(c.id);
    if (t && t->hooks.unique) return unique_refuse(w, "reef_ensure", e, c), NULL;
    if (reef_get_id(w, e, c)) return reef_mut_id(w, e, c);
    if (absence(w, e, c) == REEF_AMBIGUOUS) return reef__failure(w, REEF_AMBIGUOUS, "reef_ensure", c, e, 0), NULL;
    uint32_t place = place_of(w, e);
    if (place != PLACE_DEAD && reef_has_id(w, e, c)) return NULL; /* the entity has the tag already */
    if (w->running) return reef__failure(w, REEF_LOCKED, "reef_ensure", c, e, 0), NULL;
    commands *const recording = w->commands;
    w->commands = NULL; /* ensure gives back a pointer, and a recorded command couldn't: the answer is LOCKED */
    reef_status s = reef__row_add(w, COMES_ENSURE, e, c, args, &made);
    w->commands = recording;
    return s == REEF_OK ? made : NULL;
}

reef_status reef__remove_general(reef_world *w, reef_entity e, reef_component c)
{
    void *none = NULL;
    if (w->running) return reef__failure(w, REEF_LOCKED, "reef_remove", c, e, 0);
    if (again_deferred(w, COMMAND_REMOVE, e, c)) return REEF_OK;
    return one_slow(w, "reef_remove", e, c, reef_value_make(c, REEF_VALUE_REMOVE, 0, NULL), &none);
}

static NOINLINE reef_status switch_remove(reef_world *w, reef_entity e, reef_component c)
{
    return LIKELY(bit_go(w, e, c, false, false)) ? REEF_OK : reef__row_remove(w, e, c);
}

/* Values of 8 bytes are so common that their move is worth instructions of its own. */
static NOINLINE reef_status stored_remove(reef_world *w, reef_entity e, reef_component c)
{
    value_store *s = store_writable(w, c);
    if (LIKELY(s->paged       ? store_remove_cached(&w->hot, s, e, s->size, true)
               : s->size == 8 ? store_remove_cached(&w->hot, s, e, 8, false)
                              : store_remove_cached(&w->hot, s, e, s->size, false)))
        return REEF_OK;
    if (UNLIKELY(s->relation) && reef__relations_by->remove(w, c, e)) return REEF_OK;
    return store_direct(w, s) && reef__stored_leave_fast(w, s, e) ? REEF_OK : reef__row_remove(w, e, c);
}

static NOINLINE reef_status table_remove(reef_world *w, reef_entity e, reef_component c)
{
    row_place x;
    const struct edge_entry *const k = &w->edge_cache[EDGE_CACHE + 1];
    if (UNLIKELY(!edge_at(w, &x, e, c, true, w->hot.gate_move))) return reef__row_remove(w, e, c);
    if (UNLIKELY(!k->edge->word)) return edge_go_wide(w, k, &x, NULL), REEF_OK;
    return (reef_status)edge_go(w, k, &x, NULL, true, true, REEF_OK);
}

reef_status reef_remove_id(reef_world *w, reef_entity e, reef_component c)
{
    if (UNLIKELY(!WORLD_GIVEN_SHORT(w))) return REEF_BAD_ARGUMENT;
    const uint32_t kind = LIKELY(edge_component(w, true) == c.id) ? 0 : elsewhere(w, c);
    if (LIKELY(kind < ELSEWHERE_BITS)) return table_remove(w, e, c);
    if (kind == ELSEWHERE_STORES) return stored_remove(w, e, c);
    if (switch_turn(w, e, c, false)) return REEF_OK;
    return switch_remove(w, e, c);
}

COLD reef_status reef_remove_all(reef_world *w, reef_entity e)
{
    static const char op[] = "reef_remove_all";
    reef_component none = {0};
    if (!WORLD_GIVEN(w)) return REEF_BAD_ARGUMENT;
    uint32_t place = place_of(w, e);
    if (place == PLACE_DEAD && !deferred_to(w, e)) return reef__failure(w, REEF_NOT_ALIVE, op, none, e, 0);
    if (w->commands) return reef__command_plain(w, w->commands, COMMAND_REMOVE_ALL, op, e, none);
    if (place == PLACE_EMPTY && !(w->slow & SLOW_COLD)) return REEF_OK;
    if (w->locks) return reef__failure(w, REEF_LOCKED, op, none, e, 0);
    spread off;
    if (!reef__spread_room(w, &off, w->state.bit_count + w->state.store_count))
        return reef__failure(w, REEF_NO_MEMORY, op, none, e, 0);
    EACH_BIT_STORE(w, bits_of(w, place), b) /* all but the mark that the entity itself is disabled */
    if (b->key != BIT_DISABLED && bit_read(b, place))
        off.values[off.count++] = reef_value_make((reef_component){b->key}, REEF_VALUE_REMOVE, 0, NULL);
    EACH_COLD_STORE(w, x)
    if (cold_has(x, e))
        off.values[off.count++] = reef_value_make((reef_component){x->component}, REEF_VALUE_REMOVE, 0, NULL);
    reef_status s = REEF_OK;
    uint32_t to = reef__graph_table(w, NULL, 0, &s);
    s = to ? reef__change_apply(w, op, e, place, to, off.values, off.count) : reef__failure(w, s, op, none, e, 0);
    reef__spread_free(w, &off);
    return s;
}

/* ---- enabling and disabling ---- */

static NOINLINE reef_status enable_slow(reef_world *w, reef_entity e, reef_component c, bool on)
{
    const char *op = on ? "reef_enable" : "reef_disable";
    if (!WORLD_GIVEN_TO(w, op)) return REEF_BAD_ARGUMENT;
    const uint32_t place = place_of(w, e), key = c.id | BIT_DISABLED;
    if (place == PLACE_DEAD && !deferred_to(w, e)) return reef__failure(w, REEF_NOT_ALIVE, op, c, e, 0);
    if (c.id && !reef__world_knows(w, c.id)) return reef__failure(w, REEF_UNKNOWN_TYPE, op, c, e, 0);
    if (c.id && reef__type_of(c.id)->owner) return reef__misuse(w, op, c, e, reef__part_text);
    if (w->commands) return reef__command_plain(w, w->commands, on ? COMMAND_ENABLE : COMMAND_DISABLE, op, e, c);
    const uint32_t from = reef_slots_at(&w->hot, place)[0].head.table;
    if (c.id && !component_there(w, reef__type_of(c.id), e, place, from))
        return reef__failure(w, REEF_ABSENT, op, c, e, 0);
    if (reef__bit_has(w, key, place) != on) return REEF_OK;
    if (w->locks) return reef__failure(w, REEF_LOCKED, op, c, e, 0);
    reef_value mark = reef_value_make((reef_component){key}, on ? REEF_VALUE_REMOVE : REEF_VALUE_DEFAULT, 0, NULL);
    return reef__change_apply(w, op, e, place, from, &mark, 1);
}

reef_status reef_enable_id(reef_world *w, reef_entity e, reef_component c, bool on)
{
    if (UNLIKELY(!WORLD_GIVEN_SHORT(w))) return REEF_BAD_ARGUMENT;
    if (UNLIKELY(c.id > REEF_TYPES_MAX)) return enable_slow(w, e, c, on);
    return LIKELY(on ? bit_go(w, e, c, false, true) : bit_go(w, e, c, true, true)) ? REEF_OK : enable_slow(w, e, c, on);
}

bool reef_is_enabled_id(const reef_world *w, reef_entity e, reef_component c)
{
    uint32_t place = WORLD_GIVEN(w) ? place_of(w, e) : PLACE_DEAD;
    const type *t = c.id <= REEF_TYPES_MAX ? reef__type_of(c.id) : NULL;
    if (place == PLACE_DEAD || (c.id && (t == NULL || !has_itself(w, e, t)))) return false;
    return !reef__bit_has(w, c.id | BIT_DISABLED, place);
}
