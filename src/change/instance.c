/* One instance of a prefab, by a straight path.
 *
 * A program that spawns a bullet or a building makes one instance at a time. Where copying is no more than memcpy, the
 * template is read where it lies: its tree by the index of ChildOf, its columns by the rows of its entities, and what
 * is outside of them by the bits of these rows. A copy of a row lies in the table without the tag ReefPrefab, whose
 * columns have the same slots. Nothing is remembered from one call to the next, so nothing has to be forgotten when the
 * template changes.
 *
 *   look      the nodes of the tree, and the values outside of their rows; anything unusual ends it
 *   prepare   ids, room in the last chunks of the tables, words of bits, pages of values
 *   make      row by row, in the order of the general path (src/change/instantiate.c); nothing can fail any more
 *
 * Whatever refuses has changed nothing visible, and the general path decides. (One instance with five children took
 * 46,000 instructions there, since it lists the values of each node and finds everything by their types.) */
#include "change/instance.h"
#include "type/value.h"
#include "storage/archetype.h"
#include "storage/entity_index.h"
#include "storage/observed.h"
#include "storage/place.h"
#include "storage/quarantine.h"
#include "storage/relation_index.h"
#include "storage/row_bits.h"
#include "storage/sparse_store.h"
#include "storage/table.h"
#include "reef/hierarchy.h"
#include "reef/prefab.h"
#include "reef/ref.h"

enum { NODES_MOST = 24, OUTSIDE_MOST = 64 };
#define NOT_A_NODE UINT32_MAX

/* An entity of the template, and its copy. */
typedef struct instance_node {
    reef_entity source, copy;
    uint32_t parent; /* number of its node */
    uint32_t place;  /* of the source */
    uint32_t table, to_place;
    uint32_t before;   /* how many nodes before go to that table */
    table *to;         /* the world's part of the table, while nothing is prepared */
    uint32_t end;      /* of its values in instance_plan.outside */
    uint32_t children; /* how many nodes lie below it */
} instance_node;

/* What a node has beside its row: a bit, and maybe a value in a store. */
typedef struct instance_outside {
    uint32_t bit;   /* number of its bit store */
    value_store *s; /* NULL: only the bit */
    const void
        *from;       /* the value; NULL: `target` says all, or it is InstanceOf, which links the root to the template */
    uint32_t target; /* of a relation to an entity of the template: its node; else NOT_A_NODE */
} instance_outside;

typedef struct instance_plan {
    reef_world *w;
    uint32_t node_count, outside_count;
    uint32_t child_of, instance_of; /* ids */
    bool moved;                     /* something was prepared by a call that may move tables and values */
    bool fresh;                     /* the ids are the next indices, on a page of records that is open */
    instance_node node[NODES_MOST];
    instance_outside outside[OUTSIDE_MOST];
} instance_plan;

INLINE table *table_there(const reef_world *w, uint32_t id)
{
    return (table *)w->state.tables.page[id / TABLES_PER_PAGE] + id % TABLES_PER_PAGE;
}

/* The table of copies of the rows of a table; TABLE_NONE: they aren't made by memcpy alone. */
static uint32_t instance_table(reef_world *w, uint32_t from)
{
    reef_status s = REEF_OK;
    const shape *x = shape_of(w->family, from);
    bool plain = !x->hooked && !x->tracked;
    for (uint32_t k = SLOT_COLUMNS; k < x->end_slot; k++) plain &= !type_names_entities(x->columns[k].type);
    if (!plain) return TABLE_NONE;
    if (reef__slot_seek(w, reef_id(ReefPrefab).id, from) == 0) return from;
    const edge *e = reef__graph_edge(w, from, reef_id(ReefPrefab).id, true, &s);
    return e && e->to > TABLE_EMPTY ? e->to : TABLE_NONE;
}

/* ---- looking ---- */

/* Adds what lies below node k. */
INLINE bool children_list(instance_plan *x, uint32_t k, const value_store *child_of)
{
    const reef_entity parent = x->node[k].source;
    const uint32_t n = tree_head_of(child_of, parent.index).count, end = x->node_count + n;
    x->node[k].children = n;
    if (LIKELY(n == 0)) return true;
    if (n > NODES_MOST || end > NODES_MOST) return false;
    for (source_walk walk = {.run = {0}}; x->node_count < end && source_walk_next(&walk, child_of, parent);)
        for (uint32_t i = 0; i < walk.run.count; i++) {
            x->node[x->node_count].source = walk.run.sources[i];
            x->node[x->node_count++].parent = k;
        }
    return x->node_count == end;
}

