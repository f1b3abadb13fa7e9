#include "reference.h"
#include "link.h"
#include "pairs.h"
#include "script.h"
#include <stdio.h>
#include <stdlib.h>

void *ref_grown(void *p, uint32_t needed, uint32_t *capacity, size_t size)
{
    if (needed <= *capacity) return p;
    uint32_t n = *capacity ? *capacity * 2 : 64;
    while (n < needed) n *= 2;
    void *q = realloc(p, n * size);
    if (!q) {
        fprintf(stderr, "model: no memory for the reference\n");
        abort();
    }
    memset((char *)q + *capacity * size, 0, (n - *capacity) * size);
    *capacity = n;
    return q;
}

bool ref_make(ref_world *r)
{
    memset(r, 0, sizeof *r);
    r->known = ~0u;
    r->entities_max = UINT32_MAX - 1;
    return true;
}

void ref_post(ref_world *r, uint64_t event)
{
    r->event[r->event_count++] = event;
    r->news++;
}

void ref_drop(ref_world *r)
{
    for (uint32_t i = 0; i < r->table_count; i++) {
        free(r->table[i]->row);
        free(r->table[i]);
    }
    free(r->table);
    free(r->entity);
    free(r->free_id);
    free(r->living);
    free(r->link);
    free(r->lost);
    memset(r, 0, sizeof *r);
}

uint32_t ref_switches(void)
{
    uint32_t set = 0;
    for (uint32_t t = 0; t < TYPES_MAX; t++)
        if (model_types[t].sort == SORT_SWITCH) set |= 1u << t;
    return set;
}

uint32_t ref_outside(void)
{
    uint32_t set = 0;
    for (uint32_t t = 0; t < TYPES_MAX; t++)
        if (!type_in_table(&model_types[t])) set |= 1u << t;
    return set;
}

uint64_t ref_value_at(const ref_value *v, uint32_t n)
{
    const uint64_t value = value_mix(v->seed, v->how == HOW_ARRAY ? n : 0);
    const bool unique = v->type < TYPES_MAX && model_types[v->type].unique;
    return unique ? value & ~(uint64_t)UNIQUE_SAME : value; /* some are drawn twice */
}

/* ---- who is there ---- */

ref_entity *ref_alive(const ref_world *r, reef_entity e)
{
    if (e.generation == 0 || e.index >= r->count) return NULL;
    ref_entity *x = &r->entity[e.index];
    return x->life == LIFE_ALIVE && x->generation == e.generation ? x : NULL;
}

reef_entity ref_handle(const ref_world *r, uint32_t index)
{
    reef_entity e = {index, r->entity[index].generation};
    return e;
}

bool ref_knows(const ref_world *r, uint32_t type) { return type < TYPES_MAX && (r->known >> type & 1) != 0; }

bool ref_has(const ref_entity *e, uint32_t type) { return type < TYPES_MAX && (e->set >> type & 1) != 0; }

uint32_t ref_meant(const ref_entity *e, uint32_t type)
{
    if (type >= TYPES_MAX || ref_has(e, type)) return type < TYPES_MAX ? type : TYPES_MAX;
    const uint32_t below = types_below(type) & e->set;
    if (below == 0) return TYPES_MAX;
    if (below & (below - 1)) return TYPE_ZERO;
    uint32_t t = 0;
    while (!(below >> t & 1)) t++;
    return t;
}

uint64_t ref_count_type(const ref_world *r, uint32_t type)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < r->living_count; i++) n += ref_has(&r->entity[r->living[i]], type);
    return n;
}

/* ---- values in common, several values ---- */

uint32_t special_of(uint32_t type) { return type_has_payload(&model_types[type]); }
bool ref_is_multi(uint32_t type) { return type < TYPES_MAX && model_types[type].home == REEF_MULTI; }
static bool is_shared(uint32_t type) { return type < TYPES_MAX && model_types[type].home == REEF_SHARED; }
bool ref_shares(const ref_entity *e, uint32_t type) { return is_shared(type) && e->common[special_of(type)]; }

uint64_t ref_chain(uint64_t chain, uint32_t type, uint64_t value)
{
    return value_mix(chain, value_digest_of(&model_types[type], value));
}

