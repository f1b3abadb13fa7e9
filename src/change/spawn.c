/* Making entities: one, many, copies; and bundles.
 *
 * A *bundle* is a prepared set of types: its table, and where in the row each value goes. A program makes one for what
 * it spawns often. For reef_spawn the world remembers the tables of the last sets, whatever the order of their
 * components: so the second spawn of a set neither sorts nor allocates.
 *
 * There are four ways, from the fastest to the most general: spawn_fast and spawn_recycled put one row into a table
 * that this world alone holds; reef__row_spawn (list_change.c) makes one row of a set that is known, with hooks, stamps
 * or an observer; spawn_rows fills as many plain rows as fit a chunk, column by column; reef__row_make (apply.c) makes
 * one row with bits or stored values. New rows are the last ones of their table, and new ids are only taken
 * (reef__ids_commit) when all rows are made: so spawn_undo can take everything back. */
#include "change/spawn.h"
#include "type/value.h"
#include "storage/archetype.h"
#include "storage/entity_index.h"
#include "storage/error.h"
#include "storage/invalidate.h"
#include "storage/known_types.h"
#include "storage/observed.h"
#include "storage/place.h"
#include "storage/quarantine.h"
#include "storage/required.h"
#include "storage/row_bits.h"
#include "storage/sparse_store.h"
#include "storage/split_columns.h"
#include "storage/table.h"
#include "change/apply.h"
#include "change/command.h"
#include "change/relation.h"
#include "change/spawn_row.h"
#include "change/value_stage.h"
#include "reef/relation.h"
#include "reef/bundle.h"
#include "reef/many.h"

typedef struct bundle_part {
    const type *type;
    uint32_t size, offset;
    uint16_t slot; /* 0: a tag */
} bundle_part;

struct reef_bundle {
    bundle_gate gate; /* open: t is valid and the fast path may be taken */
    reef_world *world;
    reef_bundle *next, *previous;
    uint32_t table, count;
    bool plain, whole; /* memcpy makes all values; the parts are all that is in a row */
    table *t;
    bundle_part *parts, *rest,
        *end; /* parts of 8 bytes come first, then those of 16, then other sizes; tags begin at `end` */
    /* one word for each part of 8 bytes, then WAY_END or WAY_MORE; then the same for parts of 16 bytes */
    uint64_t way[];
};
/* A word is offset << 32 | distance in bytes from the chunk's slots to the column's slot. The fast path is bound
 * by its loads, and this needs one for each part. */
enum { WAY_END, WAY_MORE };

static size_t bundle_bytes(uint32_t count)
{
    return sizeof(reef_bundle) + (count + 2) * sizeof(uint64_t) + count * sizeof(bundle_part);
}

/* ---- n rows of one table ---- */

static reef_entity spawn_id(const spawning *x, uint32_t i)
{
    return x->given ? x->given[i] : reef__id_peek(x->w, x->first_id + i);
}

COLD void reef__spawn_undo(spawning *x, uint32_t made)
{
    reef_world *w = x->w;
    while (made-- > 0) {
        uint32_t place = x->t->next - 1;
        reef_slot *slots = unit_slots(w, x->t->last);
        reef_entity e = slot_entities(slots)[place_row(place)];
        value_stage stage;
        stage_begin(&stage, w, e, x->values, x->count, made, x->id, place, true, x->stored);
        reef__stage_unmake(&stage);
        reef__bits_clear(w, x->t->bits, place);
        reef__row_pop(w, x->t);
        if (x->given) record_put_rowless(w, e, PLACE_PENDING); /* again */
        else record_put(w, e, PLACE_DEAD);
    }
}

reef_status reef__spawn_row(spawning *x, uint32_t i)
{
    return reef__row_make(x->w, x->t, spawn_id(x, i), x->values, x->count, i, x->stored);
}

static void column_fill(char *to, const reef_value *v, const type *t, uint32_t first, uint32_t n)
{
    const char *from = v->data;
    const size_t size = t->size;
    if (v->kind == REEF_VALUE_ARRAY && t->stride != size)
        for (uint32_t i = 0; i < n; i++) memcpy(to + i * size, from + (size_t)(first + i) * t->stride, size);
    else if (v->kind == REEF_VALUE_ARRAY) memcpy(to, from + first * size, n * size);
    else if (v->kind == REEF_VALUE_DEFAULT) memset(to, 0, n * size);
    else if (size == 8) {
        uint64_t x;
        memcpy(&x, from, 8);
        fill_eight(to, x, n);
    } else
        for (uint32_t i = 0; i < n; i++) bytes_copy(to + i * size, from, size);
}

