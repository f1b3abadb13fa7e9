/* Comparing whole worlds, and the beginning and end of a run. */
#include "fork.h"
#include "hash.h"
#include "inside.h"
#include "pairs.h"
#include "script.h"
#include <stdlib.h>

/* ---- one entity ---- */

typedef struct seen {
    model *m;
    const ref_entity *e;
    reef_entity handle;
    uint32_t set, links;
    int last;            /* rank of the type before */
    uint32_t several[2]; /* of types in REEF_MULTI: values behind the first, and what they come to */
    uint64_t chain[2];
} seen;

static uint32_t type_of_component(reef_component c)
{
    for (uint32_t t = 0; t < TYPES_MAX; t++)
        if (model_types[t].id.id == c.id) return t;
    return TYPE_ZERO;
}

static bool see(void *context, reef_entity entity, reef_component type, const void *data, size_t size)
{
    seen *s = context;
    uint32_t t = type_of_component(type);
    if (relation_of(type) < RELATIONS) { /* compared by model_compare_links */
        s->links++;
        return true;
    }
    if ((int)t == s->last && ref_is_multi(t)) { /* one more */
        const uint32_t k = special_of(t);
        if (type_has_payload(&model_types[t]) &&
            !value_matches(&model_types[t], data, value_digest(&model_types[t], data)))
            model_fail(s->m, "entity {%u, %u} has a damaged value in %s", entity.index, entity.generation,
                       model_types[t].name);
        s->chain[k] = value_mix(s->chain[k], value_digest(&model_types[t], data));
        s->several[k]++;
        return true;
    }
    if (t == TYPE_ZERO || !ref_has(s->e, t))
        model_fail(s->m, "entity {%u, %u} has a component that it must not have: %s", entity.index, entity.generation,
                   reef_type_name(type));
    else if (!reef_entity_equal(entity, s->handle) || (int)t <= s->last || size != model_types[t].size ||
             (data == NULL) != (size == 0))
        model_fail(s->m, "visiting entity {%u, %u}: %s comes with the wrong entity, order or size", s->handle.index,
                   s->handle.generation, model_types[t].name);
    else if (!value_matches(&model_types[t], data, s->e->value[t]))
        model_fail(s->m, "entity {%u, %u} has a wrong value in %s", entity.index, entity.generation,
                   model_types[t].name);
    else if (t == TYPE_SCRIPT) script_compare(s->m, s->e, entity, data);
    if (s->m->failed) return false;
    s->set |= 1u << t;
    s->last = (int)t;
    return true;
}

/* Compares what was changed and what was added since the times that were marked. */
static void compare_times(model *m, reef_entity e, const ref_entity *x)
{
    const ref_world *r = &m->reference;
    for (uint32_t t = 0; t < TYPES_MAX && !m->failed; t++) {
        if (!model_types[t].tracked || !ref_knows(r, t)) continue;
        for (uint32_t i = 0; i < MARKS && i < r->mark_count + 1; i++) {
            const ref_mark *k = &r->mark[i]; /* one not made yet is before everything */
            bool has = x && ref_has(x, t);
            bool changed = has && x->changed[t] > k->time, added = has && x->added[t] > k->time;
            if (reef_changed_since_id(m->world, e, model_types[t].id, k->version) != changed &&
                !(has && x->changed_unknown >> t & 1))
                model_fail(m, "{%u, %u}: %s %s since version %llu", e.index, e.generation, model_types[t].name,
                           changed ? "changed" : "didn't change", (unsigned long long)k->version);
            if (reef_added_since_id(m->world, e, model_types[t].id, k->version) != added &&
                !(has && x->added_unknown >> t & 1))
                model_fail(m, "{%u, %u}: %s %s since version %llu", e.index, e.generation, model_types[t].name,
                           added ? "was added" : "wasn't added", (unsigned long long)k->version);
        }
    }
}

