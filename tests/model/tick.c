/* Ticks. Some systems of the world give commands, which follow from the operation and the entity that is visited. The
 * reference knows what a tick promises: all systems see the structure as it was, ids come from lanes, and the commands
 * are applied one by one when all systems have run.
 *
 *     every    visits all rows, in jobs
 *     wilful   has no query: the entities of the operation's list
 *     whole    visits all rows in one job
 *     hears    reads events, which `wilful` and the host send
 *     dozes    does so too, in ticks in which the operation says so */
#include "apply.h"
#include "script.h"
#include <stdlib.h>

enum { SYSTEMS = 5, ASKED_MAX = 6 * TICK_MADE, EVERY = 0, WILFUL = 1, WHOLE = 2, LANE_IDS = 64 };

static struct {
    model *m;
    const op *o;
    outcome *out;
    uint32_t made, asked; /* entities that were made, commands that were given */
    uint64_t heard;
} now;

/* The command that a system gives for an entity, or none. */
static bool tick_step(const op *o, uint32_t system, reef_entity e, uint32_t living, op *step)
{
    static const op_kind kinds[] = {OP_CREATE, OP_SPAWN,  OP_SPAWN,      OP_CLONE,      OP_DESTROY,
                                    OP_ADD,    OP_ADD,    OP_REMOVE,     OP_SET,        OP_SET,
                                    OP_CHANGE, OP_ENABLE, OP_REMOVE_ALL, OP_INSTANTIATE};
    const uint64_t v = value_mix(o->value ^ reef_entity_bits(e), 2000 + system) >> 3;
    const uint32_t count = o->count ? o->count : 1;
    if (system != WILFUL && v % (1 + living / 12)) return false;
    if (step_relates(o, v, step)) return true;
    memset(step, 0, sizeof *step);
    step->kind = (uint8_t)kinds[(v >> 12) % (sizeof kinds / sizeof *kinds)];
    step->value = value_mix(v, 7);
    step->count = (uint8_t)(step->kind == OP_SPAWN || step->kind == OP_CHANGE || step->kind == OP_INSTANTIATE
                                ? 1 + (v >> 20) % count
                                : 1);
    for (uint32_t k = 0; k < step->count; k++) {
        const uint64_t x = v >> (24 + 2 * k);
        step->type[k] = o->type[((v >> 20) + k) % count];
        step->how[k] = (uint8_t)(step->kind != OP_SET && x & 1 ? HOW_DEFAULT : HOW_ONE);
        if ((step->kind == OP_CHANGE || step->kind == OP_INSTANTIATE) && x & 2) step->how[k] = HOW_REMOVE;
    }
    if (step->kind == OP_INSTANTIATE) {
        step->n = 1;
        step->option = TREE_STEP;
        if (v >> 42 & 1) step->count = 0;
    }
    if (step->kind == OP_ENABLE)
        step->option =
            (uint8_t)((v >> 40 & 1 ? OPTION_ON : 0) | ((v >> 41 & 3) && step->type[0] != TYPE_ZERO ? 0 : OPTION_WHOLE));
    return true;
}

static bool step_makes(const op *step)
{
    return step->kind == OP_CREATE || step->kind == OP_SPAWN || step->kind == OP_CLONE || step->kind == OP_INSTANTIATE;
}

/* Some commands are about the entity that was made last. */
static bool about_made(const op *step) { return (step->value >> 7 & 3) == 0; }

/* ---- reef ---- */

static reef_status relate_command(reef_block *b, const op *step, reef_entity e)
{
    _Alignas(16) char data[128];
    const reef_component c = model_relations[step->type[0]].id;
    const reef_entity target = model_handle(now.m, step->list[0]), other = model_handle(now.m, step->list[1]);
    const size_t size = request_data(step, data);
    const bool with = (step->option & RELATE_DATA) != 0;
    switch ((op_kind)step->kind) {
    case OP_RELATE: return reef_cmd_relate_id(b, e, c, target, with ? data : NULL, with ? size : 0);
    case OP_RELATE_BEFORE: return reef_cmd_relate_before_id(b, e, c, target, other);
    case OP_UNRELATE: return reef_cmd_unrelate_id(b, e, c, target);
    default: return reef_cmd_retarget_id(b, e, c, target, other);
    }
}

