/* Modules: the parts of a program, each with a name and a version.
 *
 *     static reef_status rules_load(reef_world *w, void *context)
 *     {
 *         reef_system(w, swim, "Position, in Velocity");
 *         reef_system(w, hunt, "Hunter, in Position; reads Prey");
 *         return REEF_OK;
 *     }
 *     const reef_module dive_rules = {.name = "dive_rules", .version = 3, .needs = "physics 2", .load = rules_load};
 *     ...
 *     reef_module_use(w, &dive_rules);
 *
 * Loading is all or nothing: if anything that `load` declares is refused, the world is as it was before, with its
 * entities. The systems, observers and phases that `load` makes belong to the module. reef_module_remove removes
 * exactly them; types and data stay.
 *
 * Using another version of a module replaces it. What has the same name takes the place of the old one: a system keeps
 * its handle, its place in the order, its interval, what it has seen and whether it is enabled; an observer keeps its
 * handle and its place. What the new version lacks is removed. What is new comes behind the system or observer that
 * `load` makes before it. If the new version is refused, the old one stays.
 *
 * Modules belong to a world as its systems do: a fork has the modules of its origin, and so has a fork of a snapshot. A
 * restore changes no modules. */
#ifndef REEF_MODULE_H
#define REEF_MODULE_H

#include "field.h"
#include "script.h"
#include "system.h"
#include <stdio.h>

REEF_BEGIN_C

/* A module. It must live as long as a world uses it. */
typedef struct reef_module {
    const char *name; /* follows the rules for names of systems; unique in a world */
    uint32_t version; /* from 1 on */
    /* names of modules, separated by commas, each with its least version: "physics 2, input". NULL: none */
    const char *needs;
    /* Types that the program must know as they are declared here; REEF_MODULE_TYPES makes such a list. If another
     * module has declared one of them differently, this one is refused, and the message names the field. */
    reef_type_decl *const *types;
    uint32_t type_count;
    const reef_script_class *const *scripts; /* classes that reef_script_know gets */
    uint32_t script_count;
    /* Declares what the module brings. It may also make entities, such as prefabs. A negative status refuses the
     * module. While it runs, no module can be used or removed. */
    reef_status (*load)(reef_world *world, void *context);
    /* called by reef_module_remove when the module's systems and observers are gone. NULL: nothing is called */
    void (*unload)(reef_world *world, void *context);
    void *context;
} reef_module;

/* A list of up to 64 types for a module, with the number of them as list_count:
 *     REEF_MODULE_TYPES(physics_types, Position, Velocity);
 *     const reef_module physics = {.name = "physics", .version = 1, .types = physics_types,
 *                                  .type_count = physics_types_count, .load = physics_load}; */
#define REEF_MODULE_TYPES(list, ...) \
    static reef_type_decl *const list[] = {REEF_EACH_(REEF_MODULE_TYPE_, list, __VA_ARGS__)}; \
    enum { list##_count = sizeof(list) / sizeof(list)[0] }

/* Loads a module, or replaces it by another version. A module that the world uses in this version already is left
 * alone. Errors, which leave the world unchanged: BAD_ARGUMENT (no module, a bad name, version 0, no `load`, `needs`
 * that can't be read, a module that it needs isn't there or is too old, or another one needs a newer version of it;
 * .detail says which), UNKNOWN_TYPE (a type is declared differently), LIMIT (REEF_MODULES_MAX), LOCKED (a loop is open,
 * in a tick, in an observer, in another module's `load`), NO_MEMORY, the status of `load`, and that of the first
 * declaration that was refused. */
REEF_API reef_status reef_module_use(reef_world *world, const reef_module *module);
/* Removes a module with its systems and observers, and the scripts of its classes. Their `end` is called in the next
 * run of the system "scripts", so a class must live until then. Phases stay. Errors, which leave the world unchanged:
 * BAD_ARGUMENT (no such module; another module needs it, and .detail names it), LOCKED, NO_MEMORY. */
REEF_API reef_status reef_module_remove(reef_world *world, const char *name);

/* A module of a world. The pointers live until the visitor returns. */
typedef struct reef_module_info {
    const reef_module *module;
    const char *name;
    uint32_t version, systems, observers; /* how many of them the world has */
} reef_module_info;
/* Called once for each module. Returns false to stop. */
typedef bool (*reef_module_visitor)(void *context, const reef_module_info *module);
/* Visits all modules in the order in which they were loaded. False: the visitor stopped. */
REEF_API bool reef_visit_modules(const reef_world *world, reef_module_visitor visit, void *context);
/* The version of a module that the world uses; 0: it doesn't use it. */
REEF_API uint32_t reef_module_version(const reef_world *world, const char *name);
/* Prints the modules, each with its version, what it needs, its systems and observers; and the types that entities or
 * singletons have, but that came with modules (reef_module.types) of which the world has none. */
REEF_API void reef_print_modules(const reef_world *world, FILE *to);

REEF_END_C

#endif
