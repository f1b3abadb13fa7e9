/* Ships that are docked at planets: a query that follows relations. Each ship at a planet that isn't at war buys fuel
 * at the planet's price; and each turret of a ship knows how much fuel its ship has. */
#include <reef.h>
#include <reef/hierarchy.h>
#include <reef/reach.h>
#include <stdio.h>

typedef struct {
    int litres;
} Fuel;
typedef struct {
    int coins;
} Price;
typedef struct {
    int coins;
} Purse;
REEF_COMPONENT(Fuel);
REEF_COMPONENT(Price);
REEF_COMPONENT(Purse);
REEF_TAG(Planet);
REEF_TAG(AtWar);
REEF_TAG(Turret);
REEF_RELATION(DockedTo, REEF_EXCLUSIVE);
REEF_RELATION(Orbits, REEF_EXCLUSIVE | REEF_ACYCLIC);

static reef_entity named(reef_world *w, const char *name, reef_entity e)
{
    reef_set_name(w, e, name);
    return e;
}

/* Its query says that it reads prices of other entities, so it waits for whoever writes prices. */
static void buy(reef_block *b)
{
    const Price *price[REEF_BLOCK_ROWS];
    Fuel *fuel = reef_inout(b, Fuel);
    Purse *purse = reef_inout(b, Purse);
    const reef_entity *planet = reef_bound(b, reef_variable(b, "planet"));
    reef_reach(b, Price, reef_variable(b, "planet"), price);
    for (uint32_t first = 0, n; (n = reef_block_run(b, &first)) != 0; first += n)
        for (uint32_t i = first; i < first + n; i++) {
            const int litres = purse[i].coins / price[i]->coins;
            printf("  %s buys %d litres at %s\n", reef_name(b->world, b->entities[i]), litres,
                   reef_name(b->world, planet[i]));
            fuel[i].litres += litres;
            purse[i].coins -= litres * price[i]->coins;
        }
}

int main(void)
{
    reef_world *w = reef_world_new(NULL);
    reef_entity sol = named(w, "sol", reef_create(w));
    reef_entity mars = named(w, "mars", reef_spawn(w, reef_tag(Planet), reef_with(Price, 3)));
    reef_entity venus = named(w, "venus", reef_spawn(w, reef_tag(Planet), reef_with(Price, 2)));
    reef_entity moon = named(w, "phobos", reef_spawn(w, reef_with(Price, 1)));
    reef_relate(w, mars, Orbits, sol);
    reef_relate(w, venus, Orbits, sol);
    reef_relate(w, moon, Orbits, mars);
    static const char *const names[] = {"argo", "bounty", "calypso"};
    reef_entity ship[3];
    for (int i = 0; i < 3; i++) ship[i] = named(w, names[i], reef_spawn(w, reef_with(Fuel, 0), reef_with(Purse, 30)));
    reef_relate(w, ship[0], DockedTo, mars);
    reef_relate(w, ship[1], DockedTo, venus);
    reef_relate(w, ship[2], DockedTo, moon);

    reef_system(w, buy, "Fuel, Purse, DockedTo($planet), Planet($planet), !AtWar($planet), in Price($planet)");
    printf("the first day\n");
    reef_tick(w, 1);
    printf("the second day: venus is at war, and the bounty is at mars\n");
    reef_add(w, venus, AtWar);
    reef_relate(w, ship[1], DockedTo, mars);
    for (int i = 0; i < 3; i++) reef_set(w, ship[i], Purse, 12);
    reef_tick(w, 1);

    printf("around mars:");
    reef_each(w, reef_query_new(w, "Orbits(mars)"), row) printf(" %s", reef_name(w, row.entity));
    printf("\nat what orbits the sun:");
    reef_query near = reef_query_new(w, "DockedTo($port), Orbits($port, sol)");
    reef_each(w, near, row) printf(" %s", reef_name(w, row.entity));

    reef_entity turret = named(w, "turret", reef_spawn(w, reef_tag(Turret)));
    reef_relate(w, turret, ChildOf, ship[2]);
    reef_query fuel = reef_query_new(w, "Turret, Fuel up(ChildOf)");
    for (reef_block b = reef_begin(w, fuel); reef_next(&b);) {
        const Fuel *above[REEF_BLOCK_ROWS];
        reef_reach(&b, Fuel, 0, above);
        for (uint32_t first = 0, n; (n = reef_block_run(&b, &first)) != 0; first += n)
            for (uint32_t i = first; i < first + n; i++)
                printf("\nthe %s's ship has %d litres", reef_name(w, b.entities[i]), above[i]->litres);
    }
    printf("\n");
    reef_world_free(w);
}