uint32_t ref_common_first(const ref_world *r, const ref_entity *e, uint32_t type)
{
    const uint32_t s = special_of(type);
    uint32_t i = 0;
    if (!e->common[s]) return (uint32_t)(e - r->entity);
    while (r->entity[i].life != LIFE_ALIVE || !ref_has(&r->entity[i], type) || r->entity[i].common[s] != e->common[s])
        i++;
    return i;
}

void ref_write(ref_world *r, ref_entity *e, uint32_t type, uint64_t value)
{
    const uint32_t common = ref_shares(e, type) ? e->common[special_of(type)] : 0;
    e->value[type] = value;
    for (uint32_t i = 0; common && i < r->living_count; i++) {
        ref_entity *x = &r->entity[r->living[i]];
        if (ref_has(x, type) && x->common[special_of(type)] == common) x->value[type] = value;
    }
}

/* Gives the entity a value of its own. */
static void value_own(ref_entity *e, uint32_t type)
{
    if (is_shared(type)) e->common[special_of(type)] = 0;
}

void ref_give(ref_entity *e, uint32_t type, uint64_t value)
{
    e->value[type] = value;
    value_own(e, type);
    if (type == TYPE_SCRIPT) ref_script_given(e);
}

/* ---- tables ---- */

/* Compares two sets by the sorted names of their types. */
static int set_compare(uint32_t a, uint32_t b)
{
    uint32_t i = 0, k = 0;
    for (;;) {
        while (i < TYPES_MAX && !(a >> i & 1)) i++;
        while (k < TYPES_MAX && !(b >> k & 1)) k++;
        if (i == TYPES_MAX || k == TYPES_MAX) return (i != TYPES_MAX) - (k != TYPES_MAX);
        int order = strcmp(model_types[i].name, model_types[k].name);
        if (order != 0) return order;
        i++;
        k++;
    }
}

static ref_table *table_of(ref_world *r, uint32_t set)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < r->table_count; i++)
        if (r->table[i]->set == set) return r->table[i];
    while (at < r->table_count && set_compare(r->table[at]->set, set) < 0) at++;
    r->table = ref_grown(r->table, r->table_count + 1, &r->table_capacity, sizeof *r->table);
    memmove(r->table + at + 1, r->table + at, (r->table_count - at) * sizeof *r->table);
    r->table_count++;
    ref_table *t = calloc(1, sizeof *t);
    if (!t) abort();
    t->set = set;
    r->table[at] = t;
    return t;
}

static void row_leave(ref_world *r, uint32_t index)
{
    ref_table *t = r->entity[index].table;
    if (!t) return;
    uint32_t row = 0;
    while (t->row[row] != index) row++;
    t->row[row] = t->row[--t->count];
    r->entity[index].table = NULL;
}

static void row_enter(ref_world *r, uint32_t index, ref_table *t)
{
    t->row = ref_grown(t->row, t->count + 1, &t->capacity, sizeof *t->row);
    t->row[t->count++] = index;
    r->entity[index].table = t;
}

void ref_changed(ref_world *r, ref_entity *e, uint32_t type)
{
    if (model_types[type].size == 0) return;
    e->changed[type] = r->time;
    e->changed_unknown &= ~(1u << type);
}

/* ---- what is told ---- */

ref_notes ref_told;

static void note(const ref_world *r, uint32_t index, uint32_t kind, uint32_t type, uint64_t now)
{
    const ref_entity *e = &r->entity[index];
    if (ref_told.of != r) return;
    ref_told.at = ref_grown(ref_told.at, ref_told.count + 1, &ref_told.capacity, sizeof *ref_told.at);
    const uint64_t beside = types_below(type) & e->set ? PAIR_BIT(SUBTYPE) : 0; /* a base beside its subtype */
    const uint64_t features =
        (pairs_of_type(type) & ~PAIR_BIT(SUBTYPE)) | beside | (pairs_of_entity(e) & PAIRS_OF_WHOLE_ENTITIES);
    ref_told.at[ref_told.count++] = (ref_note){.kind = kind,
                                               .type = type,
                                               .entity = ref_handle(r, index),
                                               .now = now,
                                               .old = kind == REEF_ON_ADD ? 0 : e->value[type],
                                               .features = features};
}

void ref_note_born(const ref_world *r, uint32_t index)
{
    const ref_entity *e = &r->entity[index];
    for (uint32_t t = 0; t < TYPES_MAX; t++)
        if (e->set >> t & 1) note(r, index, REEF_ON_ADD, t, e->value[t]);
}

