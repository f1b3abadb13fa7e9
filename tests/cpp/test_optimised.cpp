/* What the options of types declare, in a program that the compiler optimises. It is built with -O2 in every build,
 * since the others of reef.hpp's suites aren't: an optimiser drops calls of pure functions whose result nobody uses. */
#include "check.hpp"

int failures;

namespace optimised {
struct Mass {
    float kg = 0;
};
struct Engine {
    float newtons = 0;
};
struct Team {
    int id = 0;
};
struct Spot {
    float x = 0, y = 0;
};
struct Banner {
    int team = 0;
    unsigned members = 0, near = 0;
};
} // namespace optimised
using namespace optimised;

template <> struct reef::options<Engine> {
    using required = reef::types<Mass>;
};
template <> struct reef::options<Team> {
    static constexpr reef_field fields[] = {REEF_FIELDS_OF(Team, id)};
    static constexpr const char *indexes[] = {"id"};
};
template <> struct reef::options<Spot> {
    static constexpr reef_field fields[] = {REEF_FIELDS_OF(Spot, x, y)};
    static constexpr auto place = reef::placing("x", "y").cell(2);
};

int main()
{
    reef::world world;
    CHECK(world.spawn(Engine{300}).has<Mass>());
    CHECK(world.system("count", [](Banner &b, reef::indexed<&Team::id> of, reef::placed<Spot> map) {
        reef_near found[4];
        b.members = unsigned(of.equal(b.team).count());
        b.near = map.within(reef::around(1, 1).radius(2), found).count;
    }));
    for (int i = 0; i < 8; i++) world.spawn(Team{i % 2}, Spot{float(i), 1});
    reef::entity banner = world.spawn(Banner{1, 0, 0});
    CHECK(world.tick(1) == REEF_OK && world.error().status == REEF_OK);
    CHECK(banner.get<Banner>()->members == 4 && banner.get<Banner>()->near == 4);
    validate(world.get(), "optimised");
    return failures != 0;
}
