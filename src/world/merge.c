/* Merging: the entities of one world are added to another one. They are made in a fork of the receiving world, whose
 * state replaces that world's when everything has succeeded.
 *
 *      from  table by table, by name ──► runs of rows ──► new rows, column by column      rows with columns alone
 *                                    └─► row by row   ──► lists of values, as for clones  rows with bits or stores
 *
 * Values may hold handles of other entities. They are translated at the end, when it is known which new entity each old
 * one became. */
#include "type/type_walk.h"
#include "type/value.h"
#include "storage/archetype.h"
#include "storage/entity_index.h"
#include "storage/error.h"
#include "storage/invalidate.h"
#include "storage/known_types.h"
#include "storage/multi_store.h"
#include "storage/name_index.h"
#include "storage/relation_index.h"
#include "storage/place.h"
#include "storage/read.h"
#include "storage/shared_store.h"
#include "storage/sparse_store.h"
#include "change/multi.h"
#include "change/relation.h"
#include "change/spawn.h"
#include "query/query.h"
#include "query/query_answers.h"
#include "query/value_term.h"
#include "system/script.h"
#include "world/snapshot.h"
#include "world/world_pair.h"
#include "reef/component.h"
#include "reef/merge.h"
#include "reef/log.h"
#include "reef/type_info.h"

typedef struct became {
    uint32_t generation; /* in `from`; 0: this index didn't come along */
    reef_entity entity;  /* the entity in `to` */
} became;

struct reef_merged {
    family *family; /* the family whose memory this is */
    size_t bytes;
    uint32_t count;
    became of[]; /* by entity index in `from` */
};

typedef struct common { /* one store of shared values of `from` */
    uint32_t *firsts;   /* by slot: the lowest index of the entities that share the value */
    void **made;        /* by the slot of that index: the value in the receiving world; NULL: not yet made */
} common;

typedef struct merging {
    reef_world *to, *from;
    reef_world *w;       /* the fork of `to` in which the entities are made */
    const query *chosen; /* the entities that come; NULL: all */
    bool drop_names;
    reef_merged *who;
    common *commons; /* by store number in `from`; NULL: there are no stores */
    reef_error error;
    reef_entity made[REEF_BLOCK_ROWS];
} merging;

static const char merge_op[] = "reef_merge";

static COLD bool merge_fails(merging *x, reef_status s, uint32_t component, reef_entity e)
{
    x->error = (reef_error){.status = s, .operation = merge_op, .component = {component}, .entity = e};
    return false;
}
static COLD bool merge_short(merging *x) { return merge_fails(x, REEF_NO_MEMORY, 0, (reef_entity){0, 0}); }

reef_entity reef_merged_find(const reef_merged *m, reef_entity e)
{
    const bool merged = m && e.index < m->count && e.generation && m->of[e.index].generation == e.generation;
    return merged ? m->of[e.index].entity : (reef_entity){0, 0};
}

void reef_merged_free(reef_merged *m)
{
    if (m == NULL) return;
    family *f = m->family;
    reef__memory_free(&f->memory, MEMORY_OTHER, m, m->bytes);
    reef__family_leave(f, false);
}

static reef_merged *merged_new(family *f, uint32_t count)
{
    size_t bytes;
    if (!reef__size_multiply(count, sizeof(became), sizeof(reef_merged), &bytes)) return NULL;
    reef_merged *m = reef__memory_zeroed(&f->memory, MEMORY_OTHER, bytes);
    if (m == NULL) return NULL;
    m->family = f;
    m->bytes = bytes;
    m->count = count;
    reef__family_add(f, false);
    return m;
}

/* ---- making ---- */

/* Can values of the type be copied, and can the world hold them? The error names the first type, by name, of those that
 * don't fit. */
static bool type_fits(merging *x, const type *t)
{
    const type *named = x->error.component.id ? reef__type_of(x->error.component.id) : NULL;
    reef_status s = t->copyable || t->resets ? REEF_OK : REEF_NOT_COPYABLE;
    /* a part is ready when its type is */
    if (s == REEF_OK && t->owner == 0 && !type_is_ready(x->w, t->id)) s = reef__type_ready(x->w, t->id);
    if (s != REEF_OK && type_first(t, named) == t) merge_fails(x, s, t->id, (reef_entity){0, 0});
    return s == REEF_OK;
}

