/* A flock in a page: each bird flies with its neighbours, towards their middle, and away from those that are too near.
 * Move the sliders, go back in time, and fork: the fork flies on beside the flock. */
#include <reef.h>
#include <reef/place.h>
#include <reef_page.h>

enum { BIRDS = 700, WIDE = 128, HIGH = 72, NEAR = 24 };

typedef struct {
    float x, y;
} Position;
typedef struct {
    float x, y;
} Velocity;
typedef struct {
    float pull, room, wind;
} Habits; /* a singleton: what the sliders say, as a part of the world */
REEF_COMPONENT(Position);
REEF_COMPONENT(Velocity);
REEF_COMPONENT(Habits);
REEF_FIELDS(Position, (x, "m"), (y, "m"));
REEF_FIELDS(Velocity, (x, "m/s"), (y, "m/s"));
REEF_FIELDS(Habits, pull, (room, "m"), wind);
REEF_PLACE(Position, x, y, .cell = 4, .edges = {{0, WIDE}, {0, HIGH}}); /* a sky without borders */

static void flock(reef_block *b)
{
    const reef_place *sky = reef_placed(b, Position);
    const Habits *habits = reef_single_get(b->world, Habits);
    Position *p = reef_inout(b, Position);
    Velocity *v = reef_inout(b, Velocity);
    for (uint32_t i = 0; i < b->count; i++) {
        reef_near near[NEAR];
        const reef_place_ask ask = {.at = {p[i].x, p[i].y}, .radius = 4, .except = b->entities[i]};
        uint32_t n = reef_place_within(sky, &ask, near, NEAR);
        float ax = habits->wind, ay = 0;
        for (uint32_t k = 0; k < n && k < NEAR; k++) {
            const bool crowded = near[k].squared < (double)(habits->room * habits->room);
            const float weight = crowded ? -0.9f : 0.06f * habits->pull;
            const Velocity *other = reef_get(b->world, near[k].entity, Velocity);
            ax += near[k].offset[0] * weight + (other ? (other->x - v[i].x) * 0.05f : 0);
            ay += near[k].offset[1] * weight + (other ? (other->y - v[i].y) * 0.05f : 0);
        }
        v[i].x += ax * b->dt;
        v[i].y += ay * b->dt;
        const float squared = v[i].x * v[i].x + v[i].y * v[i].y;
        const float hold = squared > 120 ? 0.97f : squared < 30 ? 1.03f : 1;
        v[i].x *= hold;
        v[i].y *= hold;
        p[i].x += v[i].x * b->dt;
        p[i].y += v[i].y * b->dt;
    }
}

static bool step(reef_world *w)
{
    reef_single_set(w, Habits, (float)reef_page_slider("pull", 0, 3, 1), (float)reef_page_slider("room", 0.5, 3, 1.5),
                    (float)reef_page_slider("wind", -3, 3, 0));
    reef_tick(w, 1.0f / 60);
    const reef_query birds = reef_query_new(w, "in Position, in Velocity");
    reef_each(w, birds, row)
    {
        const Position *p = reef_in_at(row, Position);
        const Velocity *v = reef_in_at(row, Velocity);
        const uint32_t colour = row.entity.index % 9 == 0 ? 0xff9a63 : 0x5cc8c0;
        reef_page_line(p->x, p->y, p->x - v->x * 0.14f, p->y - v->y * 0.14f, 0.5f, colour);
    }
    reef_query_free(w, birds);
    return true;
}

int main(void)
{
    reef_world *w = reef_world_new(NULL);
    for (int i = 0; i < BIRDS; i++)
        reef_spawn(w, reef_with(Position, (float)(i * 37 % 1280) * 0.1f, (float)(i * 91 % 719) * 0.1f),
                   reef_with(Velocity, (float)(i % 7) - 2, (float)(i % 5) - 2));
    reef_single_set(w, Habits, 1, 1.5f, 0);
    reef_system(w, flock, "Position, Velocity; reads Position as placed, reads Velocity, reads Habits");
    reef_page_view(WIDE, HIGH);
    reef_page_run(w, step);
    reef_world_free(w);
}
