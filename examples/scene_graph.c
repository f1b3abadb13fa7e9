/* A scene of 100,000 nodes, ten below each: building it, working out where everything is, moving subtrees, putting the
 * rows back in order, hiding a subtree, destroying one. Each result is checked the slow way. */
#include <reef.h>
#include <reef/hierarchy.h>
#include <reef/column.h>
#include <reef/ordered.h>
#include <reef/sort.h>
#include <stdio.h>

enum { NODES = 100000 };
typedef struct {
    int x, y;
} Local;
typedef struct {
    int x, y;
} World;
REEF_COMPONENT(Local);
REEF_COMPONENT(World);
REEF_SWITCH(Hidden);

static reef_entity node[NODES];

/* Parents first: a block's rows are equally deep, and the values of their parents are an array. Returns the number of
 * blocks. */
static int place_all(reef_world *w, reef_query q)
{
    int blocks = 0;
    for (reef_block b = reef_begin(w, q); reef_next(&b); blocks++) {
        World *world = reef_inout(&b, World);
        const Local *local = reef_in(&b, Local);
        const World *up = reef_parents_in(&b, World);
        const uint32_t *parent = reef_block_parent_rows(&b);
        for (uint32_t i = 0; i < b.count; i++) {
            const World at = up ? up[parent[i]] : (World){0, 0};
            world[i] = (World){at.x + local[i].x, at.y + local[i].y};
        }
    }
    return blocks;
}

/* How many nodes aren't where their ancestors put them? */
static int wrong(const reef_world *w)
{
    int n = 0;
    for (int i = 0; i < NODES; i++) {
        World sum = {0, 0};
        if (!reef_is_alive(w, node[i])) continue;
        for (reef_entity e = node[i]; !reef_entity_is_null(e); e = reef_parent(w, e)) {
            sum.x += reef_get(w, e, Local)->x;
            sum.y += reef_get(w, e, Local)->y;
        }
        n += sum.x != reef_get(w, node[i], World)->x || sum.y != reef_get(w, node[i], World)->y;
    }
    return n;
}

int main(void)
{
    reef_world *w = reef_world_new(NULL);
    for (int i = 0; i < NODES; i++) {
        node[i] = reef_spawn(w, reef_with(World, 0, 0), reef_with(Local, i % 7, i % 11));
        if (i) reef_relate(w, node[i], ChildOf, node[(i - 1) / 10]);
    }
    printf("%d nodes below the root, the last one is %d deep\n", (int)reef_descendants(w, node[0], ChildOf, NULL, 0),
           (int)reef_depth(w, node[NODES - 1], ChildOf));

    reef_query q = reef_query_new(w, "World, in Local");
    reef_query_order(w, q, &(reef_order){.relation = reef_id(ChildOf)});
    printf("in %d blocks", place_all(w, q));
    printf(", wrong: %d\n", wrong(w));

    unsigned seed = 1;
    int moved = 0;
    for (int k = 0; k < NODES / 10; k++) { /* each with all that is below it; not below itself */
        const unsigned a = (seed = seed * 1664525u + 1013904223u) / 7 % NODES;
        const unsigned b = (seed = seed * 1664525u + 1013904223u) / 7 % NODES;
        moved += reef_relate(w, node[a], ChildOf, node[b]) == REEF_ADDED;
    }
    printf("%d subtrees moved: many blocks: %d", moved, place_all(w, q) > 10000);
    printf(", wrong: %d\n", wrong(w));

    reef_sort_storage(w, &(reef_sort){.order = {.relation = reef_id(ChildOf)}});
    printf("sorted: few blocks: %d", place_all(w, q) < 300);
    printf(", wrong: %d\n", wrong(w));

    reef_query shown = reef_query_new(w, "World, !Hidden self up(ChildOf)");
    reef_entity large = node[1]; /* the root of the largest subtree */
    int below = 0;
    for (reef_sources s = reef_sources_of(w, node[0], ChildOf); reef_sources_next(&s);)
        for (uint32_t i = 0; i < s.count; i++) {
            const int n = (int)reef_descendants(w, s.sources[i], ChildOf, NULL, 0) + 1;
            if (n > below) below = n, large = s.sources[i];
        }
    reef_add(w, large, Hidden);
    printf("%d nodes are hidden with one switch: %d\n", below, (int)reef_query_count(w, shown) == NODES - below);

    reef_destroy(w, large);
    printf("they are destroyed: %d", (int)reef_count(w, World) == NODES - below);
    place_all(w, q);
    printf(", wrong: %d\n", wrong(w));
    reef_world_free(w);
}
