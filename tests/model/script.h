/* Scripts: the type reef_script among the others, the calls of its functions, and what the reference expects of them.
 *
 *   a value      is a number, as of any type: the data of the script, which also says its class; 0: no class
 *   a start      comes once for each script that an entity has, before its first update. A copy is another entity, so
 *                its script hasn't started, whatever the original's has
 *   an end       comes once for each start. Scripts that wait for theirs are part of the world
 *
 * The calls of a tick, and those when a world is freed, are compared one by one. */
#ifndef MODEL_SCRIPT_H
#define MODEL_SCRIPT_H

#include "reference.h"

struct model;

bool scripts_know(void);           /* registers the classes, so that files know them */
bool script_system(reef_world *w); /* adds the system that runs scripts, in the first phase */

/* Values in memory. Writing leaves alone whether the script has started. */
void script_make(void *slot, uint64_t value);
void script_write(void *slot, uint64_t value);
bool script_matches(const void *slot, uint64_t value);
uint64_t script_number(const void *slot);

/* ---- the reference ---- */

void ref_script_comes(ref_entity *e, bool copied);  /* the entity got a script just now */
void ref_script_given(ref_entity *e);               /* its value was replaced */
void ref_script_goes(ref_world *r, uint32_t index); /* it is about to lose its script */
void ref_scripts_run(ref_world *r);                 /* as the system does, in a tick */

/* ---- both ---- */

void scripts_begin(bool core); /* forgets the calls in reef, or in the reference */
void scripts_compare(struct model *m);
/* Is it the script of this entity that reef says has started? */
void script_compare(struct model *m, const ref_entity *e, reef_entity handle, const void *slot);
/* Frees a world. All its scripts that have started must end, and nothing else be called; `r` NULL: that isn't known. */
void world_end(struct model *m, reef_world *w, const ref_world *r);

#endif
