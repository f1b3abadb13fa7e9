/* Doing commands, in the order in which command.c recorded them.
 *
 * Each is done by the public call that it stands for, so it has the result that the call would have now. A run has the
 * result of its elements one by one. Where a run names all rows of a table in their order, and nobody could tell the
 * difference, the table is done as a whole; entities to make become rows as many at once as fit. */
#include "change/command.h"
#include "type/value.h"
#include "storage/archetype.h"
#include "storage/command_buffer.h"
#include "storage/entity_index.h"
#include "storage/error.h"
#include "storage/id_lanes.h"
#include "storage/known_types.h"
#include "storage/observed.h"
#include "storage/place.h"
#include "storage/relabel.h"
#include "storage/required.h"
#include "storage/row_bits.h"
#include "storage/table.h"
#include "change/command_layout.h"
#include "change/component.h"
#include "change/destroy.h"
#include "change/instantiate.h"
#include "change/spawn.h"
#include "change/spawn_batch.h"
#include "change/value_stage.h"
#include "reef/enable.h"
#include "reef/relation.h"
#include "reef/many.h"
#include "reef/loop_settings.h"
#include <stdio.h>

enum {
    /* The most parts of runs of entities to make that are done at once. Their memory is free then for the rows of the
     * next ones. */
    COMMAND_PACKED = 64,
    COMMAND_WHOLE_LEAST = 64, /* fewest rows of a table that is done as a whole: below, one by one is as fast */
    COMPLAINT_BYTES = REPORT_BYTES + 32
};

/* Ends the first `count` values of a command. `taken`: they were moved into the world. */
static void values_end(const command *x, uint32_t count, bool taken)
{
    const uint32_t n = x->n ? x->n : 1;
    const reef_value *held = held_values(x);
    for (uint32_t i = 0; i < count; i++) {
        const type *t = reef__type_of(held[i].component.id);
        const bool one = held[i].kind == REEF_VALUE_ONE;
        const uint32_t elements = held[i].kind == VALUE_MOVED_ARRAY ? n : one || held[i].kind == VALUE_MOVED ? 1 : 0;
        if (!t->hooked || t->size == 0 || (taken && !one)) continue;
        for (uint32_t k = 0; k < elements; k++) value_destroy(t, (char *)(uintptr_t)held[i].data + (size_t)k * t->size);
    }
}

static void command_end(const command *x, bool taken)
{
    if (x->kind == COMMAND_CALL && !taken) command_call_of(x)->forget(x->component, command_held(x));
    values_end(x, x->count, taken);
}

/* ---- doing ---- */

/* The entities won't be made: their ids are free again. False: no memory; the ids that are left are tried again later.
 */
static COLD bool ids_give_up(reef_world *w, const reef_entity *e, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (reef__id_pending(w, e[i]) && !reef__id_unpend(w, e[i])) return false;
    return true;
}

/* Types that a job named may be new to the world. */
static reef_status values_ready(reef_world *w, const char *op, const reef_value *values, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const reef_status s = reef__type_ready(w, values[i].component.id);
        if (s != REEF_OK) return reef__failure(w, s, op, values[i].component, (reef_entity){0, 0}, 0);
    }
    return REEF_OK;
}

