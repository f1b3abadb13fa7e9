/* What the wrong uses share. */
#include <reef.hpp>
#include <memory>

struct Position {
    float x, y;
};
struct Velocity {
    float x, y;
};
struct Mass {
    float kg;
};
struct Hungry {};
struct Mesh {
    std::unique_ptr<int> handle;
};
struct Locked {
    Locked() = default;
    Locked(Locked &&) = delete;
    int holder;
};
template <class T> struct Box {
    T value;
};

void use(reef::world &w, reef::entity e);
