/* A loop that records structural changes. The calls inside it are operations of their own, which are derived from the
 * loop's operation, and the same functions do them as outside of loops. The reference records what reef must record,
 * and applies it one by one when the loop ends. */
#include "apply.h"
#include <stdlib.h>

enum { STEP_KINDS = 14 };

void defer_step(const op *o, uint32_t i, op *step)
{
    static const op_kind kinds[STEP_KINDS] = {OP_CREATE, OP_SPAWN,      OP_SPAWN,       OP_CLONE,      OP_DESTROY,
                                              OP_ADD,    OP_ADD,        OP_REMOVE,      OP_SET,        OP_CHANGE,
                                              OP_ENABLE, OP_REMOVE_ALL, OP_INSTANTIATE, OP_INSTANTIATE};
    const uint64_t v = value_mix(o->value, 1000 + i) >> 3;
    const uint32_t count = o->count ? o->count : 1;
    if (step_mixes(o, i, step)) return;
    if (step_relates(o, i, step)) {
        step->subject = v >> 8 & 3 ? o->list[(v >> 10) % OP_LIST] : o->made + (uint32_t)((v >> 10) % DEFER_STEPS);
        if (v >> 20 & 1) step->list[0] = o->made + (uint32_t)((v >> 21) % DEFER_STEPS);
        return;
    }
    memset(step, 0, sizeof *step);
    step->kind = (uint8_t)kinds[v % STEP_KINDS];
    step->value = v;
    step->made = o->made + i;
    step->subject = v >> 8 & 3 ? o->list[(v >> 10) % OP_LIST] : o->made + (uint32_t)((v >> 10) % DEFER_STEPS);
    step->count = (uint8_t)(step->kind == OP_SPAWN || step->kind == OP_CHANGE || step->kind == OP_INSTANTIATE
                                ? 1 + (v >> 20) % count
                                : 1);
    for (uint32_t k = 0; k < step->count; k++) {
        static const ref_how hows[] = {HOW_ONE, HOW_ONE, HOW_DEFAULT, HOW_ARGS};
        const uint64_t x = v >> (24 + 3 * k);
        step->type[k] = o->type[((v >> 20) + k) % count];
        step->how[k] = (uint8_t)(step->kind == OP_SET              ? HOW_ONE
                                 : step->kind != OP_SPAWN && x & 4 ? HOW_REMOVE
                                                                   : hows[x & 3]);
    }
    if (step->kind == OP_ADD) step->option = v >> 40 & 1;
    if (step->kind == OP_INSTANTIATE) {
        step->n = 1;
        step->option = (uint8_t)(TREE_STEP | (v >> 40 & 3 ? 0 : TREE_CLONE));
        if (step->option & TREE_CLONE || v >> 42 & 1) step->count = 0;
    }
    if (step->kind == OP_ENABLE)
        step->option = (uint8_t)(v >> 40 & 1 ? OPTION_ON : 0) | (v >> 41 & 3 ? 0 : OPTION_WHOLE);
}

static bool step_makes(const op *step)
{
    return step->kind == OP_CREATE || step->kind == OP_SPAWN || step->kind == OP_CLONE || step->kind == OP_INSTANTIATE;
}

/* Reserves numbers for all entities that the loop may make; none is made yet. */
static void defer_begin(model *m, const op *o, outcome *out)
{
    model_made(m, o->made + DEFER_STEPS, NULL, 0);
    for (uint32_t i = 0; i < DEFER_STEPS; i++) m->handle[o->made + i] = out->made[i] = (reef_entity){0, 0};
    out->made_count = DEFER_STEPS;
    out->status = REEF_OK;
}

/* Compares each entity that was made, and the status of the first call that failed when it was applied. */
static void defer_end(outcome *out, reef_status first)
{
    out->digest = value_mix(out->digest, (uint64_t)(int64_t)first);
}

void core_DEFER(model *m, const op *o, outcome *out)
{
    reef_entity one[1];
    defer_begin(m, o, out);
    reef_query q = reef_query_new(m->world, "");
    reef_block b = reef_begin_loop(m->world, q, &(reef_loop){.deferred = true});
    bool rows = o->option & DEFER_STEPS_ON && reef_next(&b);
    if (o->option & DEFER_STEPS_ON && !rows) b = reef_begin_loop(m->world, q, &(reef_loop){.deferred = true});
    for (uint32_t i = 0; i < DEFER_STEPS; i++) {
        op step;
        outcome got = {.made = one};
        defer_step(o, i, &step);
        model_core(m, &step, &got);
        out->digest = value_mix(out->digest, (uint64_t)(int64_t)got.status);
        if (!step_makes(&step) || got.made_count == 0) continue;
        if (reef_is_alive(m->world, one[0])) model_fail(m, "an entity lives before its loop ends");
        m->handle[step.made] = out->made[i] = one[0];
    }
    reef_flush(m->world); /* so that the last error is known: LOCKED */
    if (rows)
        while (reef_next(&b)) continue;
    else reef_end(&b);
    reef_status s = reef_last_error(m->world).status;
    defer_end(out, s == REEF_LOCKED ? REEF_OK : s);
    for (uint32_t i = 0; i < DEFER_STEPS; i++) out->number += (uint64_t)reef_is_alive(m->world, out->made[i]) << i;
    reef_query_free(m->world, q);
}

/* ---- the reference ---- */

typedef struct noted {
    op step[DEFER_STEPS];
    reef_entity subject[DEFER_STEPS], made[DEFER_STEPS];
    uint32_t count;
} noted;

