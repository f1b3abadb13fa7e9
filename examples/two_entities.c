/* Two entities and two loops. Components come and go between the rounds, then a whole entity; the loops see what is there. */
#include <reef.h>
#include <stdio.h>

typedef struct {
    float x, y;
} Position;
typedef struct {
    float x, y;
} Velocity;
typedef struct {
    float amount;
} Randomness;
REEF_COMPONENT(Position);
REEF_COMPONENT(Velocity);
REEF_COMPONENT(Randomness);

static void drift(reef_world *w, reef_query q)
{
    for (reef_block b = reef_begin(w, q); reef_next(&b);) {
        Position       *p = reef_inout(&b, Position);
        const Velocity *v = reef_in(&b, Velocity);
        for (uint32_t i = 0; i < b.count; i++) {
            p[i].x += v[i].x;
            p[i].y += v[i].y;
            printf("  %s drifts to (%g, %g)\n", reef_name(w, b.entities[i]), (double)p[i].x, (double)p[i].y);
        }
    }
}

static void shake(reef_world *w, reef_query q)
{
    for (reef_block b = reef_begin(w, q); reef_next(&b);) {
        const Randomness *r = reef_in(&b, Randomness);
        const Position   *p = reef_in(&b, Position);
        for (uint32_t i = 0; i < b.count; i++) {
            printf("  %s at (%g, %g) shakes by %g\n", reef_name(w, b.entities[i]), (double)p[i].x, (double)p[i].y,
                   (double)r[i].amount);
        }
    }
}

static void rounds(reef_world *w, reef_query drifting, reef_query shaking, const char *title)
{
    printf("%s: %u drift, %u shake\n", title, (unsigned)reef_query_count(w, drifting),
           (unsigned)reef_query_count(w, shaking));
    for (int i = 0; i < 3; i++) {
        drift(w, drifting);
        shake(w, shaking);
    }
}

int main(void)
{
    reef_world *w = reef_world_new(NULL);
    reef_entity ent1 =
        reef_spawn(w, reef_with(Position, 1, 2), reef_with(Velocity, 0.5f, 0.5f), reef_with(Randomness, 0.25f));
    reef_entity ent2 = reef_spawn(w, reef_with(Position, 5, 24), reef_with(Randomness, 0.75f));
    reef_set_name(w, ent1, "ent1");
    reef_set_name(w, ent2, "ent2");

    /* Queries stay valid while tables come and go. The order of a query's terms is the caller's affair. */
    reef_query drifting = reef_query_new(w, "Position, in Velocity");
    reef_query shaking = reef_query_new(w, "in Randomness, in Position");

    rounds(w, drifting, shaking, "both as made");
    reef_remove(w, ent2, Randomness);
    rounds(w, drifting, shaking, "ent2 without randomness");
    reef_destroy(w, ent1);
    rounds(w, drifting, shaking, "ent1 destroyed");
    printf("alive: ent1 %s, ent2 %s\n", reef_is_alive(w, ent1) ? "yes" : "no", reef_is_alive(w, ent2) ? "yes" : "no");

    reef_query_free(w, drifting);
    reef_query_free(w, shaking);
    reef_world_free(w);
    return 0;
}
