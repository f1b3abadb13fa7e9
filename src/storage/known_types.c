/* Which types a world may use. The first use of a type makes the family's maps reach it, and notes in the state that
 * the world knows it. */
#include "storage/known_types.h"
#include "storage/archetype.h"
#include "storage/error.h"
#include "storage/place_calls.h"
#include "storage/subtype.h"
#include "storage/unique_field.h"
#include "reef/type_info.h"

const place_calls *reef__places_by;
const subtype_calls *reef__subtypes_by;
const unique_calls *reef__uniques_by;
bool (*reef__indexes_declared)(reef_world *w);

bool reef__world_knows(const reef_world *w, uint32_t c)
{
    const type *t = reef__type_of(c);
    if (t == NULL || t->gone) return false;
    if (t->owner) c = t->owner;
    return !w->config.strict || (c / 64 < w->state.used_words && (w->state.used_types[c / 64] >> (c % 64) & 1));
}

static reef_status type_first_used(reef_world *w, uint32_t c)
{
    state *s = &w->state;
    if (c / 64 >= s->used_words && !reef__array_room(&w->family->memory, MEMORY_OTHER, &s->used_types, &s->used_words,
                                                     c / 64 + 1, sizeof *s->used_types))
        return REEF_NO_MEMORY;
    s->used_types[c / 64] |= 1ull << (c % 64);
    return REEF_OK;
}

/* Do the world's maps have the parts of a split type? */
static bool parts_mapped(const reef_world *w, const type *t)
{
    for (uint32_t i = 0; i < t->part_count; i++)
        if (t->parts[i] >= w->state.map_count) return false;
    return true;
}

reef_status reef__type_ready(reef_world *w, uint32_t c)
{
    if (type_is_ready(w, c)) return REEF_OK;
    if (!reef__world_knows(w, c)) return REEF_UNKNOWN_TYPE;
    if (w->running) return REEF_LOCKED;
    const type *t = reef__type_of(c);
    if (t->split && REEF_ACQUIRE_U32(&t->part_count) == 0)
        return refuse_because(w, "in REEF_SPLIT it needs REEF_FIELDS");
    reef_status s = type_first_used(w, c);
    if (s == REEF_OK && (c >= w->state.map_count || (t->split && !parts_mapped(w, t)))) s = reef__graph_sync(w);
    return s;
}

COLD reef_status reef_world_use(reef_world *w, reef_component c)
{
    if (!WORLD_GIVEN(w)) return REEF_BAD_ARGUMENT;
    if (w->running) return reef__failure(w, REEF_LOCKED, "reef_world_use", c, (reef_entity){0, 0}, 0);
    reef_status s = reef__type_of(c.id) == NULL ? REEF_UNKNOWN_TYPE : type_first_used(w, c.id);
    if (s == REEF_OK && c.id >= w->state.map_count) s = reef__graph_sync(w);
    return s == REEF_OK ? s : reef__failure(w, s, "reef_world_use", c, (reef_entity){0, 0}, 0);
}
