/* reef: an entity component system whose worlds are values.
 *
 * This header includes all others, in the order in which they are best read.
 *
 *   reef/status.h     status codes: what a call returns, and why a call fails
 *   reef/handle.h     handles of entities, component types and worlds
 *   reef/type.h       declaring components, tags and switches; types made at run time
 *   reef/required.h   components that come along with another one
 *   reef/field.h      fields: the members of a component's struct
 *   reef/hooks.h      types that own something: constructing, copying, moving, destroying
 *   reef/memory.h     allocators
 *   reef/limits.h     all limits
 *   reef/world.h      worlds: making them, the last error, memory, statistics, names
 *   reef/value.h      lists of components with their values
 *   reef/entity.h     making and destroying entities
 *   reef/component.h  adding, setting, removing and reading the components of entities
 *   reef/enable.h     enabling and disabling components and entities
 *   reef/multi.h      several components of one type on one entity
 *   reef/shared.h     one value that several entities have in common, and that code outside of the world may hold
 *   reef/single.h     singletons: components of which a world has one
 *   reef/signature.h  sets of component types as values
 *   reef/order.h      orders: what rows are sorted by
 *   reef/sort.h       sorting the rows of tables
 *   reef/query.h      queries: which entities a loop visits
 *   reef/block.h      blocks and rows: what a loop visits, and how to reach the values
 *   reef/loop.h       loops over everything that a query matches
 *   reef/system.h     systems, phases, ticks: functions that reef calls, on any number of threads
 *   reef/track.h      which rows changed, and which entities lost a component
 *   reef/command.h    commands: how a system changes the structure
 *   reef/event.h      events: sending, receiving
 *   reef/observer.h   functions that are called when components are added, changed and removed, or entities match
 *   reef/schedule.h   what a schedule contains, for tools
 *   reef/bulk.h       one call that adds, removes, sets, enables or destroys for everything that a query matches
 *   reef/snapshot.h   worlds as values: snapshot, restore, fork, hash
 *   reef/save.h       saving worlds and differences to files and memory, and loading them
 *   reef/journal.h    journals: files that grow with each tick
 *   reef/history.h    the last ticks of a world: rewind, replay, late inputs
 *   reef/diff.h       what is different between two worlds
 *   reef/inspect.h    printing, visiting, checking
 *   reef/trace.h      which system ran when and on which thread, for profilers
 *   reef/script.h     scripts: code that belongs to a single entity
 *   reef/merge.h      adding one world's entities to another
 *   reef/random.h     random numbers by seed, tick, system and entity
 *   reef/pool.h       threads for ticks
 *   reef/relation.h   relations: an entity as the target of a component
 *   reef/hierarchy.h  hierarchies: children and parents
 *   reef/prefab.h     templates of entities with children, and copies of them
 *   reef/ref.h        references to components, which are kept outside of the world
 *   reef/subtype.h    components that also count as another component
 *   reef/plain.h      macros and inlined functions as exported functions, for other languages
 *
 * The headers in reef/detail/ are the inlined half of the calls that must be fast. They are not part of the interface.
 *
 * These rules hold for every call:
 *
 *   - A world may be used by one thread at a time. Calls that take a `const reef_world *` may run on several threads at
 *     once, as long as no thread calls anything that takes the world without const. Different worlds never disturb each
 *     other.
 *   - A system touches only what it declares, and changes the structure by commands: docs/rules/threads.md.
 *   - A pointer to a component is valid until the next call that takes the same world without const.
 *   - A call that fails changes nothing that can be observed, and reports the reason: see reef/status.h.
 *   - {0} of every handle and every description struct means "none" or "the default". */
#ifndef REEF_H
#define REEF_H

/* The version of these headers. */
#define REEF_VERSION_MAJOR 0
#define REEF_VERSION_MINOR 1
#define REEF_VERSION_PATCH 0

#include "reef/compiler.h"
#include "reef/status.h"
#include "reef/handle.h"
#include "reef/type.h"
#include "reef/required.h"
#include "reef/field.h"
#include "reef/hooks.h"
#include "reef/memory.h"
#include "reef/limits.h"
#include "reef/world.h"
#include "reef/value.h"
#include "reef/entity.h"
#include "reef/component.h"
#include "reef/enable.h"
#include "reef/multi.h"
#include "reef/shared.h"
#include "reef/single.h"
#include "reef/signature.h"
#include "reef/order.h"
#include "reef/sort.h"
#include "reef/query.h"
#include "reef/block.h"
#include "reef/loop.h"
#include "reef/system.h"
#include "reef/track.h"
#include "reef/command.h"
#include "reef/event.h"
#include "reef/observer.h"
#include "reef/schedule.h"
#include "reef/bulk.h"
#include "reef/snapshot.h"
#include "reef/save.h"
#include "reef/journal.h"
#include "reef/history.h"
#include "reef/diff.h"
#include "reef/inspect.h"
#include "reef/trace.h"
#include "reef/script.h"
#include "reef/merge.h"
#include "reef/random.h"
#include "reef/pool.h"
#include "reef/relation.h"
#include "reef/hierarchy.h"
#include "reef/reach.h"
#include "reef/prefab.h"
#include "reef/ref.h"
#include "reef/subtype.h"
#include "reef/plain.h"

#endif
