/* reef.hpp's words for relations. */
#include "check.hpp"

#include <string>
#include <vector>

typedef struct {
    float weight;
} CargoLoad;
REEF_COMPONENT(CargoLoad);
/* declared as in C */
REEF_RELATION(ByC, REEF_EXCLUSIVE | REEF_TRANSITIVE);
REEF_RELATION_OF(CarriesByC, CargoLoad);

namespace relations {

struct Position {
    float x = 0, y = 0;
};
struct Money {
    int coins = 0;
};
struct Hull {};
struct Likes : reef::relation<> {};
struct DockedTo : reef::relation<REEF_EXCLUSIVE> {};
struct Under : reef::relation<REEF_EXCLUSIVE | REEF_ACYCLIC | REEF_CASCADE | REEF_TRANSITIVE> {};
struct Married : reef::relation<REEF_EXCLUSIVE | REEF_SYMMETRIC> {};
struct Owes : reef::relation_of<Money> {};
struct Pays : reef::relation_of<Money, REEF_EXCLUSIVE> {};

static std::string names_of(const std::vector<reef::entity> &list)
{
    std::string text;
    for (const reef::entity &e : list) text += std::string(e.name()) + " ";
    return text;
}

static void test_entities()
{
    reef::world world;
    reef::entity alice = world.entity("alice"), bob = world.entity("bob"), cleo = world.entity("cleo");
    CHECK(alice.relate<Likes>(bob).relate<Likes>(cleo).relate<Owes>(bob, Money{30}));
    CHECK(alice.relate<Likes>(bob).status() == REEF_OK && bob.relate<Likes>(cleo).status() == REEF_ADDED);
    CHECK(alice.related<Likes>(bob) && !bob.related<Likes>(alice));
    CHECK(alice.target<Likes>() == bob && !cleo.target<Likes>());
    std::vector<reef::entity> list;
    for (reef::entity e : alice.targets<Likes>()) list.push_back(e);
    CHECK(names_of(list) == "bob cleo " && alice.targets<Likes>().size() == 2 && alice.targets<Likes>()[1] == cleo);
    list.clear();
    for (reef::entity e : cleo.sources<Likes>()) list.push_back(e);
    CHECK(names_of(list) == "alice bob " && cleo.sources<Likes>().size() == 2 && cleo.source_count<Likes>() == 2);
    int sum = 0;
    for (auto [who, money] : alice.relations<Owes>()) sum += who == bob ? money.coins : 1000;
    for (auto [who, money] : bob.relations<Owes>()) sum += money.coins + (who ? 1 : 0);
    CHECK(sum == 30 && alice.relation<Owes>(bob)->data.coins == 30 && !alice.relation<Owes>(cleo));
    alice.relation_mut<Owes>(bob)->data.coins = 7;
    CHECK(alice.relation<Owes>(bob)->data.coins == 7);
    CHECK(alice.retarget<Owes>(bob, cleo) && alice.relation<Owes>(cleo)->data.coins == 7);
    CHECK(alice.unrelate<Likes>(bob) && !alice.related<Likes>(bob));
    CHECK(alice.unrelate<Likes>(bob).status() == REEF_ABSENT &&
          world.error().operation == std::string("reef_unrelate"));
    CHECK(!alice.relate<Under>(bob).relate<Under>(alice) && world.error().status == REEF_CYCLE);
    CHECK(alice.unrelate_all<Likes>() == 1 && !alice.has<Likes>());
    CHECK(cleo.unrelate_sources<Likes>() == 1 && cleo.source_count<Likes>() == 0);
    CHECK(bob.relate<Pays>(alice, Money{3}) && bob.get<Pays>()->data.coins == 3);
    CHECK(alice.relate<Married>(bob) && bob.related<Married>(alice));
    /* components as everywhere */
    CHECK(cleo.set(DockedTo{{bob}}) && cleo.target<DockedTo>() == bob && bob.source_count<DockedTo>() == 1);
    reef::entity ship = world.spawn(Position{1, 2}, DockedTo{{bob}});
    CHECK(ship.target<DockedTo>() == bob && bob.source_count<DockedTo>() == 2);
    CHECK(ship.relate_before<DockedTo>(bob, cleo) && *bob.sources<DockedTo>().begin() == ship);
    /* nobody */
    reef::entity nobody;
    CHECK(!nobody.related<Likes>(bob) && !nobody.target<Likes>() && !nobody.relate<Likes>(bob));
    CHECK(nobody.source_count<Likes>() == 0 && nobody.unrelate_all<Likes>() == 0 &&
          nobody.targets<Likes>().size() == 0);
    for (reef::entity e : nobody.sources<Likes>()) CHECK(!e);
    /* who hangs on it dies with it */
    CHECK(bob.destroy() == REEF_OK && !alice.is_alive() && cleo.is_alive() && !cleo.target<DockedTo>());
    validate(world.get(), "entities");
}

static void test_many_sources()
{
    reef::world world;
    reef::entity planet = world.entity("planet");
    std::vector<reef::entity> ships;
    for (int i = 0; i < 500; i++) ships.push_back(world.spawn(Position{}, DockedTo{{planet}}));
    size_t n = 0;
    bool same = true;
    for (reef::entity s : planet.sources<DockedTo>()) same = same && s == ships[n++];
    CHECK(same && n == 500);
}

static void test_types_of_c()
{
    reef::world world;
    reef::entity a = world.entity(), b = world.entity(), c = world.entity();
    CHECK(a.relate<ByC>(b).relate<ByC>(c) && a.target<ByC>() == c && b.source_count<ByC>() == 0);
    CHECK(c.relate<ByC>(b) && a.related<ByC>(b)); /* it is transitive */
    CHECK(a.relate<CarriesByC>(b, CargoLoad{3}) && a.relation<CarriesByC>(b)->data.weight == 3);
    for (auto [who, load] : a.relations<CarriesByC>()) CHECK(who == b && load.weight == 3);
    CHECK(reef_relate(world.get(), b, ByC, a) == REEF_ADDED && reef_get(world.get(), b, ByC) == b.get<ByC>());
}

static void test_views_of_relations()
{
    reef::world world;
    reef::entity mars = world.entity("mars"), moon = world.entity("moon");
    for (int i = 0; i < 100; i++) {
        reef::entity e = world.spawn(Position{float(i), 0});
        e.relate<DockedTo>(i % 3 ? mars : moon);
        if (i % 2) e.relate<Likes>(mars);
    }
    float sum = 0;
    for (auto [e, p] : world.view<const Position, reef::to<DockedTo>>(moon)) sum += p.x;
    CHECK(sum == 33 * 34 / 2 * 3);
    int n = 0;
    for (auto [e, p] : world.view<Position, reef::to<DockedTo>, reef::to<Likes>>(moon, mars)) n++, p.y = 1;
    CHECK(n == 17);
    auto at = world.query<const Position, reef::to<DockedTo>>(mars);
    CHECK(at.count() == 66 && world.query<reef::to<Likes>>(mars).count() == 50);
    n = 0;
    for (auto [e, d] : world.view<const DockedTo>()) n += reef_entity_equal(d.target, moon);
    CHECK(n == 34);
    n = 0;
    for (auto [e, p] : world.view<Position, reef::to<DockedTo>>(reef::entity())) n += e.is_alive() && p.x >= 0;
    CHECK(n == 0);
}

static void test_systems_and_observers()
{
    reef::world world;
    std::string diary;
    reef::entity mars = world.entity("mars"), moon = world.entity("moon");
    world.on_add<DockedTo>(reef::watching("arrivals").target(mars), [&](reef::entity e, const DockedTo &now) {
        diary += "+" + std::to_string(e.handle().index - now.target.index);
    });
    world.on_set<DockedTo>(reef::watching("leaving").target(mars),
                           [&](reef::entity, const DockedTo &, const DockedTo &was) {
                               diary += reef_entity_equal(was.target, mars) ? "out" : "in";
                           });
    struct Step {
        static void run(reef::entity e, const Hull &,
                        reef::commands<reef::relates<DockedTo, Owes>, reef::unrelates<Likes>> cmd, const Position &p)
        {
            const reef_entity planet = reef_find(e.world(), p.x > 0 ? "mars" : "moon");
            cmd.relate<DockedTo>(e, planet);
            cmd.relate<Owes>(e, planet, Money{int(p.y)});
            cmd.unrelate<Likes>(e, planet);
        }
    };
    reef::entity ship = world.spawn(reef::tag<Hull>(), Position{1, 5}).relate<Likes>(mars);
    CHECK(world.system("dock", Step::run));
    CHECK(world.tick(0) == REEF_OK && ship.target<DockedTo>() == mars && !ship.has<Likes>());
    CHECK(ship.relation<Owes>(mars)->data.coins == 5);
    ship.set(Position{-1, 6});
    CHECK(world.tick(0) == REEF_OK && ship.target<DockedTo>() == moon && ship.relation<Owes>(moon)->data.coins == 6);
    CHECK(diary == "+2out");
    (void)moon;
}

} // namespace relations

void test_relations()
{
    relations::test_entities();
    relations::test_many_sources();
    relations::test_types_of_c();
    relations::test_views_of_relations();
    relations::test_systems_and_observers();
}
