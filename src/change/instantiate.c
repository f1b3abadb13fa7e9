/* Copies of trees: prefabs and their instances, and clones.
 *
 *   collect   the entities of the tree, each behind its parent (the *nodes*), and what a copy of each gets: a list of
 *             values, as for clones. Values that name entities of the tree are copied aside, and *patches* say where.
 *   make      node by node, n rows each. Before row i its patches are written: the handles of copy i.
 *   commit    the ids are taken, and observers are told.
 *
 * The ids of all copies are known before the first is made: number k * n + i of the next ones is copy i of node k. So
 * relations can be made in any order, and if something fails, the rows are unmade from the last one on, as for a single
 * spawn. */
#include "change/instantiate.h"
#include "type/value.h"
#include "storage/archetype.h"
#include "storage/entity_index.h"
#include "storage/error.h"
#include "storage/known_types.h"
#include "storage/multi_store.h"
#include "storage/name_index.h"
#include "storage/observed.h"
#include "storage/place.h"
#include "storage/quarantine.h"
#include "storage/relation_index.h"
#include "storage/row_bits.h"
#include "storage/shared_store.h"
#include "storage/sparse_store.h"
#include "storage/split_columns.h"
#include "storage/table.h"
#include "storage/value_arena.h"
#include "change/apply.h"
#include "change/command.h"
#include "change/destroy.h"
#include "change/instance.h"
#include "change/spawn.h"
#include "change/value_stage.h"
#include "reef/relation.h"
#include "reef/world.h"
#include "reef/type_info.h"
#include <stdlib.h>

enum {
    COPIES_ALIKE = 256, /* most copies that commands make together */
    COPIES_VALUES = 16  /* most values of one in a run */
};

typedef struct copied_node {
    reef_entity source;
    uint32_t table;
    uint64_t first, count;   /* its values */
    uint64_t patch, patches; /* its patches */
    bool rowless;            /* its copies have nothing at all */
    uint32_t made;           /* rows that were made */
    spawning rows;
} copied_node;

typedef struct copied_patch {
    char *at; /* of a handle */
    uint32_t node;
} copied_patch;

typedef struct node_number { /* of an entity's index; these are ordered by it */
    uint32_t index, node;
} node_number;

typedef struct copying {
    reef_world *w;
    const char *op;
    bool instance;
    bool together; /* only if the rows of a node may be made at once */
    uint32_t n;
    copied_node *nodes;
    node_number *by_index;
    reef_value *values;
    copied_patch *patches;
    reef_entity *ids;   /* of all copies: id k * n + i is copy i of node k */
    value_arena *aside; /* values that were copied */
    uint64_t node_count, node_room, value_count, value_room, patch_count, patch_room, id_room, sorted_room;
    reef_component failed; /* the type because of which it failed */
} copying;

/* ---- memory ---- */

/* Memory for a value that is copied aside. NULL: there is none. */
static char *aside_take(copying *x, size_t bytes, size_t align)
{
    return reef__arena_room(&x->w->family->memory, &x->aside, bytes + align, 4096)
               ? reef__arena_take(x->aside, bytes, align)
               : NULL;
}

static void copying_free(copying *x)
{
    memory *m = &x->w->family->memory;
    while (x->aside) reef__arena_drop(m, &x->aside);
    reef__memory_free(m, MEMORY_OTHER, x->nodes, (size_t)x->node_room * sizeof *x->nodes);
    reef__memory_free(m, MEMORY_OTHER, x->by_index, (size_t)x->sorted_room * sizeof *x->by_index);
    reef__memory_free(m, MEMORY_OTHER, x->values, (size_t)x->value_room * sizeof *x->values);
    reef__memory_free(m, MEMORY_OTHER, x->patches, (size_t)x->patch_room * sizeof *x->patches);
    reef__memory_free(m, MEMORY_OTHER, x->ids, (size_t)x->id_room * sizeof *x->ids);
}

/* ---- collecting ---- */

static bool node_add(copying *x, reef_entity e)
{
    if (!reef__list_room(x->w, &x->nodes, x->node_count, &x->node_room, 1, sizeof *x->nodes)) return false;
    x->nodes[x->node_count++] = (copied_node){.source = e};
    return true;
}

/* Lists the tree, breadth first and children in their order. */
static bool nodes_collect(copying *x, reef_entity root)
{
    const value_store *s = store_of(x->w, reef_id(ChildOf).id);
    if (!node_add(x, root)) return false;
    for (uint64_t k = 0; k < x->node_count; k++) {
        const reef_entity parent = x->nodes[k].source;
        for (source_walk walk = {.run = {0}}; source_walk_next(&walk, s, parent);)
            for (uint32_t i = 0; i < walk.run.count; i++)
                if (!node_add(x, walk.run.sources[i])) return false;
    }
    return true;
}

