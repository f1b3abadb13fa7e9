/* What the core asks of places, and of value indexes that are declared beside types. A program without them is linked
 * without their code, since nothing leads there but this table and this pointer: the declaration of a place brings the
 * table along (reef_place_declare_). */
#ifndef REEF_STORAGE_PLACE_CALLS_H
#define REEF_STORAGE_PLACE_CALLS_H

#include "storage/world_data.h"
#include "reef/entity.h"
#include "reef/limits.h"
#include "reef/status.h"
#include "reef/type.h"

/* The types that a picture reads beside the one that has the place: that with the radius, and those that it carries. */
typedef struct place_reads {
    uint32_t count;
    reef_component type[1 + REEF_PLACE_CARRIES_MAX];
} place_reads;

/* Takes an entity that was found. False: no memory. */
typedef bool (*take_near)(void *to, reef_entity e);
struct reef_place_ask;

/* The functions are described where they are declared: src/index/picture.h. */
typedef struct place_calls {
    void (*drop)(reef_world *w);
    const char *(*reads)(uint32_t component, place_reads *reads);
    reef_status (*prepare)(reef_world *w, uint32_t component);
    bool (*refresh)(reef_world *w, uint32_t component, uint64_t seen);
    reef_status (*around)(reef_world *w, uint32_t component, const struct reef_place_ask *ask, take_near take,
                          void *to);
    size_t (*explain)(reef_world *w, uint32_t component, char *text, size_t size);
} place_calls;

/* NULL as long as no type has a place. It is set once. */
extern const place_calls *reef__places_by;

INLINE void places_drop(reef_world *w)
{
    if (UNLIKELY(w->pictures != NULL)) reef__places_by->drop(w);
}

/* Makes the value indexes that are declared beside types and that the world hasn't got yet (src/index/index_decl.c).
 * False: no memory. NULL as long as none was declared; it is set once. */
extern bool (*reef__indexes_declared)(reef_world *w);

#endif
