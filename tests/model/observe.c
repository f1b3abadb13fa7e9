/* Observers. Each observes one type, is immediate or collected, and changes nothing. Its notices of an operation are
 * compared by entity, kind and values, in any order. The reference records each step of an operation. A collected
 * observer gets the net effect of these steps, since each operation of the model is one call, one loop that records, or
 * one tick, and so has one flush. */
#include "observe.h"
#include "apply.h"
#include "pairs.h"
#include <stdlib.h>

typedef struct tape {
    uint64_t sum, count;
} tape;

static tape heard[OBSERVERS], must[OBSERVERS];
static bool unsure;

void observers_forget(void)
{
    memset(heard, 0, sizeof heard);
    unsure = false;
}

bool observers_heard(void)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < OBSERVERS; i++) n += heard[i].count;
    return n != 0;
}

void observers_unsure(void) { unsure = true; }

static void tape_add(tape *t, uint32_t kind, reef_entity e, uint64_t now, uint64_t old)
{
    t->sum += value_mix(value_mix(value_mix(reef_entity_bits(e), kind), now), old);
    t->count++;
}

static uint64_t digest_of(const model_type *t, const void *value)
{
    return value && t->size ? value_digest(t, value) : 0;
}

/* ---- reef ---- */

/* The target and the data of a relation in a notice. */
static uint64_t relation_said(const reef_notice *n, uint32_t i, const void *value, reef_observed kinds)
{
    reef_entity target;
    if (!(n->kind & kinds)) return 0;
    if (!value) return 1;
    memcpy(&target, value, sizeof target);
    const bool here = kinds & REEF_ON_ADD || n->kind == REEF_ON_REMOVE;
    if (here && (!n->targets || !reef_entity_equal(n->targets[i], target))) return 2;
    return value_mix(reef_entity_bits(target), relation_digest(relation_of(n->component), value));
}

static void hear_relation(const reef_notice *n)
{
    for (uint32_t i = 0; i < n->count; i++)
        tape_add(&heard[(uintptr_t)n->context], n->kind, n->entities[i],
                 relation_said(n, i, reef_notice_value(n, i), REEF_ON_ADD | REEF_ON_SET),
                 relation_said(n, i, reef_notice_old(n, i), REEF_ON_SET | REEF_ON_REMOVE));
}

static const model_type *type_of_notice(const reef_notice *n)
{
    for (uint32_t i = 0; i < TYPES_MAX; i++)
        if (model_types[i].id.id == n->component.id) return &model_types[i];
    abort();
}

static void hear(const reef_notice *n)
{
    if (relation_of(n->component) < RELATIONS) {
        hear_relation(n);
        return;
    }
    const model_type *t = type_of_notice(n);
    for (uint32_t i = 0; i < n->count; i++) {
        unsigned char copy[4096];
        const void *is = reef_notice_value(n, i);
        /* it lies nowhere as a whole */
        const bool split = t->home == REEF_SPLIT && n->kind & (REEF_ON_ADD | REEF_ON_SET);
        if (split && reef_read_id(n->world, n->entities[i], t->id, copy, t->size)) is = copy;
        tape_add(&heard[(uintptr_t)n->context], n->kind, n->entities[i], digest_of(t, is),
                 digest_of(t, reef_notice_old(n, i)));
    }
}

static const char *observer_name(uint32_t slot)
{
    static const char *const names[OBSERVERS] = {"first", "second", "third", "fourth", "fifth", "sixth"};
    return names[slot];
}

/* Removes the observer of a slot, or makes one if the slot is empty. */
void core_OBSERVE(model *m, const op *o, outcome *out)
{
    const reef_observer_id was = reef_observer_find(m->world, observer_name(o->n));
    const reef_observer_desc desc = {.name = observer_name(o->n),
                                     .function = hear,
                                     .context = (void *)(uintptr_t)o->n,
                                     .events = o->list[0],
                                     .component = component_of(o->type[0]),
                                     .collected = o->option & 1};
    if (!reef_observer_is_null(was)) out->status = reef_observer_remove(m->world, was);
    else
        out->status =
            reef_observer_is_null(reef_observer_new(m->world, &desc)) ? reef_last_error(m->world).status : REEF_OK;
}

void want_OBSERVE(model *m, const op *o, outcome *want)
{
    ref_observer *x = &m->reference.observer[o->n];
    const bool known = o->type[0] >= OBSERVED_RELATIONS && o->type[0] < OBSERVED_RELATIONS + RELATIONS;
    want->status = x->events || known || ref_knows(&m->reference, o->type[0]) ? REEF_OK : REEF_UNKNOWN_TYPE;
    if (x->events) *x = (ref_observer){0, 0, false};
    else if (want->status == REEF_OK) *x = (ref_observer){o->type[0], o->list[0], o->option & 1};
}

/* ---- the reference ---- */

void observers_begin(model *m)
{
    ref_told.count = 0;
    ref_told.of = NULL;
    for (uint32_t i = 0; i < OBSERVERS; i++)
        if (m->reference.observer[i].events) ref_told.of = &m->reference;
}

