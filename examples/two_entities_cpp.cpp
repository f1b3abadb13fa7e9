/* Two entities and two systems, in C++. Components are added and removed between the rounds, then a whole entity is
 * destroyed; the systems see what is there. */
#include <cstdio>
#include <reef.hpp>

struct Position {
    float x, y;
};
struct Velocity {
    float x, y;
};
struct Randomness {
    float amount;
};

static void three_seconds(reef::world &world, const char *title)
{
    std::printf("%s\n", title);
    for (int i = 0; i < 3; i++) world.tick(1);
}

static const char *called(reef::entity e) { return e.name() ? e.name() : "somebody"; }

int main()
{
    reef::world world;
    reef::entity ent1 = world.entity("ent1").add<Position>(1, 2).add<Velocity>(.5f, .5f).add<Randomness>(.25f);
    reef::entity ent2 = world.entity("ent2").add<Position>(5, 24).add<Randomness>(.8f);

    /* A system by blocks is called with arrays, for each table that has what its parameters ask for. Systems that
     * print are not split into jobs, so that their output has a fixed order. */
    using entities = reef::span<const reef_entity>;
    world.system(reef::about("drift").in_one_job(),
                 [&world](float seconds, entities e, reef::span<Position> p, reef::span<const Velocity> v) {
                     for (uint32_t i = 0; i < e.count; i++) {
                         std::printf("  %s drifts from (%g, %g) by (%g, %g)\n", called(world.at(e[i])), double(p[i].x),
                                     double(p[i].y), double(v[i].x), double(v[i].y));
                         p[i].x += v[i].x * seconds;
                         p[i].y += v[i].y * seconds;
                     }
                 });
    /* A system by rows is called with each entity, and needs no loop. */
    world.system(reef::about("shake").in_one_job(), [](reef::entity e, const Randomness &r, Position &p) {
        p.x -= r.amount;
        std::printf("  %s shakes by %g to (%g, %g)\n", called(e), double(r.amount), double(p.x), double(p.y));
    });

    three_seconds(world, "both as made");
    ent2.remove<Randomness>();
    three_seconds(world, "ent2 without randomness");
    ent1.destroy();
    three_seconds(world, "ent1 destroyed");
    const Position *p = ent2.get<Position>();
    std::printf("alive: ent1 %s, ent2 %s at (%g, %g)\n", ent1 ? "yes" : "no", ent2 ? "yes" : "no", double(p->x),
                double(p->y));
}