void ref_note_link(const ref_world *r, const ref_link *x, uint32_t kind, uint64_t now, uint64_t old)
{
    if (ref_told.of != r) return;
    ref_told.at = ref_grown(ref_told.at, ref_told.count + 1, &ref_told.capacity, sizeof *ref_told.at);
    const bool several = !relation_is(x->relation, REEF_EXCLUSIVE);
    ref_told.at[ref_told.count++] =
        (ref_note){.kind = kind,
                   .type = OBSERVED_RELATIONS + x->relation,
                   .entity = ref_handle(r, x->source),
                   .target = several ? ref_handle(r, x->target) : (reef_entity){0, 0},
                   .now = now,
                   .old = old,
                   .features = pairs_of_relation(x->relation) |
                               (pairs_of_entity(&r->entity[x->source]) & PAIRS_OF_WHOLE_ENTITIES)};
}

void ref_note_set(ref_world *r, uint32_t index, uint32_t type, uint64_t now)
{
    if (model_types[type].size) note(r, index, REEF_ON_SET, type, now);
}

/* Gives the entity this set of types, and finds its row. Types that it didn't have are added now; with `taking`, also
 * its shared values and further values. */
static void settle_as(ref_world *r, uint32_t index, uint32_t set, bool taking)
{
    ref_entity *e = &r->entity[index];
    for (uint32_t t = 0; ref_told.of == r && t < TYPES_MAX; t++) {
        if ((set & ~e->set) >> t & 1) note(r, index, REEF_ON_ADD, t, e->value[t]);
        if ((e->set & ~set) >> t & 1) note(r, index, REEF_ON_REMOVE, t, 0);
    }
    for (uint32_t t = 0; t < TYPES_MAX; t++) {
        if (!((set & ~e->set) >> t & 1)) continue;
        if (!taking) value_own(e, t);
        if (!taking && ref_is_multi(t)) e->several[special_of(t)] = 0;
        e->changed[t] = e->added[t] = r->time;
        e->changed_unknown &= ~(1u << t);
        e->added_unknown &= ~(1u << t);
        if (t == TYPE_SCRIPT) ref_script_comes(e, taking);
    }
    if ((e->set & ~set) >> TYPE_SCRIPT & 1) ref_script_goes(r, index);
    uint32_t in_table = set & ~ref_outside();
    ref_table *t = set != 0 || e->off || e->links ? table_of(r, in_table) : NULL;
    e->set = set;
    e->disabled &= set;
    if (t == e->table) return;
    row_leave(r, index);
    if (t) row_enter(r, index, t);
}

void ref_settle(ref_world *r, uint32_t index, uint32_t set) { settle_as(r, index, set, false); }

void ref_walk(const ref_world *r, uint32_t set, ref_visit visit, void *context)
{
    uint32_t in_table = set & ~ref_outside();
    for (uint32_t i = 0; i < r->table_count; i++) {
        const ref_table *t = r->table[i];
        if ((t->set & in_table) != in_table) continue;
        for (uint32_t row = 0; row < t->count; row++) {
            ref_entity *e = &r->entity[t->row[row]];
            if ((e->set & set) == set) visit(context, e, t->row[row]);
        }
    }
}

bool ref_matches(const ref_entity *e, uint32_t set)
{
    const bool hidden = (e->set & ~set) >> TYPE_PREFAB & 1; /* a template, and the query doesn't name its tag */
    return (e->set & ~e->disabled & set) == set && !e->off && !hidden;
}

typedef struct enabled_walk {
    uint32_t set;
    ref_visit visit;
    void *context;
} enabled_walk;

static void visit_enabled(void *context, ref_entity *e, uint32_t index)
{
    const enabled_walk *w = context;
    if (ref_matches(e, w->set)) w->visit(w->context, e, index);
}

void ref_walk_enabled(const ref_world *r, uint32_t set, ref_visit visit, void *context)
{
    enabled_walk w = {set, visit, context};
    ref_walk(r, set, visit_enabled, &w);
}

/* ---- ids ---- */

static void id_give(ref_world *r, uint32_t index)
{
    r->free_id = ref_grown(r->free_id, r->free_end + 1, &r->free_capacity, sizeof *r->free_id);
    r->free_id[r->free_end++] = index;
}

