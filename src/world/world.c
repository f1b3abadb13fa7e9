/* Worlds: making and freeing them, reserving and shrinking their memory, and reef_validate, which checks every
 * invariant of a world. The parts of a world are in the layers below; this file calls them in the right order. */
#include "storage/archetype.h"
#include "storage/copy_on_write.h"
#include "storage/entity_index.h"
#include "storage/error.h"
#include "storage/event_log.h"
#include "storage/id_lanes.h"
#include "storage/invalidate.h"
#include "storage/known_types.h"
#include "storage/name_index.h"
#include "storage/place_calls.h"
#include "storage/observed.h"
#include "storage/quarantine.h"
#include "storage/removal_log.h"
#include "storage/row_bits.h"
#include "storage/row_stamps.h"
#include "storage/sparse_store.h"
#include "storage/split_columns.h"
#include "storage/state_kind.h"
#include "storage/table.h"
#include "change/apply.h"
#include "change/command.h"
#include "change/singleton.h"
#include "change/spawn.h"
#include "query/query.h"
#include "system/phase.h"
#include "system/schedule.h"
#include "system/script.h"
#include "world/debug_layout.h"
#include "reef/inspect.h"
#include "reef/pool.h"
#include "reef/log.h"
#include "reef/stats.h"
#include "reef/type_info.h"

COLD reef_world *reef_world_new(const reef_world_config *config)
{
    static const reef_world_config defaults;
    if (config == NULL) config = &defaults;
    if (config->entities_max > INDEX_MAX) return NULL;
    family *f = reef__family_make(&config->allocator);
    if (f == NULL) return NULL;
    reef_world *w = reef__memory_zeroed(&f->memory, MEMORY_OTHER, sizeof *w);
    if (w == NULL) {
        reef__family_free(f);
        return NULL;
    }
    reef__family_add(f, true);
    reef__member_join(&w->member, &w->state, w);
    reef__types_show();
    w->hot.library = &reef__library;
    w->family = f;
    w->config = *config;
    w->debug = &reef_debug_layout;
    w->hot.number = reef__world_number();
    reef__invalidate(w, INVALIDATE_BLOCKS_MOVED); /* 0 is what a ref has that remembers nothing */
    reef__graph_view_none(w);
    reef__block_indexes_begin(w);
    reef__invalidate(w, INVALIDATE_LOOKED_AT);
    reef__stores_view(w);
    w->state.next_unit = 2;
    w->state.seed = config->seed;
    w->error.operation = "";
    const char *refused = reef_declare_error();
    if (refused) reef__report(w, REEF_LOG_ERROR, reef__report_key(refused), refused);
    return w;
}

/* Is a function of the user running that some call on the world has called, or does its time belong to somebody? */
static bool world_in_use(const reef_world *w)
{
    return w->locks || w->running || w->flushing || w->held || w->time_owner;
}

COLD void reef_world_free(reef_world *w)
{
    if (!WORLD_GIVEN(w)) return;
    if (world_in_use(w)) {
        reef__refuse(w, REEF_LOCKED, "reef_world_free");
        return;
    }
    family *f = w->family;
    reef__member_leave(&w->member);
    world_hold(w); /* hooks and scripts run, and functions that free contexts */
    reef__scripts_end(w);
    reef__ticking_drop(w);
    reef__commands_drop(w, &w->deferred);
    reef__commands_trim(w);
    reef__lanes_drop(w);
    observing_end(w);
    places_drop(w);
    if (w->indexes) w->indexes->drop(w);
    reef__queries_drop(w);
    reef__ahead_drop(w);
    reef__bundles_drop(w);
    reef__readers_drop(w);
    reef__schedule_drop(w);
    reef__events_drop(w);
    reef__state_drop(f, &w->hot, &w->state); /* runs the destroy hooks */
    reef__block_indexes_drop(w);
    uniques_drop(w);
    reef__memory_free(&f->memory, MEMORY_OTHER, w->order, w->order_room * sizeof *w->order);
    reef__memory_free(&f->memory, MEMORY_OTHER, w, sizeof *w);
    reef__family_leave(f, true);
}

void *reef_context(const reef_world *w) { return WORLD_GIVEN(w) ? w->config.context : NULL; }

void reef_set_context(reef_world *w, void *context)
{
    if (WORLD_GIVEN(w)) w->config.context = context;
}

void reef_set_log(reef_world *w, void (*log)(void *context, reef_log_level level, const char *message),
                  void (*misuse)(void *context, reef_status status, const char *message))
{
    if (!WORLD_GIVEN(w)) return;
    w->config.log = log;
    w->config.misuse = misuse;
}

