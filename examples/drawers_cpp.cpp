/* Drawers, in C++: the values of each component type lie side by side in a drawer without gaps. When one is taken out,
 * the last one moves into its place, and every handle still finds its own value. A value may be of any type that can
 * be moved. */
#include <cstdio>
#include <memory>
#include <reef.hpp>
#include <string>
#include <utility>
#include <vector>

struct Transform {
    float x, y, angle;
};
struct Physics {
    float mass;
};
struct Inventory {
    std::vector<std::string> things;
    std::unique_ptr<Inventory> pocket; /* can be moved, but not copied */
};
/* Gives each type a drawer. (Without this, a component lies in the table of all entities that have exactly the same
 * components.) */
REEF_CPP_IN(Transform, REEF_SPARSE);
REEF_CPP_IN(Physics, REEF_SPARSE);
REEF_CPP_IN(Inventory, REEF_SPARSE);

/* Prints what lies in a drawer. A loop follows the order of the entities' rows, whatever the order in the drawer. */
template <class T> static void show(reef::world &world, const char *title)
{
    std::printf("%s:", title);
    for (auto [entity, value] : world.view<const T>()) {
        (void)value;
        std::printf(" %s", entity.name());
    }
    std::printf(" (%d)\n", int(world.count<T>()));
}

int main()
{
    reef::world world;
    reef::entity e[6];
    const char *names[] = {"", "E1", "E2", "E3", "E4", "E5"};
    for (int i = 1; i < 6; i++) e[i] = world.entity(names[i]);
    for (int i : {1, 3, 5}) e[i].add<Transform>(float(i), 0.0f, 0.0f);
    for (int i : {1, 5}) e[i].add<Physics>(10.0f * float(i));
    e[5].add<Inventory>().mut<Inventory>()->things = {"rope", "lamp"};
    show<Transform>(world, "transforms");
    show<Physics>(world, "physics");

    /* The last value of the drawer, that of E5, moves into the place of E1's. */
    e[1].remove<Transform>();
    show<Transform>(world, "transforms");
    std::printf("E5 is still at %g, E1 weighs %g and has %s transform\n", double(e[5].get<Transform>()->x),
                double(e[1].get<Physics>()->mass), e[1].has<Transform>() ? "a" : "no");

    /* Adding a component that is there already is refused; setting replaces its value. */
    std::printf("add: %s, set: %s\n", reef_status_name(e[3].add<Transform>(8.0f, 8.0f, 8.0f).status()),
                reef_status_name(e[3].set(Transform{9, 9, 9}).status()));
    std::printf("E3 is at %g\n", double(e[3].get<Transform>()->x));

    /* A destroyed entity leaves every drawer. Its handle refers to no entity from then on, even when its index is used
     * again. */
    reef::entity old = e[5];
    e[5].destroy();
    show<Transform>(world, "transforms");
    show<Physics>(world, "physics");
    reef::entity next = world.entity("E6");
    std::printf("E6 has E5's index: %s; E5 is %s; E6 has %s physics\n",
                next.handle().index == old.handle().index ? "yes" : "no", old ? "alive" : "dead",
                next.has<Physics>() ? "some" : "no");
    std::printf("destroying E5 again: %s; giving it a transform: %s\n", reef_status_name(old.destroy()),
                reef_status_name(old.add<Transform>(1.0f, 1.0f, 1.0f).status()));

    /* Values that own something move along with their entity, and are freed with it. */
    next.set(Inventory{{"map"}, std::make_unique<Inventory>(Inventory{{"key"}, nullptr})});
    const Inventory *has = next.get<Inventory>();
    std::printf("E6 has a %s, and in the pocket a %s\n", has->things[0].c_str(), has->pocket->things[0].c_str());
    std::printf("%d entities\n", int(world.count()));
}
