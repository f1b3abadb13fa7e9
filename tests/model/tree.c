/* Prefabs and copies of trees: the subject is the root, o->n says how many copies. */
#include "apply.h"
#include "link.h"
#include "reef/prefab.h"
#include <stdlib.h>

enum { TREE_MOST = 20000 }; /* nodes; the model's worlds have fewer entities */

typedef struct tree {
    uint32_t index[TREE_MOST];
    uint32_t count;
} tree;

/* An entity and all that is below it, breadth first. */
static void tree_collect(const ref_world *r, uint32_t root, tree *t)
{
    static ref_links list;
    t->index[0] = root;
    t->count = 1;
    for (uint32_t k = 0; k < t->count; k++) {
        ref_sources(r, RELATION_CHILD, t->index[k], &list);
        if (t->count + list.count > TREE_MOST) abort();
        for (uint32_t i = 0; i < list.count; i++) t->index[t->count++] = list.at[i]->source;
    }
}

static uint32_t node_of(const tree *t, uint32_t index)
{
    uint32_t k = 0;
    while (k < t->count && t->index[k] != index) k++;
    return k;
}

/* Would too many entities come, for the numbers that the operation has? */
static bool is_too_much(const model *m, const op *o)
{
    static tree t;
    const reef_entity e = subject_of(m, o);
    if ((o->option & TREE_STEP) || !ref_alive(&m->reference, e)) return false;
    tree_collect(&m->reference, e.index, &t);
    return t.count > TREE_MADE || t.count * o->n > TREE_MADE;
}

static bool is_clone(const op *o) { return (o->option & TREE_CLONE) != 0; }

/* ---- reef ---- */

void core_INSTANTIATE(model *m, const op *o, outcome *out)
{
    given g;
    reef_entity *roots = o->option & TREE_UNASKED ? NULL : out->made;
    out->status = REEF_OK;
    if (is_too_much(m, o)) return;
    given_make(m, o, o->n, &g);
    out->status = is_clone(o) ? reef_clone_tree(m->world, subject_of(m, o), o->n, roots)
                              : reef_instantiate_values(m->world, subject_of(m, o), o->n, roots, g.v, g.count);
    out->made_count = roots && out->status == REEF_OK ? o->n : 0;
    given_free(&g, !is_clone(o) && out->status == REEF_OK && o->n > 0);
}

void core_MAKE_PREFAB(model *m, const op *o, outcome *out)
{
    out->status = reef_make_prefab(m->world, subject_of(m, o));
}

/* ---- the reference ---- */

/* The values of a call come to the root of a copy. */
static void values_put(ref_world *r, uint32_t index, uint32_t n, const ref_value *values, uint32_t count)
{
    ref_entity *x = &r->entity[index];
    const reef_entity e = ref_handle(r, index);
    uint32_t set = x->set, coming = 0, named = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t t = values[i].type;
        named |= 1u << t;
        if (values[i].how == HOW_REMOVE) set &= ~(1u << t);
        else if (!ref_has(x, t)) coming |= 1u << t;
        if (values[i].how == HOW_REMOVE) continue;
        set |= 1u << t;
        ref_give(x, t, ref_value_given(r, &values[i], n, e));
    }
    const uint32_t along = ref_comes_along(x->set, coming, named);
    ref_give_along(x, e, along);
    ref_settle(r, index, set | along);
}

/* Relations to entities of the tree become relations to their copies; others are kept, but for symmetric ones. */
static void links_put(ref_world *r, const tree *t, const uint32_t *copies, uint32_t n, uint32_t k, uint32_t i,
                      bool instance)
{
    for (uint32_t a = 0, links = r->link_count; a < links; a++) {
        const ref_link x = r->link[a];
        const bool mine = x.relation == RELATION_CHILD || x.relation == RELATION_INSTANCE;
        if (x.source != t->index[k] || (k == 0 && instance && mine)) continue;
        const uint32_t to = node_of(t, x.target);
        if (to == t->count && relation_is(x.relation, REEF_SYMMETRIC)) continue;
        ref_link_add(r, x.relation, copies[k * n + i], to == t->count ? x.target : copies[to * n + i], 0, x.data);
        ref_link_mark(r, x.relation, copies[k * n + i], t->index[k]);
    }
    if (k == 0 && instance) ref_link_add(r, RELATION_INSTANCE, copies[i], t->index[0], 0, 0);
}

/* Would copies get unique values that somebody has? The root's may be replaced by a value of the call. */
static reef_status tree_unique(const ref_world *r, const tree *t, uint32_t n, const ref_value *values, uint32_t count)
{
    uint32_t named = 0;
    reef_status s = REEF_OK;
    for (uint32_t i = 0; i < count; i++) named |= 1u << values[i].type;
    for (uint32_t k = 0; n && k < t->count && s == REEF_OK; k++)
        s = ref_unique_copy(&r->entity[t->index[k]], k ? 0 : named);
    return s == REEF_OK ? ref_unique_values(r, values, count, n, (reef_entity){0, 0}) : s;
}

