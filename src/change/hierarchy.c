/* Hierarchies: the way up from an entity, and walks over all that is below it.
 *
 * These work on every type of relations that is exclusive and acyclic: its relations are trees. Nothing recurses and
 * nothing is stored: the next step of a walk follows from the entity where it is, by the index from targets to
 * sources. */
#include "storage/relation_index.h"
#include "storage/running.h"
#include "storage/sparse_store.h"
#include "reef/hierarchy.h"

/* The store of a relation whose relations are trees. NULL: it is no such type, or the entity isn't alive. */
static const value_store *tree_store(const reef_world *w, const char *op, reef_entity e, reef_component c)
{
    enum { TREE = REEF_EXCLUSIVE | REEF_ACYCLIC };
    const type *t = WORLD_GIVEN_TO(w, op) ? reef__type_of(c.id) : NULL;
    if (t == NULL || (t->relation & TREE) != TREE || !reef_is_alive(w, e)) return NULL;
    running_read(w, op, e, c);
    return store_of(w, c.id);
}

static reef_entity parent_of(const value_store *s, reef_entity e)
{
    const relation_value *v = reef_store_find(s, e);
    return v ? v->target : (reef_entity){0, 0};
}

static uint32_t depth_of(const value_store *s, reef_entity e)
{
    uint32_t depth = 0;
    for (const relation_value *v; (v = reef_store_find(s, e)) != NULL; depth++) e = v->target;
    return depth;
}

/* The ancestor that is so many generations above. */
static reef_entity ancestor_of(const value_store *s, reef_entity e, uint32_t generations)
{
    while (generations-- > 0) e = parent_of(s, e);
    return e;
}

uint32_t reef_depth_id(const reef_world *w, reef_entity e, reef_component c)
{
    const value_store *s = tree_store(w, "reef_depth", e, c);
    return s ? depth_of(s, e) : 0;
}

reef_entity reef_root_id(const reef_world *w, reef_entity e, reef_component c)
{
    const value_store *s = tree_store(w, "reef_root", e, c);
    if (s == NULL) return (reef_entity){0, 0};
    for (const relation_value *v; (v = reef_store_find(s, e)) != NULL;) e = v->target;
    return e;
}

bool reef_is_above_id(const reef_world *w, reef_entity ancestor, reef_entity e, reef_component c)
{
    const value_store *s = tree_store(w, "reef_is_above", e, c);
    if (s == NULL || reef_entity_is_null(ancestor)) return false;
    do e = parent_of(s, e);
    while (!reef_entity_is_null(e) && !reef_entity_equal(e, ancestor));
    return !reef_entity_is_null(e);
}

reef_entity reef_common_ancestor_id(const reef_world *w, reef_entity a, reef_entity b, reef_component c)
{
    static const char op[] = "reef_common_ancestor";
    const value_store *s = tree_store(w, op, a, c);
    if (s == NULL || tree_store(w, op, b, c) == NULL) return (reef_entity){0, 0};
    const uint32_t of_a = depth_of(s, a), of_b = depth_of(s, b);
    a = ancestor_of(s, a, of_a > of_b ? of_a - of_b : 0);
    b = ancestor_of(s, b, of_b > of_a ? of_b - of_a : 0);
    while (!reef_entity_equal(a, b)) { /* at the latest both are null */
        a = parent_of(s, a);
        b = parent_of(s, b);
    }
    return a;
}

/* ---- walks ---- */

/* The first source of a target behind a place. Null: there is none. */
static reef_entity source_after(const value_store *s, reef_entity target, uint64_t place, reef_entity after)
{
    source_one one;
    source_run run;
    return reef__relation_after(s, target, place, after, &one, &run) ? run.sources[0] : (reef_entity){0, 0};
}

reef_walk reef_walk_from_id(const reef_world *w, reef_entity root, reef_component c)
{
    return (reef_walk){.world = w, .root = root, .relation = c};
}

/* Goes from an entity that is done to the next sibling, or leaves its parent. False: the walk is over. */
static bool walk_on(reef_walk *x, const value_store *s)
{
    for (;;) {
        const relation_value *v = reef_store_find(s, x->entity);
        if (reef_entity_equal(x->entity, x->root) || v == NULL) return false;
        const reef_entity next = source_after(s, v->target, v->place, x->entity);
        x->leaving = reef_entity_is_null(next);
        x->entity = x->leaving ? v->target : next;
        x->depth -= x->leaving;
        if (!x->leaving || x->leaves) return true;
    }
}

bool reef_walk_next(reef_walk *x)
{
    const value_store *s =
        x ? tree_store(x->world, "reef_walk_next", x->begun ? x->entity : x->root, x->relation) : NULL;
    if (s == NULL) return false;
    if (!x->begun) {
        x->begun = true;
        x->entity = x->root;
        x->depth = 0;
        return true;
    }
    const reef_entity none = {0, 0};
    const reef_entity first = x->leaving || x->skip ? none : source_after(s, x->entity, 0, none);
    x->skip = false;
    if (!reef_entity_is_null(first)) {
        x->entity = first;
        x->depth++;
        return true;
    }
    if (x->leaves && !x->leaving) return x->leaving = true; /* nothing is below it */
    return walk_on(x, s);
}

uint64_t reef_descendants_id(const reef_world *w, reef_entity root, reef_component c, reef_entity *out, uint64_t room)
{
    const value_store *s = tree_store(w, "reef_descendants", root, c);
    uint64_t n = 0, next = 0;
    if (s == NULL) return 0;
    if (out == NULL) room = 0;
    for (reef_entity e = root;; e = out[next++]) { /* what was written is the queue */
        for (source_walk x = {.run = {0}}; n < room && source_walk_next(&x, s, e);) {
            const uint32_t count = x.run.count < room - n ? x.run.count : (uint32_t)(room - n);
            memcpy(out + n, x.run.sources, count * sizeof *out);
            n += count;
        }
        if (next == n) break;
    }
    if (n < room) return n;
    reef_walk x = reef_walk_from_id(w, root, c);
    for (n = 0; reef_walk_next(&x); n++) {}
    return n - 1;
}
