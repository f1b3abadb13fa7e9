/* Components that are also another component, in C++: a subtype derives from its base. Asking an entity for its Moving
 * gives its AxisMoving. */
#include <cstdio>
#include <reef.hpp>

struct Moving {
    float speed = 0;
};
struct AxisMoving : Moving {
    AxisMoving(float s, float along_x, float along_y) : Moving{s}, x(along_x), y(along_y) {}
    float x, y;
};
template <> struct reef::options<AxisMoving> {
    using base = Moving;
};
struct Position {
    float x, y;
};
struct Damageable {
    int life;
    explicit Damageable(int l) : life(l) {}
};

int main()
{
    reef::world world;
    reef::entity lift = world.entity("lift");
    lift.add<AxisMoving>(4.0f, 0.0f, 1.0f).add<Position>(3.0f, 0.0f).add<Damageable>(10);
    const AxisMoving *am = lift.get<AxisMoving>();
    std::printf("the lift's Moving is its AxisMoving: %s\n", lift.get<Moving>() == am ? "yes" : "no");
    std::printf("it has a Moving: %s; life %d\n", lift.has<Moving>() ? "yes" : "no", lift.get<Damageable>()->life);
    std::printf("adding a second: %s\n", reef_status_name(lift.add<AxisMoving>(1.0f, 1.0f, 1.0f).status()));

    reef::entity clock = world.entity("clock").add<Moving>(8.0f);
    reef::entity rock = world.entity("rock").add<Position>(7.0f, 7.0f);
    std::printf("the clock has a Moving: %s, an AxisMoving: %s; the rock has a Moving: %s\n",
                clock.has<Moving>() ? "yes" : "no", clock.has<AxisMoving>() ? "yes" : "no",
                rock.has<Moving>() ? "yes" : "no");

    for (int round = 1; round <= 3; round++) {
        /* Slows down whatever moves, in whatever way. */
        for (auto [entity, moving] : world.view<reef::sub<Moving>>()) moving.speed *= 0.5f, (void)entity;
        /* Moves only what moves along axes: a plain name in a query means the type itself. */
        world.view<Position, const AxisMoving>().each([](Position &p, const AxisMoving &a) {
            p.x += a.x * a.speed;
            p.y += a.y * a.speed;
        });
        std::printf("round %d: the lift has speed %g and is at (%g, %g); the clock has speed %g\n", round,
                    double(lift.get<Moving>()->speed), double(lift.get<Position>()->x), double(lift.get<Position>()->y),
                    double(clock.get<Moving>()->speed));
    }

    /* A reference is weak: it follows the component to other places, and knows when it is gone. */
    reef::ref<Moving> watched(lift);
    rock.destroy();
    lift.remove<Damageable>(); /* the lift moves to another table */
    std::printf("watched: speed %g\n", double(watched.get()->speed));
    lift.destroy();
    std::printf("watched: %s\n", watched.get() ? "there" : "gone");
}