static void command(reef_block *b, uint32_t system, reef_entity e)
{
    op step;
    model *m = now.m;
    if (!tick_step(now.o, system, e, m->reference.living_count, &step)) return;
    if (now.asked == ASKED_MAX || (step_makes(&step) && now.made == TICK_MADE)) return;
    now.asked++;
    if (!step_makes(&step) && now.made && about_made(&step)) e = now.out->made[now.made - 1];
    const reef_component c = component_of(step.type[0]);
    reef_entity made = {0, 0};
    reef_status s = REEF_OK;
    given g;
    if (op_relates((op_kind)step.kind)) {
        s = relate_command(b, &step, e);
        now.out->digest = value_mix(now.out->digest, (uint64_t)(s == REEF_OK));
        return;
    }
    given_make(m, &step, 1, &g);
    switch ((op_kind)step.kind) {
    case OP_CREATE: made = reef_cmd_create(b); break;
    case OP_SPAWN: made = reef_cmd_spawn_values(b, g.v, g.count); break;
    case OP_CLONE: made = reef_cmd_clone(b, e); break;
    case OP_INSTANTIATE: made = reef_cmd_instantiate_values(b, e, g.v, g.count); break;
    case OP_DESTROY: s = reef_cmd_destroy(b, e); break;
    case OP_ADD: s = reef_cmd_add_id(b, e, c); break;
    case OP_REMOVE: s = reef_cmd_remove_id(b, e, c); break;
    case OP_REMOVE_ALL: s = reef_cmd_remove_all(b, e); break;
    case OP_SET: s = reef_cmd_set_id(b, e, c, g.v[0].data, g.v[0].size); break;
    case OP_CHANGE: s = reef_cmd_change_values(b, e, g.v, g.count); break;
    default:
        s = reef_cmd_enable_id(b, e, step.option & OPTION_WHOLE ? (reef_component){0} : c, step.option & OPTION_ON);
        break;
    }
    if (step_makes(&step)) s = reef_entity_is_null(made) ? REEF_LIMIT : REEF_OK;
    given_free(&g, s == REEF_OK && (step.kind == OP_SPAWN || step.kind == OP_SET || step.kind == OP_CHANGE ||
                                    step.kind == OP_INSTANTIATE));
    now.out->digest = value_mix(now.out->digest, (uint64_t)(s == REEF_OK));
    if (reef_entity_is_null(made)) return;
    if (reef_is_alive(b->world, made)) model_fail(m, "an entity lives before its phase ends");
    now.out->made[now.made++] = made;
}

static void visit_rows(reef_block *b, uint32_t system)
{
    for (uint32_t first = 0, n; (n = reef_block_run(b, &first)) != 0; first += n)
        for (uint32_t i = first; i < first + n; i++) command(b, system, b->entities[i]);
}

static void every(reef_block *b) { visit_rows(b, EVERY); }
static void whole(reef_block *b) { visit_rows(b, WHOLE); }
/* How many events a tick sends, and whether the slow system runs. */
static uint32_t sends_of(const op *o, const ref_world *r)
{
    return r->event_count + 4 > EVENTS_MOST ? 0 : (uint32_t)(value_mix(o->value, 3000) >> 1) % 4;
}
static bool wakes(const op *o) { return (value_mix(o->value, 3001) >> 1) % 3 == 0; }

static void hears(reef_block *b)
{
    reef_events events = reef_receive_id(b, event_type);
    for (const uint64_t *e; (e = reef_next_event(&events)) != NULL;) now.heard = value_mix(now.heard, *e);
}
static bool is_awake(const reef_world *w, void *context)
{
    (void)w, (void)context;
    return wakes(now.o);
}

