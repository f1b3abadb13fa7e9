/* Worlds that are forked, exchanged with their forks, held as snapshots, restored, compared with their own references,
 * and freed in any order. */
#include "fork.h"
#include "script.h"
#include <stdlib.h>

/* ---- the reference ---- */

static void *doubled(const void *from, size_t count, size_t size)
{
    void *p = malloc(count * size + 1);
    if (!p) abort();
    if (count) memcpy(p, from, count * size);
    return p;
}

void reference_double(ref_world *to, const ref_world *from)
{
    *to = *from;
    to->entity = doubled(from->entity, to->capacity = from->count, sizeof *from->entity);
    to->free_id = doubled(from->free_id, to->free_capacity = from->free_end, sizeof *from->free_id);
    to->living = doubled(from->living, to->living_capacity = from->living_count, sizeof *from->living);
    to->lost = doubled(from->lost, to->lost_capacity = from->lost_count, sizeof *from->lost);
    to->link = doubled(from->link, to->link_capacity = from->link_count, sizeof *from->link);
    to->table = doubled(from->table, to->table_capacity = from->table_count, sizeof *from->table);
    for (uint32_t i = 0; i < from->table_count; i++) {
        ref_table *t = to->table[i] = doubled(from->table[i], 1, sizeof **from->table);
        t->row = doubled(t->row, t->capacity = t->count, sizeof *t->row);
        for (uint32_t row = 0; row < t->count; row++) to->entity[t->row[row]].table = t;
    }
}

void fork_reference(ref_world *to, const ref_world *from)
{
    reference_double(to, from);
    for (uint32_t i = 0; i < to->living_count; i++) {
        ref_entity *e = &to->entity[to->living[i]];
        for (uint32_t t = 0; t < TYPES_MAX; t++)
            if (model_types[t].on_fork != REEF_FORK_COPY && ref_has(e, t))
                e->value[t] = value_default(&model_types[t], ref_handle(to, to->living[i]));
    }
}

/* Sets the reference back to a copy; entities keep their current values of types with REEF_FORK_SKIP. */
void reference_restore(ref_world *now, const ref_world *then)
{
    ref_world r;
    reference_double(&r, then);
    memcpy(r.observer, now->observer, sizeof r.observer);
    memcpy(r.lately, now->lately, sizeof r.lately);
    for (uint32_t i = 0; i < r.living_count; i++) {
        uint32_t index = r.living[i];
        const ref_entity *e = ref_alive(now, ref_handle(&r, index));
        for (uint32_t t = 0; e && t < TYPES_MAX; t++)
            if (model_types[t].on_fork == REEF_FORK_SKIP && ref_has(e, t) && ref_has(&r.entity[index], t)) {
                r.entity[index].value[t] = e->value[t];
                r.entity[index].changed_unknown |= 1u << t; /* it brings the times of now, which may be another past */
                r.entity[index].added_unknown |= 1u << t;
            }
    }
    ref_drop(now);
    *now = r;
}

uint32_t first_bound(const ref_world *r)
{
    uint32_t set = 0;
    for (uint32_t i = 0; i < r->living_count; i++) set |= r->entity[r->living[i]].set;
    for (uint32_t t = 0; t < TYPES_MAX; t++)
        if (set >> t & 1 && type_is_bound(&model_types[t])) return t;
    return TYPES_MAX;
}

bool fork_is_refused(const ref_world *r) { return first_bound(r) < TYPES_MAX; }

bool ref_is_there(const ref_world *r) { return r->entities_max != 0; }

uint32_t forks_live(const model *m)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < FORKS; i++) n += ref_is_there(&m->fork[i].reference);
    return n;
}

/* ---- comparing ---- */

/* `queries`: those that the world has; NULL: it has none. As they would have to be made, they are compared only
 * sometimes. */
