/* Refusing worlds of another copy of reef. */
#include "storage/library.h"
#include "storage/error.h"
#include "storage/world_data.h"
#include <stdio.h>

/* Called by the other copy, with a world of this one. */
static COLD void library_refuse(const reef_world *w, const char *function)
{
    reef_error e = {.status = REEF_BAD_ARGUMENT, .operation = "a call by another copy of reef"};
    snprintf(e.detail, sizeof e.detail, "%s; " OTHER_LIBRARY_TEXT, function);
    (void)reef__failure_record((reef_world *)(uintptr_t)w, &e);
}

const reef_library reef__library = {library_refuse};

reef_component reef_resolve_with_(const reef_world *w, reef_type_decl *decl)
{
    if (w && w->hot.library != &reef__library) return (reef_component){0};
    return reef_resolve(decl);
}

COLD bool reef__world_refused(const reef_world *w, const char *function)
{
    w->hot.library->refuse(w, function);
    return false;
}
