/* Whole queries at once (o->n is the slot, o->type[0] the type), and all entities at once. */
#include "apply.h"
#include <stdlib.h>

typedef struct found { /* before anything changes */
    uint32_t *index;
    uint32_t count, room;
} found;

static void find(void *context, ref_entity *e, uint32_t index)
{
    found *f = context;
    (void)e;
    if (f->count == f->room) {
        f->room = f->room ? f->room * 2 : 64;
        f->index = realloc(f->index, f->room * sizeof *f->index);
        if (!f->index) abort();
    }
    f->index[f->count++] = index;
}

static found matches(const model *m, const op *o)
{
    const model_query *q = &m->query[o->n];
    found f = {0};
    uint32_t set = 0;
    for (uint32_t i = 0; i < q->count; i++) set |= 1u << q->type[i];
    ref_walk_enabled(&m->reference, set, find, &f);
    return f;
}

static bool is_mover(const op *o) { return o->type[0] < TYPES_MAX && model_types[o->type[0]].sort == SORT_MOVER; }

static bool is_query(const model *m, const op *o) { return !reef_query_is_null(m->query[o->n].query); }

/* Is there anything to do? The status is set. */
static bool want_begins(const model *m, const op *o, outcome *want)
{
    want->status = m->query[o->n].count == 0 || ref_knows(&m->reference, o->type[0]) ? REEF_OK : REEF_UNKNOWN_TYPE;
    return m->query[o->n].count != 0 && want->status == REEF_OK;
}

/* May all of these get one value, those that have the type only with `replace`? Of a unique one only one may. */
static reef_status all_may_have(const model *m, uint32_t type, uint64_t value, const found *f, bool replace)
{
    const ref_world *r = &m->reference;
    uint32_t n = 0;
    reef_status s = REEF_OK;
    for (uint32_t i = 0; i < f->count; i++) {
        if (!replace && ref_has(&r->entity[f->index[i]], type)) continue;
        if (s == REEF_OK) s = ref_unique_value(r, type, value, ref_handle(r, f->index[i]));
        n++;
    }
    return n > 1 && model_types[type].unique ? REEF_EXISTS : s;
}

void core_ADD_WHERE(model *m, const op *o, outcome *out)
{
    out->status = is_query(m, o)
                      ? reef_add_where_id(m->world, m->query[o->n].query, component_of(o->type[0]), &out->number)
                      : REEF_OK;
}

void want_ADD_WHERE(model *m, const op *o, outcome *want)
{
    if (!want_begins(m, o, want)) return;
    found f = matches(m, o);
    want->status = all_may_have(m, o->type[0], 0, &f, false);
    for (uint32_t i = 0; want->status == REEF_OK && i < f.count; i++)
        if (!ref_has(&m->reference.entity[f.index[i]], o->type[0]))
            want->number +=
                ref_add(&m->reference, ref_handle(&m->reference, f.index[i]), o->type[0], false, 0) == REEF_OK;
    free(f.index);
}

void core_REMOVE_WHERE(model *m, const op *o, outcome *out)
{
    out->status = is_query(m, o)
                      ? reef_remove_where_id(m->world, m->query[o->n].query, component_of(o->type[0]), &out->number)
                      : REEF_OK;
}

void want_REMOVE_WHERE(model *m, const op *o, outcome *want)
{
    if (!want_begins(m, o, want)) return;
    found f = matches(m, o);
    for (uint32_t i = 0; i < f.count; i++) /* a whole query means the type itself, no subtype */
        if (ref_has(&m->reference.entity[f.index[i]], o->type[0]))
            want->number += ref_remove(&m->reference, ref_handle(&m->reference, f.index[i]), o->type[0]) == REEF_OK;
    free(f.index);
}