/* Writes the records of n entities that were never alive before, with indices from `index` on and places from `place`
 * on. */
static void records_put_fresh(reef_world *w, uint32_t index, uint32_t place, uint32_t n)
{
    while (n > 0) {
        uint64_t *record =
            (uint64_t *)w->hot.records.page[index >> REEF_RECORD_BITS] + (index & (RECORDS_PER_PAGE - 1));
        uint32_t rows = RECORDS_PER_PAGE - (index & (RECORDS_PER_PAGE - 1));
        if (rows > n) rows = n;
        for (uint32_t i = 0; i < rows; i++) record[i] = (uint64_t)1 << 32 | (place + i);
        index += rows;
        place += rows;
        n -= rows;
    }
}

uint32_t reef__spawn_rows(spawning *x, uint32_t first)
{
    reef_world *w = x->w;
    table *t = x->t;
    if (!reef__table_room(w, t)) return 0;
    reef_slot *slots = unit_slots(w, t->last);
    uint32_t place = t->next, row = place_row(place), n = t->end - place;
    if (n > x->n - first) n = x->n - first;
    for (uint32_t k = 0; k < x->count; k++) {
        const type *c = reef__value_column(&x->values[k]);
        if (c) column_fill(cell(slots, reef__slot_seek(w, c->id, x->id), row, c->size), &x->values[k], c, first, n);
    }
    reef_entity *e = (reef_entity *)slots[SLOT_ENTITIES].block + row;
    uint32_t fresh = n;
    if (x->given) memcpy(e, x->given + first, n * sizeof *e);
    else fresh = reef__ids_peek(w, x->first_id + first, n, e);
    for (uint32_t i = 0; i < fresh; i++) record_put(w, e[i], place + i);
    if (fresh < n) records_put_fresh(w, e[fresh].index, place + fresh, n - fresh);
    t->next += n;
    return n;
}

COLD reef_status reef__given_prepare(const spawning *x)
{
    for (uint32_t i = 0; i < x->n; i++)
        if (reef__record_own(x->w, x->given[i].index) == NULL) return REEF_NO_MEMORY;
    return REEF_OK;
}

/* The pending ids are entities now. The state hash has to see that they left the set of ids without a row. */
COLD void reef__given_commit(const spawning *x)
{
    for (uint32_t i = 0; i < x->n; i++) record_mark(x->w, x->given[i].index);
    x->w->state.reserved_count -= x->n;
}

/* Makes entities that have no components. */
static void spawn_rowless(const spawning *x)
{
    reef_world *w = x->w;
    for (uint32_t i = 0; i < x->n; i++) record_put_rowless(w, spawn_id(x, i), PLACE_EMPTY);
    w->hot.empty_count += x->n;
}

bool reef__spawn_begin(spawning *x)
{
    x->t = reef__table_own(x->w, x->id);
    return x->t != NULL;
}

/* Are all values plain and in columns? */
static bool spawn_plain(const spawning *x)
{
    bool plain = !x->stored && !x->t->shape->hooked && !x->t->shape->tracked;
    for (uint32_t k = 0; k < x->count; k++) plain &= !value_is_bit(&x->values[k]);
    return plain;
}

static reef_status spawn_all(spawning *x, bool rows)
{
    reef_world *w = x->w;
    reef_status s = x->given ? reef__given_prepare(x) : reef__ids_prepare(w, x->n);
    if (s != REEF_OK) return s;
    if (!rows) return spawn_rowless(x), REEF_OK;
    if (!reef__spawn_begin(x)) return REEF_NO_MEMORY;
    const bool plain = spawn_plain(x);
    for (uint32_t made = 0; made < x->n;) {
        uint32_t more = 1;
        if (plain) more = reef__spawn_rows(x, made);
        else s = reef__spawn_row(x, made);
        if (more == 0) s = REEF_NO_MEMORY;
        if (s != REEF_OK) {
            reef__table_trim(w, x->t);
            reef__spawn_undo(x, made);
            return s;
        }
        made += more;
    }
    return REEF_OK;
}

