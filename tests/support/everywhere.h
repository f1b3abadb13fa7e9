/* What concerns every entity that has certain components, whether they or it are disabled, templates too: a query for
 * them, and the call for all that match. The query is freed again. */
#ifndef EVERYWHERE_H
#define EVERYWHERE_H

#include "reef/all.h"

/* The query has each type once. Null, with the world's last error: it can't be made. */
static inline reef_query query_everywhere(reef_world *w, const reef_component *types, uint32_t count)
{
    reef_query_desc d = {.entities = REEF_EITHER};
    uint32_t n = 0;
    bool templates = false;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t k = 0;
        while (k < n && d.terms[k].component.id != types[i].id) k++;
        if (k == n)
            d.terms[n++] = (reef_term){.component = types[i].id ? types[i] : (reef_component){UINT32_MAX},
                                       .access = REEF_WITH,
                                       .enabled = REEF_EITHER};
        templates |= types[i].id == reef_id(ReefPrefab).id;
    }
    if (!templates) d.terms[n] = (reef_term){.component = reef_id(ReefPrefab), .op = REEF_OPTIONAL};
    const reef_query q = reef_query_make(w, &d);
    if (!reef_query_is_null(q) || reef_last_error(w).status != REEF_UNKNOWN_TYPE) return q;
    d.terms[n] = (reef_term){.component = {0}}; /* a strict world that has no templates */
    return reef_query_make(w, &d);
}

/* Takes a component from every entity that has it. */
static inline reef_status remove_everywhere(reef_world *w, reef_component c, uint64_t *removed)
{
    const reef_query q = query_everywhere(w, &c, 1);
    if (reef_query_is_null(q)) return reef_last_error(w).status;
    const reef_status s = reef_remove_where_id(w, q, c, removed);
    reef_query_free(w, q);
    return s;
}

/* Destroys every entity that has all of these components. */
static inline reef_status destroy_everywhere(reef_world *w, const reef_component *types, uint32_t count,
                                             uint64_t *destroyed)
{
    const reef_query q = query_everywhere(w, types, count);
    if (reef_query_is_null(q)) return reef_last_error(w).status;
    const reef_status s = reef_destroy_where(w, q, destroyed);
    reef_query_free(w, q);
    return s;
}
/* DESTROY_EVERYWHERE(w, reef_id(Enemy), reef_id(Dead)) */
#define DESTROY_EVERYWHERE(w, ...) \
    destroy_everywhere(w, (const reef_component[]){__VA_ARGS__}, \
                       (uint32_t)(sizeof((const reef_component[]){__VA_ARGS__}) / sizeof(reef_component)), NULL)

#endif
