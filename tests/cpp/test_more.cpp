/* reef.hpp's further words: observers, several values, subtypes, changes, whole queries, events, histories,
 * journals. (A second file that includes it.) */
#include "check.hpp"

#include <ctime>
#include <memory>
#include <string>
#include <vector>

namespace more {

struct Position {
    float x = 0, y = 0;
};
struct Velocity {
    float x, y;
};
struct Health {
    int value = 100;
};
struct Hit {
    int damage = 1;
};
struct Ping {};
struct Hurt {};
struct Label {
    std::string text;
};
struct Buff {
    int kind, left;
};
struct Items {
    std::string name;
};
struct Seen {
    int n;
};
struct Mesh {
    std::string file;
};
struct Total {
    int64_t rows = 0, sum = 0;
    Total &operator+=(const Total &other) { return rows += other.rows, sum += other.sum, *this; }
};
struct Moving {
    float speed = 0;
};
struct AxisMoving : Moving {
    AxisMoving(float s, double a) : Moving{s}, axis(a) {}
    double axis;
};
struct Keys {
    int right = 0;
};
struct Rudder {
    float angle = 0;
};
struct Sail {
    float area = 0;
    std::string colour = "white";
};
struct Boat {};
enum class Kind : uint8_t { fish, coal, oil = 9 };
enum { WET = 1, HOT = 2 };
struct Corner {
    float x = 0, y = 0;
};
struct Cargo {
    Kind kind = Kind::fish, others[2] = {};
    uint32_t marks = 0;
    Corner corners[2] = {};
    int16_t grid[2][2] = {};
};
REEF_ENUM(Kind, Kind::fish, Kind::coal, (Kind::oil, "crude"));
REEF_MASK(Marks, WET, HOT);
REEF_STRUCT(Corner, x, (y, "m"));

} // namespace more

REEF_CPP_IN(more::Buff, REEF_MULTI);
REEF_CPP_IN(more::Items, REEF_MULTI);
REEF_CPP_IN(more::Mesh, REEF_SHARED);
template <> struct reef::options<more::Position> {
    static constexpr reef_field fields[] = {REEF_FIELDS_OF(more::Position, (x, "m"), (y, "m"))};
};
namespace more {
constexpr reef_field cargo_fields[] = {REEF_FIELDS_OF(Cargo, (kind, enum, Kind), (others, enum, Kind),
                                                      (marks, enum, Marks), (corners, struct, Corner), grid)};
} // namespace more
template <> struct reef::options<more::Cargo> {
    static constexpr const auto &fields = more::cargo_fields;
};
template <> struct reef::options<more::Boat> {
    using required = reef::types<more::Rudder, more::Sail>;
};
template <> struct reef::options<more::Seen> {
    static constexpr bool track_rows = true;
};
template <> struct reef::options<more::AxisMoving> {
    using base = more::Moving;
};

using namespace more;

static void test_names_of_values()
{
    reef::world world;
    char text[40] = "";
    reef_type_info info;
    world.spawn(Cargo{Kind::oil, {Kind::coal, static_cast<Kind>(3)}, WET | HOT, {}, {}});
    CHECK(reef_type_get(reef::id<Cargo>(), &info) && info.field_count == 8);
    CHECK(info.fields[0].kind == REEF_U8 && info.fields[7].kind == REEF_I16 && info.fields[7].bytes == 8);
    CHECK(std::string_view(info.fields[6].name) == "corners[1].y" && info.fields[6].offset == 20);
    const reef_names *names = info.fields[0].names;
    CHECK(names && names->count == 3 && !names->mask && std::string_view(names->values[1].name) == "coal");
    CHECK(reef_names_write(names, 9, text, sizeof text) == 5 && std::string_view(text) == "crude");
    CHECK(reef_names_write(info.fields[2].names, 3, text, sizeof text) == 7 && std::string_view(text) == "WET|HOT");
}

static void test_required()
{
    reef::world world;
    reef::entity e = world.entity().add<Boat>(), f = world.spawn(Rudder{3}, Boat());
    CHECK(e.has<Rudder>() && e.get<Sail>()->colour == "white");
    CHECK(f.get<Rudder>()->angle == 3 && f.has<Sail>());
    e.remove<Sail>();
    CHECK(e.has<Boat>() && !e.has<Sail>());
}

