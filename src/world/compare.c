/* Comparing two worlds: one part after the other, in the order of the state hash (reef__part_next), until something
 * differs.
 *
 * Within a part the answer is the first difference in a canonical order (by index, by name, by row), so that it depends
 * only on what the two worlds hold. Pages and blocks that both worlds hold by the same pointer are equal and are
 * skipped: comparing two forks costs what was written since they were one. */
#include "base/text_out.h"
#include "type/value.h"
#include "storage/archetype.h"
#include "storage/entity_index.h"
#include "storage/event_log.h"
#include "storage/multi_store.h"
#include "storage/place.h"
#include "storage/shared_store.h"
#include "storage/sparse_store.h"
#include "system/script.h"
#include "world/state_hash.h"
#include "world/world_pair.h"
#include "reef/event.h"
#include "reef/ref.h"
#include "reef/snapshot.h"
#include "reef/hash.h"
#include "reef/type_info.h"
#include <inttypes.h>

typedef struct comparing {
    const reef_world *world[2];
    reef_difference *found;
} comparing;

/* ---- ids ---- */

/* Says where they differ. */
static bool differs(comparing *x, uint64_t row, reef_entity e, reef_entity other)
{
    x->found->row = row;
    x->found->entity = e;
    x->found->other = other;
    return false;
}

static bool index_differs(comparing *x, uint32_t index)
{
    return differs(x, index, reef_entity_at(x->world[0], index), reef_entity_at(x->world[1], index));
}

/* Compares the records of all indices. Of an entity with a row it compares only that it has one; where the row is
 * follows from the tables, which are compared later. */
static COLD bool records_equal(comparing *x)
{
    const reef_world *a = x->world[0], *b = x->world[1];
    const uint32_t end = a->hot.index_count < b->hot.index_count ? a->hot.index_count : b->hot.index_count;
    for (uint64_t i = 0; i < end; i++) {
        const uint32_t index = (uint32_t)i;
        if (records_same(a, b, index >> REEF_RECORD_BITS)) {
            i |= RECORDS_PER_PAGE - 1;
            continue;
        }
        const uint64_t r = record_read(a, index), s = record_read(b, index);
        const bool rows = (uint32_t)r > PLACE_EMPTY && (uint32_t)s > PLACE_EMPTY;
        if (!rows && r != s) return index_differs(x, index);
    }
    return a->hot.index_count == b->hot.index_count || index_differs(x, end);
}

/* Compares the order of the free ids. The records are equal, so both worlds have the same free ids in some order. */
static bool free_ids_equal(comparing *x)
{
    free_queue a = free_queue_of(x->world[0]), b = free_queue_of(x->world[1]);
    const uint64_t number = reef__free_same(&a, &b);
    const reef_entity e = reef__free_next(&a), other = reef__free_next(&b);
    return e.generation == 0 || differs(x, number, e, other);
}

/* ---- names ---- */

/* Finds the lowest index of an entity whose name only one of the worlds has. */
static COLD bool names_equal(comparing *x)
{
    uint32_t lowest = UINT32_MAX;
    for (int side = 0; side < 2; side++)
        for (name_walk n = {0}; reef__name_walk_next(x->world[side], x->world[!side], &n);)
            if (n.entity.index < lowest) lowest = n.entity.index;
    return lowest == UINT32_MAX || index_differs(x, lowest);
}

/* Clocks are compared by their 64-bit hash: they are a few numbers, and a collision is out of the question. */
static COLD bool time_equal(const comparing *x)
{
    const state *a = &x->world[0]->state, *b = &x->world[1]->state;
    return a->ticks == b->ticks && a->time_ns == b->time_ns && a->seed == b->seed &&
           reef__clocks_hash(x->world[0]) == reef__clocks_hash(x->world[1]);
}

