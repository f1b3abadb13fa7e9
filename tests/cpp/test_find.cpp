/* reef.hpp: unique fields, value indexes, places and `near`. */
#include "check.hpp"

#include <string>
#include <vector>

namespace find {

enum class Rank : uint16_t { sailor, mate, captain };
struct Corner {
    float x, y;
};
struct Crew {
    int32_t ship = 0;
    Rank rank = Rank::sailor;
    char name[8] = {};
    reef_entity boss = {0, 0};
    double pay = 0;
    Corner at = {};
    int8_t deck = 0;
};
struct Badge {
    uint32_t number = 0;
    int colour = 0;
};
struct Census {
    int32_t ship;
    uint64_t crew, captains;
};
struct Position {
    float x = 0, y = 0;
};
struct Velocity {
    float x = 0, y = 0;
};
struct Body {
    double radius = 0;
};
struct Neighbours {
    uint32_t count = 0;
    float speed = 0;
};
struct Spot {
    int32_t x, y, z;
};
struct Hunter {};
struct Asleep {};
REEF_STRUCT(Corner, x, y);
REEF_ENUM(Rank, Rank::sailor, Rank::mate, Rank::captain);
constexpr reef_field crew_fields[] = {
    REEF_FIELDS_OF(Crew, ship, (rank, enum, Rank), name, boss, pay, (at, struct, Corner), deck)};

} // namespace find

template <> struct reef::options<find::Crew> {
    static constexpr const auto &fields = find::crew_fields;
    static constexpr const char *indexes[] = {"ship", "rank"};
};
template <> struct reef::options<find::Badge> {
    static constexpr reef_field fields[] = {REEF_FIELDS_OF(find::Badge, number, colour)};
    static constexpr const char *unique = "number";
};
template <> struct reef::options<find::Body> {
    static constexpr reef_field fields[] = {REEF_FIELDS_OF(find::Body, radius)};
};
template <> struct reef::options<find::Position> {
    static constexpr reef_field fields[] = {REEF_FIELDS_OF(find::Position, x, y)};
    static constexpr auto place = reef::placing("x", "y").cell(2).radius("find::Body.radius").carries("find::Velocity");
};
template <> struct reef::options<find::Spot> {
    static constexpr reef_field fields[] = {REEF_FIELDS_OF(find::Spot, x, y, z)};
    static constexpr auto place =
        reef::placing("x", "y", "z").cell(1).edge(0, 0, 8).edge(1, 0, 8).edge(2, 0, 8).whole();
};

using namespace find;

static void test_unique()
{
    reef::world world;
    reef::entity a = world.spawn(Badge{7, 1}), b = world.spawn(Badge{8, 1});
    CHECK(b.set(Badge{7, 2}).status() == REEF_EXISTS && b.get<Badge>()->number == 8);
    CHECK(!world.spawn(Badge{7, 1}) && world.error().status == REEF_EXISTS);
    CHECK(std::string(world.error().detail).find("number is unique") != std::string::npos);
    CHECK(a.set(Badge{9, 1}).status() == REEF_OK && b.set(Badge{7, 2}).status() == REEF_OK);
    int colours = 0;
    for (auto [e, badge] : world.view<const Badge>()) colours += e ? badge.colour : 0;
    CHECK(colours == 3);
}

static std::vector<uint32_t> indices(const reef::values_found &found)
{
    std::vector<uint32_t> list;
    for (reef_entity e : found) list.push_back(e.index);
    CHECK(list.size() == found.count());
    return list;
}