/* Makes the entities of a command: from a list of values, or as copies of `source`. */
static reef_status pending_do(reef_world *w, command_kind kind, const reef_entity *ids, uint32_t n, reef_entity source,
                              reef_value *values, uint32_t count)
{
    static const char *const ops[] = {[COMMAND_SPAWN] = "reef_spawn",
                                      [COMMAND_CLONE] = "reef_clone",
                                      [COMMAND_INSTANTIATE] = "reef_instantiate",
                                      [COMMAND_CLONE_TREE] = "reef_clone_tree"};
    const char *op = ops[kind];
    bool pending = true;
    reef_status s;
    for (uint32_t i = 0; i < n; i++) pending &= reef__id_pending(w, ids[i]);
    if (!pending)
        s = reef__failure(w, REEF_NOT_ALIVE, op, (reef_component){0}, kind == COMMAND_SPAWN ? ids[0] : source, n);
    else if ((s = values_ready(w, op, values, count)) != REEF_OK) {
    } else if (kind == COMMAND_SPAWN) s = reef__spawn_pending(w, ids, n, values, count);
    else if (kind == COMMAND_CLONE) s = reef__clone_into(w, source, n, NULL, ids);
    else s = reef__tree_copy(w, op, source, kind == COMMAND_INSTANTIATE, n, NULL, ids, values, count);
    if (s >= 0 || s == REEF_NO_MEMORY) return s;
    const reef_error why = w->error;
    if (!ids_give_up(w, ids, n))
        return reef__failure(w, REEF_NO_MEMORY, why.operation, why.component, why.entity, why.number);
    w->error = why;
    return s;
}

static reef_status held_do(reef_world *w, const command *x, const char *op, bool absent)
{
    const reef_status s = values_ready(w, op, held_values(x), x->count);
    return s == REEF_OK ? reef__change_held(w, op, x->entity, held_values(x), x->count, absent) : s;
}

static reef_status command_do(reef_world *w, const command *x)
{
    const reef_component c = {x->component};
    const reef_value *v = held_values(x);
    switch (x->kind) {
    case COMMAND_SPAWN:
    case COMMAND_CLONE:
    case COMMAND_INSTANTIATE:
    case COMMAND_CLONE_TREE: return pending_do(w, x->kind, command_ids(x), x->n, x->entity, held_values(x), x->count);
    case COMMAND_DESTROY_MANY:
        w->error.status = REEF_OK;
        reef_destroy_many(w, command_ids(x), x->n);
        return w->error.status;
    case COMMAND_ADD_VALUE:
        if (v->kind == VALUE_MOVED) return held_do(w, x, "reef_add", true);
        return reef_add_id(w, x->entity, c, NULL, NULL);
    case COMMAND_SET:
        if (v->kind == VALUE_MOVED) return held_do(w, x, "reef_set", false);
        return reef_set_id(w, x->entity, c, v->data, v->size);
    case COMMAND_REMOVE_ALL: return reef_remove_all(w, x->entity);
    case COMMAND_CHANGE: return held_do(w, x, "reef_change", false);
    case COMMAND_CALL: return command_call_of(x)->run(w, x->component, command_held(x));
    case COMMAND_NAME: return reef_set_name(w, x->entity, x->component ? (const char *)(x + 1) : NULL);
    default: return REEF_OK;
    }
}

static COLD void command_complain(const reef_world *w, const char *what)
{
    char message[COMPLAINT_BYTES];
#if !defined(REEF_CHECKED)
    if (w->config.log == NULL) return; /* a command about an entity that died meanwhile is no mistake */
#endif
    size_t at = (size_t)snprintf(message, sizeof message, "%s ", what);
    reef_error_text(w, message + at, sizeof message - at);
    reef__report(w, REEF_LOG_WARNING, reef__report_key(message), message);
}

/* Reports the failure of one of the first chunk's commands. */
static COLD void command_failed(reef_world *w, const commands *c, reef_error *first, reef_status s)
{
    memcpy(w->error.system, c->first->system, sizeof w->error.system);
    command_complain(w, s == REEF_NO_MEMORY ? "deferred, and kept for later:" : "deferred");
    if (s != REEF_NO_MEMORY && first->status == REEF_OK) *first = w->error;
}

/* The next command. Chunks that are done are retired. NULL: none is left. */
static command *commands_next(reef_world *w, commands *c)
{
    while (c->first && c->first->done == c->first->used) {
        command_chunk *k = c->first;
        c->first = k->next;
        if (c->first == NULL) c->last = NULL;
        reef__command_chunk_retire(w, k);
    }
    return c->first ? command_at(c->first, c->first->done) : NULL;
}