static void test_prefabs()
{
    reef::world world;
    reef::entity boat = world.spawn(Rudder{3}, Sail{9, "red"}), mast = world.spawn(Health{4});
    mast.relate<ChildOf>(boat);
    CHECK(boat.make_prefab() == REEF_OK);
    int seen = 0;
    world.view<Rudder>().each([&](Rudder &) { seen++; });
    CHECK(seen == 0);
    reef::entity copy = world.instantiate(boat, Rudder{5});
    CHECK(copy.get<Rudder>()->angle == 5 && copy.get<Sail>()->colour == "red");
    CHECK(copy.target<InstanceOf>() == boat && copy.source_count<ChildOf>() == 1);
    reef_entity many[3];
    const Rudder rudders[] = {{1}, {2}, {3}};
    CHECK(world.instantiate_many(boat, 3, many, reef::array(rudders), Position{1, 2}) == REEF_OK);
    CHECK(world.get<Rudder>(many[2])->angle == 3 && world.get<Position>(many[1])->y == 2);
    CHECK(world.clone_tree(copy, 3, many) == REEF_OK && world.get<Rudder>(many[0])->angle == 5);
    CHECK(!world.instantiate(reef_entity{0, 0}) && reef::entity().make_prefab() == REEF_NOT_ALIVE);

    /* What isn't found is null, and the world tells of a call on it. */
    reef::entity nobody = world.find("nobody");
    CHECK(nobody == reef::entity() && !nobody && !nobody.name());
    CHECK(nobody.rename("somebody").status() == REEF_NOT_ALIVE && world.error().status == REEF_NOT_ALIVE);
}

static void test_observers()
{
    reef::world world;
    int added = 0, set = 0, removed = 0, died = 0, anybody = 0, matched = 0, unmatched = 0, tags = 0, notices = 0,
        owned = 0;
    CHECK(world.on_add<Health>("add",
                               [&](reef::entity e, const Health &now) { added += now.value, CHECK(e.has<Health>()); }));
    CHECK(world.on_set<Health>(
        "set", [&](reef::entity, const Health &now, const Health &was) { set += now.value - was.value; }));
    CHECK(world.on_remove<Health>("remove", [&](reef::entity, const Health &was) { removed += was.value; }));
    CHECK(world.on_destroy<Health>("die", [&](reef::entity, const Health &was) { died += was.value; }));
    CHECK(world.on_destroy("anybody", [&](reef::entity) { anybody++; }));
    CHECK((world.on_match<Health, reef::without<Hurt>>("match", [&](reef::entity) { matched++; })));
    CHECK((world.on_unmatch<Health, reef::without<Hurt>>("unmatch", [&](reef::entity) { unmatched++; })));
    CHECK(world.on_add<Hurt>("hurt", [&](reef::entity) { tags++; }));
    CHECK(world.on_add<Hurt>("notice", [&](const reef_notice &n) { notices += int(n.count); }));
    CHECK(world.on_remove<Label>("label", [&](reef::entity, const Label &was) {
        owned += was.text == "a label that is too long for its own place";
    }));
    CHECK(!world.on_add<Health>("add", [](reef::entity) {}) && world.error().status == REEF_EXISTS);
    reef::entity e = world.entity().add<Health>(3), f = world.spawn(Health{4}, Hurt());
    CHECK(added == 7 && matched == 1 && unmatched == 0 && tags == 1 && notices == 1);
    e.set(Health{10});
    CHECK(set == 7);
    e.add<Hurt>();
    CHECK(unmatched == 1 && tags == 2);
    f.remove<Health>();
    CHECK(removed == 4 && died == 0);
    e.add<Label>("a label that is too long for its own place");
    e.destroy();
    CHECK(removed == 14 && died == 10 && anybody == 1 && owned == 1);
    /* Collected ones hear of the net effect; existing ones of what is there. What is kept is freed with the last
     * world that has it. */
    auto shared = std::make_shared<int>(0);
    {
        reef::world other;
        other.spawn(Health{1});
        other.spawn(Health{2});
        CHECK(other.on_add<Health>(reef::watching("there").existing(),
                                   [shared](reef::entity, const Health &now) { *shared += now.value; }));
        CHECK(*shared == 3 && shared.use_count() == 2);
        CHECK(!other.on_add<Health>("there", [shared](reef::entity) {}) && shared.use_count() == 2);
        reef::world fork = other.fork();
        other = reef::world();
        fork.spawn(Health{5});
        CHECK(*shared == 8 && shared.use_count() == 2);
        CHECK(fork.find_observer("there").remove() == REEF_OK && shared.use_count() == 1 &&
              !fork.find_observer("there"));
    }
    {
        reef::world other;
        int later = 0;
        other.on_add<Health>(reef::watching("later").collected(), [&](reef::entity) { later++; });
        other.system("makes", [](const Position &, reef::commands<reef::spawns<Health>> c) { c.spawn(Health{1}); });
        other.spawn(Position{});
        CHECK(other.tick(1) == REEF_OK && later == 1);
    }
    validate(world.get(), __func__);
}

