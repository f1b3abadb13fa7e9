/* Modules, for code that comes and goes (src/api/code.c). */
#ifndef REEF_API_MODULE_H
#define REEF_API_MODULE_H

#include "base/platform.h"
#include "reef/module.h"

uint64_t reef__module_id(const char *name);
/* Is the description of a module sound, and may the world's modules change now? */
reef_status reef__module_allowed(reef_world *w, const char *op, const reef_module *m);
/* Loads the module or replaces it, also by the same version if it is one of `code`, whose declarations and classes are
 * known already. */
reef_status reef__module_take(reef_world *w, const char *op, const reef_module *m, bool code);

#endif
