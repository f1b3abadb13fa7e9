/* A physics step, in C++. The function's parameters say what it reads and writes; the step of time is one of them. */
#include <cstdio>
#include <reef.hpp>

struct Position {
    float x, y;
    Position(float at_x, float at_y) : x(at_x), y(at_y) {}
};
struct Velocity {
    float x, y;
    Velocity(float to_x, float to_y) : x(to_x), y(to_y) {}
};

static void physicsSystem(float dt, Position &p, const Velocity &v)
{
    p.x += v.x * dt;
    p.y += v.y * dt;
}

/* The same as a functor that holds its step of time, and with one more argument. */
struct ParallelPhysics {
    void operator()(Position &p, const Velocity &v) const { physicsSystem(step, p, v); }
    float step = 1.0f / 60;
};
static void push(Velocity &v, const float &x, const float &y) { v.x += x, v.y += y; }

int main()
{
    constexpr int balls = 3000, steps = 64;
    reef::world world;
    auto e = world.entity();
    e.add<Position>(0.0f, 0.0f).add<Velocity>(0.0f, 0.0f);
    reef::entity ball[balls];
    for (int i = 0; i < balls; i++) ball[i] = world.spawn(Position{float(i), 0}, Velocity{0, float(i % 10)});
    reef::entity rock = world.spawn(Position{5, 5}); /* no velocity: it stays */

    /* The world keeps this system and runs it at every tick. */
    world.system("physics", physicsSystem);
    for (int i = 0; i < steps; i++) world.tick(1.0f / steps);

    auto moving = world.query<const Position, const Velocity>();
    std::printf("%u of %u entities moved for one second\n", unsigned(moving.count()), unsigned(world.count()));
    for (int i = 0; i < balls; i += 777) {
        const Position *p = ball[i].get<Position>();
        std::printf("ball %d: from (%d, 0) to (%g, %g)\n", i, i, double(p->x), double(p->y));
    }
    std::printf("the first: (%g, %g)\n", double(e.get<Position>()->x), double(e.get<Position>()->y));
    std::printf("the rock: (%g, %g)\n", double(rock.get<Position>()->x), double(rock.get<Position>()->y));

    /* These run once and aren't kept: the same function, a functor, and a function with arguments of its own. */
    world.once(1.0f, push, 2.0f, -1.0f);
    world.once(1.0f, physicsSystem);
    world.once(0, ParallelPhysics{0.5f});
    std::printf("the first, pushed: (%g, %g)\n", double(e.get<Position>()->x), double(e.get<Position>()->y));
}
