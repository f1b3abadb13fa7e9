/* A fork runs a system whose context has a query that its origin made after the fork. */
#include <reef.h>
#include <reef/place.h>

typedef struct {
    float x, y;
} Position;
REEF_COMPONENT(Position);
REEF_FIELDS(Position, x, y);
REEF_PLACE(Position, x, y, .cell = 2);

static void look(reef_block *b)
{
    const reef_query *all = b->context;
    reef_near found;
    for (reef_block o = reef_others(b, *all); reef_next(&o);) {}
    reef_place_nearest(reef_placed(b, Position), &(reef_place_ask){.only = *all}, &found, 1);
}

int main(void)
{
    reef_world *w = reef_world_new(NULL);
    reef_spawn(w, reef_with(Position, 1, 2));
    reef_query all = reef_query_new(w, "in Position");
    reef_system_new(w, &(reef_system_desc){.name = "look",
                                           .function = look,
                                           .text = "; reads Position, reads Position as placed",
                                           .context = &all});
    reef_tick(w, 1);
    reef_world *f = reef_fork(w);
    all = reef_query_new(w, "in Position");
    reef_tick(f, 1);
    reef_query_count(f, all);
    reef_world_free(f);
    reef_world_free(w);
}
