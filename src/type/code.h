/* Code that comes and goes (reef/code.h): what of it the registry of types knows, and how often reef leads into it.
 *
 *   reef_declare while code is loaded ──► code.held, instead of the pending list
 *   the code is tried: held ──► types; hooks of types that it declares again are those of this code from now on
 *   the trial fails:   the hooks are as before, and the types that it alone has declared are hidden
 *
 * Everything of reef that keeps a pointer of the program which may lead into such code counts it here: systems,
 * observers, orders of queries, modules in schedules, histories. So the question whether code may be unloaded needs no
 * walk over worlds, of which snapshots and other threads have some, too. */
#ifndef REEF_TYPE_CODE_H
#define REEF_TYPE_CODE_H

#include "base/platform.h"
#include "reef/code.h"
#include "reef/hooks.h"
#include "reef/type_info.h"

/* Hooks that a trial has replaced. */
typedef struct code_change {
    struct type *t;
    reef_hooks hooks;
} code_change;

/* A type, and what has its name now with another layout. */
typedef struct code_layout {
    const struct type *was, *is;
} code_layout;

struct reef_code {
    reef_code *next;      /* in the list of all code */
    reef_type_decl *held; /* its declarations */
    reef_code_range ranges[REEF_CODE_RANGES_MAX];
    uint32_t range_count;
    bool loading;    /* declarations are being held for it */
    uint64_t holds;  /* pointers that lead into it */
    uint64_t module; /* the id of the module that it was used as; 0: it wasn't used */
    /* What only a trial needs, so that other programs are linked without it (src/type/type.c). */
    struct type *(*hidden_like)(const reef_type_desc *d);
    bool (*retire)(const reef_type_decl *decl);
    uint64_t trying; /* the module that it is being tried as */
    code_change *changes;
    uint32_t change_count, change_room;
    char text[1024]; /* why a declaration is refused; "": none was */
};

/* ---- src/type/code.c ---- */

/* All code that was loaded. Under the lock of the registry. */
extern reef_code *reef__code_first;

/* Makes code for which declarations are held; NULL: no memory, or there is such code already. Drop frees it. */
reef_code *reef__code_add(void);
/* The code lies here, and declarations aren't held for it any more. */
void reef__code_loaded(reef_code *c, const reef_code_range *ranges, uint32_t count);
void reef__code_drop(reef_code *c);
/* Counts addresses that reef keeps, or no longer keeps. 0, and what leads into no such code, count nothing. */
void reef__code_hold(const uintptr_t *at, uint32_t count, bool hold);
/* Is this in code that comes and goes? */
bool reef__code_has(uintptr_t at);
/* The code that an address leads into; NULL: none. Under the lock. */
reef_code *reef__code_at(uintptr_t at);
/* Do some of the hooks lead into code of the module with this id? Under the lock. */
bool reef__hooks_of(const reef_hooks *h, uint64_t module);
/* Hooks that nothing calls any more, since the type has no values: they are there as before, and lead nowhere. */
void reef__hooks_retire(reef_hooks *h);
/* Why the code can't go, as far as types are concerned and what was counted. False: nothing leads into it. */
bool reef__code_needed(const reef_code *c, char *why, size_t size);

/* A module that was used has these types in its list. */
void reef__types_of_module(reef_type_decl *const *types, uint32_t count);
/* Was the type brought by a module, and by no other part of the program? *id is that of the module whose code declared
 * it; 0: it is in the list of one. */
bool reef__type_of_module(const struct type *t, uint64_t *id);

/* ---- src/type/type.c ---- */

void reef__types_lock(void);
void reef__types_unlock(void);
void *reef__types_allocate(size_t bytes); /* zeroed; NULL: no memory */
void reef__types_free(void *p, size_t bytes);
/* Declarations are held from now on by this code; NULL: by none. */
void reef__declarations_hold(reef_code *c);
/* Takes the declarations that were held, for the module of this id. A negative status: one was refused, and c->text
 * says why, or there is no memory; the caller undoes. */
reef_status reef__declarations_try(reef_code *c, uint64_t module);
/* The types that have given their names to other layouts in this trial; the answer is how many, of which at most `room`
 * are written. */
uint32_t reef__declarations_retired(code_layout *to, uint32_t room);
/* A type that the code declares, that was there before, and has data but no fields; 0: none. */
uint32_t reef__declarations_undescribed(const reef_code *c);
/* Ends the trial: what it has changed stays, or is as before. */
void reef__declarations_settle(reef_code *c, bool stays);

#endif
