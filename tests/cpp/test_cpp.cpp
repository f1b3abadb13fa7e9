/* reef.hpp. Row ids of what has to be shown stand at the checks. */
#include "check.hpp"

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "types.h"

int failures;

struct Position {
    float x = 0, y = 0;
};
struct Velocity {
    float x, y;
};
struct Health {
    int value = 100;
};
struct Frozen {};
REEF_TAG(OnlyTag); /* as in types.c */
struct Awake {};
REEF_CPP_IN(Awake, REEF_BIT);
struct Gravity {
    float y;
};
struct Hit {
    reef_entity who;
    int damage;
};
namespace game {
struct Position {
    int column;
};
} // namespace game
struct Renamed {
    int value;
};
REEF_CPP_NAME(Renamed, "renamed.in.files");
template <class T> struct Box {
    T value;
};
template <> struct reef::options<Box<int>> {
    static constexpr const char *name = "Box<int>";
    static constexpr reef_home home = REEF_PAGED;
    static constexpr uint32_t page_rows = 64;
};
struct Mark {
    int32_t level;
};
template <> struct reef::options<Mark> {
    static constexpr reef_home home = REEF_COLD;
    static constexpr reef_field fields[] = {REEF_FIELDS_OF(Mark, (level, "levels", 0, 9))};
};
struct Moving {
    float speed;
};
struct AxisMoving : Moving {
    AxisMoving() = default;
    AxisMoving(float s, float a) : Moving{s}, axis(a) {}
    float axis = 0;
};
template <> struct reef::options<AxisMoving> {
    using base = Moving;
};

/* Counts what lives, and can be told to refuse. */
struct Counted {
    static inline int alive, copies, moves, made;
    int value;
    explicit Counted(int v = 7) : value(v) { alive++, made++; }
    Counted(const Counted &other) : value(other.value) { alive++, copies++; }
    Counted(Counted &&other) noexcept : value(other.value) { alive++, moves++, other.value = -1; }
    Counted &operator=(const Counted &) = default;
    ~Counted() { alive--; }
};
/* Knows its own address, as some standard strings do. */
struct Own {
    Own *self;
    int value;
    explicit Own(int v) : self(this), value(v) {}
    Own(const Own &) = delete;
    Own(Own &&other) noexcept : self(this), value(other.value) {}
    ~Own() { CHECK(self == this); }
};
struct Label {
    std::string text;
};
struct Texture {
    std::unique_ptr<int> handle;
};

