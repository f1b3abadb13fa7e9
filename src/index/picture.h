/* The pictures of a world: for each type with a place, a copy of the coordinates of all entities, sorted into the cells
 * of grids (src/index/cell_grid.h). */
#ifndef REEF_INDEX_PICTURE_H
#define REEF_INDEX_PICTURE_H

#include "index/cell_grid.h"
#include "index/place_type.h"
#include "storage/place_calls.h"
#include "query/query.h"
#include "reef/place.h"

enum { PART_BITS = 11, PART_INDICES = 1 << PART_BITS };

/* What a picture saw of the world when it was made: if nothing of this is different, it is still right. */
typedef struct picture_seen {
    uint64_t version;       /* of the newest write */
    uint64_t epoch;         /* of the world's state */
    uint64_t rows;          /* in the tables of the query */
    uint64_t values, moves; /* of the stores with its values, together */
} picture_seen;

struct reef_place {
    struct reef_place *next; /* another one of the same world */
    reef_world *world;
    const place_type *type;
    uint32_t changes; /* reef__places_changes, when `type` was the place of its type */
    query *query;     /* the type, and the type with the radius if there is one */
    mutex lock;       /* held while systems refresh it */
    bool made;        /* false: there is no picture yet, or the last one couldn't be made */
    picture_seen seen;
    double beyond;  /* how far the furthest question reached that was refused; under the lock */
    bool wraps;     /* some axis does */
    double slack;   /* how far off a distance over an edge may be, and a little more */
    uint32_t parts; /* of its pairs: the entities with indices up to PART_INDICES - 1, and so on */
    cell_rows rows;
    cell_grids grids;
};

/* Frees all pictures of a world. */
void reef__pictures_drop(reef_world *w);

/* For systems. Why a system can't read the places of a type, NULL: it can, and *reads are the types that it reads as
 * well. prepare: makes what a picture needs before systems run. refresh: makes the picture of the world as it is
 * when a system begins that sees what was written up to version `seen`. It may be called for several systems at a time;
 * nobody writes what the picture shows meanwhile. False: no memory. */
const char *reef__picture_reads(uint32_t component, place_reads *reads);
reef_status reef__picture_prepare(reef_world *w, uint32_t component);
bool reef__picture_refresh(reef_world *w, uint32_t component, uint64_t seen);

/* For queries with `near`. around: hands out the entities within a radius, of the picture that reef_place_of gives; the
 * status is its. explain: reef_place_explain of the picture that there is. */
reef_status reef__picture_around(reef_world *w, uint32_t component, const reef_place_ask *ask, take_near take,
                                 void *to);
size_t reef__picture_explain(reef_world *w, uint32_t component, char *text, size_t size);

/* Takes a coordinate back between the edges of an axis that wraps around. */
double reef__edge_wrap(const place_type *t, uint32_t axis, double x);

/* Frees the picture and its query: of a place that its type no longer has, or that shows others. */
void reef__picture_leave(reef_place *p);

/* The picture of a type; NULL: there is none. */
reef_place *reef__picture_find(const reef_world *w, uint32_t component);

#endif
