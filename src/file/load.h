/* file/load: TODO */
#ifndef REEF_FILE_LOAD_H
#define REEF_FILE_LOAD_H

#include "file/record.h"
#include "reef/type.h"

/* With `back`, which is zero before, reef__load_return can undo it without memory, while nobody else has changed
 * either world. Drop it in any case. NULL: nobody wants to. */
reef_status reef__load_commit(reef_world *w, reef_world *aside, const record_load *r, const char *operation,
                              load_back *back);
void reef__load_return(reef_world *w, reef_world *aside, const record_load *r, const load_back *back);
void reef__load_back_drop(const reef_world *w, load_back *back);

#endif