COLD reef_status reef_shrink(reef_world *w)
{
    static const char op[] = "reef_shrink";
    if (!WORLD_GIVEN(w)) return REEF_BAD_ARGUMENT;
    if (w->locks) return reef__refuse(w, REEF_LOCKED, op);
    for (uint32_t i = TABLE_EMPTY; i < w->state.tables.count * TABLES_PER_PAGE; i++)
        if (!reef__table_shrink(w, i)) return reef__refuse(w, REEF_NO_MEMORY, op);
    reef__queries_forget(w);
    if (!reef__stores_shrink(w)) return reef__refuse(w, REEF_NO_MEMORY, op);
    reef__commands_trim(w);
    if (w->lane_rest == 0) reef__lanes_drop(w);
    reef__events_shrink(w);
    mutex_lock(&w->family->lock);
    reef__graph_free_retired(w->family);
    mutex_unlock(&w->family->lock);
    reef__quarantine_end(w->family);
    reef__memory_trim(&w->family->memory);
    return REEF_OK;
}

/* Reserves ids, rows and pages of stores for `count` entities with these components. */
static reef_status rows_reserve(reef_world *w, uint32_t count, const reef_value *values, uint32_t n)
{
    reef_status s = reef__ids_prepare(w, count);
    const uint32_t id = s == REEF_OK ? reef__listed_table(w, values, n, &s) : 0;
    /* with types that aren't in tables alone, in the table without components */
    table *t = id && n ? reef__table_own(w, id) : NULL;
    if (s == REEF_OK && n && (t == NULL || (count && !reef__table_reserve(w, t, count)))) s = REEF_NO_MEMORY;
    for (uint32_t i = 0; s == REEF_OK && i < n; i++)
        if (!reef__stores_reserve(w, &values[i].component, 1, count)) s = REEF_NO_MEMORY;
    return s;
}

COLD reef_status reef_reserve_for(reef_world *w, uint32_t count, const reef_component *types, uint32_t type_count)
{
    static const char op[] = "reef_reserve_for";
    const reef_entity null = {0, 0};
    spread list, x;
    if (!WORLD_GIVEN(w)) return REEF_BAD_ARGUMENT;
    if (type_count > REEF_COMPONENTS_MAX)
        return reef__failure(w, REEF_LIMIT, op, (reef_component){0}, null, type_count);
    if (type_count && types == NULL) return misuse_refuse(w, op, "the list of types is NULL");
    if (w->locks) return reef__failure(w, REEF_LOCKED, op, (reef_component){0}, null, count);
    if (!reef__spread_room(w, &list, type_count))
        return reef__failure(w, REEF_NO_MEMORY, op, (reef_component){0}, null, count);
    for (uint32_t i = 0; i < type_count; i++)
        list.values[list.count++] = reef_value_make(types[i], REEF_VALUE_DEFAULT, 0, NULL);
    const reef_status refused = reef__values_check(w, NULL, op, null, list.values, list.count, VALUES_SPAWN, count);
    reef_status s = refused == REEF_OK ? reef__spread_make(w, &x, null, list.values, list.count) : refused;
    reef__spread_free(w, &list);
    if (s == REEF_OK) {
        s = rows_reserve(w, count, x.values, x.count);
        reef__spread_free(w, &x);
    }
    return s == refused ? s : reef__failure(w, s, op, (reef_component){0}, null, count);
}

COLD reef_status reef_validate(const reef_world *w, char *message, size_t size)
{
    char unused[1];
    uint64_t placed;
    if (!WORLD_GIVEN(w)) return REEF_BAD_ARGUMENT;
    if (message == NULL || size == 0) message = unused, size = 1;
    message[0] = 0;
    if (reef__index_validate(w, &placed, message, size) != REEF_OK ||
        reef__tables_validate(w, message, size) != REEF_OK ||
        reef__block_indexes_validate(w, message, size) != REEF_OK || reef__bits_validate(w, message, size) != REEF_OK ||
        reef__stores_validate(w, message, size) != REEF_OK || reef__tracks_validate(w, message, size) != REEF_OK ||
        reef__events_validate(w, message, size) != REEF_OK || reef__names_validate(w, message, size) != REEF_OK ||
        uniques_validate(w, message, size) != REEF_OK || reef__single_validate(w, message, size) != REEF_OK ||
        observing_validate(w, message, size) != REEF_OK || reef__queries_validate(w, message, size) != REEF_OK)
        return REEF_CORRUPT;
    const uint64_t rows = reef_count_alive(w) - w->hot.empty_count;
    if (rows == placed) return REEF_OK;
    return reef__corrupt(message, size, "world: %llu rows, %llu entities in them", (unsigned long long)rows,
                         (unsigned long long)placed);
}

COLD reef_status reef_set_pool(reef_world *w, reef_pool *pool)
{
    if (!WORLD_GIVEN(w)) return REEF_BAD_ARGUMENT;
    if (w->running) return reef__refuse(w, REEF_LOCKED, "reef_set_pool");
    w->pool = pool;
    return REEF_OK;
}

reef_pool *reef_world_pool(const reef_world *w) { return WORLD_GIVEN(w) ? w->pool : NULL; }