reef_status reef__spawn_listed(reef_world *w, const char *op, uint32_t id, reef_value *values, uint32_t count,
                               uint32_t n, reef_entity *entities, const reef_entity *given)
{
    bool rows = id != TABLE_EMPTY;
    for (uint32_t k = 0; !rows && k < count; k++) rows = value_is_outside(&values[k]);
    spawning x = {.w = w,
                  .values = values,
                  .count = count,
                  .id = id,
                  .n = n,
                  .given = given,
                  .stored = reef__values_stored(values, count)};
    w->value = values;
    w->value_count = count;
    values_begin(w);
    quarantine_because(w, op, 0, (reef_entity){0, 0});
    const bool told =
        observed(w) && (values_watched(w, values, count) || reef__table_watched(w, id)); /* a copy lists no tags */
    reef_status s = told && !observe_spawn(w, id, values, count, n) ? REEF_NO_MEMORY : REEF_OK;
    const bool planned = told && s == REEF_OK;
    if (s == REEF_OK) s = spawn_all(&x, rows);
    w->value_count = 0;
    if (s == REEF_OK && planned) observe_spawned(w, id, values, count, n, given);
    if (s == REEF_OK && given) {
        reef__given_commit(&x);
    } else if (s == REEF_OK) {
        if (entities) reef__ids_peek(w, 0, n, entities);
        reef__ids_commit(w, n);
    }
    const reef_component failed = w->hook_failed;
    if (planned) observe_done(w, s == REEF_OK);
    return s == REEF_OK ? s : reef__failure(w, s, op, failed, (reef_entity){0, 0}, n);
}

COLD uint32_t reef__listed_table(reef_world *w, const reef_value *values, uint32_t count, reef_status *status)
{
    uint32_t ids[REEF_COMPONENTS_MAX], n = 0;
    for (uint32_t i = 0; i < count; i++) {
        const type *t = value_is_bit(&values[i]) ? NULL : reef__type_of(values[i].component.id);
        if (t && in_table(t)) ids[n++] = t->id;
    }
    return reef__graph_table(w, ids, n, status);
}

/* Makes n entities from a list of the caller, which may name split types. */
static reef_status spawn_into(reef_world *w, const char *op, const reef_value *values, uint32_t count, uint32_t n,
                              reef_entity *entities, const reef_entity *given)
{
    spread x;
    const reef_entity null = {0, 0};
    reef_status s = reef__spread_make(w, &x, null, values, count);
    if (s != REEF_OK) return reef__failure(w, s, op, (reef_component){0}, given ? given[0] : null, count);
    const uint32_t id = reef__listed_table(w, x.values, x.count, &s);
    s = id ? reef__spawn_listed(w, op, id, x.values, x.count, n, entities, given)
           : reef__failure(w, s, op, (reef_component){0}, given ? given[0] : null, count);
    reef__spread_free(w, &x);
    return s;
}

static reef_status spawn_many(reef_world *w, const char *op, uint32_t n, reef_entity *entities,
                              const reef_value *values, uint32_t count)
{
    const reef_entity null = {0, 0};
    if (!WORLD_GIVEN_TO(w, op)) return REEF_BAD_ARGUMENT;
    if (w->locks && w->commands == NULL) return reef__failure(w, REEF_LOCKED, op, (reef_component){0}, null, n);
    reef_status s = reef__values_check(w, NULL, op, null, values, count, VALUES_SPAWN, n);
    if (s != REEF_OK || n == 0) return s;
    if (w->commands) return reef__command_make(w, w->commands, COMMAND_SPAWN, op, null, n, entities, values, count);
    return spawn_into(w, op, values, count, n, entities, NULL);
}

reef_status reef_spawn_many_values(reef_world *w, uint32_t n, reef_entity *entities, const reef_value *values,
                                   uint32_t count)
{
    return spawn_many(w, "reef_spawn_many", n, entities, values, count);
}

/* ---- copies ---- */

/* Clones have no symmetric relations, so they don't get the mark that one is disabled. */
static bool disabled_half(uint32_t key)
{
    const type *t = reef__type_of(key & ~BIT_DISABLED);
    return t && t->relation & REEF_SYMMETRIC;
}

