/* What this file sees of a type isn't what look_one.cpp sees. reef says so, whatever the order of the files, and
 * the linker doesn't choose which of them is right. */
#include "look.hpp"
#include "check.hpp"
#include <cstring>

struct Seen {
    int a;
};

int failures;

int main()
{
    reef::world world;
    look_one(world);
    world.spawn(Seen{});
    const char *why = reef_declare_error();
    CHECK(why != nullptr && std::strstr(why, "Seen") && std::strstr(why, "two declarations differ"));
    CHECK(why != nullptr && std::strstr(why, LOOK == 1 ? "a sparse set" : "sizes"));
    return failures != 0;
}