static void wilful(reef_block *b)
{
    for (uint32_t i = 0, n = sends_of(now.o, &now.m->reference); i < n; i++) {
        const uint64_t event = value_mix(now.o->value, 3100 + i);
        if (reef_send_id(b, event_type, &event, sizeof event) != REEF_OK) model_fail(now.m, "an event can't be sent");
    }
    for (uint32_t i = 0; i < OP_LIST; i++) {
        const reef_entity e = model_handle(now.m, now.o->list[i]);
        if (!reef_entity_is_null(e)) command(b, WILFUL, e);
    }
}

#define WANTS "spawns, destroys, adds, removes, enables, relates, unrelates"

bool tick_systems(reef_world *w)
{
    const reef_query_desc all = {.text = ""};
    const reef_system_desc systems[SYSTEMS] = {
        {.name = "every", .function = every, .query = &all, .text = "; " WANTS, .context = &now},
        {.name = "wilful", .function = wilful, .text = "; sends Knock, " WANTS, .context = &now},
        {.name = "whole", .function = whole, .query = &all, .text = "; " WANTS, .context = &now, .whole = true},
        {.name = "hears", .function = hears, .text = "; receives Knock"},
        {.name = "dozes", .function = hears, .text = "; receives Knock", .condition = is_awake},
    };
    for (uint32_t i = 0; i < SYSTEMS; i++)
        if (reef_system_is_null(reef_system_new(w, &systems[i]))) return false;
    return script_system(w);
}

void core_TICK(model *m, const op *o, outcome *out)
{
    memset(&now, 0, sizeof now);
    now.m = m;
    now.o = o;
    now.out = out;
    model_made(m, o->made + TICK_MADE, NULL, 0);
    for (uint32_t i = 0; i < TICK_MADE; i++) out->made[i] = (reef_entity){0, 0};
    out->made_count = TICK_MADE;
    out->status = reef_tick(m->world, 0);
    out->number = value_mix(value_mix(now.made, now.asked), now.heard);
}

/* An event from outside. */
void core_POST(model *m, const op *o, outcome *out)
{
    out->status = m->reference.event_count < EVENTS_MOST
                      ? reef_post_id(m->world, event_type, &o->value, sizeof o->value)
                      : REEF_OK;
}

/* ---- the reference ---- */

/* The lanes of a tick: those of `every` first. */
typedef struct lanes {
    uint32_t count, job[SYSTEMS]; /* first lane of each system */
    uint32_t *made;
    uint64_t free; /* ids that wait: then fresh ones follow */
} lanes;

typedef struct wanted {
    op step;
    reef_entity subject, made;
} wanted;

static struct {
    model *m;
    const op *o;
    outcome *out;
    lanes lanes;
    wanted list[ASKED_MAX];
    uint32_t asked, made, system, lane, rows;
} plan;

/* The jobs of `every`. Each has at least 1,024 rows and begins at a block. Blocks are those of each table's rows. */
static uint32_t rows_in_jobs(const ref_world *r, uint32_t *jobs)
{
    uint32_t all = 0, rows = 0;
    *jobs = 0;
    for (uint32_t i = 0; i < r->table_count; i++) {
        if (r->table[i]->set >> TYPE_PREFAB & 1) continue; /* templates */
        for (uint32_t left = r->table[i]->count, block; left; left -= block, rows += block, all += block) {
            block = left < REEF_BLOCK_ROWS ? left : REEF_BLOCK_ROWS;
            if (rows >= REEF_BLOCK_ROWS) rows = 0, ++*jobs;
        }
    }
    *jobs += rows != 0;
    return all;
}

static uint64_t lane_position(uint32_t lane, uint64_t k)
{
    return (k / LANE_IDS * plan.lanes.count + lane) * LANE_IDS + k % LANE_IDS;
}

