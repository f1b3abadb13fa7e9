/* Neighbours with names. A query finds those that are near and make a noise, and no others. */
#include <reef.h>
#include <stdio.h>

typedef struct {
    float distance, least, most;
} Proximity;
typedef struct {
    float volume, pitch, pan;
} Audio;
REEF_COMPONENT(Proximity);
REEF_COMPONENT(Audio);
REEF_FIELDS(Proximity, (distance, "m"), (least, "m"), (most, "m"));

/* Returns how loud it is here: each volume divided by the square of the distance. */
static float listen(reef_world *w)
{
    float loudness = 0;
    reef_query noisy = reef_query_new(w, "in Proximity, in Audio");
    for (reef_block b = reef_begin(w, noisy); reef_next(&b);) {
        const Proximity *prox = reef_in(&b, Proximity);
        const Audio *audio = reef_in(&b, Audio);
        for (uint32_t i = 0; i < b.count; i++) {
            printf("  Processing audio for %s (distance = %g, volume = %g)\n", reef_name(w, b.entities[i]),
                   (double)prox[i].distance, (double)audio[i].volume);
            loudness += audio[i].volume / (prox[i].distance * prox[i].distance);
        }
    }
    reef_query_free(w, noisy);
    return loudness;
}

int main(void)
{
    reef_world *w = reef_world_new(NULL);
    reef_entity alice = reef_spawn(w, reef_with(Proximity, 1, 2, 3), reef_with(Audio, 4, 5, 6));
    reef_entity bob = reef_create(w);
    reef_set_name(w, alice, "Alice");
    reef_set_name(w, bob, "Bob");
    reef_set(w, bob, Audio, 7, 8, 9);

    printf("Bob makes a noise, but isn't near:\n");
    printf("  all together: %g\n", (double)listen(w));

    /* More can be added later, by a handle that was kept or by a name. */
    reef_set(w, reef_find(w, "Bob"), Proximity, .distance = 0.5f, .least = 1, .most = 2);
    reef_mut(w, alice, Proximity)->distance = 2;
    printf("Bob comes near, Alice goes away:\n");
    printf("  all together: %g\n", (double)listen(w));

    printf("a second Alice: %s\n", reef_status_name(reef_set_name(w, bob, "Alice")));
    reef_set_name(w, bob, "Robert");
    printf("Bob is now %s; is there a Bob? %s\n", reef_name(w, bob),
           reef_entity_is_null(reef_find(w, "Bob")) ? "no" : "yes");

    reef_world_free(w);
    return 0;
}
