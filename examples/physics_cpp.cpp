/* A physics step, in C++: the function's parameters say what it reads and writes, and the step of time is one of them. */
#include <cstdio>
#include <reef.hpp>

struct Position {
    float x = 0, y = 0;
};
struct Velocity {
    float x = 0, y = 0;
};

static void physics(Position &p, const Velocity &v, float seconds)
{
    p.x += v.x * seconds;
    p.y += v.y * seconds;
}

int main()
{
    constexpr int balls = 3000, steps = 64;
    reef::world world;
    reef::entity ball[balls];
    for (int i = 0; i < balls; i++) ball[i] = world.spawn(Position{float(i), 0}, Velocity{0, float(i % 10)});
    reef::entity rock = world.spawn(Position{5, 5}); /* no velocity: it stays */

    world.system("physics", physics);
    for (int i = 0; i < steps; i++) world.tick(1.0f / steps);

    auto moving = world.query<const Position, const Velocity>();
    std::printf("%u of %u entities moved for one second\n", unsigned(moving.count()), unsigned(world.count()));
    for (int i = 0; i < balls; i += 777) {
        const Position *p = ball[i].get<Position>();
        std::printf("ball %d: from (%d, 0) to (%g, %g)\n", i, i, double(p->x), double(p->y));
    }
    std::printf("the rock: (%g, %g)\n", double(rock.get<Position>()->x), double(rock.get<Position>()->y));
}
