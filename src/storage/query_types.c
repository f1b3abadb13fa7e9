/* Queries by the types that they need: src/storage/query_types.h. */
#include "storage/query_types.h"
#include "base/platform.h"
#include "type/type.h"
#include "storage/archetype.h"
#include "storage/layout.h"
#include "storage/world_data.h"

static uint32_t bucket_of(const query_types *x) { return x->count ? x->id[0] % QUERY_BUCKETS : QUERY_BUCKETS; }

/* How many tables, and how many queries, are found by this type, about. */
static uint32_t type_commonness(const reef_world *w, uint32_t component)
{
    return REEF_DEPENDENT(&map_of_id(w, component)->used) + w->filed_count[component % QUERY_BUCKETS];
}

void reef__query_types_file(reef_world *w, query_types *x)
{
    for (uint32_t i = 1; i < x->count; i++) {
        const uint32_t id = x->id[i];
        if (type_commonness(w, id) < type_commonness(w, x->id[0])) x->id[i] = x->id[0], x->id[0] = id;
    }
    if (x->left != w->tables_begun) x->epoch = x->looked = UINT64_MAX;
    x->next = w->filed[bucket_of(x)];
    w->filed[bucket_of(x)] = x;
    w->filed_count[bucket_of(x)]++;
}

void reef__query_types_leave(reef_world *w, query_types *x)
{
    query_types **at = &w->filed[bucket_of(x)];
    while (*at != x) at = &(*at)->next;
    *at = x->next;
    w->filed_count[bucket_of(x)]--;
    x->left = w->tables_begun;
}

/* A part of a type that is split has no bit in the signature. */
static bool shape_has(const shape *s, uint32_t component)
{
    for (uint32_t i = 0; reef__type_of(component)->owner && i < s->component_count; i++)
        if (s->component[i] == component) return true;
    const reef_signature_word *word = shape_signature(s);
    for (uint32_t i = 0; i < s->word_count; i++)
        if (word[i].number == component / 64) return word[i].bits >> component % 64 & 1;
    return false;
}

/* Tells the queries of a bucket that are filed under `first`, if the table has whatever else they need. */
static void bucket_tell(reef_world *w, query_types *x, const shape *s, uint32_t first)
{
    for (; x; x = x->next) {
        bool all = x->count == 0 || x->id[0] == first;
        for (uint32_t i = 1; all && i < x->count; i++) all = shape_has(s, x->id[i]);
        if (!all) continue;
        x->epoch = UINT64_MAX;
        if (x->told_count < QUERY_TOLD) x->told[x->told_count] = s->table;
        x->told_count += x->told_count <= QUERY_TOLD;
        w->told++;
    }
}

void reef__query_types_tell(reef_world *w, const shape *s)
{
    w->tables_begun++;
    for (uint32_t i = 0; i < s->component_count; i++) {
        query_types *x = w->filed[s->component[i] % QUERY_BUCKETS];
        if (x) bucket_tell(w, x, s, s->component[i]);
    }
    bucket_tell(w, w->filed[QUERY_BUCKETS], s, 0);
}
