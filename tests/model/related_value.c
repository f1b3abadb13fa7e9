/* Relations as values of their source: reef_set and reef_change give a source a relation, or write the first one that
 * it has. In a loop that records, what is there is written at once, and what isn't is recorded; relating, retargeting
 * and unrelating are always recorded. Some loops consist of such calls alone, about few entities, so that they meet.
 * */
#include "apply.h"
#include "link.h"
#include "pairs.h"
#include <stdlib.h>

bool related_by_value(const op *o) { return o->kind == OP_RELATE && o->option & (RELATE_BY_SET | RELATE_BY_CHANGE); }

/* ---- steps of a loop ---- */

/* Makes step i of a loop that is only about relations of one type: by any call that relates, from two sources, to three
 * targets or to entities that the loop makes. */
bool step_mixes(const op *o, uint32_t i, op *step)
{
    static const op_kind kinds[] = {OP_RELATE,   OP_RELATE,   OP_RELATE,        OP_RELATE,
                                    OP_RETARGET, OP_UNRELATE, OP_RELATE_BEFORE, OP_CREATE};
    static const uint8_t ways[] = {RELATE_BY_SET, RELATE_BY_SET, RELATE_BY_CHANGE, 0};
    const uint64_t v = value_mix(o->value, 7000 + i) >> 3;
    if (!(o->option & DEFER_MIXED)) return false;
    memset(step, 0, sizeof *step);
    step->kind = (uint8_t)kinds[v % 8];
    step->value = v;
    step->made = o->made + i;
    step->count = 1;
    if (step->kind == OP_CREATE) return true;
    step->type[0] = (uint8_t)(o->n % RELATIONS);
    step->subject = o->list[v >> 8 & 1];
    for (uint32_t k = 0; k < 2; k++) step->list[k] = o->list[2 + (v >> (12 + 4 * k)) % 3];
    if ((v >> 24) % 8 == 0 && i) step->list[v >> 27 & 1] = o->made + (uint32_t)((v >> 28) % i); /* made before */
    if ((v >> 32) % 16 == 0) step->list[0] = step->subject;
    if (step->kind == OP_RELATE) step->option = ways[v >> 36 & 3];
    if (v >> 40 & 1 && model_relations[step->type[0]].data < TYPES_MAX) step->option |= RELATE_DATA;
    if ((v >> 44) % 32 == 0) step->option |= RELATE_WRONG_SIZE;
    return true;
}

/* ---- the calls ---- */

/* The relation as a value. */
reef_status relate_by_value(model *m, const op *o)
{
    _Alignas(16) struct {
        reef_entity target;
        uint64_t place;
        char data[128];
    } v = {model_handle(m, o->list[0]), 0, {0}};
    reef_type_info t;
    const reef_component c = model_relations[o->type[0]].id;
    const reef_entity e = subject_of(m, o);
    if (!reef_type_get(c, &t)) abort();
    if (o->option & RELATE_DATA && model_relations[o->type[0]].data < TYPES_MAX) (void)request_data(o, v.data);
    const uint32_t size = t.size + (o->option & RELATE_WRONG_SIZE ? 1 : 0);
    if (o->option & RELATE_BY_SET) return reef_set_id(m->world, e, c, &v, size);
    return reef_change_values(m->world, e, &(reef_value){c, REEF_VALUE_ONE, size, &v}, 1);
}

/* ---- the reference ---- */

/* Does the call only write what is there? */
bool related_value_writes(const model *m, const op *o, reef_entity e)
{
    return related_by_value(o) && ref_alive(&m->reference, e) &&
           ref_target(&m->reference, o->type[0], e.index) != UINT32_MAX;
}

/* What a loop that records answers; OK: the call is recorded. The entity is known. */
reef_status related_value_note(const op *o) { return o->option & RELATE_WRONG_SIZE ? REEF_WRONG_SIZE : REEF_OK; }

reef_status want_related_value(model *m, const op *o, reef_entity source)
{
    const ref_request x = request_of(m, o, source);
    const reef_status s = ref_relate_by_value(&m->reference, &x);
    if (s >= REEF_OK) m->relating |= pairs_of_relation(x.relation);
    return s == REEF_ADDED && o->option & RELATE_BY_CHANGE ? REEF_OK : s;
}
