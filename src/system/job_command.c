/* Commands in systems: what can be refused at once is refused at once, the rest is recorded in the job's command
 * buffer (src/change/command.c). A block of a loop outside of systems has no job: its commands are calls on the
 * world. */
#include "type/value.h"
#include "storage/command_buffer.h"
#include "storage/id_lanes.h"
#include "storage/known_types.h"
#include "storage/name_index.h"
#include "change/apply.h"
#include "change/command.h"
#include "system/job.h"
#include "system/system.h"
#include "reef/command.h"
#include "reef/enable.h"
#include "reef/prefab.h"
#include "reef/command_relation.h"
#include "reef/command_entity.h"

/* ---- checks ---- */

static COLD reef_status undeclared(job *j, const char *op, uint32_t component, reef_entity e)
{
    return reef__job_failure(j, REEF_UNDECLARED, op, (reef_component){component}, e, 0);
}

/* Returns the job's command buffer, for a call that may begin a new run of commands. */
static commands *job_commands(job *j)
{
    j->commands.by = &j->by;
    return &j->commands;
}

/* Checks a command for one entity and perhaps a component of it. */
static reef_status one_check(job *j, const char *op, reef_touch_kind kind, reef_component c, reef_entity e)
{
    if (reef_entity_is_null(e)) return reef__job_failure(j, REEF_NOT_ALIVE, op, c, e, 0);
    if (c.id && !reef__world_knows(j->world, c.id)) return reef__job_failure(j, REEF_UNKNOWN_TYPE, op, c, e, 0);
    return reef__job_declares(j, kind, c.id) ? REEF_OK : undeclared(j, op, c.id, e);
}

/* The same for a command that must have a component. */
static reef_status type_check(job *j, const char *op, reef_touch_kind kind, reef_component c, reef_entity e)
{
    if (!reef_entity_is_null(e) && c.id == 0) return reef__job_failure(j, REEF_UNKNOWN_TYPE, op, c, e, 0);
    return one_check(j, op, kind, c, e);
}

/* ---- making ---- */

static reef_status job_spawn(job *j, const char *op, uint32_t n, reef_entity *entities, const reef_value *values,
                             uint32_t count)
{
    const reef_entity null = {0, 0};
    const reef_status s = reef__values_check(j->world, &j->by, op, null, values, count, VALUES_SPAWN, n);
    if (s != REEF_OK) return s;
    if (count == 0 && !reef__touch_find(j->system, REEF_SPAWNS, NULL)) return undeclared(j, op, 0, null);
    return n ? reef__command_make(j->world, job_commands(j), COMMAND_SPAWN, op, null, n, entities, values, count)
             : REEF_OK;
}

reef_entity reef_cmd_create(reef_block *b)
{
    reef_entity e = {0, 0};
    if (b == NULL) return e;
    if (b->loop.job == NULL) return reef_create_entity(b->world);
    return job_spawn(b->loop.job, "reef_cmd_create", 1, &e, NULL, 0) == REEF_OK ? e : (reef_entity){0, 0};
}

static NOINLINE reef_entity spawn_other(job *j, const reef_value *values, uint32_t count)
{
    reef_entity e = values ? reef__command_row_again(NULL, &j->commands, values, count) : (reef_entity){0, 0};
    if (e.generation != 0) return e;
    return job_spawn(j, "reef_cmd_spawn", 1, &e, values, count) == REEF_OK ? e : (reef_entity){0, 0};
}

/* (With a call in its fast path it took 2 ns more; it takes about 10.) */
reef_entity reef_cmd_spawn_values(reef_block *b, const reef_value *values, uint32_t count)
{
    if (UNLIKELY(b == NULL)) return (reef_entity){0, 0};
    job *j = b->loop.job;
    if (UNLIKELY(j == NULL)) return reef_spawn_values(b->world, values, count);
    if (UNLIKELY(j->by.ids.fresh_count == 0 || values == NULL || !command_row_words(&j->commands, values, count)))
        return spawn_other(j, values, count);
    return lane_again(&j->by.ids);
}

