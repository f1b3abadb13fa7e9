/* Neighbours with names, in C++. A view meets those that are near and make a noise, and nobody else. */
#include <cstdio>
#include <reef.hpp>

struct Proximity {
    float distance = 1;
};
struct Audio {
    float volume = 0, pitch = 0;
};

/* How loud it is here: volume by the square of the distance. */
static float listen(reef::world &world)
{
    float loudness = 0;
    for (auto [entity, near, audio] : world.view<const Proximity, const Audio>()) {
        const float heard = audio.volume / (near.distance * near.distance);
        std::printf("  %s: volume %g at %g m, heard as %g\n", entity.name(), double(audio.volume), double(near.distance), double(heard));
        loudness += heard;
    }
    return loudness;
}

int main()
{
    reef::world world;
    reef::entity alice = world.entity("alice").add<Proximity>(2).add<Audio>(8, 440);
    reef::entity bob = world.entity("bob").add<Proximity>(4);
    world.entity("thunder").add<Audio>(90, 50);
    std::printf("alice plays:\n");
    std::printf("  all together: %g\n", double(listen(world)));

    /* To a handle that was saved, or to a name that was given, more can be added later. */
    world.find("bob").add<Audio>(32, 110);
    alice.mut<Proximity>()->distance = 1;
    std::printf("alice comes nearer, bob joins in:\n");
    std::printf("  all together: %g\n", double(listen(world)));

    std::printf("a second alice: %s\n", reef_status_name(bob.rename("alice").status()));
    bob.rename("robert");
    std::printf("bob is now %s; is there a bob? %s\n", bob.name(), world.find("bob") ? "yes" : "no");
}