/* Ends a generation: the index waits for the next one, if there is any. */
static void id_end(ref_world *r, uint32_t index)
{
    ref_entity *e = &r->entity[index];
    bool last = r->never_reuse || e->generation == UINT32_MAX;
    e->life = last ? LIFE_RETIRED : LIFE_FREE;
    if (last) return;
    e->generation++;
    id_give(r, index);
}

static void id_take_out(ref_world *r, uint32_t index)
{
    for (uint32_t i = r->free_first; i < r->free_end; i++) {
        if (r->free_id[i] != index) continue;
        memmove(r->free_id + i, r->free_id + i + 1, (r->free_end - i - 1) * sizeof *r->free_id);
        r->free_end--;
        return;
    }
}

static void index_new(ref_world *r)
{
    r->entity = ref_grown(r->entity, r->count + 1, &r->capacity, sizeof *r->entity);
    r->entity[r->count].generation = 1;
    r->count++;
}

bool ref_ids_left(const ref_world *r, uint32_t n)
{
    return n <= (uint64_t)(r->free_end - r->free_first) + (r->entities_max - r->count);
}

static uint32_t id_take(ref_world *r)
{
    if (r->free_first < r->free_end) return r->free_id[r->free_first++];
    index_new(r);
    return r->count - 1;
}

static void live(ref_world *r, uint32_t index)
{
    ref_entity *e = &r->entity[index];
    e->life = LIFE_ALIVE;
    e->set = e->disabled = 0;
    e->unseen = 0;
    e->off = false;
    e->table = NULL;
    e->name = e->links = e->linked = 0;
    memset(e->out, 0, sizeof e->out);
    e->living_at = r->living_count;
    r->living = ref_grown(r->living, r->living_count + 1, &r->living_capacity, sizeof *r->living);
    r->living[r->living_count++] = index;
    r->spawned++;
}

uint32_t ref_new(ref_world *r)
{
    const uint32_t index = id_take(r);
    live(r, index);
    return index;
}

void ref_die(ref_world *r, uint32_t index)
{
    ref_entity *e = &r->entity[index];
    for (uint32_t t = 0; ref_told.of == r && t < TYPES_MAX; t++)
        if (e->set >> t & 1) note(r, index, REEF_ON_REMOVE, t, 0);
    if (ref_has(e, TYPE_SCRIPT)) ref_script_goes(r, index);
    row_leave(r, index);
    e->set = e->disabled = 0;
    e->unseen = 0;
    e->off = false;
    e->name = 0;
    uint32_t last = r->living[--r->living_count];
    r->living[e->living_at] = last;
    r->entity[last].living_at = e->living_at;
    r->destroyed++;
    id_end(r, index);
}

reef_status ref_reserve_id(ref_world *r, reef_entity *made)
{
    if (!ref_ids_left(r, 1)) return REEF_LIMIT;
    uint32_t index = id_take(r);
    r->entity[index].life = LIFE_RESERVED;
    *made = ref_handle(r, index);
    return REEF_OK;
}

reef_status ref_reserve_range(ref_world *r, uint32_t count, reef_entity *made)
{
    const uint32_t first = r->count;
    if (count == 0) return REEF_BAD_ARGUMENT;
    if (count > r->entities_max - r->count) return REEF_LIMIT;
    for (uint32_t i = 0; i < count; i++) {
        index_new(r);
        r->entity[first + i].life = LIFE_RESERVED;
    }
    *made = ref_handle(r, first);
    return REEF_OK;
}

reef_status ref_release_id(ref_world *r, reef_entity e)
{
    if (e.generation == 0 || e.index >= r->count) return REEF_BAD_ARGUMENT;
    ref_entity *x = &r->entity[e.index];
    if (x->life != LIFE_RESERVED || x->generation != e.generation) return REEF_BAD_ARGUMENT;
    id_end(r, e.index); /* the handle was seen outside: the next owner of the index gets another one */
    return REEF_OK;
}