reef_status reef_cmd_spawn_many_values(reef_block *b, uint32_t n, reef_entity *entities, const reef_value *values,
                                       uint32_t count)
{
    if (b == NULL) return REEF_BAD_ARGUMENT;
    if (b->loop.job == NULL) return reef_spawn_many_values(b->world, n, entities, values, count);
    return job_spawn(b->loop.job, "reef_cmd_spawn_many", n, entities, values, count);
}

reef_entity reef_cmd_clone(reef_block *b, reef_entity source)
{
    static const char op[] = "reef_cmd_clone";
    reef_entity e = {0, 0};
    if (b == NULL) return e;
    if (b->loop.job == NULL) return reef_clone(b->world, source);
    if (reef_entity_is_null(source))
        return reef__job_failure(b->loop.job, REEF_NOT_ALIVE, op, (reef_component){0}, source, 0), e;
    /* the system must declare that it spawns entities with any components */
    if (!reef__touch_find(b->loop.job->system, REEF_SPAWNS, &(reef_component){0}))
        return undeclared(b->loop.job, op, 0, source), e;
    const reef_status s =
        reef__command_make(b->world, job_commands(b->loop.job), COMMAND_CLONE, op, source, 1, &e, NULL, 0);
    return s == REEF_OK ? e : (reef_entity){0, 0};
}

reef_entity reef_cmd_instantiate_values(reef_block *b, reef_entity prefab, const reef_value *values, uint32_t count)
{
    static const char op[] = "reef_cmd_instantiate";
    reef_entity e = {0, 0};
    if (b == NULL) return e;
    job *j = b->loop.job;
    if (j == NULL)
        return reef_instantiate_values(b->world, prefab, 1, &e, values, count) == REEF_OK ? e : (reef_entity){0, 0};
    if (reef_entity_is_null(prefab)) return reef__job_failure(j, REEF_NOT_ALIVE, op, (reef_component){0}, prefab, 0), e;
    if (count == 0 || values) e = reef__command_copy_again(&j->commands, prefab, values, count);
    if (e.generation != 0) return e;
    if (!reef__touch_find(j->system, REEF_SPAWNS, &(reef_component){0})) return undeclared(j, op, 0, prefab), e;
    if (reef__values_check(j->world, &j->by, op, prefab, values, count, VALUES_COPY, 1) != REEF_OK) return e;
    const reef_status s =
        reef__command_make(j->world, job_commands(j), COMMAND_INSTANTIATE, op, prefab, 1, &e, values, count);
    return s == REEF_OK ? e : (reef_entity){0, 0};
}

/* ---- one entity ---- */

/* The first command of a run; or it is refused. */
static NOINLINE reef_status request_new(job *j, command_kind kind, reef_touch_kind touch, reef_entity e,
                                        reef_component c)
{
    static const char *const ops[] = {"reef_cmd_add", "reef_cmd_remove", "reef_cmd_destroy", "reef_cmd_enable",
                                      "reef_cmd_disable"};
    const char *op = ops[kind - COMMAND_ADD];
    const bool typed = kind == COMMAND_ADD || kind == COMMAND_REMOVE;
    const reef_status s = typed ? type_check(j, op, touch, c, e) : one_check(j, op, touch, c, e);
    return s == REEF_OK ? reef__command_plain(j->world, job_commands(j), kind, op, e, c) : s;
}

/* The fast path: one more command of the same run. */
INLINE reef_status request_go(job *j, command_kind kind, reef_touch_kind touch, reef_entity e, reef_component c)
{
    if (LIKELY(e.generation != 0) && command_again(&j->commands, kind, c.id, e)) return REEF_OK;
    return request_new(j, kind, touch, e, c);
}

reef_status reef_cmd_destroy(reef_block *b, reef_entity e)
{
    if (UNLIKELY(b == NULL)) return REEF_BAD_ARGUMENT;
    return LIKELY(b->loop.job != NULL) ? request_go(b->loop.job, COMMAND_DESTROY, REEF_DESTROYS, e, (reef_component){0})
                                       : reef_destroy(b->world, e);
}

