/* The operations, each for reef (core_...) and for the reference (want_...). */
#include "apply.h"
#include <stdlib.h>

/* ---- entities and values of an operation ---- */

reef_entity model_handle(const model *m, uint32_t number)
{
    reef_entity e = {0, 0};
    if (number == SUBJECT_FAR) {
        e.index = UINT32_MAX - 9;
        e.generation = 1;
    }
    return number < m->handle_count ? m->handle[number] : e;
}

reef_entity subject_of(const model *m, const op *o)
{
    reef_entity e = model_handle(m, o->subject);
    if (o->subject == SUBJECT_AHEAD) {
        e = model_handle(m, o->list[OP_LIST - 1]);
        if (e.generation) e.generation++;
    }
    return e;
}

uint32_t op_makes(const op *o)
{
    switch ((op_kind)o->kind) {
    case OP_CREATE:
    case OP_SPAWN:
    case OP_CLONE:
    case OP_RESERVE_ID:
    case OP_RESERVE_RANGE:
    case OP_CREATE_AS:
    case OP_BUNDLE_SPAWN: return 1;
    case OP_SPAWN_MANY:
    case OP_CLONE_MANY: return o->n;
    case OP_DEFER:
    case OP_HISTORY: return DEFER_STEPS;
    case OP_MERGE: return MERGE_MADE;
    case OP_TICK: return TICK_MADE;
    case OP_INSTANTIATE: return TREE_MADE;
    default: return 0;
    }
}

void model_made(model *m, uint32_t first, const reef_entity *made, uint32_t count)
{
    if (first + count > m->handle_capacity) {
        uint32_t n = (first + count) * 2 + 1024;
        reef_entity *p = realloc(m->handle, n * sizeof *p);
        if (!p) abort();
        memset(p + m->handle_capacity, 0, (n - m->handle_capacity) * sizeof *p);
        m->handle = p;
        m->handle_capacity = n;
    }
    if (first + count > m->handle_count) m->handle_count = first + count;
    for (uint32_t i = 0; i < count; i++) {
        m->handle[first + i] = made[i];
        if (made[i].generation == 0) continue;
        m->reference.entity[made[i].index].number = first + i;
    }
}

/* The entities of an operation on many entities: a list, or a range of numbers, which may be backwards. Valid until the
 * next call. */
static const reef_entity *entities_of(const model *m, const op *o)
{
    static reef_entity many[8192];
    for (uint32_t i = 0; i < o->n; i++) {
        if (!(o->option & 1)) many[i] = model_handle(m, o->list[i]);
        else many[i] = model_handle(m, o->subject + (o->option & 2 ? o->n - 1 - i : i));
    }
    return many;
}

uint32_t model_values(const model *m, const op *o, ref_value *values)
{
    memset(values, 0, OP_TYPES * sizeof *values);
    for (uint32_t i = 0; i < o->count; i++) {
        values[i].type = o->type[i];
        values[i].how = (ref_how)o->how[i];
        /* scripts are made by reef_script_make, and not from those of others */
        if (o->type[i] == TYPE_SCRIPT && values[i].how == HOW_FROM) values[i].how = HOW_ONE;
        values[i].flaw = i + 1 == o->count ? (ref_flaw)o->flaw : FLAW_NONE;
        values[i].seed = o->value + i;
        values[i].from = model_handle(m, o->list[0]);
    }
    return o->count;
}

static void *memory_for(const model_type *t, uint32_t n)
{
    size_t at = t->align < 16 ? 16 : t->align;
    void *p = aligned_take(at, ((size_t)t->size * n + at) / at * at);
    if (!p) abort();
    return p;
}

