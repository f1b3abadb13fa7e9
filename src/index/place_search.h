/* What the questions to a picture share: which rows count, and turning a row into an answer. */
#ifndef REEF_INDEX_PLACE_SEARCH_H
#define REEF_INDEX_PLACE_SEARCH_H

#include "index/cell_walk.h"
#include "index/picture.h"
#include "index/row_distance.h"

/* A question about one entity after the other. */
typedef struct asked_rows {
    const reef_world *world;
    uint32_t except, least; /* no entity with the index `except`, and none below `least` */
    const query *only;      /* NULL: all */
} asked_rows;

/* The query that an answer has to match; NULL with *fits: all do. Not *fits: this query can't be asked here. */
const query *reef__place_filter(const reef_place *p, reef_query only, bool *fits);

/* A coordinate of a question, as those of the picture are kept. */
double reef__ask_coordinate(const place_type *t, double x);
/* Reads what all questions have in common. `at` may still be outside of the edges. False: nothing can be found. */
bool reef__ask_take(const reef_place *p, const reef_place_ask *ask, asked_rows *test, double *at);

/* May a question reach as far as a radius and a way of this squared length? Only in a world with ghosts there is a
 * limit (src/index/place_ghosts.c). */
bool reef__ask_reaches(const reef_place *p, double radius, double squared);
INLINE bool ask_reaches(const reef_place *p, double radius, double squared)
{
    return LIKELY(p->world->place_ghost == 0) || reef__ask_reaches(p, radius, squared);
}

bool reef__row_matches(const asked_rows *t, uint32_t index);

/* Does the entity with this index count? */
INLINE bool row_counts(const asked_rows *t, uint32_t index)
{
    return index != t->except && index >= t->least && (LIKELY(t->only == NULL) || reef__row_matches(t, index));
}

INLINE reef_entity entity_of(const reef_place *p, uint32_t row)
{
    const cell_rows *r = &p->rows;
    const uint32_t generation =
        UNLIKELY(r->old) ? ((const uint32_t *)r->generation)[row] : ((const uint16_t *)r->generation)[row];
    return (reef_entity){r->index[row], generation};
}

/* Rows that were found are kept as numbers: the index of the entity in the upper half, the row in the lower one.
 * reef__hits_sort sorts them, reef__hits_sort_few up to HITS_FEW of them, where there is room for so many. */
enum { HITS_FEW = 32 };
INLINE uint64_t hit_of(const reef_place *p, uint32_t row) { return (uint64_t)p->rows.index[row] << 32 | row; }
/* They may lie where answers will be, so they are read and written as bytes. */
INLINE uint64_t hit_get(const void *hits, uint32_t i)
{
    uint64_t hit;
    memcpy(&hit, (const char *)hits + (size_t)i * sizeof hit, sizeof hit);
    return hit;
}
INLINE void hit_put(void *hits, uint32_t i, uint64_t hit)
{
    memcpy((char *)hits + (size_t)i * sizeof hit, &hit, sizeof hit);
}
void reef__hits_sort(void *hits, uint32_t count);
void reef__hits_sort_few(uint64_t *hit, uint32_t count);

#endif