void relative_compare(model *m, reef_world *w, const ref_world *r, uint64_t hash, model_queries *queries)
{
    static const reef_query none[TYPES_MAX];
    reef_query single[TYPES_MAX];
    reef_world *world = m->world;
    ref_world reference = m->reference;
    memcpy(single, m->single, sizeof single);
    memcpy(m->single, queries ? queries->single : none, sizeof m->single);
    m->world = w;
    m->reference = *r;
    if (hash && !m->failed && reef_hash(w) != hash)
        model_fail(m, "a fork, a snapshot or what was loaded has another hash than when it was made");
    if (!m->failed && (r->spawned + r->destroyed) % 8 == 0) model_compare(m, true);
    else if (!m->failed) model_compare_rows(m, true);
    if (queries) memcpy(queries->single, m->single, sizeof m->single);
    else
        for (uint32_t t = 0; t < TYPES_MAX; t++) reef_query_free(m->world, m->single[t]);
    memcpy(m->single, single, sizeof single);
    m->world = world;
    m->reference = reference;
}

/* The hash to remember with a copy; 0: none. No allocation fails for it. */
static uint64_t hash_of(const op *o, reef_world *w)
{
    uint32_t fail_at = counted_memory.fail_at;
    if (!(o->option & OPTION_HASHED)) return 0;
    counted_memory.fail_at = 0;
    uint64_t hash = reef_hash(w);
    counted_memory.fail_at = fail_at;
    return hash;
}

/* Why the world can't be copied: a status, and the rank + 1 of the type that prevents it. */
static void refused(const model *m, outcome *out)
{
    reef_error e = reef_last_error(m->world);
    out->status = e.status;
    for (uint32_t t = 0; t < TYPES_MAX; t++)
        if (model_types[t].id.id == e.component.id) out->number = t + 1;
}

/* False: the world can be copied. */
static bool want_refused(const model *m, outcome *want)
{
    uint32_t bound = first_bound(&m->reference);
    want->status = bound < TYPES_MAX ? REEF_NOT_COPYABLE : REEF_OK;
    want->number = bound < TYPES_MAX ? bound + 1 : 0;
    return bound < TYPES_MAX;
}

/* ---- forks: o->n is the slot ---- */

static void fork_end(model *m, model_fork *k)
{
    if (!k->world) return;
    journal_end(m, k->world);
    relative_compare(m, k->world, &k->reference, k->hash, &k->queries);
    world_end(m, k->world, &k->reference);
    k->world = NULL;
}

/* The handles of a world's queries are good in its forks. */
static void handles_put(model_query *to, reef_query *single, const model_query *from, const reef_query *of_one)
{
    for (uint32_t i = 0; i < SLOTS; i++) to[i].query = from[i].query;
    memcpy(single, of_one, TYPES_MAX * sizeof *single);
}
/* What they ask. */
static void asked_put(model_query *to, const model_query *from)
{
    for (uint32_t i = 0; i < SLOTS; i++) {
        const reef_query q = to[i].query;
        to[i] = from[i];
        to[i].query = q;
    }
}

static void fork_put(model *m, model_fork *k, reef_world *w, uint64_t hash, const model_query *slot,
                     const reef_query *single)
{
    counted_memory.fail_at = 0;
    fork_end(m, k);
    handles_put(k->queries.slot, k->queries.single, slot, single);
    k->world = w;
    k->hash = hash;
}

void core_FORK(model *m, const op *o, outcome *out)
{
    uint64_t hash = hash_of(o, m->world);
    reef_world *f = reef_fork(m->world);
    out->status = REEF_OK;
    if (f) fork_put(m, &m->fork[o->n], f, hash, m->query, m->single);
    else refused(m, out);
}
void want_FORK(model *m, const op *o, outcome *want)
{
    model_fork *k = &m->fork[o->n];
    if (want_refused(m, want)) return;
    asked_put(k->queries.slot, m->query);
    ref_drop(&k->reference);
    fork_reference(&k->reference, &m->reference);
}

