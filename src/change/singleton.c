/* Singletons are the components of one entity, of which the state remembers the handle. The handle stays there when
 * the entity is destroyed: a dead handle never becomes alive again, so it means the same as none. */
#include "change/singleton.h"
#include "storage/entity_index.h"
#include "storage/error.h"
#include "storage/invalidate.h"
#include "storage/running.h"
#include "change/command.h"
#include "reef/single.h"
#include <stdio.h>

reef_entity reef_single_entity(const reef_world *w)
{
    if (!WORLD_GIVEN(w) || !reef_is_alive(w, w->state.single)) return (reef_entity){0, 0};
    return w->state.single;
}

const void *reef_single_get_id(const reef_world *w, reef_component c)
{
    if (!WORLD_GIVEN(w)) return NULL;
    running_read(w, "reef_single_get", w->state.single, c);
    return reef_get_id(w, w->state.single, c);
}

bool reef_single_has_id(const reef_world *w, reef_component c)
{
    return WORLD_GIVEN(w) && reef_has_id(w, w->state.single, c);
}

/* From now on, failures name `op` as the call that failed, although calls on the entity do the work. NULL ends that. */
static void single_calls(reef_world *w, const char *op)
{
    if (!w->running) w->calling = op;
}

void *reef_single_mut_id(reef_world *w, reef_component c)
{
    static const char op[] = "reef_single_mut";
    if (!WORLD_GIVEN(w)) return NULL;
    if (!reef_is_alive(w, w->state.single))
        return (void)reef__failure(w, REEF_ABSENT, op, c, (reef_entity){0, 0}, 0), NULL;
    single_calls(w, op);
    void *value = reef_mut_id(w, w->state.single, c);
    single_calls(w, NULL);
    return value;
}

reef_status reef_single_remove_id(reef_world *w, reef_component c)
{
    static const char op[] = "reef_single_remove";
    if (!WORLD_GIVEN(w)) return REEF_BAD_ARGUMENT;
    if (!reef__command_knows(w, w->state.single)) return reef__failure(w, REEF_ABSENT, op, c, (reef_entity){0, 0}, 0);
    single_calls(w, op);
    reef_status s = reef_remove_id(w, w->state.single, c);
    single_calls(w, NULL);
    return s;
}

/* The first singleton: its entity is made together with it, in one step. */
static COLD reef_status single_make(reef_world *w, reef_component c, const void *value, size_t size)
{
    if (size > UINT32_MAX) return reef__failure(w, REEF_WRONG_SIZE, "reef_single_set", c, (reef_entity){0, 0}, size);
    const reef_value v = reef_value_make(c, REEF_VALUE_ONE, (uint32_t)size, value);
    const bool recorded = w->commands != NULL;
    const reef_entity e = reef_spawn_values(w, &v, 1);
    if (reef_entity_is_null(e)) return w->running ? REEF_LOCKED : w->error.status;
    w->state.single = e;
    reef__invalidate(w, INVALIDATE_WRITTEN);
    return recorded ? REEF_OK : REEF_ADDED;
}

reef_status reef_single_set_id(reef_world *w, reef_component c, const void *value, size_t size)
{
    if (!WORLD_GIVEN(w)) return REEF_BAD_ARGUMENT;
    single_calls(w, "reef_single_set");
    reef_status s = reef__command_knows(w, w->state.single) ? reef_set_id(w, w->state.single, c, value, size)
                                                            : single_make(w, c, value, size);
    single_calls(w, NULL);
    return s;
}

COLD reef_status reef__single_validate(const reef_world *w, char *message, size_t size)
{
    const reef_entity e = w->state.single;
    if (reef_entity_is_null(e)) return REEF_OK;
    if (e.index < w->hot.index_count && e.generation <= (uint32_t)(record_read(w, e.index) >> 32)) return REEF_OK;
    snprintf(message, size, "singletons: entity %uv%u was never made", (unsigned)e.index, (unsigned)e.generation);
    return REEF_CORRUPT;
}
