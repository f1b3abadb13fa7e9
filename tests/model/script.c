#include "script.h"
#include "model.h"
#include <stdlib.h>

enum { CLASSES = 3 };

typedef struct script_call {
    char what; /* s, u, e: start, update, end */
    reef_entity entity;
    uint64_t data;
} script_call;

typedef struct script_calls {
    script_call *at;
    uint32_t count, capacity;
} script_calls;

static script_calls of_core, of_want;

static void call_add(script_calls *calls, char what, reef_entity e, uint64_t data)
{
    calls->at = ref_grown(calls->at, calls->count + 1, &calls->capacity, sizeof *calls->at);
    calls->at[calls->count++] = (script_call){what, e, data};
}

/* ---- classes ---- */

/* What a start or an update makes of the data; the class stays. */
static uint64_t data_next(uint64_t data, char what)
{
    const uint64_t x = value_mix(data, (uint64_t)what);
    return x - x % CLASSES + data % CLASSES + CLASSES;
}

static void call_note(reef_script_run *r, char what)
{
    uint64_t data;
    memcpy(&data, r->data, sizeof data);
    call_add(&of_core, what, r->entity, data);
    data = data_next(data, what);
    memcpy(r->data, &data, sizeof data);
}

static void script_start(reef_script_run *r) { call_note(r, 's'); }
static void script_update(reef_script_run *r) { call_note(r, 'u'); }
static void script_end(reef_script_run *r) { call_note(r, 'e'); }

static const reef_script_class classes[CLASSES] = {{"crab", 8, script_start, script_update, script_end},
                                                   {"diver", 8, script_start, script_update, script_end},
                                                   {"eel", 8, script_start, script_update, script_end}};

bool scripts_know(void)
{
    bool ok = true;
    for (uint32_t i = 0; i < CLASSES; i++) ok = ok && reef_script_know(&classes[i]) == REEF_OK;
    return ok;
}

bool script_system(reef_world *w) { return !reef_system_is_null(reef_scripts(w, "begin", NULL)); }

/* ---- values ---- */

void script_make(void *slot, uint64_t value)
{
    const reef_script none = {.started = 0}, s = reef_script_make(&classes[value % CLASSES], &value);
    memcpy(slot, value ? &s : &none, sizeof s);
}

void script_write(void *slot, uint64_t value)
{
    reef_script *s = slot;
    const uint64_t started = s->started;
    script_make(slot, value);
    s->started = started;
}

uint64_t script_number(const void *slot)
{
    const reef_script *s = slot;
    uint64_t data;
    memcpy(&data, s->data, sizeof data);
    return s->name_hash ? data : 0;
}

bool script_matches(const void *slot, uint64_t value)
{
    const reef_script *s = slot;
    return script_number(slot) == value && s->script == (value ? &classes[value % CLASSES] : NULL);
}

/* ---- the reference ---- */

void ref_script_comes(ref_entity *e, bool copied)
{
    e->runs = false;
    if (!copied) e->mark = 0;
}

void ref_script_given(ref_entity *e)
{
    e->runs = false;
    e->mark = 0;
}

void ref_script_goes(ref_world *r, uint32_t index)
{
    ref_entity *e = &r->entity[index];
    if (!e->runs) return;
    r->lost = ref_grown(r->lost, r->lost_count + 1, &r->lost_capacity, sizeof *r->lost);
    r->lost[r->lost_count++] = (ref_lost){ref_handle(r, index), e->value[TYPE_SCRIPT]};
    e->runs = false;
}

static bool script_waits(const ref_entity *e)
{
    const bool template = ref_has(e, TYPE_PREFAB), disabled = e->off || (e->disabled >> TYPE_SCRIPT & 1);
    return template || disabled || e->value[TYPE_SCRIPT] == 0;
}

static void lost_end(const ref_world *r)
{
    for (uint32_t i = 0; i < r->lost_count; i++) call_add(&of_want, 'e', r->lost[i].entity, r->lost[i].value);
}

void ref_scripts_run(ref_world *r)
{
    lost_end(r);
    r->lost_count = 0;
    for (uint32_t i = 0; i < r->count; i++) {
        ref_entity *e = &r->entity[i];
        uint64_t *data = &e->value[TYPE_SCRIPT];
        if (e->life != LIFE_ALIVE || !ref_has(e, TYPE_SCRIPT) || script_waits(e)) continue;
        if (!e->runs) {
            e->runs = true;
            e->mark = reef_entity_bits(ref_handle(r, i));
            call_add(&of_want, 's', ref_handle(r, i), *data);
            *data = data_next(*data, 's');
        }
        call_add(&of_want, 'u', ref_handle(r, i), *data);
        *data = data_next(*data, 'u');
        ref_changed(r, e, TYPE_SCRIPT);
    }
}

/* ---- both ---- */

void scripts_begin(bool core)
{
    if (core) of_core.count = 0;
    else of_want.count = 0;
}

static int call_compare(const void *a, const void *b)
{
    const script_call *x = a, *y = b;
    const uint64_t p = reef_entity_bits(x->entity), q = reef_entity_bits(y->entity);
    if (p != q) return p < q ? -1 : 1;
    return (x->data > y->data) - (x->data < y->data);
}

/* Puts the ends, which come first, into an order of their own: that of a bulk removal isn't the reference's. */
static void ends_sort(script_calls *calls)
{
    uint32_t n = 0;
    while (n < calls->count && calls->at[n].what == 'e') n++;
    if (n) qsort(calls->at, n, sizeof *calls->at, call_compare);
}

void scripts_compare(model *m)
{
    ends_sort(&of_core);
    ends_sort(&of_want);
    for (uint32_t i = 0; i < of_core.count || i < of_want.count; i++) {
        const script_call none = {'-', {0, 0}, 0}, *a = i < of_core.count ? &of_core.at[i] : &none,
                          *b = i < of_want.count ? &of_want.at[i] : &none;
        if (a->what == b->what && reef_entity_equal(a->entity, b->entity) && a->data == b->data) continue;
        model_fail(m, "call %u of scripts is %c of {%u, %u}, must be %c of {%u, %u}%s", i, a->what, a->entity.index,
                   a->entity.generation, b->what, b->entity.index, b->entity.generation,
                   a->what == b->what && reef_entity_equal(a->entity, b->entity) ? ", with other data" : "");
        return;
    }
}

void script_compare(model *m, const ref_entity *e, reef_entity handle, const void *slot)
{
    const reef_script *s = slot;
    if (s->started != e->mark || (s->started == reef_entity_bits(handle)) != e->runs)
        model_fail(m, "the script of {%u, %u} is marked as started for %llx, must be %llx%s", handle.index,
                   handle.generation, (unsigned long long)s->started, (unsigned long long)e->mark,
                   e->runs ? ", and has started" : ", and hasn't started");
}

void world_end(model *m, reef_world *w, const ref_world *r)
{
    const script_calls core = of_core, want = of_want;
    of_core = of_want = (script_calls){NULL, 0, 0};
    reef_world_free(w);
    if (r) {
        lost_end(r);
        for (uint32_t i = 0; i < r->count; i++)
            if (r->entity[i].life == LIFE_ALIVE && r->entity[i].runs)
                call_add(&of_want, 'e', ref_handle(r, i), r->entity[i].value[TYPE_SCRIPT]);
        scripts_compare(m);
    }
    free(of_core.at);
    free(of_want.at);
    of_core = core;
    of_want = want;
}