static void test_chains()
{
    reef::world world;
    reef::entity alice = world.entity("Alice").add<Position>(3, 4).set(Velocity{1, 2}).add<Frozen>();
    CHECK(alice.get<Position>()->x == 3 && alice.get<Velocity>()->y == 2 && alice.has<Frozen>());
    CHECK(world.entity("Alice") == alice && world.find("Alice") == alice && !world.find("Bob"));
    CHECK(std::strcmp(alice.name(), "Alice") == 0);
    /* The first failure of an expression is its status, and what follows is done all the same. */
    auto changed = alice.add<Position>(9, 9).add<Health>();
    CHECK(changed.status() == REEF_EXISTS && !changed && alice.has<Health>() && alice.get<Health>()->value == 100);
    CHECK(alice.get<Position>()->x == 3);
    CHECK(alice.set<Position>(5, 6).status() == REEF_OK && alice.get<Position>()->y == 6);
    CHECK(alice.remove<Velocity>().status() == REEF_OK && alice.get<Velocity>() == nullptr &&
          alice.mut<Velocity>() == nullptr);
    CHECK(alice.remove<Velocity>().status() == REEF_ABSENT);
    alice.mut<Position>()->x = 8;
    CHECK(world.get<Position>(alice)->x == 8);
    CHECK(alice.ensure<Velocity>()->x == 0 && alice.ensure<Health>()->value == 100);
    /* Several in one step. */
    const reef_stats before = reef_world_stats(world.get());
    CHECK(alice.change(Velocity{7, 7}, reef::without<Health>(), reef::without<Frozen>(), reef::tag<Awake>()));
    CHECK(reef_world_stats(world.get()).moved == before.moved + 1);
    CHECK(!alice.has<Health>() && !alice.has<Frozen>() && alice.has<Awake>() && alice.get<Velocity>()->x == 7);
    reef::entity bob = world.spawn(Position{1, 1}, Frozen(), reef::tag<OnlyTag>(), game::Position{4});
    CHECK(bob && bob.has<OnlyTag>() && bob.has<Frozen>() && bob.get<game::Position>()->column == 4);
    CHECK(bob.rename("Alice").status() == REEF_NAME_TAKEN && bob.rename("Bob").status() == REEF_OK &&
          world.find("Bob") == bob);
    CHECK(bob.disable<Position>() && !bob.is_enabled<Position>() && bob.enable<Position>() &&
          bob.is_enabled<Position>());
    CHECK(bob.disable() && !bob.is_enabled() && bob.enable());
    CHECK(bob.clone().get<Position>()->x == 1);
    /* Null and dead ones are refused. */
    const uint64_t hash = world.hash();
    reef::entity none;
    CHECK(!none && none.get<Position>() == nullptr && none.mut<Position>() == nullptr && !none.has<Position>() &&
          none.name() == nullptr);
    CHECK(none.add<Position>().status() == REEF_NOT_ALIVE && none.set(Velocity{1, 1}).status() == REEF_NOT_ALIVE);
    CHECK(none.destroy() == REEF_NOT_ALIVE && !none.clone() && none.change(Velocity{1, 1}).status() == REEF_NOT_ALIVE);
    CHECK(world.hash() == hash);
    CHECK(bob.destroy() == REEF_OK && bob.destroy() == REEF_NOT_ALIVE && !bob && bob.get<Position>() == nullptr);
    CHECK(bob.add<Position>().status() == REEF_NOT_ALIVE && bob.ensure<Position>() == nullptr);
    CHECK(world.entity("").handle().generation == 0);
    reef_entity three[3];
    CHECK(world.spawn_many(3, three, Position{2, 2}, Frozen()) == REEF_OK && world.get<Position>(three[2])->x == 2);
    CHECK(world.count<Frozen>() == 4 && world.clear() == REEF_OK && world.count() == 0);
    validate(world.get(), __func__);
}

static void test_names_and_one_type_with_C()
{
    reef::world world;
    CHECK(std::strcmp(reef::type_name<Position>(), "Position") == 0);
    CHECK(std::strcmp(reef::type_name<game::Position>(), "game::Position") == 0);
    CHECK(std::strcmp(reef::type_name<Renamed>(), "renamed.in.files") == 0);
    CHECK(reef::id<Position>().id != reef::id<game::Position>().id);
    CHECK(reef::id<Shared>().id == c_shared().id && reef::id<OnlyTag>().id == c_only_tag().id);
    CHECK(reef::id<Burning>().id == c_burning().id);
    reef_type_info info;
    CHECK(reef_type_get(reef::id<Shared>(), &info) && info.field_count == 2);
    CHECK(reef_type_get(reef::id<Burning>(), &info) && info.home == REEF_SPARSE);
    CHECK(reef_type_get(reef::id<Awake>(), &info) && info.home == REEF_BIT && info.size == 0);
    CHECK(reef_type_get(reef::id<Box<int>>(), &info) && info.home == REEF_PAGED && info.page_rows == 64);
    CHECK(reef_type_get(reef::id<Mark>(), &info) && info.home == REEF_COLD && info.field_count == 1 &&
          info.fields[0].highest == 9);
    CHECK(reef_type_get(reef::id<Position>(), &info) && info.hooks == nullptr && info.size == 8);
    /* Names of C++ types are words of queries. */
    reef_query q = reef_query_new(world.get(), "Position, in game::Position, !Frozen");
    CHECK(!reef_query_is_null(q));
    reef_query_free(world.get(), q);
    for (int i = 0; i < 4; i++) world.spawn(Shared{float(i), 0}, Burning{1});
    CHECK(c_sum(world.get()) == 6);
    reef::entity e = world.spawn(Box<int>{4}, Mark{3});
    CHECK(e.get<Box<int>>()->value == 4 && e.mut<Mark>()->level == 3 && e.has<Mark>() && !e.has<Burning>());
    CHECK(e.set(Burning{2}) && e.get<Burning>()->left == 2 && e.mut<Burning>()->left == 2 && e.remove<Burning>());
    /* What contradicts C's word has no id, and says so. */
    CHECK(reef::id<Narrow>().id == 0 && e.set(Narrow{1}).status() == REEF_UNKNOWN_TYPE);
    CHECK(reef_declare_error() && std::strstr(reef_declare_error(), "Narrow") != nullptr);
    /* B6: a subtype by deriving. */
    reef::entity lift = world.spawn(AxisMoving(4, 1));
    CHECK(lift.get<Moving>()->speed == 4 && lift.get<AxisMoving>()->axis == 1);
    validate(world.get(), __func__);
}