/* Values that can't be copied are left to tests/unit/query/test_bulk.c. */
void core_SET_WHERE(model *m, const op *o, outcome *out)
{
    const model_type *t = o->type[0] < TYPES_MAX ? &model_types[o->type[0]] : NULL;
    const size_t size = t ? t->size : 4;
    out->status = REEF_OK;
    if (!is_query(m, o) || is_mover(o)) return;
    char *value = aligned_take(4096, (size + 4096) & ~(size_t)4095);
    if (!value) abort();
    if (t && size) value_make(t, value, ref_value_at(&(const ref_value){.type = o->type[0], .seed = o->value}, 0));
    out->status =
        reef_set_where_id(m->world, m->query[o->n].query, component_of(o->type[0]), value, size, &out->number);
    if (t && size) value_unmake(t, value);
    aligned_give(value);
}

void want_SET_WHERE(model *m, const op *o, outcome *want)
{
    const ref_value value = {.type = o->type[0], .how = HOW_ONE, .seed = o->value};
    want->status = REEF_OK;
    if (is_mover(o) || !want_begins(m, o, want)) return;
    found f = matches(m, o);
    want->status = all_may_have(m, o->type[0], ref_value_at(&value, 0), &f, true);
    for (uint32_t i = 0; want->status == REEF_OK && i < f.count; i++)
        (void)ref_set(&m->reference, ref_handle(&m->reference, f.index[i]), &value);
    want->number = want->status == REEF_OK ? f.count : 0;
    free(f.index);
}

void core_DESTROY_WHERE(model *m, const op *o, outcome *out)
{
    out->status = is_query(m, o) ? reef_destroy_where(m->world, m->query[o->n].query, &out->number) : REEF_OK;
}

void want_DESTROY_WHERE(model *m, const op *o, outcome *want)
{
    want->status = REEF_OK;
    if (m->query[o->n].count == 0) return;
    found f = matches(m, o);
    want->status = ref_destroy_all(&m->reference, f.index, f.count);
    if (want->status == REEF_OK) want->number = f.count;
    free(f.index);
}

/* Odd options enable. */
void core_ENABLE_WHERE(model *m, const op *o, outcome *out)
{
    const bool on = o->option & 1;
    out->status = REEF_OK;
    if (is_query(m, o))
        out->status = reef_enable_where_id(m->world, m->query[o->n].query, component_of(o->type[0]), on, &out->number);
}

void want_ENABLE_WHERE(model *m, const op *o, outcome *want)
{
    const bool on = o->option & 1;
    if (o->type[0] == TYPE_ZERO) { /* whole entities: those that match are enabled */
        want->status = REEF_OK;
        if (m->query[o->n].count == 0 || on) return;
    } else if (!want_begins(m, o, want)) {
        return;
    }
    found f = matches(m, o);
    for (uint32_t i = 0; i < f.count; i++) {
        const reef_entity e = ref_handle(&m->reference, f.index[i]);
        const ref_entity *x = ref_alive(&m->reference, e);
        if (o->type[0] != TYPE_ZERO && (!ref_has(x, o->type[0]) || (x->disabled >> o->type[0] & 1) == !on)) continue;
        want->number += ref_enable(&m->reference, e, o->type[0] == TYPE_ZERO ? TYPES_MAX : o->type[0], on) == REEF_OK;
    }
    free(f.index);
}

/* ---- all entities ---- */

void core_CLEAR_TYPE(model *m, const op *o, outcome *out)
{
    out->status = remove_everywhere(m->world, component_of(o->type[0]), o->option & 1 ? NULL : &out->number);
}
void want_CLEAR_TYPE(model *m, const op *o, outcome *want)
{
    want->status = ref_clear_type(&m->reference, o->type[0], &want->number);
    if (o->option & 1) want->number = 0;
}

void core_WORLD_CLEAR(model *m, const op *o, outcome *out)
{
    (void)o;
    out->status = reef_world_clear(m->world);
}
void want_WORLD_CLEAR(model *m, const op *o, outcome *want)
{
    (void)o;
    ref_clear(&m->reference); /* nobody's target is kept, since all its sources go */
    want->status = REEF_OK;
}