/* Takes the next id of a lane; LIMIT: there is none. */
static reef_status lane_id(reef_entity *e)
{
    const ref_world *r = &plan.m->reference;
    const uint64_t at = lane_position(plan.lane, plan.lanes.made[plan.lane]), fresh = at - plan.lanes.free;
    if (at < plan.lanes.free) *e = ref_handle(r, r->free_id[r->free_first + at]);
    else if (fresh >= r->entities_max - r->count) return REEF_LIMIT;
    else *e = (reef_entity){(uint32_t)(r->count + fresh), 1};
    plan.lanes.made[plan.lane]++;
    return REEF_OK;
}

/* What the call returns at once. */
static reef_status want_note(const op *step, reef_entity *made)
{
    const ref_world *r = &plan.m->reference;
    if (op_relates((op_kind)step->kind)) {
        const bool retargets = step->kind == OP_RETARGET;
        if (retargets && relation_is(step->type[0], REEF_SYMMETRIC)) return REEF_BAD_ARGUMENT;
        return reef_entity_is_null(model_handle(plan.m, step->list[0])) ||
                       (retargets && reef_entity_is_null(model_handle(plan.m, step->list[1])))
                   ? REEF_NOT_ALIVE
                   : REEF_OK;
    }
    const bool whole_entity = step->kind == OP_ENABLE && step->option & OPTION_WHOLE;
    const bool untyped =
        step->kind == OP_CREATE || step->kind == OP_CLONE || step->kind == OP_DESTROY || step->kind == OP_REMOVE_ALL;
    for (uint32_t i = 0; !untyped && !whole_entity && i < step->count; i++) {
        if (!ref_knows(r, step->type[i])) return REEF_UNKNOWN_TYPE;
        for (uint32_t k = 0; k < i; k++)
            if (step->type[k] == step->type[i]) return REEF_DUPLICATE_TERM;
    }
    return step_makes(step) ? lane_id(made) : REEF_OK;
}

static void want_one(reef_entity e)
{
    wanted *x = &plan.list[plan.asked];
    if (!tick_step(plan.o, plan.system, e, plan.m->reference.living_count, &x->step)) return;
    if (plan.asked == ASKED_MAX || (step_makes(&x->step) && plan.made == TICK_MADE)) return;
    plan.asked++;
    if (!step_makes(&x->step) && plan.made && about_made(&x->step)) e = plan.out->made[plan.made - 1];
    x->subject = e;
    x->made = (reef_entity){0, 0};
    const reef_status s = want_note(&x->step, &x->made);
    plan.out->digest = value_mix(plan.out->digest, (uint64_t)(s == REEF_OK));
    if (s != REEF_OK) x->step.kind = OP_COUNT;
    else if (step_makes(&x->step)) plan.out->made[plan.made++] = x->made;
}

static void want_rows(void)
{
    const ref_world *r = &plan.m->reference;
    uint32_t rows = 0;
    for (uint32_t i = 0; i < r->table_count; i++) {
        if (r->table[i]->set >> TYPE_PREFAB & 1) continue;
        for (uint32_t row = 0; row < r->table[i]->count; row++) {
            const ref_entity *e = &r->entity[r->table[i]->row[row]];
            if (plan.system == EVERY && row % REEF_BLOCK_ROWS == 0) { /* a block begins */
                const uint32_t left = r->table[i]->count - row;
                if (rows >= REEF_BLOCK_ROWS) rows = 0, plan.lane++;
                rows += left < REEF_BLOCK_ROWS ? left : REEF_BLOCK_ROWS;
            }
            if (ref_matches(e, 0)) want_one(ref_handle(r, r->table[i]->row[row]));
        }
    }
}