void model_compare_entity(model *m, reef_entity e)
{
    seen s = {m, ref_alive(&m->reference, e), e, 0, 0, -1, {0, 0}, {0, 0}};
    if (reef_is_alive(m->world, e) != (s.e != NULL)) {
        model_fail(m, "entity {%u, %u} must be %s", e.index, e.generation, s.e ? "alive" : "dead");
        return;
    }
    bool visited = reef_visit_entity(m->world, e, see, &s);
    if (m->failed) return;
    if (visited != (s.e != NULL)) model_fail(m, "visiting entity {%u, %u} answers wrong", e.index, e.generation);
    if (s.e && s.links != s.e->links)
        model_fail(m, "entity {%u, %u} has %u relations, must have %u", e.index, e.generation, s.links, s.e->links);
    if (s.e && s.set != s.e->set)
        model_fail(m, "entity {%u, %u} lacks components: set %x of ranks, must be %x", e.index, e.generation, s.set,
                   s.e->set);
    for (uint32_t t = 0; s.e && t < TYPES_MAX; t++) {
        if (!ref_is_multi(t) || !ref_has(s.e, t)) continue;
        const uint32_t k = special_of(t);
        if (s.several[k] != s.e->several[k] || (s.several[k] && s.chain[k] != s.e->chain[k]))
            model_fail(m, "entity {%u, %u} has %u values of %s behind the first, must have %u", e.index, e.generation,
                       s.several[k], model_types[t].name, s.e->several[k]);
    }
    for (uint32_t t = 0; s.e && t < TYPES_MAX; t++) {
        if (model_types[t].home != REEF_SHARED || !ref_has(s.e, t)) continue;
        const uint32_t first = ref_common_first(&m->reference, s.e, t);
        if (reef_get_id(m->world, e, model_types[t].id) !=
            reef_get_id(m->world, ref_handle(&m->reference, first), model_types[t].id))
            model_fail(m, "entity {%u, %u} hasn't its %s in common with index %u", e.index, e.generation,
                       model_types[t].name, first);
    }
    for (uint32_t t = 0; t < TYPES_MAX; t++)
        if (reef_is_enabled_id(m->world, e, model_types[t].id) != (s.e && ref_has(s.e, t) && !(s.e->disabled >> t & 1)))
            model_fail(m, "%s of entity {%u, %u} is enabled and must not be, or the other way round",
                       model_types[t].name, e.index, e.generation);
    if (reef_is_enabled_id(m->world, e, (reef_component){0}) != (s.e && !s.e->off))
        model_fail(m, "entity {%u, %u} is enabled and must not be, or the other way round", e.index, e.generation);
    const char *name = reef_name(m->world, e);
    const char *must = s.e && s.e->name ? model_names[s.e->name - 1] : NULL;
    if ((name == NULL) != (must == NULL) || (name && strcmp(name, must) != 0))
        model_fail(m, "entity {%u, %u} is named %s, must be %s", e.index, e.generation, name ? name : "-",
                   must ? must : "-");
    if (!m->failed) model_compare_links(m, e);
    if (!m->failed) compare_times(m, e, s.e);
    if (s.e) pairs_compared(m, s.e);
}

/* ---- order: what loops visit ---- */

typedef struct order {
    reef_entity *entity;
    uint32_t count, capacity;
} order;

static order order_core, order_want;

static void order_add(order *o, reef_entity e)
{
    if (o->count == o->capacity) {
        o->capacity = o->capacity ? o->capacity * 2 : 1024;
        o->entity = realloc(o->entity, o->capacity * sizeof *o->entity);
        if (!o->entity) abort();
    }
    o->entity[o->count++] = e;
}

static void order_see(void *context, ref_entity *e, uint32_t index)
{
    reef_entity handle = {index, e->generation};
    (void)context;
    order_add(&order_want, handle);
}

static void orders_compare(model *m, const char *what, uint32_t set)
{
    if (order_core.count != order_want.count)
        model_fail(m, "%s (ranks %x): %u entities, must be %u", what, set, order_core.count, order_want.count);
    for (uint32_t i = 0; i < order_core.count && !m->failed; i++)
        if (!reef_entity_equal(order_core.entity[i], order_want.entity[i]))
            model_fail(m, "%s (ranks %x): place %u is {%u, %u}, must be {%u, %u}", what, set, i,
                       order_core.entity[i].index, order_core.entity[i].generation, order_want.entity[i].index,
                       order_want.entity[i].generation);
}

static reef_query query_of_set(model *m, uint32_t set)
{
    reef_query_desc desc = {0};
    uint32_t n = 0;
    for (uint32_t t = 0; t < TYPES_MAX; t++) {
        if (!(set >> t & 1)) continue;
        desc.terms[n].component = model_types[t].id;
        desc.terms[n++].access = REEF_WITH;
    }
    reef_query q = reef_query_make(m->world, &desc);
    if (reef_query_is_null(q))
        model_fail(m, "no query of ranks %x: %s", set, reef_status_name(reef_last_error(m->world).status));
    return q;
}