static void test_several_values()
{
    reef::world world;
    reef::entity knight = world.entity("knight");
    for (int i = 0; i < 3; i++) CHECK(knight.append<Buff>(i, 10 * i)->left == 10 * i);
    CHECK(knight.get_all<Buff>().count == 3 && knight.get_all<Buff>()[2].kind == 2);
    for (Buff &b : knight.mut_all<Buff>()) b.left++;
    CHECK(knight.remove_one<Buff>(0) == REEF_OK && knight.get_all<Buff>()[0].left == 11 &&
          knight.remove_one<Buff>(7) == REEF_ABSENT);
    CHECK(knight.append<Items>("a sword with a name that is quite long") && knight.append<Items>("a shield"));
    CHECK(knight.get_all<Items>().count == 2 && knight.get_all<Items>()[1].name == "a shield");
    reef::entity page = world.entity("page");
    page.append<Buff>(9, 1);
    CHECK(page.append<Health>(1) != nullptr && page.append<Health>(2) == nullptr &&
          world.error().status == REEF_EXISTS);
    int rows = 0, values = 0, left = 0, in_runs = 0;
    for (auto [e, buffs] : world.view<reef::all<const Buff>>()) {
        static_assert(std::is_same_v<decltype(buffs), reef::all<const Buff>>);
        rows++, values += int(buffs.count), CHECK(e.get_all<Buff>().first == buffs.first);
    }
    CHECK(rows == 2 && values == 3);
    world.view<reef::all<Buff>>().each([&](reef::all<Buff> buffs) {
        for (Buff &b : buffs) left += --b.left;
    });
    CHECK(left == 10 + 20 + 0);
    world.view<reef::all<const Buff>>().blocks([&](reef::span<const reef_entity> who, auto buffs) {
        for (uint32_t i = 0; i < who.count; i++) in_runs += int(buffs[i].count);
    });
    CHECK(in_runs == 3);
    world.system("tick", [](reef::all<Buff> buffs) {
        for (Buff &b : buffs) b.left += 100;
    });
    CHECK(world.tick(1) == REEF_OK && page.get_all<Buff>()[0].left == 100 && knight.get_all<Buff>()[1].left == 120);
    reef::entity none;
    CHECK(none.get_all<Buff>().count == 0 && none.append<Buff>(1, 1) == nullptr &&
          none.mut_all<Buff>().first == nullptr);
    CHECK(none.remove_one<Buff>(0) == REEF_NOT_ALIVE && page.remove<Items>().status() == REEF_ABSENT);
    validate(world.get(), __func__);
}

static void test_subtypes()
{
    reef::world world;
    reef::entity clock = world.entity().add<Moving>(8.0f),
                 lift = world.entity().add<AxisMoving>(4.0f, 1.5).add<Position>(1, 1);
    world.entity().add<Position>();
    for (int i = 0; i < 5; i++) world.entity().add<AxisMoving>(1.0f, double(i));
    CHECK(lift.get<Moving>() == lift.get<AxisMoving>() && lift.has<Moving>() && !clock.has<AxisMoving>());
    int rows = 0;
    float sum = 0, by_runs = 0;
    for (auto [e, m] : world.view<reef::sub<Moving>>()) {
        static_assert(std::is_same_v<decltype(m), Moving &>);
        m.speed *= 0.5f, rows++, CHECK(e.get<Moving>() == &m);
    }
    CHECK(rows == 7 && clock.get<Moving>()->speed == 4 && lift.get<AxisMoving>()->speed == 2 &&
          lift.get<AxisMoving>()->axis == 1.5);
    world.view<reef::sub<const Moving>>().each([&](const Moving &m) { sum += m.speed; });
    world.view<reef::sub<const Moving>>().blocks([&](reef::span<const reef_entity>, reef::strided<const Moving> m) {
        for (uint32_t i = 0; i < m.count; i++) by_runs += m[i].speed;
    });
    CHECK(sum == 4 + 2 + 5 * 0.5f && by_runs == sum);
    world.system("brake", [](reef::sub<Moving> m, float dt) { m->speed -= dt; });
    CHECK(world.tick(0.25f) == REEF_OK && clock.get<Moving>()->speed == 3.75f && lift.get<Moving>()->speed == 1.75f);
    validate(world.get(), __func__);
}