static void given_one(const model *m, given *g, uint32_t i, uint32_t n)
{
    const ref_value *r = &g->ref[i];
    reef_value *v = &g->v[i];
    const model_type *t = &model_types[r->type < TYPES_MAX ? r->type : 0];
    v->component = component_of(r->type);
    v->kind = r->how == HOW_ARRAY ? REEF_VALUE_ARRAY : r->how == HOW_REMOVE ? REEF_VALUE_REMOVE : REEF_VALUE_DEFAULT;
    if (r->how == HOW_ARGS) {
        g->args[i] = ref_value_at(r, 0);
        v->data = &g->args[i];
    }
    if (r->how == HOW_DEFAULT || r->how == HOW_ARGS || r->how == HOW_REMOVE || r->type >= TYPES_MAX) return;
    if (r->how != HOW_ARRAY) v->kind = REEF_VALUE_ONE;
    v->size = t->size;
    if (t->size == 0) return;
    if (r->how == HOW_FROM && t->sort != SORT_MOVER) {
        reef_component own;
        const bool has =
            reef_find_sub_id(m->world, r->from, v->component, &own) == REEF_OK && own.id == v->component.id;
        v->data = has ? reef_get_id(m->world, r->from, v->component) : NULL;
        if (v->data) return;
    }
    g->elements[i] = r->how == HOW_ARRAY ? n : 1;
    g->memory[i] = memory_for(t, g->elements[i]);
    if (r->how == HOW_FROM && t->home == REEF_SPLIT &&
        reef_read_id(m->world, r->from, v->component, g->memory[i], t->size)) {
        v->data = g->memory[i];
        return;
    }
    for (uint32_t k = 0; k < g->elements[i]; k++)
        value_make(t, (char *)g->memory[i] + (size_t)k * t->size, ref_value_at(r, k));
    v->data = g->memory[i];
}

void given_make(const model *m, const op *o, uint32_t n, given *g)
{
    memset(g, 0, sizeof *g);
    g->count = model_values(m, o, g->ref);
    for (uint32_t i = 0; i < g->count; i++) {
        given_one(m, g, i, n);
        switch (g->ref[i].flaw) {
        case FLAW_SIZE: g->v[i].size++; break;
        case FLAW_KIND: g->v[i].kind = (reef_value_kind)9; break;
        case FLAW_DATA: g->v[i].data = NULL; break;
        default: break;
        }
    }
}

void given_free(given *g, bool taken)
{
    for (uint32_t i = 0; i < g->count; i++) {
        if (!g->memory[i]) continue;
        const model_type *t = &model_types[g->ref[i].type];
        for (uint32_t k = 0; k < g->elements[i] && !(taken && t->sort == SORT_MOVER); k++)
            value_unmake(t, (char *)g->memory[i] + (size_t)k * t->size);
        aligned_give(g->memory[i]);
    }
}

static reef_status last_status(const model *m) { return reef_last_error(m->world).status; }

/* A call that returns one entity. */
static void one_made(const model *m, outcome *out, reef_entity e)
{
    out->made[0] = e;
    out->made_count = e.generation != 0;
    out->status = e.generation != 0 ? REEF_OK : last_status(m);
}

static void want_one(outcome *want) { want->made_count = want->status == REEF_OK; }

/* ---- making ---- */

void core_CREATE(model *m, const op *o, outcome *out)
{
    one_made(m, out, o->option & 1 ? reef_create_entity(m->world) : reef_create(m->world));
}
void want_CREATE(model *m, const op *o, outcome *want)
{
    (void)o;
    want->status = ref_spawn(&m->reference, 1, want->made, NULL, 0);
    want_one(want);
}

void core_SPAWN(model *m, const op *o, outcome *out)
{
    given g;
    given_make(m, o, 1, &g);
    one_made(m, out, reef_spawn_values(m->world, g.v, g.count));
    given_free(&g, out->status == REEF_OK);
}
void want_SPAWN(model *m, const op *o, outcome *want)
{
    ref_value values[OP_TYPES];
    uint32_t count = model_values(m, o, values);
    want->status = ref_spawn(&m->reference, 1, want->made, values, count);
    want_one(want);
}

void core_SPAWN_MANY(model *m, const op *o, outcome *out)
{
    given g;
    given_make(m, o, o->n, &g);
    out->status = reef_spawn_many_values(m->world, o->n, o->option & 1 ? NULL : out->made, g.v, g.count);
    out->made_count = out->status == REEF_OK && !(o->option & 1) ? o->n : 0;
    given_free(&g, out->status == REEF_OK && o->n > 0); /* nobody to take them */
}
void want_SPAWN_MANY(model *m, const op *o, outcome *want)
{
    ref_value values[OP_TYPES];
    uint32_t count = model_values(m, o, values);
    want->status = ref_spawn(&m->reference, o->n, want->made, values, count);
    want->made_count = want->status == REEF_OK ? o->n : 0;
}