/* The node whose copy becomes the target of a relation of node k. */
static uint32_t target_node(const instance_plan *x, uint32_t k, uint32_t relation, reef_entity target)
{
    if (relation == x->child_of) return x->node[k].parent;
    for (uint32_t i = 0; i < x->node_count; i++)
        if (reef_entity_equal(x->node[i].source, target)) return i;
    return NOT_A_NODE;
}

/* Adds a value of node k, whose bit is on. False: a copy of it is more than its bytes. */
INLINE bool outside_add(instance_plan *x, uint32_t k, uint32_t key, uint32_t number)
{
    reef_world *w = x->w;
    value_store *s = (value_store *)(uintptr_t)store_of(w, key & ~BIT_DISABLED);
    instance_outside *o = &x->outside[x->outside_count];
    if (key & BIT_DISABLED || watched(w, key) || x->outside_count == OUTSIDE_MOST) return false;
    *o = (instance_outside){.bit = number, .target = NOT_A_NODE};
    x->outside_count++;
    if (s->component == 0) return true; /* a switch */
    if (s->relation ? !s->straight || s->unindexed : !s->direct || !s->paged || type_names_entities(reef__type_of(key)))
        return false;
    o->s = s;
    if (key == x->child_of && s->size == sizeof(relation_value)) { /* the parent is known, and there is no data */
        o->target = x->node[k].parent;
        return true;
    }
    o->from = reef_store_find(s, x->node[k].source);
    if (s->relation) o->target = target_node(x, k, key, ((const relation_value *)o->from)->target);
    return true;
}

/* Adds what bit store `number` has of node k. False: a copy of it is more than its bytes. */
INLINE bool outside_bit(instance_plan *x, uint32_t k, uint32_t number)
{
    const bit_store *b = &x->w->state.bits[number];
    if (!bit_read(b, x->node[k].place)) return true;
    if (k == 0 && (b->key == x->child_of || b->key == x->instance_of)) return true;
    return outside_add(x, k, b->key, number);
}

static bool outside_list(instance_plan *x, uint32_t k, uint64_t mask)
{
    reef_world *w = x->w;
    if (LIKELY(w->state.bit_count <= 32)) { /* the walk below, of which only the innermost loop is left: bit_mask */
        for (uint32_t left = (uint32_t)mask; left && bits_first(left) < w->state.bit_count; left &= left - 1)
            if (!outside_bit(x, k, bits_first(left))) return false;
    } else {
        EACH_BIT_STORE(w, mask, b)
        if (!outside_bit(x, k, (uint32_t)(b - w->state.bits))) return false;
    }
    if (k == 0) {
        value_store *s = (value_store *)(uintptr_t)store_of(w, x->instance_of);
        if (!s->straight || s->unindexed || watched(w, x->instance_of) || x->outside_count == OUTSIDE_MOST)
            return false;
        const uint32_t number = bit_number_of(w, x->instance_of);
        if (number == 0) return false;
        x->outside[x->outside_count++] = (instance_outside){.bit = number - 1, .s = s, .target = NOT_A_NODE};
    }
    x->node[k].end = x->outside_count;
    return true;
}

/* Has an entity what no bit of its row tells: a name, unless it is the root, or a value in REEF_COLD? */
static COLD bool node_has_more(const instance_plan *x, uint32_t k)
{
    reef_world *w = x->w;
    EACH_COLD_STORE(w, s)
    if (cold_has(s, x->node[k].source)) return true;
    return k && w->state.name_count && reef_name(w, x->node[k].source);
}

/* Lists the template. A copy of node k comes behind those of earlier nodes that go to the same table. */
static bool template_look(instance_plan *x)
{
    reef_world *w = x->w;
    const value_store *child_of = store_of(w, x->child_of);
    uint32_t last = TABLE_NONE, to = TABLE_NONE; /* the table of the node before, and that of its copy */
    const bool more = w->state.name_count != 0 || w->slow & SLOW_COLD;
    uint64_t mask = 0;
    if (child_of->unindexed) return false;
    for (uint32_t k = 0; k < x->node_count; k++) /* all are known before one asks which of them a relation names */
        if (!children_list(x, k, child_of)) return false;
    for (uint32_t k = 0; k < x->node_count; k++) {
        instance_node *n = &x->node[k];
        n->place = (uint32_t)record_read(w, n->source.index); /* it is alive, as whoever has a relation */
        if (n->place < 2 * PLACE_EMPTY) return false;         /* it has no row */
        const uint32_t from = reef_slots_at(&w->hot, n->place)[0].head.table;
        if (from != last) {
            last = from;
            mask = table_there(w, from)->bits;
            to = from > TABLE_EMPTY ? instance_table(w, from) : TABLE_NONE;
            if (to == TABLE_NONE || (observed(w) && reef__table_watched(w, to))) return false;
        }
        n->table = to;
        if (!outside_list(x, k, mask) || (UNLIKELY(more) && node_has_more(x, k))) return false;
    }
    return true;
}

