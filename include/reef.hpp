/* reef for C++17: the same worlds, written as C++. Needs nothing but reef.h, and neither exceptions nor RTTI.
 *
 *     struct Position { float x = 0, y = 0; };
 *     struct Velocity { float x = 0, y = 0; };
 *
 *     reef::world world;
 *     reef::entity fish = world.spawn(Position{0, 0}, Velocity{1, 2});
 *     world.entity("Alice").add<Position>(3, 4).set(Velocity{0, 1});
 *
 *     for (auto [entity, p, v] : world.view<Position, const Velocity>()) p.x += v.x;
 *
 *     world.system("move", [](Position &p, const Velocity &v, float dt) { p.x += v.x * dt; });
 *     world.tick(1.0f / 60);
 *
 * Owning, move-only: reef::world, reef::snapshot, reef::query, reef::history, reef::journal, reef::pool,
 * reef::event_reader, reef::pinned, reef::bytes. Plain values, which own nothing: reef::entity, reef::ref,
 * reef::world_ref, reef::system_ref, reef::observer_ref, reef::span. A reef::view is one walk; it stays where it was
 * made.
 *
 * Any type that can be moved is a component, without a line beside it. Its name is that of the C++ type with its
 * namespaces ("Position", "game::Position"), which is also that of REEF_COMPONENT(Position) in C: the two are one
 * type. What else there is to say of a type stands in reef::options. Types that own something (std::string,
 * std::unique_ptr) get their hooks from their own constructors and destructor; what can't be copied is refused by
 * clones, forks and snapshots, by name. Empty structs, and those that are only declared, are tags.
 *
 * Calls answer as those of C do (reef/status.h), and so do the rules for pointers and threads. What throws in a
 * constructor fails its call with NO_MEMORY; what throws in a system, a move or a destructor ends the program. */
#ifndef REEF_HPP
#define REEF_HPP

#include "reef.h"
#include "reef/cpp/type.hpp"
#include "reef/cpp/entity.hpp"
#include "reef/cpp/query.hpp"
#include "reef/cpp/system.hpp"
#include "reef/cpp/world.hpp"
#include "reef/cpp/history.hpp"

#endif
