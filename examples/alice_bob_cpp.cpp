/* Neighbours with names, in C++. A view finds those that are near and make a noise, and no others. */
#include <cstdio>
#include <reef.hpp>

struct Proximity {
    float distance, least, most;
};
struct Audio {
    float volume, pitch, pan;
};

/* Returns how loud it is here: each volume divided by the square of the distance. */
static float listen(reef::world &world)
{
    float loudness = 0;
    for (auto [entity, prox, audio] : world.view<const Proximity, const Audio>()) {
        std::printf("  Processing audio for %s (distance = %g, volume = %g)\n", entity.name(), double(prox.distance),
                    double(audio.volume));
        loudness += audio.volume / (prox.distance * prox.distance);
    }
    return loudness;
}

int main()
{
    reef::world world;
    reef::entity alice = world.entity("Alice").add<Proximity>(1.0f, 2.0f, 3.0f).add<Audio>(4.0f, 5.0f, 6.0f);
    reef::entity bob = world.entity("Bob");
    bob.add<Audio>(7.0f, 8.0f, 9.0f);

    std::printf("Bob makes a noise, but isn't near:\n");
    std::printf("  all together: %g\n", double(listen(world)));

    /* More can be added later, by a handle that was kept or by a name. */
    world.find("Bob").add<Proximity>(0.5f, 1.0f, 2.0f);
    alice.mut<Proximity>()->distance = 2;
    std::printf("Bob comes near, Alice goes away:\n");
    std::printf("  all together: %g\n", double(listen(world)));

    std::printf("a second Alice: %s\n", reef_status_name(bob.rename("Alice").status()));
    bob.rename("Robert");
    std::printf("Bob is now %s; is there a Bob? %s\n", bob.name(), world.find("Bob") ? "yes" : "no");
}