void ref_lanes_end(ref_world *r, const uint32_t *made, uint32_t lanes, uint32_t run)
{
    const uint32_t waiting = r->free_end - r->free_first, fresh = r->count;
    uint32_t end = 0;
    for (uint32_t l = 0; l < lanes; l++) {
        const uint32_t last = made[l] ? made[l] - 1 : 0, at = (last / run * lanes + l) * run + last % run;
        if (made[l] && at >= end) end = at + 1;
    }
    uint32_t *waited = malloc((waiting + end + 1u) * sizeof *waited), count = 0;
    if (waited == NULL) abort();
    while (r->count < fresh + (end > waiting ? end - waiting : 0)) index_new(r);
    for (uint32_t at = 0; at < waiting || at < end; at++) {
        const uint32_t index = at < waiting ? r->free_id[r->free_first + at] : fresh + at - waiting;
        const uint32_t q = at / run, k = q / lanes * run + at % run; /* it would be the k-th of its lane */
        if (k < made[q % lanes]) r->entity[index].life = LIFE_RESERVED;
        else waited[count++] = index;
    }
    r->free_end = r->free_first;
    for (uint32_t i = 0; i < count; i++) id_give(r, waited[i]);
    free(waited);
}

reef_status ref_create_as(ref_world *r, reef_entity wanted)
{
    if (wanted.generation == 0) return REEF_BAD_ARGUMENT;
    if (wanted.index >= r->entities_max) return REEF_LIMIT;
    if (wanted.index < r->count) {
        const ref_entity *x = &r->entity[wanted.index];
        if (x->life == LIFE_ALIVE) return REEF_EXISTS;
        if (x->life == LIFE_RETIRED || wanted.generation < x->generation) return REEF_BAD_ARGUMENT;
    }
    while (r->count <= wanted.index) {
        index_new(r);
        if (r->count > wanted.index) break;
        if (r->never_reuse) r->entity[r->count - 1].life = LIFE_RETIRED;
        else id_give(r, r->count - 1);
    }
    id_take_out(r, wanted.index);
    r->entity[wanted.index].generation = wanted.generation;
    live(r, wanted.index);
    return REEF_OK;
}

/* ---- values ---- */

static reef_status value_check(const ref_world *r, const ref_value *v, bool may_remove, uint32_t n)
{
    if (!ref_knows(r, v->type)) return REEF_UNKNOWN_TYPE;
    if (v->flaw == FLAW_KIND || v->flaw == FLAW_DATA) return REEF_BAD_ARGUMENT;
    if (v->how == HOW_REMOVE && !may_remove) return REEF_BAD_ARGUMENT;
    if (v->flaw == FLAW_SIZE) return REEF_WRONG_SIZE;
    if ((v->how == HOW_ONE || v->how == HOW_FROM) && model_types[v->type].sort == SORT_MOVER && n > 1)
        return REEF_NOT_COPYABLE;
    return REEF_OK;
}

reef_status ref_values_check(const ref_world *r, const ref_value *values, uint32_t count, bool may_remove, uint32_t n)
{
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < i; k++)
            if (values[i].type == values[k].type) return REEF_DUPLICATE_TERM;
        reef_status s = value_check(r, &values[i], may_remove, n);
        if (s != REEF_OK) return s;
    }
    return REEF_OK;
}

reef_status ref_check_bundle(const ref_world *r, const ref_value *values, uint32_t count)
{
    return ref_values_check(r, values, count, false, 1);
}

/* What comes along when the types `coming` come to an entity with this set, and the call names `named`. */
uint32_t ref_comes_along(uint32_t set, uint32_t coming, uint32_t named)
{
    return types_along(coming) & ~(set | coming | named);
}

/* Gives the entity the default values of what comes along. */
void ref_give_along(ref_entity *x, reef_entity e, uint32_t along)
{
    for (uint32_t t = 0; t < TYPES_MAX; t++)
        if (along >> t & 1) x->value[t] = value_default(&model_types[t], e);
}

/* The value that the n-th entity gets. It must be called before anything changes. */
uint64_t ref_value_given(const ref_world *r, const ref_value *v, uint32_t n, reef_entity to)
{
    if (v->how == HOW_DEFAULT) return value_default(&model_types[v->type], to);
    if (v->how == HOW_ARGS && !type_is_made(&model_types[v->type])) return 0;
    if (v->how == HOW_FROM && model_types[v->type].sort != SORT_MOVER) {
        const ref_entity *from = ref_alive(r, v->from);
        if (from && ref_has(from, v->type)) return from->value[v->type];
    }
    return ref_value_at(v, n);
}