static uint64_t said(const ref_note *n, bool is_old, uint64_t value)
{
    const uint32_t kinds = is_old ? REEF_ON_SET | REEF_ON_REMOVE : REEF_ON_ADD | REEF_ON_SET;
    if (n->type >= OBSERVED_RELATIONS) return n->kind & kinds ? value : 0;
    const model_type *t = &model_types[n->type];
    return n->kind & kinds && t->size ? value_digest_of(t, value) : 0;
}

static void tell(tape *t, const ref_observer *x, const ref_note *n)
{
    if (!(n->kind & x->events)) return;
    tape_add(t, n->kind, n->entity, said(n, false, n->now), n->added_one ? 0 : said(n, true, n->old));
    pairs_meet(UINT64_C(1) << (x->collected ? PAIR_COLLECTED : PAIR_IMMEDIATE), n->features);
}

/* Is the relation of a record there now? *now is what it says. */
static bool link_is(const ref_world *r, const ref_note *n, uint64_t *now)
{
    const uint32_t relation = n->type - OBSERVED_RELATIONS;
    if (!ref_alive(r, n->entity)) return false;
    const bool several = !reef_entity_is_null(n->target);
    if (several && !ref_alive(r, n->target)) return false;
    const uint32_t target = several ? n->target.index : ref_target(r, relation, n->entity.index);
    const ref_link *x = target == UINT32_MAX ? NULL : ref_link_find(r, relation, n->entity.index, target);
    if (x) *now = ref_link_digest(r, relation, target, x->data);
    return x != NULL;
}

/* All n records of one entity. */
static void tell_net(const ref_world *r, tape *t, const ref_observer *x, const ref_note *const *all, uint32_t n)
{
    const ref_note *first = all[0];
    ref_note net = *first;
    for (uint32_t i = 1; i < n; i++) net.added_one &= all[i]->added_one;
    const ref_entity *e = ref_alive(r, first->entity);
    const bool relation = first->type >= OBSERVED_RELATIONS, was = first->kind != REEF_ON_ADD,
               is = relation ? link_is(r, first, &net.now) : e && ref_has(e, first->type);
    if (!was && !is) return;
    net.kind = was && is ? REEF_ON_SET : is ? REEF_ON_ADD : REEF_ON_REMOVE;
    if (is && !relation) net.now = e->value[first->type];
    tell(t, x, &net);
}

static int note_order(const void *a, const void *b)
{
    const ref_note *x = *(const ref_note *const *)a, *y = *(const ref_note *const *)b;
    const uint64_t p = reef_entity_bits(x->entity), q = reef_entity_bits(y->entity);
    if (p != q) return p < q ? -1 : 1;
    const uint64_t to_x = reef_entity_bits(x->target), to_y = reef_entity_bits(y->target);
    return to_x != to_y ? (to_x < to_y ? -1 : 1) : x < y ? -1 : 1;
}

static void want_heard(const model *m, uint32_t slot)
{
    const ref_observer *x = &m->reference.observer[slot];
    const ref_note **of = x->collected ? malloc((ref_told.count + 1) * sizeof *of) : NULL;
    uint32_t n = 0;
    for (uint32_t i = 0; i < ref_told.count; i++) {
        if (ref_told.at[i].type != x->type) continue;
        if (of) of[n++] = &ref_told.at[i];
        else tell(&must[slot], x, &ref_told.at[i]);
    }
    if (n) qsort(of, n, sizeof *of, note_order);
    for (uint32_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && reef_entity_equal(of[i]->entity, of[end]->entity) &&
                          reef_entity_equal(of[i]->target, of[end]->target);)
            end++;
        tell_net(&m->reference, &must[slot], x, of + i, end - i);
    }
    free(of);
}

void observers_compare(model *m)
{
    uint32_t kinds = 0;
    memset(must, 0, sizeof must);
    for (uint32_t i = 0; i < OBSERVERS && !m->failed; i++) {
        const ref_observer *x = &m->reference.observer[i];
        if (x->events && ref_told.count) want_heard(m, i);
        if (must[i].count) kinds |= x->collected ? 1 : 2;
        if (unsure || (must[i].sum == heard[i].sum && must[i].count == heard[i].count)) continue;
        model_fail(m, "%s observer %s of %s hears of %llu things, must hear of %llu%s",
                   x->collected ? "collected" : "immediate", observer_name(i),
                   !x->events                      ? "-"
                   : x->type >= OBSERVED_RELATIONS ? model_relations[x->type - OBSERVED_RELATIONS].name
                                                   : model_types[x->type].name,
                   (unsigned long long)heard[i].count, (unsigned long long)must[i].count,
                   heard[i].count == must[i].count ? ", but others" : "");
    }
    if (kinds & 1) pairs_happened(m, PAIR_COLLECTED);
    if (kinds & 2) pairs_happened(m, PAIR_IMMEDIATE);
}