/* Counts the next n commands as done; each element of a run counts as one. */
static void commands_skip(reef_world *w, commands *c, uint64_t n)
{
    for (command *x; n > 0 && (x = commands_next(w, c)) != NULL;) {
        const uint64_t rest = command_is_run(x) ? x->n - x->at : 1, some = n < rest ? n : rest;
        if (command_is_run(x)) x->at += some;
        n -= some;
        c->count -= some;
        if (some == rest) c->first->done += x->bytes;
    }
}

/* ---- runs ---- */

/* A place in a sequence of runs of the same kind and component. */
typedef struct run_place {
    const command_chunk *chunk;
    const command *x;
    size_t offset;
    uint64_t at;
} run_place;

/* Goes to the next element of the sequence. False: there is none. */
static bool run_place_next(run_place *p)
{
    if (p->at < p->x->n) return true;
    const command *was = p->x;
    p->offset += was->bytes;
    while (p->offset == p->chunk->used) {
        p->chunk = p->chunk->next;
        if (p->chunk == NULL) return false;
        p->offset = sizeof(command_chunk);
    }
    p->x = command_at(p->chunk, p->offset);
    p->at = 0;
    return p->x->kind == was->kind && p->x->component == was->component;
}

/* Are these elements, and those behind them, all rows of the table in their order? */
static bool run_names_table(const reef_world *w, run_place p, const table *t)
{
    for (uint32_t unit = t->first; unit; unit = unit_slots(w, unit)[0].head.next) {
        const reef_entity *e = slot_entities(unit_slots(w, unit));
        const uint32_t rows = chunk_rows(t, unit);
        for (uint32_t row = 0; row < rows;) {
            if (!run_place_next(&p)) return false;
            uint64_t n = p.x->n - p.at;
            if (n > rows - row) n = rows - row;
            if (memcmp(e + row, command_ids(p.x) + p.at, (size_t)n * sizeof *e) != 0) return false;
            row += (uint32_t)n;
            p.at += n;
        }
    }
    return true;
}

/* All rows of a table lose or get a component at once. This is only done where the component is plain and nobody sees
 * the single rows change. False: nothing was done. */
static bool table_move(reef_world *w, uint32_t id, uint32_t component, bool remove)
{
    reef_status s = REEF_OK;
    relabel r;
    if (reef__type_ready(w, component) != REEF_OK || (reef__slot_seek(w, component, id) != 0) != remove) return false;
    if (!remove && !reef__table_meets(w, id, reef__type_of(component))) return false;
    const edge *e = reef__graph_edge(w, id, component, remove, &s);
    if (e == NULL || e->to == TABLE_EMPTY) return false;
    const shape *from = shape_of(w->family, id), *to = shape_of(w->family, e->to);
    const bit_store *marks = bit_store_of(w, component | BIT_DISABLED);
    const table *there = table_read(w, e->to);
    if (from->hooked || to->hooked || from->tracked || to->tracked || watched(w, component) ||
        (there && table_rows(there)))
        return false;
    if (remove && marks && reef__bit_known(w, marks, id)) return false;
    if (reef__relabel_prepare(w, &r, id, e, remove, NULL)) reef__relabel_commit(w, &r);
    else return reef__relabel_cancel(w, &r), false;
    return true;
}

static bool table_destroy(reef_world *w, uint32_t id, uint64_t rows)
{
    const shape *s = shape_of(w->family, id);
    if (w->state.name_count || s->hooked || s->tracked || reef__stores_tracked(w) || observed(w)) return false;
    if (!reef__table_own_all(w, id) || !reef__destroy_prepare(w, NULL, 0, rows)) return false;
    reef__destroy_rows(w, id);
    return true;
}

/* Does the run for a whole table, if the next element's entity is the table's first row. The answer is how many
 * elements that were; 0: nothing was done. */