static void test_types_that_own()
{
    Counted::alive = Counted::copies = Counted::moves = Counted::made = 0;
    {
        reef::world world;
        reef_quarantine(world.get(), 0); /* nothing moves but what has to */
        reef::entity e = world.entity().add<Counted>(3);
        /* B5: in its place */
        CHECK(Counted::made == 1 && Counted::copies == 0 && Counted::moves == 0 && Counted::alive == 1);
        CHECK(e.add<Counted>(4).status() == REEF_EXISTS && e.get<Counted>()->value == 3 && Counted::alive == 1);
        e.add<Position>(); /* a move to another table */
        CHECK(Counted::moves == 1 && Counted::alive == 1 && e.get<Counted>()->value == 3);
        CHECK(e.set(Counted(5)).status() == REEF_OK);
        CHECK(e.get<Counted>()->value == 5 && Counted::alive == 1);
        reef::entity f = e.clone();
        CHECK(Counted::alive == 2 && f.get<Counted>()->value == 5);
        CHECK(world.entity().ensure<Counted>()->value == 7 && Counted::alive == 3);
        reef::world other = world.fork();
        CHECK(other && other.get<Counted>(e)->value == 5);
        other.mut<Counted>(e)->value = 6;
        CHECK(e.get<Counted>()->value == 5);
        f.remove<Counted>();
        reef::snapshot kept = world.snapshot();
        e.destroy();
        CHECK(world.restore(kept) == REEF_OK && e.get<Counted>()->value == 5);
        validate(world.get(), __func__);
    }
    CHECK(Counted::alive == 0);
    {
        reef::world world;
        reef::entity e = world.spawn(Label{"a text that is too long for its own place"}, Position{1, 1});
        e.add<Health>().remove<Position>();
        CHECK(e.get<Label>()->text == "a text that is too long for its own place");
        CHECK(e.set<Label>("another text that is too long for its place") && e.clone().get<Label>()->text[0] == 'a');
        CHECK(world.entity().add<Label>("made in its place").get<Label>()->text == "made in its place");
        /* What can only be moved. */
        reef::entity t = world.spawn(Texture{std::make_unique<int>(5)}, Health{});
        CHECK(*t.get<Texture>()->handle == 5);
        t.set(Texture{std::make_unique<int>(6)}).remove<Health>();
        CHECK(*t.get<Texture>()->handle == 6);
        CHECK(world.entity().add<Texture>(std::make_unique<int>(7)).add<Position>().get<Texture>()->handle != nullptr);
        CHECK(t.change(Texture{std::make_unique<int>(8)}, Position{1, 1}) && *t.get<Texture>()->handle == 8);
        reef::entity dead = world.entity();
        dead.destroy();
        CHECK(dead.set(Texture{std::make_unique<int>(9)}).status() == REEF_NOT_ALIVE); /* the value isn't leaked */
        CHECK(dead.add<Texture>(std::make_unique<int>(9)).status() == REEF_NOT_ALIVE);
        CHECK(!t.clone() && world.error().status == REEF_NOT_COPYABLE &&
              world.error().component.id == reef::id<Texture>().id);
        CHECK(!world.fork() && world.error().component.id == reef::id<Texture>().id && !world.snapshot());
        /* Values that know where they are. */
        reef::entity o = world.spawn(Own(4), Position{0, 0});
        for (int i = 0; i < 20; i++) world.spawn(Own(i), Position{0, 0});
        o.remove<Position>();
        CHECK(o.get<Own>()->self == o.get<Own>() && o.get<Own>()->value == 4);
        CHECK(o.ensure<Own>() == o.get<Own>());
        reef::entity p = world.entity();
        /* it can't be made of nothing */
        CHECK(p.ensure<Own>() == nullptr && world.error().status == REEF_BAD_ARGUMENT);
        CHECK(world.set_single(Texture{std::make_unique<int>(1)}) == REEF_ADDED &&
              *world.single<Texture>()->handle == 1);
        validate(world.get(), __func__);
    }
}