/* Bundles stay with the world that is exchanged. */
void core_FORK_SWAP(model *m, const op *o, outcome *out)
{
    model_fork *k = &m->fork[o->n];
    reef_world *w = m->world;
    out->status = REEF_OK;
    if (!k->world) return;
    relative_compare(m, k->world, &k->reference, k->hash, &k->queries);
    for (uint32_t i = 0; i < SLOTS; i++) {
        reef_bundle_free(m->bundle[i].bundle);
        m->bundle[i].bundle = NULL;
    }
    const model_queries were = k->queries;
    handles_put(k->queries.slot, k->queries.single, m->query, m->single);
    handles_put(m->query, m->single, were.slot, were.single);
    k->hash = hash_of(o, w);
    m->world = k->world;
    k->world = w;
}
void want_FORK_SWAP(model *m, const op *o, outcome *want)
{
    model_fork *k = &m->fork[o->n];
    ref_world r = m->reference;
    want->status = REEF_OK;
    if (!ref_is_there(&k->reference)) return;
    for (uint32_t i = 0; i < SLOTS; i++) m->bundle[i].count = 0;
    const model_queries were = k->queries;
    asked_put(k->queries.slot, m->query);
    asked_put(m->query, were.slot);
    m->reference = k->reference;
    k->reference = r;
}

void core_FORK_FREE(model *m, const op *o, outcome *out)
{
    fork_end(m, &m->fork[o->n]);
    out->status = REEF_OK;
}
void want_FORK_FREE(model *m, const op *o, outcome *want)
{
    ref_drop(&m->fork[o->n].reference);
    want->status = REEF_OK;
}

/* ---- snapshots: o->list[0] is the slot ---- */

/* A snapshot can be compared only through a fork of it. */
static void snapshot_end(model *m, model_snapshot *k)
{
    if (!k->snapshot) return;
    reef_world *w = m->failed ? NULL : reef_snapshot_fork(k->snapshot);
    if (w) relative_compare(m, w, &k->reference, k->hash, &k->queries);
    else model_fail(m, "no fork of a snapshot");
    if (m->reference.spawned % 2) { /* both orders */
        reef_snapshot_free(k->snapshot);
        if (w) world_end(m, w, &k->reference);
    } else {
        if (w) world_end(m, w, &k->reference);
        reef_snapshot_free(k->snapshot);
    }
    k->snapshot = NULL;
}

void core_SNAPSHOT(model *m, const op *o, outcome *out)
{
    model_snapshot *k = &m->snapshot[o->list[0]];
    uint64_t hash = hash_of(o, m->world);
    reef_snapshot *s = reef_snapshot_take(m->world);
    out->status = REEF_OK;
    if (!s) {
        refused(m, out);
        return;
    }
    counted_memory.fail_at = 0;
    snapshot_end(m, k);
    handles_put(k->queries.slot, k->queries.single, m->query, m->single);
    k->snapshot = s;
    k->hash = hash;
}
void want_SNAPSHOT(model *m, const op *o, outcome *want)
{
    model_snapshot *k = &m->snapshot[o->list[0]];
    if (want_refused(m, want)) return;
    asked_put(k->queries.slot, m->query);
    ref_drop(&k->reference);
    fork_reference(&k->reference, &m->reference);
}

void core_SNAPSHOT_FREE(model *m, const op *o, outcome *out)
{
    snapshot_end(m, &m->snapshot[o->list[0]]);
    out->status = REEF_OK;
}
void want_SNAPSHOT_FREE(model *m, const op *o, outcome *want)
{
    ref_drop(&m->snapshot[o->list[0]].reference);
    want->status = REEF_OK;
}