static int node_compare(const void *a, const void *b)
{
    const node_number *x = a, *y = b;
    return x->index < y->index ? -1 : x->index > y->index;
}

static bool nodes_sort(copying *x)
{
    if (!reef__list_room(x->w, &x->by_index, 0, &x->sorted_room, x->node_count, sizeof *x->by_index)) return false;
    for (uint32_t k = 0; k < x->node_count; k++) x->by_index[k] = (node_number){x->nodes[k].source.index, k};
    qsort(x->by_index, (size_t)x->node_count, sizeof *x->by_index, node_compare);
    return true;
}

/* The node of an entity; UINT32_MAX: it isn't in the tree. */
static uint32_t node_of(const copying *x, reef_entity e)
{
    uint64_t low = 0, high = x->node_count;
    while (low < high) {
        const uint64_t mid = low + (high - low) / 2;
        if (x->by_index[mid].index < e.index) low = mid + 1;
        else high = mid;
    }
    const uint32_t k = low < x->node_count ? x->by_index[low].node : UINT32_MAX;
    return k != UINT32_MAX && reef_entity_equal(x->nodes[k].source, e) ? k : UINT32_MAX;
}

/* ---- what a copy gets ---- */

static bool patch_add(copying *x, char *at, uint32_t node)
{
    if (!reef__list_room(x->w, &x->patches, x->patch_count, &x->patch_room, 1, sizeof *x->patches)) return false;
    x->patches[x->patch_count++] = (copied_patch){at, node};
    return true;
}

static bool gets_value(copying *x, reef_value v)
{
    if (!reef__list_room(x->w, &x->values, x->value_count, &x->value_room, 1, sizeof *x->values)) return false;
    x->values[x->value_count++] = v;
    return true;
}

/* Does some field of kind REEF_ENTITY name an entity of the tree? With `to`, patches are added for the copy there. */
static bool fields_walk(copying *x, const type *t, const char *value, char *to, bool *ok)
{
    const reef_field *fields = REEF_ACQUIRE_POINTER(&t->fields);
    bool some = false;
    for (uint32_t i = 0; fields && i < t->field_count; i++) {
        if (fields[i].kind != REEF_ENTITY) continue;
        for (uint32_t at = 0; at < fields[i].bytes; at += (uint32_t)sizeof(reef_entity)) {
            reef_entity e;
            memcpy(&e, value + fields[i].offset + at, sizeof e);
            const uint32_t k = e.generation ? node_of(x, e) : UINT32_MAX;
            some |= k != UINT32_MAX;
            if (to && k != UINT32_MAX && !patch_add(x, to + fields[i].offset + at, k)) *ok = false;
        }
    }
    return some;
}

/* Adds a value of the source; where it names entities of the tree, a copy of it with patches. False: no memory. */
static bool value_take_over(copying *x, reef_value v)
{
    const type *t = v.data ? reef__type_of(v.component.id) : NULL;
    const uint32_t n = v.kind == VALUE_SPAN ? v.size : 1;
    bool ok = true, some = false;
    if (t == NULL || t->hooked || v.kind == VALUE_HELD) return gets_value(x, v);
    for (uint32_t i = 0; i < n; i++) some |= fields_walk(x, t, (const char *)v.data + (size_t)i * t->size, NULL, &ok);
    if (!some) return gets_value(x, v);
    char *copy = aside_take(x, (size_t)n * t->size, t->align > 16 ? t->align : 16);
    if (copy == NULL) return false;
    memcpy(copy, v.data, (size_t)n * t->size);
    for (uint32_t i = 0; i < n; i++)
        (void)fields_walk(x, t, (const char *)v.data + (size_t)i * t->size, copy + (size_t)i * t->size, &ok);
    v.data = copy;
    return ok && gets_value(x, v);
}

/* Adds the relations of one type. Those to entities of the tree become relations of the copy, others are kept; of
 * symmetric ones only the former, since others would have to change as well. */
static bool relations_take_over(copying *x, uint64_t k, const type *t, const char *first, uint32_t n)
{
    uint32_t kept = 0;
    if (k == 0 && x->instance && (t->id == reef_id(ChildOf).id || t->id == reef_id(InstanceOf).id)) return true;
    char *copy = aside_take(x, (size_t)n * t->size, t->align > 16 ? t->align : 16);
    if (copy == NULL) return false;
    for (uint32_t i = 0; i < n; i++) {
        char *to = copy + (size_t)kept * t->size;
        memcpy(to, first + (size_t)i * t->size, t->size);
        relation_value *v = (relation_value *)(void *)to;
        const uint32_t target = node_of(x, v->target);
        if (target == UINT32_MAX && (t->relation & REEF_SYMMETRIC)) continue;
        v->place = 0;
        if (target != UINT32_MAX && !patch_add(x, to, target)) return false;
        kept++;
    }
    const bool one = (t->relation & REEF_EXCLUSIVE) != 0;
    return kept == 0 || gets_value(x, reef_value_make((reef_component){t->id}, one ? VALUE_MOVED : VALUE_SPAN,
                                                      one ? t->size : kept, copy));
}

