/* reef: an entity component system whose worlds are values.
 *
 * This header is the manual's skeleton; read the parts in this order.
 *
 *   reef/status.h     what a call answers, and how to read the reason
 *   reef/handle.h     handles of entities, component types and worlds
 *   reef/type.h       declaring components, tags and switches; types made at run time
 *   reef/field.h      what the members of a component's struct are
 *   reef/hooks.h      types that own something: constructing, copying, moving, destroying
 *   reef/memory.h     allocators
 *   reef/limits.h     all limits
 *   reef/world.h      worlds: making, limits, memory, statistics
 *   reef/value.h      lists of components with their values
 *   reef/entity.h     making and destroying entities
 *   reef/component.h  adding, setting, removing and reading the components of entities
 *   reef/enable.h     enabling and disabling components and entities
 *   reef/multi.h      several components of one type on one entity
 *   reef/shared.h     one component that several entities have in common, and that is held from outside
 *   reef/single.h     singletons: what a world has one of
 *   reef/signature.h  sets of component types as values
 *   reef/order.h      by what rows are sorted
 *   reef/sort.h       sorting storage itself
 *   reef/query.h      what one can ask of a world
 *   reef/block.h      blocks and rows: what a loop hands out
 *   reef/loop.h       walking over everything that a query matches
 *   reef/system.h     systems, phases, ticks: functions that reef calls, on any number of threads
 *   reef/track.h      which rows changed, and who lost a component
 *   reef/command.h    how a system changes the structure
 *   reef/event.h      events: sending, receiving
 *   reef/observer.h   what is called when components come, change and go, and when entities match
 *   reef/bulk.h       adding, removing, setting, enabling, destroying for everything that a query matches
 *   reef/snapshot.h   worlds as values: snapshot, restore, fork, hash
 *   reef/save.h       saving worlds and differences to files and memory, and loading them
 *   reef/journal.h    journals: files that grow with each tick
 *   reef/history.h    the last ticks of a world: rewind, replay, late inputs
 *   reef/diff.h       what is different between two worlds
 *   reef/inspect.h    printing, visiting, checking
 *   reef/script.h     code of single entities
 *   reef/merge.h      adding one world's entities to another
 *   reef/random.h     random numbers by seed, tick, system and entity
 *   reef/pool.h       threads for ticks
 *   reef/ref.h        references to components, kept outside of the world
 *   reef/subtype.h    components that are another component as well
 *   reef/plain.h      what is a macro or inlined, as exported functions for other languages
 *
 * What stands in reef/detail/ is the inlined half of the hot calls: for the compiler, not for you.
 *
 * Rules that hold for every call, so that they are said once:
 *
 *   - A world belongs to one thread at a time. Calls that take a `const reef_world *` may run on several threads at
 *     once, as long as nobody calls anything that takes the world without const. Different worlds never disturb each
 *     other.
 *   - Inside of a system only what it declares is touched, and the structure changes by commands:
 *     docs/rules/threads.md.
 *   - A pointer to a component is valid until the next call that takes the same world without const.
 *   - A call that fails changes nothing that can be observed, and says why: see reef/status.h.
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
#include "reef/bulk.h"
#include "reef/snapshot.h"
#include "reef/save.h"
#include "reef/journal.h"
#include "reef/history.h"
#include "reef/diff.h"
#include "reef/inspect.h"
#include "reef/script.h"
#include "reef/merge.h"
#include "reef/random.h"
#include "reef/pool.h"
#include "reef/ref.h"
#include "reef/subtype.h"
#include "reef/plain.h"

#endif
