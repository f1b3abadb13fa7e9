/* The world of packaging/npm/README.md in C: the program there must print the same hash. */
#include <inttypes.h>
#include <reef.h>
#include <stdio.h>

typedef struct Position {
    float x, y;
} Position;
typedef struct Velocity {
    float x, y;
} Velocity;
REEF_COMPONENT(Position);
REEF_FIELDS(Position, x, y);
REEF_COMPONENT(Velocity);
REEF_FIELDS(Velocity, x, y);

int main(void)
{
    reef_world *world = reef_world_new(NULL);
    for (int i = 0; i < 1000; i++) reef_spawn(world, reef_with(Position, (float)i, 0), reef_with(Velocity, 1, 2));
    reef_world *future = reef_fork(world);
    for (reef_block b = reef_begin_text(future, "Position, in Velocity"); reef_next(&b);) {
        Position *p = reef_inout(&b, Position);
        const Velocity *v = reef_in(&b, Velocity);
        for (uint32_t i = 0; i < b.count; i++) p[i].x += v[i].x / 64, p[i].y += v[i].y / 64;
    }
    printf("%" PRIu64 "n %s %" PRIx64 "\n", reef_count_alive(world),
           reef_hash(world) == reef_hash(future) ? "true" : "false", reef_hash(future));
    reef_world_free(future);
    reef_world_free(world);
}