static void many(reef::world &world)
{
    for (int i = 0; i < 2500; i++) {
        reef::entity e = world.spawn(Position{float(i), 0}, Velocity{1, 2});
        if (i % 3 == 0) e.add<Health>(i);
        if (i % 7 == 0) e.add<Awake>();
        if (i % 500 == 0) e.add<Frozen>();
    }
}

static void test_views()
{
    reef::world world;
    many(world);
    uint64_t rows = 0;
    for (int round = 0; round < 2; round++)
        for (auto [entity, p, v] : world.view<Position, const Velocity>()) {
            static_assert(std::is_same_v<decltype(p), Position &> && std::is_same_v<decltype(v), const Velocity &>);
            p.x += v.x;
            rows += entity.is_alive();
        }
    CHECK(rows == 5000);
    float sum = 0;
    world.view<const Position>().each([&](const Position &p) { sum += p.x; });
    CHECK(sum == 2500.0f * 2499 / 2 + 5000);
    /* Optional ones, filters, switches (where single rows match), in every way to walk. */
    uint64_t there = 0, missing = 0, switched = 0, in_runs = 0, in_blocks = 0;
    for (auto [entity, p, health] : world.view<Position, const Health *, reef::without<Frozen>>()) {
        static_assert(std::is_same_v<decltype(health), const Health *>);
        CHECK(health == entity.get<Health>() && !entity.has<Frozen>());
        (health ? there : missing)++;
        (void)p;
    }
    CHECK(there == 834 - 2 && missing == 1666 - 3);
    for (auto [entity, p] : world.view<const Position, Awake>()) {
        CHECK(entity.has<Awake>() && &p == entity.get<Position>());
        switched++;
    }
    CHECK(switched == 358);
    auto view = world.view<const Position, reef::with<Velocity>, Awake>();
    for (auto [entities, p] : view.runs()) {
        CHECK(entities.count == p.count && &p[0] == world.get<Position>(entities[0]));
        for (reef_entity e : entities) in_runs += world.has<Awake>(e);
    }
    view.blocks([&](reef::span<const reef_entity> entities, reef::span<const Position> p) {
        in_blocks += entities.size(), (void)p;
    });
    CHECK(in_runs == switched && in_blocks == switched);
    rows = 0;
    view.each([&](reef::entity e, const Position &p) { rows += e.has<Awake>() && &p == e.get<Position>(); });
    CHECK(rows == switched);
    validate(world.get(), __func__);
}

/* Structural changes wait for the end of the loop. */
static void test_deferred_views()
{
    reef::world world;
    for (int i = 0; i < 100; i++) world.spawn(Position{(float)i, 0}, Health{i});
    int seen = 0;
    for (auto [e, p] : world.deferred<const Position>()) {
        if (p.x < 50) CHECK(e.destroy() == REEF_OK && e);
        else CHECK(e.add<Mark>().status() == REEF_OK && !e.has<Mark>());
        seen++;
    }
    CHECK(seen == 100 && world.view<Position>().count() == 50 && world.view<Mark>().count() == 50);
    auto marked = world.query<const Mark>();
    marked.deferred().each([](reef::entity e, const Mark &) { e.remove<Mark>(); });
    CHECK(!marked.any());
    reef::world_ref same(world.get());
    for (auto [e, p] : same.deferred<const Position>())
        if (p.x < 60) e.destroy();
    CHECK(world.view<Position>().count() == 40);
    for (auto [e, p] : world.view<const Position>()) { /* the same list of components */
        CHECK(e.destroy() == REEF_LOCKED && p.x >= 60);
        break;
    }
    CHECK(world.view<Position>().count() == 40);
    validate(world.get(), __func__);
}

