/* reef.hpp in a program with exceptions: what throws leaves the world as it was, and no loop open. (The other files of
 * this folder are compiled without exceptions.) */
#include "check.hpp"

#include <string>

int failures;

static int alive; /* values of Fickle */

struct Position {
    float x = 0, y = 0;
};
/* Its constructors throw: of a negative number, and of the number 13 when it is copied. */
struct Fickle {
    int number;
    explicit Fickle(int n) : number(n)
    {
        if (n < 0) throw n;
        alive++;
    }
    Fickle(const Fickle &other) : number(other.number)
    {
        if (number == 13) throw number;
        alive++;
    }
    Fickle(Fickle &&other) noexcept : number(other.number) { alive++; }
    Fickle &operator=(const Fickle &) = default;
    ~Fickle() { alive--; }
};
struct Several {
    std::string text;
    explicit Several(const char *from) : text(from)
    {
        if (text.empty()) throw 1;
    }
};
template <> struct reef::options<Several> {
    static constexpr reef_home home = REEF_MULTI;
};

/* The loop ends, and the world goes on. */
static void test_loops()
{
    reef::world world;
    reef::entity e = world.entity().add<Position>(1, 2);
    reef::query<Position> query = world.query<Position>();
    auto fall = [](Position &) { throw 1; };
    int caught = 0;
    auto catches = [&caught, &e](auto loop) {
        try {
            loop();
        } catch (int n) {
            caught += n;
        }
        CHECK(e.add<Fickle>(1) && e.remove<Fickle>());
    };
    catches([&] { world.each(fall); });
    catches([&] { world.each([](Position &, int n) { throw n; }, 2); });
    catches([&] { query.each(fall); });
    catches([&] { query.blocks([](auto...) { throw 1; }); });
    catches([&] {
        for (auto [who, p] : world.view<Position>()) fall(who ? p : p);
    });
    CHECK(caught == 6 && e.destroy() == REEF_OK && world.count() == 0);
    validate(world.get(), __func__);
}

/* A constructor that throws in the world makes the call fail. */
static void test_constructors()
{
    reef::world world;
    reef::entity e = world.entity().add<Position>(1, 2);
    const Fickle thirteen(13);
    CHECK(e.add<Fickle>(-1).status() == REEF_NO_MEMORY && !e.has<Fickle>());
    CHECK(e.set(thirteen).status() == REEF_NO_MEMORY && !e.has<Fickle>());
    CHECK(!world.spawn(thirteen, Position{}) && world.count() == 1);
    CHECK(e.change(thirteen, Position{5, 5}).status() == REEF_NO_MEMORY && e.get<Position>()->x == 1);
    CHECK(e.set(Fickle(2)) && e.set(thirteen).status() == REEF_NO_MEMORY && e.get<Fickle>()->number == 2);
    e.mut<Fickle>()->number = 13;
    CHECK(!e.clone() && world.count() == 1);
    e.mut<Fickle>()->number = 2;
    CHECK(e.clone() && world.count() == 2);
    /* Outside of the world it throws to the caller. */
    CHECK(e.append<Several>("one") && e.get_all<Several>().count == 1);
    int caught = 0;
    try {
        e.append<Several>("");
    } catch (int n) {
        caught += n;
    }
    CHECK(caught == 1 && e.get_all<Several>().count == 1 && e.append<Several>("two"));
    validate(world.get(), __func__);
}

int main()
{
    test_loops();
    test_constructors();
    CHECK(alive == 0);
    std::printf("%s\n", failures ? "FAILED" : "reef.hpp with exceptions: all checks passed");
    return failures != 0;
}