COLD reef_status reef__values_of(reef_world *w, reef_entity e, spread *x, bool halves, reef_component *bound)
{
    const uint32_t place = place_of(w, e);
    const reef_slot *slots = reef_slots_at(&w->hot, place);
    const shape *s = shape_of(w->family, slots[0].head.table);
    const type *stays = bound ? reef__stored_bound(w, e) : NULL;
    for (uint32_t k = s->end_slot; bound && k-- > SLOT_COLUMNS;)
        if (!s->columns[k].type->copyable) stays = s->columns[k].type;
    if (stays) return bound->id = stays->id, REEF_NOT_COPYABLE;
    if (!reef__spread_room(w, x, s->column_count + w->state.bit_count + w->state.store_count)) return REEF_NO_MEMORY;
    for (uint32_t k = SLOT_COLUMNS; k < s->end_slot; k++) {
        const type *t = s->columns[k].type;
        x->values[x->count++] = reef_value_make((reef_component){t->id}, REEF_VALUE_ONE, t->size,
                                                cell(slots, k, place_row(place), t->size));
    }
    EACH_BIT_STORE(w, bits_of(w, place), b)
    if (!(b->key & BIT_DISABLED) && bit_read(b, place) && !store_has(w, b->key, e))
        x->values[x->count++] = reef_value_make((reef_component){b->key}, REEF_VALUE_DEFAULT, 0, NULL);
    x->count += reef__stored_values(w, e, x->values + x->count, halves);
    EACH_BIT_STORE(w, bits_of(w, place), b)
    if (b->key & BIT_DISABLED && bit_read(b, place) && (halves || !disabled_half(b->key)))
        x->values[x->count++] = reef_value_make((reef_component){b->key}, REEF_VALUE_DEFAULT, 0, NULL);
    return REEF_OK;
}

COLD reef_status reef__clone_into(reef_world *w, reef_entity source, uint32_t n, reef_entity *entities,
                                  const reef_entity *given)
{
    static const char op[] = "reef_clone";
    reef_component none = {0};
    uint32_t place = place_of(w, source);
    if (place == PLACE_DEAD) return reef__failure(w, REEF_NOT_ALIVE, op, none, source, n);
    spread x;
    reef_status status = reef__values_of(w, source, &x, false, &none);
    if (status != REEF_OK) return reef__failure(w, status, op, none, source, n);
    const uint32_t id = reef_slots_at(&w->hot, place)[0].head.table;
    if (n) status = reef__spawn_listed(w, op, id, x.values, x.count, n, entities, given);
    reef__spread_free(w, &x);
    return status;
}

COLD reef_status reef_clone_many(reef_world *w, reef_entity source, uint32_t n, reef_entity *entities)
{
    static const char op[] = "reef_clone";
    const reef_component none = {0};
    if (!WORLD_GIVEN(w)) return REEF_BAD_ARGUMENT;
    if (w->commands ? !reef__command_knows(w, source) : place_of(w, source) == PLACE_DEAD)
        return reef__failure(w, REEF_NOT_ALIVE, op, none, source, n);
    if (w->commands)
        return n ? reef__command_make(w, w->commands, COMMAND_CLONE, op, source, n, entities, NULL, 0) : REEF_OK;
    if (w->locks) return reef__failure(w, REEF_LOCKED, op, none, source, n);
    return reef__clone_into(w, source, n, entities, NULL);
}

/* ---- for commands ---- */

COLD reef_status reef__spawn_pending(reef_world *w, const reef_entity *ids, uint32_t n, const reef_value *values,
                                     uint32_t count)
{
    return spawn_into(w, "reef_spawn", values, count, n, NULL, ids);
}

reef_entity reef_clone(reef_world *w, reef_entity source)
{
    reef_entity e = {0, 0};
    return reef_clone_many(w, source, 1, &e) == REEF_OK ? e : (reef_entity){0, 0};
}

/* ---- one row of a known table that isn't all there is, isn't plain, or is watched by observers ---- */

row_spawner reef__row_spawner;

bool reef__value_twice(const reef_value *values, uint32_t k)
{
    for (uint32_t j = 0; j < k; j++)
        if (values[j].component.id == values[k].component.id) return true;
    return false;
}

/* Makes it where there is code for such rows (list_change.c). False: nothing was done. */
static bool row_spawn(reef_world *w, const char *op, const shape *s, const reef_value *values, uint32_t count,
                      reef_entity *e)
{
    if (observed(w) && reef__table_watched(w, s->table)) return observers_by(w)->spawn_row(w, op, s, values, count, e);
    return reef__row_spawner && reef__row_spawner(w, op, s, values, count, e);
}