void core_CLONE(model *m, const op *o, outcome *out) { one_made(m, out, reef_clone(m->world, subject_of(m, o))); }
void want_CLONE(model *m, const op *o, outcome *want)
{
    want->status = ref_clone(&m->reference, subject_of(m, o), 1, want->made);
    want_one(want);
}

/* Whose only tree is itself: nobody is its child, nor is it related to itself. */
static bool clones_tree(const model *m, const op *o)
{
    static ref_links list;
    const ref_world *r = &m->reference;
    const reef_entity e = subject_of(m, o);
    if (!op_clones_tree(o) || !ref_alive(r, e)) return op_clones_tree(o);
    for (uint32_t i = 0; i < RELATIONS; i++)
        if (ref_link_find(r, i, e.index, e.index)) return false;
    ref_sources(r, RELATION_CHILD, e.index, &list);
    return list.count == 0;
}

void core_CLONE_MANY(model *m, const op *o, outcome *out)
{
    reef_entity *made = o->option & 1 ? NULL : out->made;
    /* an entity without children is a tree, too */
    out->status = clones_tree(m, o) ? reef_clone_tree(m->world, subject_of(m, o), o->n, made)
                                    : reef_clone_many(m->world, subject_of(m, o), o->n, made);
    out->made_count = out->status == REEF_OK && !(o->option & 1) ? o->n : 0;
}
void want_CLONE_MANY(model *m, const op *o, outcome *want)
{
    want->status = ref_clone(&m->reference, subject_of(m, o), o->n, want->made);
    want->made_count = want->status == REEF_OK ? o->n : 0;
}

void core_RESERVE_ID(model *m, const op *o, outcome *out)
{
    (void)o;
    one_made(m, out, reef_reserve_id(m->world));
}
void want_RESERVE_ID(model *m, const op *o, outcome *want)
{
    (void)o;
    want->status = ref_reserve_id(&m->reference, want->made);
    want_one(want);
}

void core_RESERVE_RANGE(model *m, const op *o, outcome *out) { one_made(m, out, reef_reserve_range(m->world, o->n)); }
void want_RESERVE_RANGE(model *m, const op *o, outcome *want)
{
    want->status = ref_reserve_range(&m->reference, o->n, want->made);
    want_one(want);
}

void core_RELEASE_ID(model *m, const op *o, outcome *out) { out->status = reef_release_id(m->world, subject_of(m, o)); }
void want_RELEASE_ID(model *m, const op *o, outcome *want)
{
    want->status = ref_release_id(&m->reference, subject_of(m, o));
}

static reef_entity wanted_of(const op *o)
{
    reef_entity e = {o->list[0], o->list[1]};
    return e;
}
void core_CREATE_AS(model *m, const op *o, outcome *out)
{
    out->status = reef_create_as(m->world, wanted_of(o));
    out->made[0] = wanted_of(o);
    out->made_count = out->status == REEF_OK;
}
void want_CREATE_AS(model *m, const op *o, outcome *want)
{
    want->status = ref_create_as(&m->reference, wanted_of(o));
    want->made[0] = wanted_of(o);
    want_one(want);
}

/* ---- bundles: the slot is o->n ---- */

/* Lays the values out one after the other, aligned. */
static void bundle_lay_out(model_bundle *b, const op *o)
{
    b->count = o->count;
    b->bytes = 0;
    for (uint32_t i = 0; i < o->count; i++) {
        b->type[i] = o->type[i];
        if (o->type[i] >= TYPES_MAX) continue;
        const model_type *t = &model_types[o->type[i]];
        b->offset[i] = (b->bytes + t->align - 1) / t->align * t->align;
        b->bytes = b->offset[i] + t->size;
    }
}

