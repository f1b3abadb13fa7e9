/* Marbles that roll and bounce off each other: all pairs that touch, and what a ray hits first.
 * page/marbles.c draws such marbles in a web page. */
#include <reef.h>
#include <reef/place.h>
#include <stdio.h>

typedef struct {
    double x, y;
} Position;
typedef struct {
    double x, y;
} Velocity;
typedef struct {
    double radius;
} Marble;
REEF_COMPONENT(Position);
REEF_COMPONENT(Velocity);
REEF_COMPONENT(Marble);
REEF_FIELDS(Position, x, y);
REEF_FIELDS(Marble, radius);
REEF_PLACE(Position, x, y, .cell = 1, .radius = "Marble.radius");

typedef struct {
    reef_world *world;
    int hits;
} Bounces;

/* Two marbles that come nearer exchange their speeds along the line between them. */
static void bounce(const reef_pair *pair, uint32_t count, uint32_t part, void *context)
{
    Bounces *all = context;
    (void)part;
    for (uint32_t i = 0; i < count; i++) {
        Velocity *a = reef_mut(all->world, pair[i].lower, Velocity),
                 *b = reef_mut(all->world, pair[i].higher, Velocity);
        const double x = pair[i].offset[0], y = pair[i].offset[1];
        const double nearer = (a->x - b->x) * x + (a->y - b->y) * y;
        if (nearer <= 0 || pair[i].squared == 0) continue;
        const double push = nearer / pair[i].squared;
        a->x -= push * x, a->y -= push * y;
        b->x += push * x, b->y += push * y;
        all->hits++;
    }
}

static void roll(reef_block *b)
{
    Position *p = reef_inout(b, Position);
    const Velocity *v = reef_in(b, Velocity);
    for (uint32_t i = 0; i < b->count; i++) p[i].x += v[i].x * b->dt, p[i].y += v[i].y * b->dt;
}

int main(void)
{
    reef_world *w = reef_world_new(NULL);
    reef_entity cue = reef_spawn(w, reef_with(Position, 0, 0), reef_with(Velocity, 2, 0), reef_with(Marble, 0.5));
    for (int i = 0; i < 3; i++)
        reef_spawn(w, reef_with(Position, 4 + i, 0), reef_with(Velocity, 0, 0), reef_with(Marble, 0.5));
    reef_system(w, roll, "Position, in Velocity");

    /* what the marble will hit, rolling to the right: a ray as thick as the marble */
    const reef_hit hit = reef_place_hit(reef_place_of(w, Position),
                                        &(reef_place_ask){.at = {0, 0}, .end = {10, 0}, .radius = 0.5, .except = cue});
    printf("marble %u will be hit after %.1f\n", (unsigned)hit.entity.index, hit.along * 10);

    Bounces all = {w, 0};
    for (int tick = 0; tick < 40; tick++) {
        reef_tick(w, 0.125f);
        reef_place_pairs_each(reef_place_of(w, Position), &(reef_place_pairs){.found = bounce, .context = &all});
    }
    printf("%d hits\n", all.hits);
    const reef_query moving = reef_query_new(w, "in Position, in Velocity");
    reef_each(w, moving, row) printf("marble %u: at %.2f, speed %.2f\n", (unsigned)row.entity.index,
                                     reef_in_at(row, Position)->x, reef_in_at(row, Velocity)->x);
    reef_world_free(w);
}