static void test_open_and_kept_views()
{
    reef::world world;
    many(world);
    uint64_t rows = 0;
    /* While a walk is open the structure is locked, also behind a break; then it isn't. */
    for (auto [entity, p] : world.view<Position>()) {
        (void)p;
        CHECK(entity.add<Gravity>().status() == REEF_LOCKED);
        break;
    }
    CHECK(world.entity().add<Gravity>());
    /* What is const doesn't mark anything as changed. */
    const uint64_t then = reef_version(world.get());
    for (auto [entity, p] : world.view<const Position>()) (void)entity, (void)p;
    reef_query changed = reef_query_new(world.get(), "changed in Position");
    const reef_loop since = {0, 0, then, false, 0, false};
    rows = 0;
    for (reef_block b = reef_begin_loop(world.get(), changed, &since); reef_next(&b);) rows += b.count;
    CHECK(rows == 0);
    for (auto [entity, p] : world.view<Position>()) (void)entity, (void)p;
    for (reef_block b = reef_begin_loop(world.get(), changed, &since); reef_next(&b);) rows += b.count;
    CHECK(rows == 2500);
    reef_query_free(world.get(), changed);
    /* A query that is kept; one inside of the other. */
    reef::query<const Position, const Velocity> q = world.query<const Position, const Velocity>();
    reef::query<const Position, const Velocity> taken(std::move(q));
    CHECK(taken && !q && taken.count() == 2500 && taken.any() && taken.matches(taken.first()));
    auto asked = world.view<const Position, const Velocity>();
    CHECK(asked.count() == 2500 && asked.any() && asked.first() == taken.first() && asked.matches(asked.first()));
    CHECK(!asked.single() && world.error().status == REEF_AMBIGUOUS && !asked.matches(world.entity()));
    rows = 0;
    for (auto [a, pa, va] : taken.rows()) {
        (void)pa, (void)va;
        if (++rows > 2) break;
        uint64_t inner = 0;
        for (auto [b, pb, vb] : taken.rows()) inner += b.is_alive(), (void)pb, (void)vb;
        CHECK(inner == 2500 && a);
    }
    /* A world that another owns; where nothing matches; a type whose struct lies nowhere. */
    reef::world_ref ref(world.get());
    rows = 0;
    for (auto [entity, g] : ref.view<const Gravity>()) rows += g.y == 0 && entity;
    CHECK(rows == 1);
    CHECK(ref.each([&](reef::entity, const Gravity &, reef::without<Position>) { rows++; }) == REEF_OK && rows == 2);
    for (auto [entity, h] : ref.view<Hit>()) CHECK(!entity || h.damage);
    validate(world.get(), __func__);
}

static void drift(Position &p, const Velocity &v, float dt) { p.x += v.x * dt; }
static void drift_noexcept(Position &p, const Velocity &v, float dt, const float &factor) noexcept
{
    p.x += v.x * dt * factor;
}

struct Counter {
    uint64_t rows = 0;
    void count(const Position &) { rows++; }
    void both(const Position &p, const Velocity &) const { CHECK(p.x == p.x); }
};
struct Functor {
    float factor;
    void operator()(reef::span<Position> p, reef::span<const Velocity> v, float dt) const
    {
        for (uint32_t i = 0; i < p.count; i++) p[i].y += v[i].y * dt * factor;
    }
};

static bool declares(reef_world *w, const char *what)
{
    static char text[8192];
    reef_schedule_explain(w, REEF_EXPLAIN_TEXT, text, sizeof text);
    return std::strstr(text, what) != nullptr;
}

static void test_systems()
{
    reef::world world;
    reef::entity e = world.spawn(Position{0, 0}, Velocity{1, 2});
    for (int i = 0; i < 2000; i++) world.spawn(Position{0, 0}, Velocity{1, 2}, Health{i});
    uint64_t seen = 0, runs = 0;
    Counter counter;
    CHECK(world.system("lambda", [](Position &p, const Velocity &v, float dt) { p.x += v.x * dt; }));
    CHECK(world.system("function", drift));
    CHECK(world.system("bound", drift_noexcept, 2.0f)); /* the last parameter is the argument */
    CHECK(world.system("captures", [&seen](reef::entity x, const Position &p) { seen += x.get<Position>() == &p; }));
    CHECK(world.system(
        "mutable", [n = 0](const Velocity &, uint64_t &out) mutable { out = uint64_t(++n); }, std::ref(runs)));
    CHECK(world.system("functor", Functor{3}));
    CHECK(world.system("member", &Counter::count, &counter));
    CHECK(world.system("member_const", &Counter::both, &counter));
    CHECK(world.system("block", [](reef_block &b, const Position &p) { CHECK(b.count >= 1 && p.x >= 0); }));
    uint64_t with_health = 0, without = 0;
    CHECK(world.system(reef::about("optional").in_one_job(),
                       [&](const Position &, const Health *h) { (h ? with_health : without)++; }));
    CHECK(!world.system("function", drift) && world.error().status == REEF_EXISTS);
    CHECK(!world.system(reef::about("nowhere").in("no_such_phase"), drift) &&
          world.error().status == REEF_BAD_ARGUMENT);
    CHECK(world.tick(0.5f) == REEF_OK);
    CHECK(e.get<Position>()->x == 0.5f + 0.5f + 1 && e.get<Position>()->y == 3);
    CHECK(seen == 2001 && runs == 2001 && counter.rows == 2001 && with_health == 2000 && without == 1);
    /* What is const is declared as read. */
    CHECK(declares(world.get(), "Velocity"));
    reef::system_ref s = world.find_system("lambda");
    CHECK(s && s.is_enabled() && s.enable(false) == REEF_OK && !s.is_enabled() && std::strcmp(s.name(), "lambda") == 0);
    CHECK(world.find_system("function").remove() == REEF_OK && !world.find_system("function"));
    const float before = e.get<Position>()->x;
    CHECK(world.tick(0.5f) == REEF_OK && e.get<Position>()->x == before + 1);
    validate(world.get(), __func__);
}