void core_BUNDLE_NEW(model *m, const op *o, outcome *out)
{
    reef_bundle_part part[OP_TYPES];
    model_bundle b = {0};
    bundle_lay_out(&b, o);
    for (uint32_t i = 0; i < o->count; i++) {
        part[i].component = component_of(o->type[i]);
        part[i].offset = b.offset[i];
    }
    b.bundle = reef_bundle_new(m->world, part, o->count);
    out->status = b.bundle ? REEF_OK : last_status(m);
    if (!b.bundle) return;
    reef_bundle_free(m->bundle[o->n].bundle);
    m->bundle[o->n].bundle = b.bundle;
}
void want_BUNDLE_NEW(model *m, const op *o, outcome *want)
{
    ref_value values[OP_TYPES];
    uint32_t count = model_values(m, o, values);
    want->status = ref_check_bundle(&m->reference, values, count);
    if (want->status == REEF_OK) bundle_lay_out(&m->bundle[o->n], o);
}

void core_BUNDLE_FREE(model *m, const op *o, outcome *out)
{
    reef_bundle_free(m->bundle[o->n].bundle);
    m->bundle[o->n].bundle = NULL;
    out->status = REEF_OK;
}
void want_BUNDLE_FREE(model *m, const op *o, outcome *want)
{
    m->bundle[o->n].count = 0;
    want->status = REEF_OK;
}

void core_BUNDLE_SPAWN(model *m, const op *o, outcome *out)
{
    const model_bundle *b = &m->bundle[o->n];
    model_type all = {.sort = SORT_PLAIN, .size = b->bytes, .align = 4096};
    out->status = REEF_OK;
    if (b->count == 0) return;
    if (o->option & 1) {
        one_made(m, out, reef_spawn_bundle(m->world, m->other_bundle, ""));
        return;
    }
    char *packed = memory_for(&all, 1);
    for (uint32_t i = 0; i < b->count; i++)
        value_make(&model_types[b->type[i]], packed + b->offset[i],
                   ref_value_at(&(const ref_value){.type = b->type[i], .seed = o->value + i}, 0));
    one_made(m, out, reef_spawn_bundle(m->world, b->bundle, packed));
    for (uint32_t i = 0; i < b->count; i++)
        if (!(out->status == REEF_OK && model_types[b->type[i]].sort == SORT_MOVER))
            value_unmake(&model_types[b->type[i]], packed + b->offset[i]);
    aligned_give(packed);
}
void want_BUNDLE_SPAWN(model *m, const op *o, outcome *want)
{
    const model_bundle *b = &m->bundle[o->n];
    ref_value values[OP_TYPES] = {0};
    want->status = REEF_OK;
    if (b->count == 0) return;
    if (o->option & 1) {
        want->status = REEF_OTHER_WORLD;
        return;
    }
    for (uint32_t i = 0; i < b->count; i++) {
        values[i].type = b->type[i];
        values[i].seed = o->value + i;
    }
    want->status = ref_spawn(&m->reference, 1, want->made, values, b->count);
    want_one(want);
}

/* ---- destroying ---- */

void core_DESTROY(model *m, const op *o, outcome *out) { out->status = reef_destroy(m->world, subject_of(m, o)); }
void want_DESTROY(model *m, const op *o, outcome *want) { want->status = ref_destroy(&m->reference, subject_of(m, o)); }

void core_DESTROY_MANY(model *m, const op *o, outcome *out)
{
    out->number += reef_destroy_many(m->world, entities_of(m, o), o->n);
    out->status = counted_memory.fired ? REEF_NO_MEMORY : REEF_OK;
}
void want_DESTROY_MANY(model *m, const op *o, outcome *want)
{
    const reef_entity *e = entities_of(m, o);
    want->status = REEF_OK;
    for (uint32_t i = 0; i < o->n; i++) {
        const reef_status s = ref_destroy(&m->reference, e[i]);
        if (s == REEF_REFUSED) return; /* it ends where it can't go on */
        want->number += s == REEF_OK;
    }
}

static uint32_t components_of(const op *o, reef_component *c)
{
    for (uint32_t i = 0; i < o->count; i++) c[i] = component_of(o->type[i]);
    return o->count;
}
void core_DESTROY_WITH(model *m, const op *o, outcome *out)
{
    reef_component c[OP_TYPES];
    uint32_t count = components_of(o, c);
    out->status = destroy_everywhere(m->world, c, count, o->option & 1 ? NULL : &out->number);
}
void want_DESTROY_WITH(model *m, const op *o, outcome *want)
{
    want->status = ref_destroy_with(&m->reference, o->type, o->count, &want->number);
    if (o->option & 1) want->number = 0;
}