/* ---- bundles ---- */

/* Sorts the parts: those of 8 bytes, of 16, of other sizes, then those without data. */
static COLD void parts_sort(reef_bundle *b)
{
    uint32_t at = 0, wide = 0;
    for (uint32_t i = 0; i < b->count; i++) wide += b->parts[i].slot != 0 && b->parts[i].size != 8;
    uint64_t *way = b->way;
    for (uint32_t class = 0; class < 3; class ++) {
        b->rest = b->parts + at;
        for (uint32_t i = at; i < b->count; i++) {
            const bundle_part p = b->parts[i];
            uint32_t c = p.slot == 0 ? 3 : p.size == 8 ? 0 : p.size == 16 ? 1 : 2;
            if (c != class) continue;
            b->parts[i] = b->parts[at];
            b->parts[at++] = p;
            if (class < 2) *way++ = (uint64_t)p.offset << 32 | p.slot * sizeof(reef_slot);
            wide -= class == 1;
        }
        if (class < 2) *way++ = wide ? WAY_MORE : WAY_END;
    }
    b->end = b->parts + at;
}

/* The bundle gets its table (NULL: it has none), and its fast path is opened if that is allowed. */
static void bundle_take(reef_bundle *b, table *t)
{
    reef_world *w = b->world;
    if (t == NULL) reef__bundles_distrust(w);
    b->t = t;
    if (b->gate.ready == w || !b->plain || t == NULL || reef__table_watched(w, b->table)) return;
    b->gate.ready = w;
    b->gate.next = w->bundles_ready;
    w->bundles_ready = &b->gate;
}

static reef_bundle *bundle_make(reef_world *w, const char *op, const reef_value *values, const uint32_t *offsets,
                                uint32_t count)
{
    const reef_entity null = {0, 0};
    spread x;
    reef_status s = reef__spread_make(w, &x, null, values, count);
    if (s != REEF_OK) return reef__failure(w, s, op, (reef_component){0}, null, count), NULL;
    const uint32_t id = reef__listed_table(w, x.values, x.count, &s);
    reef__spread_free(w, &x);
    if (id == 0) return reef__failure(w, s, op, (reef_component){0}, null, count), NULL;
    reef_bundle *b = reef__memory_zeroed(&w->family->memory, MEMORY_TABLES, bundle_bytes(count));
    table *t = b ? reef__table_own(w, id) : NULL;
    if (t == NULL) {
        reef__memory_free(&w->family->memory, MEMORY_TABLES, b, bundle_bytes(count));
        return reef__failure(w, REEF_NO_MEMORY, op, (reef_component){0}, null, count), NULL;
    }
    b->world = w;
    b->table = id;
    b->plain = b->whole = x.count == count; /* the fast path writes what the list names */
    b->gate.ready = &b->gate;
    b->parts = (bundle_part *)(void *)(b->way + count + 2);
    for (uint32_t i = 0; i < count; i++) {
        const type *c = reef__type_of(values[i].component.id);
        uint32_t slot = in_table(c) ? reef__slot_seek(w, c->id, id) : 0;
        if (slot == REEF_SLOT_TAG) slot = 0;
        b->whole &= !c->split && in_table(c);
        b->plain &= b->whole && !c->hooked && !c->tracked;
        b->parts[i] = (bundle_part){c, c->size, offsets[i], (uint16_t)slot};
    }
    b->count = count;
    bundle_take(b, t);
    return b;
}

COLD reef_bundle *reef_bundle_new(reef_world *w, const reef_bundle_part *parts, uint32_t count)
{
    static const char op[] = "reef_bundle_new";
    const reef_entity null = {0, 0};
    reef_value values[REEF_BUNDLE_MAX] = {{{0}, REEF_VALUE_ONE, 0, NULL}};
    uint32_t offsets[REEF_BUNDLE_MAX];
    if (!WORLD_GIVEN(w)) return NULL;
    if (count > REEF_BUNDLE_MAX) return reef__failure(w, REEF_LIMIT, op, (reef_component){0}, null, count), NULL;
    if (count && parts == NULL) return misuse_refuse(w, op, "the list of parts is NULL"), NULL;
    for (uint32_t i = 0; i < count; i++) {
        values[i] = reef_value_make(parts[i].component, REEF_VALUE_DEFAULT, 0, NULL);
        offsets[i] = parts[i].offset;
    }
    if (reef__values_check(w, NULL, op, null, values, count, VALUES_SPAWN, 1) != REEF_OK) return NULL;
    reef_bundle *b = bundle_make(w, op, values, offsets, count);
    if (b == NULL) return NULL;
    parts_sort(b);
    b->next = w->bundles;
    if (b->next) b->next->previous = b;
    w->bundles = b;
    return b;
}

