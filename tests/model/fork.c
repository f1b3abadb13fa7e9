/* Forks share every container by paged_share, and take copies of the few plain arrays. Each side then writes with
 * newer versions than anything that is shared, and forgets what it cached about pages being its own. */
#include "fork.h"
#include "change.h"
#include <stdlib.h>

void bundles_drop(reef_world *w);
void queries_drop(reef_world *w);

static void *copied(memory *m, enum memory_kind kind, const void *from, size_t bytes)
{
    void *p = memory_resize(m, kind, NULL, 0, bytes, PLAIN_ALIGN);
    return p && bytes ? memcpy(p, from, bytes) : p;
}

/* What was written so far is shared from now on. */
static void turn_page(reef_world *w)
{
    version_share(w);
    memset(w->edge_cache, 0, sizeof w->edge_cache);
}

static void share_containers(reef_world *f, reef_world *w)
{
    paged_owner o = owner_records(w); /* sharing needs the family's lock alone */
    f->hot.records = paged_share(&w->hot.records, &o);
    f->hot.chunks = paged_share(&w->hot.chunks, &o);
    f->state.tables = paged_share(&w->state.tables, &o);
    f->state.ring = paged_share(&w->state.ring, &o);
    f->state.name_entries = paged_share(&w->state.name_entries, &o);
    f->state.name_by_text = paged_share(&w->state.name_by_text, &o);
    f->state.name_by_index = paged_share(&w->state.name_by_index, &o);
    for (uint32_t i = 0; i < w->state.bit_count; i++) f->state.bits[i].words = paged_share(&w->state.bits[i].words, &o);
}

reef_world *fork_world(reef_world *w)
{
    memory     *m = &w->family->memory;
    size_t      bits = w->state.bit_capacity * sizeof(bit_store), used = w->state.used_words * sizeof(uint64_t);
    reef_world *f = copied(m, MEMORY_OTHER, w, sizeof *w);
    bit_store  *stores = copied(m, MEMORY_BITS, w->state.bits, bits);
    uint64_t   *types = copied(m, MEMORY_OTHER, w->state.used_types, used);
    if (!f || (bits && !stores) || (used && !types)) {
        memory_free(m, MEMORY_BITS, stores, bits);
        memory_free(m, MEMORY_OTHER, types, used);
        memory_free(m, MEMORY_OTHER, f, sizeof *f);
        return NULL;
    }
    f->state.bits = stores;
    f->state.used_types = types;
    share_containers(f, w);
    f->bundles = NULL;
    f->queries = NULL;
    memset(f->set_cache, 0, sizeof f->set_cache);
    turn_page(w);
    turn_page(f);
    return f;
}

void fork_free(reef_world *f)
{
    memory     *m = &f->family->memory;
    paged_owner chunks = owner_chunks(f), records = owner_records(f), tables = owner_tables(f);
    queries_drop(f);
    bundles_drop(f);
    names_drop(f);
    bits_drop(f);
    ring_drop(f);
    paged_drop(&f->hot.chunks, &chunks);
    paged_drop(&f->hot.records, &records);
    paged_drop(&f->state.tables, &tables);
    memory_free(m, MEMORY_OTHER, f->state.used_types, f->state.used_words * sizeof(uint64_t));
    memory_free(m, MEMORY_OTHER, f, sizeof *f);
}

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
    reef_world *f = fork_world(m->world);
    out->status = f ? REEF_OK : REEF_NO_MEMORY;
    if (!f) return;
    if (k->world) fork_free(k->world);
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
    fork_free(k->world);
    k->world = NULL;
}
void want_FORK_FREE(model *m, const op *o, outcome *want)
{
    ref_drop(&m->fork[o->n].reference);
    want->status = REEF_OK;
}