static void test_indexes()
{
    reef::world world;
    std::vector<reef::entity> crew;
    for (int i = 0; i < 300; i++) {
        Crew c;
        c.ship = i % 3 - 1;
        c.rank = i == 5 ? Rank::captain : i % 2 ? Rank::mate : Rank::sailor;
        std::snprintf(c.name, sizeof c.name, "%d", i % 100);
        if (i) c.boss = crew[0];
        c.pay = -i / 2.0;
        c.at.x = static_cast<float>(i);
        c.deck = static_cast<int8_t>(i % 5 - 2);
        crew.push_back(world.spawn(c));
    }
    const auto ships = world.index(&Crew::ship);
    CHECK(ships && ships.equal(-1).count() == 100 && ships.equal(5).count() == 0);
    const std::vector<uint32_t> first = indices(ships.equal(-1)); /* more than the range reads at a time */
    for (size_t i = 0; i < first.size(); i++) CHECK(first[i] == crew[i * 3].handle().index);
    CHECK(indices(ships.all()).size() == 300 && indices(ships.at_least(1)).size() == 100);
    CHECK(ships.between(0, 1).count() == 200 && ships.at_most(-1).count() == 100);
    reef_entity some[2];
    CHECK(ships.equal(-1).copy(some, 2, 1) == 100 && reef_entity_equal(some[0], crew[3]));

    CHECK(reef_entity_equal(world.index(&Crew::rank).equal(Rank::captain).first(), crew[5]));
    CHECK(indices(world.index(&Crew::name).equal("42")).size() == 3 &&
          world.index(&Crew::name).equal("none").count() == 0);
    CHECK(world.index(&Crew::name).equal("much too long").count() == 0);
    CHECK(world.index(&Crew::boss).equal(crew[0]).count() == 299);
    CHECK(reef_entity_equal(world.index(&Crew::pay).all().first(), crew[299]));
    CHECK(world.index(&Crew::pay).at_most(-149).count() == 2);
    CHECK(world.index(&Crew::deck).equal(-2).count() == 60 && world.index(&Crew::deck).at_most(-1).count() == 120);
    const auto x = world.index<Crew, float>("at.x");
    CHECK(x && x.between(10, 12.5f).count() == 3 && reef_entity_equal(x.all().last(), crew[299]));
    CHECK(!(world.index<Crew, double>("at.x")) && !(world.index<Crew, float>("at.z")));

    crew[5].mut<Crew>()->rank = Rank::mate;
    CHECK(world.index(&Crew::rank).equal(Rank::captain).count() == 0);
    Crew made = *crew[6].get<Crew>();
    made.rank = Rank::captain;
    crew[6].set(made);

    reef::entity count = world.spawn(Census{1, 0, 0});
    world.system("count", [](Census &c, reef::indexed<&Crew::ship> ships_now, reef::indexed<&Crew::rank> ranks) {
        c.crew = ships_now.equal(c.ship).count();
        c.captains = ranks.equal(Rank::captain).count();
    });
    CHECK(world.tick(1) == REEF_OK && count.get<Census>()->crew == 100 && count.get<Census>()->captains == 1);
    crew[2].destroy();
    reef::world fork = world.fork();
    CHECK(fork.tick(1) == REEF_OK && fork.get<Census>(count)->crew == 99);
}

