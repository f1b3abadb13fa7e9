/* reef: an entity component system whose worlds are values.
 *
 * This header has what every program uses, in these headers, in the order in which they are best read:
 *
 *   reef/status.h                 status codes: what a call returns, and why a call fails
 *   reef/handle.h                 handles of entities, component types and worlds
 *   reef/type.h                   declaring components, tags and switches
 *   reef/field.h                  fields: the members of a component's struct
 *   reef/world.h                  worlds: making them, the last error, names
 *   reef/value.h                  lists of components with their values
 *   reef/entity.h                 making and destroying entities
 *   reef/component.h              adding, setting, removing and reading the components of entities
 *   reef/enable.h                 enabling and disabling components and entities
 *   reef/single.h                 singletons: components of which a world has one
 *   reef/query.h                  queries: which entities a loop visits
 *   reef/block.h                  blocks and rows: what a loop visits, and how to reach the values
 *   reef/loop.h                   loops over everything that a query matches
 *   reef/system.h                 systems, phases, ticks: functions that reef calls, on any number of threads
 *   reef/command.h                commands: how a system changes the structure
 *   reef/event.h                  events: sending, receiving
 *   reef/snapshot.h               worlds as values: snapshot, restore, fork, hash
 *   reef/save.h                   saving worlds to files, and loading them
 *   reef/print.h                  printing entities and worlds
 *
 * Each other topic has a header of its own, and reef/all.h includes all of them:
 *
 *   reef/relation.h               relations: an entity as the target of a component
 *   reef/hierarchy.h              hierarchies: children and parents, paths of names
 *   reef/type_info.h              types made at run time, looking types up, names of values, strict worlds
 *   reef/hooks.h                  types that own something: constructing, copying, moving, destroying
 *   reef/required.h               components that come along with another one
 *   reef/subtype.h                components that also count as another component
 *   reef/multi.h                  several components of one type on one entity
 *   reef/shared.h                 one value that several entities have in common, and that code outside of the world
 *                                 may hold
 *   reef/script.h                 scripts: code that belongs to a single entity
 *   reef/prefab.h                 templates of entities with children, and copies of them
 *   reef/bundle.h                 sets of components that are prepared once, for spawning
 *   reef/reserve.h                ids that are reserved, or given
 *   reef/many.h                   many entities in one call: values, copies, destroying; a value as a copy
 *   reef/ref.h                    references to components, which are kept outside of the world
 *   reef/signature.h              sets of component types as values
 *   reef/bulk.h                   one call that adds, removes, sets, enables or destroys for everything that a query
 *                                 matches
 *   reef/condition.h              conditions on the values of fields in queries, and their parameters
 *   reef/term.h                   queries by terms, as texts and in other worlds
 *   reef/loop_settings.h          loops over a part of what matches, and loops in which the structure changes
 *   reef/column.h                 more of a block: which rows match, single fields, bits of rows, fixed sources, values
 *                                 of parents
 *   reef/slices.h                 loops that are cut into slices, for threads of your own
 *   reef/order.h                  orders: what rows are sorted by
 *   reef/ordered.h                queries in an order of their own, and groups
 *   reef/sort.h                   sorting the rows of tables
 *   reef/reach.h                  queries with variables, and values of other entities that a query reaches
 *   reef/track.h                  which rows changed, and which entities lost a component
 *   reef/observer.h               functions that are called when components are added, changed and removed, or entities
 *                                 match
 *   reef/control.h                replacing, removing, enabling and finding systems; single phases, pauses, time
 *   reef/command_entity.h         commands that make many entities, copy, name, or remove everything
 *   reef/command_relation.h       commands that relate entities or copy prefabs
 *   reef/command_system.h         commands that add, replace, remove, enable and disable systems
 *   reef/event_reader.h           reading events from outside of systems
 *   reef/brief.h                  events as entities that live for one tick
 *   reef/schedule.h               what a schedule contains, how long systems take, watching what they touch
 *   reef/trace.h                  which system ran when and on which thread
 *   reef/random.h                 random numbers by seed, tick, system and entity
 *   reef/pool.h                   threads for ticks
 *   reef/history.h                the last ticks of a world: rewind, replay, late inputs
 *   reef/replay.h                 recorded ticks that are played again beside the world, a few at a time
 *   reef/hash.h                   the parts of a world's hash, and the first difference between two worlds
 *   reef/diff.h                   what is different between two worlds
 *   reef/merge.h                  adding one world's entities to another
 *   reef/file.h                   saving and loading with settings, in memory and as streams; differences; checking a
 *                                 file
 *   reef/journal.h                journals: files that grow with each tick
 *   reef/inspect.h                visiting everything, checking, printing a single value
 *   reef/stats.h                  what a world contains, and the memory that it takes
 *   reef/log.h                    where the messages of a world go
 *   reef/memory.h                 allocators
 *   reef/limits.h                 all limits
 *   reef/plain.h                  macros and inlined functions as exported functions, for other languages
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
#include "reef/field.h"
#include "reef/world.h"
#include "reef/value.h"
#include "reef/entity.h"
#include "reef/component.h"
#include "reef/enable.h"
#include "reef/single.h"
#include "reef/query.h"
#include "reef/block.h"
#include "reef/loop.h"
#include "reef/system.h"
#include "reef/command.h"
#include "reef/event.h"
#include "reef/snapshot.h"
#include "reef/save.h"
#include "reef/print.h"

#endif