/* Does a copy of node k lack the component that this mark disables, although the node has it? */
static bool disabled_lost(const copying *x, uint64_t k, uint32_t key)
{
    const uint32_t c = key & ~BIT_DISABLED;
    const type *t = key & BIT_DISABLED ? reef__type_of(c) : NULL;
    if (t == NULL) return false;
    if (x->instance && c == reef_id(ReefPrefab).id) return true;
    if (x->instance && k == 0 && (c == reef_id(ChildOf).id || c == reef_id(InstanceOf).id)) return true;
    if (!(t->relation & REEF_SYMMETRIC)) return false;
    const reef_entity e = x->nodes[k].source;
    const value_store *s = store_of(x->w, c);
    for (uint32_t i = 0; i < (s->multi ? reef__multi_values(s, e) : 1); i++)
        if (node_of(x, ((const relation_value *)reef__store_nth(s, e, i))->target) != UINT32_MAX) return false;
    return true;
}

/* Does a value of the call replace this component of the root, or take it away? */
static bool replaced(uint32_t component, const reef_value *values, uint32_t count)
{
    const type *t = component & BIT_DISABLED ? NULL : reef__type_of(component);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t c = values[i].component.id;
        if (c == component || (t && t->owner == c) ||
            (component == (c | BIT_DISABLED) && values[i].kind == REEF_VALUE_REMOVE))
            return true;
    }
    return false;
}

/* The value of the call for a component; NULL: none, or one that takes it away. */
static const reef_value *value_named(uint32_t component, const reef_value *values, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (values[i].component.id == component && values[i].kind != REEF_VALUE_REMOVE) return &values[i];
    return NULL;
}

/* Adds a value of node k, which is a relation or isn't. */
static bool value_copy(copying *x, uint64_t k, reef_value v)
{
    const type *t = v.data ? reef__type_of(v.component.id) : NULL;
    if (t == NULL || t->relation == 0) return value_take_over(x, v);
    return relations_take_over(x, k, t, v.data, v.kind == VALUE_SPAN ? v.size : 1);
}

/* Of several values, that of the call replaces the first one: adds it, and behind it the others. */
static bool values_led(copying *x, uint64_t k, const reef_value *first, reef_value v)
{
    v.data = (const char *)v.data + reef__type_of(v.component.id)->size;
    v.size--;
    return gets_value(x, *first) && value_copy(x, k, v);
}

static bool is_span(const reef_value *v) { return v->kind == VALUE_SPAN && v->size > 1; }

/* Lists what copies of node k get: the values of the call that replace the first of several, and all that none of the
 * call replaces. */
static reef_status node_values(copying *x, uint64_t k, const reef_value *values, uint32_t count)
{
    spread all;
    bool ok = true;
    const reef_status s = reef__values_of(x->w, x->nodes[k].source, &all, true, &x->failed);
    if (s != REEF_OK) return s;
    for (uint32_t i = 0; ok && i < all.count; i++) {
        const reef_value v = all.values[i];
        const reef_value *first = is_span(&v) ? value_named(v.component.id, values, count) : NULL;
        if (first) ok = values_led(x, k, first, v);
        if (replaced(v.component.id, values, count) || disabled_lost(x, k, v.component.id)) continue;
        ok = value_copy(x, k, v);
    }
    reef__spread_free(x->w, &all);
    return ok ? REEF_OK : REEF_NO_MEMORY;
}

/* The table of copies of node k, and whether they have a row. */
static reef_status node_table(copying *x, uint64_t k, const reef_value *values, uint32_t count)
{
    reef_world *w = x->w;
    copied_node *node = &x->nodes[k];
    const shape *s = shape_of(w->family, reef_slots_at(&w->hot, place_of(w, node->source))[0].head.table);
    uint32_t ids[2 * REEF_COMPONENTS_MAX], n = 0;
    reef_status status = REEF_OK;
    for (uint32_t i = 0; i < s->component_count; i++)
        if (!(x->instance && s->component[i] == reef_id(ReefPrefab).id) && !replaced(s->component[i], values, count))
            ids[n++] = s->component[i];
    for (uint32_t i = 0; i < count; i++) {
        const type *t = reef__type_of(values[i].component.id);
        if (values[i].kind != REEF_VALUE_REMOVE && in_table(t)) ids[n++] = t->id;
    }
    node->table = reef__graph_table(w, ids, n, &status);
    node->count = x->value_count - node->first;
    node->patches = x->patch_count - node->patch;
    node->rowless = node->table == TABLE_EMPTY;
    for (size_t i = 0; i < node->count && node->rowless; i++)
        node->rowless = !value_is_outside(&x->values[node->first + i]);
    return node->table ? REEF_OK : status;
}

