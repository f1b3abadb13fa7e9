/* Relations: the subject is the source, o->type[0] the rank of the type, o->list[0] the target and o->list[1] the next
 * source or the new target. The same functions do them in loops that record, and in histories. */
#include "apply.h"
#include "link.h"
#include "pairs.h"
#include <stdlib.h>

static reef_component relation_id(const op *o) { return model_relations[o->type[0]].id; }
static reef_entity target_of(const model *m, const op *o) { return model_handle(m, o->list[0]); }

bool op_relates(op_kind kind)
{
    return kind == OP_RELATE || kind == OP_RELATE_BEFORE || kind == OP_UNRELATE || kind == OP_RETARGET;
}

bool step_relates(const op *o, uint64_t i, op *step)
{
    static const op_kind kinds[] = {OP_RELATE, OP_RELATE, OP_RELATE, OP_RELATE_BEFORE, OP_UNRELATE, OP_RETARGET};
    const uint64_t v = value_mix(o->value, 5000 + i) >> 3;
    if (!(o->option & DEFER_RELATES) || v % 3) return false;
    memset(step, 0, sizeof *step);
    step->kind = (uint8_t)kinds[(v >> 4) % 6];
    step->value = v;
    step->type[0] = (uint8_t)((v >> 8) % RELATIONS);
    for (uint32_t k = 0; k < 2; k++) step->list[k] = o->list[(v >> (16 + 4 * k)) % OP_LIST];
    step->option = v >> 40 & 1 && model_relations[step->type[0]].data < TYPES_MAX ? RELATE_DATA : 0;
    return true;
}

ref_request request_of(const model *m, const op *o, reef_entity source)
{
    return (ref_request){.relation = o->type[0],
                         .source = source,
                         .target = target_of(m, o),
                         .other = model_handle(m, o->list[1]),
                         .with_data = o->option & RELATE_DATA,
                         .wrong_size = o->option & RELATE_WRONG_SIZE,
                         .data = value_mix(o->value, 0)};
}

reef_status want_request(model *m, const op *o, reef_entity source)
{
    const ref_request x = request_of(m, o, source);
    reef_status s;
    if (related_by_value(o)) return want_related_value(m, o, source);
    switch ((op_kind)o->kind) {
    case OP_RELATE: s = ref_relate(&m->reference, &x); break;
    case OP_RELATE_BEFORE: s = ref_relate_before(&m->reference, &x); break;
    case OP_UNRELATE: s = ref_unrelate(&m->reference, &x); break;
    default: s = ref_retarget(&m->reference, &x);
    }
    if (s >= REEF_OK) m->relating |= pairs_of_relation(x.relation);
    return s;
}

/* The data of a relation as a call takes it: its size, and the value. */
size_t request_data(const op *o, void *to)
{
    const uint32_t data = model_relations[o->type[0]].data;
    const size_t size = data < TYPES_MAX ? model_types[data].size : 4;
    value_fill(to, size, value_mix(o->value, 0));
    return o->option & RELATE_WRONG_SIZE ? size + 1 : size;
}

void core_RELATE(model *m, const op *o, outcome *out)
{
    _Alignas(16) char data[128];
    const size_t size = request_data(o, data);
    const bool with = (o->option & RELATE_DATA) != 0;
    out->status = related_by_value(o) ? relate_by_value(m, o)
                                      : reef_relate_id(m->world, subject_of(m, o), relation_id(o), target_of(m, o),
                                                       with ? data : NULL, with ? size : 0);
}
void want_RELATE(model *m, const op *o, outcome *want) { want->status = want_request(m, o, subject_of(m, o)); }

void core_RELATE_BEFORE(model *m, const op *o, outcome *out)
{
    out->status =
        reef_relate_before_id(m->world, subject_of(m, o), relation_id(o), target_of(m, o), model_handle(m, o->list[1]));
}
void want_RELATE_BEFORE(model *m, const op *o, outcome *want) { want->status = want_request(m, o, subject_of(m, o)); }

void core_UNRELATE(model *m, const op *o, outcome *out)
{
    out->status = reef_unrelate_id(m->world, subject_of(m, o), relation_id(o), target_of(m, o));
}
void want_UNRELATE(model *m, const op *o, outcome *want) { want->status = want_request(m, o, subject_of(m, o)); }

void core_RETARGET(model *m, const op *o, outcome *out)
{
    out->status =
        reef_retarget_id(m->world, subject_of(m, o), relation_id(o), target_of(m, o), model_handle(m, o->list[1]));
}
void want_RETARGET(model *m, const op *o, outcome *want) { want->status = want_request(m, o, subject_of(m, o)); }

