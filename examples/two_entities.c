/* Two entities and two systems. Components are added and removed between the rounds, then a whole entity is destroyed;
 * the systems see what is there. */
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

static void drift(reef_block *b)
{
    Position *p = reef_inout(b, Position);
    const Velocity *v = reef_in(b, Velocity);
    for (uint32_t i = 0; i < b->count; i++) {
        printf("  %s drifts from (%g, %g) by (%g, %g)\n", reef_name(b->world, b->entities[i]), (double)p[i].x,
               (double)p[i].y, (double)v[i].x, (double)v[i].y);
        p[i].x += v[i].x * b->dt;
        p[i].y += v[i].y * b->dt;
    }
}

static void shake(reef_block *b)
{
    const Randomness *r = reef_in(b, Randomness);
    Position *p = reef_inout(b, Position);
    for (uint32_t i = 0; i < b->count; i++) {
        p[i].x -= r[i].amount;
        printf("  %s shakes by %g to (%g, %g)\n", reef_name(b->world, b->entities[i]), (double)r[i].amount,
               (double)p[i].x, (double)p[i].y);
    }
}

static void three_seconds(reef_world *w, const char *title)
{
    printf("%s\n", title);
    for (int i = 0; i < 3; i++) reef_tick(w, 1);
}

int main(void)
{
    reef_world *w = reef_world_new(NULL);
    reef_entity ent1 =
        reef_spawn(w, reef_with(Position, 1, 2), reef_with(Velocity, 0.5f, 0.5f), reef_with(Randomness, 0.25f));
    reef_entity ent2 = reef_spawn(w, reef_with(Position, 5, 24), reef_with(Randomness, 0.8f));
    reef_set_name(w, ent1, "ent1");
    reef_set_name(w, ent2, "ent2");

    /* A system is called with arrays, for each table that has what it asks for. The order of its terms is up to the
     * caller. Systems that print are not split into jobs, so that their output has a fixed order. */
    reef_system_new(
        w, &(reef_system_desc){.name = "drift", .function = drift, .text = "Position, in Velocity", .whole = true});
    reef_system_new(
        w, &(reef_system_desc){.name = "shake", .function = shake, .text = "in Randomness, Position", .whole = true});

    three_seconds(w, "both as made");
    reef_remove(w, ent2, Randomness);
    three_seconds(w, "ent2 without randomness");
    reef_destroy(w, ent1);
    three_seconds(w, "ent1 destroyed");
    printf("alive: ent1 %s, ent2 %s at (%g, %g)\n", reef_is_alive(w, ent1) ? "yes" : "no",
           reef_is_alive(w, ent2) ? "yes" : "no", (double)reef_get(w, ent2, Position)->x,
           (double)reef_get(w, ent2, Position)->y);
    reef_world_free(w);
    return 0;
}