static reef_status tree_check(const ref_world *r, const tree *t, uint32_t ids)
{
    for (uint32_t k = 0; k < t->count; k++)
        for (uint32_t type = 0; type < TYPES_MAX; type++)
            if (ref_has(&r->entity[t->index[k]], type) && model_types[type].sort == SORT_MOVER)
                return REEF_NOT_COPYABLE;
    return ref_ids_left(r, ids) ? REEF_OK : REEF_LIMIT;
}

/* Makes the copies. With `reserved`, the root is that reserved id; `made` gets the handles of all, or is NULL. */
static void tree_copy(ref_world *r, const tree *t, const op *o, const ref_value *values, uint32_t count,
                      const reef_entity *reserved, reef_entity *made)
{
    static uint32_t copies[TREE_MOST];
    const bool instance = !is_clone(o);
    for (uint32_t i = 0; i < t->count * o->n; i++) {
        if (reserved && i == 0) ref_create_as(r, *reserved);
        copies[i] = reserved && i == 0 ? reserved->index : ref_new(r);
        if (made) made[i] = ref_handle(r, copies[i]);
    }
    for (uint32_t k = 0; k < t->count; k++)
        for (uint32_t i = 0; i < o->n; i++) {
            const uint32_t index = copies[k * o->n + i];
            const ref_world *told = ref_told.of;
            ref_told.of = NULL; /* observers are told of what it has in the end */
            ref_copy(r, index, t->index[k], instance ? 1u << TYPE_PREFAB : 0);
            if (k == 0 && instance) values_put(r, index, i, values, count);
            ref_told.of = told;
            ref_note_born(r, index);
            links_put(r, t, copies, o->n, k, i, instance);
            if (k) r->entity[index].name = r->entity[t->index[k]].name;
        }
}

void want_INSTANTIATE(model *m, const op *o, outcome *want)
{
    ref_world *r = &m->reference;
    ref_value values[OP_TYPES];
    const uint32_t count = is_clone(o) ? 0 : model_values(m, o, values);
    const reef_entity e = subject_of(m, o);
    static tree t;
    reef_entity one;
    want->status = REEF_OK;
    if (is_too_much(m, o)) return;
    want->status = ref_alive(r, e) ? ref_values_check(r, values, count, true, o->n) : REEF_NOT_ALIVE;
    if (want->status != REEF_OK) return;
    tree_collect(r, e.index, &t);
    want->status = tree_check(r, &t, t.count * o->n);
    if (want->status == REEF_OK) want->status = tree_unique(r, &t, o->n, values, count);
    if (want->status != REEF_OK) return;
    const bool step = (o->option & TREE_STEP) != 0;
    if (step && (want->made_count = ref_reserve_id(r, &one) == REEF_OK) != 0) want->made[0] = one;
    tree_copy(r, &t, o, values, count, step ? &one : NULL, step ? NULL : want->made);
    if (!step) want->made_count = t.count * o->n;
}

reef_status want_copy_as(model *m, const op *o, reef_entity source, reef_entity root)
{
    ref_world *r = &m->reference;
    ref_value values[OP_TYPES];
    static tree t;
    const uint32_t count = is_clone(o) ? 0 : model_values(m, o, values);
    reef_status s = ref_alive(r, source) ? ref_values_check(r, values, count, true, 1) : REEF_NOT_ALIVE;
    if (s == REEF_OK) {
        tree_collect(r, source.index, &t);
        s = tree_check(r, &t, t.count - 1);
    }
    if (s == REEF_OK) s = tree_unique(r, &t, 1, values, count);
    if (s == REEF_OK) tree_copy(r, &t, o, values, count, &root, NULL);
    else ref_release_id(r, root);
    return s;
}

void want_MAKE_PREFAB(model *m, const op *o, outcome *want)
{
    ref_world *r = &m->reference;
    const reef_entity e = subject_of(m, o);
    static tree t;
    want->status = ref_alive(r, e) ? REEF_OK : REEF_NOT_ALIVE;
    if (want->status != REEF_OK) return;
    tree_collect(r, e.index, &t);
    for (uint32_t pass = 0; pass < 2; pass++) /* those that have no row come first */
        for (uint32_t k = 0; k < t.count; k++) {
            ref_entity *x = &r->entity[t.index[k]];
            if (!ref_has(x, TYPE_PREFAB) && (x->table != NULL) == pass)
                ref_settle(r, t.index[k], x->set | 1u << TYPE_PREFAB);
        }
}
