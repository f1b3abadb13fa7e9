/* A turret as a prefab, a variant of it, and a tank that has two of them: templates, copies, values that are copied and
 * values that are shared. */
#include <reef.h>
#include <reef/prefab.h>
#include <stdio.h>

typedef struct {
    int now, most;
} Armour;
typedef struct {
    float seconds, left;
} Reload;
typedef struct {
    int damage;
} Shell; /* the same for all guns of a kind, so it is shared */
typedef struct {
    float speed;
} Tracks;
REEF_COMPONENT(Armour);
REEF_COMPONENT(Reload);
REEF_COMPONENT_IN(Shell, REEF_SHARED);
REEF_COMPONENT(Tracks);

static reef_entity child(reef_world *w, reef_entity e, reef_entity parent, const char *name)
{
    reef_relate(w, e, ChildOf, parent);
    reef_set_name(w, e, name);
    return e;
}

static void show(const reef_world *w, reef_entity root)
{
    for (reef_walk x = reef_walk_from(w, root, ChildOf); reef_walk_next(&x);) {
        const char *name = reef_name(w, x.entity);
        printf("%*s%s", 2 * (int)x.depth, "", name ? name : "(root)");
        const Armour *armour = reef_get(w, x.entity, Armour);
        const Shell *shell = reef_get(w, x.entity, Shell);
        if (armour) printf("  armour %d of %d", armour->now, armour->most);
        if (shell) printf("  damage %d", shell->damage);
        printf("\n");
    }
}

static uint64_t guns(reef_world *w) { return reef_query_count(w, reef_query_new(w, "Reload")); }

int main(void)
{
    reef_world *w = reef_world_new(NULL);

    /* The template: a turret with a gun. */
    reef_entity turret = reef_spawn(w, reef_with(Armour, 50, 50));
    reef_entity gun = child(w, reef_spawn(w, reef_with(Reload, 4, 0), reef_with(Shell, 10)), turret, "gun");
    reef_set_name(w, turret, "turret");
    reef_make_prefab(w, turret);
    printf("guns that queries see: %u\n", (unsigned)guns(w));

    /* A variant: a copy with other values, which becomes a template itself. */
    reef_entity heavy;
    reef_instantiate_with(w, turret, 1, &heavy, reef_with(Armour, 200, 200));
    reef_set_name(w, heavy, "heavy turret");
    reef_set(w, reef_find_below(w, heavy, "gun"), Shell, 25);
    reef_make_prefab(w, heavy);

    /* A template with copies of others in it. */
    reef_entity tank = reef_spawn(w, reef_with(Armour, 400, 400), reef_with(Tracks, 9)), part;
    reef_instantiate_with(w, turret, 1, &part, reef_with(ChildOf, .target = tank));
    reef_set_name(w, part, "front");
    reef_instantiate_with(w, heavy, 1, &part, reef_with(ChildOf, .target = tank));
    reef_set_name(w, part, "top");
    reef_make_prefab(w, tank);

    reef_entity tanks[3];
    reef_instantiate(w, tank, 3, tanks);
    printf("guns that queries see: %u\n", (unsigned)guns(w));
    reef_mut(w, reef_find_below(w, tanks[0], "front"), Armour)->now = 20; /* of this one */
    reef_mut(w, gun, Shell)->damage = 12;                                 /* of the template, and of all its copies */
    show(w, tanks[0]);

    printf("the top of the tank is a copy of the %s\n",
           reef_name(w, reef_target(w, reef_find_below(w, tanks[1], "top"), InstanceOf)));
    reef_destroy(w, turret);
    printf("without its template the gun still has damage %d\n",
           reef_get(w, reef_find_below(w, tanks[2], "front.gun"), Shell)->damage);
    reef_world_free(w);
}