reef_status ref_spawn(ref_world *r, uint32_t n, reef_entity *made, const ref_value *values, uint32_t count)
{
    reef_status s = ref_values_check(r, values, count, false, n);
    if (s != REEF_OK) return s;
    if (!ref_ids_left(r, n)) return REEF_LIMIT;
    s = ref_unique_values(r, values, count, n, (reef_entity){0, 0});
    if (s != REEF_OK) return s;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t index = id_take(r), set = 0;
        live(r, index);
        made[i] = ref_handle(r, index);
        for (uint32_t k = 0; k < count; k++) {
            r->entity[index].value[values[k].type] = ref_value_given(r, &values[k], i, made[i]);
            set |= 1u << values[k].type;
        }
        const uint32_t along = ref_comes_along(0, set, 0);
        ref_give_along(&r->entity[index], made[i], along);
        ref_settle(r, index, set | along);
    }
    return REEF_OK;
}

void ref_copy(ref_world *r, uint32_t index, uint32_t source, uint32_t without)
{
    const ref_entity *e = &r->entity[source];
    memcpy(r->entity[index].value, e->value, sizeof e->value);
    for (uint32_t t = 0; t < TYPES_MAX; t++)
        if (is_shared(t) && ref_has(e, t) && !e->common[special_of(t)])
            r->entity[source].common[special_of(t)] = ++r->commons;
    memcpy(r->entity[index].common, e->common, sizeof e->common);
    memcpy(r->entity[index].several, e->several, sizeof e->several);
    memcpy(r->entity[index].chain, e->chain, sizeof e->chain);
    r->entity[index].mark = e->mark;
    r->entity[index].disabled = e->disabled;
    r->entity[index].off = e->off;
    settle_as(r, index, e->set & ~without, true);
}

reef_status ref_clone(ref_world *r, reef_entity source, uint32_t n, reef_entity *made)
{
    const ref_entity *e = ref_alive(r, source);
    if (!e) return REEF_NOT_ALIVE;
    for (uint32_t t = 0; t < TYPES_MAX; t++)
        if (ref_has(e, t) && model_types[t].sort == SORT_MOVER) return REEF_NOT_COPYABLE;
    if (!ref_ids_left(r, n)) return REEF_LIMIT;
    if (n && ref_unique_copy(e, 0) != REEF_OK) return REEF_EXISTS;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t index = id_take(r);
        live(r, index);
        made[i] = ref_handle(r, index);
        ref_copy(r, index, source.index, 0);
        ref_links_copy(r, index, source.index);
    }
    return REEF_OK;
}

reef_entity ref_bring(ref_world *r, const ref_entity *e, uint32_t from_commons)
{
    const uint32_t index = id_take(r);
    live(r, index);
    ref_entity *x = &r->entity[index];
    memcpy(x->value, e->value, sizeof x->value);
    memcpy(x->several, e->several, sizeof x->several);
    memcpy(x->chain, e->chain, sizeof x->chain);
    for (uint32_t i = 0; i < 2; i++) x->common[i] = e->common[i] ? e->common[i] + from_commons : 0;
    for (uint32_t t = 0; t < TYPES_MAX; t++)
        if (ref_has(e, t) && model_types[t].on_fork != REEF_FORK_COPY)
            x->value[t] = value_default(&model_types[t], ref_handle(r, index));
    x->mark = 0; /* which another entity's handle may be by chance */
    x->disabled = e->disabled;
    x->off = e->off;
    x->unseen = e->unseen;
    x->links = e->links; /* they come with ref_links_bring; who has some has a row */
    settle_as(r, index, e->set, true);
    return ref_handle(r, index);
}

reef_status ref_clone_as(ref_world *r, reef_entity source, reef_entity reserved)
{
    reef_entity none[1];
    reef_status s = ref_clone(r, source, 0, none); /* may it? */
    if (s == REEF_OK) s = ref_unique_copy(&r->entity[source.index], 0);
    if (s != REEF_OK) return s;
    live(r, reserved.index);
    ref_copy(r, reserved.index, source.index, 0);
    ref_links_copy(r, reserved.index, source.index);
    return REEF_OK;
}

/* ---- destroying ---- */

reef_status ref_destroy(ref_world *r, reef_entity e)
{
    if (!ref_alive(r, e)) return REEF_NOT_ALIVE;
    return ref_destroy_related(r, &e.index, 1);
}

typedef struct collected {
    uint32_t *index;
    uint32_t count, capacity;
} collected;

static void collect(void *context, ref_entity *e, uint32_t index)
{
    collected *c = context;
    (void)e;
    c->index = ref_grown(c->index, c->count + 1, &c->capacity, sizeof *c->index);
    c->index[c->count++] = index;
}

