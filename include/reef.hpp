/* reef for C++17: a header on top of the C library. It needs nothing but reef.h, and neither exceptions nor RTTI.
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
 * These types own something and can only be moved: reef::world, reef::snapshot, reef::query, reef::history,
 * reef::journal, reef::pool, reef::event_reader, reef::pinned, reef::bytes. These are plain values, which own nothing:
 * reef::entity, reef::ref, reef::world_ref, reef::system_ref, reef::observer_ref, reef::index, reef::place, reef::span.
 * A reef::view is one loop; it can't be copied or moved.
 *
 * Any type that can be moved can be a component, without a declaration. Its name is that of the C++ type with its
 * namespaces ("Position", "game::Position"). REEF_COMPONENT(Position) in C has the same name, so the two are one type.
 * Everything else that a type can declare, such as its home and its fields, is in reef::options. Types that own
 * something (std::string, std::unique_ptr) get their hooks from their own constructors and destructor; clones, forks
 * and snapshots refuse a type that can't be copied, and the error names it. Empty structs, and those that are only
 * declared, are tags.
 *
 * Calls return what those of C return (reef/status.h), and the same rules for pointers and threads hold. When a
 * constructor throws in the world, the call fails with NO_MEMORY; when one throws that makes an argument, or the value
 * of append() or post(), nothing is changed, and the caller gets the exception. The caller also gets one that leaves a
 * loop over a view, or the function of each() or blocks(), and the loop is closed. When a system, an observer, the
 * function of place::pairs(), a move or a destructor throws, the program ends. */
#ifndef REEF_HPP
#define REEF_HPP

#include "reef/all.h"
#include "reef/cpp/type.hpp"
#include "reef/cpp/entity.hpp"
#include "reef/cpp/find.hpp"
#include "reef/cpp/relation.hpp"
#include "reef/cpp/query.hpp"
#include "reef/cpp/system.hpp"
#include "reef/cpp/world.hpp"
#include "reef/cpp/history.hpp"

#endif
