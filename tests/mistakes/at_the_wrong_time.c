/* Calls in a system and in an observer which are made between ticks, and a loop that is left by break. */
#include <reef.h>
#include <reef/control.h>
#include <reef/observer.h>

typedef struct {
    float x, y;
} Position;
REEF_COMPONENT(Position);
typedef struct {
    float mps;
} Speed;
REEF_COMPONENT(Speed);
REEF_TAG(Hungry);
REEF_TAG(Thirsty);

static void wrong(reef_block *b)
{
    reef_world_free(reef_fork(b->world));
    reef_query_new(b->world, "Position");
    reef_begin_text(b->world, "Position");
    reef_set_name(b->world, b->entities[0], "wrong");
    reef_ensure(b->world, b->entities[0], Speed);
    reef_system_enable(b->world, reef_system_find(b->world, "wrong"), false);
}

static void watch(const reef_notice *n)
{
    reef_world_free(reef_fork(n->world));
    reef_system_enable(n->world, reef_system_find(n->world, "wrong"), false);
}

int main(void)
{
    reef_world *w = reef_world_new(NULL);
    reef_entity e = reef_spawn(w, reef_with(Position, 1, 2));
    reef_system(w, wrong, "Position; reads Speed");
    reef_tick(w, 0.1f);
    reef_observe(w, watch, REEF_ON_ADD, Hungry);
    reef_add(w, e, Hungry);
    reef_query q = reef_query_new(w, "in Position");
    reef_block b = reef_begin(w, q);
    while (reef_next(&b)) break;
    reef_add(w, e, Thirsty);
    reef_query_free(w, q);
    reef_end(&b);
    reef_query_free(w, q);
    reef_query_free(w, q);
    reef_world_free(w);
}