reef_status reef_cmd_add_id(reef_block *b, reef_entity e, reef_component c)
{
    if (UNLIKELY(b == NULL)) return REEF_BAD_ARGUMENT;
    return LIKELY(b->loop.job != NULL) ? request_go(b->loop.job, COMMAND_ADD, REEF_ADDS, e, c)
                                       : reef_add_id(b->world, e, c, NULL, NULL);
}

reef_status reef_cmd_set_id(reef_block *b, reef_entity e, reef_component c, const void *value, size_t size)
{
    static const char op[] = "reef_cmd_set";
    if (b == NULL) return REEF_BAD_ARGUMENT;
    job *j = b->loop.job;
    if (j == NULL) return reef_set_id(b->world, e, c, value, size);
    const uint32_t bytes = size > UINT32_MAX ? UINT32_MAX : (uint32_t)size;
    const reef_value v = reef_value_make(c, REEF_VALUE_ONE, bytes, value);
    reef_status s = type_check(j, op, REEF_ADDS, c, e);
    if (s != REEF_OK) return s;
    const char *why;
    s = reef__value_sound(&v, false, 1, &why);
    if (s == REEF_BAD_ARGUMENT) return reef__job_misuse(j, op, c, e, why);
    if (s != REEF_OK) return reef__job_failure(j, s, op, c, e, size);
    return reef__command_values(j->world, job_commands(j), COMMAND_SET, op, e, &v, 1);
}

reef_status reef_cmd_remove_id(reef_block *b, reef_entity e, reef_component c)
{
    if (UNLIKELY(b == NULL)) return REEF_BAD_ARGUMENT;
    return LIKELY(b->loop.job != NULL) ? request_go(b->loop.job, COMMAND_REMOVE, REEF_REMOVES, e, c)
                                       : reef_remove_id(b->world, e, c);
}

reef_status reef_cmd_remove_all(reef_block *b, reef_entity e)
{
    static const char op[] = "reef_cmd_remove_all";
    const reef_component none = {0};
    if (b == NULL) return REEF_BAD_ARGUMENT;
    if (b->loop.job == NULL) return reef_remove_all(b->world, e);
    const reef_status s = one_check(b->loop.job, op, REEF_REMOVES, none, e);
    return s == REEF_OK ? reef__command_plain(b->world, job_commands(b->loop.job), COMMAND_REMOVE_ALL, op, e, none) : s;
}

reef_status reef_cmd_change_values(reef_block *b, reef_entity e, const reef_value *values, uint32_t count)
{
    static const char op[] = "reef_cmd_change";
    if (b == NULL) return REEF_BAD_ARGUMENT;
    job *j = b->loop.job;
    if (j == NULL) return reef_change_values(b->world, e, values, count);
    if (reef_entity_is_null(e)) return reef__job_failure(j, REEF_NOT_ALIVE, op, (reef_component){0}, e, 0);
    const reef_status s = reef__values_check(j->world, &j->by, op, e, values, count, VALUES_CHANGE, 1);
    return s == REEF_OK ? reef__command_values(j->world, job_commands(j), COMMAND_CHANGE, op, e, values, count) : s;
}

reef_status reef_cmd_enable_id(reef_block *b, reef_entity e, reef_component c, bool on)
{
    if (UNLIKELY(b == NULL)) return REEF_BAD_ARGUMENT;
    if (b->loop.job == NULL) return reef_enable_id(b->world, e, c, on);
    return request_go(b->loop.job, on ? COMMAND_ENABLE : COMMAND_DISABLE, REEF_ENABLES, e, c);
}

reef_status reef_cmd_name(reef_block *b, reef_entity e, const char *name)
{
    static const char op[] = "reef_cmd_name";
    const reef_component none = {0};
    uint32_t length = 0;
    if (b == NULL) return REEF_BAD_ARGUMENT;
    if (b->loop.job == NULL) return reef_set_name(b->world, e, name);
    const reef_status s = one_check(b->loop.job, op, REEF_NAMES, none, e);
    if (s != REEF_OK) return s;
    const uint32_t bad = name ? reef__name_bad_column(name, &length) : 0;
    return bad ? reef__job_failure(b->loop.job, REEF_BAD_TEXT, op, none, e, bad)
               : reef__command_name(b->world, job_commands(b->loop.job), op, e, name);
}
