#include <cstdio>
#include <reef.hpp>

struct Place {
    float x, y;
};

int main()
{
    reef::world world;
    reef::entity e = world.spawn(Place{3, 4});
    std::printf("hello from C++ at %g %g\n", double(e.get<Place>()->x), double(e.get<Place>()->y));
}