static NOINLINE uint64_t run_whole(reef_world *w, const commands *c, const command *x, uint32_t place)
{
    const uint32_t id = reef_slots_at(&w->hot, place)[0].head.table;
    const table *t = id > TABLE_EMPTY ? table_read(w, id) : NULL;
    const uint64_t rows = t ? table_rows(t) : 0;
    if (rows < COMMAND_WHOLE_LEAST || t->first != place_unit(place) || x->kind > COMMAND_DESTROY) return 0;
    if (x->kind != COMMAND_DESTROY && (reef__type_of(x->component) == NULL || !in_table(reef__type_of(x->component))))
        return 0;
    if (!run_names_table(w, (run_place){c->first, x, c->first->done, x->at}, t)) return 0;
    if (x->kind == COMMAND_DESTROY) return table_destroy(w, id, rows) ? rows : 0;
    return table_move(w, id, x->component, x->kind == COMMAND_REMOVE) ? rows : 0;
}

static reef_status element_do(reef_world *w, const command *x)
{
    const reef_entity e = command_ids(x)[x->at], *pair = command_ids(x) + 2 * x->at;
    const reef_component c = {x->component};
    switch (x->kind) {
    case COMMAND_RELATE: return reef_relate_id(w, pair[0], c, pair[1], NULL, 0);
    case COMMAND_ADD: return reef_add_id(w, e, c, NULL, NULL);
    case COMMAND_REMOVE: return reef_remove_id(w, e, c);
    case COMMAND_DESTROY: return reef_destroy(w, e);
    default: return reef_enable_id(w, e, c, x->kind == COMMAND_ENABLE);
    }
}

/* ---- entities to make ---- */

static reef_status row_do(reef_world *w, const command *x)
{
    reef_value values[COMMAND_RUN_VALUES + 1];
    const char *at = run_elements(x) + x->at * x->component;
    reef_entity e, prefab = {0, 0};
    if (x->kind == COMMAND_LANE_ROWS) reef__lane_ids_name(run_ids(x), (uint32_t)x->at, 1, &e);
    else memcpy(&e, at, sizeof e);
    if (x->kind == COMMAND_COPIES) memcpy(&prefab, at + sizeof e, sizeof prefab);
    at += row_head(x->kind);
    for (uint32_t i = 0; i < x->count; i++) {
        values[i] = run_values(x)[i];
        if (values[i].kind != REEF_VALUE_ONE) continue;
        values[i].data = at;
        at += values[i].size;
    }
    return pending_do(w, x->kind == COMMAND_COPIES ? COMMAND_INSTANTIATE : COMMAND_SPAWN, &e, 1, prefab, values,
                      x->count);
}

static bool rows_alike(const command *x, const command *y)
{
    if (x->count != y->count) return false;
    for (uint32_t i = 0; i < x->count; i++) {
        const reef_value *v = &run_values(x)[i], *u = &run_values(y)[i];
        if (v->component.id != u->component.id || v->kind != u->kind || v->size != u->size) return false;
    }
    return true;
}

/* Makes as many entities at once as possible, from this run's next element on and from equal runs behind it. The
 * answer is how many. */
static NOINLINE uint64_t rows_packed(reef_world *w, const commands *c, const command *x)
{
    packed_run runs[COMMAND_PACKED];
    uint32_t n = 0;
    for (run_place p = {c->first, x, c->first->done, x->at}; n < COMMAND_PACKED; p.at += runs[n++].n) {
        if (n && (!run_place_next(&p) || !rows_alike(x, p.x))) break;
        const uint64_t rest = p.x->n - p.at;
        runs[n] = (packed_run){.rows = run_elements(p.x) + p.at * p.x->component,
                               .ids = x->kind == COMMAND_LANE_ROWS ? run_ids(p.x) : NULL,
                               .at = (uint32_t)p.at,
                               .n = rest < REEF_BLOCK_ROWS ? (uint32_t)rest : REEF_BLOCK_ROWS};
    }
    return reef__spawn_packed(w, run_values(x), x->count, x->component, runs, n);
}

/* The same for instances of one prefab, from this run alone. */
static NOINLINE uint64_t copies_together(reef_world *w, const command *x)
{
    const packed_copies run = {.values = run_values(x),
                               .count = x->count,
                               .rows = run_elements(x) + x->at * x->component,
                               .stride = x->component,
                               .n = (uint32_t)(x->n - x->at)};
    return reef__copies_together(w, &run);
}