/* ---- changing ---- */

/* The digest of a component to which a call returned a pointer. */
static uint64_t digest_at(uint32_t type, const void *p)
{
    return p && type < TYPES_MAX ? value_digest(&model_types[type], p) : 0;
}
/* The type that a call with this type means, according to reef: a base may mean its only subtype. */
static uint32_t type_meant(const model *m, reef_entity e, uint32_t type)
{
    reef_component found;
    if (type >= TYPES_MAX || reef_find_sub_id(m->world, e, component_of(type), &found) != REEF_OK) return type;
    for (uint32_t t = 0; t < TYPES_MAX; t++)
        if (model_types[t].id.id == found.id) return t;
    return type;
}

static uint64_t digest_want(const model *m, reef_entity e, uint32_t type)
{
    const ref_entity *x = ref_alive(&m->reference, e);
    if (x && ref_knows(&m->reference, type)) type = ref_meant(x, type);
    if (!x || !ref_has(x, type) || model_types[type].home == REEF_SPLIT || model_types[type].size == 0) return 0;
    return value_digest_of(&model_types[type], x->value[type]);
}

void core_ADD(model *m, const op *o, outcome *out)
{
    uint64_t args = value_mix(o->value, 0);
    void *p = NULL;
    out->status = reef_add_id(m->world, subject_of(m, o), component_of(o->type[0]), o->option & 1 ? &args : NULL,
                              o->option & 2 ? &p : NULL);
    out->digest = digest_at(o->type[0], p);
}
void want_ADD(model *m, const op *o, outcome *want)
{
    want->status = ref_add(&m->reference, subject_of(m, o), o->type[0], o->option & 1, value_mix(o->value, 0));
    if (want->status == REEF_OK && (o->option & 2) && !model_types[o->type[0]].unique) { /* else NULL */
        const ref_entity *x = ref_alive(&m->reference, subject_of(m, o));
        const uint32_t t = o->type[0];
        const bool more = ref_is_multi(t) && x->several[special_of(t)]; /* the last one is given */
        const uint64_t last = type_is_made(&model_types[t]) && o->option & 1
                                  ? value_mix(o->value, 0)
                                  : value_default(&model_types[t], subject_of(m, o));
        want->digest = more ? value_digest_of(&model_types[t], last) : digest_want(m, subject_of(m, o), t);
    }
}

void core_SET(model *m, const op *o, outcome *out)
{
    given g;
    given_make(m, o, 1, &g);
    out->status = reef_set_id(m->world, subject_of(m, o), g.v[0].component, g.v[0].data, g.v[0].size);
    given_free(&g, out->status >= REEF_OK);
}
void want_SET(model *m, const op *o, outcome *want)
{
    ref_value values[OP_TYPES];
    model_values(m, o, values);
    want->status = ref_set(&m->reference, subject_of(m, o), &values[0]);
}

void core_ENSURE(model *m, const op *o, outcome *out)
{
    uint64_t args = value_mix(o->value, 0);
    reef_entity e = subject_of(m, o);
    reef_component c = component_of(o->type[0]);
    const void *p = reef_ensure_id(m->world, e, c, o->option & 1 ? &args : NULL);
    bool no_data = o->type[0] < TYPES_MAX && model_types[o->type[0]].size == 0;
    out->status = p || (no_data && reef_has_id(m->world, e, c)) ? REEF_OK : last_status(m);
    out->digest = digest_at(type_meant(m, e, o->type[0]), p);
}
void want_ENSURE(model *m, const op *o, outcome *want)
{
    reef_entity e = subject_of(m, o);
    ref_entity *x = ref_alive(&m->reference, e);
    const uint32_t meant = x && ref_knows(&m->reference, o->type[0]) ? ref_meant(x, o->type[0]) : TYPES_MAX;
    want->status = REEF_OK;
    if (o->type[0] < TYPES_MAX && model_types[o->type[0]].unique) want->status = REEF_BAD_ARGUMENT;
    else if (meant < TYPES_MAX) ref_changed(&m->reference, x, meant); /* handed out for writing */
    else if (meant == TYPE_ZERO) want->status = REEF_AMBIGUOUS;
    else want->status = ref_add(&m->reference, e, o->type[0], o->option & 1, value_mix(o->value, 0));
    if (want->status == REEF_OK) want->digest = digest_want(m, e, o->type[0]);
}