/* Scripts are compared by their hash, as clocks are. */
static COLD bool scripts_equal(const comparing *x)
{
    uint64_t n[2];
    return reef__scripts_hash(x->world[0], &n[0]) == reef__scripts_hash(x->world[1], &n[1]) && n[0] == n[1];
}

static bool single_equal(comparing *x)
{
    const reef_entity a = reef_single_entity(x->world[0]), b = reef_single_entity(x->world[1]);
    return reef_entity_equal(a, b) || differs(x, 0, a, b);
}

/* ---- tables ---- */

static void table_tell(reef_difference *d, const void *components, uint32_t count)
{
    d->table_count = count < 64 ? count : 64;
    memcpy(d->table, components, d->table_count * sizeof *d->table);
}

static bool row_differs(comparing *x, const chunk_pair *c, uint32_t row)
{
    reef_entity e[2] = {{0, 0}, {0, 0}};
    for (int side = 0; side < 2; side++)
        if (row < c->rows[side]) e[side] = slot_entities(c->slots[side])[row];
    return differs(x, (uint64_t)c->number * REEF_BLOCK_ROWS + row, e[0], e[1]);
}

/* Compares one array of a table: its handles (ROWS), a column, or the bits of a key. The handles come first, so that
 * the rows of all others are equal. */
static bool array_equal(comparing *x, const part_walk *p)
{
    chunk_pair c = p->table;
    const type *t = p->of.kind == REEF_HASH_COLUMN ? reef__type_of(p->of.component.id) : NULL;
    uint32_t k[2] = {SLOT_ENTITIES, SLOT_ENTITIES};
    for (int side = 0; t && side < 2; side++) k[side] = reef__slot_seek(x->world[side], t->id, c.t[side]->shape->table);
    if (k[0] == REEF_SLOT_TAG || (t && t->resets)) return true;
    uint64_t masks[BIT_WORDS] = {0};
    for (bool more = chunk_pair_first(&c); more; more = chunk_pair_next(&c)) {
        const uint32_t rows = c.rows[0] < c.rows[1] ? c.rows[0] : c.rows[1];
        const bool some = t || p->of.kind == REEF_HASH_ROWS ? chunk_pair_differ(&c, t, k[0], k[1], masks)
                                                            : chunk_pair_bits_differ(&c, p->key.key, masks);
        const uint32_t row = some ? mask_first(masks) : rows;
        if (row < rows || c.rows[0] != c.rows[1]) return row_differs(x, &c, row < rows ? row : rows);
    }
    return true;
}

/* ---- stores. The rows are equal, and so are the bits that say who has a value. ---- */

/* Reports a difference of a value in a store, with the place of the entity's row in the first world. */
static COLD bool value_differs(comparing *x, reef_entity e)
{
    const reef_world *w = x->world[0];
    const uint32_t place = place_of(w, e);
    uint64_t row = place_row(place);
    if (place_unit(place) > place_unit(PLACE_EMPTY)) {
        const table *t = table_read(w, unit_slots(w, place_unit(place))[0].head.table);
        for (uint32_t unit = t->first; unit != place_unit(place); unit = unit_slots(w, unit)[0].head.next)
            row += REEF_BLOCK_ROWS;
        table_tell(x->found, t->shape->component, t->shape->component_count);
    }
    return differs(x, row, e, e);
}

/* The entity of the lowest index, below that of `lowest`, whose value in `s` differs in the other store or is missing
 * there. */
static COLD reef_entity store_lowest(const value_store *s, const value_store *other, reef_entity lowest,
                                     const uint32_t *firsts, const uint32_t *other_firsts)
{
    const type *t = reef__type_of(s->component ? s->component : other->component);
    const bool valued = t->size && !t->resets;
    for (uint32_t page = 0; page < s->values.count; page++) {
        if (!s->shared && page < other->values.count && s->values.page[page] == other->values.page[page]) continue;
        store_place at = {.slot = 0};
        while (reef__store_each(s, page, &at)) {
            if (!reef_entity_is_null(lowest) && at.entity.index >= lowest.index) continue;
            const void *same = reef__store_nth(other, at.entity, at.number);
            if (same == NULL || (valued && at.value != same && !reef__value_equal(t, at.value, same)))
                lowest = at.entity;
            else if (s->shared &&
                     shared_first_index(s, firsts, at.entity) != shared_first_index(other, other_firsts, at.entity))
                lowest = at.entity;
        }
    }
    return lowest;
}