static void test_references_and_shared()
{
    reef::world world;
    reef::entity e = world.entity().add<Position>(1, 2), other = world.entity();
    reef::ref<Position> r(e), none;
    CHECK(r.get() == e.get<Position>() && r && r.owner() == e && !none.get() && !none.mut() && !none);
    e.add<Health>();
    r.mut()->x = 7;
    CHECK(e.get<Position>()->x == 7 && r.get() == e.get<Position>());
    e.destroy();
    CHECK(!r && !r.get() && !r.mut());
    reef::entity a = world.entity().add<Mesh>("a file with a long name, far from here");
    CHECK(a.share<Mesh>(other) == REEF_ADDED && other.get<Mesh>() == a.get<Mesh>());
    reef::pinned<Mesh> pin(a), empty;
    CHECK(pin && pin.get() == a.get<Mesh>() && !empty);
    a.destroy();
    other.destroy();
    CHECK(pin->file == "a file with a long name, far from here");
    reef::pinned<Mesh> moved(std::move(pin));
    reef::entity late = world.entity();
    CHECK(moved.attach(late) == REEF_ADDED && late.get<Mesh>() == moved.get() && !pin &&
          pin.attach(late) == REEF_BAD_ARGUMENT);
    world = reef::world();
    CHECK((*moved).file.size() == 38);
}

static void test_changes()
{
    reef::world world;
    std::vector<reef::entity> all;
    for (int i = 0; i < 3000; i++) all.push_back(world.spawn(Position{float(i), 0}, Seen{i}));
    auto changes = world.query<reef::changed<const Position>>();
    auto seen = world.query<reef::changed<const Seen>>();
    auto fresh = world.query<reef::added<const Seen>>();
    uint64_t n = 0;
    auto count = [&](const auto &) { n++; };
    auto take = [&](auto &q) { return n = 0, q.each(count), n; };
    CHECK(take(changes) == 3000 && take(changes) == 0 && take(seen) == 3000 && take(fresh) == 3000 && take(fresh) == 0);
    all[5].mut<Position>()->x = 1;
    CHECK(take(changes) >= 1 && take(changes) == 0);
    all[7].mut<Seen>()->n = 1;
    CHECK(take(seen) == 1 && take(fresh) == 0);
    all.push_back(world.spawn(Seen{1}));
    CHECK(take(fresh) == 1 && take(seen) == 1);
    /* In systems: since their last run. */
    uint64_t rows = 0;
    world.system("sees", [&rows](reef::entity e, reef::changed<const Seen> s) {
        rows++, CHECK(e.get<Seen>() == &*s && s->n >= 0);
    });
    CHECK(world.tick(1) == REEF_OK && rows == 3001);
    all[9].set(Seen{4});
    CHECK(world.tick(1) == REEF_OK && rows == 3002 && world.tick(1) == REEF_OK && rows == 3002);
    validate(world.get(), __func__);
}

static void test_whole_queries_and_many()
{
    reef::world world;
    Position positions[5] = {{0, 1}, {2, 3}, {4, 5}, {6, 7}, {8, 9}};
    reef_entity ids[5], copies[3];
    CHECK(world.spawn_many(5, ids, reef::array(positions), Health{7}, reef::tag<Hurt>()) == REEF_OK);
    CHECK(world.get<Position>(ids[3])->y == 7 && world.get<Health>(ids[4])->value == 7 && world.has<Hurt>(ids[0]));
    CHECK(world.clone_many(ids[1], 3, copies) == REEF_OK && world.get<Position>(copies[2])->x == 2);
    auto hurt = world.query<reef::with<Hurt>>();
    uint64_t n = 0;
    CHECK(hurt.add<Velocity>(&n) == REEF_OK && n == 8 && world.get<Velocity>(ids[0])->x == 0);
    CHECK(hurt.set(Health{1}, &n) == REEF_OK && n == 8 && world.get<Health>(copies[0])->value == 1);
    CHECK(hurt.remove<Velocity>(&n) == REEF_OK && n == 8 && world.count<Velocity>() == 0);
    CHECK(hurt.enable<Hurt>(false, &n) == REEF_OK && n == 8 && hurt.count() == 0);
    auto everybody = world.query<const Health>();
    CHECK(everybody.enable(false) == REEF_OK && everybody.count() == 0);
    auto places = world.query<const Position>();
    CHECK(places.destroy(&n) == REEF_OK && n == 0 && world.count() == 8); /* disabled ones aren't met */
    CHECK(world.clear() == REEF_OK && world.count() == 0);
    validate(world.get(), __func__);
}