/* Has the next instance the prefab of the one before? */
static bool copies_go_on(const command *x)
{
    const char *next = run_elements(x) + x->at * x->component + sizeof(reef_entity);
    return x->at < x->n && memcmp(next, next - x->component, sizeof(reef_entity)) == 0;
}

/* As many of a run's next elements as can be done at once. The answer is how many; 0: none. */
INLINE uint64_t elements_do(reef_world *w, const commands *c, const command *x)
{
    if (x->kind == COMMAND_COPIES) return copies_together(w, x);
    if (command_is_rows(x)) return x->count ? rows_packed(w, c, x) : 0;
    if (x->kind == COMMAND_RELATE) return 0;
    const uint32_t place = place_of(w, command_ids(x)[x->at]);
    return place_row(place) == 0 && place >= 2 * PLACE_EMPTY ? run_whole(w, c, x, place) : 0;
}

static reef_status run_do(reef_world *w, commands *c, command *x, reef_error *first)
{
    const bool rows = command_is_rows(x);
    for (bool begun = false; x->at < x->n; begun = rows && (x->kind != COMMAND_COPIES || copies_go_on(x))) {
        if (UNLIKELY(observers_stuck(w))) return REEF_NO_MEMORY;
        const uint64_t n = begun ? 0 : elements_do(w, c, x);
        if (n) return commands_skip(w, c, n), REEF_OK;
        const reef_status s = rows ? row_do(w, x) : element_do(w, x);
        if (s < 0) command_failed(w, c, first, s);
        if (s == REEF_NO_MEMORY) return s;
        x->at++;
        c->count--;
    }
    c->first->done += x->bytes;
    return REEF_OK;
}

static reef_status single_do(reef_world *w, commands *c, const command *x, reef_error *first)
{
    const reef_status s = command_do(w, x);
    if (s < 0) command_failed(w, c, first, s);
    if (s == REEF_NO_MEMORY) return s;
    command_end(x, s >= 0);
    c->first->done += x->bytes;
    c->count--;
    return REEF_OK;
}

reef_status reef__commands_do(reef_world *w, commands *c)
{
    reef_error first = {.status = REEF_OK};
    reef_status s = REEF_OK;
    reef__commands_part(c);
    w->flushing = true;
    for (command *x; s != REEF_NO_MEMORY && (x = commands_next(w, c)) != NULL;) {
        if (observers_stuck(w)) {
            s = REEF_NO_MEMORY;
            break;
        }
        s = command_is_run(x) ? run_do(w, c, x, &first) : single_do(w, c, x, &first);
    }
    w->flushing = false;
    if (s == REEF_NO_MEMORY) return s;
    if (first.status != REEF_OK) w->error = first;
    return first.status;
}

void reef__commands_drop(reef_world *w, commands *c)
{
    reef__commands_part(c);
    for (command *x; (x = commands_next(w, c)) != NULL; c->first->done += x->bytes)
        if (!command_is_run(x)) command_end(x, false);
    c->count = 0;
}

/* ---- a world's own commands ---- */

reef_status reef__world_flush(reef_world *w)
{
    if (!lanes_finish(w))
        return reef__failure(w, REEF_NO_MEMORY, "reef_flush", (reef_component){0}, (reef_entity){0, 0},
                             w->deferred.count);
    reef_status s = observed(w) ? observers_by(w)->flush(w) : reef__commands_do(w, &w->deferred);
    if (w->deferred.count == 0) w->slow &= ~SLOW_DEFERRED;
    return s;
}

reef_status reef_flush(reef_world *w)
{
    if (!WORLD_GIVEN(w)) return REEF_BAD_ARGUMENT;
    if (w->locks || w->flushing)
        return reef__failure(w, REEF_LOCKED, "reef_flush", (reef_component){0}, (reef_entity){0, 0}, 0);
    return reef__world_flush(w);
}