/* Is a component among these values of the list? */
static bool listed(const copying *x, uint64_t from, uint64_t to, uint32_t component)
{
    for (uint64_t i = from; i < to; i++)
        if (x->values[i].component.id == component) return true;
    return false;
}

static reef_status values_collect(copying *x, const reef_value *values, uint32_t count)
{
    spread list; /* the values of the call, with the parts of split types, and with what comes along */
    reef_status s = reef__spread_make(x->w, &list, x->nodes[0].source, values, count);
    if (s != REEF_OK) return s;
    for (uint64_t k = 0; s == REEF_OK && k < x->node_count; k++) {
        const reef_value *own = list.values;
        const uint32_t n = k ? 0 : list.count;
        bool ok = true;
        x->nodes[k].first = x->value_count;
        x->nodes[k].patch = x->patch_count;
        s = node_values(x, k, own, n);
        const uint64_t led = x->value_count;
        for (uint32_t i = 0; s == REEF_OK && ok && i < n; i++)
            if (own[i].kind != REEF_VALUE_REMOVE && !listed(x, x->nodes[k].first, led, own[i].component.id))
                ok = gets_value(x, own[i]);
        if (s == REEF_OK && ok && k == 0 && x->instance && !replaced(reef_id(InstanceOf).id, own, n)) {
            relation_value *link = (relation_value *)(void *)aside_take(x, sizeof *link, 16);
            ok = link && gets_value(x, reef_value_make(reef_id(InstanceOf), VALUE_MOVED, sizeof *link, link));
            if (link) *link = (relation_value){x->nodes[0].source, 0};
        }
        if (s == REEF_OK) s = ok ? node_table(x, k, own, n) : REEF_NO_MEMORY;
    }
    reef__spread_free(x->w, &list);
    return s;
}

/* ---- making ---- */

static const reef_entity *ids_of(const copying *x, uint64_t k) { return x->ids + k * x->n; }

/* Names the ids of all copies. With `given` roots, the new ids are those of the other nodes. */
static reef_status ids_collect(copying *x, const reef_entity *given)
{
    const uint64_t all = x->node_count * x->n, fresh = given ? all - x->n : all;
    if (all > UINT32_MAX) return REEF_LIMIT;
    const reef_status s = reef__ids_prepare(x->w, (uint32_t)fresh);
    if (s != REEF_OK) return s;
    if (!reef__list_room(x->w, &x->ids, 0, &x->id_room, all, sizeof *x->ids)) return REEF_NO_MEMORY;
    if (given) memcpy(x->ids, given, x->n * sizeof *given);
    (void)reef__ids_peek(x->w, 0, (uint32_t)fresh, x->ids + (all - fresh));
    return REEF_OK;
}

static void patches_put(const copying *x, const copied_node *node, uint32_t i)
{
    for (uint64_t p = node->patch; p < node->patch + node->patches; p++)
        memcpy(x->patches[p].at, &ids_of(x, x->patches[p].node)[i], sizeof(reef_entity));
}

/* ---- many rows at once ----
 *
 * Where no value has hooks, stamps or company (REEF_MULTI), columns are filled as for reef_spawn_many, and what lies
 * outside of them follows: bits by words, stored values one behind the other. (1,000 copies of a template with five
 * children took 320 ns an entity row by row.) Everything is prepared before the first row of a chunk is made. */

/* A value outside of the columns. */
typedef struct value_outside {
    const type *t; /* of a stored value; NULL: only a bit, or a mark */
    value_store *s;
    uint32_t key;     /* of the bit; 0: none */
    const void *data; /* what the slot gets */
    uint32_t target;  /* the node whose copy is the target; UINT32_MAX: what the data says */
    void *held;       /* the shared value that gets one more holder; NULL: none */
} value_outside;

/* May the rows of the node be made at once? */
static bool rows_at_once(const copying *x, const copied_node *node)
{
    const shape *s = node->rows.t->shape;
    if (s->hooked || s->tracked) return false;
    for (size_t i = 0; i < node->count; i++) {
        const reef_value *v = &x->values[node->first + i];
        const type *t = v->component.id & BIT_DISABLED ? NULL : reef__type_of(v->component.id);
        if (t == NULL || !t->stored) continue;
        const bool moved = t->relation ? v->kind == VALUE_MOVED : v->kind == VALUE_HELD || v->kind == REEF_VALUE_ONE;
        if (!moved || t->home == REEF_MULTI || t->tracked || (t->hooked && v->kind != VALUE_HELD) ||
            (t->home == REEF_SHARED && v->kind != VALUE_HELD))
            return false;
    }
    for (uint64_t p = node->patch; p < node->patch + node->patches; p++) {
        size_t i = 0;
        while (i < node->count &&
               !(x->values[node->first + i].data == x->patches[p].at && x->values[node->first + i].kind == VALUE_MOVED))
            i++;
        if (i == node->count) return false; /* the handle lies within a value, and not at its beginning */
    }
    return true;
}