struct Tally {
    int sum = 0;
    void add(const Health &h, const int &factor) & { sum += h.value * factor; }
    void look(const Health &h) const &noexcept { CHECK(h.value != 0); }
};
struct Changing {
    int *calls;
    int mine = 0;
    void operator()(const Health &) { *calls = ++mine; }
};

static void test_D1_D10_once_each_members_sums()
{
    reef::world world;
    for (int i = 1; i <= 100; i++) world.spawn(Health{i}, Position{0, 0});
    /* Once, without being kept. */
    auto shared = std::make_shared<int>(2);
    CHECK(world.once(0.5f, [](Position &p, float dt) { p.x += dt; }) == REEF_OK);
    CHECK(world.once(
              0.5f, [shared](Position &p, const Health &h, float by) { p.y += by * float(h.value * *shared); }, 0.5f) ==
          REEF_OK);
    CHECK(shared.use_count() == 1 && world.ticks() == 0 && !world.find_system("once"));
    float x = 0, y = 0;
    CHECK(world.each([](const Position &p, float &to_x, float &to_y) { to_x += p.x, to_y += p.y; }, std::ref(x),
                     std::ref(y)) == REEF_OK);
    CHECK(x == 50 && y == 5050);
    /* Members with arguments, qualified ones, functors that change. */
    Tally tally;
    int calls = 0;
    CHECK(world.system("add", &Tally::add, &tally, 3) && world.system("look", &Tally::look, &tally) &&
          world.system("changing", Changing{&calls}));
    CHECK(world.tick(1) == REEF_OK && tally.sum == 3 * 5050 && calls == 100);
    /* Sums: each job has a part. */
    reef::pool pool(3);
    CHECK(pool && pool.threads() >= 1 && world.use(pool) == REEF_OK);
    world.set_single(Total{});
    for (int i = 0; i < 5000; i++) world.spawn(Health{2});
    CHECK(world.system("sum", [](const Health &h, reef::sums<Total> total) { total->rows++, total->sum += h.value; }));
    CHECK(world.tick(1) == REEF_OK && world.single<Total>()->rows == 5100 && world.single<Total>()->sum == 15050);
    /* Random numbers of rows don't depend on threads or order. */
    std::vector<uint32_t> drawn;
    world.find_system("sum").remove();
    CHECK(world.system(reef::about("draw").in_one_job(),
                       [&drawn](const Position &, reef_random r) { drawn.push_back(reef_random_u32(&r)); }));
    CHECK(world.tick(1) == REEF_OK && drawn.size() == 100 && drawn[0] != drawn[1]);
    /* Several changes by one command. */
    world.system("change", [](reef::entity e, const Position &,
                              reef::commands<reef::adds<Health, Hurt>, reef::removes<Position>> c) {
        c.change(e, Health{1}, reef::tag<Hurt>(), reef::without<Position>());
    });
    CHECK(world.tick(1) == REEF_OK && world.count<Hurt>() == 100 && world.count<Position>() == 0);
    CHECK(reef_set_pool(world.get(), nullptr) == REEF_OK);
    validate(world.get(), __func__);
}