/* Same words, once each: what a system touches beside its rows. */
static void test_D3_D6_touches()
{
    reef::world world;
    world.set_single(Gravity{-2});
    reef::entity target = world.spawn(Health{10});
    for (int i = 0; i < 4; i++) world.spawn(Position{0, 0}, Velocity{0, float(i)}, reef::tag<Awake>());
    world.system("fall", [](Velocity &v, reef::reads<Gravity> r, float dt) { v.y += r.single<Gravity>()->y * dt; });
    world.system("fight", [target](reef::entity e, const Velocity &v, const reef::sends<Hit> &send) {
        if (v.y < 0) send(reef_entity(e), 2);
        CHECK(target);
    });
    world.system(
        "hurt",
        [](reef::receives<Hit> hits, reef::writes<Health> w, reef_entity who) {
            CHECK(hits.count() == 2);
            for (const Hit &hit : hits) w.mut<Health>(who)->value -= hit.damage;
        },
        target.handle());
    world.system("gone", [](reef::entity e, const Velocity &v,
                            reef::commands<reef::destroys, reef::spawns<Position, Frozen>, reef::adds<Mark>> c) {
        if (v.y < 0) c.destroy(e), c.spawn(Position{1, 1}, reef::tag<Frozen>());
        else c.set(e, Mark{1});
    });
    CHECK(declares(world.get(), "Gravity"));
    CHECK(world.tick(1) == REEF_OK);
    CHECK(target.get<Health>()->value == 6);
    CHECK(world.count<Velocity>() == 2 && world.count<Frozen>() == 2 && world.count<Mark>() == 2);
    /* What is kept is freed once, with the last world that has the system. */
    auto shared = std::make_shared<int>(1);
    {
        reef::world mine;
        mine.spawn(Position{});
        mine.system("keeps", [shared](Position &p) { p.x += float(*shared); });
        mine.system("keeps", [shared](Position &p) { p.x += float(*shared); }); /* refused: the name is taken */
        CHECK(shared.use_count() == 2);
        reef::world fork = mine.fork();
        mine = reef::world();
        CHECK(shared.use_count() == 2 && fork.tick(1) == REEF_OK);
    }
    CHECK(shared.use_count() == 1);
    /* Split into jobs on several threads: the same state as on one. */
    reef_pool_config config = {};
    config.threads = 3;
    reef_pool *pool = reef_pool_new(&config);
    uint64_t hash[2];
    for (int threads = 0; threads < 2; threads++) {
        reef::world w;
        for (int i = 0; i < 5000; i++) w.spawn(Position{float(i), 0}, Velocity{0.5f, 0.25f});
        w.system("move", [](Position &p, const Velocity &v, float dt) { p.x += v.x * dt, p.y += p.x * v.y; });
        w.system("spark", [](const Position &p, reef::commands<reef::spawns<Mark>> c) {
            if (p.x > 4990) c.spawn(Mark{int32_t(p.x)});
        });
        if (threads) CHECK(reef_set_pool(w.get(), pool) == REEF_OK);
        for (int i = 0; i < 3; i++) CHECK(w.tick(0.125f) == REEF_OK);
        hash[threads] = w.hash();
        validate(w.get(), __func__);
    }
    CHECK(hash[0] == hash[1] && hash[0] != 0);
    reef_pool_free(pool);
}