/* Lists what lies outside of the columns, and prepares the stores. `more` has room for all. False: no memory. */
static bool outside_prepare(copying *x, const copied_node *node, value_outside *more, uint32_t *count)
{
    reef_world *w = x->w;
    const uint32_t k = (uint32_t)(node - x->nodes);
    *count = 0;
    for (size_t i = 0; i < node->count; i++) {
        const reef_value *v = &x->values[node->first + i];
        const bool mark = (v->component.id & BIT_DISABLED) != 0;
        const type *t = mark ? NULL : reef__type_of(v->component.id);
        if (t && !t->bit && !t->stored) continue;
        value_outside *o = &more[(*count)++];
        *o = (value_outside){.key = mark || t->bit ? v->component.id : 0, .data = v->data, .target = UINT32_MAX};
        if (mark || !t->stored) continue;
        if (!reef__store_prepare_add(w, t->id, ids_of(x, k), x->n)) return false;
        if (t->relation) (void)reef__relation_ready(w, (value_store *)(uintptr_t)store_of(w, t->id));
        o->t = t;
        o->s = (value_store *)(uintptr_t)store_of(w, t->id);
        if (v->kind == VALUE_HELD) o->held = (void *)(uintptr_t)v->data, o->data = &o->held;
        for (uint64_t p = node->patch; p < node->patch + node->patches; p++)
            if (x->patches[p].at == v->data) o->target = x->patches[p].node;
    }
    for (uint32_t i = 0; i < *count; i++) /* making a store may move the others */
        if (more[i].t) more[i].s = (value_store *)(uintptr_t)store_of(w, more[i].t->id);
    return true;
}

/* Gives copies `first` to `first` + n - 1 of a node their values outside of the columns. */
static void outside_put(copying *x, const copied_node *node, const value_outside *o, uint32_t first, uint32_t n)
{
    reef_world *w = x->w;
    const reef_entity *e = ids_of(x, (uint64_t)(node - x->nodes)),
                      *target = o->target == UINT32_MAX ? NULL : ids_of(x, o->target);
    for (uint32_t i = first; i < first + n; i++) {
        char *slot = reef__store_raw(w, o->t->id, e[i]);
        if (o->s->size) bytes_copy(slot, o->data, o->s->size); /* a tag has no data */
        if (target) memcpy(slot, &target[i], sizeof *target);
        if (o->held) reef__shared_hold(o->held);
        store_put(w, o->s, e[i]);
    }
    cold_added(w, o->t);
}

static reef_status rows_make(copying *x, copied_node *node)
{
    reef_world *w = x->w;
    table *t = node->rows.t;
    call_memory taken;
    uint32_t count;
    bool ok =
        reef__call_memory_take(&w->family->memory, &taken, (size_t)node->count * sizeof(value_outside), PLAIN_ALIGN);
    if (!ok) return REEF_NO_MEMORY;
    value_outside *more = taken.at;
    ok = outside_prepare(x, node, more, &count);
    while (ok && node->made < x->n) {
        uint64_t rows[BIT_WORDS] = {0};
        ok = reef__table_room(w, t);
        if (!ok) break;
        const uint32_t unit = t->last, row = place_row(t->next), room = t->end - t->next, rest = x->n - node->made,
                       n = rest < room ? rest : room;
        for (uint32_t i = row; i < row + n; i++) rows[i / 64] |= (uint64_t)1 << i % 64;
        for (uint32_t i = 0; ok && i < count; i++)
            ok = more[i].key == 0 || reef__bits_prepare_rows(w, more[i].key, node->table, unit, rows, true);
        if (!ok) break;
        const uint32_t made = reef__spawn_rows(&node->rows, node->made);
        ASSERT(made == n);
        for (uint32_t i = 0; i < count; i++) {
            if (more[i].key) reef__bits_commit_rows(w, more[i].key, unit, rows, true);
            if (more[i].t) outside_put(x, node, &more[i], node->made, n);
        }
        node->made += made;
    }
    reef__call_memory_free(&w->family->memory, &taken);
    return ok ? REEF_OK : REEF_NO_MEMORY;
}

/* The values of a node. (No node may have any.) */
static reef_value *values_of_node(const copying *x, const copied_node *node)
{
    return x->values ? x->values + node->first : NULL;
}