static void test_events_from_outside()
{
    reef::world world;
    auto hits = world.reader<Hit>();
    auto pings = world.reader<Ping>();
    CHECK(hits && pings && !hits.next() && world.post<Hit>(5) == REEF_OK && world.post<Hit>() == REEF_OK &&
          world.post<Ping>() == REEF_OK);
    auto first = hits.next();
    CHECK(first && first->damage == 5);
    reef::event_reader<Hit> moved(std::move(hits));
    auto second = moved.next();
    CHECK(second && second->damage == 1 && !moved.next() && moved.missed() == 0 && !hits && !hits.next());
    CHECK(pings.next() && !pings.next());
    world.spawn(Health{3});
    world.system("send", [](const Health &h, reef::sends<Hit> send) { send(h.value); });
    CHECK(world.tick(1) == REEF_OK && moved.next()->damage == 3);
    validate(world.get(), __func__);
}

static void test_histories()
{
    reef::world world;
    reef::entity e = world.entity("player").add<Position>();
    world.system("move", [](Position &p, float dt) { p.y += dt; });
    reef::history<Keys> past(world, reef::keeping().ticks(20).hashes(),
                             [](reef::world_ref w, uint64_t, const Keys &keys) {
                                 w.find("player").mut<Position>()->x += float(keys.right);
                                 return w.tick(1);
                             });
    CHECK(past);
    for (int i = 0; i < 10; i++) CHECK(past.step(Keys{i}) == REEF_OK);
    const uint64_t end = world.hash();
    CHECK(e.get<Position>()->x == 45 && e.get<Position>()->y == 10 && past.reach().end == 10 &&
          past.input(4)->right == 4);
    CHECK(past.rewind(5) == REEF_OK && e.get<Position>()->x == 10 && past.hash(5) == world.hash());
    CHECK(past.replay(10) == REEF_OK && world.hash() == end);
    CHECK(past.correct(3, Keys{100}) == REEF_OK && e.get<Position>()->x == 142);
    reef::world then = past.fork_at(4);
    CHECK(then && then.get<Position>(e)->x == 103 && !past.fork_at(77));
    reef::history<Keys> moved(std::move(past)), none;
    CHECK(moved && !past && past.step(Keys{}) == REEF_BAD_ARGUMENT && none.rewind(0) == REEF_BAD_ARGUMENT &&
          moved.rewind(2) == REEF_OK);
    /* without a bound */
    moved = reef::history<Keys>(world, reef::keeping(), [](reef::world_ref, uint64_t, const Keys &) {});
    CHECK(!moved && world.error().status == REEF_BAD_ARGUMENT);
    validate(world.get(), __func__);
}

static void test_journals_and_comparing()
{
    const char *path = "test_cpp.journal";
    std::remove(path);
    uint64_t hash = 0;
    reef_entity e;
    {
        reef::world world;
        e = world.entity().add<Position>(1, 2);
        reef::journal j = world.journal(path);
        CHECK(j && j.append() == REEF_OK);
        world.mut<Position>(e)->x = 5;
        CHECK(j.append() == REEF_OK && j.stats().records >= 2);
        reef::journal moved(std::move(j));
        CHECK(!j && j.append() == REEF_BAD_ARGUMENT && moved.compact() == REEF_OK);
        hash = world.hash();
    }
    reef::world again;
    reef::journal j = again.journal(path);
    CHECK(j && again.hash() == hash && again.get<Position>(e)->x == 5);
    j.close();
    CHECK(!j && !again.journal("/nowhere/at/all") && again.error().status == REEF_IO);
    std::remove(path);
    reef::world fork = again.fork();
    reef_difference d;
    CHECK(fork.equals(again, &d) && d.kind == 0);
    fork.mut<Position>(e)->y = 9;
    CHECK(!fork.equals(again, &d) && reef_entity_equal(d.entity, e) && !fork.equals(again));
}

/* Somebody else's struct, as it is. */
static void test_foreign_types()
{
    reef::world world;
    std::tm date = {};
    date.tm_year = 126;
    reef::entity e = world.entity().set(date).add<Position>(1, 2);
    CHECK(e.get<std::tm>()->tm_year == 126 && std::string(reef::type_name<std::tm>()) == "tm");
    uint64_t n = 0;
    for (auto [who, d] : world.view<const std::tm>()) n += who && d.tm_year == 126;
    CHECK(n == 1);
}

void test_more()
{
    test_foreign_types();
    test_names_of_values();
    test_required();
    test_prefabs();
    test_observers();
    test_several_values();
    test_subtypes();
    test_references_and_shared();
    test_changes();
    test_whole_queries_and_many();
    test_D1_D10_once_each_members_sums();
    test_events_from_outside();
    test_histories();
    test_journals_and_comparing();
}
