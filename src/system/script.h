/* Scripts: what the state hash, files, forks and the end of a world need to know of them. src/system/script.c
 * describes how scripts work. */
#ifndef REEF_SYSTEM_SCRIPT_H
#define REEF_SYSTEM_SCRIPT_H

#include "base/platform.h"
#include "reef/type.h"

/* Gives a fork its reader of removed scripts, if its origin has one (`serial` is then not 0). False: no memory. */
bool reef__scripts_fork(reef_world *fork, uint64_t serial);
/* Hashes the removed scripts that wait for their end call; *waiting is their number. */
uint64_t reef__scripts_hash(const reef_world *w, uint64_t *waiting);
uint32_t reef__scripts_type(void); /* the id of reef_script; 0: the type isn't used yet */
/* Gives n values of reef_script, side by side, the classes of their names. Returns how many names have no class. */
uint32_t reef__scripts_bind(void *values, uint32_t n);
/* The value was copied to an entity of another world, where it hasn't started, whatever handle the entity has. */
void reef__scripts_forget_start(void *value);
uint64_t reef__scripts_without(const reef_world *w); /* number of scripts without a class */
/* The world is about to be freed: calls `end` for every script that has started. */
void reef__scripts_end(reef_world *w);

#endif
