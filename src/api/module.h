/* Modules, for code that comes and goes (src/api/code.c). */
#ifndef REEF_API_MODULE_H
#define REEF_API_MODULE_H

#include "world/fork_policy.h"
#include "reef/module.h"

/* A change that is taken back whole if it fails. Begin: false if there is no memory, which is recorded. End: with a
 * negative status the state and the schedule are as before. The answer is that status. */
typedef struct module_trial {
    reef_world *backup;
    skips_room room;
    struct schedule *before; /* held */
} module_trial;
bool reef__trial_begin(reef_world *w, const char *op, module_trial *x);
reef_status reef__trial_end(reef_world *w, module_trial *x, reef_status s);

uint64_t reef__module_id(const char *name);
/* Is the description of a module sound, and may the world's modules change now? */
reef_status reef__module_allowed(reef_world *w, const char *op, const reef_module *m);
/* Loads the module or replaces it, also by the same version if it is one of `code`, whose declarations and classes are
 * known already. */
reef_status reef__module_take(reef_world *w, const char *op, const reef_module *m, bool code);

#endif