/* Gives the new entities their names, in the order of the old ones: now their parents are known. */
static bool merge_names(merging *x)
{
    for (uint32_t i = 0; x->from->state.name_count && i < x->who->count; i++) {
        const became b = x->who->of[i];
        const char *name = b.generation ? reef_name(x->from, (reef_entity){i, b.generation}) : NULL;
        const reef_status s = name ? reef_set_name(x->w, b.entity, name) : REEF_OK;
        if (s == REEF_OK || (s == REEF_NAME_TAKEN && x->drop_names)) continue;
        return s == REEF_NAME_TAKEN ? merge_fails(x, s, 0, x->w->error.entity) : merge_short(x);
    }
    return true;
}

static bool merge_spawn(merging *x, uint32_t id, const spread *all, uint32_t n, const reef_entity *e)
{
    if (reef__spawn_listed(x->w, merge_op, id, all->values, all->count, n, x->made, NULL) != REEF_OK) {
        x->error = x->w->error;
        return false;
    }
    for (uint32_t i = 0; i < n; i++) x->who->of[e[i].index] = (became){e[i].generation, x->made[i]};
    return true;
}

/* The table of these components in the receiving world. 0: one of them can't come. */
static uint32_t table_ready(merging *x, const shape *s)
{
    uint32_t ids[REEF_COMPONENTS_MAX];
    reef_status status = REEF_LIMIT;
    for (uint32_t i = 0; i < s->component_count; i++)
        if (!type_fits(x, reef__type_of(ids[i] = s->component[i]))) return 0;
    const uint32_t id = reef__graph_table(x->w, ids, s->component_count, &status);
    if (id == 0) merge_fails(x, status, 0, (reef_entity){0, 0});
    return id;
}

/* Copies the columns of split types. They have no array of whole values from which the rows could be made. */
static void parts_copy(const merging *x, const shape *s, uint32_t id, const reef_slot *slots, uint32_t row, uint32_t n)
{
    for (uint32_t k = SLOT_COLUMNS; k < s->end_slot; k++) {
        const type *t = s->columns[k].type;
        if (t->owner == 0) continue;
        const uint32_t to = reef__slot_seek(x->w, t->id, id);
        for (uint32_t i = 0; i < n; i++) {
            const uint32_t place = place_of(x->w, x->made[i]);
            char *made = cell(reef_slots_at(&x->w->hot, place), to, place_row(place), t->size);
            memcpy(made, cell(slots, k, row + i, t->size), t->size);
        }
    }
}

/* Makes n entities that have nothing but their columns. */
static bool merge_run(merging *x, const shape *s, uint32_t id, const reef_slot *slots, uint32_t row, uint32_t n)
{
    spread all;
    if (!reef__spread_room(x->w, &all, s->column_count)) return merge_short(x);
    for (uint32_t k = SLOT_COLUMNS; k < s->end_slot; k++) {
        const type *t = s->columns[k].type;
        const reef_component c = {t->id};
        all.values[all.count++] = t->owner || t->resets
                                      ? reef_value_make(c, REEF_VALUE_DEFAULT, 0, NULL)
                                      : reef_value_make(c, REEF_VALUE_ARRAY, t->size, cell(slots, k, row, t->size));
    }
    const bool ok = merge_spawn(x, id, &all, n, slot_entities(slots) + row);
    reef__spread_free(x->w, &all);
    if (ok) parts_copy(x, s, id, slots, row, n);
    return ok;
}

/* ---- rows with more than columns ---- */

/* Where the shared value that became the one of `e` is noted. */
static void **common_made(const merging *x, const value_store *s, reef_entity e)
{
    const common *c = &x->commons[s - x->from->state.stores];
    return &c->made[(uint32_t)*index_entry(s, c->firsts[slot_of(s, e)])];
}

/* What the new entity gets of a value of `e`. Of a type that a fork resets it is a default value. The first entity that
 * has a shared value brings the value itself; the others share it. */