static void test_run_if()
{
    reef::world world;
    reef::entity e = world.spawn(Health{0});
    auto grow = [](Health &h) { h.value++; };
    world.set_single(Mark{1});
    CHECK(world.system(reef::about("even").run_if([](const reef::world_ref &w) { return w.ticks() % 2 == 0; }), grow));
    CHECK(
        world.system(reef::about("level").run_if([](const reef::world_ref &w) { return w.single<Mark>()->level > 1; }),
                     [](Health &h) { h.value += 100; }));
    for (int i = 0; i < 4; i++) CHECK(world.tick(1) == REEF_OK);
    CHECK(e.get<Health>()->value == 2);
    reef::world fork = world.fork();
    fork.single_mut<Mark>()->level = 2;
    CHECK(fork.tick(1) == REEF_OK && world.tick(1) == REEF_OK);
    CHECK(fork.get<Health>(e)->value == 102 && e.get<Health>()->value == 2);
}

static void test_worlds_as_values()
{
    reef::world world;
    reef::entity e = world.spawn(Shared{1, 2}, Mark{4});
    reef::snapshot s = world.snapshot();
    reef::snapshot moved(std::move(s));
    CHECK(moved && !s);
    const uint64_t hash = world.hash();
    auto shared = world.query<const Shared>();
    reef::world fork = world.fork(), other = moved.fork();
    CHECK(fork.hash() == hash && other.hash() == hash);
    fork.mut<Shared>(e)->x = 9;
    CHECK(e.get<Shared>()->x == 1 && fork.hash() != hash);
    float x = 0;
    for (auto [found, value] : shared.rows(fork.get())) x += (float)value.x, CHECK(found.world() == fork.get());
    CHECK(x == 9 && shared.first().get<Shared>()->x == 1);
    CHECK(reef_query_count(other.get(), shared) == 0 && other.error().status == REEF_OTHER_WORLD); /* it came later */
    e.destroy();
    CHECK(world.restore(moved) == REEF_OK && world.hash() == hash && e);
    reef::bytes file = world.save_bytes();
    CHECK(file && file.size() > 0);
    reef::world loaded;
    CHECK(loaded.load_bytes(file.data(), file.size()) == REEF_OK && loaded.hash() == hash &&
          loaded.get<Mark>(e)->level == 4);
    CHECK(loaded.load_bytes(file.data(), file.size() - 1) < 0 && loaded.hash() == hash);
    /* Owning and not. */
    reef::world owner(std::move(loaded));
    CHECK(owner && !loaded && owner.hash() == hash);
    reef_world *c = owner.release();
    CHECK(!owner && reef_hash(c) == hash);
    /* A null world refuses: one that was moved from or released, or a failed fork. */
    for (reef::world *null : {&owner, &loaded}) {
        CHECK(!null->entity() && !null->entity("nobody") && !null->spawn(Mark{1}) && null->tick(1) < 0);
        CHECK(!null->get<Mark>(e) && !null->mut<Mark>(e) && !null->has<Mark>(e) && !null->fork());
        CHECK(null->add<Mark>(e, 1) < 0 && null->set(e, Mark{1}) < 0 && !null->ensure<Mark>(e));
        CHECK(!null->view<Mark>().first() && null->view<Mark>().count() == 0);
    }
    reef::world again(c);
    CHECK(again.single<Gravity>() == nullptr && again.set_single(Gravity{1}) == REEF_ADDED &&
          again.single_mut<Gravity>()->y == 1);
    CHECK(again.has_single<Gravity>() && again.remove_single<Gravity>() == REEF_OK && !again.has_single<Gravity>());
    validate(again.get(), __func__);
}

int main()
{
    test_chains();
    test_names_and_one_type_with_C();
    test_types_that_own();
    test_views();
    test_deferred_views();
    test_open_and_kept_views();
    test_systems();
    test_D3_D6_touches();
    test_run_if();
    test_worlds_as_values();
    test_more();
    test_find();
    test_relations();
    std::printf("%s\n", failures ? "FAILED" : "reef.hpp: all checks passed");
    return failures != 0;
}
