/* reef: an entity component system whose worlds are values.
 *
 * This header is the manual's skeleton; read the parts in this order.
 *
 *   reef/status.h   what a call answers, and how to read the reason
 *   reef/type.h     handles, declaring components, tags, fields and hooks
 *   reef/world.h    worlds: making, limits, memory, statistics
 *   reef/entity.h   making, changing, reading and destroying entities
 *   reef/multi.h    several components of one type on one entity
 *   reef/shared.h   one component that several entities have in common, and that is held from outside
 *   reef/single.h   singletons: what a world has one of
 *   reef/signature.h sets of component types as values
 *   reef/order.h    by what rows are sorted
 *   reef/sort.h     sorting storage itself
 *   reef/query.h    walking over everything that has a set of components
 *   reef/system.h   systems, phases, ticks: functions that reef calls, on any number of threads
 *   reef/track.h    which rows changed, and who lost a component
 *   reef/command.h  how a system changes the structure
 *   reef/event.h    events: sending, receiving
 *   reef/observer.h what is called when components come, change and go, and when entities match
 *   reef/bulk.h     adding, removing, setting, enabling, destroying for everything that a query matches
 *   reef/snapshot.h worlds as values: snapshot, restore, fork, hash
 *   reef/history.h  the last ticks of a world: rewind, replay, late inputs
 *   reef/diff.h     what is different between two worlds
 *   reef/inspect.h  printing, visiting, checking
 *   reef/script.h   code of single entities
 *   reef/merge.h    adding one world's entities to another
 *   reef/random.h   random numbers by seed, tick, system and entity
 *   reef/pool.h     threads for ticks
 *   reef/ref.h      references to components, kept outside of the world
 *   reef/subtype.h  components that are another component as well
 *   reef/plain.h    what is a macro or inlined, as exported functions for other languages
 *   reef/fast.h     the inlined half of the hot calls: for the compiler, not for you
 *
 * Rules that hold for every call, so that they are said once:
 *
 *   - A world belongs to one thread at a time. Calls that take a `const reef_world *` may run on several threads at
 *     once,
 *     as long as nobody calls anything that takes the world without const. Different worlds never disturb each other.
 *   - Inside of a system only what it declares is touched, and structure changes by commands: docs/rules/threads.md.
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
#include "reef/type.h"
#include "reef/world.h"
#include "reef/entity.h"
#include "reef/single.h"
#include "reef/signature.h"
#include "reef/order.h"
#include "reef/sort.h"
#include "reef/query.h"
#include "reef/multi.h"
#include "reef/shared.h"
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
#include "reef/fast.h"
#include "reef/ref.h"
#include "reef/subtype.h"
#include "reef/plain.h"

#endif