static reef_value value_for(const merging *x, reef_entity e, const type *t, reef_value v)
{
    const value_store *s = t->home == REEF_SHARED ? store_of(x->from, t->id) : NULL;
    void *made = s ? *common_made(x, s, e) : NULL;
    if (made) return reef_value_make(v.component, VALUE_HELD, 0, made);
    if (t->resets) return reef_value_make(v.component, REEF_VALUE_DEFAULT, 0, NULL);
    return s ? reef_value_make(v.component, REEF_VALUE_ONE, t->size, v.data) : v;
}

/* Does what a list of values can't say: adds the further default values of REEF_MULTI types, and notes where the new
 * entity's shared values are. */
static bool merge_rest(merging *x, reef_entity e, const spread *all)
{
    for (uint32_t i = 0; i < all->count; i++) {
        const reef_component c = all->values[i].component;
        const type *t = c.id & BIT_DISABLED ? NULL : reef__type_of(c.id);
        const value_store *s = t && t->stored ? store_of(x->from, c.id) : NULL;
        if (s && s->shared) *common_made(x, s, e) = (void *)(uintptr_t)store_find(x->w, c.id, x->made[0]);
        if (s == NULL || !s->multi || !t->resets) continue;
        const reef_value v = reef_value_make(c, REEF_VALUE_DEFAULT, 0, NULL);
        for (uint32_t n = reef__multi_values(s, e); n > 1; n--) {
            if (reef__multi_add(x->w, merge_op, x->made[0], t, &v, NULL) == REEF_OK) continue;
            x->error = x->w->error;
            return false;
        }
    }
    return true;
}

static bool merge_row(merging *x, uint32_t id, reef_entity e)
{
    spread all;
    bool ok = true;
    if (reef__values_of(x->from, e, &all, true, NULL) != REEF_OK) return merge_short(x);
    for (uint32_t i = 0; i < all.count; i++) {
        reef_value *v = &all.values[i];
        if (v->component.id & BIT_DISABLED) continue;
        const type *t = reef__type_of(v->component.id);
        if (!in_table(t)) ok &= type_fits(x, t); /* table_ready has looked at the others */
        if (v->kind != REEF_VALUE_DEFAULT) *v = value_for(x, e, t, *v);
    }
    ok = ok && merge_spawn(x, id, &all, 1, &e) && merge_rest(x, e, &all);
    reef__spread_free(x->from, &all);
    return ok;
}

/* ---- all entities ---- */

static bool row_chosen(const merging *x, uint32_t unit, uint32_t row)
{
    return x->chosen == NULL || reef__query_place_matches(x->chosen, unit_place(unit) + row);
}

static bool merge_table(merging *x, chunk_pair c)
{
    const shape *s = c.t[0]->shape;
    const bool plain = c.t[0]->bits == 0 && !(x->from->slow & SLOW_COLD);
    uint32_t id = 0;
    for (bool more = chunk_pair_first(&c); more; more = chunk_pair_next(&c)) {
        for (uint32_t row = 0, n; row < c.rows[0]; row += n) {
            n = 1;
            if (!row_chosen(x, c.unit[0], row)) continue;
            if (id == 0 && (id = table_ready(x, s)) == 0) return false;
            while (plain && row + n < c.rows[0] && row_chosen(x, c.unit[0], row + n)) n++;
            if (plain ? !merge_run(x, s, id, c.slots[0], row, n) : !merge_row(x, id, slot_entities(c.slots[0])[row]))
                return false;
        }
    }
    return true;
}

static bool merge_tables(merging *x)
{
    table_merge tables;
    chunk_pair c;
    bool ok = reef__table_merge_begin(&tables, x->from, NULL) || merge_short(x);
    while (ok && reef__table_merge_next(&tables, &c)) ok = merge_table(x, c);
    reef__table_merge_end(&tables);
    return ok;
}

