/* Marbles in a page: they roll, bounce off the walls and off each other. Fork: both futures are the same, bit for bit,
 * until a slider of one of them moves. Going back and letting them roll again gives the same picture. collide.c does
 * the same without a picture. */
#include <reef.h>
#include <reef/place.h>
#include <reef_page.h>

enum { MARBLES = 160, WIDE = 160, HIGH = 90 };

typedef struct {
    float x, y;
} Position;
typedef struct {
    float x, y;
} Velocity;
typedef struct {
    float radius;
    uint32_t colour;
} Marble;
typedef struct {
    float pull;
} Gravity; /* a singleton: what the slider says, as a part of the world */
REEF_COMPONENT(Position);
REEF_COMPONENT(Velocity);
REEF_COMPONENT(Marble);
REEF_COMPONENT(Gravity);
REEF_FIELDS(Position, x, y);
REEF_FIELDS(Velocity, x, y);
REEF_FIELDS(Marble, radius, colour);
REEF_FIELDS(Gravity, (pull, "m/s2"));
REEF_PLACE(Position, x, y, .cell = 8, .radius = "Marble.radius");

static void bounce(const reef_pair *pairs, uint32_t count, uint32_t part, void *context)
{
    reef_world *w = context;
    (void)part;
    for (uint32_t i = 0; i < count; i++) {
        Velocity *a = reef_mut(w, pairs[i].lower, Velocity), *b = reef_mut(w, pairs[i].higher, Velocity);
        const float x = (float)pairs[i].offset[0], y = (float)pairs[i].offset[1];
        const float nearer = (a->x - b->x) * x + (a->y - b->y) * y;
        if (nearer <= 0 || pairs[i].squared <= 0) continue;
        const float push = nearer / (float)pairs[i].squared;
        a->x -= push * x;
        a->y -= push * y;
        b->x += push * x;
        b->y += push * y;
    }
}

/* A wall turns the speed around, if it leads into the wall. */
static float at_wall(float speed, float place, float low, float high)
{
    return (place < low && speed < 0) || (place > high && speed > 0) ? -speed : speed;
}

static void roll(reef_block *b)
{
    Position *p = reef_inout(b, Position);
    Velocity *v = reef_inout(b, Velocity);
    const Marble *m = reef_in(b, Marble);
    const Gravity *gravity = reef_single_get(b->world, Gravity);
    for (uint32_t i = 0; i < b->count; i++) {
        v[i].y += gravity->pull * b->dt;
        v[i].x = at_wall(v[i].x, p[i].x, m[i].radius, WIDE - m[i].radius);
        v[i].y = at_wall(v[i].y, p[i].y, m[i].radius, HIGH - m[i].radius);
        p[i].x += v[i].x * b->dt;
        p[i].y += v[i].y * b->dt;
    }
}

static bool step(reef_world *w)
{
    const reef_query all = reef_query_new(w, "in Position, in Marble");
    reef_single_set(w, Gravity, (float)reef_page_slider("gravity", -40, 40, 0));
    reef_tick(w, 1.0f / 60);
    reef_place_pairs_each(reef_place_of(w, Position), &(reef_place_pairs){.found = bounce, .context = w});
    reef_each(w, all, row)
    {
        const Position *p = reef_in_at(row, Position);
        const Marble *m = reef_in_at(row, Marble);
        reef_page_circle(p->x, p->y, m->radius, m->colour);
    }
    reef_query_free(w, all);
    return true;
}

int main(void)
{
    static const uint32_t colours[] = {0x5cc8c0, 0xffb48a, 0xffe9b0, 0x7aa7d9, 0xff7a3c};
    reef_world *w = reef_world_new(NULL);
    for (int i = 0; i < MARBLES; i++)
        reef_spawn(w, reef_with(Position, 6 + (float)(i % 20) * 7.8f, 6 + (float)(i / 20) * 7),
                   reef_with(Velocity, (float)(i * 29 % 23) - 11, (float)(i % 7)),
                   reef_with(Marble, 1.6f + (float)(i % 4) * 0.6f, colours[i % 5]));
    reef_single_set(w, Gravity, 0);
    reef_system(w, roll, "Position, Velocity, in Marble; reads Gravity");
    reef_page_view(WIDE, HIGH);
    reef_page_run(w, step);
    reef_world_free(w);
}
