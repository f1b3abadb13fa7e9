/* What a collected observer is told: of everything that happened to an entity between two flushes, the net effect.
 *
 * The notices that concern the observer are sorted by entity, each entity's are joined into one, and what is left is
 * told in the order in which it began. Relations of a type of which a source may have several are joined by source and
 * target. */
#include "base/platform.h"
#include "type/type.h"
#include "storage/observed.h"
#include "storage/place.h"
#include "storage/read.h"
#include "storage/relation_index.h"
#include "storage/world_data.h"
#include "observe/notice.h"
#include "observe/observer.h"
#include "observe/observer_log.h"
#include "reef/observer.h"

/* By entity, or by rank; within that in the order in which it happened. */
static bool net_before(const net *a, const net *b, bool by_entity)
{
    const reef_entity ta = a->target, tb = b->target;
    if (by_entity && a->entity.index != b->entity.index) return a->entity.index < b->entity.index;
    if (by_entity && a->entity.generation != b->entity.generation) return a->entity.generation < b->entity.generation;
    if (by_entity && ta.index != tb.index) return ta.index < tb.index;
    if (by_entity && ta.generation != tb.generation) return ta.generation < tb.generation;
    if (!by_entity && a->rank != b->rank) return a->rank < b->rank;
    return a->number < b->number;
}

static void net_sift(net *x, uint64_t root, uint64_t count, bool by_entity)
{
    for (uint64_t child; (child = 2 * root + 1) < count; root = child) {
        if (child + 1 < count && net_before(&x[child], &x[child + 1], by_entity)) child++;
        if (!net_before(&x[root], &x[child], by_entity)) return;
        const net y = x[root];
        x[root] = x[child];
        x[child] = y;
    }
}

/* Heap sort: it needs no memory. No two elements are equal, so the order is unique. */
static void nets_sort(net *x, uint64_t count, bool by_entity)
{
    for (uint64_t i = count / 2; i-- > 0;) net_sift(x, i, count, by_entity);
    for (uint64_t i = count; i-- > 1;) {
        const net y = x[0];
        x[0] = x[i];
        x[i] = y;
        net_sift(x, 0, i, by_entity);
    }
}

static uint64_t nets_collect(const observer_log *o, uint32_t number, uint32_t kinds)
{
    uint64_t count = 0;
    const struct observer *x = o->watchers[number].o;
    const bool each = x->component.id && kinds != REEF_ON_DESTROY && several_relations(reef__type_of(x->component.id));
    for (uint64_t k = 0; k < o->notice_count; k++) {
        const notice *n = &o->notices[k];
        const bool born = n->kind == NOTICE_BORN && kinds & REEF_ON_DESTROY;
        if (!born && (!(n->kind & kinds) || !concerns(o, number, n))) continue;
        for (uint32_t i = 0; i < n->count; i++, count++)
            o->nets[count] =
                (net){o->entities[n->first + i], each ? n->target : (reef_entity){0, 0}, count, n->old, n->kind, 0};
    }
    return count;
}

/* Returns the net effect of everything that happened to one entity, of which this is the first. 0: none. */
static uint32_t net_of(const reef_world *w, const watcher *x, const net *all)
{
    const uint32_t first = all[0].kind;
    const reef_entity e = all[0].entity;
    if (first == NOTICE_BORN) return 0;
    if (first == REEF_ON_DESTROY) return REEF_ON_DESTROY;
    if (x->o->has_query) {
        const bool is = watcher_matches(x, place_of(w, e));
        return (first == REEF_ON_MATCH) == is ? first : 0;
    }
    const type *t = reef__type_of(x->o->component.id);
    const bool was = first != REEF_ON_ADD;
    const bool is = several_relations(t) ? reef__relation_find(store_of(w, t->id), e, all[0].target, NULL) != NULL
                                         : has_itself(w, e, t);
    if (was && is) return REEF_ON_SET;
    return was == is ? 0 : is ? REEF_ON_ADD : REEF_ON_REMOVE;
}

/* The value that the entity had before all of this. A value more of several has none before it, and then the next
 * notice has the first one, which it left alone. */
static const void *net_old(const net *all, uint64_t n)
{
    uint64_t i = 0;
    while (all[0].kind == REEF_ON_SET && all[i].old == NULL && i + 1 < n) i++;
    return all[i].old;
}

/* The target of what is told of a relation: the one that it has, or the last one that it had. */
static reef_entity net_target(const reef_world *w, const struct observer *x, const net *k, uint32_t kind)
{
    const type *t = reef__type_of(x->component.id);
    if (t->relation == 0 || k->target.generation != 0) return k->target;
    return ((const relation_value *)(kind == REEF_ON_REMOVE ? k->old : relation_number(w, t, k->entity, 0)))->target;
}

static uint32_t net_rank(uint32_t kind)
{
    return kind & (REEF_ON_REMOVE | REEF_ON_UNMATCH) ? 1 : kind & (REEF_ON_ADD | REEF_ON_MATCH) ? 2 : 3;
}

void reef__tell_net(reef_world *w, observer_log *o, uint32_t number, uint32_t kinds)
{
    const struct observer *x = o->watchers[number].o;
    net *nets = o->nets;
    uint64_t count = nets_collect(o, number, kinds), left = 0;
    nets_sort(nets, count, true);
    for (uint64_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && reef_entity_equal(nets[end].entity, nets[i].entity) &&
                          reef_entity_equal(nets[end].target, nets[i].target);)
            end++;
        const uint32_t kind = net_of(w, &o->watchers[number], nets + i);
        if (!(kind & x->events)) continue;
        const void *old = net_old(nets + i, end - i);
        nets[left] = nets[i];
        nets[left].old = old;
        nets[left].kind = kind;
        if (kind & OF_COMPONENT) nets[left].target = net_target(w, x, &nets[left], kind);
        nets[left++].rank = net_rank(kind);
    }
    nets_sort(nets, left, false);
    for (uint64_t i = 0; i < left; i++)
        reef__batch_add(w, x, &o->batch, nets[i].kind, nets[i].entity, nets[i].target, nets[i].old);
    reef__batch_notify(w, x, &o->batch);
}
