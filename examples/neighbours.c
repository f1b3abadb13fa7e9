/* A flock: each bird flies with its neighbours, towards their middle, and away from those that are too near. */
#include <reef.h>
#include <reef/place.h>
#include <stdio.h>

enum { BIRDS = 2000, SKY = 100, NEAR = 32 };

typedef struct {
    float x, y;
} Position;
typedef struct {
    float x, y;
} Velocity;
REEF_COMPONENT(Position);
REEF_COMPONENT(Velocity);
REEF_FIELDS(Position, x, y);
/* A sky without borders; its picture also has the birds' velocities. */
REEF_PLACE(Position, x, y, .cell = 2, .edges = {{0, SKY}, {0, SKY}}, .carries = "Velocity");

/* It writes the positions and velocities of its own birds, while it looks at those that all of them had before. */
static void flock(reef_block *b)
{
    const reef_place *sky = reef_placed(b, Position);
    const Velocity *was = reef_place_carried(sky, Velocity);
    Position *p = reef_inout(b, Position);
    Velocity *v = reef_inout(b, Velocity);
    for (uint32_t i = 0; i < b->count; i++) {
        reef_near near[NEAR];
        const reef_place_ask ask = {.at = {p[i].x, p[i].y}, .radius = 2, .except = b->entities[i]};
        uint32_t n = reef_place_within(sky, &ask, near, NEAR);
        float x = 0, y = 0;
        for (uint32_t k = 0; k < n && k < NEAR; k++) {
            const float pull = near[k].squared < 1 ? -0.2f : 0.1f; /* too near: away */
            x += near[k].offset[0] * pull;
            y += near[k].offset[1] * pull;
            const Velocity *its = &was[reef_place_slot(sky, near[k].entity)];
            x += (its->x - v[i].x) * 0.5f;
            y += (its->y - v[i].y) * 0.5f;
        }
        v[i].x = v[i].x * 0.98f + x / NEAR;
        v[i].y = v[i].y * 0.98f + y / NEAR;
        p[i].x += v[i].x * b->dt;
        p[i].y += v[i].y * b->dt;
    }
}

int main(void)
{
    reef_world *w = reef_world_new(NULL);
    for (int i = 0; i < BIRDS; i++)
        reef_spawn(w, reef_with(Position, (float)(i * 37 % 1000) * 0.1f, (float)(i * 91 % 997) * 0.1f),
                   reef_with(Velocity, 1, (float)(i % 3)));
    reef_system(w, flock, "Position, Velocity; reads Position as placed");
    for (int tick = 0; tick < 60; tick++) reef_tick(w, 0.1f);

    const reef_place *sky = reef_place_of(w, Position);
    reef_near near[NEAR];
    uint32_t n = reef_place_within(sky, &(reef_place_ask){.at = {50, 50}, .radius = 5}, near, NEAR);
    printf("%u birds, %u of them around the middle\n", (unsigned)reef_place_stats_of(sky).rows, (unsigned)n);
    reef_world_free(w);
}
