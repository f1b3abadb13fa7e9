/* Symmetric relations: each entity of two is the other one's target, so there are two halves.
 *
 * Two to four values change at once: both halves come, and the partners that exclusive ones replace lose theirs. All of
 * it happens or nothing. What is done last is prepared before; what was done first is undone, in pages that this world
 * alone holds since. Observers are told of no attempt that fails: in a world that has some, the halves are first made
 * and unmade without them. */
#include "change/relation_halves.h"
#include "storage/error.h"
#include "storage/invalidate.h"
#include "storage/observed.h"
#include "storage/relation_index.h"
#include "storage/sparse_store.h"
#include "change/relation.h"
#include "reef/relation.h"

/* Ends a relation whose end is prepared, if it is there. */
static void unrelate_prepared(reef_world *w, reef_entity source, const type *t, reef_entity target)
{
    const reef_status s = reef__unrelate_one(w, source, t, target);
    ASSERT(s == REEF_OK);
    (void)s;
}

typedef struct symmetric_half {
    reef_entity source, target;
    reef_entity lost; /* the partner that an exclusive relation replaces; null: none */
    call_memory was;  /* the whole relation to that partner */
} symmetric_half;

/* What both halves get. */
typedef struct coupling {
    const type *t;
    symmetric_half half[2];
    uint32_t count; /* of halves: an entity that is related to itself has one */
    const void *data;
    uint64_t place; /* of the first half */
} coupling;

static bool half_begin(reef_world *w, const type *t, symmetric_half *h, reef_entity source, reef_entity target)
{
    const relation_value *v = t->relation & REEF_EXCLUSIVE ? reef_store_find(store_of(w, t->id), source) : NULL;
    h->source = source;
    h->target = target;
    h->lost = v ? v->target : (reef_entity){0, 0};
    if (!reef__call_memory_take(&w->family->memory, &h->was, t->size, t->align)) return false;
    if (v) memcpy(h->was.at, v, t->size);
    return true;
}

static void half_undo(reef_world *w, const type *t, const symmetric_half *h)
{
    if (reef_entity_is_null(h->lost)) {
        unrelate_prepared(w, h->source, t, h->target);
        return;
    }
    relation_value *v = relation_of(w, t, h->source, h->target);
    reef__relation_index_remove(w, relation_store(w, t), h->source, v);
    memcpy(v, h->was.at, t->size);
    reef__relation_index_add(w, relation_store(w, t), h->source, v);
}

static reef_status halves_make(reef_world *w, const coupling *x)
{
    reef_status s = REEF_OK;
    uint32_t made = 0;
    while (s >= 0 && made < x->count) {
        s = reef__relate_one(w, x->half[made].source, x->t, x->half[made].target, x->data, made ? 0 : x->place);
        made += s >= 0;
    }
    while (s < 0 && made-- > 0) half_undo(w, x->t, &x->half[made]);
    return s;
}

/* From now on the world counts as one with these observers (bits of `slow`). The answer is what it counted as. */
static uint32_t observing_put(reef_world *w, uint32_t observers)
{
    const uint32_t all = SLOW_OBSERVED | SLOW_WATCHED, was = w->slow & all;
    w->slow = (w->slow & ~all) | observers;
    reef__invalidate(w, INVALIDATE_CONDITION_CHANGED);
    return was;
}

/* Prepares the former partners to lose their relations. One whose half was taken away before has none to lose. */
static bool partners_prepare(reef_world *w, const coupling *x)
{
    reef_entity lost[2] = {{0, 0}, {0, 0}};
    uint32_t n = 0;
    for (uint32_t i = 0; i < x->count; i++) {
        const reef_entity e = x->half[i].lost; /* one of the two itself loses what is replaced anyway */
        if (!reef_entity_is_null(e) && relation_of(w, x->t, e, x->half[i].source) &&
            !reef_entity_equal(e, x->half[0].source) && !reef_entity_equal(e, x->half[x->count - 1].source))
            lost[n++] = e;
    }
    return reef__relations_prepare_end(w, x->t, lost, n);
}