static void compare_query(model *m, uint32_t set, reef_query q)
{
    if (reef_query_is_null(q)) return;
    order_core.count = order_want.count = 0;
    for (reef_block b = reef_begin(m->world, q); reef_next(&b);) {
        const uint64_t *mask = reef_block_mask(&b);
        for (uint32_t i = 0; i < b.count; i++)
            if (!mask || mask[i / 64] >> i % 64 & 1) order_add(&order_core, b.entities[i]);
    }
    uint64_t count = reef_query_count(m->world, q);
    ref_walk_enabled(&m->reference, set, order_see, NULL);
    if (count != order_want.count)
        model_fail(m, "a query of ranks %x counts %llu, must be %u", set, (unsigned long long)count, order_want.count);
    orders_compare(m, "a loop", set);
}

static void compare_orders(model *m)
{
    uint32_t types = m->active & m->reference.known, some[TYPES_MAX], n = 0;
    for (uint32_t t = 0; t < TYPES_MAX && !m->failed; t++) {
        if (!(types >> t & 1)) continue;
        some[n++] = t;
        if (reef_query_is_null(m->single[t])) m->single[t] = query_of_set(m, 1u << t);
        compare_query(m, 1u << t, m->single[t]);
        if (reef_count_id(m->world, model_types[t].id) != ref_count_type(&m->reference, t))
            model_fail(m, "the number of entities with %s is wrong", model_types[t].name);
    }
    uint64_t random = m->reference.spawned * 31 + m->reference.destroyed;
    for (uint32_t i = 0; i < 3 && n > 1 && !m->failed; i++) {
        uint64_t x = value_mix(random, i) >> 1;
        uint32_t pair = 1u << some[x % n] | 1u << some[x / 64 % n];
        reef_query q = query_of_set(m, pair);
        compare_query(m, pair, q);
        reef_query_free(m->world, q);
    }
}

/* ---- everything ---- */

static bool see_living(void *context, reef_entity e, reef_component type, const void *data, size_t size)
{
    (void)context;
    (void)type;
    (void)data;
    (void)size;
    order_add(&order_core, e);
    return true;
}

static void compare_living(model *m)
{
    const ref_world *r = &m->reference;
    order_core.count = order_want.count = 0;
    reef_visit_entities(m->world, see_living, NULL);
    for (uint32_t i = 0; i < r->count; i++)
        if (r->entity[i].life == LIFE_ALIVE) order_add(&order_want, ref_handle(r, i));
    orders_compare(m, "all living", 0);
    for (uint32_t i = 0; i < order_want.count && !m->failed; i++) {
        reef_entity e = order_want.entity[i];
        model_compare_entity(m, e);
        if (!reef_entity_equal(reef_entity_at(m->world, e.index), e))
            model_fail(m, "entity_at(%u) finds another one", e.index);
    }
    for (uint32_t i = 0; i < 64 && m->handle_count > 0 && !m->failed; i++) {
        reef_entity e = m->handle[(value_mix(r->destroyed, i) >> 1) % m->handle_count];
        if (reef_is_alive(m->world, e) != (ref_alive(r, e) != NULL))
            model_fail(m, "handle {%u, %u} is alive in one world only", e.index, e.generation);
    }
}

typedef struct visit_all {
    model *m;
    uint32_t type, row; /* rank and place of the next expected one */
} visit_all;

/* Writes the order of the next type that some entity has to order_want. */
static void next_type(visit_all *v)
{
    order_want.count = v->row = 0;
    while (++v->type < TYPES_MAX && order_want.count == 0) ref_walk(&v->m->reference, 1u << v->type, order_see, NULL);
    if (order_want.count > 0) v->type--;
}

static bool see_all(void *context, reef_entity e, reef_component type, const void *data, size_t size)
{
    visit_all *v = context;
    (void)data;
    (void)size;
    if (relation_of(type) < RELATIONS) return true;
    const bool same = v->row && v->type < TYPES_MAX && type.id == model_types[v->type].id.id;
    /* one more value */
    if (same && ref_is_multi(v->type) && reef_entity_equal(order_want.entity[v->row - 1], e)) return true;
    if (v->row == order_want.count) next_type(v);
    if (v->type >= TYPES_MAX || type.id != model_types[v->type].id.id || v->row >= order_want.count ||
        !reef_entity_equal(order_want.entity[v->row], e)) {
        model_fail(v->m, "visiting the world: {%u, %u} %s comes out of order", e.index, e.generation,
                   reef_type_name(type));
        return false;
    }
    v->row++;
    return true;
}