reef_status ref_destroy_with(ref_world *r, const uint8_t *types, uint32_t count, uint64_t *destroyed)
{
    uint32_t set = 0;
    collected c = {0};
    for (uint32_t i = 0; i < count; i++) {
        if (!ref_knows(r, types[i])) return REEF_UNKNOWN_TYPE;
        set |= 1u << types[i];
    }
    ref_walk(r, set, collect, &c);
    for (uint32_t i = 0; i < r->count && set == 0; i++) /* those without a row come last */
        if (r->entity[i].life == LIFE_ALIVE && !r->entity[i].table) collect(&c, NULL, i);
    const reef_status s = ref_destroy_all(r, c.index, c.count);
    if (s == REEF_OK) *destroyed = c.count;
    free(c.index);
    return s;
}

reef_status ref_clear_type(ref_world *r, uint32_t type, uint64_t *removed)
{
    collected c = {0};
    if (!ref_knows(r, type)) return REEF_UNKNOWN_TYPE;
    ref_walk(r, 1u << type, collect, &c);
    for (uint32_t i = 0; i < c.count; i++) ref_settle(r, c.index[i], r->entity[c.index[i]].set & ~(1u << type));
    *removed = c.count;
    free(c.index);
    return REEF_OK;
}

void ref_clear(ref_world *r)
{
    uint64_t destroyed;
    ref_destroy_with(r, NULL, 0, &destroyed);
}

/* ---- changing ---- */

/* Adds a value after the others. */
static reef_status ref_add_one(ref_world *r, ref_entity *x, reef_entity e, uint32_t type, bool with_args, uint64_t args)
{
    const model_type *t = &model_types[type];
    const uint32_t s = special_of(type);
    if (x->several[s] + 1 == REEF_MULTI_MAX) return REEF_LIMIT;
    if (ref_told.of == r) {
        ref_note_set(r, e.index, type, x->value[type]);
        ref_told.at[ref_told.count - 1].added_one = true;
    }
    x->chain[s] =
        ref_chain(x->several[s] ? x->chain[s] : 0, type, type_is_made(t) && with_args ? args : value_default(t, e));
    x->several[s]++;
    return REEF_OK;
}

reef_status ref_share(ref_world *r, reef_entity from, reef_entity to, uint32_t type)
{
    ref_entity *x = ref_alive(r, from), *y = ref_alive(r, to);
    if (!x) return REEF_NOT_ALIVE;
    if (type >= TYPES_MAX) return REEF_UNKNOWN_TYPE;
    if (!is_shared(type)) return REEF_BAD_ARGUMENT;
    if (!y) return REEF_NOT_ALIVE;
    if (!ref_has(x, type)) return REEF_ABSENT;
    const uint32_t s = special_of(type);
    const bool had = ref_has(y, type);
    if (x == y || (had && x->common[s] && x->common[s] == y->common[s])) return REEF_OK;
    if (!x->common[s]) x->common[s] = ++r->commons;
    if (had) ref_note_set(r, to.index, type, x->value[type]);
    const uint32_t along = had ? 0 : ref_comes_along(y->set, 1u << type, 0);
    y->value[type] = x->value[type];
    ref_give_along(y, to, along);
    ref_settle(r, to.index, y->set | 1u << type | along);
    y->common[s] = x->common[s];
    return had ? REEF_OK : REEF_ADDED;
}

reef_status ref_add(ref_world *r, reef_entity e, uint32_t type, bool with_args, uint64_t args)
{
    ref_entity *x = ref_alive(r, e);
    if (!x) return REEF_NOT_ALIVE;
    if (!ref_knows(r, type)) return REEF_UNKNOWN_TYPE;
    if (ref_has(x, type) && !ref_is_multi(type)) return REEF_EXISTS;
    if (ref_has(x, type)) return ref_add_one(r, x, e, type, with_args, args);
    bool made = type_is_made(&model_types[type]);
    const uint32_t along = ref_comes_along(x->set, 1u << type, 0);
    const uint64_t given = made && with_args ? args : value_default(&model_types[type], e);
    if (ref_unique_value(r, type, given, e) != REEF_OK) return REEF_EXISTS;
    x->value[type] = given;
    ref_give_along(x, e, along);
    ref_settle(r, e.index, x->set | 1u << type | along);
    return REEF_OK;
}