void core_REMOVE(model *m, const op *o, outcome *out)
{
    out->status = reef_remove_id(m->world, subject_of(m, o), component_of(o->type[0]));
}
void want_REMOVE(model *m, const op *o, outcome *want)
{
    want->status = ref_remove(&m->reference, subject_of(m, o), o->type[0]);
}

void core_REMOVE_ALL(model *m, const op *o, outcome *out) { out->status = reef_remove_all(m->world, subject_of(m, o)); }
void want_REMOVE_ALL(model *m, const op *o, outcome *want)
{
    want->status = ref_remove_all(&m->reference, subject_of(m, o));
}

void core_ENABLE(model *m, const op *o, outcome *out)
{
    reef_component c = component_of(o->type[0]);
    if (o->option & OPTION_WHOLE) c.id = 0;
    else if (c.id == 0) c.id = UINT32_MAX; /* nobody's id; 0 is the entity's */
    out->status = reef_enable_id(m->world, subject_of(m, o), c, o->option & OPTION_ON);
}
void want_ENABLE(model *m, const op *o, outcome *want)
{
    uint32_t t = o->option & OPTION_WHOLE ? TYPES_MAX : o->type[0];
    want->status = ref_enable(&m->reference, subject_of(m, o), t, o->option & OPTION_ON);
}

void core_CHANGE(model *m, const op *o, outcome *out)
{
    given g;
    given_make(m, o, 1, &g);
    out->status = reef_change_values(m->world, subject_of(m, o), g.v, g.count);
    given_free(&g, out->status == REEF_OK);
}
void want_CHANGE(model *m, const op *o, outcome *want)
{
    ref_value values[OP_TYPES];
    uint32_t count = model_values(m, o, values);
    want->status = ref_change(&m->reference, subject_of(m, o), values, count);
}

void core_WRITE(model *m, const op *o, outcome *out)
{
    reef_entity e = subject_of(m, o);
    void *p = NULL;
    if (!(o->option & 1) || !typed_mut(m->world, e, o->type[0], &p))
        p = reef_mut_id(m->world, e, component_of(o->type[0]));
    const uint32_t t = type_meant(m, e, o->type[0]);
    out->status = p ? REEF_OK : last_status(m);
    out->digest = digest_at(t, p);
    if (p) value_write(&model_types[t], p, value_mix(o->value, 0));
}
void want_WRITE(model *m, const op *o, outcome *want)
{
    ref_entity *x = ref_alive(&m->reference, subject_of(m, o));
    uint32_t t = o->type[0] < TYPES_MAX && x ? ref_meant(x, o->type[0]) : o->type[0];
    want->status = !x                                                   ? REEF_NOT_ALIVE
                   : !ref_knows(&m->reference, o->type[0])              ? REEF_UNKNOWN_TYPE
                   : t == TYPE_ZERO                                     ? REEF_AMBIGUOUS
                   : ref_has(x, t) && model_types[t].home == REEF_SPLIT ? REEF_BAD_ARGUMENT
                   : ref_has(x, t) && model_types[t].unique             ? REEF_BAD_ARGUMENT
                   : ref_has(x, t) && model_types[t].size > 0           ? REEF_OK
                                                                        : REEF_ABSENT;
    if (want->status != REEF_OK) return;
    want->digest = digest_want(m, subject_of(m, o), t);
    ref_changed(&m->reference, x, t);
    if (model_types[t].sort != SORT_MOVER || x->value[t] != 0) ref_write(&m->reference, x, t, value_mix(o->value, 0));
}

/* ---- reading ---- */

enum { READ_ALIVE = 1, READ_HAS = 2, READ_FAST_HAS = 4, READ_MATCHES = 8, READ_AGREES = 16 };