/* The values of the call are written over those of the root. False: one isn't plain, or the template hasn't got it. */
static bool values_fit(const reef_world *w, uint32_t to, const reef_value *values, uint32_t count)
{
    const shape *s = shape_of(w->family, to);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t k = slot_find(w, values[i].component.id, to);
        if (k == 0 || k == REEF_SLOT_TAG || values[i].kind != REEF_VALUE_ONE || values[i].size != s->columns[k].size)
            return false;
    }
    return true;
}

/* ---- making ---- */

/* Makes room for rows at the end of a table, and finds the place of the last of them: it may lie in the chunk that
 * begins when the present one is full. False: there is no memory. */
static COLD bool room_make(reef_world *w, uint32_t id, uint32_t rows, uint32_t *place)
{
    table *t = reef__table_own(w, id);
    if (t == NULL) return false;
    if (t->next == t->end && rows == 1 ? !reef__table_room(w, t) : !reef__table_reserve(w, t, rows)) return false;
    reef__table_lease(w, t);
    const uint32_t left = t->end - t->next;
    *place = rows <= left ? t->next + rows - 1 : unit_place(t->spare) + (rows - 1 - left);
    return t->append == w->hot.version;
}

/* Where the row of a node goes, behind those of earlier nodes: this world alone holds the last chunk of its table.
 * `grows`: the table may get room, which may move values of the caller that lie in it. */
INLINE bool place_choose(instance_plan *x, uint32_t k, bool grows)
{
    reef_world *w = x->w;
    instance_node *n = &x->node[k];
    uint32_t i = k;
    while (i > 0 && x->node[i - 1].table != n->table) i--;
    n->before = i > 0 ? x->node[i - 1].before + 1 : 0;
    const table *t = i > 0 && !x->moved ? x->node[i - 1].to : table_read(w, n->table);
    n->to = (table *)(uintptr_t)t;
    if (LIKELY(t != NULL && t->append == w->hot.version && t->end - t->next > n->before)) {
        n->to_place = t->next + n->before;
        return true;
    }
    x->moved = true;
    return grows && room_make(w, n->table, n->before + 1, &n->to_place);
}

static COLD bool bit_make(instance_plan *x, const instance_node *n, uint32_t bit)
{
    reef_world *w = x->w;
    x->moved = true;
    return reef__bit_prepare(w, w->state.bits[bit].key, n->table, n->to_place, true);
}

static COLD bool page_make(instance_plan *x, const instance_node *n, const value_store *s)
{
    x->moved = true; /* the template's value may lie on that page */
    return reef__store_prepare_add(x->w, s->component, &n->copy, 1);
}

INLINE bool outside_prepare_one(instance_plan *x, const instance_node *n, const instance_outside *o, uint64_t *last)
{
    reef_world *w = x->w;
    const bit_store *b = &w->state.bits[o->bit];
    const uint32_t unit = place_unit(n->to_place);
    const uint64_t words = (uint64_t)unit << 32 | o->bit; /* a unit belongs to one table */
    if (*last != words && !bit_is_ready(w, b, (x->moved ? table_there(w, n->table) : n->to)->bits, unit) &&
        !bit_make(x, n, o->bit))
        return false;
    *last = words;
    if (o->s == NULL) return true;
    const uint32_t page = n->copy.index >> o->s->bits;
    return LIKELY(page_is_ready(w, o->s, page)) || page_make(x, n, o->s);
}