/* ---- many at once ---- */

void core_UNRELATE_ALL(model *m, const op *o, outcome *out)
{
    const reef_entity e = subject_of(m, o);
    out->status = REEF_OK;
    switch (o->option % UNRELATE_WAYS) {
    case UNRELATE_SOURCES: out->number += reef_unrelate_sources_id(m->world, e, relation_id(o)); break;
    case UNRELATE_BY_REMOVE: out->status = reef_remove_id(m->world, e, relation_id(o)); break;
    case UNRELATE_TYPE: out->status = remove_everywhere(m->world, relation_id(o), &out->number); break;
    default: out->number += reef_unrelate_all_id(m->world, e, relation_id(o)); break;
    }
    const bool counts = o->option % UNRELATE_WAYS <= UNRELATE_SOURCES; /* there is no status */
    if (counts && counted_memory.fired) out->status = REEF_NO_MEMORY;
}

static uint64_t unrelate_sources(ref_world *r, uint32_t relation, reef_entity target)
{
    static ref_links list;
    uint64_t n = 0;
    for (ref_sources(r, relation, target.index, &list); list.count; ref_sources(r, relation, target.index, &list)) {
        const ref_request x = {relation, ref_handle(r, list.at[0]->source), target, {0, 0}, false, false, 0};
        if (ref_unrelate(r, &x) != REEF_OK) break;
        n++;
    }
    return n;
}

static uint64_t unrelate_targets(ref_world *r, uint32_t relation, reef_entity source)
{
    static ref_links list;
    ref_targets(r, relation, source.index, &list);
    const uint64_t n = list.count;
    if (!relation_is(relation, REEF_SYMMETRIC)) {
        ref_links_remove(r, source.index, relation);
        return n;
    }
    for (uint64_t i = 0; i < n; i++) {
        ref_targets(r, relation, source.index, &list);
        const ref_request x = {relation, source, ref_handle(r, list.at[list.count - 1]->target), {0, 0}, false,
                               false,    0};
        (void)ref_unrelate(r, &x);
    }
    return n;
}

/* In the order of rows: of tables by the names of their types. */
static uint64_t unrelate_type(ref_world *r, uint32_t relation)
{
    uint64_t n = 0;
    uint32_t *index = malloc((r->link_count + 1) * sizeof *index);
    if (!index) abort();
    for (uint32_t i = 0; i < r->table_count; i++)
        for (uint32_t row = 0; row < r->table[i]->count; row++)
            if (ref_target(r, relation, r->table[i]->row[row]) != UINT32_MAX) index[n++] = r->table[i]->row[row];
    for (uint64_t i = 0; i < n; i++) ref_links_remove(r, index[i], relation);
    free(index);
    return n;
}

void want_UNRELATE_ALL(model *m, const op *o, outcome *want)
{
    ref_world *r = &m->reference;
    const reef_entity e = subject_of(m, o);
    const bool alive = ref_alive(r, e) != NULL;
    want->status = REEF_OK;
    switch (o->option % UNRELATE_WAYS) {
    case UNRELATE_SOURCES: want->number = alive ? unrelate_sources(r, o->type[0], e) : 0; break;
    case UNRELATE_BY_REMOVE:
        want->status = !alive                                             ? REEF_NOT_ALIVE
                       : ref_target(r, o->type[0], e.index) == UINT32_MAX ? REEF_ABSENT
                                                                          : REEF_OK;
        if (want->status == REEF_OK) ref_links_remove(r, e.index, o->type[0]);
        break;
    case UNRELATE_TYPE: want->number = unrelate_type(r, o->type[0]); break;
    default: want->number = alive ? unrelate_targets(r, o->type[0], e) : 0; break;
    }
}

/* ---- data ---- */

void core_RELATION_WRITE(model *m, const op *o, outcome *out)
{
    const uint32_t data = model_relations[o->type[0]].data;
    char *p = reef_relation_mut_id(m->world, subject_of(m, o), relation_id(o), target_of(m, o));
    out->status = p ? REEF_OK : reef_last_error(m->world).status;
    if (!p) return;
    out->digest = relation_digest(o->type[0], p);
    if (data < TYPES_MAX) value_fill(p + 16, model_types[data].size, value_mix(o->value, 0));
}
void want_RELATION_WRITE(model *m, const op *o, outcome *want)
{
    ref_world *r = &m->reference;
    const reef_entity e = subject_of(m, o), target = target_of(m, o);
    ref_link *x = ref_alive(r, e) && ref_alive(r, target) ? ref_link_find(r, o->type[0], e.index, target.index) : NULL;
    want->status = x ? REEF_OK : ref_alive(r, e) ? REEF_ABSENT : REEF_NOT_ALIVE;
    if (!x) return;
    want->digest = relation_digest_of(o->type[0], x->data);
    if (model_relations[o->type[0]].data < TYPES_MAX) x->data = value_mix(o->value, 0);
}

