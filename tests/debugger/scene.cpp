// What gdb shows of a program in C++: the world is a member of an object, and what is printed is in a system.
#include <cstdio>
#include <reef.hpp>

struct Position {
    float x, y;
};

struct game {
    int level = 3;
    reef::world world;
};

static int depth;
void stopped(reef_block *block)
{
    reef_entity first = block->entities[0];
    depth += int(first.index);
}

int main()
{
    game play;
    reef::entity fish = play.world.spawn(Position{3, 4});
    (void)reef_set_name(play.world.get(), fish, "fish");
    reef_query places = reef_query_new(play.world.get(), "in Position");
    for (reef_block b = reef_begin(play.world.get(), places); reef_next(&b);) stopped(&b);
    reef_query_free(play.world.get(), places);
    std::printf("%d\n", depth);
}