void core_READ(model *m, const op *o, outcome *out)
{
    reef_entity e = subject_of(m, o);
    reef_component c = component_of(o->type[0]);
    const void *p = reef_get_id(m->world, e, c), *inlined;
    bool has = reef_has_id(m->world, e, c), has_inlined;
    const model_query *q = &m->query[o->n];
    if (!typed_get(m->world, e, o->type[0], &inlined)) inlined = p;
    if (!typed_has(m->world, e, o->type[0], &has_inlined)) has_inlined = has;
    out->number = (reef_is_alive(m->world, e) ? READ_ALIVE : 0u) | (has ? READ_HAS : 0u) |
                  (has_inlined ? READ_FAST_HAS : 0u) | (inlined == p ? READ_AGREES : 0u) |
                  (!reef_query_is_null(q->query) && reef_query_matches(m->world, q->query, e) ? READ_MATCHES : 0u);
    if (o->value % 4 == 0) out->number |= reef_count_id(m->world, c) << 8;
    out->digest = digest_at(type_meant(m, e, o->type[0]), p);
    out->status = REEF_OK;
}
void want_READ(model *m, const op *o, outcome *want)
{
    reef_entity e = subject_of(m, o);
    const ref_entity *x = ref_alive(&m->reference, e);
    const model_query *q = &m->query[o->n];
    const bool has = x && ref_knows(&m->reference, o->type[0]) && ref_meant(x, o->type[0]) != TYPES_MAX;
    uint32_t set = 0;
    for (uint32_t i = 0; i < q->count; i++) set |= 1u << q->type[i];
    want->number = (x ? READ_ALIVE : 0u) | (has ? READ_HAS | READ_FAST_HAS : 0u) | READ_AGREES |
                   (x && q->count && ref_matches(x, set) ? READ_MATCHES : 0u);
    if (o->value % 4 == 0) want->number |= ref_count_type(&m->reference, o->type[0]) << 8;
    want->digest = digest_want(m, e, o->type[0]);
    want->status = REEF_OK;
}

static const model_type *many_type(const op *o) { return &model_types[o->type[0]]; }
void core_GET_MANY(model *m, const op *o, outcome *out)
{
    const model_type *t = many_type(o);
    char *to = memory_for(t, o->n);
    memset(to, 0xEE, (size_t)t->size * o->n);
    out->number = reef_get_many_id(m->world, t->id, entities_of(m, o), o->n, to, t->size);
    for (uint32_t i = 0; i < o->n; i++) {
        uint64_t d = digest_at(o->type[0], type_has_payload(t) ? NULL : to + (size_t)i * t->size);
        out->digest = value_mix(out->digest, d);
    }
    aligned_give(to);
    out->status = REEF_OK;
}
void want_GET_MANY(model *m, const op *o, outcome *want)
{
    unsigned char untouched[4096];
    const model_type *t = many_type(o);
    const reef_entity *e = entities_of(m, o);
    memset(untouched, 0xEE, sizeof untouched);
    for (uint32_t i = 0; i < o->n; i++) {
        const ref_entity *x = ref_alive(&m->reference, e[i]);
        bool copied = x && ref_has(x, o->type[0]) && !type_has_payload(t);
        uint64_t d = copied                ? value_digest_of(t, x->value[o->type[0]])
                     : type_has_payload(t) ? 0
                                           : value_digest(t, untouched);
        want->digest = value_mix(want->digest, d);
        want->number += copied;
    }
    want->status = REEF_OK;
}

void core_WRITE_MANY(model *m, const op *o, outcome *out)
{
    const model_type *t = many_type(o);
    char *from = memory_for(t, o->n);
    for (uint32_t i = 0; i < o->n; i++) value_make(t, from + (size_t)i * t->size, value_mix(o->value, i));
    out->number = reef_write_many_id(m->world, t->id, entities_of(m, o), o->n, from, t->size);
    for (uint32_t i = 0; i < o->n; i++) value_unmake(t, from + (size_t)i * t->size);
    aligned_give(from);
    out->status = counted_memory.fired ? REEF_NO_MEMORY : REEF_OK;
}
void want_WRITE_MANY(model *m, const op *o, outcome *want)
{
    const reef_entity *e = entities_of(m, o);
    for (uint32_t i = 0; i < o->n; i++) {
        ref_entity *x = ref_alive(&m->reference, e[i]);
        if (!x || !ref_has(x, o->type[0])) continue;
        if (ref_unique_value(&m->reference, o->type[0], value_mix(o->value, i), e[i]) != REEF_OK) break;
        ref_note_set(&m->reference, e[i].index, o->type[0], value_mix(o->value, i));
        ref_give(x, o->type[0], value_mix(o->value, i));
        ref_changed(&m->reference, x, o->type[0]);
        want->number++;
    }
    /* observers are called after the call: an entity that is listed twice has its last value */
    for (uint32_t i = 0; i < ref_told.count; i++) {
        const ref_entity *x = ref_alive(&m->reference, ref_told.at[i].entity);
        if (x) ref_told.at[i].now = x->value[o->type[0]];
    }
    want->status = REEF_OK;
}