static void compare_visit(model *m)
{
    visit_all v = {m, UINT32_MAX, 0};
    order_want.count = 0;
    reef_visit_world(m->world, see_all, &v);
    if (m->failed) return;
    if (v.row == order_want.count) next_type(&v);
    if (v.row < order_want.count) model_fail(m, "visiting the world ends too early");
}

static void compare_stats(model *m)
{
    const ref_world *r = &m->reference;
    reef_stats s = reef_world_stats(m->world);
    uint64_t empty = 0, tables = 0, names = 0, payloads = 0;
    for (uint32_t i = 0; i < r->table_count; i++) tables += r->table[i]->count > 0 && r->table[i]->set != 0;
    for (uint32_t i = 0; i < r->living_count; i++) {
        const ref_entity *e = &r->entity[r->living[i]];
        empty += (e->set & ~ref_outside()) == 0;
        names += e->name != 0;
        for (uint32_t t = 0; t < TYPES_MAX; t++)
            if (ref_has(e, t) && type_has_payload(&model_types[t]))
                payloads += ref_shares(e, t) ? ref_common_first(r, e, t) == r->living[i]
                                             : model_types[t].sort != SORT_MOVER || e->value[t] != 0;
        for (uint32_t t = 0; t < TYPES_MAX; t++)
            if (ref_has(e, t) && ref_is_multi(t) && type_has_payload(&model_types[t]))
                payloads += e->several[special_of(t)];
    }
    bool alone = !m->journal && !m->bytes_beside; /* forks share values, and a journal holds one */
    for (uint32_t i = 0; i < FORKS; i++) alone &= m->fork[i].world == NULL;
    for (uint32_t i = 0; i < SNAPSHOTS; i++) alone &= m->snapshot[i].snapshot == NULL;
    if (alone && payloads_live() != payloads)
        model_fail(m, "%llu owned values live, must be %llu", (unsigned long long)payloads_live(),
                   (unsigned long long)payloads);
#define SAME(field, must) \
    if (s.field != (must)) \
    model_fail(m, "stats: %s is %llu, must be %llu", #field, (unsigned long long)s.field, (unsigned long long)(must))
    SAME(entities, r->living_count);
    SAME(entities_empty, empty);
    SAME(indices, r->count);
    SAME(free_ids, r->free_end - r->free_first);
    SAME(tables, tables);
    SAME(names, names);
    SAME(bytes_total, counted_memory.bytes - m->bytes_beside);
    SAME(events, r->event_count);
    SAME(spawned, r->spawned);
    SAME(destroyed, r->destroyed);
#undef SAME
}

void model_compare(model *m, bool validate)
{
    model_compare_rows(m, validate);
    if (!m->failed) compare_orders(m);
}

void model_compare_rows(model *m, bool validate)
{
    char message[400] = "";
    reef_status s = validate ? reef_validate(m->world, message, sizeof message) : REEF_OK;
    if (s != REEF_OK) model_fail(m, "reef_validate: %s: %s", reef_status_name(s), message);
    if (!m->failed) compare_living(m);
    if (!m->failed) compare_visit(m);
    if (!m->failed) compare_stats(m);
}

/* ---- a run ---- */

uint64_t random_next(uint64_t *state)
{
    return value_mix((*state)++, 0) >> 1; /* the lowest bit of a mix is always set */
}

/* The set of the first type with a feature, and of its base, if it has one. */
static uint32_t first_with(uint32_t feature)
{
    for (uint32_t t = 0; t < TYPES_MAX; t++)
        if (pairs_of_type(t) >> feature & 1)
            return 1u << t | (model_types[t].base < TYPES_MAX ? types_below(TYPE_BASE) | 1u << TYPE_BASE : 0);
    return 0;
}

static void choose_types(model *m, uint64_t seed, uint64_t *random, uint32_t types_max)
{
    uint32_t n = 4 + (uint32_t)(random_next(random) % TYPES_MAX);
    if (n > types_max) n = types_max;
    m->active = 0;
    for (uint32_t i = 0; i < n; i++) m->active |= 1u << random_next(random) % TYPES_MAX;
    for (uint32_t f = 0; f < PAIR_COUNT && seed_has_all(seed); f++) m->active |= first_with(f);
    if (seed_has_switches(seed)) {
        m->active = types_along(m->active);
        return;
    }
    for (uint32_t t = 0; t < TYPES_MAX; t++) /* which bring a switch along */
        if (types_along(1u << t) & ref_switches()) m->active &= ~(1u << t);
    m->active &= ~ref_switches();              /* a table that ever saw a switch never takes the fast paths again */
    m->active |= 1u << 0 | 1u << 1 | 1u << 18; /* two of 8 bytes and a tag: rows of only such types move another way */
}

/* A small second world, with its own memory. */
static bool other_make(model *m)
{
    reef_bundle_part part = {component_of(0), 0};
    m->other = reef_world_new(NULL);
    if (!m->other) return false;
    m->other_bundle = reef_bundle_new(m->other, &part, 1);
    m->other_snapshot = reef_snapshot_take(m->other);
    return m->other_bundle != NULL && m->other_snapshot != NULL;
}

bool relations_use(reef_world *w)
{
    bool ok = reef_world_use(w, model_types[TYPE_PREFAB].id) == REEF_OK;
    for (uint32_t i = 0; i < RELATIONS; i++) ok = ok && reef_world_use(w, model_relations[i].id) == REEF_OK;
    return ok;
}

bool model_start(model *m, uint64_t seed, uint32_t types_max, bool with_world)
{
    uint64_t random = value_mix(seed, 999);
    reef_world_config config = {0};
    memset(m, 0, sizeof *m);
    names_make();
    ref_make(&m->reference);
    choose_types(m, seed, &random, types_max);
    m->relations = seed_has_relations(seed);
    m->strict = random_next(&random) % 4 == 0 && !seed_has_all(seed);
    m->never_reuse = random_next(&random) % 6 == 0;
    m->entities_max = random_next(&random) % 5 == 0 && !m->never_reuse ? 700 : 0;
    m->reference.never_reuse = m->never_reuse;
    if (m->entities_max) m->reference.entities_max = m->entities_max;
    if (m->strict)
        m->reference.known = types_along(m->active & (uint32_t)(random_next(&random) | random_next(&random)));
    m->reference.known |= 1u << TYPE_PREFAB | 1u << TYPE_SCRIPT;
    if (!with_world) return true;
    counted_reset();
    config.allocator = counted_allocator();
    config.strict = m->strict;
    config.never_reuse = m->never_reuse;
    config.entities_max = m->entities_max;
    m->world = reef_world_new(&config);
    if (!m->world || !other_make(m)) return false;
    if (reef_world_use(m->world, event_type) != REEF_OK || !relations_use(m->world) || !tick_systems(m->world))
        return false;
    for (uint32_t t = 0; t < TYPES_MAX && m->strict; t++)
        if (m->reference.known >> t & 1)
            if (reef_world_use(m->world, model_types[t].id) != REEF_OK) return false;
    return true;
}

void model_stop(model *m)
{
    if (m->world) {
        journal_end(m, m->world);
        for (uint32_t i = 0; i < SLOTS; i += 2) { /* the others die with their world */
            reef_query_free(m->world, m->query[i].query);
            reef_bundle_free(m->bundle[i].bundle);
        }
        hash_check(m, hash_anew(m->world));
        if (!m->failed) forks_end(m);
        world_end(m, m->world, m->failed ? NULL : &m->reference);
        forks_free(m);
        reef_world_free(m->other);
        reef_snapshot_free(m->other_snapshot);
        if (payloads_live() != 0)
            model_fail(m, "%llu owned values outlive the world", (unsigned long long)payloads_live());
        if (counted_memory.blocks != 0)
            model_fail(m, "%llu bytes in %llu blocks are left after the world",
                       (unsigned long long)counted_memory.bytes, (unsigned long long)counted_memory.blocks);
        if (counted_memory.fault) model_fail(m, "at the end: %s", counted_memory.fault);
    }
    ref_drop(&m->reference);
    forks_free(m);
    free(m->handle);
    free(m->core.made);
    free(m->want.made);
    free(order_core.entity);
    free(order_want.entity);
    memset(&order_core, 0, sizeof order_core);
    memset(&order_want, 0, sizeof order_want);
}
