/* A family tree: relations that are transitive, symmetric, with data, and queries that follow them. */
#include <reef.h>
#include <reef/relation.h>
#include <reef/multi.h>
#include <stdio.h>

typedef struct {
    int year;
} Born;
typedef struct {
    int year;
} Wedding;
REEF_COMPONENT(Born);
REEF_COMPONENT(Wedding);
REEF_RELATION(DescendsFrom, REEF_ACYCLIC | REEF_TRANSITIVE); /* from a child to its parents */
REEF_RELATION_OF(MarriedTo, Wedding, REEF_EXCLUSIVE | REEF_SYMMETRIC);

static reef_entity person(reef_world *w, const char *name, int born, reef_entity mother, reef_entity father)
{
    reef_entity e = reef_spawn(w, reef_with(Born, born));
    reef_set_name(w, e, name);
    if (!reef_entity_is_null(mother)) reef_relate(w, e, DescendsFrom, mother);
    if (!reef_entity_is_null(father)) reef_relate(w, e, DescendsFrom, father);
    return e;
}

static void print_children(const reef_world *w, reef_entity parent)
{
    printf("%s's children:", reef_name(w, parent));
    for (reef_sources s = reef_sources_of(w, parent, DescendsFrom); reef_sources_next(&s);)
        for (uint32_t i = 0; i < s.count; i++) printf(" %s", reef_name(w, s.sources[i]));
    printf("\n");
}

/* Who has a parent in common with e? */
static void print_siblings(const reef_world *w, reef_entity e)
{
    uint32_t n;
    const DescendsFrom *parents = reef_get_all(w, e, DescendsFrom, &n);
    printf("%s's siblings:", reef_name(w, e));
    for (uint32_t p = 0; p < n; p++)
        for (reef_sources s = reef_sources_of(w, parents[p].target, DescendsFrom); reef_sources_next(&s);)
            for (uint32_t i = 0; i < s.count; i++) {
                const reef_entity other = s.sources[i];
                const bool told = p > 0 && reef_relation_get(w, other, DescendsFrom, parents[0].target);
                if (!reef_entity_equal(other, e) && !told) printf(" %s", reef_name(w, other));
            }
    printf("\n");
}

static void print_wedding(const reef_world *w, reef_entity e)
{
    const MarriedTo *m = reef_get(w, e, MarriedTo);
    if (m) printf("%s is married to %s since %d\n", reef_name(w, e), reef_name(w, m->target), m->data.year);
    else printf("%s isn't married\n", reef_name(w, e));
}

int main(void)
{
    reef_world *w = reef_world_new(NULL);
    const reef_entity none = {0, 0};
    reef_entity ada = person(w, "ada", 1900, none, none), bert = person(w, "bert", 1898, none, none);
    reef_entity clara = person(w, "clara", 1925, ada, bert), dora = person(w, "dora", 1928, ada, bert);
    reef_entity emil = person(w, "emil", 1926, none, none);
    reef_entity fritz = person(w, "fritz", 1950, clara, emil), gerda = person(w, "gerda", 1953, clara, emil);
    reef_entity hanna = person(w, "hanna", 1980, gerda, none);
    reef_entity karl = person(w, "karl", 1924, none, none);

    print_children(w, ada);
    print_siblings(w, fritz);
    printf("hanna descends from ada: %d, from emil: %d, from dora: %d\n", reef_related(w, hanna, DescendsFrom, ada),
           reef_related(w, hanna, DescendsFrom, emil), reef_related(w, hanna, DescendsFrom, dora));
    printf("ada as a child of hanna: %s\n", reef_status_name(reef_relate(w, ada, DescendsFrom, hanna)));

    /* since the relation is transitive, the query finds all descendants */
    reef_query heirs = reef_query_new(w, "in Born, DescendsFrom(ada)");
    printf("ada's descendants:");
    reef_each(w, heirs, row) printf(" %s (%d)", reef_name(w, row.block.entities[row.i]), reef_in_at(row, Born)->year);
    printf("\n");

    /* both halves of a marriage are made and ended together, and nobody has two */
    reef_relate_data(w, clara, MarriedTo, emil, 1948);
    print_wedding(w, emil);
    reef_relate_data(w, clara, MarriedTo, karl, 1960);
    print_wedding(w, clara);
    print_wedding(w, emil);
    reef_destroy(w, karl);
    print_wedding(w, clara);
    print_children(w, ada);
    reef_world_free(w);
}
