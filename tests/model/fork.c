/* Worlds that are forked, taken up again, compared with models of their own, and freed in any order. */
#include "fork.h"
#include "change.h"
#include <stdlib.h>

/* ---- the reference ---- */

static void *doubled(const void *from, size_t count, size_t size)
{
    void *p = malloc(count * size + 1);
    if (!p) abort();
    if (count) memcpy(p, from, count * size);
    return p;
}

void fork_reference(ref_world *to, const ref_world *from)
{
    *to = *from;
    to->entity = doubled(from->entity, from->capacity, sizeof *from->entity);
    to->free_id = doubled(from->free_id, from->free_capacity, sizeof *from->free_id);
    to->living = doubled(from->living, from->living_capacity, sizeof *from->living);
    to->table = doubled(from->table, from->table_capacity, sizeof *from->table);
    for (uint32_t i = 0; i < from->table_count; i++) {
        to->table[i] = doubled(from->table[i], 1, sizeof **from->table);
        to->table[i]->row = doubled(from->table[i]->row, from->table[i]->capacity, sizeof(uint32_t));
        for (uint32_t row = 0; row < to->table[i]->count; row++)
            to->entity[to->table[i]->row[row]].table = to->table[i];
    }
}

/* ---- operations: o->n is the slot ---- */

static bool has_move_only(const ref_world *r)
{
    for (uint32_t i = 0; i < r->living_count; i++)
        for (uint32_t t = 0; t < TYPES_MAX; t++)
            if (model_types[t].sort == SORT_MOVER && ref_has(&r->entity[r->living[i]], t)) return true;
    return false;
}

void core_FORK(model *m, const op *o, outcome *out)
{
    model_fork *k = &m->fork[o->n];
    out->status = REEF_OK;
    if (has_move_only(&m->reference)) return;
    reef_world *f = reef_fork(m->world);
    out->status = f ? REEF_OK : REEF_NO_MEMORY;
    if (!f) return;
    if (k->world) reef_world_free(k->world);
    k->world = f;
}
void want_FORK(model *m, const op *o, outcome *want)
{
    model_fork *k = &m->fork[o->n];
    want->status = REEF_OK;
    if (has_move_only(&m->reference)) return; /* what can't be copied can't be unshared */
    ref_drop(&k->reference);
    fork_reference(&k->reference, &m->reference);
}

/* The other world is still what it was. */
static void fork_compare(model *m, model_fork *k)
{
    reef_query *single[TYPES_MAX];
    model_fork  here = {m->world, m->reference};
    memcpy(single, m->single, sizeof single);
    memset(m->single, 0, sizeof m->single);
    m->world = k->world;
    m->reference = k->reference;
    model_compare(m, true);
    for (uint32_t t = 0; t < TYPES_MAX; t++) reef_query_free(m->single[t]);
    memcpy(m->single, single, sizeof single);
    m->world = here.world;
    m->reference = here.reference;
}

void core_FORK_SWAP(model *m, const op *o, outcome *out)
{
    model_fork *k = &m->fork[o->n];
    reef_world *w = m->world;
    out->status = REEF_OK;
    if (!k->world) return;
    fork_compare(m, k);
    for (uint32_t i = 0; i < SLOTS; i++) {
        reef_query_free(m->query[i].query);
        reef_bundle_free(m->bundle[i].bundle);
        m->query[i].query = NULL;
        m->bundle[i].bundle = NULL;
    }
    for (uint32_t t = 0; t < TYPES_MAX; t++) reef_query_free(m->single[t]);
    memset(m->single, 0, sizeof m->single);
    m->world = k->world;
    k->world = w;
}
void want_FORK_SWAP(model *m, const op *o, outcome *want)
{
    model_fork *k = &m->fork[o->n];
    ref_world   r = m->reference;
    want->status = REEF_OK;
    if (k->reference.entities_max == 0) return;
    for (uint32_t i = 0; i < SLOTS; i++) m->query[i].count = m->bundle[i].count = 0;
    m->reference = k->reference;
    k->reference = r;
}

void core_FORK_FREE(model *m, const op *o, outcome *out)
{
    model_fork *k = &m->fork[o->n];
    out->status = REEF_OK;
    if (!k->world) return;
    fork_compare(m, k);
    reef_world_free(k->world);
    k->world = NULL;
}
void want_FORK_FREE(model *m, const op *o, outcome *want)
{
    ref_drop(&m->fork[o->n].reference);
    want->status = REEF_OK;
}
