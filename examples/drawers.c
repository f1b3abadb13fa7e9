/* Drawers: the values of each component type lie side by side in a drawer without gaps. When one is taken out, the
 * last one moves into its place, and every handle still finds its own value. */
#include <reef.h>
#include <stdio.h>

typedef struct {
    float x, y, angle;
} Transform;
typedef struct {
    float mass;
} Physics;
typedef struct {
    int apples, coins;
} Inventory;
REEF_COMPONENT(Transform);
REEF_COMPONENT(Physics);
REEF_COMPONENT(Inventory);

/* Prints what lies in the drawer of Transform, in the order in which a loop meets it. */
static void show_transforms(reef_world *w)
{
    reef_query q = reef_query_new(w, "in Transform");
    printf("transforms:");
    for (reef_block b = reef_begin(w, q); reef_next(&b);) {
        const Transform *t = reef_in(&b, Transform);
        for (uint32_t i = 0; i < b.count; i++) printf("  %s at %g", reef_name(w, b.entities[i]), (double)t[i].x);
    }
    printf("\n");
    reef_query_free(w, q);
}

static reef_entity make(reef_world *w, const char *name, float x)
{
    reef_entity e = reef_spawn(w, reef_with(Transform, x, 0, 0));
    reef_set_name(w, e, name);
    return e;
}

int main(void)
{
    reef_world *w = reef_world_new(NULL);
    reef_entity agent = make(w, "agent", 1);
    reef_entity door = make(w, "door", 2);
    reef_entity wall = make(w, "wall", 3);
    reef_entity chest = make(w, "chest", 4);
    show_transforms(w);

    /* The drawer's last value, the chest's, moves into the door's place. */
    reef_destroy(w, door);
    show_transforms(w);
    printf("the chest is still at %g; the door is %s\n", (double)reef_get(w, chest, Transform)->x,
           reef_get(w, door, Transform) ? "there" : "gone");

    /* Components can be added one by one, or several in one step. */
    reef_set(w, chest, Inventory, .apples = 3, .coins = 50);
    reef_change(w, agent, reef_with(Physics, 80), reef_with(Inventory, .coins = 7));
    printf("the agent weighs %g kg, has %d coins, and is still at %g\n", (double)reef_get(w, agent, Physics)->mass,
           reef_get(w, agent, Inventory)->coins, (double)reef_get(w, agent, Transform)->x);
    printf("%u transforms, %u physics, %u inventories\n", (unsigned)reef_count(w, Transform),
           (unsigned)reef_count(w, Physics), (unsigned)reef_count(w, Inventory));

    /* Asking for something that isn't there returns a status and does no harm. */
    printf("removing physics from the wall: %s\n", reef_status_name(reef_remove(w, wall, Physics)));
    printf("adding a second transform: %s\n", reef_status_name(reef_add(w, wall, Transform)));
    printf("destroying the door again: %s\n", reef_status_name(reef_destroy(w, door)));

    /* An entity without components lives on. */
    reef_remove_all(w, agent);
    printf("the agent is %s, and has %s transform\n", reef_is_alive(w, agent) ? "alive" : "dead",
           reef_has(w, agent, Transform) ? "a" : "no");
    show_transforms(w);

    reef_world_free(w);
    return 0;
}
