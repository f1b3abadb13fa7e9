/* Control of systems and ticks: replacing, removing, enabling and finding systems; single phases; pauses; time. */
#ifndef REEF_CONTROL_H
#define REEF_CONTROL_H

#include "system.h"

REEF_BEGIN_C

/* ---- systems ---- */

/* Replaces a system by another one, which keeps its position and its handle. Its interval begins anew, and it sees
 * changes as a new system does; it reads events from where the old one was. Errors: as reef_system_new, NOT_ALIVE,
 * OTHER_WORLD; then the system isn't changed. */
REEF_API reef_status reef_system_replace(reef_world *world, reef_system_id system, const reef_system_desc *desc);
/* Removes a system. Errors: NOT_ALIVE, OTHER_WORLD, LOCKED, NO_MEMORY. */
REEF_API reef_status reef_system_remove(reef_world *world, reef_system_id system);
/* Enables a system or disables it. While it is disabled it doesn't run; it keeps its position, and sees later the
 * changes and events that it missed. Errors: the same. */
REEF_API reef_status reef_system_enable(reef_world *world, reef_system_id system, bool on);
/* Is the system enabled? False if there is no such system. */
REEF_API bool reef_system_is_enabled(const reef_world *world, reef_system_id system);
/* The system with this name; null if there is none. */
REEF_API reef_system_id reef_system_find(const reef_world *world, const char *name);
/* A system's name; NULL if there is no such system. The pointer lives as long as the system. */
REEF_API const char *reef_system_name(const reef_world *world, reef_system_id system);

/* ---- ticks ---- */

/* Runs one phase, once, with this time step. The world's time and number of ticks don't change. Errors: as
 * reef_tick. */
REEF_API reef_status reef_tick_phase(reef_world *world, const char *phase, float dt);
/* Pauses a world or resumes it. While a world is paused, reef_tick does nothing and returns OK; reef_tick_once still
 * ticks. Being paused isn't part of the state. */
REEF_API void reef_pause(reef_world *world, bool paused);
/* Is the world paused? */
REEF_API bool reef_is_paused(const reef_world *world);
/* Runs a tick, whether the world is paused or not. Errors: as reef_tick. */
REEF_API reef_status reef_tick_once(reef_world *world, float dt);
/* Gives the time of a world to one owner: until that ends, ticks and phases, reef_restore, clearing, loading, merging,
 * going back in a history, and changes of systems and modules are refused (LOCKED; the detail names the owner), and so
 * are edits by the inspector and by SQL. Reading, forks, snapshots and saving go on. `owner` is a text that lives as
 * long, such as "a session of reef_net", whose updates do this; NULL ends it. Not a part of the state: forks have no
 * owner. Errors: EXISTS (another one has it). */
REEF_API reef_status reef_own_time(reef_world *world, const char *owner);
/* Who owns the time of the world; NULL: nobody. */
REEF_API const char *reef_time_owner(const reef_world *world);
/* While they are held, readers outside of systems read nothing: reef_event_next and reef_removals_next are refused
 * (LOCKED). Files and forks don't have such readers, so who loads a state in the middle would go on otherwise if what
 * is played depended on them; reef_net holds them in its steps. Not a part of the state. */
REEF_API void reef_hold_readers(reef_world *world, bool held);
/* The sum of the time steps of all ticks in nanoseconds, which is part of the state. */
REEF_API uint64_t reef_time_ns(const reef_world *world);

REEF_END_C

#endif