static bool store_equal(comparing *x, uint32_t component)
{
    const value_store *s[2] = {store_of(x->world[0], component), store_of(x->world[1], component)};
    uint32_t *firsts[2] = {NULL, NULL};
    for (int side = 0; side < 2; side++)
        if (s[side]->shared) firsts[side] = reef__shared_firsts(x->world[side], s[side]);
    reef_entity e = {0, 0};
    for (int side = 0; side < 2; side++) e = store_lowest(s[side], s[!side], e, firsts[side], firsts[!side]);
    for (int side = 0; side < 2; side++) reef__shared_firsts_free(x->world[side], s[side], firsts[side]);
    return reef_entity_is_null(e) || value_differs(x, e);
}

/* Compares the events of one type that wait for a system, and how far the systems have read. */
static COLD bool events_equal(comparing *x, uint32_t component)
{
    const type *t = reef__type_of(component);
    const reef_entity none = {0, 0};
    reef_events r[2] = {{.missed = 0}, {.missed = 0}};
    uint64_t lag[2] = {0, 0};
    for (int side = 0; side < 2; side++) {
        const event_store *s = reef__events_of(x->world[side], component);
        if (s) r[side] = reef__events_waiting(x->world[side], s), lag[side] = reef__events_lag_hash(x->world[side], s);
    }
    for (uint64_t n = 0;; n++) {
        const char *p = reef_next_event(&r[0]), *q = reef_next_event(&r[1]);
        if (p == NULL && q == NULL) break;
        if (p == NULL || q == NULL || (t->size && !reef__value_equal(t, p, q))) return differs(x, n, none, none);
    }
    return lag[0] == lag[1] || differs(x, UINT64_MAX, none, none);
}

/* ---- the whole ---- */

static bool part_equal(comparing *x, const part_walk *p)
{
    switch (p->of.kind) {
    case REEF_HASH_IDS: return records_equal(x) && free_ids_equal(x);
    case REEF_HASH_NAMES: return names_equal(x);
    case REEF_HASH_TIME: return time_equal(x);
    case REEF_HASH_SINGLE: return single_equal(x);
    case REEF_HASH_EVENTS: return events_equal(x, p->of.component.id);
    case REEF_HASH_SCRIPTS: return scripts_equal(x);
    case REEF_HASH_ROWS:
    case REEF_HASH_COLUMN:
    case REEF_HASH_SWITCH:
    case REEF_HASH_DISABLED: return array_equal(x, p);
    case REEF_HASH_STORE: return store_equal(x, p->of.component.id);
    case REEF_HASH_TYPE: break; /* it sums up others */
    }
    return true;
}

COLD bool reef_equal(const reef_world *a, const reef_world *b, reef_difference *difference)
{
    reef_difference unwanted;
    comparing x = {{a, b}, difference ? difference : &unwanted};
    part_walk p = {.stage = 0};
    *x.found = (reef_difference){0};
    if (!WORLD_GIVEN(a) || !WORLD_GIVEN(b)) return false;
    if (a == b) return true;
    bool equal = reef__table_merge_begin(&p.tables, a, b);
    while (equal && reef__part_next(&p)) {
        if ((equal = part_equal(&x, &p))) continue;
        x.found->kind = p.of.kind;
        x.found->component = p.of.component;
        if (p.of.table) table_tell(x.found, p.of.table, p.of.table_count);
    }
    reef__table_merge_end(&p.tables);
    return equal;
}