static reef_status node_make(copying *x, uint64_t k, const reef_entity *given)
{
    copied_node *node = &x->nodes[k];
    reef_status s = REEF_OK;
    node->rows = (spawning){.w = x->w,
                            .values = values_of_node(x, node),
                            .count = (uint32_t)node->count,
                            .id = node->table,
                            .n = x->n,
                            .first_id = (uint32_t)(k - (given != NULL)) * x->n,
                            .given = k ? NULL : given,
                            .stored = reef__values_stored(values_of_node(x, node), (uint32_t)node->count)};
    if (k == 0 && given) s = reef__given_prepare(&node->rows);
    if (s != REEF_OK || node->rowless) return s;
    if (!reef__spawn_begin(&node->rows)) return REEF_NO_MEMORY;
    const bool at_once = rows_at_once(x, node);
    if (at_once) s = rows_make(x, node);
    else if (x->together) s = REEF_ABSENT;
    while (s == REEF_OK && node->made < x->n) {
        patches_put(x, node, node->made);
        s = reef__spawn_row(&node->rows, node->made);
        node->made += s == REEF_OK;
    }
    if (s != REEF_OK) reef__table_trim(x->w, node->rows.t);
    return s;
}

static void copies_commit(copying *x, const reef_entity *given)
{
    reef_world *w = x->w;
    for (uint64_t k = 0; k < x->node_count; k++) {
        if (!x->nodes[k].rowless) continue;
        for (uint32_t i = 0; i < x->n; i++) record_put_rowless(w, ids_of(x, k)[i], PLACE_EMPTY);
        w->hot.empty_count += x->n;
    }
    if (given) reef__given_commit(&x->nodes[0].rows);
    reef__ids_commit(w, (uint32_t)((x->node_count - (given != NULL)) * x->n));
    for (uint64_t k = 1; w->state.name_count && k < x->node_count; k++)
        for (uint32_t i = 0; i < x->n; i++) {
            const char *name = reef_name(w, x->nodes[k].source);
            if (name) reef__name_put(w, ids_of(x, k)[i], name);
        }
}

/* How many names the copies get: those of children. */
static uint64_t names_count(const copying *x)
{
    uint64_t n = 0;
    for (uint64_t k = 1; x->w->state.name_count && k < x->node_count; k++)
        n += reef_name(x->w, x->nodes[k].source) != NULL;
    return n * x->n;
}

/* Tells observers. What they need was reserved. */
static COLD void copies_tell(copying *x)
{
    for (uint64_t k = 0; k < x->node_count; k++) {
        const copied_node *node = &x->nodes[k];
        const reef_value *v = values_of_node(x, node);
        const bool planned = observe_spawn(x->w, node->table, v, (uint32_t)node->count, x->n);
        ASSERT(planned);
        if (!planned) continue;
        observe_spawned(x->w, node->table, v, (uint32_t)node->count, x->n, ids_of(x, k));
        observe_done(x->w, true);
    }
}

static reef_status copies_fill(copying *x, const reef_entity *given)
{
    reef_world *w = x->w;
    uint64_t k = 0;
    reef_status s = ids_collect(x, given);
    const bool told = observed(w);
    if (s == REEF_OK && !reef__names_prepare(w, names_count(x))) s = REEF_NO_MEMORY;
    if (s == REEF_OK && told && !observe_reserve_deaths(w, x->node_count * x->n)) s = REEF_NO_MEMORY;
    if (s != REEF_OK) return s;
    w->value = x->values;
    w->value_count = (uint32_t)x->value_count;
    for (; s == REEF_OK && k < x->node_count; k++) s = node_make(x, k, given);
    w->value_count = 0;
    if (s != REEF_OK) {
        while (k-- > 0) reef__spawn_undo(&x->nodes[k].rows, x->nodes[k].made);
        return s;
    }
    if (told) observe_open(w);
    copies_commit(x, given);
    if (told) copies_tell(x), observe_close(w);
    return REEF_OK;
}

reef_status reef__tree_copy(reef_world *w, const char *op, reef_entity root, bool instance, uint32_t n,
                            reef_entity *roots, const reef_entity *given, const reef_value *values, uint32_t count)
{
    copying x = {.w = w, .op = op, .instance = instance, .n = n};
    if (place_of(w, root) == PLACE_DEAD) return reef__failure(w, REEF_NOT_ALIVE, op, (reef_component){0}, root, 0);
    if (instance && n == 1 && (given || count) && reef__instance_make(w, root, given, roots, values, count))
        return REEF_OK;
    values_begin(w);
    quarantine_because(w, op, 0, root);
    reef_status s = instance ? reef_world_use(w, reef_id(InstanceOf)) : REEF_OK;
    if (s == REEF_OK && !(nodes_collect(&x, root) && nodes_sort(&x))) s = REEF_NO_MEMORY;
    if (s == REEF_OK) s = values_collect(&x, values, count);
    if (s == REEF_OK && n) s = copies_fill(&x, given);
    if (s == REEF_OK && roots && n) memcpy(roots, x.ids, n * sizeof *roots);
    copying_free(&x);
    if (s == REEF_OK) return s;
    return reef__failure(w, s, op, w->hook_failed.id ? w->hook_failed : x.failed, root, n);
}

