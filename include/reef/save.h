/* Saving and loading worlds as files. reef/file.h has the settings, memory and streams, and differences.
 *
 *     reef_save(world, "game.reef", NULL);
 *     reef_load(world, "game.reef", NULL);
 *
 * A file contains what a snapshot contains: entities with their generations, free ids, components in every home,
 * switches, names, singletons, events that wait, the time, and when components were written and systems ran last. So a
 * loaded world goes on exactly as the saved one would have. A file doesn't contain what is kept only for readers of
 * removals (reef/track.h) and for event readers outside of systems (reef/event_reader.h); such readers begin at the
 * load. Files are the same on all machines, and they describe their types: a program whose types have changed reads a
 * file by the names of the fields. docs/files/file-format.md describes the format.
 *
 * Saving never leaves an incomplete file: the new file is written under another name, synced, and then replaces the old
 * one in one step. Loading never leaves an incomplete world: the new state is built and checked beside the old one.
 *
 * To save beside a running game, save a fork of it on another thread. */
#ifndef REEF_SAVE_H
#define REEF_SAVE_H

#include "world.h"

REEF_BEGIN_C

/* Settings for saving and for loading; {0}: all defaults. They are in reef/file.h. */
typedef struct reef_save_desc reef_save_desc;
typedef struct reef_load_desc reef_load_desc;

/* Writes a world to a file. A NULL desc means all defaults. Any thread, as long as no other thread uses the world.
 * Errors: BAD_ARGUMENT (no path), LOCKED (a loop is open, commands wait, systems run), NOT_PORTABLE (the error names
 * the type), NOT_COPYABLE (a type that owns something has no fields; the error names it), BAD_TEXT and others of
 * reef_query_new (for the query), NO_MEMORY, IO (the detail says which system call failed, on which path and why; the
 * old file is unchanged), CANCELLED. */
REEF_API reef_status reef_save(reef_world *world, const char *path, const reef_save_desc *desc);

/* Sets the world to the state in the file, as reef_restore does with a snapshot. What was in the world is gone. Handles
 * mean what they meant in the saved world, values of types with REEF_FORK_SKIP stay with entities that are alive before
 * and after, and observers aren't called. Systems, observers and the config stay. Add the systems before loading, so
 * that the file can tell how far each of them is. Indices that are free in the file are used again, also in a world
 * with never_reuse. To add a file's entities to those of a world, load it into another world and merge that
 * (reef/merge.h).
 *
 * Fields are matched by name: fields that the file doesn't have get default values, fields that the program doesn't
 * have are left out, and numbers of another kind are converted. A type may have changed its home (if an entity then
 * can't keep several values, it gets the first). All this is reported.
 *
 * Errors, which leave the world as it was: BAD_ARGUMENT (no path), LOCKED (as for saving), IO, CORRUPT (the detail says
 * what is wrong, and `number` of the last error at which byte), VERSION, NOT_PORTABLE (a raw file of a machine with
 * another byte order, or with another size of a type), UNKNOWN_TYPE, LIMIT (more entities than the config allows, or
 * more values than the type's home takes), NO_MEMORY (also when a hook fails), CANCELLED. A file that is damaged, of
 * another version or for another state is no mistake of the caller, so the misuse hook isn't called. */
REEF_API reef_status reef_load(reef_world *world, const char *path, const reef_load_desc *desc);

REEF_END_C

#endif
