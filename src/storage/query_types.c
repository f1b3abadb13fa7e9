/* Queries by the types that they need: src/storage/query_types.h. */
#include "storage/query_types.h"
#include "storage/archetype.h"

static uint32_t bucket_of(const query_types *x) { return x->count ? x->id[0] % QUERY_BUCKETS : QUERY_BUCKETS; }

/* How many tables, and how many queries, are found by this type, about. */
static uint32_t type_commonness(const reef_world *w, uint32_t component)
{
    return REEF_DEPENDENT(&map_of_id(w, component)->used) + w->filed_count[component % QUERY_BUCKETS];
}

void reef__query_types_leave(reef_world *w, query_types *x)
{
    *x->at = x->next;
    if (x->next) x->next->at = x->at;
    w->filed_count[bucket_of(x)]--;
    x->left = w->tables_begun;
}

/* A part of a type that is split has no bit in the signature. */
static bool shape_has(const shape *s, uint32_t component)
{
    const reef_signature_word *word = shape_signature(s);
    for (uint32_t i = 0; i < s->word_count; i++)
        if (word[i].number == component / 64 && word[i].bits >> component % 64 & 1) return true;
    for (uint32_t i = 0; type_known(component)->owner && i < s->component_count; i++)
        if (s->component[i] == component) return true;
    return false;
}

static void query_tell(reef_world *w, query_types *x, uint32_t table_id)
{
    x->epoch = UINT64_MAX;
    if (x->told_count < QUERY_TOLD) x->told[x->told_count] = table_id;
    x->told_count += x->told_count <= QUERY_TOLD;
    w->told++;
}

static void queries_tell(reef_world *w, const shape *s)
{
    for (uint32_t i = 0; i < s->component_count; i++) {
        const uint32_t id = s->component[i];
        for (query_types *x = w->filed[id % QUERY_BUCKETS]; x; x = x->next) {
            bool all = x->id[0] == id;
            for (uint32_t k = 1; all && k < x->count; k++) all = shape_has(s, x->id[k]);
            if (all) query_tell(w, x, s->table);
        }
    }
    for (query_types *x = w->filed[QUERY_BUCKETS]; x; x = x->next) query_tell(w, x, s->table);
}

void reef__query_types_file(reef_world *w, query_types *x)
{
    for (uint32_t i = 1; i < x->count; i++) { /* the rarest first */
        const uint32_t id = x->id[i], common = type_commonness(w, id);
        uint32_t k = i;
        for (; k > 0 && type_commonness(w, x->id[k - 1]) > common; k--) x->id[k] = x->id[k - 1];
        x->id[k] = id;
    }
    if (x->left != w->tables_begun) x->epoch = UINT64_MAX, x->looked = UINT64_MAX;
    x->at = &w->filed[bucket_of(x)];
    x->next = *x->at;
    if (x->next) x->next->at = &x->next;
    *x->at = x;
    w->filed_count[bucket_of(x)]++;
    w->queries_tell = queries_tell;
}