void core_SNAPSHOT_FORK(model *m, const op *o, outcome *out)
{
    model_snapshot *k = &m->snapshot[o->list[0]];
    reef_world *f = reef_snapshot_fork(k->snapshot);
    out->status = f || !k->snapshot ? REEF_OK : REEF_NO_MEMORY;
    out->number = f != NULL;
    if (f) fork_put(m, &m->fork[o->n], f, k->hash, k->queries.slot, k->queries.single);
}
void want_SNAPSHOT_FORK(model *m, const op *o, outcome *want)
{
    const model_snapshot *s = &m->snapshot[o->list[0]];
    model_fork *k = &m->fork[o->n];
    want->status = REEF_OK;
    want->number = ref_is_there(&s->reference);
    if (want->number == 0) return;
    asked_put(k->queries.slot, s->queries.slot);
    ref_drop(&k->reference);
    fork_reference(&k->reference, &s->reference);
}

void core_RESTORE(model *m, const op *o, outcome *out)
{
    const model_snapshot *k = &m->snapshot[o->list[0]];
    bool other = (o->option & OPTION_OTHER_WORLD) != 0;
    out->status = reef_restore(m->world, other ? m->other_snapshot : k->snapshot);
    if (out->status != REEF_OK) return;
    m->check_all = true;
    m->check_hash = k->hash;
}
void want_RESTORE(model *m, const op *o, outcome *want)
{
    const model_snapshot *k = &m->snapshot[o->list[0]];
    bool other = (o->option & OPTION_OTHER_WORLD) != 0;
    want->status = other ? REEF_OTHER_WORLD : ref_is_there(&k->reference) ? REEF_OK : REEF_BAD_ARGUMENT;
    if (want->status == REEF_OK) reference_restore(&m->reference, &k->reference);
}

/* ---- the end of a run ---- */

/* Copies that aren't written give back all memory that they took, and so do copies that are written completely. What
 * the family and the world make once, with the first copy, stays; if that took room which others had, these allocate
 * again. Arenas may grow in a round, because the quarantine keeps memory from being used again; then their bookkeeping
 * stays as well. */
static void check_memory_returns(model *m)
{
    uint64_t bytes = 0, spare = 0;
    for (uint32_t i = 0; i < 4; i++) {
        reef_world *f = reef_fork(m->world);
        reef_snapshot *s = reef_snapshot_take(m->world);
        if (!f || !s) return; /* it can't be copied */
        if (i < 3) reef_world_clear(f);
        reef_snapshot_free(s);
        world_end(m, f, NULL);
        reef_stats now = reef_world_stats(m->world);
        if (i > 1 && now.bytes_spare <= spare && now.bytes_total - now.bytes_spare != bytes)
            model_fail(m, "a fork and a snapshot leave %lld bytes",
                       (long long)(now.bytes_total - now.bytes_spare - bytes));
        bytes = now.bytes_total - now.bytes_spare;
        spare = now.bytes_spare;
    }
}

void forks_end(model *m)
{
    journal_end(m, NULL);
    for (uint32_t i = 0; i < FORKS && !m->failed; i += 2) fork_end(m, &m->fork[i]);
    for (uint32_t i = 0; i < SNAPSHOTS && !m->failed; i += 2) snapshot_end(m, &m->snapshot[i]);
    if (!m->failed && m->reference.destroyed % 2) { /* else half of them outlives the world */
        for (uint32_t i = 1; i < FORKS && !m->failed; i += 2) fork_end(m, &m->fork[i]);
        for (uint32_t i = 1; i < SNAPSHOTS && !m->failed; i += 2) snapshot_end(m, &m->snapshot[i]);
        if (!m->failed) model_compare(m, true);
        if (!m->failed) check_memory_returns(m);
    }
}

void forks_free(model *m)
{
    journal_end(m, NULL);
    for (uint32_t i = 0; i < SNAPSHOTS; i++) {
        reef_snapshot_free(m->snapshot[i].snapshot);
        m->snapshot[i].snapshot = NULL;
        ref_drop(&m->snapshot[i].reference);
    }
    for (uint32_t i = 0; i < FORKS; i++) {
        if (m->fork[i].world) world_end(m, m->fork[i].world, &m->fork[i].reference);
        m->fork[i].world = NULL;
        ref_drop(&m->fork[i].reference);
    }
}
