/* storage/error: TODO */
#ifndef REEF_STORAGE_ERROR_H
#define REEF_STORAGE_ERROR_H

#include "base/platform.h"
#include "reef/world.h"

/* Enough for any failure as a text. */
enum { REPORT_BYTES = REEF_TYPE_NAME_MAX + REEF_NAME_MAX + REEF_DETAIL_MAX + REEF_SYSTEM_NAME_MAX + 512 };

/* Records a failure, calls the misuse hook in the checked build, returns `status`. Never allocates. */
COLD reef_status reef__failure(reef_world *w, reef_status status, const char *operation, reef_component c,
                               reef_entity e, uint64_t number);

/* Does the number of a failure with a detail say where in a file it is? (Else in a text.) */
bool reef__status_of_file(reef_status status);

COLD reef_status reef__failure_record(reef_world *w, const reef_error *e); /* of one that is filled in */
COLD reef_status reef__failure_detail(reef_world *w, reef_status status, const char *operation, uint64_t number,
                                      const char *detail);

#endif