/* ---- asking ---- */

enum { KIN_MOST = 64 };

static uint64_t said(uint64_t digest, reef_entity e) { return value_mix(digest, reef_entity_bits(e)); }

static bool is_tree(const op *o)
{
    return relation_is(o->type[0], REEF_EXCLUSIVE) && relation_is(o->type[0], REEF_ACYCLIC);
}

void core_KIN(model *m, const op *o, outcome *out)
{
    const reef_world *w = m->world;
    const reef_component c = relation_id(o);
    const reef_entity a = subject_of(m, o), b = target_of(m, o);
    reef_entity below[KIN_MOST];
    out->status = REEF_OK;
    core_ask(m, o, out);
    out->number = reef_related_id(w, a, c, b);
    if (!is_tree(o)) return;
    out->number = out->number * 2 + reef_is_above_id(w, a, b, c);
    out->number = out->number << 16 | reef_depth_id(w, a, c);
    out->digest = said(said(out->digest, reef_root_id(w, a, c)), reef_common_ancestor_id(w, a, b, c));
    const uint64_t n = reef_descendants_id(w, a, c, below, KIN_MOST);
    for (uint64_t i = 0; i < n && i < KIN_MOST; i++) out->digest = said(out->digest, below[i]);
    reef_walk x = reef_walk_from_id(w, a, c);
    x.leaves = o->value % 2;
    while (reef_walk_next(&x)) out->digest = said(value_mix(out->digest, x.depth * 2 + x.leaving), x.entity);
}

static reef_entity parent_of(const ref_world *r, uint32_t relation, reef_entity e)
{
    const uint32_t p = ref_target(r, relation, e.index);
    return p == UINT32_MAX ? (reef_entity){0, 0} : ref_handle(r, p);
}

static bool is_above(const ref_world *r, uint32_t relation, reef_entity a, reef_entity b)
{
    for (b = parent_of(r, relation, b); !reef_entity_is_null(b); b = parent_of(r, relation, b))
        if (reef_entity_equal(a, b)) return true;
    return false;
}

static uint64_t walk(const ref_world *r, uint32_t relation, uint32_t index, uint32_t depth, bool leaves,
                     uint64_t digest)
{
    static ref_links list;
    uint32_t below[KIN_MOST], n = 0;
    digest = said(value_mix(digest, depth * 2), ref_handle(r, index));
    ref_sources(r, relation, index, &list);
    for (; n < list.count && n < KIN_MOST; n++) below[n] = list.at[n]->source;
    for (uint32_t i = 0; i < n; i++) digest = walk(r, relation, below[i], depth + 1, leaves, digest);
    return leaves ? said(value_mix(digest, depth * 2 + 1), ref_handle(r, index)) : digest;
}

void want_KIN(model *m, const op *o, outcome *want)
{
    static ref_links list;
    const ref_world *r = &m->reference;
    const uint32_t k = o->type[0];
    const reef_entity a = subject_of(m, o), b = target_of(m, o), none = {0, 0};
    const bool lives = ref_alive(r, a) != NULL, both = lives && ref_alive(r, b);
    want->status = REEF_OK;
    want_ask(m, o, want);
    want->number = ref_related(r, k, a, b);
    if (!is_tree(o)) return;
    want->number = want->number * 2 + (ref_alive(r, b) && lives && is_above(r, k, a, b));
    reef_entity root = lives ? a : none, common = both ? a : none;
    uint32_t depth = 0;
    for (reef_entity e; lives && !reef_entity_is_null(e = parent_of(r, k, root)); depth++) root = e;
    want->number = want->number << 16 | depth;
    while (!reef_entity_is_null(common) && !reef_entity_equal(common, b) && !is_above(r, k, common, b))
        common = parent_of(r, k, common);
    want->digest = said(said(want->digest, root), common);
    if (!lives) return;
    reef_entity below[KIN_MOST];
    uint32_t n = 0;
    for (uint32_t next = 0, at = a.index;; at = below[next++].index) {
        ref_sources(r, k, at, &list);
        for (uint32_t i = 0; i < list.count && n < KIN_MOST; i++) below[n++] = ref_handle(r, list.at[i]->source);
        if (next == n) break;
    }
    for (uint32_t i = 0; i < n; i++) want->digest = said(want->digest, below[i]);
    want->digest = walk(r, k, a.index, 0, o->value % 2, want->digest);
}
