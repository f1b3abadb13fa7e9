/* The hash of a world. The reference has a digest of its own, over the same things and computed in another way: two
 * states have the same hash exactly if they have the same digest. */
#include "apply.h"
#include "fork.h"
#include "hash.h"
#include "inside.h"
#include "script.h"

/* ---- the reference's digest ---- */

static void add(uint64_t *digest, uint64_t x)
{
    *digest = (*digest ^ x) * 0x9E3779B97F4A7C15u;
    *digest ^= *digest >> 29;
}

/* The digest of a value's bytes; large types repeat their first 8 bytes. */
static uint64_t value_said(const model_type *t, uint64_t value)
{
    if (t->size == 0 || t->on_fork != REEF_FORK_COPY) return 0;
    return t->size < 8 ? value & ((UINT64_C(1) << 8 * t->size) - 1) : value;
}

static void add_entity(uint64_t *digest, const ref_world *r, uint32_t index)
{
    const ref_entity *e = &r->entity[index];
    add(digest, reef_entity_bits(ref_handle(r, index)));
    add(digest, e->set);
    add(digest, (uint64_t)e->disabled << 1 | e->off);
    if (e->unseen) add(digest, (uint64_t)e->unseen << 32);
    for (uint32_t t = 0; t < TYPES_MAX; t++)
        if (ref_has(e, t)) add(digest, value_said(&model_types[t], e->value[t]));
    if (ref_has(e, TYPE_SCRIPT)) add(digest, e->mark);
    for (uint32_t t = 0; t < TYPES_MAX; t++) {
        if (!ref_has(e, t)) continue;
        if (ref_shares(e, t))
            add(digest, ref_common_first(r, e, t) != index ? (uint64_t)ref_common_first(r, e, t) << 8 | t : 0);
        if (ref_is_multi(t) && e->several[special_of(t)])
            add(digest, e->several[special_of(t)]), add(digest, e->chain[special_of(t)]);
    }
}

/* By source and type; a target's order is in the places. */
static void add_links(uint64_t *digest, const ref_world *r)
{
    for (uint32_t i = 0; r->link_count && i < r->count; i++) {
        for (uint32_t k = 0; r->entity[i].links && k < RELATIONS; k++) {
            static ref_links list;
            ref_targets(r, k, i, &list);
            for (uint32_t n = 0; n < list.count; n++) {
                add(digest, (uint64_t)i << 32 | list.at[n]->target);
                add(digest, list.at[n]->data), add(digest, list.at[n]->place);
            }
            if (list.count) add(digest, k);
        }
    }
}

uint64_t ref_digest(const ref_world *r)
{
    uint64_t digest = 1;
    add(&digest, r->ticks);
    for (uint32_t i = 0; i < r->count; i++) {
        const ref_entity *e = &r->entity[i];
        add(&digest,
            (uint64_t)e->generation << 32 | (uint64_t)e->name << 8 | (uint64_t)e->life << 1 | (e->table != NULL));
    }
    add_links(&digest, r);
    for (uint32_t i = 0; i < r->event_count; i++) add(&digest, r->event[i]);
    if (r->event_count) add(&digest, (uint64_t)r->news << 8 | 7);
    for (uint32_t i = 0; i < r->lost_count; i++)
        add(&digest, reef_entity_bits(r->lost[i].entity)), add(&digest, r->lost[i].value);
    if (r->lost_count) add(&digest, (uint64_t)r->lost_count << 8 | 9);
    for (uint32_t i = r->free_first; i < r->free_end; i++) add(&digest, r->free_id[i]);
    for (uint32_t i = 0; i < r->table_count; i++) {
        const ref_table *t = r->table[i];
        if (t->count) add(&digest, UINT64_C(1) << 40 | t->set);
        for (uint32_t row = 0; row < t->count; row++) add_entity(&digest, r, t->row[row]);
    }
    return digest;
}

/* ---- both together ---- */

void hash_check(model *m, uint64_t hash)
{
    uint64_t digest = ref_digest(&m->reference);
    hash_entry *a = &m->by_digest[digest % HASHES], *b = &m->by_hash[hash % HASHES];
    if (hash == 0) model_fail(m, "the hash is 0");
    if (a->digest == digest && a->hash && a->hash != hash)
        model_fail(m, "the hash isn't what it was when everything was the same");
    if (hash && b->hash == hash && b->digest != digest)
        model_fail(m, "the hash is what it was when something was different");
    *a = *b = (hash_entry){digest, hash};
}

/* A fork's hash, computed anew. False: there is no fork. */
static bool hash_of_fork(const model *m, uint64_t *hash)
{
    reef_world *f = reef_fork(m->world);
    if (!f) return false;
    *hash = hash_anew(f);
    world_end((model *)(uintptr_t)m, f, &m->reference);
    return true;
}

/* The hash while a loop is open. False: there is nothing to loop over. */
static bool hash_in_loop(const model *m, const op *o, uint64_t *hash)
{
    reef_query_desc desc = {.terms = {{.component = component_of(o->type[0]), .access = REEF_WITH}}};
    reef_query q = reef_query_make(m->world, &desc);
    if (reef_query_is_null(q)) return false;
    reef_block b = reef_begin(m->world, q);
    bool some = reef_next(&b);
    if (some) *hash = reef_hash(m->world);
    if (some) reef_end(&b);
    reef_query_free(m->world, q);
    return some;
}

void core_HASH(model *m, const op *o, outcome *out)
{
    uint64_t hash, again;
    bool loop_first = o->option == HASH_IN_LOOP && o->value % 2;
    out->status = REEF_OK;
    if (loop_first && !hash_in_loop(m, o, &hash)) loop_first = false;
    if (!loop_first || hash == 0) hash = reef_hash(m->world); /* the first time, memory may have run out */
    if (hash == 0) {
        out->status = reef_last_error(m->world).status;
        return;
    }
    counted_memory.fail_at = 0;
    hash_check(m, hash);
    again = hash;
    switch (o->option) {
    case HASH_ANEW: again = hash_anew(m->world); break;
    case HASH_OF_FORK: hash_of_fork(m, &again); break;
    case HASH_IN_LOOP: hash_in_loop(m, o, &again); break;
    default: again = reef_hash(m->world); break;
    }
    if (again != hash)
        model_fail(m, "the hash is %llx, but %llx when it is computed in another way (%u)", (unsigned long long)hash,
                   (unsigned long long)again, o->option);
}
void want_HASH(model *m, const op *o, outcome *want)
{
    (void)m;
    (void)o;
    want->status = REEF_OK;
}