static reef_status halves_relate(reef_world *w, const coupling *x)
{
    const bool told = observed(w);
    if (!partners_prepare(w, x) || (told && !observe_reserve_changes(w, x->t, 4))) return REEF_NO_MEMORY;
    if (told) {
        const uint32_t observers = observing_put(w, 0);
        const reef_status s = halves_make(w, x);
        for (uint32_t i = x->count; s >= 0 && i-- > 0;) half_undo(w, x->t, &x->half[i]);
        (void)observing_put(w, observers);
        if (s < 0) return s;
    }
    observe_open(w);
    const reef_status s = halves_make(w, x);
    ASSERT(s >= 0 || !told);
    for (uint32_t i = 0; s >= 0 && i < x->count; i++)
        if (!reef_entity_is_null(x->half[i].lost)) unrelate_prepared(w, x->half[i].lost, x->t, x->half[i].source);
    observe_close(w);
    return s;
}

static reef_status halves_begin(reef_world *w, coupling *x, reef_entity a, reef_entity b)
{
    reef_status s = REEF_NO_MEMORY;
    uint32_t begun = 0;
    if (half_begin(w, x->t, &x->half[0], a, b)) begun++;
    if (begun < x->count && half_begin(w, x->t, &x->half[1], b, a)) begun++;
    if (begun == x->count) s = halves_relate(w, x);
    while (begun-- > 0) reef__call_memory_free(&w->family->memory, &x->half[begun].was);
    return s;
}

/* The half of `b` is there, since reef_remove took only that of `a` away. That one is made again; both have the same
 * data, which is that of `b` where none is given. (That of `b` is written first: observers of the new half may end it.)
 */
static COLD reef_status relate_again(reef_world *w, reef_entity a, const type *t, reef_entity b, const void *data,
                                     uint64_t place)
{
    const size_t size = t->data ? t->data->size : 0;
    coupling x = {.t = t, .count = 1, .place = place};
    call_memory copy;
    if (data && reef_relation_mut_id(w, b, (reef_component){t->id}, a) == NULL) return REEF_NO_MEMORY;
    if (!reef__call_memory_take(&w->family->memory, &copy, 2 * size + 1, PLAIN_ALIGN)) return REEF_NO_MEMORY;
    char *is = copy.at, *was = is + size;
    relation_value *half = relation_of(w, t, b, a);
    if (size) {
        memcpy(is, data ? data : half + 1, size);
        memcpy(was, half + 1, size);
        if (data) memcpy(half + 1, is, size);
        x.data = is;
    }
    const reef_status s = halves_begin(w, &x, a, b);
    if (s < 0 && data && size) memcpy(relation_of(w, t, b, a) + 1, was, size);
    reef__call_memory_free(&w->family->memory, &copy);
    return s;
}

bool reef__half_is_lost(const reef_world *w, reef_entity source, const type *t, reef_entity target)
{
    return (t->relation & REEF_SYMMETRIC) && relation_of(w, t, source, target) &&
           relation_of(w, t, target, source) == NULL;
}

reef_status reef__relate_both(reef_world *w, reef_entity a, const type *t, reef_entity b, const void *data,
                              uint64_t place)
{
    const bool same = reef_entity_equal(a, b);
    coupling x = {.t = t, .count = same ? 1 : 2, .data = data, .place = place};
    const reef_status s = !same && reef__relation_find(store_of(w, t->id), b, a, NULL)
                              ? relate_again(w, a, t, b, data, place)
                              : halves_begin(w, &x, a, b);
    if (s == REEF_NO_MEMORY) reef__failure(w, s, w->calling, (reef_component){t->id}, a, 0);
    return s < 0 ? s : REEF_ADDED;
}

reef_status reef__unrelate_both(reef_world *w, reef_entity a, const type *t, reef_entity b)
{
    const reef_entity both[2] = {a, b};
    const uint32_t n = relation_of(w, t, b, a) ? 2 : 1;
    if (!reef__relations_prepare_end(w, t, both, n) || (observed(w) && !observe_reserve_changes(w, t, 2)))
        return reef__failure(w, REEF_NO_MEMORY, w->calling, (reef_component){t->id}, a, 0);
    observe_open(w);
    unrelate_prepared(w, a, t, b);
    unrelate_prepared(w, b, t, a);
    observe_close(w);
    return REEF_OK;
}