static void test_places()
{
    reef::world world;
    std::vector<reef::entity> shoal;
    for (int i = 0; i < 10; i++)
        shoal.push_back(world.spawn(Position{static_cast<float>(i), 1}, Velocity{static_cast<float>(i * 10), 0}));
    shoal[4].add<Body>(0.5);
    shoal[7].add<Hunter>();
    world.spawn(Position{4, 1}); /* no velocity, which is carried: it isn't in the picture */

    reef_near found[4];
    const auto sea = world.place<Position>();
    CHECK(sea && sea.stats().rows == 10);
    const auto some = sea.within(reef::around(4, 1).radius(1.5).except(shoal[4]), found);
    CHECK(some.count == 2 && reef_entity_equal(some[0].entity, shoal[3]) && some[1].offset[0] == 1);
    CHECK(sea.within(reef::around(4, 1).radius(100), found).count == 4);
    CHECK(sea.within(reef::around(4, 1).radius(100), found, 4) == 10);
    CHECK(sea.within(reef::around(0, 1).radius(100).above(shoal[7]), found).count == 2);
    CHECK(sea.box(reef::around(2, 0).to(3, 1), found).count == 2 &&
          sea.box(reef::around(0, 0).to(9, 9), found, 4) == 10);
    const auto nearest = sea.nearest(reef::around(8.4, 1), found);
    CHECK(nearest.count == 4 && reef_entity_equal(nearest[0].entity, shoal[8]));
    const reef_hit hit = sea.hit(reef::around(4, 9).to(4, 1));
    CHECK(reef_entity_equal(hit.entity, shoal[4]) && hit.along == 7.5 / 8);
    const auto hunters = world.query<reef::with<Hunter>>();
    CHECK(sea.within(reef::around(4, 1).radius(100).only(hunters), found).count == 1);
    const Velocity *v = sea.carried<Velocity>();
    CHECK(v && v[sea.slot(shoal[3])].x == 30 && sea.carried<Body>() == nullptr);
    CHECK(reef_entity_equal(sea.entity(sea.slot(shoal[3])), shoal[3]));

    std::vector<uint32_t> pairs(sea.parts());
    CHECK(sea.pairs(1, [&pairs](reef::span<const reef_pair> list, uint32_t part) { pairs[part] += list.count; }) ==
          REEF_OK);
    uint32_t all = 0;
    for (uint32_t n : pairs) all += n;
    CHECK(all == 9); /* the body adds nothing: those beside it are no farther than 1 anyway */
    CHECK(sea.pairs(-1, [](reef::span<const reef_pair>, uint32_t) {}) == REEF_BAD_ARGUMENT);
    const reef::world none;
    CHECK(!world.place<Velocity>() && world.error().status == REEF_ABSENT);

    const auto grid = world.place<Spot>();
    world.spawn(Spot{1, 2, 3});
    CHECK(grid && world.place<Spot>().cells().side[2] == 8);
    CHECK(world.place<Spot>().within(reef::around(1, 2, 11).radius(0), found).count == 1);
}

static void test_near()
{
    reef::world world;
    std::vector<reef::entity> shoal;
    for (int i = 0; i < 40; i++) {
        shoal.push_back(world.spawn(Position{static_cast<float>(i), 1}, Velocity{}, Neighbours{}));
        if (i % 2) shoal.back().add<Hunter>();
        if (i % 3 == 0) shoal.back().add<Asleep>();
    }
    std::string seen;
    for (auto [e, p] : world.view<const Position, reef::with<Hunter>, reef::without<Asleep>, reef::near<Velocity>>())
        seen += e ? std::to_string(p.x) : "";
    CHECK(seen.empty()); /* it has no place */
    for (auto [e, h] : world.view<const Neighbours, reef::with<Hunter>, reef::without<Asleep>, reef::near<Position>>(
             reef::around(10, 1).radius(3)))
        seen += std::to_string(e.get<Position>()->x).substr(0, 2) + " " + std::to_string(h.count);
    CHECK(seen == "7. 011 013 0");
    auto q = world.query<reef::with<Hunter>, reef::near<Position>>();
    CHECK(q.count() == 0 && world.error().status == REEF_BAD_ARGUMENT); /* it has no centre yet */
    CHECK(q.near(reef::around(20, 1).radius(2)) == REEF_OK && q.count() == 2);
    CHECK(q.near(reef::around(20, 1).radius(-2)) == REEF_BAD_ARGUMENT && q.count() == 2);

    world.system("look", [](Position &p, Neighbours &n, reef::entity self, reef::placed<Position> sea) {
        reef_near found[8];
        n.count = 0;
        for (const reef_near &other : sea.within(reef::around(double(p.x), double(p.y)).radius(1).except(self), found))
            n.count += other.squared <= 1;
        p.x += 0.25f; /* the picture is from before */
    });
    CHECK(world.tick(1) == REEF_OK);
    CHECK(shoal[0].get<Neighbours>()->count == 1 && shoal[20].get<Neighbours>()->count == 2);
    CHECK(shoal[20].get<Position>()->x == 20.25f);
}

void test_find()
{
    test_unique();
    test_indexes();
    test_places();
    test_near();
}
