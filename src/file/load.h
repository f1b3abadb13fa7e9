/* Loading a file at a path, and the last step of loading: the state that was read aside becomes the world's, and its
 * systems are switched on or off as in the file. */
#ifndef REEF_FILE_LOAD_H
#define REEF_FILE_LOAD_H

#include "world/fork_policy.h"
#include "file/record.h"
#include "reef/file.h"
#include "reef/type.h"

/* What is loaded, by which call. */
typedef struct load_call {
    reef_world *world;
    const char *op;
    const reef_load_desc *desc;
    bool difference, here;
    uint64_t *lost;       /* only say what a load would do, and what it would lose; NULL: load */
    struct file_in *file; /* that is read; NULL: it is none */
    /* Takes over what was read. An error is recorded, and changes nothing. NULL: reef__load_commit */
    reef_status (*take)(const struct load_call *x, record_load *r, reef_world *loaded);
    void *context;
} load_call;
/* Loads a file. */
reef_status reef__load_path(load_call *x, const char *path);

/* Commits what was read. A failure is recorded, and changes nothing. reef__load_return undoes the step without memory,
 * as long as neither world was changed otherwise; its room is what reef__skips_prepare made of `w` before. */
reef_status reef__load_commit(reef_world *w, reef_world *loaded, const record_load *r, const char *operation);
void reef__load_return(reef_world *w, reef_world *loaded, const skips_room *room);

/* Writes a world to bytes, and reads such bytes, in the same process and while the world is as it was: nothing of its
 * values is left out (PACK_HERE). So a world gets the types that took over the names of others. */
reef_status reef__save_here(reef_world *w, reef_bytes *bytes, const char *operation);
reef_status reef__load_here(reef_world *w, const reef_bytes *bytes, const char *operation, const reef_load_desc *desc);

#endif