static void bundle_drop(reef_bundle *b)
{
    reef__bundles_distrust(b->world);
    reef__memory_free(&b->world->family->memory, MEMORY_TABLES, b, bundle_bytes(b->count));
}

void reef_bundle_free(reef_bundle *b)
{
    if (b == NULL) return;
    if (b->next) b->next->previous = b->previous;
    if (b->previous) b->previous->next = b->next;
    else b->world->bundles = b->next;
    bundle_drop(b);
}

void reef__bundles_drop(reef_world *w)
{
    while (w->bundles) reef_bundle_free(w->bundles);
}

/* Takes the next index and the next row: the fast path. False: something is unusual, and nothing was done. */
INLINE bool spawn_fast(reef_world *w, table *t, reef_slot **slots, reef_entity *e, uint32_t *to)
{
    const uint32_t index = w->hot.index_count, place = t->next;
    if (UNLIKELY(index >= w->hot.fresh_end || t->append != w->hot.version || place == t->end)) return false;
    w->hot.index_count = index + 1;
    t->next = place + 1;
    *e = (reef_entity){index, 1};
    *to = place;
    *slots = t->tail;
    const handle h = handle_of(*e);
    w->hot.fresh_page[index & (RECORDS_PER_PAGE - 1)] = ((uint64_t)1 << 32) + place;
    memcpy((char *)(*slots)[SLOT_ENTITIES].block + place_word(place), &h, sizeof h);
    return true;
}

/* The same with the id that has been free longest. It isn't a part of spawn_fast, because a call in its middle would
 * cost that 7 instructions of 42. */
static NOINLINE bool spawn_recycled(reef_world *w, table *t, reef_slot **slots, reef_entity *e, uint32_t *to)
{
    const uint32_t place = t->next;
    if (t->append != w->hot.version || place == t->end || !reef__id_recycle(w, e)) return false;
    t->next = place + 1;
    *to = place;
    *slots = t->tail;
    record_put(w, *e, place);
    handle_put(*slots, place_row(place), handle_of(*e));
    return true;
}

void reef__sets_distrust(reef_world *w) { memset(w->set_cache, 0, sizeof w->set_cache); }

static COLD reef_entity bundle_slow(reef_world *w, const reef_bundle *b, const void *packed)
{
    static const char op[] = "reef_spawn_bundle";
    reef_entity e = {0, 0};
    reef_value values[REEF_BUNDLE_MAX];
    if (!WORLD_GIVEN_TO(w, op)) return e;
    if (b == NULL) return misuse_refuse(w, op, "the bundle is NULL"), e;
    if (b->world != w) return reef__failure(w, REEF_OTHER_WORLD, op, (reef_component){0}, e, 0), e;
    for (uint32_t i = 0; i < b->count; i++) {
        const bundle_part *p = &b->parts[i];
        values[i] = reef_value_make((reef_component){p->type->id}, p->size ? REEF_VALUE_ONE : REEF_VALUE_DEFAULT,
                                    p->size, p->size && packed ? (const char *)packed + p->offset : NULL);
    }
    if (b->whole && !w->commands && row_spawn(w, op, shape_of(w->family, b->table), values, b->count, &e)) return e;
    if (spawn_many(w, op, 1, &e, values, b->count) != REEF_OK) return (reef_entity){0, 0};
    /* NULL: a bundle without components has no rows */
    if (!w->commands) bundle_take((reef_bundle *)(uintptr_t)b, (table *)(uintptr_t)table_read(w, b->table));
    return e;
}

/* Writes the parts that are neither 8 nor 16 bytes wide, into the last row. */
static NOINLINE reef_entity bundle_rest(const reef_bundle *b, const char *from, reef_entity e)
{
    const reef_slot *slots = b->t->tail;
    const size_t row = place_row(b->t->next - 1);
    for (const bundle_part *p = b->rest; p < b->end; p++)
        bytes_copy((char *)slots[p->slot].block + row * p->size, from + p->offset, p->size);
    return e;
}