/* ---- runs of commands ---- */

/* The first copies of a run that are of one prefab and whose ids are pending: their ids, and how many they are. */
static uint32_t copies_alike(const reef_world *w, const packed_copies *run, reef_entity *ids)
{
    const size_t id = sizeof(reef_entity);
    uint32_t n = 0;
    for (const char *at = run->rows; n < run->n && n < COPIES_ALIKE; at += run->stride, n++) {
        if (memcmp(at + id, run->rows + id, id) != 0) break;
        memcpy(&ids[n], at, id);
        if (!reef__id_pending(w, ids[n])) break;
    }
    return n;
}

/* Lists the values of n copies as arrays, which lie in the arena of x. False: there is no memory. */
static bool values_gather(copying *x, const packed_copies *run, reef_value *values)
{
    const char *from = run->rows + 2 * sizeof(reef_entity);
    for (uint32_t i = 0; i < run->count; i++) {
        const type *t = reef__type_of(run->values[i].component.id);
        values[i] = run->values[i];
        if (values[i].kind != REEF_VALUE_ONE || t->size == 0) continue;
        char *to = aside_take(x, (size_t)x->n * t->stride, t->align > 16 ? t->align : 16);
        if (to == NULL) return false;
        for (uint32_t k = 0; k < x->n; k++) memcpy(to + (size_t)k * t->stride, from + k * run->stride, t->size);
        values[i].kind = REEF_VALUE_ARRAY;
        values[i].data = to;
        from += t->size;
    }
    return true;
}

uint32_t reef__copies_together(reef_world *w, const packed_copies *run)
{
    reef_entity ids[COPIES_ALIKE], prefab;
    reef_value values[COPIES_VALUES];
    memcpy(&prefab, run->rows + sizeof prefab, sizeof prefab);
    copying x = {.w = w, .op = "reef_instantiate", .instance = true, .together = true};
    if (run->count > COPIES_VALUES || observed(w) || place_of(w, prefab) == PLACE_DEAD ||
        reef__relation_sources(store_of(w, reef_id(ChildOf).id), prefab))
        return 0;
    x.n = copies_alike(w, run, ids);
    if (x.n < 2) return 0;
    reef_status s = reef__type_ready(w, reef_id(InstanceOf).id);
    for (uint32_t i = 0; s == REEF_OK && i < run->count; i++) s = reef__type_ready(w, run->values[i].component.id);
    values_begin(w);
    quarantine_because(w, x.op, 0, prefab);
    if (s == REEF_OK && !(nodes_collect(&x, prefab) && nodes_sort(&x) && values_gather(&x, run, values)))
        s = REEF_NO_MEMORY;
    if (s == REEF_OK) s = values_collect(&x, values, run->count);
    if (s == REEF_OK) s = copies_fill(&x, ids);
    copying_free(&x);
    return s == REEF_OK ? x.n : 0;
}

/* ---- the calls ---- */

static reef_status copies_make(reef_world *w, const char *op, reef_entity root, bool instance, uint32_t n,
                               reef_entity *roots, const reef_value *values, uint32_t count)
{
    if (!WORLD_GIVEN_TO(w, op)) return REEF_BAD_ARGUMENT;
    if (w->commands ? !reef__command_knows(w, root) : place_of(w, root) == PLACE_DEAD)
        return reef__failure(w, REEF_NOT_ALIVE, op, (reef_component){0}, root, 0);
    if (w->running || (w->locks && w->commands == NULL))
        return reef__failure(w, REEF_LOCKED, op, (reef_component){0}, root, n);
    if (instance && n == 1 && count == 0 && w->commands == NULL && reef__instance_make(w, root, NULL, roots, NULL, 0))
        return REEF_OK;
    const reef_status s = reef__values_check(w, NULL, op, root, values, count, VALUES_COPY, n);
    if (s != REEF_OK) return s;
    if (w->commands && n == 0) return REEF_OK;
    if (w->commands)
        return reef__command_make(w, w->commands, instance ? COMMAND_INSTANTIATE : COMMAND_CLONE_TREE, op, root, n,
                                  roots, values, count);
    return reef__tree_copy(w, op, root, instance, n, roots, NULL, values, count);
}

reef_status reef_instantiate_values(reef_world *w, reef_entity prefab, uint32_t n, reef_entity *roots,
                                    const reef_value *values, uint32_t count)
{
    return copies_make(w, "reef_instantiate", prefab, true, n, roots, values, count);
}

reef_status reef_instantiate(reef_world *w, reef_entity prefab, uint32_t n, reef_entity *roots)
{
    return copies_make(w, "reef_instantiate", prefab, true, n, roots, NULL, 0);
}