/* Makes the entities without a row, in the order of their indices. */
static bool merge_rowless(merging *x)
{
    const shape none = {0};
    const spread alone = {.count = 0};
    reef_entity e[64];
    uint32_t n = 0;
    uint64_t left = x->chosen ? 0 : x->from->hot.empty_count;
    const uint32_t id = left ? table_ready(x, &none) : TABLE_EMPTY;
    if (id == 0) return false;
    for (uint32_t index = 0; left; index++) {
        const uint64_t record = record_read(x->from, index);
        if ((uint32_t)record != PLACE_EMPTY) continue;
        e[n++] = (reef_entity){index, (uint32_t)(record >> 32)};
        left--;
        if (n < 64 && left) continue;
        if (!merge_spawn(x, id, &alone, n, e)) return false;
        n = 0;
    }
    return true;
}

static void commons_free(merging *x)
{
    memory *m = &x->w->family->memory;
    const state *from = &x->from->state;
    if (x->commons == NULL) return;
    for (uint32_t i = 1; i < from->store_count; i++) {
        common *c = &x->commons[i];
        if (c->firsts) reef__shared_firsts_free(x->from, &from->stores[i], c->firsts);
        if (c->made) reef__memory_free(m, MEMORY_OTHER, c->made, (size_t)from->stores[i].count * sizeof *c->made);
    }
    reef__memory_free(m, MEMORY_OTHER, x->commons, from->store_count * sizeof *x->commons);
}

static bool commons_make(merging *x)
{
    memory *m = &x->w->family->memory;
    const state *from = &x->from->state;
    if (from->store_count == 0) return true;
    x->commons = reef__memory_zeroed(m, MEMORY_OTHER, from->store_count * sizeof *x->commons);
    if (x->commons == NULL) return merge_short(x);
    for (uint32_t i = 1; i < from->store_count; i++) {
        const value_store *s = &from->stores[i];
        common *c = &x->commons[i];
        if (!s->shared || s->count == 0) continue;
        c->firsts = reef__shared_firsts(x->from, s);
        c->made = reef__memory_zeroed(m, MEMORY_OTHER, (size_t)s->count * sizeof *c->made);
        if (c->firsts == NULL || c->made == NULL) return merge_short(x);
    }
    return true;
}

/* ---- handles in values ---- */

/* Translates the handles in a value. */
static void value_follows(const merging *x, const type *t, const void *value)
{
    for (uint32_t i = 0; i < t->field_count; i++) {
        char *at = (char *)(uintptr_t)value + t->fields[i].offset;
        if (t->fields[i].kind != REEF_ENTITY) continue;
        for (const char *end = at + t->fields[i].bytes; at < end; at += sizeof(reef_entity)) {
            reef_entity e;
            memcpy(&e, at, sizeof e);
            e = reef_merged_find(x->who, e);
            memcpy(at, &e, sizeof e);
        }
    }
}

/* Translates the handles in all values of a type. The new rows were written by this merge, so their blocks aren't
 * shared. */
static void type_follows(const merging *x, const type *t)
{
    for (value_run r = {0}; reef__value_run_next(x->from, t, &r);) {
        for (uint32_t i = 0; i < r.count; i++) {
            const reef_entity e = reef_merged_find(x->who, r.entities[i]);
            if (reef_entity_is_null(e)) continue;
            value_follows(x, t,
                          t->stored ? reef__store_nth(store_of(x->w, t->id), e, r.at.number)
                                    : reef__value_itself(x->w, e, (reef_component){t->id}));
        }
    }
}

static void all_follow(const merging *x)
{
    for (uint32_t id = 1; id <= reef_type_count(); id++) {
        const type *t = reef__type_of(id);
        /* of a split type, its parts hold the values */
        if (t && !t->split && !t->resets && t->home != REEF_SHARED && type_names_entities(t)) type_follows(x, t);
    }
    for (uint32_t i = 1; x->commons && i < x->from->state.store_count; i++) {
        const value_store *s = &x->from->state.stores[i];
        const type *t = reef__type_of(s->component);
        void **made = type_names_entities(t) ? x->commons[i].made : NULL;
        for (uint64_t k = 0; made && k < s->count; k++)
            if (made[k]) value_follows(x, t, made[k]);
    }
}

