/* Entities that are events: those with ReefBrief.
 *
 *   made in phase p of tick n ──► end of p in tick n: marked {p, n} ──► ... ──► end of p in tick n + 1: destroyed
 *
 * So every system of a phase that runs once a tick sees such an entity exactly once. The mark is in the component
 * itself, so it is part of the state. */
#include "system/event_entity.h"
#include "base/byte_hash.h"
#include "storage/error.h"
#include "query/query.h"
#include "system/schedule.h"
#include "reef/brief.h"
#include "reef/many.h"

/* Entities that are to be marked or destroyed, in the visible order. */
typedef struct brief_list {
    reef_entity *entities;
    uint32_t count, room;
} brief_list;

uint64_t reef__brief_mark(const char *name)
{
    const uint64_t hash = reef__hash_bytes(name, strlen(name));
    return hash ? hash : 1;
}

/* Did this world ever have such entities? */
static bool brief_used(const reef_world *w, reef_component c)
{
    return c.id / 64 < w->state.used_words && (w->state.used_types[c.id / 64] >> (c.id % 64) & 1);
}

static bool brief_add(reef_world *w, brief_list *l, reef_entity e)
{
    if (!reef__array_room(&w->family->memory, MEMORY_EVENTS, &l->entities, &l->room, l->count + 1, sizeof e))
        return false;
    l->entities[l->count++] = e;
    return true;
}

/* Collects the entities that this phase made in an earlier tick; with `made_by` 0 those that aren't marked yet. False:
 * no memory. */
static bool brief_collect(reef_world *w, reef_query q, uint64_t made_by, brief_list *l)
{
    bool ok = true;
    l->count = 0;
    reef_block b = reef_begin(w, q);
    while (ok && reef_next(&b)) {
        const ReefBrief *brief = reef_in(&b, ReefBrief);
        for (uint32_t i = 0; ok && i < b.count; i++)
            if (brief[i].phase == made_by && (made_by == 0 || brief[i].tick < w->state.ticks))
                ok = brief_add(w, l, b.entities[i]);
    }
    reef_end(&b);
    return ok;
}

static bool brief_set(reef_world *w, const brief_list *l, ReefBrief value)
{
    for (uint32_t i = 0; i < l->count; i++) {
        ReefBrief *brief = reef_mut(w, l->entities[i], ReefBrief);
        if (brief == NULL) return false;
        *brief = value;
    }
    return true;
}

static bool brief_destroy(reef_world *w, const brief_list *l)
{
    w->error.status = REEF_OK;
    if (l->count) reef_destroy_many(w, l->entities, l->count);
    return w->error.status != REEF_NO_MEMORY;
}

/* At the end of a phase what it made in an earlier tick is destroyed. Then what isn't marked gets the mark of the phase
 * and the tick. */
static COLD reef_status brief_turn(reef_world *w, reef_component c, uint64_t mark, bool ends, uint64_t tick)
{
    const ReefBrief value = {mark, tick};
    const uint64_t ending = ends ? value.phase : 0;
    const reef_error before = w->error;
    const reef_query_desc desc = {.terms = {{.component = c, .access = REEF_IN, .enabled = REEF_EITHER}},
                                  .entities = REEF_EITHER};
    const reef_query q = reef__query_handle(reef__query_make(w, &desc));
    brief_list l = {NULL, 0, 0};
    bool ok = !reef_query_is_null(q);
    if (ok && ending) ok = brief_collect(w, q, ending, &l) && brief_destroy(w, &l);
    if (ok) ok = brief_collect(w, q, 0, &l) && brief_set(w, &l, value);
    reef__memory_free(&w->family->memory, MEMORY_EVENTS, l.entities, l.room * sizeof *l.entities);
    if (!reef_query_is_null(q)) (void)reef_query_free(w, q);
    w->error = before;
    return ok ? REEF_OK : reef__failure(w, REEF_NO_MEMORY, "reef_tick", c, (reef_entity){0, 0}, 0);
}

reef_status reef__events_expire_begin(reef_world *w, uint64_t mark)
{
    const reef_component c = reef_id(ReefBrief);
    return brief_used(w, c) ? brief_turn(w, c, mark, false, w->state.ticks - 1) : REEF_OK;
}

reef_status reef__events_expire(reef_world *w, uint64_t mark)
{
    const reef_component c = reef_id(ReefBrief);
    return brief_used(w, c) ? brief_turn(w, c, mark, true, w->state.ticks) : REEF_OK;
}
