/* A physics step: every entity with a position and a velocity moves on by one step of time. The step is an argument of
 * an ordinary function. What the function only reads is const, so a write to it doesn't compile. */
#include <reef.h>
#include <stdio.h>

typedef struct {
    float x, y;
} Position;
typedef struct {
    float x, y;
} Velocity;
REEF_COMPONENT(Position);
REEF_COMPONENT(Velocity);

static void physics(reef_world *w, reef_query moving, float seconds)
{
    for (reef_block b = reef_begin(w, moving); reef_next(&b);) {
        Position *p = reef_inout(&b, Position);
        const Velocity *v = reef_in(&b, Velocity);
        for (uint32_t i = 0; i < b.count; i++) {
            p[i].x += v[i].x * seconds;
            p[i].y += v[i].y * seconds;
        }
    }
}

int main(void)
{
    enum { BALLS = 3000, STEPS = 64 };
    static Position start[BALLS];
    static Velocity velocity[BALLS];
    static reef_entity ball[BALLS];
    for (int i = 0; i < BALLS; i++) {
        start[i].x = (float)i;
        velocity[i].y = (float)(i % 10);
    }

    reef_world *w = reef_world_new(NULL);
    reef_spawn_many(w, BALLS, ball, reef_array(Position, start), reef_array(Velocity, velocity));
    reef_entity rock = reef_spawn(w, reef_with(Position, 5, 5)); /* no velocity: it stays */

    reef_query moving = reef_query_new(w, "Position, in Velocity");
    for (int i = 0; i < STEPS; i++) physics(w, moving, 1.0f / STEPS);

    printf("%u of %u entities moved for one second\n", (unsigned)reef_query_count(w, moving),
           (unsigned)reef_count_alive(w));
    for (int i = 0; i < BALLS; i += 777) {
        const Position *p = reef_get(w, ball[i], Position);
        printf("ball %d: from (%g, 0) to (%g, %g)\n", i, (double)start[i].x, (double)p->x, (double)p->y);
    }
    printf("the rock: (%g, %g)\n", (double)reef_get(w, rock, Position)->x, (double)reef_get(w, rock, Position)->y);

    reef_query_free(w, moving);
    reef_world_free(w);
    return 0;
}