INLINE char *way_block(uint64_t way, const reef_slot *slots)
{
    return ((const reef_slot *)(const void *)((const char *)slots + (uint32_t)way))->block;
}

INLINE reef_entity bundle_fill(const reef_bundle *b, const reef_slot *slots, uint32_t place, const char *from,
                               reef_entity e)
{
    const uint64_t *p = b->way;
    const size_t word = place_word(place), two = word * 2;
    uint64_t way;
    for (; (way = *p++) > WAY_MORE;) memcpy(way_block(way, slots) + word, from + (size_t)(way >> 32), 8);
    if (LIKELY(way == WAY_END)) return e;
    for (; (way = *p++) > WAY_MORE;) memcpy(way_block(way, slots) + two, from + (size_t)(way >> 32), 16);
    return LIKELY(way == WAY_END) ? e : bundle_rest(b, from, e);
}

static NOINLINE reef_entity bundle_recycled(reef_world *w, const reef_bundle *b, const void *packed)
{
    reef_entity e;
    reef_slot *slots;
    uint32_t place;
    return spawn_recycled(w, b->t, &slots, &e, &place) ? bundle_fill(b, slots, place, packed, e)
                                                       : bundle_slow(w, b, packed);
}

reef_entity reef_spawn_bundle(reef_world *w, const reef_bundle *b, const void *packed)
{
    reef_entity e;
    reef_slot *slots;
    uint32_t place;
    if (UNLIKELY(b == NULL || b->gate.ready != w || packed == NULL)) return bundle_slow(w, b, packed);
    if (UNLIKELY(!spawn_fast(w, b->t, &slots, &e, &place))) return bundle_recycled(w, b, packed);
    return bundle_fill(b, slots, place, packed, e);
}

/* ---- one entity from a list ---- */

/* The key of a set of types. It doesn't depend on the order of the values. */
INLINE uint64_t set_key(const reef_value *values, uint32_t count)
{
    uint64_t key = count;
    for (uint32_t i = 0; i < count; i++)
        key += (values[i].component.id + 1) * 0x9E3779B97F4A7C15u ^ (uint64_t)values[i].component.id << 40;
    return key;
}

static COLD reef_entity spawn_slow(reef_world *w, const reef_value *values, uint32_t count)
{
    reef_entity e = {0, 0};
    if (!WORLD_GIVEN_TO(w, "reef_spawn") || spawn_many(w, "reef_spawn", 1, &e, values, count) != REEF_OK)
        return (reef_entity){0, 0};
    uint32_t id = reef_slots_at(&w->hot, place_of(w, e))[0].head.table, outside = 0;
    if (id <= TABLE_EMPTY) return e;
    for (uint32_t i = 0; i < count; i++) { /* what comes along outside of tables isn't in the set */
        const type *t = type_known(values[i].component.id);
        if (t->need_count && !reef__table_meets(w, id, t)) return e;
        outside += !in_table(t) && (value_beside(t) || store_of(w, t->id)->straight != 0);
    }
    if (shape_of(w->family, id)->component_count != count - outside) return e;
    const uint64_t key = set_key(values, count);
    set_remember(w, reef__table_watched(w, id) ? ~key : key, id);
    return e;
}

/* Is the set of these values remembered, so that they may come to its table? The table; 0: it isn't. A table that
 * observers watch is remembered under the complement of its key. */
INLINE uint32_t set_table(const reef_world *w, const reef_value *values, uint32_t count, bool watched_too)
{
    const uint64_t key = set_key(values, count);
    const uint32_t id = set_recall(w, key);
    return UNLIKELY(id == 0) && watched_too ? set_recall(w, ~key) : id;
}

/* `s`: the shape of a remembered set that nobody watches; NULL: it may be one that is watched. */
static NOINLINE reef_entity spawn_general(reef_world *w, const reef_value *values, uint32_t count, const shape *s)
{
    reef_entity e = {0, 0};
    const uint32_t id = s == NULL && observed(w) ? set_table(w, values, count, true) : 0;
    if (id) s = shape_of(w->family, id);
    return s && row_spawn(w, "reef_spawn", s, values, count, &e) ? e : spawn_slow(w, values, count);
}