/* ---- a difference as text ---- */

static void say_pair(text_out *out, const reef_difference *d)
{
    const reef_entity e[2] = {d->entity, d->other};
    for (int side = 0; side < 2; side++) {
        if (side) reef__text_put(out, " and ");
        if (reef_entity_is_null(e[side])) reef__text_put(out, "none");
        else reef__text_put(out, "%" PRIu32 "v%" PRIu32, e[side].index, e[side].generation);
    }
}

static void say_place(text_out *out, const reef_difference *d)
{
    reef__text_put(out, " (table ");
    for (uint32_t i = 0; i < d->table_count; i++)
        reef__text_put(out, "%s%s", i ? ", " : "", reef_type_name(d->table[i]));
    reef__text_put(out, "%s, row %" PRIu64 ")", d->table_count ? "" : "without components", d->row);
}

static void say_ids(text_out *out, const reef_difference *d)
{
    bool none = reef_entity_is_null(d->entity) && reef_entity_is_null(d->other);
    if (none)
        reef__text_put(
            out, "Index %" PRIu64 " differs: whether it is free, reserved or used up, or its next generation", d->row);
    else if (reef_entity_is_null(d->entity) || reef_entity_is_null(d->other) || d->entity.index == d->other.index) {
        reef__text_put(out, "Index %" PRIu64 " differs: entities ", d->row);
        say_pair(out, d);
        if (reef_entity_equal(d->entity, d->other)) reef__text_put(out, ", one without components");
    } else {
        reef__text_put(out, "Free id %" PRIu64 " differs: ", d->row);
        say_pair(out, d);
    }
}

COLD size_t reef_difference_text(const reef_difference *d, char *text, size_t size)
{
    text_out out = {text, text ? size : 0, 0};
    if (out.size) text[0] = 0;
    if (d == NULL) return 0;
    reef_entity e = reef_entity_is_null(d->entity) ? d->other : d->entity;
    switch (d->kind) {
    case REEF_HASH_IDS: say_ids(&out, d); break;
    case REEF_HASH_NAMES:
        reef__text_put(&out, "The name of entity %" PRIu32 "v%" PRIu32 " differs", e.index, e.generation);
        break;
    case REEF_HASH_TIME:
        reef__text_put(&out, "The ticks, the time, the seed or the progress of a phase or system differ");
        break;
    case REEF_HASH_EVENTS:
        reef__text_put(&out, "The events %s differ: ", reef_type_name(d->component));
        if (d->row == UINT64_MAX) reef__text_put(&out, "a system has read more of them or fewer");
        else reef__text_put(&out, "number %" PRIu64 " of those that wait", d->row);
        break;
    case REEF_HASH_SCRIPTS: reef__text_put(&out, "The scripts that wait for their end differ"); break;
    case REEF_HASH_SINGLE:
        reef__text_put(&out, "The entities with the singletons differ: ");
        say_pair(&out, d);
        break;
    case REEF_HASH_ROWS:
        reef__text_put(&out, "The entities differ: ");
        say_pair(&out, d);
        say_place(&out, d);
        break;
    case REEF_HASH_DISABLED:
        reef__text_put(&out, "The mark disabled%s%s of entity %" PRIu32 "v%" PRIu32 " differs",
                       d->component.id ? " " : "", d->component.id ? reef_type_name(d->component) : "", e.index,
                       e.generation);
        say_place(&out, d);
        break;
    case REEF_HASH_COLUMN:
    case REEF_HASH_SWITCH:
    case REEF_HASH_STORE:
    case REEF_HASH_TYPE:
        reef__text_put(&out, "%s of entity %" PRIu32 "v%" PRIu32 " differs", reef_type_name(d->component), e.index,
                       e.generation);
        say_place(&out, d);
        break;
    default: reef__text_put(&out, "No difference is known"); break;
    }
    return out.length;
}
