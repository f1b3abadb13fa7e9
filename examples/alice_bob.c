/* Neighbours with names. A query meets those that are near and make a noise, and nobody else. */
#include <reef.h>
#include <stdio.h>

typedef struct {
    float distance;
} Proximity;
typedef struct {
    float volume, pitch;
} Audio;
REEF_COMPONENT(Proximity);
REEF_COMPONENT(Audio);
REEF_FIELDS(Proximity, REEF_FIELD(Proximity, distance, REEF_F32, "m", 0, 0));

/* How loud it is here: volume by the square of the distance. */
static float listen(reef_world *w)
{
    float       loudness = 0;
    reef_query noisy = reef_query_new(w, "in Proximity, in Audio");
    for (reef_block b = reef_begin(w, noisy); reef_next(&b);) {
        const Proximity *near = reef_in(&b, Proximity);
        const Audio     *audio = reef_in(&b, Audio);
        for (uint32_t i = 0; i < b.count; i++) {
            float heard = audio[i].volume / (near[i].distance * near[i].distance);
            printf("  %s: volume %g at %g m, heard as %g\n", reef_name(w, b.entities[i]), (double)audio[i].volume,
                   (double)near[i].distance, (double)heard);
            loudness += heard;
        }
    }
    reef_query_free(w, noisy);
    return loudness;
}

int main(void)
{
    reef_world *w = reef_world_new(NULL);
    reef_entity alice = reef_spawn(w, reef_with(Proximity, 2), reef_with(Audio, .volume = 8, .pitch = 440));
    reef_entity bob = reef_spawn(w, reef_with(Proximity, 4));
    reef_set_name(w, alice, "alice");
    reef_set_name(w, bob, "bob");
    reef_set_name(w, reef_spawn(w, reef_with(Audio, .volume = 90, .pitch = 50)), "thunder");

    printf("alice plays:\n");
    printf("  all together: %g\n", (double)listen(w));

    /* To a handle that was saved, or to a name that was given, more can be added later. */
    reef_set(w, reef_find(w, "bob"), Audio, .volume = 32, .pitch = 110);
    reef_mut(w, alice, Proximity)->distance = 1;
    printf("alice comes nearer, bob joins in:\n");
    printf("  all together: %g\n", (double)listen(w));

    printf("a second alice: %s\n", reef_status_name(reef_set_name(w, bob, "alice")));
    reef_set_name(w, bob, "robert");
    printf("bob is now %s; is there a bob? %s\n", reef_name(w, bob),
           reef_entity_is_null(reef_find(w, "bob")) ? "no" : "yes");

    reef_world_free(w);
    return 0;
}