reef_status reef_clone_tree(reef_world *w, reef_entity root, uint32_t n, reef_entity *roots)
{
    return copies_make(w, "reef_clone_tree", root, false, n, roots, NULL, 0);
}

/* ---- making templates ---- */

typedef struct tagged {
    uint32_t table;
    bool row;        /* it has one */
    uint32_t number; /* of the node */
    reef_entity e;
} tagged;

static int tagged_compare(const void *a, const void *b)
{
    const tagged *x = a, *y = b;
    if (x->table != y->table) return x->table < y->table ? -1 : 1;
    if (x->row != y->row) return y->row ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* Prepares n entities of one table to get the tag, of which `rowless` have no row; these come first. */
static reef_status tag_prepare(reef_world *w, uint32_t from, const reef_entity *e, uint32_t n, uint32_t rowless)
{
    reef_status s = REEF_OK;
    const edge *x = reef__graph_edge(w, from, reef_id(ReefPrefab).id, false, &s);
    if (x == NULL) return s;
    for (uint32_t i = 0; i < n; i++)
        if (reef__record_own(w, e[i].index) == NULL) return REEF_NO_MEMORY;
    table *to = reef__table_own(w, x->to);
    if (to == NULL || !reef__table_reserve(w, to, n)) return REEF_NO_MEMORY;
    if (n == rowless) return REEF_OK;
    return reef__leave_prepare(w, from, e + rowless, n - rowless) && reef__arrive_prepare(w, from, x->to, n)
               ? REEF_OK
               : REEF_NO_MEMORY;
}

static uint32_t source_table(const reef_world *w, reef_entity e)
{
    return reef_slots_at(&w->hot, place_of(w, e))[0].head.table;
}
static bool has_tag(const reef_world *w, reef_entity e)
{
    return reef__slot_seek(w, reef_id(ReefPrefab).id, source_table(w, e)) != 0;
}

static reef_status tags_put(copying *x, tagged *list, reef_entity *e)
{
    reef_world *w = x->w;
    uint32_t n = 0;
    for (uint32_t k = 0; k < x->node_count; k++) {
        const reef_entity source = x->nodes[k].source;
        if (!has_tag(w, source))
            list[n++] = (tagged){source_table(w, source), place_of(w, source) != PLACE_EMPTY, k, source};
    }
    qsort(list, n, sizeof *list, tagged_compare);
    for (uint32_t i = 0; i < n; i++) e[i] = list[i].e;
    for (uint32_t i = 0, more; i < n; i += more) {
        for (more = 1; i + more < n && list[i + more].table == list[i].table;) more++;
        uint32_t rowless = 0;
        while (rowless < more && !list[i + rowless].row) rowless++;
        const reef_status s = tag_prepare(w, list[i].table, &e[i], more, rowless);
        if (s != REEF_OK) return s;
    }
    if (observed(w) && !observe_reserve_changes(w, reef__type_of(reef_id(ReefPrefab).id), n)) return REEF_NO_MEMORY;
    observe_open(w);
    for (uint32_t k = 0; k < x->node_count; k++) { /* in the order of the tree, in which observers hear of it */
        if (has_tag(w, x->nodes[k].source)) continue;
        const reef_status s = reef_add_id(w, x->nodes[k].source, reef_id(ReefPrefab), NULL, NULL);
        ASSERT(s == REEF_OK); /* everything was prepared */
        (void)s;
    }
    observe_close(w);
    return REEF_OK;
}

reef_status reef_make_prefab(reef_world *w, reef_entity root)
{
    static const char op[] = "reef_make_prefab";
    copying x = {.w = w};
    tagged *list = NULL;
    if (!WORLD_GIVEN(w)) return REEF_BAD_ARGUMENT;
    if (place_of(w, root) == PLACE_DEAD) return reef__failure(w, REEF_NOT_ALIVE, op, (reef_component){0}, root, 0);
    if (w->locks || w->running) return reef__failure(w, REEF_LOCKED, op, (reef_component){0}, root, 0);
    reef_status s = reef_world_use(w, reef_id(ReefPrefab));
    quarantine_because(w, op, reef_id(ReefPrefab).id, root);
    uint64_t room = 0;
    if (s == REEF_OK && !nodes_collect(&x, root)) s = REEF_NO_MEMORY;
    if (s == REEF_OK && (!reef__list_room(w, &list, 0, &room, x.node_count, sizeof *list) ||
                         !reef__list_room(w, &x.ids, 0, &x.id_room, x.node_count, sizeof *x.ids)))
        s = REEF_NO_MEMORY;
    if (s == REEF_OK) s = tags_put(&x, list, x.ids);
    reef__memory_free(&w->family->memory, MEMORY_OTHER, list, (size_t)room * sizeof *list);
    copying_free(&x);
    return s == REEF_OK ? s : reef__failure(w, s, op, (reef_component){0}, root, 0);
}