/* Lets the scripts of the new entities start anew. */
static void scripts_forget_start(const merging *x)
{
    const uint32_t script = reef__scripts_type();
    for (uint32_t i = 0; script && i < x->who->count; i++) {
        const void *s = reef_get_id(x->w, x->who->of[i].entity, (reef_component){script});
        if (s) reef__scripts_forget_start((void *)(uintptr_t)s); /* the blocks of new rows aren't shared */
    }
}

/* ---- the call ---- */

/* The fork in which the entities are made. It has no observers and reports no errors; `to` does. NULL: the error of
 * `to` says why. */
static reef_world *merge_fork(reef_world *to)
{
    to->calling = merge_op;
    reef_world *w = reef__world_restorable(to);
    to->calling = NULL;
    if (!WORLD_GIVEN(w)) return NULL;
    w->slow &= ~(SLOW_OBSERVED | SLOW_WATCHED);
    w->untargeted = true; /* until their handles are translated, targets are those of the other world */
    for (uint32_t i = 1; i < w->state.store_count; i++)
        if (w->state.stores[i].relation) reef__relation_forget(w, &w->state.stores[i]);
    reef__names_unscope(w);
    w->config.misuse = NULL;
    w->config.log = reef_log_none;
    reef__invalidate(w, INVALIDATE_CONDITION_CHANGED);
    return w;
}

static bool merge_all(merging *x)
{
    x->who = merged_new(x->to->family, x->from->hot.index_count);
    if (x->who == NULL) return merge_short(x);
    if (!commons_make(x) || !merge_tables(x) || !merge_rowless(x)) return false;
    all_follow(x);
    scripts_forget_start(x);
    if (!reef__relations_end_dead(x->w) || !reef__relations_ready(x->w)) return merge_short(x);
    if (!merge_names(x)) return false;
    return reef__world_adopt(x->to, x->w, true) || merge_short(x);
}

static COLD reef_status merge_from(reef_world *to, reef_world *from, const query *chosen, bool drop_names,
                                   reef_merged **merged)
{
    reef_world *w = merge_fork(to);
    if (!WORLD_GIVEN(w)) return to->error.status;
    merging x = {.to = to, .from = from, .w = w, .chosen = chosen, .drop_names = drop_names};
    const bool ok = merge_all(&x);
    commons_free(&x);
    reef_world_free(w);
    if (ok && merged) *merged = x.who;
    else reef_merged_free(x.who);
    if (ok) return REEF_OK;
    x.error.operation = merge_op;
    return reef__failure_record(to, &x.error);
}

/* Makes the query in `from`. What is wrong with it becomes the error of `to`. */
static COLD reef_query query_chosen(reef_world *to, reef_world *from, const char *text)
{
    const reef_world_config config = from->config;
    const reef_error last = from->error;
    from->config.misuse = NULL;
    from->config.log = reef_log_none;
    const reef_query q = reef_query_new(from, text);
    from->config = config;
    if (reef_query_is_null(q)) {
        reef_error e = from->error;
        e.operation = merge_op;
        reef__failure_record(to, &e);
    }
    from->error = last;
    return q;
}

COLD reef_status reef_merge(reef_world *to, reef_world *from, const reef_merge_desc *desc, reef_merged **merged)
{
    if (merged) *merged = NULL;
    if (!WORLD_GIVEN(to)) return REEF_BAD_ARGUMENT;
    if (!WORLD_GIVEN(from)) return misuse_refuse(to, merge_op, "there is no world to merge");
    if (from == to) return misuse_refuse(to, merge_op, "a world can't be merged with itself");
    const bool locked = to->running || from->running || world_engaged(to) || to->time_owner;
    if (locked) return reef__refuse(to, REEF_LOCKED, merge_op);
    if (desc == NULL || desc->query == NULL) return merge_from(to, from, NULL, desc && desc->drop_names, merged);
    const reef_query q = query_chosen(to, from, desc->query);
    if (reef_query_is_null(q)) return to->error.status;
    reef_status s = REEF_NO_MEMORY;
    query *chosen = query_of(from, q, &s);
    if (chosen && query_update(chosen)) s = merge_from(to, from, chosen, desc->drop_names, merged);
    else s = reef__query_refuse(to, merge_op, chosen, s);
    reef_query_free(from, q);
    return s;
}
