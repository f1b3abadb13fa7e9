/* A system's text has nothing behind its semicolon, and its query says something else than the system does. */
#include <reef.h>
#include <reef/command_entity.h>
#include <reef/command_relation.h>
#include <reef/place.h>
#include <reef/relation.h>
#include <reef/value_index.h>

typedef struct {
    float x, y;
} Position;
typedef struct {
    int now;
} Health;
REEF_COMPONENT(Position);
REEF_COMPONENT(Health);
REEF_FIELDS(Position, x, y);
REEF_PLACE(Position, x, y, .cell = 2);
REEF_RELATION(Eats, REEF_EXCLUSIVE);
typedef struct {
    int kind, age;
} Scales;
REEF_COMPONENT_IN(Scales, REEF_SPLIT);
REEF_FIELDS(Scales, kind, age);
REEF_TAG(Fish);

static void everything(reef_block *b)
{
    reef_entity e = b->entities[0];
    reef_inout(b, Position);
    reef_in(b, Scales);
    reef_in(b, Fish);
    reef_get(b->world, e, Health);
    reef_mut(b->world, e, Health);
    reef_single_get(b->world, Health);
    reef_send(b, Health, 3);
    reef_receive(b, Health);
    reef_part(b, Health);
    reef_placed(b, Position);
    reef_cmd_spawn(b, reef_with(Health, 1));
    reef_cmd_set(b, e, Health, 1);
    reef_cmd_remove(b, e, Health);
    reef_cmd_disable(b, e, Health);
    reef_cmd_disable(b, e);
    reef_cmd_name(b, e, "fish");
    reef_cmd_relate(b, e, Eats, e);
    reef_cmd_unrelate(b, e, Eats, e);
    reef_cmd_destroy(b, e);
}

int main(void)
{
    reef_world *w = reef_world_new(NULL);
    reef_spawn(w, reef_with(Position, 1, 2), reef_with(Health, 3), reef_with(Scales, 1, 2), reef_tag(Fish));
    reef_system(w, everything, "in Position, in Scales, Fish");
    reef_tick(w, 0.1f);
    reef_world_free(w);
}