static bool instance_prepare(instance_plan *x, const reef_entity *given, bool grows)
{
    reef_world *w = x->w;
    reef_entity ids[NODES_MOST];
    uint64_t last = UINT64_MAX;
    const uint32_t fresh = x->node_count - (given != NULL);
    reef_entity *id = ids + (given != NULL);
    x->fresh = w->hot.index_count + fresh <= w->hot.fresh_end; /* as for spawn_fast (src/change/spawn.c) */
    if (LIKELY(x->fresh)) {
        for (uint32_t i = 0; i < fresh; i++) id[i] = (reef_entity){w->hot.index_count + i, 1};
    } else {
        if (reef__ids_prepare(w, fresh) != REEF_OK) return false;
        reef__ids_peek(w, 0, fresh, id);
    }
    if (given && reef__record_own(w, given->index) == NULL) return false;
    if (given) ids[0] = *given;
    for (uint32_t k = 0, from = 0; k < x->node_count; k++) {
        instance_node *n = &x->node[k];
        n->copy = ids[k];
        if (!place_choose(x, k, grows)) return false;
        for (; from < n->end; from++)
            if (!outside_prepare_one(x, n, &x->outside[from], &last)) return false;
    }
    return true;
}

INLINE void outside_make(instance_plan *x, uint32_t k, const instance_outside *o)
{
    reef_world *w = x->w;
    const instance_node *n = &x->node[k];
    bit_turn_on(&w->state.bits[o->bit], n->to_place);
    if (o->s == NULL) return;
    char *to = slot_value(o->s, n->copy.index);
    const void *from = o->from && UNLIKELY(x->moved) ? reef_store_find(o->s, n->source) : o->from;
    if (o->s->relation) {
        relation_value *v = (relation_value *)(void *)to;
        const bool named = o->target != NOT_A_NODE;
        const relation_value *was = from;
        *v = (relation_value){named ? x->node[o->target].copy : was ? was->target : x->node[0].source, 0};
        if (UNLIKELY(o->s->size != sizeof *v)) memcpy(v + 1, was + 1, o->s->size - sizeof *v); /* its data */
    } else if (o->s->size) {
        bytes_copy(to, from, o->s->size);
    }
    store_put(w, o->s, n->copy);
}

static void instance_commit(instance_plan *x, const reef_entity *given, const reef_value *values, uint32_t count)
{
    reef_world *w = x->w;
    value_store *child_of = (value_store *)(uintptr_t)store_of(w, x->child_of);
    for (uint32_t k = 0, from = 0; k < x->node_count; k++) {
        const instance_node *n = &x->node[k];
        table *t = LIKELY(!x->moved) ? n->to : table_there(w, n->table);
        if (UNLIKELY(t->next == t->end)) (void)reef__table_room(w, t); /* it was reserved */
        const uint32_t row = place_row(n->to_place);
        ASSERT(t->append == w->hot.version && t->next == n->to_place);
        row_copy(t->shape, t->tail, row, reef_slots_at(&w->hot, n->place), place_row(n->place));
        for (uint32_t i = 0; k == 0 && i < count; i++)
            bytes_copy(cell(t->tail, slot_find(w, values[i].component.id, n->table), row, values[i].size),
                       values[i].data, values[i].size);
        ((reef_entity *)t->tail[SLOT_ENTITIES].block)[row] = n->copy;
        record_put(w, n->copy, n->to_place);
        t->next++;
        if (n->children) reef__relation_expect(w, child_of, n->copy, n->children);
        for (; from < n->end; from++) outside_make(x, k, &x->outside[from]);
    }
    if (given) record_mark(w, given->index), w->state.reserved_count--;
    if (LIKELY(x->fresh)) w->hot.index_count += x->node_count - (given != NULL);
    else reef__ids_commit(w, x->node_count - (given != NULL));
}

bool reef__instance_make(reef_world *w, reef_entity prefab, const reef_entity *given, reef_entity *root,
                         const reef_value *values, uint32_t count)
{
    instance_plan x;
    if (GUARDED(w)) return false;
    x.w = w;
    x.node_count = 1;
    x.outside_count = 0;
    x.moved = false;
    x.child_of = reef_id(ChildOf).id;
    x.instance_of = reef_id(InstanceOf).id;
    x.node[0].source = prefab;
    x.node[0].parent = NOT_A_NODE;
    if (!template_look(&x) || !values_fit(w, x.node[0].table, values, count)) return false;
    if (!instance_prepare(&x, given, count == 0)) {
        for (uint32_t k = 0; k < x.node_count && x.moved; k++)
            if (table_read(w, x.node[k].table)) reef__table_trim(w, table_there(w, x.node[k].table));
        return false;
    }
    instance_commit(&x, given, values, count);
    if (root) *root = x.node[0].copy;
    return true;
}
