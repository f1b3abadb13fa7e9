/* Scripts: what the state hash, files, forks and the end of a world need to know of them. src/system/script.c
 * describes how scripts work. */
#ifndef REEF_SYSTEM_SCRIPT_H
#define REEF_SYSTEM_SCRIPT_H

#include "base/platform.h"
#include "reef/script.h"

/* Gives a fork its reader of removed scripts, if its origin has one (`serial` is then not 0). False: no memory. */
bool reef__scripts_fork(reef_world *fork, uint64_t serial);
/* Hashes the removed scripts that wait for their end call; *waiting is their number. */
uint64_t reef__scripts_hash(const reef_world *w, uint64_t *waiting);
uint32_t reef__scripts_type(void); /* the id of reef_script; 0: the type isn't used yet */
/* Gives n values of reef_script, side by side, the classes of their names. Returns how many names have no class. */
uint32_t reef__scripts_bind(void *values, uint32_t n);
/* The value was copied to an entity of another world, where it hasn't started, whatever handle the entity has. */
void reef__scripts_forget_start(void *value);
/* Classes of code that comes and goes. Try makes those of the list the classes of the module, instead of all that it
 * had before; a class keeps the size of its data. On failure `detail` says why, if it isn't memory, and the caller
 * settles in any case: what was tried stays, or is as before. */
reef_status reef__scripts_try(uint64_t module, const reef_script_class *const *list, uint32_t n, char *detail,
                              size_t size);
void reef__scripts_settle(bool stays);
/* In: the name of a class that leads to where `is` says, and that scripts have or had; NULL: none. Forget: such classes
 * are no longer known. */
const char *reef__scripts_in(bool (*is)(const void *context, uintptr_t at), const void *context);
void reef__scripts_forget(bool (*is)(const void *context, uintptr_t at), const void *context);
uint64_t reef__scripts_without(const reef_world *w); /* number of scripts without a class */
/* The world is about to be freed: calls `end` for every script that has started. */
void reef__scripts_end(reef_world *w);

#endif
