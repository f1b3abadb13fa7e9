/* Code that comes and goes: shared libraries with modules (reef/module.h) that replace each other while worlds live.
 * The add-on reef_hot is made of these calls; a program that loads libraries in its own way uses them itself.
 *
 *     reef_code *code = reef_code_begin();
 *     void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);   its declarations of types belong to `code`
 *     reef_code_end(code, ranges, range_count);
 *     if (reef_code_use(world, code, module, NULL) < 0) ...        refused: the world is as it was before
 *     ...
 *     if (reef_code_unused(code, why, sizeof why)) {
 *         dlclose(library);
 *         reef_code_free(code);
 *     }
 *
 * Types belong to the process. Therefore no other thread may use reef during reef_code_begin ... reef_code_end, in
 * reef_code_use and in reef_code_unused. */
#ifndef REEF_CODE_H
#define REEF_CODE_H

#include "history.h"
#include "module.h"
#include "renamed.h"

REEF_BEGIN_C

/* Code that was loaded, with what it has declared. */
typedef struct reef_code reef_code;

/* Addresses of code or of its data: begin <= address < end. */
typedef struct reef_code_range {
    const void *begin, *end;
} reef_code_range;
enum { REEF_CODE_RANGES_MAX = 8 };

/* Begins to hold declarations: types that are declared from now on, by the constructors of a library, belong to the
 * code, and the process doesn't know them until reef_code_use. Such constructors must not use reef otherwise. The
 * caller owns the code. NULL: no memory, or other code is being loaded. */
REEF_API reef_code *reef_code_begin(void);
/* Ends that. `ranges` is where the library lies in memory, at most REEF_CODE_RANGES_MAX; with count 0, which is for
 * systems that don't tell it, reef_code_unused is always false. Errors: BAD_ARGUMENT (this code isn't being loaded, too
 * many ranges). */
REEF_API reef_status reef_code_end(reef_code *code, const reef_code_range *ranges, uint32_t count);

/* Settings of reef_code_use; {0}: all defaults. */
typedef struct reef_code_settings {
    /* use the code although values lose something by another layout (what a load would report as lost) */
    bool lose_values;
    /* A history of the world. If layouts change, only that of its states is converted from which the last `replay`
     * ticks can be played again (reef/replay.h), or the oldest one; the others are dropped, with the inputs before it.
     * With `replay` 0 it begins anew at the present. NULL: all states of all histories are converted. Where no layout
     * changes, it isn't used, and keeps everything */
    reef_history *history;
    uint64_t replay;
    /* refuse the code if it declares a type without fields that was there before: whether its layout has changed can't
     * be seen where the size is the same */
    bool refuse_undescribed;
    /* These are set by the call: how many types have another layout now; and the first such type without fields, {0}:
     * there is none. */
    uint32_t layouts;
    reef_component undescribed;
} reef_code_settings;

/* Uses the module of the code, as reef_module_use does, also in the version that the world uses already, which it
 * replaces. The types that the code declares become known. Where earlier code of this module has declared them
 * already, the hooks are those of the new code from now on, in all worlds. The classes of module->scripts are found by
 * name: each script goes on with the functions of the class of its name, and with none if the new code lacks the class.
 * The data of a class keeps its size. `settings` may be NULL.
 *
 * A type that only this module has declared may have another layout: other fields, another size or home, hooks that
 * begin or cease. All values are converted as when a file is loaded (reef/save.h): by the names of fields (also by what
 * a field was named before: reef/renamed.h) and of values of enums, numbers to their new kinds; new fields get default
 * values. Types belong to the process, so this is done in all of its worlds, forks and snapshots that know such a type,
 * also those of histories, with their inputs (reef_history_config.input), or in none; those that use the module get the
 * new code, too. Values with hooks are copied by
 * their copy hook. If their type has another layout, the copy gives its fields to a value that the new construct hook
 * has made, and what is left of both is destroyed by their own hooks: a field that is zero must own nothing.
 *
 * Handles stay valid, queries too, and for the next loops that ask for changes everything has changed. reef_component
 * is another one: ask for the type again. The old one is UNKNOWN_TYPE, also in bundles, and readers of its events and
 * removals find nothing. Refused are: values that would lose something (.detail names the fields with the number of
 * values), unless lose_values is set; worlds in which a loop is open; systems and observers outside of the module that
 * name such a type; queries that compare or sort by its values, or read or write them in REEF_SPLIT (but other worlds
 * and snapshots that began with one lose it); and values of any type that have hooks but none that copies.
 *
 * If anything is refused, everything is as it was before, and what the code alone has declared is forgotten. Errors: as
 * for reef_module_use; UNKNOWN_TYPE (a type was declared differently before, and can't change; .detail says why),
 * BAD_ARGUMENT (the data of a class has another size; the code was used before or is being loaded), NOT_PORTABLE,
 * NOT_COPYABLE and LIMIT (values can't be converted), NO_MEMORY. */
REEF_API reef_status reef_code_use(reef_world *world, reef_code *code, const reef_module *module,
                                   reef_code_settings *settings);

/* While a text is set, reef_code_use is refused in this world, and the text says why: its code must not change on one
 * side alone, as where ranks or players share the world. NULL ends that. The text must live as long. */
REEF_API void reef_code_pin(reef_world *world, const char *why);

/* Does nothing of reef lead into the code any more? Counted are systems, observers, modules, orders of queries and
 * histories in all worlds and snapshots, hooks of types, and classes of scripts. If false, `why` (may be NULL) says
 * what there is. A type that the code declares may have bytes that no field describes; where a pointer fits into them,
 * they may hold one into the code, so such a type keeps it. What a world was given when it was made (log, misuse,
 * allocator) and what is set for a while (reef_set_pool, reef_trace) isn't counted: it doesn't belong into code that
 * goes. */
REEF_API bool reef_code_unused(const reef_code *code, char *why, size_t size);
/* Frees the code, after its library was unloaded, or if it was never used. Code to which something leads isn't freed.
 * NULL is allowed. */
REEF_API void reef_code_free(reef_code *code);

REEF_END_C

#endif