/* The id and the place are known before, so that the relations can be prepared. (Row tree_build_spawn: by the general
 * path it took 5,600 instructions.) */
reef_entity reef__spawn_related(reef_world *w, const reef_value *values, uint32_t count, table *t)
{
    reef_slot *slots;
    uint32_t slot[SPAWN_FEW], place, there = 0;
    uint64_t seen = 0;
    value_store *store[SPAWN_FEW];
    const shape *s = t->shape;
    const uint32_t id = s->table;
    const bool fresh = w->hot.index_count < w->hot.fresh_end;
    reef_entity e = fresh ? (reef_entity){w->hot.index_count, 1} : reef__id_peek(w, 0);
    for (uint32_t k = 0; k < count; k++) {
        store[k] = NULL;
        if (value_again(values, k, &seen)) return spawn_slow(w, values, count);
        if (value_fits(w, s, &values[k], &slot[k])) {
            there++;
            continue;
        }
        store[k] = reef__relation_comes(w, &values[k], e, id, t->next);
        if (UNLIKELY(store[k] == NULL)) return spawn_general(w, values, count, s);
    }
    if (there != s->component_count) return spawn_slow(w, values, count);           /* another list has the same key */
    t = (table *)w->state.tables.page[id / TABLES_PER_PAGE] + id % TABLES_PER_PAGE; /* it may lie elsewhere now */
    if (UNLIKELY(!spawn_fast(w, t, &slots, &e, &place)) && !spawn_recycled(w, t, &slots, &e, &place))
        return spawn_slow(w, values, count);
    for (uint32_t k = 0; k < count; k++)
        if (store[k]) reef__relation_came(w, store[k], e, place, &values[k]);
        else value_fill(s, slots, slot[k], place, &values[k]);
    return e;
}

reef_entity reef_spawn_values(reef_world *w, const reef_value *values, uint32_t count)
{
    reef_entity e;
    uint32_t place, slot[SPAWN_FEW];
    uint64_t seen = 0;
    if (UNLIKELY(!WORLD_GIVEN(w) || count == 0 || count > SPAWN_FEW || values == NULL))
        return spawn_slow(w, values, count);
    if (UNLIKELY(w->commands != NULL)) {
        e = reef__command_row_again(w, w->commands, values, count);
        return LIKELY(e.generation != 0) ? e : spawn_slow(w, values, count);
    }
    const uint32_t id = set_table(w, values, count, false);
    if (UNLIKELY(id == 0)) return spawn_general(w, values, count, NULL);
    table *t = (table *)w->state.tables.page[id / TABLES_PER_PAGE] + id % TABLES_PER_PAGE;
    if (UNLIKELY(t->append != w->hot.version || t->next == t->end))
        return spawn_general(w, values, count, shape_of(w->family, id));
    const shape *s = t->shape;
    for (uint32_t k = 0; k < count; k++) {
        if (UNLIKELY(!value_fits(w, s, &values[k], &slot[k])))
            return w->slow & SLOW_RELATED ? reef__relations_by->spawn(w, values, count, t)
                                          : spawn_general(w, values, count, s);
        if (value_again(values, k, &seen)) return spawn_slow(w, values, count);
    }
    reef_slot *slots;
    if (UNLIKELY(!spawn_fast(w, t, &slots, &e, &place)) && !spawn_recycled(w, t, &slots, &e, &place))
        return spawn_general(w, values, count, s);
    for (uint32_t k = 0; k < count; k++) value_fill(s, slots, slot[k], place, &values[k]);
    return e;
}

reef_entity reef_create_entity(reef_world *w)
{
    reef_entity null = {0, 0}, e;
    if (!WORLD_GIVEN(w)) return null;
    if (w->commands)
        return reef__command_make(w, w->commands, COMMAND_SPAWN, "reef_create", null, 1, &e, NULL, 0) == REEF_OK ? e
                                                                                                                 : null;
    reef_status s = w->locks ? REEF_LOCKED : reef__ids_prepare(w, 1);
    if (s != REEF_OK) {
        reef__failure(w, s, "reef_create", (reef_component){0}, null, w->hot.index_count);
        return null;
    }
    e = reef__id_peek(w, 0);
    reef__ids_commit(w, 1);
    record_put_rowless(w, e, PLACE_EMPTY);
    w->hot.empty_count++;
    return e;
}