reef_status ref_set(ref_world *r, reef_entity e, const ref_value *value)
{
    ref_entity *x = ref_alive(r, e);
    if (!x) return REEF_NOT_ALIVE;
    reef_status s = value_check(r, value, false, 1);
    if (s != REEF_OK) return s;
    bool there = ref_has(x, value->type);
    const uint64_t given = ref_value_given(r, value, 0, e);
    if (ref_unique_value(r, value->type, given, e) != REEF_OK) return REEF_EXISTS;
    if (there) ref_note_set(r, e.index, value->type, given);
    ref_give(x, value->type, given);
    if (there) ref_changed(r, x, value->type);
    const uint32_t along = there ? 0 : ref_comes_along(x->set, 1u << value->type, 0);
    ref_give_along(x, e, along);
    ref_settle(r, e.index, x->set | 1u << value->type | along);
    return there ? REEF_OK : REEF_ADDED;
}

reef_status ref_remove(ref_world *r, reef_entity e, uint32_t type)
{
    const ref_entity *x = ref_alive(r, e);
    if (!x) return REEF_NOT_ALIVE;
    if (!ref_knows(r, type)) return REEF_UNKNOWN_TYPE;
    const uint32_t meant = ref_meant(x, type);
    if (meant == TYPE_ZERO) return REEF_AMBIGUOUS;
    if (meant >= TYPES_MAX) return REEF_ABSENT;
    ref_settle(r, e.index, x->set & ~(1u << meant));
    return REEF_OK;
}

reef_status ref_remove_all(ref_world *r, reef_entity e)
{
    if (!ref_alive(r, e)) return REEF_NOT_ALIVE;
    for (uint32_t i = 0; i < RELATIONS; i++) ref_links_remove(r, e.index, i);
    ref_settle(r, e.index, 0);
    return REEF_OK;
}

reef_status ref_enable(ref_world *r, reef_entity e, uint32_t type, bool on)
{
    ref_entity *x = ref_alive(r, e);
    if (!x) return REEF_NOT_ALIVE;
    if (type == TYPES_MAX) {
        x->off = !on;
        ref_settle(r, e.index, x->set);
        return REEF_OK;
    }
    if (type >= OBSERVED_RELATIONS && type < OBSERVED_RELATIONS + RELATIONS) {
        const uint32_t k = type - OBSERVED_RELATIONS;
        if (x->out[k] == 0) return REEF_ABSENT;
        x->unseen = (uint16_t)(on ? x->unseen & ~(1u << k) : x->unseen | 1u << k);
        return REEF_OK;
    }
    if (!ref_knows(r, type)) return REEF_UNKNOWN_TYPE;
    if (!ref_has(x, type)) return REEF_ABSENT;
    x->disabled = on ? x->disabled & ~(1u << type) : x->disabled | 1u << type;
    return REEF_OK;
}

reef_status ref_change(ref_world *r, reef_entity e, const ref_value *values, uint32_t count)
{
    ref_entity *x = ref_alive(r, e);
    if (!x) return REEF_NOT_ALIVE;
    reef_status s = ref_values_check(r, values, count, true, 1);
    if (s == REEF_OK) s = ref_unique_values(r, values, count, 1, e);
    if (s != REEF_OK) return s;
    uint32_t set = x->set, coming = 0, named = 0;
    uint64_t given[TYPES_MAX];
    for (uint32_t i = 0; i < count; i++)
        if (values[i].how != HOW_REMOVE) given[i] = ref_value_given(r, &values[i], 0, e);
    for (uint32_t i = 0; i < count; i++) {
        if (values[i].how == HOW_REMOVE) {
            set &= ~(1u << values[i].type);
        } else {
            set |= 1u << values[i].type;
            if (!ref_has(x, values[i].type)) coming |= 1u << values[i].type;
            if (ref_has(x, values[i].type)) ref_note_set(r, e.index, values[i].type, given[i]);
            ref_give(x, values[i].type, given[i]);
            if (ref_has(x, values[i].type)) ref_changed(r, x, values[i].type);
        }
    }
    for (uint32_t i = 0; i < count; i++) named |= 1u << values[i].type;
    const uint32_t along = ref_comes_along(x->set, coming, named);
    ref_give_along(x, e, along);
    ref_settle(r, e.index, set | along);
    return REEF_OK;
}
