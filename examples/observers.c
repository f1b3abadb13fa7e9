/* An index that is always right: which fish are in which cell of a grid. The code that moves, makes and eats fish
 * knows nothing of the index. */
#include "reef.h"
#include "reef/many.h"
#include "reef/observer.h"
#include <stdio.h>

typedef struct {
    int x, y;
} Cell;
REEF_COMPONENT(Cell);
REEF_TAG(Hungry);
REEF_TAG(Crowded);

enum { SIDE = 4, CROWD = 2 };

typedef struct grid {
    int fish[SIDE][SIDE];
} grid;

static void count(grid *g, const Cell *c, int n)
{
    if (c) g->fish[c->y][c->x] += n;
}

/* An immediate observer: the index is right at every moment. */
static void indexed(const reef_notice *n)
{
    grid *g = n->context;
    for (uint32_t i = 0; i < n->count; i++) {
        count(g, reef_was(n, Cell, i), -1);
        count(g, reef_now(n, Cell, i), +1);
    }
}

/* A collected observer: it is called once for each flush, whatever happened in between. */
static void crowding(const reef_notice *n)
{
    const grid *g = n->context;
    for (uint32_t i = 0; i < n->count; i++) {
        const Cell *c = reef_now(n, Cell, i);
        if (c && g->fish[c->y][c->x] >= CROWD) reef_add(n->world, n->entities[i], Crowded);
    }
}

static void crowded(const reef_notice *n)
{
    printf("crowded:");
    for (uint32_t i = 0; i < n->count; i++) printf(" %d", (int)n->entities[i].index);
    printf("\n");
}

static void swim(reef_block *b)
{
    const Cell *c = reef_in(b, Cell);
    for (uint32_t i = 0; i < b->count; i++) reef_cmd_set(b, b->entities[i], Cell, (c[i].x + 1) % SIDE, c[i].y / 2);
}

static void print(const grid *g)
{
    for (int y = 0; y < SIDE; y++) {
        for (int x = 0; x < SIDE; x++) printf("%2d", g->fish[y][x]);
        printf("\n");
    }
}

int main(void)
{
    reef_world *w = reef_world_new(NULL);
    grid g = {{{0}}};
    reef_entity fish[8];

    for (int i = 0; i < 8; i++) fish[i] = reef_spawn(w, reef_with(Cell, i % SIDE, i / 2));
    reef_observer_new(w, &(reef_observer_desc){.name = "indexed",
                                               .function = indexed,
                                               .context = &g,
                                               .component = reef_id(Cell),
                                               .events = REEF_ON_ADD | REEF_ON_SET | REEF_ON_REMOVE,
                                               .existing = true});
    reef_observer_new(w, &(reef_observer_desc){.name = "crowding",
                                               .function = crowding,
                                               .context = &g,
                                               .component = reef_id(Cell),
                                               .events = REEF_ON_ADD | REEF_ON_SET,
                                               .collected = true});
    reef_observer_new(w, &(reef_observer_desc){.name = "crowded",
                                               .function = crowded,
                                               .events = REEF_ON_ADD,
                                               .component = reef_id(Crowded),
                                               .collected = true});
    printf("what was there:\n");
    print(&g);

    reef_system(w, swim, "in Cell, Hungry; adds Cell");
    for (int i = 0; i < 8; i++) reef_add(w, fish[i], Hungry);
    reef_tick(w, 0);
    reef_tick(w, 0);
    printf("after two ticks:\n");
    print(&g);

    /* It would have the observers too, with the same grid, which would then count everything twice. */
    reef_world *fork = reef_fork(w);
    for (const char *name = "indexed"; name; name = name[0] == 'i' ? "crowding" : NULL)
        reef_observer_remove(fork, reef_observer_find(fork, name));
    reef_world_clear(fork);
    reef_world_free(fork);

    reef_destroy_many(w, fish, 4);
    printf("half of them eaten:\n");
    print(&g);
    reef_world_free(w);
    return 0;
}