/* ---- names: o->n is the name's number ---- */

void core_NAME(model *m, const op *o, outcome *out)
{
    out->status = reef_set_name(m->world, subject_of(m, o), o->n == NAME_NONE ? NULL : model_names[o->n]);
}
void want_NAME(model *m, const op *o, outcome *want)
{
    reef_entity e = subject_of(m, o);
    ref_entity *x = ref_alive(&m->reference, e);
    const uint32_t parent = x ? ref_target(&m->reference, RELATION_CHILD, e.index) : UINT32_MAX;
    uint32_t owner = o->n < NAMES_GOOD ? ref_named(&m->reference, parent, o->n + 1) : UINT32_MAX;
    want->status = REEF_OK;
    if (!x) want->status = REEF_NOT_ALIVE;
    else if (o->n == NAME_NONE) x->name = 0;
    else if (o->n >= NAMES_GOOD || (parent != UINT32_MAX && strchr(model_names[o->n], '.')))
        want->status = REEF_BAD_TEXT;
    else if (owner != UINT32_MAX && owner != e.index) want->status = REEF_NAME_TAKEN;
    else x->name = o->n + 1;
}

void core_FIND(model *m, const op *o, outcome *out)
{
    out->number = reef_entity_bits(reef_find(m->world, model_names[o->n]));
    out->status = REEF_OK;
}
void want_FIND(model *m, const op *o, outcome *want)
{
    const uint32_t index = ref_find_path(&m->reference, model_names[o->n]);
    want->number = index == UINT32_MAX ? 0 : reef_entity_bits(ref_handle(&m->reference, index));
    want->status = REEF_OK;
}

/* ---- room and types ---- */

void core_RESERVE(model *m, const op *o, outcome *out) { out->status = reef_reserve(m->world, o->n); }
void want_RESERVE(model *m, const op *o, outcome *want)
{
    const ref_world *r = &m->reference;
    uint64_t room = (uint64_t)(r->free_end - r->free_first) + (r->entities_max - r->count);
    want->status = o->n > room ? REEF_LIMIT : REEF_OK;
}

void core_RESERVE_FOR(model *m, const op *o, outcome *out)
{
    reef_component c[OP_TYPES];
    uint32_t count = components_of(o, c);
    out->status = reef_reserve_for(m->world, o->n, c, count);
}
void want_RESERVE_FOR(model *m, const op *o, outcome *want)
{
    ref_value values[OP_TYPES];
    uint32_t count = model_values(m, o, values);
    want->status = ref_check_bundle(&m->reference, values, count);
    if (want->status == REEF_OK) want_RESERVE(m, o, want);
}

void core_SHRINK(model *m, const op *o, outcome *out)
{
    (void)o;
    out->status = reef_shrink(m->world);
}
void want_SHRINK(model *m, const op *o, outcome *want)
{
    (void)m;
    (void)o;
    want->status = REEF_OK;
}

void core_USE(model *m, const op *o, outcome *out)
{
    const uint32_t along = o->type[0] < TYPES_MAX ? types_along(1u << o->type[0]) : 0;
    out->status = reef_world_use(m->world, component_of(o->type[0]));
    for (uint32_t t = 0; t < TYPES_MAX && out->status == REEF_OK; t++)
        if (along >> t & 1) out->status = reef_world_use(m->world, model_types[t].id);
}
void want_USE(model *m, const op *o, outcome *want)
{
    want->status = o->type[0] < TYPES_MAX ? REEF_OK : REEF_UNKNOWN_TYPE;
    if (o->type[0] < TYPES_MAX) m->reference.known |= types_along(1u << o->type[0]);
}