static bool defer_knows(const model *m, const outcome *want, reef_entity e)
{
    for (uint32_t i = 0; i < DEFER_STEPS; i++)
        if (e.generation && reef_entity_equal(want->made[i], e)) return true;
    return ref_alive(&m->reference, e) != NULL;
}

/* Does the call only write a value that is there? */
static bool step_writes(const model *m, const op *step, reef_entity e)
{
    const ref_entity *x = ref_alive(&m->reference, e);
    if (related_by_value(step)) return related_value_writes(m, step, e);
    if (!x || (step->kind != OP_SET && step->kind != OP_CHANGE)) return false;
    for (uint32_t i = 0; i < step->count; i++)
        if (step->how[i] == HOW_REMOVE || !ref_has(x, step->type[i])) return false;
    return true;
}

/* What a call that relates returns; OK: it is recorded. */
static reef_status relate_note(const model *m, const op *step, const outcome *want)
{
    const reef_entity other = model_handle(m, step->list[1]);
    if (step->kind == OP_RETARGET && relation_is(step->type[0], REEF_SYMMETRIC)) return REEF_BAD_ARGUMENT;
    if (step->kind == OP_RELATE && step->option & RELATE_DATA && step->option & RELATE_WRONG_SIZE)
        return REEF_WRONG_SIZE;
    if (!defer_knows(m, want, model_handle(m, step->list[0]))) return REEF_NOT_ALIVE;
    if (step->kind == OP_RETARGET && reef_entity_is_null(other)) return REEF_NOT_ALIVE;
    const bool named = step->kind == OP_RETARGET || step->kind == OP_RELATE_BEFORE;
    return named && !reef_entity_is_null(other) && !defer_knows(m, want, other) ? REEF_NOT_ALIVE : REEF_OK;
}

/* What the call returns; OK: it is recorded, or was done if it only writes. */
static reef_status step_note(model *m, const op *step, outcome *want, reef_entity *made, bool *at_once)
{
    ref_world *r = &m->reference;
    const reef_entity e = model_handle(m, step->subject);
    const bool whole = step->kind == OP_ENABLE && step->option & OPTION_WHOLE;
    const bool untyped =
        step->kind == OP_CREATE || step->kind == OP_CLONE || step->kind == OP_DESTROY || step->kind == OP_REMOVE_ALL;
    if (step->kind != OP_CREATE && step->kind != OP_SPAWN && !defer_knows(m, want, e)) return REEF_NOT_ALIVE;
    if (op_relates((op_kind)step->kind) && !related_by_value(step)) return relate_note(m, step, want);
    if (related_by_value(step) && related_value_note(step) != REEF_OK) return related_value_note(step);
    for (uint32_t i = 0; !untyped && !whole && !related_by_value(step) && i < step->count; i++)
        if (!ref_knows(r, step->type[i])) return REEF_UNKNOWN_TYPE;
    if (step_makes(step)) return ref_reserve_id(r, made);
    *at_once = step_writes(m, step, e);
    if (!*at_once) return REEF_OK;
    outcome got = {.made = made};
    model_want(m, step, &got);
    return got.status;
}

reef_status want_spawn_as(ref_world *r, reef_entity made, const ref_value *values, uint32_t count)
{
    const reef_status s = ref_unique_values(r, values, count, 1, made);
    if (s != REEF_OK) return ref_release_id(r, made), s;
    ref_create_as(r, made);
    return ref_change(r, made, values, count);
}

static reef_status step_do(model *m, const op *step, reef_entity e, reef_entity made)
{
    ref_world *r = &m->reference;
    ref_value values[OP_TYPES];
    reef_entity unused[1];
    outcome got = {.made = unused};
    if (op_relates((op_kind)step->kind)) return want_request(m, step, e);
    if (step->kind == OP_CLONE) {
        reef_status s = ref_clone_as(r, e, made);
        if (s != REEF_OK) ref_release_id(r, made);
        return s;
    }
    if (step->kind == OP_INSTANTIATE) return want_copy_as(m, step, e, made);
    if (step_makes(step)) {
        return want_spawn_as(r, made, values, step->kind == OP_SPAWN ? model_values(m, step, values) : 0);
    }
    model_want(m, step, &got);
    return got.status;
}

void want_DEFER(model *m, const op *o, outcome *want)
{
    noted all = {.count = 0};
    reef_status first = REEF_OK;
    defer_begin(m, o, want);
    for (uint32_t i = 0; i < DEFER_STEPS; i++) {
        op *step = &all.step[all.count];
        bool at_once = false;
        reef_entity made = {0, 0};
        defer_step(o, i, step);
        reef_status s = step_note(m, step, want, &made, &at_once);
        want->digest = value_mix(want->digest, (uint64_t)(int64_t)s);
        if (s != REEF_OK || at_once) continue;
        all.subject[all.count] = model_handle(m, step->subject);
        all.made[all.count++] = made;
        if (step_makes(step)) m->handle[step->made] = want->made[i] = made;
    }
    for (uint32_t i = 0; i < all.count; i++) {
        reef_status s = step_do(m, &all.step[i], all.subject[i], all.made[i]);
        if (first == REEF_OK && s < REEF_OK) first = s;
    }
    defer_end(want, first);
    for (uint32_t i = 0; i < DEFER_STEPS; i++)
        want->number += (uint64_t)(ref_alive(&m->reference, want->made[i]) != NULL) << i;
}