static reef_status want_do(model *m, const wanted *x)
{
    ref_world *r = &m->reference;
    ref_value values[OP_TYPES];
    const op *step = &x->step;
    const ref_value one = {.type = step->type[0], .how = HOW_ONE, .seed = step->value};
    if (op_relates((op_kind)step->kind)) return want_request(m, step, x->subject);
    switch ((op_kind)step->kind) {
    case OP_CLONE: {
        reef_status s = ref_clone_as(r, x->subject, x->made);
        if (s != REEF_OK) ref_release_id(r, x->made);
        return s;
    }
    case OP_INSTANTIATE: return want_copy_as(m, step, x->subject, x->made);
    case OP_CREATE:
    case OP_SPAWN: return want_spawn_as(r, x->made, values, step->kind == OP_SPAWN ? model_values(m, step, values) : 0);
    case OP_DESTROY: return ref_destroy(r, x->subject);
    case OP_ADD: return ref_add(r, x->subject, step->type[0], false, 0);
    case OP_REMOVE: return ref_remove(r, x->subject, step->type[0]);
    case OP_REMOVE_ALL: return ref_remove_all(r, x->subject);
    case OP_SET: return ref_set(r, x->subject, &one);
    case OP_CHANGE: return ref_change(r, x->subject, values, model_values(m, step, values));
    case OP_ENABLE:
        return ref_enable(r, x->subject, step->option & OPTION_WHOLE ? TYPES_MAX : step->type[0],
                          step->option & OPTION_ON);
    default: return REEF_OK; /* it was refused at once */
    }
}

void want_POST(model *m, const op *o, outcome *want)
{
    want->status = REEF_OK;
    if (m->reference.event_count < EVENTS_MOST) ref_post(&m->reference, o->value);
}

/* The events that the two readers get, one after the other. */
static uint64_t want_heard(ref_world *r, const op *o)
{
    uint64_t heard = 0;
    for (uint32_t i = 0, n = sends_of(o, r); i < n; i++) ref_post(r, value_mix(o->value, 3100 + i));
    for (uint32_t i = r->event_count - r->news; i < r->event_count; i++) heard = value_mix(heard, r->event[i]);
    r->news = 0;
    for (uint32_t i = 0; wakes(o) && i < r->event_count; i++) heard = value_mix(heard, r->event[i]);
    if (wakes(o)) r->event_count = 0;
    return heard;
}

void want_TICK(model *m, const op *o, outcome *want)
{
    ref_world *r = &m->reference;
    uint32_t jobs;
    ref_group(r, 0);
    m->check_rows = true;
    const uint32_t rows = rows_in_jobs(r, &jobs);
    memset(&plan, 0, sizeof plan);
    plan.m = m;
    plan.o = o;
    plan.out = want;
    plan.lanes.count = jobs + 1 + (rows != 0);
    plan.lanes.made = calloc(plan.lanes.count, sizeof *plan.lanes.made);
    plan.lanes.free = r->free_end - r->free_first;
    if (plan.lanes.made == NULL) abort();
    r->ticks++;
    for (uint32_t i = 0; i < TICK_MADE; i++) want->made[i] = (reef_entity){0, 0};
    model_made(m, o->made + TICK_MADE, NULL, 0);
    ref_scripts_run(r); /* in the phase before that of the others */
    want_rows();
    plan.system = WILFUL;
    plan.lane = jobs;
    for (uint32_t i = 0; i < OP_LIST; i++)
        if (!reef_entity_is_null(model_handle(m, o->list[i]))) want_one(model_handle(m, o->list[i]));
    plan.system = WHOLE;
    plan.lane = jobs + 1;
    want_rows();
    ref_lanes_end(r, plan.lanes.made, plan.lanes.count, LANE_IDS);
    for (uint32_t i = 0; i < plan.asked; i++) want_do(m, &plan.list[i]);
    free(plan.lanes.made);
    want->made_count = TICK_MADE;
    want->status = REEF_OK;
    want->number = value_mix(value_mix(plan.made, plan.asked), want_heard(r, o));
}
